"""Reduced parts as Matrix Market folders and as DMIG entries: out and in, and files written by hand."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import numpy as np
import pytest
from flexible_parts import beam
from reduced_parts import MODES, free_part, stiff

from fem_mbs import reduce_part
from fem_mbs.errors import ModelError
from fem_mbs.parts.bulk import bulk_entries, bulk_number
from fem_mbs.parts.dmig import _real, read_dmig, write_dmig
from fem_mbs.parts.files import read_matrix_market, write_matrix_market
from fem_mbs.parts.formats import read_part, write_part
from fem_mbs.parts.part import Moments


def damped():
    part = free_part(stiff())
    D = 1e-3 * part.stiffness
    return replace(part, damping=D, loads={"push": np.arange(9.0)}, info={"error": np.float64(0.1), "cutoff": None})


def supported():
    """A part that its own supports hold: the shapes alone."""
    S = np.vstack((np.zeros((6, MODES)), np.eye(MODES)))
    part = free_part()
    return replace(
        part.transformed(S, np.zeros((MODES, 0))), boundary=np.zeros((0, MODES)), interfaces=()
    )  # fmt: skip


MATRICES = ("stiffness", "mass", "boundary", "rigid", "gravity", "origin", "frequencies")


# --- Matrix Market ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("make", [damped, supported])
def test_folder_keeps_every_digit(make, tmp_path):
    part = make()
    back = read_matrix_market(write_matrix_market(tmp_path / "part", part))
    for key in MATRICES:
        np.testing.assert_array_equal(getattr(back, key), getattr(part, key), err_msg=key)
    if part.damping is None:
        assert back.damping is None
    else:
        np.testing.assert_array_equal(back.damping, part.damping)
    for entry in fields(Moments):
        np.testing.assert_array_equal(getattr(back.moments, entry.name), getattr(part.moments, entry.name))
    assert list(back.stiffening) == list(part.stiffening)
    for key, K in part.stiffening.items():
        np.testing.assert_array_equal(back.stiffening[key], K)
    assert (back.name, back.method, back.dimension) == (part.name, part.method, part.dimension)
    for a, b in zip(back.interfaces, part.interfaces, strict=True):
        assert (a.name, a.kind, a.components) == (b.name, b.kind, b.components)
        np.testing.assert_array_equal(a.position, b.position)
        np.testing.assert_array_equal(a.nodes, b.nodes)
    if part.loads:
        np.testing.assert_array_equal(back.loads["push"], part.loads["push"])
        assert back.info == {"error": 0.1, "cutoff": None}


def test_folders_that_are_none(tmp_path):
    with pytest.raises(ModelError, match="no such file; a folder"):
        read_matrix_market(tmp_path)
    folder = write_matrix_market(tmp_path / "part", free_part())
    head = json.loads((folder / "part.json").read_text())
    for change, message in (
        ({"version": 9}, "version 9"),
        ({"format": "other"}, "its format is not"),
        ({"size": 8}, r"its form is .*; by part.json it must be"),
        ({"size": "many"}, "size is 'many'"),
    ):
        (folder / "part.json").write_text(json.dumps(head | change))
        with pytest.raises(ModelError, match=message):
            read_matrix_market(folder)
    (folder / "part.json").write_text(json.dumps(head))
    (folder / "K.mtx").write_text("hello")
    with pytest.raises(ModelError, match=r"K\.mtx: it is not the file of which part\.json tells"):
        read_matrix_market(folder)
    (folder / "K.mtx").unlink()
    with pytest.raises(ModelError, match=r"part\.json names it"):
        read_matrix_market(folder)


def as_version_1(folder):
    """A folder as it was before part.json had digests."""
    head = json.loads((folder / "part.json").read_text())
    head["version"], head["files"] = 1, {name: entry["shape"] for name, entry in head["files"].items()}
    (folder / "part.json").write_text(json.dumps(head))


@pytest.mark.parametrize("version", [1, 2])
def test_cut_matrices_are_refused(version, tmp_path):
    """scipy takes numbers that are missing for zeros, or crashes where the last one is cut."""
    folder = write_matrix_market(tmp_path / "part", free_part())
    if version == 1:
        as_version_1(folder)
    read_matrix_market(folder)
    path = folder / "M.mtx"
    whole = path.read_text()
    lines = whole.splitlines(keepends=True)
    for text in ("".join(lines[:-1]), "".join(lines[:20]), whole[:-3], whole[:-1], "", lines[0], "hello"):
        path.write_text(text)
        with pytest.raises(ModelError, match=r"M\.mtx: it "):
            read_matrix_market(folder)
    path.write_text(whole)
    read_matrix_market(folder)


def test_a_sparse_matrix_of_another_program(tmp_path):
    folder = write_matrix_market(tmp_path / "part", free_part())
    as_version_1(folder)
    whole = read_matrix_market(folder).mass
    entries = [f"{i + 1} {j + 1} {float(whole[i, j])!r}" for i, j in np.argwhere(whole)]
    text = f"%%MatrixMarket matrix coordinate real general\n{len(whole)} {len(whole)} {len(entries)}\n"
    (folder / "M.mtx").write_text(text + "\n".join(entries) + "\n")
    np.testing.assert_array_equal(read_matrix_market(folder).mass, whole)
    (folder / "M.mtx").write_text(text + "\n".join(entries[:-1]) + "\n")
    with pytest.raises(ModelError, match=f"{len(entries) - 1} of {len(entries)} numbers"):
        read_matrix_market(folder)


# --- DMIG ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("value", [0.0, 1.0, -1.0 / 3.0, 2e11 / 3.0, -7e-12 / 3.0, 1e100 / 3.0, -1e-99 / 7.0])
def test_numbers_take_sixteen_characters(value):
    text = _real(value)
    assert len(text) <= 16
    assert bulk_number(text) == pytest.approx(value, rel=1e-10)


def test_numbers_of_bulk_data():
    for text, value in (("3.+5", 3e5), ("1.5-3", 1.5e-3), (".5D+2", 50.0), ("2.", 2.0), ("-7", -7.0), ("1E4", 1e4)):
        assert bulk_number(text) == value
    for text in ("", "abc", "1.0X3", "--1"):
        assert bulk_number(text) is None


def elastic_part():
    """A free part with as many coordinates as its two interfaces have motions, and one more."""
    rng = np.random.default_rng(4)
    part = free_part()
    rigid = np.vstack((part.boundary @ part.rigid, rng.normal(size=(1, 6))))
    n = 13
    A = rng.normal(size=(n, n))
    left = np.eye(n) - rigid @ np.linalg.pinv(rigid)
    M = A @ A.T + n * np.eye(n)
    K = left @ (A.T @ A + np.eye(n)) @ left
    return replace(
        part, stiffness=K, mass=M, damping=1e-3 * K, boundary=np.eye(12, n), rigid=rigid, gravity=M @ rigid[:, :3],
        moments=None, stiffening={},
    )  # fmt: skip


def test_punch_file_out_and_in(tmp_path):
    part = elastic_part()
    back = read_dmig(write_dmig(tmp_path / "part.pch", part))
    for key in ("stiffness", "mass", "damping", "gravity", "rigid"):
        wanted = getattr(part, key)
        np.testing.assert_allclose(getattr(back, key), wanted, atol=2e-9 * np.abs(wanted).max(), err_msg=key)
    np.testing.assert_array_equal(back.boundary, part.boundary)
    assert [i.name for i in back.interfaces] == ["left", "right"]
    for a, b in zip(back.interfaces, part.interfaces, strict=True):
        assert a.components == b.components
        np.testing.assert_allclose(a.position, b.position, rtol=1e-10)
    assert back.moments is None and back.name == "points"
    # what was read is written to the same letters
    one = write_dmig(tmp_path / "two.pch", back).read_text()
    assert write_dmig(tmp_path / "three.pch", read_dmig(tmp_path / "two.pch")).read_text() == one


def test_other_coordinates_are_written_as_motions_of_the_interfaces(tmp_path):
    part = elastic_part()
    S = np.random.default_rng(6).normal(size=(13, 13))
    back = read_dmig(write_dmig(tmp_path / "part.pch", part.transformed(S), grids={"left": 70, "right": 30}))
    assert [i.name for i in back.interfaces] == ["right", "left"]  # in the order of their numbers
    # static condensation on the motions, and the eigenvalues, are the same
    order = np.r_[6:12, 0:6]

    def condensed(K):
        return K[:12, :12] - np.outer(K[:12, 12], K[12, :12]) / K[12, 12]

    wanted = condensed(part.stiffness)[np.ix_(order, order)]
    np.testing.assert_allclose(condensed(back.stiffness), wanted, atol=1e-7 * np.abs(wanted).max())
    values = np.linalg.eigvals(np.linalg.solve(part.mass, part.stiffness))
    found = np.linalg.eigvals(np.linalg.solve(back.mass, back.stiffness))
    np.testing.assert_allclose(np.sort(found.real)[6:], np.sort(values.real)[6:], rtol=1e-6)
    assert back.rigid.shape == (13, 6)


def test_dependent_interfaces_and_numbers_are_refused(tmp_path):
    with pytest.raises(ModelError, match="12 motions of its interfaces depend"):
        write_dmig(tmp_path / "part.pch", free_part())  # 12 motions of 9 coordinates
    with pytest.raises(ModelError, match="each used once"):
        write_dmig(tmp_path / "part.pch", elastic_part(), grids={"left": 2})
    with pytest.raises(ModelError, match="scalar points would take"):
        write_dmig(tmp_path / "part.pch", elastic_part(), first_point=2)


def test_supported_parts_keep_their_gravity(tmp_path):
    part = elastic_part()
    K = part.stiffness + np.eye(13)
    gravity = np.random.default_rng(1).normal(size=(13, 3))
    held = replace(part, stiffness=K, rigid=np.zeros((13, 0)), gravity=gravity)
    back = read_dmig(write_dmig(tmp_path / "part.pch", held))
    assert back.rigid.shape == (13, 0)
    np.testing.assert_allclose(back.gravity, gravity, atol=1e-10)


# Two grids 2 m apart along x, a bar of stiffness 300 between their x, and a mode coupled to the second by mass.
SMALL = """$ by hand
GRID    11              1.0     0.5
GRID,12,,3.0,.5,0.
SPOINT  101
DMIG    KAAX    0       6       2       0
DMIG    KAAX    11      1               11      1       3.+2
        12      1       -300.
DMIG    KAAX    12      1               12      1       300.
DMIG    KAAX    101     0               101     0       5.D+3
DMIG    MAAX    0       6       2       0
DMIG    MAAX    11      1               11      1       2.
DMIG    MAAX    12      1               12      1       2.              +A
+A      101     0       .5
DMIG    MAAX    101                     101             1.
"""
LARGE = """$ by hand
CEND
BEGIN BULK
GRID*                 11                 1.0             0.5
*       0.0
GRID*                 12                 3.0              .5
DMIG    KAAX           0       6       2       0
DMIG*   KAAX                          11               1
*                     11               1 3.000000000D+02
*                     12               1-3.000000000D+02
DMIG*   KAAX                          12               1
*                     12               1 3.000000000E+02
DMIG*,KAAX,101,0,
*,101,0,5000.
DMIG    MAAX           0       6       2       0
DMIG*   MAAX                          11               1
*                     11               1             2.0
DMIG*   MAAX                          12               1
*                     12               1             2.0
*                    101               0             0.5
DMIG*   MAAX                         101               0
*                    101               0             1.0
ENDDATA
nonsense after the end
"""


@pytest.mark.parametrize("text", [SMALL, LARGE], ids=["small field", "large field"])
def test_files_written_by_hand(text, tmp_path):
    path = tmp_path / "hand.bdf"
    path.write_text(text)
    part = read_dmig(path)
    np.testing.assert_array_equal(part.stiffness, [[300.0, -300.0, 0.0], [-300.0, 300.0, 0.0], [0.0, 0.0, 5000.0]])
    np.testing.assert_array_equal(part.mass, [[2.0, 0.0, 0.0], [0.0, 2.0, 0.5], [0.0, 0.5, 1.0]])
    assert part.damping is None and part.name == "hand"
    assert [(i.name, i.components) for i in part.interfaces] == [("grid 11", ("x",)), ("grid 12", ("x",))]
    np.testing.assert_array_equal(part.interfaces[1].position, (3.0, 0.5, 0.0))
    np.testing.assert_array_equal(part.boundary, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    np.testing.assert_allclose(part.frequencies, np.sqrt(5000.0) / (2.0 * np.pi))


def test_grids_of_another_file_and_square_matrices(tmp_path):
    path, grids = tmp_path / "part.pch", tmp_path / "model.bdf"
    whole = SMALL.replace("0       6       2", "0       1       2")
    whole += "DMIG    KAAX    12      1               11      1       -300.\n"
    whole += "DMIG    MAAX    101                     12      1       .5\n"
    path.write_text("\n".join(line for line in whole.splitlines() if "GRID" not in line))
    with pytest.raises(ModelError, match="no GRID entry of 11, 12"):
        read_dmig(path)
    grids.write_text("\n".join(line for line in SMALL.splitlines() if "GRID" in line))
    part = read_dmig(path, "rod", [grids])
    np.testing.assert_array_equal(part.stiffness[:2, :2], [[300.0, -300.0], [-300.0, 300.0]])
    np.testing.assert_array_equal(part.mass[1:, 1:], [[2.0, 0.5], [0.5, 1.0]])
    assert part.name == "rod"


BROKEN = {
    "no mass": (lambda t: t.replace("MAAX", "XAAX"), "no DMIG of the mass .* KAAX, XAAX"),
    "complex": (lambda t: t.replace("0       6       2", "0       6       4", 1), "is complex"),
    "rectangular": (lambda t: t.replace("0       6       2", "0       9       2", 1), "has the form 9"),
    "no number": (lambda t: t.replace("-300.", "-3x0."), "line 6: DMIG: field"),
    "component": (lambda t: t.replace("11      1       3.+2", "11      8       3.+2"), "it must be 0"),
    "headless": (lambda t: t.replace("DMIG    KAAX    0       6       2       0\n", ""), "before its header"),
    "axes": (lambda t: t.replace("GRID    11      ", "GRID    11      4"), "CP = 4"),
    "two values": (
        lambda t: t + "DMIG    KAAX    12      1               11      1       -301.\n",
        "two values, -300 and -301",
    ),
    "given twice": (
        lambda t: t + "DMIG    KAAX    12      1               12      1       1.\n",
        r"line \d+: DMIG: KAAX: the term .* grid 12 component 1 .* is given twice, first .* line \d+; remove",
    ),
    "twice in a column": (
        lambda t: (
            t + "DMIG    BAAX    0       6       2       0\n"
            "DMIG    BAAX    12      1               12      1       1.              +\n+       12      1       2.\n"
        ),
        "BAAX: the term .* is given twice",
    ),
    "twice the same": (
        lambda t: (
            t.replace("0       6       2", "0       1       2", 1)
            + "DMIG    KAAX    11      1               11      1       3.+2\n"
        ),
        "KAAX: the term .* is given twice",
    ),
    "continuation": (lambda t: "        12      1\n" + t, "line 1: a continuation"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_bulk_data(case, tmp_path):
    change, message = BROKEN[case]
    text = change(SMALL)
    assert text != SMALL
    path = tmp_path / "hand.bdf"
    path.write_text(text)
    with pytest.raises(ModelError, match=message):
        read_dmig(path)


def test_entries_know_their_lines(tmp_path):
    entries = list(bulk_entries(tmp_path / "x", SMALL))
    assert [(e.name, e.line) for e in entries[:5]] == [
        ("GRID", 2), ("GRID", 3), ("SPOINT", 4), ("DMIG", 5), ("DMIG", 6),
    ]  # fmt: skip
    assert entries[4].field(12) == "" and entries[4].field(8) == "12"


def test_cut_files_of_ours_are_refused(tmp_path):
    """At whatever line; changed ones too, unless the mark of the end is taken out."""
    path = write_dmig(tmp_path / "part.pch", elastic_part())
    lines = path.read_text().splitlines(keepends=True)
    read_dmig(path)
    cut = tmp_path / "cut.pch"
    for n in range(2, len(lines)):
        cut.write_text("".join(lines[:n]))
        with pytest.raises(ModelError):
            read_dmig(cut)
    lost = next(i for i, line in enumerate(lines) if line.startswith("*") and i > len(lines) // 2)
    changed = lines[:lost] + lines[lost + 1 :]
    cut.write_text("".join(changed))
    with pytest.raises(ModelError, match="it is not as it was written"):
        read_dmig(cut)
    cut.write_text("".join(line for line in lines if not line.startswith("$ with its end marked")))
    read_dmig(cut)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        # of the file's second half, the mass
        (lambda t: t[: t.rindex("DMIG    MAAX    12")], "2 of 3 grids and scalar points of the stiffness have no"),
        (lambda t: t[: t.rindex("+A      101")], "1 of 3 grids"),
        (lambda t: t[: t.rindex("DMIG    MAAX    101")], "negative kinetic energy .coordinate 3 of 3"),
        (lambda t: t.replace("0       6       2", "0       1       2"), "KAAX is not symmetric"),
    ],
    ids=["column", "coordinate", "diagonal", "triangle"],
)
def test_incomplete_files_of_others_are_refused(change, message, tmp_path):
    path = tmp_path / "hand.bdf"
    path.write_text(change(SMALL))
    with pytest.raises(ModelError, match=message):
        read_part(path)


def test_a_grid_without_mass_says_so(tmp_path):
    path = tmp_path / "hand.bdf"
    lines = SMALL.splitlines(keepends=True)
    text = "".join(line for line in lines if not line.startswith(("DMIG    MAAX    12", "+A ")))
    path.write_text(text)
    with pytest.raises(ModelError, match=r"an entry of 0\.0 says that there is none"):
        read_part(path)
    path.write_text(text + "DMIG    MAAX    12      1               12      1       0.\n")
    assert read_part(path).mass[1, 1] == 0.0


def test_a_part_tells_numbers_in_the_units_of_its_model(tmp_path):
    """Frequencies of a model in milliseconds are in kHz, masses of one in tonnes in t."""
    m = beam(4)
    m.units(base="mm kg ms")
    part = reduce_part(m, {"left": "rod:start"}, modes=3)
    assert repr(part).split(" up to ")[1].startswith(f"{part.frequencies.max():.6g} kHz;")
    assert "frequency [kHz]" in part._repr_html_()
    heavy = replace(part, gravity=2.0 * part.gravity, info={**part.info, "base": "mm t s"})
    write_part(tmp_path / "part.h5", heavy)
    with pytest.raises(ModelError, match=r"gravity and mass do not belong together \(mass [0-9.e-]+ t, by"):
        read_part(tmp_path / "part.h5")
