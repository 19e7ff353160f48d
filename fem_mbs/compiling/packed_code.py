"""Machine code that comes with a wheel, for usual processors; without it, or where it does not fit, kernels compile.

A wheel of `.ci/wheel.sh` has the folder `packed_code`: a file per kernel, and ``about.json``, which says for what it
was made.  It is used if numba, llvmlite and Python are of the same versions, the processor has the instructions, and
the digest of the sources of the kernel is that of the file.  The code is for a level of processors (x86-64-v3: since
2013), which was found up to 15 % slower than code for the very processor, and not slower for larger models.
"""

from __future__ import annotations

import functools
import json
import lzma
import pickle
import platform
import sys
from pathlib import Path
from typing import Any

import llvmlite
import numba
from llvmlite import binding

__all__ = ["ABOUT", "PACKED", "has", "level", "packed", "place", "usable", "versions"]

#: Folder of the code of this installation.
PACKED = Path(__file__).with_name("packed_code")
ABOUT = "about.json"
#: Machine: the processor of LLVM that code is made for, and what a processor must have to run it.
_LEVELS = {
    "x86_64": (
        "x86-64-v3",
        ("avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2", "ssse3", "xsave"),
    ),
    "aarch64": ("generic", ("neon",)),
}


def level() -> tuple[str, tuple[str, ...]]:
    """Return the processor that code is made for on a machine like this, and the instructions that it needs.

    Raises:
        KeyError: none is known.
    """
    return _LEVELS[platform.machine()]


def versions() -> dict[str, str]:
    """Return the properties of machine and versions that must agree where code is made and where it runs."""
    return {
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "python": f"{sys.implementation.name} {sys.version_info.major}.{sys.version_info.minor}",
        "triple": binding.get_process_triple(),
    }


@functools.cache
def usable(folder: Path) -> bool:
    """Return whether the code of a folder runs here."""
    try:
        about = json.loads((folder / ABOUT).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    settings = vars(numba.config)
    chosen = settings["CPU_NAME"] is not None or settings["CPU_FEATURES"] is not None  # the user wants other code
    if chosen or any(about.get(k) != v for k, v in versions().items()):
        return False
    has = binding.get_host_cpu_features()
    return all(has.get(feature, False) for feature in about.get("features", ["of nobody"]))


def place(folder: Path, digest: str, name: str) -> Path:
    """Return the file of a kernel."""
    return folder / f"{digest}-{name}.xz"


def has(digest: str, name: str) -> bool:
    """Return whether there is code of a kernel that runs here."""
    return usable(PACKED) and place(PACKED, digest, name).is_file()


def packed(digest: str, name: str, arguments: tuple) -> Any:
    """Return the stored form of a kernel, None if there is none for these types of arguments.

    Args:
        digest: of the sources of the kernel.
        name: that numba gives the files of the kernel, with the version of Python.
    """
    if not has(digest, name):
        return None
    types, code = pickle.loads(lzma.decompress(place(PACKED, digest, name).read_bytes()))
    return code if types == arguments else None
