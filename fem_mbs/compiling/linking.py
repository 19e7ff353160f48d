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
from types import FunctionType
from typing import Any

from llvmlite.binding import create_pass_builder, create_pipeline_tuning_options
from numba import config, njit, types, version_info
from numba.core.codegen import JITCodeLibrary
from numba.extending import models, register_jitable, register_model, typeof_impl

from fem_mbs.compiling.passes import ShortCompiler

__all__ = ["compiled", "keep", "linked"]

# Versions of numba, from the first to before the second, whose compiler has the hooks that are used here.
_KNOWN = ((0, 68), (0, 69))


class _Environments:
    """Where code without machine code registers its Python objects: nowhere, as nothing of it runs."""

    @staticmethod
    def set_env(name: str, environment: object) -> None:
        """Drop the environment of a function."""


class _KernelLibrary(JITCodeLibrary):
    """A library that is optimised once, with all that it links.

    Numba's libraries optimise every function that enters, and the whole twice, for the sake of reference counts.
    """

    def _optimize_functions(self, ll_module):
        """Take a module as it is."""
        ll_module.data_layout = str(self.codegen.target_data)

    unrolls = True

    def _optimize_final_module(self):
        """Run the optimisation of modules."""
        options = create_pipeline_tuning_options(int(config.OPT))
        options.loop_vectorization, options.slp_vectorization = config.LOOP_VECTORIZE, config.SLP_VECTORIZE
        options.loop_unrolling = self.unrolls
        builder = create_pass_builder(self._codegen._tm, options)
        passes = builder.getModulePassManager()
        passes.add_refprune_pass()
        passes.run(self._final_module, builder)


class _RolledLibrary(_KernelLibrary):
    """A library of long loops of unknown length, which take longer to compile than they save when they are unrolled."""

    unrolls = False


class _LinkedLibrary(_KernelLibrary):
    """A library for other libraries: its code is neither optimised nor loaded."""

    @property
    def codegen(self):
        return _Environments

    def _optimize_functions(self, ll_module):
        """Take a module as it is; the library that links it gives it a layout."""

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


class _KernelCompiler(ShortCompiler):
    """The passes of a function that ends in a `_KernelLibrary`."""

    library = _KernelLibrary

    def define_pipelines(self):
        state = self.state
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()


class _RolledCompiler(_KernelCompiler):
    """The passes of a function that ends in a `_RolledLibrary`."""

    library = _RolledLibrary


class _LinkedCompiler(ShortCompiler):
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

_options: dict[Callable, dict[str, Any]] = {}  # of linked functions
_types: dict[Callable, _LinkedType] = {}  # of those that compiled code has asked for


@typeof_impl.register(FunctionType)
def _typeof(function, context):
    """Return the type of a linked function, None for any other.

    Its dispatcher is made here, when a caller is compiled: a process that finds all its kernels on disk makes none.
    """
    if function not in _types and function in _options:
        compiler: Any = njit  # numba's types know neither option
        settings = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **_options[function]}
        _types[function] = _LinkedType(compiler(pipeline_class=_LinkedCompiler, **settings)(function))
    return _types.get(function)


def _known() -> bool:
    return _KNOWN[0] <= version_info.short < _KNOWN[1]


def compiled(function: Callable, unrolls: bool = True, **options: Any) -> Any:
    """Make a dispatcher of a function that Python or other code calls by its address.

    Args:
        unrolls: whether loops may be unrolled.
        options: those of `numba.njit`.
    """
    compiler: Any = njit  # numba's types do not know the option
    short = {"pipeline_class": _KernelCompiler if unrolls else _RolledCompiler} if _known() else {}
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
    _options[function] = options
    return function
