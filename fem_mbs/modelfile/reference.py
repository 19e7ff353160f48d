"""The reference of the model file, docs/model-file.md, written from the schema.

python -m fem_mbs.modelfile.reference > docs/model-file.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from fem_mbs.declarations.declaration import Declaration
from fem_mbs.declarations.kinds import Kind
from fem_mbs.declarations.steps import step_kinds
from fem_mbs.functions.expressions import FUNCTIONS
from fem_mbs.functions.kinds import FUNCTION_KINDS
from fem_mbs.model.checks import QUANTITIES
from fem_mbs.model.sensors.kinds import sensor_kinds
from fem_mbs.modelfile.schema import TABLES, Document, Table
from fem_mbs.properties.shapes import COMPUTED_SHAPES, SECTION_SHAPES

__all__ = ["reference"]

_HEAD = """\
# The model file

A model file is [TOML](https://toml.io). It stands for calls of the builder `fem_mbs.Model`, table by table in the
order of this page, and gives bit-equal results. `fem-mbs check FILE` reads one and explains what it means; `fem-mbs
new MESH` writes one to start from; the examples have two with comments.

Keys before the first table belong to the whole model. A table `[material.steel]` is a thing called "steel"; tables in
double brackets, `[[joint]]`, can be repeated. An unknown table or key, a value of the wrong type or one that is not
finite ends in one line that names file, table and key, and exit code 2. Editors complete keys by
[model.schema.json](model.schema.json), which `fem-mbs schema` prints: begin the file with
`#:schema PATH/model.schema.json`. Numbers are in one consistent set of units, by
default and on this page SI; `[units]` tells another set, and the units in which results are shown.

**Places.** What another table calls a *place* is the name of a `[[body]]` or `[[node]]`, a set of nodes of a mesh
(`"rod:left"` for the set `left` of `[mesh.rod]`; a line set stands for its nodes), a whole mesh (`"rod"`), or
`"ground"`. Where one node is needed, the set must hold one. Points are given in global coordinates of the start and
travel with their body. What acts on each node of a list of places acts once on those that several of them share.

A node of a mesh can also be named by its number, `"rod:#12"`.

**Expressions of parameters** can stand wherever a number stands, as a text: `"2*a + b/2"`, `[0, "-L*sin(phi)"]`. They
know the names of `[parameters]` and what expressions of functions know (see `[function.NAME]`). In functions of time
and in expressions of x, y, z, parameters stand beside these variables. Where a key takes words or names, a text is a
word. A whole number may be a result within round-off of one. See [building models](building-models.md).

**Functions of time** can be given as a number, as the name of a `[function.NAME]`, as an expression of `t`
(`"0.1*sin(20*t)"`) or as a table with its kind (`{kind = "ramp", duration = 0.1}`), in place or by name.
"""

_EXPRESSIONS = f"""\
Expressions know `+ - * / **`, comparisons, `and or not`, `a if c else b`, the constants `pi` and `e`, and the functions
{", ".join(f"`{name}`" for name in FUNCTIONS)}.
Angles are in radians, as everywhere but where a key says [deg] or [degrees] (`rotate`, `angles` of an arc, `phases` of
a harmonic step); `step(x)` is 1 from x = 0 on, 0 before. Their derivatives, which drives need, are exact.
"""

_FUNCTION_TEXTS = {
    "constant": "value",
    "constant_speed": "offset + rate t",
    "step": "start_value (0) before `start` (0), end_value (1) from then on",
    "ramp": "linear from start_value (0) to end_value (1) within `duration` after `start` (0)",
    "smoothstep": "the same on a cycloid: velocity and acceleration are continuous",
    "hat": "0, up to `value` (1) at `peak` (the middle), and 0 again `duration` after `start` (0)",
    "harmonic": "offset + amplitude sin(omega t + phase); omega [rad/s] or frequency [1/s], phase [rad]",
    "spin_up": "angle of a shaft that reaches the speed `rate` within `duration` (Simo & Vu-Quoc 1986)",
    "start_up": "angle of a motor: second derivative acceleration (1 + cos(pi t/duration)), then constant speed "
    "(Russell & Willmert 1991)",
    "random": "stationary, with a one-sided power spectral density: `densities` [unit^2/Hz] at `frequencies` [Hz] "
    '(interpolation = "logarithmic" or "linear"), or of a road: `road` = "A" to "H" (ISO 8608), or `roughness` '
    "G(n0) [m^3] at n0 = 0.1 cycles/m, falling with the power `exponent` (2) of the wave number, driven over at "
    "`speed` [m/s]. From `lowest` to `highest` [Hz] (the table's ends; of roads waves of 90 m to 0.35 m), as a sum of "
    '`lines` (500) harmonics, `spacing` "linear" or "logarithmic", whose phases follow from `seed` (0); later by '
    "`delay` (0), such as wheelbase/speed of the rear axle; times a smoothstep for a motion, which starts at 0",
    "table": 'linear between `times` and `values`; extrapolate = "hold", "linear" or "error"; or periodic = true',
    "spline": 'cubic spline through them; ends = "natural", "clamped", "periodic" or "not-a-knot"',
    "csv": "table or spline from a CSV file (relative to the model file); columns by number from 1 or by name",
    "expression": "an expression of t; `kinks`: times at which it has corners that cannot be seen in it",
    "sum": "sum of a list of functions",
    "product": "product of a list of functions",
    "scaled": "factor (1) times a function, later by `delay` (0)",
}

_OUTPUTS = (
    ("of", "output", "positive where"),
    (
        "beams", "`N`, `T`; plane `Q`, space `Vy`, `Vz`",
        "what the part beyond a section exerts on the part before it pulls along the beam, twists by the right hand "
        "about it, pushes along y, z of the section (plane: to the left of the beam's direction)",
    ),
    ("plane beams", "`M_p`, `M_q`", "that bends counter-clockwise; at the first and the last node of the element"),
    (
        "spatial beams", "`My 1`, `My 2`, `Mz 1`, `Mz 2`",
        "the same about y and z of the section by the right hand; 1 at the first, 2 at the last node of the element",
    ),
    ("beams, trusses", "`strain`, `twist`", "the line is longer; the last section is turned about the axis"),
    ("trusses", "`N`", "it pulls at its ends; a damper's share is in it, as in the section forces of beams"),
    (
        "springs, on joints too", "`force`, `moment`; `length`, `displacement`, `angle`",
        "it pulls its ends together, or against the growth of its coordinate",
    ),
    (
        "motors, hydraulic actuators, users' forces", "`force`, `moment`",
        "it works towards the growth of its coordinate or distance",
    ),
    ("nodal springs", "`force`, `elongation`", "it pulls `on` back against the component"),
    ("bushings", "`force x` ..., `moment x` ...", "its displacement or angle is positive (b against a, in its axes)"),
    ("bearings", "`force u`, `force v`", "its first part is displaced along its first or second direction"),
    ("friction", "`force`, `moment`", "positive against the growth of the coordinate; on planes the size of the force"),
)  # fmt: skip

_REACTIONS = (
    ("of", "what it exerts on", "moments about"),
    ("supports and motions of a place (`x` ... `mz`)", "the model", "each node, summed up"),
    (
        "joint, with its own driver, without motors, springs and friction",
        "its part a (`slider`, `position`: their only part)", "the point of the joint in that part",
    ),
    ("joints along beams and on curves", "the beam, or the part with the curve", "the point on the line or curve"),
    ("coupling", "its reference", "the reference"),
    ("tie", "the tied nodes", "the origin"),
    ("equation", "all its nodes", "the origin"),
)  # fmt: skip

_REACTION_COLUMNS = """\
**Reactions** have the columns `force x`, `force y`, `force z`, `moment x`, `moment y`, `moment z`, in the plane
`force x`, `force y`, `moment`, in global axes:
"""

_REACTION_NOTES = """\
A `distance` joint also has its `tension`, positive where it pulls; a screw `thread moment` and `thread force`, on its
angle and its displacement. A gear, rack or rope has `force a` and `force b`, [N] or [N m] on the coordinates of its two
joints. They are positive where they do work as the coordinate grows. The columns `a force x` ... `a moment z` are the
force and the moment on part a of its joint a, about the point of that joint; `b force x` ... `b moment z` are those on
part a of its joint b.

**Joint coordinates** are zero at the start and count what part b does against part a: angles about the axis by the
right hand, any number of turns, displacements along it, with the axis as part a carries it. `angle_b` of a universal
joint is the turn about the axis of part b.
"""

_MIDDLES = """\
Forces, strains and reactions of a transient belong to the middle of time steps; tables and figures have the means of
two consecutive ones, at the times between. With the rules of Newmark's family they belong to the end of steps; of
undamped ones reactions and drives are combinations of four steps, since those of single steps alternate.

**Outputs of elements** (`element`):
"""


def reference() -> str:
    """Return the text of docs/model-file.md."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield _HEAD
    yield "## Top level\n"
    yield from _keys(Document)
    for table in TABLES:
        yield f"## {_title(table)}\n"
        yield f"{table.text}\n"
        if not table.single:
            yield from _keys(table.declaration)
        yield from _EXTRA.get(table.name, _nothing)()


def _title(table: Table) -> str:
    if table.name == "parameters":
        return "`[parameters]`"
    if table.name == "initial":
        return "`[initial]` or `[[initial]]`"
    if table.name in ("assembly", "units"):
        return f"`[{table.name}]`"
    return f"`[{table.name}.NAME]`" if table.many == "named" else f"`[[{table.name}]]`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _rows(*rows: tuple[str, ...]) -> Iterator[str]:
    head, *rest = rows
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rest:
        yield f"| {' | '.join(_cell(c) for c in row)} |"
    yield ""


def _keys(declaration: type[Declaration]) -> Iterator[str]:
    rows = [("key", "value", "default", "meaning")]
    for name, (_, key) in declaration.in_file().items():
        needed = key.required and not key.shows
        rows.append((f"`{name}`", key.label, "**required**" if needed else key.default_text, key.meaning))
    yield from _rows(*rows)


def _nothing() -> Iterator[str]:
    yield from ()


def _function_kinds() -> Iterator[str]:
    yield _EXPRESSIONS
    rows = [("kind", "parameters", "f(t)")]
    rows += [(f"`{k}`", ", ".join(f"`{p}`" for p in keys), _FUNCTION_TEXTS[k]) for k, keys in FUNCTION_KINDS.items()]
    yield from _rows(*rows)


def _shapes() -> Iterator[str]:
    yield (
        'The keys that belong to each shape (a section must not have others; for beams in space all but "matrix" also\n'
        "take `centroid`, `shear_centre`, `mass_centre` and `rotate`):\n"
    )
    yield from _rows(
        ("shape", "keys"),
        *((f"`{k}`", ", ".join(f"`{p}`" for p in v)) for k, v in {**SECTION_SHAPES, **COMPUTED_SHAPES}.items()),
    )


def _inner_tables(table_name: str) -> Iterator[str]:
    for table in TABLES:
        if table.name == table_name:
            for name, (_, key) in table.declaration.in_file().items():
                if not isinstance(key.kind, Kind):
                    yield f"`{name} = {{...}}`:\n"
                    yield from _keys(key.kind)


def _sensors() -> Iterator[str]:
    yield "The keys that belong to each kind, in brackets those that may be left out:\n"
    rows = [("kind", "keys", "what")]
    uses: dict[tuple[str, ...], list[str]] = {}
    for name, kind in sensor_kinds().items():
        keys = kind.keys()
        own = ", ".join(f"`{k}`" if keys[k].required else f"[`{k}`]" for k in kind.own_keys())
        rows.append((f"`{name}`", own, kind.purpose()))
        for k in kind.own_keys():
            said = keys[k]
            default = "**required**" if said.required else said.default_text or "none"
            uses.setdefault((f"`{k}`", said.label, default, said.meaning), []).append(name)
    yield from _rows(*rows)
    of = {use: "all others" if len(names) > 4 else ", ".join(names) for use, names in uses.items()}
    yield from _rows(("key", "value", "default", "meaning", "of"), *((*use, of[use]) for use in sorted(uses)))
    yield _MIDDLES
    yield from _rows(*_OUTPUTS)
    yield _REACTION_COLUMNS
    yield from _rows(*_REACTIONS)
    yield _REACTION_NOTES


def _steps() -> Iterator[str]:
    for kind in step_kinds().values():
        yield f'Options of `type = "{kind.name}"`:\n'
        rows = [("key", "value", "default", "meaning")]
        for name, key in kind.Options.keys().items():
            default = "**required**" if key.required else key.default_text or "none"
            rows.append((f"`{name}`", key.label, default, key.meaning))
        yield from _rows(*rows)
        if kind.notes:
            yield f"{kind.notes}\n"


def _checks() -> Iterator[str]:
    yield (
        f"Quantities: {', '.join(f'`{q}`' for q in QUANTITIES)}.\n"
        "`fem-mbs run` prints the outcome, writes it into summary.json (`checks`: case, sensor, quantity, measured,\n"
        "reference, tolerance, time, source, pass) and ends with exit code 1 if one fails; the results are complete\n"
        "all the same.\n"
    )


_EXTRA = {
    "function": _function_kinds,
    "section": _shapes,
    "mesh": lambda: _inner_tables("mesh"),
    "copy": lambda: _inner_tables("copy"),
    "part": lambda: _inner_tables("part"),
    "sensor": _sensors,
    "step": _steps,
    "check": _checks,
}


if __name__ == "__main__":
    sys.stdout.write(reference())
