"""Cost of derivatives: runs with the derivatives by one and by two parameters against runs without.

    python benchmarks/sensitivities.py             all models
    python benchmarks/sensitivities.py beam        some of them: beam, beam3, four_bar, oscillator, solids

A line per model: seconds of a run, of a run with the derivatives by one parameter, what that costs beyond the run in
runs (the aim is 1.2), and what each further parameter costs; then a line ``JSON {...}``.  Every time is the best of
three; models with changed parameters, which are made once before, are told apart.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from functools import partial
from pathlib import Path
from time import perf_counter

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np  # noqa: E402

from fem_mbs import Model, sensitivities, solve  # noqa: E402
from tests.sensitivity import sensitive_models as models  # noqa: E402



def mechanism(E: float = 2.1e11, diameter: float = 0.02, n: int = 12, h: float = 1e-3, duration: float = 0.5) -> Model:
    """Return a four-bar linkage in space of beams, 6 x 39 unknowns and those of its joints, whose crank is driven."""
    model = Model(3, "flexible linkage", gravity=(0.0, -9.81, 0.0))
    model.material("steel", E=E, nu=0.3, density=7850.0)
    model.section("rod", shape="circle", diameter=diameter)
    base, crank, rod, rocker = 0.6, 0.2, 0.7, 0.5
    d = np.hypot(base, crank)  # from the crank's end to the far pin, and by the cosine rule the coupler's far end
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
ROUNDS = 3


def measure(name: str) -> dict[str, float]:
    """Return seconds of a run, with one and with two parameters, and of making the changed models of one."""
    build, values = CASES[name]
    first = dict([next(iter(values.items()))])
    found: dict[str, list[float]] = {"run": [], "one": [], "two": [], "making": []}
    solve(build(**values))  # compiles
    sensitivities(build, first)
    for _ in range(ROUNDS):
        model = build(**values)
        began = perf_counter()
        solve(model)
        found["run"].append(perf_counter() - began)
        one, two = sensitivities(build, first), sensitivities(build, values)
        found["one"].append(one.seconds[0])
        found["two"].append(two.seconds[0])
        found["making"].append(one.seconds[1])
    return {key: min(seconds) for key, seconds in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*CASES, []], help="models")
    told = {}
    for name in parser.parse_args().names or CASES:
        s = measure(name)
        extra, more = s["one"] / s["run"] - 1.0, (s["two"] - s["one"]) / s["run"]
        told[name] = {**s, "extra": extra, "more": more}
        print(
            f"{name:12s} run {s['run']:.3f} s, with one parameter {s['one']:.3f} s: {extra:.2f} runs beyond it; "
            f"each further one {more:.2f}; models beside it {s['making']:.3f} s"
        )
    print("JSON", json.dumps(told))


if __name__ == "__main__":
    main()
