"""Doubts about a model that can run: units that do not fit together, and equilibria without a support."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from fem_mbs.units import Units

__all__ = ["doubts_of_statics", "doubts_of_units"]

# Speeds of longitudinal waves in a rod, sqrt(E/density): soft rubber 30 m/s, lead 1200 m/s, steel 5100 m/s, beryllium
# 12 900 m/s, diamond 17 300 m/s.
_SLOWEST, _FASTEST = 10.0, 3e4  # [m/s]
_MILLIMETRES = 1e3  # of a metre; with N and s the unit of mass is then a tonne
_HEAVIEST = 1e7  # [kg] of one part; a large ship's hull weighs as much
_EARTH = 9.81  # [m/s^2]


def _wave_speed(material: Any) -> float | None:
    """Return the speed of longitudinal waves in a rod [units of length / s]; None for a material without mass."""
    modulus = getattr(material, "E", None)
    if modulus is None or not material.density:
        return None
    return math.sqrt(modulus / material.density)


def doubts_of_units(model: Any) -> Iterator[str]:
    """Yield notes on materials, parts and gravity whose numbers look like those of different systems of units."""
    base = (model.shown_units or Units()).base
    if base != Units().base:
        yield from _doubts_in_base(model, base)
        return
    small = set()
    for material in model.materials.values():
        speed = _wave_speed(material)
        if speed is None:
            continue
        if _SLOWEST * _MILLIMETRES * 10.0 < speed < _FASTEST * _MILLIMETRES:
            small.add(material.name)
        elif not _SLOWEST < speed < _FASTEST:
            yield (
                f'material "{material.name}": E = {material.E:g} and density = {material.density:g} mean that waves '
                f"run at {speed:.3g} m/s, usual are 10 m/s to 30 km/s: are both in N, kg, m (steel: 2.1e11 and 7850)?"
            )
    weight = float(np.linalg.norm(model.gravity))
    if small:
        names = ", ".join(f'"{name}"' for name in sorted(small))
        yield (
            f"material {names}: E and density look like N, t, mm; then all lengths are in mm, masses in t, stresses in "
            "MPa, whatever the units that are printed"
        )
        if 0.5 * _EARTH < weight < 2.0 * _EARTH:
            yield f"gravity is {weight:g}, in mm/s^2 it would be {1e3 * _EARTH:g}"
        return
    if 0.5e3 * _EARTH < weight < 2e3 * _EARTH and model.materials:
        yield f"gravity is {weight:g} m/s^2, as of the earth in mm/s^2; the materials are those of a model in m"
    masses = [("solid", g.name, g.mass.sum()) for g in model.solid_groups.values()]
    masses += [("shell", g.name, g.mass.sum()) for g in model.shell_groups.values()]
    for kind, name, mass in masses:
        if mass > _HEAVIEST:
            yield f'{kind} "{name}" has a mass of {mass:.3g} kg: if its mesh is in mm, give the mesh `scale = 0.001`'


def _doubts_in_base(model: Any, base: str) -> Iterator[str]:
    """Yield notes on materials and gravity whose numbers fit another base of units than the model's."""
    told, si = Units(base), Units(base, {"velocity": "m/s", "acceleration": "m/s^2"})
    for material in model.materials.values():
        speed = _wave_speed(material)
        if speed is not None and not _SLOWEST < si.of("m/s")(speed) < _FASTEST:
            yield (
                f'material "{material.name}": E = {material.E:g} {told.of("Pa").unit} and density = '
                f"{material.density:g} {told.of('kg/m^3').unit} mean that waves run at {si.of('m/s')(speed):.3g} m/s, "
                f'usual are 10 m/s to 30 km/s: is the base "{base}" that of the numbers?'
            )
    weight = si.of("m/s^2")(float(np.linalg.norm(model.gravity)))
    if weight and (weight < 0.02 * _EARTH or weight > 50.0 * _EARTH):
        yield f'gravity is {weight:.3g} m/s^2, as the base "{base}" has it: is that what is meant?'


def doubts_of_statics(step: Any, strain_free: int | None) -> Iterator[str]:
    """Yield a note on a step of statics of a model that can move without strain.

    Args:
        step: a `fem_mbs.declarations.steps.PlannedStep`.
        strain_free: number of independent motions without strain under the supports of all steps, None if it is not
            known.
    """
    if not strain_free or not step.kind.equilibrium or getattr(step.options, "supports", None):
        return
    ways = "one way" if strain_free == 1 else f"{strain_free} independent ways"
    yield (
        f'step "{step.name}": the model can move in {ways} without strain; an equilibrium is only found '
        "where weight or loads hold it there, else add supports"
    )
