"""`fem-mbs check` on nodes of two parts at one place that nothing connects."""

from __future__ import annotations

import pytest

from fem_mbs import Model
from fem_mbs.cli.check import explain
from fem_mbs.cli.doubts.loose_nodes import doubts_of_loose_nodes
from fem_mbs.errors import ModelError


def guyed() -> Model:
    """A mast and two ropes to its top, each on a mesh of its own."""
    m = Model(3, gravity=(0, 0, -9.81))
    m.material("steel", 2.1e11, 0.3, density=7850)
    m.section("tube", "tube", outer_diameter=0.15, thickness=0.004)
    m.section("rope", "circle", diameter=0.008)
    m.line("mast", (0, 0, 0), (0, 0, 15), 4)
    m.beams("mast", on="mast", section="tube", material="steel")
    m.fix("mast:start")
    for k, x in enumerate((8.0, -8.0)):
        m.line(f"rope {k}", (x, 0, 0), (0, 0, 15), 1)
        m.trusses(f"guy {k}", f"rope {k}", "rope", "steel", prestress=2000.0)
        m.fix(f"rope {k}:start")
    m.modes_step(2)
    return m


def test_ropes_that_only_touch_the_mast_are_doubted(tmp_path):
    m = guyed()
    (doubt,) = doubts_of_loose_nodes(m)
    assert doubt.startswith('"mast 5" and "rope 0 2", "mast 5" and "rope 1 2", "rope 0 2" and "rope 1 2" are at one')
    m.save(tmp_path / "model.toml")
    assert f"note: {doubt}" in explain(tmp_path / "model.toml")


def pin(m: Model, k: int) -> None:
    m.joint(f"top {k}", "pin", "mast:end", f"rope {k}:end")


def shackle(m: Model, k: int) -> None:
    """A link between other nodes of both."""
    m.node(f"eye {k}", (8.0 - 16.0 * k, 1.0, 0.0))
    m.trusses(f"link {k}", [f"rope {k}:start", f"eye {k}"], "rope", "steel")
    m.trusses(f"other {k}", [f"eye {k}", "mast:end"], "rope", "steel")


def coupling(m: Model, k: int) -> None:
    m.coupling(f"top {k}", "mast:end", [f"rope {k}:end"], kind="rigid")


@pytest.mark.parametrize("connect", [pin, shackle, coupling])
def test_what_is_connected_is_not_doubted(connect):
    m = guyed()
    connect(m, 0)
    assert "rope 0" not in next(doubts_of_loose_nodes(m)).split(" and ")[0]  # only the other one is left
    connect(m, 1)
    assert list(doubts_of_loose_nodes(m)) == []


@pytest.mark.parametrize(("name", "what"), [("guy 0", "elements"), ("top 0", "a joint")])
def test_a_name_that_is_no_place_is_called_what_it_is(name, what):
    m = guyed()
    pin(m, 0)
    with pytest.raises(ModelError, match=f'"{name}" is the name of {what}, not of a place; name a body, a node'):
        m.sensor("top", "displacement", on=name)


def test_ends_that_the_ground_holds_and_crossing_parts_are_not_doubted():
    m = Model(2)
    m.material("steel", 2.1e11, 0.3, density=7850)
    m.section("bar", "circle", diameter=0.01)
    for name, start, end in (("a", (0, 0), (1, 0)), ("b", (0, 0), (1, 1)), ("c", (0, 1), (1, 0.2))):
        m.line(name, start, end, 2)
        m.beams(name, on=name, section="bar", material="steel")
        m.fix(f"{name}:start")
    assert list(doubts_of_loose_nodes(m)) == []
