"""Linear statics, modes, buckling and linear transients of parts, with constraints eliminated."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from scipy.spatial.transform import Rotation
from solid_meshes import grid

from fem_mbs import Model, run, solve
from fem_mbs.analysis.linear import linearised
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.meshes.mesh import CellBlock, Mesh
from fem_mbs.system.tangent import Level, Tangent

E, NU, RHO = 2.1e11, 0.3, 7850.0
SIZE = (0.4, 0.1, 0.08)


def bar(turn=None, cut=False, cells=(4, 2, 2)) -> tuple[Mesh, np.ndarray]:
    """A clamped bar of hexahedra, turned as a whole; ``cut``: in two halves with nodes of their own at the cut.

    Also pairs (k, 2) of nodes at the same place.
    """
    x, c = grid("hexahedron", cells, SIZE)
    tip, root = np.flatnonzero(np.isclose(x[:, 0], SIZE[0])), np.flatnonzero(x[:, 0] == 0.0)
    pairs = np.zeros((0, 2), int)
    if cut:
        middle = np.flatnonzero(np.isclose(x[:, 0], SIZE[0] / 2))
        new = len(x) + np.arange(middle.size)
        number = np.arange(len(x))
        number[middle] = new
        far = x[c].mean(axis=1)[:, 0] > SIZE[0] / 2
        c = np.where(far[:, None], number[c], c)
        x = np.vstack((x, x[middle]))
        pairs = np.column_stack((new, middle))
    if turn is not None:
        x = x @ turn.T
    return Mesh(x, [CellBlock("hexahedron", c)], {"ROOT": root, "TIP": tip, "CORNER": tip[:1]}), pairs


def model(turn=None, cut=False, element="incompatible") -> Model:
    m = Model(3)
    mesh, pairs = bar(turn, cut)
    m.mesh("bar", mesh)
    m.solid_material("steel", E=E, nu=NU, density=RHO)
    m.solids("part", "bar", "steel", element=element)
    m.fix("bar:ROOT")
    R = np.eye(3) if turn is None else turn
    m.force("across", "bar:TIP", R @ [0.0, 30.0, -100.0])
    m.force("along", "bar:TIP", R @ [-1000.0, 0.0, 0.0])
    if cut:
        k = 3 * len(pairs)
        nodes = np.repeat(pairs, 3, axis=0).ravel()
        m.equations("cut", np.repeat(np.arange(k), 2), nodes, np.tile(np.repeat((0, 1, 2), 2), len(pairs)), [1, -1] * k)
    return m


def all_steps(m: Model) -> list:
    m.linear_static_step("bend", loads=["across"])
    m.linear_static_step("press", loads=["along"])
    m.modes_step(8, check="inertia")
    m.modes_step(8, name="stiffened", preload="press")
    m.buckling_step(3, loads=["along"], sign="positive", check=True)
    m.buckling_step(2, loads=["along"], name="second", preload="bend")
    return solve(m).steps


KEYS = ("largest_displacement", "strain_energy", "frequencies_hz", "load_factors")


def differences(a, b) -> float:
    return max(
        float(np.abs(np.array(s.summary[key]) / np.array(t.summary[key]) - 1.0).max())
        for s, t in zip(a, b, strict=True)
        for key in KEYS
        if key in s.summary
    )


def test_equations_equal_a_merged_mesh():
    assert differences(all_steps(model(cut=True)), all_steps(model())) < 1e-9


def test_constraints_that_stay_equal_eliminated_ones(monkeypatch):
    """As of a large mechanism: frequencies, factors of the wanted sign, and both counts."""

    def found() -> list:
        m = model(cut=True)
        m.modes_step(6, check="inertia")
        m.buckling_step(3, loads=["along"], sign="negative", check=True)
        return solve(m).steps

    eliminated = found()
    monkeypatch.setattr(linearised, "LARGE", 0)
    monkeypatch.setattr(linearised, "MECHANISM", 0.0)
    kept = found()
    assert kept[0].summary["equations"] > eliminated[0].summary["equations"]
    assert differences(kept, eliminated) < 1e-8
    assert np.all(np.array(kept[1].summary["load_factors"]) < 0.0)
    for a, b in zip(kept, eliminated, strict=True):
        assert a.summary["count_check"] == b.summary["count_check"]


@pytest.mark.parametrize("element", ["standard", "incompatible"])
def test_a_rotation_changes_nothing(element):
    turn = Rotation.from_rotvec([0.7, -1.9, 0.4]).as_matrix()
    a, b = all_steps(model(element=element)), all_steps(model(turn, element=element))
    assert differences(a, b) < 1e-10
    moved = [s[0].frames["displacement"][0] for s in (a, b)]
    assert np.abs(moved[0] @ turn.T - moved[1]).max() < 1e-10 * np.abs(moved[0]).max()


def test_reactions_energy_and_count():
    bend, _, modes, stiffened, buckling, _ = all_steps(model())
    n = 9  # nodes of the tip
    assert bend.summary["linear"] and bend.summary["type"] == "static"
    assert bend.summary["reactions"]["force"] == pytest.approx([0.0, -30.0 * n, 100.0 * n], abs=1e-7)
    x = np.array([SIZE[0], SIZE[1] / 2, SIZE[2] / 2])
    moment = np.cross(x, [0.0, 30.0 * n, -100.0 * n])
    assert bend.summary["reactions"]["moment"] == pytest.approx(-moment, rel=1e-9)
    # Clapeyron: the energy is half the work of the loads
    tip = np.flatnonzero(np.isclose(bar()[0].points[:, 0], SIZE[0]))
    work = bend.frames["displacement"][0, tip].sum(axis=0) @ [0.0, 30.0, -100.0]
    assert bend.summary["strain_energy"] == pytest.approx(0.5 * work, rel=1e-11)
    assert bend.frames["reaction"][0, :, :3].sum(axis=0) == pytest.approx([0.0, -270.0, 900.0], abs=1e-7)
    assert modes.summary["count_check"] == {"expected": 8, "found": 8}
    assert np.all(np.array(stiffened.summary["frequencies_hz"]) < np.array(modes.summary["frequencies_hz"]))
    assert buckling.summary["count_check"]["expected"] >= 3


def test_small_loads_agree_with_nonlinear_statics():
    m = model()
    m.sensor("tip", "displacement", on="bar:CORNER")
    m.sensor("root", "reaction", on="bar:ROOT")
    m.linear_static_step("linear")
    m.static_step(1, name="nonlinear")
    linear, nonlinear = solve(m).steps
    for sensor in ("tip", "root"):
        a, b = (step.series[f"sensor/{sensor}"][-1] for step in (linear, nonlinear))
        assert np.abs(a - b).max() < 1e-3 * np.abs(b).max(), sensor
    # second order in the loads
    errors = []
    for factor in (1.0, 0.5):
        m = Model(3)
        m.mesh("bar", bar()[0])
        m.solid_material("steel", E=E, nu=NU, density=RHO)
        m.solids("part", "bar", "steel")
        m.fix("bar:ROOT")
        m.force("across", "bar:TIP", [0.0, 0.0, -1e6 * factor])
        m.linear_static_step("linear")
        m.static_step(2, name="nonlinear")
        a, b = (step.frames["displacement"][-1] for step in solve(m).steps)
        errors.append(np.abs(a - b).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_prescribed_displacements_and_inhomogeneous_equations():
    m = Model(3)
    m.mesh("bar", bar()[0])
    m.solid_material("steel", E=E, nu=0.0, density=RHO)
    m.solids("part", "bar", "steel")
    m.fix("bar:ROOT")
    tip = m.nodes_of("bar:TIP")
    k = tip.size
    m.equations("pull", np.arange(k), tip, np.zeros(k, int), np.ones(k), value=2e-4)
    m.linear_static_step("by equations")
    m.modes_step(3)
    u = solve(m).steps[0]
    assert u.summary["reactions"]["force"][0] == pytest.approx(-E * SIZE[1] * SIZE[2] * 2e-4 / SIZE[0], rel=1e-10)
    m = Model(3)
    m.mesh("bar", bar()[0])
    m.solid_material("steel", E=E, nu=0.0, density=RHO)
    m.solids("part", "bar", "steel")
    m.fix("bar:ROOT")
    m.motion("pull", "bar:TIP", "x", 2e-4)
    m.linear_static_step("by motions")
    v = solve(m).steps[0]
    assert np.abs(u.frames["displacement"] - v.frames["displacement"]).max() < 1e-15
    assert v.summary["reactions"]["force"] == pytest.approx([0.0, 0.0, 0.0], abs=1e-3)  # of both ends
    assert u.summary["strain_energy"] == pytest.approx(v.summary["strain_energy"], rel=1e-12)


def test_effective_masses():
    m = Model(3)
    m.mesh("bar", bar()[0])
    m.solid_material("steel", E=E, nu=NU, density=RHO)
    m.solids("part", "bar", "steel")
    m.modes_step(6, name="free")
    free = solve(m).steps[0].summary
    assert free["rigid_body_modes"] == 6
    mass = RHO * np.prod(SIZE)
    found = free["participation"]
    assert found["total"][:3] == pytest.approx([mass] * 3)
    Ixx = mass / 3.0 * (SIZE[1] ** 2 + SIZE[2] ** 2)
    assert found["total"][3] == pytest.approx(Ixx, rel=1e-9)
    assert found["sums"] == pytest.approx([1.0] * 6, rel=1e-9)
    m.fix("bar:ROOT")
    m.modes_step(60, name="clamped")
    sums = solve(m).steps[1].summary["participation"]["sums"]
    assert 0.9 < sums[0] < 1.0 and 0.9 < sums[1] < 1.0


def test_bands_and_neighbours():
    m = model()
    m.modes_step(12, name="lowest")
    m.modes_step(name="band", band=(2000.0, 6000.0))
    m.modes_step(2, name="near", near=4500.0)
    lowest, band, near = (np.array(s.summary["frequencies_hz"]) for s in solve(m).steps)
    inside = lowest[(lowest >= 2000.0) & (lowest <= 6000.0)]
    assert inside.size >= 2 and lowest[-1] > 6000.0
    assert band == pytest.approx(inside, rel=1e-9)
    assert near == pytest.approx(np.sort(lowest[np.argsort(abs(lowest**2 - 4500.0**2))[:2]]), rel=1e-9)


def test_modes_within_bounds():
    m = model()
    m.modes_step(12, name="lowest")
    m.modes_step(12, name="some", within=[2000.0, 6000.0])
    m.modes_step(3, name="open", within=[-np.inf, np.inf])
    lowest, some, all_ = (s.summary for s in solve(m).steps)
    f = np.array(lowest["frequencies_hz"])
    inside = (f >= 2000.0) & (f <= 6000.0)
    assert some["frequencies_hz"] == pytest.approx(f[inside], rel=1e-9)
    assert some["left_out"] == {"below": int((f < 2000.0).sum()), "above": int((f > 6000.0).sum())}
    assert np.array(some["participation"]["effective_mass"]) == pytest.approx(
        np.array(lowest["participation"]["effective_mass"])[inside], abs=1e-9
    )
    assert all_["frequencies_hz"] == pytest.approx(f[:3]) and all_["left_out"] == {"below": 0, "above": 0}


def test_modes_reduced_to_masters():
    """Against the reduction of the assembled matrices by scipy; also in halves that equations join."""
    m = model(element="standard")
    system = m.compile(stepping=False).system
    tangent = Tangent(system, system.initial_state(), Level(np.zeros(0)))
    held = [system.offset[n] + k for n in m.nodes_of("bar:ROOT") for k in range(3)]
    free = np.setdiff1d(np.arange(system.first_multiplier), held)
    K, M = (A[free][:, free].toarray() for A in (tangent.K, tangent.M))
    tip = m.nodes_of("bar:TIP")
    a = np.searchsorted(free, [system.offset[n] + k for n in tip for k in (0, 2)])
    o = np.setdiff1d(np.arange(len(free)), a)
    for held in (0, 3):
        T = np.zeros((len(free), len(a) + held))
        T[a, np.arange(len(a))] = 1.0
        T[o, : len(a)] = -np.linalg.solve(K[np.ix_(o, o)], K[np.ix_(o, a)])
        T[o, len(a) :] = scipy.linalg.eigh(K[np.ix_(o, o)], M[np.ix_(o, o)])[1][:, :held]
        w2 = scipy.linalg.eigh(T.T @ K @ T, T.T @ M @ T, eigvals_only=True)
        for cut in (False, True):
            m = model(cut=cut, element="standard")
            masters = [{"on": "bar:TIP", "components": ["x", "z"]}]
            m.modes_step(6, masters=masters, held_modes=held)
            f = np.array(solve(m).steps[0].summary["frequencies_hz"])
            assert f == pytest.approx(np.sqrt(w2[:6]) / 2.0 / np.pi, rel=1e-9)


def test_masters_of_elements_with_internal_unknowns():
    """A reduction raises frequencies, with enough modes of the held masters by little."""
    m = model()
    m.modes_step(4, name="whole")
    m.modes_step(4, name="tip", masters=[{"on": "bar:TIP", "components": ["x", "y", "z"]}], held_modes=20)
    whole, tip = (np.array(s.summary["frequencies_hz"]) for s in solve(m).steps)
    assert (tip >= whole * (1.0 - 1e-12)).all() and tip == pytest.approx(whole, rel=2e-3)


# --- transients ------------------------------------------------------------------------------------------------------
def beam(kind: str, rule: str, h: float, duration: float, damping: float = 1e-5, **options):
    m = Model(3)
    m.material("steel", E=E, nu=NU, density=RHO)
    m.section("bar", "rectangle", width=0.05, height=0.03)
    m.line("line", [0.0, 0.0, 0.0], [2.0, 0.0, 0.0], 4)
    m.beams("beam", "line", "bar", "steel", damping=damping)
    m.fix("line:start", ["x", "y", "rotation"])
    m.motion("shake", "line:start", "z", "0.001*(1-cos(30*t))")
    m.force("push", "line:end", [0.0, 0.0, -10.0], function="sin(40*t)")
    m.sensor("tip", "displacement", on="line:end")
    m.sensor("root", "reaction", on="line:start")
    getattr(m, kind)(duration, h, **({"rule": rule} if rule else {}), **options)
    return solve(m).steps[0]


@pytest.mark.parametrize(("rule", "tolerance"), [("hht", 3e-4), ("newmark", 3e-4), ("generalised-alpha", 3e-4)])
def test_linear_transients_agree_with_nonlinear_ones(rule, tolerance):
    options = {"alpha": -0.1} if rule == "hht" else {}
    a, b = (beam(kind, rule, 1e-3, 0.2, **options) for kind in ("linear_transient_step", "transient_step"))
    for sensor, factor in (("tip", 1.0), ("root", 10.0)):
        u, v = (s.series[f"sensor/{sensor}"][5:, 2] for s in (a, b))
        assert np.abs(u - v).max() < factor * tolerance * np.abs(v).max(), sensor
    assert a.series["time"] == pytest.approx(b.series["time"])


@pytest.mark.parametrize("damping", [0.0, 1e-5])
def test_the_ledger_of_linear_transients_closes(damping):
    for rule in ("midpoint", "newmark"):
        energy = beam("linear_transient_step", rule, 1e-3, 0.5, damping).summary["energy"]
        assert energy["closing_error_relative"] < 1e-10
        assert (energy["final"]["dissipated"] > 0.0) == (damping > 0.0)
    damped = beam("linear_transient_step", "hht", 1e-3, 0.5, alpha=-0.3).summary["energy"]
    assert 1e-6 < damped["closing_error_relative"] < 0.1


# error of the phase of an undamped oscillator, over (omega h)^2: average acceleration lags by 1/12
@pytest.mark.parametrize(("rule", "level"), [("midpoint", 1 / 12), ("newmark", 1 / 12), ("hht", None)])
def test_order_of_linear_transients(rule, level):
    omega, duration, errors = 20.0, 1.0, []
    for n in (200, 400):
        m = Model(3)
        m.node("anchor", [0.0, 0.0, 0.0])
        m.node("end", [1.0, 0.0, 0.0])
        m.point_mass("mass", "end", 2.0)
        m.spring("spring", "anchor", "end", stiffness=2.0 * omega**2)
        m.fix("anchor")
        m.fix("end", ["y", "z"])
        m.initial("end", velocity=[0.3, 0.0, 0.0])
        m.sensor("end", "displacement", on="end")
        m.linear_transient_step(duration, duration / n, rule=rule)
        x = solve(m).steps[0].series["sensor/end"][-1, 0]
        errors.append(x - 0.3 / omega * np.sin(omega * duration))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    if level is not None:
        h = duration / 400
        lag = -0.3 / omega * np.cos(omega * duration) * omega * duration * level * (omega * h) ** 2
        assert errors[1] == pytest.approx(lag, rel=0.05)


def swinger(omega=10.0, foot=None, push=None, **options):
    """A mass of 2 on a spring to a foot, which may move and the mass be pushed, by tables of time and value."""

    def table(points):
        return {"kind": "table", "times": [p[0] for p in points], "values": [p[1] for p in points]}

    m = Model(3)
    m.node("foot", [0.0, 0.0, 0.0])
    m.node("end", [1.0, 0.0, 0.0])
    m.point_mass("mass", "end", 2.0)
    m.spring("spring", "foot", "end", stiffness=2.0 * omega**2)
    m.fix("foot", ["y", "z"])
    m.fix("end", ["y", "z"])
    if foot is None:
        m.fix("foot", ["x"])
    else:
        m.motion("shake", "foot", "x", table(foot))
    if push is not None:
        m.force("push", "end", [1.0, 0.0, 0.0], function=table(push))
    m.sensor("end", "displacement", on="end")
    m.initial("end", velocity=[0.0, 0.0, 0.0], method="given")
    m.linear_transient_step(1.0, 0.2, modes=1, **options)
    found = solve(m).steps[0].series
    return found["time"], found["sensor/end"][:, 0]


def test_modes_are_integrated_exactly_over_long_steps():
    omega, zeta = 10.0, 0.1

    def ramp(t):
        """The response to a force that rises by 1 per second from t = 0."""
        t = np.maximum(t, 0.0)
        wd, decay = omega * np.sqrt(1.0 - zeta**2), np.exp(-zeta * omega * t)
        c = 2.0 * zeta / omega
        free = c * np.cos(wd * t) + (zeta * omega * c - 1.0) / wd * np.sin(wd * t)
        return (t - c + decay * free) / (2.0 * omega**2)

    push = [[0.0, 0.0], [0.27, 5.0], [0.5, 5.0], [2.0, 5.0]]  # bends within steps of 0.2
    for options in ({"damping": zeta}, {"rayleigh": [zeta * omega, zeta / omega]}, {"damping": [zeta, 0.5]}):
        t, x = swinger(omega, push=push, **options)
        np.testing.assert_allclose(x, 5.0 / 0.27 * (ramp(t) - ramp(t - 0.27)), atol=1e-13)
    # a foot that begins to move with 0.3 and stops after 0.5 s
    t, x = swinger(omega, foot=[[0.0, 0.0], [0.5, 0.15], [2.0, 0.15]])
    late = np.maximum(t - 0.5, 0.0)
    exact = 0.3 * (t - np.sin(omega * t) / omega - (late - np.sin(omega * late) / omega))
    np.testing.assert_allclose(x, exact, atol=1e-12)


def test_accelerations_of_modes():
    """x = v/w sin w t of a free oscillator, over steps that are longer than a quarter of a period."""
    omega, speed = 20.0, 0.3
    m = Model(3)
    m.node("end", [1.0, 0.0, 0.0])
    m.point_mass("mass", "end", 2.0)
    m.spring("spring", "end", "ground", stiffness=2.0 * omega**2, point_b=(0.0, 0.0, 0.0))
    m.fix("end", ["y", "z"])
    m.initial("end", velocity=[speed, 0.0, 0.0])
    m.sensor("a", "acceleration", on="end")
    m.linear_transient_step(0.5, 0.1, modes=1)
    found = solve(m).steps[0].series
    exact = -omega * speed * np.sin(omega * found["time"])
    np.testing.assert_allclose(found["sensor/a"][:, 0], exact, atol=1e-9 * omega * speed)


def test_accelerations_of_modes_on_a_foot_that_moves():
    """The equation of motion x'' = -w^2 (x - u) at each row, u = 0.3 t + 0.7 t^2."""
    omega = 20.0
    m = Model(3)
    m.node("foot", [0.0, 0.0, 0.0])
    m.node("end", [1.0, 0.0, 0.0])
    m.point_mass("mass", "end", 2.0)
    m.spring("spring", "foot", "end", stiffness=2.0 * omega**2)
    m.fix("foot", ["y", "z"])
    m.fix("end", ["y", "z"])
    m.motion("shake", "foot", "x", "0.3*t + 0.7*t**2")
    m.initial("end", velocity=[0.0, 0.0, 0.0], method="given")
    m.sensor("x", "displacement", on="end")
    m.sensor("a", "acceleration", on="end")
    m.linear_transient_step(0.5, 0.1, modes=1)
    found = solve(m).steps[0].series
    t, x, a = found["time"][1:], found["sensor/x"][1:, 0], found["sensor/a"][1:, 0]
    exact = -(omega**2) * (x - 0.3 * t - 0.7 * t * t)
    np.testing.assert_allclose(a, exact, atol=1e-9 * np.abs(exact).max())


def test_kinks_of_all_periods_divide_the_steps_of_modes():
    """A periodic push, whose kinks lie within the steps of all periods, is the same push written out."""
    found = []
    for law in (
        {"times": [0.0, 0.13, 0.3], "values": [0.0, 5.0, 0.0], "periodic": True},
        {"times": [0.3 * k + s for k in range(4) for s in (0.0, 0.13)], "values": [0.0, 5.0] * 4},
    ):
        m = Model(3)
        m.node("end", (0.0, 0.0, 0.0))
        m.point_mass("mass", "end", 2.0)
        m.spring("spring", "end", "ground", stiffness=50.0, point_b=(-1.0, 0.0, 0.0))
        m.fix("end", ["y", "z"])
        m.force("push", "end", (1.0, 0.0, 0.0), function={"kind": "table", **law})
        m.sensor("end", "displacement", on="end")
        m.linear_transient_step(1.0, 0.2, modes=1)
        found.append(solve(m).steps[0].series["sensor/end"][:, 0])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-10)


def test_modes_that_a_dashpot_couples():
    from scipy.linalg import expm

    m = Model(3)
    x = np.arange(3.0)
    for i in range(3):
        m.node(f"n{i}", [x[i], 0.0, 0.0])
        m.fix(f"n{i}", ["x", "y", "z"] if not i else ["y", "z"])
    for i in (1, 2):
        m.point_mass(f"m{i}", f"n{i}", float(i))
    m.spring("a", "n0", "n1", stiffness=100.0)
    m.spring("b", "n1", "n2", stiffness=300.0, damping=4.0)
    m.initial("n2", velocity=[1.0, 0.0, 0.0], method="given")
    m.sensor("end", "displacement", on="n2")
    m.linear_transient_step(2.0, 0.25, modes=2)
    found = solve(m).steps[0].series
    K, D = np.array([[400.0, -300.0], [-300.0, 300.0]]), 4.0 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    M = np.diag((1.0, 2.0))
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    exact = [(expm(A * t) @ np.array((0.0, 0.0, 0.0, 1.0)))[1] for t in found["time"]]
    np.testing.assert_allclose(found["sensor/end"][:, 0], exact, atol=1e-12)


def test_forces_of_damped_modes_reach_the_supports():
    """A shaken foot under a mass: the ratio of the mode is the damper between both, in reactions and works."""
    found = []
    for own in (True, False):
        m = Model(2)
        m.node("foot", (0.0, 0.0))
        m.node("end", (1.0, 0.0))
        m.point_mass("mass", "end", 2.0)
        m.spring("spring", "foot", "end", stiffness=200.0, damping=0.0 if own else 8.0)
        m.fix("foot", ["y"])
        m.fix("end", ["y"])
        m.motion("shake", "foot", "x", "0.01*sin(15*t)")
        m.sensor("held", "reaction", on="foot")
        m.linear_transient_step(1.0, 1e-3, modes=1, **({"damping": 0.2} if own else {}))
        found.append(solve(m))
    by_modes, by_damper = (s.steps[0].series for s in found)
    np.testing.assert_allclose(by_modes["sensor/held"], by_damper["sensor/held"], atol=1e-9)
    np.testing.assert_allclose(by_modes["ledger"], by_damper["ledger"], atol=1e-9)
    assert found[0].summary["steps"][0]["energy"]["closing_error_relative"] < 1e-4


def test_an_open_ledger_of_modes_is_told():
    """A foot that stands elsewhere when the step begins strikes a mode that the steps do not resolve."""
    told = []
    for jump in (0.0, 0.1):
        m = Model(2)
        for i in range(3):
            m.node(f"n{i}", (float(i), 0.0))
            m.fix(f"n{i}", ["y"])
        m.point_mass("fast", "n1", 1e-2)
        m.point_mass("slow", "n2", 1.0)
        m.spring("a", "n0", "n1", stiffness=1e6)
        m.spring("b", "n1", "n2", stiffness=100.0)
        m.motion("quake", "n0", "x", f"{jump} + 0.1*sin(5*t)**3")
        m.linear_transient_step(1.0, 1e-3, modes=2, damping=0.3)
        told.append(solve(m).summary["steps"][0])
    assert told[0]["warnings"] == [] and told[0]["energy"]["closing_error_relative"] < 0.01
    assert any("energy ledger stays open" in text for text in told[1]["warnings"])


def test_all_modes_agree_with_the_matrices():
    a = beam("linear_transient_step", "newmark", 1e-4, 0.1)
    b = beam("linear_transient_step", "", 1e-3, 0.1, modes=1000)
    for sensor, tolerance in (("tip", 1e-3), ("root", 1e-2)):
        u, v = a.series[f"sensor/{sensor}"][::10, 2], b.series[f"sensor/{sensor}"][:, 2]
        assert np.abs(u - v)[1:].max() < tolerance * np.abs(u).max(), sensor


def follower(modes: int | None, **motor) -> Model:
    m = Model(2)
    m.line("arm", (0, 0), (1, 0), n=3)
    m.section("bar", "stiffness", EA=1e5, EI=50.0, rhoA=1.0, rhoI=0.0)
    m.beams("arm", on="arm", section="bar")
    m.body("end", (1, 0), 0.5, 0.1)
    m.joint("hinge", "revolute", "arm:end", "end", point=(1, 0))
    m.fix("arm:start")
    m.motor("motor", "hinge", **motor)
    m.force("push", "end", (-3.0, 0.0), follower=True)
    m.static_step()
    m.linear_transient_step(0.1, 0.01, modes=modes)
    return m


def test_modal_transients_say_that_they_take_the_symmetric_part():
    """About a follower force; all unknowns take the matrix as it is."""
    for modes, words in ((3, "modes are of its symmetric part"), (None, "and is used as it is")):
        (told,) = (w for w in solve(follower(modes, kp=10.0)).report.steps[1].warnings if "unsymmetric" in w)
        assert words in told


def test_modes_do_not_know_the_equations_of_controllers():
    """Their equations of first order had counted with the symmetric part of the stiffness."""
    for motor in ({"ki": 5.0}, {"kd": 1.0, "filter_time": 0.1}):
        with pytest.raises(ModelError, match="has an equation of first order, which modes do not know"):
            solve(follower(2, kp=10.0, **motor))
        m = follower(None, kp=10.0, **motor)
        m.harmonic_step([1.0], loads="push", damping=0.02)
        with pytest.raises(ModelError, match=r"which modes do not know; take method = .direct."):
            solve(m)


def test_wrong_options_of_modal_transients():
    for options, message in (
        ({"damping": 0.1}, "damping belongs to modes"),
        ({"modes": 3, "rule": "newmark"}, "rule has no meaning"),
        ({"modes": 3, "rayleigh": [1.0]}, "two numbers of at least 0"),
        ({"modes": 0}, "modes"),
    ):
        m = model()
        with pytest.raises(ModelError, match=message):
            m.linear_transient_step(1e-3, 1e-4, **options)
            solve(m)


def test_a_plucked_part_swings_with_its_frequencies():
    m = model()
    m.sensor("tip", "displacement", on="bar:CORNER")
    m.linear_static_step("pull", loads=["across"])
    m.modes_step(1)
    m.linear_transient_step(0.004, 2e-6, loads=[], start="pull", frames=0)
    pull, modes, swing = solve(m).steps
    z = swing.series["sensor/tip"][:, 2]
    assert z[0] == pytest.approx(pull.series["sensor/tip"][0, 2], rel=1e-12)
    assert np.abs(z).max() < 1.2 * abs(z[0])
    crossings = np.flatnonzero(np.diff(np.sign(z)))
    period = 2.0 * np.diff(swing.series["time"][crossings]).mean()
    assert 1.0 / period == pytest.approx(modes.summary["frequencies_hz"][0], rel=0.05)
    assert swing.summary["energy"]["closing_error_relative"] < 1e-10


def driven_oscillator(kind: str, n: int, duration=1.0, **options):
    """A mass of 2 on a spring, whose other end follows 0.001 (1 + cos(7 t) + sin(5 t)), by motion or equation."""
    law = "1+cos(7*t)+sin(5*t)"
    m = Model(3)
    m.node("anchor", [0.0, 0.0, 0.0])
    m.node("end", [1.0, 0.0, 0.0])
    m.point_mass("mass", "end", 2.0)
    m.point_mass("foot", "anchor", 0.5)
    m.spring("spring", "anchor", "end", stiffness=2.0 * 20.0**2)
    m.fix("anchor", ["y", "z"])
    m.fix("end", ["y", "z"])
    if kind == "motion":
        m.motion("shake", "anchor", "x", f"0.001*({law})")
    else:
        m.equations("shake", [0], m.nodes_of("anchor"), [0], [1.0], value=0.001, function=law)
    for node in ("anchor", "end"):
        m.sensor(node, "displacement", on=node)
        m.sensor(f"{node} speed", "velocity", on=node)
    m.initial("end", velocity=[0.0, 0.0, 0.0], method="given")
    m.linear_transient_step(duration, duration / n, **options)
    return solve(m).steps[0]


@pytest.mark.parametrize("kind", ["motion", "equation"])
@pytest.mark.parametrize("rule", ["midpoint", "hht"])
def test_what_is_prescribed_begins_where_it_is(kind, rule):
    """A foot that stands at 0.002 at the start is there at once, with its speed; the mass begins at rest at 0."""

    def exact(t):
        """Mass between springs: x'' + w^2 x = w^2 a(t), x(0) = x'(0) = 0, by undetermined coefficients."""
        w, x = 20.0, 1.0 - np.cos(20.0 * t)
        x = x + w**2 / (w**2 - 49.0) * (np.cos(7.0 * t) - np.cos(w * t))
        return 0.001 * (x + w**2 / (w**2 - 25.0) * (np.sin(5.0 * t) - 5.0 / w * np.sin(w * t)))

    errors = []
    for n in (400, 800):
        done = driven_oscillator(kind, n, rule=rule)
        t = done.series["time"]
        foot = done.series["sensor/anchor"][:, 0]
        assert foot == pytest.approx(0.001 * (1.0 + np.cos(7.0 * t) + np.sin(5.0 * t)), abs=1e-15)
        speed = done.series["sensor/anchor speed"][:, 0]
        assert speed[0] == pytest.approx(0.005, rel=1e-12)
        # of Newmark's formulas, which make it of displacements: of second order
        assert np.abs(speed - 0.001 * (5.0 * np.cos(5.0 * t) - 7.0 * np.sin(7.0 * t))).max() < 0.1 * (7.0 / n) ** 2
        errors.append(np.abs(done.series["sensor/end"][:, 0] - exact(t)).max())
        if rule == "midpoint":
            assert done.summary["energy"]["closing_error_relative"] < 1e-10
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 2e-3 * 0.004


def test_linear_transients_go_on_from_steps_before():
    """Cut in two, a transient is the same; after a linear static step of a duration it begins displaced, then."""

    def oscillator() -> Model:
        m = Model(3)
        m.node("anchor", [0.0, 0.0, 0.0])
        m.node("end", [1.0, 0.0, 0.0])
        m.point_mass("mass", "end", 2.0)
        m.spring("spring", "anchor", "end", stiffness=800.0)
        m.motion("shake", "anchor", "x", "0.001*(1+sin(9*t))")
        m.fix("anchor", ["y", "z"])
        m.fix("end", ["y", "z"])
        m.force("push", "end", [1.0, 0.0, 0.0], function="1+t")
        m.sensor("end", "displacement", on="end")
        m.linear_static_step("bend", duration=0.5)
        return m

    m = oscillator()
    m.linear_transient_step(0.4, 0.01, name="whole", start="bend")
    bend, whole = solve(m).steps
    assert bend.series["time"] == pytest.approx([0.5])
    anchor = 0.001 * (1.0 + np.sin(4.5))
    assert bend.series["sensor/end"][0, 0] == pytest.approx(anchor + 1.5 / 800.0, rel=1e-10)
    assert whole.series["time"][[0, -1]] == pytest.approx([0.5, 0.9])
    assert whole.series["sensor/end"][0] == pytest.approx(bend.series["sensor/end"][0])
    m = oscillator()
    m.linear_transient_step(0.2, 0.01, name="first", start="bend")
    m.linear_transient_step(0.2, 0.01, name="second", start="first")
    first, second = solve(m).steps[1:]
    cut = np.vstack((first.series["sensor/end"], second.series["sensor/end"][1:]))
    # the same but for Newmark's velocity of the anchor, which the second one takes from the function
    assert np.abs(cut - whole.series["sensor/end"]).max() < 1e-5 * np.abs(cut).max()
    assert second.series["time"] == pytest.approx(0.7 + 0.01 * np.arange(21))


def swinging(dimension: int = 3) -> Model:
    """2 kg on a spring of 200 N/m that begin with 1 m/s: w = 10 rad/s; and a body that turns freely."""
    m = Model(dimension)
    zero = (0.0,) * dimension
    m.node("wall", zero)
    m.node("a", (1.0, *zero[1:]))
    m.point_mass("mass", "a", 2.0)
    m.fix("wall")
    m.fix("a", ["y", "z"][: dimension - 1])
    m.spring("spring", "wall", "a", 200.0, length=1.0)
    m.body("top", (3.0, *zero[1:]), 1.0, 0.5 if dimension == 2 else (0.5, 0.6, 0.7))
    m.fix("top", ["x", "y", "z"][:dimension])
    m.initial(velocity=(1.0, *zero[1:]), on="a")
    m.initial(spin=0.3 if dimension == 2 else (0.3, 0.0, 0.0), on="top")
    m.sensor("u", "displacement", on="a")
    m.sensor("v", "velocity", on="a")
    m.sensor("turn", "rotation", on="top")
    return m


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("modes", [None, 4])
def test_a_linear_transient_goes_on_with_the_velocities_of_a_transient(dimension, modes):
    """It began anew with those of the start."""
    m = swinging(dimension)
    m.transient_step(0.1, 2e-4)
    m.linear_transient_step(0.1, 2e-4, modes=modes)
    found = solve(m)
    u, v, turn = (found.sensor(name, 1).values[:, 0] for name in ("u", "v", "turn"))
    t = 0.1 + np.linspace(0.0, 0.1, len(u))
    np.testing.assert_allclose(u, 0.1 * np.sin(10.0 * t), atol=2e-7)
    np.testing.assert_allclose(v, np.cos(10.0 * t), atol=2e-6)
    np.testing.assert_allclose(turn, 0.3 * t, atol=1e-9)
    assert found.report.steps[1].warnings[0].startswith("the state moves: its velocities go on")


@pytest.mark.parametrize(
    "add",
    [
        lambda m: m.modes_step(2), lambda m: m.linear_static_step(loads="push"), lambda m: m.harmonic_step([0.5]),
        lambda m: m.buckling_step(1, loads="push"),
    ],
)  # fmt: skip
def test_linear_steps_about_a_state_in_motion_say_that_they_leave_its_velocities_out(add):
    m = swinging(2)
    m.nodal_spring("soft", "top", "rotation", 1.0)
    m.force("push", "a", (-1.0, 0.0))
    m.transient_step(0.01, 1e-3)
    add(m)
    m.static_step(vary="push")
    add(m)
    said = [[w for w in step.warnings if w.startswith("the state moves")] for step in solve(m).report.steps]
    assert [len(w) for w in said] == [0, 1, 0, 0]


def test_the_place_of_a_preload_is_no_load():
    """A preload balances its loads to first order only; what is left does not set the model in motion."""
    m = model()
    m.sensor("tip", "displacement", on="bar:CORNER")
    m.linear_static_step("bend", loads=["across"])
    m.linear_transient_step(1e-3, 1e-5, loads=[], preload="bend")
    bend, still = solve(m).steps
    u = still.series["sensor/tip"]
    assert np.abs(u - u[0]).max() < 1e-12 * np.abs(bend.series["sensor/tip"]).max()


def test_no_step_is_linear_about_a_preload_that_drifts_away():
    """A part that only soft springs hold moves by more than its size."""
    m = loose()
    m.fix("bar:CORNER", ["x", "y"])
    m.fix("bar:TIP", ["x", "y"])
    m.nodal_spring("soft", "bar:CORNER", "z", stiffness=1e2)
    m.nodal_spring("soft too", "bar:TIP", "z", stiffness=1e2)
    m.force("drag", "bar:TIP", [0.0, 0.0, 1e4])
    m.linear_static_step("push")
    m.modes_step(2, preload="push")
    with pytest.raises(
        AnalysisError, match=r"displacements of the preload reach .* support the model in the preload step"
    ):
        solve(m)


# --- what cannot be --------------------------------------------------------------------------------------------------
def loose() -> Model:
    m = Model(3)
    m.mesh("bar", bar()[0])
    m.solid_material("steel", E=E, nu=NU, density=RHO)
    m.solids("part", "bar", "steel")
    m.force("push", "bar:TIP", [0.0, 0.0, 1.0])
    return m


def test_a_loose_part_is_named():
    m = loose()
    m.linear_static_step("push")
    with pytest.raises(AnalysisError, match=r'Step "push": the model is loose.*shows at node "bar \d+", [xyz]'):
        solve(m)
    m.steps.clear()
    m.fix("bar:CORNER")
    m.linear_static_step("push")
    with pytest.raises(AnalysisError, match="the model is loose"):
        solve(m)


def equation(m: Model, name: str, terms, value: float = 0.0) -> None:
    rows, nodes, parts, factors = (np.array(a) for a in zip(*[(0, *t) for t in terms], strict=True))
    m.equations(name, rows, nodes, parts, factors, value=value)


def test_conflicting_equations_are_named():
    m = model()
    equation(m, "first", [(15, 0, 1.0), (17, 0, -1.0)])
    equation(m, "second", [(17, 0, 1.0), (15, 0, -1.0)], value=1e-3)
    m.linear_static_step("pull")
    with pytest.raises(ModelError, match=r'"first".*"second".*contradict'):
        solve(m)


def test_first_terms_that_cannot_be_the_dependent_ones():
    """Two equations with the same first term, and one whose first term is held, are those with other terms first."""

    def frequencies(*equations, fixed=()):
        m = model()
        for k, terms in enumerate(equations):
            equation(m, f"equation {k}", terms)
        if fixed:
            m.fix(*fixed)
        m.modes_step(4)
        return np.array(solve(m).steps[-1].summary["frequencies_hz"])

    first, second = [(15, 0, 1.0), (17, 0, -1.0)], [(15, 0, 1.0), (18, 0, 1.0)]
    assert frequencies(first, second) == pytest.approx(frequencies(first[::-1], second[::-1]), rel=1e-9)
    root = int(model().nodes_of("bar:ROOT")[0])
    held = frequencies([(root, 0, 1.0), (17, 0, -1.0)])
    assert held == pytest.approx(frequencies(fixed=(17, ["x"])), rel=1e-9)
    assert held[0] > 1.001 * frequencies()[0]


RANGE = r"a list of two numbers \[low, high\] with 0 <= low < high"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.modes_step(3, preload="nothing"), 'preload = "nothing" must be the name of a linear static step'),
        (lambda m: m.modes_step(3, near=-1.0), "near = -1.0 must be a frequency"),
        (lambda m: m.modes_step(3, band=(5.0, 2.0)), rf"band = .* must be {RANGE}"),
        (lambda m: m.modes_step(3, near=1.0, band=(1.0, 2.0)), "near and band exclude each other"),
        (
            lambda m: m.modes_step(3, within=(5.0, 2.0)),
            r"within = .* must be a list of two numbers \[low, high\] with low < high",
        ),
        (lambda m: m.modes_step(3, within=(1.0, 2.0), band=(1.0, 2.0)), "within and band exclude each other"),
        (lambda m: m.modes_step(3, masters=[{"on": "bar:TIP"}]), "masters = .* must be a list of tables"),
        (lambda m: m.modes_step(3, held_modes=2), "held_modes needs masters"),
        (
            lambda m: m.modes_step(3, masters=[{"on": "bar:TIP", "components": ["u"]}]),
            '"u" is no component of masters; there are x, y, z, rotation x',
        ),
        (
            lambda m: m.modes_step(3, masters=[{"on": "bar:TIP", "components": "rotation x"}]),
            'node "bar .*" has no rotations, which masters name',
        ),
        (
            lambda m: m.modes_step(3, masters=[{"on": "bar:ROOT", "components": ["x"]}]),
            'the master node "bar .*, x is held, or depends on others',
        ),
        (lambda m: m.linear_static_step(duration=-1.0), "duration = -1.0 must be a number of at least 0"),
        (lambda m: m.linear_static_step(duration=1.0, time=0.5), "time and duration exclude each other"),
        (
            lambda m: m.linear_transient_step(1.0, 0.1, start="x"),
            'start = "x" must be the name of a linear static step or linear transient before it',
        ),
        (lambda m: m.modes_step(3, check="maybe"), 'check = "maybe" must be one of'),
        (lambda m: m.buckling_step(3, sign="up"), 'sign = "up" must be one of'),
        (lambda m: m.linear_static_step("s", time="noon"), 'time = "noon" must be a number'),
        (lambda m: m.linear_static_step("s", loads=["wind"]), 'there is no load.* "wind"'),
        (lambda m: m.linear_transient_step(1.0, 0.1, rule="explicit"), 'rule = "explicit" must be one of "midpoint"'),
        (lambda m: m.linear_transient_step(1.0, 0.3), "not a whole number of steps"),
        (lambda m: m.linear_transient_step(1.0, 0.1, start="s"), 'start = "s" must be the name'),
    ],
)
def test_wrong_options(call, message):
    m = model()
    with pytest.raises(ModelError, match=message):
        call(m)
        solve(m)


def test_linear_steps_in_a_results_folder(tmp_path):
    m = model()
    m.sensor("tip", "displacement", on="bar:CORNER")
    m.linear_static_step("bend")
    m.modes_step(4)
    m.linear_transient_step(1e-3, 1e-4, frames=5)
    results = run(m, tmp_path / "out")
    assert [s.type for s in results.steps] == ["linear_static", "modes", "transient"]
    assert results.steps[0].summary["largest_displacement"] > 0.0
    assert len(results.steps[2].series["time"]) == 11


def test_supports_of_single_steps():
    """A group of supports holds in the steps that name it, as if it were there in a model of its own."""

    def solved(group, **options):
        m = model()
        m.fix("bar:TIP", ["z"], group=group)
        m.linear_static_step("bend", loads=["across"], **options)
        m.modes_step(3, "modes", **options)
        return solve(m).summary["steps"]

    never, always, own = solved("g"), solved(""), solved("g", supports="g")
    for free, held, mine in zip(never, always, own, strict=True):
        key = "strain_energy" if "strain_energy" in held else "frequencies_hz"
        assert mine[key] == pytest.approx(held[key], rel=1e-9)
        assert np.abs(np.array(free[key]) / np.array(held[key]) - 1.0).max() > 0.1
    with pytest.raises(ModelError, match=r'no support has the group "h" \(there are "g"\)'):
        solved("g", supports=["g", "h"])


def test_equations_of_single_steps():
    """Without an equation a step is that of a model that has none; a transient goes on from where it was."""

    def solved(tied, **options):
        m = model()
        if tied:
            m.equation("level", [("bar:TIP", "z", 1.0)])
        m.linear_static_step("bend", loads=["across"], **options)
        m.modes_step(3, "modes", **options)
        m.linear_transient_step(1e-3, 1e-4, name="swing", loads=["across"], start="bend", frames=1, **options)
        return solve(m)

    with_it, lacking, without = solved(True), solved(False), solved(True, without="level")
    for key, i in (("strain_energy", 0), ("frequencies_hz", 1)):
        tied, free, mine = (np.array(s.summary["steps"][i][key]) for s in (with_it, lacking, without))
        assert mine == pytest.approx(free, rel=1e-9)
        assert np.abs(tied / free - 1.0).max() > 0.1
    ends = [s.steps[2].frames["displacement"][-1] for s in (lacking, without)]
    assert ends[1] == pytest.approx(ends[0], abs=1e-9 * np.abs(ends[0]).max())
    with pytest.raises(ModelError, match=r'no equation or tie is called "flat" \(there are "level"\)'):
        solved(True, without=["level", "flat"])
