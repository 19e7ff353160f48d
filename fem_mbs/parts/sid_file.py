"""Text files of flexible body data (.SID_FEM; Wallrapp 1993, Schwertassek & Wallrapp 1999), in and out.

A file names each matrix and lists its entries, with FORTRAN's D exponents::

        3   2   :No. nodes, No. modes: a title
    part
      new modal
        refmod                         mass, number of modes, what they are
        frame                          new node = ... origin, phi, psi, AP[, sigma] ... end node
        mdCM J Ct Cr Me Gr Ge Oe ksigma Ke De
      end modal
    end part

Of m1( row, mode, column).  ``structure`` says which entries follow: 0 none, 1 the diagonal, 2 one triangle of a
symmetric matrix, 3 all, 4 none, it is a unit matrix.  J has six rows, xx yy zz xy xz yz, and the columns of Oe are xx
yy zz xy yz xz, as in the files of PY_SID; files whose programs order the last three otherwise are recognised by their
Gr, which must agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fem_mbs.errors import ModelError
from fem_mbs.files import read_file, write_atomic
from fem_mbs.late import dataclass
from fem_mbs.parts.sid import FlexibleBodyData, FlexibleNode, Taylor

__all__ = ["read_sid", "write_sid"]

_J = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
_MATRICES = ("mdCM", "J", "Ct", "Cr", "Me", "Gr", "Ge", "Oe", "ksigma", "Ke", "De")
_OF_NODE = ("origin", "phi", "psi", "AP", "sigma")
_ENTRY = re.compile(r"m([01])\(\s*(\d+)\s*,\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)\s*=\s*(\S+)")
_MODE = re.compile(r"ielastq\s*\(\s*(\d+)\s*\)\s*=(.*)")
_WIDTH = 24
_HEAD = ":No. nodes, No. modes:"


# --- out -------------------------------------------------------------------------------------------------------------
def write_sid(path: str | Path, data: FlexibleBodyData) -> Path:
    """Write flexible body data; values keep all their digits."""
    n, path = data.size, Path(path)
    out = [f"{len(data.nodes):5d}{n:5d}    {_HEAD}{data.title}", " part ", _line(6, "new modal", "")]
    out += [_line(11, "refmod"), _line(16, "mass", _number(data.mass)), _line(16, "nelastq", f"{n:6d}")]
    out += [_line(16, f"ielastq ({k + 1:4d})", name) for k, name in enumerate(data.modes)]
    out += [_line(11, "end refmod"), _line(11, "frame")]
    for node in data.nodes:
        out += [_line(16, "new node", node.name), _line(21, "rframe", node.reference)]
        for name in _OF_NODE:
            matrix = node.axes if name == "AP" else getattr(node, name)
            if matrix is not None:
                out += [_line(21, name), *_matrix(matrix, n), _line(21, f"end {name}")]
        out.append(_line(16, "end node"))
    out.append(_line(11, "end frame"))
    for name in _MATRICES:
        matrix = getattr(data, name)
        if name == "J":
            rows, columns = np.array(_J).T
            M1 = None if matrix.M1 is None else np.swapaxes(matrix.M1, 1, 2)[rows, columns][:, :, None]
            matrix = Taylor(matrix.M0[rows, columns][:, None], M1)
        out += [_line(11, name), *_matrix(matrix, n), _line(11, f"end {name}")]
    out += [_line(6, "end modal"), " end part ", ""]
    write_atomic(path, "\n".join(out).encode("ascii", errors="replace").decode())
    return path


def _line(indent: int, key: str, value: str | None = None) -> str:
    if value is None:
        return " " * indent + key
    return f"{' ' * indent}{key:<{_WIDTH}}= {value}"


def _number(value: float) -> str:
    return f"{value: .16E}".replace("E", "D")


def _matrix(matrix: Taylor, n: int) -> list[str]:
    """Return lines of a matrix."""
    M0, M1 = matrix.M0, matrix.M1
    rows, columns = M0.shape
    constant = M1 is None or not M1.any()
    structure = 3
    if constant and not M0.any():
        structure = 0
    elif constant and rows == columns and np.array_equal(M0, np.eye(rows)):
        structure = 4
    elif constant and rows == columns > 1 and np.array_equal(M0, np.diag(np.diag(M0))):
        structure = 1
    head = {"order": int(M1 is not None), "nrow": rows, "ncol": columns, "nq": n, "nqn": 0, "structure": structure}
    lines = [_line(26, key, f"{value:6d}") for key, value in head.items()]
    if structure in (1, 3):
        at = np.nonzero(M0)
        lines += [_entry(0, index, value) for index, value in zip(np.transpose(at) + 1, M0[at], strict=True)]
    if structure == 3 and not constant:
        at = np.nonzero(M1)
        lines += [_entry(1, index, value) for index, value in zip(np.transpose(at) + 1, M1[at], strict=True)]
    return lines


def _entry(order: int, index: np.ndarray, value: float) -> str:
    place = ",".join(f"{i:3d}" for i in index)
    return f"{' ' * 26}{f'm{order}({place})':<{_WIDTH}}= {_number(value)}"


# --- in --------------------------------------------------------------------------------------------------------------
@dataclass
class _Lines:
    """Lines of a file, one after the other, with their numbers for messages."""

    path: Path
    lines: list[str]
    at: int = 0

    def error(self, what: str) -> ModelError:
        return ModelError(f"{self.path}, line {self.at}: {what}")

    def __iter__(self) -> Iterator[str]:
        while self.at < len(self.lines):
            self.at += 1
            text = self.lines[self.at - 1].strip()
            if text:
                yield text

    def right_side(self, text: str) -> str:
        """Return the text after the equals sign of a line."""
        key, equals, value = text.partition("=")
        if not equals:
            raise self.error(f'"{key}" has no "=" and no value')
        return value.strip()

    def value(self, text: str, kind=float):
        try:
            value = kind(text.strip().upper().replace("D", "E"))
        except ValueError:
            raise self.error(f"{text.strip()!r} is no number") from None
        if kind is float and not np.isfinite(value):
            raise self.error(f"{text.strip()!r} is not finite")
        return value


def read_sid(path: str | Path) -> FlexibleBodyData:
    """Read flexible body data.

    Raises:
        ModelError: no such file, or one that is incomplete or contradicts itself, with the line.
    """
    path = Path(path)
    try:
        text = read_file(path).decode("ascii", errors="replace")
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from None
    lines = _Lines(path, text.splitlines())
    head = lines.lines[0] if lines.lines else ""
    if not re.match(r"\s*\d+\s+\d+", head):
        raise ModelError(f"{path}: its first line does not begin with the numbers of nodes and modes, as .SID_FEM do")
    lines.at = 1
    counts = [int(word) for word in head.split(":", 1)[0].split()[:2]]
    title = head.split(":", 1)[1].strip().removeprefix(_HEAD[1:]).strip() if ":" in head else ""
    found: dict[str, Taylor] = {}
    nodes: list[FlexibleNode] = []
    modes: dict[int, str] = {}
    mass = None
    ended = False
    for text in lines:
        word = text.split("=")[0].strip()
        if word in _MATRICES:
            found[word] = _read_matrix(lines, word)
        elif word == "new node":
            nodes.append(_read_node(lines, lines.right_side(text)))
        elif word == "mass":
            mass = lines.value(lines.right_side(text))
        elif match := _MODE.match(text):
            modes[int(match[1])] = match[2].strip()
        elif word == "end part":
            ended = True
            break
    if not ended:
        raise ModelError(f'{path}: it ends without "end part"; the file is cut off')
    missing = [name for name in _MATRICES if name not in found]
    if missing or mass is None:
        raise ModelError(f"{path}: it has no {', '.join(missing or ['mass'])}")
    n = found["Ke"].M0.shape[0]
    if counts != [len(nodes), n]:
        raise ModelError(
            f"{path}: its first line speaks of {counts[0]} nodes and {counts[1]} modes, but there are {len(nodes)} and "
            f"{n}"
        )
    shapes = {
        "mdCM": (3, 1), "Ct": (n, 3), "Cr": (n, 3), "Me": (n, n), "Gr": (3, 3 * n), "Ge": (n, 3 * n), "Oe": (n, 6),
        "ksigma": (n, 1), "Ke": (n, n), "De": (n, n),
    }  # fmt: skip
    of_nodes = {"origin": (3, 1), "phi": (3, n), "psi": (3, n), "axes": (3, 3)}
    checks = [(name, found[name], shape) for name, shape in shapes.items()]
    checks += [(f'{key} of node "{v.name}"', getattr(v, key), shape) for v in nodes for key, shape in of_nodes.items()]
    for name, matrix, shape in checks:
        if matrix.M0.shape != shape:
            raise ModelError(f"{path}: {name} has the form {matrix.M0.shape}; with {n} modes it must have {shape}")
        if matrix.M1 is not None and matrix.M1.shape[1] != n:
            raise ModelError(f"{path}: {name} has derivatives by {matrix.M1.shape[1]} modes; there are {n}")
    C4 = -0.5 * np.moveaxis(found["Gr"].M0.reshape(3, n, 3), 1, 0)
    data = {name: matrix for name, matrix in found.items() if name not in ("J", "Oe")}
    return FlexibleBodyData(
        mass=mass,
        modes=tuple(modes.get(k + 1, f"mode {k + 1}") for k in range(n)),
        nodes=tuple(nodes),
        J=_tensor(path, found["J"], C4),
        Oe=_products(path, found["Oe"], C4),
        title=title,
        **data,
    )


def _read_node(lines: _Lines, name: str) -> FlexibleNode:
    found, reference = {}, "body ref"
    for text in lines:
        word = text.split("=")[0].strip()
        if word in _OF_NODE:
            found[word] = _read_matrix(lines, word)
        elif word == "rframe":
            reference = lines.right_side(text)
        elif word == "end node":
            missing = [key for key in _OF_NODE[:4] if key not in found]
            if missing:
                raise lines.error(f'node "{name}" has no {", ".join(missing)}')
            found["axes"] = found.pop("AP")
            return FlexibleNode(name, reference=reference, **found)
    raise lines.error(f'node "{name}" does not end')


def _read_matrix(lines: _Lines, name: str) -> Taylor:
    head: dict[str, int] = {}
    M0 = M1 = None
    for text in lines:
        if text.startswith("end "):
            if M0 is None:
                M0, M1 = _empty(lines, name, head)
            if head["structure"] == 2:
                return _whole(M0, M1)
            return Taylor(M0, M1)
        if match := _ENTRY.match(text):
            if M0 is None:
                M0, M1 = _empty(lines, name, head)
            value = lines.value(match[5])
            index = tuple(int(k) - 1 for k in match.groups()[1:4] if k is not None)
            target = M1 if match[1] == "1" else M0
            if (
                target is None
                or len(index) != target.ndim
                or any(not 0 <= i < size for i, size in zip(index, target.shape, strict=True))
            ):
                raise lines.error(f"{text.split('=')[0].strip()} is no entry of {name}, whose form is {head}")
            target[index] = value
            continue
        key, _, value = text.partition("=")
        if key.strip() in ("order", "nrow", "ncol", "nq", "nqn", "structure"):
            head[key.strip()] = lines.value(value, int)
    raise lines.error(f'{name} does not end with "end {name}"')


def _empty(lines: _Lines, name: str, head: dict[str, int]) -> tuple[np.ndarray, np.ndarray | None]:
    missing = [key for key in ("order", "nrow", "ncol", "nq", "structure") if key not in head]
    if missing:
        raise lines.error(f"{name} does not say its {', '.join(missing)}")
    if head["order"] not in (0, 1):
        raise lines.error(f"{name} is of order {head['order']}; 0 and 1 are known")
    if head["structure"] not in range(5):
        raise lines.error(f"{name} has the structure {head['structure']}; 0 to 4 are known")
    if not (0 < head["nrow"] <= 1_000_000 and 0 < head["ncol"] <= 1_000_000 and 0 <= head["nq"] <= 100_000):
        raise lines.error(f"{name} has {head['nrow']} rows, {head['ncol']} columns and {head['nq']} modes")
    unit = head["structure"] == 4
    M0 = np.eye(head["nrow"], head["ncol"]) if unit else np.zeros((head["nrow"], head["ncol"]))
    return M0, np.zeros((head["nrow"], head["nq"], head["ncol"])) if head["order"] else None


def _whole(M0: np.ndarray, M1: np.ndarray | None) -> Taylor:
    """Return both triangles of symmetric matrices, of which the file has one, or both."""

    def mirrored(A):
        return np.where(A != 0.0, A, np.swapaxes(A, 0, -1))

    return Taylor(mirrored(M0), None if M1 is None else mirrored(M1))


def _tensor(path: Path, J: Taylor, C4: np.ndarray) -> Taylor:
    """Return J as (3, 3), of six rows or a matrix."""
    if J.M0.shape == (3, 3):
        return J
    if J.M0.shape != (6, 1):
        raise ModelError(f"{path}: J has the form {J.M0.shape}; it must have (6, 1) or (3, 3)")
    wanted = -(C4 + np.swapaxes(C4, 1, 2))
    given = None if J.M1 is None else J.M1[:, :, 0]
    pairs = _order(path, "J", _J[3:], given, lambda i, j: wanted[:, i, j])
    rows, columns = np.array(_J[:3] + pairs).T
    M0 = np.zeros((3, 3))
    M0[rows, columns] = M0[columns, rows] = J.M0[:, 0]
    M1 = None
    if given is not None:
        M1 = np.zeros((3, given.shape[1], 3))
        M1[rows, :, columns] = M1[columns, :, rows] = given
    return Taylor(M0, M1)


def _products(path: Path, Oe: Taylor, C4: np.ndarray) -> Taylor:
    """Return oe with its last three columns as xy, yz, xz."""
    pairs = _order(path, "Oe", ((0, 1), (1, 2), (0, 2)), Oe.M0.T, lambda i, j: C4[:, i, j] + C4[:, j, i])
    columns = [0, 1, 2, *(3 + pairs.index(pair) for pair in ((0, 1), (1, 2), (0, 2)))]
    return Taylor(Oe.M0[:, columns], None if Oe.M1 is None else Oe.M1[:, :, columns])


def _order(path: Path, name: str, usual: tuple, given: np.ndarray | None, wanted) -> tuple:
    """Return pairs of axes that rows 3 to 5 of ``given`` (6, n) belong to: the usual ones where they agree with Gr."""
    if given is None:
        return usual
    xy, yz, xz = (0, 1), (1, 2), (0, 2)
    others = [pairs for pairs in ((xy, yz, xz), (xy, xz, yz), (yz, xz, xy)) if pairs != usual]
    size = max(np.abs(given).max(initial=0.0), max(np.abs(wanted(*pair)).max(initial=0.0) for pair in (xy, yz, xz)))
    for pairs in (usual, *others):
        off = max(np.abs(given[3 + k] - wanted(*pair)).max(initial=0.0) for k, pair in enumerate(pairs))
        if off <= 1e-6 * size:
            return pairs
    raise ModelError(
        f"{path}: {name} and Gr belong to no one body: their parts xy, yz and xz differ in every order that is known"
    )
