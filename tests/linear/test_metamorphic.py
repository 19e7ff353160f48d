"""Results that must not depend on how one says it: every kind of step on the same machine, told in other ways.

The machine is turned and moved, in other units, made in another order, with the sides of joints and springs exchanged,
with a beam split by a weld; its results must be the first ones, turned, moved and converted.  Further relations:
time reversed, plane against space, TOML against Python.  The kinds of steps come from the registry: a new one without
a case fails.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation
from step_cases import STEPS, case

from fem_mbs import Model, linearise, load_model, solve
from fem_mbs.declarations.steps import step_kinds

LENGTH, MASS, TIME = (1, 0, 0), (0, 1, 0), (0, 0, 1)
NONE, SPEED, FORCE, MOMENT, RATE = (0, 0, 0), (1, 0, -1), (1, 1, -2), (2, 1, -2), (0, 0, -1)


# --- the ways to say it ----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class View:
    """How a machine is told: where it stands, in which units, in which order, from which side."""

    turn: tuple = (0.0, 0.0, 0.0)
    shift: tuple = (0.0, 0.0, 0.0)
    units: tuple = (1.0, 1.0, 1.0)  # numbers for a metre, a kilogram, a second
    reverse: bool = False
    sides: bool = False
    split: bool = False

    @property
    def R(self) -> np.ndarray:
        return Rotation.from_rotvec(self.turn).as_matrix()

    def s(self, value, unit):
        """A number in these units."""
        factor = float(np.prod([u**k for u, k in zip(self.units, unit, strict=True)]))
        return value * factor

    def v(self, vector, unit=NONE) -> np.ndarray:
        return self.s(self.R @ np.asarray(vector, float), unit)

    def x(self, point) -> np.ndarray:
        return self.s(self.R @ (np.asarray(point, float) + self.shift), LENGTH)

    def ends(self, a, b):
        return (b, a) if self.sides else (a, b)

    def order(self, parts) -> list:
        return list(parts)[::-1] if self.reverse else list(parts)


PLAIN = View()
VIEWS = {
    "turned and moved": View(turn=(0.7, -1.1, 1.9), shift=(0.3, -0.2, 0.9)),
    "in other units": View(units=(1e3, 1e-3, 1.0)),
    "in other time": View(units=(0.1, 4.0, 20.0)),
    "in another order": View(reverse=True),
    "from the other side": View(sides=True),
    "with a beam split": View(split=True),
}


# --- machines --------------------------------------------------------------------------------------------------------
def parts(m: Model, w: View) -> None:
    """A cantilever with a hinged body in a bushing and a spring at its end."""
    m.material("steel", E=w.s(2e9, (-1, 1, -2)), nu=0.3, density=w.s(7800.0, (-3, 1, 0)))
    m.section("bar", "rectangle", width=w.s(0.03, LENGTH), height=w.s(0.05, LENGTH))
    lines = (("arm", 0.0, 0.6, 4),) if not w.split else (("arm", 0.0, 0.3, 2), ("rest", 0.3, 0.6, 2))

    def beam(name, start, end, n):
        a, b = (w.x((0.1 + k, 0.3 * k, 0.1 * k)) for k in (start, end))
        m.line(name, a, b, n)
        m.beams(name, name, "bar", "steel", orientation=tuple(w.v((0.0, 0.2, 1.0))), damping=w.s(1e-4, TIME))

    def body():
        J = w.R @ np.array([[0.02, 0.002, 0.001], [0.002, 0.03, -0.004], [0.001, -0.004, 0.025]]) @ w.R.T
        m.body("tip", w.x((0.8, 0.25, 0.0)), w.s(1.5, MASS), w.s(J, (2, 1, 0)))

    end = "rest:end" if w.split else "arm:end"
    for make in w.order([*(functools.partial(beam, *line) for line in lines), body]):
        make()

    def hinge():
        m.joint("hinge", "revolute", *w.ends(end, "tip"), point=w.x((0.7, 0.18, 0.06)), axis=w.v((0.2, 1.0, -0.3)))
        m.joint_spring("coil", "hinge", w.s(30.0, MOMENT), w.s(0.2, (2, 1, -1)), -0.1 if w.sides else 0.1)

    def pad():
        S = np.diag((400.0, 500.0, 300.0, 20.0, 30.0, 10.0))
        S[:3, 3:] = [[3.0, 1.0, -2.0], [0.0, 4.0, 1.0], [2.0, -1.0, 5.0]]
        S[3:, :3] = S[:3, 3:].T
        units = np.array([w.s(1.0, (0, 1, -2))] * 3 + [w.s(1.0, FORCE)] * 3)
        scale = np.where(np.arange(6) < 3, 1.0, w.units[0])
        S = S * units[:, None] * scale[None, :]
        axes = Rotation.from_rotvec(w.turn) * Rotation.from_rotvec((0.3, 0.1, -0.2))
        m.bushing(
            "pad", *w.ends("tip", "ground"), S, 0.01 * w.units[2] * S, point=w.x((0.9, 0.3, 0.1)),
            rotation=axes.as_rotvec(), frame="mean",
        )  # fmt: skip

    def tie():
        m.spring(
            "tie", *w.ends("tip", "ground"), w.s(200.0, (0, 1, -2)), w.s(1.0, (0, 1, -1)), w.s(0.5, LENGTH),
            **dict(zip(w.ends("point_a", "point_b"), (w.x((0.9, 0.2, -0.1)), w.x((1.0, -0.2, -0.4))))),
        )  # fmt: skip

    def weld():
        m.joint("weld", "weld", *w.ends("arm:end", "rest:start"))

    for make in w.order([hinge, pad, tie, *([weld] if w.split else [])]):
        make()
    m.fix("arm:start")


def machine(w: View) -> Model:
    m = Model(3, gravity=w.v((1.0, -4.0, -8.0), (1, 0, -2)))
    parts(m, w)
    m.force("push", "tip", w.v((5.0, -3.0, 8.0), FORCE), function=f"cos({20.0 / w.units[2]}*t + 0.3)")
    m.moment("twist", "tip", w.v((0.5, 0.8, -0.4), MOMENT))
    end = "rest:end" if w.split else "arm:end"
    m.sensor("place", "position", on="tip", point=w.x((0.9, 0.3, 0.1)))
    m.sensor("way", "displacement", on=end)
    m.sensor("speed", "velocity", on="tip")
    m.sensor("turn", "rotation", on="tip")
    m.sensor("gap", "distance", a=end, b="tip")
    m.sensor("angle", "joint", on="hinge")
    m.sensor("support", "reaction", on="arm:start")
    m.sensor("pin", "reaction", on="hinge")
    m.sensor("pull", "element", on="tie", quantity="force")
    for c in "xyz":
        m.sensor(f"pad force {c}", "element", on="pad", quantity=f"force {c}")
        m.sensor(f"pad moment {c}", "element", on="pad", quantity=f"moment {c}")
    m.sensor("N", "element", on="arm", element=0, quantity="N")
    return m


@dataclass(frozen=True)
class Shape:
    """What the numbers of a result are: of which unit, vectors or a place, turned round by the other side or not."""

    unit: tuple
    sort: str = "scalar"  # or "vector", "place", "wrench"
    sided: bool = False

    def least(self, w: View) -> float:
        """A small number of these units, below which a difference is of no account."""
        return w.s(1e-3, FORCE if self.sort == "wrench" else self.unit)

    def seen(self, values: np.ndarray, w: View) -> np.ndarray:
        """Values (..., k) of the plain view as another one has them."""
        R = w.R
        out = np.array(values)
        if self.sort == "place":
            out = (out + w.shift) @ R.T
        elif self.sort == "vector":
            out = out @ R.T
        elif self.sort == "wrench":
            out = np.concatenate((w.s(out[..., :3] @ R.T, FORCE), w.s(out[..., 3:] @ R.T, MOMENT)), axis=-1)
            return -out if self.sided and w.sides else out
        out = w.s(out, self.unit)
        return -out if self.sided and w.sides else out


SHAPES = {
    "place": Shape(LENGTH, "place"), "way": Shape(LENGTH, "vector"), "speed": Shape(SPEED, "vector"),
    "turn": Shape(NONE, "vector"), "gap": Shape(LENGTH), "angle": Shape(NONE, sided=True),
    "support": Shape(NONE, "wrench"), "pin": Shape(NONE, "wrench", sided=True), "pull": Shape(FORCE), "N": Shape(FORCE),
    **{f"pad force {c}": Shape(FORCE, sided=True) for c in "xyz"},
    **{f"pad moment {c}": Shape(MOMENT, sided=True) for c in "xyz"},
}  # fmt: skip


def rotor(w: View) -> Model:
    """A round shaft with two discs in springs that are alike in all directions across."""
    m = Model(3)
    axis, across = (1.0, 0.0, 0.0), ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    m.material("steel", E=w.s(2e11, (-1, 1, -2)), nu=0.3, density=w.s(7800.0, (-3, 1, 0)))
    m.section("shaft", "circle", diameter=w.s(0.05, LENGTH))
    lines = (("arm", 0.0, 1.2, 4),) if not w.split else (("arm", 0.0, 0.6, 2), ("rest", 0.6, 1.2, 2))

    def line(name, start, end, n):
        m.line(name, w.x((start, 0.0, 0.0)), w.x((end, 0.0, 0.0)), n)
        m.beams(name, name, "shaft", "steel", orientation=tuple(w.v(across[0])))

    for part in w.order(lines):
        line(*part)
    ends = "arm:start", "rest:end" if w.split else "arm:end"
    if w.split:
        m.joint("weld", "weld", *w.ends("arm:end", "rest:start"))
    for name, at in w.order((("left", ends[0]), ("right", ends[1]))):
        m.disc(name, at, w.s(20.0, MASS), w.s(0.3, (2, 1, 0)), w.s(0.17, (2, 1, 0)), axis=tuple(w.v(axis)))
        for k, e in enumerate(across):
            m.nodal_spring(f"{name} {k}", at, w.v(e), w.s(1e6, (0, 1, -2)), w.s(100.0, (0, 1, -1)))
    m.nodal_spring("axial", ends[0], w.v(axis), w.s(1e6, (0, 1, -2)), w.s(50.0, (0, 1, -1)))
    m.rotor("rotor", axis=w.v(axis), point=w.x((0.0, 0.0, 0.0)))
    return m


def driven(w: View) -> Model:
    """Two links whose joints are driven."""
    m = Model(3, gravity=w.v((0.0, -9.81, 2.0), (1, 0, -2)))
    bodies = [("a", (0.3, 0.1, 0.0), 2.0), ("b", (0.9, 0.2, 0.1), 1.0)]
    for name, place, mass in w.order(bodies):
        J = w.R @ np.diag((0.05, 0.07, 0.08)) @ w.R.T
        m.body(name, w.x(place), w.s(mass, MASS), w.s(J, (2, 1, 0)))
    sign = -1.0 if w.sides else 1.0
    joints = [
        ("first", "ground", "a", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.8, 3.0),
        ("second", "a", "b", (0.6, 0.1, 0.0), (0.3, 1.0, 0.0), -1.2, 2.0),
    ]
    for name, a, b, point, axis, size, rate in w.order(joints):
        turn = f"{sign * size}*(1 - cos({rate / w.units[2]}*t))"
        m.joint(name, "revolute", *w.ends(a, b), point=w.x(point), axis=w.v(axis), function=turn)
    for name, *_ in joints:
        m.sensor(f"drive {name}", "drive", on=name)
        m.sensor(f"pin {name}", "reaction", on=name)
        m.sensor(f"angle {name}", "joint", on=name)
    m.sensor("place", "position", on="b")
    return m


def sector(w: View) -> Model:
    """An eighth of a free ring of beams, with a mass at one of its faces."""
    m = Model(3)
    m.material("steel", E=w.s(2e11, (-1, 1, -2)), nu=0.3, density=w.s(7800.0, (-3, 1, 0)))
    m.section("rim", "rectangle", width=w.s(0.05, LENGTH), height=w.s(0.03, LENGTH))
    angles = np.linspace(0.0, np.pi / 4.0, 5)
    points = np.array([w.x((0.5 * np.cos(a), 0.5 * np.sin(a), 0.02 * np.sin(8.0 * a))) for a in angles])
    parts = [("rim", points)] if not w.split else [("rim", points[:3]), ("rest", points[2:])]
    for name, own in w.order(parts):
        m.polyline(name, own, 1)
        m.beams(name, name, "rim", "steel", orientation=tuple(w.v((0.0, 0.0, 1.0))))
    if w.split:
        m.joint("weld", "weld", *w.ends("rim:end", "rest:start"))
    m.point_mass("lump", "rim:start", w.s(0.7, MASS))
    face, other = w.ends("rest:end" if w.split else "rim:end", "rim:start")
    m.cyclic_symmetry("wheel", face, other, 8, axis=w.v((0.0, 0.0, 1.0)), point=w.x((0.0, 0.0, 0.3)))
    return m


def arm(w: View) -> Model:
    """Three links whose joints are free."""
    m = Model(3, gravity=w.v((0.0, -9.81, 2.0), (1, 0, -2)))
    bodies = [("a", (0.0, 0.2, 0.0), 2.0), ("b", (0.3, 0.6, 0.0), 1.0), ("c", (0.8, 0.5, 0.1), 1.0)]
    for name, place, mass in w.order(bodies):
        J = w.R @ np.diag((0.05, 0.07, 0.08)) @ w.R.T
        m.body(name, w.x(place), w.s(mass, MASS), w.s(J, (2, 1, 0)))
    joints = [
        ("first", "ground", "a", (0.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
        ("second", "a", "b", (0.0, 0.4, 0.0), (0.0, 0.2, 1.0)),
        ("third", "b", "c", (0.6, 0.7, 0.0), (0.0, 0.0, 1.0)),
    ]
    for name, a, b, point, axis in w.order(joints):
        m.joint(name, "revolute", *w.ends(a, b), point=w.x(point), axis=w.v(axis))
        m.sensor(f"pin {name}", "reaction", on=name)
        m.sensor(f"angle {name}", "joint", on=name)
    m.sensor("place", "position", on="c")
    return m


def reach(m: Model, w: View) -> None:
    """The last link moves on a straight line."""
    T = w.s(0.5, TIME)
    m.inverse_path_step(
        T, T / 40, efforts=["first", "second", "third"],
        outputs={
            f"place.{c}": f"{a}*(t/{T} - sin(2*pi*t/{T})/(2*pi))"
            for c, a in zip("xyz", w.v((-0.2, 0.1, 0.3), LENGTH).tolist(), strict=True)
        },
    )  # fmt: skip


NAMES = ("first", "second", "third")
ARM = {
    "place": Shape(LENGTH, "place"),
    **{f"effort {k}": Shape(MOMENT, sided=True) for k in NAMES},
    **{f"pin {k}": Shape(NONE, "wrench", sided=True) for k in NAMES},
    **{f"angle {k}": Shape(NONE, sided=True) for k in NAMES},
}

DRIVEN = {
    "place": Shape(LENGTH, "place"),
    **{f"drive {k}": Shape(MOMENT, sided=True) for k in ("first", "second")},
    **{f"pin {k}": Shape(NONE, "wrench", sided=True) for k in ("first", "second")},
    **{f"angle {k}": Shape(NONE, sided=True) for k in ("first", "second")},
}


def ball(w: View) -> Model:
    """A ball that rolls on a plane against a wind."""
    m = Model(3, gravity=w.v((0.0, 0.0, -9.81), (1, 0, -2)))
    J = w.s(0.05, (2, 1, 0))
    m.body("ball", w.x((0.0, 0.0, 0.2)), w.s(3.0, MASS), (J, J, J))
    m.body("pilot", w.x((0.0, 0.0, 0.2)), w.s(1.0, MASS), (J, J, J))
    m.joint("bearing", "spherical", *w.ends("pilot", "ball"), point=w.x((0.0, 0.0, 0.2)))
    m.joint(
        "ground", "rolling_disc", "ball", point=w.x((0.0, 0.0, 0.2)), axis=w.v((0.0, 1.0, 0.0)),
        axis_b=w.v((0.0, 0.0, 1.0)), radius=w.s(0.2, LENGTH), crown=w.s(0.2, LENGTH),
    )  # fmt: skip
    m.force("wind", "pilot", w.v((-2.0, 0.5, 0.0), FORCE))
    m.force("push", "pilot", w.v((1.0, 0.0, 0.0)), function=0.0)
    m.force("shove", "pilot", w.v((0.0, 1.0, 0.0)), function=0.0)
    m.running("pilot", velocity=w.v((1.5, 0.0, 0.0), SPEED))
    m.sensor("place", "position", on="ball")
    m.sensor("speed", "velocity", on="ball")
    return m


def kept_up(solution):
    """Efforts of steady running, and where the ball goes under them."""
    efforts = solution.steps[0].report.efforts
    found = {name: (Shape(FORCE), np.array([value])) for name, value in efforts.items()}
    return found | series({"place": Shape(LENGTH, "place"), "speed": Shape(SPEED, "vector")})(solution)


def run_steadily(m: Model, w: View) -> None:
    m.steady_running_step(["push", "shove"])
    m.transient_step(w.s(0.2, TIME), w.s(0.02, TIME))


# --- a case per kind of step -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Case:
    """A machine, the steps that are added to it, and what is looked at: name -> (shape, values); None: `poles`."""

    build: Callable[[View], Model]
    add: Callable[[Model, View], None]
    look: Callable
    tolerance: float = 1e-7
    own: dict = field(default_factory=dict)  # tolerances of single views


def series(shapes):
    """All rows of sensors in the last step."""

    def look(solution):
        step = solution.steps[-1]
        return {k: (shape, step.series[f"sensor/{k}"]) for k, shape in shapes.items()}

    return look


def responses(solution):
    """Complex amplitudes of sensors: of a place and a distance those of their changes."""
    change = {k: Shape(LENGTH, "vector") if s.sort == "place" else s for k, s in SHAPES.items()}
    out = {}
    for k, shape in change.items():
        response = solution.response(k).values
        out[k], out[f"{k} imaginary"] = (shape, response.real), (shape, response.imag)
    return out


def table(key, unit=NONE):
    """Numbers of the summary."""
    return lambda solution: {key: (Shape(unit), np.array(solution.steps[-1].summary[key], float))}


def branches(solution):
    found = [b["eigenvalues"] for b in solution.steps[-1].summary["branches"]]
    return {"eigenvalues": (Shape(RATE), np.sort(np.array(found, float), axis=0))}


def whirl(solution):
    return {"major": (Shape(LENGTH), solution.steps[-1].series["major"])}


def last_rows(shapes):
    """The ends of paths, whose points depend on the measure of an arc."""

    def look(solution):
        step = solution.steps[-1]
        return {k: (shape, step.series[f"sensor/{k}"][-1]) for k, shape in shapes.items()}

    return look


def path(m, w):
    m.static_step()
    m.static_step(control="arc", until=1.5, increments=4)


def hz(w: View, *values):
    return [v / w.units[2] for v in values]


def transient(rule):
    def add(m, w):
        m.transient_step(w.s(0.2, TIME), w.s(0.01, TIME), rule=rule, frames=0)

    return add


def unbalance(m, w):
    end = "rest:end" if w.split else "arm:end"
    m.unbalance_step("rotor", hz(w, 10.0, 100.0, 190.0), [{"at": end, "amount": w.s(1e-3, (1, 1, 0)), "phase": 0.3}])


def stability(m, w):
    m.static_step()
    values = [w.s(10.0, MOMENT), w.s(20.0, MOMENT)]
    m.stability_map_step([{"element": "coil", "number": "stiffness", "values": values}], count=3)


def after_static(add):
    def both(m, w):
        m.static_step()
        add(m, w)

    return both


CASES = {
    # the directions across a hinge's axis come from global axes: moments of multipliers differ by terms of order h^2
    "transient": [
        Case(machine, transient(rule), series(SHAPES), own={"turned and moved": 1e-5, "from the other side": 1e-5})
        for rule in ("midpoint", "decaying", "hht")
    ],
    "inverse": [Case(driven, lambda m, w: m.inverse_step(w.s(0.5, TIME), w.s(0.05, TIME)), series(DRIVEN))],
    # the search ends when the outputs are within its tolerance: efforts are not determined beyond that
    "inverse_path": [
        Case(arm, reach, series(ARM), own={
            "turned and moved": 5e-3, "in other units": 5e-3, "in other time": 5e-3, "from the other side": 1e-4,
        })
    ],
    "static": [
        Case(machine, lambda m, w: m.static_step(increments=2), series(SHAPES)),
        Case(machine, path, last_rows(SHAPES)),
    ],
    "steady_running": [Case(ball, run_steadily, kept_up)],
    "linear_static": [Case(machine, after_static(lambda m, w: m.linear_static_step()), series(SHAPES))],
    "linear_transient": [
        Case(machine, lambda m, w: m.linear_transient_step(w.s(0.2, TIME), w.s(0.01, TIME)), series(SHAPES))
    ],
    "modes": [Case(machine, after_static(lambda m, w: m.modes_step(6)), table("frequencies_hz", RATE))],
    "cyclic_modes": [Case(sector, lambda m, w: m.cyclic_modes_step(6), table("frequencies_hz", RATE), 1e-6)],
    "buckling": [Case(machine, lambda m, w: m.buckling_step(3, loads=["twist", "push"]), table("load_factors"))],
    "complex_modes": [Case(machine, after_static(lambda m, w: m.complex_modes_step(6)), table("eigenvalues", RATE))],
    "linearise": [Case(machine, after_static(lambda m, w: m.linearise_step()), None)],
    "stability_map": [Case(machine, stability, table("growth", RATE))],
    "harmonic": [Case(machine, after_static(lambda m, w: m.harmonic_step(hz(w, 1.0, 5.0, 20.0))), responses, 2e-6)],
    "campbell": [
        Case(rotor, lambda m, w: m.campbell_step("rotor", hz(w, 0.0, 100.0, 200.0), count=4), branches)
    ],
    "unbalance": [Case(rotor, unbalance, whirl)],
}  # fmt: skip


def test_every_kind_of_step_has_a_case():
    assert set(CASES) == set(step_kinds())


def poles(m: Model):
    """Eigenvalues of the matrices about the end of a model's steps, the lowest six pairs that oscillate."""
    lin = linearise(m)
    M, C, K, G = (A.toarray() for A in (lin.M, lin.C, lin.K, lin.G))
    free = null_space(G)  # the same for velocities, which a joint at rest lets move as it does displacements
    M, C, K = (free.T @ A @ free for A in (M, C, K))
    n = len(M)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    p = np.linalg.eigvals(A)
    p = p[p.imag > 0.0]
    p = p[np.argsort(p.imag)[:6]]
    return {"poles": (Shape(RATE), np.column_stack((p.real, p.imag)))}


def results(case: Case, w: View):
    m = case.build(w)
    case.add(m, w)
    return poles(m) if case.look is None else case.look(solve(m))


@functools.cache
def plain(kind: str, number: int):
    return results(CASES[kind][number], PLAIN)


@pytest.mark.parametrize("view", list(VIEWS))
@pytest.mark.parametrize(("kind", "number"), [(k, i) for k, cases in CASES.items() for i in range(len(cases))])
def test_results_do_not_depend_on_how_one_says_it(kind, number, view):
    case, w = CASES[kind][number], VIEWS[view]
    tolerance = case.own.get(view, case.tolerance)
    found = results(case, w)
    wrong = []
    for name, (shape, values) in plain(kind, number).items():
        expected, given = shape.seen(values, w), found[name][1]
        assert given.shape == expected.shape, f"{name}: {given.shape}, not {expected.shape}"
        assert (np.isnan(given) == np.isnan(expected)).all(), name
        size = np.nanmax(np.abs(expected), initial=0.0)
        worst = np.nanmax(np.abs(given - expected), initial=0.0)
        if not worst <= tolerance * max(size, shape.least(w)):
            wrong.append(f"{name}: off by {worst:.3g} of {size:.3g}")
    assert not wrong, "; ".join(wrong)


# --- time reversed ---------------------------------------------------------------------------------------------------
HOME = {"a": np.array((0.2, 0.1, 0.0)), "b": np.array((0.9, 0.3, -0.1))}
PROBES = np.eye(3)


def thrown(state) -> Model:
    """Two bodies with springs, from a state {body: (place, rotation, velocity, spin)}; points of springs are given at
    home.  No joint: velocities at the ends of steps obey joints to second order only."""
    m = Model(3, gravity=(0.0, -3.0, 1.0))

    def at(body, point):
        place, rotation, *_ = state[body]
        return place + rotation.apply(np.array(point) - HOME[body])

    for name in "ab":
        place, rotation, velocity, spin = state[name]
        m.body(name, place, 1.5, (0.04, 0.06, 0.05), rotation=rotation.as_rotvec())
        m.initial(name, velocity=velocity, spin=tuple(spin))
        m.sensor(f"position {name}", "position", on=name)
        m.sensor(f"velocity {name}", "velocity", on=name)
        for k, e in enumerate(PROBES):
            point = place + rotation.apply(e)
            m.sensor(f"probe {name} {k}", "position", on=name, point=point)
            m.sensor(f"speed {name} {k}", "velocity", on=name, point=point)
    m.spring("one", "a", "b", 150.0, 0.0, 0.5, point_a=at("a", (0.2, 0.4, 0.1)), point_b=at("b", (0.9, 0.5, 0.2)))
    m.spring("two", "a", "b", 150.0, 0.0, 0.6, point_a=at("a", (0.2, -0.1, 0.3)), point_b=at("b", (0.8, 0.0, -0.3)))
    m.spring("out", "ground", "b", 40.0, 0.0, 0.8, point_a=(1.5, 0.0, 0.0), point_b=at("b", (1.0, 0.3, 0.0)))
    m.transient_step(0.5, 0.01, frames=0)
    return m


def last_state(solution, sign: float):
    """The state at the end, with velocities times a sign, from points of the bodies."""
    out = {}
    for name in "ab":
        x, v = (solution.steps[-1].series[f"sensor/{kind} {name}"][-1] for kind in ("position", "velocity"))
        arms = np.array([solution.steps[-1].series[f"sensor/probe {name} {k}"][-1] - x for k in range(3)])
        rates = np.array([solution.steps[-1].series[f"sensor/speed {name} {k}"][-1] - v for k in range(3)])
        out[name] = x, Rotation.from_matrix(arms.T), sign * v, sign * 0.5 * np.cross(arms, rates).sum(axis=0)
    return out


def test_time_reversed():
    """The mid-point rule takes back every step: with velocities turned round the bodies come back as they came."""
    one = Rotation.identity()
    start = {
        "a": (HOME["a"], one, np.array((0.5, -0.3, 0.2)), np.array((0.4, 1.0, -2.0))),
        "b": (HOME["b"], one, np.zeros(3), np.array((0.3, -0.2, 0.1))),
    }
    there = solve(thrown(start))
    back = solve(thrown(last_state(there, -1.0)))
    for kind, sign in (("position", 1.0), ("velocity", -1.0)):
        for name in "ab":
            forward, backward = (s.steps[-1].series[f"sensor/{kind} {name}"] for s in (there, back))
            assert np.abs(forward - forward[0]).max() > 0.1
            assert backward[::-1] == pytest.approx(sign * forward, abs=1e-9)


# --- plane against space ---------------------------------------------------------------------------------------------
def flat(dimension: int, frame: str) -> Model:
    """Two hinged bodies in the x-y plane with a coil, a bushing, a spring and a load."""
    cut = slice(0, dimension)
    m = Model(dimension, gravity=np.array((1.0, -9.81, 0.0))[cut])
    J = 0.05 if dimension == 2 else (0.03, 0.04, 0.05)
    for name, x in (("a", (0.3, 0.1, 0.0)), ("b", (0.9, 0.3, 0.0))):
        m.body(name, x[cut], 1.5, J)
    axis = {} if dimension == 2 else {"axis": (0.0, 0.0, 1.0)}
    m.joint("first", "revolute", "ground", "a", point=np.zeros(dimension), **axis)
    m.joint("second", "revolute", "a", "b", point=(0.6, 0.2, 0.0)[cut], **axis)
    m.joint_spring("coil", "second", 8.0, 0.1, 0.2)
    S = np.array([[60.0, 5.0, 2.0], [5.0, 40.0, -3.0], [2.0, -3.0, 10.0]])
    if dimension == 3:
        flat_S, S = S, np.diag((0.0, 0.0, 50.0, 9.0, 7.0, 0.0))
        S[np.ix_([0, 1, 5], [0, 1, 5])] = flat_S
    m.bushing(
        "mount", "a", "b", S, 0.01 * S, point_a=(0.5, 0.3, 0.0)[cut], point_b=(0.7, 0.3, 0.0)[cut],
        rotation=0.4 if dimension == 2 else (0.0, 0.0, 0.4), frame=frame,
    )  # fmt: skip
    m.spring("tie", "ground", "b", 30.0, 0.2, 0.4, point_a=(1.2, 0.0, 0.0)[cut], point_b=(1.0, 0.3, 0.0)[cut])
    m.force("push", "b", (3.0, 4.0, 0.0)[cut], function="cos(9*t)", point=(1.0, 0.5, 0.0)[cut])
    m.sensor("place", "position", on="b")
    m.sensor("turn", "joint", on="second")
    m.sensor("pin", "reaction", on="second")
    for k, quantity in enumerate(("force x", "force y", "moment" if dimension == 2 else "moment z")):
        m.sensor(f"mount {k}", "element", on="mount", quantity=quantity)
    return m


@pytest.mark.parametrize(("step", "frame"), [("transient", "first"), ("static", "first"), ("static", "mean")])
def test_plane_against_space(step, frame):
    """A plane mechanism with its bodies in space, hinged about z: the same motion and forces.  (In the half-way frame
    of a bushing quotients over a step differ by terms of second order; equilibria do not.)"""
    found = []
    for dimension in (2, 3):
        m = flat(dimension, frame)
        if step == "static":
            m.static_step(increments=4)
        else:
            m.transient_step(0.5, 0.01)
        solution = solve(m)
        values = {}
        for s in solution.compiled.sensors:
            values |= dict(zip(s.columns, solution.steps[-1].series[f"sensor/{s.name}"][1:].T, strict=True))
        found.append(values)
    plane, space = found
    assert np.abs(plane["turn"]).max() > 0.1
    for name, values in plane.items():
        given = space["pin.moment z" if name == "pin.moment" else name]
        assert given == pytest.approx(values, rel=1e-8, abs=1e-8), name


def test_plane_beams_against_beams_in_space():
    """A cantilever whose end turns by more than a radian: both beams come to one line, as the square of the length of
    elements or faster."""
    off = []
    for n in (8, 16):
        ends = []
        for dimension in (2, 3):
            cut = slice(0, dimension)
            m = Model(dimension)
            m.material("steel", E=2e9, nu=0.3, density=7800.0)
            m.section("bar", "rectangle", width=0.01, height=0.02)
            m.line("arm", (0.0, 0.0, 0.0)[cut], (1.0, 0.0, 0.0)[cut], n)
            m.beams("arm", "arm", "bar", "steel")
            m.fix("arm:start")
            m.force("push", "arm:end", (-10.0, 40.0, 0.0)[cut])
            m.sensor("end", "displacement", on="arm:end")
            m.static_step(increments=5)
            ends.append(solve(m).steps[-1].series["sensor/end"][-1])
        assert np.abs(ends[0]).max() > 0.5
        off.append(np.abs(ends[1] - (*ends[0], 0.0)).max())
    assert off[1] < max(off[0] / 3.5, 1e-6)
    assert off[1] < 3e-3


# --- files against Python --------------------------------------------------------------------------------------------
def shaft(held: bool) -> Model:
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    m.material("steel", E=2e11, nu=0.3, density=7800.0)
    m.section("shaft", "circle", diameter=0.05)
    m.line("arm", (0.0, 0.0, 0.0), (1.2, 0.0, 0.0), 4)
    m.beams("arm", "arm", "shaft", "steel", damping=1e-5)
    m.disc("wheel", "arm:end", 20.0, 0.3, 0.17, axis=(1.0, 0.0, 0.0))
    m.nodal_spring("left y", "arm:start", "y", 1e6)
    m.nodal_spring("left z", "arm:start", "z", 1e6)
    m.bushing("right", "arm:end", "ground", [1e6] * 3 + [0.0] * 3, [10.0] * 3 + [0.0] * 3)
    m.force("push", "arm:end", (-500.0, 100.0, 50.0), function="cos(30*t + 0.2)")
    m.rotor("rotor", axis=(1.0, 0.0, 0.0))
    m.sensor("way", "displacement", on="arm:end")
    m.sensor("pull", "element", on="right", quantity="force y")
    if held:
        m.fix("arm:start", ["rotation x"])
        m.sensor("support", "reaction", on="arm:start")
    return m


def links(turn: str | None = "0.8*(1 - cos(3*t))") -> Model:
    m = Model(2, gravity=(0.0, -9.81))
    m.body("a", (0.3, 0.1), 2.0, 0.05)
    m.joint("first", "revolute", "ground", "a", point=(0.0, 0.0), function=turn)
    m.sensor("place", "position", on="a")
    return m


def rim() -> Model:
    m = Model(2)
    m.material("steel", E=2e11, nu=0.3, density=7800.0)
    m.section("rim", "rectangle", width=0.05, height=0.02)
    m.arc("rim", (0.0, 0.0), 0.5, (0.0, 45.0), 4)
    m.beams("rim", "rim", "rim", "steel")
    m.cyclic_symmetry("wheel", "rim:end", "rim:start", 8)
    m.force("push", "rim:start", (100.0, 0.0))
    return m


def pushed_ball() -> Model:
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    m.body("ball", (0.0, 0.0, 0.2), 3.0, (0.05, 0.05, 0.05))
    m.body("pilot", (0.05, 0.0, 0.1), 1.0, (0.05, 0.05, 0.05))
    m.joint("bearing", "spherical", "pilot", "ball", point=(0.0, 0.0, 0.2))
    m.joint("ground", "rolling_disc", "ball", point=(0.0, 0.0, 0.2), axis=(0.0, 1.0, 0.0), radius=0.2, crown=0.2)
    m.force("wind", "pilot", (-2.0, 0.0, 0.0))
    m.force("push", "pilot", (1.0, 0.0, 0.0), function=0.0)
    m.running("pilot", velocity=(1.5, 0.0, 0.0))
    m.sensor("place", "position", on="ball")
    return m


def test_every_kind_of_step_is_compared_with_files():
    assert set(STEPS) == set(step_kinds())


@pytest.mark.parametrize("kind", list(STEPS))
def test_files_against_python(kind, tmp_path):
    """The same machine and step from a model file: the same bits."""
    held = kind not in ("campbell", "unbalance")
    file = tmp_path / "model.toml"
    file.write_text(case(kind), encoding="utf-8")
    own = {"inverse": links, "inverse_path": lambda: links(None), "cyclic_modes": rim, "steady_running": pushed_ball}
    m = own.get(kind, lambda: shaft(held))()
    if kind == "stability_map":
        m.static_step()
    getattr(m, f"{kind}_step")(**STEPS[kind], name="last")
    one, other = solve(load_model(file)).steps[-1], solve(m).steps[-1]
    assert set(one.series) == set(other.series)
    for name, values in one.series.items():
        assert np.array_equal(values, other.series[name], equal_nan=True), name
    numbers = {k: v for k, v in one.summary.items() if k not in ("seconds", "effort")}
    assert numbers == {k: v for k, v in other.summary.items() if k not in ("seconds", "effort")}
