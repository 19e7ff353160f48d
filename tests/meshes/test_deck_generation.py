"""Generated nodes and elements of decks against the same mesh written out by hand."""

import numpy as np
import pytest

from fem_mbs.errors import MeshError
from fem_mbs.meshes.abaqus.reader import read_deck_mesh


def mesh_of(tmp_path, text, name="deck.inp"):
    path = tmp_path / name
    path.write_text(text)
    return read_deck_mesh(path)[0]


def place(mesh, node):
    return mesh.position(np.array([node]))[0]


def test_line_parabola_and_arcs(tmp_path):
    mesh = mesh_of(
        tmp_path,
        """*NODE
1, 0., 0., 1.
5, 8., 4., 1.
11, 2., 0., 0.
17, 0., 2., 0.
21, 3., 0., 5.
27, -3., 0., 5.
40, 2., 0., 0.
44, -1., 1., 0.
50, 0., 0., 0.
*NGEN, NSET=LINE
1, 5
*NGEN, NSET=ARC, LINE=C
11, 17, 2, 50
*NGEN, LINE=C
21, 27, 2, , 0., 0., 5., 0., 0., -1.
*NGEN, LINE=P
40, 44, 2, , 1., 1., 0.
""",
    )
    assert np.allclose([place(mesh, k) for k in (2, 3, 4)], [[2, 1, 1], [4, 2, 1], [6, 3, 1]], atol=1e-14)
    assert list(mesh.nsets["LINE"]) == [1, 2, 3, 4, 5] and sorted(mesh.nsets["ARC"]) == [11, 13, 15, 17]
    for k, degrees in ((13, 30.0), (15, 60.0)):
        angle = np.deg2rad(degrees)
        assert np.allclose(place(mesh, k), [2.0 * np.cos(angle), 2.0 * np.sin(angle), 0.0], atol=1e-14)
    for k, degrees in ((23, -60.0), (25, -120.0)):  # about -z
        angle = np.deg2rad(degrees)
        assert np.allclose(place(mesh, k), [3.0 * np.cos(angle), 3.0 * np.sin(angle), 5.0], atol=1e-14)
    assert np.allclose(place(mesh, 42), [1.0, 1.0, 0.0], atol=1e-14)


def test_fill_even_and_biased(tmp_path):
    mesh = mesh_of(
        tmp_path,
        """*NODE, NSET=A
1, 0., 0., 0.
2, 0., 1., 0.
*NODE, NSET=B
31, 7., 0., 0.
32, 14., 1., 0.
33, 9., 9., 9.
*NFILL, BIAS=0.5, NSET=ALL
A, B, 3, 10
*NODE
100, 0., 0., 0.
104, 4., 0., 0.
*NFILL
100, 104, 4
""",
    )
    # lengths along a line grow by the factor 2: 1, 2, 4 of 7
    assert np.allclose([place(mesh, k) for k in (11, 21)], [[1, 0, 0], [3, 0, 0]], atol=1e-14)
    assert np.allclose([place(mesh, k) for k in (12, 22)], [[2, 1, 0], [6, 1, 0]], atol=1e-14)
    assert sorted(mesh.nsets["ALL"]) == [1, 2, 11, 12, 21, 22, 31, 32]
    assert np.allclose([place(mesh, k)[0] for k in (101, 102, 103)], [1, 2, 3])


@pytest.mark.parametrize(
    ("how", "data", "expected"),
    [
        ("SHIFT", "1., 0., 0.\n0., 0., 0., 0., 0., 1., 90.", [0.0, 3.0, 3.0]),
        ("SHIFT, MULTIPLE=2", "1., 0., 0.\n0., 0., 0., 0., 0., 1., 90.", [-3.0, 0.0, 3.0]),
        ("REFLECT=POINT", "1., 1., 1.", [0.0, 2.0, -1.0]),
        ("REFLECT=LINE", "0., 0., 0., 0., 0., 2.", [-2.0, 0.0, 3.0]),
        ("REFLECT=MIRROR", "0., 0., 0., 0., 1., 0.\n0., 0., 1.", [-2.0, 0.0, 3.0]),
        ("POLE", "9", [3.0, 0.0, 6.0]),
        ("POLE", ", 1., 0., 0.", [3.0, 0.0, 6.0]),
    ],
)
def test_copies_of_nodes(tmp_path, how, data, expected):
    mesh = mesh_of(
        tmp_path,
        f"*NODE, NSET=OLD\n1, 2., 0., 3.\n*NODE\n9, 1., 0., 0.\n*NCOPY, CHANGE NUMBER=100, OLD SET=OLD, {how}, "
        f"NEW SET=NEW\n{data}\n",
    )
    assert list(mesh.nsets["NEW"]) == [101]
    assert np.allclose(place(mesh, 101), expected, atol=1e-14)


def test_rows_and_layers_of_elements(tmp_path):
    mesh = mesh_of(
        tmp_path,
        """*NODE
1, 0., 0.
4, 3., 0.
31, 0., 2.
34, 3., 2.
*NGEN, NSET=LOW
1, 4
*NGEN, NSET=HIGH
31, 34
*NFILL, NSET=ALL
LOW, HIGH, 3, 10
*ELEMENT, TYPE=CPS4, ELSET=FIRST
1, 1, 2, 12, 11
*ELGEN, ELSET=PLATE
1, 3, 1, 1, 2, 10, 100
*ELCOPY, OLD SET=FIRST, ELEMENT SHIFT=500, SHIFT NODES=20, NEW SET=COPY
""",
    )
    (block,) = mesh.blocks
    expected = {
        1: (1, 2, 12, 11), 2: (2, 3, 13, 12), 3: (3, 4, 14, 13),
        101: (11, 12, 22, 21), 102: (12, 13, 23, 22), 103: (13, 14, 24, 23), 501: (21, 22, 32, 31),
    }  # fmt: skip
    assert {int(i): tuple(map(int, n)) for i, n in zip(block.ids, block.nodes, strict=True)} == expected
    assert sorted(mesh.elsets["PLATE"]) == [1, 2, 3, 101, 102, 103]
    assert list(mesh.elsets["FIRST"]) == [1] and list(mesh.elsets["COPY"]) == [501]


def test_direction_of_beams_goes_along_only_if_asked(tmp_path):
    text = "*NODE\n1, 0.\n4, 3.\n50, 0., 1.\n51, 1., 0., 1.\n52, 0., 1., 1.\n*NGEN\n1, 4\n*ELEMENT, TYPE=B31\n"
    text += "1, 1, 2, 50\n*ELGEN{}\n1, 3\n"
    one, own = (mesh_of(tmp_path, text.format(more)) for more in ("", ", ALL NODES"))
    assert np.allclose(
        np.concatenate([n.vectors for n in one.beam_normals()])[::2], [[0, 1, 0], [-1, 1, 0], [-2, 1, 0]]
    )
    assert np.allclose(np.concatenate([n.vectors for n in own.beam_normals()])[::2], [[0, 1, 0], [0, 0, 1], [-2, 1, 1]])


def test_generation_in_parts_moves_with_instances(tmp_path):
    mesh = mesh_of(
        tmp_path,
        """*PART, NAME=P
*SYSTEM
10., 0., 0.
*NODE
1, 0., 0.
3, 2., 0.
*NGEN
1, 3
*END PART
*ASSEMBLY, NAME=A
*INSTANCE, NAME=I, PART=P
*END INSTANCE
*INSTANCE, NAME=J, PART=P
0., 0., 5.
0., 0., 5., 0., 0., 6., 90.
*END INSTANCE
*END ASSEMBLY
""",
    )
    assert np.allclose(place(mesh, 2), [11.0, 0.0, 0.0])
    assert np.allclose(place(mesh, 12), [0.0, 11.0, 5.0])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("*NGEN\n1, 7\n", "node 7 is not defined before"),
        ("*NGEN\n1, 3, 4\n", "do not come to 3"),
        ("*NGEN, LINE=C\n1, 3, 1, , 1., 0., 0.\n", "180 degrees or more"),
        ("*NGEN, LINE=C\n1, 3, 1, , .5, 0., 0.\n", "from its centre"),
        ("*NGEN, LINE=Q\n1, 3\n", "LINE=Q is not known"),
        ("*NFILL\nA, B, 3\n", "'A' is not defined before"),
        ("*NFILL, SINGULAR=1\n1, 3, 2\n", "parameter SINGULAR is not read"),
        ("*NFILL, BIAS=-1\n1, 3, 2\n", "BIAS=-1 must be greater than 0"),
        ("*NCOPY, CHANGE NUMBER=10, OLD SET=A, SHIFT\n1.\n", "'A' is not defined before"),
        ("*ELGEN\n1, 3\n", "element 1 is not defined before"),
        ("*ELCOPY, OLD SET=E, ELEMENT SHIFT=1, SHIFT NODES=1, REFLECT\n", "'E' is not defined before"),
        ("*NMAP, NSET=A\n", "mapped coordinates are not read"),
    ],
)
def test_wrong_generation_names_its_line(tmp_path, text, told):
    with pytest.raises(MeshError, match=r"deck\.inp, line") as error:
        mesh_of(tmp_path, "*NODE\n1, 0., 0.\n3, 2., 0.\n" + text)
    assert told in str(error.value)
