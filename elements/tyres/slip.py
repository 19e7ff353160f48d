"""Slip laws of tyres: forces along and across a wheel by its slips and the normal force.

With the slips s_x, s_y (positive ones give positive forces), the friction coefficients mu_x, mu_y, and slip stiffnesses
K_x, K_y, the normalised slips f and the forces are

    f_i = K_i s_i/(mu_i N),   m = sqrt(f_x^2 + f_y^2),   F_i = mu_i N Phi_i(m) f_i/m :

the curve of each direction, Phi_i, is taken at the size of the combined slip, and the force points along it; (F_x/mu_x,
F_y/mu_y) never leaves the circle of the radius N.  Pacejka, Tire and Vehicle Dynamics (3rd ed., 2012), section 4.2, the
similarity method for combined slip.  The curves:

linear   min(m, 1)
brush    m - m^2/3 + m^3/27 up to m = 3, then 1: parabolic pressure, Pacejka (2012), section 3.2
magic    sin(C atan(b - E (b - atan b))), b = m/C: the Magic Formula with D = mu N, B = K/(C D), Pacejka
         (2012), section 4.3

K_i is a constant, or rises with the normal force: K_i N (the column is then B C mu), or K_i sin(2 atan(N/N_p)), which
is largest at N_p: Pacejka (2012), section 4.3.  The pneumatic trail falls with the slip as that of the brush model,

    t = t_0 (1 - q)^3/(1 - q + q^2/3),   q = min(m/3, 1): Pacejka (2012), section 3.2.

A carcass carries the force as a deflection u, which cannot exceed what the friction holds.  With relaxation lengths S
and the size x of K_i u_i/(S_i mu_i N),

    s_i = (u_i/S_i) g(x),   g = 1 + x^4/(1 - x),   straight on from x_c = 0.98 :

deflections are S s while the force is small, and du/ds, the relaxation length at a slip, falls to nearly zero where it
is as large as the friction: Pacejka (2012), chapter 7.  The function g is ours, chosen for its smoothness.
"""

from __future__ import annotations

import math

from fem_mbs.contract import inner
from fem_mbs.elements.duals import add_product, apply, constant, product, quotient

__all__ = ["CURVES", "SLIP_COLUMNS", "PROPORTIONAL", "slip_forces", "slips_of_deflections", "trail_factor"]

#: Names of the curves, by the number in the column "curve".
CURVES = ("linear", "brush", "magic")
_BRUSH, _MAGIC = 1, 2
#: Value in the column "peak load": stiffnesses are proportional to the normal force.
PROPORTIONAL = -1.0
#: Names of the columns, which begin at a column of par that is an argument of the functions.
SLIP_COLUMNS = (
    "curve", "peak load [N]", "friction x", "friction y", "slip stiffness x", "slip stiffness y", "C x", "C y", "E x",
    "E y",
)  # fmt: skip
_CURVE, _PEAK, _MU, _K, _C, _E = 0, 1, 2, 4, 6, 8
_MOST_STRETCHED = 0.98  # x_c


@inner
def _curve(kind, C, E, m):
    """Return Phi(m)/m and its derivative by m."""
    if kind == _MAGIC:
        if m < 1e-8:
            return 1.0, 0.0
        b = m / C
        t = math.atan(b)
        bent, slope = b - E * (b - t), 1 - E * b * b / (1 + b * b)
        angle = C * math.atan(bent)
        phi, by_m = math.sin(angle), math.cos(angle) * slope / (1 + bent * bent)
        return phi / m, (by_m - phi / m) / m
    if kind == _BRUSH and m < 3:
        return 1 - m / 3 + m * m / 27, -1 / 3 + 2 * m / 27
    if m <= 1:  # (linear; that of the brush is done above)
        return 1.0, 0.0
    return 1 / m, -1 / (m * m)


@inner
def _stiffness(w, par, e, at, i, N, out):
    """Fill out with K_i/(mu_i N) of the normal force N."""
    K, peak, mu = par[e, at + _K + i], par[e, at + _PEAK], par[e, at + _MU + i]
    n = N[0]
    if peak < 0:
        constant(w, K / mu, out)
    elif peak == 0:
        apply(w, K / (mu * n), -K / (mu * n * n), N, out)
    else:  # sin(2 atan(t)) = 2 t/(1 + t^2)
        t = n / peak
        value = 2 * K / (mu * peak * (1 + t * t))
        apply(w, value, -value * 2 * t / (peak * (1 + t * t)), N, out)


@inner
def _stretch(x):
    """Return g(x) and its derivative."""
    y = min(x, _MOST_STRETCHED)
    rest = 1 - y
    slope = 4 * y**3 / rest + y**4 / rest**2
    return 1 + y**4 / rest + slope * (x - y), slope


@inner
def _normalise(w, par, e, at, slips, N, work):
    """Fill work[1], work[2] with f_x, f_y of slips (2, M), and work[0] with m; return its value."""
    m = work[0]
    constant(w, 0.0, m)
    for i in range(2):
        _stiffness(w, par, e, at, i, N, work[1 + i])
        product(w, work[1 + i], slips[i], work[1 + i])
        add_product(w, 1.0, work[1 + i], work[1 + i], m)
    size = math.sqrt(m[0])
    apply(w, size, 0.5 / size if size > 0 else 0.0, m, m)
    return size


@inner
def slips_of_deflections(w, par, e, at, N, work, slips):
    """Replace slips (2, M), which hold u_i/S_i, by the slips s_i under the normal force N > 0; work (5, M)."""
    g, slope = _stretch(_normalise(w, par, e, at, slips, N, work))
    apply(w, g, slope, work[0], work[0])
    for i in range(2):
        product(w, work[0], slips[i], slips[i])


@inner
def slip_forces(w, par, e, at, slips, N, work, forces):
    """Fill forces (2, M) with F_x, F_y of the slips (2, M) and the normal force N > 0; all are numbers with
    derivatives (`fem_mbs.elements.duals`).  work (5, M); work[0] becomes m."""
    size = _normalise(w, par, e, at, slips, N, work)
    for i in range(2):
        g, slope = _curve(par[e, at + _CURVE], par[e, at + _C + i], par[e, at + _E + i], size)
        apply(w, par[e, at + _MU + i] * g, par[e, at + _MU + i] * slope, work[0], work[3])
        product(w, work[3], N, work[4])
        product(w, work[4], work[1 + i], forces[i])


@inner
def trail_factor(w, m, work, out):
    """Fill out with t/t_0 of the normalised slip m; work (M,)."""
    if m[0] >= 3:
        constant(w, 0.0, out)
        return
    q = m[0] / 3
    top, below = (1 - q) ** 3, 1 - q + q * q / 3
    apply(w, below, (-1 + 2 * q / 3) / 3, m, work)
    apply(w, top, -((1 - q) ** 2), m, out)
    quotient(w, out, work, out)
