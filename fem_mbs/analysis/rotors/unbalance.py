"""Steady response of a rotor to unbalances over its speed.

A mass m at the distance d from the axis of a node pulls with m d Omega^2 in a direction that turns with the rotor: with
e, f across the axis, e x f along it, and the phase a from e towards f,

    F(t) = Re(F exp(i Omega t)),   F = m d Omega^2 exp(i a) (e - i f),   (-Omega^2 M + i Omega C + K) X + G^T Y = F

in the fixed frame.  In a rotating frame the force rests, and so does what it moves: K xi + G^T y = m d Omega^2
(cos a e + sin a f), seen from outside as X = xi - i n x xi, n the axis.

Theory: docs/theory.md, section 10, "Unbalance".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import vstack

from fem_mbs.analysis.rotors.campbell import Spinning, free_motions
from fem_mbs.analysis.stability.linearisation import Linearisation
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.model.parts.rotors import Unbalance
from fem_mbs.solvers.eigen.quadratic_pencil import QuadraticPencil
from fem_mbs.solvers.linear.saddle_factors import SingularShift
from fem_mbs.solvers.linear.service import factor

__all__ = ["Response", "steady_response"]


@dataclass
class Response:
    """Displacements X (n_speeds, n_nodes, 3) [m], complex: Re(X exp(i Omega t)), by ``speeds`` (n_speeds,) [rad/s]."""

    speeds: np.ndarray
    nodes: np.ndarray
    displacements: np.ndarray

    def major(self) -> np.ndarray:
        """Return half the longest axes (n_speeds, n_nodes) of the ellipses on which the nodes run."""
        X = self.displacements
        square = np.einsum("skc,skc->sk", X, X)
        return np.sqrt(0.5 * ((np.abs(X) ** 2).sum(axis=2) + np.abs(square)))


def steady_response(
    spinning: Spinning,
    speeds: np.ndarray,
    unbalances: list[Unbalance],
    nodes: np.ndarray,
    owner: str,
    progress: Callable[..., None] | None = None,
) -> Response:
    """Return the response of ``nodes`` (k,) to all unbalances together.

    Raises:
        ModelError: an unbalance on what does not turn.
        AnalysisError: a speed is critical and nothing damps.
    """
    turning = set(spinning.rotor.nodes.tolist())
    for u in unbalances:
        if u.node not in turning:
            name = spinning.end.compiled.model.node_name(u.node)
            raise ModelError(
                f'the unbalance at "{name}" is on no part of {spinning.rotor.owner}', owner=owner, remedy="move it"
            )
    out = np.zeros((len(speeds), len(nodes), 3), complex)
    for k, speed in enumerate(speeds):
        if speed == 0.0:  # no force; a rotor that nothing holds would leave a singular matrix
            continue
        lin = spinning.linearised(float(speed))
        try:
            out[k] = _at(lin, float(speed), unbalances, nodes, spinning.rotor)
        except SingularShift:
            raise AnalysisError(
                f"{owner}: {speed:.9g} rad/s is a critical speed, and nothing damps there; leave it out, or add damping"
            ) from None
        if progress:
            progress(k + 1)
    return Response(np.asarray(speeds, float), nodes, out)


def _at(lin: Linearisation, speed: float, unbalances: list[Unbalance], nodes: np.ndarray, rotor: Any) -> np.ndarray:
    system, dim = lin.system, lin.system.dimension
    e, f = rotor.across
    seen = lin.frame == "rotating"
    force = np.zeros(system.n_dof, complex)
    for u in unbalances:
        at = system.offset[u.node] + np.arange(dim)
        turned = np.exp(1j * u.phase)
        value = turned.real * e + turned.imag * f if seen else turned * (e - 1j * f)
        force[at] += u.amount * speed**2 * value[:dim]
    # what nothing holds would drift away where forces rest: it is held by its inertia
    rows = vstack((lin.G, free_motions(lin, (lin.K,)))) if seen else lin.G
    pencil = QuadraticPencil(lin.M, lin.C, lin.K, rows)
    A = pencil.shifted(0.0 if seen else 1j * speed * pencil.time)
    right = force[lin.dofs] * pencil.d
    factors = factor(A, pencil.rows, "general", columns=pencil.columns)
    x = factors.solve(np.ascontiguousarray(right.real) if seen else right)[0] * pencil.d
    full = lin.expand(x)
    moved = np.zeros((len(nodes), 3), complex)
    moved[:, :dim] = full[system.offset[nodes][:, None] + np.arange(dim)]
    return moved - 1j * np.cross(rotor.axis, moved.real) if seen else moved
