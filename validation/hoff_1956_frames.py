r"""Portal frame under a line load, and a clamped beam that is on the point of yielding.

          w = 500 lb/in
      vvvvvvvvvvvvvvvvvvvvv        columns   a = 400 in high, I = 20 300 in^4, 2 a apart, clamped
      =====================        girder    5 I; E = 30e6 psi
      |                   |        I-beam    144 in, 2190 lb/in, flanges at 38 000 psi under 3.784e6 lb in; E = 29e6 psi
      |                   |
      #                   #

Without stretching the corners of the portal turn by w a^3/(27 E I), and the largest moment is (19/54) w a^2 in the
middle of the girder.  The clamped beam has w L^2/12 at its ends, half of that in its middle, and sags by
w L^4/(384 E I).

Source: N.J. Hoff, "The analysis of structures", Wiley 1956, p. 115 and p. 388.  The formulas of the portal and the
numbers of the beam were read in the verification manual of ANSYS Mechanical APDL (problems VM217 and VM134; pounds and
inches), which prints them after these pages.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import CLOSED_FORM, in_ansys_manual

CAPABILITY = "beams"
CASES = {
    "B-PORTAL": "corner rotation and largest moment of a portal frame under a line load",
    "B-CLAMPED": "moments and deflection of a clamped beam under a line load",
}

W, A, E, I = 500.0, 400.0, 30e6, 20300.0
EA = 1e13  # of all members, which hardly stretch [lb]
BEAM_W, BEAM_L, BEAM_E = 2190.0, 144.0, 29e6
BEAM_I = 3.784e6 * 5.3 / 38000.0  # the flanges, 5.3 in from the axis, reach 38 000 psi under the moment printed


def model_of(name: str, points: list[tuple[float, float]], stiffness: list[float], n: int) -> Model:
    """Return lines of beams of n elements each, clamped at both ends, which hardly stretch."""
    model = Model(2, name)
    model.polyline("line", points, n)
    for k, EI in enumerate(stiffness, start=1):
        model.section(f"section {k}", "stiffness", EA=EA, EI=EI, GA=np.inf, rhoA=0.0)
        model.beams(f"member {k}", f"line:segment_{k}", f"section {k}")
    model.fix("line:start")
    model.fix("line:end")
    return model


def build(n: int = 8) -> Model:
    """Return the portal."""
    corners = [(0.0, 0.0), (0.0, A), (2.0 * A, A), (2.0 * A, 0.0)]
    model = model_of("portal frame", corners, [E * I, 5.0 * E * I, E * I], n)
    model.line_load("w", "member 2", (0.0, -W))
    model.sensor("corner", "rotation", on="line:corner_2")
    model.sensor("M", "element", on="member 2", element=n // 2, quantity="M_p")
    model.sensor("M end", "element", on="member 2", element=0, quantity="M_p")
    model.linear_static_step()
    return model


def clamped(n: int = 8) -> Model:
    half = 0.5 * BEAM_L
    model = model_of("clamped beam", [(0.0, 0.0), (half, 0.0), (BEAM_L, 0.0)], [BEAM_E * BEAM_I] * 2, n)
    for k in (1, 2):
        model.line_load(f"w {k}", f"member {k}", (0.0, -BEAM_W))
    model.sensor("middle", "displacement", on="line:corner_2")
    model.sensor("foot", "reaction", on="line:start")
    model.sensor("M", "element", on="member 2", element=0, quantity="M_p")
    model.linear_static_step()
    return model


def reference() -> dict:
    """Return of the portal rotation of a corner [rad] and moment in the middle [lb in], by the formulas that are
    printed; of the beam deflection [in] and moments [lb in], as printed."""
    return {
        "corner": W * A**3 / (27.0 * E * I),
        "middle": 19.0 / 54.0 * W * A**2,
        "beam": {"deflection": "-.160", "end": "3.784e6", "middle": "1.892e6"},
    }


def check(f: Findings) -> None:
    known = reference()
    solution = solve(build())
    exact = "The elements are exact under a line load; members stretch by the part 12 E I/(EA L^2) of their bending."
    stretch = 12.0 * E * I / (EA * A**2)
    turn, middle = (abs(solution.sensor(name).values[-1, 0]) for name in ("corner", "M"))
    f.row("B-PORTAL", "rotation of a corner [rad]", turn, known["corner"], exact, CLOSED_FORM, relative=stretch)
    f.row("B-PORTAL", "moment in the middle of the girder [lb in]", middle, known["middle"], exact, CLOSED_FORM,
          relative=stretch)  # fmt: skip
    corner = 0.5 * W * A**2 - known["middle"]
    f.row("B-PORTAL", "moment in a corner [lb in]", abs(solution.sensor("M end").values[-1, 0]), corner,
          exact, CLOSED_FORM, relative=stretch)  # fmt: skip
    solution = solve(clamped())
    found = {
        "deflection": solution.sensor("middle").values[-1, 1],
        "end": abs(solution.sensor("foot").values[-1, 2]),
        "middle": abs(solution.sensor("M").values[-1, 0]),
    }
    for name, text in known["beam"].items():
        f.digits("B-CLAMPED", f"{name} of the clamped beam [in, lb in]", found[name], text,
                 in_ansys_manual("Hoff (1956), p. 388", "VM134"))  # fmt: skip
    x = np.linspace(0.0, 1.0, 101)
    sag = -BEAM_W * BEAM_L**4 / (24.0 * BEAM_E * BEAM_I) * x**2 * (1.0 - x) ** 2
    line = np.asarray(solution.steps[0].frames["displacement"])[-1][:, 1]
    f.figure(
        "Clamped beam",
        [Curve(np.linspace(0.0, 1.0, len(line)), line, "fem-mbs", "o-"), Curve(x, sag, "closed form", ":"),
         published("Hoff (1956)", 0.5, known["beam"]["deflection"])],
        "Place over the length [-]", "Deflection [in]",
    )  # fmt: skip
