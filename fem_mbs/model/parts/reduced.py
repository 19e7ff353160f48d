"""Reduced parts in the model builder: flexible bodies with a few shapes in large motion.

A free reduced part p (`fem_mbs.parts.part.ReducedPart`) is cut into the motion of a frame and a deformation in it,
p = rigid + S q.  The shapes S are free vibration modes of the reduced part (mean axes: deformations carry no momentum),
or those that leave one of its interfaces where it is.  Both span all deformations, so that without a cut nothing is
lost; their normal coordinates q have, where they have a mass at all, a stiffness and a damping of their own.

Every interface becomes a node of the model, "part:interface", tied to the body (`fem_mbs.elements.flexible.tie`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, eigh, null_space

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import (
    ANY,
    COUNT_OR_COUNTS,
    FILE,
    FLAG,
    FUNCTION,
    NAME,
    NUMBER,
    NUMBER_OR_VECTOR,
    RATIOS,
    TEXT,
    VECTOR,
    WHOLE,
    WORDS,
    shown,
)
from fem_mbs.elements.flexible import body as flexible_body
from fem_mbs.elements.flexible import load as flexible_load
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.parts.moments import moments_of_mass
from fem_mbs.parts.part import COMPONENTS, Interface, LoadMoments, Moments, ReducedPart
from fem_mbs.rotations import rotation_matrices
from fem_mbs.units import Units, unit_of

__all__ = ["PlacedPart", "MovingPart", "Reduction", "PartLoad", "check_bases"]

_AGREE = 1e-6  # of the mass matrix and that of the moments
_RIGID_LOSS = 1e-7  # power lost by rigid motions, over the absolute values that it cancels from, which rounding leaves


@dataclass(frozen=True)
class PlacedPart:
    """A reduced part of a model: ``part`` in normal coordinates q (shapes S alone), ``node`` of its frame, ``start``
    (dim,) place and ``rotation`` (dim, dim) of the axes of the part's own model, ``centre`` (dim,) place of the frame
    in these axes, numbers ``scalars`` (n,) of q among the model's coordinates that belong to no node, ``frequencies``
    (n,) [Hz] of the shapes with the frame at rest, the nodes of interfaces by their names, what the frame moves with
    (``reference``), and whether its inertia is ``approximate`` in large motions (`fem_mbs.parts.moments`); ``heat``:
    stresses (N_s, 6) [N/m^2] per unit of the factors of part loads, by the names of these."""

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
    heat: dict[str, np.ndarray] = field(default_factory=dict)


def check_bases(building: Building) -> None:
    """Check that the numbers of reduced parts are in the units of the model.

    Raises:
        ModelError: the model of a part had another base.
    """
    own = (building.shown_units or Units()).base
    for name, placed in building.reduced_parts.items():
        base = placed.part.info.get("base", own)
        if base != own:
            raise ModelError(
                f'the numbers of its part are in "{base}", those of this model in "{own}"',
                owner=Owner("Reduced part", name),
                key="part",
                value=base,
                remedy="give both models one base ([units]) and reduce the part again",
            )


def _own_load(owner: str, name: str, part: ReducedPart, load: str) -> LoadMoments:
    """Return the load of a part by its name."""
    known = part.load_moments
    if load in known:
        return known[load]
    if load in part.loads:
        raise ModelError(
            f'of the load "{load}" of part "{name}" only the forces at rest are known',
            owner=owner,
            remedy="reduce the part again with this version"
            if part.moments is not None
            else "its mass has no known distribution (a mass matrix or a reduced part is part of it), so "
            "that its loads cannot move; apply them in this model",
        )
    for word in known:
        if load in word.split(" + "):
            raise ModelError(
                f'"{load}" shares its function with others in the model of part "{name}", and they act together',
                owner=owner,
                remedy=f'name "{word}", or give it a function of its own there',
            )
    there = f"it has {', '.join(known)}" if known else "it has none; reduce it from a model or deck with loads"
    raise ModelError(f'part "{name}" has no load "{load}"', owner=owner, remedy=f"{there}")


def _check_part(building: Building, owner: str, part: ReducedPart) -> None:
    if not isinstance(part, ReducedPart):
        raise ModelError(
            f"part = {shown(part)} is no ReducedPart",
            owner=owner,
            key="part",
            value=part,
            remedy="make one with `fem_mbs.reduce_part`",
        )
    if part.dimension != building.dimension:
        raise ModelError(
            f"the part has {part.dimension} dimensions, the model {building.dimension}",
            owner=owner,
            remedy="reduce it in the dimension of the model",
        )
    full = 3 * (part.dimension - 1)
    if part.rigid.shape[1] != full:
        raise ModelError(
            f"the part has {part.rigid.shape[1]} rigid-body motions where a free one has {full}",
            owner=owner,
            remedy="reduce it without its supports, and support its interfaces in this model",
        )
    for interface in part.interfaces:
        axes = COMPONENTS[part.dimension][: part.dimension]
        if interface.components[: part.dimension] != axes:
            raise ModelError(
                f'interface "{interface.name}" has the components {", ".join(interface.components)}',
                owner=owner,
                remedy=f"a place where parts meet needs {', '.join(axes)} at least",
            )


def _chosen_shapes(owner: str, part: ReducedPart, reference: str) -> tuple[np.ndarray, np.ndarray]:
    """Return shapes (n, k) without rigid-body motions, by rising frequency, and their w^2 [1/s^2]."""
    if reference == "mean":
        away = part.rigid.T @ part.mass
    else:
        names = [interface.name for interface in part.interfaces]
        if reference not in names:
            raise ModelError(
                f'reference = {shown(reference)} must be "mean" or one of its interfaces, '
                f"{', '.join(names) or 'of which it has none'}",
                owner=owner,
                key="reference",
                value=reference,
            )
        away = part.boundary[part.interface_rows(reference)]
        if away.shape[0] != part.rigid.shape[1]:
            raise ModelError(
                f'reference = "{reference}" has no rotations',
                owner=owner,
                remedy='take "mean", or tie a set of nodes there',
            )
    scale = np.sqrt(np.maximum(part.stiffness.diagonal(), part.mass.diagonal()))
    scale = np.where(scale > 0.0, scale, 1.0)
    free = null_space(away / scale) / scale[:, None]
    if not free.shape[1]:  # scipy's eigh takes empty matrices from 1.14 on
        return np.zeros_like(free), np.zeros(0)
    K, M = (free.T @ A @ free for A in (part.stiffness, part.mass))
    try:
        # of the reciprocal problem, since shapes may have no mass
        values, vectors = eigh(0.5 * (M + M.T), 0.5 * (K + K.T))
    except LinAlgError:
        raise ModelError(
            "its stiffness is not positive for all motions but those of a rigid body",
            owner=owner,
            remedy="its coordinates depend on each other, or it is loose inside",
        ) from None
    order = np.argsort(-values)
    values, shapes = values[order], free @ vectors[:, order]
    values = np.where(values > 1e-14 * values[0], values, 0.0)
    # (with K = 1 now) the mean square displacement, and the largest at an interface
    size = np.sqrt(np.maximum(values, 0.0) / part.moments.mass)
    for interface in part.interfaces:
        at = part.boundary[part.interface_rows(interface.name)][: part.dimension] @ shapes
        size = np.maximum(size, np.linalg.norm(at, axis=0))
    size = np.where(size > 0.0, size, 1.0)
    with np.errstate(divide="ignore"):
        return shapes / size, np.where(values > 0.0, 1.0 / values, np.inf)


def _chosen(building: Building, owner, shapes, squares, modes, cutoff) -> tuple[np.ndarray, np.ndarray]:
    whole = shapes.shape[1]
    if not whole:
        raise ModelError(
            "the part was reduced to rigid-body motions alone, nothing of it deforms",
            owner=owner,
            remedy="reduce it with more modes or interfaces, or make it a rigid body",
        )
    kept = np.arange(whole)
    if modes is not None:
        single = isinstance(modes, (int, np.integer))
        given = [modes] if single else list(modes) if isinstance(modes, (list, tuple, np.ndarray)) else [None]
        right = all(isinstance(k, (int, np.integer)) and not isinstance(k, bool) and 1 <= k <= whole for k in given)
        if not right or not given or len(set(given)) < len(given):
            raise ModelError(
                f"modes = {shown(modes)} must be a whole number from 1 to {whole}, or a list of different ones",
                owner=owner,
                key="modes",
                value=modes,
            )
        kept = kept[: int(given[0])] if single else np.sort(np.array(given, int)) - 1
    if cutoff is not None:
        limit = (2.0 * np.pi * building.number(cutoff, owner, "cutoff", 0.0, strict=True)) ** 2
        kept = kept[squares[kept] <= limit]
    if kept.size == 0:
        lowest = np.sqrt(squares.min(initial=np.inf)) / (2.0 * np.pi)
        raise ModelError(
            f"no shape is left (the lowest has {lowest:g} {unit_of('Hz')})",
            owner=owner,
            remedy="raise the cutoff, or make it a rigid body",
        )
    return shapes[:, kept], squares[kept]


def _tell_of_rigid_damping(building: Building, owner: str, part: ReducedPart) -> None:
    """Warn if the damping matrix of a part resists its rigid-body motions: only the part on its shapes is used."""
    if part.damping is None or not part.rigid.shape[1]:
        return
    loss = np.einsum("ni,nm,mi->i", part.rigid, part.damping, part.rigid)
    bound = np.einsum("ni,nm,mi->i", np.abs(part.rigid), np.abs(part.damping), np.abs(part.rigid))
    if (loss > _RIGID_LOSS * bound).any():
        building.warnings.append(
            f"{owner}: the damping of the part resists its motion as a rigid body too (damping proportional to the "
            "mass, or dampers to the ground), but in motion it acts on the deformation alone; put dampers or "
            "bushings to the ground at its interfaces for the rest, or reduce the part without that damping"
        )


def _damping(owner: str, body: ReducedPart, damping) -> np.ndarray:
    n = body.size
    if damping is None:
        return np.zeros((n, n)) if body.damping is None else body.damping
    try:
        ratios = np.asarray(damping, float)
    except (TypeError, ValueError):
        ratios = np.empty(0)
    if ratios.shape not in ((), (n,)) or not np.isfinite(ratios).all() or (ratios < 0.0).any():
        raise ModelError(
            f"damping = {shown(damping)} must be a ratio of at least 0, or one for each of {n} modes",
            owner=owner,
            key="damping",
            value=damping,
        )
    return np.diag(2.0 * ratios * np.sqrt(body.stiffness.diagonal() * np.maximum(body.mass.diagonal(), 0.0)))


def _stiffening(owner: str, body: ReducedPart, kind: str, arm: np.ndarray) -> dict[str, np.ndarray]:
    """Return geometric stiffness by loads of the frame, which stands at ``arm`` (dim,) from the part's origin.

    Centrifugal loads alone are those of a body whose carrier, for which the part was reduced, is not accelerated: what
    the frame's own acceleration adds where it stands elsewhere belongs to "inertia".
    """
    if kind == "none":
        return {}
    loads = {name: K for name, K in body.stiffening.items() if name in flexible_body.LOADS}
    if not loads:
        raise ModelError(
            "the part has no geometric stiffness",
            owner=owner,
            remedy="reduce it with stiffening = the name of the interface that carries it",
        )
    if kind == "interfaces":
        return {}
    loads = moved_loads(loads, _carrier(body) if kind == "centrifugal" else arm)
    return {name: K for name, K in loads.items() if kind != "centrifugal" or name.startswith("w")}


def _carrier(body: ReducedPart) -> np.ndarray:
    """Return the place (dim,) from the part's origin of what carries it in its geometric stiffness: an interface, the
    mass centre of a free body, or the origin where a file does not say."""
    frame = body.info.get("stiffening_frame")
    if frame == "free":
        return body.moments.first / body.moments.mass
    return next((i.position - body.origin for i in body.interfaces if i.name == frame), np.zeros(body.origin.size))


def _check_mass(owner: str, body: ReducedPart, moments: Moments) -> None:
    whole = np.einsum("aakl->kl", moments.quadratic)
    off = np.abs(whole - body.mass).max(initial=0.0) / np.abs(body.mass).max(initial=1e-300)
    if off > _AGREE:
        raise ModelError(
            f"its moments and its mass matrix differ by {off:.2g}",
            owner=owner,
            remedy="they come from different reductions",
        )


def _reduced_node(building: Building, name: str, x: np.ndarray, turns: bool, given) -> int:
    node = building.add_nodes(x[None, :])
    building.names.add(name, None, 1)
    building.named_nodes[name] = node
    if turns:
        building.rotational.add(node)
        if given is not None:
            building.rotations[node] = given
    return node


def _interface(
    building: Building, name: str, body: ReducedPart, interface: Interface, frame: int, centre, start, R, given, scalars
) -> int:
    """Return the node of an interface, and its ties."""
    dim, n = building.dimension, body.size
    label = f"{name}:{interface.name}"
    rows = body.boundary[body.interface_rows(interface.name)]
    turns = len(interface.components) == len(COMPONENTS[dim])
    node = _reduced_node(building, label, start + R @ interface.position, turns, given)
    arm = {f"c{c}": v for c, v in zip("xyz", interface.position - centre, strict=False)}
    block = building.add_block(label, f"flexible_point{dim}_{n}", [[frame, node]], rows[:dim], **arm)
    block.scalars = scalars[None, :]
    block.preferred = np.array([(node, i) for i in range(dim)])
    if turns:
        block = building.add_block(label, f"flexible_orientation{dim}_{n}", [[frame, node]], rows[dim:])
        block.scalars = scalars[None, :]
        block.preferred = np.array([(node, i) for i in range(dim, rows.shape[0])])
    return node


def _second_order(building: Building, name: str, body: ReducedPart, interface: Interface) -> None:
    """Add the second-order displacements of an interface."""
    label = f"{name}:{interface.name}"
    found = [(a, body.stiffening.get(f"{interface.name}.{c}")) for a, c in enumerate("xyz"[: building.dimension])]
    rows = [np.concatenate(((a,), K.ravel())) for a, K in found if K is not None]
    if rows:
        block = next(b for b in building.blocks if b.groups[0][0] == label and b.type.name.startswith("flexible_point"))
        row = np.concatenate(((len(rows),), *rows))
        block.par = np.hstack((block.par, row[None]))


@dataclass(frozen=True, eq=False)
class Reduction(Declaration):
    """How a part is reduced that a model file, a deck or a mesh describes."""

    owner = "Reduction"

    interfaces: Any = key(
        WORDS, 'places of the part\'s own model, its nodes or sets: "NAME", or "NAME=kind"', None,
        shows="those that a deck retains (*SUBSTRUCTURE GENERATE)",
    )  # fmt: skip
    kind: Any = key(TEXT, 'of sets of several nodes: "rigid" or "average"', None, shows='"rigid"')
    method: Any = key(TEXT, '"guyan", "craig_bampton", "macneal", "rubin", "craig_chang" or "herting"', None,
                      shows='"craig_bampton", or as the deck has it')  # fmt: skip
    modes: Any = key(WHOLE, "number of component modes, the lowest", None, shows="20, without a cutoff")
    cutoff: Any = key(NUMBER, "component modes up to it", None, shows="none", unit="Hz")
    participation: Any = key(NUMBER, "least share of a mode at the interfaces", None, shows="none")
    stiffening: Any = key(TEXT, "interface that carries the part, for the stiffening by inertia", None, shows="none")
    stress: Any = key(FLAG, "keep the stresses at the nodes of solid and plane parts, for fem-mbs stresses", False)
    state: Any = key(TEXT, '"start", or "end": about what the steps of the part\'s model leave', "start")
    release: Any = key(FLAG, "take supports and motions of the interfaces away", False)
    material: Any = key(TEXT, 'of a mesh: "E,nu,density"', None, shows="none")
    thickness: Any = key(NUMBER, "of a plane mesh", None, shows="1.0", unit="m")


@dataclass(frozen=True, eq=False)
class MovingPart(Declaration):
    """Flexible parts that are reduced to their interfaces and few shapes, and move as bodies.

    Add a reduced part in motion: large motion of its frame, small deformations in it.

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
            order there; energy stays exact), "centrifugal" (products of the frame's angular velocities, of a part whose
            carrier stands on the axis), "inertia" (accelerations and weight too) or "all".  Loads of the frame have
            no potential: their work is booked with that of loads.  The part must have been reduced with
            ``stiffening`` = the interface that carries it.

    Raises:
        ModelError: the part is held, of another dimension; wrong numbers; a mass and moments that
            do not belong together.
    """

    owner = "Reduced part"

    name: str = key(NAME, 'of the part; its interfaces are the nodes "name:interface"')
    part: ReducedPart | None = key(ANY, "the reduced part", None, file=None)
    file: str | None = key(
        FILE,
        "a reduced part (.h5, .SID_FEM, a folder), or with reduce a model file, a deck (.inp) or a mesh; a relative"
        " path starts at the model file",
        None,
        kw_only=True,
        needed=True,
    )
    reduce: Reduction | None = key(
        Reduction, "how to reduce the part of a model file, a deck or a mesh", None, kw_only=True
    )
    position: Any = key(VECTOR, "of the origin of the part's own axes at the start", None, shows="none", unit="m")
    rotation: Any = key(
        NUMBER_OR_VECTOR, "of these axes: angle, in space axis times angle", None, shows="none", unit="rad"
    )
    modes: int | Sequence[int] | None = key(
        COUNT_OR_COUNTS,
        "how many shapes to keep, or the numbers of those (1 is the lowest)",
        None,
        shows="all",
        kw_only=True,
    )
    cutoff: float | None = key(NUMBER, "keep shapes up to this frequency", None, shows="none", kw_only=True, unit="Hz")
    reference: str = key(TEXT, '"mean" (mean axes), or the interface that moves with the frame', "mean", kw_only=True)
    damping: Any = key(
        RATIOS, "ratio of critical damping of all shapes, or one for each", None, shows="that of the part", kw_only=True
    )
    stiffening: str = key(
        TEXT,
        '"none", "interfaces", "centrifugal", "inertia" or "all": what stresses stiffen; see reduction.md',
        "none",
        kw_only=True,
        choices=("none", "interfaces", "centrifugal", "inertia", "all"),
    )

    def build(self, building: Building) -> None:
        building.new_place("Reduced part", self.name)
        owner = building.label("Reduced part", self.name)
        part = self.part
        if part is None:
            raise ModelError(
                "it has no part", owner=owner, remedy="give one (`fem_mbs.read_part`, `fem_mbs.reduce_part`)"
            )
        dim = building.dimension
        _check_part(building, owner, part)
        approximate = part.moments is None or part.method == "macneal"
        if approximate:
            part = replace(part, moments=moments_of_mass(part))
        start = np.zeros(dim) if self.position is None else building.vector(self.position, owner, "position")
        R: np.ndarray = np.eye(dim)
        given: float | np.ndarray | None = None
        if self.rotation is not None and dim == 2:
            given = building.number(self.rotation, owner, "rotation")
            R = np.array([[np.cos(given), -np.sin(given)], [np.sin(given), np.cos(given)]])
        elif self.rotation is not None:
            given = R = rotation_matrices(building.vector(self.rotation, owner, "rotation"))

        shapes, squares = _chosen_shapes(owner, part, self.reference)
        shapes, squares = _chosen(building, owner, shapes, squares, self.modes, self.cutoff)
        body = part.transformed(shapes, np.zeros((shapes.shape[1], 0)))
        if not np.isfinite(squares).all():  # a shape without mass, whose rounding would give a frequency
            heavy = shapes * np.isfinite(squares)
            body = replace(body, mass=heavy.T @ part.mass @ heavy, moments=part.moments.transformed(heavy))
        n = body.size
        frequencies = np.sqrt(squares) / (2.0 * np.pi)
        D = _damping(owner, body, self.damping)
        if self.damping is None:
            _tell_of_rigid_damping(building, owner, part)
        if self.reference == "mean":
            arm = part.moments.first / part.moments.mass
        else:
            arm = next(i for i in part.interfaces if i.name == self.reference).position - part.origin
        centre = part.origin + arm
        moments = shifted(body.moments, arm)
        _check_mass(owner, body, moments)

        node = _reduced_node(building, self.name, start + R @ centre, True, given)
        first = len(building.scalars)
        scalars = first + np.arange(n)
        building.scalars += [f'mode {k + 1} of "{self.name}"' for k in range(n)]
        loads = _stiffening(owner, body, self.stiffening, arm)
        if self.stiffening in ("centrifugal", "inertia") and part.info.get("stiffening_frame") == "free":
            building.warnings.append(
                f"{owner}: the geometric stiffness of the part is that of a free body, so that "
                f'stiffening = "{self.stiffening}" lacks the forces of what holds or drives it at its interfaces; take '
                'stiffening = "all", or reduce the part with stiffening = the interface that carries it'
            )
        slowest = 0.0 if loads else float(np.sqrt(squares.min()))  # where it matters how fast the part turns
        row = flexible_body.parameters(moments.matrix(), body.stiffness, D, loads, slowest)
        block = building.add_block(self.name, f"flexible_body{dim}_{n}", [[node]], row[2:], mass=row[0], slowest=row[1])
        block.scalars = scalars[None, :]
        nodes = {}
        for interface in part.interfaces:
            nodes[interface.name] = _interface(
                building, self.name, body, interface, node, centre, start, R, given, scalars
            )
            if self.stiffening in ("interfaces", "all"):
                _second_order(building, self.name, body, interface)
        building.warnings += [f"{owner}: {note}" for note in part.info.get("notes", ())]
        building.reduced_parts[self.name] = PlacedPart(
            self.name, body, node, start, R, centre, scalars, frequencies, nodes, self.reference, approximate
        )


@dataclass(frozen=True, eq=False)
class PartLoad(Declaration):
    """Loads that reduced parts have in their own models, on their surface or inside, in motion.

    Apply a load of a reduced part's own model (pressures, tractions, line loads, forces inside), in motion:
    factor * f(t) times what it is per unit of its function there, at its places in the deformed part.

    Args:
        part: a reduced part of this model, reduced with the load in its model.
        load: its name there (``part.load_moments``; loads that shared a function have one name, joined by " + "),
            or several, which then act together.
        follower: forces turn with the part's frame, as pressures do; else they keep the directions that they have
            in the part's placement at the start.  Neither turns with its deformation.  Heat always turns with the part.

    Raises:
        ModelError: no such part or load, a part of a format without loads; a factor that is no number; loads in fixed
            directions that hold heat besides.
    """

    owner = "Part load"

    name: str = key(NAME, "in messages and results", shows='"part load 1", ...')
    part: str = key(TEXT, "name of a reduced part")
    load: str | Sequence[str] = key(
        WORDS, "name of a load in the part's own model or deck, or a list of them, which act together"
    )
    function: Any = key(FUNCTION, "factor on the load of the part per unit of its own function", None, shows="1.0")
    follower: bool = key(FLAG, "its forces turn with the part; false: they keep their directions at the start", True)
    factor: float = key(NUMBER, "times this", 1.0)

    def build(self, building: Building) -> None:
        owner = building.label("Part load", self.name)
        building.find("reduced part", self.part, building.reduced_parts, owner)
        if not isinstance(self.follower, (bool, np.bool_)):
            raise ModelError(
                f"follower = {shown(self.follower)} must be true or false",
                owner=owner,
                key="follower",
                value=self.follower,
            )
        placed = building.reduced_parts[self.part]
        scale = building.number(self.factor, owner, "factor")
        keys = [self.load] if isinstance(self.load, str) else self.load
        if not isinstance(keys, (list, tuple)) or not all(isinstance(key, str) for key in keys):
            raise ModelError(
                f"load = {shown(self.load)} must be the name of a load, or several",
                owner=owner,
                key="load",
                value=self.load,
            )
        if not keys:
            raise ModelError(
                f"load = {shown(self.load)} names no load of the part", owner=owner, key="load", value=self.load
            )
        chosen = [_own_load(owner, self.part, placed.part, key) for key in keys]
        chosen = [moments.shifted(placed.centre - placed.part.origin) for moments in chosen]
        hot = placed.part.info.get("heat", {})
        mixed = [key for key in keys if hot.get(key) is False]
        if mixed and not self.follower:
            raise ModelError(
                f'"{mixed[0]}" is heat, which turns with the part, and other loads, which do not',
                owner=owner,
                key="follower",
                value=False,
                remedy="give the temperature a function of its own in the part's model",
            )
        index = float(building.function_index(self.function, owner, load=True))
        kind = f"flexible_load{building.dimension}_{placed.part.size}"
        for turns in (True, False):
            own = [m for key, m in zip(keys, chosen, strict=True) if (self.follower or key in hot) is turns]
            if not own:
                continue
            row = flexible_load.parameters(
                scale * sum(moments.forces for moments in own), scale * sum(moments.couples for moments in own),
                None if turns else placed.rotation,
            )  # fmt: skip
            block = building.add_block(self.name, kind, [[placed.node]], row[1:], function=index, turning=row[0])
            block.scalars = placed.scalars[None, :]
        recovery = placed.part.recovery
        if recovery is not None and recovery.stress is not None and "heat" not in placed.part.info:
            building.warnings.append(
                f'{owner}: part "{self.part}" is of an older version, which did not tell heat from other loads: its '
                "stresses lack what heat strains without stress; reduce it again"
            )
        heat = () if recovery is None else recovery.heat
        if any(key in heat for key in keys):
            placed.heat[self.name] = scale * sum(heat[key] for key in keys if key in heat)


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
