"""Ranks as threads of one process: what the tests need of MPI, so that they run where it is not installed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np

__all__ = ["run_ranks"]

_MPI = SimpleNamespace(SUM=np.sum, MAX=np.max, COMM_TYPE_SHARED=0, INT64_T=8)


class _Room:
    """What the threads have in common."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.barrier = threading.Barrier(size, timeout=20.0)
        self.things: list[Any] = [None] * size
        self.sent: dict[int, list[np.ndarray]] = {rank: [] for rank in range(size)}


class _Comm:
    """The communicator of a rank, with mpi4py's names."""

    def __init__(self, room: _Room, rank: int) -> None:
        self.room, self.rank, self.size = room, rank, room.size

    def allgather(self, thing: Any) -> list[Any]:
        self.room.things[self.rank] = thing
        self.room.barrier.wait()
        found = list(self.room.things)
        self.room.barrier.wait()
        return found

    def Barrier(self) -> None:
        self.allgather(None)

    def bcast(self, thing: Any) -> Any:
        return self.allgather(thing)[0]

    def Allreduce(self, own: np.ndarray, out: np.ndarray, operation: Callable[..., np.ndarray]) -> None:
        out[...] = operation(self.allgather(own), axis=0)
        self.Barrier()

    def Allgatherv(self, own: np.ndarray, out: list[Any]) -> None:
        parts = self.allgather(own)
        assert [part.size for part in parts] == list(out[1])
        out[0].reshape(-1)[:] = np.concatenate([part.ravel() for part in parts])

    def alltoall(self, things: list[Any]) -> list[Any]:
        return [of[self.rank] for of in self.allgather(things)]

    def Alltoallv(self, own: list[np.ndarray], out: list[np.ndarray]) -> None:
        values, counts = own
        parts = self.alltoall(np.split(values, np.cumsum(counts)[:-1]))
        assert [part.size for part in parts] == list(out[1])
        out[0][:] = np.concatenate(parts)

    def Send(self, values: np.ndarray, to: int) -> None:
        self.room.sent[self.rank].append(values)

    def Probe(self, of: int, status: Any) -> None:
        while not self.room.sent[of]:
            assert not self.room.barrier.broken
        status.Get_count = lambda kind: self.room.sent[of][0].size

    def Recv(self, out: np.ndarray, of: int) -> None:
        while not self.room.sent[of]:
            assert not self.room.barrier.broken
        out[...] = self.room.sent[of].pop(0)

    def Split_type(self, kind: int) -> _Comm:
        return self

    def Split(self, color: int, key: int = 0) -> Any:
        """Return the ranks of the same color: of ranks on one machine the first one of each is alone."""
        return SimpleNamespace(size=1)

    def Free(self) -> None:
        pass


def run_ranks(monkeypatch: Any, size: int, work: Callable[[], Any]) -> list[Any]:
    """Run ``work`` in ``size`` threads, each of which is a rank; return the results."""
    from fem_mbs.solvers.distributed import matrix, ranks

    room, own = _Room(size), threading.local()
    results: list[Any] = [None] * size
    errors: list[BaseException] = []
    mpi = SimpleNamespace(**vars(_MPI), Status=SimpleNamespace)

    def of_this_thread() -> ranks.Ranks:
        return own.ranks

    monkeypatch.setattr(ranks, "share_processors", lambda processes: None)
    for module in (matrix, ranks):
        monkeypatch.setattr(module, "ranks", of_this_thread)

    for held in vars(matrix.DistributedMatrix).values():
        if hasattr(held, "lock"):  # before Python 3.12 a cached property lets one thread in at a time
            monkeypatch.setattr(held, "lock", nullcontext())

    def run(rank: int) -> None:
        try:
            own.ranks = made[rank]
            results[rank] = work()
        except BaseException as error:
            errors.append(error)
            room.barrier.abort()

    made = []
    for rank in range(size):
        mpi.COMM_WORLD = _Comm(room, rank)
        monkeypatch.setattr(ranks, "libraries", lambda: (None, None, mpi))
        made.append(ranks.Ranks())
    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in sorted(errors, key=lambda error: isinstance(error, threading.BrokenBarrierError)):
        raise error
    return results
