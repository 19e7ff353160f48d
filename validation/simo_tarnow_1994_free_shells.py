"""Shells in free flight.

A short cylinder, open at both ends, is thrown by forces at four of its nodes that grow and fade within a second; then
it flies freely, tumbling and vibrating by a good part of its size.  Energy and both momenta must stay constant at every
step size, of quadrilaterals, straight and curved, and triangles, of layers and of shells beside their nodes.

           ______
         /        \\     radius 7.5, 3 long, h = 0.02, E = 2e8, nu = 0.25, density 1
        |          |    F(t): 0 at 0 s, 20 at 0.5 s, 0 from 1 s on
        |          |
         \\ ______ /

Source: J.C. Simo, N. Tarnow, "A new energy and momentum conserving algorithm for the non-linear dynamics of shells",
Int. J. Num. Meth. Eng. 37 (1994), 2527-2549, doi:10.1002/nme.1620371503: the kind of problem.  The references here are
the balances themselves; sizes and forces are those of this file.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Mesh, Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, constancy, energy_error
from fem_mbs.validation.shell_grids import mesh_of

CAPABILITY = "shells"
CASES = {"S-FREE": "energy and both momenta of a shell that tumbles freely, at every step size"}

RADIUS, LENGTH, AROUND, ALONG = 7.5, 3.0, 16, 2
LOADED, DURATION, LONG = 1.0, 3.0, 30.0
PULSE = {"kind": "table", "times": [0.0, 0.5, 1.0, 1e4], "values": [0.0, 20.0, 0.0, 0.0]}
#: places of the forces (quarters around, end) and their vectors
FORCES = {
    "A": (0, 0, (0.0, -1.0, -1.0)),
    "B": (1, 1, (1.0, 1.0, 1.0)),
    "C": (2, 0, (1.0, 1.0, 1.0)),
    "D": (3, 1, (0.0, -1.0, -1.0)),
}
RUNS = (
    ("quad", "homogeneous", 0.05),
    ("quad", "homogeneous", 0.02),
    ("quad", "layers beside the nodes", 0.05),
    ("triangle", "homogeneous", 0.05),
    ("quad8", "homogeneous", 0.05),
)


def ring(cell: str) -> Mesh:
    """Return the mesh of the closed ring; cells with nodes on their sides are half as many both ways."""
    t, z = np.meshgrid(2.0 * np.pi * np.arange(AROUND) / AROUND, np.linspace(0.0, LENGTH, ALONG + 1))
    points = np.column_stack((RADIUS * np.cos(t).ravel(), RADIUS * np.sin(t).ravel(), z.ravel()))
    n = np.arange(len(points)).reshape(ALONG + 1, AROUND)
    if cell == "quad8":
        a, b, c = n, np.roll(n, -1, axis=1), np.roll(n, -2, axis=1)
        rows = a[:-2], c[:-2], c[2:], a[2:], b[:-2], c[1:-1], b[2:], a[1:-1]
        cells = np.stack([row[::2, ::2] for row in rows], axis=-1).reshape(-1, 8)
        used, cells = np.unique(cells, return_inverse=True)
        return mesh_of(points[used], cell, cells.reshape(-1, 8))
    right = np.roll(n, -1, axis=1)
    quads = np.stack((n[:-1], right[:-1], right[1:], n[1:]), axis=-1).reshape(-1, 4)
    cells = quads if cell == "quad" else np.concatenate((quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]))
    return mesh_of(points, cell, cells)


def build(cell: str = "quad", section: str = "homogeneous", h: float = 0.05, duration: float = DURATION) -> Model:
    """Return the ring with its forces; layers are of two orthotropic materials, 0.02 beside the nodes."""
    model = Model(3, f"free shell, {section}, {cell}")
    model.mesh("s", ring(cell))
    if section == "homogeneous":
        model.material("material", E=2e8, nu=0.25, density=1.0)
        model.shells("shell", on="s", material="material", thickness=0.02)
    else:
        model.material("ply", E=[4e8, 1e8, 1e8], nu=[0.25, 0.25, 0.25], G=[5e7, 5e7, 5e7], density=1.0)
        layers = [{"material": "ply", "thickness": 0.01, "angle": angle} for angle in (0.0, 60.0)]
        model.shells("shell", on="s", layers=layers, offset=0.02, orientation=(0.0, 0.0, 1.0))
    for name, (quarter, end, vector) in FORCES.items():
        t = quarter * np.pi / 2.0
        at = RADIUS * np.cos(t), RADIUS * np.sin(t), end * LENGTH
        model.force(name, int(np.argmin(np.abs(model.positions - at).sum(axis=1))), vector, function=PULSE)
    model.sensor("A", "position", on=0)
    model.transient_step(duration, h, frames=12)
    return model


def reference() -> dict:
    """Return the impulse of all forces: 20/2 of the sum of their vectors."""
    return {"momentum": 10.0 * np.sum([vector for *_, vector in FORCES.values()], axis=0)}


def check(f: Findings) -> None:
    known = reference()
    runs = {}
    for cell, section, h in RUNS:
        duration = LONG if f.long and (cell, section, h) == RUNS[0] else DURATION
        step = solve(build(cell, section, h, duration)).steps[0]
        label = f"{section}, {cell}, h = {h:g} s"
        f.zero(
            "S-FREE", f"change of the energy after the forces, {label}", energy_error(step, LOADED, True), CONSERVED,
            "The rule conserves it exactly; only round-off is left.",
        )  # fmt: skip
        for momentum in ("linear momentum", "angular momentum"):
            f.zero(
                "S-FREE", f"change of the {momentum} after the forces, {label}", constancy(step, momentum, LOADED),
                CONSERVED, "The rule conserves it exactly; only round-off is left.",
            )  # fmt: skip
        f.zero(
            "S-FREE", f"closing error of the ledger, with the forces, {label}", energy_error(step), CONSERVED,
            "The forces' work is booked; only round-off is left.",
        )  # fmt: skip
        off = np.abs(step.series["linear momentum"][-1] - known["momentum"]).max()
        f.zero(
            "S-FREE", f"linear momentum against the impulse, {label}", off / np.abs(known["momentum"]).max(), CONSERVED,
            "The steps meet the corners of the pulse, so that the impulse is exact.",
        )  # fmt: skip
        strain = step.ledger("strain")[step.time > LOADED]
        f.between(
            "S-FREE", f"largest strain energy after the forces over the kinetic one, {label}",
            strain.max() / step.ledger("kinetic").max(), 0.02, 1.0, "The shell must vibrate.",
        )  # fmt: skip
        runs[label] = step
    f.energy_figure(runs, "After the forces.", after=LOADED)
    frames = next(iter(runs.values())).frames
    shapes = np.asarray(frames["displacement"]) + ring(RUNS[0][0]).points
    around = [*range(AROUND), 0]
    curves = [Curve(x[around, 0], x[around, 1], f"{t:.2f} s") for t, x in zip(frames["time"], shapes, strict=True)]
    f.figure("One end of the shell, seen along its axis", curves[::3], "x [m]", "y [m]", equal=True)
