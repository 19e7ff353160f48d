"""Reduced parts as files: HDF5, one file per part, read back bit for bit without mesh or model.

The file's attribute "format" is "fem-mbs reduced part", "version" a whole number; a file of a newer version is refused.
Arrays are datasets with the names of `fem_mbs.parts.part.ReducedPart`; what is None is absent; `info` is a group
whose numbers, texts, lists and mappings are JSON and whose arrays are datasets.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from fem_mbs.errors import ResultsError
from fem_mbs.files import check_hdf5, get_text, put_text
from fem_mbs.hdf5 import create_hdf5
from fem_mbs.parts.part import Interface, LoadMoments, Moments, Recovery, ReducedPart

__all__ = ["FORMAT", "VERSION", "read_part", "write_part"]

FORMAT, VERSION = "fem-mbs reduced part", 1
_ARRAYS = ("stiffness", "mass", "boundary", "rigid", "gravity", "origin", "frequencies")
_MOMENTS = ("first", "second", "linear", "mixed", "quadratic")
_LOAD_MOMENTS = ("forces", "couples")
_RECOVERY = ("x", "displacement", "turning", "rotation", "stress", "stressed", "rest")
_PACKED = 1 << 16  # entries from which on datasets are compressed


def write_part(path: str | Path, part: ReducedPart) -> Path:
    """Write a part to a file, which is replaced at once or not at all.

    Raises:
        ResultsError: the file cannot be written.
    """
    path = Path(path)
    with create_hdf5(path, "Reduced part") as file:
        _write(file, part)
    return path


def read_part(path: str | Path) -> ReducedPart:
    """Return a part from its file.

    Raises:
        ResultsError: no such file, no file of this kind, one of a newer version, or a damaged one.
    """
    path = Path(path)
    if not path.is_file():
        raise ResultsError(f"{path}: there is no such file; write a reduced part by fem-mbs reduce")
    wrong = check_hdf5(path)
    if wrong:
        raise ResultsError(f"{path}: it is no HDF5 file, or a damaged one: {wrong}")
    try:
        with h5py.File(path, "r") as file:
            if get_text(file, "format") != FORMAT:
                raise ResultsError(f"{path}: it holds no reduced part; write one by fem-mbs reduce")
            version = int(file.attrs.get("version", 0))
            if version > VERSION:
                raise ResultsError(
                    f"{path}: its version {version} is newer than {VERSION}, which this fem-mbs reads; update fem-mbs, "
                    "or reduce the part again"
                )
            return _read(file)
    except (LookupError, ValueError, OSError, RuntimeError, TypeError) as error:
        raise ResultsError(f"{path}: the reduced part is damaged: {error}") from None


# --- out -------------------------------------------------------------------------------------------------------------
def _write(file: h5py.File, part: ReducedPart) -> None:
    put_text(file, "format", FORMAT)
    file.attrs["version"], file.attrs["dimension"] = VERSION, part.dimension
    put_text(file, "name", part.name)
    put_text(file, "method", part.method)
    for key in _ARRAYS:
        _array(file, key, getattr(part, key))
    if part.damping is not None:
        _array(file, "damping", part.damping)
    group = file.create_group("interfaces", track_order=True)
    for k, interface in enumerate(part.interfaces):  # numbers for names: these may hold "/"
        own = group.create_group(str(k))
        put_text(own, "name", interface.name)
        put_text(own, "kind", interface.kind)
        put_text(own, "components", json.dumps(list(interface.components)))
        _array(own, "position", interface.position)
        _array(own, "nodes", interface.nodes)
    for key in ("loads", "stiffening"):
        _table(file.create_group(key), getattr(part, key))
    for key in _LOAD_MOMENTS:
        _table(file.create_group(f"load {key}"), {name: getattr(m, key) for name, m in part.load_moments.items()})
    if part.moments is not None:
        group = file.create_group("moments")
        group.attrs["mass"] = float(part.moments.mass)
        for key in _MOMENTS:
            _array(group, key, getattr(part.moments, key))
    if part.recovery is not None:
        _write_recovery(file.create_group("recovery"), part.recovery)
    _write_info(file.create_group("info"), part.info)


def _array(group: h5py.Group, key: str, value: np.ndarray) -> None:
    value = np.asarray(value)
    packed = {"compression": "gzip", "compression_opts": 1, "shuffle": True} if value.size > _PACKED else {}
    checked = {"fletcher32": True} if value.ndim and value.size else {}
    group.create_dataset(key, data=value, **packed, **checked)


def _table(group: h5py.Group, table: Mapping[str, np.ndarray]) -> None:
    """Write arrays by names with any characters."""
    put_text(group, "names", json.dumps(list(table)))
    for k, value in enumerate(table.values()):
        _array(group, str(k), value)


def _write_recovery(group: h5py.Group, recovery: Recovery) -> None:
    for key in _RECOVERY:
        value = getattr(recovery, key)
        if value is not None:
            _array(group, key, value)
    if recovery.heat:
        _table(group.create_group("heat"), recovery.heat)
    # one text of all names: a string per node would be slow
    text = json.dumps(list(recovery.names)).encode("utf-8")
    group.create_dataset("names", data=np.frombuffer(text, np.uint8), compression="gzip", fletcher32=True)
    put_text(group, "cells", json.dumps([kind for kind, _ in recovery.cells]))
    for k, (_, nodes) in enumerate(recovery.cells):
        _array(group, f"cells {k}", nodes)


def _write_info(group: h5py.Group, info: Mapping[str, Any]) -> None:
    plain: dict[str, Any] = {}
    arrays: list[Any] = []
    for key, value in info.items():
        if isinstance(value, np.ndarray):
            _array(group, str(len(arrays)), value)
            arrays.append(key)
        else:
            plain[key] = value
    put_text(group, "arrays", json.dumps(arrays))
    text = json.dumps(plain, default=_plain).encode("utf-8")
    _array(group, "values", np.frombuffer(text, np.uint8))
    put_text(group, "order", json.dumps(list(info)))


def _plain(value):
    """Convert types that json does not know."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise ResultsError(f"A reduced part's info holds a {type(value).__name__}, which no file can keep; remove it")


# --- in --------------------------------------------------------------------------------------------------------------
def _read(file: h5py.File) -> ReducedPart:
    interfaces = []
    for k in range(len(file["interfaces"])):
        own = file[f"interfaces/{k}"]
        components = tuple(json.loads(get_text(own, "components")))
        interfaces.append(
            Interface(get_text(own, "name"), own["position"][()], components, own["nodes"][()], get_text(own, "kind"))
        )
    moments = None
    if "moments" in file:
        group = file["moments"]
        moments = Moments(float(group.attrs["mass"]), *(group[key][()] for key in _MOMENTS))
    part = ReducedPart(
        name=get_text(file, "name"),
        dimension=int(file.attrs["dimension"]),
        method=get_text(file, "method"),
        interfaces=tuple(interfaces),
        **{key: file[key][()] for key in _ARRAYS},
        damping=file["damping"][()] if "damping" in file else None,
        loads=_read_table(file["loads"]),
        recovery=_read_recovery(file["recovery"]) if "recovery" in file else None,
        moments=moments,
        stiffening=_read_table(file["stiffening"]),
        load_moments=_read_load_moments(file),
        info=_read_info(file["info"]),
    )
    n, rows = part.size, sum(len(interface.components) for interface in interfaces)
    shapes = {"stiffness": (n, n), "mass": (n, n), "boundary": (rows, n), "gravity": (n, part.dimension)}
    for key, shape in shapes.items():
        found = getattr(part, key).shape
        if found != shape:
            raise ValueError(f"{key} has the shape {found}, not {shape}")
    return part


def _read_table(group: h5py.Group) -> dict[str, np.ndarray]:
    return {name: group[str(k)][()] for k, name in enumerate(json.loads(get_text(group, "names")))}


def _read_load_moments(file: h5py.File) -> dict[str, LoadMoments]:
    """Return the moments of loads; None for files of older versions."""
    forces, couples = (_read_table(file[f"load {key}"]) if f"load {key}" in file else {} for key in _LOAD_MOMENTS)
    return {name: LoadMoments(value, couples[name]) for name, value in forces.items()}


def _read_recovery(group: h5py.Group) -> Recovery:
    arrays = {key: group[key][()] if key in group else None for key in _RECOVERY}
    names = tuple(json.loads(group["names"][()].tobytes().decode("utf-8")))
    cells = tuple((kind, group[f"cells {k}"][()]) for k, kind in enumerate(json.loads(get_text(group, "cells"))))
    heat = _read_table(group["heat"]) if "heat" in group else {}
    return Recovery(names=names, cells=cells, heat=heat, **arrays)


def _read_info(group: h5py.Group) -> dict[str, Any]:
    values = json.loads(group["values"][()].tobytes().decode("utf-8"))
    values |= {key: group[str(k)][()] for k, key in enumerate(json.loads(get_text(group, "arrays")))}
    return {key: values[key] for key in json.loads(get_text(group, "order"))}
