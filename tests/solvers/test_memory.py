"""Pages of freed arrays: kept for the next arrays, or returned to the system."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

CODE = """
import resource
import numpy as np
from fem_mbs.solvers.memory import KEPT, keep_freed, return_freed

{0}
faults = []
for _ in range(4):
    a = np.ones(8_000_000)  # 64 MB: beyond what the allocator keeps by itself
    del a
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
print(faults[-1] - faults[0])
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="pages are the allocator's choice elsewhere")
def test_freed_arrays_leave_their_pages():
    """Three more arrays of one size need no new pages; of 4 kB each they would be 47 000, of 2 MB 96."""

    def faults(call):
        done = subprocess.run([sys.executable, "-c", CODE.format(call)], check=True, capture_output=True, text=True)
        return int(done.stdout)

    assert faults("keep_freed(KEPT)") < 20
    assert faults("keep_freed(KEPT + 1)") > 90
    assert faults("keep_freed(KEPT); return_freed()") > 90
