"""LLVM code of numbers, array entries and range loops in a few instructions each.

Numba writes each of them by a general function that it looks up at every place, and through a structure on the stack.
The instructions here are the same ones without that: results are equal bit by bit.  All else is numba's own.
"""

from __future__ import annotations

import operator
from typing import Any

from numba import types
from numba.core import cgutils, ir
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

from fem_mbs.late import late

__all__ = ["ShortLowering"]

# Numba's code of arrays takes .05 s to load, and a run that finds its kernels on disk lowers nothing.
_load_item, _store_item = late("numba.np.arrayobj:load_item"), late("numba.np.arrayobj:store_item")

_FLOATS = {
    operator.add: "fadd",
    operator.iadd: "fadd",
    operator.sub: "fsub",
    operator.isub: "fsub",
    operator.mul: "fmul",
    operator.imul: "fmul",
    operator.truediv: "fdiv",
    operator.itruediv: "fdiv",
}
_INTEGERS = {
    operator.add: "add",
    operator.iadd: "add",
    operator.sub: "sub",
    operator.isub: "sub",
    operator.mul: "mul",
    operator.imul: "mul",
}
_COMPARED = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}
_WORD = cgutils.intp_t
# Members of the structures of numba's arrays and range iterators.
_MEMORY, _PARENT, _COUNT, _ENTRY_SIZE, _DATA, _SHAPE, _STRIDES = range(7)
_NEXT, _STOP, _STEP, _LEFT = range(4)


def _indices(kind: types.Type) -> tuple[types.Type, ...] | None:
    """Return the types of the indices of an index, or None if one of them is not an integer."""
    members: Any = kind
    kinds = tuple(members) if isinstance(kind, types.BaseTuple) else (kind,)
    return kinds if kinds and all(isinstance(k, types.Integer) for k in kinds) else None


class _ShortLower(Lower):
    """Numba's lowering, with short code for what kernels do most."""

    def init(self):
        super().init()
        self._ranges = {}  # value of range(start, stop) -> start, stop

    def lower_inst(self, inst):
        """Write the code of a statement."""
        counted = self.context.enable_nrt
        if isinstance(inst, ir.Del) and not counted:
            return  # nothing to count
        if not isinstance(inst, ir.Assign) or isinstance(inst.value, ir.Arg):
            super().lower_inst(inst)
            return
        name = inst.target.name
        value = self.lower_assign(self.typeof(name), inst)
        if counted or name in self._singly_assigned_vars:
            self.storevar(value, name)
        else:
            self.builder.store(value, self.getvar(name))

    def lower_expr(self, resty, expr):
        """Write the code of an expression."""
        short = getattr(self, f"_short_{expr.op}", None)
        result = short(resty, expr) if short is not None else None
        return super().lower_expr(resty, expr) if result is None else result

    # --- operators -------------------------------------------------------------------------------------------------
    def lower_binop(self, resty, expr, op):
        """Write the code of an operator."""
        given = self.fndesc.calltypes[expr]
        kind = given.args[0]
        if given.args[1] == kind and (made := self._operation(kind, op)) is not None:
            values = (self._converted(expr.lhs, kind), self._converted(expr.rhs, kind))
            return self.context.cast(self.builder, made(*values), given.return_type, resty)
        return super().lower_binop(resty, expr, op)

    def _operation(self, kind, op):
        """Return the function that writes an operator on two values of one type, or None."""
        build = self.builder
        if kind == types.float64:
            if op in _FLOATS:
                raises = self.context.error_model.raise_on_fp_zero_division and _FLOATS[op] == "fdiv"
                return None if raises else getattr(build, _FLOATS[op])
            compare = build.fcmp_unordered if op is operator.ne else build.fcmp_ordered
        elif kind == types.int64:
            if op in _INTEGERS:
                make = getattr(build, _INTEGERS[op])
                return lambda a, b: make(a, b, flags=["nsw"])
            compare = build.icmp_signed
        else:
            return None
        return (lambda a, b: compare(_COMPARED[op], a, b)) if op in _COMPARED else None

    def _converted(self, variable, kind):
        """Return the value of a variable, converted to a type."""
        return self.context.cast(self.builder, self.loadvar(variable.name), self.typeof(variable.name), kind)

    # --- entries of arrays and tuples -------------------------------------------------------------------------------
    def lower_getitem(self, resty, expr, value, index, signature):
        """Write the code of ``value[index]``."""
        array = self.typeof(value.name)
        checked = self.context.enable_boundscheck
        if index is not None and array == signature.args[0] and isinstance(array, types.Array) and not checked:
            kinds = _indices(self.typeof(index.name))
            if kinds and len(kinds) == array.ndim and resty == array.dtype:
                place = self._place(array, self.loadvar(value.name), index, kinds)
                return _load_item(self.context, self.builder, array, place)
            if kinds and len(kinds) < array.ndim and array.layout == "C" and not self.context.enable_nrt:
                return self._view(array, self.loadvar(value.name), index, kinds)
        return super().lower_getitem(resty, expr, value, index, signature)

    def lower_setitem(self, target_var, index_var, value_var, signature):
        """Write the code of ``target[index] = value``."""
        array = self.typeof(target_var.name)
        value = self.typeof(value_var.name)
        checked = self.context.enable_boundscheck
        if isinstance(array, types.Array) and isinstance(value, (types.Number, types.Boolean)) and not checked:
            kinds = _indices(self.typeof(index_var.name))
            if kinds and len(kinds) == array.ndim:
                place = self._place(array, self.loadvar(target_var.name), index_var, kinds)
                _store_item(self.context, self.builder, array, self._converted(value_var, array.dtype), place)
                return
        super().lower_setitem(target_var, index_var, value_var, signature)

    def _counted_from_0(self, index, kinds, lengths):
        """Return the indices as words; negative ones count from the end."""
        build = self.builder
        value = self.loadvar(index.name)
        tuple_ = isinstance(self.typeof(index.name), types.BaseTuple)
        made = []
        for i, (kind, length) in enumerate(zip(kinds, lengths, strict=False)):
            if isinstance(kind, types.IntegerLiteral):
                n = kind.literal_value
                made.append(_WORD(n) if n >= 0 else build.add(length, _WORD(n)))
                continue
            word = build.extract_value(value, i) if tuple_ else value
            word = self.context.cast(build, word, kind, types.intp if kind.signed else types.uintp)
            if kind.signed:
                word = build.select(build.icmp_signed("<", word, _WORD(0)), build.add(word, length), word)
            made.append(word)
        return made

    def _place(self, array, value, index, kinds):
        """Return the address of the entry, or of the first entry of the part, that an index of an array names."""
        build = self.builder
        lengths = [build.extract_value(value, (_SHAPE, i)) for i in range(array.ndim)]
        words = self._counted_from_0(index, kinds, lengths)
        data = build.extract_value(value, _DATA)
        if array.layout != "C":
            strides = [build.extract_value(value, (_STRIDES, i)) for i in range(array.ndim)]
            at = build.ptrtoint(data, _WORD)
            for word, stride in zip(words, strides, strict=True):
                at = build.add(at, build.mul(word, stride))
            return build.inttoptr(at, data.type)
        at = words[0]
        for i, length in enumerate(lengths[1:], 1):
            at = build.mul(at, length)
            at = build.add(at, words[i]) if i < len(words) else at
        return build.gep(data, [at])

    def _view(self, array, value, index, kinds):
        """Return the part of a contiguous array that the first indices name."""
        build = self.builder
        place = self._place(array, value, index, kinds)
        rest = range(len(kinds), array.ndim)
        lengths = [build.extract_value(value, (_SHAPE, i)) for i in rest]
        count = lengths[0]
        for length in lengths[1:]:
            count = build.mul(count, length, flags=["nsw"])
        kept = [(m, build.extract_value(value, m)) for m in (_MEMORY, _PARENT, _ENTRY_SIZE)]
        members = [*kept, (_COUNT, count), (_DATA, place)]
        for i, (axis, length) in enumerate(zip(rest, lengths, strict=True)):
            members += [((_SHAPE, i), length), ((_STRIDES, i), build.extract_value(value, (_STRIDES, axis)))]
        kind = types.Array(array.dtype, len(lengths), "C", readonly=not array.mutable, aligned=array.aligned)
        made = self.context.get_constant_undef(kind)
        for where, member in members:
            made = build.insert_value(made, member, where)
        return made

    def _short_static_getitem(self, resty, expr):
        """Write the code of an index that is a constant."""
        kind = self.typeof(expr.value.name)
        if isinstance(kind, types.BaseTuple) and isinstance(expr.index, int):
            members: Any = kind
            if members[expr.index] == resty and not self.context.enable_nrt:
                return self.builder.extract_value(self.loadvar(expr.value.name), expr.index % len(members))
        if isinstance(kind, types.Array) and expr.index_var is not None:
            given = self.fndesc.calltypes[expr]
            return self.lower_getitem(resty, expr, expr.value, expr.index_var, given)
        return None

    # --- loops over ranges ------------------------------------------------------------------------------------------
    def _short_call(self, resty, expr):
        """Write the code of ``range(stop)`` and ``range(start, stop)``."""
        called = self.typeof(expr.func.name)
        if resty != types.range_state64_type or getattr(called, "typing_key", None) is not range:
            return None
        given = self.fndesc.calltypes[expr].args
        if expr.vararg or len(given) > 2:
            return None
        values = [self._converted(v, k) for v, k in zip(expr.args, given, strict=True)]
        start, stop = values if len(values) == 2 else (_WORD(0), *values)
        made = self.context.get_constant_undef(resty)
        for i, value in enumerate((start, stop, _WORD(1))):
            made = self.builder.insert_value(made, value, i)
        self._ranges[made] = (start, stop)
        return made

    def _short_getiter(self, resty, expr):
        """Write the code that begins a loop over a range with step 1."""
        if self.typeof(expr.value.name) != types.range_state64_type:
            return None
        limits = self._ranges.get(self.loadvar(expr.value.name))
        if limits is None:
            return None
        build = self.builder
        start, stop = limits
        with build.goto_entry_block():
            at, left = build.alloca(_WORD), build.alloca(_WORD)
        build.store(start, at)
        build.store(build.select(build.icmp_signed(">", stop, start), build.sub(stop, start), _WORD(0)), left)
        made = self.context.get_constant_undef(resty)
        for i, value in enumerate((at, stop, _WORD(1), left)):
            made = build.insert_value(made, value, i)
        return made

    def _short_iternext(self, resty, expr):
        """Write the code that takes the next number of a range."""
        if self.typeof(expr.value.name) != types.range_iter64_type:
            return None
        build = self.builder
        value = self.loadvar(expr.value.name)
        at, step, left = (build.extract_value(value, i) for i in (_NEXT, _STEP, _LEFT))
        count, number = build.load(left), build.load(at)
        build.store(build.sub(count, _WORD(1)), left)
        build.store(build.add(number, step), at)
        made = self.context.get_constant_undef(resty)
        made = build.insert_value(made, number, 0)
        return build.insert_value(made, build.icmp_signed(">", count, _WORD(0)), 1)

    def _short_pair_first(self, resty, expr):
        """Write the code of the number that a range gave."""
        return self._member_of_pair(expr, 0)

    def _short_pair_second(self, resty, expr):
        """Write the code of whether a range gave a number."""
        return self._member_of_pair(expr, 1)

    def _member_of_pair(self, expr, i):
        kind = self.typeof(expr.value.name)
        if not isinstance(kind, types.Pair) or (self.context.enable_nrt and kind.first_type != types.int64):
            return None
        return self.builder.extract_value(self.loadvar(expr.value.name), i)


class ShortLowering(NativeLowering):
    """The pass that lowers with `_ShortLower`."""

    _name = "short_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        return _ShortLower
