"""Sums, gathers, matrices and meshes of several ranks, which are threads here, against those of one process."""

from __future__ import annotations

import jobs
import numpy as np
import pytest
from threads import run_ranks

from fem_mbs.meshes.mesh import CellBlock, Mesh
from fem_mbs.solvers.distributed import ranks

N = 3


def test_operations_are_those_of_scipy(monkeypatch):
    for differences in run_ranks(monkeypatch, N, lambda: jobs.algebra("algebra")):
        assert len(differences) == 15
        assert {name: value for name, value in differences.items() if not value < 1e-13} == {}


def test_first_rank_collects_rows(monkeypatch):
    whole = np.random.default_rng(1).normal(size=(7, 2))

    def work():
        numbers = np.arange(7)[np.arange(7) % N == ranks.ranks().rank]
        return ranks.ranks().collected(whole[numbers], numbers, 7)

    first, *others = run_ranks(monkeypatch, N, work)
    assert np.array_equal(first, whole)
    assert [rows.shape for rows in others] == [(0, 2)] * (N - 1)


@pytest.mark.parametrize("nodes", [8, 1000])
def test_what_one_rank_makes_all_ranks_have(monkeypatch, nodes):
    """Arrays of odd sizes follow each other in the memory, each where it is aligned; none can be written."""
    points = np.random.default_rng(2).normal(size=(nodes, 3))
    cells = np.arange(nodes // 8 * 8).reshape(-1, 8)
    made = []

    def make():
        made.append(1)
        return Mesh(points, [CellBlock("hexahedron", cells)], {"ROOT": np.arange(3)})

    def fail():
        raise ValueError("it is damaged")

    def work():
        mesh = ranks.ranks().made_once(make)
        with pytest.raises(ValueError, match="it is damaged"):
            ranks.ranks().made_once(fail)
        return mesh

    for mesh in run_ranks(monkeypatch, N, work):
        arrays = (mesh.points, mesh.blocks[0].cells, mesh.node_sets["ROOT"])
        for found, given in zip(arrays, (points, cells, np.arange(3)), strict=True):
            assert np.array_equal(found, given)
            assert not found.flags.writeable
            assert found.flags.aligned
    assert len(made) == 1
