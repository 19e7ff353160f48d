"""An annular plate: natural frequencies by nodal diameters, from one sector.

A thin plate between two circles is clamped at the inner one and free at the outer one.  One sector of twelve is
computed, with cyclic symmetry.  Its waves with the phase n 30 degrees from sector to sector, n = 0 to 6, are the
shapes of the plate with n and with 12 - n nodal diameters.

                  .-------.
                /   .---.   \\        w(r, t) = [A J_n(kr) + B Y_n(kr) + C I_n(kr) + D K_n(kr)] cos(n t)
               |   /|||||\\   |       clamped:  w = w' = 0
               |   \\|||||/   |       free:     M_r = 0,  V_r = 0
                \\   '---'   /
                  '-------'          omega = (k a)^2/a^2 sqrt(D/(rho h));  b/a = 1/2, nu = 0.3

Source: S.M. Vogel, D.W. Skinner, "Natural frequencies of transversely vibrating uniform annular plates", J. Appl. Mech.
32 (1965) 926-931; the determinant of the four conditions is evaluated here (Leissa, "Vibration of plates", NASA SP-160,
1969, section 2.2).  Its lowest (k a)^2 for n = 0, 1, 2, 3 agree within 0.1 with 13.0, 13.3, 14.7, 18.5, which are
quoted from the source.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import iv, jv, kv, yv

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM
from fem_mbs.validation.shell_grids import mesh_of

CAPABILITY = "shells"
CASES = {"S-ANNULUS": "modes of an annular plate by nodal diameters, from one sector of twelve"}

E, NU, DENSITY, THICKNESS = 200e9, 0.3, 7800.0, 0.002
INNER, OUTER, SECTORS = 0.5, 1.0, 12
ACROSS, AROUND, COUNT = 8, 4, 2


def build(across: int = ACROSS, around: int = AROUND) -> Model:
    """Return one sector of eight-node shells, and a step of modes of all nodal diameters."""
    radius = np.linspace(INNER, OUTER, 2 * across + 1)
    angle = np.linspace(0.0, 2.0 * np.pi / SECTORS, 2 * around + 1)
    r, t = (a.ravel() for a in np.meshgrid(radius, angle, indexing="ij"))
    points = np.column_stack((r * np.cos(t), r * np.sin(t), 0.0 * r))
    number = np.arange(len(r)).reshape(len(radius), len(angle))
    i, j = (2 * a.ravel() for a in np.meshgrid(np.arange(across), np.arange(around), indexing="ij"))
    places = ((0, 0), (2, 0), (2, 2), (0, 2), (1, 0), (2, 1), (1, 2), (0, 1))
    cells = np.stack([number[i + a, j + b] for a, b in places], axis=1)
    used, cells = np.unique(cells, return_inverse=True)
    r, t = r[used], t[used]
    sets = {
        "inner": np.flatnonzero(r < INNER + 1e-9),
        "low": np.flatnonzero((t < 1e-9) & (r > INNER + 1e-9)),
        "high": np.flatnonzero((t > angle[-1] - 1e-9) & (r > INNER + 1e-9)),
    }
    model = Model(3, "annular plate")
    model.material("steel", E=E, nu=NU, density=DENSITY)
    model.mesh("sector", mesh_of(points[used], "quad8", cells.reshape(-1, 8), node_sets=sets))
    model.shells("plate", "sector", "steel", thickness=THICKNESS)
    model.fix("sector:inner")
    model.cyclic_symmetry("wheel", "sector:high", "sector:low", sectors=SECTORS, axis=(0.0, 0.0, 1.0))
    model.cyclic_modes_step(COUNT, "waves")
    return model


def conditions(k: Any, n: int) -> Any:
    """Return the determinant of the conditions at both circles for the wave numbers k [1/m], one or (m,), and n nodal
    diameters."""
    rows = []
    for r, free in ((INNER, False), (OUTER, True)):
        columns = []
        for f, sign in ((jv, -1.0), (yv, -1.0), (iv, 1.0), (kv, 1.0)):
            x = k * r
            value = f(n, x)
            slope = f(n - 1, x) - n / x * value if f in (jv, yv, iv) else -f(n - 1, x) - n / x * value
            slope *= k
            if not free:
                columns.append((value, slope))
                continue
            # w'' from Bessel's equation r^2 w'' + r w' - n^2 w = sign k^2 r^2 w; the Laplacian is sign k^2 w
            second = sign * k**2 * value - slope / r + n**2 / r**2 * value
            moment = second + NU * (slope / r - n**2 / r**2 * value)
            shear = sign * k**2 * slope - (1.0 - NU) * n**2 / r**2 * (slope - value / r)
            columns.append((moment, shear))
        rows += [np.array([c[i] for c in columns]) for i in range(2)]
    scale = np.abs(rows).max(axis=0)
    A = np.moveaxis(np.array(rows) / scale, (0, 1), (-2, -1))
    return np.linalg.det(A / np.abs(A).max(axis=-1, keepdims=True))


def reference() -> dict:
    """Return the lowest frequencies [Hz] of each phase between sectors."""
    D = E * THICKNESS**3 / 12.0 / (1.0 - NU**2)
    plate = {}
    for n in range(SECTORS + 1):
        k = np.linspace(2.0, 16.0, 600)
        values = conditions(k, n)
        at = np.flatnonzero(np.sign(values[1:]) != np.sign(values[:-1]))[:COUNT]
        roots = np.array([brentq(conditions, k[i], k[i + 1], args=(n,), xtol=1e-12) for i in at])
        plate[n] = roots**2 * np.sqrt(D / (DENSITY * THICKNESS)) / (2.0 * np.pi)
    found = {n: np.sort([*plate[n], *plate[SECTORS - n]])[:COUNT] for n in range(SECTORS // 2 + 1)}
    return {"frequencies": found}


def check(f: Findings) -> None:
    known = reference()
    coarse, found = (solve(build(ACROSS // k, AROUND // k)).steps[0].summary for k in (2, 1))
    n, fine = np.array(found["nodal_diameters"]), np.array(found["frequencies_hz"])
    measured = fine + (fine - np.array(coarse["frequencies_hz"])) / 15.0  # errors of fourth order
    # shear and rotary inertia: (k h)^2/24 (1 + 2/(5/6 (1 - nu)))
    waves = 2.0 * np.pi * measured * np.sqrt(DENSITY * THICKNESS / (E * THICKNESS**3 / 12.0 / (1.0 - NU**2)))
    thick = waves * THICKNESS**2 / 24.0 * (1.0 + 2.4 / (1.0 - NU))
    # the layer beside a free edge in which Kirchhoff's shear force is spread, of the width h/sqrt(10)
    thick += 0.5 * THICKNESS / np.sqrt(10.0) / (OUTER - INNER)
    left = np.abs(measured - fine) + measured * thick
    for diameter, exact in known["frequencies"].items():
        rows = zip(measured[n == diameter], exact, left[n == diameter], strict=True)
        for k, (value, wanted, error) in enumerate(rows, 1):
            f.row(
                "S-ANNULUS", f"frequency {k} of the phase {30 * diameter} degrees, limit of two meshes [Hz]", value,
                wanted,
                "The change from the finer mesh to the limit of two, of fourth order; shear and rotary inertia, "
                "(k h)^2/24 (1 + 2.4/(1 - nu)); and the shear layer at the free edge, h/sqrt(40) over the width.",
                CLOSED_FORM, tolerance=error,
            )  # fmt: skip
    numbers = np.arange(SECTORS // 2 + 1)
    curves = []
    for k in range(COUNT):
        curves.append(Curve(numbers, np.array([known["frequencies"][m][k] for m in numbers]), f"closed form, {k + 1}"))
        curves.append(Curve(numbers, np.array([measured[n == m][k] for m in numbers]), f"sector, {k + 1}", "o"))
    f.figure("Annular plate, clamped inside", curves, "nodal diameters of the sector's waves [-]", "frequency [Hz]")
