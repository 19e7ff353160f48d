"""Craig-Bampton reduction of a solid bar once, then a line ``JSON {...}``: one side of a comparison, its own process.

    python benchmarks/reduction.py fem-mbs --n 9

The bar is 1 x .1 x .1 m of steel, free, 10 n x n x n quadratic hexahedra; its two ends are interfaces, rigid as wholes
(RBE2), and 20 modes are kept.  Sides, all of them after the assembly of the matrices over all nodes:

    fem-mbs          `reduce_part` as it is called, with error estimates, weight, invariants, recovery
    fem-mbs-average  mean motions of the ends (RBE3) in place of rigid ones
    fem-mbs-cutoff   as many modes as lie below a cut-off, proved complete by an inertia
    bare-cholmod     analysis and L L^T of K_ii, 12 constraint modes, ARPACK, products: the limit
    export FILE      matrices, places and sets for programs of others (`peer_reduction_exudyn.py`)
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
import scipy.linalg  # noqa: E402
from parts import hexahedra  # noqa: E402
from scipy.sparse.linalg import LinearOperator, eigsh  # noqa: E402

from fem_mbs import Mesh, Model, reduce_part  # noqa: E402
from fem_mbs.analysis.linear.linearised import Linearised  # noqa: E402
from fem_mbs.analysis.loading import Loading  # noqa: E402
from fem_mbs.meshes.mesh import CellBlock  # noqa: E402

COUNT = 20
ENDS = ("x0", "x1")


def bar(n: int) -> Model:
    """The bar."""
    x, nodes = hexahedra(10 * n, n)
    sets = {"x0": np.flatnonzero(x[:, 0] < 1e-9), "x1": np.flatnonzero(x[:, 0] > 1.0 - 1e-9)}
    model = Model(3, title="bar")
    model.mesh("bar", Mesh(x, [CellBlock("hexahedron20", nodes)], sets))
    model.material("steel", E=2.1e11, nu=0.3, density=7850.0)
    model.solids("bar", on="bar", material="steel")
    return model


def matrices(model: Model) -> Linearised:
    """The same with its matrices."""
    compiled = model.compile(stepping=False)
    linear = Linearised(compiled, compiled.system.initial_state(), 0.0, Loading(compiled))
    assert linear.stiffness.shape == linear.mass.shape == (model.positions.size,) * 2
    return linear


def ours(kind: str, n: int) -> dict:
    model = bar(n)
    tied = "average" if kind == "average" else "rigid"
    interfaces = {end: {"on": f"bar:{end}", "kind": tied} for end in ENDS}
    options = {"cutoff": 9000.0} if kind == "cutoff" else {"modes": COUNT}
    linear = matrices(model)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    wall, cpu = time.perf_counter(), time.process_time()
    part = reduce_part(linear, interfaces, **options)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    values = scipy.linalg.eigh(part.stiffness, part.mass, eigvals_only=True)
    return {
        "wall_s": wall, "cpu_s": cpu, "equations": linear.stiffness.shape[0], "before_mb": before,
        "seconds": part.info["seconds"],
        "results": {"frequencies_hz": part.frequencies.tolist(), "free_hz": hertz(values[6:14])},
    }  # fmt: skip


def hertz(values) -> list[float]:
    return (np.sqrt(np.abs(values)) / (2.0 * np.pi)).tolist()


def sets_of(linear: Linearised) -> tuple[np.ndarray, list[np.ndarray]]:
    return linear.compiled.model.positions, [linear.compiled.model.nodes_of(f"bar:{end}") for end in ENDS]


def bare(n: int) -> dict:
    """What anyone would write with the same library."""
    from sksparse.cholmod import analyze

    linear = matrices(bar(n))
    K, M = linear.stiffness, linear.mass
    x, ends = sets_of(linear)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    wall, cpu = time.perf_counter(), time.process_time()
    stages, last = {}, wall
    boundary = np.concatenate([(3 * nodes[:, None] + np.arange(3)).ravel() for nodes in ends])
    inner = np.setdiff1d(np.arange(3 * len(x)), boundary)
    R = np.zeros((boundary.size, 12))
    at = 0
    for k, nodes in enumerate(ends):
        r = x[nodes] - x[nodes].mean(axis=0)
        for i in range(3):
            R[at + i : at + 3 * len(nodes) : 3, 6 * k + i] = 1.0
            R[at : at + 3 * len(nodes), 6 * k + 3 + i] = np.cross(np.eye(3)[i], r).ravel()
        at += 3 * len(nodes)
    K_ii, M_ii = K[inner][:, inner].tocsc(), M[inner][:, inner].tocsc()
    side = K[inner][:, boundary] @ R
    stages["split"], last = time.perf_counter() - last, time.perf_counter()
    factor = analyze(K_ii, mode="supernodal", ordering_method="metis")
    factor.cholesky_inplace(K_ii)
    stages["factor"], last = time.perf_counter() - last, time.perf_counter()
    B = -factor.solve_A(side)
    stages["static"], last = time.perf_counter() - last, time.perf_counter()
    calls = [0]

    def solve(b):
        calls[0] += 1
        return factor.solve_A(b)

    values, Phi = eigsh(K_ii, COUNT, M_ii, sigma=0.0, OPinv=LinearOperator(K_ii.shape, matvec=solve, dtype=float))
    stages["eigsh"], last = time.perf_counter() - last, time.perf_counter()
    T = np.zeros((3 * len(x), 12 + COUNT))
    T[boundary, :12], T[inner, :12], T[inner, 12:] = R, B, Phi
    K_red, M_red = T.T @ (K @ T), T.T @ (M @ T)
    stages["products"] = time.perf_counter() - last
    answer = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu, "solves": 12 + calls[0]}
    free = scipy.linalg.eigh(K_red, M_red, eigvals_only=True)
    return {
        **answer, "equations": 3 * len(x), "seconds": stages, "before_mb": before,
        "results": {"frequencies_hz": hertz(np.sort(values)), "free_hz": hertz(free[6:14])},
    }  # fmt: skip


def export(n: int, target: str) -> dict:
    linear = matrices(bar(n))
    x, ends = sets_of(linear)
    arrays = {"x": x, "left": ends[0], "right": ends[1], "count": COUNT}
    for name, A in (("K", linear.stiffness), ("M", linear.mass)):
        arrays |= {f"{name}_data": A.data, f"{name}_indices": A.indices, f"{name}_indptr": A.indptr}
    np.savez(target, **arrays)
    return {"equations": linear.stiffness.shape[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sides = ("fem-mbs", "fem-mbs-average", "fem-mbs-cutoff", "bare-cholmod", "export")
    parser.add_argument("side", choices=sides)
    parser.add_argument("target", nargs="?", default="bar.npz")
    parser.add_argument("--n", type=int, default=9, help="hexahedra across the bar")
    given = parser.parse_args()
    if given.side == "export":
        answer = export(given.n, given.target)
    elif given.side == "bare-cholmod":
        answer = bare(given.n)
    else:
        answer = ours(given.side.removeprefix("fem-mbs").removeprefix("-"), given.n)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    print("JSON " + json.dumps({"side": given.side, "n": given.n, "maxrss_mb": peak, **answer}))


if __name__ == "__main__":
    main()
