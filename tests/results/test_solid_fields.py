"""Stresses at the nodes: exact for constant states, turned with the part, kept apart from part to part."""

from __future__ import annotations

import numpy as np
import pytest
from solid_meshes import grid

from fem_mbs import Mesh, Model, ModelError, run, solve
from fem_mbs.analysis.context import make_context
from fem_mbs.analysis.fields import MISES, STRAIN, STRESS, Fields, SolidPart, fields_of
from fem_mbs.analysis.header import fingerprint
from fem_mbs.elements.registry import element_type
from fem_mbs.elements.solids import plane as solid_plane
from fem_mbs.elements.solids import space as solid
from fem_mbs.elements.solids.recovery import von_mises
from fem_mbs.elements.solids.shapes import FACES, rule
from fem_mbs.meshes.mesh import CellBlock

KINDS = {**solid.KINDS, **solid_plane.KINDS}


def part_of(type_name: str, cells: np.ndarray, nonlinear: bool, first_output: int = 0, **options) -> SolidPart:
    cell, integration, third = KINDS[type_name]
    width = len(element_type(type_name).outputs)
    spatial = type_name in solid.KINDS
    ring = not spatial and third
    names = {"name": "p", "group": "p", **options}
    return SolidPart(
        names.pop("name"), names.pop("group"), type_name, cell, integration, ring, nonlinear, cells, first_output, 0,
        width, dim=3 if spatial else 2, **names,
    )  # fmt: skip


def constant_table(type_name: str, n: int, S: np.ndarray, E: np.ndarray) -> np.ndarray:
    """Outputs (n * width,) of n cells with stress S and strain E at all points."""
    cell, integration, _ = KINDS[type_name]
    points = len(rule(cell, integration)[0])
    return np.tile(np.concatenate((S, E)), n * points)


@pytest.mark.parametrize("type_name", [name for name in KINDS if not name.startswith("axisymmetric")])
@pytest.mark.parametrize("nonlinear", [False, True])
def test_a_constant_state_is_exact_at_every_node_of_a_distorted_mesh(type_name, nonlinear):
    spatial = type_name in solid.KINDS
    dim, k = (3, 6) if spatial else (2, 4)
    rng = np.random.default_rng(3)
    X, cells = grid(KINDS[type_name][0], (3, 2, 2)[:dim], distort=0.15)
    A = np.eye(dim) + 0.2 * rng.normal(size=(dim, dim))
    S, E = rng.normal(size=k) * 1e6, rng.normal(size=k) * 1e-3
    fields = Fields([part_of(type_name, cells, nonlinear)], X, ("stress", "strain"))
    found = fields.columns((X @ A.T)[None], constant_table(type_name, len(cells), S, E)[None])
    F, T = np.eye(3), np.zeros((3, 3))
    F[:dim, :dim] = A if nonlinear else np.eye(dim)
    for value, (i, j) in zip(S, ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)), strict=False):
        T[i, j] = T[j, i] = value
    T = F @ T @ F.T / np.linalg.det(F)
    want = np.array([T[0, 0], T[1, 1], T[2, 2], T[0, 1], T[1, 2], T[2, 0]])
    assert found[STRESS].shape == (1, len(X), 6) and found[STRESS].dtype == np.float32
    np.testing.assert_allclose(found[STRESS][0], np.tile(want, (len(X), 1)), atol=3e-7 * np.abs(want).max())
    np.testing.assert_allclose(found[MISES][0], von_mises(want), rtol=1e-6)
    E = np.concatenate((E[:3], E[3:] / 2, np.zeros(6 - k)))
    np.testing.assert_allclose(found[STRAIN][0], np.tile(E, (len(X), 1)), atol=3e-7 * np.abs(E).max())


def test_stresses_are_not_averaged_over_parts():
    X, cells = grid("hexahedron", (2, 1, 1))
    tables, parts = [], []
    for k, name in enumerate("ab"):
        own = part_of("solid_hexahedron", cells[k : k + 1], False, name=name, group=name, first_output=96 * k, region=k)
        parts.append(own)
        tables.append(constant_table("solid_hexahedron", 1, np.array([1.0 + k, 0, 0, 0, 0, 0]), np.zeros(6)))
    found = Fields(parts, X, ("stress",)).columns(X[None], np.concatenate(tables)[None])
    for k, key in enumerate((STRESS, f"region 2/{STRESS}")):
        inside = np.isin(np.arange(len(X)), cells[k])
        assert (found[key][0, inside, 0] == 1.0 + k).all() and np.isnan(found[key][0, ~inside]).all()
    # one part of both cells: the mean where they meet
    for part in parts:
        part.region, part.group = 0, "a"
    (mean,) = Fields(parts, X, ("stress",)).columns(X[None], np.concatenate(tables)[None])[STRESS]
    assert set(mean[:, 0].tolist()) == {1.0, 1.5, 2.0}


def pulled_bar(kind: str = "hexahedron", linear: bool = False, nu: float = 0.3, **options) -> tuple[Model, np.ndarray]:
    """A bar of two parts on supports of symmetry, pulled by 3e7 Pa at its end."""
    size = (3.0, 1.0, 1.0)
    X, cells = grid(kind, (4, 2, 2), size=size, distort=0.2)
    ends = np.flatnonzero(X[:, 0] > size[0] - 1e-9)
    facets = []
    for k, (_, local) in enumerate(FACES[kind]):
        hit = np.flatnonzero(np.isin(cells[:, list(local)], ends).all(axis=1))
        facets.append((0, hit, np.full(len(hit), k)))
    first = np.flatnonzero(X[cells].mean(axis=1)[:, 0] < 1.5)
    sets = {"a": [(0, first)], "b": [(0, np.setdiff1d(np.arange(len(cells)), first))]}
    planes = {f"on {c}": np.flatnonzero(X[:, k] < 1e-9) for k, c in enumerate("xyz")}
    m = Model(title="Bar", **options)
    m.mesh("part", Mesh(X, [CellBlock(kind, cells)], node_sets=planes, cell_sets=sets, facet_sets={"end": facets}))
    m.material("steel", E=2.0e11, nu=nu, density=7850.0)
    for name in "ab":
        m.solids(name, on=f"part:{name}", material="steel", kinematics="linear" if linear else "nonlinear")
    for c in "xyz":
        m.fix(f"part:on {c}", [c])
    m.traction("pull", on="part:end", vector=(3e7, 0.0, 0.0))
    return m, X


def test_a_pulled_bar_of_two_parts_has_one_stress_in_its_results(tmp_path):
    m, X = pulled_bar(linear=True, fields=["stress", "strain", "points"])
    m.static_step()
    results = run(m, tmp_path)
    assert [(b["name"], b["cell"], b["region"]) for b in results.header["blocks"]] == [
        ("a", "hexahedron", 0),
        ("b", "hexahedron", 1),
    ]
    frames = results.steps[0].frames
    for region in ("", "region 2/"):
        stress, strain = frames[region + STRESS][-1], frames[region + STRAIN][-1]
        inside = np.isfinite(stress[:, 0])
        assert 0 < inside.sum() < len(X)
        np.testing.assert_allclose(stress[inside, 0], 3e7, rtol=1e-6)
        assert np.abs(stress[inside, 1:]).max() < 1e-6 * 3e7
        np.testing.assert_allclose(frames[region + MISES][-1][inside], 3e7, rtol=1e-6)
        np.testing.assert_allclose(
            strain[inside, :3], np.tile([1.5e-4, -4.5e-5, -4.5e-5], (inside.sum(), 1)), rtol=1e-6
        )
    points = frames[f"a/points {STRESS}"][-1]
    assert points.shape == (8, 8, 6) and points.dtype == float
    np.testing.assert_allclose(points[..., 0], 3e7, rtol=1e-9)
    energy = sum(frames[f"{name}/energy [J]"][-1].sum() for name in "ab")
    assert energy == pytest.approx(0.5 * 3e7**2 / 2.0e11 * 3.0, rel=1e-9)
    assert frames["displacement"][-1][:, 0].max() == pytest.approx(4.5e-4, rel=1e-9)


def test_nothing_asked_for_nothing_stored():
    m, _ = pulled_bar(linear=True, fields=[])
    assert fields_of(m.compile()).header == []
    m.static_step()
    assert not [key for key in solve(m).steps[0].frames if "stress" in key or "strain" in key]


def test_shapes_have_stresses_where_they_are_asked_for():
    m, X = pulled_bar("hexahedron20", nu=0.0, fields=["stress", "shapes"])
    m.modes_step(count=6)
    step = solve(m).steps[0]
    frames = step.frames
    assert frames[STRESS].shape == (6, len(X), 6)
    # the axial mode of a bar that is held at one end: stress and displacement of a quarter of a wave
    axial = int(np.argmax([np.abs(u[:, 0]).max() / np.abs(u).max() for u in frames["displacement"]]))
    u = frames["displacement"][axial][:, 0]
    want = 2.0e11 * np.abs(u).max() * np.pi / 6.0
    held = np.abs(X[:, 0]) < 1e-9
    assert np.abs(frames[STRESS][axial][held, 0]).mean() == pytest.approx(want, rel=0.02)
    # and none where they are not
    m, _ = pulled_bar(fields=["stress"])
    m.modes_step(count=2)
    assert STRESS not in solve(m).steps[0].frames


def test_a_run_with_other_fields_is_not_continued():
    told = []
    for fields in (["stress"], ["stress", "strain"], ["stress"]):
        m, _ = pulled_bar(fields=fields)
        m.static_step()
        told.append(fingerprint(make_context(m)))
    assert told[0] == told[2] != told[1]


def test_unknown_fields_are_refused():
    with pytest.raises(ModelError, match='there is no field "stresses"; give some of stress, strain, shapes, points'):
        Model(fields=["stresses"])
