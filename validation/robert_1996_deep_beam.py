"""A deep pinned beam: frequencies of bending with shear and rotary inertia, as a beam and as a plane.

The beam is ten times as long as it is high, so that shear and rotary inertia lower its frequencies, by a fifth in the
fourth mode.  It is pinned at one end and rolls at the other one.

      =====================      2 m, .2 m high
      A                   A      E = 210 GPa, nu = .3, 7800 kg/m^3, shear coefficient 5/6
                          o

Source: G. Robert, "Analytical solutions in structural dynamics", Samtech report 121, Liege 1996.  The frequencies were
read in the validation manual of Code_Aster, V2.04.302 (SDLV302), which prints them with the formula; the height, which
it leaves to a figure, follows from them.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Mesh, Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import CLOSED_FORM, printed
from fem_mbs.validation.shell_grids import square

CAPABILITY = "modes"
CASES = {"B-DEEP": "frequencies of a deep pinned beam in bending and stretching, as a beam and as a plane"}

LENGTH, HEIGHT, E, NU, DENSITY, SHEAR = 2.0, 0.2, 210e9, 0.3, 7800.0, 5.0 / 6.0
ORDERS = (1, 2, 0, 3, 4)  # waves of bending; 0: stretching


def build(n: int = 40) -> Model:
    """Return the beam of n elements in the plane with its modes."""
    model = Model(2, "deep beam")
    model.material("steel", E=E, nu=NU, density=DENSITY)
    model.section("bar", "general", A=HEIGHT, I=HEIGHT**3 / 12.0, k=SHEAR)  # 1 m wide
    model.line("beam", (0.0, 0.0), (LENGTH, 0.0), n)
    model.beams("beam", "beam", "bar", "steel")
    model.fix("beam:start", ["x", "y"])
    model.fix("beam:end", ["y"])
    model.modes_step(count=5)
    return model


def plane(n: int = 20) -> Model:
    """Return the beam as a plane of n x 2 quadratic cells; its end sections hold still across the beam's line.

    The section at the pinned end holds its mean place along the beam as well, by the node in its middle.
    """
    cells = square(lambda u, v: (LENGTH * u, HEIGHT * (v - 0.5), 0.0 * u), n, 2, "quad8")
    model = Model(2, "deep plane")
    model.material("steel", E=E, nu=NU, density=DENSITY)
    model.mesh("p", Mesh(cells.points[:, :2], cells.blocks, cells.node_sets))
    model.planes("p", "p", "steel")
    model.fix("p:left", ["y"])
    model.fix("p:right", ["y"])
    left = model.meshes["p"][0].node_sets["left"]
    share = (1.0, 4.0, 2.0, 4.0, 1.0)  # Simpson's rule: the mean of the quadratic sides
    model.equation("mean", [{"on": int(node), "component": "x", "coefficient": w}
                            for node, w in zip(left, share, strict=True)])  # fmt: skip
    model.modes_step(count=5)
    return model


def reference() -> dict[str, tuple[str, ...]]:
    """Return the frequencies [Hz]."""
    return {"frequencies": ("115.7", "442.2", "648.6", "931.6", "1534.0")}


def exact(k: int) -> float:
    """Return the frequency [Hz] of k half waves of bending, or of the first one of stretching (k = 0)."""
    if not k:
        return float(np.sqrt(E / DENSITY) / (4.0 * LENGTH))
    j = HEIGHT**2 / (12.0 * LENGTH**2)
    g = j * 2.0 * (1.0 + NU) / SHEAR
    s = (k * np.pi) ** 2
    value = ((g + j) * s + 1.0 - np.sqrt((g - j) ** 2 * s**2 + 2.0 * (g + j) * s + 1.0)) / (2.0 * g * j)
    return float(np.sqrt(value * E * HEIGHT**2 / (12.0 * DENSITY)) / (2.0 * np.pi * LENGTH**2))


def check(f: Findings) -> None:
    where = printed("Robert (1996), in the validation manual of Code_Aster, V2.04.302")
    beam = np.array(solve(build()).steps[-1].summary["frequencies_hz"])
    solid = np.array(solve(plane()).steps[-1].summary["frequencies_hz"])
    for k, (order, text) in enumerate(zip(ORDERS, reference()["frequencies"], strict=True)):
        mesh = (max(order, 0.5) * np.pi / 40.0) ** 2 / 12.0
        f.digits("B-DEEP", f"frequency {k + 1} of the beam [Hz]", beam[k], text, where, error=mesh,
                 why="(k pi/40)^2/12: shear and rotary inertia are linear in an element")  # fmt: skip
        f.row(
            "B-DEEP", f"frequency {k + 1} of the beam against Timoshenko's equation [Hz]", beam[k], exact(order),
            "(k pi/40)^2/12: shear and rotary inertia are linear in an element.", CLOSED_FORM, relative=mesh,
        )  # fmt: skip
        f.digits(
            "B-DEEP", f"frequency {k + 1} of the plane [Hz]", solid[k], text, where, error=1e-2,
            why="the shear coefficient is .83 to .87, and shear takes up to a third of the bending",
        )  # fmt: skip
    numbers = np.arange(1.0, 6.0)
    f.figure(
        "Frequencies",
        [Curve(numbers, beam, "beam", "bar"), Curve(numbers, solid, "plane", "bar"),
         published("Robert (1996)", numbers, reference()["frequencies"])], "Mode", "Frequency [Hz]",
    )  # fmt: skip
