"""Declaration of a running start: a mechanism that moves as a whole, while its wheels roll."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import PLACE, SPIN, VECTOR, shown
from fem_mbs.errors import ModelError, Owner
from fem_mbs.model.building import Building
from fem_mbs.model.records import RunningStart

__all__ = ["Running"]


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
