"""Expected values of a run, compared with its sensors at the end.

check = Check("first maximum", "deflection", reference=0.00976, tolerance=2e-5, quantity="first maximum")
report = check.evaluate(t, values)
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.records import Record, entry
from fem_mbs.units import unit_of

__all__ = ["QUANTITIES", "Check", "CheckReport", "find_column", "measure"]

#: What can be taken from a series.
QUANTITIES = ("first maximum", "first minimum", "maximum", "minimum", "extreme", "final", "at")

_SWING = 1e-3  # of the range of a series: smaller ups and downs do not end the way to its first extreme


@dataclass(frozen=True)
class Check:
    """An expected value of a sensor.

    Attributes:
        sensor: name of a sensor, or of one of its columns ("tip.x").
        quantity: one of QUANTITIES; ``at``: the time for "at" [s].
        reference, tolerance: expected value and largest difference, in the sensor's unit.
        source: where the reference comes from.

    Raises:
        ModelError: for what cannot be checked.
    """

    name: str
    sensor: str
    reference: float
    tolerance: float
    quantity: str
    at: float | None = None
    source: str = ""

    def __post_init__(self) -> None:
        owner = Owner("Check", self.name)
        if self.quantity not in QUANTITIES:
            close = difflib.get_close_matches(str(self.quantity), QUANTITIES, n=1)
            hint = f'; did you mean "{close[0]}"?' if close else ""
            raise ModelError(
                f"quantity = {shown(self.quantity)} must be one of {', '.join(QUANTITIES)}{hint}",
                owner=owner,
                key="quantity",
                value=self.quantity,
            )
        if (self.quantity == "at") != (self.at is not None):
            raise ModelError('give either a quantity or "at", the time of the value', owner=owner)
        for key in ("reference", "tolerance") + (("at",) if self.at is not None else ()):
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                raise ModelError(f"{key} = {shown(value)} must be a finite number", owner=owner, key=key, value=value)
        if not self.tolerance > 0.0:
            raise ModelError(
                f"tolerance = {shown(self.tolerance)} must be greater than 0",
                owner=owner,
                key="tolerance",
                value=self.tolerance,
            )

    def evaluate(self, t: np.ndarray, values: np.ndarray) -> CheckReport:
        """Compare a series, t (n,) [s] and values (n,), with the reference."""
        measured, time = measure(t, values, self.quantity, self.at)
        good = measured is not None and abs(measured - self.reference) <= self.tolerance
        label = f"at {self.at:g} {unit_of('s')}" if self.quantity == "at" else self.quantity
        return CheckReport(
            case=self.name, sensor=self.sensor, quantity=label, measured=measured, reference=float(self.reference),
            tolerance=float(self.tolerance), time=time, source=self.source, passed=good,
        )  # fmt: skip

    def column(self, sensors: Sequence[Mapping[str, Any]]) -> tuple[str, int]:
        """Return the sensor's name and column number, given the sensors of a results header.

        Raises:
            ModelError: there is no such column, or a sensor of several is named without one.
        """
        return find_column(self.sensor, sensors, Owner("Check", self.name))


def find_column(name: str, sensors: Sequence[Mapping[str, Any]], owner: Owner) -> tuple[str, int]:
    """Return the sensor's name and column number of a column, given the sensors of a results header.

    Raises:
        ModelError: there is no such column, or a sensor of several is named without one.
    """
    for sensor in sensors:
        if name in sensor["columns"]:
            return sensor["name"], sensor["columns"].index(name)
        if name == sensor["name"] and len(sensor["columns"]) == 1:
            return sensor["name"], 0
    related = [s["columns"] for s in sensors if name == s["name"] or name.startswith(f"{s['name']}.")]
    every = [c for sensor in sensors for c in sensor["columns"]]
    known = [c for columns in related for c in columns] or difflib.get_close_matches(name, every, n=5) or every[:20]
    raise ModelError(
        f'sensor "{name}" is not one column', owner=owner, key="sensor", value=name,
        remedy=f"name one of {', '.join(known)}" if known else "the model has no sensors",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CheckReport(Record):
    """The outcome of a check of the model."""

    case: str = entry("name of the check")
    sensor: str = entry()
    quantity: str = entry("value of the series that is compared")
    measured: float | None = entry("null: the series has no such value")
    reference: float = entry()
    tolerance: float = entry()
    time: float | None = entry("of the measured value", unit="s")
    source: str = entry("of the reference")
    passed: bool = entry(key="pass")


def measure(
    t: np.ndarray, values: np.ndarray, quantity: str, at: float | None = None
) -> tuple[float | None, float | None]:
    """Return a quantity of a series and its time; (None, None) if the series does not have it.

    The first maximum is the first one from which the series falls by more than a thousandth of its range, so that
    round-off at the start does not count; likewise the first minimum.  "extreme" is the value of the largest magnitude;
    "at" interpolates linearly between rows.
    """
    known = np.isfinite(values)
    t, values = t[known], values[known]
    if not len(values):
        return None, None
    if quantity == "at":
        slack = 1e-9 * max(abs(float(t[0])), abs(float(t[-1])))
        if at is None or not t[0] - slack <= at <= t[-1] + slack:
            return None, None
        return float(np.interp(at, t, values)), float(at)
    if quantity in ("first maximum", "first minimum"):
        row = _first_extreme(values if quantity == "first maximum" else -values)
        if row is None:
            return None, None
    else:
        row = {
            "maximum": int(np.argmax(values)),
            "minimum": int(np.argmin(values)),
            "extreme": int(np.argmax(np.abs(values))),
            "final": len(values) - 1,
        }[quantity]
    return float(values[row]), float(t[row])


def _first_extreme(values: np.ndarray) -> int | None:
    """Return row of the first maximum: the series has risen by _SWING of its range before and falls by as much after
    it."""
    swing = _SWING * float(np.ptp(values))
    if swing == 0.0:
        return None
    risen = np.flatnonzero(values - np.minimum.accumulate(values) > swing)
    if not risen.size:
        return None
    first = int(risen[0])
    rest = values[first:]
    fallen = np.flatnonzero(np.maximum.accumulate(rest) - rest > swing)
    if not fallen.size:
        return None
    return first + int(np.argmax(rest[: fallen[0] + 1]))
