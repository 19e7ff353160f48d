"""`fem-mbs reduce` on decks, model files and meshes."""

from __future__ import annotations

import numpy as np
import pytest
from places import DECKS
from solid_meshes import box_mesh

from fem_mbs import Model, ModelError, read_part
from fem_mbs.analysis.reduction.reduce import METHODS
from fem_mbs.modelfile.inventory import inventory
from fem_mbs.modelfile.parts import find_interfaces

MODEL = """
dimension = 2

[material.steel]
E = 2.1e11
nu = 0.3
density = 7850

[section.rod]
shape = "circle"
diameter = 0.01

[mesh.arm]
line = { start = [0, 0], end = [1, 0], n = 8 }

[[beam]]
name = "arm"
on = "arm"
section = "rod"
material = "steel"
"""


@pytest.fixture
def model_file(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(MODEL)
    return path


def test_model_file(fem_mbs, model_file, tmp_path):
    target = tmp_path / "out.h5"
    code, out, err = fem_mbs("reduce", model_file, "-i", "start,arm:end", "--cutoff", 300, "-o", target)
    assert (code, err) == (0, "")
    part = read_part(target)
    assert [i.name for i in part.interfaces] == ["start", "arm:end"]
    assert part.size == 6 + part.frequencies.size
    assert part.info["complete"]
    assert "all modes up to 300 Hz, counted" in out
    assert "mass 0.61653" in out
    assert f"{part.frequencies[0]:.6g}" in out
    assert "out.h5 written" in out


def test_a_cutoff_below_all_modes(fem_mbs, model_file, tmp_path):
    code, out, _ = fem_mbs("reduce", model_file, "-i", "start,end", "--cutoff", 1, "-o", tmp_path / "p.h5")
    assert code == 0
    assert "no component mode up to 1 Hz" in out
    assert "place [m]" in out


def test_deck(fem_mbs, tmp_path):
    deck = DECKS / "calculix" / "c3d20.inp"
    code, out, _ = fem_mbs("reduce", deck, "-i", "tip=average,FIX", "--release", "--modes", 6, "-o", tmp_path / "p.h5")
    assert code == 0
    part = read_part(tmp_path / "p.h5")
    assert [i.kind for i in part.interfaces] == ["average", "rigid"]
    assert part.rigid.shape == (18, 6)
    assert "free, 6 rigid-body motions" in out
    code, _, err = fem_mbs("reduce", deck, "-i", "FIX", "-o", tmp_path / "p.h5")
    assert code == 2
    assert "is held by a support" in err


def test_several_parts(fem_mbs, model_file, tmp_path):
    """Reduced side by side they are those reduced alone; their files go to one folder."""
    pytest.importorskip("distributed")
    other = tmp_path / "long arm.toml"
    other.write_text(MODEL.replace("end = [1, 0]", "end = [2, 0]"))
    options = ("-i", "arm:start,arm:end", "--modes", 3)
    code, out, _ = fem_mbs("reduce", model_file, other, *options, "--workers", 2, "-o", tmp_path / "parts")
    assert code == 0
    assert out.count("rigid-body motions") == 2
    for path in (model_file, other):
        fem_mbs("reduce", path, *options, "-o", tmp_path / "alone.h5", "--overwrite")
        found, alone = read_part(tmp_path / "parts" / f"{path.stem}-part.h5"), read_part(tmp_path / "alone.h5")
        np.testing.assert_array_equal(found.stiffness, alone.stiffness)
        np.testing.assert_array_equal(found.mass, alone.mass)
    code, _, err = fem_mbs("reduce", model_file, other, *options, "-o", tmp_path / "one.h5")
    assert code == 2
    assert "need a folder" in err


def test_deck_without_steps(fem_mbs, tmp_path):
    """What is only reduced needs none; a run of it still does."""
    text = (DECKS / "calculix" / "c3d20.inp").read_text(encoding="utf-8")
    upper = text.upper()
    deck = tmp_path / "part.inp"
    deck.write_text(text[: upper.index("*STEP")], encoding="utf-8")
    code, _, _ = fem_mbs("reduce", deck, "-i", "tip=average,FIX", "--release", "--modes", 2, "-o", tmp_path / "p.h5")
    assert code == 0
    code, _, err = fem_mbs("run", deck, "-o", tmp_path / "out")
    assert code == 2
    assert "has no steps" in err


def test_bad_input(fem_mbs, model_file, tmp_path):
    for arguments, message in (
        (("-i", "strat"), 'did you mean "start"?'),
        (("-i", "start", "--rigid", "--average"), "exclude each other"),
        (("-i", "start", "--material", "1,2,3"), "belongs to meshes"),
        (("-i", "start", "--method", "hurty"), "must be one of"),
        (("-i", "start,start"), "named twice"),
        (("-i", "start=loose"), "must be one of node, rigid, average"),
        (("-i", " , "), "no interface is named"),
    ):
        code, _, err = fem_mbs("reduce", model_file, *arguments, "-o", tmp_path / "p.h5")
        assert code == 2
        assert message in err
    code, _, err = fem_mbs("reduce", tmp_path / "part.msh", "-i", "left")
    assert code == 2
    assert "--material E,nu,density" in err


def test_mesh(fem_mbs, checkout, tmp_path):
    mesh = checkout / "tests" / "data" / "surface_41.msh"
    target = tmp_path / "p.h5"
    material = ("--material", "2.1e11,0.3,7850", "--thickness", "0.02")
    code, out, _ = fem_mbs(
        "reduce", mesh, "-i", "rod", *material, "--average", "--modes", 3, "-o", target, "--no-recovery"
    )
    assert code == 0
    part = read_part(target)
    assert part.dimension == 2
    assert part.info["mass"] == pytest.approx(7850 * 0.02, rel=1e-9)  # a triangle of 2 x 1
    assert part.recovery is None
    assert "share of the mass" in out
    code, _, err = fem_mbs("reduce", mesh, "-i", "nowhere", "--material", "2.1e11,0.3,7850", "-o", tmp_path / "p.h5")
    assert code == 2
    assert "nowhere" in err


def test_the_inventory_names_all_methods():
    lines = [line.split(maxsplit=1) for line in inventory()]
    assert all([name, about] in lines for name, about in METHODS.items())


def test_names_that_two_meshes_have():
    model = Model(2)
    for name in ("a", "b"):
        model.mesh(name, box_mesh("quad", (1, 1), (1.0, 1.0)))
    with pytest.raises(ModelError, match='write "a:x0"'):
        find_interfaces(model, ["x0"], None)
    found = find_interfaces(model, ["a:x0,b:x1=average"], "rigid")
    assert found["a:x0"]["kind"] == "rigid"
    assert found["b:x1"]["kind"] == "average"
    assert np.array_equal(found["a:x0"]["on"], model.nodes_of("a:x0"))


def test_files_of_others_are_not_replaced(model_file, fem_mbs, tmp_path):
    """A part of the same source is; anything else only where that is asked for."""
    target, other = tmp_path / "p.h5", tmp_path / "sub" / model_file.name
    other.parent.mkdir()
    other.write_text(model_file.read_text())
    command = ("-i", "start,end", "--modes", 1, "-q", "-o", target)
    for _ in range(2):
        assert fem_mbs("reduce", model_file, *command)[0] == 0
    before = target.read_bytes()
    code, _, err = fem_mbs("reduce", other, *command)
    assert code == 2 and "is there already" in err and "sub/" in err and "--overwrite" in err
    code, _, err = fem_mbs("convert", target, target)
    assert code == 2 and "is there already" in err
    assert target.read_bytes() == before
    assert fem_mbs("reduce", other, *command, "--overwrite")[0] == 0
    target.write_text("mine")
    assert fem_mbs("reduce", other, *command)[0] == 2
    assert target.read_text() == "mine"
