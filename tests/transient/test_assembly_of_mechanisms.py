"""Mechanisms from approximate positions: joints closed by the least change, parts unstrained, clear errors."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest
from places import SCHEMA
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from fem_mbs import Model, ModelError, run, solve
from fem_mbs.analysis.context import make_context
from fem_mbs.analysis.run import check_beginning, inspect


def closed(m: Model):
    """Compiled model, state and report of a model after its assembly."""
    begun = inspect(m)
    return begun.compiled, begun.state, begun.assembly


BODIES = {
    "crank": (1.0, 0.02, (0.1, 0.05)),
    "coupler": (2.0, 0.3, (0.7, 0.4)),
    "rocker": (1.5, 0.1, (1.25, 0.3)),
}


def four_bar(function=None) -> Model:
    """Three bodies whose joints stand open by up to 0.1 m."""
    m = Model(2)
    m.assembly()
    for name, (mass, inertia, place) in BODIES.items():
        m.body(name, mass=mass, inertia=inertia, position=place)
    m.joint("A", "revolute", "ground", "crank", point=(0.0, 0.0), function=function)
    m.joint("B", "pin", "crank", "coupler", point=(0.3, 0.1), point_b=(0.32, 0.17))
    m.joint("C", "pin", "coupler", "rocker", point=(1.2, 0.6), point_b=(1.3, 0.65))
    m.joint("D", "revolute", "rocker", point=(1.1, 0.02), point_b=(1.1, 0.0))
    m.sensor("crank", "joint", on="A")
    m.transient_step(0.01, 0.001)
    return m


def test_least_change_is_that_of_an_optimiser():
    """sum m |dx|^2 + J dphi^2 subject to the pins, by SciPy's SLSQP on the nine coordinates."""
    _, state, report = closed(four_bar())
    start = np.array([[*place, 0.0] for _, _, place in BODIES.values()])
    weights = np.array([[mass, mass, inertia] for mass, inertia, _ in BODIES.values()])

    def point(q, body, place):
        x, y, angle = q.reshape(3, 3)[body]
        a = np.array(place) - start[body, :2]
        c, s = np.cos(angle), np.sin(angle)
        return np.array([x + c * a[0] - s * a[1], y + s * a[0] + c * a[1]])

    def gaps(q):
        return np.concatenate(
            [
                point(q, 0, (0.0, 0.0)),
                point(q, 0, (0.3, 0.1)) - point(q, 1, (0.32, 0.17)),
                point(q, 1, (1.2, 0.6)) - point(q, 2, (1.3, 0.65)),
                point(q, 2, (1.1, 0.02)) - (1.1, 0.0),
            ]
        )

    def change(q):
        return 0.5 * float((weights * (q.reshape(3, 3) - start) ** 2).sum())

    best = minimize(
        change, start.ravel(), constraints={"type": "eq", "fun": gaps}, method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )  # fmt: skip
    q = state.Q[0, :9]
    assert np.abs(gaps(q)).max() < 1e-14
    assert change(q) == pytest.approx(best.fun, rel=1e-10)
    assert np.abs(q - best.x).max() < 1e-7
    assert report.gaps == pytest.approx({"B": 0.07, "C": 0.1, "D": 0.02})
    moved = {entry.place: entry for entry in report.moved}
    assert moved["rocker"].rotation == pytest.approx(abs(q[8]))
    assert moved["coupler"].displacement == pytest.approx(np.hypot(*(q[3:5] - start[1, :2])))


def test_driven_coordinates_start_where_their_functions_do():
    s = solve(four_bar("0.4 + 2*t"))
    assert s.sensor("crank").values[:, 0] == pytest.approx(0.4 + 2.0 * s.steps[0].time, abs=1e-13)
    assert s.summary["assembly"]["largest_gap"] < 1e-14
    assert s.summary["steps"][0]["energy"]["closing_error_relative"] < 1e-10


@pytest.mark.parametrize("angle", [0.3, 2.0, 10.0])
def test_flexible_parts_keep_their_shape(angle):
    """Slider-crank of beams whose parts are apart; the crank is wanted at an angle, and after more than a turn."""
    m = Model(2)
    m.assembly()
    m.material("steel", E=2.1e11, nu=0.3, density=7850)
    m.section("rod", "circle", diameter=0.02)
    m.line("crank", (0, 0), (0.4, 0), n=2)
    m.line("rod", (0.45, 0.05), (1.45, 0.05), n=8)
    for name in ("crank", "rod"):
        m.beams(name, on=name, section="rod", material="steel")
    m.fix("crank:start", ["x", "y"])
    m.motion("drive", "crank:start", "rotation", angle)
    m.joint("pin", "pin", "crank:end", "rod:start")
    m.joint("slide", "slider", "rod:end", axis=(1, 0), point_b=(0, 0))
    m.static_step()
    compiled, state, report = closed(m)
    x = state.Q[0][compiled.system.offset[: m.n_nodes, None] + np.arange(2)]
    crank, rod = x[:3], x[3:]
    assert crank[-1] == pytest.approx(0.4 * np.array([np.cos(angle), np.sin(angle)]), abs=1e-12)
    assert rod[0] == pytest.approx(crank[-1], abs=1e-14)
    assert rod[-1, 1] == pytest.approx(0.0, abs=1e-14)
    straight = np.linspace(rod[0], rod[-1], 9)
    assert np.abs(rod - straight).max() < 1e-12
    assert np.linalg.norm(rod[-1] - rod[0]) == pytest.approx(1.0, abs=1e-12)
    assert report.strain_energy < 1e-18 and not report.warnings


def spatial(skew: float, distance: float) -> Model:
    """A plane four-bar of revolutes in space, three constraints too many, whose coupler stands apart and askew."""
    m = Model(3)
    m.assembly()
    R = Rotation.from_rotvec([0.5 * skew, skew, 0.3 * skew]).as_matrix()
    centre, shift = np.array([0.7, 0.4, 0.0]), np.array([0.0, 0.0, distance])

    def on_coupler(p):
        return R @ (np.array(p) - centre) + centre + shift

    for name, place in (("crank", (0.1, 0.05, 0)), ("coupler", centre + shift), ("rocker", (1.25, 0.3, 0))):
        m.body(name, mass=1.0, inertia=(0.02, 0.03, 0.04), position=place)
    z, askew = (0, 0, 1), R[:, 2]
    m.joint("A", "revolute", "ground", "crank", point=(0, 0, 0), axis=z, function="0.2*t")
    m.joint("B", "revolute", "crank", "coupler", point=(0.3, 0.1, 0), point_b=on_coupler((0.32, 0.17, 0)), axis=z,
            axis_b=askew)  # fmt: skip
    m.joint("C", "revolute", "coupler", "rocker", point=on_coupler((1.2, 0.6, 0)), point_b=(1.3, 0.65, 0), axis=askew,
            axis_b=z)  # fmt: skip
    m.joint("D", "revolute", "rocker", "ground", point=(1.1, 0.02, 0), point_b=(1.1, 0, 0), axis=z)
    m.static_step()
    return m


@pytest.mark.parametrize(("skew", "distance"), [(0.2, 0.05), (1.0, 0.5)])
def test_redundant_joints_in_space(skew, distance):
    compiled, state, report = closed(spatial(skew, distance))
    assert report.largest_gap < 1e-13
    z = state.Q[0][compiled.system.offset[:3] + 2]
    assert np.abs(z).max() < 1e-12  # a plane mechanism again
    axes = state.D[0, :3].reshape(-1, 3, 3) @ Rotation.from_rotvec(np.zeros(3)).as_matrix()
    turned = Rotation.from_rotvec([0.5 * skew, skew, 0.3 * skew]).as_matrix()[:, 2]
    assert axes[0, :, 2] == pytest.approx([0, 0, 1], abs=1e-13)
    assert axes[1] @ turned == pytest.approx([0, 0, 1], abs=1e-13)


def test_turns_of_driven_angles_count_in_space():
    m = Model(3)
    m.assembly()
    m.body("a", mass=1, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    m.joint("A", "revolute", "ground", "a", point=(0, 0, 0), axis=(0, 0, 1), function="7 + t")
    m.sensor("angle", "joint", on="A", quantity="angle")
    m.transient_step(0.1, 0.01)
    assert solve(m).sensor("angle").values[:, 0] == pytest.approx(7.0 + np.linspace(0.0, 0.1, 11), abs=1e-12)


@pytest.mark.parametrize(
    ("force", "expected"),
    [
        (lambda m: m.joint_spring("S", "A", cubic=2.0), lambda q: 2.0 * q**3),
        (lambda m: m.motor("S", "A", kp=3.0, position="0"), lambda q: -3.0 * q),
        (lambda m: m.user_force("S", "A", lambda q, rate, t: -2.0 * q), lambda q: -2.0 * q),
    ],
    ids=["spring", "motor", "user"],
)
def test_forces_on_angles_count_the_turns_of_the_assembly(force, expected):
    """The assembly turns the body by more than half a turn: 7 rad, not 7 - 2 pi."""
    m = Model(3)
    m.assembly()
    m.body("a", mass=1, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    m.joint("A", "revolute", "ground", "a", point=(0, 0, 0), axis=(0, 0, 1), function="7 + t")
    force(m)
    m.sensor("moment", "element", on="S", quantity="moment")
    m.static_step()
    assert solve(m).steps[-1].series["sensor/moment"][-1, 0] == pytest.approx(expected(7.0), rel=1e-12)


def test_prismatic_joint_with_a_part_askew():
    m = Model(2)
    m.assembly()
    m.body("a", mass=1.0, inertia=0.1, position=(0.5, 0.3))
    m.joint("P", "prismatic", "ground", "a", point=(0.0, 0.0), point_b=(0.5, 0.3), axis=(1, 0), axis_b=(1, 0.5))
    m.static_step()
    _, state, report = closed(m)
    assert state.Q[0, :3] == pytest.approx([0.5, 0.0, -np.arctan(0.5)], abs=1e-13)
    assert report.moved[0].rotation == pytest.approx(np.arctan(0.5))


def test_what_is_held_does_not_move():
    def build(hold):
        m = Model(2)
        m.assembly(hold=hold)
        m.body("a", mass=1.0, inertia=1e9, position=(0.0, 0.0))  # too inert to tilt
        m.body("b", mass=3.0, inertia=1e9, position=(1.0, 0.1))
        m.joint("P", "weld", "a", "b", point=(0.5, 0.0), point_b=(0.5, 0.1))
        m.static_step()
        return m

    _, state, _ = closed(build(None))
    assert state.Q[0, [1, 4]] == pytest.approx([0.075, 0.1 - 0.025], abs=1e-8)  # the lighter one moves more
    _, state, _ = closed(build("a"))
    assert state.Q[0, [0, 1, 2]] == pytest.approx([0, 0, 0], abs=0.0)
    assert state.Q[0, 4] == pytest.approx(0.0, abs=1e-14)


def test_summary_and_model_file(tmp_path):
    from fem_mbs.modelfile.read import load_model

    path = tmp_path / "m.toml"
    path.write_text("""
dimension = 2
[assembly]
hold = ["wall"]
[[body]]
name = "wall"
mass = 1.0
inertia = 1.0
position = [0.0, 0.0]
[[body]]
name = "door"
mass = 1.0
inertia = 1.0
position = [1.0, 0.1]
[[joint]]
name = "hinge"
type = "revolute"
a = "wall"
b = "door"
point = [0.5, 0.0]
point_b = [0.5, 0.1]
[[step]]
type = "transient"
duration = 0.01
h = 0.005
restarts = 1
""")
    results = run(load_model(path), tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    jsonschema.validate(summary, SCHEMA)
    assert summary["assembly"]["gaps"] == pytest.approx({"hinge": 0.1})
    assert results.summary["assembly"]["moved"][0]["place"] == "door"
    continued = run(load_model(path), tmp_path / "out", restart=-1)
    assert continued.summary["assembly"]["gaps"] == pytest.approx({"hinge": 0.1})


def test_an_assembled_model_is_left_alone():
    m = Model(2)
    m.assembly()
    m.body("a", mass=1.0, inertia=0.1, position=(0.3, 0.1))
    m.joint("A", "revolute", "a", point=(0.0, 0.0))
    m.static_step()
    _, state, report = closed(m)
    assert report.iterations == 0 and not report.moved and not report.gaps
    assert list(state.Q[0, :3]) == [0.3, 0.1, 0.0]


def test_strained_parts_are_named():
    """A truss between two supports that it does not reach."""
    m = Model(2)
    m.assembly()
    m.section("s", "stiffness", EA=100.0, rhoA=1.0)
    m.line("bar", (0, 0), (1, 0), n=1)
    m.trusses("bar", on="bar", section="s")
    m.joint("A", "pin", "bar:start", "ground", point=(0, 0))
    m.joint("B", "pin", "bar:end", "ground", point=(1, 0), point_b=(1.2, 0))
    m.static_step()
    _, _, report = closed(m)
    assert report.strain_energy == pytest.approx(0.5 * 100.0 * 0.2**2, rel=1e-6)
    assert '"bar"' in report.warnings[0] and "strained" in report.warnings[0]


def rigid_link(**pins) -> Model:
    m = Model(2)
    m.assembly()
    m.body("link", mass=1.0, inertia=0.1, position=(0, 0))
    for name, (point, place) in pins.items():
        m.joint(name, "pin", "link", "ground", point=point, point_b=place)
    m.static_step()
    return m


def test_joints_that_cannot_be_closed():
    m = rigid_link(left=((-0.5, 0), (-1, 0)), right=((0.5, 0), (1, 0)))
    with pytest.raises(ModelError, match=r'2 joints cannot be closed .*"(left|right)" by 0\.5 m.* stay open'):
        check_beginning(make_context(m))


def test_motions_that_contradict_each_other():
    m = Model(2)
    m.assembly()
    m.body("a", mass=1.0, inertia=0.1, position=(0, 0))
    m.joint("A", "revolute", "ground", "a", point=(-0.5, 0), function=0.1)
    m.joint("B", "angle", "ground", "a", function=0.2)
    m.static_step()
    with pytest.raises(ModelError, match=r'"[AB]" by 0\.05 rad.*motions contradict'):
        check_beginning(make_context(m))


def test_clear_errors():
    m = Model(3)
    m.body("a", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 0))
    with pytest.raises(ModelError, match=r'Joint "z": axis \(0.0, 0.0, 0.0\) has no length'):
        m.joint("z", "revolute", "ground", "a", point=(0, 0, 0), axis=(0, 0, 0))
    with pytest.raises(ModelError, match=r'Joint "y": axis_b \(0.0, 0.0, 0.0\) has no length'):
        m.joint("y", "revolute", "ground", "a", point=(0, 0, 0), axis=(0, 0, 1), axis_b=(0, 0, 0))
    with pytest.raises(ModelError, match='Joint "x": axis_b is opposite to axis'):
        m.joint("x", "revolute", "ground", "a", point=(0, 0, 0), axis=(0, 0, 1), axis_b=(0, 0, -1))
    with pytest.raises(ModelError, match='Joint "w": no body, node or mesh "b"'):
        m.joint("w", "revolute", "ground", "b", point=(0, 0, 0), axis=(0, 0, 1))
    m.assembly(hold="b")
    with pytest.raises(ModelError, match="asked for already"):
        m.assembly()
    m.static_step()
    with pytest.raises(ModelError, match='Assembly: no body, node or mesh "b"'):
        check_beginning(make_context(m))


def test_without_an_assembly_open_joints_are_refused():
    m = Model(2)
    m.body("a", mass=1.0, inertia=0.1, position=(0, 0))
    m.joint("A", "pin", "a", "ground", point=(0.5, 0), point_b=(0.6, 0))
    m.static_step()
    with pytest.raises(ModelError, match=r'Joint "A": it is open by 0\.1 m at the start; .*assembly'):
        check_beginning(make_context(m))


def test_a_nearly_straight_chain_that_must_fold():
    """Four flexible links, 0.97 m each, between points too near for a straight line; the first turned by a driver."""
    m = Model(3)
    m.assembly()
    m.material("steel", E=2.1e11, nu=0.3, density=7850)
    m.section("rod", "circle", diameter=0.02)
    links = [f"link {k}" for k in range(4)]
    for k, name in enumerate(links):
        m.line(name, (k, 0.02 * (k % 3), 0.03 * (k % 2)), (k + 0.97, 0.1, 0.05), n=4)
        m.beams(name, on=name, section="rod", material="steel")
    m.joint("first", "revolute", "ground", "link 0:start", point=(0, 0, 0), axis=(0, 0, 1), function=0.2)
    for a, b in zip(links[:-1], links[1:], strict=True):
        m.joint(f"{a} - {b}", "spherical", f"{a}:end", f"{b}:start")
    m.joint("last", "spherical", "link 3:end", "ground", point=(3.97, 0.1, 0.05), point_b=(3.8, 0.5, 0.2))
    m.static_step()
    compiled, state, report = closed(m)
    x = state.Q[0][compiled.system.offset[: m.n_nodes, None] + np.arange(3)].reshape(4, 5, 3)
    assert np.abs(x - np.linspace(x[:, 0], x[:, -1], 5, axis=1)).max() < 1e-9  # straight links
    assert np.abs(x[:-1, -1] - x[1:, 0]).max() < 1e-13
    assert x[3, -1] == pytest.approx([3.8, 0.5, 0.2], abs=1e-13)
    assert report.strain_energy < 1e-12
    assert report.iterations < 250
    assert max(entry.rotation for entry in report.moved) < 0.3


@pytest.mark.parametrize("kind", ["revolute", "cylindrical", "prismatic", "planar"])
@pytest.mark.parametrize("seed", [0, 2, 3])
def test_no_joint_comes_to_stand_backwards(kind, seed):
    """A chain of two bodies that stands anyhow: the axes of both ends of each joint point the same way, though the
    equations hold for opposite ones too, and a prismatic joint for parts turned by half or a third of a turn."""
    rng = np.random.default_rng(seed)

    def direction():
        a = rng.normal(size=3)
        return a / np.linalg.norm(a)

    m = Model(3)
    m.assembly()
    axes, ends = [direction() for _ in range(2)], [direction() for _ in range(2)]
    if seed == 0:
        ends = [-axes[0] + 1e-9 * direction(), -axes[1] + 1e-3 * direction()]
        ends = [end / np.linalg.norm(end) for end in ends]
    places = [rng.normal(size=3) for _ in range(2)]
    for name, place in zip("ab", places, strict=True):
        m.body(name, position=tuple(place), mass=1.0, inertia=(0.1, 0.2, 0.25))
    near = places[0] + rng.normal(size=3)
    for name, a, b, axis, axis_b in (("A", "ground", "a", axes[0], ends[0]), ("B", "a", "b", axes[1], ends[1])):
        m.joint(name, kind, a, b, point=tuple(near), point_b=tuple(rng.normal(size=3)), axis=axis, axis_b=axis_b)
        near = places[0] + rng.normal(size=3)
    m.static_step()
    _, state, _ = closed(m)
    R = [np.eye(3), *state.D[0][:2].reshape(2, 3, 3)]
    for k in range(2):
        assert (R[k] @ axes[k]) @ (R[k + 1] @ ends[k]) == pytest.approx(1.0, abs=1e-9)
    if kind == "prismatic":
        turn = Rotation.from_matrix(R[1])
        shortest = Rotation.from_rotvec(
            np.arccos(np.clip(axes[0] @ ends[0], -1, 1)) * np.cross(ends[0], axes[0])
            / np.linalg.norm(np.cross(ends[0], axes[0]))
        )  # fmt: skip
        assert (turn * shortest.inv()).magnitude() < (1e-6 if seed else 1e-3)


def test_a_joint_that_closes_backwards_only_is_refused():
    """A body whose revolute against the ground stands backwards and whose other joints let it stand so only."""
    m = Model(3)
    m.assembly()
    m.body("b", position=(0, 0, 0), mass=1.0, inertia=(0.1, 0.2, 0.25))
    for name, x in (("P", (0.0, 0.0)), ("Q", (1.0, 0.0)), ("R", (0.0, 1.0))):
        m.joint(name, "spherical", "ground", "b", point=(*x, 0.0), point_b=(*x, 0.1))
    backwards = {"axis": (0, 0, 1), "axis_b": (0, 1e-9, -1)}
    m.joint("hinge", "revolute", "ground", "b", point=(0, 0, 0), point_b=(0, 0, 0.1), **backwards)
    m.static_step()
    with pytest.raises(ModelError, match=r'Assembly: "hinge" can be closed .* turned'):
        closed(m)


# ---- full turns, and the row of the start ----------------------------------------------------------------------------
def driven(angle: str | float, kind: str = "revolute") -> Model:
    """A body whose joint with the ground an assembly brings to the drive's value."""
    m = Model(3)
    m.assembly()
    m.body("a", mass=1, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    m.joint("A", kind, "ground", "a", point=(0, 0, 0), axis=(0, 0, 1), function=angle)
    return m


def test_friction_counts_the_turns_of_an_assembly():
    m = driven("7 + t")
    m.friction("F", "A", coefficient=0.1, smoothing=1e-3, radius=0.02)
    m.sensor("q", "element", on="F", quantity="angle")
    m.transient_step(0.1, 0.01)
    q = solve(m).sensor("q", raw=True).values[:, 0]
    assert q == pytest.approx(7.0 + 0.01 * np.arange(1, 11), abs=1e-10)


@pytest.mark.parametrize("ratio", [-2.0, 0.5, 3.0])
def test_gears_count_the_turns_of_an_assembly(ratio):
    m = driven("7 + t")
    m.body("b", mass=1, inertia=(0.1, 0.1, 0.1), position=(3, 0, 0))
    m.joint("B", "revolute", "ground", "b", point=(3, 0, 0), axis=(0, 0, 1))
    m.gear("G", "A", "B", ratio)
    m.sensor("b", "joint", on="B")
    m.transient_step(0.1, 0.01)
    assert solve(m).sensor("b").values[:, 0] == pytest.approx(ratio * (7.0 + 0.01 * np.arange(11)), abs=1e-9)


@pytest.mark.parametrize("frame", ["first", "mean"])
@pytest.mark.parametrize("angle", [4.0, -4.0])  # beyond pi, below the limit of 4.7 rad
def test_bushings_count_the_turns_of_an_assembly(frame, angle):
    m = driven(angle)
    m.bushing("M", "ground", "a", stiffness=[0, 0, 0, 5.0, 5.0, 5.0], point=(0, 0, 0), frame=frame)
    m.sensor("phi", "element", on="M", quantity="rotation z")
    m.sensor("moment", "element", on="M", quantity="moment z")
    m.static_step()
    s = solve(m)
    assert s.sensor("phi").values[-1, 0] == pytest.approx(angle, abs=1e-10)
    assert s.sensor("moment").values[-1, 0] == pytest.approx(5.0 * angle, rel=1e-9)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_the_row_of_the_start_has_the_assembled_coordinate(kind):
    m = driven("2 + t", kind)
    m.sensor("a", "joint", on="A")
    m.transient_step(0.03, 0.01)
    assert solve(m).sensor("a").values[:, 0] == pytest.approx([2.0, 2.01, 2.02, 2.03], abs=1e-12)
