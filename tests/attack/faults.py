"""Cases of faults of the environment, each by a command in a separate process.  The command must end well or with one
clear error, and must not lose results.  The seed of a case, modulo the number of faults, is the number of its fault."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from . import seeds
from .guard import Attack, Case, Wrong
from .kills import CABLE

__all__ = ["ATTACKS", "FAULTS"]

Fault = Callable[[Path], None]
#: Functions that make a fault and check its result, by its description; `_fault` registers them.
FAULTS: dict[str, Fault] = {}
_ENDED = (0, 1, 2)  # exit codes of commands that have ended in a regular way
_SECONDS = 600.0  # time limit of a command, long enough for a busy machine
_NAMES = CABLE.replace('"tip"', '"\u00e9[a] \u00f6/b"').replace(
    'type = "transient"', 'type = "transient"\nname = "\u00e4 [/x]/../z"'
)


def _fault(text: str) -> Callable[[Fault], Fault]:
    def enter(function: Fault) -> Fault:
        FAULTS[text] = function
        return function

    return enter


# --- how commands run and are judged ---------------------------------------------------------------------------------
def _start(*words: object, environment: dict[str, str] | None = None, **options: Any) -> subprocess.Popen:
    env = {**os.environ, "PYTHONPATH": str(seeds.ROOT), **(environment or {})}
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": None} | options
    return subprocess.Popen([sys.executable, "-B", "-m", "fem_mbs", *map(str, words)], env=env, **given)


def _end(process: subprocess.Popen, codes: tuple[int, ...] = _ENDED) -> str:
    """Wait for a command and return its standard error.

    Raises:
        Wrong: no end in time, another exit code than ``codes``, a traceback, or not exactly one error with code 2.
    """
    try:
        _, raw = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise Wrong(f"no end within {_SECONDS:.0f} s") from None
    err = (raw or b"").decode(errors="replace")
    if process.returncode not in codes:
        raise Wrong(f"exit code {process.returncode}, not {codes}: {err[-400:]}")
    if "Traceback" in err or "unexpected error" in err:
        raise Wrong(err[-400:])
    errors = [line for line in err.splitlines() if line.startswith("fem-mbs: error: ")]
    if process.returncode == 2 and len(errors) != 1:
        raise Wrong(f"{len(errors)} errors: {err[-400:]}")
    return err


def _do(*words: object, codes: tuple[int, ...] = _ENDED, **options: Any) -> str:
    return _end(_start(*words, **options), codes)


def _model(folder: Path, text: str = CABLE, name: str = "m.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def _tip(folder: Path) -> np.ndarray:
    from fem_mbs.results.reader import Results

    results = Results.open(folder)
    return np.asarray(results.sensor(results.header["sensors"][0]["name"]).values)


def _whole(folder: Path, others: Path) -> None:
    """Raise Wrong if two runs differ in the values of their first sensor."""
    if not np.array_equal(_tip(folder), _tip(others)):
        raise Wrong("other values than those of an undisturbed run")


def _powerless() -> list[str]:
    """Return the words before a command that remove the capabilities of root, so that permissions apply to it."""
    if os.geteuid():
        return []
    tool = shutil.which("setpriv")
    if tool is None:
        raise Wrong("needs setpriv: root may write everywhere")
    return [tool, "--inh-caps=-all", "--bounding-set=-all"]


def _powerless_do(*words: object, codes: tuple[int, ...], environment: dict[str, str] | None = None) -> str:
    env = {**os.environ, "PYTHONPATH": str(seeds.ROOT), **(environment or {})}
    command = [*_powerless(), sys.executable, "-B", "-m", "fem_mbs", *map(str, words)]
    return _end(subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE), codes)


def _locked(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)


def _unlocked(folder: Path) -> None:
    folder.chmod(0o755)
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


# --- output of commands ----------------------------------------------------------------------------------------------
@_fault("standard output into a pipe that is closed (`| head`)")
def _closed_pipe(folder: Path) -> None:
    read, write = os.pipe()
    process = _start("run", _model(folder), "-o", folder / "out", stdout=write)
    os.close(write)
    os.read(read, 10)
    os.close(read)
    _end(process, (0,))
    _do("run", folder / "m.toml", "-o", folder / "whole", "-q", codes=(0,))
    _whole(folder / "out", folder / "whole")


@_fault("standard output on a full disk")
def _full_output(folder: Path) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        _do("run", _model(folder), "-o", folder / "out", stdout=full, codes=(1,))
    if not (folder / "out" / "results.h5").is_file():
        raise Wrong("no results")


@_fault("standard output and error closed")
def _no_output(folder: Path) -> None:
    def close() -> None:
        os.close(1)
        os.close(2)

    process = _start("run", _model(folder), "-o", folder / "out", stdout=None, stderr=None, preexec_fn=close)
    process.communicate(timeout=_SECONDS)
    if process.returncode or not (folder / "out" / "results.h5").is_file():
        raise Wrong(f"exit code {process.returncode}")


@_fault("a terminal of ASCII, names of other letters, brackets and slashes")
def _ascii(folder: Path) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}
    _do("run", _model(folder, _NAMES), "-o", folder / "out", environment=plain, codes=(0,))
    for command in ("plot", "export", "report", "show"):
        _do(command, folder / "out", environment=plain, codes=(0,))


@_fault("a locale that does not exist, no home")
def _locale(folder: Path) -> None:
    odd = {"LC_ALL": "xx_XX", "LANG": "xx", "HOME": "/nonexistent", "XDG_CACHE_HOME": os.path.expanduser("~/.cache")}
    _do("run", _model(folder), "-o", folder / "out", environment=odd, codes=(0,))


@_fault("names of 300 characters")
def _long_names(folder: Path) -> None:
    text = CABLE.replace('"tip"', f'"{"x" * 300}"').replace("duration", f'name = "{"y" * 300}"\nduration')
    _do("run", _model(folder, text), "-o", folder / "out", codes=(0,))
    for command in ("plot", "export"):
        _do(command, folder / "out", codes=(0,))


# --- disks and folders -----------------------------------------------------------------------------------------------
@_fault("a full disk (limits of the size of files) at six places")
def _full_disk(folder: Path) -> None:
    path = _model(folder)
    _do("run", path, "-o", folder / "whole", "-q", codes=(0,))
    size = (folder / "whole" / "results.h5").stat().st_size
    for limit in (0, 2000, 20_000, size // 3, size // 2, size - 1):
        out = folder / str(limit)

        def limited(limit: int = limit) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        _do("run", path, "-o", out, "-q", preexec_fn=limited, codes=(1,))
        if limit > 20_000:
            _do("export", out, codes=(0,))
            if (out / "segments").is_dir():
                _do("run", path, "-o", out, "-q", "--restart", codes=(0,))
            _whole(out, folder / "whole")


@_fault("a folder that may only be read: run, restart, export, figures")
def _read_only(folder: Path) -> None:
    path = _model(folder)
    _do("run", path, "-o", folder / "out", "-q", codes=(0,))
    before = (folder / "out" / "results.h5").read_bytes()
    _locked(folder / "out")
    try:
        for words in (("run", path, "-o"), ("run", path, "--restart", "-o"), ("export",), ("plot",), ("report",)):
            _powerless_do(*words, folder / "out", codes=(2,))
    finally:
        _unlocked(folder / "out")
    if (folder / "out" / "results.h5").read_bytes() != before:
        raise Wrong("the results have changed")


@_fault("the folder for results is a file, a dangling link, or has a folder called results.h5")
def _wrong_folder(folder: Path) -> None:
    path = _model(folder)
    (folder / "file").write_text("mine")
    (folder / "link").symlink_to(folder / "nowhere" / "else")
    (folder / "odd" / "results.h5").mkdir(parents=True)
    for name in ("file", "link", "odd", "file/below"):
        _do("run", path, "-o", folder / name, codes=(0, 2) if name == "link" else (2,))
    if (folder / "file").read_text() != "mine":
        raise Wrong("a file of the user was changed")


@_fault("the folder of results vanishes during the run")
def _vanishing(folder: Path) -> None:
    path = _model(folder, CABLE.replace("duration = 1.6", "duration = 40.0"))
    process = _start("run", path, "-o", folder / "out", "-q")
    end = time.monotonic() + 60.0
    while not (folder / "out" / "segments" / "00000000.h5").exists() and time.monotonic() < end:
        time.sleep(0.02)
    shutil.rmtree(folder / "out", ignore_errors=True)
    _end(process, (1, 2))


@_fault("the current folder is removed")
def _no_current(folder: Path) -> None:
    path, gone = _model(folder), folder / "gone"
    gone.mkdir()
    _do("run", path, "-o", folder / "out", cwd=gone, preexec_fn=lambda: gone.rmdir(), codes=(0, 2))


@_fault("no folder for temporary files")
def _no_temporary(folder: Path) -> None:
    shutil.copy(seeds.DATA / "frame_41_asc_1.msh", folder)
    _do("new", folder / "frame_41_asc_1.msh", environment={"TMPDIR": "/nonexistent"}, codes=(0, 2))


@_fault("paths with blanks, quotes, brackets and bytes that are no text")
def _odd_paths(folder: Path) -> None:
    for name in ("a b'\"[red]", "\udcff\udcfe"):
        place = folder / name
        place.mkdir()
        _do("run", _model(place), "-o", place / "o ut", codes=(0, 2))


@_fault("a cache of kernels that cannot be written, nor a folder for temporary files")
def _no_cache(folder: Path) -> None:
    path, file = _model(folder), folder / "file"
    file.write_text("")
    for _ in range(2):
        nowhere = {"NUMBA_CACHE_DIR": str(file), "TMPDIR": str(folder)}
        err = _do("check", path, environment=nowhere, codes=(0,))
    if err.count("\n") > 1:
        raise Wrong(err[-300:])


@_fault("few open files (24)")
def _few_files(folder: Path) -> None:
    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))

    _do("run", _model(folder), "-o", folder / "out", "-q", preexec_fn=few, codes=(0, 1, 2))


# --- inputs that are no files ----------------------------------------------------------------------------------------
def _not_files(folder: Path) -> list[str]:
    os.mkfifo(folder / "pipe")
    (folder / "folder").mkdir(exist_ok=True)
    return ["/dev/zero", str(folder / "pipe"), str(folder / "folder"), "/dev/null", str(folder / "missing")]


@_fault("model files and decks that are devices, pipes, folders")
def _model_devices(folder: Path) -> None:
    for name in _not_files(folder):
        for suffix in (".toml", ".inp", ".bdf"):
            link = folder / f"link{suffix}"
            link.unlink(missing_ok=True)
            link.symlink_to(name)
            _do("check", link, codes=(2,))


@_fault("meshes, tables, shapes and parts that are devices, pipes, folders")
def _input_devices(folder: Path) -> None:
    head = CABLE.split("[mesh.cable]")[0]
    mesh = head + '[mesh.cable]\nfile = "NAME.msh"\n' + CABLE.split("n = 40}\n")[1]
    table = CABLE.replace('vector = ["load", 0]', 'vector = ["load", 0]\nfunction = {kind = "csv", file = "NAME.csv"}')
    part = 'gravity = [0, 0, -9.81]\n[[part]]\nname = "p"\nfile = "NAME.h5"\n[[step]]\ntype = "linear_static"\n'
    for name in _not_files(folder):
        for text in (mesh, table, part):
            suffix = text.partition("NAME")[2].partition('"')[0]
            link = folder / f"link{suffix}"
            link.unlink(missing_ok=True)
            link.symlink_to(name)
            _do("check", _model(folder, text.replace("NAME", "link")), codes=(2,))


@_fault("model files in UTF-16, in Latin-1 and with a mark of order")
def _encodings(folder: Path) -> None:
    for encoding, codes in (("utf-16", (2,)), ("latin-1", (2,)), ("utf-8-sig", (0, 2))):
        path = folder / f"{encoding}.toml"
        path.write_bytes(_NAMES.encode(encoding))
        _do("check", path, codes=codes)


# --- other processes -------------------------------------------------------------------------------------------------
@_fault("two runs in one folder at once, five times")
def _together(folder: Path) -> None:
    path = _model(folder)
    _do("run", path, "-o", folder / "whole", "-q", codes=(0,))
    for _ in range(5):
        pair = [_start("run", path, "-o", folder / "out", "-q") for _ in range(2)]
        for process in pair:
            _end(process, (0, 2))
        if all(process.returncode for process in pair):
            raise Wrong("neither run has ended well")
        _whole(folder / "out", folder / "whole")


@_fault("SIGINT and SIGTERM during a run, which then goes on")
def _signals(folder: Path) -> None:
    path = _model(folder, CABLE.replace("duration = 1.6", "duration = 16.0"))
    _do("run", path, "-o", folder / "whole", "-q", codes=(0,))
    for number, codes in ((signal.SIGINT, (130, 0)), (signal.SIGTERM, (-signal.SIGTERM, 0))):
        out = folder / str(int(number))
        process = _start(
            "run", path, "-o", out, "-q", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler)
        )
        end = time.monotonic() + 60.0
        while not (out / "segments" / "00000001.h5").exists() and time.monotonic() < end and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(number)
        _end(process, codes)
        if process.returncode:
            _do("run", path, "-o", out, "-q", "--restart", codes=(0,))
        _whole(out, folder / "whole")


@_fault("a sweep, the results of one of whose variants are removed")
def _sweep_without(folder: Path) -> None:
    path, out = _model(folder), folder / "out"
    for again in (False, True):
        _do("sweep", path, "--set", "load=1,2", "-o", out, "--workers", 1, codes=(0,))
        results = out / "variants" / "load=2" / "results.h5"
        if not results.is_file():
            raise Wrong("a variant that is done has no results")
        if not again:
            results.unlink()


@_fault("workers of a sweep reached from other machines")
def _open_ports(folder: Path) -> None:
    script = "from fem_mbs.cluster import TaskPool\nif __name__ == '__main__':\n    with TaskPool(1) as pool:\n"
    script += "        print(pool.address, flush=True)\n        input()\n"
    (folder / "pool.py").write_text(script)
    process = subprocess.Popen(
        [sys.executable, folder / "pool.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(seeds.ROOT)}, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    inodes = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            # the process belongs to the session of the pool
            if int(status.read_text().rpartition(")")[2].split()[3]) == process.pid:
                inodes |= {os.readlink(link) for link in (status.parent / "fd").iterdir()}
        except OSError:
            continue
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()[1:]]
    listening = [row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in inodes]
    process.communicate(b"\n", timeout=_SECONDS)
    if not listening:
        raise Wrong("no listening socket was found")
    wide = [place for place in listening if not place.startswith("0100007F:")]
    if wide:
        raise Wrong(f"listens on {wide}")


def _make(folder: Path) -> Case:
    names = list(FAULTS)

    def case(seed: int) -> str:
        name = names[seed % len(names)]
        place = folder / str(seed)
        place.mkdir()
        try:
            FAULTS[name](place)
        except Wrong as wrong:
            raise Wrong(f"{name}: {wrong}") from wrong
        return "as it should"

    return case


ATTACKS = {
    "faults": Attack("faults", f"{len(FAULTS)} kinds of faults of the environment", _make, 900.0, False, False),
}
