"""Complex modes of a damped cantilever of ANCF cables with Exudyn, run with the interpreter of its environment; prints
one line for `run.py`.

python peer_complex_exudyn.py --n 600
"""

import argparse
import json
import sys
import time

import numpy as np
from cantilever_data import COUNT, DAMPING, EA, EI, LENGTH, RHO_A

sys.exudynFast = True  # the module without checks of ranges

import exudyn as exu  # noqa: E402
from exudyn.utilities import (  # noqa: E402
    CoordinateConstraint,
    MarkerNodeCoordinate,
    NodePoint2DSlope1,
    NodePointGround,
    ObjectANCFCable2D,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=600)
    n = parser.parse_args().n
    system = exu.SystemContainer()
    mbs = system.AddSystem()
    nodes = [mbs.AddNode(NodePoint2DSlope1(referenceCoordinates=[LENGTH * i / n, 0, 1, 0])) for i in range(n + 1)]
    for a, b in zip(nodes[:-1], nodes[1:], strict=True):
        mbs.AddObject(
            ObjectANCFCable2D(
                nodeNumbers=[a, b], length=LENGTH / n, massPerLength=RHO_A, axialStiffness=EA,
                bendingStiffness=EI, bendingDamping=DAMPING * EI, axialDamping=DAMPING * EA,
            )
        )  # fmt: skip
    ground = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=mbs.AddNode(NodePointGround()), coordinate=0))
    for k in (0, 1, 3):  # position and slope of the clamped end
        held = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=k))
        mbs.AddObject(CoordinateConstraint(markerNumbers=[ground, held]))
    mbs.Assemble()
    start = time.perf_counter()
    values, _ = exu.solver.ComputeODE2Eigenvalues(
        mbs, numberOfEigenvalues=COUNT, useAbsoluteValues=False, computeComplexEigenvalues=True
    )  # fmt: skip
    wall = time.perf_counter() - start
    found = [[float(np.real(p)), float(np.imag(p))] for p in values]
    print("JSON " + json.dumps({"wall_s": wall, "dofs": 4 * (n + 1), "results": {"eigenvalues": found}}))


if __name__ == "__main__":
    main()
