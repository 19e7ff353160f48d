"""Joints of the model builder beyond the lower pairs: guided points, links, constant velocity, screws, gears."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fem_mbs.errors import ModelError
from fem_mbs.model.connections.sliding import Sliding
from fem_mbs.model.records import Joint, JointCoordinate

__all__ = ["SpecialJoints"]


class SpecialJoints(Sliding):
    """Kinds of `Model.joint` that are made of the parts of the others, and couplings of two joints."""

    # methods of `Joints`, which `Model` adds
    _ends: Callable[..., Any]
    _guide: Callable[..., Any]
    _displacement: Callable[..., Any]
    _pin: Callable[..., Any]
    _turning_ends: Callable[..., Any]
    _different: Callable[..., Any]
    _cylindrical: Callable[..., Any]
    _joint_coordinate: Callable[..., Any]

    def _guided_ends(self, j: Any):
        """Return ends of a joint where a point of b runs on a line or plane of a: by default b's node."""
        where = j.point
        if where is None and j.b != "ground" and j.b not in self.bodies:
            where = self.position(self.node_of(j.b, j.owner))
        return self._ends(replace(j, point=where))

    def _point_on_line(self, j: Any) -> None:
        ends = self._guided_ends(j)
        if self.dimension == 2:
            n = self.axis(j.axis, j.owner)
            across = [np.array([-n[1], n[0]])]
        else:
            *across, n = self.triad(j.owner, j.axis).T
        self._guide(j, ends, across)
        self._coordinate(j, "displacement", self._displacement(ends, n), j.function)

    def _point_on_plane(self, j: Any) -> None:
        self._guide(j, self._guided_ends(j), (self.axis(j.axis, j.owner),))

    def _constant_velocity(self, j: Any) -> None:
        self._pin(j)
        nodes = self._turning_ends(j)
        triad = self.triad(j.owner, j.axis)
        n, other = triad[:, 2], self.axis(j.axis if j.axis_b is None else j.axis_b, j.owner, "axis_b")
        bend = float(n @ other)
        if bend < -1.0 + 1e-6:
            raise ModelError(f"{j.owner}: axis and axis_b point against each other; turn one of them round")
        # the triad of b is that of a, turned from axis to axis_b about what is across both
        w = np.cross(n, other)
        skew = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
        turned = (np.eye(3) + skew + skew @ skew / (1.0 + bend)) @ triad
        columns = {}
        for end, node, vectors in (("a", nodes[0], triad), ("b", nodes[1], turned)):
            local = self.rotation_matrix(node).T @ vectors
            for k, name in enumerate("uv"):
                columns.update({f"{name}_{end}{c}": float(v) for c, v in zip("xyz", local[:, k], strict=True)})
        self.add_block(j.name, "constant_velocity3", [nodes], **columns)

    def _distance(self, j: Any) -> None:
        node_a, off_a = self.point(j.a, j.point, j.owner)
        node_b, off_b = self.point(j.b, j.point_b, j.owner)
        self._different(j, node_a, node_b)
        length = float(np.linalg.norm(self.global_point(node_b, off_b) - self.global_point(node_a, off_a)))
        if length <= 1e-9 * max(1.0, float(np.abs(self.positions).max())):
            raise ModelError(
                f"{j.owner}: its points are {length:g} m apart; a link needs a length: give point and point_b, or "
                f'use a "{"pin" if self.dimension == 2 else "spherical"}" joint'
            )
        names = "xyz"[: self.dimension]
        columns = {f"a{c}_a": float(v) for c, v in zip(names, off_a, strict=True)}
        columns.update({f"a{c}_b": float(v) for c, v in zip(names, off_b, strict=True)})
        index = -1 if j.function is None else self.function_index(j.function, j.owner, load=False)
        nodes = [(node_a, node_b)]
        self.add_block(j.name, f"distance{self.dimension}", nodes, function=float(index), length=length, **columns)

    def _screw(self, j: Any) -> None:
        if j.lead is None:
            raise ModelError(f"{j.owner}: a screw needs its lead, the slide per turn [m]; add lead = ...")
        lead = self.number(j.lead, j.owner, "lead")
        if lead == 0.0:
            raise ModelError(f"{j.owner}: lead = 0 lets it turn without sliding; use a revolute joint")
        self._cylindrical(j)
        c = self.joints[j.name].coordinates
        self._couple(j.name, c["angle"], c["displacement"], lead / (2.0 * math.pi))

    # --- two joints ------------------------------------------------------------------------------------------------
    def gear(
        self, name: str, a: str, b: str, ratio: float, coordinate_a: str | None = None, coordinate_b: str | None = None
    ) -> None:
        """Couple the coordinates of two joints: the change of b since the start is ``ratio`` times that of a.

        Two angles: a pair of gears; an angle and a displacement: pinion and rack, ratio the pitch radius [m/rad]; two
        displacements: a rope over pulleys.  Without play, friction or loss: the joints stand for the bearings, the gear
        for the teeth.

        Args:
            a, b: names of joints.
            ratio: change of b's coordinate over change of a's; negative where they go opposite ways.
            coordinate_a, coordinate_b: "angle" or "displacement"; None: the joint's first one.

        Raises:
            ModelError: no such joint or coordinate, the same coordinate twice, ratio = 0.
        """
        owner = self.label("Gear", name)
        key_a, of_a = self.joint_coordinate(a, coordinate_a, owner)
        key_b, of_b = self.joint_coordinate(b, coordinate_b, owner)
        if (a, key_a) == (b, key_b):
            raise ModelError(f'{owner}: both coordinates are the {key_a} of "{a}"; couple two different ones')
        ratio = self.number(ratio, owner, "ratio")
        if ratio == 0.0:
            raise ModelError(f"{owner}: ratio = 0 would hold b's coordinate; drive it by a constant function instead")
        self.joints[name] = Joint("gear")
        self._couple(name, of_a, of_b, ratio)

    def _couple(self, label: str, a: JointCoordinate, b: JointCoordinate, ratio: float) -> None:
        """Constrain b = ratio a since the start, as a condition in radians where there is an angle."""
        factors = (1.0, -1.0 / ratio) if a.angular and not b.angular else (ratio, -1.0)
        if a.angular == b.angular and abs(ratio) > 1.0:
            factors = (1.0, -1.0 / ratio)
        columns: dict[Any, Any] = {}
        for end, c in (("a", a), ("b", b)):
            values = list(c.columns.values())
            kinds = [f"{v}{x}_{end}" for v in "uvb" for x in "xyz"[: self.dimension]]
            columns.update(zip(kinds, values + [0.0] * (len(kinds) - len(values)), strict=True))
        kind = "coupling" if a.angular or b.angular else "pulley"
        self.add_block(
            label, f"{kind}{self.dimension}", [(*a.nodes, *b.nodes)],
            angular_a=float(a.angular), angular_b=float(b.angular), factor_a=factors[0], factor_b=factors[1],
            value=factors[0] * a.start + factors[1] * b.start, **columns,
        )  # fmt: skip
