"""Masses on single components of a Nastran deck: CMASS1 to CMASS4, torsional inertia of CBEAM, coupled masses of rods,
and PARAM,ART_MASS of MYSTRAN.

Their mass matrix is C^T C with a row of C for each: sqrt(m) times the coefficients of what moves.  In the model each
row is a scalar s = C u of its own with a unit mass, tied to the components by an equation.  Equal masses on the three
displacements of a grid point are a point mass.
"""

from __future__ import annotations

from itertools import count

import numpy as np
from scipy.sparse import csr_matrix, vstack

from fem_mbs.decks.nastran.bars import Bars, Rods, bar_axes
from fem_mbs.decks.nastran.model import Conversion, one_of
from fem_mbs.decks.nastran.points import numbered, scalar_ends
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.mesh import Mesh
from fem_mbs.meshes.nastran.cards import Card

__all__ = ["find_component_masses", "make_artificial_mass", "make_component_masses"]

_MASSES = ("CMASS1", "CMASS2", "CMASS3", "CMASS4")
#: Values of PARAM,ART_MASS,Y without numbers: of displacements and of rotations.
_ARTIFICIAL = 1e-6
#: Of the largest inertia of a grid point: less is none.
_NOTHING = 1e-12


def find_component_masses(conv: Conversion) -> csr_matrix:
    """Create the point masses of the model that masses on components make up; return C (rows, 6 n), components along
    the global axes, of all others.  Nodes get the rotations that masses need.

    Raises:
        ModelError: properties that are not there, masses that are negative, with file and line.
    """
    size = 6 * len(conv.grids.ids)
    known = numbered(conv, "PMASS", ("m",))
    single: dict[int, dict[int, float]] = {}
    rows, dofs, values = [], [], []
    number = count()
    for card in conv.deck.of(*_MASSES):
        m = _value(conv, card, known)
        ends = scalar_ends(conv, card)
        if len(ends) == 2 and ends[0] == ends[1]:
            raise ModelError(f"{card.name} {card.id} has both ends at one component", place=card.where)
        for node, k in ends:
            conv.used[node] = True
            if k > 2:
                conv.turn(node)
        if len(ends) == 1 and ends[0][1] < 3:
            by_component = single.setdefault(ends[0][0], {})
            by_component[ends[0][1]] = by_component.get(ends[0][1], 0.0) + m
            continue
        row = next(number)
        for (node, k), sign in zip(ends, (1.0, -1.0), strict=False):
            rows += [row] * 3
            dofs += [6 * node + 3 * (k // 3) + j for j in range(3)]
            values += (sign * np.sqrt(m) * conv.grids.axes[node, k % 3]).tolist()
    for node, found in single.items():
        along = np.array([found.get(k, 0.0) for k in range(3)])
        if conv.grids.scalar[node] or np.ptp(along) <= _NOTHING * along.max():
            conv.model.point_mass(f"CMASS at {conv.grids.ids[node]}", np.array([node]), float(along[0]))
            continue
        for k in np.flatnonzero(along).tolist():
            rows += [next(number)] * 3
            dofs += [6 * node + j for j in range(3)]
            values += (np.sqrt(along[k]) * conv.grids.axes[node, k]).tolist()
    C = csr_matrix((values, (rows, dofs)), shape=(next(number), size))
    return csr_matrix(vstack((C, _torsion(conv), _coupled_rods(conv))))


def _value(conv: Conversion, card: Card, known: dict[int, tuple[float, ...]]) -> float:
    given = card.name in ("CMASS2", "CMASS4")
    if not given and card["pid"] not in known:
        one_of(conv, ("PMASS",), card["pid"], "property of masses", card.where)
    m = (card["m"] if given else known[card["pid"]][0]) * conv.wtmass
    if m < 0.0:
        raise UnsupportedError(f"{card.name} {card.id}: the mass {m:g} is negative", place=card.where)
    return float(m)


def _torsion(conv: Conversion) -> csr_matrix:
    """Return C (rows, 6 n) of the torsional inertia of CBEAM with lumped masses: density times I1 + I2, and NSI, half
    of it at each end.  CBAR has none in MSC Nastran."""
    n = len(conv.grids.ids)
    J = np.zeros((n, 3, 3))
    for group in conv.groups:
        if group.type != "CBEAM" or conv.coupled:
            continue
        data: Bars = group.data
        _, axes, length = bar_axes(conv, group)
        ex = axes[:, 0]
        ends = data.section, data.section.end or data.section
        for end, section in enumerate(ends):
            inertia = data.material.rho * (section.I1 + section.I2) + section.nsi * conv.wtmass
            np.add.at(J, group.nodes[:, end], (0.5 * inertia * length)[:, None, None] * ex[:, :, None] * ex[:, None, :])
    return _nodal_rows(J, 3)


def _coupled_rods(conv: Conversion) -> csr_matrix:
    """Return C (rows, 6 n) of the coupled masses of rods: across them half of the mass m at each end, along them
    m/12 (5, 1; 1, 5), the mean of lumped and consistent ones, as MSC Nastran has them (linear static analysis user's
    guide, coupled mass)."""
    n = len(conv.grids.ids)
    across = np.zeros((n, 3, 3))
    rows, dofs, values, count_ = [], [], [], 0
    for group in conv.groups if conv.coupled else ():
        if not isinstance(group.data, Rods):
            continue
        d = np.diff(conv.grids.x[group.nodes], axis=1)[:, 0]
        length = np.linalg.norm(d, axis=1)
        d = d / length[:, None]
        m = (group.data.material.rho * group.data.A + group.section["nsm"] * conv.wtmass) * length
        if not m.any():
            continue
        part = 0.5 * m[:, None, None] * (np.eye(3) - d[:, :, None] * d[:, None, :])
        for end in (0, 1):
            np.add.at(across, group.nodes[:, end], part)
        at = 6 * group.nodes[:, :, None] + np.arange(3)
        for sign, share in ((1.0, 0.25), (-1.0, 1.0 / 6.0)):  # m/2 and m/3 of both ends together and against each other
            own = np.sqrt(share * m)[:, None] * d
            rows.append(np.repeat(count_ + np.arange(len(m)), 6))
            dofs.append(at.reshape(len(m), 6).ravel())
            values.append(np.hstack((own, sign * own)).ravel())
            count_ += len(m)
    if not rows:
        return csr_matrix((0, 6 * n))
    along = csr_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(dofs))), shape=(count_, 6 * n))
    return csr_matrix(vstack((along, _nodal_rows(across, 0))))


def _nodal_rows(M: np.ndarray, part: int) -> csr_matrix:
    """Return C (rows, 6 n) of masses M (n, 3, 3) on the displacements (part 0) or rotations (3) of nodes."""
    nodes = np.flatnonzero(np.einsum("nii->n", M) > 0.0)
    if not len(nodes):
        return csr_matrix((0, 6 * len(M)))
    m, directions = np.linalg.eigh(M[nodes])
    which, k = np.nonzero(m > _NOTHING * m[:, -1:])
    C = np.sqrt(m[which, k])[:, None] * directions[which, :, k]
    at = 6 * nodes[which][:, None] + part + np.arange(3)
    return csr_matrix((C.ravel(), (np.repeat(np.arange(len(C)), 3), at.ravel())), shape=(len(C), 6 * len(M)))


def make_component_masses(conv: Conversion, C: csr_matrix) -> None:
    """Create the scalars with unit masses and the equations that tie them to components."""
    C.eliminate_zeros()
    if not C.nnz:
        return
    model, found = conv.model, C.tocoo()
    model.mesh("masses of components", Mesh(conv.grids.x[C.indices[C.indptr[:-1]] // 6], []), unused="drop")
    nodes = model.nodes_of("masses of components")
    model.point_mass("masses of components", nodes, 1.0)
    model.fix(nodes, ["y", "z"])
    own = np.arange(len(nodes))
    model.equations(
        "ties of masses", np.concatenate((own, found.row)), np.concatenate((nodes, found.col // 6)),
        np.concatenate((np.zeros(len(nodes), int), found.col % 6)),
        np.concatenate((-np.ones(len(nodes)), found.data)),
    )  # fmt: skip


def make_artificial_mass(conv: Conversion) -> None:
    """Create the masses that PARAM,ART_MASS,Y of MYSTRAN puts on displacements and rotations of all grid points.

    Raises:
        ModelError: values that are no masses.
    """
    given = conv.deck.params.get("ART_MASS")
    if given is None or not str(given.values[0]).startswith("Y"):
        return
    values = [_ARTIFICIAL if v is None else v for v in (*given.values[1:3], None, None)][:2]
    if any(isinstance(v, str) or v < 0.0 for v in values):
        raise ModelError("PARAM,ART_MASS needs masses of at least 0", place=given.where)
    m, J = (float(v) * conv.wtmass for v in values)
    there = conv.used & ~conv.grids.scalar
    turning = np.flatnonzero(there & conv.rotational)
    if m:
        conv.model.point_mass("artificial mass", np.flatnonzero(there), m)
    if J and len(turning):
        conv.model.point_mass("artificial inertia", turning, 0.0, inertia=[J, J, J])
