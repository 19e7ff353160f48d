"""Derivatives of a run with respect to parameters, found while it runs.

The start is differentiated by differences of models (`fem_mbs.analysis.sensitivity.changed`), time steps and equilibria
by their own tangents (`fem_mbs.analysis.sensitivity.follower`), sensors by differences of what they read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fem_mbs import contract as C
from fem_mbs.analysis.context import RunContext
from fem_mbs.analysis.rows import reading
from fem_mbs.analysis.sensitivity.alike import alike
from fem_mbs.analysis.sensitivity.changed import ChangedModels, Parameter, derivative
from fem_mbs.analysis.sensitivity.follower import Follower
from fem_mbs.analysis.solution import Solution
from fem_mbs.analysis.start.initial import consistent_velocities
from fem_mbs.analysis.transient.chunk import LEDGER_COLUMNS, Chunk, Slopes
from fem_mbs.analysis.transient.rules import CHAIN, EXPLICIT, RULES
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.declarations.steps import PlannedStep
from fem_mbs.errors import AnalysisError, ModelError, Owner
from fem_mbs.model.sensors.sensor import Sensor
from fem_mbs.solvers.differentiation import layout as F
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.units import unit_of

__all__ = ["Derivatives", "check_supported"]

#: Change of a sensor's records over their size, in differences of what it reads.
_READ = 1e-6
_WRONG = 1e-3  # last correction of a solution over the solution, from which on a tangent is of no use
_DISSIPATED = LEDGER_COLUMNS.index("dissipated")
_WORKS = slice(_DISSIPATED, _DISSIPATED + 3)


def check_supported(context: RunContext) -> None:
    """Refuse models and steps whose motion is not differentiated.

    Raises:
        ModelError: naming what stands against it, and the remedy.
    """
    model, owner = context.model, Owner("Sensitivities")
    others = "find its derivatives by differences: vary the parameter in a sweep"
    if model.events:
        raise ModelError(
            f'the event "{model.events[0].name}" ends time steps between their times, which has no derivative here',
            owner=owner, remedy=f"remove it, or {others}",
        )  # fmt: skip
    if context.system.callbacks:
        raise ModelError("functions of Python as forces have no derivatives here", owner=owner, remedy=others)
    breaking = (b.name for b in model.building.breakings.values() if b.force is not None or b.moment is not None)
    if changing := [*model.building.locks, *breaking]:
        raise ModelError(
            f'"{changing[0]}" changes the constraints while the model moves, which has no derivative here', owner=owner,
            remedy=others,
        )  # fmt: skip
    context.system.refuse_states("Sensitivities", "derivatives of transients do", others)
    for block in context.system.blocks:
        if block.type.unilateral:
            raise ModelError(f'blows of "{block.label(0)}" have no derivative here', owner=owner, remedy=others)
        if block.pairing is not None:
            raise ModelError(
                f'which parts of "{block.label(0)}" touch is found while the model moves, which has no derivative here',
                owner=owner, remedy=others,
            )  # fmt: skip
    for step in context.plan:
        if step.kind.linear:
            continue
        options = step.options
        if not step.kind.differentiated:
            raise ModelError(f"a {step.kind.name} step is not differentiated", owner=step.owner, remedy=others)
        if getattr(options, "adaptive", 0.0):
            raise ModelError(
                "adaptive time steps change with every parameter, which has no derivative", owner=step.owner,
                key="adaptive", remedy="take equal steps: adaptive = 0",
            )  # fmt: skip
        if step.kind.passes_time and RULES[options.rule].kind in (EXPLICIT, CHAIN):
            raise ModelError(
                f'rule = "{options.rule}" has no tangent to differentiate it with', owner=step.owner, key="rule",
                remedy='take "midpoint"',
            )  # fmt: skip
        if step.kind.path and (options.control != "load" or options.stability or options.line_search):
            raise ModelError(
                "an equilibrium path is not differentiated", owner=step.owner, key="control",
                remedy='take control = "load", without stability and line_search',
            )  # fmt: skip
        if options.supports:
            raise ModelError("supports of single steps are not differentiated", owner=step.owner, key="supports",
                             remedy=others)  # fmt: skip


class Derivatives:
    """Derivatives of the state of a run with respect to scaled parameters.

    Attributes:
        models: the changed models.
        results: of each parameter, the derivatives of the sensors, in the form of results (`Solution`): rows are those
            of the run.
    """

    def __init__(self, context: RunContext, parameters: list[Parameter]) -> None:
        """Make the changed models.

        Raises:
            ModelError: what is not supported; a parameter that changes more than numbers.
        """
        check_supported(context)
        self.context, self.models = context, ChangedModels(context, parameters)
        self.changes = self.models.changes()
        self.follower = Follower(context.system, self.changes, self._reads_ledger())
        self.results = [Solution() for _ in parameters]
        for found in self.results:
            found.compiled = context.compiled
        self.varied = self._varied()
        self.last: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        self.largest = np.zeros((len(parameters), len(context.compiled.sensors), 2))
        self.redundant = False

    def _reads_ledger(self) -> bool:
        """Return whether any sensor reads energies, momenta or works, of the ledger or of elements."""
        sensors, record = self.context.compiled.sensors, self.context.system.system.record
        if (record[:, 0] == S.REC_WORK).any():
            return True
        for sensor in sensors:
            n = sensor.last - sensor.first
            read = [
                np.asarray(sensor.evaluate(np.ones((1, n)), np.full((1, len(LEDGER_COLUMNS)), a))) for a in (1.0, 2.0)
            ]
            if not np.array_equal(read[0], read[1], equal_nan=True):
                return True
        return False

    def _works(self) -> np.ndarray:
        """Return which records (n,) bool are works."""
        return self.context.system.system.record[:, 0] == S.REC_WORK

    def _varied(self) -> np.ndarray:
        """Return whether each parameter may change the function by which a sensor evaluates its records, (n_par,
        n_sensors) bool."""
        sensors = [[one.context.compiled.sensors for one in models] for models in self.models.of]
        count = len(self.context.compiled.sensors)
        return np.array(
            [[not all(alike(own[0][i], other[i]) for other in own) for i in range(count)] for own in sensors]
        )

    # --- steps of the model ------------------------------------------------------------------------------------------
    def begin_step(self, step: PlannedStep) -> None:
        """Begin the rows of a step."""
        kind = step.kind
        for found in self.results:
            found.begin_step(step.name, kind.recorded or kind.name, kind.info(step.options))

    def end_step(self) -> None:
        """End the rows of a step."""
        for found in self.results:
            found.end_step()

    # --- starts ------------------------------------------------------------------------------------------------------
    def _spread(self) -> None:
        """Set the states of the changed models, from the state of the run and its derivatives."""
        a, state = self.follower.arrays, self.context.state
        for p, models in enumerate(self.models.of):
            for one in models:
                if one.context is self.context:
                    continue
                other = one.context.state
                for name in ("Q", "D", "V", "DD"):
                    getattr(other, name)[0] = getattr(state, name)[0] + one.change * getattr(a, f"d{name}")[p]
                other.past[:] = state.past + one.change * a.dpast[p]

    def start_moving(self, spin: Callable[[RunContext], Any], time: float) -> None:
        """Differentiate the consistent velocities with which the first transient begins; those of the run are set."""
        a = self.follower.arrays
        self._spread()
        for p, models in enumerate(self.models.of):
            for one in models:
                if one.context is not self.context:
                    consistent_velocities(one.context.compiled, one.context.state, time, spin(one.context))
            a.dV[p] = derivative(models, lambda context: context.state.V[0])
            a.dDD[p] = derivative(models, lambda context: context.state.DD[0])

    def start_rule(self, start: Callable[[RunContext, S.State], None]) -> None:
        """Differentiate how a rule of Newmark's family begins, given what lets a context begin so."""
        a, state = self.follower.arrays, self.context.state
        self._spread()
        for p, models in enumerate(self.models.of):
            found = []
            for one in models:
                own = one.context.state
                if one.context is self.context:  # which begins later
                    own = state._replace(**{name: getattr(state, name).copy() for name in state._fields})
                start(one.context, own)
                found.append((one.weight, own))
            for name, target in (("V", a.dV), ("DD", a.dDD)):
                target[p] = sum(weight * getattr(own, name)[0] for weight, own in found)
            a.dpast[p, 2:] = sum(weight * own.past[2:] for weight, own in found)

    def begin(self, stepping: Stepping, functions: Callable[[RunContext], list[Any]]) -> None:
        """Differentiate the time steps of ``stepping``; ``functions`` are the time functions of a context."""
        self.follower.arrays.dctl[:, C.GX : C.GZ + 1] = self.changes.weight
        self.follower.begin(stepping, self._of_each(functions))

    def _of_each(self, functions: Callable[[RunContext], list[Any]]) -> list[list[tuple[float, list[Any]]]]:
        return [[(one.weight, functions(one.context)) for one in models] for models in self.models.of]

    def begin_static(self, step: PlannedStep, stepping: Stepping, path: bool) -> None:
        """Differentiate the equilibria of a static step."""
        assert not path

        def functions(context: RunContext) -> list[Any]:
            loading = context.loading
            if context is not self.context:
                loading.factors = self.context.loading.factors
            return loading.functions()

        # the row of the start has the level of the weight that the step begins with
        self.follower.arrays.dctl[:, C.GX : C.GZ + 1] = self.context.loading.weight * self.changes.weight
        self.follower.begin(stepping, self._of_each(functions))
        stepping.follower = None  # its increments are no steps in time
        self.owner = step.owner

    def equilibrium(self, stepping: Stepping, chunk: Chunk, funs: np.ndarray, _factor: float) -> None:
        """Differentiate an equilibrium that a static step has found, and record it; ``funs`` (1, n_fun, 3) are the
        time functions there.

        Raises:
            ModelError: it depends on the way to it.
        """
        follower = self.follower
        if follower.depends_on_way(stepping, funs):
            raise ModelError(
                "parts that have yielded or slid make its equilibria depend on the way, which is not differentiated",
                owner=self.owner, remedy="find the derivatives by differences, in a sweep",
            )  # fmt: skip
        # the loads of the changed models stand at the same level
        for models in self.models.of:
            for one in models:
                one.context.loading.weight = self.context.loading.weight
        follower.arrays.dctl[:, C.GX : C.GZ + 1] = self.context.loading.weight * self.changes.weight
        now = np.array([stepping.t0])
        follower.differentiate(stepping, funs, follower.slopes_of_functions(stepping, (now, now, now)))
        slopes = follower.take(1)
        slopes.ledger[:, :, _WORKS] = np.nan  # of which the equilibrium alone knows nothing
        slopes.record[:, :, self._works()] = np.nan
        self._record(chunk.time, chunk.ledger, chunk.record, slopes, True, {"load factor": np.array([_factor])})

    # --- rows --------------------------------------------------------------------------------------------------------
    def first_row(self, stepping: Stepping, mid_step_valid: bool, factor: float | None = None) -> None:
        """Record the derivatives of the start of a step."""
        values, ledger = self.context.rows.present(stepping)
        self.last = None
        self.largest[:] = 0.0
        columns = {} if factor is None else {"load factor": np.array([factor])}
        slopes = self.follower.first_slopes(stepping)
        self._record(np.array([stepping.t0]), ledger, values, slopes, mid_step_valid, columns)

    def rows(self, chunk: Chunk) -> None:
        """Record the derivatives of rows."""
        assert chunk.slopes is not None
        self._record(chunk.time, chunk.ledger, chunk.record, chunk.slopes, True, {})

    def _record(
        self, time: np.ndarray, ledger: np.ndarray, record: np.ndarray, slopes: Slopes, valid: bool,
        columns: dict[str, np.ndarray],
    ) -> None:  # fmt: skip
        defect = float(self.follower.arrays.reals[F.DEFECT])
        if not np.isfinite(slopes.record[:, :, ~self._works()]).all() or defect > _WRONG:
            raise AnalysisError(
                f"the derivatives at t = {time[-1]:.6g} {unit_of('s')} cannot be found: the tangent of the steps is "
                "not that of their forces; find them by differences, in a sweep", owner=Owner("Sensitivities"),
            )  # fmt: skip
        for p, found in enumerate(self.results):
            rows = {"time": np.array(time), "ledger": slopes.ledger[p, :, :7], **columns}
            for i, sensor in enumerate(self.context.compiled.sensors):
                values = self._reading(i, sensor, p, time, ledger, record, slopes)
                if sensor.mid_step and not valid:
                    values = np.full_like(values, np.nan)
                rows[f"sensor/{sensor.name}"] = values
            found.append(rows)
        self.redundant |= self.follower.redundant
        self.last = time[-1:].copy(), record[-1:].copy(), slopes.record[:, -1:].copy()

    def _reading(
        self, i: int, sensor: Sensor, p: int, time: np.ndarray, ledger: np.ndarray, record: np.ndarray, slopes: Slopes
    ) -> np.ndarray:
        """Return the derivatives of the columns (n, k) of a sensor: of its records, and of itself where it depends on
        the parameter."""
        some = slice(sensor.first, sensor.last)
        own, slope, dledger = record[:, some], slopes.record[p][:, some], slopes.ledger[p]
        change = self._change(i, p, own, slope)
        t, last, dlast = (time[:1], own[:1], slope[:1]) if self.last is None else self.last
        if self.last is not None:
            last, dlast = last[:, some], dlast[p][:, some]

        def at(sensor: Sensor, e: np.ndarray | float) -> np.ndarray:
            rows = own + e * slope, ledger + e * dledger
            if not sensor.rate:
                return np.asarray(reading(sensor, time, *rows, None), float)
            # both rows of a rate need the change of the later one: every row follows its own row before
            earlier = np.concatenate((last, own[:-1])) + e * np.concatenate((dlast, slope[:-1]))
            times = np.column_stack((np.concatenate((t, time[:-1])), time)).ravel()
            pairs = np.stack((earlier, rows[0]), axis=1).reshape(-1, own.shape[1])
            return np.asarray(reading(sensor, times, pairs, np.repeat(rows[1], 2, axis=0), None), float)[1::2]

        found = (at(sensor, change) - at(sensor, -change)) / (2.0 * change)
        if self.varied[p, i]:
            found += sum(one.weight * at(one.context.compiled.sensors[i], 0.0) for one in self.models.of[p])
        return found

    def _change(self, i: int, p: int, own: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """Return the changes (n, 1) of parameter p in differences of what sensor i reads.

        They follow from the largest records ``own`` (n, m) and slopes (n, m) up to each row of the step.  How rows come
        in chunks depends on the clock, and results must not.
        """
        sizes = np.abs(np.stack((own, slope))).max(axis=2, initial=0.0)
        sizes = np.maximum.accumulate(np.maximum(sizes, self.largest[p, i][:, None]), axis=1)
        self.largest[p, i] = sizes[:, -1]
        size, largest = sizes
        change = np.ones(len(own))
        np.divide(_READ * size, largest, out=change, where=(size > 0.0) & (largest > 0.0))
        return change[:, None]

    def warnings(self) -> list[str]:
        """Return sentences on what to know of the derivatives."""
        said = []
        for p, count in zip(self.models.parameters, self.follower.arrays.kinks.tolist(), strict=True):
            if count:
                said.append(
                    f'"{p.name}": in {count} time steps forces change otherwise to one side of the state than to the '
                    "other, as laws with a kink do, or where it hardly has an effect; the derivative there is the "
                    "mean of both"
                )
        defect = float(self.follower.arrays.reals[F.DEFECT])
        if defect > 0.0:
            said.append(
                f"tangents of some steps are not exact: corrections of solutions have come to {defect:.2g} of them, "
                "which is the error that a step may add to the derivatives"
            )
        if self.redundant:
            said.append(
                "joints repeat each other's constraints: how they share their reactions is not determined, nor are the "
                "derivatives of these reactions"
            )
        return said
