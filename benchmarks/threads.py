"""Element loops, assembly, factors and BLAS with one thread and with several: times against size, and bits.

    python benchmarks/threads.py loops            element loops and additions, and from which size on threads pay
    python benchmarks/threads.py assembly         residual and matrices of whole models
    python benchmarks/threads.py factors          CHOLMOD by the number of threads of BLAS: times and bits
    python benchmarks/threads.py blas             which BLAS routines give other bits with other numbers of threads
    python benchmarks/threads.py modes            20 modes of a bar of 1e5 dofs from its deck, and CalculiX

``--threads 2`` is the larger number.  Times are the best of many calls, which take turns with one thread and with
several: on a busy machine a call counts that had the processors.  "cpu" is the processor time of all threads together,
"pays" the ratio of the times by the clock.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import parts
import solids

from fem_mbs import Mesh, Model
from fem_mbs import contract as C
from fem_mbs.meshes.mesh import CellBlock
from fem_mbs.model.model import CompiledModel
from fem_mbs.solvers.linear.factors import Pencil
from fem_mbs.solvers.linear.libraries import analyse
from fem_mbs.solvers.stepping.side_by_side import add_matrices, evaluate
from fem_mbs.system.compiled import prepare
from fem_mbs.system.tangent import control, function_table, matrices_of
from fem_mbs.threads import use_threads
from fem_mbs.validation.shell_grids import shell, square

SECONDS = 0.6  # of measuring, for each line and number of threads


def best(calls: dict[int, Callable[[], object]]) -> dict[int, tuple[float, float]]:
    """Return the best times [s] by the clock and of the processors for some calls, which take turns."""
    found = dict.fromkeys(calls, (np.inf, np.inf))
    for call in calls.values():
        call()
    end = time.perf_counter() + SECONDS * len(calls)
    while time.perf_counter() < end:
        for key, call in calls.items():
            wall, cpu = time.perf_counter(), time.process_time()
            call()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            found[key] = min(found[key][0], wall), min(found[key][1], cpu)
    return found


def threaded(call: Callable[[], object], threads: int) -> dict[int, Callable[[], object]]:
    """Return the same call with one thread and with several."""

    def within(number: int) -> Callable[[], object]:
        def run() -> None:
            with use_threads(number):
                call()

        return run

    return {number: within(number) for number in (1, threads)}


def bar(cell: str, elements: int) -> Model:
    """Return a model of about so many elements of a kind."""
    if cell == "beam":
        model = Model(3)
        model.section(
            "rod",
            "stiffness",
            EA=1e6,
            EIy=10.0,
            EIz=10.0,
            GJ=10.0,
            GAy=1e6,
            GAz=1e6,
            rhoA=1.0,
            rhoIx=1e-4,
            rhoIy=1e-4,
            rhoIz=1e-4,
        )
        model.line("rod", (0, 0, 0), (0.1 * elements, 0, 0), elements)
        model.beams("rod", "rod", "rod")
        return model
    if cell == "quad8":
        n = max(1, round(elements**0.5))
        return shell(square(lambda u, v: (u, v, 0.1 * u * v), n, n, "quad8"), 2.1e11, 0.3, 0.01, 7850.0)
    n = max(1, elements // (1 if cell == "hex20" else 6))
    x, nodes = parts.hexahedra(n, 1) if cell == "hex20" else solids.mesh(n, 1, 1)
    name, nodes = ("hexahedron20", nodes) if cell == "hex20" else ("tetra10", nodes.reshape(-1, 10))
    model = Model(3)
    model.mesh("bar", Mesh(x, [CellBlock(name, nodes)]))
    model.material("steel", E=2.1e11, nu=0.3, density=7850.0)
    model.solids("bar", on="bar", material="steel")
    return model


def compiled_of(cell: str, elements: int) -> CompiledModel:
    """Return the compiled model of `bar`."""
    return bar(cell, elements).compile(stepping=False)


CELLS = ("beam", "tet10", "quad8", "hex20")


def loops(threads: int) -> None:
    """Print times of element loops and additions against the number of elements, without the rule that decides."""
    import fem_mbs.solvers.stepping.side_by_side as rule

    rule.PAYS = rule.PAYS_ADDING = 0
    print(f"{'':8}{'elements':>9}{'entries':>10}  " + "".join(f"{w:>30}" for w in ("tangent", "force", "add")))
    print(" " * 29 + f"{'1 ms':>10}{f'{threads} ms':>10}{'pays':>10}" * 3)
    for cell in CELLS:
        for entries in (4e3, 8e3, 16e3, 32e3, 64e3, 128e3, 256e3, 1e6, 4e6):
            m = {"beam": 12, "tet10": 30, "quad8": 48, "hex20": 60}[cell]
            system = compiled_of(cell, max(2, round(entries / m**2))).system
            block = max(system.blocks, key=lambda b: b.size * b.type.local_dofs**2)
            state, fun = system.initial_state(), function_table(np.zeros(0))
            matrices = matrices_of(system)
            prepare([block])
            n, m, hist = block.size, block.type.local_dofs, system.block_history(block)
            fe, ke = np.zeros((n, m)), np.zeros((n, m, m))
            slot, values = matrices.places(block, 0, n), np.zeros(matrices.size)

            def run(job: int, block=block, state=state, fun=fun, fe=fe, ke=ke, hist=hist) -> None:
                evaluate(block.type.force, job, 0, block.size, control(2.0), block.par, block.dof, block.rot, hist,
                         fun, state.Q, state.D, state.V, state.DD, state.U, fe, ke)  # fmt: skip

            def add(block=block, ke=ke, slot=slot, values=values) -> None:
                add_matrices(block.dof, ke, slot, values)

            line = f"{cell:8}{n:9d}{n * m * m:10d}  "
            for call in (lambda: run(C.TANGENT), lambda: run(C.FORCE), add):
                found = best(threaded(call, threads))
                one, more = found[1][0], found[threads][0]
                line += f"{1e3 * one:10.3f}{1e3 * more:10.3f}{one / more:10.2f}"
            print(line, flush=True)


def assembly(threads: int) -> None:
    """Print times of residual, stiffness and mass of whole models."""
    print(
        f"{'':8}{'dofs':>9}{'elements':>9}{'1 ms':>9}{f'{threads} ms':>9}{'pays':>7}{'cpu 1':>9}{f'cpu {threads}':>9}"
    )
    for cell in CELLS:
        for elements in (100, 1000, 10000):
            system = compiled_of(cell, elements).system
            matrices, state = matrices_of(system), system.initial_state()
            fun = function_table(np.zeros(0))
            found = best(threaded(lambda s=state, f=fun, m=matrices: m.tangent(control(2.0), f, s), threads))
            (one, cpu), (more, cpu_more) = found[1], found[threads]
            print(f"{cell:8}{system.n_dof:9d}{elements:9d}{1e3 * one:9.2f}{1e3 * more:9.2f}{one / more:7.2f}"
                  f"{1e3 * cpu:9.2f}{1e3 * cpu_more:9.2f}", flush=True)  # fmt: skip


def factors(threads: int) -> None:
    """Print times of CHOLMOD's factorisation and solutions by the number of threads of BLAS, and whether bits agree."""
    from threadpoolctl import ThreadpoolController

    print(f"{'dofs':>8}{'':>14}{'1 s':>9}{f'{threads} s':>9}{'pays':>7}{'cpu 1':>9}{f'cpu {threads}':>9}   same bits")
    for n in (2, 3, 4, 5, 7):
        K = solids.cantilever(10 * n, n)[0]
        pencil = Pencil(K)
        A = pencil.lower(0.0)
        factor = analyse(A, True, "metis")
        blas = ThreadpoolController()
        b = np.random.default_rng(0).standard_normal((pencil.n, 32))
        kinds = {
            "factorisation": lambda f=factor, A=A, b=b: (f.factor(A), f.solve(b[:, 0]))[1],
            "solution": lambda f=factor, b=b: f.solve(b[:, 0]),
            "32 solutions": lambda f=factor, b=b: f.solve(b),
        }
        for name, call in kinds.items():
            answers: dict[int, np.ndarray] = {}

            def within(number: int, call=call, answers=answers, blas=blas) -> Callable[[], object]:
                def run() -> None:
                    with blas.limit(limits=number, user_api="blas"):
                        answers[number] = call()

                return run

            found = best({number: within(number) for number in (1, threads)})
            (one, cpu), (more, cpu_more) = found[1], found[threads]
            same = "yes" if np.array_equal(answers[1], answers[threads]) else "no"
            print(f"{pencil.n:8d}{name:>14}{one:9.4f}{more:9.4f}{one / more:7.2f}{cpu:9.4f}{cpu_more:9.4f}   {same}",
                  flush=True)  # fmt: skip


class _Blas:
    """Routines of a BLAS library, called as CHOLMOD calls them, on matrices of random numbers."""

    def __init__(self, path: str):
        self._library, self._rng = ctypes.CDLL(path), np.random.default_rng(1)

    def _call(self, routine: str, *arguments) -> None:
        passed = []
        for a in arguments:
            if isinstance(a, str):
                passed.append(ctypes.c_char_p(a.encode()))
            elif isinstance(a, np.ndarray):
                passed.append(a.ctypes.data_as(ctypes.c_void_p))
            else:
                passed.append(ctypes.byref((ctypes.c_double if isinstance(a, float) else ctypes.c_int)(a)))
        getattr(self._library, f"{routine}_")(*passed)

    def _matrix(self, m: int, n: int, dominant: float = 0.0) -> np.ndarray:
        return np.asfortranarray(self._rng.standard_normal((m, n)) + dominant * np.eye(m, n))

    def calls(self, m: int, n: int, k: int) -> dict[str, Callable[[], np.ndarray]]:
        """Return calls that start from the same matrices each time."""
        A, B, D, T, P = (self._matrix(*s) for s in ((m, k), (n, k), (m, n), (k, k, k), (k, k)))
        P = np.asfortranarray(P @ P.T + k * np.eye(k))
        x, y = self._matrix(k, 1), self._matrix(m, 1)

        def on(start: np.ndarray, *call) -> Callable[[], np.ndarray]:
            def run() -> np.ndarray:
                out = start.copy(order="F")
                self._call(*(out if a is None else a for a in call))
                return out

            return run

        return {
            "dgemm": on(D, "dgemm", "N", "T", m, n, k, -1.0, A, m, B, n, 1.0, None, m),
            "dsyrk": on(np.zeros((m, m), order="F"), "dsyrk", "L", "N", m, k, 1.0, A, m, 0.0, None, m),
            "dpotrf": on(P, "dpotrf", "L", k, None, k, 0),
            "dtrsm": on(A, "dtrsm", "R", "L", "T", "N", m, k, 1.0, T, k, None, m),
            "dgemv": on(y, "dgemv", "N", m, k, -1.0, A, m, x, 1, 1.0, None, 1),
            "dtrsv": on(x, "dtrsv", "L", "N", "N", k, T, k, None, 1),
        }


def blas_bits(threads: int) -> None:
    """Print how often routines of each BLAS library of this process give other bits with other numbers of threads."""
    from threadpoolctl import ThreadpoolController

    analyse(Pencil(solids.cantilever(2, 1)[0]).lower(0.0), True)  # it loads the BLAS of CHOLMOD
    control_of = ThreadpoolController()
    for library in control_of.info():
        if library["user_api"] != "blas" or library["prefix"] == "libscipy_openblas":
            continue  # (the names of routines in wheels have other endings)
        print(library["filepath"], library["version"], library.get("architecture", ""))
        made, rng, trials = _Blas(library["filepath"]), np.random.default_rng(0), 100
        differ: dict[str, list[tuple[int, int, int]]] = {}
        for _ in range(trials):
            shape = tuple(int(np.exp(rng.uniform(np.log(2), np.log(most)))) for most in (1500, 800, 800))
            for name, call in made.calls(*shape).items():
                answers = []
                for number in (1, threads):
                    with control_of.limit(limits=number, user_api="blas"):
                        answers.append(call())
                if not np.array_equal(*answers):
                    differ.setdefault(name, []).append(shape)
        for name in made.calls(2, 2, 2):
            found = sorted(differ.get(name, []), key=np.prod)
            print(f"  {name:8}{len(found):4d} of {trials} shapes differ" + (f", first {found[0]}" if found else ""))


def modes(numbers: list[int], cells: list[str], n: int | None, repeats: int) -> None:
    """Print times of whole runs of a deck by `parts.py`, ours and CalculiX's, in turns, with as many threads each."""
    print(f"{'':8}{'':10}{'threads':>8}{'s':>9}{'cpu s':>9}")
    for cell in cells:
        for number in numbers:
            walls: dict[str, list[float]] = {"fem-mbs": [], "calculix": []}
            for _ in range(repeats):
                for side, seen in walls.items():
                    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "FEM_MBS_THREADS")
                    script = [sys.executable, str(Path(__file__).parent / "parts.py"), side, "--cell", cell]
                    environment = os.environ | dict.fromkeys(names, str(number))
                    script += ["--n", str(n or (7 if cell == "tet10" else 9))]
                    answer = subprocess.run(script, env=environment, capture_output=True, text=True, check=True)
                    told = json.loads(answer.stdout.rpartition("JSON")[2])
                    seen.append(told["wall_s"])
                    print(f"{cell:8}{side:10}{number:8d}{told['wall_s']:9.1f}{told['cpu_s']:9.1f}", flush=True)
            ours, theirs = (min(walls[side]) for side in walls)
            print(f"{cell:8}{'ratio':10}{number:8d}{ours / theirs:9.2f}", flush=True)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("loops", "assembly", "factors", "blas", "modes"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cell", action="append", choices=("tet10", "hex20"), help="of modes; default: both")
    parser.add_argument("--n", type=int, default=None, help="of modes: cubes across the bar")
    parser.add_argument("--repeats", type=int, default=2, help="of modes")
    parser.add_argument("--alike", action="store_true", help="of modes: not with one thread")
    given = parser.parse_args()
    if given.what == "modes":
        numbers = [given.threads] if given.alike else [1, given.threads]
        modes(numbers, given.cell or ["tet10", "hex20"], given.n, given.repeats)
    else:
        {"loops": loops, "assembly": assembly, "factors": factors, "blas": blas_bits}[given.what](given.threads)


if __name__ == "__main__":
    main()
