"""Steps of one name: a name that means several steps is refused, wherever it may stand; numbers tell them apart."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, ModelError, ResultsError, mac, run, solve
from fem_mbs.analysis.global_motion import read_global_motion


def rod() -> Model:
    m = Model(2)
    m.material("steel", E=2e11, nu=0.3, density=7800.0)
    m.section("bar", "rectangle", width=0.02, height=0.03)
    m.line("rod", (0.0, 0.0), (1.0, 0.0), 3)
    m.beams("rod", "rod", "bar", "steel")
    m.fix("rod:start")
    m.force("push", "rod:end", (0.0, 10.0))
    m.sensor("tip", "displacement", on="rod:end")
    return m


def test_a_name_of_several_steps_is_refused_and_their_numbers_hold(tmp_path):
    m = rod()
    m.static_step(name="load", until=1.0)
    m.static_step(name="load", until=2.0)
    m.modes_step(2)
    m.modes_step(3)
    results = run(m, tmp_path / "out")
    with pytest.raises(ResultsError, match=r'2 steps are called "load": give a number, 0, 1$'):
        results.sensor("tip", "load")
    first, second = (results.sensor("tip", number).values[-1] for number in (0, 1))
    assert second[1] == pytest.approx(2.0 * first[1], rel=1e-3)
    with pytest.raises(ResultsError, match='2 steps with shapes are called "modes": give the number 2 or 3'):
        mac(results, results, "modes")
    assert mac(results, results, 2, "3").matrix.shape == (2, 3)
    assert mac(results, results).matrix.shape == (2, 2)
    with pytest.raises(ModelError, match='has 2 steps "load"; give a number, "1", "2"'):
        read_global_motion(results, "load")
    other = Model(2)
    other.line("rod", (0.0, 0.0), (1.0, 0.0), 3)
    other.imperfection("rod", results=str(tmp_path / "out"), step="4", mode=1)
    with pytest.raises(ResultsError, match='2 steps are called "modes"; give the number 3 or 4'):
        other.imperfection("rod", results=str(tmp_path / "out"), step="modes", mode=1)


def test_steps_that_refer_to_one_of_several_are_refused():
    m = rod()
    m.linear_static_step(name="load", loads=[])
    m.linear_static_step(name="load", loads=["push"])
    m.linear_transient_step(0.01, 1e-3, start="load")
    with pytest.raises(ModelError, match='start = "load" is the name of 2 steps before it; give each a name'):
        solve(m)


def test_one_of_several_kinds_is_meant_where_one_can_be():
    m = rod()
    m.linear_static_step(name="load")
    m.modes_step(2, name="load")
    m.linear_transient_step(0.01, 1e-3, start="load")
    results = solve(m)
    np.testing.assert_allclose(results.sensor("tip", 2).values[0], results.sensor("tip", 0).values[-1], atol=1e-15)
