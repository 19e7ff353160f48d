"""Cost of derivatives: runs with the derivatives by one and by two parameters against runs without.

    python benchmarks/sensitivities.py             all models
    python benchmarks/sensitivities.py beam        only these: beam, beam3, four_bar, mechanism, oscillator, solids

It prints a line per model: the time of the call with one parameter over that of the run (the aim is 1.2), and the time
that each further parameter adds, over that of the run (the aim is 0.2).  Then it prints the same ratios for the time
steps alone, without additional models and results, and a line ``JSON {...}``.  All are processor times, the best of
five.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "FEM_MBS_THREADS"):
    os.environ.setdefault(_variable, "1")

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np  # noqa: E402

from fem_mbs import Model, sensitivities, solve  # noqa: E402
from fem_mbs.analysis.transient.stepping import Stepping  # noqa: E402
from tests.sensitivity import sensitive_models as models  # noqa: E402


def mechanism(E: float = 2.1e11, diameter: float = 0.02, n: int = 12, h: float = 1e-3, duration: float = 0.5) -> Model:
    """Return a four-bar linkage of beams in space with a driven crank: 6 dofs at each of 39 nodes, and those of
    joints."""
    model = Model(3, "flexible linkage", gravity=(0.0, -9.81, 0.0))
    model.material("steel", E=E, nu=0.3, density=7850.0)
    model.section("rod", shape="circle", diameter=diameter)
    base, crank, rod, rocker = 0.6, 0.2, 0.7, 0.5
    d = np.hypot(base, crank)  # distance from the crank's end to pin D; the cosine rule then gives pin C
    turn = np.arctan2(-crank, base) + np.arccos((d**2 + rod**2 - rocker**2) / (2.0 * d * rod))
    pins = {"A": (0.0, 0.0), "B": (0.0, crank), "C": (rod * np.cos(turn), crank + rod * np.sin(turn)), "D": (base, 0.0)}
    places = {name: (x, y, 0.0) for name, (x, y) in pins.items()}
    axis = (0.0, 0.0, 1.0)
    for name, a, b in (("crank", "A", "B"), ("coupler", "B", "C"), ("rocker", "D", "C")):
        model.line(name, places[a], places[b], n)
        model.beams(name, name, "rod", material="steel", orientation=axis)
    drive = {"kind": "smoothstep", "duration": 0.4, "end_value": 2.0}
    model.joint("A", "revolute", "ground", "crank:start", point=places["A"], axis=axis, function=drive)
    model.joint("B", "revolute", "crank:end", "coupler:start", point=places["B"], axis=axis)
    model.joint("C", "spherical", "coupler:end", "rocker:end", point=places["C"])
    model.joint("D", "revolute", "ground", "rocker:start", point=places["D"], axis=axis)
    model.sensor("C", "position", on="rocker:end")
    model.sensor("swing", "joint", on="D")
    model.transient_step(duration, h, frames=0)
    return model


#: Models, and two of their parameters.
CASES = {
    "oscillator": (partial(models.oscillator, duration=60.0), {"k": 50.0, "m": 2.0}),
    "four_bar": (partial(models.four_bar, duration=10.0), {"stiffness": 20.0, "crank": 0.2}),
    "beam": (partial(models.beam, n=40, h=2e-3, duration=4.0, static=False), {"diameter": 0.01, "length": 1.0}),
    "beam3": (partial(models.beam, dim=3, n=20, h=2e-3, duration=2.0, static=False), {"diameter": 0.01, "length": 1.0}),
    "mechanism": (mechanism, {"E": 2.1e11, "diameter": 0.02}),
    "solids": (partial(models.block, duration=0.5), {"E": 1e6, "width": 0.1}),
}
ROUNDS = 5


class Clock:
    """Measures the processor time of the compiled loops of time steps."""

    def __init__(self) -> None:
        self.seconds, self.loop = 0.0, Stepping._loop

    def watch(self) -> None:
        """Replace the loop of all steppings by one that adds its time to ``seconds``."""

        def counted(stepping: Stepping, *given: Any) -> int:
            began = process_time()
            answer = self.loop(stepping, *given)
            self.seconds += process_time() - began
            return answer

        Stepping._loop = counted  # type: ignore[method-assign]

    def times(self, call: Callable[[], object]) -> tuple[float, float]:
        """Return the processor time [s] of a call, and that of its time steps."""
        self.seconds, began = 0.0, process_time()
        call()
        return process_time() - began, self.seconds


def measure(name: str, clock: Clock) -> dict[str, float]:
    """Return the times of a run, with one and with two parameters, and those of their time steps."""
    build, values = CASES[name]
    first = dict([next(iter(values.items()))])
    calls = {
        "run": lambda: solve(build(**values)),
        "one": lambda: sensitivities(build, first),
        "two": lambda: sensitivities(build, values),
    }
    found: dict[str, float] = {}
    for i in range(ROUNDS + 1):
        for key, call in calls.items():
            whole, steps = clock.times(call)
            if i > 0:  # the first round compiles
                found[key] = min(found.get(key, np.inf), whole)
                found[f"{key} steps"] = min(found.get(f"{key} steps", np.inf), steps)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*CASES, []], help="models")
    told, clock = {}, Clock()
    clock.watch()
    for name in parser.parse_args().names or CASES:
        s = measure(name, clock)
        s["ratio"], s["more"] = s["one"] / s["run"], (s["two"] - s["one"]) / s["run"]
        s["ratio of steps"] = s["one steps"] / s["run steps"]
        s["more of steps"] = (s["two steps"] - s["one steps"]) / s["run steps"]
        told[name] = s
        print(
            f"{name:12s} run {s['run']:.3f} s, one parameter: {s['ratio']:.2f} runs, others {s['more']:.2f} each; "
            f"time steps alone {s['run steps']:.3f} s, {s['ratio of steps']:.2f}, {s['more of steps']:.2f}"
        )
    print("JSON", json.dumps(told))


if __name__ == "__main__":
    main()
