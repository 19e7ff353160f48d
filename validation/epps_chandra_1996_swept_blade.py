"""A rotating strip of aluminium whose tip is swept: measured frequencies.

A flat strip stands out from a hub and turns; its last 6 in are swept back in the plane of rotation by up to 45 degrees,
which couples flapping with twist.  The strip is flat in the plane of rotation, so that flapping bends its thin side.

      axis  |2.5 in|=========================\\        31.5 in straight, 6 in swept
       |    clamp                             \\\\       1 in wide, .063 in thick
       |                                       \\       E = 10.6e6 psi, nu = .325, 2.51e-4 lb s2/in4

Source: J. Epps, R. Chandra, "The natural frequencies of rotating composite beams with tip sweep", J. American
Helicopter Society 41 (1996), 29-36; D.H. Hodges, X. Shang, C.E.S. Cesnik, "Finite element solution of nonlinear
intrinsic equations for curved composite beams", J. American Helicopter Society 41 (1996), 313-321 (the data).  The
measured frequencies and the data were read in the example "Rotating beam with a swept tip" of GXBeam.jl, which prints
them.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import CLOSED_FORM, printed

CAPABILITY = "modes"
CASES = {"B-SWEPT": "measured frequencies of flapping of a rotating strip with a swept tip"}

DEVIATIONS = (
    "Epps and Chandra (1996): the measured frequencies of flapping of the straight strip at rest are -6, 11 and 6 % "
    "off those of the beam of the data, the first ones at rest scatter by .4 Hz: 1.4 to 1.8 Hz, where sweeping changes "
    ".03 Hz.",
)

E, NU, DENSITY = 10.6e6, 0.325, 2.51e-4
WIDTH, THICKNESS = 1.0, 0.063
AREA, FLAP, LAG = WIDTH * THICKNESS, WIDTH * THICKNESS**3 / 12.0, THICKNESS * WIDTH**3 / 12.0
HUB, STRAIGHT, TIP = 2.5, 31.5, 6.0
RPM = np.pi / 30.0
SWEEPS, SPEEDS = (0.0, 15.0, 30.0, 45.0), (0.0, 500.0, 750.0)


def build(sweep: float = 45.0, rpm: float = 750.0, n: int = 16) -> Model:
    """Return the strip [lb, in, s], swept back by an angle [degrees], seen from the turning frame, with its modes."""
    model = Model(3, "rotating strip with a swept tip")
    shear = E / (2.0 * (1.0 + NU))
    model.section(
        "strip", "stiffness", EA=E * AREA, EIy=E * FLAP, EIz=E * LAG, GJ=shear * WIDTH * THICKNESS**3 / 3.0,
        GA=shear * AREA / 1.2, rhoA=DENSITY * AREA, rhoIy=DENSITY * FLAP, rhoIz=DENSITY * LAG,
    )  # fmt: skip
    root, bend = (HUB, 0.0, 0.0), (HUB + STRAIGHT, 0.0, 0.0)
    turn = np.radians(sweep)
    end = (bend[0] + TIP * np.cos(turn), -TIP * np.sin(turn), 0.0)
    model.line("straight", root, bend, n)
    model.line("swept", bend, end, n // 2)
    for part in ("straight", "swept"):
        model.beams(part, part, "strip", orientation=(0.0, 1.0, 0.0))
    model.joint("knee", "weld", "straight:end", "swept:start", point=bend)
    model.fix("straight:start")
    if rpm:
        model.centrifugal("rotation", rpm * RPM, axis=(0.0, 0.0, 1.0))
        model.static_step()
    model.complex_modes_step(count=6, coriolis=rpm > 0.0)
    return model


def reference() -> dict[int, tuple[tuple[float, ...], ...]]:
    """Return the measured frequencies [Hz] of flapping, by its number: rows by the sweep, columns by the speed."""
    return {
        1: ((1.4, 10.2, 14.8), (1.8, 10.1, 14.4), (1.7, 10.2, 14.9), (1.6, 10.2, 14.7)),
        2: ((10.3, 25.2, 36.1), (10.2, 25.2, 34.8), (10.4, 23.7, 30.7), (10.4, 21.6, 26.1)),
        3: ((27.7, 47.0, 62.9), (27.2, 44.4, 55.9), (26.6, 39.3, 48.6), (24.8, 35.1, 44.8)),
    }


def flapping(sweep: float, rpm: float, n: int = 16) -> np.ndarray:
    """Return the frequencies [Hz] of modes that move across the plane of rotation."""
    step = solve(build(sweep, rpm, n)).steps[-1]
    p = np.array(step.summary["eigenvalues"])
    shapes = np.abs(np.asarray(step.frames["displacement"]) + 1j * np.asarray(step.frames["displacement imaginary"]))
    across = (shapes[:, :, 2] ** 2).sum(axis=1) > (shapes[:, :, :2] ** 2).sum(axis=(1, 2))
    return np.sort(p[across & (p[:, 1] > 0.1), 1]) / (2.0 * np.pi)


def at_rest() -> np.ndarray:
    """Return the frequencies [Hz] of flapping of the strip at rest, not swept: a cantilever of Euler and Bernoulli."""
    roots = np.array((1.87510407, 4.69409113, 7.85475744))
    return (roots / (STRAIGHT + TIP)) ** 2 * np.sqrt(E * FLAP / (DENSITY * AREA)) / (2.0 * np.pi)


def scatter() -> tuple[float, float]:
    """Return how far the rig's frequencies are off a beam's: relative, and absolute [Hz].

    The relative one is the largest deviation of the unswept strip at rest from the closed form.  The absolute one is
    half the range of the first frequencies of all strips at rest: sweep hardly changes these, so they show the scatter.
    """
    rows = reference()
    measured = np.array([rows[mode][0][0] for mode in (1, 2, 3)])
    first = [row[0] for row in rows[1]]
    return float(np.abs(measured / at_rest() - 1.0).max()), 0.5 * (max(first) - min(first))


def check(f: Findings) -> None:
    found = {(sweep, rpm): flapping(sweep, rpm) for sweep in SWEEPS for rpm in SPEEDS}
    where = printed("Epps and Chandra (1996), measured, in the example of GXBeam.jl")
    for mode, exact in enumerate(at_rest()):
        # n and 2 n elements of the straight part
        values = [flapping(0.0, 0.0, n)[mode] for n in (8, 16, 32)]
        slender = ((mode + 1) * np.pi * THICKNESS / (STRAIGHT + TIP)) ** 2 / 3.0
        f.converged(
            "B-SWEPT", f"frequency {mode + 1} of flapping, straight, at rest [Hz], n -> infinity", values,
            float(exact), CLOSED_FORM, error=slender, why="shear and rotary inertia, (k pi t/L)^2/3",
        )  # fmt: skip
    relative, absolute = scatter()
    for mode, rows in reference().items():
        for sweep, row in zip(SWEEPS, rows, strict=True):
            for rpm, measured in zip(SPEEDS, row, strict=True):
                if rpm or sweep:  # the rest tells the scatter
                    f.row(
                        "B-SWEPT", f"frequency {mode} of flapping, swept by {sweep:g} degrees, {rpm:g} rpm [Hz]",
                        found[sweep, rpm][mode - 1], measured,
                        f"{relative:.3f} of it, as the rig's frequencies at rest are off a beam's, and {absolute:g} "
                        "Hz, half the range of its first ones at rest.",
                        where, tolerance=relative * measured + absolute,
                    )  # fmt: skip
    for rpm in SPEEDS[1:]:
        # sweeping the tip hardly changes the first mode and lowers the third one, more so at speed
        first, third = (found[45.0, rpm][k] / found[0.0, rpm][k] for k in (0, 2))
        f.between("B-SWEPT", f"third frequency at 45 degrees over that at 0, {rpm:g} rpm", third, 0.6, 0.85,
                  "Measured: .75 and .71.")  # fmt: skip
        f.between("B-SWEPT", f"first frequency at 45 degrees over that at 0, {rpm:g} rpm", first, 0.97, 1.03,
                  "Measured: 1.00 and .99.")  # fmt: skip
    sweeps = np.array(SWEEPS)
    curves: list[Curve] = []
    for mode, rows in reference().items():
        for k, rpm in enumerate(SPEEDS):
            curves += [
                Curve(sweeps, np.array([found[s, rpm][mode - 1] for s in SWEEPS]), f"mode {mode}, {rpm:g} rpm"),
                published("" if curves else "Epps, Chandra (1996)", sweeps, np.array(rows)[:, k]),
            ]
    f.figure("Frequencies of flapping against the sweep of the tip", curves, "Sweep [degrees]", "Frequency [Hz]")
