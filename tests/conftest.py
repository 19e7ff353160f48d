"""Shared by all tests: one thread everywhere, reproducible hypothesis runs, a cache for compiled kernels."""

from __future__ import annotations

import os

# Before numpy and numba are imported: results and timings of the tests must not depend on the number of cores.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
os.environ.setdefault("MPLBACKEND", "Agg")
# Workers of pytest share the processors: none compiles in further processes.
os.environ.setdefault("FEM_MBS_COMPILERS", "1")
# Tests start some hundred interpreters: without bytecode on disk each one would compile all modules of the package.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

from pathlib import Path  # noqa: E402

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

# The machine decides how long an example takes (compilation above all); a deadline would make tests fail at random.
settings.register_profile("default", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", parent=settings.get_profile("default"), derandomize=False, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_modifyitems(config, items):
    """Put first the contract tests, which compile all element types, then the long tests, so that none begins last.

    With ``--dist worksteal`` each worker starts on its own contiguous part of the list: the parts hold equal shares of
    the contract tests, which are sorted by element type, so that workers compile different types and find those of the
    others on disk.  Worker 0 compiles the time stepping before that, in a test that needs it.
    """
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers == 1:
        return
    classes: list[list[pytest.Item]] = [[], [], []]
    stepping = []
    for item in items:
        if item.path.name == "test_work.py":
            stepping.append(item)
        elif item.path.parent.name == "contract":
            classes[0].append(item)
        else:
            classes[1 if item.get_closest_marker("long") else 2].append(item)
    items[:] = stepping
    for k in range(workers):
        for tests in classes:
            items += tests[k * len(tests) // workers : (k + 1) * len(tests) // workers]


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the repository."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture
def fem_mbs(capsys, monkeypatch):
    """The command line in this process: exit code, output, errors."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        from fem_mbs.cli import main as cli

        monkeypatch.setattr("sys.argv", ["fem-mbs", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        out, err = capsys.readouterr()
        return int(end.value.code or 0), out, err

    return run
