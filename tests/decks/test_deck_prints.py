"""Printed forces, stresses, strains and energies against closed forms, and what CalculiX's beams do otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from deck_text import at, block, brick, mesh_text, nset, prints, run, steel, step

from fem_mbs.decks.abaqus.compare import compare_deck
from fem_mbs.decks.abaqus.results.section_forces import section_tables
from fem_mbs.decks.abaqus.run import solve_deck
from fem_mbs.decks.comparison import Row, count_decks
from fem_mbs.meshes.vocabulary import Effect


def test_forces_at_both_sides_of_an_equation(tmp_path):
    """A bar pulls another one by equations: each side shows the force that they exert on it."""
    nodes, elements = brick((1, 1, 1), (1.0, 1.0, 1.0))
    other, second = brick((1, 1, 1), (1.0, 1.0, 1.0), first=101, origin=(1.0, 0.0, 0.0), element=2)
    left, right = at(nodes, 0, 1.0), at(other, 0, 1.0)
    text = mesh_text(nodes | other, elements | second) + steel(nu=0.0) + nset("FIX", at(nodes, 0, 0.0))
    text += nset("END", at(other, 0, 2.0)) + "*BOUNDARY\nFIX, 1\nNALL, 2, 3\n*EQUATION\n"
    text += "".join(f"2\n{a}, 1, 1., {b}, 1, -1.\n" for a, b in zip(left, right, strict=True))
    _, (done,) = run(tmp_path / "d.inp", text, step("*STATIC\n*CLOAD\nEND, 1, 1.\n*NODE PRINT, NSET=NALL\nRF\n"))
    ids, forces = prints(done, "RF")
    assert forces[np.isin(ids, left), 0] == pytest.approx(np.ones(4), rel=1e-9)
    assert forces[np.isin(ids, right), 0] == pytest.approx(-np.ones(4), rel=1e-9)
    assert forces[np.isin(ids, at(other, 0, 2.0)), 0] == pytest.approx(np.ones(4), rel=1e-9)


BEAM = (
    "*NODE, NSET=NALL\n1, 0., 0., 0.\n2, .5, 0., 0.\n3, 1., 0., 0.\n*ELEMENT, TYPE={0}, ELSET=EALL\n1, 1, 2, 3\n"
    "*MATERIAL, NAME=M\n*ELASTIC\n2.1e11, .3\n*BEAM SECTION, ELSET=EALL, MATERIAL=M, SECTION=RECT\n{1}\n0., 1., 0.\n"
    "*BOUNDARY\n1, 1, 6\n"
)


def test_forces_through_a_surface(tmp_path):
    """A strained cube has the same stress everywhere: its face bears stress times area, and the moment of that."""
    E, nu = 2.1e11, 0.3
    nodes, elements = brick((1, 2, 2), (1.0, 2.0, 3.0))
    strain = 1e-5 * np.array([[1.0, 0.4, -0.2], [0.4, 0.5, 0.3], [-0.2, 0.3, -0.7]])
    stress = E / (1.0 + nu) * (strain + nu / (1.0 - 2.0 * nu) * np.trace(strain) * np.eye(3))
    held = "".join(f"{n}, {k + 1}, {k + 1}, {(strain @ x)[k]}\n" for n, x in nodes.items() for k in range(3))
    faces = "".join(f"{k}, S4\n" for k in elements)  # those at x = 1
    text = mesh_text(nodes, elements) + steel(E=E, nu=nu) + f"*SURFACE, NAME=S\n{faces}"
    load = f"*STATIC\n*BOUNDARY\n{held}*SECTION PRINT, NAME=P, SURFACE=S\nSOF, SOM, SOAREA\n"
    converted, (done,) = run(tmp_path / "d.inp", text, step(load))
    found = {t["quantity"]: t["values"][0] for t in done["prints"]}
    force = stress[:, 0] * 6.0
    centre, normal = np.array([1.0, 1.0, 1.5]), np.array([1.0, 0.0, 0.0])
    assert found["SOF"] == pytest.approx(force, rel=1e-9)
    assert found["SOM"] == pytest.approx(np.cross(centre, force), rel=1e-9)
    assert found["SOCG"] == pytest.approx([*centre, *normal], abs=1e-12)
    assert found["SOMCG"] == pytest.approx(np.zeros(3), abs=1e-6 * np.abs(force).max())
    assert found["SOAREA"][:3] == pytest.approx([6.0, force[0], np.hypot(*force[1:])], rel=1e-9)
    assert any("SOAREA of a surface" in n.text for n in converted.notes)


def test_moments_through_a_face():
    """Stresses that grow with the height bend, those along circles twist: second moments of the area."""
    x = np.array([[0.0, y, z] for y, z in ((0, 0), (2, 0), (2, 3), (0, 3), (1, 0), (2, 1.5), (1, 3), (0, 1.5))])
    x = np.vstack((x, x + [-1.0, 0.0, 0.0]))[[0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15] + [0] * 4]
    y, z = x[:, 1] - 1.0, x[:, 2] - 1.5
    stress = np.zeros((len(x), 3, 3))
    stress[:, 0, 0], stress[:, 1, 0], stress[:, 2, 0] = 5.0 * z + 7.0, -2.0 * z, 2.0 * y
    face = [("hexahedron20", "full", np.arange(20)[None], np.array([0]))]
    found = section_tables(face, x, stress)
    side = found["SOCG"][3]  # the face looks along x or against it
    assert abs(side) == pytest.approx(1.0)
    Iy, Iz = 2.0 * 3.0**3 / 12.0, 3.0 * 2.0**3 / 12.0
    assert side * found["SOF"] == pytest.approx([42.0, 0.0, 0.0], abs=1e-12)
    assert side * found["SOMCG"] == pytest.approx([2.0 * (Iy + Iz), 5.0 * Iy, 0.0], abs=1e-12)
    assert found["SOAREA"] == pytest.approx([6.0, 42.0, 0.0, 2.0 * (Iy + Iz), 5.0 * Iy], abs=1e-12)


def test_shear_of_torsion(tmp_path):
    """The shear stresses of the points of a section have the moment that twists it."""
    a, b, twist = 0.05, 0.08, 7.0
    load = step(f"*STATIC\n*CLOAD\n3, 4, {twist}\n*EL PRINT, ELSET=EALL\nS\n")
    _, (done,) = run(tmp_path / "d.inp", BEAM.format("B32R", f"{a}, {b}"), load)
    table = next(t for t in done["prints"] if t["quantity"] == "S")
    stress = np.array(table["values"])[np.array(table["points"]) % 2 == 1]  # one section of four points
    g = 1.0 / np.sqrt(3.0)
    y, z = 0.5 * a * g * np.array([-1, -1, 1, 1]), -0.5 * b * g * np.array([-1, 1, -1, 1])
    assert np.sum(y * stress[:, 4] - z * stress[:, 3]) * a * b / 4.0 == pytest.approx(twist, rel=1e-9)
    assert np.abs(stress[:, [0, 1, 2, 5]]).max() < 1e-6 * np.abs(stress).max()


def test_strain_across_plane_stress(tmp_path):
    nu, E = 0.3, 2.1e11
    text = (
        "*NODE, NSET=NALL\n1, 0., 0.\n2, 1., 0.\n3, 1., 1.\n4, 0., 1.\n*ELEMENT, TYPE=CPS4, ELSET=EALL\n1, 1, 2, 3, 4\n"
    )
    text += steel(E=E, nu=nu) + "*BOUNDARY\n1, 1, 2\n4, 1, 1\n2, 2, 2\n"
    load = step("*STATIC\n*CLOAD\n2, 1, .5e6\n3, 1, .5e6\n*EL PRINT, ELSET=EALL\nE, ENER\n")
    _, (done,) = run(tmp_path / "d.inp", text, load)
    expected = np.array([1.0, -nu, -nu, 0.0, 0.0, 0.0]) * 1e6 / E
    assert prints(done, "E")[1] == pytest.approx(np.tile(expected, (4, 1)), abs=1e-15)
    assert prints(done, "ENER")[1] == pytest.approx(np.full((4, 1), 0.5e12 / E))


@pytest.mark.parametrize("totals", ["NO", "ONLY"])
def test_trusses_of_three_nodes(tmp_path, totals):
    """Each element prints its own stress; energies of points have no sum."""
    text = (
        "*NODE, NSET=NALL\n1, 0., 0., 0.\n2, .5, 0., 0.\n3, 1., 0., 0.\n4, 0., 1., 0.\n5, .5, 1., 0.\n6, 1., 1., 0.\n"
    )
    text += "*ELEMENT, TYPE=T3D3, ELSET=EALL\n1, 1, 2, 3\n2, 4, 5, 6\n*MATERIAL, NAME=M\n*ELASTIC\n2e11, .3\n"
    text += "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n.5\n*BOUNDARY\n1, 1\n4, 1\nNALL, 2, 3\n"
    load = f"*STATIC\n*CLOAD\n3, 1, 1.\n6, 1, 2.\n*EL PRINT, ELSET=EALL, TOTALS={totals}\nS, ENER\n"
    _, (done,) = run(tmp_path / "d.inp", text, step(load))
    assert prints(done, "S")[1][:, 0] == pytest.approx([2.0, 4.0], rel=1e-9)
    assert prints(done, "ENER")[1][:, 0] == pytest.approx([2.0 / 2e11, 8.0 / 2e11], rel=1e-9)


def test_explicit_steps_have_lumped_masses(tmp_path):
    """A bar of one element: u = F/k (1 - cos(omega t)) with half of its mass at the free end (consistent: a third)."""
    nodes, elements = brick((1, 1, 1), (1.0, 1.0, 1.0))
    rho, E = 7850.0, 2.1e11
    omega = np.sqrt(E / (0.5 * rho))
    end = 0.5 * np.pi / omega
    text = mesh_text(nodes, elements) + steel(E=E, nu=0.0, rho=rho) + nset("FIX", at(nodes, 0, 0.0))
    text += nset("TIP", at(nodes, 0, 1.0)) + "*BOUNDARY\nFIX, 1\nNALL, 2, 3\n"
    motion = f"*DYNAMIC, EXPLICIT\n{end / 200}, {end}\n*CLOAD\nTIP, 1, .25\n*NODE PRINT, NSET=TIP, FREQUENCY=1000\nU\n"
    _, (done,) = run(tmp_path / "d.inp", text, step(motion))
    assert prints(done, "U")[1][0, 0] == pytest.approx(1.0 / E, rel=0.01)


@pytest.mark.parametrize(("kind", "told"), [("B32", "its B32 locks as it bends"), ("B32R", "")])
def test_what_locks_in_calculix_is_told(tmp_path, kind, told):
    """A slender element bends by a fifth of a radian."""
    E, a, b = 2.1e11, 0.03, 0.015
    moment = 0.2 * E * a * b**3 / 12.0
    text = BEAM.format(kind, f"{b}, {a}")
    converted, _ = run(tmp_path / "d.inp", text, step(f"*STATIC\n*CLOAD\n3, 6, {moment}\n", "NLGEOM"))
    found = [n for n in converted.notes if "an element bends by up to 0.2 rad" in n.text]
    assert bool(found) == bool(told)
    assert all(told in n.text and n.effect is Effect.DIFFERS for n in found)


def test_tables_at_other_times_are_not_compared(tmp_path):
    """The reference has one more increment than we have: its last one is compared."""
    path = tmp_path / "d.inp"
    path.write_text(block(), encoding="utf-8")
    _, solution = solve_deck(path)
    (table,) = solution.summary["steps"][0]["prints"]

    def rows(factor: float) -> str:
        return "".join(
            f"{i:10d} {factor * u[0]:13.6E} {factor * u[1]:13.6E} {factor * u[2]:13.6E}\n"
            for i, u in zip(table["ids"], table["values"], strict=True)
        )

    head = "\n                        S T E P       1\n\n\n"
    for time, factor in ((0.5, 9.0), (1.0, 1.0)):
        head += "                                INCREMENT     1\n\n\n"
        head += f" displacements (vx,vy,vz) for set TIP and time  {time:.7E}\n\n" + rows(factor) + "\n"
    path.with_suffix(".dat").write_text(head, encoding="utf-8")
    (row,) = compare_deck(path)
    assert row.status == "ok"
    assert row.difference < 1e-6


def test_decks_count_by_their_worst_row():
    def row(deck: str, status: str, difference: float = 0.0) -> Row:
        return Row(deck, 1, "U", 1.0, 1.0, difference, 0.1, "", status)

    rows = [row("a", "ok", 1e-5), row("b", "ok", 0.05), row("b", "ok"), row("c", "refused"), row("d", "ok", 1e-4)]
    rows += [
        row("d", "not compared", np.nan),
        row("e", "outside", 0.2),
        row("e", "ok"),
        row("f", "not compared", np.nan),
    ]
    assert count_decks(rows) == {
        "outside of a margin": 1, "refused": 1, "within an explained margin": 1, "agree": 2, "not compared": 1,
    }  # fmt: skip


@pytest.mark.parametrize("nlgeom", [True, False])
def test_a_hot_block_expands_by_its_stretch(tmp_path, nlgeom):
    """It stretches by 1 + alpha dT in every increment, large or not, without stress."""
    nodes, elements = brick((1, 1, 1), (1.0, 1.0, 1.0))
    text = mesh_text(nodes, elements) + steel().replace("*DENSITY", "*EXPANSION\n.01\n*DENSITY")
    text += nset("X", at(nodes, 0, 0.0)) + nset("Y", at(nodes, 1, 0.0)) + nset("Z", at(nodes, 2, 0.0))
    load = "*STATIC\n.25, 1.\n*TEMPERATURE\nNALL, 30.\n*NODE PRINT, NSET=NALL\nU\n*EL PRINT, ELSET=EALL\nS\n"
    steps = step(load, *(["NLGEOM"] if nlgeom else []))
    converted, (done,) = run(tmp_path / "d.inp", text, "*BOUNDARY\nX, 1\nY, 2\nZ, 3\n", steps)
    place = converted.deck.x
    tables = [t for t in done["prints"] if t["quantity"] == "U"]
    assert len(tables) == (4 if nlgeom else 1)
    for t in tables:
        assert np.array(t["values"]) == pytest.approx(0.3 * t["time"] * place, abs=1e-9)
    assert all(np.abs(t["values"]).max() < 1.0 for t in done["prints"] if t["quantity"] == "S")  # of 2e11
    told = [n for n in converted.notes if "thermal strains of STEEL reach 0.3" in n.text]
    assert [n.effect for n in told] == ([Effect.DIFFERS] if nlgeom else [])


def test_kinetic_energies(tmp_path):
    """A cube set moving by a constant force: kinetic and strain energy are the work of the force."""
    deck = block(
        "*NSET, NSET=TOP\n" + ", ".join(str(n) for n in at(brick((2, 1, 1), (2.0, 1.0, 1.0))[0], 0, 2.0)) + "\n",
        steps=step("*FREQUENCY\n1\n")
        + step(
            "*MODAL DYNAMIC\n1.E-4, 4.E-4\n*CLOAD\nTOP, 1, 1.E6\n*NODE PRINT, NSET=TOP\nU\n"
            "*EL PRINT, ELSET=EALL, TOTALS=ONLY\nELSE, ELKE\n"
        ),
    )
    _, done = run(tmp_path / "d.inp", deck)
    tables = {(p["quantity"], p["time"]): np.array(p["values"]) for p in done[1]["prints"]}
    times = sorted({t for _, t in tables})
    assert len(times) == 4
    for t in times:
        work = 1e6 * tables["U", t][:, 0].sum()
        assert tables["ELSE", t][0, 0] + tables["ELKE", t][0, 0] == pytest.approx(work, rel=1e-6)
        assert tables["ELKE", t][0, 0] > 0.0


def test_steady_vibrations_are_compared(tmp_path):
    """Of two equal tables of one frequency the second is imaginary; both are measured by the larger one."""
    path = tmp_path / "d.inp"
    path.write_text(
        "*NODE, NSET=NALL\n1, 0., 0., 0.\n2, 1., 0., 0.\n*NSET, NSET=END\n2\n*ELEMENT, TYPE=T3D2, ELSET=E\n1, 1, 2\n"
        "*ELEMENT, TYPE=MASS, ELSET=M\n2, 2\n*MASS, ELSET=M\n2.\n*ELEMENT, TYPE=DASHPOTA, ELSET=D\n3, 1, 2\n"
        "*DASHPOT, ELSET=D\n\n3.\n*MATERIAL, NAME=A\n*ELASTIC\n200., 0.\n*DENSITY\n1.E-9\n"
        "*SOLID SECTION, ELSET=E, MATERIAL=A\n1.\n*BOUNDARY\n1, 1, 3\n2, 2, 3\n"
        + step("*STEADY STATE DYNAMICS, DIRECT\n1., 2., 2\n*CLOAD\n2, 1, 5.\n*NODE PRINT, NSET=END\nU\n")
    )
    head = "\n                        S T E P       1\n\n\n"
    for f in (1.0, 2.0):
        w = 2.0 * np.pi * f
        u = 5.0 / (200.0 - 2.0 * w**2 + 3.0j * w)
        head += f"\nP A R T I C I P A T I O N   F A C T O R S   F O R   F R E Q U E N C Y    {f:.13E} (CYCLES/TIME)\n\n"
        for part in (u.real, u.imag + 5e-4 * abs(u)):
            head += f" displacements (vx,vy,vz) for set END and time  {f:.7E}\n\n"
            head += f"         2 {part:13.6E}  0.000000E+00  0.000000E+00\n\n"
    path.with_suffix(".dat").write_text(head, encoding="utf-8")
    rows = {r.quantity: r for r in compare_deck(path) if r.status != "not compared"}
    assert set(rows) == {"U", "UI"} and {r.status for r in rows.values()} == {"ok"}
    assert rows["U"].difference < 1e-6 and rows["UI"].difference == pytest.approx(5e-4, rel=0.2)


@pytest.mark.parametrize("held", [False, True])
def test_masses_beside_held_directions_are_not_compared(tmp_path, held):
    """An equation that names held directions: CalculiX's dependent direction does not move along with the whole."""
    nodes, elements = brick((1, 1, 1), (1.0, 1.0, 1.0))
    top, ref = at(nodes, 2, 1.0), at(nodes, 2, 0.0)[0]
    text = mesh_text(nodes, elements) + steel() + nset("LOW", at(nodes, 2, 0.0)) + "*BOUNDARY\nLOW, 1, 3\n"
    other = ref if held else top[1]
    path = tmp_path / "d.inp"
    path.write_text(text + f"*EQUATION\n2\n{top[0]}, 1, 1., {other}, 1, -1.\n" + step("*FREQUENCY\n2\n"))
    _, solution = solve_deck(path)
    (done,) = solution.summary["steps"]
    dat = "\n     E I G E N V A L U E   O U T P U T\n\n MODE NO    EIGENVALUE                       FREQUENCY\n\n"
    for k, f in enumerate(done["frequencies_hz"], 1):
        w = 2.0 * np.pi * f
        dat += f"      {k}   {w**2:.7E}   {w:.7E}   {f:.7E}   0.0000000E+00\n"
    row = "   1.0000000E+03" * 6 + "\n"
    dat += "\n     E F F E C T I V E   M O D A L   M A S S\n\nMODE NO.   X-COMPONENT\n\n"
    dat += "".join(f"      {k}{row}" for k in (1, 2))
    dat += "\n     T O T A L   E F F E C T I V E   M A S S\n\n           X-COMPONENT\n\n" + row
    path.with_suffix(".dat").write_text(dat, encoding="utf-8")
    rows = {r.quantity: r.status for r in compare_deck(path) if "masses" in r.quantity}
    assert rows == {"effective masses": "not compared" if held else "outside"}


#: CalculiX 2.20's frequencies of two cubes that turn about an axis, without and with Coriolis forces.
TURNING = """
     E I G E N V A L U E   O U T P U T

 MODE NO    EIGENVALUE                       FREQUENCY
                                     REAL PART            IMAGINARY PART
                           (RAD/TIME)      (CYCLES/TIME     (RAD/TIME)

      1   0.2116624E+02   0.4600678E+01   0.7322206E+00   0.0000000E+00
      2   0.2843705E+02   0.5332640E+01   0.8487161E+00   0.0000000E+00
      3   0.1217115E+03   0.1103229E+02   0.1755844E+01   0.0000000E+00
      4   0.3609340E+03   0.1899826E+02   0.3023667E+01   0.0000000E+00


     E I G E N V A L U E   O U T P U T

 MODE NO                     FREQUENCY
                      REAL PART         IMAGINARY PART
             (RAD/TIME)   (CYCLES/TIME)   (RAD/TIME)

      1   0.2843740E+01   0.4525953E+00  -0.1625577E-17
      2   0.8627286E+01   0.1373075E+01  -0.2521717E-17
"""


def test_complex_frequencies_are_compared_with_those_of_their_step(tmp_path):
    """Tables of modes have no number of a step: the first complex one is that of the first complex step."""
    nodes, elements = brick((2, 1, 1), (2.0, 1.0, 0.8))
    text = mesh_text(nodes, elements) + nset("FIX", at(nodes, 0, 0.0)) + steel(1000.0, 0.3, 2.0)
    text += "*BOUNDARY\nFIX, 1, 3\n" + step("*STATIC\n*DLOAD\nEALL, CENTRIF, 9., 0., .5, .4, 1., 0., 0.\n")
    text += step("*FREQUENCY, STORAGE=YES\n4\n", "PERTURBATION")
    text += step("*COMPLEX FREQUENCY, CORIOLIS\n2\n", "PERTURBATION")
    path = tmp_path / "d.inp"
    path.write_text(text, encoding="utf-8")
    path.with_suffix(".dat").write_text(TURNING, encoding="utf-8")
    rows = [r for r in compare_deck(path) if "frequencies" in r.quantity]
    assert [(r.quantity, r.status) for r in rows] == [
        ("frequencies (4), worst 3", "ok"),
        ("complex frequencies (2), worst 2", "ok"),
    ]
    assert max(r.difference for r in rows) < 1e-6
