"""Declarations of parameters, materials, cross-sections and functions of time."""

from __future__ import annotations

from collections import ChainMap
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import (
    ANY,
    ANY_TEXT,
    FILE,
    FLAG,
    FUNCTION,
    MATRIX,
    NAME,
    NUMBER,
    NUMBER_OR_INF,
    NUMBER_OR_SEVERAL,
    NUMBERS_OR_TEXT,
    SECTION_TABLE,
    SECTION_TABLES,
    STIFFNESS,
    TEXT,
    VECTOR,
)  # fmt: skip
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.columns import read_columns
from fem_mbs.functions.kinds import make_function
from fem_mbs.functions.parameters import check_parameter_name
from fem_mbs.late import dataclass, late
from fem_mbs.model.building import Building
from fem_mbs.properties.materials import Material
from fem_mbs.properties.sections import computed_section, make_section
from fem_mbs.properties.shapes import COMPUTED_SHAPES, SECTION_SHAPES
from fem_mbs.properties.solids import make_solid_material
from fem_mbs.properties.stations import section_table

__all__ = ["CrossSection", "LinearMaterial", "NamedFunction", "NamedParameter"]

_read_computed = late("fem_mbs.properties.computed_sections:read_computed")


@dataclass(frozen=True, eq=False)
class NamedParameter(Declaration):
    """Named numbers that expressions use wherever a number stands.

    The results record their values.
    """

    owner = "Parameter"

    name: str = key(NAME, "by which expressions call it", file=None)
    value: Any = key(NUMBER, "a number, or an expression of other parameters")
    unit: str = key(ANY_TEXT, "for reports", "")
    text: str = key(ANY_TEXT, "what it is", "")

    def build(self, building: Building) -> None:
        check_parameter_name(self.name)
        building.new_name("Parameter", self.name, building.parameters)
        owner = Owner("Parameter", self.name)
        value = building.number(self.value, owner, "value")
        if self.name in building.functions:
            raise ModelError("the name is that of a function of time", owner=owner, remedy="choose another")
        # a whole number stays one, as in the file
        building.parameters[self.name] = self.value if isinstance(self.value, int) else value


@dataclass(frozen=True, eq=False)
class LinearMaterial(Declaration):
    """Linear elastic materials; beams need isotropic ones.

    An isotropic material has numbers E and nu, or G.  Solids take orthotropic ones, in material axes (``orientation``
    of the part): E = (E1, E2, E3), nu = (nu12, nu13, nu23), G = (G12, G13, G23), or a matrix ``stiffness``.

    Raises:
        ModelError: constants that are missing, contradict each other, or whose stiffness is not positive.
    """

    owner = "Material"

    name: str = key(NAME, "by which parts call it", file=None)
    E: Any = key(
        NUMBER_OR_SEVERAL,
        "Young's modulus; orthotropic, for solids: [E1, E2, E3]",
        None,
        shows="**required**, or stiffness",
        unit="N/m^2",
    )
    nu: Any = key(
        NUMBER_OR_SEVERAL,
        "Poisson's ratio; orthotropic: [nu12, nu13, nu23], strain along the second axis from stress along the first",
        None,
        shows="from G, else 0.3",
    )
    density: float | None = key(NUMBER, "density; 0: without mass", None, needed=True, unit="kg/m^3")
    G: Any = key(
        NUMBER_OR_SEVERAL, "shear modulus; orthotropic: [G12, G13, G23]", None, shows="E / (2 (1 + nu))", unit="N/m^2"
    )
    expansion: Any = key(
        NUMBER_OR_SEVERAL,
        "thermal expansion of solids: a number, 3 along the material axes, or the 6 components of the tensor",
        0.0,
        unit="1/K",
    )
    stiffness: Any = key(
        STIFFNESS,
        "instead, for solids: 6x6 matrix or the 21 numbers of its upper triangle over xx, yy, "
        "zz, xy, yz, zx, with engineering shear strains",
        None,
        shows="none",
        kw_only=True,
        unit="N/m^2",
    )
    solid: bool = key(FLAG, "of solids alone, as an anisotropic one always is", False, kw_only=True)

    def build(self, building: Building) -> None:
        building.new_name("Material", self.name, ChainMap(building.materials, building.solid_materials))
        values = (self.E, self.nu, self.G, self.stiffness, self.expansion)
        if self.solid or self.E is None or any(isinstance(v, (list, tuple, np.ndarray)) for v in values):
            if not self.solid and self.E is None and self.stiffness is None:
                raise ModelError('"E" is missing', owner=Owner("Material", self.name))
            building.solid_materials[self.name] = make_solid_material(
                self.name,
                E=self.E,
                nu=self.nu,
                G=self.G,
                stiffness=self.stiffness,
                density=self.density,
                expansion=self.expansion,
            )
            return
        density: Any = self.density  # None is refused by `Material`
        building.materials[self.name] = Material(
            self.name, self.E, self.nu, density=density, G=self.G, expansion=self.expansion
        )


@dataclass(frozen=True, eq=False)
class CrossSection(Declaration):
    """Cross-sections; the keys depend on the shape.

    `fem_mbs.properties.sections.make_section` describes the shapes and their dimensions.

    Raises:
        ModelError: dimensions that the shape does not have, or that are missing.
    """

    owner = "Section"

    name: str = key(NAME, "by which beams call it", file=None)
    shape: str = key(TEXT, "one of the shapes below", choices=(*SECTION_SHAPES, *COMPUTED_SHAPES))
    width: Any = key(NUMBER_OR_INF, "along z", None, kw_only=True, unit="m")
    height: Any = key(NUMBER_OR_INF, "along y, the direction of bending in the plane", None, kw_only=True, unit="m")
    diameter: Any = key(NUMBER_OR_INF, "", None, kw_only=True, unit="m")
    outer_diameter: Any = key(NUMBER_OR_INF, "", None, kw_only=True, unit="m")
    inner_diameter: Any = key(NUMBER_OR_INF, "or thickness", None, kw_only=True, unit="m")
    thickness: Any = key(NUMBER_OR_INF, "of all walls", None, kw_only=True, unit="m")
    web_thickness: Any = key(NUMBER_OR_INF, "of the walls along y", None, kw_only=True, unit="m")
    flange_thickness: Any = key(NUMBER_OR_INF, "of the walls along z", None, kw_only=True, unit="m")
    root_radius: Any = key(NUMBER_OR_INF, "of the fillets of an I", None, kw_only=True, unit="m")
    A: Any = key(NUMBER_OR_INF, "area", None, kw_only=True, unit="m^2")
    I: Any = key(NUMBER_OR_INF, "second moment of area for both axes", None, kw_only=True, unit="m^4")
    Iy: Any = key(NUMBER_OR_INF, "integral of z^2 dA", None, kw_only=True, unit="m^4")
    Iz: Any = key(NUMBER_OR_INF, "integral of y^2 dA, bending in the plane", None, kw_only=True, unit="m^4")
    Iyz: Any = key(
        NUMBER, "space: product of inertia, integral of y z dA; beams take the principal axes", None, kw_only=True,
        unit="m^4",
    )  # fmt: skip
    J: Any = key(NUMBER_OR_INF, "torsion constant", None, kw_only=True, unit="m^4")
    k: Any = key(NUMBER_OR_INF, "shear coefficient of both directions; inf: no shear deformation", None, kw_only=True)
    ky: Any = key(NUMBER_OR_INF, "shear coefficient along y", None, kw_only=True)
    kz: Any = key(NUMBER_OR_INF, "shear coefficient along z", None, kw_only=True)
    EA: Any = key(NUMBER_OR_INF, "axial stiffness", None, kw_only=True, unit="N")
    EI: Any = key(NUMBER_OR_INF, "bending stiffness for both axes", None, kw_only=True, unit="N m^2")
    EIy: Any = key(NUMBER_OR_INF, "bending stiffness in the x-z plane", None, kw_only=True, unit="N m^2")
    EIz: Any = key(NUMBER_OR_INF, "bending stiffness in the x-y plane", None, kw_only=True, unit="N m^2")
    GA: Any = key(
        NUMBER_OR_INF,
        "shear stiffness of both directions, shear coefficient included; inf: none",
        None,
        kw_only=True,
        unit="N",
    )
    GAy: Any = key(NUMBER_OR_INF, "shear stiffness along y", None, kw_only=True, unit="N")
    GAz: Any = key(NUMBER_OR_INF, "shear stiffness along z", None, kw_only=True, unit="N")
    GJ: Any = key(NUMBER_OR_INF, "torsional stiffness", None, kw_only=True, unit="N m^2")
    rhoA: Any = key(NUMBER_OR_INF, "mass per length", None, kw_only=True, unit="kg/m")
    rhoI: Any = key(NUMBER_OR_INF, "rotary inertia per length for both axes", None, kw_only=True, unit="kg m")
    rhoIx: Any = key(
        NUMBER_OR_INF,
        "rotary inertia per length about the beam; the sum of the other two if not given",
        None,
        kw_only=True,
        unit="kg m",
    )
    rhoIy: Any = key(NUMBER_OR_INF, "rotary inertia per length about y", None, kw_only=True, unit="kg m")
    rhoIz: Any = key(NUMBER_OR_INF, "rotary inertia per length about z", None, kw_only=True, unit="kg m")
    stiffness: Any = key(
        MATRIX,
        "over axial strain, shear y, shear z, twist rate, curvature y, curvature z of the line",
        None,
        kw_only=True,
    )
    mass: Any = key(MATRIX, "inertia per length over velocity and angular velocity of the line", None, kw_only=True)
    centroid: Any = key(
        VECTOR,
        "space: [y, z] where axial force and bending act, from the beam's line",
        None,
        shows="the line",
        kw_only=True,
        unit="m",
    )
    shear_centre: Any = key(
        VECTOR, "space: [y, z] where shear and torsion act", None, shows="the centroid", kw_only=True, unit="m"
    )
    mass_centre: Any = key(VECTOR, "space: [y, z] of the mass", None, shows="the centroid", kw_only=True, unit="m")
    rotate: Any = key(
        NUMBER, "space: angle of the shape's axes about the beam's line", None, shows="0", kw_only=True, unit="deg"
    )

    file: Any = key(
        FILE,
        'of shape "mesh": plane cells, whose x is z of the section and whose y is y; of other shapes, in space: a '
        "table (CSV) of sections along the beams instead of dimensions, a column for each dimension of the shape, "
        "centroid_y, centroid_z ...; from the start of the line to its end, linear between rows",
        None,
        kw_only=True,
    )
    position: Any = key(TEXT, "of a table: column of the places along the line, in any unit", "position", kw_only=True)
    scale: Any = key(NUMBER, "of a mesh file: factor on the coordinates", None, shows="1", kw_only=True)
    regions: Any = key(
        SECTION_TABLE, "of a mesh file: {set of cells = material}; other cells take the beam's material", None,
        shows="none", kw_only=True,
    )  # fmt: skip
    patches: Any = key(
        SECTION_TABLES,
        "of a mesh: four-sided parts, each {corners = [[y, z], ... 4 around it], n = [cells along the first and second "
        "side], material = a name or that of the beam, angle = of its first axis against the beam, in the plane of the "
        "second side}; sides that touch are divided alike",
        None,
        kw_only=True,
    )
    walls: Any = key(
        SECTION_TABLES,
        "middle lines of thin walls, each {points = [[y, z], ...], thickness, material = a name or that of the beam}; "
        "they meet where points are equal",
        None,
        kw_only=True,
    )
    plies: Any = key(
        SECTION_TABLES,
        "of a tube, from the inside: each {material, thickness, angle = that of its first axis against the beam, 0}",
        None,
        kw_only=True,
    )
    origin: Any = key(
        NUMBERS_OR_TEXT,
        'point of a mesh or of walls on the beam\'s line: [y, z], "centroid" or "shear_centre"',
        None,
        shows="[0, 0]",
        unit="m",
        kw_only=True,
    )

    def build(self, building: Building) -> None:
        building.new_name("Section", self.name, ChainMap(building.sections, building.section_tables))
        owner = Owner("Section", self.name)
        given = self.given("name", "shape")
        if isinstance(self.shape, str) and self.shape in COMPUTED_SHAPES:
            known: dict[str, Any] = {**building.materials, **building.solid_materials}
            computed = _read_computed(
                self.name, self.shape, given, lambda name: building.find("material", name, known, owner)
            )
            building.sections[self.name] = computed_section(self.name, self.shape, computed)
            return
        if self.file is not None:
            both = [k for k in given if k not in ("file", "position")]
            if both:
                raise ModelError(f"file and {both[0]} both say how large it is", owner=owner, remedy="remove one")
            columns = read_columns(self.file, owner)
            building.section_tables[self.name] = section_table(self.name, self.shape, columns, self.position)
            return
        building.sections[self.name] = make_section(self.name, self.shape, **given)


@dataclass(frozen=True, eq=False)
class NamedFunction(Declaration):
    """Functions of time.

    A number, an expression of t, or a table with its kind; see `fem_mbs.functions.kinds.make_function`.
    """

    owner = "Function"

    name: str = key(NAME, "by which others call it", file=None)
    spec: Any = key(FUNCTION, "a number, an expression of t, or a table with its kind")
    folder: str | Path | None = key(ANY, "where paths of CSV files start", None, file=None)

    def build(self, building: Building) -> None:
        building.new_name("Function", self.name, building.functions)
        if self.name in building.parameters:
            raise ModelError("a parameter has this name", owner=Owner("Function", self.name), remedy="choose another")
        building.functions[self.name] = make_function(
            self.spec, name=self.name, folder=self.folder, functions=building.functions
        )
