"""Linear elastic, isotropic materials of beams, and checks of the numbers of materials and sections."""

from __future__ import annotations

import math
from dataclasses import field
from numbers import Real
from typing import Any

from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass

__all__ = ["DEFAULT_NU", "Material", "check_sign", "finite_number"]

#: Poisson's ratio where neither it nor the shear modulus is given.
DEFAULT_NU = 0.3


def finite_number(value: Any, thing: str, key: str, infinite: bool = False) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ModelError(f"{key} = {value!r} is not a number.", owner=thing, key=key, value=value)
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if math.isnan(result) or (math.isinf(result) and not (infinite and result > 0.0)):
        raise ModelError(
            f"{key} = {value!r} is not finite", owner=thing, key=key, value=value, remedy="give a finite number."
        )
    return result


def check_sign(value: float, thing: str, key: str, zero: bool = False) -> float:
    if value < 0.0 or (value == 0.0 and not zero):
        raise ModelError(
            f"{key} = {value!r} must be {'0 or more' if zero else 'greater than 0'}.", owner=thing, key=key, value=value
        )
    return value


@dataclass(frozen=True)
class Material:
    """A linear elastic, isotropic material.

    Attributes
    ----------
    name: for messages
    E: Young's modulus [N/m^2]
    nu: Poisson's ratio; from G if that is given instead; 0.3 if neither is
    density: [kg/m^3]; 0 is allowed (a material without mass)
    G: shear modulus [N/m^2]; E / (2 (1 + nu)) if not given
    expansion: thermal, alpha [1/K]; solids use it

    Raises ModelError if a constant is not finite, E <= 0, density < 0, nu outside -1 < nu < 0.5 (also where it follows
    from E and G), or E, nu and G contradict each other.
    """

    name: str
    E: float
    nu: float = None  # type: ignore[assignment]
    density: float = field(default=None, kw_only=True)  # type: ignore[assignment]
    G: float = field(default=None, kw_only=True)  # type: ignore[assignment]
    expansion: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        thing = Owner("Material", self.name)
        if self.density is None:
            raise ModelError('"density" is missing', owner=thing, remedy="give it, 0 for a material without mass.")
        young = check_sign(finite_number(self.E, thing, "E"), thing, "E")
        density = check_sign(finite_number(self.density, thing, "density"), thing, "density", zero=True)
        nu = None if self.nu is None else finite_number(self.nu, thing, "nu")
        if self.G is None:
            nu = DEFAULT_NU if nu is None else nu
            origin = f"nu = {nu!r}"
        else:
            shear = check_sign(finite_number(self.G, thing, "G"), thing, "G")
            implied = young / (2.0 * shear) - 1.0
            origin = f"E = {young!r} and G = {shear!r} mean nu = {implied:.6g}, which"
            if nu is not None and abs(nu - implied) > 1e-3:
                raise ModelError(
                    f"E, G and nu = {nu!r} contradict: {origin} is not that", owner=thing, remedy="leave out G or nu."
                )
            nu = implied
        if not -1.0 < nu < 0.5:
            raise ModelError(
                f"{origin} must lie between -1 and 0.5 for a stable isotropic material (nearly incompressible: 0.499",
                owner=thing,
                remedy='stiffnesses of another kind: section shape "stiffness").',
            )
        shear = young / (2.0 * (1.0 + nu)) if self.G is None else float(self.G)
        expansion = finite_number(self.expansion, thing, "expansion")
        for key, value in (("E", young), ("nu", nu), ("density", density), ("G", shear), ("expansion", expansion)):
            object.__setattr__(self, key, value)
