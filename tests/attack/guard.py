"""Run many cases in forked processes: if a case crashes or hangs, its process is replaced, and the case is counted."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import mmap
import os
import resource
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fem_mbs.errors import FemMbsError

__all__ = ["Attack", "Tally", "Wrong", "judge", "run_attack"]

#: A case: it is called with its seed, and returns a word for how it ended: "accepted", "refused" ...
Case = Callable[[int], str]

_SEED, _BEGAN, _AT = range(3)  # entries of a slot: present seed, start of its case [s], index of the seed
_MEMORY = 8 << 30  # limit of the address space in bytes, so that an absurd allocation fails
_LONGEST_MESSAGE = 6000
_POLL = 0.05  # seconds
_PREPARES = 300.0  # seconds in addition that a process may take before its first case


class Wrong(Exception):
    """A case that neither gave a sound result nor ended in one clear error."""


@dataclass(frozen=True)
class Attack:
    """A kind of cases.

    Attributes:
        name: of the kind; tried: what is tried, for the table.
        make: is called in every process with a folder for it, and returns the case.
        seconds: time limit of one case.
        silent: output of the case to stdout or stderr is a failure.
        warm: run one case in the parent process first, which imports and compiles what all processes need.
    """

    name: str
    tried: str
    make: Callable[[Path], Case]
    seconds: float = 20.0
    silent: bool = True
    warm: bool = True


@dataclass
class Tally:
    """Results of many cases: the number of cases by word in ``ends``, and (seed, text) of each failure."""

    attack: Attack
    seeds: range
    ends: dict[str, int] = field(default_factory=dict)
    failures: list[tuple[int, str]] = field(default_factory=list)
    elapsed: float = 0.0

    @property
    def count(self) -> int:
        """Return the number of cases."""
        return sum(self.ends.values()) + len(self.failures)


def judge(call: Callable[[], object], *names: str) -> str:
    """Return "accepted" if the call returns, "refused" if it raises one valid error of the package.

    Raises:
        Wrong: the message of the error is empty, too long, has several lines, or contains none of ``names``.
        Exception: any that is not an error of the package.
    """
    try:
        call()
    except FemMbsError as error:
        text = str(error)
        if not text.strip() or "\n" in text or len(text) > _LONGEST_MESSAGE:
            raise Wrong(f"message of {len(text)} characters: {text[:200]!r}") from error
        if names and not any(name in text for name in names):
            raise Wrong(f"message without the thing: {text[:200]}") from error
        return "refused"
    return "accepted"


def run_attack(attack: Attack, count: int, workers: int = 1, first: int = 0) -> Tally:
    """Run the cases of ``count`` seeds, from ``first`` on, in ``workers`` forked processes."""
    tally = Tally(attack, range(first, first + count))
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fem-mbs-attack-") as folder:
        shares = [_Share(attack, tally.seeds[k::workers], Path(folder) / str(k)) for k in range(workers)]
        try:
            while sum(share.look() for share in shares):
                time.sleep(_POLL)
        except KeyboardInterrupt:
            pass  # the cases until then count
        finally:
            for share in shares:
                share.stop()
        for share in shares:
            share.collect(tally)
    tally.failures.sort()
    tally.elapsed = time.monotonic() - began
    return tally


class _Share:
    """The cases of one process at a time; a new process goes on where a case has ended the last one."""

    def __init__(self, attack: Attack, seeds: range, folder: Path) -> None:
        self.attack, self.seeds, self.folder = attack, seeds, folder
        # shared memory; a float is written in one store, so the parent reads no half of it
        self.slot = np.frombuffer(mmap.mmap(-1, 24))
        self.pid = 0
        self.crashed: list[tuple[int, str]] = []
        folder.mkdir(parents=True)
        self._start(0)

    def _start(self, at: int) -> None:
        if at >= len(self.seeds):
            self.pid = 0
            return
        self.slot[:] = self.seeds[at], time.monotonic() + _PREPARES, at
        self.pid = os.fork()
        if not self.pid:
            _work(self.attack, self.seeds, at, self.folder, self.slot)  # does not return

    def look(self) -> bool:
        """Check the process, replace it if it has ended or hangs; return whether cases remain."""
        if not self.pid:
            return False
        began, seed, at = self.slot[_BEGAN], int(self.slot[_SEED]), int(self.slot[_AT])
        done, status = os.waitpid(self.pid, os.WNOHANG)
        if not done and time.monotonic() - began > self.attack.seconds:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.crashed.append((seed, f"no end within {self.attack.seconds:g} s"))
            self._start(at + 1)
        elif done and status:
            how = os.waitstatus_to_exitcode(status)
            self.crashed.append((seed, f"the process ended by signal {-how}" if how < 0 else f"it ended by exit {how}"))
            self._start(at + 1)
        elif done:
            self.pid = 0
        return bool(self.pid)

    def stop(self) -> None:
        """Kill the process."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    def collect(self, tally: Tally) -> None:
        """Add the results of all processes to the tally."""
        tally.failures += self.crashed
        with contextlib.suppress(OSError):
            for line in (self.folder / "ends").read_text(encoding="utf-8").splitlines():
                seed, end, text = json.loads(line)
                if text:
                    tally.failures.append((seed, text))
                else:
                    tally.ends[end] = tally.ends.get(end, 0) + 1


def _work(attack: Attack, seeds: range, at: int, folder: Path, slot: np.ndarray) -> None:
    """Run the cases of seeds from index ``at`` on in this process, then exit from it."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        faulthandler.disable()  # pytest enables it, and it would print
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        printed = os.open(folder / "printed", os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        own = folder / f"from {at}"
        own.mkdir()
        case = attack.make(own)
        os.ftruncate(printed, 0)
        with (folder / "ends").open("a", encoding="utf-8") as told:
            for i in range(at, len(seeds)):
                # set before the seed: the parent must not see a new seed with an old start
                slot[_BEGAN] = time.monotonic()
                slot[_SEED], slot[_AT] = seeds[i], i
                end, text = "", ""
                try:
                    end = case(seeds[i])
                except Wrong as wrong:
                    text = f"wrong: {wrong}"
                except BaseException as error:
                    text = f"{type(error).__name__}: {error}"
                if os.fstat(printed).st_size:
                    if attack.silent and not text:
                        text = f"it prints {os.pread(printed, 200, 0)!r}"
                    os.ftruncate(printed, 0)
                told.write(json.dumps([seeds[i], end, text[:500]]) + "\n")
                told.flush()
        code = 0
    finally:
        os._exit(code)
