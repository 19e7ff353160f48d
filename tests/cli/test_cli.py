"""The command line as a user meets it: what is printed, written and returned."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from importlib import resources
from pathlib import Path
from types import SimpleNamespace

import meshio
import numpy as np
import pytest
from places import DATA
from test_modelfile import MINIMAL, PLANE, write

from fem_mbs.analysis.solution import Progress
from fem_mbs.cli import main as cli
from fem_mbs.cli.check import DESCRIBED, count_tables, explain
from fem_mbs.cli.listing import overview, topic
from fem_mbs.cli.progress import LiveProgress, PlainProgress, make_progress
from fem_mbs.errors import MeshError, ModelError
from fem_mbs.meshes.formats.reader import MESH_FORMATS
from fem_mbs.model.connections.joint_kinds import JOINT_KINDS
from fem_mbs.model.model import Model
from fem_mbs.modelfile.inventory import inventory
from fem_mbs.modelfile.read import Entry, check_model_data, load_model
from fem_mbs.modelfile.schema import TABLES
from fem_mbs.modelfile.starter import starter_text, write_starter
from fem_mbs.results.reader import Results
from fem_mbs.results.writer import ResultsWriter


def call(*arguments: str | Path, cwd: Path | None = None, timeout: float = 300.0) -> subprocess.CompletedProcess[str]:
    """In a process of its own."""
    code = "from fem_mbs.cli.main import main; main()"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=timeout, check=False)


@pytest.mark.everyday
def test_a_whole_session(tmp_path):
    """check, run, plot, animate, export: as in the README, from a folder of its own."""
    path = write(tmp_path, PLANE)
    done = call("check", path.name, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "it can run"
    done = call("run", path.name, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    for text in ("a bit of everything", "transient: 100 %", "energy closing error / range", "tip.x", "reach", "pass"):
        assert text in done.stdout
    folder = tmp_path / "model-results"
    assert str(folder.name) in done.stdout
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["status"] == "done"
    assert summary["steps"][0]["n_steps"] == 20
    (check,) = summary["checks"]
    assert check["pass"] is True
    assert {"case", "quantity", "measured", "reference", "tolerance", "pass", "source"} <= set(check)
    done = call("plot", folder)
    assert done.returncode == 0, done.stderr
    assert all(Path(line).is_file() for line in done.stdout.splitlines())
    done = call("animate", folder, "-o", tmp_path / "a.gif", "--fps", "5")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.gif").stat().st_size > 1000
    done = call("export", folder)
    assert done.returncode == 0, done.stderr
    assert {Path(line).name for line in done.stdout.splitlines()} == {"results.xdmf", "sensors-1-transient.csv"}


def test_help_is_quick_and_version(fem_mbs):
    started = time.monotonic()
    done = call("--help")
    assert done.returncode == 0
    for command in ("run", "sweep", "check", "new", "schema", "plot", "animate", "validate", "list", "export"):
        assert re.search(rf"\b{command}\b", done.stdout)
    assert time.monotonic() - started < 5.0
    code, out, _ = fem_mbs("--version")
    assert code == 0
    assert re.fullmatch(r"\d+\.\d+.*\n", out)


@pytest.mark.parametrize("command", ["animate", "show"])
def test_help_tells_how_steps_are_counted(command, fem_mbs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    code, out, _ = fem_mbs(command, "--help")
    assert code == 0 and "counted from 0; -1: the last." in " ".join(out.replace("│", " ").split())


@pytest.mark.everyday
def test_validate_a_case(tmp_path, fem_mbs):
    code, out, err = fem_mbs("validate", "mises_1923_truss", "--json", tmp_path / "rows.json")
    assert (code, err) == (0, "")
    rows = json.loads((tmp_path / "rows.json").read_text(encoding="utf-8"))
    assert rows and all(row["pass"] for row in rows)
    assert all(row["quantity"] in out for row in rows)


def test_list_compiles_nothing(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    code = "from fem_mbs.cli.main import main; main()"
    command = [sys.executable, "-c", code, "list"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    for text in ("beam2", "truss3", "slider", "spin_up", "rectangle", "deflection", "newmark", ".msh", "HDF5"):
        assert text in done.stdout
    assert not list(tmp_path.rglob("*.nb*"))


WRONG_CALLS = {
    "no command": ((), 2, ""),
    "unknown command": (("rn",), 2, "No such command 'rn'"),
    "unknown option": (("run", "model.toml", "--fast"), 2, "No such option"),
    "no model": (("run",), 2, "Missing argument"),
    "missing file": (("run", "no.toml"), 2, "fem-mbs: error: no.toml: there is no such file"),
    "missing file to check": (("check", "no.toml"), 2, "fem-mbs: error: no.toml: there is no such file"),
    "missing file to show": (("show", "no.toml"), 2, "fem-mbs: error: no.toml: there is no such file"),
    "missing results": (("plot", "nothing"), 2, "fem-mbs: error: "),
    "missing results to animate": (("animate", "nothing"), 2, "fem-mbs: error: "),
    "missing results to export": (("export", "nothing"), 2, "fem-mbs: error: "),
    "missing mesh": (("new", "no.msh"), 2, "fem-mbs: error: no.msh: there is no such file"),
    "restart of nothing": (("run", "model.toml", "-o", "nothing", "--restart"), 2, "fem-mbs: error: "),
    "restart by a word": (("run", "model.toml", "--restart=last"), 2, "--restart"),
    "threads by a word": (
        ("run", "model.toml", "--threads", "all"),
        2,
        "fem-mbs: error: --threads = all must be a whole number from 1 to",
    ),
    "no threads": (
        ("check", "model.toml", "--threads", "0"),
        2,
        "fem-mbs: error: --threads = 0 must be a whole number from 1 to",
    ),
    "unknown case": (("validate", "no-such-case"), 2, "fem-mbs: error: "),
    "animation of another kind": (("animate", "results", "-o", "a.avi"), 2, "unknown ending"),
}


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_wrong_calls(tmp_path, monkeypatch, fem_mbs, name):
    arguments, expected, text = WRONG_CALLS[name]
    write(tmp_path, MINIMAL)
    monkeypatch.chdir(tmp_path)
    if "results" in arguments:
        assert fem_mbs("run", "model.toml", "-o", "results", "-q") == (0, "", "")
    code, out, err = fem_mbs(*arguments)
    assert code == expected, out + err
    assert text in " ".join(err.split()).replace("│ ", "")
    assert "Traceback" not in out + err
    if text.startswith("fem-mbs: error"):
        assert err.count("\n") == 1


@pytest.mark.parametrize("command", ["run", "check"])
def test_threads(tmp_path, fem_mbs, monkeypatch, command):
    """The option sets the number, and counts before the variable; a small model uses one."""
    from fem_mbs.solvers.stepping import side_by_side
    from fem_mbs.threads import thread_count, use_threads

    path = write(tmp_path, MINIMAL)
    folder = ["-o", tmp_path / "out"] if command == "run" else []
    monkeypatch.setenv("FEM_MBS_THREADS", "many")
    assert fem_mbs(command, path, *folder) == (
        2, "", f"fem-mbs: error: FEM_MBS_THREADS = many must be a whole number from 1 to 256; leave it out for all "
        f"processors that the process may use ({len(os.sched_getaffinity(0))})\n",
    )  # fmt: skip
    with use_threads(None):
        code, out, err = fem_mbs(command, path, *folder, "--threads", "3")
        assert (code, err) == (0, "")
        assert thread_count() == 3
        assert "threads:" not in out
        if command == "check":
            monkeypatch.setattr(side_by_side, "OUTSIDE", 1)
            assert "threads: 3 for element loops and assembly" in fem_mbs(command, path)[1]


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("EA = 1.0", "EA = true"), "model.toml, [section.s]: EA = true must be a number"),
        (('"m:start"', '"m:strat"'), 'Did you mean "start"?'),
        (("h = 0.01", "h = 0.03"), "is not a whole number of steps"),
        (("dimension = 2", "dimension = "), "not valid TOML"),
    ],
)
def test_wrong_models(tmp_path, fem_mbs, command, change, message):
    path = write(tmp_path, MINIMAL.replace(*change))
    folder = tmp_path / "out"
    code, _, err = fem_mbs(command, path, *(["-o", folder] if command == "run" else []))
    assert code == 2
    assert message in err
    assert err.startswith(f"fem-mbs: error: {path}")
    assert err.count("\n") == 1
    assert not folder.exists()


def test_a_wrong_model_leaves_earlier_results_alone(tmp_path, fem_mbs):
    path = write(tmp_path, MINIMAL)
    folder = tmp_path / "out"
    assert fem_mbs("run", path, "-o", folder, "-q")[0] == 0
    before = (folder / "results.h5").read_bytes()
    path.write_text(MINIMAL.replace("h = 0.01", "h = 0.03"), encoding="utf-8")
    assert fem_mbs("run", path, "-o", folder, "-q")[0] == 2
    assert (folder / "results.h5").read_bytes() == before


def test_results_among_other_files(tmp_path, fem_mbs):
    path = write(tmp_path, MINIMAL)
    code, _, err = fem_mbs("run", path, "-o", tmp_path)
    assert code == 2
    assert "not written by fem-mbs" in err
    assert path.exists()


def test_two_models_of_one_stem(tmp_path, fem_mbs, monkeypatch):
    """They share a default folder, so the second says so instead of destroying the first."""
    monkeypatch.chdir(tmp_path)
    for folder in "ab":
        (tmp_path / folder).mkdir()
        write(tmp_path / folder, MINIMAL)
    for _ in range(2):
        assert fem_mbs("run", "a/model.toml", "-q")[0] == 0
    before = Path("model-results/results.h5").read_bytes()
    code, _, err = fem_mbs("run", "b/model.toml", "-q")
    assert code == 2 and err.count("\n") == 1
    assert 'holds results of the model "../a/model.toml", not results of "../b/model.toml"' in err
    assert "-o, or --overwrite" in err
    assert Path("model-results/results.h5").read_bytes() == before
    Path("model-results/notes.txt").write_text("mine")
    assert fem_mbs("run", "b/model.toml", "-q", "--overwrite")[0] == 0
    assert fem_mbs("run", "b/model.toml", "-q", "--restart")[0] == 2  # there is no restart point
    assert Path("model-results/notes.txt").read_text() == "mine"


def test_inputs_and_files_of_others_in_the_folder(tmp_path, fem_mbs):
    """A table that the model reads, called like one of ours; figures and films of others."""
    folder = tmp_path / "out"
    folder.mkdir()
    table = folder / "drives-1-lift.csv"
    table.write_text("t,f\n0,0\n1,1\n")
    force = '[function.f]\nkind = "csv"\nfile = "out/drives-1-lift.csv"\n'
    force += '[[force]]\nname = "pull"\non = "m:end"\nvector = [1, 0]\nfunction = "f"\n'
    path = write(tmp_path, MINIMAL + force)
    code, _, err = fem_mbs("run", path, "-o", folder, "-q")
    assert code == 2 and "drives-1-lift.csv" in err and table.exists()
    for _ in range(2):
        assert fem_mbs("run", path, "-o", folder, "-q", "--overwrite")[0] == 0
    assert table.read_text().startswith("t,f")
    film = tmp_path / "film.gif"
    film.write_text("mine")
    code, _, err = fem_mbs("animate", folder, "-o", film)
    assert code == 2 and "film.gif" in err and "move it away" in err and film.read_text() == "mine"
    film.unlink()
    for _ in range(2):
        assert fem_mbs("plot", folder)[0] == 0
        assert fem_mbs("animate", folder, "-o", film, "--fps", "2")[0] == 0
    (folder / "figures" / "ledger.png").unlink()
    (folder / "fem-mbs.json").unlink()
    code, _, err = fem_mbs("plot", folder)  # of an older version: nobody knows whose figures these are
    assert code == 2 and "was not written by fem-mbs" in err


def test_names_with_brackets(tmp_path, fem_mbs):
    """They are no marks for colours."""
    text = PLANE.replace('name = "tip"', 'name = "[/] [red]x"').replace('sensor = "tip', 'sensor = "[/] [red]x')
    path = write(tmp_path, text.replace('type = "transient"', 'type = "transient"\nname = "[/b]"'))
    code, out, err = fem_mbs("run", path, "-o", tmp_path / "out")
    assert (code, err) == (0, "")
    assert "[/b]: 100 %" in out and "[/] [red]x.x" in out


@pytest.mark.parametrize("command", ["run", "check"])
def test_endless_inputs(tmp_path, fem_mbs, command):
    more = ["-o", tmp_path / "out"] if command == "run" else []
    code, _, err = fem_mbs(command, write(tmp_path, MINIMAL.replace("h = 0.01", "h = 1e-99")), *more)
    assert code == 2 and "at most 1e+09 can be made: take a larger h" in err
    force = '[[force]]\nname = "f"\non = "m:end"\nvector = [1, 0]\nfunction = { kind = "csv", file = "/dev/zero" }\n'
    code, _, err = fem_mbs(command, write(tmp_path, MINIMAL + force), *more)
    assert code == 2 and 'file "/dev/zero" is no file' in err


def test_no_convergence(tmp_path, fem_mbs):
    """Exit code 1, the reason, and results that say that they are not whole."""
    path = write(tmp_path, PLANE.replace("frames = 4", "frames = 4\nmax_iterations = 1\nhalvings = 0"))
    code, _, err = fem_mbs("run", path, "-o", tmp_path / "out", "-q")
    assert code == 1
    assert "did not converge" in err
    assert f"the results so far are in {tmp_path / 'out'}" in err
    assert err.count("\n") == 1
    results = Results.open(tmp_path / "out")
    assert not results.complete
    assert results.status.startswith("failed: ")
    assert json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))["status"].startswith("failed")


def test_plot_of_results_without_figures_says_so(tmp_path, fem_mbs):
    writer = ResultsWriter(tmp_path, {"title": "", "version": "", "dimension": 2, "nodes": np.zeros((1, 2))})
    writer.begin_step("s", "transient")
    code, _, err = fem_mbs("plot", tmp_path)
    assert code == 2 and "it holds no states (status of the run: running); wait for the run" in err
    writer.append({"time": [0.0, 1.0]})
    writer.end_step()
    writer.close()
    code, out, _ = fem_mbs("plot", tmp_path)
    assert code == 0 and "nothing that it holds has a figure; add sensors to the model" in out


def test_errors_of_a_full_disk_are_none_of_the_program(tmp_path, fem_mbs, monkeypatch):
    """Whatever file it is that finds no room."""

    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "a.png")

    monkeypatch.setattr("fem_mbs.results.reader.Results.open", full)
    said = 'fem-mbs: error: "a.png": cannot be written (No space left on device): free space or give another folder\n'
    assert fem_mbs("plot", tmp_path) == (1, "", said)


def test_a_check_that_fails(tmp_path, fem_mbs):
    path = write(tmp_path, PLANE.replace("reference = 0.0\ntolerance = 1.0", "reference = 5.0\ntolerance = 1.0"))
    code, out, err = fem_mbs("run", path, "-o", tmp_path / "out")
    assert code == 1
    assert "FAILED" in out
    assert "1 of 1 checks failed: reach" in err
    assert Results.open(tmp_path / "out").complete
    assert Results.open(tmp_path / "out").summary["checks"][0]["pass"] is False


def test_an_error_of_the_program(tmp_path, fem_mbs, monkeypatch):
    def broken(path, values=()):
        raise ZeroDivisionError("by design")

    monkeypatch.setattr("fem_mbs.modelfile.read.load_model", broken)
    code, _, err = fem_mbs("run", write(tmp_path, MINIMAL))
    assert code == 3
    assert err.count("\n") == 1
    assert "ZeroDivisionError: by design" in err
    assert "--debug" in err
    monkeypatch.setattr(sys, "argv", ["fem-mbs", "--debug", "run", "model.toml"])
    with pytest.raises(ZeroDivisionError):
        cli.main()


@pytest.mark.skipif(os.name != "posix", reason="needs SIGINT")
def test_interrupted(tmp_path):
    text = PLANE.replace("duration = 0.1", "duration = 2000.0").replace("h = 0.005", "h = 0.005\nrestarts = 20000")
    path = write(tmp_path, text)
    folder = tmp_path / "out"
    # a background job of a shell ignores the signal, and hands that on to its children
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{listen}; from fem_mbs.cli.main import main; main()"
    command = [sys.executable, "-c", code, "run", str(path), "-o", str(folder), "-q"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        end = time.monotonic() + 200.0
        while process.poll() is None and time.monotonic() < end:
            if (folder / "segments").is_dir() and len(list((folder / "segments").iterdir())) > 6:
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert re.search(rf"interrupted at t = .* s; the results so far are in {re.escape(str(folder))}", err)
    assert "Traceback" not in err
    results = Results.open(folder)
    assert results.status.startswith("failed: ")
    assert len(results.steps[0].series["time"]) > 1


def test_check_mentions_every_table_of_a_model_file():
    """Of a table that is added to the schema `check` says at least how many entries there are."""
    others = {"mesh", "part", "beam", "truss", "solid", "plane", "shell", "component", "support", "step", "sensor"}
    assert others | {"event", "check", "units", "parameters"} == DESCRIBED
    for table in TABLES:
        name = f"{table.name} of two"
        entries = [Entry(table, name, SimpleNamespace(kind="pin"), "")] * 2
        lines = list(count_tables({table.name: entries}))
        if table.name in DESCRIBED:
            assert lines == []
        else:
            (line,) = lines
            assert line.startswith("2 ")
            assert line.split(":")[0].endswith("s")
            if "name" in table.declaration.keys():  # noqa: SIM118
                assert line.count(name) == 2


def test_check_names_units_and_parameters_once(tmp_path):
    text = """
dimension = 2
units = { base = "mm t s", angle = "deg" }
[parameters]
m = 2.0
[[body]]
name = "bob"
position = [100, 0]
mass = "m"
inertia = 1.0
[[step]]
type = "transient"
duration = 1.0
h = 0.1
"""
    lines = explain(write(tmp_path, text))
    assert 'units: the numbers of the file are in "mm t s"; results show angle in deg' in lines
    assert [line for line in lines if "parameter" in line] == ["parameters: m = 2"]


def test_list_names_what_the_registries_have():
    lines = list(inventory())
    entries = {(name, text.strip()) for name, _, text in (line[2:].partition("  ") for line in lines)}
    for name, joint in JOINT_KINDS.items():
        assert (name, joint.text) in entries
    for form in MESH_FORMATS:
        assert (" ".join(form.suffixes), f"{form.name}: {form.text}") in entries
    joints = lines[lines.index("joints:") + 1 :][: len(JOINT_KINDS)]  # texts stand below each other
    assert len({line.index(joint.text) for line, joint in zip(joints, JOINT_KINDS.values(), strict=True)}) == 1


def test_the_file_of_the_list_is_that_of_the_registries():
    written = resources.files("fem_mbs.modelfile").joinpath("inventory.txt").read_text("utf-8")
    renewed = "python -m fem_mbs.modelfile.inventory > fem_mbs/modelfile/inventory.txt"
    assert written.splitlines() == list(inventory()), renewed


def test_list_fits_on_a_screen_and_tells_more_of_a_topic():
    lines = list(overview())
    assert len(lines) <= 60 and max(map(len, lines)) <= 140
    text = "\n".join(lines)
    assert all(name in text for name in JOINT_KINDS)
    assert "exact_beam2" in text
    of_joints = list(topic("joints"))
    assert of_joints[0] == "joints:" and [line[2:].split()[0] for line in of_joints[1:]] == list(JOINT_KINDS)
    *rest, here = [line for line in topic("all") if line not in set(inventory())]
    assert rest == [] and "CHOLMOD" in here
    with pytest.raises(ModelError, match='List: there is no topic "hinges"; take one of elements, joints'):
        list(topic("hinges"))


def test_joints_and_meshes_of_the_reference_are_those_of_the_registries():
    """The keys of `Model.joint` and of a mesh in the model file are described with every kind that there is."""
    keys = {table.name: table.declaration.in_file() for table in TABLES}
    for described in (Model.joint.__doc__, keys["joint"]["type"][1].meaning):
        assert {name for name in JOINT_KINDS if f'"{name}"' in described} == set(JOINT_KINDS)
    file = keys["mesh"]["file"][1].text
    assert all(form.suffixes[0] in file for form in MESH_FORMATS)


def test_check_explains(tmp_path):
    """What a person wants to know before a run."""
    path = write(
        tmp_path, PLANE + '[material.brass]\nE = 1e11\ndensity = 8400\n[function.spare]\nkind = "ramp"\nduration = 1\n'
    )
    text = "\n".join(explain(path))
    for expected in (
        "dimension 2, gravity (0, -9.81) m/s^2",
        'mesh "cable": ',
        "cable:start (1 point)",
        "cable:all (3 lines)",
        'beam "rod": 4 beams on rod, section round, material steel',
        'truss "stay": 1 truss on hook - rod:start, section round, material steel',
        'truss "truss 1": 3 cables on cable:all, section rope',
        "1 rigid body: crank",
        "4 joints: axle (pin), joint 2 (angle), joint 3 (pin), joint 4 (pin)",
        "held: hook (all)",
        "mobility: 24 free dofs - 5 constraints = 19",
        "it can move in 3 independent ways without strain",
        "projection",
        "20 steps of 0.005 s to t = 0.1 s",
        "sensors: tip (displacement), hinge (reaction), N (force)",
        "checks: reach",
        "note: [material.brass] is not used",
        "note: [function.spare] is not used",
        "linear solver: banded",
        "it can run",
    ):
        assert expected in text, text


def test_check_sees_coarse_steps_and_redundant_joints(tmp_path):
    text = """
dimension = 2
[[body]]
name = "wheel"
position = [0, 0]
mass = 1.0
inertia = 1.0
[[joint]]
name = "axle"
type = "pin"
a = "wheel"
point = [0, 0]
[[joint]]
name = "axle again"
type = "pin"
a = "wheel"
point = [0, 0]
[[motion]]
name = "drive"
on = "wheel"
component = "rotation"
function = "100*t"
[[moment]]
name = "knock"
on = "wheel"
value = 1.0
function = {kind = "hat", start = 0.31, duration = 0.02}
[[step]]
type = "transient"
duration = 1.0
h = 0.1
"""
    found = "\n".join(explain(write(tmp_path, text)))
    assert "2 constraints repeat others" in found
    assert '[[motion]] "drive" turns by up to 573 degrees per step' in found
    assert "at the start something turns by 573 degrees per step" in found
    assert "every motion without strain is held or driven" in found
    free = text.replace('[[motion]]\nname = "drive"\non = "wheel"\ncomponent = "rotation"\nfunction = "100*t"\n', "")
    assert "it can move in 1 independent way without strain" in "\n".join(explain(write(tmp_path, free)))


BRICK = [[x, y, z] for z in (0.0, 1.0) for x, y in ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))]
BRICK_MODEL = """
dimension = 3
gravity = [0, 0, -9.81]
[material.steel]
E = {E}
nu = 0.3
density = {density}
[mesh.block]
file = "block.vtk"
scale = {scale}
[[solid]]
name = "block"
on = "block"
material = "steel"
[[support]]
on = "block"
components = ["x", "y"]
[[step]]
type = "{step}"
{options}
"""


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((2.1e11, 7850.0, 1.0), None),
        ((2e6, 1100.0, 1.0), None),  # rubber
        ((2.1e5, 7850.0, 1.0), 'material "steel": E = 210000 and density = 7850 mean that waves run at 5.17 m/s'),
        ((2.1e11, 7.85e-9, 1.0), "waves run at 5.17e+09 m/s"),
        ((2.1e5, 7.85e-9, 1.0), "gravity is 9.81, in mm/s^2 it would be 9810"),
        ((2.1e11, 7850.0, 1e3), "has a mass of 7.85e+12 kg: if its mesh is in mm, give the mesh `scale = 0.001`"),
    ],
)
def test_check_doubts_units(tmp_path, numbers, said):
    meshio.write_points_cells(tmp_path / "block.vtk", BRICK, [("hexahedron", [list(range(8))])])
    modulus, density, scale = numbers
    given = {"E": modulus, "density": density, "scale": scale, "step": "modes", "options": "count = 1"}
    doubts = [line for line in explain(write(tmp_path, BRICK_MODEL.format(**given))) if line.startswith("note: ")]
    if said is None:
        assert doubts == []
    else:
        assert any(said in line for line in doubts), doubts


@pytest.mark.parametrize(
    ("base", "modulus", "said"),
    [
        ("mm t s", 2.1e5, None),
        ("mm t s", 2.1e11, "mean that waves run at 5.17e+06 m/s"),
        ("mm kg ms", 2.1e5, 'is the base "mm kg ms" that of the numbers?'),
    ],
)
def test_check_names_the_units_of_the_base(tmp_path, base, modulus, said):
    """The numbers of a model in mm and t were called m and kg, and doubted."""
    meshio.write_points_cells(tmp_path / "block.vtk", BRICK, [("hexahedron", [list(range(8))])])
    given = {"E": modulus, "density": 7.85e-9, "scale": 1.0, "step": "modes", "options": "count = 1"}
    lines = explain(write(tmp_path, f'units = {{ base = "{base}" }}\n{BRICK_MODEL.format(**given)}'))
    length, mass, time = base.split()
    solid = next(line for line in lines if line.startswith("solid"))
    assert f" {length}^3, mass " in solid
    assert f" {mass}, worst" in solid
    assert f"{length}/{time}^2" in lines[1]
    doubts = [line for line in lines if line.startswith("note: material")]
    assert len(doubts) == (said is not None)
    if said is not None:
        assert said in doubts[0]


@pytest.mark.parametrize(("step", "doubted"), [("linear_static", True), ("static", True), ("modes", False)])
def test_check_doubts_statics_of_a_mechanism(tmp_path, step, doubted):
    """A pendulum can turn; its equilibrium depends on its weight alone."""
    text = f"""
dimension = 2
gravity = [0, -9.81]
[[body]]
name = "bob"
position = [0, -1]
mass = 1.0
inertia = 1.0
[[joint]]
type = "pin"
a = "bob"
point = [0, 0]
[[step]]
type = "{step}"
"""
    found = "\n".join(explain(write(tmp_path, text)))
    assert ("the model can move in one way without strain" in found) == doubted


def test_new_writes_what_passes_check(tmp_path, fem_mbs):
    write(tmp_path, MINIMAL)
    code, out, err = fem_mbs("new", tmp_path / "cable.msh", "-o", tmp_path / "new.toml")
    assert (code, err) == (0, "")
    assert "sets in the mesh: start, end, all" in out
    assert "it can run as it is" in out
    text = (tmp_path / "new.toml").read_text(encoding="utf-8")
    assert "part:start" in text
    assert explain(tmp_path / "new.toml")[-1] == "it can run"
    code, _, err = fem_mbs("new", tmp_path / "cable.msh", "-o", tmp_path / "new.toml")
    assert code == 2
    assert "this file exists" in err
    assert (tmp_path / "new.toml").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("mesh", sorted(p.name for p in DATA.glob("*.msh")))
def test_new_for_every_test_mesh(checkout, tmp_path, mesh):
    target = tmp_path / "sub" / "new.toml"
    target.parent.mkdir()
    if mesh in ("parametric_41.msh", "version_40.msh"):  # which the reader refuses
        with pytest.raises(MeshError):
            write_starter(checkout / "tests" / "data" / mesh, target)
        assert not target.exists()
        return
    write_starter(checkout / "tests" / "data" / mesh, target)
    model = load_model(target)
    assert model.groups
    model.compile()


def test_what_the_starter_offers_as_comments_can_be_read(checkout, tmp_path):
    """Tables behind a # pass the check too, once the # is taken away: the keys come from the declarations."""
    target = tmp_path / "new.toml"
    write_starter(checkout / "tests" / "data" / "frame_41_asc_1.msh", target)
    text = target.read_text(encoding="utf-8")
    begin, end = text.index("# ---- more to take from"), text.index("# ---- what to look at")
    extra = "\n".join(line.removeprefix("# ") for line in text[begin:end].splitlines()[1:])
    file = check_model_data(target, tomllib.loads(extra))
    assert set(file.entries) == {"motion", "force", "body", "joint"}
    assert all(f"{table.place('NAME').split(' ')[0]} " in text for table in TABLES)


def test_schemas_are_printed(checkout, fem_mbs):
    for options, name in ((), "model.schema.json"), (("--summary",), "summary.schema.json"):
        code, out, err = fem_mbs("schema", *options)
        assert (code, err) == (0, "")
        assert out == (checkout / "docs" / name).read_text(encoding="utf-8")


def test_starter_for_odd_names():
    """Names of sets that TOML or the builder cannot hold as they are."""
    from fem_mbs.meshes.mesh import CellBlock, Mesh

    mesh = Mesh(
        points=[[0, 0, 0], [1, 0, 0], [2, 0, 1]],
        blocks=[CellBlock("line2", [[0, 1], [1, 2]])],
        node_sets={'a "quoted"\\ set': [0], "two\nlines": [1], "tip": [2], "": [1]},
        cell_sets={"tip": [(0, [0, 1])], "half": [(0, [1])]},
        skipped=["sentences\nof two lines"],
    )
    data = tomllib.loads(starter_text(mesh, 'odd "name".msh'))
    assert data["dimension"] == 3
    assert [t["on"] for t in data["truss"]] == ["part"]
    assert data["support"][0]["on"] == 'part:a "quoted"\\ set'
    assert data["mesh"]["part"]["file"] == 'odd "name".msh'


def test_progress_lines(capsys):
    from rich.console import Console

    def feed(display) -> None:
        with display:
            for done in (1, 2, 24, 26, 60, 100):
                display(Progress("fall", done, 100, 0.01 * done, 3.25, 1e-14))
            display(Progress("rise", 10, 10, 1.1, 2.0, 0.0))

    with PlainProgress(Console(width=140)) as display:
        display(Progress("campbell", 16, 31, 0.0, 0.0, 0.0))
    assert capsys.readouterr().out.startswith("campbell:  51 %, 16 of 31, ")
    plain = PlainProgress(Console(width=140))
    feed(plain)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == ["fall:  26 %", "fall:  60 %", "fall: 100 %", "rise: 100 %"]
    assert "t = 0.26 s, 3.2 iterations per step, energy error 1.0e-14" in lines[0]
    assert lines[0].endswith("s left")
    assert plain.last.step == "rise"
    quiet = make_progress(None)
    feed(quiet)
    assert capsys.readouterr().out == ""
    console = Console(force_terminal=True, width=140)
    live = make_progress(console)
    assert isinstance(live, LiveProgress)
    feed(live)
    out = capsys.readouterr().out
    assert "100/100" in out
    assert "rise" in out


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["run", "m", "--restart"], ["run", "m", "--restart=-1"]),
        (["run", "--restart", "2", "m"], ["run", "--restart", "2", "m"]),
        (["run", "--restart", "-1", "m"], ["run", "--restart", "-1", "m"]),
        (["run", "--restart", "m"], ["run", "--restart=-1", "m"]),
        (["run", "--restart=1"], ["run", "--restart=1"]),
    ],
)
def test_restart_without_a_number(given, expected):
    assert cli._with_restart_number(given) == expected


def test_demo(checkout, tmp_path, fem_mbs):
    """The main job: the published deflection, an energy ledger that closes, in seconds."""
    code, out, err = fem_mbs("run", checkout / "examples" / "slider_crank" / "model.toml", "-o", tmp_path / "out")
    assert (code, err) == (0, "")
    assert "0.00976" in out
    summary = Results.open(tmp_path / "out").summary
    (check,) = summary["checks"]
    assert check["measured"] == pytest.approx(0.00976, abs=2e-5)
    assert summary["steps"][0]["energy"]["closing_error_relative"] < 1e-11


def test_example_of_a_path(checkout, tmp_path, fem_mbs):
    code, out, err = fem_mbs("run", checkout / "examples" / "lee_frame" / "model.toml", "-o", tmp_path / "out")
    assert (code, err) == (0, "")
    assert "limit" in out
    points = Results.open(tmp_path / "out").summary["steps"][1]["critical_points"]
    assert [p["load_factor"] for p in points] == pytest.approx([1.8556, -0.9414], rel=1e-3)


def test_example_of_a_mast(checkout, tmp_path, fem_mbs):
    """Buckling about the loaded state lies where the path begins to bend; the table has all its headers."""
    code, out, err = fem_mbs("run", checkout / "examples" / "mast" / "model.toml", "-o", tmp_path / "out")
    assert (code, err) == (0, "")
    assert "(rad/s)" in out
    steps = Results.open(tmp_path / "out").summary["steps"]
    assert len(steps[1]["frequencies_hz"]) == 6
    assert max(steps[1]["residuals"] + steps[2]["residuals"]) < 1e-8


def test_example_of_a_rotor(checkout, tmp_path, fem_mbs):
    """Films feed the forward whirl of the shaft from twice its frequency on; the unbalance is largest at its speed."""
    code, _, err = fem_mbs("run", checkout / "examples" / "rotor" / "model.toml", "-o", tmp_path / "out")
    assert (code, err) == (0, "")
    results = Results.open(tmp_path / "out")
    campbell, unbalance, growing, transient = results.summary["steps"]
    assert [c["whirl"] for c in campbell["critical_speeds"]] == ["backward", "forward"]
    forward = campbell["critical_speeds"][1]["speed"]
    threshold = campbell["speeds"][campbell["stable"].index(False)]
    assert threshold == pytest.approx(2.0 * forward, rel=0.06) and not any(campbell["stable"][-3:])
    major = next(r["amplitude"] for r in unbalance["response"] if r["direction"] == "major")
    assert unbalance["speeds"][major.index(max(major))] == pytest.approx(forward, rel=0.02)
    assert not growing["stable"] and max(campbell["largest_residual"], *growing["residuals"]) < 1e-8
    t, u, _ = results.sensor("disc 2")
    size = [np.linalg.norm(u[(t > a) & (t < a + 0.05)], axis=1).max() for a in (0.6, 0.9)]
    rate = max(p[0] for p in growing["eigenvalues"])
    assert np.log(size[1] / size[0]) / 0.3 == pytest.approx(rate, rel=0.05)
    assert transient["energy"]["closing_error_relative"] < 1e-10


@pytest.mark.long
def test_example_of_a_solid_rod(checkout, tmp_path, fem_mbs):
    """On a coarser mesh: the reduced rod bends as the beam does, by a check of the model file."""
    folder = checkout / "examples" / "slider_crank"
    (tmp_path / "solid.toml").write_bytes((folder / "solid.toml").read_bytes())
    mesh = (tmp_path / "solid_rod.inp", "--along", "90", "--across", "2")
    subprocess.run([sys.executable, folder / "solid_rod.py", *mesh], check=True, capture_output=True)
    code, out, err = fem_mbs("run", tmp_path / "solid.toml", "-o", tmp_path / "out")
    assert (code, err) == (0, ""), out
    summary = Results.open(tmp_path / "out").summary
    assert summary["checks"][0]["pass"]
    assert summary["steps"][0]["energy"]["closing_error_relative"] < 1e-10


def test_example_of_components(checkout, tmp_path, fem_mbs):
    """Modes by synthesis are those of the whole; the changes that modify prints give the frequency."""
    model = checkout / "examples" / "portal_frame" / "model.toml"
    code, _, err = fem_mbs("run", model, "-o", tmp_path / "out")
    assert (code, err) == (0, "")
    components, whole = Results.open(tmp_path / "out").summary["steps"]
    np.testing.assert_allclose(components["frequencies_hz"], whole["frequencies_hz"], rtol=1.1e-5)
    code, out, err = fem_mbs(
        "modify", model, "--mode", 2, "--to", 34.4, "--cutoff", 900, "--json", tmp_path / "answer.json"
    )
    assert (code, err) == (0, "")
    answer = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))["single"][0]
    assert answer["parameter"] == "density:crossbeam" and f"{answer['value']:.6g}" in out
    heavier = model.read_text(encoding="utf-8").replace("density = 2700", f"density = {answer['value']}")
    (tmp_path / "heavier.toml").write_text(heavier, encoding="utf-8")
    assert fem_mbs("run", tmp_path / "heavier.toml", "-o", tmp_path / "heavier")[0] == 0
    changed = Results.open(tmp_path / "heavier").summary["steps"][1]["frequencies_hz"]
    assert changed[1] == pytest.approx(34.4, rel=2e-5)


def test_sensors_that_no_step_records(tmp_path, fem_mbs):
    """Modes alone see no sensor: the report goes without."""
    text = """
title = "beam"
dimension = 2
[mesh.line.line]
start = [0, 0]
end = [1, 0]
n = 2
[section.s]
shape = "stiffness"
EA = 1e4
EI = 1.0
rhoA = 1.0
[[beam]]
name = "beam"
on = "line"
section = "s"
shear = false
[[support]]
on = "line:start"
[[sensor]]
name = "tip"
kind = "displacement"
on = "line:end"
[[step]]
type = "modes"
count = 2
"""
    path = tmp_path / "model.toml"
    path.write_text(text, encoding="utf-8")
    code, _, err = fem_mbs("run", path, "-o", tmp_path / "out")
    assert (code, err) == (0, "")


@pytest.mark.long
def test_cable_example(checkout, tmp_path):
    script = checkout / "examples" / "cable_whip" / "compare.py"
    command = [sys.executable, str(script), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "energies.png").stat().st_size > 10_000
    exact, newmark = (Results.open(tmp_path / name).summary["steps"][0]["energy"] for name in ("mid-point", "Newmark"))
    assert exact["closing_error_relative"] < 1e-12
    assert newmark["closing_error_relative"] > 0.1
    assert all(c["pass"] for c in Results.open(tmp_path / "mid-point").summary["checks"])


def test_check_and_list_compile_nothing(tmp_path):
    """A look at a model and the list of types must not wait for the compilation of kernels."""
    script = """
import sys
from numba.core import event
from fem_mbs.cli.check import explain
from fem_mbs.modelfile.inventory import inventory
from fem_mbs.contract import plain
from fem_mbs.compiling.machine_code import compile_nothing

compiled = []
class Listener(event.Listener):
    def on_start(self, begun):
        compiled.append(begun.data["dispatcher"].py_func.__qualname__)
    def on_end(self, ended):
        pass
event.register("numba:compile", Listener())
list(inventory())
with plain(), compile_nothing():
    said = [explain(path) for path in sys.argv[1:]]
assert not compiled, compiled
# the start of a large mechanism needs kernels: it is left out, and nothing else
assert ["start: not tried" in " ".join(lines) for lines in said] == [False] * (len(said) - 1) + [True]
assert all(lines[-1] == "it can run" for lines in said)
"""
    models = [
        str(DATA.parent.parent / "examples" / f"{name}.toml")
        for name in (
            "arm/model", "cable_whip/model", "slider_crank/model", "rotor/model", "bracket/model", "bracket/swing"
        )
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", script, *models],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": "", "PYTHONWARNINGS": "ignore"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
