"""Shear stresses and named fibres of the shapes of cross-sections.

Axes are those of the shape, through its centroid (`fem_mbs.properties.sections`): the height along y, the width along
z.  A *fibre* is a point (y, z) of the section.  The functions called ``..._shear_stress`` return (..., 2, 3): the
stresses (xy, xz) at points (..., 2) per unit of (Vy, Vz, T), the shear forces and the torque about the shear centre.

Circle, tube and rectangle have the exact stresses of St. Venant's flexure and torsion, for Poisson's ratio nu. With a
shear force Vy they are

    tau = Vy / (2 (1 + nu) Iz) (grad psi - d),  d = nu ((y^2 - z^2)/2, y z),
    laplace psi = -2 y,  d psi/dn = n . d on the boundary

(Timoshenko & Goodier, Theory of Elasticity, 3rd ed., articles 120 to 123; Pilkey, Analysis and Design of Elastic
Beams, 2002, chapter 6).  I and box have those of thin walls: Bredt's shear flow, T t/J in open walls, and V Q/(I b).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

__all__ = [
    "box_fibres", "box_shear_stress", "i_fibres", "i_shear_stress", "rectangle_fibres", "rectangle_shear_stress",
    "round_fibres", "round_shear_stress",
]  # fmt: skip

D = Mapping[str, float]
Fibres = dict[str, tuple[float, float]]

_TERMS = 400  # of series, which fall at least as 1/n^2


def rectangle_fibres(height: float, width: float) -> Fibres:
    """Return the fibres of an outline that is a rectangle: the middles of its sides and its corners."""
    h, b = 0.5 * height, 0.5 * width
    return {
        "top": (h, 0.0), "bottom": (-h, 0.0), "left": (0.0, -b), "right": (0.0, b),
        "top left": (h, -b), "top right": (h, b), "bottom left": (-h, -b), "bottom right": (-h, b),
    }  # fmt: skip


def round_fibres(outer: float, inner: float) -> Fibres:
    """Return the fibres of a circle (``inner`` 0) or tube: four on its surface; the centre of a circle."""
    r = 0.5 * outer
    found = {"top": (r, 0.0), "bottom": (-r, 0.0), "left": (0.0, -r), "right": (0.0, r)}
    return found if inner else {**found, "centre": (0.0, 0.0)}


def i_fibres(d: D) -> Fibres:
    """Return the fibres of an I: tips, corners and middles of the flanges, and the web."""
    found = rectangle_fibres(d["height"], d["width"])
    del found["left"], found["right"]
    junction = 0.5 * d["height"] - d["flange_thickness"]
    return {**found, "web top": (junction, 0.0), "web bottom": (-junction, 0.0), "centre": (0.0, 0.0)}


def box_fibres(d: D) -> Fibres:
    """Return the fibres of a box: the middles of its sides and its corners, at the outer faces."""
    return rectangle_fibres(d["height"], d["width"])


# --- circle and tube -------------------------------------------------------------------------------------------------
def round_shear_stress(outer: float, inner: float, I: float, J: float, nu: float, points: np.ndarray) -> np.ndarray:
    """Return stresses of a circle or tube with second moment I and torsion constant J [m^4].

    Source: psi = (A r + B/r - r^3/4) cos(theta) meets both boundary conditions with B = k a^2 b^2, A = k (a^2 + b^2),
    k = (3 + 2 nu)/4 for the radii a < b.
    """
    a, b = 0.5 * inner, 0.5 * outer
    k = 0.25 * (3.0 + 2.0 * nu)
    A, B = k * (a * a + b * b), k * (a * b) ** 2
    y, z = points[..., 0], points[..., 1]
    out = np.zeros((*points.shape[:-1], 2, 3))
    r2 = y * y + z * z
    far = np.where(r2 > 0.0, r2, 1.0)
    for axis, (u, v) in enumerate(((y, z), (z, y))):  # the force goes along u
        ratio = np.where(r2 > 0.0, B / far, 0.0)
        along = A + ratio - 2.0 * ratio * u * u / far - 0.25 * (3.0 * u * u + v * v) - 0.5 * nu * (u * u - v * v)
        across = -2.0 * ratio * u * v / far - 0.5 * u * v - nu * u * v
        out[..., axis, axis] = along / (2.0 * (1.0 + nu) * I)
        out[..., 1 - axis, axis] = across / (2.0 * (1.0 + nu) * I)
    out[..., 0, 2], out[..., 1, 2] = -z / J, y / J
    return out


# --- rectangle -------------------------------------------------------------------------------------------------------
def rectangle_shear_stress(height: float, width: float, J: float, nu: float, points: np.ndarray) -> np.ndarray:
    """Return stresses of a rectangle with torsion constant J [m^4]."""
    H, B = 0.5 * height, 0.5 * width
    y, z = points[..., 0], points[..., 1]
    out = np.zeros((*points.shape[:-1], 2, 3))
    out[..., 0, 0], out[..., 1, 0] = _flexure(H, B, nu, y, z)
    out[..., 1, 1], out[..., 0, 1] = _flexure(B, H, nu, z, y)
    if H >= B:
        xy, xz = _torsion(H, B, y, z)
    else:  # the axes change places, and with them the sense of the twist
        xz, xy = (-s for s in _torsion(B, H, z, y))
    out[..., 0, 2], out[..., 1, 2] = xy / J, xz / J
    return out


def _ratio(u: np.ndarray, H: float, k: np.ndarray, odd: bool) -> np.ndarray:
    """Return cosh(k u)/cosh(k H), or sinh(k u)/cosh(k H), without overflow."""
    near, away = np.exp(k * (np.abs(u) - H)), np.exp(-k * (np.abs(u) + H))
    return (np.sign(u) * (near - away) if odd else near + away) / (1.0 + np.exp(-2.0 * k * H))


def _flexure(H: float, B: float, nu: float, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return stresses along u and v at |u| <= H, |v| <= B per unit of a force along u.

    psi = H^2 u - u^3/3 + nu ((u v^2 - u^3/3)/2 + (H^2 - B^2/3) u + chi) meets the conditions on v = +-B; chi is the
    series in cos(n pi v/B) that meets those on u = +-H.
    """
    n = np.arange(1, _TERMS + 1)
    k = n * math.pi / B
    u_, v_ = u[..., None], v[..., None]
    c = 4.0 * B * B * (-1.0) ** n / (n * math.pi) ** 2
    chi_u = -(c * _ratio(u_, H, k, odd=False) * np.cos(k * v_)).sum(axis=-1)
    chi_v = (c * _ratio(u_, H, k, odd=True) * np.sin(k * v_)).sum(axis=-1)
    psi_u = H * H - u * u + nu * (0.5 * (v * v - u * u) + (H * H - B * B / 3.0) + chi_u)
    psi_v = nu * (u * v + chi_v)
    second = 4.0 / 3.0 * B * H**3  # int u^2 dA
    factor = 1.0 / (2.0 * (1.0 + nu) * second)
    # on its faces the stress across them is zero; there the series converges slowly
    along = np.where(np.abs(u) >= H, 0.0, factor * (psi_u - 0.5 * nu * (u * u - v * v)))
    across = np.where(np.abs(v) >= B, 0.0, factor * (psi_v - nu * u * v))
    return along, across


def _torsion(H: float, B: float, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return J times the stresses along u and v per unit of a torque, H >= B (Timoshenko & Goodier, article 109)."""
    n = np.arange(1, 2 * _TERMS, 2)
    k = 0.5 * n * math.pi / B
    c = 16.0 * B / (n * math.pi) ** 2 * (-1.0) ** ((n - 1) // 2)
    u_, v_ = u[..., None], v[..., None]
    along = -2.0 * v + (c * _ratio(u_, H, k, odd=False) * np.sin(k * v_)).sum(axis=-1)
    across = (c * _ratio(u_, H, k, odd=True) * np.cos(k * v_)).sum(axis=-1)
    return np.where(np.abs(u) >= H, 0.0, along), np.where(np.abs(v) >= B, 0.0, across)


# --- I and box -------------------------------------------------------------------------------------------------------
def i_shear_stress(d: D, Iy: float, Iz: float, J: float, points: np.ndarray) -> np.ndarray:
    """Return stresses of an I, without its fillets: T t/J at the faces of its walls, V Q/(I b) across cuts of them."""
    h, b, tw, tf = (d[key] for key in ("height", "width", "web_thickness", "flange_thickness"))
    y, z = points[..., 0], points[..., 1]
    out = np.zeros((*points.shape[:-1], 2, 3))
    hm, hi = h - tf, h - 2.0 * tf
    flange = np.abs(y) >= 0.5 * hi * (1.0 - 1e-12)
    web = np.abs(y) <= 0.5 * hi * (1.0 + 1e-12)
    # along y: the web, the free flanges beside it feed it
    Q = 0.5 * b * tf * hm + 0.5 * tw * (0.25 * hi * hi - y * y)
    across = 0.5 * (0.25 * h * h - y * y) / Iz  # in a flange, over its whole width
    out[..., 0, 0] = np.where(web, np.where(np.abs(z) <= 0.5 * tw, Q / (Iz * tw), 0.0), across)
    side = (0.5 * b - np.abs(z)) * 0.5 * hm / Iz  # t cancels: Q/(I t) of the part of a flange beyond the point
    out[..., 1, 0] = np.where(flange & ~web, np.sign(y) * np.sign(z) * side, 0.0)
    # along z: both flanges as rectangles, the web within its thickness joins in the cut
    beyond = tf * (0.25 * b * b - z * z)
    inside = np.abs(z) < 0.5 * tw
    cut = np.where(inside, 2.0 * tf + hi, 2.0 * tf)
    out[..., 1, 1] = (beyond + np.where(inside, 0.5 * hi * (0.25 * tw * tw - z * z), 0.0)) / (Iy * cut)
    # torsion of open walls, linear over their thickness: in a flange along z, in the web along y
    middle = np.sign(y) * 0.5 * hm
    out[..., 1, 2] = np.where(flange, 2.0 * (y - middle) / J, 0.0)
    out[..., 0, 2] = np.where(flange, 0.0, -2.0 * z / J)
    return out


def box_shear_stress(d: D, Iy: float, Iz: float, J: float, points: np.ndarray) -> np.ndarray:
    """Return stresses of a box: Bredt's flow T/(2 Am) over the thickness, and V Q/(I b) of symmetric cuts."""
    h, b, tw, tf = (d[key] for key in ("height", "width", "web_thickness", "flange_thickness"))
    y, z = points[..., 0], points[..., 1]
    out = np.zeros((*points.shape[:-1], 2, 3))
    area = 2.0 * (h - tf) * (b - tw)
    for axis, (u, v, outer, other, t_web, t_flange, I) in enumerate(
        ((y, z, h, b, tw, tf, Iz), (z, y, b, h, tf, tw, Iy))  # walls along u are its webs
    ):
        hi, hm, sign = outer - 2.0 * t_flange, outer - t_flange, (-1.0, 1.0)[axis]
        flange = np.abs(u) >= 0.5 * hi
        web = np.abs(v) >= 0.5 * other - t_web
        Q = 0.5 * other * t_flange * hm + t_web * (0.25 * hi * hi - u * u)  # of both webs
        across = 0.5 * np.maximum(0.25 * outer * outer - u * u, 0.0)  # in a flange, over its whole width
        out[..., axis, axis] = np.where(flange, across, np.where(web, Q / (2.0 * t_web), 0.0)) / I
        # the flanges carry what grows from their middle, v/I hm/2, towards the webs
        out[..., 1 - axis, axis] = np.where(flange & ~web, -np.sign(u) * v * 0.5 * hm / I, 0.0)
        out[..., axis, 2] = np.where(web & ~flange, sign * np.sign(v) / (area * t_web), 0.0)
    return out
