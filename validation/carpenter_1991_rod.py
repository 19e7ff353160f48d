r"""An elastic rod strikes a rigid wall: contact until the wave comes back.

        -> 202.2 in/s
      [==========================]  | wall        L = 10 in, A = 1 in^2, E = 3e7 psi, 7.3e-4 lb s^2/in^4
                                gap .01 in

The rod is in contact from g/v to g/v + 2 L/c, c = sqrt(E/rho), under the force A v sqrt(E rho), and flies back at its
speed.  Its end stands still meanwhile.

Source: N.J. Carpenter, R.L. Taylor, M.G. Katona, "Lagrange constraints for transient finite element surface contact",
Int. J. Num. Meth. Engng. 32 (1991) 103-128, doi:10.1002/nme.1620320107.  The times, the place and the speeds were read
in the verification manual of ANSYS Mechanical APDL (problem VM265), which prints them after this paper.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error, published
from fem_mbs.validation.kinds import CLOSED_FORM, in_ansys_manual

CAPABILITY = "contact"
CASES = {"B-ROD-WALL": "a rod strikes a wall: times, force, speed of rebound, energy"}

LENGTH, AREA, E, DENSITY, SPEED, GAP = 10.0, 1.0, 3e7, 7.3e-4, 202.2, 0.01
WAVE, MASS = float(np.sqrt(E / DENSITY)), DENSITY * AREA * LENGTH


def build(n: int = 100) -> Model:
    """Return the rod of n trusses [lb, in, s] in steps that a wave takes for half an element."""
    model = Model(2, "rod and wall")
    model.section("rod", "stiffness", EA=E * AREA, rhoA=DENSITY * AREA)
    model.line("line", (-LENGTH - GAP, 0.0), (-GAP, 0.0), n)
    model.trusses("rod", "line", "rod")
    model.fix("line:all", ["y"])
    model.initial("line:all", velocity=(SPEED, 0.0))
    # ten times as stiff as an element: the end gives by a twentieth of what the first element does
    stiffness = 10.0 * E * AREA * n / LENGTH
    model.contact("wall", "ground", "line:end", point=(0.0, 0.0), axis=(-1.0, 0.0), stiffness=stiffness, exponent=1.0)
    model.sensor("end", "displacement", on="line:end")
    model.sensor("force", "contact", on="wall")
    h = 0.5 * LENGTH / (n * WAVE)
    model.transient_step(h * round(2e-4 / h), h, frames=0)
    return model


def reference() -> dict[str, str]:
    """Return times [s], place [in] and speeds [in/s], as printed."""
    return {"impact": ".494e-4", "release": ".148e-3", "place": "0.01", "rebound": "-202.2"}


def _inner(time: np.ndarray) -> np.ndarray:
    """Return which times (k,) lie in the middle three quarters of the contact."""
    return (time > GAP / SPEED + 0.25 * LENGTH / WAVE) & (time < GAP / SPEED + 1.75 * LENGTH / WAVE)


def check(f: Findings) -> None:
    case, known = "B-ROD-WALL", reference()
    where = in_ansys_manual("Carpenter, Taylor and Katona (1991)", "VM265")
    n = 100
    step = solve(build(n)).steps[0]
    time, u = step.time, step.series["sensor/end"][:, 0]
    force = np.nan_to_num(step.series["sensor/force"].ravel())
    touching = np.flatnonzero(force > 0.0)
    h = time[1] - time[0]
    off = n ** (1.0 / 3.0) * LENGTH / (n * WAVE)
    for name, at, exact, left, why in (
        ("impact", time[touching[0]], GAP / SPEED, h, "a step"),
        ("release", time[touching[-1]], GAP / SPEED + 2.0 * LENGTH / WAVE, h + off,
         "a step, and the wave's front, n^(1/3) elements wide"),
    ):  # fmt: skip
        f.digits(case, f"time of {name}, {n} elements [s]", at, known[name], where, error=left / exact, why=why)
        f.row(case, f"time of {name}, {n} elements [s]", at, exact, why, CLOSED_FORM, tolerance=left)
    middle = _inner(time)
    f.digits(case, "place of the end in contact, mean [in]", u[middle].mean(), known["place"], where)
    runs = {m: solve(build(m)).steps[0] for m in (25, n, 400)}
    rebound = {m: float(run.series["linear momentum"][-1, 0]) / MASS for m, run in runs.items()}
    f.digits(
        case, f"mean speed of the rod after its release, {n} elements [in/s]", rebound[n], known["rebound"], where,
        error=0.5 * n ** (-2.0 / 3.0),
        why="a wave's front in a row of n masses is n^(1/3) of them wide; n^(-2/3) of its energy stays in waves",
    )  # fmt: skip
    lost = {m: 1.0 + v / SPEED for m, v in rebound.items()}
    f.between(case, "power of the number of elements that the lost speed falls by, 25 to 400 elements",
              np.log(lost[25] / lost[400]) / np.log(16.0), 0.5, 0.9, "The theory of the front says 2/3.")  # fmt: skip
    exact = AREA * SPEED * np.sqrt(E * DENSITY)
    means = {m: float(np.nan_to_num(run.series["sensor/force"].ravel())[_inner(run.time)].mean())
             for m, run in runs.items()}  # fmt: skip
    f.row(case, "mean force of the wall between the ends of contact, 400 elements [lb]", means[400], exact,
          "The change from 100 elements; the force swings about that of the wave.", CLOSED_FORM,
          tolerance=abs(means[400] - means[n]))  # fmt: skip
    f.zero(case, "change of the energy", energy_error(step, constant=True), CONSERVED, "The rule conserves it exactly.")
    wave = np.where((time > GAP / SPEED) & (time < GAP / SPEED + 2.0 * LENGTH / WAVE), exact, 0.0)
    f.figure(
        "Force of the wall", [Curve(1e3 * time, force, "fem-mbs"), Curve(1e3 * time, wave, "wave", ":")], "Time [ms]",
        "Force [lb]", f"{n} elements.",
    )  # fmt: skip
    times = 1e3 * np.array([float(known["impact"]), float(known["release"])])
    f.figure(
        "Place of the end of the rod",
        [Curve(1e3 * time, u, "fem-mbs"), published("Carpenter et al. (1991)", times, [known["place"]] * 2)],
        "Time [ms]", "Displacement [in]",
    )  # fmt: skip
