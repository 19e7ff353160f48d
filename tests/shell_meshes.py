"""Grids of all four cells of shells with named edges, and models on them, for tests; meshes are those of the
validation."""

from __future__ import annotations

import numpy as np

from fem_mbs import Mesh, Model, solve
from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.analysis.loading import Loading
from fem_mbs.meshes.cells import match_facets
from fem_mbs.model.compiled import compile_model
from fem_mbs.validation.shell_grids import square

LINEAR, QUADRATIC = ("quad", "triangle"), ("quad8", "triangle6")
ALL = LINEAR + QUADRATIC


def grid(place, nx, ny, cell="quad", flip=False):
    """The mesh of `square` with all "edges" as a set of nodes, and the facets of the "right edge" and "left edge"."""
    mesh = square(place, nx, ny, cell, flip)
    sets = dict(mesh.node_sets)
    sets["edges"] = np.unique(np.concatenate([sets[name] for name in ("left", "right", "bottom", "top")]))
    facets = {}
    step = 1 if cell in LINEAR else 2  # corners alone tell a facet
    for edge in ("left", "right"):
        nodes = sets[edge][::step]
        table = [(0, block.kind, block.cells) for block in mesh.blocks]
        _, cells, numbers = match_facets(table, np.column_stack((nodes[:-1], nodes[1:])))
        facets[f"{edge} edge"] = [(0, cells, numbers)]
    blocks = [(cell, mesh.blocks[0].cells)]
    return Mesh(mesh.points, blocks, node_sets=sets, cell_sets=mesh.cell_sets, facet_sets=facets)


def flat(x, y):
    return lambda u, v: (x * u, y * v, 0 * u)


def model_of(mesh, E, nu, thickness, density=0.0, expansion=0.0, **options):
    model = Model(3)
    model.material("m", E=E, nu=nu, density=density, expansion=expansion)
    model.mesh("s", mesh)
    model.shells("shell", on="s", material="m", thickness=thickness, **options)
    return model


def support_simply(model):
    """Hold the edges of a plate across it, and against turning about the normals of these; the plane of the plate is
    free."""
    for edge, held in (("left", "x"), ("right", "x"), ("bottom", "y"), ("top", "y")):
        model.fix(f"s:{edge}", ["z", f"rotation {held}"])


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
