"""Universal files and decks as meshes: cells, sets, surfaces, systems of coordinates, and damaged files."""

from __future__ import annotations

import numpy as np
import pytest
from test_mesh_cells import PLANES, SOLIDS, area, with_boundary

from fem_mbs.elements.solids import shapes
from fem_mbs.errors import MeshError
from fem_mbs.meshes.cells import DIMENSION
from fem_mbs.meshes.formats.reader import read_mesh

# Finite element descriptors, and nodes around the edges: where the k-th node of the file stands in our order.
DESCRIPTORS = {
    "line": 21, "line3": 24, "triangle": 91, "triangle6": 92, "quad": 94, "quad8": 95, "tetra": 111, "tetra10": 118,
    "wedge": 112, "wedge15": 113, "hexahedron": 115, "hexahedron20": 116,
}  # fmt: skip
AROUND = {
    "line3": (0, 2, 1), "triangle6": (0, 3, 1, 4, 2, 5), "quad8": (0, 4, 1, 5, 2, 6, 3, 7),
    "tetra10": (0, 4, 1, 5, 2, 6, 7, 8, 9, 3), "wedge15": (0, 6, 1, 7, 2, 8, 12, 13, 14, 3, 9, 4, 10, 5, 11),
    "hexahedron20": (0, 8, 1, 9, 2, 10, 3, 11, 16, 17, 18, 19, 4, 12, 5, 13, 6, 14, 7, 15),
}  # fmt: skip


def fields(values, width=10):
    rows = [values[i : i + 8] for i in range(0, len(values), 8)]
    return ["".join(f"{v:{width}d}" for v in row) for row in rows]


def dataset(number, lines):
    return ["    -1", f"{number:6d}", *lines, "    -1"]


def universal(X, blocks, groups, nodes=2411, group=2467, system=0):
    """A universal file of cells, in groups called body and load, and the nodes at x = 0 as left."""
    lines = dataset(164, ["         1  SI", "  1.0D+00  1.0D+00", "  1.0D+00"])
    text = []
    for i, x in enumerate(X, 1):
        x = np.pad(x, (0, 3 - len(x)))
        if nodes == 15:
            text.append("".join(f"{v:10d}" for v in (i, system, 0, 1)) + "".join(f"{v:13.5E}" for v in x))
        else:
            text += ["".join(f"{v:10d}" for v in (i, system, 1, 11))]
            text += ["".join(f"{v:25.16E}" for v in x).replace("E", "D" if nodes == 2411 else "E")]
    lines += dataset(nodes, text)
    text, number, members = [], 0, {1: [], 2: []}
    for (kind, cells), tags in zip(blocks, groups, strict=True):
        for row, tag in zip(cells, tags, strict=True):
            number += 1
            members[int(tag)].append(number)
            text += fields([number, DESCRIPTORS[kind], 1, 1, 7, len(row)])
            if kind.startswith("line"):
                text += fields([0, 1, 1])
            text += fields((np.asarray(row)[list(AROUND.get(kind, range(len(row))))] + 1).tolist())
    lines += dataset(2412, text)
    text = []
    left = (np.flatnonzero(X[:, 0] == 0.0) + 1).tolist()
    for k, (name, code, tags) in enumerate((("body", 8, members[1]), ("load", 8, members[2]), ("left", 7, left)), 1):
        text += fields([k, 0, 0, 0, 0, 0, 0, len(tags)]) + [name]
        entity = [v for tag in tags for v in ((code, tag, 0, 0) if group in (2467, 2477) else (code, tag))]
        text += fields(entity)
    return "\n".join([*lines, *dataset(group, text), ""])


@pytest.mark.parametrize("kind", SOLIDS + PLANES)
def test_universal(tmp_path, kind):
    X, blocks, groups, n = with_boundary(kind)
    (tmp_path / "part.unv").write_text(universal(X, blocks, groups))
    mesh = read_mesh(tmp_path / "part.unv", "all")
    body = mesh.blocks[mesh.cell_sets["body"][0][0]]
    dim = DIMENSION[kind]
    assert np.allclose(mesh.points[body.cells][..., :dim], X[blocks[0][1]][..., :dim])  # the order of the nodes is ours
    assert shapes.volumes(kind, mesh.points[body.cells][..., :dim]).sum() == pytest.approx(2.0, rel=1e-12)
    assert sum(len(c) for _, c, _ in mesh.facets("load")) == n
    assert area(mesh.facet_nodes("load"), mesh.points) == pytest.approx(1.0, rel=1e-12)
    assert np.array_equal(mesh.nodes_of("left"), np.flatnonzero(X[:, 0] == 0.0))
    assert not mesh.skipped


@pytest.mark.parametrize(("nodes", "group"), [(781, 2477), (15, 2432)])
def test_older_datasets(tmp_path, nodes, group):
    X, blocks, groups, n = with_boundary("tetra")
    (tmp_path / "part.unv").write_text(universal(X, blocks, groups, nodes, group))
    mesh = read_mesh(tmp_path / "part.unv", "all")
    assert mesh.points == pytest.approx(X, abs=1e-5)
    assert sum(len(c) for _, c, _ in mesh.facets("load")) == n


@pytest.mark.parametrize("kind", [0, 1])
def test_nodes_in_a_system_of_coordinates(tmp_path, kind):
    X, blocks, groups, _ = with_boundary("tetra")
    rows = [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [5.0, 6.0, 7.0]]
    system = ["         1", "part", *fields([3, kind, 8]), "CS3"]
    system += ["".join(f"{v:25.16E}" for v in row).replace("E", "D") for row in rows]
    text = universal(X, blocks, groups, system=3) + "\n".join(dataset(2420, system)) + "\n"
    (tmp_path / "part.unv").write_text(text)
    if kind:
        with pytest.raises(MeshError, match="the coordinate system 3, which is not Cartesian"):
            read_mesh(tmp_path / "part.unv", "all")
        return
    mesh = read_mesh(tmp_path / "part.unv", "all")
    assert mesh.points == pytest.approx(np.column_stack((5.0 - X[:, 1], 6.0 + X[:, 0], 7.0 + X[:, 2])))


FIRST = "".join(f"{v:10d}" for v in (1, 111, 1, 1, 7, 4)) + "\n"
WRONG = "".join(f"{v:10d}" for v in (99, 111, 1, 1, 7, 4)) + "\n" + "".join(f"{v:10d}" for v in (1, 2, 3, 999)) + "\n"
DAMAGED = {
    "not one": (lambda t: "hello\n" + t, "not a universal file"),
    "cut off": (lambda t: t[: len(t) // 2], "has no end"),
    "letters": (lambda t: t.replace("D+00", "X+00", 9), "is not a line of 3 numbers"),
    "no nodes": (lambda t: t.replace("  2411", "  9999"), "holds no nodes"),
    "a missing node": (lambda t: t.replace(FIRST, WRONG + FIRST), "element 99 names node 999"),
}  # fmt: skip


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_universal_files(tmp_path, case):
    X, blocks, groups, _ = with_boundary("tetra")
    change, message = DAMAGED[case]
    text = universal(X, blocks, groups)
    assert change(text) != text
    (tmp_path / "part.unv").write_text(change(text))
    with pytest.raises(MeshError, match=message):
        read_mesh(tmp_path / "part.unv", "all")


# --- decks -----------------------------------------------------------------------------------------------------------
TYPES = {
    "tetra": "C3D4", "tetra10": "C3D10", "wedge": "C3D6", "wedge15": "C3D15", "hexahedron": "C3D8",
    "hexahedron20": "C3D20R", "triangle": "CPS3", "triangle6": "CPS6", "quad": "CPS4R", "quad8": "CPS8R",
}  # fmt: skip


@pytest.mark.parametrize("kind", SOLIDS + PLANES)
def test_deck_as_a_mesh(tmp_path, kind):
    X, blocks, _, _ = with_boundary(kind)
    cells = blocks[0][1]
    rows = "".join(f"{i}, " + ", ".join(f"{v:.17g}" for v in x) + "\n" for i, x in enumerate(X, 1))
    text = f"*NODE\n{rows}*ELEMENT, TYPE={TYPES[kind]}, ELSET=Body\n"
    for e, cell in enumerate(cells + 1, 101):
        parts = [", ".join(map(str, cell[i : i + 10])) for i in range(0, len(cell), 10)]
        text += f"{e}, " + ",\n".join(parts) + "\n"
    left = (np.flatnonzero(X[:, 0] == 0.0) + 1).tolist()
    text += "*NSET, NSET=Left\n" + ",\n".join(map(str, left)) + "\n*SURFACE, NAME=Skin\nBody,\n"
    text += "*MATERIAL, NAME=M\n*ELASTIC\n1., 0.\n"
    (tmp_path / "part.inp").write_text(text)
    if DIMENSION[kind] == 2:
        text = text.replace("*SURFACE, NAME=Skin\nBody,\n", "*SURFACE, NAME=Skin\nBody, S1\n")
        (tmp_path / "part.inp").write_text(text)
    mesh = read_mesh(tmp_path / "part.inp", "all")
    assert np.allclose(mesh.points[mesh.blocks[0].cells], X[cells])
    assert np.array_equal(mesh.blocks[0].ids, np.arange(101, 101 + len(cells)))
    assert set(mesh.set_names) == {"LEFT", "SKIN", "BODY"}
    assert np.array_equal(mesh.nodes_of("LEFT"), np.array(left) - 1)
    assert mesh.skipped == ("keywords of the deck that are no mesh: MATERIAL, ELASTIC",)
    if DIMENSION[kind] == 3:  # the skin of a bar of 2 x 1 x 1
        assert area(mesh.facet_nodes("SKIN"), mesh.points) == pytest.approx(10.0, rel=1e-12)


def test_surfaces_of_shells_in_a_deck(tmp_path):
    """SNEG became the same set of cells as SPOS: pressures acted on the wrong side; of a surface of shells and solids
    the shells were lost."""
    (tmp_path / "shells.inp").write_text(
        "*NODE\n1, 0,0,0\n2, 1,0,0\n3, 1,1,0\n4, 0,1,0\n5, 2,0,0\n6, 2,1,0\n7, 2,2,2\n"
        "*ELEMENT, TYPE=S4, ELSET=A\n10, 1,2,3,4\n20, 2,5,6,3\n*ELEMENT, TYPE=C3D4, ELSET=B\n30, 2,5,6,7\n"
        "*SURFACE, NAME=FRONT\nA, SPOS\n*SURFACE, NAME=REAR\nA, SNEG\n*SURFACE, NAME=TWO\n10, SPOS\n20, SNEG\n"
        "*SURFACE, NAME=MORE\n10, SPOS\n30, S1\n*SURFACE, NAME=RIM\n10, E1\n"
    )
    mesh = read_mesh(tmp_path / "shells.inp", "all")
    cells = {name: [mesh.blocks[b].ids[c].tolist() for b, c in parts] for name, parts in mesh.cell_sets.items()}
    assert cells == {
        "A": [[10, 20]], "B": [[30]], "FRONT": [[10, 20]], "REAR@back": [[10, 20]], "TWO": [[10]], "TWO@back": [[20]],
        "MORE@shells": [[10]],
    }  # fmt: skip
    assert list(mesh.facet_sets) == ["MORE"]
    assert mesh.skipped == ('surface "RIM": 1 edge of shells',)


def test_lines_of_a_deck(tmp_path):
    (tmp_path / "frame.inp").write_text(
        "*NODE\n1, 0,0,0\n2, 1,0,0\n3, 2,0,0\n4, 2,0,3\n*ELEMENT, TYPE=B32, ELSET=B\n1, 1, 2, 3\n"
        "*ELEMENT, TYPE=T3D2, ELSET=T\n2, 3, 4\n"
    )
    mesh = read_mesh(tmp_path / "frame.inp")
    found = {b.kind: mesh.points[b.cells] for b in mesh.blocks}
    assert np.allclose(found["line3"][0, :, 0], [0.0, 2.0, 1.0])  # ends, then the middle
    assert np.allclose(found["line2"][0, :, 2], [0.0, 3.0])


def test_instances_of_a_deck_as_a_mesh(tmp_path):
    (tmp_path / "two.inp").write_text(
        "*PART, NAME=P\n*NODE\n1, 0,0,0\n2, 1,0,0\n3, 0,1,0\n4, 0,0,1\n*ELEMENT, TYPE=C3D4, ELSET=ALL\n1, 1,2,3,4\n"
        "*END PART\n*ASSEMBLY, NAME=A\n*INSTANCE, NAME=I, PART=P\n*END INSTANCE\n*INSTANCE, NAME=J, PART=P\n"
        "5., 0., 0.\n*END INSTANCE\n*END ASSEMBLY\n"
    )
    mesh = read_mesh(tmp_path / "two.inp", "all")
    assert set(mesh.set_names) == {"I.ALL", "J.ALL"}
    assert mesh.points[mesh.nodes_of("J.ALL"), 0].min() == 5.0


def test_a_bad_deck_as_a_mesh(tmp_path):
    (tmp_path / "bad.inp").write_text("*NODE\n1, 0,0,0\n*ELEMENT, TYPE=C3D4\n1, 1,2,3,4\n")
    with pytest.raises(MeshError, match=r"line 4: .*names node 2, which is not defined"):
        read_mesh(tmp_path / "bad.inp", "all")


# ---- Nastran bulk data -----------------------------------------------------------------------------------------------
ENTRIES = {
    "line": "CBAR", "triangle": "CTRIA3", "triangle6": "CTRIA6", "quad": "CQUAD4", "quad8": "CQUAD8",
    "tetra": "CTETRA", "tetra10": "CTETRA", "wedge": "CPENTA", "wedge15": "CPENTA", "hexahedron": "CHEXA",
    "hexahedron20": "CHEXA",
}  # fmt: skip
#: Where the k-th node of the file stands in our order: edges upward before those of the top.
UPWARD = {
    "wedge15": (*range(9), 12, 13, 14, 9, 10, 11),
    "hexahedron20": (*range(12), 16, 17, 18, 19, 12, 13, 14, 15),
}  # fmt: skip


def bulk(X, blocks, groups):
    """Bulk data of cells with the properties 1 and 2, supports of the nodes at x = 0, in a cylindrical system."""
    lines = ['$HMNAME PROP       2"load here" 4', "CORD2C,7,0,1.,2.,3.,1.,2.,4.,", ",2.,2.,3."]
    for i, x in enumerate(X, 1):
        x = np.pad(x, (0, 3 - len(x))) - [1.0, 2.0, 3.0]
        r, angle = np.hypot(x[0], x[1]), np.degrees(np.arctan2(x[1], x[0]))
        lines.append(f"GRID*,{i},7,{r:.12f},{angle:.12f},\n*,{x[2]:.12f}")
    number = 0
    for (kind, cells), tags in zip(blocks, groups, strict=True):
        for row, tag in zip(cells, tags, strict=True):
            number += 1
            words = [ENTRIES[kind], number, int(tag), *(np.asarray(row)[list(UPWARD.get(kind, range(len(row))))] + 1)]
            if kind == "line":
                words += [0.0, 0.0, 1.0]
            rows = [words[:9], *(["", *words[k : k + 8]] for k in range(9, len(words), 8))]
            lines += [",".join(map(str, r)) for r in rows]
    left = (np.flatnonzero(X[:, 0] == 0.0) + 1).tolist()
    lines += [f"SPC1,5,123,{k}" for k in left]
    return "\n".join(["PSOLID,1", *lines, ""])  # a property without its material, as mesh generators write it


@pytest.mark.parametrize("kind", SOLIDS + [k for k in PLANES if k in ENTRIES])
def test_bulk_data(tmp_path, kind):
    X, blocks, groups, _ = with_boundary(kind)
    kept = [k for k, (cell, _) in enumerate(blocks) if cell in ENTRIES]
    path = tmp_path / "part.bdf"
    path.write_text(bulk(X, [blocks[k] for k in kept], [groups[k] for k in kept]))
    mesh = read_mesh(path, "all")
    body = next(b for b in mesh.blocks if b.kind == kind)
    given = next(np.asarray(cells) for cell, cells in blocks if cell == kind)
    assert len(body.cells) == len(given)
    size = shapes.volumes(kind, mesh.points[body.cells][..., : DIMENSION[kind]]).sum()
    assert size == pytest.approx(shapes.volumes(kind, X[given][..., : DIMENSION[kind]]).sum(), rel=1e-9)
    assert np.allclose(mesh.points[mesh.node_sets["SPC_5"]][:, 0], 0.0, atol=1e-9)
    assert "PID_1" in mesh.cell_sets
    if len(kept) > 1:
        assert "load here" in mesh.cell_sets and "load here" in mesh.facet_sets
    assert any("PSOLID" in text for text in mesh.skipped)


def test_sets_that_hypermesh_names(tmp_path):
    text = (
        '$HMSET        1        2 "upper"\nSET 1 = 2\n$HMSET        2        1 "ends"\nSET 2 = 1,\n3\nBEGIN BULK\n'
        "GRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,2.,0.,0.\nCROD,1,1,1,2\nCROD,2,1,2,3\nENDDATA\n"
    )
    (tmp_path / "part.fem").write_text(text)
    mesh = read_mesh(tmp_path / "part.fem")
    assert mesh.point_ids[mesh.node_sets["ends"]].tolist() == [1, 3]
    ((block, cells),) = mesh.cell_sets["upper"]
    assert mesh.blocks[block].ids[cells].tolist() == [2]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("CROD,1,1,1,9", "part.bdf, line 2: there is no grid point 9"),
        ("GRID,2,3,1.,0.,0.\nCROD,1,1,1,2", "part.bdf, line 2: there is no coordinate system 3"),
        ("CROD,1,1,1,x", "part.bdf, line 2"),
        ("PROD,1", "no line cells of 2 or 3 nodes"),
    ],
)
def test_damaged_bulk_data(tmp_path, text, told):
    (tmp_path / "part.bdf").write_text(f"GRID,1,,0.,0.,0.\n{text}\n")
    with pytest.raises(MeshError) as error:
        read_mesh(tmp_path / "part.bdf")
    assert told in str(error.value)


def test_quadratic_edges_as_salome_writes_them(tmp_path):
    """Descriptor 22 with three nodes, the middle one second."""
    X = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 0.5, 0.0]])
    text = universal(X, [("line3", [[0, 1, 2]])], [[1]]).replace("        24", "        22", 1)
    (tmp_path / "part.unv").write_text(text)
    (block,) = read_mesh(tmp_path / "part.unv").blocks
    assert block.kind == "line3" and block.cells.tolist() == [[0, 1, 2]]


def test_med_families_without_groups(tmp_path):
    """Gmsh leaves out the list of groups of families that are in none."""
    h5py, meshio = pytest.importorskip("h5py"), pytest.importorskip("meshio")
    points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    mesh = meshio.Mesh(points, [("triangle", [[0, 1, 2], [0, 2, 3]])], cell_data={"cell_tags": [np.array([-1, -2])]})
    mesh.cell_tags = {-1: ["part"], -2: ["rest"]}
    mesh.point_tags = {}
    path = tmp_path / "part.med"
    meshio.med.write(path, mesh)
    with h5py.File(path, "r+") as file:
        family = next(f for f in file["FAS/mesh/ELEME"].values() if f.attrs["NUM"] == -2)
        del family["GRO"]
    before = path.read_bytes()
    found = read_mesh(path, "all")
    assert [len(rows) for _, rows in found.cell_sets["part"]] == [1] and "rest" not in found.cell_sets
    assert path.read_bytes() == before
