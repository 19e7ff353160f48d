"""Solids of decks against what CalculiX 2.20 prints for coarse distorted meshes (tests/data/decks/calculix)."""

from __future__ import annotations

import numpy as np
import places
import pytest
from deck_text import at, brick, mesh_text, nset, prints, run, steel, step

from fem_mbs.decks.abaqus.compare import compare_deck
from fem_mbs.decks.abaqus.run import convert, solve_deck
from fem_mbs.errors import AnalysisError, InputError
from fem_mbs.meshes.abaqus.calculix_dat import read_dat
from fem_mbs.meshes.abaqus.reader import read_deck
from fem_mbs.meshes.vocabulary import Effect

DECKS = places.DECKS / "calculix"
LOADS = ("weight", "centrifugal load", "pressure")


def compared(name):
    """Largest differences of displacements, relative to the largest one of each static step, and of frequencies."""
    path = DECKS / f"{name}.inp"
    dat = read_dat(path.with_suffix(".dat.ref"))
    _, solution = solve_deck(read_deck(path))
    steps = solution.summary["steps"]
    ours = {
        t["time"]: np.array(t["values"]) for s in steps for t in s["prints"] if t["quantity"] == "U" and "mode" not in t
    }
    theirs = {p.time: p.values for p in dat.prints if p.quantity == "U" and not p.mode}
    assert len(theirs) == len(LOADS) and set(theirs) <= set(ours)
    statics = [np.abs(ours[t] - u).max() / np.abs(u).max() for t, u in theirs.items()]
    (modes,) = dat.modes
    reference = np.sqrt(modes.eigenvalue) / (2.0 * np.pi)
    assert len(reference) == 6
    return statics, np.array(steps[-1]["frequencies_hz"]) / reference - 1.0


@pytest.mark.parametrize("name", ["c3d4", "c3d6", "c3d8", "c3d8i", "c3d10", "c3d15", "c3d20", "c3d20r"])
def test_coarse_distorted_meshes_agree_to_the_digits_printed(name):
    """(C3D8I: of parallelepipeds; others are different elements.)"""
    statics, frequencies = compared(name)
    for load, difference in zip(LOADS, statics, strict=True):
        assert difference < 1e-6, load
    assert np.abs(frequencies).max() < 1e-6


def test_distorted_incompatible_modes_have_a_margin_of_their_own(tmp_path):
    """CalculiX's C3D8I fails the patch test there: the comparison says so, and the answers stay near each other."""
    text = (DECKS / "c3d8i.inp").read_text()
    (tmp_path / "bent.inp").write_text(text.replace("\n8, 0.9000,", "\n8, 1.1000,"))
    (tmp_path / "bent.dat.ref").write_text((DECKS / "c3d8i.dat.ref").read_text())
    rows = [r for r in compare_deck(tmp_path / "bent.inp") if r.status != "not compared"]
    assert rows
    assert all(r.margin == 0.03 and "fails the patch test" in r.why for r in rows)
    straight = [r for r in compare_deck(DECKS / "c3d8i.inp") if r.status != "not compared"]
    assert all(r.margin == 1e-3 for r in straight)


@pytest.mark.parametrize(("name", "mass"), [("c3d4", "consistent"), ("c3d20", "reduced")])
def test_masses_of_transients_are_never_singular(name, mass, tmp_path):
    """With a DYNAMIC step, elements with fewer points than nodes have their exact mass."""
    text = (DECKS / f"{name}.inp").read_text()
    path = tmp_path / "d.inp"
    path.write_text(text + "*STEP\n*DYNAMIC\n1e-3, 1e-2\n*END STEP\n")
    blocks = [b for b in convert(read_deck(path)).model.compile().system.blocks if b.type.inertia]
    from fem_mbs.elements.solids import mass as solid_mass
    from fem_mbs.elements.solids import shapes as solid_shapes

    deck = read_deck(path)
    cell = blocks[0].type.name.split("_")[-1]
    points = None if mass == "consistent" else "full"
    for block in blocks:
        X = deck.x[block.nodes]
        M = solid_mass.masses_of(block.par, block.type.ends)
        assert np.allclose(M, solid_mass.mass_matrices(cell, X, 7.8e-3, points=points), rtol=1e-12, atol=1e-18)
        n = solid_shapes.n_nodes(cell)
        assert (np.linalg.matrix_rank(M) == n).all()


def test_masses_of_incompatible_modes_are_not_those_of_the_part():
    """CalculiX's total mass of C3D8I is several times that of the part; the comparison says so instead of failing."""
    rows = {r.quantity: r for r in compare_deck(DECKS / "c3d8i.inp")}
    assert rows["effective masses"].status == "not compared"
    assert "incompatible modes" in rows["effective masses"].why
    assert rows["U"].difference < 2e-6  # the shapes of the modes, too, of unit modal mass
    assert all(r.status in ("ok", "not compared") for r in rows.values())
    _, solution = solve_deck(read_deck(DECKS / "c3d8i.inp"))
    total = solution.summary["steps"][-1]["participation"]["total"][:3]
    assert total[0] == pytest.approx(total[1], rel=1e-12) == pytest.approx(total[2], rel=1e-12)
    assert total[0] < 6 * 2 * 1 * 0.5 * 0.8 * 7.8e-3  # (what is clamped does not count)


def test_bricks_with_one_point(tmp_path):
    """C3D8R bends as enhanced hourglass control lets it: M L^2/(2 E I) of a bar of one element across, exactly.

    S is printed at one point; other control is a warning.
    """
    nodes, elements = brick((5, 1, 1), (2.0, 0.1, 0.2))
    text = mesh_text(nodes, elements, "C3D8R") + nset("FIX", at(nodes, 0, 0.0)) + nset("TIP", at(nodes, 0, 2.0))
    text += steel(nu=0.0).replace("*SOLID SECTION,", "*SOLID SECTION, CONTROLS=EC-1,")
    text += "*SECTION CONTROLS, NAME=EC-1, HOURGLASS=ENHANCED\n1., 1., 1.\n*BOUNDARY\nFIX, 1, 3\n"
    tip = at(nodes, 0, 2.0)
    pull = "".join(f"{i}, 1, {1e3 if nodes[i][2] > 0.1 else -1e3}\n" for i in tip)  # M = 4 * 1e3 * 0.1
    load = step(f"*STATIC\n*CLOAD\n{pull}*NODE PRINT, NSET=TIP\nU\n*EL PRINT, ELSET=EALL\nS\n")
    converted, (done,) = run(tmp_path / "d.inp", text, load)
    inertia = 0.1 * 0.2**3 / 12.0
    assert prints(done, "U")[1][:, 2] == pytest.approx(-400.0 * 4.0 / (2.0 * 2.1e11 * inertia), rel=1e-9)
    ids, stress = prints(done, "S")
    assert ids.tolist() == [1, 2, 3, 4, 5]
    assert np.abs(stress).max() < 1e-3  # in the middle of the section
    assert [n.effect for n in converted.notes] == [Effect.DIFFERS]
    path = tmp_path / "e.inp"
    path.write_text(text.replace("ENHANCED", "STIFFNESS") + load)
    assert any("is ENHANCED with factors 1, not STIFFNESS" in str(n) for n in convert(read_deck(path)).notes)


# ---- centrifugal loads of parts and of plane models ------------------------------------
@pytest.mark.parametrize("kind", ["C3D8", "C3D20R"])
def test_a_part_that_spins(tmp_path, kind):
    """The outer half of a bar spins, and a point mass at its end: the inner half is pulled by both."""
    nodes, elements = brick((4, 1, 1), (4.0, 1.0, 1.0), kind)
    mass = max(nodes) + 1
    tip = next(n for n in at(nodes, 0, 4.0))
    text = mesh_text(nodes, elements, kind) + steel(1000.0, 0.0, 0.3) + nset("ROOT", at(nodes, 0, 0.0))
    text += nset("TIP", at(nodes, 0, 4.0)) + "*BOUNDARY\nROOT, 1, 3\nNALL, 2, 3\n*ELSET, ELSET=OUT\n3, 4\n"
    text += f"*ELEMENT, TYPE=MASS, ELSET=MA\n{mass}, {tip}\n*MASS, ELSET=MA\n.2\n"
    spin = "*DLOAD\nOUT, CENTRIF, 9., -1., 0., 0., 0., 0., 2.\nMA, CENTRIF, 4., -1., 0., 0., 0., 0., 2.\n"
    end = "*EQUATION\n" + "".join(f"2\n{n}, 1, 1., {tip}, 1, -1.\n" for n in at(nodes, 0, 4.0) if n != tip)
    shown = "*NODE PRINT, NSET=TIP\nU\n"
    _, (done,) = run(tmp_path / "d.inp", text, end, step("*STATIC\n" + spin + shown))
    # the axis stands at x = -1: q = 2.7 (x + 1) for x from 2 to 4; u(4) = int q(x) min(x, 4) dx/1000 + F 4/1000
    outer = 2.7 * ((4.0**3 - 2.0**3) / 3.0 + (4.0**2 - 2.0**2) / 2.0)
    assert prints(done, "U")[1][:, 0] == pytest.approx((outer + 0.2 * 4.0 * 5.0 * 4.0) / 1000.0, rel=1e-6)


def test_a_ring_that_spins(tmp_path):
    """A thin ring of radius 10 grows by rho w^2 r^3/E."""
    text = "*NODE, NSET=NALL\n1, 9.99, 0.\n2, 10.01, 0.\n3, 10.01, .02\n4, 9.99, .02\n*ELEMENT, TYPE=CAX4, ELSET=EALL\n"
    text += "1, 1, 2, 3, 4\n" + steel(1000.0, 0.0, 0.5) + "*BOUNDARY\n1, 2\n"
    spin = "*STATIC\n*DLOAD\nEALL, CENTRIF, .04, 0., 0., 0., {}, {}, 0.\n*NODE PRINT, NSET=NALL\nU\n"
    _, (done,) = run(tmp_path / "d.inp", text, step(spin.format(0.0, 1.0)))
    assert prints(done, "U")[1][:, 0] == pytest.approx(0.5 * 0.04 * 10.0**3 / 1000.0, rel=3e-3)
    with pytest.raises(InputError, match="about another axis than theirs"):
        run(tmp_path / "e.inp", text, step(spin.format(1.0, 0.0)))


# ---- materials over temperature --------------------------------------------------------------------------------------
WARM = "*ELASTIC\n1000., 0., 0.\n500., 0., 100.\n*EXPANSION, ZERO=10.\n1.E-4, 0.\n3.E-4, 100.\n*DENSITY\n1.\n"


def warm_bar(*steps):
    nodes, elements = brick((2, 1, 1), (2.0, 1.0, 1.0))
    text = mesh_text(nodes, elements) + "*MATERIAL, NAME=M\n" + WARM + "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n"
    text += nset("ROOT", at(nodes, 0, 0.0)) + nset("TIP", at(nodes, 0, 2.0)) + "*BOUNDARY\nROOT, 1, 1\n"
    y, z = (at(nodes, axis, 0.0) for axis in (1, 2))
    text += "*BOUNDARY\n" + "".join(f"{n}, 2\n" for n in y) + "".join(f"{n}, 3\n" for n in z)
    return text + "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n" + "".join(steps)


def test_materials_at_one_temperature(tmp_path):
    """E and the secant of expansion are those of 60 degrees; the strain from 20 degrees on counts."""
    pull = "*STATIC\n*TEMPERATURE\nNALL, 60.\n*CLOAD\nTIP, 1, 1.\n*NODE PRINT, NSET=TIP\nU\n"
    modes = step("*FREQUENCY\n1\n", "PERTURBATION")
    _, done = run(tmp_path / "d.inp", warm_bar(step(pull), modes))
    strain = 2.2e-4 * 50.0 - 1.4e-4 * 10.0  # alpha(T)(T - 10) from 20 to 60
    assert prints(done[0], "U")[1][:, 0] == pytest.approx(2.0 * (strain + 4.0 / 700.0), rel=1e-9)
    _, cold = run(tmp_path / "e.inp", warm_bar(step("*STATIC\n*CLOAD\nTIP, 1, 1.\n"), step("*FREQUENCY\n1\n")))
    ratio = done[1]["frequencies_hz"][0] / cold[1]["frequencies_hz"][0]
    assert ratio == pytest.approx(np.sqrt(700.0 / 900.0), rel=0.02)  # about stretched and not


VARIED = {
    "steps": (step("*STATIC\n*TEMPERATURE\nNALL, 60.\n"), step("*STATIC\n*TEMPERATURE\nNALL, 90.\n")),
    "a nonlinear step": (step("*STATIC\n*TEMPERATURE\nNALL, 60.\n", "NLGEOM"),),
}


@pytest.mark.parametrize("case", VARIED)
def test_materials_at_several_temperatures(tmp_path, case):
    with pytest.raises(InputError, match="depends on temperature, which varies in the deck"):
        run(tmp_path / "d.inp", warm_bar(*VARIED[case]))


def test_axes_by_elements(tmp_path):
    """Of two cubes in a row the first is stiff along the bar, the second, an element with axes of its own, across it;
    a marked comment before the first keyword is one."""
    nodes, elements = brick((2, 1, 1), (2.0, 1.0, 1.0))
    text = ">** a comment\n" + mesh_text(nodes, elements) + nset("FIX", at(nodes, 0, 0.0))
    text += "*MATERIAL, NAME=M\n*ELASTIC, TYPE=ENGINEERING CONSTANTS\n5.E9, 1.E9, 1.E9, 0., 0., 0., 1.E9, 1.E9\n1.E9\n"
    text += "*SOLID SECTION, ELSET=EALL, MATERIAL=M, ORIENTATION=O\n*ORIENTATION, NAME=O\nDI\n1, 0.\n"
    text += "*DISTRIBUTION, NAME=DI, LOCATION=ELEMENT, TABLE=T\n, 1., 0., 0., 0., 1., 0.\n2, 0., 1., 0., 1., 0., 0.\n"
    text += "*BOUNDARY\nFIX, 1\nNALL, 2, 3\n" + nset("END", at(nodes, 0, 2.0))
    _, (done,) = run(tmp_path / "d.inp", text, step("*STATIC\n*CLOAD\nEND, 1, 2.5E5\n*NODE PRINT, NSET=END\nU\n"))
    assert prints(done, "U")[1][:, 0] == pytest.approx(np.full(4, 1e6 / 5e9 + 1e6 / 1e9), rel=1e-9)


def test_offset_of_plane_elements_has_no_meaning(tmp_path):
    text = (
        "*NODE, NSET=NALL\n1, 0., 0.\n2, 1., 0.\n3, 1., 1.\n4, 0., 1.\n*ELEMENT, TYPE=CPE4, ELSET=EALL\n1, 1, 2, 3, 4\n"
    )
    text += steel().replace("*SOLID SECTION,", "*SOLID SECTION, OFFSET=.5,") + "*BOUNDARY\n1, 1, 2\n4, 1, 1\n2, 2, 2\n"
    path = tmp_path / "d.inp"
    path.write_text(text + step("*STATIC\n*CLOAD\n2, 1, 1.\n"))
    assert {n.effect for n in convert(read_deck(path)).notes if "OFFSET" in n.text} == {Effect.NONE}


def test_a_stack_of_reduced_bricks(tmp_path):
    """One brick across a cantilever: motions that its points do not see have no part in the deflection by a load that
    does no work on them; other loads and modes are refused by name."""
    E, F, L = 2.1e11, 8.0, 3.0
    nodes, elements = brick((3, 1, 1), (L, 1.0, 1.0), "C3D20R")
    text = mesh_text(nodes, elements, "C3D20R") + steel(E=E, nu=0.0) + nset("FIX", at(nodes, 0, 0.0))
    text += nset("END", at(nodes, 0, L)) + "*BOUNDARY\nFIX, 1, 3\n"
    load = "*STATIC\n*CLOAD\nEND, 2, 1.\n"
    _, (done,) = run(tmp_path / "d.inp", text, step(load + "*NODE PRINT, NSET=END\nU\n"))
    beam = F * L**3 / (3.0 * E / 12.0) + F * L / (5.0 / 6.0 * 0.5 * E)
    assert prints(done, "U")[1][:, 1] == pytest.approx(np.full(8, beam), rel=0.02)
    assert any("deform without energy" in w for w in done["warnings"])
    first, second = at(nodes, 0, L)[:2]
    with pytest.raises(InputError, match=r"d\.inp, line \d+: .*two elements side by side; the loads do work on it"):
        run(tmp_path / "d.inp", text, step(load + f"{first}, 1, .3\n{second}, 2, .5\n"))
    with pytest.raises(AnalysisError, match="a mode moves no mass: elements with reduced integration"):
        run(tmp_path / "d.inp", text + "END, 1, 3\n", step("*FREQUENCY\n3\n"))
    with pytest.raises(InputError, match="the model is loose: it can move without strain"):
        run(tmp_path / "d.inp", text.replace("FIX, 1, 3", "FIX, 1, 2"), step(load))


@pytest.mark.parametrize(("size", "told"), [(1.0, True), (0.1, False)])
@pytest.mark.parametrize(
    "elastic", ["*ELASTIC, TYPE=ENGINEERING CONSTANTS\n9., 5., 2., .2, .1, .1, 2., 2.,\n2.", "*ELASTIC\n9., .2"]
)
def test_cylindrical_axes_that_turn_within_elements_are_told(tmp_path, size, told, elastic):
    """Elements have the axes of their middle: from it to a node they turn by 27 degrees, in a small element by 3."""
    nodes, elements = brick((1, 1, 1), (size, size, 1.0), origin=(1.0, -0.5 * size, 0.0))
    text = mesh_text(nodes, elements) + nset("END", at(nodes, 2, 0.0)) + f"*MATERIAL, NAME=M\n{elastic}\n"
    text += "*ORIENTATION, NAME=O, SYSTEM=CYLINDRICAL\n0., 0., 0., 0., 0., 1.\n"
    text += "*SOLID SECTION, ELSET=EALL, MATERIAL=M, ORIENTATION=O\n*BOUNDARY\nEND, 1, 3\n"
    path = tmp_path / "deck.inp"
    path.write_text(text + step("*STATIC\n*DLOAD\nEALL, P1, 1."))
    found = [note for note in convert(read_deck(path)).notes if "of their middle" in note.text]
    assert bool(found) == (told and "CONSTANTS" in elastic)
    assert all(note.effect is Effect.DIFFERS and "by up to 27 degrees" in note.text for note in found)
