"""Reduced parts from format to format, by name and on the command line."""

from __future__ import annotations

import numpy as np
import pytest
from solid_meshes import box_mesh

from fem_mbs import Model
from fem_mbs.analysis.reduction.reduce import reduce_part
from fem_mbs.errors import ModelError
from fem_mbs.parts.formats import lost_in, read_part, write_part
from fem_mbs.parts.sid import body_data


def block():
    m = Model(dimension=3, title="block")
    m.material("steel", E=2.1e11, nu=0.3, density=7850)
    m.mesh("box", box_mesh("hexahedron", (4, 1, 1), (0.8, 0.1, 0.2)))
    m.solids("box", on="box", material="steel")
    return m


@pytest.fixture(scope="module")
def part():
    ends = {"left": "box:x0", "right": "box:x1"}
    return reduce_part(block(), ends, modes=6, recovery="stress", stiffening="left", damping=0.02)


def elastic(part):
    """Frequencies [Hz] of a part with free interfaces, without the rigid-body motions."""
    w2 = np.sort(np.linalg.eigvals(np.linalg.solve(part.mass, part.stiffness)).real)
    return np.sqrt(w2[6:]) / (2.0 * np.pi)


@pytest.mark.parametrize("name", ["part.h5", "part.pch", "part.SID_FEM", "folder"])
def test_every_format_keeps_the_part(part, name, tmp_path):
    """Frequencies, rigid-body motions, weight, places, damping; moments where the format has them."""
    back = read_part(write_part(tmp_path / name, part))
    np.testing.assert_allclose(elastic(back), elastic(part), rtol=1e-6)
    assert back.rigid.shape[1] == 6
    # the weight does the same work on rigid-body motions: mass, and mass times place
    np.testing.assert_allclose(back.rigid.T @ back.gravity, part.rigid.T @ part.gravity, atol=1e-8)
    for a, b in zip(back.interfaces, part.interfaces, strict=True):
        assert (a.name, a.components) == (b.name, b.components)
        np.testing.assert_allclose(a.position, b.position, atol=1e-12)
    np.testing.assert_allclose(back.boundary @ back.rigid, part.boundary @ part.rigid, atol=1e-8)
    # dynamic flexibility at the right end, with damping
    w = 2.0 * np.pi * 300.0

    def answer(q):
        Z = q.stiffness + 1j * w * q.damping - w**2 * q.mass
        rows = q.boundary[q.interface_rows("right")]
        return rows @ np.linalg.solve(Z, rows.T.astype(complex))

    wanted = answer(part)
    np.testing.assert_allclose(answer(back), wanted, atol=1e-6 * np.abs(wanted).max())
    if name == "part.pch":
        assert back.moments is None and not back.stiffening
    else:
        # two free bodies of the same shapes have the same invariants in modes with one frame
        one, other = (body_data(q, "left", 3) for q in (part, back))
        np.testing.assert_allclose(np.abs(one.Ct.M0), np.abs(other.Ct.M0), atol=1e-7)
        np.testing.assert_allclose(one.J.M0, other.J.M0, atol=1e-10)
        stiff = np.diag(one.stiffening()["right.x"])
        np.testing.assert_allclose(np.diag(other.stiffening()["right.x"]), stiff, atol=1e-6 * np.abs(stiff).max())


def test_the_frame_is_that_of_the_geometric_stiffness(part):
    assert part.info["stiffening_frame"] == "left"
    left, other = body_data(part), body_data(part, "right")
    at = {name: np.abs(data.node(name).phi.M0).max() for name, data in (("left", left), ("right", other))}
    assert max(at.values()) < 1e-9 < np.abs(left.node("right").phi.M0).max()


def test_what_is_lost_is_said(part, tmp_path):
    assert lost_in("x.h5", part) == []
    assert len(lost_in("x.pch", part)) == 3
    assert lost_in("folder", part) == ["displacements and stresses of the mesh"]


@pytest.mark.everyday
def test_command(part, fem_mbs, tmp_path):
    source = write_part(tmp_path / "part.h5", part)
    code, out, err = fem_mbs("convert", source, tmp_path / "out.pch")
    assert (code, err) == (0, "") and "out.pch written, without" in out
    code, out, _ = fem_mbs("convert", tmp_path / "out.pch", tmp_path / "again.h5")
    assert code == 0 and "again.h5 written\n" in out
    code, _, _ = fem_mbs("convert", source, tmp_path / "body.SID_FEM", "--frame", "left", "--modes", 4)
    assert code == 0
    assert read_part(tmp_path / "body.SID_FEM").size == 6 + 4
    code, _, _ = fem_mbs("convert", tmp_path / "body.SID_FEM", tmp_path / "folder")
    assert code == 0 and (tmp_path / "folder" / "part.json").is_file()
    np.testing.assert_allclose(
        read_part(tmp_path / "folder" / "part.json").mass, read_part(tmp_path / "body.SID_FEM").mass
    )


def test_wrong_names(part, fem_mbs, tmp_path):
    source = write_part(tmp_path / "part.h5", part)
    for arguments, said in (
        ((source, tmp_path / "part.xyz"), "no format of a reduced part"),
        ((tmp_path / "part.xyz", source), "no format of a reduced part"),
        ((source, tmp_path / "out.pch", "--frame", "left"), "frame belongs to flexible body data"),
        ((source, tmp_path / "out.SID_FEM", "--frame", "middle"), '"middle" is no interface'),
        ((source, tmp_path / "out.h5", "--grids", source), "files of grids belong to DMIG"),
        ((tmp_path / "none.pch", source), "cannot be read"),
    ):
        code, _, err = fem_mbs("convert", *arguments)
        assert code == 2 and said in err
    with pytest.raises(ModelError, match="no moments"):
        write_part(tmp_path / "two.SID_FEM", read_part(write_part(tmp_path / "one.pch", part)))
