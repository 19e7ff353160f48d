"""Results of a sector over the whole wheel, against the matrices and the statics of that wheel."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from fem_mbs import Mesh, Model, ResultsError, run, solve
from fem_mbs.analysis.context import make_context
from fem_mbs.plot.figures import diameters_figures, plot_wheel_shapes
from fem_mbs.results.export.vtu import write_vtu_files
from fem_mbs.results.modes.shapes import whole_wheel

N = 5


def wheel(whole: bool, dimension: int) -> Model:
    """A disc, or ring, of two cells per sector with spokes of unequal length, held inside, spinning."""
    around = 2 * (N if whole else 1)
    places = (0.0, 0.2) if dimension == 3 else (0.0,)
    angle = np.pi / N * np.arange(around + (0 if whole else 1))
    points = [
        (r * (1.2 if i % 2 and r > 1.0 else 1.0) * np.cos(a), r * (1.2 if i % 2 and r > 1.0 else 1.0) * np.sin(a), z)
        for i, a in enumerate(angle) for r in (1.0, 1.5, 2.0) for z in places
    ]  # fmt: skip
    layer, k = 3 * len(places), len(places)
    cells = []
    for i in range(around):
        n = (i + 1) % len(angle)
        for j in range(2):
            face = [i * layer + j * k, i * layer + (j + 1) * k, n * layer + (j + 1) * k, n * layer + j * k]
            cells.append(face if dimension == 2 else [*face, *(c + 1 for c in face)])
    X = np.array(points)[:, :dimension]
    sets = {"inner": np.flatnonzero(np.abs(np.hypot(X[:, 0], X[:, 1]) - 1.0) < 1e-9)}
    if not whole:
        sets |= {"low": np.arange(layer), "high": 2 * layer + np.arange(layer)}
    m = Model(dimension, fields=("stress",))
    m.material("steel", 2e3, 0.3, 1.5)
    m.mesh("w", Mesh(X, [("quad" if dimension == 2 else "hexahedron", cells)], node_sets=sets))
    if dimension == 2:
        m.planes("disc", "w", "steel", thickness=0.1)
    else:
        m.solids("disc", "w", "steel")
    m.fix("w:inner")
    m.centrifugal("spin", 2.0, **({} if dimension == 2 else {"axis": (0.0, 0.0, 1.0)}))
    if not whole:
        axis = None if dimension == 2 else (0.0, 0.0, 1.0)
        m.cyclic_symmetry("wheel", "w:high", "w:low", sectors=N, axis=axis)
    return m


@pytest.mark.parametrize("dimension", [2, 3])
def test_expanded_shapes_are_modes_of_the_whole_wheel(dimension):
    """Real and imaginary part of a wave solve K u = w^2 M u of the wheel; so do static displacements and stresses."""
    m = wheel(False, dimension)
    m.linear_static_step("spin", loads=["spin"])
    m.cyclic_modes_step(3, "waves")
    sector = solve(m)
    found = whole_wheel(sector)
    full = wheel(True, dimension)
    full.linear_static_step("spin", loads=["spin"])
    exact = solve(full)
    near, at = cKDTree(found.header["nodes"]).query(exact.header["nodes"])
    assert near.max() < 1e-12 and len(found.header["nodes"]) == N * len(sector.header["nodes"])
    for key, mine in found.steps[0].frames.items():
        if key == "reaction":  # of held nodes on a face, each of both sectors has its share
            continue
        theirs = np.asarray(exact.steps[0].frames[key])
        if key != "time" and mine.shape[1] == len(found.header["nodes"]):
            mine = np.asarray(mine)[:, at]
            if "stress" not in key.lower():
                assert mine == pytest.approx(theirs, rel=1e-6, abs=1e-6 * float(np.abs(theirs).max()))
    stress = next(key for key in exact.steps[0].frames if key.startswith("stress"))
    a, b = np.asarray(found.steps[0].frames[stress])[0][at], np.asarray(exact.steps[0].frames[stress])[0]
    inside = np.ones(len(b), bool)  # nodes of faces have means over the cells of one sector
    inside[cKDTree(exact.header["nodes"]).query(found.header["nodes"][_faces(sector, found)])[1]] = False
    assert inside.any() and a[inside] == pytest.approx(b[inside], rel=1e-6, abs=1e-6 * float(np.abs(b).max()))
    still = wheel(True, dimension)
    still.modes_step(1)
    context = make_context(still)
    linear = context.linear.at(context)
    K, M = linear.stiffness, linear.mass
    step = found.steps[1]
    n = np.array(step.report.nodal_diameters)
    assert set(n) == {0, 1, 2}
    for frame, w in enumerate(2.0 * np.pi * np.array(step.report.frequencies_hz)):
        for key in ("displacement", "displacement imaginary"):
            u = np.zeros(context.system.n_dof)
            for k in range(dimension):
                u[context.system.offset[: len(at)] + k] = step.frames[key][frame][at, k]
            q = u[linear.elimination.free]
            if np.abs(q).max() > 1e-9:
                assert np.abs(K @ q - w**2 * (M @ q)).max() < 1e-5 * np.abs(K @ q).max()


def _faces(sector, found) -> np.ndarray:
    x = sector.header["nodes"]
    angle = np.arctan2(x[:, 1], x[:, 0])
    own = np.flatnonzero((np.abs(angle) < 1e-9) | (np.abs(angle - 2.0 * np.pi / N) < 1e-9))
    return (own + len(x) * np.arange(N)[:, None]).ravel()


def test_files_and_figures_of_the_whole_wheel(tmp_path, fem_mbs):
    m = wheel(False, 3)
    m.cyclic_modes_step(1, "waves", nodal_diameters=[1])
    results = run(m, tmp_path / "out")
    assert fem_mbs("export", tmp_path / "out", "--vtu", "--whole")[0] == 0
    text = (tmp_path / "out" / "vtu" / "1-waves.vtu").read_bytes()[:2000].decode("latin-1")
    assert f'NumberOfPoints="{N * len(results.header["nodes"])}"' in text
    assert plot_wheel_shapes(results, 0, tmp_path / "wheel.png").stat().st_size > 10_000
    assert (plot_wheel_shapes, "wheel") in list(diameters_figures(results.steps[0]))
    plain = wheel(True, 2)
    plain.modes_step(1)
    with pytest.raises(ResultsError, match="no cyclic symmetry"):
        write_vtu_files(whole_wheel(solve(plain)), tmp_path / "vtu")
