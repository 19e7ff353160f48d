"""Keys that would have no effect beside the others of their table are errors."""

from __future__ import annotations

import pytest

from fem_mbs import Model, ModelError, load_model


def bodies():
    model = Model(3)
    model.body("a", (0.0, 0.0, 0.0), 1.0, (1.0, 1.0, 1.0))
    model.body("b", (1.0, 0.0, 0.0), 1.0, (1.0, 1.0, 1.0))
    model.joint("hinge", "revolute", "a", "b", point=(0.5, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    return model


@pytest.mark.parametrize(
    "law", [{"stiffness": 5.0}, {"stiffness": 5.0, "yield_force": 1.0}, {"sliders": [[3.0, 1.0]]}, {"damping": 1.0}]
)
def test_interpolation_without_a_table(law):
    model = bodies()
    calls = (
        lambda: model.spring("s", "a", "b", interpolation="spline", **law),
        lambda: model.joint_spring("t", "hinge", interpolation="spline", **law),
        lambda: model.torsion_spring("u", "a", "b", axis=(0.0, 0.0, 1.0), interpolation="spline", **law),
    )
    for call in calls:
        with pytest.raises(ModelError, match='interpolation = "spline" belongs to a table'):
            call()
    model.spring("v", "a", "b", table=[[-1.0, -2.0], [0.0, 0.0], [1.0, 3.0]], interpolation="spline")


@pytest.mark.parametrize(
    ("law", "told"),
    [
        ({"stiffness": 1e4, "restitution_model": "flores"}, "restitution_model belongs to restitution"),
        ({"table": [[0.0, 0.0], [0.1, 5.0]], "exponent": 2.0}, "exponent belongs to a stiffness"),
    ],
)
def test_keys_of_contact(law, told):
    with pytest.raises(ModelError, match=told):
        bodies().contact("c", "ground", "b", point=(0.0, 0.0, -1.0), axis=(0.0, 0.0, 1.0), ball=0.1, **law)


@pytest.mark.parametrize("wrong", ["rotation = 0.4", "preload = [1, 2, 3]"])
def test_wrong_numbers_of_what_is_copied(tmp_path, wrong):
    """A file expands its copies before it builds anything: that must not end in an internal error."""
    body = '[[body]]\nname = "b"\nposition = [1, 0, 0]\nmass = 1\ninertia = [1, 1, 1]\n'
    bushing = f'[[bushing]]\nname = "mount"\na = "b"\nstiffness = [1, 1, 1, 1, 1, 1]\n{wrong}\n'
    copy = '[[copy]]\nof = ["b", "mount"]\nmirror = { normal = [1, 0, 0] }\n'
    path = tmp_path / "model.toml"
    path.write_text(body + bushing + copy + '[[step]]\ntype = "transient"\nduration = 1\nh = 0.1\n', encoding="utf-8")
    with pytest.raises(ModelError, match='"mount": a vector or matrix of it has the wrong number of values'):
        load_model(path)
