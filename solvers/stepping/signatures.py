"""Types of the arguments of the compiled stepping, by which it is compiled before a model asks for it.

Whoever compiles in advance imports this module.
"""

from __future__ import annotations

from typing import Any

from numba import types

from fem_mbs.contract import call_by_address, declare
from fem_mbs.solvers.stepping import assembly, derivatives, explicit, gauge, motion, pattern, stepper
from fem_mbs.solvers.stepping.derivatives import Follow
from fem_mbs.solvers.stepping.gauge import Rank
from fem_mbs.solvers.stepping.layout import Output, State, System

_BASES = {"f8": types.float64, "i8": types.int64, "i4": types.int32, "i1": types.int8}


def array(code: str) -> types.Array:
    """Return the type of a contiguous array, "f8 2" for two indices."""
    base, dimensions = code.split()
    return types.Array(_BASES[base], int(dimensions), "C")


def _record(kind: Any, fields: dict[str, str]) -> types.NamedTuple:
    """Return the type of a record of arrays, given the names of its fields for each code of `array`."""
    known = {name: array(code) for code, names in fields.items() for name in names.split()}
    return types.NamedTuple([known[name] for name in kind._fields], kind)


SYSTEM = _record(
    System,
    {
        "i8 2": "table holding links",
        "i4 1": "dof rot slot equation unknown positions driven driver part part_dofs",
        "i4 2": "rotations shared record",
        "i1 1": "kind",
        "f8 1": "par hist driven_reference row_scale",
    },
)
STATE = _record(
    State,
    {
        "f8 3": "D DD Dw",
        "f8 2": "Q V past reaction Qw",
        "f8 1": "U residual values rhs out energy work fe ke along peak Uw",
        "i8 1": "pivot",
    },
)
OUTPUT = _record(
    Output,
    {
        "f8 3": "frame_D",
        "f8 2": "ledger values frame_Q frame_V frame_out frame_energy",
        "f8 1": "residuals",
        "i4 1": "iterations",
        "i8 1": "frame_step",
    },
)
RANK = _record(
    Rank, {"f8 2": "null", "f8 1": "limit weight sums pivots share", "i8 1": "flags", "i4 1": "loop dependent count"}
)
FOLLOW = _record(
    Follow,
    {
        "f8 3": "dD dDD dpast dfuns dvalues dledger",
        "f8 2": "D DD past dQ dV dreaction dwork dhist dpar dplace dctl fun_plus fun_minus probes",
        "f8 1": "reals motion size x zero Q V reaction work hist ctl_plus ctl_minus",
        "i8 1": "flags kinks",
    },
)
_RECORDS = {"system": SYSTEM, "state": STATE, "output": OUTPUT, "rank": RANK, "follow": FOLLOW}
_NUMBERS = {"int": types.int64, "float": types.float64, "bool": types.boolean}


_STEPS = "i8 1, i8 1, system, state, output, f8 1, f8 3, i8 1, f8 1"

#: Kernels and the types of their arguments: "int", "float", "bool", names of records, or codes of `array`.
_ARGUMENTS = {
    stepper.advance: f"{_STEPS}, rank",
    stepper.equilibrium: "int, i8 1, system, f8 1, f8 2, state, f8 1, i8 1",
    stepper.compose: "system, state",
    stepper.accept: "i8 1, i8 1, system, state, output, f8 1, f8 2, i8 1, f8 1",
    derivatives.advance: f"{_STEPS}, rank, follow, system, state, system, state, output, i8 1",
    derivatives.spread_state: "follow, system, system, state, int, float",
    explicit.advance: _STEPS,
    assembly.report: "int, i8 1, system, f8 1, f8 2, state, f8 1, bool",
    motion.director_velocities: "system, state, float, bool",
    gauge.set_null: "rank, int, f8 1",
    gauge.balance_increment: "rank, i4 1, f8 1, f8 1",
    pattern.add_entries: "f8 3, i4 1, f8 1",
    **pattern.ARGUMENTS,
}

#: Kernels that an analysis calls beside those of elements.
SETS = {
    "matrices": (*pattern.ARGUMENTS, pattern.add_entries, motion.director_velocities, call_by_address),
    "steps": (stepper.advance, assembly.report),
    "derivatives": (derivatives.advance, derivatives.spread_state),
    "explicit": (explicit.advance, assembly.report),
    "statics": (stepper.equilibrium, stepper.compose, stepper.accept, assembly.report),
}

for _function, _codes in _ARGUMENTS.items():
    declare(_function, [_RECORDS.get(c) or _NUMBERS.get(c) or array(c) for c in _codes.split(", ")])
