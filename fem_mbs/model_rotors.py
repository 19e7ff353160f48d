"""Rotors of the model builder: what turns steadily about which axis, and discs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fem_mbs.errors import ModelError
from fem_mbs.model_base import ModelBase
from fem_mbs.model_parts import inertia_columns

__all__ = ["Rotor", "Rotors"]


@dataclass(frozen=True)
class Rotor:
    """What turns steadily: ``axis`` (3,) of length 1, in the plane (0, 0, 1); ``point`` (dimension,) of the axis at the
    start [m]; ``nodes`` (k,) that turn."""

    name: str
    axis: np.ndarray
    point: np.ndarray
    nodes: np.ndarray

    @property
    def owner(self) -> str:
        """How messages call it."""
        return f'Rotor "{self.name}"'


class Rotors(ModelBase):
    """Rotating machines."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.rotors: dict[str, Rotor] = {}

    def rotor(self, name: str, axis=None, point=None, on="all") -> None:
        """Parts that turn steadily about an axis, for steps that ask how they then vibrate.

        It adds nothing to the model and sets nothing in motion; steps name it and its speed.

        Args:
            axis: in space its direction, about which positive speeds turn; in the plane it is across the plane.
            point: of the axis, (dimension,) [m]; None: the origin.
            on: places whose nodes turn; "all": every node of the model so far.

        Raises:
            ModelError: no axis in space, or one in the plane; a place without nodes.
        """
        owner = f'Rotor "{self._new("Rotor", name, self.rotors)}"'
        if self.dimension == 2:
            if axis is not None:
                raise ModelError(f"{owner}: in the plane the axis is across it; remove axis")
            direction = np.array([0.0, 0.0, 1.0])
        else:
            direction = self._axis(axis, owner)
        place = np.zeros(self.dimension) if point is None else self._vector(point, owner, "point")
        nodes = np.unique(self.nodes_of(on, owner))
        nodes = nodes[~np.isin(nodes, self._ways)]
        if nodes.size == 0:
            raise ModelError(f"{owner}: on = {on!r} has no nodes that could turn; name parts of the rotor")
        self.rotors[name] = Rotor(name, direction, place, nodes)

    def disc(self, name: str, at, mass: float, polar: float, diametral: float | None = None, axis=None) -> None:
        """A rigid disc on a node, or on each node of a place, with its centre there.

        Args:
            polar: moment of inertia about its axis [kg m^2].
            diametral: about any axis across, in space; None: half of ``polar``, a thin disc.
            axis: in space its direction at the start.

        Raises:
            ModelError: moments of inertia that no body has; no axis in space.
        """
        owner = self._label("Disc", name)
        nodes = self.nodes_of(at, owner)
        if len(nodes) == 0:
            raise ModelError(f"{owner}: at = {at!r} has no nodes")
        mass, polar = self._number(mass, owner, "mass", 0.0), self._number(polar, owner, "polar", 0.0)
        if self.dimension == 2:
            for key, value in (("diametral", diametral), ("axis", axis)):
                if value is not None:
                    raise ModelError(f"{owner}: {key} is for space; in the plane remove it")
            self._rotational.update(nodes.tolist())
            self._add(name, "mass2", nodes, mass=mass, inertia=polar)
            return
        diametral = 0.5 * polar if diametral is None else self._number(diametral, owner, "diametral", 0.0)
        n = self._axis(axis, owner)
        if polar > 2.0 * diametral * (1.0 + 1e-9):
            raise ModelError(
                f"{owner}: polar = {polar:g} is more than twice diametral = {diametral:g}, which belongs to no body; a "
                "thin disc has polar = 2 diametral"
            )
        J = diametral * np.eye(3) + (polar - diametral) * np.outer(n, n)
        self._rotational.update(nodes.tolist())
        R = np.array([self._rotation_matrix(int(node)) for node in nodes])  # moments stand in the axes of their node
        turned = np.einsum("npi,pq,nqj->nij", R, J, R)
        self._add(name, "rigid3", nodes, mass=mass, **inertia_columns(turned.transpose(1, 2, 0)))
