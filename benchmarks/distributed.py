"""Measure memory per process and time of the distributed backend: a block of hexahedra, one load, its first modes.

    python benchmarks/distributed.py 100000 300000 --ranks 1,2 --modes 10

Sizes are numbers of unknowns.  It prints a row per size and number of processes: seconds of the model with its
numbering and its elements, of assembly, of factors and the solution of one load, of modes, and in brackets those of the
processor on the first process, which other work on the machine changes little; the memory [kB per unknown] that each
process has of its own while the model is built, with the model, while matrices are assembled and with them (their rows
stand on their processes), the arrays of its elements in this, and what all have in common; the peak of the memory [GB]
of each process (what they have in common counts in each); a check value, which is the same for any number of processes:
the first frequency, the largest displacement without modes, or the largest entry of the stiffness without a solution.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from fem_mbs import Model
from fem_mbs.analysis.distributed.backends import backend_named
from fem_mbs.analysis.distributed.together import meshes_in_common
from fem_mbs.analysis.end_state import EndState
from fem_mbs.solvers.eigen.modes import real_modes

PARTS = ("model", "assembly", "static", "modes")
_LITTLE = 3000


def block(unknowns: int, sides: tuple[int, ...] = (4, 2, 1), distributed: bool = False) -> Model:
    """Return a clamped block of cubes with about so many unknowns, its sides [0.1 m] whole numbers."""
    k = max(round((unknowns / 3 / np.prod(sides)) ** (1 / 3)), 2)
    m = Model(3)
    with meshes_in_common(distributed):
        m.mesh("block", box={"size": [0.1 * side for side in sides], "n": [k * side for side in sides]})
    m.solid_material("steel", E=2.1e11, nu=0.3, density=7850.0)
    m.solids("part", "block", "steel", kinematics="linear", element="standard")
    m.fix("block:left")
    m.force("across", "block:right", [0.0, 0.0, -1e3])
    return m


def clocks() -> tuple[float, float]:
    """Return the time [s], and that of the processor."""
    return time.perf_counter(), time.process_time()


def resident() -> np.ndarray:
    """Return the memory [kB] that this process had of its own at most since the last call, that which it has now, that
    which it has in common with others, and the peak of all its memory since the last call."""
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    told = {name: float(value.split()[0]) for name, value in (line.split(":") for line in lines) if "kB" in value}
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    peak, common = told["VmHWM"], told["RssShmem"]
    return np.array([peak - common - told["RssFile"], told["RssAnon"], common, peak])


def start(given: argparse.Namespace, unknowns: int) -> EndState:
    """Return the start of the block; with processes that share its elements, the part of this one."""
    sides, backend = tuple(int(side) for side in given.sides.split(":")), backend_named(given.backend)
    return EndState.at_start(block(unknowns, sides, backend.distributed).compile(False, backend.sharing))


def measure(given: argparse.Namespace, unknowns: int) -> tuple[np.ndarray, int, np.ndarray, float, float]:
    """Return seconds (4, 2) of the parts of the work, the number of equations, the memory [kB] of model and matrices
    (each its peak and what is left), of elements, and in common, the peak of all memory [GB], and the check value."""
    last = PARTS.index(given.until)
    before, times = resident(), [clocks()]
    end = start(given, unknowns)
    times.append(clocks())
    blocks = end.compiled.system.blocks
    elements = sum(a.nbytes for b in blocks for a in (b.par, b.dof, b.rot, *([b.nodes] if b.share else [])))
    model = resident()
    held, n, value = np.full((2, 4), model), end.compiled.system.n_equations, 0.0
    if last > 0:
        linear = backend_named(given.backend).make(end.compiled, end.state, 0.0, end.loading)
        K, M = linear.stiffness, linear.mass if given.modes else None
        linear.release()
        times.append(clocks())
        value = float(max(abs(A).max() for A in (K, M) if A is not None))
        held[1] = resident()
    if last > 1:
        value = float(np.abs(linear.equilibrium.solve(np.ones(K.shape[0]), "benchmark")).max())
        del linear.equilibrium  # one matrix of factors at a time
        times.append(clocks())
    if last > 2 and given.modes:
        value = float(np.sqrt(real_modes(K, M, given.modes, check="none").values[0]) / (2.0 * np.pi))
    times += [clocks()] * (len(PARTS) + 1 - len(times))
    own = (held[:, :2] - before[1]).ravel()
    peak = max(*held[:, 3], resident()[3]) / 1e6
    return np.diff(times, axis=0), n, np.array([*own, elements / 1e3, held[1, 2] - before[2]]), peak, value


def one(given: argparse.Namespace, unknowns: int) -> None:
    """Measure one size and print its row on the first process."""
    measure(given, _LITTLE)  # imports, and loads compiled code
    seconds, n, held, peak, value = measure(given, unknowns)
    peaks, models = [peak], [held]
    if given.backend != "local":
        from fem_mbs.solvers.distributed.ranks import ranks

        peaks, models = ranks().gathered(peak), ranks().gathered(held)
        if ranks().rank:
            return
    shown = " ".join(f"{s:7.1f} ({cpu:5.1f})" for s, cpu in seconds)
    memory = "   ".join(" ".join(f"{kilobytes / n:.3f}" for kilobytes in each) for each in np.transpose(models))
    told = " ".join(f"{p:.2f}" for p in peaks)
    print(f"{n:9d} {len(peaks):5d} {shown}   {memory}   {told}   {value:.9e}", flush=True)


def main() -> None:
    """Measure in this process, or with --ranks in processes of mpiexec, one size at a time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--modes", type=int, default=10, help="0: none, and no mass")
    parser.add_argument("--sides", default="4:2:1", help="of the block, whole numbers")
    parser.add_argument("--backend", default="petsc")
    parser.add_argument("--until", default=PARTS[-1], choices=PARTS, help="the last part of the work")
    parser.add_argument("--ranks", default="", help="numbers of processes, such as 1,2; each size then starts anew")
    given = parser.parse_args()
    if not given.ranks:
        for size in given.sizes:
            one(given, size)
        return
    parts = " ".join(f"{name:>15s}" for name in PARTS)
    memory = "own memory [kB/unknown]: peak of model, model, peak of matrices, matrices, elements; in common"
    print(f" unknowns ranks {parts}   {memory}   peak [GB] of each process   check")
    for size in given.sizes:
        for ranks in given.ranks.split(","):
            options = ["--modes", str(given.modes), "--sides", given.sides, "--backend", given.backend]
            command = [sys.executable, __file__, str(size), "--until", given.until, *options]
            if given.backend != "local":
                command = ["mpiexec", "-n", ranks, *command]
            subprocess.run(command, check=False)


if __name__ == "__main__":
    main()
