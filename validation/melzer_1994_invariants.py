"""Invariants of flexible bodies: random masses, and a turning beam.

Whatever a flexible body is made of, its equations of motion need a dozen sums over its mass (the "standard input
data").  For seven random masses with three random shapes the equations with these sums must give, at any position,
velocity and acceleration, the sum over the masses.  A clamped beam takes its geometric stiffness per unit of inertia
and tip forces from the same data.

      o   o          7 masses at random places c_i,
        o    o       u_i = Phi_i q with random Phi          ||==================  L = 10 m, rho A = 1.2 kg/m
      o   o  o       frame: a, alpha, w at random           clamped             deflection x^2/L

Source: F. Melzer, "Symbolic computations in flexible multibody systems", NATO ASI, Troia 1993, Vol. I, 365-381, tables
2 and 3, equations 36-42; O. Wallrapp, "Standard input data of flexible members in multibody systems", 1993.  No
numbers are printed: the sums over the masses, and the integrals of table 2, are the references.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from fem_mbs import Model, body_data, read_part, reduce_part, solve, write_part
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT, SELF

CAPABILITY = "reduction"
CASES = {
    "B-SID": "equations of motion of flexible body data against sums over random masses",
    "B-KG": "geometric stiffness of a beam by the superposition method: table 2, frequencies in rotation",
}

MASSES, SHAPES = 7, 3
LENGTH, LINE_MASS, BENDING = 10.0, 1.2, 14000.0
EXACT = "identity: round-off"


def build(seed: int = 1) -> Model:
    """Return random masses at random places, each sprung to all others."""
    rng = np.random.default_rng(seed)
    model = Model(3, "random masses")
    m, c = rng.random(MASSES) + 0.1, rng.normal(size=(MASSES, 3))
    for i in range(MASSES):
        model.node(f"p{i}", c[i])
        model.point_mass(f"m{i}", f"p{i}", m[i])
        for j in range(i):
            model.spring(f"s{j}{i}", f"p{j}", f"p{i}", stiffness=10.0 + 90.0 * rng.random())
    return model


def beam(n: int = 16) -> Model:
    """Return a slender beam along x, stiff along its axis."""
    model = Model(3, "beam")
    model.section("beam", "stiffness", EA=2.8e9, EI=BENDING, GJ=1e4, GA=np.inf, rhoA=LINE_MASS, rhoI=1e-7)
    model.line("beam", (0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), n)
    model.beams("beam", "beam", "beam", orientation=(0.0, 1.0, 0.0))
    return model


def reference() -> dict:
    """Return int N (2 x/L)^2 dx of table 2: N = -rho A (L - x), rho A (L^2 - x^2)/2, 1."""
    return {
        "ax": -LINE_MASS * LENGTH**2 / 3.0,
        "wy2": LINE_MASS * LENGTH**3 * (2.0 / 3.0 - 2.0 / 5.0),
        "wz2": LINE_MASS * LENGTH**3 * (2.0 / 3.0 - 2.0 / 5.0),
        "tip.x": 4.0 * LENGTH / 3.0,
    }


def masses(seed: int):
    """Return masses (7,), places (7, 3), shapes (7, 3, n), and the body that a reduced part of them makes."""
    model = build(seed)
    places = {f"p{i}": f"p{i}" for i in range(MASSES)}
    part = reduce_part(model, places, "guyan", accuracy=0)
    S = 0.3 * np.random.default_rng(seed + 100).normal(size=(part.size, SHAPES))
    own = part.transformed(S, np.zeros((SHAPES, 0)))
    m = np.diag(part.mass)[::3]
    return m, model.positions, S.reshape(MASSES, 3, SHAPES), own, body_data(own, modal=False)


def brute(m, c, phi, a, alpha, w, q, dq, ddq):
    """Return force, moment and forces on q: sums over the masses of what each needs."""
    d, v = c + phi @ q, phi @ dq
    acc = a + np.cross(alpha, d) + np.cross(w, np.cross(w, d)) + 2.0 * np.cross(w, v) + phi @ ddq
    return m @ acc, m @ np.cross(d, acc), np.einsum("i,iak,ia->k", m, phi, acc)


def check(f: Findings) -> None:
    worst = np.zeros(3)
    for seed in range(20):
        m, c, phi, own, data = masses(seed)
        rng = np.random.default_rng(seed)
        (a, alpha, w), (q, dq, ddq) = rng.normal(size=(3, 3)), rng.normal(size=(3, SHAPES))
        wanted = brute(m, c, phi, a, alpha, w, q, dq, ddq)
        found = data.residual(a, alpha, w, q, dq, ddq)
        found = (*found[:2], found[2] - own.stiffness @ q)
        worst = np.maximum(worst, [np.abs(x - y).max() for x, y in zip(found, wanted, strict=True)])
    for name, value in zip(("force", "moment", "forces on q"), worst, strict=True):
        f.zero("B-SID", f"{name}, most of 20 random bodies and motions", value, 1e-12, EXACT, INDEPENDENT)
    _files(f)
    _table(f)
    _turning(f)


def _files(f: Findings) -> None:
    """Check that a part read from its files is unchanged."""
    part = reduce_part(beam(4), {"root": "beam:start", "tip": "beam:end"}, modes=4, stiffening="root", accuracy=0)
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder) / "a.SID_FEM", Path(folder) / "b.h5"
        back = read_part(write_part(first, part))
        again = read_part(write_part(second, back))
        off = max(np.abs(getattr(back, k) - getattr(again, k)).max() for k in ("stiffness", "mass", "boundary"))
    f.zero("B-SID", "difference of a part after .SID_FEM and HDF5", off, 0.0, "All digits are written.", SELF)
    values = [np.sort(np.linalg.eigvals(np.linalg.solve(p.mass, p.stiffness)).real)[6:] for p in (part, back)]
    off, spread = np.abs(values[1] / values[0] - 1.0).max(), float(values[0].max() / values[0].min())
    f.zero("B-SID", "squares of frequencies of a beam and of its .SID_FEM file", off,
           len(values[0]) * np.finfo(float).eps * spread,
           "Both round off: 2.2e-16 of the largest square, times the size of the matrix.", SELF)  # fmt: skip


def _table(f: Findings) -> None:
    n = 4
    ends = {"root": "beam:start", "tip": "beam:end"}
    part = reduce_part(beam(n), ends, modes=6 * (n - 1), stiffening="root", accuracy=0)
    x = part.recovery.x[:, 0]
    rows = np.concatenate((part.recovery.displacement[:, 1], part.recovery.rotation[:, 2]))
    others = np.concatenate((part.recovery.displacement[:, [0, 2]].reshape(-1, part.size),
                             part.recovery.rotation[:, :2].reshape(-1, part.size)))  # fmt: skip
    shape = np.concatenate((x**2 / LENGTH, 2.0 * x / LENGTH, np.zeros(len(others))))
    p = np.linalg.lstsq(np.concatenate((rows, others)), shape, rcond=None)[0]
    for name, wanted in reference().items():
        found = float(p @ part.stiffening[name] @ p)
        f.row(
            "B-KG",
            f'deflection x^2/L, {n} elements: p.K p of "{name}"',
            found,
            wanted,
            "The integral is exact, for forces that the elements know exactly.",
            CLOSED_FORM,
            relative=1e-7,
        )


def _turning(f: Findings) -> None:
    """Compare the lowest frequencies of the clamped beam against the speed: of the data, and of the model in the
    turning frame."""
    data, fewer = (
        body_data(reduce_part(beam(), {"root": "beam:start", "tip": "beam:end"}, modes=n, stiffening="root",
                              accuracy=0), "root", n) for n in (12, 6)
    )  # fmt: skip
    speeds = np.linspace(0.0, 12.0, 25)

    def of_data(W: float, data=data) -> np.ndarray:
        # Oe q of w = (0, 0, W): stiffening less the softening of the shapes
        K = data.Ke.M0 + W**2 * data.Oe.M1[:, :, 2]
        return np.sqrt(np.maximum(np.linalg.eigvalsh(0.5 * (K + K.T))[:4], 0.0)) / (2.0 * np.pi)

    curve = np.array([of_data(W) for W in speeds])
    at, whole = (4.0, 8.0, 12.0), []
    for W in at:
        model = beam()
        model.fix("beam:start")
        model.centrifugal("turn", W, axis=(0.0, 0.0, 1.0))
        model.static_step()
        model.modes_step(count=4)
        whole.append(solve(model).steps[1].summary["frequencies_hz"])
        for k in range(4):
            f.row("B-KG", f"frequency {k + 1} of the beam at {W:g} rad/s [Hz]", of_data(W)[k], whole[-1][k],
                  "What half of the 12 shapes that are kept change.", SELF,
                  tolerance=abs(of_data(W, fewer)[k] - of_data(W)[k]))  # fmt: skip
    curves = [Curve(speeds, curve[:, k], f"mode {k + 1}, flexible body data") for k in range(4)]
    curves += [Curve(np.array(at), np.array(whole)[:, k], "" if k else "whole model", "o") for k in range(4)]
    f.figure("Frequencies of a turning beam", curves, "Speed [rad/s]", "Frequency [Hz]",
             "Clamped at the axis; out of the plane of rotation and in it, without Coriolis forces.")  # fmt: skip
