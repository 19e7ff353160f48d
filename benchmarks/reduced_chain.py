"""A falling chain of reduced bodies, per time step: a line ``JSON {...}`` of each side, in turns.

    python benchmarks/reduced_chain.py --bodies 20 --peer VENV/bin/python

Each body is a steel bar of 1 x .1 x .1 m of quadratic hexahedra (20 x 2 x 2), reduced by Craig-Bampton to its rigid
ends and ``--modes`` fixed-interface modes.  The bars hang on each other by spherical joints, the first one on the
ground, and fall from a horizontal line, with gravity slightly out of the plane.  Exudyn
(`peer_reduced_chain_exudyn.py`) gets the matrices and makes ``ObjectFFRFreducedOrder`` of them with the same modes.
Processor time of the steps alone, one thread, a line per repeat.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
from reduction import ENDS, bar, matrices, sets_of  # noqa: E402
from timing import steps_timed  # noqa: E402

from fem_mbs import Model, reduce_part, solve  # noqa: E402
from fem_mbs.parts.part import ReducedPart  # noqa: E402
from fem_mbs.validation.case import energy_error  # noqa: E402

GRAVITY = (0.0, -9.81, 1.0)
ACROSS = 2  # hexahedra across a bar


def chain(part: ReducedPart, bodies: int, steps: int, h: float) -> Model:
    """The chain."""
    model = Model(3, f"chain of {bodies} reduced bars", gravity=GRAVITY)
    before = "ground"
    for k in range(bodies):
        model.reduced_part(f"bar {k}", part, position=(float(k), 0.0, 0.0))
        model.joint(f"joint {k}", "spherical", f"bar {k}:x0", before)
        before = f"bar {k}:x1"
    model.sensor("tip", "position", on=before)
    model.transient_step(steps * h, h, frames=0, restarts=0)
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", type=int, default=20)
    parser.add_argument("--modes", type=int, default=8)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--h", type=float, default=1e-3)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peer", help="Python of an environment with Exudyn")
    given = parser.parse_args()
    linear = matrices(bar(ACROSS))
    part = reduce_part(linear, {end: {"on": f"bar:{end}", "kind": "rigid"} for end in ENDS}, modes=given.modes)
    solve(chain(part, 2, 2, given.h))  # compiles
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bar.npz"
        x, ends = sets_of(linear)
        arrays = {"x": x, "left": ends[0], "right": ends[1], "gravity": GRAVITY}
        for name, A in (("K", linear.stiffness), ("M", linear.mass)):
            arrays |= {f"{name}_data": A.data, f"{name}_indices": A.indices, f"{name}_indptr": A.indptr}
        np.savez(file, **arrays)
        for _ in range(given.repeats):
            with steps_timed() as seconds:
                solution = solve(chain(part, given.bodies, given.steps, given.h))
            step = solution.steps[0]
            answer = {
                "side": "fem-mbs", "step_ms": 1e3 * sum(seconds) / given.steps,
                "iterations": step.report.iterations / given.steps,
                "factorisations": step.report.factorisations / given.steps, "energy": energy_error(step, constant=True),
                "tip": solution.steps[0].series["sensor/tip"][-1].tolist(),
            }  # fmt: skip
            print("JSON " + json.dumps(answer, default=float))
            if given.peer:
                script = Path(__file__).with_name("peer_reduced_chain_exudyn.py")
                options = [f"--{k}={getattr(given, k)}" for k in ("bodies", "modes", "steps", "h")]
                subprocess.run([given.peer, str(script), str(file), *options], check=True)


if __name__ == "__main__":
    main()
