"""Scripts of releases in `.ci`: oldest versions as the project file has them, archives that repeat byte for byte."""

from __future__ import annotations

import os
import runpy
import tarfile
import tomllib

import pytest
from places import ROOT

oldest = runpy.run_path(str(ROOT / ".ci" / "bounds.py"))["oldest"]
repack = runpy.run_path(str(ROOT / ".ci" / "build.py"))["repack"]


def test_oldest_versions_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = [requirement.replace(">=", "==") for requirement in project["dependencies"]]
    assert oldest(project, []) == own
    found = oldest(project, ["test"])
    assert found[: len(own)] == own
    tests = {
        r.replace(">=", "==")
        for extra in ("cluster", "tables", "test")
        for r in project["optional-dependencies"][extra]
    }
    assert set(found) - set(own) == {r for r in tests if not r.startswith("fem-mbs[")}
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("requirement", ["numpy", "numpy<3", "numpy>=1,<3", "fem-mbs"])
def test_a_requirement_without_its_lower_bound_alone(requirement):
    with pytest.raises(SystemExit, match=f"'{requirement}' has no lower bound, or more than one"):
        oldest({"name": "fem-mbs", "dependencies": [requirement], "optional-dependencies": {}}, [])


def test_source_archives_repeat(tmp_path):
    """Whatever the dates, modes and order of the files that they were made of."""
    packed = []
    for k in range(2):
        folder = tmp_path / str(k) / "fem_mbs-1"
        folder.mkdir(parents=True)
        names = ["a.py", "b.sh"]
        for name in names:
            (folder / name).write_text(name)
            (folder / name).chmod((0o755, 0o700)[k] if name == "b.sh" else (0o644, 0o600)[k])
            os.utime(folder / name, (1e9 + k, 1e9 + k))
        path = tmp_path / f"{k}.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            for name in reversed(names) if k else names:
                archive.add(folder / name, f"fem_mbs-1/{name}")
        before = path.read_bytes()
        repack(path, 1_700_000_000)
        packed.append(path.read_bytes())
        assert packed[k] != before
    assert packed[0] == packed[1]
    with tarfile.open(tmp_path / "0.tar.gz") as archive:
        assert [(m.name, m.mode, m.mtime) for m in archive] == [
            ("fem_mbs-1/a.py", 0o644, 1_700_000_000),
            ("fem_mbs-1/b.sh", 0o755, 1_700_000_000),
        ]
        assert archive.extractfile("fem_mbs-1/b.sh").read() == b"b.sh"
