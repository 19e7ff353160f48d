"""Steps of decks one after the other: times, loads that hold on, where a step begins.  Numbers are CalculiX 2.20's."""

from __future__ import annotations

import numpy as np
import pytest
from deck_text import at, brick, mesh_text, nset, prints, run, steel, step
from scipy.linalg import eigh

from fem_mbs.decks.abaqus.run import convert
from fem_mbs.decks.abaqus.steps.make import PROCEDURES
from fem_mbs.errors import InputError, ModelError
from fem_mbs.meshes.abaqus.calculix_dat import read_dat
from fem_mbs.meshes.abaqus.reader import read_deck
from fem_mbs.meshes.abaqus.steps import COMPUTED
from fem_mbs.meshes.vocabulary import Effect

#: One cube, held below, that moves up and down: stiffness 1000, mass 4 at the top (consistent).
CUBE = """*NODE, NSET=NALL
1, 0., 0., 0.
2, 1., 0., 0.
3, 1., 1., 0.
4, 0., 1., 0.
5, 0., 0., 1.
6, 1., 0., 1.
7, 1., 1., 1.
8, 0., 1., 1.
*ELEMENT, TYPE=C3D8, ELSET=EALL
1, 1,2,3,4,5,6,7,8
*NSET, NSET=BOT
1,2,3,4
*NSET, NSET=TOP
5,6,7,8
*NSET, NSET=N5
5
*MATERIAL, NAME=M
*ELASTIC
1000., 0.
*DENSITY
12.
*SOLID SECTION, ELSET=EALL, MATERIAL=M
*BOUNDARY
BOT, 1, 3
TOP, 1, 2
"""
PRINT = "*NODE PRINT, NSET=N5\nU\n"
STATIC = "*STATIC\n1., 1.\n"
DYNAMIC = "*DYNAMIC, DIRECT, ALPHA=0.\n0.02, 0.06\n"
#: Ends of the first step and of the three increments of the second.
TIMES = [1.0, 1.02, 1.04, 1.06]


def series(done):
    """Times and vertical displacements of node 5 over all steps."""
    found = [(p["time"], p["values"][0][2]) for s in done for p in s.get("prints", ()) if p["quantity"] == "U"]
    t, u = np.array(found).T
    return t, u


RAMP = "*AMPLITUDE, NAME=A{}\n0.,0., 1.,1., 2.,3., 4.,3.\n"
PUSH = "*CLOAD{}\nTOP, 3, .01\n"
BY_A = PUSH.format(", AMPLITUDE=A")
# amplitude, first step, second step, CalculiX's displacements / 1e-5
TWO = {
    "an amplitude of the step's time begins again": ("", BY_A, BY_A, [4.0, 3.806854, 3.250136, 2.391942]),
    "an amplitude of the total time goes on": (
        ", TIME=TOTAL TIME", BY_A, BY_A, [4.0, 4.003902, 4.023034, 4.071138],
    ),
    "a load holds on": ("", PUSH.format(""), "", [4.0] * 4),
    "the end of an amplitude holds on": ("", BY_A, "", [4.0] * 4),
    "a load ends, the displaced cube swings": (
        "", PUSH.format(""), "*CLOAD, OP=NEW\n", [4.0, 3.804902, 3.238619, 2.356373],
    ),
    "a load doubles at once": ("", PUSH.format(""), "*CLOAD\nTOP, 3, .02\n", [4.0, 4.195098, 4.761381, 5.643627]),
}  # fmt: skip


def test_procedures_that_are_read_become_steps():
    assert set(PROCEDURES) == set(COMPUTED)


@pytest.mark.parametrize("case", TWO)
def test_dynamic_after_static(tmp_path, case):
    of_time, first, second, expected = TWO[case]
    converted, done = run(
        tmp_path / "d.inp", CUBE, RAMP.format(of_time), step(STATIC + first + PRINT), step(DYNAMIC + second)
    )
    t, u = series(done)
    assert t == pytest.approx(TIMES)
    assert u == pytest.approx(1e-5 * np.array(expected), rel=1e-4)
    assert not converted.notes


def test_equations_that_a_step_removes(tmp_path):
    """Let go in the second step, the loaded cube swings as under a load that jumps."""
    held = CUBE + "*EQUATION\n1\nTOP, 3, 1.\n"
    gone = step(DYNAMIC + "*EQUATION, REMOVE\nTOP, 3\n")
    _, done = run(tmp_path / "d.inp", held, step(STATIC + PUSH.format("") + PRINT), gone)
    expected = np.array(TWO["a load doubles at once"][3]) - 4.0
    assert series(done)[1] == pytest.approx(1e-5 * expected, rel=1e-4, abs=5e-10)
    for later in ("*STATIC\n", "*FREQUENCY\n1\n"):
        free, mine = (
            run(tmp_path / "d.inp", text, step(STATIC + PUSH.format("") + PRINT), step(later + removed))[1][1]
            for text, removed in ((CUBE, ""), (held, "*EQUATION, REMOVE ALL\n"))
        )
        key = "strain_energy" if "strain_energy" in free else "frequencies_hz"
        assert mine[key] == pytest.approx(free[key], rel=1e-9)
    with pytest.raises(ModelError, match=r"d\.inp, line \d+: \*EQUATION, REMOVE within steps is supported in linear"):
        run(tmp_path / "d.inp", held, step(STATIC), gone.replace("*STEP", "*STEP, NLGEOM"))


def test_nonlinear_steps_give_the_same(tmp_path):
    """With NLGEOM everywhere, of small displacements; a load that jumps at the start of a step acts at once."""
    for second, expected in (("*CLOAD\nTOP, 3, .02\n", TWO["a load doubles at once"][3]), ("", [4.0] * 4)):
        _, done = run(
            tmp_path / "d.inp", CUBE, step(STATIC + PUSH.format("") + PRINT, "NLGEOM"), step(DYNAMIC + second)
        )
        t, u = series(done)
        assert t == pytest.approx(TIMES)
        assert u == pytest.approx(1e-5 * np.array(expected), rel=3e-4)


def test_nonlinear_dynamic_after_a_linear_static(tmp_path):
    converted, done = run(
        tmp_path / "d.inp", CUBE, step(STATIC + PUSH.format("") + PRINT), step(DYNAMIC, "NLGEOM")
    )  # fmt: skip
    assert series(done)[1] == pytest.approx([4e-5] * 4, rel=1e-4)
    assert any("computed as one with NLGEOM" in str(n) for n in converted.notes)
    assert [s["name"] for s in done] == ["step 1", "step 2"]


def test_dynamic_after_dynamic_goes_on(tmp_path):
    """Displacement and velocity; a static step after it knows neither."""
    _, done = run(tmp_path / "d.inp", CUBE, step(DYNAMIC + PUSH.format("") + PRINT), step(DYNAMIC), step(STATIC))
    t, u = series(done)
    assert t == pytest.approx([0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 1.12])
    ccx = [1.950976e-06, 7.613807e-06, 1.643627e-05, 2.755749e-05, 3.989246e-05, 5.223793e-05, 4e-5]
    assert u == pytest.approx(ccx, rel=2e-4)
    _, (one,) = run(tmp_path / "e.inp", CUBE, step(DYNAMIC.replace(".06", ".12") + PUSH.format("") + PRINT))
    assert u[:6] == pytest.approx(series([one])[1], rel=1e-9)
    with pytest.raises(ModelError, match=r"line \d+: a nonlinear DYNAMIC step cannot go on from a linear one"):
        run(tmp_path / "f.inp", CUBE, step(DYNAMIC + PUSH.format("")), step(DYNAMIC, "NLGEOM"))


def test_prescribed_motions_hold_on_and_jump(tmp_path):
    """TOP moves as a whole: a STATIC motion stays in a DYNAMIC step, a new value there is reached at once."""
    bound = "*BOUNDARY\nTOP, 1, 2\nN5, 3, 3, {}\n"
    text = CUBE.replace("TOP, 1, 2\n", "TOP, 1, 2\nN5, 3, 3\n")
    _, done = run(
        tmp_path / "d.inp", text, step(STATIC + bound.format("1.E-5") + PRINT), step(DYNAMIC),
        step(DYNAMIC + bound.format("3.E-5")),
    )  # fmt: skip
    t, u = series(done)
    assert t == pytest.approx([*TIMES, 1.08, 1.1, 1.12])
    assert u == pytest.approx([1e-5] * 4 + [3e-5] * 3, rel=1e-9)


def test_everything_prescribed(tmp_path):
    """No unknown is left: the cube stands where it is told to."""
    move = "*BOUNDARY\nTOP, 3, 3, {}\n"
    _, done = run(
        tmp_path / "d.inp",
        CUBE.replace("TOP, 1, 2\n", "TOP, 1, 2\nTOP, 3, 3\n"),
        step(STATIC + move.format("1.E-5") + PRINT.replace("U", "U, RF")),
        step(DYNAMIC + move.format("3.E-5")),
    )
    assert series(done)[1] == pytest.approx([1e-5] + [3e-5] * 3, rel=1e-9)
    assert prints(done[0], "RF")[1][0, 2] == pytest.approx(1000.0 * 1e-5 / 4.0, rel=1e-9)


def test_a_moving_support_does_not_carry_the_rest_along(tmp_path):
    """A ramp of a support has a speed from the first moment; all else begins at rest."""
    text = CUBE.replace("BOT, 1, 3\n", "BOT, 1, 2\nBOT, 3, 3\n") + "*AMPLITUDE, NAME=A\n0., 0., 1., 1.\n"
    moved = DYNAMIC + "*BOUNDARY, AMPLITUDE=A\nBOT, 3, 3, .001\n" + PRINT
    for options in ((), ("NLGEOM",)):
        _, (done,) = run(tmp_path / "d.inp", text, step(moved, *options))
        assert series([done])[1] == pytest.approx([4.878049e-07, 2.879239e-06, 8.892210e-06], rel=1e-3)


def test_perturbation_steps_pass_time(tmp_path):
    """As in CalculiX; functions of the total time go on behind it, modes pass none."""
    _, done = run(
        tmp_path / "d.inp", CUBE, RAMP.format(", TIME=TOTAL TIME"),
        step(STATIC + BY_A + PRINT), step("*STATIC\n.5, .5\n" + PUSH.format(""), "PERTURBATION"),
        step("*FREQUENCY\n1\n"), step("*STATIC\n.5, .5\n"),
    )  # fmt: skip
    t, u = zip(*((p["time"], p["values"][0][2]) for s in (done[0], done[1], done[3]) for p in s["prints"]), strict=True)
    assert t == pytest.approx([1.0, 1.5, 2.0])
    assert u == pytest.approx([4e-5, 4e-5, 12e-5], rel=2e-4)


@pytest.mark.parametrize("kind", ["STATIC", "DYNAMIC"])
def test_loads_of_other_steps_do_not_act_in_general_ones(tmp_path, kind):
    first = (STATIC if kind == "STATIC" else DYNAMIC) + PUSH.format("") + PRINT
    other = step("*STATIC\n*CLOAD\nTOP, 3, 5.\n", "PERTURBATION")
    for options in ((), ("NLGEOM",)):
        _, alone = run(tmp_path / "d.inp", CUBE, step(first, *options))
        _, both = run(tmp_path / "e.inp", CUBE, step(first, *options), other)
        assert series(both[:1])[1] == pytest.approx(series(alone)[1], rel=1e-12)
        assert prints(both[-1], "U")[1][0, 2] == pytest.approx(0.02, rel=1e-2)


def test_initial_velocities_end_in_a_static_step(tmp_path):
    fast = "*INITIAL CONDITIONS, TYPE=VELOCITY\nTOP, 3, .001\n"
    _, (alone,) = run(tmp_path / "d.inp", CUBE, fast, step(DYNAMIC + PRINT))
    assert series([alone])[1] == pytest.approx([1.951220e-05, 3.712076e-05, 5.110779e-05], rel=1e-4)
    converted, done = run(tmp_path / "e.inp", CUBE, fast, step(STATIC + PUSH.format("") + PRINT), step(DYNAMIC))
    assert series(done)[1] == pytest.approx([4e-5] * 4, rel=1e-6)
    assert any("initial velocity is lost" in str(n) for n in converted.notes)


#: CalculiX's six lowest frequencies of the bar below, and effective masses in y of the third to the sixth.
LOWEST = [0.3861939, 0.5041907, 1.163523, 2.041329, 2.057235, 2.296602]


@pytest.mark.parametrize(
    ("bounds", "kept", "left", "said"),
    [
        ("1.0, 4.0", [3, 4, 5, 6], {"below": 2, "above": 0}, "no mode above 4 Hz was reached"),
        ("0.4, 2.05", [2, 3, 4], {"below": 1, "above": 2}, "1 below 0.4 Hz and 2 above 2.05 Hz"),
        ("2.05", [5, 6], {"below": 4, "above": 0}, "4 below 2.05 Hz"),
        (", 1.0", [1, 2], {"below": 0, "above": 4}, "4 above 1 Hz"),
        ("20., 30.", [], {"below": 6, "above": 0}, "6 below 20 Hz"),
    ],
)
def test_bounds_of_frequency_beside_a_number(tmp_path, bounds, kept, left, said):
    """Of the n lowest those within the bounds, with the numbers that they have among the n."""
    nodes, elements = brick((4, 1, 1), (4.0, 1.0, 1.5), "C3D8")
    text = mesh_text(nodes, elements, "C3D8") + nset("FIX", at(nodes, 0, 0.0)) + nset("T", at(nodes, 0, 4.0)[:1])
    text += steel(E=1e6, rho=1000.0) + "*BOUNDARY\nFIX, 1, 3\n"
    converted, (done,) = run(
        tmp_path / "d.inp", text, step(f"*FREQUENCY\n6, {bounds}\n*NODE PRINT, NSET=T\nU\n")
    )  # fmt: skip
    assert done["frequencies_hz"] == pytest.approx([LOWEST[k - 1] for k in kept], rel=1e-6)
    assert [p["mode"] for p in done.get("prints", ())] == kept
    assert done["left_out"] == left
    assert any(said in w for w in done["warnings"])
    assert len(done["participation"]["factors"]) == len(kept)
    assert not converted.notes


def test_tables_of_modes_within_bounds(tmp_path):
    """CalculiX prints participation factors and masses of all modes, frequencies of those within the bounds."""
    head = " MODE NO    EIGENVALUE                       FREQUENCY\n" + " (titles)\n\n"
    rows = "      2   0.1003574E+02   0.3167924E+01   0.5041907E+00   0.0000000E+00\n\n"
    table = "MODE NO.   X-COMPONENT     Y-COMPONENT\n\n" + "".join(
        f"      {k}   " + "   ".join(f"0.{k}{i}00000E+01" for i in range(1, 7)) + "\n" for k in (1, 2)
    )
    path = tmp_path / "d.dat"
    path.write_text(
        "     E I G E N V A L U E   O U T P U T\n\n" + head + rows
        + "     P A R T I C I P A T I O N   F A C T O R S\n\n" + table
        + "\n     E F F E C T I V E   M O D A L   M A S S\n\n" + table
    )  # fmt: skip
    (modes,) = read_dat(path).modes
    assert modes.mode.tolist() == [2]
    for found in (modes.participation, modes.effective_mass):
        assert found == pytest.approx(np.array([[2.1, 2.2, 2.3, 2.4, 2.5, 2.6]]))


# ---- amplitudes that are no tables -----------------------------------------------------------------------------------

WAVES = {
    "SMOOTH STEP": ("0., 0., .5, 1., 1., .25\n", lambda t: smooth(t)),
    "EQUALLY SPACED, FIXED INTERVAL=.25": (
        "0., 1., 0., 2., 2.\n", lambda t: np.interp(t, [0, 0.25, 0.5, 0.75], [0, 1, 0, 2])
    ),
    "PERIODIC": (
        "2, 3., .2, .5\n1., 2., .3, -.4\n",
        lambda t: 0.5 + (t >= 0.2) * sum(
            a * np.cos(3 * n * (t - 0.2)) + b * np.sin(3 * n * (t - 0.2)) for n, a, b in ((1, 1, 2), (2, 0.3, -0.4))
        ),
    ),
    "MODULATED": (
        "1., 2., .1, 3., 20.\n", lambda t: 1 + (t > 0.1) * 2 * np.sin(3 * (t - 0.1)) * np.sin(20 * (t - 0.1))
    ),
    "DECAY": ("1., 2., .1, .3\n", lambda t: 1 + (t >= 0.1) * 2 * np.exp(-(t - 0.1) / 0.3)),
}  # fmt: skip


def smooth(t):
    s, r = np.clip(t / 0.5, 0, 1), np.clip((t - 0.5) / 0.5, 0, 1)
    return s**3 * (10 - 15 * s + 6 * s**2) - 0.75 * r**3 * (10 - 15 * r + 6 * r**2)


@pytest.mark.parametrize("case", WAVES)
def test_amplitudes_that_are_no_tables(tmp_path, case):
    """The load follows the amplitude of the time of its step; then its last value stays."""
    data, law = WAVES[case]
    text = CUBE + f"*AMPLITUDE, NAME=A, DEFINITION={case}\n{data}"
    path = tmp_path / "d.inp"
    path.write_text(text + step("*STATIC\n1., 1.\n") + step("*STATIC\n1., 1.\n" + BY_A) + step(STATIC))
    model = convert(read_deck(path)).model
    (function,) = (f for f, load in model.building.used_functions if load)
    t = np.linspace(0.0, 1.0, 200)[1:]
    value, first, second = function.jet(1.0 + t)
    assert value == pytest.approx(law(t), abs=1e-12)
    assert function(np.array([0.5, 2.5])) == pytest.approx([0.0, law(np.array(1.0))], abs=1e-12)
    h = 1e-4
    inside = (np.abs(t[:, None] - np.concatenate(([0.0, 1.0], function.kinks - 1.0))) > 2 * h).all(axis=1)
    up, down = function(1.0 + t + h), function(1.0 + t - h)
    assert first[inside] == pytest.approx(((up - down) / (2 * h))[inside], abs=1e-3)
    assert second[inside] == pytest.approx(((up - 2 * value + down) / h**2)[inside], abs=1e-1)


# ---- supports of single steps ----------------------------------------------------------------------------------------


def bar(*steps):
    """A bar of three cubes, nu = 0, E A / L = 1000 per cube, whose sides do not move."""
    nodes, elements = brick((3, 1, 1), (3.0, 1.0, 1.0))
    text = mesh_text(nodes, elements) + steel(1000.0, 0.0, 1.0)
    sets = {name: at(nodes, 0, x) for name, x in (("LEFT", 0.0), ("MID", 1.0), ("RIGHT", 3.0))}
    text += "".join(nset(name, ids) for name, ids in sets.items())
    return text + "*BOUNDARY\nNALL, 2, 3\n" + "".join(steps)


OWN = "*BOUNDARY, OP=NEW\nNALL, 2, 3\n"
PULL = "*CLOAD, OP=NEW\n{}, 1, {}\n*NODE PRINT, NSET=NALL\nU, RF\n"


def test_the_same_supports_in_every_step(tmp_path):
    """PrePoMax ends and repeats all supports and loads in every step."""
    again = "*BOUNDARY, OP=NEW\n*BOUNDARY\nNALL, 2, 3\n*BOUNDARY\nLEFT, 1, 1\n*CLOAD, OP=NEW\n*DLOAD, OP=NEW\n"
    pull = "*CLOAD\nRIGHT, 1, 25.\n*NODE PRINT, NSET=RIGHT\nU\n"
    converted, done = run(
        tmp_path / "d.inp",
        bar(step("*STATIC\n" + again + pull), step("*STATIC\n" + again + pull), step("*FREQUENCY\n1\n" + again)),
    )
    assert not converted.conversion.step_supports
    for k in (0, 1):
        assert prints(done[k], "U")[1][:, 0] == pytest.approx(0.3, rel=1e-9)
    assert len(done[2]["frequencies_hz"]) == 1


def test_supports_of_linear_steps_change(tmp_path):
    """Held at the left, then in the middle, then at both ends: end states and frequencies of each step's own bar."""
    left, mid, both = OWN + "LEFT, 1, 1\n", OWN + "MID, 1, 1\n", OWN + "LEFT, 1, 1\nRIGHT, 1, 1\n"
    _, done = run(
        tmp_path / "d.inp",
        bar(
            step("*STATIC\n" + left + PULL.format("RIGHT", 25.0)), step("*STATIC\n" + mid + PULL.format("RIGHT", 25.0)),
            step("*STATIC\n" + both + PULL.format("MID", 25.0)), step("*FREQUENCY\n1\n" + left),
            step("*FREQUENCY\n2\n" + both),
        ),
    )  # fmt: skip
    nodes, _ = brick((3, 1, 1), (3.0, 1.0, 1.0))
    laws = (
        lambda x: 0.1 * x,
        lambda x: 0.1 * np.clip(x - 1.0, 0.0, 2.0),
        lambda x: 0.2 / 3.0 * np.minimum(x, (3.0 - x) / 2.0),
    )
    for k, law in enumerate(laws):
        ids, u = prints(done[k], "U")
        _, force = prints(done[k], "RF")
        assert u[:, 0] == pytest.approx(law(np.array([nodes[i][0] for i in ids])), abs=1e-12)
        assert np.abs(force.sum(axis=0)).max() < 1e-9
    # a chain of three springs k = 1000 with consistent masses 1/6 [2 1; 1 2], as a generalised problem of the test
    K = 1000.0 * np.array([[1, -1, 0, 0], [-1, 2, -1, 0], [0, -1, 2, -1], [0, 0, -1, 1.0]])
    M = np.array([[2, 1, 0, 0], [1, 4, 1, 0], [0, 1, 4, 1], [0, 0, 1, 2.0]]) / 6.0
    for k, free in ((3, [1, 2, 3]), (4, [1, 2])):
        w2 = eigh(K[np.ix_(free, free)], M[np.ix_(free, free)], eigvals_only=True)
        found = done[k]["frequencies_hz"]
        assert found == pytest.approx(np.sqrt(w2[: len(found)]) / (2.0 * np.pi), rel=1e-8)


def test_buckling_with_supports_of_the_step(tmp_path):
    """Euler's column with two hinges, then with one end clamped: pi^2 and 20.1907 E I/L^2."""
    rows = "".join(f"{i}, {0.1 * (i - 1):.17g}, 0., 0.\n" for i in range(1, 22))
    text = f"*NODE, NSET=NALL\n{rows}*ELEMENT, TYPE=B31, ELSET=EALL\n"
    text += "".join(f"{i}, {i}, {i + 1}\n" for i in range(1, 21))
    text += "*MATERIAL, NAME=M\n*ELASTIC\n2.1E11, 0.\n*BEAM SECTION, ELSET=EALL, MATERIAL=M, SECTION=RECT\n"
    text += ".01, .02\n0., 1., 0.\n"
    hinges = "*BOUNDARY, OP=NEW\n1, 1, 4\n21, 2, 3\nNALL, 3, 3\n"
    load = "*BUCKLE\n1\n*CLOAD\n21, 1, -1.\n"
    _, done = run(tmp_path / "d.inp", text, step(load + hinges), step(load + hinges + "1, 6, 6\n"))
    unit = 2.1e11 * 0.02 * 0.01**3 / 12.0 / 4.0
    for k, factor in enumerate((np.pi**2, 20.1907)):
        assert done[k]["load_factors"] == pytest.approx([factor * unit], rel=2e-3)


HELD_AT_BOTH = OWN + "LEFT, 1, 1\nRIGHT, 1, 1\n"


@pytest.mark.parametrize("order", ["goes", "comes"])
def test_supports_of_nonlinear_steps_change(tmp_path, order):
    """With NLGEOM a bar that loses a support ends as one that never had it; one that gets it back, at the place of the
    start, ends as one that always had it."""
    left, both = OWN + "LEFT, 1, 1\n", HELD_AT_BOTH
    pull = PULL.format("MID", 100.0)
    first, then = (both, left) if order == "goes" else (left, both)
    _, done = run(
        tmp_path / "d.inp",
        bar(step("*STATIC\n.25, 1.\n" + first + pull, "NLGEOM"), step("*STATIC\n.25, 1.\n" + then + pull, "NLGEOM")),
    )
    _, alone = run(tmp_path / "e.inp", bar(step("*STATIC\n.25, 1.\n" + then + pull, "NLGEOM")))
    moved = [prints(d, "U", time=t)[1] for d, t in ((done[0], 1.0), (done[1], 2.0), (alone[0], 1.0))]
    assert np.abs(moved[0] - moved[1]).max() > 0.05
    assert moved[1] == pytest.approx(moved[2], abs=1e-9)
    assert prints(done[1], "RF", time=2.0)[1] == pytest.approx(prints(alone[0], "RF", time=1.0)[1], abs=1e-6)


def chain(u0: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return displacements (n, 3) of the three nodes of a chain that is held at its beginning and let go at ``u0``."""
    K = 1000.0 * np.array([[2, -1, 0], [-1, 2, -1], [0, -1, 1.0]])
    M = np.array([[4, 1, 0], [1, 4, 1], [0, 1, 2.0]]) / 6.0
    w2, shapes = eigh(K, M)
    return (shapes @ ((shapes.T @ M @ u0)[:, None] * np.cos(np.sqrt(w2)[:, None] * t))).T


@pytest.mark.parametrize("options", [(), ("NLGEOM",)], ids=["linear", "NLGEOM"])
def test_a_bar_that_is_pulled_and_let_go(tmp_path, options):
    """A prescribed displacement of a STATIC step, which the DYNAMIC step lacks: free vibrations of the chain of springs
    and consistent masses, by its eigenvectors."""
    move = "*STATIC\n.5, 1.\n" + OWN + "LEFT, 1, 1\nRIGHT, 1, 1, 3e-4\n"
    swing = "*DYNAMIC, ALPHA=0., DIRECT\n.001, .2\n" + OWN + "LEFT, 1, 1\n*NODE PRINT, NSET=RIGHT, FREQUENCY=50\nU\n"
    _, done = run(tmp_path / "d.inp", bar(step(move, *options), step(swing, *options)))
    found = [(p["time"] - 1.0, np.array(p["values"])[:, 0]) for p in done[1]["prints"]]
    t = np.array([time for time, _ in found])
    assert len(t) >= 4
    wanted = chain(3e-4 / 3.0 * np.array([1.0, 2.0, 3.0]), t)[:, 2]
    assert wanted.min() < -1e-4
    for (_, u), right in zip(found, wanted, strict=True):
        assert u == pytest.approx(right * np.ones(4), abs=2e-6)


@pytest.mark.parametrize("options", [(), ("NLGEOM",)], ids=["linear", "NLGEOM"])
def test_fixed_supports_of_dynamic_steps(tmp_path, options):
    """FIXED keeps the end where a force has brought it, without the force."""
    pull = "*STATIC\n.5, 1.\n" + OWN + "LEFT, 1, 1\n*CLOAD\nRIGHT, 1, .025\n"
    keep = "*DYNAMIC, ALPHA=0., DIRECT\n.005, .05\n*BOUNDARY, FIXED\nRIGHT, 1, 1\n*CLOAD, OP=NEW\n"
    keep += "*NODE PRINT, NSET=NALL, FREQUENCY=10\nU\n"
    _, done = run(tmp_path / "d.inp", bar(step(pull, *options), step(keep, *options)))
    nodes, _ = brick((3, 1, 1), (3.0, 1.0, 1.0))
    ids, u = prints(done[1], "U")
    assert u[:, 0] == pytest.approx([1e-4 * nodes[i][0] for i in ids], abs=1e-7)


REFUSED = {
    "vibrations": (("*STEADY STATE DYNAMICS, DIRECT\n1., 2., 2\n",), "LEFT, 1, 1\n", "step 1 with STEADY STATE DYN"),
    "a moving one in linear DYNAMIC": (("*DYNAMIC\n.1, 1.\n",), "LEFT, 1, 1, .1\n", "it moves in step 1, a linear"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_supports_that_cannot_change(tmp_path, case):
    (procedure, *options), support, message = REFUSED[case]
    pull = PULL.format("RIGHT", 25.0)
    with pytest.raises(ModelError, match=f"line .* direction 1 is not there in step 2, and {message}"):
        run(
            tmp_path / "d.inp",
            bar(step(procedure + OWN + support + pull, *options), step("*STATIC\n" + OWN + "MID, 1, 1\n" + pull)),
        )


def test_loads_of_one_step_add_up(tmp_path):
    """As CalculiX's forcadd.f has it; in a later step the new value takes the place of the sum."""
    pull = "*CLOAD\nRIGHT, 1, 10.\n*CLOAD\nRIGHT, 1, 10.\n*CLOAD\nRIGHT, 1, 5.\n*NODE PRINT, NSET=RIGHT\nU\n"
    deck = bar("*BOUNDARY\nLEFT, 1, 1\n", step("*STATIC\n" + pull), step("*STATIC\n*CLOAD\nRIGHT, 1, 20.\n"))
    _, done = run(tmp_path / "d.inp", deck)
    found = [np.array(done[k]["prints"][0]["values"])[:, 0] for k in (0, 1)]
    assert found[0] == pytest.approx(100.0 * 3.0 / 1000.0 * np.ones(4))
    assert found[1] == pytest.approx(80.0 * 3.0 / 1000.0 * np.ones(4))
    other = "*AMPLITUDE, NAME=A\n0., 0., 1., 2.\n"
    with pytest.raises(InputError, match="another amplitude"):
        run(tmp_path / "d.inp", other + deck.replace("*CLOAD\nRIGHT, 1, 5.", "*CLOAD, AMPLITUDE=A\nRIGHT, 1, 5."))


def test_a_delayed_amplitude(tmp_path):
    """At the end, 1.5, a table that begins with 1 and ends with 3 is where it was at .5."""
    table = "*AMPLITUDE, NAME=A\n0., 1., 1., 2., 2., 3.\n"
    pull = "*STATIC\n1.5, 1.5\n*CLOAD, AMPLITUDE=A, TIME DELAY=1.\nRIGHT, 1, 10.\n*NODE PRINT, NSET=RIGHT\nU\n"
    _, (done,) = run(tmp_path / "d.inp", bar("*BOUNDARY\nLEFT, 1, 1\n", table, step(pull)))
    assert np.array(done["prints"][0]["values"])[:, 0] == pytest.approx(1.5 * 40.0 * 3.0 / 1000.0 * np.ones(4))


def test_supports_that_end_before_the_first_step(tmp_path):
    """OP=NEW of the first step ends the supports of the model."""
    held = bar("*BOUNDARY\nLEFT, 1, 1\n", step("*STATIC\n{}" + PULL.format("RIGHT", 25.0)))
    run(tmp_path / "d.inp", held.format(""))
    with pytest.raises(ModelError, match="the model is loose"):
        run(tmp_path / "d.inp", held.format(OWN))


# ---- steady vibrations -----------------------------------------------------------------------------------------------


def oscillator(*steps):
    """A mass of 2 on a truss of stiffness 200, with a dashpot of 3 between its ends, along x."""
    return (
        "*NODE, NSET=NALL\n1, 0., 0., 0.\n2, 1., 0., 0.\n*NSET, NSET=END\n2\n*ELEMENT, TYPE=T3D2, ELSET=E\n1, 1, 2\n"
        "*ELEMENT, TYPE=MASS, ELSET=M\n2, 2\n*MASS, ELSET=M\n2.\n*ELEMENT, TYPE=DASHPOTA, ELSET=D\n3, 1, 2\n"
        "*DASHPOT, ELSET=D\n\n3.\n*MATERIAL, NAME=A\n*ELASTIC\n200., 0.\n*DENSITY\n1.E-9\n"
        "*SOLID SECTION, ELSET=E, MATERIAL=A\n1.\n*BOUNDARY\n1, 1, 3\n2, 2, 3\n" + "".join(steps)
    )


PUSHED = "*CLOAD, REAL\n2, 1, 5.\n*NODE PRINT, NSET=END\nU\n"


@pytest.mark.parametrize("direct", [True, False])
def test_steady_vibrations(tmp_path, direct):
    """F/(k - w^2 m + i w c) at frequencies of equal ratio, direct and by modes."""
    how = "DIRECT" if direct else "INTERVAL=RANGE"
    modes = step("*FREQUENCY\n1\n")
    steady = step(f"*STEADY STATE DYNAMICS, {how}\n.5, 8., 5\n{PUSHED}", "PERTURBATION")
    _, done = run(tmp_path / "d.inp", oscillator(modes, steady))
    found = {(p["quantity"], p["time"]): p["values"][0][0] for p in done[1]["prints"]}
    f = np.geomspace(0.5, 8.0, 5)
    w = 2.0 * np.pi * f
    exact = 5.0 / (200.0 - 2.0 * w**2 + 3.0j * w)
    u = np.array([found["U", t] + 1j * found["UI", t] for t in sorted({t for _, t in found})])
    assert np.abs(u - exact).max() < 1e-6 * np.abs(exact).max()


def steady_answer(tmp_path, lines, *before, material="", damping=""):
    """Frequencies and complex displacements of the mass along x of one steady step."""
    shown = "" if "*NODE PRINT" in lines else "*NODE PRINT, NSET=END\nU\n"
    deck = oscillator(*before, step(lines + damping + shown)).replace("*DENSITY", material + "*DENSITY")
    _, done = run(tmp_path / "d.inp", deck)
    found = {(p["quantity"], p["time"]): p["values"][0][0] for p in done[-1]["prints"]}
    f = np.array(sorted({t for _, t in found}))
    return f, np.array([found["U", t] + 1j * found["UI", t] for t in f])


@pytest.mark.parametrize(
    ("entries", "n", "bias"), [(".5, 8.", 20, 3.0), (".5, 8., 5, 2.", 5, 2.0), ("2., 8., 4", 4, 3.0)]
)
def test_frequencies_between_natural_ones(tmp_path, entries, n, bias):
    """n in each interval, the natural frequency among them, drawn to the ends by the bias (Abaqus Keywords Guide)."""
    f, u = steady_answer(tmp_path, f"*STEADY STATE DYNAMICS\n{entries}\n" + PUSHED, step("*FREQUENCY\n1\n"))
    low, high = (float(v) for v in entries.split(",")[:2])
    ends = [low, 10.0 / (2.0 * np.pi), high] if low < 10.0 / (2.0 * np.pi) else [low, high]
    y = 2.0 * np.arange(n) / (n - 1) - 1.0
    expected = [0.5 * (a + b) + 0.5 * (b - a) * np.sign(y) * abs(y) ** (1.0 / bias) for a, b in zip(ends, ends[1:])]
    assert f == pytest.approx(np.unique(np.concatenate(expected).round(9)), rel=1e-6)
    w = 2.0 * np.pi * f
    exact = 5.0 / (200.0 - 2.0 * w**2 + 3.0j * w)
    assert np.abs(u - exact).max() < 1e-6 * np.abs(exact).max()


def test_range_with_a_bias(tmp_path):
    f, _ = steady_answer(tmp_path, "*STEADY STATE DYNAMICS, DIRECT, FREQUENCY SCALE=LINEAR\n1., 5., 5, 2.\n" + PUSHED)
    assert f == pytest.approx([1.0, 3.0 - 2.0 * np.sqrt(0.5), 3.0, 3.0 + 2.0 * np.sqrt(0.5), 5.0])


OUT_OF_PHASE = ("*CLOAD\n2, 1, 5.\n*CLOAD, {}\n2, 1, -3.\n", lambda f: 5.0 - 3.0j)
SHAKING = {
    "imaginary loads": (OUT_OF_PHASE[0].format("IMAGINARY"), OUT_OF_PHASE[1]),
    "load cases": (OUT_OF_PHASE[0].format("LOAD CASE=2"), OUT_OF_PHASE[1]),
    "an amplitude over the frequency": ("*CLOAD, IMAGINARY, AMPLITUDE=A\n2, 1, 5.\n", lambda f: 5.0j * (1.0 + f)),
    "a support": ("*BOUNDARY\n1, 1, 1, .1\n", lambda f: 0.1 * (200.0 + 6.0j * np.pi * f)),
    "a support out of phase": (
        "*BOUNDARY\n1, 1, 1, .1\n*BOUNDARY, IMAGINARY\n1, 1, 1, .2\n",
        lambda f: (0.1 + 0.2j) * (200.0 + 6.0j * np.pi * f),
    ),
    "a base": (
        "*BASE MOTION, DOF=1, TYPE=DISPLACEMENT, AMPLITUDE=A\n", lambda f: (1.0 + f) * (200.0 + 6.0j * np.pi * f),
    ),
    "an accelerated base": (
        "*BASE MOTION, DOF=1, AMPLITUDE=A\n",
        lambda f: -(1.0 + f) / (2.0 * np.pi * f) ** 2 * (200.0 + 6.0j * np.pi * f),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SHAKING)
@pytest.mark.parametrize("direct", [True, False])
def test_what_shakes(tmp_path, case, direct):
    """Loads with phases and amplitudes over the frequency, supports that shake: force over k - w^2 m + i w c."""
    lines, force = SHAKING[case]
    how = "DIRECT" if direct else "INTERVAL=RANGE"
    amplitude = "*AMPLITUDE, NAME=A\n0., 1., 10., 11.\n"
    modes = () if direct else (step("*FREQUENCY\n1\n"),)
    f, u = steady_answer(tmp_path, f"*STEADY STATE DYNAMICS, {how}\n.5, 8., 6\n" + lines, *modes, material=amplitude)
    w = 2.0 * np.pi * f
    exact = force(f) / (200.0 - 2.0 * w**2 + 3.0j * w)
    assert len(f) == 6 and np.abs(u - exact).max() < 1e-6 * np.abs(exact).max()


def test_structural_damping(tmp_path):
    """k (1 + i eta) - w^2 m beside the dashpot."""
    lines = "*STEADY STATE DYNAMICS, INTERVAL=RANGE\n.5, 8., 5\n" + PUSHED
    loss = "*DAMPING, STRUCTURAL=.04\n"
    f, u = steady_answer(tmp_path, lines, step("*FREQUENCY\n1\n"), material=loss)
    w = 2.0 * np.pi * f
    exact = 5.0 / (200.0 * (1.0 + 0.04j) - 2.0 * w**2 + 3.0j * w)
    assert np.abs(u - exact).max() < 1e-6 * np.abs(exact).max()


def test_modes_alone_shake(tmp_path):
    """One of the two modes of a cube counts, without the static deflection of the other, as in CalculiX."""
    two = (
        "*NODE, NSET=NALL\n1, 0., 0., 0.\n2, 1., 0., 0.\n3, 2., 0., 0.\n*NSET, NSET=END\n3\n"
        "*ELEMENT, TYPE=T3D2, ELSET=E\n1, 1, 2\n2, 2, 3\n*ELEMENT, TYPE=MASS, ELSET=M\n3, 2\n4, 3\n*MASS, ELSET=M\n2.\n"
        "*MATERIAL, NAME=A\n*ELASTIC\n200., 0.\n*DENSITY\n1.E-9\n*SOLID SECTION, ELSET=E, MATERIAL=A\n1.\n"
        "*BOUNDARY\n1, 1, 3\n2, 2, 3\n3, 2, 3\n"
        + step("*FREQUENCY\n1\n")
        + step("*STEADY STATE DYNAMICS, INTERVAL=RANGE\n.1, .2, 2\n*CLOAD\n3, 1, 5.\n*NODE PRINT, NSET=END\nU\n")
    )
    _, done = run(tmp_path / "d.inp", two)
    value, shape = eigh(np.array([[400.0, -200.0], [-200.0, 200.0]]), 2.0 * np.eye(2))
    for table in (p for p in done[1]["prints"] if p["quantity"] == "U"):
        w = 2.0 * np.pi * table["time"]
        assert table["values"][0][0] == pytest.approx(5.0 * shape[1, 0] ** 2 / (value[0] - w * w), rel=1e-6)


STEADY_BAD = {
    "modes without modes": (
        "*STEADY STATE DYNAMICS, DIRECT, INTERVAL=EIGENFREQUENCY\n.5, 8., 5\n", "not read with DIRECT",
    ),
    "harmonics": ("*STEADY STATE DYNAMICS, HARMONIC=NO\n.5, 8., 5\n", "HARMONIC=NO is not read"),
    "a bias": ("*STEADY STATE DYNAMICS, DIRECT\n.5, 8., 5, .3\n", "the bias is 0.3; give 1 or more"),
    "falling": ("*STEADY STATE DYNAMICS, DIRECT\n.5, .1, 5\n", "give positive ones that rise"),
    "no modes": ("*STEADY STATE DYNAMICS, INTERVAL=RANGE\n.5, 8., 5\n", "needs a FREQUENCY step"),
    "statics out of phase": ("*STATIC\n*CLOAD, IMAGINARY\n2, 1, 2.\n", "no meaning in a step STATIC"),
    "a base in statics": ("*STATIC\n*BASE MOTION, DOF=1, AMPLITUDE=A\n", "BASE MOTION, TYPE=ACCELERATION in a step"),
    "a free base": (
        "*STEADY STATE DYNAMICS, DIRECT\n.5, 8., 5\n*BASE MOTION, DOF=1, AMPLITUDE=A\n*BOUNDARY, OP=NEW\n",
        "nothing is held in the direction of the base motion",
    ),
    "two amplitudes": (
        "*STEADY STATE DYNAMICS, DIRECT\n.5, 8., 5\n*CLOAD, AMPLITUDE=A\n2, 1, 2.\n", "with different amplitudes",
    ),
    "another load case": ("*STEADY STATE DYNAMICS, DIRECT\n.5, 8., 5\n*CLOAD, LOAD CASE=3\n2, 1, 2.\n", "give 1 or 2"),
}  # fmt: skip


@pytest.mark.parametrize("case", STEADY_BAD)
def test_bad_steady_vibrations(tmp_path, case):
    lines, message = STEADY_BAD[case]
    with pytest.raises(InputError, match=f"line [0-9]+.*{message}"):
        amplitude = "*AMPLITUDE, NAME=A\n0., 1., 10., 11.\n"
        run(tmp_path / "d.inp", oscillator(step(lines + PUSHED)).replace("*DENSITY", amplitude + "*DENSITY"))


# ---- motions by modes ------------------------------------------------------------------------------------------------
MODES = step("*FREQUENCY\n1\n")


def pushed(t, damping):
    """The answer of a mass of 2 on a stiffness of 200 to a force of 5 from t = 0."""
    decay, wd = damping / 4.0, np.sqrt(100.0 - damping**2 / 16.0)
    return 0.025 * (1.0 - np.exp(-decay * t) * (np.cos(wd * t) + decay / wd * np.sin(wd * t)))


@pytest.mark.parametrize(
    ("lines", "damping"),
    [("", 3.0), ("*MODAL DAMPING\n1, 1, .05\n", 5.0), ("*MODAL DAMPING, RAYLEIGH\n, , .5, .01\n", 6.0)],
)
def test_motions_by_modes(tmp_path, lines, damping):
    """Long increments are exact; a second step goes on with place and velocity of the first."""
    move = "*MODAL DYNAMIC\n.2, {}\n" + lines + PUSHED
    deck = oscillator(MODES, step(move.format("1.")), step(move.format(".4")))
    _, done = run(tmp_path / "d.inp", deck)
    for number, times in ((1, 0.2 * np.arange(1, 6)), (2, 1.0 + 0.2 * np.arange(1, 3))):
        found = {p["time"]: p["values"][0][0] for p in done[number]["prints"] if p["quantity"] == "U"}
        assert [found[min(found, key=lambda s: abs(s - t))] for t in times] == pytest.approx(
            pushed(times, damping), rel=1e-6
        )


BASE = "*BASE MOTION, DOF=1, AMPLITUDE=A{}\n*NODE PRINT, NSET=END\nU\n"
TOLD = {
    "no type": ("*MODAL DYNAMIC\n.2, 1.\n" + BASE.format(""), ["without TYPE"]),
    "a type": ("*MODAL DYNAMIC\n.2, 1.\n" + BASE.format(", TYPE=DISPLACEMENT"), []),
    "no type in steady vibrations": ("*STEADY STATE DYNAMICS, INTERVAL=RANGE\n.5, 8., 6\n" + BASE.format(""), []),
    "damping": (
        "*MODAL DYNAMIC\n.2, 1.\n*MODAL DAMPING\n1, 1, .05\n" + BASE.format(", TYPE=DISPLACEMENT"),
        ["relative to the supports"],
    ),
    "damping of a support": (
        "*STEADY STATE DYNAMICS, INTERVAL=RANGE\n.5, 8., 6\n*MODAL DAMPING\n1, 1, .05\n*BOUNDARY\n1, 1, 1, .1\n",
        ["relative to the supports"],
    ),
    "damping without motion": ("*MODAL DYNAMIC\n.2, 1.\n*MODAL DAMPING\n1, 1, .05\n" + PUSHED, []),
}  # fmt: skip


@pytest.mark.parametrize("case", TOLD)
def test_motions_of_the_base_that_programs_take_otherwise(tmp_path, case):
    """CalculiX 2.20 gives the same rows without TYPE as with TYPE=DISPLACEMENT, and refuses an acceleration; its answer
    to a base w with modal damping is that of q'' + 2 z w (q' + s') + w^2 q = -s''."""
    lines, parts = TOLD[case]
    amplitude = "*AMPLITUDE, NAME=A\n0., 1., 10., 11.\n"
    converted, _ = run(tmp_path / "d.inp", oscillator(MODES, step(lines)).replace("*DENSITY", amplitude + "*DENSITY"))
    told = [n.text for n in converted.notes if n.effect is Effect.DIFFERS]
    assert len(told) == len(parts)
    assert all(part in text and "CalculiX" in text for part, text in zip(parts, told, strict=True))


MODAL_BAD = {
    "no modes": ((), "*MODAL DYNAMIC\n.1, 1.\n", "needs a FREQUENCY step"),
    "after statics": (("*STATIC\n",), "*MODAL DYNAMIC\n.1, 1.\n", "after step 1 .STATIC. is not supported"),
    "a steady state": (("*FREQUENCY\n1\n",), "*MODAL DYNAMIC, STEADY STATE\n.1, 1.\n", "MODAL DYNAMIC, STEADYSTATE"),
    "some modes": (
        ("*FREQUENCY\n2\n",), "*MODAL DYNAMIC\n.1, 1.\n*MODAL DAMPING, RAYLEIGH\n1, 1, 1., 0.\n",
        "for modes up to 1 of 2",
    ),
    "falling": (
        ("*FREQUENCY\n2\n",), "*MODAL DYNAMIC\n.1, 1.\n*MODAL DAMPING\n2, 1, .1\n", "the modes are 2 to 1",
    ),
    "negative": (
        ("*FREQUENCY\n2\n",), "*MODAL DYNAMIC\n.1, 1.\n*MODAL DAMPING\n1, 1, -.1\n", "the damping is -0.1",
    ),
    "nothing": (("*FREQUENCY\n2\n",), "*MODAL DYNAMIC\n.1, 1.\n*MODAL DAMPING\n", "no data; give lowest"),
}  # fmt: skip


@pytest.mark.parametrize("case", MODAL_BAD)
def test_bad_motions_by_modes(tmp_path, case):
    before, lines, message = MODAL_BAD[case]
    with pytest.raises(InputError, match=f"line [0-9]+.*{message}"):
        run(tmp_path / "d.inp", oscillator(*map(step, before), step(lines + PUSHED)))
