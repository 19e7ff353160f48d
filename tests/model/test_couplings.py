"""Couplings of a reference with many nodes: exact at any rotation, conserving, statically equivalent."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from fem_mbs import Model, ModelError, solve
from fem_mbs.modelfile.read import load_model

PLACES = np.array(
    ((0.0, 0.1, 0.0), (1.0, 0.0, 0.2), (0.2, 1.1, -0.1), (0.9, 1.0, 0.9), (0.1, 0.2, 1.2), (1.1, 0.3, 1.0))
)
WEIGHTS = np.array((1.0, 2.0, 0.5, 1.5, 1.0, 0.7))


def cloud(stiffness=300.0, **options):
    """Six masses, each joined by springs to all others."""
    m = Model(3, **options)
    for i, x in enumerate(PLACES):
        m.node(f"n{i}", x)
        m.point_mass(f"m{i}", f"n{i}", 0.3 + 0.1 * i)
    for i in range(6):
        for j in range(i):
            m.spring(f"s{i}{j}", f"n{i}", f"n{j}", stiffness, length=0.97 * np.linalg.norm(PLACES[i] - PLACES[j]))
    return m


NODES = [f"n{i}" for i in range(6)]


def conserved(s, tolerance=1e-12):
    """Energy and momenta of a free flight."""
    step = s.steps[-1]
    energy = step.summary["energy"]
    assert energy["closing_error_relative"] < tolerance
    for key in ("linear momentum", "angular momentum"):
        p = step.series[key]
        assert np.abs(p).max() > 0.1
        assert np.abs(p - p[0]).max() < tolerance * np.abs(p).max(), key
    assert step.summary["constraint_error"] < 1e-13


def flying(kind, **options):
    m = cloud()
    m.body("R", (0.4, 0.9, 0.3), 0.7, (0.1, 0.15, 0.2), rotation=(0.3, -0.5, 0.8))
    m.coupling("c", "R", NODES, kind, **options)
    m.initial(velocity=("1 + 0.5*x*y", "0.3*z", "-0.2*x"))
    m.initial(spin=(3.0, 2.0, -4.0), centre=(0.5, 0.5, 0.5))
    for n in ("R", *NODES):
        m.sensor(f"u {n}", "displacement", on=n)
    m.sensor("turn", "rotation", on="R")
    m.sensor("c", "reaction", on="c")
    m.transient_step(1.5, 0.02)
    return m, solve(m)


def test_distributing_coupling_flies():
    """A tumbling cloud: energy and momenta to round-off, the reference on the weighted mean and turned by the polar
    factor of the nodes' motion, through turns of any size."""
    m, s = flying("distributing", weights=WEIGHTS)
    conserved(s)
    w = WEIGHTS / WEIGHTS.sum()
    x = np.stack([s.sensor(f"u {n}").values for n in NODES], axis=1) + PLACES
    mean = np.einsum("i,tij->tj", w, x)
    S = PLACES - w @ PLACES
    F = np.einsum("i,tij,ik->tjk", w, x - mean[:, None], S)
    U, _, Vt = np.linalg.svd(F)
    polar = U @ Vt
    R = Rotation.from_rotvec(s.sensor("turn").values).as_matrix()
    assert np.linalg.norm(s.sensor("turn").values, axis=1).max() > 2.5
    assert np.abs(R - polar).max() < 1e-12
    reference = s.steps[-1].series["sensor/u R"] + m.position(m.node_of("R"))
    arm = m.position(m.node_of("R")) - w @ PLACES
    assert np.abs(reference - mean - R @ arm).max() < 1e-12
    # the nodes do deform
    assert np.abs(np.linalg.svd(F)[1] - np.linalg.svd(F[0])[1]).max() > 1e-3


def test_rigid_coupling_flies():
    """The cloud moves as one body with the reference."""
    m, s = flying("rigid")
    conserved(s)
    R = Rotation.from_rotvec(s.sensor("turn").values).as_matrix()
    assert np.linalg.norm(s.sensor("turn").values, axis=1).max() > 2.5
    start = m.position(m.node_of("R"))
    for i, n in enumerate(NODES):
        expected = s.steps[-1].series["sensor/u R"] + np.einsum("tij,j->ti", R - np.eye(3), PLACES[i] - start)
        assert np.abs(s.sensor(f"u {n}").values - expected).max() < 1e-12


@pytest.mark.parametrize("components", [("x", "z", "ry"), ("y", "rotation"), ("x", "y", "z"), ("rx", "rz")])
def test_rigid_coupling_of_some_components(components):
    """Conserving too, and what is coupled is coupled: along axes of the reference."""
    m = Model(3)
    m.body("A", (0.0, 0.0, 0.0), 1.0, (1.0, 1.2, 1.5), rotation=(0.2, 0.1, 0.4))
    m.body("B", (1.0, 0.3, 0.1), 0.5, (0.3, 0.4, 0.5), rotation=(-0.3, 0.5, 0.2))
    m.bushing("b", "A", "B", [50.0] * 3 + [20.0] * 3)
    m.coupling("c", "A", "B", components=components)
    m.initial("A", velocity=(1.0, 0.0, 0.5), spin=(0.5, 1.0, 2.0))
    m.initial("B", velocity=(0.0, 0.5, 0.0))
    for n in "AB":
        m.sensor(n, "position", on=n)
        m.sensor(f"turn {n}", "rotation", on=n)
    m.transient_step(0.6, 0.01)
    s = solve(m)
    conserved(s)
    a, b = (Rotation.from_rotvec(s.sensor(f"turn {n}").values).as_matrix() for n in "AB")
    d = np.einsum("tji,tj->ti", a, s.steps[-1].series["sensor/B"] - s.steps[-1].series["sensor/A"]) - (1.0, 0.3, 0.1)
    Q = np.einsum("tji,tjk->tik", a, b)
    for k, c in enumerate("xyz"):
        error = np.abs(d[:, k]).max()
        assert (error < 1e-12) == (c in components), (c, error)
        error = np.abs(Q[:, (k + 1) % 3, (k + 2) % 3]).max()
        assert (error < 1e-12) == (f"r{c}" in components or "rotation" in components), (c, error)


def supported(kind=None, load=None):
    """The cloud on springs to the ground, of different stiffness at every node."""
    m = cloud()
    for i, x in enumerate(PLACES):
        for k, d in enumerate(np.eye(3)):
            m.spring(f"g{i}{k}", f"n{i}", "ground", 50.0 + 20.0 * i + 5.0 * k, point_b=x + 3.0 * d)
    if kind:
        m.node("R", (1.5, -0.3, 0.4))
        m.coupling("c", "R", NODES, kind, weights=WEIGHTS if kind == "distributing" else None)
    return m


def test_distributing_coupling_is_statically_equivalent():
    """Force and moment on the reference act on the nodes as f_i = w_i (F + (I_w^-1 M) x s_i): with these forces given
    instead, the nodes move the same (small loads: the difference is quadratic)."""
    force, moment = 1e-6 * np.array((1.0, -2.0, 0.5)), 1e-6 * np.array((0.7, 0.4, -1.1))
    coupled = supported("distributing")
    coupled.force("F", "R", force)
    coupled.moment("M", "R", moment)
    alone = supported()
    w = WEIGHTS / WEIGHTS.sum()
    mean = w @ PLACES
    S = PLACES - mean
    I = np.einsum("i,ij,ij->", w, S, S) * np.eye(3) - np.einsum("i,ij,ik->jk", w, S, S)
    total = moment + np.cross(np.array((1.5, -0.3, 0.4)) - mean, force)
    f = w[:, None] * (force + np.cross(np.linalg.solve(I, total), S))
    assert np.allclose(f.sum(axis=0), force)
    assert np.allclose(np.cross(PLACES, f).sum(axis=0), moment + np.cross((1.5, -0.3, 0.4), force))
    found = []
    for m in (coupled, alone):
        if m is alone:
            for i in range(6):
                m.force(f"f{i}", f"n{i}", f[i])
        for n in NODES:
            m.sensor(n, "displacement", on=n)
        # (springs that are stretched at the start settle first)
        loads = ["F", "M"] if m is coupled else [f"f{i}" for i in range(6)]
        m.static_step(vary=[], increments=1)
        m.static_step(vary=loads, name="load")
        s = solve(m)
        found.append([s.steps[-1].series[f"sensor/{n}"][-1] - s.steps[0].series[f"sensor/{n}"][-1] for n in NODES])
    found = np.array(found)
    assert np.abs(found[1]).max() > 1e-9
    # the arms have changed a little while settling
    assert np.abs(found[0] - found[1]).max() < 0.05 * np.abs(found[1]).max()


def test_distributing_coupling_adds_no_stiffness():
    """Without a load on the reference the nodes do not feel it: the same motion to round-off."""
    found = []
    for kind in (None, "distributing"):
        m = supported(kind)
        m.force("F", "n3", (5.0, 20.0, -8.0))
        for n in NODES:
            m.sensor(n, "displacement", on=n)
        m.static_step(increments=4)
        s = solve(m)
        found.append([s.steps[-1].series[f"sensor/{n}"][-1] for n in NODES])
    assert np.abs(found[0]).max() > 0.03
    assert np.abs(np.subtract(*found)).max() < 1e-11


def plane(kind, **options):
    m = Model(2)
    for i, x in enumerate(((0.0, 0.0), (1.0, 0.0), (1.2, 1.0), (0.1, 0.8))):
        m.node(f"n{i}", x)
        m.point_mass(f"m{i}", f"n{i}", 1.0 + i)
    for i in range(4):
        for j in range(i):
            m.spring(f"s{i}{j}", f"n{i}", f"n{j}", 200.0)
    m.body("R", (0.5, 0.7), 1.0, 0.3, angle=0.4)
    m.coupling("c", "R", [f"n{i}" for i in range(4)], kind, **options)
    m.initial(velocity=("1 + y*y", "0.5*x"))
    m.initial(spin=5.0, centre=(0.5, 0.5))
    m.sensor("turn", "rotation", on="R")
    for i in range(4):
        m.sensor(f"x{i}", "position", on=f"n{i}")
    m.transient_step(2.0, 0.01)
    return solve(m)


def test_plane_couplings_fly():
    w = np.array((1.0, 2.0, 3.0, 4.0)) / 10.0
    s = plane("distributing", weights=w)
    conserved(s)
    x = np.stack([s.sensor(f"x{i}").values for i in range(4)], axis=1)
    y, S = x - np.einsum("i,tij->tj", w, x)[:, None], x[0] - w @ x[0]
    angle = np.arctan2(
        np.einsum("i,ti->t", w, S[:, 0] * y[..., 1] - S[:, 1] * y[..., 0]), np.einsum("i,tij,ij->t", w, y, S)
    )
    turn = s.sensor("turn").values[:, 0]
    assert turn[-1] > 2 * np.pi
    assert np.abs(np.angle(np.exp(1j * (turn - angle)))).max() < 1e-12
    s = plane("rigid")
    conserved(s)
    turn = s.sensor("turn").values[:, 0]
    x = np.stack([s.sensor(f"x{i}").values for i in range(4)], axis=1)
    z = (x - x[:, :1]) @ np.array((1.0, 1j))
    assert np.abs(z - z[0] * np.exp(1j * turn)[:, None]).max() < 1e-12


def test_rigid_coupling_turns_beams():
    """Nodes with rotations are welded: two beams at right angles on one rigid piece are the beams welded to it."""
    found = []
    for coupled in (True, False):
        m = Model(3, gravity=(0.0, 0.0, -9.81))
        m.material("steel", E=2e9, nu=0.3, density=7800.0)
        m.section("rod", "circle", diameter=0.02)
        m.line("one", (0.1, 0.0, 0.0), (1.0, 0.0, 0.0), 4)
        m.line("two", (0.0, 0.1, 0.0), (0.0, 1.0, 0.3), 4)
        for n in ("one", "two"):
            m.beams(n, n, "rod", "steel")
        m.body("R", (0.0, 0.0, 0.1), 1.0, (1.0, 1.0, 1.0), rotation=(0.1, 0.0, 0.5))
        if coupled:
            m.coupling("c", "R", ["one:start", "two:start"])
        else:
            for n in ("one", "two"):
                m.joint(f"w {n}", "weld", "R", f"{n}:start", point=m.position(m.node_of(f"{n}:start")))
        m.fix("R")
        m.sensor("tip", "displacement", on="two:end")
        m.static_step(increments=2)
        found.append(solve(m).steps[-1].series["sensor/tip"][-1])
    assert np.abs(found[0]).max() > 0.01
    assert np.abs(np.subtract(*found)).max() < 1e-11


def test_preferred_dofs_of_couplings():
    m = supported("distributing")
    m.transient_step(0.1, 0.1)
    system = m.compile().system
    names = [system.name_of(int(i)) for i in system.preferred_dofs()]
    assert names == [f'node "R", {k}' for k in ("x", "y", "z", "rotation x", "rotation y", "rotation z")]
    m = supported("rigid")
    m.transient_step(0.1, 0.1)
    system = m.compile().system
    names = [system.name_of(int(i)) for i in system.preferred_dofs()]
    assert names == [f'node "{n}", {k}' for n in NODES for k in "xyz"]


BAD = {
    "kind": ({"kind": "soft"}, 'kind = "soft" must be one of "rigid", "distributing"'),
    "weights": ({"weights": np.ones(6)}, "a rigid coupling has no weights"),
    "size": ({"kind": "distributing", "weights": np.ones(5)}, "weights must be finite, of shape (6,)"),
    "negative": ({"kind": "distributing", "weights": -np.ones(6)}, "the sum of the weights must be positive, not -6"),
    "component": ({"components": ["w"]}, "component 'w' must be one of x, y, z, rx"),
    "none": ({"components": []}, "couples nothing"),
    "alone": ({"nodes": "R"}, "no nodes beside its reference"),
    "unknown": ({"nodes": ["n0", "n9"]}, 'no body, node or mesh "n9"'),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_couplings(case):
    changes, message = BAD[case]
    m = cloud()
    m.node("R", (0.0, 0.0, 0.0))
    with pytest.raises(ModelError) as error:
        m.coupling("c", **({"reference": "R", "nodes": NODES} | changes))
    assert message in str(error.value)
    assert 'Coupling "c"' in str(error.value)


def test_nodes_in_a_line_define_no_rotation_about_it():
    def model(components=None, places=((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (3.0, 0.0, 0.0))):
        m = Model(3)
        for i, x in enumerate(places):
            m.node(f"n{i}", x)
            m.point_mass(f"m{i}", f"n{i}", 1.0)
        m.body("R", (0.5, 0.2, 0.0), 1.0, (1.0, 1.0, 1.0))
        m.coupling("c", "R", ["n0", "n1", "n2"], "distributing", components)
        m.initial("R", velocity=(0.3, 0.0, 0.0), spin=(0.0, 1.0, 1.0))
        m.transient_step(0.1, 0.01)
        return m

    with pytest.raises(ModelError, match=r'in a line along \[-?1.0, 0.0, 0.0\].*"x", "y", "z", "ry", "rz"'):
        model().compile()
    conserved(solve(model(["x", "y", "z", "ry", "rz"])), 1e-11)
    with pytest.raises(ModelError, match="stand at one place"):
        model(places=np.ones((3, 3))).compile()


def test_reference_without_rotation():
    """Translations alone need a reference at the mean of the nodes."""
    for x, good in ((PLACES.mean(axis=0), True), ((0.0, 0.0, 0.0), False)):
        m = cloud()
        m.node("R", x)
        m.coupling("c", "R", NODES, "distributing", ["x", "y", "z"])
        m.transient_step(0.1, 0.01)
        if good:
            m.sensor("R", "displacement", on="R")
            assert np.isfinite(solve(m).steps[-1].series["sensor/R"]).all()
        else:
            with pytest.raises(ModelError, match="off the mean of the nodes"):
                m.compile()


# --- model file ------------------------------------------------------------------------------------------------------
FILE = """
dimension = 3

[[body]]
name = "hub"
position = [0.3, 0.3, 0.2]
mass = 1.0
inertia = [0.1, 0.1, 0.1]

[mesh.net]
line = {start = [0.0, 0.0, 0.0], end = [1.0, 0.0, 0.0], n = 1}

[[node]]
name = "a"
position = [0.0, 1.0, 0.0]

[[node]]
name = "b"
position = [0.2, 0.3, 1.0]

[[point_mass]]
at = ["net", "a", "b"]
mass = 0.5

[[spring]]
a = "a"
b = "b"
stiffness = 10.0

[[equation]]
name = "both"
terms = [{on = "net:all", component = "z", coefficient = 1.0}, {on = "a", component = "z", coefficient = -0.5}]
value = 0.1
function = "t"

[[coupling]]
name = "hold"
reference = "hub"
nodes = ["net", "a", "b"]
kind = "distributing"
components = ["x", "y", "z", "rotation"]
weights = [1.0, 2.0, 1.0, 1.0]

[[sensor]]
name = "hub"
kind = "rotation"
on = "hub"

[[step]]
type = "static"
increments = 2
duration = 0.5
"""


def test_model_file(tmp_path):
    """Tables make the same calls as Python."""
    path = tmp_path / "m.toml"
    path.write_text(FILE)
    m = load_model(path)
    system = m.compile().system
    block = next(b for b in system.blocks if b.type.name == "equation3")
    assert block.n_multipliers == 2 + 3
    assert [block.row_label(i) for i in range(4)] == ["both, row 1", "both, row 1", "both, row 2", "both, row 2"]
    assert m.steps[0].options == {"increments": 2, "duration": 0.5}
    other = Model(3)
    for n, x in (("a", (0.0, 1.0, 0.0)), ("c", (0.0, 0.0, 0.0)), ("d", (1.0, 0.0, 0.0))):
        other.node(n, x)
    other.point_mass("m", ["a", "c", "d"], 0.5)
    other.equations("both", [0, 0, 1, 1], [1, 0, 2, 0], [2, 2, 2, 2], [1.0, -0.5, 1.0, -0.5], 0.1, "t")
    other.transient_step(0.1, 0.1)
    own = next(b for b in other.compile().system.blocks if b.type.name == "equation3")
    assert np.array_equal(np.sort(own.par, axis=0), np.sort(block.par[:4], axis=0))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('component = "z", coefficient = 1.0', 'component = "w", coefficient = 1.0', "component 'w' must be one of"),
        ("coefficient = 1.0", "factor = 1.0", r'\[\[equation\]\] "both": terms = .* term 1 has no "coefficient"'),
        ("coefficient = -0.5", 'coefficient = "x"', 'no parameter is called "x"'),
        ('on = "a", component', 'on = ["a"], component', "on and component of term 2 are texts"),
        ('{on = "a", ', '{on = "net", weight = 1, ', 'term 2 has an unknown key "weight"'),
        ('"rotation"]', '"turn"]', r'\[\[coupling\]\] "hold": component \'turn\' must be one of'),
        ("weights = [1.0, 2.0", "weights = [1.0", r'\[\[coupling\]\] "hold": weights must be finite, of shape \(4,\)'),
        ("duration = 0.5", 'duration = 0.5\ncontrol = "arc"', "time passes under load control only"),
    ],
)
def test_wrong_model_files(tmp_path, old, new, message):
    path = tmp_path / "m.toml"
    assert old in FILE
    path.write_text(FILE.replace(old, new))
    with pytest.raises(ModelError, match=message):
        solve(load_model(path))


def test_sets_of_different_sizes(tmp_path):
    m = cloud()
    m.line("l", (0.0, 0.0, 2.0), (1.0, 0.0, 2.0), 2)
    with pytest.raises(ModelError, match='Equation "e": "l:all" has 3 nodes and another place 6'):
        m.equation("e", [(NODES, "x", 1.0), ("l:all", "x", -1.0)])
    with pytest.raises(ModelError, match="term 2 must be \\(place, component, coefficient\\)"):
        m.equation("f", [("n0", "x", 1.0), ("n1", "x")])
