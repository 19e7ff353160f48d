"""Two classical shells: a cylinder that is pinched at two points, and a vaulted roof under its weight.

      cylinder   r = 4.953 in, 10.35 in long, free ends, h = .094 in, two forces of 100 lb
      roof       r = 25 m, 50 m long, 80 degrees, h = .25 m, on diaphragms, 36.7347 kg/m^3 and 9.8 m/s^2

                F                      .--~~~--.
             .--v--.                 /     B     \\  A is the middle of the straight edge,
            (       )               A             A  B that of the crown
             '--^--'

Source: R.D. Cook, "Concepts and applications of finite element analysis", 2nd ed., Wiley 1981, pp. 284-287.  The
numbers were read in the verification manual of ANSYS Mechanical APDL (problems VM6 and 42), which prints them after
these pages.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import in_ansys_manual
from fem_mbs.validation.shell_grids import shell, square

CAPABILITY = "shells"
CASES = {"S-COOK": "a pinched cylinder with free ends, a vaulted roof"}
DEVIATIONS = (
    "Cook (1981): the stresses of the roof are those of 4 x 4 eight-node cells; finer meshes have 7 to 11 % more "
    "at the free edge.",
    "Cook (1981): A moves by .3019 m down and .1593 m inwards; meshes that are graded towards the free edge, where "
    "shear acts, tend to .3015 and .1589, so that no row compares with these numbers.",
)


def build(n: int = 8) -> Model:
    """Return an eighth of the cylinder: from its crown at z = R down, from its middle at y = 0 to a free end."""

    def place(a, b):
        t = 0.5 * np.pi * a
        return 4.953 * np.sin(t), 5.175 * b, 4.953 * np.cos(t)

    model = shell(square(place, n, n, "quad8"), 10.5e6, 0.3125, 0.094)
    model.fix("s:bottom", ["y", "rotation x", "rotation z"])
    model.fix("s:left", ["x", "rotation y", "rotation z"])
    model.fix("s:right", ["z", "rotation x", "rotation y"])
    model.force("F", "s:a", (0.0, 0.0, -25.0))
    model.sensor("u", "displacement", on="s:a")
    model.linear_static_step()
    return model


def roof(n: int = 8) -> Model:
    """Return a quarter of the roof: from its crown to the free edge, from its middle at y = 0 to a diaphragm."""

    def place(a, b):
        t = np.radians(40.0) * a
        return 25.0 * np.sin(t), 25.0 * b, 25.0 * np.cos(t)

    mesh = square(place, n, n, "quad8")
    model = Model(3, "roof", gravity=(0.0, 0.0, -9.8))
    model.material("shell", E=4.32e8, nu=0.0, density=36.7347)
    model.mesh("s", mesh)
    model.shells("shell", on="s", material="shell", thickness=0.25)
    model.fix("s:bottom", ["y", "rotation x", "rotation z"])
    model.fix("s:left", ["x", "rotation y", "rotation z"])
    model.fix("s:top", ["x", "z", "rotation y"])
    model.linear_static_step()
    return model


def roof_stresses(n: int) -> tuple[float, ...]:
    """Return stresses [Pa] along the roof at A, on top and below, and across it at B."""
    model = roof(n)
    step = solve(model).steps[-1]
    sets = model.meshes["s"][0].node_sets
    top, bottom = (np.asarray(step.frames[s])[-1] for s in ("stress [Pa]", "stress bottom [Pa]"))
    A, B = int(sets["b"][0]), int(sets["a"][0])
    return top[A, 1], bottom[A, 1], top[B, 0], bottom[B, 0]


def reference() -> dict[str, tuple[str, ...]]:
    """Return the displacement [in] and stresses [Pa]: along the roof at A, across it at B, on top and below."""
    return {"cylinder": ("0.1139",), "stress": ("215570", "340700", "191230", "-218740")}


def check(f: Findings) -> None:
    known = reference()
    meshes = np.array([2, 4, 8, 16])
    found = np.array([-solve(build(int(n))).sensor("u").values[-1, 2] for n in meshes])
    f.digits("S-COOK", "displacement of a pinched cylinder, 16 x 16 cells [in]", found[-1], known["cylinder"][0],
             in_ansys_manual("Cook (1981), pp. 284-287, cylinder", "VM6"))  # fmt: skip
    curves = [Curve(1.0 / meshes, found, "fem-mbs", "o-"), published("Cook (1981)", 0.0, known["cylinder"][0])]
    f.figure("Pinched cylinder", curves, "1/cells per side", "Displacement [in]")
    where = in_ansys_manual("Cook (1981), pp. 284-287, roof", "VM42")
    four, eight = roof_stresses(4), roof_stresses(8)
    for k, quantity in enumerate(("along the roof at A, top", "along the roof at A, bottom",
                                  "across the roof at B, top", "across the roof at B, bottom")):  # fmt: skip
        f.row("S-COOK", f"stress {quantity}, 4 x 4 cells [Pa]", four[k], float(known["stress"][k]),
              "A third of the change to 8 x 8 cells: what the printed mesh leaves, where elements differ.", where,
              tolerance=abs(eight[k] - four[k]) / 3.0)  # fmt: skip
