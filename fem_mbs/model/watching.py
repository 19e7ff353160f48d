"""Declarations of events and of checks of results."""

from __future__ import annotations

from typing import Any

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import (
    ANY_TEXT,
    FUNCTION,
    NAME,
    NUMBER,
    PLACES,
    TEXT,
)
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.kinds import make_function
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.checks import QUANTITIES, Check
from fem_mbs.model.records import Breaking, Event

__all__ = ["ACTIONS", "CheckRequest", "EventRule"]

#: What an event can do.
ACTIONS = ("stop", "on", "off", "switch", "lock", "release", "break")


@dataclass(frozen=True, eq=False)
class EventRule(Declaration):
    """An action in a transient when a sensor passes a value.

    Add an event: an action in a transient when a sensor passes a value; its time is found to round-off.

    Args:
        sensor: a sensor of positions, velocities, joint coordinates, energies ..., or one of its columns ("tip.y").
        value, direction: what is passed, "rising", "falling" or "both" ways.
        action: "stop" ends the step; "on" and "off" let loads act, or not (what is to be turned on does not act
            before); "switch" gives loads and drivers another function, of the time since the event (drivers go on
            from where they are; a jump of their speed acts on the model as a blow); "lock" closes locks and
            brakes, or lets latches close at their value, and "release" opens them; "break" removes joints and
            supports with a name for good.
        target: name, or list of names, of loads and motors, of "switch" also of motions, driven joints and
            equations; of locks; of joints or supports.
        function: of "switch".
    """

    owner = "Event"

    name: str = key(NAME, "for reports", shows='"event 1", ...')
    sensor: str = key(TEXT, 'a sensor, or one of its columns ("tip.y")')
    value: float = key(NUMBER, "that it passes", 0.0)
    direction: str = key(TEXT, '"rising", "falling" or "both"', "both", choices=("rising", "falling", "both"))
    action: str = key(
        TEXT,
        '"stop" (ends the step), "on", "off" (loads; what is to be turned on does not act before), "switch" '
        '(loads and drivers get another function), "lock", "release" (locks) or "break" (joints, supports)',
        "stop",
        choices=ACTIONS,
    )
    target: Any = key(
        PLACES,
        'names of loads and motors; of "switch" also motions, driven joints and equations; of "lock" and "release" '
        'locks; of "break" joints and supports',
        None,
        shows="none",
    )
    function: Any = key(FUNCTION, 'of "switch": of the time since the event', None, shows="none")

    def build(self, building: Building) -> None:
        value = self.value
        owner = Owner("Event", building.new_name("Event", self.name, {e.name for e in building.events}))
        found = next(
            (s for s in building.sensors if str(self.sensor) == s.name or str(self.sensor).startswith(f"{s.name}.")),
            None,
        )
        if found is None:
            building.find("sensor", self.sensor, {s.name: s for s in building.sensors}, owner)
        elif found.mid_step:
            raise ModelError(
                f'"{self.sensor}" belongs to the middle of time steps, where no step can end',
                owner=owner,
                remedy="look at a position, velocity, joint coordinate or energy",
            )
        targets = (self.target,) if isinstance(self.target, str) else tuple(self.target or ())
        if (self.action == "stop") == bool(targets):
            raise ModelError(
                f'action = "{self.action}" {"has no" if targets else "needs a"} target',
                owner=owner,
                key="target",
                value=self.target,
                remedy="remove it" if targets else "name loads, motors, driven joints, locks, or what breaks",
            )
        self._check_switched(building, targets, owner)
        if (self.action == "switch") != (self.function is not None):
            raise ModelError('function belongs to the action "switch", which needs one', owner=owner)
        law = None if self.function is None else make_function(self.function, owner=owner, functions=building.functions)
        value = building.number(value, owner, "value")
        building.events.append(Event(self.name, str(self.sensor), value, self.direction, self.action, targets, law))

    def _check_switched(self, building: Building, targets: tuple[str, ...], owner: Owner) -> None:
        """Look for the locks, or the joints and supports to break, that are named; enter the latter.

        Raises:
            ModelError: there is none of that name, or it cannot break.
        """
        for name in targets if self.action in ("lock", "release") else ():
            building.find("lock", name, building.locks, owner)
        for name in targets if self.action == "break" else ():
            if name in building.breakings:
                continue
            joint = building.find("joint or named support", name, {**building.joints, **building.breakings}, owner)
            if joint.kind in ("along_beam", "gear"):
                raise ModelError(f'target: a "{joint.kind}" does not break', owner=owner, key="target", value=name)
            building.breakings[name] = Breaking(name, "joint", None, None)


@dataclass(frozen=True, eq=False)
class CheckRequest(Declaration):
    """Values that the results are compared with after a run.

    Add a value that a run should reproduce: a quantity of a sensor, or its value at a time; see
    `fem_mbs.model.checks`.
    """

    owner = "Check"

    name: str = key(NAME, "for the report", shows='"check 1", ...')
    sensor: str = key(TEXT, 'a sensor, or one of its columns ("tip.x")')
    reference: float = key(NUMBER, "the value that is expected")
    tolerance: float | None = key(NUMBER, "largest difference, in the unit of the sensor", None, shows="or:")
    quantity: str | None = key(
        TEXT,
        '"first maximum", "first minimum", "maximum", "minimum", "extreme" (largest magnitude), "final" or "at" '
        "(at the time `at`)",
        None,
        shows="none",
        choices=QUANTITIES,
    )
    at: float | None = key(NUMBER, "instead of quantity: the time of the value", None, shows="none", unit="s")
    source: str = key(ANY_TEXT, "where the reference comes from", "")
    relative_tolerance: float | None = key(
        NUMBER, "largest difference over the reference", None, shows="or: tolerance", kw_only=True
    )

    def build(self, building: Building) -> None:
        if (self.relative_tolerance is None) == (self.tolerance is None):
            raise ModelError("give either tolerance or relative_tolerance", owner=Owner("Check", self.name))
        quantity: Any = self.quantity  # None is refused by `Check`
        building.new_name("Check", self.name, {c.name for c in building.checks})
        if quantity is None and self.at is not None:
            quantity = "at"
        if not any(str(self.sensor) == s.name or str(self.sensor).startswith(f"{s.name}.") for s in building.sensors):
            building.find("sensor", self.sensor, {s.name: s for s in building.sensors}, Owner("Check", self.name))
        tolerance: Any = self.tolerance
        if self.relative_tolerance is not None:
            tolerance = self.relative_tolerance * abs(self.reference)
        building.checks.append(Check(self.name, self.sensor, self.reference, tolerance, quantity, self.at, self.source))
