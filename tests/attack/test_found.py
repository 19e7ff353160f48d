"""A test for each defect that attacks have found."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys

import pytest
from places import ROOT

from fem_mbs import Model, reduce_part
from fem_mbs.cli.check import explain
from fem_mbs.cli.commands.streams import lasting_streams
from fem_mbs.decks.nastran.run import convert
from fem_mbs.errors import MeshError, ModelError
from fem_mbs.files import check_hdf5, file_word, read_file
from fem_mbs.meshes.formats.reader import read_mesh
from fem_mbs.meshes.formats.shapes import read_shape
from fem_mbs.meshes.generate import line, polyline
from fem_mbs.meshes.nastran.reader import read_bulk
from fem_mbs.modelfile.read import load_model
from fem_mbs.parts.formats import read_part, write_part


@pytest.mark.parametrize("faces", ["1 2 9", f"1 2 {10**30}"])
def test_a_face_of_a_surface_names_its_corners(tmp_path, faces):
    path = tmp_path / "a.obj"
    path.write_text(f"v 0 0 0\nv 1 0 0\nv 0 1 0\nf {faces}\n")
    with pytest.raises(MeshError, match=r"a\.obj"):
        read_shape(path)


def test_points_in_space_have_three_numbers():
    with pytest.raises(MeshError, match=r"end .* must be 3 numbers, as start has"):
        line((0, 0, 1), (1, 0), 2)
    with pytest.raises(MeshError, match=r"point 2 .* must be 3 numbers"):
        polyline([(0, 0, 1), (1, 0), (2, 0, 1)], 2)
    with pytest.raises(ModelError, match="two numbers, but the model is in space"):
        Model(dimension=3).line("a", (0, 0), (1, 0), n=2)
    Model(dimension=2).line("a", (0, 0), (1, 0), n=2)


def test_a_copied_vector_of_four_numbers_is_refused(tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(
        '[[node]]\nname = "a"\nposition = [0, 0, 0, 0]\n[[copy]]\nname = "b"\nof = ["a"]\ntranslate = [1, 0, 0]\n'
    )
    with pytest.raises(ModelError, match=r"m\.toml"):
        load_model(path)


def test_a_place_is_a_name_or_a_number():
    m = Model(2)
    m.node("a", (0.0, 0.0))
    m.node("b", (1.0, 0.0))
    with pytest.raises(ModelError, match="is no place"):
        m.nodes_of([{"on": "a"}])
    with pytest.raises(ModelError, match='Joint "pin"'):
        m.joint("pin", "revolute", ["a", "b"], "b")


def test_a_stiffness_that_overflows_names_its_node(tmp_path):
    path = tmp_path / "m.toml"
    text = (ROOT / "examples" / "lane_change" / "model.toml").read_text(encoding="utf-8")
    path.write_text(re.sub(r"^relaxation *=.*", "relaxation = 1e-320", text, flags=re.MULTILINE))
    with pytest.raises(ModelError, match=r'm\.toml.*stiffness at node ".* wheel", x is not finite'):
        explain(path)


def test_names_of_files_are_short_and_apart():
    assert file_word("fall [1]/2") == "fall_1_2"
    long = [file_word("x" * 300 + end) for end in "ab"]
    assert len(set(long)) == 2 and all(len(word) == 80 for word in long)


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes with names")
def test_a_pipe_is_no_file(tmp_path):
    """Opening it would wait for a writer for ever."""
    path = tmp_path / "a.toml"
    os.mkfifo(path)
    with pytest.raises(OSError, match="no file"):
        read_file(path)
    assert "no file" in check_hdf5(path)
    with pytest.raises(ModelError, match=r"a\.toml: cannot be read \(it is no file"):
        load_model(path)


def test_vtu_points_have_three_coordinates(tmp_path):
    path = tmp_path / "a.vtu"
    path.write_text(
        '<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian"><UnstructuredGrid>'
        '<Piece NumberOfPoints="2" NumberOfCells="1"><Points><DataArray type="Float64" NumberOfComponents="2" '
        'format="ascii">0 0 1 0</DataArray></Points><Cells><DataArray type="Int64" Name="connectivity" '
        'format="ascii">0 1</DataArray><DataArray type="Int64" Name="offsets" format="ascii">2</DataArray>'
        '<DataArray type="UInt8" Name="types" format="ascii">3</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>'
    )
    with pytest.raises(MeshError, match="2 coordinates"):
        read_mesh(path)


OUTPUT = """
import sys
from fem_mbs.cli.commands.streams import lasting_streams
with lasting_streams() as lost:
    for k in range(20000):
        print("\\u00e9 line", k)
print(lost.error, file=sys.stderr)
"""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_nobody_takes_ends_nothing(unbuffered):
    plain = {**os.environ, "PYTHONUNBUFFERED": unbuffered, "PYTHONIOENCODING": "ascii"}
    script = [sys.executable, "-c", OUTPUT]
    with subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=plain) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"\\xe9 line 0\n"
        process.stdout.close()
        assert process.stderr.read() == b"None\n"
    assert process.returncode == 0
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run(script, stdout=full, stderr=subprocess.PIPE, env=plain, check=False)
    assert (done.returncode, done.stderr) == (0, b"[Errno 28] No space left on device\n")


def test_streams_that_are_no_files_stay(monkeypatch):
    taken = io.StringIO()
    monkeypatch.setattr("sys.stdout", taken)
    with lasting_streams():
        print("said")
    assert taken.getvalue() == "said\n"


def test_a_product_of_inertia_that_overflows_names_its_card(tmp_path):
    path = tmp_path / "bar.bdf"
    path.write_text(
        "SOL 101\nCEND\nBEGIN BULK\nGRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nCBAR,1,1,1,2,0.,0.,1.\nMAT1,1,2.1+11,,.3\n"
        "PBAR,1,1,1.,1.,1.,1.\n,\n,,,1.+200\nENDDATA\n"
    )
    with pytest.raises(ModelError, match=r"bar\.bdf.*I12 = 1e\+200 is larger"):
        convert(read_bulk(path))


def test_an_interface_without_a_name_names_the_file(tmp_path):
    m = Model(2)
    m.material("steel", E=2.1e11, nu=0.3, density=7850.0)
    m.section("bar", "rectangle", width=0.02, height=0.01)
    m.line("rod", (0.0, 0.0), (1.0, 0.0), n=2)
    m.beams("rod", on="rod", section="bar", material="steel")
    folder = write_part(tmp_path / "part", reduce_part(m, {"end": "rod:end"}, modes=1))
    head = folder / "part.json"
    head.write_text(head.read_text().replace('"name": "end"', '"nam": "end"'))
    with pytest.raises(ModelError, match=r"part\.json: an interface lacks one of name"):
        read_part(folder)
