"""A session of pytest that collects tests once and runs them in forked processes, with a mutant or with a tracer.

The functions of the package are plain Python here (`plain.py`).  A mutant replaces the code of the functions that exist
and the code from which functions are made later, so that no module is imported again and nothing is compiled.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np
import pytest

from .operators import Mutant, mutate
from .reach import Tracer

__all__ = ["NotApplied", "Outcome", "Session", "apply", "run_session"]

_MEMORY = 8 << 30  # limit of the address space in bytes
_MARGIN = 2.0  # seconds that a test may take in addition to three times its usual time
_LOOK, _IDLE = 4.0, 12.0  # how often a silent process is looked at [s], and how long it may do nothing

#: What a child tells: ("failed" or "slow" or "passed", name of the test, text).
Outcome = tuple[str, str, str]


class NotApplied(Exception):
    """A mutant whose function cannot be replaced."""


class _Slow(BaseException):
    """A test takes longer than it may; no `except Exception` of the package catches it."""


# --- mutants in a running process ------------------------------------------------------------------------------------
def _codes(code: CodeType) -> dict[tuple[int, str], list[CodeType]]:
    """Return all code objects below one by their first line and qualified name."""
    found: dict[tuple[int, str], list[CodeType]] = {}
    below = [c for c in code.co_consts if isinstance(c, CodeType)]
    while below:
        inner = below.pop()
        found.setdefault((inner.co_firstlineno, inner.co_qualname), []).append(inner)
        below += [c for c in inner.co_consts if isinstance(c, CodeType)]
    return found


def apply(mutant: Mutant, root: Path, functions: Iterable[FunctionType]) -> int:
    """Give functions the code of a mutant; return the number of functions that changed.

    Args:
        functions: all of this process that come from the module of the mutant.

    Raises:
        NotApplied: two functions cannot be told apart, or the variables of the mutant are different.
    """
    path = str(root / mutant.place.file)
    source = Path(path).read_text(encoding="utf-8")
    made = compile(mutate(source, mutant), path, "exec", dont_inherit=True)
    former = compile(source, path, "exec", dont_inherit=True)
    new: dict[tuple[int, str], CodeType] = {}
    usual = _codes(former)
    for key, codes in _codes(made).items():
        if codes != usual[key]:
            if len(codes) != 1 or len(usual[key]) != 1:
                raise NotApplied(f"two functions {key[1]} in line {key[0]}")
            new[key] = codes[0]
    count = 0
    for function in functions:
        key = function.__code__.co_firstlineno, function.__code__.co_qualname
        if key in new:
            try:
                function.__code__ = new[key]
            except ValueError as error:
                raise NotApplied(str(error)) from error
            count += 1
    return count


# --- the session -----------------------------------------------------------------------------------------------------
class Session:
    """The collected tests, and what runs them in forked processes.

    Attributes:
        items: the collected tests by name; functions: all functions of the process by the path of their module.
    """

    def __init__(self, root: Path, session: pytest.Session) -> None:
        self.root, self.session = root, session
        self.items = {item.nodeid: item for item in session.items}
        self.functions: dict[str, list[FunctionType]] = {}
        gc.unfreeze()  # what tests/conftest.py has frozen is not among the objects
        for function in gc.get_objects():
            if isinstance(function, FunctionType):
                self.functions.setdefault(function.__code__.co_filename, []).append(function)
        self._reports: list[Any] = []
        session.config.pluginmanager.register(self, "mutants-session")

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._reports.append(report)

    def run(self, name: str, seconds: float) -> Outcome:
        """Run a test in this process; it may take the given processor time."""

        def stop(number: int, frame: object) -> None:
            raise _Slow

        self._reports.clear()
        signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)  # again, where a library swallows the first
        try:
            item = self.items[name]
            self.session.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        except _Slow:
            return "slow", name, ""
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        for report in self._reports:
            if report.failed:
                text = str(report.longrepr)
                if "_Slow" in text:
                    return "slow", name, ""
                return "failed", name, text.strip().splitlines()[-1][:300]
        skipped = any(report.skipped for report in self._reports)
        return "skipped" if skipped else "passed", name, ""

    def fork(self, work: Callable[[Callable[[Any], None]], None], seconds: float, heard: Callable[[Any], None]) -> int:
        """Run ``work`` in a forked process; return its exit code.

        Args:
            work: is called with a function that tells a value of JSON to this process.
            seconds: the process is killed after so much time without a word, and where it waits without end.
            heard: is called with each value as soon as it is told.
        """
        read, write = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            _child(write, work)  # does not return
        os.close(write)
        rest = b""
        heard_at, used, idle = time.monotonic(), 0.0, 0
        while True:
            if not select.select([read], [], [], _LOOK)[0]:
                former, used = used, _used(pid)
                idle = idle + 1 if used == former else 0
                if idle * _LOOK >= _IDLE or time.monotonic() - heard_at > seconds:
                    os.killpg(pid, signal.SIGKILL)
                    break
                continue
            heard_at, idle = time.monotonic(), 0
            block = os.read(read, 1 << 20)
            if not block:
                break
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                heard(json.loads(line))
        os.close(read)
        _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status)

    # --- tasks
    def try_mutant(self, mutant: Mutant | None, tests: Sequence[tuple[str, float]]) -> Outcome | None:
        """Run tests on a mutant until one fails; return how it did, None if all pass.

        Args:
            mutant: None for the source as it is.
            tests: names with their usual processor times.
        """

        def work(tell: Callable[[Any], None]) -> None:
            try:
                if mutant is not None:
                    here = self.functions.get(str(self.root / mutant.place.file), ())
                    if not apply(mutant, self.root, here):
                        raise NotApplied("no function of the module has this code")
            except NotApplied as error:
                tell(("not applied", "", str(error)))
                return
            for name, usual in tests:
                tell(("begun", name, ""))
                outcome = self.run(name, 3 * usual + _MARGIN)
                if outcome[0] in ("failed", "slow"):
                    tell(outcome)
                    return
            tell(("passed", "", ""))

        told: list[Outcome] = [("begun", "", "")]
        code = self.fork(work, 20 * max(3 * usual + _MARGIN for _, usual in tests), told.append)
        kind, name, text = told[-1]
        if kind == "passed":
            return None
        if kind == "begun":  # a signal, or no word for long
            return "crashed", name, f"exit code {code}"
        return kind, name, text

    def trace(self, tests: Sequence[str], folders: tuple[str, ...], most: float, record: Callable[..., None]) -> None:
        """Run tests with a tracer, each at most ``most`` seconds, and record what they run.

        A process runs the tests of one module, as far as it comes.
        """
        left = list(tests)
        while left:
            module = left[0].partition("::")[0]
            several = [name for name in left[:100] if name.startswith(module + "::")]
            begun: list[str] = []
            ended: list[str] = []

            def work(tell: Callable[[Any], None], several: list[str] = several) -> None:
                for name in several:
                    tell(("begun", name, 0.0, {}))
                    tracer = Tracer(self.root, folders)
                    began = time.process_time()
                    with tracer.on():
                        outcome = self.run(name, most)
                    spent = time.process_time() - began
                    tell((outcome[0], name, spent, {file: f"{mask:x}" for file, mask in tracer.masks().items()}))

            def heard(told: Any, begun: list[str] = begun, ended: list[str] = ended) -> None:
                kind, name, spent, masks = told
                (begun if kind == "begun" else ended).append(name)
                if kind != "begun":
                    record(test=name, passed=kind == "passed", seconds=round(spent, 4), lines=masks, ended=kind)

            self.fork(work, 20 * most, heard)
            for name in set(begun) - set(ended) or ({left[0]} - set(ended)):
                record(test=name, passed=False, seconds=0.0, lines={}, ended="crashed")
                ended.append(name)
            left = [name for name in left if name not in ended]


def _used(group: int) -> float:
    """Return the processor time [s] of the processes of a group; where the system has no /proc, the time."""
    if not Path("/proc/self/stat").is_file():
        return time.monotonic()
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            found = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(found[2]) == group:
            ticks += int(found[11]) + int(found[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _child(write: int, work: Callable[[Callable[[Any], None]], None]) -> None:
    """Run ``work`` in the process that was forked, then exit from it."""
    code = 1
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        work(lambda value: _write(write, json.dumps(value).encode() + b"\n"))
        code = 0
    finally:
        os._exit(code)


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


class _Plugin:
    """Use the collected tests for something else than to run them."""

    def __init__(
        self, root: Path, folders: tuple[str, ...], task: Callable[[Session], None], tracer: Tracer | None,
        compiled: bool,
    ) -> None:  # fmt: skip
        self.root, self.folders, self.task, self.tracer, self.compiled = root, folders, task, tracer, compiled

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        _import_all(self.root, self.folders)
        if self.tracer is not None:
            sys.settrace(None)
        if not self.compiled:
            np.seterr(all="ignore")  # as in compiled code
        tests = Session(self.root, session)
        gc.freeze()  # a collection in a child would copy the memory of all objects
        self.task(tests)
        return True


def _import_all(root: Path, folders: Iterable[str]) -> None:
    """Import all modules of folders, so that no test imports one after a mutant has been applied."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            importlib.import_module(name if name.startswith("fem_mbs") else f"fem_mbs.{name}")


def run_session(
    root: Path, folders: tuple[str, ...], tests: Sequence[str], task: Callable[[Session], None],
    tracer: Tracer | None = None, basetemp: Path | None = None, compiled: bool = False,
) -> int:  # fmt: skip
    """Collect tests and call ``task`` with the session; return the exit code of pytest.

    Args:
        folders: of the package, whose modules are imported before.
        tests: folders, files or names of tests.
        tracer: records the lines that run at import.
        basetemp: folder for temporary files of the tests.
        compiled: whether kernels are compiled; they were imported as Python functions otherwise.
    """
    arguments = ["-q", "-s", "-p", "no:cacheprovider", "--no-header", "-p", "no:xdist"]
    if not compiled:  # numpy warns of what compiled code lets pass
        arguments += ["-W", "ignore::RuntimeWarning"]
    if basetemp is not None:
        arguments.append(f"--basetemp={basetemp}")
    if tracer is not None:
        sys.settrace(tracer._call)
    return pytest.main([*arguments, *tests], plugins=[_Plugin(root, folders, task, tracer, compiled)])
