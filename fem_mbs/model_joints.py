"""Supports, prescribed motions and joints of the model builder."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import numpy as np

from fem_mbs.assembly import GROUND
from fem_mbs.errors import ModelError
from fem_mbs.model_base import ModelBase

__all__ = ["Joints"]


class Joints(ModelBase):
    """Supports, motions, joints."""

    # --- supports, motions, joints ---------------------------------------------------------------------------------
    def _component(self, owner: str, component: str) -> int:
        names = ("x", "y", "rotation") if self.dimension == 2 else ("x", "y", "z")
        if component not in names:
            raise ModelError(f"{owner}: component {component!r} must be one of {', '.join(names)}")
        return names.index(component)

    def fix(self, on, components: Sequence[str] | None = None) -> None:
        """Hold nodes where they are; ``components`` of "x", "y", "z", "rotation" (None: all that a node has)."""
        owner = f'Support on "{on}"'
        nodes = self.nodes_of(on, owner)
        if isinstance(components, str):
            components = [components]
        for component in components or (["x", "y", "z"][: self.dimension]):
            if component == "rotation" and self.dimension == 3:
                self._fixed += [(int(n), 3 + k) for n in nodes for k in range(3)]
                continue
            k = self._component(owner, component)
            if component == "rotation":
                self._welded_rotation += [(owner, int(n)) for n in nodes]
            self._fixed += [(int(n), k) for n in nodes]
        if components is None:
            rotations = [2] if self.dimension == 2 else [3, 4, 5]
            self._fixed += [(int(n), -k) for n in nodes for k in rotations]  # where the node turns out to have them

    def motion(self, name: str, on: str, component: str, function) -> None:
        """Prescribed motion: a coordinate of nodes or a body follows its start value + f(t)."""
        owner = self._label("Motion", name)
        k = self._component(owner, component)
        index = self._function(function, owner, load=False)
        for node in self.nodes_of(on, owner):
            if component == "rotation":
                self._welded_rotation.append((owner, int(node)))
            self._driven.append((int(node), k, index, name))

    def joint(self, name: str, kind: str, a: str, b: str = "ground", point=None, axis=None, function=None) -> None:
        """A joint between two places.

        Kinds:
            "pin" or "spherical": the point of a and the point of b coincide.
            "weld": and no relative rotation.
            "slider": the point of a moves along ``axis`` through its place at the start (b must be "ground").
            "position": the point of a moves by f(t) along ``axis`` (b must be "ground").
            "angle": b turns by f(t) more than a (in space about ``axis``).
        """
        owner = self._label("Joint", name)
        kinds = {
            "pin": self._pin, "spherical": self._pin, "weld": self._weld,
            "slider": self._slider, "position": self._driven_position, "angle": self._driven_angle,
        }  # fmt: skip
        if kind not in kinds:
            close = difflib.get_close_matches(str(kind), list(kinds), n=1)
            hint = f'; did you mean "{close[0]}"?' if close else ""
            raise ModelError(f"{owner}: unknown type {kind!r}{hint}; there are {', '.join(kinds)}")
        for key, value, users in (
            ("axis", axis, ("slider", "position", "angle")),
            ("function", function, ("position", "angle")),
        ):
            if value is not None and kind not in users:
                raise ModelError(f'{owner}: a "{kind}" joint has no {key}; remove it')
        kinds[kind](owner, name, a, b, point, axis, function)

    def _meeting_point(self, owner: str, a: str, b: str, point):
        """Where two places meet: the given point, or the node of a place that is not a body."""
        if point is not None:
            return self._vector(point, owner, "point")
        found = [self.position(self.node_of(p, owner)) for p in (a, b) if p != "ground" and p not in self.bodies]
        if not found:
            raise ModelError(f"{owner}: rigid bodies have many points; say where the joint is with point = [...]")
        if len(found) == 2:
            gap = float(np.linalg.norm(found[1] - found[0]))
            if gap > 1e-9 * max(1.0, float(np.abs(found[0]).max())):
                raise ModelError(
                    f'{owner}: "{a}" and "{b}" are {gap:g} m apart; move one, or give the point of the joint'
                )
        return found[0]

    def _pin(self, owner, name, a, b, point, axis, function) -> None:
        where = self._meeting_point(owner, a, b, point)
        node_a, off_a = self._point(a, where, owner)
        node_b, off_b = self._point(b, where, owner)
        if node_a == node_b:
            raise ModelError(f'{owner}: both ends are "{a}"; join two different places')
        names = "xyz"[: self.dimension]
        self._add(
            name,
            f"point{self.dimension}",
            [[node_a, node_b]],
            **{f"a{c}_a": v for c, v in zip(names, off_a, strict=True)},
            **{f"a{c}_b": v for c, v in zip(names, off_b, strict=True)},
        )

    def _weld(self, owner, name, a, b, point, axis, function) -> None:
        self._pin(owner, name, a, b, point, axis, function)
        self._relative_rotation(owner, name, a, b, np.array([0.0, 0.0, 1.0]), -1)

    def _relative_rotation(self, owner, name, a, b, axis, index: int) -> None:
        nodes = [self._turning(p, owner) for p in (a, b)]
        if self.dimension == 2:
            angle = self._start_angle(nodes[1]) - self._start_angle(nodes[0])
            self._add(name, "angle2", [nodes], angle=angle, function=float(index))
            return
        u, v, n = self._triad(owner, axis).T
        triad = np.column_stack((n, u, v))  # the driven turn is about the first vector
        columns = {}
        for key, node in zip("ab", nodes, strict=True):
            local = (np.eye(3) if node == GROUND else self._rotation_matrix(node)).T @ triad
            columns.update({f"{key}{i + 1}{j + 1}": local[i, j] for i in range(3) for j in range(3)})
        self._add(name, "orientation3", [nodes], function=float(index), **columns)

    def _driven_angle(self, owner, name, a, b, point, axis, function) -> None:
        if function is None:
            raise ModelError(f'{owner}: an "angle" joint needs the function of its angle; add function = ...')
        if point is not None:
            raise ModelError(f'{owner}: an "angle" joint has no point; add a "pin" for that')
        self._relative_rotation(owner, name, a, b, axis, self._function(function, owner, load=False))

    def _along(self, owner, a, b, point, axis):
        if b != "ground":
            raise ModelError(f'{owner}: this type works against "ground" only, not "{b}"')
        if axis is None:
            raise ModelError(f"{owner}: it needs its direction; add axis = [...]")
        node, offset = self._point(a, point, owner)
        return node, offset, self._axis(axis, owner), self._global(node, offset)

    def _hold(self, name, node, offset, direction, x, index) -> None:
        names = "xyz"[: self.dimension]
        self._add(
            name,
            f"position{self.dimension}",
            [[node]],
            function=float(index),
            position=float(direction @ x),
            **{f"n{c}": v for c, v in zip(names, direction, strict=True)},
            **{f"a{c}": v for c, v in zip(names, offset, strict=True)},
        )

    def _slider(self, owner, name, a, b, point, axis, function) -> None:
        node, offset, n, x = self._along(owner, a, b, point, axis)
        across = [np.array([-n[1], n[0]])] if self.dimension == 2 else list(self._triad(owner, n).T[:2])
        for direction in across:
            self._hold(name, node, offset, direction, x, -1)

    def _driven_position(self, owner, name, a, b, point, axis, function) -> None:
        if function is None:
            raise ModelError(f'{owner}: a "position" joint needs the function of its displacement; add function = ...')
        node, offset, n, x = self._along(owner, a, b, point, axis)
        self._hold(name, node, offset, n, x, self._function(function, owner, load=False))
