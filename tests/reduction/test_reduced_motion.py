"""Reduced parts as bodies: frequencies, coupling, exactness in motion, frames, mistakes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flexible_parts import STEEL, beam, reduced
from scipy.spatial.transform import Rotation

from fem_mbs import Model, reduce_part, solve
from fem_mbs.errors import ModelError
from fem_mbs.model.parts.reduced import shifted
from fem_mbs.solvers.linear.libraries import cholmod_status

ENDS = {"left": "rod:start", "right": "rod:end"}
CHOLMOD = cholmod_status()[0]
DIMENSIONS = pytest.mark.parametrize("dim", [2, 3])


def rod(dim, n=4, modes=None, **options):
    return reduced(beam(n, dimension=dim, **options), ENDS, modes)


def turn(dim, *rotation):
    return rotation[-1] if dim == 2 else rotation


def frequencies(model, count=14):
    model.modes_step(count=count)
    return np.array(solve(model).summary["steps"][0]["frequencies_hz"])


def along(dim, *vector):
    return vector[:dim]


# --- at rest ---------------------------------------------------------------------------------------------------------
@DIMENSIONS
def test_free_body_has_the_frequencies_of_its_part(dim):
    """Placed anywhere, in all shapes: those of the whole part, and its rigid-body motions."""
    count = 3 * (dim - 1)
    whole = frequencies(beam(dimension=dim), 12)
    m = Model(dimension=dim)
    m.reduced_part("rod", rod(dim), position=along(dim, 1.0, 2.0, 3.0), rotation=turn(dim, 0.3, -0.5, 0.7))
    found = frequencies(m, 12)
    assert np.abs(found[:count]).max() < 1e-6 * found[count]
    np.testing.assert_allclose(found[count:], whole[count:], rtol=1e-9)
    np.testing.assert_allclose(m.reduced_parts["rod"].frequencies[: 12 - count], whole[count:], rtol=1e-9)


@DIMENSIONS
@pytest.mark.parametrize("reference", ["mean", "left"])
def test_coupled_with_a_part_that_is_not_reduced(dim, reference):
    """A held reduced beam welded to another one: the frequencies of one model of both."""
    whole = beam(8, length=2.0, dimension=dim)
    whole.fix("rod:start")
    m = beam(4, dimension=dim, start=along(dim, 1.0, 0.0, 0.0))
    m.reduced_part("half", rod(dim), reference=reference)
    m.joint("weld", "weld", "half:right", "rod:start")
    m.fix("half:left")
    np.testing.assert_allclose(frequencies(m), frequencies(whole), rtol=1e-8)


@pytest.mark.parametrize("method", ["rubin", "craig_chang", "herting"])
@pytest.mark.parametrize("modes", [4, 12, 20])
def test_parts_of_every_method_are_bodies(method, modes):
    """Also with nearly as many modes as the part has: held at one end, the frequencies of the part's own model."""

    def part():
        m = beam(6, dimension=3)
        m.point_mass("end", "rod:end", 0.2, offset=(0.02, 0.03, 0.01), inertia=(1e-4, 2e-4, 3e-4))
        return m

    whole = part()
    whole.fix("rod:start")
    m = Model(3)
    m.reduced_part("P", reduce_part(part(), ENDS, method=method, modes=modes))
    m.fix("P:left")
    np.testing.assert_allclose(frequencies(m, 4), frequencies(whole, 4), rtol=1e-3 if modes == 4 else 1e-5)


@DIMENSIONS
def test_two_reduced_parts_and_few_shapes(dim):
    """Cut in the middle and held at both ends: the lowest frequencies of the whole to 1e-4 with few shapes."""
    whole = beam(8, length=2.0, dimension=dim)
    whole.fix(["rod:start", "rod:end"])
    m = Model(dimension=dim)
    part = rod(dim, modes=4 * (dim - 1))
    turned = {"rotation": turn(dim, 0.0, 0.0, np.pi), "position": along(dim, 2.0, 0.0, 0.0)}
    m.reduced_part("a", part)
    m.reduced_part("b", part, **turned)
    m.joint("weld", "weld", "a:right", "b:right")
    m.fix(["a:left", "b:left"])
    np.testing.assert_allclose(frequencies(m, 4), frequencies(whole, 4), rtol=1e-4)


@DIMENSIONS
def test_static_deflection_and_weight(dim):
    """A cantilever bends under an end force and its weight as the beam does, in linear statics and by load steps."""
    g = along(dim, 0.0, -9.81, 0.4)
    found = []
    for part in (False, True):
        m = beam(4, dimension=dim) if not part else Model(dimension=dim)
        if part:
            m.reduced_part("rod", rod(dim))
        m.gravity = np.array(g)
        ends = ("rod:left", "rod:right") if part else ("rod:start", "rod:end")
        m.fix(ends[0])
        m.force("tip", ends[1], along(dim, 0.0, -2.0, 1.0))
        m.sensor("tip", "position", on=ends[1])
        m.linear_static_step()
        m.static_step(name="large")
        solution = solve(m)
        found.append([solution.step_at(i).series["sensor/tip"][-1] for i in range(2)])
    small, large = np.array(found).transpose(1, 0, 2)
    bend = np.abs(small[0][1])
    np.testing.assert_allclose(small[1], small[0], atol=1e-9 * bend)
    np.testing.assert_allclose(large[1][1:], large[0][1:], rtol=2e-3)  # (0.7 degrees: the beam's is not linear)


@DIMENSIONS
@pytest.mark.parametrize("reference", ["mean", "left"])
def test_small_motions_need_the_mass_matrix_only(dim, reference):
    """Without moments, as from DMIG: coupled frequencies and the weight of a part are the same."""
    found = []
    for moments in (True, False):
        part = rod(dim, modes=4)
        m = beam(4, dimension=dim, start=along(dim, 1.0, 0.0, 0.0))
        m.gravity = np.array(along(dim, 1.0, -9.81, 2.0))
        m.reduced_part("half", part if moments else replace(part, moments=None), reference=reference)
        assert m.reduced_parts["half"].approximate is not moments
        m.joint("weld", "weld", "half:right", "rod:start")
        m.fix("half:left")
        m.sensor("root", "reaction", on="half:left")
        m.modes_step(count=12)
        m.linear_static_step()
        modes, static = solve(m).steps
        found.append((modes.summary["frequencies_hz"], static.series["sensor/root"]))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8 * np.abs(b).max())


@DIMENSIONS
def test_macneal_in_a_model(dim):
    """Interfaces have no mass of their own; the lowest frequencies are those of Rubin's method nearly."""
    found = []
    for method in ("rubin", "macneal"):
        m = Model(dimension=dim)
        m.reduced_part("rod", reduce_part(beam(8, dimension=dim), ENDS, method, modes=8))
        m.fix("rod:left")
        found.append(frequencies(m, 2))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-3)


# --- in motion -------------------------------------------------------------------------------------------------------
def chain(dim, steps, h=0.005, cutoff=450.0, moments=True):
    """Two slender rods joined by a pin, thrown with much spin."""
    part = rod(dim, modes=4, height=0.004)
    part = part if moments else replace(part, moments=None)
    m = Model(dimension=dim)
    m.reduced_part("a", part, cutoff=cutoff)
    m.reduced_part(
        "b", part, position=along(dim, 1.0, 0.0, 0.0), rotation=turn(dim, 0.3, 0.4, 0.8), cutoff=cutoff,
        reference="left" if dim == 2 else "mean",
    )  # fmt: skip
    m.joint("pin", "spherical" if dim == 3 else "pin", "a:right", "b:left")
    m.initial(spin=7.0 if dim == 2 else (3.0, 4.0, 7.0), velocity=along(dim, 1.0, 2.0, 3.0))
    m.transient_step(duration=steps * h, h=h)
    return m


@DIMENSIONS
@pytest.mark.parametrize("moments", [True, False])
def test_energy_and_momenta_in_free_flight(dim, moments):
    """A thousand steps, coarse for the highest shapes: large rotations, much bending, nothing lost to 1e-10; also where
    the inertia is known by the mass matrix only."""
    m = chain(dim, 1000, moments=moments)
    m.sensor("mode", "modal", on="a")
    solution = solve(m)
    step = solution.steps[0]
    energy = step.summary["energy"]
    assert step.ledger("strain").max() > 0.02 * energy["range"]
    assert energy["closing_error_relative"] < 1e-10
    for name in ("linear momentum", "angular momentum"):
        values = step.series[name]
        assert np.abs(values - values[0]).max() < 1e-10 * np.abs(values).max(), name
    assert step.summary["constraint_error"] < 1e-12
    assert 1e-3 < np.abs(solution.sensor("mode").values).max() < 0.5


def test_damping_ratio():
    """A shape that swings freely decays by its ratio, and the ledger books what it loses."""
    m = Model(dimension=2)
    m.reduced_part("rod", rod(2, modes=4), damping=0.02, reference="left")
    m.fix("rod:left")
    period = 1.0 / m.reduced_parts["rod"].frequencies[0]
    m.initial_speed("rod:right", "y", 1e-3)
    m.sensor("q", "modal", on="rod", mode=1)
    m.transient_step(duration=20 * period, h=period / 400)
    solution = solve(m)
    q = solution.sensor("q").values.ravel()
    peaks = [np.abs(q[a : a + 400]).max() for a in range(0, 8000, 400)]
    decrement = np.log(peaks[0] / peaks[-1]) / 19
    assert decrement == pytest.approx(2 * np.pi * 0.02 / np.sqrt(1 - 0.02**2), rel=2e-3)
    assert solution.steps[-1].summary["energy"]["closing_error_relative"] < 1e-10


@pytest.mark.parametrize("rule", ["newmark", "generalised-alpha"])
def test_one_state_rules_agree(rule):
    """Newmark's family follows the mid-point rule at small steps."""
    found = []
    for options in ({}, {"rule": rule}):
        m = chain(3, 1)
        m.steps.clear()
        m.sensor("tip", "position", on="b:right")
        m.transient_step(duration=0.02, h=5e-6, **options)
        found.append(solve(m).steps[-1].series["sensor/tip"][-1])
    np.testing.assert_allclose(found[1], found[0], atol=3e-6)


def test_motion_does_not_depend_on_the_axes():
    """The same chain, started turned and elsewhere: the same motion, turned."""
    R = Rotation.from_rotvec((0.4, -1.0, 0.3))
    found = []
    for S in (Rotation.identity(), R):
        part = rod(3, modes=4, height=0.004)
        m = Model(dimension=3)
        m.reduced_part("a", part, rotation=S.as_rotvec())
        m.initial(on="a", velocity=S.apply((0.0, 3.0, 2.0)))
        m.initial(spin=S.apply((1.0, 4.0, 2.0)))
        m.sensor("tip", "position", on="a:right")
        m.transient_step(duration=0.5, h=0.01)
        found.append(solve(m).steps[-1].series["sensor/tip"])
    np.testing.assert_allclose(found[1], R.apply(found[0]), atol=1e-9)


def test_linear_transient_of_a_coupled_model():
    """Small motions of a cantilever, half of it reduced, under a sudden force: those of the whole beam."""
    found = []
    for part in (False, True):
        if part:
            m = beam(4, dimension=2, start=(1.0, 0.0))
            m.reduced_part("half", rod(2))
            m.joint("weld", "weld", "half:right", "rod:start")
            m.fix("half:left")
        else:
            m = beam(8, length=2.0, dimension=2)
            m.fix("rod:start")
        m.force("tip", "rod:end", (0.0, -1.0))
        m.sensor("tip", "position", on="rod:end")
        m.linear_transient_step(duration=0.1, h=1e-3)
        found.append(solve(m).steps[-1].series["sensor/tip"][:, 1])
    np.testing.assert_allclose(found[1], found[0], atol=1e-7 * np.abs(found[0]).max())


@pytest.mark.parametrize("modes", [None, 30])
def test_linear_transient_on_a_base_that_jumps_at_the_start(modes):
    """A base is elsewhere at the time at which a step begins: it moves at once, and the rest as its inertia lets it,
    whatever the unknowns are, those of a reduced part that carries a body or those of the whole beam."""
    found = []
    for part in (False, True):
        m = Model(dimension=2) if part else beam(4, dimension=2)
        if part:
            m.reduced_part("bar", rod(2))
        m.body("tip", (1.1, 0.2), 0.3, 0.01)
        m.joint("weld", "weld", "bar:right" if part else "rod:end", "tip", point=(1.0, 0.0))
        m.fix("bar:left" if part else "rod:start")
        m.base_excitation("shake", (0.3, 1.0), displacement="0.01*sin(20*t)")
        m.sensor("tip", "displacement", on="tip")
        m.linear_transient_step(duration=0.02, h=1e-4, time=0.07, modes=modes, frames=0)
        solution = solve(m)
        assert any("what is prescribed is elsewhere" in w for w in solution.summary["steps"][0]["warnings"])
        found.append(solution.steps[-1].series["sensor/tip"])
    size = np.abs(found[0]).max()
    assert np.abs(found[0][0]).max() < 0.05 * 0.01
    np.testing.assert_allclose(found[1], found[0], atol=1e-7 * size)


def test_many_shapes_and_massless_interfaces():
    """A wide model: CHOLMOD's matrix has next to no stiffness at interface nodes but what their forces give them."""
    part = reduced(beam(8), ENDS)
    m = Model(dimension=3)
    for k in range(4):
        m.reduced_part(f"p{k}", part, position=(k, 0.0, 0.0), modes=30)
        if k:
            m.joint(f"j{k}", "spherical", f"p{k - 1}:right", f"p{k}:left")
    m.initial(spin=(0.3, 1.0, 2.0))
    m.transient_step(duration=0.1, h=1e-3, solver="cholmod" if CHOLMOD else "auto")
    step = solve(m).steps[0]
    assert step.summary["energy"]["closing_error_relative"] < 1e-10
    assert step.summary["iterations"] < 500


@pytest.mark.parametrize("ends", [("left",), ("left", "right")])
def test_root_force_of_a_spinning_bar(ends):
    """rho A w^2 L^2/2 about an end, whatever interfaces the part has (FEDEM, NATO ASI Troia 1993, B15)."""
    speed, mass = 10.0, 7850.0 * 0.02 * 0.01
    part = reduced(beam(4, dimension=2), {name: ENDS[name] for name in ends}, 3)
    m = Model(dimension=2)
    m.reduced_part("bar", part, reference="left", damping=0.2)
    m.fix("bar:left", ["x", "y"])
    m.motion("shaft", "bar:left", "rotation", f"{speed}*t")
    m.initial(spin=speed)
    m.sensor("root", "reaction", on="bar:left")
    m.transient_step(duration=0.05, h=5e-5)
    force = np.linalg.norm(solve(m).steps[-1].series["sensor/root"][500:, :2], axis=1).mean()
    assert force == pytest.approx(0.5 * mass * speed**2, rel=2e-4)


# --- data ------------------------------------------------------------------------------------------------------------
def test_moments_about_another_point():
    """The whole matrix of the moments is that of r counted from elsewhere: one congruence."""
    part = rod(3)
    arm = np.array((0.3, -0.2, 0.5))
    T = np.eye(part.moments.matrix().shape[0])
    T[1:4, 0] = -arm  # c - arm
    J = T @ part.moments.matrix() @ T.T
    np.testing.assert_allclose(shifted(part.moments, arm).matrix(), J, atol=1e-12 * np.abs(J).max())


@DIMENSIONS
def test_mean_axes_carry_no_momentum(dim):
    """The shapes of mean axes have neither momentum nor, to first order, angular momentum."""
    m = Model(dimension=dim)
    part = rod(dim)
    m.reduced_part("rod", part)
    moments = m.reduced_parts["rod"].part.moments
    size = part.moments.mass
    assert np.abs(moments.linear).max() < 1e-9 * size
    turned = moments.mixed - np.swapaxes(moments.mixed, 0, 1)
    assert np.abs(turned).max() < 1e-9 * size


def test_modal_sensors():
    """One column for a shape, or all; from the state at the end of steps."""
    m = chain(2, 3)
    m.sensor("all", "modal", on="a")
    m.sensor("second", "modal", on="a", mode=2)
    solution = solve(m)
    values = solution.sensor("all").values
    assert values.shape == (4, len(m.reduced_parts["a"].scalars))
    assert np.array_equal(values[:, [1]], solution.sensor("second").values)
    assert (values[0] == 0.0).all()
    for options, message in (({"on": "c"}, 'no reduced part "c"'), ({"on": "a", "mode": 0}, "mode = 0 must be")):
        with pytest.raises(ModelError, match=message):
            m.sensor("wrong", "modal", **options)


MISTAKES = {
    "masses": (
        lambda p: replace(p, moments=None, mass=np.diag(np.arange(1.0, 1 + p.size))), {}, "masses along the axes",
    ),
    "held": (lambda p: replace(p, rigid=p.rigid[:, :2]), {}, "2 rigid-body motions where a free one has 3"),
    "dimension": (lambda p: replace(p, dimension=3), {}, "the part has 3 dimensions, the model 2"),
    "reference": (lambda p: p, {"reference": "middle"}, 'must be "mean" or one of its interfaces, left, right'),
    "modes": (lambda p: p, {"modes": 99}, "modes = 99 must be a whole number from 1 to"),
    "cutoff": (lambda p: p, {"cutoff": 1.0}, "no shape is left"),
    "damping": (lambda p: p, {"damping": [0.1, 0.2]}, "must be a ratio of at least 0, or one for each"),
    "mass": (lambda p: replace(p, mass=1.1 * p.mass), {}, "its moments and its mass matrix differ by 0.09"),
    "rotation": (lambda p: p, {"rotation": (1.0, 2.0)}, "rotation"),
    "position": (lambda p: p, {"position": (1.0, 2.0, 3.0)}, "must be 2 finite numbers"),
    "loose": (lambda p: replace(p, stiffness=0.0 * p.stiffness), {}, "its stiffness is not positive"),
    "components": (
        lambda p: replace(p, interfaces=(replace(p.interfaces[0], components=("y",)),)), {}, "needs x, y at least",
    ),
    "type": (lambda p: "part.h5", {}, "is no ReducedPart"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(mistake):
    change, options, message = MISTAKES[mistake]
    m = Model(dimension=2)
    with pytest.raises(ModelError, match=message):
        m.reduced_part("rod", change(rod(2)), **options)


def test_nothing_acts_on_a_mean_frame():
    """It is no point of the part; sensors and initial speeds know it all the same, and an interface's frame is one."""
    m = Model(dimension=2)
    m.reduced_part("a", rod(2))
    m.reduced_part("b", rod(2), position=(0.0, 1.0), reference="left")
    m.sensor("place", "position", on="a")
    m.initial(on="a", velocity=(1.0, 0.0))
    for act in (lambda p: m.joint("weld", "weld", p, "b:right"), lambda p: m.force("push", p, (1.0, 0.0)), m.fix):
        with pytest.raises(ModelError, match=r'"a" is the mean frame of a reduced part.*"a:left" or "a:right"'):
            act("a")
    m.force("pull", "b", (1.0, 0.0))


def test_refused_steps():
    """What needs the stresses of a part, or its mass at nodes, is refused by name."""
    m = Model(dimension=2)
    m.reduced_part("rod", rod(2))
    m.fix("rod:left")
    m.force("tip", "rod:right", (-1.0, 0.0))
    m.buckling_step()
    with pytest.raises(
        ModelError, match='Step "buckling": buckling asks for what stresses stiffen, which reduced part'
    ):
        solve(m)
    m.steps.clear()
    m.centrifugal("spin", speed=3.0)
    m.static_step()
    with pytest.raises(ModelError, match='Reduced part "rod": its mass is no matrix over two nodes'):
        solve(m)


def test_rotor_in_the_turning_frame():
    """A shaft in equal springs: frequencies as its beams have them, seen from the shaft."""
    found = []
    for reduced_shaft in (False, True):
        m = Model(dimension=3)
        if reduced_shaft:
            m.reduced_part("rod", rod(3, width=0.02, height=0.02))
            ends = "rod:left", "rod:right"
        else:
            m = beam(4, width=0.02, height=0.02)
            ends = "rod:start", "rod:end"
        for k, end in enumerate(ends):
            m.disc(f"disc {k}", end, 2.0, 0.03, 0.016, axis=(1.0, 0.0, 0.0))
            for c in "yz":
                m.nodal_spring(f"{c}{k}", end, c, 1e5)
        m.fix(ends[0], ["x"])
        m.rotor("rotor", axis=(1.0, 0.0, 0.0))
        m.complex_modes_step(count=8, rotor="rotor", speed=30.0, frame="rotating")
        found.append(np.sort(np.abs(np.array(solve(m).summary["steps"][0]["eigenvalues"])[:, 1])))
    np.testing.assert_allclose(found[1], found[0], rtol=2e-4)


def test_messages_name_modes():
    """A dof that is a modal coordinate says so."""
    m = Model(dimension=2)
    m.material("steel", **STEEL)
    m.reduced_part("rod", rod(2))
    m.modes_step()
    system = m.compile().system
    assert system.name_of(system.first_scalar + 2) == 'mode 3 of "rod"'
    assert system.first_multiplier - system.first_scalar == m.reduced_parts["rod"].part.size


@pytest.mark.parametrize(("damping", "told"), [({"alpha": 2.0}, True), ({"beta": 1e-4}, False), (None, False)])
def test_damping_of_rigid_motions_is_told_of(damping, told):
    """A moving part is damped in its deformation alone: what damps its rigid motion too is lost, and said."""
    part = reduce_part(beam(4), {"left": "rod:start", "right": "rod:end"}, modes=4, damping=damping)
    m = Model(3)
    m.reduced_part("rod", part)
    assert any('Reduced part "rod"' in w and "rigid body" in w for w in m.warnings) == told
    # ratios in the place of the matrix leave nothing out
    m = Model(3)
    m.reduced_part("rod", part, damping=0.01)
    assert not m.warnings


# --- complex modes ---------------------------------------------------------------------------------------------------
def on_a_hinge(part) -> Model:
    """A rod with a rotation spring at its start and a mass at its end."""
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    if part is None:
        m = beam(8, dimension=3)
        m.gravity = np.array((0.0, 0.0, -9.81))
        left, right = ENDS.values()
    else:
        m.reduced_part("rod", part)
        left, right = "rod:left", "rod:right"
    m.point_mass("ball", right, 2.0, (1e-3, 1e-3, 1e-3))
    m.joint("hinge", "revolute", "ground", left, axis=(0.0, 1.0, 0.0))
    m.joint_spring("coil", "hinge", 2e4)
    return m


def circular(m: Model, count: int = 4) -> np.ndarray:
    """Return the circular frequencies by a step of complex modes."""
    m.complex_modes_step(count=count)
    return solve(m).steps[-1].series["eigenvalue"][:count, 1]


@pytest.mark.parametrize("method", ["craig_bampton", "macneal"])
def test_complex_modes_are_those_of_the_modal_step(method):
    """Nodes of interfaces have no mass, shapes of MacNeal's method neither, and what rounding leaves there says
    nothing."""
    part = reduce_part(beam(8, dimension=3), ENDS, method=method, modes=6)
    m = on_a_hinge(part)
    np.testing.assert_allclose(circular(m), 2.0 * np.pi * frequencies(on_a_hinge(part), 4), rtol=1e-8)
    np.testing.assert_allclose(circular(m), circular(on_a_hinge(None)), rtol=1e-2)


def test_complex_modes_of_a_part_that_carries_its_weight():
    """The stiffness of the node at the unloaded end is that of a moment of nearly zero."""
    part = reduced(beam(dimension=3), ENDS, 8)
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    m.reduced_part("rod", part)
    m.joint("hinge", "revolute", "ground", "rod:left", axis=(0.0, 1.0, 0.0))
    m.joint_spring("coil", "hinge", 2e4)
    m.static_step(4, vary="gravity")
    m.modes_step(4)
    m.complex_modes_step(4)
    steps = solve(m).steps
    np.testing.assert_allclose(
        steps[2].series["eigenvalue"][:4, 1], 2.0 * np.pi * steps[1].series["frequency"][:4], rtol=1e-8
    )
