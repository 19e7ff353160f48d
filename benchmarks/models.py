"""The machines that are timed, built as a user builds them."""

from __future__ import annotations

import numpy as np

from fem_mbs import Mesh, Model
from fem_mbs.meshes.mesh import CellBlock

SPIN_RATE, SPIN_TIME, SPIN_LENGTH = 6.0, 15.0, 10.0
SPIN_EXACT = -0.5738  # smallest tip deflection [m] of the converged solution
CRANK, ROD, SPEED = 0.1524, 0.3048, 124.8
CRANK_EXACT = 0.00986  # largest deflection of the middle of the rod over its length
TRUSS_STIFFNESS, TRUSS_MASS, GRAVITY = 1e6, 1.0, 9.81


def spin_up(n: int, duration: float = 20.0, h: float = 0.005) -> Model:
    """Beam on a shaft that is brought to 6 rad/s in 15 s (Simo & Vu-Quoc 1986): n elements, the tip recorded."""
    model = Model(2, "spin-up")
    model.section("beam", "stiffness", EA=2.8e7, EI=14000.0, GA=1e7, rhoA=1.2, rhoI=6e-4)
    model.line("beam", (0.0, 0.0), (SPIN_LENGTH, 0.0), n)
    model.beams("beam", "beam", "beam")
    model.fix("beam:start", ["x", "y"])
    model.motion("shaft", "beam:start", "rotation", {"kind": "spin_up", "rate": SPIN_RATE, "duration": SPIN_TIME})
    model.sensor("tip", "position", on="beam:end")
    model.transient_step(duration, h, frames=0)
    return model


def spin_up_deflection(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Tip displacement across the turning axis (n,) [m] from times (n,) and tip positions (n, 2)."""
    w = 2.0 * np.pi / SPIN_TIME
    running = SPIN_RATE / SPIN_TIME * (0.5 * t * t + (np.cos(w * t) - 1.0) / w**2)
    psi = np.where(t <= SPIN_TIME, running, SPIN_RATE * (t - 0.5 * SPIN_TIME))
    return -np.sin(psi) * x[:, 0] + np.cos(psi) * x[:, 1]


def chain(n: int, duration: float = 4.0, h: float = 0.01) -> Model:
    """Chain of n trusses, 100 m long, pinned at one end, falling from the horizontal; lumped masses."""
    model = Model(2, "chain", gravity=(0.0, -GRAVITY))
    model.section("chain", "stiffness", EA=TRUSS_STIFFNESS, rhoA=TRUSS_MASS)
    model.line("chain", (0.0, 0.0), (100.0, 0.0), n)
    model.trusses("chain", "chain", "chain")
    model.fix("chain:start")
    model.sensor("tip", "position", on="chain:end")
    model.transient_step(duration, h, frames=0)
    return model


def slider_crank(n: int, steps: int = 1282, h: float = 5e-5, tolerance: float = 0.0) -> Model:
    """Slider-crank with an elastic rod of n beams (Chu & Pan 1975) over 8 rad of the crank, iterated to the energy
    tolerance."""
    model = Model(2, "slider-crank")
    model.material("steel", E=2.06843e11, nu=0.3, density=7834.56)
    model.section("round", "circle", diameter=0.00635)
    x = CRANK + ROD * np.arange(n + 1) / n
    sets = {"start": [0], "middle": [n // 2], "end": [n]}
    model.mesh("rod", Mesh(np.column_stack((x, 0.0 * x)), [CellBlock("line2", _pairs(np.arange(n + 1)))], sets))
    model.beams("rod", "rod", "round", "steel")
    model.body("crank", position=(0.0, 0.0), mass=0.1, inertia=1e-3)
    model.joint("axle", "pin", "crank", point=(0.0, 0.0))
    model.motion("drive", "crank", "rotation", f"{SPEED}*t")
    model.joint("crank pin", "pin", "crank", "rod:start")
    model.joint("slider", "slider", "rod:end", axis=(1.0, 0.0))
    model.sensor("deflection", "deflection", on="rod:middle", a="rod:start", b="rod:end", relative=True)
    model.transient_step(steps * h, h, frames=0, energy_tolerance=tolerance)
    return model


def elbow(n: int, duration: float = 30.0, h: float = 0.02) -> Model:
    """Right-angle cantilever (Simo & Vu-Quoc 1988), n beams per leg, a triangle of force at the elbow."""
    model = Model(3, "elbow")
    model.section("beam", "stiffness", EA=1e6, GA=1e6, GJ=1e3, EI=1e3, rhoA=1.0, rhoI=10.0)
    model.polyline("elbow", [(0.0, 0.0, 0.0), (10.0, 0.0, 0.0), (10.0, 10.0, 0.0)], n)
    model.beams("elbow", "elbow", "beam", orientation=(0.0, 0.0, 1.0))
    model.fix("elbow:start")
    pulse = {"kind": "table", "times": [0.0, 1.0, 2.0, 1e3], "values": [0.0, 50.0, 0.0, 0.0]}
    model.force("pulse", "elbow:corner_2", (0.0, 0.0, 1.0), function=pulse)
    model.sensor("tip", "displacement", on="elbow:end")
    model.transient_step(duration, h, frames=0)
    return model


def long_beam(n: int, steps: int, h: float = 0.01) -> Model:
    """Beam chain of n elements, 0.1 m each, pinned at one end, falling from the horizontal."""
    model = Model(2, "long beam", gravity=(0.0, -GRAVITY))
    model.section("beam", "stiffness", EA=1e6, EI=10.0, GA=1e6, rhoA=1.0, rhoI=1e-4)
    model.line("beam", (0.0, 0.0), (0.1 * n, 0.0), n)
    model.beams("beam", "beam", "beam")
    model.fix("beam:start", ["x", "y"])
    model.sensor("tip", "position", on="beam:end")
    model.transient_step(steps * h, h, frames=0)
    return model


def links(n: int, closed: bool, dimension: int, steps: int = 100, h: float = 0.01) -> Model:
    """Chain of n rigid rods of 1 m and 1 kg: open, let go from the horizontal; closed, as a V between two points
    (n - 1)/3 apart.  Pins in the plane, spherical joints in space, with some gravity across."""
    s = np.arange(n + 1.0)
    cosine = (n - 1) / (3.0 * n) if closed else 1.0
    down = -np.sqrt(1.0 - cosine**2) * np.minimum(s, n - s)
    points = np.column_stack((cosine * s, down, 0.0 * s))[:, :dimension]
    model = Model(dimension, "links", gravity=(0.0, -GRAVITY, 3.0)[:dimension])
    space = dimension == 3
    for i in range(n):
        d = points[i + 1] - points[i]
        angle = float(np.arctan2(d[1], d[0]))
        inertia = (1e-3, 1.0 / 12.0, 1.0 / 12.0) if space else 1.0 / 12.0
        middle = 0.5 * (points[i] + points[i + 1])
        turn = {"rotation": (0.0, 0.0, angle)} if space else {"angle": angle}
        model.body(f"rod {i}", middle, 1.0, inertia, **turn)
    for i in range(n + closed):
        a, b = "ground" if i == 0 else f"rod {i - 1}", "ground" if i == n else f"rod {i}"
        model.joint(f"joint {i}", "spherical" if space else "pin", a, b, point=points[i])
    tip = n // 2 if closed else n
    model.sensor("tip", "position", on=f"rod {tip - 1}", point=points[tip])
    model.transient_step(steps * h, h, frames=0)
    return model


def lattice(n: int) -> Model:
    """Square lattice of n x n cells of trusses with one diagonal each, held at the bottom: too wide for a band."""
    node = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)  # row by row, bottom first
    x, y = np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0))
    across, up, diagonal = (
        np.column_stack((a.ravel(), b.ravel()))
        for a, b in ((node[1:, :-1], node[1:, 1:]), (node[:-1], node[1:]), (node[:-1, :-1], node[1:, 1:]))
    )
    cells = np.concatenate((across, up, diagonal))
    model = Model(2, "lattice", gravity=(0.0, -GRAVITY))
    model.section("bar", "stiffness", EA=TRUSS_STIFFNESS, rhoA=TRUSS_MASS)
    points = np.column_stack((x.ravel(), y.ravel()))
    model.mesh("lattice", Mesh(points, [CellBlock("line2", cells)], {"bottom": node[0]}))
    model.trusses("bars", "lattice", "bar")
    model.fix("lattice:bottom")
    model.transient_step(0.01, 0.01, frames=0)
    return model


def _pairs(nodes: np.ndarray) -> np.ndarray:
    return np.column_stack((nodes[:-1], nodes[1:]))
