"""Extract single numbers of a run under stable names: the columns of a sweep's table.

A name is STEP.KEY with the key of summary.json (``transient.energy.closing_error_relative``); members of lists are
counted from 1 (``modes.frequency_3``, ``buckling.load_factor_1``); of sensors there are ``min``, ``max``, ``absmax``
and ``end`` (``transient.tip.x.absmax``).  docs/sweeps.md lists them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.declarations.steps import recorded_kind
from fem_mbs.results.series import sensor_columns, sensor_units

if TYPE_CHECKING:
    from fem_mbs.results.reader import Results

__all__ = ["Quantity", "collect"]

#: Name, value, unit ("" where there is none).
Quantity = tuple[str, float, str]

_MOST = 200  # members of one list

# Of a step: list -> name of its members, unit.
_LISTS = {
    "frequencies_hz": ("frequency", "Hz"),
    "damping_ratios": ("damping_ratio", ""),
    "load_factors": ("load_factor", ""),
}
# What a step was told or how it was computed, rather than what came of it.
_GIVEN = {
    "h", "n_steps", "t_start", "t_end", "time", "deck_step", "equations", "constraints", "factorisations", "solves",
    "zeros", "speed", "asymmetry", "biorthogonality", "largest_residual", "dynamic", "linear",
}  # fmt: skip
_TABLES = ("energy", "adaptive")  # nested tables of single numbers
_UNITS = {
    "seconds": "s", "strain_energy": "J", "largest_displacement": "m", "energy.range": "J", "energy.closing_error": "J",
}  # fmt: skip


def collect(results: Results) -> list[Quantity]:
    """Return all quantities of a finished run, in the order of its steps."""
    out: list[Quantity] = []
    for name, step in zip(_step_names(step.name for step in results.steps), results.steps):
        pairs = [*_singles(step.summary), *_lists(step.summary), *_own(step), *_sensors(results, step)]
        out += [(f"{name}.{key}", value, unit) for key, value, unit in pairs]
    for check in results.summary.get("checks", []):
        out.append((f"check.{check['case']}", check["measured"], ""))
        out.append((f"check.{check['case']}.pass", float(check["pass"]), ""))
    out.append(("model.unknowns", results.summary["model"]["unknowns"], ""))
    return [(name, float(value), unit) for name, value, unit in out if _is_number(value) and math.isfinite(value)]


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, np.number))


def _step_names(names: Iterable[str]) -> Iterator[str]:
    """Return distinct names of steps: "transient", "transient 2"."""
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name} {seen[name]}"


def _singles(summary: dict[str, Any]) -> Iterator[Quantity]:
    for key, value in summary.items():
        if _is_number(value) and key not in _GIVEN:
            yield key, value, _UNITS.get(key, "")
        elif key in _TABLES and isinstance(value, dict):
            for inner, number in value.items():
                if _is_number(number):
                    yield f"{key}.{inner}", number, _UNITS.get(f"{key}.{inner}", "")
    for inner, number in (summary.get("energy") or {}).get("final", {}).items():
        yield f"energy.final.{inner}", number, "J"


def _lists(summary: dict[str, Any]) -> Iterator[Quantity]:
    for key, (name, unit) in _LISTS.items():
        for k, value in enumerate((summary.get(key) or [])[:_MOST], 1):
            yield f"{name}_{k}", value, unit


def _own(step: Any) -> Iterator[Quantity]:
    """Yield what only steps of this kind have."""
    yield from recorded_kind(step.type).quantities(step.summary)


def _sensors(results: Results, step: Any) -> Iterator[Quantity]:
    """Yield extremes and last values of sensors."""
    for sensor in results.header["sensors"]:
        key = f"sensor/{sensor['name']}"
        if key not in step.series or not len(step.series["time"]):
            continue
        _, values, _ = results.sensor(sensor["name"], step.number)
        count = values.shape[1]
        for column, title, unit in zip(values.T, sensor_columns(sensor, count), sensor_units(sensor, count)):
            own = title == sensor["name"] or title.startswith(f"{sensor['name']}.")
            name, unit = title if own else f"{sensor['name']}.{title}", "" if unit == "-" else unit
            valid = column[np.isfinite(column)]
            if len(valid):
                yield f"{name}.min", valid.min(), unit
                yield f"{name}.max", valid.max(), unit
                yield f"{name}.absmax", np.abs(valid).max(), unit
                yield f"{name}.end", valid[-1], unit
