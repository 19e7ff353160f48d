"""Comparison of objects of two models: find those that a change of a parameter leaves equal."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any

import numpy as np

from fem_mbs.functions.expressions import Expression
from fem_mbs.functions.laws import TimeFunction
from fem_mbs.model.sensors.motion import ObservedPoint
from fem_mbs.model.sensors.sensor import Sensor

__all__ = ["alike"]

#: Member of objects that is not compared: a reference to their model.
_HOLDER = "model"


def alike(one: Any, other: Any) -> bool:
    """Return whether two objects certainly hold the same numbers.

    Numbers, texts and arrays are compared by value; containers, dataclasses, time functions and sensors by their
    members.  Objects of other types are alike only if they are one object.
    """
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype != object and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if isinstance(one, (int, float, str, bytes, np.generic)):
        return bool(one == other)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[k], other[k]) for k in one if k != _HOLDER)
    if isinstance(one, Expression):  # its text determines it
        return one.text == other.text and one.variables == other.variables
    if isinstance(one, (TimeFunction, Sensor, ObservedPoint)) or is_dataclass(one):
        return alike(vars(one), vars(other))
    return False
