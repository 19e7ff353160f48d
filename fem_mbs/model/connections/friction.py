"""Dry friction of the model builder: in joints, pressed by their own forces, and between points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fem_mbs.errors import ModelError
from fem_mbs.model.connections.forces import Forces
from fem_mbs.model.records import JointCoordinate
from fem_mbs.system.compile import GROUND, Block

__all__ = ["Frictions"]

_KINDS = ("pin", "revolute", "prismatic", "slider", "point_on_line", "point_on_plane", "planar", "along_beam")


@dataclass(frozen=True)
class _Guide:
    """A point of node b that a joint keeps from moving along direction e: nodes, e and both points in the axes of their
    nodes."""

    nodes: tuple[int, int]
    e: np.ndarray
    offsets: tuple[np.ndarray, np.ndarray]


class Frictions(Forces):
    """Friction."""

    def friction(
        self,
        name: str,
        joint: str | None = None,
        *,
        coefficient: float,
        smoothing: float,
        radius: float | None = None,
        static: float | None = None,
        stribeck: float | None = None,
        normal: Any = None,
        speed: Any = None,
        a: str | None = None,
        b: str | None = None,
        point: Any = None,
        axis: Any = None,
        direction: Any = None,
    ) -> None:
        """Add Coulomb friction in a joint, or (a, b) where a point of b slides on a surface of a.

        The force coefficient N tanh(w/smoothing) acts against the sliding velocity w; N is the size of the joint's
        constraint force at every instant, and what ``normal`` adds.  In a pin or revolute joint it is a moment, with
        ``radius`` as its arm.  In joints that guide points ("prismatic", "slider", "point_on_line", "point_on_plane",
        "planar", "along_beam") it acts at the point; moments that a prismatic joint bears do not press.

        Args:
            coefficient: mu, of Coulomb's law.
            smoothing: sliding speed [m/s] up to which the force rises (to 76 % of mu N); below it surfaces creep.
            radius: of pin and revolute joints [m].
            static, stribeck: coefficient at small speeds, which goes over to ``coefficient`` like exp(-(w/stribeck)^2).
            normal: normal force as a function of time, a load [N]; with joints in addition to their own.
            speed: of a running surface of a along the coordinate, function of time [m/s]: a belt, a disc; what moves it
                gives energy to the model, booked as that of drivers.
            a, b, point, axis: without a joint: the surface of a with the normal ``axis``, the point of b (global
                coordinates of the start; None: its node).
            direction: in space, on surfaces that run: where to.
        """
        owner = self.label("Friction", name)
        law = {
            "coefficient": self.number(coefficient, owner, "coefficient", 0.0),
            "smoothing speed": self.number(smoothing, owner, "smoothing", 0.0, strict=True),
            "radius": 1.0, "function": -1.0, "reference rate": -1.0,
            **{f"scale {k}": 1.0 for k in (1, 2, 3)},
        }  # fmt: skip
        if (static is None) != (stribeck is None):
            raise ModelError(f"{owner}: static and stribeck belong together; give both or none")
        if static is not None:
            law["static coefficient"] = self.number(static, owner, "static", 0.0)
            law["Stribeck speed"] = self.number(stribeck, owner, "stribeck", 0.0, strict=True)
        if normal is not None:
            if isinstance(normal, (int, float)) and not isinstance(normal, bool) and not normal >= 0.0:
                raise ModelError(f"{owner}: normal = {normal!r} must not be negative; surfaces press, they do not pull")
            law["function"] = self.function_index(self._law_of_time(normal, owner), owner, load=True)
        if speed is not None:
            law["reference rate"] = self.function_index(self._law_of_time(speed, owner), owner, load=False)
        elif direction is not None:
            raise ModelError(f"{owner}: direction is that of a running surface; add its speed, or remove it")
        if joint is None:
            self._rub_points(owner, name, law, a, b, point, axis, direction)
            if radius is not None or normal is None:
                what = "has no radius; remove it" if radius is not None else "needs its normal force; add normal"
                raise ModelError(f"{owner}: friction between points {what}")
            return
        if any(v is not None for v in (a, b, point, axis)):
            raise ModelError(f"{owner}: a, b, point and axis belong to friction between points; with joint remove them")
        self._rub_joint(owner, name, law, joint, radius, normal, direction)

    # --- in joints -------------------------------------------------------------------------------------------------
    def _rub_joint(self, owner: str, name: str, law, joint: str, radius, normal, direction) -> None:
        found = self.find("joint", joint, self.joints, owner)
        if found.kind not in _KINDS or (found.kind == "pin" and self.dimension == 3):
            raise ModelError(
                f'{owner}: joint "{joint}" is a "{found.kind}" joint, whose friction is not known; there are '
                f"{', '.join(k for k in _KINDS if k != 'pin')} (in the plane pin)"
            )
        if any(joint in (block.reads or ()) for block in self.blocks):
            raise ModelError(f'{owner}: joint "{joint}" has friction already; keep one')
        turning = found.kind in ("pin", "revolute")
        if turning != (radius is not None):
            what = "needs the radius of its bearing; add radius" if turning else "has no radius; remove it"
            raise ModelError(f'{owner}: a "{found.kind}" joint {what}')
        if turning:
            law["radius"] = self.number(radius, owner, "radius", 0.0, strict=True)
        if found.kind == "along_beam":
            if normal is not None:
                raise ModelError(f"{owner}: along a beam the joint's own force presses; remove normal")
            if found.driven:
                raise ModelError(
                    f'{owner}: joint "{joint}" is driven along its line, by forces that would count as pressing; '
                    "remove the driver or the friction"
                )
            law["along"] = 1.0
        guides = self._guides(joint)
        if not turning and self.dimension == 3 and len(guides) == 1:  # a plane
            self._rub_plane(owner, name, law, guides[0], direction, joint)
            return
        if direction is not None:
            raise ModelError(f'{owner}: joint "{joint}" slides one way only; remove direction')
        if found.coordinates:
            coordinate = self.joint_coordinate(joint, None, owner)[1]
        else:
            coordinate = self._along_guides(guides)
        self._rub(name, law, coordinate, joint)

    def _guides(self, joint: str) -> list[_Guide]:
        """Return the constrained directions of a joint, one per constraint."""
        names, found = "xyz"[: self.dimension], []
        for block in self.blocks:
            if block.groups[0][0] != joint or block.type.name[:-1] not in ("offset", "position"):
                continue
            t = block.type

            def values(key: str, row: np.ndarray, t=t) -> np.ndarray:
                return np.array([row[t.column(key.format(c))] for c in names])

            for nodes, row in zip(block.nodes, block.par, strict=True):
                if row[t.column("function")] >= 0.0:
                    continue
                if len(nodes) == 2:
                    offsets = values("a{}_a", row), values("a{}_b", row)
                    found.append(_Guide((int(nodes[0]), int(nodes[1])), values("e{}", row), offsets))
                else:
                    offset = values("a{}", row)
                    at = self.global_point(int(nodes[0]), offset)
                    found.append(_Guide((GROUND, int(nodes[0])), values("n{}", row), (at, offset)))
        return found

    def _along_guides(self, guides: list[_Guide]) -> JointCoordinate:
        """Return the displacement of the guided point across the directions in which it is held."""
        g = guides[0]
        e = np.array([g.e[1], -g.e[0]]) if self.dimension == 2 else np.cross(guides[0].e, guides[1].e)
        return JointCoordinate(False, g.nodes, self._point_columns(e, g.offsets))

    def _point_columns(self, e: np.ndarray, offsets) -> dict[str, float]:
        names = "xyz"[: self.dimension]
        columns = {f"e{c}": float(v) for c, v in zip(names, e, strict=True)}
        for end, offset in zip("ab", offsets, strict=True):
            columns.update({f"a{c}_{end}": float(v) for c, v in zip(names, offset, strict=True)})
        return columns

    # --- between points --------------------------------------------------------------------------------------------
    def _rub_points(self, owner: str, name: str, law, a, b, point, axis, direction) -> None:
        if a is None or b is None:
            raise ModelError(f"{owner}: give either joint, or a and b, the surface and the point that slides on it")
        node, offset = self.point(b, point, owner)
        surface = self.turning_node(a, owner)
        if node == surface:
            raise ModelError(f'{owner}: both ends are "{a}"; take two different places')
        normal = self.axis(axis, owner)
        R = np.eye(self.dimension) if surface == GROUND else self.rotation_matrix(surface)
        at = self.global_point(node, offset)
        other = at if surface == GROUND else np.zeros(self.dimension)
        guide = _Guide((surface, node), R.T @ normal, (other, offset))
        if self.dimension == 3:
            self._rub_plane(owner, name, law, guide, direction, "")
            return
        if direction is not None:
            raise ModelError(f"{owner}: in the plane the surface runs along its only direction; remove direction")
        self._rub(name, law, self._along_guides([guide]), "")

    def _rub_plane(self, owner: str, name: str, law, guide: _Guide, direction, joint: str) -> None:
        """Add friction in two directions across the normal, the first that of a running surface."""
        u, v, n = self.triad(owner, guide.e).T
        if direction is not None:
            R = np.eye(3) if guide.nodes[0] == GROUND else self.rotation_matrix(guide.nodes[0])
            u = R.T @ self.axis(direction, owner, "direction")
            u = u - (u @ n) * n
            if np.linalg.norm(u) < 1e-6:
                raise ModelError(f"{owner}: direction stands on the surface; give one along it")
            u /= np.linalg.norm(u)
            v = np.cross(n, u)
        elif law["reference rate"] >= 0.0:
            raise ModelError(f"{owner}: a surface that runs needs to know where to; add direction")
        columns = {}
        for e, letter, second in ((u, "u", ""), (v, "v", "2")):
            points = self._point_columns(e, guide.offsets)
            columns.update(
                {f"{letter}{key[1:]}" if key[0] == "e" else f"{key}{second}": x for key, x in points.items()}
            )
        block = self.add_block(name, "friction_plane3", [guide.nodes], **columns, **law)
        block.reads = [joint]

    def _rub(self, name: str, law, c: JointCoordinate, joint: str) -> None:
        kind = "angle" if c.angular else "offset"
        block = self.add_block(name, f"friction_{kind}{self.dimension}", [c.nodes], **c.columns, **law)
        block.reads = [joint]

    def check_path_ends(self) -> None:
        """Refuse springs and drivers along a beam whose joint force is the normal force of friction.

        Raises:
            ModelError: naming friction and what works beside it.
        """
        for block in self.blocks:
            if "along" not in block.type.par or not block.par[0, block.type.column("along")]:
                continue
            way = int(block.nodes[0, 1])
            for other in self.blocks:
                if other is block or other.type.name.startswith("beam_slide") or not (other.nodes == way).any():
                    continue
                if not self._idle(other):
                    raise ModelError(
                        f'Friction "{block.groups[0][0]}": "{other.groups[0][0]}" works along the same line, and its '
                        "force would count as pressing; remove one of them"
                    )

    @staticmethod
    def _idle(block: Block) -> bool:
        """Return a spring without stiffness, as sensors have it."""
        t = block.type
        known = [t.column(key) for key in ("stiffness", "damping") if any(p.startswith(key) for p in t.par)]
        return t.name[:-1] == "slide" and not block.par[:, known].any()
