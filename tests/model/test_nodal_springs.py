"""Springs on single displacements and rotations of nodes."""

from __future__ import annotations

import numpy as np
import pytest
from solid_meshes import box_mesh

from fem_mbs import Model, ModelError, load_model, solve


def block(**options):
    model = Model(3, **options)
    model.material("steel", E=2e9, nu=0.3, density=1000.0)
    model.mesh("m", box_mesh("hexahedron", (2, 2, 2), (1.0, 1.0, 1.0)))
    model.solids("body", "m", "steel")
    return model


def test_a_block_on_springs():
    """Weight m g on 9 springs of the lower face; what moves it sideways are dashpots without stiffness."""
    model = block(gravity=(0.0, 0.0, -9.81))
    model.nodal_spring("foot", "m:z0", "z", 1000.0)
    model.fix("m:z0", components=["x", "y"])
    model.static_step()
    u = solve(model).steps[0].frames["displacement"][-1]
    foot = model.nodes_of("m:z0")
    assert u[foot, 2].sum() == pytest.approx(-1000.0 * 9.81 / 1000.0, rel=1e-6)
    assert np.ptp(u[foot, 2]) < 1e-3


def test_oscillation_and_damping_between_nodes():
    """Two masses on a line: w^2 = k (1/m1 + 1/m2); across the line nothing happens; the loss of a dashpot is booked."""
    model = Model(2)
    model.node("a", (0.0, 0.0))
    model.node("b", (1.0, 0.0))
    model.point_mass("ma", "a", 1.0)
    model.point_mass("mb", "b", 3.0)
    model.nodal_spring("k", "b", "y", 12.0, against="a")
    model.nodal_spring("c", "b", (0.0, 2.5), damping=0.4, against="a")  # the length of a direction does not matter
    model.initial("b", velocity=(1.0, 0.5))
    model.sensor("force", "element", on="k", element=0, quantity="force")
    model.transient_step(duration=1.0, h=0.001)
    solution = solve(model)
    step = solution.steps[0]
    w2, d = 12.0 * (1.0 + 1.0 / 3.0), 0.5 * 0.4 * (1.0 + 1.0 / 3.0)
    w = np.sqrt(w2 - d**2)
    relative = 0.5 / w * np.exp(-d) * np.sin(w)
    u = step.frames["displacement"][-1]
    assert u[1, 1] - u[0, 1] == pytest.approx(relative, rel=1e-4)
    assert u[1, 0] == pytest.approx(1.0, rel=1e-12)
    assert solution.steps[-1].series["sensor/force"][-1, 0] == pytest.approx(12.0 * relative, rel=1e-2)
    assert abs(step.summary["energy"]["closing_error_relative"]) < 1e-12
    momentum = step.series["linear momentum"]
    assert np.ptp(momentum, axis=0).max() < 1e-12


def test_different_components():
    """A lever without mass: u_y of b follows u_x of a (stiff), and pulls back."""
    model = Model(2)
    for name in "ab":
        model.node(name, (float(name == "b"), 0.0))
        model.point_mass(f"m{name}", name, 1.0)
    model.nodal_spring("link", "a", "x", 2.0, against="b", other="y")
    model.nodal_spring("ground", ["a", "b"], "x", 1.0)
    model.nodal_spring("ground y", ["a", "b"], "y", 1.0)
    model.force("pull", "a", (3.0, 0.0))
    model.static_step()
    u = solve(model).steps[0].frames["displacement"][-1]
    # (1 + 2) ua - 2 ub = 3, -2 ua + (1 + 2) ub = 0
    assert u[0, 0] == pytest.approx(9.0 / 5.0) and u[1, 1] == pytest.approx(6.0 / 5.0)


@pytest.mark.parametrize("dimension", [2, 3])
def test_rotations(dimension):
    model = Model(dimension)
    zero = np.zeros(dimension)
    inertia = 1.0 if dimension == 2 else (1.0, 1.0, 1.0)
    model.body("b", zero, 1.0, inertia)
    model.fix("b", components=["x", "y", "z"][:dimension])
    if dimension == 3:
        model.fix("b", components=["rotation x", "rotation y"])
    model.nodal_spring("k", "b", "rotation" if dimension == 2 else "rotation z", 5.0)
    model.moment("M", "b", 2.0 if dimension == 2 else (0.0, 0.0, 2.0))
    model.static_step()
    assert solve(model).steps[0].frames["rotation"][-1][0, 2] == pytest.approx(0.4, rel=1e-9)


def test_model_file(tmp_path):
    (tmp_path / "m.toml").write_text(
        """dimension = 2
[[node]]
name = "a"
position = [0.0, 0.0]
[[point_mass]]
at = "a"
mass = 1.0
[[nodal_spring]]
on = "a"
component = "x"
stiffness = 4.0
[[nodal_spring]]
on = "a"
component = [0.6, 0.8]
stiffness = 1.0
damping = 0.1
[[force]]
on = "a"
vector = [1.0, 0.0]
[[step]]
type = "static"
"""
    )
    model = load_model(tmp_path / "m.toml")
    u = solve(model).steps[0].frames["displacement"][-1][0, :2]
    K = np.array([[4.36, 0.48], [0.48, 0.64]])
    assert np.allclose(u, np.linalg.solve(K, (1.0, 0.0)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "it has no force; give stiffness or damping"),
        ({"component": "w", "stiffness": 1.0}, "component = 'w' must be one of x, y, z, rotation x"),
        ({"component": (0, 0, 0), "stiffness": 1.0}, "has no length"),
        ({"component": "rotation", "stiffness": 1.0}, "must be the same of rotation x"),
        ({"other": "y", "stiffness": 1.0}, "the ground has no displacement; remove other"),
        ({"against": "m:x0", "stiffness": 1.0}, "is at both ends"),
        ({"on": "m:x0", "against": "m", "stiffness": 1.0}, "on has 9 nodes and against 27"),
        ({"component": "x", "against": "m:x1", "on": "m:x0", "other": "rotation x", "stiffness": 1.0}, "joins two"),
        ({"stiffness": -1.0}, "of at least 0"),
    ],
)
def test_refused(options, message):
    model = block()
    with pytest.raises(ModelError, match=message):
        model.nodal_spring("s", options.pop("on", "m:x0"), options.pop("component", "x"), **options)


def test_rotation_of_a_node_that_has_none():
    model = block()
    model.nodal_spring("s", "m:x0", "rotation x", 1.0)
    with pytest.raises(ModelError, match="has no rotation"):
        model.compile()
