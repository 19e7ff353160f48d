"""All attacks by name, the usual number of cases of each, and groups of attacks."""

from __future__ import annotations

from .faults import ATTACKS as _FAULTS
from .faults import FAULTS
from .guard import Attack
from .inputs import ATTACKS as _INPUTS
from .kills import ATTACKS as _KILLS
from .long_runs import ATTACKS as _LONG

__all__ = ["ATTACKS", "GROUPS"]

_COUNTS = {
    "models": 20_000, "runs": 2000, "abaqus": 20_000, "nastran": 20_000, "listings": 10_000, "meshes": 20_000,
    "hdf5-meshes": 300, "shapes": 10_000, "parts": 5000, "foreign-parts": 5000, "results": 10_000, "folders": 2000,
    "killed-runs": 200, "killed-reductions": 80, "killed-sweeps": 20, "faults": len(FAULTS),
    "long-mechanism": 1, "long-flight": 1, "long-contact": 1,
}  # fmt: skip
_ALL = _INPUTS | _KILLS | _FAULTS | _LONG
#: Attack and usual number of cases by name.
ATTACKS: dict[str, tuple[Attack, int]] = {name: (attack, _COUNTS[name]) for name, attack in _ALL.items()}
#: Names of attacks by the name of a group.
GROUPS: dict[str, tuple[str, ...]] = {
    "inputs": tuple(_INPUTS), "kills": tuple(_KILLS), "long": tuple(_LONG), "all": tuple(ATTACKS),
}  # fmt: skip
