r"""A beam that is lifted against another one across it.

              post, 10 long, clamped at both ends, at z = 1
                     /                                     tubes of radii .06 and .12793, E = 1e8, nu = 0
       ____________ / _____________________| clamp,        as ball and tube both have the radius .2
       free end    / x = 4            x = 14  is moved by .18 along x and 1.8 up
                  /

The tubes touch when the clamp has gone up by .6.  The stiffness of the contact is 1e4.  The reference is the exact
beam, from the clamp to the contact, and another one for half of the post, with the conditions of nearest points:

    gap . tangent = 0,   N = 1e4 (.4 - |gap|),   the beam beyond the contact is straight and without load.

Source: G. Zavarise, P. Wriggers, "Contact with friction between beams in 3-D space", Int. J. Num. Meth. Engng. 49
(2000) 977-1006, doi:10.1002/1097-0207(20001120)49:8<977::AID-NME986>3.0.CO;2-C, whose normal forces the
verification manual of ANSYS Mechanical APDL prints (problem VM266).  Friction of .1 drags the beam there, and lowers
the normal force.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import root

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.exact_beam import ExactBeam, cantilever, quaternion_of
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT

CAPABILITY = "contact"
CASES = {"B-LIFTED-BEAM": "normal force between a beam that is lifted and one across it"}
DEVIATIONS = (
    "Zavarise and Wriggers (2000), as VM266 prints them: normal forces of 17.0, 33.8, 50.4 and 67.0; exact beams have "
    "17.21, 34.12, 50.62 and 66.58, and with the friction 17.20, 34.07, 50.50 and 66.38.  The printed ones grow in "
    "equal steps, as of small rotations.",
)

OUTER, INNER, E, STIFFNESS, RADIUS = 0.12793, 0.06, 1e8, 1e4, 0.2
HEIGHTS, INCREMENTS = (0.9, 1.2, 1.5, 1.8), 12
#: Elements of the beam and of the post.  The post has an odd number: the contact is in the middle of an element, where
#: its error is one of second order; a kink at a node there leaves one that does not fall.
MESHES = ((7, 5), (21, 15), (63, 45))
#: The force acts within an element of the beam, where the nodes of both sides take it: an element of the length h
#: misses N h^3/(48 E I) at most, relative to the deflection N l^3/(3 E I) of the beam (h/l)^3/16.  The limit has 9/8 of
#: the finest mesh and 1/8 of the one before.
LOCAL = sum(share * (14.0 / n / 10.0) ** 3 / 16.0 for share, (n, _) in zip((0.125, 1.125), MESHES[1:], strict=True))


def build(parts: tuple[int, int] = MESHES[1]) -> Model:
    """Return the beams, of so many elements, without friction: statics has none."""
    model = Model(3, "crossing beams")
    model.material("m", E=E, nu=0.0, density=1.0)
    model.section("tube", "tube", outer_diameter=2.0 * OUTER, inner_diameter=2.0 * INNER)
    for name, (a, b), n in (("lifted", ((0.0, 0.0, 0.0), (14.0, 0.0, 0.0)), parts[0]),
                            ("post", ((4.0, -5.0, 1.0), (4.0, 5.0, 1.0)), parts[1])):  # fmt: skip
        model.line(f"{name} line", a, b, n)
        model.beams(name, f"{name} line", "tube", "m")
    model.fix("post line:start")
    model.fix("post line:end")
    model.fix("lifted line:end", ["y", "rotation x", "rotation y", "rotation z"])
    model.motion("along", "lifted line:end", "x", "0.18*t")
    model.motion("up", "lifted line:end", "z", "1.8*t")
    model.contact("cross", "lifted", "post", surface="beams", radius=RADIUS, along=True, ball=RADIUS,
                  stiffness=STIFFNESS, exponent=1.0)  # fmt: skip
    model.sensor("N", "contact", on="cross")
    model.static_step(increments=INCREMENTS, duration=1.0)
    return model


def flexibility() -> np.ndarray:
    """Return the flexibility (6, 6) of the tube, with Cowper's coefficient for nu = 0."""
    area, inertia, ratio = np.pi * (OUTER**2 - INNER**2), 0.25 * np.pi * (OUTER**4 - INNER**4), (INNER / OUTER) ** 2
    k = 6.0 * (1.0 + ratio) ** 2 / (7.0 * (1.0 + ratio) ** 2 + 20.0 * ratio)
    shear = 0.5 * E * k * area
    return np.diag(1.0 / np.array([E * area, shear, shear, E * inertia, E * inertia, E * inertia]))


def post(force: np.ndarray) -> np.ndarray:
    """Return the place (3,) of the middle of the post under a force (3,) there, of one half of it."""
    start = np.array([4.0, -5.0, 1.0])
    q = quaternion_of(np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    turned = np.array([[-q[1], q[0], q[3], -q[2]], [-q[2], -q[3], q[0], q[1]], [-q[3], q[2], -q[1], q[0]]])

    def conditions(y, p, factor):
        middle = y[-1]
        ends = [middle[1:2], middle[7:8] - 0.5 * factor * force[0], middle[9:10] - 0.5 * factor * force[2]]
        return np.concatenate([y[0, :3] - start, y[0, 3:7] - q, *ends, turned @ middle[3:7]])

    return ExactBeam(5.0, flexibility(), conditions, intervals=2).solve(start, q)[-1].place(5.0)


def exact(up: float, friction: float = 0.0) -> float:
    """Return the normal force of exact beams with the clamp ``up``; the friction acts on their lines, along the beam.

    Raises:
        ArithmeticError: no equilibrium is found.
    """
    flexible, clamp, backwards = flexibility(), np.array([14.0 + 0.1 * up, 0.0, up]), np.diag([-1.0, -1.0, 1.0])

    def residual(unknown: np.ndarray) -> list[float]:
        length, N, slope = unknown
        tangent = np.array([-np.cos(slope), 0.0, -np.sin(slope)])
        normal = np.array([-np.sin(slope), 0.0, np.cos(slope)])
        force = -N * normal + friction * N * tangent
        beam = cantilever(length, flexible, force, x=clamp, R=backwards, intervals=4)[-1]
        stretch = np.array([1.0, 0.0, 0.0]) + flexible[:3, :3] @ beam.forces(length)[:3]
        gap = post(-force) - beam.place(length)
        over = 2.0 * RADIUS - float(np.linalg.norm(gap))
        return [gap @ tangent, N / STIFFNESS - over, beam.rotation(length) @ stretch @ normal]

    found = root(residual, (10.1, 57.0 * (up - 0.6), 0.15 * (up - 0.6)), tol=1e-12)
    if not found.success:
        raise ArithmeticError(f"no equilibrium with the clamp {up:g} up: {found.message}")
    return float(found.x[1])


def reference() -> dict[float, str]:
    """Return the normal forces by the displacement of the clamp upwards, as printed."""
    return {0.9: "17.0", 1.2: "33.8", 1.5: "50.4", 1.8: "67.0"}


def check(f: Findings) -> None:
    known = reference()
    up = 1.8 * np.linspace(0.0, 1.0, INCREMENTS + 1)
    forces = [solve(build(parts)).sensor("N").values.ravel() for parts in MESHES]
    for height in HEIGHTS:
        row = int(np.argmin(np.abs(up - height)))
        f.converged("B-LIFTED-BEAM", f"normal force with the clamp {height:g} up, h -> 0",
                    [force[row] for force in forces], exact(height), INDEPENDENT, ratio=3.0, error=LOCAL,
                    why="bending of the element under the force, (h/l)^3/16")  # fmt: skip
    force = forces[-1]
    first = int(np.flatnonzero(np.nan_to_num(force) > 0.0)[0])
    # the force over the height is a parabola nearly: its root, and what the next point changes
    line, parabola = (float(np.polyfit(force[first : first + n], up[first : first + n], n - 1)[-1]) for n in (2, 3))
    f.row("B-LIFTED-BEAM", "height of the clamp as the tubes touch", parabola, 0.6,
          "The gap is 1 less two radii; the parabola through three forces instead of the line through two changes the "
          "height by the tolerance.", CLOSED_FORM, tolerance=abs(parabola - line))  # fmt: skip
    ends = np.array(HEIGHTS)[[0, -1]]
    f.figure(
        "Normal force between two beams",
        [Curve(up, np.nan_to_num(force), "fem-mbs"),
         Curve(ends, np.array([exact(height, 0.1) for height in ends]), "exact beams with friction", ":"),
         published("Zavarise and Wriggers (2000)", list(known), list(known.values()))],
        "Height of the clamp", "Force",
    )  # fmt: skip
