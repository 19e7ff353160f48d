"""Named tuples of arrays in compiled code: passed as one pointer.

Numba passes a named tuple member by member, an array as five numbers and two more for each of its indices.  The system
and the state of a stepping are hundreds of numbers, which every call would pass.  Here the members lie in a table in
memory; what a function uses of it is read there.  The table does not change while compiled code runs, and the code says
so to LLVM (``invariant.load``), which keeps members in registers as if they had been passed.

    class Output(NamedTuple):
        ledger: np.ndarray
        step: np.ndarray

    OUTPUT = array_record(Output, {"f8 2": "ledger", "i8 1": "step"})

Python makes and holds the named tuple.  Its arrays must be of the types that are stated here: contiguous, and with the
stated number of indices.  Compiled code owns none of them.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, lower_getattr_generic, register_model, typeof_impl, unbox

from fem_mbs.compiling.passes import Borrowed

__all__ = ["array", "array_record"]

_BASES = {"f8": types.float64, "i8": types.int64, "i4": types.int32, "i1": types.int8}
# Members of the structure of numba's arrays.
_MEMORY, _PARENT, _COUNT, _ENTRY_SIZE, _DATA, _SHAPE, _STRIDES = range(7)


def array(code: str) -> types.Array:
    """Return the type of a contiguous array, "f8 2" for two indices."""
    base, dimensions = code.split()
    return types.Array(_BASES[base], int(dimensions), "C")


class _Record(Borrowed):
    """Type of a named tuple of arrays that compiled code gets as a pointer.

    Attributes:
        kind: the class of the tuple.
        members: types of its arrays, in order.
    """

    def __init__(self, kind: Any, members: tuple[types.Array, ...]):
        self.kind, self.members = kind, members
        super().__init__(kind.__name__)

    @property
    def key(self):
        return self.kind, self.members


register_model(_Record)(models.OpaqueModel)


def array_record(kind: Any, fields: dict[str, str]) -> types.Type:
    """Let compiled code take a class of named tuples as a pointer; return its type.

    Args:
        kind: the class.
        fields: the names of its fields for each code of `array`, separated by spaces.
    """
    known = {name: array(code) for code, names in fields.items() for name in names.split()}
    record = _Record(kind, tuple(known[name] for name in kind._fields))

    @typeof_impl.register(kind)
    def _typeof(value, context):
        found = tuple(typeof_impl(member, context) for member in value)
        return record if found == record.members else None

    return record


@infer_getattr
class _Members(AttributeTemplate):
    """Types of the members."""

    key = _Record

    def generic_resolve(self, value, attr):
        """Return the type of a member, or None."""
        names = value.kind._fields
        return value.members[names.index(attr)] if attr in names else None


def _table(context: Any, record: _Record) -> Any:
    """Return the type of the table in memory."""
    return ir.LiteralStructType([context.get_value_type(member) for member in record.members])


@lower_getattr_generic(_Record)
def _member(context, builder, record, value, attr):
    """Read a member from the table, without a reference to its memory."""
    place = record.kind._fields.index(attr)
    kind = record.members[place]
    table = builder.bitcast(value, _table(context, record).as_pointer())
    known = builder.module.add_metadata([])

    def read(*path):
        word = builder.load(cgutils.gep_inbounds(builder, table, 0, place, *path))
        word.set_metadata("invariant.load", known)
        return word

    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    array = cgutils.get_null_value(context.get_value_type(kind))  # no owner of memory
    array = builder.insert_value(array, context.get_constant(types.intp, size), _ENTRY_SIZE)
    paths = [(_COUNT,), (_DATA,), *((part, i) for part in (_SHAPE, _STRIDES) for i in range(kind.ndim))]
    for path in paths:
        array = builder.insert_value(array, read(*path), path)
    return array


@unbox(_Record)
def _unbox(record, value, c):
    """Write the members of a tuple of Python to a table on the stack."""
    builder, pointer = c.builder, cgutils.voidptr_t
    table = cgutils.alloca_once(builder, _table(c.context, record))
    fill = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(ir.IntType(32), [c.pyapi.pyobj, pointer]), "numba_adapt_ndarray"
    )
    for i in range(len(record.members)):
        member = c.pyapi.tuple_getitem(value, i)
        builder.call(fill, [member, builder.bitcast(cgutils.gep_inbounds(builder, table, 0, i), pointer)])
    return NativeValue(builder.bitcast(table, pointer))
