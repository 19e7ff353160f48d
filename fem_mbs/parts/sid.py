"""Flexible body data in the standard form of Wallrapp (1993) and Melzer (1994) for exchange between programs.

A body is a frame (origin, axes) that moves at large, and small displacements in it, u = Phi(c) q.  Its inertia enters
the equations of motion by a dozen matrices, each a constant and its derivatives by q (Melzer 1994, eq. 36, table 3),

    m a - (mdCM)~ alpha + Ct^T q'' + 2 w~ Ct^T q' + w~ w~ mdCM                    = f
    (mdCM)~ a + J alpha + Cr^T q'' + sum_k q_k' Gr_k w + w~ J w                   = l
    Ct a + Cr alpha + Me q'' + sum_k q_k' Ge_k w + Oe w_q + Ke q + De q' + ksigma = sum_nodes Phi^T f_n + Psi^T l_n

with a = acceleration of the origin less gravity, alpha, w of the frame, in its axes, and w_q = (w_x^2, w_y^2, w_z^2,
w_x w_y, w_y w_z, w_x w_z).  All are sums of `fem_mbs.parts.part.Moments`.  The stress that inertia and forces raise
in the body stiffens it; the superposition method puts its geometric stiffness K into the derivatives of Ct, Cr, Oe and
of the nodes' Phi and Psi (table 2).  The file's own form is `fem_mbs.parts.sid_file`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh, null_space

from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.parts.part import COMPONENTS, Interface, Moments, ReducedPart

__all__ = ["FlexibleBodyData", "FlexibleNode", "Taylor", "body_data", "body_frame", "part_of", "unpacked_moments"]

#: Products of angular velocities that Oe goes with, as axes, and as stiffening data call them.
PRODUCTS = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))
_PRODUCTS = ("wx2", "wy2", "wz2", "wxwy", "wywz", "wxwz")
_AXES = "xyz"
#: Geometric stiffness below this share of the largest entry of the matrix that it stands in is round-off.
_ROUND_OFF = 1e-12


@dataclass(frozen=True)
class Taylor:
    """A matrix M0 + sum_k q_k M1[:, k, :] (eq. 36); ``M0`` (r, c), ``M1`` (r, n, c) or None."""

    M0: np.ndarray
    M1: np.ndarray | None = None

    def at(self, q: np.ndarray) -> np.ndarray:
        """Return the matrix (r, c) at q (n,)."""
        return self.M0 if self.M1 is None else self.M0 + np.einsum("rkc,k->rc", self.M1, q)


@dataclass(frozen=True)
class FlexibleNode:
    """A node of the body where something is joined to it.

    ``origin`` (3, 1) its place [m]; ``phi``, ``psi`` (3, n) its displacements and rotations per unit of q; ``axes``
    (3, 3) the matrix that turns its axes into the body's; ``sigma`` (6, 1) stresses [N/m^2] or section forces there.
    """

    name: str
    origin: Taylor
    phi: Taylor
    psi: Taylor
    axes: Taylor
    sigma: Taylor | None = None
    reference: str = "body ref"


@dataclass(frozen=True)
class FlexibleBodyData:
    """The invariants of a flexible body (Melzer 1994, table 3) with n coordinates q; SI, axes and origin of its frame.

    ``mass`` [kg]; ``mdCM`` (3, 1) mass times centre; ``J`` (3, 3) about the origin; ``Ct``, ``Cr`` (n, 3) coupling
    with the frame; ``Me`` (n, n); ``Gr`` (3, 3 n), ``Ge`` (n, 3 n): blocks of three columns per mode; ``Oe`` (n, 6);
    ``ksigma`` (n, 1) forces of initial stresses; ``Ke``, ``De`` (n, n).  ``modes``: what to call the coordinates.
    ``nodes``: the places (``FlexibleNode``) whose motion it knows; ``title`` and ``info``: what the file tells of it.
    """

    mass: float
    modes: tuple[str, ...]
    nodes: tuple[FlexibleNode, ...]
    mdCM: Taylor
    J: Taylor
    Ct: Taylor
    Cr: Taylor
    Me: Taylor
    Gr: Taylor
    Ge: Taylor
    Oe: Taylor
    ksigma: Taylor
    Ke: Taylor
    De: Taylor
    title: str = ""
    info: Mapping[str, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number n of coordinates."""
        return self.Ke.M0.shape[0]

    @classmethod
    def from_moments(
        cls,
        moments: Moments,
        stiffness: np.ndarray,
        damping: np.ndarray | None = None,
        nodes: Sequence[FlexibleNode] = (),
        modes: Sequence[str] | None = None,
        stiffening: Mapping[str, np.ndarray] | None = None,
        title: str = "",
    ) -> FlexibleBodyData:
        """Create flexible body data from moments about the frame's origin, in space or in the plane (a plate without
        thickness in x and y).

        Args:
            moments: of the mass.
            stiffness, damping: (n, n); None: no damping.
            nodes, modes, title: as of the class; ``modes`` None: numbers from 1.
            stiffening: geometric stiffness (n, n) by the names of `fem_mbs.parts.part.ReducedPart.stiffening`.
        """
        s = _in_space(moments)
        n = s.linear.shape[1]
        stiffening = stiffening or {}
        C3, C4, Kr = s.quadratic, _c4(s), _kr(s)
        C2 = np.stack([s.mixed[b, c] - s.mixed[c, b] for b, c in ((1, 2), (2, 0), (0, 1))])
        C6 = _c6(s)
        zero = np.zeros((n, n))
        Ct1 = np.stack([stiffening.get(f"a{a}", zero) for a in _AXES], axis=-1)
        Cr1 = np.stack([Kr[a].T + stiffening.get(f"alpha{c}", zero) for a, c in enumerate(_AXES)], axis=-1)
        # Oe goes with products of w once, so that of two different axes counts both halves
        Oe1 = np.stack([_voigt(C6, m) + stiffening.get(name, zero) for m, name in enumerate(_PRODUCTS)], axis=-1)
        return cls(
            mass=s.mass,
            modes=tuple(modes) if modes is not None else tuple(f"mode {k + 1}" for k in range(n)),
            nodes=tuple(nodes),
            mdCM=Taylor(s.first[:, None], s.linear[:, :, None]),
            J=Taylor(
                _symmetric(np.trace(s.second) * np.eye(3) - s.second), -np.moveaxis(C4 + np.swapaxes(C4, 1, 2), 0, 1)
            ),
            Ct=Taylor(s.linear.T, Ct1 if Ct1.any() else None),
            Cr=Taylor(C2.T, Cr1),
            Me=Taylor(_symmetric(C3[0, 0] + C3[1, 1] + C3[2, 2])),
            Gr=Taylor(
                -2.0 * np.moveaxis(C4, 0, 1).reshape(3, 3 * n), -2.0 * np.einsum("lkab->alkb", C6).reshape(3, n, 3 * n)
            ),
            Ge=Taylor(2.0 * np.einsum("aki->ika", Kr).reshape(n, 3 * n)),
            Oe=Taylor(np.stack([_voigt(C4, m) for m in range(6)], axis=-1), Oe1),
            ksigma=Taylor(np.zeros((n, 1))),
            Ke=Taylor(_symmetric(np.asarray(stiffness, float))),
            De=Taylor(np.zeros((n, n)) if damping is None else np.array(damping, float)),
            title=title,
        )

    def residual(
        self,
        a: ArrayLike,
        alpha: ArrayLike,
        w: ArrayLike,
        q: ArrayLike,
        dq: ArrayLike,
        ddq: ArrayLike,
        forces: Mapping[str, np.ndarray] | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return left sides less right sides of the equations of motion: force (3,), moment (3,) and forces (n,) on q
        that the motion needs beside those given.

        Args:
            a: (3,) acceleration of the frame's origin less gravity; alpha, w: (3,) its angular acceleration and
                velocity; all in its axes.
            q, dq, ddq: (n,) coordinates and their rates.
            forces: by the names of nodes, (6,) force and moment at it, in the body's axes; they act on q and, at the
                displaced node, on the frame.

        The second order of J in q, which the standard leaves out, is taken from the derivatives of Gr.
        """
        a, alpha, w = (np.asarray(v, float) for v in (a, alpha, w))
        q, dq, ddq = (np.asarray(v, float) for v in (q, dq, ddq))
        n = self.size
        centre = self.mdCM.at(q)[:, 0]
        J = self.J.at(q)
        if self.Gr.M1 is not None:
            J = J + 0.5 * np.einsum("alkb,l,k->ab", self.Gr.M1.reshape(3, n, n, 3), q, q)
        Ct, Cr = self.Ct.at(q), self.Cr.at(q)
        Gr = np.einsum("akb,k->ab", self.Gr.at(q).reshape(3, n, 3), dq)
        Ge = np.einsum("ika,k->ia", self.Ge.at(q).reshape(n, n, 3), dq)
        products = np.array([w[i] * w[j] for i, j in PRODUCTS])
        f = self.mass * a + np.cross(alpha, centre) + Ct.T @ ddq + 2.0 * np.cross(w, Ct.T @ dq)
        f = f + np.cross(w, np.cross(w, centre))
        moment = np.cross(centre, a) + J @ alpha + Cr.T @ ddq + Gr @ w + np.cross(w, J @ w)
        elastic = Ct @ a + Cr @ alpha + self.Me.at(q) @ ddq + Ge @ w + self.Oe.at(q) @ products
        elastic = elastic + self.Ke.at(q) @ q + self.De.at(q) @ dq + self.ksigma.at(q)[:, 0]
        for name, load in (forces or {}).items():
            node, load = self.node(name), np.asarray(load, float)
            f = f - load[:3]
            moment = moment - np.cross(node.origin.at(q)[:, 0], load[:3]) - load[3:]
            elastic = elastic - node.phi.at(q).T @ load[:3] - node.psi.at(q).T @ load[3:]
        return f, moment, elastic

    def node(self, name: str) -> FlexibleNode:
        """Return the node of that name.

        Raises:
            ModelError: there is none.
        """
        for node in self.nodes:
            if node.name == name:
                return node
        names = ", ".join(node.name for node in self.nodes) or "none"
        raise ModelError(f'it has no node "{name}"', owner=Owner("Flexible body"), remedy=f"it has {names}")

    def moments(self) -> Moments:
        """Return the moments that the invariants are made of.

        Raises:
            ModelError: Gr has no derivatives, without which products of shapes are not known.
        """
        n = self.size
        if self.Gr.M1 is None or self.Gr.M1.shape[1] != n:
            raise ModelError(
                "Gr is given as a constant (order 0)",
                owner=Owner("Flexible body"),
                remedy=(
                    "the products of shapes that a moving body needs cannot be found; write the file with Gr of order 1"
                ),
            )
        eye = np.eye(3)
        C4 = -0.5 * np.moveaxis(self.Gr.M0.reshape(3, n, 3), 1, 0)
        C6 = -0.5 * np.einsum("alkb->lkab", self.Gr.M1.reshape(3, n, n, 3))
        # C = x y^T - (x.y) I has the trace -2 x.y
        mixed = np.einsum("kba->abk", C4) - 0.5 * np.einsum("kcc,ab->abk", C4, eye)
        quadratic = np.einsum("klba->abkl", C6) - 0.5 * np.einsum("klcc,ab->abkl", C6, eye)
        J = self.J.M0
        second = 0.5 * np.trace(J) * eye - J
        return Moments(self.mass, self.mdCM.M0[:, 0], second, self.Ct.M0.T, mixed, quadratic)

    def stiffening(self) -> dict[str, np.ndarray]:
        """Return geometric stiffness (n, n) per unit of loads, by the names of `ReducedPart.stiffening`."""
        n = self.size
        found: dict[Any, Any] = {}
        if self.Ct.M1 is not None:
            found |= {f"a{c}": self.Ct.M1[:, :, a] for a, c in enumerate(_AXES)}
        if self.Cr.M1 is not None:
            Kr = 0.5 * self.Ge.M0.reshape(n, n, 3)  # (i, k, axis)
            found |= {f"alpha{c}": self.Cr.M1[:, :, a] - Kr[:, :, a] for a, c in enumerate(_AXES)}
        if self.Oe.M1 is not None and self.Gr.M1 is not None:
            C6 = -0.5 * np.einsum("alkb->lkab", self.Gr.M1.reshape(3, n, n, 3))
            found |= {name: self.Oe.M1[:, :, m] - _voigt(C6, m) for m, name in enumerate(_PRODUCTS)}
        for node in self.nodes:
            for shapes, names in ((node.phi, _AXES), (node.psi, ("rx", "ry", "rz"))):
                if shapes.M1 is not None:
                    found |= {f"{node.name}.{c}": -shapes.M1[a].T for a, c in enumerate(names)}
        scale = max((np.abs(m.M1).max(initial=0.0) for m in (self.Cr, self.Oe) if m.M1 is not None), default=0.0)
        return {
            name: K
            for name, K in found.items()
            if np.abs(K).max(initial=0.0) > (0.0 if "." in name or name in ("ax", "ay", "az") else _ROUND_OFF * scale)
        }


def _symmetric(A: np.ndarray) -> np.ndarray:
    return 0.5 * (A + A.T)


def _in_space(s: Moments) -> Moments:
    """Return moments of a plane body as those of a body in space."""
    dim, n = s.linear.shape
    if dim == 3:
        return s
    first, second = np.zeros(3), np.zeros((3, 3))
    linear, mixed, quadratic = np.zeros((3, n)), np.zeros((3, 3, n)), np.zeros((3, 3, n, n))
    first[:2], second[:2, :2], linear[:2] = s.first, s.second, s.linear
    mixed[:2, :2], quadratic[:2, :2] = s.mixed, s.quadratic
    return Moments(s.mass, first, second, linear, mixed, quadratic)


def _c4(s: Moments) -> np.ndarray:
    """Return C4_k = int c~ Phi_k~ dm, (n, 3, 3)."""
    return np.einsum("bak->kab", s.mixed) - np.einsum("cck,ab->kab", s.mixed, np.eye(3))


def _c6(s: Moments) -> np.ndarray:
    """Return C6_kl = int Phi_k~ Phi_l~ dm, (n, n, 3, 3)."""
    return np.einsum("ablk->klab", s.quadratic) - np.einsum("cckl,ab->klab", s.quadratic, np.eye(3))


def _kr(s: Moments) -> np.ndarray:
    """Return Kr_a[l, k] = int (Phi_l x Phi_k)_a dm, (3, n, n)."""
    C3 = s.quadratic
    return np.stack([C3[b, c] - C3[c, b] for b, c in ((1, 2), (2, 0), (0, 1))])


def _voigt(X: np.ndarray, m: int) -> np.ndarray:
    """Return the factor of the product m of `PRODUCTS` in w^T X w, of X (..., 3, 3)."""
    i, j = PRODUCTS[m]
    return X[..., i, i] if i == j else X[..., i, j] + X[..., j, i]


# --- reduced parts ---------------------------------------------------------------------------------------------------
def body_frame(part: ReducedPart, frame: str = "mean", modal: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates of a part without its rigid-body motions: p = S q, S (n, k), and frequencies (k,) [Hz] if they
    are modes (else (0,)).

    Args:
        frame: what the body's frame follows: "mean" (momenta of q' vanish, Buckens and Tisserand), or the name of an
            interface, which is at rest in it.  Parts that supports hold have no frame to choose.
        modal: take the eigenvectors of stiffness and mass in what is left, with unit masses.

    Raises:
        ModelError: no such interface, or one that does not hold all rigid-body motions.
    """
    n, r = part.size, part.rigid.shape[1]
    if r == 0:
        S = np.eye(n)
    elif frame == "mean":
        S = null_space(part.rigid.T @ part.mass)
    else:
        try:
            rows = part.boundary[part.interface_rows(frame)]
        except KeyError:
            names = ", ".join(i.name for i in part.interfaces) or "none"
            raise ModelError(
                f'frame = "{frame}" is no interface',
                owner=Owner("Part", part.name),
                remedy=f'there are {names}; or take "mean"',
            ) from None
        if np.linalg.matrix_rank(rows @ part.rigid) < r:
            raise ModelError(
                f'interface "{frame}" does not hold the part in all {r} rigid-body motions',
                owner=Owner("Part", part.name),
                remedy='take another, one of several nodes with kind = "rigid", or frame = "mean"',
            )
        S = null_space(rows)
    if S.shape[1] != n - r and frame == "mean":
        raise ModelError(
            "its mass does not resist all rigid-body motions", owner=Owner("Part", part.name), remedy="give densities"
        )
    if not modal:
        return S, np.zeros(0)
    K, M = S.T @ part.stiffness @ S, S.T @ part.mass @ S
    K, M = 0.5 * (K + K.T), 0.5 * (M + M.T)
    try:
        values, vectors = eigh(K, M)
    except np.linalg.LinAlgError:  # shapes without mass
        return S, np.zeros(0)
    return S @ vectors, np.sqrt(np.maximum(values, 0.0)) / (2.0 * np.pi)


def body_data(
    part: ReducedPart, frame: str | None = None, count: int | None = None, modal: bool = True
) -> FlexibleBodyData:
    """Return flexible body data of a reduced part; its interfaces are the nodes.

    Args:
        frame, modal: as of `body_frame`; None: the frame that the geometric stiffness of the part was made for, or
            "mean"; the origin is that of the part.
        count: keep so many of the lowest modes; None: all.

    Raises:
        ModelError: the part has no moments (read from a format that holds none), or as of `body_frame`.
    """
    if part.moments is None:
        raise ModelError(
            f"it has no moments of its mass ({part.method}), so nothing is known of it in motion",
            owner=Owner("Part", part.name),
            remedy="reduce it from its model",
        )
    made_for = {"free": "mean"}.get(part.info.get("stiffening_frame"), part.info.get("stiffening_frame"))
    frame = frame or made_for or "mean"
    S, frequencies = body_frame(part, frame, modal)
    if count is not None:
        if not modal or not frequencies.size:
            raise ModelError(
                f"count = {count} chooses modes", owner=Owner("Part", part.name), remedy="take modal = true"
            )
        S, frequencies = S[:, :count], frequencies[:count]
    own = part.transformed(S, np.zeros((S.shape[1], 0)))
    names, stiffness = None, own.stiffness
    if frequencies.size:
        names = [f"mode {k + 1}: {f:.6g} {part.units.of('Hz').unit}" for k, f in enumerate(frequencies)]
        stiffness = np.diag((2.0 * np.pi * frequencies) ** 2)  # (what stands beside the diagonal is round-off)
    data = FlexibleBodyData.from_moments(
        own.moments, stiffness, own.damping, _nodes(own), names, own.stiffening, part.name
    )
    unit = np.eye(own.size)
    if frequencies.size and np.abs(data.Me.M0 - unit).max() < 1e-10:
        data = replace(data, Me=Taylor(unit))
    return data


def _nodes(part: ReducedPart) -> list[FlexibleNode]:
    """Return interfaces of a part as nodes."""
    n = part.size
    rotations = ("rx", "ry", "rz")
    nodes = []
    for interface in part.interfaces:
        rows = part.boundary[part.interface_rows(interface.name)]
        motion = dict(zip(interface.components, rows, strict=True))
        if "rotation" in motion:
            motion["rz"] = motion.pop("rotation")
        phi = np.stack([motion.get(c, np.zeros(n)) for c in _AXES])
        psi = np.stack([motion.get(c, np.zeros(n)) for c in rotations])
        place = np.zeros(3)
        place[: part.dimension] = np.asarray(interface.position) - part.origin
        stiff = [[part.stiffening.get(f"{interface.name}.{c}") for c in names] for names in (_AXES, rotations)]
        if part.dimension == 2:
            stiff[1][2] = part.stiffening.get(f"{interface.name}.rotation", stiff[1][2])
        turned = np.zeros((3, n, 3))  # psi_k~
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            turned[i, :, j], turned[j, :, i] = -psi[k], psi[k]
        nodes.append(
            FlexibleNode(
                interface.name,
                origin=Taylor(place[:, None], phi[:, :, None].copy()),
                phi=Taylor(phi, _force_stiffening(stiff[0], n)),
                psi=Taylor(psi, _force_stiffening(stiff[1], n)),
                axes=Taylor(np.eye(3), turned),
            )
        )
    return nodes


def _force_stiffening(matrices: list[np.ndarray | None], n: int) -> np.ndarray | None:
    """Return M1 (3, n, n) of Phi or Psi: -K of unit forces."""
    if all(K is None for K in matrices):
        return None
    return np.stack([np.zeros((n, n)) if K is None else -K.T for K in matrices])


def part_of(data: FlexibleBodyData, name: str | None = None) -> ReducedPart:
    """Return a free reduced part in space of flexible body data: coordinates are the frame's translation (3), its
    rotation (3) and q; moments are there if Gr has derivatives."""
    n = data.size
    try:
        own = data.moments()
    except ModelError:
        own = None
    M = np.zeros((6 + n, 6 + n))
    c = data.mdCM.M0[:, 0]
    M[:3, :3] = data.mass * np.eye(3)
    M[3:6, :3] = [[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]]
    M[3:6, 3:6], M[6:, :3], M[6:, 3:6], M[6:, 6:] = data.J.M0, data.Ct.M0, data.Cr.M0, data.Me.M0
    M = np.tril(M) + np.tril(M, -1).T
    K, D = np.zeros_like(M), np.zeros_like(M)
    K[6:, 6:], D[6:, 6:] = data.Ke.M0, data.De.M0
    interfaces, rows = [], []
    for node in data.nodes:
        x = node.origin.M0[:, 0]
        turn = np.array([[0.0, x[2], -x[1]], [-x[2], 0.0, x[0]], [x[1], -x[0], 0.0]])  # theta x x
        rows.append(np.block([[np.eye(3), turn, node.phi.M0], [np.zeros((3, 3)), np.eye(3), node.psi.M0]]))
        interfaces.append(Interface(node.name, x, COMPONENTS[3], np.zeros(0, int)))
    moments = None
    if own is not None:
        # shapes of the frame are 1 and c: Phi_a of e_b is delta_ab, of e_b x c its component a
        A = np.zeros((4 + 3 * n, 4 + 3 * (6 + n)))
        A[:4, :4] = np.eye(4)
        for a in range(3):
            at = 4 + a * (6 + n)
            A[0, at + a] = 1.0
            b, c_ = (a + 1) % 3, (a + 2) % 3
            A[1 + c_, at + 3 + b] = 1.0  # (e_b x c)_a = c_c, (e_c x c)_a = -c_b
            A[1 + b, at + 3 + c_] = -1.0
            A[4 + a * n : 4 + (a + 1) * n, at + 6 : at + 6 + n] = np.eye(n)
        moments = unpacked_moments(A.T @ own.matrix() @ A, 3, 6 + n)
    stiffening = {}
    for key, value in data.stiffening().items():
        stiffening[key] = np.zeros_like(M)
        stiffening[key][6:, 6:] = value
    rigid = np.zeros((6 + n, 6))
    rigid[:6] = np.eye(6)
    values = np.sqrt(np.maximum(np.diag(data.Ke.M0), 0.0) / np.where(np.diag(data.Me.M0) > 0, np.diag(data.Me.M0), 1.0))
    modal = not (data.Ke.M0 - np.diag(np.diag(data.Ke.M0))).any()
    return ReducedPart(
        name=name or data.title or "part",
        dimension=3,
        method="flexible body data",
        interfaces=tuple(interfaces),
        stiffness=K,
        mass=M,
        damping=D if D.any() else None,
        boundary=np.concatenate(rows) if rows else np.zeros((0, 6 + n)),
        rigid=rigid,
        gravity=M[:, :3].copy(),
        origin=np.zeros(3),
        frequencies=values / (2.0 * np.pi) if modal else np.zeros(0),
        moments=moments,
        stiffening=stiffening,
        info={"modes": list(data.modes)},
    )


def unpacked_moments(J: np.ndarray, dim: int, n: int) -> Moments:
    """Return moments from their matrix, `Moments.matrix`."""
    end = 1 + dim
    return Moments(
        float(J[0, 0]),
        J[0, 1:end],
        J[1:end, 1:end],
        J[0, end:].reshape(dim, n),
        J[1:end, end:].reshape(dim, dim, n),
        J[end:, end:].reshape(dim, n, dim, n).transpose(0, 2, 1, 3),
    )
