"""Small reduced parts for tests: Craig and Bampton's reduction of free models by dense algebra."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from fem_mbs import Model
from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.analysis.loading import Loading
from fem_mbs.analysis.reduction.invariants import moments
from fem_mbs.parts.part import COMPONENTS, Interface, ReducedPart

STEEL = {"E": 2.1e11, "nu": 0.3, "density": 7850.0}


def reduced(model: Model, interfaces: dict[str, str], modes: int | None = None, **fields) -> ReducedPart:
    """A free model without joints in the motions of some nodes and in modes with these held (None: all of them)."""
    compiled = model.compile(stepping=False)
    linear = Linearised(compiled, compiled.system.initial_state(), 0.0, Loading(compiled))
    system, dim = compiled.system, model.dimension
    first = system.first_multiplier
    K = linear.tangent[:first][:, :first].toarray()
    M = linear.mass_matrix[:first][:, :first].toarray()
    K, M = 0.5 * (K + K.T), 0.5 * (M + M.T)
    nodes = {name: model.node_of(place) for name, place in interfaces.items()}
    b = np.concatenate([np.arange(system.offset[i], system.offset[i + 1]) for i in nodes.values()])
    inner = np.setdiff1d(np.arange(first), b)
    count = inner.size if modes is None else modes
    T = np.zeros((first, b.size + count))
    T[b, np.arange(b.size)] = 1.0
    squares = np.zeros(count)
    if inner.size:
        Kii = K[np.ix_(inner, inner)]
        squares, T[inner, b.size :] = eigh(Kii, M[np.ix_(inner, inner)], subset_by_index=(0, count - 1))
        T[inner, : b.size] = -np.linalg.solve(Kii, K[np.ix_(inner, b)])
    boundary = np.eye(b.size, b.size + count)
    full = 3 * (dim - 1)
    rigid = np.zeros((first, full))
    x = system.nodes.x
    for node in range(len(x)):
        d = system.offset[node]
        rigid[d : d + dim, :dim] = np.eye(dim)
        if dim == 2:
            rigid[d : d + 2, 2] = -x[node, 1], x[node, 0]
        else:
            rigid[d : d + 3, 3:] = np.cross(np.eye(3), x[node]).T
        if system.nodes.rotational[node]:
            rigid[d + dim : d + full, dim:] = np.eye(full - dim)
    at = np.linalg.lstsq(T, rigid, rcond=None)[0]
    ways = np.zeros((first, dim))
    for i in range(dim):
        ways[system.offset[:-1] + i, i] = 1.0
    return ReducedPart(
        name="part", dimension=dim, method="craig_bampton",
        interfaces=tuple(
            Interface(name, x[i], COMPONENTS[dim][: system.offset[i + 1] - system.offset[i]], np.array([i]))
            for name, i in nodes.items()
        ),
        stiffness=T.T @ K @ T, mass=T.T @ M @ T, boundary=boundary, rigid=at, gravity=T.T @ M @ ways,
        origin=np.zeros(dim), frequencies=np.sqrt(squares) / (2 * np.pi), moments=moments(linear, T), **fields,
    )  # fmt: skip


def beam(n=4, length=1.0, dimension=3, kind="strains", start=None, direction=None, width=0.02, height=0.01) -> Model:
    """A free beam along x (or a direction) from the origin (or a start)."""
    m = Model(dimension=dimension)
    m.material("steel", **STEEL)
    m.section("bar", "rectangle", width=width, height=height)
    a = np.zeros(dimension) if start is None else np.asarray(start, float)
    d = np.eye(dimension)[0] if direction is None else np.asarray(direction, float)
    m.line("rod", a, a + length * d, n=n)
    up = {"orientation": (0.0, 0.0, 1.0)} if dimension == 3 else {}
    m.beams("rod", on="rod", section="bar", material="steel", **up)
    return m
