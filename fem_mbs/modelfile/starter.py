"""A commented model file to start from, for a mesh: `fem-mbs new part.msh`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, choose
from fem_mbs.declarations.steps import step_kind
from fem_mbs.errors import ModelError, Owner
from fem_mbs.meshes.cells import DIMENSION
from fem_mbs.meshes.formats.reader import read_mesh
from fem_mbs.meshes.mesh import CellBlock, Mesh
from fem_mbs.modelfile.schema import TABLES, Document, StepHead, Table
from fem_mbs.modelfile.writer import toml_value

__all__ = ["starter_text", "write_starter"]

_WIDTH = 80  # of the meaning of a key; of longer ones the unit alone stands in the file


def write_starter(mesh_path: str | Path, target: str | Path) -> Mesh:
    """Read a mesh and write a model file for it; an existing file is not touched.

    Raises:
        MeshError, ModelError: the mesh or the file cannot be used.
    """
    mesh = read_mesh(mesh_path, "all")
    if _continuum(mesh) == "":
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


_HEADER = (
    "# A model file of fem-mbs; docs/model-file.md describes all tables and keys.",
    "#   fem-mbs check FILE      read it and explain what it means",
    "#   fem-mbs run FILE        simulate",
    "#   fem-mbs schema          for completion in an editor",
    "# Values marked with <-- are guesses: put yours there.  Units: SI, or any consistent ones.",
    "",
)


def starter_text(mesh: Mesh, file: str) -> str:
    """Return the text of a model file for a mesh; ``file``: its path from the model file.

    Its parts are the solid cells of the mesh, with shells of sets that are no faces of them, without any the plane
    ones (in space: shells), else the line cells.
    """
    kind = _continuum(mesh)
    if kind:
        return _continuum_text(mesh, file, kind)
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
        *_HEADER,
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


# Names of sets that are likely to be held, or loaded.
_HELD = re.compile(r"fix|clamp|support|hold|held|base|ground|foot|encast|wall|root|bc", re.I)
_LOADED = re.compile(r"load|force|press|tip|end|top|surf", re.I)


def _continuum(mesh: Mesh) -> str:
    """Return which of solid, plane and shell parts the cells of a mesh are for, "" for none."""
    kinds = {block.kind for block in mesh.blocks if len(block.cells)}
    dimensions = {DIMENSION[kind] for kind in kinds}
    if 3 in dimensions:
        return "solid"
    if 2 not in dimensions:
        return ""
    return "shell" if mesh.points[:, 2].any() else "plane"


def _continuum_text(mesh: Mesh, file: str, kind: str) -> str:
    """Return the text of a model file of solid, plane or shell parts: held, under its weight, and its modes."""
    top = 3 if kind == "solid" else 2
    dimension = 2 if kind == "plane" else 3
    blocks = [b for b in mesh.blocks if DIMENSION[b.kind] == top]
    size = float(np.ptp(mesh.points, axis=0).max())
    down = [0.0, -9.81] if dimension == 2 else [0.0, 0.0, -9.81]
    sheets = _sheets(mesh) if kind == "solid" else []
    cells = [b.cells for b in blocks] + [c for name in sheets for c in _cells_of(mesh, name)]
    used = np.unique(np.concatenate([c.ravel() for c in cells]))
    names, whole = _groups(mesh, top)
    places = [f"part:{name}" for name in _places(mesh, top, used) if name not in sheets]
    held = next((p for p in places if _HELD.search(p[5:])), places[0] if places else None)
    others = [p for p in places if p != held]
    faces = [p for p in others if p[5:].removesuffix("@1") in mesh.facet_sets]
    loaded = next((p for p in faces if _LOADED.search(p[5:])), faces[0] if faces else None)
    out = [
        *_HEADER,
        *_keys(Document, {"title": Path(file).stem, "dimension": dimension, "gravity": down}, guesses=("gravity",)),
        "",
        "# ---- the mesh: " + ", ".join(f"{n} {what}" for what, n in mesh.read.items()),
        *_set_comments(mesh, "part"),
        "",
        *_entry(
            "mesh",
            {"file": file, "cells": "all", **({"unused": "drop"} if len(used) < len(mesh.points) else {})},
            name="part",
        ),
        "",
        "# ---- what it is made of",
        "",
        *_entry("material", {"E": 2.1e11, "nu": 0.3, "density": 7850.0}, name="steel", guesses=("E", "nu", "density")),
        "",
    ]
    thickness = {} if kind == "solid" else {"thickness": float(f"{size / 100:.2g}")}
    for name in ["all"] if whole else names:
        on = "part" if whole else f"part:{name}"
        given = {"name": name, "on": on, "material": "steel", **thickness}
        out += [*_entry(kind, given, guesses=("material", "thickness")), ""]
    for name in sheets:
        given = {"name": f"{name} shell", "on": f"part:{name}", "material": "steel"}
        given |= {"thickness": float(f"{size / 100:.2g}")}
        out += [*_entry("shell", given, guesses=("material", "thickness")), ""]
    motions = _free_motions(mesh, blocks, sheets, kind, held)
    out += ["# ---- how it is held", ""]
    if held:
        out += [*_entry("support", {"on": held}, guesses=("on",)), ""]
    else:
        free = "The mesh has no set of points, edges or faces, so nothing is held: its modes are those of a free part."
        out += [f"# {free}", *_comment(_entry("support", {"on": "part:SET"})), ""]
    out += ["# ---- loads besides its weight", ""]
    if kind == "shell":
        some = others[-1] if others else "part:SET"
        load = _entry("force", {"name": "load", "on": some, "vector": [0.0, 0.0, -100.0]})
        out += [*_comment(load), ""]
    else:
        pressure = {"name": "pressure", "on": loaded or "part:SET", "value": 1.0e5}
        out += [*(_entry("pressure", pressure, guesses=("on", "value")) if loaded and held else
                  _comment(_entry("pressure", pressure))), ""]  # fmt: skip
    out += ["# ---- what to compute", ""]
    if motions:
        many = f"{motions} motion{'s' * (motions > 1)}"
        out += [f"# No statics: {many} without strain. Hold what moves so: parts that nothing holds, and shells that",
                "# hang on solids along a line, as on a hinge.", ""]  # fmt: skip
    else:
        out += [*_entry("step", {"type": "linear_static"}), ""]
    out += [
        *_entry("step", {"type": "modes", "count": 6 + motions}, guesses=("count",)),
        "",
        "# ---- all tables",
        "",
        *(f"# {_head(table, 'NAME'):24} {_first_sentence(table.text)}" for table in TABLES),
        "",
    ]
    return "\n".join(out)


def _cells_of(mesh: Mesh, name: str) -> list[np.ndarray]:
    """Return nodes (n, k) of the cells of a set, one array per block."""
    return [mesh.blocks[b].cells[c] for b, c in mesh.cell_sets[name.removesuffix("@1")]]


def _sheets(mesh: Mesh) -> list[str]:
    """Return sets of plane cells beside solids that are no faces of them, the largest first, without common cells."""
    found: list[tuple[int, str]] = []
    for name in mesh.set_names:
        bare = name.removesuffix("@1")
        parts = mesh.cell_sets.get(bare, ()) if not name.endswith("@0") else ()
        if parts and bare not in mesh.facet_sets and _usable(name):
            if all(DIMENSION[mesh.blocks[b].kind] == 2 for b, _ in parts):
                found.append((-sum(len(c) for _, c in parts), name))
    taken = {b: np.zeros(len(block.cells), bool) for b, block in enumerate(mesh.blocks)}
    out = []
    for _, name in sorted(found):
        parts = mesh.cell_sets[name.removesuffix("@1")]
        if any(taken[b][c].any() for b, c in parts):
            continue
        for b, c in parts:
            taken[b][c] = True
        out.append(name)
    return out


def _bodies(n: int, cells: list[np.ndarray]) -> list[np.ndarray]:
    """Return the nodes of each body that cells (m, k) with common nodes make; n nodes in all."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    first = np.concatenate([np.repeat(c[:, 0], c.shape[1]) for c in cells])
    other = np.concatenate([c.ravel() for c in cells])
    _, label = connected_components(coo_matrix((np.ones(len(first)), (first, other)), (n, n)), directed=False)
    nodes = np.unique(other)
    order = np.argsort(label[nodes], kind="stable")
    return np.split(nodes[order], np.flatnonzero(np.diff(label[nodes][order])) + 1)


def _span(points: np.ndarray) -> int:
    """Return -1 for no points, else the dimension of what they span: 0 a point, 1 a line, 2 more."""
    if not len(points):
        return -1
    size = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return int((size[:2] > 1e-9 * max(float(np.abs(points).max()), 1e-300)).sum())


def _free_motions(mesh: Mesh, blocks: list[CellBlock], sheets: list[str], kind: str, held: str | None) -> int:
    """Return how many motions without strain a model has that is held at a place: of bodies that nothing holds, and of
    shells that solids hold along a line or at a point."""
    fixed = np.zeros(len(mesh.points), bool)
    if held is not None:
        fixed[mesh.nodes_of(held.removeprefix("part:"))] = True
    # fewest held components, and rigid-body motions
    least, every = {"solid": (2, 6), "plane": (1, 3), "shell": (0, 6)}[kind]
    n, total = len(mesh.points), 0
    solid = np.zeros(n, bool)
    for body in _bodies(n, [b.cells for b in blocks]):
        span = _span(mesh.points[body[fixed[body]]])
        total += 0 if span >= least else every if span < 0 else 1 if kind == "plane" else (3, 1)[span]
        solid[body] = True
    for body in _bodies(n, [c for name in sheets for c in _cells_of(mesh, name)]) if sheets else ():
        if not fixed[body].any():
            span = _span(mesh.points[body[solid[body]]])
            total += (6, 3, 1, 0)[span + 1]
    return total


def _places(mesh: Mesh, top: int, used: np.ndarray) -> list[str]:
    """Return sets of faces, edges and points whose nodes belong to the cells of the highest dimension; nodes and faces
    of one name once."""
    found = []
    for name in mesh.set_names:
        bare = name.removesuffix("@0").removesuffix("@1")
        cells = mesh.cell_sets.get(bare, ()) if not name.endswith("@0") else ()
        if not _usable(name) or any(DIMENSION[mesh.blocks[b].kind] == top for b, _ in cells):
            continue
        nodes = mesh.nodes_of(name)
        if len(nodes) and len(nodes) < len(used) and np.isin(nodes, used).all():
            found.append(name)
    return found


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


def _groups(mesh: Mesh, dimension: int = 1) -> tuple[list[str], bool]:
    """Return sets of cells of a dimension that hold every such cell once; else (whole = True) the mesh as one."""

    def of(name: str) -> list[tuple[int, np.ndarray]]:
        parts = mesh.cell_sets.get(name.removesuffix("@1"), ()) if not name.endswith("@0") else ()
        return [(b, cells) for b, cells in parts if DIMENSION[mesh.blocks[b].kind] == dimension]

    names = [n for n in mesh.set_names if of(n)]
    total = sum(len(b.cells) for b in mesh.blocks if DIMENSION[b.kind] == dimension)
    held = [(b, cells) for n in names for b, cells in of(n)]
    seen = sum(len(cells) for _, cells in held)
    marks = [np.zeros(len(b.cells), bool) for b in mesh.blocks]
    for b, cells in held:
        marks[b][cells] = True
    covered = sum(int(mark.sum()) for mark in marks)
    usable = [n for n in names if _usable(n)]
    return usable, not (usable and len(usable) == len(names) and seen == covered == total)


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
        faces = not is_points and bare not in mesh.cell_sets
        if is_points:
            n = len(mesh.node_sets[bare])
        else:
            n = sum(len(part[1]) for part in (mesh.facet_sets if faces else mesh.cell_sets)[bare])
        count = f"{n} {'point' if is_points else 'face' if faces else 'cell'}{'' if n == 1 else 's'}"
        out.append(f"#   {_quoted(f'{name}:{full}')[1:-1]}   ({count})")
    out = [*(["# Its sets:"] if out else ["# It has no named sets."]), *out]
    return out + [f"# Not read: {' '.join(sentence.split())}" for sentence in mesh.skipped]
