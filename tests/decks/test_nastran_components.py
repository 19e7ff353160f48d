"""Single components of Nastran decks: scalar points and masses, and reductions to some components."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from fem_mbs.decks.nastran.run import convert, solve_deck
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.nastran.reader import read_bulk


@pytest.fixture
def deck(tmp_path):
    """Reads a deck."""

    def read(bulk: str, sol: int = 103, case: str = "SPC = 1\nMETHOD = 1\nDISPLACEMENT = ALL\n"):
        path = tmp_path / "deck.bdf"
        path.write_text(f"SOL {sol}\nCEND\n{case}BEGIN BULK\n{bulk}ENDDATA\n")
        return read_bulk(path)

    return read


@pytest.fixture
def eigenvalues(deck):
    """Returns the eigenvalues (n,) of the modes of a deck."""

    def solve(bulk: str) -> np.ndarray:
        _, solution = solve_deck(deck(bulk))
        table = next(t for t in solution.report.steps[0].prints if t.quantity == "EIGENVALUES")
        return np.array(table.values)[:, 0]

    return solve


def close(a, b, rtol=1e-8):
    np.testing.assert_allclose(a, b, rtol=rtol)


# --- scalar points ---------------------------------------------------------------------------------------------------
CHAIN = "SPOINT,1,2,3\nCELAS4,1,10.,1,0\nCELAS3,2,7,1,2\nPELAS,7,20.\nCELAS2,3,30.,2,,3,0\n"
CHAIN_STIFFNESS = np.array([[30.0, -20.0, 0.0], [-20.0, 50.0, -30.0], [0.0, -30.0, 30.0]])


def test_chain_of_scalar_points_in_statics(deck):
    bulk = CHAIN + "SLOAD,2,1,4.,3,5.\n"
    _, solution = solve_deck(deck(bulk, 101, "LOAD = 2\nDISPLACEMENT = ALL\n"))
    table = solution.report.steps[0].prints[0]
    assert table.ids == [1, 2, 3]
    close(np.array(table.values)[:, 0], np.linalg.solve(CHAIN_STIFFNESS, [4.0, 0.0, 5.0]))


def test_chain_of_scalar_masses(eigenvalues):
    """CMASS3 and CMASS4 on points, and CMASS2 between two of them."""
    bulk = CHAIN + "CMASS4,4,2.,1\nCMASS3,5,9,2\nPMASS,9,3.\nCMASS2,6,.5,2,,3\nCMASS4,7,1.,3\nEIGRL,1,,,3\nSPC1,1,,9\n"
    M = np.diag([2.0, 3.5, 1.5])
    M[1, 2] = M[2, 1] = -0.5
    close(eigenvalues(bulk + "SPOINT,9\n"), scipy.linalg.eigh(CHAIN_STIFFNESS, M, eigvals_only=True))


def test_supports_and_equations_of_scalar_points(deck):
    bulk = CHAIN + "SPC,1,1,0\nMPC,5,3,0,1.,2,0,-2.\nSLOAD,2,3,6.\n"
    _, solution = solve_deck(deck(bulk, 101, "SPC = 1\nMPC = 5\nLOAD = 2\nDISPLACEMENT = ALL\n"))
    u = np.array(solution.report.steps[0].prints[0].values)[:, 0]
    close(u, np.array([0.0, 1.0, 2.0]) * 12.0 / 50.0)  # u3 = 2 u2: k = 20 + 30 (2 - 1)^2


def test_an_element_on_a_scalar_point_is_an_error(deck):
    with pytest.raises(ModelError, match="3 is a scalar point"):
        convert(deck("SPOINT,3\nGRID,1\nCROD,1,1,1,3\nPROD,1,1,1.\nMAT1,1,1.,,.3\nEIGRL,1,,,1\nSPC1,1,1,1\n"))


# --- masses on components --------------------------------------------------------------------------------------------
#: A grid point on three springs along axes turned by 30 degrees about z, and springs of its rotations.
TURNED = (
    "CORD2R,5,,0.,0.,0.,0.,0.,1.,+\n+,.8660254037844387,.5,0.\nGRID,1,,0.,0.,0.,5\n"
    "CELAS2,1,100.,1,1\nCELAS2,2,200.,1,2\nCELAS2,3,300.,1,3\nCELAS2,4,7.,1,6\nSPC1,1,45,1\n"
)


def test_masses_on_components_along_turned_axes(eigenvalues):
    masses = "CMASS2,11,2.,1,1\nCMASS2,12,5.,1,2\nCMASS1,13,4,1,3\nPMASS,3,9.,4,6.\nCMASS2,14,.5,1,6\n"
    close(eigenvalues(TURNED + masses + "EIGRL,1,,,4\n"), sorted([100 / 2, 200 / 5, 300 / 6, 7 / 0.5]))


def test_wtmass_and_equal_masses_are_a_point_mass(eigenvalues, deck):
    masses = "CMASS2,11,2.,1,1\nCMASS2,12,2.,1,2\nCMASS2,13,2.,1,3\nPARAM,WTMASS,.1\nEIGRL,1,,,3\n"
    close(eigenvalues(TURNED + masses), [500.0, 1000.0, 1500.0])
    assert not any("masses of components" in m for m in convert(deck(TURNED + masses)).model.building.meshes)


def test_gravity_acts_on_masses_of_grid_points_alone(deck):
    bulk = "GRID,1\nSPOINT,2\nCELAS2,1,100.,1,1\nCELAS4,2,10.,2,0\nCMASS2,3,2.,1,1\nCMASS4,4,5.,2\nSPC1,1,23456,1\n"
    bulk += "GRAV,2,,10.,1.,1.,0.\nCELAS2,5,1.,1,1,2\n"
    _, solution = solve_deck(deck(bulk, 101, "SPC = 1\nLOAD = 2\nDISPLACEMENT = ALL\n"))
    u = np.array(solution.report.steps[0].prints[0].values)[:, 0]
    close(u, np.linalg.solve([[101.0, -1.0], [-1.0, 11.0]], [20.0, 0.0]))


def test_artificial_mass(eigenvalues):
    """A massless bar on a clamp turns with the artificial inertia alone; displacements have theirs."""
    bar = (
        "GRID,1\nGRID,2,,2.,0.,0.\nCBAR,1,1,1,2,0.,1.,0.\nPBAR,1,1,.5,.02,.03,.04\nMAT1,1,1000.,400.\nSPC1,1,123456,1\n"
    )
    found = eigenvalues(bar + "SPC1,1,2356,2\nEIGRL,1,,,2\nPARAM,ART_MASS,Y,,.5\nPARAM,WTMASS,2.\n")
    close(found, [400 * 0.04 / 2 / 1.0, 1000 * 0.5 / 2 / 2e-6])


def test_beams_have_torsional_inertia_and_bars_have_none(eigenvalues):
    """Density times I1 + I2, and NSI, half at each end; on a column turned to (1, 1, 1)."""
    ends = "GRID,1\nGRID,2,,1.,1.,1.\nMAT1,1,1000.,400.,,3.\nSPC1,1,123456,1\nSPC1,1,123,2\nEIGRL,1,,,1\n"
    length = np.sqrt(3.0)
    beam = "CBEAM,1,1,1,2,0.,1.,0.\nPBEAM,1,1,.5,.02,.03,,.04\n"
    close(eigenvalues(ends + beam), 400 * 0.04 / length / (0.5 * 3 * 0.05 * length))
    more = ",0.,0.\n,YES,1.\n,0.,0.\n,1.,1.,,,.25,.15\n"
    close(eigenvalues(ends + beam + more), 400 * 0.04 / length / (0.5 * (3 * 0.05 + 0.2) * length))
    with pytest.raises(Exception, match="mass"):
        eigenvalues(ends + "CBAR,1,1,1,2,0.,1.,0.\nPBAR,1,1,.5,.02,.03,.04\n")


# --- reductions ------------------------------------------------------------------------------------------------------
#: A cantilever of ten bars that moves in its plane, with lumped masses.
N, E, A, I_, RHO = 10, 2.9e7, 0.1, 0.01, 7.357e-4
CANTILEVER = (
    "GRDSET,,,,,,,1345\nSPC1,1,123456,1\n"
    f"MAT1,1,{E},1.1+7,,{RHO}\nPBAR,1,1,{A},{I_},{I_},.001\n"
    + "".join(f"GRID,{k + 1},,{k}.,0.,0.\n" for k in range(N + 1))
    + "".join(f"CBAR,{k},1,{k},{k + 1},0.,1.,0.\n" for k in range(1, N + 1))
)


def cantilever() -> tuple[np.ndarray, np.ndarray]:
    """Return stiffness and lumped mass (2 N, 2 N) of the free displacements and rotations."""
    K, M = np.zeros((2 * N + 2,) * 2), np.zeros((2 * N + 2,) * 2)
    k = E * I_ * np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]])
    for e in range(N):
        at = np.arange(2 * e, 2 * e + 4)
        K[np.ix_(at, at)] += k
        M[at[0], at[0]] += 0.5 * RHO * A
        M[at[2], at[2]] += 0.5 * RHO * A
    return K[2:, 2:], M[2:, 2:]


def reduced(masters: list[int], held: int = 0) -> np.ndarray:
    """Return eigenvalues of the cantilever, reduced by a basis of static shapes and modes with the masters held."""
    K, M = cantilever()
    o = np.setdiff1d(np.arange(len(K)), masters)
    T = np.zeros((len(K), len(masters) + held))
    T[masters, np.arange(len(masters))] = 1.0
    T[np.ix_(o, np.arange(len(masters)))] = -np.linalg.solve(K[np.ix_(o, o)], K[np.ix_(o, masters)])
    if held:  # massless rotations: the largest 1/w^2
        t, v = scipy.linalg.eigh(M[np.ix_(o, o)], K[np.ix_(o, o)])
        T[np.ix_(o, len(masters) + np.arange(held))] = v[:, ::-1][:, :held]
    t = scipy.linalg.eigh(T.T @ M @ T, T.T @ K @ T, eigvals_only=True)
    return 1.0 / t[::-1][t[::-1] > 1e-14 * t[-1]]


TIP, MIDDLE = [2 * N - 2, 2 * N - 1], [2 * 5 - 2, 2 * 5 - 1]


def test_guyan_as_the_listing_of_msc_nastran(eigenvalues):
    """The decks guyanReduction and dynamicReduction of NASTRAN_CoFE, with listings of MSC Nastran beside them."""
    close(eigenvalues(CANTILEVER + "ASET,6,26\nEIGRL,1,,,9\n"), [5.090109e6, 3.398675e8], rtol=5e-7)
    more = "QSET,101,,102,0,103\nSPOINT,101,THRU,103\n"
    printed = [4.828655e6, 1.856802e8, 1.428562e9, 5.660398e9, 3.397558e10]
    close(eigenvalues(CANTILEVER + "ASET,6,26\n" + more + "EIGRL,1,,,9\n"), printed, rtol=5e-7)


@pytest.mark.parametrize(
    "sets",
    [
        "ASET1,26,6\nASET,11,2,11,6\n",
        "BSET1,26,6\nASET1,2,11\nASET1,6,11\n",
        "ASET1,26,11\nSUPORT,6,26\n",
        "OMIT1,26,2,THRU,5\nOMIT,7,26,8,26,9,26,10,26\n",
    ],
)  # fmt: skip
def test_sets_of_components(eigenvalues, sets):
    close(eigenvalues(CANTILEVER + sets + "EIGRL,1,,,4\n"), reduced(MIDDLE + TIP))


def test_modes_with_the_masters_held(eigenvalues):
    """Craig and Bampton, in a band: QSET has three coordinates of modes."""
    sets = "ASET,6,26\nQSET,101,,102,0,103\nSPOINT,101,THRU,103\n"
    expected = reduced(MIDDLE, 3)
    close(eigenvalues(CANTILEVER + sets + "EIGRL,1,,,9\n"), expected)
    f = np.sqrt(expected[3]) / 2 / np.pi
    two = CANTILEVER + sets + "EIGRL,1,,,9\nEIGR,2,LAN," + f"{0.1 * f},{1.01 * f}" + ",,9\n"
    found = eigenvalues(two.replace("EIGRL,1,,,9\nEIGR,2", "EIGR,1"))
    close(found, expected[(expected > (0.2 * np.pi * f) ** 2) & (expected < 1.02 * expected[3])])


def test_a_reduction_to_all_that_has_mass_changes_nothing(eigenvalues):
    K, M = cantilever()
    t = scipy.linalg.eigh(M, K, eigvals_only=True)[::-1][:4]
    close(eigenvalues(CANTILEVER + "ASET1,2,2,THRU,11\nEIGRL,1,,,4\n"), 1.0 / t)


@pytest.mark.parametrize(
    ("bulk", "message"),
    [
        ("ASET,6,26\nQSET1,,101,102\nSPOINT,101,102\nEIGRL,1,,,1\n", "QSET has 2 coordinates and the method 1 modes"),
        ("ASET,6,26\nQSET1,2,8\nEIGRL,1,,,1\n", "QSET names 8, at which elements end"),
        ("ASET1,26,1\nEIGRL,1,,,1\n", "the a-set has no component that can move"),
        ("ASET1,26,12\nRBE2,99,11,26,12\nGRID,12,,10.,0.,0.\nEIGRL,1,,,1\n", "is in the a-set, but depends on"),
        ("ASET1,2,13\nGRID,13,,10.,0.,0.,7\nCORD2R,7,,0.,0.,0.,0.,0.,1.,+\n+,1.,1.,0.\nCELAS2,99,1.,13,2,11,2\n"
         "EIGRL,1,,,1\n", "whose axes are turned, is in the a-set with some of its components"),
    ],
)  # fmt: skip
def test_reductions_that_are_refused(deck, bulk, message):
    with pytest.raises(ModelError, match=message) as caught:
        convert(deck(CANTILEVER.replace("GRID,13,,10.,0.,0.,7\n", "") + bulk))
    assert "deck.bdf, line" in str(caught.value)


def test_a_reduction_in_a_response_is_refused(deck):
    bulk = CANTILEVER + "ASET1,26,11\nRLOAD2,5,6,,,1.\nDAREA,6,11,2,1.\nFREQ,7,10.\n"
    with pytest.raises(UnsupportedError, match="ASET1: this solution is computed without reduction"):
        convert(deck(bulk, 108, "SPC = 1\nDLOAD = 5\nFREQUENCY = 7\n"))


# --- matrices --------------------------------------------------------------------------------------------------------
def dmig(name: str, points: list[tuple[int, int]], A: np.ndarray, form: int = 6) -> str:
    """Return entries of a matrix over grid points and components: the lower triangle, or all of it."""
    text = f"DMIG,{name},0,{form},1,0\n"
    for j, (g, c) in enumerate(points):
        rows = [(i, *points[i]) for i in range(j if form == 6 else 0, len(points)) if A[i, j]]
        if rows:
            text += f"DMIG*,{name},{g},{c},,*A\n".replace(",*A", "")
            text += "".join(f"*,{a},{b},{A[i, j]!r}\n".replace("np.float64(", "").replace(")", "") for i, a, b in rows)
    return text


TWO_POINTS = "GRID,1,,0.,0.,0.\nGRID,2,,2.,1.,0.,7\nCORD2R,7,,0.,0.,0.,1.,1.,3.,+\n+,1.,0.,-1.\n"
SIX = [(2, c) for c in range(1, 7)]


def _positive(seed: int) -> np.ndarray:
    A = np.random.default_rng(seed).normal(size=(6, 6))
    return A @ A.T + 0.1 * np.eye(6)


@pytest.mark.parametrize("form", [6, 1])
def test_stiffness_and_loads_of_matrices(deck, form):
    """Along turned axes, a sum of two matrices, and loads by a matrix."""
    A, B = _positive(1), _positive(2)
    bulk = TWO_POINTS + dmig("KA", SIX, A, form) + dmig("KB", SIX, B, form)
    bulk += "DMIG,P,0,9,1,0,,,1\nDMIG*,P,1,0\n*,2,1,3.\n*,2,5,-2.\n"
    _, solution = solve_deck(deck(bulk, 101, "K2GG = 2.0*KA, KB\nP2G = P\nDISPLACEMENT = ALL\n"))
    table = solution.report.steps[0].prints[0]
    expected = np.linalg.solve(2.0 * A + B, [3.0, 0.0, 0.0, 0.0, -2.0, 0.0])
    np.testing.assert_allclose(table.values[table.ids.index(2)], expected, rtol=1e-7, atol=1e-9)


def test_mass_of_matrices(deck):
    K, M = _positive(3), _positive(4)
    bulk = TWO_POINTS + dmig("KA", SIX, K) + dmig("MA", SIX, M) + "EIGRL,1,,,6\n"
    case = "K2GG = KA\nM2GG = MA\nMETHOD = 1\n"
    _, solution = solve_deck(deck(bulk, 103, case))
    table = next(t for t in solution.report.steps[0].prints if t.quantity == "EIGENVALUES")
    close(np.array(table.values)[:, 0], scipy.linalg.eigh(K, M, eigvals_only=True), rtol=1e-7)
    negative = bulk.replace(dmig("MA", SIX, M), dmig("MA", SIX, M - 5.0 * np.eye(6)))
    with pytest.raises(UnsupportedError, match="have negative eigenvalues"):
        convert(deck(negative, 103, case))


def test_matrices_of_dynamics(deck):
    """K2PP, M2PP and B2PP count in responses, and not in statics."""
    bulk = "SPOINT,1,2\nCELAS4,1,10.,1,0\nCELAS4,2,20.,2,0\nCMASS4,3,.1,1\nCMASS4,4,.2,2\n"
    points = [(1, 0), (2, 0)]
    K, B, M = np.array([[3.0, -1.0], [-1.0, 2.0]]), np.array([[0.3, 0.1], [0.1, 0.2]]), np.diag([0.05, 0.0])
    bulk += dmig("KA", points, K) + dmig("BA", points, B) + dmig("MA", points, M)
    case = "K2PP = KA\nB2PP = BA\nM2PP = MA\nDISPLACEMENT = ALL\n"
    load = "RLOAD2,5,6,,,1.\nDAREA,6,1,,4.\nFREQ,7,.5,2.\n"
    _, solution = solve_deck(deck(bulk + load, 108, case + "DLOAD = 5\nFREQUENCY = 7\n"))
    for table, f in zip(solution.report.steps[0].prints, (0.5, 2.0), strict=True):
        w = 2.0 * np.pi * f
        Z = np.diag([10.0, 20.0]) + K + 1j * w * B - w * w * (np.diag([0.1, 0.2]) + M)
        found = [complex(row[0], row[6]) for row in table.values]
        np.testing.assert_allclose(found, np.linalg.solve(Z, [4.0, 0.0]), rtol=1e-8)
    with pytest.raises(UnsupportedError, match="K2PP with structural damping"):
        convert(deck(bulk + load + "PARAM,G,.1\n", 108, case + "DLOAD = 5\nFREQUENCY = 7\n"))
    _, solution = solve_deck(deck(bulk + "SLOAD,2,1,4.,2,5.\n", 101, case + "LOAD = 2\n"))
    close(np.array(solution.report.steps[0].prints[0].values)[:, 0], [0.4, 0.25])


@pytest.mark.parametrize(
    ("bulk", "case", "message"),
    [
        ("", "K2GG = KX\n", "there is no DMIG KX"),
        ("DMIG,KA,0,1,1,0\nDMIG*,KA,2,1\n*,2,2,3.\n", "K2GG = KA\n", "DMIG KA is not symmetric"),
        ("DMIG,KA,0,6,3,0\nDMIG*,KA,2,1\n*,2,2,3.,1.\n", "K2GG = KA\n", "DMIG KA is complex"),
        ("DMIG,KA,0,2,1,0\nDMIG*,KA,2,1\n*,2,2,3.\n", "K2GG = KA\n", "of the form 2 is not supported"),
        ("DMIG,KA,0,6,1,0\nDMIG*,KA,2,9\n*,2,2,3.\n", "K2GG = KA\n", "component 9"),
        (
            "DMIG,KA,0,6,1,0\nDMIG*,KA,2,1\n*,2,2,3.\n*,2,2,4.\n",
            "K2GG = KA\n",
            "term in row 2, 2 of column 2, 1 is given twice",
        ),
        ("DMIG,KA,0,6,1,0\nDMIG*,KA,2,1\n*,2,2,3.\nDMIG*,KA,2,2\n*,2,1,3.\n", "K2GG = KA\n", "in both triangles"),
    ],
)
def test_matrices_that_are_refused(deck, bulk, case, message):
    with pytest.raises(ModelError, match=message) as caught:
        convert(deck(TWO_POINTS + "CELAS2,9,1.,2,1\n" + bulk, 101, case + "LOAD = 2\n"))
    assert "deck.bdf, line" in str(caught.value)


def test_a_load_matrix_with_a_repeated_term_is_refused(deck):
    bulk = TWO_POINTS + dmig("KA", SIX, _positive(1)) + "DMIG,P,0,9,1,0,,,1\nDMIG*,P,1,0\n*,2,1,3.\n*,2,1,-2.\n"
    with pytest.raises(ModelError, match="DMIG P: the term in row 2, 1 of column 1, 0 is given twice; remove one"):
        convert(deck(bulk, 101, "K2GG = KA\nP2G = P\n"))


# --- shear panels ----------------------------------------------------------------------------------------------------
def test_shear_panel(deck):
    """A panel 2 x 1 between rods under the force P at its free edge: the shear flow is P over its depth."""
    bulk = "MAT1,1,1000.,400.,,.3\nPSHEAR,1,1,.05,.1\nCSHEAR,1,1,1,2,3,4\nCORD2R,7,,0.,0.,0.,0.,1.,0.,+\n+,0.,0.,1.\n"
    places = {1: "0.,0.,0.", 2: "2.,0.,0.", 3: "2.,1.,0.", 4: "0.,1.,0."}
    bulk += "".join(f"GRID,{k},,{x},{7 if k == 3 else ''}\n" for k, x in places.items())
    bulk += "SPC1,1,123456,1,4\nCONROD,11,1,2,1,.2\nCONROD,12,4,3,1,.2\nCONROD,13,2,3,1,.2\nFORCE,2,2,,3.,0.,1.,0.\n"
    bulk += "FORCE,2,3,,3.,0.,1.,0.\nGRAV,3,,9.,0.,1.,0.\n"
    _, solution = solve_deck(deck(bulk, 101, "SPC = 1\nDISPLACEMENT = ALL\nLOAD = 2\n"))
    table = solution.report.steps[0].prints[0]
    flow, EA = 6.0 / 1.0, 1000.0 * 0.2
    # the flow stretches the rods by linear forces, whose ends are free: flow a/2 each at both ends
    axial = flow * 2.0 / 2.0 * 2.0 / EA
    deep = flow / (400.0 * 0.05) * 2.0 + 2.0 * axial / 1.0  # shear, and the turn of the free edge
    u = np.array([table.values[table.ids.index(k)][:3] for k in (2, 3)])
    np.testing.assert_allclose(u[0, :2], [axial, deep], rtol=1e-6)
    np.testing.assert_allclose(u[1, [1, 2]], [-axial, deep], rtol=1e-6)
    weight = solve_deck(deck(bulk, 101, "SPC = 1\nSPCFORCES = ALL\nLOAD = 3\n"))[1].report.steps[0].prints[0]
    total = 9.0 * (2.0 * (0.3 * 0.05 + 0.1) + 0.3 * 0.2 * 5.0)
    np.testing.assert_allclose(np.array(weight.values)[:, 1].sum(), -total, rtol=1e-9)
