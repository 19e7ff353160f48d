"""Print how long a person waits for each example on a fresh machine: first run, second run, check, plot, animate, show.

    python benchmarks/waits.py [NAME ...]        all examples, or those whose folders are named

Every example begins with an empty cache of compiled code.  Times are processor seconds of one command each, with the
start of Python.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
COLUMNS = ("check", "first run", "second run", "plot", "animate", "show")


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """Return the processor time [s] of a command; a failure ends the program with its message."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def waits(model: Path) -> list[float]:
    """Return the times [s] of the commands in the order of `COLUMNS`."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_CACHE_HOME": f"{folder}/cache", "MPLBACKEND": "Agg"}
        environment.pop("NUMBA_CACHE_DIR", None)
        program, out = [sys.executable, "-m", "fem_mbs"], f"{folder}/out"
        run = [*program, "run", str(model), "-o", out, "-q"]
        commands = (
            [*program, "check", str(model)],
            run,
            run,
            [*program, "plot", out],
            [*program, "animate", out],
            [*program, "show", out, "--no-open"],
        )
        return [seconds(command, environment) for command in commands]


def main() -> None:
    """Print the table as Markdown."""
    names = sys.argv[1:] or sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
    print(f"| example | {' | '.join(COLUMNS)} |\n|---{'|---' * len(COLUMNS)}|")
    for name in names:
        row = waits(EXAMPLES / name / "model.toml")
        print(f"| {name} | {' | '.join(f'{value:.1f}' for value in row)} |", flush=True)


if __name__ == "__main__":
    main()
