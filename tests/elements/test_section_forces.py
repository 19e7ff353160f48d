"""Section forces of beams: in balance with line loads, weight and inertia of their element; plane and space."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, solve
from fem_mbs.elements.beams.beam3d_common import OUTPUTS, section_forces

LENGTH, Q, EI, RHO, G = 2.0, 10.0, 1e5, 3.0, 9.81
PLANE, SPACE = ("N_p", "Q_p", "M_p", "N_q", "Q_q", "M_q"), ("N 1", "Vy 1", "Mz 1", "N 2", "Vy 2", "Mz 2")
BEAMS = [(2, None), (2, "natural"), (2, "generalised"), (3, None), (3, "generalised"), (3, "corotational")]


def build(dimension, n=1, strains=None, mass="hermite", gravity=False, **options):
    model = Model(dimension, gravity=(0.0, -G, 0.0)[:dimension] if gravity else None)
    more = {"GJ": 1e5} if dimension == 3 else {}
    model.section("s", "stiffness", EA=1e7, EI=EI, GA=1e6, rhoA=RHO, rhoI=0.0, **more)
    model.line("l", (0.0,) * dimension, (LENGTH, 0.0, 0.0)[:dimension], n)
    model.beams("b", "l", "s", strains=strains, mass=mass, **options)
    model.fix("l:start")
    return model


def load_statically(model, linear):
    if linear:
        model.linear_static_step()
    else:
        model.static_step()


def vector(dimension, x, y):
    return (x, y, 0.0)[:dimension]


def watch(model, n=1):
    names = PLANE if model.dimension == 2 else SPACE
    for e in range(n):
        for q in names:
            model.sensor(f"{q} {e}", "element", on="b", element=e, quantity=q)
    return names


def read(found, names, e=0, row=-1):
    return np.array([found.steps[-1].series[f"sensor/{q} {e}"][row, 0] for q in names])


@pytest.mark.parametrize(("dimension", "strains"), BEAMS)
@pytest.mark.parametrize("linear", [False, True], ids=["large", "linear"])
def test_cantilevers_under_line_loads_with_one_element(dimension, strains, linear):
    model = build(dimension, strains=strains)
    # along the beam constant, across it growing from Q/2 to Q
    model.line_load("q", "b", vector(dimension, 3.0, f"{-Q / 2} * (1 + x/{LENGTH})"))
    names = watch(model)
    load_statically(model, linear)
    found = read(solve(model), names)
    total, moment = 0.75 * Q * LENGTH, Q * LENGTH**2 * (0.25 + 1.0 / 6.0)
    known = np.array([3.0 * LENGTH, -total, -moment, 0.0, 0.0, 0.0])
    # large displacements: second order in the slope of the end, 2e-4
    assert found == pytest.approx(known, abs=1e-8 if linear else 5e-3)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("axes", ["global", "local"])
def test_moment_at_the_clamp_is_the_reaction(dimension, axes):
    model = build(dimension, 3)
    model.line_load("q", "b", vector(dimension, 0.0, -1e3 * Q), axes=axes)
    names = watch(model, 3)
    model.sensor("R", "reaction", on="l:start")
    model.static_step(increments=5)
    found = solve(model)
    R = found.steps[-1].series["sensor/R"][-1]
    clamp = read(found, names)
    assert clamp[:3] == pytest.approx([-R[0], -R[1], -R[-1]], rel=1e-9, abs=1e-6)
    # moments pass from element to element, and nothing is left at the free end
    for e in (0, 1):
        assert read(found, names, e)[5] == pytest.approx(read(found, names, e + 1)[2], rel=1e-9)
    assert read(found, names, 2)[3:] == pytest.approx(np.zeros(3), abs=1e-6 * abs(R[-1]))


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("mass", ["hermite", "consistent"])
@pytest.mark.parametrize("linear", [False, True], ids=["large", "linear"])
def test_weight_counts_where_masses_are_distributed(dimension, mass, linear):
    model = build(dimension, mass=mass, gravity=True)
    names = watch(model)
    load_statically(model, linear)
    found = read(solve(model), names)
    weight = RHO * G * LENGTH
    assert found == pytest.approx([0.0, -weight, -0.5 * weight * LENGTH, 0.0, 0.0, 0.0], abs=1e-8 if linear else 5e-2)


@pytest.mark.parametrize("dimension", [2, 3])
def test_lumped_weight_leaves_the_moment_exact(dimension):
    model = build(dimension, mass="lumped", gravity=True)
    names = watch(model)
    load_statically(model, True)
    found = read(solve(model), names)
    assert found[[2, 5]] == pytest.approx([-0.5 * RHO * G * LENGTH**2, 0.0], abs=1e-9)


@pytest.mark.parametrize("dimension", [2, 3])
def test_centrifugal_force_pulls_at_the_hub(dimension):
    speed = 5.0
    model = build(dimension)
    axis = {} if dimension == 2 else {"axis": (0.0, 0.0, 1.0)}
    model.centrifugal("spin", speed, point=(0.0,) * dimension, **axis)
    names = watch(model)
    load_statically(model, True)
    found = read(solve(model), names)
    assert found[0] == pytest.approx(0.5 * RHO * speed**2 * LENGTH**2, rel=1e-9)
    assert found[3] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("linear", [False, True], ids=["large", "linear"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_transient_agrees_with_a_refined_mesh(dimension, linear):
    """Two elements that swing under a sudden line load: the moment at the clamp is that of sixteen."""
    found = []
    for n in (2, 16):
        model = build(dimension, n)
        law = {"kind": "expression", "expression": "1 - exp(-1e4*t)"}
        model.line_load("q", "b", vector(dimension, 0.0, -Q), function=law)
        names = watch(model)
        model.sensor("R", "reaction", on="l:start")
        (model.linear_transient_step if linear else model.transient_step)(0.05, 0.0005, frames=0)
        done = solve(model)
        found.append(done.steps[-1].series[f"sensor/{names[2]} 0"][4:, 0])
        # every row is in balance with the support
        assert found[-1] == pytest.approx(
            -done.steps[-1].series["sensor/R"][4:, -1], rel=1e-6, abs=1e-6 * Q * LENGTH**2
        )
    size = np.abs(found[1]).max()
    assert size > 1.5 * 0.5 * Q * LENGTH**2
    assert np.abs(found[0] - found[1]).max() < 0.12 * size


@pytest.mark.parametrize("dimension", [2, 3])
def test_free_fall_leaves_no_section_forces(dimension):
    model = Model(dimension, gravity=vector(dimension, 0.0, -G))
    more = {"GJ": 1e5} if dimension == 3 else {}
    model.section("s", "stiffness", EA=1e7, EI=EI, GA=1e6, rhoA=RHO, rhoI=0.01, **more)
    model.line("l", (0.0,) * dimension, (LENGTH, 0.0, 0.0)[:dimension], 2)
    model.beams("b", "l", "s")
    names = watch(model)
    model.transient_step(0.1, 0.01)
    found = solve(model)
    for q in names:
        assert np.abs(found.steps[-1].series[f"sensor/{q} 0"][2:]).max() < 1e-7 * RHO * G * LENGTH


@pytest.mark.parametrize("dimension", [2, 3])
def test_harmonic_moment_of_a_shaken_clamp(dimension):
    """Far below the first frequency the clamp bears the inertia of a rigid beam, rho L w^2 s L/2, with one element."""
    model = build(dimension)
    model.base_excitation("shake", vector(dimension, 0.0, 1.0), displacement="0*t")
    model.sensor("M", "element", on="b", element=0, quantity="M_p" if dimension == 2 else "Mz 1")
    model.sensor("end", "element", on="b", element=0, quantity="M_q" if dimension == 2 else "Mz 2")
    model.harmonic_step([0.1], amplitudes={"shake": 0.01})
    found = solve(model)
    inertia = RHO * LENGTH * (2.0 * np.pi * 0.1) ** 2 * 0.01
    # the base moves by s cos(w t): the beam is accelerated against it, and bends towards where the base goes
    assert found.response("M").values[0, 0] == pytest.approx(0.5 * inertia * LENGTH, rel=1e-4)
    assert abs(found.response("end").values[0, 0]) < 1e-6 * inertia * LENGTH


def test_offsets_of_the_line_count():
    """A line load on an eccentric line twists and bends its nodes; the section forces are those of the line."""
    model = build(3, offset=(0.0, 0.1, 0.2))
    model.line_load("q", "b", (0.0, -Q, 0.0))
    names = watch(model)
    model.sensor("T", "element", on="b", element=0, quantity="T 1")
    load_statically(model, True)
    found = solve(model)
    assert read(found, names) == pytest.approx([0.0, -Q * LENGTH, -0.5 * Q * LENGTH**2, 0.0, 0.0, 0.0], abs=1e-8)
    assert found.steps[-1].series["sensor/T"][-1, 0] == pytest.approx(0.0, abs=1e-8)


def damped(dimension: int, damping: float, load: tuple[float, ...], **strains) -> Model:
    """Massless cantilever with a body at its end, suddenly loaded there: nothing but the beam is between the two."""
    m = Model(dimension)
    m.node("wall", (0.0,) * dimension)
    m.fix("wall")
    m.body("tip", (0.5, 0.0, 0.0)[:dimension], 2.0, 0.3 if dimension == 2 else (0.2, 0.3, 0.3))
    stiffness = {"EI": 40.0} if dimension == 2 else {"EIy": 40.0, "EIz": 60.0, "GJ": 30.0}
    if strains.get("strains") == "truss":
        m.section("s", "stiffness", EA=300.0, rhoA=0.0)
        m.trusses("b", ("wall", "tip"), "s", damping=damping * 300.0 / 0.5, strain=strains["strain"])
        m.fix("tip", ["y", "rotation"] if dimension == 2 else ["y", "z", "rotation"])
    else:
        m.section("s", "stiffness", EA=300.0, rhoA=0.0, **stiffness)
        m.beams("b", ("wall", "tip"), "s", shear=False, damping=damping, **strains)
    m.force("F", "tip", load[:dimension])
    m.sensor("wall", "reaction", on="wall")
    m.sensor("x", "displacement", on="tip")
    m.sensor("v", "velocity", on="tip")
    return m


STEPS = {
    "midpoint": lambda m: m.transient_step(0.2, 2e-3),
    "newmark": lambda m: m.transient_step(0.2, 2e-3, rule="newmark"),
    "linear": lambda m: m.linear_transient_step(0.2, 2e-3),
    "harmonic": lambda m: m.harmonic_step([0.5, 2.0]),
}
FORMULATIONS = [
    *((2, {"strains": s}) for s in ("exact", "natural", "generalised")),
    *((2, {"strains": "natural", "rule": r}) for r in ("accumulated", "secant")),
    *((3, {"strains": s}) for s in ("exact", "corotational", "generalised")),
    *((d, {"strains": "truss", "strain": s}) for d in (2, 3) for s in ("corotational", "green")),
]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(("dimension", "strains"), FORMULATIONS)
def test_damped_sections_carry_what_the_wall_bears(dimension, strains, step):
    """Section forces at the clamp hold the damper's share: they are the reaction, and axially k x + beta k x'."""
    beta, k = 0.1, 300.0 / 0.5
    truss = strains["strains"] == "truss"
    load = np.array([1e-3, 0.0 if truss else 2e-3, 0.0 if truss else -1e-3])
    m = damped(dimension, beta, load, **strains)
    if truss:
        at = {"N": 0}
    elif dimension == 2:
        at = {"N_p": 0, "Q_p": 1, "M_p": 2}
    else:
        at = {"N 1": 0, "Vy 1": 1, "Vz 1": 2, "T 1": 3, "My 1": 4, "Mz 1": 5}
    for name in at:
        m.sensor(name, "element", on="b", quantity=name)
    STEPS[step](m)
    found = solve(m)

    def read(name: str) -> np.ndarray:
        """Rows as they were computed."""
        return found.response(name).values if step == "harmonic" else found.steps[-1].series[f"sensor/{name}"]

    wall, x, v = read("wall"), read("x")[:, 0], read("v")[:, 0]
    axial = k * x + beta * k * v
    assert beta * k * np.abs(v).max() > 0.3 * np.abs(axial).max()
    if step == "midpoint":  # forces of the middle of steps
        axial[1:] = 0.5 * (axial[1:] + axial[:-1])
    inside = slice(None) if step == "harmonic" else slice(1, -1)
    wall, axial = wall[inside], axial[inside]
    assert read(next(iter(at)))[inside, 0] == pytest.approx(axial, abs=1e-5 * np.abs(axial).max())
    # reactions of Newmark's rule are combinations of four steps: near the others where the sudden load's have died down
    late, tolerance = (slice(10, None), 2e-3) if step == "newmark" else (slice(None), 1e-5)
    for name, column in at.items():
        bound = tolerance * np.abs(wall).max()
        assert read(name)[inside, 0][late] == pytest.approx(-wall[late, column], abs=bound), name


def test_forces_and_moments_at_offset_ends_are_those_at_the_nodes_moved_there():
    """Forces along the element act on the nodes, section forces are about the ends of the arms, in the ends' axes."""
    rng = np.random.default_rng(2)
    f9, acting, arms, weight = rng.normal(size=9), rng.normal(size=12), rng.normal(size=(2, 3)), 0.6
    axes = np.array([np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(2)])
    out = np.zeros(len(OUTPUTS))
    section_forces(f9, acting, axes.reshape(6, 3), arms, weight, out)
    found = dict(zip((name.partition(" [")[0] for name in OUTPUTS), out, strict=True))
    forces, moments = [], []
    for end, side in enumerate((-1.0, 1.0)):
        F = acting[6 * end : 6 * end + 3] + side * f9[:3]
        about_node = acting[6 * end + 3 : 6 * end + 6]
        M = f9[3 + 3 * end : 6 + 3 * end] + about_node - np.cross(arms[end], acting[6 * end : 6 * end + 3])
        forces.append(side * weight * axes[end] @ F)
        moments.append(side * weight * axes[end] @ M)
    for j, name in enumerate(("N", "Vy", "Vz")):
        assert [found[f"{name} 1"], found[f"{name} 2"]] == pytest.approx([forces[0][j], forces[1][j]], abs=1e-14)
        assert found[name] == pytest.approx(0.5 * (forces[0][j] + forces[1][j]), abs=1e-14)
    for j, name in enumerate(("T", "My", "Mz")):
        assert [found[f"{name} 1"], found[f"{name} 2"]] == pytest.approx([moments[0][j], moments[1][j]], abs=1e-14)
    assert found["T"] == pytest.approx(0.5 * (moments[0][0] + moments[1][0]), abs=1e-14)


@pytest.mark.parametrize("dimension", [2, 3])
def test_line_loads_with_functions_of_their_own(dimension):
    """Two cantilevers in one model: each load follows its own function of time."""
    pad = (0.0,) * (dimension - 2)
    model = Model(dimension)
    more = {"GJ": 1e5} if dimension == 3 else {}
    model.section("s", "stiffness", EA=1e7, EI=EI, GA=1e6, rhoA=RHO, rhoI=0.0, **more)
    for k, name in enumerate("ab"):
        model.line(name, (0.0, float(k), *pad), (LENGTH, float(k), *pad), 1)
        model.beams(name, name, "s")
        model.fix(f"{name}:start")
        model.line_load(f"q {name}", name, vector(dimension, 0.0, -Q), function=f"{k + 2} + t")
        model.sensor(f"R {name}", "reaction", on=f"{name}:start")
    model.linear_static_step()
    series = solve(model).steps[-1].series
    for k, name in enumerate("ab"):
        assert series[f"sensor/R {name}"][-1, 1] == pytest.approx((k + 2) * Q * LENGTH, rel=1e-9)


@pytest.mark.parametrize("strains", ["exact", "corotational", "natural"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_strain_of_a_pulled_rod(dimension, strains):
    """Change of length over the unstrained length, of a rod that is not 1 m long."""
    m = Model(dimension)
    m.section("rod", "stiffness", EA=4e5, EI=30.0, rhoA=1.0, rhoI=1e-4, **{2: {}, 3: {"GJ": 20.0}}[dimension])
    m.line("rod", np.zeros(dimension), 0.5 * np.eye(dimension)[0], 1)
    m.beams("rod", "rod", "rod", strains=strains)
    m.fix("rod:start")
    m.force("pull", "rod:end", tuple(300.0 * np.eye(dimension)[0]))
    m.linear_static_step()
    frames = solve(m).steps[0].frames
    (name,) = (name for name in frames if name.startswith("rod/strain"))
    assert np.asarray(frames[name])[-1] == pytest.approx([300.0 / 4e5], rel=1e-6)
