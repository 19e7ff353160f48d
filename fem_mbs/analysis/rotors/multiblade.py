"""Motion of the blades of a rotor in modes in multi-blade coordinates.

A harmonic n of the blades, q_b = c exp(p t + i n psi_b), is a wave that runs around: of n = 0 all blades move alike
(collective), of n < 0 it runs forward with the frequency seen in space, of n > 0 backward, of n = N/2 neighbours move
against each other (differential).  An observer on a blade sees p + i n Omega.

Theory: docs/theory.md, section 10, "Multi-blade coordinates".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.analysis.stability.linearisation import Linearisation
from fem_mbs.late import dataclass

if TYPE_CHECKING:
    from fem_mbs.analysis.steps.rotors.campbell import Whirl

__all__ = ["BladeMotion", "blade_motions", "blade_whirl"]

#: Harmonics of the blades.
NAMES = ("collective", "forward", "backward", "differential")

_LEADS = 0.6  # of the motion of the blades, from which on a harmonic names the mode
_OWN = 0.5  # of all motion, up to which the blades name it


@dataclass(frozen=True)
class BladeMotion:
    """Shares of a mode, by squares of displacements weighted by the masses: the harmonics of the blades, and what is
    not in blades."""

    collective: float
    forward: float
    backward: float
    differential: float
    support: float

    @property
    def name(self) -> Whirl:
        """Return the name of the mode: the harmonic that leads, or "support" where the blades do less than half."""
        parts = {key: getattr(self, key) for key in NAMES}
        name = max(parts, key=lambda key: parts[key])
        if self.support > _OWN:
            return "support"
        return name if parts[name] >= _LEADS * sum(parts.values()) else "mixed"  # type: ignore[return-value]


def blade_motions(lin: Linearisation, values: np.ndarray, X: np.ndarray) -> list[BladeMotion]:
    """Return the motion of the blades in modes with eigenvalues (k,) and shapes X (N, k) in multi-blade coordinates."""
    parts = _weighted(lin, np.where(values.imag < 0.0, X.conj(), X))
    sizes = np.array([(np.abs(part) ** 2).sum(axis=0) for part in parts])
    return [BladeMotion(*(float(v) for v in row)) for row in (sizes / np.maximum(sizes.sum(axis=0), 1e-300)).T]


def blade_whirl(lin: Linearisation, value: complex, X: np.ndarray) -> Whirl:
    """Return the name of the mode X[:, 0] with an eigenvalue; "none" at rest, and where the further columns, all modes
    with this eigenvalue, have combinations of other names."""
    if lin.steady.speed == 0.0 or value.imag == 0.0:
        return "none"
    name = blade_motions(lin, np.array([value]), X[:, :1])[0].name
    if X.shape[1] <= 2 or name in ("mixed", "support"):
        return name
    more = X[:, 1:].conj() if value.imag < 0.0 else X[:, 1:]
    forms = [part.conj().T @ part for part in _weighted(lin, more)]
    whole = sum(forms)
    L = np.linalg.inv(np.linalg.cholesky(whole + 1e-14 * np.trace(whole).real * np.eye(len(whole))))
    own = forms[NAMES.index(name)]
    least = np.linalg.eigvalsh(L @ own @ L.conj().T)[0]
    return name if least >= _LEADS * (1.0 - _OWN) else "none"


def _weighted(lin: Linearisation, X: np.ndarray) -> list[np.ndarray]:
    """Return displacements (.., k) weighted by roots of masses, of each of `NAMES` and of what is not in blades, of
    shapes X (N, k) that oscillate as exp(+i w t)."""
    order, waves, dofs = lin.bladed.waves(X)
    mass = np.abs(lin.whole()[0].diagonal())
    waves = np.sqrt(mass[dofs].sum(axis=1))[:, None, None] * waves  # (row, harmonic, mode)
    half = 2 * order == len(order)
    sense = 1.0 if lin.steady.speed >= 0.0 else -1.0
    forward, backward = (order * sense < 0.0) & ~half, (order * sense > 0.0) & ~half
    free = np.setdiff1d(lin.dofs, dofs)
    found = [waves[:, some].reshape(-1, X.shape[1]) for some in (order == 0, forward, backward, half)]
    return [*found, np.sqrt(mass[free, None]) * X[free]]
