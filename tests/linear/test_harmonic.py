"""Harmonic response: closed forms, transfer functions of state-space models, residual vectors, reduced parts."""

from __future__ import annotations

import csv
import json

import jsonschema
import numpy as np
import pytest
from flexible_parts import beam
from places import SCHEMA
from scipy.sparse import diags

from fem_mbs import Model, linearise, reduce_part, run, solve
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.modelfile.read import load_model
from fem_mbs.plot.figures import plot_all
from fem_mbs.results.reader import Results
from fem_mbs.solvers.eigen.frequency_response import DirectResponse, ModalResponse, SingularShift

ENDS = {"left": "rod:start", "right": "rod:end"}
M, K, C, F = 2.0, 800.0, 3.0, 5.0


def oscillator(damper=C, **options) -> Model:
    """A mass on a spring along x."""
    m = Model(dimension=2)
    m.node("mass", (1.0, 0.0))
    m.node("wall", (0.0, 0.0))
    m.point_mass("mass", "mass", M)
    m.fix("wall")
    m.fix("mass", ["y"])
    m.spring("spring", "wall", "mass", stiffness=K, damping=damper)
    m.force("push", "mass", (1.0, 0.0), F)
    for kind in ("displacement", "velocity"):
        m.sensor(kind, kind, on="mass")
    m.sensor("wall", "reaction", on="wall")
    if options:
        m.harmonic_step(**options)
    return m


def frame(damping: tuple[float, float, float] = (1e-4, 0.3, 0.5)) -> Model:
    """Two beams in space on a hinge with a spring-damper, the second one's end driven across."""
    m = Model(dimension=3, gravity=(0.0, 0.0, -9.81))
    m.material("steel", E=2.1e11, nu=0.3, density=7850)
    m.section("bar", "rectangle", width=0.02, height=0.03)
    m.line("b", (0, 0, 0), (1, 0, 0), n=4)
    m.line("c", (1, 0, 0), (1.5, 0.5, 0), n=3)
    m.beams("b", on="b", section="bar", material="steel", damping=damping[0])
    m.beams("c", on="c", section="bar", material="steel", damping=damping[0], mass_damping=damping[1])
    m.fix("b:start")
    m.joint("hinge", "revolute", a="b:end", b="c:start", axis=(0, 0, 1))
    m.joint_spring("spring", "hinge", stiffness=30.0, damping=damping[2])
    m.force("push", on="b:end", vector=(0, 1, 2), function=10.0)
    m.force("side", on="c:end", vector=(1, 0.5, 0.3), function=3.0)
    m.motion("shake", on="c:end", component="z", function=0.0)
    m.sensor("tip", "displacement", on="c:end")
    m.sensor("rate", "velocity", on="b:end")
    m.sensor("support", "reaction", on="b:start")
    m.sensor("moment", "element", on="b", element=1, quantity="My 1")
    m.sensor("hinge", "joint", on="hinge")
    return m


def cantilever(n=8, **options) -> Model:
    m = Model(dimension=2)
    m.material("steel", E=2.1e11, nu=0.3, density=7850)
    m.section("rod", "circle", diameter=0.02)
    m.line("rod", (0, 0), (1, 0), n=n)
    m.beams("rod", on="rod", section="rod", material="steel", **options)
    m.fix("rod:start")
    m.force("tip", "rod:end", (0.0, 1.0))
    m.sensor("tip", "displacement", on="rod:end")
    return m


def columns(m: Model, step: int = -1) -> np.ndarray:
    """Complex values (frequencies, columns) of all sensors."""
    found = solve(m)
    return np.hstack([found.response(s.name, step).values for s in m.sensors if s.kind != "energy"])


# --- closed forms and transfer functions -----------------------------------------------------------------------------
@pytest.mark.parametrize("eta", [0.0, 0.1])
def test_damped_oscillator(eta):
    """X = F / (k (1 + i eta) - w^2 m + i w c) (Den Hartog 1956, section 2.8), its velocity, and the wall's force."""
    f = np.linspace(0.0, 10.0, 23)
    found = solve(oscillator(frequencies=f, structural=eta))
    w = 2.0 * np.pi * f
    exact = F / (K * (1.0 + 1j * eta) - w**2 * M + 1j * w * C)
    np.testing.assert_allclose(found.response("displacement").values[:, 0], exact, rtol=1e-12)
    np.testing.assert_allclose(found.response("velocity").values[:, 0], 1j * w * exact, rtol=1e-12, atol=1e-15)
    wall = -(K * (1.0 + 1j * eta) + 1j * w * C) * exact
    np.testing.assert_allclose(found.response("wall").values[:, 0], wall, rtol=1e-10)
    peak = next(p for p in found.summary["steps"][0]["peaks"] if p["column"] == "displacement.x")
    assert peak["amplitude"] == np.abs(exact).max() or abs(peak["amplitude"] / np.abs(exact).max() - 1.0) < 1e-12
    assert peak["frequency"] == f[np.abs(exact).argmax()]


def test_phases_amplitudes_and_times():
    """Loads add up with their phases; an amplitude is the function's value at a time, or the one that is given."""
    m = oscillator()
    m.force("late", "mass", (1.0, 0.0), {"kind": "expression", "expression": "7*t"})
    m.harmonic_step([2.0], name="one", loads=["push"])
    m.harmonic_step([2.0], name="turned", loads="push", phases={"push": 90.0})
    m.harmonic_step([2.0], name="both", amplitudes={"late": 5.0}, phases={"late": 180.0})
    m.harmonic_step([2.0], name="then", loads=["late"], time=3.0)
    m.harmonic_step([2.0], name="half", loads=["push", "late"])
    found = solve(m)
    one, turned, both, then, half = (found.response("displacement", k).values[0, 0] for k in range(5))
    assert turned == pytest.approx(1j * one, rel=1e-12)
    assert abs(both) < 1e-12 * abs(one)
    assert then == pytest.approx(one * 21.0 / F, rel=1e-12)
    assert half == pytest.approx(one, rel=1e-12)
    assert any('"late" has the value 0' in w for w in found.summary["steps"][4]["warnings"])
    said = {load["name"]: load for load in found.summary["steps"][2]["loads"]}
    assert said["late"]["phase"] == pytest.approx(180.0) and said["late"]["amplitude"] == pytest.approx(5.0)


def test_spectra():
    """An amplitude and a phase that change with the frequency: the transfer function times them."""
    f = np.array([1.0, 2.0, 3.0, 4.5])
    m = oscillator(frequencies=f)
    rows = [[1.0, 3.0, 10.0], [2.0, 5.0, 90.0], [5.0, 2.0, -30.0]]
    m.harmonic_step(f, name="spectrum", spectra={"push": rows})
    m.harmonic_step(f, name="flat", loads=["push"], spectra={"push": [[0.0, 2.0 * F], [9.0, 2.0 * F]]})
    found = solve(m)
    plain, spectrum, flat = (found.response("displacement", k).values[:, 0] for k in range(3))
    size = np.array([3.0, 5.0, 4.0, 2.5]) * np.exp(1j * np.deg2rad([10.0, 90.0, 50.0, -10.0]))
    np.testing.assert_allclose(spectrum, plain / F * size, rtol=1e-12)
    np.testing.assert_allclose(flat, 2.0 * plain, rtol=1e-12)
    (load,) = found.summary["steps"][1]["loads"]
    assert (load["name"], load["amplitude"]) == ("push", pytest.approx(5.0))
    assert load["phase"] == pytest.approx(90.0)


@pytest.mark.parametrize(("name", "amplitude"), [("push", 10.0), ("side", 3.0), ("shake", 1e-3)])
def test_transfer_functions_of_a_mechanism(name, amplitude):
    """Forces and a driven support against C (i w - A)^-1 B + D of `linearise`, for every kind of sensor."""
    f = np.array([3.0, 11.0, 50.0, 200.0])
    m = frame()
    m.harmonic_step(f, loads=[name], amplitudes={name: amplitude}, phases={name: 90.0})
    found = columns(m)
    model = linearise(frame()).state_space([name], [s.name for s in m.sensors])
    p = 2j * np.pi * f
    order = np.array([len(i) - len(i.rstrip("'")) for i in model.inputs])
    exact = 1j * amplitude * np.einsum("fkm,fm->fk", model.response(p), p[:, None] ** order)
    size = np.abs(exact).max(axis=0)
    assert (size > 0.0).sum() >= 6
    assert np.all(np.abs(found - exact).max(axis=0) <= 1e-8 * size + 1e-15 * size.max())


@pytest.mark.parametrize("given", ["displacement", "acceleration"])
@pytest.mark.parametrize("how", ["amplitudes", "spectra", "function"])
def test_base_excitation(given, how):
    """A shaken wall: transmissibility (k + i w c) / (k - w^2 m + i w c) times its displacement, or -1/w^2 times its
    acceleration."""
    f = np.array([0.5, 3.0, 9.0])
    w = 2.0 * np.pi * f
    moved = 0.01 * np.ones(3) if given == "displacement" else -0.01 / w**2
    exact = moved * (K + 1j * w * C) / (K - w**2 * M + 1j * w * C)
    m = oscillator()
    m.base_excitation("quake", (-2.0, 0.0), **{given: "-0.005 + 0.01*t"}, on=["wall"])
    options = {
        "amplitudes": {"amplitudes": {"quake": -0.005}},
        "spectra": {"spectra": {"quake": [[0.5, -0.005], [9.0, -0.005]]}},
        "function": {"time": 0.0},
    }[how]
    m.harmonic_step(f, loads=["quake"], **options)
    found = solve(m)
    np.testing.assert_allclose(found.response("displacement").values[:, 0], exact, rtol=1e-11)
    assert found.report.steps[0].loads[0].amplitude == pytest.approx(0.01)


def test_a_shaken_wall_as_an_input_has_its_direction():
    m = oscillator()
    m.base_excitation("quake", (-2.0, 0.0), displacement="0*t", on=["wall"])
    model = linearise(m).state_space(["quake"], ["displacement"])
    p = 2j * np.pi * 3.0
    order = np.array([len(i) - len(i.rstrip("'")) for i in model.inputs])
    found = (model.response(p)[0] * p**order).sum()
    assert found == pytest.approx(-2.0 * (K + p * C) / (K + p * p * M + p * C), rel=1e-9)


def test_a_motor_with_a_given_speed_shakes_by_its_speed():
    """A disc on a shaft that follows the turn of a motor: v/(i w) times the transmissibility."""
    m = Model(2)
    for name, inertia in (("rotor", 1.0), ("disc", 0.2)):
        m.body(name, (0.0, 0.0), 1.0, inertia)
        m.joint(f"{name} axle", "revolute", "ground", name, point=(0.0, 0.0))
    m.torsion_spring("shaft", "rotor", "disc", 50.0, damping=0.3)
    m.motor("motor", "rotor axle", speed=0.0)
    m.sensor("turn", "rotation", on="disc")
    m.harmonic_step([2.0], loads=["motor"], amplitudes={"motor": 0.4})
    p = 4j * np.pi
    exact = 0.4 / p * (50.0 + 0.3 * p) / (50.0 + 0.3 * p + 0.2 * p * p)
    assert solve(m).response("turn").values[0, 0] == pytest.approx(exact, rel=1e-9)


def test_a_steady_acceleration_moves_a_wall_without_bound():
    m = oscillator()
    m.base_excitation("quake", (1.0, 0.0), acceleration=1.0, on=["wall"])
    m.harmonic_step([0.0, 1.0], loads=["quake"])
    with pytest.raises(ModelError, match='"quake" is given by its acceleration, which at 0 Hz moves it without bound'):
        solve(m)


# --- modes -----------------------------------------------------------------------------------------------------------
def test_modes_with_residual_vectors():
    """Undamped: the direct solution to 1e-5 up to half of the cut-off, and statically exact."""
    f = np.array([0.0, 3.0, 11.0, 50.0, 150.0])
    found = []
    for options in ({"method": "direct"}, {"method": "modal", "cutoff": 400.0}):
        m = frame((0.0, 0.0, 0.0))
        m.harmonic_step(f, structural=0.02, **options)
        found.append(columns(m))
    direct, modal = found
    size = np.abs(direct).max(axis=0)
    off = np.abs(modal - direct) / np.where(size > 1e-9 * size.max(), size, np.inf)
    assert off[0].max() < 1e-8
    assert off.max() < 1e-5


def test_modal_damping_and_free_parts():
    """Ratios by modes against closed forms, with a rigid-body motion."""
    n, f = 6, 1.3
    k = diags([np.r_[1.0, 2.0 * np.ones(n - 2), 1.0], -np.ones(n - 1), -np.ones(n - 1)], [0, 1, -1]).tocsr() * 100.0
    mass, none = diags(np.ones(n)).tocsr(), diags(np.zeros(n)).tocsr()
    right = np.zeros((n, 1))
    right[0] = 3.0
    w = 2.0 * np.pi * f
    value, vector = np.linalg.eigh(k.toarray())
    value = np.maximum(value, 0.0)
    ratios = np.array([0.0, 0.01, 0.03])
    zeta = ratios[np.minimum(np.arange(n), 2)]
    terms = value - w * w + 2j * w * zeta * np.sqrt(value)
    exact = vector @ ((vector.T @ right[:, 0]) / terms)
    job = ModalResponse(k, none, mass, right, 0.0, ratios, 20.0)
    assert job.frequencies.size == n and job.residual == 0
    np.testing.assert_allclose(job.solve(w, right[:, 0]), exact, rtol=1e-9)
    few = ModalResponse(k, none, mass, right, 0.0, np.zeros(0), 14.0, 3)
    assert few.residual == 3  # what is left of six unknowns: nothing is lost
    plain = DirectResponse(k, none, mass, 0.0, w).solve(w, right[:, 0])
    np.testing.assert_allclose(few.solve(w, right[:, 0]), plain, rtol=1e-6)


@pytest.mark.parametrize("off", [0.0, 2e-15, -2e-15, 1e-14])
def test_an_undamped_mode_at_its_frequency_is_told_within_round_off(off):
    """It has no finite answer; a force that does not excite it has one."""
    k, mass = diags([100.0, 300.0, 700.0]).tocsr(), diags([1.0, 2.0, 3.0]).tocsr()
    right = np.ones((3, 1))
    job = ModalResponse(k, 0.0 * mass, mass, right, 0.0, np.zeros(0), 30.0)
    w = float(np.sqrt(150.0)) * (1.0 + off)
    with pytest.raises(SingularShift):
        job.solve(w, right[:, 0])
    found = job.solve(w, np.array((1.0, 0.0, 1.0)))
    assert found == pytest.approx(np.array((1.0 / (100.0 - w * w), 0.0, 1.0 / (700.0 - 3.0 * w * w))), rel=1e-9)


def test_modes_without_residual_vectors():
    """Without them the answer is the sum over the modes that are taken; frequencies lie between the natural ones."""
    m = oscillator(damper=0.0)
    m.node("second", (2.0, 0.0))
    m.point_mass("second", "second", M)
    m.fix("second", ["y"])
    m.spring("between", "mass", "second", stiffness=K)
    m.harmonic_step({"start": 0.5, "end": 6.0, "n": 1}, modes=1, residual=False, damping=0.02,
                    intervals={"n": 4, "bias": 2.0}, name="shake")  # fmt: skip
    found = solve(m).response("displacement")
    value, shape = np.linalg.eigh(np.array([[2.0 * K, -K], [-K, K]]) / M)
    natural, f = np.sqrt(value[0]) / (2.0 * np.pi), found.t
    share = 0.5 - 0.5 * np.sqrt(1.0 / 3.0)  # y = -1/3 of -1, -1/3, 1/3, 1
    parts = [a + np.array([0.0, share, 1.0 - share, 1.0]) * (b - a) for a, b in ((0.5, natural), (natural, 6.0))]
    np.testing.assert_allclose(f, np.r_[parts[0], parts[1][1:]], rtol=1e-9)
    w = 2.0 * np.pi * f
    exact = F * shape[0, 0] ** 2 / M / (value[0] - w**2 + 0.04j * w * np.sqrt(value[0]))
    np.testing.assert_allclose(found.values[:, 0], exact, rtol=1e-9)


@pytest.mark.parametrize("option", ["damping", "rayleigh"])
def test_damping_of_modes_holds_on_to_supports(option):
    """A shaken wall: the ratio of the only mode is the damper between wall and mass, which wall and mass both feel."""
    f, found = [1.0, 3.0, 9.0], []
    for own in (True, False):
        m = oscillator(damper=0.0 if own else C)
        value = {"damping": C / (2.0 * np.sqrt(K * M)), "rayleigh": (0.0, C / K)}[option]
        m.base_excitation("quake", (1.0, 0.0), displacement=0.0, on=["wall"])
        m.harmonic_step(f, loads=["push", "quake"], amplitudes={"quake": 0.01}, **({option: value} if own else {}))
        found.append(solve(m))
    for name in ("displacement", "velocity", "wall"):
        of_modes, of_damper = (s.response(name).values[:, 0] for s in found)
        np.testing.assert_allclose(of_modes, of_damper, rtol=1e-10)


def test_joint_forces_of_damped_modes():
    """Forces of supports and joints do not depend on the coordinates: a beam whole, and reduced with all its shapes."""
    found = []
    for part in (False, True):
        m = Model(2)
        if part:
            m.reduced_part("half", reduce_part(beam(4, dimension=2), ENDS, modes=15), reference="left")
            a, b = "half:left", "half:right"
        else:
            m = beam(4, dimension=2)
            a, b = "rod:start", "rod:end"
        m.body("tip", (1.0, 0.0), mass=0.3, inertia=1e-3)
        m.fix(a)
        m.joint("glue", "weld", b, "tip")
        m.force("push", "tip", (1.0, -1.0))
        m.sensor("held", "reaction", on=a)
        m.sensor("glue", "reaction", on="glue")
        m.harmonic_step([5.0, 40.0], damping=[0.02, 0.05], rayleigh=(3.0, 1e-5), cutoff=1e6)
        found.append(np.hstack([solve(m).response(name).values for name in ("held", "glue")]))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-7, atol=1e-9 * np.abs(found[0]).max())


def test_intervals_and_residual_belong_to_modes():
    for option in ({"residual": False}, {"intervals": {"n": 4}}):
        with pytest.raises(ModelError, match=f"{next(iter(option))} belongs to modes"):
            solve(oscillator(frequencies=[1.0, 2.0], method="direct", **option))
    with pytest.raises(ModelError, match="bias at least 1"):
        oscillator(frequencies=[1.0, 2.0], intervals={"n": 4, "bias": 0.5})


def test_what_is_chosen():
    """Direct for small models; modal where modes are spoken of, all those up to twice the highest frequency."""
    m = cantilever()
    m.harmonic_step([10.0, 100.0], name="direct")
    m.harmonic_step([10.0, 100.0], name="modal", damping=0.01)
    m.harmonic_step([10.0, 100.0], name="three", modes=3)
    steps = solve(m).summary["steps"]
    assert [s["method"] for s in steps] == ["direct", "modal", "modal"]
    assert steps[2]["modes"] == 3 and max(steps[1]["natural_frequencies"]) < 200.0


def test_dampers_and_modes():
    """The damping matrix is projected whole, and it is said that its forces have no residual vectors."""
    found = []
    for method in ("direct", "modal"):
        m = frame()
        m.harmonic_step([3.0, 11.0, 50.0], method=method, cutoff=400.0 if method == "modal" else None)
        s = solve(m)
        found.append(s.response("tip").values[:, :2])
    assert any("dampers act on the modes" in w for w in s.summary["steps"][0]["warnings"])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-3)


# --- states and parts ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("modes", "tolerance"), [(15, 1e-8), (12, 1e-5)])
def test_reduced_and_whole(modes, tolerance):
    """Half of a beam reduced, half not, against the whole one, at the tip and at all nodes of the reduced half.

    15 modes are all that there are, twelve reach far beyond these frequencies."""
    f, found = [5.0, 40.0, 70.0], []
    for part in (False, True):
        if part:
            m = beam(6, dimension=2, start=(1.0, 0.0))
            m.reduced_part("half", reduce_part(beam(6, dimension=2), ENDS, modes=modes))
            m.joint("weld", "weld", "half:right", "rod:start")
            m.fix("half:left")
        else:
            m = beam(12, length=2.0, dimension=2)
            m.fix("rod:start")
        m.force("tip", "rod:end", (0.0, -1.0))
        m.sensor("tip", "displacement", on="rod:end")
        m.harmonic_step(f, structural=0.05, frames=3)
        found.append(solve(m))
    whole, parts = (s.response("tip").values[:, 1] for s in found)
    np.testing.assert_allclose(parts, whole, rtol=tolerance)
    for name in ("displacement", "displacement imaginary", "rotation", "rotation imaginary"):
        a, b = (s.steps[0].frames[name] for s in found)
        size = np.abs(a[:, :7]).max(axis=(1, 2), keepdims=True)
        assert np.all(np.abs(b[:, -7:] - a[:, :7]) <= 10.0 * tolerance * size)


def test_preload_shifts_the_resonance():
    """Under a pull the peak is where the modal step has the mode, after a static step and with preload alike."""

    def pulled() -> Model:
        m = cantilever()
        m.force("pull", "rod:end", (2e4, 0.0))
        return m

    m = pulled()
    m.static_step(name="hold", vary=["pull"])
    m.modes_step(2)
    loaded = solve(m).summary["steps"][1]["frequencies_hz"][0]
    m = cantilever()
    m.modes_step(2)
    free = solve(m).summary["steps"][0]["frequencies_hz"][0]
    assert loaded > 1.2 * free
    f = loaded * (1.0 + np.array([-1e-3, 0.0, 1e-3]))
    for how in ("state", "preload"):
        m = pulled()
        if how == "state":
            m.static_step(name="hold", vary=["pull"])
        else:
            m.linear_static_step("hold", loads=["pull"])
        m.harmonic_step(f, loads=["tip"], structural=1e-4, **({} if how == "state" else {"preload": "hold"}))
        size = np.abs(solve(m).response("tip").values[:, 1])
        assert size.argmax() == 1 and size[1] > 5.0 * size[0]


# --- files -----------------------------------------------------------------------------------------------------------
TEXT = """
title = "cantilever"
dimension = 2
[material.steel]
E = 2.1e11
nu = 0.3
density = 7850
[section.rod]
shape = "circle"
diameter = 0.02
[mesh.rod]
line = { start = [0, 0], end = [1, 0], n = 4 }
[[beam]]
name = "rod"
on = "rod"
section = "rod"
material = "steel"
[[support]]
on = "rod:start"
components = ["x", "y", "rotation"]
[[force]]
name = "push"
on = "rod:end"
vector = [0, 1]
function = 2.0
[[sensor]]
name = "tip"
kind = "displacement"
on = "rod:end"
[[sensor]]
name = "wall"
kind = "reaction"
on = "rod:start"
[[step]]
type = "harmonic"
frequencies = { start = 1, end = 100, n = 40, spacing = "log" }
phases = { push = 30 }
damping = [0.01, 0.02]
structural = 0.01
frames = 3
"""


def test_a_model_file_and_what_it_leaves(tmp_path):
    """Summary by the schema, the table of amplitudes and phases, shapes, figures."""
    path = tmp_path / "model.toml"
    path.write_text(TEXT, encoding="utf-8")
    run(load_model(path), tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    jsonschema.validate(summary, SCHEMA)
    results = Results.open(tmp_path / "out")
    f, values, names = results.response("tip")
    np.testing.assert_allclose(f, np.geomspace(1.0, 100.0, 41))
    assert names == ["tip.x", "tip.y"]
    (table,) = (tmp_path / "out").glob("response-*.csv")
    head, *rows = csv.reader(table.read_text(encoding="utf-8").splitlines())
    assert head[:5] == [
        "frequency [Hz]", "tip.x amplitude [m]", "tip.x phase [deg]", "tip.y amplitude [m]", "tip.y phase [deg]",
    ]  # fmt: skip
    rows = np.array(rows, float)
    np.testing.assert_allclose(rows[:, 3] * np.exp(1j * np.deg2rad(rows[:, 4])), values[:, 1], rtol=1e-12)
    step = results.steps[0]
    np.testing.assert_allclose(step.frame_times, f[[0, 20, 40]])
    end = np.argmax(results.header["nodes"][:, 0])
    moved = step.frames["displacement"][:, end, 1] + 1j * step.frames["displacement imaginary"][:, end, 1]
    np.testing.assert_allclose(moved, values[[0, 20, 40], 1], rtol=1e-5)
    names = {p.name for p in plot_all(results, tmp_path / "figures")}
    assert {"response-1-harmonic-tip.png", "response-1-harmonic-wall.png", "shapes-1-harmonic.png"} <= names


# --- what is refused -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"frequencies": []}, "frequencies = .* must be a list"),
        ({"frequencies": [-1.0]}, "none negative"),
        ({"frequencies": [2.0, 1.0]}, "frequencies must increase, but 1 Hz comes after 2 Hz"),
        (
            {"frequencies": {"start": 0, "end": 1, "n": 2, "spacing": "log"}},
            "frequencies.start = 0 must be positive with logarithmic",
        ),
        ({"frequencies": {"start": 0, "end": 1}}, "must have start, end and n"),
        ({"frequencies": {"start": 1, "end": 2, "n": 2, "spacing": "x"}}, 'frequencies.spacing = "x"'),
        ({"loads": ["pull"]}, 'there is no load, motion, driven joint or equation "pull"'),
        ({"loads": ["push"], "phases": {"pull": 3.0}}, 'phases: "pull" is not among the loads push'),
        ({"phases": {"pull": 3.0}}, 'phases: there is no load, .* "pull"'),
        ({"phases": [3.0]}, "must be a table of angles"),
        ({"spectra": {"push": [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]]}}, "must be a table of lists of rows"),
        ({"spectra": {"push": [[2.0, 1.0]]}}, '"push" has rows from 2 to 2 Hz, and the frequencies go from 1 to 1 Hz'),
        ({"spectra": {"push": [[0.0, 1.0], [2.0, 1.0]]}, "phases": {"push": 3.0}}, "stands in spectra and in phases"),
        ({"spectra": {"pull": [[0.0, 1.0], [2.0, 1.0]]}}, 'spectra: there is no load, .* "pull"'),
        ({"amplitudes": {"push": 0.0}}, "nothing shakes the model"),
        ({"method": "x"}, 'method = "x" must be one of "auto", "direct", "modal"'),
        ({"method": "direct", "damping": 0.1}, "damping belongs to modes"),
        ({"damping": -0.1}, "damping = -0.1"),
        ({"modes": 0}, "modes = 0"),
        ({"modes": 2, "cutoff": 3.0}, "modes and cutoff exclude each other"),
        ({"cutoff": 0.0}, "cutoff = 0.0"),
        ({"structural": -1.0}, "structural = -1.0"),
        ({"modes": 1, "frequencies": [0.0], "method": "modal", "preload": "x"}, "preload"),
    ],
)
def test_refused(options, message):
    with pytest.raises(ModelError, match=message):
        solve(oscillator(**{"frequencies": [1.0], **options}))


def test_no_loads():
    m = Model(dimension=2, gravity=(0.0, -9.81))
    m.node("mass", (0.0, 0.0))
    m.point_mass("mass", "mass", 1.0)
    m.node("wall", (0.0, 1.0))
    m.fix("wall")
    m.fix("mass", ["x"])
    m.spring("spring", "wall", "mass", stiffness=100.0)
    m.sensor("mass", "displacement", on="mass")
    m.harmonic_step([1.0])
    with pytest.raises(ModelError, match="nothing shakes the model: there is no load"):
        solve(m)
    m.steps.clear()
    m.harmonic_step([1.0], loads=["gravity"], amplitudes={"gravity": 0.5})
    exact = -0.5 * 9.81 / (100.0 - (2.0 * np.pi) ** 2)
    assert solve(m).response("mass").values[0, 1] == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("method", ["direct", "modal"])
def test_at_an_undamped_resonance(method):
    f = np.sqrt(K / M) / (2.0 * np.pi)
    with pytest.raises(AnalysisError, match=rf"{f:.9g} Hz: a natural frequency, at which nothing damps"):
        solve(oscillator(0.0, frequencies=[1.0, f], method=method))


def test_free_at_rest():
    m = cantilever()
    m.building.fixed.clear()
    m.harmonic_step([0.0, 1.0])
    with pytest.raises(AnalysisError, match="0 Hz: the model can move freely"):
        solve(m)


def test_centrifugal_loads_stay():
    """They stiffen by the static step before, and shake nothing."""
    m = cantilever()
    m.centrifugal("turn", 50.0, point=(-0.1, 0.0))
    m.harmonic_step([5.0], name="slack")
    m.static_step()
    m.harmonic_step([5.0], name="spun", loads=["tip"])
    found = solve(m)
    slack, spun = (found.response("tip", k).values[0] for k in (0, 2))
    assert abs(slack[0]) < 1e-9 * abs(slack[1])
    assert abs(spun[1]) < 0.9 * abs(slack[1])
