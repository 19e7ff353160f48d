"""Copies of gears, friction, reduced parts and events: the image moves as the image of the original does."""

from __future__ import annotations

import numpy as np
import pytest
from flexible_parts import beam
from test_copies import MOVES

from fem_mbs import Model, ModelError, reduce_part, solve

N2 = np.array([0.6, 0.8])
Q2 = np.eye(2) - 2.0 * np.outer(N2, N2)
PLANE_MIRROR = {"mirror": {"normal": N2.tolist(), "point": [-3.0, 0.0]}}


def spatial() -> Model:
    """Two wheels and a rack on gears, a braked shaft, a block that a running surface drags."""
    m = Model(3, gravity=(0, 0, 0))
    m.body("motor", position=(0, 0, 0), mass=2.0, inertia=(0.1, 0.2, 0.3))
    m.body("wheel", position=(0, 1, 0), mass=3.0, inertia=(0.3, 0.2, 0.1))
    m.body("nut", position=(0, 2, 0), mass=1.0, inertia=(0.1, 0.1, 0.2))
    axis = (1.0, 0.2, 0.1)
    m.joint("shaft", "revolute", "ground", "motor", point=(0, 0, 0), axis=axis)
    m.joint("axle", "revolute", "ground", "wheel", point=(0, 1, 0), axis=axis)
    m.joint("guide", "cylindrical", "ground", "nut", point=(0, 2, 0), axis=axis)
    m.gear("pair", "shaft", "axle", ratio=-2.0)
    m.gear("rack", "shaft", "guide", ratio=0.3, coordinate_b="displacement")
    m.moment("twist", "motor", (4.0, 1.0, 0.0))
    m.moment("spin", "nut", (0.5, 0.0, 0.2))
    m.friction("brake", "axle", coefficient=0.3, smoothing=0.01, radius=0.1, normal=10.0, speed="0.2 + t")
    m.body("block", position=(0, 0, 3), mass=1.0, inertia=(0.1, 0.2, 0.1))
    m.joint("table", "planar", "ground", "block", point=(0, 0, 3), axis=(0.1, 0.2, 1.0))
    m.friction("belt", "table", coefficient=0.4, smoothing=0.01, normal=20.0, speed=2.0, direction=(1, 0.5, 0))
    m.friction("bush", "guide", coefficient=0.2, smoothing=0.01, radius=0.1, length=0.3, normal=2.0)
    m.body("disc", position=(3, 0, 3), mass=1.0, inertia=(0.1, 0.2, 0.1))
    m.joint("second table", "planar", "ground", "disc", point=(3, 0, 3), axis=(0.1, 0.2, 1.0))
    m.friction("second belt", "second table", coefficient=0.4, smoothing=0.01, normal=20.0, speed=2.0,
               direction=(1, 0.5, 0), radius=0.2, inner_radius=0.05)  # fmt: skip
    m.moment("whirl", "disc", (0.0, 0.0, 2.0))
    for name in ("motor", "wheel", "disc"):
        m.sensor(f"r {name}", "rotation", on=name)
    for name in ("nut", "block", "disc"):
        m.sensor(f"x {name}", "displacement", on=name)
    m.transient_step(duration=0.3, h=0.01)
    return m


SPATIAL = ["motor", "wheel", "nut", "block", "shaft", "axle", "guide", "table", "pair", "rack", "twist", "spin",
           "brake", "belt", "r motor", "r wheel", "x nut", "x block", "bush", "disc", "second table", "second belt",
           "whirl", "r disc", "x disc"]  # fmt: skip


@pytest.mark.parametrize("move", MOVES)
def test_gears_and_friction_move_as_their_images(move):
    how, Q = MOVES[move]
    m = spatial()
    m.copy(SPATIAL, **how)
    results = solve(m)
    for name in ("r motor", "r wheel", "x nut", "x block", "r disc", "x disc"):
        turn = Q if name[0] == "x" else np.linalg.det(Q) * Q
        mine, image = (np.asarray(results.sensor(n, 0)) for n in (name, f"{name} copy"))
        assert np.abs(mine).max() > 0.02
        assert image == pytest.approx(mine @ turn.T, abs=1e-7)


def plane() -> Model:
    """Wheels on a gear, a rack, a belt below a carriage, a slider and a free body on moving surfaces."""
    m = Model(2, gravity=(0, 0))
    for i, name in enumerate(("motor", "wheel")):
        m.body(name, position=(2.0 * i, 0.5), mass=1.0, inertia=0.2)
        m.joint(f"pin {name}", "revolute", "ground", name, point=(2.0 * i, 0.4))
    m.gear("pair", "pin motor", "pin wheel", ratio=1.5)
    m.moment("twist", "motor", 3.0)
    m.friction("drag", "pin wheel", coefficient=0.3, smoothing=0.01, radius=0.2, normal=5.0, speed=1.0)
    m.body("carriage", position=(0.0, 3.0), mass=1.0, inertia=0.1)
    m.joint("rail", "prismatic", "ground", "carriage", point=(0, 3), axis=(1.0, 0.3))
    m.friction("belt", "rail", coefficient=0.3, smoothing=0.01, normal=8.0, speed="1 + t")
    m.gear("rack", "pin motor", "rail", ratio=0.05)
    m.body("slider", position=(4.0, 3.0), mass=1.0, inertia=0.1)
    m.joint("floor", "slider", "slider", "ground", point=(4.0, 3.0), axis=(0.2, 1.0))
    m.friction("moving floor", "floor", coefficient=0.2, smoothing=0.01, normal=6.0, speed=1.5)
    m.body("free", position=(4.0, 5.0), mass=1.0, inertia=0.1)
    m.friction("wall", coefficient=0.2, smoothing=0.01, normal=6.0, speed=1.5, a="ground", b="free", axis=(1.0, 0.1))
    for name in ("motor", "wheel"):
        m.sensor(f"r {name}", "rotation", on=name)
    for name in ("carriage", "slider", "free"):
        m.sensor(f"x {name}", "displacement", on=name)
    m.transient_step(duration=0.3, h=0.01)
    return m


PLANE = ["motor", "wheel", "carriage", "slider", "free", "pin motor", "pin wheel", "rail", "floor", "pair", "rack",
         "twist", "drag", "belt", "moving floor", "wall", "r motor", "r wheel", "x carriage", "x slider",
         "x free"]  # fmt: skip


def test_plane_gears_and_friction_move_as_their_images():
    m = plane()
    m.copy(PLANE, **PLANE_MIRROR)
    results = solve(m)
    for name in ("motor", "wheel"):
        mine, image = (np.asarray(results.sensor(n, 0)) for n in (f"r {name}", f"r {name} copy"))
        assert np.abs(mine).max() > 0.05 and image == pytest.approx(-mine, abs=1e-8)
    for name in ("carriage", "slider", "free"):
        mine, image = (np.asarray(results.sensor(n, 0)) for n in (f"x {name}", f"x {name} copy"))
        assert np.abs(mine).max() > 0.01 and image == pytest.approx(mine @ Q2, abs=1e-8)


def test_a_gear_between_a_copied_joint_and_a_shared_one():
    m = plane()
    m.copy(["wheel", "pin wheel", "pair", "r wheel"], suffix=" 2", **PLANE_MIRROR)
    results = solve(m)
    mine, other = (np.asarray(results.sensor(n, 0)) for n in ("r wheel", "r wheel 2"))
    assert np.abs(mine).max() > 0.05 and other == pytest.approx(-mine, abs=1e-8)
    assert next(d for d in m.specifications if getattr(d, "name", "") == "pair 2").a == "pin motor"
    for of, message in (("pair", "neither of its joints is copied"), (["wheel", "drag"], "has friction already")):
        with pytest.raises(ModelError, match=message):
            plane().copy(of, translate=(9.0, 0.0))


def falling(by_hand: bool) -> Model:
    """A mass that loses its push when it has come far enough, and a driven arm that gets another law."""
    m = Model(2, gravity=(0, 0))
    shift = np.array([5.0, 1.0])
    for k, name in enumerate(("", " copy") if by_hand else ("",)):
        at = k * shift
        m.body(f"mass{name}", position=at, mass=1.0, inertia=0.1)
        m.body(f"arm{name}", position=at + (1.0, 2.0), mass=1.0, inertia=0.1)
        m.joint(f"hinge{name}", "revolute", "ground", f"arm{name}", point=at + (0.5, 2.0), function="2*t")
        m.force(f"push{name}", f"mass{name}", (10.0, 4.0))
        m.sensor(f"x{name}", "position", on=f"mass{name}")
        m.sensor(f"angle{name}", "joint", on=f"hinge{name}")
        m.event(f"far{name}", f"x{name}.x", value=0.2 + at[0], direction="rising", action="off", target=f"push{name}")
        m.event(f"turn{name}", f"angle{name}", value=0.3, action="switch", target=[f"hinge{name}"], function="-t**2")
    if not by_hand:
        m.copy(["mass", "arm", "hinge", "push", "x", "angle", "far", "turn"], translate=shift.tolist())
    m.transient_step(duration=0.4, h=0.01)
    return m


def test_a_shifted_event_is_that_written_by_hand():
    copied, written = solve(falling(False)), solve(falling(True))
    for name in ("x copy", "angle copy"):
        np.testing.assert_array_equal(np.asarray(copied.sensor(name, 0)), np.asarray(written.sensor(name, 0)))
    events = [step.summary["steps"][0]["events"] for step in (copied, written)]
    assert {e["name"] for e in events[0]} == {"far", "turn", "far copy", "turn copy"}
    assert sorted((e["name"], e["time"]) for e in events[0]) == sorted((e["name"], e["time"]) for e in events[1])


def test_a_mirrored_event_passes_the_value_of_the_image():
    """x of the original is -y of an image on the other side of the line x = -y; the angle falls where it rises."""
    m = falling(False)
    names = ["mass", "arm", "hinge", "push", "x", "angle", "far", "turn"]
    m.copy(names, suffix=" image", mirror={"normal": [1.0, 1.0], "point": [-4.0, 0.0]})
    made = {d.name: d for d in m.specifications if getattr(d, "name", "").endswith(" image")}
    assert made["far image"].sensor == "x image.y" and made["far image"].direction == "falling"
    assert made["far image"].value == pytest.approx(-0.2 - 4.0)
    results = solve(m)
    mine, image = (np.asarray(results.sensor(n, 0)) for n in ("x", "x image"))
    assert np.abs(mine).max() > 0.3
    assert image == pytest.approx(-mine[:, ::-1] - 4.0, abs=1e-8)
    mine, image = (np.asarray(results.sensor(n, 0)) for n in ("angle", "angle image"))
    # the law turns round at the value, which is passed again after the root of round-off
    assert image == pytest.approx(-mine, abs=1e-7)


def test_events_that_have_no_image_are_refused():
    m = falling(False)
    with pytest.raises(ModelError, match="nothing that it names is copied"):
        m.copy(["far", "mass"], suffix=" 2", translate=(0.0, 7.0))
    with pytest.raises(ModelError, match='component "x" is none of the turned copy'):
        m.copy(["mass", "push", "x", "far"], suffix=" 3", rotate={"angle": 30.0})
    m.sensor("most", "largest displacement", on="mass", component="x")
    m.event("wide", "most", value=0.1)
    with pytest.raises(ModelError, match="of one component has other values there"):
        m.copy(["mass", "push", "most", "wide"], suffix=" 4", rotate={"angle": 90.0})


def test_reduced_parts_turn_as_their_images():
    part = reduce_part(beam(2), {"root": "rod:start", "tip": "rod:end"}, modes=3)
    m = Model(3, gravity=(0, 0, 0))
    m.reduced_part("arm", part, position=(0.5, 0.2, 0.0), rotation=(0.1, 0.3, 0.2))
    m.joint("hinge", "revolute", "ground", "arm:root", axis=(0.0, 1.0, 0.3))
    m.force("push", "arm:tip", (0.0, 5.0, 50.0))
    m.sensor("x", "displacement", on="arm:tip")
    m.sensor("q", "modal", on="arm")
    how, Q = MOVES["turn"]
    m.copy(["arm", "hinge", "push", "x", "q"], **how)
    m.transient_step(duration=0.02, h=0.001)
    results = solve(m)
    mine, image = (np.asarray(results.sensor(n, 0)) for n in ("x", "x copy"))
    assert np.abs(mine).max() > 1e-3 and image == pytest.approx(mine @ Q.T, abs=1e-9)
    mine, image = (np.asarray(results.sensor(n, 0)) for n in ("q", "q copy"))
    assert image == pytest.approx(mine, abs=1e-9)
    with pytest.raises(ModelError, match="a reduced part cannot be mirrored"):
        m.copy("arm", prefix="other ", mirror={"normal": (1.0, 0.0, 0.0)})


PART_FILE = """
dimension = 2
[material.steel]
E = 2.1e11
density = 7850.0
[section.bar]
shape = "rectangle"
width = 0.02
height = 0.01
[mesh.rod]
line = {start = [0.0, 0.0], end = [1.0, 0.0], n = 4}
[[beam]]
name = "rod"
on = "rod"
section = "bar"
material = "steel"
[[line_load]]
name = "wind"
on = "rod"
vector = [0.0, 100.0]
"""

OF_PARTS = """
dimension = 2
[[part]]
name = "arm"
file = "rod.toml"
reduce = {interfaces = ["rod:start", "rod:end"], modes = 2}
position = [0.5, 0.2]
[[joint]]
name = "hinge"
type = "revolute"
a = "ground"
b = "arm:rod:start"
[[part_load]]
name = "gust"
part = "arm"
load = "wind"
follower = false
[[sensor]]
name = "x"
kind = "displacement"
on = "arm:rod:end"
[[copy]]
of = ["arm", "hinge", "gust", "x"]
count = 2
rotate = {angle = 120.0, point = [0.0, 0.0]}
[[step]]
type = "transient"
duration = 0.02
h = 0.001
"""


def test_a_part_is_reduced_once_for_all_copies(tmp_path, monkeypatch):
    import fem_mbs.modelfile.sources as sources
    from fem_mbs import load_model

    made = []
    part_of = sources.part_of
    monkeypatch.setattr(sources, "part_of", lambda *given: made.append(given) or part_of(*given))
    (tmp_path / "rod.toml").write_text(PART_FILE, encoding="utf-8")
    (tmp_path / "model.toml").write_text(OF_PARTS, encoding="utf-8")
    model = load_model(tmp_path / "model.toml")
    assert len(made) == 1 and list(model.reduced_parts) == ["arm", "arm copy 1", "arm copy 2"]
    results = solve(model)
    mine = np.asarray(results.sensor("x", 0))
    assert np.abs(mine).max() > 1e-3
    for k in (1, 2):
        a = k * 2.0 * np.pi / 3.0
        R = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
        assert np.asarray(results.sensor(f"x copy {k}", 0)) == pytest.approx(mine @ R.T, abs=1e-9)
    text = OF_PARTS.replace('of = ["arm", "hinge", "gust", "x"]', 'of = ["gust"]')
    (tmp_path / "model.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match='its part "arm" is not copied'):
        load_model(tmp_path / "model.toml")


@pytest.mark.parametrize("mirror", [False, True])
def test_locks_and_what_breaks_move_as_their_images(mirror):
    """A latch, a brake, a breaking weld, with the events and sensors on them, in the plane and its image."""
    m = Model(2)
    m.body("arm", (0.5, 0.0), 1.0, 0.1)
    m.body("hand", (1.5, 0.0), 1.0, 0.1)
    m.body("tool", (2.1, 0.0), 0.2, 0.01)
    m.joint("hip", "revolute", "ground", "arm", (0.0, 0.0))
    m.joint("knee", "revolute", "arm", "hand", (1.0, 0.0))
    m.joint("grip", "weld", "hand", "tool", (2.0, 0.0), breaks_at=1.2)
    m.lock("latch", "knee", value=0.1)
    m.lock("brake", "hip", limit=3.0)
    m.initial("arm", velocity=(0.0, 0.5), spin=1.0)
    m.initial("hand", velocity=(0.0, 2.5), spin=3.0)
    m.initial("tool", velocity=(0.0, 4.3), spin=3.0)
    m.sensor("place", "position", on="tool")
    m.sensor("way", "lock", on="brake", quantity="coordinate")
    m.event("far", "way", 0.25, "rising", "release", ["brake", "latch"])
    m.copy(
        ["arm", "hand", "tool", "hip", "knee", "grip", "latch", "brake", "place", "way", "far"], prefix="other ",
        **({"mirror": {"normal": (0.0, 1.0)}} if mirror else {"translate": (0.0, 5.0)}),
    )  # fmt: skip
    for name, w in (("arm", 1.0), ("hand", 3.0), ("tool", 3.0)):
        v = {"arm": 0.5, "hand": 2.5, "tool": 4.3}[name]
        sign = -1.0 if mirror else 1.0
        m.initial(f"other {name}", velocity=(0.0, sign * v), spin=sign * w)
    m.transient_step(0.8, 0.01)
    s = solve(m)
    place, image = (s.sensor(name).values for name in ("place", "other place"))
    image = image * (1.0, -1.0) if mirror else image - (0.0, 5.0)
    assert image == pytest.approx(place, abs=1e-9)
    happened = [(e["name"], e["action"]) for e in s.steps[0].summary["events"]]
    assert {action for _, action in happened} >= {"lock", "release", "break"}
    assert sorted(n for n, _ in happened if n.startswith("other")) == sorted(
        f"other {n}" for n, _ in happened if not n.startswith("other")
    )
