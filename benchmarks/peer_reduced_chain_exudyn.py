"""The chain of `reduced_chain.py` with Exudyn, run with the interpreter of its environment.

python peer_reduced_chain_exudyn.py bar.npz --bodies 20 --modes 8 --steps 200 --h 0.001
"""

import argparse
import json
import sys
import time

import numpy as np
from scipy.sparse import csr_matrix

sys.exudynFast = True  # the module without checks of ranges

import exudyn as exu  # noqa: E402
from exudyn.FEM import FEMinterface, HCBstaticModeSelection, ObjectFFRFreducedOrderInterface  # noqa: E402
from exudyn.utilities import (  # noqa: E402
    GenericJoint,
    MarkerBodyRigid,
    MarkerSuperElementRigid,
    ObjectGround,
    SensorMarker,
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--bodies", type=int, default=20)
    parser.add_argument("--modes", type=int, default=8)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--h", type=float, default=1e-3)
    options = parser.parse_args()
    data = np.load(options.file)
    n = data["x"].size
    K, M = (csr_matrix((data[f"{a}_data"], data[f"{a}_indices"], data[f"{a}_indptr"]), shape=(n, n)) for a in "KM")
    ends = data["left"].tolist(), data["right"].tolist()
    fem = FEMinterface()
    fem.nodes = {"Position": data["x"]}
    fem.stiffnessMatrix, fem.massMatrix = K, M
    fem.ComputeHurtyCraigBamptonModes(
        boundaryNodesList=list(ends), nEigenModes=options.modes, useSparseSolver=True,
        computationMode=HCBstaticModeSelection.RBE2, timerTreshold=10**9,
    )  # fmt: skip
    body = ObjectFFRFreducedOrderInterface(fem)
    mbs = exu.SystemContainer().AddSystem()
    before = mbs.AddMarker(MarkerBodyRigid(bodyNumber=mbs.AddObject(ObjectGround(referencePosition=[0.0, 0.05, 0.05]))))
    for k in range(options.bodies):
        placed = body.AddObjectFFRFreducedOrder(
            mbs, positionRef=[float(k), 0.0, 0.0], gravity=data["gravity"].tolist()
        )  # fmt: skip
        left, right = (
            mbs.AddMarker(
                MarkerSuperElementRigid(
                    bodyNumber=placed["oFFRFreducedOrder"], meshNodeNumbers=nodes,
                    weightingFactors=[1.0 / len(nodes)] * len(nodes),
                )
            )
            for nodes in ends
        )  # fmt: skip
        mbs.AddObject(GenericJoint(markerNumbers=[before, left], constrainedAxes=[1, 1, 1, 0, 0, 0]))
        before = right
    position = exu.OutputVariableType.Position
    tip = mbs.AddSensor(SensorMarker(markerNumber=before, outputVariableType=position, storeInternal=True))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    integration = settings.timeIntegration
    integration.numberOfSteps, integration.endTime = options.steps, options.steps * options.h
    integration.verboseMode = 0
    integration.newton.useModifiedNewton = True
    integration.newton.relativeTolerance, integration.newton.absoluteTolerance = 1e-6, 1e-4
    integration.generalizedAlpha.spectralRadius = 0.9
    settings.linearSolver.reuseAnalyzedPattern = True
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = options.steps * options.h
    started = time.process_time()
    mbs.SolveDynamic(settings)
    seconds = time.process_time() - started
    place = mbs.GetSensorStoredData(tip)[-1]
    answer = {"side": "exudyn", "step_ms": 1e3 * seconds / options.steps, "tip": place[1:].tolist(),
              "flexible": int(fem.modeBasis["matrix"].shape[1])}  # fmt: skip
    print("JSON " + json.dumps(answer))


if __name__ == "__main__":
    main()
