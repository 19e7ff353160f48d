"""Shells of a deck: sections, material directions, parts of the model, loads on their surfaces."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from fem_mbs.decks.abaqus.materials import constants, density_of, expansion_of, material_of, stiffness_matrix
from fem_mbs.decks.abaqus.model import Conversion, Group, axes_at
from fem_mbs.elements.shells.mass import surface_shares
from fem_mbs.elements.shells.surface import normals
from fem_mbs.elements.solids.material import orthotropic
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.abaqus.deck import Material, ShellSection
from fem_mbs.meshes.vocabulary import Effect

__all__ = [
    "edge_lengths", "edge_number", "make_shells", "section_axes", "shell_areas", "shell_mass_per_area", "shell_middle",
    "shell_normals", "shell_thickness",
]  # fmt: skip

#: Of the mean thickness of an element: a larger change has a note.
_UNEVEN = 0.4


def make_shells(conv: Conversion) -> None:
    """Create the shells of the model.

    Raises:
        ModelError: sections, orientations and materials that have no counterpart, with their line.
    """
    for i, group in enumerate(conv.groups):
        if group.kind == "shell":
            _shell(conv, group, f"deck:part {i + 1}")


def _shell(conv: Conversion, group: Group, on: str) -> None:
    section: ShellSection = group.section
    if any(np.isin(n.elements, group.ids).any() for n in conv.deck.normals):
        where = next(n.where for n in conv.deck.normals if np.isin(n.elements, group.ids).any())
        conv.note(f"{where}: *NORMAL is not used for shells; their normals follow from the nodes")
    if section.stiffness is not None:
        _of_stiffness(conv, group, on)
        return
    materials = [material_of(conv, name, section.where) for name in _materials(section)]
    names = [_material(conv, material, section.where) for material in materials]
    thickness = shell_thickness(conv, group)
    content: dict = {"material": names[0], "thickness": thickness}
    if section.layers:
        turned = next((layer for layer in section.layers if layer.orientation is not None), None)
        if turned is not None:
            raise UnsupportedError(
                f"the orientation {turned.orientation} of a layer is not supported", place=section.where,
                remedy="give its angle about the normal, and ORIENTATION of the section",
            )  # fmt: skip
        layers = zip(section.layers, names, strict=True)
        content = {"layers": [{"material": n, "thickness": s.thickness, "angle": s.angle} for s, n in layers]}
    if section.offset and not conv.deck.of_abaqus:
        conv.note(
            f"{section.where}: forces and supports of shells with OFFSET act on the surface of the nodes, as in Abaqus "
            "(CalculiX lets them act in the middle of the thickness)", Effect.DIFFERS,
        )  # fmt: skip
    damping = {m.damping for m in materials}
    if len(damping) > 1:
        raise UnsupportedError("layers with different *DAMPING are not supported", place=section.where)
    alpha, beta = damping.pop()
    conv.model.shells(
        group.name, on, **content, offset=-section.offset * thickness.mean(axis=1),
        orientation=_first_axes(conv, group), damping=beta, mass_damping=alpha,
        element="membrane" if group.element == "membrane" else "standard",
        shear_correction=_correction(conv, section, materials),
    )  # fmt: skip


def _correction(conv: Conversion, section: ShellSection, materials: list[Material]) -> list[float] | None:
    """Return shear correction factors by which shells of one material have their *TRANSVERSE SHEAR STIFFNESS."""
    if section.shear is None:
        return None
    made = conv.model.solid_materials[_material(conv, materials[0], section.where)]
    moduli = np.linalg.inv(np.linalg.inv(made.stiffness)[4:, 4:])[[1, 0], [1, 0]]  # yz, zx
    return [k / (G * section.thickness) for k, G in zip(section.shear, moduli.tolist(), strict=True)]


def equivalent_layers(stiffness: np.ndarray) -> tuple[float, float, list[np.ndarray]]:
    """Return thickness of the core and of the whole, and plane stiffness (3, 3) of three layers from the bottom, which
    have a stiffness (6, 6) of forces and moments against strains and curvatures.

    Layers of thickness (h - c)/2, c, (h - c)/2 with stiffness P - Q, C, P + Q have

        A = (h - c) P + c C      B = (h^2 - c^2)/4 Q      D = (h^3 - c^3)/12 P + c^3/12 C

    P is positive with c^2 below 12 times the least eigenvalue of D against A, C with h (h + c) + c^2 above 12 times the
    largest one.

    Raises:
        ValueError: coupling B so large that a layer would have no positive stiffness.
    """
    A, B, D = stiffness[:3, :3], stiffness[:3, 3:], stiffness[3:, 3:]
    square = eigh(D, A, eigvals_only=True)
    c = float(np.sqrt(6.0 * square[0]))
    h = float(0.5 * (np.sqrt(c * c + 4.0 * 18.0 * square[-1]) - c))
    P = 12.0 * (D - c * c / 12.0 * A) / (h * (h * h - c * c))
    core, Q = (A - (h - c) * P) / c, 4.0 * B / (h * h - c * c)
    layers = [P - Q, core, P + Q]
    if min(np.linalg.eigvalsh(0.5 * (layer + layer.T))[0] for layer in layers) <= 0.0:
        raise ValueError("the coupling of strains and curvatures is too large")
    return c, h, [0.5 * (layer + layer.T) for layer in layers]


def _of_stiffness(conv: Conversion, group: Group, on: str) -> None:
    """Create shells whose section gives their stiffness, as layers that have it."""
    section: ShellSection = group.section
    assert section.stiffness is not None
    try:
        core, whole, planes = equivalent_layers(section.stiffness)
    except ValueError as error:
        raise UnsupportedError(f"shells with this stiffness are not supported: {error}", place=section.where,
                               remedy="give them COMPOSITE with layers") from None  # fmt: skip
    A = section.stiffness
    # without *TRANSVERSE SHEAR STIFFNESS as Abaqus estimates it
    shear = section.shear or (((A[0, 0] + A[1, 1]) / 6.0 + A[2, 2] / 3.0),) * 2
    layers = []
    for k, (plane, t) in enumerate(zip(planes, (0.5 * (whole - core), core, 0.5 * (whole - core)), strict=True), 1):
        C = np.zeros((6, 6))
        C[np.ix_((0, 1, 3), (0, 1, 3))] = plane
        C[2, 2] = plane[0, 0]
        C[4, 4], C[5, 5] = shear[1] / whole, shear[0] / whole  # yz, zx
        name = f"{group.name} layer {k}"
        conv.model.solid_material(name, stiffness=C, density=section.density / whole)
        layers.append({"material": name, "thickness": t, "angle": 0.0})
    conv.note(
        f"{section.where}: stresses of these shells, whose section has no material, are those of three layers with its "
        "stiffness", Effect.NONE,
    )  # fmt: skip
    conv.model.shells(group.name, on, layers=layers, orientation=_first_axes(conv, group), shear_correction=1.0)


def shell_thickness(conv: Conversion, group: Group) -> np.ndarray:
    """Return the thickness (n, k) of shells at their nodes: those of the nodes, elsewhere that of the section.

    Raises:
        ModelError: a node without; UnsupportedError: layers or an offset with thicknesses that vary in an element.
    """
    section: ShellSection = group.section
    h = np.full(group.nodes.shape, section.thickness, float)
    if not section.nodal:
        return h
    of_node = np.full(len(conv.deck.node_ids), np.nan)
    ids = np.fromiter(conv.deck.nodal_thickness, int)
    of_node[conv.nodes(ids)] = [values[0] for values in conv.deck.nodal_thickness.values()]
    given = of_node[group.nodes]
    h = np.where(np.isfinite(given), given, h)
    if not (h > 0.0).all():
        node = conv.name_of(int(group.nodes.ravel()[np.argmin(h)]))
        raise ModelError(f"node {node} of the shells has no positive thickness", place=section.where,
                         remedy="give it in *NODAL THICKNESS, or in the section")  # fmt: skip
    varies = float(np.ptp(h, axis=1).max()) > 1e-12 * float(h.max())
    if section.layers or (section.offset and varies):
        what = "layers" if section.layers else "OFFSET"
        raise UnsupportedError(f"NODAL THICKNESS with {what} is not supported", place=section.where,
                               remedy="give sections of one thickness each")  # fmt: skip
    if float((np.ptp(h, axis=1) / h.mean(axis=1)).max()) > _UNEVEN:
        worst = int((np.ptp(h, axis=1) / h.mean(axis=1)).argmax())
        conv.note(
            f"{section.where}: the thickness of shell {conv.deck.element_name(group.ids[worst])} goes from "
            f"{h[worst].min():g} to {h[worst].max():g}; its stiffness goes with the cube, for which the mesh is coarse "
            "(CalculiX's solids are softer there)",
            Effect.DIFFERS,
        )
    return h


def _materials(section: ShellSection) -> list[str | None]:
    return [layer.material for layer in section.layers] or [section.material]


def _material(conv: Conversion, material: Material, where: str) -> str:
    """Return the name of the material in the model; lamina get their stiffness in the plane and across."""
    assert material.elastic is not None  # `material_of` refuses such a material
    lamina = material.elastic.kind == "lamina"
    name = f"{material.name} (lamina)" if lamina else material.name
    if name in conv.model.solid_materials:
        return name
    if lamina:
        table = material.elastic
        E1, E2, nu12, G12, G13, G23 = constants(conv, material, table.constants, table.temperature, "the elasticity")
        try:
            C = orthotropic((E1, E2, E2), (nu12, 0.0, 0.0), (G12, G13, G23))
        except ValueError as error:
            raise ModelError(f"material {material.name}: {error}", place=material.where) from None
    else:
        C = stiffness_matrix(conv, material)
    expansion = expansion_of(conv, material) or (0.0,)
    if len(expansion) == 6:  # 11, 22, 33, 12, 13, 23
        expansion = tuple(expansion[k] for k in (0, 1, 2, 3, 5, 4))
    conv.model.solid_material(
        name, stiffness=C, density=density_of(conv, material),
        expansion=expansion[0] if len(expansion) == 1 else expansion,
    )  # fmt: skip
    return name


def _first_axes(conv: Conversion, group: Group) -> np.ndarray:
    """Return first axes (n, 3) of the elements: the x axis along the surface, z where that is the normal; those of an
    orientation about its axis that is the normal, in cyclic order the next one."""
    X = conv.deck.x[group.nodes]
    middle, normal = X.mean(axis=1), shell_normals(group, np.arange(len(X)), conv.deck.x)
    name = group.section.orientation
    if name is None:
        along_x = np.abs(normal[:, 0]) > np.cos(np.radians(0.1))
        return np.where(along_x[:, None], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    given = conv.orientation(name)
    if not given.axis:
        raise UnsupportedError(
            f"the orientation {name} of a shell does not say which of its axes is the normal", place=given.where,
            remedy="add a second line with axis and angle, for example 3, 0.",
        )  # fmt: skip
    if given.axis != 3 and not conv.deck.of_abaqus:
        conv.note(
            f"{given.where}: axis {given.axis} of the orientation {name} is the normal of shells and the next one "
            "their first, as in Abaqus; CalculiX takes 1, 2 and 3 for those of the material", Effect.DIFFERS,
        )  # fmt: skip
    axes = axes_at(given, middle, group.ids)  # turned before they are laid on the surface
    first = axes[:, given.axis % 3]
    first = first - np.einsum("ei,ei->e", first, normal)[:, None] * normal
    size = np.linalg.norm(first, axis=1)
    if (size < 1e-6).any():
        element = conv.deck.element_name(group.ids[int(size.argmin())])
        raise ModelError(
            f"the first axis of the orientation {name} is normal to shell {element}", place=given.where,
            remedy="give another axis in its second line",
        )  # fmt: skip
    return first / size[:, None]


def section_axes(conv: Conversion, group: Group) -> np.ndarray:
    """Return axes (n, 3, 3) of the elements in rows: the first one laid on the surface, the second, the normal."""
    normal = shell_normals(group, np.arange(len(group.ids)), conv.deck.x)
    first = np.broadcast_to(_first_axes(conv, group), normal.shape)
    first = first - np.einsum("ei,ei->e", first, normal)[:, None] * normal
    first = first / np.linalg.norm(first, axis=1)[:, None]
    return np.stack((first, np.cross(normal, first), normal), axis=1)


# --- loads -----------------------------------------------------------------------------------------------------------
def shell_areas(group: Group, rows: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return shares (m, k) of the nodes in the areas of shells ``rows`` (m,), of all nodes at x (nodes, 3)."""
    return surface_shares(x[group.nodes[rows]]).sum(axis=2)


def shell_normals(group: Group, rows: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return mean unit normals (m, 3) of shells ``rows`` (m,), of all nodes at x (nodes, 3)."""
    normal = normals(x[group.nodes[rows]]).mean(axis=1)
    return normal / np.linalg.norm(normal, axis=1)[:, None]


def edge_number(side: str) -> int:
    """Return the number (from 0) of an edge of shells, which CalculiX calls S3, S4 and so on."""
    return int(side[1:]) - (1 if side.startswith("E") else 3)


def edge_lengths(group: Group, rows: np.ndarray, edge: int, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes (m, k) of an edge (from 0) of shells ``rows`` (m,), and their shares (m, k) in its length: the
    integrals of the shape functions, of all nodes at x (nodes, 3)."""
    corners = 3 if group.cell.startswith("triangle") else 4
    local = [edge, (edge + 1) % corners]
    if group.cell in ("triangle6", "quad8"):
        local.append(corners + edge)
    nodes = group.nodes[rows][:, local]
    points, weights = np.polynomial.legendre.leggauss(3)
    r = points[:, None]
    if len(local) == 2:
        N, slope = np.hstack((0.5 * (1.0 - r), 0.5 * (1.0 + r))), np.tile([-0.5, 0.5], (3, 1))
    else:
        N, slope = (
            np.hstack((0.5 * r * (r - 1.0), 0.5 * r * (r + 1.0), 1.0 - r**2)),
            np.hstack((r - 0.5, r + 0.5, -2.0 * r)),
        )
    length = np.linalg.norm(np.einsum("qk,mkj->mqj", slope, x[nodes]), axis=2) * weights
    return nodes, length @ N


def shell_middle(group: Group, rows: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return vectors (m, k, 3) from the nodes of shells ``rows`` (m,) to the middle of the thickness."""
    return -group.section.offset * group.section.thickness * normals(x[group.nodes[rows]])


def shell_mass_per_area(conv: Conversion, group: Group) -> float:
    """Return mass per area of a section."""
    section: ShellSection = group.section
    if section.stiffness is not None:
        return section.density
    parts = [layer.thickness for layer in section.layers] or [section.thickness]
    names = _materials(section)
    return sum(t * density_of(conv, material_of(conv, n, section.where)) for t, n in zip(parts, names, strict=True))
