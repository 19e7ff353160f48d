"""The warning of too much bending in one element: which part, which element, the angle and the remedy."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, solve
from fem_mbs.meshes.mesh import Mesh

EI = 2e3


def cantilever(dim: int, degrees: float, twist: float = 0.0, **options) -> list[str]:
    """Return the warnings of four elements that a moment bends by an angle each."""
    m = Model(dim)
    m.section("s", "stiffness", EA=1e8, EI=EI, rhoA=1.0, **({"GJ": 1e3} if dim == 3 else {}))
    m.line("l", (0.0,) * dim, (1.0,) + (0.0,) * (dim - 1), n=4)
    m.beams("blade", on="l", section="s", **options)
    m.fix("l:start")
    moment = EI * np.deg2rad(degrees) * 4.0
    m.moment("M", "l:end", moment if dim == 2 else (1e3 * np.deg2rad(twist) * 4.0, 0.0, moment))
    m.static_step(increments=8)
    return [text for text in solve(m).summary["steps"][0]["warnings"] if "bending" in text]


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("strains", ["corotational", "generalised"])
def test_bent_beams_are_told_once_with_place_angle_and_remedy(dim, strains):
    assert cantilever(dim, 20.0, strains=strains) == []
    told = cantilever(dim, 34.0, strains=strains)
    assert len(told) == 1 and told[0].startswith('Beam "blade": bending of one element reached ')
    assert "degrees in element" in told[0] and told[0].endswith("take more elements there")
    angle = float(told[0].split("reached ")[1].split()[0])
    # generalised strains measure a sine and bend further
    assert angle == pytest.approx(34.0, abs=0.3) if strains == "corotational" else 34.0 < angle < 60.0


def test_twist_and_exact_beams_do_not_count():
    assert cantilever(3, 20.0, twist=40.0, strains="corotational") == []
    assert cantilever(2, 40.0) == [] and cantilever(3, 40.0) == []


def test_a_motion_that_ends_bent_tells_the_angle():
    """The end of the beam is turned slowly, by 34 degrees per element."""
    m = Model(2)
    m.section("s", "stiffness", EA=1e8, EI=EI, rhoA=1.0)
    m.line("l", (0.0, 0.0), (1.0, 0.0), n=4)
    m.beams("blade", on="l", section="s", strains="generalised", damping=1e-3)
    m.fix("l:start")
    m.motion("turn", "l:end", "rotation", f"{np.deg2rad(34.0) * 4.0} * sin(pi/2 * t)**2")
    m.transient_step(1.0, 0.02)
    told = [text for text in solve(m).summary["steps"][0]["warnings"] if "bending" in text]
    assert len(told) == 1 and told[0].startswith('Beam "blade": bending of one element reached ')
    assert float(told[0].split("reached ")[1].split()[0]) == pytest.approx(34.0, abs=0.5)  # printed as a whole number


def test_bent_shells_are_told_too():
    n, t = 3, 0.001
    told = {}
    for degrees in (20.0, 35.0):
        m = Model(3)
        m.material("e", 2e11, 0.0, density=1.0)
        x, y = (g.ravel() for g in np.meshgrid(np.linspace(0, 1, n + 1), (0.0, 0.2), indexing="ij"))
        cells = np.array([[2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1] for i in range(n)])
        m.mesh("g", Mesh(np.column_stack((x, y, 0 * x)), [("quad", cells)]), cells="all")
        m.shells("leaf", "g", "e", thickness=t)
        m.fix([0, 1])
        for i in (2 * n, 2 * n + 1):
            m.moment(f"m{i}", i, (0, -2e11 * 0.2 * t**3 / 24.0 * np.deg2rad(degrees) * n, 0))
        m.static_step(increments=10)
        told[degrees] = [text for text in solve(m).summary["steps"][0]["warnings"] if "bending" in text]
    assert told[20.0] == []
    assert len(told[35.0]) == 1 and told[35.0][0].startswith('Shell "leaf": bending of one element reached 35')


@pytest.mark.parametrize("strains", ["corotational", "generalised"])
def test_curved_beams_count_from_where_they_start(strains):
    m = Model(3)
    m.section("s", "stiffness", EA=1e8, EI=EI, GJ=1e3, rhoA=1.0)
    angles = np.deg2rad((0.0, 40.0, 80.0))
    points = np.column_stack((np.cos(angles), np.sin(angles), 0.0 * angles))
    m.mesh("bow", Mesh(points, [("line2", np.array([[0, 1], [1, 2]]))]))
    m.beams("bow", on="bow", section="s", strains=strains, curved=True)
    m.fix([0])
    m.moment("M", 2, (0.0, 0.0, 1.0))
    m.static_step(increments=2)
    assert not [text for text in solve(m).summary["steps"][0]["warnings"] if "bending" in text]


@pytest.mark.parametrize("options", [{}, {"rule": "hht"}, {"adaptive": 1e-4}], ids=["midpoint", "hht", "adaptive"])
def test_a_beam_that_is_bent_and_brought_back_is_told(options):
    """The end is turned by 34 degrees per element and back: all steps are looked at, not only the last of those that
    compiled code makes in one piece."""
    m = Model(2)
    m.section("s", "stiffness", EA=1e8, EI=EI, rhoA=1.0)
    m.line("l", (0.0, 0.0), (1.0, 0.0), n=4)
    m.beams("blade", on="l", section="s", strains="generalised", damping=1e-3)
    m.fix("l:start")
    m.motion("turn", "l:end", "rotation", f"{np.deg2rad(34.0) * 4.0} * sin(pi*t)**2")
    m.transient_step(1.0, 0.005, **options)
    (told,) = (text for text in solve(m).summary["steps"][0]["warnings"] if "bending" in text)
    assert told.startswith('Beam "blade": bending of one element reached ')
    assert float(told.split("reached ")[1].split()[0]) == pytest.approx(34.0, abs=0.5)  # printed as a whole number
    assert float(told.split("t = ")[1].split()[0].rstrip(" s;")) == pytest.approx(0.5, abs=0.02)
