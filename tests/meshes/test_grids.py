"""Structured meshes: volumes in closed form, orientation of cells, sets, curved edges, grading, wrong arguments."""

import math

import numpy as np
import pytest

from fem_mbs import MeshError
from fem_mbs.meshes import grids
from fem_mbs.meshes.cells import FACETS, PLANE_KINDS, SOLID_KINDS
from fem_mbs.meshes.generate import arc, line, polyline


def area_vectors(x, nodes):
    """Return the middles and area vectors of the triangles that facets (m, 3 or 4) of corners are made of."""
    found = []
    for i in range(1, nodes.shape[1] - 1):
        a, b, c = x[nodes[:, 0]], x[nodes[:, i]], x[nodes[:, i + 1]]
        found.append(((a + b + c) / 3.0, np.cross(b - a, c - a) / 2.0))
    return np.concatenate([m for m, _ in found]), np.concatenate([v for _, v in found])


def volumes(mesh):
    """Return the volume of every cell by the divergence theorem over its facets, which are outwards by definition."""
    kind, cells = mesh.blocks[0].kind, mesh.blocks[0].cells
    total = np.zeros(len(cells))
    for _, local in FACETS[kind]:
        corners = {3: 3, 6: 3, 4: 4, 8: 4}[len(local)]
        nodes = cells[:, local[:corners]]
        middles, vectors = area_vectors(mesh.points, nodes)
        total += np.einsum("ij,ij->i", middles, vectors).reshape(-1, len(cells)).sum(axis=0) / 3.0
    return total


def areas(mesh):
    """Return the signed area of every plane cell, of quadratic ones within their corners."""
    kind, cells = mesh.blocks[0].kind, mesh.blocks[0].cells
    corners = cells[:, : 3 if kind.startswith("triangle") else 4]
    _, vectors = area_vectors(mesh.points, corners)
    return vectors.reshape(-1, len(cells), 3).sum(axis=0)


@pytest.mark.parametrize("kind", SOLID_KINDS)
def test_boxes(kind):
    mesh = grids.box((2.0, 3.0, 0.5), (2, 3, 4), start=(1.0, 0.0, -1.0), kind=kind, grading=(1.0, 4.0, 0.5))
    found = volumes(mesh)
    assert found.min() > 0.0
    assert found.sum() == pytest.approx(3.0, rel=1e-13)
    boxes = 24 * {"tetra": 6, "tetra10": 6, "wedge": 2, "wedge15": 2}.get(kind, 1)
    assert len(found) == boxes
    for name, axis, at, area in (
        ("left", 0, 1.0, 1.5), ("right", 0, 3.0, 1.5), ("front", 1, 0.0, 1.0), ("back", 1, 3.0, 1.0),
        ("bottom", 2, -1.0, 6.0), ("top", 2, -0.5, 6.0),
    ):  # fmt: skip
        assert np.all(mesh.points[mesh.nodes_of(name), axis] == at)
        whole = np.zeros(3)
        for _, nodes in mesh.facet_nodes(name):
            whole += area_vectors(mesh.points, nodes[:, : 3 if nodes.shape[1] in (3, 6) else 4])[1].sum(axis=0)
        expected = np.zeros(3)
        expected[axis] = -area if name in ("left", "front", "bottom") else area
        assert whole == pytest.approx(expected, abs=1e-13)
    assert mesh.points[mesh.node("top_back_right")].tolist() == [3.0, 3.0, -0.5]
    assert np.all(mesh.points[mesh.nodes_of("bottom_front"), 1:] == [0.0, -1.0])
    assert not len(mesh.unreferenced())
    if CORNERS[kind] < len(mesh.blocks[0].cells[0]):  # nodes on edges are in their middles
        for _, local in FACETS[kind]:
            half = len(local) // 2
            x = mesh.points[mesh.blocks[0].cells[:, local]]
            middles = (x[:, :half] + np.roll(x[:, :half], -1, axis=1)) / 2.0
            assert np.allclose(x[:, half:], middles, atol=1e-14)


CORNERS = {"tetra": 4, "tetra10": 4, "hexahedron": 8, "hexahedron20": 8, "wedge": 6, "wedge15": 6}


@pytest.mark.parametrize("kind", PLANE_KINDS)
def test_rectangles(kind):
    mesh = grids.rectangle((2.0, 1.0), (3, 2), start=(0.5, -0.5), kind=kind, grading=2.0)
    found = areas(mesh)
    assert found[:, 2].min() > 0.0
    assert found[:, 2].sum() == pytest.approx(2.0, rel=1e-14)
    assert np.all(mesh.points[mesh.nodes_of("right"), 0] == 2.5)
    assert mesh.points[mesh.node("bottom_left")].tolist() == [0.5, -0.5, 0.0]
    width = np.diff(np.unique(mesh.points[mesh.blocks[0].cells[:, :3], 0]))
    assert width[-1] / width[0] == pytest.approx(2.0)


@pytest.mark.parametrize("kind", ["quad8", "triangle6"])
def test_nodes_of_quadratic_cells_lie_on_curved_edges(kind):
    mesh = grids.ring((1.0, 2.0), (2, 3), angles=(0.0, 90.0), kind=kind)
    for name, r in (("inner", 1.0), ("outer", 2.0)):
        assert np.linalg.norm(mesh.points[mesh.nodes_of(name)], axis=1) == pytest.approx(r, rel=1e-14)
        assert len(mesh.nodes_of(name)) == 7
    assert mesh.points[mesh.nodes_of("start"), 1] == pytest.approx(0.0)
    assert mesh.points[mesh.node("end_inner")] == pytest.approx([0.0, 1.0, 0.0])


def test_a_whole_hollow_cylinder_closes():
    n = 24
    mesh = grids.ring((1.0, 1.5), (2, n, 3), height=2.0, kind="hexahedron", center=(1.0, 2.0), normal=(0.0, 1.0, 0.0))
    area = n / 2 * math.sin(2 * math.pi / n) * (1.5**2 - 1.0**2)  # of a ring of chords
    assert volumes(mesh).sum() == pytest.approx(2.0 * area, rel=1e-12)
    assert volumes(mesh).min() > 0.0
    assert len(mesh.points) == 3 * n * 4
    assert sorted(mesh.facet_sets) == ["bottom", "inner", "outer", "top"]
    assert "top_outer" in mesh.node_sets
    assert mesh.points[mesh.nodes_of("top"), 1] == pytest.approx(4.0)


def test_tubes_point_outwards():
    mesh = grids.tube(0.5, 2.0, (12, 3), angles=(0.0, 360.0))
    vectors = areas(mesh)
    middles = mesh.points[mesh.blocks[0].cells].mean(axis=1)
    assert np.all(np.einsum("ij,ij->i", vectors[:, :2], middles[:, :2]) > 0.0)
    assert len(mesh.points) == 48
    quarter = grids.tube(0.5, 2.0, (6, 2), angles=(0.0, 90.0), kind="triangle")
    assert quarter.points[quarter.node("top_end")] == pytest.approx([0.0, 0.5, 2.0])


def test_patches_of_arcs_are_rings():
    """The annulus with radii 1 and 2 from four edges, two of them arcs through a point, is the ring."""
    r = math.sqrt(0.5)
    mesh = grids.patch(
        [(1, 0), (2, 0), (0, 2), (0, 1)], (4, 6), "quad8", edges={"right": [(2 * r, 2 * r)], "left": [(r, r)]}
    )
    ring = grids.ring((1.0, 2.0), (4, 6), (0.0, 90.0), kind="quad8")
    assert mesh.points == pytest.approx(ring.points, abs=1e-14)
    assert np.array_equal(mesh.blocks[0].cells, ring.blocks[0].cells)
    spline = grids.patch(
        [(0, 0), (1, 0), (1, 1), (0, 1)], (20, 2), edges={"top": [(0.25, 1.1), (0.5, 1.2), (0.8, 1.1)]}
    )
    top = spline.points[spline.nodes_of("top")]
    assert np.linalg.norm(top - [0.5, 1.2, 0.0], axis=1).min() < 0.03
    space = grids.patch([(0, 0, 0), (1, 0, 0), (1, 1, 1), (0, 1, 1)], (2, 2))
    assert areas(space).sum(axis=0) == pytest.approx([0.0, -1.0, 1.0])


def test_blocks():
    """A frustum of a pyramid: h/3 (A + B + sqrt(A B))."""
    corners = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]
    above = [(x / 2, y / 2, 3.0) for x, y, _ in corners]
    for kind in SOLID_KINDS:
        mesh = grids.block([*corners, *above], (2, 2, 3), kind)
        assert volumes(mesh).sum() == pytest.approx(4.0 + 1.0 + 2.0, rel=1e-12)
        assert volumes(mesh).min() > 0.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: grids.rectangle((1, 0), (2, 2)), "2 positive numbers"),
        (lambda: grids.rectangle((1, 1), (2, 0)), "whole number of cells"),
        (lambda: grids.rectangle((1, 1), (2, 2, 2)), "must be 2 whole numbers"),
        (lambda: grids.rectangle((1, 1), (2, 2), kind="tetra"), "use one of triangle"),
        (lambda: grids.rectangle((1, 1), (2, 2), grading=0.0), "positive ratio"),
        (lambda: grids.rectangle((1, 1), (3000, 3000)), "more than 5 million"),
        (lambda: grids.patch([(0, 0), (0, 1), (1, 1), (1, 0)], (2, 2)), "inside out; give its corners in the other"),
        (lambda: grids.patch([(0, 0), (1, 0), (0, 1), (1, 1)], (2, 2)), "folded"),
        (lambda: grids.patch([(0, 0), (1, 0), (1, 1), (0, 1)], (2, 2), edges={"roof": []}), 'unknown edge "roof"'),
        (lambda: grids.patch([(0, 0), (1, 0), (1, 1), (0, 1)], (2, 2), edges={"top": [(0.5, 1)]}), "on the line"),
        (lambda: grids.ring((2, 1), (2, 2)), "the inner one first"),
        (lambda: grids.ring((1, 2), (2, 2)), "give 3 or more around"),
        (lambda: grids.ring((1, 2), (2, 3), angles=(90, 0)), "the last larger"),
        (lambda: grids.ring((1, 2), (2, 3), normal=(0, 0, 0)), "has no length"),
        (lambda: line((0, 0), (1, 0), 4, {"a": 1.5}), "a = 1.5 must be a fraction"),
        (lambda: line((0, 0), (1, 0), 4, {"end": 0.5}), "cannot be called"),
        (lambda: polyline([(0, 0), (1, 0)], 4, {"corner_1": 0.5}), "as a set is"),
    ],
    ids=range(17),
)  # fmt: skip
def test_wrong_arguments(make, message):
    with pytest.raises(MeshError, match=message):
        make()


def test_named_points_of_lines():
    mesh = line((0.0, 0.0), (2.0, 0.0), 4, {"quarter": 0.25, "odd": 0.3, "again": 0.3})
    assert mesh.points[:, 0] == pytest.approx([0.0, 0.5, 0.6, 1.0, 1.5, 2.0])
    assert mesh.node("quarter") == 1
    assert mesh.node("odd") == mesh.node("again") == 2
    assert np.array_equal(line((0, 0, 0), (1, 2, 3), 7, {"x": 3 / 7}).points, line((0, 0, 0), (1, 2, 3), 7).points)
    bent = polyline([(0, 0), (1, 0), (1, 3)], [2, 3], {"p": 0.5, "q": 0.25})
    assert bent.points[bent.node("p")] == pytest.approx([1.0, 1.0, 0.0])
    assert bent.node("q") == bent.node("corner_2")
    assert bent.points[bent.nodes_of("segment_2")][:, 0] == pytest.approx(1.0)
    shifted = polyline([(0, 0), (1, 0), (1, 3)], [2, 3], {"p": 0.1})
    assert shifted.points[shifted.nodes_of("segment_2")][:, 1] == pytest.approx([0, 1, 2, 3])
    round_ = arc((0, 0), 2.0, (0.0, 360.0), 8, named={"p": 0.3, "last": 1.0})
    turn = 0.3 * 2 * math.pi
    assert round_.points[round_.node("p")] == pytest.approx([2 * math.cos(turn), 2 * math.sin(turn), 0.0])
    assert round_.node("last") == round_.node("start") == round_.node("end")
