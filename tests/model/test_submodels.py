"""Submodels: details that follow the displacements of a whole model. References are closed forms: linear fields, rigid
motions, Kirsch's plate with a hole (Timoshenko & Goodier, Theory of Elasticity, 3rd ed., section 35)."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, ModelError, load_model, read_global_motion, run, solve
from fem_mbs.meshes.grids import box, rectangle, ring
from fem_mbs.meshes.mesh import Mesh
from fem_mbs.system.locating import locate

E, NU = 2.1e11, 0.3
SLOPE = np.array([[1.0, 0.3, 0.2], [0.1, -0.4, 0.5], [-0.2, 0.15, 0.6]]) * 1e-4
SIDES = [f"mesh:{side}" for side in ("left", "right", "front", "back", "bottom", "top")]


def solids(kind: str, n, start=(0.0, 0.0, 0.0), size=(1.0, 1.0, 1.0), shift: float = 0.0) -> Model:
    """A block whose inner corners are moved by up to ``shift`` of an element."""
    mesh = box(size, n, start=start, kind="tetra" if kind.startswith("tetra") else "hexahedron")
    x, inner = mesh.points.copy(), np.ones(len(mesh.points), bool)
    for i in range(3):
        inner &= (x[:, i] > x[:, i].min() + 1e-9) & (x[:, i] < x[:, i].max() - 1e-9)
    x[inner] += shift * np.array(size) / n * np.random.default_rng(3).uniform(-1.0, 1.0, (int(inner.sum()), 3))
    if kind not in ("tetra", "hexahedron"):
        mesh = box(size, n, start=start, kind=kind)
    else:
        mesh = Mesh(x, mesh.blocks, node_sets=mesh.node_sets, cell_sets=mesh.cell_sets, facet_sets=mesh.facet_sets)
    model = Model(3, title="block")
    model.mesh("mesh", mesh)
    model.material("steel", E=E, nu=NU, density=7800.0)
    model.solids("block", "mesh", "steel")
    return model


def hold(model: Model, nodes: np.ndarray, u: np.ndarray, besides: float = -1.0) -> None:
    """Give nodes (n,) displacements u (n, dim), but those of up to ``besides``, which supports hold."""
    at, component = np.nonzero(np.abs(u) > besides)
    model.equations("rim", np.arange(len(at)), nodes[at], component, np.ones(len(at)), u[at, component])


def outside(x: np.ndarray) -> np.ndarray:
    return np.flatnonzero(
        (np.abs(x - x.min(axis=0)) < 1e-9).any(axis=1) | (np.abs(x - x.max(axis=0)) < 1e-9).any(axis=1)
    )


@pytest.fixture(scope="module")
def patch():
    """Results of a distorted block under constant strain."""
    model = solids("hexahedron", (3, 3, 3), shift=0.3)
    rim = outside(model.positions)
    hold(model, rim, model.positions[rim] @ SLOPE.T)
    model.linear_static_step("pull")
    return solve(model)


@pytest.mark.parametrize("kind", ["hexahedron", "hexahedron20", "tetra10", "wedge15"])
def test_detail_of_a_patch_test(patch, kind):
    """Constant strain comes back to round-off, on meshes that do not match."""
    detail = solids(kind, (3, 2, 4), (0.21, 0.33, 0.12), (0.5, 0.31, 0.47), shift=0.2)
    detail.submodel("cut", SIDES, read_global_motion(patch))
    detail.linear_static_step("pull")
    u = np.asarray(solve(detail).steps[0].frames["displacement"][-1])
    np.testing.assert_allclose(u, detail.positions @ SLOPE.T, atol=1e-16)


@pytest.mark.parametrize("kind", ["hexahedron", "hexahedron20", "tetra", "tetra10", "wedge", "wedge15"])
def test_places_in_cells(kind):
    """Weights reproduce the points (isoparametric), and quadratic fields where the cells can."""
    mesh = box((1.0, 2.0, 1.5), (3, 2, 2), kind=kind)
    x = mesh.points + 0.08 * np.sin(3.0 * mesh.points[:, [1, 2, 0]])  # curved cells
    cells = [(block.kind, block.cells) for block in mesh.blocks]
    rng = np.random.default_rng(5)
    inside = rng.uniform(0.2, 0.8, (300, 3)) * (1.0, 2.0, 1.5)
    found = locate(inside, x, cells)
    assert not found.distance.any()
    np.testing.assert_allclose(np.einsum("pk,pkd->pd", found.weights, x[found.nodes]), inside, atol=1e-12)
    if kind in ("hexahedron20", "tetra10"):
        straight = locate(inside, mesh.points, cells)
        squares = (mesh.points**2)[straight.nodes]
        np.testing.assert_allclose(np.einsum("pk,pkd->pd", straight.weights, squares), inside**2, atol=1e-12)
    away = locate(np.array([[0.5, 1.0, 1.5 + 0.4]]), mesh.points, cells)
    assert away.distance[0] == pytest.approx(0.4) and away.weights.sum() == pytest.approx(1.0)


def kirsch(x: np.ndarray, a: float = 1.0, sigma: float = 1e6) -> np.ndarray:
    """Displacements (n, 2) of plane stress around a hole of radius a under tension along x."""
    r, t = np.hypot(x[:, 0], x[:, 1]), np.arctan2(x[:, 1], x[:, 0])
    G, k = E / (2.0 * (1.0 + NU)), (3.0 - NU) / (1.0 + NU)
    ux = (
        r / a * (k + 1) * np.cos(t)
        + 2 * a / r * ((1 + k) * np.cos(t) + np.cos(3 * t))
        - 2 * a**3 / r**3 * np.cos(3 * t)
    )
    uy = (
        r / a * (k - 3) * np.sin(t)
        + 2 * a / r * ((1 - k) * np.sin(t) + np.sin(3 * t))
        - 2 * a**3 / r**3 * np.sin(3 * t)
    )
    return sigma * a / (8.0 * G) * np.column_stack((ux, uy))


def plate(n: tuple[int, int], outer: float) -> Model:
    model = Model(2, title="plate")
    model.mesh("mesh", ring((1.0, outer), n, angles=(0.0, 90.0), kind="quad8"))
    model.material("steel", E=E, nu=NU, density=7800.0)
    model.planes("plate", "mesh", "steel", thickness=1.0)
    model.fix("mesh:start", "y")
    model.fix("mesh:end", "x")
    return model


def near_hole(results) -> float:
    """The largest error of displacements in the inner ring, over the largest displacement there."""
    x = results.header["nodes"][:, :2]
    u, exact = np.asarray(results.steps[-1].frames["displacement"][-1])[:, :2], kirsch(x)
    inner = np.hypot(x[:, 0], x[:, 1]) < 2.0 + 1e-6
    return float(np.abs(u - exact)[inner].max() / np.abs(exact[inner]).max())


def test_detail_of_a_plate_with_a_hole():
    """The detail comes to Kirsch's solution with the third power of the mesh of the whole plate, ahead of this."""
    errors = []
    for n in (3, 6, 12):
        whole = plate((n, n), 5.0)
        rim = whole.nodes_of("mesh:outer")
        hold(whole, rim, kirsch(whole.positions[rim]), 1e-18)
        whole.linear_static_step("pull")
        source = solve(whole)
        motion = read_global_motion(source)
        detail = plate((12, 24), 2.0)
        ends = {c: detail.nodes_of(f"mesh:{side}") for c, side in (("x", "start"), ("y", "end"))}
        cut = detail.nodes_of("mesh:outer")
        detail.submodel("cut", np.setdiff1d(cut, np.concatenate(list(ends.values()))), motion)
        for component, end in ends.items():
            detail.submodel(f"corner {component}", np.intersect1d(cut, end), motion, components=component)
        detail.linear_static_step("pull")
        results = solve(detail)
        errors.append((near_hole(source), near_hole(results)))
    whole_error, found = np.array(errors).T
    assert (found < 0.6 * whole_error).all() and found[-1] < 3e-4
    assert 2.7 < np.log2(found[0] / found[2]) / 2.0 < 3.4
    top = np.argmin(np.linalg.norm(results.header["nodes"][:, :2] - (0.0, 1.0), axis=1))
    assert results.steps[-1].frames["stress [Pa]"][-1][top, 0] == pytest.approx(3e6, rel=5e-3)


def test_detail_of_a_moving_body():
    """A block that swings as a rigid body carries a detail through large rotations, in time."""
    whole = Model(2, title="swing")
    whole.mesh("mesh", rectangle((1.0, 0.4), (4, 2)))
    whole.material("soft", E=1e7, nu=NU, density=1000.0)
    whole.planes("block", "mesh", "soft", thickness=1.0)
    angle = np.deg2rad(40.0)
    x = whole.positions
    for node in whole.nodes_of("mesh:left").tolist() + whole.nodes_of("mesh:right").tolist():
        r, t = float(np.hypot(*x[node])), float(np.arctan2(x[node, 1], x[node, 0]))
        for k, f in enumerate(
            (f"{r}*(cos({t} + {angle}*sin(t)**2) - cos({t}))", f"{r}*(sin({t} + {angle}*sin(t)**2) - sin({t}))")
        ):
            whole.motion(f"{'xy'[k]} {node}", node, "xy"[k], f)
    whole.static_step(40, duration=2.0)
    source = read_global_motion(solve(whole))
    assert not source.passes_time  # of static steps the end counts
    detail = Model(2, title="detail")
    detail.mesh("mesh", rectangle((0.5, 0.2), (5, 3), start=(0.2, 0.1)))
    detail.material("soft", E=1e7, nu=NU, density=1000.0)
    detail.planes("block", "mesh", "soft", thickness=1.0)
    detail.submodel("cut", ["mesh:left", "mesh:right", "mesh:bottom", "mesh:top"], source, function="t/2")
    detail.static_step(8, duration=2.0)
    u = np.asarray(solve(detail).steps[0].frames["displacement"][-1])[:, :2]
    a = angle * np.sin(2.0) ** 2
    R = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    np.testing.assert_allclose(u, detail.positions @ R.T - detail.positions, atol=2e-10)


def block(size, n, start=(0.0, 0.0)) -> Model:
    model = Model(2, title="block")
    model.mesh("mesh", rectangle(size, n, start=start))
    model.material("soft", E=1e7, nu=NU, density=1000.0)
    model.planes("block", "mesh", "soft", thickness=1.0)
    model.gravity = (0.0, -9.81)
    return model


def test_detail_in_time(tmp_path):
    """A detail of a falling block falls along, with its inside; it ends with the results that it follows."""
    whole = block((1.0, 0.4), (3, 2))
    whole.transient_step(0.1, 0.01, frames=20)
    run(whole, tmp_path / "whole")
    source = read_global_motion(tmp_path / "whole")
    assert source.passes_time
    for duration in (0.1, 0.2):
        detail = block((0.4, 0.2), (3, 3), (0.2, 0.1))
        detail.submodel("cut", ["mesh:left", "mesh:right"], source)
        detail.transient_step(duration, 0.005, frames=20)
        if duration > 0.1:
            with pytest.raises(ModelError, match=r"outside its table, which covers 0 to 0\.1"):
                solve(detail)
            continue
        step = solve(detail).steps[0]
        fallen = -0.5 * 9.81 * step.frame_times**2
        u = np.asarray(step.frames["displacement"][:])
        np.testing.assert_allclose(u[:, :, 1], np.broadcast_to(fallen[:, None], u.shape[:2]), atol=1e-9)


def bent_plate() -> Model:
    """A shell in pure bending about y: w = x^2/(2 R), no Poisson's ratio."""
    model = Model(3, title="shell")
    model.mesh("mesh", rectangle((1.0, 0.2), (10, 2), kind="quad8"))
    model.material("steel", E=E, nu=0.0, density=7800.0)
    model.shells("plate", "mesh", "steel", thickness=0.02)
    model.fix("mesh:left")
    x = model.positions
    right = model.nodes_of("mesh:right")
    model.equations("bend", np.arange(len(right)), right, np.full(len(right), 4), np.ones(len(right)), -1.0 / 1000.0)
    assert x[right, 0].min() == 1.0
    model.linear_static_step("bend")
    return model


def test_solid_and_shell_details_of_a_shell():
    """A solid cut from a shell follows its rotations through the thickness; a shell has them as its own."""
    source = read_global_motion(solve(bent_plate()))
    strain = lambda z: -z / 1000.0  # noqa: E731
    solid = Model(3, title="solid")
    solid.mesh("mesh", box((0.3, 0.2, 0.02), (4, 1, 1), start=(0.3, 0.0, -0.01), kind="hexahedron20"))
    solid.material("steel", E=E, nu=0.0, density=7800.0)
    solid.solids("part", "mesh", "steel")
    solid.submodel("cut", ["mesh:left", "mesh:right"], source, tolerance=0.011)
    solid.linear_static_step("bend")
    results = solve(solid)
    stress = np.asarray(results.steps[0].frames["stress [Pa]"][-1])[:, 0]
    z = solid.positions[:, 2]
    np.testing.assert_allclose(stress, E * strain(z), atol=2e-3 * E * 1e-5)
    plate = Model(3, title="detail")
    plate.mesh("mesh", rectangle((0.3, 0.2), (7, 3), start=(0.3, 0.0), kind="quad8"))
    plate.material("steel", E=E, nu=0.0, density=7800.0)
    plate.shells("plate", "mesh", "steel", thickness=0.02)
    plate.submodel("cut", ["mesh:left", "mesh:right"], source)
    plate.linear_static_step("bend")
    u = np.asarray(solve(plate).steps[0].frames["displacement"][-1])
    np.testing.assert_allclose(u[:, 2], plate.positions[:, 0] ** 2 / 2000.0, rtol=2e-4)


def test_wrong_submodels(patch, tmp_path):
    source = read_global_motion(patch, "pull")
    with pytest.raises(ModelError, match=r'has no step "push".*there are "pull"'):
        read_global_motion(patch, "push")
    detail = solids("hexahedron", (2, 2, 2), (0.5, 0.0, 0.0), (1.0, 1.0, 1.0))
    with pytest.raises(ModelError, match=r'node ".*" is 0.5 m away from the cells of step "pull".*raise tolerance'):
        detail.submodel("cut", "mesh:right", source)
    detail.submodel("near", "mesh:right", source, tolerance=0.51)
    with pytest.raises(ModelError, match="has no rotations at these nodes"):
        detail.submodel("turn", "mesh:left", source, components="rotation x")
    plane = block((1.0, 1.0), (1, 1))
    with pytest.raises(ModelError, match="is a model of 3 dimensions, this one has 2"):
        plane.submodel("cut", "mesh:left", source)
    with pytest.raises(ModelError, match="it has no displacements"):
        detail.submodel("none", "mesh:left")


def test_submodel_in_a_model_file(tmp_path):
    whole = solids("hexahedron20", (2, 2, 2))
    rim = outside(whole.positions)
    hold(whole, rim, whole.positions[rim] @ SLOPE.T)
    whole.linear_static_step("pull")
    run(whole, tmp_path / "whole")
    text = """
dimension = 3
[material.steel]
E = 2.1e11
nu = 0.3
density = 7800
[mesh.detail]
box = {size = [0.3, 0.3, 0.3], n = [2, 2, 2], start = [0.3, 0.2, 0.1]}
[[solid]]
name = "detail"
on = "detail"
material = "steel"
[[submodel]]
name = "cut"
on = ["detail:left", "detail:right", "detail:top", "detail:bottom", "detail:front", "detail:back"]
file = "whole"
step = "pull"
[[step]]
type = "linear_static"
"""
    (tmp_path / "detail.toml").write_text(text)
    model = load_model(tmp_path / "detail.toml")
    u = np.asarray(solve(model).steps[0].frames["displacement"][-1])
    np.testing.assert_allclose(u, model.positions @ SLOPE.T, atol=1e-16)
    (tmp_path / "detail.toml").write_text(text.replace('"whole"', '"hole"'))
    with pytest.raises(ModelError, match=r'detail.toml.*"cut".*there is no such folder'):
        load_model(tmp_path / "detail.toml")
