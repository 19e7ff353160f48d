"""Rotors of the model builder: parts in steady rotation, their axes, and discs."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import (
    COUNT_OF_COPIES,
    NAME,
    NUMBER,
    NUMBERS_NESTED,
    PLACE,
    PLACES,
    VECTOR,
    VECTOR_ANY,
    shown,
)
from fem_mbs.elements.registry import element_type
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.parts.bodies import inertia_columns
from fem_mbs.system.blocks import GROUND
from fem_mbs.units import unit_of

__all__ = ["Rotor", "Bearing", "Disc", "RotorAxis", "Unbalance", "across"]


def across(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors e, f across an axis (3,), e x f along it: e is the next axis of coordinates after the one
    nearest to the axis (y for x, z for y, x for z), made perpendicular."""
    e = np.eye(3)[(int(np.abs(axis).argmax()) + 1) % 3]
    e = e - (e @ axis) * axis
    e /= np.linalg.norm(e)
    (a, b, c), (x, y, z) = axis, e
    return e, np.array((b * z - c * y, c * x - a * z, a * y - b * x))


@dataclass(frozen=True)
class Rotor:
    """Parts in steady rotation: ``axis`` (3,) of length 1, in the plane (0, 0, 1); ``point`` (dimension,) of the axis
    at the start [m]; ``nodes`` (k,) that turn; ``blades``: number of equal ones, None: as found."""

    name: str
    axis: np.ndarray
    point: np.ndarray
    nodes: np.ndarray
    blades: int | None = None

    @property
    def owner(self) -> str:
        """Name in messages."""
        return Owner("Rotor", self.name)

    @property
    def across(self) -> tuple[np.ndarray, np.ndarray]:
        """Return unit vectors e, f (3,) normal to the axis; phases count from e towards f."""
        return across(self.axis)


@dataclass(frozen=True)
class Unbalance:
    """Mass times distance ``amount`` [kg m] at a node, at the angle ``phase`` [rad] from the first direction across."""

    node: int
    amount: float
    phase: float


def _rising(values, owner: str) -> list[float]:
    try:
        found = np.asarray(values, float)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.ndim != 1 or found.size == 0 or not np.isfinite(found).all() or (np.diff(found) <= 0.0).any():
        raise ModelError(
            f"speeds = {shown(values)} must be a list of increasing numbers [{unit_of('rad/s')}]",
            owner=owner,
            key="speeds",
            value=values,
        )
    return found.tolist()


def _matrices(value, k: int, table: bool, owner: str, key: str) -> np.ndarray:
    """Return matrices (k, 2, 2) from a number, two numbers, four numbers or matrices, one or k of each."""
    if value is None:
        return np.zeros((k, 2, 2))
    try:
        M = np.asarray(value, float)
    except (TypeError, ValueError):
        M = np.empty((0, 0, 0, 0))
    if M.ndim == 0:
        M = np.full(k, float(M))
    elif not table:
        M = M[None]
    shape = M.shape[1:]
    if M.shape[0] != k or shape not in ((), (2,), (4,), (2, 2)) or not np.isfinite(M).all():
        what = f"a list of {k}, one per speed, of numbers, 2 numbers, 4 or 2x2" if table else "1, 2, 4 or 2x2 numbers"
        raise ModelError(f"{key} = {shown(value)} must be {what}, all finite", owner=owner, key=key, value=value)
    if shape == ():
        return M[:, None, None] * np.eye(2)
    return M[:, :, None] * np.eye(2) if shape == (2,) else M.reshape(k, 2, 2)


@dataclass(frozen=True, eq=False)
class RotorAxis(Declaration):
    """Parts that turn steadily about an axis, for steps that ask how they then vibrate; it sets nothing in motion.

    Define parts that rotate steadily about an axis, for steps that compute their vibrations.

    It adds nothing to the model and sets nothing in motion; steps name it and its speed.

    Args:
        axis: in space its direction, about which positive speeds turn; in the plane it is across the plane.
        point: of the axis, (dimension,) [m]; None: the origin.
        on: places whose nodes turn, reduced parts with their interfaces; "all": every node of the model so far.
        blades: number of equal blades, for multi-blade coordinates; None: the largest number of equal sectors, 3 or
            more, that the nodes off the axis have.

    Raises:
        ModelError: no axis in space, or one in the plane; a place without nodes.
    """

    owner = "Rotor"

    name: str = key(NAME, "by which steps call it", shows='"rotor 1", ...')
    axis: Any = key(VECTOR, "space: direction about which positive speeds turn", None)
    point: Any = key(VECTOR, "of the axis", None, shows="origin", unit="m")
    on: Any = key(PLACES, "what turns, reduced parts with their interfaces", "all")
    blades: int | None = key(
        COUNT_OF_COPIES, "number of equal blades, for multi-blade coordinates", None, shows="as found"
    )

    def build(self, building: Building) -> None:
        owner = Owner("Rotor", building.new_name("Rotor", self.name, building.rotors))
        if self.blades is not None and self.blades < 3:
            raise ModelError(
                f"blades = {self.blades} must be 3 or more: of fewer blades the coefficients stay periodic",
                owner=owner, key="blades", value=self.blades, remedy='remove it, and take frame = "periodic" in steps',
            )  # fmt: skip
        if building.dimension == 2:
            if self.axis is not None:
                raise ModelError("in the plane the axis is across it", owner=owner, remedy="remove axis")
            direction = np.array([0.0, 0.0, 1.0])
        else:
            direction = building.axis(self.axis, owner)
        place = np.zeros(building.dimension) if self.point is None else building.vector(self.point, owner, "point")
        nodes = np.unique(np.concatenate((building.nodes_of(self.on, owner, frames=True), self._interfaces(building))))
        nodes = nodes[~np.isin(nodes, building.path_nodes)]
        if nodes.size == 0:
            raise ModelError(
                f"on = {shown(self.on)} has no nodes that could turn",
                owner=owner,
                key="on",
                value=self.on,
                remedy="name parts of the rotor",
            )
        building.rotors[self.name] = Rotor(self.name, direction, place, nodes, self.blades)

    def _interfaces(self, building: Building) -> np.ndarray:
        """Return the nodes (n,) of the interfaces of reduced parts that turn: a part turns as a whole."""
        named = self.on if isinstance(self.on, (list, tuple)) else [self.on]
        parts = [building.reduced_parts[p] for p in named if isinstance(p, str) and p in building.reduced_parts]
        return np.array([node for part in parts for node in part.interfaces.values()], np.int64)


@dataclass(frozen=True, eq=False)
class Disc(Declaration):
    """Rigid discs on nodes.

    Add a rigid disc on a node, or on each node of a place, with its centre there.

    Args:
        polar: moment of inertia about its axis [kg m^2].
        diametral: about any axis across, in space; None: half of ``polar``, a thin disc.
        axis: in space its direction at the start.

    Raises:
        ModelError: moments of inertia that no body has; no axis in space.
    """

    owner = "Disc"

    name: str = key(NAME, "in messages and results", shows='"disc 1", ...')
    at: Any = key(PLACES, "on each node of it")
    mass: float = key(NUMBER, "", unit="kg")
    polar: float = key(NUMBER, "moment of inertia about its axis", unit="kg m^2")
    diametral: float | None = key(NUMBER, "space: about any axis across", None, shows="half of polar", unit="kg m^2")
    axis: Any = key(VECTOR, "space: its direction at the start", None)

    def build(self, building: Building) -> None:
        mass = self.mass
        polar = self.polar
        diametral = self.diametral
        owner = building.label("Disc", self.name)
        nodes = building.each_of(self.at, owner)
        if len(nodes) == 0:
            raise ModelError(f"at = {shown(self.at)} has no nodes", owner=owner, key="at", value=self.at)
        mass, polar = building.number(mass, owner, "mass", 0.0), building.number(polar, owner, "polar", 0.0)
        if building.dimension == 2:
            for key, value in (("diametral", diametral), ("axis", self.axis)):
                if value is not None:
                    raise ModelError(f"{key} is for space", owner=owner, remedy="in the plane remove it")
            building.rotational.update(nodes.tolist())
            building.add_block(self.name, "mass2", nodes, mass=mass, inertia=polar)
            return
        diametral = 0.5 * polar if diametral is None else building.number(diametral, owner, "diametral", 0.0)
        n = building.axis(self.axis, owner)
        if polar > 2.0 * diametral * (1.0 + 1e-9):
            raise ModelError(
                f"polar = {polar:g} is more than twice diametral = {diametral:g}, which belongs to no body",
                owner=owner,
                remedy="a thin disc has polar = 2 diametral",
            )
        J = diametral * np.eye(3) + (polar - diametral) * np.outer(n, n)
        building.rotational.update(nodes.tolist())
        R = building.rotation_matrices(nodes)  # moments stand in the axes of their node
        turned = np.einsum("npi,pq,nqj->nij", R, J, R)
        building.add_block(self.name, "rigid3", nodes, mass=mass, **inertia_columns(turned.transpose(1, 2, 0)))


@dataclass(frozen=True, eq=False)
class Bearing(Declaration):
    """Bearings of rotors: forces across an axis by 2x2 matrices, which may depend on the speed.

    Add a bearing: a force across an axis, linear in the relative displacement of two nodes and in its rate, with
    matrices that may be unsymmetric and depend on the relative spin of the two.

    Its directions stay in space: the housing must not turn.  The nodes are where they are unloaded at the start.

    Args:
        a, b: the shaft's node and the housing's, or "ground".
        stiffness, damping: a number (the same in all directions), 2 (both directions), 4 (row by row) or (2, 2)
            [N/m], [N s/m]; the force on the housing is stiffness times displacement plus damping times rate.
        axis: in space, about which the speed counts.
        direction: the first of the two directions across, made perpendicular to the axis; None: y for an axis along
            x, z for y, x for z, in between the next one after the nearest.  The second is axis x first; in the
            plane they are x and y.
        speeds: (k,) [rad/s], increasing: stiffness and damping are lists of k of the above, linear in between,
            constant beyond; a single number serves all speeds.  The speed is that of a less that of b.

    Raises:
        ModelError: no force, tables that do not fit, nodes without rotation where the speed counts.
    """

    owner = "Bearing"

    name: str = key(NAME, "in messages and results", shows='"bearing 1", ...')
    a: str | int = key(PLACE, "node of the shaft")
    b: str | int = key(PLACE, "node of the housing, which does not turn", "ground")
    stiffness: Any = key(
        NUMBERS_NESTED,
        "number, 2 (both directions), 4 (row by row) or 2x2, which may be unsymmetric; with speeds a list of these",
        None,
        shows="none",
        unit="N/m",
    )
    damping: Any = key(NUMBERS_NESTED, "damping coefficients in the same form", None, shows="none", unit="N s/m")
    axis: Any = key(VECTOR, "space: about which the speed counts", None)
    direction: Any = key(
        VECTOR, "space: first direction across; the second is axis x first", None, shows="y for x, z for y, x for z"
    )
    speeds: Any = key(
        VECTOR_ANY,
        "of a less b, increasing: where the tables stand; linear between, constant beyond",
        None,
        shows="none",
        unit="rad/s",
    )

    def build(self, building: Building) -> None:
        owner = building.label("Bearing", self.name)
        if self.a == self.b:
            raise ModelError(f'both ends are "{self.a}"', owner=owner, remedy="take two different places")
        turning = self.speeds is not None
        nodes = [
            GROUND if p == "ground" else building.turning_node(p, owner) if turning else building.node_of(p, owner)
            for p in (self.a, self.b)
        ]
        if nodes[0] == nodes[1]:
            raise ModelError(
                f'"{self.a}" and "{self.b}" are the same node', owner=owner, remedy="take two different ones"
            )
        at = [0.0] if self.speeds is None else _rising(self.speeds, owner)
        K, C = (
            _matrices(value, len(at), turning, owner, key)
            for key, value in (("stiffness", self.stiffness), ("damping", self.damping))
        )
        if not K.any() and not C.any():
            raise ModelError("it has no force", owner=owner, remedy="give stiffness or damping")
        columns: dict[str, float] = {}
        if building.dimension == 2:
            for key, value in (("axis", self.axis), ("direction", self.direction)):
                if value is not None:
                    raise ModelError(f"{key} is for space", owner=owner, remedy="in the plane remove it")
            e, f = np.eye(2)
        else:
            n = building.axis(self.axis, owner)
            e, f = across(n)
            if self.direction is not None:
                given = building.axis(self.direction, owner, "direction")
                e = given - (given @ n) * n
                if np.linalg.norm(e) < 1e-6:
                    raise ModelError(
                        f"direction {shown(self.direction)} lies along the axis",
                        owner=owner,
                        key="direction",
                        value=self.direction,
                        remedy="take one across it",
                    )
                e /= np.linalg.norm(e)
                f = np.cross(n, e)
            columns = {f"{k}{c}": float(v) for k, w in zip("nef", (n, e, f), strict=True) for c, v in zip("xyz", w)}
        ends = [np.zeros(building.dimension) if node == GROUND else building.position(node) for node in nodes]
        start = ends[0] - ends[1]
        rows = np.column_stack((at, K.reshape(-1, 4), C.reshape(-1, 4)))
        names = element_type(f"bearing{building.dimension}").parameters[-9:]
        columns |= dict(zip(names, rows[0].tolist(), strict=True))
        building.add_block(
            self.name,
            f"bearing{building.dimension}",
            [nodes],
            rows[1:].ravel(),
            rows=float(len(rows)),
            **{"start u": float(e @ start), "start v": float(f @ start)},
            **columns,
        )
