"""The steps of a run that are linear about its state: their rows, frames and summaries."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from time import monotonic, perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np

from fem_mbs import contract as C
from fem_mbs.analysis.linear.harmonic import Harmonic
from fem_mbs.analysis.linear.linearised import Linearised, Response
from fem_mbs.analysis.linear.sensors import LinearSensors
from fem_mbs.analysis.linear.transient import LinearTransient
from fem_mbs.analysis.options import count_steps
from fem_mbs.analysis.solution import ENERGY_COLUMNS, Progress, energy_range, relative_error
from fem_mbs.analysis.stability.linearisation import Linearisation
from fem_mbs.analysis.start.initial import consistent_velocities, given_velocities
from fem_mbs.analysis.steps.harmonic import run_harmonic
from fem_mbs.analysis.steps.linear import INCREMENT, respond, run_buckling, run_linear_static, run_modes
from fem_mbs.analysis.steps.stability import run_complex_modes, run_linearise, run_turning_modes
from fem_mbs.analysis.steps.stability_map import run_stability_map
from fem_mbs.analysis.transient.rules import weights
from fem_mbs.model.model import Step
from fem_mbs.solvers.eigen.complex_modes import ComplexModes
from fem_mbs.solvers.stepping import stepper as S

__all__ = ["LinearRuns"]

_SHOWN = 0.1  # [s] between two lines of progress
_SHAPES = "shapes of "  # before the names of steps in restart points


class LinearRuns:
    """Linear steps of one run (`fem_mbs.analysis.run._Run`), which stays in its state.

    ``responses``: what linear static steps have found, by their names; ``ends``: displacements (first,) from the state
    and velocities (first,) or None at the end of linear static steps and transients; ``linear``: the matrices of the
    last step; ``vectors`` (N, k): the shapes of the last modal or buckling step,
    of which ``below`` more were left out before the first;
    ``linearisation``, ``complex_modes``: of the last step of complex modes; ``model``: the state space of the last step
    that made one; ``harmonic``: of the last step of harmonic response; ``shapes_of``: shapes (N, k) of modal steps by
    their names.
    """

    def __init__(self, run: Any):
        self.run = run
        self.responses: dict[str, Response] = {}
        self.ends: dict[str, tuple[np.ndarray, np.ndarray | None]] = {}
        self.linear: Linearised | None = None
        self.vectors: np.ndarray | None = None
        self.below = 0
        self.shapes_of: dict[str, np.ndarray] = {}
        self.linearisation: Linearisation | None = None
        self.complex_modes: ComplexModes | None = None
        self.model: Any = None
        self.harmonic: Harmonic | None = None
        self._key: tuple | None = None
        self._matrices: Any = None  # kept, so that their pattern is found once

    def _linearise(self, options: dict[str, Any], passes: float = 0.0) -> Linearised:
        """Matrices at the state that the steps before have left; they serve all steps until it changes.  ``passes``:
        time [s] after which functions are taken."""
        run = self.run
        t = run.t + passes if options.get("time") is None else float(options["time"])
        key = (t, options["preload"], run.loading.factors.tobytes(), run.loading.weight, run.state.Q[0].tobytes())
        if self._key != key:
            self.linear = None  # two would take much memory
            preload = self.responses[options["preload"]] if options["preload"] else None
            self.linear = Linearised(run.compiled, run.state, t, run.loading, preload)
            self._key, self._matrices = key, self.linear.matrices
        return self.linear

    def snapshot(self, later: list[dict[str, Any]]) -> dict[str, np.ndarray]:
        """What steps with the options ``later`` ask of linear steps before, for restart points."""
        asked = {options["basis"] for options in later if options.get("basis")}
        return {f"{_SHAPES}{name}": self.shapes_of[name] for name in sorted(asked & set(self.shapes_of))}

    def restore(self, data: dict[str, Any]) -> None:
        """Take back what `snapshot` has saved."""
        for key, value in data.items():
            if key.startswith(_SHAPES):
                self.shapes_of[key.removeprefix(_SHAPES)] = value

    def _record(self, values: dict[str, np.ndarray]) -> np.ndarray:
        """Recorded values (1, k) of what `Linearised.base` or `Linearised.change` gives; works are not booked."""
        sources = {
            S.REC_Q: values["Q"], S.REC_V: values["V"] if "V" in values else np.zeros_like(values["Q"]),
            S.REC_D: values["D"].ravel(), S.REC_OUT: values["out"], S.REC_REACTION: values["reaction"],
            S.REC_WORK: np.full_like(self.run.state.work, np.nan),
        }  # fmt: skip
        kind, index = self._recorded
        out = np.zeros((1, kind.size))
        for key, source in sources.items():
            some = kind == key
            out[0, some] = source[index[some]]
        return out

    @cached_property
    def _recorded(self) -> tuple[np.ndarray, np.ndarray]:
        kind, index = np.asarray(self.run.system.system.record).reshape(-1, 2).T
        return kind, index

    def _sensors(self, linear: Linearised, increments: bool = False) -> LinearSensors:
        """Sensors about the state of ``linear``."""
        here = linear.base
        if linear.preload is not None:  # derivatives are those at the place, readings there are linear ones
            here = {**here, "Q": linear.state.Q[0], "D": linear.state.D[0]}
        base = None if linear.preload is None else linear.preload.totals["readings"]
        return LinearSensors(self.run.compiled, self._record(here)[0], base, increments)

    def _frames(
        self, linear: Linearised, change: dict[str, np.ndarray], u: np.ndarray, time: np.ndarray, increments: bool,
        v: np.ndarray | None = None,
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """Columns of a frame: `Linearised.base` with a change of it by displacements u and velocities v (N,), or the
        change alone; small displacements turn nothing."""
        run, base = self.run, linear.base
        start = run.system.initial_state()
        place = start.Q[0] if increments else base["Q"]
        whole = {key: change[key] if increments else base[key] + change[key] for key in ("out", "energy", "reaction")}
        frame = {
            "Q": (place + u)[None], "V": change["V"][None], "D": linear.state.D[:1], "out": whole["out"][None],
            "energy": whole["energy"][None],
        }  # fmt: skip
        moved = {**base, "change": change["out"], "u": u, "increments": increments}
        frames = run.frames(frame, time, about=linear.state, moved=moved)
        system, n = run.system, len(run.system.nodes.x)
        # not positions less those of the start, which round small displacements
        moves = linear.system.nodal(u)
        moves[np.flatnonzero(system.nodes.rotational), 3:] = change["rotation"]
        if not increments:
            moves += linear.displacements
        small = run.recovered.small(linear.state, u[:, None])
        if not increments:
            here = run.recovered.columns(linear.state.Q[:1], np.zeros_like(linear.state.V[:1]), linear.state.D[:1])
            small = small[0] + here["displacement"], small[1] + here["rotation"]
        frames["displacement"] = run.recovered.extended(moves[None, :, :3], small[0])
        frames["rotation"] = run.recovered.extended(moves[None, :, 3:], small[1])
        if v is not None:
            rates = run.recovered.small(linear.state, v[:, None])[0]
            frames["velocity"] = run.recovered.extended(frames["velocity"][:, :n], rates)
        frames["reaction"] = run.recovered.extended(linear.system.nodal(whole["reaction"])[None])
        return frames

    def _no_works(self) -> list[str]:
        names = [f'"{s.name}"' for s in self.run.compiled.sensors if s.kind == "work"]
        return [f"works are not booked in linear steps: {', '.join(names)} have no values"] if names else []

    def static(self, step: Step, options: dict[str, Any]) -> dict[str, Any]:
        """Small displacements under loads, one row and frame; with a duration the time of the run goes on."""
        run, linear = self.run, self._linearise(options, options["duration"])
        run.t += options["duration"]
        increments = options["report"] == INCREMENT
        response = respond(linear, options, step.name)
        change = linear.change(
            response.u, response.forces, response.mask, response.values, y=response.y, outputs=linear.reporting,
            energy=True, weight=response.weight,
        )  # fmt: skip
        ledger = np.zeros((1, C.N_LEDGER + 1))
        ledger[0, C.STRAIN] = change["energy"].sum()
        potential, gradient, curvature = linear.potential(response.weight)
        ledger[0, C.POTENTIAL] = gradient @ response.u + 0.5 * response.u @ (curvature @ response.u)
        if not increments:
            ledger[0, C.STRAIN] += linear.base["energy"].sum()
            ledger[0, C.POTENTIAL] += potential
        time, record = np.array([linear.t]), self._record(change)
        self.responses[step.name] = self._with_totals(linear, response, change, record)
        self.ends[step.name] = (response.u, None)
        summary = run_linear_static(linear, response, increments, float(ledger[0, C.STRAIN]))
        summary["warnings"] += self._no_works()
        frames = self._frames(linear, change, response.u, time, increments)
        sensors = self._sensors(linear, increments)
        run.recorder.append(run.series(time, ledger, np.zeros(1), np.zeros(1), record, sensors=sensors), frames)
        return {"type": "static", "name": step.name, "time": linear.t, **summary}

    def _with_totals(self, linear: Linearised, response: Response, change: dict, record: np.ndarray) -> Response:
        """The response with what is reported at its end, which steps about it add to."""
        base, sensors = linear.base, self._sensors(linear)
        keys = ("rotation", "out", "energy", "reaction")
        totals = {key: base[key] + change[key] for key in keys}
        totals |= {"Q": base["Q"] + change["Q"], "D": base["D"] + change["D"], "place": base["place"]}
        row = np.zeros((1, C.N_LEDGER + 1))
        compiled = self.run.compiled
        parts = []
        for i, sensor in enumerate(compiled.sensors):
            parts.append(sensors.of(i, record[:, sensor.first : sensor.last], row)[0])
        totals["readings"] = np.concatenate(parts) if parts else np.zeros(0)
        return replace(response, totals=totals)

    def shapes(self, step: Step, options: dict[str, Any]) -> dict[str, Any]:
        """Modes or buckling shapes, one frame per shape."""
        run, linear = self.run, self._linearise(options)
        find = run_modes if step.kind == "modes" else run_buckling
        summary, series, self.vectors = find(linear, options, step.name)
        self.below = summary.get("left_out", {}).get("below", 0)
        shapes = np.arange(1.0, self.vectors.shape[1] + 1.0)
        frames = None
        if len(shapes):
            moved = linear.shapes(self.vectors)
            frames = run.frames(moved, shapes, shapes=True)
            run.recovered.straighten(frames["displacement"], linear.state, moved["U"].T)
            if "shapes" in run.fields.wanted:
                frames |= run.fields.of_shapes(linear, moved["U"])
        if step.kind == "modes":
            self.shapes_of[step.name] = self.vectors
        run.recorder.append({"time": shapes, **series}, frames)
        return {"type": step.kind, "name": step.name, **summary}

    def complex(self, step: Step, options: dict[str, Any]) -> dict[str, Any]:
        """Complex modes, one frame per mode."""
        if options["coriolis"] or options["basis"] or options["preload"]:
            basis = self.shapes_of[options["basis"]] if options["basis"] else None
            return run_turning_modes(self.run, step, options, self._linearise(options), basis)
        return run_complex_modes(self.run, step, options)

    def linearise(self, step: Step, options: dict[str, Any]) -> dict[str, Any]:
        """Matrices of small motions, written beside the results."""
        return run_linearise(self.run, step, options)

    def map(self, step: Step, options: dict[str, Any]) -> dict[str, Any]:
        """Stability over parameters, one row per point."""
        return run_stability_map(self.run, step, options)

    def harmonic_response(self, step: Step, options: dict[str, Any]) -> dict[str, Any]:
        """Steady vibrations, one row per frequency."""
        return run_harmonic(self.run, step, options, self._linearise(options))

    def transient(self, step: Step, options: dict[str, Any]) -> dict[str, Any]:
        """A transient; the time of the run goes on."""
        run, linear = self.run, self._linearise(options)
        n_steps = count_steps(step.name, options)
        h = options["duration"] / n_steps
        increments = options["report"] == INCREMENT
        state = linear.moved(np.zeros(run.system.n_dof))
        place, velocity = self.ends[options["start"]] if options["start"] else (None, None)
        start: dict[str, object] = {"method": "given", "largest_change": 0.0}
        if velocity is None and (place is not None or run.model.initial_method == "given"):
            # of what is prescribed they follow from its functions
            velocity = linear.spatial(given_velocities(run.compiled))
        elif velocity is None:
            start = consistent_velocities(run.compiled, state, linear.t)
            velocity = linear.spatial(state.V[0])
        rule = weights(options["rule"], SimpleNamespace(**options))
        job = LinearTransient(linear, options, rule, step.name, h, velocity, place)
        every = max(1, n_steps // options["frames"]) if options["frames"] else n_steps + 1
        totals = {"low": np.inf, "high": -np.inf, "kinetic": 0.0, "error": 0.0}
        last = np.zeros(C.N_LEDGER + 1)
        shown, sensors = monotonic(), self._sensors(linear, increments)

        def take(k: int, t: float, u, v, a, ledger, forces) -> None:
            nonlocal shown
            framed = bool(options["frames"]) and k % every == 0
            change = job.change(t, u, v, a, forces, framed)
            time = np.array([t])
            frames = None
            if framed:
                rates = np.zeros(run.system.n_dof)
                rates[: v.size] = v
                frames = self._frames(linear, change, change["Q"], time, increments, rates)
            record, row = self._record(change), ledger[None].copy()
            if increments:
                row[0, [C.STRAIN, C.POTENTIAL]] -= job.at_state
            run.recorder.append(run.series(time, row, np.ones(1), np.zeros(1), record, sensors=sensors), frames)
            energy = ledger[C.KINETIC] + ledger[C.STRAIN] + ledger[C.POTENTIAL]
            totals["low"], totals["high"] = min(totals["low"], energy), max(totals["high"], energy)
            totals["kinetic"] = max(totals["kinetic"], ledger[C.KINETIC])
            totals["error"] = max(totals["error"], abs(ledger[-1]))
            last[:] = ledger
            if run.progress and monotonic() - shown > _SHOWN:
                shown = monotonic()
                run.progress(Progress(step.name, k, n_steps, t, 1.0, totals["error"] / (energy_range(totals) or 1.0)))

        started = perf_counter()
        job.run(linear.t, n_steps, take)
        self.ends[step.name] = (job.u, job.v)
        run.t = linear.t + options["duration"]
        return {
            "type": "transient", "linear": True, "name": step.name, "rule": options["rule"], "n_steps": n_steps, "h": h,
            "t_start": linear.t, "t_end": run.t, "equations": job.n_equations, "factorisations": 1,
            "iterations": n_steps, "seconds": round(perf_counter() - started, 4), "start": start,
            "warnings": [*linear.redundancy, *job.warnings, *self._no_works()],
            "energy": {
                "range": energy_range(totals), "closing_error": totals["error"],
                "closing_error_relative": relative_error(totals),
                "final": {c: float(v) for c, v in zip(ENERGY_COLUMNS, [*last[:6], last[-1]], strict=True)},
            },
        }  # fmt: skip
