"""Quantities of a step in a folder of results, which are read when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from fem_mbs.errors import ResultsError
from fem_mbs.results import store
from fem_mbs.results.datasets import read_rows

__all__ = ["Column", "Columns"]


class Column:
    """One quantity over the rows or frames of a step, on disk; indexing or `numpy.asarray` reads it.

    It behaves as an array of `shape` (rows, ...) that can be indexed along its first axis by a number, a slice or a
    list of numbers, and further by a tuple.
    """

    def __init__(self, parts: list[store.Part]) -> None:
        self._parts = parts
        tail, self.dtype = store.shape_of(parts[0])
        self.shape: tuple[int, ...] = (sum(rows for _, _, rows in parts), *tail)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[row] for row in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("a column on disk can only be copied into an array")
        return np.asarray(self[:], dtype=dtype)

    def __getitem__(self, key: Any) -> Any:
        first, rest = (key[0], key[1:]) if isinstance(key, tuple) else (key, ())
        if isinstance(first, slice):
            start, stop, step = first.indices(len(self))
            if step < 0:
                return self[(np.arange(start, stop, step), *rest)]
            return self._read(start, max(start, stop))[(slice(None, None, step), *rest)]
        rows = np.asarray(first)
        if rows.dtype == bool:
            rows = np.flatnonzero(rows)
        if np.any((rows < -len(self)) | (rows >= len(self))):
            raise IndexError(f"row {first} of {len(self)}")
        rows = rows % len(self) if len(self) else rows
        if rows.ndim == 0:
            return self._read(int(rows), int(rows) + 1)[(0, *rest)]
        data = np.empty((len(rows), *self.shape[1:]), self.dtype)
        for position, row in enumerate(rows):
            data[position] = self._read(int(row), int(row) + 1)[0]
        return data[(slice(None), *rest)]

    def _read(self, start: int, stop: int) -> np.ndarray:
        data = np.empty((stop - start, *self.shape[1:]), self.dtype)
        offset = 0
        for path, dataset, rows in self._parts:
            low, high = max(start - offset, 0), min(stop - offset, rows)
            if low < high:
                try:
                    with store.open_file(path) as file:
                        data[offset + low - start : offset + high - start] = read_rows(file[dataset], low, high)
                except FileNotFoundError:
                    raise store.file_error(
                        path, "the run has ended or was resumed meanwhile: open the folder again"
                    ) from None
            offset += rows
        return data


class Columns(Mapping[str, Any]):
    """The quantities of a step by name. Series come as arrays, frames as `Column` to be read row by row."""

    def __init__(self, entry: store.StepEntry, kind: str) -> None:
        self._columns = store.columns_of(entry, kind)
        self._kind = kind
        self._step = entry.name

    def __getitem__(self, name: str) -> Any:
        if name not in self._columns:
            known = ", ".join(self._columns) or "none"
            raise ResultsError(f'Results, step "{self._step}": no {self._kind} "{name}": there are {known}')
        column = Column(self._columns[name])
        return column[:] if self._kind == "series" else column

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def get(self, name: str, default: Any = None) -> Any:
        """Return a quantity, or `default` if there is none of that name."""
        return self[name] if name in self._columns else default

    def column(self, name: str) -> Column:
        """Return a quantity without reading it."""
        return Column(self._columns[name])
