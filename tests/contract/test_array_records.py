"""Named tuples of arrays that compiled code gets as one pointer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numba import njit, types
from numba.core.errors import TypingError

from fem_mbs.compiling.array_records import array_record
from fem_mbs.compiling.linking import compiled
from fem_mbs.contract import inner


class Pair(NamedTuple):
    """Arrays of two kinds."""

    numbers: np.ndarray
    table: np.ndarray


PAIR = array_record(Pair, {"f8 1": "numbers", "i8 2": "table"})


@inner
def _inside(pair, i):
    table = pair.table
    return table[i, table.shape[1] - 1] + table.strides[0] + pair.table.size


def _work(pair, other):
    """Write to one record what another holds, through a function that gets both kinds of members."""
    for i in range(pair.numbers.size):
        pair.numbers[i] += other.numbers[i] + _inside(pair, i)
    return pair.numbers.itemsize


def _pair(seed):
    rng = np.random.default_rng(seed)
    return Pair(rng.normal(size=4), rng.integers(0, 9, (4, 3)))


def test_compiled_code_reads_and_writes_the_arrays_of_python():
    first, second = _pair(1), _pair(2)
    wanted = first.numbers + second.numbers + first.table[:, 2] + 8 * 3 + 12
    assert compiled(_work, error_model="numpy")(first, second) == 8
    assert first.numbers == pytest.approx(wanted, rel=1e-15)


def test_numbas_own_compiler_takes_records():
    """Without the short passes references are counted; members have none."""
    first, second = _pair(1), _pair(2)
    wanted = first.numbers + second.numbers

    @njit
    def add(pair, other):
        numbers, mine = other.numbers, pair.numbers
        for k in range(mine.size):
            mine[k] += numbers[k]
        return pair.table[:, 1].sum()

    assert add(first, second) == first.table[:, 1].sum()
    assert np.array_equal(first.numbers, wanted)


def test_a_record_is_one_argument_of_a_short_name():
    made = compiled(_work)
    made.compile((PAIR, PAIR))
    (signature,) = made.signatures
    assert [str(kind) for kind in signature] == ["Pair", "Pair"]
    assert all(isinstance(kind, types.Opaque) for kind in signature)


@pytest.mark.parametrize(
    "wrong",
    [
        Pair(np.zeros(4, np.float32), np.zeros((4, 3), np.int64)),
        Pair(np.zeros((4, 1)), np.zeros((4, 3), np.int64)),
        Pair(np.zeros(8)[::2], np.zeros((4, 3), np.int64)),
    ],
    ids=["type", "indices", "not contiguous"],
)
def test_arrays_of_other_types_are_refused(wrong):
    """The table in memory has no place for them."""
    with pytest.raises(TypingError, match="annot determine Numba type"):
        compiled(_work)(wrong, _pair(1))


def test_the_right_arrays_are_taken_after_wrong_ones():
    made = compiled(_work)
    with pytest.raises(TypingError, match="annot determine Numba type"):
        made(Pair(np.zeros(4, np.int64), np.zeros((4, 3), np.int64)), _pair(1))
    assert made(_pair(1), _pair(2)) == 8
    with pytest.raises(TypingError, match="annot determine Numba type"):
        made(_pair(1), Pair(np.zeros(4, np.int64), np.zeros((4, 3), np.int64)))
