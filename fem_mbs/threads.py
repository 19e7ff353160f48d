"""Threads of this process: how many it may use, calls side by side, and BLAS with one.

One number holds for the process.  It is set by `use_threads`, by the argument ``threads`` of runs, by ``--threads`` of
the command line, or by the environment variable FEM_MBS_THREADS, the first of these that is there.  Without any it is
the number of processors that the process may use.

Results are the same to the bit for any number of threads:

- `side_by_side` makes calls for pieces of fixed sizes, which write to places of their own.  Sums over pieces are for
  the caller to make in a fixed order.
- BLAS splits its loops by the number of its threads, and most of its routines round differently then: dgemm, dsyrk,
  dtrsm, dpotrf and dgemv of OpenBLAS do (``python benchmarks/threads.py blas``).  So `one_blas_thread` holds in every
  analysis.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from fem_mbs.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from threadpoolctl import ThreadpoolController

__all__ = [
    "analysis", "available", "one_blas_thread", "renew_blas", "share_processors", "side_by_side", "thread_count",
    "use_threads",
]  # fmt: skip

#: Environment variable with the number of threads.
VARIABLE = "FEM_MBS_THREADS"
#: The largest number that is taken: more is a mistake on the machines of today.
MOST = 256


def available() -> int:
    """Return the number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _checked(value: Any, name: str) -> int:
    """Return a number of threads, given as a number or as text.

    Raises:
        InputError: it is none.
    """
    number = value
    if isinstance(value, str):
        number = int(value) if value.strip().isascii() and value.strip().isdigit() else None
    if not hasattr(number, "__index__") or isinstance(number, bool) or not 1 <= number.__index__() <= MOST:
        raise InputError(
            f"{name} = {value} must be a whole number from 1 to {MOST}", key=name, value=value,
            remedy=f"leave it out for all processors that the process may use ({available()})",
        )  # fmt: skip
    return number.__index__()


#: The number that was set; None: none was.
_chosen: int | None = None
#: Processes that share the processors.
_sharers = 1


class _Before:
    """A context at whose end the number of threads is again that before it was set."""

    def __init__(self, number: int | None):
        self._number = number

    def __enter__(self) -> None:
        """Begin the context; the number is set already."""

    def __exit__(self, *_: object) -> None:
        """Set the earlier number."""
        global _chosen
        _chosen = self._number


def use_threads(number: int | str | None, name: str = "threads") -> contextlib.AbstractContextManager[None]:
    """Set the number of threads for this process, or within a context: ``with use_threads(2): ...``.

    Args:
        number: of threads; None: FEM_MBS_THREADS, or all processors that the process may use.
        name: of the option that has given it, for the message.

    Raises:
        InputError: it is no whole number from 1 to 256.
    """
    global _chosen
    before, _chosen = _chosen, None if number is None else _checked(number, name)
    return _Before(before)


@contextlib.contextmanager
def analysis(threads: int | None = None) -> Iterator[None]:
    """Hold for a whole analysis: the number of threads, where one is given, and one thread of BLAS.

    Raises:
        InputError: the number, or that of FEM_MBS_THREADS, is none.
    """
    with use_threads(threads) if threads is not None else contextlib.nullcontext():
        thread_count()
        with one_blas_thread():
            yield


def thread_count() -> int:
    """Return the number of threads that this process uses.

    Raises:
        InputError: FEM_MBS_THREADS is no number of threads.
    """
    if _chosen is not None:
        return _chosen
    given = os.environ.get(VARIABLE, "").strip()
    return _checked(given, VARIABLE) if given else max(1, min(available() // _sharers, MOST))


def share_processors(processes: int) -> None:
    """Leave processors to other processes of the same run: without a number that was set, each takes its share."""
    global _sharers
    _sharers = processes


# --- calls side by side ----------------------------------------------------------------------------------------------
@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(workers, "fem-mbs")


if hasattr(os, "register_at_fork"):  # a child has no threads but its own
    os.register_at_fork(after_in_child=_pool.cache_clear)


def side_by_side(call: Callable[[int], object], count: int) -> None:
    """Call ``call(0)`` ... ``call(count - 1)`` in this and other threads; each next call goes to the thread that is
    free.

    The calls must not depend on each other.  After an error, or an interruption of this thread, no further calls begin.

    Raises:
        Exception: that of the first call, by its number, that has failed.
    """
    threads = min(thread_count(), count)
    if threads <= 1:
        for i in range(count):
            call(i)
        return
    numbers = itertools.count()  # (next is atomic)
    failed: dict[int, BaseException] = {}
    stopped = False

    def work() -> None:
        while not stopped and not failed:
            i = next(numbers)
            if i >= count:
                return
            try:
                call(i)
            except Exception as error:
                failed[i] = error

    others: list[Future[None]] = []
    try:
        pool = _pool(threads - 1)
        others = [pool.submit(work) for _ in range(threads - 1)]
        work()
    finally:
        stopped = True
        for other in others:
            if not other.cancel():
                other.result()
    if failed:
        # numbers are given out in order, so that all calls before the first failure have been made
        raise failed[min(failed)]


# --- BLAS ------------------------------------------------------------------------------------------------------------
@cache
def _blas() -> ThreadpoolController:
    """Return the controller of threads for all loaded BLAS libraries, scipy's among them."""
    import scipy.linalg  # noqa: F401  (it loads its own)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


_lock = threading.RLock()
_depth = 0
_limits: list[Any] = []


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread: its results depend on their number, and on the small dense blocks of sparse factors
    more threads cost more than they bring."""
    global _depth
    with _lock:
        if _depth == 0:
            _limits.append(_blas().limit(limits=1, user_api="blas"))
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            while _depth == 0 and _limits:
                _limits.pop().restore_original_limits()


def renew_blas() -> None:
    """Look for BLAS libraries again, after another one was loaded, and limit it where a limit holds."""
    with _lock:
        _blas.cache_clear()
        if _depth:
            _limits.append(_blas().limit(limits=1, user_api="blas"))
