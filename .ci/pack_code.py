"""Compile kernels for the level of processors of `fem_mbs.compiling.packed_code` and write them to a folder.

    python .ci/pack_code.py FOLDER [KERNEL ...]      all kernels, if none is named

It takes the package of the interpreter that runs it; `.ci/wheel.sh` calls it with that of an installed wheel.
"""

from __future__ import annotations

import json
import lzma
import os
import pickle
import sys
from pathlib import Path

from fem_mbs.compiling import packed_code


def write(folder: Path, names: list[str]) -> int:
    """Write the code of kernels and what it was made for; return the number of kernels."""
    from fem_mbs.compiling.in_advance import all_kernels, compile_kernels

    kernels = [k for k in all_kernels() if not names or k.name in names]
    compile_kernels(kernels)
    folder.mkdir(parents=True, exist_ok=True)
    for kernel in kernels:
        cache = kernel.cache
        stored = (kernel.arguments, cache.stored(kernel.arguments, kernel.function.targetctx))
        path = packed_code.place(folder, cache.digest, cache.base)
        path.write_bytes(lzma.compress(pickle.dumps(stored, protocol=5)))
    level, features = packed_code.level()
    about = {**packed_code.versions(), "level": level, "features": list(features)}
    (folder / packed_code.ABOUT).write_text(json.dumps(about, indent=1) + "\n", "utf-8")
    return len(kernels)


if __name__ == "__main__":
    wanted = {"NUMBA_CPU_NAME": packed_code.level()[0], "NUMBA_CPU_FEATURES": ""}
    if any(os.environ.get(key) != value for key, value in wanted.items()):  # numba reads them at its import
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **wanted})
    print(f"{write(Path(sys.argv[1]), sys.argv[2:])} kernels in {sys.argv[1]}")
