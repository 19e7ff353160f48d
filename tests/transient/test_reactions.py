"""Reactions of joints against the balance of a free body: force and moment that a joint reports on its part a are, with
their sign turned, what the rest of the loads leave of the change of momentum of part b."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from solid_meshes import box_mesh

from fem_mbs.analysis.run import solve
from fem_mbs.errors import ModelError
from fem_mbs.model.model import Model
from fem_mbs.model.sensors.sensor import node_values

MASS, GRAVITY = 1.3, np.array([1.1, -2.3, -9.81])
INERTIA = np.array([[0.02, 0.003, -0.002], [0.003, 0.03, 0.004], [-0.002, 0.004, 0.025]])
TILT = np.array([0.3, -0.2, 0.4])
TIP, MIDDLE, CENTRE = np.array([1.0, 0.0, 0.0]), np.array([0.5, 0.0, 0.0]), np.array([1.15, 0.1, -0.12])
CORNERS = CENTRE + np.array([[0.2, 0.0, 0.1], [-0.1, 0.25, 0.0], [0.0, -0.1, 0.3], [-0.2, -0.1, -0.2]])
ANCHORS = CORNERS + np.array([[0.3, 0.1, 0.0], [-0.2, 0.2, 0.1], [0.1, -0.3, 0.2], [-0.1, 0.1, -0.3]])
SPRING = 60.0
PUSH = np.array([6.0, -8.0, 7.0])
AXIS = np.array([0.36, 0.48, 0.8])
ACROSS = np.array([0.8, -0.6, 0.0])
WAY = "0.05*(1 - cos(6*t))"

#: Joints between the tip of the arm and the body: their options, and where their wrench acts.
SPACE = {
    "spherical": {},
    "weld": {},
    "revolute": {"axis": AXIS},
    "universal": {"axis": AXIS, "axis_b": ACROSS},
    "cylindrical": {"axis": AXIS},
    "prismatic": {"axis": AXIS},
    "planar": {"axis": AXIS},
    "screw": {"axis": AXIS, "lead": 0.3},
    "constant_velocity": {"axis": AXIS, "axis_b": (0.6, 0.0, 0.8)},
    "point_on_line": {"axis": AXIS},
    "point_on_plane": {"axis": AXIS},
    "distance": {"point_b": CORNERS[0]},
    "along_beam": {},
    "cylindrical_along_beam": {},
    "prismatic_along_beam": {},
    "point_on_curve": {"curve": "track"},
    "slider": {"axis": AXIS},
    "position": {"axis": AXIS, "function": WAY},
    "angle": {"axis": AXIS, "function": WAY},
}
DRIVEN = {
    "revolute driven": {**SPACE["revolute"], "function": WAY},
    "cylindrical driven": {**SPACE["cylindrical"], "function": WAY, "displacement": "0.1*sin(4*t)**2"},
    "prismatic driven": {**SPACE["prismatic"], "function": WAY},
    "planar driven": {**SPACE["planar"], "function": WAY},
    "screw driven": {**SPACE["screw"], "function": WAY},
    "point_on_line driven": {**SPACE["point_on_line"], "function": WAY},
    "distance driven": {**SPACE["distance"], "function": WAY},
    "along_beam driven": {**SPACE["along_beam"], "function": WAY},
    "prismatic_along_beam driven": {"function": WAY},
    "point_on_curve driven": {**SPACE["point_on_curve"], "function": WAY},
}
PLANE = [
    *("pin", "weld", "revolute", "prismatic", "slider", "point_on_line", "distance", "along_beam", "position", "angle"),
    *("revolute driven", "prismatic driven", "point_on_line driven", "distance driven", "along_beam driven"),
    *("prismatic_along_beam", "point_on_curve", "prismatic_along_beam driven", "point_on_curve driven"),
]
CASES = [(3, kind) for kind in (*SPACE, *DRIVEN)] + [(2, kind) for kind in PLANE]


def mechanism(dim: int, case: str) -> Model:
    """A body on a flexible arm by the joint, held by springs without length at its corners."""
    kind = case.partition(" ")[0]
    options = dict({**SPACE, **DRIVEN, "pin": {}}[case])
    m = Model(dim, gravity=GRAVITY[:dim])
    m.section("s", "stiffness", EA=2e4, EI=40.0, GA=1e4, rhoA=0.8, rhoI=2e-3, **({} if dim == 2 else {"GJ": 30.0}))
    m.line("l", np.zeros(dim), TIP[:dim], 4)
    m.beams("arm", "l", "s")
    m.fix("l:start")
    inertia, turn = (INERTIA[2, 2], {"angle": 0.2}) if dim == 2 else (INERTIA, {"rotation": TILT})
    m.body("b", CENTRE[:dim], MASS, inertia, **turn)
    for i, (corner, anchor) in enumerate(zip(CORNERS, ANCHORS, strict=True)):
        m.spring(f"spring {i}", "b", "ground", SPRING, length=0.0, point_a=corner[:dim], point_b=anchor[:dim])
        m.sensor(f"corner {i}", "position", on="b", point=corner[:dim])
        m.sensor(f"rate {i}", "velocity", on="b", point=corner[:dim])
    m.force("push", "b", PUSH[:dim], function="1 - cos(9*t)")
    m.sensor("x", "position", on="b")
    m.sensor("v", "velocity", on="b")
    m.sensor("turn", "rotation", on="b")
    place = {"a": "l:end", "b": "b", "point": TIP[:dim]}
    if kind == "angle":
        place.pop("point")
    if kind in ("slider", "position"):
        place = {"a": "b", "point": CORNERS[0][:dim]}
    if kind.endswith("along_beam"):
        place = {"a": "arm", "b": "b", "point": MIDDLE[:dim]}
    if dim == 2 and kind in ("revolute", "angle"):
        options.pop("axis")
    for key in ("axis", "point_b"):
        if key in options:
            options[key] = np.array(options[key])[:dim]
    if "curve" in options:
        ways = zip("xyz", TIP[:dim], ("0.4*sin(t)", "0.3 - 0.3*cos(t)", "0.1*t"))
        m.curve("track", **{c: f"{v} + {way}" for c, v, way in ways}, range=(-1.4, 1.4))
    m.joint("j", kind, **place, **options)
    m.sensor("R", "reaction", on="j")
    if kind in ("slider", "position"):
        m.sensor("P", "position", on="b", point=CORNERS[0][:dim])
    elif kind == "point_on_curve":
        m.sensor("P", "position", on="b", point=TIP[:dim])
    elif kind.endswith("along_beam"):
        m.sensor("P", "position", on="b", point=MIDDLE[:dim])
    else:
        m.sensor("P", "position", on="l:end")
    return m


def in_space(values: np.ndarray) -> np.ndarray:
    """Vectors (n, 2) or (n, 3) in space."""
    return np.column_stack((values, np.zeros((len(values), 3 - values.shape[1]))))


def balance(solution, dim: int, kind: str):
    """Times, position (n, 3) and momenta (n, 6) of the body about the origin, places of the springs and of the reaction
    (n, 3), and the reaction (n, 6) on part b."""

    def get(name: str) -> np.ndarray:
        """Rows of the last step as they were computed."""
        return solution.steps[-1].series[f"sensor/{name}"]

    x, v = in_space(get("x")), in_space(get("v"))
    if dim == 2:
        arm = get("corner 0") - get("x")
        rate = get("rate 0") - get("v")
        w = (arm[:, 0] * rate[:, 1] - arm[:, 1] * rate[:, 0]) / (arm**2).sum(axis=1)
        spin = np.column_stack((np.zeros((len(w), 2)), INERTIA[2, 2] * w))
    else:
        arms = np.stack([get(f"corner {i}") - get("x") for i in range(4)], axis=1)
        rates = np.stack([get(f"rate {i}") - get("v") for i in range(4)], axis=1)
        skew = np.zeros((*arms.shape, 3))  # rate = w x arm = -arm x w
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            skew[..., i, j], skew[..., i, k] = arms[..., k], -arms[..., j]
        w = np.array([np.linalg.lstsq(a.reshape(-1, 3), r.ravel(), rcond=None)[0] for a, r in zip(skew, rates)])
        start = Rotation.from_rotvec(TILT).as_matrix()
        R = Rotation.from_rotvec(get("turn")).as_matrix() @ start
        spin = np.einsum("nij,jk,nlk,nl->ni", R, INERTIA, R, w)
    momenta = np.column_stack((MASS * v, spin + MASS * np.cross(x, v)))
    sign = 1.0 if kind.partition(" ")[0] in ("slider", "position") else -1.0
    R = get("R")
    R = np.column_stack((in_space(R[:, :dim]), np.zeros((len(R), 2)), R[:, 2])) if dim == 2 else R[:, :6]
    corners = [in_space(get(f"corner {i}")) for i in range(4)]
    return solution.steps[-1].time, x, momenta, corners, in_space(get("P")), sign * R


def loads(dim: int, t, x, corners) -> np.ndarray:
    """Gravity, push and springs (n, 6), moments about the origin, for times (n,) and places (n, 3)."""
    weight, push = np.zeros(3), np.zeros(3)
    weight[:dim], push[:dim] = MASS * GRAVITY[:dim], PUSH[:dim]
    force = weight + push * (1.0 - np.cos(9.0 * t))[:, None]
    moment = np.cross(x, force)
    for corner, anchor in zip(corners, ANCHORS, strict=True):
        pull = SPRING * (in_space(anchor[None, :dim]) - corner)
        force = force + pull
        moment = moment + np.cross(corner, pull)
    return np.column_stack((force, moment))


def about_origin(P: np.ndarray, R: np.ndarray) -> np.ndarray:
    return np.column_stack((R[:, :3], R[:, 3:6] + np.cross(P, R[:, :3])))


def half(values):
    """Means of consecutive rows."""
    return 0.5 * (values[1:] + values[:-1])


@pytest.mark.parametrize(("dim", "kind"), CASES)
def test_reaction_is_what_the_free_body_needs(dim, kind):
    """Statics, then the mid-point rule, whose balance of forces and moments at mean places is exact in every step; the
    mean of two rows is of second order at any other."""
    m = mechanism(dim, kind)
    m.static_step(increments=4)
    m.transient_step(0.24, 0.004, frames=0)
    s = solve(m)
    names = ["force x", "force y", "force z", "moment x", "moment y", "moment z"] if dim == 3 else None
    names = names or ["force x", "force y", "moment"]
    sensor = next(k for k in s.compiled.sensors if k.name == "R")
    assert [c.partition(".")[2] for c in sensor.columns[: len(names)]] == names
    assert sensor.unit[: len(names)] == ["N"] * dim + ["N m"] * (len(names) - dim)

    class Static:
        steps = s.steps[:1]

    t, x, _, corners, P, R = (v if isinstance(v, list) else v[-1:] for v in balance(Static, dim, kind))
    given = loads(dim, t, x, [c[-1:] for c in corners])
    assert np.abs(given + about_origin(P, R)).max() < 1e-9 * np.abs(given).max()
    t, x, momenta, corners, P, R = balance(s, dim, kind)
    change = np.diff(momenta, axis=0) / np.diff(t)[:, None]
    given = loads(dim, half(t), half(x), [half(c) for c in corners])
    acting = about_origin(half(P), R[1:])
    scale = np.abs(R[1:]).max()
    assert np.abs(change).max() > 0.5
    # of joints along a line the point of the line is not the mean of its ends, but for O(h^2)
    tolerance = 2e-4 if kind.startswith("along_beam") else 1e-9
    assert np.abs(change - given - acting)[:, :3].max() < 1e-9 * scale
    assert np.abs(change - given - acting)[:, 3:].max() < tolerance * scale


RULES = {
    "mid-point": {},
    "Newmark": {"rule": "newmark"},
    "generalised-alpha": {"rule": "generalised-alpha"},
    "adaptive": {"adaptive": 1e-8},
}


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("kind", ["revolute driven", "prismatic", "screw", "distance", "universal"])
def test_reaction_at_the_times_of_rows(kind, rule):
    """At the times of rows forces are of second order in the step, with every rule: four times less at half of it."""
    errors = []
    for h in (0.004, 0.002):
        m = mechanism(3, kind)
        m.static_step(increments=4)
        m.transient_step(0.2, h, frames=0, **RULES[rule])
        s = solve(m)
        t, x, momenta, corners, P, R = balance(s, 3, kind)
        R = node_values(t, R, s.steps[-1].info["mid_step"])
        # derivatives by the differences of order 4
        d = momenta
        change = (8.0 * (d[3:-1] - d[1:-3]) - (d[4:] - d[:-4])) / (12.0 * h)
        rest = change - (loads(3, t, x, corners) + about_origin(P, R))[2:-2]
        errors.append(np.abs(rest[8:]).max() / np.abs(R[2:-2]).max())
    assert errors[1] < 2e-3
    # (the own steps of adaptive ones stay what they are)
    assert errors[1] < 0.4 * errors[0] or (rule == "adaptive" and errors[1] < 2e-4), errors


DRIVES = {
    **{key.partition(" ")[0]: value for key, value in DRIVEN.items()},
    "position": SPACE["position"],
    "angle": SPACE["angle"],
}


@pytest.mark.parametrize("rule", ["midpoint", "newmark"])
@pytest.mark.parametrize(
    ("dim", "kind"), [(3, k) for k in DRIVES] + [(2, k) for k in DRIVES if k in PLANE or f"{k} driven" in PLANE]
)
def test_drive_times_rate_is_the_power(dim, kind, rule):
    """Of every driver: what it does on its coordinate, times the change of this, is the work that the ledger books."""
    case = kind if kind in ("position", "angle") else f"{kind} driven"
    m = mechanism(dim, case)
    m.sensor("D", "drive", on="j")
    m.sensor("W", "work", on="j")
    m.transient_step(0.3, 0.003, frames=0, rule=rule)
    s = solve(m)
    t, D, W = s.steps[-1].time, s.steps[-1].series["sensor/D"], s.sensor("W").values[:, 0]
    coordinates = [0.05 * (1.0 - np.cos(6.0 * t))]
    if kind == "cylindrical":
        units = next(k for k in s.compiled.sensors if k.name == "D").unit
        coordinates.insert(units.index("N"), 0.1 * np.sin(4.0 * t) ** 2)
    work = np.zeros(len(t) - 1)
    for k, q in enumerate(coordinates):
        work += (D[1:, k] if rule == "midpoint" else half(np.nan_to_num(D[:, k]))) * np.diff(q)
    spent = np.abs(np.diff(W)).sum()
    assert spent > 0.01
    assert np.abs(np.cumsum(work) - W[1:]).max() < (2e-4 if rule == "midpoint" else 0.03) * spent
    assert s.steps[-1].ledger("driver work")[-1] == pytest.approx(W[-1], rel=1e-12)


def test_drive_of_motions():
    """Motions of a displacement and of a rotation: force and moment with the sign of the coordinate."""
    for component, law in (("x", "0.1*sin(5*t)**2"), ("rotation", "0.4*sin(5*t)**2")):
        m = Model(2, gravity=(1.0, -9.81))
        m.body("b", (0.3, 0.1), 2.0, 0.1)
        m.joint("pin", "pin", "ground", "b", point=(0.0, 0.0)) if component == "rotation" else None
        m.motion("d", "b", component, law)
        m.sensor("D", "drive", on="d")
        m.transient_step(0.5, 0.001, frames=0)
        s = solve(m)
        t = s.steps[0].time
        q = (0.1 if component == "x" else 0.4) * np.sin(5.0 * t) ** 2
        work = s.steps[-1].series["sensor/D"][1:, 0] @ np.diff(q)
        assert work == pytest.approx(s.steps[0].ledger("driver work")[-1], rel=1e-6)
        assert s.steps[-1].series["sensor/D"][1, 0] > 0.0  # the mass is accelerated along the coordinate


def test_cylinder_forces_of_inverse_dynamics_move_the_boom():
    """The force of a driven length, given to a motor at its place, makes the same motion."""

    def boom(table=None):
        m = Model(2, gravity=(0.0, -9.81))
        m.body("b", (1.0, 0.0), 20.0, 3.0)
        m.joint("h", "revolute", "ground", "b", point=(0.0, 0.0))
        if table is None:
            law = {"kind": "smoothstep", "duration": 1.0, "end_value": 0.1}
            m.joint("c", "distance", "ground", "b", point=(0.2, -0.8), point_b=(0.6, 0.0), function=law)
        else:
            t, force = table
            law = {"kind": "spline", "times": t.tolist(), "values": force.tolist()}
            m.motor("c", a="ground", b="b", point_a=(0.2, -0.8), point_b=(0.6, 0.0), force=law)
        m.sensor("q", "joint", on="h")
        (m.inverse_step if table is None else m.transient_step)(1.0, 0.002)
        return m

    inverse = solve(boom())
    found = inverse.drives()
    t = found.t
    forward = solve(boom((t, next(iter(found.by_sensor.values())))))
    assert inverse.steps[-1].series["sensor/q"][-1, 0] > 0.1
    assert forward.steps[-1].series["sensor/q"][-1, 0] == pytest.approx(
        inverse.steps[-1].series["sensor/q"][-1, 0], abs=1e-4
    )


@pytest.mark.parametrize("kind", ["gear", "rack"])
def test_gear_acts_on_both_parts(kind):
    """Angular or linear momentum of either wheel: gear and bearing together."""
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    m.body("carrier", (0.0, 0.0, 0.0), 3.0, (0.3, 0.4, 0.5))
    m.joint("post", "revolute", "ground", "carrier", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    m.body("a", (0.5, 0.1, 0.2), 1.0, (0.05, 0.04, 0.03), rotation=(0.2, 0.1, 0.0))
    m.body("b", (-0.2, 0.4, 0.1), 0.8, (0.03, 0.05, 0.04))
    m.joint("axle", "revolute", "carrier", "a", point=(0.4, 0.0, 0.1), axis=(0.0, 0.6, 0.8))
    other = "revolute" if kind == "gear" else "prismatic"
    m.joint("other", other, "carrier", "b", point=(-0.2, 0.3, 0.0), axis=(0.6, 0.0, 0.8))
    m.gear("teeth", "axle", "other", -1.7 if kind == "gear" else 0.2)
    m.initial_speed("a", "rotation", 6.0, against="carrier", axis=(0.0, 0.6, 0.8))
    m.initial_speed("carrier", "rotation", 2.0, axis=(0.0, 0.0, 1.0))
    for body, joint in (("a", "axle"), ("b", "other")):
        m.sensor(f"v {body}", "velocity", on=body)
        m.sensor(f"R {body}", "reaction", on=joint)
    m.sensor("teeth", "reaction", on="teeth")
    m.transient_step(0.5, 0.002, frames=0)
    s = solve(m)
    sensor = next(k for k in s.compiled.sensors if k.name == "teeth")
    parts = ["force x", "force y", "force z", "moment x", "moment y", "moment z"]
    assert [c.partition(".")[2] for c in sensor.columns] == [
        *("force a", "force b"), *(f"{k} {p}" for k in "ab" for p in parts)
    ]  # fmt: skip
    assert sensor.unit == ["N m", "N m" if kind == "gear" else "N", *(["N"] * 3 + ["N m"] * 3) * 2]
    teeth = s.steps[-1].series["sensor/teeth"][1:]
    for k, (body, mass) in enumerate((("a", 1.0), ("b", 0.8))):
        force = -(s.steps[-1].series[f"sensor/R {body}"][1:, :3] + teeth[:, 2 + 6 * k : 5 + 6 * k])
        change = mass * np.diff(s.sensor(f"v {body}").values, axis=0) / 0.002
        change[:, 2] += mass * 9.81
        assert np.abs(change - force).max() < 1e-9 * np.abs(force).max()
    # the teeth do no work: generalised forces in the ratio of the gear
    ratio = -1.7 if kind == "gear" else 0.2
    assert teeth[:, 0] == pytest.approx(-ratio * teeth[:, 1], rel=1e-9)
    assert np.linalg.norm(teeth[:, 5:8], axis=1) == pytest.approx(np.abs(teeth[:, 0]), rel=1e-3)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("turning", [False, True])
def test_coupling_acts_on_its_reference(dim, turning):
    """A body that carries masses, or masses with inertia, as a rigid coupling: force and moment about the reference."""
    m = Model(dim, gravity=GRAVITY[:dim])
    m.body("r", CENTRE[:dim], MASS, INERTIA[2, 2] if dim == 2 else INERTIA)
    nodes = [f"n{i}" for i in range(3)]
    for i, name in enumerate(nodes):
        if turning:
            m.body(name, CORNERS[i][:dim], 0.4 + 0.2 * i, 0.01 if dim == 2 else (0.01, 0.02, 0.015))
        else:
            m.node(name, CORNERS[i][:dim])
            m.point_mass(f"m{i}", name, 0.4 + 0.2 * i)
    m.coupling("c", "r", nodes)
    m.force("F", "n0", 3.0 * GRAVITY[:dim])
    m.sensor("R", "reaction", on="c")
    m.sensor("v", "velocity", on="r")
    m.sensor("x", "position", on="r")
    m.sensor("c0", "position", on="r", point=CORNERS[0][:dim])
    m.sensor("v0", "velocity", on="r", point=CORNERS[0][:dim])
    m.transient_step(0.2, 0.002, frames=0)
    s = solve(m)
    sensor = next(k for k in s.compiled.sensors if k.name == "R")
    assert len(sensor.columns) == (3 if dim == 2 else 6)
    R = s.steps[-1].series["sensor/R"][1:]
    change = MASS * np.diff(s.sensor("v").values, axis=0) / 0.002 - MASS * GRAVITY[:dim]
    assert np.abs(change - R[:, :dim]).max() < 1e-9 * np.abs(R).max()
    if dim == 2:
        arm, rate = s.sensor("c0").values - s.sensor("x").values, s.sensor("v0").values - s.sensor("v").values
        w = (arm[:, 0] * rate[:, 1] - arm[:, 1] * rate[:, 0]) / (arm**2).sum(axis=1)
        assert INERTIA[2, 2] * np.diff(w) / 0.002 == pytest.approx(R[:, 2], rel=1e-8)
    else:  # at the start from rest J alpha = M
        masses = np.array([0.4, 0.6, 0.8])
        arms = CORNERS[:3] - CENTRE
        # all as one rigid body, from its own equations
        total = MASS + masses.sum()
        mean = (masses @ arms) / total
        J = INERTIA - MASS * (np.outer(mean, mean) - mean @ mean * np.eye(3))
        for mass, a in zip(masses, arms - mean, strict=True):
            J = J + mass * (a @ a * np.eye(3) - np.outer(a, a))
        if turning:
            J = J + 3.0 * np.diag((0.01, 0.02, 0.015))
        alpha = np.linalg.solve(J, np.cross(arms[0] - mean, 3.0 * GRAVITY))
        assert R[0, 3:] == pytest.approx(INERTIA @ alpha, rel=5e-3, abs=5e-3 * np.abs(INERTIA @ alpha).max())


def test_tie_acts_on_the_tied_nodes():
    """Two blocks, one hanging on the other: the tie carries weight and load, its moment is about the origin."""
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    m.material("s", E=1e7, nu=0.3, density=100.0)
    for name, low in (("top", 1.0), ("low", 0.0)):
        m.mesh(name, box_mesh("hexahedron", (2, 2, 2), (1.0, 1.0, 1.0), place=(0.3, 0.2, low)))
        m.solids(name, f"{name}:body", "s")
    m.fix("top:z1")
    m.tie("glue", "low:z1", "top:z0 faces")
    m.force("pull", "low:z0", (0.0, 2.0, 0.0))
    m.sensor("R", "reaction", on="glue")
    m.static_step()
    R = solve(m).steps[-1].series["sensor/R"][-1]
    weight, pull = np.array([0.0, 0.0, -981.0]), np.array([0.0, 18.0, 0.0])
    moment = np.cross((0.8, 0.7, 0.5), weight) + np.cross((0.8, 0.7, 0.0), pull)
    assert R[:3] == pytest.approx(-(weight + pull), rel=1e-9, abs=1e-7)
    assert R[3:] == pytest.approx(-moment, rel=1e-3)


def test_steps_made_in_parts_have_the_mean_of_their_parts():
    """A step that fails and is made in parts reports the same impulse as the change of momentum."""
    m = Model(2)
    m.body("b", (1.0, 0.0), 2.0, 0.1)
    m.joint("p", "pin", "ground", "b", point=(0.0, 0.0))
    m.initial_speed("b", "rotation", 40.0)
    m.sensor("R", "reaction", on="p")
    m.sensor("v", "velocity", on="b")
    m.transient_step(1.0, 0.1, frames=0, max_iterations=5, predictor="none")
    s = solve(m)
    assert s.summary["steps"][0]["halved_steps"] > 0
    change = 2.0 * np.diff(s.sensor("v").values, axis=0) / 0.1
    assert np.abs(change + s.steps[-1].series["sensor/R"][1:, :2]).max() < 1e-9 * np.abs(change).max()


@pytest.mark.parametrize("dim", [2, 3])
def test_signs_of_section_forces(dim):
    """A cantilever along x under a force and a moment at its tip: what the part beyond exerts on the part before."""
    m = Model(dim)
    m.section("s", "stiffness", EA=1e6, EI=1e3, GA=1e6, rhoA=1.0, rhoI=1e-3, **({} if dim == 2 else {"GJ": 1e3}))
    m.line("l", np.zeros(dim), 2.0 * np.eye(dim)[0], 1)
    m.beams("b", "l", "s")
    m.fix("l:start")
    m.force("F", "l:end", (3.0, 0.7, 0.4)[:dim])
    m.moment("M", "l:end", 0.3 if dim == 2 else (0.5, 0.2, 0.3))
    names = ["N", "Q", "M_p", "M_q"] if dim == 2 else ["N", "Vy", "Vz", "T", "My 1", "My 2", "Mz 1", "Mz 2"]
    for name in [*names, "strain"]:
        m.sensor(name, "element", on="b", quantity=name)
    m.sensor("axial strain", "strain", on="b")
    m.linear_static_step()
    s = solve(m)
    found = [s.steps[-1].series[f"sensor/{name}"][-1, 0] for name in names]
    # at the start y and z forces have the lever of 2 m: M + r x F = (0.5, 0.2 - 2 Fz, 0.3 + 2 Fy)
    exact = [3.0, 0.7, 0.3 + 1.4, 0.3] if dim == 2 else [3.0, 0.7, 0.4, 0.5, 0.2 - 0.8, 0.2, 0.3 + 1.4, 0.3]
    assert found == pytest.approx(exact, rel=1e-6)
    assert s.steps[-1].series["sensor/axial strain"][-1, 0] == pytest.approx(3e-6, rel=1e-6)
    sensor = next(k for k in s.compiled.sensors if k.name == "axial strain")
    assert sensor.unit == "-"


def test_truss_of_greens_strain_reports_what_it_pulls_with():
    """Half as long again: EA (n^2 - L^2)/(2 L^2) n/L = 0.625 x 1.5 EA, which is what the support holds."""
    m = Model(2)
    m.section("s", "stiffness", EA=100.0, rhoA=1.0)
    m.line("l", (0, 0), (1, 0), 2)
    m.trusses("t", "l", "s", strain="green")
    m.fix("l:all", ["y"])
    m.fix("l:start")
    m.motion("pull", "l:end", "x", 0.5)
    m.sensor("N", "force", on="t")
    m.sensor("R", "reaction", on="l:start")
    m.static_step(increments=5, vary=["pull"])
    s = solve(m)
    assert s.steps[-1].series["sensor/N"][-1, 0] == pytest.approx(93.75, rel=1e-9)
    assert s.steps[-1].series["sensor/R"][-1, 0] == pytest.approx(-93.75, rel=1e-9)


def test_equation_has_its_moment_about_the_origin():
    """A force couple of an equation: u_y of two points are opposite, under a load at one of them."""
    m = Model(2)
    for name, x in (("a", 1.0), ("b", 3.0)):
        m.node(name, (x, 0.0))
        m.point_mass(name + " mass", name, 1.0)
        m.nodal_spring("hold " + name, name, "y", 10.0)
        m.fix(name, "x")
    m.equation("e", [("a", "y", 1.0), ("b", "y", 1.0)])
    m.force("F", "a", (0.0, 6.0))
    m.sensor("R", "reaction", on="e")
    m.static_step()
    # k u = (F + R)/1 at a and -k u = R at b: R = -F/2
    assert solve(m).steps[-1].series["sensor/R"][-1] == pytest.approx([0.0, -6.0, -3.0 * (1.0 + 3.0)], abs=1e-12)


def test_rod_in_tension_has_a_tension():
    """A pendulum rod that hangs: the force on its part a points to part b; the tension says so without a direction."""
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    m.node("bob", (0.0, 0.0, -2.0))
    m.point_mass("mass", "bob", 3.0)
    m.joint("rod", "distance", "ground", "bob", point=(0.0, 0.0, 0.0))
    m.sensor("R", "reaction", on="rod")
    m.transient_step(0.1, 0.01, frames=0)
    s = solve(m)
    assert s.compiled.sensors[0].columns[-1] == "R.tension"
    assert s.steps[-1].series["sensor/R"][-1] == pytest.approx(
        [0.0, 0.0, -3.0 * 9.81, 0.0, 0.0, 0.0, 3.0 * 9.81], abs=1e-9
    )


def test_support_forces_belong_to_the_last_correction():
    """A light load driven along a stiff beam: its steps end by increments at round-off, with residuals far above their
    tolerance before; the driver's work closes the ledger, and its force is that of the joint."""
    m = Model(2)
    m.section("q", "stiffness", EA=1e9, EI=1e6, rhoA=10.0, rhoI=0.0)
    m.line("b", (0, 0), (10, 0), n=20)
    m.beams("beam", "b", "q", shear=False)
    m.fix("b:start", ["x", "y"])
    m.fix("b:end", ["y"])
    m.node("load", (0.01, 0))
    m.point_mass("small", "load", 1e-6)
    m.joint("slide", "along_beam", "beam", "load")
    m.motion("drive", "load", "x", {"kind": "constant_speed", "rate": 49.67})
    m.force("P", "load", (0, -100.0))
    m.sensor("joint", "reaction", on="slide")
    m.sensor("drive force", "drive", on="drive")
    h = 0.0124 / 49.67
    m.transient_step(duration=3 * h, h=h, frames=0)
    s = solve(m)
    step = s.steps[0]
    assert np.abs(step.ledger("closing error")).max() < 1e-15
    assert s.steps[-1].series["sensor/drive force"][1:, 0] == pytest.approx(
        s.steps[-1].series["sensor/joint"][1:, 0], rel=1e-9
    )
    assert step.series["residual"].max() < 1.0


def test_adaptive_steps_do_not_alternate():
    """A pendulum's pin force from rows of adaptive steps against the closed form: as good as that of equal steps; joint
    coordinates at the times of the rows."""
    g, length, mass, J, start = 9.81, 0.7, 1.3, 0.05, 1.2
    m = Model(3, gravity=(0.0, -g, 0.0))
    m.body("b", (length * np.sin(start), -length * np.cos(start), 0.0), mass, (J, J, J))
    m.joint("p", "revolute", "ground", "b", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    m.sensor("R", "reaction", on="p")
    m.sensor("q", "joint", on="p")
    m.sensor("turn", "rotation", on="b")
    m.initial_speed("b", "rotation", 2.0, axis=(0.0, 0.0, 1.0))
    m.transient_step(1.5, 0.0025, frames=0, adaptive=1e-9)
    s = solve(m)
    q = s.sensor("q").values[:, 0]
    assert np.abs(q - s.sensor("turn").values[:, 2]).max() < 1e-6
    R = node_values(s.steps[0].time, s.steps[-1].series["sensor/R"], True)[2:-2, :2]
    angle = start + q[2:-2]
    Jp = mass * length**2 + J
    w2 = 4.0 + 2.0 * mass * g * length * (np.cos(angle) - np.cos(start)) / Jp
    al = -mass * g * length * np.sin(angle) / Jp
    x = mass * length * (al * np.cos(angle) - w2 * np.sin(angle))
    y = mass * (length * (al * np.sin(angle) + w2 * np.cos(angle)) + g)
    F = -np.column_stack((x, y))
    assert np.abs(R - F).max() < 1e-4 * np.abs(F).max()


def test_steps_take_loads_by_keyword():
    m = Model(2)
    told = "comes without its keyword; say which argument it is:"
    with pytest.raises(ModelError, match=f'Step "buckling": "all" {told} .*loads'):
        m.buckling_step(3, "all")
    with pytest.raises(ModelError, match=f'Step "shake": .* {told} loads'):
        m.harmonic_step([1.0], "shake", ["F"])
