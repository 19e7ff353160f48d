"""`fem-mbs compile`: what it compiles, where it keeps it, what it says; the progress of compilations."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fem_mbs import progress
from fem_mbs.cli.compile import named_kernels
from fem_mbs.cli.progress import PlainProgress
from fem_mbs.compiling import in_advance, machine_code, packed_code
from fem_mbs.contract import KERNELS, SIGNATURE, kernel_of
from fem_mbs.elements.registry import element_type, element_types
from fem_mbs.progress import Compiling

TWO = ("mass2",)  # an element type whose two kernels take half a second

MODEL = """
dimension = 2
[material.m]
E = 1e9
nu = 0.3
density = 1000
[section.s]
shape = "circle"
diameter = 0.01
[mesh.m]
line = { start = [0, 0], end = [1, 0], n = 2 }
[[truss]]
name = "t"
on = "m"
section = "s"
material = "m"
[[support]]
on = "m:start"
[[step]]
type = "transient"
duration = 0.02
h = 0.01
"""


def process(*arguments: str, cache: Path, **environment: str) -> subprocess.Popen:
    settings = {**os.environ, "NUMBA_CACHE_DIR": str(cache), **environment}
    return subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=settings
    )


def command(*arguments: str, cache: Path) -> tuple[int, str, str]:
    done = process("-m", "fem_mbs", "compile", *arguments, cache=cache)
    out, err = done.communicate()
    return done.returncode, out, err


def code_files(cache: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in cache.rglob("*.nbc")}


def test_compiles_once_also_by_two_at_once_and_heals(tmp_path):
    """Two calls at a time both succeed; a later one finds all there and touches nothing; damaged files are no end."""
    both = [process("-m", "fem_mbs", "compile", *TWO, "--workers", "2", cache=tmp_path) for _ in range(2)]
    answers = [(*done.communicate(), done.returncode) for done in both]
    assert all(code == 0 for _, _, code in answers), answers
    assert any("of 2 kernels compiled" in out for out, _, _ in answers), answers
    before = code_files(tmp_path)
    assert len(before) == 2
    code, out, err = command(*TWO, cache=tmp_path)
    assert (code, err) == (0, "")
    assert out.startswith("all there: 2 kernels")
    assert code_files(tmp_path) == before
    code, out, _ = command("--list", *TWO, "truss2", cache=tmp_path)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[:-1]] == ["there", "there", "missing", "missing"]
    assert "4 kernels, 2 missing" in out.splitlines()[-1]
    measured = json.loads((tmp_path / "fem-mbs" / "seconds.json").read_text())
    assert set(measured) == {k.name for k in named_kernels([*TWO])}
    assert all(0.05 < seconds < 60.0 for seconds in measured.values())

    for path in before:
        path.write_bytes(b"nonsense")
    script = "from fem_mbs.elements.registry import element_type as e; from fem_mbs import contract as C\n"
    done = process("-c", f"{script}assert C.address(e('mass2').force) and C.address(e('mass2').report)", cache=tmp_path)
    assert done.communicate()[1] == ""
    assert done.returncode == 0
    assert all(path.stat().st_size > 1000 for path in before)


def test_names_mean_types_modules_folders_and_models(tmp_path, fem_mbs):
    every = {k.name for k in named_kernels([])}
    assert every == {k.name for k in in_advance.all_kernels()}
    folder = {k.name for k in named_kernels(["joints"])}
    assert {name for name in every if name.startswith("fem_mbs.elements.joints.")} == folder
    assert {k.name for k in named_kernels(["basic"])} < folder
    assert len(named_kernels(["truss2"])) == 2
    assert "fem_mbs.solvers.stepping.stepper:advance" in {k.name for k in named_kernels(["solvers"])}
    path = tmp_path / "model.toml"
    path.write_text(MODEL)
    needed = {k.name for k in named_kernels([str(path)])}
    truss = element_type("truss2")
    assert {kernel_of(truss.force).name, kernel_of(truss.report).name} <= needed
    assert not any(".beams." in name or "explicit" in name for name in needed)
    assert fem_mbs("compile", "--list", path)[0] == 0
    code, _, err = fem_mbs("compile", "beamd")
    assert code == 2
    assert "did you mean beam" in err
    code, _, err = fem_mbs("compile", tmp_path / "no.toml")
    assert code == 2
    assert "there is no such file" in err


def test_a_run_needs_nothing_else_than_what_is_named(tmp_path):
    """In a new process a run loads the kernels that `compile MODEL` names, and no other one."""
    path = tmp_path / "model.toml"
    path.write_text(MODEL)
    script = f"""
from fem_mbs import load_model, solve
from fem_mbs.analysis.kernels import model_kernels
from fem_mbs.contract import KERNELS
model = load_model({str(path)!r})
needed = {{k.name for k in model_kernels(model)}}
solve(model)
used = {{k.name for k in KERNELS.values() if k.function.overloads}}
assert used <= needed, used - needed
# the places of matrix entries are for models with wide matrices
assert all(".pattern:" in name for name in needed - used), needed - used
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_kernel_of_the_solvers_says_its_arguments():
    """One that `declare` does not know would be compiled for the arguments of an element's kernel."""
    for kernel in in_advance.all_kernels():
        given = kernel.function.py_func.__code__.co_argcount
        assert len(kernel.arguments) == given, kernel.name
        assert kernel.name in KERNELS


def test_every_kernel_with_the_signature_of_elements_belongs_to_one():
    """A kernel that stands in for another one is never run, and need not compile: the command would stop at it."""
    types = [element_type(name) for name in element_types()]
    used = {kernel_of(kernel).name for kind in types for kernel in (kind.force, kind.report)}
    count = len(SIGNATURE.args)
    every = {k.name for k in in_advance.all_kernels() if k.function.py_func.__code__.co_argcount == count}
    assert every == used


def test_a_cache_that_cannot_be_written_is_told_in_a_line(tmp_path, monkeypatch, caplog, fem_mbs):
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(file))
    monkeypatch.setattr("tempfile.tempdir", str(file))  # no room for temporary files either
    assert str(file) in machine_code.uncached_reason()
    monkeypatch.setattr("fem_mbs.cli.compile.missing_kernels", lambda kernels: list(kernels))
    code, out, err = fem_mbs("compile", *TWO)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert "cannot be kept" in err
    assert "NUMBA_CACHE_DIR" in err


def test_kernels_are_kept_elsewhere_where_the_cache_cannot_be_written(tmp_path, monkeypatch):
    """In a folder that only this user can enter; one that others could have prepared is not taken."""
    file, temporary = tmp_path / "file", tmp_path / "temporary"
    file.write_text("")
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(file))
    own = machine_code.cache_root()
    assert own.parent == temporary and own.stat().st_mode & 0o777 == 0o700
    assert not machine_code.uncached_reason()

    own.chmod(0o777)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(file / "another"))
    assert machine_code.cache_root() == file / "another" / "fem-mbs"
    assert machine_code.uncached_reason()


def test_an_interrupt_ends_it_in_a_line(monkeypatch, fem_mbs):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("fem_mbs.cli.compile.compile_named", interrupted)
    code, out, err = fem_mbs("compile", *TWO)
    assert (code, out) == (130, "")
    assert err == "fem-mbs: interrupted; the kernels that were ready are kept\n"


class Fake:
    """A kernel that is missing until it is compiled here."""

    def __init__(self, name: str):
        self.name, self.made = name, 0

    def missing(self) -> bool:
        return not self.made

    def compile(self) -> None:
        self.made += 1


def test_what_workers_do_not_know_is_compiled_here(tmp_path, monkeypatch):
    """Kernels of a user's own modules, and those that a program has made; the display sees each once, then the end."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    kernels = [Fake(f"fem_mbs.elements.masses.lumped:nothing{i}") for i in range(3)] + [Fake("own:kernel")]
    seen: list[Compiling | None] = []
    with progress.told(seen.append):
        assert in_advance.compile_kernels(kernels, 2) == 4
        assert [k.made for k in kernels] == [1, 1, 1, 1]
        assert seen[-1] is None
        states = [s for s in seen if s is not None]
        assert [s.done for s in states] == sorted(s.done for s in states)
        assert (states[0].done, states[0].total, states[-1].done) == (0, 4, 4)
        assert all(s.left >= 0.0 for s in states)
        seen.clear()
        assert in_advance.compile_kernels(kernels, 2) == 0
        assert seen == []


def test_estimates_follow_this_machine(tmp_path, monkeypatch):
    """Measured seconds count; a kernel that was not measured takes its shipped ones times the machine's ratio."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    names = ["fem_mbs.elements.masses.lumped:force2", "fem_mbs.solvers.stepping.stepper:advance"]
    shipped = machine_code.costs(names)
    assert shipped[1] > 5.0 * shipped[0] > 0.0
    (tmp_path / "fem-mbs").mkdir(exist_ok=True)
    (tmp_path / "fem-mbs" / "seconds.json").write_text(f'{{"{names[0]}": {3.0 * shipped[0]}}}')
    assert machine_code.costs(names) == pytest.approx([3.0 * shipped[0], 3.0 * shipped[1]])
    (tmp_path / "fem-mbs" / "seconds.json").write_text("nonsense")
    assert machine_code.costs(names) == shipped
    assert machine_code.costs(["of nobody"])[0] > 0.0


def test_shipped_costs_know_most_kernels():
    shipped = json.loads((Path(machine_code.__file__).parent / "kernel_costs.json").read_text())
    names = [k.name for k in in_advance.all_kernels()]
    assert sum(name in shipped for name in names) > 0.8 * len(names)
    assert all(0.0 < seconds < 60.0 for seconds in shipped.values())


def test_sentences_of_progress(capsys):
    state = Compiling(2, 14, 7.6, "name")
    assert state.text == "compiling 3 of 14 kernels, once, about 8 s"
    assert state.announcement == "compiling 14 kernels, once, about 8 s"
    assert Compiling(0, 1, 0.2, "name").text == "compiling a kernel, once, about 1 s"
    from rich.console import Console

    display = PlainProgress(Console(width=100))
    for _ in range(3):
        display.compiling(state)
    display.compiling(None)
    display.compiling(Compiling(0, 1, 0.5, "name"))  # not worth a line
    assert capsys.readouterr().out == f"{state.announcement}\n"
    PlainProgress(None).compiling(state)
    assert capsys.readouterr().out == ""


def test_the_line_of_a_terminal(monkeypatch):
    """It appears after a moment, shows the texts of inner calls, vanishes at the end, and can be switched off."""
    monkeypatch.delenv("FEM_MBS_QUIET", raising=False)
    monkeypatch.setattr(progress, "_DELAY", 0.0)
    monkeypatch.setattr(progress, "_EVERY", 0.0)
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)

        @progress.waiting()
        def inner():
            progress.say("inner")

        with progress.waiting() as show:
            show("outer")
            inner()
        with progress.quiet(), progress.waiting() as show:
            assert not progress.showing()
            show("silent")
        progress.say("nobody waits")
        progress.tell(Compiling(0, 3, 9.0, "name"))
        progress.tell(None)
        time.sleep(0.05)
        told = os.read(master, 4096).decode()
    os.close(master)
    clear = "\r\x1b[K"
    assert told == f"{clear}outer{clear}inner{clear}{clear}compiling 1 of 3 kernels, once, about 9 s{clear}"


def test_nothing_is_shown_where_nobody_reads(capsys):
    """Not on a pipe: one line of the log tells of compilations."""
    with progress.waiting() as show:
        show("text", at_once=True)
        progress.tell(Compiling(0, 3, 9.0, "name"))
        progress.tell(None)
    assert capsys.readouterr() == ("", "")


PACKED_LOOK = """
import sys
from pathlib import Path
from fem_mbs.compiling import machine_code, packed_code
from fem_mbs.contract import address, kernel_of
from fem_mbs.elements.registry import element_type, element_types
packed_code.PACKED = Path(sys.argv[1])
kind = element_type("mass2")
functions = (kind.force, kind.report)
print([kernel_of(f).missing() for f in functions])
with machine_code.compile_nothing():
    for function in functions:
        try:
            print(address(function) > 0)
        except machine_code.UncompiledError:
            print("compile")
"""


def test_packed_code_is_used_where_it_fits(tmp_path, checkout):
    """Code for a level of processors runs on this one; other versions, sources or processors compile."""
    folder, cache = tmp_path / "packed", tmp_path / "cache"
    names = [k.name for k in named_kernels([*TWO])]
    out, err = process(str(checkout / ".ci" / "pack_code.py"), str(folder), *names, cache=tmp_path / "made",
                       PYTHONPATH=os.pathsep.join([str(checkout), *sys.path])).communicate()  # fmt: skip
    assert out.startswith("2 kernels"), err

    def look() -> list[str]:
        out, err = process("-c", PACKED_LOOK, str(folder), cache=cache).communicate()
        assert err == ""
        return out.split("\n")[:-1]

    about = json.loads((folder / "about.json").read_text())
    if not packed_code.usable(folder):
        pytest.skip(f"this processor is none of level {about['level']}")
    assert look() == ["[False, False]", "True", "True"]
    assert not list(cache.rglob("*.nbc"))
    for changed in ({"numba": "0.1"}, {"python": "cpython 2.7"}, {"features": ["of another processor"]}):
        (folder / "about.json").write_text(json.dumps({**about, **changed}))
        assert look() == ["[True, True]", "compile", "compile"]
    (folder / "about.json").write_text(json.dumps(about))
    for file in folder.glob("*.xz"):
        file.rename(file.with_name("0" * 16 + file.name[16:]))  # of other sources
    assert look() == ["[True, True]", "compile", "compile"]
