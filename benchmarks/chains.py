"""Print the time of a step of spatial pendulums in joint coordinates beside absolute coordinates.

    python benchmarks/chains.py [--sizes 2,8,32]

The pendulums are those of the validation case B-HAMILTON.  Times are processor seconds of the steps alone, the best of
three runs.
"""

from __future__ import annotations

import sys

from fem_mbs import solve
from fem_mbs.validation.van_holten_2000_chain import build

RULES = ("midpoint", "hamiltonian")
STEPS = 400


def microseconds(n: int, rule: str) -> float:
    """Return the time [us] of a step of n rods."""
    solve(build(n, 0.0025, 0.025, rule))  # compiles what lacks
    duration = 0.0025 * STEPS
    return min(1e6 * solve(build(n, 0.0025, duration, rule)).steps[0].summary["seconds"] / STEPS for _ in range(3))


def main() -> None:
    """Print the table as Markdown."""
    sizes = [2, 4, 8, 16, 32, 64]
    if "--sizes" in sys.argv:
        sizes = [int(n) for n in sys.argv[sys.argv.index("--sizes") + 1].split(",")]
    print("| rods | absolute coordinates | joint coordinates | ratio |\n|---|---|---|---|")
    for n in sizes:
        absolute, joints = (microseconds(n, rule) for rule in RULES)
        print(f"| {n} | {absolute:.0f} | {joints:.0f} | {joints / absolute:.2f} |", flush=True)


if __name__ == "__main__":
    main()
