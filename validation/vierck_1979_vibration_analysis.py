r"""Two masses on two springs: response to a force that is applied for 1.8 s, and to harmonic forces.

      |--/\/\/--(m2)--/\/\/--(m1)--> F        k2 = 16, k1 = 6 N/m, m1 = m2 = 2 kg, F = 50 N
          k2           k1

Source: R.K. Vierck, "Vibration analysis", 2nd ed., Harper & Row 1979, sections 4-2 and 5-8.  The numbers were read in
the verification manual of ANSYS Mechanical APDL (problems VM182 and 183).
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import in_ansys_manual

CAPABILITY = "modes"
CASES = {"B-VIERCK": "two masses under a force that is applied for 1.8 s, and shaken"}
# half at the jump, where two time steps meet
PUSH = {"kind": "table", "times": [0.0, 1.8 - 1e-9, 1.8, 1.8 + 1e-9, 9.0], "values": [1.0, 1.0, 0.5, 0.0, 0.0]}


def build() -> Model:
    """Return the chain from the wall: m2, m1."""
    model = Model(2, "two masses")
    for i, (name, stiffness) in enumerate((("m2", 16.0), ("m1", 6.0))):
        model.node(name, (1.0 + i, 0.0))
        model.point_mass(f"mass {name}", name, 2.0)
        model.fix(name, ["y"])
        model.nodal_spring(f"k {name}", name, "x", stiffness, against="m2" if i else "ground")
        model.sensor(f"u {name}", "displacement", on=name)
    model.force("F", "m1", (50.0, 0.0), function=PUSH)
    return model


def reference() -> dict:
    """Return displacements [m] of m1 and m2 by times [s] and frequencies [Hz]."""
    return {
        "time": {1.3: ("14.48", "3.99"), 2.4: ("18.32", "6.14")},
        "frequency": {0.226: ("-1371.7", "-458.08"), 0.91: ("-.8539", ".1181")},
    }


def check(f: Findings) -> None:
    known = reference()
    model = build()
    model.linear_transient_step(2.4, 5e-3)
    step = solve(model).steps[-1]
    u = {name: step.series[f"sensor/u {name}"][:, 0] for name in ("m1", "m2")}
    for when, texts in known["time"].items():
        i = int(np.argmin(np.abs(step.time - when)))
        for name, text in zip(u, texts, strict=True):
            f.digits("B-VIERCK", f"displacement of {name} after {when:g} s [m]", u[name][i], text,
                     in_ansys_manual("Vierck (1979), section 5-8", "VM182"))  # fmt: skip
    model = build()
    at = list(known["frequency"])
    model.harmonic_step(at, amplitudes={"F": 1.0}, method="direct", frames=0)
    solution = solve(model)
    for name in u:
        found = solution.response(f"u {name}").values[:, 0].real
        for k, hz in enumerate(at):
            f.digits("B-VIERCK", f"displacement of {name} shaken at {hz:g} Hz [m]", found[k],
                     known["frequency"][hz][0 if name == "m1" else 1],
                     in_ansys_manual("Vierck (1979), section 4-2", "VM183"))  # fmt: skip
    points = published("Vierck (1979)", list(known["time"]), list(known["time"].values()))
    curves = [*(Curve(step.time, u[name], name) for name in u), points]
    f.figure("Force for 1.8 s", curves, "Time [s]", "Displacement [m]")
