"""Efforts for a given path: the round trip through a forward run of another model, minimum phase, and bad input."""

import shutil

import numpy as np
import pytest

from fem_mbs import Model, reduce_part, run, solve
from fem_mbs.errors import ModelError

T, H = 0.25, 2.5e-3
PATH = f"0.01*(t/{T}-sin(2*pi*t/{T})/(2*pi))"


def link(function=None) -> Model:
    """A slender link with a mass at its tip and a torque at its hub."""
    m = Model(2, "link")
    m.section("link", "stiffness", EA=4e6, EI=33.3333, rhoA=0.2715, rhoI=0.0)
    m.line("link", (0.0, 0.0), (1.0, 0.0), 2)
    m.beams("link", "link", "link")
    m.joint("hub", "revolute", "ground", "link:start", point=(0.0, 0.0), function=function)
    m.point_mass("tip", "link:end", 0.1)
    m.sensor("tip", "displacement", on="link:end")
    m.sensor("turn", "rotation", on="link:start")
    return m


def test_forward_run_of_the_efforts_follows_the_path():
    m = link()
    m.inverse_path_step(T, H, outputs={"tip.y": PATH}, efforts=["hub"])
    found = solve(m)
    report = found.steps[-1].report
    assert not report.minimum_phase and report.growing_zeros > 0
    # closed form: 2 g^2 sqrt(EI/rho A)/L^2, tan g = -tanh g; two elements are 0.7 % off
    assert report.slowest_growing_zero == pytest.approx(123.9522, rel=1e-2)
    drives = found.drives()
    before = drives.t < report.path_start - 1e-9
    assert np.abs(drives.values[before]).max() > 0.05 * np.abs(drives.values).max()
    assert max(report.left_at_ends) < 1e-2
    forward = link()
    table = {"kind": "spline", "times": drives.t, "values": drives.values[:, 0]}
    forward.motor("torque", joint="hub", force=table)
    forward.transient_step(report.t_end, H)
    tip = solve(forward).steps[-1].series["sensor/tip"][:, 1]
    s = np.clip(drives.t - report.path_start, 0.0, T)
    path = 0.01 * (s / T - np.sin(2.0 * np.pi * s / T) / (2.0 * np.pi))
    assert np.abs(tip - path).max() < 1e-6  # tolerance 1e-4 of 0.01 m
    assert np.abs(tip - path).max() == pytest.approx(report.path_errors[0], rel=1e-3)


def test_collocated_output_is_minimum_phase():
    m = link()
    m.inverse_path_step(T, H, outputs={"turn": PATH}, efforts=["hub"])
    found = solve(m)
    report = found.steps[-1].report
    assert report.minimum_phase and report.pre_action == 0.0 and report.path_errors[0] < 1e-6
    # the causal solution: a driver of the joint that has the output; drives are in the middle of steps
    driven = link(function=f"({PATH})*(t < {T}) + 0.01*(t >= {T})")
    driven.inverse_step(T, H)
    causal = solve(driven).drives()
    size = np.abs(causal.values).max()
    efforts = found.drives()
    inside = (causal.t > 0.1 * T) & (causal.t < 0.9 * T)
    off = np.interp(causal.t, efforts.t, efforts.values[:, 0]) - causal.values[:, 0]
    assert np.abs(off[inside]).max() < 2e-2 * size


def test_spatial_arm_round_trip():
    """Three joints move the tip of a flexible forearm along a line in space; the efforts repeat it in another model."""

    def arm() -> Model:
        m = Model(3, "arm")
        m.section("forearm", "stiffness", EA=4e5, GA=1e5, GJ=50.0, EI=60.0, rhoA=0.3, rhoI=1e-5)
        m.body("post", (0.0, 0.0, 0.2), 2.0, (0.05, 0.05, 0.03))
        m.body("upper", (0.25, 0.0, 0.5), 1.0, (0.01, 0.03, 0.03))
        m.line("forearm", (0.5, 0.0, 0.6), (0.9, 0.1, 0.4), 2)
        m.beams("forearm", "forearm", "forearm", damping=1e-3)
        m.joint("yaw", "revolute", "ground", "post", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
        m.joint("pitch", "revolute", "post", "upper", point=(0.0, 0.0, 0.4), axis=(0.0, 1.0, 0.0))
        m.joint("elbow", "revolute", "upper", "forearm:start", point=(0.5, 0.0, 0.6), axis=(0.0, 1.0, 0.0))
        m.body("load", (0.9, 0.1, 0.4), 0.5, (1e-3, 1e-3, 1e-3))
        m.joint("grip", "weld", "forearm:end", "load")
        m.sensor("tip", "position", on="forearm:end")
        return m

    way, duration, h = np.array([-0.15, 0.2, 0.1]), 0.5, 5e-3
    m = arm()
    m.inverse_path_step(
        duration, h, efforts=["yaw", "pitch", "elbow"], frames=0,
        outputs={
            f"tip.{c}": f"{a}*(t/{duration}-sin(2*pi*t/{duration})/(2*pi))" for c, a in zip("xyz", way, strict=True)
        },
    )  # fmt: skip
    found = solve(m)
    report, drives = found.steps[-1].report, found.drives()
    forward = arm()
    for k, name in enumerate(("yaw", "pitch", "elbow")):
        table = {"kind": "spline", "times": drives.t, "values": drives.values[:, k]}
        forward.motor(f"torque {name}", joint=name, force=table)
    forward.transient_step(report.t_end, h, frames=0)
    assert np.abs(report.path_errors).max() < 1e-4 * np.linalg.norm(way)
    tip = solve(forward).steps[-1].series["sensor/tip"]
    s = np.clip((drives.t - report.path_start) / duration, 0.0, 1.0)
    path = tip[0] + (s - np.sin(2.0 * np.pi * s) / (2.0 * np.pi))[:, None] * way
    assert np.abs(tip - path).max() < 1.01 * np.abs(report.path_errors).max() + 1e-8


def test_same_bits_from_a_restart_point(tmp_path):
    def model() -> Model:
        m = link()
        m.inverse_path_step(T, H, outputs={"tip.y": PATH}, efforts=["hub"], frames=5, restarts=3)
        return m

    whole = run(model(), tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "copy")
    again = run(model(), tmp_path / "copy", restart=0)
    assert again.complete
    for name, values in whole.steps[-1].series.items():
        assert np.array_equal(values, again.steps[-1].series[name], equal_nan=True), name


def test_reduced_part():
    """The link as a reduced part in space, against the frequency integral of the validation case of the link."""
    free = Model(3)
    free.section("link", "stiffness", EA=4e6, GA=1e6, GJ=30.0, EI=33.3333, rhoA=0.2715, rhoI=1e-5)
    free.line("link", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 4)
    free.beams("link", "link", "link", damping=1e-4)
    m = Model(3)
    m.reduced_part("arm", reduce_part(free, {"hub": "link:start", "tip": "link:end"}, modes=3))
    m.joint("hub", "revolute", "ground", "arm:hub", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    m.point_mass("load", "arm:tip", 0.1)
    m.sensor("tip", "position", on="arm:tip")
    m.inverse_path_step(T, H, outputs={"tip.y": PATH}, efforts=["hub"], frames=0)
    found = solve(m)
    assert not found.steps[-1].report.minimum_phase
    assert 50.0 * np.abs(found.drives().values).max() == pytest.approx(8.80119, rel=1e-3)


def test_prismatic_effort():
    """A carriage on a slope: m a + m g sin(slope), in closed form."""
    slope, mass, duration, h = 0.3, 2.0, 1.0, 0.01
    axis = (np.cos(slope), np.sin(slope))
    m = Model(2, gravity=(0.0, -9.81))
    m.body("carriage", (0.0, 0.0), mass, 0.1)
    m.joint("rail", "prismatic", "ground", "carriage", point=(0.0, 0.0), axis=axis)
    m.sensor("place", "position", on="carriage")
    m.inverse_path_step(duration, h, outputs={"place.x": "0.2*(t-sin(2*pi*t)/(2*pi))"}, efforts=["rail"])
    found = solve(m)
    assert found.steps[-1].report.minimum_phase
    drives = found.drives()
    force = mass * (0.4 * np.pi * np.sin(2.0 * np.pi * drives.t) / axis[0] + 9.81 * axis[1])
    assert np.abs(drives.values[:, 0] - force).max() < 5e-3 * np.abs(force).max()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"efforts": ["hip"]}, 'no joint "hip"'),
        ({"outputs": {"tip.x": PATH, "tip.y": PATH}}, "1 efforts (hub) cannot move 2 outputs"),
        ({"outputs": {"tip.z": PATH}}, 'no column "tip.z"'),
        ({"outputs": {"tip.y": "0.1*t"}}, "the velocity of \"tip.y\" jumps by 0.1"),
        ({"outputs": {"tip.y": "1+0*t"}}, "counts from there"),
        ({"outputs": {"tip.y": "0*t"}}, "nothing moves"),
        ({"outputs": {"tip.y": f"400*{PATH}"}}, "the path cannot be followed"),
        ({"before": 0.0}, "the window is too short"),
    ],
)  # fmt: skip
def test_bad_input_ends_in_one_error(options, text):
    with pytest.raises(ModelError) as caught:
        m = link()
        m.inverse_path_step(T, H, **{"outputs": {"tip.y": PATH}, "efforts": ["hub"], **options})
        solve(m)
    assert text in str(caught.value)


def test_driven_joint_is_refused():
    m = link(function="0*t")
    with pytest.raises(ModelError, match="is driven"):
        m.inverse_path_step(T, H, outputs={"tip.y": PATH}, efforts=["hub"])
