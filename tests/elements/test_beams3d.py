"""Spatial beams as a user has them: statics against theory, conservation, frames that mix all kinds, patch test."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from fem_mbs import AnalysisError, Mesh, Model, solve, tangent_check
from fem_mbs.meshes.mesh import CellBlock
from fem_mbs.validation.case import constancy, energy_error

STRAINS = ("exact", "generalised", "corotational")
EA, GA, GJ, EIY, EIZ = 3e4, 8e3, 40.0, 30.0, 50.0


def section(model: Model, mass: float = 1.0) -> None:
    model.section(
        "beam", "stiffness", EA=EA, GA=GA, GJ=GJ, EIy=EIY, EIz=EIZ, rhoA=mass, rhoIy=2e-3 * mass, rhoIz=3e-3 * mass
    )


def cantilever(strains: str, n: int = 1, turn: Rotation | None = None, length: float = 2.0, **options) -> Model:
    Q = np.eye(3) if turn is None else turn.as_matrix()
    model = Model(3)
    section(model, 0.0)
    model.line("beam", (0.0, 0.0, 0.0), Q @ (length, 0.0, 0.0), n)
    model.beams("beam", "beam", "beam", strains=strains, orientation=Q @ (0.0, 1.0, 0.0), **options)
    model.fix("beam:start")
    model.sensor("tip", "displacement", on="beam:end")
    model.sensor("turn", "rotation", on="beam:end")
    return model


# --- linear statics: exact at the nodes ------------------------------------------------------------------------------
@pytest.mark.parametrize("strains", STRAINS)
@pytest.mark.parametrize("n", [1, 3])
def test_tip_loads_of_a_cantilever(strains, n):
    """Timoshenko's cantilever, small loads: exact for any number of elements."""
    length, small = 2.0, 1e-6
    for k, expected in (
        (0, length / EA),
        (1, length**3 / (3 * EIZ) + length / GA),
        (2, length**3 / (3 * EIY) + length / GA),
    ):
        model = cantilever(strains, n)
        model.force("load", "beam:end", small * np.eye(3)[k])
        model.static_step()
        assert solve(model).steps[-1].series["sensor/tip"][-1, k] == pytest.approx(small * expected, rel=1e-8)
    for k, expected in ((0, length / GJ), (1, length / EIY), (2, length / EIZ)):
        model = cantilever(strains, n)
        model.moment("load", "beam:end", small * np.eye(3)[k])
        model.static_step()
        frames = solve(model).steps[0].frames["rotation"]
        assert frames[-1, -1, k] == pytest.approx(small * expected, rel=1e-8)


@pytest.mark.parametrize("strains", STRAINS)
def test_large_statics_do_not_depend_on_the_frame(strains):
    turn = Rotation.random(random_state=3)
    tips = []
    for q in (None, turn):
        model = cantilever(strains, 4, q)
        Q = np.eye(3) if q is None else q.as_matrix()
        model.force("load", "beam:end", Q @ (3.0, 20.0, 15.0))
        model.moment("twist", "beam:end", Q @ (8.0, 0.0, 0.0))
        model.static_step(increments=4)
        tips.append(solve(model).steps[-1].series["sensor/tip"][-1])
    assert np.abs(turn.apply(tips[0]) - tips[1]).max() < 1e-10 * np.abs(tips[0]).max()


@pytest.mark.parametrize("strains", STRAINS)
def test_patch_of_uneven_elements(strains):
    """Constant strains of all kinds in an uneven, kinked-numbered line: N, T, My, Mz are the same in every element."""
    x = np.array([0.0, 0.13, 0.55, 0.7, 1.21, 2.0])
    order = [0, 3, 1, 4, 2, 5]  # nodes numbered out of order
    points = np.zeros((6, 3))
    points[order, 0] = x
    cells = np.array([[order[i], order[i + 1]] for i in range(5)])
    cells[2] = cells[2, ::-1]  # one element the other way round
    model = Model(3)
    section(model, 0.0)
    model.mesh("patch", Mesh(points, [CellBlock("line2", cells)], {"start": [order[0]], "end": [order[-1]]}))
    model.beams("patch", "patch", "beam", strains=strains, orientation=(0.0, 1.0, 0.0))
    model.fix("patch:start")
    small = 1e-6
    model.force("pull", "patch:end", (2.0 * small, 0.0, 0.0))
    model.moment("turn", "patch:end", (3.0 * small, -1.0 * small, 1.5 * small))
    model.static_step()
    frames = solve(model).steps[0].frames
    assert frames["patch/N [N]"][-1] == pytest.approx(2.0 * small, rel=2e-5)
    assert frames["patch/T [N m]"][-1] == pytest.approx(3.0 * small, rel=2e-5)
    for end in "12":
        assert np.abs(frames[f"patch/My {end} [N m]"][-1]) == pytest.approx(small, rel=2e-5)
        assert np.abs(frames[f"patch/Mz {end} [N m]"][-1]) == pytest.approx(1.5 * small, rel=2e-5)
    assert (np.sign(frames["patch/Mz 1 [N m]"][-1]) * np.sign(frames["patch/Mz 2 [N m]"][-1]) > 0).all()


# --- transients ------------------------------------------------------------------------------------------------------
def frame(strains=STRAINS, mass: str = "hermite", h: float = 0.05, duration: float = 10.0):
    """A free frame of three legs that meet in one node, with different elements, and a body on one tip."""
    model = Model(3)
    section(model)
    for i, tip in enumerate(((1.0, 0.2, 0.0), (-0.3, 1.1, 0.1), (0.2, -0.1, 1.2))):
        model.line(f"leg {i}", (0.0, 0.0, 0.0), tip, 2)
        kind = strains[i]
        model.beams(f"leg {i}", f"leg {i}", "beam", strains=kind, orientation=(0.3, 0.2, 1.0)[::-1], mass=mass)
        if i:
            model.joint(f"corner {i}", "weld", "leg 0:start", f"leg {i}:start")
    model.body("body", (1.2, 0.2, 0.1), mass=0.5, inertia=(0.02, 0.03, 0.04))
    model.joint("bond", "weld", "leg 0:end", "body", point=(1.0, 0.2, 0.0))
    model.initial("all", velocity=("0.3*y", "-0.2*z", "0.5*x"), spin=(0.5, 1.0, -0.7), centre=(0.1, 0.1, 0.2))
    model.transient_step(duration, h, frames=0)
    return model


@pytest.mark.parametrize("mass", ["hermite", "consistent", "lumped"])
def test_frames_of_all_beams_conserve(mass):
    step = solve(frame(mass=mass)).steps[0]
    assert step.summary["halved_steps"] == 0
    assert energy_error(step, constant=True) < 1e-11
    assert constancy(step, "linear momentum") < 1e-11
    assert constancy(step, "angular momentum") < 1e-11


def test_tangent_of_a_step():
    assert tangent_check(frame(), h=0.05, size=0.1).error < 1e-8


def test_effort_of_a_step():
    """Newton-Raphson needs few iterations at a rotation of a tenth of a radian per step."""
    step = solve(frame(h=0.05)).steps[0]
    assert step.summary["iterations"] < 9 * step.summary["n_steps"]


@pytest.mark.parametrize("strains", STRAINS)
def test_second_order_in_time(strains):
    def tip(h):
        model = Model(3)
        section(model)
        model.line("beam", (0.0, 0.0, 0.0), (2.0, 0.0, 0.0), 3)
        model.beams("beam", "beam", "beam", strains=strains, orientation=(0.0, 1.0, 0.0))
        model.fix("beam:start")
        model.force("load", "beam:end", (0.0, 4.0, 3.0), function="sin(3*t)**2")
        model.sensor("tip", "displacement", on="beam:end")
        model.transient_step(0.5, h, frames=0)
        return solve(model).steps[-1].series["sensor/tip"][-1]

    x = [tip(h) for h in (0.004, 0.002, 0.001)]
    order = np.log2(np.linalg.norm(x[0] - x[1]) / np.linalg.norm(x[1] - x[2]))
    assert order == pytest.approx(2.0, abs=0.15)
    assert np.linalg.norm(x[1] - x[2]) < 2e-3 * np.linalg.norm(x[2])


# --- fixed strains, offsets ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("strains", STRAINS)
def test_forces_of_fixed_strains_are_those_of_the_loads(strains):
    """A cantilever along x, pulled and twisted at its tip: the multipliers hold what the strains cannot."""
    model = Model(3)
    model.section("s", "circle", diameter=0.05)
    model.material("steel", E=2e11, nu=0.3, density=7850.0)
    model.line("beam", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 2)
    model.beams("beam", "beam", "s", material="steel", strains=strains, fixed=["extension", "torsion"])
    model.fix("beam:start")
    model.force("pull", "beam:end", (300.0, 0.0, 0.0))
    model.moment("twist", "beam:end", (20.0, 0.0, 0.0))
    for name in ("N", "T"):
        model.sensor(name, "element", on="beam", quantity=name)
    model.static_step()
    solution = solve(model)
    assert solution.sensor("N").values[-1, 0] == pytest.approx(300.0, rel=1e-9)
    assert solution.sensor("T").values[-1, 0] == pytest.approx(20.0, rel=1e-9)


@pytest.mark.parametrize("strains", STRAINS)
@pytest.mark.parametrize("fixed", [["extension"], ["torsion"], ["extension", "torsion", "bending y"], ["all"]])
def test_fixed_strains_conserve(strains, fixed):
    model = Model(3)
    section(model)
    model.line("beam", (0.0, 0.0, 0.0), (2.0, 0.0, 0.0), 3)
    model.beams("beam", "beam", "beam", strains=strains, orientation=(0.0, 1.0, 0.0), fixed=fixed)
    model.initial("all", velocity=("0", "0.3*x", "0.2 - 0.1*x"), spin=(0.4, 0.2, 0.3), centre=(0.5, 0.0, 0.0))
    model.sensor("length", "distance", a="beam:start", b="beam:end")
    model.transient_step(5.0, 0.02, frames=0)
    step = solve(model).steps[0]
    assert energy_error(step, constant=True) < 1e-11
    assert constancy(step, "angular momentum") < 1e-11


def test_offset_is_a_rigid_arm():
    """A beam on eccentric ends is the beam between the ends with rigid arms."""
    tips = []
    for arms in (False, True):
        model = Model(3)
        section(model, 0.0)
        low = np.array([0.0, 0.0, -0.3])
        up = np.zeros(3) if arms else low
        model.line("beam", up, up + (2.0, 0.0, 0.0), 2)
        options = {"offset": (0.0, 0.0, -0.3)} if arms else {}
        model.beams("beam", "beam", "beam", orientation=(0.0, 1.0, 0.0), **options)
        model.fix("beam:start")
        model.body("plate", (2.0, 0.0, 0.0), mass=0.0, inertia=(0.0, 0.0, 0.0))
        model.joint("bond", "weld", "beam:end", "plate", point=(2.0, 0.0, 0.0))
        model.force("load", "plate", (0.5, 4.0, 7.0))
        model.sensor("tip", "displacement", on="plate")
        model.static_step(increments=2)
        tips.append(solve(model).steps[-1].series["sensor/tip"][-1])
    assert np.abs(tips[0] - tips[1]).max() < 1e-9


# --- damping ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("damping", [{"damping": 1e-3}, {"mass_damping": 0.8}])
def test_damping_closes_the_ledger(damping):
    model = Model(3)
    section(model)
    model.line("beam", (0.0, 0.0, 0.0), (2.0, 0.0, 0.0), 3)
    model.beams("beam", "beam", "beam", orientation=(0.0, 1.0, 0.0), **damping)
    model.fix("beam:start")
    model.initial("beam", velocity=("0", "0.5*x", "0.2*x"))
    model.transient_step(4.0, 0.01, frames=0)
    step = solve(model).steps[0]
    assert energy_error(step) < 1e-12
    lost = step.ledger("dissipated")
    assert (np.diff(lost) >= -1e-15).all()
    assert lost[-1] > 0.1 * step.ledger("kinetic")[0]


# --- limits ----------------------------------------------------------------------------------------------------------
def test_twist_warns_and_stops():
    """Generalised strains measure the sine of the twist: a warning from 0.3 rad, an error at a quarter turn."""

    def twisted(moment, strains="generalised"):
        model = Model(3)
        # stiff in bending, so that the torque does not buckle it
        model.section("shaft", "stiffness", EA=EA, GA=np.inf, GJ=GJ, EI=1e4, rhoA=0.0, rhoI=0.0)
        model.line("beam", (0.0, 0.0, 0.0), (2.0, 0.0, 0.0), 2)
        model.beams("beam", "beam", "shaft", strains=strains)
        model.fix("beam:start")
        model.moment("twist", "beam:end", (moment, 0.0, 0.0))
        model.static_step(increments=10)
        return solve(model)

    quiet = twisted(0.2 * GJ)
    assert not quiet.steps[0].summary["warnings"]
    loud = twisted(0.4 * GJ)  # the torque of a sine has its largest value, GJ/2 per length, at 45 degrees
    assert "twist" in loud.steps[0].summary["warnings"][0]
    with pytest.raises(AnalysisError):
        twisted(3.0 * GJ)
    angle = twisted(2.0 * GJ, "corotational").steps[0].frames["rotation"][-1, -1]
    assert (
        np.linalg.norm(Rotation.from_rotvec(angle).as_matrix() - Rotation.from_rotvec([4.0, 0, 0]).as_matrix()) < 1e-9
    )
