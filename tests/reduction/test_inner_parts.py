"""Reduced parts within reduced parts: the fields of their meshes against those of the model that was reduced."""

from __future__ import annotations

import numpy as np
import pytest
from flexible_parts import beam
from scipy.spatial.transform import Rotation
from solid_meshes import box_mesh

from fem_mbs import Model, reduce_part, solve
from fem_mbs.parts.hdf5 import read_part, write_part
from fem_mbs.parts.recovery import displacements, stresses

ALL = 1000
PULL = (300.0, -200.0, 100.0)
DIMENSIONS = pytest.mark.parametrize("dim", [2, 3])
ENDS = {"left": "rod:x0", "right": "rod:x1"}


def bar(dim) -> Model:
    """A bar of solids or of plane cells, heated across."""
    m = Model(dim)
    m.material("steel", E=2.1e11, nu=0.3, density=7850.0, expansion=1e-5)
    if dim == 3:
        m.mesh("rod", box_mesh("hexahedron20", (2, 1, 1), (0.4, 0.1, 0.08)))
        m.solids("rod", on="rod", material="steel", kinematics="linear")
    else:
        m.mesh("rod", box_mesh("quad8", (3, 1), (0.4, 0.1)))
        m.planes("rod", on="rod", material="steel", thickness=0.02, kinematics="linear")
    m.temperature("sun", "rod", "1e3*y")
    return m


def assembly(dim) -> Model:
    """A reduced bar, a second one that goes on at an angle and is heated, and a reduced beam at the end of that."""
    solid = reduce_part(bar(dim), ENDS, modes=4, recovery="stress")
    rod = reduce_part(beam(3, 0.3, dim), {"start": "rod:start", "end": "rod:end"}, modes=3)
    turn = 0.5 if dim == 2 else (0.3, -0.2, 0.5)
    R = Rotation.from_rotvec((0.0, 0.0, turn) if dim == 2 else turn).as_matrix()[:dim, :dim]
    left, right = (interface.position for interface in solid.interfaces)
    m = Model(dim)
    m.reduced_part("a", solid)
    m.reduced_part("b", solid, position=right - R @ left, rotation=turn)
    m.reduced_part("rod", rod, position=right + R @ (right - left), rotation=turn)
    m.joint("middle", "weld", a="a:right", b="b:left")
    m.joint("end", "weld", a="b:right", b="rod:start")
    m.part_load("heat", "b", "sun", factor=2.0, function="1")
    return m


def load(m: Model, foot: str, tip: str) -> None:
    m.fix(foot)
    m.force("pull", tip, PULL[: m.dimension])
    m.linear_static_step("pull", loads=["pull"])


def outer_part(dim):
    return reduce_part(assembly(dim), {"left": "a:left", "right": "rod:end"}, modes=ALL, recovery="stress")


def compare(found, wanted):
    """Compare where the frame has values: stresses are those of cells."""
    both = np.isfinite(wanted)
    assert both.any() and (both == np.isfinite(found)).all()
    np.testing.assert_allclose(found[both], wanted[both], atol=1e-6 * np.abs(wanted[both]).max())


@DIMENSIONS
def test_frames_of_parts_within_a_part(dim, tmp_path):
    """Displacements, rotations and stresses of all meshes in the frames of a run."""
    whole = assembly(dim)
    load(whole, "a:left", "rod:end")
    outer = outer_part(dim)
    m = Model(dim)
    m.reduced_part("outer", read_part(write_part(tmp_path / "outer.h5", outer)), reference="left")
    load(m, "outer:left", "outer:right")
    wanted, found = (solve(model).steps[-1].frames for model in (whole, m))
    count = len(outer.recovery.x)
    for name in ("displacement", "stress [Pa]", "von Mises stress [Pa]"):
        assert len(wanted[name][-1]) == count
        compare(found[name][-1][-count:], wanted[name][-1])
    turning = outer.recovery.turning
    compare(found["rotation"][-1][-count:][turning], wanted["rotation"][-1][turning])
    assert outer.recovery.names[-1] == "rod:rod 4"


@DIMENSIONS
def test_heat_of_parts_within_a_part(dim):
    """A heated bar within a part bends it; heat alone strains without stress, which stresses count."""
    whole = assembly(dim)
    load(whole, "a:left", "rod:end")
    whole.linear_static_step("both", loads=["pull", "heat"])
    wanted = solve(whole).steps[-1].frames
    outer = outer_part(dim)
    assert outer.info["heat"] == {"heat": True}
    f = outer.loads["heat"].copy()
    tip = len(outer.interfaces[0].components)
    f[tip : tip + dim] += PULL[:dim]
    p = np.zeros(outer.size)
    p[tip:] = np.linalg.solve(outer.stiffness[tip:, tip:], f[tip:])
    compare(displacements(outer, p)[0], wanted["displacement"][-1][:, :dim])
    compare(stresses(outer, p, {"heat": 1.0})[0], wanted["stress [Pa]"][-1][outer.recovery.stressed])
