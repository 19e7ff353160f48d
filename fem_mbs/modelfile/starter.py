"""A commented model file to start from, for a mesh: `fem-mbs new part.msh`."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, choose
from fem_mbs.declarations.steps import step_kind
from fem_mbs.errors import ModelError, Owner
from fem_mbs.meshes.formats.reader import read_mesh
from fem_mbs.meshes.mesh import Mesh
from fem_mbs.modelfile.schema import TABLES, Document, StepHead, Table
from fem_mbs.modelfile.writer import toml_value

__all__ = ["starter_text", "write_starter"]

_WIDTH = 80  # of the meaning of a key; of longer ones the unit alone stands in the file


def write_starter(mesh_path: str | Path, target: str | Path) -> Mesh:
    """Read a mesh and write a model file for it; an existing file is not touched.

    Raises:
        MeshError, ModelError: the mesh or the file cannot be used.
    """
    mesh = read_mesh(mesh_path)
    target = Path(target)
    try:
        relative = os.path.relpath(Path(mesh_path).resolve(), target.resolve().parent)
    except ValueError:  # another drive
        relative = str(Path(mesh_path).resolve())
    text = starter_text(mesh, Path(relative).as_posix())
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise ModelError(f"{target}: this file exists; give another name with -o") from None
    except OSError as exc:
        raise ModelError(f"{target}: cannot be written ({exc.strerror}); give another name with -o") from None
    return mesh


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def starter_text(mesh: Mesh, file: str) -> str:
    """Return the text of a model file whose parts are the line cells of a mesh; ``file``: its path from the model
    file."""
    lines = mesh.lines()
    if not len(lines):
        raise ModelError(f"{mesh.source}: the mesh has no line cells, from which beams or trusses could be made")
    plane = bool(np.all(mesh.points[:, 2] == 0.0))
    size = float(np.ptp(mesh.points, axis=0).max())
    kind = "beam" if plane else "truss"
    groups, whole = _groups(mesh)
    ends = _ends(mesh)
    fixed = ends[0] if ends else None
    looked_at = ends[-1] if ends else None
    unused = len(np.setdiff1d(np.arange(len(mesh.points)), np.unique(lines))) > 0
    sizes = {"diameter": float(f"{size / 50:.2g}")}
    down = [0.0, -1.0] if plane else [0.0, 0.0, -1.0]
    some = f"part:{looked_at or 'SET'}"
    out = [
        "# A model file of fem-mbs; docs/model-file.md describes all tables and keys.",
        "#   fem-mbs check FILE      read it and explain what it means",
        "#   fem-mbs run FILE        simulate",
        "#   fem-mbs schema          for completion in an editor",
        "# Values marked with <-- are guesses: put yours there.  Units: SI, or any consistent ones.",
        "",
        *_keys(
            Document,
            {"title": Path(file).stem, "dimension": 2 if plane else 3, "gravity": [9.81 * x for x in down]},
            guesses=("gravity",),
        ),
        "",
        "# ---- the mesh: " + ", ".join(f"{n} {what}" for what, n in mesh.read.items()),
        *_set_comments(mesh, "part"),
        "",
        *_entry("mesh", {"file": file, **({"unused": "drop"} if unused else {})}, name="part"),
        "",
        "# ---- what it is made of",
        "",
        *_entry("material", {"E": 2.1e11, "nu": 0.3, "density": 7850.0}, name="steel", guesses=("E", "density")),
        "",
        *_entry("section", {"shape": "circle", **sizes}, name="round", guesses=("diameter",)),
        "",
    ]
    for number, on in enumerate([f"part:{g}" for g in groups] if not whole else ["part"]):
        name = groups[number] if not whole else "all"
        out += [*_entry(kind, {"name": name, "on": on, "material": "steel", "section": "round"}), ""]
    out += ["# ---- how it is held", ""]
    held = ["x", "y"] if plane else ["x", "y", "z"]
    if fixed:
        out += [*_entry("support", {"on": f"part:{fixed}", "components": held}, guesses=("on",)), ""]
    else:
        out += [
            "# The mesh has no set of points, so nothing is held: the part falls freely.",
            *_comment(_entry("support", {"on": "part:SET"})),
            "",
        ]
    zero = [0.0] * len(down)
    inertia = 0.01 if plane else [0.01, 0.01, 0.01]
    out += [
        "# ---- more to take from: remove the # and change names and numbers",
        "",
        *_comment(
            _entry("motion", {"name": "drive", "on": some, "component": "y", "function": "0.01*sin(20*t)"}),
            [""],
            _entry(
                "force",
                {
                    "name": "load",
                    "on": some,
                    "vector": [100.0 * x for x in down],
                    "function": {"kind": "ramp", "duration": 0.1},
                },
            ),
            [""],
            _entry("body", {"name": "crank", "position": zero, "mass": 1.0, "inertia": inertia}),
            [""],
            _entry("joint", {"name": "hinge", "type": "pin" if plane else "spherical", "a": "crank", "b": some}),
        ),
        "",
        "# ---- what to look at and what to compute",
        "",
    ]
    if looked_at:
        out += [*_entry("sensor", {"name": "end", "kind": "displacement", "on": f"part:{looked_at}"}), ""]
    out += [
        *_entry("sensor", {"name": "energy", "kind": "energy"}),
        "",
        *_entry("step", {"type": "transient", "duration": 1.0, "h": 0.001}, guesses=("duration", "h")),
        "",
        "# ---- all tables",
        "",
        *(f"# {_head(table, 'NAME'):24} {_first_sentence(table.text)}" for table in TABLES),
        "",
    ]
    return "\n".join(out)


def _head(table: Table, name: str) -> str:
    return f"[{table.name}.{name}]" if table.many == "named" else f"[[{table.name}]]"


def _first_sentence(text: str) -> str:
    return f"{text.partition('. ')[0].rstrip('.')}."


def _entry(table: str, given: Mapping[str, Any], name: str = "", guesses: Collection[str] = ()) -> list[str]:
    """Return the lines of one table, each key with its meaning; the declaration of the table checks the keys.

    Raises:
        ModelError: a key or value that the table does not have.
    """
    found = next(t for t in TABLES if t.name == table)
    declaration = found.declaration
    if table == "step":
        declaration = step_kind(given["type"]).Options
        head = _keys(StepHead, {"type": given["type"]})
        return ["[[step]]", *head, *_keys(declaration, {k: v for k, v in given.items() if k != "type"}, guesses)]
    if found.kinds is not None:
        declaration = choose(found.kinds(), given["kind"], Owner(found.owner, given["name"]))
    return [_head(found, name), *_keys(declaration, given, guesses, **({"name": name} if name else {}))]


def _keys(
    declaration: type[Declaration], given: Mapping[str, Any], guesses: Collection[str] = (), **own: Any
) -> list[str]:
    """Return lines "key = value  # meaning"."""
    declaration.read(given, declaration.owner, **own)
    known = declaration.in_file()
    lines = []
    for key, value in given.items():
        meaning = known[key][1].meaning
        words = meaning if len(meaning) <= _WIDTH else known[key][1].unit and f"[{known[key][1].unit}]"
        note = "  ".join(word for word in (words, "<--" if key in guesses else "") if word)
        line = f"{key} = {toml_value(value)}"
        lines.append(f"{line:31} # {note}" if note else line)
    return lines


def _comment(*tables: list[str]) -> list[str]:
    """Return lines of tables as comments."""
    return [f"# {line}".rstrip() for lines in tables for line in lines]


def _groups(mesh: Mesh) -> tuple[list[str], bool]:
    """Return line sets that hold every cell once; else (whole = True) the mesh as one."""
    names = [n for n in mesh.set_names if n.removesuffix("@1") in mesh.cell_sets and not n.endswith("@0")]
    total = sum(len(b.cells) for b in mesh.blocks)
    seen = sum(len(cells) for parts in mesh.cell_sets.values() for _, cells in parts)
    covered = {(b, int(c)) for parts in mesh.cell_sets.values() for b, cells in parts for c in cells}
    usable = [n for n in names if _usable(n)]
    return usable, not (usable and len(usable) == len(names) and seen == len(covered) == total)


def _usable(name: str) -> bool:
    return bool(name.strip()) and name.isprintable()


def _ends(mesh: Mesh) -> list[str]:
    """Return point sets whose nodes belong to line cells."""
    used = np.unique(mesh.lines())
    out = []
    for name in mesh.set_names:
        bare = name.removesuffix("@0")
        if bare in mesh.node_sets and not name.endswith("@1") and _usable(name):
            nodes = mesh.node_sets[bare]
            if len(nodes) == 1 and np.isin(nodes, used).all():
                out.append(name)
    return out


def _set_comments(mesh: Mesh, name: str) -> list[str]:
    out = []
    for full in mesh.set_names:
        bare, is_points = full, full in mesh.node_sets
        if full.endswith(("@0", "@1")):
            bare, is_points = full[:-2], full.endswith("@0")
        n = len(mesh.node_sets[bare]) if is_points else sum(len(c) for _, c in mesh.cell_sets[bare])
        count = f"{n} {'point' if is_points else 'cell'}{'' if n == 1 else 's'}"
        out.append(f"#   {_quoted(f'{name}:{full}')[1:-1]}   ({count})")
    out = [*(["# Its sets:"] if out else ["# It has no named sets."]), *out]
    return out + [f"# Not read: {' '.join(sentence.split())}" for sentence in mesh.skipped]
