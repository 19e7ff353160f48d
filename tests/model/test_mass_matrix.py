"""Dense mass matrices over several nodes: what they are refused for, their weight, files, linear steps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.io import mmwrite

from fem_mbs import Model, ModelError, load_model, solve
from fem_mbs.validation.case import constancy, energy_error

CONSISTENT = np.array([[2.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 2.0]]) / 6.0


def nodes(dimension: int = 3, springs: bool = True, **options) -> Model:
    m = Model(dimension, **options)
    for k, x in enumerate(((0.0, 0.0, 0.0), (1.0, 0.1, 0.2), (0.3, 0.8, -0.1))):
        m.node(f"n{k}", x[:dimension])
    if springs:
        for a, b in ((0, 1), (1, 2), (2, 0)):
            m.spring(f"s{a}{b}", f"n{a}", f"n{b}", 300.0)
    return m


ON = ["n0", "n1", "n2"]


@pytest.mark.parametrize("dimension", [2, 3])
def test_translations_conserve(dimension):
    """Springs between nodes with a dense mass, in free flight; by nodes and by translations it is the same."""
    found = []
    for M in (CONSISTENT, np.kron(CONSISTENT, np.eye(dimension))):
        m = nodes(dimension)
        m.mass_matrix("M", ON, M)
        m.initial("n0", velocity=(1.0, -2.0, 0.5)[:dimension])
        m.sensor("x", "position", on="n2")
        m.transient_step(1.0, 0.01, frames=0)
        solution = solve(m)
        step = solution.steps[0]
        assert energy_error(step, constant=True) < 1e-11
        assert constancy(step, "linear momentum") < 1e-11
        assert constancy(step, "angular momentum") < 1e-11
        found.append(solution.sensor("x").values)
    np.testing.assert_array_equal(*found)


def test_it_is_the_consistent_mass_of_trusses():
    """Trusses with consistent mass, and the same trusses without mass and their matrix."""
    found = []
    for own in (True, False):
        m = Model(2, gravity=(0.0, -9.81))
        m.section("bar", "stiffness", EA=1e4, EI=1.0, rhoA=3.0 if own else 0.0)
        m.polyline("w", [(0.0, 0.0), (1.0, -0.2), (2.0, 0.0)], 1)
        m.trusses("bars", "w", "bar", mass="consistent")
        if not own:
            m.mass_matrix("M", "w", CONSISTENT * 3.0 * np.hypot(1.0, 0.2))
        for end in ("start", "end"):
            m.fix(f"w:{end}")
        middle = 1
        m.sensor("x", "position", on=middle)
        m.static_step()
        m.force("F", middle, (1.0, 0.0))
        m.transient_step(0.5, 0.005, frames=0)
        found.append(solve(m))
    a, b = (s.steps[-1].series["sensor/x"] for s in found)
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-11)


def test_turning_matrix_weighs_what_it_is():
    """Nodes with a matrix over rotations too fall by g, and keep their energy."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(9, 9)) * 0.1
    M = A @ A.T + np.eye(9)
    M = M.reshape(3, 3, 3, 3)
    M[:, :2, :, :2] = CONSISTENT[:, None, :, None] * np.eye(2)[None, :, None, :] * 6.0
    M[:, :2, :, 2] = M[:, 2, :, :2] = 0.0
    m = nodes(2, springs=False, gravity=(0.0, -9.81))
    m.mass_matrix("M", ON, M.reshape(9, 9))
    m.sensor("x", "displacement", on="n1")
    m.transient_step(0.5, 0.01, frames=0)
    solution = solve(m)
    t = solution.steps[0].time
    assert solution.sensor("x").values[:, 1] == pytest.approx(-0.5 * 9.81 * t**2, abs=1e-10)
    assert energy_error(solution.steps[0], constant=True) < 1e-11


def test_centrifugal_load():
    """Two nodes on springs in line, at 1 m and 2 m: forces w^2 sum_j m_ij x_j."""
    m = Model(2)
    for k, name in enumerate(("o", "a", "b")):
        m.node(name, (float(k), 0.0))
        m.fix(name, ["x", "y"] if name == "o" else ["y"])
    m.spring("oa", "o", "a", 1e8)
    m.spring("ab", "a", "b", 1e8)
    m.mass_matrix("M", ["a", "b"], [[2.0, 1.0], [1.0, 2.0]])
    m.centrifugal("turn", 3.0)
    for name in ("a", "b"):
        m.sensor(name, "displacement", on=name)
    m.linear_static_step()
    solution = solve(m)
    assert solution.sensor("a").values[-1, 0] == pytest.approx((36.0 + 45.0) / 1e8, rel=1e-5)
    assert solution.sensor("b").values[-1, 0] == pytest.approx((36.0 + 45.0 + 45.0) / 1e8, rel=1e-5)


def test_centrifugal_load_on_a_turning_matrix_is_refused():
    m = nodes(2)
    m.mass_matrix("M", ON, np.eye(9))
    m.centrifugal("turn", 3.0)
    m.linear_static_step()
    with pytest.raises(ModelError, match='Mass matrix "M": centrifugal loads act on masses with a centre only'):
        m.compile()


WRONG = [
    (ON, np.eye(4), "the matrix is 4 x 4; 3 nodes need 3 rows .*, 9 .translations. or 18"),
    (ON, np.ones((3, 2)), "the matrix is 3 x 2"),
    (ON, [[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], "matrix is not symmetric: entry"),
    (ON, np.diag((1.0, -1.0, 1.0)), "matrix has the eigenvalue -1"),
    (ON, np.diag(np.arange(1.0, 10.0)), r"entry \(\d, \d\) makes it differ by direction.*give rows of the rotations"),
    (["n0", "n0"], np.eye(2), "on has 2 nodes; name 1 to 500 nodes, each once"),
    (ON, [[np.nan, 0, 0], [0, 1, 0], [0, 0, 1]], "matrix"),
    (ON, None, "it needs either a matrix or a file"),
    (ON, [1.0, 2.0, 3.0], "matrix must be rows of finite numbers"),
]


@pytest.mark.parametrize(("on", "matrix", "message"), WRONG)
def test_wrong_matrices(on, matrix, message):
    with pytest.raises(ModelError, match=f'^Mass matrix "M": .*{message}'):
        nodes().mass_matrix("M", on, matrix)


def test_copies():
    """A matrix by nodes moves with its image; one that turns with its nodes only without a turn."""
    m = nodes(2)
    m.mass_matrix("M", ON, CONSISTENT)
    m.initial("n0", velocity=(1.0, -2.0))
    m.sensor("x", "displacement", on="n2")
    m.transient_step(0.5, 0.01, frames=0)
    m.copy([*ON, "s01", "s12", "s20", "M", "x"], rotate={"angle": 90.0})
    m.initial("n0 copy", velocity=(2.0, 1.0))
    solution = solve(m)
    mine, image = (solution.sensor(name).values for name in ("x", "x copy"))
    assert image == pytest.approx(np.column_stack((-mine[:, 1], mine[:, 0])), abs=1e-10)
    m = nodes(2)
    m.mass_matrix("M", ON, np.eye(9))
    with pytest.raises(ModelError, match='Mass matrix "M": its axes may differ by direction'):
        m.copy([*ON, "M"], rotate={"angle": 90.0})
        m.compile()


def test_files(tmp_path):
    mmwrite(tmp_path / "m.mtx", CONSISTENT)
    m = nodes()
    m.mass_matrix("M", ON, file=str(tmp_path / "m.mtx"))
    block = next(b for b in m.building.blocks if b.type.name == "translational_mass3_3")
    assert block.par[0, 1:] == pytest.approx(CONSISTENT[np.triu_indices(3)])
    (tmp_path / "bad.mtx").write_text("1 2 3\n", encoding="utf-8")
    with pytest.raises(ModelError, match=r'Mass matrix "M": file ".*bad.mtx" cannot be read as a matrix'):
        nodes().mass_matrix("M", ON, file=str(tmp_path / "bad.mtx"))
    path = tmp_path / "model.toml"
    path.write_text(
        """
dimension = 2
[[node]]
name = "a"
position = [0, 0]
[[node]]
name = "b"
position = [1, 0]
[[mass_matrix]]
name = "M"
on = ["a", "b"]
matrix = [[2.0, 1.0], [1.0, 2.0]]
[[spring]]
a = "a"
b = "b"
stiffness = 100.0
[[step]]
type = "transient"
duration = 0.1
h = 0.01
""",
        encoding="utf-8",
    )
    assert len(solve(load_model(path)).steps[0].time) == 11
