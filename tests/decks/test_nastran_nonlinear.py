"""Nonlinear statics of Nastran decks (SOL 106) against equilibria found by scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_bvp, trapezoid
from scipy.optimize import brentq, fsolve

from fem_mbs.decks.nastran.run import convert, solve_deck
from fem_mbs.errors import ModelError
from fem_mbs.meshes.nastran.reader import read_bulk

EA = 500.0
#: Two rods over a gable.
GABLE = (
    "MAT1,1,1000.,400.\nGRID,1,,0.,0.,0.\nGRID,2,,2.,1.,0.\nGRID,3,,4.,0.,0.\nCROD,1,1,1,2\nCROD,2,1,2,3\nPROD,1,1,.5\n"
    "SPC1,1,123456,1,3\nSPC1,1,3,2\nNLPARM,5,8\n"
)
LARGE = "PARAM,LGDISP,1\n"
CASE = "SPC = 1\nDISPLACEMENT = ALL\nSPCFORCES = ALL\nFORCE = ALL\nNLPARM = 5\n"


@pytest.fixture
def deck(tmp_path):
    def read(bulk: str, case: str = "LOAD = 2\n", sol: int = 106):
        path = tmp_path / "deck.bdf"
        path.write_text(f"SOL {sol}\nCEND\n{CASE}{case}BEGIN BULK\n{bulk}ENDDATA\n")
        return read_bulk(path)

    return read


@pytest.fixture
def tables(deck):
    """Solves a deck: per subcase tables quantity -> {number: row}."""

    def solve(bulk: str, case: str = "LOAD = 2\n", sol: int = 106):
        _, solution = solve_deck(deck(bulk, case, sol))
        return [
            {t.quantity: dict(zip(t.ids, map(np.array, t.values), strict=True)) for t in step.prints}
            for step in solution.report.steps
        ]

    return solve


def rods(u: np.ndarray) -> list[np.ndarray]:
    """Return the forces (2,) of both rods on the ridge, whose displacement is u (2,)."""
    out = []
    for foot in ((0.0, 0.0), (4.0, 0.0)):
        d = np.array([2.0, 1.0]) + u - foot
        length, start = np.hypot(*d), np.hypot(2.0, 1.0)
        out.append(-EA * (length / start - 1.0) * d / length)
    return out


def test_subcases_follow_one_another(tables):
    """The loads of the second subcase take the place of those of the first."""
    found = tables(
        GABLE + LARGE + "FORCE,2,2,,1.,3.,-15.,0.\nFORCE,3,2,,1.,0.,9.,0.\n",
        "SUBCASE 1\nLOAD = 2\nSUBCASE 2\nLOAD = 3\n",
    )
    for one, load in zip(found, ((3.0, -15.0), (0.0, 9.0)), strict=True):
        u = fsolve(lambda u, load=load: sum(rods(u)) + load, [0.0, 0.0], xtol=1e-13)
        np.testing.assert_allclose(one["DISPLACEMENT"][2][:2], u, atol=1e-8)
        for foot, force in zip((1, 3), rods(u), strict=True):
            np.testing.assert_allclose(one["SPCFORCES"][foot][:2], force, atol=1e-6)
        sizes = [-np.sign(f[1]) * np.hypot(*f) for f in rods(u)]
        np.testing.assert_allclose([one["CROD"][k][0] for k in (1, 2)], sizes, rtol=1e-6)


def test_a_support_moves(tables):
    """The ridge follows a foot that moves apart by 0.2."""
    bulk = GABLE.replace("SPC1,1,123456,1,3", "SPC1,1,123456,1,3\nSPCD,2,3,1,.2\nFORCE,2,2,,0.,1.,0.,0.")
    found = tables(bulk + LARGE)[0]["DISPLACEMENT"]
    np.testing.assert_allclose(found[3][:2], [0.2, 0.0], atol=1e-10)
    v = brentq(lambda v: np.hypot(2.1, 1.0 + v) - np.hypot(2.0, 1.0), -0.9, 0.0, xtol=1e-14)
    np.testing.assert_allclose(found[2][:2], [0.1, v], atol=1e-7)


def test_a_cantilever_bends_as_the_elastica(tables):
    """E I = 20, L = 2, force 15 that keeps its direction: P L^2/(E I) = 3."""
    n, length, stiffness, force = 16, 2.0, 20.0, 15.0
    text = "MAT1,1,1000.,400.,.25\nPBEAM,1,1,500.,.02,.02,,.04\nNLPARM,5,4\nSPC1,1,123456,1\n"
    text += "".join(f"GRID,{k + 1},,{length * k / n},0.,0.\n" for k in range(n + 1))
    text += "".join(f"CBEAM,{k},1,{k},{k + 1},0.,1.,0.\n" for k in range(1, n + 1))
    found = tables(text + LARGE + f"FORCE,2,{n + 1},,{force},0.,1.,0.\n")[0]
    s = np.linspace(0.0, length, 201)
    angle = solve_bvp(
        lambda s, y: np.vstack((y[1], -force / stiffness * np.cos(y[0]))), lambda a, b: [a[0], b[1]], s,
        np.vstack((s, np.ones_like(s))), tol=1e-8,
    ).sol(s)[0]  # fmt: skip
    end = [trapezoid(np.cos(angle), s) - length, trapezoid(np.sin(angle), s)]
    np.testing.assert_allclose(found["DISPLACEMENT"][n + 1][:2], end, rtol=1e-3)
    np.testing.assert_allclose(found["SPCFORCES"][1][[1, 5]], [-force, -force * (length + end[0])], rtol=1e-3)


def test_without_large_displacements_it_is_linear_statics(tables):
    bulk = GABLE + "FORCE,2,2,,1.,3.,-15.,0.\n"
    found, linear = tables(bulk)[0], tables(bulk, sol=101)[0]
    for quantity in ("DISPLACEMENT", "SPCFORCES", "CROD"):
        for k, row in linear[quantity].items():
            np.testing.assert_allclose(found[quantity][k], row, rtol=1e-12)


@pytest.mark.parametrize(
    ("bulk", "case", "message"),
    [
        ("", "NLPARM = 0\nLOAD = 2\n", "the subcase has no NLPARM"),
        ("", "NLPARM = 6\nLOAD = 2\n", "there is no NLPARM 6"),
        ("PLOAD,2,3.,1,2,3\n", "LOAD = 2\n", "PLOAD does not follow the deformed model"),
        ("MATS1,1,,PLASTIC,0.,1,1,9.\n", "LOAD = 2\n", "MATS1 is not known"),
        ("TEMPD,4,3.\n", "LOAD = 2\nTEMPERATURE(LOAD) = 4\n", "is not used with large displacements"),
        ("SPC1,9,123456,1,3\n", "SUBCASE 1\nLOAD = 2\nSUBCASE 2\nSPC = 9\nLOAD = 2\n", "supports that differ between"),
        ("PARAM,NMLOOP,3\n", "LOAD = 2\n", "modes about the nonlinear state are not computed"),
    ],
)
def test_refused(deck, bulk, case, message):
    with pytest.raises(ModelError, match=message) as caught:
        convert(deck(GABLE + LARGE + "FORCE,2,2,,1.,3.,-15.,0.\n" + bulk, case))
    assert "deck.bdf, line" in str(caught.value)
