"""What the start of a command costs: modules that a run of a small model loads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "slider_crank" / "model.toml"
# Modules that take time to load, and that the model has no use for.
UNUSED = (
    "PIL", "dask", "distributed", "matplotlib", "mpi4py", "petsc4py", "pyvista", "slepc4py",
    "scipy.integrate", "scipy.interpolate", "scipy.io", "scipy.ndimage", "scipy.optimize", "scipy.signal",
    "scipy.spatial", "scipy.special", "scipy.stats", "xml.sax.saxutils",
    "numba.misc.gdb_hook", "numba.np.linalg",  # what numba needs to compile
    "fem_mbs.meshes.abaqus", "fem_mbs.meshes.nastran", "fem_mbs.model.copies.rules", "fem_mbs.decks.abaqus",
    "fem_mbs.properties.section_solver", "fem_mbs.analysis.blows", "fem_mbs.analysis.chains", "fem_mbs.show",
    "fem_mbs.analysis.stability", "fem_mbs.sweeps",
)  # fmt: skip
MOST = 375  # modules of this package; 358 when the test was written
RUN = """
import json, sys
sys.argv = ["fem-mbs", "run", *sys.argv[1:]]
from fem_mbs.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code
from fem_mbs.declarations import steps
print(json.dumps([list(sys.modules), list(steps._kinds)]))
"""


def test_a_run_loads_what_its_model_needs(tmp_path):
    """The second run of a model, whose kernels are on disk."""
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", RUN, str(MODEL), "-o", str(tmp_path), "-q"],
            capture_output=True, text=True, check=False, cwd=ROOT,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    modules, kinds = json.loads(done.stdout)
    assert [name for name in UNUSED if name in modules] == []
    assert kinds == ["transient"]
    assert sum(name.startswith("fem_mbs") for name in modules) <= MOST
