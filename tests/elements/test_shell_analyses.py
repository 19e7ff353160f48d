"""Weight, turning frames, reduction and rotors of shells and membranes.

Wright: A. D. Wright, C. E. Smith, R. W. Thresher, J. L. C. Wang, Vibration modes of centrifugally stiffened beams,
J. Appl. Mech. 49 (1982) 197-202.
"""

from __future__ import annotations

import numpy as np
import pytest
from shell_meshes import flat, grid, model_of, support_simply
from test_shell_loads import CELLS, ELEMENTS, RHO, E, steel

from fem_mbs import AnalysisError, Model, reduce_part, solve
from fem_mbs.analysis.linear import linearised
from fem_mbs.analysis.rotors.rotating import rotation_of, steady_rotation
from fem_mbs.solvers.eigen.complex_modes import complex_modes


@CELLS
@ELEMENTS
def test_weight(cell, element):
    """Reactions are rho h A g, and with an offset the moment of its arm."""
    h, g = 0.02, (3.0, 0.0, -9.81)
    options = {"offset": 0.3} if element == "standard" else {}
    model = steel(grid(flat(1.2, 0.7), 3, 2, cell), h, element=element, **options)
    model.gravity = g
    model.fix("s:left")
    if element == "membrane":
        model.fix("s", ["z"])
    model.sensor("R", "reaction", on="s:left" if element == "standard" else "s")
    model.linear_static_step()
    R = solve(model).sensor("R").values[-1]
    weight = RHO * h * 1.2 * 0.7 * np.array(g)
    np.testing.assert_allclose(R[[0, 2] if element == "standard" else [0, -1]], -weight[[0, 2]], rtol=1e-9)


def test_a_turning_blade_flaps_by_wright():
    """First flapping frequency of a strip that turns about its root, 5.5850 sqrt(EI/m L^4) at 4 sqrt(EI/m L^4)."""
    L, b, h = 1.0, 0.05, 0.004
    unit = np.sqrt(E * h**2 / 12 / RHO) / L**2
    model = steel(grid(flat(L, b), 24, 1), h, nu=0.0)
    model.fix("s:left")
    model.centrifugal("spin", speed=4 * unit, axis=(0.0, 0.0, 1.0), point=(0.0, b / 2, 0.0))
    model.static_step(increments=2)
    model.modes_step(1)
    (found,) = solve(model).steps[-1].report.frequencies_hz
    assert 2 * np.pi * found / unit == pytest.approx(5.5850, rel=3e-3)


@CELLS
def test_a_reduced_plate_moves_as_the_whole_one(cell):
    """Statics under pressure, loads of an edge and temperatures, with all modes that the part has."""

    def plate():
        model = steel(grid(flat(1.0, 0.4), 3, 2, cell), 0.01, offset=0.004)
        model.pressure("p", "s:body", 200.0)
        model.line_load("q", "s:right edge", (1e3, 0.0, "50*y"), moment=(0.0, 20.0, 0.0))
        model.temperature("sun", "shell", "30*x", gradient=300.0)
        return model

    whole = plate()
    part = reduce_part(plate(), {"left": "s:left", "tip": "s:c"}, modes=500)
    m = Model(3)
    m.reduced_part("plate", part)
    whole.fix("s:left")
    m.fix("plate:left")
    for name in ("p", "q", "sun"):
        m.part_load(name, "plate", name)
    u = []
    for model, tip in ((whole, "s:c"), (m, "plate:tip")):
        model.sensor("u", "displacement", on=tip)
        model.linear_static_step()
        model.modes_step(3)
        results = solve(model)
        u.append((results.steps[0].series["sensor/u"][-1][:3], results.steps[1].report.frequencies_hz))
    np.testing.assert_allclose(u[1][0], u[0][0], atol=1e-7 * np.abs(u[0][0]).max())
    np.testing.assert_allclose(u[1][1], u[0][1], rtol=1e-6)


@CELLS
def test_a_spinning_plate_nutates(cell):
    """A free square plate seen from the frame that turns with it: Euler's frequency (Ip - I) Omega/I."""
    a, h, speed = 0.4, 0.02, 100.0
    model = steel(grid(lambda u, v: (a * (u - 0.5), a * (v - 0.5), 0 * u), 4, 4, cell), h)
    model.rotor("rotor", axis=(0.0, 0.0, 1.0))
    compiled = model.compile()
    rotation = rotation_of(compiled, model.rotors["rotor"], speed)
    lin = steady_rotation(compiled, compiled.system.initial_state(), rotation).seen_from("rotating")
    values = complex_modes(lin.M, lin.C, lin.K, lin.G, count=20).values
    I, Ip = (a * a + h * h) / 12, a * a / 6
    assert np.abs(values - 1j * (Ip - I) / I * speed).min() < 1e-3 * speed
    elastic = np.abs(values.imag)[np.abs(values.imag) > 3 * speed]
    assert elastic.size  # the plate is no rigid body


def plate_with_stresses(n, cell="quad"):
    """A clamped plate of n x n cells under a force at a corner, with a sensor of stresses on each cell."""
    mesh = grid(flat(1.0, 1.0), n, n, cell)
    model = steel(mesh, 0.01)
    model.fix("s:left")
    model.force("F", "s:c", (0.0, 0.0, 1.0))
    for e in range(len(mesh.blocks[0].cells)):
        model.sensor(f"s{e}", "layer stress", on="shell", element=e, at="top")
    return model


@CELLS
def test_stresses_of_slow_vibrations_are_those_of_statics(cell):
    amplitudes, static = plate_with_stresses(3, cell), plate_with_stresses(3, cell)
    amplitudes.harmonic_step([1e-4])
    static.linear_static_step()
    shaken, held = (solve(model).steps[0].series for model in (amplitudes, static))
    names = [name for name in held if name.startswith("sensor/s")]
    expected = np.array([held[name][-1] for name in names])
    found = np.array([shaken[f"response/{name[7:]}"][-1] for name in names])
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-7 * np.abs(expected).max())


def test_derivatives_of_sensors_take_as_many_evaluations_whatever_the_mesh(monkeypatch):
    """All elements that share no node are moved at once."""
    counts, calls = [], []
    moved = linearised.moved
    monkeypatch.setattr(linearised, "moved", lambda *given: (calls.append(1), moved(*given))[1])
    for n in (4, 8):
        calls.clear()
        model = plate_with_stresses(n)
        model.harmonic_step([1.0])
        solve(model)
        counts.append(len(calls))
    assert counts[0] == counts[1] > 0


@pytest.mark.parametrize("step", ["linear_static_step", "buckling_step"])
def test_loose_and_unstable_shells_are_told(step):
    """The look for motions that reduced integration leaves ended in an error of Python where a model had shells."""
    model = model_of(grid(flat(0.5, 0.5), 4, 4), E=7e10, nu=0.3, thickness=0.002)
    model.fix("s:left", ["x", "y", "z"])
    model.force("lift", "s:right", (0.0, 0.0, 1.0))
    getattr(model, step)()
    with pytest.raises(AnalysisError, match="the model is loose"):
        solve(model)

    model = model_of(grid(flat(0.5, 0.5), 8, 8), E=7e10, nu=0.3, thickness=0.002)
    support_simply(model)
    corner = model.node_of("s:#1")
    model.fix(corner, ["x", "y"])
    model.fix("s:bottom", ["y"])
    model.line_load("press", "s:right edge", (-2e4, 0.0, 0.0))  # more than twice what the plate bears
    model.line_load("press left", "s:left edge", (2e4, 0.0, 0.0))
    model.force("lift", "s:#41", (0.0, 0.0, 1.0))
    model.static_step(vary=["press", "press left"])
    getattr(model, step)(loads=["lift"])
    with pytest.raises(AnalysisError, match="unstable already"):
        solve(model)
