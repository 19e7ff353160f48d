"""Write and read reduced parts as folders of Matrix Market files, one text file per matrix.

part.json names the part, its interfaces and what else is no matrix, with the shape and the SHA-256 digest of every
file; it is written last, so that a folder with one is whole.  K.mtx, M.mtx, D.mtx, boundary.mtx, rigid.mtx,
gravity.mtx, moments.mtx (`Moments.matrix`) and stiffening and loads are arrays with all their digits.  Fields of the
mesh are left out.  Version 1 had no digests; there the numbers of every file are counted.
"""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import mmwrite

from fem_mbs.errors import ModelError
from fem_mbs.files import read_file, write_atomic
from fem_mbs.parts.part import Interface, LoadMoments, ReducedPart
from fem_mbs.parts.sid import unpacked_moments

__all__ = ["read_matrix_market", "write_matrix_market"]

_FORMAT, _VERSION = "fem-mbs reduced part", 2
_FILES = {"stiffness": "K", "mass": "M", "damping": "D", "boundary": "boundary", "rigid": "rigid", "gravity": "gravity"}


def write_matrix_market(folder: str | Path, part: ReducedPart) -> Path:
    """Write a part into a folder, which is made."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {file: getattr(part, key) for key, file in _FILES.items()}
    if part.moments is not None:
        arrays["moments"] = part.moments.matrix()
    numbered = {"stiffening": list(part.stiffening), "loads": list(part.loads)}
    for k, name in enumerate(part.stiffening):
        arrays[f"stiffening_{k + 1}"] = part.stiffening[name]
    for k, name in enumerate(part.loads):
        arrays[f"load_{k + 1}"] = np.asarray(part.loads[name])[:, None]
        if name in part.load_moments:
            arrays[f"load_forces_{k + 1}"] = part.load_moments[name].forces
            arrays[f"load_couples_{k + 1}"] = part.load_moments[name].couples
    (folder / "part.json").unlink(missing_ok=True)  # of an older part, whose matrices are about to change
    written = {}
    for file, array in arrays.items():
        if array is not None and array.size:
            text = io.BytesIO()
            mmwrite(text, np.asarray(array, float), precision=17, symmetry="general")
            write_atomic(folder / f"{file}.mtx", text.getvalue().decode("ascii"))
            written[file] = {"shape": list(array.shape), "sha256": hashlib.sha256(text.getvalue()).hexdigest()}
    head: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "name": part.name,
        "dimension": part.dimension,
        "method": part.method,
        "size": part.size,
        "origin": part.origin.tolist(),
        "frequencies_hz": part.frequencies.tolist(),
        "rigid_motions": part.rigid.shape[1],
        "interfaces": [
            {
                "name": i.name,
                "position": np.asarray(i.position).tolist(),
                "components": list(i.components),
                "nodes": np.asarray(i.nodes).tolist(),
                "kind": i.kind,
            }
            for i in part.interfaces
        ],
        "files": written,
        **numbered,
        "info": dict(part.info),
    }
    described = json.dumps(head, indent=1, default=_plain)
    write_atomic(folder / "part.json", described + "\n")
    return folder


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


def read_matrix_market(folder: str | Path) -> ReducedPart:
    """Read a part from a folder.

    Raises:
        ModelError: what is missing, or does not fit together.
    """
    folder = Path(folder)
    head = _head(folder / "part.json")
    n = _key(folder, head, "size", int)
    files = _key(folder, head, "files", dict)
    interfaces = tuple(_interface(folder, entry) for entry in _key(folder, head, "interfaces", list))
    dimension = _key(folder, head, "dimension", int)
    b, r = sum(len(i.components) for i in interfaces), _key(folder, head, "rigid_motions", int)
    shapes = {"K": (n, n), "M": (n, n), "D": (n, n), "boundary": (b, n), "rigid": (n, r), "gravity": (n, dimension)}

    def array(file: str, shape: tuple[int, int]) -> np.ndarray:
        if file not in files and 0 in shape:
            return np.zeros(shape)
        said = files.get(file)
        return _array(folder / f"{file}.mtx", shape, said.get("sha256") if isinstance(said, dict) else None)

    size, turns = 1 + dimension + dimension * n, 1 if dimension == 2 else 3
    loads = _key(folder, head, "loads", list)
    moments = unpacked_moments(array("moments", (size, size)), dimension, n) if "moments" in files else None
    return ReducedPart(
        name=_key(folder, head, "name", str),
        dimension=dimension,
        method=_key(folder, head, "method", str),
        interfaces=interfaces,
        stiffness=array("K", shapes["K"]),
        mass=array("M", shapes["M"]),
        damping=array("D", shapes["D"]) if "D" in files else None,
        boundary=array("boundary", shapes["boundary"]),
        rigid=array("rigid", shapes["rigid"]),
        gravity=array("gravity", shapes["gravity"]),
        origin=np.array(_key(folder, head, "origin", list), float),
        frequencies=np.array(_key(folder, head, "frequencies_hz", list), float),
        moments=moments,
        stiffening={
            name: array(f"stiffening_{k + 1}", (n, n)) for k, name in enumerate(_key(folder, head, "stiffening", list))
        },
        loads={name: array(f"load_{k + 1}", (n, 1))[:, 0] for k, name in enumerate(loads)},
        load_moments={
            name: LoadMoments(
                array(f"load_forces_{k + 1}", (size, dimension)), array(f"load_couples_{k + 1}", (1 + turns * n, turns))
            )
            for k, name in enumerate(loads)
            if f"load_forces_{k + 1}" in files
        },
        info=_key(folder, head, "info", dict),
    )


def _head(path: Path) -> dict[str, Any]:
    try:
        head = json.loads(read_file(path).decode("utf-8"))
    except OSError:
        raise ModelError(f"{path}: there is no such file; a folder of a reduced part has one") from None
    except ValueError as error:
        raise ModelError(f"{path}: it is no JSON: {error}") from None
    if not isinstance(head, dict) or head.get("format") != _FORMAT:
        raise ModelError(f'{path}: its format is not "{_FORMAT}"')
    if head.get("version") not in (1, _VERSION):
        raise ModelError(f"{path}: version {head.get('version')!r}; this program reads versions 1 and {_VERSION}")
    return head


def _key(folder: Path, head: dict[str, Any], key: str, kind: type) -> Any:
    if not isinstance(head.get(key), kind):
        raise ModelError(f"{folder / 'part.json'}: {key} is {head.get(key)!r}; it must be there, as a {kind.__name__}")
    return head[key]


def _interface(folder: Path, entry: Any) -> Interface:
    """Return an interface as part.json describes it."""
    try:
        position, nodes = np.array(entry["position"], float), np.array(entry["nodes"], int)
        return Interface(str(entry["name"]), position, tuple(entry["components"]), nodes, entry["kind"])
    except (KeyError, TypeError, ValueError):
        raise ModelError(
            f"{folder / 'part.json'}: an interface lacks one of name, position, components, nodes and kind; "
            "write the part anew"
        ) from None


def _array(path: Path, shape: tuple[int, int], digest: str | None) -> np.ndarray:
    """Return the matrix of a file; ``digest`` is what part.json says of it, None in files of version 1."""
    try:
        data = read_file(path)
    except OSError:
        raise ModelError(f"{path}: there is no such file, but part.json names it") from None
    if digest is not None and hashlib.sha256(data).hexdigest() != digest:
        raise ModelError(f"{path}: it is not the file of which part.json tells: damaged or changed; write it anew")
    found = _matrix_of(path, data)
    if found.shape != shape:
        raise ModelError(f"{path}: its form is {found.shape}; by part.json it must be {shape}")
    return found


def _matrix_of(path: Path, data: bytes) -> np.ndarray:
    """Return the matrix of a Matrix Market file: dense, or sparse and general; its numbers are counted, since scipy
    takes missing ones for zeros, or crashes."""
    head, *lines = data.decode("latin-1").splitlines() or [""]
    words = head.lower().split()
    if words[:2] != ["%%matrixmarket", "matrix"] or words[3:] != ["real", "general"]:
        raise ModelError(f"{path}: it is no Matrix Market file of a real, general matrix")
    rows = [line.split() for line in lines if line.strip() and not line.startswith("%")]
    dense = words[2] == "array"
    try:
        rows_of, columns, *count = (int(word) for word in (rows[0] if rows else ()))
        numbers = np.array(rows[1:], dtype=float)
    except ValueError:
        raise ModelError(f"{path}: it is no Matrix Market file, or one that is cut off: not all are numbers") from None
    wanted = rows_of * columns if dense else count[0] if count else 0
    if len(numbers) != wanted or not data.endswith(b"\n"):
        raise ModelError(f"{path}: it has {len(numbers)} of {wanted} numbers: the file is cut off; write it anew")
    if dense:
        return numbers.reshape((rows_of, columns), order="F")
    found = np.zeros((rows_of, columns))
    at = numbers.reshape(-1, 3)[:, :2].astype(int) - 1
    if at.size and not ((at >= 0) & (at < found.shape)).all():
        raise ModelError(f"{path}: an entry lies outside of its {rows_of} rows and {columns} columns; write it anew")
    found[tuple(at.T)] = numbers.reshape(-1, 3)[:, 2]
    return found
