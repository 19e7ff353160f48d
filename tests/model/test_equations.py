"""Linear constraint equations: exact in every step, booked in the ledger, named in messages."""

from time import perf_counter

import numpy as np
import pytest

from fem_mbs import Model, ModelError, solve
from fem_mbs.errors import AnalysisError


def masses(**options):
    """Three masses on springs and a body with turned axes on a spherical joint, in free fall."""
    m = Model(3, gravity=(0.0, 0.0, -9.81), **options)
    for i, n in enumerate("abc"):
        m.node(n, (float(i), 0.2 * i, 0.0))
    m.point_mass("masses", ["a", "b", "c"], 1.0)
    m.spring("s1", "a", "b", 100.0, length=0.8)
    m.spring("s2", "b", "c", 100.0)
    m.body("B", (3.0, 0.0, 0.0), 2.0, (1.0, 2.0, 2.5), rotation=(0.3, 0.2, 0.1))
    m.joint("j", "spherical", "c", "B", point=(2.0, 0.4, 0.0))
    return m


def places(m, names):
    return [m.node_of(n) for n in names]


def springs(k=100.0, **options):
    """Two nodes on springs of stiffness k and 2 k to the ground, in all directions of the plane."""
    m = Model(2, **options)
    for i, n in enumerate("ab"):
        x = np.array((2.0 * i, 0.0))
        m.node(n, x)
        m.point_mass(f"m{n}", n, 1.0)
        for c, d in enumerate(np.eye(2)):
            m.spring(f"{n}{c}", n, "ground", (i + 1) * k, point_b=x + 5.0 * d)
    return m


def test_equations_conserve():
    """Coefficients on positions and rotations of turned axes, right sides driven: the ledger closes to round-off, and
    the equation of rotations holds for sin(angle) times the axis."""
    m = masses()
    a, b, c, B = places(m, "abcB")
    m.equations(
        "eq", [1, 0, 1, 1, 0], [b, a, c, B, b], [0, 0, 2, 3, 1], [1.0, 1.0, 3.0, 0.2, 2.0], [0.1, 0.0], "sin(t)"
    )
    for n in "abc":
        m.sensor(f"u{n}", "displacement", on=n)
    m.sensor("w", "rotation", on="B")
    m.sensor("E", "energy", quantity="driver work")
    m.transient_step(0.2, 0.01)
    s = solve(m)
    step = s.summary["steps"][0]
    assert step["energy"]["closing_error_relative"] < 1e-13
    assert step["constraint_error"] < 1e-15
    u = {n: s.sensor(f"u{n}").values for n in "abc"}
    w = s.sensor("w").values
    t = s.steps[0].time
    assert np.abs(u["a"][:, 0] + 2.0 * u["b"][:, 1] - 0.1 * np.sin(t)).max() < 1e-14
    angle = np.linalg.norm(w, axis=1)
    turn = w[:, 0] * np.sinc(angle / np.pi)
    assert angle.max() > 0.1
    assert np.abs(u["b"][:, 0] + 3.0 * u["c"][:, 2] + 0.2 * turn).max() < 1e-14
    assert abs(s.steps[-1].series["sensor/E"][-1]) > 0.01
    assert any('"eq"' in w and "small rotations" in w for w in step["warnings"])


def test_equation_statics():
    """3 u_a + u_b = 0.04 between two springs, by hand (springs across stretch in the second order)."""
    m = springs()
    m.fix(["a", "b"], "y")
    a, b = places(m, "ab")
    m.equations("mpc", [0, 0, 0], [a, b, a], [0, 0, 0], [1.0, 1.0, 2.0], 0.04, "1")
    m.sensor("ua", "displacement", on="a")
    m.sensor("ub", "displacement", on="b")
    m.sensor("reaction", "reaction", on="mpc")
    m.static_step(vary=["mpc"])
    s = solve(m)
    # minimum of (k u_a^2 + 2 k u_b^2)/2 on the line: u_a = 2 * 3 l/(2 k), u_b = l/(2 k), l = 0.04/(9/k + 1/(2 k))
    force = 0.04 / (9 / 100 + 1 / 200)
    assert s.sensor("ua").values[-1] == pytest.approx([3 * force / 100, 0.0], abs=1e-15, rel=1e-5)
    assert s.sensor("ub").values[-1] == pytest.approx([force / 200, 0.0], abs=1e-15, rel=1e-5)
    # what the equation does to the model, over all its terms
    assert s.steps[-1].series["sensor/reaction"][-1] == pytest.approx([4 * force, 0.0, 0.0], rel=1e-5, abs=1e-13)


def test_equation_like_a_support():
    """A single term is a support: the same motion and the same reaction."""
    found = []
    for held in (True, False):
        m = springs(gravity=(1.0, -2.0))
        m.fix("a", "y")
        if held:
            m.fix("a", "x")
        else:
            m.equations("hold", [0], [m.node_of("a")], [0], [7.0])
        m.sensor("reaction", "reaction", on="a" if held else "hold")
        m.sensor("u", "displacement", on="a")
        m.static_step()
        s = solve(m)
        found.append(np.append(s.steps[-1].series["sensor/reaction"][-1][0], s.steps[-1].series["sensor/u"][-1]))
    assert found[0] == pytest.approx(found[1], abs=1e-12)
    assert found[0][0] == pytest.approx(-1.0, rel=1e-12)


def test_equation_of_angles_in_the_plane():
    """Angles count as they are, any number of turns: a gear by an equation is the gear of the joints."""
    m = Model(2)
    for n, x in (("A", 0.0), ("B", 1.0)):
        m.body(n, (x, 0.0), 1.0, 0.5 + x)
        m.joint(f"pin {n}", "pin", n, "ground", point=(x, 0.0))
    m.moment("drive", "A", 20.0)
    m.equations("gear", [0, 0], places(m, "AB"), [5, 5], [1.0, 2.0])
    m.sensor("a", "rotation", on="A")
    m.sensor("b", "rotation", on="B")
    m.transient_step(3.0, 0.005)
    s = solve(m)
    a, b = s.sensor("a").values[:, 0], s.sensor("b").values[:, 0]
    assert a[-1] == pytest.approx(0.5 * 20.0 / (0.5 + 1.5 / 4) * 9.0, rel=1e-2)  # steps of up to 0.34 rad
    assert a[-1] > 4 * np.pi
    assert np.abs(a + 2.0 * b).max() < 1e-12
    assert s.summary["steps"][0]["energy"]["closing_error_relative"] < 1e-13


def test_scale_of_an_equation_does_not_matter():
    """Rows are normalised: coefficients of a million give the same result to round-off."""
    found = []
    for factor in (1.0, 1e6, 1e-6):
        m = springs(gravity=(1.0, -2.0))
        a, b = places(m, "ab")
        m.equations("mpc", [0, 0], [a, b], [0, 1], [factor, -2.0 * factor], 0.01 * factor, "t")
        m.sensor("u", "displacement", on="b")
        m.sensor("r", "reaction", on="mpc")
        m.transient_step(0.5, 0.05)
        s = solve(m)
        found.append(np.column_stack((s.steps[-1].series["sensor/u"], s.steps[-1].series["sensor/r"])))
    assert np.abs(found[0])[1:].max() > 0.1
    assert np.abs(found[1] - found[0])[1:].max() < 1e-11
    assert np.abs(found[2] - found[0])[1:].max() < 1e-11


def test_preferred_dofs_are_the_first_terms():
    m = masses()
    a, b, c, B = places(m, "abcB")
    m.equations("one", [1, 0, 0, 1], [B, c, b, a], [4, 2, 0, 0], np.ones(4))
    m.equations("two", [0, 0], [a, b], [1, 1], np.ones(2))
    m.transient_step(0.1, 0.1)
    compiled = m.compile()
    system = compiled.system
    found = [system.name_of(i) for i in system.preferred_dofs() if i >= 0]
    assert found == ['node "c", z', 'node "B", rotation y', 'node "a", y']
    assert (system.preferred_dofs() >= 0).sum() == 3
    assert len(system.preferred_dofs()) == 3 + 3  # and the joint
    names = {system.name_of(i) for i in range(system.first_multiplier, system.n_dof - 1)}
    assert {'constraint of "one, row 1"', 'constraint of "one, row 2"', 'constraint of "two"'} <= names


def test_thousands_of_rows_are_cheap():
    """30000 rows of 5 terms in less than a second and a half."""
    m = Model(3)
    m.line("l", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 39999)
    k = 30000
    rng = np.random.default_rng(1)
    start = perf_counter()
    m.equations(
        "many",
        np.repeat(np.arange(k), 5),
        rng.integers(0, 40000, 5 * k),
        rng.integers(0, 3, 5 * k),
        rng.normal(size=5 * k),
    )
    assert perf_counter() - start < 1.5


BAD = {
    "lengths": ({"rows": [0, 0]}, "have 2, 1, 1 and 1 entries"),
    "empty": ({"rows": [], "nodes": [], "components": [], "coefficients": []}, "no terms"),
    "node": ({"nodes": [9]}, "node 9 does not exist"),
    "component": ({"components": [2]}, "component 2 must be one of 0, 1, 5"),
    "gap": ({"rows": [1]}, "row 0 has no terms"),
    "negative": ({"rows": [-1]}, "row -1 is no number of a row"),
    "fraction": ({"rows": [0.5]}, "rows must be whole numbers"),
    "text": ({"nodes": ["a"]}, "nodes must be whole numbers"),
    "zero": ({"coefficients": [0.0]}, "row 0: all its coefficients are zero"),
    "nan": ({"coefficients": [np.nan]}, "coefficients must be finite"),
    "value": ({"value": [1.0, 2.0]}, "value must be finite, of shape (1,)"),
    "function": ({"function": "t"}, "multiplies value = 0"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_equations(case):
    changes, message = BAD[case]
    m = springs()
    arguments = {"rows": [0], "nodes": [0], "components": [0], "coefficients": [1.0]} | changes
    with pytest.raises(ModelError) as error:
        m.equations("mpc", **arguments)
    assert message in str(error.value)
    assert 'Equation "mpc"' in str(error.value)


def test_rotation_of_a_node_without_one():
    m = springs()
    m.equations("mpc", [0], [0], [5], [1.0])
    m.static_step()
    with pytest.raises(ModelError, match=r'Equation "mpc": node "a" has no rotation'):
        solve(m)


def test_inhomogeneous_at_the_start():
    """A right side that does not fit the start is named, row by row."""
    m = springs()
    m.equations("mpc", [0, 1], [0, 1], [0, 0], [1.0, 1.0], [0.0, 0.1])
    m.transient_step(0.1, 0.01)
    with pytest.raises(ModelError, match=r'Equation "mpc, row 2": its left side is 0.1 off'):
        solve(m)


def test_contradictory_equations_are_named():
    m = springs()
    m.equations("one", [0, 1, 1], [0, 0, 1], [0, 1, 0], [1.0, 1.0, 1.0])
    m.equations("two", [0], [0], [0], [2.0], 0.1, "t")
    m.transient_step(0.1, 0.01)
    with pytest.raises(ModelError, match=r'equation "one, row 1" and equation "two" contradict each other'):
        solve(m)
    m = springs()
    m.fix("a", "x")
    m.equations("one", [0], [0], [0], [1.0], 0.1, "t")
    m.transient_step(0.1, 0.01)
    with pytest.raises(ModelError, match='equation "one" and the supports or motions of its nodes contradict'):
        solve(m)


@pytest.mark.parametrize("kind", ["transient", "static", "linear_static", "modes"])
def test_repeated_equations_do_no_harm(kind):
    """An equation that follows from another, or from supports, is named and changes nothing."""
    found = []
    for repeated in (False, True):
        m = springs(gravity=(1.0, -2.0))
        m.fix("b", "y")
        m.equations("one", [0, 0], [0, 1], [0, 0], [1.0, -1.0])
        if repeated:
            m.equations("two", [0, 0], [1, 0], [0, 0], [-2.0, 2.0])
            m.equations("held", [0], [1], [1], [3.0])
        m.sensor("u", "displacement", on="a")
        {
            "transient": lambda m=m: m.transient_step(0.2, 0.02),
            "static": lambda m=m: m.static_step(2),
            "linear_static": m.linear_static_step,
            "modes": lambda m=m: m.modes_step(2),
        }[kind]()
        s = solve(m)
        step = s.steps[0].summary
        found.append(s.steps[-1].series["sensor/u"][-1] if kind != "modes" else np.array(step["frequencies_hz"]))
        said = " ".join(step["warnings"])
        assert ('"two"' in said and '"held"' in said) == repeated
    assert np.abs(found[0]).max() > 1e-3
    assert np.abs(found[0] - found[1]).max() < 1e-10 * np.abs(found[0]).max()


def test_large_rotations_are_refused():
    """Beyond 0.3 rad a rotation in space is no small one: the run ends with a sentence."""
    m = Model(3)
    m.body("B", (0.0, 0.0, 0.0), 1.0, (1.0, 1.5, 2.0))
    m.initial("B", spin=(0.0, 0.0, 1.0))
    m.equations("mpc", [0, 0], [0, 0], [3, 0], [1.0, 1.0])
    m.transient_step(1.0, 0.01)
    with pytest.raises(
        AnalysisError, match=r'Equation "mpc": rotation .* the limit is 0.3 rad; .* small rotations only'
    ):
        solve(m)
