"""Parameters of components and groups that a modification may change, and which elements they reach.

A parameter is KIND:TARGET; the target is a component, or a group of elements.

- ``density``, ``modulus`` (all moduli together) of beams, trusses, solids and plane parts,
- ``thickness`` of plane parts,
- ``stiffness`` of springs of all kinds, bushings and bearings,
- ``mass`` of point masses, discs and bodies, with their inertia,
- any key of a section (``diameter``, ``height``, ``EI``, ...) of beams and trusses: the only non-linear ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.components import group_call, made_again, part_name
from fem_mbs.model.model import Model
from fem_mbs.properties.sections import Section, make_section
from fem_mbs.system.compiled import Compiled

__all__ = ["KINDS", "ModelParameter", "changed_rows", "default_parameters", "read_parameter"]

#: Kinds of parameters that act linearly: units, and by how much of themselves stiffness and mass change with alpha.
KINDS = {
    "density": ("kg/m^3", 0.0, 1.0),
    "modulus": ("N/m^2", 1.0, 0.0),
    "thickness": ("m", 1.0, 1.0),
    "stiffness": ("", 1.0, 0.0),
    "mass": ("kg", 0.0, 1.0),
}
#: Types of elements whose stiffness is a parameter, by how their names begin.
_SPRINGS = ("spring", "component_spring", "torsion", "slide", "nonlinear_", "bushing", "bearing")
#: Units of keys of sections, by how they begin.
_UNITS = {"rhoA": "kg/m", "rhoI": "kg m", "EA": "N", "GA": "N", "EI": "N m^2", "GJ": "N m^2", "A": "m^2", "I": "m^4",
          "J": "m^4", "k": ""}  # fmt: skip
_PLACES = ("centroid", "shear_centre", "mass_centre", "rotate")


@dataclass(frozen=True, eq=False)
class ModelParameter:
    """A number r of a component or of groups, r (1 + alpha) after a change.

    ``name``: KIND:TARGET; ``kind``; ``groups`` that have it; ``value`` and ``unit`` (None: the groups have several
    values); ``elements``: those it reaches, by blocks of the compiled model; ``stiffness``, ``mass``: the parts of
    these that are proportional to it; ``linear``: that is all.
    """

    name: str
    kind: str
    groups: tuple[str, ...]
    value: float | None
    unit: str
    elements: dict[int, np.ndarray]
    stiffness: float = 0.0
    mass: float = 0.0
    linear: bool = True

    def changed(self, alpha: float) -> float | None:
        """Return the value after a relative change."""
        return None if self.value is None else self.value * (1.0 + alpha)


def changed_rows(
    model: Model, system: Compiled, changes: Sequence[tuple[ModelParameter, float]]
) -> dict[int, np.ndarray]:
    """Return the element parameters of all blocks that non-linear changes alpha of sections affect.

    The elements of the changed groups are built anew.

    Raises:
        ModelError: a section that does not exist with these values.
    """
    whole = {i: system.blocks[i].par.copy() for p, _ in changes for i in p.elements}
    index = {block.type.name: i for i, block in enumerate(system.blocks)}
    for group in dict.fromkeys(g for p, _ in changes for g in p.groups):
        names = group_call(model, group)["sections"]
        sections = {name: model.sections[name] for name in names if name in model.sections}
        for p, alpha in changes:
            if group in p.groups:
                sections = {name: _scaled(section, p.kind, alpha) for name, section in sections.items()}
        done: dict[int, int] = {}
        for block in made_again(model, group, sections):
            i = index[block.type.name]
            runs = [np.arange(a, b) for label, a, b in system.blocks[i].groups if label == group]
            at = np.concatenate(runs)[done.get(i, 0) :][: block.size]
            whole[i][at, : block.par.shape[1]] = block.par
            done[i] = done.get(i, 0) + block.size
    return whole


def _scaled(section: Section, key: str, alpha: float) -> Section:
    """Return a section with one dimension changed; it keeps its other dimensions as they are."""
    given = {k: v for k, v in section.dimensions.items() if not (isinstance(v, float) and math.isnan(v))}
    for own in _own_keys(section, key):
        given[own] = given[own] * (1.0 + alpha)
    for place in _PLACES:
        value = getattr(section, place)
        if np.any(value):
            given[place] = value
    return make_section(section.name, section.shape, **given)


def _own_keys(section: Section, key: str) -> list[str]:
    """Return the keys of a section that a key stands for: itself, those of all axes (EI: EIy and EIz), or of all
    walls."""
    if section.shape == "matrix":
        return []
    numbers = {k for k, v in section.dimensions.items() if math.isfinite(v) and v != 0.0}
    if key in numbers:
        return [key]
    walls = ("web_thickness", "flange_thickness") if key == "thickness" else ()
    return [k for k in (*walls, f"{key}x", f"{key}y", f"{key}z") if k in numbers]


def read_parameter(model: Model, text: str) -> ModelParameter:
    """Return the parameter that a text names, as "density:chopper".

    Raises:
        ModelError: an unknown kind or target, or a target that has no such parameter.
    """
    kind, colon, target = str(text).partition(":")
    owner = Owner("Parameter", text)
    if not colon or not kind or not target:
        raise ModelError(f"it must be KIND:TARGET, as density:{next(iter(model.components), 'arm')}", owner=owner)
    labels = list(dict.fromkeys(part_name(model, label) for b in model.building.blocks for label, _, _ in b.groups))
    if target in model.components:
        groups = model.components[target].groups
    else:
        model.building.find("component or group", target, dict.fromkeys([*model.components, *labels]), owner)
        groups = (target,)
    parts = [g for g in groups if _flexible(model, g)]
    if kind in ("density", "modulus"):
        having = parts
    elif kind in ("stiffness", "mass"):
        having = [g for g in groups if g not in parts and _has(model, g, kind)]
    elif kind == "thickness" and any(_planes(model, g) for g in groups):
        having = [g for g in groups if _planes(model, g)]
    else:
        having = [g for g in groups if any(_own_keys(s, kind) for s in _sections(model, g))]
        tables = [n for g in groups for n in group_call(model, g).get("sections", ()) if n not in model.sections]
        if having and tables:
            raise ModelError(
                f'section "{tables[0]}" of the same component is a table, whose dimensions do not change', owner=owner,
                remedy="name a group without it",
            )  # fmt: skip
    if not having:
        known = sorted({k for g in groups for k in _kinds(model, g)})
        raise ModelError(
            f'"{target}" has no {kind}', owner=owner, remedy=f"it has {', '.join(known) or 'no parameter'}"
        )
    linear = kind in KINDS and (kind != "thickness" or bool(_planes(model, having[0])))
    section = next((u for begin, u in _UNITS.items() if kind.startswith(begin)), "m")
    unit, stiffness, mass = KINDS[kind] if linear else (section, 0.0, 0.0)
    if kind == "modulus":
        _no_prestress(model, having, owner)
    values = [v for g in having for v in _values(model, g, kind)]
    same = len(values) > 0 and None not in values and np.ptp(values) <= 1e-12 * max(map(abs, values))
    if same and values[0] == 0.0:
        raise ModelError("it is zero", owner=owner, remedy="changes are relative, give it a value first")
    return ModelParameter(
        str(text), kind, tuple(having), float(values[0]) if same else None, unit, _elements(model, having),
        stiffness, mass, linear,
    )  # fmt: skip


def default_parameters(model: Model) -> list[str]:
    """Return density and modulus of every component, stiffness of every spring, and mass of every lumped mass above
    zero."""
    found = []
    labels = list(dict.fromkeys(part_name(model, label) for b in model.building.blocks for label, _, _ in b.groups))
    for name, component in model.components.items():
        parts = [g for g in component.groups if _flexible(model, g)]
        found += [f"density:{name}", f"modulus:{name}"] if parts else []
    for group in labels:
        if not _flexible(model, group):
            found += [f"{k}:{group}" for k in ("stiffness", "mass") if _has(model, group, k)]
    return found


def _flexible(model: Model, group: str) -> bool:
    """Return whether a group is beams, trusses, solids or plane parts."""
    return group in model.groups or any(s.part == group for s in model.solid_groups.values())


def _blocks(model: Model, group: str) -> list:
    """Return blocks with elements of a group, not those of constraints: block, first, past the last."""
    return [
        (block, first, last)
        for block in model.building.blocks
        for label, first, last in block.groups
        if part_name(model, label) == group and not block.type.multipliers and not block.type.reads
    ]


def _has(model: Model, group: str, kind: str) -> bool:
    """Return whether elements of a group that are no parts have a stiffness, or a mass."""
    for block, first, last in _blocks(model, group):
        names = block.type.parameters
        if kind == "mass" and block.type.inertia and np.any(block.par[first:last, : len(names)]):
            return True
        if kind == "stiffness" and block.type.name.startswith(_SPRINGS):
            # (what only measures a coordinate is a spring without stiffness)
            if "stiffness" not in names or np.any(block.par[first:last, names.index("stiffness")]):
                return True
    return False


def _planes(model: Model, group: str) -> list:
    return [s for s in model.solid_groups.values() if s.part == group and s.state in ("stress", "strain")]


def _sections(model: Model, group: str) -> list[Section]:
    return [model.sections[name] for name in group_call(model, group).get("sections", ()) if name in model.sections]


def _keys(model: Model, group: str) -> list[str]:
    """Return keys of the sections of a group that can change."""
    return list(dict.fromkeys(k for s in _sections(model, group) for k in s.dimensions if _own_keys(s, k)))


def _kinds(model: Model, group: str) -> list[str]:
    found = ["density", "modulus"] if _flexible(model, group) else []
    found += ["thickness"] if _planes(model, group) else []
    found += [] if found else [k for k in ("stiffness", "mass") if _has(model, group, k)]
    return found + _keys(model, group)


def _values(model: Model, group: str, kind: str) -> list[float | None]:
    """Return values of a parameter in a group; None where it is no single number."""
    if kind == "thickness" and _planes(model, group):
        return [float(v) for s in _planes(model, group) for v in (np.min(s.thickness), np.max(s.thickness))]
    call = group_call(model, group)
    if kind in ("density", "modulus"):
        solid = [s.material for s in model.solid_groups.values() if s.part == group]
        if kind == "density" and solid:
            return [m.density for m in solid]
        names = [m.name for m in solid] or [call.get("material")]
        return [
            getattr(model.materials[n], "density" if kind == "density" else "E") if n in model.materials else None
            for n in names
        ]
    if kind in ("stiffness", "mass"):
        found: list[float | None] = []
        for block, first, last in _blocks(model, group):
            names = block.type.parameters
            found += block.par[first:last, names.index(kind)].tolist() if kind in names else [None]
        return found
    return [s.dimensions[k] for s in _sections(model, group) for k in _own_keys(s, kind)]


def _no_prestress(model: Model, groups: Sequence[str], owner: str) -> None:
    for group in groups:
        for block, first, last in _blocks(model, group):
            names = block.type.parameters
            if "prestress" in names and np.any(block.par[first:last, names.index("prestress")]):
                raise ModelError(
                    f'"{group}" is prestressed, its stiffness is not proportional to its modulus',
                    owner=owner,
                    remedy="take a key of its section, or remove the prestress",
                )


def _elements(model: Model, groups: Sequence[str]) -> dict[int, np.ndarray]:
    """Return elements of groups in the blocks of the compiled model, in which those of one type are one block."""
    wanted = set(groups)
    found: dict[int, list[np.ndarray]] = {}
    for i, block in enumerate(model.compile(stepping=False).system.blocks):
        for label, first, last in block.groups:
            if part_name(model, label) in wanted:
                found.setdefault(i, []).append(np.arange(first, last))
    return {i: np.concatenate(runs) for i, runs in found.items()}
