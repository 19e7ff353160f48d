"""Efforts for a given path: the round trip through a forward run of another model, minimum phase, and bad input."""

import numpy as np
import pytest

from fem_mbs import Model, solve
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
    report = solve(m).steps[-1].report
    assert report.minimum_phase and report.pre_action == 0.0 and report.path_errors[0] < 1e-6


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
