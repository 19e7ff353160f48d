"""Balls that bounce over a floor or hills with Exudyn, run with the interpreter of its environment; prints one line.

    python peer_contact_exudyn.py floor --n 1000
    python peer_contact_exudyn.py triangles --n 1000 --triangles 10000

The balls and surfaces of `contact.py`: linear contact without damping, implicit trapezoidal rule.
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
    MarkerBodyRigid,
    NodeRigidBodyRotVecLG,
    ObjectGround,
    ObjectRigidBody,
    RigidBodyInertia,
)

RADIUS, H, WIDTH, STIFFNESS = 0.05, 1e-3, 20.0, 1e6


def surface(kind: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points (m, 3) and triangles (k, 3) of the floor or of hills of .1 m."""
    n = max(2, round(np.sqrt(count / 2))) if kind == "triangles" else 1
    line = np.linspace(-0.5 * WIDTH, 0.5 * WIDTH, n + 1)
    x, y = np.meshgrid(line, line, indexing="ij")
    z = 0.05 * (np.sin(1.3 * x) * np.cos(1.1 * y) - 1.0) if kind == "triangles" else np.zeros_like(x)
    a = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    cells = np.concatenate((np.column_stack((a, a + n + 1, a + n + 2)), np.column_stack((a, a + n + 2, a + 1))))
    return np.column_stack((x.ravel(), y.ravel(), z.ravel())), cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("floor", "triangles"))
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--triangles", type=int, default=10_000)
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    n = options.n
    places = np.column_stack((rng.uniform(-0.35 * WIDTH, 0.35 * WIDTH, (n, 2)), rng.uniform(0.1, 0.6, n)))
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    contact = mbs.AddGeneralContact()
    contact.SetFrictionPairings(np.zeros((1, 1)))
    cells = max(4, round(np.sqrt(max(n, options.triangles if options.kind == "triangles" else 1) / 4)))
    contact.SetSearchTreeCellSize(numberOfCells=[cells, cells, 1])
    contact.SetSearchTreeBox(pMin=[-0.5 * WIDTH, -0.5 * WIDTH, -1.0], pMax=[0.5 * WIDTH, 0.5 * WIDTH, 1.0])
    ground = mbs.AddObject(ObjectGround())
    marker = mbs.AddMarker(MarkerBodyRigid(bodyNumber=ground, localPosition=[0, 0, 0]))
    points, triangles = surface(options.kind, options.triangles)
    contact.AddTrianglesRigidBodyBased(
        rigidBodyMarkerIndex=marker, contactStiffness=STIFFNESS, contactDamping=0.0, frictionMaterialIndex=0,
        pointList=points, triangleList=triangles,
    )  # fmt: skip
    inertia = RigidBodyInertia(mass=1.0, inertiaTensor=0.4 * RADIUS**2 * np.eye(3))
    for place in places:
        node = mbs.AddNode(NodeRigidBodyRotVecLG(referenceCoordinates=[*place, 0, 0, 0], initialVelocities=[0.0] * 6))
        body = mbs.AddObject(
            ObjectRigidBody(physicsMass=inertia.mass, physicsInertia=inertia.GetInertia6D(), nodeNumber=node)
        )
        mass = mbs.AddMarker(MarkerBodyMass(bodyNumber=body))
        mbs.AddLoad(LoadMassProportional(markerNumber=mass, loadVector=[0.0, 0.0, -9.81]))
        ball = mbs.AddMarker(MarkerBodyRigid(bodyNumber=body, localPosition=[0, 0, 0]))
        contact.AddSphereWithMarker(
            ball, radius=RADIUS, contactStiffness=STIFFNESS, contactDamping=0.0, frictionMaterialIndex=0
        )
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = options.steps
    settings.timeIntegration.endTime = options.steps * H
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.useIndex2Constraints = False
    settings.timeIntegration.generalizedAlpha.useNewmark = True
    settings.solutionSettings.writeSolutionToFile = False
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    settings.parallel.numberOfThreads = 1
    begun = time.perf_counter()
    mbs.SolveDynamic(settings)
    seconds = time.perf_counter() - begun
    heights = [mbs.GetNodeOutput(i, exu.OutputVariableType.Position)[2] for i in range(n)]
    print(
        "JSON", json.dumps({"steps": options.steps, "step_ms": 1e3 * seconds / options.steps, "lowest": min(heights)})
    )


if __name__ == "__main__":
    main()
