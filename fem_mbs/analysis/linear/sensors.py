"""Sensors in small motions: their values at the state plus their derivatives there times the change of what they see.

So every reading is linear in the loads, however large the displacements of a linear analysis are.  Where a sensor is
the length of a vector that is zero at the state (the deflection of a straight beam in space, the angle between parallel
nodes) it has no derivative; its reading is the length of the vector, which is linear in the loads.

Theory: docs/theory.md, section 8, "What linear steps report".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs import contract as C
from fem_mbs.model.sensors.sensor import Sensor
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.compiled import Compiled

__all__ = ["LinearSensors", "place_records", "slope", "slopes"]

_STEP = 1e-3  # of differences: radians, and over the model's length
#: Length below which a vector counts as zero, in radians or relative to the length of the model.
_ZERO = 1e-9


def slope(sensor: Sensor, values: np.ndarray, record: np.ndarray, length: float) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return the derivatives (k, r) of a sensor by its records at their ``values`` (r,), its value (k,), and a flag.

    The flag is True for a sensor that is the length of a vector which is zero there.  Such a length has no derivative;
    derivatives and value are then those of the vector.

    ``record`` (r, 2): what the records are; ``length`` [m] of the model.
    """
    J, value, vanishes = slopes(sensor, values[None], record, length)
    return J[0], value[0], bool(vanishes[0])


def slopes(
    sensor: Sensor, values: np.ndarray, record: np.ndarray, length: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the derivatives (s, k, r), values (s, k) and flags (s,) of `slope` at s states with ``values`` (s, r).

    If the flag is set for some of the states only, the derivatives at these states are zero.
    """
    if sensor.vector(values[:1]) is None:
        return *_difference(_evaluated(sensor), values, record, length), np.zeros(len(values), bool)
    J, vector = _difference(sensor.vector, values, record, length)
    size = np.linalg.norm(vector, axis=1)
    vanishes = size <= _ZERO * (1.0 if sensor.unit == "rad" else length)
    if vanishes.all():
        return J, np.zeros_like(vector), vanishes
    unit = np.where(vanishes[:, None], 0.0, vector / np.where(vanishes, 1.0, size)[:, None])
    return np.einsum("sk,skr->sr", unit, J)[:, None], size[:, None], vanishes


def _difference(evaluate, values: np.ndarray, record: np.ndarray, length: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives (s, k, r) of ``evaluate`` (records (s, r) to values (s, k)) at ``values``, by differences
    of order 4, and its values (s, k) there."""
    where = (record[:, 0] == S.REC_Q) | (record[:, 0] == S.REC_D)
    # quantities that are no positions enter linearly
    size = np.where(where, _STEP, np.maximum(np.abs(values), 1.0))
    size = np.where(record[:, 0] == S.REC_Q, length * size, size)
    s, r = values.shape
    steps = np.eye(r)[:, None] * size
    rows = np.concatenate((values[None], *(values + c * steps for c in (1.0, -1.0, 2.0, -2.0))))
    found = evaluate(rows.reshape(-1, r)).reshape(1 + 4 * r, s, -1)
    p1, m1, p2, m2 = (found[1 + i * r : 1 + (i + 1) * r] for i in range(4))
    return np.moveaxis((8.0 * (p1 - m1) - (p2 - m2)) / (12.0 * size.T[:, :, None]), 0, 2), found[0]


def place_records(
    system: Compiled, Q: np.ndarray, D: np.ndarray, record: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return the recorded positions and directors (s, r) of s states, and their derivatives (s, r, N) by all dofs.

    Args:
        Q: (s, N) coordinates; D: (s, nr, w) directors.
        record: (r, 2) kind (REC_Q: coordinate, REC_D: entry of a director) and index of each recorded value.
    """
    values, by = np.zeros((len(Q), len(record))), np.zeros((len(Q), len(record), system.n_dof))
    rotations, width = system.system.rotations, D.shape[-1]
    for i, (kind, index) in enumerate(record.tolist()):
        if kind == S.REC_Q:
            values[:, i], by[:, i, index] = Q[:, index], 1.0
            continue
        row, k = divmod(index, width)
        values[:, i] = D[:, row, k]
        if width == 2:
            by[:, i, rotations[row, 0]] = -D[:, row, 1] if k == 0 else D[:, row, 0]
        else:  # dR = [phi]_x R
            by[:, i, rotations[row]] = np.cross(D[:, row].reshape(-1, 3, 3)[:, :, k % 3], np.eye(3)[k // 3])
    return values, by


class LinearSensors:
    """Readings of all sensors of a compiled model in small motions about a state.

    Args:
        state: values (r,) of the records there.
        base: readings (k,) of all sensors to which changes are added; None: those at the state.
        increments: readings are the changes alone.
        origin: values (r,) of the records to which nonlinear sensors add changes; None: those at the state.
    """

    def __init__(
        self, compiled, state: np.ndarray, base: np.ndarray | None = None, increments: bool = False,
        origin: np.ndarray | None = None,
    ):  # fmt: skip
        record, length = compiled.system.system.record, compiled.system.length
        self.sensors, self._record = compiled.sensors, record
        self._slopes: list[Any] = []
        self._vectors: list[Any] = []
        self._totals: dict[int, np.ndarray] = {}
        found, at = [], 0
        for i, sensor in enumerate(self.sensors):
            own, here = record[sensor.first : sensor.last], state[sensor.first : sensor.last]
            k = len(sensor.columns)
            self._slopes.append(None)
            self._vectors.append(False)
            if sensor.kind in ("work", "energy"):
                found.append(np.zeros(k))
            elif sensor.nonlinear:  # of the sum of both, not of the change
                self._totals[i] = here if origin is None else origin[sensor.first : sensor.last]
                found.append(np.zeros(k))
            elif np.isin(own[:, 0], (S.REC_OUT, S.REC_REACTION)).all():  # sums
                found.append(_evaluated(sensor)(here[None])[0])
            else:
                self._slopes[i], value, self._vectors[i] = slope(sensor, here, own, length)
                found.append(np.zeros(k) if self._vectors[i] else value)
            if base is not None:
                found[-1] = base[at : at + k]
            at += k
        self.base = np.concatenate(found) if found else np.zeros(0)
        self._first = np.cumsum([0] + [len(s.columns) for s in self.sensors])
        self.increments = increments

    def of(self, i: int, change: np.ndarray, ledger: np.ndarray, rates: np.ndarray | None = None) -> np.ndarray:
        """Return readings (n, k) of sensor number i from changes (n, r) of its records; energies from the ``ledger``.

        ``rates`` (n, r) of the records are for sensors of rates; None: nothing moves.
        """
        sensor, J = self.sensors[i], self._slopes[i]
        if sensor.rate:
            change = np.zeros_like(change) if rates is None else rates
        if sensor.kind in ("work", "energy"):
            return sensor.evaluate(change, ledger)
        if i in self._totals:
            if sensor.at_state:
                change = np.where(self._record[sensor.first : sensor.last, 0] == S.REC_OUT, change, 0.0)
            return sensor.evaluate(self._totals[i] + change, ledger)
        values = _evaluated(sensor)(change) if J is None else change @ J.T
        if self._vectors[i]:
            values = np.linalg.norm(values, axis=1)[:, None]
        return values if self.increments else values + self.base[self._first[i] : self._first[i + 1]]


def _evaluated(sensor):
    """Return the sensor as a function of rows of its records; of a rate what is derived by time, in its columns."""

    def values(rows: np.ndarray) -> np.ndarray:
        found = np.asarray(sensor.evaluate(rows, np.zeros((len(rows), C.N_LEDGER + 1))), float)
        return sensor.turned(found, rows) if sensor.rate else found

    return values
