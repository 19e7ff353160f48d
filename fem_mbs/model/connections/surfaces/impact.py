"""Blows with restitution and unilateral contact of rigid surfaces, an alternative to contact forces."""

from __future__ import annotations

import numpy as np

from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import NUMBER, TEXT
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.surfaces.pairs import TouchingPairs

__all__ = ["RESTITUTION_LAWS", "Impact"]

#: Laws of blows, in the order of `fem_mbs.analysis.blows.laws.LAWS`.
RESTITUTION_LAWS = ("poisson", "stronge", "newton")


@dataclass(frozen=True, eq=False)
class Impact(TouchingPairs):
    """Blows with restitution between balls or points and surfaces, and rigid contact after them, in transients.

    Add an impact: the nodes of b are balls (or points), a carries a surface that moves with it, as of ``contact``.

    Where a gap closes, the velocities of the whole model jump: joints and flexible parts take part by their masses and
    constraints, and the loss is booked as dissipated. Blows that follow each other ever faster end in contact without
    deformation, which slides or sticks and opens when its force would pull. The gap is looked at at the ends of steps,
    so these must be short against the time between blows. The summary lists all blows. For the steps of the rules
    "midpoint" and "decaying" of transients; other steps refuse the model.

    Args:
        a: what carries the surface; of several nodes each carries one.  Where a and b are the same place, its balls
            touch each other, each pair once.
        surface: as of ``contact``: "plane", "sphere", "cylinder", "capsule", "box" or "triangles".
        point: a point of the plane, the centre of other surfaces, the origin of triangles, in global coordinates of the
            start.
        inside: the balls are in a hollow sphere, a bore or a hollow capsule.
        ball: radius of the balls.
        restitution: coefficient e in 0 .. 1; 0: no separation, 1: no loss without friction.
        coefficient: of friction in blows and in contact.
        static: coefficient up to which what touches does not begin to slip.
        tangential: coefficient e_t of tangential restitution in 0 .. 1: if friction is large enough to stick, the slip
            after the blow is -e_t times that before it (superball: near 1).
        law: "poisson" (the impulse of restitution is e times that of compression, and slip may end, stick and reverse
            within the blow), "stronge" (likewise, with e^2 of the work) or "newton" (v_n+ = -e v_n-, and one direction
            of slip; with friction it may gain energy). Without friction they are the same for one blow at a time.
        least_speed: speed of separation below which a blow ends in contact; 0: found from the step.
    """

    owner = "Impact"
    overlap_remedy = "move them apart: rigid surfaces do not overlap"

    restitution: float = key(NUMBER, "coefficient of restitution", kw_only=True)
    law: str = key(TEXT, "of what restitution says with friction", "poisson", choices=RESTITUTION_LAWS, kw_only=True)
    coefficient: float = key(NUMBER, "of friction", 0.0, kw_only=True)
    static: float | None = key(NUMBER, "coefficient of sticking", None, shows="coefficient", kw_only=True)
    tangential: float = key(NUMBER, "coefficient of tangential restitution", 0.0, kw_only=True)
    least_speed: float = key(NUMBER, "separation below it ends in contact", 0.0, kw_only=True, unit="m/s")

    def build(self, building: Building) -> None:
        owner = building.label("Impact", self.name)
        e = building.number(self.restitution, owner, "restitution")
        if not 0.0 <= e <= 1.0:
            why = "would gain energy" if e > 1.0 else "would keep a ball in the surface"
            raise ModelError(
                f"restitution = {e:g} {why}", owner=owner, key="restitution", value=e,
                remedy="take a number between 0 and 1",
            )  # fmt: skip
        mu = building.number(self.coefficient, owner, "coefficient", 0.0)
        static = mu if self.static is None else building.number(self.static, owner, "static", 0.0)
        if static < mu:
            raise ModelError(
                f"static = {static:g} is below coefficient = {mu:g}", owner=owner, key="static", value=static,
                remedy="take a greater one, or leave it out",
            )  # fmt: skip
        back = building.number(self.tangential, owner, "tangential", 0.0)
        if back > 1.0:
            raise ModelError(
                f"tangential = {back:g} would gain energy", owner=owner, key="tangential", value=back,
                remedy="take a number between 0 and 1",
            )  # fmt: skip
        if back and not static:
            raise ModelError(
                f"tangential = {back:g} needs friction, which gives slip back", owner=owner, key="tangential",
                value=back, remedy="give coefficient",
            )  # fmt: skip
        columns = {
            "restitution": e, "restitution law": float(RESTITUTION_LAWS.index(self.law)),
            "least speed": building.number(self.least_speed, owner, "least_speed", 0.0), "coefficient": mu,
            "static coefficient": static, "tangential restitution": back,
        }  # fmt: skip
        self.add_pairs(building, owner, ("impact", "mesh_impact3"), columns, np.zeros(0), static > 0.0)
