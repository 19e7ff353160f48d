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
from scipy.linalg import eigh

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, extrapolated, published, turning_time
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT, Kind, in_ansys_manual

CAPABILITY = "modes"
CASES = {
    "B-COMPRESSED": "frequencies of a bar under a thrust",
    "B-WEDGE-MODES": "frequencies of a wedge and of a thin strip",
    "B-HOOP": "a ring: breathing and in-plane bending",
    "B-HARD-SPRING": "period of a mass on a hardening spring",
    "B-STOPPED": "a moving bar that is stopped at one end",
}
DEVIATIONS = (
    "Timoshenko and Young (1955), p. 141: a period of .1447 s by approximations; it is .14404 s.",
    "Timoshenko and Young (1955), p. 392: 259.16 Hz of a wedge by approximate shapes; Ritz's method gives 260.59 Hz, "
    "with rotary inertia 260.24 Hz.",
)

E = 30e6


def source(where: str, problem: int) -> Kind:
    return in_ansys_manual(f"Timoshenko and Young, Vibration problems in engineering (1955), {where}", f"VM{problem}")


def reference() -> dict:
    """Return the printed numbers: frequencies [Hz], a period [s], a compression [in] and a stress [psi]."""
    return {
        "compressed": ("17.055", "105.32", "249.39"),
        "strip": "128.09",
        "ring": ("3226.4", "12.496"),
        "period": ".1447",
        "stopped": ("4.9329", "14799"),
    }


def under_thrust(mode: int, strained: bool = True) -> float:
    """Return a frequency [Hz] of the compressed bar, with or without the strain of its thrust."""
    EI, mass, force, k = 4.0 / 3.0 * E, 4.0 * 727973e-9, 40e3, mode * np.pi / 80.0
    stretch = 1.0 - force / (4.0 * E) if strained else 1.0
    return float(np.sqrt((EI * k**4 / stretch - force * k**2) / (stretch * mass)) / (2.0 * np.pi))


def ritz(widths: tuple[float, float], rotary: bool, count: int = 10) -> float:
    """Return the first frequency [Hz] of the strip by Ritz's method, with polynomials that are clamped at x = 1."""
    length, density = 16.0, 728e-6
    x, weights = np.polynomial.legendre.leggauss(40)
    x, weights = 0.5 * (1.0 + x), 0.5 * weights
    weights = weights * (widths[0] + (widths[1] - widths[0]) * x)
    k, y = np.arange(2, count + 2), (1.0 - x)[:, None]
    w, slope, bent = y**k, -k * y ** (k - 1), k * (k - 1) * y ** (k - 2)
    K = E / 12.0 * (bent.T * weights) @ bent / length**3
    M = density * ((w.T * weights) @ w * length + rotary * (slope.T * weights) @ slope / (12.0 * length))
    return float(np.sqrt(eigh(K, M, eigvals_only=True)[0]) / (2.0 * np.pi))


def build(n: int = 16) -> Model:
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
    found = np.array([solve(build(n)).steps[-1].summary["frequencies_hz"] for n in (8, 16, 32)])
    for k, text in enumerate(known["compressed"]):
        exact = under_thrust(k + 1)
        f.converged("B-COMPRESSED", f"frequency {k + 1} of a bar under a thrust [Hz], h -> 0", found[:, k], exact,
                    CLOSED_FORM)  # fmt: skip
        strain = exact - under_thrust(k + 1, strained=False)
        f.digits("B-COMPRESSED", f"frequency {k + 1}, h -> 0, less what the strain of the thrust adds [Hz]",
                 float(extrapolated(found[:, k], 2.0)) - strain, text, source("p. 374, article 59", 59))  # fmt: skip
    meshes = np.array([8, 16, 32])
    wedge = np.array([clamped(int(n), (1e-3, 4.0))[0] for n in meshes])
    exact = ritz((1e-3, 4.0), rotary=True)
    f.converged("B-WEDGE-MODES", "first frequency of a wedge [Hz], h -> 0", wedge, exact, INDEPENDENT)
    curves = [Curve(1.0 / meshes, wedge, "fem-mbs", "o-"), Curve(np.zeros(1), np.array([exact]), "Ritz", "o")]
    f.figure("First frequency of a wedge", curves, "1/elements", "Frequency [Hz]")
    strip = [clamped(n, (4.0, 4.0))[0] for n in (4, 8, 16)]
    with_rotary, without = (ritz((4.0, 4.0), rotary) for rotary in (True, False))
    f.converged("B-WEDGE-MODES", "first frequency of a strip [Hz], h -> 0", strip, with_rotary, INDEPENDENT)
    f.digits("B-WEDGE-MODES", "first frequency of a strip [Hz], plus what rotary inertia takes",
             strip[-1] + without - with_rotary, known["strip"], source("p. 338, article 53", 66))  # fmt: skip
    side, radius = 0.05, 10.0
    wave = np.sqrt(E / 73e-5) / (2.0 * np.pi * radius)
    of_ring = (wave, wave * side / radius * np.sqrt(2.4 / 4.0))
    rings = np.transpose([ring(n) for n in (12, 24, 48)])
    for quantity, values, closed, text in zip(("breathing", "bending"), rings, of_ring, known["ring"], strict=True):
        what = f"frequency of a ring, {quantity} [Hz], h -> 0"
        f.converged("B-HOOP", f"{what}, closed form", values, closed, CLOSED_FORM, error=(side / radius) ** 2,
                    why="(h/r)^2 of stretching, rotary inertia and the section's curvature")  # fmt: skip
        f.digits("B-HOOP", what, float(extrapolated(values, 2.0)), text, source("p. 425, article 68", 67))
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


def stopped(n: int) -> tuple[float, float]:
    """Return largest compression [in] and mean stress [psi] at the stop of a bar of n elements.

    The compression rises and falls linearly until the bar leaves its stop, so that its peak is twice its mean.  The
    mean knows nothing of the width of the waves' fronts, which meshes blur.
    """
    length, speed, density = 10000.0, 100.0, 0.00073
    model = Model(2, "stopped bar")
    model.section("bar", "stiffness", EA=E, rhoA=density)
    model.line("bar", (0.0, 0.0), (length, 0.0), n)
    model.trusses("bar", "bar", "bar")
    model.fix("bar", ["y"])
    model.fix("bar:start", ["x"])
    model.initial("all", velocity=(-speed, 0.0), method="projection")
    model.sensor("u", "displacement", on="bar:end")
    model.sensor("N", "element", on="bar", element=0, quantity="N")
    model.transient_step(0.096, 0.02 / n, frames=0)
    step = solve(model).steps[-1]
    t, u = step.time, -step.series["sensor/u"][:, 0]
    leaves = 2.0 * length / np.sqrt(E / density)
    # the rest of the contact is the end of the triangle
    area = np.sum(0.5 * (u[1:] + u[:-1]) * np.diff(t)) + 0.5 * u[-1] * (leaves - t[-1])
    middle = (t > 0.02) & (t < 0.045)
    return 2.0 * area / leaves, -step.series["sensor/N"][middle, 0].mean()


def _stopped(f: Findings) -> None:
    where = source("p. 305, problem 3", 85)
    compression, stress = np.transpose([stopped(n) for n in (50, 100, 200)])
    exact = 100.0 * 10000.0 / np.sqrt(E / 0.00073)
    f.converged("B-STOPPED", "twice the mean compression of a stopped bar [in], h -> 0", compression, exact,
                CLOSED_FORM)  # fmt: skip
    f.digits("B-STOPPED", "largest compression of a stopped bar [in]", compression[-1], reference()["stopped"][0],
             where)  # fmt: skip
    f.digits("B-STOPPED", "stress at the stop between the first waves [psi]", stress[-1], reference()["stopped"][1],
             where)  # fmt: skip
