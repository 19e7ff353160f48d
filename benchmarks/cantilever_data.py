"""The damped plane cantilever whose complex modes are compared: numbers alone, for any interpreter.

Bending stiffness EI, axial stiffness EA, mass per length; damping proportional to the stiffness.  Without shear and
rotary inertia p^2 + p DAMPING w^2 + w^2 = 0, w the frequencies of the undamped beam.
"""

import math

LENGTH, EA, EI, RHO_A, DAMPING, COUNT = 1.0, 1e6, 100.0, 1.0, 1e-4, 6

#: Roots of cos x cosh x = -1.
_ROOTS = (
    1.875104068711961,
    4.694091132974174,
    7.854757438237613,
    10.99554073487547,
    14.13716839104647,
    17.2787595320882,
)


def exact() -> list[list[float]]:
    """The COUNT lowest eigenvalues with positive imaginary part, [real, imaginary]: all of bending."""
    bending = [(x / LENGTH) ** 2 * math.sqrt(EI / RHO_A) for x in _ROOTS]
    axial = [(k + 0.5) * math.pi / LENGTH * math.sqrt(EA / RHO_A) for k in range(COUNT)]
    lowest = sorted(bending + axial)[:COUNT]
    return [[-0.5 * DAMPING * w * w, w * math.sqrt(1.0 - (0.5 * DAMPING * w) ** 2)] for w in lowest]
