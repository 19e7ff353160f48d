"""Complex modes of one model, once, then a line ``JSON {...}``: one side of a comparison, its own process.

    python benchmarks/stability.py beam --n 800        a damped plane cantilever of n beams, its 6 lowest complex modes
    python benchmarks/stability.py shaft --n 11        a spinning shaft of solids between bearings, its 10 lowest ones

The cantilever is that of cantilever_data.py.  The shaft is a bar of 1 x .1 x .1 m of steel, 11 n x n x n quadratic
hexahedra, at 500 rad/s about its axis; rigid couplings join its ends to nodes in damped bearings.  Its modes are those
about the state that centrifugal forces have stretched, in the rotating frame; n = 11 has 2e5 dofs.  Timed is the step:
state, matrices and modes, without import, compilation and the model's set-up.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "FEM_MBS_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
from cantilever_data import COUNT, DAMPING, EA, EI, LENGTH, RHO_A, exact  # noqa: E402
from parts import hexahedra  # noqa: E402

from fem_mbs import Model, solve  # noqa: E402
from fem_mbs.meshes.mesh import CellBlock, Mesh  # noqa: E402
from fem_mbs.solvers.memory import KEPT, keep_freed  # noqa: E402

SPEED = 500.0


def beam(n: int) -> Model:
    model = Model(2, "damped cantilever")
    model.line("line", (0.0, 0.0), (LENGTH, 0.0), n)
    model.section("bar", "stiffness", EA=EA, EI=EI, rhoA=RHO_A)
    model.beams("beam", "line", "bar", shear=False, damping=DAMPING)
    model.fix("line:start")
    model.complex_modes_step(COUNT)
    return model


def shaft(n: int) -> Model:
    x, cells = hexahedra(11 * n, n)
    x = x - (0.0, 0.05, 0.05)
    ends = {"left": np.flatnonzero(x[:, 0] == 0.0), "right": np.flatnonzero(x[:, 0] == 1.0)}
    model = Model(3, "shaft of solids")
    model.mesh("shaft", Mesh(x, blocks=[CellBlock("hexahedron20", cells)], node_sets=ends))
    model.solid_material("steel", E=2.1e11, nu=0.3, density=7850.0)
    model.solids("solid", "shaft", "steel")
    for end, place in (("left", 0.0), ("right", 1.0)):
        model.node(end, (place, 0.0, 0.0))
        model.coupling(f"face {end}", end, f"shaft:{end}")
        for axis in "yz":
            model.nodal_spring(f"bearing {end} {axis}", end, axis, 5e7, 5e3)
    model.nodal_spring("thrust bearing", "left", "x", 1e8, 1e3)
    model.rotor("shaft", axis=(1.0, 0.0, 0.0))
    model.complex_modes_step(10, rotor="shaft", speed=SPEED)
    return model


CASES = {"beam": (beam, 800), "shaft": (shaft, 11)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--n", type=int, help="beams, or elements across the shaft")
    given = parser.parse_args()
    build, n = CASES[given.case]
    n = given.n or n
    keep_freed(KEPT)  # as `fem-mbs run` does
    solve(build(2))  # compiles what is compiled once
    wall, cpu = time.perf_counter(), time.process_time()
    step = solve(build(n)).summary["steps"][-1]
    answer = {
        "wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu, "equations": step["equations"],
        "maxrss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
        "results": {
            "eigenvalues": step["eigenvalues"], "residual": max(step["residuals"]),
            "backward_error": max(step["backward_errors"]),
            "biorthogonality": step["biorthogonality"], "effort": step["effort"],
        },
    }  # fmt: skip
    if given.case == "beam":
        upper = [complex(*p) for p in step["eigenvalues"] if p[1] > 0.0][:COUNT]
        known = [complex(*p) for p in exact()]
        answer["results"]["error"] = max(abs(a - b) / abs(b) for a, b in zip(upper, known, strict=True))
    print("JSON " + json.dumps({"case": given.case, "n": n, **answer}))


if __name__ == "__main__":
    main()
