"""List all available types: elements, joints, sections, functions, sensors, steps, formats (`fem-mbs list`)."""

from __future__ import annotations

import inspect as python_inspect
import re
import textwrap
from collections.abc import Iterator

from fem_mbs.cli.check import counted
from fem_mbs.errors import ModelError, Owner

__all__ = ["inventory", "overview", "topic"]

_NAME = 20  # width of the names in `inventory`
_WIDTH = 110
_LINES = 3  # of names of a topic in the overview


def inventory() -> Iterator[str]:
    """Yield the names of all available types without compiling any."""
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
    from fem_mbs.properties.computed_sections import COMPUTED_SHAPES
    from fem_mbs.properties.shapes import SECTION_SHAPES
    from fem_mbs.solvers.linear.libraries import cholmod_status
    from fem_mbs.solvers.linear.solver import solver_names

    yield "elements (block kernels):"
    for name in element_types():
        kind = element_type(name)
        about = (python_inspect.getmodule(python_inspect.unwrap(kind.force.py_func)).__doc__ or "").strip()
        sizes = f"{counted(kind.ends, 'node')}" + (
            f", {counted(kind.multipliers, 'multiplier')}" if kind.multipliers else ""
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
        yield f"  {', '.join(names):20} {title}"
    yield "linear solvers:"
    yield f"  {'banded':20} inside the compiled step, for narrow models"
    there, text = cholmod_status()
    for name in solver_names():
        note = {"cholmod": text if there else f"not available: {text}", "superlu": "scipy"}.get(name, "")
        yield f"  {name:20} {note}"
    yield "decks:"
    for deck in DECK_FORMATS:
        yield f"  {' '.join(deck.suffixes):20} {deck.name}: {deck.text}"
    yield "mesh formats:"
    for form in MESH_FORMATS:
        yield f"  {' '.join(form.suffixes):20} {form.name}: {form.text}"
    yield "results: HDF5, XDMF and VTU (ParaView), CSV, JSON; figures PNG, PDF, SVG; animations GIF, MP4"


def _topics() -> dict[str, list[str]]:
    """Return the lines of `inventory` by their titles."""
    found: dict[str, list[str]] = {}
    title = ""
    for line in inventory():
        if line.startswith("  "):
            found[title].append(line)
        else:
            title = line.removesuffix(":")
            found[title] = []
    return found


def _name(line: str) -> str:
    """Return the name of an entry of `inventory`."""
    own = line[2:]
    return own[:_NAME].strip() if own[_NAME : _NAME + 1] in (" ", "") else own.split(" ")[0]


def _words(topics: dict[str, list[str]]) -> str:
    """Return the first words of the titles that have entries."""
    return ", ".join(dict.fromkeys(title.split()[0] for title, entries in topics.items() if entries))


def overview() -> Iterator[str]:
    """Yield the titles of `inventory` with the names alone, so that they fit on a screen."""
    topics = _topics()
    for title, entries in topics.items():
        if not entries:
            yield title
            continue
        names = textwrap.wrap(", ".join(map(_name, entries)), _WIDTH)
        yield f"{title} ({len(entries)}):"
        yield from (f"  {line}" for line in names[:_LINES])
        if len(names) > _LINES:
            yield f"  ... and more: fem-mbs list {title.split()[0]}"
    yield "fem-mbs list TOPIC tells more of one, fem-mbs list all of all:"
    yield from (f"  {line}" for line in textwrap.wrap(_words(topics), _WIDTH))


def topic(word: str) -> Iterator[str]:
    """Yield the topics of `inventory` whose title begins with a word; all lines for "all".

    Raises:
        ModelError: there is none.
    """
    topics = _topics()
    if word == "all":
        yield from inventory()
        return
    found = {title: entries for title, entries in topics.items() if title.startswith(word) and entries}
    if not found:
        raise ModelError(
            f'there is no topic "{word}"', owner=Owner("List"), remedy=f"take one of {_words(topics)}, or all"
        )
    for title, entries in found.items():
        yield f"{title}:"
        yield from entries
