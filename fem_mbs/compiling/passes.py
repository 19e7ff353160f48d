"""The way of a kernel through numba's compiler: the passes that numbers and arrays need, and quick types of operators.

Kernels have no closures, comprehensions, generators or ``with``, and name no lists, sets or texts.  Numba's passes for
these take as long as the others, and so do its looks at the operators of such types.  A function that does have one of
the former takes all of numba's passes.
"""

from __future__ import annotations

import gc
import operator
from collections.abc import Callable
from typing import Any, ClassVar

from numba import types
from numba.core import ir
from numba.core.analysis import dead_branch_prune, rewrite_semantic_constants
from numba.core.compiler import Compiler, Flags
from numba.core.rewrites import rewrite_registry
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NoPythonBackend,
    NopythonRewrites,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import FixupArgs, IRProcessing, ReconstructSSA, TranslateByteCode

from fem_mbs.compiling.lowering import ShortLowering

__all__ = ["Borrowed", "ShortCompiler", "uncounted"]


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
# Operators whose result depends on the types of numbers only, not on the values of constants.
_NAMES = "add sub mul truediv floordiv mod iadd isub imul itruediv lt le gt ge eq ne"
_OF_NUMBERS = frozenset(getattr(operator, name) for name in _NAMES.split(" "))


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
        found = self.known.get(key)
        if found is None:
            found = make(*arguments)
            if found is not None and all(isinstance(kind, _PLAIN) and kind.is_precise() for kind in given):
                self.known[key] = found
        return found

    def resolve_function_type(self, func, args, kws):
        """Return the signature of a call."""
        make = self._context.resolve_function_type
        called = func.typing_key if isinstance(func, types.Function) else func
        if kws or isinstance(called, (str, types.Type)):
            return make(func, args, kws)
        if called in _OF_NUMBERS or (called is operator.getitem and isinstance(args[0], types.Array)):
            args = tuple(types.unliteral(kind) for kind in args)
        return self._result((called, *args), args, make, func, args, kws)

    def resolve_static_getitem(self, value, index):
        """Return the signature of ``value[index]`` with a constant index, or None if it is no special one."""
        if isinstance(value, types.Array) and isinstance(index, int):
            return None
        if isinstance(value, types.BaseTuple) and type(index) is int:
            return self._result((value, index), (value,), self._context.resolve_static_getitem, value, index)
        return self._context.resolve_static_getitem(value, index)

    def resolve_setitem(self, target, index, value):
        """Return the signature of ``target[index] = value``."""
        if isinstance(target, types.Array):
            index, value = types.unliteral(index), types.unliteral(value)
        given = (target, index, value)
        return self._result(given, given, self._context.resolve_setitem, *given)


class _Sizes:
    """Sizes [bytes] of types in memory: to find one, numba prints a module that LLVM reads."""

    known: ClassVar[dict] = {}

    def __init__(self, context):
        self._find = context.get_abi_sizeof

    def __call__(self, kind):
        """Return the size of a type of LLVM."""
        if kind not in self.known:
            self.known[kind] = self._find(kind)
        return self.known[kind]


_UNCOUNTED: set[object] = set()


def uncounted(function: Callable) -> Callable:
    """Register a function whose array is a part of what it gets or lies on the stack, and return it."""
    _UNCOUNTED.add(function)
    return function


class Borrowed(types.Opaque):
    """Base of types whose values own no memory: their members belong to Python."""


_WITHOUT_MEMORY = (
    Borrowed,
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


def _statements(state: Any) -> list[ir.Stmt]:
    """Return the statements of the function that is compiled."""
    return [statement for block in state.func_ir.blocks.values() for statement in block.body]


def _prune(state: Any) -> None:
    """Drop the branches that constants rule out."""
    rewrite_semantic_constants(state.func_ir, state.args)
    dead_branch_prune(state.func_ir, state.args)


def _rewrite(state: Any) -> None:
    """Let numba rewrite constant indices, exponents and exceptions."""
    blocks = state.func_ir.blocks
    for kind in rewrite_registry.rewrites["before-inference"]:
        rewrite = kind(state)
        waiting = list(blocks.items())
        while waiting:
            key, block = waiting.pop()
            if rewrite.match(state.func_ir, block, state.typemap, state.calltypes):
                blocks[key] = rewrite.apply()
                waiting.append((key, blocks[key]))


class _StripPhis(PreLowerStripPhis):
    """Numba's pass, without what generators and its passes on arrays need."""

    def run_pass(self, state):
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        return True


_OPERATORS = ("binop", "inplace_binop", "unary")


def _join_operators(state: Any) -> None:
    """Let numba make one loop of the operators of a line that works on whole arrays."""
    for statement in _statements(state):
        if not isinstance(statement, ir.Assign) or getattr(statement.value, "op", None) not in _OPERATORS:
            continue
        if isinstance(state.typemap[statement.target.name], types.Array):
            PreLowerStripPhis().run_pass(state)  # for what it notes about the blocks
            NopythonRewrites().run_pass(state)
            return


def _count_references(state: Any) -> None:
    """Mark the places where references to arrays end, or count none in functions that make no array and return none.

    The arrays of the latter live in the callers.  Numba would count each at every use, also every array of a tuple
    that is passed on, and let LLVM remove the greater part of it.
    """
    kinds = state.typemap
    if _has_memory(state.return_type) or any(_needs_memory(statement, kinds) for statement in _statements(state)):
        IRLegalization().run_pass(state)
    else:
        state.targetctx.enable_nrt = False


_PASSES = (
    TranslateByteCode().run_pass,
    FixupArgs().run_pass,
    IRProcessing().run_pass,
    _prune,
    _rewrite,
    ReconstructSSA().run_pass,
    _prune,
    NopythonTypeInference().run_pass,
    _StripPhis().run_pass,
    _join_operators,
    _count_references,
    AnnotateTypes().run_pass,
    ShortLowering().run_pass,
    NoPythonBackend().run_pass,
)

# Instructions of Python's virtual machine that need more passes.
_MORE = frozenset(("MAKE_FUNCTION", "BEFORE_WITH", "YIELD_VALUE", "RETURN_GENERATOR", "BUILD_LIST", "SETUP_FINALLY"))


class _Passes:
    """The passes one after the other, without numba's record of each."""

    pipeline_name = "short"

    def __init__(self):
        self.exec_times: dict = {}

    def run(self, state):
        """Compile the function of a state."""
        for step in _PASSES:
            step(state)


class ShortCompiler(Compiler):
    """Numba's compiler for functions of numbers and arrays."""

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, local):
        super().__init__(_Typing(typingctx), targetctx, library, args, return_type, _Flags(flags), local)
        self.state.targetctx.get_abi_sizeof = _Sizes(self.state.targetctx)

    def compile_extra(self, func: Callable) -> Any:
        """Compile a function; the collector of garbage would take a tenth of the time, and find little."""
        collects = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            if collects:
                gc.enable()

    def define_pipelines(self) -> list:
        code = self.state.func_id.code
        if code.co_exceptiontable or not _MORE.isdisjoint(step.opname for step in self.state.bc):
            return super().define_pipelines()
        return [_Passes()]
