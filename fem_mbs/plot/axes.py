"""Name axes and colour bars by quantity and unit, with ticks at round numbers of the unit that is shown; axes in space.

Figures draw numbers of the model's base.  Where another unit is shown, only the ticks of the axis change.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import (
    Formatter,
    Locator,
    LogFormatter,
    LogFormatterSciNotation,
    MaxNLocator,
    NullFormatter,
    ScalarFormatter,
)

from fem_mbs.units import Units, split_unit

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = [
    "VIEW", "capital", "draw_triad", "eye", "hold_labels", "name_axis", "name_bar", "plain_numbers", "pretty",
    "straight",
]  # fmt: skip

VIEW = (22.0, -58.0)  # elevation and azimuth of models in space [degrees]

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def pretty(unit: str) -> str:
    """Return a unit as it stands in figures: m² of "m^2" or "m2"."""
    raised = re.sub(r"\^(-?\d+)|(?<=[a-zA-Z)])(\d+)\b", lambda m: (m[1] or m[2]).translate(_RAISED), unit)
    return raised.replace("*", " ")


def capital(text: str) -> str:
    """Return a text with a capital letter first."""
    return text[:1].upper() + text[1:]


def name_axis(axis: Axis, label: str, units: Units) -> None:
    """Label an axis that shows numbers of the base, given the name with the declared unit: "Speed [rad/s]".

    Call it after the scale of the axis (linear or logarithmic) is set.
    """
    text, unit = split_unit(label)
    shown = units.of(unit)
    axis.set_label_text(f"{text} [{pretty(shown.unit)}]" if unit else text)
    if shown.factor == 1.0 or isinstance(axis.get_major_locator(), _ScaledLocator):  # of an axis shared with this one
        return
    scaled: Any = _ScaledAxis(axis, shown.factor)
    for minor in (False, True):
        locator = axis.get_minor_locator() if minor else axis.get_major_locator()
        formatter = axis.get_minor_formatter() if minor else axis.get_major_formatter()
        locator.set_axis(scaled)
        formatter.set_axis(scaled)
        if minor:
            axis.set_minor_locator(_ScaledLocator(locator, shown.factor))
            axis.set_minor_formatter(_ScaledFormatter(formatter, shown.factor))
        else:
            axis.set_major_locator(_ScaledLocator(locator, shown.factor))
            axis.set_major_formatter(_ScaledFormatter(formatter, shown.factor))


def name_bar(bar: Any, label: str, units: Units) -> None:
    """Label a colour bar of numbers of the base, given the name with the declared unit."""
    text, unit = split_unit(label)
    shown = units.of(unit)
    bar.set_label(f"{text} [{pretty(shown.unit)}]" if unit else text)
    if shown.factor != 1.0:
        low, high = (shown.factor * edge for edge in (bar.norm.vmin, bar.norm.vmax))
        ticks = MaxNLocator(7, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
        inside = ticks[(ticks >= low - 1e-9 * (high - low)) & (ticks <= high + 1e-9 * (high - low))]
        bar.set_ticks(inside / shown.factor, labels=[f"{tick:.6g}".replace("-", "\N{MINUS SIGN}") for tick in inside])


def straight() -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors towards the eye over a plane and to its right."""
    return np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])


def eye() -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors towards the eye and to its right."""
    elevation, azimuth = np.deg2rad(VIEW)
    to_eye = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    return to_eye, np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])


def draw_triad(figure: Figure) -> None:
    """Draw the directions of the axes into the lower left corner of a figure."""
    from matplotlib.lines import Line2D

    size = figure.get_size_inches()
    to_eye, right = eye()
    up = np.cross(to_eye, right)
    origin = np.array((0.45, 0.4))
    for number, letter in enumerate("xyz"):
        arm = np.array((right[number], up[number]))
        end, text = (origin + 0.32 * arm) / size, (origin + 0.44 * arm) / size
        start = origin / size
        figure.add_artist(Line2D((start[0], end[0]), (start[1], end[1]), color="#555555", lw=1.1))
        figure.text(float(text[0]), float(text[1]), letter, ha="center", va="center", fontsize=8.0, color="#333333")


def hold_labels(figure: Figure, axes: Any, box: np.ndarray, zoom: float) -> None:
    """Make axes in space smaller where a label of theirs would be cut at an edge of the figure."""
    left = 4  # steps by 6 %
    while left:
        figure.draw_without_rendering()
        labels = [axis.label.get_window_extent() for axis in (axes.xaxis, axes.yaxis, axes.zaxis)]
        low, right = np.min([label.min for label in labels], axis=0), max(label.x1 for label in labels)
        if low.min() >= 6.0 and right <= figure.bbox.x1:
            return
        # labels stand about as far from the middle of the axes as their box is large; each look takes a drawing
        middle = axes.bbox.get_points().mean(axis=0)
        share = min(*((middle - 6.0) / (middle - low)), (figure.bbox.x1 - middle[0]) / (right - middle[0]))
        steps = min(max(1, round(float(np.log(np.clip(share, 0.5, 1.0)) / np.log(0.94)))), left)
        left -= steps
        zoom *= 0.94**steps
        axes.set_box_aspect(box.copy(), zoom=zoom)


def plain_numbers(axes: Any) -> None:
    """Let the axes write powers of ten in plain text: setting formulas takes most of the time of a small figure."""
    for axis in (axes.xaxis, axes.yaxis, getattr(axes, "zaxis", None)):
        if axis is None:
            continue
        formatter = axis.get_major_formatter()
        new = _plain(formatter)
        if new is not formatter:
            axis.set_major_formatter(new)
        if isinstance(axis.get_minor_formatter(), LogFormatterSciNotation):
            axis.set_minor_formatter(NullFormatter())


def _plain(formatter: Formatter) -> Formatter:
    """Return a formatter in plain text in the place of one of matplotlib's own kinds."""
    if type(formatter) is ScalarFormatter:
        return _PlainScalar()
    if isinstance(formatter, LogFormatterSciNotation):
        return _PlainPower()
    if isinstance(formatter, _ScaledFormatter):
        return formatter.plain()
    return formatter


class _PlainScalar(ScalarFormatter):
    """Numbers with a common power of ten, as ×10⁻³."""

    def get_offset(self) -> str:
        base, _, power = super().get_offset().replace("\N{MINUS SIGN}", "-").partition("e")
        return f"{'' if base == '1' else base}×10{power.translate(_RAISED)}" if power else base


class _PlainPower(LogFormatter):
    """Powers of ten, as 10⁻³; no others."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        power = round(float(np.log10(x))) if x > 0.0 else 0
        if x <= 0.0 or abs(np.log10(x) - power) > 1e-9:
            return f"{x:g}"
        return f"{x:g}" if -2 <= power <= 3 else f"10{str(power).translate(_RAISED)}"


class _ScaledAxis:
    """An axis as the locators and formatters of another unit see it."""

    def __init__(self, axis: Axis, factor: float) -> None:
        self._axis, self._factor = axis, factor

    def get_view_interval(self) -> np.ndarray:
        return self._factor * np.asarray(self._axis.get_view_interval())

    def get_data_interval(self) -> np.ndarray:
        return self._factor * np.asarray(self._axis.get_data_interval())

    def get_minpos(self) -> float:
        return self._factor * self._axis.get_minpos()

    def get_majorticklocs(self) -> np.ndarray:
        return self._factor * np.asarray(self._axis.get_majorticklocs())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._axis, name)


class _ScaledLocator(Locator):
    """Ticks of another locator, which sees the axis in another unit."""

    def __init__(self, inner: Locator, factor: float) -> None:
        self._inner, self._factor = inner, factor

    def set_axis(self, axis: Any) -> None:
        self.axis = axis

    def __call__(self) -> Any:
        return np.asarray(self._inner()) / self._factor

    def tick_values(self, vmin: float, vmax: float) -> Any:
        return np.asarray(self._inner.tick_values(self._factor * vmin, self._factor * vmax)) / self._factor

    def nonsingular(self, v0: float, v1: float) -> tuple[float, float]:
        low, high = self._inner.nonsingular(self._factor * v0, self._factor * v1)
        return low / self._factor, high / self._factor

    def view_limits(self, vmin: float, vmax: float) -> tuple[float, float]:
        low, high = self._inner.view_limits(self._factor * vmin, self._factor * vmax)
        return low / self._factor, high / self._factor


class _ScaledFormatter(Formatter):
    """Texts of another formatter, which sees the axis in another unit."""

    def __init__(self, inner: Formatter, factor: float) -> None:
        self._inner, self._factor = inner, factor

    def plain(self) -> Formatter:
        """Return the formatter with texts in plain text."""
        new = _plain(self._inner)
        if new is not self._inner:
            new.set_axis(self._inner.axis)
        return _ScaledFormatter(new, self._factor)

    def set_axis(self, axis: Any) -> None:
        self.axis = axis

    def __call__(self, x: float, pos: int | None = None) -> str:
        return self._inner(self._factor * x, pos)

    def set_locs(self, locs: Any) -> None:
        self._inner.set_locs((self._factor * np.asarray(locs)).tolist())

    def get_offset(self) -> str:
        return self._inner.get_offset()
