"""The steps of a run that are linear about its state: their rows, frames and summaries."""

from __future__ import annotations

from time import monotonic, perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np

from fem_mbs import contract as C
from fem_mbs.analysis.harmonic import Harmonic
from fem_mbs.analysis.harmonic_steps import run_harmonic
from fem_mbs.analysis.initial import consistent_velocities, given_velocities
from fem_mbs.analysis.linear import Linearised, Response
from fem_mbs.analysis.linear_steps import respond, run_buckling, run_linear_static, run_modes
from fem_mbs.analysis.linear_transient import LinearTransient
from fem_mbs.analysis.linearisation import Linearisation
from fem_mbs.analysis.options import count_steps
from fem_mbs.analysis.rules import weights
from fem_mbs.analysis.solution import ENERGY_COLUMNS, Progress, energy_range, relative_error
from fem_mbs.analysis.stability_map import run_stability_map
from fem_mbs.analysis.stability_steps import run_complex_modes, run_linearise, run_turning_modes
from fem_mbs.matrices import Matrices
from fem_mbs.model import Step
from fem_mbs.solvers import stepper as S
from fem_mbs.solvers.complex_modes import ComplexModes

__all__ = ["LinearRuns"]

_SHOWN = 0.1  # [s] between two lines of progress


class LinearRuns:
    """Linear steps of one run (`fem_mbs.analysis.run._Run`), which stays in its state.

    ``responses``: what linear static steps have found, by their names; ``ends``: displacements (first,) from the state
    and velocities (first,) or None at the end of linear static steps and transients; ``linear``: the matrices of the
    last step and ``matrices`` what assembles them; ``vectors`` (N, k): the shapes of the last modal or buckling step,
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
        self.matrices: Matrices | None = None

    def _linearise(self, options: dict[str, Any], passes: float = 0.0) -> Linearised:
        """Matrices at the state that the steps before have left; they serve all steps until it changes.  ``passes``:
        time [s] after which functions are taken."""
        run = self.run
        t = run.t + passes if options.get("time") is None else float(options["time"])
        key = (t, options["preload"], run.loading.factors.tobytes(), run.loading.weight, run.state.Q[0].tobytes())
        if self._key != key:
            self.linear = None  # two would take much memory
            preload = self.responses[options["preload"]] if options["preload"] else None
            self.linear = Linearised(run.compiled, run.state, t, run.loading, self.matrices, preload)
            self._key, self.matrices = key, self.linear.matrices
        return self.linear

    def _record(self, frame: dict[str, np.ndarray], forces: np.ndarray) -> np.ndarray:
        """Recorded values (1, k) of a frame (1, ...) with forces (N,) of supports; works are not booked."""
        sources = {
            S.REC_Q: frame["Q"][0], S.REC_V: frame["V"][0], S.REC_D: frame["D"][0].ravel(), S.REC_OUT: frame["out"][0],
            S.REC_REACTION: forces, S.REC_WORK: np.full_like(self.run.state.work, np.nan),
        }  # fmt: skip
        return np.array([[sources[a][k] for a, k in self.run.system.system.record]]).reshape(1, -1)

    def _no_works(self) -> list[str]:
        names = [f'"{s.name}"' for s in self.run.compiled.sensors if s.kind == "work"]
        return [f"works are not booked in linear steps: {', '.join(names)} have no values"] if names else []

    def static(self, step: Step, options: dict[str, Any]) -> dict[str, Any]:
        """Small displacements under loads, one row and frame; with a duration the time of the run goes on."""
        run, linear = self.run, self._linearise(options, options["duration"])
        run.t += options["duration"]
        response = self.responses[step.name] = respond(linear, options, step.name)
        self.ends[step.name] = (response.u, None)
        summary, frame = run_linear_static(linear, response)
        summary["warnings"] += self._no_works()
        ledger = np.zeros((1, C.N_LEDGER + 1))
        ledger[0, C.STRAIN] = summary["strain_energy"]
        time = np.array([linear.t])
        frames = run.frames(frame, time, about=linear.state)
        u = linear.nodal(response.u)
        more = run.recovered.small(linear.state, response.u[:, None])
        frames["displacement"] = run.recovered.extended(u[None, :, :3], more[0])
        frames["rotation"] = run.recovered.extended(u[None, :, 3:], more[1])
        frames["reaction"] = run.recovered.extended(linear.nodal(response.forces)[None])
        record = self._record(frame, response.forces)
        run.recorder.append(run.series(time, ledger, np.zeros(1), np.zeros(1), record), frames)
        return {"type": "static", "name": step.name, "time": linear.t, **summary}

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
        state = linear.moved(np.zeros(run.system.n_dof))
        place, velocity = self.ends[options["start"]] if options["start"] else (None, None)
        start: dict[str, object] = {"method": "given", "largest_change": 0.0}
        if velocity is None and (place is not None or run.model.initial_method == "given"):
            velocity = given_velocities(run.compiled)  # of what is prescribed they follow from its functions
        elif velocity is None:
            start = consistent_velocities(run.compiled, state, linear.t)
            velocity = state.V[0]
        rule = weights(options["rule"], SimpleNamespace(**options))
        job = LinearTransient(linear, options, rule, step.name, h, velocity, place)
        every = max(1, n_steps // options["frames"]) if options["frames"] else n_steps + 1
        totals = {"low": np.inf, "high": -np.inf, "kinetic": 0.0, "error": 0.0}
        last = np.zeros(C.N_LEDGER + 1)
        shown = monotonic()

        def take(k: int, t: float, u, v, ledger, forces) -> None:
            nonlocal shown
            framed = bool(options["frames"]) and k % every == 0
            frame = job.record(u, v, forces, outputs=framed or job.needs_outputs)
            time = np.array([t])
            frames = None
            if framed:
                frames = run.frames(frame, time, about=linear.state)
                run.recovered.straighten(
                    frames["displacement"], linear.state, u[:, None], frames["velocity"], v[:, None]
                )
                frames["reaction"] = run.recovered.extended(linear.nodal(frame["reaction"][0])[None])
            record = self._record(frame, frame["reaction"][0])
            run.recorder.append(run.series(time, ledger[None], np.ones(1), np.zeros(1), record), frames)
            energy = ledger[C.KINETIC] + ledger[C.STRAIN]
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
            "warnings": [*linear.redundancy, *self._no_works()],
            "energy": {
                "range": energy_range(totals), "closing_error": totals["error"],
                "closing_error_relative": relative_error(totals),
                "final": {c: float(v) for c, v in zip(ENERGY_COLUMNS, [*last[:6], last[-1]], strict=True)},
            },
        }  # fmt: skip
