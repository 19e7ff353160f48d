"""Models of many bodies: what it takes to declare them, to get to the first step, and to write the results.

    python benchmarks/bodies.py 1000 4000

A chain hangs from the ground: rigid bodies in space, a revolute joint, a spring and a sensor of each.  Times are
processor seconds; "start" is a run in memory of one step, "run" one of ten steps into a folder.  A short chain compiles
the kernels before.
"""

from __future__ import annotations

import argparse
import os
import time
from tempfile import TemporaryDirectory

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "FEM_MBS_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402

from fem_mbs import Model, run, solve  # noqa: E402

H = 1e-3


def chain(n: int, steps: int) -> Model:
    """Return n bodies, each jointed to the one before and held by a spring to it."""
    model = Model(3, f"chain of {n} bodies", gravity=(0.0, -9.81, 0.0))
    before = "ground"
    for k in range(n):
        name = f"body {k}"
        model.body(name, (k + 0.5, 0.0, 0.0), mass=1.0, inertia=(0.1, 0.1, 0.1))
        model.joint(f"joint {k}", "revolute", before, name, point=(float(k), 0.0, 0.0), axis=(0.0, 0.0, 1.0))
        at = {"point_a": (k - 0.5, 0.2, 0.0)} if before == "ground" else {}
        model.spring(f"spring {k}", before, name, 10.0, **at)
        model.sensor(f"place {k}", "position", on=name)
        before = name
    model.transient_step(steps * H, H, frames=0, restarts=0)
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=[1000])
    sizes = parser.parse_args().sizes
    solve(chain(8, 1))
    print("| bodies | declare | start | run |\n|---|---|---|---|")
    for n in sizes:
        times = [time.process_time()]
        model, short = chain(n, 10), chain(n, 1)
        times.append(time.process_time())
        solve(short)
        times.append(time.process_time())
        with TemporaryDirectory() as folder:
            run(model, f"{folder}/out")
            times.append(time.process_time())
        both, started, ran = np.diff(times)
        print(f"| {n} | {0.5 * both:.2f} | {started:.2f} | {ran:.2f} |", flush=True)


if __name__ == "__main__":
    main()
