"""All attacks by name, how many cases a whole run has of each, and groups of them."""

from __future__ import annotations

from .guard import Attack
from .inputs import ATTACKS as _INPUTS

__all__ = ["ATTACKS", "GROUPS"]

_COUNTS = {
    "models": 20_000, "runs": 2000, "abaqus": 20_000, "nastran": 20_000, "listings": 10_000, "meshes": 20_000,
    "hdf5-meshes": 300, "shapes": 10_000, "parts": 5000, "foreign-parts": 5000, "results": 10_000, "folders": 2000,
}  # fmt: skip
#: Attack and usual number of cases by name.
ATTACKS: dict[str, tuple[Attack, int]] = {name: (attack, _COUNTS[name]) for name, attack in _INPUTS.items()}
#: Names of attacks by the name of a group.
GROUPS: dict[str, tuple[str, ...]] = {"inputs": tuple(_INPUTS), "all": tuple(ATTACKS)}
