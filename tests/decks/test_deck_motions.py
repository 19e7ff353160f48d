"""Supports that move by velocities and accelerations, explicit steps and kinds of DYNAMIC, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from deck_text import prints, run
from scipy.integrate import solve_ivp
from scipy.interpolate import PPoly

from fem_mbs.decks.abaqus.run import convert
from fem_mbs.decks.abaqus.time import Reached
from fem_mbs.errors import UnsupportedError
from fem_mbs.meshes.abaqus.reader import read_deck
from fem_mbs.meshes.vocabulary import Effect

MASS, SPRING, DAMPER = 2.0, 50.0, 3.0


def oscillator(steps, law="", extra=""):
    """A truss of stiffness SPRING along x from node 1 to 2 with a MASS at node 2, which moves along x only."""
    return (
        "*NODE\n1, 0., 0., 0.\n2, 1., 0., 0.\n*NSET, NSET=BASE\n1\n*NSET, NSET=TIP\n2\n"
        "*ELEMENT, TYPE=T3D2, ELSET=T\n1, 1, 2\n*SOLID SECTION, ELSET=T, MATERIAL=M\n1.\n"
        f"*MATERIAL, NAME=M\n*ELASTIC\n{SPRING}, 0.\n*DENSITY\n1e-9\n"
        f"*ELEMENT, TYPE=MASS, ELSET=P\n2, 2\n*MASS, ELSET=P\n{MASS}\n{law}"
        f"*BOUNDARY\n1, 2, 3\n2, 2, 3\n{extra}{steps}"
    )


def test_places_from_velocities_and_accelerations():
    rng = np.random.default_rng(3)
    t, value = np.sort(rng.random(6)) * 3.0, rng.standard_normal(6)
    x = np.linspace(t[0], t[-1], 50, endpoint=False)
    rate = PPoly(np.array([np.diff(value) / np.diff(t), value[:-1]]), t)
    once, twice = rate.antiderivative(1), rate.antiderivative(2)
    expected = {
        1: (0.7 + once(x), rate(x), rate.derivative()(x)),
        2: (0.7 - 0.3 * (x - t[0]) + twice(x), once(x) - 0.3, rate(x)),
    }
    for order, found in expected.items():
        assert np.allclose(Reached(t, value, order, 0.7, -0.3).jet(x), found, atol=1e-13)


@pytest.mark.parametrize("kind", ["VELOCITY", "ACCELERATION"])
def test_supports_that_are_driven(tmp_path, kind):
    """A base whose velocity or acceleration follows a table, on an oscillator, against an integration in time."""
    steps = (
        "*STEP\n*DYNAMIC, DIRECT, ALPHA=0.\n.002, 1.\n"
        f"*BOUNDARY, TYPE={kind}, AMPLITUDE=A\n1, 1, 1, 3.\n*NODE PRINT, NSET=TIP, FREQUENCY=100\nU\n*END STEP\n"
    )
    table = np.array([[0.0, 0.0], [0.3, 1.0], [0.6, -0.5], [1.0, 0.25]])
    amplitude = "*AMPLITUDE, NAME=A\n" + "\n".join(f"{t}, {v}" for t, v in table) + "\n"
    _, (done,) = run(tmp_path / "driven.inp", oscillator(steps, extra=amplitude))
    place = PPoly(np.array([np.diff(table[:, 1]) / np.diff(table[:, 0]), 3.0 * table[:-1, 1]]) * [[3.0], [1.0]],
                  table[:, 0]).antiderivative(1 if kind == "VELOCITY" else 2)  # fmt: skip
    found = solve_ivp(
        lambda t, y: [y[1], SPRING / MASS * (place(t) - y[0])], (0.0, 1.0), [0.0, 0.0], rtol=1e-10, atol=1e-12,
        t_eval=np.arange(1, 6) * 0.2, max_step=0.01,
    )  # fmt: skip
    tables = [np.array(t["values"])[0, 0] for t in done["prints"] if t["quantity"] == "U"]
    assert np.allclose(tables, found.y[0], atol=2e-4 * np.abs(found.y[0]).max())


def test_a_velocity_goes_on_in_the_next_step(tmp_path):
    """Without an amplitude it acts at once and stays; a zero velocity then holds the place that is reached."""
    one = "*STEP\n*STATIC\n1., {duration}\n{rest}*NODE PRINT, NSET=TIP\nU\n*END STEP\n"
    steps = one.format(duration=1.0, rest="*BOUNDARY, TYPE=VELOCITY\n1, 1, 1, .2\n")
    steps += one.format(duration=3.0, rest="")
    steps += one.format(duration=2.0, rest="*BOUNDARY, TYPE=VELOCITY\n1, 1, 1, 0.\n")
    _, done = run(tmp_path / "steps.inp", oscillator(steps))
    assert np.allclose([prints(d, "U")[1][0, 0] for d in done], [0.2, 0.8, 0.8], rtol=1e-12)


def test_velocities_with_waves_are_refused(tmp_path):
    steps = "*STEP\n*STATIC\n*BOUNDARY, TYPE=VELOCITY, AMPLITUDE=A\n1, 1, 1, .2\n*END STEP\n"
    extra = "*AMPLITUDE, NAME=A, DEFINITION=SMOOTH STEP\n0., 0., 1., 1.\n"
    (tmp_path / "wave.inp").write_text(oscillator(steps, extra=extra))
    with pytest.raises(UnsupportedError, match="amplitude DEFINITION=SMOOTH STEP"):
        convert(read_deck(tmp_path / "wave.inp"))


def test_dashpots_to_ground(tmp_path):
    """A free mass with a dashpot and a spring to ground decays as in closed form."""
    law = (
        f"*ELEMENT, TYPE=DASHPOT1, ELSET=D\n3, 2\n*DASHPOT, ELSET=D\n1\n{DAMPER}\n"
        "*INITIAL CONDITIONS, TYPE=VELOCITY\n2, 1, 1.\n"
    )
    steps = (
        "*STEP\n*DYNAMIC, DIRECT, ALPHA=0.\n.002, .4\n*BOUNDARY\n1, 1\n*NODE PRINT, NSET=TIP, FREQUENCY=200\nU\n"
        "*END STEP\n"
    )
    _, (done,) = run(tmp_path / "damped.inp", oscillator(steps, law))
    decay = DAMPER / (2.0 * MASS)
    omega = np.sqrt(SPRING / MASS - decay**2)
    assert prints(done, "U")[1][0, 0] == pytest.approx(np.exp(-decay * 0.4) * np.sin(omega * 0.4) / omega, rel=1e-4)


def test_explicit_steps_without_increments(tmp_path):
    """Time steps follow from waves across the elements; the tip of the oscillator is that of closed form."""
    steps = (
        "*STEP, NLGEOM=NO\n*DYNAMIC, EXPLICIT\n, .9\n*BULK VISCOSITY\n.06, 1.2\n*BOUNDARY\n1, 1\n*CLOAD\n2, 1, 5.\n"
        "*NODE PRINT, NSET=TIP\nU\n*END STEP\n"
    )
    converted, (done,) = run(tmp_path / "explicit.inp", oscillator(steps))
    told = [n for n in converted.notes if "implicit time steps" in n.text]
    assert told and told[0].effect is Effect.DIFFERS and "5000" in told[0].text
    omega = np.sqrt(SPRING / MASS)
    tip = np.array([t["values"] for t in done["prints"] if t["time"] == pytest.approx(0.9)])[-1, 0, 0]
    assert tip == pytest.approx(5.0 / SPRING * (1.0 - np.cos(omega * 0.9)), rel=1e-3)


@pytest.mark.parametrize("kind", ["MODERATE DISSIPATION", "QUASI-STATIC"])
def test_applications_of_dynamic(tmp_path, kind):
    """HHT with most damping, with a warning; loads rise over a quasi-static step."""
    steps = f"*STEP\n*DYNAMIC, APPLICATION={kind}, INITIAL=NO\n.1, 1.\n*BOUNDARY\n1, 1\n*CLOAD\n2, 1, 5.\n*END STEP\n"
    (tmp_path / "calm.inp").write_text(oscillator(steps))
    converted = convert(read_deck(tmp_path / "calm.inp"))
    assert any("APPLICATION" in n.text and n.effect is Effect.DIFFERS for n in converted.notes)
    assert converted.deck.steps[0].alpha == -1.0 / 3.0
    assert converted.deck.steps[0].amplitude == ("RAMP" if kind == "QUASI-STATIC" else "STEP")
