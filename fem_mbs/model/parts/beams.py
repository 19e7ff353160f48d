"""Beams of the model builder: in the plane, and in space with general sections, offsets and twist."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import (
    CELLS,
    FLAG,
    NAME,
    NUMBER,
    NUMBER_OR_PAIR,
    ORIENTATION,
    POINTS,
    RELEASE_WORDS,
    SECTION_NAME,
    TEXT,
    VECTOR,
    WORDS,
    shown,
)
from fem_mbs.errors import ModelError
from fem_mbs.functions.expressions import compile_expression
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.joints import Joint
from fem_mbs.model.geometry import NamedNode
from fem_mbs.properties import beams as B
from fem_mbs.properties.stations import StationLine
from fem_mbs.properties.stresses import LineGroup

__all__ = ["Beam", "line_mass", "line_stiffness", "director_columns"]

BEAM_STRAINS = {
    2: {
        "exact": "exact_beam2",
        "natural": "beam2",
        "corotational": "beam2",
        "generalised": "strain_beam2",
    },
    3: {
        "exact": "exact_beam3",
        "generalised": "strain_beam3",
        "corotational": "corotational_beam3",
        "natural": "corotational_beam3",
    },
}
BEAM_RULES = {"exact": 0, "accumulated": 1, "geometric": 2, "secant": 3, "gradient": 4}
MASSES = ("hermite", "consistent", "lumped")
RELEASES = ("rotation x", "rotation y", "rotation z")


def director_columns(M: np.ndarray) -> dict[str, np.ndarray]:
    """Return parameters of `director_mass3` from its matrices (n, 8, 8)."""
    return {f"M{i + 1}{j + 1}": M[:, i, j] for i in range(8) for j in range(i, 8)}


@dataclass
class _Beam:
    """One call of `Beams.beams`: its arguments, and the derived data of the ``n`` elements."""

    name: str
    owner: str
    cells: np.ndarray
    chord: np.ndarray  # (n, dim) from node to node
    length: np.ndarray
    mass: str
    strains: str
    rule: str
    second_order: bool
    damping: float
    mass_damping: float
    fixed: list[int]
    released: dict[str, list[int]]


def line_stiffness(building: Building, owner: str, material: str | None, section: str, needs: str):
    cross = building.find("section", section, building.sections, owner)
    material_data = building.plain_material(owner, material) if material is not None else None
    return cross.stiffness(material_data, needs)


def _held_strains(building: Building, owner: str, fixed, inextensible: bool) -> list[int]:
    words = [fixed] if isinstance(fixed, str) else list(fixed or ())
    known = B.FIXABLE if building.dimension == 3 else {"extension": (0,)}
    for word in words:
        if word not in known:
            close = difflib.get_close_matches(str(word), known, n=1)
            hint = f'; did you mean "{close[0]}"?' if close else ""
            raise ModelError(
                f"fixed = {shown(word)} must be of {', '.join(known)}{hint}", owner=owner, key="fixed", value=word
            )
    if inextensible:
        words.append("extension")
    return sorted({i for word in words for i in known[word]})


def _released(building: Building, owner: str, releases) -> dict[str, list[int]]:
    """Return the mapping end -> axes 0, 1, 2 about which it turns freely."""
    result: dict[str, list[int]] = {}
    if releases is None:
        return result
    if not isinstance(releases, dict) or not set(releases) <= {"start", "end"}:
        raise ModelError(
            f'releases = {shown(releases)} must be a table of start and end, as {{"end": ["rotation z"]}}',
            owner=owner,
            key="releases",
            value=releases,
        )
    for end, words in releases.items():
        words = [words] if isinstance(words, str) else words
        known = RELEASES if building.dimension == 3 else ("rotation z",)
        axes: set[int] = set()
        for word in words:
            if word == "rotation":
                axes.update(RELEASES.index(k) for k in known)
            elif word in known:
                axes.add(RELEASES.index(word))
            else:
                raise ModelError(f"releases, {end}: {shown(word)} must be of rotation, {', '.join(known)}", owner=owner)
        if axes:
            result[end] = sorted(axes)
    return result


def _release(building: Building, beam: _Beam, first: int, last: int, triads=None) -> None:
    """Give released ends separate nodes, and join these by the remaining constraints.

    ``triads`` (2, 3, 3): section's axes at the start and the end of the line, in columns.
    """
    beam.cells = beam.cells.copy()
    for k, (end, node) in enumerate((("start", first), ("end", last))):
        if end not in beam.released:
            continue
        axes = beam.released[end]
        label = f"{beam.name} {end}"
        x = building.position(node)
        NamedNode(label, x).build(building)
        own = building.named_nodes[label]
        if node in building.rotations:
            building.rotations[own] = building.rotations[node]
        column = beam.cells[:, k]
        column[column == node] = own
        if building.dimension == 3 and len(axes) < 3:  # the node must bear the components that are not released
            building.rotational.add(node)
        if building.dimension == 2:
            Joint(label, "pin", node, label).build(building)
        elif len(axes) == 3:
            Joint(label, "spherical", node, label).build(building)
        elif len(axes) == 1:
            Joint(label, "revolute", node, label, axis=triads[k][:, axes[0]]).build(building)
        else:
            Joint(label, "universal", node, label, axis=triads[k][:, axes[0]], axis_b=triads[k][:, axes[1]]).build(
                building
            )


def _plane_beams(building: Building, beam: _Beam, section, material: str | None, shear: bool) -> None:
    owner, name, length = beam.owner, beam.name, beam.length
    if not isinstance(section, str):
        raise ModelError(
            f"section = {shown(section)}: tapered beams are for space",
            owner=owner,
            key="section",
            value=section,
            remedy="in the plane name one section",
        )
    if section in building.section_tables:
        text = f'section "{section}" is a table along a line, which beams of the plane do not take'
        raise ModelError(text, owner=owner, key="section", value=section, remedy="use dimension = 3, or one section")
    strains = BEAM_STRAINS[2][beam.strains]
    natural = strains == BEAM_STRAINS[2]["natural"]
    if beam.rule != "exact" and (beam.fixed or not natural):
        what = "inextensible beams" if beam.fixed else f"beams with {beam.strains} strains"
        raise ModelError(f'{what} have the rule "exact" only, not {shown(beam.rule)}', owner=owner)
    s = line_stiffness(building, owner, material, section, "plane beam")
    for node in np.unique(beam.cells).tolist():
        angle = building.start_angle(node)
        if angle != 0.0:  # the rotation of beams counts from where they are straight
            place = building.node_name(node)
            raise ModelError(
                f'body "{place}" has an angle of {angle:g} rad, but a beam in the plane ends at nodes without',
                owner=owner,
                remedy="add a node at its place and hold it to the body by a weld joint",
            )
    if beam.released:
        _, _, first, last = B.line_positions(beam.cells, length, owner, "a release")
        _release(building, beam, first, last)
    cells = beam.cells
    ex, ey = (beam.chord / length[:, None]).T
    phi = 12.0 * s.EIz / (s.GAy * length**2) if shear else np.zeros_like(length)
    unit = s.EIz / ((1.0 + phi) * length)
    second_order = float(beam.second_order)
    if beam.strains == "exact":
        second_order /= 1.0 + phi
    building.add_block(
        name,
        strains + ("_inextensible" if beam.fixed else ""),
        cells,
        EA=s.EA,
        S11=(4.0 + phi) * unit,
        S12=(2.0 - phi) * unit,
        length=length,
        ex=ex,
        ey=ey,
        second_order=second_order,
        damping=beam.damping,
        **({"rule": float(BEAM_RULES[beam.rule])} if natural else {}),
    )
    zero = np.zeros(len(cells))
    whole = _section_line(building, owner, section, material, shear)
    building.line_groups[name] = LineGroup(name, whole, zero, zero + 1.0, length)
    if s.rhoA > 0.0 or s.rhoIz > 0.0:
        if beam.mass == "hermite":
            columns = {"mass": s.rhoA * length, "length": length, "rotary inertia": s.rhoIz * length}
            building.add_block(name, "hermite2", cells, **columns, ex=ex, ey=ey, damping=beam.mass_damping).lies_along(
                name
            )
        else:
            line_mass(building, name, cells, s.rhoA * length, 0.5 * s.rhoIz * length, beam.mass, beam.mass_damping)


def line_mass(building: Building, name: str, cells, mass, rotary, kind: str, alpha: float) -> None:
    """Add lumped masses (with rotary inertia per end), or linear-consistent ones and the rotary inertia lumped."""
    nodes, inverse = np.unique(cells, return_inverse=True)
    inverse = inverse.reshape(cells.shape)
    if kind == "consistent":
        building.add_block(name, f"linear_mass{building.dimension}", cells, mass=mass, damping=alpha).lies_along(name)
    lump, inertia = np.zeros(len(nodes)), np.zeros(len(nodes))
    for end in range(2):
        np.add.at(lump, inverse[:, end], 0.5 * mass)
        np.add.at(inertia, inverse[:, end], rotary)
    if kind == "lumped" or inertia.any():
        columns = {"mass": lump if kind == "lumped" else 0.0, "damping": alpha}
        if building.dimension == 2:
            columns["inertia"] = inertia
        building.add_block(name, f"mass{building.dimension}", nodes, **columns)


def _section_line(
    building: Building, owner: str, section, material: str | None, shear: bool
) -> B.SectionLine | StationLine:
    table = building.section_tables.get(section) if isinstance(section, str) else None
    if table is not None:
        data = building.plain_material(owner, material) if material is not None else None
        return table.line(data, bool(shear))
    names = [section] if isinstance(section, str) else list(section)
    if len(names) not in (1, 2):
        raise ModelError(
            f"section = {shown(section)} must be a name or [start, end]", owner=owner, key="section", value=section
        )
    found = [building.find("section", n, building.sections, owner) for n in names]
    material_data = building.plain_material(owner, material) if material is not None else None
    return B.SectionLine(found[0], found[-1], material_data, bool(shear))


def _space_beams(building: Building, beam: _Beam, line: B.SectionLine | StationLine, places: dict) -> None:
    owner, cells = beam.owner, beam.cells
    n = len(cells)
    if beam.rule != "exact":
        raise ModelError(
            "rules are for natural strains in the plane", owner=owner, remedy='beams in space have "exact" only'
        )
    curved = bool(places["curved"])
    ends = [_vector_or_none(building, places[k], owner, k) for k in ("offset", "offset_start", "offset_end")]
    if ends[0] is not None and (ends[1] is not None or ends[2] is not None):
        raise ModelError("give offset, or offset_start and offset_end, not both", owner=owner)
    turns = _twist(building, owner, places["twist"])
    along = [
        ("a taper", not line.prismatic),
        ("a release", bool(beam.released)),
        ("a twist", turns is not None),
        ("an offset of one end", ends[1] is not None or ends[2] is not None),
    ]
    why = next((word for word, needed in along if needed), None)
    start, end, first, last = np.zeros(n), np.zeros(n), -1, -1
    if why is not None:
        start, end, first, last = B.line_positions(cells, beam.length, owner, why)

    # axes: of the nodes' line for the offsets, then of the line itself
    chord = beam.chord
    towards = _orientation(building, owner, places["orientation"], cells)
    A = _axes(beam, chord, towards, curved, places["default_axes"])
    zero = np.zeros(3)
    a = [zero, zero] if ends[0] is None else [ends[0], ends[0]]
    if ends[1] is not None or ends[2] is not None:
        a = [zero if e is None else e for e in ends[1:]]
    arms = [
        np.einsum("nij,nj->ni", A[k], (1.0 - s)[:, None] * a[0] + s[:, None] * a[1]) for k, s in enumerate((start, end))
    ]
    if (a[0] != a[1]).any() or (curved and a[0].any()):
        chord = chord + arms[1] - arms[0]
        flat = np.flatnonzero(np.linalg.norm(chord, axis=1) <= 1e-9 * beam.length)
        if flat.size:
            raise ModelError(
                f"with its offsets element {flat[0]} has no length", owner=owner, remedy="make them smaller"
            )
        A = _axes(beam, chord, towards, curved, places["default_axes"])
    length = np.linalg.norm(chord, axis=1)
    if curved:
        length = B.arc_length(chord, A[0][..., 0], A[1][..., 0])
    if turns is not None:
        angles = turns if isinstance(turns, tuple) else (0.0, turns * length.sum())
        A = [B.twisted(A[k], angles[0] + (angles[1] - angles[0]) * s) for k, s in enumerate((start, end))]

    kind = "corotational" if beam.strains == "natural" else beam.strains
    shares = B.bending_shares(line, length, start, end) if kind != "generalised" else None
    reference = B.reference_strains(kind, chord, A[0], A[1], length, beam.second_order, shares)
    # round-off of straight elements is no reference
    reference[np.abs(reference) < 1e-13 * length[:, None]] = 0.0
    bent = B.Reference(kind, chord, A[0], A[1], beam.second_order, shares) if reference.any() else None
    S = B.element_stiffness(line, length, start, end, beam.fixed, owner, bent)
    fixed = beam.fixed
    if shares is not None:
        S, reference, fixed = B.along_axis(S, reference, fixed)
    M = B.element_mass(beam.mass, line, length, start, end)
    if beam.released:
        i, j = np.flatnonzero(cells[:, 0] == first)[0], np.flatnonzero(cells[:, 1] == last)[0]
        _release(building, beam, first, last, (A[0][i], A[1][j]))
        cells = beam.cells

    R = building.rotation_matrices(cells.ravel()).reshape(*cells.shape, 3, 3)
    triads = np.einsum("neji,enjk->neik", R, np.array(A))
    offsets = np.einsum("neji,enj->nei", R, np.array(arms))
    columns = {f"S{i + 1}{j + 1}": S[:, i, j] for i in range(6) for j in range(i, 6)}
    columns |= {f"e{i + 1}": reference[:, i] for i in range(6)}
    for k, letter in enumerate("pq"):
        columns |= {f"a{c}_{letter}": offsets[:, k, i] for i, c in enumerate("xyz")}
        columns |= {f"A{i + 1}{j + 1}_{letter}": triads[:, k, i, j] for i in range(3) for j in range(3)}
    held = fixed + [-1] * (6 - len(fixed))
    columns |= {f"fixed{i + 1}": float(strain) for i, strain in enumerate(held)}
    if shares is not None:
        columns |= {f"share_{'yz'[i]}{'yz'[j]}": shares[:, i, j] for i in range(2) for j in range(2)}
    building.add_block(
        beam.name,
        BEAM_STRAINS[3][beam.strains] + (f"_fixed{len(fixed)}" if fixed else ""),
        cells,
        length=length,
        second_order=float(beam.second_order),
        damping=beam.damping,
        **columns,
    )
    building.line_groups[beam.name] = LineGroup(beam.name, line, start, end, length)
    if M.any():
        _space_mass(building, beam, line, M, offsets, triads)


def _default_axes(building: Building, owner: str, value: Any) -> np.ndarray | None:
    """Return three orthogonal unit vectors in rows."""
    if value is None:
        return None
    axes = np.array([building.vector(v, owner, "default_axes") for v in value])
    if axes.shape != (3, 3) or not np.allclose(axes @ axes.T, np.eye(3), atol=1e-9):
        text = f"default_axes = {shown(value)} must be three orthogonal unit vectors"
        raise ModelError(text, owner=owner, key="default_axes", value=value)
    return axes


def _axes(beam: _Beam, chord: np.ndarray, towards, curved: bool, default: np.ndarray | None = None) -> list[np.ndarray]:
    """Return section's axes (n, 3, 3) at both ends of the elements, before twist."""
    if curved:
        tangents = B.smooth_tangents(beam.cells, chord, beam.owner)
    else:
        direction = chord / np.linalg.norm(chord, axis=1)[:, None]
        tangents = direction, direction
    return list(B.section_triads(*tangents, *towards, beam.owner, curved, default))


def _vector_or_none(building: Building, value, owner: str, key: str) -> np.ndarray | None:
    return None if value is None else building.vector(value, owner, key)


def _twist(building: Building, owner: str, value):
    """Return None, a rate [rad/m] or a pair of angles [rad]."""
    if value is None or not np.ndim(value):
        return None if value is None else building.number(value, owner, "twist")
    if len(value) != 2:
        raise ModelError(
            f"twist = {shown(value)} must be a rate [rad/m] or two angles, [start, end] [rad]",
            owner=owner,
            key="twist",
            value=value,
        )
    return tuple(building.number(v, owner, "twist") for v in value)


def _orientation(building: Building, owner: str, value, cells: np.ndarray):
    """Return orientation vectors (n, 3) at both ends, or None for both."""
    if value is None:
        return None, None
    if isinstance(value, np.ndarray) and value.shape == (len(cells), 3) and np.isfinite(value).all():
        return value, value
    nodes, inverse = np.unique(cells, return_inverse=True)
    x = building.positions[nodes]
    if callable(value):
        v = np.asarray(value(x), float)
    elif not isinstance(value, str) and np.ndim(value) == 1 and len(value) == 3:
        v = np.empty((len(nodes), 3))
        for i, entry in enumerate(value):
            if isinstance(entry, str):
                v[:, i] = compile_expression(entry, ("x", "y", "z"))(*x.T)
            else:
                v[:, i] = building.number(entry, owner, "orientation")
    else:
        v = np.empty(0)
    if v.shape != x.shape:
        raise ModelError(
            f"orientation = {shown(value)} must be 3 numbers or expressions of x, y, z, or a function of positions "
            "(n, 3) that returns vectors (n, 3)",
            owner=owner,
            key="orientation",
            value=value,
        )
    if not np.isfinite(v).all():
        bad = building.node_name(int(nodes[np.flatnonzero(~np.isfinite(v).all(axis=1))[0]]))
        raise ModelError(f'orientation is not finite at node "{bad}"', owner=owner)
    v = v[inverse.reshape(cells.shape)]
    return v[:, 0], v[:, 1]


def _space_mass(
    building: Building, beam: _Beam, line: B.SectionLine | StationLine, M: np.ndarray, offsets, triads
) -> None:
    """Add the inertia of spatial beams: nodal masses and rotary inertias where they suffice, else over the
    directors."""
    name, cells, alpha = beam.name, beam.cells, beam.mass_damping
    plain = not offsets.any() and not M[:, 0, 1:].reshape(-1, 7)[:, [0, 1, 2, 4, 5, 6]].any()
    euler = np.stack([M[:, 1:4, 1:4], M[:, 5:, 5:]], axis=1)
    simple = (
        plain
        and beam.mass != "hermite"
        and (beam.mass == "lumped" or line.prismatic)
        and (alpha == 0.0 or not euler.any())
    )
    if not simple:
        total = M[:, 0, 0] + 2.0 * M[:, 0, 4] + M[:, 4, 4]
        folded = B.fold(M, offsets, triads)
        columns = director_columns(folded)
        building.add_block(name, "director_mass3", cells, mass=total, damping=alpha, **columns).lies_along(name)
        return
    nodes, inverse = np.unique(cells, return_inverse=True)
    inverse = inverse.reshape(cells.shape)
    if beam.mass == "consistent":
        building.add_block(name, "linear_mass3", cells, mass=3.0 * M[:, 0, 0], damping=alpha).lies_along(name)
    else:
        lump = np.zeros(len(nodes))
        np.add.at(lump, inverse, M[:, [0, 4], [0, 4]])
        building.add_block(name, "mass3", nodes, mass=lump, damping=alpha)
    if euler.any():
        # in the axes of the nodes: E = A E_section A^T, J = tr(E) I - E
        E = triads @ euler @ triads.swapaxes(-1, -2)
        J = np.trace(E, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - E
        total = np.zeros((len(nodes), 3, 3))
        np.add.at(total, inverse, J)
        pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))
        columns = {f"J{'xyz'[i]}{'xyz'[j]}": total[:, i, j] for i, j in pairs}
        building.add_block(name, "rigid3", nodes, mass=0.0, **columns)


@dataclass(frozen=True, eq=False)
class Beam(Declaration):
    """Beams on the line cells of a mesh.

    Add beams on line cells.

    In space ex goes along an element, ey lies in the plane of ex and ``orientation``, and without that ez is as
    near to the global z axis as it can be (for elements along z: ey is y), so that beams in the x-y plane have the
    axes of plane models. What speaks of a start and an end, or of a place along the beams, needs cells that make
    one line, head to tail.

    Args:
        on: "mesh:set", "mesh", or two nodes.
        section: name; in space also [start, end] for members that taper linearly along the line.
        mass: "hermite" (consistent, director velocities), "consistent" (linear, lumped rotary inertia) or "lumped".
        strains: "exact" (the geometrically exact beam: Reissner, Simo), "generalised" (Besseling, Meijaard),
            "natural" or "corotational" (rotations against the chord), which tend to different theories
            (docs/theory.md, section 4); None: "exact", in the plane "natural" where a ``rule`` is named that only
            natural strains have.
        rule: mid-step rule of natural strains in the plane; see `fem_mbs.elements.beams.beam2d`.
        second_order: second-order terms of the strains (Meijaard).
        shear: shear deformation (Timoshenko), else Kirchhoff.
        inextensible: short for fixed = "extension".
        damping: stiffness-proportional, beta [s].
        mass_damping: mass-proportional, alpha [1/s].
        orientation: space: (3,) vector in the plane of ex and ey, numbers or expressions of x, y, z of the node, or
            a function of positions (n, 3) that returns vectors (n, 3), or an array (cells, 3), one vector per cell.
        offset, offset_start, offset_end: space: [x, y, z] of the beam's line from the nodes in the section's axes
            (before ``twist``), everywhere or at the ends of the line and linear between them, rigid [m].
        releases: {"start": [...], "end": [...]} of "rotation x", "rotation y", "rotation z" (section's axes) or
            "rotation": hinges at the first and last node of the line, between it and a new node "NAME start" or
            "NAME end" that belongs to the beam.
        fixed: strains held by multipliers, of "extension", "torsion", "bending y", "bending z" or "all"; in the
            plane "extension" only.
        curved: space: the line is smooth through the nodes; elements are bent at the start and free of stress.
        twist: space: turn of the section's axes along the line: a rate [rad/m] from the start on, or
            [start, end] [rad].
    """

    owner = "Beam"

    name: str = key(NAME, "of the group of elements", shows='"beam 1", ...')
    on: Any = key(CELLS, "line cells of the beams")
    section: str | Sequence[str] = key(
        SECTION_NAME,
        "name of a section; space: also one from a table, or two, [start, end], for a taper along the line",
    )
    material: str | None = key(
        TEXT, 'name of a material; not needed by sections of shape "stiffness" or "matrix"', None
    )
    mass: str = key(TEXT, '"hermite", "consistent" (linear) or "lumped"', "hermite", choices=MASSES)
    strains: str | None = key(
        TEXT,
        '"exact" (the geometrically exact beam: Reissner, Simo), "generalised" (Besseling, Meijaard), "natural" or '
        '"corotational" (rotations against the chord)',
        None,
        shows='"exact"; "natural" where `rule` is given',
    )
    rule: str = key(
        TEXT,
        'of natural strains: "exact", "accumulated", "geometric", "secant", "gradient"',
        "exact",
        choices=BEAM_RULES,
    )
    second_order: bool = key(FLAG, "second-order terms of the strains", True)
    shear: bool = key(FLAG, "shear deformation (Timoshenko), else Kirchhoff", True)
    inextensible: bool = key(FLAG, 'constant length, by a multiplier; short for fixed = "extension"', False)
    damping: float = key(NUMBER, "proportional to the stiffness, beta", 0.0, unit="s")
    mass_damping: float = key(NUMBER, "proportional to the mass, alpha", 0.0, unit="1/s")
    orientation: Any = key(
        ORIENTATION,
        "space: vector in the plane of the axes ex (along) and ey (height); may depend on the place",
        None,
        shows="ez near global z; of beams along z: ey is y",
    )
    default_axes: Any = key(
        POINTS,
        "space: three axes that take the place of the global ones where there is no orientation",
        None,
        shows="the global ones",
        kw_only=True,
    )
    offset: Any = key(
        VECTOR,
        "space: [x, y, z] of the line from the nodes, in the section's axes, rigid",
        None,
        shows="none",
        unit="m",
    )
    offset_start: Any = key(
        VECTOR, "space: the same at the start of the line; linear in between", None, shows="none", unit="m"
    )
    offset_end: Any = key(VECTOR, "space: at the end of the line", None, shows="none", unit="m")
    releases: Any = key(
        RELEASE_WORDS,
        'hinges at the ends of the line: {start = [...], end = [...]} of "rotation x", "rotation y", "rotation z" '
        '(section\'s axes) or "rotation"; the beam then ends at a new node "NAME start" or "NAME end"',
        None,
        shows="none",
    )
    fixed: str | Sequence[str] | None = key(
        WORDS,
        'strains held by multipliers: "extension"; space: "torsion", "bending y", "bending z", "all"',
        None,
        shows="none",
    )
    curved: bool = key(FLAG, "space: the line is smooth through the nodes and free of stress", False)
    twist: Any = key(
        NUMBER_OR_PAIR,
        "space: turn of the section along the line: its rate, or the angles [start, end]",
        None,
        shows="0",
        unit="rad/m or rad",
    )

    def build(self, building: Building) -> None:
        strains = self.strains
        owner = building.label("Beam", self.name)
        if strains is None:
            strains = "natural" if building.dimension == 2 and self.rule != "exact" else "exact"
        if strains not in BEAM_STRAINS[building.dimension]:
            raise ModelError(
                f"strains = {shown(strains)} must be one of {', '.join(BEAM_STRAINS[building.dimension])}",
                owner=owner,
                key="strains",
                value=strains,
            )
        places = {
            "orientation": self.orientation,
            "offset": self.offset,
            "offset_start": self.offset_start,
            "offset_end": self.offset_end,
            "twist": self.twist,
            "curved": self.curved or None,
            "default_axes": _default_axes(building, owner, self.default_axes),
        }
        for word, value in places.items():
            if building.dimension == 2 and value is not None:
                raise ModelError(f"{word} is for beams in space", owner=owner, remedy="remove it, or use dimension = 3")
        cells = building.line_cells(owner, self.on)
        x = building.positions
        chord = x[cells[:, 1]] - x[cells[:, 0]]
        beam = _Beam(
            name=self.name,
            owner=owner,
            cells=cells,
            chord=chord,
            length=np.linalg.norm(chord, axis=1),
            mass=self.mass,
            strains=strains,
            rule=self.rule,
            second_order=self.second_order,
            damping=building.number(self.damping, owner, "damping", 0.0),
            mass_damping=building.number(self.mass_damping, owner, "mass_damping", 0.0),
            fixed=_held_strains(building, owner, self.fixed, self.inextensible),
            released=_released(building, owner, self.releases),
        )
        if building.dimension == 2:
            _plane_beams(building, beam, self.section, self.material, self.shear)
        else:
            _space_beams(
                building, beam, _section_line(building, owner, self.section, self.material, self.shear), places
            )
        building.groups[self.name] = beam.cells
        building.rotational.update(np.unique(beam.cells).tolist())
