"""Measure memory per process and time of the distributed backend: a block of hexahedra, one load, its first modes.

    python benchmarks/distributed.py 100000 300000 --ranks 1,2 --modes 10

Sizes are numbers of unknowns.  It prints a row per size and number of processes: seconds of the model and its
numbering with the sharing out of its elements, of assembly, of factors and the solution of one load, of modes, and in
brackets those of the processor on the first process, which other work on the machine changes little; what each process
holds of the model then [kB per unknown]; the peak of the memory [GB] of each process; a check value, which is the same
for any number of processes: the first frequency, or the largest displacement without modes.
"""

from __future__ import annotations

import argparse
import gc
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from fem_mbs import Model
from fem_mbs.analysis.distributed.backends import backend_named
from fem_mbs.analysis.end_state import EndState
from fem_mbs.meshes.mesh import CellBlock, Mesh
from fem_mbs.solvers.eigen.modes import real_modes


def block(unknowns: int, sides: tuple[int, ...] = (4, 2, 1)) -> Model:
    """Return a clamped block of cubes with about so many unknowns, its sides [0.1 m] whole numbers."""
    k = max(round((unknowns / 3 / np.prod(sides)) ** (1 / 3)), 2)
    cells = [k * side for side in sides]
    axes = [np.linspace(0.0, 0.1 * side, n + 1) for side, n in zip(sides, cells, strict=True)]
    x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    number = np.arange(len(x)).reshape([n + 1 for n in cells])
    corner = [number[a : a - 1 or None, b : b - 1 or None, c : c - 1 or None] for a, b, c in np.ndindex(2, 2, 2)]
    order = [0, 4, 6, 2, 1, 5, 7, 3]
    hexahedra = np.stack([corner[i].ravel() for i in order], axis=1)
    tip = number[-1].ravel()
    m = Model(3)
    m.mesh("block", Mesh(x, [CellBlock("hexahedron", hexahedra)], {"ROOT": number[0].ravel(), "TIP": tip}))
    m.solid_material("steel", E=2.1e11, nu=0.3, density=7850.0)
    m.solids("part", "block", "steel", kinematics="linear", element="standard")
    m.fix("block:ROOT")
    m.force("across", "block:TIP", [0.0, 0.0, -1e3])
    return m


def clocks() -> tuple[float, float]:
    """Return the time [s], and that of the processor."""
    return time.perf_counter(), time.process_time()


def resident() -> float:
    """Return the memory [kB] that this process has now."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e3


def start(given: argparse.Namespace, unknowns: int) -> EndState:
    """Return the start of the block; with processes that share its elements, the part of this one."""
    sides = tuple(int(side) for side in given.sides.split(":"))
    end = EndState.at_start(block(unknowns, sides).compile(stepping=False))
    if backend_named(given.backend).distributed:
        from fem_mbs.analysis.distributed.share import share_out

        share_out(end.compiled, keep_model=False)
    return end


def measure(given: argparse.Namespace, unknowns: int) -> tuple[np.ndarray, int, float, float]:
    """Return seconds (4, 2) of the parts of the work, the number of equations, the memory [kB] of the model and the
    check value."""
    start(given, 0)  # imports
    before, times = resident(), [clocks()]
    end = start(given, unknowns)
    times.append(clocks())
    held = resident() - before
    linear = backend_named(given.backend).make(end.compiled, end.state, 0.0, end.loading)
    K, M = linear.stiffness, linear.mass if given.modes else None
    linear.release()
    times.append(clocks())
    value = float(np.abs(linear.equilibrium.solve(np.ones(K.shape[0]), "benchmark")).max())
    del linear.equilibrium  # one matrix of factors at a time
    times.append(clocks())
    if given.modes:
        value = float(np.sqrt(real_modes(K, M, given.modes, check="none").values[0]) / (2.0 * np.pi))
    times.append(clocks())
    return np.diff(times, axis=0), K.shape[0], held, value


def one(given: argparse.Namespace, unknowns: int) -> None:
    """Measure one size and print its row on the first process."""
    seconds, n, held, value = measure(given, unknowns)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    peaks, models = [peak], [held]
    if given.backend != "local":
        from fem_mbs.solvers.distributed.ranks import ranks

        peaks, models = ranks().gathered(peak), ranks().gathered(held)
        if ranks().rank:
            return
    shown = " ".join(f"{s:7.1f} ({cpu:5.1f})" for s, cpu in seconds)
    memory = " ".join(f"{kilobytes / n:.2f}" for kilobytes in models) + "   " + " ".join(f"{p:.2f}" for p in peaks)
    print(f"{n:9d} {len(peaks):5d} {shown}   {memory}   {value:.9e}", flush=True)


def main() -> None:
    """Measure in this process, or with --ranks in processes of mpiexec, one size at a time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--modes", type=int, default=10, help="0: none, and no mass")
    parser.add_argument("--sides", default="4:2:1", help="of the block, whole numbers")
    parser.add_argument("--backend", default="petsc")
    parser.add_argument("--ranks", default="", help="numbers of processes, such as 1,2; each size then starts anew")
    given = parser.parse_args()
    if not given.ranks:
        for size in given.sizes:
            one(given, size)
        return
    parts = " ".join(f"{name:>15s}" for name in ("model", "assembly", "static", "modes"))
    print(f" unknowns ranks {parts}   model [kB/unknown]   peak [GB] of each process   check")
    for size in given.sizes:
        for ranks in given.ranks.split(","):
            options = ["--modes", str(given.modes), "--sides", given.sides, "--backend", given.backend]
            command = [sys.executable, __file__, str(size), *options]
            if given.backend != "local":
                command = ["mpiexec", "-n", ranks, *command]
            subprocess.run(command, check=False)


if __name__ == "__main__":
    main()
