"""Reduced parts as matrices of Nastran bulk data (DMIG), out and in.

The coordinates are the components of interface grids and scalar points for the modes: KAAX, MAAX and BAAX (stiffness,
mass, damping; symmetric, one triangle) as Nastran's own punch files name them, GRID entries for the places, PAX with
the forces of unit accelerations of gravity along the axes, where supports hold the part and the mass cannot tell them.
Components count 1 2 3 for x y z and 4 5 6 for rotations about them.  What has no place there (moments of shapes, fields
of the mesh) is lost; numbers have 11 digits, as large fields do.  Comments say what Nastran has no field for; the last
one gives the number of lines before it and their SHA-256 digest, so that a file of ours cannot be cut off unnoticed.
What other programs have written must name every grid and scalar point of the stiffness in the mass too, with 0.0 if it
has none.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import null_space

from fem_mbs.errors import ModelError, Owner
from fem_mbs.files import read_file, write_atomic
from fem_mbs.parts.bulk import Entry, bulk_entries
from fem_mbs.parts.part import COMPONENTS, Interface, ReducedPart

__all__ = ["read_dmig", "write_dmig"]

_NUMBER = {"x": 1, "y": 2, "z": 3, "rx": 4, "ry": 5, "rz": 6, "rotation": 6}
_NAMES = {"stiffness": ("KAAX", "KAA", "K2GG", "K2PP", "KGG"), "mass": ("MAAX", "MAA", "M2GG", "M2PP", "MGG"),
          "damping": ("BAAX", "BAA", "B2GG", "B2PP", "BGG"), "gravity": ("PAX",)}  # fmt: skip
#: Forces of rigid-body motions over the stiffness that they pass, up to which the part is free.
_FREE = 1e-6
#: Difference of two opposite entries of a square matrix over the root of their diagonal entries that is round-off.
_SKEW = 1e-6
#: Comments of our own files: the first, that there is a last one, and that.
_FIRST, _MARKED, _END = "$ fem-mbs reduced part: ", "$ with its end marked", "$ end of part: "


# --- out -------------------------------------------------------------------------------------------------------------
def write_dmig(
    path: str | Path, part: ReducedPart, grids: Mapping[str, int] | None = None, first_point: int | None = None
) -> Path:
    """Write a part for Nastran.

    Args:
        grids: numbers of the interfaces' grids; None: 1, 2, ... in their order.
        first_point: number of the first scalar point; None: the next full thousand above the grids, and one.

    Raises:
        ModelError: motions at the interfaces depend on each other, or a grid number that is used twice.
    """
    path = Path(path)
    names = [interface.name for interface in part.interfaces]
    number = dict(zip(names, range(1, len(names) + 1), strict=True))
    if grids is not None:
        number.update({name: int(value) for name, value in grids.items()})
    ids = [number[name] for name in names]
    if len(set(ids)) < len(ids) or min(ids, default=1) < 1 or set(number) != set(names):
        raise ModelError(
            f"grids = {dict(grids or {})!r} must be positive numbers, each used once, for {', '.join(names)}",
            owner=Owner("Part", part.name),
            key="grids",
            value=dict(grids or {}),
        )
    own = _physical(part)
    dofs = [(number[i.name], _NUMBER[c]) for i in part.interfaces for c in i.components]
    points = own.size - len(dofs)
    first = first_point or 1000 * (max(ids, default=0) // 1000 + 1) + 1
    if points and set(range(first, first + points)) & set(ids):
        raise ModelError(
            f"first_point = {first}: scalar points would take the numbers of grids", owner=Owner("Part", part.name)
        )
    dofs += [(first + k, 0) for k in range(points)]
    out = [f"{_FIRST}{_plain(part.name)}", _MARKED, f"$ dimension {part.dimension}", f"$ method {part.method}"]
    if "base" in part.info:
        out.append(f"$ base {part.info['base']}")
    out.append("$ origin " + " ".join(repr(float(v)) for v in part.origin))
    for interface in part.interfaces:
        x = np.zeros(3)
        x[: part.dimension] = interface.position
        out.append(f"$ interface {number[interface.name]} {interface.kind} {_plain(interface.name)}")
        out.append(f"{'GRID*':<8}{number[interface.name]:16d}{'':16}{_real(x[0]):>16}{_real(x[1]):>16}")
        out.append(f"{'*':<8}{_real(x[2]):>16}")
    out += [f"{'SPOINT':<8}{first + k:8d}" for k in range(points)]
    for name, matrix in (("KAAX", own.stiffness), ("MAAX", own.mass), ("BAAX", own.damping)):
        if matrix is not None:
            out += _symmetric(name, 0.5 * (matrix + matrix.T), dofs)
    if part.rigid.shape[1] == 0 and own.gravity.any():
        out += _columns("PAX", own.gravity, dofs)
    text = ("\n".join(out) + "\n").encode("ascii", errors="replace")
    write_atomic(path, f"{text.decode()}{_END}{len(out)} lines, sha256 {hashlib.sha256(text).hexdigest()}\n")
    return path


def _plain(text: str) -> str:
    return " ".join(text.replace("$", " ").split())


def _physical(part: ReducedPart) -> ReducedPart:
    """Return the part in the motions of its interfaces, and coordinates that do not move them."""
    B = part.boundary
    b, n = B.shape
    if b and np.array_equal(B, np.eye(b, n)):
        return part
    if b > n or np.linalg.matrix_rank(B) < b:
        raise ModelError(
            f"the {b} motions of its interfaces depend on each other, or are more than its {n} coordinates",
            owner=Owner("Part", part.name),
            remedy="keep more modes, or fewer interfaces",
        )
    inner = null_space(B) if b else np.eye(n)
    M = inner.T @ part.mass @ inner
    if M.size and np.linalg.eigvalsh(0.5 * (M + M.T))[0] > 0.0:  # modes of the part with its interfaces held
        _, vectors = _eigh(inner.T @ part.stiffness @ inner, M)
        inner = inner @ vectors
    return part.transformed(np.hstack((np.linalg.pinv(B), inner)))


def _eigh(K: np.ndarray, M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from scipy.linalg import eigh

    return eigh(0.5 * (K + K.T), 0.5 * (M + M.T))


def _symmetric(name: str, A: np.ndarray, dofs: list[tuple[int, int]]) -> list[str]:
    out = [f"{'DMIG':<8}{name:<8}{0:8d}{6:8d}{2:8d}{0:8d}"]
    for j, (grid, component) in enumerate(dofs):
        rows = np.union1d(np.flatnonzero(A[j:, j]), 0) + j  # the diagonal also where it is zero: nothing was lost
        out.append(f"{'DMIG*':<8}{name:<16}{grid:16d}{component:16d}")
        out += [f"{'*':<8}{dofs[i][0]:16d}{dofs[i][1]:16d}{_real(A[i, j]):>16}" for i in rows]
    return out


def _columns(name: str, A: np.ndarray, dofs: list[tuple[int, int]]) -> list[str]:
    out = [f"{'DMIG':<8}{name:<8}{0:8d}{9:8d}{2:8d}{0:8d}{'':8}{'':8}{A.shape[1]:8d}"]
    for j in range(A.shape[1]):
        rows = np.flatnonzero(A[:, j])
        if rows.size:
            out.append(f"{'DMIG*':<8}{name:<16}{j + 1:16d}{0:16d}")
            out += [f"{'*':<8}{dofs[i][0]:16d}{dofs[i][1]:16d}{_real(A[i, j]):>16}" for i in rows]
    return out


def _real(value: float) -> str:
    """Return a number in 16 characters with as many digits as they take: the exponent without a letter."""
    if value == 0.0:
        return "0.0"
    for digits in range(12, 5, -1):
        mantissa, exponent = f"{value:.{digits}E}".split("E")
        text = f"{mantissa}{int(exponent):+d}"
        if len(text) <= 16:
            return text
    raise AssertionError("a number of 16 characters")


# --- in --------------------------------------------------------------------------------------------------------------
def read_dmig(path: str | Path, name: str | None = None, grids: Iterable[str | Path] = ()) -> ReducedPart:
    """Read a part from DMIG entries of stiffness, mass and perhaps damping (KAAX, MAAX, BAAX; also KAA, K2GG ...).

    Every grid becomes an interface with the components that the matrices have of it, every scalar point a coordinate.
    Rigid-body motions are found from the places of the grids, if these move without force.

    Args:
        grids: more files with the GRID entries of the interfaces.

    Raises:
        ModelError: what is missing or cannot be read, with the line.
    """
    path = Path(path)
    text = _text(path)
    _check_end(path, text)
    places: dict[Any, Any] = {}
    said = _comments(text)
    entries: dict[Any, Any] = {}
    for entry in bulk_entries(path, text):
        if entry.name == "GRID":
            places[entry.integer(0)] = _place(entry)
        elif entry.name == "DMIG":
            entries.setdefault(entry.field(0).upper(), []).append(entry)
    for other in grids:
        for entry in bulk_entries(Path(other), _text(Path(other))):
            if entry.name == "GRID":
                places.setdefault(entry.integer(0), _place(entry))
    chosen = {}
    for kind, names in _NAMES.items():
        chosen[kind] = next((entries[n] for n in names if n in entries), None)
    for kind in ("stiffness", "mass"):
        if chosen[kind] is None:
            found = ", ".join(entries) or "none"
            raise ModelError(
                f"{path}: there is no DMIG of the {kind} ({', '.join(_NAMES[kind])}); those in the file: {found}"
            )
    terms = {kind: _terms(rows, kind == "gravity") for kind, rows in chosen.items() if rows is not None}
    dofs = sorted({dof for kind in terms for column in terms[kind] for dof in column[: 1 if kind == "gravity" else 2]})
    dofs = [d for d in dofs if d[1]] + [d for d in dofs if not d[1]]
    at = {dof: i for i, dof in enumerate(dofs)}
    missing = sorted({g for g, c in dofs if c and g not in places})
    if missing:
        raise ModelError(
            f"{path}: there is no GRID entry of {', '.join(map(str, missing[:5]))}, so nobody knows where the part is "
            "joined to others; add them to the file, or name the file that has them"
        )
    _check_named(path, terms)
    matrices = {kind: _matrix(path, _NAMES[kind][0], terms[kind], at) for kind in terms if kind != "gravity"}
    dimension = said.get("dimension", 3)
    components = {1: "x", 2: "y", 6: "rotation"} if dimension == 2 else dict(enumerate(COMPONENTS[3], 1))
    interfaces = []
    for grid in dict.fromkeys(g for g, c in dofs if c):
        kind, title = said.get(grid, ("node", f"grid {grid}"))
        own = tuple(components[c] for g, c in dofs if g == grid)
        interfaces.append(Interface(title, places[grid][:dimension], own, np.zeros(0, int), kind))
    n, b = len(dofs), sum(len(i.components) for i in interfaces)
    origin = np.asarray(said.get("origin", np.zeros(dimension)))
    rigid = _rigid(matrices["stiffness"], interfaces, origin, dimension)
    M = matrices["mass"]
    gravity = np.zeros((n, dimension))
    if rigid.shape[1]:
        gravity = M @ rigid[:, :dimension]
    elif "gravity" in terms:
        for row, column, value in terms["gravity"]:
            if not 1 <= column[0] <= dimension:
                raise ModelError(f"{path}: PAX has the column {column[0]}; it must be one of the {dimension} axes")
            gravity[at[row], column[0] - 1] = value
    K = matrices["stiffness"]
    inner, frequencies = slice(b, n), np.zeros(0)
    if n > b and np.linalg.eigvalsh(M[inner, inner])[0] > 0.0:
        values = _eigh(K[inner, inner], M[inner, inner])[0]
        frequencies = np.sqrt(np.maximum(values, 0.0)) / (2.0 * np.pi)
    return ReducedPart(
        name=name or said.get("name") or path.stem,
        dimension=dimension,
        method=said.get("method", "DMIG"),
        interfaces=tuple(interfaces),
        stiffness=K,
        mass=M,
        damping=matrices.get("damping"),
        boundary=np.eye(b, n),
        rigid=rigid,
        gravity=gravity,
        origin=origin,
        frequencies=frequencies,
        info={"source": str(path.name), **{key: said[key] for key in ("base",) if key in said}},
    )


def _text(path: Path) -> str:
    try:
        return read_file(path).decode("ascii", errors="replace")
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from None


def _check_end(path: Path, text: str) -> None:
    """Raise ModelError if a file of ours is not whole."""
    lines = text.splitlines()
    if _MARKED not in lines[:4]:
        return
    at = next((k for k in range(len(lines) - 1, -1, -1) if lines[k].startswith(_END)), None)
    if at is None:
        raise ModelError(f'{path}: its last line, "{_END}...", is missing: the file is cut off; write it anew')
    told = re.fullmatch(r"(\d+) lines, sha256 ([0-9a-f]{64})", lines[at].removeprefix(_END).strip())
    digest = hashlib.sha256(("\n".join(lines[:at]) + "\n").encode("ascii", errors="replace")).hexdigest()
    if told is None or int(told[1]) != at or told[2] != digest:
        count = told[1] if told else "?"
        raise ModelError(
            f"{path}: it is not as it was written ({count} lines by its last one, {at} found): write it anew, or "
            f'remove the line "{_MARKED}" if the change was meant'
        )


def _check_named(path: Path, terms: Mapping[str, list]) -> None:
    """Raise ModelError if a grid or a scalar point of the stiffness is not in the mass at all: its rows were lost."""
    named = {k: {dof[0] for row, column, _ in terms[k] for dof in (row, column)} for k in ("stiffness", "mass")}
    for kind, other in (("mass", "stiffness"), ("stiffness", "mass")):
        lost = sorted(named[other] - named[kind])
        if lost:
            shown = ", ".join(map(str, lost[:5])) + (" ..." if len(lost) > 5 else "")
            raise ModelError(
                f"{path}: {len(lost)} of {len(named[other])} grids and scalar points of the {other} have no entry in "
                f"the {kind} ({shown}): the file is incomplete; an entry of 0.0 says that there is none"
            )


def _comments(text: str) -> dict:
    """Return the data of the part in comments of our own files."""
    said: dict = {}
    for line in text.splitlines():
        words = line.split()
        if not line.startswith("$"):
            continue
        if line.startswith(_FIRST):
            said["name"] = line.split(": ", 1)[1].strip()
        elif words[1:2] == ["dimension"] and words[2:] in (["2"], ["3"]):
            said["dimension"] = int(words[2])
        elif words[1:2] == ["base"] and "name" in said:
            said["base"] = " ".join(words[2:])
        elif words[1:2] == ["method"] and "name" in said:
            said["method"] = " ".join(words[2:])
        elif words[1:2] == ["origin"] and "dimension" in said and len(words) == 2 + said["dimension"]:
            said["origin"] = np.array([float(w) for w in words[2:]])
        elif words[1:2] == ["interface"] and len(words) > 4 and words[2].isdigit():
            said[int(words[2])] = (words[3], " ".join(words[4:]))
    return said


def _place(entry: Entry) -> np.ndarray:
    for i, what in ((1, "CP"), (5, "CD")):
        if entry.integer(i, 0) != 0:
            raise entry.error(f"{what} = {entry.field(i)}: only the basic coordinate system (0 or blank) is read")
    return np.array([entry.real(2 + k, 0.0) for k in range(3)])


def _terms(entries: list[Entry], rectangular: bool) -> list[tuple[tuple[int, int], tuple[int, int], float]]:
    """Return ((grid, component), column, value) of the terms of a matrix.

    Raises:
        ModelError: a form that is not read, or a term that is given twice.
    """
    form, terms = None, []
    lines: dict[tuple[tuple[int, int], tuple[int, int]], int] = {}
    for entry in entries:
        if entry.integer(1, 0) == 0:
            form = entry.integer(2)
            wanted = (2, 9) if rectangular else (1, 6)
            if form not in wanted:
                raise entry.error(f"{entry.field(0)} has the form {form}; it must be one of {wanted}")
            if entry.integer(3, 1) > 2:
                raise entry.error(f"{entry.field(0)} is complex (TIN = {entry.field(3)}); only real matrices are read")
            continue
        if form is None:
            raise entry.error(f"{entry.field(0)}: its columns come before its header (DMIG, {entry.field(0)}, 0, ...)")
        column = (entry.integer(1), entry.integer(2, 0))
        for k in range(4, len(entry.fields), 4):
            if not any(entry.fields[k : k + 4]):
                continue
            row = (entry.integer(k), entry.integer(k + 1, 0))
            if not (0 <= row[1] <= 6 and 0 <= column[1] <= 6):
                raise entry.error(f"component {row[1]} or {column[1]}; it must be 0 (scalar points) to 6")
            if (row, column) in lines:
                raise entry.error(
                    f"{entry.field(0)}: the term in the row of grid {row[0]} component {row[1]} and the column of grid "
                    f"{column[0]} component {column[1]} is given twice, first in the entry of line "
                    f"{lines[row, column]}; remove one, or give their sum"
                )
            lines[row, column] = entry.line
            terms.append((row, column, entry.real(k + 2)))
    return terms if rectangular or form == 1 else _mirrored(entries[0], terms)


def _mirrored(entry: Entry, terms: list) -> list:
    """Return both triangles of a symmetric matrix."""
    found: dict[Any, Any] = {}
    for row, column, value in terms:
        for key in ((row, column), (column, row)):
            if found.setdefault(key, value) != value:
                raise entry.error(
                    f"{entry.field(0)} is symmetric, but has two values, {found[key]:g} and {value:g}, for grid "
                    f"{row[0]} component {row[1]} and grid {column[0]} component {column[1]}"
                )
    return [(row, column, value) for (row, column), value in found.items()]


def _matrix(path: Path, name: str, terms: list, at: dict[tuple[int, int], int]) -> np.ndarray:
    A = np.zeros((len(at), len(at)))
    for row, column, value in terms:
        A[at[row], at[column]] = value
    d = np.sqrt(np.abs(np.diag(A)))
    skew = np.abs(A - A.T)
    if (skew > _SKEW * np.maximum(np.outer(d, d), np.abs(A + A.T))).any():
        i, j = np.unravel_index(np.argmax(skew), skew.shape)
        dofs = list(at)
        raise ModelError(
            f"{path}: {name} is not symmetric: {A[i, j]:g} for grid {dofs[i][0]} component {dofs[i][1]} and grid "
            f"{dofs[j][0]} component {dofs[j][1]}, {A[j, i]:g} the other way round; the file is incomplete, or not "
            "that of a part"
        )
    return 0.5 * (A + A.T)


def _rigid(K: np.ndarray, interfaces: list[Interface], origin: np.ndarray, dim: int) -> np.ndarray:
    """Return coordinates (n, r) of rigid-body motions: the interfaces move rigidly, the others follow without load; (n,
    0) if that meets forces."""
    rows = []
    for interface in interfaces:
        x = np.zeros(3)
        x[:dim] = interface.position - origin
        turn = np.array([[0.0, x[2], -x[1]], [-x[2], 0.0, x[0]], [x[1], -x[0], 0.0]])  # theta x x
        six = np.block([[np.eye(3), turn], [np.zeros((3, 3)), np.eye(3)]])
        rows += [six[_NUMBER[c] - 1] for c in interface.components]
    kept = [0, 1, 5] if dim == 2 else list(range(6))
    held = np.array(rows).reshape(-1, 6)[:, kept]
    b, n = len(held), len(K)
    if np.linalg.matrix_rank(held) < len(kept):
        return np.zeros((n, 0))
    p = np.zeros((n, len(kept)))
    p[:b] = held
    if n > b:
        p[b:] = -np.linalg.lstsq(K[b:, b:], K[b:, :b] @ held, rcond=None)[0]
    force, size = np.abs(K @ p), np.abs(K) @ np.abs(p)
    return p if (force <= _FREE * size.max(axis=0)).all() else np.zeros((n, 0))
