"""Condition under which a tyre rolls: the velocity of its wheel at which the longitudinal slip is zero."""

from __future__ import annotations

import numpy as np

from fem_mbs.elements.contact.law import PIECES
from fem_mbs.elements.laws import ROW
from fem_mbs.elements.tyres import disc
from fem_mbs.elements.tyres.layout import (
    AXIS,
    CENTRE,
    CROWN,
    FORWARD,
    NORMAL,
    ORIGIN,
    RADIUS,
    ROAD,
    ROLLING,
    SHRINKING,
    TAIL,
)

__all__ = ["disc_rows", "rolling_rows"]


def rolling_rows(par: np.ndarray, x: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Return rows (n, 4, 6) of the sliding speeds V_sx = e_x.v_c - r_e a.w [m/s] and of the velocities v_c of the
    wheels' centres [m/s], over velocity and spin of their nodes, in global axes (`fem_mbs.elements.tyres.tyre`).

    The longitudinal slip is zero where the sliding speed is zero.

    The rolling radius r_e is that of the present penetration; a wheel off the road has that of the unloaded tyre.

    Args:
        par: parameters (n, n_par) of the tyres.
        x: places (n, 3) of their nodes [m].
        R: rotations (n, 3, 3) of their nodes.
    """
    arm, axle = (np.einsum("nij,nj->ni", R, par[:, k : k + 3]) for k in (CENTRE, AXIS))
    normal, ahead = par[:, NORMAL : NORMAL + 3], par[:, FORWARD : FORWARD + 3]
    place = x + arm - par[:, ORIGIN : ORIGIN + 3]
    height, slope = _road(par, np.einsum("ni,ni->n", ahead, place))
    s = np.einsum("ni,ni->n", normal, axle)
    cosine = np.sqrt(np.maximum(1.0 - s * s, 0.0))
    crown = par[:, CROWN]
    depth = (par[:, RADIUS] - crown) * cosine + crown + height - np.einsum("ni,ni->n", normal, place)
    radius = par[:, ROLLING] - par[:, SHRINKING] * np.maximum(depth, 0.0)
    forward = np.cross(axle, normal - slope[:, None] * ahead)
    forward /= np.maximum(np.linalg.norm(forward, axis=1, keepdims=True), 1e-300)
    axle = axle / np.linalg.norm(axle, axis=1, keepdims=True)
    rows = np.zeros((len(par), 4, 6))
    rows[:, 0, :3], rows[:, 0, 3:] = forward, np.cross(arm, forward) - radius[:, None] * axle
    for k, unit in enumerate(np.eye(3)):
        rows[:, 1 + k, :3], rows[:, 1 + k, 3:] = unit, np.cross(arm, unit)
    return rows


def disc_rows(par: np.ndarray, x: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Return rows (n, 4, 6) of discs that roll without slip (`fem_mbs.elements.tyres.disc`).

    Times the velocities and spins (6,) of the node, row 0 gives the speed [m/s] of the material point at the contact,
    along the direction of rolling, and rows 1 to 3 the velocity of the centre.

    Args:
        par: (n, columns) of `disc_roll3`; x: places of the nodes, not used; R: (n, 3, 3) rotations of the nodes.
    """
    arm, axle = (np.einsum("nij,nj->ni", R, par[:, k : k + 3]) for k in (disc.CENTRE, disc.AXIS))
    normal = par[:, disc.NORMAL : disc.NORMAL + 3]
    forward = np.cross(axle, normal)
    size = np.maximum(np.linalg.norm(forward, axis=1, keepdims=True), 1e-300)
    forward /= size
    radial = np.cross(forward, axle)  # from the point that touches to the centre
    point = arm - par[:, [disc.RING]] * radial - par[:, [disc.CROWN]] * normal
    rows = np.zeros((len(par), 4, 6))
    rows[:, 0, :3], rows[:, 0, 3:] = forward, np.cross(point, forward)
    for k, unit in enumerate(np.eye(3)):
        rows[:, 1 + k, :3], rows[:, 1 + k, 3:] = unit, np.cross(arm, unit)
    return rows


def _road(par: np.ndarray, ahead: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return height [m] and slope (both (n,)) of the roads at distances ``ahead`` (n,) [m] along their profiles."""
    height, slope = np.zeros(len(par)), np.zeros(len(par))
    for e in np.flatnonzero(par[:, ROAD] > 0):
        first = TAIL + ROW * int(par[e, PIECES])
        rows = par[e, first : first + ROW * int(par[e, ROAD])].reshape(-1, ROW)
        k = max(int(np.searchsorted(rows[:, 0], ahead[e], side="right")) - 1, 0)
        d = ahead[e] - rows[k, 0] if ahead[e] > rows[0, 0] else 0.0
        slope[e] = rows[k, 1] + d * (rows[k, 2] + d * rows[k, 3])
        height[e] = rows[k, 5] + d * (rows[k, 1] + d * (rows[k, 2] / 2.0 + d * rows[k, 3] / 3.0))
    return height, slope
