"""Tables of a Nastran deck as its printed listing has them: entries ``prints`` of the steps of summary.json.

DISPLACEMENT   T1 T2 T3 R1 R2 R3 of grid points along their axes; with "mode" of shapes with unit modal mass
SPCFORCES      forces and moments of supports, likewise; of static subcases
CBAR ...       FORCE of elements, by their type
STRESS CBAR, STRAIN CBAR ...  of elements, by their type; PLY STRESS, PLY STRAIN of laminates
COMPLEX ...    of frequency responses real parts of T1 to R3, then imaginary ones, by the frequency (``time``)
EIGENVALUES    eigenvalue, circular frequency, frequency; of buckling the factor
COMPLEX EIGENVALUES  of both of each pair: real part, imaginary part, frequency, damping coefficient

``columns`` names the columns of element tables, with what they are in brackets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.decks.nastran.constraints.rows import Rows
from fem_mbs.decks.nastran.model import Conversion
from fem_mbs.decks.nastran.results.lines import line_forces, line_stresses
from fem_mbs.decks.nastran.results.requests import chosen, options_of
from fem_mbs.decks.nastran.results.shells import ply_stresses, shell_forces, shell_stresses
from fem_mbs.decks.nastran.results.solids import solid_stresses
from fem_mbs.decks.nastran.results.springs import spring_forces, spring_stresses
from fem_mbs.decks.nastran.results.state import ElementState, ElementTable, changed_outputs
from fem_mbs.decks.nastran.steps import StepPlan
from fem_mbs.results.recorder import Recorder, Relay
from fem_mbs.results.report import PrintTable, StepReport

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext
    from fem_mbs.system.blocks import Block

__all__ = ["Printer"]

#: Of the largest force of a table: less is round-off.
_ROUND = 1e-12


class Printer(Relay):
    """Computes the tables of a deck from the rows of its run, as they pass on to another recorder."""

    def __init__(
        self, conv: Conversion, rows: Rows, plan: list[StepPlan], job: RunContext, recorder: Recorder
    ) -> None:  # fmt: skip
        super().__init__(recorder)
        self.conv, self.rows, self.plan, self.job = conv, rows, plan, job
        self.number = -1
        self.tables: list[PrintTable] = []
        #: the last frame of nonlinear statics
        self.last: dict[str, np.ndarray] = {}

    def begin_step(self, name: str, type: str, info: dict[str, Any] | None = None) -> None:
        """Begin the tables of a step."""
        self.number += 1
        self.tables = []
        super().begin_step(name, type, info)

    def append(
        self,
        series: Mapping[str, np.ndarray] | None = None,
        frames: Mapping[str, np.ndarray] | None = None,
        restart: dict[str, Any] | None = None,
        *,
        keep: bool = True,
    ) -> None:
        """Compute the tables of these frames."""
        step = self.plan[self.number]
        if frames is not None:
            if step.kind.shapes == "vibration":
                self._vibrations(step, frames)
            elif step.kind.shapes == "complex":
                pass  # shapes of complex modes are in the results alone
            elif step.kind.shapes:
                self._shapes(step)
            elif step.kind.path:
                self.last = {k: v[-1] for k, v in frames.items() if k != "time"}
            elif step.kind.motion:
                self._motion(step, frames)
            else:
                self._static(step, {k: v[0] for k, v in frames.items() if k != "time"})
        super().append(series, frames, restart, keep=keep)

    def end_step(self, report: StepReport | None = None) -> StepReport | None:
        """Enter the subcase and the tables in the report."""
        step = self.plan[self.number]
        if report is not None:
            if step.kind.path:
                self._static(step, self.last)
            self._roots(report)
            report = replace(report, deck_step=step.subcase.number, prints=self.tables or None)
        return super().end_step(report)

    # --- what is asked for -----------------------------------------------------------------------------------------
    def _chosen(self, step: StepPlan, name: str, ids: np.ndarray) -> np.ndarray:
        """Return which of the numbers (n,) bool a command asks for."""
        return chosen(self.conv, step.subcase, name, ids)

    def _add(
        self, quantity: str, ids: Any, values: Any, mode: int = 0, points: Any = None, time: float = 0.0,
        columns: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        self.tables.append(
            PrintTable(
                quantity=quantity, set=None, time=time, mode=mode or None, ids=np.asarray(ids).tolist(),
                values=np.asarray(values, float).tolist(),
                points=None if points is None else np.asarray(points).tolist(), columns=list(columns) or None,
            )
        )  # fmt: skip

    # --- grid points -----------------------------------------------------------------------------------------------
    def _nodal(self, u: np.ndarray) -> np.ndarray:
        """Return components (n, 6) along the axes of the grid points; dependent ones that no node has follow."""
        n = len(self.conv.grids.ids)
        out = self.conv.to_deck(np.arange(n), u[:n])
        m = np.array(list(self.rows.dependent), int)
        if len(m):
            flat = out.ravel()
            flat[m] = self.rows.reduced @ flat
            out = flat.reshape(-1, 6)
        return out

    def _static(self, step: StepPlan, frame: dict[str, np.ndarray]) -> None:
        ids = self.conv.grids.ids
        n = len(ids)
        u = self._nodal(np.concatenate((frame["displacement"], frame["rotation"]), axis=1))
        mine = self._chosen(step, "DISPLACEMENT", ids)
        if mine.any():
            self._add("DISPLACEMENT", ids[mine], u[mine])
        mine = self._chosen(step, "SPCFORCES", ids)
        if step.kind.path and any(self._with_multipliers()):
            mine[:] = False
        if mine.any():
            forces = self.conv.to_deck(np.arange(n), self._reactions(step, frame))
            size = np.abs(forces).max(initial=0.0)
            forces[np.abs(forces) < _ROUND * size] = 0.0
            mine &= forces.any(axis=1)
            if mine.any():
                self._add("SPCFORCES", ids[mine], forces[mine])
        if self._asked_of_elements(step):
            path = step.kind.path
            out = np.atleast_2d(self.job.state.out)[0] if path else self.job.linear.responses[step.name].totals["out"]
            u = np.hstack((frame["displacement"][:n], frame["rotation"][:n]))
            heated = step.loads.temperatures is not None
            self._elements(step, ElementState(self.conv, self.job, out, u, step.loads.fixed, heated))

    def _reactions(self, step: StepPlan, frame: dict[str, np.ndarray]) -> np.ndarray:
        """Return forces and moments of supports on the nodes (n, 6), along the global axes."""
        n = len(self.conv.grids.ids)
        if step.kind.path:
            whole = np.zeros(self.job.system.n_dof)
            reaction = np.atleast_2d(self.job.state.reaction)[0][: len(whole)]
            whole[: len(reaction)] = reaction
            return self.job.system.nodal(whole)[:n]
        total = np.array(frame["reaction"][:n])
        response, linear = self.job.linear.responses[step.name], self.job.linear.linear
        assert linear is not None
        system = linear.system
        for block, first, last in self._with_multipliers():
            at = np.unique(block.dof[first:last, block.type.node_dofs :].ravel() - system.first_multiplier)
            force = -(linear.constraints[at].T @ response.y[at])
            whole = np.zeros(system.n_dof)
            whole[: len(force)] = force
            total += system.nodal(whole)[:n]
        return total

    def _with_multipliers(self) -> Iterator[tuple[Block, int, int]]:
        """Yield the blocks and ranges of the equations that stand for supports."""
        for block in self.job.system.blocks:
            for group, first, last in block.groups:
                if group == "supports in local axes" or group.startswith("enforced displacements"):
                    yield block, first, last

    # --- responses -------------------------------------------------------------------------------------------------
    def _vibrations(self, step: StepPlan, frames: Mapping[str, np.ndarray]) -> None:
        """Add real and imaginary parts of displacements, velocities and accelerations at each frequency."""
        ids = self.conv.grids.ids
        for f, frequency in enumerate(np.atleast_1d(frames["time"])):
            real, imaginary = (
                self._nodal(np.concatenate((frames[f"displacement{part}"][f], frames[f"rotation{part}"][f]), axis=1))
                for part in ("", " imaginary")
            )
            u, rate = real + 1j * imaginary, 2j * np.pi * float(frequency)
            for order, name in enumerate(("DISPLACEMENT", "VELOCITY", "ACCELERATION")):
                mine = self._chosen(step, name, ids)
                if mine.any():
                    v = u[mine] * rate**order
                    self._add(f"COMPLEX {name}", ids[mine], np.hstack((v.real, v.imag)), time=float(frequency))

    def _motion(self, step: StepPlan, frames: Mapping[str, np.ndarray]) -> None:
        """Add displacements and elements at each time that is kept."""
        ids = self.conv.grids.ids
        mine = self._chosen(step, "DISPLACEMENT", ids)
        elements, linear = self._asked_of_elements(step), self.job.linear.linear
        assert linear is not None
        number = linear.system.nodal(np.arange(1.0, linear.system.n_dof + 1.0))[: len(ids)].astype(int)
        for k, time in enumerate(np.atleast_1d(frames["time"])):
            moved = np.concatenate((frames["displacement"][k], frames["rotation"][k]), axis=1)[: len(ids)]
            if mine.any():
                self._add("DISPLACEMENT", ids[mine], self._nodal(moved)[mine], time=float(time))
            if elements:
                u = np.zeros(linear.system.n_dof)
                u[number[number > 0] - 1] = moved[number > 0]
                state = ElementState(self.conv, self.job, changed_outputs(linear, u), moved)
                self._elements(step, state, time=float(time))

    # --- modes -----------------------------------------------------------------------------------------------------
    def _shapes(self, step: StepPlan) -> None:
        linear, vectors = self.job.linear.linear, self.job.linear.vectors
        assert linear is not None and vectors is not None
        ids = self.conv.grids.ids
        mine = self._chosen(step, "DISPLACEMENT", ids)
        elements = self._asked_of_elements(step) and self.conv.deck.sol != 105  # shapes of buckling have no size
        for k in range(vectors.shape[1]):
            moved, mode = linear.system.nodal(vectors[:, k])[: len(ids)], self.job.linear.below + k + 1
            if mine.any():
                self._add("DISPLACEMENT", ids[mine], self._nodal(moved)[mine], mode=mode)
            if elements:
                state = ElementState(self.conv, self.job, changed_outputs(linear, vectors[:, k]), moved)
                self._elements(step, state, mode=mode)

    def _roots(self, report: StepReport) -> None:
        frequencies = getattr(report, "frequencies_hz", None)
        natural = getattr(report, "natural_frequencies", None)
        if natural is not None:
            self._add_eigenvalues(1 + np.arange(len(natural)), np.array(natural))
        if self.plan[self.number].kind.shapes == "complex":
            self._complex_roots(np.array(getattr(report, "eigenvalues", [])).reshape(-1, 2))
        elif frequencies is not None:
            f = np.array(frequencies)
            plan = self.plan[self.number]
            if plan.most and len(f) == plan.most < 3 * int(self.conv.used.sum()) - 1:
                where = plan.subcase.commands["METHOD"].where
                self.conv.note(
                    f"the range of the method has more modes than the {plan.most} that are computed", where=where
                )
            self._add_eigenvalues(self.job.linear.below + 1 + np.arange(len(f)), f)
        factors = getattr(report, "load_factors", None)
        if factors is not None:
            found = np.array(factors, float)
            kept = self._asked(found)
            numbers = np.cumsum(kept)
            self.tables = [
                replace(t, mode=int(numbers[t.mode - 1])) if t.mode else t
                for t in self.tables
                if not t.mode or kept[t.mode - 1]
            ]
            self._add("EIGENVALUES", 1 + np.arange(kept.sum()), found[kept][:, None])

    def _add_eigenvalues(self, number: np.ndarray, f: np.ndarray) -> None:
        w = 2.0 * np.pi * f
        self._add("EIGENVALUES", number, np.column_stack((np.sign(w) * w**2, np.abs(w), np.abs(f))))

    def _complex_roots(self, p: np.ndarray) -> None:
        """Add complex roots (n, 2), of which one of each pair is given: real part, imaginary part, frequency, damping
        coefficient."""
        pairs = p[:, 1] != 0.0
        rows = np.repeat(p, np.where(pairs, 2, 1), axis=0)
        first = np.cumsum(np.where(pairs, 2, 1))[pairs] - 2
        rows[first, 1] *= -1.0
        w = np.abs(rows[:, 1])
        g = np.divide(-2.0 * rows[:, 0], w, out=np.zeros(len(rows)), where=w > 0.0)
        table = np.column_stack((rows, w / (2.0 * np.pi), g))
        self._add("COMPLEX EIGENVALUES", 1 + np.arange(len(rows)), table)

    def _asked(self, factors: np.ndarray) -> np.ndarray:
        """Return which load factors (n,) bool the method asks for; a note where its range may have more."""
        plan = self.plan[self.number]
        low, high = plan.bounds
        kept = (factors >= low) & (factors <= high)
        for mine, most in zip((factors > 0.0, factors <= 0.0), plan.numbers, strict=True):
            kept &= ~mine | (np.cumsum(mine) <= most)
        if plan.most and len(factors) == plan.most and np.abs(factors).max() < max(abs(high), abs(max(low, -high))):
            self.conv.note(
                f"the range of the method has more load factors than the {plan.most} of smallest magnitude that are "
                "computed",
                where=plan.subcase.commands["METHOD"].where,
            )
        return kept

    # --- elements --------------------------------------------------------------------------------------------------
    def _asked_of_elements(self, step: StepPlan) -> bool:
        commands = step.subcase.commands
        return any(name in commands and commands[name].value != "NONE" for name in ("FORCE", "STRESS", "STRAIN"))

    def _elements(self, step: StepPlan, state: ElementState, mode: int = 0, time: float = 0.0) -> None:
        """Add forces, stresses and strains of the elements that the commands ask for."""
        tables: dict[tuple[str, tuple[str, ...]], list[ElementTable]] = {}
        for command, table in self._tables(step, state):
            mine = self._chosen(step, command, table.ids)
            if mine.any():
                points = None if table.points is None else table.points[mine]
                kept = replace(table, ids=table.ids[mine], values=table.values[mine], points=points)
                tables.setdefault((table.quantity, table.columns), []).append(kept)
        for (quantity, columns), parts in tables.items():
            ids = np.concatenate([p.ids for p in parts])
            values = np.concatenate([p.values for p in parts])
            points = [p.points for p in parts if p.points is not None]
            order = np.argsort(ids, kind="stable")
            at = np.concatenate(points)[order] if points else None
            self._add(quantity, ids[order], values[order], mode, at, time, columns)

    def _tables(self, step: StepPlan, state: ElementState) -> Iterator[tuple[str, ElementTable]]:
        """Yield the command and table of each type of elements."""
        commands = step.subcase.commands
        if "FORCE" in commands:
            options = options_of(step.subcase, "FORCE")
            yield from (("FORCE", table) for table in line_forces(state))
            yield from (("FORCE", table) for table in shell_forces(state, options.corners))
            yield from (("FORCE", table) for table in spring_forces(state))
        for command, strain in (("STRESS", False), ("STRAIN", True)):
            if command not in commands:
                continue
            options = options_of(step.subcase, command)
            found = [spring_stresses(state, strain)]
            if not (strain and state.heated):
                found += [
                    line_stresses(state, strain), solid_stresses(state, strain, options.mises),
                    shell_stresses(state, strain, options.mises, options.corners, options.fibres),
                    ply_stresses(state, strain),
                ]  # fmt: skip
            yield from ((command, table) for tables in found for table in tables)
