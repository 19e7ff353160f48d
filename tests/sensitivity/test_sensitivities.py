"""Derivatives of motions with respect to parameters: against differences of whole runs, and closed forms."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ellipk

from fem_mbs import ModelError, sensitivities, solve
from fem_mbs.analysis.sensitivity.quantities import Columns
from fem_mbs.modelfile.paths import locate, set_value
from fem_mbs.modelfile.read import build_model, check_model_data
from fem_mbs.modelfile.writer import model_data
from fem_mbs.sweeps.names import step_names
from tests.sensitivity import sensitive_models as models


def columns_of(model):
    """Return the columns of the sensors of a run."""
    solution = solve(model)
    return Columns(solution, [], [], list(step_names(step.name for step in model.steps)), np.ones(0)).of


def differences(build, values, name, step):
    """Return derivatives of all columns by central differences of fourth order of whole runs; ``step`` is relative."""
    h = step * (abs(values[name]) or 1.0)
    a, b, c, d = (columns_of(build(**{**values, name: values[name] + k * h})) for k in (-2, -1, 1, 2))
    return {
        column: (a[column].values - d[column].values + 8.0 * (c[column].values - b[column].values)) / (12.0 * h)
        for column in a
    }


#: What is compared: build, parameters, relative step of the differences, columns (by a part of their names) that
#: are left out: a reaction that is zero.
CASES = {
    "oscillator": (models.oscillator, {"m": 2.0, "k": 50.0, "c": 0.7, "v0": 0.1, "push": 1.0}, 1e-3, ()),
    "decaying rule": (partial(models.oscillator, rule="decaying", decay=0.1), {"m": 2.0, "k": 50.0}, 1e-3, ()),
    "pendulum": (models.pendulum, {"length": 1.0, "g": 9.81, "inertia": 0.02}, 1e-3, ()),
    "angle of the start": (models.pendulum, {"angle": 0.5}, 1e-3, ()),
    "generalised-alpha": (partial(models.pendulum, rule="generalised-alpha"), {"length": 1.0}, 1e-3, ()),
    "Newmark": (partial(models.pendulum, rule="newmark"), {"angle": 0.5}, 1e-3, ()),
    "cantilever": (models.beam, {"length": 1.0, "E": 2.1e11, "diameter": 0.01, "g": 9.81}, 1e-3, ()),
    "cantilever in space": (partial(models.beam, dim=3), {"diameter": 0.01, "load": 30.0}, 1e-3, ()),
    "four-bar": (models.four_bar, {"crank": 0.2, "rod": 0.7, "speed": 6.0}, 1e-3, ()),
    "redundant four-bar": (partial(models.four_bar, dim=3), {"crank": 0.2, "speed": 6.0}, 1e-3, ()),
    "plastic hinge": (models.hinge, {"yield_angle": 0.0873, "yield_moment": 4644.7, "speed": 10.0}, 1e-6, ()),
    "contact": (models.stop, {"stiffness": 685.7, "damping": 9428.6, "speed": 0.5}, 1e-4, ()),
    "solids": (models.block, {"E": 1e6, "width": 0.1}, 1e-3, ()),
    "reduced part": (models.reduced_pendulum, {"g": 9.81, "tip": 0.5, "stiffness": 2.0}, 1e-3, ()),
    "assembly": (models.assembled, {"rod": 0.7, "speed": 6.0}, 1e-3, ("C.y",)),
    "repeated contact": (models.bounce, {"height": 0.2, "stiffness": 1e4, "restitution": 0.5}, 1e-5, ()),
    "stick and slip": (models.stick_slip, {"belt": 0.2, "friction": 0.3, "stiffness": 40.0}, 1e-5, ()),
    "steps in parts": (models.spinning, {"speed": 80.0, "length": 0.3}, 1e-3, ()),
}
#: Relative agreement: 1e-6, but for what differences of a plastic law with a step of 1e-6 are good for.
TOLERANCES = {"plastic hinge": 3e-6, "repeated contact": 1e-5}
#: The same of reactions.  Round-off of positions comes into them over h^2, undamped by rules that take forces at the
#: ends of time steps; and times the axial stiffness of a rod, over the change of positions in a difference (3e-7).
REACTIONS = {"generalised-alpha": 1e-4, "Newmark": 1e-5, "cantilever": 1e-4, "cantilever in space": 1e-4}


def sizes(found, expected, value):
    """Return by what the errors of columns are divided: the derivative, and of forces and moments the largest component
    of the vector or of its derivative, whichever is larger, for components that vanish are round-off of the others."""
    own = {column: float(np.abs(slopes).max()) for column, slopes in expected.items()}
    vectors = {}
    for column, size in own.items():
        entry = found.columns.of[column]
        if entry.unit in ("N", "N m"):
            key = column.rpartition(".")[0], entry.unit
            largest = float(np.abs(entry.values).max()) / (abs(value) or 1.0)
            vectors[key] = max(vectors.get(key, 0.0), size, largest)
    forces = {column: (column.rpartition(".")[0], found.columns.of[column].unit) for column in own}
    return {column: vectors.get(forces[column], size) for column, size in own.items()}


@pytest.mark.parametrize("case", CASES)
def test_agreement_with_differences(case):
    build, values, step, without = CASES[case]
    found = sensitivities(build, values)
    for k, name in enumerate(values):
        expected = differences(build, values, name, step)
        for column, size in sizes(found, expected, values[name]).items():
            if size == 0.0 or any(word in column for word in without):
                continue
            error = np.abs(found.columns.of[column].slopes[k] - expected[column]).max() / size
            force = found.columns.of[column].unit in ("N", "N m")
            tolerance = (REACTIONS if force and case in REACTIONS else TOLERANCES).get(case, 1e-6)
            assert error <= tolerance, (name, column, error)


@pytest.mark.parametrize(("EA", "digits"), [(1e7, 1e-6), (1e9, 1e-5), (1e10, 1e-4)])
def test_members_that_are_stiff_along_their_axis(EA, digits):
    """What docs/sweeps.md promises by the ratio of stiffnesses: truncation acts against the soft hinge in each step."""
    found = sensitivities(lambda size: models.stiff_arm(size, EA), {"size": 1.0}).columns.of["transient.turn"]
    expected = differences(models.stiff_arm, {"size": 1.0, "EA": EA}, "size", 1e-3)["transient.turn"]
    assert np.abs(found.slopes[0] - expected).max() <= digits * np.abs(expected).max()


@pytest.mark.parametrize("build", [models.beam, models.four_bar, models.hinge])
def test_the_run_stays_as_it_is(build):
    """Narrow systems are factored in every step: the derivatives beside them change no bit of the run."""
    found, plain = sensitivities(build, {next(iter(build.__code__.co_varnames)): build.__defaults__[0]}), solve(build())
    for own, alone in zip(found.solution.steps, plain.steps, strict=True):
        for name in alone.series:
            np.testing.assert_array_equal(own.series[name], alone.series[name])
    last = found.solution.steps[-1].summary, plain.steps[-1].summary
    assert last[0]["iterations"] == last[1]["iterations"]
    assert last[0]["factorisations"] == last[1]["factorisations"]


def limit(build, values, quantity):
    """Return the derivatives of a quantity in the limit of refinement, by two steps of a rule of second order."""
    coarse, fine = (sensitivities(partial(build, h=h), values, [quantity]).gradient(quantity) for h in (0.004, 0.002))
    return (4.0 * fine - coarse) / 3.0


def test_damped_oscillation_in_closed_form():
    """x = v0/w e^(-d t) sin(w t) with d = c/(2 m), w^2 = k/m - d^2."""
    t = 2.0
    m, k, c, v0 = 2.0, 50.0, 0.7, 0.1

    def x(m, k, c):
        d = c / (2.0 * m)
        w = (k / m - d * d) ** 0.5
        return v0 / w * np.exp(-d * t) * np.sin(w * t)

    complex_step = [
        x(m + 1e-30j, k, c).imag / 1e-30, x(m, k + 1e-30j, c).imag / 1e-30, x(m, k, c + 1e-30j).imag / 1e-30,
    ]  # fmt: skip
    found = limit(models.oscillator, {"m": m, "k": k, "c": c}, "transient.x.x@2")
    np.testing.assert_allclose(found, complex_step, rtol=2e-7)


def test_period_of_a_pendulum():
    """T = 4 sqrt(J/(m g L)) K(sin(a/2)) with J = I + m L^2: dT/dp at the zero of the angle after T/4."""
    m, g, inertia, angle = 1.0, 9.81, 0.02, 0.5

    def quarter(length):
        J = inertia + m * length**2
        return np.sqrt(J / (m * g * length)) * ellipk(np.sin(0.5 * angle) ** 2)

    expected = (quarter(1.0 + 1e-5) - quarter(1.0 - 1e-5)) / 2e-5
    slopes = []
    for h in (0.004, 0.002):
        found = sensitivities(partial(models.pendulum, h=h, duration=0.8), {"length": 1.0}, ["transient.angle.end"])
        column = found.columns.of["transient.angle"]
        angles = np.polynomial.Polynomial.fit(column.t[-150:], column.values[-150:] + angle, 12)  # from the start
        zero = next(r.real for r in angles.roots() if abs(r.imag) < 1e-9 and column.t[-150] < r.real < column.t[-1])
        change = np.polynomial.Polynomial.fit(column.t[-150:], column.slopes[0, -150:], 12)
        slopes.append(-change(zero) / angles.deriv()(zero))
    assert (4.0 * slopes[1] - slopes[0]) / 3.0 == pytest.approx(expected, rel=1e-5)


def test_angle_of_a_plastic_hinge():
    """Dias and Pereira's hinge: theta_max = theta_l/2 + J w^2/(2 M_l)."""
    values = {"yield_angle": 0.0873, "yield_moment": 4644.7, "inertia": 30.0, "speed": 10.0}
    _, moment, inertia, speed = values.values()
    found = sensitivities(partial(models.hinge, h=2e-5, duration=0.1), values, ["transient.angle.max"])
    expected = [
        0.5, -inertia * speed**2 / (2.0 * moment**2), speed**2 / (2.0 * moment), inertia * speed / moment,
    ]  # fmt: skip
    np.testing.assert_allclose(found.gradient("transient.angle.max"), expected, rtol=5e-4)


def test_statics_in_closed_form():
    """The end of a cantilever: 3 E I u = F L^3 for a small load; the shear of its section has 4e-5 of that."""
    found = sensitivities(
        partial(models.beam, g=9.81e-6, density=1e-9), {"E": 2.1e11, "length": 1.0, "tip": 0.5},
        ["static.tip.y.end"],
    )  # fmt: skip
    relative = found.relative("static.tip.y.end")
    np.testing.assert_allclose(relative, [-1.0, 3.0, 1.0], rtol=6e-5)


# --- quantities ------------------------------------------------------------------------------------------------------
def test_all_statistics_against_differences():
    words = ("min", "max", "absmax", "end", "mean", "rms", "peak_to_peak", "integral")
    names = [f"transient.x.x.{word}" for word in words] + ["transient.x.x@1.2345"]
    found = sensitivities(models.oscillator, {"k": 50.0}, names)
    low, high = (
        sensitivities(models.oscillator, {"k": 50.0 + d}, names) for d in (-1e-3, 1e-3)
    )  # fmt: skip
    for name in names:
        expected = (high.quantity(name).value - low.quantity(name).value) / 2e-3
        assert found.derivative(name, "k") == pytest.approx(expected, rel=1e-6), name


def test_what_results_hold():
    found = sensitivities(models.oscillator, {"k": 50.0, "c": 0.7})
    assert [q.name for q in found.quantities][:2] == ["transient.x.x.absmax", "transient.x.x.end"]
    series = found.series("transient.v.x", "c")
    assert len(series.t) == 301
    assert series.values[-1, 0] == found.derivative("transient.v.x.end", "c")
    assert found.relative("transient.x.x.end")[0] == pytest.approx(
        50.0 * found.derivative("transient.x.x.end", "k") / found.quantity("transient.x.x.end").value
    )
    frame = pytest.importorskip("pandas") and found.to_dataframe()
    assert frame.loc["transient.x.x.end", "k"] == found.derivative("transient.x.x.end", "k")
    assert "transient.x.x.end" in found._repr_html_()


def test_tables_name_the_units_of_their_numbers(tmp_path):
    """The numbers of a model in mm and ms were called metres and seconds."""
    model = models.oscillator()
    model.units(base="mm kg ms", length="um")
    model.save(tmp_path / "model.toml")
    found = sensitivities(tmp_path / "model.toml", ["nodal_spring.s.stiffness"], ["transient.x.x.end"])
    q = found.quantity("transient.x.x.end")
    heads, (row,) = found.table()
    assert row[heads.index("unit")] == "um"
    assert float(row[heads.index("value")]) == pytest.approx(1e3 * q.value, rel=1e-5)
    assert float(row[3]) == pytest.approx(1e3 * q.slopes[0], rel=1e-5)
    _, table, series = found.write(tmp_path)
    (_, value, unit, slope) = table.read_text().splitlines()[1].split(",")
    assert unit == "um"
    assert [float(value), float(slope)] == pytest.approx([1e3 * q.value, 1e3 * q.slopes[0]], rel=1e-14)
    head, *rows = series.read_text().splitlines()
    assert head.startswith("column,unit,time [ms],value")
    last = next(r for r in reversed(rows) if r.startswith("transient.x.x,")).split(",")
    assert last[1] == "um"
    assert float(last[3]) == pytest.approx(1e3 * q.value, rel=1e-14)
    pytest.importorskip("pandas")
    assert found.to_dataframe().loc[q.name, "value"] == pytest.approx(1e3 * q.value, rel=1e-14)
    assert found.to_dataframe(base=True).loc[q.name, "unit"] == "mm"


def test_a_model_and_its_file(tmp_path):
    model = models.oscillator()
    model.save(tmp_path / "model.toml")
    paths = ["nodal_spring.s.stiffness", "point_mass.m.mass", "initial.1.velocity.1"]
    own = sensitivities(models.oscillator, {"k": 50.0, "m": 2.0, "v0": 0.1}).gradient("transient.x.x.end")
    for given in (model, tmp_path / "model.toml"):
        np.testing.assert_allclose(sensitivities(given, paths).gradient("transient.x.x.end"), own, rtol=1e-9)
    other = sensitivities(tmp_path / "model.toml", {"nodal_spring.s.stiffness": 60.0})
    assert other.parameters == {"nodal_spring.s.stiffness": 60.0}
    alone = sensitivities(models.oscillator, {"k": 60.0}).gradient("transient.x.x.end")
    np.testing.assert_allclose(other.gradient("transient.x.x.end"), alone, rtol=1e-9)


def test_a_parameter_at_the_end_of_its_range():
    """A damping of zero can only grow: the derivative of a parabola to one side."""
    found = sensitivities(models.oscillator, {"c": 0.0}, ["transient.x.x.end"])
    low, high = (sensitivities(models.oscillator, {"c": c}, ["transient.x.x.end"]) for c in (1e-4, 2e-4))
    y = [s.quantity("transient.x.x.end").value for s in (found, low, high)]
    expected = (-3.0 * y[0] + 4.0 * y[1] - y[2]) / 2e-4
    assert found.derivative("transient.x.x.end", "c") == pytest.approx(expected, rel=1e-6)


#: Numbers of a model by their paths: materials, sections, geometry, bodies, joints, laws, springs, starts, functions.
PATHS = (
    "gravity.2", "material.steel.E", "section.rod.height", "mesh.arm.line.end.2", "body.1.position.1", "body.1.mass",
    "body.1.inertia", "joint.2.point.1", "joint_spring.1.stiffness", "joint_spring.1.free", "joint_spring.2.table.2.1",
    "joint_spring.2.table.4.2", "node.1.position.2", "spring.1.length", "initial.1.velocity.1", "initial.1.spin",
    "force.1.vector.1", "force.1.function.frequency", "force.1.function.phase", "force.2.function.times.3",
    "force.2.function.values.2",
)  # fmt: skip


def test_numbers_of_every_kind():
    model, names = models.every_kind(), ["transient.bob.x.end", "transient.bob.y.end", "transient.rate.x.end"]
    found = sensitivities(model, PATHS, names)
    own = np.array([found.quantity(name).slopes for name in names])
    for k, path in enumerate(PATHS):
        value = found.parameters[path]
        h = 1e-4 * (abs(value) or 1.0)

        def at(value, path=path):
            changed = build_model(check_model_data(Path("model"), with_value(model_data(model), path, value)))
            columns = columns_of(changed)
            return np.array([columns[name.removesuffix(".end")].values[-1] for name in names])

        expected = (at(value - 2 * h) - at(value + 2 * h) + 8.0 * (at(value + h) - at(value - h))) / (12.0 * h)
        assert np.abs(own[:, k] - expected).max() <= 2e-6 * np.abs(expected).max(), path


def with_value(data, path, value):
    set_value(data, locate(data, path, Path("model")), value)
    return data


def test_expressions_of_parameters():
    def build(scale):
        return models.oscillator(k=50.0 * scale**2, m=2.0 * scale)

    found = sensitivities(build, {"scale": 1.0}, ["transient.x.x.end"])
    parts = sensitivities(models.oscillator, {"k": 50.0, "m": 2.0}, ["transient.x.x.end"])
    chain = parts.gradient("transient.x.x.end") @ [100.0, 2.0]
    assert found.derivative("transient.x.x.end", "scale") == pytest.approx(chain, rel=1e-7)


# --- what has no derivative ------------------------------------------------------------------------------------------
def refused(build, parameters, *words, quantities=()):
    with pytest.raises(ModelError) as caught:
        sensitivities(build, parameters, quantities)
    text = str(caught.value)
    for word in words:
        assert word in text, text
    assert "\n" not in text


def test_changes_of_more_than_numbers_are_refused():
    def elements(length):
        return models.beam(n=4 + (length > 1.0))

    refused(elements, {"length": 1.0}, '"length"', "number of unknowns", "sweep")

    def rounded(k):
        return models.oscillator(k=50.0 + 10.0 * np.floor(k))

    refused(rounded, {"k": 1.0}, '"k"', "jump")

    def steps(end):
        return models.oscillator(duration=3.0 * end, h=0.01 * end)

    refused(steps, {"end": 1.0}, '"end"', "steps of the analysis")


def test_what_is_not_followed_is_refused():
    refused(partial(models.oscillator, adaptive=1e-6), {"k": 50.0}, "adaptive", "equal steps")
    refused(partial(models.oscillator, rule="explicit"), {"k": 50.0}, "explicit", "midpoint")

    def events(k):
        model = models.oscillator(k=k)
        model.event("turn", "x.x", 0.01)
        return model

    refused(events, {"k": 50.0}, '"turn"', "event")

    def user(k):
        model = models.oscillator(k=k)
        model.user_force("own", at="a", function=lambda x, v, t: 0.0 * x)
        return model

    refused(user, {"k": 50.0}, "Python")

    def path(load):
        model = models.beam(load=load)
        model.static_step(control="arc")
        return model

    refused(path, {"load": 30.0}, "path", "control")

    def near_parts(load):
        model = models.beam(load=load)
        model.node("ball", (0.5, 1.0))
        model.point_mass("ball mass", "ball", 1.0)
        model.contact("landing", "arm", "ball", surface="beams", radius=0.01, ball=0.02, stiffness=1e5)
        return model

    refused(near_parts, {"load": 30.0}, '"landing"', "touch", "sweep")


def impacting(height):
    model = models.oscillator()
    model.node("ball", (0.0, height))
    model.point_mass("ball", "ball", 1.0)
    model.impact("floor", "ground", "ball", point=(0.0, 0.0), axis=(0.0, 1.0), restitution=0.5)
    return model


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (partial(models.held_pendulum, lock={}), "catch"),
        (partial(models.held_pendulum, lock={"value": -0.5}), "catch"),
        (partial(models.held_pendulum, lock={"limit": 3.0, "locked": True}), "catch"),
        (partial(models.held_pendulum, lock={"breaks_at": 3.0, "locked": True}), "catch"),
        (partial(models.held_pendulum, breaks_at=15.0), "pin"),
        (lambda length: impacting(length), "floor"),
    ],
)
def test_events_that_change_constraints_are_refused(build, name):
    refused(build, {"length": 1.0}, f'"{name}"', "no derivative", "sweep")


def test_wrong_names_are_refused_before_the_run():
    refused(models.oscillator, {"k": 50.0}, "transient.x.x.end", quantities=["transient.x.x.ende"])
    refused(models.oscillator, {"k": 50.0}, "time of a row", quantities=["transient.x.x.time_of_max"])
    refused(models.oscillator, {"k": 50.0}, "no time from 0 to 3 s", quantities=["transient.x.x@3.5"])
    refused(models.oscillator, {}, "no parameter")
    refused(models.oscillator, ["k"], "needs the values")
    refused(models.oscillator, {"k": "hard"}, '"hard"', "number")


def test_what_nothing_depends_on_is_refused():
    def free(length):
        model = models.oscillator()
        model.node("b", (length, 0.0))
        model.point_mass("other", "b", 1.0)
        model.fix("b")
        return model

    refused(free, {"length": 1.0}, '"length"', "changes no sensor")


@pytest.mark.parametrize("start", [0.505, 0.5021])
def test_a_jump_that_moves_is_refused(start):
    def late(start):
        model = models.oscillator()
        model.force("push", "a", (1.0, 0.0), {"kind": "step", "start": start})
        return model

    refused(late, {"start": start}, '"start"', "jumps", '"push"', "ramp")


def yielding(moment, back=0.0):
    """A plastic hinge beside an elastic spring, turned by a moment, and perhaps back by another."""
    model = models.hinge(yield_moment=moment, speed=0.0)
    model.moment("push", "bar", 6000.0)
    model.moment("back", "bar", -1.0)
    model.joint_spring("rest", "hinge", 1e4)
    model.steps.clear()
    model.static_step(4, vary="push")
    if back:
        model.static_step(4, vary="back", until=back)
    return model


def test_yielding_in_statics():
    """M_l + k x = 6000 N m where the hinge flows; elastic, K x = 6000 N m with K = M_l/theta_l + k."""
    flows = sensitivities(yielding, {"moment": 4644.7}, ["static.angle.end", "static.set.end"])
    assert flows.derivative("static.angle.end", "moment") == pytest.approx(-1e-4, rel=1e-7)
    found = sensitivities(lambda moment: yielding(2.0 * moment), {"moment": 4644.7}, ["static.angle.end"])
    K = 2.0 * 4644.7 / 0.0873 + 1e4
    expected = -6000.0 / K**2 * 2.0 / 0.0873
    assert found.derivative("static.angle.end", "moment") == pytest.approx(expected, rel=1e-7)


def test_yielding_back_in_statics_is_refused_or_right():
    """A second step that unloads begins with its own histories; one that unloads what has yielded in it is refused."""
    back = partial(yielding, back=3000.0)
    found = sensitivities(back, {"moment": 4644.7}, ["static 2.angle.end"])
    expected = differences(back, {"moment": 4644.7}, "moment", 1e-4)["static 2.angle"][-1]
    assert found.derivative("static 2.angle.end", "moment") == pytest.approx(expected, rel=1e-6)

    def one_step(moment):
        model = models.hinge(yield_moment=moment, speed=0.0)
        model.moment("push", "bar", 6000.0, {"kind": "expression", "expression": "sin(3*t)"})
        model.joint_spring("rest", "hinge", 1e4)
        model.steps.clear()
        model.static_step(16, duration=1.0)
        return model

    refused(one_step, {"moment": 4644.7}, "yielded", "the way")
