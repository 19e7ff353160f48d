"""Tables of results as data frames of pandas: labels name the units, which are those of display or of the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import ResultsError
from fem_mbs.records import entries
from fem_mbs.results.eigenvalues import as_complex
from fem_mbs.results.sensor_tables import sensor_head, sensor_rows, sensors_in
from fem_mbs.results.series import tables
from fem_mbs.units import Units, split_unit

if TYPE_CHECKING:
    import pandas

    from fem_mbs.results.reader import Results, Step
    from fem_mbs.results.report import StepReport

__all__ = ["dataframe", "mode_frame", "node_frame", "sensor_frame"]

_AXES = ("x", "y", "z", "rotation x", "rotation y", "rotation z")
_TENSOR = ("xx", "yy", "zz", "xy", "yz", "zx")
#: Fields of frames whose names do not tell their unit.
_UNITS = {"displacement": "m", "rotation": "rad", "velocity": "m/s"}


def dataframe(named: Sequence[tuple[str, str]], columns: Sequence[Any], units: Units, name: str) -> pandas.DataFrame:
    """Return a data frame whose index is the first column.

    Args:
        named: names and declared units of the columns, "" where there is none.
        columns: (n,) each, in the units of the model.
        units: in which the numbers are given.
        name: of the table, in its ``attrs``; these also have "units", by the labels of the columns.

    Raises:
        ResultsError: pandas is not installed.
    """
    pandas = tables("pandas")
    shown = [units.of(unit) for _, unit in named]
    labels = [f"{text} [{s.unit}]" if unit else text for (text, unit), s in zip(named, shown, strict=True)]
    values = [s(np.asarray(column)) if s.factor != 1.0 else column for s, column in zip(shown, columns, strict=True)]
    index = pandas.Index(values[0], name=labels[0])
    found = pandas.DataFrame(dict(enumerate(values[1:])), index=index)
    found.columns = labels[1:]
    found.attrs = {"name": name, "units": {n: s.unit for n, s in zip(labels[1:], shown[1:], strict=True)}}
    return found


def sensor_frame(results: Results, step: Step, base: bool) -> pandas.DataFrame:
    """Return the table of `Results.to_dataframe`."""
    sensors = sensors_in(results.header, step)
    if not sensors:
        raise ResultsError(
            f'{results.where}: step "{step.name}" ({step.type}) has no rows of sensors: ask for '
            "modes_to_dataframe, or a series by its own call"
        )
    named, parts = sensor_head(step, sensors), list(sensor_rows(step, sensors))
    table = np.vstack(parts) if parts else np.empty((0, len(named)))
    order = list(range(len(named)))
    if step.is_path:  # the load factor tells its rows apart, not the time
        factor = [text for text, _ in named].index("load factor")
        order = [factor, *(k for k in order if k != factor)]
    columns = [table[:, k] for k in order]
    return dataframe([named[k] for k in order], columns, _units(results, base), step.name)


def node_frame(results: Results, step: Step, frame: int, base: bool) -> pandas.DataFrame:
    """Return the table of `Results.nodes_to_dataframe`."""
    count, places = len(step.frame_times), results.header["nodes"]
    if not -count <= frame < count:
        raise ResultsError(f'{results.where}: step "{step.name}" has {count} frames, no number {frame}')
    named = [("node", ""), *((axis, "m") for axis in "xyz")]
    columns: list[Any] = [np.arange(len(places)), *np.asarray(places).T]
    for name in step.frames:
        text, unit = split_unit(name)
        unit = unit or _UNITS.get(text.removesuffix(" imaginary").removeprefix("state "), "")
        if name == "time" or step.frames[name].shape[1:2] != (len(places),):
            continue  # of elements and of modal coordinates
        values = np.asarray(step.frames[name][frame % count])
        if values.ndim == 1:
            named.append((text, unit))
            columns.append(values)
        elif values.ndim == 2:
            # forces and moments of supports stand in one array
            tensor = values.shape[1] == 6 and text != "reaction"
            parts = (_TENSOR if tensor else _AXES)[: values.shape[1]]
            turned = ["N"] * 3 + ["N m"] * 3 if text == "reaction" else [unit] * len(parts)
            named += [(f"{text} {part}", u) for part, u in zip(parts, turned, strict=False)]
            columns += list(values.T)
    return dataframe(named, columns, _units(results, base), f"{step.name}, frame {frame % count}")


def mode_frame(results: Results, step: int | str | None, base: bool) -> pandas.DataFrame:
    """Return the table of `Results.modes_to_dataframe`."""
    chosen = results.steps if step is None else [results.step_at(step)]
    for item in reversed(chosen):
        report = item.report
        found = [] if report is None else _of_modes(report)
        if found:
            count = len(found[0][2])
            named, columns = [("mode", "")], [np.arange(1, count + 1)]
            for text, unit, values in found:
                named.append((text, unit))
                columns.append(values)
            return dataframe(named, columns, _units(results, base), item.name)
    where = "no step" if step is None else f'step "{chosen[0].name}" ({chosen[0].type})'
    raise ResultsError(f"{results.where}: {where} has modes: ask for a step of modes, buckling or complex modes")


def _of_modes(report: StepReport) -> list[tuple[str, str, np.ndarray]]:
    """Return names, units and values (n,) of what a report tells of each of its n modes; none of other reports.

    The first list with a name for its members says how many modes there are.
    """
    told = [(entry, getattr(report, entry.name)) for entry in entries(type(report))]
    lists = [(entry, value) for entry, value in told if isinstance(value, list)]
    count = next((len(value) for entry, value in lists if entry.member in ("frequency", "load_factor")), None)
    if count is None:
        return []
    found = []
    for entry, value in lists:
        text = entry.member.replace("_", " ") or entry.name.replace("_", " ").removesuffix("s")
        if len(value) != count or entry.limits.get("enum"):
            continue
        if entry.name == "eigenvalues":
            found.append(("eigenvalue", "1/s", as_complex(value)))
        elif all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in value):
            found.append((text, entry.unit, np.asarray(value)))
    part = getattr(report, "participation", None)
    masses = np.asarray(getattr(part, "effective_mass", None) or [], float)
    if masses.ndim == 2 and len(masses) == count and part is not None:
        for direction, column in zip(part.directions, masses.T, strict=True):
            unit = "kg m^2" if "rotation" in direction else "kg"
            found.append((f"effective mass {direction}", unit, column))
    return found


def _units(results: Results, base: bool) -> Units:
    return Units(results.units.base) if base else results.units
