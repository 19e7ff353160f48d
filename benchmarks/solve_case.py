"""Solve one machine once and print a line ``JSON {...}``: our side of a comparison, a process of its own.

    python benchmarks/solve_case.py spin --n 16

Timed is the solve alone, as for the other programs: the stepping, with the sensor recorded and the energy ledger booked
in every step, but neither imports nor the building of the model; the kernels are compiled by a short run before.
``call_s`` is the whole call of `fem_mbs.solve`, ``cpu_s`` the processor time of the steps.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "FEM_MBS_THREADS"):
    os.environ.setdefault(_variable, "1")

import models  # noqa: E402
import numpy as np  # noqa: E402

from fem_mbs import solve  # noqa: E402
from fem_mbs.analysis import march  # noqa: E402


def spin(n: int, duration: float):
    def results(solution):
        u = models.spin_up_deflection(solution.steps[0].time, solution.sensor("tip").values)
        return {"u2_min": float(u.min())}

    return lambda short: models.spin_up(n, 0.05 if short else duration), results


def chain(n: int, duration: float):
    def results(solution):
        x, y = solution.sensor("tip").values[-1].tolist()
        return {"tip_x": x, "tip_y": y}

    return lambda short: models.chain(n, 0.05 if short else duration), results


def crank(n: int, duration: float):
    steps = round(duration / 5e-5)

    def results(solution):
        return {"w_max_over_L": float(solution.sensor("deflection").values.max())}

    return lambda short: models.slider_crank(n, 10 if short else steps), results


def elbow(n: int, duration: float):
    def results(solution):
        u = solution.sensor("tip").values[:, 2]
        return {"tip_uz_max": float(u.max()), "tip_uz_min": float(u.min())}

    return lambda short: models.elbow(n, 0.2 if short else duration), results


def links(closed: bool, dimension: int):
    def case(n: int, duration: float):
        def results(solution):
            return {"tip_y": float(solution.sensor("tip").values[-1, 1])}

        steps = round(duration / 0.01)
        return lambda short: models.links(10 if short else n, closed, dimension, 3 if short else steps), results

    return case


def long_beam(n: int, duration: float):
    return lambda short: models.long_beam(10 if short else n, round(duration / 0.01)), lambda solution: {}


def long_chain(n: int, duration: float):
    return lambda short: models.chain(10 if short else n, duration), lambda solution: {}


#: Case: its builder and how long it runs [s].
CASES = {
    "spin": (spin, 20.0),
    "chain": (chain, 4.0),
    "crank": (crank, 1282 * 5e-5),
    "elbow": (elbow, 30.0),
    "links-open": (links(False, 2), 1.0),
    "links-closed": (links(True, 2), 1.0),
    "links-open-space": (links(False, 3), 1.0),
    "links-closed-space": (links(True, 3), 1.0),
    "long-beam": (long_beam, 0.1),
    "long-chain": (long_chain, 0.1),
}


def memory() -> float:
    """The largest memory so far [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


#: Processor times [s] at which the steps begin and end.
MARKS: list[float] = []


def clock() -> float:
    """Return the time [s], and note that of the processor."""
    MARKS.append(time.process_time())
    return time.perf_counter()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--n", type=int, default=16, help="elements")
    parser.add_argument("--duration", type=float, help="simulated time [s]")
    parser.add_argument("--tolerance", type=float, default=0.0, help="energy_tolerance")
    given = parser.parse_args()
    make, duration = CASES[given.case]
    build, results = make(given.n, given.duration or duration)
    march.perf_counter = clock  # which takes the time of the steps for the summary
    solve(build(True))
    before = memory()
    model = build(False)
    model.steps[-1].options["energy_tolerance"] = given.tolerance
    started = time.perf_counter()
    solution = solve(model)
    call = time.perf_counter() - started
    step = solution.steps[-1]
    peak = memory()
    answer = {
        "case": given.case,
        "peer": "fem-mbs",
        "n": given.n,
        "steps": step.summary["n_steps"],
        "wall_s": step.summary["seconds"],
        "call_s": round(call, 4),
        "cpu_s": MARKS[-1] - MARKS[-2],
        "iterations_per_step": step.summary["iterations"] / step.summary["n_steps"],
        "maxrss_mb": round(peak, 1),
        "bytes_per_element": round((peak - before) * 2**20 / given.n),
        "results": {
            **results(solution),
            "completed": True,
            # a gain or loss of energy against the largest kinetic energy, as the other programs' scripts state it
            "drift_rel_kin": float(np.abs(step.ledger("closing error")).max() / step.ledger("kinetic").max()),
        },
    }
    print("JSON " + json.dumps(answer))


if __name__ == "__main__":
    main()
