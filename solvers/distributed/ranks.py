"""The processes of a distributed run, and the libraries behind it: mpi4py, petsc4py, slepc4py.

No other module imports mpi4py.  Sums and gathers return the same bits on all ranks, so that all take the same branches.
"""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
import weakref
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import numpy as np

from fem_mbs.errors import InputError
from fem_mbs.solvers.memory import return_freed
from fem_mbs.threads import share_processors

__all__ = ["INSTALL", "SCRATCH", "Ranks", "libraries", "ranks", "scratch"]

#: How to get the libraries.
INSTALL = (
    "install them: on Debian apt install python3-petsc4py python3-slepc4py python3-mpi4py openmpi-bin and make petsc, "
    'elsewhere pip install "fem-mbs[petsc]" with a PETSc that has MUMPS (docs/distributed.md)'
)

#: The variable of the environment that names the folder for factors on disk; MUMPS reads it too.
SCRATCH = "MUMPS_OOC_TMPDIR"

#: Where processes of a machine have memory in common, and the bytes to which arrays in it are aligned.
_COMMON, _ALIGNED = "/dev/shm", 64
#: Bytes of vectors from which on they stand once per machine; smaller ones take less time than the memory in common.
COMMON_FROM = 1 << 18

Found = TypeVar("Found")


@cache
def libraries() -> tuple[Any, Any, Any]:
    """Return the modules PETSc, SLEPc and MPI; they are started once.

    Raises:
        InputError: one of them, or MUMPS in PETSc, is not installed, or PETSc computes with complex numbers; factors
            cannot be written to the folder `scratch`.
    """
    scratch()
    try:
        import slepc4py

        slepc4py.init([])
        from mpi4py import MPI
        from petsc4py import PETSc
        from slepc4py import SLEPc
    except ImportError as error:
        raise InputError(f"the backend petsc needs petsc4py, slepc4py and mpi4py ({error}); {INSTALL}") from None
    return_freed()  # Open MPI has switched it off: factors of one matrix would keep memory while the next are made
    if not PETSc.Sys.hasExternalPackage("mumps"):
        raise InputError(f"the backend petsc needs a PETSc with MUMPS, which this one has not; {INSTALL}")
    if np.dtype(PETSc.ScalarType).kind == "c":
        raise InputError("the backend petsc needs a PETSc of real numbers; set PETSC_DIR and SLEPC_DIR to such a build")
    return PETSc, SLEPc, MPI


def scratch() -> str | None:
    """Return the folder in which MUMPS keeps factors on disk, None: they stay in memory.

    Raises:
        InputError: it is no folder, or nothing can be written there.
    """
    folder = os.environ.get(SCRATCH)
    if folder and not (os.path.isdir(folder) and os.access(folder, os.W_OK)):
        raise InputError(
            f'{SCRATCH} = "{folder}" is no folder in which files can be written; make it, or unset the variable to '
            "keep factors in memory"
        )
    return folder or None


class Ranks:
    """All processes of the run: their number ``size``, the number ``rank`` of this one, sums and gathers of arrays."""

    def __init__(self) -> None:
        _, _, self._MPI = libraries()
        self.comm = self._MPI.COMM_WORLD
        self.size, self.rank = int(self.comm.size), int(self.comm.rank)
        self.divide(self.comm.Split_type(self._MPI.COMM_TYPE_SHARED))
        share_processors(self.size)

    def divide(self, machine: Any) -> None:
        """Take the processes of a communicator as those that have memory in common with this one."""
        self.machine = machine
        self._first = self.comm.Split(0 if machine.rank == 0 else 1, self.rank)  # those of machines are connected

    def sum(self, values: Any) -> np.ndarray:
        """Return the sum over all ranks of arrays of one shape."""
        own = np.ascontiguousarray(values)
        out = np.empty_like(own)
        self.comm.Allreduce(own, out, self._MPI.SUM)
        return out

    def largest(self, values: Any) -> np.ndarray:
        """Return the largest entries over all ranks of arrays of one shape."""
        own = np.ascontiguousarray(values)
        out = np.empty_like(own)
        self.comm.Allreduce(own, out, self._MPI.MAX)
        return out

    def whole(self, values: np.ndarray, numbers: np.ndarray, count: int, largest: bool = False) -> np.ndarray:
        """Return rows (count, ...) that are sums of ``values`` (k, ...), each rank's at its own ``numbers`` (k,), or
        the ``largest`` of values that are not negative; zero where no rank has one.

        A large result stands once in the memory of each machine.  Where a rank changes it, the rank gets its own pages.

        Raises:
            InputError: the machine has no room for them, on all ranks.
        """
        shape = (count, *values.shape[1:])
        size = int(np.prod(shape, dtype=int)) * values.dtype.itemsize
        if self.size == 1 or size < COMMON_FROM:
            out = np.zeros(shape, values.dtype)
            out[numbers] = values
            return out if self.size == 1 else self.largest(out) if largest else self.sum(out)
        file = _common_file(self.machine, size)
        out = _mapped(file, size, mmap.MAP_SHARED, shape, values.dtype)
        for turn in range(self.machine.size):  # one after the other, so that sums have the same bits
            if turn == self.machine.rank:
                out[numbers] = np.maximum(out[numbers], values) if largest else out[numbers] + values
            self.machine.Barrier()
        if self.machine.rank == 0 and self._first.size > 1:
            self._first.Allreduce(self._MPI.IN_PLACE, out, self._MPI.MAX if largest else self._MPI.SUM)
        self.machine.Barrier()
        out = _mapped(file, size, mmap.MAP_PRIVATE, shape, values.dtype)
        os.close(file)
        return out

    def exchanged(self, values: np.ndarray, sent: np.ndarray) -> np.ndarray:
        """Return what other ranks send to this one, in the order of ranks: ``sent`` (size,) of the values go to each
        of them."""
        received = np.array(self.comm.alltoall(sent.tolist()))
        out = np.empty(int(received.sum()), values.dtype)
        self.comm.Alltoallv([np.ascontiguousarray(values), sent], [out, received])
        return out

    def collected(self, rows: np.ndarray, numbers: np.ndarray, count: int) -> np.ndarray:
        """Return rows (count, ...) of which each rank gives those of its ascending ``numbers`` (k,): on the first rank;
        none, (0, ...), on others."""
        if self.rank:
            self.comm.Send(np.ascontiguousarray(numbers, np.int64), 0)
            self.comm.Send(np.ascontiguousarray(rows, float), 0)
            return np.empty((0, *rows.shape[1:]))
        out = np.zeros((count, *rows.shape[1:]))
        out[numbers] = rows
        state = self._MPI.Status()
        for other in range(1, self.size):
            self.comm.Probe(other, status=state)
            places = np.empty(state.Get_count(self._MPI.INT64_T), np.int64)
            self.comm.Recv(places, other)
            part = np.empty((places.size, *rows.shape[1:]))
            self.comm.Recv(part, other)
            out[places] = part
        return out

    def made_once(self, make: Callable[[], Found]) -> Found:
        """Return what ``make`` returns, which one rank of each machine calls; its arrays stand once in its memory,
        read-only.

        Raises:
            Exception: that of ``make``, on all ranks; InputError: the machine has no room for them.
        """
        return make() if self.size == 1 else _made_once(self.machine, make)

    def copies(self, make: Callable[[], np.ndarray]) -> Callable[[], np.ndarray]:
        """Return what gives copies of the array that ``make`` returns, which one rank of each machine calls; what is
        not changed of a copy stands once in the memory of the machine."""
        return _Copies(self.machine, make)

    def gathered(self, thing: Any) -> list[Any]:
        """Return an object of each rank."""
        return self.comm.allgather(thing)


def _made_once(machine: Any, make: Callable[[], Found]) -> Found:
    """Return what the first rank of a ``machine`` makes; see `Ranks.made_once`."""
    buffers: list[pickle.PickleBuffer] = []
    told: Any = None
    if machine.rank == 0:
        try:
            text = pickle.dumps(make(), protocol=5, buffer_callback=buffers.append)
            first = np.cumsum([0, *(-(-b.raw().nbytes // _ALIGNED) * _ALIGNED for b in buffers)])
            told = text, first, [b.raw().nbytes for b in buffers]
        except Exception as error:
            told = error
    told = machine.bcast(told)
    if isinstance(told, Exception):
        raise told
    text, first, sizes = told
    size = max(int(first[-1]), 1)
    file = _common_file(machine, size)
    memory = memoryview(mmap.mmap(file, size))
    os.close(file)
    for buffer, at, length in zip(buffers, first, sizes, strict=False):
        memory[at : at + length] = buffer.raw()
    machine.Barrier()
    buffers.clear()
    return pickle.loads(text, buffers=[memory[a : a + n].toreadonly() for a, n in zip(first, sizes, strict=False)])


class _Copies:
    """Gives copies of an array; see `Ranks.copies`."""

    def __init__(self, machine: Any, make: Callable[[], np.ndarray]):
        made = make() if machine.rank == 0 else None
        self._shape, self._type = machine.bcast(None if made is None else (made.shape, made.dtype))
        self._size = max(int(np.prod(self._shape, dtype=int)) * self._type.itemsize, 1)
        self._file = _common_file(machine, self._size)
        weakref.finalize(self, os.close, self._file)
        if made is not None:
            _mapped(self._file, self._size, mmap.MAP_SHARED, self._shape, self._type)[...] = made
        machine.Barrier()

    def __call__(self) -> np.ndarray:
        return _mapped(self._file, self._size, mmap.MAP_PRIVATE, self._shape, self._type)


def _common_file(machine: Any, size: int) -> int:
    """Return a file of so many bytes that all ranks of a ``machine`` have open, and that ends with the last of them.

    Raises:
        InputError: there is no room for it, on all ranks.
    """
    told: Any = None
    file = -1
    if machine.rank == 0:
        folder = _COMMON if os.path.isdir(_COMMON) else tempfile.gettempdir()
        file, path = tempfile.mkstemp(prefix="fem-mbs-", dir=folder)
        told = _room(file, path, size) or path
    told = machine.bcast(told)
    if isinstance(told, Exception):
        raise told
    file = os.open(told, os.O_RDWR) if file < 0 else file
    machine.Barrier()
    if machine.rank == 0:
        os.unlink(told)  # the memory is free when no rank has it any more
    return file


def _mapped(file: int, size: int, flags: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return the array that a file of ``size`` bytes holds."""
    return np.frombuffer(mmap.mmap(file, size, flags), dtype).reshape(shape)


def _room(file: int, path: str, size: int) -> InputError | None:
    """Give a file its size [bytes]; without room for it remove it and return the error."""
    try:
        os.posix_fallocate(file, 0, size)
    except OSError as error:
        os.close(file)
        os.unlink(path)
        folder = os.path.dirname(path)
        return InputError(
            f"what all ranks have in common, {size / 1e9:.3g} GB, does not fit into {folder} ({error.strerror}); give "
            "it more room, or take more machines"
        )
    return None


@cache
def ranks() -> Ranks:
    """Return the processes of this run.

    Raises:
        InputError: as of `libraries`.
    """
    return Ranks()
