"""The energy of a model in given states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fem_mbs import contract as C
from fem_mbs.analysis.transient.settings import Settings
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.errors import ModelError, Owner
from fem_mbs.model.model import Model
from fem_mbs.rotations import rotation_matrices

__all__ = ["StateEnergies", "StateRecord"]

_ENERGIES = slice(C.KINETIC, C.POTENTIAL + 1)
#: Arrays of a restart point that make a state, and their names in `fem_mbs.solvers.stepping.layout.State`.
_STATE = ("Q", "D", "DD")

#: State at one time: "time" [s], and arrays by the names of restart points.
StateRecord = Mapping[str, Any]


class StateEnergies:
    """The sum of kinetic, strain and potential energy of a model, in states of a model with the same unknowns."""

    def __init__(self, model: Model) -> None:
        if model.reduced_parts:
            name = next(iter(model.reduced_parts))
            raise ModelError(
                "the coordinates of a reduced part depend on its masses and stiffnesses", owner=Owner("Part", name),
                remedy="take the part with its own elements",
            )  # fmt: skip
        compiled = model.compile()
        system = compiled.system
        self._compiled, self._state = compiled, system.initial_state()
        self._stepping = Stepping(
            system, compiled.functions, self._state, model.gravity, rule="midpoint", t0=0.0, h=1.0, settings=Settings()
        )

    def of(self, record: StateRecord) -> float:
        """Return the energy [J] in a state.

        Raises:
            ModelError: the state is that of a model with other unknowns.
        """
        state, history = self._state, self._compiled.system.system.hist
        if np.shape(record["Q"]) != state.Q[0].shape or np.shape(record["hist"]) != history.shape:
            raise ModelError(
                f"the states have {np.size(record['Q'])} coordinates, the model has {state.Q[0].size}",
                remedy="take the results of a model with the same elements, joints and nodes",
            )
        for name in _STATE:
            getattr(state, name)[0] = record[name]
        state.V[:] = record["V"]
        history[:] = record["hist"]
        now = np.array([float(record["time"])])
        return float(self._stepping.energies(self._stepping.evaluate(now, now, now)[0])[_ENERGIES].sum())

    def measured(
        self,
        time: float,
        displacement: np.ndarray,
        rotation: np.ndarray,
        velocity: np.ndarray,
        spin: np.ndarray,
    ) -> dict[str, Any]:
        """Return the state of measured motions of all nodes.

        Args:
            time: [s].
            displacement: (n, dimension) since the start of the model [m].
            rotation: since the start: space (n, 3), axis times angle; plane (n,) [rad].
            velocity: (n, dimension) [m/s].
            spin: global angular velocities (n, 3), in the plane (n,) [rad/s].
        """
        system, dimension = self._compiled.system, self._compiled.model.dimension
        fresh = system.initial_state()
        n = len(system.nodes.x)
        for i in range(dimension):
            fresh.Q[0, system.offset[:n] + i] += np.asarray(displacement, float)[:, i]
            fresh.V[0, system.offset[:n] + i] = np.asarray(velocity, float)[:, i]
        where = np.flatnonzero(system.nodes.rotational)
        turn, rate = np.asarray(rotation, float)[where], np.asarray(spin, float)[where]
        if dimension == 2:
            at = system.offset[where] + 2
            fresh.Q[0, at] += turn
            fresh.V[0, at] = rate
            angle = fresh.Q[0, at]
            fresh.D[0, : len(where)] = np.column_stack((np.cos(angle), np.sin(angle)))
            fresh.DD[0, : len(where)] = rate[:, None] * np.column_stack((-np.sin(angle), np.cos(angle)))
        elif where.size:
            R = rotation_matrices(turn) @ system.nodes.rotation[where]
            fresh.D[0, : len(where)] = R.reshape(-1, 9)
            body = np.einsum("nji,nj->ni", R, rate)
            for i in range(3):
                fresh.V[0, system.offset[where] + 3 + i] = body[:, i]
            fresh.DD[0, : len(where)] = np.stack([np.cross(rate, R[:, :, j]) for j in range(3)], axis=2).reshape(-1, 9)
        return {
            "time": time, "Q": fresh.Q[0], "D": fresh.D[0], "DD": fresh.DD[0], "V": fresh.V,
            "hist": np.array(system.system.hist),
        }  # fmt: skip
