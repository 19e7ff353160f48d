"""Interface of elements and solvers: array layouts, column numbers, one kernel signature.

Elements import no solver, and solvers import no element.  A block holds ``n`` elements of one type in plain arrays:

``par``  (n, n_par)   parameters, constant during a run; the columns are named by the element's module
``dof``  (n, n_loc)   local unknown -> index in the full vectors; a missing dof points at the last entry,
                      which no equation uses
``rot``  (n, n_end)   end -> row of the director arrays; a point without rotation points at the last row, the identity
``hist`` (n, n_hist)  history variables of the elements, at the start of the step

The state has one entry per dof of the model (free, prescribed and multiplier alike) and the unused last one, ``N`` in
all:

``Q``  (2, N)      positions [m] (rotation dofs in the plane: unwrapped angle [rad]; multipliers: lambda / scale)
``D``  (2, nr, 2)  plane: cos and sin of the rotation from the reference, d1 = (c, s);
       (2, nr, 9)  space: rotation matrix row by row, R = [d1 d2 d3]
``V``  (3, N)      v0, v1, a1: velocities at both ends, acceleration at the end (one-state rules only);
                   rotation dofs hold W: in the plane the spin, in space the angular velocity in body axes
``DD`` (2, nr, ..) director velocities, shaped like ``D``; in the plane d1'
``U``  (N)         the unknowns of the step: dx, Cayley rotation vector theta (spatial axes), Lambda = lambda sf/scale

Row 0 is the start of the step, row 1 its end.  A *two-state* rule (mid-point) samples forces between the two; a
*one-state* rule (statics, Newmark) calls the same kernel with both rows equal and ``U = 0``: the discrete force of two
equal states is the force at that state, and since it is symmetric in the two states, its tangent is half the tangent at
that state.  Hence ``ctl[SK]`` = ``sf`` or ``2 sf`` is the factor of every node-node entry of a force tangent.

Momentum rows are multiplied by ``sf = h^2/2`` (1 in statics), so that the system does not degenerate as h -> 0
(Bottasso, Bauchau & Cardona 2007).  `force` kernels write every entry of the rows of ``fe`` and, for TANGENT, of
``ke``.  `report` kernels find their rows of ``fe`` zeroed and write their results; in every rule they get the true rows
0 and 1 and the step's ``U``.  OUTPUT rows of types with ``sections`` hold on entry the forces of other elements that
act along the element (line loads, inertia, weight), on its node dofs, in the order of these and not multiplied by
``sf``.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from fem_mbs.compiling.linking import compiled, keep, linked
from fem_mbs.compiling.machine_code import KernelCache
from fem_mbs.compiling.passes import uncounted
from fem_mbs.late import dataclass

_HERE = Path(__file__).resolve().parent
_NEUTRAL = _HERE / "compiling" / "machine_code.py"  # it keeps machine code and makes none
_IMPORT = re.compile(rb"^(?:from (fem_mbs[\w.]*) import (\([^)]*\)|[^\n]*)|import (fem_mbs[\w.]*))", re.MULTILINE)


@functools.cache
def _names_in(folder: str) -> frozenset[str]:
    """Return the names of what is in a folder; none if there is no such folder."""
    try:
        return frozenset(os.listdir(folder))
    except OSError:
        return frozenset()


@functools.cache
def _module_file(name: str) -> Path | None:
    """Return the source file of a module of this package, or None for a name that is no module."""
    *parents, last = name.split(".")[1:] or [""]
    for root in (_HERE, _HERE.parent):
        folder = os.path.join(root, *parents)
        for place, file in ((folder, f"{last}.py"), (os.path.join(folder, last), "__init__.py")):
            if last and file in _names_in(place):
                return Path(place, file)
    return None


@functools.cache
def _imports(path: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Return the digest of a source file, and the files of this package that its import statements name."""
    text = path.read_bytes()
    names = set()
    for package, members, module in _IMPORT.findall(text):
        names.add((package or module).decode())
        for member in re.findall(r"\w+", members.decode().replace(" as ", "=")):
            names.add(f"{package.decode()}.{member}")
    found = (_module_file(name) for name in sorted(names))
    return hashlib.sha256(text).digest(), tuple(f for f in found if f not in (None, _NEUTRAL))


def sources(function) -> frozenset[Path]:
    """Return the source files that the compiled code of a function depends on.

    These are its own file, all files of this package that this file imports, directly or not, and the same for every
    function in its closure.
    """
    files: set[Path] = set()
    functions, paths = [function], []
    while functions:
        made = functions.pop()
        paths.append(Path(made.__code__.co_filename).resolve())
        held = (cell.cell_contents for cell in made.__closure__ or ())
        functions += [f for f in (getattr(value, "py_func", value) for value in held) if hasattr(f, "__code__")]
    while paths:
        path = paths.pop()
        if path not in files:
            files.add(path)
            paths += _imports(path)[1]
    return frozenset(files)


def _digest(function) -> str:
    """Return the digest of the sources of a function.

    Numba's own cache notices a change in the file of the function, but none in the file of a callee.
    """
    parts = b"".join(path.name.encode() + _imports(path)[0] for path in sorted(sources(function)))
    return hashlib.sha256(parts).hexdigest()[:16]


# --- ctl: control values of a step ---------------------------------------------------------------------------------
H = 0  # step length h [s]
SF = 1  # factor of the momentum rows: h^2/2, or 1 in statics
SK = 2  # factor of node-node force tangents: SF (two-state) or 2 SF (one-state)
RULE = 3  # TWO_STATE or ONE_STATE
WV = 4  # one-state rules: dv1/du
WA = 5  # one-state rules: da1/du (0 in statics: no inertia)
GX, GY, GZ = 6, 7, 8  # gravity [m/s^2]
TWO = 9  # 1 (two-state) or 2 (one-state): factor of the node-node block of constraint tangents
DECAY = 10  # numerical damping beta [s] of the rule: every elastic element adds sigma += beta S de/dt
N_CTL = 11

TWO_STATE = 0.0
ONE_STATE = 1.0

# --- job of a `force` kernel ---------------------------------------------------------------------------------------
FORCE = 0  # fe only
TANGENT = 1  # fe and ke

# --- job of a `report` kernel --------------------------------------------------------------------------------------
LEDGER = 0  # fe[:, :N_LEDGER] = energies and momenta at state 1, works over the step
OUTPUT = 1  # fe[:, :n_out] = output quantities (section forces, strains) of the step
COMMIT = 2  # state 1 has been accepted: update hist (called after LEDGER and OUTPUT)
START = 3  # both rows hold the initial state: fill hist
SAMPLE = 4  # users' forces only: fe = the arguments of their functions at the present iterate
STRESSES = 5  # types with `stresses` only: fe[:, :stresses] = the argument of the type's `prestress`
WATCH = 6  # types with `watched` only: fe[:, :watched] = the quantities of their watches at state 1

# --- columns of the ledger -----------------------------------------------------------------------------------------
KINETIC, STRAIN, POTENTIAL = 0, 1, 2  # [J] at state 1
DISSIPATED, LOAD_WORK, DRIVER_WORK = 3, 4, 5  # [J] increments over the step
PX, PY, PZ, LX, LY, LZ = 6, 7, 8, 9, 10, 11  # linear [N s] and angular momentum about the origin [N m s] at state 1
N_LEDGER = 12

# --- columns of fun: values of the time functions ------------------------------------------------------------------
T0, TM, T1 = 0, 1, 2

_f1 = types.Array(types.float64, 1, "C")
_f2 = types.Array(types.float64, 2, "C")
_f3 = types.Array(types.float64, 3, "C")
_i2 = types.Array(types.int32, 2, "C")

#: kernel(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke): elements e0 <= e < e1 go to fe[e - e0]
SIGNATURE = types.void(
    types.int64, types.int64, types.int64, _f1, _f2, _i2, _i2, _f2, _f2, _f2, _f3, _f2, _f3, _f1, _f2, _f3
)


def _distinct(function):
    """Give every closure of one function its own name, built from the values in the closure.

    Numba names machine code by module, function name and a counter per process.  Two closures of one name that
    different processes have cached may share the counter; a process that loads both would call the wrong one.
    """
    words = []
    for cell in function.__closure__ or ():
        value = cell.cell_contents
        words.append(str(value) if isinstance(value, (bool, int, float, str)) else getattr(value, "__qualname__", ""))
    if any(words):
        made = "_".join("".join(c if c.isalnum() else "_" for c in word.rpartition(".")[2]) for word in words)
        function.__qualname__ = f"{function.__qualname__}_{made}"
    return function


@dataclass(frozen=True)
class Kernel:
    """A compiled function that Python calls or whose address is taken; ``name`` is its module and its name there."""

    name: str
    maker: Callable[[], Any]
    cache: KernelCache

    @functools.cached_property
    def function(self) -> Any:
        """The dispatcher of numba, made when it is first asked for."""
        made = self.maker()
        keep(made, self.cache)
        return made

    @property
    def arguments(self) -> tuple:
        """Return the types that it is compiled for in advance: those of `declare`, else those of `SIGNATURE`."""
        return _DECLARED.get(self.name, SIGNATURE.args)

    def compile(self) -> None:
        """Compile it, unless it is compiled or on disk."""
        self.function.compile(self.arguments)

    def missing(self) -> bool:
        """Return whether it is neither compiled in this process nor on disk."""
        known = self.arguments in self.function.overloads
        return not known and not self.cache.has(self.arguments, self.function.targetctx)


#: Kernels of all modules that are loaded, by their names.
KERNELS: dict[str, Kernel] = {}
_DECLARED: dict[str, tuple] = {}


def kernel(function):
    """Compile a kernel on first use and cache it on disk; the assembler compiles it for `SIGNATURE`."""
    return _kernel(function)


def shared_kernel(function):
    """Compile a function like `kernel`; other threads of Python run while it does."""
    return _kernel(function, nogil=True)


def _kernel(function, **options):
    function = _distinct(function)
    of_elements = function.__code__.co_argcount == len(SIGNATURE.args)
    if of_elements:
        options["no_cpython_wrapper"] = True
    if vars(config)["DISABLE_JIT"]:
        return function
    name = _name(function)
    make = partial(compiled, function, unrolls=of_elements, error_model="numpy", **options)
    entry = KERNELS[name] = Kernel(name, make, KernelCache(name, function, partial(_digest, function)))
    return ElementKernel(function, entry) if of_elements else entry.function


class ElementKernel:
    """A kernel of an element type, which is called by its address.

    It has no interface of its own to Python: numba would need a third of the kernel's time to compile it.  Calls from
    Python go through one function that all kernels share.

    Attributes:
        py_func: the function that was compiled, as Python.
    """

    def __init__(self, function: Callable, entry: Kernel):
        self.py_func = function
        self._entry = entry
        functools.update_wrapper(self, self.py_func)

    def __reduce__(self) -> tuple:
        return _of_dispatcher, (self._entry.function,)

    @functools.cached_property
    def address(self) -> int:
        """The address of the machine code."""
        made = self._entry.function
        made.compile(SIGNATURE)
        result = made.get_compile_result(SIGNATURE)
        return result.library.get_pointer_to_function(result.fndesc.llvm_func_name)

    def __call__(self, *arguments: Any) -> None:
        call_by_address(self.address, *arguments)


def _of_dispatcher(dispatcher: Any) -> ElementKernel:
    """Return the kernel of a dispatcher that another process has sent."""
    function = dispatcher.py_func
    name = _name(function)
    if name not in KERNELS:  # a closure that this process has not made
        cache = KernelCache(name, function, partial(_digest, function))
        KERNELS[name] = Kernel(name, lambda: dispatcher, cache)
    return ElementKernel(function, KERNELS[name])


def _name(function) -> str:
    return f"{function.__module__}:{function.__qualname__}"


def kernel_of(function: Any) -> Kernel | None:
    """Return the entry of a function that `kernel` has returned; None for a Python function."""
    return KERNELS.get(_name(getattr(function, "py_func", function)))


def declare(function: Any, arguments: Sequence[types.Type]) -> None:
    """Say for which types a kernel of another signature than those of elements is compiled in advance."""
    _DECLARED[_name(getattr(function, "py_func", function))] = tuple(arguments)


_PLAIN: contextvars.ContextVar[bool] = contextvars.ContextVar("plain kernels", default=False)
#: Entries of element matrices up to which `plain` runs a kernel as Python: about two seconds.
PLAIN_ENTRIES = 20_000


@contextlib.contextmanager
def plain() -> Iterator[None]:
    """Let `runner` give Python functions: a single look at a small model is faster than the compilation of its
    kernels."""
    token = _PLAIN.set(True)
    try:
        yield
    finally:
        _PLAIN.reset(token)


def is_plain() -> bool:
    """Return whether `plain` holds."""
    return _PLAIN.get()


def runner(function: Any, entries: float) -> Any:
    """Return a function that runs a kernel called from Python: within `plain` and for little work its Python function.

    Args:
        entries: number of entries of the element matrices that the call is about.
    """
    return getattr(function, "py_func", function) if entries <= PLAIN_ENTRIES and _PLAIN.get() else function


def inner(function):
    """Make a function callable from compiled code; called from Python it stays a Python function.

    It raises no exception and prints nothing: see `fem_mbs.compiling.linking`.
    """
    return linked(_distinct(function), error_model="numpy")


def inline(function):
    """Make a function callable from compiled code, and inline it in its callers.

    Inlining saves the call in functions that dominate the run time of small models.  It makes compilation slower.
    """
    return linked(_distinct(function), error_model="numpy", forceinline=True)


def address(function: ElementKernel) -> int:
    """Return the address of the machine code of a kernel for `call`; compile the kernel first if necessary."""
    return function.address


@intrinsic
def call(typing_context, where, job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    """Call the kernel at an `address`.

    This is one call instruction; the caller needs no new compilation for another kernel.
    """

    def generate(context, builder, signature, arguments):
        convention = context.call_conv
        kind = convention.get_function_type(SIGNATURE.return_type, SIGNATURE.args)
        pointer = builder.inttoptr(arguments[0], kind.as_pointer())
        status, _ = convention.call_function(builder, pointer, SIGNATURE.return_type, SIGNATURE.args, arguments[1:])
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.void(types.intp, *SIGNATURE.args), generate


@shared_kernel
def call_by_address(where, job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    """Call the kernel of an element type at an address, from Python."""
    call(where, job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke)


declare(call_by_address, (types.intp, *SIGNATURE.args))


@uncounted
@intrinsic
def borrow(typing_context, value):
    """Return an array without its reference count.

    Reference counting costs an atomic operation per array in every slice and call, more than a small element costs.
    The caller must hold the arrays while the compiled code runs.
    """

    def generate(context, builder, signature, arguments):
        array = arguments[0]
        for owner in (0, 1):  # memory and parent
            array = builder.insert_value(array, cgutils.get_null_value(array.type.elements[owner]), owner)
        return array

    return value(value), generate
