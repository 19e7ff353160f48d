"""Blocks of solid cells for tests, and a small dense or sparse assembly over the element kernels."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from scipy.sparse import coo_matrix

from fem_mbs import contract as C
from fem_mbs.elements.registry import element_type
from fem_mbs.elements.solids import shapes

_EDGES = {
    "triangle6": shapes._EDGES3,
    "quad8": shapes._EDGES4,
    "tetra10": shapes._TET_EDGES,
    "hexahedron20": shapes._HEX_EDGES,
    "wedge15": shapes._WEDGE_EDGES,
}
_CORNERS = {"triangle6": "triangle", "quad8": "quad", "tetra10": "tetra", "hexahedron20": "hexahedron"}
_CORNERS["wedge15"] = "wedge"


def grid(cell, counts, size=None, distort=0.0, seed=0):
    """Nodes X (m, dim) and cells (e, n) of a box cut into ``counts`` boxes; inner corners shifted at random by
    ``distort`` of a box, mid-side nodes in the middle."""
    dim = len(counts)
    counts = np.array(counts)
    size = np.ones(dim) if size is None else np.array(size, float)
    axes = [np.arange(c + 1) for c in counts]
    index = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, dim)
    X = index / counts
    inner = np.all((index > 0) & (index < counts), axis=1)
    X[inner] += distort / counts * np.random.default_rng(seed).uniform(-1, 1, (inner.sum(), dim))
    X *= size
    strides = np.array([int(np.prod(counts[k + 1 :] + 1)) for k in range(dim)])
    first = np.stack(np.meshgrid(*[a[:-1] for a in axes], indexing="ij"), axis=-1).reshape(-1, dim) @ strides
    corner = [np.array(p) @ strides for p in ((0, 0), (1, 0), (1, 1), (0, 1))] if dim == 2 else None
    if dim == 3:
        flat = ((0, 0), (1, 0), (1, 1), (0, 1))
        corner = [np.array((*p, z)) @ strides for z in (0, 1) for p in flat]
    base = _CORNERS.get(cell, cell)
    if base in ("quad", "hexahedron"):
        parts = [corner]
    elif base == "triangle":
        parts = [[corner[0], corner[1], corner[2]], [corner[0], corner[2], corner[3]]]
    elif base == "wedge":
        parts = [[corner[i] for i in p] for p in ((0, 1, 2, 4, 5, 6), (0, 2, 3, 4, 6, 7))]
    else:
        parts = []
        for order in permutations(range(3)):  # Kuhn's six tetrahedra
            path = [0]
            for k in order:
                path.append(path[-1] + strides[k])
            even = order in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
            parts.append(path if even else [path[0], path[2], path[1], path[3]])
    cells = np.concatenate([first[:, None] + np.array(p)[None] for p in parts])
    if cell in _EDGES:
        edges = np.array(_EDGES[cell])
        ends = np.sort(cells[:, edges], axis=2)
        unique, inverse = np.unique(ends.reshape(-1, 2), axis=0, return_inverse=True)
        middle = len(X) + inverse.reshape(len(cells), -1)
        X = np.concatenate((X, X[unique].mean(axis=1)))
        cells = np.hstack((cells, middle))
    return X, cells


@dataclass
class Part:
    """Cells of one type with their parameters, for calls of their kernels."""

    type_name: str
    X: np.ndarray
    cells: np.ndarray
    par: np.ndarray

    def __post_init__(self):
        self.type = element_type(self.type_name)
        self.dim = self.X.shape[1]
        self.dof = (self.cells[:, :, None] * self.dim + np.arange(self.dim)).reshape(len(self.cells), -1)
        self.dof = self.dof.astype(np.int32)
        self.N = self.X.size + 1

    def _call(self, kernel, job, x0, x1, fe, ke, v=None, h=1.0, rule=C.ONE_STATE, gravity=(), fun=1.0):
        ctl = np.zeros(C.N_CTL)
        two = rule == C.TWO_STATE
        ctl[C.H], ctl[C.SF], ctl[C.SK], ctl[C.RULE], ctl[C.WA] = h, 1.0, 1.0 if two else 2.0, rule, 1.0
        ctl[C.GX : C.GX + len(gravity)] = gravity
        n = len(self.cells)
        Q, V = np.zeros((2, self.N)), np.zeros((3, self.N))
        Q[0, :-1], Q[1, :-1] = x0.ravel(), x1.ravel()
        if v is not None:
            V[:2, :-1] = v.ravel()
        U = Q[1] - Q[0]
        D = np.zeros((2, 1, 2 if self.dim == 2 else 9))
        rot = np.zeros((n, self.type.ends), np.int32)
        hist, functions = np.zeros((n, self.type.hist)), np.full((1, 3), float(fun))
        kernel(job, 0, n, ctl, self.par, self.dof, rot, hist, functions, Q, D, V, np.zeros_like(D), U, fe, ke)

    def force(self, x=None, x0=None, **options):
        """Force (m, dim) at positions x, or over the step from x0 to x."""
        x = self.X if x is None else x
        fe = np.zeros(self.dof.shape)
        options = options if x0 is None else {"rule": C.TWO_STATE, **options}
        self._call(self.type.force, C.FORCE, x if x0 is None else x0, x, fe, np.zeros((0, 0, 0)), **options)
        total = np.zeros(self.X.size)
        np.add.at(total, self.dof, fe)
        return total.reshape(self.X.shape)

    def tangent(self, x=None, **options):
        """Tangent at positions x: CSR (3 m, 3 m)."""
        x = self.X if x is None else x
        n, m = self.dof.shape
        fe, ke = np.zeros((n, m)), np.zeros((n, m, m))
        self._call(self.type.force, C.TANGENT, x, x, fe, ke, **options)
        rows, columns = np.repeat(self.dof, m, axis=1).ravel(), np.tile(self.dof, (1, m)).ravel()
        return coo_matrix((ke.ravel(), (rows, columns)), shape=(self.X.size,) * 2).tocsr()

    def report(self, job, x=None, x0=None, **options):
        """Ledger summed over the cells, or the table of outputs (e, n_out)."""
        x = self.X if x is None else x
        width = C.N_LEDGER if job == C.LEDGER else len(self.type.outputs)
        fe = np.zeros((len(self.cells), width))
        self._call(self.type.report, job, x if x0 is None else x0, x, fe, np.zeros((0, 0, 0)), **options)
        return fe.sum(axis=0) if job == C.LEDGER else fe

    def stresses(self, x=None):
        """Stresses (e, q, k) and strains (e, q, k) at the integration points."""
        table = self.report(C.OUTPUT, x)
        k = 6 if self.dim == 3 else 4
        table = table.reshape(len(table), -1, 2, k)
        return table[:, :, 0], table[:, :, 1]


def boundary_faces(cell, cells):
    """Faces of a mesh that belong to one cell only: {face cell: nodes (f, n)}."""
    rows = [(face, cells[:, list(nodes)]) for face, nodes in shapes.FACES[cell]]
    keys = [np.sort(nodes, axis=1) for _, nodes in rows]
    count: dict[tuple, int] = {}
    for key in (tuple(k) for table in keys for k in table.tolist()):
        count[key] = count.get(key, 0) + 1
    found: dict[str, list] = {}
    for (face, nodes), table in zip(rows, keys, strict=True):
        once = np.array([count[tuple(k)] == 1 for k in table.tolist()])
        found.setdefault(face, []).append(nodes[once])
    return {face: np.concatenate(tables) for face, tables in found.items()}


def box_mesh(cell, counts, size, distort=0.0, place=(0.0, 0.0, 0.0), name="body"):
    """A `Mesh` of a box of cells: the cell set ``name``; node sets "x0", "x1" (ends along x) ... and facet sets
    "x0 faces" ..."""
    from fem_mbs.meshes.cells import FACETS
    from fem_mbs.meshes.mesh import CellBlock, Mesh

    X, cells = grid(cell, counts, size, distort)
    node_sets, facet_sets = {}, {}
    for i, axis in enumerate("xyz"[: len(counts)]):
        for end, value in ((0, 0.0), (1, size[i])):
            on = np.abs(X[:, i] - value) < 1e-9 * size[i]
            node_sets[f"{axis}{end}"] = np.flatnonzero(on)
            facet_sets[f"{axis}{end} faces"] = [
                (0, rows, np.full(len(rows), k))
                for k, (_, local) in enumerate(FACETS[cell])
                if len(rows := np.flatnonzero(on[cells[:, list(local)]].all(axis=1)))
            ]
    X = X + place[: len(counts)]
    every = np.arange(len(cells))
    return Mesh(X, [CellBlock(cell, cells)], node_sets, {name: [(0, every)]}, facet_sets=facet_sets)
