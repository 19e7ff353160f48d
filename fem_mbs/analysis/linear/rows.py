"""Rows and frames of linear statics and linear transients: changes of the state that they are about."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs import contract as C
from fem_mbs.analysis.linear.linearised import Linearised, Response
from fem_mbs.analysis.linear.sensors import LinearSensors
from fem_mbs.solvers.stepping import layout as S

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext

__all__ = ["LinearRows", "record_shapes"]


class LinearRows:
    """Makes rows and frames of changes of a state."""

    def __init__(self, context: RunContext, linear: Linearised):
        self.context, self.linear = context, linear

    def record(self, values: dict[str, np.ndarray]) -> np.ndarray:
        """Return recorded values (1, k) of the quantities of `Reported.base` or `Reported.change`; works are not
        booked."""
        sources = {
            S.REC_Q: values["Q"], S.REC_V: values["V"] if "V" in values else np.zeros_like(values["Q"]),
            S.REC_D: values["D"].ravel(), S.REC_OUT: values["out"], S.REC_REACTION: values["reaction"],
            S.REC_WORK: np.full_like(self.context.state.work, np.nan),
        }  # fmt: skip
        kind, index = self._recorded
        out = np.zeros((1, kind.size))
        for key, source in sources.items():
            some = kind == key
            out[0, some] = source[index[some]]
        return out

    def rates(self, a: np.ndarray) -> np.ndarray:
        """Return the rates (1, k) of the recorded velocities, by accelerations a of the first dofs; others are zero,
        as sensors of rates do not depend on them about a state at rest."""
        whole = np.zeros(self.context.system.n_dof)
        whole[: a.size] = a
        kind, index = self._recorded
        return np.where(kind == S.REC_V, self.linear.body(whole)[np.where(kind == S.REC_V, index, 0)], 0.0)[None]

    @cached_property
    def _recorded(self) -> tuple[np.ndarray, np.ndarray]:
        kind, index = np.asarray(self.context.system.system.record).reshape(-1, 2).T
        return kind, index

    def sensors(self, increments: bool = False) -> LinearSensors:
        """Return the sensors about the state."""
        linear = self.linear
        here = linear.reported.base
        if linear.preload is not None:  # derivatives are those at the place, readings there are linear ones
            here = {**here, "Q": linear.state.Q[0], "D": linear.state.D[0]}
        base = None if linear.preload is None else linear.preload.totals["readings"]
        origin = None
        if increments:  # nonlinear sensors see the change from a model at rest in its first place
            start = self.context.system.initial_state()
            nothing: dict[str, np.ndarray] = {
                key: np.zeros_like(here[key]) for key in ("V", "out", "reaction") if key in here
            }
            origin = self.record({**here, **nothing, "Q": start.Q[0], "D": start.D[0]})[0]
        return LinearSensors(self.context.compiled, self.record(here)[0], base, increments, origin)

    def frames(
        self, change: dict[str, np.ndarray], u: np.ndarray, time: np.ndarray, increments: bool,
        v: np.ndarray | None = None,
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """Return columns of a frame: `Reported.base` changed by displacements u and velocities v (N,), or the change
        alone.

        Small displacements do not rotate stresses.  Processes that write nothing have no frames.
        """
        context, linear, rows = self.context, self.linear, self.context.rows
        base = linear.reported.base
        if not linear.writes:
            return {}
        start = context.system.initial_state()
        place = start.Q[0] if increments else base["Q"]
        whole = {key: change[key] if increments else base[key] + change[key] for key in ("out", "energy", "reaction")}
        frame = {
            "Q": (place + u)[None], "V": change["V"][None], "D": linear.state.D[:1], "out": whole["out"][None],
            "energy": whole["energy"][None],
        }  # fmt: skip
        moved = {**base, "change": change["out"], "u": u, "increments": increments}
        frames = rows.frames(frame, time, about=linear.state, moved=moved)
        system, n = context.system, len(context.system.nodes.x)
        # not positions less those of the start, which round small displacements
        moves = linear.system.nodal(u)
        moves[np.flatnonzero(system.nodes.rotational), 3:] = change["rotation"]
        if not increments:
            moves += linear.reported.displacements
        small = rows.recovered.small(linear.state, u[:, None])
        if not increments:
            here = rows.recovered.columns(linear.state.Q[:1], np.zeros_like(linear.state.V[:1]), linear.state.D[:1])
            small = small[0] + here["displacement"], small[1] + here["rotation"]
        frames["displacement"] = rows.recovered.extended(moves[None, :, :3], small[0])
        frames["rotation"] = rows.recovered.extended(moves[None, :, 3:], small[1])
        if v is not None:
            rates = rows.recovered.small(linear.state, v[:, None])[0]
            frames["velocity"] = rows.recovered.extended(frames["velocity"][:, :n], rates)
        frames["reaction"] = rows.recovered.extended(linear.system.nodal(whole["reaction"])[None])
        return frames

    def with_totals(self, response: Response, change: dict[str, np.ndarray], record: np.ndarray) -> Response:
        """Return the response with the quantities reported at its end, to which steps about it add theirs."""
        base, sensors = self.linear.reported.base, self.sensors()
        keys = ("rotation", "out", "energy", "reaction")
        # zeros that nobody writes take no memory: processes that write nothing have no outputs of shared elements
        totals = {key: base[key] + change[key] if base[key].any() else change[key] for key in keys}
        totals |= {"Q": base["Q"] + change["Q"], "D": base["D"] + change["D"], "place": base["place"]}
        row = np.zeros((1, C.N_LEDGER + 1))
        compiled = self.context.compiled
        parts = []
        for i, sensor in enumerate(compiled.sensors):
            parts.append(sensors.of(i, record[:, sensor.first : sensor.last], row)[0])
        totals["readings"] = np.concatenate(parts) if parts else np.zeros(0)
        return replace(response, totals=totals)

    def no_works(self) -> list[str]:
        """Return a sentence on sensors of works, which linear steps do not book."""
        names = [f'"{s.name}"' for s in self.context.compiled.sensors if s.kind == "work"]
        return [f"works are not booked in linear steps: {', '.join(names)} have no values"] if names else []


def record_shapes(
    context: RunContext, linear: Linearised, vectors: np.ndarray, series: dict[str, np.ndarray],
    squares: np.ndarray | None = None,
) -> None:  # fmt: skip
    """Record real shapes (N, k) about a state, a row and a frame each, and keep them as the last ones.

    Beams, trusses and other elements of two ends have the forces that the displacements of the frame add, in vibrations
    with the ``squares`` (k,) of their angular frequencies [1/s^2] with those of inertia along the element.
    """
    context.linear.vectors = vectors
    shapes = np.arange(1.0, vectors.shape[1] + 1.0)
    frames = None
    if len(shapes):
        rows, moved = context.rows, linear.reported.shapes(vectors)
        lines = _lines(context)
        for k, u in enumerate(moved["U"] if lines else ()):
            a = None if squares is None else -squares[k] * u
            for i, table in linear.output_changes(u, blocks=lines, a=a).items():
                first, whole = context.system.blocks[i].first_output, linear.whole_table(i, table)
                moved["out"][k, first : first + whole.size] = whole.ravel()
        frames = {}
        if linear.writes:
            frames = rows.frames(moved, shapes, shapes=True)
            rows.recovered.straighten(frames["displacement"], linear.state, moved["U"].T)
        if "shapes" in rows.fields.wanted:
            frames |= rows.fields.of_shapes(linear, moved["U"])
    context.recorder.append({"time": shapes, **series}, frames)


def _lines(context: RunContext) -> list[int]:
    """Return numbers of blocks of elements with two ends whose outputs frames hold."""
    groups = context.compiled.model.groups
    return [
        i
        for i, block in enumerate(context.system.blocks)
        if block.type.outputs and block.type.ends == 2 and any(name in groups for name, _, _ in block.groups)
    ]
