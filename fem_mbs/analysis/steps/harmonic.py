"""Steps of harmonic response in a run: their options, rows, frames and summaries."""

from __future__ import annotations

from time import monotonic, perf_counter
from typing import Any

import numpy as np

from fem_mbs.analysis.linear.harmonic import Harmonic, shakers
from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.analysis.solution import Progress
from fem_mbs.analysis.steps.stability import complex_frames
from fem_mbs.errors import ModelError
from fem_mbs.model.model import Step

__all__ = ["HARMONIC_OPTIONS", "METHODS", "check_harmonic", "run_harmonic"]

#: Options of a step of harmonic response and their defaults.
HARMONIC_OPTIONS: dict[str, Any] = {
    "frequencies": None,  # [Hz], rising
    "loads": "all",  # but gravity, centrifugal loads; or names, of motions, driven joints, base excitations too
    "amplitudes": None,  # by names: of functions, else their values at ``time``
    "phases": None,  # by names [degrees]
    "method": "auto",  # or "direct", "modal"
    "modes": None,  # number of modes; else all up to ``cutoff``
    "cutoff": None,  # [Hz]; None: twice the highest frequency
    "damping": None,  # ratio of all modes, or a list of ratios, the last for all further ones
    "structural": 0.0,  # loss factor of the stiffness
    "frames": 20,  # shapes kept, evenly spread over the frequencies; 0: none
    "time": None,
    "preload": "",
}
METHODS = ("auto", "direct", "modal")
_SHOWN = 0.1  # [s] between two lines of progress
_NONLINEAR = ("work", "energy")  # sensors without a meaning in small motions


def _finite(value, low: float = -np.inf, strict: bool = False) -> bool:
    ok = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.bool_))
    return bool(ok and low <= value < 1e300 and not (strict and value == low) and value > -1e300)


def check_harmonic(owner: str, options: dict[str, Any]) -> None:
    """Refuse options that make no sense, before anything is computed.

    Raises:
        ModelError: naming the step, the option and what it may be.
    """
    if options["method"] not in METHODS:
        raise ModelError(f"{owner}: method = {options['method']!r} must be one of {', '.join(METHODS)}")
    for key in ("amplitudes", "phases"):
        table = options[key]
        good = table is None or (isinstance(table, dict) and all(_finite(v) for v in table.values()))
        if not good:
            what = "angles [degrees]" if key == "phases" else "numbers"
            raise ModelError(f"{owner}: {key} = {table!r} must be a table of {what} by the names of loads")
    names = options["loads"]
    if not isinstance(names, (str, list, tuple)) or not all(isinstance(n, str) for n in names) or not len(names):
        raise ModelError(f'{owner}: loads = {names!r} must be "all", a name or a list of names')
    modes, cutoff, damping = options["modes"], options["cutoff"], options["damping"]
    if modes is not None and (isinstance(modes, bool) or not isinstance(modes, int) or modes < 1):
        raise ModelError(f"{owner}: modes = {modes!r} must be a whole number of at least 1")
    if cutoff is not None and not _finite(cutoff, 0.0, strict=True):
        raise ModelError(f"{owner}: cutoff = {cutoff!r} must be a positive frequency [Hz]")
    if modes is not None and cutoff is not None:
        raise ModelError(f"{owner}: modes and cutoff exclude each other; remove one")
    if damping is not None:
        given = list(damping) if isinstance(damping, (list, tuple, np.ndarray)) else [damping]
        if not given or not all(_finite(v, 0.0) for v in given):
            raise ModelError(f"{owner}: damping = {damping!r} must be a ratio of at least 0, or a list of them")
    if not _finite(options["structural"], 0.0):
        raise ModelError(f"{owner}: structural = {options['structural']!r} must be a loss factor of at least 0")
    if options["method"] == "direct":
        for key in ("modes", "cutoff", "damping"):
            if options[key] is not None:
                raise ModelError(
                    f'{owner}: {key} belongs to modes, which method = "direct" does not take; remove it, or method'
                )


def run_harmonic(run, step: Step, options: dict[str, Any], linear: Linearised) -> dict[str, Any]:
    """Make a step of harmonic response of a run: one row per frequency, some frames, and its summary."""
    began, owner = perf_counter(), f'Step "{step.name}"'
    frequencies = np.asarray(options["frequencies"], float)
    warnings = list(linear.redundancy)
    if np.any(run.state.V[0]):
        warnings.append("the state moves: small vibrations are about its place at rest")
    shaking, silent = shakers(linear.compiled, linear.values, linear.t, options, owner)
    sensors = [s for s in run.compiled.sensors if s.kind not in _NONLINEAR]
    left_out = [f'"{s.name}"' for s in run.compiled.sensors if s.kind in _NONLINEAR]
    if left_out:
        warnings.append(f"not linear in small motions, and left out: {', '.join(left_out)}")
    job = Harmonic(linear, options, shaking, [s.name for s in sensors], owner)
    warnings += silent + job.warnings
    n, kept = frequencies.size, []
    framed = set(np.unique(np.linspace(0, n - 1, min(options["frames"], n)).round().astype(int)).tolist())
    values = np.zeros((n, len(job.columns)), complex)
    shown = monotonic()
    for i, frequency in enumerate(frequencies):
        u, values[i] = job.at(float(frequency))
        if i in framed:
            kept.append(u)
        if run.progress and monotonic() - shown > _SHOWN:
            shown = monotonic()
            run.progress(Progress(step.name, i + 1, n, run.t, 0.0, 0.0))
    series, peaks, at = {"time": frequencies}, [], 0
    for sensor in sensors:
        k = len(sensor.columns)
        own = values[:, at : at + k]
        series[f"response/{sensor.name}"] = own.real.copy()
        series[f"response imaginary/{sensor.name}"] = own.imag.copy()
        peaks += [_peak(sensor, j, frequencies, a) for j, a in enumerate(own.T)]
        at += k
    frames = complex_frames(run, linear, np.column_stack(kept), frequencies[sorted(framed)]) if kept else None
    run.recorder.append(series, frames)
    run.linear.harmonic = job
    modal: dict[str, Any] = {}
    if job.modal is not None:
        modal["modes"] = int(job.modal.frequencies.size)
        modal["natural_frequencies"] = (job.modal.frequencies / (2.0 * np.pi)).tolist()
        modal["residual_vectors"] = job.modal.residual
    return {
        "type": "harmonic", "name": step.name, "time": linear.t, "method": job.method,
        "frequencies": frequencies.tolist(),
        "loads": [
            {"name": s.name, "amplitude": float(abs(s.amplitude)), "phase": float(np.rad2deg(np.angle(s.amplitude)))}
            for s in shaking
        ],
        **modal, "structural": job.structural, "peaks": peaks,
        "equations": job.n_equations, "seconds": round(perf_counter() - began, 4), "warnings": warnings,
    }  # fmt: skip


def _peak(sensor, number: int, frequencies: np.ndarray, a: np.ndarray) -> dict[str, Any]:
    """Return the peak of a column."""
    unit = sensor.unit or ""
    most = int(np.abs(a).argmax())
    return {
        "sensor": sensor.name, "column": sensor.columns[number],
        "unit": unit if isinstance(unit, str) else unit[number],
        "amplitude": float(np.abs(a[most])), "frequency": float(frequencies[most]),
        "phase": float(np.rad2deg(np.angle(a[most]))),
    }  # fmt: skip
