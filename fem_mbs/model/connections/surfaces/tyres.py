"""Tyres of the model builder: wheels on a road, with slip laws."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import (
    FUNCTION,
    NAME,
    NUMBER,
    NUMBER_OR_PAIR,
    PLACE,
    TABLE_POINTS,
    TEXT,
    VECTOR,
    VECTOR_ANY,
    shown,
)
from fem_mbs.elements.tyres.layout import FLOOR
from fem_mbs.elements.tyres.slip import CURVES, PROPORTIONAL
from fem_mbs.elements.tyres.tyre import road_table
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.spectra import bases_of
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.actuators.coordinates import law_of_time
from fem_mbs.model.connections.surfaces.pairs import force_table
from fem_mbs.model.records import StateVariable
from fem_mbs.units import base_at_hand, from_si, unit_of

__all__ = ["Tyre"]

#: Speed below which forces are those at rest, where none is given [m/s].
_SLIP_SPEED = 0.1
#: Most pieces of the height of a road.
_MOST_PIECES = 50_000
#: Pieces of the height of a road where no spacing is given.
_PIECES = 500


@dataclass(frozen=True, eq=False)
class Tyre(Declaration):
    """Tyres: wheels that roll and slip on a road, with normal, longitudinal and lateral force and aligning moment.

    Add a tyre: the wheel is a disc about ``axis``, which turns with its node, and the road is fixed in space.

    The normal force is stiffness times the penetration of the lowest point of the disc, or a table, with damping; it
    never pulls.  Forward is axis x normal: a wheel with the axis y and the normal z rolls along x with a positive spin.
    Slips are those of the contact: kappa = -V_sx/|V_x|, tan(alpha) = -V_sy/|V_x|; positive slips give positive forces.
    A steady wheel turns with V = r_e spin, where r_e is the rolling radius.

    With ``relaxation`` the slips follow the motion over a length of rolling, and a wheel that stands is held by the
    deflection of its carcass, up to the friction. Without, forces at rest are those of a damper (``slip_speed``): a
    wheel on a slope creeps. Statics know no tangential forces.

    Args:
        wheel: a body or a node with rotations.
        axis: spin axis at the start, in global axes.
        radius: of the unloaded wheel.
        point: centre of the wheel, in global coordinates of the start.
        crown: radius of the tread across the wheel, as of motorcycles.
        road, normal: a point of the road and its normal, out of it.
        profile: height over the distance from ``road`` along ``along``: a function (of the distance in place of the
            time), level beyond 0 and ``length``; between places ``spacing`` apart a cubic spline.
        damping: b of N (1 + b y').
        slip_law: "linear" up to the friction, "brush" (parabolic pressure; theoretical slips kappa/(1 + kappa) ...),
            or "magic": sin(C atan(B s - E (B s - atan(B s)))) times friction times normal force.
        slip_stiffness: of linear and brush: forces per slip and per slip angle at zero slip.
        peak_load: normal force of the largest slip stiffness, which is slip_stiffness sin(2 atan(N/peak_load)).
        magic_x, magic_y: [B, C, E] along and across the wheel.
        friction: one coefficient, or two: along and across.
        camber_thrust: side force per camber over side force per slip angle.
        trail: pneumatic trail at zero slip; it falls as that of the brush model.
        relaxation: one length, or two: along and across.
        retardation: with relaxation, time constant of the damping of the carcass of a wheel that stands or creeps.
        largest_slip: slips beyond count as this one.
    """

    owner = "Tyre"

    name: str = key(NAME, "in messages and results")
    wheel: Any = key(PLACE, "a body or a node with rotations, which carries the tyre")
    axis: Any = key(VECTOR, "spin axis at the start; forward is axis x normal", kw_only=True)
    radius: float = key(NUMBER, "of the unloaded wheel", kw_only=True, unit="m")
    point: Any = key(
        VECTOR,
        "centre of the wheel, in global coordinates of the start",
        None,
        shows="its node",
        kw_only=True,
        unit="m",
    )
    crown: float = key(NUMBER, "radius of the tread across the wheel", 0.0, kw_only=True, unit="m")
    rolling_radius: float | None = key(
        NUMBER, "r_e of free rolling, V = r_e spin", None, shows="radius less a third of the penetration",
        kw_only=True, unit="m",
    )  # fmt: skip
    road: Any = key(VECTOR, "a point of the road", None, shows="the origin", kw_only=True, unit="m")
    normal: Any = key(VECTOR, "of the road, out of it", None, shows="[0, 0, 1]", kw_only=True)
    profile: Any = key(
        FUNCTION, "height over the road, a function of the distance in place of the time", None, shows="none",
        kw_only=True, unit="m",
    )  # fmt: skip
    along: Any = key(VECTOR, "profile: direction of its distance", None, shows="forward", kw_only=True)
    length: float | None = key(NUMBER, "profile: its length", None, shows="none", kw_only=True, unit="m")
    spacing: float | None = key(
        NUMBER, "profile: of the places of its heights", None, shows=f"length/{_PIECES}", kw_only=True, unit="m"
    )
    stiffness: float | None = key(NUMBER, "of the normal force", None, shows="none", kw_only=True, unit="N/m")
    table: Any = key(
        TABLE_POINTS, "instead: points [penetration, force] from [0, 0] on", None, shows="none", kw_only=True
    )
    damping: float = key(NUMBER, "b of N (1 + b y')", 0.0, kw_only=True, unit="s/m")
    slip_law: str = key(TEXT, "curve of the forces over the slips", "linear", choices=CURVES, kw_only=True)
    friction: Any = key(NUMBER_OR_PAIR, "coefficient; along and across the wheel", 1.0, kw_only=True)
    slip_stiffness: Any = key(
        NUMBER_OR_PAIR,
        "linear, brush: forces per slip and per slip angle",
        None,
        shows="none",
        kw_only=True,
        unit="N, N/rad",
    )
    peak_load: float | None = key(
        NUMBER, "linear, brush: normal force of the largest slip stiffness", None, shows="none: it is constant",
        kw_only=True, unit="N",
    )  # fmt: skip
    magic_x: Any = key(VECTOR_ANY, "magic: [B, C, E] along the wheel", None, shows="none", kw_only=True)
    magic_y: Any = key(VECTOR_ANY, "magic: [B, C, E] across the wheel", None, shows="none", kw_only=True)
    camber_thrust: float = key(NUMBER, "side force per camber over side force per slip angle", 0.0, kw_only=True)
    trail: float = key(NUMBER, "pneumatic trail at zero slip", 0.0, kw_only=True, unit="m")
    rolling_resistance: float = key(NUMBER, "its coefficient", 0.0, kw_only=True)
    relaxation: Any = key(
        NUMBER_OR_PAIR, "lengths of rolling by which slips follow, along and across", None, shows="none",
        kw_only=True, unit="m",
    )  # fmt: skip
    retardation: float = key(
        NUMBER, "relaxation: time constant of the damping of a wheel that stands", 0.0, kw_only=True, unit="s"
    )
    slip_speed: float | None = key(
        NUMBER,
        "speed below which slip forces are those of dampers, with relaxation those of springs, and rolling resistance "
        "falls",
        None,
        shows="0.1 m/s",
        kw_only=True,
        unit="m/s",
    )
    largest_slip: float = key(NUMBER, "slips beyond count as this one", 2.0, kw_only=True)

    def build(self, building: Building) -> None:
        owner = building.label("Tyre", self.name)
        if building.dimension != 3:
            raise ModelError("a tyre is for models in space", owner=owner, remedy="use a model with dimension 3")
        node, centre = building.point(self.wheel, self.point, owner)
        if node < 0:
            raise ModelError('"ground" is no wheel', owner=owner, key="wheel", value=self.wheel, remedy="name a body")
        building.turning_node(self.wheel, owner)
        axle = building.axis(self.axis, owner)
        axes = self._road_axes(building, owner, axle)
        columns = self._shape(building, owner) | self._slips(building, owner) | self._options(building, owner)
        law, force = self._normal_force(building, owner)
        height = self._heights(building, owner)
        R = building.rotation_matrix(node)
        for word, vector in zip("neoca", (*axes, centre, R.T @ axle), strict=True):
            columns |= {f"{word}{c}": float(v) for c, v in zip("xyz", vector, strict=True)}
        self._check_place(building, owner, node, centre, axes)
        table = np.concatenate((force.ravel(), height.ravel()))
        columns |= law | {"road pieces": float(len(height))}
        lengths = self._pair(building, owner, "relaxation")
        if lengths is None:
            building.add_block(self.name, "tyre3", [node], table, **columns)
            return
        columns |= {f"relaxation length {c}": v for c, v in zip("xy", lengths, strict=True)}
        table = np.concatenate((table, np.ones(2)))  # the sizes of the states
        block = building.add_block(self.name, "relaxing_tyre3", [node], table, **columns)
        states = [
            StateVariable(self.name, f"deflection {c}", "m", 0.0, 0.1 * v) for c, v in zip("xy", lengths, strict=True)
        ]
        building.add_states(block, states)

    def _pair(self, building: Building, owner: Owner, name: str) -> tuple[float, float] | None:
        """Return two positive numbers of a key that holds one or two; None where it is not given."""
        value = getattr(self, name)
        if value is None:
            return None
        items = np.atleast_1d(np.asarray(value, float)) if not isinstance(value, str) else np.empty(0)
        if items.shape not in ((1,), (2,)) or not (np.isfinite(items) & (items > 0.0)).all():
            raise ModelError(
                f"{name} = {shown(value)} must be one or two positive numbers", owner=owner, key=name, value=value
            )
        return float(items[0]), float(items[-1])

    def _road_axes(self, building: Building, owner: Owner, axle: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return normal, direction of the profile (both (3,), of length one) and a point of the road."""
        normal = building.axis([0.0, 0.0, 1.0] if self.normal is None else self.normal, owner, "normal")
        origin = building.vector([0.0, 0.0, 0.0] if self.road is None else self.road, owner, "road")
        forward = np.cross(axle, normal)
        if np.linalg.norm(forward) < 1e-3:
            raise ModelError(
                f"axis {shown(self.axis)} is along the normal of the road: the wheel lies flat", owner=owner,
                key="axis",
                value=self.axis, remedy="give the axis about which it spins",
            )  # fmt: skip
        if self.along is not None:
            if self.profile is None:
                raise ModelError("along belongs to a profile", owner=owner, key="along", remedy="add profile")
            forward = building.axis(self.along, owner, "along")
        across = forward - (forward @ normal) * normal
        if np.linalg.norm(across) < 1e-3:
            raise ModelError(
                f"along = {shown(self.along)} is the direction of the normal", owner=owner, key="along",
                value=self.along,
                remedy="give a direction of the road",
            )  # fmt: skip
        return normal, across / np.linalg.norm(across), origin

    def _shape(self, building: Building, owner: Owner) -> dict[str, float]:
        """Return the columns of radii."""
        radius = building.number(self.radius, owner, "radius", 0.0, strict=True)
        crown = building.number(self.crown, owner, "crown", 0.0)
        if crown >= radius:
            raise ModelError(
                f"crown = {crown:g} must be less than radius = {radius:g}", owner=owner, key="crown", value=crown
            )
        rolling, shrinking = radius, 1.0 / 3.0
        if self.rolling_radius is not None:
            rolling, shrinking = building.number(self.rolling_radius, owner, "rolling_radius", 0.0, strict=True), 0.0
        return {"radius": radius, "crown radius": crown, "rolling radius": rolling, "shrinking": shrinking}

    def _slips(self, building: Building, owner: Owner) -> dict[str, float]:
        """Return the columns of the slip law."""
        magic = self.slip_law == "magic"
        for name, fits in (
            ("slip_stiffness", not magic), ("peak_load", not magic), ("magic_x", magic), ("magic_y", magic),
        ):  # fmt: skip
            needed = fits and name != "peak_load"
            if (getattr(self, name) is not None) != fits and (needed or not fits):
                what = "needs" if needed else "has no"
                raise ModelError(
                    f'slip_law = "{self.slip_law}" {what} {name}', owner=owner, key=name, value=getattr(self, name),
                    remedy=f"add {name}" if needed else f"remove {name}",
                )  # fmt: skip
        mu = self._pair(building, owner, "friction")
        assert mu is not None
        columns = {"curve": float(CURVES.index(self.slip_law)), "friction x": mu[0], "friction y": mu[1]}
        if not magic:
            stiffness = self._pair(building, owner, "slip_stiffness")
            assert stiffness is not None
            columns |= {f"slip stiffness {c}": v for c, v in zip("xy", stiffness, strict=True)}
            if self.peak_load is not None:
                columns["peak load"] = building.number(self.peak_load, owner, "peak_load", 0.0, strict=True)
            return columns
        columns["peak load"] = PROPORTIONAL
        for c, own in zip("xy", mu, strict=True):
            given = getattr(self, f"magic_{c}")
            items = np.asarray(given, float) if not isinstance(given, str) else np.empty(0)
            if (
                items.shape != (3,)
                or not np.isfinite(items).all()
                or items[0] <= 0.0
                or items[1] <= 0.0
                or items[2] > 1.0
            ):
                raise ModelError(
                    f"magic_{c} = {shown(given)} must be [B, C, E] with positive B and C, and E not above 1",
                    owner=owner, key=f"magic_{c}", value=given,
                )  # fmt: skip
            columns |= {f"slip stiffness {c}": float(items[0] * items[1] * own), f"C {c}": float(items[1])}
            columns[f"E {c}"] = float(items[2])
        return columns

    def _options(self, building: Building, owner: Owner) -> dict[str, float]:
        """Return the columns of all else that acts along the road."""
        if self.relaxation is None and self.retardation:
            raise ModelError(
                "retardation belongs to relaxation", owner=owner, key="retardation", value=self.retardation,
                remedy="add relaxation",
            )  # fmt: skip
        smooth = from_si(_SLIP_SPEED, "m/s")
        if self.slip_speed is not None:
            smooth = building.number(self.slip_speed, owner, "slip_speed", 0.0, strict=True)
        else:
            building.bases[owner] = base_at_hand()
        return {
            "camber thrust": building.number(self.camber_thrust, owner, "camber_thrust"),
            "trail": building.number(self.trail, owner, "trail"),
            "rolling resistance": building.number(self.rolling_resistance, owner, "rolling_resistance", 0.0),
            "smoothing speed": smooth,
            "least speed": smooth if self.relaxation is None else FLOOR,
            "largest slip": building.number(self.largest_slip, owner, "largest_slip", 0.0, strict=True),
            "theoretical": float(self.slip_law == "brush"),
            "retardation": building.number(self.retardation, owner, "retardation", 0.0),
        }

    def _normal_force(self, building: Building, owner: Owner) -> tuple[dict[str, float], np.ndarray]:
        """Return the columns of the normal force, and its table."""
        if (self.stiffness is None) == (self.table is None):
            found = "no normal force" if self.table is None else "stiffness and table, which exclude each other"
            raise ModelError(f"it has {found}", owner=owner, remedy="give one of stiffness and table")
        rows = np.zeros((0, 6)) if self.table is None else force_table(owner, self.table)
        stiffness = (
            0.0 if self.stiffness is None else building.number(self.stiffness, owner, "stiffness", 0.0, strict=True)
        )
        damping = building.number(self.damping, owner, "damping", 0.0)
        law = {"stiffness": stiffness, "exponent": 1.0, "loss kind": float(damping > 0.0), "loss": damping}
        return law | {"pieces": float(len(rows))}, rows

    def _heights(self, building: Building, owner: Owner) -> np.ndarray:
        """Return the table of the height of the road (n, 6); no rows: it is even."""
        if self.profile is None:
            for name in ("length", "spacing"):
                if getattr(self, name) is not None:
                    raise ModelError(f"{name} belongs to a profile", owner=owner, key=name, remedy="add profile")
            return np.zeros((0, 6))
        if self.length is None:
            raise ModelError("a profile needs its length", owner=owner, key="length", remedy="add length")
        length = building.number(self.length, owner, "length", 0.0, strict=True)
        spacing = length / _PIECES
        if self.spacing is not None:
            spacing = building.number(self.spacing, owner, "spacing", 0.0, strict=True)
        pieces = max(int(np.ceil(length / spacing * (1.0 - 1e-12))), 3)
        if pieces > _MOST_PIECES:
            raise ModelError(
                f"{length:g} {unit_of('m')} have more than {_MOST_PIECES} places that are {spacing:g} {unit_of('m')} "
                "apart", owner=owner,
                key="spacing", value=self.spacing, remedy="give a larger spacing",
            )  # fmt: skip
        x = np.linspace(0.0, length, pieces + 1)
        law = law_of_time(building, self.profile, owner)
        building.bases |= {owner.within("profile"): base for base in bases_of(law)}
        law.check(x, str(owner.within("profile")))
        return road_table(x, np.asarray(law(x), float))

    def _check_place(self, building: Building, owner: Owner, node: int, centre: np.ndarray, axes) -> None:
        """Refuse a wheel whose centre is below the road."""
        normal, _, origin = axes
        height = float(normal @ (building.global_point(node, centre) - origin))
        if height <= 0.0:
            raise ModelError(
                f"the centre of the wheel is {-height:g} {unit_of('m')} below the road", owner=owner,
                remedy="move the wheel or the road, or turn its normal",
            )  # fmt: skip
