"""Arrays in compiled code: on the stack, as parts of longer ones, copied, without a reference count.

Numba's `numpy.empty`, slices, `reshape` and assignments of slices bring allocation, broadcasting, reference counts and
the texts of their errors into every function that uses them.  These here are a few instructions each, which shortens
compilation and run time alike.  Called from Python they are plain numpy functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin

from fem_mbs.compiling.passes import uncounted
from fem_mbs.late import late

__all__ = ["cleared", "copy", "integers", "part", "scratch"]

# What writes code is loaded where a kernel is compiled.
_make_array, _populate_array = late("numba.np.arrayobj:make_array"), late("numba.np.arrayobj:populate_array")


def scratch(*shape: int) -> Any:
    """Return an array of floats for intermediate results, not initialised; its sizes are constants.

    In compiled code it lies on the stack of the function that calls: no function may return it.
    """
    return np.empty(shape)


def cleared(*shape: int) -> Any:
    """Return an array like `scratch` does, filled with zeros."""
    return np.zeros(shape)


def integers(*shape: int) -> Any:
    """Return an array like `scratch` does, of integers."""
    return np.empty(shape, np.int64)


def copy(source: Any, target: Any) -> None:
    """Copy an array to another with as many entries of the same type; both are contiguous."""
    target.reshape(-1)[:] = source.reshape(-1)


def part(array: Any, start: int, *shape: int) -> Any:
    """Return the entries of a contiguous array of one dimension from ``start`` on as an array of the given shape.

    The part does not keep the array alive: the function that calls must hold it.
    """
    return array[start : start + int(np.prod(shape))].reshape(shape)


def _typed(function: Any, result: Any) -> None:
    """Let ``result`` return the type of a call of a function, or None, from the types of the arguments."""

    class Call(AbstractTemplate):
        key = function
        prefer_literal = True

        def generic(self, args, kws):
            kind = None if kws else result(*args)
            return None if kind is None else signature(kind, *args)

    infer_global(uncounted(function), types.Function(Call))


def _type_scratch(entry):
    def typed(*lengths):
        if lengths and all(isinstance(n, types.IntegerLiteral) for n in lengths):
            return types.Array(entry, len(lengths), "C")
        return None

    return typed


def _place(context, builder, kind, shape, data):
    """Make the structure of a contiguous array of a type over memory that is there."""
    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    strides, stride = [], context.get_constant(types.intp, size)
    for length in reversed(shape):
        strides.insert(0, stride)
        stride = builder.mul(stride, length)
    array = _make_array(kind)(context, builder)
    _populate_array(array, data, shape, strides, context.get_constant(types.intp, size), None)
    return array


def _lower_scratch(context, builder, signature, arguments):
    kind = signature.return_type
    lengths = [n.literal_value for n in signature.args]
    count = context.get_constant(types.intp, int(np.prod(lengths)))
    memory = cgutils.alloca_once(builder, context.get_data_type(kind.dtype), size=count)
    shape = [context.get_constant(types.intp, n) for n in lengths]
    return _place(context, builder, kind, shape, memory)._getvalue()


def _lower_cleared(context, builder, signature, arguments):
    value = _lower_scratch(context, builder, signature, arguments)
    array = _make_array(signature.return_type)(context, builder, value=value)
    cgutils.memset(builder, array.data, builder.mul(array.nitems, array.itemsize), 0)
    return value


for _function, _entry, _lower in (
    (scratch, types.float64, _lower_scratch),
    (cleared, types.float64, _lower_cleared),
    (integers, types.int64, _lower_scratch),
):
    _typed(_function, _type_scratch(_entry))
    lower_builtin(_function, types.VarArg(types.Any))(_lower)


def _type_copy(source, target):
    arrays = all(isinstance(a, types.Array) and a.layout == "C" for a in (source, target))
    return types.none if arrays and source.dtype == target.dtype else None


_typed(copy, _type_copy)


@lower_builtin(copy, types.Array, types.Array)
def _lower_copy(context, builder, signature, arguments):
    source, target = (_make_array(k)(context, builder, value=a) for k, a in zip(signature.args, arguments, strict=True))
    size = context.get_abi_sizeof(context.get_data_type(signature.args[0].dtype))
    cgutils.raw_memcpy(builder, target.data, source.data, source.nitems, size)
    return context.get_dummy_value()


def _type_part(array, start, *shape):
    known = isinstance(array, types.Array) and array.layout == "C" and array.ndim == 1
    if known and shape and all(isinstance(n, types.Integer) for n in (start, *shape)):
        return types.Array(array.dtype, len(shape), "C")
    return None


_typed(part, _type_part)


@lower_builtin(part, types.Array, types.Integer, types.VarArg(types.Any))
def _lower_part(context, builder, signature, arguments):
    kinds = signature.args
    given = _make_array(kinds[0])(context, builder, value=arguments[0])
    start, *shape = (context.cast(builder, a, k, types.intp) for a, k in zip(arguments[1:], kinds[1:], strict=True))
    data = builder.gep(given.data, [start])
    return _place(context, builder, signature.return_type, shape, data)._getvalue()
