"""Runs with reduced parts: their mesh and stresses from the results, peaks, tables, figures."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from solid_meshes import box_mesh

from fem_mbs import Model, reduce_part, run
from fem_mbs.analysis.recovery.part_results import peak_results, placed_parts, recover, stress_peaks
from fem_mbs.errors import ResultsError
from fem_mbs.parts.recovery import stresses

ENDS = {"left": "box:x0", "right": "box:x1"}
TURN = (0.0, 0.0, 0.5 * np.pi)


def block(dim=3, **options):
    m = Model(dimension=dim)
    m.material("steel", E=2.1e11, nu=0.3, density=7850)
    if dim == 3:
        m.mesh("box", box_mesh("hexahedron20", (3, 1, 1), (0.4, 0.04, 0.04)))
        m.solids("box", on="box", material="steel")
    else:
        m.mesh("box", box_mesh("quad8", (4, 1), (0.4, 0.04)))
        m.planes("box", on="box", material="steel", thickness=0.02)
    return reduce_part(m, ENDS, modes=6, recovery="stress", accuracy=0)


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory):
    """A block on a hinge, turned by 90 degrees at the start and let go with a spin."""
    m = Model(dimension=3, gravity=(0.0, 0.0, -9.81), title="pendulum")
    m.units(stress="MPa")
    m.reduced_part("block", block(), position=(1.0, 2.0, 3.0), rotation=TURN)
    m.joint("hinge", "revolute", "block:left", axis=(1.0, 0.0, 0.0))
    m.initial("block", spin=(3.0, 0.0, 0.0), centre=(1.0, 2.0, 3.0))
    m.sensor("shapes", "modal", on="block")
    m.transient_step(duration=0.05, h=1e-3, frames=5)
    return run(m, tmp_path_factory.mktemp("pendulum") / "out")


def test_the_mesh_follows_its_interfaces(pendulum, tmp_path):
    """The nodes of a rigid interface stand about its node as they did, turned with it."""
    from scipy.spatial.transform import Rotation

    whole = recover(pendulum, tmp_path / "whole")
    (placed,) = placed_parts(pendulum)
    n = len(pendulum.header["nodes"]) - pendulum.header["recovered_nodes"]
    step, old = whole.steps[0], pendulum.steps[0]
    assert len(step.frame_times) == len(old.frame_times)
    x = whole.header["nodes"] + np.asarray(step.frames["displacement"][:])
    start = Rotation.from_rotvec(TURN).as_matrix()
    for name in ENDS:
        interface = next(i for i in placed.part.interfaces if i.name == name)
        node = pendulum.node(f"block:{name}")
        at = pendulum.header["nodes"][node] + np.asarray(old.frames["displacement"][:])[:, node]
        turns = Rotation.from_rotvec(np.asarray(old.frames["rotation"][:])[:, node]).as_matrix()
        arms = (placed.part.recovery.x[interface.nodes] - interface.position) @ start.T
        wanted = at[:, None] + np.einsum("mij,nj->mni", turns, arms)
        # (small deformations turn an interface to first order only)
        np.testing.assert_allclose(x[:, n + interface.nodes], wanted, atol=1e-7)
    shown = pendulum.header["nodes"] + np.asarray(old.frames["displacement"][:])
    np.testing.assert_array_equal(x[:, :n], shown[:, :n])
    # the mesh is small enough for the run to have kept it: the same places, and the same stresses
    np.testing.assert_allclose(x[:, n:], shown[:, n:], atol=1e-12)
    for name in ("stress [Pa]", "von Mises stress [Pa]"):
        values, wanted = (np.asarray(s.frames[name][:])[:, n:] for s in (step, old))
        assert np.isfinite(values).all()
        np.testing.assert_allclose(values, wanted, atol=1e-5 * np.abs(wanted).max())
    assert "block" in [block["name"] for block in whole.header["blocks"]]


def test_stresses_are_in_global_axes(tmp_path):
    """A part turned by 90 degrees and pulled along its length: yy of the world is xx of the part."""
    m = Model(dimension=3)
    m.reduced_part("block", block(), rotation=TURN)
    m.fix("block:left")
    m.force("pull", "block:right", (0.0, 1e4, 0.0))
    m.static_step()
    m.modes_step(count=2)
    results = run(m, tmp_path / "out")
    whole = recover(results)
    assert whole.directory.name == "out-recovered"
    stress = np.asarray(whole.steps[0].frames["stress [Pa]"][-1])
    n = len(results.header["nodes"]) - results.header["recovered_nodes"]
    assert np.isnan(stress[:n]).all()
    part = block()
    p = np.zeros(part.size)
    p[6:] = np.linalg.solve(part.stiffness[6:, 6:], 1e4 * part.boundary[6, 6:])  # the right end pulled along its x
    (wanted,) = stresses(part, p)
    scale = np.abs(wanted).max()
    assert np.abs(wanted[:, 0]).max() > 0.9 * scale
    np.testing.assert_allclose(stress[n:, 1], wanted[:, 0], atol=1e-3 * scale)
    np.testing.assert_allclose(stress[n:, 5], -wanted[:, 4], atol=1e-3 * scale)  # x of the world is -y
    np.testing.assert_allclose(stress[n:, 3], -wanted[:, 3], atol=1e-3 * scale)
    mises = np.asarray(whole.steps[0].frames["von Mises stress [Pa]"][-1])
    (step, spot), *_ = stress_peaks(results)
    assert step.type == "static"  # (shapes of modes have no size)
    assert spot.mises == pytest.approx(np.nanmax(mises), rel=1e-6)


def test_plane_parts(tmp_path):
    m = Model(dimension=2)
    m.reduced_part("block", block(2), position=(1.0, 0.0), rotation=0.5 * np.pi)
    m.fix("block:left")
    m.force("pull", "block:right", (0.0, 1e4))
    m.static_step()
    results = run(m, tmp_path / "out")
    whole = recover(results)
    x = whole.header["nodes"] + np.asarray(whole.steps[0].frames["displacement"][-1])
    assert x[:, 1].max() == pytest.approx(0.4 + 1e4 * 0.4 / (2.1e11 * 0.04 * 0.02), rel=1e-3)
    stress = np.asarray(whole.steps[0].frames["stress [Pa]"][-1])
    assert np.nanmean(stress[:, 1]) == pytest.approx(1e4 / (0.04 * 0.02), rel=0.05)


def test_peaks_of_a_motion(pendulum, tmp_path):
    """With the sensor every step counts, not only frames."""
    found = stress_peaks(pendulum, count=4)
    values = [spot.mises for _, spot in found]
    assert values == sorted(values, reverse=True) and len(found) == 4
    (placed,) = placed_parts(pendulum)
    t, q = placed.coordinates(pendulum.steps[0])
    assert len(t) == 51 and q.shape == (51, placed.part.size)
    assert found[0][1].time in t
    peaks = peak_results(pendulum, tmp_path / "peaks")
    mises = np.asarray(peaks.steps[0].frames["von Mises stress [Pa]"][0])
    assert np.nanmax(mises) == pytest.approx(values[0], rel=1e-6)
    for shown in (peaks, recover(pendulum, tmp_path / "whole")):
        assert shown.units.of("Pa").unit == "MPa"


def test_shapes_have_no_stresses_to_compare(tmp_path):
    """Modes beside a transient: their size means nothing, so that only the motion counts."""
    m = Model(dimension=3)
    m.reduced_part("block", block())
    m.fix("block:left")
    m.force("push", "block:right", (0.0, 0.0, 1.0))
    m.modes_step(count=2)
    only = run(m, tmp_path / "modes")
    with pytest.raises(ResultsError, match="only shapes, whose size"):
        stress_peaks(only)
    m.linear_transient_step(0.01, 1e-3, name="push")
    results = run(m, tmp_path / "both")
    found = stress_peaks(results)
    assert {step.name for step, _ in found} == {"push"}
    mises = np.asarray(peak_results(results, tmp_path / "peaks").steps[0].frames["von Mises stress [Pa]"][0])
    assert np.nanmax(mises) == pytest.approx(found[0][1].mises, rel=1e-6)


def test_linear_steps_are_recovered_as_the_run_shows_them(tmp_path):
    """Small motions about the start stay linear in the whole mesh: shapes, statics and transients, in any placement."""
    m = Model(dimension=3)
    m.reduced_part("block", block(), position=(1.0, 2.0, 3.0), rotation=TURN)
    m.nodal_spring("seat", "block:left", "z", stiffness=1e5)
    for component in ("x", "y", "rotation x", "rotation y", "rotation z"):
        m.nodal_spring(f"hold {component}", "block:left", component, stiffness=2e3)
    m.force("push", "block:right", (0.0, 100.0, 400.0))
    m.modes_step(count=4)
    m.linear_static_step()
    m.linear_transient_step(0.05, 1e-3, frames=10)
    results = run(m, tmp_path / "out")
    whole = recover(results)
    n = len(results.header["nodes"]) - results.header["recovered_nodes"]
    for old, new in zip(results.steps, whole.steps, strict=True):
        a, b = (np.asarray(s.frames["displacement"][:])[:, n:] for s in (old, new))
        assert np.abs(a).max() > 0.01
        np.testing.assert_allclose(b, a, atol=1e-10)
        if "stress [Pa]" in old.frames:
            a, b = (np.asarray(s.frames["stress [Pa]"][:])[:, n:] for s in (old, new))
            np.testing.assert_allclose(b, a, atol=1e-5 * np.abs(a).max())


def test_beside_parts_that_are_not_reduced(tmp_path):
    """Own solids and a reduced part welded on: stresses of both in one field, in the run and recovered."""
    m = Model(dimension=3)
    m.material("steel", E=2.1e11, nu=0.3, density=7850)
    m.mesh("root", box_mesh("hexahedron20", (3, 1, 1), (0.4, 0.04, 0.04)))
    m.solids("root", on="root", material="steel")
    m.reduced_part("block", block(), position=(0.4, 0.0, 0.0))
    m.fix("root:x0")
    m.coupling("weld", "block:left", "root:x1")
    m.force("pull", "block:right", (1e4, 0.0, 0.0))
    m.linear_static_step()
    results = run(m, tmp_path / "out")
    whole = recover(results)
    n = results.header["recovered_nodes"]
    stress = np.asarray(results.steps[0].frames["stress [Pa]"][0])
    assert np.isfinite(stress[:44]).all() and np.isfinite(stress[-n:]).all()
    # both are held alike at both ends
    np.testing.assert_allclose(stress[-n:], stress[:44], atol=1e-4 * np.abs(stress[:44]).max())
    frames = whole.steps[0].frames
    np.testing.assert_allclose(np.asarray(frames["stress [Pa]"][0])[:44], stress[:44])
    np.testing.assert_allclose(np.asarray(frames["region 2/stress [Pa]"][0])[-n:], stress[-n:], rtol=1e-5, atol=1.0)
    assert {block["name"]: block.get("region") for block in whole.header["blocks"]} == {"root": 0, "block": 1}


@pytest.mark.everyday
def test_commands(pendulum, fem_mbs, tmp_path):
    code, out, err = fem_mbs("stresses", pendulum.directory, "-n", 3)
    assert (code, err) == (0, "") and "von Mises" in out
    with (pendulum.directory / "stresses.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 and float(rows[0]["von Mises stress [MPa]"]) >= float(rows[1]["von Mises stress [MPa]"]) > 0.0
    assert (pendulum.directory / "figures" / "stresses-largest.png").stat().st_size > 5000
    code, out, err = fem_mbs("recover", pendulum.directory, "-o", tmp_path / "whole")
    assert (code, err) == (0, "") and "nodes" in out
    assert (tmp_path / "whole" / "results.xdmf").is_file()
    code, out, _ = fem_mbs("export", tmp_path / "whole", "--vtu")
    assert f"6 frames in {tmp_path / 'whole' / 'vtu'}" in out and ".vtu" not in out and ".pvd" in out
    assert code == 0 and len(list((tmp_path / "whole" / "vtu").glob("*.vtu"))) == 6


def test_results_without_parts_say_so(tmp_path):
    m = Model(dimension=3)
    m.body("ball", (0.0, 0.0, 0.0), 1.0, (1.0, 1.0, 1.0))
    m.transient_step(0.1, 0.1)
    results = run(m, tmp_path / "none")
    with pytest.raises(ResultsError, match="no reduced parts"):
        recover(results)
    bare = Model(dimension=3)
    bare.material("steel", E=2.1e11, nu=0.3, density=7850)
    bare.mesh("box", box_mesh("hexahedron", (2, 1, 1), (0.4, 0.04, 0.04)))
    bare.solids("box", on="box", material="steel")
    for recovery, message, ask in ((False, "holds fields", placed_parts), (True, "holds stresses", stress_peaks)):
        m = Model(dimension=3)
        m.reduced_part("block", reduce_part(bare, ENDS, modes=3, recovery=recovery, accuracy=0))
        m.transient_step(1e-3, 1e-3)
        with pytest.raises(ResultsError, match=message):
            ask(run(m, tmp_path / str(recovery)))
