"""Compilation of kernels in advance, several processes side by side.

Kernels that are missing in the cache are compiled by this process and by *workers*, interpreters of their own. A worker
gets names on its input, one line each, and answers with a line when the machine code is on disk.  It loads nothing of
the user's program.  Kernels of one module share much of what has to be compiled: who has begun with a module keeps it.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue

from fem_mbs.compiling.machine_code import cache_root, costs, uncached_reason, within_batch
from fem_mbs.contract import KERNELS, Kernel
from fem_mbs.progress import Compiling, tell

__all__ = ["PROCESSES", "all_kernels", "compile_kernels", "missing_kernels", "processes"]

#: Environment variable with the number of processes that compile.
PROCESSES = "FEM_MBS_COMPILERS"
_FOUND: set[str] = set()  # names of kernels that are compiled or on disk
_START = 1.0  # [s] of processor time before a worker compiles
_WORTH = 3.0  # [s] of compilation from which workers are started unasked
_WORKER = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from fem_mbs.compiling.in_advance import work; work(sys.argv[2])"
)


def processes() -> int:
    """Return the number of processes that compile side by side: as many as processors, or `PROCESSES`."""
    given = os.environ.get(PROCESSES, "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def all_kernels() -> list[Kernel]:
    """Return the kernels of all registered element types and of the solvers."""
    from fem_mbs.elements.registry import element_type, element_types

    importlib.import_module("fem_mbs.solvers.stepping.signatures")
    for name in element_types():
        element_type(name)
    places = ("fem_mbs.elements.", "fem_mbs.solvers.", "fem_mbs.contract:")
    return [k for k in KERNELS.values() if k.name.startswith(places)]


def missing_kernels(kernels: Iterable[Kernel]) -> list[Kernel]:
    """Return the kernels that are neither compiled in this process nor on disk, each once.

    What has been found once is not looked for again: numba takes long to compare types, and every run asks.
    """
    asked = {kernel.name: kernel for kernel in kernels}
    missing = [kernel for name, kernel in asked.items() if name not in _FOUND and kernel.missing()]
    _FOUND.update(asked.keys() - {kernel.name for kernel in missing})
    return missing


def compile_kernels(kernels: Iterable[Kernel], count: int | None = None) -> int:
    """Compile what is missing of some kernels, telling `fem_mbs.progress.told`; return how many were.

    Args:
        count: number of processes; None: `processes`, or this one alone where that is not slower.
    """
    missing = missing_kernels(kernels)
    if not missing:
        return 0
    expected = dict(zip([k.name for k in missing], costs([k.name for k in missing]), strict=True))
    # workers know the modules of this package only, and what they compile must be found on disk
    shared = [k for k in missing if k.name.startswith("fem_mbs.") and sys.executable and not uncached_reason()]
    wanted = processes() if count is None else count
    rest = sum(expected[k.name] for k in shared)
    if len(shared) < 2 or wanted < 2 or (count is None and rest < _WORTH):
        shared = []
    here = [k for k in missing if k not in shared]
    workers = min(wanted, len(shared))
    state = _State(expected, max(workers, 1), _START if shared else 0.0)
    try:
        if shared:
            with _Pool([k.name for k in shared], expected, workers) as pool:
                for begun, ended in pool.events(state.tell):
                    state.note(begun, ended)
            here += [k for k in shared if k.name in pool.left]
        with within_batch():
            for kernel in here:
                state.note(kernel.name, None)
                kernel.compile()
                state.note(None, kernel.name)
    finally:
        tell(None)
    return len(missing)


class _State:
    """The progress of a batch, and its estimate of the time left, which follows the time that has passed."""

    def __init__(self, expected: dict[str, float], workers: int, start: float):
        self._expected, self._workers = expected, workers
        self._total = sum(expected.values()) / workers + start
        self._left = {**expected}
        self._begun: dict[str, float] = {}
        self._kernel = ""
        self._when = time.monotonic()
        self.tell()

    def note(self, begun: str | None, ended: str | None) -> None:
        """Note that a kernel has begun, or has ended."""
        if begun is not None:
            self._begun[begun] = time.monotonic()
            self._kernel = begun
        if ended is not None:
            self._left.pop(ended, None)
            self._begun.pop(ended, None)
        self.tell()

    def tell(self) -> None:
        """Tell the present state."""
        now = time.monotonic()
        # of what is being compiled, the time that it has taken so far counts
        going = sum(min(now - began, 0.9 * self._expected[name]) for name, began in self._begun.items())
        longest = max(self._left.values(), default=0.0)  # no kernel is compiled by two
        left = max((sum(self._left.values()) - going) / self._workers, longest - going)
        done = self._total - left
        passed = now - self._when
        if done > 0.2 * self._total and passed > 1.0:  # a busy machine shows itself
            left *= max(passed / done, 1.0)
        n = len(self._expected)
        tell(Compiling(n - len(self._left), n, left, self._kernel))


class _Pool:
    """Workers, a thread of this process that does as they do, and the names that they have still to compile."""

    def __init__(self, names: list[str], expected: dict[str, float], workers: int):
        self._names, self._expected = list(names), expected
        self._taken: dict[str, int] = {}  # module: the worker that has begun with it
        self._lock = threading.Lock()
        self._answers: SimpleQueue[tuple[str | None, str | None]] = SimpleQueue()
        self._count = workers - 1
        self.left: list[str] = []  # kernels that workers do not know, or could not compile
        self._workers: list[subprocess.Popen] = []
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> _Pool:
        paths = json.dumps([str(Path(p).absolute()) if p else str(Path.cwd()) for p in sys.path])
        environment = {**os.environ, PROCESSES: "1"}
        for _ in range(self._count):
            self._workers.append(
                subprocess.Popen(
                    [sys.executable, "-c", _WORKER, paths, str(cache_root())],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                    env=environment,
                    start_new_session=True,  # Ctrl-C is for this process, which ends them
                )
            )  # fmt: skip
        for number, worker in enumerate(self._workers):
            self._threads.append(threading.Thread(target=self._serve, args=(number, worker), daemon=True))
            self._threads[-1].start()
        # nobody waits for it at the end: a kernel that it has begun takes seconds
        threading.Thread(target=self._compile, args=(len(self._workers),), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._names.clear()
        for worker in self._workers:
            worker.kill()
            worker.wait()
        for thread in self._threads:  # none waits longer: there is nobody to answer
            thread.join()
        for worker in self._workers:
            for pipe in (worker.stdin, worker.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()

    def _next(self, number: int) -> str | None:
        """Return the name that a worker compiles next: of its own modules, else of the module with the most to do that
        nobody has begun, else of any."""
        with self._lock:
            if not self._names:
                return None
            work: dict[str, float] = {}
            for name in self._names:
                module = name.partition(":")[0]
                work[module] = work.get(module, 0.0) + self._expected[name]
            own = [m for m in work if self._taken.get(m) == number]
            fresh = [m for m in work if m not in self._taken]
            module = max(own or fresh or work, key=lambda m: work[m])
            self._taken.setdefault(module, number)
            name = max((n for n in self._names if n.partition(":")[0] == module), key=lambda n: self._expected[n])
            self._names.remove(name)
            return name

    def _serve(self, number: int, worker: subprocess.Popen) -> None:
        """Hand names to a worker until there are none left; what it cannot compile is left to this process."""
        assert worker.stdin is not None and worker.stdout is not None
        answer = name = self._next(number)
        while name is not None:
            self._answers.put((name, None))
            with contextlib.suppress(OSError):
                worker.stdin.write(f"{name}\n")
                worker.stdin.flush()
            answer = worker.stdout.readline().strip()
            if answer != name:
                self.left.append(name)
            else:
                self._answers.put((None, name))
            name = self._next(number) if answer else None  # without an answer it has ended
        self._answers.put((None, None))

    def _compile(self, number: int) -> None:
        """Compile in this process until there are no names left."""
        with within_batch():
            while (name := self._next(number)) is not None:
                self._answers.put((name, None))
                try:
                    with _alone(cache_root(), name):
                        KERNELS[name].compile()
                except Exception:  # it comes again where the caller compiles what is left
                    self.left.append(name)
                else:
                    self._answers.put((None, name))
        self._answers.put((None, None))

    def events(self, wait: Callable[[], None]) -> Iterator[tuple[str | None, str | None]]:
        """Yield (kernel that has begun, kernel that has ended) until all are done; ``wait`` is called in between."""
        ended = 0
        while ended <= len(self._workers):
            try:
                begun, done = self._answers.get(timeout=0.5)
            except Empty:
                wait()
                continue
            if begun is None and done is None:
                ended += 1
            else:
                yield begun, done
        self.left += self._names


# --- workers ---------------------------------------------------------------------------------------------------------
def work(folder: str) -> None:
    """Compile the kernels whose names come on the input, and answer each with its name."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # prints of libraries must not mix with answers
    for line in sys.stdin:
        name = line.strip()
        module = name.partition(":")[0]
        importlib.import_module(module)
        if module.startswith("fem_mbs.solvers."):
            importlib.import_module("fem_mbs.solvers.stepping.signatures")
        if name not in KERNELS:  # one that another module has made by a function of this one
            all_kernels()
        known = name in KERNELS
        if known:
            with within_batch(), _alone(Path(folder), name):
                KERNELS[name].compile()
        answers.write(f"{name if known else '?'}\n")
        answers.flush()


@contextlib.contextmanager
def _alone(folder: Path, name: str) -> Iterator[None]:
    """Wait while another process compiles the same kernel: it is on disk then.  Locks end with their processes."""
    try:
        import fcntl
    except ImportError:  # Windows: both compile it
        yield
        return
    path = folder / "locks" / name.replace(":", ".")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
