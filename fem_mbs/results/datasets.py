"""Quantities of a step in HDF5: a group of columns, each with one row per recorded step or frame.

A column is one dataset (rows, ...).  The frames of a joined file are split into a dataset per row where there are few
of them (`SPLIT_LIMIT`): some readers of XDMF read complete datasets only.  Every dataset of HDF5 takes about 50 us to
write, however small it is, so that more frames stay in one dataset per quantity, of which the XDMF file names parts.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.files import get_text, put_text

if TYPE_CHECKING:
    import h5py

__all__ = [
    "SPLIT_LIMIT", "by_name", "copy_rows", "create_like", "is_split", "make_dataset", "read_rows", "row_shape",
    "safe_name", "write_columns",
]  # fmt: skip

#: Datasets of the frames of a step up to which a joined file has one for each quantity and frame.
SPLIT_LIMIT = 5000
_COPY_BYTES = 16 << 20  # largest block held in memory while copying
_CHUNK_BYTES = 256 << 10  # size of the chunks of the final file


def is_split(column: h5py.Dataset | h5py.Group) -> bool:
    """Return whether a column is a group with one dataset per row."""
    return not hasattr(column, "shape")


def make_dataset(group: h5py.Group, name: str, data: np.ndarray) -> h5py.Dataset:
    """Store an array with checksums."""
    shape = np.shape(data)
    chunks = _chunks(shape[0], shape[1:], data.dtype.itemsize) if shape else None
    return group.create_dataset(name, data=data, chunks=chunks, **_checked(chunks))


def _checked(chunks: tuple[int, ...] | None) -> dict[str, Any]:
    """Return the options of a dataset: a checksum per chunk, if it has chunks."""
    return {"fletcher32": True} if chunks else {}


def _chunks(rows: int, tail: tuple[int, ...], itemsize: int) -> tuple[int, ...] | None:
    row = itemsize * math.prod(tail)
    if rows == 0 or row == 0:
        return None
    count = -(-rows * row // _CHUNK_BYTES)  # chunks of equal size, for the last one takes as much room as the others
    return (-(-rows // count), *tail)


def safe_name(name: str, used: h5py.Group) -> str:
    """Return a name of letters, digits and ``_ + -`` that is free in a group."""
    base = re.sub(r"[^A-Za-z0-9_+-]+", "_", name).strip("_") or "_"
    safe, count = base, 1
    while safe in used:
        count += 1
        safe = f"{base}_{count}"
    return safe


def by_name(group: h5py.Group) -> dict[str, str]:
    """Return the mapping true name -> HDF5 name of the members of a group."""
    return {get_text(group[key], "name"): key for key in group}


def row_shape(column: h5py.Dataset | h5py.Group) -> tuple[tuple[int, ...], np.dtype]:
    """Return the shape of a row and the type of a column."""
    if is_split(column):
        first = column["00000000"]
        return first.shape, first.dtype
    return column.shape[1:], column.dtype


def write_columns(group: h5py.Group, columns: dict[str, list[np.ndarray]]) -> None:
    """Store each column, given as arrays to be joined along axis 0, as one dataset."""
    for name, parts in columns.items():
        safe = safe_name(name, group)
        made = make_dataset(group, safe, parts[0] if len(parts) == 1 else np.concatenate(parts))
        put_text(made, "name", name)


def read_rows(column: h5py.Dataset | h5py.Group, start: int, stop: int) -> np.ndarray:
    """Return the rows of a column in an array (stop - start, ...)."""
    if is_split(column):
        return np.stack([column[f"{number:08d}"][()] for number in range(start, stop)])
    return column[start:stop]


def create_like(column: h5py.Dataset | h5py.Group, group: h5py.Group, name: str, total: int, split: bool) -> str:
    """Make an empty column of `total` rows like another one; return its HDF5 name.

    With `split` rows that have more than one number become datasets of their own.
    """
    safe = safe_name(name, group)
    tail, dtype = row_shape(column)
    if split and tail:
        group.create_group(safe)
    else:
        chunks = _chunks(total, tail, dtype.itemsize)
        group.create_dataset(safe, (total, *tail), dtype, chunks=chunks, **_checked(chunks))
    put_text(group[safe], "name", name)
    return safe


def copy_rows(column: h5py.Dataset | h5py.Group, target: h5py.Dataset | h5py.Group, count: int, offset: int) -> None:
    """Copy the first `count` rows of a column to the rows from `offset` on of another one."""
    tail, dtype = row_shape(column)
    block = max(1, _COPY_BYTES // max(1, dtype.itemsize * math.prod(tail)))
    for start in range(0, count, block):
        stop = min(start + block, count)
        rows = read_rows(column, start, stop)
        if is_split(target):
            _write_split(target, rows, offset + start)
        else:
            target[offset + start : offset + stop] = rows


def _write_split(group: h5py.Group, rows: np.ndarray, first: int) -> None:
    """Store rows as datasets named by their numbers, which begin with `first`.

    There can be thousands: h5py's low-level calls share type, space and options, and take half the time.
    """
    from h5py import h5d, h5p, h5s, h5t

    shape, dtype = rows.shape[1:], rows.dtype
    options = h5p.create(h5p.DATASET_CREATE)
    chunks = _chunks(shape[0], shape[1:], dtype.itemsize)
    if chunks:
        options.set_chunk(chunks)
        options.set_fletcher32()
    space, kind = h5s.create_simple(shape), h5t.py_create(dtype, logical=True)
    for number, row in enumerate(rows, first):
        dataset = h5d.create(group.id, f"{number:08d}".encode(), kind, space, dcpl=options)
        dataset.write(h5s.ALL, h5s.ALL, np.ascontiguousarray(row))
