"""Parameters of many elements are made when they are needed: the same numbers, of all elements or of some."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pytest

from fem_mbs import Model
from fem_mbs.model.parts import cells
from fem_mbs.system.blocks import Block


def solid(**options) -> Model:
    m = Model(3)
    m.mesh("bar", box={"size": (0.4, 0.1, 0.1), "n": (4, 2, 1)})
    m.solid_material("steel", E=2.1e11, nu=0.3, density=7850.0, expansion=1.2e-5)
    m.solids("part", "bar", "steel", **{"damping": 1e-5, **options})
    return m


def heated() -> Model:
    m = solid()
    m.temperature("warm", "part", "40*x")
    m.temperature("end", "bar:right", 20.0)
    return m


def two_parts() -> Model:
    m = heated()
    m.mesh("block", box={"size": (0.1, 0.1, 0.1), "n": (1, 1, 2), "start": (1.0, 0.0, 0.0)})
    m.solids("other", "block", "steel", mass_damping=2.0)
    return m


def plane(state: str = "stress", **options) -> Model:
    m = Model(2)
    m.mesh("sheet", rectangle={"size": (0.4, 0.1), "n": (4, 2), "start": (1.0, 0.0)})
    m.solid_material("steel", E=2.1e11, nu=0.3, density=7850.0)
    m.planes("part", "sheet", "steel", state=state, **options)
    return m


def shell(**options) -> Model:
    m = Model(3)
    m.mesh("tube", tube={"radius": 0.2, "height": 0.3, "n": (6, 2)})
    m.solid_material("steel", E=2.1e11, nu=0.3, density=7850.0, expansion=1.2e-5)
    m.shells("part", "tube", "steel", "0.004 + 0.001*z", **options)
    return m


def heated_shell() -> Model:
    m = shell(offset=0.001)
    m.temperature("warm", "part", 40.0, gradient="100*z")
    return m


MODELS: dict[str, Callable[[], Model]] = {
    "solid": solid, "heated": heated, "two parts": two_parts, "lumped": lambda: solid(mass="lumped"),
    "incompatible": lambda: solid(element="incompatible", mass="incompatible"), "plane": lambda: plane(thickness=0.01),
    "ring": lambda: plane("axisymmetric"), "shell": shell, "heated shell": heated_shell,
    "membrane": lambda: shell(element="membrane"), "residual": lambda: shell(element="residual", mass="lumped"),
}  # fmt: skip


@pytest.fixture(params=MODELS)
def both(request, monkeypatch) -> tuple[Model, Model]:
    """A model whose parameters are made at once, and the same whose are made later."""
    made = MODELS[request.param]()
    monkeypatch.setattr(cells, "MANY", 0)
    return made, MODELS[request.param]()


def test_the_same_numbers_of_all_elements(both):
    made, later = both
    assert all(b.later for b in later.building.blocks)
    assert not any(b.later for b in made.building.blocks)
    for a, b in zip(*(m.compile(stepping=False).system.blocks for m in both), strict=True):
        assert a.groups == b.groups
        np.testing.assert_array_equal(a.par, b.par)
        assert a.damped == b.damped
    assert all(b.later for b in later.building.blocks)  # compiled models have numbers of their own
    for a, b in zip(made.building.cell_groups, later.building.cell_groups, strict=True):
        np.testing.assert_array_equal(a.mass, b.mass)


def test_the_same_numbers_of_some_elements(both):
    made, later = both
    for a, b in zip(made.building.blocks, later.building.blocks, strict=True):
        some = np.arange(a.size)[1::2]
        assert np.array_equal(b.rows_of(some), a.par[some])
        assert b.damped == a.damped
        assert b.later
        np.testing.assert_array_equal(b.column_of(some, 1), a.par[some, 1])


def test_numbers_are_made_when_they_are_asked_for(both):
    made, later = both
    for a, b in zip(made.building.blocks, later.building.blocks, strict=True):
        sent: Block = pickle.loads(pickle.dumps(b))
        assert sent.later
        np.testing.assert_array_equal(sent.par, a.par)
        assert not sent.later


def test_nodes_that_move_later_do_not_move_elements(monkeypatch):
    monkeypatch.setattr(cells, "MANY", 0)
    m, still = solid(), solid()
    nodes = m.nodes_of("bar:right")
    m.building.move_nodes(nodes, m.positions[nodes] + 0.01)
    for a, b in zip(m.building.blocks, still.building.blocks, strict=True):
        np.testing.assert_array_equal(a.par, b.par)


def test_changes_add_up_and_widen_the_table(monkeypatch):
    made = solid().building.blocks[0]
    monkeypatch.setattr(cells, "MANY", 0)
    later = solid().building.blocks[0]
    width, some = made.par.shape[1], np.array([1, 4, 6])
    expected = np.pad(made.par, ((0, 0), (0, 2)))
    expected[some, 2] = 5.0
    expected[some, width:] = 3.0 * np.arange(6.0).reshape(3, 2)
    for block in (made, later):
        block.change(some, 2, [5.0])
        block.change(some, width, np.arange(6.0).reshape(3, 2))
        block.change(some, width, 2.0 * np.arange(6.0).reshape(3, 2), add=True)
    assert later.later
    np.testing.assert_array_equal(made.par, expected)
    np.testing.assert_array_equal(later.rows_of(np.array([6, 0, 4])), expected[[6, 0, 4]])
    np.testing.assert_array_equal(later.par, expected)


@pytest.mark.parametrize("damping", [0.0, 0.01])
def test_damping_is_known_before_and_after_a_change(monkeypatch, damping):
    """Blocks tell whether they damp without making parameters, and what is changed in them later counts too."""
    monkeypatch.setattr(cells, "MANY", 0)
    for block in solid(damping=damping, mass_damping=damping).building.blocks:
        assert block.later and block.damped == (damping != 0.0)
        block.change(np.arange(1), block.type.column("damping"), [0.02])
        assert block.later and block.damped
