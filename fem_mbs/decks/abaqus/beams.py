"""Beams and trusses of a deck: sections, directions, parts of the model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fem_mbs.decks.abaqus.materials import constants, density_of, material_of
from fem_mbs.decks.abaqus.model import Conversion, Group
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.late import dataclass
from fem_mbs.meshes.abaqus.deck import BeamSection, Material
from fem_mbs.meshes.vocabulary import Effect
from fem_mbs.properties.sections import SectionStiffness, make_section

__all__ = ["Beyond", "beam_section", "beyond", "directions", "make_lines", "rigidity", "torsion_excess"]


def make_lines(conv: Conversion) -> None:
    """Create beams and trusses of the model.

    Raises:
        ModelError: sections and materials that have no counterpart, with their line.
    """
    for i, group in enumerate(conv.groups):
        if group.kind == "beam":
            _beams(conv, group, f"deck:part {i + 1}")
        elif group.kind == "truss":
            _trusses(conv, group, f"deck:part {i + 1}")


def _isotropic(conv: Conversion, material: Material, where: str) -> tuple[float, float]:
    assert material.elastic is not None  # `material_of` refuses such a material
    if material.elastic.kind != "isotropic":
        raise ModelError("beams and trusses need an isotropic material", place=where, remedy=f"{material.name} is not")
    E, nu = constants(conv, material, material.elastic.constants, material.elastic.temperature, "the elasticity")
    return float(E), float(nu)


def _line_material(conv: Conversion, material: Material, where: str) -> str:
    E, nu = _isotropic(conv, material, where)
    name = f"{material.name} (lines)"
    conv.places[name] = material.where
    if name not in conv.model.materials:
        density = density_of(conv, material)
        conv.model.material(name, E=E, nu=nu, density=density)
    return name


def _trusses(conv: Conversion, group: Group, on: str) -> None:
    section = group.section
    if section.value is None or not section.value > 0.0:
        raise ModelError(
            "trusses need their area", place=section.where, remedy="give it in the line after *SOLID SECTION"
        )
    material = _line_material(conv, material_of(conv, section.material, section.where), section.where)
    conv.model.section(f"section of {group.name}", "general", A=section.value)
    conv.model.trusses(group.name, on, f"section of {group.name}", material, mass="consistent", strain="green")


_SHAPES = {
    # width is along z (local 2), height along y (local 1)
    "RECT": lambda d: ("rectangle", {"height": d[0], "width": d[1]}),
    "CIRC": lambda d: ("circle", {"diameter": d[0]}),
    "PIPE": lambda d: ("tube", {"outer_diameter": 2.0 * d[0], "thickness": d[1]}),
}


def _of_constants(section: BeamSection) -> tuple[Any, dict[str, Any], np.ndarray]:
    """Return a section of a shape with moduli of its own in place of a material, as `beam_section`."""
    assert section.general is not None
    E, G = section.general[:2]
    rho = section.density or 0.0
    shape, dimensions, thick = beam_section(replace(section, general=None))
    found = make_section(section.elset, shape, **dimensions)
    nu = float(np.clip(0.5 * E / G - 1.0, 0.0, 0.5))  # for the coefficients of shear
    values = {
        "EA": E * found.A, "EIy": E * found.Iy, "EIz": E * found.Iz, "GJ": G * found.J, "rhoA": rho * found.A,
        "rhoIy": rho * found.Iy, "rhoIz": rho * found.Iz, "GAy": found.shear_coefficient_y(nu) * G * found.A,
        "GAz": found.shear_coefficient_z(nu) * G * found.A,
    }  # fmt: skip
    if found.rotate:
        values["rotate"] = found.rotate
    return "stiffness", values, thick


def beam_section(section: BeamSection) -> tuple[Any, dict[str, Any], np.ndarray]:
    """Return shape and dimensions for `Model.section`, and thicknesses (2,) along the local directions 1 and 2.

    Raises:
        ModelError: a shape, or dimensions, that have no counterpart.
    """
    d = np.asarray(section.dimensions, float)
    where, shape = section.where, section.shape
    if section.general is not None and shape != "GENERAL":
        return _of_constants(section)
    if section.general is not None:
        E, G = section.general[:2]
        A, I11, I12, I22, J = d[:5]
        if I12:
            raise UnsupportedError(
                f"a general section with I12 = {I12:g} is not supported", place=where, remedy="use principal axes"
            )
        rho = (section.density or 0.0) * A
        # I11 is for bending about the local direction 1, which is y here
        values = {"EA": E * A, "EIy": E * I11, "EIz": E * I22, "GJ": G * J, "rhoA": rho}
        return "stiffness", values, np.zeros(2)
    if shape in ("RECT", "CIRC", "PIPE"):
        need = 1 if shape == "CIRC" else 2
        if len(d) < need or not (d[:need] > 0.0).all():
            raise ModelError(f"a section {shape} needs {need} positive dimension{'s' * (need > 1)}", place=where)
        if shape == "CIRC" and len(d) > 1 and d[1] and d[1] != d[0]:
            raise UnsupportedError(
                "an elliptic section is not supported", place=where, remedy="give *BEAM SECTION, SECTION=GENERAL"
            )
        kind, values = _SHAPES[shape](d)
        thick = d[:2] if shape == "RECT" else np.full(2, d[0] if shape == "CIRC" else 2.0 * d[0])
        return kind, values, thick
    if shape == "BOX" and len(d) >= 6:
        a, b, t1, t2, t3, t4 = d[:6]
        if t1 != t3 or t2 != t4:
            raise UnsupportedError(
                f"a box with different walls {t1:g}, {t3:g} or {t2:g}, {t4:g} is not supported", place=where
            )
        # a along 1 (height), b along 2 (width); t1 and t3 are the walls at the ends of direction 1
        return "box", {"height": a, "width": b, "web_thickness": t2, "flange_thickness": t1}, np.array([a, b])
    if shape == "I" and len(d) >= 7:
        low, h, b1, b2, t1, t2, t3 = d[:7]
        if b1 != b2 or t1 != t2 or abs(low - 0.5 * h) > 1e-9 * h:
            raise ModelError(
                "an I section is supported with equal flanges and the axis at half its height", place=where
            )
        values = {"height": h, "width": b1, "flange_thickness": t1, "web_thickness": t3, "rotate": 90.0}
        return "I", values, np.array([b1, h])
    if shape == "GENERAL" and len(d) >= 4:
        A, I11, I12, I22 = d[:4]
        if I12:
            raise UnsupportedError(
                f"a general section with I12 = {I12:g} is not supported", place=where, remedy="use principal axes"
            )
        k = d[4] if len(d) > 4 and d[4] else 5.0 / 6.0
        return "general", {"A": A, "Iy": I11, "Iz": I22, "J": I11 + I22, "k": k}, np.zeros(2)
    raise UnsupportedError(
        f"the beam section {shape} is not supported", place=where, remedy="known are RECT, CIRC, PIPE, BOX, I, GENERAL"
    )


def directions(conv: Conversion, group: Group) -> np.ndarray:
    """Return local direction 1 (m, 3), normal to the line cells (m, 2) of beams, unit vectors.

    Raises:
        ModelError: a beam along its direction 1.
    """
    section = group.section
    given = section.n1 is not None
    n1 = np.asarray(section.n1, float) if given else np.array([0.0, 0.0, -1.0])
    x = conv.deck.x[group.lines]
    t = x[:, 1] - x[:, 0]
    t = t / np.linalg.norm(t, axis=1)[:, None]
    across = n1 - (t @ n1)[:, None] * t
    size = np.linalg.norm(across, axis=1)
    if (size <= 1e-6 * np.linalg.norm(n1)).any():
        element = group.ids[int(np.argmin(size)) // (len(group.lines) // len(group.ids))]
        told = "the default (0, 0, -1)" if not given else str(tuple(n1.tolist()))
        raise ModelError(
            f"direction 1 of beam {conv.deck.element_name(element)}, {told}, lies along the beam",
            place=section.where,
            remedy="give another one in the last line of *BEAM SECTION",
        )
    return across / size[:, None]


def _beams(conv: Conversion, group: Group, on: str) -> None:
    section, deck = group.section, conv.deck
    if section.nodal:
        raise UnsupportedError(
            "NODAL THICKNESS of beams is not supported", place=section.where, remedy="give the section's dimensions"
        )
    if section.orientation is not None:
        raise UnsupportedError(
            "ORIENTATION of a beam section is not supported", place=section.where, remedy="give direction 1"
        )
    hit = [n for n in deck.normals if np.isin(n.elements, group.ids).any()]
    if hit:
        conv.note(f"{hit[0].where}: *NORMAL is not used for beams; direction 1 of the section is")
    shape, values, thickness = beam_section(section)
    if shape == "circle" and not deck.of_abaqus:
        conv.note(
            f"{section.where}: SECTION=CIRC with {values['diameter']:g} is a circle of this diameter, as in CalculiX "
            "(Abaqus gives its radius)",
            Effect.DIFFERS,
        )
    thin = group.type[-1] == "3"  # without shear
    if section.general is not None and section.shape != "GENERAL":
        values = {key: value for key, value in values.items() if not (thin and key in ("GAy", "GAz"))}
    elif section.general is not None and not thin:  # the shear factor of these sections is 1
        values["GA"] = section.general[1] * float(section.dimensions[0])
    name = f"section of {group.name}"
    conv.model.section(name, shape, **values)
    material = None
    if section.general is None:
        material = _line_material(conv, material_of(conv, section.material, section.where), section.where)
    directions(conv, group)
    n1 = np.asarray(section.n1, float) if section.n1 is not None else np.array([0.0, 0.0, -1.0])
    # the deck gives the place of the nodes' line in the section, the model that of the axis from the nodes
    offset = -np.array([0.0, section.offsets[0] * thickness[0], section.offsets[1] * thickness[1]])
    if offset.any():
        conv.note(
            f"{section.where}: forces and supports of beams with OFFSET1, OFFSET2 act on the line of the nodes "
            "(CalculiX lets them act in the middle of the sections, but for nodes where sections meet)", Effect.DIFFERS,
        )  # fmt: skip
    conv.model.beams(
        group.name, on, name, material, orientation=n1, offset=offset if offset.any() else None, second_order=True
    )


# --- what CalculiX's beams do otherwise ------------------------------------------------------------------------------
@dataclass(frozen=True)
class Beyond:
    """Large strains of beams after a step, where CalculiX's solids follow another law or lock.

    Attributes:
        strain: the largest one of an axis and of bending.
        bent: the largest angle by which one element bends [rad].
        stiffer: part by which displacements of CalculiX are smaller therefore, of the displacements.
        why: the reason.
    """

    strain: float
    bent: float
    stiffer: float
    why: str


def rigidity(conv: Conversion, group: Group) -> tuple[float, float, float]:
    """Return EA, and EI about the local directions 1 and 2 of beams."""
    section = group.section
    shape, values, _ = beam_section(section)
    made = make_section(group.name, shape, **values)
    if isinstance(made, SectionStiffness):
        return made.EA, made.EIy, made.EIz
    E, _ = _isotropic(conv, material_of(conv, section.material, section.where), section.where)
    return E * made.A, E * made.Iy, E * made.Iz


def beyond(conv: Conversion, group: Group, force: np.ndarray, moments: np.ndarray) -> Beyond:
    """Return how far strains of beams go beyond those in which CalculiX's solids and beams agree.

    The stress of its solids is linear in Green's strain e + e^2/2, of which the force is 1 + 3/2 e times that of a law
    linear in e. A B32 without R integrates strains e = k^2 s^2/2 of its curvature k, which its displacements, quadratic
    in s, cannot follow: with its length L this energy is the part EA k^2 L^4/(720 EI) of that of bending.

    Args:
        force: axial force (m,) of line cells.
        moments: bending moments (m, 2) about the local directions 1 and 2.
    """
    EA, *EI = rigidity(conv, group)
    x = conv.deck.x[group.nodes]
    length = np.linalg.norm(x[:, -1] - x[:, 0], axis=1)
    per = len(group.lines) // len(group.ids)
    curvature = np.abs(moments).reshape(len(length), per, 2).max(axis=1) / np.array(EI)
    thickness = np.sqrt(12.0 * np.array(EI) / EA)[::-1]  # of a rectangle; about 1 it bends along 2
    axial = np.abs(force).reshape(len(length), per).max(axis=1) / EA
    strain = float((axial[:, None] + 0.5 * curvature * thickness).max(initial=0.0))
    bent = float((curvature * length[:, None]).max(initial=0.0))
    stiffer, why = 1.5 * strain, "its stress is linear in strains of Green"
    if group.type in ("B32", "PIPE32"):
        ratio = float((EA * curvature**2 * length[:, None] ** 4 / (720.0 * np.array(EI))).max(initial=0.0))
        locked = _bent_part(ratio)
        if locked > stiffer:
            stiffer, why = locked, f"its {group.type} locks as it bends; {group.type}R does not"
    return Beyond(strain, bent, stiffer, why)


def _bent_part(ratio: float) -> float:
    """Return the part of bending that locking takes away: 1 - x with x + 2 ratio x^3 = 1."""
    x = 1.0
    for _ in range(50):
        x -= (x + 2.0 * ratio * x**3 - 1.0) / (1.0 + 6.0 * ratio * x**2)
    return 1.0 - x


def torsion_excess(conv: Conversion, group: Group) -> float:
    """Return the part by which CalculiX's beams are too stiff in torsion, 0 where that is not known.

    The sections of its solids warp bilinearly: J = 4 I1 I2/(I1 + I2).
    """
    shape, values, _ = beam_section(group.section)
    made = make_section(group.name, shape, **values)
    if isinstance(made, SectionStiffness) or not made.J > 0.0:
        return 0.0
    return max(4.0 * made.Iy * made.Iz / (made.Iy + made.Iz) / made.J - 1.0, 0.0)
