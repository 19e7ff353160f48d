"""The names of all available types: elements, joints, sections, functions, sensors, steps, formats.

Run it to write the file that `fem-mbs list` shows, so that a list needs no registry and appears at once:
`python -m fem_mbs.modelfile.inventory > fem_mbs/modelfile/inventory.txt`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from fem_mbs.analysis.components.parameters import KINDS
from fem_mbs.analysis.reduction.reduce import METHODS
from fem_mbs.analysis.transient.rules import RULES
from fem_mbs.decks.formats import DECK_FORMATS
from fem_mbs.declarations.steps import step_kinds
from fem_mbs.elements.registry import element_type, element_types
from fem_mbs.functions.kinds import FUNCTION_KINDS
from fem_mbs.meshes.formats.reader import MESH_FORMATS
from fem_mbs.model.connections.joint_kinds import JOINT_KINDS
from fem_mbs.model.fields import FIELDS
from fem_mbs.model.sensors.kinds import sensor_kinds
from fem_mbs.parts.formats import PART_FORMATS
from fem_mbs.properties.shapes import COMPUTED_SHAPES, SECTION_SHAPES
from fem_mbs.solvers.linear.solver import solver_names

__all__ = ["inventory"]

_SOLVERS = {"cholmod": "scikit-sparse", "superlu": "scipy"}


def inventory() -> Iterator[str]:
    """Yield the names of all available types without compiling any."""
    yield "elements (block kernels):"
    for name in element_types():
        kind = element_type(name)
        about = (inspect.getmodule(inspect.unwrap(kind.force.py_func)).__doc__ or "").strip()
        sizes = _counted(kind.ends, "node") + (
            f", {_counted(kind.multipliers, 'multiplier')}" if kind.multipliers else ""
        )
        yield f"  {name:20} {sizes:24} {re.split('[:.]', about)[0]}"
    yield "joints:"
    for name, joint in JOINT_KINDS.items():
        yield f"  {name:20} {joint.text}"
    for title, table in (
        ("sections and their dimensions", {**SECTION_SHAPES, **COMPUTED_SHAPES}),
        ("functions of time and their parameters", FUNCTION_KINDS),
        ("sensors and their options", {name: kind.own_keys() for name, kind in sensor_kinds().items()}),
    ):
        yield f"{title}:"
        for name, keys in table.items():
            yield f"  {name:20} {', '.join(keys)}"
    yield "steps and their options:"
    for name, kind_of_step in step_kinds().items():
        yield f"  {name:20} {', '.join(kind_of_step.Options.keys())}"
    yield "parameters of components (fem-mbs modify):"
    for name, (_, stiffness, mass) in KINDS.items():
        acts = [word for word, share in (("stiffness", stiffness), ("mass", mass)) if share]
        yield f"  {name:20} proportional to {' and '.join(acts)}"
    yield f"  {'KEY of a section':20} elements of the group are made anew"
    yield "fields of solid and plane parts in results:"
    for name, text in FIELDS.items():
        yield f"  {name:20} {text}"
    yield "integration rules:"
    for name, rule in RULES.items():
        yield f"  {name:20} {rule.text}"
    yield "reductions of parts (fem-mbs reduce):"
    for name, text in METHODS.items():
        yield f"  {name:20} {text}"
    yield "files of reduced parts (fem-mbs reduce, convert):"
    for title, names in PART_FORMATS.items():
        yield f"  {' '.join(names):20} {title}"
    yield "linear solvers:"
    yield f"  {'banded':20} inside the compiled step, for narrow models"
    for name in solver_names():
        yield f"  {name:20} {_SOLVERS[name]}"
    yield "decks:"
    for deck in DECK_FORMATS:
        yield f"  {' '.join(deck.suffixes):20} {deck.name}: {deck.text}"
    yield "mesh formats:"
    for form in MESH_FORMATS:
        yield f"  {' '.join(form.suffixes):20} {form.name}: {form.text}"
    yield "results: HDF5, XDMF and VTU (ParaView), CSV, JSON; figures PNG, PDF, SVG; animations GIF, MP4"


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" + ("s" if n != 1 else "")


if __name__ == "__main__":
    print("\n".join(inventory()))
