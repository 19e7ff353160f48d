r"""Square frame that is pulled or pushed at opposite corners, in large deflection.

             ^ P
            / \        four bars of the length L, joined stiffly; EI = L = 1, no stretching
          /     \
         o       o     by symmetry every corner keeps its direction, and the middle of a bar is free of moment:
          \     /      half a bar is a cantilever of L/2 under the force P/2 at 45 degrees to it
            \ /
             v P

Along half a bar, from the corner to its middle, with the angle t to the line of force and k^2 = P/2 (L/2)^2/EI,
t'' = k^2 sin t when it is pulled, -k^2 sin t when it is pushed, t(0) = 45 degrees, t'(1) = 0.  Elliptic integrals give
length and place.

Source: J.A. Jenkins, T.B. Seitz, J.S. Przemieniecki, "Large deflections of diamond-shaped frames", Int. J. Solids
Structures 2 (1966) 591-603, doi:10.1016/0020-7683(66)90041-2; K. Mattiasson, "Numerical results from large deflection
beam and frame problems analysed by means of elliptic integrals", Int. J. Num. Meth. Engng. 17 (1981) 145-153,
doi:10.1002/nme.1620170113.  Their tables were not at hand; the elliptic integrals are evaluated in this file.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import ellipeinc, ellipkinc

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "beams"
CASES = {"B-DIAMOND": "corners of a square frame that is pulled and pushed over a diagonal"}

LOADS = (1.0, 2.0, 4.0, 8.0, 12.0)  # P L^2/EI
CORNER = 0.25 * np.pi
MESHES = (4, 8, 16)


def build(n: int = 8, pull: float = LOADS[-1]) -> Model:
    """Return the frame with n elements per bar; a negative load pushes."""
    model = Model(2, "diamond frame")
    model.section("bar", "stiffness", EA=1e8, EI=1.0, GA=np.inf, rhoA=0.0)
    d = np.sqrt(0.5)
    model.polyline("frame", [(0.0, -d), (d, 0.0), (0.0, d), (-d, 0.0), (0.0, -d)], n)
    model.beams("frame", "frame", "bar")
    for end in ("start", "end"):  # the lower corner neither moves nor turns
        model.fix(f"frame:{end}")
    model.force("P", "frame:corner_3", (0.0, pull))
    for name, corner in (("top", 3), ("side", 2)):
        model.sensor(name, "displacement", on=f"frame:corner_{corner}")
    model.static_step(increments=24)
    return model


def half_bar(load: float, pull: bool) -> tuple[float, float]:
    """Return how far the middle of a bar of length 1 is from its corner, along and across the line of force.

    The first integral t'^2/2 = k^2 (cos c - cos t) of the pulled bar, c its angle in the middle, is brought to the form
    of the pushed one by counting the angles from the opposite direction, u = pi - t.
    """
    k = np.sqrt(0.5 * load) * 0.5
    start = np.pi - CORNER if pull else CORNER

    def integrals(end: float) -> tuple[float, float, float]:
        # u falls (pushed: t grows) from the start to the end, where the moment is zero; m = sin^2(end/2)
        m = np.sin(0.5 * end) ** 2
        phi = np.arcsin(min(np.sin(0.5 * start) / np.sqrt(m), 1.0))
        first = ellipkinc(0.5 * np.pi, m) - ellipkinc(phi, m)
        second = ellipeinc(0.5 * np.pi, m) - ellipeinc(phi, m)
        return first / k, (2.0 * second - first) / k, 2.0 * np.sqrt(m) * np.cos(phi) / k

    end = brentq(lambda e: integrals(e)[0] - 1.0, start + 1e-12, np.pi - 1e-12, xtol=1e-14)
    _, along, across = integrals(end)
    return 0.5 * (-along if pull else along), 0.5 * across


def reference() -> dict[float, tuple[float, float]]:
    """Return displacements of the top upwards and of the side outwards by the load, positive where it pulls."""
    found = {}
    for load in LOADS:
        for pull in (True, False):
            along, across = half_bar(load, pull)
            found[load if pull else -load] = (4.0 * along - np.sqrt(2.0), 2.0 * across - np.sqrt(0.5))
    return found


def check(f: Findings) -> None:
    case, known = "B-DIAMOND", reference()
    curves: list[Curve] = []
    for sign, way in ((1.0, "pulled"), (-1.0, "pushed")):
        found = []
        for n in MESHES:
            solution = solve(build(n, sign * LOADS[-1]))
            step = solution.steps[0]
            top, side = solution.sensor("top").values[:, 1], solution.sensor("side").values[:, 0]
            share = step.series["load factor"].ravel()
            rows = [int(np.argmin(np.abs(share - load / LOADS[-1]))) for load in LOADS]
            found.append(np.stack([top[rows], side[rows]], axis=1))
        for k, load in enumerate(LOADS):
            for i, (name, exact) in enumerate(zip(("top", "side"), known[sign * load], strict=True)):
                f.converged(
                    case, f"displacement of the {name}, {way} by P L^2/EI = {load:g}, h -> 0",
                    [values[k, i] for values in found], exact, CLOSED_FORM,
                    error=float(f"{load / 1e8 / abs(exact):.2g}"), why="bars stretch by P/EA",
                )  # fmt: skip
        loads = LOADS[-1] * share
        curves += [Curve(loads, sign * top, f"top, {way}"), Curve(loads, -sign * side, f"side, {way}", "--")]
        points = np.array([known[sign * load] for load in LOADS])
        curves += [Curve(np.array(LOADS), sign * points[:, 0], f"elliptic integrals, top, {way}", "o"),
                   Curve(np.array(LOADS), -sign * points[:, 1], f"elliptic integrals, side, {way}", "o")]  # fmt: skip
    f.figure("Corners of a diamond frame", curves, "P L^2/EI [-]", "Displacement over L [-]")
