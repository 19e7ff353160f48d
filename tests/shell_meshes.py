"""Grids of all four cells of shells with named edges, and models on them, for tests."""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.analysis.loading import Loading
from fem_mbs.meshes.mesh import Mesh
from fem_mbs.model.compiled import compile_model

LINEAR, QUADRATIC = ("quad", "triangle"), ("quad8", "triangle6")
ALL = LINEAR + QUADRATIC


def cut(quads, cell):
    """The quadrilaterals, or two triangles of each."""
    return quads if cell == "quad" else np.concatenate((quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]))


def grid(place, nx, ny, cell="quad", flip=False):
    """A mesh of nx x ny cells (or twice as many triangles) on the unit square mapped by ``place(u, v)``.

    Its sets are the edges, the corners a to d, the "middle" of the right edge (with an even ny), and all "edges";
    "body" are its cells, "right edge" and "left edge" the facets there; ``flip`` turns the normals.
    """
    k = 1 + (cell in QUADRATIC)
    u, v = np.meshgrid(np.linspace(0, 1, k * nx + 1), np.linspace(0, 1, k * ny + 1))
    points = np.column_stack([np.broadcast_to(c, u.shape).ravel() for c in place(u, v)]).astype(float)
    n = np.arange(len(points)).reshape(k * ny + 1, k * nx + 1)

    def at(i, j):
        return n[i : k * (ny - 1) + i + 1 : k, j : k * (nx - 1) + j + 1 : k].ravel()

    a, b, c, d = at(0, 0), at(0, k), at(k, k), at(k, 0)
    right = 1
    if flip:
        b, d, right = d, b, 2
    if k == 1:
        cells = cut(np.column_stack((a, b, c, d)), cell)
    else:
        ab, bc, cd, da, middle = at(0, 1), at(1, 2), at(2, 1), at(1, 0), at(1, 1)
        if flip:
            ab, bc, cd, da = da, cd, bc, ab
        if cell == "quad8":
            cells = np.column_stack((a, b, c, d, ab, bc, cd, da))
        else:
            halves = (a, b, c, ab, bc, middle), (a, c, d, middle, cd, da)
            cells = np.concatenate([np.column_stack(half) for half in halves])
    used, cells = np.unique(cells, return_inverse=True)
    cells = cells.reshape(-1, {"quad": 4, "triangle": 3, "quad8": 8, "triangle6": 6}[cell])
    sets = {"left": n[:, 0], "right": n[:, -1], "bottom": n[0], "top": n[-1], "middle": n[k * ny // 2, -1:]}
    sets |= {"a": n[0, :1], "b": n[0, -1:], "c": n[-1, -1:], "d": n[-1, :1]}
    sets["edges"] = np.unique(np.concatenate([sets[name] for name in ("left", "right", "bottom", "top")]))
    sets = {name: np.searchsorted(used, nodes) for name, nodes in sets.items() if np.isin(nodes, used).all()}
    first = np.arange(ny) * nx  # of each row; the left edge is that of the second half of a cell
    facets = {
        "right edge": [(0, first + nx - 1, np.full(ny, right))],
        "left edge": [(0, first + (0 if cell in ("quad", "quad8") else nx * ny), np.full(ny, {1: 3, 2: 0}[right]))],
    }
    if cell not in ("quad", "quad8"):
        facets["left edge"][0][2][:] = 2
    everything = {"body": [(0, np.arange(len(cells)))]}
    return Mesh(points[used], [(cell, cells)], node_sets=sets, cell_sets=everything, facet_sets=facets)


def flat(x, y):
    return lambda u, v: (x * u, y * v, 0 * u)


def model_of(mesh, E, nu, thickness, density=0.0, expansion=0.0, **options):
    model = Model(3)
    model.material("m", E=E, nu=nu, density=density, expansion=expansion)
    model.mesh("s", mesh)
    model.shells("shell", on="s", material="m", thickness=thickness, **options)
    return model


def shares(model, edge):
    """Nodes of an edge of equal elements, and their shares of an even load."""
    mesh = model.meshes["s"][0]
    nodes = mesh.node_sets[edge]
    found = np.zeros(len(nodes))
    if mesh.blocks[0].kind in LINEAR:
        found[:-1] += 0.5 / (len(nodes) - 1)
        found[1:] += 0.5 / (len(nodes) - 1)
    else:
        for i in range(0, len(nodes) - 1, 2):
            found[i : i + 3] += np.array((1.0, 4.0, 1.0)) / 3.0 / (len(nodes) - 1)
    return zip(nodes, found, strict=True)


def edge_force(model, edge, vector):
    for node, part in shares(model, edge):
        model.force(f"F{node}", int(node), tuple(part * np.array(vector)))


def edge_moment(model, edge, vector):
    for node, part in shares(model, edge):
        model.moment(f"M{node}", int(node), tuple(part * np.array(vector)))


def moved(model, on, component):
    """Displacement of a node in a linear static step."""
    model.sensor("u", "displacement", on=on)
    model.linear_static_step()
    return solve(model).sensor("u").values[-1]["xyz".index(component)]


def linear_of(model):
    compiled = compile_model(model)
    return Linearised(compiled, compiled.system.initial_state(), 0.0, Loading(compiled))


def last(results, key):
    return np.asarray(results.steps[-1].frames[key])[-1]
