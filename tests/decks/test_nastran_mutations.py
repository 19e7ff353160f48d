"""Damaged Nastran decks: each is read whole, or ends in one error of one line with file and line number."""

from __future__ import annotations

import random
import re
from pathlib import Path

from deck_text import MUTATIONS

from fem_mbs.decks.nastran.run import convert
from fem_mbs.decks.notes import Accept
from fem_mbs.errors import InputError
from fem_mbs.meshes.nastran.reader import read_bulk

#: A deck with an entry of nearly every kind.
DECK = """SOL 101
CEND
TITLE = all kinds
SPC = 1
MPC = 3
K2GG = 2.*KX
TEMPERATURE(MATERIAL) = 5
SET 1 = 1 THRU 9, 12
SUBCASE 1
  LOAD = 2
  DISPLACEMENT = 1
SUBCASE 2
  LOAD = 7
  TEMPERATURE(LOAD) = 5
BEGIN BULK
PARAM,WTMASS,.5
CORD2C  5               0.      0.      0.      0.      0.      1.      +A
+A      1.      0.      0.
MAT1    1       1000.           .25     3.      1.-3
GRDSET
GRID    1               0.      0.      0.
GRID    2               1.      0.      0.
GRID    3               1.      1.      0.
GRID    4               0.      1.      0.
GRID    5               0.      0.      1.
GRID    6               1.      0.      1.
GRID    7               1.      1.      1.
GRID    8               0.      1.      1.
GRID    9       5       3.      0.      0.      5
GRID    10              3.      1.      0.
GRID    11              4.      1.      0.
GRID*                 12                             4.0             2.0
*                    0.0
GRID    13              2.      .5      .5
CHEXA   1       1       1       2       3       4       5       6       +B
+B      7       8
PSOLID  1       1       0
CQUAD4  31      31      1       2       3       4       30.     .1
CTRIA3  32      32      5       6       7
PSHELL  31      1       .1      1               1
PCOMP   32
        1       .1      0.              8       .1      90.
MAT8    8       1000.   500.    .2      300.    300.    300.
PLOAD2  2       1.      31      32
CBAR    2       2       9       10      1.      0.      0.              +C
+C      15      2       0.      0.      .1      0.      0.      .1
PBAR    2       1       .5      .02     .03     .04     .1
CBEAM,3,3,10,11,0.,1.,0.
PBEAM,3,1,.5,.02,.03,0.,.04
CROD    4       4       11      12
PROD    4       1       .5      .04
CTUBE   14      14      12      11
PTUBE   14      1       .5      .1
CSHEAR  15      15      1       2       6       5
PSHEAR  15      1       .1      .2      1.
CQUAD8  16      31      5       6       7       8                       14
GRID    14              .5      1.      1.
DMIG    KX      0       6       1       0
DMIG    KX      12      1               12      1       3.
DMIG    KX      12      2               12      1       1.      0.
        12      2       2.
MATT1   1       9               9
TABLEM2 9       0.
        0.      1.      90.     .5      ENDT
CBUSH   5       5       12      13                              0
PBUSH   5       K       1.      2.      3.      4.      5.      6.
CELAS2  6       5.      13      1       12      1
CONM2   7       12              .7      .1      0.      0.
RBE2    8       9       123456  2       3
RBE3    9               13      123456  1.      123     5       6       +D
+D      7       8
MPC     3       11      4       1.      10      4       -.5
SPC1    1       123     1       4       5       THRU    8
SPC     1       11      3       .01
FORCE   2       12              3.      0.      1.      1.
MOMENT  2       10              3.      0.      1.      1.
PLOAD4  2       1       3.                              5       7
PLOAD1  2       2       FY      FR      0.      1.      1.      2.
GRAV    4               9.81    0.      0.      -1.
LOAD    7       2.      1.      2       .5      4
TEMPD   5       20.
EIGRL   6                       3
ENDDATA
"""
_PLACE = re.compile(r"[\w.]+, line \d+")


def mutated(text: str, rng: random.Random) -> str:
    """Return a text with one to three random changes: of characters, fields, lines."""
    lines = text.split("\n")
    for _ in range(rng.randint(1, 3)):
        i = rng.randrange(len(lines))
        line = lines[i]
        kind = rng.randrange(8)
        if kind == 0:
            del lines[i]
        elif kind == 1:
            lines.insert(i, rng.choice(lines))
        elif kind == 2:
            lines = lines[: max(1, i)]
        elif kind == 3 and line:
            k = rng.randrange(len(line))
            lines[i] = line[:k] + rng.choice("0123456789.+-*,= $aEX'\t") + line[k + 1 :]
        elif kind == 4 and line:
            k = rng.randrange(len(line))
            lines[i] = line[:k] + line[k + 1 :]
        elif kind == 5:
            k = 8 * rng.randrange(10)
            word = rng.choice(
                ["", "0", "-1", "99", "1.", "-1.", "1.+99", "0.", "THRU", "ALL", "x", "123456", "2147483648"]
            )
            lines[i] = line[:k].ljust(k) + word.ljust(8) + line[k + 8 :]
        elif kind == 6:
            other = rng.randrange(len(lines))
            lines[i], lines[other] = lines[other], lines[i]
        else:
            lines[i] = line.replace(" ", rng.choice(["", ","]), rng.randint(1, 4))
        if not lines:
            lines = [""]
    return "\n".join(lines)


def _told(path: Path) -> str | None:
    """Return the error of a deck, None if it is read whole."""
    try:
        convert(read_bulk(path), accept=Accept.ALLOW)
    except InputError as error:
        return str(error)
    return None


def test_the_deck_itself_is_read_whole(tmp_path):
    path = tmp_path / "deck.bdf"
    path.write_text(DECK)
    assert _told(path) is None


def test_damaged_decks(tmp_path):
    path, refused = tmp_path / "deck.bdf", 0
    for seed in range(MUTATIONS):
        text = mutated(DECK, random.Random(seed))
        path.write_text(text)
        try:
            told = _told(path)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}\n{text}") from error
        if told is not None:
            refused += 1
            assert _PLACE.search(told), f"seed {seed}: {told}\n{text}"
            assert "\n" not in told
    assert 0.2 * MUTATIONS < refused < 0.95 * MUTATIONS
