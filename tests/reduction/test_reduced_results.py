"""Reduced parts in results: their meshes follow them, in every kind of step; figures; continued runs; restarts."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from flexible_parts import beam
from solid_meshes import box_mesh

from fem_mbs import Model, reduce_part
from fem_mbs.analysis.run import run, solve
from fem_mbs.plot.figures import plot_all
from fem_mbs.results.export.vtu import write_vtu_files
from fem_mbs.results.reader import Results

DIMENSIONS = pytest.mark.parametrize("dim", [2, 3])


def rod(dim, modes=30):
    modes = min(modes, 15 * (dim - 1))
    return reduce_part(beam(6, dimension=dim), {"left": "rod:start", "right": "rod:end"}, modes=modes)


def placed(dim, **options):
    m = Model(dimension=dim, gravity=(0.0, -9.81, 0.3)[:dim])
    m.reduced_part("arm", rod(dim), **options)
    return m


@DIMENSIONS
def test_linear_statics_and_modes_show_the_whole_mesh(dim):
    """All nodes of a cantilever, reduced, go where those of the whole beam go."""
    whole = beam(6, dimension=dim)
    whole.gravity = np.array((0.0, -9.81, 0.3)[:dim])
    whole.fix("rod:start")
    reduced = placed(dim)
    reduced.fix("arm:left")
    found = []
    for m in (whole, reduced):
        m.linear_static_step()
        m.modes_step(count=3)
        m.complex_modes_step(count=2)
        s = solve(m)
        own = slice(0, 7) if m is whole else slice(3, None)
        found.append([s.steps[i].frames for i in range(3)] + [own])
    (a, modes_a, complex_a, own_a), (b, modes_b, complex_b, own_b) = found
    for name in ("displacement", "rotation"):
        wanted = a[name][0, own_a]
        np.testing.assert_allclose(b[name][0, own_b], wanted, atol=1e-6 * np.abs(wanted).max())
    assert b["reaction"].shape == b["displacement"].shape[:2] + (6,)
    for x, y in ((modes_a, modes_b), (complex_a, complex_b)):
        for k in range(2):
            u, v = x["displacement"][k, own_a], y["displacement"][k, own_b]
            assert abs((u * v).sum()) / np.sqrt((u * u).sum() * (v * v).sum()) > 1.0 - 1e-9
    assert complex_b["displacement imaginary"].shape == complex_b["displacement"].shape


@DIMENSIONS
def test_linear_transients_are_linear_in_the_mesh(dim):
    """Twice the load moves and speeds every node twice as far, however large that is."""
    found = []
    for factor in (1.0, 2.0):
        m = Model(dimension=dim)
        m.reduced_part("arm", rod(dim))
        m.fix("arm:left")
        m.force("push", "arm:right", factor * np.array((0.0, 3e3, 0.0)[:dim]))
        m.linear_transient_step(0.02, 1e-3)
        found.append(solve(m).steps[0].frames)
    for name in ("displacement", "velocity"):
        once, twice = (np.asarray(frames[name]) for frames in found)
        assert np.abs(once).max() > 0.1
        np.testing.assert_allclose(twice, 2.0 * once, atol=1e-9 * np.abs(once).max())


@DIMENSIONS
def test_the_mesh_goes_with_the_interfaces(dim):
    """In a large motion the ends of the mesh are the interface nodes."""
    m = placed(dim, position=(0.2, 0.1, 0.5)[:dim], rotation=0.4 if dim == 2 else (0.1, 0.2, 0.4), damping=0.05)
    m.joint("hinge", "pin" if dim == 2 else "spherical", "ground", "arm:left", point=m.position(1))
    m.initial(spin=3.0 if dim == 2 else (1.0, 0.0, 3.0))
    m.transient_step(0.2, 2e-3, frames=10)
    s = solve(m)
    frames = s.steps[0].frames
    ends = np.array([1, 2])  # (node 0 is the frame)
    mesh = 3 + np.array([0, 6])
    assert frames["displacement"].shape == (11, 10, 3)
    assert np.abs(frames["displacement"]).max() > 0.08
    np.testing.assert_allclose(frames["displacement"][:, mesh], frames["displacement"][:, ends], atol=1e-12)
    assert frames["arm/modal [m]"].shape[1] == len(m.reduced_parts["arm"].scalars)
    # (rotations of interfaces are the polar part of I + psi~, to third order that of psi)
    np.testing.assert_allclose(frames["rotation"][:, mesh], frames["rotation"][:, ends], atol=1e-4)
    np.testing.assert_allclose(frames["velocity"][0, mesh], frames["velocity"][0, ends], atol=1e-9)


def test_figures_of_a_solid_part(tmp_path):
    """A reduced solid is drawn whole, also in files for ParaView."""
    own = Model(dimension=3)
    own.material("steel", E=2.1e11, nu=0.3, density=7850.0)
    own.mesh("box", box_mesh("hexahedron", (4, 1, 1), (1.0, 0.1, 0.1)))
    own.solids("box", on="box", material="steel")
    x = own.positions
    ends = {name: np.flatnonzero(np.abs(x[:, 0] - at) < 1e-9) for name, at in (("left", 0.0), ("right", 1.0))}
    m = Model(dimension=3, gravity=(0.0, 0.0, -9.81))
    m.reduced_part("arm", reduce_part(own, ends, modes=4))
    m.fix("arm:left")
    m.transient_step(0.01, 1e-3, frames=2)
    m.modes_step(count=2)
    results = run(m, tmp_path / "out")
    assert results.header["nodes"].shape == (3 + len(x), 3)
    assert any(block["name"] == "arm" and block["cell"] == "hexahedron" for block in results.header["blocks"])
    assert plot_all(results)
    files = write_vtu_files(results)
    assert len(files) >= 5


def test_a_part_without_a_mesh_is_drawn_by_lines(tmp_path):
    m = Model(dimension=2)
    m.reduced_part("arm", reduce_part(beam(4, dimension=2), {"left": "rod:start", "right": "rod:end"}, recovery=False))
    m.initial(spin=1.0)
    m.transient_step(0.01, 1e-3, frames=2)
    results = run(m, tmp_path / "out")
    block = next(b for b in results.header["blocks"] if b["name"] == "arm")
    assert block["connectivity"].tolist() == [[0, 1], [0, 2]]
    assert plot_all(results)


def test_a_continued_run_gives_the_same_bits(tmp_path):
    """What bodies remember of velocities is part of a restart point."""

    def model():
        m = placed(3)
        m.joint("hinge", "spherical", "ground", "arm:left", point=(0.0, 0.0, 0.0))
        m.sensor("tip", "position", on="arm:right")
        m.sensor("q", "modal", on="arm")
        m.initial(spin=(0.0, 2.0, 5.0))
        m.transient_step(0.2, 2e-3, frames=4, restarts=3)
        return m

    whole = run(model(), tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "cut")
    again = run(model(), tmp_path / "cut", restart=1)
    for name in ("tip", "q"):
        a, b = (r.sensor(name).values for r in (whole, again))
        assert np.array_equal(a, b)
    assert Results.open(tmp_path / "cut").steps[0].frames["arm/modal [m]"][-1].any()
