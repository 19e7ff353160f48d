"""Contact of a ball or point with a surface of triangles that a body carries: `mesh_contact3`."""

from __future__ import annotations

from fem_mbs.elements.contact.ball import contact_type
from fem_mbs.elements.contact.crossing import crossed_triangles
from fem_mbs.elements.contact.triangles import (
    TRIANGLE,
    TRIANGLE_COLUMNS,
    mesh_apart,
    mesh_depth,
    mesh_gap,
    mesh_quotient,
    mesh_remember,
)

__all__ = ["TYPES"]

TYPES = {
    "mesh_contact3": contact_type(
        "mesh_contact3", 3, TRIANGLE_COLUMNS, mesh_gap, mesh_quotient, mesh_apart, mesh_remember, mesh_depth,
        crossed_triangles, hist=6, shared=TRIANGLE,
    )
}  # fmt: skip
