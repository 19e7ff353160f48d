"""Contact of what deforms: beams along their length, balls on beams, balls on faces of solids and shells.

References are conservation, closed forms, and loops over all pairs in the test.
"""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import AnalysisError, Model, ModelError, solve
from fem_mbs.analysis.run import run
from fem_mbs.elements.contact import jets
from fem_mbs.elements.contact.faces import face_terms
from fem_mbs.elements.contact.tubes import tube_terms
from fem_mbs.errors import Owner
from fem_mbs.system.near_parts import FacePairing, TubePairing
from fem_mbs.validation.case import constancy, energy_error

UP = (0.0, 0.0, 1.0)


def string(model, name, start, end, n, velocity=None):
    """Beams of a soft rod of 1 kg/m."""
    if "rod" not in model.building.sections:
        model.section("rod", "stiffness", EA=1e6, EI=50.0, GA=4e5, GJ=40.0, rhoA=1.0, rhoI=1e-4)
    model.line(f"{name} line", start, end, n)
    model.beams(name, f"{name} line", "rod")
    if velocity is not None:
        model.initial(f"{name} line:all", velocity=velocity)


def two_beams(start, end, velocity, n=6, **law):
    model = Model(3)
    string(model, "one", (-0.5, 0.0, 0.0), (0.5, 0.0, 0.0), 5)
    string(model, "two", start, end, n, velocity)
    law = {"stiffness": 1e6, "ball": 0.02, "along": True} | law
    model.contact("blow", "one", "two", surface="beams", radius=0.02, **law)
    model.sensor("force", "contact", on="blow")
    return model


def conserved(step, tolerance=1e-11):
    assert np.nanmax(step.series["sensor/force"]) > 10.0
    assert energy_error(step, constant=True) < tolerance
    assert constancy(step, "linear momentum") < tolerance
    assert constancy(step, "angular momentum") < tolerance


# --- conservation ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("start", "end", "velocity"),
    [
        ((0.013, -0.5, 0.045), (0.013, 0.5, 0.045), (0.5, 0.3, -2.0)),
        ((-0.4, 0.0, 0.045), (0.45, 0.0, 0.045), (0.0, 0.0, -1.0)),
        ((-0.4, 0.004, 0.045), (0.45, -0.003, 0.047), (0.0, 0.02, -1.0)),
        ((0.03, 0.01, 0.045), (0.03, 0.02, 0.6), (0.0, 0.1, -1.0)),
        ((0.52, 0.01, 0.045), (0.53, 0.0, 0.6), (0.0, 0.0, -1.0)),
    ],
    ids=["crossing a node", "parallel", "nearly parallel", "end on a side", "end on an end"],
)
def test_elastic_beams_keep_energy_and_momenta(start, end, velocity):
    """In steps that are long against the blow."""
    model = two_beams(start, end, velocity)
    model.transient_step(0.04, 5e-4, frames=0)
    conserved(solve(model).steps[0])


def test_beams_in_the_plane_keep_energy_and_momenta():
    model = Model(2)
    model.section("rod", "stiffness", EA=1e6, EI=50.0, GA=4e5, rhoA=1.0, rhoI=1e-4)
    for name, start, end in (("one", (-0.5, 0.0), (0.5, 0.0)), ("two", (-0.4, 0.045), (0.5, 0.07))):
        model.line(f"{name} line", start, end, 4)
        model.beams(name, f"{name} line", "rod")
    model.initial("two line:all", velocity=(0.3, -2.0))
    model.contact("blow", "one", "two", surface="beams", radius=0.02, along=True, ball=0.02, stiffness=1e6)
    model.sensor("force", "contact", on="blow")
    model.transient_step(0.03, 5e-4, frames=0)
    conserved(solve(model).steps[0])


def test_damping_between_beams_takes_energy_and_keeps_the_momenta():
    model = two_beams((0.013, -0.5, 0.045), (0.013, 0.5, 0.045), (0.5, 0.3, -2.0), damping=0.3)
    model.transient_step(0.03, 2e-4, frames=0)
    step = solve(model).steps[0]
    lost = step.ledger("dissipated")
    assert lost[-1] > 0.01
    assert (np.diff(lost) >= -1e-15).all()
    assert energy_error(step) < 1e-11
    assert constancy(step, "angular momentum") < 1e-11


@pytest.mark.parametrize("surface", ["beams", "faces"])
def test_restitution_at_the_speed_of_the_blow(surface):
    """A free blow at the approach has the coefficient (Gonthier et al. 2004: exact), a slower one a greater one."""
    found = []
    for speed in (1.0, 0.5):
        model = Model(3)
        if surface == "beams":
            string(model, "part", (-0.5, 0.0, 0.0), (0.5, 0.0, 0.0), 3)
            model.fix("part line:all")
            top, a, law = 0.04, "part", {"radius": 0.02}
        else:
            model.mesh("m", box={"size": (0.4, 0.4, 0.1), "n": (1, 1, 1)})
            model.solid_material("soft", 1e7, 0.3, density=1000.0)
            model.solids("block", "m", "soft")
            model.fix("m:all")
            top, a, law = 0.12, "m:top", {}
        model.body("ball", (0.1, 0.0 if surface == "beams" else 0.15, top + 0.001), mass=0.5, inertia=np.full(3, 1e-3))
        model.initial("ball", velocity=(0.0, 0.0, -speed))
        model.contact("hit", a, "ball", surface=surface, ball=0.02, stiffness=1e6, restitution=0.6, approach=1.0, **law)
        model.sensor("speed", "velocity", on="ball")
        model.transient_step(0.02, 2e-5, frames=0)
        step = solve(model).steps[0]
        found.append(step.series["sensor/speed"][-1, 2] / speed)
        assert energy_error(step) < 1e-8  # (the steps are short, and so are the changes that they sum up)
    assert found[0] == pytest.approx(0.6, abs=2e-4)
    assert 0.65 < found[1] < 0.9


@pytest.mark.parametrize("kind", ["hexahedron", "tetra10", "shell"])
def test_a_ball_slides_over_faces_that_deform(kind):
    """Over edges and corners of their triangles."""
    model = Model(3)
    if kind == "shell":
        model.mesh("m", rectangle={"size": (0.4, 0.3), "n": (4, 3)})
        model.material("soft", E=1e8, nu=0.3, density=1000.0)
        model.shells("skin", on="m", material="soft", thickness=0.01)
        faces, top = "skin", 0.005
    else:
        model.mesh("m", box={"size": (0.4, 0.3, 0.1), "n": (4, 3, 1), "kind": kind})
        model.solid_material("soft", 1e7, 0.3, density=1000.0)
        model.solids("block", "m", "soft")
        faces, top = "m:top", 0.1
    model.body("ball", (0.09, 0.1, top + 0.051), mass=0.2, inertia=np.full(3, 1e-4))
    model.initial("ball", velocity=(2.0, 0.8, -1.0))
    radius = 0.005 if kind == "shell" else None
    model.contact("touch", faces, "ball", surface="faces", ball=0.05, stiffness=1e5, radius=radius)
    model.sensor("force", "contact", on="touch")
    model.transient_step(0.05, 5e-4, frames=0)
    conserved(solve(model).steps[0])


def test_friction_of_a_beam_with_a_body_keeps_the_momenta():
    """Its moment about the axis goes to the nodes."""
    model = Model(3)
    string(model, "one", (-0.5, 0.05, 0.125), (0.5, 0.05, 0.125), 5, (1.0, 0.5, -1.0))
    model.body("ball", (0.02, 0.0, 0.0), mass=2.0, inertia=np.full(3, 0.01))
    model.initial("ball", spin=(5.0, 8.0, 1.0))
    model.contact(
        "touch", "ball", "one", surface="sphere", radius=0.1, along=True, ball=0.02, stiffness=1e6, coefficient=0.3,
        smoothing=0.01,
    )  # fmt: skip
    model.sensor("force", "contact", on="touch")
    model.sensor("friction", "contact", on="touch", quantity="friction force")
    model.transient_step(0.03, 2e-4, frames=0)
    step = solve(model).steps[0]
    assert np.nanmax(step.series["sensor/friction"]) > 5.0
    assert (np.diff(step.ledger("dissipated")) >= -1e-15).all()
    assert energy_error(step) < 1e-11
    assert constancy(step, "linear momentum") < 1e-11
    assert constancy(step, "angular momentum") < 1e-11


# --- gaps and weights ------------------------------------------------------------------------------------------------
def tube(ball=0.0, ends=(0.0, 0.0, 0.0, 0.0), sines=(0.01, 0.2)):
    return np.array([[3.0, 1.5, 0.0, 0.0, 0.0, 0.3, 1.0, ball, *ends, 0.4, 0.7, *sines, 0.0, 0.0]])


def products(a1, a2, b1, b2):
    u, v, w = (np.asarray(p, float) for p in (np.subtract(a2, a1), np.subtract(b2, b1), np.subtract(b1, a1)))
    return np.array([u @ u, v @ v, w @ w, u @ v, u @ w, v @ w])


def energy_of(par, I, terms=tube_terms, size=jets.SLOPE):
    """Sum of W y^2 at scalar products."""
    Y, W = np.zeros((5, jets.JET)), np.zeros((5, jets.JET))
    terms(size, par, 0, I, Y, W)
    return sum(W[k, 0] * max(Y[k, 0], 0.0) ** 2 for k in range(5) if W[k, 0] > 0.0)


@pytest.mark.parametrize("z", [-0.3, -0.1, 0.02, 0.1, 0.3])
def test_two_tubes_of_a_straight_line_count_as_one(z):
    """Where a ball or a crossing tube slides over their node: the sum of both is that of a long one."""
    left, right = tube(1.0, (0.0, 0.2, 0.0, 0.0)), tube(1.0, (0.1, 0.0, 0.0, 0.0))
    node, p = (0.0, 0.0, 0.0), (z, 0.05, 0.25)
    found = energy_of(left, products((-1.0, 0, 0), node, p, p)) + energy_of(right, products(node, (2.0, 0, 0), p, p))
    assert found == pytest.approx((0.3 - np.hypot(0.05, 0.25)) ** 2, rel=1e-12)
    for par in (left, right):
        par[0, 7] = 0.0
    b1, b2 = (z - 0.1, -0.4, 0.25), (z + 0.1, 0.4, 0.25)
    found = energy_of(left, products((-1.0, 0, 0), node, b1, b2)) + energy_of(
        right, products(node, (2.0, 0, 0), b1, b2)
    )
    assert found == pytest.approx(0.05**2, rel=1e-12)


def test_nothing_jumps_where_tubes_become_parallel():
    """Turned through the parallel, and moved from an end over the other tube's free end."""

    def at(angle, shift=0.1):
        c, s = np.cos(angle), np.sin(angle)
        return energy_of(tube(), products((0, 0, 0), (1, 0, 0), (shift, 0.02, 0.25), (shift + c, 0.02 + s, 0.25)))

    for values in ([at(a) for a in np.linspace(-0.6, 0.6, 2401)], [at(0.7, s) for s in np.linspace(-1.2, 1.3, 5001)]):
        steps = np.abs(np.diff(values))
        assert steps.max() < 0.03 * max(values)
        assert max(values) > 1e-3


@pytest.mark.parametrize(("terms", "par"), [
    (tube_terms, tube(0.0, (0.6, 0.0, 0.0, 0.7), (0.1, 1.4))),
    (face_terms, np.array([[3.0, 1.5, 0.0, 0.0, 0.0, 2.0, 1.0, 3.0, 2.0, 4.0, 0.4, -0.3, 0.2, 0.0, 0.0]])),
])  # fmt: skip
def test_derivatives_of_penetrations_and_weights(terms, par):
    """Against differences."""
    rng = np.random.default_rng(4)
    for _ in range(5):
        I = products(*rng.normal(size=(4, 3)))

        def both(I, size=jets.SLOPE):
            Y, W = np.zeros((5, jets.JET)), np.zeros((5, jets.JET))
            terms(size, par, 0, I, Y, W)
            return np.concatenate((Y, W))

        jet = both(I, jets.JET)
        known = np.flatnonzero(np.concatenate((jet[5:, 0], jet[5:, 0])) > 0.0)
        rows, columns = np.triu_indices(6)
        for i in range(6):
            d = np.zeros(6)
            d[i] = 1e-5
            change = (both(I + d) - both(I - d)) / 2e-5
            assert jet[known, 1 + i] == pytest.approx(change[known, 0], rel=1e-4, abs=1e-5)
            for j in range(6):
                k = 7 + int(np.flatnonzero((rows == min(i, j)) & (columns == max(i, j)))[0])
                assert jet[known, k] == pytest.approx(change[known, 1 + j], rel=1e-3, abs=1e-4)


def test_faces_of_a_plane_grid_count_as_one():
    """Away from corners, where four, six and eight triangles meet: to round-off; there to some percent."""
    model = Model(3)
    model.mesh("m", rectangle={"size": (3.0, 3.0), "n": (3, 3)})
    model.material("soft", E=1e8, nu=0.3, density=1000.0)
    model.shells("skin", on="m", material="soft", thickness=0.01)
    model.body("ball", (0.0, 0.0, 9.0), mass=1.0, inertia=np.ones(3))
    model.contact("touch", "skin", "ball", surface="faces", ball=0.5, stiffness=1.0)
    pairing = model.building.blocks[-1].pairing
    x, par = model.building.positions[pairing.a], np.zeros((1, 15))
    every = np.column_stack((np.arange(len(x)), np.zeros(len(x), int)))
    columns = pairing.columns(every)

    def total(p):
        value = 0.0
        for e in range(len(x)):
            par[0, 5:7] = 0.5, 1.0
            par[0, 7:13] = [
                columns[name][e] for name in ("width 1", "width 2", "width 3", "corner 1", "corner 2", "corner 3")
            ]
            u, v, w = x[e, 1] - x[e, 0], x[e, 2] - x[e, 0], np.asarray(p) - x[e, 0]
            value += energy_of(par, np.array([u @ u, v @ v, w @ w, u @ v, u @ w, v @ w]), face_terms)
        return value / 0.01

    for p in ((1.5, 1.5, 0.4), (1.45, 1.55, 0.4), (1.5, 1.02, 0.4), (1.3, 1.6, 0.4), (1.0, 1.0, 0.4), (2.0, 1.0, 0.4)):
        assert total(p) == pytest.approx(1.0, rel=1e-12)
    values = [total((1.0 + 0.2 * np.cos(a), 1.0 + 0.2 * np.sin(a), 0.4)) for a in np.linspace(0.0, 6.28, 60)]
    values += [total((x, 1.0, 0.4)) for x in np.linspace(0.8, 1.2, 20)]
    assert min(values) > 0.75
    assert max(values) < 1.25


# --- near parts ------------------------------------------------------------------------------------------------------
def test_near_tubes_are_those_of_a_loop_over_all():
    rng = np.random.default_rng(3)
    x, y = (rng.uniform(0.0, 3.0, (n, 1, 3)) + rng.uniform(-0.6, 0.6, (n, 2, 3)) for n in (60, 80))
    x[0] = (0.0, 1.5, 1.5), (3.0, 1.5, 1.5)  # long
    a = np.arange(120).reshape(-1, 2)
    b = 120 + np.arange(160).reshape(-1, 2)
    none = {"ends_a": np.zeros((60, 2)), "ends_b": np.zeros((80, 2)), "share_a": np.zeros(60), "share_b": np.zeros(80)}
    lengths = {"length_a": np.zeros(60), "length_b": np.zeros(80)}
    pairing = TubePairing(
        owner=Owner("Contact", "c"), a=a, b=b, reach=0.1, margin=0.02, plane=False, **none, **lengths
    )  # fmt: skip
    found = pairing.pairs(x, y, 0.02)
    s = np.linspace(0.0, 1.0, 101)[:, None]

    def distance(p, q):
        one, two = (1 - s) * p[0] + s * p[1], (1 - s) * q[0] + s * q[1]
        return np.linalg.norm(one[:, None] - two, axis=2).min()

    sampled = np.array([[distance(p, q) for q in y] for p in x])
    assert {tuple(pair) for pair in np.argwhere(sampled <= 0.14)} <= {tuple(pair) for pair in found}
    assert (sampled[tuple(found.T)] <= 0.14 + 0.03).all()
    assert len(found) > 10
    assert pairing.gaps(x, y, found) == pytest.approx(sampled[tuple(found.T)] - 0.1, abs=0.02)


def test_near_faces_hold_all_that_may_touch():
    rng = np.random.default_rng(5)
    x, y = rng.uniform(0.0, 1.0, (50, 3, 3)), rng.uniform(0.0, 1.0, (40, 1, 3))
    pairing = FacePairing(
        owner=Owner("Contact", "c"), a=np.arange(150).reshape(-1, 3), b=150 + np.arange(40)[:, None], reach=0.05,
        margin=0.01, widths=np.full((50, 3), 0.2), heights=np.full((50, 3), 0.1), corners=np.zeros((50, 3)),
    )  # fmt: skip
    found = {tuple(pair) for pair in pairing.pairs(x, y, 0.01)}
    for i in range(50):
        u, v = x[i, 1] - x[i, 0], x[i, 2] - x[i, 0]
        for j in range(40):
            c, *_ = np.linalg.lstsq(np.column_stack((u, v)), y[j, 0] - x[i, 0], rcond=None)
            height = np.linalg.norm(y[j, 0] - x[i, 0] - c[0] * u - c[1] * v)
            if min(c[0], c[1], 1.0 - c[0] - c[1]) > 0.0 and height < 0.05:
                assert (i, j) in found


def test_a_hairpin_touches_itself_but_not_its_neighbours():
    """Its legs clap together; where they are apart nothing touches, also at its corners."""
    model = Model(3)
    model.section("rod", "stiffness", EA=1e5, EI=2.0, GA=4e4, GJ=2.0, rhoA=1.0, rhoI=1e-4)
    model.polyline("u", [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 0.1, 0.0), (0.0, 0.1, 0.0)], (5, 3, 6))
    model.beams("pin", "u", "rod")
    model.contact("self", "pin", "pin", surface="beams", radius=0.02, along=True, ball=0.02, stiffness=1e5)
    model.initial("u:segment_3", velocity=(0.0, -3.0, 0.0))
    model.sensor("force", "contact", on="self")
    model.transient_step(0.05, 5e-4, frames=0)
    step = solve(model).steps[0]
    assert not step.series["sensor/force"].ravel()[1:20].any()
    conserved(step)


# --- statics, sensors, restart ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [1, 3])
def test_a_beam_on_the_ground_sinks_in_whatever_its_mesh(n):
    """The stiffness of a length is K L/(2 r)."""
    model = Model(3, gravity=(0.0, 0.0, -9.81))
    string(model, "one", (0.0, 0.0, 0.01999), (1.0, 0.0, 0.01999), n)
    model.fix("one line:all", ["x", "y", "rotation"])
    model.contact(
        "floor", "ground", "one", point=(0.0, 0.0, 0.0), axis=UP, along=True, ball=0.02, stiffness=1e5, exponent=1.0,
        overlap=1e-4,
    )  # fmt: skip
    model.sensor("gap", "contact", on="floor", quantity="gap")
    model.sensor("touching", "contact", on="floor", quantity="touching")
    model.static_step()
    step = solve(model).steps[0]
    assert step.series["sensor/gap"].ravel()[-1] == pytest.approx(-9.81 / (1e5 / 0.04), rel=1e-9)
    assert step.series["sensor/touching"].ravel()[-1] == n + 1


def test_a_ball_rests_on_a_face():
    """K y^1.5 is its load, and the supports of the block bear it."""
    model = Model(3)
    model.mesh("m", box={"size": (0.4, 0.3, 0.1), "n": (4, 3, 1)})
    model.solid_material("soft", 1e7, 0.3, density=1000.0)
    model.solids("block", "m", "soft")
    model.fix("m:bottom")
    model.body("ball", (0.17, 0.12, 0.149), mass=0.2, inertia=np.full(3, 1e-4))
    model.fix("ball", ["x", "y", "rotation"])
    model.force("P", "ball", (0.0, 0.0, -5.0))
    model.contact("touch", "m:top", "ball", surface="faces", ball=0.05, stiffness=1e5, overlap=0.01)
    for quantity in ("force", "gap", "place"):
        model.sensor(quantity, "contact", on="touch", quantity=quantity)
    model.sensor("up", "reaction", on="m:bottom")
    model.static_step(increments=4)
    step = solve(model).steps[0]
    assert step.series["sensor/force"].ravel()[-1] == pytest.approx(5.0, rel=1e-6)
    assert step.series["sensor/up"][-1, 2] == pytest.approx(5.0, rel=1e-6)
    assert step.series["sensor/gap"].ravel()[-1] == pytest.approx(-((5.0 / 1e5) ** (2 / 3)), rel=1e-2)
    part, ball, second, third = step.series["sensor/place"][-1]
    assert part == int(part)
    assert ball == 0.0
    assert min(second, third, 1.0 - second - third) > 0.0


def test_a_run_goes_on_from_a_restart_point_with_the_same_bits(tmp_path):
    def model():
        made = two_beams((-0.4, -0.2, 0.045), (0.45, 0.3, 0.045), (8.0, 3.0, -2.0))
        made.transient_step(0.05, 5e-4, frames=4, restarts=3)
        return made

    whole = run(model(), tmp_path / "whole")
    again = run(model(), tmp_path / "whole", restart=1)
    first, second = (
        {name: np.array(series) for name, series in results.steps[0].series.items()} for results in (whole, again)
    )
    assert np.nanmax(first["sensor/force"]) > 10.0
    for name, series in first.items():
        assert np.array_equal(series, second[name], equal_nan=True), name


def test_copies_touch_each_other_and_not_the_originals():
    model = two_beams((0.013, -0.5, 0.045), (0.013, 0.5, 0.045), (0.0, 0.0, -1.0))
    model.copy(["one line", "two line", "one", "two", "blow"], translate=(0.0, 0.0, 1.0))
    first, second = (block.pairing for block in model.building.blocks if block.pairing is not None)
    x = model.building.positions
    for one, other in ((first.a, second.a), (first.b, second.b)):
        assert x[other] == pytest.approx(x[one] + (0.0, 0.0, 1.0))


def test_parts_that_pass_through_each_other_end_the_run():
    model = two_beams((0.013, -0.5, 0.045), (0.013, 0.5, 0.045), (0.0, 0.0, -60.0), stiffness=10.0)
    model.transient_step(0.02, 2e-4, frames=0)
    with pytest.raises(AnalysisError, match='Contact "blow": passing through each other'):
        solve(model)


# --- wrong input -----------------------------------------------------------------------------------------------------
def wrong(**changes):
    model = Model(3)
    string(model, "one", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 2)
    string(model, "two", (0.5, -0.5, 0.1), (0.5, 0.5, 0.1), 2)
    model.body("ball", (0.3, 0.0, 0.2), mass=1.0, inertia=np.ones(3))
    said = {"a": "one", "b": "two", "surface": "beams", "radius": 0.02, "along": True, "ball": 0.02, "stiffness": 1e5}
    said = {k: v for k, v in (said | changes).items() if v is not None}
    model.contact("touch", said.pop("a"), said.pop("b"), **said)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"radius": None}, "a beams needs radius"),
        ({"radius": 0.0}, "need a radius, and radius = 0"),
        ({"ball": 0.0}, "need a radius, and ball = 0"),
        ({"radius": 0.09}, 'overlaps with the beam "one line 1" to "one line 2" at the start by 0.01'),
        ({"b": "three"}, 'b = "three" is no group of beams, trusses or cables; there are "one", "two"'),
        ({"a": "ground"}, 'a = "ground" is no group'),
        ({"coefficient": 0.3}, "coefficient and smoothing"),
        ({"restitution": 0.5}, "whose pairs come and go, is that of blows at one speed; give approach"),
        ({"approach": 0.5}, "approach = 0.5: only restitution needs it; remove approach"),
        (
            {"restitution": 0.5, "approach": 1.0, "restitution_model": "indentation"},
            'beams keep no indentation; take "gonthier"',
        ),
        ({"point": (0.0, 0.0, 0.0)}, "beams have no point"),
        ({"inside": True}, "beams have no inside"),
        ({"pairs": 0}, "pairs = 0 is no room"),
        ({"spacing": 0.1}, "spacing is for lines on surfaces"),
        ({"b": "one", "ball": 0.01}, "beams that touch each other have one radius"),
        ({"along": None, "b": "one line:all"}, 'of b is one of the beams of a'),
        ({"surface": "faces", "radius": None}, 'a = "one" names no faces'),
        ({"surface": "faces", "along": None, "b": "ball", "ball": None, "radius": None}, "neither ball nor radius"),
        ({"surface": "faces", "along": None, "b": "ball"}, 'a = "one" names no faces'),
        ({"surface": "plane", "radius": None, "pairs": 5, "axis": UP, "a": "ball"}, "pairs is for beams and faces"),
        ({"surface": "sphere", "a": "two line:start", "radius": 0.01}, "carries the surface and is a node of b"),
        ({"surface": "sphere", "a": "ball", "radius": 0.01, "spacing": 1e-4}, "more than 64 places"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_clear_error(changes, message):
    with pytest.raises(ModelError, match='Contact "touch"') as error:
        wrong(**changes)
    assert message in str(error.value)


def test_more_near_parts_than_there_is_room_for():
    model = two_beams((0.013, -0.5, 0.045), (0.013, 0.5, 0.045), (0.0, 0.0, -1.0), pairs=1)
    model.transient_step(0.01, 1e-3)
    with pytest.raises(AnalysisError, match=r'Contact "blow": .* give it more by pairs = '):
        solve(model)
