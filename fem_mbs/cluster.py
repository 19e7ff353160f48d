"""Run tasks in parallel processes, on this machine or on a running cluster, through dask.distributed.

    run_tasks(reduce, [(part, options) for part in parts], workers=4)      # results in the order of the arguments

A worker process that dies (killed, out of memory) takes nothing with it but its task, which is tried again elsewhere.
Tasks are handed out one per worker, never more: a task that kills its worker is then known for certain, the order is
kept, and whatever has not begun when a run is interrupted has left no trace.

dask and distributed are an option of the installation (``pip install "fem-mbs[cluster]"``) and imported here only.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import queue
import re
import shutil
import signal
import tempfile
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import AnalysisError, InputError
from fem_mbs.late import dataclass
from fem_mbs.threads import available, use_threads

__all__ = ["TaskFailure", "TaskPool", "TaskProgress", "refuse_in_workers", "run_tasks"]

#: Threads within a worker: the variants themselves are what runs side by side.
_ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "FEM_MBS_COMPILERS",
        "FEM_MBS_THREADS",
    ),
    "1",
)
_HERE = "127.0.0.1"  # address of local schedulers and workers: other machines cannot reach it
_POLL = 0.5  # seconds between two looks at the workers while tasks run
_PATIENCE = 120.0  # seconds without any worker after which a run gives up
_GONE = 3.0  # seconds without a process after which a worker is replaced; one that is started anew is back in less
_SILENT = logging.CRITICAL + 1
_LOGS = ("distributed", "tornado")


@dataclass(frozen=True)
class TaskProgress:
    """How far a run of tasks is: ``done`` (with a result), ``failed``, ``running`` and ``waiting`` add up to ``total``;
    ``index`` is the task that has just ended, with its result or `TaskFailure`, None at other times."""

    total: int
    done: int
    failed: int
    running: int
    waiting: int
    workers: int
    seconds: float
    index: int | None = None
    result: Any = None


@dataclass(frozen=True)
class TaskFailure:
    """Replaces the result of a failed task: the error, and the number of workers that the task has killed."""

    index: int
    error: Exception
    deaths: int = 0

    @property
    def reason(self) -> str:
        text = " ".join(str(self.error).split())
        if isinstance(self.error, (AnalysisError, InputError)):
            return text
        return f"{type(self.error).__name__}: {text}" if text else type(self.error).__name__


def run_tasks(
    function: Callable[..., Any],
    arguments: Iterable[tuple],
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    attempts: int = 3,
    progress: Callable[[TaskProgress], None] | None = None,
    errors: str = "raise",
) -> list[Any]:
    """Call ``function(*a)`` for every tuple ``a`` of ``arguments`` in worker processes; return the results in order.

    Args:
        function: of a module that the workers can import too (or one that cloudpickle can send); it and the arguments
            are pickled.  A worker uses one thread, and one task runs at a time.
        workers: processes on this machine, by default one per processor and not more than tasks.
        scheduler: address of a running cluster (``"tcp://host:8786"``) that is used instead.
        attempts: how many workers may die of a task before it counts as failed.
        progress: called in this thread with a `TaskProgress` whenever a task ends, and twice a second between.
        errors: "raise" the first failure, the other tasks are dropped; or "return" a `TaskFailure` in its place.

    Raises:
        InputError: dask.distributed is not installed, the scheduler does not answer, a wrong argument.
        AnalysisError: workers do not start, have all gone, or died ``attempts`` times of a task (errors = "raise").
        Exception: what ``function`` has raised (errors = "raise").
    """
    _check_place(workers, scheduler)
    _check_rules(attempts, errors)
    tasks = list(arguments)
    if not tasks:
        return []
    if scheduler is None:
        workers = min(workers or available(), len(tasks))
    with TaskPool(workers, scheduler) as pool:
        return pool.run(function, tasks, attempts=attempts, progress=progress, errors=errors)


def _check_place(workers: int | None, scheduler: str | None) -> None:
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers = {shown(workers)} must be a whole number, at least 1")
    if workers is not None and scheduler is not None:
        raise InputError("give either workers (processes of this machine) or scheduler (a running cluster)")


def _check_rules(attempts: int, errors: str) -> None:
    if errors not in ("raise", "return"):
        raise InputError(f'errors = {shown(errors)} must be "raise" or "return"')
    if isinstance(attempts, bool) or not isinstance(attempts, int) or attempts < 1:
        raise InputError(f"attempts = {shown(attempts)} must be a whole number, at least 1")


class TaskPool:
    """Worker processes that outlive one call of `run`; a context.  Arguments and errors as `run_tasks`."""

    def __init__(self, workers: int | None = None, scheduler: str | None = None, timeout: float = 30.0) -> None:
        _check_place(workers, scheduler)
        self._wanted, self._scheduler, self._timeout = workers, scheduler, timeout
        self._stack = contextlib.ExitStack()
        self._client: Any = None
        self._mend: Callable[[], None] = lambda: None

    def __enter__(self) -> TaskPool:
        refuse_in_workers()
        try:
            import distributed  # noqa: F401
        except ImportError as error:
            raise InputError(
                f"side by side needs dask.distributed, which is not installed here ({error}): "
                'pip install "fem-mbs[cluster]"'
            ) from None
        with contextlib.ExitStack() as stack:  # closes what is open already if something fails
            stack.enter_context(_without_messages())
            self._client = self._start(stack) if self._scheduler is None else self._join(stack, self._scheduler)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *details: object) -> None:
        self._stack.close()
        self._client = None

    @property
    def address(self) -> str:
        """Of the scheduler, for others who want to join."""
        return self._client.scheduler.address

    def count_workers(self) -> int:
        """Workers that are there now."""
        return len(self._client.nthreads())

    # --- opening -----------------------------------------------------------------------------------------------------
    def _start(self, stack: contextlib.ExitStack) -> Any:
        """Start workers on this machine."""
        import dask
        from distributed import Client, LocalCluster

        settings = {
            "distributed.scheduler.allowed-failures": 0,  # deaths are counted here
            "distributed.scheduler.worker-saturation": 1.0,
            "distributed.scheduler.worker-ttl": None,  # compiled code may keep a worker from answering for long
            "distributed.scheduler.http.routes": [],  # no pages about it
            "distributed.worker.http.routes": [],
            "distributed.worker.profile.enabled": False,
            "distributed.nanny.pre-spawn-environ": _ONE_THREAD,
            # A busy machine is slow to start a process; the default of 15 s gives up for good.
            "distributed.deploy.lost-worker-timeout": "1 day",
            "distributed.comm.timeouts.connect": "120s",
        }
        stack.enter_context(_kept_environment([*_ONE_THREAD, "MALLOC_TRIM_THRESHOLD_", "PYTHONHASHSEED"]))
        scratch = tempfile.mkdtemp(prefix="fem-mbs-workers-")
        stack.callback(shutil.rmtree, scratch, ignore_errors=True)
        stack.enter_context(dask.config.set(settings))  # also for workers that are started later
        count = self._wanted or available()
        try:
            cluster = LocalCluster(
                security=_own_keys(),
                n_workers=count, threads_per_worker=1, processes=True, memory_limit=0,
                host=_HERE, dashboard_address=f"{_HERE}:0", worker_dashboard_address=f"{_HERE}:0",
                scheduler_kwargs={"dashboard": False},
                silence_logs=_SILENT, local_directory=scratch, preload=[__name__],
            )  # fmt: skip
        except Exception as error:
            raise AnalysisError(
                f"the worker processes do not start ({' '.join(str(error).split())}); a script that starts them "
                'needs its calls under: if __name__ == "__main__":'
            ) from None
        stack.callback(_close, cluster)
        self._mend = _Mender(cluster, count)
        client = Client(cluster, security=cluster.security, set_as_default=False)
        stack.callback(client.close, timeout=5)
        return client

    def _join(self, stack: contextlib.ExitStack, address: str) -> Any:
        """Connect to a running cluster."""
        from distributed import Client

        if not re.fullmatch(r"(\w+://)?\S+:\d+", address):  # with which dask would wait for a minute
            raise InputError(f'scheduler = "{address}" is not an address; give one such as tcp://host:8786')
        try:
            client = Client(address, timeout=self._timeout, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:  # of time-outs, wrong addresses and wrong protocols
            raise InputError(
                f'scheduler "{address}": no answer ({" ".join(str(error).split()) or type(error).__name__}); start one '
                "with: dask scheduler, and give the address that it prints, such as tcp://host:8786"
            ) from None
        stack.callback(client.close, timeout=5)
        end = time.monotonic() + self._timeout
        while not client.nthreads():
            if time.monotonic() > end:
                raise InputError(
                    f'scheduler "{address}": it has no workers; start some with: dask worker {address} --nthreads 1'
                )
            time.sleep(0.1)
        return client

    # --- running -----------------------------------------------------------------------------------------------------
    def run(
        self,
        function: Callable[..., Any],
        arguments: Iterable[tuple],
        *,
        attempts: int = 3,
        progress: Callable[[TaskProgress], None] | None = None,
        errors: str = "raise",
    ) -> list[Any]:
        """As `run_tasks`, with the workers of this pool."""
        _check_rules(attempts, errors)
        return _Run(self._client, self._mend, function, list(arguments), attempts, progress, errors).run()


def _own_keys() -> Any:
    """Return TLS keys for this run only, so that other users of the machine cannot connect to its workers.

    Return None without the package cryptography, which generates the keys.
    """
    from distributed.security import Security

    try:
        return Security.temporary()
    except ImportError:
        return None


class _Mender:
    """Replace workers of this machine whose supervisor (dask's nanny) has given up. It gives up if its worker dies
    before the worker is registered, for example because a task kills it at once."""

    def __init__(self, cluster: Any, wanted: int) -> None:
        self.cluster, self.wanted = cluster, wanted
        self.gone: dict[Any, float] = {}

    def __call__(self) -> None:
        now = time.monotonic()
        for name, nanny in list(self.cluster.workers.items()):
            if nanny.pid is not None:
                self.gone.pop(name, None)
            elif now - self.gone.setdefault(name, now) > _GONE:
                del self.gone[name]
                self.cluster.loop.add_callback(self._replace, name, nanny)

    async def _replace(self, name: Any, nanny: Any) -> None:
        if self.cluster.workers.get(name) is nanny and nanny.pid is None:
            del self.cluster.workers[name]
            self.cluster.scale(self.wanted)  # opens what is missing
            with contextlib.suppress(Exception):
                await nanny.close(timeout=1)


class _Run:
    """One call of `TaskPool.run`."""

    def __init__(self, client, mend, function, tasks, attempts, progress, errors):
        self.client, self.mend, self.function, self.tasks, self.attempts = client, mend, function, tasks, attempts
        self.progress, self.errors = progress, errors
        self.name = f"fem-mbs-{uuid.uuid4().hex[:12]}"
        self.waiting = deque(range(len(tasks)))
        self.running: dict[str, tuple[int, Any]] = {}
        self.deaths = [0] * len(tasks)
        self.results: list[Any] = [None] * len(tasks)
        self.done = self.failed = self.workers = 0
        self.ended: queue.SimpleQueue = queue.SimpleQueue()
        self.began = self.seen = self.looked = time.monotonic()

    def run(self) -> list[Any]:
        self.look()
        try:
            while self.waiting or self.running:
                self.hand_out()
                try:
                    future = self.ended.get(timeout=_POLL)
                except queue.Empty:
                    self.look()
                    self.tell()
                    continue
                self.take(future)
                if time.monotonic() - self.looked > _POLL:
                    self.look()
        finally:
            left = [future for _, future in self.running.values()]
            if left:
                # the connection may be what has failed
                with contextlib.suppress(Exception):
                    self.client.cancel(left, force=True)
        return self.results

    def hand_out(self) -> None:
        """A task for every worker without one."""
        while self.waiting and len(self.running) < max(self.workers, 1):
            index = self.waiting.popleft()
            key = f"{self.name}-{index}-{self.deaths[index]}"
            future = self.client.submit(_call, self.function, self.tasks[index], key=key, pure=False)
            self.running[key] = (index, future)
            future.add_done_callback(self.ended.put)

    def look(self) -> None:
        """Count the workers; give up when there have been none for long."""
        self.looked = now = time.monotonic()
        try:
            self.workers = len(self.client.nthreads())
        except Exception as error:
            raise AnalysisError(
                f"the connection to the scheduler is lost ({type(error).__name__}: {error}); {self.done} of "
                f"{len(self.tasks)} tasks were done"
            ) from None
        self.mend()
        if self.workers:
            self.seen = now
        elif now - self.seen > _PATIENCE:
            raise AnalysisError(
                f"no worker for {_PATIENCE:.0f} s, {self.done} of {len(self.tasks)} tasks were done; start workers and "
                "run again"
            )

    def take(self, future: Any) -> None:
        """Outcome of a task."""
        from distributed.scheduler import KilledWorker

        index, _ = self.running.pop(future.key)
        if future.status == "finished":
            try:
                result = future.result()
            except Exception as error:
                self.fail(index, error)
                return
            self.done += 1
            self.results[index] = result
            self.tell(index)
        elif future.status != "error":
            raise AnalysisError(
                f"the scheduler has dropped a task; {self.done} of {len(self.tasks)} tasks were done: it was closed, "
                "or the connection to it is lost"
            )
        else:
            error = future.exception()
            if isinstance(error, KilledWorker):
                self.deaths[index] += 1 + getattr(error, "allowed_failures", 0)
                if self.deaths[index] < self.attempts:
                    self.waiting.appendleft(index)
                    self.look()
                    return
                error = AnalysisError(
                    f"the worker process has died in each of {self.deaths[index]} attempts (killed, or out of memory)"
                )
            self.fail(index, error)

    def fail(self, index: int, error: Exception) -> None:
        if self.errors == "raise":
            raise error
        self.failed += 1
        self.results[index] = TaskFailure(index, error, self.deaths[index])
        self.tell(index)

    def tell(self, index: int | None = None) -> None:
        if self.progress is None:
            return
        result = self.results[index] if index is not None else None
        state = (len(self.tasks), self.done, self.failed, len(self.running), len(self.waiting), self.workers)
        self.progress(TaskProgress(*state, time.monotonic() - self.began, index, result))


# --- in the workers --------------------------------------------------------------------------------------------------
_one_at_a_time = threading.Lock()


def _call(function: Callable[..., Any], arguments: tuple) -> Any:
    """Run one task: alone, whatever number of threads the worker has, with one thread for elements and for BLAS."""
    from threadpoolctl import threadpool_limits

    with _one_at_a_time, use_threads(1), threadpool_limits(limits=1):
        return function(*arguments)


def dask_setup(worker: Any) -> None:
    """Called by dask in every worker that is started here: Ctrl-C reaches the workers too, but is for the process that
    has started them."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


# --- in the process that starts them ---------------------------------------------------------------------------------
def refuse_in_workers() -> None:
    """End this process if it is a worker that still imports the script which has started it: what that calls must not
    start workers again.  To be called by whoever does something before `run_tasks`."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise SystemExit(1)  # silently: the process that starts it reports


def _close(cluster: Any) -> None:
    """End the workers, those in the middle of a task at once: dask would wait for them for seconds."""

    def kill() -> None:
        for nanny in list(cluster.workers.values()):
            with contextlib.suppress(OSError, AttributeError):
                if nanny.pid is not None:
                    os.kill(nanny.pid, getattr(signal, "SIGKILL", signal.SIGTERM))

    timer = threading.Timer(0.5, kill)
    timer.daemon = True
    timer.start()
    try:
        cluster.close(timeout=10)
    finally:
        timer.cancel()


@contextlib.contextmanager
def _without_messages() -> Iterator[None]:
    """Keep the logs of dask and its event loop off the screen; the caller reports a dead worker and its task."""
    loggers = {logging.getLogger(name) for name in _LOGS}
    loggers |= {logging.getLogger(name) for name in [*logging.root.manager.loggerDict] if name.startswith(_LOGS)}
    before = [(log, log.handlers[:], log.propagate) for log in loggers]
    for log in loggers:
        log.handlers = [logging.NullHandler()]
        log.propagate = log.propagate and log.name not in _LOGS
    try:
        yield
    finally:
        for log, handlers, propagate in before:
            log.handlers, log.propagate = handlers, propagate


@contextlib.contextmanager
def _kept_environment(names: Iterable[str]) -> Iterator[None]:
    """Restore variables that dask sets in this process for its workers."""
    before = {name: os.environ.get(name) for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
