"""What the start of a command costs: `run` on a warm cache beside its bare imports and its computation, other commands.

    python benchmarks/start.py [--former CHECKOUT] [--repeats N] [EXAMPLE ...]

For each example the first table has the times of

- bare: ``import numba, scipy.sparse.linalg, h5py`` in an interpreter of its own;
- run: ``fem-mbs run MODEL -q``, results and all;
- computation: reading the model, its run and its results, the second time in one process, where everything is loaded;
- ratio: run over the sum of bare and computation.

The second one has ``--help``, ``list``, and ``check``, ``plot`` with the number of its figures (the rotor has more
than seven) and ``animate`` (200 frames) of the example, the third the slider-crank with a frame at each step beside the
usual run.  Entries are processor seconds / seconds by the clock, each the best of N after one that does not count.  The
calls take turns; with --former those of another checkout too.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ("slider_crank", "arm", "cable_whip", "bracket", "rotor")
BARE = "import numba, scipy.sparse.linalg, h5py"
AGAIN = """
import sys, time
from fem_mbs import load_model, run
model, folder = sys.argv[1:]
for _ in range(2):
    began = time.process_time(), time.perf_counter()
    run(load_model(model), folder)
print(time.process_time() - began[0], time.perf_counter() - began[1])
"""
Time = tuple[float, float]  # processor, clock [s]


def _child(checkout: Path, arguments: list[str]) -> tuple[Time, str]:
    """Return the time of a call of Python with a checkout, and its output; a failure ends the program."""
    environment = {**os.environ, "PYTHONPATH": str(checkout), "MPLBACKEND": "Agg"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # modules are kept translated, as usual
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False, cwd=checkout
    )
    clock, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: {done.stderr}")
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock), done.stdout


def _command(checkout: Path, *arguments: str) -> Callable[[], Time]:
    return lambda: _child(checkout, ["-m", "fem_mbs", *arguments])[0]


def _bare(checkout: Path) -> Callable[[], Time]:
    return lambda: _child(checkout, ["-c", BARE])[0]


def _again(checkout: Path, model: Path, folder: str) -> Callable[[], Time]:
    def measured() -> Time:
        processor, clock = _child(checkout, ["-c", AGAIN, str(model), folder])[1].split()
        return float(processor), float(clock)

    return measured


def best(calls: dict[str, Callable[[], Time]], repeats: int) -> dict[str, Time]:
    """Return the best times of calls, which take turns."""
    found: dict[str, list[Time]] = {name: [] for name in calls}
    for turn in range(repeats + 1):
        for name, call in calls.items():
            measured = call()
            if turn:
                found[name].append(measured)
    return {name: (min(t[0] for t in times), min(t[1] for t in times)) for name, times in found.items()}


def _shown(measured: Time) -> str:
    return f"{measured[0]:.2f} / {measured[1]:.2f}"


def _ratio(run: Time, *parts: Time) -> str:
    return " / ".join(f"{run[i] / sum(part[i] for part in parts):.2f}" for i in (0, 1))


def starts(checkouts: dict[str, Path], examples: list[str], repeats: int, folder: str) -> None:
    """Print the tables of starts of commands."""
    print("| example | version | bare | run | computation | ratio |\n|---|---|---|---|---|---|")
    for name in examples:
        calls: dict[str, Callable[[], Time]] = {}
        for version, checkout in checkouts.items():
            model = checkout / "examples" / name / "model.toml"
            calls[f"bare {version}"] = _bare(checkout)
            calls[f"run {version}"] = _command(checkout, "run", str(model), "-o", f"{folder}/{version}-{name}", "-q")
            calls[f"again {version}"] = _again(checkout, model, f"{folder}/{version}-{name}-again")
        found = best(calls, repeats)
        for version in checkouts:
            bare, run, again = (found[f"{what} {version}"] for what in ("bare", "run", "again"))
            entries = (name, version, _shown(bare), _shown(run), _shown(again), _ratio(run, bare, again))
            print(f"| {' | '.join(entries)} |", flush=True)
    print(
        "\n| example | version | --help | list | check | plot | figures | animate |\n|---|---|---|---|---|---|---|---|"
    )
    for name in examples:
        commands = {
            (version, what): _command(checkout, *arguments)
            for version, checkout in checkouts.items()
            for what, arguments in {
                "--help": ("--help",),
                "list": ("list",),
                "check": ("check", str(checkout / "examples" / name / "model.toml")),
                "plot": ("plot", f"{folder}/{version}-{name}"),
                "animate": ("animate", f"{folder}/{version}-{name}"),
            }.items()
        }
        times = best({" ".join(key): call for key, call in commands.items()}, repeats)
        for version in checkouts:
            row = [_shown(times[f"{version} {what}"]) for what in ("--help", "list", "check", "plot", "animate")]
            row.insert(4, str(len(list(Path(f"{folder}/{version}-{name}/figures").iterdir()))))
            print(f"| {name} | {version} | {' | '.join(row)} |", flush=True)


def frames(checkouts: dict[str, Path], repeats: int, folder: str) -> None:
    """Print the times of a run of the slider-crank without frames, with the usual ones, and with one at each step."""
    counts = ("0", "200", "6410")
    print(f"\n| version | {' | '.join(f'{count} frames' for count in counts)} |\n|---|---|---|---|")
    calls: dict[str, Callable[[], Time]] = {}
    for version, checkout in checkouts.items():
        text = (checkout / "examples/slider_crank/model.toml").read_text("utf-8")
        mesh = checkout / "examples/slider_crank/rod.msh"
        for count in counts:
            model = Path(folder) / f"{version}-{count}.toml"
            changed = text.replace("frames = 200", f"frames = {count}").replace('"rod.msh"', f'"{mesh}"')
            model.write_text(changed, "utf-8")
            calls[f"{version} {count}"] = _command(
                checkout, "run", str(model), "-o", f"{folder}/{version}-f{count}", "-q"
            )
    found = best(calls, repeats)
    for version in checkouts:
        print(f"| {version} | {' | '.join(_shown(found[f'{version} {count}']) for count in counts)} |")


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("examples", nargs="*", default=EXAMPLES)
    parser.add_argument("--former", type=Path, help="checkout of another version")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    checkouts = {"now": ROOT} | ({"former": given.former.resolve()} if given.former else {})
    with tempfile.TemporaryDirectory() as folder:
        starts(checkouts, list(given.examples), given.repeats, folder)
        frames(checkouts, given.repeats, folder)


if __name__ == "__main__":
    main()
