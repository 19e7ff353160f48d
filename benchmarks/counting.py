"""Count the floating-point operations of a kernel by running its Python source on numbers that count.

Every addition, subtraction, multiplication, division, root and arc tangent that is executed counts as one operation;
changes of sign, comparisons, copies and index arithmetic count nothing.  The count holds for the branches that the
given state takes.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np

TALLY: Counter = Counter()


def _binary(name: str, kind: str):
    plain, mirrored = getattr(float, f"__{name}__"), getattr(float, f"__r{name}__")

    def forward(self, other):
        TALLY[kind] += 1
        return Number(plain(self, float(other)))

    def backward(self, other):
        TALLY[kind] += 1
        return Number(mirrored(self, float(other)))

    return forward, backward


class Number(float):
    """A float whose arithmetic is tallied."""

    __add__, __radd__ = _binary("add", "add")
    __sub__, __rsub__ = _binary("sub", "add")
    __mul__, __rmul__ = _binary("mul", "multiply")
    __truediv__, __rtruediv__ = _binary("truediv", "divide")

    def __neg__(self):
        return Number(float.__neg__(self))

    def __abs__(self):
        return Number(float.__abs__(self))

    def __pow__(self, exponent):
        if exponent != 2:
            raise NotImplementedError(f"power {exponent}")
        return self * self


def _function(function, kind: str):
    def counted(*arguments):
        TALLY[kind] += 1
        return Number(function(*arguments))

    return counted


_ROOT = {"sqrt": _function(math.sqrt, "root")}
_TRANSCENDENTAL = {
    name: _function(getattr(math, name), "transcendental") for name in ("atan", "atan2", "sin", "cos", "tan")
}


class _Numpy:
    """numpy with counting functions, and with arrays that can hold counting numbers."""

    empty = staticmethod(lambda shape: np.full(shape, 0.0, object))
    zeros = empty
    sqrt = staticmethod(_ROOT["sqrt"])
    arctan = staticmethod(_TRANSCENDENTAL["atan"])
    arctan2 = staticmethod(_TRANSCENDENTAL["atan2"])
    sin = staticmethod(_TRANSCENDENTAL["sin"])
    cos = staticmethod(_TRANSCENDENTAL["cos"])
    tan = staticmethod(_TRANSCENDENTAL["tan"])

    def __getattr__(self, name):
        return getattr(np, name)


@contextmanager
def _counting_modules():
    stand_ins = {"np": _Numpy(), "math": SimpleNamespace(**{**vars(math), **_ROOT, **_TRANSCENDENTAL})}
    changed = []
    for name, module in list(sys.modules.items()):
        if name.startswith("fem_mbs.elements."):
            for attribute, stand_in in stand_ins.items():
                if hasattr(module, attribute):
                    changed.append((module, attribute, getattr(module, attribute)))
                    setattr(module, attribute, stand_in)
    try:
        yield
    finally:
        for module, attribute, value in changed:
            setattr(module, attribute, value)


def count(kernel, job: int, arguments) -> Counter:
    """Operations of one element of a kernel; ``arguments`` as it takes them after e1, the arrays being float64."""

    def counting(a):
        if not np.issubdtype(a.dtype, np.floating):
            return a
        out = np.empty(a.shape, object)
        out.ravel()[:] = [Number(v) for v in a.ravel()]
        return out

    prepared = [counting(a) for a in arguments]
    TALLY.clear()
    with _counting_modules():
        kernel.py_func(job, 0, 1, *prepared)
    return Counter(TALLY)
