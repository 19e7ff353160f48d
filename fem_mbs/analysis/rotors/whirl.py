"""The sense in which a rotor whirls in a mode.

Theory: docs/theory.md, section 10, "Branches over the speed".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.analysis.rotors.multiblade import blade_whirl
from fem_mbs.analysis.rotors.periodic import Motions
from fem_mbs.analysis.stability.linearisation import Linearisation
from fem_mbs.model.parts.rotors import across

if TYPE_CHECKING:
    from fem_mbs.analysis.steps.rotors.campbell import Whirl

__all__ = ["whirl"]

_LINE = 1e-6  # of areas over squares of amplitudes: what turns less is a line
_NOTABLE = 0.05  # of the largest amplitude: nodes whose sense of whirl counts


def whirl(lin: Motions, value: complex, vector: np.ndarray, same: np.ndarray | None = None) -> Whirl:
    """Return the sense in which the nodes of a rotor whirl in a mode.

    It is "forward" (as the rotor turns), "backward", "mixed" (some nodes forward, some backward), or "none": motion
    along lines, not across the axis (torsion, axial modes), or not determined.

    Lateral motions u, v across the axis are r_f exp(i w t) + conj(r_b) exp(-i w t) as complex numbers, with
    2 r_f = u + i v, 2 conj(r_b) = conj(u - i v); their areas grow by w_f |r_f|^2 - w_b |r_b|^2, with w_f = w + Omega
    and w_b = w - Omega where w is seen from a rotating frame.

    ``same`` (n, k): right vectors of all modes with this eigenvalue. Every linear combination of them is a mode too.
    The sense is determined only if all combinations have the same one, that is, if the quadratic form of the area is
    definite. A mass on equal springs, for example, may run forward, backward or along a line.
    """
    p, X = value, vector[:, None]
    if same is not None and same.shape[1] > 1:
        X = np.column_stack((X, same / np.abs(same).max(axis=0)))
    if p.imag < 0.0:
        p, X = p.conjugate(), X.conj()
    rotation, system = lin.steady, lin.system
    full = lin.expand(X)
    if isinstance(lin, Linearisation) and lin.frame == "multi-blade":
        return blade_whirl(lin, p, full)
    dim, n = system.dimension, system.nodes.x.shape[0]
    some = np.flatnonzero(rotation.nodes)
    e, f = (a[:dim] for a in across(rotation.axis))
    place = full[system.offset[:n][some][:, None] + np.arange(dim)].transpose(0, 2, 1)  # (nodes, vectors, dim)
    along = place
    turning = some[system.nodes.rotational[some]]
    if dim == 3 and turning.size:
        turns = full[system.offset[turning][:, None] + 3 + np.arange(3)].transpose(0, 2, 1)
        if np.abs(place[:, 0]).max(initial=0.0) < 1e-3 * system.length * np.abs(turns[:, 0]).max(initial=0.0):
            along = turns
    u, v = along @ e, along @ f
    own = rotation.speed if lin.frame == "rotating" else 0.0
    r_f, r_b = 0.5 * (u + 1j * v), 0.5 * (u - 1j * v)
    w_f, w_b = p.imag + own, p.imag - own
    area = w_f * np.abs(r_f[:, 0]) ** 2 - w_b * np.abs(r_b[:, 0]) ** 2
    size = (np.abs(u[:, 0]) ** 2 + np.abs(v[:, 0]) ** 2) * (abs(p.imag) + abs(own))
    whole = float((np.abs(along[:, 0]) ** 2).sum(axis=1).max(initial=0.0)) * (abs(p.imag) + abs(own))
    notable = size > max(_NOTABLE**2 * size.max(initial=0.0), 1e-6 * whole)
    if X.shape[1] > 1:
        a, b = r_f[notable, 1:], r_b[notable, 1:]
        form = w_f * a.conj()[:, :, None] * a[:, None] - w_b * b.conj()[:, :, None] * b[:, None]
        least, most = np.linalg.eigvalsh(form)[:, [0, -1]].T
        if (np.minimum(-least, most) > _LINE * np.maximum(-least, most)).any():
            return "none"
    sense = np.sign(area[notable & (np.abs(area) > _LINE * size)]) * (np.sign(rotation.speed) or 1.0)
    if rotation.speed == 0.0 or sense.size == 0 or p.imag == 0.0:
        return "none"
    if (sense > 0.0).all():
        return "forward"
    return "backward" if (sense < 0.0).all() else "mixed"
