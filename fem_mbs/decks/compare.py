"""Run the decks of a folder and compare their prints with CalculiX's results (NAME.dat.ref, NAME.dat).

A table is compared entry by entry: the difference is the largest distance of two rows (node, integration point), over
the largest row of the reference.  Frequencies and load factors are compared one by one, the worst is shown; effective
masses over the total mass of their direction, summed over modes of one frequency, whose shapes are not determined.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.decks.formats import DECK_FORMATS
from fem_mbs.elements.solids.mass import linear_images
from fem_mbs.errors import FemMbsError, InputError, MeshError
from fem_mbs.meshes.abaqus.calculix_dat import DatFile, Modes, Print, read_dat
from fem_mbs.meshes.abaqus.deck import Effect

if TYPE_CHECKING:
    from fem_mbs.analysis.steps.modes import Participation
    from fem_mbs.results.report import PrintTable, StepReport

__all__ = ["Row", "as_json", "compare_deck", "compare_folder", "count_decks", "table"]

#: Largest difference where the element formulations are the same.
SAME = 1e-3
#: That of elements with incompatible modes that are no parallelepipeds.
DISTORTED = 0.03
_BEAM = "CalculiX makes solids of beams: "
#: Modes whose frequencies differ by less, relatively, share their effective masses.
_CLUSTER = 1e-4


@dataclass(frozen=True)
class Row:
    """One comparison: measured and reference value where the difference is largest, relative difference, margin and
    the reason for it; status "ok", "outside", "missing", "refused" (the deck), or "not compared", with the reason in
    ``why``."""

    deck: str
    step: int
    quantity: str
    measured: float
    reference: float
    difference: float
    margin: float
    why: str
    status: str


def _row(deck, step, quantity, measured, reference, difference, margin, why) -> Row:
    good = bool(difference <= margin)
    return Row(deck, step, quantity, float(measured), float(reference), float(difference), margin, why,
               "ok" if good else "outside")  # fmt: skip


def _without(deck: str, step: int, quantity: str, why: str, status: str = "not compared") -> Row:
    return Row(deck, step, quantity, np.nan, np.nan, np.nan, np.nan, why, status)


def compare_folder(folder: str | Path, only: Iterable[str] = ()) -> list[Row]:
    """Return rows of all decks of a folder, or of those named ``only``, without their ending.

    Raises:
        MeshError: there are no decks.
    """
    folder, names = Path(folder), list(only)
    found = [(path, form) for path in sorted(folder.glob("*")) for form in DECK_FORMATS if form.within(path)]
    found = [(path, form) for path, form in found if not names or path.stem in names]
    if not found:
        raise MeshError(
            f"{folder}: there are no decks ({', '.join(e for f in DECK_FORMATS for e in f.suffixes)}) there"
        )
    return [row for path, form in found for row in form.compare(path)]


def compare_deck(path: str | Path) -> list[Row]:
    """Return rows of one deck; one that cannot be run has one row that says why."""
    from fem_mbs.decks.run import solve_deck

    path = Path(path)
    name = path.stem
    reference = next((p for p in (path.with_suffix(".dat.ref"), path.with_suffix(".dat")) if p.exists()), None)
    try:
        converted, solution = solve_deck(path)
    except InputError as error:
        return [_without(name, 0, "run", " ".join(str(error).split()), "refused")]
    except FemMbsError as error:
        return [_without(name, 0, "run", " ".join(str(error).split()), "missing")]
    types = {g.type for g in converted.conversion.groups} | _distorted(converted.conversion)
    summary = solution.report
    steps = summary.steps if summary is not None else []
    rows = [_without(name, 0, "note", str(n)) for n in converted.notes if n.effect is not Effect.NONE]
    if reference is None:
        return [*rows, _without(name, 0, "run", "it ran; there is no reference beside it")]
    try:
        dat = read_dat(reference)
    except FemMbsError as error:
        return [*rows, _without(name, 0, "reference", " ".join(str(error).split()), "missing")]
    if not dat.prints and not dat.modes:
        return [*rows, _without(name, 0, "run", "it ran; the reference is empty")]
    rows += _prints(name, dat, steps, types, _beam_axes(converted.conversion))
    for i, modes in enumerate(dat.modes):
        # (CalculiX itself does not head its tables with steps)
        before = sum(m.kind == modes.kind for m in dat.modes[:i])
        rows += _modes(name, modes, steps, before, types)
    return rows


def _distorted(conv) -> set[str]:
    """Return the type C3D8I as "C3D8I distorted", where elements are no parallelepipeds."""
    groups = (g for g in conv.groups if g.type == "C3D8I")
    return {"C3D8I distorted" for g in groups if not linear_images(g.cell, conv.deck.x[g.nodes], 1e-3)[1].all()}


def _margin(types: set[str]) -> tuple[float, str]:
    """Return the margin of a comparison of solids."""
    if "C3D8I distorted" in types:
        return DISTORTED, "C3D8I of CalculiX fails the patch test on distorted meshes, ours does not"
    return SAME, "same formulation"


# --- prints ----------------------------------------------------------------------------------------------------------
_NAMES = {"EMASI": "moments of inertia", "COG": "centre of gravity", "EMASIC": "inertia about the centre"}


def _prints(name: str, dat: DatFile, steps: list[StepReport], types: set[str], axes) -> list[Row]:
    rows: dict[tuple, list[tuple[Row, float]]] = {}
    for p in dat.prints:
        if not p.quantity:
            continue
        total = p.quantity.endswith("T") and not len(p.ids)
        quantity = p.quantity[:-1] if total else p.quantity
        mine = [
            t for s in steps if p.step in (0, s.deck_step) for t in s.prints or ()
            if t.quantity == quantity and (t.set or "").upper() == p.set_name.upper()
            and bool(t.total) == (total or quantity == "COG") and (t.mode or 0) == p.mode
        ]  # fmt: skip
        if not p.mode and len(mine) > 1:
            mine = [t for t in mine if abs(t.time - p.time) <= 1e-6 * max(abs(p.time), 1e-300)] or mine[-1:]
        label = _NAMES.get(quantity, quantity) + (" (sum)" if total else "")
        if not mine:
            rows.setdefault((p.step, label), []).append((_without(name, p.step, label, "not printed", "missing"), 0.0))
            continue
        # forces in balance have a sum of next to nothing: it is judged by what it is a sum of
        parts = [q.values for q in dat.prints if total and q.quantity == quantity and q.step == p.step and len(q.ids)]
        least = max((float(np.linalg.norm(v, axis=1).max()) for v in parts if v.size), default=0.0)
        found = _compare_table(name, p, mine[0], label, types, axes, least)
        rows.setdefault((p.step, label), []).append((found, found.difference))
    # the worst of equal tables at several times
    return [max(v, key=lambda pair: (pair[0].status != "ok", pair[1]))[0] for v in rows.values()]


def _beam_axes(conv) -> dict[int, np.ndarray]:
    """Return direction (3,) of each beam."""
    out: dict[Any, Any] = {}
    for group in conv.groups:
        if group.kind == "beam":
            x = conv.deck.x[group.nodes]
            t = x[:, -1] - x[:, 0]
            out |= dict(zip(group.ids.tolist(), t / np.linalg.norm(t, axis=1)[:, None], strict=True))
    return out


def _on_section(values: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return stress vectors (m, 3) on the sections of beams, of tensors (m, 6) and directions t (m, 3)."""
    xx, yy, zz, xy, xz, yz = values.T
    T = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return np.einsum("ijm,mj->mi", T, t)


def _compare_table(name: str, p: Print, t: PrintTable, label: str, types: set[str], axes, least: float = 0.0) -> Row:
    mine = np.array(t.values, float)
    ours, points = np.array(t.ids, int), np.array(t.points or (), int)
    theirs, values = p.values, mine
    margin, why = _margin(types)
    beams = any(k.startswith(("B3", "PIPE")) for k in types)
    trusses = any(k.startswith("T3") for k in types)
    if beams:
        margin, why = _beam_margin(p.quantity)
    elif trusses:
        why = "CalculiX makes a solid of a truss; its stress is the same"
    if len(p.points):
        got = {(e, q): i for i, (e, q) in enumerate(zip(ours.tolist(), points.tolist(), strict=True))}
        keys = list(zip(p.ids.tolist(), p.points.tolist(), strict=True))
        if trusses:  # one point stands for all of an element
            keys = [(e, 1) for e, _ in keys]
        common = [(i, got[k]) for i, k in enumerate(keys) if k in got]
        if len(common) < len(keys) and not beams:
            return _without(name, p.step, label, f"{len(keys) - len(common)} of {len(keys)} points missing", "missing")
        a, b = (np.array(v, int) for v in zip(*common, strict=True)) if common else (np.empty(0, int),) * 2
        theirs, values = p.values[a], mine[b]
        if beams and p.quantity == "S" and all(e in axes for e in p.ids[a].tolist()):
            t_ = np.array([axes[e] for e in p.ids[a].tolist()])
            theirs, values = _on_section(theirs, t_), _on_section(values, t_)
            label += " on sections"
    elif len(p.ids):
        got = {e: i for i, e in enumerate(ours.tolist())}
        if any(e not in got for e in p.ids.tolist()):
            return _without(name, p.step, label, "nodes or elements are missing", "missing")
        values = mine[[got[e] for e in p.ids.tolist()]]
    if not len(theirs) or theirs.shape != values.shape:
        return _without(name, p.step, label, f"shapes {values.shape} and {theirs.shape}", "missing")
    if p.mode:  # the sign of a shape is free
        values = values * (1.0 if np.sum(values * theirs) >= 0.0 else -1.0)
    size = max(np.linalg.norm(theirs, axis=1).max(), least)
    floor = 1e-30
    off = np.linalg.norm(values - theirs, axis=1)
    worst = int(off.argmax())
    k = int(np.abs(theirs[worst]).argmax()) if np.abs(theirs[worst]).max() > 0 else int(np.abs(values[worst]).argmax())
    difference = off[worst] / max(size, floor)
    return _row(name, p.step, label, values[worst, k], theirs[worst, k], difference, margin, why)


def _beam_margin(quantity: str) -> tuple[float, str]:
    if quantity == "S":
        return (
            0.02,
            _BEAM + "held ends cannot contract, shear varies over the section; stresses across are not compared",
        )
    if quantity.startswith("EVOL"):
        return SAME, "same volume"
    return 0.01, _BEAM + "shear and Poisson's effect at the ends"


# --- modes -----------------------------------------------------------------------------------------------------------
def _modes(name: str, modes: Modes, steps: list[StepReport], before: int, types: set[str]) -> list[Row]:
    what, key = ("load factors", "load_factors") if modes.kind == "buckling" else ("frequencies", "frequencies_hz")
    known = [s for s in steps if hasattr(s, key)]
    step = next((s for s in known if s.deck_step == modes.step), None)
    if not modes.step and before < len(known):
        step = known[before]
    if step is None:
        return [_without(name, modes.step, what, "the step was not computed", "missing")]
    ours = np.array(getattr(step, key))
    if modes.kind == "buckling":
        return [_worst(name, modes.step, what, ours, modes.factor, types)]
    if modes.kind == "complex":
        return [_worst(name, modes.step, "complex frequencies", ours, modes.frequency, types)]
    theirs = np.sign(modes.eigenvalue) * np.sqrt(np.abs(modes.eigenvalue)) / (2.0 * np.pi)
    rows = [_worst(name, modes.step, what, ours, theirs, types)]
    part = getattr(step, "participation", None)
    if part is not None and "C3D8I" in types:
        why = "CalculiX moves the incompatible modes of C3D8I along with the part, whose mass it then counts too high"
        rows.append(_without(name, modes.step, "effective masses", why))
    elif part is not None and np.isfinite(modes.effective_mass).all():
        rows += _participation(name, modes, part, theirs)
    return rows


def _worst(name: str, step: int, what: str, mine: np.ndarray, theirs: np.ndarray, types: set[str]) -> Row:
    if len(mine) < len(theirs):
        return _without(name, step, what, f"{len(mine)} were found, {len(theirs)} are there", "missing")
    off = np.abs(mine[: len(theirs)] - theirs) / np.abs(theirs)
    i = int(off.argmax())
    label = f"{what} ({len(theirs)}), worst {i + 1}"
    return _row(name, step, label, mine[i], theirs[i], off[i], *_margin(types))


def _participation(name: str, modes: Modes, part: Participation, frequency: np.ndarray) -> list[Row]:
    n = len(frequency)
    mine, total = np.array(part.effective_mass)[:n], np.array(part.total)
    theirs = modes.effective_mass
    groups = np.concatenate(([0], np.cumsum(np.diff(frequency) > _CLUSTER * np.abs(frequency[1:]))))
    a, b = (np.array([v[groups == g].sum(axis=0) for g in range(groups[-1] + 1)]) for v in (mine, theirs))
    size = np.where(modes.total_mass > 0.0, modes.total_mass, np.inf)
    off = np.abs(a - b) / size
    # modes of a cluster that the list cuts in two are not complete
    off[-1] = 0.0 if n > 1 else off[-1]
    g, k = np.unravel_index(int(off.argmax()), off.shape)
    rows = [
        _row(
            name, modes.step, "effective masses", a[g, k], b[g, k], off[g, k], SAME, "same formulation, over the total"
        )
    ]
    relative = np.abs(total - modes.total_mass) / np.where(modes.total_mass > 0.0, modes.total_mass, np.inf)
    worst = int(relative.argmax())
    rows.append(
        _row(
            name,
            modes.step,
            "total mass",
            total[worst],
            modes.total_mass[worst],
            relative[worst],
            SAME,
            "same formulation",
        )
    )
    return rows


def table(rows: list[Row]) -> list[str]:
    """Return the rows as lines of text."""
    head = ("deck", "step", "quantity", "measured", "reference", "difference", "margin", "", "why")
    cells = [head] + [
        (
            r.deck, str(r.step or ""), r.quantity,
            *("" if np.isnan(v) else f"{v:.6g}" for v in (r.measured, r.reference)),
            "" if np.isnan(r.difference) else f"{r.difference:.1e}", "" if np.isnan(r.margin) else f"{r.margin:g}",
            r.status, r.why,
        ) for r in rows
    ]  # fmt: skip
    width = [max(len(c[i]) for c in cells) for i in range(len(head) - 1)]
    return ["  ".join([*(c[i].ljust(width[i]) for i in range(len(head) - 1)), c[-1]]).rstrip() for c in cells]


def count_decks(rows: list[Row]) -> dict[str, int]:
    """Return how many decks there are of each kind, by their worst row: "outside of a margin", "with results missing",
    "refused", "within the margins", "not compared"."""
    kinds = {
        "outside": "outside of a margin", "missing": "with results missing", "refused": "refused",
        "ok": "within the margins", "not compared": "not compared",
    }  # fmt: skip
    of: dict[str, set[str]] = {}
    for row in rows:
        of.setdefault(row.deck, set()).add(row.status)
    worst = [next(kinds[status] for status in kinds if status in found) for found in of.values()]
    return {kind: worst.count(kind) for kind in kinds.values() if kind in worst}


def as_json(rows: list[Row]) -> list[dict[str, Any]]:
    """Return the rows for a JSON file: numbers that are not there are null."""
    out = []
    for r in rows:
        d = asdict(r)
        out.append({k: None if isinstance(v, float) and not np.isfinite(v) else v for k, v in d.items()})
    return out
