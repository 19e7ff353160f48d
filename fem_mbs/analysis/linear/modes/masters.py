"""Modes of a model that is reduced to some of its displacements, its masters (Guyan), and to modes with them held
(Craig and Bampton).

The other displacements follow the masters as in statics, so that their inertia acts on the masters.  Frequencies are
therefore not below those of the whole model.  Displacements without mass are condensed exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs.errors import AnalysisError, LooseError, ModelError, Owner
from fem_mbs.solvers.eigen.modes import RealModes, real_modes
from fem_mbs.solvers.linear.libraries import NotPositiveDefinite
from fem_mbs.solvers.reduction.fixed_interface import fixed_interface

if TYPE_CHECKING:
    from fem_mbs.analysis.linear.linearised import Linearised
    from fem_mbs.model.building import Building

__all__ = ["condensed_modes", "unknowns_of_masters"]


def unknowns_of_masters(
    linear: Linearised, building: Building, masters: Sequence[dict[str, Any]], owner: Owner
) -> np.ndarray:
    """Return the unknowns (a,) of the problem that are masters.

    Args:
        masters: tables {on = place, components = [...]}.

    Raises:
        ModelError: places that are not there, components that nodes do not have, that supports hold, or that depend on
            others by joints or equations.
    """
    system = linear.system
    dim = system.dimension
    names = ["x", "y", "z"][:dim] + (["rotation"] if dim == 2 else ["rotation x", "rotation y", "rotation z"])
    found: list[int] = []
    for entry in masters:
        words = [entry["components"]] if isinstance(entry["components"], str) else entry["components"]
        wrong = next((w for w in words if w not in names), None)
        if wrong is not None:
            raise ModelError(
                f'"{wrong}" is no component of masters', owner=owner, key="masters", value=wrong,
                remedy=f"there are {', '.join(names)}",
            )  # fmt: skip
        numbers = [names.index(word) for word in words]
        for node in building.nodes_of(entry["on"], owner).tolist():
            if max(numbers) >= dim and not system.nodes.rotational[node]:
                raise ModelError(
                    f'node "{system.nodes.names[node]}" has no rotations, which masters name', owner=owner,
                    key="masters", remedy="name its displacements only",
                )  # fmt: skip
            found += [int(system.offset[node]) + k for k in numbers]
    dofs = np.unique(found)
    T = csr_matrix(linear.elimination.T)[dofs]
    T.eliminate_zeros()
    alone = (np.diff(T.indptr) == 1) & (np.asarray(abs(T - T.sign()).sum(axis=1)).ravel() == 0.0)
    if not alone.all():
        raise ModelError(
            f"the master {system.name_of(int(dofs[np.argmin(alone)]))} is held, or depends on others", owner=owner,
            key="masters", remedy="leave it out, or name what it depends on",
        )  # fmt: skip
    return np.unique(T.indices)


def condensed_modes(
    K: csr_matrix, M: csr_matrix, masters: np.ndarray, held_modes: int, owner: Owner, **wanted: Any
) -> RealModes:
    """Return modes, over all unknowns (n,), of a problem that is reduced to masters (a,) and to the lowest
    ``held_modes`` with the masters held; ``wanted`` as `fem_mbs.solvers.eigen.modes.real_modes`.

    Raises:
        LooseError: the model can move with its masters held.
        AnalysisError: fewer modes exist than are asked for, or they cannot be found.
    """
    others = np.ones(K.shape[0], bool)
    others[masters] = False
    if not M[np.flatnonzero(others)].count_nonzero():  # no inertia is condensed: the whole model has these modes
        return real_modes(K, M, **wanted)
    try:
        part = fixed_interface(K, M, masters, count=held_modes)
    except NotPositiveDefinite:
        raise LooseError("the model can move with its masters held; name more of them", owner=owner) from None
    except AnalysisError as error:
        raise AnalysisError(f"{owner}: {error}") from None
    small = part.stiffness, part.mass
    if wanted.get("count") is not None:
        wanted["count"] = min(wanted["count"], len(small[0]))
    found = real_modes(csr_matrix(small[0]), csr_matrix(small[1]), **wanted)
    return replace(found, vectors=part.basis @ found.vectors)
