"""Modes and buckling loads of a solid bar once, then a line ``JSON {...}``: one side of a comparison, its own process.

    python benchmarks/modes.py fem-mbs --n 7

The bar is 1 x .1 x .1 m of steel, clamped at one end, 10 n x n x n cubes of six quadratic tetrahedra.  Ours:
``fem-mbs`` (20 lowest modes, with the probe), ``fem-mbs-inertia`` (proved complete), ``fem-mbs-band`` (all up to 4 kHz,
counted), ``fem-mbs-free`` (without the clamp), ``fem-mbs-buckling`` (the 4 lowest loads of axial compression).
Beside them the same library's bare calls, ``bare-cholmod`` and ``bare-superlu`` with ARPACK, and ``calculix`` (a whole
run of ccx) where that is installed.  Timed is what follows the assembly, but for CalculiX.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "FEM_MBS_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
import solids  # noqa: E402
from scipy.sparse.linalg import LinearOperator, eigsh, splu  # noqa: E402

from fem_mbs.solvers.eigen.buckling import linear_buckling  # noqa: E402
from fem_mbs.solvers.eigen.modes import real_modes  # noqa: E402

COUNT = 20


def hertz(values) -> list[float]:
    return (np.sign(values) * np.sqrt(np.abs(values)) / (2.0 * np.pi)).tolist()


def ours(kind: str, n: int) -> dict:
    if kind == "buckling":
        K, _, Kg = solids.cantilever(10 * n, n, stress=np.diag([-1.0, 0.0, 0.0]))
        return timed(K, lambda: linear_buckling(K, Kg, 4), lambda r: {"stresses_pa": r.factors.tolist()})
    if kind == "free":
        K, M, _ = solids.box(10 * n, n, n)
    else:
        K, M = solids.cantilever(10 * n, n)
    calls = {
        "": lambda: real_modes(K, M, COUNT),
        "free": lambda: real_modes(K, M, COUNT),
        "inertia": lambda: real_modes(K, M, COUNT, check="inertia"),
        "band": lambda: real_modes(K, M, band=(0.0, (2.0 * np.pi * 4000.0) ** 2)),
    }
    return timed(
        K, calls[kind],
        lambda r: {"frequencies_hz": hertz(r.values), "rigid": r.rigid, "expected": r.expected},
    )  # fmt: skip


def timed(K, call, results) -> dict:
    wall, cpu = time.perf_counter(), time.process_time()
    found = call()
    answer = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu, "equations": K.shape[0]}
    return {
        **answer,
        "factorisations": found.effort.factorisations,
        "solves": found.effort.solves,
        "residual": float(found.residuals.max()),
        "results": results(found),
    }


def bare(library: str, n: int) -> dict:
    """Analysis, factorisation and `eigsh` as anyone would write them."""
    K, M = solids.cantilever(10 * n, n)
    wall, cpu = time.perf_counter(), time.process_time()
    if library == "cholmod":
        from sksparse.cholmod import analyze

        factor = analyze(K, mode="supernodal", ordering_method="metis")
        factor.cholesky_inplace(K)
        solve = factor.solve_A
    else:
        solve = splu(K, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve
    factored = time.process_time() - cpu
    calls = [0]

    def count(b):
        calls[0] += 1
        return solve(b)

    values, x = eigsh(K, COUNT, M, sigma=0.0, OPinv=LinearOperator(K.shape, matvec=count, dtype=float))
    answer = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu, "factor_s": factored}
    size = np.linalg.norm(K @ x, axis=0)
    residual = float((np.linalg.norm(K @ x - (M @ x) * values, axis=0) / (2.0 * size)).max())
    return {
        **answer, "equations": K.shape[0], "factorisations": 1, "solves": calls[0], "residual": residual,
        "results": {"frequencies_hz": hertz(np.sort(values))},
    }  # fmt: skip


def deck(n: int) -> str:
    """Input of CalculiX for the 20 lowest modes of the same mesh."""
    x, nodes = solids.mesh(10 * n, n, n)
    lines = ["*NODE, NSET=NALL", *(f"{i}, {a:.12g}, {b:.12g}, {c:.12g}" for i, (a, b, c) in enumerate(x, 1))]
    lines.append("*ELEMENT, TYPE=C3D10, ELSET=EALL")
    lines += [", ".join(map(str, (i, *row))) for i, row in enumerate((nodes.reshape(-1, 10) + 1).tolist(), 1)]
    lines += ["*NSET, NSET=FIX", *(f"{i}," for i in np.flatnonzero(x[:, 0] == 0.0) + 1)]
    lines += [
        "*MATERIAL, NAME=STEEL", "*ELASTIC", "2.1e11, 0.3", "*DENSITY", "7850",
        "*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL", "*BOUNDARY", "FIX, 1, 3",
        "*STEP", "*FREQUENCY", str(COUNT), "*END STEP", "",
    ]  # fmt: skip
    return "\n".join(lines)


def calculix(n: int) -> dict:
    program = shutil.which("ccx")
    if program is None:
        raise SystemExit("ccx is not installed")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "job.inp").write_text(deck(n))
        environment = {**os.environ, "CCX_NPROC_EQUATION_SOLVER": "1"}
        wall = time.perf_counter()
        subprocess.run([program, "-i", "job"], cwd=folder, env=environment, capture_output=True, check=True)
        wall = time.perf_counter() - wall
        found = []
        for line in (Path(folder) / "job.dat").read_text().splitlines():
            words = line.split()
            if "P A R T" in line:
                break
            if len(words) == 5 and words[0].isdigit():
                found.append(float(words[3]))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "wall_s": wall, "cpu_s": used.ru_utime + used.ru_stime, "maxrss_mb": used.ru_maxrss / 1024.0,
        "results": {"frequencies_hz": found[:COUNT]},
    }  # fmt: skip


SIDES = ("fem-mbs", "bare-cholmod", "bare-superlu", "calculix", "fem-mbs-inertia", "fem-mbs-band", "fem-mbs-free",
         "fem-mbs-buckling")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("side", choices=SIDES)
    parser.add_argument("--n", type=int, default=4, help="cubes across the bar")
    given = parser.parse_args()
    who, _, kind = given.side.partition("-")
    if who == "calculix":
        answer = calculix(given.n)
    elif who == "bare":
        answer = bare(kind, given.n)
    else:
        answer = ours(kind.removeprefix("mbs").removeprefix("-"), given.n)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    print("JSON " + json.dumps({"side": given.side, "n": given.n, "maxrss_mb": peak, **answer}))


if __name__ == "__main__":
    main()
