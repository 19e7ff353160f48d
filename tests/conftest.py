"""Shared by all tests: one thread everywhere, reproducible hypothesis runs, a cache for compiled kernels."""

from __future__ import annotations

import os

# Before numpy and numba are imported: results and timings of the tests must not depend on the number of cores.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
os.environ.setdefault("MPLBACKEND", "Agg")

from pathlib import Path  # noqa: E402

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

# The machine decides how long an example takes (compilation above all); a deadline would make tests fail at random.
settings.register_profile("default", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", parent=settings.get_profile("default"), derandomize=False, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


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
