"""Shares of the matrices of a steady rotation that all speeds have in common, evaluated once.

At the same place a model that turns s times as fast has s times the velocities and s^2 times the accelerations.  Then

    M                                                                stays,
    the stiffness of elements whose forces do not depend on velocities stays,
    stiffness and damping of elements with linear forces stay,
    the share of inertia forces in C grows by s, that in K by s^2,

where inertia forces are homogeneous, of first degree in accelerations and of second degree in velocities.  That is
tested, at half the speed.  Which elements have linear forces their types say.  All others (bearings with tables,
dampers, joints, friction) are evaluated at every speed: their laws may have kinks anywhere.

Theory: docs/theory.md, section 10.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs.solvers.stepping.layout import State
from fem_mbs.system.blocks import Block
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.rate_stiffness import rate_stiffness
from fem_mbs.system.states import director_velocities
from fem_mbs.system.tangent import Level, Matrices, Tangent, velocity_dependent

__all__ = ["SteadyParts", "SteadyTangent"]

_ROUND_OFF = 1e-12  # of the largest entry, or velocity: by which what is homogeneous may differ


class SteadyParts:
    """Common part of the tangents of a model that turns steadily, at the place of the first tangent that moves.

    Attributes:
        first: that tangent; ``homogeneous``: whether its inertia forces are.
    """

    def __init__(self) -> None:
        self.first: SteadyTangent | None = None
        self.homogeneous = False

    def tangent(self, compiled: Compiled, state: State, level: Level, matrices: Matrices) -> SteadyTangent:
        """Return the tangent of the model at a state."""
        return SteadyTangent(compiled, state, level, matrices, self)

    def faster(self, at: SteadyTangent) -> float | None:
        """Return how many times as fast as the first a state turns, at its place and under its loads; None: it does
        not."""
        if self.first is None:
            return None
        one, two, a, b = self.first.state, at.state, self.first.level, at.level
        same = np.array_equal(one.Q[0], two.Q[0]) and np.array_equal(one.D[0], two.D[0])
        same &= np.array_equal(a.values, b.values) and np.array_equal(a.gravity, b.gravity)
        if not same:
            return None
        s = float(one.V[0] @ two.V[0] / (one.V[0] @ one.V[0]))
        for power, row in ((1, 0), (2, 2)):
            expected = s**power * one.V[row]
            if np.abs(two.V[row] - expected).max() > _ROUND_OFF * np.abs(expected).max():
                return None
        return s

    def begin(self, at: SteadyTangent) -> None:
        """Take the first tangent, and test its inertia forces."""
        self.first = at
        s = at.state
        half = State(*(a.copy() if name in ("Q", "D", "V", "DD") else a for name, a in zip(s._fields, s, strict=True)))
        half.V[:] *= 0.5
        half.V[2] *= 0.5
        director_velocities(at.compiled, half)
        there = Tangent(at.compiled, half, at.level, at.matrices).inertial
        self.homogeneous = all(
            abs(slow - part * fast).max() <= _ROUND_OFF * abs(fast).max()
            for slow, fast, part in zip(there, at.inertial, (0.5, 0.25), strict=True)
        )


class SteadyTangent(Tangent):
    """The linear equations of a model that turns steadily; parts known from another speed are not evaluated again.

    Args:
        parts: those that tangents have in common.
    """

    def __init__(self, compiled: Compiled, state: State, level: Level, matrices: Matrices, parts: SteadyParts):
        super().__init__(compiled, state, level, matrices)
        self.parts = parts

    @cached_property
    def known(self) -> tuple[SteadyTangent, float] | None:
        """Return the tangent that has the same parts, and how many times as fast this one is; None: there is none."""
        parts = self.parts
        if parts.first is None and bool(np.any(self.state.V[0])):
            parts.begin(self)
        s = parts.faster(self)
        return None if parts.first is None or s is None or parts.first is self else (parts.first, s)

    @cached_property
    def M(self) -> csr_matrix:
        """Return the mass (N, N), symmetric."""
        return super().M if self.known is None else self.known[0].M

    @cached_property
    def inertial(self) -> tuple[csr_matrix, csr_matrix]:
        """Return the shares (N, N) of inertia forces and weight in C and K of a moving state."""
        if self.known is None or not self.parts.homogeneous:
            return super().inertial
        (damping, stiffness), s = self.known[0].inertial, self.known[1]
        return s * damping, s**2 * stiffness

    @cached_property
    def still(self) -> csr_matrix:
        """Return the stiffness (N, N) of the elements whose forces do not depend on velocities or are linear, without
        inertia."""
        if self.known is not None:
            return self.known[0].still
        changing = self._split[1]
        return self.assemble(self.control(2.0), [b for b in self._others if all(b is not c for c in changing)])[1]

    @cached_property
    def calm(self) -> csr_matrix:
        """Return the share (N, N) in C of the elements whose forces are linear."""
        return self.damping(self._split[0]) if self.known is None else self.known[0].calm

    @property
    def _others(self) -> list[Block]:
        return [block for block in self.compiled.blocks if not block.type.inertia]

    @cached_property
    def _split(self) -> tuple[list[Block], list[Block]]:
        """Return the elements with forces that depend on velocities: linear ones, and those that change with speed."""
        linear: list[Block] = []
        changing: list[Block] = []
        for block in velocity_dependent(self._others):
            steady = block.type.linear is not None and block.type.linear(block.par)
            (linear if steady else changing).append(block)
        return linear, changing

    @cached_property
    def elastic(self) -> tuple[csr_matrix, csr_matrix]:
        """Return the shares (N, N) of all other elements in C and K of a moving state, joints and loads included."""
        changing = self._split[1]
        if not changing:
            return self.calm, self.still
        K = self.still + self.assemble(self.control(2.0), changing)[1] + rate_stiffness(self, changing)
        weight = self.weight if self.known is None else self.known[0].weight
        return self.calm + self.damping(changing, weight), K

    @cached_property
    def weight(self) -> float:
        """Return the weight of velocities with which damping is found."""
        return self.damping_weight(self._split[1])

    def release(self) -> None:
        """Free the memory of the matrices but those that other speeds have too."""
        common = {k: v for k, v in self.__dict__.items() if k in ("M", "inertial", "still", "calm")}
        super().release()
        if self.parts.first is self:
            self.__dict__.update(common)
