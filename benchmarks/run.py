"""Timings: the pieces of a step, and whole analyses beside other programs where those are installed.

    python benchmarks/run.py                                 everything
    python benchmarks/run.py kernel spin      cases: kernel, spin, elbow, chain, crank, links, memory, modes, parts,
                                              complex, contact
    python benchmarks/run.py spin --peers venv/bin/python --peer-scripts scripts

The other programs run from scripts "case1_exudyn.py", "case1_opensees.py" ..., which print one line ``JSON {...}``
with ``wall_s``, ``steps`` and ``results``, in the given Python.  Our side is `solve_case.py`.  Both sides run one after
the other, several times, in processes of their own with one thread; the best time of each counts.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
THREADS = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "MKL_NUM_THREADS", "FEM_MBS_THREADS"), "1"
)
os.environ.update(THREADS)  # before numpy is imported

#: A run that takes longer than this [s] is not repeated.
LONG = 15.0
TIMEOUT = 600.0

# Options of the other programs that make each of them fastest without harm to its accuracy.
_EXUDYN_BEAM = "--rtol 1e-6 --atol 1e-4"


@dataclass(frozen=True)
class Run:
    """One side of a comparison: who, script, arguments."""

    who: str
    script: str
    arguments: str


def spin_runs(n: int, slow: bool) -> list[Run]:
    runs = [
        Run("Exudyn, beam", "case1_exudyn.py", f"--n {n} --elem beam2d {_EXUDYN_BEAM}"),
        Run("Exudyn, cable", "case1_exudyn.py", f"--n {n} --elem cable {_EXUDYN_BEAM}"),
        Run("Kratos", "case1_kratos.py", f"--n {n} --rtol 1e-10 --atol {1e-4 if n <= 16 else 1e-3}"),
    ]
    if n <= 16 or slow:
        runs.append(Run("OpenSees", "case1_opensees.py", f"--n {n}"))
    return runs


def chain_runs(n: int, slow: bool, duration: float) -> list[Run]:
    adaptive = 1 if n <= 100 or duration > 4.0 else 0
    end = f"--n {n} --tend {duration:g}"
    runs = [Run("OpenSees", "case2_opensees.py", end)]
    if n <= 1000 or slow:
        runs.append(Run("Exudyn", "case2_exudyn.py", f"{end} --adaptive {adaptive}"))
    return runs


def crank_runs(n: int, slow: bool) -> list[Run]:
    return [
        Run("Exudyn, cable", "case4_exudyn.py", f"--n {n} --elem cable"),
        Run("Exudyn, beam", "case4_exudyn.py", f"--n {n} --elem beam2d"),
        Run("OpenSees", "case4_opensees.py", f"--n {n}"),
    ]


def elbow_runs(n: int, slow: bool) -> list[Run]:
    runs = [Run("Exudyn", "case3_exudyn.py", f"--n {n}")]
    if n <= 50 or slow:
        runs.append(Run("OpenSees", "case3_opensees.py", f"--n {n}"))
        runs.append(
            Run("Kratos", "case3_kratos.py", f"--n {n} --scheme bdf2rot --crit residual --rtol 1e-6 --atol 1e-6")
        )
    return runs


def links_runs(n: int, slow: bool, case: str) -> list[Run]:
    if n > 1000 and not slow:
        return []
    return [Run("Exudyn", str(HERE / "peer_links_exudyn.py"), f"--n {n} --case {case}")]


class Bench:
    """Options of a run of this script, and the rows found so far."""

    def __init__(self, options):
        self.options = options
        self.rows: dict[str, list[dict]] = {}
        self.peers = options.peers if options.peers and options.peer_scripts else None

    # --- other processes -------------------------------------------------------------------------------------------
    def _process(self, command: list[str], folder: Path) -> dict:
        environment = {**os.environ, **THREADS, "PYTHONWARNINGS": "ignore"}
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False
            )
        except subprocess.TimeoutExpired:
            return {"failed": f"stopped after {TIMEOUT:g} s"}
        except OSError as error:
            return {"failed": str(error)}
        for line in done.stdout.splitlines():
            if line.startswith("JSON "):
                return json.loads(line[5:])
        return {"failed": ((done.stderr or done.stdout).strip().splitlines() or ["no answer"])[-1][:100]}

    def ours(self, case: str, n: int, duration: float | None = None, tolerance: float = 0.0) -> dict:
        command = [sys.executable, str(HERE / "solve_case.py"), case, "--n", str(n)]
        command += ["--tolerance", f"{tolerance:g}"]
        if duration is not None:
            command += ["--duration", f"{duration:g}"]
        return self._process(command, ROOT)

    def compare(self, case: str, n: int, others: list[Run], duration: float | None = None) -> list[dict]:
        """Run all sides in turn, and keep the best of each."""
        sides = [("fem-mbs", lambda: self.ours(case, n, duration))]
        clock = "cpu_s" if self.options.cpu else "wall_s"
        if tolerance := self.options.tolerance:
            sides.append((f"fem-mbs, {tolerance:g}", lambda: self.ours(case, n, duration, tolerance)))
        if self.peers:
            folder = Path(self.options.peer_scripts)
            for run in others:
                command = [self.peers, run.script, *run.arguments.split()]
                sides.append((run.who, lambda command=command: self._process(command, folder)))
        best: dict[str, dict] = {}
        for _ in range(self.options.repeat):
            for who, side in sides:
                known = best.get(who)
                if known and ("failed" in known or known.get(clock, known["wall_s"]) > LONG):
                    continue
                answer = side()
                if not known or answer.get(clock, 1e99) < known.get(clock, 1e99):
                    best[who] = answer
        rows = []
        for who, answer in best.items():
            row = {"who": who, "n": n, **answer}
            if "failed" not in answer:
                t_end = answer["results"].get("t_end")
                whole = answer["results"].get("completed", True)
                row["us_per_step"] = 1e6 * answer[clock] / answer["steps"] if whole else None
                row["ratio"] = best["fem-mbs"][clock] / answer[clock] if whole and who != "fem-mbs" else None
                row["stopped"] = None if whole else t_end
            rows.append(row)
        return rows

    # --- cases -----------------------------------------------------------------------------------------------------
    def kernel(self) -> None:
        import kernels

        o = self.options
        kernels.BUDGET = o.budget
        rows = kernels.element_kernels(o.kernel_elements)
        title = f"Kernels, {o.kernel_elements} elements"
        self._table(
            "kernel", title, rows,
            [("what", 36, "s"), ("microseconds", 13, ".1f"), ("ns_per_element", 15, ".1f"),
             ("flops_per_element", 18, "d"), ("GFlop_per_s", 12, ".2f")],
        )  # fmt: skip
        self._table(
            "assembly", "Assembly (kernels and scattering)", kernels.assemblies(o.assembly_sizes),
            [("what", 42, "s"), ("elements", 9, "d"), ("microseconds", 13, ".1f"), ("ns_per_element", 15, ".1f")],
        )  # fmt: skip
        self._table(
            "band", "Banded LU, compiled", kernels.band_solutions(o.band_sizes),
            [("what", 30, "s"), ("equations", 10, "d"), ("half_bandwidth", 15, "d"), ("factor_us", 11, ".1f"),
             ("solve_us", 10, ".1f"), ("GFlop_per_s", 12, ".2f")],
        )  # fmt: skip
        self._table(
            "sparse", "Sparse solvers (first: with the analysis of the pattern)", kernels.sparse_solutions(o.lattices),
            [("what", 30, "s"), ("equations", 10, "d"), ("first_us", 11, ".0f"), ("factor_us", 11, ".0f"),
             ("solve_us", 11, ".0f"), ("note", 1, "s")],
        )  # fmt: skip

    def spin(self) -> None:
        rows = []
        for n in self.options.spin_sizes:
            rows += self.compare("spin", n, spin_runs(n, self.options.slow), self.options.duration)
        self._compared("spin", "Spin-up beam, h = .005 s; smallest tip deflection, exact -.5738 m", rows, "u2_min")

    def chain(self) -> None:
        for duration, what in ((4.0, "to 4 s"), (5.0, "through the whip to 5 s")):
            end = self.options.duration or duration
            rows = []
            for n in self.options.chain_sizes:
                rows += self.compare("chain", n, chain_runs(n, self.options.slow, end), end)
            title = f"Falling chain {what}, h = .01 s; energy drift over the largest kinetic energy"
            self._compared(f"chain {duration:g}", title, rows, "drift_rel_kin", ".1e")

    def crank(self) -> None:
        rows = []
        for n in self.options.crank_sizes:
            rows += self.compare("crank", n, crank_runs(n, self.options.slow), self.options.duration)
        title = "Slider-crank, h = 5e-5 s; largest deflection over length, converged .00986"
        self._compared("crank", title, rows, "w_max_over_L", ".5f")

    def elbow(self) -> None:
        rows = []
        for n in self.options.elbow_sizes:
            rows += self.compare("elbow", n, elbow_runs(n, self.options.slow), self.options.duration)
        title = "Right-angle elbow in space, n elements per leg, h = .02 s, 1500 steps; largest deflection of the tip"
        self._compared("elbow", title, rows, "tip_uz_max", ".3f")

    def links(self) -> None:
        for case in ("open", "closed", "open-space", "closed-space"):
            rows = []
            for n in self.options.links_sizes:
                runs = links_runs(n, self.options.slow, case)
                rows += self.compare(f"links-{case}", n, runs, self.options.duration)
            for row in rows:
                if row.get("us_per_step"):
                    row["us_per_step_body"] = row["us_per_step"] / row["n"]
            title = (
                f"Chain of rigid rods, {case.replace('-', ', ')}, h = .01 s, 100 steps; height of the tip at the end"
            )
            self._compared(f"links {case}", title, rows, "tip_y", ".5f", [("us_per_step_body", 17, ".2f")])

    def memory(self) -> None:
        rows = []
        for case in ("long-beam", "long-chain"):
            for n in self.options.memory_sizes:
                row = {"who": case, "n": n, **self.ours(case, n)}
                if "failed" not in row:
                    row["us_per_step"] = 1e6 * row["wall_s"] / row["steps"]
                    row["us_per_iteration_element"] = row["us_per_step"] / row["iterations_per_step"] / n
                rows.append(row)
        self._table(
            "memory", "Long models, 10 steps: memory and time",
            rows,
            [("who", 12, "s"), ("n", 8, "d"), ("maxrss_mb", 10, ".0f"), ("bytes_per_element", 18, "d"),
             ("us_per_step", 12, ".0f"), ("iterations_per_step", 20, ".1f"), ("us_per_iteration_element", 25, ".3f"),
             ("failed", 1, "s")],
        )  # fmt: skip

    def modes(self) -> None:
        sides = ("fem-mbs", "bare-cholmod", "bare-superlu", "calculix")
        if not shutil.which("ccx"):
            sides = sides[:-1]
        rows = []
        for n in self.options.modes_sizes:
            best: dict[str, dict] = {}
            more = ("fem-mbs-inertia", "fem-mbs-band", "fem-mbs-free", "fem-mbs-buckling")
            for turn in range(self.options.repeat):
                for side in (*sides, *more) if turn == 0 else sides[:2]:
                    if side == "bare-superlu" and n > 5 and not self.options.slow:
                        continue
                    answer = self._process([sys.executable, str(HERE / "modes.py"), side, "--n", str(n)], ROOT)
                    if side not in best or answer.get("cpu_s", 1e99) < best[side].get("cpu_s", 0.0):
                        best[side] = answer
            bare = best["bare-cholmod"].get("cpu_s")
            for side, row in best.items():
                results = row.get("results", {})
                row.update(
                    who=side,
                    n=n,
                    note=row.get("failed"),
                    ratio=row["cpu_s"] / bare if bare and "cpu_s" in row else None,
                )
                row["lowest"] = next((f for f in results.get("frequencies_hz", ()) if f > 0.0), None)
                row["found"] = len(results.get("frequencies_hz", results.get("stresses_pa", ())))
                rows.append(row)
        title = "Modes of a solid bar, 20 lowest unless said; seconds of one processor; ratio: over the bare library"
        self._table(
            "modes", title, rows,
            [("n", 4, "d"), ("who", 17, "s"), ("equations", 9, "d"), ("cpu_s", 8, ".2f"), ("ratio", 6, ".2f"),
             ("factorisations", 14, "d"), ("solves", 6, "d"), ("maxrss_mb", 9, ".0f"), ("residual", 9, ".0e"),
             ("found", 5, "d"), ("lowest", 9, ".3f"), ("note", 1, "s")],
        )  # fmt: skip

    def reduction(self) -> None:
        rows = []
        for n in self.options.reduction_sizes:
            best: dict[str, dict] = {}
            sides = ["bare-cholmod", "fem-mbs", "fem-mbs-average", "fem-mbs-cutoff"]
            with tempfile.TemporaryDirectory() as folder:
                matrices = str(Path(folder) / "bar.npz")
                script = str(HERE / "reduction.py")
                if self.options.peers:
                    self._process([sys.executable, script, "export", matrices, "--n", str(n)], ROOT)
                    sides.append("Exudyn")
                for turn in range(self.options.repeat):
                    for side in sides if turn == 0 else sides[:2]:
                        if side == "Exudyn":
                            command = [self.options.peers, str(HERE / "peer_reduction_exudyn.py"), matrices]
                        else:
                            command = [sys.executable, script, side, "--n", str(n)]
                        answer = self._process(command, ROOT)
                        if side not in best or answer.get("cpu_s", 1e99) < best[side].get("cpu_s", 0.0):
                            best[side] = answer
            bare = best["bare-cholmod"]
            for side, row in best.items():
                found = row.get("results", {}).get("frequencies_hz", ())
                row.update(who=side, n=n, note=row.get("failed"), modes=len(found), lowest=next(iter(found), None))
                if "cpu_s" in bare and "cpu_s" in row:
                    row["ratio"] = row["cpu_s"] / bare["cpu_s"]
                rows.append(row)
        title = "Craig-Bampton of a bar of quadratic hexahedra, two interfaces, 20 modes; ratio: over the bare library"
        self._table(
            "reduction", title, rows,
            [("n", 4, "d"), ("who", 17, "s"), ("equations", 9, "d"), ("wall_s", 8, ".2f"), ("cpu_s", 8, ".2f"),
             ("ratio", 6, ".2f"), ("maxrss_mb", 9, ".0f"), ("modes", 5, "d"), ("lowest", 9, ".4f"), ("note", 1, "s")],
        )  # fmt: skip

    def parts(self) -> None:
        jobs = [["--cell", *part.split(":")[:1], "--n", part.split(":")[1]] for part in self.options.parts]
        jobs += [["--deck", deck] for deck in self.options.part_decks]
        sides = ["assembly", "bare", "fem-mbs", *(["calculix"] if shutil.which("ccx") else [])]
        rows = []
        for job in jobs:
            best: dict[str, dict] = {}
            for turn in range(self.options.repeat):
                for side in sides if turn == 0 else sides[:3]:
                    answer = self._process([sys.executable, str(HERE / "parts.py"), side, *job], ROOT)
                    if side not in best or answer.get("cpu_s", 1e99) < best[side].get("cpu_s", 0.0):
                        best[side] = answer
            bare, theirs = best["bare"], best.get("calculix", {}).get("results", {}).get("frequencies_hz")
            for side, row in best.items():
                row.update(who=side, note=row.get("failed"))
                if side in ("fem-mbs", "calculix") and "cpu_s" in bare and "cpu_s" in row:
                    row["over_bare"] = row["cpu_s"] / bare["cpu_s"]
                found = row.get("results", {}).get("frequencies_hz")
                if side != "calculix" and theirs and found:
                    row["from_calculix"] = max(abs(a / b - 1.0) for a, b in zip(found, theirs, strict=True))
                rows.append(row)
        title = "A solid part from its deck to 20 modes, whole runs; bare: CHOLMOD and ARPACK alone; ratio of cpu_s"
        self._table(
            "parts", title, rows,
            [("part", 20, "s"), ("who", 9, "s"), ("equations", 9, "d"), ("elements", 9, "d"), ("wall_s", 8, ".2f"),
             ("cpu_s", 8, ".2f"), ("over_bare", 9, ".2f"), ("maxrss_mb", 9, ".0f"), ("from_calculix", 13, ".1e"),
             ("note", 1, "s")],
        )  # fmt: skip

    def complex(self) -> None:
        jobs = [("fem-mbs", "stability.py", case, n) for case, n in self.options.complex]
        if self.peers and self.options.slow:
            jobs.append(("Exudyn", "peer_complex_exudyn.py", "", 600))
        rows = []
        for who, script, case, n in jobs:
            python = sys.executable if who == "fem-mbs" else self.options.peers
            command = [python, str(HERE / script), *([case] if case else []), "--n", str(n)]
            row = self._process(command, ROOT)
            results = row.get("results", {})
            values = [abs(complex(*p)) for p in results.get("eigenvalues", ())]
            row.update(who=who, case=case or "beam", note=row.get("failed"), lowest=min(values, default=None))
            row.update({key: results.get(key) for key in ("error", "residual", "backward_error")})
            row.update({key: results.get("effort", {}).get(key) for key in ("factorisations", "solves")})
            rows.append(row)
        self._table(
            "complex", "Complex modes: six of a damped cantilever, ten of a spinning shaft of solids", rows,
            [("case", 6, "s"), ("who", 8, "s"), ("equations", 9, "d"), ("wall_s", 8, ".2f"), ("cpu_s", 8, ".2f"),
             ("factorisations", 14, "d"), ("solves", 6, "d"), ("maxrss_mb", 9, ".0f"), ("lowest", 11, ".4f"),
             ("error", 8, ".0e"), ("residual", 8, ".0e"), ("backward_error", 14, ".0e"), ("note", 1, "s")],
        )  # fmt: skip

    def contact(self) -> None:
        jobs = [(kind, n, 200) for kind in ("floor", "triangles") for n in self.options.contact_sizes]
        jobs += [(kind, self.options.contact_sizes[0], 10_000) for kind in ("floor", "triangles")]
        rows = []
        for kind, n, steps in jobs:
            command = [sys.executable, str(HERE / "contact.py"), kind, "--n", str(n), "--steps", str(steps)]
            row = self._process(command, ROOT)
            row.update(surface=kind, n=n, note=row.get("failed"))
            if self.peers:
                command = [self.peers, str(HERE / "peer_contact_exudyn.py"), *command[2:]]
                row["exudyn_ms"] = self._process(command, HERE).get("step_ms")
            rows.append(row)
        self._table(
            "contact", "Balls that bounce over a floor, and over 10 000 triangles; energy: its change", rows,
            [("surface", 9, "s"), ("n", 6, "d"), ("steps", 6, "d"), ("setup_s", 8, ".2f"), ("step_ms", 8, ".2f"),
             ("exudyn_ms", 9, ".2f"), ("iterations", 10, ".2f"), ("energy", 8, ".0e"), ("note", 1, "s")],
        )  # fmt: skip

    # --- output ----------------------------------------------------------------------------------------------------
    def _compared(
        self, key: str, title: str, rows: list[dict], result: str, form: str = ".4f", more: Sequence = ()
    ) -> None:
        for row in rows:
            row[result] = row.get("results", {}).get(result)
            stopped = row.get("stopped")
            row["note"] = row.get("failed") or (f"stopped at {stopped:.2f} s" if stopped is not None else "")
        self._table(
            key, title + (" (ratio: our time over theirs)" if self.peers else ""),
            rows,
            [("n", 6, "d"), ("who", 15, "s"), ("wall_s", 9, ".4f"), ("us_per_step", 12, ".1f"), ("ratio", 7, ".2f"),
             *more, (result, 14, form), ("note", 1, "s")],
        )  # fmt: skip

    def _table(self, key: str, title: str, rows: list[dict], columns) -> None:
        self.rows[key] = rows
        print(f"\n{title}")
        lines = [[name.replace("_", " ") for name, _, _ in columns]]
        for row in rows:
            values = [(row.get(name), form) for name, _, form in columns]
            lines.append(["" if value is None else format(value, form) for value, form in values])
        for line in lines:
            cells = [
                f"{t:{'<' if form == 's' else '>'}{width}}" for t, (_, width, form) in zip(line, columns, strict=True)
            ]
            print("  ".join(cells).rstrip())
        sys.stdout.flush()


CASES = (
    "kernel",
    "spin",
    "chain",
    "crank",
    "elbow",
    "links",
    "memory",
    "modes",
    "parts",
    "complex",
    "reduction",
    "contact",
)


def _sizes(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _first_existing(*candidates: Path) -> str | None:
    return next((str(c) for c in candidates if c.exists()), None)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"{', '.join(CASES)} (all)")
    parser.add_argument(
        "--peers", metavar="PYTHON", default=_first_existing(ROOT / "peers" / "bin" / "python"),
        help="the Python that has exudyn, openseespy, KratosMultiphysics (peers/bin/python)",
    )  # fmt: skip
    parser.add_argument(
        "--peer-scripts", metavar="DIR", default=_first_existing(ROOT.parent / "shared" / "peers"),
        help="the folder of their scripts (../shared/peers)",
    )  # fmt: skip
    parser.add_argument("--json", metavar="FILE", help="write all numbers to this file")
    parser.add_argument("--repeat", type=int, default=3, help=f"runs of each side; one if it takes over {LONG:g} s")
    parser.add_argument("--cpu", action="store_true", help="compare processor times: on a machine with other work")
    parser.add_argument("--tolerance", type=float, default=0.0, help="our side also with this energy_tolerance")
    parser.add_argument("--slow", action="store_true", help="also the runs of other programs that take minutes")
    parser.add_argument("--duration", type=float, help="simulated time [s] instead of each case's own")
    parser.add_argument("--budget", type=float, default=0.2, help="time of one measurement of a kernel [s]")
    parser.add_argument("--kernel-elements", type=int, default=1000)
    parser.add_argument("--assembly-sizes", type=_sizes, default=[1000, 100_000])
    parser.add_argument("--band-sizes", type=_sizes, default=[2, 16, 256, 10_000])
    parser.add_argument("--lattices", type=_sizes, default=[40, 100, 200])
    parser.add_argument("--reduction-sizes", type=_sizes, default=[4, 9])
    parser.add_argument("--spin-sizes", type=_sizes, default=[2, 4, 16, 64, 256])
    parser.add_argument("--chain-sizes", type=_sizes, default=[100, 1000, 10_000])
    parser.add_argument("--crank-sizes", type=_sizes, default=[2, 4, 16, 64])
    parser.add_argument("--elbow-sizes", type=_sizes, default=[10, 20, 50, 100, 200])
    parser.add_argument("--links-sizes", type=_sizes, default=[10, 100, 1000, 10_000])
    parser.add_argument("--memory-sizes", type=_sizes, default=[1000, 10_000, 100_000])
    parser.add_argument(
        "--parts", type=lambda text: [p for p in text.split(",") if p], default=["hex20:9", "tet10:7"],
        help="cells and cubes across the part",
    )  # fmt: skip
    parser.add_argument("--part-decks", type=lambda text: text.split(","), default=[], help="meshes of your own")
    parser.add_argument(
        "--complex", type=lambda text: [(p.split(":")[0], int(p.split(":")[1])) for p in text.split(",") if p],
        default=[("beam", 800), ("shaft", 4)], help="beam:n elements, shaft:n elements across",
    )  # fmt: skip
    parser.add_argument("--contact-sizes", type=_sizes, default=[100, 1000, 10_000], help="balls")
    parser.add_argument("--modes-sizes", type=_sizes, default=[4, 7], help="cubes across the solid bar")
    options = parser.parse_args(arguments)
    for case in options.cases:
        if case not in CASES:
            parser.error(f"unknown case {case!r}; there are {', '.join(CASES)}")
    bench = Bench(options)
    if not bench.peers:
        print("other programs: none (give --peers and --peer-scripts to have them run beside)")
    for case in options.cases or CASES:
        getattr(bench, case)()
    if options.json:
        Path(options.json).write_text(json.dumps(bench.rows, indent=1, default=float) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
