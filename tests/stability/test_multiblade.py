"""Multi-blade coordinates of rotors on uneven supports, against Floquet's theory, Hill's equations and closed forms."""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_periodic_rotors import SPRING, distances, eigenvalues, floquet, helicopter

from fem_mbs import Model, ModelError, reduce_part, solve

ARM_INERTIA, STATIC = 3.0 * 2.0**2, 3.0 * 2.0 * 0.3  # m a^2, m a e of `helicopter`


def lag_frequency(speed: float) -> complex:
    """Eigenvalue of one blade on a hub at rest: I p^2 + c p + k + m a e Omega^2 = 0."""
    return np.roots([ARM_INERTIA + 1e-9, 10.0, SPRING + STATIC * speed**2])[0]


@pytest.mark.parametrize(("blades", "speed"), [(3, 20.0), (4, 40.0), (5, 30.0)])
def test_the_eigenvalues_are_the_exponents_of_floquet(blades, speed):
    p, step = eigenvalues(helicopter(blades, speed, count=blades + 2))
    exact = floquet(blades, speed)
    assert step["frame"] == "multi-blade" and len(p) == blades + 2
    assert distances(p, exact, speed).max() < 1e-7
    assert p.real.max() == pytest.approx(exact.real.max(), abs=1e-7)
    for mode in step["blades"]:
        shares = [mode[k] for k in ("collective", "forward", "backward", "differential", "support")]
        assert sum(shares) == pytest.approx(1.0) and min(shares) > -1e-15


def test_a_blade_is_seen_at_its_frequency_plus_and_minus_the_speed(monkeypatch):
    """On a hub that hardly moves: collective w, backward w - Omega, forward w + Omega, of five blades two more."""
    monkeypatch.setattr("test_periodic_rotors.SUPPORT", (9e12, 4e12))
    speed = 3.0
    w = lag_frequency(speed)
    p, step = eigenvalues(helicopter(5, speed, count=5))
    named = sorted((round(v.imag - w.imag, 6), mode["name"]) for v, mode in zip(p, step["blades"], strict=True))
    # the wave of two periods runs backward in space where 2 Omega < w does not hold, and then counts as forward
    assert w.imag < 2.0 * speed
    assert named == [
        (round(2.0 * speed - 2.0 * w.imag, 6), "forward"), (-speed, "backward"), (0.0, "collective"),
        (speed, "forward"), (2.0 * speed, "forward"),
    ]  # fmt: skip
    np.testing.assert_allclose(p.real, w.real, rtol=1e-6)


def test_four_blades_have_a_differential_mode(monkeypatch):
    """A spring of its own between the disc and the air tells the collective mode from the differential one."""
    model = helicopter(4, 20.0, frame="multi-blade", count=6)
    for b in range(4):
        model.torsion_spring(f"tie {b}", f"b{b}", f"b{(b + 1) % 4}", 50.0)
    _, step = eigenvalues(model)
    names = [mode["name"] for mode in step["blades"]]
    assert names.count("collective") == 1 and names.count("differential") == 1
    # k_b = k + 4 t of the differential one, k of the collective one
    for name, stiffness in (("collective", SPRING), ("differential", SPRING + 4.0 * 50.0)):
        exact = np.roots([ARM_INERTIA + 1e-9, 10.0, stiffness + STATIC * 20.0**2])[0]
        k = names.index(name)
        assert complex(*step["eigenvalues"][k]) == pytest.approx(complex(exact), rel=1e-8)


def turbine(frame: str, speed: float = 9.0, softer: float = 1.0, count: int = 8) -> Model:
    """Three elastic blades on a nacelle with unequal springs in all directions."""
    m = Model(3)
    for b, part in enumerate((1.0, softer, 1.0)):
        m.section(f"blade {b}", "stiffness", EA=2e7, GJ=4e4, EIy=part * 6e4, EIz=2e5, rhoA=8.0, rhoI=0.02)
    m.body("nacelle", position=(0, 0, 0), mass=120.0, inertia=(40.0, 60.0, 50.0))
    for axis, k in zip("xyz", (3e5, 2e5, 5e5), strict=True):
        m.nodal_spring(f"k{axis}", "nacelle", axis, k, 40.0)
    for axis, k in zip("xyz", (9e5, 3e5, 5e5), strict=True):
        m.nodal_spring(f"r{axis}", "nacelle", f"rotation {axis}", k)
    m.body("hub", position=(0.5, 0, 0), mass=30.0, inertia=(3.0, 2.0, 2.0))
    m.joint("bearing", "revolute", "nacelle", "hub", point=(0.5, 0, 0), axis=(1, 0, 0))
    for b in range(3):
        a = 2.0 * np.pi * b / 3
        way = np.array([0.0, np.cos(a), np.sin(a)])
        hub = np.array([0.5, 0.0, 0.0])
        m.line(f"blade {b}", hub + 0.4 * way, hub + 5.0 * way, n=3)
        m.beams(f"blade {b}", on=f"blade {b}", section=f"blade {b}", orientation=(1.0, -0.2 * way[2], 0.2 * way[1]))
        m.joint(f"root {b}", "weld", "hub", f"blade {b}:start")
    m.rotor("rotor", axis=(1, 0, 0), point=(0, 0, 0), on=["hub", *(f"blade {b}" for b in range(3))])
    m.complex_modes_step(rotor="rotor", speed=speed, frame=frame, count=count)
    return m


def test_elastic_blades_on_a_nacelle_have_the_eigenvalues_of_hill():
    p, step = eigenvalues(turbine("auto"))
    q, _ = eigenvalues(turbine("periodic", count=9))
    assert step["frame"] == "multi-blade"
    assert distances(p[step["rigid_body_modes"] :], q, 9.0).max() < 1e-6
    names = {mode["name"] for mode in step["blades"]}
    assert {"collective", "forward", "backward"} <= names


def rotor_of_blades(reduced: str, frame: str, count: int, roots: bool = False) -> Model:
    """Three blades on a nacelle with unequal springs: of beams (reduced = ""), or reduced, with that stiffening;
    ``roots``: the rotor names the interfaces of the parts too."""
    m = Model(3)
    m.section("blade", "stiffness", EA=2e7, GJ=4e4, EIy=6e4, EIz=2e5, rhoA=8.0, rhoI=0.02)
    m.body("nacelle", position=(0, 0, 0), mass=120.0, inertia=(40.0, 60.0, 50.0))
    for axis, k in zip("xyz", (3e5, 2e5, 5e5), strict=True):
        m.nodal_spring(f"k{axis}", "nacelle", axis, k, 40.0)
    for axis, k in zip("xyz", (9e5, 3e5, 5e5), strict=True):
        m.nodal_spring(f"r{axis}", "nacelle", f"rotation {axis}", k)
    m.body("hub", position=(0, 0, 0), mass=30.0, inertia=(2.0, 2.0, 3.0))
    m.joint("bearing", "revolute", "nacelle", "hub", point=(0, 0, 0), axis=(0, 0, 1))
    blade = Model(3)
    blade.section("blade", "stiffness", EA=2e7, GJ=4e4, EIy=6e4, EIz=2e5, rhoA=8.0, rhoI=0.02)
    blade.line("blade", (0.4, 0, 0), (5.0, 0, 0), n=6)
    blade.beams("blade", on="blade", section="blade", orientation=(0.2, 0.0, 1.0))
    part = reduce_part(blade, {"root": "blade:start"}, modes=4, stiffening="root") if reduced else None
    on = ["hub"]
    for b in range(3):
        name, a = f"blade {b}", 2.0 * np.pi * b / 3
        way = np.array([np.cos(a), np.sin(a), 0.0])
        if reduced:
            m.reduced_part(name, part, position=(0, 0, 0), rotation=(0, 0, a), reference="root", stiffening=reduced)
            m.joint(f"root {b}", "weld", "hub", f"{name}:root")
            on += [name, f"{name}:root"] if roots else [name]
        else:
            m.line(name, 0.4 * way, 5.0 * way, n=6)
            m.beams(name, on=name, section="blade", orientation=0.2 * way + (0.0, 0.0, 1.0))
            m.joint(f"root {b}", "weld", "hub", f"{name}:start")
            on.append(name)
    m.rotor("rotor", axis=(0, 0, 1), point=(0, 0, 0), on=on)
    m.complex_modes_step(rotor="rotor", speed=9.0, frame=frame, count=count)
    return m


def test_reduced_blades_have_the_eigenvalues_of_hill_and_of_beams():
    p, step = eigenvalues(rotor_of_blades("all", "multi-blade", count=8))
    p = p[step["rigid_body_modes"] :]
    q, _ = eigenvalues(rotor_of_blades("all", "periodic", count=9))
    assert distances(p, q, 9.0).max() < 1e-6
    for mode in step["blades"]:
        assert sum(mode[k] for k in ("collective", "forward", "backward", "support")) == pytest.approx(1.0)
    beams, _ = eigenvalues(rotor_of_blades("", "multi-blade", count=8))
    assert p.imag == pytest.approx(beams.imag[1:], rel=5e-3)  # four modes of a blade
    assert not step["warnings"]


def test_reduced_parts_turn_with_their_interfaces():
    """With or without their names, in lists and by themselves."""
    nodes = [rotor_of_blades("all", "multi-blade", 8, roots).building.rotors["rotor"].nodes for roots in (False, True)]
    assert len(nodes[0]) == 7 and np.array_equal(*nodes)
    m = rotor_of_blades("all", "multi-blade", 8)
    m.rotor("one", axis=(0, 0, 1), on="blade 1")
    one = m.building.rotors["one"].nodes
    assert one.tolist() == sorted((m.node_of("blade 1"), m.node_of("blade 1:root")))


def test_blades_without_stiffening_are_told():
    _, step = eigenvalues(rotor_of_blades("none", "multi-blade", count=4))
    (told,) = [text for text in step["warnings"] if text.startswith("Reduced part")]
    ratio = float(re.search(r"its rotation is ([0-9.]+) times its lowest frequency", told)[1])
    cantilever = 3.5160 * np.sqrt(6e4 / 8.0) / 4.6**2  # EI, mass per length, length
    assert ratio == pytest.approx(9.0 / cantilever, rel=5e-3) and 'stiffening = "all"' in told


def test_unequal_blades_and_two_blades_are_told_in_one_message():
    with pytest.raises(ModelError, match=r'3 blades are not equal.*frame = "periodic"'):
        solve(turbine("auto", softer=0.9))
    with pytest.raises(ModelError, match=r'no three or more equal blades.*frame = "periodic"'):
        solve(helicopter(2, 40.0))
    with pytest.raises(ModelError, match=r'no multi-blade coordinates.*frame = "periodic"'):
        solve(helicopter(2, 40.0, frame="multi-blade"))
    with pytest.raises(ModelError, match="not constant in the multi-blade frame"):
        solve(turbine("multi-blade", softer=0.9))


def test_a_rotor_says_how_many_blades_it_has():
    def model(blades):
        m = helicopter(6, 20.0, frame="multi-blade", count=8)
        m.rotor("other", on=["disc", *(f"b{b}" for b in range(6))], blades=blades)
        m.complex_modes_step(rotor="other", speed=20.0, frame="multi-blade", count=8)
        return solve(m).summary["steps"]

    six, three = (np.array([complex(*p) for p in step["eigenvalues"]]) for step in model(3))
    # sectors of two blades: the same modes, those of two and three waves seen from another frame
    assert distances(three, six, 20.0).max() < 1e-8 and np.abs(six - three).max() > 1.0
    with pytest.raises(ModelError, match="has no counterpart a 4th of a turn"):
        model(4)
    with pytest.raises(ModelError, match="blades = 2 must be 3 or more"):
        model(2)


def test_campbell_diagram_over_an_instability():
    """Branches in multi-blade coordinates at speeds with Floquet's exponents; frequencies in space, named."""
    m = helicopter(3, 20.0)
    m.campbell_step("rotor", np.linspace(5.0, 60.0, 12), count=5)
    step = solve(m).summary["steps"][-1]
    assert step["frame"] == "multi-blade" and not step["warnings"]
    values = np.array([[complex(*p) for p in b["eigenvalues"]] for b in step["branches"]])
    for k in (0, 5, 9):
        speed = step["speeds"][k]
        assert distances(values[:, k], floquet(3, speed), speed).max() < 1e-6
        # each mode once
        assert len(np.unique(np.round(values[:, k], 6))) == 5
    assert step["stable"][4] and not step["stable"][9]
    lag = np.array([lag_frequency(speed) for speed in step["speeds"]])
    collective = next(b for b in step["branches"] if set(b["whirl"]) == {"collective"})
    np.testing.assert_allclose([complex(*p) for p in collective["eigenvalues"]], lag, rtol=1e-7)


def test_motions_of_four_blades_that_are_equal_at_all_speeds():
    """The collective and the differential motion of four blades have one eigenvalue at all speeds; both are followed,
    and no interval is halved for them."""
    m = helicopter(4, 20.0, frame="multi-blade")
    speeds = np.linspace(10.0, 30.0, 6)
    m.campbell_step("rotor", speeds, count=6, frame="multi-blade")
    step = solve(m).summary["steps"][-1]
    assert step["warnings"] == []
    values = np.array([[complex(*p) for p in b["eigenvalues"]] for b in step["branches"]])
    lag = np.array([lag_frequency(speed) for speed in speeds])
    equal = np.abs(values - lag).max(axis=1) < 1e-7 * np.abs(lag).max()
    assert equal.sum() == 2


def test_campbell_diagram_of_two_blades_by_harmonics():
    m = helicopter(2, 20.0, frame="periodic", harmonics=5)
    m.campbell_step("rotor", [38.0, 40.0], count=4, frame="periodic", harmonics=5, orders=[2.0])
    step = solve(m).summary["steps"][-1]
    assert step["frame"] == "periodic" and step["harmonics"] == 5 and not step["warnings"]
    values = np.array([[complex(*p) for p in b["eigenvalues"]] for b in step["branches"]])
    for k, speed in enumerate(step["speeds"]):
        assert distances(values[:, k], floquet(2, speed), speed).max() < 1e-6
    with pytest.raises(ModelError, match="begin at 0 rad/s"):
        m = helicopter(2, 20.0, frame="periodic")
        m.campbell_step("rotor", [0.0, 10.0], frame="periodic")
        solve(m)
    with pytest.raises(ModelError, match='harmonics = 3 belongs to frame = "periodic"'):
        m = helicopter(3, 20.0)
        m.campbell_step("rotor", [5.0, 10.0], harmonics=3)
        solve(m)


def test_too_few_harmonics_of_a_diagram_are_said():
    m = helicopter(2, 20.0, frame="periodic", harmonics=5)
    m.campbell_step("rotor", [12.0, 14.0], count=4, frame="periodic", harmonics=1)
    assert any("give more harmonics" in w for w in solve(m).summary["steps"][-1]["warnings"])
