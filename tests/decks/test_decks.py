"""Decks through to results: closed forms, independent models, what must not depend on how a deck says it."""

from __future__ import annotations

import numpy as np
import pytest
from deck_text import at, brick, mesh_text, nset, numbers, prints, run, steel, step
from places import DECKS, SHARED_DECKS
from scipy.spatial.transform import Rotation

from fem_mbs.decks.abaqus.compare import compare_deck
from fem_mbs.decks.abaqus.run import convert
from fem_mbs.meshes.abaqus.reader import read_deck
from fem_mbs.meshes.vocabulary import Effect

PRINT = "*NODE PRINT, NSET=NALL\nU, RF\n"


def cantilever(n, size, kind, rotation=None):
    """Text of a mesh held at x = 0, and its nodes."""
    nodes, elements = brick(n, size, kind, rotation)
    fixed, tip = at(nodes, 0, 0.0, rotation), at(nodes, 0, size[0], rotation)
    text = mesh_text(nodes, elements, kind) + nset("FIX", fixed) + nset("TIP", tip) + "*BOUNDARY\nFIX, 1, 3\n"
    return text, nodes, tip


# ---- closed forms ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["C3D8", "C3D8I", "C3D20", "C3D20R"])
def test_bar_under_its_weight(tmp_path, kind):
    """nu = 0: u(z) = rho g (L z - z^2/2)/E at the nodes, exactly; the support bears the weight."""
    nodes, elements = brick((2, 2, 4), (0.1, 0.1, 2.0), kind)
    text = mesh_text(nodes, elements, kind) + nset("FIX", at(nodes, 2, 0.0)) + steel(nu=0.0)
    load = step(
        f"*STATIC\n*DLOAD\nEALL, GRAV, 9.81, 0., 0., 1.\n{PRINT}*NODE PRINT, NSET=FIX, TOTALS=ONLY\nRF\n"
        "*EL PRINT, ELSET=EALL, TOTALS=YES\nS, ELSE, EVOL, EMAS\n"
    )
    _, (done,) = run(tmp_path / "d.inp", text, "*BOUNDARY\nFIX, 1, 3\n", load)
    ids, u = prints(done, "U")
    z = np.array([nodes[i][2] for i in ids])
    exact = 7850.0 * 9.81 / 2.1e11 * (2.0 * z - 0.5 * z**2)
    assert np.abs(u[:, 2] - exact).max() < 1e-9 * exact.max()
    weight = 7850.0 * 9.81 * 0.02
    # external forces are reactions and loads: together they are nothing, the loads alone the weight
    _, forces = prints(done, "RF", set="NALL")
    assert np.abs(forces.sum(axis=0)).max() < 1e-9 * weight
    _, total = prints(done, "RF", total=True)
    assert total[0] == pytest.approx(forces[z == 0.0].sum(axis=0), abs=1e-9 * weight)
    share = weight / (8.0 if kind.startswith("C3D8") else 24.0)
    assert total[0, 2] == pytest.approx(share - weight, rel=1e-9)
    _, volume = prints(done, "EVOL", total=True)
    _, mass = prints(done, "EMAS", total=True)
    assert (volume[0, 0], mass[0, 0]) == pytest.approx((0.02, 157.0))
    _, centre = prints(done, "COG")
    assert centre[0] == pytest.approx([0.05, 0.05, 1.0])
    if kind != "C3D8" and kind != "C3D8I":
        _, energy = prints(done, "ELSE", total=True)
        assert energy[0, 0] == pytest.approx((7850.0 * 9.81) ** 2 * 0.01 * 8.0 / 3.0 / (2.0 * 2.1e11), rel=1e-3)


@pytest.mark.parametrize(
    "load", ["*DLOAD\nEND, P2, -1.E6", "*DSLOAD\nTOP, P, -1.E6", "*DSLOAD\nTOP, TRVEC, 1.E6, 0., 0., 2."]
)
def test_pressure_on_faces(tmp_path, load):
    nodes, elements = brick((2, 2, 3), (0.2, 0.2, 0.6))
    last = [e for e in elements if e > 8]
    text = mesh_text(nodes, elements) + "*ELSET, ELSET=END\n" + ", ".join(map(str, last)) + "\n"
    text += "*SURFACE, NAME=TOP\nEND, S2\n" + steel(nu=0.0) + nset("FIX", at(nodes, 2, 0.0))
    _, (done,) = run(
        tmp_path / "d.inp", text, "*BOUNDARY\nFIX, 1, 3\n",
        step(f"*STATIC\n{load}\n*EL PRINT, ELSET=EALL\nS, E, ENER\n"),
    )  # fmt: skip
    _, stress = prints(done, "S")
    expected = np.zeros_like(stress)
    expected[:, 2] = 1e6
    assert np.abs(stress - expected).max() < 1e-3
    assert prints(done, "E")[1][:, 2] == pytest.approx(1e6 / 2.1e11)
    assert prints(done, "ENER")[1] == pytest.approx(0.5 * 1e12 / 2.1e11)


def test_short_column_buckles(tmp_path):
    """Euler's cantilever; shear and the short length take less than a percent."""
    nodes, elements = brick((24, 1, 1), (2.0, 0.1, 0.08), "C3D8I")
    tip = at(nodes, 0, 2.0)
    text = mesh_text(nodes, elements, "C3D8I") + nset("FIX", at(nodes, 0, 0.0)) + nset("TIP", tip) + steel(nu=0.0)
    buckle = step("*BUCKLE\n2\n*CLOAD\nTIP, 1, -0.25\n")
    _, (done,) = run(tmp_path / "d.inp", text, "*BOUNDARY\nFIX, 1, 3\n", buckle)
    euler = [np.pi**2 * 2.1e11 * I / (4.0 * 4.0) for I in (0.1 * 0.08**3 / 12, 0.08 * 0.1**3 / 12)]
    assert done["load_factors"] == pytest.approx(euler, rel=1e-2)


def beam_deck(n, rows, length=3.0, section="SECTION=RECT\n0.02, 0.05\n0., 1., 0.\n"):
    nodes = [f"{i + 1}, {length * i / n:.17g}, 0., 0.\n" for i in range(n + 1)]
    elements = [f"{i + 1}, {i + 1}, {i + 2}\n" for i in range(n)]
    return (
        "*NODE, NSET=NALL\n" + "".join(nodes) + "*ELEMENT, TYPE=B31, ELSET=EALL\n" + "".join(elements)
        + "*MATERIAL, NAME=M\n*ELASTIC\n2.1E11, 0.3\n*DENSITY\n7850.\n*BEAM SECTION, ELSET=EALL, MATERIAL=M, "
        + section + rows
    )  # fmt: skip


def test_prestressed_beam(tmp_path):
    """A beam on two supports under a tension P: omega_k^2 = omega_k0^2 (1 + P/(k^2 P_euler))."""
    ends = "*BOUNDARY\n1, 1, 4\n21, 2, 3\nNALL, 2, 2\n"  # bends in the x-z plane, about direction 1
    P = 2.0e4
    text = beam_deck(20, ends)
    modes = "*FREQUENCY\n3\n"
    _, free = run(tmp_path / "a.inp", text, step(modes))
    _, both = run(
        tmp_path / "b.inp", text, step(f"*STATIC\n*CLOAD\n21, 1, {P}\n"), step(modes, "PERTURBATION"), step(modes)
    )  # fmt: skip
    I = 0.02 * 0.05**3 / 12
    euler = np.pi**2 * 2.1e11 * I / 9.0
    f0 = np.array(free[0]["frequencies_hz"])
    assert f0[:3] == pytest.approx(
        [k**2 * np.pi / 2 / 9 * np.sqrt(2.1e11 * I / (7850 * 1e-3)) for k in (1, 2, 3)], rel=5e-3
    )
    k = np.arange(1, 4)
    assert np.array(both[1]["frequencies_hz"]) == pytest.approx(f0 * np.sqrt(1 + P / (k**2 * euler)), rel=2e-3)
    # without PERTURBATION nothing of the load is left
    assert np.array(both[2]["frequencies_hz"]) == pytest.approx(f0, rel=1e-12)


def test_beam_sections_and_directions(tmp_path):
    """A cantilever bends with the moment of inertia that its direction 1 asks for; a box and an I stand upright."""
    tip = "*BOUNDARY\n1, 1, 6\n"
    load = step("*STATIC\n*CLOAD\n11, 2, 100.\n11, 3, 100.\n*NODE PRINT, NSET=NALL\nU\n")
    box = (0.02 * 0.05**3 - 0.016 * 0.044**3) / 12, (0.05 * 0.02**3 - 0.044 * 0.016**3) / 12
    web = (0.05 * 0.1**3 - 0.044 * 0.09**3) / 12, (0.01 * 0.05**3 + 0.09 * 0.006**3) / 12
    cases = {  # section with direction 1 along y: second moments for deflections along z (2) and y (1)
        "SECTION=RECT\n0.02, 0.05\n0., 1., 0.\n": (0.02 * 0.05**3 / 12, 0.05 * 0.02**3 / 12),
        "SECTION=RECT\n0.05, 0.02\n0., 0., 1.\n": (0.02 * 0.05**3 / 12, 0.05 * 0.02**3 / 12),
        "SECTION=BOX\n0.02, 0.05, 0.002, 0.003, 0.002, 0.003\n0., 1., 0.\n": box,
        "SECTION=I\n0.05, 0.1, 0.05, 0.05, 0.005, 0.005, 0.006\n0., 1., 0.\n": web,
    }
    for i, (section, (I2, I1)) in enumerate(cases.items()):
        _, (done,) = run(tmp_path / f"{i}.inp", beam_deck(10, tip, section=section), load)
        u = prints(done, "U")[1][-1]
        assert u[2] == pytest.approx(100 * 27 / (3 * 2.1e11 * I2), rel=6e-3), section
        assert u[1] == pytest.approx(100 * 27 / (3 * 2.1e11 * I1), rel=6e-3), section


def test_three_node_beams_are_two(tmp_path):
    """B32 and B31 between the same nodes are the same structure; gravity acts on its line."""
    rows = "*BOUNDARY\n1, 1, 6\n"
    load = step("*STATIC\n*DLOAD\nEALL, GRAV, 10., 0., 0., -1.\n*NODE PRINT, NSET=NALL\nU, RF\n")
    text = beam_deck(4, rows)
    three = text.replace("TYPE=B31", "TYPE=B32").replace(
        "1, 1, 2\n2, 2, 3\n3, 3, 4\n4, 4, 5\n", "1, 1, 2, 3\n2, 3, 4, 5\n"
    )  # fmt: skip
    _, (a,) = run(tmp_path / "a.inp", text, load)
    converted, (b,) = run(tmp_path / "b.inp", three, load)
    assert len(converted.conversion.groups[0].lines) == 4
    assert np.abs(prints(a, "U")[1] - prints(b, "U")[1]).max() < 1e-14
    tip = prints(a, "U")[1][-1, 2]
    assert tip == pytest.approx(-7850 * 1e-3 * 10 * 81 / (8 * 2.1e11 * 0.02 * 0.05**3 / 12), rel=1e-3)


def test_heated_block(tmp_path):
    """Free, it expands by alpha dT; held, it has the stress -E alpha dT/(1 - 2 nu)."""
    nodes, elements = brick((2, 2, 2), (1.0, 1.0, 1.0), "C3D20")
    text = mesh_text(nodes, elements, "C3D20")
    material = steel().replace("*DENSITY", "*EXPANSION\n1.2E-5\n*DENSITY")
    symmetric = "".join(nset(n, at(nodes, k, 0.0)) + nset(n + n, at(nodes, k, 1.0)) for k, n in enumerate("XYZ"))
    rows = "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n"
    heat = step("*STATIC\n*TEMPERATURE\nNALL, 120.\n*NODE PRINT, NSET=NALL\nU\n*EL PRINT, ELSET=EALL\nS\n")
    free = "*BOUNDARY\nX, 1\nY, 2\nZ, 3\n"
    _, (done,) = run(tmp_path / "a.inp", text, symmetric, material, rows, free, heat)
    ids, u = prints(done, "U")
    assert np.abs(u - 1.2e-3 * np.array([nodes[i] for i in ids])).max() < 1e-15
    assert np.abs(prints(done, "S")[1]).max() < 1e-3
    _, (held,) = run(tmp_path / "b.inp", text, symmetric, material, rows, free, "XX, 1\nYY, 2\nZZ, 3\n", heat)
    assert prints(held, "S")[1][:, :3] == pytest.approx(-2.1e11 * 1.2e-3 / 0.4)


def test_springs_and_masses(tmp_path):
    """Springs to ground and between nodes, along and across, with a mass: three frequencies."""
    text = (
        "*NODE, NSET=NALL\n1, 0., 0., 0.\n2, 1., 0., 0.\n*ELEMENT, TYPE=SPRINGA, ELSET=A\n1, 1, 2\n"
        "*ELEMENT, TYPE=SPRING1, ELSET=G\n2, 2\n*ELEMENT, TYPE=SPRING2, ELSET=B\n3, 2, 1\n"
        "*ELEMENT, TYPE=MASS, ELSET=M\n4, 2\n"
        "*SPRING, ELSET=A\n\n400.\n*SPRING, ELSET=G\n2\n900.\n*SPRING, ELSET=B\n3, 3\n1600.\n*MASS, ELSET=M\n4.\n"
        "*BOUNDARY\n1, 1, 3\n"
    )
    _, (modes,) = run(tmp_path / "d.inp", text, step("*FREQUENCY\n3\n"))
    assert np.array(modes["frequencies_hz"]) * 2 * np.pi == pytest.approx([10.0, 15.0, 20.0])


def sheet(kind, start=0.0):
    """Text of 8 x 2 plane elements of 1 x 0.5 with the sets LEFT, BOTTOM, TOP and the elements at both ends."""
    nodes, elements = brick((8, 2, 1), (1.0, 0.5, 1.0), "C3D20" if kind[3] == "8" else "C3D8", origin=(start, 0.0, 0.0))
    corners = [0, 1, 2, 3] + ([8, 9, 10, 11] if kind[3] == "8" else [])
    elements = {e: [cell[k] for k in corners] for e, cell in elements.items()}
    used = {i for cell in elements.values() for i in cell}
    nodes = {i: x for i, x in nodes.items() if i in used}
    text = mesh_text(nodes, elements, kind) + nset("LEFT", at(nodes, 0, start))
    text += nset("BOTTOM", at(nodes, 1, 0.0)) + nset("TOP", at(nodes, 1, 0.5))
    return text + "*ELSET, ELSET=IN\n1, 9\n*ELSET, ELSET=OUT\n8, 16\n", nodes


@pytest.mark.parametrize("kind", ["CPS4", "CPS8", "CPS8R", "CPE4", "CPE8R"])
def test_plane_elements(tmp_path, kind):
    """A sheet pulled at its end, of plane stress and plane strain."""
    text, _ = sheet(kind)
    _, (done,) = run(
        tmp_path / "d.inp", text, steel(), "0.1\n*BOUNDARY\nLEFT, 1\nBOTTOM, 2\nTOP, 3, 6\n",
        step("*STATIC\n*DLOAD\nOUT, P2, -1.E6\n*NODE PRINT, NSET=LEFT, TOTALS=YES\nRF\n"
             "*EL PRINT, ELSET=EALL, TOTALS=YES\nS, E, ENER, ELSE, EVOL\n"),
    )  # fmt: skip
    strain = kind[:3] == "CPE"
    stress = prints(done, "S")[1]
    assert stress[:, 0] == pytest.approx(1e6)
    assert stress[:, 2] == pytest.approx(0.3e6 if strain else 0.0, abs=1e-3)
    modulus = 2.1e11 / (1 - 0.09) if strain else 2.1e11
    assert prints(done, "E")[1][:, 0] == pytest.approx(1e6 / modulus)
    assert prints(done, "ENER")[1] == pytest.approx(0.5e12 / modulus)
    assert prints(done, "ELSE", total=True)[1][0, 0] == pytest.approx(0.5e12 / modulus * 0.05)
    assert prints(done, "EVOL", total=True)[1][0, 0] == pytest.approx(0.05)
    assert prints(done, "RF", total=True)[1][0] == pytest.approx([-5e4, 0.0, 0.0], abs=1e-6)


def test_thick_cylinder(tmp_path):
    """Lame's solution of a cylinder under internal pressure that keeps its length."""
    text, nodes = sheet("CAX8", 1.0)
    _, (done,) = run(
        tmp_path / "d.inp", text, steel(), "*BOUNDARY\nBOTTOM, 2\nTOP, 2\n",
        step("*STATIC\n*DLOAD\nIN, P4, 1.E6\n*NODE PRINT, NSET=NALL\nU\n*EL PRINT, ELSET=EALL, TOTALS=ONLY\nEVOL\n"),
    )  # fmt: skip
    ids, u = prints(done, "U")
    r = np.array([nodes[i][0] for i in ids])
    exact = 1.3 / 2.1e11 * 1e6 / 3.0 * (0.4 * r + 4.0 / r)
    assert np.abs(u[:, 0] - exact).max() < 1e-5 * exact.max()
    assert prints(done, "EVOL", total=True)[1][0, 0] == pytest.approx(1.5 * np.pi)


# ---- equal models ----------------------------------------------------------------------------------------------------


def two_blocks(glue: str):
    """Two blocks one behind the other with nodes of their own where they meet, and the text that joins them."""
    one, first = brick((2, 1, 1), (1.0, 0.4, 0.3), "C3D8I")
    two, second = brick((2, 1, 1), (1.0, 0.4, 0.3), "C3D8I", first=101, origin=(1.0, 0.0, 0.0), element=11)
    pairs = [
        (i, next(j for j, y in two.items() if np.allclose(x, y))) for i, x in one.items() if abs(x[0] - 1.0) < 1e-9
    ]
    nodes, elements = one | two, first | second
    text = mesh_text(nodes, elements, "C3D8I")
    text += nset("FIX", at(nodes, 0, 0.0)) + nset("TIP", at(nodes, 0, 2.0))
    text += "*SURFACE, NAME=LEFT\n2, S4\n*SURFACE, NAME=RIGHT\n11, S6\n"
    if glue == "EQUATION":
        for i, j in pairs:
            text += "".join(f"*EQUATION\n2\n{j}, {d}, 1., {i}, {d}, -1.\n" for d in (1, 2, 3))
    elif glue == "PIN":
        text += "".join(f"*MPC\nPIN, {j}, {i}\n" for i, j in pairs)
    elif glue == "TIE":
        text += "*TIE, NAME=T, POSITION TOLERANCE=1.E-3\nRIGHT, LEFT\n"
    return text + "*BOUNDARY\nFIX, 1, 3\n" + steel()


@pytest.mark.parametrize("glue", ["EQUATION", "PIN", "TIE"])
def test_joined_models_equal_merged_ones(tmp_path, glue):
    nodes, elements = brick((4, 1, 1), (2.0, 0.4, 0.3), "C3D8I")
    merged = mesh_text(nodes, elements, "C3D8I") + nset("FIX", at(nodes, 0, 0.0)) + nset("TIP", at(nodes, 0, 2.0))
    steps = (
        step("*STATIC\n*CLOAD\nTIP, 2, 1000.\nTIP, 1, 500.\n*NODE PRINT, NSET=TIP\nU\n*NODE PRINT, NSET=FIX\nRF\n")
        + step("*FREQUENCY\n6\n") + step("*BUCKLE\n2\n*CLOAD\nTIP, 1, -1.\n")
    )  # fmt: skip
    _, a = run(tmp_path / "a.inp", merged, "*BOUNDARY\nFIX, 1, 3\n", steel(), steps)
    _, b = run(tmp_path / "b.inp", two_blocks(glue), steps)
    for quantity in ("U", "RF"):
        x, y = prints(a[0], quantity)[1], prints(b[0], quantity)[1]
        order = [np.lexsort(np.round(v / np.abs(v).max(), 6).T) for v in (x, y)]
        assert np.abs(x[order[0]] - y[order[1]]).max() < 1e-9 * np.abs(x).max()
    assert b[1]["frequencies_hz"] == pytest.approx(a[1]["frequencies_hz"], rel=1e-9)
    assert b[2]["load_factors"] == pytest.approx(a[2]["load_factors"], rel=1e-9)


def test_transform_equals_unrotated(tmp_path):
    """A roller on an inclined plane, by *TRANSFORM of a turned model, and straight in the unturned one."""
    R = Rotation.from_rotvec([0.0, 0.0, np.deg2rad(30.0)]).as_matrix()
    rows = "*BOUNDARY\nFIX, 1, 3\nTIP, 2, 2\nTIP, 1, 1, 1.E-3\n"
    tail = step("*STATIC\n*CLOAD\nMID, 3, 1000.\n*NODE PRINT, NSET=NALL\nU, RF\n*EL PRINT, ELSET=EALL\nENER\n")
    results = []
    for rotation in (None, R):
        nodes, elements = brick((3, 1, 1), (1.5, 0.3, 0.3), "C3D20", rotation)
        text = mesh_text(nodes, elements, "C3D20") + steel()
        for name, x in (("FIX", 0.0), ("MID", 0.5), ("TIP", 1.5)):
            text += nset(name, at(nodes, 0, x, rotation))
        if rotation is not None:
            text += f"*TRANSFORM, NSET=NALL, TYPE=R\n{numbers([*R[:, 0], *R[:, 1]])}\n"
        _, (done,) = run(tmp_path / "d.inp", text, rows, tail)
        results.append([prints(done, q)[1] for q in ("U", "RF", "ENER")])
    for a, b in zip(*results, strict=True):
        assert np.abs(a - b).max() < 1e-9 * np.abs(a).max()


def test_a_random_rotation_changes_nothing(tmp_path):
    """Frequencies, load factors, energies and stresses of an orthotropic cantilever, turned at random."""
    results = []
    for R in (np.eye(3), Rotation.random(random_state=20240311).as_matrix()):
        text, *_ = cantilever((4, 1, 2), (1.0, 0.1, 0.2), "C3D20R", R)
        force = R @ np.array([10.0, 300.0, 200.0])
        push = R @ np.array([-1.0, 0.0, 0.0])
        material = (
            "*MATERIAL, NAME=WOOD\n*ELASTIC, TYPE=ENGINEERING CONSTANTS\n1.2E10, 6.E8, 9.E8, .4, .35, .3, 7.E8, 8.E8,\n"
            f"6.E7\n*DENSITY\n500.\n*ORIENTATION, NAME=GRAIN\n{numbers([*R @ [1, 0.2, 0], *R @ [-0.2, 1, 0]])}\n"
            "3, 10.\n"
            "*SOLID SECTION, ELSET=EALL, MATERIAL=WOOD, ORIENTATION=GRAIN\n"
        )
        loads = "".join(f"TIP, {i + 1}, {f:.17g}\n" for i, f in enumerate(force))
        pushes = "".join(f"TIP, {i + 1}, {f:.17g}\n" for i, f in enumerate(push))
        show = "*EL PRINT, ELSET=EALL\nS, ENER\n"
        _, done = run(
            tmp_path / "d.inp", text, material, step(f"*STATIC\n*CLOAD\n{loads}{show}"),
            step("*FREQUENCY\n6\n", "PERTURBATION"), step("*FREQUENCY\n6\n"), step(f"*BUCKLE\n3\n*CLOAD\n{pushes}"),
        )  # fmt: skip
        s = prints(done[0], "S")[1]
        tensor = s[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3)
        results.append([
            np.array(done[1]["frequencies_hz"]), np.array(done[2]["frequencies_hz"]),
            np.array(done[3]["load_factors"]), prints(done[0], "ENER")[1].ravel(), s.copy(),
            np.linalg.eigvalsh(tensor),
        ])  # fmt: skip
    names = ("prestressed", "frequencies", "factors", "energy", "stress in material axes", "principal stresses")
    for name, a, b in zip(names, *results, strict=True):
        assert np.abs(a - b).max() <= 1e-10 * np.abs(a).max(), name


def test_kinematic_coupling_equals_rigid_body(tmp_path):
    text, *_ = cantilever((3, 1, 1), (1.0, 0.2, 0.2), "C3D8I")
    text = text.replace("*ELEMENT", "999, 1.3, 0.1, 0.1\n*ELEMENT", 1)
    tail = step("*STATIC\n*CLOAD\n999, 2, 100.\n999, 4, 50.\n*NODE PRINT, NSET=NALL\nU\n", "NLGEOM")
    ways = (
        "*RIGID BODY, NSET=TIP, REF NODE=999\n",
        "*SURFACE, NAME=S, TYPE=NODE\nTIP\n*COUPLING, CONSTRAINT NAME=C, REF NODE=999, SURFACE=S\n*KINEMATIC\n1, 6\n",
    )
    u = [prints(run(tmp_path / "d.inp", text, steel(), way, tail)[1][0], "U")[1] for way in ways]
    assert np.abs(u[0] - u[1]).max() < 1e-9 * np.abs(u[0]).max()


# ---- time ------------------------------------------------------------------------------------------------------------


def bar(tmp_path, *steps, rows=""):
    """End displacements of a bar of stiffness 1e6 N/m under the loads of the steps, printed after each."""
    text = (
        "*NODE, NSET=NALL\n1, 0., 0., 0.\n2, 1., 0., 0.\n*ELEMENT, TYPE=T3D2, ELSET=EALL\n1, 1, 2\n"
        "*MATERIAL, NAME=M\n*ELASTIC\n1.E10, 0.\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n1.E-4\n"
        "*BOUNDARY\n1, 1, 3\n2, 2, 3\n" + rows
    )
    _, done = run(tmp_path / "d.inp", text, *steps)
    return [np.array(p["values"])[1, 0] for s in done for p in s.get("prints", ()) if p["quantity"] == "U"]


def test_loads_hold_on_until_they_are_changed_or_end(tmp_path):
    show = "*NODE PRINT, NSET=NALL\nU\n"
    u = bar(
        tmp_path,
        step(f"*STATIC\n*CLOAD\n2, 1, 1000.\n{show}"),
        step("*STATIC\n"),
        step("*STATIC\n*CLOAD\n2, 1, 400.\n"),
        step("*STATIC\n*CLOAD, OP=NEW\n"),
    )
    assert u == pytest.approx([1e-3, 1e-3, 4e-4, 0.0], abs=1e-18)


@pytest.mark.parametrize("kind", ["", "NLGEOM"])
def test_amplitudes_over_two_steps(tmp_path, kind):
    """An amplitude of the total time goes on in the second step, one of the step's time has ended."""
    rows = (
        "*AMPLITUDE, NAME=WHOLE, TIME=TOTAL TIME\n0., 0., 1., 1., 2., 3., 3., 5.\n"
        "*AMPLITUDE, NAME=STEPS\n0., 0., 1., 2.\n"
    )
    options = [kind] * bool(kind)
    for name, expected in (("WHOLE", [1.0, 3.0]), ("STEPS", [2.0, 2.0])):
        u = bar(
            tmp_path,
            step(f"*STATIC\n1., 1.\n*CLOAD, AMPLITUDE={name}\n2, 1, 10.\n*NODE PRINT, NSET=NALL\nU\n", *options),
            step("*STATIC\n1., 1.\n"), rows=rows,
        )  # fmt: skip
        assert u == pytest.approx([1e-5 * f for f in expected], rel=1e-4)


def test_increments_of_a_nonlinear_step_ramp_the_load(tmp_path):
    u = bar(
        tmp_path, step("*STATIC, DIRECT\n0.25, 1.\n*CLOAD\n2, 1, 100.\n*NODE PRINT, NSET=NALL\nU\n", "NLGEOM, INC=10")
    )
    assert u == pytest.approx([2.5e-5, 5e-5, 7.5e-5, 1e-4], rel=2e-4)


def test_perturbation_loads_act_in_their_step_only(tmp_path):
    show = "*NODE PRINT, NSET=NALL\nU\n"
    u = bar(
        tmp_path,
        step(f"*STATIC\n*CLOAD\n2, 1, 1000.\n{show}"),
        step("*STATIC\n*CLOAD\n2, 1, 10.\n", "PERTURBATION"),
        step("*STATIC\n"),
    )
    assert u[0] == pytest.approx(1e-3)
    assert u[1] == pytest.approx(1e-5, rel=5e-3)  # stiffer, or softer, by the strain of the first step
    assert u[2] == pytest.approx(1e-3)


def test_oscillator_in_time(tmp_path):
    """A mass on a spring under a load at once: u = F/k (1 - cos(omega t))."""
    text = (
        "*NODE, NSET=NALL\n1, 0., 0., 0.\n2, 1., 0., 0.\n*ELEMENT, TYPE=SPRINGA, ELSET=S\n1, 1, 2\n"
        "*ELEMENT, TYPE=MASS, ELSET=M\n2, 2\n*SPRING, ELSET=S\n\n100.\n*MASS, ELSET=M\n1.\n"
        "*BOUNDARY\n1, 1, 3\n2, 2, 3\n"
    )
    show = "*NODE PRINT, NSET=NALL, FREQUENCY=100\nU, V\n"
    dynamic = step(f"*DYNAMIC, DIRECT\n1.E-3, 0.5\n*CLOAD\n2, 1, 2.\n{show}", "INC=1000")
    _, (done,) = run(tmp_path / "d.inp", text, dynamic)
    tables = [p for p in done["prints"] if p["quantity"] == "U"]
    t = np.array([p["time"] for p in tables])
    assert t == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
    u = np.array([p["values"][1][0] for p in tables])
    v = np.array([p["values"][1][0] for p in done["prints"] if p["quantity"] == "V"])
    assert u == pytest.approx(0.02 * (1 - np.cos(10 * t)), abs=2e-5)
    assert v == pytest.approx(0.2 * np.sin(10 * t), abs=3e-4)


def test_rigid_body_turns_through_any_angle(tmp_path):
    """A block held by a rigid body through its whole face turns with it, free of stress, by 1 rad."""
    nodes, elements = brick((2, 1, 1), (1.0, 0.3, 0.3), "C3D8")
    text = mesh_text(nodes, elements, "C3D8").replace("*ELEMENT", "901, 0., 0., 0.\n902, 0., 0., 0.\n*ELEMENT", 1)
    text += nset("FACE", at(nodes, 0, 0.0)) + "*RIGID BODY, NSET=FACE, REF NODE=901, ROT NODE=902\n" + steel()
    rows = "*BOUNDARY\n901, 1, 3\n902, 1, 2\n"
    turn = step(
        "*STATIC\n0.1, 1.\n*BOUNDARY\n902, 3, 3, 1.\n*NODE PRINT, NSET=NALL\nU\n*EL PRINT, ELSET=EALL\nS\n", "NLGEOM"
    )
    _, (done,) = run(tmp_path / "d.inp", text, rows, turn)
    last = {p["quantity"]: p for p in done["prints"]}
    ids, u = last["U"]["ids"], np.array(last["U"]["values"])
    R = Rotation.from_rotvec([0.0, 0.0, 1.0]).as_matrix()
    for i, d in zip(ids, u, strict=True):
        expected = [0.0, 0.0, 1.0] if i == 902 else R @ nodes.get(i, np.zeros(3)) - nodes.get(i, np.zeros(3))
        assert np.abs(d - expected).max() < 1e-9, i
    assert np.abs(last["S"]["values"]).max() < 1e-3


# ---- what is said ----------------------------------------------------------------------------------------------------


def test_prints_come_in_the_order_and_axes_of_the_deck(tmp_path):
    text, nodes, tip = cantilever((2, 1, 1), (1.0, 0.2, 0.2), "C3D8I")
    text += "*TRANSFORM, NSET=TIP, TYPE=C\n0., 0., 0., 0., 0., 1.\n" + nset("BACK", tip[::-1]) + steel()
    tail = "*CLOAD\nFIX, 1, 0.\n"
    _, (done,) = run(
        tmp_path / "d.inp", text,
        step(f"*STATIC\n*CLOAD\nTIP, 1, 100.\n{tail}*NODE PRINT, NSET=BACK\nU\n*NODE PRINT, NSET=TIP, GLOBAL=YES\nU\n"),
    )  # fmt: skip
    local, whole = (prints(done, "U", set=name) for name in ("BACK", "TIP"))
    assert local[0].tolist() == whole[0].tolist()[::-1] == tip[::-1]
    for i, u, v in zip(local[0], local[1], whole[1][::-1], strict=True):
        r = np.array([*nodes[i][:2], 0.0]) / np.linalg.norm(nodes[i][:2])
        assert u == pytest.approx([v @ r, v @ [-r[1], r[0], 0.0], v[2]], abs=1e-18)


def test_what_is_not_used_is_noted(tmp_path):
    text, *_ = cantilever((1, 1, 1), (1.0, 1.0, 1.0), "C3D8")
    text = text.replace("*ELEMENT", "77, 5., 5., 5.\n*ELEMENT", 1) + steel()
    rows = "*BOUNDARY\nFIX, 4, 6\n77, 1, 3\n"
    converted, _ = run(
        tmp_path / "d.inp", text, rows, step("*STATIC\n*CLOAD\nTIP, 1, 1.\n77, 1, 5.\n*EL PRINT, ELSET=EALL\nPEEQ\n"),
    )  # fmt: skip
    notes = {n.text: n.effect for n in converted.notes}
    found = {key: [c for t, c in notes.items() if key in t] for key in ("4 to 6", "node 77", "PEEQ")}
    assert found["4 to 6"] == [Effect.NONE]
    assert sorted(found["node 77"]) == [Effect.NONE, Effect.DIFFERS]  # a support does nothing there, a load is lost
    assert found["PEEQ"] == [Effect.NONE]
    assert all(".inp, line" in t for t in notes)


@pytest.mark.parametrize("name", ["block", "portal", "quirks"])
def test_decks_of_the_reader_end_in_a_model_or_a_sentence(name):
    from fem_mbs.errors import InputError

    try:
        converted = convert(read_deck(DECKS / f"{name}.inp"))
    except InputError as error:
        assert f"{name}.inp, line" in str(error)
    else:
        converted.model.compile()


# ---- decks of CalculiX -----------------------------------------------------------------------------------------------


def shared_decks() -> list:
    found = sorted(SHARED_DECKS.glob("*.inp")) if SHARED_DECKS.is_dir() else []
    return found or [pytest.param(None, marks=pytest.mark.skip(reason=f"no decks in {SHARED_DECKS}"))]


@pytest.mark.parametrize("path", shared_decks(), ids=lambda p: p.stem if p else "none")
def test_against_calculix(path):
    rows = compare_deck(path)
    bad = [r for r in rows if r.status in ("outside", "missing")]
    assert all((r.deck, r.quantity) == ("shell2", "S") for r in bad), bad  # stresses of shells are not printed
    if any("S8" in r.why for r in rows):
        pytest.skip(rows[0].why)
    assert any(r.status == "ok" or "empty" in r.why for r in rows)


@pytest.mark.parametrize(("first", "status"), [(1e-9, "ok"), (1e-3, "outside")])
def test_frequencies_of_free_motions_are_zero_but_for_round_off(tmp_path, first, status):
    """Two masses on a spring: squares of zero are round-off, of either sign, in both programs."""
    text = "*NODE\n1, 0., 0., 0.\n2, 1., 0., 0.\n*ELEMENT, TYPE=SPRINGA, ELSET=S\n1, 1, 2\n*SPRING, ELSET=S\n\n200.\n"
    text += "*ELEMENT, TYPE=MASS, ELSET=M\n2, 1\n3, 2\n*MASS, ELSET=M\n2.\n*BOUNDARY\n1, 2, 3\n2, 2, 3\n"
    path = tmp_path / "d.inp"
    path.write_text(text + step("*FREQUENCY\n2\n"))
    table = [(1, first), (2, 200.0)]
    rows = "".join(f"{k} {v:.7E} {v**0.5:.7E} {v**0.5 / (2 * np.pi):.7E} 0.0000000E+00\n" for k, v in table)
    head = "\n S T E P       1\n\n     E I G E N V A L U E   O U T P U T\n\n MODE NO    EIGENVALUE    FREQUENCY\n\n"
    path.with_suffix(".dat").write_text(head + rows)
    (found,) = (r for r in compare_deck(path) if r.quantity.startswith("frequencies"))
    assert found.status == status


def test_reactions_of_a_heated_block_are_in_balance(tmp_path):
    """Heat is no force from outside: what holds a clamped block sums to zero, and so do its reactions in print."""
    nodes, elements = brick((2, 2, 2), (0.2, 0.2, 0.2))
    text = mesh_text(nodes, elements) + nset("FIX", at(nodes, 0, 0.0)) + steel().replace(
        "*DENSITY", "*EXPANSION\n1.2e-5\n*DENSITY"
    )  # fmt: skip
    text += "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n*BOUNDARY\nFIX, 1, 3\n"
    for options in ((), ("NLGEOM",)):
        heat = step("*STATIC\n*TEMPERATURE\nNALL, 120.\n*NODE PRINT, NSET=FIX, TOTALS=YES\nRF\n", *options)
        _, (done,) = run(tmp_path / "d.inp", text, heat)
        _, each = prints(done, "RF", total=False)
        _, total = prints(done, "RF", total=True)
        assert np.abs(each).max() > 1e5
        assert np.abs(total).max() < 1e-9 * np.abs(each).max(), options


def test_supports_of_several_directions_in_local_axes(tmp_path):
    """Displacements in three inclined directions of one node, two of them not zero, equal those in global axes."""
    nodes, elements = brick((2, 1, 1), (0.2, 0.1, 0.1))
    text = mesh_text(nodes, elements) + nset("FIX", at(nodes, 0, 0.0)) + nset("END", at(nodes, 0, 0.2)) + steel()
    show = "*NODE PRINT, NSET=NALL, GLOBAL=YES\nU\n"
    a = np.array([0.6, 0.8, 0.0])
    b = np.array([-0.8, 0.6, 0.0])
    local = "*TRANSFORM, NSET=END\n0.6, 0.8, 0., -0.8, 0.6, 0.\n"
    moved = 1e-4 * a - 2e-4 * b
    inclined = "*BOUNDARY\nEND, 1, 1, 1.e-4\nEND, 2, 2, -2.e-4\nEND, 3\n"
    plain = f"*BOUNDARY\nEND, 1, 1, {numbers(moved[:1])}\nEND, 2, 2, {numbers(moved[1:2])}\nEND, 3\n"
    fixed = "*BOUNDARY\nFIX, 1, 3\n"
    u = [
        prints(run(tmp_path / "d.inp", text, extra, fixed, step(f"*STATIC\n{rows}{show}"))[1][0], "U")[1]
        for extra, rows in ((local, inclined), ("", plain))
    ]
    assert np.abs(u[0] - u[1]).max() < 1e-12 * np.abs(u[1]).max()


def test_an_amplitude_over_a_step_ends_with_it(tmp_path):
    """The second step does not repeat the load: it keeps the value with which the first has ended."""
    nodes, elements = brick((1, 1, 1), (0.1, 0.1, 0.1))
    end = at(nodes, 0, 0.1)
    text = mesh_text(nodes, elements) + nset("FIX", at(nodes, 0, 0.0)) + nset("END", end) + steel()
    text += "*AMPLITUDE, NAME=A\n0., 0., 1., 2., 2., -1.\n*BOUNDARY\nFIX, 1, 3\n"
    show = "*NODE PRINT, NSET=END\nU\n"
    first = step(f"*STATIC\n1., 1.\n*CLOAD, AMPLITUDE=A\nEND, 3, 100.\n{show}")
    _, done = run(tmp_path / "d.inp", text, first, step(f"*STATIC\n2., 2.\n{show}"))
    one, two = (prints(s, "U")[1] for s in done)
    assert np.abs(one).max() > 0.0
    assert two == pytest.approx(one, rel=1e-12)
