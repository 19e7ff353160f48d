"""Torques of a robot whose three joints are driven, in closed form.

The first three joints of a PUMA 562: a column that turns about the vertical, an upper arm and a forearm that turn about
parallel horizontal axes.  Rigid bodies with central inertias and centres of mass beside the axes; the joint angles are
given, wanted are the driving torques and the reaction of the base.  The angles do not start at zero: the arm is built
stretched upwards and brought to its place by an assembly.

               | z                 l12 = .6 m: shoulder above the base, l23 = .45 m: elbow from the shoulder
          q3  (o)------ forearm    m = 10, 20, 5 kg; centres of mass (0, .05, .3), (0, .1, .2), (0, .02, .15) m
               |                   I1 = diag(.4, .4, .1), I2 = diag(.6, .5, .2), I3 = diag(.2, .18, .03) kg m^2
          q2  (o)  upper arm       g = 9.81 m/s^2
               |
          q1 ==+== column

Source: P. Fisette, B. Raucent, J.C. Samin, "Minimal dynamic characterization of tree-like multibody systems", Computer
Aided Analysis of Rigid and Flexible Mechanical Systems, NATO ASI, Troia 1993, Vol. II, 111-130, section on the PUMA:
torques Q1, Q2, Q3 by barycentric parameters.  The paper has no numbers; the data are ours, the reaction at one instant
was computed three ways (Lagrange's equations, the paper's formulas with the signs restored, a recursion).
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error, extrapolated
from fem_mbs.validation.kinds import INDEPENDENT, PROPERTY, RECOMPUTED

CAPABILITY = "inverse"
CASES = {"B-PUMA": "driving torques and base reaction of a rigid robot in closed form"}

G, L12, L23 = 9.81, 0.6, 0.45
MASS = (10.0, 20.0, 5.0)
CENTRE = ((0.0, 0.05, 0.3), (0.0, 0.1, 0.2), (0.0, 0.02, 0.15))
INERTIA = ((0.4, 0.4, 0.1), (0.6, 0.5, 0.2), (0.2, 0.18, 0.03))
STATE = (0.3, 0.5, -0.8), (1.0, -0.5, 0.7), (0.2, 0.4, -0.6)
SWING = (
    (0.4, 1.0, 2.0),  # offset, amplitude, circular frequency
    (0.2, -0.6, 3.0),
    (-0.5, 0.8, 4.0),
)


def build(functions=None, h: float = 1e-3, duration: float = 1.0) -> Model:
    """Return the robot, with functions of time for its three angles."""
    functions = functions or [f"{a} + {b}*sin({w}*t)" for a, b, w in SWING]
    model = Model(3, "PUMA", gravity=(0.0, 0.0, -G))
    model.assembly()
    foot = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, L12], [0.0, 0.0, L12 + L23]])
    before = "ground"
    for k in range(3):
        name = str(k + 1)
        model.body(name, mass=MASS[k], inertia=INERTIA[k], position=foot[k] + CENTRE[k])
        axis = (0.0, 0.0, 1.0) if k == 0 else (0.0, 1.0, 0.0)
        model.joint(name + "q", "revolute", before, name, point=foot[k], axis=axis, function=functions[k])
        before = name
    model.sensor("base", "reaction", on="1q")
    model.inverse_step(duration, h, frames=0)
    return model


def torques(q, v, a) -> np.ndarray:
    """Return Q1, Q2, Q3 (3, n) of the paper for angles, speeds and accelerations (3, n)."""
    (_, m2, m3), (l1, l2, l3) = MASS, CENTRE
    mb2z, mb3y, mb3z = m3 * L23 + l2[2] * m2, l3[1] * m3, l3[2] * m3
    I1, I2, I3 = INERTIA
    K1zz = I1[2] + l1[1] ** 2 * MASS[0]
    K2xx, K2yy = I2[0] + m3 * L23**2 + m2 * (l2[1] ** 2 + l2[2] ** 2), I2[1] + m3 * L23**2 + m2 * l2[2] ** 2
    K2yz, K2zz = -l2[1] * l2[2] * m2, I2[2] + m2 * l2[1] ** 2
    K3xx, K3yy = I3[0] + m3 * (l3[1] ** 2 + l3[2] ** 2), I3[1] + m3 * l3[2] ** 2
    K3yz, K3zz = -l3[1] * l3[2] * m3, I3[2] + m3 * l3[1] ** 2
    (_, q2, q3), (v1, v2, v3), (a1, a2, a3) = q, v, a
    S2, C2, S3, C3 = np.sin(q2), np.cos(q2), np.sin(q3), np.cos(q3)
    S23, C23 = np.sin(q2 + q3), np.cos(q2 + q3)
    S22, S2233, S223 = np.sin(2 * q2), np.sin(2 * q2 + 2 * q3), np.sin(2 * q2 + q3)
    b = mb3z * L23
    Q3 = (
        K3yz * a1 * C23 + K3yy * (a2 + a3) + b * a2 * C3 - (K3xx - K3zz) * v1**2 * C23 * S23 - b * v1**2 * C23 * S2
        + b * v2**2 * S3 - mb3z * G * S23
    )  # fmt: skip
    Q2 = (
        Q3 + K2yz * a1 * C2 - mb3y * L23 * a1 * C2 + K2yy * a2 + b * (a2 + a3) * C3 - (K2xx - K2zz) * v1**2 * C2 * S2
        - b * v1**2 * C2 * S23 - b * (v2**2 + v3**2 + 2 * v2 * v3) * S3 - mb2z * G * S2
    )  # fmt: skip
    Q1 = (
        a1 * (K1zz + K2xx * S2**2 + K2zz * C2**2 + K3xx * S23**2 + K3zz * C23**2 + 2 * b * S2 * S23)
        + a2 * (K2yz * C2 + K3yz * C23 - mb3y * L23 * C2) + a3 * K3yz * C23
        + v2**2 * (-K2yz * S2 - K3yz * S23 + mb3y * L23 * S2)
        + v1 * v2 * ((K2xx - K2zz) * S22 + (K3xx - K3zz) * S2233 + 2 * b * S223) - v3**2 * K3yz * S23
        + v1 * v3 * ((K3xx - K3zz) * S2233 + 2 * b * C23 * S2) - 2 * v2 * v3 * K3yz * S23
    )  # fmt: skip
    return np.array([Q1, Q2, Q3])


def reference() -> dict[str, tuple[str, ...]]:
    return {
        # on the first body, about the base
        "moment": ("38.575445", "-17.918015", "-0.714689"),
        "force": ("0.244830", "-7.506239", "340.707225"),
    }


def check(f: Findings) -> None:
    known = reference()
    q, v, a = STATE
    exact = torques(*(np.array(s)[:, None] for s in STATE))[:, 0]
    # the instant lies in the middle of a short run
    duration = 0.02
    middle = 0.5 * duration
    laws = [f"{x} + {y}*(t - {middle}) + {0.5 * z}*(t - {middle})**2" for x, y, z in zip(q, v, a, strict=True)]
    drives, bases = [], []
    for h in (2e-3, 1e-3, 5e-4):
        solution = solve(build(laws, h, duration))
        row = round(middle / h)
        found, base = solution.drives(), solution.steps[-1].series["sensor/base"]
        drives.append([found[f"drive {k + 1}q"][row] for k in range(3)])
        bases.append(-0.5 * (base[row] + base[row + 1]))
    for k, values in enumerate(np.transpose(drives)):
        f.converged("B-PUMA", f"torque Q{k + 1} [N m], h -> 0", values, exact[k], INDEPENDENT)
    limit = extrapolated(bases, 2.0)
    for name, columns in (("force", slice(0, 3)), ("moment", slice(3, 6))):
        for axis, measured, text in zip("xyz", limit[columns], known[name], strict=True):
            f.digits("B-PUMA", f"base {name} {axis}, h -> 0", measured, text, RECOMPUTED)

    # a second of motion
    errors, curves = [], []
    series: list[np.ndarray] = []
    for every, h in ((1, 4e-3), (2, 2e-3), (4, 1e-3)):
        solution = solve(build(h=h))
        found = solution.drives()
        t = found.t
        given = [
            np.array([s[0] + s[1] * np.sin(s[2] * t) for s in SWING]),
            np.array([s[1] * s[2] * np.cos(s[2] * t) for s in SWING]),
            np.array([-s[1] * s[2] ** 2 * np.sin(s[2] * t) for s in SWING]),
        ]
        wanted = torques(*given)
        moments = np.array([found[f"drive {k + 1}q"] for k in range(3)])
        errors.append(np.abs(moments - wanted)[:, 1:-1].max())
        series.append(moments[:, ::every][:, 1:-1])
    size = np.abs(wanted).max()
    limits = extrapolated(series, 2.0)
    moved = np.abs(limits - extrapolated(series[1:], 2.0)).max()
    for k in range(3):
        curves += [Curve(t, found[f"drive {k + 1}q"], f"Q{k + 1}"), Curve(t[::50], wanted[k, ::50], "", "o")]
    f.zero(
        "B-PUMA", "largest error over 1 s over the largest torque, h -> 0",
        np.abs(limits - wanted[:, ::4][:, 1:-1]).max() / size, 2.0 * moved / size,
        "Twice what the limit of 4, 2 and 1 ms moves by without the coarsest.", INDEPENDENT,
    )  # fmt: skip
    f.row(
        "B-PUMA",
        "order of the torques, h = 2 to 1 ms",
        np.log2(errors[1] / errors[2]),
        2.0,
        "The error is of second order; two steps show it within .1.",
        PROPERTY,
        tolerance=0.1,
    )
    f.zero(
        "B-PUMA",
        "closing error of energy and drivers' work",
        energy_error(solution.steps[0]),
        CONSERVED,
        "All work is booked; only round-off is left.",
    )
    f.figure("Torques", curves, "Time [s]", "Torque [N m]", "Lines: computed, h = 1 ms; points: closed form.")
