"""Complex modes seen from the rotating frame of a centrifugal load, and in the span of real modes.

In a frame that rotates with Omega a part is at rest under its centrifugal load.  Small motions have the mass and
stiffness of a linear step (the load's share -Omega^2 M included) and the Coriolis matrix
(`fem_mbs.analysis.linear.coriolis`).  ``basis`` restricts the motions to the modes of a modal step, u = Phi q: small
dense matrices Phi^T A Phi, the procedure of CalculiX and Abaqus.  The contribution of other modes is then missing: with
ten modes the tenth frequency of a fast rotor may be 10 % too high.

Theory: docs/theory.md, section 10, "In the frame of a centrifugal load".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs.analysis.linear.coriolis import coriolis_matrix
from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.solvers.eigen.complex_modes import ComplexModes, complex_modes

__all__ = ["frame_coriolis", "frame_speed", "turning_modes"]

#: Distance of shapes from what constraints allow over their largest number, beyond which they are no basis.  A preload
#: turns joints, so that modes of the unloaded model violate them a little.
_VIOLATED = 0.01


def frame_speed(linear: Linearised, owner: str) -> float:
    """Return the speed [rad/s] of the frame in a state: the root of the centrifugal load's function, with the sign of
    the speed at the time at which this was taken.

    Raises:
        ModelError: the load does not act.
    """
    frame = linear.compiled.model.building.rotating
    square = float(linear.values_now()[frame.function])
    if square <= 0.0:
        raise ModelError(
            f'centrifugal load "{frame.name}" does not act yet', owner=owner, remedy="bring it on by a step before"
        )
    preload = linear.preload
    t = preload.t if preload is not None and preload.mask[frame.function] else linear.t
    return float(np.copysign(np.sqrt(square), frame.law(np.float64(t))))


def frame_coriolis(linear: Linearised, owner: str) -> csr_matrix:
    """Return the matrix (N, N) of the Coriolis forces in the frame of the centrifugal load.

    Raises:
        ModelError: the frame does not turn.
    """
    speed, axis = frame_speed(linear, owner), linear.compiled.model.building.rotating.axis
    return coriolis_matrix(linear.system, speed * axis if axis.size else speed, linear.state)


def turning_modes(
    linear: Linearised, basis: np.ndarray | None, coriolis: bool, count: int, given: dict[str, Any], owner: str
) -> tuple[ComplexModes, np.ndarray, float | None]:
    """Return complex modes of small motions about a state at rest, their shapes (N, k) and the speed of the frame.

    Args:
        basis: (N, r) shapes that span the motions; None: all motions.
        coriolis: with the Coriolis forces of the centrifugal load's frame.
        given: further arguments of `fem_mbs.solvers.eigen.complex_modes.complex_modes`.

    Raises:
        ModelError, AnalysisError: the frame does not turn; joints that cannot be eliminated; a basis that violates
            constraints of the step; no convergence.
    """
    C, speed = linear.damping_matrix, None
    if coriolis:
        speed = frame_speed(linear, owner)
        C = C + frame_coriolis(linear, owner)
    M, C, K, G = linear.mass, csr_matrix(linear.reduce(csr_matrix(C))), linear.stiffness, linear.rows
    if basis is None:
        found = complex_modes(M, C, K, G if G.shape[0] else None, count, **given)
        shapes = linear.expand(found.right.real.copy()) + 1j * linear.expand(found.right.imag.copy())
        return found, shapes, speed
    if G.shape[0]:
        raise AnalysisError(f"{owner}: a basis needs joints that can be eliminated; remove it")
    free = linear.elimination.free
    _check_constraints(linear, basis, owner)
    size = np.sqrt(np.einsum("ik,ik->k", basis[free], M @ basis[free]))
    V = basis[free] / size
    M, C, K = (V.T @ (A @ V) for A in (M, C, K))
    found = complex_modes(M, C, K, None, min(count, 2 * V.shape[1]), **given)
    return found, (basis / size) @ found.right, speed


def _check_constraints(linear: Linearised, basis: np.ndarray, owner: str) -> None:
    """Refuse shapes (N, r) that move what the step holds, or violate its equations.

    Raises:
        ModelError: naming the dof that is farthest from where constraints would have it.
    """
    moved = linear.expand(basis[linear.elimination.free])
    apart = np.abs(moved - basis)[: linear.first].max(axis=1, initial=0.0)
    worst, largest = int(apart.argmax()), float(np.abs(basis[: linear.first]).max(initial=0.0))
    if apart[worst] > _VIOLATED * largest:
        raise ModelError(
            f"the modes of its basis violate constraints of this step: {linear.system.name_of(worst)} is "
            f"{apart[worst] / largest:.1%} of their largest displacement away from where these would have it",
            owner=owner, key="basis", remedy="find the modes with the equations and supports of this step",
        )  # fmt: skip
