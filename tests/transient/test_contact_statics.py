"""Statics of parts that touch each other: long increments, and iterates that run away.

References are short increments, equilibrium, and looking at many instants of a straight motion.
"""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import AnalysisError, Model, ModelError, solve
from fem_mbs.errors import Owner
from fem_mbs.system.near_parts import FacePairing, TubePairing
from fem_mbs.system.passages import passages


def pressed(increments):
    """Two beams across each other; the ends of the upper one move through the lower one."""
    model = Model(3)
    model.section("rod", "stiffness", EA=1e6, EI=50.0, GA=4e5, GJ=40.0, rhoA=1.0, rhoI=1e-4)
    for name, start, end in (("lower", (-0.5, 0.0, 0.0), (0.5, 0.0, 0.0)), ("upper", (0, -0.5, 0.3), (0, 0.5, 0.3))):
        model.line(f"{name} line", start, end, 4)
        model.beams(name, f"{name} line", "rod")
    for end in ("start", "end"):
        model.fix(f"lower line:{end}")
        model.fix(f"upper line:{end}", ["x", "y"])
        model.motion(f"press {end}", f"upper line:{end}", "z", "-0.36*t")
    model.contact("touch", "lower", "upper", surface="beams", radius=0.02, ball=0.02, along=True, stiffness=1e6)
    model.sensor("force", "contact", on="touch")
    model.static_step(increments=increments, duration=1.0)
    return model


def test_beams_do_not_pass_through_each_other_in_a_long_increment():
    """In one increment the equilibrium behind the lower beam is nearer; it is refused, and the increment cut."""
    found = [solve(pressed(n)).steps[0].series["sensor/force"][-1, 0] for n in (1, 30)]
    assert found[1] > 100.0
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_gaps_in_linear_steps_are_not_those_of_parts_that_are_not_near():
    """A point on a beam: room for pairs that nothing uses made the gap nan, which means that nothing is near."""
    model = Model(3)
    model.section("rod", "stiffness", EA=1e9, EI=1e6, GA=1e9, GJ=1e6, rhoA=1.0, rhoI=1e-4)
    model.line("line", (-1, 0, 0), (1, 0, 0), 12)
    model.beams("lower", "line", "rod")
    for end in ("start", "end"):
        model.fix(f"line:{end}")
    model.node("point", (0.4, 0, 0.03))
    model.point_mass("mass", "point", 1.0)
    model.fix("point", ["x", "y"])
    model.contact(
        "touch", "lower", "point", surface="beams", radius=0.02, ball=0.02, stiffness=1e4, exponent=1.0, overlap=0.02
    )
    model.nodal_spring("hold", "point", "z", 1e4)
    model.force("push", "point", (0.0, 0.0, -20.0))
    for quantity in ("force", "gap"):
        model.sensor(quantity, "contact", on="touch", quantity=quantity)
    model.linear_static_step()
    found = solve(model)
    # 0.01 m of penetration push with 100 N, and the load adds 20 N to both springs; the beam hardly moves
    deep = 0.01 - (100.0 - 20.0) / 2e4
    assert found.sensor("gap").values[0, 0] == pytest.approx(-deep, rel=1e-2)
    assert found.sensor("force").values[0, 0] == pytest.approx(1e4 * deep, rel=1e-2)


def test_an_iterate_that_runs_away_leaves_no_pairs_behind():
    """A loose string over a beam as thick as a drum: Newton-Raphson's first iterates are many times its size away.  The
    pairs of one of them once served an equilibrium far from it, and the string fell through the drum."""
    n, radius = 16, 0.51 / np.cos(np.pi / 32)
    angle = np.pi - np.pi * np.arange(n + 1) / n
    points = np.zeros((n + 9, 3))
    points[4:-4, 0], points[4:-4, 2] = radius * np.cos(angle), radius * np.sin(angle)
    down = 0.1 * np.arange(4, 0, -1)
    points[:4, 0], points[-4:, 0] = -radius, radius
    points[:4, 2], points[-4:, 2] = -down, -down[::-1]
    model = Model(3)
    model.section("cable", "stiffness", EA=1e5, EI=1e-2, GA=1e4, GJ=1e-2, rhoA=0.05, rhoI=1e-6)
    model.section("drum", "stiffness", EA=1e9, EI=1e9, GA=1e9, GJ=1e9, rhoA=1.0, rhoI=0.1)
    model.line("axis", (0.0, -1.0, 0.0), (0.0, 1.0, 0.0), 1)
    model.beams("drum", "axis", "drum")
    model.fix("axis:all")
    model.polyline("line", points, 1)
    model.beams("cable", "line", "cable")
    model.force("weight", "line:start", (0.0, 0.0, -100.0))
    model.fix("line:start", ["x", "y"])
    model.fix("line:end", ["x", "y", "z"])
    model.contact(
        "grip", "drum", "cable", surface="beams", radius=0.5, along=True, ball=0.01, stiffness=1e6, exponent=1.0,
        overlap=1e-3,
    )  # fmt: skip
    model.sensor("pull", "reaction", on="line:end")
    model.static_step(increments=4)
    step = solve(model).steps[0]
    # the weight, within what the parts of the string, straight and stiff, lean on the drum
    assert step.series["sensor/pull"][-1, 2] == pytest.approx(-100.0, rel=1e-3)


# --- paths that meet -------------------------------------------------------------------------------------------------
def tubes(n, plane):
    nodes = np.arange(4 * n).reshape(2, n, 2)
    zero, none = np.zeros((n, 2)), np.zeros(n)
    return TubePairing(
        owner=Owner("Contact", "c"), a=nodes[0], b=nodes[1], reach=0.1, margin=0.1, length_a=none, length_b=none,
        ends_a=zero, ends_b=zero, share_a=none, share_b=none, plane=plane,
    )  # fmt: skip


def faces(n):
    return FacePairing(
        owner=Owner("Contact", "c"), a=np.arange(3 * n).reshape(n, 3), b=3 * n + np.arange(n)[:, None], reach=0.1,
        margin=0.1, widths=np.zeros((n, 3)), heights=np.ones((n, 3)), corners=np.zeros((n, 3)),
    )  # fmt: skip


def looked(x0, x1, y0, y1, steps):
    """Pairs whose vectors change sides while they are inside of each other, at one of many instants."""
    t = np.linspace(0.0, 1.0, steps)[:, None, None, None]
    x, y = ((1 - t) * a0 + t * a1 for a0, a1 in ((x0, x1), (y0, y1)))
    x, y = x[:, :, None], y[:, None]  # (instants, of x, of y, points, 3)
    face = x.shape[3] == 3
    u, w = x[..., 1, :] - x[..., 0, :], y[..., 0, :] - x[..., 0, :]
    v = x[..., 2, :] - x[..., 0, :] if face else y[..., 0, :] - y[..., 1, :]
    uu, uv, vv, uw, vw = ((p * q).sum(axis=-1) for p, q in ((u, u), (u, v), (v, v), (u, w), (v, w)))
    det = uu * vv - uv * uv  # of the normal equations of a u + b v = w
    a, b = (uw * vv - vw * uv) / det, (vw * uu - uw * uv) / det
    inside = (np.minimum(a, b) > 0.0) & ((a + b if face else np.maximum(a, b)) < 1.0)
    side = np.sign((np.cross(u, v) * w).sum(axis=-1))
    met = inside[1:] & (side[1:] != side[:-1])
    return {tuple(pair) for pair in np.argwhere(met.any(axis=0)).tolist()}


@pytest.mark.parametrize("kind", ["tubes", "faces"])
@pytest.mark.parametrize("seed", range(2))
def test_passages_are_those_that_many_instants_show(kind, seed):
    rng = np.random.default_rng(seed)
    n = 6
    x0, x1 = rng.normal(size=(2, n, 3 if kind == "faces" else 2, 3))
    y0, y1 = rng.normal(size=(2, n, 1 if kind == "faces" else 2, 3))
    pairing = faces(n) if kind == "faces" else tubes(n, plane=False)
    found = {tuple(pair) for pair in passages(pairing, x0, x1, y0, y1).tolist()}
    assert found == looked(x0, x1, y0, y1, 4000)
    assert found


def test_passages_in_the_plane():
    """Two segments and two that an end passes, or not."""
    x0 = x1 = np.array([[[0.0, 0.0], [1.0, 0.0]]] * 3)
    y0 = np.array([[[0.5, 0.2], [0.5, 1.0]], [[1.2, 0.2], [1.2, 1.0]], [[-0.5, 0.5], [1.5, 0.5]]])
    y1 = y0 - (0.0, 0.6)
    found = {tuple(pair) for pair in passages(tubes(3, plane=True), x0, x1, y0, y1).tolist()}
    assert {j for _, j in found} == {0, 2}


def test_parts_that_turn_together_do_not_pass():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 5, 2, 3))
    c, s = np.cos(2.5), np.sin(2.5)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    assert not len(passages(tubes(5, plane=False), x, x @ turn.T + 3.0, y, y @ turn.T + 3.0))


STOPS = {
    "plane": {"point": (1.0, 0.0, -0.012), "axis": (0.0, 0.0, 1.0)},
    "box": {"size": (0.1, 0.1, 0.02)},
    "triangles": {"triangles": {"shape": "box", "size": [0.1, 0.1, 0.02]}},
    "sphere": {"radius": 0.01},
    "cylinder": {"radius": 0.01, "axis": (0.0, 1.0, 0.0)},
    "capsule": {"radius": 0.01, "axis": (0.0, 1.0, 0.0), "length": 0.05},
}


@pytest.mark.parametrize("along", [False, True])
@pytest.mark.parametrize("surface", STOPS)
def test_a_beam_does_not_pass_through_a_stop_in_a_long_increment(surface, along):
    """Newton-Raphson's first iterate lies behind the stop, where the beam is in equilibrium, too: it was taken without
    a word, but for a plane, which has no other side."""
    model = Model(3)
    model.material("steel", E=2e11, density=7800.0)
    model.section("strip", "rectangle", width=0.02, height=0.004)
    model.line("line", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 8)
    model.beams("beam", "line", "strip", "steel", orientation=(0.0, 0.0, 1.0))
    model.fix("line:start")
    stop = {"point": (1.0, 0.0, -0.022)} | STOPS[surface]
    model.contact(
        "stop", "ground", "beam" if along else "line:end", surface=surface, ball=0.002, stiffness=1e5, exponent=1.0,
        along=along, **stop,
    )  # fmt: skip
    model.force("press", "line:end", (0.0, 0.0, -40.0))
    model.sensor("tip", "position", on="line:end")
    model.sensor("force", "contact", on="stop")
    model.static_step()
    found = solve(model)
    z, force = found.sensor("tip").values[-1, 2], found.sensor("force").values[-1, 0]
    # 3 E I/L^3 = 64 N/m bend by the gap of .01 m and a penetration of .4 mm
    deep = (40.0 - 64.0 * 0.01) / 1e5
    if along:  # places beside the tip bear as well, each with its share of the stiffness
        assert -0.01 - 2e-2 * 0.4 < z < -0.01
        assert force > 30.0
    else:
        assert z == pytest.approx(-0.01 - deep, abs=2e-3 * deep)
        assert force == pytest.approx(1e5 * deep, rel=2e-3)


def falling(body, gap=0.2):
    model = Model(3, gravity=(0.0, 0.0, -10.0))
    model.body("ball", (0.0, 0.0, 1.0), mass=2.0, inertia=np.full(3, 0.01))
    if body == "contact":
        model.fix("ball", ["x", "y", "rotation x", "rotation y", "rotation z"])
        model.contact(
            "floor", "ground", "ball", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), ball=1.0 - gap, stiffness=1e4,
            exponent=1.0,
        )  # fmt: skip
    else:
        model.joint("slide", "prismatic", a="ground", b="ball", point=(0.0, 0.0, 1.0), axis=(0.0, 0.0, 1.0))
        play = {
            "stops": {"stops": [-gap, gap], "stop_stiffness": 1e4},
            "play": {"table": [[-1.0 - gap, -1e4], [-gap, 0.0], [gap, 0.0], [1.0 + gap, 1e4]]},
        }[body]
        model.joint_spring("spring", "slide", **play)
    model.sensor("z", "position", on="ball")
    return model


@pytest.mark.parametrize("body", ["contact", "stops", "play"])
def test_what_is_loose_at_the_start_falls_until_something_holds_it(body):
    """The weight was refused, since nothing held the model at the start."""
    model = falling(body)
    model.static_step()
    assert solve(model).sensor("z").values[-1, 2] == pytest.approx(1.0 - 0.2 - 20.0 / 1e4, rel=1e-9)
    linear = falling(body)
    linear.linear_static_step()
    with pytest.raises(ModelError, match="nothing holds the model along z"):
        solve(linear)


def test_points_and_sharp_edges_are_refused_since_they_never_press():
    model = Model(3)
    model.body("point", (0.0, 0.0, 0.5), mass=2.0, inertia=np.full(3, 0.01))
    box = {"surface": "box", "size": (1.0, 1.0, 0.2), "point": (0.0, 0.0, 0.0)}
    with pytest.raises(ModelError, match="points and a box without a radius never press"):
        model.contact("stop", "ground", "point", stiffness=1e5, **box)
    with pytest.raises(ModelError, match="points and a box without a radius never press"):
        model.impact("blow", "ground", "point", restitution=0.5, **box)
    model.contact("stop", "ground", "point", stiffness=1e5, radius=0.01, **box)


def test_a_ball_that_sinks_to_the_core_of_a_box_ends_the_run():
    """There the force has no direction, and the ball went on through the box."""
    model = Model(3)
    model.body("ball", (0.0, 0.0, 0.12), mass=2.0, inertia=np.full(3, 0.01))
    model.initial("ball", velocity=(0.0, 0.0, -1.0))
    model.contact(
        "stop", "ground", "ball", surface="box", size=(1.0, 1.0, 0.2), point=(0.0, 0.0, 0.0), ball=0.01, stiffness=1e3,
        exponent=1.0,
    )  # fmt: skip
    model.transient_step(0.1, 1e-3, frames=0)
    with pytest.raises(AnalysisError, match="over the distance at which the surface loses the ball"):
        solve(model)
