"""Element types of Abaqus and CalculiX: family, number of nodes, and the nodes of their faces.

Numbers of nodes and faces from the Abaqus Elements Guide (node ordering and face numbering of each element) and the
CalculiX 2.21 manual, chapter 6.  Variants of one shape (reduced, hybrid, incompatible modes ...) are letters after the
name; which of them a solver can take over is for the reader of the description to decide.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fem_mbs.late import dataclass

__all__ = ["FAMILIES", "MECHANICAL", "SECTIONED", "AbaqusElement", "element_type", "faces"]


@dataclass(frozen=True)
class AbaqusElement:
    """name as in the deck; family (see `MECHANICAL`); number of nodes; shape: base name, for example C3D8 of C3D8RH."""

    name: str
    family: str
    n_nodes: int
    shape: str


# letters that may follow
_LETTERS = {
    "",
    "R",
    "I",
    "H",
    "RH",
    "IH",
    "T",
    "RT",
    "HT",
    "RHT",
    "M",
    "MH",
    "MT",
    "HS",
    "S",
    "OS",
    "P",
    "RP",
    "E",
    "RI",
}
_LETTERS |= {"L", "LH", "RS", "RSW", "R5", "RR", "V", "X", "C"}
#: Family, head of the names, their ends with the number of nodes.
FAMILIES: list[tuple[str, str, dict[str, int]]] = [
    ("solid", "C3D", {"4": 4, "5": 5, "6": 6, "8": 8, "10": 10, "15": 15, "20": 20, "27": 27}),
    ("continuum shell", "SC", {"6": 6, "8": 8}),
    ("plane stress", "CPS", {"3": 3, "4": 4, "6": 6, "8": 8}),
    ("plane strain", "CPE", {"3": 3, "4": 4, "6": 6, "8": 8}),
    ("plane strain", "CPEG", {"3": 3, "4": 4, "6": 6, "8": 8}),
    ("axisymmetric", "CAX", {"3": 3, "4": 4, "6": 6, "8": 8}),
    ("shell", "S", {"3": 3, "4": 4, "6": 6, "8": 8, "9": 9}),
    ("shell", "STRI", {"3": 3, "65": 6}),
    ("membrane", "M3D", {"3": 3, "4": 4, "6": 6, "8": 8, "9": 9}),
    ("beam", "B", {"21": 2, "22": 3, "23": 2, "31": 2, "32": 3, "33": 2}),
    ("beam", "PIPE", {"21": 2, "22": 3, "31": 2, "32": 3}),
    ("truss", "T", {"2D2": 2, "2D3": 3, "3D2": 2, "3D3": 3}),
    ("mass", "MASS", {"": 1}),
    ("rotary inertia", "ROTARYI", {"": 1}),
    ("spring", "SPRING", {"A": 2, "1": 1, "2": 2}),
    ("dashpot", "DASHPOT", {"A": 2, "1": 1, "2": 2}),
    ("distributing coupling", "DCOUP", {"3D": 1, "2D": 1}),
    ("rigid", "R", {"2D2": 2, "3D3": 3, "3D4": 4}),
    ("rigid", "RAX", {"2": 2}),
    ("rigid", "RB", {"2D2": 2, "3D2": 2}),
    ("gap", "GAP", {"UNI": 2, "CYL": 2, "SPHER": 2}),
    ("connector", "CONN", {"2D2": 2, "3D2": 2}),
    ("cohesive", "COH", {"3D6": 6, "3D8": 8, "2D4": 4}),
    ("surface", "SFM3D", {"3": 3, "4": 4, "6": 6, "8": 8}),
    ("heat", "DC3D", {"4": 4, "6": 6, "8": 8, "10": 10, "15": 15, "20": 20}),
    ("heat", "DC2D", {"3": 3, "4": 4, "6": 6, "8": 8}),
    ("heat", "DCAX", {"3": 3, "4": 4, "6": 6, "8": 8}),
    ("heat", "DC1D", {"2": 2, "3": 3}),
    ("heat", "DS", {"3": 3, "4": 4, "6": 6, "8": 8}),
    ("acoustic", "AC3D", {"4": 4, "6": 6, "8": 8, "10": 10, "15": 15, "20": 20}),
    ("acoustic", "AC2D", {"3": 3, "4": 4, "6": 6, "8": 8}),
    ("fluid", "F3D", {"4": 4, "6": 6, "8": 8}),
    ("fluid", "FC3D", {"4": 4, "5": 5, "6": 6, "8": 8}),
    ("network", "D", {"": 3}),
]
_TABLE = {head + base: (family, n) for family, head, bases in FAMILIES for base, n in bases.items()}

# Families of the mechanics of structures; the others are kept with their nodes and listed as not used.
MECHANICAL = frozenset(
    {"solid", "continuum shell", "plane stress", "plane strain", "axisymmetric", "shell", "membrane", "beam", "truss"}
    | {"mass", "rotary inertia", "spring", "dashpot", "distributing coupling", "connector"}
)
# Family -> the keywords of which one must give the element its properties.
_SOLID = ("SOLID SECTION",)
SECTIONED: dict[str, tuple[str, ...]] = {
    "solid": _SOLID,
    "continuum shell": ("SHELL SECTION", "SHELL GENERAL SECTION", "SOLID SECTION"),
    "plane stress": ("SOLID SECTION", "SHELL SECTION"),
    "plane strain": _SOLID,
    "axisymmetric": _SOLID,
    "truss": _SOLID,
    "shell": ("SHELL SECTION", "SHELL GENERAL SECTION"),
    "membrane": ("MEMBRANE SECTION",),
    "beam": ("BEAM SECTION", "BEAM GENERAL SECTION"),
    "mass": ("MASS",),
    "rotary inertia": ("ROTARY INERTIA",),
    "spring": ("SPRING",),
    "dashpot": ("DASHPOT",),
    "connector": ("CONNECTOR SECTION",),
}


def element_type(name: str, user: dict[str, int] | None = None) -> AbaqusElement | None:
    """Return the type of this name (upper case), or None.  ``user``: nodes of the user elements that the deck
    declares."""
    if name == "U1" and (user or {}).get(name, 2) == 2:  # CalculiX's beam that is not made of solids
        return AbaqusElement(name, "beam", 2, name)
    if user and name in user:
        return AbaqusElement(name, "user", user[name], name)
    for stop in range(len(name), 0, -1):
        found = _TABLE.get(name[:stop])
        if found is not None and name[stop:] in _LETTERS and (name[:stop][-1].isdigit() or stop == len(name)):
            return AbaqusElement(name, *found, name[:stop])
    if name in ("US3", "US45"):  # CalculiX's own user elements
        return AbaqusElement(name, "user", {"US3": 3, "US45": 4}[name], name)
    return None


# Faces S1, S2, ... as local node numbers, corners first, then mid-side nodes.
_TET = [(1, 2, 3, 5, 6, 7), (1, 4, 2, 8, 9, 5), (2, 4, 3, 9, 10, 6), (3, 4, 1, 10, 8, 7)]
_HEX = [
    (1, 2, 3, 4, 9, 10, 11, 12),
    (5, 8, 7, 6, 16, 15, 14, 13),
    (1, 5, 6, 2, 17, 13, 18, 9),
    (2, 6, 7, 3, 18, 14, 19, 10),
    (3, 7, 8, 4, 19, 15, 20, 11),
    (4, 8, 5, 1, 20, 16, 17, 12),
]
_WEDGE = [
    (1, 2, 3, 7, 8, 9),
    (4, 6, 5, 12, 11, 10),
    (1, 4, 5, 2, 13, 10, 14, 7),
    (2, 5, 6, 3, 14, 11, 15, 8),
    (3, 6, 4, 1, 15, 12, 13, 9),
]
_TRIANGLE, _QUAD = [(1, 2, 4), (2, 3, 5), (3, 1, 6)], [(1, 2, 5), (2, 3, 6), (3, 4, 7), (4, 1, 8)]
_SOLIDS = {4: _TET, 10: _TET, 6: _WEDGE, 15: _WEDGE, 8: _HEX, 20: _HEX}
_PLANES = {3: _TRIANGLE, 6: _TRIANGLE, 4: _QUAD, 8: _QUAD, 9: _QUAD}


def faces(kind: AbaqusElement) -> dict[str, np.ndarray]:
    """Return face label -> local node indices from 0.  Shells: SPOS and SNEG (also S1, S2), then their edges E1, ..."""
    n = kind.n_nodes
    table: dict[str, Sequence[int]]
    if kind.family in ("solid", "continuum shell", "heat", "acoustic", "fluid", "cohesive") and n in _SOLIDS:
        table = {f"S{i}": face for i, face in enumerate(_SOLIDS[n], 1)}
    elif kind.family in ("plane stress", "plane strain", "axisymmetric") and n in _PLANES:
        table = {f"S{i}": face for i, face in enumerate(_PLANES[n], 1)}
    elif kind.family in ("shell", "membrane", "surface", "rigid") and n in _PLANES:
        whole = tuple(range(1, n + 1))
        table = dict.fromkeys(("SPOS", "SNEG", "S1", "S2"), whole)
        table |= {f"E{i}": edge for i, edge in enumerate(_PLANES[n], 1)}
        # CalculiX numbers the edges of a shell as faces 3, 4, ... of the solid it makes of it
        table |= {f"S{i}": edge for i, edge in enumerate(_PLANES[n], 3)}
    elif kind.family in ("beam", "truss"):
        whole = tuple(range(1, n + 1))
        table = dict.fromkeys((*(f"S{i}" for i in range(1, 7)), "SPOS", "SNEG"), whole)
    else:
        return {}
    return {name: np.array([k - 1 for k in face if k <= n]) for name, face in table.items()}
