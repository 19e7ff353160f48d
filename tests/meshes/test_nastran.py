"""Nastran files as text: fields, continuations, sections, case control, includes, and the listing."""

from __future__ import annotations

import pytest

from fem_mbs.errors import MeshError
from fem_mbs.meshes.nastran.cards import CARDS
from fem_mbs.meshes.nastran.f06 import read_f06
from fem_mbs.meshes.nastran.reader import read_bulk
from fem_mbs.meshes.nastran.text import read_sections, whole
from fem_mbs.meshes.texts import number


@pytest.fixture
def bulk(tmp_path):
    """Reads bulk data with case control before it."""

    def read(text: str, case: str = "", name: str = "deck.bdf", executive: str = "SOL 101\n"):
        path = tmp_path / name
        path.write_text(f"{executive}CEND\n{case}BEGIN BULK\n{text}\nENDDATA\n")
        return read_bulk(path)

    return read


def _grid(deck, k: int = 0) -> tuple:
    card = deck.of("GRID")[k]
    return card["id"], card["cp"], card["x"], card["y"], card["z"], card["cd"], card["ps"]


@pytest.mark.parametrize(
    "text",
    [
        "GRID    7       2       1.5     -2.5-1  3.+2    4       1246",
        "GRID,7,2,1.5,-2.5-1,3.+2,4,6421",
        "GRID,7,2,1.5D0,-.25,300.,4,1246 $ comment",
        "GRID*                  7               2             1.5           -0.25\n"
        "*                  300.0               4            1246",
        "grid*   7               2               1.5             -0.25           *A1\n"
        "*A1     300.0           4               1246",
        "GRID*,7,2,1.5,-0.25\n*,300.,4,1246",
        "GRID\t7\t2\t1.5\t-.25\t3.+2\t4\t1246",
    ],
    ids=["small", "free", "D exponent", "large", "large with marks", "large free", "tabs"],
)
def test_fields(bulk, text):
    assert _grid(bulk(text)) == (7, 2, 1.5, -0.25, 300.0, 4, "1246")


@pytest.mark.parametrize(
    "text",
    [
        "SPC1    1       123     1       2       3       4       5       6       +A\n+A      7       8",
        "SPC1    1       123     1       2       3       4       5       6       +\n+       7       8",
        "SPC1    1       123     1       2       3       4       5       6\n        7       8",
        "SPC1,1,123,1,2,3,4,5,6,+\n+,7,8",
        "SPC1,1,123,1,2,3,4,5,6\n,7,8",
        "SPC1,1,123,1,2,3,4,5,6,7,8",
        "SPC1,1,123,1,THRU,8",
        # marks name the line that follows: another entry may stand between
        "SPC1    1       123     1       2       3       4       5       6       +A\nGRID,9\n+A      7       8",
        "SPC1    1       123     1       2       3       4       5       6       +A\n+B      8\n+A      7"
        "                                                               +B",
    ],
    ids=["marks", "plus", "blank", "free", "free blank", "automatic", "THRU", "apart", "turned round"],
)
def test_continuations(bulk, text):
    card = bulk(text).of("SPC1")[0]
    assert sorted(card["ids"]) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert (card["sid"], card["c"]) == (1, "123")


def test_increments_without_brackets(bulk):
    entries = bulk("GRID,1,,0.,0.,5.\n=,*11,,*.5,==\n=2\n")
    assert [(c["id"], c["x"], c["y"], c["z"]) for c in entries.of("GRID")] == [
        (1, 0.0, 0.0, 5.0), (12, 0.5, 0.0, 5.0), (23, 1.0, 0.0, 5.0), (34, 1.5, 0.0, 5.0),
    ]  # fmt: skip


def test_repeated_fields(bulk):
    deck = bulk("GRID,11,,0.,1.,2.,,345\n=,12,=,3.,==")
    assert _grid(deck, 1) == (12, None, 3.0, 1.0, 2.0, None, "345")


def test_thru_by_and_all(bulk):
    deck = bulk("SPC1,1,1,1,THRU,9,BY,4\nSPC1,2,1,ALL")
    assert deck.of("SPC1")[0]["ids"] == [1, 5, 9]
    assert deck.of("SPC1")[1]["ids"] == "ALL"


@pytest.mark.parametrize(
    ("text", "value"), [("1.", 1.0), ("-.5", -0.5), ("1.5+3", 1500.0), ("2.-3", 0.002), ("1.D2", 100.0), ("7", 7.0)]
)
def test_numbers(text, value):
    assert number(text) == value


@pytest.mark.parametrize("text", ["", "1.e", "a", "1..", "+", "nan", "inf", "1.+999", "--1"])
def test_no_numbers(text):
    with pytest.raises(ValueError):
        number(text)


@pytest.mark.parametrize("text", ["", "1.0", "99999999999", "1e3", "2147483648"])
def test_no_whole_numbers(text):
    with pytest.raises(ValueError):
        whole(text)


def test_sections_and_case_control(bulk):
    case = (
        "TITLE = A Beam\nSPC = 1\nSET 3 = 1, 2,\n 5 THRU 8, EXCEPT 6\nDISP(PRINT, SORT1) = 3\n"
        "SUBCASE 1\n LOAD = 2\nSUBCASE 20\n LOAD = 3\n STRESS = ALL\n"
    )
    deck = bulk("GRID,1", case)
    assert (deck.sol, deck.title, deck.sets[3]) == (101, "A Beam", {1, 2, 5, 7, 8})
    first, second = deck.subcases
    assert (first.number, second.number, first.set("SPC"), second.set("SPC")) == (1, 20, 1, 1)
    assert (first.set("LOAD"), second.set("LOAD"), "STRESS" in first.commands) == (2, 3, False)
    assert first.commands["DISPLACEMENT"].number == 3


def test_parameters_in_both_sections(bulk):
    deck = bulk("PARAM,WTMASS,.5\nPARAM   COUPMASS1", " PARAM, AUTOSPC, NO\nSUBCASE 1\nPARAM,G,.02\n")
    assert [deck.param(name, None) for name in ("WTMASS", "COUPMASS", "AUTOSPC", "G")] == [0.5, 1, "NO", 0.02]
    with pytest.raises(MeshError, match=r"line 3: .*PARAM"):
        bulk("GRID,1", "PARAMETER = 3\n")


@pytest.mark.parametrize("begin", ["BEGIN BULK", "BEGIN_BULK", "begin  bulk", "BEGIN=BULK"])
def test_begin_of_bulk_data(tmp_path, begin):
    path = tmp_path / "a.dat"
    path.write_text(f"SOL 103\nCEND\nTITLE = x\n{begin}\nGRID,1\n")
    assert len(read_sections(path).bulk) == 1


def test_bulk_data_alone(tmp_path):
    path = tmp_path / "a.bdf"
    path.write_text("GRID,1\nGRID,2\n")
    deck = read_bulk(path)
    assert (deck.sol, len(deck.of("GRID"))) == (0, 2)


def test_includes(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "grids.inc").write_text("GRID,1\nGRID,2,,x\n")
    path = tmp_path / "a.bdf"
    path.write_text("SOL 101\nCEND\nBEGIN BULK\nINCLUDE 'parts/\ngrids.inc'\nENDDATA\n")
    with pytest.raises(MeshError, match=r"parts/grids.inc, line 2: GRID: .*'x'"):
        read_bulk(path)
    path.write_text("SOL 101\nCEND\nBEGIN BULK\nINCLUDE 'a.bdf'\n")
    with pytest.raises(MeshError, match=r"a.bdf, line 4: the file a.bdf includes itself"):
        read_bulk(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("GRID,1\nGRID,1,,1.", r"line 5: the grid point 1 is there already \(deck.bdf, line 4\)"),
        ("GRID,x", r"line 4: GRID: field 2 of line 1 \(id\) is 'x', which is not a whole number"),
        ("GRID", r"line 4: GRID: field 2 of line 1 \(id\) is missing"),
        ("GRID,1,,0.,0.,0.,,127", "ps.*components 1 to 6"),
        ("GRID,1,,0.,0.,0.,,,,\n,9", "stands behind its last field"),
        ("+A,1", "line 4: a continuation without an entry before it"),
        ("GRID,1,,0.,0.,0.,,,,+A\n+B,2", "line 5: no entry names this continuation"),
        ("SPC1,1,1,5,THRU,2", "the range 5 THRU 2"),
        ("SPC1,1,1,THRU,2", "THRU needs a number before and after it"),
        ("G-RID,1", "'G-RID' is no name of a bulk data entry"),
        ("=,1", "= repeats an entry"),
        ("GRID,1\n=(3),*(1)", "=.3.. repeats the increments of the line before, which has none"),
        ("PARAM,,1", "is no name of a parameter"),
        ("PARAM,WTMASS", "has no value"),
        ("GRID,0", "the number 0 is not positive"),
    ],
)
def test_bad_entries_name_file_and_line(bulk, text, message):
    with pytest.raises(MeshError, match=message):
        bulk(text)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("SUBCASE x\n", "SUBCASE 'X' has no number"),
        ("SUBCASE 1\nSUBCASE 1\n", "line 4: there are two subcases 1"),
        ("SET x = 1\n", "defines no set"),
        ("SET 1 = 1, a\n", "'A' is no member of a set"),
        ("123\n", "is no case control command"),
    ],
)
def test_bad_case_control(bulk, case, message):
    with pytest.raises(MeshError, match=message):
        bulk("GRID,1", case)


def test_unknown_solution(bulk):
    with pytest.raises(MeshError, match="line 1: SOL 'FOO' is no solution"):
        bulk("GRID,1", executive="SOL FOO\n")


def test_text_that_is_none(tmp_path):
    path = tmp_path / "a.bdf"
    path.write_bytes(b"SOL 101\nCEND\n\x00\n")
    with pytest.raises(MeshError, match=r"a.bdf, line 3: byte 0x00 is not text"):
        read_bulk(path)
    with pytest.raises(MeshError, match="there is no such file"):
        read_bulk(tmp_path / "b.bdf")


def test_every_entry_has_a_text():
    assert all(kind.text and kind.fields for kind in CARDS.values())


_LISTING = """
1    MSC.NASTRAN JOB                                                         PAGE    16
0                                                                                                            SUBCASE 2
                                             D I S P L A C E M E N T   V E C T O R

      POINT ID.   TYPE          T1             T2             T3             R1             R2             R3
             1      G      0.0            1.0-3          0.0            0.0            0.0            0.0
1    MSC.NASTRAN JOB                                                         PAGE    17
0                                                                                                            SUBCASE 2
                                             D I S P L A C E M E N T   V E C T O R

      POINT ID.   TYPE          T1             T2             T3             R1             R2             R3
             2      G      0.0            0.0           -2.0E+00       0.0            0.0            0.0
                               F O R C E S   I N   B A R   E L E M E N T S         ( C B A R )
0    ELEMENT         BEND-MOMENT END-A            BEND-MOMENT END-B                - SHEAR -               AXIAL
       ID.         PLANE 1       PLANE 2        PLANE 1       PLANE 2        PLANE 1       PLANE 2         FORCE
           13     1.181360E+00 -6.492776E+01  -1.908931E+00 -6.492795E+01   3.090290E+00  1.804034E-04   2.570716E+03   8.1E-02
                      E L E M E N T   S T R A I N   E N E R G I E S
           13     1.181360E+00 -6.492776E+01  -1.908931E+00 -6.492795E+01   3.090290E+00  1.804034E-04   2.570716E+03   8.1E-02
                                 F O R C E S   I N   B E A M   E L E M E N T S        ( C B E A M )
                    STAT DIST/   - BENDING MOMENTS -            - WEB  SHEARS -           AXIAL          TOTAL          WARPING
   ELEMENT-ID  GRID   LENGTH    PLANE 1       PLANE 2        PLANE 1       PLANE 2        FORCE          TORQUE         TORQUE
0        12
                 18   0.000    1.720185E+00 -6.467436E+01  -3.090290E+00 -1.804034E-04   2.558886E+03   2.513217E-01   0.0
                 22   1.000    4.810475E+00 -6.467418E+01  -3.090290E+00 -1.804034E-04   2.558886E+03   2.513217E-01   0.0
"""  # noqa: E501


_ROOTS = """
                                              R E A L   E I G E N V A L U E S
{first}
   MODE    EXTRACTION      EIGENVALUE            RADIANS             CYCLES            GENERALIZED         GENERALIZED
        1         1        6.357821E+00        2.521472E+00        4.013047E-01        1.000000E+00        6.357821E+00
                                              R E A L   E I G E N V A L U E S
{second}
        1         1        1.560262E+00        1.249104E+00        1.988011E-01        1.000000E+00        1.560262E+00
        2         2        6.244435E+00        2.498887E+00        3.977102E-01        1.000000E+00        6.244435E+00
                                        C O M P L E X   E I G E N V A L U E   S U M M A R Y
                       1           1         -5.284305E-01    -3.474066E+01          5.529147E+00          3.042144E-02
"""


@pytest.mark.parametrize(
    ("second", "expected"),
    [("", [1.560262, 6.244435]), ("                     (AFTER AUGMENTATION OF RESIDUAL VECTORS)", [6.357821])],
)
def test_roots_of_a_basis(tmp_path, second, expected):
    """Modes of a basis yield to those of the model, but not to those with residual vectors."""
    path = tmp_path / "a.f06"
    path.write_text(_ROOTS.format(first="        (BEFORE AUGMENTATION OF RESIDUAL VECTORS)", second=second))
    tables = {t.quantity: t for t in read_f06(path).tables}
    assert tables["EIGENVALUES"].values[:, 0].tolist() == expected
    assert tables["COMPLEX EIGENVALUES"].values.tolist() == [[-0.5284305, -34.74066, 5.529147, 0.03042144]]


def test_listing(tmp_path):
    path = tmp_path / "a.f06"
    path.write_text(_LISTING)
    tables = {t.quantity: t for t in read_f06(path).tables}
    assert set(tables) == {"DISPLACEMENT", "CBAR", "CBEAM"}
    u = tables["DISPLACEMENT"]
    assert (u.subcase, u.ids) == (2, [1, 2])
    assert (u.values[0, 1], u.values[1, 2]) == (1e-3, -2.0)
    assert tables["CBAR"].ids == [13]
    assert tables["CBAR"].values[0, 7] == 0.081
    assert tables["CBEAM"].ids == [12, 12]
    assert tables["CBEAM"].values[1].tolist() == [4.810475, -64.67418, -3.090290, -1.804034e-4, 2558.886, 0.2513217]
