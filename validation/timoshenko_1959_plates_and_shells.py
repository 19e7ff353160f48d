"""Large deflections of a circular plate and of a circular membrane under pressure.

      plate      a = .25 m, h = 2.5 mm, E = 2e11 Pa, nu = .3, clamped, 6585.175 Pa
      membrane   a = 10 in, h = 1e-4 in, E = 30e6 psi, nu = .25, its rim held, .1 psi

              ________
       rim |-'        '-|   w = half of the thickness (plate), 4590 thicknesses (membrane)

Source: S. Timoshenko, S. Woinowsky-Krieger, "Theory of plates and shells", 2nd ed., McGraw-Hill 1959, equations 232 and
236.  The numbers were read in the verification manual of ANSYS Mechanical APDL (problems VM137 and 138), which prints
them after these equations.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import in_ansys_manual
from fem_mbs.validation.shell_grids import quarter_disc

CAPABILITY = "shells"
CASES = {"S-LARGE": "deflection of a clamped circular plate and of a membrane, large against the thickness"}

BOOK = "Timoshenko and Woinowsky-Krieger (1959)"


def build(
    radius: float = 0.25, E: float = 2e11, nu: float = 0.3, thickness: float = 0.0025, pressure: float = 6585.175,
    rim: str = "clamped", n: int = 4, expansion: float = 0.0,
) -> Model:  # fmt: skip
    """Return a quarter of the plate or membrane."""
    model = Model(3, "circular plate")
    model.material("material", E=E, nu=nu, density=0.0, expansion=expansion)
    model.mesh("s", quarter_disc(radius, n, "quad8"))
    model.shells("shell", on="s", material="material", thickness=thickness)
    model.fix("s", ["rotation z"])
    model.fix("s:y = 0", ["y", "rotation x"])
    model.fix("s:x = 0", ["x", "rotation y"])
    model.fix("s:rim", ["x", "y", "z"] + (["rotation x", "rotation y"] if rim == "clamped" else []))
    model.pressure("p", on="s:body", value=-pressure, function={"kind": "ramp", "start": 0.1, "duration": 0.6})
    model.sensor("u", "displacement", on="s:centre")
    return model


def reference() -> dict:
    """Return deflections [m], [in] and stresses [psi] in the middle and at the rim."""
    return {"plate": "-.00125", "membrane": ("-.459", "61010", "47310")}


def check(f: Findings) -> None:
    known = reference()
    model = build()
    model.static_step(increments=4, duration=0.7)
    solution = solve(model)
    path = np.abs(solution.sensor("u").values[:, 2])
    f.row(
        "S-LARGE", "deflection of a clamped plate [m]", path[-1], -float(known["plate"]),
        "3 %: a cubic equation of one assumed shape", in_ansys_manual(f"{BOOK}, eq. 232", "VM138"), relative=0.03,
    )  # fmt: skip
    curves = [
        Curve(path / 0.0025, np.linspace(0.0, 6585.0, len(path)), "fem-mbs"),
        published("Timoshenko (1959)", -float(known["plate"]) / 0.0025, 6585.0),
    ]
    f.figure("Clamped plate", curves, "w/h", "p [Pa]")
    # cooled while the pressure rises, or the flat membrane has no stiffness
    model = build(10.0, 30e6, 0.25, 1e-4, 0.1, "held", 3, expansion=1e-5)
    cold = {"kind": "table", "times": [0.0, 0.1, 0.7, 1.0], "values": [0.0, 1.0, 1.0, 0.0]}
    model.temperature("cold", "s:body", value=-50.0, function=cold)
    model.static_step(increments=10, duration=1.0)
    solution = solve(model)
    stress = np.asarray(solution.steps[-1].frames["stress middle [Pa]"])[-1]
    sets = model.meshes["s"][0].node_sets
    where = in_ansys_manual(f"{BOOK}, eq. 236", "VM137")
    for quantity, value, text in (
        ("deflection of a membrane [in]", abs(solution.sensor("u").values[-1, 2]), known["membrane"][0]),
        ("stress in its middle [psi]", stress[int(sets["centre"][0]), 0], known["membrane"][1]),
        ("radial stress at its rim [psi]", stress[int(sets["A"][0]), 0], known["membrane"][2]),
    ):
        f.row("S-LARGE", quantity, value, abs(float(text)), "3 %: factors of three digits for one Poisson's ratio",
              where, relative=0.03)  # fmt: skip
