"""Rotors of the model builder: parts in steady rotation, their axes, and discs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fem_mbs.elements.registry import element_type
from fem_mbs.errors import ModelError
from fem_mbs.model.building import Building
from fem_mbs.model.parts.bodies import inertia_columns
from fem_mbs.system.compile import GROUND

__all__ = ["Rotor", "Rotors", "Unbalance", "across"]


def across(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors e, f across an axis (3,), e x f along it: e is the next axis of coordinates after the one
    nearest to the axis (y for x, z for y, x for z), made perpendicular."""
    e = np.eye(3)[(int(np.abs(axis).argmax()) + 1) % 3]
    e = e - (e @ axis) * axis
    e /= np.linalg.norm(e)
    return e, np.cross(axis, e)


@dataclass(frozen=True)
class Rotor:
    """Parts in steady rotation: ``axis`` (3,) of length 1, in the plane (0, 0, 1); ``point`` (dimension,) of the axis
    at the start [m]; ``nodes`` (k,) that turn."""

    name: str
    axis: np.ndarray
    point: np.ndarray
    nodes: np.ndarray

    @property
    def owner(self) -> str:
        """Name in messages."""
        return f'Rotor "{self.name}"'

    @property
    def across(self) -> tuple[np.ndarray, np.ndarray]:
        """Unit vectors e, f (3,) across the axis, from which phases count, from e towards f."""
        return across(self.axis)


@dataclass(frozen=True)
class Unbalance:
    """Mass times distance ``amount`` [kg m] at a node, at the angle ``phase`` [rad] from the first direction across."""

    node: int
    amount: float
    phase: float


class Rotors(Building):
    """Rotating machines."""

    def rotor(self, name: str, axis: Any = None, point: Any = None, on: Any = "all") -> None:
        """Define parts that rotate steadily about an axis, for steps that compute their vibrations.

        It adds nothing to the model and sets nothing in motion; steps name it and its speed.

        Args:
            axis: in space its direction, about which positive speeds turn; in the plane it is across the plane.
            point: of the axis, (dimension,) [m]; None: the origin.
            on: places whose nodes turn; "all": every node of the model so far.

        Raises:
            ModelError: no axis in space, or one in the plane; a place without nodes.
        """
        owner = f'Rotor "{self.new_name("Rotor", name, self.rotors)}"'
        if self.dimension == 2:
            if axis is not None:
                raise ModelError(f"{owner}: in the plane the axis is across it; remove axis")
            direction = np.array([0.0, 0.0, 1.0])
        else:
            direction = self.axis(axis, owner)
        place = np.zeros(self.dimension) if point is None else self.vector(point, owner, "point")
        nodes = np.unique(self.nodes_of(on, owner))
        nodes = nodes[~np.isin(nodes, self.path_nodes)]
        if nodes.size == 0:
            raise ModelError(f"{owner}: on = {on!r} has no nodes that could turn; name parts of the rotor")
        self.rotors[name] = Rotor(name, direction, place, nodes)

    def disc(
        self, name: str, at: Any, mass: float, polar: float, diametral: float | None = None, axis: Any = None
    ) -> None:
        """Add a rigid disc on a node, or on each node of a place, with its centre there.

        Args:
            polar: moment of inertia about its axis [kg m^2].
            diametral: about any axis across, in space; None: half of ``polar``, a thin disc.
            axis: in space its direction at the start.

        Raises:
            ModelError: moments of inertia that no body has; no axis in space.
        """
        owner = self.label("Disc", name)
        nodes = self.nodes_of(at, owner)
        if len(nodes) == 0:
            raise ModelError(f"{owner}: at = {at!r} has no nodes")
        mass, polar = self.number(mass, owner, "mass", 0.0), self.number(polar, owner, "polar", 0.0)
        if self.dimension == 2:
            for key, value in (("diametral", diametral), ("axis", axis)):
                if value is not None:
                    raise ModelError(f"{owner}: {key} is for space; in the plane remove it")
            self.rotational.update(nodes.tolist())
            self.add_block(name, "mass2", nodes, mass=mass, inertia=polar)
            return
        diametral = 0.5 * polar if diametral is None else self.number(diametral, owner, "diametral", 0.0)
        n = self.axis(axis, owner)
        if polar > 2.0 * diametral * (1.0 + 1e-9):
            raise ModelError(
                f"{owner}: polar = {polar:g} is more than twice diametral = {diametral:g}, which belongs to no body; a "
                "thin disc has polar = 2 diametral"
            )
        J = diametral * np.eye(3) + (polar - diametral) * np.outer(n, n)
        self.rotational.update(nodes.tolist())
        R = np.array([self.rotation_matrix(int(node)) for node in nodes])  # moments stand in the axes of their node
        turned = np.einsum("npi,pq,nqj->nij", R, J, R)
        self.add_block(name, "rigid3", nodes, mass=mass, **inertia_columns(turned.transpose(1, 2, 0)))

    def bearing(
        self,
        name: str,
        a: str,
        b: str = "ground",
        stiffness: Any = None,
        damping: Any = None,
        axis: Any = None,
        direction: Any = None,
        speeds: Any = None,
    ) -> None:
        """Add a bearing: a force across an axis, linear in the relative displacement of two nodes and in its rate, with
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
        owner = self.label("Bearing", name)
        if a == b:
            raise ModelError(f'{owner}: both ends are "{a}"; take two different places')
        turning = speeds is not None
        nodes = [
            GROUND if p == "ground" else self.turning_node(p, owner) if turning else self.node_of(p, owner)
            for p in (a, b)
        ]
        if nodes[0] == nodes[1]:
            raise ModelError(f'{owner}: "{a}" and "{b}" are the same node; take two different ones')
        at = [0.0] if speeds is None else self._rising(speeds, owner)
        K, C = (
            self._matrices(value, len(at), turning, owner, key)
            for key, value in (("stiffness", stiffness), ("damping", damping))
        )
        if not K.any() and not C.any():
            raise ModelError(f"{owner}: it has no force; give stiffness or damping")
        columns: dict[str, float] = {}
        if self.dimension == 2:
            for key, value in (("axis", axis), ("direction", direction)):
                if value is not None:
                    raise ModelError(f"{owner}: {key} is for space; in the plane remove it")
            e, f = np.eye(2)
        else:
            n = self.axis(axis, owner)
            e, f = across(n)
            if direction is not None:
                given = self.axis(direction, owner, "direction")
                e = given - (given @ n) * n
                if np.linalg.norm(e) < 1e-6:
                    raise ModelError(f"{owner}: direction {direction!r} lies along the axis; take one across it")
                e /= np.linalg.norm(e)
                f = np.cross(n, e)
            columns = {f"{k}{c}": float(v) for k, w in zip("nef", (n, e, f), strict=True) for c, v in zip("xyz", w)}
        ends = [np.zeros(self.dimension) if node == GROUND else self.position(node) for node in nodes]
        start = ends[0] - ends[1]
        rows = np.column_stack((at, K.reshape(-1, 4), C.reshape(-1, 4)))
        names = [c.split(" [")[0] for c in element_type(f"bearing{self.dimension}").par][-9:]
        columns |= dict(zip(names, rows[0].tolist(), strict=True))
        self.add_block(
            name, f"bearing{self.dimension}", [nodes], rows[1:].ravel(), rows=float(len(rows)),
            **{"start u": float(e @ start), "start v": float(f @ start)}, **columns,
        )  # fmt: skip

    def _rising(self, values, owner: str) -> list[float]:
        try:
            found = np.asarray(values, float)
        except (TypeError, ValueError):
            found = np.empty(0)
        if found.ndim != 1 or found.size == 0 or not np.isfinite(found).all() or (np.diff(found) <= 0.0).any():
            raise ModelError(f"{owner}: speeds = {values!r} must be a list of increasing numbers [rad/s]")
        return found.tolist()

    def _matrices(self, value, k: int, table: bool, owner: str, key: str) -> np.ndarray:
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
            what = (
                f"a list of {k}, one per speed, of numbers, 2 numbers, 4 or 2x2" if table else "1, 2, 4 or 2x2 numbers"
            )
            raise ModelError(f"{owner}: {key} = {value!r} must be {what}, all finite")
        if shape == ():
            return M[:, None, None] * np.eye(2)
        return M[:, :, None] * np.eye(2) if shape == (2,) else M.reshape(k, 2, 2)
