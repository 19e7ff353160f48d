"""Reduced parts against full ones: six methods, convergence with the cut-off, rigid-body modes.

      +--+--+--+--+--+--+--+--+      ______
      |  |  |  |  |  |  |  |  |     |      |      solid bar: free, its ends move rigidly
      +--+--+--+--+--+--+--+--+     |      |      plate: free, the mean motions of its ends
      left                right    ///     o      frame of beams: held at one foot, the other is the interface

Source: R. R. Craig & M. C. C. Bampton, "Coupling of substructures for dynamic analyses", AIAA J. 6 (1968) 1313-1319,
doi:10.2514/3.4741; R. J. Guyan, AIAA J. 3 (1965) 380; R. H. MacNeal, Computers & Structures 1 (1971) 581-601,
doi:10.1016/0045-7949(71)90031-9; S. Rubin, AIAA J. 13 (1975) 995-1006, doi:10.2514/3.60497; R. R. Craig & C.-J. Chang,
AIAA J. 14 (1976) 1633-1635, doi:10.2514/3.7148 (and NASA CR 2873, 1977); D. N. Herting, Finite Elements in Analysis and
Design 1 (1985) 153-164, doi:10.1016/0168-874X(85)90003-4.

Frequencies are compared with free interfaces and with one of them held, where attachment modes have to do what the
modes of the free part cannot.

What must hold of every part: a reduction is a Ritz method on the full matrices, so that frequencies come down to those
of the full part as modes are added and never pass below them (MacNeal's method, which leaves out the mass of the
residual motions, is none); with all modes kept nothing changes; a free part has its rigid-body motions exactly; Rubin's
and Craig and Chang's bases span the same, so that they give the same frequencies.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Mesh, Model, reduce_part, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY, SELF

CAPABILITY = "reduction"
CASES = {"B-CB": "reduced solid, plane and beam parts against full ones by six methods, and their convergence"}

METHODS = ("guyan", "craig_bampton", "macneal", "rubin", "craig_chang", "herting")
SHOWN = 4  # frequencies compared
CUTOFFS = {"solid": (3e3, 6e3, 12e3, 24e3), "plane": (3e3, 6e3, 12e3, 24e3), "frame": (150.0, 300.0, 600.0, 1200.0)}
RIGID = {"solid": 6, "plane": 3, "frame": 0}


def build(part: str = "frame", tied: bool = False, held: str = "") -> Model:
    """Return the whole part; ``tied``: the solid one's ends are rigid by couplings; ``held``: its first interface is
    held."""
    model = Model(3 if part == "solid" else 2, title=part)
    model.material("steel", E=2.1e11, nu=0.3, density=7800.0)
    if part == "frame":
        model.section("leg", "rectangle", width=0.06, height=0.06)
        model.polyline("frame", [(0, 0), (0, 1), (1.5, 1), (1.5, 0)], 4)
        model.beams("frame", "frame", "leg", "steel")
        model.fix("frame:start")
        if held:
            model.fix("frame:end")
        return model
    counts, size = ((8, 2, 2), (1.0, 0.2, 0.15)) if part == "solid" else ((12, 3), (1.0, 0.2))
    dim = len(counts)
    index = np.stack(np.meshgrid(*(np.arange(c + 1) for c in counts), indexing="ij"), axis=-1).reshape(-1, dim)
    points = index / np.array(counts) * size
    stride = np.array([int(np.prod([c + 1 for c in counts[k + 1 :]])) for k in range(dim)])
    first = np.stack(np.meshgrid(*(np.arange(c) for c in counts), indexing="ij"), axis=-1).reshape(-1, dim) @ stride
    square = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    corners = square if dim == 2 else np.array([(*p, z) for z in (0, 1) for p in square])
    cells = first[:, None] + corners @ stride
    ends = {"left": np.flatnonzero(index[:, 0] == 0), "right": np.flatnonzero(index[:, 0] == counts[0])}
    model.mesh("bar", Mesh(points, [("hexahedron" if dim == 3 else "quad", cells)], ends))
    if dim == 3:
        model.solids("bar", on="bar", material="steel")
    else:
        model.planes("bar", on="bar", material="steel", thickness=0.01)
    if tied:
        for end in ends:
            model.node(end, points[ends[end]].mean(axis=0))
            model.coupling(f"tie {end}", end, f"bar:{end}")
    if held:
        model.fix("left" if tied else "bar:left")
    return model


def interfaces(part: str) -> dict:
    """Return interfaces: rigid ends of the solid bar, mean motions of the plate's ends; the frame has a free foot."""
    if part == "frame":
        return {"foot": "frame:end"}
    kind = "rigid" if part == "solid" else "average"
    return {end: {"on": f"bar:{end}", "kind": kind} for end in ("left", "right")}


def full(part: str, held: str = "") -> np.ndarray:
    """Return the lowest elastic frequencies [Hz] of the full part."""
    rigid = 0 if held else RIGID[part]
    model = build(part, part == "solid", held)
    model.modes_step(count=rigid + SHOWN)
    return np.array(solve(model).steps[0].summary["frequencies_hz"])[rigid:]


def reference() -> dict:
    """Return the frequencies [Hz] of the full parts with free interfaces and with the first interface held.

    The plate has no held one: its interface follows the mean of nodes and cannot be held.
    """
    known = {part: full(part) for part in RIGID}
    return known | {f"{part}, held": full(part, "held") for part in ("solid", "frame")}


def frequencies(part) -> np.ndarray:
    """Return the lowest elastic frequencies [Hz] of a reduced part with free interfaces."""
    return np.array([row["frequency_hz"] for row in part.info["accuracy"][:SHOWN]])


def held_frequencies(part) -> np.ndarray:
    """Return the lowest frequencies [Hz] of a reduced part with its first interface held."""
    rest = np.arange(len(part.interfaces[0].components), part.size)
    K, M = part.stiffness[np.ix_(rest, rest)], part.mass[np.ix_(rest, rest)]
    L = np.linalg.inv(np.linalg.cholesky(K))
    return 1.0 / (2.0 * np.pi * np.sqrt(np.linalg.eigvalsh(L @ M @ L.T)[::-1][:SHOWN]))


def reduced(part: str, method: str = "craig_bampton", **options):
    if method == "guyan":
        options = {}
    return reduce_part(build(part), interfaces(part), method, **options)


#: Methods that keep modes of the free part: with interfaces free four of their frequencies are those of the full part.
FREE_MODES = ("macneal", "rubin", "craig_chang", "herting")


def check(f: Findings) -> None:
    known = reference()
    for part in RIGID:
        exact, exact_held = known[part], known.get(f"{part}, held", np.zeros(0))
        found = {}
        for method in METHODS:
            whole = reduced(part, method, modes=10)
            found[method] = frequencies(whole)
            errors = found[method] / exact[: found[method].size] - 1.0
            if method == "guyan":
                static = errors
            elif method in FREE_MODES:
                f.zero(
                    "B-CB", f"{part}, {method}: worst error, interfaces free", np.abs(errors).max(), 1e-9,
                    "Ten modes of the free part are kept; only round-off is left.", SELF,
                )  # fmt: skip
            else:
                f.between(
                    "B-CB", f"{part}, {method}: largest error over that of statics alone, interfaces free",
                    (errors[: static.size] / static).max(), 0.0, 1.0,
                    "Its vectors are those of Guyan's method and modes: a larger space.",
                )  # fmt: skip
            if exact_held.size and (part, method) != ("frame", "guyan"):  # which has nothing left that moves
                low = _held(f, part, method, whole, exact_held)
                errors = np.concatenate((errors, low))
            if method != "macneal":
                f.between(
                    "B-CB", f"{part}, {method}: lowest error", errors.min(), -1e-8, 1.0,
                    "A Ritz method never passes below the full part's frequencies but for round-off.",
                )  # fmt: skip
            motions, K, M = whole.rigid, whole.stiffness, whole.mass
            f.row(
                "B-CB", f"{part}, {method}: rigid-body motions", motions.shape[1], RIGID[part],
                "The reduced part has the rigid-body motions of the full one.",
                PROPERTY, tolerance=0.0,
            )  # fmt: skip
            if motions.shape[1]:
                f.zero(
                    "B-CB", f"{part}, {method}: forces of rigid-body motions / stiffness",
                    np.abs(K @ motions).max() / np.abs(K).max(), 1e-12,
                    "Rigid-body motions strain nothing; only round-off is left.",
                )  # fmt: skip
                volume = 0.03 if part == "solid" else 0.002
                f.row(
                    "B-CB", f"{part}, {method}: mass of a translation [kg]", motions[:, 0] @ M @ motions[:, 0],
                    7800.0 * volume, "The value is exact; only round-off is left.", CLOSED_FORM, relative=1e-9,
                )  # fmt: skip
        f.zero(
            "B-CB", f"{part}: Rubin against Craig-Chang", np.abs(found["rubin"] / found["craig_chang"] - 1.0).max(),
            1e-9, "Both bases span the same space; only round-off is left.", SELF,
        )  # fmt: skip
        every = frequencies(reduced(part, modes=100_000))
        f.zero(
            "B-CB", f"{part}, craig_bampton with all modes: worst error", np.abs(every / exact - 1.0).max(), 1e-10,
            "With all modes nothing is left out; only round-off is left.", SELF,
        )  # fmt: skip
        _convergence(f, part, exact)


def _held(f: Findings, part: str, method: str, whole, exact: np.ndarray) -> np.ndarray:
    """Add rows on the frequencies with the first interface held, and return their relative errors."""
    there = held_frequencies(whole)
    low = there / exact[: there.size] - 1.0
    if (part, method) == ("frame", "craig_bampton"):
        f.zero(
            "B-CB", f"{part}, {method}: worst error, first one held", np.abs(low).max(), 1e-9,
            "Held at its only interface, the part has the modes that are kept; only round-off is left.", SELF,
        )  # fmt: skip
    elif method != "guyan":
        # with 20 modes Herting's method leaves out one of the frame's static vectors as a sum of the modes
        count = 14 if (part, method) == ("frame", "herting") else 20
        more = held_frequencies(reduced(part, method, modes=count)) / exact - 1.0
        f.between(
            "B-CB", f"{part}, {method}: worst error with {count} modes over that with 10, first one held",
            np.abs(more).max() / np.abs(low).max(), 0.0, 1.0, "Errors fall as modes are added.",
        )  # fmt: skip
    return low


def _convergence(f: Findings, part: str, exact: np.ndarray) -> None:
    curves = []
    for method in ("craig_bampton", "rubin"):
        parts = [reduced(part, method, cutoff=cutoff) for cutoff in CUTOFFS[part]]
        errors = np.array([frequencies(p) / exact - 1.0 for p in parts])
        grows = np.diff(errors, axis=0).max()
        f.between(
            "B-CB", f"{part}, {method}: largest growth of an error as the cut-off rises", grows, -1.0, 1e-9,
            "More modes span a larger space; only round-off may remain where nothing is left to gain.",
        )  # fmt: skip
        told = np.array([[row["relative_error"] for row in p.info["accuracy"][:SHOWN]] for p in parts])
        if method == "craig_bampton":
            clear = (errors > 1e-8) & (errors < 1e-2) & np.isfinite(told)
            ratio = told[clear] / errors[clear]
            f.between(
                "B-CB", f"{part}: estimated over true errors, smallest", ratio.min(), 0.95, 2.0,
                "The estimate is an upper bound to first order.",
            )  # fmt: skip
            f.between(
                "B-CB", f"{part}: estimated over true errors, median", float(np.median(ratio)), 0.95, 2.0,
                "The estimate is an upper bound to first order.",
            )  # fmt: skip
        x = np.array(CUTOFFS[part]) / exact[SHOWN - 1]
        curves += [
            Curve(x, np.maximum(errors[:, k], 1e-13), f"{method}, mode {k + 1}", "-" if method == "rubin" else "--")
            for k in (0, SHOWN - 1)
        ]
    f.figure(
        f"Errors of the reduced {part} against the cut-off", curves, f"cut-off / frequency {SHOWN} [-]",
        "relative error [-]", "dashed: Craig-Bampton, modes with held interfaces; full: Rubin, free ones", "loglog",
    )  # fmt: skip
