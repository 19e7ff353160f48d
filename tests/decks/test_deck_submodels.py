"""Submodels of decks: displacements from results files of CalculiX and from results folders.

References: linear fields, and CalculiX 2.20 itself where it is installed."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from deck_text import at, brick, mesh_text, nset, prints, run, steel, step

from fem_mbs.decks.abaqus.compare import compare_deck
from fem_mbs.decks.abaqus.run import run_deck
from fem_mbs.errors import InputError
from fem_mbs.meshes.formats.frd import read_frd

SLOPE = np.array([[1.0, 0.3, 0.2], [0.1, -0.4, 0.5], [-0.2, 0.15, 0.6]]) * 1e-4
#: Our order of the nodes of an element of twenty nodes in a results file.
_ORDER = (*range(12), *range(16, 20), *range(12, 16))


def frd(nodes, elements, fields, width: int = 10) -> str:
    """A results file in text: fields (step, quantity, components, values by node)."""
    form = 1 if width == 10 else 0
    lines = ["    1C", f"    2C{len(nodes):30d}{form:38d}"]
    lines += [f" -1{i:{width}d}" + "".join(f"{v:12.5E}" for v in x) for i, x in nodes.items()]
    lines += [" -3", f"    3C{len(elements):30d}{form:38d}"]
    for e, cell in elements.items():
        cell = [cell[k] for k in _ORDER] if len(cell) == 20 else cell
        lines.append(f" -1{e:{width}d}{4 if len(cell) == 20 else 1:5d}    0    1")
        lines += [" -2" + "".join(f"{n:{width}d}" for n in cell[k : k + 10]) for k in range(0, len(cell), 10)]
    lines.append(" -3")
    for number, (own, quantity, names, values) in enumerate(fields, 1):
        lines.append(f"    1PSTEP{number:26d}{1:12d}{own:12d}")
        lines.append(
            f"  100CL  {100 + number}{float(own):12.9f}{len(nodes):12d}{'':20s}{0:2d}{number:5d}{'':10s}{form:2d}"
        )
        lines.append(f" -4  {quantity:<8s}{len(names) + 1:5d}    1")
        lines += [f" -5  {name:<8s}    1    2{k:5d}    0" for k, name in enumerate(names, 1)]
        lines.append(" -5  ALL         1    2    0    0    1ALL")
        lines += [f" -1{i:{width}d}" + "".join(f"{v:12.5E}" for v in values[i]) for i in nodes]
        lines.append(" -3")
    return "\n".join([*lines, " 9999", ""])


@pytest.fixture
def whole(tmp_path):
    """global.frd: displacements of a linear field in step 2, three times as large in step 1, temperatures in step 2."""
    nodes, elements = brick((2, 2, 2), (2.0, 2.0, 2.0), "C3D20")
    u = {i: SLOPE @ x for i, x in nodes.items()}
    fields = [
        (1, "DISP", ("D1", "D2", "D3"), {i: 3.0 * v for i, v in u.items()}),
        (2, "DISP", ("D1", "D2", "D3"), u),
        (2, "NDTEMP", ("T",), {i: [20.0 + 10.0 * x[0]] for i, x in nodes.items()}),
    ]
    (tmp_path / "global.frd").write_text(frd(nodes, elements, fields))
    return tmp_path


def detail(
    head: str, drive: str = "*BOUNDARY, SUBMODEL, STEP=2\nCUT, 1, 3\n", size=(1.0, 1.2, 0.9), more: str = ""
) -> str:
    nodes, elements = brick((3, 2, 2), size, "C3D8", origin=(0.4, 0.3, 0.6))
    cut = sorted({i for k in range(3) for s in (0.0, size[k]) for i in at(nodes, k, (0.4, 0.3, 0.6)[k] + s)})
    text = mesh_text(nodes, elements, "C3D8") + steel() + nset("CUT", cut)
    return text + head + more + step(f"*STATIC\n{drive}*NODE PRINT, NSET=NALL\nU\n")


SUBMODEL = "*SUBMODEL, TYPE=NODE, INPUT=global.frd\nCUT\n"


@pytest.mark.parametrize("width", [5, 10])
def test_results_file(tmp_path, width):
    nodes, elements = brick((2, 1, 1), (2.0, 1.0, 1.0), "C3D20")
    values = {i: x + (0.0, 1.0, 2.0) for i, x in nodes.items()}
    (tmp_path / "a.frd").write_text(frd(nodes, elements, [(3, "DISP", ("D1", "D2", "D3"), values)], width))
    found = read_frd(tmp_path / "a.frd")
    np.testing.assert_array_equal(found.point_ids, sorted(nodes))
    ((kind, table, numbers),) = found.cells
    assert kind == "hexahedron20" and numbers.tolist() == list(elements)
    assert (found.point_ids[table] == [elements[e] for e in elements]).all()
    (only,) = found.sets
    assert (only.step, only.kind) == (3, "static")
    np.testing.assert_allclose(only.values, [values[i] for i in sorted(nodes)], atol=1e-5)


def test_linear_field_of_a_results_file(whole):
    """The inside follows the boundary; of the six digits of the file nothing is lost."""
    converted, (done,) = run(whole / "d.inp", detail(SUBMODEL))
    ids, u = prints(done, "U")
    x = converted.deck.x[np.searchsorted(converted.deck.node_ids, ids)]
    np.testing.assert_allclose(u, x @ SLOPE.T, atol=2e-9)


def test_temperatures_of_a_results_file(whole):
    """Free expansion by temperatures that rise along x, from held planes: u_x = alpha (10 x^2/2) there."""
    nodes, elements = brick((8, 1, 1), (2.0, 1.0, 1.0), "C3D20")
    text = mesh_text(nodes, elements, "C3D20") + "*MATERIAL, NAME=M\n*ELASTIC\n2.1e11, 0.\n*EXPANSION\n1e-5\n"
    text += "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n"
    text += nset("LEFT", at(nodes, 0, 0.0)) + nset("RIGHT", at(nodes, 0, 2.0))
    text += "*BOUNDARY\nLEFT, 1\nNALL, 2, 3\n*SUBMODEL, INPUT=global.frd\nNALL\n"
    load = "*STATIC\n*TEMPERATURE, SUBMODEL, STEP=2\nNALL\n*NODE PRINT, NSET=RIGHT\nU\n"
    _, (done,) = run(whole / "d.inp", text + step(load))
    np.testing.assert_allclose(prints(done, "U")[1][:, 0], 1e-5 * 10.0 * 2.0**2 / 2.0, rtol=1e-6)


def test_elements_of_the_global_model(whole):
    """Nodes are looked for in GLOBAL ELSET alone."""
    elset = "*ELSET, ELSET=FAR\n8\n"
    with pytest.raises(InputError, match=r"d.inp, line \d+.*node \d+ is .* away from the elements of step 2"):
        run(whole / "d.inp", detail(SUBMODEL.replace("global.frd", "global.frd, GLOBAL ELSET=FAR"), more=elset))
    near = detail(
        SUBMODEL.replace("global.frd", "global.frd, GLOBAL ELSET=FAR, ABSOLUTE EXTERIOR TOLERANCE=3."), more=elset
    )
    run(whole / "d.inp", near)


@pytest.mark.parametrize(
    ("head", "drive", "message"),
    [
        (SUBMODEL, "*BOUNDARY, SUBMODEL, STEP=4\nCUT, 1, 3\n", "no values DISP of step 4.*such values: 1, 2"),
        (SUBMODEL, "*BOUNDARY, SUBMODEL, DATA SET=2\nCUT, 1, 3\n", "DATA SET is not read"),
        (SUBMODEL, "*BOUNDARY, SUBMODEL\nCUT, 1, 3\n", "parameter STEP is missing"),
        (SUBMODEL, "*BOUNDARY, SUBMODEL, STEP=2\nCUT, 1, 4\n", "has no direction 4 at these nodes"),
        (SUBMODEL, "*BOUNDARY, SUBMODEL, STEP=2\nNALL, 1, 3\n", r"node \d+ is in no \*SUBMODEL"),
        ("", "*BOUNDARY, SUBMODEL, STEP=2\nCUT, 1, 3\n", r"there is no \*SUBMODEL before it"),
        (SUBMODEL.replace("global.frd", "none.frd"), "*BOUNDARY, SUBMODEL, STEP=2\nCUT, 1, 3\n", "none.frd"),
        ("*SUBMODEL\nCUT\n", "*BOUNDARY, SUBMODEL, STEP=2\nCUT, 1, 3\n", "parameter INPUT is missing"),
        (SUBMODEL.replace("NODE", "SURFACE"), "*BOUNDARY, SUBMODEL, STEP=2\nCUT, 1, 3\n", "TYPE=SURFACE is not read"),
    ],
)  # fmt: skip
def test_what_cannot_be_followed(whole, head, drive, message):
    with pytest.raises(InputError, match=message) as caught:
        run(whole / "d.inp", detail(head, drive))
    assert "d.inp, line" in str(caught.value)


def test_damaged_results_files(whole):
    text = (whole / "global.frd").read_text()
    path = whole / "bad.frd"
    for bad, message in (
        (text[: len(text) // 2], "the file ends within a block"),
        (text.replace(" 1.00000E+00", " 1.0x000E+00", 1), "bad.frd, line"),
        (text.replace(f"{1:38d}", f"{2:38d}", 1), "the block is binary"),
        ("nothing", "the file has no nodes"),
    ):
        path.write_text(bad)
        with pytest.raises(InputError, match=message):
            read_frd(path)


def pulled(n, size, origin=(0.0, 0.0, 0.0), own: str = "") -> str:
    nodes, elements = brick(n, size, "C3D20", origin=origin)
    text = mesh_text(nodes, elements, "C3D20") + steel()
    if own:
        cut = sorted({i for k in range(3) for s in (0.0, size[k]) for i in at(nodes, k, origin[k] + s)})
        return text + nset("CUT", cut) + own
    text += nset("FIX", at(nodes, 0, 0.0)) + nset("TIP", at(nodes, 0, size[0]))
    return text + "*BOUNDARY\nFIX, 1, 3\n"


def test_detail_of_our_own_results(tmp_path):
    """A cantilever whose detail has the same mesh there: the same displacements to round-off; in time step by step."""
    load = "*CLOAD\nTIP, 2, 1e6\n*NODE PRINT, NSET=NALL\nU\n"
    (tmp_path / "whole.inp").write_text(pulled((4, 1, 1), (4.0, 1.0, 1.0)) + step("*STATIC\n" + load))
    run_deck(tmp_path / "whole.inp", tmp_path / "out")
    drive = "*BOUNDARY, SUBMODEL, STEP=1\nCUT, 1, 3\n*NODE PRINT, NSET=NALL\nU\n"
    own = "*SUBMODEL, INPUT=out\nCUT\n"
    text = pulled((4, 2, 2), (2.0, 1.0, 1.0), (1.0, 0.0, 0.0), own) + step("*STATIC\n" + drive)
    converted, (done,) = run(tmp_path / "d.inp", text)
    ids, u = prints(done, "U")
    x = converted.deck.x[np.searchsorted(converted.deck.node_ids, ids)]
    nodes, _ = brick((4, 1, 1), (4.0, 1.0, 1.0), "C3D20")
    _, (first,) = run(tmp_path / "whole.inp", (tmp_path / "whole.inp").read_text())
    known = dict(zip(*(v.tolist() for v in prints(first, "U")), strict=True))
    both = [(k, i) for k, p in enumerate(x) for i, q in nodes.items() if np.abs(p - q).max() < 1e-9]
    assert len(both) > 20
    mine, theirs = u[[k for k, _ in both]], np.array([known[i] for _, i in both])
    np.testing.assert_allclose(mine, theirs, atol=1e-12 * np.abs(theirs).max())


def test_detail_in_time(tmp_path):
    """A free block under gravity from rest falls; the detail follows in time with straight lines between frames."""
    nodes, elements = brick((2, 1, 1), (2.0, 1.0, 1.0))
    fall = "*DYNAMIC, DIRECT\n0.01, 0.1\n*DLOAD\nEALL, GRAV, 9.81, 0., 0., -1.\n"
    (tmp_path / "whole.inp").write_text(mesh_text(nodes, elements) + steel() + step(fall))
    run_deck(tmp_path / "whole.inp", tmp_path / "out")
    drive = "*BOUNDARY, SUBMODEL, STEP=1\nCUT, 1, 3\n"
    prt = "*NODE PRINT, NSET=CUT\nU\n"
    text = pulled((1, 1, 1), (1.0, 1.0, 1.0), (0.5, 0.0, 0.0), "*SUBMODEL, INPUT=out\nCUT\n")
    _, (done,) = run(tmp_path / "d.inp", text + step("*DYNAMIC, DIRECT\n0.01, 0.1\n" + drive + prt))
    tables = [t for t in done["prints"] if t["quantity"] == "U"]
    assert len(tables) == 10
    for table in tables:
        np.testing.assert_allclose(np.array(table["values"])[:, 2], -0.5 * 9.81 * table["time"] ** 2, rtol=1e-6)
    with pytest.raises(InputError, match=r"the step lasts 0\.2, step .* only 0\.1"):
        run(tmp_path / "d.inp", text + step("*DYNAMIC, DIRECT\n0.01, 0.2\n" + drive + prt))


@pytest.mark.skipif(shutil.which("ccx") is None, reason="CalculiX (ccx) is not installed")
def test_detail_against_calculix(tmp_path):
    """CalculiX computes the whole model and the detail; we the detail from its results."""

    def calculix(name: str) -> None:
        subprocess.run(
            ["ccx", "-i", name], cwd=tmp_path, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True
        )

    load = "*STATIC\n*CLOAD\nTIP, 2, 1e6\nTIP, 3, 3e5\n*NODE FILE\nU\n"
    (tmp_path / "whole.inp").write_text(pulled((4, 1, 1), (4.0, 1.0, 1.0)) + step(load))
    calculix("whole")
    drive = "*STATIC\n*BOUNDARY, SUBMODEL, STEP=1\nCUT, 1, 3\n*NODE PRINT, NSET=NALL\nU\n*EL PRINT, ELSET=EALL\nS\n"
    text = pulled((5, 3, 2), (1.7, 1.0, 1.0), (0.8, 0.0, 0.0), "*SUBMODEL, TYPE=NODE, INPUT=whole.frd\nCUT\n")
    (tmp_path / "d.inp").write_text(text + step(drive))
    calculix("d")
    (tmp_path / "d.dat").rename(tmp_path / "d.dat.ref")
    rows = compare_deck(tmp_path / "d.inp")
    assert {row.quantity for row in rows} == {"U", "S"}
    assert all(row.status == "ok" and row.difference < 2e-5 for row in rows)
