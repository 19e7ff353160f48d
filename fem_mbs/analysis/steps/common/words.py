"""Sentences and quantities that several kinds of steps share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fem_mbs.analysis.steps.common.options import Sought, TimeSteps
from fem_mbs.units import unit_of

if TYPE_CHECKING:
    from fem_mbs.results.report import EigenvaluesAlong

__all__ = ["along_quantities", "counted", "rounding_of_rotation", "sought", "steps_in_words"]


def counted(n: int, what: str) -> str:
    """Return a number of things by their singular noun."""
    return f"{n} {what}" + ("" if n == 1 or what.endswith("s") else "s")


def steps_in_words(options: TimeSteps, adaptive: float = 0.0) -> str:
    """Describe the steps of a duration."""
    n = round(options.duration / options.h)
    return (
        "adaptive steps, results every" if adaptive else f"{counted(n, 'step')} of"
    ) + f" {options.h:g} {unit_of('s')}"


def rounding_of_rotation(speed: float, share: float) -> str:
    """Say by which share of themselves rounding of inertia forces may change eigenvalues at a speed."""
    return (
        f"at {speed:g} {unit_of('rad/s')} rounding of gyroscopic and centrifugal forces alone may change them by "
        f"{100.0 * min(share, 1.0):.3g} %; take a lower speed"
    )


def sought(options: Sought) -> str:
    """Describe the selection of complex modes in words."""
    if options.which == "rightmost":
        return "of largest growth"
    near = options.near
    if near == 0.0:
        return "the lowest"
    return (
        f"nearest to {near:g} {unit_of('Hz')}"
        if isinstance(near, (int, float))
        else f"nearest to {near[0]:g} + {near[1]:g} i {unit_of('1/s')}"
    )


def along_quantities(along: EigenvaluesAlong | None) -> Iterator[tuple[str, Any, str]]:
    """Yield whether a step with eigenvalues along it was stable, and from where it was not."""
    if along is not None:
        yield "stable", along.stable, ""
        first = along.unstable_from or {}
        for name, unit in (("load_factor", ""), ("time", "s")):
            if name in first:
                yield f"unstable_from.{name}", first[name], unit
