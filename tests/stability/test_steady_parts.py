"""Matrices of steady rotations from the parts that speeds have in common, beside full assemblies at each speed."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model
from fem_mbs.analysis.rotors.rotating import rotation_of, steady_rotation
from fem_mbs.analysis.rotors.steady_parts import SteadyParts
from fem_mbs.solvers.stepping.layout import State

SPEEDS = (300.0, 40.0, 170.0, -900.0)
TABLE = {
    "speeds": [0.0, 100.0, 200.0],  # with kinks between the speeds that are compared
    "stiffness": [[1e7, 2e7], [4e7, 1e7], [5e6, 3e7]],
    "damping": [[1e3, 2e3], [5e2, 4e3], [3e3, 1e2]],
}
CONSTANT = {"stiffness": [1e7, 2e7], "damping": [1e3, 2e3]}


def shaft(bearing: dict, damping: float = 0.0) -> Model:
    """A shaft with a disc in two bearings; it stays where it is at every speed."""
    m = Model(3)
    m.material("steel", E=2.1e11, nu=0.3, density=7800.0)
    m.section("shaft", "circle", diameter=0.05)
    m.line("shaft", (0, 0, 0), (1.0, 0, 0), 4)
    m.beams("shaft", "shaft", "shaft", "steel", damping=damping)
    m.disc("disc", 1, 20.0, 0.3, 0.2, axis=(1, 0, 0))
    for end in ("start", "end"):
        m.bearing(end, f"shaft:{end}", axis=(1, 0, 0), **bearing)
    m.fix("shaft:start", ["x"])
    m.rotor("rotor", axis=(1, 0, 0))
    return m


def arm() -> Model:
    """A beam that turns about its end, and gets longer the faster it does."""
    m = Model(3)
    m.material("rubber", E=1e9, nu=0.3, density=2000.0)
    m.section("bar", "circle", diameter=0.05)
    m.line("arm", (0, 0, 0), (0, 0.5, 0), 3)
    m.beams("arm", "arm", "bar", "rubber")
    m.fix("arm:start", ["x", "y", "z", "rotation y", "rotation z"])
    m.rotor("rotor", axis=(1, 0, 0))
    return m


def matrices(m: Model, parts: SteadyParts | None, speed: float, state: State | None = None):
    compiled = m.compile()
    rotation = rotation_of(compiled, m.rotors["rotor"], speed)
    state = compiled.system.initial_state() if state is None else state
    lin = steady_rotation(compiled, state, rotation, parts=parts)
    return lin, {name: getattr(lin, name).toarray() for name in "MCK"}


@pytest.mark.parametrize(
    ("build", "stays"),
    [
        (lambda: shaft(CONSTANT), True),
        (lambda: shaft(TABLE), True),
        (lambda: shaft(CONSTANT, damping=1e-4), True),
        (arm, False),
    ],
    ids=["constant bearings", "tables", "damped beams", "arm that stretches"],
)
def test_same_as_full_assembly(build, stays):
    """M, C and K agree to round-off with those of a full assembly at the speed, whatever speed came first."""
    m, parts = build(), SteadyParts()
    for k, speed in enumerate(SPEEDS):
        lin, got = matrices(m, parts, speed)
        _, expected = matrices(m, None, speed)
        for name, A in expected.items():
            np.testing.assert_allclose(got[name], A, rtol=0.0, atol=1e-13 * np.abs(A).max(), err_msg=name)
        assert (lin.tangent.known is not None) == (stays and k > 0)
    assert parts.homogeneous


def test_frames_agree():
    """M X, C X and K X of a frame, without its matrices, are those by its matrices; sums of absolute values bound
    these."""
    for m in (shaft(TABLE), arm()):
        lin, _ = matrices(m, None, 300.0)
        X = np.random.default_rng(4).standard_normal((m.compile().system.n_dof, 3))
        X[-1] = 0.0
        for frame in ("fixed", "rotating"):
            seen = lin.seen_from(frame)
            for A, got, most in zip(seen.whole(), seen.products(X), seen.products(np.abs(X), True), strict=True):
                np.testing.assert_allclose(got, A @ X, rtol=0.0, atol=1e-12 * most.max())
                assert (np.abs(A) @ np.abs(X) <= most * (1.0 + 1e-12)).all()
