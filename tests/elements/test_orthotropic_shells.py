"""Orthotropic cylinders under pressure and torsion against laminate theory: strains are those of N by the inverse of
the membrane stiffness, whose axes are turned by the angle of the fibres to the axis of the cylinder."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Mesh, Model, solve
from fem_mbs.validation.shell_grids import square

R, LENGTH, H = 1.0, 2.0, 0.005
E1, E2, G, NU = 100e9, 10e9, 5e9, 0.3


def cylinder(n, cell):
    """A cylinder of n cells around and n/2 along z whose seam is closed, with sets of single nodes."""
    flat = square(lambda u, v: (R * np.cos(2 * np.pi * u), R * np.sin(2 * np.pi * u), LENGTH * v), n, n // 2, cell)
    _, first, number = np.unique(np.round(flat.points, 9), axis=0, return_index=True, return_inverse=True)
    number = number.ravel()
    x = flat.points[first]
    sets = {name: np.unique(number[flat.node_sets[name]]) for name in ("bottom", "top")}
    sets |= {f"{name} {i}": np.array([i]) for name in ("bottom", "top") for i in sets[name]}
    blocks = [(block.kind, number[block.cells]) for block in flat.blocks]
    body = {"body": [(0, np.arange(len(blocks[0][1])))]}
    return Mesh(x, blocks, node_sets=sets, cell_sets=body), x, sets


def strains(n, cell, load, angle, by_layers=False):
    """The mean axial, circumferential and shear strain of the middle half."""
    mesh, x, sets = cylinder(n, cell)
    turn = np.arctan2(x[:, 1], x[:, 0])
    model = Model(3)
    model.solid_material("ply", E=[E1, E2, E2], nu=[NU, NU, NU], G=[G, G, G], density=0.0)
    model.mesh("s", mesh)
    if by_layers:  # about the normal, which points outwards
        layers = [{"material": "ply", "thickness": H, "angle": -np.degrees(angle)}]
        model.shells("shell", on="s", layers=layers, orientation=(0.0, 0.0, 1.0))
    else:
        c, s = np.cos(angle), np.sin(angle)
        around = (f"{-s}*y/sqrt(x*x + y*y)", f"{s}*x/sqrt(x*x + y*y)", f"{c}")
        model.shells("shell", on="s", material="ply", thickness=H, orientation=around)
    model.fix(f"s:bottom {sets['bottom'][0]}")
    if load == "pressure":
        model.pressure("p", "s:body", -1.0)
    else:
        for name, moment in (("bottom", -1.0), ("top", 1.0)):
            at = sets[name]
            middle = np.abs(np.sin(0.5 * n * turn[at])) > 0.5
            share = np.where(middle, 4.0, 2.0 if cell == "quad8" else 1.0)
            for i, f in zip(at, moment / R * share / share.sum(), strict=True):
                model.force(f"{name} {i}", f"s:{name} {i}", (-f * np.sin(turn[i]), f * np.cos(turn[i]), 0.0))
    model.linear_static_step()
    u = solve(model).steps[-1].frames["displacement"][-1]

    def ring(z):  # means, without motions of the whole
        at = np.abs(x[:, 2] - z) < 1e-6
        c, s = np.cos(turn[at]), np.sin(turn[at])
        return np.array([(c * u[at, 0] + s * u[at, 1]).mean(), (c * u[at, 1] - s * u[at, 0]).mean(), u[at, 2].mean()])

    low, middle, high = ring(0.25 * LENGTH), ring(0.5 * LENGTH), ring(0.75 * LENGTH)
    return np.array([(high - low)[2] / (0.5 * LENGTH), middle[0] / R, (high - low)[1] / (0.5 * LENGTH)])


def exact(load, angle):
    """The strains by Hooke's law of a ply, turned (Jones 1999, Mechanics of Composite Materials, 2.6)."""
    c, s = np.cos(angle), np.sin(angle)
    compliance = np.array([[1 / E1, -NU / E1, 0.0], [-NU / E1, 1 / E2, 0.0], [0.0, 0.0, 1 / G]])
    of_stress = np.array([[c * c, s * s, 2 * c * s], [s * s, c * c, -2 * c * s], [-c * s, c * s, c * c - s * s]])
    forces = {"pressure": (0.0, R, 0.0), "torsion": (0.0, 0.0, 1.0 / (2.0 * np.pi * R**2))}[load]
    return of_stress.T @ compliance @ of_stress @ forces / H


@pytest.mark.parametrize("load", ["pressure", "torsion"])
@pytest.mark.parametrize("angle", [0.0, 0.25 * np.pi])
@pytest.mark.parametrize("cell", ["quad", "triangle"])
def test_flat_elements_tend_to_laminate_theory(cell, angle, load):
    """A polygon of n sides is wrong by 1/n^2, which an extrapolation removes; it leaves a tenth of the last change."""
    coarse, fine, wanted = strains(16, cell, load, angle), strains(32, cell, load, angle), exact(load, angle)
    left = np.abs((4.0 * fine - coarse) / 3.0 - wanted)
    assert (left <= 0.1 * np.abs(fine - coarse).max()).all()
    assert np.abs(fine - wanted).max() < 0.02 * np.abs(wanted).max()


@pytest.mark.parametrize("load", ["pressure", "torsion"])
@pytest.mark.parametrize("angle", [0.0, 0.25 * np.pi])
def test_curved_elements_have_fibres_at_their_angle_everywhere(angle, load):
    """Of third order or better, to what thin shells leave out, (h/R)^2, as stiffnesses about the normal are smaller.

    An orientation by expressions is that of layers turned about the normal.  By projections of the axis in the middle
    of elements it was wrong by 1 % in these cells.
    """
    coarse, fine, wanted = strains(8, "quad8", load, angle), strains(16, "quad8", load, angle), exact(load, angle)
    thin = (H / R) ** 2 * np.abs(wanted).max()
    assert np.abs(fine - wanted).max() < np.abs(coarse - wanted).max() / 8.0 + thin
    np.testing.assert_allclose(strains(8, "quad8", load, angle, True), coarse, rtol=0.0, atol=thin)
