"""Forced vibrations of a deep beam and of a thin plate: harmonic, suddenly loaded and random.

A beam of 2 x 2 m and 10 m length, and a plate of 10 x 10 m and 5 cm, both of steel and simply supported, carry a
uniform load: harmonic, put on at once, or white noise.  Each mode has 2 % of its critical damping.

        q = 1 MN/m                              p = 100 N/m^2
      vvvvvvvvvvvvvvvvvv                      +------------+
      ==================  2 x 2 m             |            |   E = 200 GPa, nu = .3, 8000 kg/m^3
      A                A                      |     x      |   sigma: of an extreme fibre in the middle
      |<---- 10 m ---->|                      +------------+

Source: J. Maguire, D.J. Dawswell, L. Gould, "Selected benchmarks for forced vibration", NAFEMS R0016, 1989, tests 5
(modes), 5H, 5T, 5R, 13H, 13T and 13R.  The targets were read in the Abaqus Benchmarks Guide (5, 5H, 5T, 5R) and in the
verification manual of OptiStruct (OS-V 0340, 0365, 0396; 13H, 13T, 13R), which print them.  The targets of responses
are those of the first mode alone: 16 p a^4/(pi^6 D) at rest, 25 of that at resonance.  So are the responses here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, extrapolated, interpolated_extreme, limit_of, published
from fem_mbs.validation.kinds import CLOSED_FORM, Kind, printed
from fem_mbs.validation.shell_grids import shell, square

CAPABILITY = "modes"
CASES = {
    "B-FORCED": "a deep beam: frequencies, peaks of the harmonic, transient and random response",
    "S-FORCED": "the same of a thin plate",
}
DEVIATIONS = (
    "Maguire et al. (1989), test 5, as the Abaqus Benchmarks Guide prints it: 42.650 Hz; Timoshenko's equation with "
    "Cowper's coefficient has 42.645, and the other printed digits.",
    "Maguire et al. (1989), test 13H, as OS-V 0340 prints it: a peak stress of 30.03 MPa should read 32.02; test 13R "
    "has its square, 1025.44, and the first mode 32.03.",
)

E, NU, DENSITY, DAMPING = 200e9, 0.3, 8000.0, 0.02
SIDE, LENGTH, LOAD = 2.0, 10.0, 1e6
SHEAR = 10.0 * (1.0 + NU) / (12.0 + 11.0 * NU)  # Cowper (1966)
AREA, INERTIA = SIDE**2, SIDE**4 / 12.0
PLATE, THICKNESS, PRESSURE = 10.0, 0.05, 100.0
MESHES = (2, 4, 8)  # elements along a side of a quarter of the plate
FIRST: dict[str, Any] = {"modes": 1, "damping": DAMPING}
ROTARY_WHY = "rotary inertia in the modal mass, by the slope of the line or by the smaller turn of a section with shear"
DIGITS_WHY = "the source prints four digits of the frequency, whose square counts"


def abaqus(test: str) -> Kind:
    return printed(f"Maguire et al. (1989), test {test}, in the Abaqus Benchmarks Guide")


def optistruct(test: str, where: str) -> Kind:
    return printed(f"Maguire et al. (1989), test {test}, in the verification manual of OptiStruct, OS-V {where}")


def build(n: int = 20) -> Model:
    """Return the beam in the plane, of n elements, with its load and sensors and without steps."""
    model = Model(2, "deep beam")
    model.material("steel", E=E, nu=NU, density=DENSITY)
    model.section("square", "general", A=AREA, I=INERTIA, k=SHEAR)
    model.line("beam", (0.0, 0.0), (LENGTH, 0.0), n)
    model.beams("beam", "beam", "square", "steel")
    model.fix("beam:start", ["x", "y"])
    model.fix("beam:end", ["y"])
    model.line_load("load", "beam", (0.0, LOAD))
    model.sensor("u", "displacement", on=f"beam:#{n // 2 + 1}")
    model.sensor("M", "element", on="beam", element=n // 2, quantity="M_p")
    return model


def plate(n: int = 8) -> Model:
    """Return a quarter of the plate, n x n elements, with its load and a sensor of its middle, and without steps."""
    half = 0.5 * PLATE
    model = shell(square(lambda a, b: (half * a, half * b, 0.0 * a), n, n, "quad8"), E, NU, THICKNESS, DENSITY)
    model.fix("s", ["x", "y", "rotation z"])
    for edge, along in (("left", "x"), ("bottom", "y")):  # supported, without a slope along the edge
        model.fix(f"s:{edge}", ["z", f"rotation {along}"])
    model.fix("s:right", ["rotation y"])
    model.fix("s:top", ["rotation x"])
    model.pressure("load", on="s:body", value=-PRESSURE)
    model.sensor("u", "displacement", on="s:c")
    return model


def reference() -> dict:
    """Return the targets: frequencies [Hz], displacements [mm], times [s], stresses [MPa], densities [mm2/Hz ...]."""
    return {
        "5": ("42.650", "125.00", "148.15", "283.47"),
        "5H": ("13.45", "241.9"), "5R": ("180.90", "58516"), "5T": ("1.043", "0.0117", "18.76"),
        "13": "2.377",
        "13H": "45.42", "13R": ("2063.20", "1025.44"), "13T": ("3.523", "0.210", "2.484"),
    }  # fmt: skip


def peak(model: Model, near: float) -> tuple[np.ndarray, np.ndarray]:
    """Return frequencies [Hz] about ``near`` and the amplitudes of the middle [mm] in the first mode."""
    at = np.linspace(0.96, 1.04, 41) * near
    model.harmonic_step(at.tolist(), method="modal", residual=False, frames=0, **FIRST)
    return at, 1e3 * np.linalg.norm(solve(model).response("u").values, axis=1)


def timoshenko(k: int) -> float:
    """Return the frequency [Hz] of k half waves of the pinned beam with shear and rotary inertia."""
    b2, r2, G = (k * np.pi / LENGTH) ** 2, INERTIA / AREA, SHEAR * E / (2.0 * (1.0 + NU))
    linear = 1.0 + b2 * r2 * (1.0 + E / G)
    square = DENSITY * r2 / G
    constant = b2**2 * E * r2 / DENSITY
    value = (linear - np.sqrt(linear**2 - 4.0 * square * constant)) / (2.0 * square)
    return float(np.sqrt(value) / (2.0 * np.pi))


def rotary() -> float:
    """Return by how much the mass of the first mode differs, relatively, if sections turn with the line w = sin(b x).

    With shear they turn by (b - rho omega^2/(k G b)) cos(b x) instead of b cos(b x).
    """
    b = np.pi / LENGTH
    omega = 2.0 * np.pi * timoshenko(1)
    turn = b - DENSITY * omega**2 * 2.0 * (1.0 + NU) / (SHEAR * E * b)
    return float(INERTIA / AREA * (b**2 - turn**2))


def check(f: Findings) -> None:
    known, mass = reference(), rotary()
    meshes = []
    for n in (10, 20, 40):
        model = build(n)
        model.modes_step(count=4)
        meshes.append(solve(model).steps[-1].summary["frequencies_hz"])
    found = meshes[1]
    limit, change = limit_of(meshes)
    for k, text in enumerate(known["5"]):
        what = f"frequency {k + 1} of the deep beam in the plane, limit of 10 to 40 elements [Hz]"
        if k:  # the first one is a deviation
            f.digits("B-FORCED", what, limit[k], text, abaqus("5"))
        true = np.sqrt(E / DENSITY) / (4.0 * LENGTH) if k == 1 else timoshenko((1, 0, 2, 3)[k])
        f.row("B-FORCED", f"{what}, closed form", limit[k], true, "The change of the limit by the coarsest mesh.",
              CLOSED_FORM, tolerance=change[k])  # fmt: skip
    at, beam = peak(build(), found[0])
    model = build()
    model.linear_transient_step(0.013, 1e-4, frames=0, **FIRST)
    solution = solve(model)
    time, u = solution.sensor("u").t, 1e3 * solution.sensor("u").values[:, 1]
    moment = np.abs(solution.sensor("M").values[:, 0])
    when, largest = interpolated_extreme(time, u, np.argmax)
    stress = 1e-6 * interpolated_extreme(time, moment, np.argmax)[1] * 0.5 * SIDE / INERTIA
    ratio = stress / largest  # of the first mode alone
    for what, value, text, test, error in (
        ("largest amplitude [mm]", beam.max(), known["5H"][0], "5H", mass),
        ("largest amplitude of the stress [MPa]", ratio * beam.max(), known["5H"][1], "5H", mass),
        ("largest spectral density, load of unit density [mm2/Hz]", beam.max() ** 2, known["5R"][0], "5R", 2.0 * mass),
        ("the same of the stress [MPa2/Hz]", (ratio * beam.max()) ** 2, known["5R"][1], "5R", 2.0 * mass),
        ("largest displacement under a sudden load [mm]", largest, known["5T"][0], "5T", mass),
        ("when it is reached [s]", when, known["5T"][1], "5T", 0.0),
        ("largest stress under a sudden load [MPa]", stress, known["5T"][2], "5T", mass),
    ):
        f.digits("B-FORCED", f"deep beam, {what}", value, text, abaqus(test), error=error, why=ROTARY_WHY)
    f.figure(
        "Deep beam under a harmonic load",
        [Curve(at, beam, "first mode"), published("Maguire et al. (1989)", known["5"][0], known["5H"][0])],
        "Frequency [Hz]", "Amplitude in the middle [mm]",
    )  # fmt: skip
    _plate(f)


def thick() -> tuple[float, float, float]:
    """Return shares of a thin plate's frequency, displacement and stress in the first mode of a thick one (Mindlin)."""
    D, wave = E * THICKNESS**3 / (12.0 * (1.0 - NU**2)), 2.0 * (np.pi / PLATE) ** 2
    shear, rotary = D * wave / (5.0 / 6.0 * E / (2.0 * (1.0 + NU)) * THICKNESS), THICKNESS**2 / 12.0 * wave
    # mass and rotary inertia w^2 are small against shear stiffness: the lower root of omega^2 over that of a thin plate
    b = 1.0 + shear + rotary
    square = 2.0 / (b + np.sqrt(b**2 - 4.0 * shear * rotary))
    turn = 1.0 - square * shear  # of the section, over the slope
    softer = 1.0 / (square * (1.0 + rotary * turn**2))  # force over omega^2 and the modal mass
    return float(np.sqrt(square)), float(softer), float(turn)


def _plate(f: Findings) -> None:
    known = reference()
    D, overshoot = E * THICKNESS**3 / (12.0 * (1.0 - NU**2)), 1.0 + np.exp(-np.pi * DAMPING / np.sqrt(1.0 - DAMPING**2))
    still = 1e3 * 16.0 * PRESSURE * PLATE**4 / (np.pi**6 * 4.0 * D)  # mm, of the first mode
    frequency = np.pi / PLATE**2 * np.sqrt(D / (DENSITY * THICKNESS))
    bent = 1e-9 * 6.0 * D * (1.0 + NU) * (np.pi / PLATE) ** 2 / THICKNESS**2  # MPa of the middle, for a mm
    found = []
    for n in MESHES:
        model = plate(n)
        model.modes_step(count=1)
        first = solve(model).steps[-1].summary["frequencies_hz"][0]
        amplitude = peak(plate(n), first)[1].max()
        model = plate(n)
        model.linear_transient_step(0.22, 0.002, frames=1, **FIRST)
        step = solve(model).steps[-1]
        u = 1e3 * np.abs(step.series["sensor/u"][:, 2])
        when, largest = interpolated_extreme(step.time, u, np.argmax)
        middle = int(np.argmin(np.abs(model.positions - 0.5 * PLATE * np.array((1.0, 1.0, 0.0))).sum(axis=1)))
        shape = np.asarray(step.frames["displacement"])[-1][middle, 2]
        ratio = 1e-6 * abs(np.asarray(step.frames["stress [Pa]"])[-1][middle, 0] / (1e3 * shape))
        found.append((first, amplitude, largest, ratio * amplitude, ratio * largest))
    slower, softer, turn = thick()
    # the largest of samples 2 ms apart by a parabola: the next term of the cosine
    sampled = (2.0 * np.pi * frequency * 0.002) ** 4 / 24.0
    limits = []
    for values, what, thin, share, error in zip(
        np.transpose(found),
        ("first frequency of the plate [Hz]", "plate, largest amplitude [mm]",
         "plate, largest displacement under a sudden load [mm]", "plate, largest amplitude of the stress [MPa]",
         "plate, largest stress under a sudden load [MPa]"),
        (frequency, still / (2.0 * DAMPING), still * overshoot, bent * still / (2.0 * DAMPING),
         bent * still * overshoot),
        (slower, softer, softer, turn * softer, turn * softer),
        (0.0, 0.0, sampled, 0.0, sampled),
        strict=True,
    ):  # fmt: skip
        f.converged("S-FORCED", f"{what}, h -> 0", values, thin * share, CLOSED_FORM, error=error,
                    why="samples 2 ms apart")  # fmt: skip
        limits.append(float(extrapolated(values, 2.0)) / share)
    first, amplitude, largest, shaken, pushed = limits  # of a thin plate
    digits = 2.0 * 0.5e-3 / float(known["13"])
    for what, value, text, test, error in (
        ("first frequency of the plate [Hz]", first, known["13"], ("13H", "0340"), 0.0),
        ("plate, largest amplitude [mm]", amplitude, known["13H"], ("13H", "0340"), digits),
        ("plate, largest spectral density, load of unit density [mm2/Hz]", amplitude**2, known["13R"][0],
         ("13R", "0396"), 2.0 * digits),
        ("plate, the same of the stress [MPa2/Hz]", shaken**2, known["13R"][1], ("13R", "0396"), 2.0 * digits),
        ("plate, largest displacement under a sudden load [mm]", largest, known["13T"][0], ("13T", "0365"), digits),
        ("plate, when it is reached [s]", when, known["13T"][1], ("13T", "0365"), 0.0),
        ("plate, largest stress under a sudden load [MPa]", pushed, known["13T"][2], ("13T", "0365"), digits),
    ):  # fmt: skip
        f.digits("S-FORCED", f"{what}, h -> 0, without shear and rotary inertia", value, text, optistruct(*test),
                 error=error, why=DIGITS_WHY)  # fmt: skip
    f.figure(
        "Plate under a sudden load",
        [Curve(step.time, u, "first mode"), published("Maguire et al. (1989)", known["13T"][1], known["13T"][0])],
        "Time [s]", "Displacement of the middle [mm]",
    )  # fmt: skip
