"""Locks, latches and brakes that close, slip and open in a run, joints and supports that break.

Two sets define the constraints that act: multipliers that are inactive and have no equation, and dofs that broken
supports have released.  `RunContext.present` makes the compiled system for them.  A constraint that opens changes
neither positions nor velocities.  One that closes holds a coordinate at its present value and stops its velocity as a
plastic blow does (`fem_mbs.analysis.switching.blows`).

Theory: docs/theory.md, section 3, "Locks and brakes"; Otter, Elmqvist & Cellier (1993), eqs 1f, 1g and 2d: a locked
coordinate has a constraint force and no acceleration, a free one an acceleration and no constraint force.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fem_mbs.analysis.start.initial import consistent_velocities
from fem_mbs.analysis.switching.watched import Watched, WatchedForce
from fem_mbs.errors import AnalysisError
from fem_mbs.late import dataclass
from fem_mbs.model.model import CompiledModel
from fem_mbs.model.records import LockData
from fem_mbs.model.sensors.switches import Magnitude, Reading, Switch
from fem_mbs.results.report import EventReport
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.blocks import Block
from fem_mbs.system.compile import with_acting
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.tangent import control, function_table

__all__ = ["Switching"]

OPEN, CLOSED, SLIPPING = 0, 1, 2
_STILL = 1e-10  # speed, over the largest in the model, below which a coordinate stands
_BORNE = 1e-8  # part of a limit by which the force of an equilibrium, found by iteration, may miss it
_THERE = 1e-9  # rad, or m over the size of the model, within which a coordinate is at the value of its lock


@dataclass(eq=False)
class _Lock:
    """A lock in a run: its ``state``, whether it is ``ready`` to close at its value, and the sign of the motion while
    it slips; ``dead``: it has opened for good.

    ``latch`` and ``stop`` are what is watched: the coordinate that passes the value, the motion that ends.
    """

    said: LockData
    switch: Switch
    state: int
    ready: bool
    sign: float = 1.0
    dead: bool = False
    latch: Watched | None = None
    stop: Watched | None = None


class Switching:
    """The locks of a run, and what can break.

    Attributes:
        silent: (n_mult,) bool, multipliers whose constraints do not act.
        released: dofs (k,) that supports hold no more.
        watched: what closes, opens and breaks by itself.
        closing: names of locks that have closed since `take_closing`.
    """

    def __init__(self, compiled: CompiledModel):
        self.silent, self._first = compiled.system.silent.copy(), compiled.system.first_multiplier
        self.released = np.empty(0, np.int64)
        self.locks: dict[str, _Lock] = {}
        self.others: dict[str, Switch] = {}
        self.broken: set[str] = set()
        self.watched: list[Watched] = []
        # name, "force" or "moment", distance of the force from its limit, function that reads the limit
        self._limits: list[tuple[str, str, WatchedForce, Callable[..., Any]]] = []
        self.closing: list[str] = []
        self.happened: list[EventReport] = []
        for switch in compiled.switches:
            if isinstance(switch.said, LockData):
                said = switch.said
                lock = _Lock(said, switch, CLOSED if said.locked else OPEN, said.ready and not said.locked)
                self.locks[said.name] = lock
                self._watch_lock(lock)
            else:
                self.others[switch.name] = switch
                for what, limit in (("force", switch.said.force), ("moment", switch.said.moment)):
                    if limit is not None:
                        self._watch_force(
                            switch.name, what, switch.watches[what], limit,
                            partial(self._break_by_itself, switch.name), partial(self._is_whole, switch.name),
                        )  # fmt: skip

    # --- what is watched -------------------------------------------------------------------------------------------
    def _watch_lock(self, lock: _Lock) -> None:
        said, watches = lock.said, lock.switch.watches
        what = "moment" if said.coordinate.angular else "force"
        if said.value is not None:
            value = said.value
            read = self._reader(watches["coordinate"])
            lock.latch = Watched(
                lambda record, ledger: read(record, ledger) - value, "both", partial(self._catch, lock), value,
                lambda: lock.ready and not lock.dead,
            )  # fmt: skip
            self.watched.append(lock.latch)
        if said.limit is not None:
            speed = self._reader(watches["speed"])
            lock.stop = Watched(
                lambda record, ledger: lock.sign * speed(record, ledger), "falling", partial(self._catch, lock), 1.0,
                lambda: lock.state == SLIPPING,
            )  # fmt: skip
            self.watched.append(lock.stop)
            self._watch_force(
                said.name, what, watches["force"], said.limit, partial(self._slip, lock), lambda: lock.state == CLOSED,
                watches["limit"],
            )  # fmt: skip
        if said.breaks_at is not None:
            self._watch_force(
                said.name, what, watches["force"], said.breaks_at, partial(self._fail, lock),
                lambda: lock.state == CLOSED,
            )  # fmt: skip

    def _watch_force(
        self, name: str, what: str, reading: Magnitude | Reading, limit: float, fire: Callable[..., None],
        active: Callable[[], bool], changing: Magnitude | Reading | None = None,
    ) -> None:  # fmt: skip
        """Watch for a force to pass a limit.

        ``limit``: the limit, by which crossings are scaled; ``changing``: reads the present limit where it changes
        in time.
        """
        read = self._reader(reading)
        now = (lambda record, ledger: limit) if changing is None else self._reader(changing)
        watched = WatchedForce(
            lambda record, ledger: np.abs(read(record, ledger)) - now(record, ledger), "rising", fire, limit, active
        )
        self.watched.append(watched)
        self._limits.append((name, what, watched, now))

    def check_limits(self, record: np.ndarray, ledger: np.ndarray, owner: str, place: str) -> None:
        """Refuse an equilibrium that needs more than a closed lock, a joint or a support bears.

        Args:
            record, ledger: rows of equilibria, the last of which is looked at.
            place: where it is, of the message ("load factor 0.5").

        Raises:
            AnalysisError: naming what would slip or break, its force or moment and its limit.
        """
        for name, what, watched, now in self._limits:
            if not watched.active():
                continue
            beyond = float(watched.read(record, ledger)[-1])
            limit = float(np.ravel(now(record, ledger))[-1])
            if beyond > _BORNE * watched.size:
                lock = self.locks.get(name)
                does = "slips" if lock is not None and lock.said.limit is not None else "breaks"
                raise AnalysisError(
                    f'the equilibrium at {place} needs a {what} of {limit + beyond:.6g} in "{name}", which {does} at '
                    f"{limit:.6g}; load it less, raise the limit, or let a transient show how it {does}",
                    owner=owner,
                )

    @staticmethod
    def _reader(what: Magnitude | Reading) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        return lambda record, ledger: np.asarray(what.evaluate(record, ledger), float)[:, 0]

    def _is_whole(self, name: str) -> bool:
        return name not in self.broken

    # --- what happens ----------------------------------------------------------------------------------------------
    def act(self, action: str, names: Collection[str], compiled: CompiledModel, state: S.State, t: float) -> None:
        """Do what an event asks for: "lock" or "release" locks, "break" joints and supports."""
        for name in names:
            if action == "break":
                self._break(name, compiled, state)
            elif action == "release":
                self._open(self.locks[name], compiled)
            else:
                self._lock(self.locks[name], compiled, state, t)

    def _lock(self, lock: _Lock, compiled: CompiledModel, state: S.State, t: float) -> None:
        if lock.dead or lock.state != OPEN:
            return
        place, speed = self._measured(lock, compiled.system, state)
        if lock.said.limit is not None and abs(speed) > _STILL * _largest_speed(lock, compiled.system, state):
            self._start_slip(lock, compiled, float(np.sign(speed)), abs(speed))
            self.happened.append(EventReport(name=lock.said.name, time=t, action="slip"))
            return
        if lock.said.value is not None:
            way = place - lock.said.held.start
            if abs(way) > _THERE * (1.0 if lock.said.coordinate.angular else compiled.system.length):
                assert lock.latch is not None
                lock.ready, lock.latch.side, lock.latch.value = True, 1 if way > 0.0 else -1, way
                return
        self._close(lock, compiled, state)

    def _close(self, lock: _Lock, compiled: CompiledModel, state: S.State) -> None:
        """Let the constraint act, at the value of the lock or where the coordinate is."""
        block, e = _element(compiled.system, lock, brake=False)
        column = block.type.column("angle" if lock.said.coordinate.angular else "displacement")
        place = self._measured(lock, compiled.system, state)[0]
        block.par[e, column] = place if lock.said.value is None else lock.said.held.start
        self._set(lock, compiled.system, CLOSED)
        self.closing.append(lock.said.name)

    def _open(self, lock: _Lock, compiled: CompiledModel) -> None:
        lock.ready = False
        if lock.state != OPEN:
            self._set(lock, compiled.system, OPEN)

    def _set(self, lock: _Lock, system: Compiled, state: int, force: float = 0.0) -> None:
        """Set the state of a lock, and the force of a brake that slips."""
        lock.state = state
        lock.ready = lock.ready and state == OPEN
        self.silent[lock.switch.multipliers - self._first] = state != CLOSED
        block, e = _element(system, lock, brake=True)
        block.par[e, block.type.column("state")] = state
        block.par[e, block.type.column("force")] = force

    def _start_slip(self, lock: _Lock, compiled: CompiledModel, sign: float, speed: float) -> None:
        """Let a brake slip in the direction ``sign`` of the growth of its coordinate."""
        assert lock.said.slip is not None and lock.stop is not None
        lock.sign = sign
        self._set(lock, compiled.system, SLIPPING, -sign * lock.said.slip)
        lock.stop.side, lock.stop.value = 1, speed

    # arguments of the functions of watched conditions: (compiled, state, record of the last row, t)
    def _catch(self, lock: _Lock, compiled: CompiledModel, state: S.State, record: np.ndarray, t: float) -> None:
        self._close(lock, compiled, state)

    def _slip(self, lock: _Lock, compiled: CompiledModel, state: S.State, record: np.ndarray, t: float) -> None:
        force = float(self._reader(lock.switch.watches["force"])(record, np.empty((1, 0)))[0])
        self._start_slip(lock, compiled, -float(np.sign(force)), 0.0)
        self.happened.append(EventReport(name=lock.said.name, time=t, action="slip"))

    def _fail(self, lock: _Lock, compiled: CompiledModel, state: S.State, record: np.ndarray, t: float) -> None:
        lock.dead = True
        self._open(lock, compiled)
        self.happened.append(EventReport(name=lock.said.name, time=t, action="break"))

    def _break_by_itself(
        self, name: str, compiled: CompiledModel, state: S.State, record: np.ndarray, t: float
    ) -> None:
        if name not in self.broken:  # force and moment may reach their limits at once
            self._break(name, compiled, state)
            self.happened.append(EventReport(name=name, time=t, action="break"))

    def _break(self, name: str, compiled: CompiledModel, state: S.State) -> None:
        """Remove the constraints of a joint or support, with the locks of the joint."""
        switch = self.others[name]
        self.broken.add(name)
        self.silent[switch.multipliers - self._first] = True
        self.released = np.union1d(self.released, switch.held)
        state.reaction[:, switch.held] = 0.0
        for lock in self.locks.values():
            if lock.said.joint == name:
                lock.dead = True
                self._open(lock, compiled)

    def start(self, record: np.ndarray, ledger: np.ndarray, two_state: bool) -> None:
        """Read in the first row of a step what is watched; ``two_state``: forces belong to the middle of its steps."""
        for lock in self.locks.values():
            if lock.latch is not None:
                lock.latch.begin(record, ledger)
        for w in self.watched:
            if isinstance(w, WatchedForce):
                w.two_state = two_state
                w.begin(record, ledger)

    def begin(self, compiled: CompiledModel, state: S.State, t: float | None = None) -> None:
        """Let the brakes slip whose coordinates move at the state, which does not know them; after the start of a run
        the report of its events tells so, with the time ``t``."""
        for lock in self.closed_brakes():
            speed = self._measured(lock, compiled.system, state)[1]
            if abs(speed) > _STILL * _largest_speed(lock, compiled.system, state):
                self._start_slip(lock, compiled, float(np.sign(speed)), abs(speed))
                if t is not None:
                    self.happened.append(EventReport(name=lock.said.name, time=t, action="slip"))

    def loosen(self, compiled: CompiledModel, state: S.State, t: float) -> None:
        """Let the brakes slip that the blow of a lock or driver moves: their finite force transmits no impulse."""
        silent = self.without_brakes()
        if silent is None:
            return
        free = replace(compiled, system=with_acting(compiled.system, silent, self.released))
        kept = state.V.copy(), state.DD.copy()
        consistent_velocities(free, state, t, current=True)
        self.begin(free, state, t)
        state.V[:], state.DD[:] = kept

    def turn(self, compiled: CompiledModel, state: S.State, struck: bool) -> None:
        """Let brakes that slip go on against the motion, which a blow may have turned round.

        Unless something has ``struck``, velocities have changed by their errors alone: a brake that these have turned
        round has come to its stop, and closes next.
        """
        for lock in self.locks.values():
            if lock.state == SLIPPING:
                speed = self._measured(lock, compiled.system, state)[1]
                still = not struck or abs(speed) <= _STILL * _largest_speed(lock, compiled.system, state)
                self._start_slip(lock, compiled, lock.sign if still else float(np.sign(speed)), abs(speed))

    def without_brakes(self) -> np.ndarray | None:
        """Return the multipliers (n_mult,) bool that are silent where brakes do not hold; None: no brake holds."""
        brakes = [lock.switch.multipliers for lock in self.closed_brakes()]
        if not brakes:
            return None
        silent = self.silent.copy()
        silent[np.concatenate(brakes) - self._first] = True
        return silent

    def closed_brakes(self) -> list[_Lock]:
        """Return the brakes that hold."""
        return [lock for lock in self.locks.values() if lock.said.limit is not None and lock.state == CLOSED]

    def take_happened(self) -> list[EventReport]:
        """Return the reports of what has happened since the last call."""
        found, self.happened = self.happened, []
        return found

    @property
    def struck(self) -> bool:
        """Return whether a lock has closed on a motion since `take_closing`; brakes close on none."""
        return any(self.locks[name].said.limit is None for name in self.closing)

    def take_closing(self) -> list[str]:
        """Return the names of locks that have closed since the last call."""
        found, self.closing = self.closing, []
        return found

    # --- the elements of locks -------------------------------------------------------------------------------------
    def _measured(self, lock: _Lock, system: Compiled, state: S.State) -> tuple[float, float]:
        """Return the coordinate of a lock, as its elements measure it, and its rate."""
        block, e = _element(system, lock, brake=True)
        for a in (state.Q, state.D, state.V):
            a[1] = a[0]
        # zeros serve: only the limit depends on functions of time, and it is not read here
        functions = np.zeros(1 + int(block.par[:, block.type.column("factor")].max()))
        row = system.outputs(system.blocks.index(block), control(), function_table(functions), state, e, e + 1)[0]
        names = block.type.quantities
        return float(row[names.index("angle" if lock.said.coordinate.angular else "displacement")]), float(
            row[names.index("speed")]
        )

    def book_impulse(self, system: Compiled, name: str, impulse: float) -> None:
        """Add an impulse to those with which a lock has closed."""
        block, e = _element(system, self.locks[name], brake=True)
        block.par[e, block.type.column("impulse")] += impulse

    def elements(self, system: Compiled, name: str) -> tuple[int, int]:
        """Return the number of the constraint of a lock among all elements, and that of its multiplier."""
        block, e = _element(system, self.locks[name], brake=False)
        return block.first_element + e, int(self.locks[name].switch.multipliers[0]) - system.first_multiplier

    # --- restart ---------------------------------------------------------------------------------------------------
    def story(self) -> dict[str, Any]:
        """Return the data for a restart point in types of JSON; the parameters of elements are in its state."""
        return {
            "silent": np.flatnonzero(self.silent).tolist(), "released": self.released.tolist(),
            "broken": sorted(self.broken),
            "locks": {name: [k.state, k.ready, k.sign, k.dead] for name, k in self.locks.items()},
        }  # fmt: skip

    def go_on(self, story: dict[str, Any]) -> None:
        """Continue from a restart point."""
        self.silent[:] = False
        self.silent[story["silent"]] = True
        self.released, self.broken = np.array(story["released"], np.int64), set(story["broken"])
        for name, (state, ready, sign, dead) in story["locks"].items():
            lock = self.locks[name]
            lock.state, lock.ready, lock.sign, lock.dead = int(state), bool(ready), float(sign), bool(dead)

    # --- the compiled system ---------------------------------------------------------------------------------------
    def fits(self, system: Compiled) -> bool:
        """Return whether in a compiled system just these constraints act."""
        return np.array_equal(system.silent, self.silent) and not np.isin(self.released, system.fixed).any()


def _element(system: Compiled, lock: _Lock, brake: bool) -> tuple[Block, int]:
    """Return the block and number of the constraint of a lock, or of the element beside it."""
    for block in system.blocks:
        if bool(block.type.multipliers) != brake:
            for label, first, _ in block.groups:
                if label == lock.said.name:
                    return block, first
    raise KeyError(lock.said.name)


def _largest_speed(lock: _Lock, system: Compiled, state: S.State) -> float:
    """Return the largest speed of a state in the unit of a lock's coordinate."""
    arrays, V = system.system, state.V[0]
    turning = float(np.abs(V[arrays.rotations]).max(initial=0.0)) if arrays.rotations.size else 0.0
    moving = float(np.abs(V[arrays.positions]).max(initial=0.0))
    return max(turning, moving / system.length) * (1.0 if lock.said.coordinate.angular else system.length)
