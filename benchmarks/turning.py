"""A solid bar that swings about a hinge, per time step: a table of all sides, or one side and a line ``JSON {...}``.

    python benchmarks/turning.py --sizes 4,6,9
    python benchmarks/turning.py fem-mbs --n 9 --steps 20

The bar is 1 x .1 x .1 m of steel, 10 n x n x n quadratic hexahedra with full integration.  The nodes of the line x = 0,
y = .05 are held, the bar turns about this line with 40 rad/s at the start, and h = 1 ms: .04 rad per step.  Gravity
acts across the line.  Sides, each in a process of its own with one thread:

    fem-mbs      the default transient; seconds per step of the steps alone, without set-up and compilation
    calculix     ccx on the same mesh with NLGEOM, DYNAMIC, DIRECT, the same h: the processor time of a run of several
                 increments less that of a run of one, per increment
    bare         CHOLMOD alone on the tangent of the first step (K and M are symmetric there): numeric factorisation
                 and one solution of the supernodal factors

Times are those of the processor.  The energy error is the largest change of the total energy over the kinetic energy at
the start.  CalculiX prints the sums over its elements at every increment, and the displacements for the work of the
weight.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
from parts import deck, hexahedra  # noqa: E402

SPEED, H, GRAVITY, DENSITY = 40.0, 1e-3, 9.81, 7850.0
CENTRE = (0.0, 0.05, 0.0)
#: Mass of the bar, and its moment of inertia about the line of the hinge.
MASS = DENSITY * 1.0 * 0.1 * 0.1
INERTIA = MASS * (1.0 / 3.0 + 0.1**2 / 12.0)


def held(x: np.ndarray) -> np.ndarray:
    """The nodes of the hinge."""
    return np.flatnonzero((np.abs(x[:, 0]) < 1e-9) & (np.abs(x[:, 1] - CENTRE[1]) < 1e-9))


def bar(n: int, steps: int):
    """The model; its hinge has the nodes on a line across, or the middles of edges there."""
    from fem_mbs import Mesh, Model
    from fem_mbs.meshes.mesh import CellBlock

    x, nodes = hexahedra(10 * n, n)
    model = Model(3, title="swinging bar", gravity=(0.0, -GRAVITY, 0.0))
    model.mesh("bar", Mesh(x, [CellBlock("hexahedron20", nodes)], {"hinge": held(x)}))
    model.material("steel", E=2.1e11, nu=0.3, density=DENSITY)
    model.solids("bar", on="bar", material="steel")
    model.fix("bar:hinge", ("x", "y", "z"))
    model.initial("bar:all", spin=(0.0, 0.0, SPEED), centre=CENTRE)
    model.transient_step(steps * H, H, frames=0, restarts=0)
    return model


def ours(n: int, steps: int) -> dict:
    from timing import steps_timed

    from fem_mbs import solve
    from fem_mbs.validation.case import total_energy

    solve(bar(2, 2))  # compiles
    with steps_timed() as seconds:
        step = solve(bar(n, steps)).steps[0]
    report = step.report
    energy = total_energy(step)
    return {
        "step_s": sum(seconds) / steps, "iterations": report.iterations / steps,
        "factorisations": report.factorisations / steps, "maxrss_mb": memory(),
        "energy": float(np.abs(energy - energy[0]).max() / np.abs(step.ledger("kinetic")).max()),
    }  # fmt: skip


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def calculix(n: int, steps: int) -> dict:
    if shutil.which("ccx") is None:
        raise SystemExit("ccx is not installed")
    x, cells = hexahedra(10 * n, n)
    mesh = deck("hex20", n).split("*NSET, NSET=FIX")[0]
    r = x - CENTRE
    speeds = "".join(f"{i}, 1, {-SPEED * b:.17g}\n{i}, 2, {SPEED * a:.17g}\n" for i, (a, b, _) in enumerate(r, 1))
    nodes = "".join(f"{i}\n" for i in held(x) + 1)
    weight = nodal_weight(cells, len(x))
    found = {}
    for count in (1, 1 + steps):
        text = (
            f"{mesh}*NSET, NSET=FIX\n{nodes}*MATERIAL, NAME=STEEL\n*ELASTIC\n2.1e11, 0.3\n*DENSITY\n{DENSITY}\n"
            "*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL\n*BOUNDARY\nFIX, 1, 3\n"
            f"*INITIAL CONDITIONS, TYPE=VELOCITY\n{speeds}"
            f"*STEP, NLGEOM, INC=10000\n*DYNAMIC, DIRECT\n{H}, {count * H}\n"
            f"*DLOAD\nEALL, GRAV, {GRAVITY}, 0., -1., 0.\n"
            f"*NODE PRINT, NSET=NALL\nU\n"
            f"*EL PRINT, ELSET=EALL, TOTALS=ONLY\nELSE, ELKE\n*END STEP\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            job = Path(folder) / "job"
            job.with_suffix(".inp").write_text(text)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run(["ccx", "-i", "job"], cwd=folder, capture_output=True, text=True, check=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if done.returncode or "Job finished" not in done.stdout:
                raise SystemExit(done.stdout[-2000:] + done.stderr[-2000:])
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            found[count] = cpu, done.stdout, printed_energies(job.with_suffix(".dat").read_text(), weight)
    (first, _, _), (last, log, energies) = found[1], found[1 + steps]
    kinetic = 0.5 * INERTIA * SPEED**2
    return {
        "step_s": (last - first) / steps, "whole_s": last,
        "iterations": len(re.findall(r"^ *iteration +\d+", log, re.MULTILINE)) / (1 + steps),
        "energy": float(np.abs(energies - kinetic).max() / kinetic),
    }  # fmt: skip


def nodal_weight(cells: np.ndarray, nodes: int) -> np.ndarray:
    """Return the weight (nodes,) at each node of equal quadratic hexahedra: -1/8 of an element's at corners, 1/6 at
    edges."""
    each = MASS * GRAVITY / len(cells)
    share = np.repeat((-each / 8.0, each / 6.0), (8, 12))
    return np.bincount(cells.ravel(), np.tile(share, len(cells)), minlength=nodes)


def printed_energies(text: str, weight: np.ndarray) -> np.ndarray:
    """Return the total energy at the increments that are in the file of printed values."""
    internal, kinetic = (
        np.array(re.findall(rf"total {kind} energy.*\n\s*(\S+)", text), dtype=float) for kind in ("internal", "kinetic")
    )
    raised = []
    for block in text.split("displacements")[1:]:
        rows = np.array([line.split() for line in block.split("\n\n")[1].splitlines()], dtype=float)
        raised.append(weight[rows[:, 0].astype(int) - 1] @ rows[:, 2])
    return internal + kinetic + raised


def bare(n: int) -> dict:
    from sksparse.cholmod import analyze

    from fem_mbs.analysis.linear.linearised import Linearised
    from fem_mbs.analysis.loading import Loading

    compiled = bar(n, 1).compile(stepping=False)
    linear = Linearised(compiled, compiled.system.initial_state(), 0.0, Loading(compiled))
    free = np.setdiff1d(np.arange(linear.stiffness.shape[0]), (3 * held(hexahedra(10 * n, n)[0])[:, None] + range(3)))
    A = (0.25 * H * H * linear.stiffness + linear.mass).tocsc()
    if A.shape[0] != free.size:
        A = A[free][:, free].tocsc()
    started = time.process_time()
    factor = analyze(A, mode="supernodal", ordering_method="metis")
    analysed = time.process_time() - started
    best = {"factor_s": np.inf, "solve_s": np.inf}
    b = np.ones(A.shape[0])
    for _ in range(3):
        started = time.process_time()
        factor.cholesky_inplace(A)
        best["factor_s"] = min(best["factor_s"], time.process_time() - started)
        started = time.process_time()
        factor.solve_A(b)
        best["solve_s"] = min(best["solve_s"], time.process_time() - started)
    return {"equations": A.shape[0], "analysis_s": analysed, **best}


def side(name: str, n: int, steps: int) -> dict:
    """Run one side in a process of its own."""
    command = [sys.executable, __file__, name, "--n", str(n), "--steps", str(steps)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    line = next((t for t in done.stdout.splitlines() if t.startswith("JSON ")), None)
    if line is None:
        return {"error": (done.stderr or done.stdout)[-300:]}
    return json.loads(line[5:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("side", nargs="?", choices=("fem-mbs", "calculix", "bare"))
    parser.add_argument("--n", type=int, default=4, help="hexahedra across the bar")
    parser.add_argument("--sizes", default="4,6,7", help="of the table")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--increments", type=int, default=2, help="of CalculiX, in the table")
    given = parser.parse_args()
    if given.side:
        run = {"fem-mbs": ours, "calculix": calculix}.get(given.side)
        answer = run(given.n, given.steps) if run else bare(given.n)
        print("JSON " + json.dumps(answer, default=float))
        return
    print(
        "| n | dofs | fem-mbs s/step | iterations | factorisations | energy | bare factor | bare solve | CalculiX s |"
        " iterations | energy |"
    )
    for n in map(int, given.sizes.split(",")):
        us, limit = side("fem-mbs", n, given.steps), side("bare", n, 1)
        peer = side("calculix", n, given.increments)
        columns = [(limit, "equations"), *((us, k) for k in ("step_s", "iterations", "factorisations", "energy"))]
        columns += [(limit, "factor_s"), (limit, "solve_s")]
        columns += [(peer, key) for key in ("step_s", "iterations", "energy")]
        print("|", n, "|", *(f"{of[key]:.4g} |" if key in of else "failed |" for of, key in columns))


if __name__ == "__main__":
    main()
