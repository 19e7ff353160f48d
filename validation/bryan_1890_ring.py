"""A ring that turns: Bryan's effect, the splitting of its vibrations in the plane.

A thin free ring of steel turns about its axis with 12 000 rpm.  Seen from a frame that turns with it, each vibration of
i waves runs around the ring either way, with different frequencies.

              ___
            /     \\     R = 87.56 mm, .88 mm thick, 20 mm wide
           |   +   |    E = 210 GPa, 7850 kg/m^3
            \\ ___ /     Omega = 12 000 rpm about +

Source: G.H. Bryan, "On the beats in the vibrations of a revolving cylinder or bell", Proc. Cambridge Phil. Soc. 7
(1890), 101-111; with the tension of the rotation G. Genta, "Dynamics of rotating systems", Springer 2005, p. 535, whose
formula w = sqrt(w0^2 + i^2 (i^2 - 1)^2/(i^2 + 1)^2 Omega^2) +- 2 i Omega/(i^2 + 1) was read in the verification manual
of ANSYS Mechanical APDL (problem VM302).  w0 is that of a ring that does not stretch,
i (i^2 - 1)/sqrt(i^2 + 1) sqrt(EI/rho A)/R^2.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "rotors"
CASES = {"B-RING-SPLIT": "frequencies of a turning ring that run around it either way"}
DEVIATIONS = (
    "VM302 has i^2 + EI/GC in the frequency at rest, which belongs to bending out of the plane; a ring that bends in "
    "its plane has i^2 + 1.",
)

E, DENSITY, RADIUS, THICKNESS, WIDTH = 2.1e11, 7850.0, 0.08756, 0.88e-3, 0.02
SPEED = 12000.0 * np.pi / 30.0
WAVES = (2, 3, 4, 5)


def build(speed: float = SPEED, n: int = 72) -> Model:
    """Return the ring of n elements in the plane, seen from the turning frame, with its complex modes.

    Its mean displacement and its mean turn are held, which vibrations of two and more waves do not have.
    """
    model = Model(2, "turning ring")
    area, inertia = WIDTH * THICKNESS, WIDTH * THICKNESS**3 / 12.0
    model.section("band", "stiffness", EA=E * area, EI=E * inertia, GA=np.inf, rhoA=DENSITY * area, rhoI=0.0)
    turn = 2.0 * np.pi * np.arange(n) / n
    for k, t in enumerate(turn):
        model.node(f"n{k}", (RADIUS * np.cos(t), RADIUS * np.sin(t)))
    for k in range(n):
        model.beams(f"b{k}", [f"n{k}", f"n{(k + 1) % n}"], "band")
    # the equations begin with different terms, which depend on the others
    for name, x, y in (("x", 0.0 * turn + 1.0, 0.0 * turn), ("y", 0.0 * turn, 0.0 * turn + 1.0),
                       ("turn", -np.sin(turn), np.cos(turn))):  # fmt: skip
        terms = [{"on": f"n{k}", "component": c, "coefficient": float(w[k])}
                 for k in range(n) for c, w in (("x", x), ("y", y)) if abs(w[k]) > 1e-12]  # fmt: skip
        model.equation(name, terms[::-1] if name == "turn" else terms)
    if speed:
        model.centrifugal("rotation", speed)
        model.static_step()
    model.complex_modes_step(count=8, coriolis=speed > 0.0)
    return model


def reference(speed: float = SPEED) -> dict[int, tuple[float, float]]:
    """Return the frequencies [rad/s] of the waves that run backwards and forwards, by their number."""
    stiffness = np.sqrt(E * THICKNESS**2 / (12.0 * DENSITY)) / RADIUS**2
    known = {}
    for i in WAVES:
        rest = i * (i * i - 1.0) / np.sqrt(i * i + 1.0) * stiffness
        tension = i * (i * i - 1.0) / (i * i + 1.0) * speed
        middle, split = np.hypot(rest, tension), 2.0 * i * speed / (i * i + 1.0)
        known[i] = (float(abs(middle - split)), float(middle + split))
    return known


def frequencies(speed: float, n: int) -> np.ndarray:
    p = np.array(solve(build(speed, n)).steps[-1].summary["eigenvalues"])
    return np.sort(p[p[:, 1] > 1.0, 1])


def check(f: Findings) -> None:
    speeds = SPEED * np.array((0.0, 0.5, 1.0))
    curves: dict[tuple[int, int], list[float]] = {(i, k): [] for i in WAVES for k in range(2)}
    for speed in speeds:
        meshes = [frequencies(float(speed), n) for n in (18, 36, 72)]
        # frequencies fall with the square of the radius, by which the ring widens, and since it stretches as it bends
        softer = float(f"{2.0 * DENSITY * (RADIUS * speed) ** 2 / E + (THICKNESS / RADIUS) ** 2:.2g}")
        for i, pair in reference(float(speed)).items():
            for k, exact in enumerate(pair):
                values = [found[np.argmin(np.abs(found - exact))] for found in meshes]
                curves[i, k].append(values[-1] / (2.0 * np.pi))
                if speed not in (0.0, SPEED):
                    continue
                f.converged(
                    "B-RING-SPLIT", f"{i} waves, {('backwards', 'forwards')[k]}, {speed * 30.0 / np.pi:g} rpm [rad/s]",
                    values, exact, CLOSED_FORM, error=softer,
                    why="the ring widens, 2 rho (R Omega)^2/E, and stretches as it bends, (h/R)^2",
                )  # fmt: skip
    fine = np.linspace(0.0, SPEED, 40)
    exact_curves = np.array([list(reference(float(s)).values()) for s in fine]) / (2.0 * np.pi)
    f.figure(
        "Frequencies in the turning frame",
        [*(Curve(speeds * 30.0 / np.pi, np.array(v), "fem-mbs" if i == 2 and k == 0 else "", "o")
           for (i, k), v in curves.items()),
         *(Curve(fine * 30.0 / np.pi, exact_curves[:, j, k], f"{i} waves" if k == 0 else "")
           for j, i in enumerate(WAVES) for k in range(2))],
        "Speed [rpm]", "Frequency [Hz]",
    )  # fmt: skip
