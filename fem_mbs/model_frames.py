"""Frames that turn or shake: centrifugal loads, and supports that move together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fem_mbs.assembly import GROUND, Block, make_block
from fem_mbs.errors import ModelError
from fem_mbs.functions import DoubleIntegral, make_function
from fem_mbs.inertia_coordinates import constant_mass
from fem_mbs.model_base import ModelBase

__all__ = ["Frames"]


@dataclass(frozen=True)
class _Turning:
    """A frame that turns about an axis; ``function`` is the index of the square of its speed."""

    name: str
    axis: np.ndarray
    point: np.ndarray
    function: int


@dataclass(frozen=True)
class _Shaking:
    """Supports that move: nodes (None: all that are held), and per component the index of its function."""

    name: str
    nodes: np.ndarray | None
    functions: dict[int, int]


class Frames(ModelBase):
    """Centrifugal loads and base excitation."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self._turning_frames: list[_Turning] = []
        self._shaken: list[_Shaking] = []

    def centrifugal(self, name: str, speed, axis=None, point=None) -> None:
        """Centrifugal forces on every mass of the model, seen from a frame that turns at constant speed.

        For static, modal and buckling steps; the load factor multiplies the force, so the square of the speed.

        Args:
            speed: [rad/s], a number or a function of time.
            axis: in space the direction of the axis; in the plane the axis is across it.
            point: of the axis, (dimension,); None: the origin.
        """
        owner = self._label("Centrifugal load", name)
        if self.dimension == 2:
            if axis is not None:
                raise ModelError(f"{owner}: in the plane the axis is across it; remove axis")
            direction = np.zeros(0)
        else:
            direction = self._axis(axis, owner)
        place = np.zeros(self.dimension) if point is None else self._vector(point, owner, "point")
        law = make_function(speed, name=owner, functions=self.functions)
        squared = make_function({"kind": "product", "functions": [law, law]}, name=owner, functions=self.functions)
        self._turning_frames.append(_Turning(name, direction, place, self._function(squared, owner, load=True)))

    def base_excitation(self, name: str, direction, displacement=None, acceleration=None, on=None) -> None:
        """Held positions that move together: direction * s(t), in inertial coordinates.

        Args:
            direction: (dimension,), of any length: a factor on s.
            displacement: s [m], a function that starts at 0.
            acceleration: s'' [m/s^2] instead; s and s' start at 0.
            on: places whose held positions move; None: all supports.
        """
        owner = self._label("Base excitation", name)
        direction = self._vector(direction, owner, "direction")
        if not direction.any():
            raise ModelError(f"{owner}: direction {tuple(direction.tolist())} has no length")
        if (displacement is None) == (acceleration is None):
            raise ModelError(f"{owner}: give either displacement or acceleration")
        spec = displacement if acceleration is None else acceleration
        law = make_function(spec, name=owner, functions=self.functions)
        if acceleration is not None:
            law = DoubleIntegral(law)
        functions = {}
        for k in np.flatnonzero(direction):
            part = make_function({"kind": "scaled", "function": law, "factor": float(direction[k])}, name=owner)
            functions[int(k)] = self._function(part, owner, load=False)
        nodes = None if on is None else self.nodes_of(on, owner)
        self._shaken.append(_Shaking(name, nodes, functions))

    # --- to arrays -------------------------------------------------------------------------------------------------
    def _centrifugal_blocks(self, blocks: list[Block]) -> list[Block]:
        """One block of centrifugal elements per inertia block and turning frame."""
        made = []
        dim = self.dimension
        for frame in self._turning_frames:
            columns = {"function": float(frame.function)}
            columns |= {f"c{c}": v for c, v in zip("xyz", frame.point, strict=False)}
            columns |= {f"n{c}": v for c, v in zip("xyz", frame.axis, strict=False)}
            for block in blocks:
                found = constant_mass(block)
                if found is None:
                    continue
                nodes, M, axes = found
                size = M.shape[1]
                entries = {f"M{i + 1}{j + 1}": M[:, i, j] for i in range(size) for j in range(i, size)}
                if dim == 2:
                    entries |= {"ex": axes[:, 0], "ey": axes[:, 1]}
                made.append(make_block(frame.name, f"centrifugal{dim}", nodes, **columns, **entries))
        return made

    def _shake(self, fixed: list[tuple[int, int]]) -> tuple[list[tuple[int, int]], list[tuple[int, int, int, str]]]:
        """Held dofs without those that move, and the driven ones they become."""
        driven = []
        for base in self._shaken:
            owner = f'Base excitation "{base.name}"'
            if any(b.type.multipliers and (b.nodes == GROUND).any() for b in self._blocks):
                raise ModelError(
                    f"{owner}: joints to the ground do not move with it; hold a node by a support and join to that"
                )
            among = None if base.nodes is None else set(base.nodes.tolist())
            moved = [(i, k) for i, k in fixed if k in base.functions and (among is None or i in among)]
            if not moved:
                raise ModelError(
                    f"{owner}: no support holds a position in this direction; add one, or change direction"
                )
            fixed = [entry for entry in fixed if entry not in set(moved)]
            driven += [(i, k, base.functions[k], base.name) for i, k in dict.fromkeys(moved)]
        return fixed, driven
