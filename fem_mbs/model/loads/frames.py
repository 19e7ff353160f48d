"""Moving frames: centrifugal loads, and base excitation of supports."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import FLAG, FUNCTION, NAME, PLACES, VECTOR, shown
from fem_mbs.elements.registry import element_type
from fem_mbs.elements.solids import condensed as solid_condensed
from fem_mbs.elements.solids import mass as solid_mass
from fem_mbs.elements.solids.centrifugal import centrifugal_parameters
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.kinds import make_function
from fem_mbs.functions.laws import DoubleIntegral, TimeFunction
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.system.blocks import GROUND, Block, make_block
from fem_mbs.system.inertia_coordinates import constant_mass

__all__ = ["BaseExcitation", "Centrifugal", "centrifugal_blocks", "shake"]


@dataclass(frozen=True)
class Rotating:
    """A frame that turns about an axis; ``function`` is the index of the square of its speed, ``law`` the speed;
    ``spin``: transients start with this rotation."""

    name: str
    axis: np.ndarray
    point: np.ndarray
    function: int
    law: TimeFunction
    spin: bool


@dataclass(frozen=True)
class Shaking:
    """Supports that move: nodes (None: all that are held), and per component the index of its function."""

    name: str
    nodes: np.ndarray | None
    functions: dict[int, int]


#: What would have to move along with the ground, by the first part of the names of the element types.
_PLACED = ("point", "position", "offset", "slide", "spring", "bearing")


def centrifugal_blocks(building: Building, blocks: list[Block]) -> list[Block]:
    """Return one block of centrifugal elements per inertia block."""
    frame, dim = building.rotating, building.dimension
    if frame is None:
        return []
    made = []
    columns = {"function": float(frame.function)}
    columns |= {f"c{c}": v for c, v in zip("xyz", frame.point, strict=False)}
    columns |= {f"n{c}": v for c, v in zip("xyz", frame.axis, strict=False)}
    for block in blocks:
        if block.type.name in solid_mass.TYPES or block.type.name in solid_condensed.TYPES:
            axis = frame.axis if len(frame.axis) else np.zeros(dim)
            par = centrifugal_parameters(
                solid_mass.masses_of(block.par, block.type.ends), axis, frame.point, float(frame.function)
            )
            kind = f"{'solid' if dim == 3 else 'plane'}_centrifugal_{block.type.name.split('_')[-1]}"
            made.append(Block([(frame.name, 0, block.size)], element_type(kind), block.nodes, par))
            continue
        if dim == 2 and len(frame.axis) and block.type.inertia:
            raise ModelError(
                f'it is about the axis of the axisymmetric parts, which cannot turn the mass of "{block.label(0)}"',
                owner=Owner("Centrifugal load", frame.name),
                remedy="remove that",
            )
        found = constant_mass(block)
        if found is None:
            continue
        nodes, M, axes = found
        size = M.shape[1]
        entries = {f"M{i + 1}{j + 1}": M[:, i, j] for i in range(size) for j in range(i, size)}
        if dim == 2:
            entries |= {"ex": axes[:, 0], "ey": axes[:, 1]}
        made.append(make_block(frame.name, f"centrifugal{dim}", nodes, **columns, **entries))
        made[-1].along = block.along
    if not made:
        raise ModelError(
            "the model has no mass for it to act on",
            owner=Owner("Centrifugal load", frame.name),
            remedy="give densities or masses",
        )
    return made


def shake(
    building: Building, fixed: list[tuple[int, int]]
) -> tuple[list[tuple[int, int]], list[tuple[int, int, int, Owner]]]:
    """Return the fixed dofs without those of base excitations, and the driven dofs that replace them."""
    driven: list[tuple[int, int, int, Owner]] = []
    moved_by: dict[tuple[int, int], str] = {}
    for base in building.shakings:
        owner = Owner("Base excitation", base.name)
        if base.nodes is None:
            _refuse_grounded(building, owner)
        among = None if base.nodes is None else set(base.nodes.tolist())
        moved = [(i, k) for i, k in dict.fromkeys(fixed) if k in base.functions and (among is None or i in among)]
        if not moved:
            raise ModelError(
                "no support holds a position in this direction", owner=owner, remedy="add one, or change direction"
            )
        for i, k in moved:
            if (i, k) in moved_by:
                raise ModelError(
                    f'node "{building.node_name(i)}" is moved in {"xyz"[k]} by "{moved_by[i, k]}" already',
                    owner=owner,
                    remedy="keep one of them, with the sum of both",
                )
            moved_by[i, k] = base.name
            driven.append((i, k, base.functions[k], owner))
    return [entry for entry in fixed if entry not in moved_by], driven


def _refuse_grounded(building: Building, owner: str) -> None:
    """Refuse ties to the ground in models whose supports all move."""
    for block in building.blocks:
        if not block.type.name.startswith(_PLACED):
            continue
        grounded = (block.nodes == GROUND).any(axis=1) | (block.type.ends == 1)
        if grounded.any():
            raise ModelError(
                f'"{block.label(int(np.argmax(grounded)))}" ends at the ground, which does not move along',
                owner=owner,
                remedy="let it end at a node that a support holds, or name the places that move (on)",
            )


@dataclass(frozen=True, eq=False)
class Centrifugal(Declaration):
    """Centrifugal forces in a frame that turns at constant speed, for static, modal and buckling steps, or to trim a
    rotor whose transient follows.

    Add centrifugal forces on every mass of the model, seen from a frame that turns at constant speed.

    For static, modal and buckling steps; the load factor multiplies the force, so the square of the speed.
    Coriolis forces are not among them: modes are right for motions that the spin does not couple, such as flapping.
    With ``spin`` a transient may follow a static step: the forces then end, and the model starts from its
    equilibrium with the velocities of the rotation, omega x r, which goes on steadily (docs/theory.md, section 3).

    Args:
        speed: [rad/s], a number or a function of time.
        axis: in space the direction of the axis; in the plane the axis is across it, and that of axisymmetric parts
            (given before) is y.
        point: of the axis, (dimension,); None: the origin.
        spin: the whole model turns at the start of the first transient; its joints and motions must allow it.
    """

    owner = "Centrifugal load"

    name: str = key(NAME, "in messages and results", shows='"centrifugal 1", ...')
    speed: Any = key(FUNCTION, "of the turning frame; the load factor multiplies its square", unit="rad/s")
    axis: Any = key(VECTOR, "space: direction of the axis", None)
    point: Any = key(VECTOR, "of the axis", None, shows="origin", unit="m")
    spin: bool = key(FLAG, "a transient after a static step starts with this rotation, which goes on steadily", False)

    def build(self, building: Building) -> None:
        owner = building.label("Centrifugal load", self.name)
        if building.rotating is not None:
            raise ModelError(
                f'the frame turns by "{building.rotating.name}" already',
                owner=owner,
                remedy="a model has one speed and axis, remove one",
            )
        if building.dimension == 2:
            direction = np.zeros(0)
            rings = {group.state == "axisymmetric" for group in building.solid_groups.values()}
            if rings == {True}:
                direction = np.array([0.0, 1.0])
                if self.axis is not None and not np.array_equal(np.abs(self.axis), direction):
                    raise ModelError(
                        f"axis = {shown(self.axis)}: axisymmetric parts turn about y",
                        owner=owner,
                        key="axis",
                        value=self.axis,
                        remedy="remove axis",
                    )
                if self.spin:
                    raise ModelError("axisymmetric parts do not turn in transients", owner=owner, remedy="remove spin")
                if self.point is not None:
                    raise ModelError(
                        "axisymmetric parts turn about their axis, x = 0", owner=owner, remedy="remove point"
                    )
            elif True in rings:
                raise ModelError(
                    "axisymmetric and other parts turn about different axes", owner=owner, remedy="remove one of them"
                )
            elif self.axis is not None:
                raise ModelError("in the plane the axis is across it", owner=owner, remedy="remove axis")
        else:
            direction = building.axis(self.axis, owner)
        place = np.zeros(building.dimension) if self.point is None else building.vector(self.point, owner, "point")
        law = make_function(self.speed, owner=owner, functions=building.functions)
        squared = make_function({"kind": "product", "functions": [law, law]}, owner=owner, functions=building.functions)
        building.rotating = Rotating(
            self.name, direction, place, building.function_index(squared, owner, load=True), law, bool(self.spin)
        )


@dataclass(frozen=True, eq=False)
class BaseExcitation(Declaration):
    """Supports that move together.

    Move held positions together: direction * s(t), in inertial coordinates.

    Args:
        direction: (dimension,), of any length: a factor on s.
        displacement: s [m], a function that starts at 0.  Where it starts with a speed, the model starts with it too;
            with ``initial(method="given")`` a transient starts from rest, and the supports jerk it.
        acceleration: s'' [m/s^2] instead; s and s' start at 0.
        on: places whose held positions move; None: all supports.
    """

    owner = "Base excitation"

    name: str = key(NAME, "in messages and results", shows='"base excitation 1", ...')
    direction: Any = key(VECTOR, "factors on the movement, by axis")
    displacement: Any = key(
        FUNCTION,
        "starts at zero; where it starts with a speed, the model has this too (with `[[initial]]`, "
        '`method = "given"`, a transient starts from rest)',
        None,
        unit="m",
    )
    acceleration: Any = key(FUNCTION, "instead of displacement; starts at rest", None, unit="m/s^2")
    on: Any = key(PLACES, "whose held positions move", None, shows="all supports")

    def build(self, building: Building) -> None:
        direction = self.direction
        owner = building.label("Base excitation", self.name)
        direction = building.vector(direction, owner, "direction")
        if not direction.any():
            raise ModelError(f"direction {tuple(direction.tolist())} has no length", owner=owner)
        if (self.displacement is None) == (self.acceleration is None):
            raise ModelError("give either displacement or acceleration", owner=owner)
        spec = self.displacement if self.acceleration is None else self.acceleration
        law = make_function(spec, owner=owner, functions=building.functions)
        if self.acceleration is not None:
            law = DoubleIntegral(law)
        functions = {}
        for k in np.flatnonzero(direction):
            part = make_function({"kind": "scaled", "function": law, "factor": float(direction[k])}, owner=owner)
            functions[int(k)] = building.function_index(part, owner, load=False)
        nodes = None if self.on is None else building.nodes_of(self.on, owner)
        building.shakings.append(Shaking(self.name, nodes, functions))
