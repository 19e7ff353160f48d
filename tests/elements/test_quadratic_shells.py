"""Shells of 6 and 8 nodes: curvature, and meshes of both, against closed forms; `test_shells` has what all cells
share."""

from __future__ import annotations

import numpy as np
import pytest
from shell_meshes import QUADRATIC, flat, grid, linear_of, model_of, moved

from fem_mbs import Mesh, Model, ModelError, solve
from fem_mbs.validation.shell_grids import on_edge

CELLS = pytest.mark.parametrize("cell", QUADRATIC)


@CELLS
def test_stresses_of_a_pressed_tube(cell):
    """A quarter of a tube has p r/t around it on all faces."""

    def place(a, b):
        t = a * np.pi / 2
        return 2 * np.cos(t), b, 2 * np.sin(t)

    # x,u cross x,v points inwards: the pressure acts against the normal, outwards
    n = 2 if cell == "quad8" else 4
    model = model_of(grid(place, 3 * n, n, cell), 1e9, 0.0, 0.01)
    model.pressure("p", on="s:body", value=1000.0)
    for edge, held in (("left", ["z", "rotation x", "rotation y"]), ("right", ["x", "rotation y", "rotation z"])):
        model.fix(f"s:{edge}", held)
    model.fix("s:bottom", ["y"])
    model.linear_static_step()
    frames = solve(model).steps[0].frames
    for face in ("", " middle", " bottom"):
        mises = np.asarray(frames[f"von Mises stress{face} [Pa]"])[-1]
        # those of triangles scatter at nodes of curved surfaces: 23, 12, 6 % on 6 x 2 and two finer meshes
        np.testing.assert_allclose(mises, 2e5, rtol=0.02 if cell == "quad8" else 0.13)
        assert mises.mean() == pytest.approx(2e5, rel=0.02)


@CELLS
@pytest.mark.parametrize("offset", [0.0, 0.02])
def test_layers_of_a_pressed_tube_have_strains_by_their_radii(cell, offset):
    """Two layers without lateral strains: strains w/r, and forces around that balance the pressure on the surface."""
    R, E, p = 1.0, (3e9, 1e9), 2e5
    r0 = R - offset
    mesh = grid(lambda u, v: (r0 * np.sin(u * np.pi / 2), 0.2 * v, r0 * np.cos(u * np.pi / 2)), 8, 1, cell)
    model = Model(3, "tube", fields=("stress", "layers"))
    for name, modulus in zip("ab", E, strict=True):
        model.material(name, E=modulus, nu=0.0, density=0.0)
    model.mesh("s", mesh)
    model.shells("shell", on="s", layers=[{"material": m, "thickness": 0.02} for m in "ab"], offset=offset)
    model.fix("s:left", ["x", "rotation y", "rotation z"])
    model.fix("s:right", ["z", "rotation x", "rotation y"])
    model.fix("s:bottom", ["y", "rotation x", "rotation z"])
    model.fix("s:top", ["y", "rotation x", "rotation z"])
    model.pressure("p", on="s:body", value=-p)
    model.linear_static_step()
    found = np.asarray(solve(model).steps[0].frames["shell/layers stress [Pa]"])[-1]
    r = np.array(((0.98, 0.99, 1.0), (1.0, 1.01, 1.02)))
    w = p * r0 / (E[0] * np.log(r[0, 2] / r[0, 0]) + E[1] * np.log(r[1, 2] / r[1, 0]))
    exact = w / r * np.array(E)[:, None]
    around = found[..., 0] + found[..., 1]  # the tensor's other component is zero
    # those of single triangles oscillate about the mean, by 7 % on this mesh
    np.testing.assert_allclose(around.mean(axis=(0, 1)), exact, rtol=1e-3)
    if cell == "quad8":
        np.testing.assert_allclose(around, np.broadcast_to(exact, around.shape), rtol=1e-3)


@CELLS
@pytest.mark.parametrize("radius", [1.0, 0.5, 0.25, 0.1])
def test_stiffness_of_tight_bends_is_not_negative(cell, radius):
    """Elements bent about radii of one to a tenth of their thickness have six rigid motions and resist all others."""
    h = 0.1
    R = radius * h
    mesh = grid(lambda u, v: (R * np.sin(u), 0.5 * R * v, R * np.cos(u)), 1, 1, cell)
    model = model_of(mesh, 1e9, 0.3, h)
    n = 6 * len(mesh.points)
    K = linear_of(model).tangent.toarray()[:n, :n]
    K = 0.5 * (K + K.T)
    size = np.where(np.arange(len(K)) % 6 < 3, 1.0, 1.0 / R)  # rotations times the radius
    values = np.linalg.eigvalsh(K * np.outer(size, size))
    assert values[0] > -1e-9 * values[-1]
    assert np.sum(values < 1e-9 * values[-1]) == 6


@CELLS
def test_curved_beam_bends_as_winkler_s(cell):
    """A quarter of a ring under a moment: M/(h R) in the middle, as the neutral line lies inside (Winkler 1858)."""
    R, h, M = 1.0, 0.1, 1e3
    mesh = grid(lambda u, v: (R * np.sin(u * np.pi / 2), 0.1 * v, R * np.cos(u * np.pi / 2)), 12, 1, cell)
    model = model_of(mesh, 1e9, 0.0, h)
    model.fix("s:left", ["x", "y", "z", "rotation"])
    on_edge(model, "right", (0.0, 0.1 * M, 0.0), "moment")
    model.linear_static_step()
    model.sensor("turn", "rotation", on="s:b")
    found = solve(model)
    nodes = np.flatnonzero(np.abs(np.arctan2(*model.positions[:, [0, 2]].T) - np.pi / 4) < 0.01)
    assert nodes.size
    t = model.positions[nodes][:, [2, 0]] * (1.0, -1.0)
    neutral = h / np.log((R + h / 2) / (R - h / 2))
    # the moment turns the end to larger angles: outside is pulled
    for face, r in ((" middle", R), ("", R + h / 2), (" bottom", R - h / 2)):
        s = np.asarray(found.steps[0].frames[f"stress{face} [Pa]"])[-1][nodes]
        along = t[:, 0] ** 2 * s[:, 0] + t[:, 1] ** 2 * s[:, 2] + 2.0 * t[:, 0] * t[:, 1] * s[:, 5]
        # on the faces they differ by 7 % from those of a straight beam
        exact = M * (r - neutral) / (h * (R - neutral) * r)
        np.testing.assert_allclose(along, exact, rtol=0.02 if face == " middle" else 5e-3)
    turn = M * np.pi / 2 / (1e9 * h * (R - neutral))
    np.testing.assert_allclose(found.sensor("turn").values[-1, 1], turn, rtol=2e-3)


def test_cells_of_several_kinds_make_one_part():
    """A plate of quad8 and triangle6 cells has a group each, and bends as a whole."""
    mesh = grid(flat(2, 1), 2, 1, "quad8")
    quads = mesh.blocks[0].cells
    middle = len(mesh.points)
    a, b, c, d, ab, bc, cd, da = quads[1]
    points = np.vstack((mesh.points, (1.5, 0.5, 0.0)))
    triangles = np.array(((a, b, c, ab, bc, middle), (a, c, d, middle, cd, da)))
    both = Mesh(points, [("quad8", quads[:1]), ("triangle6", triangles)], node_sets=mesh.node_sets)
    model = model_of(both, 1.2e6, 0.0, 0.1)
    assert list(model.shell_groups) == ["shell quad8", "shell triangle6"]
    model.fix("s:left")
    on_edge(model, "right", (0.0, -1.0, 0.0), "moment")
    assert moved(model, "s:b", "z") == pytest.approx(2.0**2 / 2 / (1.2e6 * 0.1**3 / 12), rel=1e-6)


@CELLS
def test_constant_stresses_strain_a_cell_whose_sides_are_not_parallel_as_they_should(cell):
    """Forces of a constant membrane stress on its sides, 1/6, 4/6, 1/6 of each: displacements are linear in place."""
    corners = np.array([(0.0, 0.0), (2.0, 0.0), (1.5, 1.1), (0.3, 0.8)][: 4 if cell == "quad8" else 3])
    n, E, nu, thickness = len(corners), 1e9, 0.3, 0.05
    ends = np.roll(corners, -1, axis=0)
    points = np.column_stack((np.vstack((corners, 0.5 * (corners + ends))), np.zeros(2 * n)))
    single = {str(node): [node] for node in range(2 * n)}
    model = model_of(Mesh(points, [(cell, np.arange(2 * n)[None])], node_sets=single), E, nu, thickness)
    stress = np.array([(3e4, 1e4), (1e4, -2e4)])
    outwards = (ends - corners) @ np.array([(0.0, -1.0), (1.0, 0.0)])  # normals of the lengths of the sides
    for side, force in enumerate(thickness * outwards @ stress):
        for node, share in ((side, 1 / 6), ((side + 1) % n, 1 / 6), (n + side, 4 / 6)):
            model.force(f"f{side} {node}", f"s:{node}", (*(share * force), 0.0))
    for node in range(2 * n):
        model.fix(f"s:{node}", ["z", "rotation x", "rotation y"])
    model.fix("s:0", ["x", "y"])
    model.fix("s:1", ["y"])
    model.linear_static_step()
    strain = ((1.0 + nu) * stress - nu * np.trace(stress) * np.eye(2)) / E
    gradient = strain + strain[1, 0] * np.array([(0.0, 1.0), (-1.0, 0.0)])  # the second node stays on the x-axis
    found = np.asarray(solve(model).steps[0].frames["displacement"])[-1]
    np.testing.assert_allclose(found[:, :2], points[:, :2] @ gradient.T, rtol=0.0, atol=1e-9 * np.abs(found).max())


def test_wrong_cells_are_refused():
    X = np.array(((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0, 0), (1, 0.5, 0), (0.5, 1, 0), (0, 0.5, 0.0)))
    for order in ([0, 1, 3, 2, 4, 5, 6, 7], [0, 1, 2, 3, 5, 4, 6, 7]):
        with pytest.raises(ModelError, match="quad8 1 has no area or folds over itself"):
            model_of(Mesh(X, [("quad8", np.array([order]))]), 1.0, 0.3, 0.1)
