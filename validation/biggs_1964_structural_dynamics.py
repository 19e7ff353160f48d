r"""A beam and a spring that flows under suddenly applied forces.

A pinned beam carries a mass in its middle, under a force that rises to a constant value; a mass on a spring that flows
under a constant force; and the first frequency of a pinned beam.

            F(t)               20 |   ______         F = 30 kip, flows from 45.288 kip on
      ______(m)______             |  /               (m)--/\/\--|
      ^     240     ^             |_/_________ t     bar of 18 x 1.647 in
                                    .075 s

Source: J.M. Biggs, "Introduction to structural dynamics", McGraw-Hill 1964.  The numbers were read in the verification
manual of ANSYS Mechanical APDL (problems VM70, 77, 80; inches, kips or pounds, seconds), which prints them after the
pages named.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, interpolated_extreme, published
from fem_mbs.validation.kinds import Kind, in_ansys_manual

CAPABILITY = "integration"
CASES = {"B-BIGGS": "a beam under a force with a finite rise time, a spring that flows, the frequency of a beam"}
DEVIATIONS = (
    "Biggs (1964), p. 50: a dynamic factor of 1.38, read from a chart, is 1.399.",
    "Biggs (1964), p. 69: the largest displacement .806 in is .8043 in.",
)


def source(where: str, problem: int) -> Kind:
    return in_ansys_manual(f"Biggs (1964), {where}", f"VM{problem}")


def build(n: int = 2, rho_a: float = 0.0, EI: float = 30e3 * 800.6, EA: float = 30e3 * 29.6) -> Model:
    """Return a pinned beam of 240 in with n elements."""
    model = Model(2, "pinned beam")
    model.section("beam", "stiffness", EA=EA, EI=EI, GA=np.inf, rhoA=rho_a, rhoI=0.0)
    model.line("beam", (0.0, 0.0), (240.0, 0.0), n)
    model.beams("beam", "beam", "beam")
    model.fix("beam:start", ["y"])
    model.fix("beam:end", ["y"])
    model.fix("beam:start", ["x"])
    return model


def reference() -> dict[str, tuple[str, ...]]:
    """Return the printed numbers: times [s], deflections [in], stress [ksi], frequency [Hz]."""
    return {"rise": (".092", ".331", "18.6"), "flow": (".806", ".0669", ".438", ".122"), "beam": ("6.0979",)}


def check(f: Findings) -> None:
    known = reference()
    inertia, half = 1.647 * 18.0**3 / 12.0, 9.0
    model = build(EI=30e3 * inertia, EA=30e3 * 18.0 * 1.647)
    middle = 1
    model.point_mass("mass", middle, 0.0259067)
    model.force("push", middle, (0.0, 20.0), function={"kind": "ramp", "duration": 0.075})
    model.sensor("u", "displacement", on=middle)
    model.sensor("M", "element", on="beam", element=0, quantity="M_q")
    model.linear_transient_step(0.1, 5e-4)
    step = solve(model).steps[-1]
    u = step.series["sensor/u"][:, 1]
    chart = "dynamic factor 1.38, read from a chart (1.399 in closed form)"
    time, largest = interpolated_extreme(step.time, u, np.argmax)
    where = source("p. 50, example e", 77)
    f.digits("B-BIGGS", "time of the largest deflection [s]", time, known["rise"][0], where)
    f.digits("B-BIGGS", "largest deflection under a force that rises in .075 s [in]", largest, known["rise"][1], where,
             error=0.015, why=chart)  # fmt: skip
    stress = np.abs(step.series["sensor/M"]).max() * half / inertia
    f.digits("B-BIGGS", "largest bending stress [ksi]", stress, known["rise"][2], where, error=0.015, why=chart)
    model = Model(2, "plastic spring")
    model.node("m", (0.0, 0.0))
    model.point_mass("mass", "m", 0.0259)
    model.fix("m", ["y"])
    model.spring("k", "ground", "m", 0.278 * 30e3 / 100.0, point_a=(-100.0, 0.0), yield_force=162.9 * 0.278)
    model.force("push", "m", (30.0, 0.0))
    model.sensor("u", "displacement", on="m")
    model.transient_step(0.14, 1e-4, frames=0)
    flow = solve(model).steps[-1]
    x = flow.series["sensor/u"][:, 0]
    where = source("p. 69, art. 2.7", 80)
    top = interpolated_extreme(flow.time, x, np.argmax)
    after = flow.time > top[0]
    low = interpolated_extreme(flow.time[after], x[after])
    for quantity, found, text in zip(
        ("largest displacement, plastic [in]", "its time [s]", "least displacement after it [in]", "its time [s]"),
        (top[1], top[0], low[1], low[0]), known["flow"], strict=True,
    ):  # fmt: skip
        f.digits("B-BIGGS", quantity, found, text, where, error=3e-3, why="numbers of three digits on the way")
    model = build(8, 73e-5 * 273.9726, 30e6 * 1000.0 / 3.0, 30e6 * 273.9726)
    model.modes_step(count=1)
    f.digits(
        "B-BIGGS", "first frequency of a pinned beam [Hz]", solve(model).steps[-1].summary["frequencies_hz"][0],
        known["beam"][0], source("p. 262, art. 6.4", 70), error=5e-5, why="8 cubic elements",
    )  # fmt: skip
    f.figure(
        "Deflections",
        [
            Curve(step.time, u, "beam, force with a rise time"),
            Curve(flow.time, x, "spring that flows"),
            published("Biggs (1964)", known["rise"][0], known["rise"][1]),
            published("", known["flow"][1::2], known["flow"][::2]),
        ],
        "Time [s]", "Deflection [in]",
    )  # fmt: skip
