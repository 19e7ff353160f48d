"""A run of rows that tests write, read back, kill and damage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fem_mbs.results.reader import Results
from fem_mbs.results.writer import ResultsWriter

h5py = pytest.importorskip("h5py")

N_NODES = 5
N_STEPS = 24
RESTARTS = (8, 16)
HEADER = {
    "title": "test",
    "version": "0.1",
    "dimension": 2,
    "nodes": np.column_stack([np.arange(N_NODES), np.zeros(N_NODES)]),
    "node_names": {"tip": 4},
    "model": {"elements": 4},
    "blocks": [
        {"name": "mesh:rod", "type": "beam2d", "connectivity": [[0, 1], [1, 2], [2, 3]], "outputs": ["moment [N m]"]},
        {"name": "cable", "type": "truss", "connectivity": [[3, 4]], "outputs": ["force [N]"]},
    ],
    "bodies": [{"name": "wheel", "node": 4, "points": [[0.0, 0.1, 0.0]]}],
    "sensors": [
        {"name": "tip", "kind": "position", "unit": "m", "columns": ["x", "y"], "mid_step": False},
        {"name": "reaction", "kind": "reaction", "unit": "N", "columns": ["x"], "mid_step": True},
    ],
    "ledger": ["kinetic", "strain", "driver work", "dissipation"],
}


def row(k: int) -> tuple[dict, dict | None, dict | None]:
    """What the test run appends at its row k: series, frames (every second row), restart point (at RESTARTS)."""
    t = 0.1 * k
    series = {
        "time": [t],
        "sensor/tip": [[np.cos(t), np.sin(t)]],
        "sensor/reaction": [[np.nan if k == 0 else 2.0 * t - 0.1 + 5.0 * (-1) ** k]],  # linear in time, ringing by +-5
        "ledger": [[3.0 + t, 1.0 - 2 * t, -0.5 * t, 0.5 * t]],
    }
    frames = None
    if k % 2 == 0:
        frames = {
            "time": [t],
            "displacement": np.full((1, N_NODES, 3), t),
            "mesh:rod/moment [N m]": np.full((1, 3, 2), -t),
            "cable/force [N]": [[t * t]],
        }
    restart = (
        {"time": t, "k": k, "x": np.arange(4.0) / 3 + k, "converged": True, "name": "s"} if k in RESTARTS else None
    )
    return series, frames, restart


def begin(directory: Path, title: str = "test", **options: Any) -> ResultsWriter:
    writer = ResultsWriter(directory, {**HEADER, "title": title}, **options)
    writer.begin_step("preload", "static", {"increments": 1})
    writer.append({"time": [0.0, 1.0], "load": [0.0, 1.0]}, restart={"time": 1.0, "k": -1})
    writer.end_step({"type": "static"})
    writer.begin_step("swing", "transient", {"h": 0.1})
    return writer


def go_on(writer: ResultsWriter, first: int = 0, last: int = N_STEPS) -> None:
    for k in range(first, last):
        writer.append(*row(k))


def finish_run(writer: ResultsWriter) -> None:
    writer.end_step({"n_steps": N_STEPS})
    writer.close({"title": "test", "steps": []})


def whole_run(directory: Path, title: str = "test", **options: Any) -> None:
    writer = begin(directory, title, **options)
    go_on(writer)
    finish_run(writer)


def contents(path: Path) -> dict[str, object]:
    """Every dataset and attribute of an HDF5 file but the identity of the run."""
    found: dict[str, object] = {}

    def visit(name: str, item: object) -> None:
        for key, value in item.attrs.items():
            found[f"{name}@{key}"] = value
        if isinstance(item, h5py.Dataset):
            value = item[()]
            found[name] = value if isinstance(value, bytes) else (value.dtype.str, value.shape, value.tobytes())

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return found


def check_prefix(results: Results) -> int:
    """Check that the transient step holds the first rows of the test run, none missing; return how many."""
    if len(results.steps) < 2:
        return 0
    step = results.steps[1]
    if not len(step.series):
        assert not len(step.frames)
        return 0
    n = len(step.series["time"])
    for name, expected in row(0)[0].items():
        want = np.concatenate([row(k)[0][name] for k in range(n)])
        np.testing.assert_array_equal(step.series[name], want, err_msg=f"{name}, {np.shape(expected)}")
    frames = [row(k)[1] for k in range(n) if row(k)[1] is not None]
    for name in frames[0]:
        np.testing.assert_array_equal(step.frames[name][:], np.concatenate([frame[name] for frame in frames]))
    points = [k for k in RESTARTS if k < n]
    assert results.restart_points == [(0, 1.0)] + [(1, 0.1 * k) for k in points]
    for number, k in enumerate(points):
        state = results.restart(number + 1)
        assert (state["k"], state["converged"], state["name"], state["time"]) == (k, True, "s", 0.1 * k)
        assert state["x"].tobytes() == (np.arange(4.0) / 3 + k).tobytes()
    return n
