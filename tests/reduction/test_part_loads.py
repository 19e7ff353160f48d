"""Loads of reduced parts in motion: what they are to shapes, statics, large motions, linear steps, files, mistakes."""

from __future__ import annotations

from dataclasses import replace

import h5py
import numpy as np
import pytest
from flexible_parts import STEEL, beam
from solid_meshes import box_mesh

from fem_mbs import Model, ModelError, linearise, reduce_part, run, solve
from fem_mbs.analysis.recovery.part_results import recover, stress_peaks
from fem_mbs.cli.check import explain
from fem_mbs.modelfile.read import load_model
from fem_mbs.parts.files import read_matrix_market, write_matrix_market
from fem_mbs.parts.hdf5 import read_part, write_part

ENDS = {"left": "rod:start", "right": "rod:end"}
DIMENSIONS = pytest.mark.parametrize("dim", [2, 3])
KINDS = pytest.mark.parametrize("follower", [True, False], ids=["follower", "fixed"])
ALL = 500  # component modes: more than the small parts have


def along(dim, *vector):
    return vector[:dim]


def turn(dim, *rotation):
    return rotation[-1] if dim == 2 else rotation


def loaded_beam(dim, n=4, **options) -> Model:
    """A free beam under a varying line load, an eccentric force, forces and moments at nodes inside."""
    m = beam(n, dimension=dim, **options)
    m.body("knob", along(dim, 1.0, 0.1, 0.05), mass=1e-3, inertia=(1e-7,) * 3 if dim == 3 else 1e-7)
    m.joint("glue", "weld", "knob", "rod:end")
    m.line_load("wind", "rod", along(dim, 0.4, "3 + 2*x", 1.0))
    m.line_load("scale", "rod", along(dim, 0.1, 2.0, "1 - x"), axes="local")
    m.force("push", "knob", along(dim, 1.0, -2.0, 0.5), point=along(dim, 1.1, 0.2, 0.0))
    m.force("stay", 3, along(dim, -1.0, 0.7, 2.0), follower=True)
    m.moment("twist", 2, (0.3, -0.2, 0.5) if dim == 3 else 0.4)
    return m


def block(dim) -> Model:
    """A slab under pressure and traction on its top, and heat."""
    m = Model(dim)
    m.material("steel", expansion=1e-5, **STEEL)
    if dim == 3:
        m.mesh("rod", box_mesh("hexahedron20", (3, 1, 1), (1.0, 0.1, 0.08)))
        m.solids("rod", on="rod", material="steel", kinematics="linear")
    else:
        m.mesh("rod", box_mesh("quad8", (4, 1), (1.0, 0.1)))
        m.planes("rod", on="rod", material="steel", thickness=0.01, kinematics="linear")
    m.pressure("snow", "rod:y1 faces", "2e4*(1 + x)")
    m.traction("drag", "rod:y1 faces", along(dim, 3e3, "1e3*x", 2e3))
    m.temperature("sun", "rod", "40*y")
    return m


# --- what a load is to shapes ----------------------------------------------------------------------------------------
@DIMENSIONS
@pytest.mark.parametrize("make", [loaded_beam, block])
def test_moments_hold_the_generalised_forces(dim, make, tmp_path):
    """On the part at rest they are T^T f, in any coordinates, and they survive files bit for bit (or by all digits)."""
    m = make(dim)
    part = reduce_part(m, ENDS if make is loaded_beam else {"left": "rod:x0"}, modes=5)
    turned = part.transformed(np.random.default_rng(3).normal(size=(part.size, 4)), np.zeros((4, 0)))
    assert set(part.load_moments) == set(part.loads)
    for own in (part, turned):
        for name, load in own.load_moments.items():
            scale = np.abs(part.loads[name]).max()
            np.testing.assert_allclose(load.generalised(), own.loads[name], atol=1e-11 * scale, rtol=0)
            resultant = part.rigid.T @ part.loads[name]
            np.testing.assert_allclose(load.forces[0], resultant[:dim], atol=1e-9 * scale)
    for back, exact in (
        (read_part(write_part(tmp_path / "part.h5", part)), True),
        (read_matrix_market(write_matrix_market(tmp_path / "part", part)), False),
    ):
        assert list(back.load_moments) == list(part.load_moments)
        for name, load in part.load_moments.items():
            for key in ("forces", "couples"):
                was, now = getattr(load, key), getattr(back.load_moments[name], key)
                assert np.array_equal(was, now) if exact else np.allclose(was, now, rtol=1e-14)


@DIMENSIONS
def test_forces_on_directors_stay_forces(dim):
    """A line load and an eccentric force are constant forces at places; only what is a moment remains one."""
    part = reduce_part(loaded_beam(dim), ENDS, modes=ALL)
    wind, push, twist = (part.load_moments[name] for name in ("wind", "push", "twist"))
    assert not wind.couples.any() and not push.couples.any()
    exact = np.array(along(dim, 0.4 / 2, 3 / 2 + 2 / 3, 1 / 2))  # int x q dx
    np.testing.assert_allclose(wind.forces[:2], [along(dim, 0.4, 4.0, 1.0), exact], rtol=1e-12)
    F = np.array(along(dim, 1.0, -2.0, 0.5))
    np.testing.assert_allclose(push.forces[1 : 1 + dim], np.outer(along(dim, 1.1, 0.2, 0.0), F), atol=1e-12)
    assert not twist.forces.any()
    np.testing.assert_allclose(twist.couples[0], (0.3, -0.2, 0.5) if dim == 3 else (0.4,))
    moved = push.shifted(np.array(along(dim, 1.1, 0.2, 0.0)))
    assert np.abs(moved.forces[1 : 1 + dim]).max() < 1e-12


@DIMENSIONS
def test_loads_of_a_bent_part(dim):
    """About the place that a static step leaves: loads at their places there, directors as they then stand."""
    m = loaded_beam(dim, height=0.004)
    m.fix("rod:start")
    m.static_step(increments=4, vary=["push", "stay"])
    part = reduce_part(m, {"right": "rod:end"}, modes=3, state="end")
    wind, push, stay = (part.load_moments[name] for name in ("wind", "push", "stay"))
    for name, load in part.load_moments.items():
        np.testing.assert_allclose(
            load.generalised(), part.loads[name], atol=1e-11 * np.abs(part.loads[name]).max(), rtol=0
        )
    assert not wind.couples.any() and not push.couples.any()
    bent = part.recovery.x[m.nodes_of("rod:end")[0]] - along(dim, 1.0, 0.0, 0.0)
    assert np.abs(bent).max() > 0.01
    F = np.array(along(dim, -1.0, 0.7, 2.0))
    assert np.linalg.norm(stay.forces[0]) == pytest.approx(np.linalg.norm(F))
    assert np.abs(stay.forces[0] - F).max() > 1e-3  # it has turned with its node


# --- statics ---------------------------------------------------------------------------------------------------------
@DIMENSIONS
@KINDS
def test_deflection_of_a_loaded_cantilever(dim, follower):
    """In linear statics that of the whole beam under the same loads, whatever they are; placed anywhere."""
    names = ("wind", "scale", "push", "twist")
    whole = loaded_beam(dim)
    whole.fix("rod:start")
    m = Model(dim)
    place, spin = along(dim, 1.0, 2.0, 3.0), turn(dim, 0.3, -0.5, 0.7)
    m.reduced_part("rod", reduce_part(loaded_beam(dim), ENDS, modes=ALL), position=place, rotation=spin)
    m.fix("rod:left")
    for name in names:
        m.part_load(name, "rod", name, follower=follower)
    m.part_load("end", "rod", "stay", factor=0.5)
    m.part_load("end again", "rod", ["stay"], factor=2.0, function=0.25)
    u = []
    for model, end in ((whole, "rod:end"), (m, "rod:right")):
        model.sensor("u", "displacement", on=end)
        model.linear_static_step()
        u.append(solve(model).steps[-1].series["sensor/u"][-1][:dim])
    R = m.reduced_parts["rod"].rotation
    np.testing.assert_allclose(u[1], R @ u[0], atol=1e-8 * np.abs(u[0]).max())


@DIMENSIONS
@KINDS
def test_pressed_and_heated_slab(dim, follower):
    """Pressure, traction and heat of a slab that one face holds: displacements of all nodes as of the whole mesh."""
    whole = block(dim)
    whole.fix("rod:x0")
    whole.linear_static_step()
    field = solve(whole).steps[-1].frames["displacement"][-1][:, :dim]
    m = Model(dim)
    m.reduced_part("rod", reduce_part(block(dim), {"left": "rod:x0"}, modes=ALL), reference="left")
    m.fix("rod:left")
    m.part_load("all", "rod", ["snow", "drag", "sun"], follower=follower)
    m.sensor("q", "modal", on="rod")
    m.linear_static_step()
    q = solve(m).steps[-1].series["sensor/q"][-1]
    found = m.reduced_parts["rod"].part.recovery.displacement @ q
    np.testing.assert_allclose(found, field, atol=1e-8 * np.abs(field).max())


@DIMENSIONS
def test_stresses_of_a_heated_slab(dim, tmp_path):
    """Those of the whole mesh, where heat strains without stress: in the run's frames, recovered later, and peaks."""
    found = []
    for part in (False, True):
        m = Model(dim) if part else block(dim)
        if part:
            slab = reduce_part(block(dim), {"left": "rod:x0"}, modes=ALL, recovery="stress")
            m.reduced_part("rod", read_part(write_part(tmp_path / "slab.h5", slab)), reference="left")
            m.part_load("snow", "rod", "snow")
            m.part_load("sun", "rod", "sun", factor=2.0, function="t")
        m.fix("rod:left" if part else "rod:x0")
        if not part:
            m.temperature("more", "rod", "40*y")
        m.linear_static_step("warm", loads=["snow", "sun"] if part else ["snow", "sun", "more"], time=1.0)
        m.linear_static_step("cold", loads=["snow"])
        found.append(m)
    whole, m = found
    results = run(m, tmp_path / "run")
    again = recover(results)
    for k in range(2):
        own = solve(whole).steps[k].frames["stress [Pa]"][-1]
        for found in (results, again):
            stress = found.steps[k].frames["stress [Pa]"][-1][-len(own) :]
            np.testing.assert_allclose(stress, own, atol=1e-6 * np.abs(own).max())
    _, spot = stress_peaks(results)[0]
    assert spot.mises == pytest.approx(np.nanmax(results.steps[0].frames["von Mises stress [Pa]"]), rel=1e-6)


def test_parts_of_older_versions_tell_that_heat_is_missing():
    part = reduce_part(block(2), {"left": "rod:x0"}, modes=2, recovery="stress")
    told = []
    for info in (part.info, {key: value for key, value in part.info.items() if key != "heat"}):
        m = Model(2)
        m.reduced_part("rod", replace(part, info=info))
        m.part_load("sun", "rod", "sun")
        told.append([text for text in m.building.warnings if "older version" in text])
    assert told[0] == [] and len(told[1]) == 1


def test_heat_turns_with_its_part():
    """With fixed directions too: what it strains turns with the part; other loads that share its function do not."""
    tips = []
    part = reduce_part(block(2), {"left": "rod:x0", "right": "rod:x1"}, modes=10)
    for follower in (True, False):
        m = Model(2)
        m.reduced_part("rod", part, reference="left")
        m.joint("axle", "revolute", "ground", "rod:left", function="pi/2*t")
        m.part_load("sun", "rod", "sun", function="t", follower=follower)
        m.sensor("tip", "position", on="rod:right")
        m.static_step(duration=1.0, increments=2)
        tips.append(solve(m).steps[-1].series["sensor/tip"][-1])
    np.testing.assert_allclose(tips[1], tips[0], atol=1e-12)
    source = Model(2)
    source.material("steel", expansion=1e-5, **STEEL)
    source.mesh("rod", box_mesh("quad8", (4, 1), (1.0, 0.1)))
    source.planes("rod", on="rod", material="steel", thickness=0.01, kinematics="linear")
    source.function("day", "t")
    source.temperature("noon", "rod", 10.0, function="day")
    source.pressure("gust", "rod:y1 faces", 1.0, function="day")
    m = Model(2)
    m.reduced_part("rod", reduce_part(source, {"left": "rod:x0"}, modes=2))
    with pytest.raises(ModelError, match="is heat, which turns with the part, and other loads"):
        m.part_load("all", "rod", "gust + noon", follower=False)


@DIMENSIONS
@KINDS
def test_large_turn_of_a_support(dim, follower):
    """A load steps through a right angle of its support: the reaction is its resultant, turned with the part or not,
    and so is its moment."""
    m = Model(dim)
    spin = turn(dim, 0.2, -0.1, 0.3)
    m.reduced_part("rod", reduce_part(stiff_beam(dim), ENDS, modes=6), rotation=spin, reference="left")
    axle = {} if dim == 2 else {"axis": (0.0, 0.0, 1.0)}
    m.joint("axle", "revolute", "ground", "rod:left", function="pi/2*t", **axle)
    m.part_load("wind", "rod", "wind", follower=follower)
    m.sensor("hold", "reaction", on="axle")
    m.static_step(duration=1.0, increments=4)
    hold = solve(m).steps[-1].series["sensor/hold"][-1]
    R0 = m.reduced_parts["rod"].rotation
    c = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])[:dim, :dim]
    axis, force = R0[:, 0], R0 @ np.array(along(dim, 1.0, 5.0, 2.0))
    arm, load = c @ axis / 2, c @ force if follower else force
    np.testing.assert_allclose(hold[:dim], load, rtol=1e-6)
    moment = np.cross(*(np.append(v, np.zeros(3 - dim)) for v in (arm, load)))
    np.testing.assert_allclose(hold[dim:], moment[-1:] if dim == 2 else moment, rtol=1e-4, atol=1e-5)


def stiff_beam(dim):
    """A stout free beam of 1 m with the resultant (1, 5, 2) N in the middle."""
    m = beam(4, dimension=dim, width=0.2, height=0.2)
    m.line_load("wind", "rod", along(dim, 1.0, 5.0, 2.0))
    return m


# --- in motion -------------------------------------------------------------------------------------------------------
def spinning(dim, follower, duration=1.0, h=0.005, function=None, **options):
    """A slender part, thrown with much spin under all its loads."""
    m = Model(dim)
    part = reduce_part(loaded_beam(dim, height=0.006), ENDS, modes=5)
    m.reduced_part("rod", part, rotation=turn(dim, 0.3, 0.4, 0.8), cutoff=400.0)
    for k, name in enumerate(part.load_moments):
        m.part_load(name, "rod", name, follower=follower, function=function, factor=1.0 + 0.1 * k)
        m.sensor(f"work {name}", "work", on=name)
    m.initial(spin=7.0 if dim == 2 else (3.0, 4.0, 7.0), velocity=along(dim, 1.0, 2.0, 3.0))
    m.sensor("tip", "position", on="rod:right")
    m.transient_step(duration=duration, h=h, **options)
    return m


@DIMENSIONS
@KINDS
def test_ledger_of_a_spinning_part(dim, follower):
    """Two hundred steps under loads that vary in time: their work is booked to round-off, and each has its own."""
    solution = solve(spinning(dim, follower, function="0.4 + sin(8*t)"))
    step = solution.steps[0]
    energy = step.summary["energy"]
    work = step.ledger("load work")
    assert np.abs(work).max() > 0.3 * energy["range"]
    assert energy["closing_error_relative"] < 1e-12
    names = ("wind", "scale", "push", "stay", "twist")
    own = [solution.sensor(f"work {name}").values[:, 0] for name in names]
    np.testing.assert_allclose(sum(own), work, atol=1e-12 * np.abs(work).max())
    assert all(np.abs(w).max() > 1e-3 * np.abs(work).max() for w in own)


@DIMENSIONS
def test_momentum_under_fixed_loads(dim):
    """Forces of fixed direction change the linear momentum by their impulse, exactly, however the part turns."""
    m = spinning(dim, False)
    momentum = solve(m).steps[0].series["linear momentum"]
    placed = m.reduced_parts["rod"]
    F = sum((1.0 + 0.1 * k) * load.forces[0] for k, load in enumerate(placed.part.load_moments.values()))
    change = (momentum[-1] - momentum[0])[:dim]
    np.testing.assert_allclose(change, placed.rotation @ F, atol=1e-10 * np.abs(momentum).max())


@DIMENSIONS
@KINDS
def test_one_state_rules_agree(dim, follower):
    """Newmark's family follows the mid-point rule at small steps, and its ledger closes as well as its steps do."""
    found = []
    for options in ({}, {"rule": "generalised-alpha"}):
        solution = solve(spinning(dim, follower, 0.02, 1e-5, **options))
        found.append(solution.sensor("tip").values[-1])
    np.testing.assert_allclose(found[1], found[0], atol=3e-7)


@KINDS
def test_force_at_an_interface(follower):
    """The same force of the part's own, or on the node of the interface that the frame stands on: the same motion."""
    found = []
    for own in (True, False):
        source = beam(4, dimension=3, height=0.004)
        source.force("kick", "rod:start", (1.0, 3.0, -2.0))
        m = Model(3)
        m.reduced_part(
            "rod", reduce_part(source, ENDS, modes=4), rotation=(0.3, 0.4, 0.8), reference="left", cutoff=300.0
        )
        if own:
            m.part_load("kick", "rod", "kick", follower=follower, function="sin(20*t)")
        else:
            F = m.reduced_parts["rod"].rotation @ (1.0, 3.0, -2.0)
            m.force("kick", "rod:left", F, follower=follower, function="sin(20*t)")
        m.initial(spin=(1.0, 4.0, 2.0))
        m.sensor("tip", "position", on="rod:right")
        m.transient_step(duration=0.5, h=0.005)
        found.append(solve(m).steps[-1].series["sensor/tip"])
    np.testing.assert_allclose(found[1], found[0], atol=1e-8)


@KINDS
def test_thrown_beam_that_is_not_reduced(follower):
    """A stout beam under a line load that keeps its direction or turns with its sections: the motion of the whole."""
    found = []
    for part in (True, False):
        source = beam(6, dimension=2, width=0.05, height=0.05)
        source.line_load("wind", "rod", (3.0, "900*x"), axes="local" if follower else "global")
        m = source
        if part:
            m = Model(2)
            m.reduced_part("rod", reduce_part(source, ENDS, modes=8), cutoff=3000.0)
            m.part_load("wind", "rod", "wind", follower=follower)
        m.initial(spin=5.0, centre=(0.5, 0.0))
        m.sensor("tip", "position", on="rod:right" if part else "rod:end")
        m.transient_step(duration=0.5, h=1e-3)
        found.append(solve(m).steps[-1].series["sensor/tip"])
    moved = np.abs(found[1] - found[1][0]).max()
    assert moved > 1.5
    np.testing.assert_allclose(found[0], found[1], atol=3e-4 * moved)


def test_an_event_takes_a_load_off():
    """Work of a part load stands still from the instant at which the sensor passes its value."""
    m = spinning(2, True, 0.4, 1e-3)
    m.sensor("place", "position", on="rod")
    m.event("off", "place.y", 0.8, action="off", target="push")
    solution = solve(m)
    y, work = solution.sensor("place").values[:, 1], solution.steps[-1].series["sensor/work push"][:, 0]
    after = np.flatnonzero(y > 0.8)[0]
    assert 50 < after < len(y) - 50
    assert np.ptp(work[after:]) == 0.0 and np.ptp(work[: after - 1]) > 1e-2


# --- linear steps ----------------------------------------------------------------------------------------------------
@DIMENSIONS
def test_harmonic_response(dim):
    """The transfer from a line load's function to the tip is that of the whole beam, through two resonances."""
    found = []
    for part in (True, False):
        source = loaded_beam(dim)
        m = source
        if part:
            m = Model(dim)
            m.reduced_part("rod", reduce_part(source, ENDS, modes=ALL))
            m.part_load("wind", "rod", "wind")
        m.fix("rod:left" if part else "rod:start")
        m.sensor("tip", "displacement", on="rod:right" if part else "rod:end")
        model = linearise(m).state_space(inputs=["wind"], sensors=["tip"])
        found.append(model.response(2j * np.pi * np.array([1.0, 6.0, 20.0, 45.0, 70.0]))[:, :dim, 0])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5, atol=1e-6 * np.abs(found[1]).max())


def test_linear_transient():
    """Small motions under a sudden pressure: those of the whole mesh, and their work is the load's."""
    tips, works = [], []
    for part in (True, False):
        m = source = block(2)
        if part:
            m = Model(2)
            m.reduced_part("rod", reduce_part(source, {"left": "rod:x0", "tip": np.array([22])}, modes=ALL))
            m.fix("rod:left")
            m.part_load("snow", "rod", "snow", function="sin(250*t)")
        else:
            m.fix("rod:x0")
            m.pressure("more", "rod:y1 faces", "2e4*(1 + x)", "sin(250*t)")
        m.sensor("tip", "displacement", on="rod:tip" if part else 22)
        m.linear_transient_step(duration=0.05, h=5e-4, loads=["snow" if part else "more"])
        solution = solve(m)
        tips.append(solution.steps[-1].series["sensor/tip"])
        works.append(solution.steps[0].ledger("load work"))
    for a, b in (tips, works):
        np.testing.assert_allclose(a, b, atol=1e-6 * np.abs(b).max())


# --- files and mistakes ----------------------------------------------------------------------------------------------
FILE = """
dimension = 2
[[part]]
name = "arm"
file = "%s"
%s
reference = "rod:start"
[[support]]
on = "arm:rod:start"
[[part_load]]
name = "gust"
part = "arm"
load = %s
function = "sin(3*t)"
factor = 2.0
follower = false
[[sensor]]
name = "tip"
kind = "position"
on = "arm:rod:end"
[[sensor]]
name = "work"
kind = "work"
on = "gust"
[[step]]
type = "transient"
duration = 0.02
h = 0.002
"""
BEAM = """
dimension = 2
[material.steel]
E = 2.1e11
nu = 0.3
density = 7850.0
[section.bar]
shape = "rectangle"
width = 0.02
height = 0.01
[mesh.rod]
line = {start = [0.0, 0.0], end = [1.0, 0.0], n = 4}
[[beam]]
name = "rod"
on = "rod"
section = "bar"
material = "steel"
[[line_load]]
name = "wind"
on = "rod"
vector = [0.0, 5.0]
[[force]]
name = "pull"
on = "rod"
vector = [3.0, 1.0]
"""
REDUCE = 'reduce = {interfaces = ["rod:start", "rod:end"], modes = 4}'


def test_model_file(tmp_path):
    """Reduced on the fly, or from its file: the same; `check` lists the load; a mistake names the table."""
    (tmp_path / "beam.toml").write_text(BEAM)
    path = tmp_path / "model.toml"
    path.write_text(FILE % ("beam.toml", REDUCE, '["wind", "pull"]'))
    flown = solve(load_model(path))
    told = list(explain(path))
    assert any("1 part load: gust" in line for line in told)
    assert any(line.endswith("; loads of its own: pull, wind") for line in told)
    part = reduce_part(load_model(tmp_path / "beam.toml"), {"rod:start": "rod:start", "rod:end": "rod:end"}, modes=4)
    write_part(tmp_path / "arm.h5", part)
    path.write_text(FILE % ("arm.h5", "", '["wind", "pull"]'))
    read = solve(load_model(path))
    for name in ("tip", "work"):
        np.testing.assert_allclose(
            read.steps[-1].series[f"sensor/{name}"], flown.steps[-1].series[f"sensor/{name}"], rtol=0, atol=1e-12
        )
        assert np.ptp(flown.steps[-1].series[f"sensor/{name}"]) > 1e-6
    path.write_text(FILE % ("arm.h5", "", '"breeze"'))
    with pytest.raises(
        ModelError, match=r'\[\[part_load\]\] "gust": part "arm" has no load "breeze"; it has pull, wind'
    ):
        load_model(path)


DECK = """*NODE, NSET=ALL
1, 0., 0., 0.
2, 2., 0., 0.
3, 2., 1., 0.
4, 0., 1., 0.
5, 0., 0., 1.
6, 2., 0., 1.
7, 2., 1., 1.
8, 0., 1., 1.
*ELEMENT, TYPE=C3D8, ELSET=BODY
1, 1, 2, 3, 4, 5, 6, 7, 8
*NSET, NSET=FOOT
1, 2, 3, 4
*MATERIAL, NAME=STEEL
*ELASTIC
2.1E11, 0.3
*DENSITY
7800.
*SOLID SECTION, ELSET=BODY, MATERIAL=STEEL
*STEP
*STATIC
*DLOAD
BODY, P2, 1000.
*CLOAD
7, 1, 20.
8, 2, 30.
*END STEP
"""


def test_loads_of_a_deck(tmp_path):
    """*DLOAD and *CLOAD of a deck act on the part made of it, under the names that `reduce` prints."""
    (tmp_path / "brick.inp").write_text(DECK)
    path = tmp_path / "model.toml"
    loads = "".join(f'[[part_load]]\npart = "brick"\nload = "{name}"\n' for name in ("DLOAD 1.1 P2.1", "CLOAD 1"))
    path.write_text(
        'dimension = 3\n[[part]]\nname = "brick"\nfile = "brick.inp"\nreduce = {interfaces = ["FOOT"], modes = 5}\n'
        + loads
        + '[[support]]\non = "brick:FOOT"\n[[sensor]]\nname = "hold"\nkind = "reaction"\non = "brick:FOOT"\n'
        '[[step]]\ntype = "linear_static"\n'
    )
    hold = solve(load_model(path)).steps[-1].series["sensor/hold"][-1]
    arm = np.array((1.0, 0.5, 0.0))  # of the foot's middle
    places, forces = (
        np.array(((1.0, 0.5, 1.0), (2.0, 1.0, 1.0), (0.0, 1.0, 1.0))),
        np.diag((20.0, 30.0, -2000.0))[[2, 0, 1]],
    )
    np.testing.assert_allclose(hold[:3], -forces.sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(hold[3:], -np.cross(places - arm, forces).sum(axis=0), rtol=1e-9, atol=1e-6)


def test_parts_of_older_files(tmp_path):
    """Without the moments of loads a part reads as ever, and only loads in motion ask for more."""
    path = write_part(tmp_path / "old.h5", reduce_part(loaded_beam(2), ENDS, modes=4))
    with h5py.File(path, "r+") as file:
        del file["load forces"], file["load couples"]
    part = read_part(path)
    assert part.load_moments == {} and "wind" in part.loads
    m = Model(2)
    m.reduced_part("rod", part)
    with pytest.raises(ModelError, match="only the forces at rest are known; reduce the part again with this version"):
        m.part_load("gust", "rod", "wind")


MISTAKES = {
    "part": ({"part": "rot"}, 'Part load "gust": no reduced part "rot"; did you mean "rod"'),
    "load": ({"load": "win"}, 'part "rod" has no load "win"; it has wind, scale'),
    "none": ({"load": []}, r"load = \[\] names no load"),
    "kind": ({"load": 3}, "load = 3 must be the name of a load, or several"),
    "factor": ({"factor": "much"}, 'factor = "much"'),
    "follower": ({"follower": "yes"}, 'follower = "yes" must be True or False'),
    "function": ({"function": "nothing(t)"}, "nothing"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(mistake):
    change, message = MISTAKES[mistake]
    m = Model(2)
    m.reduced_part("rod", reduce_part(loaded_beam(2), ENDS, modes=4))
    with pytest.raises(ModelError, match=message):
        m.part_load("gust", **({"part": "rod", "load": "wind"} | change))


def test_loads_that_share_a_function_act_together():
    """One alone is refused, with their common name; a part without loads says so."""
    source = beam(4, dimension=2)
    source.function("course", "sin(t)")
    for name in ("a", "b"):
        source.force(name, 2, (1.0, 0.0), function="course")
    part = reduce_part(source, ENDS, modes=4)
    m = Model(2)
    m.reduced_part("rod", part)
    with pytest.raises(ModelError, match=r'"b" shares its function with others .*; name "a \+ b", or give it'):
        m.part_load("gust", "rod", "b")
    m.part_load("both", "rod", "a + b")
    m.reduced_part("bare", replace(part, loads={}, load_moments={}))
    with pytest.raises(ModelError, match='part "bare" has no load "a"; it has none; reduce it from a model or deck'):
        m.part_load("again", "bare", "a")
