"""Dense mass matrices over several nodes: rigid assemblies in free flight, and the chain with a consistent mass.

Three nodes that are joined to a small body carry a matrix of 3 x 3 masses (the same in all directions), or one of 18 x
18 over velocities and angular velocities in the axes of the nodes.  The assembly is then one body with the matrix
sum_ij T_i^T M_ij T_j, T_i the rigid motion of node i: Euler's equations hold for the first, those of a body in a fluid
for the second, whose mass differs by direction.  Springs between nodes with consistent masses have known frequencies.

             o 3
           / |             k     k     k
        1 o==+==o 2     |--/\\/\\--o--/\\/\\--o--/\\/\\--|     m/6 (1 4 1)

Source: G. Kirchhoff, "Ueber die Bewegung eines Rotationskoerpers in einer Fluessigkeit", J. reine angew. Math. 71
(1870) 237-262, whose equations p' + w x p = 0, h' + w x h + v x p = 0 scipy integrates in this file (independent
computation). The matrix that turns with each node: E.V. Zahariev, "Generalized Newton-Euler dynamic equations", eq. 4.
Frequencies of the chain: closed form.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, constancy, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT

CAPABILITY = "mechanisms"
CASES = {"B-MASS-MATRIX": "rigid assemblies with dense masses over three nodes, frequencies of a chain of bars"}

PLACES = np.array([(0.5, 0.0, 0.1), (-0.2, 0.4, 0.0), (-0.1, -0.3, -0.2)])
MASS, INERTIA = 0.3, (0.02, 0.03, 0.04)  # of the small body
VELOCITY, SPIN = np.array((0.4, -0.2, 0.3)), np.array((1.5, -0.8, 2.0))


def translational() -> np.ndarray:
    """Return masses (3, 3) [kg]: those of a triangle of constant thickness, and a concentrated one."""
    return 1.2 / 12.0 * (np.ones((3, 3)) + np.eye(3)) + np.diag((0.0, 0.5, 0.0))


def turning() -> np.ndarray:
    """Return a positive definite matrix (18, 18) that differs by direction and couples all nodes."""
    rng = np.random.default_rng(7)
    A = rng.normal(size=(18, 18)) * np.tile((0.3, 0.3, 0.3, 0.1, 0.1, 0.1), 3)[:, None]
    return A @ A.T + np.diag(np.tile((0.4, 0.6, 0.9, 0.02, 0.03, 0.05), 3))


def build(matrix: np.ndarray | None = None, h: float = 0.004, duration: float = 2.0) -> Model:
    """Return three nodes that are welded to a body, with a mass matrix (None: `translational`), in free flight."""
    matrix = translational() if matrix is None else matrix
    model = Model(3, "mass matrix")
    model.body("body", (0.0, 0.0, 0.0), MASS, INERTIA)
    for k, x in enumerate(PLACES):
        model.node(f"n{k}", x)
        turns = len(matrix) > 3  # nodes have rotations where the matrix has
        model.joint(f"joint {k}", "weld" if turns else "spherical", "body", f"n{k}", point=x)
        model.initial(f"n{k}", velocity=VELOCITY + np.cross(SPIN, x), spin=SPIN if turns else None)
    model.mass_matrix("M", [f"n{k}" for k in range(3)], matrix)
    model.initial("body", velocity=VELOCITY, spin=SPIN)
    model.sensor("place", "position", on="body")
    model.sensor("tip", "position", on="n0")
    model.transient_step(duration, h, frames=0)
    return model


def chain(springs: int = 5, stiffness: float = 300.0, mass: float = 2.0) -> Model:
    """Return nodes in line between walls, with springs and the consistent mass of bars between them."""
    model = Model(2, "chain")
    names = [f"n{k}" for k in range(springs + 1)]
    for k, name in enumerate(names):
        model.node(name, (0.5 * k, 0.0))
        model.fix(name, ["y"] if 0 < k < springs else ["x", "y"])
    for a, b in zip(names[:-1], names[1:], strict=True):
        model.spring(f"{a}-{b}", a, b, stiffness)
    M = np.zeros((springs + 1, springs + 1))
    for k in range(springs):
        M[k : k + 2, k : k + 2] += mass / 6.0 * np.array([[2.0, 1.0], [1.0, 2.0]])
    model.mass_matrix("bars", names, M)
    model.modes_step(springs - 1)
    return model


def whole(matrix: np.ndarray) -> np.ndarray:
    """Return the matrix (6, 6) of the assembly about the body's place."""
    M = np.diag((MASS, MASS, MASS, *INERTIA)).astype(float)
    if len(matrix) == 3:
        full = np.zeros((18, 18))
        for i in range(3):
            for j in range(3):
                full[6 * i : 6 * i + 3, 6 * j : 6 * j + 3] = matrix[i, j] * np.eye(3)
        matrix = full
    motions = []
    for x in PLACES:
        t = np.eye(6)
        t[:3, 3:] = -_tilde(x)
        motions.append(t)
    T = np.vstack(motions)
    return M + T.T @ matrix @ T


def _tilde(a: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def flight(M: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return places (n, 3) of the body and of the first node, by Kirchhoff's equations."""
    from scipy.integrate import solve_ivp

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        R = y[3:12].reshape(3, 3)
        v, w = y[12:15], y[15:18]
        momenta = M @ y[12:]
        p, h = momenta[:3], momenta[3:]
        changes = -np.concatenate((np.cross(w, p), np.cross(w, h) + np.cross(v, p)))
        return np.concatenate((R @ v, (R @ _tilde(w)).ravel(), np.linalg.solve(M, changes)))

    start = np.concatenate((np.zeros(3), np.eye(3).ravel(), VELOCITY, SPIN))
    y = solve_ivp(rate, (0.0, float(t[-1])), start, "DOP853", t_eval=t, rtol=1e-11, atol=1e-13).y.T
    return y[:, :3], y[:, :3] + y[:, 3:12].reshape(-1, 3, 3) @ PLACES[0]


def reference() -> dict:
    k = np.arange(1, 5) * np.pi / 5.0
    return {"frequencies": np.sqrt(6.0 * 300.0 / 2.0 * (1.0 - np.cos(k)) / (2.0 + np.cos(k))) / (2.0 * np.pi)}


def check(f: Findings) -> None:
    curves = []
    for name, matrix in (("3 x 3", translational()), ("18 x 18", turning())):
        errors = []
        for h in (8e-3, 4e-3, 2e-3):
            solution = solve(build(matrix, h))
            step = solution.steps[0]
            places = flight(whole(matrix), step.time)
            errors.append(
                max(np.abs(solution.sensor(s).values - x).max() for s, x in zip(("place", "tip"), places, strict=True))
            )
        label = f"matrix of {name}"
        tip = solution.sensor("tip").values
        curves += [Curve(step.time, tip[:, 0], f"x, {name}"), Curve(step.time[::50], places[1][::50, 0], "", "o")]
        f.converged(
            "B-MASS-MATRIX", f"limit of the largest error of a place [m], {label}, h -> 0", errors, 0.0, INDEPENDENT
        )
        f.between(
            "B-MASS-MATRIX",
            f"order of the error, {label}",
            np.log2(errors[1] / errors[2]),
            1.9,
            2.1,
            "The rule is of second order.",
        )
        f.zero("B-MASS-MATRIX", f"change of the energy, {label}", energy_error(step, constant=True), CONSERVED,
               "The rule conserves it exactly; only round-off is left.")  # fmt: skip
        for momentum in ("linear momentum", "angular momentum"):
            f.zero("B-MASS-MATRIX", f"change of the {momentum}, {label}", constancy(step, momentum), CONSERVED,
                   "The rule conserves it exactly; only round-off is left.")  # fmt: skip
    found = np.asarray(solve(chain()).steps[0].summary["frequencies_hz"], float)
    for k, (measured, exact) in enumerate(zip(found, reference()["frequencies"], strict=True)):
        f.row(
            "B-MASS-MATRIX",
            f"frequency {k + 1} of the chain [Hz]",
            measured,
            exact,
            "The closed form is (6 k/m) (1 - cos)/(2 + cos); only round-off is left.",
            CLOSED_FORM,
            relative=1e-12,
        )
    f.figure("Tip of the assembly", curves, "Time [s]", "x [m]", "Lines: h = 2 ms; points: Kirchhoff's equations.")
