"""One command by all processes of `mpiexec`: the first one speaks."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["first_rank", "meshes_in_common", "together"]


def together(work: Callable[[], int], ended: Callable[[BaseException], int]) -> int:
    """Return the exit code of ``work``, which all processes do; they end together, with one message.

    Args:
        ended: says what has ended ``work`` and returns the exit code.

    Raises:
        InputError: the libraries are not installed.
    """
    from fem_mbs.analysis.distributed.run import agreed
    from fem_mbs.solvers.distributed.ranks import ranks

    rank, voice = ranks().rank, sys.stderr
    if rank:
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (until the process ends)

    def end(error: BaseException) -> int:
        if isinstance(error, SystemExit):  # which has said why
            return error.code if isinstance(error.code, int) else 1
        sys.stderr = voice
        return ended(error)

    return agreed(work, end)


@contextmanager
def meshes_in_common(distributed: bool) -> Iterator[None]:
    """Let one process of each machine read or generate the meshes of models that all build within the block; their
    arrays stand once in its memory."""
    if not distributed:
        yield
        return
    from fem_mbs.meshes.making import made_by
    from fem_mbs.solvers.distributed.ranks import ranks

    with made_by(ranks().made_once):
        yield


def first_rank() -> bool:
    """Return whether this process is the first one of the run."""
    from fem_mbs.solvers.distributed.ranks import ranks

    return ranks().rank == 0
