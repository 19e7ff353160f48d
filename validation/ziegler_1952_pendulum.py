"""Ziegler's double pendulum under a follower force: flutter, and how damping destabilises it.

Two rigid links of length l in line, point masses 2m at their joint and m at the tip, springs k and dampers b in both
joints; the force P at the tip keeps pointing along the second link.

      |k,b        2m,k,b         m
      o-----------o-----------o <-- P  (turns with the second link)
      |     l           l

Without damping the pendulum is stable up to P l/k = 7/2 - sqrt 2 = 2.086 and flutters beyond; with however little
damping, alike in both joints, only up to P l/k = 41/28 + b^2/(2 m k l^2) -> 1.464.  There is no static loss of
stability.

Source: H. Ziegler, "Die Stabilitaetskriterien der Elastomechanik", Ing.-Archiv 20 (1952), 49-56,
doi:10.1007/BF00536796; with damping: V.V. Bolotin, "Nonconservative problems of the theory of elastic stability",
Pergamon 1963; O.N. Kirillov, F. Verhulst, ZAMM 90 (2010), 462-488, doi:10.1002/zamm.200900315.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT, PROPERTY

CAPABILITY = "buckling"
CASES = {"B-ZIEGLER": "flutter of a mechanism under a follower force, and the jump of its load with damping"}

LENGTH, MASS, STIFFNESS = 0.7, 1.3, 90.0


def build(damping: float = 0.0, load: float = 1.0, dimension: int = 2) -> Model:
    """Return the pendulum along x under ``load`` times k/l; ``damping`` [N m s/rad] of both joints."""
    model = Model(dimension, "Ziegler's pendulum")
    points = np.zeros((3, dimension))
    points[:, 0] = 0.0, LENGTH, 2.0 * LENGTH
    for name, mass, at in (("first", 2.0 * MASS, points[1]), ("second", MASS, points[2])):
        inertia = 0.0 if dimension == 2 else (0.0, 0.0, 0.0)
        model.body(name, at, mass, inertia)
    axis = {} if dimension == 2 else {"axis": (0.0, 0.0, 1.0)}
    for joint, a, b, at in (("base", "ground", "first", points[0]), ("knee", "first", "second", points[1])):
        model.joint(joint, "revolute", a, b, point=at, **axis)
        model.joint_spring(f"{joint} spring", joint, STIFFNESS, damping)
    model.force("P", "second", (-load * STIFFNESS / LENGTH, *(0.0,) * (dimension - 1)), follower=True)
    model.static_step(increments=1)
    return model


def matrices(load: float, damping: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return M, C, K over the absolute angles of both links; load over k/l."""
    k, P = STIFFNESS, load * STIFFNESS
    coupling = np.array([[2.0, -1.0], [-1.0, 1.0]])
    M = MASS * LENGTH**2 * np.array([[3.0, 1.0], [1.0, 1.0]])
    return M, damping * coupling, k * coupling + P * np.array([[-1.0, 1.0], [0.0, 0.0]])


def growth(load: float, damping: float) -> float:
    """Return the largest real part [1/s] of exp(p t), by Ziegler's two equations of motion."""
    M, C, K = matrices(load, damping)
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    return float(np.linalg.eigvals(A).real.max())


def reference() -> dict:
    return {"undamped": 3.5 - np.sqrt(2.0), "vanishing damping": 41.0 / 28.0}


def damped_load(damping: float) -> float:
    """Return critical P l/k with damping, alike in both joints."""
    return 41.0 / 28.0 + damping**2 / (2.0 * MASS * STIFFNESS * LENGTH**2)


def check(f: Findings) -> None:
    known = reference()
    for dimension in (2, 3):
        model = build(dimension=dimension)
        model.stability_map_step([{"load": "P", "values": [1.0, 2.5]}], count=2, refine=28)
        found = solve(model).steps[-1].summary["boundary"]
        f.row(
            "B-ZIEGLER", f"flutter load without damping, {dimension}D", found[0][0], known["undamped"],
            "Growth rates below 1e-6 |p| count as none, which leaves 1e-8.", CLOSED_FORM, relative=1e-8,
        )  # fmt: skip
    dampings = np.array([0.01, 0.5, 1.0, 2.0, 3.0, 4.0]) * np.sqrt(MASS * STIFFNESS) * LENGTH * 0.2
    loads = np.linspace(0.25, 3.0, 12)
    model = build(damping=1.0)
    model.stability_map_step(
        [
            {"load": "P", "values": loads},
            {"element": ["base spring", "knee spring"], "number": "damping", "values": dampings},
        ],
        count=2,
        refine=16,  # .25/2^16, a twentieth of the tolerance
    )
    summary = solve(model).steps[-1].summary
    rates = np.array(summary["growth"])
    exact = np.array([[growth(P, b) for b in dampings] for P in loads])
    f.zero(
        "B-ZIEGLER", "growth rates of 72 points against the two equations of motion, over sqrt(k/(m l2))",
        np.abs(rates - exact).max() / np.sqrt(STIFFNESS / (MASS * LENGTH**2)), 1e-9,
        "The eigenproblem is the same; only round-off is left.",
        INDEPENDENT,
    )  # fmt: skip
    boundary = np.array(summary["boundary"])
    along = np.array([p for p in boundary if p[1] in dampings])
    off = max(abs(P - damped_load(b)) / damped_load(b) for P, b in along[1:])
    f.row(
        "B-ZIEGLER",
        "boundaries found along the load",
        len(along),
        len(dampings),
        "There is one boundary for each damping.",
        PROPERTY,
        tolerance=0,
    )
    f.row(
        "B-ZIEGLER", "flutter load with b/(l sqrt(m k)) = 0.002", along[0][0], damped_load(along[0][1]),
        "Growth rates below 1e-6 |p| count as none, which leaves 1e-3.", CLOSED_FORM, relative=1e-3,
    )  # fmt: skip
    f.row(
        "B-ZIEGLER",
        "and Ziegler's limit of it, 41/28",
        along[0][0],
        known["vanishing damping"],
        "Growth rates below 1e-6 |p| count as none, which leaves 1e-3; the damping itself moves the load by 3e-6.",
        CLOSED_FORM,
        relative=1e-3,
    )
    f.zero(
        "B-ZIEGLER",
        "flutter loads with b/(l sqrt(m k)) = 0.1 to 0.8, relative",
        off,
        1e-4,
        "Growth rates below 1e-6 |p| count as none.",
        CLOSED_FORM,
    )
    b = np.linspace(0.0, dampings[-1], 101)
    unit = LENGTH * np.sqrt(MASS * STIFFNESS)
    f.figure(
        "Flutter load of Ziegler's pendulum",
        [
            Curve(b / unit, damped_load(b), "41/28 + b^2/(2 m k l^2)"),
            Curve(along[:, 1] / unit, along[:, 0], "stability map", style="o"),
            Curve(np.zeros(1), np.array([known["undamped"]]), "without damping", style="o"),
        ],
        "b/(l sqrt(m k))",
        "P l/k",
    )
