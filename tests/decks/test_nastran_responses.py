"""Responses of Nastran decks over frequency and time: an oscillator against closed forms and `scipy.integrate`."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from scipy.integrate import solve_ivp

from fem_mbs.decks.nastran.run import convert, solve_deck
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.nastran.reader import read_bulk

K, C, M = 50.0, 0.3, 0.7
MODEL = (
    "GRID,1,,0.,0.,0.\nGRID,2,,2.,0.,0.\nCELAS2,1,50.,1,1,2,1\nCDAMP2,2,.3,1,1,2,1\nCONM2,3,2,,.7\n"
    "SPC1,1,123456,1\nSPC1,1,23456,2\nDAREA,9,2,1,2.\n"
)
CASE = {
    108: "SPC = 1\nDLOAD = 7\nFREQUENCY = 8\nDISPLACEMENT = ALL\n",
    109: "SPC = 1\nDLOAD = 7\nTSTEP = 8\nDISPLACEMENT = ALL\n",
}
CASE[111] = CASE[108] + "METHOD = 6\n"
CASE[112] = CASE[109] + "METHOD = 6\n"
FREQ = "FREQ1,8,.5,.25,10\n"
R2 = "RLOAD2,7,9,,,1.\n"
TABLES = "TABLED1,11\n,0.,1.,10.,3.,ENDT\nTABLED1,12\n,0.,0.,10.,1.,ENDT\n"


@pytest.fixture
def deck(tmp_path):
    def read(bulk: str, sol: int, case: str = "", model: str = MODEL):
        path = tmp_path / "deck.bdf"
        path.write_text(f"SOL {sol}\nCEND\n{case or CASE[sol]}BEGIN BULK\n{model}{bulk}ENDDATA\n")
        return read_bulk(path)

    return read


@pytest.fixture
def response(deck):
    """Returns frequencies and the complex displacement, or times and the displacement, of grid point 2."""

    def solve(bulk: str, sol: int, quantity: str = "DISPLACEMENT", case: str = "", model: str = MODEL):
        _, solution = solve_deck(deck(bulk, sol, case, model))
        at, values = [], []
        for step in solution.report.steps:
            for t in step.prints or ():
                if t.quantity.endswith(quantity):
                    row = t.values[t.ids.index(2)]
                    at.append(t.time)
                    values.append(complex(row[0], row[6]) if len(row) == 12 else row[0])
        return np.array(at), np.array(values)

    return solve


def transfer(f: np.ndarray, loss: float = 0.0, c: float = C) -> np.ndarray:
    w = 2.0 * np.pi * f
    return 1.0 / (K * (1.0 + 1j * loss) + 1j * w * c - w**2 * M)


# --- over the frequency ----------------------------------------------------------------------------------------------
def test_real_and_imaginary_parts_of_a_load(response):
    f, u = response(TABLES + FREQ + "PARAM,G,.06\nRLOAD1,7,9,.01,30.,11,12\n", 108)
    load = 2.0 * (1.0 + 0.2 * f + 0.1j * f) * np.exp(1j * (np.deg2rad(30.0) - 2.0 * np.pi * f * 0.01))
    np.testing.assert_allclose(f, np.arange(0.5, 3.1, 0.25), rtol=1e-12)
    np.testing.assert_allclose(u, transfer(f, 0.06) * load, rtol=1e-10)


def test_size_and_phase_of_a_load_and_sums(response):
    """DLOAD adds loads with factors, here an amplitude that is constant and one with a phase that turns."""
    loads = "DLOAD,7,2.,1.5,20,-1.,21\nRLOAD2,20,9,,,4.,90.\nRLOAD2,21,9,,,11,13\nTABLED2,13,.5\n,0.,0.,10.,900.,ENDT\n"
    f, u = response(TABLES + "FREQ,8,2.,1.,3.,1.\n" + loads, 108)
    phase = np.deg2rad(90.0 * (f - 0.5))
    load = 2.0 * (2.0 * 1.5 * 4.0j - 2.0 * (1.0 + 0.2 * f) * np.exp(1j * phase))
    assert f.tolist() == [1.0, 2.0, 3.0]
    np.testing.assert_allclose(u, transfer(f) * load, rtol=1e-10)


@pytest.mark.parametrize(
    ("table", "law"),
    [
        ("TABLED1,11,LOG,LOG\n,1.,2.,100.,200.,ENDT\n", lambda f: 2.0 * f),
        ("TABLED1,11,LINEAR,LOG\n,0.,1.,2.,4.,ENDT\n", lambda f: 2.0**f),
        ("TABLED1,11,,,1\n,1.,2.,2.,3.,ENDT\n", lambda f: np.clip(f, 1.0, 2.0) + 1.0),
        ("TABLED1,11\n,1.,2.,SKIP,SKIP,2.,3.,ENDT\n", lambda f: f + 1.0),
        ("TABLED3,11,1.,2.\n,0.,1.,2.,5.,ENDT\n", lambda f: 1.0 + 2.0 * (f - 1.0) / 2.0),
        ("TABLED4,11,1.,2.,0.,2.\n,1.,2.,3.,ENDT\n", lambda f: 1 + 2 * (g := (np.clip(f, 0, 2) - 1) / 2) + 3 * g * g),
    ],
    ids=["logarithms", "semi-logarithmic", "held", "skipped", "scaled", "polynomial"],
)
def test_tables(response, table, law):
    f, u = response(table + "FREQ2,8,.5,4.,3\n" + "RLOAD2,7,9,,,11\n", 108)
    np.testing.assert_allclose(f, [0.5, 1.0, 2.0, 4.0], rtol=1e-12)
    np.testing.assert_allclose(u, 2.0 * law(f) * transfer(f), rtol=1e-10)


@pytest.mark.parametrize(("kind", "ratio"), [("G", 0.04), ("CRIT", 0.08), ("Q", 6.25)])
def test_modes_with_damping(response, kind, ratio):
    """One mode is all of the oscillator: its damping is that of a damper c = 2 zeta sqrt(k m)."""
    table = f"TABDMP1,5,{kind}\n,0.,{ratio},10.,{ratio},ENDT\n"
    zeta = {"G": 0.02, "CRIT": 0.08, "Q": 0.08}[kind]
    text = table + FREQ + "EIGRL,6,,,1\nRLOAD2,7,9,,,1.\n"
    f, u = response(text, 111, case=CASE[111] + "SDAMPING = 5\n")
    np.testing.assert_allclose(u, 2.0 * transfer(f, c=C + 2.0 * zeta * np.sqrt(K * M)), rtol=1e-9)


def test_velocity_acceleration_and_forces_of_a_set(response):
    """EXCITEID may be the number of static loads, and rates are multiples of the displacement."""
    text = FREQ + "RLOAD2,7,4,,,1.\nFORCE,4,2,,3.,1.,0.,0.\n"
    case = CASE[108] + "VELOCITY = ALL\nACCELERATION = ALL\n"
    f, v = response(text, 108, "VELOCITY", case)
    _, a = response(text, 108, "ACCELERATION", case)
    w = 2.0 * np.pi * f
    np.testing.assert_allclose(v, 3.0 * 1j * w * transfer(f), rtol=1e-10)
    np.testing.assert_allclose(a, -3.0 * w**2 * transfer(f), rtol=1e-10)


def test_loss_factor_of_the_elements(response):
    """GE of all elements in use and PARAM,G add up."""
    bar = "MAT1,1,100.,,.3,,,,.03\nCROD,5,5,1,2\nPROD,5,1,.5\nCELAS2,1,25.,1,1,2,1,.03\n"
    f, u = response(
        FREQ + "PARAM,G,.02\nRLOAD2,7,9,,,1.\n" + bar, 108, model=MODEL.replace("CELAS2,1,50.,1,1,2,1\n", "")
    )
    np.testing.assert_allclose(u, 2.0 * transfer(f, 0.05), rtol=1e-10)


def test_loss_factor_of_a_property_of_springs(response):
    """One PELAS alone: the blank second property of the entry does not count."""
    spring = "CELAS1,1,6,1,1,2,1\nPELAS,6,50.,.04\n"
    f, u = response(FREQ + R2 + spring, 108, model=MODEL.replace("CELAS2,1,50.,1,1,2,1\n", ""))
    np.testing.assert_allclose(u, 2.0 * transfer(f, 0.04), rtol=1e-10)


def test_delays_and_phases_by_grid_points(response):
    """They belong to components along the axes of the grid point; other components have none."""
    turned = MODEL.replace("GRID,1,,0.,0.,0.\nGRID,2,,2.,0.,0.", "GRID,1,,0.,0.,0.,4\nGRID,2,,2.,0.,0.,4")
    turned = turned.replace("SPC1,1,23456,2", "SPC1,1,3456,2") + "CELAS2,4,50.,1,2,2,2\nCDAMP2,5,.3,1,2,2,2\n"
    turned += "CORD2R,4,,0.,0.,0.,0.,0.,1.,+\n+,.8,.6,0.\nDAREA,9,2,2,5.\n"
    delays = "DELAY,21,2,1,.01,2,2,.03\nDPHASE,22,2,1,30.\n"
    f, u = response(FREQ + "RLOAD2,7,9,21,22,1.\n" + delays, 108, model=turned)
    turn = np.exp(1j * (np.deg2rad(30.0) - 2.0 * np.pi * f * 0.01))
    np.testing.assert_allclose(u, 2.0 * turn * transfer(f), rtol=1e-9)
    f, u = response(FREQ + "RLOAD2,7,9,21,,1.\n" + delays.replace("2,1,.01,", ""), 108, model=turned)
    np.testing.assert_allclose(u, 2.0 * transfer(f), rtol=1e-9)


def test_load_sets_by_lseq(response):
    """LOADSET selects the LSEQ whose load set, here a sum, stands for EXCITEID."""
    loads = "LSEQ,3,99,40\nLSEQ,4,99,41\nLOAD,40,2.,1.5,41\nFORCE,41,2,,3.,1.,0.,0.\n"
    f, u = response(FREQ + "RLOAD2,7,99,,,1.\n" + loads, 108, case=CASE[108] + "LOADSET = 3\n")
    np.testing.assert_allclose(u, 9.0 * transfer(f), rtol=1e-10)


def test_damping_by_mass_and_stiffness_of_modes(response):
    f, u = response(FREQ + R2 + "EIGRL,6,,,1\nPARAM,ALPHA1,.2\nPARAM,ALPHA2,.004\n", 111)
    np.testing.assert_allclose(u, 2.0 * transfer(f, c=C + 0.2 * M + 0.004 * K), rtol=1e-9)


# --- complex modes ---------------------------------------------------------------------------------------------------
#: Three masses in a row, with a damper on the last one, which the others feel by the springs alone.
ROW = (
    "SPOINT,1,2,3\nCELAS4,1,10.,1,0\nCELAS4,2,20.,1,2\nCELAS4,3,30.,2,3\nCMASS4,4,2.,1\nCMASS4,5,3.,2\n"
    "CMASS4,6,1.,3\nCDAMP4,7,1.5,3,0\nCDAMP3,8,9,1,2\nPDAMP,9,.2\nEIGRL,6,,,2\n"
)
ROOTS = "CMETHOD = 5\nMETHOD = 6\n"


def roots(shapes: np.ndarray) -> np.ndarray:
    """Return real and imaginary parts of the roots of the row in the span of shapes (3, k), by the size."""
    K3 = shapes.T @ np.array([[30.0, -20.0, 0.0], [-20.0, 50.0, -30.0], [0.0, -30.0, 30.0]]) @ shapes
    M3 = shapes.T @ np.diag([2.0, 3.0, 1.0]) @ shapes
    C3 = shapes.T @ np.array([[0.2, -0.2, 0.0], [-0.2, 0.2, 0.0], [0.0, 0.0, 1.5]]) @ shapes
    n = len(K3)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M3, K3), -np.linalg.solve(M3, C3)]])
    p = np.linalg.eigvals(A)
    p = p[np.lexsort((p.imag, np.abs(p)))]
    return np.column_stack((p.real, p.imag))


def found_roots(deck, bulk: str, sol: int) -> np.ndarray:
    _, solution = solve_deck(deck(bulk, sol, ROOTS, ROW))
    table = next(t for t in solution.report.steps[-1].prints if t.quantity == "COMPLEX EIGENVALUES")
    values = np.array(table.values)
    np.testing.assert_allclose(values[:, 2], np.abs(values[:, 1]) / 2 / np.pi, rtol=1e-12)
    np.testing.assert_allclose(values[:, 3], -2 * values[:, 0] / np.abs(values[:, 1]), rtol=1e-12)
    return values[:, :2]


@pytest.mark.parametrize("method", ["EIGC,5,HESS,MAX,,,,6\n", "EIGC,5,CLAN,MAX\n,,,,,,,6\n"])
def test_direct_complex_modes(deck, method):
    np.testing.assert_allclose(found_roots(deck, method, 107), roots(np.eye(3)), rtol=1e-8)


def test_complex_modes_in_the_span_of_real_ones(deck):
    """SOL 110 with the two lowest of three modes."""
    K3 = np.array([[30.0, -20.0, 0.0], [-20.0, 50.0, -30.0], [0.0, -30.0, 30.0]])
    shapes = scipy.linalg.eigh(K3, np.diag([2.0, 3.0, 1.0]))[1][:, :2]
    np.testing.assert_allclose(found_roots(deck, "EIGC,5,HESS,MAX,,,,4\n", 110), roots(shapes), rtol=1e-8)


@pytest.mark.parametrize(
    ("bulk", "case", "message"),
    [
        ("EIGC,5,HESS\n", ROOTS, "EIGC asks for no roots"),
        ("EIGC,5,CLAN,MAX\n,0.,100.,,,,,4\n", ROOTS, "roots near points or in regions are not supported"),
        ("EIGC,5,HESS,,,,,4\n", "METHOD = 6\n", "the subcase has no CMETHOD"),
        ("", ROOTS, "there is no method of complex modes 5"),
        ("EIGC,5,HESS,,,,,4\nPARAM,G,.1\n", ROOTS, "structural damping .G, GE. is not used in complex modes"),
        ("EIGC,5,HESS,,,,,4\nPARAM,ALPHA1,.1\n", ROOTS, "PARAM,ALPHA1 = 0.1 is not used in complex modes"),
    ],
)
def test_complex_modes_that_are_refused(deck, bulk, case, message):
    with pytest.raises(ModelError, match=message) as caught:
        convert(deck(bulk, 107, case, ROW))
    assert "deck.bdf, line" in str(caught.value)


# --- over time -------------------------------------------------------------------------------------------------------
def exact(load, t: np.ndarray) -> np.ndarray:
    found = solve_ivp(
        lambda s, y: [y[1], (load(s) - K * y[0] - C * y[1]) / M], (0.0, t[-1]), [0.0, 0.0], t_eval=t, rtol=1e-10,
        atol=1e-13, max_step=1e-2,
    )  # fmt: skip
    return found.y[0]


def ramp(t: float) -> float:
    return 0.0 if t < 0.2 else 2.0 * (t - 0.2)


def wave(t: float) -> float:
    s = t - 0.1
    return 2.0 * s * np.exp(-0.5 * s) * np.cos(2.0 * np.pi * 1.5 * s + np.deg2rad(20.0)) if 0.0 <= s <= 1.12963 else 0.0


@pytest.mark.parametrize(
    ("bulk", "load"),
    [
        ("TLOAD1,7,9,.2,,14\nTABLED1,14\n,0.,0.,1.,1.,ENDT\n", ramp),
        ("TLOAD1,7,9,21,,14\nTABLED1,14\n,0.,0.,1.,1.,ENDT\nDELAY,21,2,1,.2\n", ramp),
        ("TLOAD2,7,9,,,.1,1.22963,1.5,20.\n,-.5,1.\n", wave),
    ],
    ids=["table", "delay by grid points", "formula"],
)
@pytest.mark.parametrize("sol", [109, 112])
def test_loads_over_time(response, bulk, load, sol):
    """The error falls with the square of the time step; it has two parts of different steps."""
    errors = []
    for n in (200, 400):
        more = "EIGRL,6,,,1\n" if sol == 112 else ""
        t, u = response(more + bulk + f"TSTEP,8,{n},{2.0 / n},{n // 10}\n,,{n // 2},{2.0 / n},{n // 10}\n", sol)
        t, at = np.unique(t, return_index=True)
        assert len(t) == 16
        expected = exact(load, t)
        errors.append(np.abs(u[at] - expected).max() / np.abs(expected).max())
    assert errors[1] < 1e-2
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.25)


# --- what is refused -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("bulk", "sol", "more", "message"),
    [
        (FREQ, 108, "", "there is no RLOAD1 or RLOAD2 7"),
        (R2, 108, "", "there are no frequencies 8"),
        (FREQ + "RLOAD2,7,77,,,1.\n", 108, "", "there is no DAREA or load set 77"),
        (FREQ + "RLOAD2,7,9,,,55\n", 108, "", "there is no table 55"),
        (FREQ + "RLOAD2,7,9\n", 108, "", "RLOAD2 has no TB"),
        (FREQ + "RLOAD1,7,9\n", 108, "", "neither TC nor TD"),
        (FREQ + "RLOAD2,7,9,,,1.,,ACCE\n", 108, "", "there is no SPCD 9"),
        (FREQ + "RLOAD2,7,9,5,,1.\n", 108, "", "there is no DELAY 5"),
        (FREQ + "RLOAD2,7,9,,6,1.\n", 108, "", "there is no DPHASE 6"),
        (FREQ + R2.replace("9", "8") + "LSEQ,3,8,44\n", 108, "LOADSET = 3\n", "there is no load set 44"),
        ("FREQ4,8,0.,3.\n" + R2, 108, "", "there are no frequencies 8"),
        (FREQ + R2 + "PARAM,ALPHA1,3.\n", 108, "", "PARAM,ALPHA1 = 3.0 is not used in responses"),
        (FREQ + R2 + "CELAS2,4,1.,2,2,,,.1\n", 108, "", "damping .GE. that differs between elements"),
        (FREQ + R2 + "CBUSH,7,7,1,2,,,,0\nPBUSH,7,K,3.\n,,GE,.1\n", 108, "", "PBUSH: the structural damping GE is not"),
        (
            FREQ + R2 + "CBUSH,7,7,1,2,,,,0\nPBUSH,7,K,3.\nCELAS2,4,1.,2,2,,,.1\n", 108, "",
            "damping .GE. that differs between elements",
        ),
        (
            "FREQ,8,0.,1.\nTABLED1,11,LOG,LOG\n,1.,2.,9.,3.,ENDT\nRLOAD2,7,9,,,11\n", 108, "",
            "the load is not finite at 0 Hz",
        ),
        (FREQ + R2, 111, "METHOD = 0\n", "no METHOD"),
        (
            FREQ + R2 + "EIGRL,6,,,1\nTABDMP1,5\n,0.,.1,9.,.2,ENDT\n", 111, "SDAMPING = 5\n",
            "damping that changes with the frequency",
        ),
        ("TLOAD1,7,9,,,14\nTABLED1,14\n,0.,0.,0.,1.,ENDT\nTSTEP,8,2,.1\n", 109, "", "with rising first numbers"),
        ("TLOAD2,7,9,,,2.,1.\nTSTEP,8,2,.1\n", 109, "", "T2 = 1 must be later than T1 = 2"),
        ("TLOAD1,7,9,,,3.\nTSTEP,8,0,.1\n", 109, "", "TSTEP needs a number of steps"),
        ("TLOAD1,7,9,,,3.\n", 109, "", "there is no TSTEP 8"),
    ],
)  # fmt: skip
def test_refused(deck, bulk, sol, more, message):
    with pytest.raises((ModelError, UnsupportedError), match=message) as caught:
        convert(deck(bulk, sol, CASE[sol] + more))
    assert "deck.bdf, line" in str(caught.value)


# --- supports that move ----------------------------------------------------------------------------------------------
#: The support of the oscillator moves by twice the load.
MOVED = "SPCD,9,1,1,2.\n"
ONE_MODE = "EIGRL,6,,,1\n"


@pytest.mark.parametrize(("word", "order"), [("DISP", 0), ("1", 0), ("VELO", 1), ("ACC", 2)])
@pytest.mark.parametrize("sol", [108, 111])
def test_a_support_moves_over_the_frequency(response, sol, word, order):
    """K + i w C times the displacement of the support is the force on the mass."""
    f, u = response(TABLES + FREQ + ONE_MODE + MOVED + f"RLOAD1,7,9,.01,30.,11,12,{word}\n", sol)
    iw = 2j * np.pi * f
    moved = 2.0 * (1.0 + 0.2 * f + 0.1j * f) * np.exp(1j * np.deg2rad(30.0) - 0.01 * iw) / iw**order
    np.testing.assert_allclose(u, transfer(f) * (K + iw * C) * moved, rtol=1e-9)


@pytest.mark.parametrize(("word", "order"), [("DISP", 0), ("V", 1), ("ACCE", 2)])
def test_a_support_moves_over_time(response, word, order):
    """Against scipy; the support's displacement d follows from 2 t^2 exp(-t) by integrals from zero."""
    t, u = response(MOVED + f"TLOAD2,7,9,,{word},0.,9.,0.,0.,-1.,2.\nTSTEP,8,400,.005,20\n", 109)
    polynomials = [  # of d, and of its derivative: constant + exp(-t) (coefficients of t)
        ((0.0, (0, 0, 2)), (0.0, (0, 4, -2))),
        ((4.0, (-4, -4, -2)), (0.0, (0, 0, 2))),
        (None, (4.0, (-4, -4, -2))),
    ]

    def of(one, s):
        return one[0] + np.exp(-s) * np.polynomial.polynomial.polyval(s, one[1])

    def d(s):
        if order == 2:  # the integral of 4 - (4 + 4 s + 2 s^2) exp(-s)
            return 4.0 * s + np.exp(-s) * (2.0 * s * s + 8.0 * s + 12.0) - 12.0
        return of(polynomials[order][0], s)

    def rates(s, y):
        return [y[1], (K * (d(s) - y[0]) + C * (of(polynomials[order][1], s) - y[1])) / M]

    exact = solve_ivp(rates, (0.0, 2.0), [0.0, 0.0], t_eval=t, rtol=1e-10, atol=1e-12).y[0]
    np.testing.assert_allclose(u, exact, atol=2e-4 * np.abs(exact).max())


def test_supports_that_move_are_held(deck):
    bulk = FREQ + "RLOAD1,7,9,,,1.,,DISP\nSPCD,9,2,1,2.\n"
    with pytest.raises(ModelError, match="SPCD moves component 1 of grid point 2, which no SPC"):
        convert(deck(bulk, 108))
    with pytest.raises(ModelError, match="there is no SPCD 9"):
        convert(deck(FREQ + "RLOAD1,7,9,,,1.,,DISP\n", 108))
    with pytest.raises(ModelError, match="TYPE = SPEED is none of"):
        convert(deck(FREQ + MOVED + "RLOAD1,7,9,,,1.,,SPEED\n", 108))


# --- frequencies about those of modes --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("entry", "shares"),
    [
        ("FREQ4,8,.1,9.,.2,5\n", [0.8, 0.9, 1.0, 1.1, 1.2]),
        ("FREQ5,8,.1,9.,.5,1.,2.5\n", [0.5, 1.0, 2.5]),
        ("FREQ5,8,.1,.2,.5\nFREQ5,8,,,.5\n", [0.5]),
    ],
)
def test_frequencies_by_those_of_modes(response, entry, shares):
    f, _ = response(R2 + ONE_MODE + entry, 111)
    np.testing.assert_allclose(f, np.array(shares) * np.sqrt(K / M) / (2.0 * np.pi), rtol=1e-9)


def test_frequencies_between_those_of_modes(response):
    """Three in each interval; a cluster of 2 draws five of them to the ends by square roots."""
    n = np.sqrt(K / M) / (2.0 * np.pi)
    f, _ = response(R2 + ONE_MODE + "FREQ3,8,.5,3.,,3\n", 111)
    np.testing.assert_allclose(f, [0.5, (0.5 + n) / 2, n, (n + 3.0) / 2, 3.0], rtol=1e-9)
    f, _ = response(R2 + ONE_MODE + "FREQ3,8,.5,3.,LOG,3\n", 111)
    np.testing.assert_allclose(f, [0.5, np.sqrt(0.5 * n), n, np.sqrt(3.0 * n), 3.0], rtol=1e-9)
    f, _ = response(R2 + ONE_MODE + "FREQ3,8,2.,3.,,5,2.\n", 111)
    np.testing.assert_allclose(f, 2.5 + 0.5 * np.array([-1.0, -np.sqrt(0.5), 0.0, np.sqrt(0.5), 1.0]), rtol=1e-9)


def test_dampers_of_twist(deck):
    """A disc on a torsion spring, damped about a slanted line: k + i w c - w^2 J about that line."""
    k, c, J = 5.0, 0.3, 0.7
    n = np.array([2.0, 1.0, 2.0]) / 3.0
    bulk = "GRID,1,,0.,0.,0.\nGRID,2,,2.,1.,2.\nCVISC,1,4,1,2\nPVISC,4,.0,.3\nCONM2,2,2,,0.,,,,,+\n+,.7,,.7,,,.7\n"
    bulk += "".join(f"CELAS2,{10 + i},5.,2,{i}\n" for i in (4, 5, 6)) + "SPC1,1,123456,1\nSPC1,1,123,2\n"
    bulk += f"RLOAD2,7,9,,,1.\nDAREA,9,2,4,{n[0]!r}\nDAREA,9,2,5,{n[1]!r}\nDAREA,9,2,6,{n[2]!r}\n" + "FREQ,8,.2,.6\n"
    _, solution = solve_deck(deck(bulk.replace("np.float64(", "").replace(")", ""), 108, model=""))
    for table, f in zip(solution.report.steps[0].prints, (0.2, 0.6), strict=True):
        row, w = np.array(table.values[table.ids.index(2)]), 2.0 * np.pi * f
        np.testing.assert_allclose(row[3:6] + 1j * row[9:], n / (k + 1j * w * c - w * w * J), rtol=1e-9)
