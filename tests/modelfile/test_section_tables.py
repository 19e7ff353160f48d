"""Sections along a beam from a table: the same as tapers between stations, and the tip of a wedge in closed form."""

import math

import numpy as np
import pytest
from scipy.integrate import trapezoid

from fem_mbs import Model, ModelError, load_model, solve


def model(tmp_path, table, n=8, shape="rectangle", sections=None, **section):
    (tmp_path / "t.csv").write_text(table, encoding="utf-8")
    made = Model()
    made.material("m", E=2e11, nu=0.3, density=8e3)
    made.section("s", shape, file=str(tmp_path / "t.csv"), **section)
    made.line("beam", (0, 0, 0), (2, 0, 0), n)
    made.beams("b", on="beam", material="m", section="s", shear=False)
    made.fix("beam:start")
    made.force("f", on="beam:end", vector=(0.0, 100.0, 0.0))
    made.sensor("u", "displacement", on="beam:end")
    made.linear_static_step()
    return made


WEDGE = "position [mm]; width; height\n10; 0.02; 0.10\n1010; 0.02; 0.06\n2010; 0.02; 0.02\n"


def test_a_linear_table_is_a_taper(tmp_path):
    """Height a - b x: EI w'' = F (L - x) integrates to logarithms."""
    u = np.asarray(solve(model(tmp_path, WEDGE, 16)).sensor("u", 0))[-1, 1]
    a, b, L, w, E, F = 0.1, 0.04, 2.0, 0.02, 2e11, 100.0
    x = np.linspace(0.0, L, 200_001)
    curvature = F * (L - x) / (E * w * (a - b * x) ** 3 / 12.0)
    exact = trapezoid(curvature * (L - x), x)
    # the same in closed form: h = a - b x, L - x = (h - c)/b with c = a - b L
    c = a - b * L
    closed = 12 * F / (E * w * b**3) * (math.log(a / c) - 2 * c * (1 / c - 1 / a) + c * c / 2 * (1 / c**2 - 1 / a**2))
    assert exact == pytest.approx(closed, rel=1e-8)
    assert u == pytest.approx(closed, rel=1e-6)


def test_stations_between_nodes_and_steps_of_stiffness(tmp_path):
    """Dimensions are linear between rows, wherever nodes lie; a saved model finds its table."""
    head = "position,EA,EIy,EIz,GJ,rhoA,centroid_y\n"
    table = f"{head}0,1e8,2e4,3e4,1e4,10,0.0\n1,1e8,2e4,3e4,1e4,10,0.0\n2,1e8,1e4,1e4,1e4,5,0.0\n"
    made = model(tmp_path, table, 40, shape="stiffness")
    u = np.asarray(solve(made).sensor("u", 0))[-1, 1]
    x = np.linspace(0.0, 2.0, 400_001)
    EI = np.interp(x, [0, 1, 2], [3e4, 3e4, 1e4])
    assert u == pytest.approx(trapezoid(100.0 * (2.0 - x) ** 2 / EI, x), rel=1e-6)
    coarse = np.asarray(solve(model(tmp_path, table, 3, shape="stiffness")).sensor("u", 0))[-1, 1]
    assert coarse == pytest.approx(u, rel=2e-3)  # a kink within an element
    made.save(tmp_path / "saved.toml")
    again = load_model(tmp_path / "saved.toml")
    assert np.asarray(solve(again).sensor("u", 0))[-1, 1] == u


@pytest.mark.parametrize(
    ("table", "section", "message"),
    [
        ("", {}, "needs a row of names"),
        ("position,width\n0,1,2\n", {}, "line 2 has 3 cells for 2 columns"),
        ("0,1\n1,2\n", {}, "no names in its first row"),
        ("position,width,height\n0,1,x\n1,1,1\n", {}, "line 2, height = x is no finite number"),
        ("position,width,height\n1,1,1\n0,1,1\n", {}, 'column "position" must rise'),
        ("position,width,depth\n0,1,1\n1,1,1\n", {}, "depth"),
        ("s,width,height\n0,1,1\n1,1,1\n", {}, 'no column "position"; there are s, width, height'),
        ("position,width,width\n0,1,1\n1,1,1\n", {}, 'two columns called "width"'),
        ("position,width,height\n0,1,1\n1,1,1\n", {"width": 0.1}, "file and width both"),
    ],
    ids=range(9),
)
def test_wrong_tables(table, section, message, tmp_path):
    with pytest.raises(ModelError, match=message):
        model(tmp_path, table, **section)
