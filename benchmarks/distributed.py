"""Measure memory per process and time of the distributed backend: a block of hexahedra, its first modes.

    mpiexec -n 2 python benchmarks/distributed.py 100000 300000 --modes 10

runs in all processes of mpiexec; sizes are numbers of unknowns.  It prints a row per size: seconds of the model and its
numbering, assembly, factors and solution of one load, modes, and in brackets the seconds of the processor on the first
process, which other work on the machine does not change much; the peak of the memory [GB] of each process, and the first
frequency.  The block has sides 4 : 2 : 1.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

import numpy as np

from fem_mbs import Model
from fem_mbs.analysis.backends import backend_named
from fem_mbs.analysis.end_state import EndState
from fem_mbs.meshes.mesh import CellBlock, Mesh
from fem_mbs.solvers.eigen.modes import real_modes

SIDES = (0.4, 0.2, 0.1)


def block(unknowns: int) -> Model:
    """Return a clamped block with about so many unknowns."""
    k = max(round((unknowns / 3 / 8) ** (1 / 3)), 2)
    cells = (4 * k, 2 * k, k)
    axes = [np.linspace(0.0, side, n + 1) for side, n in zip(SIDES, cells, strict=True)]
    x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    number = np.arange(len(x)).reshape([n + 1 for n in cells])
    corner = [number[a : a - 1 or None, b : b - 1 or None, c : c - 1 or None] for a, b, c in np.ndindex(2, 2, 2)]
    order = [0, 4, 6, 2, 1, 5, 7, 3]
    hexahedra = np.stack([corner[i].ravel() for i in order], axis=1)
    tip = np.flatnonzero(x[:, 0] == SIDES[0])
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


def measure(unknowns: int, modes: int, backend: str) -> tuple[np.ndarray, int, float]:
    """Return seconds (4, 2) of the parts of the work, the number of equations, and the first frequency [Hz]."""
    times = [clocks()]
    end = EndState.at_start(block(unknowns).compile(stepping=False))
    times.append(clocks())
    linear = backend_named(backend).make(end.compiled, end.state, 0.0, end.loading)
    K, M = linear.stiffness, linear.mass
    linear.release()
    times.append(clocks())
    linear.equilibrium.solve(np.ones(K.shape[0]), "benchmark")
    del linear.equilibrium  # one matrix of factors at a time
    times.append(clocks())
    found = real_modes(K, M, modes, check="none")
    times.append(clocks())
    return np.diff(times, axis=0), K.shape[0], float(np.sqrt(found.values[0]) / (2.0 * np.pi))


def one(unknowns: int, modes: int, backend: str) -> None:
    """Measure one size and print its row on the first process."""
    seconds, n, frequency = measure(unknowns, modes, backend)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    peaks = [peak]
    if backend != "local":
        from fem_mbs.solvers.distributed.ranks import ranks

        peaks = ranks().gathered(peak)
        if ranks().rank:
            return
    shown = " ".join(f"{s:7.1f} ({cpu:5.1f})" for s, cpu in seconds)
    memory = " ".join(f"{p:.2f}" for p in peaks)
    print(f"{n:9d} {len(peaks):5d} {shown}   {memory}   {frequency:.9f}", flush=True)


def main() -> None:
    """Measure in this process, or with --ranks in processes of mpiexec, one size at a time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--modes", type=int, default=10)
    parser.add_argument("--backend", default="petsc")
    parser.add_argument("--ranks", default="", help="numbers of processes, such as 1,2; each size then starts anew")
    given = parser.parse_args()
    if not given.ranks:
        for size in given.sizes:
            one(size, given.modes, given.backend)
        return
    print(" unknowns ranks           model        assembly          static           modes   peak of each process [GB]   first frequency [Hz]")
    for size in given.sizes:
        for ranks in given.ranks.split(","):
            command = [sys.executable, __file__, str(size), "--modes", str(given.modes), "--backend", given.backend]
            if given.backend != "local":
                command = ["mpiexec", "-n", ranks, *command]
            subprocess.run(command, check=False)


if __name__ == "__main__":
    main()
