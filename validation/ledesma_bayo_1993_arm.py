"""Arm of two flexible links in space whose tip follows a line, under gravity.

Three torques (yaw, shoulder, elbow) move the load.  With stiff links they are those of rigid ones, found here by the
principle of virtual power: accelerations of Gauss points of the links along the path (angles in closed form, 8th-order
differences) times their mass, less weight, against virtual rotations of each joint.

                     o elbow
                   /   \\
      shoulder   /       \\        links 0.5 m and 0.4 m, 0.3 kg/m; load 0.5 kg on the line from its start
          o----           * load   to (-0.1, 0.3, 0.15) m further, in 1 s, with four continuous derivatives
         ===  yaw

Source: R. Ledesma, E. Bayo, "Non-recursive methods for the solution of the inverse dynamics of flexible multibody
systems", Computer Aided Analysis of Rigid and Flexible Mechanical Systems, NATO ASI, Troia 1993, Vol. II, 403-421: the
problem; the data and the reference are this file's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, extrapolated
from fem_mbs.validation.kinds import INDEPENDENT, PROPERTY

CAPABILITY = "inverse"
CASES = {"B-ARM": "torques on a flexible arm in space whose load follows a line, against rigid links in the limit"}

LENGTHS, DENSITY, LOAD, GRAVITY, POST = (0.5, 0.4), 0.3, 0.5, 9.81, 1e-2
DURATION, H, EI = 1.0, 0.04, 200.0
ANGLES = (0.6, -0.5)  # of the links at the start, from the horizontal [rad]
WAY = np.array([-0.1, 0.3, 0.15])
_STENCIL = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])


def _corners() -> tuple[np.ndarray, np.ndarray]:
    (a, b), (first, second) = ANGLES, LENGTHS
    elbow = first * np.array([np.cos(a), 0.0, np.sin(a)])
    return elbow, elbow + second * np.array([np.cos(b), 0.0, np.sin(b)])


def build(h: float = H, EI: float = EI) -> Model:
    """Return the arm with links of bending stiffness EI [N m^2], computed with steps h [s]."""
    m = Model(3, "arm", gravity=(0.0, 0.0, -GRAVITY))
    m.section("link", "stiffness", EA=670.0 * EI, GA=1670.0 * EI, GJ=EI, EI=EI, rhoA=DENSITY, rhoI=0.0)
    elbow, tip = _corners()
    m.body("post", (0.0, 0.0, 0.0), 1.0, (POST, POST, POST))
    for name, start, end in (("upper", np.zeros(3), elbow), ("fore", elbow, tip)):
        m.line(name, start, end, 1)
        m.beams(name, name, "link")
    m.joint("yaw", "revolute", "ground", "post", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    m.joint("shoulder", "revolute", "post", "upper:start", point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    m.joint("elbow", "revolute", "upper:end", "fore:start", point=elbow, axis=(0.0, 1.0, 0.0))
    m.point_mass("load", "fore:end", LOAD)
    m.sensor("load", "position", on="fore:end")
    s = f"(t/{DURATION})"
    shape = f"{s}**5*(126 - 420*{s} + 540*{s}**2 - 315*{s}**3 + 70*{s}**4)"
    m.inverse_path_step(
        DURATION, h, outputs={f"load.{c}": f"{w}*{shape}" for c, w in zip("xyz", WAY, strict=True)},
        efforts=["yaw", "shoulder", "elbow"], tolerance=1e-2, frames=0,
    )  # fmt: skip
    return m


def _angles(t: np.ndarray) -> np.ndarray:
    """Return yaw and the angles of both links from the horizontal (n, 3) with the load on its path."""
    s = np.clip(t / DURATION, 0.0, 1.0)
    x, y, z = (_corners()[1] + (s**5 * (126 - 420 * s + 540 * s**2 - 315 * s**3 + 70 * s**4))[:, None] * WAY).T
    (first, second), r = LENGTHS, np.hypot(x, y)
    far = np.hypot(r, z)
    a = np.arctan2(z, r) + np.arccos((first**2 + far**2 - second**2) / (2.0 * first * far))
    return np.column_stack((np.arctan2(y, x), a, np.arctan2(z - first * np.sin(a), r - first * np.cos(a))))


def _points(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return places (n, 7, 3) of three Gauss points of each link and of the load, and their masses (7,)."""
    x, w = np.polynomial.legendre.leggauss(3)
    x, w, (first, second) = 0.5 * (x + 1.0), 0.5 * w, LENGTHS
    yaw, a, b = (v[:, None] for v in q.T)
    on_second = np.append(x, 1.0)
    r = np.hstack((first * x * np.cos(a), first * np.cos(a) + second * on_second * np.cos(b)))
    z = np.hstack((first * x * np.sin(a), first * np.sin(a) + second * on_second * np.sin(b)))
    mass = np.concatenate((DENSITY * first * w, DENSITY * second * w, [LOAD]))
    return np.stack((r * np.cos(yaw), r * np.sin(yaw), z), axis=-1), mass


def torques(t: np.ndarray) -> np.ndarray:
    """Return the torques (n, 3) of yaw, shoulder and elbow on rigid links at times (n,) [s]."""
    e, places = 2e-3, range(-4, 5)
    q, mass = _angles(t), _points(_angles(t))[1]
    acceleration = sum(c * _points(_angles(t + i * e))[0] for c, i in zip(_STENCIL, places, strict=True)) / e**2
    acceleration[..., 2] += GRAVITY
    turning = sum(c * _angles(t + i * e)[:, 0] for c, i in zip(_STENCIL, places, strict=True)) / e**2
    powers = []
    for d in 1e-5 * np.eye(3):
        ways = (_points(q + d)[0] - _points(q - d)[0]) / 2e-5
        powers.append(np.einsum("m,nmi,nmi->n", mass, acceleration, ways))
    # the shoulder turns both links, about +y, which lowers them
    return np.column_stack((powers[0] + POST * turning, -(powers[1] + powers[2]), -powers[2]))


def reference() -> dict:
    return {"at rest": torques(np.zeros(1))[0]}


def check(f: Findings) -> None:
    # errors of h^2 and of 1/EI fall to a quarter together
    runs = [solve(build(H / n, EI * n**2)) for n in (1, 2)]
    report: Any = runs[0].steps[-1].report
    places = np.arange(round(DURATION / H) + 1) * H
    exact, at_path = torques(places), []
    for solution in runs:
        drives, own = solution.drives(), solution.steps[-1].report
        since = drives.t - own.path_start  # type: ignore[union-attr]
        at_path.append(drives.values[np.abs(since[:, None] - places).argmin(axis=0)])
    limit = extrapolated(at_path, 2.0)
    for k, name in enumerate(("yaw", "shoulder", "elbow")):
        size = np.abs(exact[:, k]).max()
        f.zero(
            "B-ARM", f"{name}: largest difference to rigid links at any time over the largest torque, h and 1/EI -> 0",
            np.abs(limit[:, k] - exact[:, k]).max() / size, 2.0 * np.abs(limit[:, k] - at_path[-1][:, k]).max() / size,
            "twice what the limit of two steps and stiffnesses moves by without the coarser", INDEPENDENT,
        )  # fmt: skip
    for k, name in ((1, "shoulder"), (2, "elbow")):
        f.converged("B-ARM", f"{name} before the path, 1/EI -> 0 [N m]", [run.drives().values[0, k] for run in runs],
                    reference()["at rest"][k], INDEPENDENT)  # fmt: skip
    f.zero("B-ARM", "load off its path in the forward run over the way", report.errors[-1], 1e-2, "tolerance", PROPERTY)
    fine = np.linspace(0.0, DURATION, 201)
    curves = [Curve(fine, torques(fine)[:, k], f"{n}, rigid") for k, n in enumerate(("yaw", "shoulder", "elbow"))]
    curves += [Curve(places, at_path[-1][:, k], n, "o") for k, n in enumerate(("yaw", "shoulder", "elbow"))]
    f.figure("Torques on the arm", curves, "Time [s]", "Torque [N m]")
