"""Let the kernels run as Python functions, those included that compiled code calls by their address.

With NUMBA_DISABLE_JIT=1 numba leaves functions as they are, but the intrinsics of `fem_mbs.contract` exist in machine
code only.  Here they are Python functions too: the address of a kernel is its place in a list.
"""

from __future__ import annotations

import os

os.environ["NUMBA_DISABLE_JIT"] = "1"  # read when numba is imported

from typing import Any

from fem_mbs import contract

__all__ = ["use_plain_kernels"]

_KERNELS: list[Any] = []


def _address(function: Any) -> int:
    if function not in _KERNELS:
        _KERNELS.append(function)
    return _KERNELS.index(function)


def _call(where: int, *arguments: Any) -> None:
    _KERNELS[where](*arguments)


def _borrow(array: Any) -> Any:
    return array


def use_plain_kernels() -> None:
    """Replace the intrinsics; to be called before modules import them from `fem_mbs.contract`."""
    contract.address = _address
    contract.call = contract.call_by_address = _call
    contract.borrow = _borrow
