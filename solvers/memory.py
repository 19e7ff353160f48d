"""Memory of this process: whether arrays that are freed leave their pages to the next ones, or return them to the
system.

The allocator of Linux (glibc) gives every array of more than 128 kB to 32 MB pages of its own, which the system clears
when they are first used: a tenth of the time of a run of 1e5 dofs.  Other systems decide by themselves.
"""

from __future__ import annotations

import contextlib

__all__ = ["KEPT", "keep_freed", "return_freed"]

#: Nodes up to which freed arrays keep their pages.  The gaps between arrays take memory: 3 % of a part of 67 000 nodes,
#: a fifth of one of 98 000.
KEPT = 70_000

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -3, -4  # of mallopt


def keep_freed(nodes: int) -> None:
    """Let arrays that are freed leave their pages to the next ones, until the process ends, where a model has few
    enough ``nodes``.

    Only for a process that ends with its analysis: it holds its largest memory up to then.
    """
    if nodes <= KEPT:
        _set((_MMAP_MAX, 0), (_TRIM_THRESHOLD, -1))


def return_freed() -> None:
    """Let large arrays go back to the system when they are freed."""
    _set((_MMAP_MAX, 65536), (_MMAP_THRESHOLD, 1 << 20), (_TRIM_THRESHOLD, 1 << 20))


def _set(*values: tuple[int, int]) -> None:
    import ctypes

    with contextlib.suppress(AttributeError, OSError, TypeError):  # other systems than Linux with glibc
        library = ctypes.CDLL(None)
        for parameter, value in values:
            library.mallopt(parameter, value)
