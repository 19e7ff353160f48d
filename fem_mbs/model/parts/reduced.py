"""Reduced parts in the model builder: flexible bodies with a few shapes in large motion.

A free reduced part p (`fem_mbs.parts.part.ReducedPart`) is cut into the motion of a frame and a deformation in it,
p = rigid + S q.  The shapes S are free vibration modes of the reduced part (mean axes: deformations carry no momentum),
or those that leave one of its interfaces where it is.  Both span all deformations, so that without a cut nothing is
lost; their normal coordinates q have, where they have a mass at all, a stiffness and a damping of their own.

Every interface becomes a node of the model, "part:interface", tied to the body (`fem_mbs.elements.flexible.tie`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, eigh, null_space

from fem_mbs.elements.flexible import body as flexible_body
from fem_mbs.elements.flexible import load as flexible_load
from fem_mbs.errors import ModelError
from fem_mbs.model.building import Building
from fem_mbs.parts.moments import moments_of_mass
from fem_mbs.parts.part import COMPONENTS, Interface, LoadMoments, Moments, ReducedPart

__all__ = ["PlacedPart", "ReducedParts"]

_AGREE = 1e-6  # of the mass matrix and that of the moments
_RIGID_LOSS = 1e-7  # power lost by rigid motions, over the absolute values that it cancels from, which rounding leaves


@dataclass(frozen=True)
class PlacedPart:
    """A reduced part of a model: ``part`` in normal coordinates q (shapes S alone), ``node`` of its frame, ``start``
    (dim,) place and ``rotation`` (dim, dim) of the axes of the part's own model, ``centre`` (dim,) place of the frame
    in these axes, numbers ``scalars`` (n,) of q among the model's coordinates that belong to no node, ``frequencies``
    (n,) [Hz] of the shapes with the frame at rest, the nodes of interfaces by their names, what the frame moves with
    (``reference``), and whether its inertia is ``approximate`` in large motions (`fem_mbs.parts.moments`)."""

    name: str
    part: ReducedPart
    node: int
    start: np.ndarray
    rotation: np.ndarray
    centre: np.ndarray
    scalars: np.ndarray
    frequencies: np.ndarray
    interfaces: dict[str, int]
    reference: str
    approximate: bool = False


class ReducedParts(Building):
    """Reduced parts as bodies in motion."""

    def reduced_part(
        self,
        name: str,
        part: ReducedPart,
        position: Any = None,
        rotation: Any = None,
        *,
        modes: int | Sequence[int] | None = None,
        cutoff: float | None = None,
        reference: str = "mean",
        damping: Any = None,
        stiffening: str = "none",
    ) -> None:
        """Add a reduced part in motion: large motion of its frame, small deformations in it.

        Its interfaces become the nodes "NAME:INTERFACE", where joints, loads, springs and sensors act as on any node; a
        node NAME is its frame (mean axes are no material point: for sensors only).  Modal coordinates (sensors "modal")
        are in metres: of each the root of the mean square displacement of the part, or the largest displacement of an
        interface, if that is more.

        Args:
            part: free; without ``moments`` (DMIG files) or by MacNeal's method its mass matrix stands for them, exact
                in small motions (`fem_mbs.parts.moments`).
            position: (dimension,) of the origin of the axes of the part's own model [m]; None: as that has it.
            rotation: of these axes at the start: plane an angle [rad], space axis times angle (3,) [rad].
            modes: how many shapes to keep, the lowest, or the numbers of those (1 is the lowest); None: all of them.
            cutoff: keep shapes up to this frequency [Hz] only.
            reference: "mean" (mean axes, at the mass centre) or the name of an interface with rotations, which then
                moves with the frame as a rigid whole, as cantilevers are reduced.
            damping: ratio of critical damping of all shapes, or one for each; None: the damping matrix of the part.
                It acts on the deformation alone; a warning says so where that matrix resists rigid motions.
            stiffening: what stresses of the motion stiffen: "none" (linear bodies: right while they turn slowly beside
                their frequencies, and carry little), "interfaces" (forces at interfaces, by displacements of second
                order there; energy stays exact), "centrifugal" (products of the frame's angular velocities), "inertia"
                (accelerations and weight too) or "all".  Loads of the frame have no potential: their work is booked
                with that of loads.  The part must have been reduced with ``stiffening`` = the interface that carries
                it.

        Raises:
            ModelError: the part is held, of another dimension; wrong numbers; a mass and moments that
                do not belong together.
        """
        self.new_place("Reduced part", name)
        owner = self.label("Reduced part", name)
        dim = self.dimension
        self._check_part(owner, part)
        approximate = part.moments is None or part.method == "macneal"
        if approximate:
            part = replace(part, moments=moments_of_mass(part))
        start = np.zeros(dim) if position is None else self.vector(position, owner, "position")
        R, given = np.eye(dim), None
        if rotation is not None and dim == 2:
            given = self.number(rotation, owner, "rotation")
            R = np.array([[np.cos(given), -np.sin(given)], [np.sin(given), np.cos(given)]])
        elif rotation is not None:
            from scipy.spatial.transform import Rotation

            given = R = Rotation.from_rotvec(self.vector(rotation, owner, "rotation")).as_matrix()

        shapes, squares = self._shapes(owner, part, reference)
        shapes, squares = self._chosen(owner, shapes, squares, modes, cutoff)
        body = part.transformed(shapes, np.zeros((shapes.shape[1], 0)))
        n = body.size
        frequencies = np.sqrt(squares) / (2.0 * np.pi)
        D = self._damping(owner, body, damping)
        if damping is None:
            self._tell_of_rigid_damping(owner, part)
        if reference == "mean":
            arm = part.moments.first / part.moments.mass
        else:
            arm = next(i for i in part.interfaces if i.name == reference).position - part.origin
        centre = part.origin + arm
        moments = shifted(body.moments, arm)
        self._check_mass(owner, body, moments)

        node = self._reduced_node(name, start + R @ centre, True, given)
        first = len(self.scalars)
        scalars = first + np.arange(n)
        self.scalars += [f'mode {k + 1} of "{name}"' for k in range(n)]
        loads = self._stiffening(owner, body, stiffening, arm)
        row = flexible_body.parameters(moments.matrix(), body.stiffness, D, loads)
        block = self.add_block(name, f"flexible_body{dim}_{n}", [[node]], row[1:], mass=row[0])
        block.scalars = scalars[None, :]
        nodes = {}
        for interface in part.interfaces:
            nodes[interface.name] = self._interface(name, body, interface, node, centre, start, R, given, scalars)
            if stiffening in ("interfaces", "all"):
                self._second_order(name, body, interface)
        self.reduced_parts[name] = PlacedPart(
            name, body, node, start, R, centre, scalars, frequencies, nodes, reference, approximate
        )

    def part_load(
        self,
        name: str,
        part: str,
        load: str | Sequence[str],
        function: Any = None,
        follower: bool = True,
        factor: float = 1.0,
    ) -> None:
        """Apply a load of a reduced part's own model (pressures, tractions, line loads, forces inside), in motion:
        factor * f(t) times what it is per unit of its function there, at its places in the deformed part.

        Args:
            part: a reduced part of this model, reduced with the load in its model.
            load: its name there (``part.load_moments``; loads that shared a function have one name, joined by " + "),
                or several, which then act together.
            follower: forces turn with the part's frame, as pressures do; else they keep the directions that they have
                in the part's placement at the start.  Neither turns with its deformation.

        Raises:
            ModelError: no such part or load, a part of a format without loads; a factor that is no number.
        """
        owner = self.label("Part load", name)
        self.find("reduced part", part, self.reduced_parts, owner)
        if not isinstance(follower, (bool, np.bool_)):
            raise ModelError(f"{owner}: follower = {follower!r} must be true or false")
        placed = self.reduced_parts[part]
        scale = self.number(factor, owner, "factor")
        keys = [load] if isinstance(load, str) else load
        if not isinstance(keys, (list, tuple)) or not all(isinstance(key, str) for key in keys):
            raise ModelError(f"{owner}: load = {load!r} must be the name of a load, or several")
        if not keys:
            raise ModelError(f"{owner}: load = {load!r} names no load of the part")
        chosen = [self._own_load(owner, part, placed.part, key) for key in keys]
        chosen = [moments.shifted(placed.centre - placed.part.origin) for moments in chosen]
        row = flexible_load.parameters(
            scale * sum(moments.forces for moments in chosen), scale * sum(moments.couples for moments in chosen),
            None if follower else placed.rotation,
        )  # fmt: skip
        index = float(self.function_index(function, owner, load=True))
        kind = f"flexible_load{self.dimension}_{placed.part.size}"
        block = self.add_block(name, kind, [[placed.node]], row[1:], function=index, turning=row[0])
        block.scalars = placed.scalars[None, :]

    @staticmethod
    def _own_load(owner: str, name: str, part: ReducedPart, load: str) -> LoadMoments:
        """Return the load of a part by its name."""
        known = part.load_moments
        if load in known:
            return known[load]
        if load in part.loads:
            raise ModelError(
                f'{owner}: of the load "{load}" of part "{name}" only the forces at rest are known; reduce the part '
                "again with this version"
            )
        for key in known:
            if load in key.split(" + "):
                raise ModelError(
                    f'{owner}: "{load}" shares its function with others in the model of part "{name}", and they act '
                    f'together; name "{key}", or give it a function of its own there'
                )
        there = f"it has {', '.join(known)}" if known else "it has none; reduce it from a model or deck with loads"
        raise ModelError(f'{owner}: part "{name}" has no load "{load}"; {there}')

    def _check_part(self, owner: str, part: ReducedPart) -> None:
        if not isinstance(part, ReducedPart):
            raise ModelError(f"{owner}: part = {part!r} is no ReducedPart; make one with `fem_mbs.reduce_part`")
        if part.dimension != self.dimension:
            raise ModelError(
                f"{owner}: the part has {part.dimension} dimensions, the model {self.dimension}; reduce it in the "
                "dimension of the model"
            )
        full = 3 * (part.dimension - 1)
        if part.rigid.shape[1] != full:
            raise ModelError(
                f"{owner}: the part has {part.rigid.shape[1]} rigid-body motions where a free one has {full}; reduce "
                "it without its supports, and support its interfaces in this model"
            )
        for interface in part.interfaces:
            axes = COMPONENTS[part.dimension][: part.dimension]
            if interface.components[: part.dimension] != axes:
                raise ModelError(
                    f'{owner}: interface "{interface.name}" has the components {", ".join(interface.components)}; a '
                    f"place where parts meet needs {', '.join(axes)} at least"
                )

    def _shapes(self, owner: str, part: ReducedPart, reference: str) -> tuple[np.ndarray, np.ndarray]:
        """Return shapes (n, k) without rigid-body motions, by rising frequency, and their w^2 [1/s^2]."""
        if reference == "mean":
            away = part.rigid.T @ part.mass
        else:
            names = [interface.name for interface in part.interfaces]
            if reference not in names:
                raise ModelError(
                    f'{owner}: reference = {reference!r} must be "mean" or one of its interfaces, '
                    f"{', '.join(names) or 'of which it has none'}"
                )
            away = part.boundary[part.interface_rows(reference)]
            if away.shape[0] != part.rigid.shape[1]:
                raise ModelError(
                    f'{owner}: reference = "{reference}" has no rotations; take "mean", or tie a set of nodes there'
                )
        scale = np.sqrt(np.maximum(part.stiffness.diagonal(), part.mass.diagonal()))
        scale = np.where(scale > 0.0, scale, 1.0)
        free = null_space(away / scale) / scale[:, None]
        K, M = (free.T @ A @ free for A in (part.stiffness, part.mass))
        try:
            # of the reciprocal problem, since shapes may have no mass
            values, vectors = eigh(0.5 * (M + M.T), 0.5 * (K + K.T))
        except LinAlgError:
            raise ModelError(
                f"{owner}: its stiffness is not positive for all motions but those of a rigid body; its coordinates "
                "depend on each other, or it is loose inside"
            ) from None
        order = np.argsort(-values)
        values, shapes = values[order], free @ vectors[:, order]
        values = np.where(values > 1e-14 * values[0], values, 0.0) if values.size else values
        # (with K = 1 now) the mean square displacement, and the largest at an interface
        size = np.sqrt(np.maximum(values, 0.0) / part.moments.mass)
        for interface in part.interfaces:
            at = part.boundary[part.interface_rows(interface.name)][: part.dimension] @ shapes
            size = np.maximum(size, np.linalg.norm(at, axis=0))
        size = np.where(size > 0.0, size, 1.0)
        with np.errstate(divide="ignore"):
            return shapes / size, np.where(values > 0.0, 1.0 / values, np.inf)

    def _chosen(self, owner, shapes, squares, modes, cutoff) -> tuple[np.ndarray, np.ndarray]:
        whole = shapes.shape[1]
        if not whole:
            raise ModelError(
                f"{owner}: the part was reduced to rigid-body motions alone, nothing of it deforms; reduce it with "
                "more modes or interfaces, or make it a rigid body"
            )
        kept = np.arange(whole)
        if modes is not None:
            single = isinstance(modes, (int, np.integer))
            given = [modes] if single else list(modes) if isinstance(modes, (list, tuple, np.ndarray)) else [None]
            right = all(isinstance(k, (int, np.integer)) and not isinstance(k, bool) and 1 <= k <= whole for k in given)
            if not right or not given or len(set(given)) < len(given):
                raise ModelError(
                    f"{owner}: modes = {modes!r} must be a whole number from 1 to {whole}, or a list of different ones"
                )
            kept = kept[: int(given[0])] if single else np.sort(np.array(given, int)) - 1
        if cutoff is not None:
            limit = (2.0 * np.pi * self.number(cutoff, owner, "cutoff", 0.0, strict=True)) ** 2
            kept = kept[squares[kept] <= limit]
        if kept.size == 0:
            lowest = np.sqrt(squares.min(initial=np.inf)) / (2.0 * np.pi)
            raise ModelError(
                f"{owner}: no shape is left (the lowest has {lowest:g} Hz); raise the cutoff, or make it a rigid body"
            )
        return shapes[:, kept], squares[kept]

    def _tell_of_rigid_damping(self, owner: str, part: ReducedPart) -> None:
        """Warn if the damping matrix of a part resists its rigid-body motions: only the part on its shapes is used."""
        if part.damping is None or not part.rigid.shape[1]:
            return
        loss = np.einsum("ni,nm,mi->i", part.rigid, part.damping, part.rigid)
        bound = np.einsum("ni,nm,mi->i", np.abs(part.rigid), np.abs(part.damping), np.abs(part.rigid))
        if (loss > _RIGID_LOSS * bound).any():
            self.warnings.append(
                f"{owner}: the damping of the part resists its motion as a rigid body too (damping proportional to the "
                "mass, or dampers to the ground), but in motion it acts on the deformation alone; put dampers or "
                "bushings to the ground at its interfaces for the rest, or reduce the part without that damping"
            )

    def _damping(self, owner: str, body: ReducedPart, damping) -> np.ndarray:
        n = body.size
        if damping is None:
            return np.zeros((n, n)) if body.damping is None else body.damping
        try:
            ratios = np.asarray(damping, float)
        except (TypeError, ValueError):
            ratios = np.empty(0)
        if ratios.shape not in ((), (n,)) or not np.isfinite(ratios).all() or (ratios < 0.0).any():
            raise ModelError(
                f"{owner}: damping = {damping!r} must be a ratio of at least 0, or one for each of {n} modes"
            )
        return np.diag(2.0 * ratios * np.sqrt(body.stiffness.diagonal() * np.maximum(body.mass.diagonal(), 0.0)))

    def _stiffening(self, owner: str, body: ReducedPart, kind: str, arm: np.ndarray) -> dict[str, np.ndarray]:
        """Return geometric stiffness by loads of the frame, which stands at ``arm`` (dim,) from the part's origin."""
        kinds = ("none", "interfaces", "centrifugal", "inertia", "all")
        if kind not in kinds:
            raise ModelError(f"{owner}: stiffening = {kind!r} must be one of {', '.join(kinds)}")
        if kind == "none":
            return {}
        loads = {name: K for name, K in body.stiffening.items() if name in flexible_body.LOADS}
        if not loads:
            raise ModelError(
                f"{owner}: the part has no geometric stiffness; reduce it with stiffening = the name of the interface "
                "that carries it"
            )
        if kind == "interfaces":
            return {}
        loads = moved_loads(loads, arm)
        return {name: K for name, K in loads.items() if kind != "centrifugal" or name.startswith("w")}

    def _check_mass(self, owner: str, body: ReducedPart, moments: Moments) -> None:
        whole = np.einsum("aakl->kl", moments.quadratic)
        off = np.abs(whole - body.mass).max(initial=0.0) / np.abs(body.mass).max(initial=1e-300)
        if off > _AGREE:
            raise ModelError(
                f"{owner}: its moments and its mass matrix differ by {off:.2g}; they come from different reductions"
            )

    def _reduced_node(self, name: str, x: np.ndarray, turns: bool, given) -> int:
        node = self.add_nodes(x[None, :])
        self.names.add(name, None, 1)
        self.named_nodes[name] = node
        if turns:
            self.rotational.add(node)
            if given is not None:
                self.rotations[node] = given
        return node

    def _interface(
        self, name: str, body: ReducedPart, interface: Interface, frame: int, centre, start, R, given, scalars
    ) -> int:
        """Return the node of an interface, and its ties."""
        dim, n = self.dimension, body.size
        label = f"{name}:{interface.name}"
        rows = body.boundary[body.interface_rows(interface.name)]
        turns = len(interface.components) == len(COMPONENTS[dim])
        node = self._reduced_node(label, start + R @ interface.position, turns, given)
        arm = {f"c{c}": v for c, v in zip("xyz", interface.position - centre, strict=False)}
        block = self.add_block(label, f"flexible_point{dim}_{n}", [[frame, node]], rows[:dim], **arm)
        block.scalars = scalars[None, :]
        block.preferred = np.array([(node, i) for i in range(dim)])
        if turns:
            block = self.add_block(label, f"flexible_orientation{dim}_{n}", [[frame, node]], rows[dim:])
            block.scalars = scalars[None, :]
            block.preferred = np.array([(node, i) for i in range(dim, rows.shape[0])])
        return node

    def _second_order(self, name: str, body: ReducedPart, interface: Interface) -> None:
        """Add the second-order displacements of an interface."""
        label = f"{name}:{interface.name}"
        found = [(a, body.stiffening.get(f"{interface.name}.{c}")) for a, c in enumerate("xyz"[: self.dimension])]
        rows = [np.concatenate(((a,), K.ravel())) for a, K in found if K is not None]
        if rows:
            block = next(b for b in self.blocks if b.groups[0][0] == label and b.type.name.startswith("flexible_point"))
            row = np.concatenate(((len(rows),), *rows))
            block.par = np.hstack((block.par, row[None]))


def shifted(moments: Moments, arm: np.ndarray) -> Moments:
    """Return moments with positions counted from a point ``arm`` (dim,) away: c - arm for c."""
    m, first, linear = moments.mass, moments.first, moments.linear
    return replace(
        moments,
        first=first - m * arm,
        second=moments.second - np.outer(arm, first) - np.outer(first, arm) + m * np.outer(arm, arm),
        mixed=moments.mixed - arm[:, None, None] * linear[None, :, :],
    )


def moved_loads(stiffening: Mapping[str, np.ndarray], arm: np.ndarray) -> dict[str, np.ndarray]:
    """Return geometric stiffness by loads of a frame that stands at ``arm`` (dim,) from the point that it was found
    for.

    That point has the acceleration a - alpha x arm - w x (w x arm) with a of the frame.
    """
    s = np.zeros(3)
    s[: arm.size] = -arm
    found = dict(stiffening)
    n = next(iter(stiffening.values())).shape[0]

    def add(name: str, factor: float, source: str) -> None:
        if factor != 0.0 and source in stiffening:
            found[name] = found.get(name, np.zeros((n, n))) + factor * stiffening[source]

    for i, c in enumerate("xyz"):
        for j, d in enumerate("xyz"):
            if i != j:
                k = 3 - i - j
                # (alpha x s)_i = alpha_j s_k - alpha_k s_j for (i, j, k) in cyclic order
                add(f"alpha{d}", s[k] if (j - i) % 3 == 1 else -s[k], f"a{c}")
                # (w (w.s) - s w.w)_i
                add(f"w{d}2", -s[i], f"a{c}")
                add(_PRODUCTS[frozenset((c, d))], s[j], f"a{c}")
    return found


_PRODUCTS = {frozenset("xy"): "wxwy", frozenset("yz"): "wywz", frozenset("xz"): "wxwz"}
