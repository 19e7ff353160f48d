"""Laminates: a cross-ply spherical shell that vibrates, and a cross-ply plate under pressure.

      shell   radius 300, sides of 100 along the arcs, 0/90, h = 1            plate  10 x 10, 0/90/90/0, h = .1
              E1 = 25 E2, G12 = .5 E2, G23 = .2 E2, nu12 = .25, freely supported (sliding) edges

Source: J.N. Reddy, "Exact solutions of moderately thick laminated shells", J. Eng. Mechanics (ASCE) 110 (1984),
794-809.  The numbers were read in the verification manual of ANSYS Mechanical APDL (problems VM60 and 82), which prints
them after this paper.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import in_ansys_manual
from fem_mbs.validation.shell_grids import square

CAPABILITY = "shells"
CASES = {
    "S-DOME": "first frequency of a cross-ply spherical shell",
    "S-CROSS-PLY": "deflection of a cross-ply plate under pressure",
}


def laminate(mesh, angles: tuple[float, ...], thickness: float, density: float) -> Model:
    model = Model(3, "laminate")
    model.material("ply", E=[25e6, 1e6, 1e6], nu=[0.25, 0.25, 0.01], G=[0.5e6, 0.5e6, 0.2e6], density=density)
    model.mesh("s", mesh)
    layers = [{"material": "ply", "thickness": thickness, "angle": a} for a in angles]
    model.shells("shell", on="s", layers=layers, orientation=(0.0, 1.0, 0.0))
    return model


def build(n: int = 8) -> Model:
    """Return the spherical shell, its middle on x, sides of 100 (19.0986 degrees) along y and z."""
    half = 0.5 * np.radians(19.0986)

    def place(a, b):
        y, z = half * (2.0 * a - 1.0), half * (2.0 * b - 1.0)
        return 300.0 * np.cos(z) * np.cos(y), 300.0 * np.cos(z) * np.sin(y), 300.0 * np.sin(z)

    model = laminate(square(place, n, n, "quad8"), (0.0, 90.0), 0.5, 1.0)
    mesh = model.meshes["s"][0]
    corners = [int(mesh.node_sets[c][0]) for c in "abcd"]
    for node in corners:
        model.fix(node, ["x", "y", "z"])
    for edge, along in (("left", 2), ("right", 2), ("bottom", 1), ("top", 1)):
        for node in set(mesh.node_sets[edge].tolist()) - set(corners):
            _slide(model, node, mesh.points[node], along)
    model.modes_step(count=1)
    return model


def _slide(model: Model, node: int, place: np.ndarray, along: int) -> None:
    """Hold the displacements of a node along its edge and along the normal; it may slide across the edge."""
    normal = place / np.linalg.norm(place)
    edge = np.eye(3)[along] - normal[along] * normal
    for name, direction in (("normal", normal), ("edge", edge / np.linalg.norm(edge))):
        order = np.argsort(-np.abs(direction))
        terms = [{"on": f"s:#{node + 1}", "component": "xyz"[i], "coefficient": float(direction[i])} for i in order]
        model.equation(f"{name} {node}", terms)


def reference() -> dict[str, str]:
    """Return the frequency [Hz] and the deflection [in]."""
    return {"dome": ".73215", "plate": ".0683"}


def plate(n: int = 8) -> Model:
    """Return a quarter of the plate; its middle is the node "s:a"."""
    model = laminate(
        square(lambda a, b: (5.0 * a, 5.0 * b, 0.0 * a), n, n, "quad8"), (0.0, 90.0, 90.0, 0.0), 0.025, 0.0
    )
    model.fix("s:left", ["x", "rotation y", "rotation z"])
    model.fix("s:bottom", ["y", "rotation x", "rotation z"])
    model.fix("s:right", ["y", "z", "rotation x"])
    model.fix("s:top", ["x", "z", "rotation y"])
    model.pressure("p", on="s:body", value=1.0)
    model.sensor("u", "displacement", on="s:a")
    model.linear_static_step()
    return model


def check(f: Findings) -> None:
    known = reference()
    meshes = np.array([2, 4, 8])
    found = np.array([abs(solve(plate(int(n))).sensor("u").values[-1, 2]) for n in meshes])
    f.digits(
        "S-CROSS-PLY", "deflection of a plate [in]", found[-1], known["plate"],
        in_ansys_manual("Reddy (1984), plate under pressure", "VM82"), error=5e-3, why="another shear correction",
    )  # fmt: skip
    curves = [Curve(1.0 / meshes, found, "fem-mbs", "o-"), published("Reddy (1984)", 0.0, known["plate"])]
    f.figure("Deflection of the plate", curves, "1/elements per side", "Deflection [in]")
    f.digits(
        "S-DOME", "first frequency of a spherical shell [Hz]",
        solve(build()).steps[-1].summary["frequencies_hz"][0], known["dome"],
        in_ansys_manual("Reddy (1984), spherical shell", "VM60"), error=(100.0 / 300.0) ** 2 / 24.0,
        why="shallow shells in the paper: (a/R)^2/24, by which arcs are longer than their chords",
    )  # fmt: skip
