"""Copies of sections that are not symmetric, of loads in axes of their parts, of masses on turned bodies: images."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, ModelError, solve

NORMAL = np.array([1.0, 2.0, -0.5]) / np.sqrt(5.25)
MIRROR = {"mirror": {"normal": tuple(NORMAL), "point": (3.0, 0.0, 1.0)}}
TURN = {"rotate": {"angle": 70.0, "axis": (1.0, 2.0, -0.5)}, "translate": (3.0, 0.0, 1.0)}
K = np.cross(np.eye(3), NORMAL)  # K v = NORMAL x v
ANGLE = np.deg2rad(70.0)
MOVES = {
    "mirror": (MIRROR, np.eye(3) - 2.0 * np.outer(NORMAL, NORMAL)),
    "turn": (TURN, np.eye(3) + np.sin(ANGLE) * K + (1.0 - np.cos(ANGLE)) * K @ K),
}
PLY = {"E": (1.4e10, 9e8, 1e9), "nu": (0.3, 0.25, 0.4), "G": (5e8, 4e8, 3e8), "density": 1600.0}
SECTIONS = {
    "Iyz": ("general", {"A": 6e-4, "Iy": 2e-8, "Iz": 5e-8, "Iyz": 1e-8, "J": 4e-8, "k": 0.8}),
    "walls": ("thin_walled", {
        "walls": [{"points": [[0.05, 0.03], [0.0, 0.0], [0.0, 0.02]], "thickness": 0.002}], "origin": [0.01, 0.02],
    }),
    "patches": ("mesh", {"patches": [
        {"corners": [[0, 0], [0.02, 0.0], [0.025, 0.03], [0, 0.02]], "n": [2, 2], "material": "ply", "angle": 30.0},
    ]}),
    "plies": ("laminated_tube", {
        "inner_diameter": 0.03, "plies": [{"material": "ply", "thickness": 0.004, "angle": 40.0}],
    }),
}  # fmt: skip


def assert_image(m: Model, Q: np.ndarray, place: str, turns: bool = True) -> None:
    """Compare displacement and rotation of a place with those of its copy."""
    m.sensor("way", "displacement", on=place)
    m.sensor("way of copy", "displacement", on=f"copy {place}")
    if turns:
        m.sensor("turn", "rotation", on=place)
        m.sensor("turn of copy", "rotation", on=f"copy {place}")
    m.linear_static_step()
    results = solve(m)
    for name, T in (("way", Q), ("turn", np.linalg.det(Q) * Q))[: 1 + turns]:
        mine, image = (results.sensor(n).values[-1] for n in (name, f"{name} of copy"))
        assert np.linalg.norm(mine) > 1e-7
        np.testing.assert_allclose(image, T @ mine, rtol=1e-7, atol=1e-8 * np.linalg.norm(mine))


def rod(shape: str, section: dict) -> Model:
    m = Model(3)
    m.material("rubber", 2e9, 0.3, 2000.0)
    m.material("ply", **PLY)
    m.section("odd", shape, **section)
    m.line("rod", (0.0, 0.0, 0.0), (0.2, 0.5, 0.3), 3)
    material = None if shape in ("mesh", "laminated_tube") else "rubber"
    m.beams("rod", "rod", "odd", material, orientation=(0.0, 0.3, 1.0), twist=0.5, offset=(0.0, 0.01, 0.02))
    m.fix("rod:start")
    return m


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("section", SECTIONS)
def test_sections(section, move):
    how, Q = MOVES[move]
    m = rod(*SECTIONS[section])
    m.force("push", "rod:end", (1.0, 2.0, 3.0))
    m.moment("twist", "rod:end", (1.0, 0.3, 0.3))
    m.copy(["rod", "push", "twist", "support.1"], prefix="copy ", **how)
    assert_image(m, Q, "rod:end")


@pytest.mark.parametrize("move", MOVES)
def test_line_loads_in_section_axes(move):
    how, Q = MOVES[move]
    m = rod(*SECTIONS["Iyz"])
    m.line_load("wind", "rod", (1.0, 5.0, -3.0), axes="local")
    m.copy(["rod", "wind", "support.1"], prefix="copy ", **how)
    assert_image(m, Q, "rod:end")


def test_line_loads_along_and_across_in_the_plane():
    m = Model(2)
    m.material("steel", 2e11, 0.3, 7800.0)
    m.section("bar", "rectangle", width=0.02, height=0.03)
    m.line("rod", (0.0, 0.0), (1.0, 0.5), 2)
    m.beams("rod", "rod", "bar", "steel")
    m.fix("rod:start")
    m.line_load("wind", "rod", (3e4, 50.0), axes="local")
    n = np.array([2.0, 1.0]) / np.sqrt(5.0)
    m.copy(["rod", "wind", "support.1"], prefix="copy ", mirror={"normal": tuple(n), "point": (2.0, 0.0)})
    assert_image(m, np.eye(2) - 2.0 * np.outer(n, n), "rod:end", turns=False)


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("load", ["vector", "moment"])
def test_loads_along_edges_of_shells(load, move):
    how, Q = MOVES[move]
    m = Model(3)
    m.material("rubber", 2e9, 0.3, 2000.0)
    m.grid("sheet", "tube", radius=0.5, height=1.0, n=(3, 2), angles=(0.0, 80.0))
    m.shells("sheet", "sheet", "rubber", 0.02)
    m.fix("sheet:bottom")
    given = {"vector": (0.0, 0.0, 0.0)} | {load: (3.0, 5.0, 7.0)}
    m.line_load("edge", "sheet:top", axes="local", **given)
    m.copy(["sheet", "edge", "support.1"], prefix="copy ", **how)
    assert_image(m, Q, "sheet:top_end", turns=False)


@pytest.mark.parametrize("move", MOVES)
def test_masses_on_turned_bodies(move):
    """Their inertia is in the axes of the body."""
    how, _ = MOVES[move]
    m = Model(3)
    m.body("hub", (0.1, 0.2, 0.3), 1.0, (0.01, 0.011, 0.012), rotation=(0.4, -0.3, 0.8))
    m.point_mass("fan", "hub", 0.5, ((0.05, 0.01, 0.004), (0.01, 0.03, 0.002), (0.004, 0.002, 0.04)), (0.1, 0.0, 0.2))
    m.bushing("mount", "hub", stiffness=[300.0, 400.0, 500.0, 5.0, 6.0, 7.0], point=(0.1, 0.3, 0.3))
    m.copy(["hub", "fan", "mount"], prefix="copy ", **how)
    m.modes_step(12)
    f = np.asarray(solve(m).steps[0].series["frequency"])
    np.testing.assert_allclose(f[::2], f[1::2], rtol=1e-9)
    assert np.all(np.diff(f[::2]) > 1e-4 * f[0])


def test_a_mass_of_which_the_body_stays_is_refused():
    m = Model(3)
    m.body("hub", (0.1, 0.2, 0.3), 1.0, (0.01, 0.011, 0.012))
    m.point_mass("fan", "hub", 0.5, (0.05, 0.03, 0.04))
    with pytest.raises(ModelError, match="in the axes of a body that is not copied"):
        m.copy(["fan"], prefix="copy ", **TURN)


def test_cylinders_whose_angle_counts_the_other_way_in_the_mirror():
    """Each chamber is that on the other side."""
    m = Model(2)
    m.body("arm", (0.5, 0.0), 2.0, 0.1)
    m.joint("hinge", "revolute", "ground", "arm", point=(0.0, 0.0))
    m.hydraulic(
        "drive", "hinge", area=1e-3, area_b=6e-4, capacity=1e-10, capacity_b=2e-10, gain=1e-4, supply=2e7,
        opening="0.1*sin(20*t)", initial_pressure=3e6, initial_pressure_b=5e6,
    )  # fmt: skip
    m.copy(["arm", "hinge", "drive"], prefix="copy ", mirror={"normal": (0.0, 1.0), "point": (0.0, -2.0)})
    m.sensor("angle", "joint", on="hinge")
    m.sensor("angle of copy", "joint", on="copy hinge")
    m.transient_step(0.2, h=1e-3)
    results = solve(m)
    mine, image = (results.sensor(n).values for n in ("angle", "angle of copy"))
    assert np.abs(mine).max() > 1e-4
    np.testing.assert_allclose(image, -mine, rtol=1e-6, atol=1e-9)


def test_stress_sensors_look_at_the_images_of_their_fibres():
    how, _ = MOVES["mirror"]
    m = Model(3)
    m.material("rubber", 2e9, 0.3, 2000.0)
    m.section("bar", "rectangle", width=0.02, height=0.03, centroid=(0.003, 0.002))
    m.line("rod", (0.0, 0.0, 0.0), (0.2, 0.5, 0.3), 3)
    m.beams("rod", "rod", "bar", "rubber", orientation=(0.0, 0.3, 1.0))
    m.fix("rod:start")
    m.force("push", "rod:end", (1.0, 2.0, 3.0))
    fibres = {"corner": "top right", "side": "left", "point": [0.004, 0.007]}
    for name, fibre in fibres.items():
        m.sensor(name, "stress", on="rod", fibre=fibre)
    m.sensor("both", "stress envelope", on="rod", fibres=list(fibres.values()))
    m.copy(["rod", "push", "support.1", *fibres, "both"], prefix="copy ", **how)
    m.linear_static_step()
    results = solve(m)
    for name in (*fibres, "both"):
        mine, image = (results.sensor(n).values[-1] for n in (name, f"copy {name}"))
        assert abs(mine[0]) > 100.0
        np.testing.assert_allclose(image[::5], mine[::5], rtol=1e-8)


def test_stress_sensors_in_the_plane_look_at_the_images_of_their_fibres():
    m = Model(2)
    m.material("steel", 2e11, 0.3, 7800.0)
    m.section("bar", "rectangle", width=0.02, height=0.03)
    m.line("rod", (0.0, 0.0), (1.0, 0.5), 2)
    m.beams("rod", "rod", "bar", "steel")
    m.fix("rod:start")
    m.force("push", "rod:end", (10.0, 200.0))
    m.sensor("top", "stress", on="rod", fibre="top")
    m.sensor("point", "stress", on="rod", fibre=(0.01, 0.0))
    m.copy(["rod", "push", "support.1", "top", "point"], prefix="copy ", mirror={"normal": (1.0, 0.0)})
    m.copy(["top"], prefix="same ", translate=(1.0, 0.0))
    m.copy(["point"], prefix="same ", mirror={"normal": (1.0, 0.0)})  # the beam is not copied: it stays
    m.linear_static_step()
    results = solve(m)
    for name in ("top", "point"):
        mine, image, same = (results.sensor(n).values[-1] for n in (name, f"copy {name}", f"same {name}"))
        assert abs(mine) > 1e5
        np.testing.assert_allclose(image, mine, rtol=1e-8)
        np.testing.assert_array_equal(same, mine)
