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

from fem_mbs import sensitivities, solve  # noqa: E402
from tests.sensitivity import sensitive_models as models  # noqa: E402

#: Models, and two of their parameters.
CASES = {
    "oscillator": (partial(models.oscillator, duration=60.0), {"k": 50.0, "m": 2.0}),
    "four_bar": (partial(models.four_bar, duration=10.0), {"stiffness": 20.0, "crank": 0.2}),
    "beam": (partial(models.beam, n=40, h=2e-3, duration=4.0, static=False), {"diameter": 0.01, "length": 1.0}),
    "beam3": (partial(models.beam, dim=3, n=20, h=2e-3, duration=2.0, static=False), {"diameter": 0.01, "length": 1.0}),
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
