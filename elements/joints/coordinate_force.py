"""Force elements on one coordinate: a `Coordinate` combined with a `Law` makes an element type and its two kernels.

Over a step the force F acts against the growth of the coordinate s through its discrete gradient,

    rows += SF F row,   row.U = s1 - s0 exactly,

so its work is F (s1 - s0); resultant and moment vanish.  The parameters of such an element are those of the law, those
of the coordinate, and those that the law appends.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from fem_mbs.contract import COMMIT, ONE_STATE, RULE, START, H, inline, kernel
from fem_mbs.elements.coordinates import dot, end_velocities
from fem_mbs.elements.joints.coordinate import Coordinate
from fem_mbs.elements.registry import ElementType, Watch
from fem_mbs.late import dataclass

__all__ = ["Law", "coordinate_force", "no_columns", "no_memory"]


@inline
def no_columns(job, ctl, par, e, tail, dof, fun, U, rate, row, fe, ke, k):
    """Add nothing: the force depends on no multiplier."""


@inline
def no_memory(ctl, par, e, tail, hist, s0, s1, ds):
    """Keep nothing: the force depends on no history."""


@dataclass(frozen=True)
class Law:
    """Holds a force over a coordinate s and its rate: compiled functions and names.

    ``force(ctl, par, e, tail, dof, hist, fun, U, s0, s1, ds, rate)`` -> F against the growth of s, stiffness and
        damping of `spring_rows`; one-state rules: s0 = s1, ds = 0
    ``report(job, ctl, par, e, tail, dof, hist, fun, Q, U, s0, s1, ds, rate0, rate1, f)`` writes its entries of the row
        f for the jobs LEDGER, OUTPUT and SAMPLE; rate0 and rate1 belong to both ends of the step in one-state rules,
        else both are ds/h
    ``columns(job, ctl, par, e, tail, dof, fun, U, rate, row, fe, ke, k)`` writes the rows and columns of the
        multipliers that the force reads, in fe[k] and ke[k] after those of the coordinate
    ``commit(ctl, par, e, tail, hist, s0, s1, ds)`` keeps in `hist` what the law remembers of an accepted step, and
        at the start, where s0 = s1

    A law without ``report`` has a report kernel of its own, which `coordinate_force` takes.

    ``par(coordinate)`` names the parameters before those of the coordinate, the same number for each coordinate;
    ``appended`` names those after them, from the column ``tail`` on.  ``outputs(coordinate)`` names the outputs.
    ``memory`` counts the columns of `hist` after the first, which is the coordinate's.  ``reads``, ``tables``,
    ``prestress``, ``watches``, ``path`` and ``at_end`` as in `ElementType`.
    """

    par: Callable[[Coordinate], tuple[str, ...]]
    outputs: Callable[[Coordinate], tuple[str, ...]]
    force: Callable[..., Any]
    report: Callable[..., Any] | None
    columns: Callable[..., Any] = no_columns
    commit: Callable[..., Any] = no_memory
    appended: tuple[str, ...] = ()
    memory: int = 0
    reads: int = 0
    tables: bool = False
    prestress: Callable[..., Any] | None = None
    watches: tuple[Watch, ...] = ()
    path: bool = False
    at_end: tuple[str, ...] = ()


@functools.cache
def _kernels(
    workspace, rows, step, rate_at, turns, spring, vectors: int, first: int, law_force, law_report, columns, commit
):
    """Return kernels `force` and `report` of a law on a coordinate, whose ``vectors`` start at the parameter
    ``first``; of a law without a report the first alone."""

    @kernel
    def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        dim = 2 if D.shape[2] == 2 else 3
        n = 6 * (dim - 1)
        tail = first + vectors * dim
        work = workspace(dim)
        row, row1, vel, G = np.zeros(n), np.zeros(n), np.empty(n), np.zeros((n, n))
        for e in range(e0, e1):
            s0, s1, ds = rows(job, ctl, Q, D, U, dof, rot, hist, e, par, first, work, row, row1, G)
            if ctl[RULE] == ONE_STATE:
                end_velocities(V, D, dof, rot, 1, e, vel)
                rate = dot(row, vel)
            else:
                rate = ds / ctl[H]
            F, stiffness, damping = law_force(ctl, par, e, tail, dof, hist, fun, U, s0, s1, ds, rate)
            spring(job, ctl, stiffness, damping, F, row, row1, G, vel, fe, ke, e - e0)
            columns(job, ctl, par, e, tail, dof, fun, U, rate, row, fe, ke, e - e0)

    if law_report is None:
        return force, None

    @kernel
    def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        dim = 2 if D.shape[2] == 2 else 3
        n = 6 * (dim - 1)
        tail = first + vectors * dim
        work = workspace(dim)
        row, row1, G = np.empty(n), np.empty(n), np.empty((n, n))
        for e in range(e0, e1):
            if job == START or job == COMMIT:
                if job == START:
                    turns(True, ctl, D, U, dof, rot, hist, e, par, first, work, row, row1, G)
                s0, s1, ds = step(ctl, Q, D, U, dof, rot, hist, e, par, first, work, row, row1, G)
                commit(ctl, par, e, tail, hist, s0, s1, ds)
                if job == COMMIT:
                    turns(False, ctl, D, U, dof, rot, hist, e, par, first, work, row, row1, G)
                continue
            s0, s1, ds = step(ctl, Q, D, U, dof, rot, hist, e, par, first, work, row, row1, G)
            if ctl[RULE] == ONE_STATE:
                rate0 = rate_at(V, D, dof, rot, 0, e, work)
                rate1 = rate_at(V, D, dof, rot, 1, e, work)
            else:
                rate0 = rate1 = ds / ctl[H]
            law_report(job, ctl, par, e, tail, dof, hist, fun, Q, U, s0, s1, ds, rate0, rate1, fe[e - e0])

    return force, report


def coordinate_force(
    name: str, dimension: int, s: Coordinate, law: Law, report: Callable[..., Any] | None = None
) -> ElementType:
    """Return the element type of a law on a coordinate; both dimensions share kernels where these are equal.

    ``report`` is the report kernel of a law without a report.
    """
    par = law.par(s)
    force, made = _kernels(
        s.workspace,
        s.rows,
        s.step,
        s.rate,
        s.turns,
        s.spring,
        s.vectors,
        len(par),
        law.force,
        law.report,
        law.columns,
        law.commit,
    )
    return ElementType(
        name=name,
        dimension=dimension,
        ends=2,
        rotational=True,
        par=(*par, *s.columns, *law.appended),
        hist=1 + law.memory if law.memory else s.memory,
        turns=s.memory > 0,
        outputs=law.outputs(s),
        force=force,
        report=made if report is None else report,
        prestress=law.prestress,
        watches=law.watches,
        path=law.path,
        at_end=law.at_end,
        tables=law.tables,
        reads=law.reads,
    )
