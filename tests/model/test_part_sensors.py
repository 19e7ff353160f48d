"""Sensors of what is largest over a part, deflections with their signs, and statistics: closed forms and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from fem_mbs import Model, ModelError, run, solve
from fem_mbs.meshes.mesh import Mesh
from fem_mbs.results.reader import Results
from fem_mbs.results.series import statistics
from fem_mbs.sweeps.quantities import collect


def beam() -> Model:
    m = Model(3)
    m.section("s", "stiffness", EA=1e7, EIy=1e4, EIz=2e4, GJ=1e4, rhoA=1.0)
    m.polyline("l", [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (2.0, 0.0, 0.0)], [2, 2])
    m.beams("b", "l", "s")
    m.fix("l:start")
    m.force("push", "l:end", (0.0, 300.0, -200.0))
    return m


def test_deflections_from_a_chord_have_signs_in_the_axes_of_a_body():
    m = beam()
    m.body("frame", (0.0, 0.0, 0.0), 1.0, np.eye(3), rotation=(np.pi / 2, 0.0, 0.0))
    m.fix("frame")
    for name, axes in (("global", "ground"), ("own", "frame"), ("size", None)):
        m.sensor(name, "deflection", on="l:corner_2", a="l:start", b="l:end", axes=axes)
    m.linear_static_step()
    found = solve(m)
    # w(L/2) - w(L)/2 of a cantilever: P L^3 (5/48 - 1/6)/EI
    y, z = (force * 8.0 * (5 / 48 - 1 / 6) / EI for force, EI in ((300.0, 2e4), (-200.0, 1e4)))
    assert found.sensor("global").values[-1] == pytest.approx([0.0, y, z], abs=1e-4 * abs(y), rel=2e-3)
    assert found.sensor("own").values[-1] == pytest.approx([0.0, z, -y], abs=1e-4 * abs(y), rel=2e-3)
    assert found.sensor("size").values[-1, 0] == pytest.approx(np.hypot(y, z), rel=2e-3)


def test_the_largest_displacement_names_its_node():
    m = beam()
    m.sensor("u", "largest displacement", on="l")
    m.sensor("z", "largest displacement", on="b", component="z")
    m.linear_static_step()
    m.linear_static_step("again", report="increment")
    found = solve(m)
    y, z = 300.0 * 8.0 / 3 / 2e4, -200.0 * 8.0 / 3 / 1e4
    for step in ("linear static", "again"):
        value, node, *place = found.sensor("u", step).values[-1]
        assert value == pytest.approx(np.hypot(y, z), rel=1e-6)
        assert place == [2.0, 0.0, 0.0]
        assert m.position(int(node)) == pytest.approx(place)
        assert found.sensor("z", step).values[-1, 0] == pytest.approx(z, rel=1e-6)
    columns = found.report.sensors[0].columns
    assert set(columns) == {"u.value", "z.value"}
    assert columns["u.value"].place_of_max["x"] == 2.0


def test_a_rigid_body_has_no_displacement_relative_to_itself():
    """A bar turns about its end; its nodes are welded to it."""
    m = Model(3)
    m.body("bar", (0.0, 0.0, 0.0), 1.0, np.eye(3), rotation=(0.3, 0.2, 0.0))
    m.node("tip", (1.0, 2.0, 0.5))
    m.point_mass("tip", "tip", 0.1)
    m.joint("hold", "spherical", "bar", "tip", point=(1.0, 2.0, 0.5))
    m.initial("bar", spin=(0.5, -0.4, 1.0))
    m.sensor("own", "largest displacement", on=["tip"], relative_to="bar")
    m.sensor("seen", "largest displacement", on=["tip"])
    m.sensor("x", "displacement", on="tip")
    m.transient_step(0.5, 0.01)
    found = solve(m)
    assert np.abs(found.sensor("own").values[:, 0]).max() < 1e-7
    assert found.sensor("seen").values[:, 0] == pytest.approx(np.linalg.norm(found.sensor("x").values, axis=1))


def block(bend: float) -> Model:
    """A bar of 3 x 1 cubes, pulled and bent by tractions at its end that vary linearly over the height."""
    x, y, z = (g.ravel() for g in np.meshgrid(np.arange(4.0), (-0.5, 0.5), (-0.5, 0.5), indexing="ij"))
    points = np.column_stack((x, y, z))
    number = {tuple(p): i for i, p in enumerate(points)}
    corners = ((0, -0.5, -0.5), (1, -0.5, -0.5), (1, 0.5, -0.5), (0, 0.5, -0.5),
               (0, -0.5, 0.5), (1, -0.5, 0.5), (1, 0.5, 0.5), (0, 0.5, 0.5))  # fmt: skip
    cells = np.array([[number[i + a, b, c] for a, b, c in corners] for i in range(3)])
    sets = {"left": np.flatnonzero(x == 0.0), "right": np.flatnonzero(x == 3.0)}
    m = Model(3)
    m.material("steel", 2e11, 0.0, density=1.0)
    m.mesh("b", Mesh(points, [("hexahedron", cells)], node_sets=sets), cells="all")
    m.solids("part", "b", "steel")
    m.fix("b:left")
    for i in sets["right"]:
        m.force(f"f{i}", int(i), ((1.0 + bend * y[i]) * 1e6 / 4, 0.0, 0.0))
    m.sensor("vm", "largest stress", on="part")
    m.sensor("p", "largest stress", on="part", component="compression")
    m.linear_static_step()
    return m


def test_the_largest_stress_of_a_solid_is_that_of_its_frames(tmp_path):
    m = block(0.0)
    found = solve(m)
    assert found.sensor("vm").values[-1, 0] == pytest.approx(1e6)
    results = run(block(3.0), tmp_path / "out")
    step = results.steps[0]
    field = next(v for k, v in step.frames.items() if k.startswith("von Mises"))[-1]
    value, node, *place = results.sensor("vm").values[-1]
    assert value == pytest.approx(np.nanmax(field), rel=1e-6)
    assert field[int(node)] == pytest.approx(value, rel=1e-6)
    assert place[1] == 0.5
    assert results.sensor("p").values[-1, 0] < 0.0
    columns = results.report.sensors[0].columns
    assert columns["vm.value"].max == pytest.approx(value)
    assert columns["vm.value"].place_of_max["node"] == node
    assert Results.open(tmp_path / "out").report.sensors == results.report.sensors


def test_statistics_of_a_sine_are_its_integrals():
    t = np.linspace(0.0, 2.0, 4001)
    value = 3.0 + 2.0 * np.sin(2.0 * np.pi * 1.25 * t)
    header = {"name": "s", "columns": ["s.a", "s.a where", "s.b"], "unit": ["m", "-", "N"], "places": [1]}
    found = statistics(header, t, np.column_stack((value, np.arange(len(t)), -value)))
    assert list(found) == ["s.a", "s.b"]
    a = found["s.a"]
    rms = np.sqrt(quad(lambda t: (3.0 + 2.0 * np.sin(2.0 * np.pi * 1.25 * t)) ** 2, 0.0, 2.0)[0] / 2.0)
    mean = quad(lambda t: 3.0 + 2.0 * np.sin(2.0 * np.pi * 1.25 * t), 0.0, 2.0)[0] / 2.0
    assert (a.rms, a.mean) == pytest.approx((rms, mean), rel=1e-6)
    assert (a.min, a.max, a.time_of_max) == pytest.approx((1.0, 5.0, 0.2), abs=1e-3)
    assert dict(a.named())["peak_to_peak"] == pytest.approx(4.0, rel=1e-6)
    assert a.place_of_max == {"where": pytest.approx(400, abs=1)}
    assert found["s.b"].place_of_max is None and found["s.b"].unit == "N"


def test_sweeps_have_the_statistics_of_sensors():
    m = Model(2)
    m.body("b", (0.0, 0.0), 1.0, 1.0)
    m.initial("b", velocity=(2.0, 0.0))
    m.sensor("x", "position", on="b")
    m.transient_step(1.0, 0.1)
    found = solve(m)
    values = {name: (value, unit) for name, value, unit in collect(found)}
    assert values["transient.x.x.rms"] == (pytest.approx(2.0 / np.sqrt(3.0)), "m")
    assert values["transient.x.x.mean"] == (pytest.approx(1.0), "m")
    assert values["transient.x.x.time_of_max"] == (pytest.approx(1.0), "s")
    assert found.summary["sensors"][0]["columns"]["x.x"]["max"] == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("kind", "options", "word"),
    [
        ("largest displacement", {"on": "nothing"}, "nothing"),
        ("largest stress", {"on": "b"}, "no solid, plane part or shell"),
        ("largest displacement", {"on": "l", "component": "w"}, "size"),
    ],
)
def test_wrong_keys_end_in_one_error(kind, options, word):
    with pytest.raises(ModelError, match=word):
        beam().sensor("s", kind, **options)


def plate(cell: str, **shell) -> Model:
    """A strip that is bent and pulled by forces at its end."""
    m = Model(3)
    m.material("steel", 2e11, 0.0, density=1.0)
    x, y = (g.ravel() for g in np.meshgrid(np.linspace(0.0, 4.0, 5), (0.0, 1.0), indexing="ij"))
    cells = np.array([[2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1] for i in range(4)])
    if cell == "triangle":
        cells = np.concatenate((cells[:, [0, 1, 2]], cells[:, [0, 2, 3]]))
    m.mesh("g", Mesh(np.column_stack((x, y, 0.0 * x)), [(cell, cells)]), cells="all")
    m.shells("part", "g", **({"material": "steel", "thickness": 0.1} | shell))
    m.fix([0, 1])
    for i in (8, 9):
        m.force(f"f{i}", i, (5e4, 0.0, -1e3))
    for name in ("von Mises", "principal", "compression"):
        m.sensor(name, "largest stress", on="part", component=name)
    m.linear_static_step()
    return m


@pytest.mark.parametrize("cell", ["quad", "triangle"])
def test_the_largest_stress_of_a_shell_is_that_of_its_frames(cell, tmp_path):
    results = run(plate(cell), tmp_path / "out")
    frames = results.steps[0].frames
    fields = {k: np.asarray(v[-1]) for k, v in frames.items() if k.startswith("von Mises")}
    assert len(fields) == 3  # top, middle, bottom
    name, most = max(((k, np.nanmax(v)) for k, v in fields.items()), key=lambda pair: pair[1])
    value, node, x, _, _, layer, height = results.sensor("von Mises").values[-1]
    assert value == pytest.approx(most, rel=1e-6) and fields[name][int(node)] == pytest.approx(value, rel=1e-6)
    assert x == 0.0 and layer == 1.0 and height == 0.5  # pulled on top at the clamped end, the normal is +z
    assert name.startswith("von Mises stress [") and np.all(most >= fields[name][np.isfinite(fields[name])])
    # N/h - M 6/h^2 at the clamped end, exact up to the size of the elements
    assert results.sensor("principal").values[-1, 0] == pytest.approx(1e5 / 0.1 + 2e3 * 4.0 * 6.0 / 0.01, rel=0.15)
    low = results.sensor("compression").values[-1]
    assert low[0] < 0.0 and low[-1] == -0.5


def test_the_largest_stress_of_a_laminate_is_in_its_stiffest_ply():
    """A soft core between stiff skins, bent to a circle by moments: sigma = E z kappa in every ply."""
    m = Model(3)
    m.material("stiff", 2e11, 0.0, density=1.0)
    m.material("soft", 1e9, 0.0, density=1.0)
    x, y = (g.ravel() for g in np.meshgrid(np.linspace(0.0, 4.0, 5), (0.0, 1.0), indexing="ij"))
    cells = np.array([[2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1] for i in range(4)])
    m.mesh("g", Mesh(np.column_stack((x, y, 0.0 * x)), [("quad", cells)]), cells="all")
    plies = [{"material": "stiff", "thickness": 0.01}, {"material": "soft", "thickness": 0.08},
             {"material": "stiff", "thickness": 0.02}]  # fmt: skip
    m.shells("part", "g", layers=plies)
    m.fix([0, 1])
    for i in (8, 9):
        m.moment(f"m{i}", i, (0.0, 500.0, 0.0))
    m.sensor("s", "largest stress", on="part")
    m.sensor("ply 1", "layer stress", on="part", layer=1, at="bottom")
    m.sensor("ply 3", "layer stress", on="part", layer=3, at="top")
    m.linear_static_step()
    found = solve(m)
    E, h = np.array((2e11, 1e9, 2e11)), np.array((0.01, 0.08, 0.02))
    bounds = np.concatenate(([0.0], np.cumsum(h)))
    centre = (E * 0.5 * np.diff(bounds**2)).sum() / (E * h).sum()
    D = (E * np.diff((bounds - centre) ** 3) / 3.0).sum()
    by_hand = 1000.0 / D * 2e11 * np.array((0.0 - centre, bounds[-1] - centre))
    value, *_, layer, height = found.sensor("s").values[-1]
    k = int(np.abs(by_hand).argmax())
    assert value == pytest.approx(np.abs(by_hand[k]), rel=1e-9)
    assert (layer, height) == ((1.0, -0.5), (3.0, 0.5))[k]
    plies = [found.sensor(f"ply {n}").values[-1, 0] for n in (1, 3)]
    assert np.abs(plies) == pytest.approx(np.abs(by_hand), rel=1e-9)
