"""Laminated shells: NAFEMS's composite benchmarks.

      R0031/1  strip of 7 layers 0/90/0/90/0/90/0 (0.1, 0.1, 0.1, 0.4, 0.1, 0.1, 0.1 mm), 10 mm wide, supports 30 mm
               apart, 10 mm beyond them, 10 N/mm across the middle: -1.06 mm, 683.9 MPa at the bottom there (E)
      R0031/2  steel tube, radii 23 and 25 mm, wound round by fibres to 27 mm, 200 mm long, 200 MPa inside: hoop
               stresses at 25 mm of 1429.7 (steel) and 874.7 MPa (fibres)
      R0031/3  sandwich plate, 10 x 10 in, faces of 0.028 in, core of 0.75 in, simple supports, 100 psi: -0.123 in,
               34449, 13350 psi on the pulled side of the middle, -5067.5 psi of shear in the middle of a quarter (E)

A quarter of each is computed.  The tube is a shell at 25 mm, where its layers meet and their stresses are compared
with those of a long shell without radial stress.  Its second load, a temperature, is left out.

Source: S.J. Hardy and others, NAFEMS, "Composites benchmarks", R0031 (1995/2001); Altair's OptiStruct verification
manual (OS-V 0500, 0510, 0520) and the Abaqus Benchmarks Guide, section 4.9, print data and targets.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import CLOSED_FORM, printed
from fem_mbs.validation.shell_grids import CELLS, on_edge, square

CAPABILITY = "shells"
CASES = {
    "S-STRIP": "laminated strip in three-point bending",
    "S-WRAPPED": "wrapped cylinder under pressure",
    "S-SANDWICH": "sandwich plate under pressure",
}

DEVIATIONS = (
    "NAFEMS R0031/1: 683.9 MPa is the stress of a beam, the mean over the width; at E itself the plate has 682.3 MPa.",
    "NAFEMS R0031/2: 1429.7 and 874.7 MPa are those of solids; a shell has no radial stress, 1399.1 and 868.7 MPa.",
    "NAFEMS R0031/3: stresses of 34449, 13350, -5067.5 psi; the series of first-order theory has 35579, 13896, -5262.",
)

STRIP, SANDWICH = (printed(f"NAFEMS R0031 (1995/2001), test R0031/{k}") for k in (1, 3))
MESHES = (1, 2, 4)
ANGLES = (0.0, 90.0, 0.0, 90.0, 0.0, 90.0, 0.0)
THICK = (0.1, 0.1, 0.1, 0.4, 0.1, 0.1, 0.1)


def build(cell: str = "quad", n: int = 12) -> Model:
    """Return a quarter of the strip [N, mm]: half of its length, half of its width."""
    model = Model(3, "strip")
    model.material("ply", E=[1e5, 5e3, 5e3], nu=[0.4, 0.3, 0.3], G=[3e3, 2e3, 2e3], density=0.0)
    # 3 n cells to the support, 2 n beyond it: the node line at 0.6 is the support
    model.mesh("s", square(lambda a, b: (25.0 * a, 5.0 * b, 0.0 * a), 5 * n, n, cell))
    layers = [{"material": "ply", "thickness": t, "angle": a} for t, a in zip(THICK, ANGLES, strict=True)]
    model.shells("shell", on="s", layers=layers)
    model.fix("s:left", ["x", "rotation y", "rotation z"])
    model.fix("s:bottom", ["y", "rotation x", "rotation z"])
    for node in np.flatnonzero(np.abs(model.positions[:, 0] - 15.0) < 1e-9):
        model.fix(int(node), ["z"])
    on_edge(model, "left", (0.0, 0.0, -25.0))
    model.sensor("E", "displacement", on="s:a")
    model.linear_static_step()
    return model


def tube(cell: str, around: int = 16, along: int = 40) -> Model:
    """Return a quarter of half the tube [N, mm]; the middle is the edge "bottom"."""

    def place(a, b):
        t = 0.5 * np.pi * a
        return 25.0 * np.sin(t), 100.0 * b, 25.0 * np.cos(t)

    model = Model(3, "tube", fields=("stress", "layers"))
    model.material("steel", E=2.1e5, nu=0.3, density=0.0)
    model.material("fibres", E=[1.3e5, 5e3, 5e3], nu=[0.25, 0.25, 0.25], G=[1e4, 1e4, 5e3], density=0.0)
    model.mesh("s", square(place, around, along, cell))
    # the first axis is that of the tube
    layers = [{"material": "steel", "thickness": 2.0}, {"material": "fibres", "thickness": 2.0, "angle": 90.0}]
    model.shells("shell", on="s", layers=layers, orientation=(0.0, 1.0, 0.0))
    model.pressure("p", on="s:body", value=-200.0 * 23.0 / 25.0)
    model.fix("s:bottom", ["y", "rotation x", "rotation z"])
    model.fix("s:left", ["x", "rotation y", "rotation z"])
    model.fix("s:right", ["z", "rotation x", "rotation y"])
    model.linear_static_step()
    return model


def sandwich(cell: str, n: int = 16) -> Model:
    """Return a quarter of the plate [lbf, in]; its middle is the node "s:a"."""
    model = Model(3, "sandwich")
    model.material("face", E=[1e7, 4e6, 4e6], nu=[0.3, 0.0, 0.0], G=[1.875e6, 1.875e6, 1.875e6], density=0.0)
    model.material("core", E=[10.0, 10.0, 10.0], nu=[0.0, 0.0, 0.0], G=[10.0, 3e4, 1.2e4], density=0.0)
    model.mesh("s", square(lambda a, b: (5.0 * a, 5.0 * b, 0.0 * a), n, n, cell))
    names = (("face", 0.028), ("core", 0.75), ("face", 0.028))
    model.shells("shell", on="s", layers=[{"material": m, "thickness": t} for m, t in names])
    model.pressure("p", on="s:body", value=100.0)
    model.fix("s:left", ["x", "rotation y", "rotation z"])
    model.fix("s:bottom", ["y", "rotation x", "rotation z"])
    model.fix("s:right", ["z", "rotation x"])
    model.fix("s:top", ["z", "rotation y"])
    model.sensor("C", "displacement", on="s:a")
    model.linear_static_step()
    return model


def reference() -> dict:
    """Return the targets: [N, mm] of the strip and the tube, [lbf, in] of the sandwich, also by Navier's series."""
    return {
        "series": series(),
        "strip": ("-1.06", "683.9"),
        "sandwich": ("-0.123", "34449", "13350", "-5067.5"),
    }


def shell_of_tube(curved: bool) -> np.ndarray:
    """Return hoop stresses [MPa] of steel and fibres at 25 mm of a long shell without radial stress.

    The hoop strain is e R/(R + z), or the same e everywhere as flat elements have it; the ends are free.
    """
    radius, thick = 25.0, 2.0
    steel = 2.1e5 / (1.0 - 0.3**2) * np.array([[1.0, 0.3], [0.3, 1.0]])
    fibres = np.array([[5e3, 0.25 * 5e3], [0.25 * 5e3, 1.3e5]]) / (1.0 - 0.25**2 * 5.0 / 130.0)
    stiffness = np.zeros((2, 2))  # forces along the axis and around, over the strains there
    for plies, low, high in ((steel, -thick, 0.0), (fibres, 0.0, thick)):
        once, log = high - low, radius * np.log((radius + high) / (radius + low))
        along = once + (high**2 - low**2) / (2.0 * radius) if curved else once
        stiffness += plies * np.array([[along, once], [once, log if curved else once]])
    strains = np.linalg.solve(stiffness, [0.0, 200.0 * 23.0])
    return np.array([(steel @ strains)[1], (fibres @ strains)[1]])


def shear_stiffness(face: float, core: float, D: float, E: float) -> float:
    """Return the shear stiffness [lbf/in] of the sandwich by the energy of the stresses that equilibrium gives.

    Args:
        face, core: shear moduli [psi].
        D: bending stiffness [lbf in].
        E: modulus of the faces [psi].
    """
    c, h = 0.75, 0.806
    x, weights = np.polynomial.legendre.leggauss(8)

    def energy(low, high, moment, G):
        z = 0.5 * (low + high) + 0.5 * (high - low) * x
        return 0.5 * (high - low) * (weights * (moment(z) / D) ** 2).sum() / G

    def outer(z):
        return 0.5 * E * (0.25 * h**2 - z**2)

    def inner(z):
        return outer(0.5 * c) + 0.5 * 10.0 * (0.25 * c**2 - z**2)

    return 0.5 / (energy(0.5 * c, 0.5 * h, outer, face) + energy(0.0, 0.5 * c, inner, core))


def series(terms: int = 399) -> tuple[float, ...]:
    """Return deflection and stresses 11, 22 in the middle and 12 at a quarter of the sandwich, on the pulled side.

    Navier's series of first-order theory: w, phi_1, phi_2 of sine loads.
    """
    c, t, a = 0.75, 0.028, 10.0
    h, part = c + 2.0 * t, 1.0 - 0.3 * 0.12  # nu_21 = nu_12 E_2/E_1
    Q = np.array((1e7 / part, 4e6 / part, 0.3 * 4e6 / part, 1.875e6))
    D11, D22, D12, D66 = (Q * (h**3 - c**3) + np.array((10.0, 10.0, 0.0, 10.0)) * c**3) / 12.0
    S1, S2 = (shear_stiffness(1.875e6, *args) for args in ((3e4, D11, Q[0]), (1.2e4, D22, Q[1])))
    m, n = np.meshgrid(np.arange(1, terms + 1, 2), np.arange(1, terms + 1, 2))
    p, q = m.ravel() * np.pi / a, n.ravel() * np.pi / a
    L = np.zeros((p.size, 3, 3))
    L[:, 0, 0], L[:, 1, 1] = D11 * p**2 + D66 * q**2 + S1, D66 * p**2 + D22 * q**2 + S2
    L[:, 0, 1] = L[:, 1, 0] = (D12 + D66) * p * q
    L[:, 0, 2] = L[:, 2, 0] = S1 * p
    L[:, 1, 2] = L[:, 2, 1] = S2 * q
    L[:, 2, 2] = S1 * p**2 + S2 * q**2
    load = 16.0 * -100.0 / (np.pi**2 * m.ravel() * n.ravel())
    right = np.zeros((p.size, 3, 1))
    right[:, 2, 0] = load
    one, two, w = np.linalg.solve(L, right)[..., 0].T
    middle = np.sin(p * a / 2) * np.sin(q * a / 2)
    k11, k22 = (-one * p * middle).sum(), (-two * q * middle).sum()
    k12 = ((one * q + two * p) * np.cos(p * a / 4) * np.cos(q * a / 4)).sum()
    z = -0.5 * h
    return (w * middle).sum(), z * (Q[0] * k11 + Q[2] * k22), z * (Q[2] * k11 + Q[1] * k22), z * Q[3] * k12


def check(f: Findings) -> None:
    known = reference()
    ratios: dict[str, list[float]] = {}
    for cell in CELLS:
        _strip(f, cell)
        _tube(f, cell)
        values = np.array([_sandwich(cell, 4 * k) for k in MESHES])
        words = ("deflection at C [in]", "stress 11 at C [psi]", "stress 22 at C [psi]", "stress 12 at E [psi]")
        f.digits("S-SANDWICH", f"{words[0]}, 16 x 16 {cell}", values[-1, 0], known["sandwich"][0], SANDWICH)
        for k, (word, exact) in enumerate(zip(words, known["series"], strict=True)):
            # 4 cells lie outside of the range of h^2 but for bilinear ones
            ladder = values[:, k] if cell == "quad" else values[1:, k]
            f.converged("S-SANDWICH", f"{word}, {cell}, series, h -> 0", ladder, exact, CLOSED_FORM, error=3e-7,
                        why="stresses of single precision, the series of 399 terms")  # fmt: skip
        ratios[cell] = list(values[-1] / known["series"])
    numbers = np.arange(1.0, 5.0)
    f.figure(
        "Sandwich plate", [Curve(numbers, np.array(r), cell, "o-") for cell, r in ratios.items()]
        + [published("NAFEMS (1995)", numbers, np.array(known["sandwich"], float) / known["series"])],
        "Deflection, stresses 11, 22, 12 [-]", "Computed over the series [-]",
    )  # fmt: skip


def _strip(f: Findings, cell: str) -> None:
    down, sigma = reference()["strip"]
    found = []
    for k in MESHES:
        model = build(cell, 3 * k)
        solution = solve(model)
        stress = np.asarray(solution.steps[0].frames["stress bottom [Pa]"], float)[-1]
        left = model.meshes["s"][0].node_sets["left"]
        left = left[np.argsort(model.positions[left, 1])]
        y, s = model.positions[left, 1], stress[left, 0]
        # Simpson's rule where cells have nodes in the middle of their sides
        mean = (s[:-2:2] + 4.0 * s[1:-1:2] + s[2::2]).sum() / (3.0 * (len(s) - 1)) if cell[-1] in "68" else (
            0.5 * np.sum((s[1:] + s[:-1]) * np.diff(y)) / 5.0)  # fmt: skip
        found.append((solution.sensor("E").values[-1, 2], mean))
    down_at, means = np.array(found).T
    f.digits("S-STRIP", f"deflection at E, 60 x 12 {cell}", down_at[-1], down, STRIP)
    f.converged(
        "S-STRIP", f"mean bending stress over the width, {cell}, h -> 0", means, float(sigma), STRIP, order=1,
        error=6e-4, why="684.25 MPa for free bending across, 683.89 MPa for none, and the digits",
    )  # fmt: skip


def _tube(f: Findings, cell: str) -> None:
    found = []
    for k in MESHES:
        model = tube(cell, 4 * k, 10 * k)
        layers = np.asarray(solve(model).steps[0].frames["shell/layers stress [Pa]"], float)[-1]
        at = int(np.argmin(np.abs(model.positions - (25.0 * np.sqrt(0.5), 0.0, 25.0 * np.sqrt(0.5))).sum(axis=1)))
        there = layers[model.meshes["s"][0].blocks[0].cells == at].mean(axis=0)
        # steel on top across its axis, fibres at the bottom along theirs
        found.append((there[0, 2, 1], there[1, 0, 0]))
    curved = cell[-1] in "68"
    error, why = (
        ((4.0 / 25.0) ** 2 / 12.0, "terms of (h/R)^2/12, which theories of shells treat in different ways")
        if curved else (3e-7, "stresses of single precision")
    )  # fmt: skip
    for word, values, exact in zip(("steel", "fibres"), np.transpose(found), shell_of_tube(curved), strict=True):
        f.converged("S-WRAPPED", f"hoop stress, {word}, {cell}, h -> 0", values, exact, CLOSED_FORM, error=error,
                    why=why)  # fmt: skip


def _sandwich(cell: str, n: int) -> tuple[float, ...]:
    model = sandwich(cell, n)
    found = solve(model)
    stress = np.asarray(found.steps[0].frames["stress bottom [Pa]"], float)[-1]
    E = int(np.argmin(np.abs(model.positions - (2.5, 2.5, 0.0)).sum(axis=1)))
    return found.sensor("C").values[-1, 2], stress[0, 0], stress[0, 1], stress[E, 3]
