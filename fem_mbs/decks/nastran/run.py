"""A Nastran deck as a model, and its run.

converted = convert(read_bulk(path))       Converted: model, steps, notes
results = run_deck(path, folder)           a results folder, tables in its summary
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.decks.nastran.bars import find_lines, make_lines
from fem_mbs.decks.nastran.components.masses import find_component_masses, make_artificial_mass, make_component_masses
from fem_mbs.decks.nastran.components.matrices import find_matrices, make_matrices
from fem_mbs.decks.nastran.components.sets import check_reduction, find_masters
from fem_mbs.decks.nastran.constraints.rows import Rows, find_rows, make_rows
from fem_mbs.decks.nastran.constraints.singular import automatic_supports, hold_singular
from fem_mbs.decks.nastran.constraints.supports import find_supports, make_supports
from fem_mbs.decks.nastran.control import check_content, check_fields
from fem_mbs.decks.nastran.loads import find_loads, needs_mass, turn_loaded
from fem_mbs.decks.nastran.material_tables import find_material_tables
from fem_mbs.decks.nastran.model import Conversion, make_mesh
from fem_mbs.decks.nastran.points import make_points, turn_points
from fem_mbs.decks.nastran.responses.motions import find_driven, make_motions
from fem_mbs.decks.nastran.results.prints import Printer
from fem_mbs.decks.nastran.results.requests import note_results
from fem_mbs.decks.nastran.shells import find_shells, make_shells
from fem_mbs.decks.nastran.solids import find_solids, make_solids
from fem_mbs.decks.nastran.steps import StepPlan, make_steps, solution_of
from fem_mbs.decks.notes import Accept, Note
from fem_mbs.decks.running import run_converted, settle, solve_converted
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.meshes.nastran.deck import BulkDeck
from fem_mbs.meshes.nastran.reader import read_bulk
from fem_mbs.meshes.nastran.systems import find_grids
from fem_mbs.model.model import Model

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from fem_mbs.analysis.context import RunContext
    from fem_mbs.analysis.solution import Solution
    from fem_mbs.results.reader import Results
    from fem_mbs.results.recorder import Recorder

_SPRINGS = ("CELAS1", "CELAS2", "CELAS3", "CELAS4")
_DAMPERS = ("CDAMP1", "CDAMP2", "CDAMP3", "CDAMP4", "CVISC")
_MASSES = ("CMASS1", "CMASS2", "CMASS3", "CMASS4")
__all__ = ["Converted", "convert", "describe", "named_nodes", "run_deck", "solve_deck"]


@dataclass
class Converted:
    """A deck as a model: ``model`` with its steps, the plan of these steps, equations, and notes."""

    deck: BulkDeck
    model: Model
    conversion: Conversion
    steps: list[StepPlan]
    rows: Rows

    @property
    def notes(self) -> list[Note]:
        """All that the conversion did not use."""
        return self.conversion.notes

    def watch(self, context: RunContext, recorder: Recorder) -> Printer:
        """Return the printer of the deck over a recorder."""
        return Printer(self.conversion, self.rows, self.steps, context, recorder)

    def placed(self, error: ModelError) -> ModelError:
        """Return the error with file and line of the subcase that it is about, or with the file."""
        return _with_place(self.deck, error)


def convert(deck: BulkDeck, part: bool = False, accept: Accept = Accept.NORMAL) -> Converted:
    """Return the model of a deck, with its steps; the deck of a ``part`` has none.

    ``accept``: what is done where the model lacks something of the deck.

    Raises:
        ModelError: what the model cannot hold and the deck needs, with file and line.
    """
    try:
        converted = _convert(deck, part)
    except ModelError as error:
        raise _with_place(deck, error) from None
    return settle(converted, accept)


def _convert(deck: BulkDeck, part: bool) -> Converted:
    solution = 0 if part else solution_of(deck)
    if not deck.of("GRID", "SPOINT"):
        raise ModelError("the deck has no grid points", place=deck.end, remedy="the file may have been cut off")
    title = " ".join(deck.title.split()) or Path(deck.source).stem
    conv = Conversion(deck, find_grids(deck), Model(3, title=title))
    check_content(conv)
    find_material_tables(conv)
    find_solids(conv)
    find_shells(conv)
    find_lines(conv)
    make_mesh(conv)
    make_solids(conv)
    make_shells(conv)
    make_lines(conv)
    turn_points(conv)
    masses = find_component_masses(conv)
    matrices = find_matrices(conv)
    make_points(conv)
    if not conv.used.any():
        raise ModelError("the deck has no elements", place=deck.end, remedy="the file may have been cut off")
    subcases = deck.subcases
    rows = find_rows(conv, subcases[0])
    turn_loaded(conv, set(rows.dependent))
    make_artificial_mass(conv)
    supports = find_supports(conv, subcases, rows, find_driven(conv))
    # Without AUTOSPC a component with mass and without stiffness stays free in dynamics.
    inertial = not automatic_supports(conv) and solution not in (0, 101, 105)
    K, M = _matrices(conv, needs_mass(conv) or inertial, masses)
    K = K + matrices.K
    if M is not None:
        M = M + matrices.M
    loads = [find_loads(conv, subcase, M) for subcase in subcases]
    if inertial and M is not None and M.nnz:
        K = K + M * (abs(K.diagonal()).max() / abs(M.diagonal()).max())
    hold_singular(conv, rows, supports, _along_axes(conv, K))
    make_rows(conv, rows)
    make_component_masses(conv, masses)
    make_matrices(conv, matrices)
    motions = make_supports(conv, supports, len(subcases), rows)
    make_motions(conv)
    check_reduction(conv, solution)
    masters = [find_masters(conv, subcase, rows, supports) if solution == 103 else None for subcase in subcases]
    steps = [] if part else make_steps(conv, solution, loads, motions, supports, M, masters)
    if not part:
        note_results(conv)
    check_fields(conv)
    return Converted(deck, conv.model, conv, steps, rows)


def _matrices(
    conv: Conversion, massive: bool, C: csr_matrix
) -> tuple[csr_matrix, csr_matrix | None]:  # fmt: skip
    """Return stiffness and, if asked for, mass (6 n, 6 n) along the global axes; C^T C: that of components."""
    from scipy.sparse import csr_matrix

    from fem_mbs.system.tangent import Level, Tangent

    n = 6 * len(conv.grids.ids)
    if not conv.model.building.blocks:  # matrices alone
        return csr_matrix((n, n)), csr_matrix(C.T @ C) if massive else None
    system = conv.model.compile(stepping=False).system
    number = system.nodal(np.arange(1.0, system.n_dof + 1.0))[: n // 6].ravel().astype(int)
    there = np.flatnonzero(number)
    pick = csr_matrix((np.ones(len(there)), (number[there] - 1, there)), shape=(system.n_dof, n))
    tangent = Tangent(system, system.initial_state(), Level(np.zeros(0)))
    K = csr_matrix(pick.T @ tangent.K @ pick)
    return K, csr_matrix(pick.T @ tangent.M @ pick + C.T @ C) if massive else None


def _along_axes(conv: Conversion, K: csr_matrix) -> csr_matrix:
    """Return a matrix (6 n, 6 n) along the axes of the grid points of one along the global axes."""
    from scipy.sparse import bsr_matrix, csr_matrix

    if not conv.grids.turned.any():
        return K
    n = len(conv.grids.ids)
    blocks = np.repeat(conv.grids.axes, 2, axis=0)
    A = bsr_matrix((blocks, np.arange(2 * n), np.arange(2 * n + 1)), shape=(6 * n, 6 * n))
    return csr_matrix(A @ K @ A.T)


def _with_place(deck: BulkDeck, error: ModelError) -> ModelError:
    """Return the error with file and line of the subcase that it is about, or with the file."""
    if error.where:
        return error
    places = {("Step", f"subcase {s.number}"): s.where for s in deck.subcases if s.where}
    return error.at(places.get((error.owner.word, error.owner.name), deck.end), inside=True)


def run_deck(
    path: str | Path, directory: str | Path, progress: Callable | None = None, accept: Accept = Accept.NORMAL,
    told: Callable[[Converted], None] | None = None, overwrite: bool = False,
) -> Results:  # fmt: skip
    """Run the steps of a deck into a results folder, as `fem_mbs.decks.running.run_converted`, and return its results.

    Raises:
        MeshError: the deck cannot be read, with file and line.
    """
    return run_converted(convert(read_bulk(path), accept=accept), path, directory, progress, accept, told, overwrite)


def solve_deck(
    deck: BulkDeck | str | Path, progress: Callable | None = None, accept: Accept = Accept.NORMAL
) -> tuple[Converted, Solution]:  # fmt: skip
    """Run the steps of a deck in memory, as `fem_mbs.decks.running.solve_converted`; return the converted deck and its
    solution."""
    converted = convert(deck if isinstance(deck, BulkDeck) else read_bulk(deck), accept=accept)
    return converted, solve_converted(converted, progress)


def describe(converted: Converted) -> list[str]:
    """Return the content of a deck and its model, line by line."""
    deck, conv = converted.deck, converted.conversion
    lines = [f"{converted.model.title}: {len(conv.grids.own_ids)} grid points, SOL {deck.sol}"]
    for group in conv.groups:
        how = f"{group.cell}, {group.element}" if group.kind == "solid" else group.kind
        n = len(group.ids)
        lines.append(f"{group.name}: {n} element{'s' * (n > 1)} {group.type} ({how})")
    for names in (("CONM1", "CONM2"), _SPRINGS, ("CBUSH",), _DAMPERS, _MASSES):
        lines += [f"{len(deck.of(name))} {name}" for name in names if deck.of(name)]
    if converted.rows.dependent:
        lines.append(f"constraints: {len(converted.rows.dependent)} dependent components")
    for plan in converted.steps:
        lines.append(f"{plan.name}: {plan.kind.noun}")
    return lines


def named_nodes(converted: Converted) -> dict[str, np.ndarray]:
    """Return the nodes of the model by the numbers of the grid points."""
    return {str(id_): np.array([k]) for k, id_ in enumerate(converted.conversion.grids.own_ids.tolist())}
