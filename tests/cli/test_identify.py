"""Identification from the energy of runs: values, rank, standard deviations, measured states, mistakes."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from fem_mbs import (
    InputError,
    Instant,
    Model,
    ModelError,
    ResultsError,
    identify,
    load_model,
    measured_instants,
    run,
    solve,
)
from fem_mbs.analysis.transient.state_energies import StateEnergies
from fem_mbs.cli.main import app

TRUE = {"rhoA": 1.2, "EI": 35.0, "EA": 5e3, "mass": 0.4, "J": 0.02, "k": 12.0}


def pendulum(values, restarts=None, dimension=2, **options):
    """A flexible rod that swings, with a body on a hinge and a spring at its end."""
    m = Model(dimension, gravity=(0.0, -9.81, 0.0)[:dimension])
    more = {"GJ": 20.0, "GA": np.inf} if dimension == 3 else {}
    m.section("rod", "stiffness", EA=values["EA"], EI=values["EI"], rhoA=values["rhoA"], rhoI=1e-4, **more)
    zero = np.zeros(dimension)
    m.line("rod", zero, zero + np.eye(dimension)[0], 4)
    m.beams("rod", "rod", "rod")
    inertia = values["J"] if dimension == 2 else (values["J"],) * 3
    m.body("tip", zero + 1.1 * np.eye(dimension)[0], values["mass"], inertia)
    m.joint(
        "hinge",
        "revolute",
        "rod:end",
        "tip",
        point=zero + np.eye(dimension)[0],
        **({"axis": (0.2, 0, 1)} if dimension == 3 else {}),
    )
    m.joint_spring("spring", "hinge", values["k"], 0.05)
    m.fix("rod:start", ["x", "y", "z"][:dimension])
    m.transient_step(0.6, 0.002, frames=0, restarts=restarts, **options)
    return m


def start(factor=1.2):
    return {name: value * factor ** (1 if i % 2 else -1) for i, (name, value) in enumerate(TRUE.items())}


@pytest.mark.parametrize("dimension", [2, 3])
def test_true_values_come_back(dimension):
    """With dampers, whose loss the ledger books; to the round-off of the energies over the condition."""
    results = solve(pendulum(TRUE, 40, dimension))
    found = identify(lambda v: pendulum(v, dimension=dimension), results, start())
    assert found.rank == len(TRUE)
    assert 1.0 < found.condition < 1e5
    for name, value in TRUE.items():
        assert found.values[name] == pytest.approx(value, rel=1e-8)
        assert found.deviations[name] < 1e-8 * value
    assert found.error < 1e-10 * found.change
    assert found.equations == 39


def test_work_of_loads_counts():
    """A driven crank and a force over time do work."""

    def model(v, restarts=None):
        m = Model(2)
        m.body("crank", (0.2, 0.0), 1.0, 0.1)
        m.joint("drive", "revolute", "ground", "crank", point=(0.0, 0.0), function="2*t + sin(3*t)")
        m.body("rod", (0.7, 0.0), v["m"], v["J"])
        m.joint("hinge", "revolute", "crank", "rod", point=(0.4, 0.0))
        m.force("push", "rod", (0.3, 1.0), function="cos(5*t)")
        m.transient_step(2.0, 0.01, frames=0, restarts=restarts)
        return m

    true = {"m": 0.8, "J": 0.06}
    found = identify(model, solve(model(true, 30)), {"m": 1.0, "J": 0.1})
    assert found.rank == 2
    assert found.values == pytest.approx(true, rel=1e-9)


def test_what_no_motion_tells_apart():
    """Two masses at one node: their sum is determined, and stays as near to the start values as it can."""

    def model(v, restarts=None):
        m = Model(2, gravity=(0.0, -9.81))
        m.node("n", (1.0, 0.0))
        m.node("o", (0.0, 0.0))
        m.spring("s", "n", "o", 100.0, length=1.0)
        m.point_mass("a", "n", v["a"])
        m.point_mass("b", "n", v["b"])
        m.fix("o")
        m.transient_step(1.0, 0.01, frames=0, restarts=restarts)
        return m

    found = identify(model, solve(model({"a": 1.0, "b": 2.0}, 20)), {"a": 2.0, "b": 2.0})
    assert found.rank == 1
    assert found.values["a"] + found.values["b"] == pytest.approx(3.0, rel=1e-9)
    assert found.values["a"] == pytest.approx(1.5, rel=1e-9)
    assert found.undetermined == [{"a": pytest.approx(1.0), "b": pytest.approx(-1.0)}]
    assert np.isnan(found.deviations["a"])


def test_standard_deviations_are_those_of_noise():
    """Of many identifications with noise in the works, the values spread by the deviations that each of them tells."""
    results = solve(pendulum(TRUE, 120))
    from fem_mbs.sweeps.identify import instants_of

    clean, rng = instants_of(results), np.random.default_rng(1)
    sought = {name: TRUE[name] for name in ("mass", "rhoA")}
    runs = []
    for _ in range(40):
        noisy = np.cumsum(1e-3 * rng.normal(size=len(clean)))
        instants = [Instant(i.state, i.work + float(e), i.step) for i, e in zip(clean, noisy, strict=True)]
        runs.append(identify(lambda v: pendulum({**TRUE, **v}), instants, sought))
    for name in sought:
        spread = np.std([r.values[name] for r in runs], ddof=1)
        told = np.mean([r.deviations[name] for r in runs])
        assert 0.6 < spread / told < 1.6


@pytest.mark.parametrize("dimension", [2, 3])
def test_measured_states_have_the_energies_of_recorded_ones(dimension):
    """Displacements, rotations, velocities and spins of nodes make the state of a restart point again."""
    results = solve(pendulum(TRUE, 4, dimension))
    energies = StateEnergies(pendulum(TRUE, dimension=dimension))
    system = pendulum(TRUE, dimension=dimension).compile().system
    n, point = len(system.nodes.x), results.restart(2)
    at = system.offset[:n, None] + np.arange(dimension)
    where = np.flatnonzero(system.nodes.rotational)
    if dimension == 2:
        rotation, spin = np.zeros(n), np.zeros(n)
        rotation[where] = point["Q"][system.offset[where] + 2] - system.nodes.rotation[where]
        spin[where] = point["V"][0][system.offset[where] + 2]
    else:
        from scipy.spatial.transform import Rotation

        rotation, spin = np.zeros((n, 3)), np.zeros((n, 3))
        R = point["D"][: len(where)].reshape(-1, 3, 3)
        rotation[where] = Rotation.from_matrix(R @ system.nodes.rotation[where].transpose(0, 2, 1)).as_rotvec()
        spin[where] = np.einsum("nij,nj->ni", R, point["V"][0][system.offset[where, None] + 3 + np.arange(3)])
    measured = energies.measured(
        float(point["time"]), point["Q"][at] - system.nodes.x, rotation, point["V"][0][at], spin
    )
    measured["hist"] = point["hist"]  # of the spring, whose angle is unwrapped
    # rates of directors of the mid-point rule are w x d up to h^2
    assert np.abs(measured["DD"] - point["DD"]).max() < 1e-3 * np.abs(point["DD"]).max()
    measured["DD"] = point["DD"]
    assert energies.of(measured) == pytest.approx(energies.of(point), rel=1e-9)


MODEL = """
dimension = 2
gravity = [0, -9.81]
[parameters]
k = 50.0
[[body]]
name = "bar"
position = [0.5, 0]
mass = 2.0
inertia = 0.3
[[joint]]
name = "pin"
type = "revolute"
a = "ground"
b = "bar"
point = [0, 0]
[[joint_spring]]
name = "spring"
joint = "pin"
stiffness = "k"
[section.rod]
shape = "circle"
diameter = 0.02
[material.steel]
E = 2e9
nu = 0.3
density = 1000
[mesh.rod]
line = { start = [2, 0], end = [3, 0], n = 2 }
[[beam]]
on = "rod"
section = "rod"
material = "steel"
[[support]]
on = "rod:start"
components = ["x", "y", "rotation"]
[[step]]
type = "transient"
duration = 1.0
h = 0.005
restarts = 30
frames = 0
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("identify") / "model.toml"
    path.write_text(MODEL, encoding="utf-8")
    run(load_model(path, {"k": 60.0, "body.bar.mass": 1.5, "material.steel.density": 1100}), path.parent / "out")
    return path


@pytest.mark.everyday
def test_model_file_and_command(file, tmp_path):
    sought = ["k", "body.bar.mass", "material.steel.density"]
    arguments = [word for name in sought for word in ("--of", name)]
    table = tmp_path / "found.json"
    done = CliRunner().invoke(app, ["identify", str(file), str(file.parent / "out"), *arguments, "--json", str(table)])
    assert done.exit_code == 0, done.output
    assert "rank 3 of 3" in done.output
    found = json.loads(table.read_text(encoding="utf-8"))
    assert found["values"] == pytest.approx(
        {"k": 60.0, "body.bar.mass": 1.5, "material.steel.density": 1100.0}, rel=1e-8
    )


def test_what_is_not_linear_is_refused(file):
    done = CliRunner().invoke(
        app,
        ["identify", str(file), str(file.parent / "out"), "--of", "material.steel.E", "--of", "section.rod.diameter"],
    )
    assert isinstance(done.exception, InputError)
    assert "the energy does not depend linearly on section.rod.diameter" in str(done.exception)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "say what is sought"),
        (["--of", "body.bar.weight"], "weight"),
        (["--of", "k", "--of", "parameters.k"], "named twice"),
        (["--of", "body.bar.name"], "is no number"),
    ],
)
def test_mistakes_of_the_command(file, arguments, words):
    done = CliRunner().invoke(app, ["identify", str(file), str(file.parent / "out"), *arguments])
    assert isinstance(done.exception, InputError)
    assert words in str(done.exception)


def test_measured_instants():
    """A body on a spring that moves up and down, with the work that this takes."""

    def model(v):
        m = Model(3, gravity=(0.0, 0.0, -9.81))
        m.body("a", (0.0, 0.0, 0.0), v["m"], (0.1, 0.2, 0.25))
        m.node("o", (1.0, 0.0, 0.0))
        m.spring("s", "a", "o", v["k"], length=1.0)
        m.fix("o")
        return m

    t = np.linspace(0.0, 1.0, 12)
    still = np.zeros((12, 2, 3))
    place, speed = still.copy(), still.copy()
    place[:, 0, 2], speed[:, 0, 2] = 0.1 * np.sin(3.0 * t), 0.3 * np.cos(3.0 * t)
    # the energy of a body of 2 kg with a spring of 50 N/m
    energy = 0.5 * 2.0 * speed[:, 0, 2] ** 2 + 2.0 * 9.81 * place[:, 0, 2]
    energy += 0.5 * 50.0 * (np.hypot(1.0, place[:, 0, 2]) - 1.0) ** 2
    motion = (place, still, speed, still)
    instants = measured_instants(model({"m": 1.0, "k": 1.0}), t, *motion, energy - energy[0])
    assert identify(model, instants, {"m": 1.0, "k": 20.0}).values == pytest.approx({"m": 2.0, "k": 50.0}, rel=1e-8)
    with pytest.raises(ModelError, match=r"displacement of shape \(12, 1, 3\) must be \(12, 2, 3\)"):
        measured_instants(model({"m": 1.0, "k": 1.0}), t, place[:, :1], still, speed, still, energy)


def test_mistakes():
    few = solve(pendulum(TRUE, 1))
    with pytest.raises(ResultsError, match="restarts = 20 or more"):
        identify(pendulum, few, start())
    results = solve(pendulum(TRUE, 4))
    with pytest.raises(ResultsError, match="6 parameters need as many pairs of states, and there are 3"):
        identify(pendulum, results, start())
    with pytest.raises(ModelError, match="needs start values"):
        identify(pendulum, results, ["EI"])
    with pytest.raises(ModelError, match="coordinates, the model has"):
        identify(lambda v: pendulum({**TRUE, **v}, dimension=3), results, {"mass": 1.0})
