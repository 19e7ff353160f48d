"""Cells of parts in results: header, XDMF, VTU read back by meshio, regions of fields that jump from part to part."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from fem_mbs import Model, run
from fem_mbs.elements.solids.shapes import CELLS
from fem_mbs.errors import ResultsError
from fem_mbs.meshes.cells import MIRRORED
from fem_mbs.results.export.vtu import write_vtu_files
from fem_mbs.results.fields import field_key, regions, split_key
from fem_mbs.results.reader import Results
from fem_mbs.results.writer import ResultsWriter

meshio = pytest.importorskip("meshio")
h5py = pytest.importorskip("h5py")

KINDS = [name for name, (dim, _, _) in CELLS.items() if dim > 1]
TOPOLOGY = {
    "triangle": "Triangle", "triangle6": "Triangle_6", "quad": "Quadrilateral", "quad8": "Quadrilateral_8",
    "tetra": "Tetrahedron", "tetra10": "Tetrahedron_10", "hexahedron": "Hexahedron", "hexahedron20": "Hexahedron_20",
    "wedge": "Wedge", "wedge15": "Wedge_15",
}  # fmt: skip


def one_of_each(directory) -> Results:
    """One cell of every kind beside each other, a line and a body; displacements are the positions."""
    nodes, blocks = [], []
    for k, kind in enumerate(KINDS):
        X = np.array(CELLS[kind][1])
        first = sum(map(len, nodes))
        nodes.append(np.hstack([X, np.zeros((len(X), 3 - X.shape[1]))]) + [4.0 * k, 0.0, 0.0])
        cells = first + np.arange(len(X))[None]
        blocks.append({"name": kind, "type": f"solid_{kind}", "cell": kind, "connectivity": cells, "region": 0})
    X = np.vstack(nodes)
    blocks.append({"name": "rod", "type": "beam3d", "connectivity": [[0, 1], [1, 2]]})
    header = {"title": "", "version": "", "dimension": 3, "nodes": X, "blocks": blocks}
    header["fields"] = [{"name": "stress [Pa]", "components": ["xx", "yy", "zz", "xy", "yz", "zx"]}]
    header["bodies"] = [{"name": "ball", "node": 5}]
    writer = ResultsWriter(directory, header)
    writer.begin_step("pull it", "static")
    frames = {"time": [0.5], "displacement": X[None], "stress [Pa]": np.tile(X, 2).astype(np.float32)[None]}
    writer.append({"time": [0.5]}, {**frames, "rod/N [N]": np.array([[1.0, 2.0]])})
    writer.end_step()
    writer.close()
    return Results.open(directory)


def touching(directory) -> Results:
    """Two squares of different parts that share two nodes; stress 1 in the first and 2 in the second."""
    nodes = np.array([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]], float)
    cells = [[[0, 1, 4, 3]], [[1, 2, 5, 4]]]
    blocks = [
        {"name": n, "type": "plane_quad", "cell": "quad", "connectivity": c, "group": n, "region": r}
        for n, c, r in zip("ab", cells, regions([np.array(c) for c in cells], 6), strict=True)
    ]
    header = {"title": "", "version": "", "dimension": 2, "nodes": nodes, "blocks": blocks}
    header["fields"] = [{"name": "s", "components": [""]}]
    writer = ResultsWriter(directory, header)
    for name, kind, summary in (("load", "static", {}), ("shapes", "modes", {"frequencies_hz": [1.5, 20.25]})):
        writer.begin_step(name, kind)
        for t in (1.0, 2.0):
            u = np.zeros((1, 6, 3))
            u[0, :, 0] = t
            frames = {"time": [t], "displacement": u}
            for block in blocks:
                values = np.full((1, 6), np.nan)
                values[0, np.ravel(block["connectivity"])] = t * (1 + "ab".index(block["name"]))
                frames[field_key("s", block["region"])] = values
            writer.append({"time": [t]}, frames)
        writer.end_step(summary)
    writer.close()
    return Results.open(directory)


# ---------------------------------------------------------------------------------------------- header


def test_cells_come_back_from_the_file(tmp_path):
    blocks = one_of_each(tmp_path).header["blocks"]
    assert [block.get("cell") for block in blocks] == [*KINDS, None]
    for block in blocks[:-1]:
        assert block["connectivity"].shape == (1, len(CELLS[block["cell"]][1]))


@pytest.mark.parametrize(
    ("cell", "nodes", "message"),
    [
        ("hexa", 8, 'block "part" has cells "hexa": give one of'),
        ("hexahedron", 6, "has 6 nodes per hexahedron: give 8"),
    ],
)
def test_cells_that_do_not_fit_are_refused(tmp_path, cell, nodes, message):
    block = {"name": "part", "type": "x", "cell": cell, "connectivity": [list(range(nodes))]}
    header = {"title": "", "version": "", "dimension": 3, "nodes": np.zeros((9, 3)), "blocks": [block]}
    with pytest.raises(ResultsError, match=message):
        ResultsWriter(tmp_path, header)


def test_parts_that_touch_get_different_regions():
    parts = [np.array([[0, 1], [1, 2]]), np.array([[2, 3]]), np.array([[3, 4]]), np.array([[4, 5]])]
    found = regions(parts, 6)
    for i in range(4):
        for j in range(i):
            assert found[i] != found[j] or not np.intersect1d(parts[i], parts[j]).size
    assert max(found) == 1 and regions([np.array([[0]]), np.array([[1]])], 2) == [0, 0]
    assert [split_key(field_key("stress [Pa]", k)) for k in range(3)] == [("stress [Pa]", k) for k in range(3)]


# ---------------------------------------------------------------------------------------------- ParaView


def test_xdmf_has_the_topology_of_every_cell(tmp_path):
    results = one_of_each(tmp_path)
    (frame,) = ElementTree.parse(tmp_path / "results.xdmf").getroot().find("Domain")[0]
    grids = {grid.get("Name"): grid for grid in frame.findall("Grid")}
    for kind in KINDS:
        topology = grids[kind].find("Topology")
        assert (topology.get("TopologyType"), topology.get("NumberOfElements")) == (TOPOLOGY[kind], "1")
        name, path = topology.find("DataItem").text.split(":")
        with h5py.File(tmp_path / name) as file:
            assert file[path].shape == (1, len(CELLS[kind][1]))
        fields = {item.get("Name"): item for item in grids[kind].findall("Attribute")}
        assert fields.keys() == {"displacement", "stress [Pa]"} and fields["stress [Pa]"].get("Center") == "Node"
        assert fields["stress [Pa]"].find("DataItem").get("Dimensions") == f"{len(results.header['nodes'])} 1 6"
    for name in ("rod", "bodies"):  # not of a part: no stress at its nodes
        assert "stress [Pa]" not in {item.get("Name") for item in grids[name].findall("Attribute")}


def test_xdmf_shows_a_field_of_each_region_on_its_part(tmp_path):
    touching(tmp_path)
    frame = ElementTree.parse(tmp_path / "results-1-load.xdmf").getroot().find("Domain")[0][1]
    for grid, value in zip(frame.findall("Grid"), (2.0, 4.0), strict=True):
        (item,) = [a.find("DataItem") for a in grid.findall("Attribute") if a.get("Name") == "s"]
        name, path = item.text.split(":")
        cells = grid.find("Topology").find("DataItem").text.split(":")[1]
        with h5py.File(tmp_path / name) as file:
            assert (file[path][()][file[cells][()]] == value).all()


def test_vtu_read_by_meshio_has_cells_and_fields(tmp_path, monkeypatch):
    monkeypatch.setitem(meshio._mesh.topological_dimension, "wedge15", 3)  # unknown to meshio 5.3
    results = one_of_each(tmp_path)
    paths = write_vtu_files(results)
    assert [path.name for path in paths] == ["1-pull_it-00000.vtu", "1-pull_it.pvd"]
    mesh = meshio.read(paths[0])
    nodes = mesh.point_data["node"]
    for block, own in zip(results.header["blocks"], mesh.cells, strict=False):
        assert own.type == block.get("cell", "line")
        order = MIRRORED["wedge15"] if own.type == "wedge15" else slice(None)  # meshio turns linear wedges itself
        np.testing.assert_array_equal(nodes[own.data], np.asarray(block["connectivity"])[:, order])
    assert mesh.cells[-1].type == "vertex"
    np.testing.assert_array_equal(mesh.points, results.header["nodes"][nodes])
    np.testing.assert_array_equal(mesh.point_data["displacement"], mesh.points)
    np.testing.assert_allclose(mesh.point_data["stress [Pa]"], np.tile(mesh.points, 2), rtol=1e-7)
    np.testing.assert_array_equal(mesh.cell_data["rod/N [N]"][len(KINDS)], [1.0, 2.0])
    (entry,) = ElementTree.parse(paths[1]).getroot().iter("DataSet")
    assert (float(entry.get("timestep")), entry.get("file")) == (0.5, paths[0].name)


def test_names_of_fields_have_the_units_of_the_base(tmp_path):
    """The stresses of a model in N and mm were called "stress [Pa]" in ParaView."""
    model = Model(3)
    model.units(base="mm kg ms", stress="MPa")
    model.material("m", E=210.0, density=7.85e-6)
    model.grid("b", "box", size=(10.0, 10.0, 10.0), n=(1, 1, 1))
    model.solids("cube", on="b", material="m")
    model.fix("b:left")
    model.force(name="pull", on="b:right", vector=(1.0, 0.0, 0.0))
    model.linear_static_step()
    model.modes_step(1)
    run(model, tmp_path / "out")
    first, *_, shapes = (
        meshio.read(path) for path in write_vtu_files(Results.open(tmp_path / "out")) if path.suffix == ".vtu"
    )
    assert {"stress [GPa]", "von Mises stress [GPa]"} <= first.point_data.keys()
    assert first.point_data["stress [GPa]"][:, 0].mean() == pytest.approx(
        0.04, rel=1e-3
    )  # 1 kN at each of 4 nodes, on 100 mm^2
    assert set(first.cell_data) == {"cube/energy [J]"}
    assert any(name.startswith("mode 1: ") and name.endswith(" kHz") for name in shapes.point_data)
    text = next((tmp_path / "out").glob("results-1-*.xdmf")).read_text()
    assert 'Name="stress [GPa]"' in text
    assert "[Pa]" not in text


def test_vtu_keeps_jumps_between_parts_and_names_shapes(tmp_path):
    paths = write_vtu_files(touching(tmp_path))
    assert [path.name for path in paths] == ["1-load-00000.vtu", "1-load-00001.vtu", "1-load.pvd", "2-shapes.vtu"]
    mesh = meshio.read(paths[1])
    assert sorted(mesh.point_data["node"].tolist()) == [0, 1, 1, 2, 3, 4, 4, 5]
    values = np.unique(mesh.point_data["s"][np.concatenate([own.data for own in mesh.cells])], axis=1)
    assert sorted(values.ravel().tolist()) == [2.0, 4.0]
    shapes = meshio.read(paths[-1]).point_data
    assert (shapes["mode 1: 1.5 Hz"][:, 0] == 1.0).all() and (shapes["mode 2: 20.25 Hz"][:, 0] == 2.0).all()
    # a new run takes the folder over
    assert touching(tmp_path).complete and not list((tmp_path / "vtu").iterdir())


def test_values_of_elements_do_not_become_values_of_nodes_where_both_are_as_many(tmp_path):
    """A ring of beams has as many elements as nodes: their forces stood at the nodes, too, by the wrong numbers."""
    m = Model(3)
    m.material("steel", E=2e11, density=7800.0)
    m.section("bar", "rectangle", width=0.02, height=0.03)
    m.mesh("ring", arc={"center": (0.0, 0.0, 0.0), "radius": 1.0, "angles": (0, 360), "n": 8})
    m.beams("rim", "ring", "bar", "steel")
    m.fix("ring:start")
    m.force("pull", "ring:all", (1.0, 2.0, 3.0))
    m.linear_static_step()
    results = run(m, tmp_path)
    mesh = meshio.read(write_vtu_files(results)[0])
    assert set(mesh.point_data) == {"node", "displacement", "rotation", "velocity", "reaction"}
    assert "rim/N [N]" in mesh.cell_data
    assert not [name for name in results.nodes_to_dataframe() if name.startswith("rim/")]


def test_values_of_a_group_go_to_its_own_cells_where_another_name_begins_alike(tmp_path):
    m = Model(3)
    m.material("steel", E=2e11, density=7800.0)
    m.section("bar", "rectangle", width=0.02, height=0.03)
    for place, (line, group) in enumerate((("first", "rim/spoke"), ("second", "rim"))):
        m.line(line, (0.0, place, 0.0), (1.0, place, 0.0), 2)
        m.beams(group, line, "bar", "steel")
        m.fix(f"{line}:start")
        m.force(f"pull {line}", f"{line}:end", (1.0 + place, 0.0, 0.0))
    m.linear_static_step()
    cells = meshio.read(write_vtu_files(run(m, tmp_path))[0]).cell_data
    for group, values in (("rim/spoke", [1.0, 1.0, np.nan, np.nan]), ("rim", [np.nan, np.nan, 2.0, 2.0])):
        np.testing.assert_allclose(np.concatenate(cells[f"{group}/N [N]"]), values, rtol=1e-9)


def test_vtu_tells_the_frequencies_of_a_harmonic_step(tmp_path):
    m = Model(3)
    m.material("steel", E=2e11, density=7800.0)
    m.section("bar", "rectangle", width=0.02, height=0.03)
    m.line("line", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 2)
    m.beams("rod", "line", "bar", "steel")
    m.fix("line:start")
    m.force("shake", "line:end", (0.0, 1.0, 0.0))
    m.harmonic_step(frequencies=[2.5, 10.0], frames=2)
    shapes = meshio.read(write_vtu_files(run(m, tmp_path))[0]).point_data
    assert {"shape 1: 2.5 Hz", "shape 2: 10 Hz", "shape 2: 10 Hz, imaginary"} <= shapes.keys()


def test_vtu_without_frames_or_elements(tmp_path):
    header = {"title": "", "version": "", "dimension": 3, "nodes": np.zeros((1, 3))}
    writer = ResultsWriter(tmp_path, header)
    writer.begin_step("s", "static")
    writer.end_step()
    writer.close()
    with pytest.raises(ResultsError, match="neither elements nor bodies"):
        write_vtu_files(Results.open(tmp_path))
