"""A small sample of each kind of attack; `python -m tests.attack all` runs them at length."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

if sys.platform == "win32":
    pytest.skip("needs fork", allow_module_level=True)

from attack.__main__ import table
from attack.faults import FAULTS
from attack.guard import Attack, Tally, Wrong, judge, run_attack
from attack.long_runs import contact, flight, mechanism
from attack.registry import ATTACKS
from fem_mbs.errors import ModelError

#: Number of cases of each kind.  The other kinds start slow processes; long tests run some of them.
SAMPLE = {
    "models": 40, "abaqus": 40, "nastran": 40, "listings": 60, "meshes": 100, "shapes": 100, "parts": 30,
    "foreign-parts": 30, "results": 30, "folders": 6, "killed-reductions": 4,
}  # fmt: skip
_FIRST = 1_000_000  # first seed, beyond those of the command


@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample_has_no_failure(name):
    tally = run_attack(ATTACKS[name][0], SAMPLE[name], first=_FIRST)
    assert tally.failures == []
    assert tally.count == SAMPLE[name]


@pytest.mark.long
def test_killed_runs_go_on_with_the_same_bits():
    assert run_attack(ATTACKS["killed-runs"][0], 4, first=_FIRST).failures == []


@pytest.mark.long
@pytest.mark.parametrize("text", FAULTS)
def test_faults_of_the_environment(tmp_path, text):
    FAULTS[text](tmp_path)


@pytest.mark.parametrize("what", [mechanism, *(pytest.param(one, marks=pytest.mark.long) for one in (flight, contact))])
def test_long_runs_in_short(tmp_path, what):
    what(tmp_path, 2000)


def _bad(folder):
    def case(seed: int) -> str:
        if seed == 2:
            os.kill(os.getpid(), signal.SIGSEGV)
        if seed == 4:
            time.sleep(60.0)
        if seed == 6:
            raise ValueError("seven")
        if seed == 8:
            print("a complaint", flush=True)
            os.write(1, b"of a library")
        return judge(lambda: None)

    return case


def test_the_guard_counts_crashes_hangs_errors_and_prints():
    tally = run_attack(Attack("bad", "", _bad, seconds=1.0), 10, workers=2)
    texts = dict(tally.failures)
    assert tally.count == 10 and tally.ends == {"accepted": 6}
    assert texts.keys() == {2, 4, 6, 8}
    assert "signal 11" in texts[2] and "no end" in texts[4] and "seven" in texts[6] and "prints" in texts[8]


def _raise(error: Exception) -> None:
    raise error


def test_a_refusal_is_one_line_that_names_the_thing():
    assert judge(lambda: _raise(ModelError("a.toml: it is so")), "a.toml") == "refused"
    for text, names in (("a\nb", ()), ("", ()), ("b.toml: no", ("a.toml",)), ("x" * 7000, ())):
        with pytest.raises(Wrong):
            judge(lambda text=text: _raise(ModelError(text)), *names)
    with pytest.raises(KeyError):
        judge(lambda: {}["x"])


def test_the_table_counts():
    attack = Attack("a", "what", _bad)
    text = table([Tally(attack, range(3), {"refused": 2}, [(1, "x")], 1.0), Tally(attack, range(5), {"accepted": 5})])
    assert "| a | what | 0 to 2 | 3 | 2 refused | 1 | 1 s |" in text
    assert "| all | | | 8 | | 1 | |" in text
