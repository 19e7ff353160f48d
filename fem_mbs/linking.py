"""Functions that compiled code calls and Python does not: compiled once, optimised and made machine code in callers.

numba optimises every function that a compiled one calls on its own, makes machine code of it, and does both again for
the copy in each caller; it also infers and lowers it anew for every set of compiler options of its callers.  For
functions that nobody calls by their address all that is waste, and the greater part of the time that a kernel takes to
compile.  Here a function has one dispatcher, whose library hands its intermediate code to the libraries of its callers.
They optimise it with their own code.

Linked code has no environment, the table of the Python objects that a function uses: it may print nothing and raise no
exception.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from numba import config, njit, types, version_info
from numba.core import ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.typed_passes import IRLegalization
from numba.core.typing.templates import infer_global
from numba.extending import models, register_jitable, register_model

__all__ = ["compiled", "keep", "linked", "uncounted"]

# Versions of numba, from the first to before the second, whose compiler has the hooks that are used here.
_KNOWN = ((0, 68), (0, 69))


class _Environments:
    """Where code without machine code registers its Python objects: nowhere, as nothing of it runs."""

    @staticmethod
    def set_env(name: str, environment: object) -> None:
        """Drop the environment of a function."""


class _LinkedLibrary(JITCodeLibrary):
    """A library for other libraries: its code has passed the optimisation of functions, and is not loaded."""

    @property
    def codegen(self):
        return _Environments

    def _optimize_final_module(self):
        """Leave the optimisation of the whole to the library that links this one."""

    def _finalize_final_module(self):
        """Take no place in memory."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name):
        """Return 0, numba's sign of a function without machine code."""
        self._ensure_finalized()
        return 0


class _Flags(Flags):
    """Options of a compilation that compare fast: numba compares them whenever it looks up the type of an operator."""

    __slots__ = ()

    def __hash__(self):
        return _FLAGS  # numba's own, which does not depend on the values

    def __eq__(self, other):
        if self is other:
            return True
        if type(other) is _Flags:
            return self._values == other._values or super().__eq__(other)
        return super().__eq__(other)


_FLAGS = hash(Flags())

_PLAIN = (types.Number, types.Boolean, types.Array, types.BaseTuple, types.NoneType)


class _Typing:
    """Numba's typing context, with the results of operators on plain types kept.

    Numba tries the implementations of an operator for lists, texts, sets ... anew at every place that uses it.
    """

    known: ClassVar[dict] = {}

    def __init__(self, context):
        self._context = context

    def __getattr__(self, name):
        return getattr(self._context, name)

    def _result(self, key, given, make, *arguments):
        """Return the signature that is known for a key, or make it."""
        if not all(isinstance(kind, _PLAIN) and kind.is_precise() for kind in given):
            return make(*arguments)
        found = self.known.get(key)
        if found is None:
            found = make(*arguments)
            if found is not None:
                self.known[key] = found
        return found

    def resolve_function_type(self, func, args, kws):
        """Return the signature of a call."""
        make = self._context.resolve_function_type
        if kws or not isinstance(func, types.Function):
            return make(func, args, kws)
        return self._result((func, *args), args, make, func, args, kws)

    def resolve_setitem(self, target, index, value):
        """Return the signature of ``target[index] = value``."""
        given = (target, index, value)
        return self._result(given, given, self._context.resolve_setitem, *given)


_UNCOUNTED: set[object] = set()


def uncounted(function: Callable) -> Callable:
    """Register a function whose array is a part of what it gets or lies on the stack, and return it."""
    _UNCOUNTED.add(function)
    return function


_WITHOUT_MEMORY = (
    types.Number,
    types.Boolean,
    types.NoneType,
    types.Omitted,
    types.RangeType,
    types.RangeIteratorType,
    types.SliceType,
    types.EllipsisType,
    types.StringLiteral,
    types.DType,
    types.NumberClass,
    types.Dispatcher,
    types.Function,
    types.Module,
)
_PASSED_ON = ("getattr", "cast", "build_tuple", "exhaust_iter", "getiter", "iternext", "pair_first", "pair_second")


def _has_memory(kind: types.Type) -> bool:
    """Return whether values of a type can own memory."""
    if isinstance(kind, types.BaseTuple):
        members: Any = kind  # numba's types know no entries
        return any(_has_memory(part) for part in members)
    return not isinstance(kind, _WITHOUT_MEMORY)


def _is_view(kind: types.Type) -> bool:
    """Return whether an index of a type takes a view of an array, or an entry, and copies nothing."""
    if isinstance(kind, types.BaseTuple):
        members: Any = kind
        return all(_is_view(part) for part in members)
    return isinstance(kind, (types.Integer, types.SliceType, types.EllipsisType, types.NoneType))


def _makes_memory(value: Any, kinds: dict) -> bool:
    """Return whether an expression may make an array; not if it passes on what the function has got."""
    if not isinstance(value, ir.Expr) or value.op in _PASSED_ON:
        return False
    if value.op in ("getitem", "static_getitem"):
        if isinstance(kinds[value.value.name], types.BaseTuple):
            return False
        index = value.index if value.op == "getitem" else value.index_var
        return index is None or not _is_view(kinds[index.name])
    called = kinds[value.func.name] if value.op == "call" else None
    return getattr(called, "typing_key", None) not in _UNCOUNTED


def _needs_memory(statement: ir.Stmt, kinds: dict) -> bool:
    """Return whether a statement may make an array, be it one that its own code needs."""
    if isinstance(statement, ir.Assign):
        return _has_memory(kinds[statement.target.name]) and _makes_memory(statement.value, kinds)
    if isinstance(statement, (ir.SetItem, ir.StaticSetItem)):
        return _has_memory(kinds[statement.value.name])
    return False


@register_pass(mutates_CFG=False, analysis_only=True)
class _CountNothing(AnalysisPass):
    """Turn the counting of references off in functions that make no array and return none.

    Their arrays live in the callers.  Numba would count each at every use, also every array of a tuple that is passed
    on, and let LLVM remove the greater part of it.
    """

    _name = "count_nothing"

    def __init__(self):
        super().__init__()

    def run_pass(self, state):
        kinds = state.typemap
        body = [statement for block in state.func_ir.blocks.values() for statement in block.body]
        if not _has_memory(state.return_type) and not any(_needs_memory(statement, kinds) for statement in body):
            state.targetctx.enable_nrt = False
        return False


class _ShortCompiler(Compiler):
    """The usual passes, without what numbers and arrays do not need."""

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, local):
        super().__init__(_Typing(typingctx), targetctx, library, args, return_type, _Flags(flags), local)

    def define_pipelines(self):
        pipelines = super().define_pipelines()
        for passes in pipelines:
            passes.add_pass_after(_CountNothing, IRLegalization)
            passes.finalize()
        return pipelines


class _LinkedCompiler(_ShortCompiler):
    """The passes of a function that ends in a `_LinkedLibrary`."""

    def define_pipelines(self):
        state = self.state
        state.library = _LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


class _LinkedType(types.Dispatcher):
    """Type of a linked function in compiled code.

    Constants are arguments like any other: one compiled function serves for all values.
    """

    def __init__(self, dispatcher):
        super().__init__(dispatcher)
        self._kept = dispatcher  # the base class refers to it weakly

    def get_call_type(self, context, args, kws):
        plain = tuple(types.unliteral(kind) for kind in args)
        return super().get_call_type(context, plain, {name: types.unliteral(kind) for name, kind in kws.items()})


register_model(_LinkedType)(models.OpaqueModel)


def _known() -> bool:
    return _KNOWN[0] <= version_info.short < _KNOWN[1]


def compiled(function: Callable, **options: Any) -> Any:
    """Make a dispatcher of a function that Python or other code calls by its address.

    Args:
        options: those of `numba.njit`.
    """
    compiler: Any = njit  # numba's types do not know the option
    short = {"pipeline_class": _ShortCompiler} if _known() else {}
    return compiler(no_cfunc_wrapper=True, **short, **options)(function)


def keep(dispatcher: Any, cache: Any) -> Any:
    """Let a dispatcher look for its machine code in a cache, and keep it there; return the cache."""
    dispatcher._cache = cache
    return cache


def linked(function: Callable, **options: Any) -> Callable:
    """Make a function callable from compiled code, and return it.

    Other versions of numba than those that this module was tried with compile as they do by themselves, only slower.

    Args:
        options: those of `numba.njit`.
    """
    if vars(config)["DISABLE_JIT"]:
        return function
    if not _known():
        return register_jitable(no_cfunc_wrapper=True, **options)(function)
    compiler: Any = njit  # numba's types know neither option
    made = compiler(pipeline_class=_LinkedCompiler, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)
    infer_global(function, _LinkedType(made(function)))
    return function
