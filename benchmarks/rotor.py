"""Campbell diagram of a rotor of three discs, ours and that of ROSS, one process each, one thread.

    python benchmarks/rotor.py --sizes 13,52,104 --ross VENV/bin/python

Ours finds at every speed the steady rotation, the frame with constant coefficients, the modes with left and right
vectors and their residuals, and follows branches; the critical speeds by both ways come in addition and are timed with
them.  Sizes are multiples of 13, so that the discs are at nodes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from rotor_data import BEARINGS, DAMPING, DENSITY, DIAMETER, DISCS, FREQUENCIES, LENGTH, TOP, E, nu


def model(n: int, speeds: int):
    from fem_mbs import Model

    m = Model(3)
    m.material("steel", E=E, nu=nu, density=DENSITY)
    m.section("shaft", "circle", diameter=DIAMETER)
    m.line("shaft", (0, 0, 0), (LENGTH, 0, 0), n)
    m.beams("shaft", "shaft", "shaft", "steel")
    for x, width, outer in DISCS:
        mass = 0.25 * np.pi * DENSITY * (outer**2 - DIAMETER**2) * width
        square = outer**2 + DIAMETER**2
        m.disc(f"disc {x}", round(x / LENGTH * n), mass, mass * square / 8, mass * (0.75 * square + width**2) / 12,
               axis=(1, 0, 0))  # fmt: skip
    for end in ("start", "end"):
        m.bearing(end, f"shaft:{end}", stiffness=BEARINGS, damping=DAMPING, axis=(1, 0, 0))
    m.fix("shaft:start", ["x"])
    m.rotor("rotor", axis=(1, 0, 0))
    m.campbell_step("rotor", np.linspace(0.0, TOP, speeds), count=FREQUENCIES)
    return m


def ours(n: int, speeds: int) -> dict:
    from fem_mbs import solve

    m = model(n, speeds)
    solve(model(n, 2))  # what is compiled once
    wall, cpu = time.perf_counter(), time.process_time()
    step = solve(m).summary["steps"][-1]
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    frequencies = np.array([b["eigenvalues"] for b in step["branches"]])[:, :, 1] / (2.0 * np.pi)
    return {
        "wall_s": wall, "cpu_s": cpu, "dofs": 6 * (n + 1),
        "results": {
            "first_hz": np.sort(frequencies[:, 0]).tolist(), "last_hz": np.sort(frequencies[:, -1]).tolist(),
            "critical_rad_s": [c["speed"] for c in step["critical_speeds"]],
            "largest_residual": step["largest_residual"], "biorthogonality": step["biorthogonality"],
        },
    }  # fmt: skip


def side(command: list[str]) -> dict:
    """The line that a process of its own prints."""
    one = {
        **os.environ,
        **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "FEM_MBS_THREADS"), "1"),
    }
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=one)
    return json.loads(next(line for line in done.stdout.splitlines()[::-1] if line.startswith("JSON "))[5:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="13,52,104", help="elements of the shaft")
    parser.add_argument("--speeds", type=int, default=50)
    parser.add_argument("--repeat", type=int, default=3, help="the best time counts")
    parser.add_argument("--ross", default="", help="interpreter that has ross-rotordynamics")
    parser.add_argument("--json", default="", help="file for the rows")
    parser.add_argument("--one", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print("JSON " + json.dumps(ours(given.one, given.speeds)))
        return
    here, rows = Path(__file__).resolve(), []
    for n in (int(word) for word in given.sizes.split(",")):
        if n % 13:
            parser.error(f"size {n} is not a multiple of 13")
        sides = {"fem-mbs": [sys.executable, str(here), "--one", str(n), "--speeds", str(given.speeds)]}
        if given.ross:
            peer = here.parent / "peer_rotor_ross.py"
            sides["ROSS"] = [given.ross, str(peer), "--n", str(n), "--speeds", str(given.speeds)]
        for who, command in sides.items():
            best = min((side(command) for _ in range(given.repeat)), key=lambda row: row["wall_s"])
            row = {"who": who, "n": n, "speeds": given.speeds, **best}
            rows.append(row)
            last = ", ".join(f"{f:.2f}" for f in row["results"]["last_hz"])
            taken = f"{row['wall_s']:7.2f} s, {row['cpu_s']:6.2f} s of one processor"
            print(f"{who:8s} {n:4d} elements {row['dofs']:5d} dofs  {taken}   at the top: {last} Hz")
    if given.json:
        Path(given.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
