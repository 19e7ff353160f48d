"""One sector of a wheel against the whole wheel, and against the ring's closed form."""

import numpy as np
import pytest
from solid_meshes import grid

from fem_mbs import Mesh, Model, ModelError, solve
from fem_mbs.meshes.mesh import CellBlock

N, E, RHO = 12, 2e11, 7800.0


def ring(whole: bool, around: int = 2, height: float = 0.1, shift: float = 0.0) -> Mesh:
    """A sector of a ring of mean radius 1, or all of it; ``shift`` moves the middle nodes of the face "high"."""
    X, cells = grid("quad8", (2, around * (N if whole else 1)))
    s, t = X.T
    low, high = np.flatnonzero(t < 1e-9), np.flatnonzero(t > 1.0 - 1e-9)
    inside = np.array([i for i in high if 1e-9 < s[i] < 1.0 - 1e-9])
    s = s.copy()
    s[inside] += shift
    a, r = 2.0 * np.pi * t * (1.0 if whole else 1.0 / N), 1.0 + height * (s - 0.5)
    points = np.column_stack((r * np.cos(a), r * np.sin(a)))
    if not whole:
        return Mesh(points, [CellBlock("quad8", cells)], {"low": low, "high": high})
    to = np.arange(len(points))
    to[high[np.argsort(s[high])]] = low[np.argsort(s[low])]
    keep = np.unique(to)
    return Mesh(points[keep], [CellBlock("quad8", np.searchsorted(keep, to[cells]))])


def model(whole: bool, faces=("ring:high", "ring:low"), **options) -> Model:
    m = Model(2)
    m.material("steel", E, 0.3, RHO)
    m.mesh("ring", ring(whole, **options))
    m.planes("ring", "ring", material="steel", thickness=0.01, state="stress")
    if not whole:
        m.cyclic_symmetry("wheel", *faces, sectors=N)
    return m


def frequencies(m: Model, count: int = 3, **options) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    m.cyclic_modes_step(count, "modes", **options)
    report = solve(m).steps[-1].report
    return np.array(report.nodal_diameters), np.array(report.frequencies_hz), np.array(report.copies)


@pytest.mark.parametrize("faces", [("ring:high", "ring:low"), ("ring:low", "ring:high")])
def test_sector_has_the_modes_of_the_wheel(faces):
    n, f, copies = frequencies(model(False, faces))
    assert (np.bincount(n) == 3).all() and n.max() == N // 2
    assert (copies == np.where((n == 0) | (n == N // 2), 1, 2)).all()
    whole = model(True)
    whole.modes_step(20, "modes")
    expected = np.array(solve(whole).steps[-1].report.frequencies_hz)
    got = np.sort(np.repeat(f, copies))[:20]
    assert got[:3] == pytest.approx(0.0, abs=1e-3) and (got[3:] > 1.0).all()
    assert got[3:] == pytest.approx(expected[3:], rel=1e-7)


def test_thin_ring_by_nodal_diameters():
    """Hoppe 1871 (Timoshenko, Vibration Problems in Engineering, section 77): w^2 = E I n^2 (n^2 - 1)^2 / (rho A R^4
    (n^2 + 1)); rotary inertia and shear are of the order (n h/R)^2."""
    h = 0.04
    n, f, _ = frequencies(model(False, around=6, height=h), 1, nodal_diameters=[2, 3, 4])
    expected = np.sqrt(E * h**2 / 12.0 / RHO * n**2 * (n**2 - 1.0) ** 2 / (n**2 + 1.0)) / (2.0 * np.pi)
    assert f == pytest.approx(expected, rel=0.01)


def test_faces_whose_nodes_do_not_match():
    """Middle nodes of one face lie between those of the other and follow its facets; the frequencies differ by the
    mesh alone."""
    n, f, _ = frequencies(model(False, around=4, shift=0.03), 2, nodal_diameters=[0, 2, 6])
    m, g, _ = frequencies(model(False, around=4), 2, nodal_diameters=[0, 2, 6])
    assert (n == m).all() and (f[1:] != g[1:]).any()
    assert f[1:] == pytest.approx(g[1:], rel=2e-3)


def test_statics_of_a_sector_is_the_wheel_under_equal_loads():
    """A wheel that spins: Lame's ring, in plane stress, by its closed form."""
    m = model(False, around=3)
    m.centrifugal("spin", 100.0)
    m.fix("ring:low", ["y"])  # no turn about the axis
    m.sensor("out", "displacement", on=int(np.argmax(np.linalg.norm(m.positions, axis=1))))
    m.linear_static_step("spin")
    m.cyclic_modes_step(2, "stiffened", preload="spin", nodal_diameters=[0])
    solution = solve(m)
    a, b, nu = 0.95, 1.05, 0.3
    stress = RHO * 100.0**2 / 4.0 * ((1.0 - nu) * b**2 + (3.0 + nu) * a**2)  # hoop, at r = b (Timoshenko & Goodier)
    u = solution.steps[0].series["sensor/out"].ravel()
    assert np.linalg.norm(u) == pytest.approx(b * stress / E, rel=1e-3)
    assert (np.array(solution.steps[1].report.frequencies_hz) > 0.0).all()


def test_wrong_input():
    with pytest.raises(ModelError, match=r"360/11 degrees .* do not meet the other face"):
        m = Model(2)
        m.mesh("ring", ring(False))
        m.cyclic_symmetry("wheel", "ring:high", "ring:low", sectors=11)
    with pytest.raises(ModelError, match="belongs to both faces"):
        model(False, ("ring:high", ["ring:low", "ring:high"]))
    with pytest.raises(ModelError, match=r"nodal_diameters = \[7\]: a wheel of 12 sectors has nodal diameters from 0"):
        frequencies(model(False), nodal_diameters=[7])
    m = model(True)
    m.cyclic_modes_step(2)
    with pytest.raises(ModelError, match="need a cyclic symmetry"):
        solve(m)
