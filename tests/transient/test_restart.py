"""A run that is killed and continued gives the bits of one that was never stopped."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from solid_meshes import grid

from fem_mbs.analysis.run import run
from fem_mbs.analysis.transient.rules import RULES
from fem_mbs.declarations.steps import step_kinds
from fem_mbs.errors import ModelError, ResultsError
from fem_mbs.meshes.generate import grid2d
from fem_mbs.meshes.mesh import CellBlock, Mesh
from fem_mbs.model.model import Model
from fem_mbs.modelfile.read import load_model
from fem_mbs.results.reader import Results
from fem_mbs.solvers.linear.libraries import cholmod_status

# A bending pendulum on a driven crank, with a damper, so that every part of the state matters.
TEXT = """
title = "restarts"
dimension = 2
gravity = [0.0, -9.81]

[material.rubber]
E = 1e7
density = 1000.0

[section.round]
shape = "circle"
diameter = 0.02

[mesh.rod]
line = {{start = [0.1, 0.0], end = [0.6, 0.0], n = 4}}

[[body]]
name = "crank"
position = [0.05, 0.0]
mass = 0.2
inertia = 1e-3

[[beam]]
name = "rod"
on = "rod"
material = "rubber"
section = "round"

[[joint]]
name = "axle"
type = "pin"
a = "crank"
point = [0.0, 0.0]

[[joint]]
name = "knee"
type = "pin"
a = "crank"
b = "rod:start"

[[motion]]
on = "crank"
component = "rotation"
function = {{kind = "spin_up", rate = 5.0, duration = 1.0}}

[[spring]]
a = "ground"
point_a = [0.6, -0.3]
b = "rod:end"
stiffness = 2.0
damping = 0.05

[[sensor]]
name = "acceleration"
kind = "acceleration"
on = "rod:end"
axes = "crank"
relative_to = "crank"

[[sensor]]
name = "tip"
kind = "position"
on = "rod:end"

[[sensor]]
name = "hinge"
kind = "reaction"
on = "axle"

[[step]]
type = "transient"
rule = "{rule}"
duration = {duration}
h = 0.0005
frames = 20
restarts = {restarts}

[[check]]
name = "tip at the end"
sensor = "tip.x"
quantity = "final"
reference = 0.0
tolerance = 1.0
"""


def write(folder: Path, rule: str = "midpoint", duration: float = 0.5, restarts: int = 3) -> Path:
    path = folder / "model.toml"
    path.write_text(TEXT.format(rule=rule, duration=duration, restarts=restarts), encoding="utf-8")
    return path


def net(rule: str) -> Model:
    """A falling net, wide enough for the sparse solver."""
    model = Model(3, gravity=(0.0, 0.0, -9.81))
    model.section("rope", "stiffness", EA=1e3, rhoA=0.1)
    model.mesh("net", grid2d((1.0, 1.0), (24, 24)))
    model.trusses("net", "net", "rope", tension_only=True)
    model.fix(["net:bottom_left", "net:top_right"])
    model.sensor("energy", "energy")
    h = 5e-5 if rule == "explicit" else 2e-3  # below and above the limit of explicit steps
    model.transient_step(20 * h, h, rule=rule, frames=5, restarts=3)
    return model


def arrays(results: Results) -> dict[str, np.ndarray]:
    """Everything that was computed."""
    found = {}
    for step in results.steps:
        for kind in ("series", "frames"):
            columns = getattr(step, kind)
            found |= {f"{step.number} {kind} {name}": np.asarray(columns[name]) for name in columns}
    for number in range(len(results.restart_points)):
        for name, value in results.restart(number).items():
            if isinstance(value, np.ndarray):
                found[f"restart {number} {name}"] = value
    return found


def same_bits(a: Results, b: Results) -> None:
    left, right = arrays(a), arrays(b)
    assert list(left) == list(right)
    different = [name for name in left if not np.array_equal(left[name], right[name], equal_nan=True)]
    assert not different
    assert [c["measured"] for c in a.summary["checks"]] == [c["measured"] for c in b.summary["checks"]]
    for one, other in zip(a.summary["steps"], b.summary["steps"], strict=True):
        for key in ("n_steps", "iterations", "energy", "start", "linear_momentum"):
            assert one[key] == other[key], key


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        *((kind, rule) for kind in ("banded", "sparse") for rule in RULES if rule not in ("explicit", "hamiltonian")),
        ("sparse", "explicit"),  # it knows no joints; test_chains.py has the trees of rigid bodies
    ],
)
def test_from_every_restart_point(tmp_path, kind, rule):
    model = (lambda: load_model(write(tmp_path, rule))) if kind == "banded" else (lambda: net(rule))
    assert model().compile().system.banded == (kind == "banded")
    whole = run(model(), tmp_path / "whole")
    assert len(whole.restart_points) == 3
    for number in (0, 1, -1):
        shutil.copytree(tmp_path / "whole", tmp_path / f"copy{number}")
        again = run(model(), tmp_path / f"copy{number}", restart=number)
        assert again.complete
        same_bits(whole, again)


def swinging(rule: str, joint: bool) -> Model:
    """A bar of quadratic hexahedra that swings about a corner, large enough for factors that turn with their part."""
    X, cells = grid("hexahedron20", (20, 2, 2), (1.0, 0.1, 0.1))
    model = Model(3, gravity=(0.0, -9.81, 0.0))
    model.mesh("bar", Mesh(X, [CellBlock("hexahedron20", cells)]))
    model.solid_material("rubber", 1e8, 0.3, density=1000.0)
    model.solids("bar", "bar", "rubber")
    corner = int(np.flatnonzero(np.abs(X).max(axis=1) < 1e-9)[0])
    if joint:
        model.joint("hinge", "spherical", corner)
    else:
        model.fix([corner])
    model.initial("all", spin=(0.0, 0.0, 20.0), centre=(0.0, 0.0, 0.0))
    model.transient_step(0.024, 1e-3, rule=rule, frames=4, restarts=3)
    return model


@pytest.mark.skipif(not cholmod_status()[0], reason=cholmod_status()[1])
@pytest.mark.parametrize(("rule", "joint"), [("midpoint", False), ("midpoint", True), ("generalised-alpha", False)])
def test_parts_whose_factors_turn_with_them(tmp_path, rule, joint):
    """Factors that are kept over steps, and updates of them, do not survive a restart; nothing may depend on them."""
    whole = run(swinging(rule, joint), tmp_path / "whole")
    assert len(whole.restart_points) == 3
    assert whole.summary["steps"][0]["factorisations"] < 24  # they are kept
    for number in (0, 1, -1):
        shutil.copytree(tmp_path / "whole", tmp_path / f"copy{number}")
        same_bits(whole, run(swinging(rule, joint), tmp_path / f"copy{number}", restart=number))


def stiff_pendulum(dim: int) -> Model:
    """A rod that turns far in each step: the first guesses by earlier increments fail in the second one."""
    model = Model(dim, gravity=(0.0, -9.81, 0.0)[:dim])
    model.material("glass", E=1e11, nu=0.3, density=1000.0)
    model.section("round", shape="circle", diameter=0.02)
    rest = (0.0,) * (dim - 1)
    model.line("rod", (0.0, *rest), (0.5, *rest), 4)
    model.beams("rod", "rod", "round", material="glass", **({"orientation": (0.0, 0.0, 1.0)} if dim == 3 else {}))
    model.joint("pin", "pin" if dim == 2 else "spherical", "ground", "rod:start", point=(0.0, *rest))
    spin, h = (60.0, 0.02) if dim == 2 else ((0.0, 20.0 / 3.0, 20.0), 0.01)
    model.initial("all", spin=spin, centre=(0.0, *rest))
    model.sensor("tip", "position", on="rod:end")
    model.transient_step(15 * h, h, frames=5, restarts=14)
    return model


@pytest.mark.parametrize(("dim", "numbers"), [(2, range(10)), (3, (0, 1, 5))])
def test_steps_remember_that_their_first_guess_is_by_velocities(tmp_path, dim, numbers):
    """A step that needed it is followed by eight that begin so: a run continues with as many as are left.

    Points also hold what a step that fails needs to look at the rank of the constraints.
    """
    whole = run(stiff_pendulum(dim), tmp_path / "whole")
    assert len(whole.restart_points) == 14
    left = [int(whole.restart(k)["by_velocity"]) for k in range(10)]
    assert left == [0, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    for number in numbers:
        shutil.copytree(tmp_path / "whole", tmp_path / f"copy{number}")
        same_bits(whole, run(stiff_pendulum(dim), tmp_path / f"copy{number}", restart=number))


def test_restart_points_of_an_older_version(tmp_path, monkeypatch):
    model = load_model(write(tmp_path, duration=0.01, restarts=1))
    run(model, tmp_path / "out")
    kind = type(Results.open(tmp_path / "out"))
    whole = kind.restart
    monkeypatch.setattr(kind, "restart", lambda self, n: {k: v for k, v in whole(self, n).items() if k != "last row"})
    with pytest.raises(ResultsError, match="older version"):
        run(load_model(tmp_path / "model.toml"), tmp_path / "out", restart=0)


def test_adaptive_from_every_restart_point(tmp_path):
    """Steps of their own length land on the restart points, and what controls them is remembered."""
    text = write(tmp_path).read_text(encoding="utf-8")
    path = tmp_path / "adaptive.toml"
    path.write_text(text.replace('rule = "midpoint"', "adaptive = 1e-5"), encoding="utf-8")
    whole = run(load_model(path), tmp_path / "whole")
    assert len(whole.restart_points) == 3
    assert whole.summary["steps"][0]["adaptive"]["accepted"] > 30
    for number in (0, 1, -1):
        shutil.copytree(tmp_path / "whole", tmp_path / f"copy{number}")
        again = run(load_model(path), tmp_path / f"copy{number}", restart=number)
        same_bits(whole, again)
        assert whole.summary["steps"][0]["adaptive"] == again.summary["steps"][0]["adaptive"]


def test_after_a_static_step(tmp_path):
    """The second step of a model, and the load that the first one left."""
    text = write(tmp_path).read_text(encoding="utf-8")
    path = tmp_path / "two.toml"
    path.write_text(text.replace("[[step]]", '[[step]]\ntype = "static"\nincrements = 3\n\n[[step]]'), encoding="utf-8")
    whole = run(load_model(path), tmp_path / "whole")
    assert [s.type for s in whole.steps] == ["static", "transient"]
    shutil.copytree(tmp_path / "whole", tmp_path / "copy")
    again = run(load_model(path), tmp_path / "copy", restart=1)
    assert [s.type for s in again.steps] == ["static", "transient"]
    left, right = arrays(whole), arrays(again)
    assert all(np.array_equal(left[name], right[name], equal_nan=True) for name in left)


@pytest.mark.parametrize("after", [0.6, 0.01])
def test_an_interrupted_run_goes_on_without_being_asked_to_keep_points(tmp_path, caplog, after):
    """From the last of its own points, or from its start where it has none yet; these points do not stay."""
    path = tmp_path / "model.toml"
    text = write(tmp_path).read_text(encoding="utf-8").replace("restarts = 3\n", "")
    path.write_text(text.replace("h = 0.0005", "h = 0.0005\neigenvalues = {every = 40, count = 1}"), encoding="utf-8")
    whole = run(load_model(path), tmp_path / "whole")
    assert whole.restart_points == []

    def interrupt(progress):
        if progress.done >= after * progress.total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(load_model(path), tmp_path / "cut", progress=interrupt)
    points = Results.open(tmp_path / "cut").restart_points
    if after > 0.5:
        assert points[-1][1] == pytest.approx(12 * 47 * 0.0005)  # 1000 steps, 47 apart
    else:
        assert points == []
    again = run(load_model(path), tmp_path / "cut", restart=-1)
    same_bits(whole, again)
    assert again.restart_points == []
    assert ("the run starts anew" in caplog.text) == (not points)
    with pytest.raises(ResultsError, match="0 restart points"):
        run(load_model(path), tmp_path / "cut", restart=-1)


def test_what_cannot_be_continued(tmp_path):
    path = write(tmp_path, duration=0.05, restarts=0)
    run(load_model(path), tmp_path / "none")
    with pytest.raises(ResultsError, match="0 restart points"):
        run(load_model(path), tmp_path / "none", restart=-1)
    assert Results.open(tmp_path / "none").complete
    path = write(tmp_path, duration=0.05, restarts=2)
    run(load_model(path), tmp_path / "two")
    before = arrays(Results.open(tmp_path / "two"))
    with pytest.raises(ResultsError, match="2 restart points, no number 2"):
        run(load_model(path), tmp_path / "two", restart=2)
    path.write_text(path.read_text(encoding="utf-8").replace("stiffness = 2.0", "stiffness = 2.1"), encoding="utf-8")
    with pytest.raises(ResultsError, match="another model"):
        run(load_model(path), tmp_path / "two", restart=0)
    path.write_text(path.read_text(encoding="utf-8").replace("h = 0.0005", "h = 0.0006"), encoding="utf-8")
    with pytest.raises(ModelError, match="whole number of steps"):
        run(load_model(path), tmp_path / "two", restart=0)
    after = Results.open(tmp_path / "two")
    assert after.complete, "a refused restart must leave the results as they are"
    assert all(np.array_equal(value, before[name], equal_nan=True) for name, value in arrays(after).items())


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
@pytest.mark.parametrize("rule", ["midpoint", "newmark"])
def test_killed_at_random(tmp_path, rule):
    """Killed three times at random moments, wherever they fall, and continued each time."""
    path = write(tmp_path, rule, duration=6.0)
    started = time.monotonic()
    whole = run(load_model(path), tmp_path / "whole")
    seconds = time.monotonic() - started
    folder = tmp_path / "killed"
    code = "from fem_mbs.cli.main import main; main()"
    command = [sys.executable, "-c", code, "run", str(path), "-q", "-o", str(folder)]
    dice = random.Random(rule)
    kills, points = 0, 0
    while True:
        process = subprocess.Popen([*command, "--restart"] if points else command, stderr=subprocess.PIPE)
        if kills == 3:
            assert process.wait(120) == 0, process.stderr.read()
            process.stderr.close()
            break
        process_ends = time.monotonic() + 60.0
        while not (folder / "segments").is_dir() and process.poll() is None and time.monotonic() < process_ends:
            time.sleep(0.02)
        try:
            process.wait(dice.uniform(0.2, 0.9) * seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.wait(60)
        process.stderr.close()
        kills += 1
        left = Results.open(folder)
        assert left.status in ("incomplete", "done")
        points = len(left.restart_points)
        for step in left.steps:
            # (killed before the first rows: there are no series yet)
            assert "time" not in step.series or np.isfinite(step.series["ledger"]).all()
    finished = Results.open(folder)
    assert finished.complete
    same_bits(whole, finished)


#: Every kind of step that may follow a transient, on the mechanism below.
AFTER = {
    "transient": lambda m: m.transient_step(0.02, 0.001, frames=4),
    "newmark": lambda m: m.transient_step(0.02, 0.001, rule="newmark", frames=4),
    "adaptive": lambda m: m.transient_step(0.02, 0.001, adaptive=1e-6, frames=4),
    "quasi-static": lambda m: m.static_step(3, duration=0.1, vary=[]),
    "static": lambda m: m.static_step(2, vary=["late"]),
    "linear_static": lambda m: m.linear_static_step(loads=["late"]),
    "linear_transient": lambda m: m.linear_transient_step(0.01, 0.001, loads=["late"]),
    "chain of linear steps": lambda m: (
        m.linear_static_step("first", loads=["late"]), m.modes_step(3, preload="first"),
        m.linear_transient_step(0.01, 0.001, start="first", loads=[]),
    ),
    "modes": lambda m: m.modes_step(4),
    "buckling": lambda m: m.buckling_step(2, loads=["late"]),
    "complex_modes": lambda m: m.complex_modes_step(4),
    "basis": lambda m: m.complex_modes_step(2, basis="before"),
    "harmonic": lambda m: m.harmonic_step([1.0, 7.0], loads=["late"], frames=2),
    "linearise": lambda m: m.linearise_step(inputs=["late"], sensors=["tip", "hinge"]),
    "stability_map": lambda m: m.stability_map_step([{"load": "push", "values": [0.5, 1.0]}], count=2),
}  # fmt: skip


def hinged(kind: str) -> Model:
    """A rod on a hinge and (but for statics) another on its end, whose joints carry forces; a transient that can be
    continued, then a step."""
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    last = "rod" if "static" in kind and "linear" not in kind else "rod2"
    m.body("rod", (0.3, 0.0, -0.2), 2.0, (0.02, 0.05, 0.06))
    m.joint("hinge", "revolute", "rod", point=(0, 0, 0), axis=(0, 1, 0))
    if last == "rod2":
        m.body("rod2", (0.6, 0.1, -0.9), 1.0, (0.02, 0.05, 0.06))
        m.joint("ball", "spherical", "rod", "rod2", point=(0.6, 0, -0.4))
    m.joint_spring("coil", "hinge", 600.0, damping=5.0)
    m.section("cane", "stiffness", EA=1e5, GA=1e5, GJ=50.0, EI=50.0, rhoA=0.2, rhoI=1e-4)
    m.line("cane", (0, 1, 0), (0.5, 1, 0), 3)
    m.beams("cane", "cane", "cane", damping=1e-3)
    m.fix("cane:start")
    m.bushing("pad", "cane:end", last, [3e3] * 3 + [80.0] * 3, [30.0] * 3 + [1.0] * 3, point=(0.6, 0.1, -0.9))
    m.force("push", last, (0.0, 1.0, 2.0), follower=True)
    m.force("late", last, (1.0, 0.0, 0.5))
    m.reserved_loads = ["late"]
    m.sensor("tip", "position", on="cane:end")
    m.sensor("hinge", "reaction", on="hinge")
    m.sensor("clamp", "reaction", on="cane:start")
    m.sensor("coil", "element", on="coil", quantity="moment")
    if kind == "basis":
        m.modes_step(4, "before")
    # more frames than restart points, and none at these
    m.transient_step(0.05, 0.001, "swing", frames=7, restarts=2)
    AFTER[kind](m)
    return m


#: Kinds of steps that need a rotor or a driver, on the shaft below.
AFTER_TURNING = {
    "campbell": lambda m: m.campbell_step("rotor", [0.0, 20.0, 40.0], count=2),
    "unbalance": lambda m: m.unbalance_step("rotor", [10.0, 20.0], [{"at": "middle", "amount": 1e-3, "phase": 0.0}]),
    "rotor": lambda m: m.complex_modes_step(2, rotor="rotor", speed=20.0),
    "inverse": lambda m: m.inverse_step(0.02, 0.001),
    "inverse_path": lambda m: (
        m.sensor("turn", "rotation", on="left end"),
        m.inverse_path_step(
            0.02,
            0.001,
            outputs={"turn.x": "0.1*(50*t - sin(100*pi*t)/(2*pi))"},
            efforts=["hinge"],
            tolerance=1e-3,
            frames=3,
        ),
    ),
    "cyclic_modes": lambda m: m.cyclic_modes_step(3),
    "steady_running": lambda m: (m.steady_running_step(["push"]), m.transient_step(0.02, 0.001)),
}


def rolling() -> Model:
    """A ball that rolls against a wind, and is pushed."""
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    m.body("ball", (0.0, 0.0, 0.2), 3.0, (0.05, 0.05, 0.05))
    m.body("pilot", (0.0, 0.0, 0.2), 1.0, (0.05, 0.05, 0.05))
    m.joint("bearing", "spherical", "pilot", "ball", point=(0.0, 0.0, 0.2))
    m.joint("ground", "rolling_disc", "ball", point=(0.0, 0.0, 0.2), axis=(0.0, 1.0, 0.0), radius=0.2, crown=0.2)
    m.force("wind", "pilot", (-2.0, 0.0, 0.0))
    m.force("push", "pilot", (1.0, 0.0, 0.0), function=0.0)
    m.running("pilot", velocity=(1.5, 0.3, 0.0))
    m.sensor("contact", "reaction", on="ground")
    return m


def turning(kind: str) -> Model:
    """A vibrating shaft with a disc, whose bearing is a joint: driven, if a step asks for its driver; or a ball."""
    if kind == "steady_running":
        m = rolling()
        m.transient_step(0.05, 0.001, "swing", frames=7, restarts=2)
        AFTER_TURNING[kind](m)
        return m
    m = Model(3)
    m.section("shaft", "stiffness", EA=1e6, GA=1e6, GJ=1e3, EI=1e3, rhoA=0.5, rhoI=1e-4)
    for name, x in (("left end", 0.0), ("middle", 0.5), ("right end", 1.0)):
        m.node(name, (x, 0.0, 0.0))
    m.beams("left", ["left end", "middle"], "shaft", damping=1e-3)
    m.beams("right", ["middle", "right end"], "shaft", damping=1e-3)
    m.disc("disc", "middle", 2.0, polar=0.04, axis=(1.0, 0.0, 0.0))
    drive = {"function": "0.2*t**2"} if kind == "inverse" else {}
    m.joint("hinge", "revolute", "ground", "left end", point=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0), **drive)
    m.bearing("bearing", "right end", stiffness=1e5, damping=10.0, axis=(1.0, 0.0, 0.0))
    m.rotor("rotor", axis=(1.0, 0.0, 0.0))
    if kind != "inverse_path":  # which begins at rest
        m.initial("middle", velocity=(0.0, 0.01, 0.0))
    if kind == "cyclic_modes":  # half of a wheel of two masses beside the shaft
        for name, y in (("near", 0.1), ("far", -0.1)):
            m.node(name, (0.5, y, 0.0))
            m.point_mass(f"{name} mass", name, 0.5)
            for c in "xyz":
                m.nodal_spring(f"{name} {c}", name, c, 1e4)
        m.cyclic_symmetry("wheel", "near", "far", 2, axis=(1.0, 0.0, 0.0))
    m.sensor("hinge", "reaction", on="hinge")
    m.transient_step(0.05, 0.001, "swing", frames=7, restarts=2)
    AFTER_TURNING[kind](m)
    return m


@pytest.mark.parametrize("kind", [*AFTER, *AFTER_TURNING])
def test_steps_after_a_continued_one(tmp_path, kind):
    """Whatever follows: rows, frames and summaries are those of the run that was never stopped, to the bit."""
    model = turning if kind in AFTER_TURNING else hinged
    whole = run(model(kind), tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "copy")
    again = run(model(kind), tmp_path / "copy", restart=0)
    assert again.complete
    left, right = arrays(whole), arrays(again)
    assert list(left) == list(right)
    assert len({name.split()[0] for name in left}) > 1
    different = [name for name in left if not np.array_equal(left[name], right[name], equal_nan=True)]
    assert not different

    def plain(value):
        """Without times of the clock, and what only tells of the effort."""
        if isinstance(value, dict):
            return {k: plain(v) for k, v in value.items() if k not in ("seconds", "factorisations")}
        return [plain(v) for v in value] if isinstance(value, list) else value

    assert plain(whole.summary["steps"]) == plain(again.summary["steps"])
    if kind == "linearise":
        for name in ("matrices_linearise.npz", "state_space_linearise.npz"):
            a, b = (np.load(tmp_path / folder / name, allow_pickle=False) for folder in ("whole", "copy"))
            assert all(np.array_equal(a[key], b[key]) for key in a.files)


def test_every_kind_of_step_is_continued():
    """The two tables above miss no kind of step."""
    made = {step.kind for kind in AFTER for step in hinged(kind).steps}
    assert made | {step.kind for kind in AFTER_TURNING for step in turning(kind).steps} == set(step_kinds())


def pendulums(restarts: int) -> Model:
    """Two rigid rods on a revolute and a spherical joint: all their stiffness is that of joint forces."""
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    m.body("rod", (0.3, 0.0, -0.2), 2.0, (0.02, 0.05, 0.06))
    m.joint("hinge", "revolute", "rod", point=(0, 0, 0), axis=(0, 1, 0))
    m.body("rod2", (0.6, 0.1, -0.9), 1.0, (0.02, 0.05, 0.06))
    m.joint("ball", "spherical", "rod", "rod2", point=(0.6, 0, -0.4))
    m.transient_step(1.0, 0.01, restarts=restarts)
    m.modes_step(3, "modes")
    return m


def test_modes_of_a_continued_mechanism_know_its_joint_forces(tmp_path):
    """The multipliers of a restart point are in units of scales that belong to it.

    With the scales of a fresh model the joint forces are too small by orders, and so is the stiffness that they give.
    """
    whole = run(pendulums(2), tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "copy")
    again = run(pendulums(2), tmp_path / "copy", restart=0)
    never = run(pendulums(0), tmp_path / "never")
    known, left, none = (np.array(r.summary["steps"][1]["frequencies_hz"]) for r in (whole, again, never))
    np.testing.assert_array_equal(left, known)
    np.testing.assert_allclose(none, known, rtol=1e-12)
