"""Shapes of cross-sections: their dimensions, geometrical constants and shear coefficients.

A dimension table D maps names to numbers; ``constants`` of a shape gives (A, Iy, Iz, J, half height, half width) and
``shear`` gives (ky, kz) for Poisson's ratio.  Axes and units are those of `fem_mbs.properties.sections`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.properties import shape_stresses as stresses
from fem_mbs.properties.materials import check_sign, finite_number

__all__ = ["COMPUTED_SHAPES", "SECTION_SHAPES", "SHAPES", "Reader", "Shape", "inertia_of_matrix"]

D = Mapping[str, float]
Fibres = dict[str, tuple[float, float]]


class Reader:
    """The given dimensions, read with checks; what was read is collected in ``values``."""

    def __init__(self, thing: str, shape: str, given: Mapping[str, Any]) -> None:
        self.thing = thing
        self.shape = shape
        self.given = given
        self.values: dict[str, float] = {}
        self.turn = 0.0  # angle of the principal axes against the given ones [deg]

    def error(self, what: str) -> ModelError:
        return ModelError(what, owner=self.thing)

    def has(self, key: str) -> bool:
        return self.given.get(key) is not None

    def length(self, key: str) -> float:
        if not self.has(key):
            raise self.error(f'shape "{self.shape}" needs "{key}".')
        return self.optional(key, math.nan)

    def optional(self, key: str, default: float, zero: bool = False, infinite: bool = False) -> float:
        value = default
        if self.has(key):
            value = check_sign(finite_number(self.given[key], self.thing, key, infinite), self.thing, key, zero)
        self.values[key] = value
        return value

    def pair(self, key: str, default: float, zero: bool = False, infinite: bool = False) -> None:
        """Return ``key``y and ``key``z, or ``key`` for both."""
        both = self.has(key)
        for axis in "yz":
            if both and self.has(key + axis):
                raise self.error(f'give "{key}" or "{key}{axis}", not both.')
        common = self.optional(key, default, zero, infinite)
        del self.values[key]
        for axis in "yz":
            self.optional(key + axis, common, zero, infinite)

    def matrix(self, key: str) -> np.ndarray:
        """Return a symmetric 6x6 matrix."""
        if not self.has(key):
            raise self.error(f'shape "{self.shape}" needs "{key}", a 6x6 matrix.')
        try:
            M = np.array(self.given[key], float)
        except (TypeError, ValueError):
            M = np.empty(0)
        if M.shape != (6, 6) or not np.isfinite(M).all():
            raise self.error(f"{key} must be a 6x6 matrix of finite numbers.")
        gap = np.abs(M - M.T)
        scale = np.sqrt(np.abs(np.outer(np.diag(M), np.diag(M))))
        if (gap > 1e-9 * np.maximum(scale, np.abs(M))).any():
            i, j = np.unravel_index(int(gap.argmax()), gap.shape)
            raise self.error(f"{key} must be symmetric; [{i}][{j}] = {M[i, j]:g}, but [{j}][{i}] = {M[j, i]:g}.")
        M = 0.5 * (M + M.T)
        self.values[key] = tuple(tuple(float(v) for v in row) for row in M)  # type: ignore[assignment]
        return M


def _read_rectangle(r: Reader) -> None:
    r.length("width")
    r.length("height")


def _rectangle_constants(d: D) -> tuple[float, ...]:
    b, h = d["width"], d["height"]
    return b * h, h * b**3 / 12.0, b * h**3 / 12.0, _rectangle_torsion(b, h), 0.5 * h, 0.5 * b


def _rectangle_torsion(b: float, h: float) -> float:
    """Return st. Venant's series (Timoshenko & Goodier, Theory of Elasticity, eq. 170):

    J = a c^3 (1/3 - (64/pi^5) (c/a) sum over odd n of tanh(n pi a/(2 c))/n^5), a >= c. With tanh x = 1 - 2/(e^2x + 1)
    the slow part of the sum is (31/32) zeta(5), the rest falls by e^-pi or faster per term.
    """
    a, c = max(b, h), min(b, h)
    total = 31.0 / 32.0 * 1.0369277551433699263  # zeta(5)
    for n in range(1, 15, 2):
        total -= 2.0 / (math.expm1(min(n * math.pi * a / c, 700.0)) + 2.0) / n**5
    return a * c**3 * (1.0 / 3.0 - 64.0 / math.pi**5 * (c / a) * total)


def _rectangle_shear(d: D, nu: float) -> tuple[float, float]:
    k = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu)
    return k, k


def _read_circle(r: Reader) -> None:
    r.length("diameter")


def _round_constants(outer: float, inner: float) -> tuple[float, ...]:
    # Differences of powers as products, exact for thin walls.
    area = 0.25 * math.pi * (outer - inner) * (outer + inner)
    moment = area * (outer * outer + inner * inner) / 16.0
    return area, moment, moment, 2.0 * moment, 0.5 * outer, 0.5 * outer


def _circle_constants(d: D) -> tuple[float, ...]:
    return _round_constants(d["diameter"], 0.0)


def _round_shear(m: float, nu: float) -> tuple[float, float]:
    """Return Cowper's hollow circle, m = inner/outer diameter; m = 0: 6(1+nu)/(7+6nu), m -> 1: 2(1+nu)/(4+3nu)."""
    s = (1.0 + m * m) ** 2
    k = 6.0 * (1.0 + nu) * s / ((7.0 + 6.0 * nu) * s + (20.0 + 12.0 * nu) * m * m)
    return k, k


def _circle_shear(d: D, nu: float) -> tuple[float, float]:
    return _round_shear(0.0, nu)


def _read_tube(r: Reader) -> None:
    outer = r.length("outer_diameter")
    if r.has("inner_diameter") == r.has("thickness"):
        raise r.error('shape "tube" needs either "inner_diameter" or "thickness".')
    if r.has("inner_diameter"):
        inner = r.length("inner_diameter")
        if inner >= outer:
            raise r.error(f"inner_diameter = {inner!r} must be smaller than outer_diameter = {outer!r}.")
        return
    thickness = r.length("thickness")
    if thickness >= 0.5 * outer:
        raise r.error(
            f"thickness = {thickness!r} must be smaller than half of outer_diameter = {outer!r}; "
            'a full section is shape "circle".'
        )


def _tube_inner(d: D) -> float:
    return d["inner_diameter"] if "inner_diameter" in d else d["outer_diameter"] - 2.0 * d["thickness"]


def _tube_constants(d: D) -> tuple[float, ...]:
    return _round_constants(d["outer_diameter"], _tube_inner(d))


def _tube_shear(d: D, nu: float) -> tuple[float, float]:
    return _round_shear(_tube_inner(d) / d["outer_diameter"], nu)


def _read_walls(r: Reader) -> tuple[float, float, float, float]:
    h, b = r.length("height"), r.length("width")
    if r.has("thickness"):
        if r.has("web_thickness") or r.has("flange_thickness"):
            raise r.error('give "thickness" or "web_thickness" and "flange_thickness", not both.')
        t = r.length("thickness")
        del r.values["thickness"]
        r.values |= {"web_thickness": t, "flange_thickness": t}
        return h, b, t, t
    return h, b, r.length("web_thickness"), r.length("flange_thickness")


def _check_flanges(r: Reader, h: float, tf: float) -> None:
    if 2.0 * tf >= h:
        raise r.error(f"two flanges of flange_thickness = {tf!r} do not fit into height = {h!r}.")


def _read_box(r: Reader) -> None:
    h, b, tw, tf = _read_walls(r)
    _check_flanges(r, h, tf)
    if 2.0 * tw >= b:
        raise r.error(f"two webs of web_thickness = {tw!r} do not fit into width = {b!r}.")


def _box_constants(d: D) -> tuple[float, ...]:
    h, b, tw, tf = d["height"], d["width"], d["web_thickness"], d["flange_thickness"]
    # Two flanges and two webs (rather than the outer minus the inner rectangle: thin walls keep their digits).
    hi, bi = h - 2.0 * tf, b - 2.0 * tw
    hm, bm = h - tf, b - tw
    area = 2.0 * (b * tf + hi * tw)
    Iz = 2.0 * (b * tf**3 / 12.0 + b * tf * (0.5 * hm) ** 2 + tw * hi**3 / 12.0)
    Iy = 2.0 * (tf * b**3 / 12.0 + hi * tw**3 / 12.0 + hi * tw * (0.5 * bm) ** 2)
    return area, Iy, Iz, _box_torsion(hi, bi, tw, tf), 0.5 * h, 0.5 * b


def _box_torsion(h: float, b: float, tw: float, tf: float) -> float:
    """Return torsion constant of a box with the inner height h and width b, refined for thick walls and sharp corners.

    With Prandtl's function split into a harmonic part (constant on the hole's edge) and a part that vanishes on both
    edges, J = 4 Am^2/s + Js exactly: Bredt's second formula, with Am the hole plus the integral of the harmonic
    function, s the resistance int ds/t of the wall, and Js the torsion of the walls as open strips. The four corners
    add to what the straight inner lengths give:

    - to s: (1/pi) (2 k atan(1/k) + (2/k) atan(k) - 2 ln(4 k/(1 + k^2))), k = tw/tf, each: the conformal map of an
      L-shaped strip (0.559 for k = 1);
    - to Am: beta tw tf, to Js: gamma tw^2 tf^2, each, with constants from a numerical solution of the L at k = 1, 1/2
      and 1/4, interpolated in (ln k)^2.

    Against numerical solutions of the whole box: below 0.05 % for walls up to 0.3 of the outer width that differ by no
    more than a factor of 4; 1 % for walls of 0.45 of the width, where the corners no longer are apart.
    """
    k = tw / tf
    x = min(math.log(k) ** 2, math.log(4.0) ** 2)
    beta = 0.1448 - 0.1181 * x - 0.0143 * x * x
    gamma = 0.406 - 0.0554 * x - 0.162 * x * x
    corner = (2.0 * k * math.atan(1.0 / k) + 2.0 / k * math.atan(k) - 2.0 * math.log(4.0 * k / (1.0 + k * k))) / math.pi
    area = h * b + h * tw + b * tf + 4.0 * beta * tw * tf
    resistance = 2.0 * h / tw + 2.0 * b / tf + 4.0 * corner
    strips = 2.0 / 3.0 * (h * tw**3 + b * tf**3) + 4.0 * gamma * (tw * tf) ** 2
    return 4.0 * area * area / resistance + strips


def _walls_shear(m: float, n: float, nu: float, box: bool) -> float:
    """Return Cowper's thin-walled I and box: m = areas of flanges / areas of webs, n = width/height, on centre
    lines."""
    last = 10.0 * n * n * ((3.0 + nu) * m + 3.0 * m * m)
    if not box:
        last = 30.0 * n * n * (m + m * m) + 5.0 * nu * n * n * (8.0 * m + 9.0 * m * m)
    polynomial = 12.0 + 72.0 * m + 150.0 * m**2 + 90.0 * m**3 + nu * (11.0 + 66.0 * m + 135.0 * m**2 + 90.0 * m**3)
    return 10.0 * (1.0 + nu) * (1.0 + 3.0 * m) ** 2 / (polynomial + last)


def _box_shear(d: D, nu: float) -> tuple[float, float]:
    tw, tf = d["web_thickness"], d["flange_thickness"]
    h, b = d["height"] - tf, d["width"] - tw
    m, n = b * tf / (h * tw), b / h
    return _walls_shear(m, n, nu, box=True), _walls_shear(1.0 / m, 1.0 / n, nu, box=True)


def _read_i(r: Reader) -> None:
    h, b, tw, tf = _read_walls(r)
    _check_flanges(r, h, tf)
    if tw >= b:
        raise r.error(f'web_thickness = {tw!r} must be smaller than width = {b!r}; else use shape "rectangle".')
    # Beyond this it is no longer made of thin walls, and the formulas below are far off.
    if tf > b or tw > h - 2.0 * tf:
        what = f"flange_thickness = {tf!r} is more than width = {b!r}"
        if tf <= b:
            what = f"web_thickness = {tw!r} is more than the height between the flanges, {h - 2.0 * tf!r}"
        raise r.error(f'{what}, which is not an I; use shape "general" with its constants.')
    radius = r.optional("root_radius", 0.0, zero=True)
    if 2.0 * radius > b - tw or 2.0 * radius > h - 2.0 * tf:
        raise r.error(f"root_radius = {radius!r} does not fit between web and flanges.")


def _i_constants(d: D) -> tuple[float, ...]:
    h, b, tw, tf, r = (d[k] for k in ("height", "width", "web_thickness", "flange_thickness", "root_radius"))
    hi, hm = h - 2.0 * tf, h - tf
    area = 2.0 * b * tf + hi * tw
    Iz = 2.0 * (b * tf**3 / 12.0 + b * tf * (0.5 * hm) ** 2) + tw * hi**3 / 12.0
    Iy = 2.0 * tf * b**3 / 12.0 + hi * tw**3 / 12.0
    # Four fillets: square minus quarter circle, with its area, centroid from the corner and own second moment.
    fillet = (1.0 - 0.25 * math.pi) * r * r
    offset = (10.0 - 3.0 * math.pi) / (12.0 - 3.0 * math.pi) * r
    own = (1.0 / 3.0 - math.pi / 16.0 - 1.0 / (9.0 * (4.0 - math.pi))) * r**4
    area += 4.0 * fillet
    Iz += 4.0 * (own + fillet * (0.5 * hi - offset) ** 2)
    Iy += 4.0 * (own + fillet * (0.5 * tw + offset) ** 2)
    return area, Iy, Iz, _i_torsion(hi, b, tw, tf, r), 0.5 * h, 0.5 * b


def _i_torsion(hi: float, b: float, tw: float, tf: float, r: float) -> float:
    """Return torsion constant of an I: the open thin-walled sum of s t^3/3, corrected for ends and junctions.

    Each of the four ends of the flanges takes away 0.105 tf^4 (St. Venant's strip). Each of the two junctions adds

    - tau tf^4 for the body where web and flange meet with sharp corners. For k = tw/tf from 1/4 to 4 tau is a fit
      (0.005) of numerical solutions of the T, around its limit for a web much thicker than the flanges, which goes
      through to the outer face and has an end itself: k^3/3 - 0.105 k^4 - k/3;
    - for fillets of radius r what they add in the formula of El Darwish & Johnston (1965), J. Struct. Div. ASCE
      91(ST1), 203-228, alpha D^4 with D the largest inscribed circle, on which the tables of rolled sections rest. It
      is meant for webs not thicker than the flanges, so k = 1 stands for those that are.

    About 1 % from numerical solutions of whole sections, rolled ones and ones with sharp corners and webs up to three
    times as thick as the flanges.
    """
    k = tw / tf
    x = k / (1.0 + k)
    tau = k**3 / 3.0 - 0.105 * k**4 + k * (((-0.866 * x + 0.656) * x + 0.02) * x)

    def el_darwish(k: float, q: float) -> float:
        alpha = -0.042 + 0.2204 * k + 0.1355 * q - 0.0865 * k * q - 0.0725 * k * k
        return alpha * (((1.0 + q) ** 2 + (q + 0.25 * k) * k) / (2.0 * q + 1.0)) ** 4

    fillets = el_darwish(min(k, 1.0), r / tf) - el_darwish(min(k, 1.0), 0.0)
    return (2.0 * b * tf**3 + hi * tw**3) / 3.0 + (2.0 * (tau + fillets) - 0.420) * tf**4


def _i_shear(d: D, nu: float) -> tuple[float, float]:
    h, b, tw, tf = (d[k] for k in ("height", "width", "web_thickness", "flange_thickness"))
    h -= tf
    ky = _walls_shear(2.0 * b * tf / (h * tw), b / h, nu, box=False)
    # Along the flanges they act as two rectangles, the web carries next to nothing; the coefficient belongs to the area
    # of the whole section. Cowper has no formula for this case. His method would add terms in nu (height/width)^2 that
    # grow without bound for narrow flanges, so they are left out; for nu = 0 both agree.
    kz = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu) * 2.0 * b * tf / _i_constants(d)[0]
    return ky, kz


def _read_general(r: Reader) -> None:
    r.length("A")
    r.pair("I", math.nan)
    r.optional("J", math.nan)
    r.pair("k", 1.0, infinite=True)
    if r.has("Iyz"):
        _turn_to_principal_axes(r)


def _turn_to_principal_axes(r: Reader) -> None:
    """Replace Iy, Iz and the product of inertia by the principal moments, and set ``rotate`` to their axes."""
    product = finite_number(r.given["Iyz"], r.thing, "Iyz")
    Iy, Iz = r.values["Iy"], r.values["Iz"]
    if math.isnan(Iy) or math.isnan(Iz):
        raise r.error('"Iyz" needs Iy and Iz.')
    if product * product >= Iy * Iz:
        raise ModelError(
            f"Iyz = {product:g} belongs to no area: it must be smaller than sqrt(Iy Iz) = {math.sqrt(Iy * Iz):g}.",
            owner=r.thing, key="Iyz", value=product,
        )  # fmt: skip
    if product != 0.0 and r.values["ky"] != r.values["kz"]:
        raise r.error('a section with "Iyz" has one shear coefficient "k": ky and kz would belong to other axes.')
    half = 0.5 * math.atan(2.0 * product / (Iz - Iy)) if Iz != Iy else math.copysign(0.25 * math.pi, product)
    c, s = math.cos(half), math.sin(half)
    if product != 0.0:
        r.values["Iz"] = Iz * c * c + Iy * s * s + 2.0 * product * c * s
        r.values["Iy"] = Iz * s * s + Iy * c * c - 2.0 * product * c * s
        r.turn = math.degrees(half)


def _general_constants(d: D) -> tuple[float, ...]:
    return d["A"], d["Iy"], d["Iz"], d["J"], math.nan, math.nan


def _general_shear(d: D, nu: float) -> tuple[float, float]:
    return d["ky"], d["kz"]


def _read_stiffness(r: Reader) -> None:
    if not r.has("EA"):
        raise r.error('shape "stiffness" needs "EA".')
    r.optional("EA", math.nan, infinite=True)
    r.pair("EI", math.nan, infinite=True)
    r.pair("GA", math.inf, infinite=True)
    r.optional("GJ", math.nan, infinite=True)
    if not r.has("rhoA"):
        raise r.error('shape "stiffness" needs "rhoA"; 0 for a section without mass.')
    r.optional("rhoA", math.nan, zero=True)
    r.pair("rhoI", 0.0, zero=True)
    r.optional("rhoIx", r.values["rhoIy"] + r.values["rhoIz"], zero=True)


def _read_matrix(r: Reader) -> None:
    C = r.matrix("stiffness")
    d = np.sqrt(np.maximum(np.diag(C), 0.0))
    if (d == 0.0).any():
        i = int(np.flatnonzero(d == 0.0)[0])
        raise r.error(f"stiffness[{i}][{i}] = {C[i, i]:g} must be greater than 0.")
    if np.linalg.eigvalsh(C / np.outer(d, d))[0] < 1e-12:
        raise r.error("stiffness is not positive definite: some strain would cost no energy; check its signs.")
    M = r.matrix("mass")
    check_sign(float(M[0, 0]), r.thing, "mass[0][0]", zero=True)
    inertia_of_matrix(M, r.thing)


def _no_constants(d: D) -> tuple[float, ...]:
    return (math.nan,) * 6


def _no_shear(d: D, nu: float) -> tuple[float, float]:
    return math.nan, math.nan


def _rectangle_stress(d: D, nu: float, points: np.ndarray) -> np.ndarray:
    return stresses.rectangle_shear_stress(d["height"], d["width"], _rectangle_constants(d)[3], nu, points)


def _rectangle_fibres(d: D) -> Fibres:
    return {**stresses.rectangle_fibres(d["height"], d["width"]), "centre": (0.0, 0.0)}


def _circle_stress(d: D, nu: float, points: np.ndarray) -> np.ndarray:
    _, _, I, J, _, _ = _circle_constants(d)
    return stresses.round_shear_stress(d["diameter"], 0.0, I, J, nu, points)


def _tube_stress(d: D, nu: float, points: np.ndarray) -> np.ndarray:
    _, _, I, J, _, _ = _tube_constants(d)
    return stresses.round_shear_stress(d["outer_diameter"], _tube_inner(d), I, J, nu, points)


def _i_stress(d: D, nu: float, points: np.ndarray) -> np.ndarray:
    _, Iy, Iz, J, _, _ = _i_constants(d)
    return stresses.i_shear_stress(d, Iy, Iz, J, points)


def _box_stress(d: D, nu: float, points: np.ndarray) -> np.ndarray:
    _, Iy, Iz, J, _, _ = _box_constants(d)
    return stresses.box_shear_stress(d, Iy, Iz, J, points)


def _holds(inside: Callable[[D, np.ndarray, np.ndarray, float], np.ndarray]) -> Callable[[D, np.ndarray], np.ndarray]:
    """Return a function that decides whether points (..., 2) lie in the material.

    Its slack is the round-off of the largest dimension.
    """

    def holds(d: D, points: np.ndarray) -> np.ndarray:
        slack = 1e-9 * max(d.values())
        return inside(d, points[..., 0], points[..., 1], slack)

    return holds


def _in_ring(d: D, y: np.ndarray, z: np.ndarray, e: float) -> np.ndarray:
    outer = d.get("diameter", d.get("outer_diameter", 0.0))
    inner = 0.0 if "diameter" in d else _tube_inner(d)
    r = np.hypot(y, z)
    return (r <= 0.5 * outer + e) & (r >= 0.5 * inner - e)


def _in_rectangle(d: D, y: np.ndarray, z: np.ndarray, e: float) -> np.ndarray:
    return (np.abs(y) <= 0.5 * d["height"] + e) & (np.abs(z) <= 0.5 * d["width"] + e)


def _in_i(d: D, y: np.ndarray, z: np.ndarray, e: float) -> np.ndarray:
    wall = (np.abs(y) >= 0.5 * d["height"] - d["flange_thickness"] - e) | (np.abs(z) <= 0.5 * d["web_thickness"] + e)
    return _in_rectangle(d, y, z, e) & wall


def _in_box(d: D, y: np.ndarray, z: np.ndarray, e: float) -> np.ndarray:
    flange = np.abs(y) >= 0.5 * d["height"] - d["flange_thickness"] - e
    return _in_rectangle(d, y, z, e) & (flange | (np.abs(z) >= 0.5 * d["width"] - d["web_thickness"] - e))


@dataclass(frozen=True)
class Shape:
    """Properties of a shape; ``fibres``, ``shear_stress`` (d, nu, points) and ``holds`` (d, points) are None where
    stresses are unknown (`fem_mbs.properties.shape_stresses`).  ``round``: every direction of bending has a fibre of
    its own."""

    keys: tuple[str, ...]
    read: Callable[[Reader], Any]
    constants: Callable[[D], tuple[float, ...]]
    shear: Callable[[D, float], tuple[float, float]]
    fibres: Callable[[D], Fibres] | None = None
    shear_stress: Callable[[D, float, np.ndarray], np.ndarray] | None = None
    holds: Callable[[D, np.ndarray], np.ndarray] | None = None
    round: bool = False


_WALLS = ("height", "width", "thickness", "web_thickness", "flange_thickness")
SHAPES = {
    "rectangle": Shape(
        ("width", "height"), _read_rectangle, _rectangle_constants, _rectangle_shear,
        _rectangle_fibres, _rectangle_stress, _holds(_in_rectangle),
    ),
    "circle": Shape(
        ("diameter",), _read_circle, _circle_constants, _circle_shear,
        lambda d: stresses.round_fibres(d["diameter"], 0.0), _circle_stress, _holds(_in_ring), round=True,
    ),
    "tube": Shape(
        ("outer_diameter", "inner_diameter", "thickness"), _read_tube, _tube_constants, _tube_shear,
        lambda d: stresses.round_fibres(d["outer_diameter"], _tube_inner(d)), _tube_stress, _holds(_in_ring),
        round=True,
    ),
    "I": Shape(
        (*_WALLS, "root_radius"), _read_i, _i_constants, _i_shear, stresses.i_fibres, _i_stress, _holds(_in_i)
    ),
    "box": Shape(_WALLS, _read_box, _box_constants, _box_shear, stresses.box_fibres, _box_stress, _holds(_in_box)),
    "general": Shape(
        ("A", "I", "Iy", "Iz", "Iyz", "J", "k", "ky", "kz"), _read_general, _general_constants, _general_shear
    ),
    "stiffness": Shape(
        ("EA", "EI", "EIy", "EIz", "GA", "GAy", "GAz", "GJ", "rhoA", "rhoI", "rhoIx", "rhoIy", "rhoIz"),
        _read_stiffness,
        _no_constants,
        _no_shear,
    ),
    "matrix": Shape(("stiffness", "mass"), _read_matrix, _no_constants, _no_shear),
}  # fmt: skip

# Shape: its dimensions in a model file.
SECTION_SHAPES: dict[str, tuple[str, ...]] = {shape: s.keys for shape, s in SHAPES.items()}


def inertia_of_matrix(M: np.ndarray, thing: str) -> tuple[float, np.ndarray, np.ndarray]:
    """Return rhoA, mass centre (2,) and Euler tensor (3, 3) about it of a 6x6 inertia per length over (v, w) of the
    line.

    M = [[m I, -m c~], [m c~, J - m c~ c~]] with c = (0, y, z).  Raises ModelError if it has not this form.
    """
    mass = M[0, 0]
    if mass == 0.0:
        if M.any():
            raise ModelError(
                "mass has no translational part, mass[0][0] = 0", owner=thing, remedy="give it, or zeros alone."
            )
        return 0.0, np.zeros(2), np.zeros((3, 3))
    y, z = M[2, 3] / mass, M[0, 4] / mass
    tilde = np.array([[0.0, -z, y], [z, 0.0, 0.0], [-y, 0.0, 0.0]])
    J = M[3:, 3:] + mass * (tilde @ tilde)
    whole = np.block([[mass * np.eye(3), -mass * tilde], [mass * tilde, M[3:, 3:]]])
    reach = max(abs(y), abs(z), math.sqrt(np.abs(J).max() / mass))
    unit = np.repeat([1.0, max(reach, 1e-300)], 3)
    error = np.abs(M - whole) / (mass * np.outer(unit, unit))
    if error.max() > 1e-9:
        i, j = np.unravel_index(int(error.argmax()), error.shape)
        raise ModelError(
            f"mass[{i}][{j}] = {M[i, j]:g} should be {whole[i, j]:g} for a mass {mass:g} per length with its "
            f"centre at (y, z) = ({y:g}, {z:g})",
            owner=thing,
            remedy="the matrix is [[m I, -m c~], [m c~, J]] over (v, w), c = (0, y, z).",
        )
    euler = 0.5 * np.trace(J) * np.eye(3) - J
    lowest = float(np.linalg.eigvalsh(euler)[0])
    if lowest < -1e-9 * mass * reach**2:
        a, b, c = np.linalg.eigvalsh(J)
        raise ModelError(
            f"principal moments of inertia ({a:g}, {b:g}, {c:g}) per length about the mass centre belong to "
            "no distribution of mass",
            owner=thing,
            remedy="each must be at most the sum of the other two.",
        )
    return float(mass), np.array([y, z]), euler


#: Shape whose stiffness is computed (`fem_mbs.properties.computed_sections`): its keys in a model file.
COMPUTED_SHAPES: dict[str, tuple[str, ...]] = {
    "mesh": ("file", "scale", "regions", "patches", "origin", "rotate"),
    "thin_walled": ("walls", "origin", "rotate"),
    "laminated_tube": ("inner_diameter", "plies", "rotate"),
}
