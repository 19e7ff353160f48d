"""A commented model file to start from, for a mesh: `fem-mbs new part.msh`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np

from fem_mbs.errors import ModelError
from fem_mbs.meshes.formats.reader import read_mesh
from fem_mbs.meshes.mesh import Mesh

__all__ = ["starter_text", "write_starter"]


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
    diameter = float(f"{size / 50:.2g}")
    out = [
        "# A model file of fem-mbs; docs/model-file.md describes all tables and keys.",
        "#   fem-mbs check FILE      read it and explain what it means",
        "#   fem-mbs run FILE        simulate",
        "# Values marked with <-- are guesses: put yours there.  Units: SI, or any consistent ones.",
        "",
        f"title = {_quoted(Path(file).stem)}",
        f"dimension = {2 if plane else 3}" + ("" if plane else "   # 2 for mechanisms in the x-y plane"),
        f"gravity = {'[0.0, -9.81]' if plane else '[0.0, 0.0, -9.81]'}   # [m/s^2]  <--",
        "",
        "# ---- the mesh: " + ", ".join(f"{n} {what}" for what, n in mesh.read.items()),
        *_set_comments(mesh, "part"),
        "",
        "[mesh.part]",
        f"file = {_quoted(file)}",
        "# scale = 0.001                 # if the mesh is in mm",
        *(['unused = "drop"                 # some nodes belong to no line cell'] if unused else []),
        "",
        "# ---- what it is made of",
        "",
        "[material.steel]",
        "E = 2.1e11                      # [N/m^2]  <--",
        "nu = 0.3",
        "density = 7850.0                # [kg/m^3]  <--",
        "",
        "[section.round]",
        'shape = "circle"                # or rectangle, tube, I, box, general, stiffness',
        f"diameter = {diameter!r}".ljust(32) + "# [m]  <--",
        "",
    ]
    for number, on in enumerate([f"part:{g}" for g in groups] if not whole else ["part"]):
        out += [
            f"[[{kind}]]",
            f"name = {_quoted(groups[number] if not whole else 'all')}",
            f"on = {_quoted(on)}",
            'material = "steel"',
            'section = "round"',
            "",
        ]
    out += ["# ---- how it is held", ""]
    if fixed:
        out += [
            "[[support]]",
            f"on = {_quoted('part:' + fixed)}".ljust(32) + "# <--",
            'components = ["x", "y"]         # without this line: all, also the rotation'
            if plane
            else 'components = ["x", "y", "z"]',
            "",
        ]
    else:
        out += [
            "# The mesh has no set of points, so nothing is held: the part falls freely.",
            "# [[support]]",
            '# on = "part:SET"',
            "",
        ]
    zero, down = ("[0.0, 0.0]", "[0.0, -100.0]") if plane else ("[0.0, 0.0, 0.0]", "[0.0, 0.0, -100.0]")
    some = _quoted(f"part:{looked_at or 'SET'}")
    out += [
        "# ---- more to take from: remove the # and change names and numbers",
        "",
        "# [[motion]]                    # a driven node",
        f"# on = {some}",
        '# component = "y"',
        '# function = "0.01*sin(20*t)"   # [m], an expression of t, zero at the start',
        "",
        "# [[force]]",
        f"# on = {some}",
        f"# vector = {down}",
        '# function = {kind = "ramp", duration = 0.1}',
        "",
        "# [[body]]                      # a rigid body, and a joint to it",
        '# name = "crank"',
        f"# position = {zero}",
        "# mass = 1.0",
        f"# inertia = {'0.01' if plane else '[0.01, 0.01, 0.01]'}",
        "#",
        "# [[joint]]",
        '# type = "pin"',
        '# a = "crank"',
        f"# b = {some}",
        "",
        "# ---- what to look at and what to compute",
        "",
    ]
    if looked_at:
        out += ["[[sensor]]", 'name = "end"', 'kind = "displacement"', f"on = {_quoted('part:' + looked_at)}", ""]
    out += [
        "[[sensor]]",
        'name = "energy"                 # kinetic, strain and gravity',
        'kind = "energy"',
        "",
        "[[step]]",
        'type = "transient"',
        "duration = 1.0                  # [s]  <--",
        "h = 0.001                       # [s]  <--",
        "",
    ]
    return "\n".join(out)


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
