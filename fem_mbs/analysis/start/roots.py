"""Wrong roots of joints in space: positions that satisfy the equations with directions reversed or exchanged.

Conditions a.b = 0 between directions of both ends hold for an axis that points backwards (revolute, cylindrical, planar
joints, screws), for a weld turned by half a turn about one of its axes or by a third of a turn about the diagonal, and
for a constant-velocity joint with one shaft turned by half a turn.  No motion leads from one root to another (of a
constant-velocity joint: none but through a bend of half a turn), but an assembly from afar or a step too large may.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.late import dataclass
from fem_mbs.system.compiled import Compiled

__all__ = ["Roots", "Turned"]


@dataclass(frozen=True)
class Turned:
    """A joint on a wrong root: its name, the rows of its ends in the directors, and the rotation (3, 3) of its end b
    that would bring it to the right one."""

    name: str
    a: int
    b: int
    rotation: np.ndarray


@dataclass(frozen=True)
class _Pairs:
    """Triads of n joints, as rows, in the axes of their ends: A, B (n, 3, 3); what is compared of them: the first
    vectors, both others (their sum), or all; ``function`` (n,) turns a's about the first vector, negative: none."""

    names: list[str]
    rot: np.ndarray
    A: np.ndarray
    B: np.ndarray
    compared: str
    function: np.ndarray


class Roots:
    """The joints of a model whose equations have several roots."""

    def __init__(self, compiled: Compiled):
        self.pairs: list[_Pairs] = []
        if compiled.dimension != 3:
            return
        for block in compiled.blocks:
            if block.type.name == "direction3":
                self._axes(block)
            elif block.type.name == "orientation3":
                par = block.par
                A, B = (par[:, c : c + 9].reshape(-1, 3, 3).transpose(0, 2, 1) for c in (2, 11))
                self._add(block, range(block.size), A, B, "all", par[:, 1].astype(int))
            elif block.type.name == "constant_velocity3":
                u_a, v_b, v_a, u_b = (block.par[:, c : c + 3] for c in (1, 4, 7, 10))
                A, B = (np.stack((np.cross(u, v), u, v), axis=1) for u, v in ((u_a, v_a), (u_b, v_b)))
                self._add(block, range(block.size), A, B, "others")

    def _add(self, block, elements, A, B, compared: str, function=None) -> None:
        names = [block.label(int(e)) for e in elements]
        function = np.full(len(names), -1) if function is None else function
        self.pairs.append(_Pairs(names, block.rot[list(elements)], A, B, compared, function))

    def _axes(self, block) -> None:
        """Set two directions of b across the same one of a: its axis, and b's is across both."""
        t = block.type
        a, b = (block.par[:, [t.column(f"{end}{c}") for c in "xyz"]] for end in "ab")
        across = block.par[:, t.column("cosine")] == 0.0
        same = (block.rot[1:] == block.rot[:-1]).all(axis=1) & (a[1:] == a[:-1]).all(axis=1) & across[1:] & across[:-1]
        same &= np.abs(np.einsum("ei,ei->e", b[1:], b[:-1])) < 1e-6
        found = [int(e) for e in np.flatnonzero(same) if block.label(e) == block.label(e + 1)]
        if found:
            e = np.array(found)
            A = np.stack([a[e]] * 3, axis=1)
            B = np.stack((np.cross(b[e], b[e + 1]), b[e], b[e + 1]), axis=1)
            self._add(block, found, A, B, "first")

    def turned(self, D: np.ndarray, values: np.ndarray | None = None) -> list[Turned]:
        """Return the joints on wrong roots at directors D (nr, 9), with values (n_fun,) of the time functions.

        Without values driven rotations are not judged.
        """
        out = []
        for p in self.pairs:
            R = D.reshape(-1, 3, 3)
            A, B = (np.einsum("epq,eiq->eip", R[p.rot[:, k]], X) for k, X in ((0, p.A), (1, p.B)))
            driven = p.function >= 0
            if driven.any() and values is not None:
                angle = np.where(driven, values[np.maximum(p.function, 0)], 0.0)[:, None]
                A[:, 1], A[:, 2] = (
                    np.cos(angle) * A[:, 1] + np.sin(angle) * A[:, 2],
                    np.cos(angle) * A[:, 2] - np.sin(angle) * A[:, 1],
                )
            along = np.einsum("eip,eip->ei", A, B)
            if p.compared == "first":
                wrong = along[:, 0] < 0.0
            elif p.compared == "others":
                wrong = along[:, 1] + along[:, 2] < 0.0
            else:
                known = ~driven | (values is not None)
                wrong = (along[:, 0] < 0.5) | (known & (along[:, 1] < 0.5))
            for e in np.flatnonzero(wrong):
                a, b = (int(k) for k in p.rot[e])
                out.append(Turned(p.names[e], a, b, _rotation(A[e], B[e], p.compared)))
        return out


def _rotation(A: np.ndarray, B: np.ndarray, compared: str) -> np.ndarray:
    """Return the least rotation that brings the triad B (rows) to A in the compared vectors."""
    if compared == "all":
        return A.T @ B
    if compared == "others":  # half a turn about b's shaft
        return 2.0 * np.outer(B[0], B[0]) - np.eye(3)
    across = np.cross(B[0], A[0])
    axis = across if np.linalg.norm(across) > 1e-6 else B[1]
    axis = axis / np.linalg.norm(axis)
    other = np.cross(axis, B[0])
    turned = np.cross(axis, A[0])
    return np.outer(axis, axis) + np.outer(A[0], B[0]) + np.outer(turned, other)
