"""Curves of the model builder: tracks, slots and profiles of cams by points, tables or functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import (
    FILE,
    FLAG,
    NAME,
    NUMBER_OR_EXPRESSION,
    NUMBER_OR_VECTOR,
    POINTS,
    STOPS,
    VECTOR,
)
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.columns import read_columns
from fem_mbs.functions.expressions import Expression, compile_expression
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.paths.splines import Spline, fitted, through
from fem_mbs.units import unit_of

__all__ = ["Curve"]

#: Least jump of a direction [rad] at a switch of an expression that counts as a kink.
_KINK = 1e-5


@dataclass(frozen=True, eq=False)
class Curve(Declaration):
    """Curves of tracks, slots and cams, for the joints `point_on_curve`, `curve_on_curve`, `rolling_curves`.

    Add a curve in global coordinates of the start; a joint fixes it to its part.  It is smooth: the cubic spline of its
    arc length through ``points`` or the rows of ``file``, or of a function, refined until it is within 1e-11 of its
    size (1e-6 where the curvature of a function jumps).

    Args:
        points: (n, dimension) [m], two for a straight line; not more than 60 degrees apart where it bends.
        file: of a table with the columns x, y (and z).
        x, y, z: y (and z) as expressions of x; or all as expressions of a parameter t (no time), over ``range``.
        closed: the end is the start; joints may go round it.
        position, rotation: moves the curve from its own axes to the model's: shift [m], and turn about the own origin
            [rad] (in space axis times angle).

    Raises:
        ModelError: none or several of points, file and functions; a kink; points that coincide.
    """

    owner = "Curve"

    name: str = key(NAME, "of joints on it")
    points: Any = key(POINTS, "which it runs through", None, shows="none", unit="m")
    file: Any = key(FILE, "table with the columns x, y (and z) of points", None, shows="none")
    x: Any = key(NUMBER_OR_EXPRESSION, "of a parameter t", None, shows="the parameter itself", unit="m")
    y: Any = key(NUMBER_OR_EXPRESSION, "of x, or with x given of a parameter t", None, shows="none", unit="m")
    z: Any = key(NUMBER_OR_EXPRESSION, "the same, in space", None, shows="none", unit="m")
    range: Any = key(STOPS, "of x or the parameter t", None, shows="none")
    closed: bool = key(FLAG, "its end is its start", False)
    position: Any = key(VECTOR, "of its own origin", None, shows="the origin", unit="m")
    rotation: Any = key(NUMBER_OR_VECTOR, "of its own axes", None, shows="none", unit="rad")

    def build(self, building: Building) -> None:
        building.new_name("Curve", self.name, building.curves)
        owner = Owner("Curve", self.name)
        given = [self.points is not None, self.file is not None, any(v is not None for v in (self.x, self.y, self.z))]
        if sum(given) != 1:
            raise ModelError("it needs either points, a file, or functions", owner=owner, remedy="give one of them")
        if given[2]:
            spline = self._of_functions(building.dimension, owner)
        else:
            if self.range is not None:
                raise ModelError("range belongs to functions", owner=owner, key="range", remedy="remove it")
            spline = through(owner, self._given_points(building.dimension, owner), self.closed)
        R = building.turned_axes(self.rotation, owner)
        x = np.zeros(building.dimension) if self.position is None else building.vector(self.position, owner, "position")
        building.curves[self.name] = spline.moved(R.T, -R.T @ x)

    def _given_points(self, dimension: int, owner: Owner) -> np.ndarray:
        names = "xyz"[:dimension]
        if self.points is not None:
            points = np.array([p for p in self.points if len(p) == dimension], float).reshape(-1, dimension)
            if len(points) < len(self.points):
                raise ModelError(f"points must have {dimension} numbers each", owner=owner, key="points")
        else:
            columns = read_columns(self.file, owner)
            missing = [c for c in names if c not in columns]
            if missing:
                raise ModelError(
                    f'file "{self.file}" has no column {" or ".join(missing)}', owner=owner, key="file",
                    remedy=f"it has {', '.join(columns)}; name them {', '.join(names)}",
                )  # fmt: skip
            points = np.column_stack([columns[c] for c in names])
        if len(points) < 2 or not np.isfinite(points).all():
            raise ModelError(f"{len(points)} points are no curve", owner=owner, key="points", remedy="give two or more")
        return points

    def _of_functions(self, dimension: int, owner: Owner) -> Spline:
        names = "xyz"[:dimension]
        missing = [c for c in names[1:] if getattr(self, c) is None]
        if missing or (dimension == 2 and self.z is not None):
            what = f"{' and '.join(missing)} missing" if missing else "z belongs to space"
            raise ModelError(what, owner=owner, remedy=f"give {', '.join(names[1:])} of x, or {', '.join(names)} of t")
        if self.range is None or not np.isfinite(self.range).all() or not self.range[0] < self.range[1]:
            raise ModelError(
                f"range = {self.range} must be two finite numbers, the first the smaller one", owner=owner, key="range",
                remedy="give the values between which the curve runs",
            )  # fmt: skip
        variable = "x" if self.x is None else "t"
        parts = [
            compile_expression(str(variable if getattr(self, c) is None else getattr(self, c)), (variable,))
            for c in names
        ]
        low, high = float(self.range[0]), float(self.range[1])

        def place(p: np.ndarray) -> np.ndarray:
            for part in parts:
                part.check(p)
            return np.column_stack([part(p) for part in parts])

        inside = np.unique(np.concatenate([part.kinks for part in parts]))
        inside = inside[(inside > low) & (inside < high)]
        _check_kinks(parts, inside, high - low, owner)
        breaks = np.concatenate(([low], inside, [high]))
        if self.closed:
            ends = place(np.array([low, high]))
            gap = float(np.linalg.norm(ends[1] - ends[0]))
            if gap > 1e-9 * float(np.ptp(place(np.linspace(low, high, 65)), axis=0).max()):
                raise ModelError(
                    f"its ends are {gap:g} {unit_of('m')} apart",
                    owner=owner,
                    key="closed",
                    remedy="let range span one turn",
                )
            _check_kinks(parts, np.array([low]), high - low, owner, high)
        return fitted(owner, place, breaks, self.closed)


def _check_kinks(
    parts: list[Expression], at: np.ndarray, size: float, owner: Owner, before: float | None = None
) -> None:
    """Refuse switches at which the direction jumps; ``before``: the value that precedes the only one of ``at``."""
    for p in at:
        d = 1e-8 * size
        sides = np.array(
            [[float(f.jet(np.array(q))[1]) for f in parts] for q in ((p if before is None else before) - d, p + d)]
        )
        sides /= np.maximum(np.linalg.norm(sides, axis=1), 1e-300)[:, None]
        jump = float(np.linalg.norm(sides[1] - sides[0]))
        if jump > _KINK:
            x = ", ".join(f"{float(f(np.array(p))):g}" for f in parts)
            raise ModelError(
                f"it has a kink of {np.degrees(2.0 * np.arcsin(min(0.5 * jump, 1.0))):.3g} degrees at ({x})",
                owner=owner, remedy="round it, or end the curve there",
            )  # fmt: skip
