"""Integration rules behind one interface: weights, what they remember, what they keep and what they dissipate."""

from __future__ import annotations

import re

import numpy as np
import pytest
from places import SCHEMA
from scipy.spatial.transform import Rotation

from fem_mbs import ConvergenceError, Model, ModelError, run, solve
from fem_mbs.analysis.run import inspect
from fem_mbs.analysis.start.initial import consistent_velocities, initial_accelerations
from fem_mbs.analysis.transient.rules import DEFAULTS, LINEAR_DEFAULTS, OPTIONS, RULES, verdict, weights
from fem_mbs.analysis.transient.settings import Settings
from fem_mbs.analysis.transient.tangent import tangent_check
from fem_mbs.declarations.steps import step_kind
from fem_mbs.errors import DiskFullError
from fem_mbs.modelfile.read import load_model
from fem_mbs.modelfile.reference import reference
from fem_mbs.results.reader import Results
from fem_mbs.results.writer import ResultsWriter
from fem_mbs.system.tangent import Matrices, control

FAMILY = [
    ("newmark", {}),
    ("newmark", {"beta": 0.3025, "gamma": 0.6}),
    ("hht", {}),
    ("hht", {"alpha": -1 / 3}),
    ("generalised-alpha", {}),
    ("generalised-alpha", {"rho_inf": 0.0}),
    ("generalised-alpha", {"rho_inf": 1.0}),
]


def oscillator(h: float, n: int, rule: str, w: float = 3.0, **options) -> Model:
    """A mass on a weightless bar with axial frequency w, let go from rest stretched by 0.1 m."""
    m = Model(2)
    m.section("bar", "stiffness", EA=10 * w * w, rhoA=0.0)
    m.line("bar", (0, 0), (10, 0), 1)
    m.trusses("bar", "bar", "bar", prestress=0.1 * w * w)
    m.point_mass("m", "bar:end", 1.0)
    m.fix("bar:start")
    m.fix("bar:end", ["y"])
    m.sensor("u", "displacement", on="bar:end")
    m.sensor("v", "velocity", on="bar:end")
    m.transient_step(n * h, h, rule=rule, frames=0, **options)
    return m


def chung_hulbert(h: float, n: int, w: float, beta, gamma, am, af) -> np.ndarray:
    """(d, v) of d'' + w^2 d = 0 by Chung & Hulbert 1993, eqs 4-9: balance of weighted forces."""
    d, v = 0.1, 0.0
    a = -w * w * d
    if am != af and w * h < 1.0:  # dv/dt at the time (am - af) h, by a difference over h/20
        a *= 1.0 - (am - af) * h * w * w * h / 40.0
    rows = [(d, v)]
    for _ in range(n):
        free = d + h * v + h * h * (0.5 - beta) * a
        a1 = -(am * a + w * w * ((1 - af) * free + af * d)) / (1 - am + w * w * (1 - af) * h * h * beta)
        d, v, a = free + h * h * beta * a1, v + h * ((1 - gamma) * a + gamma * a1), a1
        rows.append((d, v))
    return np.array(rows)


@pytest.mark.parametrize(("rule", "options"), FAMILY)
@pytest.mark.parametrize("wh", [0.3, 40.0])
def test_linear_oscillator_is_that_of_chung_and_hulbert(rule, options, wh):
    w, n = 3.0, 40
    solution = solve(oscillator(wh / w, n, rule, w, **options))
    expected = chung_hulbert(wh / w, n, w, *weights(rule, Settings(**options))[:4])
    assert np.allclose(solution.sensor("u").values[:, 0] + 0.1, expected[:, 0], rtol=0.0, atol=1e-11)
    assert np.allclose(solution.sensor("v").values[:, 0], expected[:, 1], rtol=0.0, atol=1e-11 * w)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8, 1.0])
def test_weights_of_generalised_alpha(rho):
    """Chung & Hulbert 1993: second order, and the roots at infinite frequency are -rho_inf."""
    _, _, am, af, _ = w = weights("generalised-alpha", Settings(rho_inf=rho))
    assert w.gamma == pytest.approx(0.5 - am + af)
    # amplification of (d, h v, h^2 a) as (w h)^2 -> inf: d_{n+1-af} = 0
    d = np.array([-af / (1 - af), 0.0, 0.0])
    a = (d - np.array([1.0, 1.0, 0.5 - w.beta])) / w.beta
    v = np.array([0.0, 1.0, 1.0 - w.gamma]) + w.gamma * a
    assert np.abs(np.linalg.eigvals(np.array([d, v, a]))).max() == pytest.approx(rho, abs=1e-4)


def test_members_of_the_family_coincide():
    last = [
        solve(oscillator(0.1, 50, rule, **options)).sensor("u").values[-1, 0]
        for rule, options in (("newmark", {}), ("hht", {"alpha": 0.0}), ("generalised-alpha", {"rho_inf": 1.0}))
    ]
    assert np.allclose(last, last[0], rtol=1e-10)


def rod(dimension: int, h: float, duration: float, rule: str, **options) -> Model:
    """A soft rod that swings on a pin, with a consistent (Hermite) mass."""
    m = Model(dimension, gravity=(0.0, -9.81, 0.0)[:dimension])
    m.section("rod", "circle", diameter=0.02)
    m.material("rubber", E=5e6, nu=0.3, density=1100)
    m.line("rod", (0, 0, 0)[:dimension], (1, 0, 0)[:dimension], 2)
    m.beams("rod", "rod", "rod", material="rubber")
    m.fix("rod:start", ["x", "y", "z"][:dimension])
    if dimension == 2:
        m.initial("rod", velocity=("0", "2*x"), spin=2.0)
    else:
        m.initial("rod", velocity=("0", "2*x", "-x"), spin=(0.0, 1.0, 2.0))
    m.sensor("end", "position", on="rod:end")
    m.transient_step(duration, h, rule=rule, frames=0, **options)
    return m


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("rule", ["generalised-alpha", "hht", "newmark"])
def test_second_order_of_beams(rule, dimension):
    end = [solve(rod(dimension, h, 0.2, rule)).sensor("end").values[-1] for h in (1e-3, 5e-4, 2.5e-4)]
    assert np.log2(np.linalg.norm(end[0] - end[1]) / np.linalg.norm(end[1] - end[2])) == pytest.approx(2.0, abs=0.15)
    exact = solve(rod(dimension, 2.5e-4, 0.2, "midpoint")).sensor("end").values[-1]
    assert np.linalg.norm(end[-1] - exact) < 2e-6


@pytest.mark.parametrize("dimension", [2, 3])
def test_accelerations_of_the_start(dimension):
    """M a + c(v) = f to round-off for a beam that turns fast under gravity, its mass on directors."""
    m = Model(dimension, gravity=(0.0, -9.81, 0.0)[:dimension])
    m.section("rod", "circle", diameter=0.02)
    m.material("steel", E=2e11, nu=0.3, density=7850)
    m.line("rod", (0, 0, 0)[:dimension], (1, 0.5, 0)[:dimension], 2)
    m.beams("rod", "rod", "rod", material="steel")
    spin = 30.0 if dimension == 2 else (5.0, 3.0, 30.0)
    m.initial("rod", velocity=("-30*y", "30*x", "0")[:dimension], spin=spin)
    m.transient_step(0.1, 0.01)
    compiled = m.compile()
    state = compiled.system.initial_state()
    consistent_velocities(compiled, state, 0.0)
    a = initial_accelerations(compiled, state, 0.0)
    for rows in (state.Q, state.D, state.V):
        rows[1] = rows[0]
    ctl, matrices = control(mass=1.0, gravity=m.gravity), Matrices(compiled.system)
    fun = np.zeros((1, 3))
    state.V[2] = 0.0
    before = matrices.force(ctl, fun, state)
    state.V[2] = a
    after = matrices.force(ctl, fun, state)
    assert np.abs(before).max() > 1.0
    assert np.abs(after[:-1]).max() < 1e-9 * np.abs(before).max()


@pytest.mark.parametrize("options", [{}, {"adaptive": 1e-4}])
def test_energies_of_elements_add_up_to_those_of_the_model(options):
    """Of beams, which hold all mass; soft ones, so that a part of the energy is strain energy.  Between adaptive steps
    both are interpolated alike."""
    m = Model(2)
    m.section("rod", "circle", diameter=0.02)
    m.material("rubber", E=5e5, nu=0.3, density=1000.0)
    m.line("rod", (0.0, 0.0), (1.0, 0.5), 4)
    m.beams("rod", "rod", "rod", material="rubber")
    m.initial("rod", velocity=("-8*y", "8*x"), spin=8.0)
    m.force("pull", "rod:end", (30.0, 20.0))
    m.transient_step(0.1, 0.01, frames=10, **options)
    step = solve(m).steps[0]
    strain, kinetic = step.ledger("strain"), step.ledger("kinetic")
    assert np.ptp(kinetic + strain) > 0.1 * kinetic.max()
    assert strain.max() > 0.01 * kinetic.max()
    assert step.frames["time"] == pytest.approx(step.time)
    assert step.frames["rod/energy [J]"].sum(axis=1) == pytest.approx(kinetic + strain, rel=1e-6)  # single precision


def test_generalised_alpha_damps_what_steps_do_not_resolve():
    """Bathe's stiff pendulum at the step size where Newmark's rule gains energy until it locks."""
    from fem_mbs.validation import crisfield_shi_1993_pendulum as bathe

    step = solve(bathe.build(0.1, 60.0, rule="generalised-alpha", rho_inf=0.5)).steps[0]
    kinetic = 0.5 * bathe.MASS * bathe.SPEED**2
    error = step.ledger("closing error") / kinetic
    assert error.max() < 0.01
    assert -0.25 < error[-1] < 0.0
    # the axial vibration of the unstretched start, a thousandth of the energy, is gone after some steps
    strain = step.ledger("strain")[200:]
    assert strain.max() < 1.2 * (3 * bathe.MASS * bathe.GRAVITY) ** 2 * bathe.LENGTH / (2 * bathe.EA)


def driven_pendulum(h: float, duration: float, **options) -> Model:
    """A body on a pin whose rotation is given: 0.3 sin(3 t) + t/2."""
    m = Model(2, gravity=(0, -9.81))
    m.body("body", (0.8, 0.0), mass=2.0, inertia=0.3)
    m.joint("pin", "pin", "body", "ground", point=(0, 0))
    m.motion("drive", "body", "rotation", "0.3*sin(3*t) + 0.5*t")
    m.sensor("R", "reaction", on="pin")
    m.transient_step(duration, h, frames=0, **options)
    return m


def driven_reaction(t: float) -> np.ndarray:
    angle, rate, turn = 0.3 * np.sin(3 * t) + 0.5 * t, 0.9 * np.cos(3 * t) + 0.5, -2.7 * np.sin(3 * t)
    c, s = np.cos(angle), np.sin(angle)
    return 2.0 * (0.8 * np.array([-turn * s - rate**2 * c, turn * c - rate**2 * s]) + np.array([0.0, 9.81]))


@pytest.mark.parametrize("kind", ["pendulum", "top", "driven"])
@pytest.mark.parametrize(
    ("rule", "options"), [("generalised-alpha", {}), ("generalised-alpha", {"rho_inf": 0.0}), ("hht", {"alpha": -0.2})]
)
def test_multipliers_are_of_second_order_from_the_first_step(rule, options, kind):
    """Largest error over all steps: without the shifted start it is of first order (Arnold, Bruels & Cardona 2015)."""
    from fem_mbs.validation import arnold_bruls_2007_rules as cases

    def largest(h, n):
        build = driven_pendulum if kind == "driven" else (lambda *a, **o: cases.build(kind, *a, **o))
        force = driven_reaction if kind == "driven" else (lambda t: getattr(cases, kind)(t)["reaction"])
        solution = solve(build(h, n * h, rule=rule, **options))
        rows = [1, 2, 3, 4, *range(5, n + 1, n // 5)]
        known = [force(solution.steps[0].time[i]) for i in rows]
        error = [solution.steps[-1].series["sensor/R"][i, : len(f)] - f for i, f in zip(rows, known, strict=True)]
        return np.abs(error).max()

    h, n = (5e-4, 20) if kind == "top" else (0.01, 20)
    errors = [largest(h, n), largest(h / 2, 2 * n)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.25)


def test_stiff_starts_are_not_shifted():
    """Where an acceleration changes by more than itself in a step, the start is that of the true values."""
    from fem_mbs.analysis.start.initial import start_rule

    for h, shifted in ((0.01, True), (2.0, False)):
        m = oscillator(h, 1, "generalised-alpha")
        m.initial("bar:end", velocity=(0.3, 0.0))
        compiled = m.compile()
        state = compiled.system.initial_state()
        consistent_velocities(compiled, state, 0.0)
        start_rule(compiled, state, 0.0, h, weights("generalised-alpha", Settings()))
        assert np.any(state.past[2] != state.past[3]) == shifted


@pytest.mark.parametrize(
    ("lines", "options"),
    [
        ('rule = "generalised-alpha"\nrho_inf = 0', {"rule": "generalised-alpha", "rho_inf": 0.0}),
        ('rule = "hht"\nalpha = -0.2', {"rule": "hht", "alpha": -0.2}),
        ('rule = "decaying"\ndecay = 0.4', {"rule": "decaying", "decay": 0.4}),
        ("adaptive = 1e-4", {"adaptive": 1e-4}),
    ],
)
def test_model_file_and_builder_agree(tmp_path, lines, options):
    path = tmp_path / "model.toml"
    path.write_text(
        """dimension = 2
gravity = [0, -9.81]
[section.bar]
shape = "stiffness"
EA = 100.0
rhoA = 1.0
[mesh.bar]
line = { start = [0, 0], end = [1, 0], n = 2 }
[[truss]]
name = "bar"
on = "bar"
section = "bar"
[[support]]
on = "bar:start"
[[sensor]]
name = "end"
kind = "position"
on = "bar:end"
[[step]]
type = "transient"
duration = 0.5
h = 0.01
"""
        + lines,
        encoding="utf-8",
    )
    m = Model(2, gravity=(0, -9.81))
    m.section("bar", "stiffness", EA=100.0, rhoA=1.0)
    m.line("bar", (0, 0), (1, 0), 2)
    m.trusses("bar", "bar", "bar")
    m.fix("bar:start")
    m.sensor("end", "position", on="bar:end")
    m.transient_step(0.5, 0.01, **options)
    plain = solve(load_model(path)).sensor("end").values
    assert np.array_equal(plain, solve(m).sensor("end").values)
    for key in options:
        del m.steps[0].options[key]
    assert np.abs(plain[-1] - solve(m).sensor("end").values[-1]).max() > 1e-9


# --- the decaying rule -----------------------------------------------------------------------------------------------
def free_model(kind: str, decay: float | None, h: float = 0.02, n: int = 60) -> Model:
    """A free elastic thing that flies, turns and vibrates."""
    dimension = 3 if kind.endswith("3") else 2
    rule = {"rule": "midpoint"} if decay is None else {"rule": "decaying", "decay": decay}
    m = Model(dimension)
    pad = (lambda *x: x) if dimension == 3 else (lambda *x: x[:2])
    spin = (1.0, 0.5, 2.0) if dimension == 3 else 2.0
    wave = pad("0.3 - 2*y", "0.1 + 2*x + 0.8*sin(3*x)", "0.5*x*x")
    if kind.startswith(("beam", "strain")):
        m.section("s", "circle", diameter=0.03)
        m.material("soft", E=2e7, nu=0.3, density=1000)
        m.line("l", pad(0, 0, 0), pad(1, 0.2, 0), 2)
        strains = "generalised" if kind.startswith("strain") else "corotational"
        m.beams("l", "l", "s", material="soft", strains=strains)
        m.initial("l", velocity=wave, spin=spin)
    elif kind.startswith(("truss", "cable", "green")):
        m.section("s", "stiffness", EA=200.0, rhoA=0.5)
        m.line("l", pad(0, 0, 0), pad(1, 0.2, 0), 3)
        m.trusses(
            "l", "l", "s", tension_only=kind.startswith("cable"), strain="green" if "green" in kind else "corotational"
        )
        m.initial("l", velocity=wave)
    else:
        inertia = (0.1, 0.2, 0.25) if dimension == 3 else 0.2
        m.body("a", pad(0, 0, 0), mass=1.0, inertia=inertia)
        m.body("b", pad(1, 0, 0), mass=2.0, inertia=inertia)
        m.initial("a", velocity=pad(0.5, 1.0, 0.2), spin=spin)
        if kind.startswith("spring"):
            m.spring("k", "a", "b", 30.0, length=0.7, point_a=pad(0.1, 0.2, 0.1), point_b=pad(0.9, 0.3, 0.0))
        elif kind.startswith("torsion"):
            axis = {"axis": (0, 0, 1)} if dimension == 3 else {}
            m.joint("j", "revolute" if dimension == 3 else "pin", "a", "b", point=pad(0.4, 0.1, 0), **axis)
            m.torsion_spring("k", "a", "b", 20.0, angle=0.5, **axis)
        else:
            m.joint("j", "prismatic", "a", "b", point=pad(0.5, 0, 0), axis=pad(1, 0, 0))
            m.joint_spring("k", "j", 30.0, free=0.2)
    m.transient_step(n * h, h, frames=0, **rule)
    return m


KINDS = [f"{k}{d}" for k in ("beam", "strain", "truss", "cable", "green", "spring", "torsion", "slide") for d in "23"]


@pytest.mark.parametrize("kind", KINDS)
def test_decaying_rule_dissipates_and_keeps_the_momenta(kind):
    step = solve(free_model(kind, 0.3)).steps[0]
    energy = step.ledger("kinetic") + step.ledger("strain") + step.ledger("potential")
    scale = energy[0]
    assert np.diff(energy).max() <= 1e-12 * scale
    assert energy[-1] < energy[0] - 1e-4 * scale, "nothing has decayed"
    assert np.abs(step.ledger("closing error")).max() < 1e-11 * scale
    for name in ("linear momentum", "angular momentum"):
        values = step.series[name]
        assert np.abs(values - values[0]).max() < 1e-11 * np.abs(values).max(), name


@pytest.mark.parametrize("kind", KINDS)
def test_tangent_of_the_decaying_rule(kind):
    model = free_model(kind, 0.4)
    errors = [tangent_check(model, 0.05, decay=decay).error for decay in (0.0, 0.4)]
    assert max(errors) < 1e-8


@pytest.mark.parametrize("kind", ["beam2", "spring3", "cable3"])
def test_decay_of_zero_is_the_midpoint_rule(kind):
    a, b = (solve(free_model(kind, decay)).steps[0] for decay in (0.0, None))
    assert np.array_equal(a.series["ledger"], b.series["ledger"])


@pytest.mark.parametrize("decay", [0.1, 0.5])
def test_decrement_of_the_decaying_rule(decay):
    """The root of (v1 - v0)/h = -w^2 (x_m + a dx), v_m = dx/h; to first order in h the damping ratio a w h/2."""
    w, h, n = 3.0, 0.05, 60
    # (z - 1)^2 + (w h)^2/2 (z + 1) ((z + 1)/2 + a (z - 1)) = 0
    g = w * w * h * h / 2
    root = np.roots([1 + g * (0.5 + decay), -2 + g, 1 + g * (0.5 - decay)])
    solution = solve(oscillator(h, n, "decaying", w, decay=decay))
    x, v = solution.sensor("u").values[:, 0] + 0.1, solution.sensor("v").values[:, 0]
    # x_n = Re(c z^n) with both first values
    c = np.linalg.solve(np.array([[1, 1], root]), x[:2].astype(complex))
    expected = (c[None, :] * root[None, :] ** np.arange(n + 1)[:, None]).sum(axis=1).real
    assert np.allclose(x, expected, rtol=0.0, atol=1e-12)
    size = np.sqrt(x[-1] ** 2 + (v[-1] / w) ** 2) / 0.1
    assert np.log(size) / (n * h) == pytest.approx(-decay * h * w * w / 2, rel=0.05)


# --- what is refused -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rule": "leapfrog"}, 'must be one of "midpoint", "decaying"'),
        ({"rule": "hht", "alpha": 0.1}, "alpha = 0.1 must be -0.333333 to 0"),
        ({"rule": "hht", "alpha": -0.5}, "alpha = -0.5 must be -0.333333 to 0"),
        ({"rule": "generalised-alpha", "rho_inf": 1.2}, "rho_inf = 1.2 must be 0 to 1"),
        ({"rule": "generalised-alpha", "rho_inf": True}, "rho_inf = true must be a number"),
        ({"rule": "decaying", "decay": -0.1}, "decay = -0.1 must be 0 to 1"),
        ({"rule": "decaying", "decay": 100.0}, "decay = 100.0 must be 0 to 1"),
        ({"rule": "decaying", "decay": float("nan")}, "decay = nan must be"),
        ({"rule": "midpoint", "rho_inf": 0.5}, 'rho_inf belongs to rule = "generalised-alpha", not to "midpoint"'),
        ({"rule": "newmark", "beta": 0.0}, "beta = 0.0 must be 0.0833333 to 1"),
        ({"rule": "newmark", "beta": 5.0}, "beta = 5.0 must be 0.0833333 to 1"),
        ({"rule": "newmark", "gamma": 0.4}, "gamma = 0.4 must be 0.5 to 1"),
        ({"rule": "midpoint", "rtol": 1.0}, "rtol = 1.0 must be a number above 0 and at most 0.001"),
        ({"rule": "midpoint", "ctol": 1e-3}, "ctol = 0.001 must be a number above 0 and at most 1e-06"),
        ({"rule": "midpoint", "adaptive": 0.5}, "adaptive = 0.5 must be the largest local error .*, 1e-12 to 0.1"),
    ],
)
def test_wrong_rules(options, words):
    options = dict(options)
    with pytest.raises(ModelError, match=words):
        solve(oscillator(0.1, 2, **options))


def pendulum(rule: str) -> Model:
    """A rigid body on a hinge."""
    m = Model(2, gravity=(0.0, -9.81))
    m.body("bar", (0.5, 0.0), 1.0, 1.0 / 12.0)
    m.joint("hinge", "revolute", "ground", "bar", point=(0.0, 0.0))
    m.transient_step(0.1, 0.01, rule=rule)
    return m


def test_every_rule_runs_and_tells_its_name():
    for name in RULES:
        solution = solve(pendulum(name) if name == "hamiltonian" else oscillator(0.1, 3, name))
        assert solution.summary["steps"][0]["rule"] == name


# --- the explicit rule -----------------------------------------------------------------------------------------------
def test_explicit_projectile_has_the_error_of_its_formulas():
    """x_n = v0 t + g t (t + h)/2 by v1 = v0 + h g, x1 = x0 + h v1; the spin about a principal axis is exact."""
    h, n, w = 0.05, 40, 7.0
    m = Model(3, gravity=(0, 0, -9.81))
    m.body("b", (0, 0, 0), mass=2.0, inertia=(1.0, 2.0, 2.5))
    m.initial("b", velocity=(1.0, 0.0, 3.0), spin=(0.0, w, 0.0))
    m.sensor("c", "position", on="b")
    m.sensor("p", "position", on="b", point=(1.0, 0.0, 0.0))
    m.transient_step(n * h, h, rule="explicit", frames=0)
    solution = solve(m)
    t = solution.steps[0].time
    exact = np.column_stack((t, 0 * t, 3.0 * t - 9.81 * t * (t + h) / 2))
    assert np.allclose(solution.sensor("c").values, exact, rtol=0.0, atol=1e-12)
    arm = np.column_stack((np.cos(w * t), 0 * t, -np.sin(w * t)))
    assert np.allclose(solution.sensor("p").values - solution.sensor("c").values, arm, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("dimension", [2, 3])
def test_explicit_bodies_on_a_spring(dimension):
    """First order against the mid-point rule, for eccentric points and a follower force."""

    def run(h, rule):
        m = free_model(f"spring{dimension}", None, h, round(0.4 / h))
        m.force("f", "a", (0.0, 3.0, 1.0)[:dimension], follower=True)
        m.sensor("x", "position", on="b", point=(1.0, 1.0, 0.0)[:dimension])
        m.steps[0].options["rule"] = rule
        return solve(m)

    exact = run(1e-3, "midpoint").steps[-1].series["sensor/x"][-1]
    error = [np.linalg.norm(run(h, "explicit").steps[-1].series["sensor/x"][-1] - exact) for h in (4e-3, 2e-3)]
    assert np.log2(error[0] / error[1]) == pytest.approx(1.0, abs=0.1)
    assert error[0] < 0.02
    p = run(2e-3, "explicit").steps[0].series["linear momentum"]
    assert np.linalg.norm(p[-1] - p[0]) < 0.4 * 3.2


@pytest.mark.parametrize("kind", ["beam2", "strain3"])
def test_explicit_free_beam(kind):
    """A consistent mass on directors: not a body, but without multipliers; first order."""

    def run(h, rule):
        m = free_model(kind, None, h, round(0.02 / h))
        m.sensor("x", "position", on="l:end")
        m.sensor("v", "velocity", on="l:end")
        m.steps[0].options["rule"] = rule
        solution = solve(m)
        return np.concatenate(
            (solution.steps[-1].series["sensor/x"][-1], 1e-2 * solution.steps[-1].series["sensor/v"][-1])
        )

    exact = run(1e-5, "midpoint")
    error = [np.linalg.norm(run(h, "explicit") - exact) for h in (2e-5, 1e-5)]
    assert np.log2(error[0] / error[1]) == pytest.approx(1.0, abs=0.1)
    assert error[0] < 1e-3 * np.linalg.norm(exact)


@pytest.mark.parametrize("n", [4, 24])
def test_explicit_net_with_supports(n):
    """Lumped masses on trusses, narrow (banded) and wide (sparse); reactions of the held nodes."""
    from fem_mbs.meshes.generate import grid2d

    def run(rule, h):
        m = Model(3, gravity=(0, 0, -9.81))
        m.section("rope", "stiffness", EA=100.0, rhoA=0.1)
        m.mesh("net", grid2d((1.0, 1.0), (n, n)))
        m.trusses("net", "net", "rope", mass="lumped")
        m.fix(["net:left", "net:right"])
        m.sensor("R", "reaction", on="net:left")
        m.transient_step(0.05, h, rule=rule, frames=1)
        assert m.compile().system.banded == (n == 4)
        return solve(m)

    a, b = run("explicit", 2.5e-4), run("generalised-alpha", 1e-3)
    assert a.summary["steps"][0]["iterations"] == 0
    u, v = (s.steps[0].frames["displacement"][-1] for s in (a, b))
    assert u[:, 2].min() < -0.01
    assert np.abs(u - v).max() < 0.01 * np.abs(u).max()
    assert a.steps[-1].series["sensor/R"][1, 2] > 0.0
    assert a.steps[-1].series["sensor/R"][-1] == pytest.approx(b.steps[-1].series["sensor/R"][-1], rel=0.02)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda m: m.joint("hinge", "pin", "a", "ground", point=(0, 0)),
            '"hinge" .point2. has them; use rule = "midpoint"',
        ),
        (lambda m: m.motion("push", "a", "x", "0.1*t"), "does not know driven motions"),
        (lambda m: m.spring("far", "a", "c", 1.0), "needs a mass everywhere"),
    ],
)
def test_what_the_explicit_rule_refuses(change, words):
    m = Model(2)
    m.body("a", (0, 0), mass=1.0, inertia=1.0)
    if "mass everywhere" in words:
        m.node("c", (1, 0))
    change(m)
    m.transient_step(0.1, 0.01, rule="explicit")
    with pytest.raises(ModelError, match=words):
        solve(m)


@pytest.mark.parametrize(
    ("name", "value"),
    [("rtol", 1e-9), ("newton", "full"), ("predictor", "none"), ("halvings", 2), ("solver", "superlu")],
)
def test_explicit_steps_have_no_options_of_iterations(name, value):
    m = Model(2)
    m.body("b", (0.0, 0.0), 1.0, 1.0)
    m.transient_step(0.1, 0.01, rule="explicit", **{name: value})
    with pytest.raises(ModelError, match=f'{name} belongs to rules with iterations, rule = "explicit" has none'):
        solve(m)


def test_explicit_accelerations_of_a_turned_body_in_space():
    """The body axes are not those of space, so that R J^-1 R^T is a full matrix."""
    inertia, moment, turn = np.array([1.0, 2.0, 3.0]), np.array([0.4, -0.7, 1.1]), [0.5, -0.9, 0.7]
    m = Model(3)
    m.body("b", (0, 0, 0), mass=2.0, inertia=tuple(inertia), rotation=turn)
    m.moment("push", "b", tuple(moment))
    m.sensor("a", "angular acceleration", on="b")
    m.transient_step(1e-4, 1e-5, rule="explicit")
    R = Rotation.from_rotvec(turn).as_matrix()
    found = solve(m).sensor("a").values[1:]
    assert np.allclose(found, R @ (R.T @ moment / inertia), rtol=0.0, atol=1e-8)  # speeds reach 1e-4


def test_explicit_reaction_of_a_support_carries_an_eccentric_mass():
    """The forces at the start of a step, by Euler's equations about the support: accelerations of rotations in body
    axes turn to those of space."""
    offset, mass, gravity = np.array([0.3, -0.2, 0.5]), 2.0, np.array([1.0, -2.0, -9.81])
    inertia, spin, turn = np.array([0.1, 0.2, 0.25]), np.array([2.0, -3.0, 4.0]), [0.5, -0.9, 0.7]
    m = Model(3, gravity=tuple(gravity))
    m.body("b", (0, 0, 0), mass=0.4, inertia=tuple(inertia), rotation=turn)
    m.point_mass("far", "b", mass, offset=tuple(offset))
    m.fix("b", ["x", "y", "z"])
    m.initial("b", spin=tuple(spin), centre=(0.0, 0.0, 0.0))
    m.sensor("R", "reaction", on="b")
    m.transient_step(2e-6, 1e-6, rule="explicit")
    R = Rotation.from_rotvec(turn).as_matrix()
    J = R @ np.diag(inertia) @ R.T + mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))
    a = np.linalg.solve(J, np.cross(offset, mass * gravity) - np.cross(spin, J @ spin))
    of_centre = np.cross(a, offset) + np.cross(spin, np.cross(spin, offset))
    assert solve(m).sensor("R").values[1] == pytest.approx(mass * of_centre - (mass + 0.4) * gravity, rel=1e-9)


def test_explicit_rule_says_when_it_is_unstable():
    with pytest.raises(ConvergenceError, match="explicit rule is stable only for h below 2/w"):
        solve(oscillator(1.0, 2000, "explicit", w=3.0))


# --- adaptive steps --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("kind", "duration", "h"), [("pendulum", 4.0, 0.05), ("top", 0.2, 0.01)])
def test_adaptive_steps_keep_the_tolerance_and_the_energy(kind, duration, h):
    """Plane and space, with joints: error at the end as tol^(2/3), rows on an even grid, ledger closed."""
    from fem_mbs.validation import arnold_bruls_2007_rules as cases

    known = getattr(cases, kind)(duration)["positions"]
    errors, steps = [], []
    for tolerance in (1e-4, 1e-6):
        solution = solve(cases.build(kind, h, duration, adaptive=tolerance))
        step, summary = solution.steps[0], solution.summary["steps"][0]
        names = ("x", "angle") if kind == "pendulum" else ("x", "X")
        errors.append(
            np.linalg.norm(np.concatenate([solution.steps[-1].series[f"sensor/{n}"][-1] for n in names]) - known)
        )
        steps.append(summary["adaptive"]["accepted"])
        assert np.allclose(step.time, h * np.arange(round(duration / h) + 1), rtol=0, atol=1e-12)
        assert summary["energy"]["closing_error_relative"] < 1e-11
        assert summary["adaptive"]["rejected"] <= 0.1 * steps[-1] + 2
        assert summary["iterations"] < 15 * steps[-1]  # three steps each
    ratio = errors[0] / errors[1]
    assert 100 ** (2 / 3) / 1.7 < ratio < 100 ** (2 / 3) * 1.7
    assert 100 ** (1 / 3) / 1.2 < steps[1] / steps[0] < 100 ** (1 / 3) * 1.2


@pytest.mark.parametrize("kind", ["pendulum", "top"])
def test_rows_between_steps(kind):
    """What is sampled agrees with short equal steps as well as the ends do; forces of joints too."""
    from fem_mbs.validation import arnold_bruls_2007_rules as cases

    duration, h = (1.0, 0.01) if kind == "pendulum" else (0.1, 2e-4)
    tolerance = 1e-5 if kind == "pendulum" else 1e-4
    sampled = solve(cases.build(kind, h, duration, adaptive=tolerance))
    exact = solve(cases.build(kind, h / 20, duration))
    assert sampled.summary["steps"][0]["adaptive"]["largest_step"] > 2 * h
    x, v = (sampled.steps[-1].series[f"sensor/{n}"] - exact.steps[-1].series[f"sensor/{n}"][::20] for n in ("x", "v"))
    speed = np.abs(exact.steps[-1].series["sensor/v"]).max()
    assert np.abs(x).max() < 3 * max(np.abs(x[-1]).max(), tolerance)
    assert np.abs(v).max() < 0.01 * speed
    force, fine = sampled.steps[-1].series["sensor/R"][2:], exact.steps[-1].series["sensor/R"]
    # row k holds what belongs to the middle of its interval
    middle = 0.5 * (fine[10::20] + np.vstack((fine[11::20], fine[-1:]))[: len(fine[10::20])])[1:]
    assert np.abs(force - middle).max() < 0.03 * np.abs(fine[1:]).max()


def test_sampled_rotations_are_of_fourth_order():
    from fem_mbs.analysis.transient.adaptive import sample
    from fem_mbs.validation import gonzalez_1996_order as free_body

    compiled = free_body.build("tumbling", 0.1, 0.1).compile().system
    system, N = compiled.system, compiled.n_dof
    J = free_body.INERTIA

    def state(t):
        from scipy.integrate import solve_ivp

        def rate(_t, y):
            W, R = y[:3], y[3:].reshape(3, 3)
            return np.concatenate((np.cross(J * W, W) / J, (R @ np.cross(np.eye(3), W)).ravel()))

        start = np.concatenate((3.0 * free_body.SPIN, np.eye(3).ravel()))
        y = solve_ivp(rate, (0.0, max(t, 1e-12)), start, "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
        Q, V, D = np.zeros(N), np.zeros(N), np.tile(np.eye(3).ravel(), (len(system.rotations) + 1, 1))
        x = system.rotations[0, 0] - 3
        Q[x : x + 3] = t**3, 2 * t, 1 - t * t
        V[x : x + 3] = 3 * t * t, 2, -2 * t
        V[system.rotations[0]], D[0] = y[:3], y[3:]
        return Q, V, D

    errors = []
    for h in (0.05, 0.025):
        Q, V, D = sample(system, 0.3, h, state(1.0), state(1.0 + h))
        q, v, d = state(1.0 + 0.3 * h)
        assert np.abs(Q - q).max() < 1e-14
        assert np.allclose(V[system.positions], v[system.positions], atol=1e-13)
        R = D[0].reshape(3, 3)
        assert np.abs(R.T @ R - np.eye(3)).max() < 1e-14
        errors.append((np.abs(D - d).max(), np.abs(V - v).max()))
    order = np.log2(np.array(errors[0]) / np.array(errors[1]))
    assert order == pytest.approx([4.0, 3.0], abs=0.3)
    for x, known in ((0.0, state(1.0)), (1.0, state(1.1))):
        for a, b in zip(sample(system, x, 0.1, state(1.0), state(1.1)), known, strict=True):
            assert np.allclose(a, b, rtol=0, atol=1e-12)


def test_adaptive_steps_land_on_kinks():
    """A constant force that jumps at 0.123 s: exact by the mid-point rule if no step contains the jump."""
    m = Model(2)
    m.point_mass("m", m_node(m), 2.0)
    m.force("f", "p", (6.0, 0.0), function="step(t - 0.123)")
    m.sensor("x", "position", on="p")
    m.transient_step(0.5, 0.01, frames=0, adaptive=1e-3)
    solution = solve(m)
    t = solution.steps[0].time
    # sampled by cubics with the exact velocities of both ends: exact too
    assert np.allclose(solution.sensor("x").values[:, 0], 1.5 * np.maximum(t - 0.123, 0.0) ** 2, rtol=0.0, atol=1e-12)
    assert solution.summary["steps"][0]["adaptive"]["accepted"] < 40
    assert solution.summary["steps"][0]["energy"]["closing_error_relative"] < 1e-12


def m_node(m: Model) -> str:
    m.node("p", (0, 0))
    return "p"


def test_works_between_adaptive_steps_and_the_largest_step():
    """A constant force on a free mass, which steps of any length follow exactly: they grow to a tenth of the duration.
    Its work (F t)^2 / 2m between the ends of half steps is interpolated linearly."""
    duration, force, mass = 0.5, 6.0, 2.0
    m = Model(2)
    m.point_mass("m", m_node(m), mass)
    m.force("f", "p", (force, 0.0))
    m.sensor("work", "work", on="f")
    m.transient_step(duration, 0.004, frames=0, adaptive=1e-3)
    solution = solve(m)
    largest = solution.summary["steps"][0]["adaptive"]["largest_step"]
    assert 0.5 * duration / 10 < largest <= 1.1 * duration / 10  # the last but one may take a tenth of itself more
    exact = (force * solution.steps[0].time) ** 2 / (2.0 * mass)
    bound = force**2 / mass * (0.5 * largest) ** 2 / 8.0
    error = solution.sensor("work").values[:, 0] - exact
    assert error.min() > -1e-12 and error.max() < 1.001 * bound


def test_positions_and_angles_of_the_plane_are_sampled_by_cubics():
    """Cubics in time are exact, of positions and angles alike; directors follow the angle."""
    from fem_mbs.analysis.transient.adaptive import sample

    m = Model(2)
    m.body("b", (0, 0), mass=1.0, inertia=1.0)
    compiled = m.compile().system
    system, N = compiled.system, compiled.n_dof
    turn, (x, y) = system.rotations[0, 0], system.positions[:2]

    def state(t):
        Q, V, D = np.zeros(N), np.zeros(N), np.zeros((len(system.rotations) + 1, 2))
        Q[[x, y, turn]] = t**3, 2.0 * t - t * t, 0.3 * t**3 + t
        V[[x, y, turn]] = 3.0 * t * t, 2.0 - 2.0 * t, 0.9 * t * t + 1.0
        D[0] = np.cos(Q[turn]), np.sin(Q[turn])
        return Q, V, D

    for share in (0.0, 0.3, 0.9, 1.0):
        for found, exact in zip(
            sample(system, share, 0.5, state(1.0), state(1.5)), state(1.0 + 0.5 * share), strict=True
        ):
            assert np.allclose(found[: len(exact)], exact, rtol=0.0, atol=1e-13)


def test_adaptive_decaying_rule():
    """The decay is a velocity error of second order in a step, a displacement error of third: tol^(1/3) at the end."""
    steps, size = [], []
    for tolerance in (1e-6, 1e-8):
        solution = solve(oscillator(0.01, 200, "decaying", decay=0.5, adaptive=tolerance))
        steps.append(solution.summary["steps"][0]["adaptive"]["accepted"])
        assert solution.summary["steps"][0]["energy"]["closing_error_relative"] < 1e-11
        size.append(
            1.0 - np.hypot(solution.sensor("u").values[-1, 0] + 0.1, solution.sensor("v").values[-1, 0] / 3.0) / 0.1
        )
    assert steps[1] / steps[0] == pytest.approx(100 ** (1 / 3), rel=0.15)
    assert size[0] / size[1] == pytest.approx(100 ** (1 / 3), rel=0.15)


def test_summary_of_adaptive_steps_fits_the_schema(tmp_path):
    import json

    import jsonschema

    from fem_mbs import run

    m = oscillator(0.1, 10, "midpoint", adaptive=1e-3)
    run(m, tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    jsonschema.validate(summary, SCHEMA)
    assert summary["steps"][0]["adaptive"]["tolerance"] == 1e-3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rule": "hht", "adaptive": 1e-3}, 'adaptive steps belong to rule = "midpoint" or "decaying"; "hht"'),
        ({"rule": "midpoint", "adaptive": -1e-3}, "adaptive = -0.001 must be the largest local error"),
        ({"rule": "midpoint", "adaptive": 1e-15}, "adaptive = 1e-15 must be"),
        ({"rule": "midpoint", "adaptive": True}, "adaptive = true must be"),
    ],
)
def test_wrong_adaptive_steps(options, words):
    with pytest.raises(ModelError, match=words):
        solve(oscillator(0.1, 2, **options))


def test_adaptive_steps_that_cannot_reach_the_tolerance():
    """A force whose impulse has no end at 0.3037 s: no step across it is accurate."""
    m = Model(2)
    m.point_mass("m", m_node(m), 1.0)
    m.force("f", "p", (1.0, 0.0), function="1/abs(t - 0.3037)**1.9")
    m.transient_step(1.0, 0.1, adaptive=1e-6, frames=0)
    with pytest.raises(ConvergenceError, match=r"t = 0.3037 s .*something jumps there, or the tolerance is too small"):
        solve(m)


def test_iterations_per_step_of_adaptive_runs(tmp_path):
    """The table counts Newton iterations per step that was computed, not per row of the results."""
    from rich.console import Console

    from fem_mbs import run
    from fem_mbs.cli.report import print_report
    from fem_mbs.validation import arnold_bruls_2007_rules as cases

    results = run(cases.build("pendulum", 0.05, 2.0, adaptive=1e-5), tmp_path / "r")
    summary = results.summary["steps"][0]
    computed = summary["adaptive"]["computed"]
    assert computed >= 3 * summary["adaptive"]["accepted"]
    console = Console(record=True, width=200)
    print_report(console, results)
    text = console.export_text()
    per = summary["iterations"] / computed
    assert 1.0 < per < 8.0
    assert f"{per:.2f}" in text
    assert f"{summary['adaptive']['accepted']} adaptive ({summary['n_steps']} rows" in text


# --- what rules promise ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("rule", "gain", "loss", "told", "failed"),
    [
        ("midpoint", 1e-8, 0.0, "", ""),
        ("midpoint", 1e-4, 0.0, "0.01 % .* came from nowhere", ""),
        ("decaying", 0.0, 1e-2, "", "1 % .* was lost; rule = .decaying. closes the energy to round-off"),
        ("newmark", 0.04, 0.04, "", ""),
        ("newmark", 0.0, 0.3, "30 % .* was lost", ""),
        ("newmark", 0.7, 0.0, "", "70 % .* came from nowhere"),
        ("explicit", np.inf, 0.0, "", "its energies are not finite"),
        ("hht", 0.0, 4.0, "400 % .* was lost", ""),
        ("generalised-alpha", 0.6, 0.0, "", "60 % .* came from nowhere"),
    ],
)
def test_verdicts(rule, gain, loss, told, failed):
    found = verdict(rule, Settings(), {"gain": gain, "loss": loss, "scale": 1.0, "magnitude": 1.0})
    for sentences, wanted in zip(found, (told, failed), strict=True):
        assert len(sentences) == bool(wanted)
        assert not wanted or re.search(wanted, sentences[0])


@pytest.mark.parametrize("rule", ["newmark", "hht", "generalised-alpha"])
def test_gains_of_one_state_rules_are_failures_where_they_last(rule):
    totals = {"gain": 4.0, "loss": 0.0, "scale": 1.0, "magnitude": 1.0}
    told, failures = verdict(rule, Settings(), {**totals, "lasting": 0.0})
    assert "400 % of the energy that parts and loads exchange came from nowhere for a time" in told[0]
    assert failures == []
    told, failures = verdict(rule, Settings(), {**totals, "lasting": 2.0})
    assert told == []
    assert "came from nowhere; rule" in failures[0]


@pytest.mark.parametrize(("rule", "options"), FAMILY)
@pytest.mark.parametrize("wh", [1e3])
def test_overshoot_in_the_first_steps_ends_no_run(rule, options, wh):
    """Speeds overshoot by w h and decay by rho_inf per step: the run goes on, and what is gone at its end is told."""
    w, n = 3.0, 150
    solution = solve(oscillator(wh / w, n, rule, w, **options))
    step = solution.summary["steps"][0]
    expected = chung_hulbert(wh / w, n, w, *weights(rule, Settings(**options))[:4])
    assert np.allclose(solution.sensor("u").values[:, 0] + 0.1, expected[:, 0], rtol=0.0, atol=1e-9)
    assert "failures" not in step
    overshoots = np.abs(expected[:, 1]).max() > 2.0 * 0.1 * w
    assert any("came from nowhere for a time" in text for text in step["warnings"]) == overshoots


def test_round_off_of_large_energies_breaks_no_promise():
    totals = {"gain": 1e-5, "loss": 0.0, "scale": 1e-3, "magnitude": 1e5}
    assert verdict("midpoint", Settings(), totals) == ([], [])


def bodies_on_a_spring(h: float, n: int, rule: str = "explicit") -> Model:
    """Two free bodies on a spring, one of them pushed: w = 141/s."""
    m = Model(3)
    for name, x in (("a", 0.0), ("b", 1.0)):
        m.body(name, (x, 0, 0), 1.0, (0.1, 0.2, 0.25))
    m.spring("s", "a", "b", 1e4)
    m.initial("a", (1.0, 0.0, 0.0))
    m.sensor("x", "position", on="a")
    m.transient_step(n * h, h, rule=rule, frames=0)
    return m


def test_runs_that_grow_without_bound_stop(tmp_path):
    """Beyond h = 2/w explicit steps grow; what is kept is from before, and finite."""
    model = bodies_on_a_spring(0.1, 100)
    with pytest.raises(ConvergenceError, match="grows without bound, by energy that comes from nowhere"):
        run(model, tmp_path / "r")
    kept = Results.open(tmp_path / "r").sensor("x").values
    assert np.isfinite(kept).all()
    assert np.abs(kept).max() < 1e3


def test_a_full_disk_does_not_hide_why_a_run_has_failed(tmp_path, monkeypatch):
    def full(writer: ResultsWriter, message: str) -> None:
        raise DiskFullError("no room")

    monkeypatch.setattr(ResultsWriter, "fail", full)
    with pytest.raises(ConvergenceError, match=r"grows without bound.*the last rows are lost \(no room\)"):
        run(bodies_on_a_spring(0.1, 100), tmp_path / "r")


@pytest.mark.parametrize("n", [2, 120])
def test_check_knows_the_limit_of_explicit_steps(n):
    """Of n bodies of 1 kg in a row, on springs of k = 1e4 N/m: w = 2 sqrt(k/m) cos(pi/2n) of the highest mode."""
    limit = 2.0 / (200.0 * np.cos(np.pi / (2 * n)))

    def chain(h: float) -> Model:
        m = Model(2)
        for i in range(n):
            m.body(f"b{i}", (float(i), 0.0), 1.0, 10.0)
        for i in range(n - 1):
            m.spring(f"s{i}", f"b{i}", f"b{i + 1}", 1e4)
        m.modes_step(3)
        m.transient_step(10 * h, h, rule="explicit")
        return m

    inspect(chain(limit * 0.998))
    with pytest.raises(ModelError, match=f"stable only for h below 2/w = {limit:.2g}"):
        inspect(chain(limit * 1.002))


def test_runs_that_break_the_promise_of_their_rule_are_failures(tmp_path, fem_mbs):
    """h = 0.01 is stable, but the energy swings by as much as there is."""
    solution = solve(bodies_on_a_spring(0.01, 100))
    step = solution.summary["steps"][0]
    assert step["energy"]["closing_error_relative"] > 0.5
    assert "came from nowhere" in step["failures"][0]
    assert "failures" not in solve(bodies_on_a_spring(0.01, 100, "midpoint")).summary["steps"][0]
    path = tmp_path / "model.toml"
    path.write_text(
        """
[[body]]
name = "a"
position = [0, 0, 0]
mass = 1
inertia = [0.1, 0.2, 0.25]
[[body]]
name = "b"
position = [1, 0, 0]
mass = 1
inertia = [0.1, 0.2, 0.25]
[[spring]]
a = "a"
b = "b"
stiffness = 1e4
[[initial]]
on = "a"
velocity = [1, 0, 0]
[[step]]
type = "transient"
duration = 1
h = 0.01
rule = "explicit"
""",
        encoding="utf-8",
    )
    code, out, err = fem_mbs("run", path, "-o", tmp_path / "out")
    assert code == 1
    assert "FAILED" in out
    assert "came from nowhere" in err


# --- steps that turn too far -----------------------------------------------------------------------------------------
def spinning(h: float, n: int, rate: float, dimension: int, **options) -> Model:
    m = Model(dimension)
    if dimension == 2:
        m.body("a", (0, 0), 1.0, 0.1)
        m.initial("a", spin=rate)
        m.joint("p", "pin", "a", "ground", point=(0, 0))
    else:
        m.body("a", (0, 0, 0), 1.0, (0.1, 0.1, 0.1))
        m.initial("a", spin=(0.0, 0.0, rate))
        m.joint("p", "revolute", "ground", "a", point=(0, 0, 0), axis=(0, 0, 1))
    kind, on = ("joint", "p") if dimension == 3 else ("rotation", "a")
    m.sensor("q", kind, on=on)
    m.transient_step(n * h, h, frames=0, **options)
    return m


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("adaptive", [False, True])
def test_steps_that_turn_too_far_are_cut(dimension, adaptive):
    """A wheel at 30 rad/s in steps of 0.2 s, 6 rad each: uncut, the mid-point rule would turn it by 2.5."""
    solution = solve(spinning(0.2, 10, 30.0, dimension, **({"adaptive": 0.01} if adaptive else {})))
    step = solution.steps[0]
    exact = 30.0 * step.time
    # in parts of h/4 = 0.05 s the rule turns by 2 atan(w h/8) each
    lag = 1.0 - 2.0 * np.arctan(0.75) / 1.5
    assert np.abs(solution.steps[-1].series["sensor/q"][:, 0] - exact).max() < 1.01 * lag * exact[-1]
    assert step.summary["energy"]["closing_error_relative"] < 1e-12
    if not adaptive:
        assert step.summary["halved_steps"] == 10
        assert step.summary["warnings"][0].startswith("10 steps were made in parts")
        assert "nodes turn by up to 74 degrees in a step" in step.summary["warnings"][1]


@pytest.mark.parametrize("options", [{"halvings": 0}, {"rule": "explicit"}], ids=str)
def test_steps_that_turn_too_far_and_cannot_be_cut_are_errors(options):
    model = spinning(0.2, 10, 30.0, 3, **options)
    if "rule" in options:
        model = bodies_on_a_spring(1e-3, 10)
        model.initial("b", spin=(0.0, 0.0, 2000.0))
    with pytest.raises(ConvergenceError, match="turns by more than a quarter of a turn"):
        solve(model)


def test_a_universal_joint_near_its_singular_position_keeps_to_its_law():
    """Shafts at 89.4 degrees, driven in steps in which the output turns by up to 90 degrees: tan q = tan(w t)/cos b."""
    b, w = 0.5 * np.pi - 0.01, 2.0
    c, s = np.cos(b), np.sin(b)
    m = Model(3)
    m.body("a", (-0.5, 0, 0), 1.0, (0.1, 0.1, 0.1))
    m.body("b", (0.5 * c, 0.5 * s, 0), 1.0, (0.1, 0.1, 0.1))
    speed = {"kind": "constant_speed", "rate": w}
    m.joint("in", "revolute", "ground", "a", point=(-1, 0, 0), axis=(1, 0, 0), function=speed)
    m.joint("cross", "universal", "a", "b", point=(0, 0, 0), axis=(0, 0, 1), axis_b=(-s, c, 0))
    m.joint("out", "revolute", "ground", "b", point=(c, s, 0), axis=(c, s, 0))
    m.sensor("q", "joint", on="out")
    m.transient_step(3.0, 0.01, frames=0)
    solution = solve(m)
    turn = w * solution.steps[0].time
    exact = min(
        (np.unwrap(np.arctan2(np.sin(turn) * x, np.cos(turn) * y), period=2.0 * np.pi) for x, y in ((1, c), (c, 1))),
        key=lambda q: np.abs(q - solution.steps[-1].series["sensor/q"][:, 0]).max(),
    )
    assert np.abs(solution.steps[-1].series["sensor/q"][:, 0] - exact).max() < 1e-10


def test_defaults_of_rules_stand_in_one_table():
    """A linear transient has one default of its own, and the reference says why."""
    assert {k: v for k, v in DEFAULTS.items() if k != "decay"} | {"alpha": -0.05} == LINEAR_DEFAULTS
    for name, (low, high, default) in OPTIONS.items():
        assert low <= default <= high
        assert step_kind("transient").Options.keys()[name].default == getattr(Settings(), name) == default
        if name != "decay":
            assert step_kind("linear_transient").Options.keys()[name].default == LINEAR_DEFAULTS[name]
    row = next(line for line in reference().splitlines() if line.startswith("| `alpha` | number | -0.05 |"))
    assert f"half of the default of a transient, {DEFAULTS['alpha']:g}" in row


@pytest.mark.parametrize("bare", ["first", "second"])
def test_the_explicit_rule_names_a_node_without_mass(bare):
    """Also the first unknown of all."""
    m = Model(2)
    for k, name in enumerate(("first", "second")):
        m.node(name, (1.0 + k, 0.0))
        if name != bare:
            m.point_mass(f"m {name}", name, 2.0)
        m.fix(name, ["y"])
    m.spring("a", "ground", "first", 50.0, point_a=(0.0, 0.0))
    m.spring("b", "first", "second", 50.0)
    m.transient_step(0.1, 1e-3, rule="explicit")
    with pytest.raises(ModelError, match=f'needs a mass everywhere.*"{bare}"'):
        solve(m)


@pytest.mark.long
def test_tangents_near_the_solution_and_first_guesses_that_fail_are_not_repeated():
    """A shell that tumbles in long steps: tangents that contract well serve on, and after a step that needed a first
    guess by velocities the next ones begin so.  Before, more tangents were factored than iterations made."""
    from fem_mbs.validation.simo_tarnow_1994_free_shells import build

    summary = solve(build(duration=1.5)).steps[0].summary
    assert summary["n_steps"] == 30
    assert summary["factorisations"] < 0.9 * summary["iterations"]
