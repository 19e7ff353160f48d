"""Forces, stresses and strains of shells, as Nastran's tables have them.

Tables are along the axes of the elements, or with PARAM,OMID,YES along those of the material.  Axes of elements are

    CQUAD4, CQUADR            x halves the angle between the diagonals: e1/|e1| - e2/|e2| of diagonals e1 from G1 to G3
                              and e2 from G2 to G4
    CTRIA3, CTRIAR            x from G1 to G2
    CQUAD8, CTRIA6            at each point of its own: x, y halve the angle between the natural directions (quadri-
                              lateral), or x is the first of these (triangle)

(MSC Nastran quick reference guide.)  Moments and curvatures of Nastran are positive where they stretch the bottom, Z1.
Moments of laminates are about the reference plane, which Z0 puts elsewhere than in the middle of the laminate.
Stresses between the layers are those of cylindrical bending along either axis of the material, on top of each ply:
-Q times the integral of E (z - z0) dz from the bottom over that of E (z - z0)^2, z0 the neutral height.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fem_mbs.analysis.fields import ShellPart
from fem_mbs.decks.nastran.model import Group
from fem_mbs.decks.nastran.results.state import ElementState, ElementTable
from fem_mbs.decks.nastran.results.tensors import in_plane, turned
from fem_mbs.decks.nastran.shells import material_axes
from fem_mbs.elements.shells.surface import CORNERS, node_axes, normals
from fem_mbs.elements.solids.shapes import gradients, local_nodes, shape_functions
from fem_mbs.late import dataclass
from fem_mbs.properties.shells import ShellGroup

__all__ = ["CENTRED", "ply_stresses", "shell_forces", "shell_stresses"]

#: Types whose corners are printed only if the deck asks for them, and those that have none.
CENTRED = ("CQUAD4", "CTRIA3")
_FORCES = (
    *(f"{c} [force/length]" for c in ("FX", "FY", "FXY")), *(f"{c} [moment/length]" for c in ("MX", "MY", "MXY")),
    *(f"{c} [force/length]" for c in ("QX", "QY")),
)  # fmt: skip
_MEMBRANE, _BENDING = slice(0, 3), slice(3, 6)


@dataclass
class _Shells:
    """Shells of one type in a group at the places of their tables: which elements of the group they are, rows (n,);
    numbers of the elements and points (n p,); strains and curvatures (n, nodes, 6) at the nodes along the axes of the
    section, factors (n,) on the temperatures, weights (p, nodes) of the nodes at the points; cosines and sines (n, p)
    of the angle from the axes of the section to those of the tables."""

    group: Group
    type: str
    section: ShellGroup
    name: str
    rows: np.ndarray
    ids: np.ndarray
    points: np.ndarray
    own: np.ndarray
    heat: np.ndarray
    weights: np.ndarray
    cosine: np.ndarray
    sine: np.ndarray

    def turned(self, values: np.ndarray, strain: bool = False) -> np.ndarray:
        """Return components (n, p, 3) along the axes of the tables of those (n, nodes, 3) along the axes of the
        section."""
        return turned(self.at_points(values), self.cosine, self.sine, strain)

    def at_points(self, values: np.ndarray) -> np.ndarray:
        """Return values (n, p, ...) at the points of those (n, nodes, ...) at the nodes."""
        return np.einsum("pk,nk...->np...", self.weights, values)

    def shear_forces(self, state: ElementState) -> np.ndarray:
        """Return transverse shear forces (n, 2) along the axes of the section."""
        return np.stack([state.column(self.name, f"Q{i} [N/m]")[self.rows] for i in (1, 2)], axis=-1)


def _shells(state: ElementState, corners: bool) -> Iterator[_Shells]:
    for group in state.conv.groups:
        if group.kind != "shell":
            continue
        part = state.part(group)
        assert isinstance(part, ShellPart) and part.shell is not None
        k = CORNERS[part.nodes.shape[1]]
        own, heat = part.strains_of(state.out)
        if own.shape[2] == 3:
            own = np.concatenate((own, np.zeros_like(own)), axis=2)
        types = np.array([card.name for card in group.data])
        for type_ in dict.fromkeys(types.tolist()):
            rows = np.flatnonzero(types == type_)
            ids = group.ids[rows]
            weights = shape_functions(part.cell, local_nodes(part.cell)[:k].mean(axis=0)[None])
            at = np.zeros((len(ids), 1), int)
            if type_ != "CTRIA3" and (corners or type_ not in CENTRED):
                weights = np.vstack((weights, np.eye(part.nodes.shape[1])[:k]))
                at = np.hstack((at, state.conv.grids.ids[part.nodes[rows, :k]]))
            c, s = _angle(state, group, part, weights)
            yield _Shells(
                group, type_, part.shell, part.name, rows, np.repeat(ids, at.shape[1]), at.ravel(), own[rows],
                heat[rows], weights, c[rows], s[rows],
            )  # fmt: skip


def _angle(
    state: ElementState, group: Group, part: ShellPart, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return cosine and sine (n, p) of the angle from the axes of the section to those of the tables."""
    X = part.X
    assert part.shell is not None
    axes = node_axes(X, part.shell.axes)
    if state.conv.material_output:
        first = np.broadcast_to(material_axes(state.conv, group)[:, None], X.shape)
    elif X.shape[1] == 3:
        first = np.broadcast_to((X[:, 1] - X[:, 0])[:, None], X.shape)
    elif X.shape[1] == 4:
        first = np.broadcast_to(_half(X[:, 2] - X[:, 0], X[:, 3] - X[:, 1])[:, None], X.shape)
    else:
        t = np.einsum("akb,ebc->ekac", gradients(part.cell, local_nodes(part.cell)), X)
        first = t[:, 0]
        if part.cell == "quad8":
            a, b = (t[:, i] / np.linalg.norm(t[:, i], axis=2)[..., None] for i in (0, 1))
            first = a + b - np.cross(normals(X), a + b)
    c, s = (np.einsum("nki,nki,pk->np", first, axes[:, :, i], weights) for i in (0, 1))
    size = np.hypot(c, s)
    return c / size, s / size


def _half(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return directions (n, 3) between diagonals a and -b (n, 3)."""
    return a / np.linalg.norm(a, axis=1)[:, None] - b / np.linalg.norm(b, axis=1)[:, None]


def shell_forces(state: ElementState, corners: bool = False) -> Iterator[ElementTable]:
    """Yield membrane forces, moments and transverse shear forces of shells; these are the same all over an element."""
    for shells in _shells(state, corners):
        matrix = shells.section.nodal_stiffness[shells.rows]
        own = shells.own[..., : matrix.shape[2]]
        own = own - shells.heat[:, None, None] * shells.section.thermal_strains[shells.rows]
        forces = np.einsum("nkij,nkj->nki", matrix, own)
        out = np.zeros((*shells.cosine.shape, 8))
        out[..., _MEMBRANE] = shells.turned(forces[..., _MEMBRANE])
        if shells.section.bends:
            about = forces[..., _BENDING] + _height(shells)[..., None] * forces[..., _MEMBRANE]
            out[..., _BENDING] = -shells.turned(about)
            Q, c, s = shells.shear_forces(state)[:, None], shells.cosine, shells.sine
            out[..., 6] = c * Q[..., 0] + s * Q[..., 1]
            out[..., 7] = c * Q[..., 1] - s * Q[..., 0]
        yield ElementTable(shells.type, _FORCES, shells.ids, out.reshape(-1, 8), shells.points)


def _height(shells: _Shells) -> np.ndarray:
    """Return heights (n, nodes) of the middles of the sections above the planes that their moments are about."""
    thickness = shells.section.corners[shells.rows]
    z0 = None if shells.group.section.name == "PSHELL" else shells.group.section["z0"]
    return np.zeros_like(thickness) if z0 is None else z0 + 0.5 * thickness


def shell_stresses(
    state: ElementState, strain: bool = False, mises: bool = True, corners: bool = False, fibres: bool = True
) -> Iterator[ElementTable]:  # fmt: skip
    """Yield stresses, or strains, of shells of one layer at Z1 and Z2; with ``fibres`` false strains of the middle
    surface and curvatures."""
    word, unit = ("STRAIN", "[-]") if strain else ("STRESS", "[stress]")
    last = "von Mises" if mises else "largest shear"
    for shells in _shells(state, corners):
        if shells.group.section.name != "PSHELL":
            continue
        names: list[str] = []
        middle = strain and not fibres
        for at in ("middle", "curvature") if middle else ("Z1", "Z2"):
            of = "[1/length]" if at == "curvature" else unit
            names += [] if middle else [f"{at} [length]"]
            names += [f"{at} {c} {of}" for c in ("X", "Y", "XY")] + [f"{at} angle [degrees]"]
            names += [f"{at} {c} {of}" for c in ("major", "minor", last)]
        if middle:
            parts = (shells.own[..., _MEMBRANE], -shells.own[..., _BENDING])
            blocks = [in_plane(shells.turned(values, True), True, mises) for values in parts]
        else:
            blocks = []
            for z, values in _fibres(shells, strain):
                blocks += [z[..., None], in_plane(shells.turned(values, strain), strain, mises)]
        rows = np.concatenate(blocks, axis=-1)
        yield ElementTable(
            f"{word} {shells.type}", tuple(names), shells.ids, rows.reshape(len(shells.ids), -1), shells.points
        )


def _fibres(shells: _Shells, strain: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield heights (n, p) of Z1 and Z2, and stresses or strains (n, nodes, 3) at the nodes there."""
    section, k = shells.section, shells.rows
    whole = np.zeros((len(section.nodes), *shells.own.shape[1:]))
    heat = np.zeros(len(whole))
    whole[k], heat[k] = shells.own, shells.heat
    whole = whole if section.bends else whole[..., :3]
    top, bottom = (
        (section.strains_at(whole, side) if strain else section.stresses_at(whole, heat, side, 0))[k]
        for side in (0.5, -0.5)
    )
    thickness = section.corners[k]
    for side, given in zip((-0.5, 0.5), (shells.group.section["z1"], shells.group.section["z2"]), strict=True):
        height = np.full(thickness.shape, side) if given is None else given / thickness
        yield shells.at_points(height * thickness), 0.5 * (top + bottom) + height[..., None] * (top - bottom)


# --- laminates -------------------------------------------------------------------------------------------------------
def ply_stresses(state: ElementState, strain: bool = False) -> Iterator[ElementTable]:
    """Yield stresses, or strains, of the plies of laminates in the middle of these, along their fibres, in the middle
    of the elements; shear between the layers on top of each ply, along the axes of the material."""
    word, unit = ("STRAIN", "[-]") if strain else ("STRESS", "[stress]")
    names = [f"{c} {unit}" for c in ("1", "2", "12")]
    if not strain:
        names += ["XZ [stress]", "YZ [stress]"]
    names += ["angle [degrees]", *(f"{c} {unit}" for c in ("major", "minor", "largest shear"))]
    for shells in _shells(state, corners=False):
        if shells.group.section.name == "PSHELL":
            continue
        section = shells.section
        if strain:
            # from all elements of the group, which share one section
            whole = np.zeros((len(section.nodes), *shells.own.shape[1:]))
            whole[shells.rows] = shells.own
            middles = 0.5 * (section.section.bounds[:-1] + section.section.bounds[1:])
            at_nodes = np.stack(
                [
                    turned(section.strains_at(whole, z), np.cos(angle), np.sin(angle), True)
                    for z, angle in zip(middles, section.section.angles, strict=True)
                ],
                axis=2,
            )[shells.rows]
        else:
            part = state.part(shells.group)
            assert isinstance(part, ShellPart)
            at_nodes = part.layer_stresses(state.out)[shells.rows, :, :, 1]
        plies = in_plane(shells.at_points(at_nodes)[:, 0], strain, mises=False)
        if not strain:
            plies = np.concatenate((plies[..., :3], _between(state, shells), plies[..., 3:]), axis=-1)
        n, layers = plies.shape[:2]
        yield ElementTable(
            f"PLY {word} {shells.type}", tuple(names), np.repeat(shells.group.ids[shells.rows], layers),
            plies.reshape(n * layers, -1), np.tile(1 + np.arange(layers), n),
        )  # fmt: skip


def _between(state: ElementState, shells: _Shells) -> np.ndarray:
    """Return shear stresses (n, layers, 2) on top of each ply."""
    section = shells.section.section
    h, forces = shells.section.thickness[shells.rows, None], shells.shear_forces(state)
    low, high = section.bounds[:-1], section.bounds[1:]
    out = np.empty((len(h), section.layers, 2))
    for i in (0, 1):
        E = section.plane[:, i, i]
        z0 = (E * (high**2 - low**2)).sum() / (2.0 * (E * (high - low)).sum())
        first = np.cumsum(E * ((high - z0) ** 2 - (low - z0) ** 2)) / 2.0
        second = (E * ((high - z0) ** 3 - (low - z0) ** 3)).sum() / 3.0
        out[..., i] = -forces[:, i, None] * first / (second * h)
    return out
