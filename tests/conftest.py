"""Shared by all tests: one thread everywhere, reproducible hypothesis runs, a cache for compiled kernels."""

from __future__ import annotations

import os

# Before numpy and numba are imported: results and timings of the tests must not depend on the number of cores.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "FEM_MBS_THREADS"):
    os.environ.setdefault(_variable, "1")
os.environ.setdefault("MPLBACKEND", "Agg")
# Workers of pytest share the processors: none compiles in further processes.
os.environ.setdefault("FEM_MBS_COMPILERS", "1")
# Tests start some hundred interpreters: without bytecode on disk each one would compile all modules of the package, and
# each run would rewrite the assertions of all tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import gc  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402
from seconds import SECONDS, Measured, Seconds, seconds  # noqa: E402

sys.dont_write_bytecode = False

# The machine decides how long an example takes (compilation above all); a deadline would make tests fail at random.
settings.register_profile("default", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", parent=settings.get_profile("default"), derandomize=False, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


# --- what takes long -------------------------------------------------------------------------------------------------
_MARKED = 5.0  # what tests may take that are marked in their modules and were not measured
_NO_TIME = "the time for long tests is over"


def pytest_addoption(parser):
    parser.addoption("--write-seconds", action="store_true", help=f"write what tests take to {SECONDS.name}")
    parser.addoption("--long-until", type=float, help="Unix time after which no long test begins: the rest is skipped")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection():
    """Look for no garbage while the tests are collected, and never among them: they live to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_runtest_setup(item):
    until = item.config.getoption("--long-until")
    if until is not None and time.time() > until and item.get_closest_marker("long"):
        pytest.skip(_NO_TIME)


def pytest_configure(config):
    if config.getoption("--write-seconds"):
        config.pluginmanager.register(Measured())
        if not hasattr(config, "workerinput"):
            config.pluginmanager.register(Seconds(config.args_source is pytest.Config.ArgsSource.TESTPATHS))


def pytest_terminal_summary(terminalreporter):
    """Tell of tests of several processes that were left out, since their libraries are no requirement, and of long
    tests that were left out for want of time."""
    skipped = terminalreporter.stats.get("skipped", [])
    left_out = [r for r in skipped if r.nodeid.startswith("tests/distributed/")]
    if left_out:
        terminalreporter.write_line(f"SKIPPED {len(left_out)} tests of several processes: {left_out[0].longrepr[2]}")
    late = [r for r in skipped if r.longrepr[2].endswith(_NO_TIME)]
    if late:
        terminalreporter.write_line(f"SKIPPED {len(late)} long tests: {_NO_TIME}")


def _subject(item: pytest.Item) -> int:
    """Place of the element type of a contract test in the registry."""
    subject = item.callspec.params.get("subject") if hasattr(item, "callspec") else None
    return 0 if subject is None else subject.place


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what `-m "not long"` names
def pytest_collection_modifyitems(config, items):
    """Mark what takes long (see `seconds`), and sort for several workers: everyday tests, the contract of compiled
    kernels, and the other long tests: the longest first, so that all workers end together; where they have a limit of
    time, the shortest first, so that few are left out.

    With ``--dist worksteal`` each worker starts on its own contiguous part of the list: the parts hold equal shares of
    each kind.  Worker 0 begins with the time stepping, which most tests need, and compiles it; the others begin with
    the everyday contract, which compiles nothing, and find it on disk.  The long contract is sorted by element types,
    so that workers compile different types.
    """
    anew = config.getoption("--write-seconds") and not config.option.markexpr
    taken = {} if anew else seconds()
    for item in items:
        if item.nodeid in taken and not any(map(item.get_closest_marker, ("long", "everyday"))):
            item.add_marker(pytest.mark.long)
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers == 1:
        return
    kinds: dict[str, list[pytest.Item]] = {"everyday": [], "contract": [], "long contract": [], "long": []}
    for item in items:
        long = item.get_closest_marker("long") is not None
        if item.path.parent.name == "contract":
            kinds["long contract" if long else "contract"].append(item)
        else:
            kinds["long" if long else "everyday"].append(item)
    kinds["everyday"].sort(key=lambda item: item.path.name != "test_work.py")  # a test of the time stepping
    for name in ("contract", "long contract"):
        kinds[name].sort(key=_subject)
    limited = config.getoption("--long-until") is not None
    kinds["long"].sort(key=lambda item: taken.get(item.nodeid, _MARKED), reverse=not limited)
    items.clear()
    for k in range(workers):
        first, second, *rest = kinds
        for name in (first, second, *rest) if k == 0 else (second, first, *rest):
            tests = kinds[name]
            start = k * len(tests) // workers
            items += tests[k::workers] if name == "long" else tests[start : (k + 1) * len(tests) // workers]


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the repository."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture
def fem_mbs(capsys, monkeypatch):
    """The command line in this process: exit code, output, errors without the lines that tell of compilations, which
    depend on what was compiled before."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        from fem_mbs.cli import main as cli

        monkeypatch.setattr("sys.argv", ["fem-mbs", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        out, err = capsys.readouterr()
        err = "".join(line for line in err.splitlines(keepends=True) if not line.startswith("fem-mbs: compiling "))
        return int(end.value.code or 0), out, err

    return run
