"""Modes of a curved shell, each side in a process of its own, then a line ``JSON {...}`` per side.

    python benchmarks/shells.py                              quad, triangle, quad8, and CalculiX where ccx is on PATH
    python benchmarks/shells.py quad8 calculix --dofs 20000

A quarter of a steel cylinder of radius and length 1 m, 10 mm thick, clamped along a straight edge, in squares of equal
cells with the asked number of dofs.  Ours: from the mesh to the 20 lowest modes in memory (model, assembly, modes)
after a first run of a small mesh, which loads the compiled code.  ``calculix``: a whole run of ccx with elements S8R on
the mesh of quad8.  It expands each of them to a solid with 20 nodes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "CCX_NPROC_EQUATION_SOLVER", "FEM_MBS_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402

from fem_mbs import Mesh, solve  # noqa: E402
from fem_mbs.validation.shell_grids import shell, square  # noqa: E402

COUNT = 20
SIDES = ("quad", "triangle", "quad8", "calculix")
E, NU, DENSITY, THICKNESS = 2.1e11, 0.3, 7850.0, 0.01


def mesh_of(cell: str, dofs: int) -> Mesh:
    """Return the mesh with about so many dofs, six per node."""
    per_square = 3 if cell == "quad8" else 1
    n = max(1, round((dofs / 6 / per_square) ** 0.5))
    return square(lambda u, v: (np.sin(u * np.pi / 2), v, np.cos(u * np.pi / 2)), n, n, cell)


def ours(cell: str, dofs: int) -> dict:
    """Return times [s] and results of one kind of cell."""
    run(mesh_of(cell, 200), cell)
    mesh = mesh_of(cell, dofs)
    wall, cpu = time.perf_counter(), time.process_time()
    found, built = run(mesh, cell)
    return {
        "dofs": 6 * len(mesh.points),
        "elements": len(mesh.blocks[0].cells),
        "model_s": built,
        "wall_s": time.perf_counter() - wall,
        "cpu_s": time.process_time() - cpu,
        "maxrss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
        "frequencies_hz": list(found),
    }


def run(mesh: Mesh, cell: str) -> tuple[np.ndarray, float]:
    """Return frequencies [Hz] and the time [s] that the model took."""
    start = time.perf_counter()
    model = shell(mesh, E, NU, THICKNESS, DENSITY)
    model.fix("s:left")
    model.modes_step(COUNT)
    built = time.perf_counter() - start
    return np.array(solve(model).steps[0].report.frequencies_hz), built


def deck(mesh: Mesh) -> str:
    """Return the input of CalculiX for the 20 lowest modes of a mesh of quad8 cells."""
    lines = ["*NODE, NSET=NALL", *(f"{i}, {x:.12g}, {y:.12g}, {z:.12g}" for i, (x, y, z) in enumerate(mesh.points, 1))]
    lines.append("*ELEMENT, TYPE=S8R, ELSET=EALL")
    cells = (mesh.blocks[0].cells + 1).tolist()
    lines += [", ".join(map(str, (i, *row))) for i, row in enumerate(cells, 1)]
    lines += ["*NSET, NSET=FIX", *(f"{i}," for i in mesh.node_sets["left"] + 1)]
    lines += [
        "*MATERIAL, NAME=STEEL", "*ELASTIC", f"{E}, {NU}", "*DENSITY", f"{DENSITY}",
        "*SHELL SECTION, ELSET=EALL, MATERIAL=STEEL", f"{THICKNESS}", "*BOUNDARY", "FIX, 1, 6",
        "*STEP", "*FREQUENCY", str(COUNT), "*END STEP", "",
    ]  # fmt: skip
    return "\n".join(lines)


def calculix(dofs: int) -> dict:
    """Return times [s] and results of ccx.

    Raises:
        SystemExit: it is not on PATH.
    """
    program = shutil.which("ccx")
    if program is None:
        raise SystemExit("ccx is not installed")
    mesh = mesh_of("quad8", dofs)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "job.inp").write_text(deck(mesh))
        wall = time.perf_counter()
        subprocess.run([program, "-i", "job"], cwd=folder, capture_output=True, check=True)
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
        "dofs": 6 * len(mesh.points), "elements": len(mesh.blocks[0].cells), "wall_s": wall,
        "cpu_s": used.ru_utime + used.ru_stime, "maxrss_mb": used.ru_maxrss / 1024.0, "frequencies_hz": found[:COUNT],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sides", nargs="*", metavar="SIDE", help=f"of {', '.join(SIDES)}; all, if none is given")
    parser.add_argument("--dofs", type=int, default=100_000, help="six per node")
    given = parser.parse_args()
    if not set(given.sides) <= set(SIDES):
        parser.error(f"a side is one of {', '.join(SIDES)}")
    if len(given.sides) == 1:
        (side,) = given.sides
        answer = calculix(given.dofs) if side == "calculix" else ours(side, given.dofs)
        print("JSON " + json.dumps({"side": side, **answer}))
        return
    for side in given.sides or SIDES:
        if side == "calculix" and not given.sides and shutil.which("ccx") is None:
            print("ccx is not on PATH: CalculiX is left out")
            continue
        command = [sys.executable, __file__, side, "--dofs", str(given.dofs)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        line = next(line for line in done.stdout.splitlines() if line.startswith("JSON "))
        found = json.loads(line.removeprefix("JSON "))
        first, last = found["frequencies_hz"][0], found["frequencies_hz"][-1]
        print(
            f"{side:9} {found['elements']:7d} elements {found['dofs']:7d} dofs {found['cpu_s']:7.1f} s of a processor "
            f"{found['wall_s']:7.1f} s {found['maxrss_mb']:7.0f} MB   {first:.3f} to {last:.3f} Hz"
        )
        print(line)


if __name__ == "__main__":
    main()
