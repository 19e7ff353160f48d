"""Read an HDF5 file to its last dataset in a separate process, which may crash (`fem_mbs.files.check_hdf5`)."""

from __future__ import annotations

import sys

import h5py

_BLOCK = 1 << 22  # entries read at a time


def _attributes(item: h5py.HLObject) -> None:
    for name in item.attrs:
        item.attrs[name]


def _visit(_: str, item: h5py.HLObject) -> None:
    _attributes(item)
    if not isinstance(item, h5py.Dataset) or item.shape is None:
        return
    if item.ndim == 0:
        item[()]
        return
    rows = max(1, _BLOCK // max(1, item.size // max(1, item.shape[0])))
    for start in range(0, item.shape[0], rows):
        item[start : start + rows]


def main(path: str) -> int:
    """Read the whole file and return the exit code."""
    try:
        with h5py.File(path, "r") as file:
            _attributes(file)
            file.visititems(_visit)
    except Exception as error:  # whatever a damaged file makes the library say
        print(" ".join(str(error).split()), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
