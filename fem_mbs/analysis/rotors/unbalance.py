"""Steady response of a rotor to unbalances over its speed.

A mass m at the distance d from the axis of a node pulls with m d Omega^2 in a direction that turns with the rotor: with
e, f across the axis, e x f along it, and the phase a from e towards f,

    F(t) = Re(F exp(i Omega t)),   F = m d Omega^2 exp(i a) (e - i f),   (-Omega^2 M + i Omega C + K) X + G^T Y = F

in the fixed frame.  In a rotating frame the force rests, and so does what it moves: K xi + G^T y = m d Omega^2
(cos a e + sin a f), seen from outside as X = xi - i n x xi of the part of xi across the axis n; the part along it rests
in space too.  In multi-blade coordinates the equations are those of the fixed frame for what is on the axis and what
does not turn.  Periodic coefficients are balanced by harmonics of the turn; X is the first one.

Theory: docs/theory.md, section 10, "Unbalance".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import vstack

from fem_mbs.analysis.rotors.campbell import Spinning, free_motions
from fem_mbs.analysis.rotors.periodic import forced_motion
from fem_mbs.analysis.stability.linearisation import Linearisation
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.parts.rotors import Unbalance
from fem_mbs.solvers.eigen.quadratic_pencil import QuadraticPencil
from fem_mbs.solvers.linear.saddle_factors import SingularShift
from fem_mbs.solvers.linear.service import factor
from fem_mbs.units import unit_of

__all__ = ["Response", "steady_response"]


@dataclass
class Response:
    """Displacements X (n_speeds, n_nodes, 3) [m], complex: Re(X exp(i Omega t)), by ``speeds`` (n_speeds,) [rad/s]."""

    speeds: np.ndarray
    nodes: np.ndarray
    displacements: np.ndarray
    #: Largest displacement of other harmonics of the turn over that of the first, and the speed at which it is [rad/s].
    others: tuple[float, float] = (0.0, 0.0)

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
    others = (0.0, 0.0)
    for k, speed in enumerate(speeds):
        if speed == 0.0:  # no force; a rotor that nothing holds would leave a singular matrix
            continue
        periodic = spinning.frame == "periodic"
        lin = spinning.steady(float(speed)) if periodic else spinning.linearised(float(speed))
        if lin.frame == "multi-blade":
            _check_places(lin, unbalances, nodes, owner)
        try:
            found = _balanced if periodic else _at
            out[k], rest = found(lin, float(speed), unbalances, nodes, spinning.rotor)
            others = max(others, (rest, float(speed)))
        except SingularShift:
            raise AnalysisError(
                f"{owner}: {speed:.9g} {unit_of('rad/s')} is a critical speed, and nothing damps there; leave it out, "
                "or add damping"
            ) from None
        if progress:
            progress(k + 1)
    return Response(np.asarray(speeds, float), nodes, out, others)


def _check_places(lin: Linearisation, unbalances: list[Unbalance], nodes: np.ndarray, owner: str) -> None:
    """Refuse unbalances and places on blades: in multi-blade coordinates both change with the turn.

    Raises:
        ModelError: naming the node.
    """
    on = lin.bladed.on
    for what, node in (*(("unbalance", u.node) for u in unbalances), *(("displacement", int(n)) for n in nodes)):
        if on[node]:
            raise ModelError(
                f'the {what} at "{lin.compiled.model.node_name(node)}" is on a blade, where multi-blade coordinates '
                "do not rest",
                owner=owner, remedy='name a place on the axis, or take frame = "periodic"',
            )  # fmt: skip


def _forces(lin: Linearisation, speed: float, unbalances: list[Unbalance], rotor: Any) -> np.ndarray:
    """Return F (N,), the forces Re(F exp(i Omega t)), or those that rest in the rotating frame."""
    system, dim = lin.system, lin.system.dimension
    e, f = rotor.across
    force = np.zeros(system.n_dof, complex)
    for u in unbalances:
        at = system.offset[u.node] + np.arange(dim)
        turned = np.exp(1j * u.phase)
        value = turned.real * e + turned.imag * f if lin.frame == "rotating" else turned * (e - 1j * f)
        force[at] += u.amount * speed**2 * value[:dim]
    return force


def _balanced(
    lin: Linearisation, speed: float, unbalances: list[Unbalance], nodes: np.ndarray, rotor: Any
) -> tuple[np.ndarray, float]:
    """Return first harmonics (k, 3) of the displacements of nodes with periodic coefficients, and the largest of other
    harmonics over the largest of the first."""
    dim = lin.system.dimension
    full, rest = forced_motion(lin, _forces(lin, speed, unbalances, rotor))
    moved = np.zeros((len(nodes), 3), complex)
    at = lin.system.offset[nodes][:, None] + np.arange(dim)
    moved[:, :dim] = full[at]
    most = np.abs(moved).max(initial=0.0)
    return moved, float(rest[at].max(initial=0.0)) / most if most > 0.0 else 0.0


def _at(
    lin: Linearisation, speed: float, unbalances: list[Unbalance], nodes: np.ndarray, rotor: Any
) -> tuple[np.ndarray, float]:
    """Return first harmonics (k, 3) of the displacements of nodes with constant coefficients, and what rests over the
    largest of them: of a frame that turns the displacements along its axis."""
    system, dim = lin.system, lin.system.dimension
    seen = lin.frame == "rotating"
    force = _forces(lin, speed, unbalances, rotor)
    # free motions would drift where forces rest: they are held by their inertia
    rows = vstack((lin.G, free_motions(lin, (lin.K,)))) if seen else lin.G
    pencil = QuadraticPencil(lin.M, lin.C, lin.K, rows)
    A = pencil.shifted(0.0 if seen else 1j * speed * pencil.time)
    right = force[lin.dofs] * pencil.d
    factors = factor(A, pencil.rows, "general", columns=pencil.columns)
    x = factors.solve(np.ascontiguousarray(right.real) if seen else right)[0] * pencil.d
    full = lin.expand(x)
    moved = np.zeros((len(nodes), 3), complex)
    moved[:, :dim] = full[system.offset[nodes][:, None] + np.arange(dim)]
    if not seen:
        return moved, 0.0
    along = moved.real @ rotor.axis
    moved = moved - np.outer(along, rotor.axis)
    moved = moved - 1j * np.cross(rotor.axis, moved.real)
    most = np.abs(moved).max(initial=0.0)
    return moved, float(np.abs(along).max(initial=0.0)) / most if most > 0.0 else 0.0
