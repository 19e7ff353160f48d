"""Results that must not depend on how one says it: every kind of step on the same machine, told in other ways.

The machine is turned and moved, in other units, made in another order, with the sides of joints and springs exchanged,
with a beam split by a weld; its results must be the first ones, turned, moved and converted.  Further relations:
time reversed, plane against space, TOML against Python.  The kinds of steps come from the registry: a new one without
a case fails.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from fem_mbs import Model, load_model, solve
from fem_mbs.analysis.linear_ports import in_out
from fem_mbs.analysis.options import STEP_OPTIONS

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


DRIVEN = {
    "place": Shape(LENGTH, "place"),
    **{f"drive {k}": Shape(MOMENT, sided=True) for k in ("first", "second")},
    **{f"pin {k}": Shape(NONE, "wrench", sided=True) for k in ("first", "second")},
    **{f"angle {k}": Shape(NONE, sided=True) for k in ("first", "second")},
}


# --- a case per kind of step -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Case:
    """A machine, what is added to it, and what is looked at: name -> (shape, values)."""

    build: Callable[[View], Model]
    add: Callable[[Model, View], None]
    look: Callable
    views: tuple = tuple(VIEWS)
    tolerance: float = 1e-7
    own: dict = field(default_factory=dict)  # tolerances of views


def series(shapes):
    def look(solution):
        step = solution.steps[-1]
        return {k: (shape, step.series[f"sensor/{k}"]) for k, shape in shapes.items() if f"sensor/{k}" in step.series}

    return look


def responses(shapes):
    def look(solution):
        return {k: (shape, solution.response(k)) for k, shape in shapes.items()}

    return look


def numbers(key, unit=NONE, first=None):
    """Numbers of the summary; eigenvalues [re, im] likewise."""

    def look(solution):
        return {key: (Shape(unit), np.atleast_1d(np.array(solution.steps[-1].summary[key], float))[:first])}

    return look


def hz(w: View, *values):
    return [v / w.units[2] for v in values]
