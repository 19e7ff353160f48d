"""Vibrations of a compressed bar, a wedge, a plate, a ring and a nonlinear spring: problems of a textbook.

      compressed bar   pinned, 80 in, 2 x 2 in, F = 40 000 lb          wedge  16 in long, 4 in wide at the clamp, 1 in
      plate strip      clamped, 16 in long, 4 in wide, h = 1 in        ring    r = 10 in, .05 x .05 in
      spring           4 x^3 + 2 x on a mass of 2588e-6, released at x = 1 in
      bar              10 000 in, 100 in/s, stopped at one end

Source: S. Timoshenko, D.H. Young, "Vibration problems in engineering", 3rd ed., Van Nostrand 1955.  The numbers were
read in the verification manual of ANSYS Mechanical APDL (problems VM59, 62, 66, 67, 85, 156; pounds, inches, seconds),
which prints them after the pages named.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published, turning_time
from fem_mbs.validation.kinds import INDEPENDENT, Kind, in_ansys_manual

CAPABILITY = "modes"
CASES = {
    "B-COMPRESSED": "frequencies of a bar under a thrust",
    "B-WEDGE-MODES": "frequencies of a wedge and of a thin strip",
    "B-HOOP": "a ring: breathing and in-plane bending",
    "B-HARD-SPRING": "period of a mass on a hardening spring",
    "B-STOPPED": "a moving bar that is stopped at one end",
}
DEVIATIONS = ("Timoshenko and Young (1955), p. 141: a period of .1447 s by approximations; it is .14404 s.",)

E = 30e6


def source(where: str, problem: int) -> Kind:
    return in_ansys_manual(f"Timoshenko and Young, Vibration problems in engineering (1955), {where}", f"VM{problem}")


def reference() -> dict:
    """Return the printed numbers: frequencies [Hz], a period [s], a compression [in] and a stress [psi]."""
    return {
        "compressed": ("17.055", "105.32", "249.39"),
        "wedge": "259.16",
        "strip": "128.09",
        "ring": ("3226.4", "12.496"),
        "period": ".1447",
        "stopped": ("4.9329", "14799"),
    }


def build(n: int = 13) -> Model:
    """Return the compressed bar with its modes."""
    model = Model(2, "compressed bar")
    model.section("beam", "stiffness", EA=4.0 * E, EI=4.0 / 3.0 * E, GA=np.inf, rhoA=4.0 * 727973e-9, rhoI=0.0)
    model.line("beam", (0.0, 0.0), (80.0, 0.0), n)
    model.beams("beam", "beam", "beam")
    model.fix("beam:start", ["x", "y"])
    model.fix("beam:end", ["y"])
    model.force("F", "beam:end", (-40e3, 0.0))
    model.static_step()
    model.modes_step(count=3)
    return model


def clamped(n: int, widths: tuple[float, float]) -> np.ndarray:
    """Return the two lowest frequencies [Hz] of a strip 1 in thick, whose width goes from its end to the clamp."""
    model = Model(3, "wedge")
    model.material("steel", E=E, nu=0.0, density=728e-6)
    for k, width in enumerate(widths):
        model.section(f"s{k}", "rectangle", width=width, height=1.0)
    model.line("beam", (0.0, 0.0, 0.0), (16.0, 0.0, 0.0), n)
    model.beams("beam", "beam", ["s0", "s1"], "steel", shear=False, orientation=(0.0, 1.0, 0.0))
    model.fix("beam:end")
    model.fix("beam", ["z", "rotation x", "rotation y"])
    model.modes_step(count=2)
    return np.array(solve(model).steps[-1].summary["frequencies_hz"])


def ring(n: int = 48) -> np.ndarray:
    """Return frequencies [Hz] of a free ring of n straight beams in its plane."""
    side, radius = 0.05, 10.0
    model = Model(2, "ring")
    model.section("bar", "stiffness", EA=E * side**2, EI=E * side**4 / 12.0, GA=np.inf, rhoA=73e-5 * side**2,
                  rhoI=73e-5 * side**4 / 12.0)  # fmt: skip
    angles = 2.0 * np.pi * np.arange(n) / n
    for i, a in enumerate(angles):
        model.node(f"n{i}", (radius * np.cos(a), radius * np.sin(a)))
    for i in range(n):
        model.beams(f"b{i}", [f"n{i}", f"n{(i + 1) % n}"], "bar")
    model.modes_step(count=6)
    model.modes_step(count=4, near=3226.4, name="breathing")
    bending, breathing = (np.array(s.summary["frequencies_hz"]) for s in solve(model).steps)
    return np.array([breathing[np.argmin(np.abs(breathing - 3226.4))], bending[bending > 1.0].min()])


def check(f: Findings) -> None:
    known = reference()
    found = solve(build()).steps[-1].summary["frequencies_hz"]
    for k, text in enumerate(known["compressed"]):
        f.digits(
            "B-COMPRESSED", f"frequency {k + 1} of a bar under a thrust [Hz]", found[k], text,
            source("p. 374, article 59", 59), error=1e-3 * (k + 1),
            why="13 elements, the strain of the thrust (3e-4, of which the small frequency takes a part more)",
        )  # fmt: skip
    meshes = np.array([4, 8, 16, 32])
    wedge = np.array([clamped(int(n), (1e-3, 4.0))[0] for n in meshes])
    f.digits(
        "B-WEDGE-MODES", "first frequency of a wedge [Hz]", wedge[-1], known["wedge"], source("p. 392, article 62", 62),
        error=0.01, why="a frequency of approximate shapes in the textbook",
    )  # fmt: skip
    curves = [Curve(1.0 / meshes, wedge, "fem-mbs", "o-"), published("Timoshenko (1955)", 0.0, known["wedge"])]
    f.figure("First frequency of a wedge", curves, "1/elements", "Frequency [Hz]")
    f.digits(
        "B-WEDGE-MODES", "first frequency of a strip [Hz]", clamped(16, (4.0, 4.0))[0], known["strip"],
        source("p. 338, article 53", 66), error=3e-3, why="rotary inertia of h/L = 1/16",
    )  # fmt: skip
    for quantity, value, text in zip(("breathing", "bending"), ring(), known["ring"], strict=True):
        f.digits(
            "B-HOOP", f"frequency of a ring, {quantity} [Hz]", value, text, source("p. 425, article 68", 67),
            error=4e-3, why="48 straight elements, (pi/48)^2",
        )  # fmt: skip
    _spring(f)
    _stopped(f)


def hardening(h: float) -> tuple[np.ndarray, np.ndarray]:
    """Return times (n,) and displacements (n,) [in] of a mass on a hardening spring, by steps of h."""
    model = Model(2, "hardening spring")
    model.node("m", (11.0, 0.0))
    model.point_mass("mass", "m", 2588e-6)
    model.fix("m", ["y"])
    model.spring("k", "ground", "m", 2.0, point_a=(0.0, 0.0), length=10.0, cubic=4.0)
    model.sensor("x", "position", on="m")
    model.transient_step(0.18, h, frames=0)
    step = solve(model).steps[-1]
    return step.time, step.series["sensor/x"][:, 0] - 10.0


def _spring(f: Findings) -> None:
    runs = [hardening(h) for h in (4e-4, 2e-4, 1e-4)]
    t, x = runs[-1]
    # from 1 in: m x'^2/2 = x0^2 - x^2 + x0^4 - x^4, and x = sin s
    exact = 4.0 * np.sqrt(0.5 * 2588e-6) * quad(lambda s: 1.0 / np.sqrt(2.0 + np.sin(s) ** 2), 0.0, 0.5 * np.pi)[0]
    f.converged(
        "B-HARD-SPRING", "period of a mass on a hardening spring [s], h -> 0",
        [2.0 * turning_time(*run, np.argmin) for run in runs], exact, INDEPENDENT,
    )  # fmt: skip
    curves = [
        Curve(t, x, "fem-mbs"), Curve(np.array([exact]), x[:1], "quadrature, period", "o"),
        published("Timoshenko (1955), period", reference()["period"], x[0]),
    ]  # fmt: skip
    f.figure("A mass on a hardening spring", curves, "Time [s]", "Displacement [in]")


def _stopped(f: Findings) -> None:
    length, speed, density = 10000.0, 100.0, 0.00073
    model = Model(2, "stopped bar")
    model.section("bar", "stiffness", EA=E, rhoA=density)
    model.line("bar", (0.0, 0.0), (length, 0.0), 400)
    model.trusses("bar", "bar", "bar")
    model.fix("bar", ["y"])
    model.fix("bar:start", ["x"])
    model.initial("all", velocity=(-speed, 0.0), method="projection")
    model.sensor("u", "displacement", on="bar:end")
    model.sensor("N", "element", on="bar", element=0, quantity="N")
    model.transient_step(0.0557, 5e-5, frames=0)
    step = solve(model).steps[-1]
    where = source("p. 305, problem 3", 85)
    why = "400 elements: waves of their length lag behind"
    compression = -step.series["sensor/u"][:, 0].min()
    f.digits("B-STOPPED", "largest compression of a stopped bar [in]", compression, reference()["stopped"][0], where,
             error=0.01, why=why)  # fmt: skip
    middle = (step.time > 0.02) & (step.time < 0.045)
    stress = -step.series["sensor/N"][middle, 0].mean()
    f.digits("B-STOPPED", "stress at the stop between the first waves [psi]", stress, reference()["stopped"][1], where,
             error=0.01, why=why)  # fmt: skip
