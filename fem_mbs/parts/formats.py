"""Files of reduced parts in all their formats, told apart by their names.

.h5 .hdf5              own format: everything, bit for bit (`fem_mbs.parts.hdf5`)
a folder               Matrix Market files: everything but fields of the mesh (`fem_mbs.parts.files`)
.pch .bdf .nas .dat    DMIG entries of Nastran: stiffness, mass, damping (`fem_mbs.parts.dmig`)
.SID_FEM .sid          flexible body data: what a moving body needs (`fem_mbs.parts.sid_file`)
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from fem_mbs.errors import ModelError
from fem_mbs.parts.dmig import read_dmig, write_dmig
from fem_mbs.parts.files import read_matrix_market, write_matrix_market
from fem_mbs.parts.hdf5 import read_part as read_hdf5
from fem_mbs.parts.hdf5 import write_part as write_hdf5
from fem_mbs.parts.part import ReducedPart
from fem_mbs.parts.sid import body_data, part_of
from fem_mbs.parts.sid_file import read_sid, write_sid

__all__ = ["PART_FORMATS", "is_part", "lost_in", "read_part", "write_part"]

_HDF5, _BULK, _SID = (".h5", ".hdf5"), (".pch", ".bdf", ".nas", ".dat"), (".sid_fem", ".sid")
#: What a part can be written to and read from.
PART_FORMATS = {
    "HDF5": _HDF5,
    "Matrix Market": ("a folder",),
    "DMIG of Nastran": _BULK,
    "flexible body data": (".SID_FEM", ".sid"),
}
#: Relative errors of a part's matrices that are round-off, also of files with few digits; of its weight.
_ROUND, _WEIGHT = 1e-6, 1e-4
_KNOWN = "; ".join(f"{', '.join(names)}: {title}" for title, names in PART_FORMATS.items())


def is_part(path: str | Path) -> bool:
    """Return whether the name is that of a reduced part: a file of a known format, or a folder."""
    path = Path(path)
    return path.name == "part.json" or path.is_dir() or path.suffix.lower() in (*_HDF5, *_BULK, *_SID)


def read_part(path: str | Path, grids: Iterable[str | Path] = ()) -> ReducedPart:
    """Return a reduced part from a file or folder of any format at ``path``; ``grids``: more files with GRID entries,
    of DMIG.

    Raises:
        InputError: no such file, one of no known format, or a damaged one.
    """
    path, grids = Path(path), tuple(grids)
    suffix = path.suffix.lower()
    if grids and suffix not in _BULK:
        raise ModelError(f"{path}: files of grids belong to DMIG entries ({', '.join(_BULK)}); leave them out")
    part = _read(path, suffix, grids)
    arrays = {key: getattr(part, key) for key in ("stiffness", "mass", "damping", "boundary", "rigid", "gravity")}
    if part.moments is not None:
        arrays |= {f"moments ({key})": getattr(part.moments, key) for key in ("first", "second", "linear", "quadratic")}
    for key, values in arrays.items():
        if values is not None and not np.isfinite(values).all():
            raise ModelError(f"{path}: its {key} holds numbers that are not finite; write the part again")
    _check_part(path, part)
    return part


def _check_part(path: Path, part: ReducedPart) -> None:
    """Raise ModelError if the matrices are those of no part, as if rows of a file were lost: a mass matrix has no
    negative eigenvalue, and gravity does the work of the mass on rigid-body motions."""
    for key in ("stiffness", "mass"):
        A = getattr(part, key)
        d = np.sqrt(np.abs(np.diag(A)))
        if (np.abs(A - A.T) > _ROUND * np.maximum(np.outer(d, d), np.abs(A).max(initial=0.0) * _ROUND)).any():
            raise ModelError(f"{path}: its {key} is not symmetric: the file is damaged; write the part again")
    M = 0.5 * (part.mass + part.mass.T)
    d = np.diag(M).copy()
    coupled = np.abs(M).max(axis=0, initial=0.0) > 0.0
    wrong = np.flatnonzero((d < 0.0) | (coupled & (d == 0.0)))
    d = np.sqrt(np.where(d > 0.0, d, 1.0))
    least = float(np.linalg.eigvalsh(M / np.outer(d, d))[0]) if M.size else 0.0
    if wrong.size or least < -_ROUND:
        where = f" (coordinate {wrong[0] + 1} of {part.size} has couplings and no mass)" if wrong.size else ""
        raise ModelError(
            f"{path}: its mass is not that of a part, for some motions have a negative kinetic energy{where}: entries "
            "are missing; write the part again"
        )
    if part.rigid.shape[1] == 3 * part.dimension - 3:  # it is free
        weight = part.rigid.T @ part.gravity
        mass = part.rigid.T @ M @ part.rigid[:, : part.dimension]
        if np.abs(weight - mass).max(initial=0.0) > _WEIGHT * np.abs(mass).max(initial=0.0):
            unit = part.units.of("kg").unit
            raise ModelError(
                f"{path}: gravity and mass do not belong together (mass {mass[0, 0]:.6g} {unit}, by gravity "
                f"{weight[0, 0]:.6g} {unit}): entries are missing; write the part again"
            )


def _read(path: Path, suffix: str, grids: tuple[str | Path, ...]) -> ReducedPart:
    if path.name == "part.json":
        return read_matrix_market(path.parent)
    if path.is_dir():
        return read_matrix_market(path)
    if suffix in _SID:
        return part_of(read_sid(path), path.stem)
    if suffix in _BULK:
        return read_dmig(path, grids=grids)
    if suffix not in _HDF5:
        raise ModelError(f"{path}: no format of a reduced part has this name; there are {_KNOWN}")
    return read_hdf5(path)


def write_part(path: str | Path, part: ReducedPart, frame: str | None = None, modes: int | None = None) -> Path:
    """Write a part in the format that the name says.

    Args:
        path: of the file or folder, whose ending says the format.
        part: what is written.
        frame: of flexible body data: "mean" or the interface that carries the body's frame; None: that of the
            geometric stiffness, or "mean".
        modes: of flexible body data: how many shapes; None: all.

    Raises:
        InputError: no such format, or a part that it cannot hold.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix in _SID:
        return write_sid(path, body_data(part, frame, modes))
    if frame is not None or modes is not None:
        key = "frame" if frame is not None else "modes"
        raise ModelError(f"{path}: {key} belongs to flexible body data (.SID_FEM); leave it out")
    if suffix in _BULK:
        return write_dmig(path, part)
    if suffix in _HDF5:
        return write_hdf5(path, part)
    if suffix and not path.is_dir():
        raise ModelError(f"{path}: no format of a reduced part has this name; there are {_KNOWN}")
    return write_matrix_market(path, part)


def lost_in(path: str | Path, part: ReducedPart) -> list[str]:
    """Return the data of a part that the format of a file name cannot hold."""
    suffix = Path(path).suffix.lower()
    if suffix in _HDF5:
        return []
    lost = ["displacements and stresses of the mesh"] if part.recovery is not None else []
    if suffix in _BULK:
        lost += ["moments of the mass"] if part.moments is not None else []
        lost += ["geometric stiffness"] if part.stiffening else []
    if suffix in (*_BULK, *_SID) and part.loads:
        lost.append("loads")
    return lost
