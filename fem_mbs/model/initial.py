"""Declarations of how a machine begins: closing of joints, initial velocities and speeds, running starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import NUMBER, PLACE, PLACES, SPIN, TEXT, VECTOR, VELOCITY, shown
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.expressions import compile_expression
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.joint_parts import component_number
from fem_mbs.model.records import Assembling, InitialSpeed, InitialVelocity, RunningStart
from fem_mbs.system.blocks import GROUND

__all__ = ["Assembly", "Initial", "Running", "StartSpeed"]


@dataclass(frozen=True, eq=False)
class Assembly(Declaration):
    """Asks that joints which stand open be closed before the first step, by the least change of positions and
    rotations, weighted with the masses. Parts of elements keep their shape; displacements, rotations and joint
    coordinates count from the given positions.

    Before the first step, close open joints and move driven coordinates to the start values of their functions,
    by the least change of positions and rotations (weighted with masses and inertias).

    Parts of elements keep the shape that the model gives them and move as rigidly as they can; displacements,
    rotations and joint coordinates count from the given positions.  Call it before joints between nodes that stand
    apart.

    Args:
        hold: a place, or a list of places, that must not move beside what supports hold.
    """

    owner = "Assembly"

    hold: Any = key(PLACES, "what must not move, beside what supports hold", None, shows="none")

    def build(self, building: Building) -> None:
        if building.assembling is not None:
            raise ModelError("it has been asked for already", owner=Owner("Assembly"), remedy="keep one")
        places = (self.hold,) if isinstance(self.hold, str) else tuple(self.hold or ())
        building.assembling = Assembling(places)


@dataclass(frozen=True, eq=False)
class Initial(Declaration):
    """Velocities at the start; several tables add up.

    Set velocities at the start: a rigid motion of the whole model, or of a place; later calls add to earlier
    ones.

    Args:
        velocity: (dimension,) numbers [m/s], or expressions of x, y, z.
        spin: angular velocity [rad/s]: plane: a number or an expression; space: (3,) numbers.
        centre: with it, the nodes also turn about this point: v += spin x (x - centre).
        method: how velocities are made consistent with joints, motions and given speeds: "strain-free" (least
            strain rates), "projection" (mass-weighted), "given" (as they are; an error if they are not consistent),
            "auto" (strain-free where only joints, motions and given speeds move the model, else projection).
    """

    owner = "Initial velocity"

    on: Any = key(PLACES, "nodes that get the velocity", "all")
    velocity: Any = key(VELOCITY, "expressions of x, y, z of the start", None, shows="none", unit="m/s")
    spin: Any = key(SPIN, "angular velocity; plane: also an expression of x, y", None, shows="none", unit="rad/s")
    centre: Any = key(VECTOR, "point about which the spin turns the nodes", None, shows="nodes spin in place", unit="m")
    method: str | None = key(
        TEXT,
        'how velocities are made to fit joints and motions: "strain-free", "projection", "given" or "auto"',
        None,
        shows='"auto"',
        choices=("auto", "strain-free", "projection", "given"),
    )

    def build(self, building: Building) -> None:
        owner = Owner("Initial velocity")
        if self.method is not None:
            if building.initial_method not in ("auto", self.method):
                raise ModelError(
                    f'method = "{self.method}", but another one says "{building.initial_method}"', owner=owner,
                    key="method", value=self.method, remedy="give one method for all",
                )  # fmt: skip
            building.initial_method = self.method
        if self.centre is not None and self.spin is None:
            raise ModelError("centre belongs to a spin", owner=owner, key="centre", remedy="add spin, or remove it")
        if self.velocity is None and self.spin is None:
            if self.on != "all" or self.method is None:
                raise ModelError("it gives no velocity", owner=owner, remedy="add velocity or spin, or remove it")
            return
        nodes = building.each_of(self.on, owner, frames=True)
        x = building.positions[nodes]
        columns = {c: x[:, i] for i, c in enumerate("xyz"[: building.dimension])}

        def evaluate(value, key):
            if isinstance(value, str):
                v = compile_expression(value, tuple(columns))(*columns.values())
                v = np.broadcast_to(np.asarray(v, float), len(nodes)).copy()
                if not np.isfinite(v).all():
                    bad = building.node_name(int(nodes[np.flatnonzero(~np.isfinite(v))[0]]))
                    raise ModelError(
                        f'{key} = {shown(value)} is not finite at node "{bad}"', owner=owner, key=key, value=value
                    )
                return v
            return np.full(len(nodes), building.number(value, owner, key))

        v = np.zeros((len(nodes), building.dimension))
        if self.velocity is not None:
            if (
                isinstance(self.velocity, str)
                or np.ndim(self.velocity) != 1
                or len(self.velocity) != building.dimension
            ):
                raise ModelError(
                    f"velocity = {shown(self.velocity)} must be {building.dimension} numbers or expressions",
                    owner=owner,
                    key="velocity",
                    value=self.velocity,
                )
            v = np.column_stack([evaluate(c, "velocity") for c in self.velocity])
        if building.dimension == 2:
            w = np.zeros(len(nodes)) if self.spin is None else evaluate(self.spin, "spin")
            if self.centre is not None:
                arm = x - building.vector(self.centre, owner, "centre")
                v = v + w[:, None] * np.column_stack((-arm[:, 1], arm[:, 0]))
        else:
            w = np.zeros((len(nodes), 3)) + (0.0 if self.spin is None else building.vector(self.spin, owner, "spin"))
            if self.centre is not None:
                v = v + np.cross(w, x - building.vector(self.centre, owner, "centre"))
        building.initial_velocities.append(InitialVelocity(nodes, v, w, self.centre is not None))


@dataclass(frozen=True, eq=False)
class StartSpeed(Declaration):
    """Given speeds at the start, as of a joint.

    Set the speed of one coordinate at the start; everything else follows from joints, motions and `initial`.

    Args:
        component: "x", "y", "z" [m/s] or "rotation" [rad/s].
        against: for "rotation": the place that the rotation is counted from, as in the joint between the two.
        axis: for "rotation" in space.
    """

    owner = "Initial speed"

    on: str | int = key(PLACE, "node or body")
    component: str = key(TEXT, '"x", "y", "z" or "rotation"')
    value: float = key(NUMBER, "speed", unit="m/s or rad/s")
    against: str = key(PLACE, "for a rotation: the part that it is counted from", "ground")
    axis: Any = key(VECTOR, "for a rotation in space: its axis", None, shows="required in space")

    def build(self, building: Building) -> None:
        value = self.value
        owner = Owner("Initial speed", self.on, "of")
        value = building.number(value, owner, "value")
        if self.component != "rotation":
            k = component_number(building, owner, self.component)
            if self.against != "ground" or self.axis is not None:
                raise ModelError(
                    'against and axis belong to the component "rotation"', owner=owner, remedy="remove them"
                )
            building.initial_speeds.append(
                InitialSpeed(self.on, building.node_of(self.on, owner, frames=True), k, None, GROUND, value)
            )
            return
        node, other = (building.turning_node(place, owner, frames=True) for place in (self.on, self.against))
        if node == other:
            raise ModelError(
                f'"{self.on}" does not turn against itself', owner=owner, remedy="name another place in against"
            )
        if building.dimension == 2:
            direction = np.array([1.0])
        elif self.axis is None:
            raise ModelError("in space a rotation needs its axis", owner=owner, remedy="add axis = [...]")
        else:
            direction = building.axis(self.axis, owner)
        building.initial_speeds.append(InitialSpeed(self.on, node, None, direction, other, value))


@dataclass(frozen=True, eq=False)
class Running(Declaration):
    """Vehicles that run at the start: velocities of all their parts, and spins of wheels that roll without slip.

    Start with a mechanism that runs: everything that joints, couplings and springs connect to a body gets the velocity
    of that body, as a rigid motion, and wheels get the spins with which they roll.

    The body moves as given.  Tyres have no longitudinal slip; joints, gears, curves that roll and motions hold.  All
    else departs least from the rigid motion: first in its strain rates, then in its velocities, weighted with the
    masses.  So suspensions are at rest, and shafts, gears and engines turn with the wheels.  Parts that only the ground
    connects do not belong to the mechanism.  `initial` velocities are added before.

    Args:
        on: a body of the mechanism, or a node with rotations.
        velocity: (dimension,) numbers, of the body, or with a centre of the point there.
        spin: angular velocity: plane: a number; space: (3,) numbers.
        centre: point about which the mechanism turns with the spin; None: the place of the body at the start.
    """

    owner = "Running"

    on: Any = key(PLACE, "a body of the mechanism, which moves as given")
    velocity: Any = key(VECTOR, "of the body", unit="m/s")
    spin: Any = key(SPIN, "angular velocity of the mechanism, as in a curve", None, shows="none", unit="rad/s")
    centre: Any = key(VECTOR, "point about which the spin turns", None, shows="the body", unit="m")

    def build(self, building: Building) -> None:
        owner = Owner("Running", self.on)
        node = building.node_of(self.on, owner, frames=True)
        building.turning_node(self.on, owner, frames=True)
        velocity = building.vector(self.velocity, owner, "velocity")
        if building.dimension == 2:
            spin = np.array([0.0 if self.spin is None else building.number(self.spin, owner, "spin")])
        else:
            spin = np.zeros(3) if self.spin is None else building.vector(self.spin, owner, "spin")
        if self.centre is not None and not spin.any():
            raise ModelError(
                f"centre = {shown(self.centre)} belongs to a spin", owner=owner, key="centre", value=self.centre,
                remedy="add spin",
            )  # fmt: skip
        centre = None if self.centre is None else building.vector(self.centre, owner, "centre")
        building.runnings.append(RunningStart(str(self.on), node, velocity, spin, centre))
