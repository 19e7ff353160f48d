"""A truss of two components: frequencies by component mode synthesis.

Two plane trusses of five and four bays are joined end to end, and clamped at one end.  Of each component seven modes
with a held interface are kept.

      #--+--+--+--+--+--+--+--+--+     bays of 40, two rows of 30; rods A = .3, E = 1e7, density 2.5e-3
      |\\ |\\ |\\ |\\ |\\ |\\ |\\ |\\ |\\ |
      #--+--+--+--+--+--+--+--+--+
      |/ |/ |/ |/ |/ |/ |/ |/ |/ |
      #--+--+--+--+--+--+--+--+--+
       component A     | component B

Source: D.N. Herting, "Accuracy of results with NASTRAN modal synthesis", NASA CP-2062 (1978), 389-404, as the NASTRAN
demonstration problem manual, problem 2-3, prints it (table 1: frequencies of the synthesis with 20 degrees of freedom,
and their differences from the full model); read, with the decks, in NASTRAN-95.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from fem_mbs import Mesh, Model, reduce_part, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import printed

CAPABILITY = "reduction"
CASES = {"B-TRUSS-SYNTHESIS": "frequencies of a truss of two components with seven modes each, and of the whole"}

KEPT, SHOWN = 7, 17
WIDTH, HEIGHT, AREA, E, DENSITY = 40.0, 30.0, 0.3, 1e7, 2.5e-3


def rods(first: int, bays: int) -> np.ndarray:
    """Return the rods of a truss that begins at a column of points: chords, posts at both ends, and diagonals from the
    middle chord onwards."""
    columns = first + np.arange(bays + 1)
    found = [(3 * i + j, 3 * i + j + 1) for i in columns for j in range(2)]
    found += [(3 * i + j, 3 * i + j + 3) for i in columns[:-1] for j in range(3)]
    found += [(3 * i + 1, 3 * i + j) for i in columns[:-1] for j in (3, 5)]
    return np.array(found)


def build(which: str = "AB") -> Model:
    """Return component A, clamped at its start, component B, or both, without steps."""
    model = Model(2, "truss of two components")
    model.section("rod", "stiffness", EA=E * AREA, rhoA=DENSITY * AREA)
    first, last = (5 if which == "B" else 0), (5 if which == "A" else 9)
    points = np.array([(WIDTH * i, HEIGHT * (j - 1)) for i in range(first, last + 1) for j in range(3)])
    # both have the posts where they meet
    blocks: list[Any] = [("line2", rods(5 * (part == "B" and which == "AB"), 5 if part == "A" else 4))
                         for part in which]  # fmt: skip
    sets = {part: ((k, np.arange(len(block[1]))),) for k, (part, block) in enumerate(zip(which, blocks, strict=True))}
    joint = 0 if which == "B" else 15
    nodes = {"clamp": np.arange(3)} | {f"joint {j}": np.array([joint + j]) for j in range(3)}
    model.mesh("truss", Mesh(points, blocks, nodes, sets))
    for part in which:
        model.trusses(part, f"truss:{part}", "rod")
    if "A" in which:
        model.fix("truss:clamp")
    return model


def synthesis(modes: int = KEPT) -> np.ndarray:
    """Return frequencies [Hz] of both components by Craig and Bampton's reduction, joined at their interface."""
    parts = [reduce_part(build(part), {f"joint {j}": f"truss:joint {j}" for j in range(3)}, "craig_bampton",
                         modes=modes) for part in "AB"]  # fmt: skip
    size, shared = parts[0].size, 6  # displacements of the joint come first
    total = 2 * size - shared
    K, M = np.zeros((total, total)), np.zeros((total, total))
    for part, own in zip(parts, (np.arange(size), np.r_[0:shared, size:total]), strict=True):
        K[np.ix_(own, own)] += part.stiffness
        M[np.ix_(own, own)] += part.mass
    return np.sqrt(np.abs(scipy.linalg.eigh(K, M, eigvals_only=True))) / (2.0 * np.pi)


def reference() -> dict[str, tuple[str, ...]]:
    """Return frequencies [Hz] of the synthesis, and their differences from the full model [%]."""
    return {
        "synthesis": ("3.596", "17.564", "28.492", "39.507", "61.099", "80.280", "84.454", "98.898", "111.764",
                      "123.348", "127.556", "130.359", "134.922", "153.606", "162.019", "180.321", "200.702"),
        "difference": (".0085", ".0012", ".0639", ".0011", ".0051", ".0066", ".379", ".039", ".018", ".345", ".548",
                       ".155", "2.220", ".174", "2.98", "5.27", "14.89"),
    }  # fmt: skip


def check(f: Findings) -> None:
    where = printed("Herting (1978), as table 1 of NASTRAN demonstration problem 2-3 prints it")
    known = reference()
    found = synthesis()[:SHOWN]
    model = build()
    model.modes_step(count=SHOWN)
    whole = np.array(solve(model).steps[-1].summary["frequencies_hz"])
    differences = 100.0 * (found / whole - 1.0)
    for k, (frequency, difference) in enumerate(zip(known["synthesis"], known["difference"], strict=True)):
        f.digits("B-TRUSS-SYNTHESIS", f"frequency {k + 1} by synthesis [Hz]", found[k], frequency, where)
        full = float(frequency) / (1.0 + 0.01 * float(difference))
        f.row(
            "B-TRUSS-SYNTHESIS", f"frequency {k + 1} of the whole [Hz]", whole[k], full,
            "One unit of the last digit of both numbers, from which it is reckoned.", where,
            tolerance=1e-3 + full * 0.01 * 10.0 ** -len(difference.partition(".")[2]),
        )  # fmt: skip
    order = np.arange(1.0, SHOWN + 1.0)
    f.figure(
        "Differences of the synthesis from the whole",
        [Curve(order, np.maximum(differences, 1e-4), "fem-mbs", "bar"),
         published("Herting (1978)", order, known["difference"])], "Mode", "[%]", "", "log",
    )  # fmt: skip
