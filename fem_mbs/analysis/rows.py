"""Rows and frames of the results of a run, from what the compiled loops have recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fem_mbs.analysis.fields import fields_of
from fem_mbs.analysis.header import find_group
from fem_mbs.analysis.linear.sensors import LinearSensors
from fem_mbs.analysis.recovery.recovered import RecoveredNodes
from fem_mbs.analysis.transient.chunk import LongerParts
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.model.model import CompiledModel
from fem_mbs.model.sensors.sensor import Sensor
from fem_mbs.results.fields import HEAT, MODAL
from fem_mbs.rotations import rotation_vectors
from fem_mbs.solvers.stepping import layout as S

__all__ = ["Rows", "reading"]

#: Words in the names of columns whose rows are elements, not nodes.
_OF_ELEMENTS = ("/points ", "/layers ", "/energy ")


def reading(
    sensor: Sensor, time: np.ndarray, own: np.ndarray, ledger: np.ndarray, before: tuple[np.ndarray, np.ndarray] | None
) -> np.ndarray:
    """Return the columns (n, k) of a sensor, given its recorded values (n, m), and time (1,) and values (1, m) of the
    row before.

    A rate belongs to the middle between each row and the row before; it is zero where nothing has changed, NaN where it
    changed in no time.
    """
    if not sensor.rate:
        return sensor.evaluate(own, ledger)
    t, last = before if before is not None else (time[:1], own[:1])
    own, step = np.vstack((last, own)), np.diff(time, prepend=t)[:, None]
    change = np.diff(sensor.evaluate(own, np.vstack((ledger[:1], ledger))), axis=0)
    rates = np.where(change == 0.0, 0.0, np.nan)
    np.divide(change, step, out=rates, where=step > 0.0)
    return sensor.turned(rates, 0.5 * (own[1:] + own[:-1]))


class Rows:
    """Maker of rows and frames of a compiled model; ``fields`` are those of solid and plane parts, ``recovered`` the
    nodes of reduced parts."""

    def __init__(self, compiled: CompiledModel):
        self.compiled, self.system = compiled, compiled.system
        self.fields = fields_of(compiled)
        self.recovered = RecoveredNodes(compiled)
        self._last: tuple[np.ndarray, np.ndarray] | None = None  # time and record of the last row of the step

    def series(
        self, time, ledger, iterations, residual, record, mid_step_valid=True, sensors: LinearSensors | None = None,
        rates: np.ndarray | None = None, longer: LongerParts | None = None,
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """Return columns of rows, which follow those of the call before; ``longer`` as of a `Chunk`.

        In linear steps ``record`` holds changes, and ``rates`` (n, k) their rates; ``sensors`` turn them into readings.
        """
        dim = self.compiled.model.dimension
        rows = {
            "time": time,
            "ledger": ledger[:, :7],
            "linear momentum": ledger[:, 7 : 7 + dim],
            "angular momentum": ledger[:, 12:13] if dim == 2 else ledger[:, 10:13],
            "iterations": iterations.astype(np.int32),
            "residual": residual,
        }
        for i, sensor in enumerate(self.compiled.sensors):
            some = slice(sensor.first, sensor.last)
            own = record[:, some]
            if sensors is not None:
                values = sensors.of(i, own, ledger, None if rates is None else rates[:, some])
            elif sensor.of_time:
                values = sensor.at_times(time)
            else:
                values = self._readings(sensor, time, record, ledger, longer)
            if sensor.mid_step and not mid_step_valid:
                values = np.full_like(values, np.nan)
            rows[f"sensor/{sensor.name}"] = np.asarray(values, float)
        self._last = time[-1:].copy(), record[-1:].copy()
        return rows

    def _readings(
        self, sensor: Sensor, time: np.ndarray, record: np.ndarray, ledger: np.ndarray, longer: LongerParts | None
    ) -> np.ndarray:
        """Return the values of a sensor in rows of time steps."""
        some = slice(sensor.first, sensor.last)
        before = None if self._last is None else (self._last[0], self._last[1][:, some])

        def read(at: np.ndarray, there: np.ndarray) -> np.ndarray:
            return reading(sensor, at, there[:, some], ledger, before)

        return longer.of(read) if sensor.rate and longer is not None else read(time, record)

    def frames(
        self, chunk_frames: dict[str, np.ndarray], time: np.ndarray, about: S.State | None = None,
        shapes: bool = False, moved: Mapping[str, Any] | None = None,
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """Return columns of the frames. ``about``: the state that a linear analysis is about, ``moved`` how its
        stresses change (`Fields.frames`); ``shapes``: displacements of any size, which have no stresses or
        energies."""
        system, dim = self.system, self.compiled.model.dimension
        nf, n = len(time), system.nodes.x.shape[0]
        Q, V, D = chunk_frames["Q"], chunk_frames["V"], chunk_frames["D"]
        displacement, velocity, rotation = (np.zeros((nf, n, 3)) for _ in range(3))
        for i in range(dim):
            displacement[:, :, i] = Q[:, system.offset[:n] + i] - system.nodes.x[:, i]
            velocity[:, :, i] = V[:, system.offset[:n] + i]
        where = np.flatnonzero(system.nodes.rotational)
        if where.size and dim == 2:
            rotation[:, where, 2] = Q[:, system.offset[where] + 2] - system.nodes.rotation[where]
        elif where.size:
            start = np.swapaxes(system.nodes.rotation[where], 1, 2)
            R = D[:, : where.size].reshape(nf, -1, 3, 3) @ start
            rotation[:, where] = rotation_vectors(R.reshape(-1, 3, 3)).reshape(nf, -1, 3)
        out = {"time": time, "displacement": displacement, "rotation": rotation}
        if not shapes:
            out["velocity"] = velocity
        solids = {part.name for part in self.fields.parts}
        if not shapes:
            out |= self.fields.frames(Q, chunk_frames, system.offset, moved)
        if len(self.recovered.x):
            more = self.recovered.columns(Q, V, D)
            fields = {}
            if not shapes:
                turned = D if about is None else np.repeat(about.D[:1], nf, axis=0)
                increments = moved is not None and bool(moved["increments"])
                fields = self.recovered.stresses(Q, turned, chunk_frames["out"], increments)
            for name, values in fields.items():
                out.setdefault(name, np.full((nf, n, *values.shape[2:]), np.nan, np.float32))
            more |= fields
            for name, values in out.items():
                if values.ndim > 1 and values.shape[1] == n and not any(word in name for word in _OF_ELEMENTS):
                    out[name] = self.recovered.extended(values, more.get(name))
        for name, cells in self.compiled.model.groups.items():
            if name in solids:
                continue
            energy = np.zeros((nf, len(cells)))
            for block, first in find_group(system, name):
                k = len(block.type.outputs)
                if k:
                    at = block.first_output + first * k
                    values = chunk_frames["out"][:, at : at + len(cells) * k].reshape(nf, len(cells), k)
                    for i, label in enumerate(block.type.outputs):
                        out[f"{name}/{label}"] = values[:, :, i]
                if block.type.ends == 2 and not shapes:
                    at = block.first_element + first
                    energy += chunk_frames["energy"][:, at : at + len(cells)]
            if not shapes:
                out[f"{name}/energy [J]"] = energy
        for name, placed in self.compiled.model.reduced_parts.items():
            out[f"{name}/{MODAL}"] = Q[:, system.first_scalar + placed.scalars]
            if placed.heat and not shapes:
                out[f"{name}/{HEAT}"] = self.recovered.levels(placed, chunk_frames["out"])
        return out

    def present(self, stepping: Stepping) -> tuple[np.ndarray, np.ndarray]:
        """Return recorded values (1, k) and ledger (1, 13) of the start of a step."""
        state, record = stepping.state, self.system.system.record
        sources = {
            S.REC_Q: state.Q[0],
            S.REC_V: state.V[0],
            S.REC_D: state.D[0].ravel(),
            S.REC_REACTION: state.reaction[0],
            S.REC_WORK: state.work,
        }
        values = np.array([[sources.get(a, state.out)[k] for a, k in record]]).reshape(1, -1)
        return values, stepping.first_row[None, :]

    @property
    def last(self) -> np.ndarray:
        """Return time and recorded values (1 + k,) of the last row, which the next rows follow."""
        assert self._last is not None
        return np.concatenate((self._last[0], self._last[1][0]))

    def resume(self, last: np.ndarray) -> None:
        """Let the next rows follow the row of `last`, at which a step goes on from its restart point."""
        self._last = last[:1], last[None, 1:]

    def first(
        self,
        stepping: Stepping,
        recorder: Any,
        mid_step_valid: bool = False,
        place: np.ndarray | None = None,
        columns: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        """Record the start of a step as row and frame number zero.

        Args:
            place: of the frame, shape (1,); None: the path length or load factor in ``columns``, else the time.
            columns: further columns of the row, each of shape (1,) or (1, k).
        """
        state = stepping.state
        values, ledger = self.present(stepping)
        t, columns = np.array([stepping.t0]), columns or {}
        self._last = None
        series = self.series(t, ledger, np.zeros(1), np.zeros(1), values, mid_step_valid)
        frames = {
            "Q": state.Q[:1],
            "V": state.V[:1],
            "D": state.D[:1],
            "out": state.out[None, :],
            "energy": state.energy[None, :],
        }
        if place is None:
            place = columns.get("path length", columns.get("load factor", t))
        recorder.append({**series, **columns}, self.frames(frames, place))
