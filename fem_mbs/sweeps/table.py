"""The table of a sweep: a row per variant with its values, how it ended, and its quantities."""

from __future__ import annotations

import csv
import fnmatch
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.declarations.kinds import shown
from fem_mbs.display import html_table
from fem_mbs.errors import ResultsError
from fem_mbs.late import dataclass
from fem_mbs.results import store
from fem_mbs.units import Shown, Units

if TYPE_CHECKING:
    import pandas

__all__ = ["CSV", "FORMAT", "JSON", "SweepParameter", "SweepRow", "SweepTable"]

JSON, CSV = "sweep.json", "sweep.csv"
FORMAT = "fem-mbs sweep 1"

# Quantities that a table or figure shows by default: the first of these patterns that match and vary.
_TELLING = (
    r"frequency_\d+", r"load_factor_\d+", r"critical_(speed|load)_\d+", r"absmax", r"amplitude_max",
    r"growth_rate_(max|\d+)", r"damping_ratio_\d+", r"largest_displacement", r"unstable_from\..*", r"time",
    r"strain_energy",
)  # fmt: skip


_MOST_COLUMNS = 8  # of the quantities in a notebook


@dataclass(frozen=True)
class SweepParameter:
    """A changed number or text: its path in the model file, its short name in tables and folders, its values."""

    path: str
    label: str
    values: tuple[Any, ...]

    @property
    def numeric(self) -> bool:
        """Return whether all values are numbers."""
        return all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in self.values)


@dataclass(frozen=True)
class SweepRow:
    """A variant: its values in the order of the parameters, its folder relative to that of the sweep, its status
    ("done", "failed", "missing"), the reason of a failure, the wall time [s], its quantities by name."""

    values: tuple[Any, ...]
    folder: str
    status: str
    reason: str = ""
    seconds: float | None = None
    quantities: dict[str, float] = field(default_factory=dict)


@dataclass
class SweepTable:
    """All variants of a sweep, in the order of their values (the last parameter fastest).

    ``rows`` are the variants, ``parameters`` what changes in the ``model`` file; ``title`` is that of the model, and
    ``directory`` the folder of the sweep.  ``zipped``: the parameters change together.  ``units`` has the names of all
    quantities, in order, with their units as declared; the numbers are in the base of ``shown``, which says in which
    units tables and figures show them.
    """

    directory: Path
    title: str
    model: str
    parameters: list[SweepParameter]
    rows: list[SweepRow]
    units: dict[str, str]
    zipped: bool = False
    shown: Units = field(default_factory=Units)

    def __repr__(self) -> str:
        done = sum(row.status == "done" for row in self.rows)
        over = ", ".join(p.label for p in self.parameters)
        return (
            f"<SweepTable {self.title!r}: {done} of {len(self.rows)} done, over {over}; {len(self.units)} quantities>"
        )

    def _repr_html_(self) -> str:
        """Return the variants with their most telling quantities as a table of a notebook, in units of display."""
        names = self.choose(None, _MOST_COLUMNS) if self.units else []
        units = [self.unit(name) for name in names]
        heads = [f"{name} [{one.unit}]" if one.unit else name for name, one in zip(names, units, strict=True)]
        rows = (
            [
                *map(str, row.values),
                row.status,
                *(
                    f"{one(row.quantities[name]):.6g}" if name in row.quantities else ""
                    for name, one in zip(names, units)
                ),
            ]
            for row in self.rows
        )
        return html_table(self.title, [*(p.label for p in self.parameters), "status", *heads], rows)

    @property
    def failed(self) -> list[SweepRow]:
        """Return the variants that have failed."""
        return [row for row in self.rows if row.status == "failed"]

    @property
    def names(self) -> list[str]:
        """Return the names of the quantities."""
        return list(self.units)

    def column(self, name: str) -> np.ndarray:
        """Return a quantity, or a parameter of numbers by its path or short name, (n_rows,) float; NaN where there is
        none.

        Raises ResultsError for an unknown name.
        """
        for k, p in enumerate(self.parameters):
            if name in (p.path, p.label) and p.numeric:
                return np.array([row.values[k] for row in self.rows], float)
        if name not in self.units:
            raise ResultsError(self._unknown(name))
        return np.array([row.quantities.get(name, np.nan) for row in self.rows], float)

    def unit(self, name: str) -> Shown:
        """Return how the quantity ``name`` is shown: its unit of display, and the factor from the base to it."""
        return self.shown.of(self.units.get(name, ""))

    def to_dataframe(self, patterns: Sequence[str] | None = None, base: bool = False) -> pandas.DataFrame:
        """Return a table with a row per variant that has run: parameters as its index, and the quantities, whose labels
        name the units.

        ``attrs`` of the table has the title, and the units of the columns by their labels.

        Args:
            patterns: quantities to take, as of `choose`; None: all.
            base: give numbers in the units of the model; else in those of display.

        Raises:
            ResultsError: a pattern that fits none, or pandas is not installed.
        """
        from fem_mbs.dataframes import dataframe

        names = self.choose(patterns) if patterns else self.names
        named = [("variant", ""), *((name, self.units[name]) for name in names)]
        columns = [np.arange(1, len(self.rows) + 1), *(self.column(name) for name in names)]
        found = dataframe(named, columns, self.shown.told(base), self.title)
        labels = [p.label for p in self.parameters]
        for k, label in reversed([*enumerate(labels)]):
            found.insert(0, label, [row.values[k] for row in self.rows])
        found = found.set_index(labels) if labels else found
        return found[[row.status != "missing" for row in self.rows]]

    def values(self, parameter: str) -> list[Any]:
        """Return the values of a parameter (by path or short name) in the rows.

        Raises ResultsError for an unknown parameter.
        """
        for k, p in enumerate(self.parameters):
            if parameter in (p.path, p.label):
                return [row.values[k] for row in self.rows]
        known = ", ".join(p.path for p in self.parameters)
        raise ResultsError(f'Sweep "{self.directory}": no parameter "{parameter}"; there are {known}')

    def choose(self, patterns: Sequence[str] | None = None, most: int | None = None) -> list[str]:
        """Return names of quantities: those that fit one of the patterns (``*``, ``?`` and ``[...]`` as in names of
        files), in their order; without patterns the most telling ones that differ between the variants.

        Raises ResultsError for a pattern that fits none.
        """
        if patterns:
            out: list[str] = []
            for pattern in patterns:
                fitting = [name for name in self.units if fnmatch.fnmatchcase(name, pattern)]
                if not fitting:
                    raise ResultsError(self._unknown(pattern))
                out += [name for name in fitting if name not in out]
            return out[:most]
        found: list[str] = []
        for pattern in _TELLING:
            found += [
                name
                for name in self.units
                if re.search(rf"(^|\.){pattern}$", name) and name not in found and self._varies(name)
            ]
        if not found:
            found = [n for n in self.units if not re.search(r"(seconds|iterations|error.*)$", n) and self._varies(n)]
        return found[:most]

    @property
    def varied(self) -> list[int]:
        """Return the numbers of the parameters with more than one value; of all parameters if there is none."""
        found = [k for k, p in enumerate(self.parameters) if len(p.values) > 1]
        return found or list(range(len(self.parameters)))

    def _varies(self, name: str) -> bool:
        values = self.column(name)
        values = values[np.isfinite(values)]
        if not len(values):
            return False
        size = np.abs(values).max()
        # values that are zero but for rounding, compared with others of their kind
        unit, kind = self.units[name], name.rpartition(".")[2]
        alike = [n for n in self.units if self.units[n] == unit and n.rpartition(".")[2] == kind]
        if size <= 1e-10 * max(abs(row.quantities.get(n, 0.0)) for row in self.rows for n in alike):
            return False
        return len(self.rows) == 1 or bool(np.ptp(values) > 1e-4 * size)

    def _unknown(self, pattern: str) -> str:
        if not self.units:
            return f'Sweep "{self.directory}": no variant is done, so there is no quantity "{pattern}" yet'
        names = ", ".join(list(self.units)[:60]) + (f" and {len(self.units) - 60} more" if len(self.units) > 60 else "")
        return f'Sweep "{self.directory}": no quantity fits "{pattern}"; there are {names}'

    # --- files -------------------------------------------------------------------------------------------------------
    def write(self, patterns: Sequence[str] | None = None) -> list[Path]:
        """Write sweep.json (all quantities) and sweep.csv (those that fit ``patterns``, by default all); return their
        paths."""
        names = self.choose(patterns) if patterns else self.names
        columns = [{"name": p.label, "of": "parameter", "path": p.path, "unit": ""} for p in self.parameters]
        columns += [
            {"name": n, "of": "variant", "unit": u} for n, u in (("folder", ""), ("status", ""), ("reason", ""))
        ]
        columns += [{"name": "seconds", "of": "variant", "unit": "s"}]
        columns += [{"name": name, "of": "quantity", "unit": unit} for name, unit in self.units.items()]
        value = {
            "format": FORMAT,
            "title": self.title,
            "model": self.model,
            "zip": self.zipped,
            "shown": self.shown.to_json(),
            "parameters": [{"path": p.path, "label": p.label, "values": list(p.values)} for p in self.parameters],
            "columns": columns,
            "rows": [
                {
                    "values": list(row.values),
                    "folder": row.folder,
                    "status": row.status,
                    "reason": row.reason,
                    "seconds": row.seconds,
                    "quantities": row.quantities,
                }
                for row in self.rows
            ],
        }
        store.write_json(self.directory / JSON, value)
        store.write_atomic(self.directory / CSV, self._csv(names))
        return [self.directory / JSON, self.directory / CSV]

    def _csv(self, names: Iterable[str]) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        names = list(names)
        shown_ = [self.unit(name) for name in names]
        units = [f" [{one.unit}]" if one.unit else "" for one in shown_]
        head = [*(p.label for p in self.parameters), "folder", "status", "reason", "seconds [s]"]
        writer.writerow([*head, *(name + unit for name, unit in zip(names, units))])
        for row in self.rows:
            values = [v if isinstance(v, str) else shown(v, 1000) for v in row.values]
            found = [
                repr(one(row.quantities[name])) if name in row.quantities else ""
                for name, one in zip(names, shown_, strict=True)
            ]
            seconds = "" if row.seconds is None else repr(row.seconds)
            writer.writerow([*values, row.folder, row.status, row.reason, seconds, *found])
        return text.getvalue()

    @classmethod
    def open(cls, directory: str | Path) -> SweepTable:
        """Read the table of a sweep from its folder ``directory``.

        Raises ResultsError if the folder holds none.
        """
        folder = Path(directory)
        if not (folder / JSON).is_file():
            raise ResultsError(f'Sweep "{folder}": there is no {JSON}; run: fem-mbs sweep MODEL --set ... -o {folder}')
        value = store.read_json(folder / JSON)
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            raise ResultsError(f'Sweep "{folder}": {JSON} is not of the format "{FORMAT}"; run the sweep again')
        parameters = [SweepParameter(p["path"], p["label"], tuple(p["values"])) for p in value["parameters"]]
        rows = [
            SweepRow(tuple(r["values"]), r["folder"], r["status"], r["reason"], r["seconds"], r["quantities"])
            for r in value["rows"]
        ]
        units = {c["name"]: c["unit"] for c in value["columns"] if c["of"] == "quantity"}
        return cls(
            folder,
            value["title"],
            value["model"],
            parameters,
            rows,
            units,
            value["zip"],
            Units.of_json(value.get("shown")),
        )
