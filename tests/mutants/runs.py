"""The sample of mutants, and the runs that try it: resumable, with results in a file of JSON lines."""

from __future__ import annotations

import hashlib
import os
import pickle
import random
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from .nearness import Nearness
from .operators import Mutant, Place, mutant, places
from .reach import IMPORT, Reach, Tracer, append, entries, read_reach
from .session import Outcome, Session, run_session

__all__ = ["DEFAULT_TESTS", "GROUPS", "Group", "Runs"]

#: Tests that are looked at: those of what is mutated, then those of what is built on it.
DEFAULT_TESTS = [
    f"tests/{name}"
    for name in ("contract/test_element_contract.py", "elements", "solvers", "transient", "statics", "linear",
                 "stability", "reduction", "sensitivity", "model")
]  # fmt: skip


@dataclass(frozen=True)
class Group:
    """Packages that have a row of the table and a share of the sample."""

    name: str
    folders: tuple[str, ...]
    share: int


GROUPS = (
    Group("elements", ("elements",), 250),
    Group("solvers", ("solvers",), 130),
    Group("transient", ("fem_mbs/analysis/transient",), 50),
    Group("statics", ("fem_mbs/analysis/statics",), 30),
    Group("linear, stability", ("fem_mbs/analysis/linear", "fem_mbs/analysis/stability"), 40),
)
FOLDERS = tuple(folder for group in GROUPS for folder in group.folders)


def group_of(file: str) -> Group:
    """Return the group of a module."""
    return next(g for g in GROUPS if file.startswith(tuple(f"{folder}/" for folder in g.folders)))


#: Marks of functions that are compiled.
_KERNELS = re.compile(r"^\s*@(kernel|inner|inline)$", re.MULTILINE)

#: Ends of mutants that are tried again.
_AGAIN = ("survived", "not reached", "not applied")
_UNKNOWN = 4.0  # seconds that a test takes whose lines are not recorded


class Runs:
    """A sample and its results.

    Attributes:
        root: of the checkout; folder: for the files.
        count: size of the sample; it is shared by the groups in proportion to their shares.
        seed: of the sample; a larger sample of the same seed contains the smaller one.
        compiled: tests run with compiled kernels, which lets alone the modules that have kernels.
    """

    def __init__(self, root: Path, folder: Path, count: int, seed: int, compiled: bool = False) -> None:
        self.root, self.folder, self.count, self.seed, self.compiled = root, folder, count, seed, compiled
        folder.mkdir(parents=True, exist_ok=True)
        self.reach_file = folder / ("reach-compiled.jsonl" if compiled else "reach.jsonl")
        self.results_file = folder / f"results-{seed}.jsonl"

    @cached_property
    def sample(self) -> list[Mutant]:
        """The mutants, groups after another; a change of a line exchanges those of this line only.

        They are kept in the folder until a module changes.
        """
        sources = {
            str(path.relative_to(self.root)): path.read_text(encoding="utf-8")
            for folder in FOLDERS
            for path in sorted((self.root / folder).rglob("*.py"))
        }
        digest = hashlib.sha256(repr((sources, self.count, self.seed)).encode()).hexdigest()[:16]
        kept = self.folder / f"sample-{digest}.pickle"
        if not kept.is_file():
            kept.write_bytes(pickle.dumps(self._drawn(sources)))
        return list(pickle.loads(kept.read_bytes()))

    def _drawn(self, sources: Mapping[str, str]) -> list[Mutant]:
        def number(text: str) -> bytes:
            return hashlib.sha256(f"{self.seed} {text}".encode()).digest()

        total, chosen = sum(group.share for group in GROUPS), []
        for group in GROUPS:
            found = [place for file, text in sources.items() if group_of(file) == group for place in places(file, text)]
            found.sort(key=lambda place: number(place.key))
            for place in found[: round(self.count * group.share / total)]:
                variant = number(place.key)[-1] % place.count
                chosen.append(mutant(sources[place.file], place, variant))
        return chosen

    @cached_property
    def reach(self) -> Reach:
        """Lines of tests."""
        return read_reach(self.reach_file)

    def results(self) -> dict[str, dict[str, Any]]:
        """Return the latest result of each mutant by its name."""
        return {entry["mutant"]: entry for entry in entries(self.results_file)}

    # --- runs
    def find_reach(self, tests: list[str], most: float) -> int:
        """Record the lines of tests that are not recorded yet; return the exit code of pytest."""
        known = {entry["test"] for entry in entries(self.reach_file)}
        tracer = None if IMPORT in known else Tracer(self.root, FOLDERS, sys.maxsize)

        def record(**entry: object) -> None:
            append(self.reach_file, **entry)

        def task(session: Session) -> None:
            if tracer is not None:
                self._record_import(tracer)
            session.trace([name for name in session.items if name not in known], FOLDERS, most, record)

        return run_session(self.root, FOLDERS, tests, task, tracer, self._temporary(), self.compiled)

    def seek_reach(self, tests: list[str], most: float, enough: int, looks: int) -> int:
        """Record the lines of tests that are near to mutants that are not killed; return the exit code of pytest.

        Args:
            most: a test may take so many seconds.
            enough: a mutant needs so many tests.
            looks: tests that are looked at for a mutant at most, in addition to those whose lines are recorded.
        """
        known = {entry["test"] for entry in entries(self.reach_file)}
        tracer = None if IMPORT in known else Tracer(self.root, FOLDERS, sys.maxsize)
        done = {name for name, result in self.results().items() if result["ended"] not in _AGAIN}
        wanted = [m.place for m in self.sample if m.name not in done and self._runs_here(m.place.file)]
        counts = {place.key: len(self.reach.tests(place)) for place in wanted}

        def record(**entry: Any) -> None:
            append(self.reach_file, **entry)
            for place in wanted if entry["passed"] else ():
                mask = int(entry["lines"].get(place.file, "0"), 16)
                counts[place.key] += any(mask >> line & 1 for line in (place.statement, *place.lines))

        def task(session: Session) -> None:
            from seconds import seconds  # pytest has put its folder on the path

            if tracer is not None:
                self._record_import(tracer)
            near = Nearness(self.root, (*FOLDERS, "fem_mbs"), session.items, seconds())
            left = {place.key: iter([t for t in near.tests(place) if t not in known][:looks]) for place in wanted}
            while True:
                lacking = {key: enough - count for key, count in counts.items() if count < enough}
                chosen = [test for key, count in lacking.items() for test in islice(left[key], count)]
                if not chosen:
                    return
                chosen = list(set(chosen) - known)
                known.update(chosen)
                session.trace(sorted(chosen), FOLDERS, most, record)

        return run_session(self.root, FOLDERS, tests, task, tracer, self._temporary(), self.compiled)

    def _record_import(self, tracer: Tracer) -> None:
        masks = {file: f"{mask:x}" for file, mask in tracer.masks().items()}
        append(self.reach_file, test=IMPORT, passed=True, seconds=0.0, lines=masks, ended="passed")

    def _temporary(self) -> Path:
        return self.folder / f"temporary-{os.getpid()}"

    def _runs_here(self, file: str) -> bool:
        """Return whether the functions of a module are those that tests call: not so if they are compiled."""
        return not (self.compiled and self._has_kernels(file))

    def _has_kernels(self, file: str) -> bool:
        return _KERNELS.search((self.root / file).read_text(encoding="utf-8")) is not None

    def _chosen(self, place: Place, budget: float) -> list[tuple[str, float]]:
        """Return the tests of a place with their times, as many as fit into a budget, at least one."""
        chosen: list[tuple[str, float]] = []
        for test in self.reach.tests(place):
            seconds = self.reach.seconds[test]
            if not chosen or seconds <= budget:
                chosen.append((test, seconds))
                budget -= seconds
            if budget <= 0:
                break
        return chosen

    def try_all(self, budget: float, survivors: bool) -> int:
        """Try the mutants without a result, or those that survived; return the exit code of pytest.

        Several processes may do so at once: each takes the mutants in another order, and leaves out those that have a
        new result.
        """
        former = self.results()
        sample = [m for m in self.sample if self._runs_here(m.place.file)]
        left = [m for m in sample if (former[m.name]["ended"] in _AGAIN if m.name in former else not survivors)]
        random.Random(os.getpid()).shuffle(left)  # what is done when it stops early is a sample too
        left.sort(key=lambda m: not self._has_kernels(m.place.file))  # others may be tried faster with compiled kernels
        tests = {m.name: self._chosen(m.place, budget) for m in left}
        names = sorted({test for chosen in tests.values() for test, _ in chosen})

        def task(session: Session) -> None:
            for m in left:
                if self.results().get(m.name) == former.get(m.name):
                    here = [t for t in tests[m.name] if t[0] in session.items]
                    self._try(session, m, here + self._siblings(session, here, budget))

        if not names:
            return 0
        files = list(dict.fromkeys(name.partition("::")[0] for name in names))
        return run_session(self.root, FOLDERS, files, task, None, self._temporary(), self.compiled)

    def try_against(self, tests: list[str], text: str) -> int:
        """Try the mutants that are not killed and whose names contain a text against given tests, whether their lines
        are recorded or not; return the exit code of pytest."""
        former = self.results()
        left = [
            m for m in self.sample if text in m.name and former.get(m.name, {"ended": _AGAIN[0]})["ended"] in _AGAIN
        ]

        def task(session: Session) -> None:
            usual = [(name, self.reach.seconds.get(name, _UNKNOWN)) for name in session.items]
            for m in left:
                self._try(session, m, usual)

        return run_session(self.root, FOLDERS, tests, task, None, self._temporary(), self.compiled) if left else 0

    def _siblings(self, session: Session, tests: list[tuple[str, float]], budget: float) -> list[tuple[str, float]]:
        """Return tests with the parameters of others, such as all of an element type, whose lines are not recorded.

        They count as taking the time of the others.
        """
        usual: dict[tuple[str, str], float] = {}
        for test, seconds in tests:
            if "[" in test:
                usual.setdefault((test.partition("::")[0], test.partition("[")[2]), seconds)
        found = []
        for test in session.items if usual else ():
            seconds = usual.get((test.partition("::")[0], test.partition("[")[2]), budget)
            if (
                seconds < budget
                and test not in self.reach.seconds
                and not session.items[test].get_closest_marker("long")
            ):
                found.append((test, seconds))
                budget -= seconds
        return found

    def _try(self, session: Session, m: Mutant, tests: list[tuple[str, float]]) -> None:
        began = time.monotonic()
        if not tests:
            outcome, test, text = "not reached", "", ""
        elif self.reach.imported(m.place) and not self.compiled:
            outcome, test, text = self._fresh(m, tests)
        else:
            outcome, test, text = self._tried(session, m, tests)
        append(
            self.results_file, mutant=m.name, file=m.place.file, function=m.place.function, line=m.place.lines.start,
            operator=m.operator, change=m.change, ended=outcome, by=test, text=text, tests=len(tests),
            usual=round(sum(seconds for _, seconds in tests), 2), elapsed=round(time.monotonic() - began, 2),
        )  # fmt: skip

    def _tried(self, session: Session, m: Mutant, tests: list[tuple[str, float]]) -> Outcome:
        """Try a mutant; a test that was not known to pass, or whose process has ended, must pass without the mutant."""
        while tests:
            outcome = session.try_mutant(m, tests)
            if outcome is None:
                break
            usual = dict(tests).get(outcome[1], 0.0)
            surely = outcome[1] in self.reach.seconds and outcome[0] != "crashed"
            if surely or not outcome[1] or session.try_mutant(None, [(outcome[1], usual)]) is None:
                return outcome
            tests = [test for test in tests if test[0] != outcome[1]]
        return "survived", "", ""

    def _fresh(self, m: Mutant, tests: list[tuple[str, float]]) -> tuple[str, str, str]:
        """Try a mutant of lines that run at import, in a new interpreter."""
        command = [sys.executable, "-m", "tests.mutants.fresh", m.place.file, str(m.place.index), str(m.variant)]
        names = [name for name, _ in tests]
        limit = 300 + 20 * sum(seconds for _, seconds in tests)
        try:
            done = subprocess.run([*command, *names], cwd=self.root, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return "slow", "", "at import"
        last = (done.stdout.strip().splitlines() or [""])[-1][:300]
        if done.returncode == 0:
            return "survived", "", last
        return "failed", "", f"exit code {done.returncode}: {last}"
