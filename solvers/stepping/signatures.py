"""Types of the arguments of the compiled stepping, by which it is compiled before a model asks for it.

Whoever compiles in advance imports this module.
"""

from __future__ import annotations

from numba import types

from fem_mbs.compiling.array_records import array
from fem_mbs.contract import call_by_address, declare
from fem_mbs.solvers.chains import follow, midpoint
from fem_mbs.solvers.differentiation import states, steps
from fem_mbs.solvers.differentiation.layout import FOLLOW
from fem_mbs.solvers.linear import frames
from fem_mbs.solvers.many_states import over_states
from fem_mbs.solvers.stepping import assembly, explicit, gauge, motion, pattern, side_by_side, stepper
from fem_mbs.solvers.stepping.gauge import RANK
from fem_mbs.solvers.stepping.layout import OUTPUT_RECORD, STATE_RECORD, SYSTEM_RECORD

_RECORDS = {"system": SYSTEM_RECORD, "state": STATE_RECORD, "output": OUTPUT_RECORD, "rank": RANK, "follow": FOLLOW}
_NUMBERS = {"int": types.int64, "float": types.float64, "bool": types.boolean}


_STEPS = "i8 1, i8 1, system, state, output, f8 1, f8 3, i8 1, f8 1"

#: Kernels and the types of their arguments: "int", "float", "bool", names of records, or codes of `array`.
_ARGUMENTS = {
    stepper.advance: f"{_STEPS}, rank",
    stepper.equilibrium: "int, i8 1, system, f8 1, f8 2, state, f8 1, i8 1",
    stepper.compose: "system, state",
    stepper.accept: "i8 1, i8 1, system, state, output, f8 1, f8 2, i8 1, f8 1",
    steps.advance: f"{_STEPS}, rank, follow, system, state, system, state, output, i8 1",
    states.spread_state: "follow, system, system, state, int, float",
    explicit.advance: _STEPS,
    assembly.report: "int, i8 1, system, f8 1, f8 2, state, f8 1, bool",
    motion.director_velocities: "system, state, float, bool",
    follow.follow: f"{_STEPS}, i8 2, f8 2, f8 2, i8 1, f8 3, f8 3, f8 3, f8 3",
    gauge.set_null: "rank, int, f8 1",
    gauge.balance_increment: "rank, i4 1, f8 1, f8 1",
    pattern.add_entries: "f8 3, i4 2, int, int, i4 1, f8 1",
    side_by_side.add_vectors: "f8 2, i4 2, i1 1, f8 1, f8 1",
    frames.turn_blocks: "int, i4 1, i4 1, f8 1, i8 1, i8 1, i8 1, f8 3, f8 3",
    **pattern.ARGUMENTS,
}

#: Kernels that an analysis calls beside those of elements.
SETS = {
    "matrices": (pattern.add_entries, motion.director_velocities, call_by_address),
    "many states": (over_states,),
    "patterns": (*pattern.ARGUMENTS, side_by_side.add_vectors, frames.turn_blocks),
    "steps": (stepper.advance, assembly.report),
    "derivatives": (steps.advance, states.spread_state),
    "explicit": (explicit.advance, assembly.report),
    "chains": (midpoint.advance, midpoint.states, midpoint.conjugate, follow.follow, assembly.report),
    "statics": (stepper.equilibrium, stepper.compose, stepper.accept, assembly.report),
}

for _function, _codes in _ARGUMENTS.items():
    declare(_function, [_RECORDS.get(c) or _NUMBERS.get(c) or array(c) for c in _codes.split(", ")])
