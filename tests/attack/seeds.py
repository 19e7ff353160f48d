"""Valid inputs, which attacks damage: those of the tests and examples, and meshes written by meshio."""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
from functools import cache
from pathlib import Path

import numpy as np

TESTS = Path(__file__).resolve().parent.parent
for _folder in ("", "decks", "meshes", "model", "modelfile", "reduction"):  # helpers and cases of other tests
    if str(TESTS / _folder) not in sys.path:
        sys.path.append(str(TESTS / _folder))

from places import DATA, DECKS, ROOT, SHARED_DECKS  # noqa: E402

__all__ = ["INCLUDED", "decks", "listings", "meshes", "model_files", "parts", "shapes"]

#: A file that a deck includes; errors in it name it.
INCLUDED = ("portal_nodes.inc",)
_LARGEST = 60_000  # bytes; larger decks are left out


@cache
def model_files() -> list[str]:
    """Return texts of small model files that refer to no other files than those of `test_modelfile`."""
    from test_modelfile_fuzz import TEXTS

    names = ("arm", "cable_whip", "lee_frame", "mast", "portal_frame", "rotor", "lane_change")
    return [*TEXTS, *((ROOT / "examples" / name / "model.toml").read_text(encoding="utf-8") for name in names)]


def decks(suffix: str, folder: Path) -> list[bytes]:
    """Return small decks, and write the files that they include into a folder."""
    for name in INCLUDED:
        shutil.copy(DECKS / name, folder)
    found = sorted([*DECKS.rglob(f"*{suffix}"), *(SHARED_DECKS.glob(f"*{suffix}") if SHARED_DECKS.is_dir() else ())])
    return [path.read_bytes() for path in found if path.stat().st_size < _LARGEST]


def listings(suffix: str) -> list[bytes]:
    """Return printed results of other programs."""
    if suffix == ".frd":
        from deck_text import brick
        from test_deck_submodels import frd

        nodes, elements = brick((2, 2, 2), (2.0, 2.0, 2.0), "C3D20")
        values = {i: 0.1 * np.asarray(x) for i, x in nodes.items()}
        fields = [(1, "DISP", ("D1", "D2", "D3"), values), (2, "NDTEMP", ("T",), {i: v[:1] for i, v in values.items()})]
        return [frd(nodes, elements, fields, width).encode() for width in (5, 10)]
    ends = (".dat", ".dat.ref") if suffix == ".dat" else (suffix,)
    found = sorted(path for path in DECKS.rglob("*") if path.name.endswith(ends))
    return [path.read_bytes() for path in found if path.stat().st_size < _LARGEST]


def meshes(folder: Path) -> list[tuple[str, bytes]]:
    """Return meshes of all formats, as suffix and content."""
    import meshio
    from test_mesh_cells import exodus
    from test_mesh_exchange import universal

    X = np.array([[x, y, z] for z in (0.0, 1.0) for y in (0.0, 1.0) for x in (0.0, 1.0, 2.0)])
    solids = np.array([[0, 1, 4, 3, 6, 7, 10, 9], [1, 2, 5, 4, 7, 8, 11, 10]])
    sides = np.array([[0, 1, 4, 3], [1, 2, 5, 4]])
    edges = np.array([[0, 1], [1, 2]])
    cells = [("hexahedron", solids), ("quad", sides), ("line", edges)]
    tags = [np.array([1, 2]), np.array([3, 3]), np.array([4, 4])]
    out = [(path.suffix, path.read_bytes()) for path in sorted(DATA.glob("*.msh"))]
    out += [(suffix, deck) for suffix in (".inp", ".bdf") for deck in decks(suffix, folder)]
    out.append((".unv", universal(X, cells[:2], tags[:1] + [np.array([1, 2])]).encode()))
    for name, hdf in (("classic.ex2", False), ("hdf.exo", True)):
        exodus(folder / name, "hexahedron", hdf)
        out.append((Path(name).suffix, (folder / name).read_bytes()))
    with contextlib.redirect_stderr(io.StringIO()):  # meshio prints warnings about text files

        def put(name: str, *options: dict, **data: object) -> None:
            for option in options or ({},):
                meshio.write(folder / name, meshio.Mesh(X, cells, **data), **option)
                out.append((Path(name).suffix, (folder / name).read_bytes()))

        numbers = {"cell_data": {"part": tags}, "point_data": {"tip": (X[:, 0] == 2.0).astype(int)}}
        put("a.vtu", {"binary": False}, {"compression": None}, {"compression": "zlib"}, **numbers)
        put("a.vtk", {"binary": False}, {"binary": True}, **numbers)
        put("a.mesh", cell_data={"medit:ref": tags})
        put("a.meshb", cell_data={"medit:ref": tags})
        put("a.med", cell_data={"cell_tags": [-tag for tag in tags]})
    return out


def shapes(folder: Path) -> list[tuple[str, bytes]]:
    """Return surfaces and tables, as suffix and content."""
    import meshio

    X = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    surface = meshio.Mesh(X, [("triangle", np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]))])
    out = []
    for name, options in (("a.stl", {}), ("b.stl", {"binary": True}), ("a.obj", {})):
        meshio.write(folder / name, surface, **options)
        out.append((Path(name).suffix, (folder / name).read_bytes()))
    rows = "".join(f"{0.1 * k:.1f};{k * k}\n" for k in range(12))
    return [*out, (".csv", f"time [s];force [N]\n{rows}".encode()), (".csv", rows.replace(";", ",").encode())]


def parts(folder: Path, own: bool) -> list[Path]:
    """Write reduced parts into a folder, in the formats of fem-mbs (``own``) or of other programs; return their
    paths."""
    from test_convert_parts import block

    from fem_mbs.analysis.reduction.reduce import reduce_part
    from fem_mbs.parts.formats import write_part

    ends = {"left": "box:x0", "right": "box:x1"}
    part = reduce_part(block(), ends, modes=3, stiffening="left", damping=0.02)
    names = ("a.h5", "folder") if own else ("a.pch", "a.SID_FEM")
    return [write_part(folder / name, part) for name in names]
