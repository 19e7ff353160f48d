"""Toggle frame.

Two slender bars in a flat gable, built in at their feet and joined stiffly at the apex, give way under a load there: it
reaches a maximum, falls a little, and rises again when the frame has snapped to the other side.

                     P
              ___----v----___            half span 12.943 in, rise 0.386 in
      clamp|---             ---|clamp    section 0.753 x 0.243 in (height), E = 1.03e7 psi

Source: F.W. Williams, "An approach to the non-linear behaviour of the members of a rigid jointed plane framework with
finite deflections", Quart. J. Mech. Appl. Math. 17 (1964), 451-469, doi:10.1093/qjmam/17.4.451: problem and tests.  The
analytic limit load 34.0392 lb is quoted with these data in the notes of a public frame code, which gets 35.0 lb by ten
elements of its own; it rests on small rotations.  The exact beam, of which the boundary-value
solution is the reference here, has 33.87, 0.5 % less.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, extrapolated
from fem_mbs.validation.exact_beam import ExactBeam, N, Q, X, quaternion_of
from fem_mbs.validation.kinds import INDEPENDENT

CAPABILITY = "beams"
CASES = {"B-TOGGLE": "flat gable frame snaps through: both limit loads"}
DEVIATIONS = (
    "The analytic limit load 34.0392 lb, quoted with Williams' data, rests on small rotations; the exact beam has "
    "33.87 lb, .5 % less.",
)

SPAN, RISE, WIDTH, HEIGHT, E = 12.943, 0.386, 0.753, 0.243, 1.03e7
EA, EI = E * WIDTH * HEIGHT, E * WIDTH * HEIGHT**3 / 12.0
MESHES = (4, 12, 36)


def build(n: int = 12, dimension: int = 3, strains: str | None = None) -> Model:
    """Return the frame with n elements per bar in the x-y plane, without shear deformation."""
    model = Model(dimension, "toggle frame")
    model.section("bar", "stiffness", EA=EA, EI=EI, GJ=EI, GA=np.inf, rhoA=0.0)
    corners = np.zeros((3, dimension))
    corners[:, :2] = ((0.0, 0.0), (SPAN, RISE), (2.0 * SPAN, 0.0))
    model.polyline("frame", corners, n)
    model.beams("frame", "frame", "bar", strains=strains)
    model.fix("frame:start")
    model.fix("frame:end")
    if dimension == 3:
        model.fix("frame", ["z"])  # the frame stays in its plane
    model.force("P", "frame:corner_2", -np.eye(dimension)[1])
    model.sensor("apex", "displacement", on="frame:corner_2")
    model.static_step(
        control="arc", until=60.0, on="frame:corner_2", component="y", displacement=-0.5, size=0.01, largest=0.01,
        points=400, stability=True,
    )  # fmt: skip
    return model


def reference() -> dict:
    """Return both limit loads, "limits", and the "path" (k, 2) of the exact frame: apex moved down, load."""
    length, angle = np.hypot(SPAN, RISE), np.arctan2(RISE, SPAN)
    c, s = np.cos(angle), np.sin(angle)
    q0 = quaternion_of(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))

    def conditions(y, p, down):
        clamp, apex = y
        # by symmetry the apex neither turns nor leaves the middle
        turned = q0[0] * apex[4:7] - apex[3] * q0[1:]
        return np.concatenate([clamp[X], clamp[Q] - q0, apex[X] - (SPAN, RISE - down, 0.0), turned])

    bar = ExactBeam(length, np.diag([1.0 / EA, 0.0, 0.0, *[1.0 / EI] * 3]), conditions, intervals=16)
    downs = np.arange(0.01, 0.56, 0.01)
    load = np.array([-2.0 * state.y[-1, N][1] for state in bar.solve(np.zeros(3), q0, downs)])
    limits = []
    for lowest, highest in ((0.15, 0.30), (0.32, 0.47)):
        near = (downs > lowest) & (downs < highest)
        curve = np.polynomial.Polynomial.fit(downs[near], load[near], 10)
        at = curve.deriv().roots()
        at = at[(np.abs(at.imag) < 1e-9) & (at.real > lowest) & (at.real < highest)].real
        limits.append(float(curve(at[0])))
    return {"limits": limits, "path": np.stack([downs, load], axis=1)}


def check(f: Findings) -> None:
    limits, path = reference().values()
    curves = [Curve(path[:, 0], path[:, 1], "exact", "o")]
    for dimension, where in ((3, "space"), (2, "plane")):
        found = []
        for n in MESHES:
            solution = solve(build(n, dimension))
            step = solution.steps[0]
            found.append([c["load_factor"] for c in step.summary["critical_points"]][:2])
            if n == MESHES[-1]:
                down, load = -solution.sensor("apex").values[:, 1], step.series["load factor"]
                curves.append(Curve(down, load, f"{n} elements per bar, {where}"))
        found = np.array(found)
        tends = extrapolated(found, 3.0)
        for k, name in enumerate(("limit load", "lower limit load")):
            f.row(
                "B-TOGGLE", f"{name} that the meshes tend to, {where}", tends[k], limits[k],
                "The file solves the boundary-value problem; extrapolation leaves 1e-6.", INDEPENDENT, relative=1e-6,
            )  # fmt: skip
        errors = np.abs(found[:, 0] - limits[0])
        f.between(
            "B-TOGGLE", f"order of convergence of the limit load, {MESHES[1]} to {MESHES[2]} elements, {where}",
            np.log(errors[1] / errors[2]) / np.log(3.0), 1.8, 5.0, "The order is 2, or 4 for slender bars.",
        )  # fmt: skip
    f.figure("Toggle frame", curves, "Displacement of the apex [in]", "Load [lb]")
