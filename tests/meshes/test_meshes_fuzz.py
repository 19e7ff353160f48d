"""Damaged mesh files: whatever is in the file, the reader gives a sound mesh or one MeshError, and prints nothing."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from places import DATA

from fem_mbs.errors import MeshError
from fem_mbs.meshes.formats.reader import read_mesh
from fem_mbs.meshes.generate import line
from fem_mbs.meshes.mesh import Mesh

SEEDS = sorted(DATA.glob("*.msh"))
QUICK = settings(
    max_examples=60,
    deadline=2000,  # [ms] a hang or an allocation by an absurd count would exceed it
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
WORDS = st.sampled_from(
    [b"0", b"-1", b"1", b"2", b"3", b"15", b"77", b"nan", b"inf", b"1e308", b"99999999", b"2147483648", b"9" * 30]
    + [b"18446744073709551615", b"x", b"", b'"', b"$", b"1.5", b"\xff", b"1_0", b"-0", b"$EndNodes", b"$Nodes\n1\n"]
)


def check_outcome(path: Path, data: bytes, capfd) -> Mesh | None:
    path.write_bytes(data)
    mesh, message = None, ""
    try:
        mesh = read_mesh(path)
    except MeshError as error:
        message = str(error)
    assert mesh is not None or str(path) in message
    assert len(message) < 1000
    assert capfd.readouterr() == ("", "")
    if mesh is None:
        return None
    lines = mesh.lines()
    assert len(lines)
    assert np.isfinite(mesh.points).all()
    assert (np.linalg.norm(np.diff(mesh.points[lines], axis=1), axis=-1) > 0).all()
    assert len(mesh.unreferenced()) == 0
    for name in mesh.set_names:
        assert len(mesh.nodes_of(name))
    return mesh


@pytest.fixture(scope="module")
def vtu_seeds(tmp_path_factory) -> list[bytes]:
    import meshio
    from meshio import vtu

    mesh = line((0, 0), (1, 2), 4)
    data = {
        "cells": [("vertex", [[0]]), ("line", mesh.lines()), ("triangle", [[0, 1, 2]])],
        "point_data": {"tip": np.array([0, 0, 0, 0, 1]), "t": np.arange(5.0)},
        "cell_data": {"part": [np.array([1]), np.array([1, 1, 2, 2]), np.array([3])]},
    }
    seeds = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("meshio.vtu._vtu.warn", lambda *_: None)  # it warns of text files
        for options in ({"binary": False}, {"compression": None}, {"compression": "zlib"}):
            path = tmp_path_factory.mktemp("seeds") / "a.vtu"
            vtu.write(path, meshio.Mesh(mesh.points, **data), **options)
            seeds.append(path.read_bytes())
    return seeds


def mutate(data: bytes, draw) -> bytes:
    """One to three changes: bytes, words, lines, cuts."""
    for _ in range(draw(st.integers(1, 3))):
        n = len(data)
        if n < 2:
            return data
        at = draw(st.integers(0, n - 1))
        kind = draw(st.sampled_from(["byte", "word", "word", "word", "cut", "drop", "line", "swap"]))
        if kind == "byte":
            data = data[:at] + draw(st.binary(min_size=1, max_size=4)) + data[at + 1 :]
        elif kind == "word":
            words = list(re.finditer(rb"[^\s<>=]+", data))
            if words:
                word = words[at % len(words)]
                data = data[: word.start()] + draw(WORDS) + data[word.end() :]
        elif kind == "cut":
            data = data[:at]
        elif kind == "drop":
            data = data[:at] + data[at + draw(st.integers(1, 40)) :]
        else:
            lines = data.split(b"\n")
            i, j = at % len(lines), draw(st.integers(0, len(lines) - 1))
            if kind == "line":
                lines.insert(i, lines[j])
            else:
                lines[i], lines[j] = lines[j], lines[i]
            data = b"\n".join(lines)
    return data


@pytest.mark.parametrize("seed", SEEDS, ids=lambda p: p.stem)
def test_gmsh(seed, tmp_path, capfd):
    original = seed.read_bytes()

    @QUICK
    @given(st.data())
    def run(data):
        check_outcome(tmp_path / "a.msh", mutate(original, data.draw), capfd)

    run()


@pytest.mark.parametrize("which", range(3), ids=["text", "plain", "zlib"])
def test_vtu(which, vtu_seeds, tmp_path, capfd):
    @settings(QUICK, max_examples=150)
    @given(st.data())
    def run(data):
        check_outcome(tmp_path / "a.vtu", mutate(vtu_seeds[which], data.draw), capfd)

    assert check_outcome(tmp_path / "a.vtu", vtu_seeds[which], capfd).set_names == [
        "tip",
        "part_1@0",
        "part_1@1",
        "part_2",
    ]
    run()


@pytest.mark.parametrize("extension", ["msh", "vtu"])
def test_noise(extension, tmp_path, capfd):
    start = {
        "msh": st.sampled_from([b"", b"$MeshFormat\n", b"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n"]),
        "vtu": st.sampled_from([b"", b"<VTKFile>", b'<VTKFile type="UnstructuredGrid"><UnstructuredGrid><Piece ']),
    }[extension]

    @QUICK
    @given(start, st.binary(max_size=200))
    def run(head, tail):
        assert check_outcome(tmp_path / f"a.{extension}", head + tail, capfd) is None

    run()


@QUICK
@given(seed=st.sampled_from([p for p in SEEDS if "asc" in p.name or "41" in p.name]), word=WORDS, data=st.data())
def test_one_number_in_text(seed, word, data, tmp_path, capfd):
    """A single number changed: the likeliest damage, and the one most likely to be read without a word."""
    original = seed.read_bytes()
    numbers = list(re.finditer(rb"(?<=\s)-?\d[\d.e-]*(?=\s)", original))
    place = data.draw(st.sampled_from(numbers))
    check_outcome(tmp_path / "a.msh", original[: place.start()] + word + original[place.end() :], capfd)
