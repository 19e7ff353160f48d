"""Stresses of shells and beams at the points of the solids that CalculiX makes of them: closed forms, and CalculiX 2.20
itself where it is installed."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from deck_text import at, nset, prints, run, step
from scipy.spatial.transform import Rotation

from fem_mbs.meshes.abaqus.calculix_dat import read_dat

E, NU, H = 2.1e11, 0.3, 0.02
TWO, THREE = 1.0 / np.sqrt(3.0), np.sqrt(0.6)  # Gauss points
TURN = Rotation.from_rotvec((0.3, -0.5, 0.8)).as_matrix()
needs_ccx = pytest.mark.skipif(shutil.which("ccx") is None, reason="CalculiX (ccx) is not installed")


def plate(kind: str, n: tuple[int, int], nu: float, turn: np.ndarray) -> tuple[dict[int, np.ndarray], str]:
    """A plate of 1 x 0.4 in the x-y plane: its nodes there, and the text with places turned by a matrix."""
    s = 2 if kind[1] in "68" else 1
    rows = (s * n[0] + 1, s * n[1] + 1)
    middles = kind[1] == "6"
    lattice = [(i, j) for j in range(rows[1]) for i in range(rows[0]) if s == 1 or middles or not (i % 2 and j % 2)]
    number = {p: k for k, p in enumerate(lattice, 1)}
    nodes = {k: np.array((i / (rows[0] - 1), 0.4 * j / (rows[1] - 1), 0.0)) for (i, j), k in number.items()}
    cells = []
    for j in range(0, rows[1] - 1, s):
        for i in range(0, rows[0] - 1, s):
            a, b, c, d = (i, j), (i + s, j), (i + s, j + s), (i, j + s)
            for loop in [[a, b, c, d]] if kind[1] in "48" else [[a, b, c], [a, c, d]]:
                ends = zip(loop, [*loop[1:], loop[0]], strict=True)
                mids = [((p[0] + q[0]) // 2, (p[1] + q[1]) // 2) for p, q in ends] if s == 2 else []
                cells.append([number[p] for p in loop + mids])
    lines = ["*NODE, NSET=NALL", *(f"{k}, " + ", ".join(f"{v:.15g}" for v in turn @ x) for k, x in nodes.items())]
    lines += [
        f"*ELEMENT, TYPE={kind}, ELSET=EALL",
        *(f"{e}, " + ", ".join(map(str, c)) for e, c in enumerate(cells, 1)),
    ]
    material = f"*MATERIAL, NAME=M\n*ELASTIC\n{E}, {nu}\n*SHELL SECTION, ELSET=EALL, MATERIAL=M\n{H}\n"
    return nodes, "\n".join(lines) + "\n" + material


def bent(path, kind: str, n: tuple[int, int], turn: np.ndarray, request: str = "") -> np.ndarray:
    """Stresses (elements, points, 6) of a plate whose ends stretch it by 1e-4 and bend it by 1/1000."""
    nodes, text = plate(kind, n, 0.0, turn)
    moves = []
    for k, x in nodes.items():
        if x[0] in (0.0, 1.0):
            u, w = turn @ (1e-4 * x[0], 0.0, -(x[0] ** 2) / 2000.0), turn @ (0.0, x[0] / 1000.0, 0.0)
            moves += [f"{k}, {d}, {d}, {v:.15g}" for d, v in enumerate((*u, *w), 1)]
    load = "*STATIC\n*BOUNDARY\n" + "\n".join(moves) + f"\n*EL PRINT, ELSET=EALL{request}\nS\n"
    _, (done,) = run(path, text + step(load))
    ids, values = prints(done, "S")
    return values.reshape(len(set(ids.tolist())), -1, 6)


@pytest.mark.parametrize(
    ("kind", "n", "heights"),
    [
        ("S8R", (4, 2), np.repeat([-TWO, TWO], 4)),
        ("S8", (4, 2), np.repeat([-THREE, 0.0, THREE], 9)),
        ("S4", (10, 4), np.repeat([-TWO, TWO], 4)),
        ("S4R", (10, 4), np.zeros(1)),
        ("S6", (4, 2), np.repeat([-THREE, 0.0, THREE], 3)),
        ("S3", (10, 4), np.array([-TWO, TWO])),
    ],
)
def test_bending_of_shells(tmp_path, kind, n, heights):
    """E (strain + z kappa) along the first axis, with the normal upwards; the rest vanishes."""
    values = bent(tmp_path / "d.inp", kind, n, np.eye(3))
    wanted = E * (1e-4 + 0.5 * H * heights / 1000.0)
    assert values.shape[1:] == (len(heights), 6)
    np.testing.assert_allclose(values[:, :, 0], np.broadcast_to(wanted, values.shape[:2]), rtol=1e-5)
    assert np.abs(values[:, :, 1:]).max() < 1e-5 * wanted.max()


def test_axes_of_shells(tmp_path):
    """Without GLOBAL=YES stresses are in the first axis (global x laid on the surface), the second and the normal."""
    local, whole = (bent(tmp_path / "d.inp", "S8R", (4, 2), TURN, more) for more in ("", ", GLOBAL=YES"))
    stress = E * (1e-4 + 0.5 * H * TWO / 1000.0)
    t = TURN[:, 0]
    T = stress * np.outer(t, t)
    wanted = [T[0, 0], T[1, 1], T[2, 2], T[0, 1], T[0, 2], T[1, 2]]
    np.testing.assert_allclose(whole[:, 7], np.broadcast_to(wanted, (8, 6)), atol=1e-5 * stress)
    normal = TURN[:, 2]
    first = np.array((1.0, 0.0, 0.0)) - normal[0] * normal
    first /= np.linalg.norm(first)
    c, s = t @ first, t @ np.cross(normal, first)
    wanted = [stress * c * c, stress * s * s, 0.0, stress * c * s, 0.0, 0.0]
    np.testing.assert_allclose(local[:, 7], np.broadcast_to(wanted, (8, 6)), atol=1e-5 * stress)


def test_shells_of_layers_have_no_such_points(tmp_path):
    nodes, text = plate("S8R", (2, 1), NU, np.eye(3))
    text = text.replace(
        "*SHELL SECTION, ELSET=EALL, MATERIAL=M\n0.02", "*SHELL SECTION, ELSET=EALL, COMPOSITE\n.01,,M\n.01,,M"
    )
    text += nset("FIX", at(nodes, 0, 0.0))
    load = "*STATIC\n*BOUNDARY\nFIX, 1, 6\n*DLOAD\nEALL, P, 1.\n*EL PRINT, ELSET=EALL\nS\n"
    converted, (done,) = run(tmp_path / "d.inp", text + step(load))
    assert not [p for p in done.get("prints", []) if p["quantity"] == "S"]
    assert any("S of shells of layers: it is not printed" in n.text for n in converted.notes)


BEAM = "*NODE, NSET=NALL\n{0}*ELEMENT, TYPE=B32R, ELSET=EALL\n{1}*MATERIAL, NAME=M\n*ELASTIC\n2.1e11, .3\n"
BEAM += "*BEAM SECTION, ELSET=EALL, MATERIAL=M, SECTION={2}\n{3}\n0., 1., 0.\n*BOUNDARY\n1, 1, 6\n"


def beam(section: str, dimensions: str, load: str, kind: str = "B32R", n: int = 5) -> str:
    """A beam of length 2 along x, direction 1 along y and 2 along z."""
    nodes = "".join(f"{k + 1}, {k / n:.15g}, 0., 0.\n" for k in range(2 * n + 1))
    cells = "".join(f"{e + 1}, {2 * e + 1}, {2 * e + 2}, {2 * e + 3}\n" for e in range(n))
    text = BEAM.format(nodes, cells, section, dimensions).replace("B32R", kind)
    return text + step(f"*STATIC\n*CLOAD\n{load}*EL PRINT, ELSET=EALL\nS\n")


def test_pipes(tmp_path):
    """Eight points on a circle within the wall: N/A + M z/I of a force along z, r T/J of a moment about x."""
    F, T, tip = 1e3, 4e3, 2.0
    text = beam("PIPE", ".11, .01", f"11, 1, 5e4\n11, 3, {F}\n11, 4, {T}\n")
    _, (done,) = run(tmp_path / "d.inp", text)
    values = prints(done, "S")[1].reshape(5, 2, 8, 6)
    area, second = np.pi * (0.11**2 - 0.1**2), 0.25 * np.pi * (0.11**4 - 0.1**4)
    r = np.sqrt(0.5 * (0.11**2 + 0.1**2))
    angle = 0.25 * np.pi * np.arange(8)
    y, z = r * np.sin(angle), -r * np.cos(angle)
    x = np.array([[(k + 0.5 + s * 0.5 * TWO) * 0.4 for s in (-1.0, 1.0)] for k in range(5)])
    bending = -F * (tip - x)[:, :, None] * z / second  # a force upwards presses the upper side at the clamp
    np.testing.assert_allclose(values[..., 0], 5e4 / area + bending, rtol=1e-6)
    np.testing.assert_allclose(
        values[..., 3], np.broadcast_to(-T * z / (2.0 * second), (5, 2, 8)), atol=1e-6 * T / second
    )
    np.testing.assert_allclose(values[..., 4], np.broadcast_to(F / area + T * y / (2.0 * second), (5, 2, 8)), rtol=1e-6)


@pytest.mark.parametrize(("kind", "points"), [("B32", 3), ("B32R", 2)])
def test_round_beams(tmp_path, kind, points):
    """Points of a quadrilateral of eight nodes on the circle of the section; bending is linear over them."""
    F, d = 1e3, 0.1
    _, (done,) = run(tmp_path / "d.inp", beam("CIRC", str(d), f"11, 2, {F}\n", kind))
    values = prints(done, "S")[1].reshape(5, -1, 6)
    assert values.shape[1] == (50 if kind == "B32R" else 27)
    more = values[:, points**3 :]
    values = values[:, : points**3].reshape(5, points, points, points, 6)  # elements, zeta, eta, xi
    g = np.array([-TWO, TWO] if points == 2 else [-THREE, 0.0, THREE])
    c = np.sqrt(0.5)

    def place(eta: float, zeta: float) -> float:
        corners = sum(
            0.25 * (1 + a * eta) * (1 + b * zeta) * (a * eta + b * zeta - 1) * c * b for a in (-1, 1) for b in (-1, 1)
        )
        return 0.5 * d * (corners + sum(0.5 * (1 - eta**2) * (1 + b * zeta) * b for b in (-1, 1)))

    x = (np.arange(5)[:, None] + 0.5 + 0.5 * g) * 0.4
    y = np.array([[place(eta, zeta) for eta in g] for zeta in g])
    second = np.pi * d**4 / 64.0
    wanted = -F * (2.0 - x)[:, None, None, :] * y[None, :, :, None] / second
    np.testing.assert_allclose(values[..., 0], wanted, atol=2e-6 * np.abs(wanted).max())
    if len(more[0]):  # eta = 0 of the lowest row of these points: the first and second 21 at both places along
        first = -F * (2.0 - x) * place(0.0, -np.sqrt(6.0 / 7.0)) / second
        np.testing.assert_allclose(more[:, [2, 23], 0], first, rtol=2e-6)


def both(path, text: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Elements (m,) and stresses (m, 6) of CalculiX, which runs the deck, and ours."""
    path.write_text(text)
    subprocess.run(
        ["ccx", "-i", path.stem], cwd=path.parent, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True
    )
    theirs = next(p for p in read_dat(path.with_suffix(".dat")).prints if p.quantity == "S")
    _, (done,) = run(path, text)
    ids, values = prints(done, "S")
    np.testing.assert_array_equal(ids, theirs.ids)
    return ids, theirs.values, values


@needs_ccx
@pytest.mark.parametrize("asked", ["", ", GLOBAL=YES"])
def test_shells_against_calculix(tmp_path, asked):
    """A tilted cantilever plate of S8R under pressure, but for the elements at its clamp and edges."""
    nodes, text = plate("S8R", (12, 5), NU, TURN)
    text += nset("FIX", at(nodes, 0, 0.0))
    load = f"*STATIC\n*BOUNDARY\nFIX, 1, 6\n*DLOAD\nEALL, P, 1000.\n*EL PRINT, ELSET=EALL{asked}\nS\n"
    ids, theirs, ours = both(tmp_path / "d.inp", text + step(load))
    inner = (ids % 12 > 3) & (ids > 24) & (ids <= 36)
    size = np.abs(theirs[:, :3]).max()
    kept = [0, 1, 3] if not asked else range(6)
    assert np.abs(theirs - ours)[inner][:, kept].max() < 0.02 * size
    assert np.abs(ours[inner]).max() > 0.3 * size


@needs_ccx
@pytest.mark.parametrize(
    ("kind", "section", "dimensions"), [("B32R", "PIPE", ".11, .01"), ("B32R", "CIRC", ".1"), ("B32", "CIRC", ".1")]
)
def test_beams_against_calculix(tmp_path, kind, section, dimensions):
    """Bending in both directions and tension, away from the clamp, without Poisson's ratio: its sections of CIRC, of
    one solid, cannot contract freely."""
    text = beam(section, dimensions, "17, 1, 1e6\n17, 2, 3e4\n17, 3, 2e4\n", kind, 8).replace(
        "2.1e11, .3", "2.1e11, 0."
    )
    ids, theirs, ours = both(tmp_path / "d.inp", text)
    middle = (ids > 2) & (ids < 7)
    bending = np.ptp(theirs[middle, 0])
    assert np.abs(theirs - ours)[middle, 0].max() < 0.03 * bending
    assert bending > 0.3 * np.abs(theirs[middle, 0]).mean()
