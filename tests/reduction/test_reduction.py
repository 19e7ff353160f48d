"""Reduction of parts: bases of the solvers, interfaces of models, error estimates, files, the command."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import flexible_parts
import h5py
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from solid_meshes import box_mesh

from fem_mbs import (
    AnalysisError,
    InputError,
    Model,
    ModelError,
    ResultsError,
    read_part,
    reduce_part,
    solve,
    write_part,
)
from fem_mbs.analysis.reduction.quality import free_modes_of
from fem_mbs.analysis.reduction.reduce import METHODS
from fem_mbs.solvers.linear.libraries import NotPositiveDefinite
from fem_mbs.solvers.reduction.fixed_interface import fixed_interface
from fem_mbs.solvers.reduction.free_interface import free_interface
from fem_mbs.solvers.reduction.interface_bases import FREE_METHODS, free_basis, herting_basis

SIZE = (1.0, 0.2, 0.15)
ENDS = {"left": "bar:x0", "right": "bar:x1"}


def solid(counts=(5, 1, 1), cell="hexahedron20", **options) -> Model:
    model = Model(3, title="bar")
    model.mesh("bar", box_mesh(cell, counts, SIZE))
    model.material("steel", E=2.1e11, nu=0.3, density=7800.0)
    model.solids("bar", on="bar", material="steel", **options)
    return model


def plane(**options) -> Model:
    model = Model(2, title="plate")
    model.mesh("bar", box_mesh("quad8", (8, 2), (1.0, 0.2)))
    model.material("steel", E=2.1e11, nu=0.3, density=7800.0)
    model.planes("bar", on="bar", material="steel", thickness=0.01, **options)
    return model


def beam(dimension=3) -> Model:
    model = Model(dimension, title="beam")
    model.material("steel", E=2.1e11, nu=0.3, density=7800.0)
    model.section("rod", "rectangle", width=0.02, height=0.03)
    model.line("bar", np.zeros(dimension), np.eye(dimension)[0], 20)
    frame = {} if dimension == 2 else {"orientation": (0.0, 0.0, 1.0)}
    model.beams("bar", "bar", "rod", "steel", **frame)
    return model


def hertz(model: Model, count: int, rigid: int = 0) -> np.ndarray:
    """Lowest elastic frequencies of a whole model."""
    model.modes_step(count=count + rigid)
    return np.array(solve(model).steps[-1].summary["frequencies_hz"])[rigid:]


def reduced_hertz(part, count: int) -> np.ndarray:
    r = part.rigid.shape[1]
    values = free_modes_of(part.stiffness, part.mass, part.rigid)[0]
    return np.sqrt(np.maximum(values[r : r + count], 0.0)) / (2.0 * np.pi)


def within_estimates(part, exact: np.ndarray) -> None:
    """Frequencies are too high by no more than was estimated, which is little."""
    bounds = np.array([row["relative_error"] for row in part.info["accuracy"][: exact.size]])
    errors = reduced_hertz(part, exact.size) / exact - 1.0
    assert bounds.max() < 1e-3
    assert (errors > -1e-9).all()
    assert (errors < 1.01 * bounds + 1e-9).all()


@pytest.fixture(scope="module")
def chain():
    """K, M of 12 masses between springs, free, with a full mass matrix; two ends and the middle for boundary."""
    rng = np.random.default_rng(3)
    n = 12
    k = rng.uniform(1.0, 3.0, n - 1)
    K = np.diag(np.append(k, 0.0)) + np.diag(np.append(0.0, k)) - np.diag(k, 1) - np.diag(k, -1)
    M = np.diag(rng.uniform(1.0, 2.0, n)) + 0.2 * (np.eye(n, k=1) + np.eye(n, k=-1))
    return K, M, np.array([11, 0, 5])


# --- solvers ---------------------------------------------------------------------------------------------------------
def test_reduced_matrices_are_those_of_the_basis(chain):
    K, M, b = chain
    found = fixed_interface(K, M, b, count=4)
    T = found.basis
    assert found.stiffness == pytest.approx(T.T @ K @ T, abs=1e-13)
    assert found.mass == pytest.approx(T.T @ M @ T, abs=1e-13)
    assert np.array_equal(found.stiffness, found.stiffness.T)
    assert np.array_equal(found.mass, found.mass.T)
    assert np.array_equal(found.stiffness[:3, 3:], np.zeros((3, 4)))
    inner = np.setdiff1d(np.arange(12), b)
    exact = scipy.linalg.eigh(K[np.ix_(inner, inner)], M[np.ix_(inner, inner)], eigvals_only=True)
    assert found.values == pytest.approx(exact[:4], rel=1e-12)


def test_a_cut_off_keeps_what_a_count_does(chain):
    K, M, b = chain
    every = fixed_interface(K, M, b, count=9)
    cutoff = 0.5 * (every.values[3] + every.values[4])
    for check in ("probe", "inertia"):
        found = fixed_interface(K, M, b, cutoff=cutoff, check=check)
        assert found.values == pytest.approx(every.values[:4], rel=1e-12)
        assert found.complete == (check == "inertia")
    assert fixed_interface(K, M, b, cutoff=cutoff, count=2).values.size == 2


def test_a_counted_cut_off_of_a_larger_part():
    """Above the size of dense solutions, with copies of modes: the bar has a square section."""
    model = Model(3)
    model.mesh("bar", box_mesh("hexahedron20", (8, 1, 1), (1.0, 0.1, 0.1)))
    model.material("steel", E=2.1e11, nu=0.3, density=7800.0)
    model.solids("bar", on="bar", material="steel")
    every = reduce_part(model, ENDS, modes=16)
    assert every.info["dofs"] > 300
    assert every.frequencies[0] == pytest.approx(every.frequencies[1], rel=1e-6)
    found = reduce_part(model, ENDS, cutoff=0.5 * (every.frequencies[10] + every.frequencies[11]))
    assert found.info["complete"]
    assert found.frequencies == pytest.approx(every.frequencies[:11], rel=1e-9)
    nothing = reduce_part(model, ENDS, cutoff=0.5 * every.frequencies[0])
    assert nothing.size == 12
    assert nothing.info["complete"]


def test_everything_or_nothing_in_the_boundary(chain):
    K, M, _ = chain
    whole = fixed_interface(K, M, np.arange(12)[::-1], count=3)
    assert np.array_equal(whole.stiffness, K[::-1, ::-1])
    assert np.array_equal(whole.mass, M[::-1, ::-1])
    with pytest.raises(NotPositiveDefinite):
        fixed_interface(K, M, np.zeros(0, int), count=3)


def test_rigid_motions_strain_nothing(chain):
    K, M, b = chain
    found = fixed_interface(K, M, b, count=2, rigid=np.ones((12, 1)))
    motion = np.array([1.0, 1.0, 1.0, 0.0, 0.0])
    assert np.abs(found.stiffness @ motion).max() < 1e-15
    assert motion @ found.mass @ motion == pytest.approx(M.sum(), rel=1e-14)
    assert found.static.sum(axis=1) == pytest.approx(np.ones(9), abs=1e-14)


@pytest.mark.parametrize("method", FREE_METHODS)
def test_free_bases(chain, method):
    """Boundary coordinates are the boundary's motions; K and M are those of the basis, MacNeal's M without residual."""
    K, M, b = chain
    modes = free_interface(K, M, b, count=3)
    basis = free_basis(method, M, b, modes)
    assert np.array_equal(basis.T[b], np.eye(3, 7))
    assert basis.stiffness == pytest.approx(basis.T.T @ K @ basis.T, abs=1e-12)
    whole = basis.T.T @ M @ basis.T
    if method == "macneal":
        Psi = modes.attachments @ np.linalg.inv(modes.flexibility) @ np.column_stack((np.eye(3), -modes.shapes[b]))
        whole -= Psi.T @ M @ Psi
    assert basis.mass == pytest.approx(whole, abs=1e-12)
    assert basis.T @ basis.rigid == pytest.approx(modes.rigid, abs=1e-13)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), n=st.integers(8, 40), b=st.integers(1, 4), k=st.integers(1, 3), held=st.booleans())
def test_static_answers_of_random_parts(seed, n, b, k, held):
    """Forces at the boundary move the boundary of a held part as they do in the full one, by every method."""
    rng = np.random.default_rng(seed)
    K = np.zeros((n, n))
    for i in range(1, n):  # a tree of springs, and some more
        for j in {int(rng.integers(0, i)), int(rng.integers(0, n))} - {i}:
            e = np.zeros(n)
            e[i], e[j] = 1.0, -1.0
            K += 10.0 ** rng.uniform(-1.0, 1.0) * np.outer(e, e)
    if held:
        K[n - 1, n - 1] += 2.0
    A = rng.standard_normal((n, n))
    M = np.eye(n) + 0.1 * A @ A.T / n
    boundary = rng.permutation(n)[:b]
    modes = free_interface(K, M, boundary, count=min(k, n - b - 2))
    fixed = fixed_interface(K, M, boundary)
    bases = [free_basis(method, M, boundary, modes) for method in FREE_METHODS]
    bases.append(herting_basis(csr_matrix(K), csr_matrix(M), fixed, modes))
    r = modes.rigid.shape[1]
    assert r == (0 if held else 1)
    forces = np.eye(n)[:, boundary]
    if not held:  # in balance with the inertia of the rigid-body motion
        forces = forces - M @ modes.rigid @ (modes.rigid.T @ forces)
    exact = np.linalg.pinv(K, rcond=1e-10, hermitian=True) @ forces
    size = np.abs(exact).max()
    for basis in bases:
        p = np.linalg.pinv(basis.stiffness, rcond=1e-10, hermitian=True) @ (basis.T.T @ forces)
        u = basis.T @ p
        gap = u - exact
        if not held:  # but for a rigid-body motion
            gap = gap - modes.rigid @ np.linalg.lstsq(modes.rigid, gap, rcond=None)[0]
        assert np.abs(gap).max() < 1e-7 * size


def test_no_attachment_mode_left(chain):
    K, M, b = chain
    with pytest.raises(AnalysisError, match="keep fewer modes"):
        free_basis("rubin", M, b, free_interface(K, M, b, count=11))


# --- parts -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["rigid", "average"])
@pytest.mark.parametrize("method", METHODS)
def test_free_solid(kind, method):
    """Rigid-body motions are exact, mass and inertia those of the box, elastic modes near those of the full part."""
    model = solid()
    options = {} if method == "guyan" else {"modes": 14}
    part = reduce_part(
        model, {k: {"on": v, "kind": kind} for k, v in ENDS.items()}, method, origin=(0.3, 0, 0), **options
    )
    K, M, R = part.stiffness, part.mass, part.rigid
    assert np.array_equal(K, K.T)
    assert np.array_equal(M, M.T)
    assert R.shape == (part.size, 6)
    assert np.abs(K @ R).max() < 1e-13 * np.abs(K).max()
    m = 7800.0 * np.prod(SIZE)
    a, b, c = SIZE
    center = np.array([0.2, b / 2, c / 2])
    J = m / 12.0 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    J += m * (center @ center * np.eye(3) - np.outer(center, center))
    assert (R.T @ M @ R)[:3, :3] == pytest.approx(m * np.eye(3), abs=1e-9 * m)
    assert (R.T @ M @ R)[3:, 3:] == pytest.approx(J, abs=1e-9 * m)
    assert part.info["center"] == pytest.approx([0.5, b / 2, c / 2], abs=1e-12)
    assert np.diag(part.info["inertia"]) == pytest.approx(
        m / 12.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    )
    assert part.gravity == pytest.approx(M @ R[:, :3], abs=1e-9 * m)
    x = [np.array(i.position) - (0.3, 0, 0) for i in part.interfaces]
    expected = np.concatenate([np.block([[np.eye(3), -_tilde(r)], [np.zeros((3, 3)), np.eye(3)]]) for r in x])
    assert part.boundary @ R == pytest.approx(expected, abs=1e-12)
    nodes = part.recovery.x - (0.3, 0, 0)
    moved = np.einsum("nik,kr->nir", part.recovery.displacement, R)
    assert moved[:, :, :3] == pytest.approx(np.tile(np.eye(3), (len(nodes), 1, 1)), abs=1e-11)
    assert moved[:, :, 3:] == pytest.approx(-np.array([_tilde(r) for r in nodes]), abs=1e-11)
    if method != "guyan":
        full = _tied(kind)
        assert reduced_hertz(part, 3) == pytest.approx(full[:3], rel=5e-3 if method == "craig_bampton" else 2e-6)


def _tilde(r):
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


_TIED: dict[str, np.ndarray] = {}


def _tied(kind: str) -> np.ndarray:
    """Frequencies of the whole part, its ends made rigid by couplings or not."""
    if kind not in _TIED:
        model = solid()
        if kind == "rigid":
            for name, place in ENDS.items():
                model.node(name, model.positions[model.nodes_of(place)].mean(axis=0))
                model.coupling(f"tie {name}", name, place)
        _TIED[kind] = hertz(model, 6, 6)
    return _TIED[kind]


@pytest.mark.parametrize("kind", ["rigid", "average"])
def test_all_modes_make_it_exact(kind):
    model = solid((3, 1, 1))
    full = solid((3, 1, 1))
    if kind == "rigid":
        for name, place in ENDS.items():
            full.node(name, full.positions[full.nodes_of(place)].mean(axis=0))
            full.coupling(f"tie {name}", name, place)
    part = reduce_part(model, {k: {"on": v, "kind": kind} for k, v in ENDS.items()}, modes=10_000)
    assert part.size == part.info["dofs"] - (36 if kind == "rigid" else 0)
    assert reduced_hertz(part, 20) == pytest.approx(hertz(full, 20, 6), rel=1e-10)


def test_convergence_with_the_cut_off():
    model = plane()
    ends = {k: {"on": v, "kind": "average"} for k, v in ENDS.items()}
    errors = []
    exact = hertz(plane(), 4, 3)
    for cutoff in (3e3, 8e3, 2e4, 6e4):
        part = reduce_part(model, ends, cutoff=cutoff)
        assert part.info["complete"]
        assert part.frequencies.max() <= cutoff
        errors.append(reduced_hertz(part, 4) / exact - 1.0)
    errors = np.array(errors)
    assert (errors > -1e-10).all()
    assert (np.diff(errors, axis=0) < 0.0).all()
    assert errors[-1].max() < 1e-4 * errors[0].max()


def test_error_estimates():
    """Within a quarter of the true errors, or above them, for all methods but MacNeal's, which is no Ritz method."""
    exact = _tied("average")
    for method, modes in (("craig_bampton", 14), ("rubin", 1), ("craig_chang", 1), ("herting", 2)):
        part = reduce_part(solid(), {k: {"on": v, "kind": "average"} for k, v in ENDS.items()}, method, modes=modes)
        for row, f in zip(part.info["accuracy"][:4], exact, strict=False):
            true = row["frequency_hz"] / f - 1.0
            assert row["relative_error"] > 0.75 * true
            if 1e-8 < true < 1e-2 and np.isfinite(row["relative_error"]):
                assert row["relative_error"] < 3.0 * true


def test_modes_by_participation():
    every = reduce_part(solid(), ENDS, modes=30)
    part = reduce_part(solid(), ENDS, modes=30, participation=0.01)
    keep = every.info["shares"] >= 0.01
    assert 3 < part.frequencies.size < 30
    assert part.frequencies == pytest.approx(every.frequencies[keep], rel=1e-9)
    assert part.info["effective_mass"] == pytest.approx(every.info["effective_mass"], abs=0.05)
    shares = reduce_part(solid(), ENDS, "rubin", modes=8).info["shares"]
    free = reduce_part(solid(), ENDS, "rubin", modes=8, participation=np.sort(shares)[4])
    assert free.frequencies.size == 4
    assert reduced_hertz(free, 1) == pytest.approx(_tied("rigid")[:1], rel=1e-3)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("method", ["craig_bampton", "rubin", "herting"])
def test_beam_held_at_one_end(dimension, method):
    model = beam(dimension)
    model.fix("bar:start")
    part = reduce_part(model, {"tip": "bar:end"}, method, modes=8)
    assert part.rigid.shape == (part.size, 0)
    assert part.interfaces[0].components == (
        ("x", "y", "rotation") if dimension == 2 else ("x", "y", "z", "rx", "ry", "rz")
    )
    full = beam(dimension)
    full.fix("bar:start")
    within_estimates(part, hertz(full, 3))


def test_static_answer_is_exact():
    """Of a force and a moment at the tip, by the interface's coordinates alone."""
    model = beam(3)
    model.fix("bar:start")
    force = np.array([10.0, -5.0, 7.0, 0.3, -0.2, 0.1])
    part = reduce_part(model, {"tip": "bar:end"}, "guyan")
    p = np.linalg.solve(part.stiffness, part.boundary.T @ force)
    model.force("force", "bar:end", force[:3])
    model.moment("moment", "bar:end", force[3:])
    model.linear_static_step()
    expected = solve(model).steps[0].frames["displacement"][-1]
    # inner nodes carry no loads, so that constraint modes give them exactly
    assert part.recovery.displacement @ p == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


def test_pinned_beam_turns_about_its_pin():
    model = beam(2)
    model.fix("bar:start", ["x", "y"])
    part = reduce_part(model, {"tip": "bar:end", "root": "bar:start"})
    assert part.interfaces[1].components == ("rotation",)
    assert part.rigid.shape == (part.size, 1)
    v = part.boundary @ part.rigid[:, 0]
    assert v / v[2] == pytest.approx([0.0, 1.0, 1.0, 1.0], abs=1e-12)
    assert np.abs(v).max() == pytest.approx(1.0, abs=1e-12)
    assert np.abs(part.stiffness @ part.rigid).max() < 1e-12 * np.abs(part.stiffness).max()


def test_average_interface_is_the_mean():
    """x = B u, and a force on x acts like one on a distributing coupling."""
    model = solid()
    weights = np.random.default_rng(1).uniform(0.5, 1.0, model.nodes_of("bar:x1").size)
    ends = {
        "left": "bar:x0",
        "right": {"on": "bar:x1", "kind": "average", "point": (1.1, 0.05, 0.1), "weights": weights},
    }
    part = reduce_part(model, ends, modes=12)
    nodes = part.interfaces[1].nodes
    u = part.recovery.displacement[nodes]
    w = weights / weights.sum()
    x = part.recovery.x[nodes]
    s = x - w @ x
    inertia = sum(wi * (si @ si * np.eye(3) - np.outer(si, si)) for wi, si in zip(w, s, strict=True))
    theta = np.linalg.solve(inertia, np.einsum("n,nik->ik", w, np.cross(s[:, :, None], u, axis=1)))
    place = np.einsum("n,nik->ik", w, u) + np.cross(theta, np.array([1.1, 0.05, 0.1]) - w @ x, axis=0)
    assert part.boundary[6:9] == pytest.approx(place, abs=1e-11)
    assert part.boundary[9:] == pytest.approx(theta, abs=1e-10)
    full = solid()
    full.fix("bar:x0")
    full.node("P", (1.1, 0.05, 0.1))
    full.coupling("mean", "P", "bar:x1", "distributing", weights=weights)
    full.force("load", "P", (0.0, 1000.0, 300.0))
    full.linear_static_step()
    expected = solve(full).steps[0].frames["displacement"][-1][: len(part.recovery.x)]
    p = np.zeros(part.size)
    p[6:] = np.linalg.solve(part.stiffness[6:, 6:], part.boundary[6:, 6:].T @ np.array([0, 1000.0, 300.0, 0, 0, 0]))
    assert part.recovery.displacement @ p == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("kind", ["node", "average"])
def test_interfaces_that_depend_on_others(kind):
    """The slave side of a tie between meshes that do not match is an interface like any other."""

    def tied():
        model = Model(2)
        model.material("steel", E=2.1e11, nu=0.3, density=7800.0)
        for name, counts, x in (("bar", (4, 2), 0.0), ("tip", (4, 3), 1.0)):
            model.mesh(name, box_mesh("quad8", counts, (1.0, 0.2), place=(x, 0.0)))
            model.planes(name, on=name, material="steel", thickness=0.01)
        model.tie("tie", "tip:x0", "bar:x1 faces")
        model.fix("bar:x0")
        return model

    model = tied()
    nodes = model.nodes_of("tip:x0")
    place = {"on": "tip:x0", "kind": "average"} if kind == "average" else int(nodes[2])
    part = reduce_part(model, {"middle": place}, modes=12)
    u = part.recovery.displacement[nodes]
    moved = u.mean(axis=0) if kind == "average" else u[2]
    assert part.boundary[:2] == pytest.approx(moved, abs=1e-11)
    within_estimates(part, hertz(tied(), 3))


def test_reference_node_of_a_coupling():
    """A coupling of the model and an interface that ties the same nodes are one and the same."""
    model = solid()
    for name, place in ENDS.items():
        model.node(name, model.positions[model.nodes_of(place)].mean(axis=0))
        model.coupling(f"tie {name}", name, place)
    part = reduce_part(model, {"left": "left", "right": "right"}, modes=5)
    tied = reduce_part(solid(), ENDS, modes=5)
    b = slice(0, 12)
    scale = np.sqrt(np.outer(np.diag(tied.stiffness)[b], np.diag(tied.stiffness)[b]))
    assert part.stiffness[b, b] / scale == pytest.approx(tied.stiffness[b, b] / scale, abs=1e-9)
    assert part.mass[b, b] == pytest.approx(tied.mass[b, b], abs=1e-9 * np.abs(tied.mass).max())
    assert part.frequencies == pytest.approx(tied.frequencies, rel=1e-9)
    with pytest.raises(ModelError, match="depends on others by a constraint"):
        reduce_part(model, {"left": "bar:x0"})


def test_axisymmetric_part_has_one_rigid_motion():
    model = Model(2)
    model.mesh("bar", box_mesh("quad8", (2, 6), (0.1, 1.0), place=(0.2, 0.0)))
    model.material("steel", E=2.1e11, nu=0.3, density=7800.0)
    model.planes("bar", on="bar", material="steel", state="axisymmetric")
    ends = {k: {"on": f"bar:{k}", "kind": "average", "components": ["y"]} for k in ("y0", "y1")}
    part = reduce_part(model, ends, modes=6)
    assert part.rigid.shape == (8, 1)
    assert part.boundary @ part.rigid == pytest.approx(np.ones((2, 1)), abs=1e-12)
    assert part.moments is None
    assert part.info["mass"] == pytest.approx(7800.0 * np.pi * (0.3**2 - 0.2**2), rel=1e-9)
    assert read_part_of(plane()).moments.mass == pytest.approx(7800.0 * 0.002, rel=1e-9)


def test_soft_ground_is_no_freedom():
    """Springs of a billionth of the part's stiffness still hold it."""
    model = plane()
    model.nodal_spring("left", "bar:x0", "y", 1.0)
    model.nodal_spring("right", "bar:x1", "y", 1.0)
    part = reduce_part(model, ENDS, modes=2)
    assert part.rigid.shape[1] == 1
    assert (part.boundary @ part.rigid)[:, 0] == pytest.approx([1.0, 0.0, 0.0] * 2, abs=1e-9)


def test_an_unstable_state_and_loose_interfaces():
    """A strut pressed beyond its buckling load has a negative stiffness at its interface; a hinge has none."""
    model = beam(2)
    model.fix("bar:start")
    model.force("press", "bar:end", (-30000.0, 0.0))
    model.static_step()
    part = reduce_part(model, {"tip": "bar:end"}, state="end", modes=3)
    values, _ = free_modes_of(part.stiffness, part.mass)
    assert values[0] < 0.0 < values[1]
    assert part.info["accuracy"][0]["relative_error"] == np.inf
    loose = beam(2)
    loose.fix("bar:start")
    loose.body("tip", (1.0, 0.0), mass=1.0, inertia=0.1)
    loose.joint("hinge", "pin", "bar:end", "tip")
    part = reduce_part(loose, {"tip": "tip"}, modes=3)
    assert np.abs(np.linalg.eigvalsh(part.stiffness)).min() < 1e-9 * np.abs(part.stiffness).max()


def test_interface_of_a_node_without_rotation_is_loose():
    with pytest.raises(AnalysisError, match="interfaces are held"):
        reduce_part(solid(), {"corner": 0})
    part = reduce_part(solid(), {"corner": 0}, "rubin", modes=5)
    assert part.size == 3 + 6 + 5
    assert reduced_hertz(part, 2) == pytest.approx(_tied("average")[:2], rel=1e-3)


def test_loads_and_damping():
    model = solid(damping=1e-5, mass_damping=0.7)
    model.force("push", "bar:x1", (0.0, 2.0, 0.0), function=5.0)
    part = reduce_part(model, ENDS, modes=6)
    count = model.nodes_of("bar:x1").size
    assert part.loads["push"] == pytest.approx(part.boundary[7] * 2.0 * count, abs=1e-9)
    assert part.damping == pytest.approx(
        1e-5 * part.stiffness + 0.7 * part.mass, rel=1e-9, abs=1e-6 * np.abs(part.damping).max()
    )
    given = reduce_part(solid(), ENDS, modes=6, damping={"alpha": 0.7, "beta": 1e-5})
    assert given.damping == pytest.approx(part.damping, rel=1e-6, abs=1e-6 * np.abs(part.damping).max())
    assert reduce_part(solid(), ENDS, modes=6).damping is None
    modal = reduce_part(solid(), ENDS, modes=6, damping=[0.01, 0.03])
    values, P = free_modes_of(modal.stiffness, modal.mass, modal.rigid)
    D = P.T @ modal.damping @ P
    w = np.sqrt(np.maximum(values, 0.0))
    ratios = np.concatenate((np.zeros(6), [0.01], np.full(w.size - 7, 0.03)))
    assert np.diag(D) == pytest.approx(2.0 * ratios * w, abs=1e-8 * w.max())
    assert D - np.diag(np.diag(D)) == pytest.approx(np.zeros_like(D), abs=1e-9 * w.max())


def test_orthonormal_coordinates():
    raw = reduce_part(solid(), ENDS, modes=8, damping=0.02)
    part = reduce_part(solid(), ENDS, modes=8, damping=0.02, orthonormal=True)
    assert np.array_equal(part.mass, np.eye(20))
    assert np.array_equal(part.stiffness, np.diag(np.diag(part.stiffness)))
    assert np.array_equal(np.diag(part.stiffness)[:6], np.zeros(6))
    assert np.sqrt(np.diag(part.stiffness)[6:]) / (2.0 * np.pi) == pytest.approx(reduced_hertz(raw, 14), rel=1e-9)
    assert np.array_equal(part.rigid[6:], np.zeros((14, 6)))
    assert part.boundary @ part.rigid == pytest.approx(raw.boundary @ raw.rigid, abs=1e-10)
    assert part.gravity == pytest.approx(part.rigid[:, :3], abs=1e-8 * np.abs(part.gravity).max())
    with pytest.raises(AnalysisError, match="without mass"):
        reduce_part(solid(), ENDS, "macneal", modes=8, orthonormal=True)


def test_released_supports():
    model = solid()
    model.fix("bar:x0")
    with pytest.raises(ModelError, match="held by a support"):
        reduce_part(model, ENDS)
    part = reduce_part(model, ENDS, release=True)
    assert part.rigid.shape[1] == 6
    assert len(model.building.fixed) > 0
    assert part.stiffness == pytest.approx(reduce_part(solid(), ENDS).stiffness, rel=1e-9)


def test_prestressed_part():
    """Modes of a beam under tension, reduced about the end of its steps."""

    def stretched():
        model = beam(2)
        model.fix("bar:start")
        model.force("pull", "bar:end", (20000.0, 0.0))
        model.static_step()
        return model

    part = reduce_part(stretched(), {"tip": "bar:end"}, state="end", modes=6)
    slack = reduce_part(stretched(), {"tip": "bar:end"}, modes=6)
    full = stretched()
    assert reduced_hertz(part, 2) == pytest.approx(hertz(full, 2), rel=1e-4)
    assert reduced_hertz(part, 1)[0] > 1.2 * reduced_hertz(slack, 1)[0]


@pytest.mark.parametrize(
    ("interfaces", "options", "message"),
    [
        ({}, {}, "at least one"),
        ({"a": "bar:nowhere"}, {}, "nowhere"),
        ({"a": {"on": "bar:x0", "kind": "stiff"}}, {}, "must be one of node, rigid, average"),
        ({"a": {"on": "bar:x0", "kind": "node"}}, {}, "tie them"),
        ({"a": {"on": 0, "kind": "rigid"}}, {}, "one node"),
        ({"a": {"on": "bar:x0", "how": 1}}, {}, 'unknown key "how"'),
        ({"a": {"on": "bar:x0", "components": ["x"]}}, {}, 'take kind = "average"'),
        ({"a": {"on": 0, "components": ["rx"]}}, {}, "has no rotation"),
        ({"a": "bar:x0", "b": {"on": "bar:x0", "kind": "average"}}, {}, "shares"),
        ({"a": [0, 1]}, {}, "stand in a line"),
        ({"a": {"on": [0, 1], "kind": "average"}}, {}, "in a line"),
        ({"a": {"on": "bar:x0", "weights": [1.0]}}, {}, "weights belong"),
        ({"a": {"on": "bar:x0", "kind": "average", "weights": [1.0]}}, {}, "one per node"),
        (ENDS, {"method": "hurty"}, "must be one of guyan"),
        (ENDS, {"modes": -1}, "whole number"),
        (ENDS, {"cutoff": 0.0}, "positive frequency"),
        (ENDS, {"participation": 2.0}, "share between"),
        (ENDS, {"method": "guyan", "modes": 3}, "has no modes"),
        (ENDS, {"damping": -0.1}, "not negative"),
        (ENDS, {"damping": {"gamma": 1.0}}, "alpha"),
        (ENDS, {"state": "middle"}, '"start" or "end"'),
        (ENDS, {"check": "sure"}, "none, probe, inertia"),
    ],
)
def test_wrong_input(interfaces, options, message):
    with pytest.raises(InputError, match=message):
        reduce_part(solid((2, 1, 1), "hexahedron"), interfaces, **options)


# --- files -----------------------------------------------------------------------------------------------------------
def same(a, b) -> None:
    """Equal to the last bit, all the way down."""
    assert type(a) is type(b) or isinstance(a, (float, int))
    if dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            same(getattr(a, field.name), getattr(b, field.name))
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert np.array_equal(a, b)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    else:
        assert a == b or (a != a and b != b)


def test_file_round_trip(tmp_path):
    model = solid(damping=1e-5)
    model.force("push / pull", "bar:x1", (0.0, 2.0, 0.0))
    part = reduce_part(model, {"left/right": "bar:x0", "µ": {"on": "bar:x1", "kind": "average"}}, modes=4)
    part = dataclasses.replace(part, stiffening={"wx2": part.stiffness * 0.1, "µ.x": part.mass})
    same(part, read_part(write_part(tmp_path / "part.h5", part)))
    bare = dataclasses.replace(part, damping=None, recovery=None, moments=None, loads={}, stiffening={}, info={})
    same(bare, read_part(write_part(tmp_path / "part.h5", bare)))
    assert [p.name for p in tmp_path.iterdir()] == ["part.h5"]


def test_files_that_are_none(tmp_path):
    path = tmp_path / "part.h5"
    with pytest.raises(ResultsError, match="no such file"):
        read_part(path)
    path.write_text("text")
    with pytest.raises(ResultsError, match="no HDF5 file"):
        read_part(path)
    with h5py.File(path, "w") as file:
        file.attrs["format"] = "other"
    with pytest.raises(ResultsError, match="no reduced part"):
        read_part(path)
    write_part(path, reduce_part(plane(), ENDS, modes=2))
    with h5py.File(path, "a") as file:
        file.attrs["version"] = 2
    with pytest.raises(ResultsError, match="version 2 is newer than 1"):
        read_part(path)
    with h5py.File(path, "a") as file:
        file.attrs["version"] = 1
        del file["mass"]
    with pytest.raises(ResultsError, match="damaged"):
        read_part(path)
    with pytest.raises(ResultsError, match="cannot be written"):
        write_part(tmp_path / "nowhere" / "part.h5", read_part_of(plane()))


_DAMAGE = """
import random, sys
from pathlib import Path
import numpy as np
from fem_mbs.errors import ResultsError
from fem_mbs.parts.hdf5 import read_part
path = Path(sys.argv[1])
whole, expected = path.read_bytes(), repr(read_part(path))
rng, refused = random.Random(3), 0
for trial in range(60):
    data = bytearray(whole)
    if trial % 4 == 0:
        data = data[: rng.randrange(len(data))]
    else:
        for _ in range(rng.choice((1, 4, 200))):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)
    try:
        assert repr(read_part(path)) == expected, "another part"
    except ResultsError:
        refused += 1
print(refused)
"""


def test_damaged_files(tmp_path):
    """No crash and no other part, whatever bits have changed."""
    path = write_part(tmp_path / "part.h5", reduce_part(plane(), ENDS, modes=2))
    command = [sys.executable, "-c", _DAMAGE, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 30


def read_part_of(model):
    return reduce_part(model, ENDS, modes=1)


@pytest.mark.parametrize("modes", [0, 10, 40, 80])
def test_herting_keeps_statics_with_many_modes(modes):
    """Free modes nearly contain the deflections by inertia forces; with what is left it is as exact as Rubin's."""
    whole = flexible_parts.beam(30)
    whole.fix("rod:start")
    whole.modes_step(4)
    exact = np.array(solve(whole).summary["steps"][0]["frequencies_hz"])
    errors = []
    for method in ("herting", "rubin"):
        part = reduce_part(flexible_parts.beam(30), {"left": "rod:start"}, method, modes=modes)
        m = Model(3)
        m.reduced_part("rod", part)
        m.fix("rod:left")
        m.modes_step(4)
        found = np.array(solve(m).summary["steps"][0]["frequencies_hz"])[: 4 if modes else 2]
        errors.append(np.abs(found / exact[: len(found)] - 1.0).max())
    assert errors[0] <= 1.01 * errors[1] + 1e-9
