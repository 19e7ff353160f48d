"""Craig-Bampton reduction of the bar of `reduction.py` with Exudyn, run with the interpreter of its environment; prints
one line for `run.py`.

python peer_reduction_exudyn.py bar.npz
"""

import json
import resource
import sys
import time

import numpy as np
import scipy.linalg
from scipy.sparse import csr_matrix

sys.exudynFast = True  # the module without checks of ranges

from exudyn.FEM import FEMinterface, HCBstaticModeSelection  # noqa: E402


def main() -> None:
    data = np.load(sys.argv[1])
    n = data["x"].size
    K, M = (csr_matrix((data[f"{a}_data"], data[f"{a}_indices"], data[f"{a}_indptr"]), shape=(n, n)) for a in "KM")
    fem = FEMinterface()
    fem.nodes = {"Position": data["x"]}
    fem.stiffnessMatrix, fem.massMatrix = K, M
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    wall, cpu = time.perf_counter(), time.process_time()
    fem.ComputeHurtyCraigBamptonModes(
        boundaryNodesList=[data["left"].tolist(), data["right"].tolist()],
        nEigenModes=int(data["count"]),
        useSparseSolver=True,
        computationMode=HCBstaticModeSelection.RBE2,
        timerTreshold=10**9,
    )
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    T = fem.modeBasis["matrix"]
    free = scipy.linalg.eigh(T.T @ (K @ T), T.T @ (M @ T), eigvals_only=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    found = {
        "frequencies_hz": np.asarray(fem.GetEigenFrequenciesHz()).tolist(),
        "modes": int(T.shape[1]),
        "reduced_hz": (np.sqrt(np.abs(free[:8])) / (2.0 * np.pi)).tolist(),
    }
    answer = {"wall_s": wall, "cpu_s": cpu, "equations": n, "maxrss_mb": peak, "before_mb": before, "results": found}
    print("JSON " + json.dumps(answer))


if __name__ == "__main__":
    main()
