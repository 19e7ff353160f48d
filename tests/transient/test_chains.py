"""Trees of rigid bodies in joint coordinates and conjugate momenta, `rule = "hamiltonian"`."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from fem_mbs import Model, ModelError, run, solve
from fem_mbs.solvers.chains import midpoint, recurrences
from fem_mbs.solvers.chains.layout import Chain, make_work
from fem_mbs.validation.case import energy_error, extrapolated

EPS = 1e-6


# --- recurrences -----------------------------------------------------------------------------------------------------
def random_chain(seed: int, n: int, branched: bool, slides: bool = True) -> Chain:
    """A chain or tree of n segments with any axes, masses and springs."""
    rng = np.random.default_rng(seed)
    before = [-1, *(int(rng.integers(-1, k)) if branched else k - 1 for k in range(1, n))]
    axis = rng.normal(size=(n, 3))
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    root = rng.normal(size=(n, 3, 3))
    euler = 0.1 * root @ root.transpose(0, 2, 1)
    inertia = np.array([np.trace(e) * np.eye(3) - e for e in euler])
    return Chain(
        np.array(before), (rng.random(n) < 0.3 * slides).astype(np.int64), axis, rng.normal(size=(n, 3)),
        rng.random(n) + 0.5, 0.3 * rng.normal(size=(n, 3)), inertia.reshape(n, 9), 5.0 * rng.random(n),
        0.1 * rng.normal(size=n), np.zeros(n), np.zeros(n, np.int64), np.array([0.3, -0.4, -9.81]),
    )  # fmt: skip


def skew(u):
    return np.array([[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]])


def energy_matrix(chain: Chain, q: np.ndarray) -> np.ndarray:
    """A by van Holten's matrices [H] and rows R, eqs 18, 23-36, for a chain whose segments turn.

    Rows are local coordinates times the unit vectors of a segment, the rows of H; [alpha'] is the derivative of
    [alpha].
    """
    n = len(q)
    H, dH = [np.eye(3)], []
    centre, dR = [], []
    A = np.zeros((n, n))
    for k in range(n):
        u = chain.axis[k]
        turn = (np.eye(3) + np.sin(q[k]) * skew(u) + (1.0 - np.cos(q[k])) * skew(u) @ skew(u)).T
        rate = (np.cos(q[k]) * skew(u) + np.sin(q[k]) * skew(u) @ skew(u)).T
        H.append(turn @ H[-1])  # (25)
        own = [turn @ d for d in (dH[-1] if dH else [])] + [rate @ H[-2]]  # (27), (28)
        rows = []
        for i in range(k + 1):
            row = chain.centre[k] @ own[i]  # (32), (33)
            if i < k:
                row = row + dR[-1][i] + (chain.arm[k] - chain.centre[k - 1]) @ dH[-1][i]
            rows.append(row)
        dH.append(own)
        dR.append(rows)
        centre.append(chain.centre[k])
        inertia = chain.inertia[k].reshape(3, 3)
        euler = 0.5 * np.trace(inertia) * np.eye(3) - inertia  # (24)
        for i in range(k + 1):
            for j in range(k + 1):
                A[i, j] += chain.mass[k] * rows[i] @ rows[j]  # (18)
                A[i, j] += np.trace(own[i].T @ euler @ own[j])  # (23)
    return A


def energy(chain, work, q, p):
    recurrences.place(chain, work, q)
    recurrences.matrix(chain, work)
    return 0.5 * p @ np.linalg.solve(work.matrix, p) + recurrences.potential(chain, work, q)


def test_energy_matrix_is_that_of_the_paper():
    chain, q = random_chain(3, 7, branched=False, slides=False), np.random.default_rng(4).normal(size=7)
    work = make_work(7)
    recurrences.place(chain, work, q)
    recurrences.matrix(chain, work)
    expected = energy_matrix(chain, q)
    assert np.allclose(work.matrix, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("branched", [False, True])
def test_slopes_of_the_energy_are_its_differences(branched):
    n = 7
    chain, work = random_chain(1, n, branched), make_work(n)
    rng = np.random.default_rng(2)
    q, p = rng.normal(size=n), rng.normal(size=n)
    expected = [(energy(chain, work, q + d, p) - energy(chain, work, q - d, p)) / (2.0 * EPS) for d in EPS * np.eye(n)]
    energy(chain, work, q, p)
    assert recurrences.factor(work.matrix, work.factor)
    recurrences.solve(work.factor, p, work.rate)
    assert np.allclose(work.rate, np.linalg.solve(work.matrix, p), rtol=1e-10)
    work.slope[:] = 0.0
    recurrences.slopes(chain, work, q, 1.0)
    assert np.allclose(work.slope, expected, rtol=1e-7, atol=1e-7)


def test_matrix_without_mass_has_no_factor():
    chain = random_chain(1, 2, branched=False)
    work = make_work(2)
    chain.mass[:], chain.inertia[:] = 0.0, 0.0
    recurrences.place(chain, work, np.zeros(2))
    recurrences.matrix(chain, work)
    assert not recurrences.factor(work.matrix, work.factor)


# --- one step --------------------------------------------------------------------------------------------------------
def standing_chain() -> Chain:
    """Four segments with springs and dampers on a vertical hinge, whose angle is cyclic."""
    chain = random_chain(6, 4, branched=True)
    chain.slides[:] = 0, 0, 1, 0
    chain.gravity[:] = 0.0, 0.0, -9.81
    chain.axis[0] = 0.0, 0.0, 1.0
    chain.cyclic[0], chain.stiffness[0] = 1, 0.0
    chain.damping[1:] = 3.0, 2.0, 1.0
    return chain


def advanced(chain: Chain, q0: np.ndarray, p0: np.ndarray, h: float, n: int):
    """Return coordinates, momenta (n + 1, segments) and numbers of iterations (n,) of n steps."""
    size = len(q0)
    q, p, iterations = np.zeros((n + 1, size)), np.zeros((n + 1, size)), np.zeros(n, np.int64)
    q[0], p[0] = q0, p0
    made = midpoint.advance(
        chain, make_work(size), q, p, h, 1.0, np.zeros((8, size)), np.zeros((4, size, size)), iterations
    )
    assert made == n
    return q, p, iterations


def test_a_step_balances_energy_and_keeps_the_cyclic_momentum():
    chain, h, rng = standing_chain(), 0.1, np.random.default_rng(7)
    work, q0, p0 = make_work(4), 0.5 * rng.normal(size=4), rng.normal(size=4)
    (_, q1), (_, p1), _ = advanced(chain, q0, p0, h, 1)
    matrices = []
    for q in (q0, q1):
        recurrences.place(chain, work, q)
        recurrences.matrix(chain, work)
        matrices.append(work.matrix.copy())
    rate = sum(np.linalg.solve(A, p0 + p1) for A in matrices) / 4.0
    assert np.allclose((q1 - q0) / h, rate, rtol=1e-10)
    before, after = energy(chain, work, q0, p0), energy(chain, work, q1, p1)
    lost = h * chain.damping @ rate**2
    assert lost > 0.01 * abs(before)
    assert after - before == pytest.approx(-lost, abs=1e-12 * abs(before))
    assert p1[0] == pytest.approx(p0[0], rel=1e-12)


def test_steps_are_of_second_order():
    chain, rng = standing_chain(), np.random.default_rng(7)
    work, start = make_work(4), np.concatenate((0.5 * rng.normal(size=4), rng.normal(size=4)))

    def rates(t, y):
        q, p = y[:4], y[4:]
        slope = [(energy(chain, work, q + d, p) - energy(chain, work, q - d, p)) / (2.0 * EPS) for d in EPS * np.eye(4)]
        energy(chain, work, q, p)
        rate = np.linalg.solve(work.matrix, p)
        return np.concatenate((rate, -np.array(slope) - chain.damping * rate))

    exact = solve_ivp(rates, (0.0, 0.2), start, method="DOP853", rtol=1e-9, atol=1e-9).y[:, -1]
    errors = []
    for n in (4, 8):
        q, p, _ = advanced(chain, start[:4], start[4:], 0.2 / n, n)
        errors.append(np.abs(np.concatenate((q[-1], p[-1])) - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)
    assert errors[1] < 0.01


def test_a_linear_step_takes_one_correction():
    """A slide on a stiff spring with a damper is linear: the first correction is exact, the second is round-off."""
    chain = random_chain(1, 1, branched=False)
    chain.slides[:], chain.mass[:], chain.stiffness[:], chain.damping[:] = 1, 2.0, 500.0, 3.0
    (_, q1), (_, p1), iterations = advanced(chain, np.array([0.2]), np.array([0.3]), 0.5, 1)
    assert iterations[0] <= 3
    weight = chain.mass[0] * chain.gravity @ chain.axis[0]
    force = weight - 500.0 * (0.5 * (0.2 + q1[0]) - chain.free[0]) - 3.0 * (q1[0] - 0.2) / 0.5
    assert p1[0] == pytest.approx(0.3 + 0.5 * force, rel=1e-12)
    assert q1[0] == pytest.approx(0.2 + 0.5 * 0.5 * (0.3 + p1[0]) / 2.0, rel=1e-12)


def test_states_are_places_and_their_rates():
    """Velocities and angular velocities are central differences of places and turns along the rates of q."""
    chain, rng, n = random_chain(8, 5, branched=True), np.random.default_rng(9), 5
    q, p = rng.normal(size=(2, n)), rng.normal(size=(2, n))
    work = make_work(n)
    shapes = ((n, 9), (n, 3), (n, 3), (n, 3))
    turns, places, spins, speeds = (np.zeros((2, *shape)) for shape in shapes)
    assert midpoint.states(chain, work, q, p, turns, places, spins, speeds)
    for k in range(2):
        energy(chain, work, q[k], p[k])
        rate = np.linalg.solve(work.matrix, p[k])
        ends = []
        for way in (-EPS, EPS):
            recurrences.place(chain, work, q[k] + way * rate)
            ends.append((work.place.copy(), work.turn.reshape(n, 3, 3).copy()))
        assert np.allclose(speeds[k], (ends[1][0] - ends[0][0]) / (2.0 * EPS), rtol=0.0, atol=1e-8)
        for i in range(n):
            spin = (ends[1][1][i] - ends[0][1][i]) / (2.0 * EPS) @ turns[k, i].reshape(3, 3).T
            assert np.allclose(skew(spins[k, i]), spin, rtol=0.0, atol=1e-8)
        momenta = np.zeros(n)
        midpoint.conjugate(chain, work, q[k], spins[k], speeds[k], momenta)
        assert np.allclose(momenta, p[k], rtol=1e-10, atol=1e-10)


# --- against absolute coordinates ------------------------------------------------------------------------------------
def spatial_chain(model: Model, kinds, backwards: bool) -> None:
    """Bodies on joints with any axes; the first spring does not start free."""
    rng = np.random.default_rng(5)
    x, before = np.array([0.1, 0.2, 0.3]), "ground"
    for i, kind in enumerate(kinds):
        axis, arm = rng.normal(size=3), np.array([0.5, 0.1 * i, -0.2])
        model.body(f"b{i}", x + 0.5 * arm, 1.0 + 0.2 * i, (0.02, 0.03, 0.025), rotation=rng.normal(size=3))
        more = {} if kind in ("spherical", "weld") else {"axis": axis}
        if kind == "universal":
            more["axis_b"] = np.cross(axis, (1.0, 0.2, 0.3))
        ends = (f"b{i}", before) if backwards else (before, f"b{i}")
        model.joint(f"j{i}", kind, *ends, point=x, **more)
        if kind in ("revolute", "cylindrical", "prismatic", "universal"):
            model.sensor(f"j{i}", "joint", on=f"j{i}")
            model.joint_spring(f"s{i}", f"j{i}", 4.0 if kind != "prismatic" else 60.0, 0.1, free=0.2)
        if kind == "universal":
            model.joint_spring("other", f"j{i}", 3.0, coordinate="angle_b")
        x, before = x + arm, f"b{i}"
    model.sensor("tip", "position", on=before)


def tree(rule: str, h: float, kinds=(), backwards: bool = False, duration: float = 0.4) -> Model:
    model = Model(3, gravity=(0.5, 0.0, -9.81))
    spatial_chain(model, kinds, backwards)
    model.transient_step(duration, h, rule=rule, frames=0)
    return model


def plane_tree(rule: str, h: float) -> Model:
    """A branched tree of the plane with a slide, started with speed."""
    model = Model(2, gravity=(0.0, -9.81))
    model.body("a", (0.5, 0.0), 1.0, 0.1, angle=0.3)
    model.body("b", (1.2, 0.3), 0.7, 0.05)
    model.body("c", (1.1, -0.4), 0.4, 0.02)
    model.joint("A", "revolute", "ground", "a", point=(0.0, 0.0))
    model.joint("B", "prismatic", "b", "a", point=(1.0, 0.1), axis=(1.0, 0.4))
    model.joint("C", "pin", "a", "c", point=(1.0, -0.2))
    model.joint_spring("k", "B", 80.0, 1.0, free=0.05)
    model.joint_spring("t", "C", 3.0)
    model.initial("all", spin=1.5, centre=(0.0, 0.0))
    for name in "bc":
        model.sensor(name, "position", on=name)
    model.sensor("B", "joint", on="B")
    model.sensor("k", "element", on="k", quantity="force")
    model.transient_step(0.4, h, rule=rule, frames=4)
    return model


def compare(make, sizes=(0.01, 0.005, 0.0025, 0.00125), tolerance=1e-8):
    """Both formulations have the same limit, which Romberg's scheme takes from runs of four steps."""
    limits, names = [], None
    for rule in ("midpoint", "hamiltonian"):
        runs = [solve(make(rule, h)) for h in sizes]
        for made in runs:
            assert energy_error(made.steps[0]) < 1e-11
        names = [s.name for s in runs[0].compiled.sensors if not s.mid_step]
        values = [
            np.hstack([run.sensor(name).values[:: round(sizes[0] / h)] for name in names])
            for run, h in zip(runs, sizes, strict=True)
        ]
        limits.append(extrapolated(values, 2.0))
    error = np.abs(limits[0] - limits[1]).max(axis=0)
    assert (error < tolerance * np.maximum(1.0, np.abs(limits[0]).max(axis=0))).all(), error


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(
    "kinds",
    [
        ("revolute", "revolute", "revolute"),
        ("cylindrical", "weld", "prismatic", "revolute"),
        ("universal", "planar"),
        ("spherical", "point_on_line"),
        ("point_on_plane",),
    ],
)
def test_same_limit_as_absolute_coordinates(kinds, backwards):
    compare(lambda rule, h: tree(rule, h, kinds, backwards), tolerance=1e-7 if "spherical" in kinds else 1e-8)


def test_same_limit_in_the_plane():
    compare(plane_tree)


def test_forces_of_springs_are_recorded():
    forces = [solve(plane_tree(rule, 0.002)).sensor("k").values for rule in ("midpoint", "hamiltonian")]
    assert np.abs(forces[0][1:] - forces[1][1:]).max() < 1e-3 * np.abs(forces[0][1:]).max()


def test_double_pendulum_is_that_of_lagrange():
    """Two thin rods of 1 m and 1 kg against their two equations, integrated by scipy."""

    def rates(_, y):
        a, b, u, v = y
        c, s = np.cos(a - b), np.sin(a - b)
        M = np.array([[4.0 / 3.0, 0.5 * c], [0.5 * c, 1.0 / 3.0]])
        f = np.array([-0.5 * s * v * v - 1.5 * 9.81 * np.sin(a), 0.5 * s * u * u - 0.5 * 9.81 * np.sin(b)])
        return [u, v, *np.linalg.solve(M, f)]

    exact = solve_ivp(rates, (0.0, 1.0), [0.5 * np.pi, 0.5 * np.pi, 0.0, 0.0], "DOP853", rtol=1e-12, atol=1e-12).y[
        :, -1
    ]
    tips = []
    for h in (0.02, 0.01, 0.005, 0.0025):
        model = Model(2, gravity=(0.0, -9.81))
        for i in range(2):
            model.body(f"rod {i}", (0.5 + i, 0.0), 1.0, 1.0 / 12.0)
            model.joint(f"J{i}", "revolute", f"rod {i - 1}" if i else "ground", f"rod {i}", point=(float(i), 0.0))
        model.sensor("tip", "position", on="rod 1", point=(2.0, 0.0))
        model.transient_step(1.0, h, rule="hamiltonian", frames=0)
        tips.append(solve(model).sensor("tip").values[-1])
    place = np.array([np.sin(exact[0]) + np.sin(exact[1]), -np.cos(exact[0]) - np.cos(exact[1])])
    errors = [np.linalg.norm(tip - place) for tip in tips]
    assert 1.9 < np.log2(errors[-2] / errors[-1]) < 2.1
    assert np.linalg.norm(extrapolated(tips, 2.0) - place) < 1e-8


# --- conservation ----------------------------------------------------------------------------------------------------
def spinning(h: float = 0.02, duration: float = 20.0) -> Model:
    """Two rods that swing on a turning column: the momentum about the column's axis is cyclic."""
    model = Model(3, gravity=(0.0, 0.0, -9.81))
    model.body("column", (0.0, 0.0, 0.5), 2.0, (0.1, 0.1, 0.2))
    model.joint("C", "revolute", "ground", "column", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    model.body("rod", (0.5, 0.0, 1.0), 1.0, (0.001, 0.09, 0.09))
    model.joint("R", "revolute", "column", "rod", point=(0.1, 0.0, 1.0), axis=(0.0, 1.0, 0.0))
    model.body("end", (1.2, 0.0, 1.0), 0.5, (0.001, 0.02, 0.02))
    model.joint("U", "universal", "rod", "end", point=(1.0, 0.0, 1.0), axis=(0.0, 1.0, 0.0), axis_b=(0.0, 0.0, 1.0))
    model.initial("all", spin=(0.0, 0.0, 3.0), centre=(0.0, 0.0, 0.0))
    model.sensor("end", "position", on="end")
    model.transient_step(duration, h, rule="hamiltonian", frames=0)
    return model


def test_energy_and_cyclic_momentum_stay():
    step = solve(spinning()).steps[0]
    assert energy_error(step, constant=True) < 1e-11
    about = step.series["angular momentum"][:, 2]
    assert np.abs(about - about[0]).max() < 1e-11 * abs(about[0])
    assert np.ptp(step.series["sensor/end"][:, 2]) > 0.5


def test_free_body_keeps_energy_and_momentum():
    """Six coordinates that begin anew where three turns come near their singular place."""
    model = Model(3)
    model.body("a", (0.0, 0.0, 0.0), 1.0, (0.1, 0.2, 0.25))
    model.initial("a", velocity=(1.0, 2.0, 3.0), spin=(0.5, 4.0, 0.2))
    model.sensor("w", "angular velocity", on="a")
    model.transient_step(5.0, 0.01, rule="hamiltonian", frames=5)
    step = solve(model).steps[0]
    assert energy_error(step, constant=True) < 1e-11
    momentum = step.series["linear momentum"]
    assert np.abs(momentum - momentum[0]).max() < 1e-12 * np.linalg.norm(momentum[0])
    spin = step.series["angular momentum"]
    assert np.abs(spin - spin[0]).max() < 1e-3 * np.linalg.norm(spin[0])


def test_coarse_steps_are_made_in_parts():
    solution = solve(spinning(0.5, 5.0))
    assert solution.summary["steps"][0]["halved_steps"] > 0
    assert energy_error(solution.steps[0], constant=True) < 1e-9


def test_dampers_take_what_the_ledger_books():
    step = solve(tree("hamiltonian", 0.01, ("revolute", "prismatic"), duration=2.0)).steps[0]
    assert step.ledger("dissipated")[-1] > 1e-2
    assert energy_error(step) < 1e-11


def test_restart_gives_the_same_bits(tmp_path):
    def model():
        made = spinning(0.02, 2.0)
        made.steps.clear()
        made.transient_step(2.0, 0.02, rule="hamiltonian", frames=0, restarts=3)
        return made

    whole = run(model(), tmp_path / "whole")
    assert len(whole.restart_points) == 3
    for number in range(3):
        shutil.copytree(tmp_path / "whole", tmp_path / f"copy{number}")
        again = run(model(), tmp_path / f"copy{number}", restart=number)
        assert (again.sensor("end").values == whole.sensor("end").values).all()


def test_steps_go_on_from_each_other():
    model = spinning(0.02, 1.0)
    model.transient_step(1.0, 0.02, "next", rule="hamiltonian", frames=0)
    model.transient_step(1.0, 0.02, "third", frames=0)
    solution = solve(model)
    at_once = solve(spinning(0.02, 2.0)).sensor("end").values
    assert np.abs(solution.sensor("end", "next").values[-1] - at_once[-1]).max() < 1e-3
    assert all(energy_error(step, constant=True) < 1e-10 for step in solution.steps)


# --- what it refuses -------------------------------------------------------------------------------------------------
def refused(change, message: str) -> None:
    model = Model(2)
    model.body("a", (0.5, 0.0), 1.0, 0.1)
    model.body("b", (1.5, 0.0), 1.0, 0.1)
    model.joint("A", "revolute", "ground", "a", point=(0.0, 0.0))
    model.joint("B", "revolute", "a", "b", point=(1.0, 0.0))
    options = change(model) or {}
    model.transient_step(0.1, 0.01, rule="hamiltonian", **options)
    with pytest.raises(ModelError) as error:
        solve(model)
    assert message in str(error.value)


def _beam(model):
    model.section("rod", "stiffness", EA=1.0, EI=1.0, rhoA=1.0)
    model.line("rod", (0, 0), (1, 0), 1)
    model.beams("rod", "rod", "rod")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.joint("C", "revolute", "b", "ground", point=(2.0, 0.0)), 'Joint "C" closes a loop'),
        (lambda m: m.joint("C", "revolute", "b", "ground", point=(2.0, 0.0), function="t"), "functions drive"),
        (lambda m: m.joint("C", "distance", "b", "ground", point=(2.0, 0.0), point_b=(3.0, 0.0)), 'not "distance"'),
        (_beam, 'cannot use Mesh "rod"'),
        (lambda m: m.force("f", "b", (1.0, 0.0)), 'cannot use Force "f"'),
        (lambda m: m.joint_spring("s", "A", 1.0, cubic=2.0), "linear springs"),
        (lambda m: m.sensor("r", "reaction", on="A"), 'Sensor "r": it has no forces of joints'),
        (lambda m: m.motion("m", "b", "x", "t"), 'cannot use Motion "m"'),
        (lambda m: {"adaptive": 1e-4}, "adaptive steps belong to"),
        (lambda m: {"eigenvalues": {"every": 2}}, "eigenvalues need the forces of joints"),
    ],
)
def test_refuses(change, message):
    refused(change, message)


def test_refuses_a_model_without_bodies():
    model = Model(2)
    model.sensor("e", "energy")
    model.transient_step(0.1, 0.01, rule="hamiltonian")
    with pytest.raises(ModelError):
        solve(model)
