"""Materials over temperature in uneven fields: bars in closed form, in the limit of refinement."""

from __future__ import annotations

import numpy as np
import pytest
from deck_text import at, brick, mesh_text, nset, prints, run, step

LENGTH, T_END = 2.0, 100.0
E0, E1 = 2000.0, 1000.0  # at 0 and 100
A0, A1 = 1e-5, 3e-5  # secants from 0 on


def bar(n: int, tables: str, fields: str, steps: str) -> str:
    nodes, elements = brick((n, 1, 1), (LENGTH, 1.0, 1.0))
    text = mesh_text(nodes, elements) + "*MATERIAL, NAME=M\n" + tables + "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n"
    text += nset("LEFT", at(nodes, 0, 0.0)) + nset("RIGHT", at(nodes, 0, LENGTH))
    text += "*INITIAL CONDITIONS, TYPE=TEMPERATURE\n"
    hot = "".join(f"{i}, {T_END * x[0] / LENGTH:.17g}\n" for i, x in nodes.items())
    text += fields.format(cold="NALL, 0.\n", hot=hot)
    return text + "*BOUNDARY\nNALL, 2, 3\nLEFT, 1, 1\n" + steps.format(hot="*TEMPERATURE\n" + hot)


PULL = "*CLOAD\nRIGHT, 1, 25.\n*NODE PRINT, NSET=RIGHT\nU\n"
ELASTIC = f"*ELASTIC\n{E0}, 0., 0.\n{E1}, 0., 100.\n"


@pytest.mark.parametrize("options", [(), ("NLGEOM",)], ids=["linear", "NLGEOM"])
def test_a_modulus_over_an_initial_field(tmp_path, options):
    """u = F/A int dx/E(x) = F L/(A (E0 - E1)) ln(E0/E1); the error of n classes falls with its square."""
    force = 100.0 if not options else 1e-4
    pull = PULL.replace("25.", f"{force / 4:.17g}")
    exact = force * LENGTH / (E0 - E1) * np.log(E0 / E1)
    errors = []
    for n in (5, 10, 20):
        text = bar(n, ELASTIC, "{hot}", step("*STATIC\n" + pull, *options))
        converted, done = run(tmp_path / f"d{n}.inp", text)
        errors.append(prints(done[0], "U")[1][:, 0].mean() / exact - 1.0)
        assert not [note for note in converted.notes if note.effect.name != "NONE"]
    errors = np.abs(errors)
    assert errors[-1] < 2e-4
    np.testing.assert_allclose(errors[:-1] / errors[1:], 4.0, rtol=0.05)


def test_an_expansion_over_a_field_of_the_step(tmp_path):
    """From 0 everywhere to T(x) = 100 x/L: u = int alpha(T) T dx, alpha = A0 + (A1 - A0) T/100 the secant from 0 on."""
    exact = LENGTH * T_END * (A0 / 2.0 + (A1 - A0) / 3.0)
    tables = f"*ELASTIC\n1000., 0.\n*EXPANSION, ZERO=0.\n{A0}, 0.\n{A1}, 100.\n"
    errors = []
    for n in (5, 10, 20):
        text = bar(n, tables, "{cold}", step("*STATIC\n{hot}*NODE PRINT, NSET=RIGHT\nU\n"))
        errors.append(prints(run(tmp_path / f"d{n}.inp", text)[1][0], "U")[1][:, 0].mean() / exact - 1.0)
    errors = np.abs(errors)
    assert errors[-1] < 1e-3
    np.testing.assert_allclose(errors[:-1] / errors[1:], 4.0, rtol=0.05)


def test_many_temperatures_in_classes(tmp_path):
    """More elements than classes: the end displacement is that of the integral to the width of a class squared."""
    exact = 100.0 * LENGTH / (E0 - E1) * np.log(E0 / E1)
    converted, done = run(tmp_path / "d.inp", bar(300, ELASTIC, "{hot}", step("*STATIC\n" + PULL)))
    assert len(converted.conversion.groups) == 256
    assert prints(done[0], "U")[1][:, 0].mean() == pytest.approx(exact, rel=1e-5)


def test_fields_that_change_in_nonlinear_steps_are_noted(tmp_path):
    """A field that changes with NLGEOM has no single value of the material: the deck is refused by name."""
    text = bar(5, ELASTIC, "{cold}", step("*STATIC\n{hot}" + PULL, "NLGEOM"))
    with pytest.raises(Exception, match="depends on temperature, which varies in the deck"):
        run(tmp_path / "d.inp", text)


def test_a_curved_field_in_bricks_of_twenty_nodes(tmp_path):
    """T = 25 x^2 is linear at the integration points, from those of 2 x 2 x 2: displacements of CalculiX 2.20."""
    nodes, elements = brick((1, 1, 1), (2.0, 1.0, 1.0), "C3D20")
    hot = "".join(f"{i}, {25.0 * x[0] ** 2:.17g}\n" for i, x in nodes.items())
    text = mesh_text(nodes, elements, "C3D20") + nset(
        "TIP", [i for i, x in nodes.items() if x.tolist() == [2.0, 1.0, 1.0]]
    )
    text += "*MATERIAL, NAME=M\n*ELASTIC\n1000., .3\n*EXPANSION\n1e-5\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n"
    text += (
        "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 0.\n" + nset("FIX", at(nodes, 0, 0.0)) + "*BOUNDARY\nFIX, 1, 3\n"
    )
    _, done = run(tmp_path / "d.inp", text, step("*STATIC\n*TEMPERATURE\n" + hot + "*NODE PRINT, NSET=TIP\nU\n"))
    np.testing.assert_allclose(prints(done[0], "U")[1][0], [5.080656e-04, 4.392183e-04, 4.392183e-04], rtol=2e-7)


QUAD = ((0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0), (1.0, 0.0), (2.0, 0.5), (1.0, 1.0), (0.0, 0.5))


@pytest.mark.parametrize(("kind", "expected"), [("CPE4", [1.43e-3, 7.15e-4]), ("CPE8", [1.126667e-3, 2.383334e-4])])
def test_curved_fields_in_plane_elements(tmp_path, kind, expected):
    """T = 25 x^2 + 10 y at the nodes: the mean in CPE4, linear along each axis in CPE8; CalculiX 2.20."""
    places = QUAD[: int(kind[-1])]
    numbered = list(enumerate(places, 1))
    text = "*NODE, NSET=NALL\n" + "".join(f"{i}, {x}, {y}\n" for i, (x, y) in numbered)
    text += f"*ELEMENT, TYPE={kind}, ELSET=EALL\n1, " + ", ".join(str(i) for i, _ in numbered) + "\n" + nset("TIP", [3])
    text += "*MATERIAL, NAME=M\n*ELASTIC\n1000., .3\n*EXPANSION\n1e-5\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n"
    text += "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 0.\n*BOUNDARY\n1, 1, 2\n4, 1, 1\n"
    hot = "".join(f"{i}, {25.0 * x**2 + 10.0 * y}\n" for i, (x, y) in numbered)
    _, done = run(tmp_path / "d.inp", text, step("*STATIC\n*TEMPERATURE\n" + hot + "*NODE PRINT, NSET=TIP\nU\n"))
    np.testing.assert_allclose(prints(done[0], "U")[1][0, :2], expected, rtol=5e-7)  # seven digits are printed


def test_uneven_fields_in_incompatible_bricks_are_told(tmp_path):
    text = bar(2, "*ELASTIC\n1000., .3\n*EXPANSION\n1e-5\n", "{cold}", step("*STATIC\n{hot}")).replace("C3D8", "C3D8I")
    converted, _ = run(tmp_path / "d.inp", text)
    assert [
        n for n in converted.notes if "CalculiX takes the mean of the nodes" in str(n) and n.effect.name == "DIFFERS"
    ]


def test_energy_of_an_uneven_field(tmp_path):
    """Elements store what their stresses do: no geometric stiffness of thermal stresses is in it (CalculiX 2.20)."""
    nodes, elements = brick((1, 1, 1), (1.0, 1.0, 0.8))
    text = mesh_text(nodes, elements) + nset("FIX", at(nodes, 0, 0.0)) + "*BOUNDARY\nFIX, 1, 3\n"
    text += "*MATERIAL, NAME=M\n*ELASTIC\n1000., .3\n*EXPANSION\n1e-5\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n"
    text += "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 0.\n"
    hot = "".join(f"{i}, 30.\n" for i in at(nodes, 0, 1.0))
    show = "*EL PRINT, ELSET=EALL, TOTALS=YES\nELSE\n"
    _, (done,) = run(tmp_path / "d.inp", text, step("*STATIC\n*TEMPERATURE\n" + hot + show))
    assert prints(done, "ELSE", total=True)[1][0, 0] == pytest.approx(8.818979e-06, rel=2e-7)
    assert done["strain_energy"] == pytest.approx(8.818979e-06, rel=2e-7)
