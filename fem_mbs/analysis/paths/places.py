"""Outputs that follow a path, and the efforts that make them do so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fem_mbs.analysis.linear.sensors import place_records, slopes
from fem_mbs.analysis.paths.instants import Instants
from fem_mbs.analysis.paths.zeros import Projected, project
from fem_mbs.elements.actuators.motor import FUNCTION, KD, KP, START
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.kinds import make_function
from fem_mbs.functions.laws import TimeFunction
from fem_mbs.late import dataclass
from fem_mbs.model.model import CompiledModel
from fem_mbs.model.sensors.sensor import Sensor
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.compiled import Compiled
from fem_mbs.units import unit_of

__all__ = ["Efforts", "Outputs", "find_efforts", "find_outputs", "projected"]


@dataclass(frozen=True)
class Outputs:
    """Columns of sensors that follow functions of the time since the path began.

    Attributes:
        names: of the columns; sensors: with their numbers of columns (p,).
        functions: changes since the start of the step [m], [rad].
    """

    names: list[str]
    sensors: list[tuple[Sensor, int]]
    functions: list[TimeFunction]

    def changes(self, t: np.ndarray, duration: float) -> np.ndarray:
        """Return changes (n, p) at times t (n,) [s] since the path began; they stay at both ends."""
        return np.column_stack([f(np.clip(t, 0.0, duration)) for f in self.functions])

    def read(self, record: np.ndarray) -> np.ndarray:
        """Return the outputs (n, p) of rows (n, n_record) of a record."""
        none = np.zeros((len(record), 0))
        columns = [
            np.asarray(s.evaluate(record[:, s.first : s.last], none)).reshape(len(record), -1)[:, k]
            for s, k in self.sensors
        ]
        return np.column_stack(columns)

    def at(self, lin: Instants, owner: Owner) -> tuple[np.ndarray, np.ndarray]:
        """Return the outputs (s, p) at s instants, and their derivatives (s, p, N) by all dofs.

        Raises:
            ModelError: a sensor is the length of a vector that vanishes.
        """
        y, Y = [], []
        known: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for sensor, k in self.sensors:
            if sensor.name not in known:
                known[sensor.name] = _derived(lin, sensor, owner)
            y.append(known[sensor.name][0][:, k])
            Y.append(known[sensor.name][1][:, k])
        return np.stack(y, axis=1), np.stack(Y, axis=1)

    def sizes(self, duration: float) -> np.ndarray:
        """Return the largest changes (p,) along the path: those of a vector for its columns, so that the choice of axes
        does not matter; of outputs that stand still the largest of their unit."""
        t = np.linspace(0.0, duration, 1001)
        y = self.changes(t, duration)
        groups = [s.name for s, _ in self.sensors]
        squares = (y - y[0]) ** 2
        of_group = {g: np.sqrt(squares[:, [k == g for k in groups]].sum(axis=1).max()) for g in groups}
        own = np.array([of_group[g] for g in groups])
        units = [self.unit(i) for i in range(len(self.names))]
        return np.array([w or max(v for v, u in zip(own, units, strict=True) if u == units[i]) or own.max()
                         for i, w in enumerate(own)])  # fmt: skip

    def unit(self, i: int) -> str:
        """Return the unit of an output."""
        sensor, k = self.sensors[i]
        return sensor.unit if isinstance(sensor.unit, str) else sensor.unit[k]


def _derived(lin: Instants, sensor: Sensor, owner: Owner) -> tuple[np.ndarray, np.ndarray]:
    """Return the k columns (s, k) of a sensor of positions or rotations at s instants, and their derivatives (s, k, N)
    by all dofs."""
    system, states = lin.system, lin.tangents.states
    record = system.system.record[sensor.first : sensor.last]
    values, by = place_records(system, states.Q[:, 0], states.D[:, 0], record)
    J, found, vanishes = slopes(sensor, values, record, system.length)
    if vanishes.any():
        raise ModelError(
            f'outputs: "{sensor.name}" ({sensor.kind}) is the length of a vector that is zero at '
            f"{lin.times[vanishes.argmax()]:.4g} {unit_of('s')}, where it has no derivative",
            owner=owner, key="outputs", value=sensor.name, remedy="take sensors of components (displacement, rotation)",
        )  # fmt: skip
    return found, J @ by


def find_outputs(compiled: CompiledModel, given: Mapping[str, Any], duration: float, owner: Owner) -> Outputs:
    """Return the outputs by names of sensors or of their columns.

    Raises:
        ModelError: there is no such sensor, it is no place or angle, or its path jumps or does not begin and end at
            rest.
    """
    sensors = {s.name: (s, 0) for s in compiled.sensors if len(s.columns) == 1}
    sensors |= {c: (s, k) for s in compiled.sensors for k, c in enumerate(s.columns)}
    functions, found = [], []
    for name, spec in given.items():
        if name not in sensors:
            wide = next((s for s in compiled.sensors if s.name == name), None)
            known = ", ".join(wide.columns if wide is not None else sensors) or "none"
            raise ModelError(
                f'outputs: there is no column "{name}" of a sensor', owner=owner, key="outputs", value=name,
                remedy=f"there are {known}; in a model file their names are in quotes",
            )  # fmt: skip
        sensor, k = sensors[name]
        kinds = compiled.system.system.record[sensor.first : sensor.last, 0]
        if sensor.rate or sensor.nonlinear or not np.isin(kinds, (S.REC_Q, S.REC_D)).all() or not kinds.size:
            raise ModelError(
                f'outputs: "{name}" ({sensor.kind}) is no place and no angle of a node', owner=owner, key="outputs",
                value=name, remedy="take sensors of positions, displacements or rotations",
            )  # fmt: skip
        law = make_function(spec, owner=owner.within(f'output "{name}"'), functions=compiled.model.building.functions)
        _check_path(law, name, duration, owner)
        functions.append(law)
        found.append((sensor, k))
    return Outputs(list(given), found, functions)


def _check_path(law: TimeFunction, name: str, duration: float, owner: Owner) -> None:
    """Refuse a path that does not begin and end at rest, or with jumps."""
    law.check(np.linspace(0.0, duration, 1001), f"output {name}", derivatives=True)
    inner = law.kinks_between(0.0, np.nextafter(duration, 0.0))
    e = 1e-9 * duration
    values = law(np.linspace(0.0, duration, 1001))
    size = max(float(np.abs(values - values[0]).max()), 1e-300)
    if abs(values[0]) > 1e-9 * max(size, 1e-12):
        raise ModelError(
            f'outputs: the function of "{name}" is {values[0]:g} at the start of the path, but it counts from there',
            owner=owner, key="outputs", value=name, remedy="subtract this value",
        )  # fmt: skip
    for at in inner:
        jump = abs(float(law(at + e)) - float(law(at - e)))
        if jump > 1e-6 * size:
            raise ModelError(
                f'outputs: "{name}" jumps by {jump:.3g} at {at:g} {unit_of("s")} of the '
                "path", owner=owner, key="outputs",
                value=name, remedy="take a smooth path",
            )  # fmt: skip
    fastest = float(np.abs(law.jet(np.linspace(0.0, duration, 1001))[1]).max())
    limit = 1e-6 * max(fastest, size / duration)
    for at in (0.0, duration, *inner):
        before = 0.0 if at == 0.0 else float(law.jet(max(at - e, 0.0))[1])
        after = 0.0 if at == duration else float(law.jet(at)[1])
        if abs(after - before) > limit:
            raise ModelError(
                f'outputs: the velocity of "{name}" jumps by {abs(after - before):.3g} at {at:g} {unit_of("s")} of the '
                "path, which takes an infinite effort",
                owner=owner, key="outputs", value=name,
                remedy="take a path from rest to rest with a continuous velocity, such as smoothstep",
            )  # fmt: skip


@dataclass(frozen=True)
class Efforts:
    """Forces and moments on coordinates of joints that motors without gains apply.

    Attributes:
        joints: names as the user gives them; motors: names of the motors.
        places: numbers of block and element of each; functions: numbers of their time functions.
        units: "N" or "N m".
    """

    joints: list[str]
    motors: list[str]
    places: list[tuple[int, int]]
    functions: list[int]
    units: list[str]

    def with_gains(self, compiled: CompiledModel, kp: np.ndarray, kd: np.ndarray) -> CompiledModel:
        """Return a model with parameters, histories and functions of its own, and these gains (p,) of the motors."""
        par = {i: compiled.system.blocks[i].par.copy() for i in {i for i, _ in self.places}}
        for (i, e), p, d in zip(self.places, kp, kd, strict=True):
            par[i][e, [KP, KD]] = p, d
        return replace(compiled, system=compiled.system.with_parameters(par), functions=list(compiled.functions))

    def coordinates(self, lin: Instants) -> np.ndarray:
        """Return the coordinates (s, p) [rad], [m] of the joints at s instants, measured from the start of the
        model."""
        tables = {i: lin.tangents.outputs(i) for i in {i for i, _ in self.places}}
        return np.stack([tables[i][:, e, 1] - lin.system.blocks[i].par[e, START] for i, e in self.places], axis=1)

    def forces(self, system: Compiled, out: np.ndarray) -> np.ndarray:
        """Return the efforts (n, p) in the middle of steps from element outputs (n, n_out)."""
        blocks = system.blocks
        return out[:, [blocks[i].first_output + e * len(blocks[i].type.outputs) for i, e in self.places]]

    def places_of(self, system: Compiled, out: np.ndarray) -> np.ndarray:
        """Return the coordinates (n, p) at the ends of steps, from the start of the model, from element outputs."""
        blocks = system.blocks
        columns = [blocks[i].first_output + e * len(blocks[i].type.outputs) + 1 for i, e in self.places]
        return out[:, columns] - [blocks[i].par[e, START] for i, e in self.places]

    def put(self, compiled: CompiledModel, times: np.ndarray, values: np.ndarray) -> None:
        """Let the efforts follow values (n, p) at times (n,) [s]: cubic splines, which stay at both ends."""
        for k, i in enumerate(self.functions):
            table = {"kind": "spline", "times": times.tolist(), "values": values[:, k].tolist(), "extrapolate": "hold"}
            compiled.functions[i] = make_function(table, name=self.motors[k])

    def hold(self, compiled: CompiledModel, values: np.ndarray) -> None:
        """Let the efforts be constant (p,)."""
        for k, i in enumerate(self.functions):
            compiled.functions[i] = make_function(float(values[k]))

    def at(self, lin: Instants) -> np.ndarray:
        """Return the forces (s, n, p) on the unknowns per unit of each effort, at s instants."""
        blocks = [lin.system.blocks[i] for i in sorted({i for i, _ in self.places})]
        return lin.forces_of(self.functions, blocks)


def find_efforts(compiled: CompiledModel, joints: Sequence[str], motors: Sequence[str]) -> Efforts:
    """Return the motors (k,) of the joints (k,) in a compiled model."""
    places, functions, units = [], [], []
    for motor in motors:
        i, block, first = next(
            (i, block, first) for i, block in enumerate(compiled.system.blocks)
            if block.type.name.startswith("motor_") for label, first, _ in block.groups if label == motor
        )  # fmt: skip
        places.append((i, first))
        functions.append(int(block.par[first, FUNCTION]))
        units.append("N m" if "angle" in block.type.name else "N")
    return Efforts(list(joints), list(motors), places, functions, units)


def projected(lin: Instants, outputs: Outputs, efforts: Efforts, owner: Owner) -> tuple[Projected, np.ndarray]:
    """Return the matrices of small motions about s instants with the bases of their zero dynamics, and the numbers of
    the instants without such bases; see `project`."""
    return project(*lin.dense(), efforts.at(lin), outputs.at(lin, owner)[1][:, :, lin.dofs])
