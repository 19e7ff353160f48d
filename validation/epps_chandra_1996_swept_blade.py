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
from fem_mbs.validation.kinds import printed

CAPABILITY = "modes"
CASES = {"B-SWEPT": "measured frequencies of flapping of a rotating strip with a swept tip"}

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


def flapping(sweep: float, rpm: float) -> np.ndarray:
    """Return the frequencies [Hz] of modes that move across the plane of rotation."""
    step = solve(build(sweep, rpm)).steps[-1]
    p = np.array(step.summary["eigenvalues"])
    shapes = np.abs(np.asarray(step.frames["displacement"]) + 1j * np.asarray(step.frames["displacement imaginary"]))
    across = (shapes[:, :, 2] ** 2).sum(axis=1) > (shapes[:, :, :2] ** 2).sum(axis=(1, 2))
    return np.sort(p[across & (p[:, 1] > 0.1), 1]) / (2.0 * np.pi)


def check(f: Findings) -> None:
    found = {(sweep, rpm): flapping(sweep, rpm) for sweep in SWEEPS for rpm in SPEEDS}
    where = printed("Epps and Chandra (1996), measured, in the example of GXBeam.jl")
    for mode, rows in reference().items():
        for sweep, row in zip(SWEEPS, rows, strict=True):
            for rpm, measured in zip(SPEEDS, row, strict=True):
                f.row(
                    "B-SWEPT", f"frequency {mode} of flapping, swept by {sweep:g} degrees, {rpm:g} rpm [Hz]",
                    found[sweep, rpm][mode - 1], measured,
                    "A tenth and .5 Hz: measured on a rig, whose frequencies at rest are up to a tenth off the beam's.",
                    where, tolerance=0.1 * measured + 0.5,
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
