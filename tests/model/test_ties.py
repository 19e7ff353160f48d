"""Ties of parts with meshes that do not fit, equations between solids: exact, conserving, equal to merged meshes."""

import numpy as np
import pytest
from solid_meshes import boundary_faces, grid

from fem_mbs import Mesh, Model, ModelError, solve
from fem_mbs.elements.solids import shapes
from fem_mbs.meshes.mesh import CellBlock
from fem_mbs.model.connections.ties import surface_of
from fem_mbs.system.surfaces import closest_points

E, NU, DENSITY = 2.0e6, 0.3, 1000.0


# --- closest points --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["line2", "line3", "triangle", "triangle6", "quad", "quad8"])
def test_closest_points(kind):
    """No point of a fine sample of distorted facets is nearer than the one found, which is a point of its facet."""
    rng = np.random.default_rng(3)
    name = "line" if kind == "line2" else kind
    base = shapes.local_nodes(name)
    X = np.zeros((20, len(base), 3))
    X[:, :, : base.shape[1]] = base
    X += 0.12 * rng.normal(size=X.shape) + 2.0 * rng.normal(size=(20, 1, 3))
    points = 2.5 * rng.normal(size=(40, 3))
    foot = closest_points(points, [(kind, X[:7]), (kind, X[7:])])
    place = foot.weights[:, : len(base)]
    assert place.sum(axis=1) == pytest.approx(1.0)
    found = np.einsum("nk,nkd->nd", place, X[foot.facet + 7 * foot.group])
    assert np.linalg.norm(found - points, axis=1) == pytest.approx(foot.distance, abs=1e-12)
    g = np.linspace(-1.0, 1.0, 41)
    sample = g[:, None] if base.shape[1] == 1 else np.stack(np.meshgrid(g, g), -1).reshape(-1, 2)
    if "tri" in kind:
        sample = 0.5 * (sample + 1.0)
        sample = sample[sample.sum(axis=1) <= 1.0 + 1e-12]
    where = np.einsum("sk,fkd->fsd", shapes.shape_functions(name, sample), X).reshape(-1, 3)
    nearest = np.linalg.norm(points[:, None] - where, axis=2).min(axis=1)
    assert (foot.distance <= nearest + 1e-12).all()
    assert (foot.distance >= nearest - 0.1).all()


# --- ties ------------------------------------------------------------------------------------------------------------
def box(cell, counts, size, shift=(0.0, 0.0, 0.0)):
    X, cells = grid(cell, counts, size)
    X = X + np.array(shift)[: X.shape[1]]
    low, high = X.min(axis=0), X.max(axis=0)
    sets = {}
    for k, c in enumerate("xyz"[: X.shape[1]]):
        sets[f"{c}0"], sets[f"{c}1"] = (np.flatnonzero(np.abs(X[:, k] - v[k]) < 1e-9) for v in (low, high))
    return Mesh(X, [CellBlock(cell, cells)], node_sets=sets, cell_sets={"body": [(0, np.arange(len(cells)))]})


def two_blocks(upper="hexahedron", counts=(3, 2, 2), gap=0.0, **tie):
    """A box on a box, with meshes that do not fit on their common face."""
    m = Model(3)
    m.material("rubber", E=E, nu=NU, density=DENSITY)
    m.mesh("low", box("hexahedron", (2, 3, 2), (1.0, 0.8, 0.5)))
    m.mesh("up", box(upper, counts, (1.0, 0.8, 0.6), (0.0, 0.0, 0.5 + gap)))
    m.tie("tie", "up:z0", "low:body", **tie)
    m.solids("low", "low", "rubber")
    m.solids("up", "up", "rubber")
    return m


@pytest.mark.parametrize("upper", ["hexahedron", "tetra10", "wedge15"])
def test_tied_patch(upper):
    """Under tension along the common face, both parts strain alike and uniformly through surfaces that do not fit; the
    stress is the given one, in a linear and in a nonlinear step."""
    m = two_blocks(upper)
    for mesh in ("low", "up"):
        m.fix(f"{mesh}:x0", "x")
    m.fix("low:z0", "z")
    m.fix("low:y0", "y")
    m.fix("up:y0", "y")
    for mesh in ("low", "up"):
        m.motion(f"pull {mesh}", f"{mesh}:x1", "x", "1e-3*t")
    m.linear_static_step(time=1.0)
    s = solve(m)
    u = s.steps[0].frames["displacement"][0]
    x = m.positions
    expected = 1e-3 * np.column_stack((x[:, 0], -NU * x[:, 1], -NU * x[:, 2]))
    assert np.abs(u - expected).max() < 1e-12


def test_tied_blocks_fly():
    """Two tied boxes tumble and vibrate: energy, momenta to 1e-12, the tied nodes stay on the surface."""
    m = two_blocks(counts=(2, 1, 1))
    m.initial(velocity=("1 + z*x", "y*0.5", "0.3*x"))
    m.initial(spin=(6.0, 3.0, -4.0), centre=(0.5, 0.4, 0.5))
    m.transient_step(0.4, 0.01, frames=10)
    s = solve(m)
    step = s.steps[0]
    assert step.summary["energy"]["closing_error_relative"] < 1e-12
    for key in ("linear momentum", "angular momentum"):
        p = step.series[key]
        assert np.abs(p - p[0]).max() < 1e-12 * np.abs(p).max()
    assert step.summary["constraint_error"] < 1e-14
    u = step.frames["displacement"]
    assert np.abs(u).max() > 0.5
    # the common face stays plane neither, but no node leaves it
    low = {tuple(np.round(p, 9)): i for i, p in enumerate(m.positions) if abs(p[2] - 0.5) < 1e-9 and i < 36}
    assert len(low) == 12
    now = m.positions[None] + u
    mesh = m.meshes["up"][0]
    for i in mesh.node_sets["z0"]:
        x = m.positions[36 + i]
        cx, cy = np.clip(int(x[0] / 0.5), 0, 1), np.clip(int(x[1] / (0.8 / 3)), 0, 2)
        r, t = x[0] / 0.5 - cx, x[1] / (0.8 / 3) - cy
        place = 0.0
        for a, b, w in ((0, 0, (1 - r) * (1 - t)), (1, 0, r * (1 - t)), (0, 1, (1 - r) * t), (1, 1, r * t)):
            corner = tuple(np.round((0.5 * (cx + a), 0.8 / 3 * (cy + b), 0.5), 9))
            place = place + w * now[:, low[corner]]
        assert np.abs(now[:, 36 + i] - place).max() < 1e-12


def test_gap_and_adjust():
    """A tie over a gap works and says so; adjusted, the nodes lie on the surface."""
    m = two_blocks(gap=0.01)
    assert len(m.warnings) == 1
    assert "stand off the surface" in m.warnings[0]
    assert "0.01 m" in m.warnings[0]
    m = two_blocks(gap=0.01, adjust=True)
    assert not m.warnings
    up = m.meshes["up"][1] + m.meshes["up"][0].node_sets["z0"]
    assert np.abs(m.positions[up, 2] - 0.5).max() < 1e-15
    m.fix("low:z0")
    m.force("F", "up:z1", (0.0, 0.0, -1.0))
    m.linear_static_step()
    summary = solve(m).summary
    assert summary["steps"][0]["reactions"]["force"][2] == pytest.approx(12.0, rel=1e-9)
    assert "warnings" not in summary


def test_what_is_out_of_reach_stays_free():
    """Half of the slave face overhangs: its nodes are named and left."""
    m = Model(3)
    m.mesh("low", box("hexahedron", (2, 2, 1), (1.0, 1.0, 0.5)))
    m.mesh("up", box("hexahedron", (4, 2, 1), (2.0, 1.0, 0.5), (0.0, 0.0, 0.5)))
    m.tie("tie", "up:z0", "low:body")
    assert len(m.warnings) == 1
    assert 'Tie "tie": 6 nodes are farther than the tolerance' in m.warnings[0]
    assert '"up 13" (0.5 m)' in m.warnings[0] or "(0.5 m)" in m.warnings[0]
    with pytest.raises(
        ModelError, match=r'none of its 15 nodes is within 0.05 m of "low:body"; the nearest.*is 0.1 m away'
    ):
        m.mesh("far", box("hexahedron", (4, 2, 1), (2.0, 1.0, 0.5), (0.0, 0.0, 0.6)))
        m.tie("far", "far:z0", "low:body", tolerance=0.05)


def test_bad_ties():
    m = two_blocks()
    with pytest.raises(ModelError, match="belong to the surface itself"):
        m.tie("a", "low:z1", "low")
    with pytest.raises(ModelError, match="is a set of points"):
        m.tie("b", "up:z0", "low:z1")
    with pytest.raises(ModelError, match="which elements already use; make the tie before the part"):
        m.mesh("third", box("hexahedron", (1, 1, 1), (1.0, 0.8, 0.5), (0.0, 0.0, 1.101)))
        m.tie("c", "up:z1", "third", adjust=True)
    with pytest.raises(ModelError, match='no mesh "lo"; did you mean "low"'):
        m.tie("d", "up:z0", "lo")


def test_plane_parts_tied_along_an_edge():
    """In the plane the master is the outline: uniform tension passes through edges that do not fit."""
    m = Model(2)
    m.material("sheet", E=E, nu=NU, density=DENSITY)
    m.mesh("low", box("quad8", (3, 2), (1.0, 0.5)))
    m.mesh("up", box("triangle6", (4, 2), (1.0, 0.5), (0.0, 0.5)))
    m.tie("tie", "up:y0", "low")
    for n in ("low", "up"):
        m.planes(n, n, "sheet")
        m.fix(f"{n}:x0", "x")
        m.motion(f"pull {n}", f"{n}:x1", "x", "1e-3*t")
    m.fix("low:y0", "y")
    m.linear_static_step(time=1.0)
    u = solve(m).steps[0].frames["displacement"][0]
    x = m.positions
    assert np.abs(u[:, :2] - 1e-3 * np.column_stack((x[:, 0], -NU * x[:, 1]))).max() < 1e-12


# --- equations between solids ----------------------------------------------------------------------------------------
def cut_beam(kind):
    """A cantilever of two boxes with meshes that fit: one mesh, or two joined by equations of all their nodes."""
    m = Model(3)
    m.material("rubber", E=E, nu=NU, density=DENSITY)
    X, cells = grid("hexahedron20", (4, 1, 1), (1.0, 0.2, 0.2))
    if kind == "merged":
        parts = {"a": (X, cells)}
    else:
        parts = {}
        for n, chosen in (("a", cells[:2]), ("b", cells[2:])):
            used, local = np.unique(chosen, return_inverse=True)
            parts[n] = (X[used], local.reshape(chosen.shape))
    for n, (points, table) in parts.items():
        m.mesh(n, Mesh(points, [CellBlock("hexahedron20", table)]))
        m.solids(n, n, "rubber")
    x = m.positions
    if kind == "equations":
        a = np.flatnonzero((np.abs(x[:, 0] - 0.5) < 1e-9) & (np.arange(len(x)) < len(parts["a"][0])))
        b = np.array([np.flatnonzero((np.abs(x - x[i]).max(axis=1) < 1e-9) & (np.arange(len(x)) != i))[0] for i in a])
        rows = np.arange(3 * len(a))
        k = np.tile(np.arange(3), len(a))
        m.equations(
            "mpc", np.tile(rows, 2), np.concatenate((np.repeat(b, 3), np.repeat(a, 3))), np.tile(k, 2),
            np.repeat((1.0, -1.0), rows.size),
        )  # fmt: skip
    m.fix(np.flatnonzero(x[:, 0] < 1e-9).tolist())
    return m


def test_equations_equal_a_merged_mesh():
    """Statics (linear and with large displacements) and modes to 1e-9 of those of one mesh."""
    found = []
    for kind in ("merged", "equations"):
        m = cut_beam(kind)
        end = np.flatnonzero(np.abs(m.positions[:, 0] - 1.0) < 1e-9)
        order = end[np.lexsort(m.positions[end].round(9).T)]
        m.force("F", order.tolist(), (0.0, 10.0, -40.0))
        m.linear_static_step()
        m.static_step(4)
        m.modes_step(6)
        s = solve(m)
        linear = s.steps[0].frames["displacement"][0, order]
        large = s.steps[1].frames["displacement"][-1, order]
        found.append((linear, large, np.array(s.steps[2].summary["frequencies_hz"])))
    assert np.abs(found[0][1][:, 2]).max() > 0.3
    for one, other in zip(*found, strict=True):
        assert np.abs(one - other).max() < 1e-9 * np.abs(one).max()


def test_solids_and_beams_fly_on_a_rigid_coupling_and_equations():
    """A block of solids, cut and joined by equations, with a beam on a rigid coupling and a disc on a distributing one:
    energy and momenta to 1e-12 through several turns."""
    m = Model(3)
    m.material("rubber", E=E, nu=NU, density=DENSITY)
    m.material("steel", E=2e8, nu=0.3, density=2000.0)
    m.section("rod", "circle", diameter=0.05)
    m.mesh("block", box("hexahedron", (2, 1, 1), (1.0, 0.4, 0.4)))
    m.mesh("more", box("hexahedron", (1, 1, 1), (0.5, 0.4, 0.4), (1.0, 0.0, 0.0)))
    m.solids("block", "block", "rubber")
    m.solids("more", "more", "rubber")
    x = m.positions
    a = m.meshes["block"][1] + m.meshes["block"][0].node_sets["x1"]
    b = m.meshes["more"][1] + m.meshes["more"][0].node_sets["x0"]
    a, b = a[np.lexsort(x[a].T)], b[np.lexsort(x[b].T)]
    n = len(a)
    m.equations(
        "glue", np.tile(np.arange(3 * n), 2), np.concatenate((np.repeat(a, 3), np.repeat(b, 3))),
        np.tile(np.arange(3), 2 * n), np.repeat((1.0, -1.0), 3 * n),
    )  # fmt: skip
    m.line("rod", (0.0, 0.2, 0.2), (-1.0, 0.2, 0.2), 3)
    m.beams("rod", "rod", "rod", "steel")
    m.coupling("root", "rod:start", "block:x0")
    m.body("disc", (1.8, 0.2, 0.2), 20.0, (1.0, 0.5, 0.5), rotation=(0.0, 0.4, 0.0))
    m.coupling("mean", "disc", "more:x1", "distributing")
    m.initial(velocity=(2.0, 0.0, 1.0), spin=(5.0, 3.0, 8.0), centre=(0.5, 0.2, 0.2))
    m.sensor("turn", "rotation", on="disc")
    m.transient_step(0.6, 0.005)
    s = solve(m)
    step = s.steps[0]
    assert step.summary["energy"]["closing_error_relative"] < 1e-12
    for key in ("linear momentum", "angular momentum"):
        p = step.series[key]
        assert np.abs(p - p[0]).max() < 1e-12 * np.abs(p).max(), key
    assert np.linalg.norm(s.sensor("turn").values, axis=1).max() > 2.0
    assert step.summary["constraint_error"] < 1e-13


def test_linear_steps_with_couplings():
    """Modes and linear statics eliminate the couplings: the frequencies are those of the nonlinear tangent, a moment on
    a distributing reference goes to the nodes."""
    m = Model(3)
    m.material("rubber", E=E, nu=NU, density=DENSITY)
    m.mesh("block", box("hexahedron", (4, 2, 2), (1.0, 0.3, 0.2)))
    m.solids("block", "block", "rubber", element="incompatible")
    m.node("R", (1.0, 0.15, 0.1))
    m.coupling("mean", "R", "block:x1", "distributing")
    m.fix("block:x0")
    m.moment("M", "R", (0.0, 2.0, 0.0))
    m.force("F", "R", (0.0, 0.5, 1.0))
    m.linear_static_step()
    m.modes_step(4)
    s = solve(m)
    step = s.steps[0].summary
    assert step["reactions"]["force"] == pytest.approx([0.0, -0.5, -1.0], abs=1e-9)
    x = np.array((1.0, 0.15, 0.1))
    moment = -np.array((0.0, 2.0, 0.0)) - np.cross(x, (0.0, 0.5, 1.0))
    assert step["reactions"]["moment"] == pytest.approx(moment, abs=1e-9)
    u = s.steps[0].frames["displacement"][0]
    end = m.meshes["block"][1] + m.meshes["block"][0].node_sets["x1"]
    assert u[m.node_of("R")] == pytest.approx(u[end].mean(axis=0), abs=1e-12)
    alone = Model(3)
    alone.material("rubber", E=E, nu=NU, density=DENSITY)
    alone.mesh("block", box("hexahedron", (4, 2, 2), (1.0, 0.3, 0.2)))
    alone.solids("block", "block", "rubber", element="incompatible")
    alone.fix("block:x0")
    alone.modes_step(4)
    frequencies = solve(alone).steps[0].summary["frequencies_hz"]
    assert s.steps[1].summary["frequencies_hz"] == pytest.approx(frequencies, rel=1e-9)


def test_faces_of_a_box_are_its_outside():
    """The surface of solids has as many facets as a search cell by cell gives."""
    mesh = box("wedge15", (2, 2, 1), (1.0, 1.0, 1.0))
    m = Model(3)
    m.mesh("b", mesh)
    found = surface_of(m.building, "Tie", "b")
    expected = boundary_faces("wedge15", mesh.blocks[0].cells)
    for kind, nodes in found:
        assert len(nodes) == len(expected[kind])
