"""Long runs: energy balance, memory and file size of mechanisms over 1e6 steps, of contact with friction over 1e5; both
momenta of a mechanism in free flight over 1e6 steps."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .guard import Attack, Case, Wrong

__all__ = ["ATTACKS", "contact", "flight", "mechanism"]

_ENERGY = 1e-9  # closing error of the energy balance of the mechanism, over the range of the energy
_MOMENTA = 1e-9  # change of each momentum in free flight, over its largest value
#: Bytes by which memory at the end may exceed that after a tenth of the steps.  Memory rises and falls as segments of
#: 16 MB fill and are copied to be written, so that both depend on when they are taken; 4e6 steps need no more than 1e6.
_GROWTH = 48e6


class _Watch:
    """Records the memory of this process in bytes: ``early`` after a tenth of the run, ``late`` at its end."""

    def __init__(self) -> None:
        self.early = self.late = 0

    def __call__(self, progress: Any) -> None:
        with open("/proc/self/statm", encoding="ascii") as file:
            now = int(file.read().split()[1]) * resource.getpagesize()
        if progress.done <= 0.1 * progress.total:
            self.early = now
        self.late = now


def mechanism(folder: Path, steps: int) -> dict[str, float]:
    """Run a double pendulum: two bodies on pins, without friction.  Return the measured values by their names.

    Raises:
        Wrong: the energy balance does not close, rows are missing, or memory or the file grow too much.
    """
    from fem_mbs import Model

    m = Model(dimension=2, gravity=(0.0, -9.81), title="double pendulum")
    m.body("upper", position=(0.5, 0.0), mass=1.0, inertia=0.08)
    m.body("lower", position=(1.5, 0.0), mass=0.7, inertia=0.05)
    m.joint("top", "pin", a="ground", b="upper", point=(0.0, 0.0))
    m.joint("middle", "pin", a="upper", b="lower", point=(1.0, 0.0))
    return _measured(m, folder, steps, 1e-3, _ENERGY)[0]


def flight(folder: Path, steps: int) -> dict[str, float]:
    """Run two bodies on a ball joint in space, without weight: they tumble, and both momenta stay as they are.  Result
    and errors as `mechanism`.

    Raises:
        Wrong: a momentum changes.
    """
    from fem_mbs import Model

    m = Model(dimension=3, title="two bodies in free flight")
    m.body("left", position=(-0.5, 0.0, 0.0), mass=1.0, inertia=(0.02, 0.08, 0.09))
    m.body("right", position=(0.5, 0.0, 0.0), mass=0.7, inertia=(0.01, 0.05, 0.055))
    m.joint("hip", "spherical", a="left", b="right", point=(0.0, 0.0, 0.0))
    m.initial("left", velocity=(0.1, -0.8, 0.3), spin=(1.0, 2.0, 3.0))
    m.initial("right", velocity=(-0.1, 1.1, -0.4), spin=(4.0, -1.0, 3.0))
    found, step = _measured(m, folder, steps, 1e-3, _ENERGY)
    for name in ("linear momentum", "angular momentum"):
        values = np.asarray(step.series[name])
        change = float(np.linalg.norm(values - values[0], axis=1).max() / np.linalg.norm(values, axis=1).max())
        if not change < _MOMENTA:
            raise Wrong(f"the {name} changes by {change:.2g} of its value")
        found[name] = change
    return found


def contact(folder: Path, steps: int) -> dict[str, float]:
    """Run a ball on the ground with friction, pulled by a spring; it rolls and slides.  Result and errors as
    `mechanism`."""
    from fem_mbs import Model

    m = Model(dimension=2, gravity=(0.0, -9.81), title="ball on a floor")
    m.body("ball", position=(0.0, 0.1), mass=1.0, inertia=4e-3)
    m.body("base", position=(2.0, 0.1), mass=1.0, inertia=1.0)
    m.fix("base")
    m.spring("pull", "ball", "base", stiffness=50.0, length=1.5)
    m.contact(
        "floor", a="ground", b="ball", ball=0.1, point=(0.0, 0.0), axis=(0.0, 1.0), stiffness=1e6, coefficient=0.3,
        smoothing=0.01,
    )  # fmt: skip
    return _measured(m, folder, steps, 5e-4, 1e-8)[0]


def _measured(model: Any, folder: Path, steps: int, h: float, tolerance: float) -> tuple[dict[str, float], Any]:
    """Return the measured values by their names, and the step of the results."""
    from fem_mbs.analysis.run import run

    model.transient_step(duration=steps * h, h=h, frames=100)
    watch = _Watch()
    results = run(model, folder, progress=watch)
    step = results.steps[-1]
    rows = len(step.series["time"])
    error = float(results.summary["steps"][-1]["energy"]["closing_error_relative"])
    size = (folder / "results.h5").stat().st_size
    per_row = sum(np.dtype(float).itemsize * int(np.prod(np.shape(step.series[k])[1:])) for k in step.series)
    if rows != steps + 1:
        raise Wrong(f"{rows} rows for {steps} steps")
    if not abs(error) < tolerance:
        raise Wrong(f"closing error of the energy {error:.2g}")
    if watch.late - watch.early > _GROWTH:
        raise Wrong(f"the process grows by {1e-6 * (watch.late - watch.early):.0f} MB")
    if size > 1.2 * per_row * rows + 2e6:
        raise Wrong(f"{size / rows:.0f} bytes a step on disk for {per_row} of series")
    found = {"energy": error, "memory growth [MB]": 1e-6 * (watch.late - watch.early), "bytes per step": size / rows}
    return found, step


def _case(what: Callable[[Path, int], dict[str, float]], steps: int) -> Callable[[Path], Case]:
    def make(folder: Path) -> Case:
        def case(seed: int) -> str:
            found = what(folder / f"{seed}", steps)
            told = ", ".join(f"{name} {value:.2g}" for name, value in found.items())
            return f"ended ({told}; {os.times().user:.0f} s)"

        return case

    return make


ATTACKS = {
    "long-mechanism": Attack(
        "long-mechanism", "1e6 steps of a double pendulum", _case(mechanism, 1_000_000), 3000.0, False, False
    ),
    "long-flight": Attack(
        "long-flight", "1e6 steps of two bodies in free flight", _case(flight, 1_000_000), 3000.0, False, False
    ),
    "long-contact": Attack(
        "long-contact",
        "1e5 steps of a ball that rolls and slides with friction",
        _case(contact, 100_000),
        3000.0,
        False,
        False,
    ),
}
