"""Data frames of pandas: labels name the units, which are those of display or of the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import ResultsError
from fem_mbs.units import Units

if TYPE_CHECKING:
    import pandas

__all__ = ["dataframe", "tables"]


def tables(library: str) -> Any:
    """Return the module pandas or xarray.

    Raises:
        ResultsError: it is not installed.
    """
    from importlib import import_module

    try:
        return import_module(library)
    except ImportError:
        raise ResultsError(
            f"Results: {library} is not installed: it comes with the extra, pip install 'fem-mbs[tables]'"
        ) from None


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
