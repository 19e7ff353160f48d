"""Random mechanisms against an independent integration in joint coordinates.

`hypothesis` builds trees and loops of rigid bodies with joint springs, springs between points, bushing-free joints of
one to three freedoms, weights and forces that vary with time.  The reference knows none of the package: it projects
Newton's and Euler's equations on joint coordinates with Jacobians made by recursion over the tree, closes loops by
multipliers on the accelerations, and integrates with scipy's DOP853 at 1e-10; what loops drift is projected out.  The
package's results at two step sizes are extrapolated (Richardson), so that an error of second order in any term shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from fem_mbs import Model, solve
from fem_mbs.model.sensors.sensor import node_values

TIME = 0.4
H = 0.005
TOLERANCE = 2e-6
AXES = {"revolute": "r", "prismatic": "p", "cylindrical": "rp", "universal": "rr", "spherical": "rrr"}


# --- a mechanism, as numbers -----------------------------------------------------------------------------------------
@dataclass
class Joint:
    """Body ``b`` in body ``a`` (-1: ground); axes (n, 3), of one freedom each, from a to b, through ``point``."""

    kind: str
    a: int
    b: int
    point: np.ndarray
    axes: np.ndarray
    stiffness: float
    damping: float
    free: float
    swapped: bool


@dataclass
class Spring:
    """Between a point of body a and one of b, given at the start."""

    a: int
    b: int
    p: np.ndarray
    q: np.ndarray
    stiffness: float
    damping: float
    length: float


@dataclass
class Mechanism:
    """Bodies as they stand at the start, where all joint coordinates are zero."""

    dimension: int
    gravity: np.ndarray
    places: np.ndarray
    masses: np.ndarray
    inertias: np.ndarray  # (n, 3, 3), global axes of the start
    joints: list[Joint]
    springs: list[Spring]
    forces: list[tuple[int, np.ndarray, float]]  # body, vector, frequency: vector cos(frequency t) at the mass centre
    loops: list[tuple[str, int, int, np.ndarray, np.ndarray]]  # "distance" or "pin", bodies, points
    speeds: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def freedoms(self) -> int:
        return sum(len(j.axes) for j in self.joints)


@st.composite
def mechanisms(draw, dimension):
    """Structure by hypothesis, numbers of one size by a generator that it seeds."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 3))
    kinds = ["revolute", "prismatic"] if dimension == 2 else list(AXES)

    def vector(size=1.0):
        v = size * rng.normal(size=3)
        return v * (1.0, 1.0, 0.0) if dimension == 2 else v

    def unit():
        v = vector()
        return v / np.linalg.norm(v)

    joints, places = [], []
    for b in range(n):
        a = draw(st.integers(-1, b - 1))
        kind = draw(st.sampled_from(kinds))
        point = vector(0.5) + (places[a] if a >= 0 else 0.0)
        places.append(point + vector(0.3) + 0.5 * unit())
        axes = [np.array([0.0, 0.0, 1.0]) if dimension == 2 and kind == "revolute" else unit()]
        if kind == "cylindrical":
            axes *= 2
        elif kind == "universal":
            other = np.cross(axes[0], unit())
            axes.append(other / np.linalg.norm(other))
        elif kind == "spherical":
            axes = list(np.eye(3))
        stiffness = draw(st.sampled_from([0.0, 20.0])) if kind != "spherical" else 0.0
        damping = draw(st.sampled_from([0.0, 0.5])) if kind != "spherical" else 0.0
        free = 0.3 * rng.normal()
        # a universal joint and a prismatic one have sides that are not alike: those stay as they are
        swapped = kind in ("revolute", "spherical") and draw(st.booleans())
        joints.append(Joint(kind, a, b, point, np.array(axes), stiffness, damping, free, swapped))
    inertias = []
    for _ in range(n):
        x = 0.3 * rng.normal(size=(4, 3))
        inertias.append(sum(np.eye(3) * (p @ p) - np.outer(p, p) for p in x) + 0.02 * np.eye(3))
    springs = []
    for _ in range(draw(st.integers(0, 2))):
        a, b = draw(st.sampled_from([(i, j) for i in range(-1, n) for j in range(i + 1, n)]))
        p, q = (vector(0.4) + (places[k] if k >= 0 else 0.0) for k in (a, b))
        length = np.linalg.norm(q - p) * rng.uniform(0.7, 1.2)
        springs.append(Spring(a, b, p, q, 30.0, draw(st.sampled_from([0.0, 0.4])), length))
    forces = [(draw(st.integers(0, n - 1)), vector(5.0), 7.0)] if draw(st.booleans()) else []
    masses = rng.uniform(0.5, 2.0, n)
    m = Mechanism(
        dimension, vector(5.0), np.array(places), masses, np.array(inertias), joints, springs, forces, []
    )  # fmt: skip
    m.speeds = 1.5 * rng.normal(size=m.freedoms)
    chain, b = 0, n - 1
    while b >= 0:
        chain, b = chain + len(joints[b].axes), joints[b].a
    if chain > 1 and draw(st.booleans()):
        q = places[-1] + vector(0.3)
        if dimension == 2 and chain > 2 and draw(st.booleans()):
            m.loops.append(("pin", -1, n - 1, q, q))
        else:
            m.loops.append(("distance", -1, n - 1, q + 0.8 * unit(), q))
        # not at a dead point, where no speed follows from the others
        J = Reference(m, closed=False).loops(np.zeros(m.freedoms), m.speeds)[1]
        assume(np.linalg.svd(J, compute_uv=False)[-1] > 0.2)
    return m


# --- the reference ---------------------------------------------------------------------------------------------------
class Reference:
    """Equations of motion in joint coordinates."""

    def __init__(self, m: Mechanism, closed: bool = True):
        self.m = m
        self.n = m.freedoms
        self.first = np.concatenate(([0], np.cumsum([len(j.axes) for j in m.joints])))
        self.start = self.project(np.zeros(self.n), m.speeds)[1] if closed else m.speeds

    def moved(self, q, v):
        """Of every body: rotation R and shift t (x = R X + t), Jacobians of its rotation (3, n) and of the point that
        is at the origin (3, n), both with their velocity products."""
        bodies = []
        for k, j in enumerate(self.m.joints):
            if j.a < 0:
                R, t = np.eye(3), np.zeros(3)
                Jw, Jo, bw, bo, w = (np.zeros((3, self.n)), np.zeros((3, self.n)), *np.zeros((3, 3)))
            else:
                R, t, Jw, Jo, bw, bo, w = bodies[j.a]
                Jw, Jo = Jw.copy(), Jo.copy()
            # position R p + t, acceleration of body points: J'' q'' + bias
            for i, (axis, sort) in enumerate(zip(j.axes, AXES[j.kind], strict=True)):
                c = self.first[k] + i
                a = R @ axis
                x = R @ j.point + t
                # velocities of the axis and of the point of the joint, as they move with the part before
                rate = np.cross(w, a)
                if sort == "r":
                    turn = Rotation.from_rotvec(q[c] * a).as_matrix()
                    vx = Jo @ v + np.cross(w, x)
                    R, t = turn @ R, turn @ (t - x) + x
                    # velocity of the point at the origin: x x a q' (a turn about an axis through x)
                    Jw[:, c] = a
                    Jo[:, c] = np.cross(x, a)
                    bw = bw + rate * v[c]
                    bo = bo + (np.cross(vx, a) + np.cross(x, rate)) * v[c]
                    w = w + a * v[c]
                else:
                    t = t + q[c] * a
                    Jo[:, c] = a
                    bo = bo + rate * v[c]
            bodies.append((R, t, Jw, Jo, bw, bo, w))
        return bodies

    def at(self, bodies, body, X, v):
        """Of a point given at the start: position, Jacobian, velocity, acceleration without q''."""
        if body < 0:
            return X, np.zeros((3, self.n)), np.zeros(3), np.zeros(3)
        R, t, Jw, Jo, bw, bo, w = bodies[body]
        x = R @ X + t
        J = Jo - np.cross(x, Jw.T).T
        speed = J @ v
        # (Jo - x~ Jw) differentiated: the point at the origin is a field, so its rate takes the point's own velocity
        return x, J, speed, bo + np.cross(bw, x) + np.cross(w, speed)

    def loops(self, q, v):
        """Gaps, Jacobian and velocity products of the conditions that close loops."""
        bodies = self.moved(q, v)
        gaps, rows, bias = [], [], []
        for kind, a, b, p, r in self.m.loops:
            xa, Ja, va, aa = self.at(bodies, a, p, v)
            xb, Jb, vb, ab = self.at(bodies, b, r, v)
            if kind == "pin":
                gaps += list((xb - xa)[:2])
                rows += list((Jb - Ja)[:2])
                bias += list((ab - aa)[:2])
            else:
                d = xb - xa
                gaps.append(0.5 * (d @ d - (r - p) @ (r - p)))
                rows.append(d @ (Jb - Ja))
                bias.append(d @ (ab - aa) + (vb - va) @ (vb - va))
        return np.array(gaps), np.array(rows).reshape(-1, self.n), np.array(bias)

    def forces(self, t, q, v):
        """Mass matrix and generalised forces less velocity products."""
        m = self.m
        bodies = self.moved(q, v)
        M, f = np.zeros((self.n, self.n)), np.zeros(self.n)
        for k, (R, _, Jw, _, bw, _, w) in enumerate(bodies):
            _, J, _, a = self.at(bodies, k, m.places[k], v)
            inertia = R @ m.inertias[k] @ R.T
            M += m.masses[k] * J.T @ J + Jw.T @ inertia @ Jw
            f += m.masses[k] * J.T @ (m.gravity - a) - Jw.T @ (inertia @ bw + np.cross(w, inertia @ w))
        for body, vector, frequency in m.forces:
            f += self.at(bodies, body, m.places[body], v)[1].T @ vector * np.cos(frequency * t)
        for s in m.springs:
            (xa, Ja, va, _), (xb, Jb, vb, _) = (self.at(bodies, *end, v) for end in ((s.a, s.p), (s.b, s.q)))
            d = xb - xa
            length = np.linalg.norm(d)
            e = d / length
            f -= (Jb - Ja).T @ e * (s.stiffness * (length - s.length) + s.damping * e @ (vb - va))
        for k, j in enumerate(m.joints):
            c = self.first[k]
            if j.stiffness or j.damping:
                f[c] -= j.stiffness * (q[c] - j.free) + j.damping * v[c]
        return M, f

    def accelerations(self, t, q, v):
        """q'' and the multipliers of loops."""
        M, f = self.forces(t, q, v)
        _, J, bias = self.loops(q, v)
        if not len(J):
            return np.linalg.solve(M, f), np.zeros(0)
        A = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
        x = np.linalg.solve(A, np.concatenate((f, -bias)))
        return x[: self.n], x[self.n :]

    def project(self, q, v):
        """Onto closed loops, positions and velocities."""
        for _ in range(4):
            g, J, _ = self.loops(q, v)
            if len(g):
                q = q - np.linalg.pinv(J) @ g
        J = self.loops(q, v)[1]
        return (q, v - np.linalg.pinv(J) @ (J @ v)) if len(J) else (q, v)

    def run(self, times):
        """(q, v) at times."""
        q, v = np.zeros(self.n), self.start
        out, t0 = [], 0.0
        for t1 in times:
            done = solve_ivp(
                lambda t, y: np.concatenate((y[self.n :], self.accelerations(t, *np.split(y, 2))[0])),
                (t0, t1), np.concatenate((q, v)), method="DOP853", rtol=1e-10, atol=1e-10,
            )  # fmt: skip
            assert done.success
            q, v = self.project(*np.split(done.y[:, -1], 2))
            out.append((q, v))
            t0 = t1
        return out

    def observed(self, t, q, v):
        """What is compared: places, rotations, velocities of bodies, joint coordinates, reactions on parts a."""
        m = self.m
        bodies = self.moved(q, v)
        qdd, multipliers = self.accelerations(t, q, v)
        out = {}
        for k, (R, *_) in enumerate(bodies):
            x, _, speed, _ = self.at(bodies, k, m.places[k], v)
            out[f"place {k}"], out[f"rotation {k}"], out[f"velocity {k}"] = x, R, speed
        # forces and moments (about the origin) that each body needs and does not get from springs, loads and loops
        need = np.zeros((len(bodies), 2, 3))
        for k, (R, _, Jw, _, bw, _, w) in enumerate(bodies):
            x, J, _, a = self.at(bodies, k, m.places[k], v)
            inertia = R @ m.inertias[k] @ R.T
            force = m.masses[k] * (J @ qdd + a - m.gravity)
            need[k] = force, inertia @ (Jw @ qdd + bw) + np.cross(w, inertia @ w) + np.cross(x, force)
        for body, vector, frequency in m.forces:
            x = self.at(bodies, body, m.places[body], v)[0]
            push = vector * np.cos(frequency * t)
            need[body] -= push, np.cross(x, push)
        pulls = []
        for s in m.springs:
            (xa, _, va, _), (xb, _, vb, _) = (self.at(bodies, *end, v) for end in ((s.a, s.p), (s.b, s.q)))
            e = (xb - xa) / np.linalg.norm(xb - xa)
            size = s.stiffness * (np.linalg.norm(xb - xa) - s.length) + s.damping * e @ (vb - va)
            pulls.append((s.a, s.b, xa, xb, -e * size))
        i = 0
        for n_loop, (kind, a, b, p, r) in enumerate(m.loops):
            xa, xb = (self.at(bodies, *end, v)[0] for end in ((a, p), (b, r)))
            if kind == "pin":
                force = -np.array((*multipliers[i : i + 2], 0.0))
                i += 2
            else:
                force = -multipliers[i] * (xb - xa)
                i += 1
            pulls.append((a, b, xa, xb, force))
            out[f"loop {n_loop}"] = -force
        for a, b, xa, xb, force in pulls:
            if b >= 0:
                need[b] -= force, np.cross(xb, force)
            if a >= 0:
                need[a] += force, np.cross(xa, force)
        for k in reversed(range(len(bodies))):
            j = m.joints[k]
            force, moment = need[k]
            if j.a >= 0:
                need[j.a] += need[k]
            part = bodies[j.a] if j.a >= 0 else (np.eye(3), np.zeros(3))
            x = part[0] @ j.point + part[1]
            axis = part[0] @ j.axes[0]
            moment = moment - np.cross(x, force)
            c = self.first[k]
            held = -j.stiffness * (q[c] - j.free) - j.damping * v[c]  # what the spring gives to b
            if AXES[j.kind][0] == "r":
                moment = moment - held * axis
            else:
                force = force - held * axis
            out[f"reaction {k}"] = (force, moment) if j.swapped else (-force, -moment)
            out[f"joint {k}"] = -q[c] if j.swapped else q[c]
        return out


# --- the package -----------------------------------------------------------------------------------------------------
def build(m: Mechanism, reference: Reference) -> Model:
    dim = m.dimension
    cut = slice(0, dim)
    model = Model(dim, gravity=m.gravity[cut])
    names = [f"b{k}" for k in range(len(m.places))]
    at = lambda k: "ground" if k < 0 else names[k]  # noqa: E731
    for name, place, mass, inertia in zip(names, m.places, m.masses, m.inertias, strict=True):
        model.body(name, tuple(place[cut]), mass, float(inertia[2, 2]) if dim == 2 else inertia)
    for k, j in enumerate(m.joints):
        kind = "pin" if dim == 2 and j.kind == "revolute" else j.kind
        ends = (at(j.b), at(j.a)) if j.swapped else (at(j.a), at(j.b))
        options = {} if kind in ("pin", "spherical") else {"axis": j.axes[0][cut]}
        if kind == "universal":
            options["axis_b"] = j.axes[1]
        model.joint(f"j{k}", kind, *ends, point=j.point[cut], **options)
        if j.stiffness or j.damping:
            free = -j.free if j.swapped else j.free
            model.joint_spring(f"s{k}", f"j{k}", j.stiffness, j.damping, free)
        if kind != "spherical":
            model.sensor(f"joint {k}", "joint", on=f"j{k}")
        model.sensor(f"reaction {k}", "reaction", on=f"j{k}")
    for i, s in enumerate(m.springs):
        points = {"point_a": s.p[cut], "point_b": s.q[cut]}
        model.spring(f"spring {i}", at(s.a), at(s.b), s.stiffness, s.damping, s.length, **points)
    for i, (body, vector, frequency) in enumerate(m.forces):
        model.force(f"force {i}", names[body], vector[cut], function=f"cos({frequency}*t)")
    for i, (kind, a, b, p, r) in enumerate(m.loops):
        if kind == "pin":
            model.joint(f"loop {i}", "pin", at(a), at(b), point=p[cut])
        else:
            model.joint(f"loop {i}", "distance", at(a), at(b), point=p[cut], point_b=r[cut])
        model.sensor(f"loop {i}", "reaction", on=f"loop {i}")
    q, v = np.zeros(m.freedoms), reference.start
    bodies = reference.moved(q, v)
    for k, name in enumerate(names):
        spin = bodies[k][6]
        velocity = reference.at(bodies, k, m.places[k], v)[2]
        model.initial(name, velocity=tuple(velocity[cut]), spin=float(spin[2]) if dim == 2 else tuple(spin))
        for kind, sensor in (("place", "position"), ("rotation", "rotation"), ("velocity", "velocity")):
            model.sensor(f"{kind} {k}", sensor, on=name)
    return model


def extrapolated(m: Mechanism, reference: Reference, rule: str, h: float):
    """Sensors at half and full time at steps h and h/2, and what Richardson makes of them; errors of the energy."""
    found = []
    for parts in (1, 2):
        model = build(m, reference)
        model.transient_step(TIME, h / parts, rule=rule, frames=0)
        solution = solve(model)
        closing = solution.summary["steps"][0]["energy"]["closing_error_relative"]
        assert rule != "midpoint" or closing < 1e-9
        rows = [round(TIME / h) * parts // 2, round(TIME / h) * parts]
        step = solution.steps[0]
        values = {}
        for s in solution.compiled.sensors:
            table = node_values(
                step.time, solution.steps[-1].series[f"sensor/{s.name}"], s.mid_step and step.info["mid_step"]
            )
            values |= {column: table[rows, i] for i, column in enumerate(s.columns)}
        found.append(values)
    return {k: (4.0 * found[1][k] - found[0][k]) / 3.0 for k in found[0]}


def columns(found, name: str, row: int) -> np.ndarray:
    """The vector of a sensor's columns, as far as it has some."""
    return np.array([found[f"{name}.{c}"][row] for c in "xyz" if f"{name}.{c}" in found])


def compare(m: Mechanism, found, reference: Reference, exact, tolerance: float, reactions: bool) -> None:
    half, full = (reference.observed(t, *qv) for t, qv in zip((TIME / 2, TIME), exact))
    dim = m.dimension
    size = max(1.0, *(np.abs(v).max() for k, v in half.items() if k.startswith("place")))
    for row, exact in enumerate((half, full)):
        for k in range(len(m.places)):
            close(columns(found, f"place {k}", row), exact[f"place {k}"][:dim], size, tolerance, f"place {k}")
            speed = max(1.0, np.abs(exact[f"velocity {k}"]).max())
            v = columns(found, f"velocity {k}", row)
            close(v, exact[f"velocity {k}"][:dim], speed, 3 * tolerance, f"velocity {k}")
            turn = columns(found, f"rotation {k}", row) if dim == 3 else (0.0, 0.0, found[f"rotation {k}"][row])
            close(Rotation.from_rotvec(turn).as_matrix(), exact[f"rotation {k}"], 1.0, tolerance, f"rotation {k}")
            if f"joint {k}" in found:
                close(found[f"joint {k}"][row], exact[f"joint {k}"], 1.0, tolerance, f"joint {k}")
    # reactions belong to the middle of steps; only within a run their means are of even order
    for name, expected in half.items() if reactions else ():
        if name.startswith("loop"):
            force, moment, kind = expected, None, "loop"
        elif name.startswith("reaction"):
            (force, moment), kind = expected, m.joints[int(name.split()[1])].kind
        else:
            continue
        given = np.array([found[f"{name}.force {c}"][0] for c in "xyz"[:dim]])
        close(given, force[:dim], max(10.0, np.abs(force).max()), 30 * tolerance, f"force of {name} ({kind})")
        turns = [f"{name}.moment {c}" for c in "xyz"] if dim == 3 else [f"{name}.moment"]
        if moment is not None:
            given = np.array([found[c][0] for c in turns])
            size = max(10.0, np.abs(moment).max())
            close(given, moment[3 - len(turns) :], size, 30 * tolerance, f"moment of {name} ({kind})")


def close(value, exact, scale, tolerance, name) -> None:
    worst = float(np.abs(np.asarray(value) - exact).max())
    assert worst <= tolerance * scale, f"{name}: {value} instead of {exact}"


def check(m: Mechanism, rule: str = "midpoint", h: float = H, tolerance: float = TOLERANCE) -> None:
    """At a step and, where a motion is too lively for that, at a quarter of it."""
    reference = Reference(m)
    exact = reference.run((TIME / 2, TIME))
    # with constraints Newmark's rule is weakly unstable in accelerations and multipliers (docs/theory.md)
    reactions = rule != "newmark"
    try:
        compare(m, extrapolated(m, reference, rule, h), reference, exact, tolerance, reactions)
    except AssertionError:
        compare(m, extrapolated(m, reference, rule, h / 4), reference, exact, tolerance, reactions)


def examples(dimension, number, test):
    """Run a test on so many mechanisms; failing ones are not made smaller, which would take minutes."""
    phases = [Phase.explicit, Phase.generate]
    settings(max_examples=number, phases=phases, database=None)(given(mechanisms(dimension))(test))()


@pytest.mark.parametrize("dimension", [2, 3])
def test_transients(dimension):
    examples(dimension, 8, lambda m: check(m))


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("rule", ["newmark", "hht", "generalised-alpha"])
def test_other_rules(dimension, rule):
    """Rules of one state, which are of second order too; their errors have odd terms, so the tolerance is wider."""
    examples(dimension, 2, lambda m: check(m, rule, tolerance=1e-4))


@pytest.mark.long
@pytest.mark.parametrize("dimension", [2, 3])
def test_many_transients(dimension):
    examples(dimension, 15, lambda m: check(m))
