"""Compare the mode shapes of two results by the modal assurance criterion, also between different meshes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.declarations.steps import recorded_kind
from fem_mbs.display import html_table
from fem_mbs.errors import ResultsError
from fem_mbs.late import dataclass
from fem_mbs.results.reader import Results, Step
from fem_mbs.solvers.eigen.modal_quantities import mac as assurance

if TYPE_CHECKING:
    import pandas

__all__ = ["Mac", "mac"]

_TOLERANCE = 1e-6  # of the size of the model: nodes nearer than that are the same


@dataclass(frozen=True)
class Mac:
    """Modal assurance criterion between the shapes of two results.

    ``matrix`` (k, l) from 0 (orthogonal) to 1 (the same shape); ``frequencies_a`` (k,), ``frequencies_b`` (l,) [Hz], of
    buckling shapes load factors [-]; ``quantity`` names them; ``nodes``: number compared; ``largest_distance`` [m]
    between two matched nodes; ``names`` of the two steps.
    """

    matrix: np.ndarray
    frequencies_a: np.ndarray
    frequencies_b: np.ndarray
    quantity: str
    nodes: int
    largest_distance: float
    names: tuple[str, str]

    @property
    def pairs(self) -> list[tuple[int, int, float]]:
        """Return for each shape of the first result the best match in the second: (number, number, value), from 0."""
        best = self.matrix.argmax(axis=1)
        return [(i, int(j), float(self.matrix[i, j])) for i, j in enumerate(best)]

    def __repr__(self) -> str:
        k, n = self.matrix.shape
        return f"<Mac of {k} shapes of {self.names[0]!r} and {n} of {self.names[1]!r}, {self.nodes} nodes>"

    def _repr_html_(self) -> str:
        """Return the matrix as a table of a notebook."""
        rows = (
            [f"{f:.5g}", *(f"{v:.2f}" for v in row)] for f, row in zip(self.frequencies_a, self.matrix, strict=True)
        )
        heads = [f"{self.quantity}: {self.names[0]} / {self.names[1]}", *(f"{f:.5g}" for f in self.frequencies_b)]
        return html_table("Modal assurance criterion", heads, rows)

    def to_dataframe(self) -> pandas.DataFrame:
        """Return the matrix as a table: a row per shape of the first result, a column per shape of the second, by
        their numbers from 1.

        Raises:
            ResultsError: pandas is not installed.
        """
        from fem_mbs.dataframes import tables

        library = tables("pandas")
        numbers = [library.RangeIndex(1, count + 1, name=name) for count, name in zip(self.matrix.shape, self.names)]
        return library.DataFrame(self.matrix, index=numbers[0], columns=numbers[1])


def _is_real(step: Step) -> bool:
    """Return whether the frames of a step are real shapes."""
    return recorded_kind(step.type).shapes == "real"


def _step(results: Results, name: str | int | None) -> Step:
    shapes = [step for step in results.steps if _is_real(step)]
    if isinstance(name, str) and name.isdecimal() and all(step.name != name for step in shapes):
        name = int(name)
    if isinstance(name, int):
        shapes = [step for step in shapes if step.number == name]
    elif name is not None:
        shapes = [step for step in shapes if step.name == name]
    shapes = [step for step in shapes if len(step.frame_times)]
    if not shapes:
        known = ", ".join(f'"{s.name}"' for s in results.steps if _is_real(s)) or "none"
        asked = "" if name is None else f" {name!r}"
        raise ResultsError(f"{results.where}: no step{asked} with shapes: there are {known}")
    if isinstance(name, str) and len(shapes) > 1:
        numbers = " or ".join(str(step.number) for step in shapes)
        raise ResultsError(
            f'{results.where}: {len(shapes)} steps with shapes are called "{name}": give the number {numbers}'
        )
    return shapes[0]


def _shapes(results: Results, step: Step) -> np.ndarray:
    """Return shapes (n_nodes, 3, k) minus the displacements of the state that they oscillate about."""
    frames = np.asarray(step.frames["displacement"][:], float)
    before = [s for s in results.steps[: step.number] if not _is_real(s) and "displacement" in s.frames]
    nonlinear = [s for s in before if not s.linear]  # linear steps leave the model where it is
    if nonlinear and len(nonlinear[-1].frame_times):
        frames = frames - nonlinear[-1].frames["displacement"][-1]
    return np.moveaxis(frames, 0, 2)


def _values(step: Step) -> tuple[np.ndarray, str]:
    for name, quantity in (("frequencies_hz", "frequency [Hz]"), ("load_factors", "load factor")):
        found = getattr(step.report, name, None)
        if found is not None:
            return np.asarray(found, float), quantity
    return np.arange(1.0, len(step.frame_times) + 1.0), "number"


def _partners(
    a: np.ndarray, b: np.ndarray, tolerance: float | None, where: str
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the nodes of the first mesh, their nearest ones in the second, and the largest distance of a matched
    pair."""
    size = float(np.ptp(a, axis=0).max())
    limit = _TOLERANCE * size if tolerance is None else tolerance
    if len(a) == len(b):
        distance = np.linalg.norm(a - b, axis=1)
        if distance.max() <= limit:
            return np.arange(len(a)), np.arange(len(b)), float(distance.max())
    from scipy.spatial import cKDTree

    distance, nearest = cKDTree(b).query(a)
    near = np.flatnonzero(distance <= limit)
    if len(near) < max(1, len(a) // 2 if tolerance is None else 1):
        raise ResultsError(
            f"MAC {where}: {len(near)} of {len(a)} nodes of the first lie within {limit:.3g} m of one of the second; "
            f"give a larger tolerance (the nearest half lies within {np.median(distance):.3g} m), or check the units"
        )
    return near, nearest[near], float(distance[near].max())


def mac(
    results_a: Results,
    results_b: Results,
    step_a: str | int | None = None,
    step_b: str | int | None = None,
    tolerance: float | None = None,
) -> Mac:
    """Compare the shapes of two results by their displacements (no rotations):

        MAC_ij = |a_i . b_j|^2 / (a_i . a_i  b_j . b_j)      (Allemang & Brown 1982)

    Nodes of equal number at equal positions are compared with each other; where the meshes differ, every node of the
    first with the nearest of the second.

    Args:
        results_a, results_b: of runs with shapes.
        step_a, step_b: name or number of the steps; by default the first with shapes; step_b the name of step_a, where
            the second result has such a step.
        tolerance: [m] largest distance of two nodes that count as one; those of the first mesh without a partner are
            left out. By default 1e-6 of the size of the first model, of whose nodes at least half must have a partner.

    Raises:
        ResultsError: no shapes, meshes that do not coincide, a shape in which no node moves.
    """
    first = _step(results_a, step_a)
    if step_b is None:
        step_b = next((s.number for s in results_b.steps if s.name == first.name and _is_real(s)), None)
    second = _step(results_b, step_b)
    where = f'of "{results_a.directory}" and "{results_b.directory}"'
    own, other, distance = _partners(results_a.header["nodes"], results_b.header["nodes"], tolerance, where)
    A = _shapes(results_a, first)[own].reshape(3 * len(own), -1)
    B = _shapes(results_b, second)[other].reshape(3 * len(own), -1)
    for name, shapes in ((first.name, A), (second.name, B)):
        still = np.flatnonzero(~np.any(shapes, axis=0))
        if still.size:
            raise ResultsError(f'MAC {where}: in shape {still[0] + 1} of step "{name}" none of the nodes moves')
    values_a, quantity = _values(first)
    values_b, _ = _values(second)
    return Mac(assurance(A, B), values_a, values_b, quantity, len(own), distance, (first.name, second.name))
