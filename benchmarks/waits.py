"""Print how long a person waits for each example on a fresh machine: check, compilation in advance, run, plot ...

    python benchmarks/waits.py [--cold] [NAME ...]     all examples, or those whose folders are named

Every example begins with an empty cache of compiled code.  `fem-mbs compile` is given its model; with --cold the first
run compiles instead, and a second one follows.  Times are processor seconds of one command each, of all its processes
and with the start of Python.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
AFTER = ("plot", "animate", "show")
COLUMNS = ("check", "compile", "run", *AFTER)
COLD = ("check", "first run", "second run", *AFTER)


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """Return the processor time [s] of a command; a failure ends the program with its message."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def waits(model: Path, cold: bool) -> list[float]:
    """Return the times [s] of the commands in the order of `COLUMNS` or `COLD`."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_CACHE_HOME": f"{folder}/cache", "MPLBACKEND": "Agg"}
        for name in ("NUMBA_CACHE_DIR", "PYTHONDONTWRITEBYTECODE"):  # modules are kept translated, as usual
            environment.pop(name, None)
        program, out = [sys.executable, "-m", "fem_mbs"], f"{folder}/out"
        run = [*program, "run", str(model), "-o", out, "-q"]
        commands = (
            [*program, "check", str(model)],
            run if cold else [*program, "compile", str(model)],
            run,
            [*program, "plot", out],
            [*program, "animate", out],
            [*program, "show", out, "--no-open"],
        )
        return [seconds(command, environment) for command in commands]


def main() -> None:
    """Print the table as Markdown."""
    cold = "--cold" in sys.argv
    given = [name for name in sys.argv[1:] if name != "--cold"]
    names = given or sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
    print(f"| example | {' | '.join(COLD if cold else COLUMNS)} |\n|---{'|---' * len(COLUMNS)}|")
    for name in names:
        row = waits(EXAMPLES / name / "model.toml", cold)
        print(f"| {name} | {' | '.join(f'{value:.1f}' for value in row)} |", flush=True)


if __name__ == "__main__":
    main()
