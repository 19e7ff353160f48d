"""Shells of decks: strips against the closed forms of beams (nu = 0), sections, directions, loads."""

from __future__ import annotations

import numpy as np
import pytest
from deck_text import nset, numbers, prints, run, step
from scipy.integrate import solve_bvp, trapezoid

from fem_mbs.decks.abaqus.compare import compare_deck
from fem_mbs.decks.abaqus.run import convert
from fem_mbs.decks.abaqus.shells import equivalent_layers
from fem_mbs.errors import InputError
from fem_mbs.meshes.abaqus.reader import read_deck

L, B, T, E = 2.0, 0.2, 0.02, 2.0e11
EI = E * B * T**3 / 12.0
N = 20
STEEL = "*MATERIAL, NAME=M\n*ELASTIC\n2.E11, 0.\n*DENSITY\n8000.\n"
SECTION = "*SHELL SECTION, ELSET=EALL, MATERIAL=M{}\n.02, 5\n"
U = "*NODE PRINT, NSET=TIP\nU\n"


def strip(kind="S4R", section=None, more="", turned=False):
    """A strip along x of width B in the x-y plane, clamped at x = 0; turned: its normals point down."""
    nodes = {1 + 2 * i + j: (L * i / N, B * j, 0.0) for i in range(N + 1) for j in range(2)}
    quads = [(2 * i + 1, 2 * i + 3, 2 * i + 4, 2 * i + 2) for i in range(N)]
    cells = [c for a, b, c_, d in quads for c in ((a, b, c_), (a, c_, d))] if kind.startswith("S3") else quads
    cells = [c[::-1] for c in cells] if turned else cells
    lines = [f"{i}, {numbers(x)}" for i, x in nodes.items()]
    lines += [f"*ELEMENT, TYPE={kind}, ELSET=EALL"]
    lines += [f"{i}, {', '.join(map(str, c))}" for i, c in enumerate(cells, 1)]
    text = "*NODE, NSET=NALL\n" + "\n".join(lines) + "\n" + nset("FIX", [1, 2]) + nset("TIP", [2 * N + 1, 2 * N + 2])
    section = SECTION.format("") if section is None else section
    return text + more + STEEL + section + "*SURFACE, NAME=TOP\nEALL, SPOS\n*BOUNDARY\nFIX, 1, 6\n"


def quadratic_strip(kind):
    """The strip of 5 quadrilaterals of 8 nodes, or two triangles of 6 of each."""
    n = {(i, j): 1 + 3 * i + j for i in range(11) for j in range(3)}
    lines = [f"{k}, {numbers((L * i / 10, B * j / 2, 0.0))}" for (i, j), k in n.items()]
    lines += [f"*ELEMENT, TYPE={kind}, ELSET=EALL"]
    quads = ((0, 0), (2, 0), (2, 2), (0, 2), (1, 0), (2, 1), (1, 2), (0, 1))
    halves = [((0, 0), (2, 0), (2, 2), (1, 0), (2, 1), (1, 1)), ((0, 0), (2, 2), (0, 2), (1, 1), (1, 2), (0, 1))]
    cells = [[n[2 * e + i, j] for i, j in cell] for e in range(5) for cell in (halves if kind == "S6" else [quads])]
    lines += [f"{k}, {', '.join(map(str, cell))}" for k, cell in enumerate(cells, 1)]
    sets = nset("FIX", [1, 2, 3]) + nset("TIP", [31, 33]) + "*SURFACE, NAME=TOP\nEALL, SPOS\n"
    return "*NODE, NSET=NALL\n" + "\n".join(lines) + "\n" + sets + STEEL + SECTION.format("") + "*BOUNDARY\nFIX, 1, 6\n"


@pytest.mark.parametrize("kind", ["S8R", "S8", "S6"])
def test_shells_with_nodes_on_their_sides(tmp_path, kind):
    """Bending by forces, by a pressure and by the weight; the mass."""
    text = quadratic_strip(kind)
    prints_ = U + "*EL PRINT, ELSET=EALL, TOTALS=ONLY\nEMAS\n"
    loads = ("*CLOAD\nTIP, 3, 5.", "*DSLOAD, OP=NEW\nTOP, P, -100.", "*DLOAD, OP=NEW\nEALL, GRAV, 10., 0., 0., 1.")
    exact = (10.0 * L**3 / (3.0 * EI), 100.0 * B * L**4 / (8.0 * EI), 10.0 * 8000.0 * T * B * L**4 / (8.0 * EI))
    for load, displacement in zip(loads, exact, strict=True):
        _, (done,) = run(tmp_path / "d.inp", text, step(f"*STATIC\n{load}\n{prints_}"))
        assert prints(done, "U")[1][:, 2] == pytest.approx(displacement, rel=4e-3)
        assert prints(done, "EMAS", total=True)[1][0, 0] == pytest.approx(8000.0 * L * B * T)


@pytest.mark.parametrize("kind", ["S4R", "S4", "S3", "S3R"])
def test_bending_by_forces(tmp_path, kind):
    _, (done,) = run(tmp_path / "d.inp", strip(kind), step("*STATIC\n*CLOAD\nTIP, 3, 5.\n" + U))
    assert prints(done, "U")[1][:, 2] == pytest.approx(10.0 * L**3 / (3.0 * EI), rel=2e-3)


@pytest.mark.parametrize("kind", ["M3D4", "M3D4R", "M3D3"])
def test_membranes(tmp_path, kind):
    """A strip of membranes pulled and weighed in its plane, F L/(E A) + rho g L^2/(2 E); no node turns."""
    text = strip(kind if kind != "M3D3" else "S3", "*MEMBRANE SECTION, ELSET=EALL, MATERIAL=M\n.02\n")
    text = text.replace("TYPE=S3", "TYPE=M3D3").replace("FIX, 1, 6", "FIX, 1, 3\nNALL, 3, 3")
    loads = "*CLOAD\nTIP, 1, 5.E3\n*DLOAD\nEALL, GRAV, 10., 1., 0., 0.\n"
    _, (done,) = run(tmp_path / "d.inp", text, step("*STATIC\n" + loads + U))
    exact = 1e4 * L / (E * B * T) + 8000.0 * 10.0 * L**2 / (2.0 * E)
    assert prints(done, "U")[1][:, 0] == pytest.approx(exact, rel=1e-3)
    conv = convert(read_deck(tmp_path / "d.inp"))
    assert not conv.model.building.rotational


def test_membranes_need_their_section(tmp_path):
    (tmp_path / "d.inp").write_text(strip("M3D4") + step("*STATIC\n"))
    with pytest.raises(InputError, match="SHELL SECTION: element 1 of the set EALL is of type M3D4"):
        convert(read_deck(tmp_path / "d.inp"))


@pytest.mark.parametrize("kind", ["S4", "M3D4"])
def test_turning_strips(tmp_path, kind):
    """CENTRIF about the clamped end stretches a strip by rho w^2 L^3/(3 E)."""
    section = None if kind == "S4" else "*MEMBRANE SECTION, ELSET=EALL, MATERIAL=M\n.02\n"
    text = strip(kind, section).replace(
        "FIX, 1, 6", "FIX, 1, 6\nNALL, 3, 3" if kind == "S4" else "FIX, 1, 3\nNALL, 3, 3"
    )
    load = "*DLOAD\nEALL, CENTRIF, 1.E4, 0., .1, 0., 0., 0., 1.\n"
    _, (done,) = run(tmp_path / "d.inp", text, step("*STATIC\n" + load + U))
    assert prints(done, "U")[1][:, 0] == pytest.approx(8000.0 * 1e4 * L**3 / (3.0 * E), rel=3e-3)


LOADS = {
    "P": ("*DLOAD\nEALL, P, 100.", 100.0 * B, 1.0),
    "P on SPOS": ("*DSLOAD\nTOP, P, 100.", 100.0 * B, -1.0),
    "TRVEC": ("*DSLOAD\nTOP, TRVEC, 100., 0., 0., -1.", -100.0 * B, 0.0),
    "gravity": ("*DLOAD\nEALL, GRAV, 10., 0., 0., -1.", -10.0 * 8000.0 * T * B, 0.0),
    "BZ": ("*DLOAD\nEALL, BZ, 1000.", 1000.0 * T * B, 0.0),
}


@pytest.mark.parametrize("case", LOADS)
@pytest.mark.parametrize("turned", [False, True])
def test_distributed_loads(tmp_path, case, turned):
    """q L^4/(8 E I); P acts along the normal, pressure on a surface against that of the face, wherever it points."""
    load, q, along = LOADS[case]
    _, (done,) = run(tmp_path / "d.inp", strip(turned=turned), step(f"*STATIC\n{load}\n{U}*NODE PRINT, NSET=FIX\nRF\n"))
    q *= along * (-1.0 if turned else 1.0) if along else 1.0
    assert prints(done, "U")[1][:, 2] == pytest.approx(q * L**4 / (8.0 * EI), rel=3e-3)


def test_frequencies_and_masses(tmp_path):
    frequency = "*FREQUENCY\n4\n"
    _, done = run(
        tmp_path / "d.inp", strip(more="*BOUNDARY\nNALL, 2, 2\n"),
        step("*STATIC\n*CLOAD\nTIP, 3, 1.\n*EL PRINT, ELSET=EALL, TOTALS=ONLY\nEMAS, EVOL\n"), step(frequency),
    )  # fmt: skip
    assert prints(done[0], "EMAS", total=True)[1][0, 0] == pytest.approx(8000.0 * L * B * T)
    assert prints(done[0], "EVOL", total=True)[1][0, 0] == pytest.approx(L * B * T)
    first = 1.8751041**2 * np.sqrt(EI / (8000.0 * B * T)) / (2.0 * np.pi * L**2)
    assert done[1]["frequencies_hz"][0] == pytest.approx(first, rel=3e-3)


@pytest.mark.parametrize(("offset", "side"), [("SPOS", 1.0), ("SNEG", -1.0), ("0.25", 0.5)])
def test_offset(tmp_path, offset, side):
    """Nodes at the positive face (SPOS) lie T/2 above the middle: a pull there bends the strip down, M = F T/2."""
    section = SECTION.format(f", OFFSET={offset}")
    _, (done,) = run(tmp_path / "d.inp", strip(section=section), step("*STATIC\n*CLOAD\nTIP, 1, 5.E3\n" + U))
    moment = side * 1.0e4 * T / 2.0
    assert prints(done, "U")[1][:, 2] == pytest.approx(-moment * L**2 / (2.0 * EI), rel=2e-3)


def test_layers(tmp_path):
    """Two layers of 200 and 100 GPa: the bending stiffness about their neutral axis."""
    soft = "*MATERIAL, NAME=S\n*ELASTIC, TYPE=LAMINA\n1.E11, 1.E9, .2, 5.E9, 5.E9, 5.E9\n"
    section = "*SHELL SECTION, ELSET=EALL, COMPOSITE\n.005, 3, S, 0.\n.015, 3, M, 0.\n"
    _, (done,) = run(tmp_path / "d.inp", strip(section=soft + section), step("*STATIC\n*CLOAD\nTIP, 3, 5.\n" + U))
    E_, t, z = np.array([1e11, 2e11]), np.array([0.005, 0.015]), np.array([0.0025, 0.0125])
    axis = (E_ * t * z).sum() / (E_ * t).sum()
    stiffness = B * (E_ * (t**3 / 12.0 + t * (z - axis) ** 2)).sum()
    assert prints(done, "U")[1][:, 2] == pytest.approx(10.0 * L**3 / (3.0 * stiffness), rel=5e-3)


@pytest.mark.parametrize(
    ("lines", "along"),
    [
        ("0., 1., 0., -1., 0., 0.\n3, 0.\n", 1e9), ("1., 0., 0., 0., 1., 0.\n3, 90.\n", 1e9),
        ("0., 0., 1., 1., 0., 0.\n1, 0.\n", 1e11), ("0., 1., 0., 0., 0., 1.\n2, 0.\n", 1e11),
    ],
)  # fmt: skip
def test_material_directions(tmp_path, lines, along):
    """The axis after the normal one is the first of the material: E1 along x, or E2."""
    wood = "*MATERIAL, NAME=W\n*ELASTIC, TYPE=LAMINA\n1.E11, 1.E9, 0., 5.E9, 5.E9, 5.E9\n"
    own = f"*ORIENTATION, NAME=O\n{lines}*SHELL SECTION, ELSET=EALL, MATERIAL=W, ORIENTATION=O\n.02\n"
    # without rotations about the normal forces at the corners are those of a constant stress
    text = strip(section=wood + own, more="*BOUNDARY\nNALL, 6, 6\n")
    _, (done,) = run(tmp_path / "d.inp", text, step("*STATIC\n*CLOAD\nTIP, 1, 5.\n" + U))
    assert prints(done, "U")[1][:, 0] == pytest.approx(10.0 * L / (along * B * T), rel=1e-6)


def test_the_angle_of_an_orientation_is_about_its_axis(tmp_path):
    """Its third axis is -z, so that 25 degrees are -25 about the normal; CalculiX 2.20's solids bend .1 % more."""
    places = [(i, j) for j in range(5) for i in range(9) if not (i % 2 and j % 2)]
    number = {p: k for k, p in enumerate(places, 1)}
    text = "*NODE\n" + "".join(f"{k}, {i / 2}, {j / 2}, 0.\n" for (i, j), k in number.items())
    text += "*ELEMENT, TYPE=S8R, ELSET=E\n"
    ring = ((0, 0), (2, 0), (2, 2), (0, 2), (1, 0), (2, 1), (1, 2), (0, 1))
    for k, (a, b) in enumerate(((a, b) for b in (0, 2) for a in (0, 2, 4, 6)), 1):
        text += f"{k}, " + ", ".join(str(number[a + i, b + j]) for i, j in ring) + "\n"
    text += nset("FIX", [number[0, j] for j in range(5)]) + nset("TIPS", [number[8, 0], number[8, 4]])
    text += "*MATERIAL, NAME=P\n*ELASTIC, TYPE=ENGINEERING CONSTANTS\n1000., 100., 100., .3, .3, .3, 50., 50.,\n40.\n"
    text += "*ORIENTATION, NAME=O\n1., 0., 0., 0., -1., 0.\n3, 25.\n"
    text += "*SHELL SECTION, ELSET=E, MATERIAL=P, ORIENTATION=O\n.1\n*BOUNDARY\nFIX, 1, 6\n"
    _, (done,) = run(tmp_path / "d.inp", text, step("*STATIC\n*CLOAD\nTIPS, 3, .0001\n*NODE PRINT, NSET=TIPS\nU\n"))
    np.testing.assert_allclose(prints(done, "U")[1][:, 2], [4.778675e-02, 8.323576e-02], rtol=5e-3)


def test_what_calculix_takes_otherwise_is_told(tmp_path):
    axes = "*ORIENTATION, NAME=O\n0., 0., 1., 1., 0., 0.\n1, 0.\n"
    for section, told in (
        (axes + SECTION.format(", ORIENTATION=O"), "axis 1 of the orientation O is the normal"),
        (SECTION.format(", OFFSET=SPOS"), "act on the surface of the nodes"),
    ):
        converted, _ = run(tmp_path / "d.inp", strip(section=section), step("*STATIC\n*CLOAD\nTIP, 1, 5.E3\n" + U))
        assert [told in n.text for n in converted.notes if n.effect.name == "DIFFERS"] == [True]


def test_pressure_follows(tmp_path):
    """Bent far by a pressure that follows, a strip is an elastica: a clamped rod under a normal load per length."""
    q = 5.0e4 * B
    more = "*BOUNDARY\nNALL, 2, 2\n"
    _, (done,) = run(
        tmp_path / "d.inp", strip(more=more), step(f"*STATIC\n.1, 1.\n*DLOAD\nEALL, P, {q / B}\n{U}", "NLGEOM")
    )
    tip = np.array(done["prints"][-1]["values"]).mean(axis=0)

    def rate(s, y):  # place, angle, moment, normal and shear force along the rod
        _, _, a, M, F, V = y
        return np.array([np.cos(a), np.sin(a), M / EI, -V, V * M / EI, -q - F * M / EI])

    found = solve_bvp(
        rate, lambda a, b: np.array([a[0], a[1], a[2], b[3], b[4], b[5]]), np.linspace(0.0, L, 41), np.zeros((6, 41)),
    )  # fmt: skip
    assert found.success
    assert found.y[1, -1] > 0.3 * L
    assert tip[[0, 2]] == pytest.approx(found.y[:2, -1] - np.array([L, 0.0]), rel=1e-2)


REFUSED = {
    "S4RSW": ("TYPE=S4R", "TYPE=S4RSW", "S4RSW"),
    "no second line": ("MATERIAL=M\n", "MATERIAL=M, ORIENTATION=O\n", "does not say which of its axes is the normal"),
    "a normal axis": ("MATERIAL=M\n", "MATERIAL=M, ORIENTATION=P\n", "is normal to shell 1"),
    "a side": ("TOP, P", "BOTH, P", "face S1 of S4R in a surface of shells"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(tmp_path, case):
    old, new, message = REFUSED[case]
    axes = "*ORIENTATION, NAME=O\n1., 0., 0., 0., 1., 0.\n*ORIENTATION, NAME=P\n0., 0., 1., 0., 1., 0.\n3, 0.\n"
    both = "*SURFACE, NAME=BOTH\nEALL, S1\n"
    text = axes + strip() + both + step("*STATIC\n*CLOAD\nTIP, 3, 5.\n*DSLOAD\nTOP, P, 1.\n")
    assert old in text
    (tmp_path / "d.inp").write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=r"d\.inp, line [0-9]+.*" + message):
        convert(read_deck(tmp_path / "d.inp"))


# ---- thicknesses at the nodes ----------------------------------------------------------------------------------------
def test_nodal_thickness(tmp_path):
    """A strip from 20 to 30 mm under a force at its tip: int F (L - x)^2/EI(x) dx; its mass; nodes without one."""

    def height(x):
        return 0.02 + 0.005 * x

    nodes = {1 + 2 * i + j: L * i / N for i in range(1, N + 1) for j in range(2)}
    given = "*NODAL THICKNESS\n" + "".join(f"{n}, {height(x)}\n" for n, x in nodes.items())
    section = "*SHELL SECTION, ELSET=EALL, MATERIAL=M, NODAL THICKNESS\n.02\n"
    load = step("*STATIC\n*CLOAD\nTIP, 3, 5.\n" + U + "*EL PRINT, ELSET=EALL, TOTALS=ONLY\nEMAS\n")
    _, (done,) = run(tmp_path / "d.inp", strip(section=section), given, load)
    x = np.linspace(0.0, L, 2001)
    bent = trapezoid(10.0 * (L - x) ** 2 / (E * B * height(x) ** 3 / 12.0), x)
    assert prints(done, "U")[1][:, 2] == pytest.approx(bent, rel=4e-3)
    assert prints(done, "EMAS", total=True)[1][0, 0] == pytest.approx(8000.0 * B * L * 0.025)
    for more, message in ((", OFFSET=.5", "NODAL THICKNESS with OFFSET"), ("", "no positive thickness")):
        text = strip(section=section.replace("NODAL THICKNESS", "NODAL THICKNESS" + more))
        with pytest.raises(InputError, match=message):
            run(tmp_path / "e.inp", text, given if more else given + "1, 0.\n", load)
    steep = given.replace("\n41, 0.03\n", "\n41, 0.09\n")
    notes = convert(read_deck(write(tmp_path / "f.inp", strip(section=section) + steep + load))).notes
    assert any("its stiffness goes with the cube" in str(n) for n in notes)


def write(path, text):
    path.write_text(text)
    return path


# ---- temperatures ----------------------------------------------------------------------------------------------------
HOT = "*EXPANSION\n1.E-5\n*DENSITY"


@pytest.mark.parametrize(
    "section", [None, "*SHELL SECTION, ELSET=EALL, COMPOSITE\n.005, , M\n.015, , M\n"], ids=["one layer", "two layers"]
)
def test_warm_shells(tmp_path, section):
    """A strip grows by alpha dT L; held at both ends, by nothing, with the force E A alpha dT."""
    text = strip(section=section).replace("*DENSITY", HOT)
    warm = "*STATIC\n*TEMPERATURE\nNALL, 50.\n*NODE PRINT, NSET=TIP\nU\n*NODE PRINT, NSET=FIX, TOTALS=ONLY\nRF\n"
    start = "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n"
    _, (done,) = run(tmp_path / "d.inp", text, start, step(warm))
    assert prints(done, "U")[1][:, 0] == pytest.approx(1e-5 * 30.0 * L, rel=1e-3)  # the clamped end cannot widen
    held = "*BOUNDARY\nTIP, 1, 1\n"
    _, (done,) = run(tmp_path / "e.inp", text, held, start, step(warm))
    assert prints(done, "RF", total=True)[1][0, 0] == pytest.approx(E * B * T * 1e-5 * 30.0, rel=1e-3)


def test_layers_that_bend_as_they_warm(tmp_path):
    """Timoshenko's strip of two metals: layers of one stiffness and thickness bend by 3 (a2 - a1) dT/(2 h)."""
    section = "*SHELL SECTION, ELSET=EALL, COMPOSITE\n.01, , M\n.01, , N\n"
    other = "*MATERIAL, NAME=N\n*ELASTIC\n2.E11, 0.\n*EXPANSION\n3.E-5\n"
    text = other + strip(section=section).replace("*DENSITY", HOT)
    _, (done,) = run(tmp_path / "d.inp", text, step("*STATIC\n*TEMPERATURE\nNALL, 10.\n" + U))
    bent = 3.0 * 2e-5 * 10.0 / (2.0 * T)
    assert prints(done, "U")[1][:, 2] == pytest.approx(-bent * L**2 / 2.0, rel=5e-3)


@pytest.mark.parametrize("quadratic", [False, True], ids=["S4", "S8R"])
def test_gradients_of_temperature_bend_shells(tmp_path, quadratic):
    """A strip, hotter on the side of the normal by g per length, bends down like a circle of the curvature alpha g."""
    text = (quadratic_strip("S8R") if quadratic else strip()).replace("*DENSITY", HOT)
    _, (done,) = run(tmp_path / "d.inp", text, step("*STATIC\n*TEMPERATURE\nNALL, 0., 200.\n" + U))
    assert prints(done, "U")[1][:, 2] == pytest.approx(-1e-5 * 200.0 * L**2 / 2.0, rel=5e-3)


def test_temperatures_of_perturbations(tmp_path):
    text, warm = strip().replace("*DENSITY", HOT), "*TEMPERATURE\nNALL, 50.\n"
    pushed = step("*STATIC\n*CLOAD\nTIP, 1, 1.\n" + warm, "PERTURBATION")
    for load in (pushed, step("*BUCKLE\n1\n*CLOAD\nTIP, 1, -1.\n" + warm)):
        with pytest.raises(InputError, match="temperatures of a step"):
            run(tmp_path / "d.inp", text, load)


@pytest.mark.parametrize(("kind", "status"), [("S8", "not compared"), ("S8R", "outside")])
def test_shells_that_lock_are_not_compared(tmp_path, kind, status):
    """CalculiX's S8 with 3 x 3 x 3 points is no measure of thin shells; a wrong S8R is."""
    path = write(tmp_path / "d.inp", quadratic_strip(kind) + step("*STATIC\n*CLOAD\nTIP, 3, 5.\n" + U))
    head = "\n                        S T E P       1\n\n\n                                INCREMENT     1\n\n\n"
    head += " displacements (vx,vy,vz) for set TIP and time  1.0000000E+00\n\n"
    head += "".join(f"{n:10d}  0.000000E+00  0.000000E+00  1.000000E-02\n" for n in (31, 33))
    path.with_suffix(".dat").write_text(head)
    (row,) = (r for r in compare_deck(path) if r.quantity == "U")
    assert row.status == status and row.difference > 0.5


def test_layers_that_have_a_stiffness():
    """Integrals over three layers of equal and unequal stiffness above and below are the forces and moments."""
    A = np.array([[8.0, 2.0, 0.5], [2.0, 9.0, 0.2], [0.5, 0.2, 3.0]])
    D = np.array([[5.0, 1.0, 0.1], [1.0, 2.0, 0.3], [0.1, 0.3, 0.9]])
    for B in (np.zeros((3, 3)), 0.2 * np.diag((1.0, -1.0, 0.5))):
        core, whole, (low, middle, high) = equivalent_layers(np.block([[A, B], [B, D]]))
        levels = np.array((-whole, -core, core, whole)) / 2.0
        parts = [(levels[1:] ** n - levels[:-1] ** n) / n for n in (1, 2, 3)]
        for n, wanted in zip(parts, (A, B, D), strict=True):
            assert np.allclose(n[0] * low + n[1] * middle + n[2] * high, wanted, atol=1e-12)
        assert min(np.linalg.eigvalsh(layer)[0] for layer in (low, middle, high)) > 0.0
    with pytest.raises(ValueError, match="coupling"):
        equivalent_layers(np.block([[A, 5.0 * np.eye(3)], [5.0 * np.eye(3), D]]))


@pytest.mark.parametrize("across", [True, False])
def test_stiffness_of_a_section_and_loads_on_edges(tmp_path, across):
    """A strip bends and shears by its own stiffness, and is pressed by EDNOR; without a shear stiffness that of
    Abaqus's estimate acts, (D11 + D22)/6 + D33/3."""
    A, D, K = (8e6, 6e6, 3e6), (700.0, 500.0, 250.0), 4e3
    given = "*TRANSVERSE SHEAR\n" + f"{K}, {K}, 0.\n" if across else ""
    K = K if across else (A[0] + A[1]) / 6.0 + A[2] / 3.0
    deck = (
        "*NODE\n1, 0., 0., 0.\n11, 1., 0., 0.\n21, 0., .2, 0.\n31, 1., .2, 0.\n*NGEN, NSET=LOW\n1, 11\n"
        "*NGEN, NSET=HIGH\n21, 31\n*ELEMENT, TYPE=S4R\n1, 1, 2, 22, 21\n*ELGEN, ELSET=E\n1, 10\n"
        f"*SURFACE, NAME=END\n10, E2\n*SHELL GENERAL SECTION, ELSET=E\n{A[0]}, 0., {A[1]}, 0., 0., {A[2]}, 0., 0.\n"
        f"0., {D[0]}, 0., 0., 0., 0., {D[1]}, 0.\n0., 0., 0., 0., {D[2]}\n{given}*BOUNDARY\n1, 1, 6\n21, 1, 6\n"
        "*STEP\n*STATIC\n*DSLOAD\nEND, EDNOR, 800.\nEND, EDLD, 5., 0., 0., 2.\n*NODE PRINT, NSET=LOW\nU\n*END STEP\n"
    )
    _, (done,) = run(tmp_path / "strip.inp", deck)
    u = prints(done, "U")[1][-1]
    assert u[0] == pytest.approx(-800.0 / A[0], rel=1e-9)
    assert u[2] == pytest.approx(5.0 / (3.0 * D[0]) + 5.0 / K, rel=3e-3)
