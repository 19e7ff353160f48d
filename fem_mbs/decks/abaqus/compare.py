"""Run a deck and compare its prints with CalculiX's results (NAME.dat.ref, NAME.dat).

A table is compared entry by entry: the difference is the largest distance of two rows (node, integration point), over
the largest row of the reference.  Frequencies and load factors are compared one by one, the worst is shown; effective
masses over the total mass of their direction, summed over modes of one frequency, whose shapes are not determined.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.decks.abaqus.beams import beam_section, torsion_excess
from fem_mbs.decks.abaqus.results.section_forces import SECTION_COLUMNS
from fem_mbs.decks.abaqus.shells import section_axes, shell_thickness
from fem_mbs.decks.abaqus.vibrations import VIBRATION
from fem_mbs.decks.comparison import SAME, Row
from fem_mbs.elements.solids import shapes
from fem_mbs.elements.solids.mass import linear_images
from fem_mbs.errors import FemMbsError, InputError
from fem_mbs.late import dataclass
from fem_mbs.meshes.abaqus.calculix_dat import DatFile, Modes, Print, read_dat
from fem_mbs.meshes.abaqus.deck import DeckStep
from fem_mbs.meshes.vocabulary import Effect

if TYPE_CHECKING:
    from fem_mbs.analysis.steps.modes import Participation
    from fem_mbs.decks.abaqus.model import Conversion, Group
    from fem_mbs.results.report import PrintTable, StepReport

__all__ = ["COARSE_SHELLS", "DISTORTED", "compare_deck"]

#: That of elements with incompatible modes that are no parallelepipeds.
DISTORTED = 0.03
#: That of solids that CalculiX makes of shells.
COARSE_SHELLS = 0.15
#: Why stresses of shells differ.
_ACROSS = "its solids of shells have stresses across the thickness, which plates do not: the mesh is coarse for solids"
#: Parts of the shortest edge: solids of thinner shells lock; of the mean thickness: it changes more in an element.
_THIN, _UNEVEN = 0.2, 0.2
_BEAM = "CalculiX makes solids of beams: "
#: Parts of the thickness of beams: displacements below are effects of second order.
_SECOND_ORDER = 1e-5
#: Strains below this are round-off.
_ROUND_OFF = 1e-10
#: Frequencies below this part of the largest one are free motions, whose squares are round-off in both programs.
_FREE = 1e-5
#: The same of waves, in which the reference moves the faces of a sector by steps of the printed coordinates, and of
#: complex modes.
_FREE_WAVES = 1e-4
#: Faces of sectors whose nodes are apart by more than this part of the model's size do not match: free motions of the
#: wheel are then vibrations below the next part of the largest frequency.
_APART, _LOOSE = 1e-4, 1e-2
#: Part of the lowest frequency of a wave below which the reference's are free motions, if there are some here.
_HELD = 0.1
#: Modes whose frequencies differ by less, relatively, share their effective masses.
_CLUSTER = 1e-4


def _row(deck, step, quantity, measured, reference, difference, margin, why) -> Row:
    good = bool(difference <= margin)
    return Row(deck, step, quantity, float(measured), float(reference), float(difference), margin, why,
               "ok" if good else "outside")  # fmt: skip


def _without(deck: str, step: int, quantity: str, why: str, status: str = "not compared") -> Row:
    return Row(deck, step, quantity, np.nan, np.nan, np.nan, np.nan, why, status)


def compare_deck(path: str | Path) -> list[Row]:
    """Return rows of one deck; one that cannot be run has one row that says why."""
    from fem_mbs.decks.abaqus.run import solve_deck

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
    margins = _Margins(converted.conversion, types)
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
    rows += _prints(name, dat, steps, margins)
    for i, modes in enumerate(dat.modes):
        # (CalculiX itself does not head its tables with steps)
        before = sum(m.kind == modes.kind for m in dat.modes[:i])
        rows += _modes(name, modes, steps, before, margins)
    return [margins.of_shells(row) for row in rows]


def _distorted(conv) -> set[str]:
    """Return the type C3D8I as "C3D8I distorted", where elements are no parallelepipeds."""
    groups = (g for g in conv.groups if g.type == "C3D8I")
    return {"C3D8I distorted" for g in groups if not linear_images(g.cell, conv.deck.x[g.nodes], 1e-3)[1].all()}


@dataclass(frozen=True)
class _Margins:
    """Margins of the comparisons of one deck, from what both programs compute differently.

    conv: the deck as a model, after its run; types: its element types.
    """

    conv: Conversion
    types: set[str]

    def step(self, number: int) -> DeckStep | None:
        """Return a step of the deck by its number."""
        return next((s for s in self.conv.deck.steps if s.number == number), None)

    def is_nonlinear(self, number: int) -> bool:
        """Return whether a step is one with NLGEOM."""
        step = self.step(number)
        return step is not None and self.conv.is_nonlinear(step)

    @property
    def faces_apart(self) -> bool:
        """Whether the faces of a cyclic symmetry do not match: nodes of one are beside the points of the other."""
        return any(faces.gap > _APART for faces in self.conv.model.cyclic)

    @property
    def beams(self) -> bool:
        """Whether there are beams."""
        return any(g.kind == "beam" for g in self.conv.groups)

    @cached_property
    def thin(self) -> bool:
        """Whether sections have thin walls, which CalculiX integrates coarsely."""
        return any(g.kind == "beam" and g.section.shape in ("PIPE", "BOX") for g in self.conv.groups)

    @cached_property
    def thickness(self) -> float:
        """The largest thickness of a section."""
        beams = (g for g in self.conv.groups if g.kind == "beam")
        return max((float(beam_section(g.section)[2].max()) for g in beams), default=0.0)

    @cached_property
    def _element_length(self) -> float:
        ends = (self.conv.deck.x[g.nodes[:, [0, -1]]] for g in self.conv.groups if g.kind == "beam")
        return min(float(np.linalg.norm(x[:, 1] - x[:, 0], axis=1).min()) for x in ends)

    @cached_property
    def layered(self) -> bool:
        """Whether beams of two sections have the same nodes."""
        nodes = [tuple(row) for g in self.conv.groups if g.kind == "beam" for row in np.sort(g.nodes, axis=1).tolist()]
        return len(set(nodes)) < len(nodes)

    @cached_property
    def turned(self) -> bool:
        """Whether moments act on nodes of beams."""
        loads = [load for step in self.conv.deck.steps for load in step.cloads if load.dof > 3 and load.value]
        meshed = [g.nodes.ravel() for g in self.conv.groups if g.kind == "beam"]
        return any(np.isin(self.conv.nodes(load.nodes), nodes).any() for load in loads for nodes in meshed)

    @cached_property
    def twist(self) -> float:
        """The largest part by which torsion of CalculiX's beams is too stiff."""
        return max((torsion_excess(self.conv, g) for g in self.conv.groups if g.kind == "beam"), default=0.0)

    def of_shells(self, row: Row) -> Row:
        """Return a comparison outside of its margin as one that is not made, where CalculiX's solids of shells cannot
        follow."""
        if row.status != "outside" or not self.shells:
            return row
        why = self._stiff_shells
        if row.quantity.startswith("RF"):
            why = "its solids of shells have forces across the thickness where they are held"
        return replace(row, status="not compared", why=why) if why else row

    @cached_property
    def shells(self) -> list[Group]:
        """The shells, without membranes."""
        return [g for g in self.conv.groups if g.kind == "shell" and g.element == "shell"]

    @cached_property
    def _stiff_shells(self) -> str:
        """Why CalculiX's solids of shells are no measure: they lock, or the mesh is too coarse."""
        for group in self.shells:
            h, x = shell_thickness(self.conv, group), self.conv.deck.x[group.nodes]
            corners = x[:, : 3 if group.cell.startswith("triangle") else 4]
            edge = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).min()
            if group.type in ("S6", "S8") and h.max() < _THIN * edge:
                return (
                    f"its {group.type}, fully integrated, locks: of a plate of one C3D20, clamped and propped, with a "
                    "twentieth of its length as thickness less than a tenth of the deflection is left"
                )
            if (np.ptp(h, axis=1) > _UNEVEN * h.mean(axis=1)).any():
                return "one element spans very different thicknesses: the mesh is too coarse for a comparison"
        return ""

    @cached_property
    def bound_to_held(self) -> bool:
        """Whether an equation names held directions, so that translations of what moves contradict it."""
        held = {
            (node, dof)
            for b in self.conv.deck.boundaries
            for node in self.conv.nodes(b.nodes).tolist()
            for dof in b.dofs
        }
        for equation in self.conv.deck.equations:
            nodes = self.conv.nodes(equation.nodes).tolist()
            terms = zip(nodes, np.asarray(equation.dofs).tolist(), equation.coefficients, strict=True)
            if sum(c for node, dof, c in terms if (node, dof) in held):
                return True
        return False

    def of(self, quantity: str, number: int, across: float = 0.0) -> tuple[float, str]:
        """Return margin and reason for a quantity of a step; ``across``: stresses across shells in CalculiX, over the
        largest ones."""
        step = self.step(number)
        margin, why = SAME, "same formulation"
        if quantity.startswith(("EVOL", "EMAS")) and not self.thin:
            return margin, why
        if any(k.startswith("T3D") for k in self.types):
            why = "CalculiX makes a solid of a truss; its stress is the same"
        if "T3D3" in self.types and self.is_nonlinear(number):
            margin, why = 0.1, "CalculiX makes a solid of a truss, with hinges that shear it after large displacements"
        if "C3D8I distorted" in self.types:
            margin, why = DISTORTED, "C3D8I of CalculiX fails the patch test on distorted meshes, ours does not"
        elif "C3D8I" in self.types and self.is_nonlinear(number):
            margin, why = DISTORTED, "incompatible modes differ after large displacements"
        if self.conv.stretch and self.is_nonlinear(number):
            margin, why = SAME + 2.0 * self.conv.stretch, "stresses are those of elements before they expand"
        if any(g.state == "stress" for g in self.conv.groups):
            margin, why = 0.03, "CalculiX's plane stress shares the change of thickness at common nodes"
        if step is not None and "ITERATIVE" in step.options.get("SOLVER", "").upper():
            margin, why = max(margin, 0.005), "CalculiX solves this step iteratively"
        if self.faces_apart:
            margin, why = max(margin, 0.005), "the faces of the sector do not match, and are tied in other ways"
        if step is not None and step.procedure == "DYNAMIC":
            if step.explicit:
                margin, why = max(margin, 0.01), "CalculiX takes central differences, with increments of its own"
            elif not step.direct or self._damped:
                margin, why = max(margin, 0.02), "increments of its own, and other accelerations at a load that jumps"
        if step is not None and _shaken(step):
            margin, why = (
                max(margin, 0.1),
                "with all modes the response is that of direct integration; CalculiX's differs",
            )
        if self.shells and not quantity.startswith(("EVOL", "EMAS")) and margin < COARSE_SHELLS:
            margin, why = COARSE_SHELLS, "CalculiX makes solids of shells: few elements across a plate are too stiff"
        if self.shells and quantity == "S":
            margin, why = max((margin, why), (1.1 * across, _ACROSS), key=lambda pair: pair[0])
        if self.beams:
            margin, why = max((margin, why), self._of_beams(quantity, number), key=lambda pair: pair[0])
        return margin, why

    @property
    def _damped(self) -> bool:
        return any(m.damping[1] for m in self.conv.deck.materials.values())

    def _of_beams(self, quantity: str, number: int) -> tuple[float, str]:
        if quantity == "S":
            short = self.thickness > 0.15 * self._element_length
            margin = 0.15 if short else 0.05
            why = "held ends cannot contract, shear varies over the section; stresses across are left out"
        else:
            size = float(np.ptp(self.conv.deck.x[self.conv.used], axis=0).max())
            margin, why = 0.01 + 0.05 * self.thickness / size, "shear and Poisson's effect at the ends"
        if quantity in ("frequencies", "load factors") and self.twist > 2.0 * margin:
            # frequencies go with the root, factors that torsion limits are between both
            margin, why = 0.01 + self.twist / 2.0, "their sections warp bilinearly, which is too stiff in torsion"
        if self.turned and margin < 0.1:
            margin, why = (
                0.1,
                "its sections at nodes with moments are rigid, so that elements beside them are stiffer",
            )
        if self.thin and margin < 0.08:
            margin, why = 0.08, "it integrates thin walls coarsely"
        if self.layered:
            margin, why = 0.35, "sections that meet at a node stay plane and rigid, so that layers cannot contract"
        stiffer, cause = self.conv.beyond.get(number, (0.0, ""))
        large = 0.01 + 1.2 * stiffer / max(1.0 - stiffer, 0.1)
        if stiffer and large > margin:
            margin, why = large, cause
        return margin, _BEAM + why


def _shaken(step: DeckStep) -> bool:
    """Return whether supports move in a transient by modes."""
    return step.procedure == "MODAL DYNAMIC" and bool(step.base_motions or any(b.value for b in step.boundaries))


# --- prints ----------------------------------------------------------------------------------------------------------
#: Quantities that are sums by themselves.
_SUMS = {"COG", *SECTION_COLUMNS}
_NAMES = {"EMASI": "moments of inertia", "COG": "centre of gravity", "EMASIC": "inertia about the centre"}


def _prints(name: str, dat: DatFile, steps: list[StepReport], margins: _Margins) -> list[Row]:
    rows: dict[tuple, list[Row]] = {}
    for p in dat.prints:
        if not p.quantity:
            continue
        total = p.quantity.endswith("T") and not len(p.ids)
        quantity = p.quantity[:-1] if total else p.quantity
        label = _NAMES.get(quantity, quantity) + (" (sum)" if total else "")
        found = rows.setdefault((p.step, label), [])
        mine = [
            t for s in steps if p.step in (0, s.deck_step) for t in s.prints or ()
            if t.quantity == quantity and (t.set or "").upper() == p.set_name.upper()
            and bool(t.total) == (total or quantity in _SUMS) and (t.mode or 0) == p.mode
        ]  # fmt: skip
        step = margins.step(p.step)
        vibrates = step is not None and step.procedure == VIBRATION
        if vibrates and quantity.startswith("RF"):
            found.append(_without(name, p.step, label, "CalculiX leaves out dampers and masses in RF of vibrations"))
            continue
        if vibrates and margins.conv.model.building.rotating is not None:
            why = "CalculiX multiplies its Coriolis matrix like a symmetric one in this step (not in COMPLEX FREQUENCY)"
            found.append(_without(name, p.step, label, why))
            continue
        if not mine:
            found.append(_without(name, p.step, label, "not printed", "missing"))
            continue
        if quantity == "K":
            found.append(_matrix(name, p, mine[0], margins))
            continue
        if not p.mode:  # both programs choose increments of their own, and find natural frequencies of their own
            near = (1e-5 if vibrates else 1e-6) * max(abs(p.time), 1e-300)
            mine = sorted((t for t in mine if abs(t.time - p.time) <= near), key=lambda t: abs(t.time - p.time))
        if step is not None and step.procedure == "DYNAMIC" and p.increment == 1 and not step.explicit:
            why = "the first increment shows how each program begins, not the motion"
            found.append(_without(name, p.step, label, why))
            continue
        if quantity in ("ENER", "ELSE") and step is not None and step.procedure == "DYNAMIC" and step.number > 1:
            why = "CalculiX counts the energy that the step before has left twice"
            found.append(_without(name, p.step, label, why))
            continue
        if not mine:
            found.append(_without(name, p.step, label, f"our increments do not end at the time {p.time:g}"))
            continue
        # forces in balance have a sum of next to nothing: it is judged by what it is a sum of
        parts = [q.values for q in dat.prints if total and q.quantity == quantity and q.step == p.step and len(q.ids)]
        if vibrates:  # both parts of a vibration
            parts += [q.values for q in dat.prints if (q.set_name, q.step, q.time) == (p.set_name, p.step, p.time)]
        elif step is not None and _shaken(step):  # small ones at the start are what is left out of high modes
            parts += [
                q.values for q in dat.prints if (q.set_name, q.step, q.quantity) == (p.set_name, p.step, quantity)
            ]
        least = max((float(np.linalg.norm(v, axis=1).max()) for v in parts if v.size), default=0.0)
        if quantity in SECTION_COLUMNS:
            found.append(_section(name, p, mine[0], dat, margins))
            continue
        found.append(_compare_table(name, p, mine[0], label, margins, least))
    return [_worst_row(found) for found in rows.values() if found]


def _section(name: str, p: Print, t: PrintTable, dat: DatFile, margins: _Margins) -> Row:
    """Compare a row of a surface: forces, moments and lengths are measured by the largest ones, since a surface may
    carry a moment without any force."""
    of = {q.quantity: q.values[0] for q in dat.prints if (q.set_name, q.step, q.time) == (p.set_name, p.step, p.time)}
    length = float(np.sqrt(of["SOAREA"][0]))
    force = max(float(np.linalg.norm(of["SOF"])), float(np.linalg.norm(of["SOMCG"])) / length, 1e-30)
    place = length + float(np.linalg.norm(of["SOCG"][:3]))
    sizes = {
        "SOF": [force] * 3, "SOM": [force * place] * 3, "SOMCG": [force * length] * 3,
        "SOCG": [place] * 3 + [1.0] * 3, "SOAREA": [length**2, force, force, force * length, force * length],
    }[p.quantity]  # fmt: skip
    theirs, values = p.values[0], np.array(t.values, float)[0]
    off = np.abs(values - theirs) / np.array(sizes)
    k = int(off.argmax())
    return _row(name, p.step, p.quantity, values[k], theirs[k], off[k], *margins.of(p.quantity, p.step))


def _matrix(name: str, p: Print, t: PrintTable, margins: _Margins) -> Row:
    """Compare the stiffness of retained displacements, over its largest entry."""
    ours = {pair: i for i, pair in enumerate(zip(t.ids, t.points or (), strict=True))}
    order = [ours.get(pair, -1) for pair in zip(p.ids.tolist(), p.points.tolist(), strict=True)]
    if min(order) < 0 or len(order) != len(ours):
        return _without(name, p.step, "K", "other displacements are retained", "missing")
    values, theirs = np.array(t.values, float)[np.ix_(order, order)], p.values
    off = np.abs(values - theirs)
    at = np.unravel_index(int(off.argmax()), off.shape)
    return _row(name, p.step, "K", values[at], theirs[at], off[at] / np.abs(theirs).max(), *margins.of("K", p.step))


_RANK = ("not compared", "ok", "outside", "missing")


def _worst_row(rows: list[Row]) -> Row:
    """Return the worst of equal tables at several times: a missing one, else the one with the largest difference."""
    return max(rows, key=lambda r: (_RANK.index(r.status), 0.0 if np.isnan(r.difference) else r.difference))


def _beam_axes(conv) -> dict[int, np.ndarray]:
    """Return direction (3,) of each beam and truss."""
    out: dict[Any, Any] = {}
    for group in conv.groups:
        if group.kind in ("beam", "truss"):
            x = conv.deck.x[group.nodes]
            t = x[:, -1] - x[:, 0]
            out |= dict(zip(group.ids.tolist(), t / np.linalg.norm(t, axis=1)[:, None], strict=True))
    return out


def _on_section(values: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return stress vectors (m, 3) on the sections of beams, of tensors (m, 6) and directions t (m, 3)."""
    xx, yy, zz, xy, xz, yz = values.T
    T = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return np.einsum("ijm,mj->mi", T, t)


def _in_global(margins: _Margins, p: Print) -> bool:
    """Return whether tensors of shells are printed in global axes."""
    step = margins.step(p.step)
    return any(
        o.global_axes for o in (step.outputs if step else ()) if o.kind == "el print" and o.set_name == p.set_name
    )


def _in_plane(margins: _Margins, p: Print, values: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return stresses 11, 22, 12 (m, 3) in the planes of shells of tensors (m, 6): what shells have. They are in the
    axes of the elements already unless the print has GLOBAL=YES."""
    if not _in_global(margins, p):
        return values[:, [0, 1, 3]]
    axes: dict[int, np.ndarray] = {}
    for group in margins.shells:
        axes |= dict(zip(group.ids.tolist(), section_axes(margins.conv, group), strict=True))
    A = np.array([axes[e] for e in ids.tolist()])
    xx, yy, zz, xy, xz, yz = values.T
    T = np.moveaxis(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), 2, 0)
    T = A @ T @ np.swapaxes(A, 1, 2)
    return np.column_stack((T[:, 0, 0], T[:, 1, 1], T[:, 0, 1]))


def _layer(conv: Conversion, p: Print, points: np.ndarray) -> np.ndarray:
    """Return numbers (m,) of CalculiX's points as those of plane elements, 0 in other layers of its solids.

    CalculiX computes plane elements as solids with two or three layers of points across the plane. The middle one of
    three lies in the plane.
    """
    number = p.points.copy()
    for group in (g for g in conv.groups if g.state):
        mine = np.isin(p.ids, group.ids)
        n = len(shapes.rule(group.cell, group.rule)[0])
        layers = int(p.points[mine].max(initial=0)) // n
        first = n * ((layers - 1) // 2)
        inside = (p.points > first) & (p.points <= first + n)
        number[mine] = np.where(inside, p.points - first, 0)[mine]
    return number


def _noise(conv: Conversion, quantity: str) -> float:
    """Return size of stresses and strains that are nothing but round-off."""
    if quantity not in ("S", "E"):
        return 0.0
    laws = [m.elastic.constants for m in conv.deck.materials.values() if m.elastic is not None]
    stiffness = max((float(np.abs(c).max()) for c in laws), default=0.0)
    return _ROUND_OFF * (stiffness if quantity == "S" else 1.0)


def _compare_table(name: str, p: Print, t: PrintTable, label: str, margins: _Margins, least: float = 0.0) -> Row:
    mine = np.array(t.values, float)
    ours, points = np.array(t.ids, int), np.array(t.points or (), int)
    theirs, values = p.values, mine
    across = 0.0
    if p.quantity == "S" and margins.shells and len(p.values):
        size = np.linalg.norm(p.values[:, [0, 1, 3]], axis=1).max()
        across = float(np.abs(p.values[:, 2]).max() / max(size, 1e-300)) if not _in_global(margins, p) else 0.0
    margin, why = margins.of(p.quantity, p.step, across)
    conv, beams = margins.conv, margins.beams
    trusses = any(k.startswith("T3") for k in margins.types)
    if len(p.points):
        got = {(e, q): i for i, (e, q) in enumerate(zip(ours.tolist(), points.tolist(), strict=True))}
        numbers = np.ones(len(p.ids), int) if trusses else _layer(conv, p, points)  # trusses: one for all
        keys = list(zip(p.ids.tolist(), numbers.tolist(), strict=True))
        common = [(i, got[k]) for i, k in enumerate(keys) if k in got]
        if len(common) < np.count_nonzero(numbers) and not beams:
            return _without(name, p.step, label, f"{len(keys) - len(common)} of {len(keys)} points missing", "missing")
        a, b = (np.array(v, int) for v in zip(*common, strict=True)) if common else (np.empty(0, int),) * 2
        theirs, values = p.values[a], mine[b]
        if p.quantity in ("S", "E") and any(g.state == "axisymmetric" for g in conv.groups):
            # points of its slices of two degrees stand beside the plane: shear across is that of its global axes
            theirs, values = theirs[:, :4], values[:, :4]
        axes = _beam_axes(conv)
        if margins.shells and p.quantity == "S" and not beams:
            theirs, values = (_in_plane(margins, p, v, p.ids[a]) for v in (theirs, values))
            label += " in the plane"
        if beams and p.quantity == "S" and all(e in axes for e in p.ids[a].tolist()):
            t_ = np.array([axes[e] for e in p.ids[a].tolist()])
            theirs, values = _on_section(theirs, t_), _on_section(values, t_)
            label += " on sections"
        elif trusses and p.quantity == "S":
            t_ = np.array([axes[e] for e in p.ids[a].tolist()])
            theirs, values = (np.einsum("mi,mi->m", _on_section(v, t_), t_)[:, None] for v in (theirs, values))
            label += " along the axis"
    elif len(p.ids):
        got = {e: i for i, e in enumerate(ours.tolist())}
        if p.quantity in ("U", "V", "RF"):  # CalculiX prints zeros of nodes that a set counts and nobody defines
            known = np.isin(p.ids, conv.deck.node_ids)
            theirs = theirs[known]
        else:
            known = np.ones(len(p.ids), bool)
        if any(e not in got for e in p.ids[known].tolist()):
            return _without(name, p.step, label, "nodes or elements are missing", "missing")
        values = mine[[got[e] for e in p.ids[known].tolist()]]
    if not len(theirs) or theirs.shape != values.shape:
        return _without(name, p.step, label, f"shapes {values.shape} and {theirs.shape}", "missing")
    if p.mode:  # the sign of a shape is free
        values = values * (1.0 if np.sum(values * theirs) >= 0.0 else -1.0)
    size = max(np.linalg.norm(theirs, axis=1).max(), least)
    if p.quantity == "U" and size < _SECOND_ORDER * margins.thickness and margins.is_nonlinear(p.step):
        # the shortening of beams by twist, for example, is compared with the motion of their sections
        size = max(size, 100.0 * _SECOND_ORDER * margins.thickness)
    floor = max(1e-30, _noise(conv, p.quantity))
    off = np.linalg.norm(values - theirs, axis=1)
    worst = int(off.argmax())
    k = int(np.abs(theirs[worst]).argmax()) if np.abs(theirs[worst]).max() > 0 else int(np.abs(values[worst]).argmax())
    difference = off[worst] / max(size, floor)
    return _row(name, p.step, label, values[worst, k], theirs[worst, k], difference, margin, why)


# --- modes -----------------------------------------------------------------------------------------------------------
def _modes(name: str, modes: Modes, steps: list[StepReport], before: int, margins: _Margins) -> list[Row]:
    what, key = ("load factors", "load_factors") if modes.kind == "buckling" else ("frequencies", "frequencies_hz")
    damped = modes.kind == "complex"  # reports of complex modes alone give damping ratios beside frequencies
    known = [s for s in steps if hasattr(s, key) and hasattr(s, "damping_ratios") == damped]
    step = next((s for s in known if s.deck_step == modes.step), None)
    if not modes.step and before < len(known):
        step = known[before]
    if step is None:
        return [_without(name, modes.step, what, "the step was not computed", "missing")]
    ours = np.array(getattr(step, key))
    if modes.kind == "buckling":
        return [_worst(name, modes.step, what, ours, modes.factor, margins)]
    if damped:
        return [_complex(name, modes, ours, margins)]
    theirs = np.sign(modes.eigenvalue) * np.sqrt(np.abs(modes.eigenvalue)) / (2.0 * np.pi)
    if len(modes.diameter):
        return _waves(name, modes, step, theirs, margins)
    rows = [_worst(name, modes.step, what, ours, theirs, margins)]
    part = getattr(step, "participation", None)
    if part is not None and "C3D8I" in margins.types:
        why = "CalculiX moves the incompatible modes of C3D8I along with the part, whose mass it then counts too high"
        rows.append(_without(name, modes.step, "effective masses", why))
    elif part is not None and margins.beams:
        why = "CalculiX's solids of beams have masses beside the nodes that are held"
        rows.append(_without(name, modes.step, "effective masses", why))
    elif part is not None and margins.bound_to_held:
        why = "CalculiX's dependent directions follow their equations in motions of the whole, which held nodes forbid"
        rows.append(_without(name, modes.step, "effective masses", why))
    elif part is not None and np.isfinite(modes.effective_mass).all():
        rows += _participation(name, modes, part, theirs)
    return rows


def _waves(name: str, modes: Modes, step: StepReport, theirs: np.ndarray, margins: _Margins) -> list[Row]:
    """Compare frequencies by nodal diameters; the reference has waves twice, once for each direction, free motions
    once or twice."""
    diameters = np.array(getattr(step, "nodal_diameters", []))
    ours = np.array(getattr(step, "frequencies_hz", []))
    rows = []
    for n in np.unique(modes.diameter).tolist():
        reference, mine = theirs[modes.diameter == n], np.repeat(ours[diameters == n], 2)
        least = (_LOOSE if margins.faces_apart else _FREE_WAVES) * np.abs(reference).max()
        free = int((np.abs(mine) <= least).sum()) - int((np.abs(reference) <= least).sum())
        reference, mine = np.sort(reference[np.abs(reference) > least]), mine[np.abs(mine) > least]
        # faces that match but for the digits of their nodes hold free motions a little
        loose = reference[: max(free, 0)] < _HELD * mine.min(initial=np.inf)
        reference = reference[int(loose.sum()) if loose.all() else 0 :]
        rows.append(_worst(name, modes.step, f"frequencies of nodal diameter {n}", mine, reference, margins))
    return rows


def _complex(name: str, modes: Modes, ours: np.ndarray, margins: _Margins) -> Row:
    """Compare complex frequencies; free motions, which one program lists as two zeros and the other as a mode with
    round-off, are left out."""
    theirs = modes.frequency
    least = _FREE_WAVES * np.abs(theirs).max(initial=0.0)
    free = int((np.abs(ours) <= least).sum())
    if free:
        ours, theirs = ours[np.abs(ours) > least], theirs[np.abs(theirs) > least]
        theirs = theirs[: max(len(ours), len(theirs) - free)]
    return _worst(name, modes.step, "complex frequencies", ours, theirs, margins)


def _worst(name: str, step: int, what: str, mine: np.ndarray, theirs: np.ndarray, margins: _Margins) -> Row:
    if len(mine) < len(theirs):
        return _without(name, step, what, f"{len(mine)} were found, {len(theirs)} are there", "missing")
    # of squares, round-off leaves up to the square of this part
    floor = _FREE * np.abs(theirs).max() if what != "load factors" else 0.0
    mine, theirs = (np.where(np.abs(v) < 2.0 * floor, 0.0, v) for v in (mine[: len(theirs)], theirs))
    off = np.abs(mine - theirs) / np.where(theirs == 0.0, max(floor, 1e-300), np.abs(theirs))
    i = int(off.argmax())
    label = f"{what} ({len(theirs)}), worst {i + 1}"
    return _row(name, step, label, mine[i], theirs[i], off[i], *margins.of(what, step))


def _participation(name: str, modes: Modes, part: Participation, frequency: np.ndarray) -> list[Row]:
    n = len(frequency)
    mine, total = np.array(part.effective_mass)[:n], np.array(part.total)
    theirs = modes.effective_mass
    if mine.shape[1] < theirs.shape[1]:  # of a plane model
        why = "effective masses of plane models have three directions"
        return [_without(name, modes.step, "effective masses", why)]
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
