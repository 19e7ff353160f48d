"""Time against error: the slider-crank of `models.slider_crank`, ours beside Exudyn's beams and cables.

    python benchmarks/accuracy.py --peers VENV/bin/python --figure crank.png

Every program runs with several numbers of elements and steps h.  The error of a run is its largest difference of the
deflection in the middle of the rod from the converged one, over the largest deflection.  Converged is the program's own
solution with 4 times as many elements as the finest run and steps of 5 microseconds, since the rods differ: cables have
no shear.  Runs of all programs take turns, so that all see the same load of the machine; the best processor time of the
steps counts for each.

Printed are all runs, then for each number of elements what each program needs to be as accurate as ours at the usual
step of 50 microseconds, and at last the shortest time for given errors, whatever elements and steps that takes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
THREADS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
os.environ.update(THREADS)

import models  # noqa: E402
import numpy as np  # noqa: E402
from scipy.interpolate import CubicSpline  # noqa: E402

from fem_mbs import solve  # noqa: E402
from fem_mbs.analysis import march  # noqa: E402

march.perf_counter = time.process_time  # the time that the summary tells of the steps

DURATION = 1282 * 5e-5
OURS = "fem-mbs"
FINE = 5e-6  # step of converged solutions [s]
USUAL = 5e-5
_ELEMENTS = 4  # times as many as the finest run


@dataclass
class Run:
    """A run: program, elements, step [s], and what it has taken [s] and found."""

    who: str
    n: int
    h: float
    seconds: float = np.inf
    steps: int = 0
    t: np.ndarray = field(default_factory=lambda: np.zeros(0))
    w: np.ndarray = field(default_factory=lambda: np.zeros(0))
    error: float = np.inf

    def take(self, seconds: float, t: np.ndarray, w: np.ndarray) -> None:
        """Keep the best time of several, and what was found."""
        self.seconds, self.steps, self.t, self.w = min(self.seconds, seconds), len(t) - 1, t, w


def run_ours(runs: list[Run], tolerance: float, repeats: int) -> None:
    """Make our runs."""
    solve(models.slider_crank(2, 10, USUAL, tolerance))  # compiles
    for run in runs:
        for _ in range(repeats):
            step = solve(models.slider_crank(run.n, round(DURATION / run.h), run.h, tolerance)).steps[-1]
            run.take(step.summary["seconds"], step.time, step.series["sensor/deflection"].ravel())


def run_exudyn(runs: list[Run], python: str, repeats: int) -> None:
    """Make the runs of Exudyn in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        asked, found = Path(folder) / "runs.json", Path(folder) / "out.npz"
        asked.write_text(json.dumps([[r.who.split()[-1], r.n, r.h, repeats] for r in runs]), encoding="utf-8")
        command = [python, str(HERE / "peer_crank_exudyn.py"), str(asked), str(found)]
        done = subprocess.run(command, env={**os.environ, **THREADS}, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{command}: {done.stderr.strip()[-400:]}")
        data = np.load(found)
        for i, run in enumerate(runs):
            run.take(float(data[f"seconds {i}"]), data[f"t {i}"], data[f"w {i}"])


def shortest(runs: list[Run], error: float) -> Run | None:
    """Return the fastest run that is as accurate as this."""
    return min((r for r in runs if r.error <= error), key=lambda r: r.seconds, default=None)


def told(run: Run | None) -> str:
    return "-" if run is None else f"{1e3 * run.seconds:.1f} ms (n = {run.n}, h = {1e6 * run.h:g} us)"


def report(runs: dict[str, list[Run]], sizes: list[int], errors: list[float]) -> None:
    """Print the tables."""
    print("\nAll runs: milliseconds for 8 rad of the crank; error over the largest deflection")
    print(f"{'who':>15} {'n':>4} {'h us':>6} {'steps':>6} {'ms':>8} {'us/step':>8} {'error':>9}")
    for who, own in runs.items():
        for r in own:
            each = 1e6 * r.seconds / r.steps
            print(f"{who:>15} {r.n:4d} {1e6 * r.h:6g} {r.steps:6d} {1e3 * r.seconds:8.2f} {each:8.1f} {r.error:9.1e}")
    print(f"\nAs accurate as ours at h = {1e6 * USUAL:g} us, with as many elements, at any step")
    for n in sizes:
        error = next(r for r in runs[OURS] if r.n == n and r.h == USUAL).error
        mine = shortest([r for r in runs[OURS] if r.n == n], error)
        assert mine is not None
        print(f"n = {n}: error {error:.1e}, {OURS} {told(mine)}")
        for who, own in runs.items():
            if who != OURS:
                same = [r for r in own if r.n == n]
                found = shortest(same, error)
                best = min(same, key=lambda r: r.error)
                if found is None:
                    ours = shortest([r for r in runs[OURS] if r.n == n], best.error)
                    assert ours is not None
                    words = (
                        f"not reached; its best is {best.error:.1e} in {told(best)}, ours as good in {told(ours)}: "
                        f"ratio {ours.seconds / best.seconds:.2f}"
                    )
                else:
                    words = f"{told(found)}: ratio {mine.seconds / found.seconds:.2f}"
                print(f"    {who}: {words}")
    print("\nShortest time for an error, at any number of elements and any step")
    for error in errors:
        best_of = {who: shortest(own, error) for who, own in runs.items()}
        mine = best_of[OURS]
        others = [r.seconds for who, r in best_of.items() if who != OURS and r is not None]
        ratio = f"ratio {mine.seconds / min(others):.2f}" if others and mine is not None else ""
        print(f"{error:.0e}: " + "; ".join(f"{who} {told(r)}" for who, r in best_of.items()) + f"  {ratio}")


def draw(runs: dict[str, list[Run]], sizes: list[int], where: str) -> None:
    """Draw time against error, a line per program and number of elements."""
    from matplotlib.figure import Figure

    figure = Figure((7.0, 5.0), layout="constrained")
    axes = figure.subplots()
    colours = dict(zip(runs, ("tab:blue", "tab:orange", "tab:green"), strict=False))
    for who, own in runs.items():
        for n, marker in zip(sizes, "ovsDP*", strict=False):
            some = [r for r in own if r.n == n]
            axes.loglog(
                [r.error for r in some], [1e3 * r.seconds for r in some], marker=marker, color=colours[who],
                label=f"{who}, {n}",
            )  # fmt: skip
    axes.set_xlabel("error of the deflection over the largest one [-]")
    axes.set_ylabel("time of the steps [ms]")
    axes.legend(fontsize=7, ncols=len(runs), title="program, elements")
    axes.grid(alpha=0.3)
    figure.savefig(where, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", metavar="PYTHON", help="the Python that has exudyn")
    parser.add_argument("--sizes", type=lambda text: [int(n) for n in text.split(",")], default=[2, 4, 16, 64])
    parser.add_argument(
        "--steps", type=lambda text: [1e-6 * float(h) for h in text.split(",")],
        default=[400e-6, 200e-6, 100e-6, USUAL, 25e-6, 12.5e-6], help="microseconds",
    )  # fmt: skip
    parser.add_argument("--tolerance", type=float, default=1e-6, help="our energy_tolerance; 0: round-off")
    parser.add_argument("--turns", type=int, default=3, help="of all programs")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each kind in a turn")
    parser.add_argument(
        "--errors", type=lambda text: [float(e) for e in text.split(",")], default=[0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4]
    )
    parser.add_argument("--figure", metavar="FILE")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    names = [OURS, *(("Exudyn beam", "Exudyn cable") if options.peers else ())]
    steps = sorted({round(h, 9) for h in (*options.steps, USUAL)}, reverse=True)
    runs = {who: [Run(who, n, h) for n in options.sizes for h in steps] for who in names}
    fine = {who: Run(who, _ELEMENTS * max(options.sizes), FINE) for who in names}
    run_ours([fine[OURS]], 0.0, 1)
    peers = [r for who in names[1:] for r in runs[who]]
    if peers:
        run_exudyn([fine[who] for who in names[1:]], options.peers, 1)
    for _ in range(options.turns):
        run_ours(runs[OURS], options.tolerance, options.repeat)
        if peers:
            run_exudyn(peers, options.peers, options.repeat)
    print(f"Largest deflection over length, converged: {', '.join(f'{w} {fine[w].w.max():.6f}' for w in names)}")
    for who in names:
        exact = CubicSpline(fine[who].t, fine[who].w)
        scale = np.abs(fine[who].w).max()
        for r in runs[who]:
            some = r.t <= fine[who].t[-1]
            r.error = float(np.abs(r.w[some] - exact(r.t[some])).max() / scale)
    report(runs, options.sizes, options.errors)
    if options.figure:
        draw(runs, options.sizes, options.figure)
    if options.json:
        rows = [
            {"who": r.who, "n": r.n, "h": r.h, "seconds": r.seconds, "steps": r.steps, "error": r.error}
            for own in runs.values() for r in own
        ]  # fmt: skip
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
