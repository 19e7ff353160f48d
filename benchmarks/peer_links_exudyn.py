"""A chain of rigid rods with Exudyn, run with the interpreter of its environment; prints one line for `run.py`.

python peer_links_exudyn.py --n 100 --case open|closed|open-space|closed-space
"""

import argparse
import json
import sys
import time

import numpy as np

sys.exudynFast = True  # the module without checks of ranges

import exudyn as exu  # noqa: E402
from exudyn.utilities import (  # noqa: E402
    LoadMassProportional,
    MarkerBodyMass,
    MarkerBodyPosition,
    NodeRigidBody2D,
    ObjectGround,
    ObjectJointRevolute2D,
    ObjectJointSpherical,
    ObjectRigidBody2D,
    RigidBodyInertia,
    RotationMatrixZ,
    SensorMarker,
)


def points(n: int, closed: bool) -> np.ndarray:
    """Ends of the rods (n + 1, 3): a horizontal line, or a V between two held ends."""
    s = np.arange(n + 1.0)
    slope = (n - 1) / (3.0 * n) if closed else 1.0
    return np.column_stack((slope * s, -np.sqrt(1.0 - slope**2) * np.minimum(s, n - s), 0.0 * s))


def rod(mbs, middle, angle: float, space: bool, gravity) -> int:
    if space:
        inertia = RigidBodyInertia(mass=1.0, inertiaTensor=np.diag([1e-3, 1 / 12, 1 / 12]))
        made = mbs.CreateRigidBody(
            referencePosition=list(middle), referenceRotationMatrix=RotationMatrixZ(angle), inertia=inertia,
            nodeType=exu.NodeType.RotationEulerParameters, gravity=gravity, returnDict=True,
        )  # fmt: skip
        return made["bodyNumber"]
    node = mbs.AddNode(NodeRigidBody2D(referenceCoordinates=[middle[0], middle[1], angle]))
    body = mbs.AddObject(ObjectRigidBody2D(physicsMass=1.0, physicsInertia=1 / 12, nodeNumber=node))
    mbs.AddLoad(LoadMassProportional(markerNumber=mbs.AddMarker(MarkerBodyMass(bodyNumber=body)), loadVector=gravity))
    return body


def build(mbs, n: int, case: str) -> int:
    """Fill the system; returns the sensor of the end, or of the middle of a closed chain."""
    closed, space = case.startswith("closed"), case.endswith("space")
    P = points(n, closed)
    gravity = [0.0, -9.81, 3.0 if space else 0.0]
    ground = mbs.AddObject(ObjectGround())

    def marker(body: int, place) -> int:
        return mbs.AddMarker(MarkerBodyPosition(bodyNumber=body, localPosition=[float(x) for x in place]))

    starts, ends = [], []
    for a, b in zip(P[:-1], P[1:]):
        body = rod(mbs, 0.5 * (a + b), float(np.arctan2(b[1] - a[1], b[0] - a[0])), space, gravity)
        starts.append(marker(body, (-0.5, 0.0, 0.0)))
        ends.append(marker(body, (0.5, 0.0, 0.0)))
    joint = ObjectJointSpherical if space else ObjectJointRevolute2D
    pairs = [(marker(ground, P[0]), starts[0]), *zip(ends[:-1], starts[1:])]
    if closed:
        pairs.append((ends[-1], marker(ground, P[-1])))
    for pair in pairs:
        mbs.AddObject(joint(markerNumbers=list(pair)))
    tip = (n // 2 if closed else n) - 1
    position = exu.OutputVariableType.Position
    return mbs.AddSensor(SensorMarker(markerNumber=ends[tip], outputVariableType=position, storeInternal=True))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--case", default="open")
    parser.add_argument("--h", type=float, default=0.01)
    parser.add_argument("--duration", type=float, default=1.0)
    options = parser.parse_args()
    mbs = exu.SystemContainer().AddSystem()
    sensor = build(mbs, options.n, options.case)
    mbs.Assemble()
    settings = exu.SimulationSettings()
    steps = round(options.duration / options.h)
    integration = settings.timeIntegration
    integration.numberOfSteps, integration.endTime = steps, options.duration
    integration.verboseMode = 0
    # what makes it fastest without harm to its results
    integration.newton.useModifiedNewton = True
    integration.newton.relativeTolerance, integration.newton.absoluteTolerance = 1e-6, 1e-4
    integration.generalizedAlpha.spectralRadius = 0.9
    settings.linearSolver.reuseAnalyzedPattern = True
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = options.h
    started, begun = time.perf_counter(), time.process_time()
    mbs.SolveDynamic(settings)
    seconds, processor = time.perf_counter() - started, time.process_time() - begun
    place = mbs.GetSensorStoredData(sensor)[-1]
    answer = {"wall_s": round(seconds, 4), "cpu_s": round(processor, 4), "steps": steps}
    answer["results"] = {"tip_y": place[2], "t_end": place[0]}
    print("JSON " + json.dumps(answer, default=float))


if __name__ == "__main__":
    main()
