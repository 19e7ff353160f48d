"""Steps of one name: an accessor by name refuses them, one by number does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fem_mbs import Model, ModelError, read_global_motion, run, solve
from fem_mbs.errors import ResultsError
from fem_mbs.meshes.grids import box
from fem_mbs.results.modes.mac import mac
from fem_mbs.results.modes.shapes import shape_of
from fem_mbs.results.reader import Results


def bar() -> Model:
    """A clamped block that a force of 10 N/s pulls, with two steps of each name."""
    model = Model(3)
    model.mesh("block", box((1.0, 0.1, 0.1), (2, 1, 1), kind="hexahedron"))
    model.material("steel", E=2e11, nu=0.0, density=7800.0)
    model.solids("bar", "block", "steel")
    model.fix("block:left")
    for node in model.nodes_of("block:right"):
        model.force(f"pull {node}", int(node), [2.5, 0.0, 0.0], function="t")
    model.sensor("u", "position", on=int(model.nodes_of("block:right")[0]))
    for end in (1.0, 2.0):
        model.linear_static_step("pull", time=end)
    for _ in range(2):
        model.modes_step(2)
    return model


@pytest.fixture(scope="module", params=["memory", "folder"])
def results(request, tmp_path_factory) -> Results:
    if request.param == "memory":
        return solve(bar())
    return run(bar(), tmp_path_factory.mktemp("equal") / "out")


ACCESSORS: dict[str, Callable[[Results, Any], Any]] = {
    "step_at": lambda r, step: r.step_at(step),
    "sensor": lambda r, step: r.sensor("u", step),
    "steps_with": lambda r, step: r.steps_with("sensor/u", step),
    "to_dataframe": lambda r, step: r.to_dataframe(step),
    "nodes_to_dataframe": lambda r, step: r.nodes_to_dataframe(step),
    "drives": lambda r, step: r.drives(step),
}


@pytest.mark.parametrize("accessor", ACCESSORS)
def test_a_name_of_two_steps_is_refused_and_a_number_is_not(results, accessor):
    with pytest.raises(ResultsError, match=r'2 steps are called "pull"; give the number .* from 0: 0 or 1; or give'):
        ACCESSORS[accessor](results, "pull")
    assert ACCESSORS[accessor](results, 1) is not None


def test_numbers_tell_the_steps_apart(results):
    ends = [results.sensor("u", k).values[-1, 0] for k in (0, 1)]
    np.testing.assert_allclose(np.subtract(ends, 1.0), [5e-9, 1e-8], rtol=1e-6)


def test_shapes_are_found_by_number_where_the_name_is_shared(results):
    with pytest.raises(ResultsError, match=r'"modes"; give the number of one, counted from 0: 2 or 3'):
        mac(results, results, "modes")
    for step in (2, "2"):
        np.testing.assert_allclose(mac(results, results, step).matrix, np.eye(2), atol=1e-12)
    assert mac(results, results).names == ("modes", "modes")
    with pytest.raises(ResultsError, match="counted from 1: 3 or 4"):
        shape_of(results, "modes", 1)
    assert np.abs(shape_of(results, 4, 1)).max() == 1.0
    with pytest.raises(ResultsError, match="no step 5"):
        shape_of(results, 5, 1)


def test_a_motion_of_the_whole_is_of_one_step(results):
    with pytest.raises(ResultsError, match="counted from 1: 1 or 2"):
        read_global_motion(results, "pull")
    assert read_global_motion(results, "2") is not None


def test_a_step_about_one_of_two_steps_is_refused():
    model = bar()
    model.modes_step(2, "about", preload="pull")
    with pytest.raises(ModelError, match=r'preload = "pull": several steps .* have this name.*a name of its own'):
        solve(model)


def test_one_of_several_steps_is_meant_where_only_one_can_be():
    model = bar()
    model.steps.clear()
    model.linear_static_step("bar", time=1.0)
    model.modes_step(2, "bar")
    model.linear_transient_step(1e-4, 1e-5, start="bar")
    results = solve(model)
    np.testing.assert_allclose(results.sensor("u", 2).values[0], results.sensor("u", 0).values[-1], atol=1e-15)
