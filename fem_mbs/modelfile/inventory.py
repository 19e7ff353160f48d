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
    for title, rows in _topics():
        yield f"{title}:"
        width = max(len(name) for name, _ in rows)
        yield from (f"  {name:{width}}  {text}" for name, text in rows)
    yield "results: HDF5, XDMF and VTU (ParaView), CSV, JSON; figures PNG, PDF, SVG; animations GIF, MP4"


def _topics() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each title with names and texts of its entries."""
    yield "elements (block kernels)", [(name, _about_element(name)) for name in element_types()]
    yield "joints", [(name, joint.text) for name, joint in JOINT_KINDS.items()]
    for title, table in (
        ("sections and their dimensions", {**SECTION_SHAPES, **COMPUTED_SHAPES}),
        ("functions of time and their parameters", FUNCTION_KINDS),
        ("sensors and their options", {name: kind.own_keys() for name, kind in sensor_kinds().items()}),
        ("steps and their options", {name: kind.Options.keys() for name, kind in step_kinds().items()}),
    ):
        yield title, [(name, ", ".join(keys)) for name, keys in table.items()]
    acts = {
        name: [word for word, share in (("stiffness", stiffness), ("mass", mass)) if share]
        for name, (_, stiffness, mass) in KINDS.items()
    }
    yield (
        "parameters of components (fem-mbs modify)",
        [
            *((name, f"proportional to {' and '.join(words)}") for name, words in acts.items()),
            ("KEY of a section", "elements of the group are made anew"),
        ],
    )
    yield "fields of solid and plane parts in results", list(FIELDS.items())
    yield "integration rules", [(name, rule.text) for name, rule in RULES.items()]
    yield "reductions of parts (fem-mbs reduce)", list(METHODS.items())
    files = [(" ".join(names), title) for title, names in PART_FORMATS.items()]
    yield "files of reduced parts (fem-mbs reduce, convert)", files
    yield (
        "linear solvers",
        [
            ("banded", "inside the compiled step, for narrow models"),
            *((name, _SOLVERS[name]) for name in solver_names()),
        ],
    )
    yield "decks", [(" ".join(deck.suffixes), f"{deck.name}: {deck.text}") for deck in DECK_FORMATS]
    yield "mesh formats", [(" ".join(form.suffixes), f"{form.name}: {form.text}") for form in MESH_FORMATS]


def _about_element(name: str) -> str:
    """Return numbers of nodes and multipliers of an element type, and the title of its module."""
    kind = element_type(name)
    about = (inspect.getmodule(inspect.unwrap(kind.force.py_func)).__doc__ or "").strip()
    sizes = _counted(kind.ends, "node") + (f", {_counted(kind.multipliers, 'multiplier')}" if kind.multipliers else "")
    return f"{sizes:24} {re.split('[:.]', about)[0]}"


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" + ("s" if n != 1 else "")


if __name__ == "__main__":
    print("\n".join(inventory()))
