"""Sets that name nodes, elements or sides that the mesh does not have: refused, or told where the program of the format
passes over them with a warning."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.io import netcdf_file

from fem_mbs.errors import MeshError
from fem_mbs.meshes.formats.reader import read_mesh


def dataset(number: int, *rows: list[int] | str) -> str:
    lines = [row if isinstance(row, str) else "".join(f"{v:10d}" for v in row) for row in rows]
    return "\n".join(["    -1", f"{number:6d}", *lines, "    -1", ""])


def universal(code: int, tag: int) -> str:
    """Two bars, an element of an unknown type, and a group with one member."""
    nodes: list[list[int] | str] = []
    for k in (1, 2, 3):
        nodes += [[k, 0, 0, 11], f"{k:25.16E}{0:25.16E}{0:25.16E}".replace("E", "D")]
    bars = [[1, 11, 1, 1, 7, 2], [0, 0, 0], [1, 2], [2, 11, 1, 1, 7, 2], [0, 0, 0], [2, 3], [9, 999, 1, 1, 7, 1], [1]]
    group = [[1, 0, 0, 0, 0, 0, 0, 2], "part", [code, tag, 0, 0, 7, 1, 0, 0]]
    return dataset(2411, *nodes) + dataset(2412, *bars) + dataset(2477, *group)


@pytest.mark.parametrize(("code", "tag", "what"), [(7, 5, "node 5"), (8, 3, "element 3")])
def test_groups_of_universal_files(tmp_path, code, tag, what):
    (tmp_path / "part.unv").write_text(universal(code, tag))
    with pytest.raises(MeshError, match=f'part.unv: the group "part" names {what}, which is not there; save it anew'):
        read_mesh(tmp_path / "part.unv", "all")


@pytest.mark.parametrize(("code", "tag"), [(7, 3), (8, 2), (8, 9)])  # element 9 is there, of a type that is not read
def test_members_that_are_there(tmp_path, code, tag):
    (tmp_path / "part.unv").write_text(universal(code, tag))
    assert "part" in read_mesh(tmp_path / "part.unv", "all").node_sets


def exodus(path, node: int, element: int) -> None:
    """One tetrahedron with a node set of one node and a side set of one side, numbers from 1."""
    numbers = {
        "connect1": np.array([[1, 2, 3, 4]]), "node_ns1": np.array([node]), "elem_ss1": np.array([element]),
        "side_ss1": np.array([1]),
    }  # fmt: skip
    variables = {name: value.astype(np.int32) for name, value in numbers.items()}
    variables |= {f"coord{c}": np.eye(4)[k] for k, c in enumerate("xyz")}
    with netcdf_file(path, "w") as file:
        for name, value in variables.items():
            for k, n in enumerate(value.shape):
                file.createDimension(f"{name}_{k}", n)
            item = file.createVariable(name, value.dtype.str[1:], [f"{name}_{k}" for k in range(value.ndim)])
            item[:] = value
        file.variables["connect1"].elem_type = "TETRA"


@pytest.mark.parametrize(
    ("node", "element", "message"),
    [
        (0, 1, "nodes_1.* names node 0 of 4"),
        (5, 1, "nodes_1.* names node 5 of 4"),
        (1, 0, "sides_1.* names element 0 of 1"),
        (1, 2, "sides_1.* names element 2 of 1"),
    ],
)
def test_sets_of_exodus_files(tmp_path, node, element, message):
    exodus(tmp_path / "part.exo", node, element)
    with pytest.raises(MeshError, match=message):
        read_mesh(tmp_path / "part.exo", "all")


INP = """*NODE
1, 0., 0., 0.
2, 1., 0., 0.
3, 2., 0., 0.
*ELEMENT, TYPE=T3D2
1, 1, 2
2, 2, 3
*NSET, NSET=ends
1, 3, 7
*ELSET, ELSET=upper
2, 8, 9
"""


def test_sets_of_decks_tell_what_they_leave_out(tmp_path):
    """Abaqus and CalculiX warn of undefined members and leave them out."""
    (tmp_path / "part.inp").write_text(INP)
    mesh = read_mesh(tmp_path / "part.inp", "all")
    assert len(mesh.node_sets["ENDS"]) == 2
    text = "\n".join(mesh.skipped)
    assert "ENDS: node 7: is not defined and was left out of the set" in text
    assert "UPPER: element 8, 9: is not defined" in text


def test_sets_of_bulk_data_tell_what_they_leave_out(tmp_path):
    """Nastran passes over grid points of ranges and of sets of case control that are not there."""
    text = (
        '$HMSET        2        1 "ends"\nSET 2 = 1,\n8\nBEGIN BULK\nGRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\n'
        "CROD,1,1,1,2\nSPC1,5,123,1,THRU,4\nENDDATA\n"
    )
    (tmp_path / "part.fem").write_text(text)
    mesh = read_mesh(tmp_path / "part.fem")
    told = "\n".join(mesh.skipped)
    assert "the set of supports 5 names grid points that are not there (2): 3, 4" in told
    assert 'the set "ends" names grid points that are not there (1): 8' in told
