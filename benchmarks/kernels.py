"""Time the pieces of a step: discrete forces and tangents, assembly, factorisation, solution."""

from __future__ import annotations

import time

import counting
import models
import numpy as np
from numba import njit

from fem_mbs import contract as C
from fem_mbs.analysis.transient.settings import Settings
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.errors import ModelError
from fem_mbs.solvers.linear.solver import make_solver
from fem_mbs.solvers.stepping.assembly import assemble
from fem_mbs.solvers.stepping.banded import band_factor, band_solve
from fem_mbs.solvers.stepping.motion import configure


@njit(cache=True, error_model="numpy")
def _kernel(times, where, job, n, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    # in tiles that stay in the cache, as a step calls it
    tile = fe.shape[0]
    for _ in range(times):
        for e in range(0, n, tile):
            C.call(where, job, e, min(e + tile, n), ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke)


@njit(cache=True, error_model="numpy")
def _assemble(times, job, kernels, system, ctl, fun, state):
    for _ in range(times):
        assemble(job, kernels, system, ctl, fun, state.Q, state.D, state.V, state.DD, state.U, state)


@njit(cache=True, error_model="numpy")
def _configure(system, state):
    configure(system, state, False)


@njit(cache=True, error_model="numpy")
def _factor(times, n, band, matrix, work, pivot):
    for _ in range(times):
        work[:] = matrix
        band_factor(n, band, band, work, pivot)


@njit(cache=True, error_model="numpy")
def _copy(times, matrix, work):
    for _ in range(times):
        work[:] = matrix


@njit(cache=True, error_model="numpy")
def _solve(times, n, band, work, pivot, rhs, x):
    for _ in range(times):
        x[:] = rhs
        band_solve(n, band, band, work, pivot, x)


#: Time for one measurement [s].
BUDGET = 0.2


def seconds(function, *arguments) -> float:
    """Best time of one pass [s]; ``function`` takes the number of passes first."""
    function(1, *arguments)
    started = time.perf_counter()
    function(1, *arguments)
    times = max(1, int(BUDGET / 7 / max(time.perf_counter() - started, 1e-7)))
    best = np.inf
    for _ in range(7):
        started = time.perf_counter()
        function(times, *arguments)
        best = min(best, (time.perf_counter() - started) / times)
    return best


class Ready:
    """A model a step into its motion: the arrays that kernels and assembly work on."""

    def __init__(self, model):
        compiled = model.compile()
        self.system, self.state = compiled.system, compiled.system.initial_state()
        h = model.steps[0].options["h"]
        self.stepping = stepping = Stepping(
            self.system, list(compiled.functions), self.state, model.gravity,
            rule="midpoint", t0=0.0, h=h, settings=Settings(),
        )  # fmt: skip
        stepping.begin()
        random = np.random.default_rng(0)
        free = self.system.system.unknown
        self.state.U[free] = 1e-3 * random.standard_normal(free.size)
        self.state.V[0, free] = random.standard_normal(free.size)
        _configure(self.system.system, self.state)
        now = np.array([0.0])
        self.fun = stepping.evaluate(now, now + 0.5 * h, now + h)[0]

    def kernel_arguments(self, block, tile: int):
        s, m = self.state, block.type.local_dofs
        hist = self.system.block_history(block)
        fe, ke = np.zeros((tile, m)), np.zeros((tile, m, m))
        return (
            self.stepping.ctl, block.par, block.dof, block.rot, hist, self.fun, s.Q, s.D, s.V, s.DD, s.U, fe, ke
        )  # fmt: skip

    def assembly(self, job: int) -> float:
        s = self.stepping
        return seconds(_assemble, job, s.kernels, self.system.system, s.ctl, self.fun, self.state)


def element_kernels(n: int) -> list[dict]:
    """Discrete force, and force with tangent, of n elements of each kind."""
    rows = []
    for model in (models.spin_up(n), models.chain(n)):
        ready = Ready(model)
        for block in ready.system.blocks:
            for job, name in ((C.FORCE, "force"), (C.TANGENT, "force and tangent")):
                arguments = ready.kernel_arguments(block, min(64, n))
                operations = counting.count(block.type.force, job, arguments)
                flops = sum(operations.values())
                where = C.address(block.type.force)
                best = seconds(_kernel, where, job, block.size, *arguments)
                rows.append(
                    {
                        "what": f"{block.type.name}, {name}",
                        "elements": block.size,
                        "microseconds": 1e6 * best,
                        "ns_per_element": 1e9 * best / block.size,
                        "flops_per_element": flops,
                        "operations": dict(operations),
                        "GFlop_per_s": 1e-9 * flops * block.size / best,
                    }
                )
    return rows


def assemblies(sizes) -> list[dict]:
    """Residual, and residual with matrix, of a whole model: kernels, scattering, convergence measures."""
    rows = []
    for n in sizes:
        for name, model in (("beams, Hermite mass", models.spin_up(n)), ("trusses, lumped mass", models.chain(n))):
            ready = Ready(model)
            for job, what in ((C.FORCE, "residual"), (C.TANGENT, "residual and matrix")):
                best = ready.assembly(job)
                row = {"what": f"{name}: {what}", "elements": n}
                rows.append({**row, "microseconds": 1e6 * best, "ns_per_element": 1e9 * best / n})
    return rows


def band_solutions(sizes) -> list[dict]:
    """Banded LU of the spin-up beam and of the chain in compiled code."""
    rows = []
    for n in sizes:
        for name, model in (("beam", models.spin_up(n)), ("chain", models.chain(n))):
            ready = Ready(model)
            ready.assembly(C.TANGENT)
            equations, band = ready.system.n_equations, ready.system.bandwidth
            matrix = ready.state.values[:-1].reshape(equations, 3 * band + 1).copy()
            work, pivot = matrix.copy(), np.zeros(equations, np.int64)
            rhs = np.ones(equations)
            x = rhs.copy()
            factor = seconds(_factor, equations, band, matrix, work, pivot) - seconds(_copy, matrix, work.copy())
            solve = seconds(_solve, equations, band, work, pivot, rhs, x)
            # without row interchanges: a reciprocal, kl products and kl ku pairs of product and sum per column
            flops = equations * (1 + band + 2 * band * band)
            rows.append(
                {
                    "what": f"banded LU, {name} of {n}",
                    "equations": equations,
                    "half_bandwidth": band,
                    "factor_us": 1e6 * factor,
                    "solve_us": 1e6 * solve,
                    "GFlop_per_s": 1e-9 * flops / factor,
                }
            )
    return rows


def sparse_solutions(sizes) -> list[dict]:
    """CHOLMOD and SuperLU on the matrix of a square lattice of trusses."""
    rows = []
    for n in sizes:
        ready = Ready(models.lattice(n))
        ready.assembly(C.TANGENT)
        system = ready.system
        indptr, indices = system.pattern
        values, rhs = ready.state.values[:-1], np.ones(system.n_equations)
        for prefer in ("cholmod", "superlu"):
            try:
                solver = make_solver(system.n_equations, indptr, indices, prefer=prefer)
            except ModelError as error:
                rows.append({"what": f"{prefer}, lattice {n} x {n}", "note": str(error)})
                continue
            started = time.perf_counter()
            solver.factor(values)
            first = time.perf_counter() - started

            def factor(times, solver=solver, values=values):
                for _ in range(times):
                    solver.factor(values)

            def solve(times, solver=solver, rhs=rhs):
                for _ in range(times):
                    solver.solve(rhs)

            rows.append(
                {
                    "what": f"{prefer}, lattice {n} x {n}",
                    "equations": system.n_equations,
                    "first_us": 1e6 * first,
                    "factor_us": 1e6 * seconds(factor),
                    "solve_us": 1e6 * seconds(solve),
                }
            )
    return rows
