"""The slider-crank of Chu & Pan with Exudyn, runs of several sizes and steps: times and deflections.

    VENV/bin/python benchmarks/peer_crank_exudyn.py RUNS.json OUT.npz

``RUNS.json`` is a list of [kind, elements, h, repeats], kind "beam" (geometrically exact, with shear) or "cable" (ANCF,
without shear).  The settings are those that make it fastest without harm to its accuracy: fast module, modified
Newton, tolerances 1e-6 and 1e-4, generalised-alpha rule of .9; sensors at both ends and in the middle.
"""

from __future__ import annotations

import json
import sys
import time

sys.exudynFast = True  # type: ignore[attr-defined]

import exudyn as exu  # noqa: E402
import numpy as np  # noqa: E402
from exudyn import utilities as x  # noqa: E402
from exudyn.beams import GenerateStraightLineANCFCable2D  # noqa: E402

CRANK, ROD, SPEED, DIAMETER, E, DENSITY = 0.1524, 0.3048, 124.8, 0.00635, 2.06843e11, 7834.56
DURATION = 1282 * 5e-5


def solve(kind: str, n: int, h: float) -> tuple[float, int, np.ndarray, np.ndarray]:
    """Return the processor time of the steps [s], their number, times (k,), and deflections of the middle over the
    length (k,)."""
    area, moment = np.pi * DIAMETER**2 / 4, np.pi * DIAMETER**4 / 64
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    fixed = mbs.AddMarker(x.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(x.NodePointGround()), coordinate=0))
    crank = mbs.AddNode(x.NodeRigidBody2D(referenceCoordinates=[0, 0, 0], initialVelocities=[0, 0, SPEED]))
    body = mbs.AddObject(x.ObjectRigidBody2D(nodeNumber=crank, physicsMass=0.1, physicsInertia=1e-3))

    def of(node: int, coordinate: int) -> int:
        return mbs.AddMarker(x.MarkerNodeCoordinate(nodeNumber=node, coordinate=coordinate))

    for c in (0, 1):
        mbs.AddObject(x.CoordinateConstraint(markerNumbers=[fixed, of(crank, c)]))
    mbs.AddObject(
        x.CoordinateConstraint(
            markerNumbers=[fixed, of(crank, 2)],
            offsetUserFunction=lambda mbs, t, item, offset: SPEED * t,
            offsetUserFunction_t=lambda mbs, t, item, offset: SPEED,
        )
    )
    spin, each = -SPEED * CRANK / ROD, ROD / n
    if kind == "cable":
        cable = x.Cable2D(
            physicsMassPerLength=DENSITY * area, physicsBendingStiffness=E * moment, physicsAxialStiffness=E * area
        )
        nodes = GenerateStraightLineANCFCable2D(
            mbs, [CRANK, 0, 0], [CRANK + ROD, 0, 0], n, cable, massProportionalLoad=[0, 0, 0]
        )[0]
        for i, node in enumerate(nodes):
            mbs.SetNodeParameter(node, "initialVelocities", [0, SPEED * CRANK + spin * i * each, 0, spin])
    else:
        nodes = [
            mbs.AddNode(
                x.NodeRigidBody2D(
                    referenceCoordinates=[CRANK + i * each, 0, 0],
                    initialVelocities=[0, SPEED * CRANK + spin * i * each, spin],
                )
            )
            for i in range(n + 1)
        ]
        for i in range(n):
            mbs.AddObject(
                x.ObjectBeamGeometricallyExact2D(
                    nodeNumbers=[nodes[i], nodes[i + 1]],
                    physicsLength=each,
                    physicsMassPerLength=DENSITY * area,
                    physicsCrossSectionInertia=DENSITY * moment,
                    physicsBendingStiffness=E * moment,
                    physicsAxialStiffness=E * area,
                    physicsShearStiffness=0.9 * E / 2.6 * area,
                )
            )
    pin = mbs.AddMarker(x.MarkerBodyPosition(bodyNumber=body, localPosition=[CRANK, 0, 0]))
    mbs.AddObject(
        x.ObjectJointRevolute2D(markerNumbers=[pin, mbs.AddMarker(x.MarkerNodePosition(nodeNumber=nodes[0]))])
    )
    mbs.AddObject(x.CoordinateConstraint(markerNumbers=[fixed, of(nodes[-1], 1)]))
    position = exu.OutputVariableType.Position
    sensors = [
        mbs.AddSensor(x.SensorNode(nodeNumber=node, outputVariableType=position, storeInternal=True))
        for node in (nodes[0], nodes[n // 2], nodes[-1])
    ]
    mbs.Assemble()
    settings = exu.SimulationSettings()
    steps = round(DURATION / h)
    settings.timeIntegration.numberOfSteps = steps
    settings.timeIntegration.endTime = steps * h
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = h
    newton = settings.timeIntegration.newton
    newton.useModifiedNewton, newton.relativeTolerance, newton.absoluteTolerance = True, 1e-6, 1e-4
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    started = time.process_time()
    mbs.SolveDynamic(settings, showHints=False)
    seconds = time.process_time() - started
    data = [mbs.GetSensorStoredData(s) for s in sensors]
    a, middle, b = (d[:, 1:3] for d in data)
    chord, out = b - a, middle - a
    across = chord[:, 0] * out[:, 1] - chord[:, 1] * out[:, 0]
    return seconds, steps, data[0][:, 0], across / np.hypot(*chord.T) / ROD


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        runs = json.load(file)
    found: dict[str, np.ndarray] = {}
    for i, (kind, n, h, repeats) in enumerate(runs):
        best = min((solve(kind, n, h) for _ in range(repeats)), key=lambda run: run[0])
        found[f"seconds {i}"], found[f"steps {i}"] = np.array(best[0]), np.array(best[1])
        found[f"t {i}"], found[f"w {i}"] = best[2], best[3]
    np.savez(sys.argv[2], **found)


if __name__ == "__main__":
    main()
