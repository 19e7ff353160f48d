"""Solids of a deck: their materials and parts, volumes and masses."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.decks.abaqus.materials import density_of, expansion_of, material_of, stiffness_matrix
from fem_mbs.decks.abaqus.model import Conversion, Group, axes_at
from fem_mbs.elements.solids import shapes
from fem_mbs.errors import MeshError, ModelError
from fem_mbs.meshes.abaqus.reader import element_place
from fem_mbs.meshes.vocabulary import Effect

__all__ = [
    "kinetic_energies",
    "make_solids",
    "mass_kind",
    "nodal_areas",
    "nodal_arms",
    "nodal_volumes",
    "thickness",
    "volumes",
]


#: Degrees between the axes at the nodes and in the middle of an element from which on a note names them: products of
#: its stiffness differ by less than the square of the sine, .8 %, below.
_SMALL_TURN = 5.0


def make_solids(conv: Conversion) -> None:
    """Create the solid parts of the model.

    Raises:
        ModelError: materials that cannot be used, cells that are flat or inside out (with the line of the element).
    """
    model = conv.model
    for i, group in enumerate(conv.groups):
        if group.kind != "solid":
            continue
        section = group.section
        material = material_of(conv, section.material, section.where)
        _check_cells(conv, group)
        _note_turning_axes(conv, group)
        if material.name not in model.solid_materials:
            expansion = expansion_of(conv, material) or (0.0,)
            if len(expansion) == 6:  # 11, 22, 33, 12, 13, 23
                expansion = tuple(expansion[k] for k in (0, 1, 2, 3, 5, 4))
            model.solid_material(
                material.name, stiffness=stiffness_matrix(conv, material), density=density_of(conv, material),
                expansion=expansion[0] if len(expansion) == 1 else expansion,
            )  # fmt: skip
        alpha, beta = material.damping
        options: dict[str, Any] = {
            "element": group.element, "orientation": group.axes, "damping": beta, "mass_damping": alpha,
            "mass": mass_kind(conv, group),
        }  # fmt: skip
        if not group.state:
            model.solids(group.name, f"deck:part {i + 1}", material.name, **options)
            continue
        if group.state != "axisymmetric":
            options["thickness"] = thickness(group)
        model.planes(group.name, f"deck:part {i + 1}", material.name, state=group.state, **options)


def _note_turning_axes(conv: Conversion, group: Group) -> None:
    """Note a material whose cylindrical axes turn within the elements, which have those of their middle."""
    material = material_of(conv, group.section.material, group.section.where)
    orientation = conv.deck.orientations.get(group.section.orientation or "")
    plain = material.elastic is not None and material.elastic.kind == "isotropic"
    if (
        orientation is None
        or orientation.system != "cylindrical"
        or (plain and len(expansion_of(conv, material) or ()) < 2)
    ):
        return
    count = group.nodes.shape[1]
    there = axes_at(orientation, conv.deck.x[group.nodes.ravel()], np.repeat(group.ids, count)).reshape(-1, count, 3, 3)
    cosine = (np.einsum("enij,eij->en", there, group.axes) - 1.0) / 2.0
    turn = float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))).max())
    if turn > _SMALL_TURN:
        conv.note(
            f"{orientation.where}: elements of {group.name} have the axes {orientation.name} of their middle, "
            f"which turn by up to {turn:.0f} degrees to their nodes; CalculiX takes those of each integration point",
            Effect.DIFFERS,
        )


def mass_kind(conv: Conversion, group: Group) -> str:
    """Return mass of a part: integrated as CalculiX does, with the points of the stiffness.  Where they are fewer than
    the nodes, the matrix may be singular, which only steps in time would mind."""
    massive = [step for step in conv.deck.steps if step.procedure in ("DYNAMIC", "FREQUENCY", "COMPLEX FREQUENCY")]
    dynamic = any(step.procedure == "DYNAMIC" for step in massive)
    if dynamic and all(step.explicit for step in massive):
        return "lumped"
    if group.element == "incompatible" and not dynamic:
        return "incompatible"
    points, _ = shapes.rule(group.cell, group.rule)
    return "consistent" if dynamic and len(points) < shapes.n_nodes(group.cell) else "reduced"


def thickness(group: Group) -> float:
    """Return the thickness of plane elements: as given, or 1."""
    return 1.0 if group.section.value is None else float(group.section.value)


def _measure(group: Group, X: np.ndarray, points, weights) -> np.ndarray:
    """Return volumes (n, q) of the integration points of elements with nodes at X (n, k, 3)."""
    if not group.state:
        return np.linalg.det(shapes.jacobians(group.cell, X, points)) * weights
    area = np.linalg.det(shapes.jacobians(group.cell, X[..., :2], points)) * weights
    if group.state == "axisymmetric":
        return area * 2.0 * np.pi * (X[:, :, 0] @ shapes.shape_functions(group.cell, points).T)
    return area * thickness(group)


def _check_cells(conv: Conversion, group: Group) -> None:
    X = conv.deck.x[group.nodes][..., : 2 if group.state else 3]
    try:
        shapes.check_cells(group.cell, X, group.type, group.ids, group.rule)
    except ModelError as error:
        worst = int(np.argmin(shapes.smallest_jacobian(group.cell, X, group.rule)))
        number = int(group.ids[worst]) if error.key != "cell" else int(error.value)
        try:
            place = element_place(conv.deck.source, number)
        except MeshError:
            place = group.section.where
        raise ModelError(f"{error}", place=place) from None


def volumes(group: Group, x: np.ndarray) -> np.ndarray:
    """Return volumes (n,) of solids with nodes at x (n, k, 3), with their own integration points."""
    return _measure(group, x, *shapes.rule(group.cell, group.rule)).sum(axis=1)


def kinetic_energies(conv: Conversion, group: Group, velocity: np.ndarray, density: float) -> np.ndarray | None:
    """Return kinetic energies (n,) of solids by the velocities (nodes, 3), with their masses; None if these are not
    integrals of the shape functions."""
    kind = mass_kind(conv, group)
    if kind not in ("reduced", "consistent"):
        return None
    points, weights = shapes.rule(group.cell, group.rule) if kind == "reduced" else shapes.exact_rule(group.cell)
    v = np.einsum("qk,eki->eqi", shapes.shape_functions(group.cell, points), velocity[group.nodes])
    return 0.5 * density * np.einsum("eq,eqi,eqi->e", _measure(group, conv.deck.x[group.nodes], points, weights), v, v)


def nodal_volumes(group: Group, rows: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return shares (m, k) of the nodes in the volumes of solids ``rows`` (m,), of all nodes at x (nodes, 3): the
    integrals of their shape functions, with the points of the stiffness, as in CalculiX."""
    points, weights = shapes.rule(group.cell, group.rule)
    X = x[group.nodes[rows]]
    return _measure(group, X, points, weights) @ shapes.shape_functions(group.cell, points)


def nodal_arms(group: Group, rows: np.ndarray, x: np.ndarray, point: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Return integrals (m, k, 3) of the shape functions times the distance vector from an axis through ``point`` along
    the unit vector ``axis``, as `nodal_volumes`."""
    points, weights = shapes.rule(group.cell, group.rule)
    X = x[group.nodes[rows]]
    N = shapes.shape_functions(group.cell, points)
    arm = np.einsum("qk,mki->mqi", N, X) - point
    arm -= (arm @ axis)[..., None] * axis
    return np.einsum("mq,qk,mqi->mki", _measure(group, X, points, weights), N, arm)


def nodal_areas(group: Group, rows: np.ndarray, faces: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return shares (nodes,) of all nodes, at x (nodes, 3), in the area of faces: local ``faces`` (m,), from 0, of the
    solids ``rows`` (m,), in the length of edges of plane elements.

    A share is the integral of the node's shape function.  It vanishes at the corners of flat triangles with six nodes,
    and is negative at the corners of quadrilaterals with eight.
    """
    total = np.zeros(len(x))
    for face in np.unique(faces):
        kind, local = shapes.FACES[group.cell][face]
        nodes = group.nodes[rows[faces == face]][:, list(local)]
        points, weights = shapes.exact_rule(kind)
        J = shapes.jacobians(kind, x[nodes], points)
        size = J[..., 0] if group.state else np.cross(J[..., 0], J[..., 1])
        area = np.linalg.norm(size, axis=-1) * weights
        np.add.at(total, nodes.ravel(), (area @ shapes.shape_functions(kind, points)).ravel())
    return total
