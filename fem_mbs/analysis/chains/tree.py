"""Trees of rigid bodies: which joints lead from the ground to each body, and the segments that they are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from fem_mbs.analysis.header import find_group
from fem_mbs.elements.common import FREE
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.connections.joints import Joint, JointSpring
from fem_mbs.model.copies.movement import Copy
from fem_mbs.model.fields import DisplayUnits
from fem_mbs.model.initial import Initial, Running, StartSpeed
from fem_mbs.model.materials import CrossSection, LinearMaterial, NamedFunction, NamedParameter
from fem_mbs.model.model import CompiledModel
from fem_mbs.model.parts.bodies import RigidBody
from fem_mbs.model.sensors.sensor import SensorRequest
from fem_mbs.model.watching import CheckRequest
from fem_mbs.solvers.chains.layout import Chain
from fem_mbs.solvers.stepping.layout import MULTIPLIER, REC_OUT, REC_Q, REC_REACTION, State

__all__ = ["Body", "Segment", "Spring", "Tree"]

_REMEDY = 'take rule = "midpoint"'
# What an elementary motion of a joint is about or along: "axis" of a, "axis_b" of b, the triad "u", "v", "axis" of a,
# and the global axes "x", "y", "z" of the start.
_TURNS = (("x", False), ("y", False), ("z", False))
#: Kinds of joints: (direction, whether it slides, name of the coordinate) of the motions that lead from a to b.
_MOTIONS: dict[str, tuple[tuple[str, bool, str], ...]] = {
    "weld": (),
    "revolute": (("axis", False, "angle"),),
    "prismatic": (("axis", True, "displacement"),),
    "cylindrical": (("axis", False, "angle"), ("axis", True, "displacement")),
    "universal": (("axis", False, "angle"), ("axis_b", False, "angle_b")),
    "planar": (("u", True, ""), ("v", True, ""), ("axis", False, "angle")),
    "spherical": tuple((axis, slides, "") for axis, slides in _TURNS),
    "pin": tuple((axis, slides, "") for axis, slides in _TURNS),
    "point_on_line": (("axis", True, "displacement"), *((axis, slides, "") for axis, slides in _TURNS)),
    "point_on_plane": (("u", True, ""), ("v", True, ""), *((axis, slides, "") for axis, slides in _TURNS)),
}
#: In the plane.
_PLANE: dict[str, tuple[tuple[str, bool, str], ...]] = {
    "weld": (),
    "pin": (("z", False, "angle"),),
    "revolute": (("z", False, "angle"),),
    "prismatic": (("axis", True, "displacement"),),
    "point_on_line": (("axis", True, "displacement"), ("z", False, "")),
}
#: Declarations that a tree is made of, and those that add nothing that moves.
_KNOWN = (
    RigidBody, Joint, JointSpring, Initial, StartSpeed, Running, SensorRequest, CheckRequest, DisplayUnits,
    NamedParameter, NamedFunction, LinearMaterial, CrossSection, Copy,
)  # fmt: skip
_FREE = (("x", True, ""), ("y", True, ""), ("z", True, ""), *((axis, slides, "") for axis, slides in _TURNS))
_FREE_PLANE = (("x", True, ""), ("y", True, ""), ("z", False, ""))


@dataclass
class Body:
    """A rigid body: its node, mass and inertia (3, 3) about the mass centre in body axes, and the segment that carries
    it (-1: the ground)."""

    name: str
    node: int
    mass: float
    inertia: np.ndarray
    segment: int = -1


@dataclass(frozen=True)
class Segment:
    """A segment behind another one (-1: the ground), which moves about or along ``axis`` (3,), fixed in the body
    ``axis_of`` (None: the ground).

    Its hinge is at ``point`` (3,), in axes of the body ``point_of`` from its node (None: global). ``coordinate`` is
    that of the joint, ``sign`` times the segment's own. ``middle``: it is the second of three turns, which may not
    come near a right angle.
    """

    before: int
    slides: bool
    axis: np.ndarray
    axis_of: int | None
    point: np.ndarray
    point_of: int | None
    coordinate: tuple[str, str]
    sign: float
    middle: bool


@dataclass(frozen=True)
class Spring:
    """A linear spring-damper on the coordinate of a segment: block and element of the compiled model."""

    segment: int
    block: int
    element: int


@dataclass
class Tree:
    """The segments of a model of rigid bodies; `chain` places them in a state.

    Raises:
        ModelError: naming what makes no tree of rigid bodies.
    """

    compiled: CompiledModel
    owner: Owner
    bodies: list[Body] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    springs: list[Spring] = field(default_factory=list)

    def __post_init__(self) -> None:
        model = self.compiled.model
        self._plane = model.dimension == 2
        self._check()
        for said in model.specifications:
            if isinstance(said, RigidBody):
                inertia = np.asarray(said.inertia, float)
                full = np.diag([1.0, 1.0, 1.0]) * inertia if inertia.ndim < 2 else inertia
                self.bodies.append(Body(said.name, model.bodies[said.name].node, float(said.mass), full))
        if not self.bodies:
            raise ModelError('rule = "hamiltonian" is for rigid bodies, and the model has none', owner=self.owner,
                             remedy=_REMEDY)  # fmt: skip
        self._hang()
        self._stretch()

    # --- what a tree is made of --------------------------------------------------------------------------------------
    def _check(self) -> None:
        model, system = self.compiled.model, self.compiled.system
        if model.events:
            self._refuse(f'Event "{model.events[0].name}"', "it knows no events")
        for said in model.specifications:
            if not isinstance(said, _KNOWN):
                self._refuse(f'{said.owner} "{getattr(said, "name", "") or getattr(said, "on", "")}"')
        kind = system.system.kind
        for sensor in self.compiled.sensors:
            for source, k in system.system.record[sensor.first : sensor.last]:
                of_joint = source == REC_OUT and self._of_joint(int(k))
                if source == REC_REACTION or of_joint or (source == REC_Q and kind[k] == MULTIPLIER):
                    self._refuse(f'Sensor "{sensor.name}"', "it has no forces of joints")

    def _of_joint(self, output: int) -> bool:
        """Return whether an output belongs to an element with multipliers."""
        for block in self.compiled.system.blocks:
            if 0 <= output - block.first_output < block.size * len(block.type.outputs):
                return bool(block.type.multipliers)
        return False

    def _refuse(
        self, what: str, why: str = "it is for trees of rigid bodies, joints and linear springs on them"
    ) -> None:
        raise ModelError(f'rule = "hamiltonian" cannot use {what}: {why}', owner=self.owner, remedy=_REMEDY)

    # --- the tree ----------------------------------------------------------------------------------------------------
    def _hang(self) -> None:
        """Hang all bodies on the ground by their joints, those without joints to it as free bodies."""
        left = [said for said in self.compiled.model.specifications if isinstance(said, Joint)]
        for said in left:
            self._check_joint(said)
        placed: set[str] = {"ground"}
        by_name = {body.name: body for body in self.bodies}
        while len(placed) <= len(by_name):
            joint = next((j for j in left if (j.a in placed) != (j.b in placed)), None)
            if joint is None:
                body = next(body for body in self.bodies if body.name not in placed)
                body.segment = self._free(body)
                placed.add(body.name)
                continue
            left.remove(joint)
            forward = joint.a in placed
            parent, child = (joint.a, joint.b) if forward else (joint.b, joint.a)
            body = by_name[str(child)]
            before = -1 if parent == "ground" else by_name[str(parent)].segment
            body.segment = self._join(joint, forward, before)
            placed.add(body.name)
        if left:
            raise ModelError(
                f'Joint "{left[0].name}" closes a loop, and rule = "hamiltonian" is for trees', owner=self.owner,
                remedy=_REMEDY,
            )  # fmt: skip

    def _check_joint(self, said: Joint) -> None:
        known = _PLANE if self._plane else _MOTIONS
        if said.kind not in known:
            self._refuse(f'Joint "{said.name}"', f'it knows joints of type {", ".join(known)}, not "{said.kind}"')
        if said.breaks_at is not None or said.breaks_at_moment is not None:
            self._refuse(f'Joint "{said.name}"', "it has no forces of joints, at which one might break")
        if self.compiled.model.joints[said.name].driven:
            self._refuse(f'Joint "{said.name}"', "it knows no joints that functions drive")
        for place in (said.a, said.b):
            if place != "ground" and place not in self.compiled.model.bodies:
                self._refuse(f'Joint "{said.name}"', f'"{place}" is no rigid body')

    def _free(self, body: Body) -> int:
        motions = _FREE_PLANE if self._plane else _FREE
        before = -1
        for i, (axis, slides, _) in enumerate(motions):
            middle = not self._plane and i == 4
            point = np.zeros(3)
            self.segments.append(Segment(before, slides, _unit(axis), None, point, body.node, ("", ""), 1.0, middle))
            before = len(self.segments) - 1
        return before

    def _join(self, said: Joint, forward: bool, before: int) -> int:
        """Add the segments of a joint behind one; return the last, which carries the body."""
        building = self.compiled.model.building
        motions = (_PLANE if self._plane else _MOTIONS)[said.kind]
        a, b = (None if p == "ground" else self.compiled.model.bodies[p].node for p in (said.a, said.b))
        # Turns are about the point of b, wherever it has slid to.
        point = self._local(
            building.vector(said.point if said.point_b is None else said.point_b, self.owner, "point"), b
        )
        turns = [i for i, (axis, slides, _) in enumerate(motions) if not slides and axis in "xyz"]
        for i, (axis, slides, key) in [*enumerate(motions)][:: 1 if forward else -1]:
            vector, of = self._direction(said, axis, a, b)
            middle, sign = len(turns) == 3 and i == turns[1], 1.0 if forward else -1.0
            self.segments.append(Segment(before, slides, vector, of, point, b, (said.name, key), sign, middle))
            before = len(self.segments) - 1
        return before

    def _direction(self, said: Joint, axis: str, a: int | None, b: int | None) -> tuple[np.ndarray, int | None]:
        """Return a direction in the axes of a body, and the node of it (None: the ground)."""
        building = self.compiled.model.building
        if axis in "xyz":
            return _unit(axis), None
        if axis == "axis_b":
            return self._turned(building.axis(said.axis_b, self.owner, "axis_b"), b), b
        if self._plane:
            return self._turned(_space(building.axis(said.axis, self.owner)), a), a
        triad = building.triad(self.owner, said.axis)
        return self._turned(triad[:, ("u", "v", "axis").index(axis)], a), a

    def _start(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """Return place (3,) and axes (3, 3) of a node where the model has it."""
        nodes = self.compiled.system.nodes
        if self._plane:
            return _space(nodes.x[node]), _about_z(float(nodes.rotation[node]))
        return nodes.x[node], nodes.rotation[node]

    def _turned(self, vector: np.ndarray, node: int | None) -> np.ndarray:
        return vector if node is None else self._start(node)[1].T @ vector

    def _local(self, point: np.ndarray, node: int | None) -> np.ndarray:
        """Return a global point of the start in the axes of a body, from its node (None: the ground)."""
        point = _space(point) if self._plane else point
        if node is None:
            return point
        x, axes = self._start(node)
        return axes.T @ (point - x)

    def _stretch(self) -> None:
        """Find the segments of the springs."""
        of = {segment.coordinate: i for i, segment in enumerate(self.segments)}
        model, system = self.compiled.model, self.compiled.system
        for said in model.specifications:
            if not isinstance(said, JointSpring):
                continue
            key = said.coordinate or next(iter(model.joints[said.joint].coordinates))
            for block, first in find_group(system, said.name):
                if block.type.name not in ("torsion2", "torsion3", "slide2", "slide3"):
                    self._refuse(f'Joint spring "{said.name}"', "it knows linear springs and dampers")
                number = next(i for i, other in enumerate(system.blocks) if other is block)
                self.springs.append(Spring(of[said.joint, key], number, first))

    # --- in a state --------------------------------------------------------------------------------------------------
    def frames(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """Return places (nb, 3) and axes (nb, 3, 3) of the bodies."""
        places, axes = np.zeros((len(self.bodies), 3)), np.zeros((len(self.bodies), 3, 3))
        dimension = 2 if self._plane else 3
        for i, (at, _, row) in enumerate(self.dofs()):
            places[i, :dimension] = state.Q[0, at : at + dimension]
            d = state.D[0, row]
            axes[i] = [[d[0], -d[1], 0.0], [d[1], d[0], 0.0], [0.0, 0.0, 1.0]] if self._plane else d.reshape(3, 3)
        return places, axes

    def dofs(self) -> Iterator[tuple[int, int, int]]:
        """Yield the first position dof, the first rotation dof and the row of the directors of each body."""
        system = self.compiled.system
        rows = {int(first): i for i, first in enumerate(system.system.rotations[:, 0])}
        for body in self.bodies:
            at = int(system.offset[body.node])
            turn = at + self.compiled.model.dimension
            yield at, turn, rows[turn]

    def speeds(self, state: State, axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return velocities and angular velocities (nb, 3) of the bodies, whose axes (nb, 3, 3) are given."""
        velocities, spins = np.zeros((len(self.bodies), 3)), np.zeros((len(self.bodies), 3))
        dimension = 2 if self._plane else 3
        for i, (at, turn, _) in enumerate(self.dofs()):
            velocities[i, :dimension] = state.V[0, at : at + dimension]
            if self._plane:
                spins[i, 2] = state.V[0, turn]
            else:
                spins[i] = axes[i] @ state.V[0, turn : turn + 3]
        return velocities, spins

    def chain(self, state: State, gravity: np.ndarray, stretches: Sequence[float]) -> tuple[Chain, np.ndarray]:
        """Return the segments where a state has them, all coordinates zero, and the global hinges (n, 3) [m].

        Args:
            gravity: (3,) [m/s^2].
            stretches: coordinate of each spring as its element measures it [rad] or [m].
        """
        n = len(self.segments)
        x, R = self.frames(state)
        of = {body.node: i for i, body in enumerate(self.bodies)}
        hinges, axis, arm = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3))
        for k, segment in enumerate(self.segments):
            i = None if segment.point_of is None else of[segment.point_of]
            hinges[k] = segment.point if i is None else x[i] + R[i] @ segment.point
            arm[k] = hinges[k] - (0.0 if segment.before < 0 else hinges[segment.before])
            axis[k] = segment.axis if segment.axis_of is None else R[of[segment.axis_of]] @ segment.axis
        mass, centre, inertia = self._masses(x, R, hinges)
        stiffness, free, damping = self._spring_columns(stretches)
        chain = Chain(
            np.array([s.before for s in self.segments], np.int64),
            np.array([s.slides for s in self.segments], np.int64),
            axis, arm, mass, centre, inertia.reshape(n, 9), stiffness, free, damping,
            self._cyclic(axis, gravity, stiffness), gravity,
        )  # fmt: skip
        return chain, hinges

    def _masses(self, x: np.ndarray, R: np.ndarray, hinges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return masses (n,), mass centres from the hinges (n, 3) and inertias (n, 3, 3) of the segments, in global
        axes."""
        n = len(self.segments)
        mass, centre, inertia = np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3, 3))
        for body, place in zip(self.bodies, x, strict=True):
            if body.segment >= 0:
                mass[body.segment] += body.mass
                centre[body.segment] += body.mass * (place - hinges[body.segment])
        heavy = mass > 0.0
        centre[heavy] /= mass[heavy, None]
        for body, place, axes in zip(self.bodies, x, R, strict=True):
            k = body.segment
            if k >= 0:
                d = place - hinges[k] - centre[k]
                inertia[k] += axes @ body.inertia @ axes.T + body.mass * (d @ d * np.eye(3) - np.outer(d, d))
        return mass, centre, inertia

    def _spring_columns(self, stretches: Sequence[float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return stiffness, coordinate without force and damping (n,) of the springs on each segment."""
        stiffness, pull, damping = np.zeros((3, len(self.segments)))
        for spring, stretch in zip(self.springs, stretches, strict=True):
            block, k = self.compiled.system.blocks[spring.block], spring.segment
            own = block.par[spring.element]
            stiffness[k] += own[0]
            damping[k] += own[1]
            pull[k] += own[0] * self.segments[k].sign * (own[FREE] - stretch)
        free = np.divide(pull, stiffness, out=np.zeros_like(pull), where=stiffness != 0.0)
        return stiffness, free, damping

    def _cyclic(self, axis: np.ndarray, gravity: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
        """Return (n,) int64, 1: neither weight nor springs nor the kinetic energy depend on the coordinate."""
        found = np.zeros(len(self.segments), np.int64)
        heavy = np.linalg.norm(gravity)
        for k, segment in enumerate(self.segments):
            slid, b = True, segment.before
            while b >= 0:
                slid, b = slid and self.segments[b].slides, self.segments[b].before
            if segment.slides:
                still = slid and abs(axis[k] @ gravity) <= 1e-15 * heavy
            else:
                still = segment.before < 0 and np.linalg.norm(np.cross(axis[k], gravity)) <= 1e-15 * heavy
            found[k] = still and stiffness[k] == 0.0
        return found


def _space(vector: Any) -> np.ndarray:
    """Return a vector of the plane (2,) in space (3,)."""
    return np.array([vector[0], vector[1], 0.0])


def _unit(axis: str) -> np.ndarray:
    return np.eye(3)["xyz".index(axis)]


def _about_z(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
