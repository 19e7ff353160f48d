"""Files of results stay open while many of their quantities are read."""

from __future__ import annotations

from pathlib import Path

import h5py
import pytest

from fem_mbs import Model, Results, ResultsError, run
from fem_mbs.results.store import kept_open


class Opened(list):
    """Files that have been opened, and their paths."""

    def __init__(self) -> None:
        super().__init__()
        self.paths: list[Path] = []


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A mass on a spring with several sensors."""
    m = Model(2, "mass")
    m.body("mass", (1.0, 0.0), mass=1.0, inertia=1.0)
    m.spring("spring", "ground", "mass", point_a=(0.0, 0.0), stiffness=10.0, length=0.9)
    for k in range(5):
        m.sensor(f"place {k}", "position", on="mass")
    m.transient_step(0.02, 0.01, name="swing", frames=2)
    out = tmp_path_factory.mktemp("kept") / "out"
    run(m, out)
    return out


@pytest.fixture
def opened(monkeypatch):
    """The files that are opened, one after another."""
    found, own = Opened(), h5py.File.__init__

    def counted(self, name, *args, **options):
        if isinstance(name, Path):  # else another handle of an open file
            found.append(self)
            found.paths.append(name)
        own(self, name, *args, **options)

    monkeypatch.setattr(h5py.File, "__init__", counted)
    return found


def test_each_file_is_opened_once(folder, opened):
    results = Results.open(folder)
    before = len(opened)
    apart = [results.sensor(f"place {k}").values for k in range(5)]
    assert len(opened) - before > 5
    before = len(opened)
    with kept_open(), kept_open():
        together = [results.sensor(f"place {k}").values for k in range(5)]
    assert len(opened) - before == 1
    assert not opened[-1], "the file is still open"
    for a, b in zip(apart, together, strict=True):
        assert (a == b).all()


def test_tables_of_sensors_open_it_once(folder, opened):
    results = Results.open(folder)
    before = len(opened)
    results.write_sensors_csv()
    assert len(opened) - before <= 3  # the quantities of the step, then the table


def test_errors_are_those_of_the_reader_and_of_the_caller(folder):
    results = Results.open(folder)
    with pytest.raises(ResultsError, match="no sensor"), kept_open():
        results.sensor("nothing")
    with pytest.raises(ValueError, match="my own") as error, kept_open():
        results.sensor("place 0")
        raise ValueError("my own")
    assert not isinstance(error.value, ResultsError)


def test_a_run_opens_each_of_its_files_a_few_times(opened, tmp_path):
    """What a run reads of its own files as it ends, statistics, the one file of all and tables, opens each once."""
    m = Model(2, "mass")
    m.body("mass", (1.0, 0.0), mass=1.0, inertia=1.0)
    m.spring("spring", "ground", "mass", point_a=(0.0, 0.0), stiffness=10.0, length=0.9)
    for k in range(5):
        m.sensor(f"place {k}", "position", on="mass")
    m.transient_step(0.02, 0.01, name="swing", frames=2)
    run(m, tmp_path / "out")
    # written, read for statistics, joined, read for tables
    paths = [Path(file) for file in opened.paths]
    assert max(paths.count(path) for path in set(paths)) <= 4, sorted(paths)
