"""Motions that strain elements while their integration points see nothing: modes without energy of reduced integration.

A brick with 20 nodes and 2 x 2 x 2 points has six such modes. They do not fit together across elements that share faces
in several directions, but some run through a single stack of bricks. Loads that do no work on them leave the other
displacements determined; those of the modes themselves are then taken as zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
from scipy.sparse import diags

from fem_mbs.analysis.fields import solid_parts
from fem_mbs.elements.solids import shapes
from fem_mbs.errors import LooseError
from fem_mbs.late import dataclass
from fem_mbs.solvers.linear.factors import Pencil, PositiveFactors
from fem_mbs.solvers.linear.libraries import LinearSolveError, NotPositiveDefinite
from fem_mbs.solvers.linear.service import factor

if TYPE_CHECKING:
    from fem_mbs.analysis.linear.linearised import Linearised

__all__ = ["Unseen", "spurious_cells", "unseen_motions"]

#: Part of the strains at the points of the full rule below which the points of the reduced rule see nothing.
_UNSEEN = 1e-4
#: Part of the displacements over the size of a cell below which it moves as a rigid one.
_RIGID = 1e-4


#: Motions that are sought at once, and rounds of inverse iteration.
_BLOCK, _ROUNDS = 12, 6
#: Stiffness of a motion over that of the diagonal, below which it has none; smallest strain of a combination of such
#: motions over the largest, above which all of them strain elements.
_NOTHING, _STRAINING = 1e-13, 1e-3
#: Work of loads on a motion without energy, over what these loads could do at most, that rounding leaves.
_WORK = 1e-9


@dataclass(frozen=True)
class Unseen:
    """Motions without energy N (n, k) of the unknowns, with N^T D N = 1 and D (n,) the diagonal of the stiffness, and
    the factors of the stiffness with k of the unknowns held."""

    motions: np.ndarray
    diagonal: np.ndarray
    factors: PositiveFactors
    text: str

    def check(self, f: np.ndarray, owner: Any) -> None:
        """Refuse loads f (n,) that do work on these motions.

        Raises:
            LooseError: they do.
        """
        work = np.abs(self.motions.T @ f).max(initial=0.0)
        if work > _WORK * np.sqrt(np.sum(f**2 / self.diagonal)):
            raise LooseError(f"{self.text}; the loads do work on it", owner=owner)

    def solve(self, f: np.ndarray) -> np.ndarray:
        """Return the displacements (n,) under loads f (n,), without a part of the motions."""
        q = self.factors.solve(f)
        return q - self.motions @ (self.motions.T @ (self.diagonal * q))


def unseen_motions(linear: Linearised) -> Unseen | None:
    """Return the motions without energy of a singular stiffness, if all of them strain elements unseen by their
    points; None if the model is loose or unstable in another way."""
    system = linear.system
    parts = [p for p in solid_parts(system) if p.integration == "reduced" and (p.cell, "full") in shapes.RULES]
    if not parts:
        return None
    K = linear.stiffness
    d = K.diagonal()
    if not (d > 0.0).all() or K.shape[0] <= 2 * _BLOCK:
        return None
    D = diags(d)
    try:
        inverse = factor(Pencil(K, D), kind="positive", shift=-1e-9)
        X = np.random.default_rng(11).standard_normal((K.shape[0], _BLOCK))
        for _ in range(_ROUNDS):
            X = np.column_stack([inverse.solve(x) for x in (D @ X).T])
            X = np.linalg.qr(np.sqrt(d)[:, None] * X)[0] / np.sqrt(d)[:, None]
        values, turn = np.linalg.eigh(X.T @ (K @ X))
    except (NotPositiveDefinite, LinearSolveError):
        return None
    k = int((values < _NOTHING).sum())
    if not 0 < k < _BLOCK:
        return None
    N = X @ turn[:, :k]
    dim = system.dimension
    places = system.nodal(system.initial_state().Q[0])[:, :dim]
    u = np.zeros((system.n_dof, k))
    u[: linear.first] = linear.expand(N)[: linear.first]
    moved = system.nodal(u)[..., :dim]
    strains = np.column_stack(
        [
            np.concatenate([_tensors(p.cell, places[p.nodes], v[p.nodes], "full").ravel() for p in parts])
            for v in moved
        ]
    )  # fmt: skip
    size = np.linalg.svd(strains, compute_uv=False)
    if not size[-1] > _STRAINING * size[0]:
        return None
    found: dict[str, int] = {}
    for v in moved:
        for name, n in spurious_cells(system, places, v).items():
            found[name] = max(found.get(name, 0), n)
    if not found:
        return None
    held = scipy.linalg.qr((np.sqrt(d)[:, None] * N).T, mode="r", pivoting=True)[1][:k]
    extra = np.zeros(len(d))
    extra[held] = d[held]
    try:
        factors = factor(Pencil(K + diags(extra)), kind="positive")
    except (NotPositiveDefinite, LinearSolveError):
        return None
    cells = ", ".join(f'{n} of "{name}"' for name, n in found.items())
    text = (
        f"elements with reduced integration deform without energy ({cells}): such a motion runs through elements that "
        "stand in a single stack; take full integration (in decks C3D20 for C3D20R), or two elements side by side"
    )
    return Unseen(N, d, factors, text)


def spurious_cells(system: Any, x: np.ndarray, u: np.ndarray) -> dict[str, int]:
    """Return how many cells with reduced integration a motion deforms without strains at their points, by parts.

    Args:
        system: compiled system.
        x, u: places and displacements (n, dim) of all nodes.
    """
    found: dict[str, int] = {}
    for part in solid_parts(system):
        if part.integration != "reduced" or (part.cell, "full") not in shapes.RULES:
            continue
        X, v = x[part.nodes], u[part.nodes]
        seen, whole = (_strains(part.cell, X, v, rule) for rule in ("reduced", "full"))
        size = np.abs(v).max(axis=(1, 2)) / np.ptp(X, axis=1).max(axis=1)
        hidden = (whole > _RIGID * size) & (seen < _UNSEEN * whole) & (size > 0.0)
        if hidden.any():
            found[part.name] = found.get(part.name, 0) + int(hidden.sum())
    return found


def _strains(cell: str, X: np.ndarray, v: np.ndarray, rule: str) -> np.ndarray:
    """Return the largest strain (e,) at the points of a rule, of displacements v (e, n, dim)."""
    return np.abs(_tensors(cell, X, v, rule)).max(axis=(1, 2, 3))


def _tensors(cell: str, X: np.ndarray, v: np.ndarray, rule: str) -> np.ndarray:
    """Return twice the strains (e, q, dim, dim) at the points of a rule, of displacements v (e, n, dim)."""
    points = shapes.rule(cell, rule)[0]
    J, H = shapes.jacobians(cell, X, points), shapes.jacobians(cell, v, points)
    G = H @ np.linalg.inv(J)
    return G + np.swapaxes(G, 2, 3)
