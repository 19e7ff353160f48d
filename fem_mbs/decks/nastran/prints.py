"""Tables of a Nastran deck as its printed listing has them: entries ``prints`` of the steps of summary.json.

DISPLACEMENT   T1 T2 T3 R1 R2 R3 of grid points along their axes; with "mode" of shapes with unit modal mass
SPCFORCES      forces and moments of supports, likewise; of static subcases
CROD           axial force, torque
CBAR           bending moments of end A in planes 1 and 2, of end B, shear 1 and 2, axial force, torque
CBEAM          the same, of both ends: for each element two rows (points 1 and 2) of moments 1 and 2, shear 1 and 2,
               axial force, torque
COMPLEX ...    of frequency responses real parts of T1 to R3, then imaginary ones, by the frequency (``time``)
EIGENVALUES    eigenvalue, circular frequency, frequency; of buckling the factor
COMPLEX EIGENVALUES  of both of each pair: real part, imaginary part, frequency, damping coefficient
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.decks.nastran.bars import Rods
from fem_mbs.decks.nastran.constraints import Rows
from fem_mbs.decks.nastran.model import Conversion, Group
from fem_mbs.decks.nastran.steps import StepPlan
from fem_mbs.results.recorder import Recorder, Relay
from fem_mbs.results.report import PrintTable, StepReport

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext

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
            elif step.kind.motion:
                self._motion(step, frames)
            else:
                self._static(step, {k: v[0] for k, v in frames.items() if k != "time"})
        super().append(series, frames, restart)

    def end_step(self, report: StepReport | None = None) -> StepReport | None:
        """Enter the subcase and the tables in the report."""
        step = self.plan[self.number]
        if report is not None:
            self._roots(report)
            report = replace(report, deck_step=step.subcase.number, prints=self.tables or None)
        return super().end_step(report)

    # --- what is asked for -----------------------------------------------------------------------------------------
    def _chosen(self, step: StepPlan, name: str, ids: np.ndarray) -> np.ndarray:
        """Return which of the numbers (n,) bool a command asks for."""
        command = step.subcase.commands.get(name)
        if command is None or command.value == "NONE":
            return np.zeros(len(ids), bool)
        if command.value == "ALL" or command.number is None:
            return np.ones(len(ids), bool)
        members = self.conv.deck.sets.get(command.number)
        return np.ones(len(ids), bool) if members is None else np.isin(ids, list(members))

    def _add(
        self, quantity: str, ids: Any, values: Any, mode: int = 0, points: Any = None, time: float = 0.0
    ) -> None:  # fmt: skip
        self.tables.append(
            PrintTable(
                quantity=quantity, set=None, time=time, mode=mode or None, ids=np.asarray(ids).tolist(),
                values=np.asarray(values, float).tolist(),
                points=None if points is None else np.asarray(points).tolist(),
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
        if mine.any():
            forces = self.conv.to_deck(np.arange(n), self._reactions(step, frame))
            size = np.abs(forces).max(initial=0.0)
            forces[np.abs(forces) < _ROUND * size] = 0.0
            mine &= forces.any(axis=1)
            if mine.any():
                self._add("SPCFORCES", ids[mine], forces[mine])
        self._elements(step, frame)

    def _reactions(self, step: StepPlan, frame: dict[str, np.ndarray]) -> np.ndarray:
        """Return what supports exert on the nodes (n, 6), along the global axes."""
        n = len(self.conv.grids.ids)
        total = np.array(frame["reaction"][:n])
        response, linear = self.job.linear.responses[step.name], self.job.linear.linear
        assert linear is not None
        system = linear.system
        for block in system.blocks:
            for group, first, last in block.groups:
                if group != "supports in local axes" and not group.startswith("enforced displacements"):
                    continue
                at = np.unique(block.dof[first:last, block.type.node_dofs :].ravel() - system.first_multiplier)
                force = -(linear.constraints[at].T @ response.y[at])
                whole = np.zeros(system.n_dof)
                whole[: len(force)] = force
                total += system.nodal(whole)[:n]
        return total

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
        """Add displacements at each time that is kept."""
        ids = self.conv.grids.ids
        mine = self._chosen(step, "DISPLACEMENT", ids)
        if not mine.any():
            return
        for k, time in enumerate(np.atleast_1d(frames["time"])):
            u = self._nodal(np.concatenate((frames["displacement"][k], frames["rotation"][k]), axis=1))
            self._add("DISPLACEMENT", ids[mine], u[mine], time=float(time))

    # --- modes -----------------------------------------------------------------------------------------------------
    def _shapes(self, step: StepPlan) -> None:
        linear, vectors = self.job.linear.linear, self.job.linear.vectors
        assert linear is not None and vectors is not None
        ids = self.conv.grids.ids
        mine = self._chosen(step, "DISPLACEMENT", ids)
        if not mine.any():
            return
        for k in range(vectors.shape[1]):
            u = self._nodal(linear.system.nodal(vectors[:, k]))
            self._add("DISPLACEMENT", ids[mine], u[mine], mode=self.job.linear.below + k + 1)

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
    def _elements(self, step: StepPlan, frame: dict[str, np.ndarray]) -> None:
        tables: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
        for number, group in enumerate(self.conv.groups):
            if group.kind not in ("bar", "rod"):
                continue
            fixed = step.loads.fixed.get(number, np.zeros((len(group.ids), 12)))
            values = self._rods(group, frame, fixed) if group.kind == "rod" else self._bars(group, frame, fixed)
            tables.setdefault(group.type, []).append((group.ids, values))
        for type_, parts in tables.items():
            ids = np.concatenate([p[0] for p in parts])
            values = np.concatenate([p[1] for p in parts])
            order = np.argsort(ids, kind="stable")
            order = order[self._chosen(step, "FORCE", ids[order])]
            if not len(order):
                continue
            if type_ == "CBEAM":
                self._add(
                    type_, np.repeat(ids[order], 2), values[order].reshape(-1, 6), points=np.tile([1, 2], len(order))
                )
            else:
                self._add(type_, ids[order], values[order])

    def _rods(self, group: Group, frame: dict[str, np.ndarray], fixed: np.ndarray) -> np.ndarray:
        data: Rods = group.data
        N = frame[f"{group.name}/N [N]"] if f"{group.name}/N [N]" in frame else np.zeros(len(group.ids))
        torque = np.zeros(len(group.ids))
        if data.J and data.material.G:
            x = self.conv.grids.x[group.nodes]
            d = x[:, 1] - x[:, 0]
            length = np.linalg.norm(d, axis=1)
            turn = frame["rotation"][group.nodes]
            torque = (
                data.material.G * data.J / length * np.einsum("ni,ni->n", turn[:, 1] - turn[:, 0], d / length[:, None])
            )
        return np.column_stack((N - fixed[:, 6], torque))

    def _bars(self, group: Group, frame: dict[str, np.ndarray], fixed: np.ndarray) -> np.ndarray:
        """Return the forces of bars, (n, 8); of beams those of both ends, (n, 12)."""

        def out(label: str) -> np.ndarray:
            return frame[f"{group.name}/{label}"]

        # what the rest of the model does to the ends, without the forces that loads along the bar exert there
        Mz = np.column_stack((out("Mz 1 [N m]") + fixed[:, 5], out("Mz 2 [N m]") - fixed[:, 11]))
        My = np.column_stack((out("My 1 [N m]") + fixed[:, 4], out("My 2 [N m]") - fixed[:, 10]))
        Vy = np.column_stack((out("Vy 1 [N]") + fixed[:, 1], out("Vy 2 [N]") - fixed[:, 7]))
        Vz = np.column_stack((out("Vz 1 [N]") + fixed[:, 2], out("Vz 2 [N]") - fixed[:, 8]))
        N = np.column_stack((out("N 1 [N]") + fixed[:, 0], out("N 2 [N]") - fixed[:, 6]))
        T = np.column_stack((out("T 1 [N m]") + fixed[:, 3], out("T 2 [N m]") - fixed[:, 9]))
        if group.type == "CBEAM":
            ends = [np.column_stack((Mz[:, k], -My[:, k], Vy[:, k], Vz[:, k], N[:, k], T[:, k])) for k in (0, 1)]
            return np.concatenate(ends, axis=1)
        return np.column_stack((Mz[:, 0], -My[:, 0], Mz[:, 1], -My[:, 1], Vy[:, 0], Vz[:, 0], N[:, 0], T[:, 0]))
