"""ParaView itself, where `pvpython` is installed, reads the XDMF files of a run."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest
from solid_meshes import grid as cut_box

from fem_mbs.meshes.cells import SOLID_KINDS
from fem_mbs.meshes.formats.reader import read_mesh
from fem_mbs.meshes.formats.vtu import write_vtu
from fem_mbs.results import store
from fem_mbs.results.writer import ResultsWriter

pytestmark = pytest.mark.skipif(not shutil.which("pvpython"), reason="ParaView (pvpython) is not installed")

CELLS = {
    "line": 2, "line3": 3, "triangle": 3, "triangle6": 6, "quad": 4, "quad8": 8, "tetra": 4, "tetra10": 10, "wedge": 6,
    "wedge15": 15, "hexahedron": 8, "hexahedron20": 20,
}  # fmt: skip
VTK_CELLS = {
    "line": "PolyLine", "line3": "QuadraticEdge", "triangle": "Triangle", "triangle6": "QuadraticTriangle",
    "quad": "Quad", "quad8": "QuadraticQuad", "tetra": "Tetra", "tetra10": "QuadraticTetra", "wedge": "Wedge",
    "wedge15": "QuadraticWedge", "hexahedron": "Hexahedron", "hexahedron20": "QuadraticHexahedron",
}  # fmt: skip

READ = """
import json, sys
from paraview import servermanager
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy

reader, paths = sys.argv[1], sys.argv[2:]
found = []
for path in paths:
    source = XDMFReader(FileNames=[path]) if reader == "2" else Xdmf3ReaderS(FileName=[path])
    source.UpdatePipelineInformation()
    times = list(source.TimestepValues)
    frames = []
    for time in times:
        source.UpdatePipeline(time)
        data = servermanager.Fetch(source)
        iterator = data.NewIterator()
        iterator.InitTraversal()
        grids = []
        while not iterator.IsDoneWithTraversal():
            grid = iterator.GetCurrentDataObject()
            arrays = {}
            for kind in (grid.GetPointData(), grid.GetCellData()):
                for number in range(kind.GetNumberOfArrays()):
                    arrays[kind.GetArrayName(number)] = vtk_to_numpy(kind.GetArray(number)).ravel().tolist()
            cell = grid.GetCell(0)
            ids = [cell.GetPointId(k) for k in range(cell.GetNumberOfPoints())]
            grids.append({"cell": cell.GetClassName(), "ids": ids, "arrays": arrays})
            iterator.GoToNextItem()
        frames.append(grids)
    found.append({"times": times, "frames": frames})
print("found", json.dumps(found))
"""


def read_in_paraview(directory, reader: str) -> list[dict]:
    """Return times and grids of the XDMF files of a folder, in the order of their names, as ParaView has them."""
    script = directory / "read.py"
    script.write_text(READ, encoding="utf-8")
    paths = sorted(str(path) for path in directory.glob("*.xdmf"))
    done = subprocess.run(["pvpython", script, reader, *paths], capture_output=True, text=True, timeout=300)
    lines = [line for line in done.stdout.splitlines() if line.startswith("found ")]
    assert lines, done.stderr
    return json.loads(lines[0][len("found ") :])


@pytest.mark.parametrize("frames", ["of complete datasets", "of parts of datasets"])
@pytest.mark.parametrize("reader", ["2", "3"])
def test_paraview_shows_what_each_step_has(tmp_path, reader, frames, monkeypatch):
    if frames == "of parts of datasets":
        if reader == "3":
            pytest.skip("ParaView's Xdmf 3 readers show no parts of datasets (docs/results.md)")
        monkeypatch.setattr(store, "SPLIT_LIMIT", 0)
    rng = np.random.default_rng(1)
    nodes = rng.random((20, 3))
    blocks = [
        {"name": name, "type": name, "cell": name, "connectivity": [list(range(size))]} for name, size in CELLS.items()
    ]
    header = {"title": "", "version": "", "dimension": 3, "nodes": nodes, "blocks": blocks}
    modes, motion = rng.random((2, 20, 3)), rng.random((3, 20, 3))
    speeds, forces = rng.random((3, 20, 3)), rng.random((3, 1))
    with ResultsWriter(tmp_path, header) as writer:
        writer.begin_step("modes", "modal")
        writer.append({"time": [1.0, 2.0]}, {"time": [1.0, 2.0], "displacement": modes})
        writer.end_step()
        writer.begin_step("motion", "transient")
        times = [0.0, 0.5, 1.0]
        row = {"time": times, "displacement": motion, "velocity": speeds, "tetra10/N [N]": forces}
        writer.append({"time": times}, row)
        writer.end_step()
        writer.close()
    first, second = read_in_paraview(tmp_path, reader)
    assert first["times"] == [1.0, 2.0] and second["times"] == times
    for step, shapes, names in ((first, modes, {"displacement"}), (second, motion, {"displacement", "velocity"})):
        for grids, shape in zip(step["frames"], shapes, strict=True):
            assert len(grids) == len(CELLS)
            for grid, (name, size) in zip(grids, CELLS.items(), strict=True):
                assert grid["cell"] == f"vtk{VTK_CELLS[name]}" and grid["ids"] == list(range(size))
                own = {"N [N]"} if name == "tetra10" and step is second else set()
                assert grid["arrays"].keys() == names | own
                np.testing.assert_allclose(grid["arrays"]["displacement"], shape.ravel(), rtol=1e-15)


INTEGRATE = """
import json, sys
from paraview import servermanager
from paraview.simple import *

found = {}
for path in sys.argv[1:]:
    whole = IntegrateVariables(Input=XMLUnstructuredGridReader(FileName=[path]))
    whole.UpdatePipeline()
    found[path] = servermanager.Fetch(whole).GetCellData().GetArray("Volume").GetValue(0)
print("found", json.dumps(found))
"""


def test_paraview_finds_the_volume_of_solids(tmp_path):
    """That of quadratic wedges was negative, and so was what ParaView integrated over them."""
    paths = []
    for kind in SOLID_KINDS:
        x, cells = cut_box(kind, (2, 1, 1), (2.0, 0.3, 0.5))
        paths.append(write_vtu(tmp_path / f"{kind}.vtu", x, [(kind, cells)], {}, {}))
        assert np.array_equal(read_mesh(paths[-1], "all").blocks[0].cells, cells)
    script = tmp_path / "read.py"
    script.write_text(INTEGRATE, encoding="utf-8")
    done = subprocess.run(["pvpython", script, *paths], capture_output=True, text=True, timeout=300)
    lines = [line for line in done.stdout.splitlines() if line.startswith("found ")]
    assert lines, done.stderr
    assert list(json.loads(lines[0][len("found ") :]).values()) == pytest.approx([0.3] * len(paths), rel=1e-6)
