"""A solid part from its deck to 20 modes, once, then a line ``JSON {...}``: one side of a comparison, its own process.

    python benchmarks/parts.py fem-mbs --cell hex20 --n 9

The part is a bar of 1 x .1 x .1 m of steel, clamped at one end, 10 n x n x n cubes: quadratic hexahedra (``hex20``)
or six quadratic tetrahedra each (``tet10``).  ``fem-mbs`` is a whole run of the deck, from reading to the results on
disk; ``calculix`` one of ccx on the same deck, where it is installed; ``bare`` only the analysis of the matrix by
CHOLMOD, its supernodal factorisation and ARPACK, with matrices that are there already; ``assembly`` stiffness and mass
with the pattern known.  ``--deck`` takes nodes, elements and the node set FIX of a deck of your own instead.
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

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "FEM_MBS_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
import solids  # noqa: E402

COUNT = 20
_STEEL = """*MATERIAL, NAME=STEEL
*ELASTIC
2.1e11, 0.3
*DENSITY
7850
*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL
*BOUNDARY
FIX, 1, 3
*STEP
*FREQUENCY
20
*END STEP
"""


def hexahedra(nx: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (m, 3) of the bar and the nodes (e, 20) of its elements, in the order of Abaqus."""
    shape = np.array([2 * nx, 2 * n, 2 * n]) + 1
    grid = np.stack(np.meshgrid(*(np.arange(s) for s in shape), indexing="ij"), axis=-1).reshape(-1, 3)
    used = (grid % 2).sum(axis=1) <= 1
    number = np.cumsum(used) - 1
    corners = 2 * np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]
    local = np.vstack((corners, [(corners[a] + corners[b]) // 2 for a, b in edges]))
    cubes = 2 * np.stack(np.meshgrid(np.arange(nx), np.arange(n), np.arange(n), indexing="ij"), axis=-1).reshape(
        -1, 1, 3
    )
    at = cubes + local
    index = (at[..., 0] * shape[1] + at[..., 1]) * shape[2] + at[..., 2]
    return grid[used] / (shape - 1) * (1.0, 0.1, 0.1), number[index]


def deck(cell: str, n: int) -> str:
    """Nodes, elements and the clamped node set of the bar."""
    if cell == "hex20":
        x, nodes = hexahedra(10 * n, n)
    else:
        x, nodes = solids.mesh(10 * n, n, n)
        nodes = nodes.reshape(-1, 10)
    lines = ["*NODE, NSET=NALL", *(f"{i}, {a:.12g}, {b:.12g}, {c:.12g}" for i, (a, b, c) in enumerate(x, 1))]
    lines.append(f"*ELEMENT, TYPE={'C3D20' if cell == 'hex20' else 'C3D10'}, ELSET=EALL")
    for i, row in enumerate((nodes + 1).tolist(), 1):
        numbers = [i, *row]
        lines += [", ".join(map(str, numbers[:15])) + ","] if len(numbers) > 16 else []
        lines.append(", ".join(map(str, numbers[15:] if len(numbers) > 16 else numbers)))
    lines += ["*NSET, NSET=FIX", *(f"{i}," for i in np.flatnonzero(x[:, 0] == 0.0) + 1), ""]
    return "\n".join(lines)


def ours(job: Path) -> dict:
    program = shutil.which("fem-mbs", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))
    if program is None:
        raise SystemExit("fem-mbs is neither beside this Python nor on the path; install it here")
    wall = time.perf_counter()
    subprocess.run([program, "run", str(job), "-o", str(job.parent / "out")], capture_output=True, check=True)
    wall = time.perf_counter() - wall
    step = json.loads((job.parent / "out" / "summary.json").read_text())["steps"][0]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "wall_s": wall, "cpu_s": used.ru_utime + used.ru_stime, "maxrss_mb": used.ru_maxrss / 1024.0,
        "equations": step["equations"], "results": {"frequencies_hz": step["frequencies_hz"]},
    }  # fmt: skip


def calculix(job: Path) -> dict:
    program = shutil.which("ccx")
    if program is None:
        raise SystemExit("ccx is not installed")
    environment = {**os.environ, "CCX_NPROC_EQUATION_SOLVER": os.environ["OMP_NUM_THREADS"]}
    wall = time.perf_counter()
    subprocess.run([program, "-i", job.stem], cwd=job.parent, env=environment, capture_output=True, check=True)
    wall = time.perf_counter() - wall
    found = []
    for line in job.with_suffix(".dat").read_text().splitlines():
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


def _linearised(job: Path):
    from fem_mbs.analysis.linear.linearised import Linearised
    from fem_mbs.analysis.loading import Loading
    from fem_mbs.decks.abaqus.run import convert
    from fem_mbs.meshes.abaqus.reader import read_deck

    compiled = convert(read_deck(job)).model.compile(stepping=False)
    return Linearised(compiled, compiled.system.initial_state(), 0.0, Loading(compiled))


def bare(job: Path) -> dict:
    """Analysis, factorisation and `eigsh` as anyone would write them."""
    from scipy.sparse.linalg import LinearOperator, eigsh
    from sksparse.cholmod import analyze

    linear = _linearised(job)
    K, M = linear.stiffness.tocsc(), linear.mass.tocsc()
    linear.release()
    wall, cpu = time.perf_counter(), time.process_time()
    factor = analyze(K, mode="supernodal", ordering_method="metis")
    analysed = time.perf_counter() - wall
    factor.cholesky_inplace(K)
    factored = time.perf_counter() - wall - analysed
    operator = LinearOperator(K.shape, matvec=factor.solve_A, dtype=float)
    values = eigsh(K, COUNT, M, sigma=0.0, OPinv=operator, return_eigenvectors=True)[0]
    return {
        "wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu, "analyse_s": analysed,
        "factor_s": factored, "equations": K.shape[0],
        "results": {"frequencies_hz": (np.sqrt(np.sort(values)) / (2.0 * np.pi)).tolist()},
    }  # fmt: skip


def assembly(job: Path) -> dict:
    linear = _linearised(job)
    wall, cpu = time.perf_counter(), time.process_time()
    linear.release()
    linear.tangent, linear.mass_matrix  # noqa: B018
    return {
        "wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu,
        "elements": sum(block.size for block in linear.system.blocks if not block.type.inertia), "results": {},
    }  # fmt: skip


SIDES = {"fem-mbs": ours, "calculix": calculix, "bare": bare, "assembly": assembly}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("side", choices=SIDES)
    parser.add_argument("--cell", choices=("hex20", "tet10"), default="hex20")
    parser.add_argument("--n", type=int, default=4, help="cubes across the bar")
    parser.add_argument("--deck", type=Path, help="a mesh of your own with the element set EALL and the node set FIX")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / "job.inp"
        job.write_text((given.deck.read_text() if given.deck else deck(given.cell, given.n)) + _STEEL)
        answer = SIDES[given.side](job)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    which = str(given.deck.name) if given.deck else f"{given.cell} {given.n}"
    print("JSON " + json.dumps({"side": given.side, "part": which, "maxrss_mb": peak, **answer}))


if __name__ == "__main__":
    main()
