"""Meshes: what is read from true Gmsh and VTU files, what is refused, generators, and the round trip of the writer."""

from __future__ import annotations

import base64
import itertools
import struct
from pathlib import Path

import numpy as np
import pytest
from places import DATA

from fem_mbs.errors import MeshError
from fem_mbs.meshes.formats.reader import read_mesh
from fem_mbs.meshes.generate import arc, grid2d, line, polyline, write_msh
from fem_mbs.meshes.mesh import CellBlock, Mesh

FRAMES = sorted(DATA.glob("frame_*.msh"))


def at(mesh: Mesh, nodes) -> list[tuple[float, ...]]:
    """Positions rounded to what Gmsh places on a curve (1e-12)."""
    return [tuple(float(v) + 0.0 for v in np.round(mesh.points[i], 9)) for i in nodes]


def ids_of(mesh: Mesh, name: str) -> list[int]:
    return [int(i) for block, cells in mesh.cell_sets[name] for i in mesh.blocks[block].ids[cells]]


# ---- Gmsh ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FRAMES, ids=lambda p: p.stem)
def test_frame_in_every_form(path):
    mesh = read_mesh(path)
    version, form, order = path.stem.split("_")[1:]
    assert mesh.format == f"Gmsh {version[0]}.{version[1]} {'ASCII' if form == 'asc' else 'binary'}"
    assert mesh.read == {
        "points": 10 if order == "1" else 19,
        f"line{int(order) + 1}": 9,
        "node sets": 3,
        "cell sets": 3,
    }
    assert mesh.skipped == ()
    assert mesh.source == str(path)
    assert mesh.set_names == ["hinge", "tip@0", "both ends", "rod", "tip@1", "physical_1_7"]
    # a chain along the frame: 9 cells, though six of them are in two groups (2.2 writes those twice)
    for name, n in {"rod": 9, "tip": 3, "physical_1_7": 6, "tip@1": 3}.items():
        lines = mesh.lines(name)
        assert len(lines) == n * int(order)
        assert (lines[1:, 0] == lines[:-1, 1]).all()
    assert np.array_equal(mesh.lines(), mesh.lines("rod"))
    assert np.array_equal(mesh.lines("all"), mesh.lines("rod"))
    length = np.linalg.norm(np.diff(mesh.points[mesh.lines()], axis=1), axis=-1)
    assert length == pytest.approx(np.full((9 * int(order), 1), 1 / (3 * int(order))), rel=1e-9)
    assert at(mesh, [mesh.node("hinge"), mesh.node("tip"), mesh.node("tip@0")]) == [(0, 0, 0), (2, 1, 0), (2, 1, 0)]
    assert at(mesh, mesh.nodes_of("both ends")) == [(0, 0, 0), (2, 1, 0)]
    assert (mesh.points[mesh.nodes_of("tip@1"), 0] == 2).all()
    assert len(mesh.nodes_of("tip@1")) == 3 * int(order) + 1


def test_all_forms_of_the_frame_are_one_mesh():
    for order in "12":
        lines = []
        for path in DATA.glob(f"frame_*_{order}.msh"):
            mesh = read_mesh(path)
            lines.append(mesh.points[mesh.lines()])
        assert len(lines) == 4
        for other in lines[1:]:
            np.testing.assert_allclose(other, lines[0], atol=1e-14)


@pytest.mark.parametrize("path", sorted(DATA.glob("frame_41*_?.msh")), ids=lambda p: p.stem)
def test_coordinates_and_cells_are_those_of_meshio(path):
    from meshio import gmsh

    mesh, raw = read_mesh(path), gmsh.read(path)
    assert np.array_equal(mesh.points, raw.points)
    cells = np.concatenate([block.data for block in raw.cells if block.type.startswith("line")])
    assert np.array_equal(mesh.blocks[0].cells, cells)


@pytest.mark.parametrize("name", ["surface_41", "partitioned_41", "partitioned_22", "surface_all_41"])
def test_surface_cells_are_listed_and_their_points_dropped(name):
    mesh = read_mesh(DATA / f"{name}.msh")
    everything = name == "surface_all_41"
    assert mesh.read["line2"] == (10 if everything else 6)
    assert "12 triangle cells (no element here uses this type)" in mesh.skipped
    assert 'physical group 9 of dimension 2, "skin": cells of types not used' in mesh.skipped
    assert [s for s in mesh.skipped if "that no line cell and no point set uses" in s]
    assert ("the partition numbers of the cells" in mesh.skipped) == name.startswith("partitioned")
    assert len(mesh.unreferenced()) == 0
    assert at(mesh, [mesh.node("hinge"), mesh.node("tip@0")]) == [(0, 0, 0), (2, 1, 0)]
    assert len(mesh.lines("rod")) == 6
    assert (mesh.points[mesh.nodes_of("tip@1"), 0] == 2).all()


def test_groups_that_gmsh_itself_drops_are_listed():
    mesh = read_mesh(DATA / "surface_all_22.msh")
    assert mesh.set_names == []
    wanted = 'physical group 1 of dimension 1, "rod": no cells in the file, save it without Mesh.SaveAll or as 4.1'
    assert wanted in mesh.skipped


@pytest.mark.parametrize("version", ["22", "41"])
def test_a_group_may_use_its_curve_backwards(version):
    mesh = read_mesh(DATA / f"backward_{version}.msh")
    x = mesh.points[mesh.lines("back"), 0]
    assert x.round(9).tolist() == [[0.5, 0.0], [1.0, 0.5]]
    assert (np.diff(mesh.points[mesh.lines("physical_1_2"), 0], axis=1) > 0).all()
    assert mesh.set_names[0] == "q\"u o'te"


HEAD_22 = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
HEAD_41 = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
NODES_22 = "$Nodes\n3\n1 0 0 0\n2 1 0 0\n7 2 0 0\n$EndNodes\n"
CELLS_22 = "$Elements\n2\n1 1 2 1 1 1 2\n2 1 2 1 1 2 7\n$EndElements\n"
ENTITIES = "$Entities\n0 1 0 0\n1 0 0 0 2 0 0 1 5 0\n$EndEntities\n"
NODES_41 = "$Nodes\n1 3 1 7\n1 1 0 3\n1\n2\n7\n0 0 0\n1 0 0\n2 0 0\n$EndNodes\n"
CELLS_41 = "$Elements\n1 2 1 2\n1 1 1 2\n1 1 2\n2 2 7\n$EndElements\n"
GOOD = {"2.2": HEAD_22 + NODES_22 + CELLS_22, "4.1": HEAD_41 + ENTITIES + NODES_41 + CELLS_41}
NAMES = '$PhysicalNames\n1\n1 1 "rod"\n$EndPhysicalNames\n'


def save(folder: Path, content: str | bytes, name: str = "part.msh") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        (GOOD["2.2"], ["physical_1_1"]),
        (GOOD["4.1"], ["physical_1_5"]),
        (HEAD_41 + NODES_41 + CELLS_41, []),
        ("$Comments\nby hand\n$EndComments\n\n" + GOOD["2.2"], ["physical_1_1"]),
        (GOOD["2.2"].replace("\n", "\r\n"), ["physical_1_1"]),
        (GOOD["4.1"].replace("\n", "\r\n"), ["physical_1_5"]),
        (HEAD_22.replace("2.2", "2") + NAMES + NODES_22 + CELLS_22, ["rod"]),
        (HEAD_22 + CELLS_22 + NODES_22 + NAMES, ["rod"]),  # any order
    ],
)
def test_written_by_hand(tmp_path, text, sets):
    mesh = read_mesh(save(tmp_path, text))
    assert mesh.set_names == sets
    assert mesh.point_ids.tolist() == [1, 2, 7]
    assert mesh.points[:, 0].tolist() == [0, 1, 2]
    assert mesh.lines().tolist() == [[0, 1], [1, 2]]


def test_what_else_a_file_holds_is_listed(tmp_path):
    data = '$NodeData\n1\n"u"\n1\n0\n3\n0\n1\n1\n1 3.5\n$EndNodeData\n'
    text = HEAD_22 + NAMES.replace("1\n1 1", '2\n1 9 "gone"\n1 1') + NODES_22 + CELLS_22
    text += data + data + "$Periodic\n0\n$EndPeriodic\n$Thing\n$EndThing\n"
    mesh = read_mesh(save(tmp_path, text))
    assert list(mesh.skipped) == [
        "a field of node values ($NodeData), 2 times",
        "periodic links ($Periodic)",
        "the section $Thing",
        'physical group 9 of dimension 1, "gone": no cells in the file, save it without Mesh.SaveAll or as 4.1',
    ]


def test_2_2_repeats_of_one_cell(tmp_path):
    """Rows 1, 2, 4: a cell in two groups, and once more in the first: two cells side by side, one of them in both."""
    cells = "$Elements\n4\n1 1 2 1 1 1 2\n2 1 2 2 1 1 2\n3 1 2 1 1 2 7\n4 1 2 1 1 1 2\n$EndElements\n"
    mesh = read_mesh(save(tmp_path, HEAD_22 + NODES_22 + cells))
    assert mesh.lines().tolist() == [[0, 1], [1, 2], [0, 1]]
    assert ids_of(mesh, "physical_1_1") == [1, 3, 4]
    assert ids_of(mesh, "physical_1_2") == [1]


def test_mixed_kinds_keep_the_order_of_the_file(tmp_path):
    nodes = "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 2 0 0\n4 3 0 0\n5 1.5 0 0\n$EndNodes\n"
    cells = "$Elements\n3\n1 1 2 1 1 1 2\n2 8 2 1 1 2 3 5\n3 1 2 1 1 3 4\n$EndElements\n"
    mesh = read_mesh(save(tmp_path, HEAD_22 + nodes + cells))
    assert [block.kind for block in mesh.blocks] == ["line2", "line3", "line2"]
    assert mesh.points[mesh.lines("physical_1_1"), 0].tolist() == [[0, 1], [1, 1.5], [1.5, 2], [2, 3]]


@pytest.mark.parametrize(
    ("version", "old", "new", "message"),
    [
        ("2.2", "2.2 0 8", "4 0 8", "Gmsh format 4; 2.2 and 4.1 are read"),
        ("2.2", "2.2 0 8", "2.2 0", 'not like "4.1 0 8"'),
        ("2.2", "2.2 0 8", "2.2 1 8", "other byte order"),
        ("2.2", "$EndElements\n", "", "section $Elements has no $EndElements: the file is cut off"),
        ("2.2", NODES_22, "", "no $Nodes section"),
        ("2.2", CELLS_22, "", "no $Elements section"),
        ("2.2", HEAD_22, "", "no $MeshFormat section"),
        ("2.2", NODES_22, NODES_22 * 2, "section $Nodes comes twice"),
        ("2.2", "$EndNodes\n", "$EndNodes\nhello\n", "line 10 is 'hello' where a $Section should begin"),
        ("2.2", "$Nodes\n3", "$Nodes\n4", "announces 4 nodes and holds 3"),
        ("2.2", "$Nodes\n3", "$Nodes\n2", "announces 2 nodes and holds 3"),
        ("2.2", "$Nodes\n3", "$Nodes\n99999999999999", "announces 99999999999999 nodes"),
        ("2.2", "$Nodes\n3", "$Nodes\nthree", "begins with 'three' where a count should be"),
        ("2.2", "2 1 0 0", "2 1 0", "has the row '2 1 0', not a number and three coordinates"),
        ("2.2", "2 1 0 0", "x 1 0 0", "holds 'x' where a whole number should be"),
        ("2.2", "2 1 0 0", "2 1 0 zero", "damaged or not of its format"),
        ("2.2", "2 1 0 0", "1 1 0 0", "node number 1 is given 2 times"),
        ("2.2", "1 0 0 0", "0 0 0 0", "node number 0; Gmsh counts from 1"),
        ("2.2", "7 2 0 0", "2000000000 2 0 0", "node number 2000000000 for 3 nodes"),
        ("2.2", "2 1 0 0", "2 nan 0 0", "node 2 lies at (nan, 0, 0)"),
        ("2.2", "7 2 0 0", "7 inf 0 0", "node 7 lies at (inf, 0, 0)"),
        ("2.2", "7 2 0 0", "7 1e300 0 0", "node 7 lies at (1e+300, 0, 0)"),
        ("2.2", "2 1 0 0", "2 0 0 0", "cell 1 (line2) has no length: its nodes 1 and 2 lie 0 m apart"),
        ("2.2", "7 2 0 0", "7 1 1e-14 0", "cell 2 (line2) has no length"),
        ("2.2", "1 1 2 7", "1 1 2 2", "cell 2 (line2) uses a node twice (nodes 2, 2)"),
        ("2.2", "1 1 2 7", "1 1 2 3", "cell 2 names node 3, which $Nodes does not hold"),
        ("2.2", "1 1 2 7", "1 1 2 0", "cell 2 names node 0"),
        ("2.2", "2 1 2 1 1 2 7", "2 1 2 1 1 7", "has the row '2 1 2 1 1 7', which does not fit"),
        ("2.2", "2 1 2 1 1 2 7", "2 1 2 1 1 2 x", "holds 'x' where a whole number should be"),
        ("2.2", "2 1 2 1 1 2 7", "2 77 2 1 1 2 7", "Gmsh type 77, which is not known here"),
        ("2.2", "2 1 2 1 1 2 7", "1 1 2 1 1 2 7", "cell number 1 is given 2 times"),
        ("2.2", "$Elements\n2", "$Elements\n1", "announces 1 cells and holds 2"),
        (
            "2.2",
            "1 1 2 1 1 1 2\n2 1 2 1 1 2 7",
            "1 15 2 1 1 1\n2 2 2 1 1 1 2 7",
            "no line cells of 2 or 3 nodes, but 1 tri",
        ),
        ("2.2", "$Nodes", NAMES.replace('"rod"', "rod") + "$Nodes", "'1 1 rod' in $PhysicalNames is not like"),
        ("2.2", "$Nodes", NAMES.replace("1\n1 1", "2\n1 1") + "$Nodes", "announces '2' and holds 1 names"),
        ("4.1", "1 3 1 7\n1 1 0 3", "1 4 1 7\n1 1 0 3", "announces 4 nodes and holds 3"),
        ("4.1", "1 3 1 7\n1 1 0 3", "2 3 1 7\n1 1 0 3", "holds fewer numbers than it announces"),
        ("4.1", "1 3 1 7\n1 1 0 3", "1 3 1 7\n1 1 0 999999999999", "holds fewer numbers than it announces"),
        ("4.1", "1 3 1 7\n1 1 0 3", "1 3 1 7\n1 1 0 -3", "holds the number -3"),
        ("4.1", "1 3 1 7\n1 1 0 3", "1 3 1 7\n1 1 0 2", "holds '0.5' where"),
        ("4.1", "1 3 1 7\n1 1 0 3", "1 3 1 7\n1 1 1 3", "save it with Mesh.SaveParametric = 0"),
        ("4.1", "2 0 0\n$EndNodes", "2 0 0 9\n$EndNodes", "holds more than it announces"),
        ("4.1", "\n7\n", "\n2\n", "node number 2 is given 2 times"),
        ("4.1", "2 2 7", "2 2 8", "cell 2 names node 8, which $Nodes does not hold"),
        ("4.1", "1 2 1 2\n1 1 1 2", "1 3 1 2\n1 1 1 2", "announces 3 cells and holds 2"),
        ("4.1", "1 2 1 2\n1 1 1 2", "1 2 1 2\n2 1 1 2", "puts line cells into an entity of dimension 2"),
        (
            "4.1",
            "1 2 1 2\n1 1 1 2",
            "1 2 1 2\n1 3 1 2",
            "names the entity 3 of dimension 1, which $Entities does not hold",
        ),
        ("4.1", "$Entities\n0 1", "$Entities\n0 2", "holds fewer numbers than it announces"),
    ],
)
def test_a_faulty_gmsh_file_is_refused_by_name(tmp_path, capfd, version, old, new, message):
    text = GOOD[version]
    if "0.5" in message:  # one node too few: the first coordinate is taken for a node number
        text = text.replace("\n7\n0 0 0", "\n0.5 0 0")
        old, new = "1 3 1 7\n1 1 0 3", "1 3 1 7\n1 1 0 3"
    assert old in text
    path = save(tmp_path, text.replace(old, new, 1))
    with pytest.raises(MeshError) as caught:
        read_mesh(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_two_groups_with_one_name_are_refused(tmp_path):
    names = '$PhysicalNames\n2\n1 1 "rod"\n1 2 "rod"\n$EndPhysicalNames\n'
    text = HEAD_22 + names + NODES_22 + CELLS_22.replace("2 1 2 1 1 2 7", "2 1 2 2 1 2 7")
    with pytest.raises(MeshError, match=r'two sets of lines are called "rod" \(one is physical group 2 of dimension 1'):
        read_mesh(save(tmp_path, text))


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (None, "gone.msh", "there is no such file"),
        (None, "", "is a folder or a device"),
        (b"", "part.msh", "the file is empty"),
        (b" \n", "part.vtu", "the file is empty"),
        (GOOD["2.2"], "part.stl", 'the extension ".stl" is not read'),
        (GOOD["2.2"], "part", 'the extension "" is not read'),
        (bytes(range(256)) * 4, "part.msh", "does not begin with $MeshFormat"),
        (b"(0 grid written by ANSYS Fluent)", "part.msh", "an ANSYS Fluent mesh has the same extension"),
        (b"$NOD\n1\n1 0 0 0\n$ENDNOD\n", "part.msh", "has no $EndNOD"),
        (bytes(range(256)) * 4, "part.vtu", "it has no <VTKFile> tag"),
        (b"<VTKFile type='UnstructuredGrid'>", "part.vtu", "damaged or not of its format"),
        (b"<VTKFile type='PolyData'></VTKFile>", "part.vtu", "Expected type UnstructuredGrid"),
    ],
)
def test_no_mesh_file(tmp_path, capfd, content, name, message):
    path = tmp_path / name if content is None else save(tmp_path, content, name)
    with pytest.raises(MeshError) as caught:
        read_mesh(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_a_path_with_a_zero_byte():
    with pytest.raises(MeshError, match="there is no such file"):
        read_mesh("a\0b.msh")


@pytest.mark.parametrize("path", FRAMES, ids=lambda p: p.stem)
def test_cut_off_anywhere_is_refused(tmp_path, path):
    data = path.read_bytes()
    end = len(data.rstrip())
    for n in range(0, end, 37):
        with pytest.raises(MeshError):
            read_mesh(save(tmp_path, data[:n]))


# ---- VTU -------------------------------------------------------------------------------------------------------------


def vtu_mesh():
    import meshio

    points = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 1, 0], [9, 9, 9], [1.5, 0.1, 0], [3, 3, 3.0]]
    cells = [
        ("vertex", [[0], [3]]),
        ("line", [[0, 1], [2, 3]]),
        ("line3", [[1, 2, 5]]),
        ("triangle", [[0, 1, 4]]),
    ]
    point_data = {
        "tip": np.array([0, 0, 0, 1, 0, 0, 0]),
        "ground": np.array([0, 0, 0, 0, 0, 0, 1]),
        "part": np.array([1, 1, 2, 2, 1, 2, 2]),
        "temperature": np.arange(7.0),
        "none": np.zeros(7, dtype=int),
    }

    def per_block(a, b, c, d):
        return [np.array(v) for v in (a, b, c, d)]

    cell_data = {
        "hinge": per_block([1, 0], [0, 0], [0], [0]),
        "tip": per_block([0, 0], [0, 1], [0], [1]),
        "material": per_block([4, 4], [1, 4], [4], [7]),
        "stress": per_block([0.0, 0], [1.0, 1], [2.0], [0.0]),
    }
    return meshio.Mesh(points, cells, point_data=point_data, cell_data=cell_data)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "options",
    [{"binary": False}, {"compression": None}, {"compression": "zlib"}, {"compression": "lzma"}],
    ids=["text", "plain", "zlib", "lzma"],
)
def test_vtu_sets(tmp_path, options):
    from meshio import vtu

    vtu.write(tmp_path / "a.vtu", vtu_mesh(), **options)
    mesh = read_mesh(tmp_path / "a.vtu")
    assert mesh.format == "VTU"
    assert mesh.read == {"points": 7, "line2": 2, "line3": 1, "node sets": 6, "cell sets": 3}
    names = ["tip@0", "ground", "part_1", "part_2", "hinge", "material_4@0", "tip@1", "material_1", "material_4@1"]
    assert mesh.set_names == names
    assert mesh.lines().tolist() == [[0, 1], [2, 3], [1, 5], [5, 2]]
    assert mesh.lines("material_4").tolist() == [[2, 3], [1, 5], [5, 2]]
    assert mesh.lines("tip").tolist() == [[2, 3]]
    assert [mesh.node(name) for name in ("hinge", "tip", "ground")] == [0, 3, 6]
    assert mesh.nodes_of("part_1").tolist() == [0, 1, 4]
    assert mesh.nodes_of("material_4@0").tolist() == [0, 3]
    assert list(mesh.skipped) == [
        'point array "temperature": not whole numbers of one component',
        'point array "none": 0 everywhere',
        'cell array "stress": not whole numbers of one component',
        "1 triangle cell (no element here uses this type)",
    ]


def vtu_text(
    connectivity="0 1 1 2", offsets="2 4", types="3 3", cells=2, points="0 0 0 1 0 0 2 0 0", data="", pieces=1
):
    def array(kind, name, values, more=""):
        return f'<DataArray type="{kind}" Name="{name}" format="ascii" {more}>{values}</DataArray>'

    three = 'NumberOfComponents="3"'
    piece = (
        f'<Piece NumberOfPoints="3" NumberOfCells="{cells}">'
        f"<Points>{array('Float64', 'Points', points, three)}</Points>"
        f"<Cells>{array('Int64', 'connectivity', connectivity)}{array('Int64', 'offsets', offsets)}"
        f"{array('UInt8', 'types', types)}</Cells><PointData>{data}</PointData></Piece>"
    )
    return (
        '<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian"><UnstructuredGrid>'
        f"{piece * pieces}</UnstructuredGrid></VTKFile>"
    )


def test_vtu_by_hand(tmp_path):
    mesh = read_mesh(save(tmp_path, vtu_text(), "a.vtu"))
    assert mesh.lines().tolist() == [[0, 1], [1, 2]]
    assert mesh.set_names == []


def test_vtu_numbering_is_no_set(tmp_path):
    n = 80
    mesh = line((0, 0), (1, 0), n - 1)
    import meshio
    from meshio import vtu

    data = {"vtkOriginalPointIds": np.arange(n)}
    vtu.write(tmp_path / "a.vtu", meshio.Mesh(mesh.points, [("line", mesh.lines())], point_data=data))
    read = read_mesh(tmp_path / "a.vtu")
    assert read.set_names == []
    assert list(read.skipped) == ['point array "vtkOriginalPointIds": 80 different values, taken for a numbering']


def test_vtu_poly_line_is_listed(tmp_path):
    text = vtu_text(connectivity="0 1 0 1 2", offsets="2 5", types="3 4")
    mesh = read_mesh(save(tmp_path, text, "a.vtu"))
    assert len(mesh.lines()) == 1
    assert "1 unknown cell (no element here uses this type)" in mesh.skipped
    assert any("poly lines: turn them into lines" in s for s in mesh.skipped)


def test_vtu_raw_appended(tmp_path):
    """As ParaView writes by default: bytes after an underscore, each array with its length before it."""
    arrays = [
        np.array([0.0, 0, 0, 1, 0, 0, 2, 0, 0]),
        np.array([0, 1, 1, 2], dtype=np.int64),
        np.array([2, 4], dtype=np.int64),
        np.array([3, 3], dtype=np.uint8),
    ]
    raw = [struct.pack("<I", a.nbytes) + a.tobytes() for a in arrays]
    at = [0, *itertools.accumulate(len(r) for r in raw)]
    tags = [
        f'<DataArray type="{kind}" Name="{name}" format="appended" offset="{o}" {more}/>'
        for kind, name, o, more in [
            ("Float64", "Points", at[0], 'NumberOfComponents="3"'),
            ("Int64", "connectivity", at[1], ""),
            ("Int64", "offsets", at[2], ""),
            ("UInt8", "types", at[3], ""),
        ]
    ]
    head = (
        '<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian">\n'
        f'<UnstructuredGrid><Piece NumberOfPoints="3" NumberOfCells="2"><Points>{tags[0]}</Points>'
        f'<Cells>{"".join(tags[1:])}</Cells></Piece></UnstructuredGrid>\n<AppendedData encoding="raw">\n_'
    )
    content = head.encode() + b"".join(raw) + b"\n</AppendedData>\n</VTKFile>\n"
    assert read_mesh(save(tmp_path, content, "a.vtu")).lines().tolist() == [[0, 1], [1, 2]]


ALIEN = '<DataArray type="Int64" Name="a_1" format="ascii">0 1 0</DataArray>'
ALIEN += '<DataArray type="Int64" Name="a" format="ascii">1 2 2</DataArray>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (vtu_text(pieces=2), "holds 2 pieces and one is read"),
        (vtu_text(connectivity="0 1 1 3"), "a cell names point 3 of 3"),
        (vtu_text(connectivity="0 1 1 -1"), "a cell names point -1 of 3"),
        (vtu_text(connectivity="0 1 1 x"), "could not be read to its end"),
        (vtu_text(connectivity="0 1 1 1"), "cell 1 (line2) uses a node twice"),
        (vtu_text(offsets="2"), "damaged or not of its format (ReadError"),
        (vtu_text(offsets="2 400"), "damaged or not of its format (IndexError"),
        (vtu_text(points="0 0 0 1 0 0 2 0"), "damaged or not of its format (CorruptionError"),
        (vtu_text(points="0 0 0 0 0 0 2 0 0"), "cell 0 (line2) has no length"),
        (vtu_text(points="0 0 0 nan 0 0 2 0 0"), "node 1 lies at (nan, 0, 0)"),
        (vtu_text(types="3 99"), ""),
        (
            vtu_text(connectivity="0 1 2", offsets="3", types="5", cells=1),
            "no line cells of 2 or 3 nodes, but 1 triangle",
        ),
        (vtu_text(data=ALIEN), 'two sets of points are called "a_1" (one is point array a)'),
        (vtu_text().replace("Int64", "Int128"), "Illegal data type"),
        (vtu_text().replace('"0.1"', '"7.1"'), "Unknown VTU file version"),
        (vtu_text()[:-9], "damaged or not of its format"),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_faulty_vtu_file_is_refused(tmp_path, capfd, text, message):
    path = save(tmp_path, text, "a.vtu")
    if not message:
        assert len(read_mesh(path).lines()) == 1
    else:
        with pytest.raises(MeshError) as caught:
            read_mesh(path)
        assert message in str(caught.value)
        assert str(path) in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_vtu_broken_base64(tmp_path):
    text = vtu_text().replace("ascii", "binary").replace("0 1 1 2", base64.b64encode(b"\xff" * 9).decode())
    with pytest.raises(MeshError, match="damaged or not of its format"):
        read_mesh(save(tmp_path, text, "a.vtu"))


# ---- the mesh itself -------------------------------------------------------------------------------------------------


def frame(**changes) -> Mesh:
    given = {
        "points": [[0, 0], [1, 0], [2, 0], [2, 1], [5, 5]],
        "blocks": [CellBlock("line2", [[0, 1], [1, 2], [2, 3]])],
        "node_sets": {"tip": [3], "ends": [3, 0], "none": []},
        "cell_sets": {"rod": [(0, [1, 0])], "tip": [(0, [2])]},
    }
    return Mesh(**(given | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"points": [[0.0], [1.0]]}, "points must be n rows of 3"),
        ({"points": "abc"}, "points must be n rows of 3"),
        ({"point_ids": [1, 2, 3, 4, 4]}, "node number 4 is given 2 times"),
        ({"point_ids": [1, 2, 3]}, "node numbers must be 5 whole numbers"),
        ({"point_ids": [1.5, 2, 3, 4, 5]}, "node numbers must be 5 whole numbers"),
        ({"blocks": [CellBlock("hexa", [[0, 1]])]}, "unknown cell kind 'hexa'"),
        ({"blocks": [CellBlock("line3", [[0, 1]])]}, "line3 cells need 3 whole numbers each"),
        ({"blocks": [CellBlock("line2", [[0, 1], [1]])]}, "line2 cells need 2 whole numbers each"),
        ({"blocks": [CellBlock("line2", [[0, 1.0]])]}, "line2 cells need 2 whole numbers each"),
        ({"blocks": [CellBlock("line2", [[0, 9]])], "cell_sets": {}}, "cell 1 refers to point [0, 9], but there are 5"),
        ({"blocks": [CellBlock("line3", [[0, 1, 1]], [77])], "cell_sets": {}}, "cell 77 (line3) uses a node twice"),
        ({"blocks": [CellBlock("line2", [[0, 1]])] * 2, "cell_sets": {}}, None),
        ({"blocks": [CellBlock("line2", [[0, 1]], [3])] * 2, "cell_sets": {}}, "cell number 3 is given 2 times"),
        ({"points": [[0, 0], [0, 0], [2, 0], [2, 1], [5, 5]]}, "cell 1 (line2) has no length: its nodes 1 and 2"),
        ({"points": [[0, 0], [1, 0], [2, 0], [2, np.nan], [5, 5]]}, "node 4 lies at (2, nan, 0)"),
        ({"node_sets": {"tip": [5]}}, 'node set "tip" has indices 5 to 5, outside 0 to 4'),
        ({"node_sets": {"tip": [[1]]}}, 'node set "tip" must be a list of indices'),
        ({"cell_sets": {"rod": [(0, [3])]}}, 'cell set "rod" has indices 3 to 3, outside 0 to 2'),
        ({"cell_sets": {"rod": [(1, [0])]}}, 'cell set "rod" refers to block 1, but there are 1'),
    ],
)
def test_mesh_checks(changes, message):
    if message is None:
        assert len(frame(**changes).lines()) == 2
        return
    with pytest.raises(MeshError) as caught:
        frame(**changes)
    assert message in str(caught.value)


def test_middle_node_on_an_end_has_no_length():
    with pytest.raises(MeshError, match=r"cell 1 \(line3\) has no length: its nodes 3 and 2"):
        Mesh([[0, 0], [1, 0], [1, 0]], [CellBlock("line3", [[0, 1, 2]])])


def test_sets_and_names():
    mesh = frame()
    assert mesh.lines("rod").tolist() == [[0, 1], [1, 2]]  # order of the mesh, not of the set
    assert mesh.nodes_of("rod").tolist() == [0, 1, 2]
    assert mesh.nodes_of("all").tolist() == [0, 1, 2, 3]
    assert mesh.nodes_of("ends").tolist() == [0, 3]
    assert mesh.nodes_of("tip@1").tolist() == [2, 3]
    assert mesh.node("tip") == 3
    assert mesh.unreferenced().tolist() == [4]
    assert mesh.set_names == ["tip@0", "ends", "none", "rod", "tip@1"]
    with pytest.raises(ValueError, match="read-only"):
        mesh.points[0] = 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.nodes_of("tip"), '"tip" is a set of points and a set of lines; write "tip@0" or "tip@1"'),
        (lambda m: m.node("ends"), 'point set "ends" has 2 nodes where a single node is needed'),
        (lambda m: m.node("none"), 'point set "none" has 0 nodes where a single node is needed'),
        (lambda m: m.node("rod"), 'line set "rod" has 3 nodes where a single node is needed'),
        (lambda m: m.lines("ends"), 'set "ends" holds 2 points and no line cells; name a line group'),
        (
            lambda m: m.lines("rodd"),
            'no set "rodd" in the mesh; it has tip@0, ends, none, rod, tip@1. Did you mean "rod"?',
        ),
        (lambda m: m.nodes_of("rod@0"), 'no set "rod@0"'),
        (
            lambda m: line((0, 0), (1, 0), 2).transformed().node("tip"),
            'no set "tip" in the mesh; it has start, end, all',
        ),
        (lambda m: Mesh([[0, 0]]).node("tip"), "it has no named sets"),
        (lambda m: m.transformed(scale=0), "scale 0 must be a positive number"),
        (lambda m: m.transformed(scale=float("nan")), "scale nan must be a positive number"),
        (lambda m: m.transformed(rotation=2 * np.eye(3)), "R R^T = 1"),
        (lambda m: m.transformed(rotation=np.eye(2)), "must be a 3x3 matrix"),
        (lambda m: m.transformed(rotation=np.diag([1, 1, -1])), "has determinant -1, a reflection"),
        (lambda m: m.transformed(translate=[1]), "must be 2 or 3 finite numbers"),
        (lambda m: m.transformed(scale=1e308).points, "node 2 lies at (1e+308"),
        (lambda m: m.transformed(translate=[1e20, 0]), "has no length"),
    ],
)
def test_mesh_questions_refused(call, message):
    with pytest.raises(MeshError) as caught:
        call(frame())
    assert message in str(caught.value)


def test_transformed():
    mesh = frame()
    c, s = np.cos(0.3), np.sin(0.3)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    moved = mesh.transformed(scale=0.001, rotation=turn, translate=[1, 2])
    np.testing.assert_allclose(moved.points[3], [1 + 0.001 * (2 * c - s), 2 + 0.001 * (2 * s + c), 0], rtol=1e-15)
    assert np.array_equal(moved.lines("rod"), mesh.lines("rod"))
    assert moved.set_names == mesh.set_names
    assert mesh.points[3].tolist() == [2, 1, 0]
    assert mesh.transformed() is mesh  # which cannot be changed


def test_sets_are_ascending_and_hold_what_is_given_twice_once():
    mesh = Mesh(
        [[0, 0], [1, 0], [2, 0], [3, 0]],
        [CellBlock("line2", [[0, 1], [1, 2], [2, 3]])],
        node_sets={"a": [3, 1, 2], "b": [0, 2, 2], "c": [1, 3], "d": [2, 2]},
        cell_sets={"e": [(0, [2, 0])], "f": [(0, [1, 2]), (0, [0, 1])]},
    )
    assert {k: v.tolist() for k, v in mesh.node_sets.items()} == {"a": [1, 2, 3], "b": [0, 2], "c": [1, 3], "d": [2]}
    assert [mesh.cells_of(name, 1)[0][1].tolist() for name in "ef"] == [[0, 2], [0, 1, 2]]


# ---- generators and writer -------------------------------------------------------------------------------------------


def test_line():
    mesh = line((0, 0), (0.3, 0.6), 3)
    np.testing.assert_allclose(mesh.points, [[0, 0, 0], [0.1, 0.2, 0], [0.2, 0.4, 0], [0.3, 0.6, 0]], rtol=1e-15)
    assert mesh.points[-1].tolist() == [0.3, 0.6, 0]  # exactly the given end
    assert mesh.lines("all").tolist() == [[0, 1], [1, 2], [2, 3]]
    assert (mesh.node("start"), mesh.node("end")) == (0, 3)


def test_polyline():
    mesh = polyline([(0, 0), (1, 0), (1, 1)], [2, 3])
    assert mesh.lines().tolist() == [[i, i + 1] for i in range(5)]
    assert at(mesh, mesh.nodes_of("corners")) == [(0, 0, 0), (1, 0, 0), (1, 1, 0)]
    assert at(mesh, [mesh.node(f"corner_{i}") for i in (1, 2, 3)]) == [(0, 0, 0), (1, 0, 0), (1, 1, 0)]
    assert mesh.lines("segment_2").tolist() == [[2, 3], [3, 4], [4, 5]]


def test_closed_polyline_and_ring():
    mesh = polyline([(0, 0), (1, 0), (1, 1), (0, 0)], 2)
    assert len(mesh.points) == 6
    assert mesh.lines()[-1].tolist() == [5, 0]
    assert mesh.node("start") == mesh.node("end") == mesh.node("corner_1") == 0
    assert mesh.nodes_of("corners").tolist() == [0, 2, 4]
    assert "corner_4" not in mesh.set_names
    ring = arc((0, 0), 2.0, (0, 360), 12)
    assert len(ring.points) == 12
    assert ring.lines()[-1].tolist() == [11, 0]


@pytest.mark.parametrize("normal", [(0, 0, 1), (0, 0, -2), (1, 0, 0), (1, 2, 3), (-1, 1e-12, 0)])
def test_arc(normal):
    center, radius = np.array([1.0, 2, 3]), 0.5
    mesh = arc(center, radius, (30, 120), 6, normal)
    r = mesh.points - center
    np.testing.assert_allclose(np.linalg.norm(r, axis=1), radius, rtol=1e-14)
    unit = np.array(normal) / np.linalg.norm(normal)
    np.testing.assert_allclose(r @ unit, 0, atol=1e-15)
    # turns about the normal, by 15 degrees a cell
    np.testing.assert_allclose(
        np.cross(r[:-1], r[1:]), np.outer([radius**2 * np.sin(np.pi / 12)] * 6, unit), atol=1e-15
    )
    if normal == (0, 0, 1):
        np.testing.assert_allclose(r[0], radius * np.array([np.sqrt(0.75), 0.5, 0]), rtol=1e-15)


@pytest.mark.parametrize(("diagonals", "n"), [("none", 0), ("rising", 6), ("falling", 6), ("both", 12)])
def test_grid2d(diagonals, n):
    mesh = grid2d((3, 1), (3, 2), origin=(10, 20), diagonals=diagonals)
    assert mesh.read["points"] == 12
    assert (len(mesh.lines("horizontal")), len(mesh.lines("vertical"))) == (9, 8)
    assert len(mesh.lines()) == 17 + n
    step = np.diff(mesh.points[mesh.lines()], axis=1)[:, 0]
    np.testing.assert_allclose(step[:9], np.tile([1, 0, 0], (9, 1)))
    np.testing.assert_allclose(step[9:17], np.tile([0, 0.5, 0], (8, 1)))
    slopes = {"none": [], "rising": [0.5] * 6, "falling": [-0.5] * 6, "both": [0.5] * 6 + [-0.5] * 6}[diagonals]
    np.testing.assert_allclose(step[17:, 1] / step[17:, 0], slopes)
    assert at(mesh, [mesh.node("bottom_left"), mesh.node("top_right")]) == [(10, 20, 0), (13, 21, 0)]
    assert (mesh.points[mesh.nodes_of("right"), 0] == 13).all()
    assert len(mesh.nodes_of("top")) == 4
    assert ("diagonal" in mesh.set_names) == (n > 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: line((0, 0), (0, 0), 2), "line: start and end are both (0.0, 0.0, 0.0)"),
        (lambda: line((0, 0), (1, 0), 0), "line: n is 0; give a whole number of cells"),
        (lambda: line((0, 0), (1, 0), 2.0), "line: n is 2.0"),
        (lambda: line((0, 0), (1, 0), True), "line: n is True"),
        (lambda: line((0,), (1, 0), 2), "line: start (0,) must be 2 or 3 finite numbers"),
        (lambda: line((0, 0), ("a", 0), 2), "line: end ('a', 0) must be"),
        (lambda: line((0, 0), (np.inf, 0), 2), "line: end (inf, 0) must be"),
        (lambda: polyline([(0, 0)], 2), "polyline: 1 points; give at least 2"),
        (lambda: polyline([(0, 0), (1, 0)], [1, 2]), "n_per_segment has 2 entries for 1 segments"),
        (lambda: polyline([(0, 0), (1, 0), (1, 0)], 1), "points 2 and 3 are both"),
        (lambda: polyline([(0, 0), (1, 0), (0, 0)], 1), "it would lie on itself"),
        (lambda: arc((0, 0), 0, (0, 90), 3), "arc: radius 0 must be"),
        (lambda: arc((0, 0), 1, (0, 0), 3), "must differ by more than 0"),
        (lambda: arc((0, 0), 1, (0, 400), 3), "at most 360 deg"),
        (lambda: arc((0, 0), 1, (0, 360), 2), "a ring of 2 cells lies on itself"),
        (lambda: arc((0, 0), 1, (0, 90), 3, (0, 0, 0)), "normal (0, 0, 0) has no length"),
        (lambda: arc((0, 0), 1, 90, 3), "must be two finite numbers"),
        (lambda: grid2d((1, 0), (1, 1)), "size (1, 0) must be two positive numbers"),
        (lambda: grid2d((1, 1), (1, 1), diagonals="x"), "diagonals 'x'"),
        (lambda: grid2d((1, 1), (1, 0)), "cells is 0"),
        (lambda: grid2d((1, 1), (1,)), "cells (1,) must be two"),
    ],
)
def test_generators_refuse(call, message):
    with pytest.raises(MeshError) as caught:
        call()
    assert message in str(caught.value)


def many_sets() -> Mesh:
    """Both kinds, cells in no, one and two sets, one name for points and lines, odd numbers, a repeated cell."""
    return Mesh(
        points=[[0, 0, 0], [1 / 3, 0, 0], [2, 0.1, -1e-7], [2, 1, 0], [1.2, 0.1, 0], [7, 7, 7]],
        blocks=[
            CellBlock("line2", [[0, 1], [2, 3], [2, 3]], [4, 2, 9]),
            CellBlock("line3", [[1, 2, 4]], [30]),
            CellBlock("line2", [[0, 3]], [1]),
        ],
        node_sets={"tip": [3], "ends": [0, 3], "ground": [5]},
        cell_sets={"a b": [(0, [1, 2]), (1, [0])], "tip": [(0, [0, 1]), (1, [0])], "é \"'": [(0, [2])]},
        point_ids=[3, 1, 12, 5, 8, 40],
    )


MESHES = [
    many_sets(),
    line((0, 0), (1, np.pi), 7),
    polyline([(0, 0), (1, 0), (1, 1), (0, 0)], 2),
    arc((0, 0, 1), 2, (0, 270), 9, (1, 1, 1)),
    grid2d((2, 1), (3, 2), diagonals="both"),
]


@pytest.mark.parametrize("version", ["2.2", "4.1"])
@pytest.mark.parametrize("mesh", MESHES, ids=lambda m: m.source or "many_sets")
def test_round_trip(tmp_path, mesh, version):
    path = tmp_path / "a.msh"
    write_msh(mesh, path, version)
    read = read_mesh(path)
    assert read.format == f"Gmsh {version} ASCII"
    assert read.skipped == ()
    assert np.array_equal(read.points, mesh.points)  # every bit
    assert np.array_equal(read.point_ids, mesh.point_ids)
    assert [block.kind for block in read.blocks] == [block.kind for block in mesh.blocks]
    for mine, theirs in zip(mesh.blocks, read.blocks, strict=True):
        assert np.array_equal(mine.cells, theirs.cells)
        assert np.array_equal(mine.ids, theirs.ids)
    assert read.set_names == mesh.set_names
    for name in mesh.node_sets:
        assert np.array_equal(read.node_sets[name], mesh.node_sets[name])
    for name in mesh.cell_sets:
        assert [(b, i.tolist()) for b, i in read.cell_sets[name]] == [(b, i.tolist()) for b, i in mesh.cell_sets[name]]


@pytest.mark.parametrize(
    ("mesh", "path", "version", "message"),
    [
        (line((0, 0), (1, 0), 1), "a.msh", "4.0", "version '4.0'"),
        (Mesh([[0, 0]]), "a.msh", "4.1", "has no cells"),
        (Mesh([[0, 0], [1, 0]], [CellBlock("line2", [[0, 1]])], {"a\nb": [0]}), "a.msh", "4.1", "set name 'a\\nb'"),
        (line((0, 0), (1, 0), 1), "no/such/folder/a.msh", "4.1", "cannot be written"),
    ],
)
def test_writer_refuses(tmp_path, mesh, path, version, message):
    with pytest.raises(MeshError) as caught:
        write_msh(mesh, tmp_path / path, version)
    assert message in str(caught.value)
    assert not (tmp_path / path).exists()
