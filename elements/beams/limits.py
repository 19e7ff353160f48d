"""Limits of validity of beam elements: how far one bends, turns and stretches.

Measured on a straight cantilever that a moment bends to an arc, displacement of the end, one element: co-rotational
beams 0.015 % at 30 degrees and 0.1 % at 57; generalised strains 12 % at 30 degrees (they measure sines); quadrilateral
shells 0.1 % at 30 degrees and 0.9 % at 57.  The default beams are exact there.

In space E (6, 3) holds the section axes of both ends as rows, the normal of each end first.
"""

from __future__ import annotations

import math

from fem_mbs.contract import inner
from fem_mbs.elements.registry import Watch

__all__ = ["STRETCH", "bending_watch", "plane_limits", "space_bending", "space_turn", "space_twist", "stretch"]

_MOST = 30.0  # [degrees] per element
_DEGREES = 180.0 / math.pi
STRETCH = Watch(
    0.5, math.inf, "the change of length over the unstrained length",
    "the law of a beam is linear: check loads, sections and units", unit="m/m",
)  # fmt: skip


def bending_watch(error: str) -> Watch:
    """Return the watch of an angle [degrees] of bending; ``error``: what the results are off by."""
    return Watch(
        _MOST,
        math.inf,
        "bending of one element",
        f"{error}: take more elements there",
        unit="degrees",
        from_start=True,
    )


@inner
def stretch(chord, angle, length):
    """Return the relative change of length [-], as a magnitude, of an element with a chord [m] that is bent into an arc
    of an angle [rad]; ``length`` [m] is the unstrained one."""
    half = 0.5 * min(angle, 6.0)
    arc = chord if half < 1e-8 else chord * half / math.sin(half)
    return abs(arc / length - 1.0)


@inner
def plane_limits(e0, e1, par, dof, Q, column, degrees, fe):
    """Write the angle by which the end sections of beams in the plane have turned against each other, and the stretch.

    ``column`` is that of the unstrained length; the angle is in degrees, or radians.
    """
    for e in range(e0, e1):
        angle = abs(Q[1, dof[e, 5]] - Q[1, dof[e, 2]])
        chord = math.hypot(Q[1, dof[e, 3]] - Q[1, dof[e, 0]], Q[1, dof[e, 4]] - Q[1, dof[e, 1]])
        fe[e - e0, 0] = _DEGREES * angle if degrees else angle
        fe[e - e0, 1] = stretch(chord, angle, par[e, column])


@inner
def _relative(E, i, j):
    """Return the entry (i, j) of the rotation of the second end in axes of the first."""
    return E[i, 0] * E[3 + j, 0] + E[i, 1] * E[3 + j, 1] + E[i, 2] * E[3 + j, 2]


@inner
def space_turn(E):
    """Return the relative rotation [rad] of the end sections."""
    x = _relative(E, 2, 1) - _relative(E, 1, 2)
    y = _relative(E, 0, 2) - _relative(E, 2, 0)
    z = _relative(E, 1, 0) - _relative(E, 0, 1)
    trace = _relative(E, 0, 0) + _relative(E, 1, 1) + _relative(E, 2, 2)
    return math.atan2(math.sqrt(x * x + y * y + z * z), trace - 1.0)


@inner
def space_twist(E):
    """Return the magnitude of the twist [rad], from the relative rotation of the end sections."""
    return abs(math.atan2(_relative(E, 2, 1) - _relative(E, 1, 2), _relative(E, 1, 1) + _relative(E, 2, 2)))


@inner
def space_bending(E):
    """Return the angle [degrees] between the normals of the end sections."""
    # of the normal of the second end in axes of the first
    across = math.hypot(_relative(E, 1, 0), _relative(E, 2, 0))
    return _DEGREES * math.atan2(across, _relative(E, 0, 0))
