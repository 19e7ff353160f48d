"""Decks as text for tests: bars of hexahedra, and what stands in every deck of them."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from fem_mbs.decks.abaqus.run import solve_deck

#: Number of mutated decks of each reader in a run of the tests; ``FEM_MBS_MUTATIONS=1000`` is the thorough run.
MUTATIONS = int(os.environ.get("FEM_MBS_MUTATIONS", "60"))

#: Local corners of a hexahedron, and its edges in Abaqus's order of mid-side nodes.
_CORNERS = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
_EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]


def brick(n, size, kind="C3D8", rotation=None, first=1, origin=(0.0, 0.0, 0.0), element=1):
    """Nodes (id -> place) and elements (id -> nodes) of a block of n = (nx, ny, nz) hexahedra; kind C3D8* or C3D20*."""
    step = 2 if kind.startswith("C3D20") else 1
    points: dict[tuple, int] = {}
    cells = []
    for k in range(n[2]):
        for j in range(n[1]):
            for i in range(n[0]):
                corners = [tuple(step * (np.array((i, j, k)) + c)) for c in _CORNERS]
                mids = [tuple((np.array(corners[a]) + corners[b]) // 2) for a, b in _EDGES] if step == 2 else []
                cells.append([points.setdefault(tuple(map(int, p)), len(points)) for p in corners + mids])
    R = np.eye(3) if rotation is None else np.asarray(rotation)
    nodes = {}
    for p, i in points.items():
        x = np.array(p) / step / np.array(n) * np.array(size) + np.array(origin)
        nodes[first + i] = R @ x
    return nodes, {element + e: [first + i for i in cell] for e, cell in enumerate(cells)}


def numbers(values) -> str:
    """Numbers as a line of a deck, to the last digit."""
    return ", ".join(f"{float(v):.17g}" for v in values)


def mesh_text(nodes, elements, kind="C3D8", elset="EALL") -> str:
    """*NODE and *ELEMENT, eight numbers to a line of elements of twenty nodes."""
    lines = ["*NODE, NSET=NALL", *(f"{i}, {numbers(x)}" for i, x in nodes.items())]
    lines.append(f"*ELEMENT, TYPE={kind}, ELSET={elset}")
    for e, cell in elements.items():
        parts = [", ".join(map(str, cell[i : i + 10])) for i in range(0, len(cell), 10)]
        lines.append(f"{e}, " + ",\n".join(parts))
    return "\n".join(lines) + "\n"


def nset(name: str, ids) -> str:
    return f"*NSET, NSET={name}\n" + ",\n".join(map(str, ids)) + "\n"


def at(nodes, axis: int, value: float, rotation=None) -> list[int]:
    """Nodes whose coordinate has a value, in the axes before ``rotation``."""
    R = np.eye(3) if rotation is None else np.asarray(rotation)
    return [i for i, x in nodes.items() if abs((R.T @ x)[axis] - value) < 1e-9]


STEEL = "*MATERIAL, NAME=STEEL\n*ELASTIC\n{E}, {nu}\n*DENSITY\n{rho}\n*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL\n"


def steel(E=2.1e11, nu=0.3, rho=7850.0) -> str:
    return STEEL.format(E=E, nu=nu, rho=rho)


def step(text: str, *options: str) -> str:
    return ", ".join(["*STEP", *options]) + "\n" + text.strip() + "\n*END STEP\n"


def run(path, *parts: str):
    """Write a deck and run it: the converted deck and the summaries of its steps."""
    path.write_text("".join(parts), encoding="utf-8")
    converted, solution = solve_deck(path)
    return converted, solution.summary["steps"]


def prints(summary, quantity: str, **wanted):
    """The only printed table of a quantity in the summary of a step, as ids and values."""
    found = [
        p for p in summary["prints"]
        if p["quantity"] == quantity and all(p.get(k, False) == v for k, v in wanted.items())
    ]  # fmt: skip
    assert len(found) == 1, [(p["quantity"], p["set"], p["time"]) for p in summary["prints"]]
    return np.array(found[0]["ids"]), np.array(found[0]["values"])


def block(extra: str = "", steps: str | None = None, kind: str = "C3D8", material: str | None = None) -> str:
    """Two cubes held at x = 0 and pulled at x = 2."""
    nodes, elements = brick((2, 1, 1), (2.0, 1.0, 1.0), kind)
    text = mesh_text(nodes, elements, kind) + nset("FIX", at(nodes, 0, 0.0)) + nset("TIP", at(nodes, 0, 2.0))
    load = step("*STATIC\n*CLOAD\nTIP, 1, 1.\n*NODE PRINT, NSET=TIP\nU\n")
    text += steel() if material is None else material
    return text + "*BOUNDARY\nFIX, 1, 3\n" + extra + (load if steps is None else steps)


def line_of(text: str, what: str) -> int:
    return text[: text.index(what)].count("\n") + 1


@dataclass(frozen=True)
class Done:
    """What a command ended with."""

    returncode: int
    stdout: str
    stderr: str


def refused(done: Done) -> str:
    """The one line that a refusal is."""
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, done.stderr
    assert len(lines[0]) < 1000
    return lines[0]
