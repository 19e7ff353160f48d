"""The non-symmetric Lanczos algorithm on rotors, a random pencil and a free beam.

A mass on an elastic mount, seen from the frame that turns with its shaft; a pinned shaft, seen likewise; the
bi-orthogonal sequences of that shaft, with and without re-orthogonalisation; random unsymmetric matrices; a free beam
whose rigid-body motions are taken care of by a positive shift.

          Omega          y                                        EI = m = L = 1, 20 elements
       ^ --.--> x'       |   Omega ->                             Omega = 4:  n^2 pi^2 -+ Omega
       |  (m)           ^^==================o
       '--/\\/\\--         L                  ^^     z
      w0 = 10, Omega = 3: 7 and 13

Source: D.T. Doan, M. Geradin, J.M. Kill, "Eigenvalue analysis in flexible multibody dynamics by use of the
non-symmetric Lanczos algorithm", NATO ASI, Troia 1993, Vol. II, 267-274, eqs. 3.4 to 3.15; the paper has no numbers,
these were recomputed with Hermite elements and QZ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs import Model, TwoSidedLanczos, complex_modes, linearise, solve
from fem_mbs.validation.case import Curve, Findings, good_pairs, pairs_of
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT, PROPERTY, RECOMPUTED

CAPABILITY = "modes"
CASES = {
    "D1": "rotor of two degrees of freedom in the rotating frame",
    "D2": "pinned shaft in the rotating frame",
    "D3": "bi-orthogonality of the sequences; copies without re-orthogonalisation",
    "D4": "random unsymmetric matrices",
    "D5": "free beam by positive shifts",
}

SPEED, SHIFTS = 4.0, (1.0, 5.0, 20.0)
TINY = 1e-12  # rotary inertia, which the sources neglect


def mass(frame: Any = "rotating") -> Model:
    """Return a mass on an isotropic mount that turns with 3 rad/s; 10 rad/s at rest."""
    model = Model(2, "mass on a turning shaft")
    model.node("mass", (0.0, 0.0))
    model.point_mass("m", "mass", 1.0)
    for c in "xy":
        model.nodal_spring(c, "mass", c, 100.0)
    model.rotor("shaft")
    model.complex_modes_step(count=2, rotor="shaft", speed=3.0, frame=frame)
    return model


def build(n: int = 20, count: int = 6) -> Model:
    """Return the pinned shaft, turned by a motor through a joint that bends freely."""
    model = Model(3, "pinned shaft")
    model.section("shaft", "stiffness", EA=1e6, EI=1.0, GJ=1e3, GA=np.inf, rhoA=1.0, rhoI=TINY)
    model.line("shaft", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), n)
    model.beams("shaft", "shaft", "shaft")
    axis = (1.0, 0.0, 0.0)
    model.body("motor", (0.0, 0.0, 0.0), mass=1.0, inertia=(1.0, 1.0, 1.0))
    model.joint("bearing", "revolute", "ground", "motor", point=(0.0, 0.0, 0.0), axis=axis, function=f"{SPEED}*t")
    model.joint("coupling", "constant_velocity", "motor", "shaft:start", axis=axis)
    model.fix("shaft:end", ["y", "z"])
    model.rotor("shaft", axis=axis, point=(0.0, 0.0, 0.0))
    model.complex_modes_step(count=count, rotor="shaft", speed=SPEED, frame="rotating")
    return model


def free_beam(shift: float, n: int = 40) -> Model:
    """Return a beam across x that may move along y and turn."""
    model = Model(2, "free beam")
    model.section("beam", "stiffness", EA=1e6, EI=1.0, rhoA=1.0, rhoI=TINY)
    model.line("beam", (0.0, 0.0), (1.0, 0.0), n)
    model.beams("beam", "beam", "beam")
    model.fix("beam:start", ["x"])
    model.complex_modes_step(count=2, shift=shift)
    return model


def random_matrices(n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return M, C, K (n, n) without any symmetry."""
    rng = np.random.default_rng(3)
    M = np.eye(n) + 0.1 * rng.normal(size=(n, n)) / np.sqrt(n)
    return M, rng.normal(size=(n, n)), rng.normal(size=(n, n))


def reference() -> dict:
    M, C, K = random_matrices()
    inverse, one, none = np.linalg.inv(M), np.eye(len(M)), np.zeros_like(M)
    p = np.linalg.eigvals(np.block([[none, one], [-inverse @ K, -inverse @ C]]))
    return {
        "D1": (7.0, 13.0),
        "D2": (5.869609, 13.869609, 35.478684, 43.478684, 84.829462, 92.829462),
        "D4": p[np.argsort(np.abs(p))][:6],
        "D5": (22.3733, 61.6728),
    }


class Inverse:
    """The paper's operator (3.4) without the inverse of M: (q, y) -> (-S (C q + M y), q), dense.

    S f: the q of K q + G^T l = f, G q = 0.
    """

    dtype = np.dtype(float)

    def __init__(self, lin):
        self.M, self.C, self.K, G = (a.toarray() for a in (lin.M, lin.C, lin.K, lin.G))
        n, scale = len(self.K), np.abs(self.K).max()
        saddle = np.block([[self.K, scale * G.T], [scale * G, np.zeros((len(G), len(G)))]])
        self.solve = np.linalg.inv(saddle)[:n, :n]
        self.size = 2 * n

    def right(self, v: np.ndarray) -> np.ndarray:
        q, y = np.split(v, 2)
        return np.concatenate((-self.solve @ (self.C @ q + self.M @ y), q))

    def left(self, v: np.ndarray) -> np.ndarray:
        a, b = np.split(v, 2)
        w = -self.solve.T @ a
        return np.concatenate((self.C.T @ w + b, self.M.T @ w))

    def start(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return a random right vector and the left one that belongs to it where nothing damps, after two power
        iterations (3.7): one for displacements, one for velocities to meet the constraints."""
        q, y = rng.normal(size=(2, self.size // 2))
        d, g = np.concatenate((q, y)), np.concatenate((self.K @ q, self.M @ y))
        for _ in range(2):
            d, g = self.right(d), self.left(g)
        return d / np.linalg.norm(d), g / np.linalg.norm(g)


def frequencies(summary: dict) -> np.ndarray:
    """Return imaginary parts of the eigenvalues above the real axis, in order."""
    p = np.array(summary["eigenvalues"])
    return np.sort(p[p[:, 1] > 0.0, 1])


def sequences(operator: Inverse, steps: int, full: bool = True) -> TwoSidedLanczos:
    lanczos = TwoSidedLanczos(operator, steps, np.random.default_rng(1), full=full)
    lanczos.extend(steps)
    return lanczos


def check(f: Findings) -> None:
    known = reference()
    summary = solve(mass()).steps[-1].summary
    for w, exact in zip(frequencies(summary), known["D1"], strict=True):
        f.row(
            "D1",
            f"circular frequency {exact:g} [rad/s]",
            w,
            exact,
            "The algorithm leaves 1e-10.",
            CLOSED_FORM,
            relative=1e-10,
        )
    good_pairs(f, "D1", "rotor", summary)

    summary = solve(build()).steps[-1].summary
    for w, exact in zip(frequencies(summary), known["D2"], strict=True):
        f.row(
            "D2",
            f"circular frequency {exact:g} [rad/s]",
            w,
            exact,
            "The recomputed number has 1e-6 of accuracy.",
            RECOMPUTED,
            tolerance=1e-6,
        )
    f.zero(
        "D2",
        "largest real part",
        np.abs(np.array(summary["eigenvalues"])[:, 0]).max(),
        1e-8,
        "Nothing damps the rotor.",
    )
    good_pairs(f, "D2", "shaft", summary)

    lin = linearise(build(), rotor="shaft", speed=SPEED, frame="rotating")
    operator = Inverse(lin)
    lanczos = sequences(operator, 40)
    J, T = np.diag(lanczos.eps), lanczos.T
    image = np.column_stack([operator.right(d) for d in lanczos.D.T])
    f.zero(
        "D3",
        "G^T D - J, 40 steps",
        np.abs(lanczos.G.T @ lanczos.D - J).max(),
        1e-10,
        "The algorithm demands it; only round-off is left.",
    )
    f.zero(
        "D3", "(G^T C D - J T)/|T|", np.abs(lanczos.G.T @ image - J @ T).max() / np.abs(T).max(), 1e-10,
        "The algorithm demands it; only round-off is left."
    )  # fmt: skip
    f.zero(
        "D3", "(T less its three diagonals)/|T|", np.abs(T - np.triu(np.tril(T, 1), -1)).max() / np.abs(T).max(),
        1e-10, "The recurrence has three terms; only round-off is left.",
    )  # fmt: skip
    curves = []
    for full in (True, False):
        theta = sequences(operator, 100, full).ritz().theta
        theta = theta[np.argsort(-np.abs(theta))]
        copies = int((np.abs(np.abs(theta) * known["D2"][0] - 1.0) < 1e-6).sum())
        how = "with" if full else "without"
        low, high, why = (2, 2, "a pair, once") if full else (4, 100, "copies: the check has teeth")
        f.between("D3", f"how often +-{known['D2'][0]} i is found {how} re-orthogonalisation", copies, low, high, why)
        curves.append(Curve(np.arange(1, 25), 1.0 / np.abs(theta[:24]), f"{how} re-orthogonalisation", "o"))
    f.figure(
        "Ritz values of the shaft after 100 steps", curves, "Number", "|p| [rad/s]",
        "Three terms alone find the lowest pairs over and over again.",
    )  # fmt: skip

    M, C, K = random_matrices()
    modes = complex_modes(M, C, K, count=6)
    far = [np.abs(modes.values - p).min() / abs(p) for p in known["D4"]]
    f.zero(
        "D4",
        "largest relative distance of the lowest six from QR's",
        max(far),
        1e-8,
        "The algorithm demands it; only round-off is left.",
        INDEPENDENT,
    )
    good_pairs(f, "D4", "random", pairs_of(modes))

    summaries = []
    for shift in SHIFTS:
        summary = solve(free_beam(shift)).steps[-1].summary
        for w, exact in zip(frequencies(summary), known["D5"], strict=True):
            f.row(
                "D5",
                f"circular frequency {exact:g}, shift {shift:g}",
                w,
                exact,
                "The recomputed number has 1e-5 of accuracy, and the mesh 40 elements.",
                RECOMPUTED,
                relative=1e-5,
            )
        f.row(
            "D5",
            f"zeros of two rigid motions, shift {shift:g}",
            summary["zeros"],
            4,
            "Each zero of a rigid motion is double.",
            PROPERTY,
            tolerance=0.0,
        )
        summaries.append(summary)
    good_pairs(f, "D5", "all shifts", *summaries)
