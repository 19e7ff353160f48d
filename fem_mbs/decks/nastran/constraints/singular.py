"""Components without stiffness, which AUTOSPC holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.decks.nastran.constraints.rows import NOTHING, Rows
from fem_mbs.decks.nastran.constraints.supports import Supports
from fem_mbs.decks.nastran.model import Conversion
from fem_mbs.errors import ModelError
from fem_mbs.meshes.vocabulary import Effect

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["automatic_supports", "hold_singular"]

#: Of the largest stiffness of a grid point: below it a direction is singular (Nastran's EPZERO).
_SINGULAR = 1e-8


def automatic_supports(conv: Conversion) -> bool:
    """Return whether AUTOSPC is on: by case control, by the parameter, by default."""
    command = conv.deck.subcases[0].commands.get("AUTOSPC")
    value = str(conv.deck.param("AUTOSPC", "YES"))
    if command is not None:
        value = "NO" if command.value.startswith("NO") else "YES"
    return value != "NO"


def hold_singular(conv: Conversion, rows: Rows, supports: Supports, stiffness: csr_matrix) -> None:
    """Hold what has no stiffness: directions of grid points whose block of the stiffness (components of the deck,
    dependent ones eliminated) is singular, as AUTOSPC does.

    ``stiffness``: where AUTOSPC is off and masses hold directions, too, the sum of both.

    Raises:
        ModelError: AUTOSPC is off, and a grid point is singular.
    """
    from scipy.sparse import csr_matrix

    exists = np.zeros(rows.size, bool)
    node = np.flatnonzero(conv.used)
    exists[(6 * node[:, None] + np.arange(3)).ravel()] = True
    node = np.flatnonzero(conv.rotational)
    exists[(6 * node[:, None] + np.arange(3, 6)).ravel()] = True
    m = np.array(list(rows.dependent), int)
    K = stiffness
    if len(m):
        G = rows.reduced
        n = rows.size
        independent = np.ones(n)
        independent[m] = 0.0
        at = np.flatnonzero(independent)
        T = csr_matrix((np.ones(len(at)), (at, at)), shape=(n, n)) + csr_matrix(
            (G.tocoo().data, (m[G.tocoo().row], G.tocoo().col)), shape=(n, n)
        )
        K = csr_matrix(T.T @ stiffness @ T)
        exists[m] = False
    blocks = _diagonal_blocks(K)
    found = {n: _singular_components(blocks, exists, [*supports.held, *extra]) for n, extra in supports.extra.items()}
    common = set.intersection(*(set(dofs) for dofs in found.values()))
    supports.held |= dict.fromkeys(sorted(common), "AUTOSPC")
    every = sorted({dof for dofs in found.values() for dof in dofs})
    for n, dofs in found.items():
        supports.extra[n] |= {dof: "AUTOSPC" for dof in dofs if dof not in common}
    if not every:
        return
    # rotations that nothing at all acts on: holding them changes no result
    null = np.ones(rows.size, bool)
    null[K.indices[np.abs(K.data) > NOTHING * np.abs(K.data).max(initial=0.0)]] = False
    left = [dof for dof in every if dof % 6 < 3 or not null[dof]]
    if left and not automatic_supports(conv):
        n, c = divmod(left[0], 6)
        raise ModelError(
            f"component {c + 1} of grid point {conv.grids.label(n)} has no stiffness, and AUTOSPC is off",
            place=conv.grids.cards[n].where, remedy="hold it, or let AUTOSPC do so",
        )  # fmt: skip
    shown = ", ".join(f"{conv.grids.label(d // 6)}-{d % 6 + 1}" for d in every[:8])
    more = f" and {len(every) - 8} more" if len(every) > 8 else ""
    conv.note(f"AUTOSPC holds components without stiffness: {shown}{more}", Effect.NONE)


def _singular_components(blocks: np.ndarray, exists: np.ndarray, held: list[int]) -> list[int]:
    """Return the components to hold, of those that exist (6 n,) bool and are not held."""
    free = exists.copy()
    free[held] = False
    parts = free.reshape(-1, 2, 3)
    found: list[int] = []
    for n, part in np.argwhere(parts.any(axis=2) & _suspect(blocks, parts)).tolist():
        k = np.flatnonzero(parts[n, part])
        lost = _singular(blocks[n, part][np.ix_(k, k)], float(blocks[n, part].diagonal().max()))
        found += [6 * n + 3 * part + int(k[i]) for i in lost]
    return found


def _suspect(blocks: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return which blocks (n, 2, 3, 3) are singular over their free components (n, 2, 3), (n, 2) bool."""
    largest = np.einsum("npii->npi", blocks).max(axis=2)
    B = np.where(free[..., :, None] & free[..., None, :], blocks, 0.0)
    B += np.where(free, 0.0, np.maximum(largest, 1.0)[..., None])[..., None] * np.eye(3)
    return (np.linalg.eigvalsh(B)[..., 0] <= 2.0 * _SINGULAR * largest) | ~(largest > 0.0)


def _singular(B: np.ndarray, largest: float) -> list[int]:
    """Return the components of a block (k, k) to hold, so that the rest is not singular: those in which the singular
    directions are largest."""
    limit = _SINGULAR * largest
    if not largest > 0.0:
        return list(range(len(B)))
    values, vectors = np.linalg.eigh(B)
    lost: list[int] = []
    rest = vectors[:, values <= limit]
    while rest.shape[1]:
        i = int(np.linalg.norm(rest, axis=1).argmax())
        lost.append(i)
        # the singular directions that remain when component i is held
        row = rest[i] / np.linalg.norm(rest[i])
        rest = rest @ np.linalg.svd(row[None])[2][1:].T
    return lost


def _diagonal_blocks(K: Any) -> np.ndarray:
    """Return blocks (n, 2, 3, 3) of displacements and rotations of each grid point."""
    K = K.tocoo()
    same = (K.row // 3) == (K.col // 3)
    out = np.zeros((K.shape[0] // 3, 3, 3))
    np.add.at(out, (K.row[same] // 3, K.row[same] % 3, K.col[same] % 3), K.data[same])
    return out.reshape(-1, 2, 3, 3)
