"""Processor time of figures, of 200 frames of an animation, and of a report, for examples of lines and of surfaces.

    python benchmarks/figures.py [EXAMPLE ...]

Runs each example into a temporary folder first.  The first drawing, which loads matplotlib and compiled code, does not
count; of three the best does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from fem_mbs import Results, load_model, run
from fem_mbs.plot.figures import animate, plot_all

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
FRAMES = 200


def best(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the best processor time of three calls [s], and what the last one returned."""
    call()
    times = []
    for _ in range(3):
        began = process_time()
        found = call()
        times.append(process_time() - began)
    return min(times), found


def main(names: list[str]) -> None:
    print("| example | figures | seconds | seconds for seven | animation, 200 frames | report |")
    print("|---|---|---|---|---|---|")
    for name in names:
        with TemporaryDirectory() as folder:
            place = Path(folder) / "out"
            run(load_model(EXAMPLES / name / "model.toml"), place)
            results = Results.open(place)
            seconds, paths = best(partial(plot_all, results))
            film = place / "a.gif"
            step = len(results.steps) - 1
            movie, _ = best(partial(animate, results, film, fps=100, seconds=FRAMES / 100, step=step))
            report, _ = best(results.write_report)
            seven = 7.0 * seconds / len(paths)
            print(f"| {name} | {len(paths)} | {seconds:.2f} | {seven:.2f} | {movie:.2f} | {report:.2f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["slider_crank", "rotor", "bracket"])
