"""Steps and reductions on PETSc, SLEPc and MUMPS with one and two processes, against those of one process.

The reference is another implementation: scipy's matrices, ARPACK, CHOLMOD or SuperLU.  The tests run in the first
Python that has petsc4py: that of FEM_MBS_PETSC_PYTHON, the one that runs the tests, or that of `make petsc`.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import jobs
import numpy as np
import pytest

from fem_mbs.analysis.distributed.backends import backend_named
from fem_mbs.analysis.distributed.partition import bisected
from fem_mbs.errors import InputError
from fem_mbs.solvers.distributed import ranks as installed

ROOT = Path(__file__).resolve().parents[2]
#: Largest difference over the largest value: of frequencies as promised, of vectors, and of load factors of slender
#: beams by the condition of their stiffness (1e9).
FREQUENCY, VECTOR, BEAMS = 1e-9, 1e-8, 1e-6


@functools.cache
def python() -> str | None:
    """Return a Python in which the backend works, None where there is none."""
    found = [os.environ.get("FEM_MBS_PETSC_PYTHON"), sys.executable, str(ROOT / ".venv-petsc/bin/python")]
    for path in found:
        if path and Path(path).exists() and shutil.which("mpiexec"):
            test = "import slepc4py, petsc4py, mpi4py"
            if subprocess.run([path, "-c", test], capture_output=True, check=False).returncode == 0:
                return path
    return None


def ranks(n: int, *arguments: str, timeout: float = 600.0) -> subprocess.CompletedProcess:
    """Run a Python command in n processes; skip the test where the backend is not installed."""
    path = python()
    if path is None:
        pytest.skip(f"PETSc is not installed: {installed.INSTALL}")
    # a rank that yields while it waits gets its next turn after all other programs, at every message
    env = {
        **os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1",
        "OMPI_MCA_mpi_yield_when_idle": "0", "OMPI_MCA_rmaps_base_oversubscribe": "1", "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    command = ["mpiexec", "-q", "-n", str(n), path, *arguments]
    return subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False)


@pytest.fixture(scope="module")
def local() -> dict:
    return jobs.everything(jobs.LOCAL)


@pytest.fixture(scope="module", params=[1, 2])
def found(request, tmp_path_factory) -> tuple[int, dict]:
    path = tmp_path_factory.mktemp("ranks") / "numbers.json"
    done = ranks(request.param, "tests/distributed/jobs.py", str(path))
    assert done.returncode == 0, done.stderr
    return request.param, json.loads(path.read_text())


def test_results_are_those_of_one_process(found, local):
    _, numbers = found
    for name, value in local.items():
        own, other = np.atleast_1d(value), np.atleast_1d(numbers[name])
        assert own.shape == other.shape, name
        bound = FREQUENCY if name.endswith(("frequencies_hz", "frequencies", "load_factors")) else VECTOR
        bound = BEAMS if name == "frame buckling load_factors" else bound
        known = np.isfinite(own)
        assert np.array_equal(known, np.isfinite(other)), name
        size = np.abs(own[known]).max(initial=1e-300)
        assert np.abs(own - other)[known].max(initial=0.0) <= bound * size, name


def test_frequencies_agree_one_by_one(found, local):
    _, numbers = found
    names = [name for name in local if name.endswith(("frequencies_hz", "buckling load_factors"))]
    names.remove("frame buckling load_factors")
    assert len(names) == 8
    for name in names:
        np.testing.assert_allclose(numbers[name], local[name], rtol=FREQUENCY, atol=1e-4, err_msg=name)


def test_no_rank_has_all(found):
    n, numbers = found
    assert sum(numbers["own rows"]) == numbers["unknowns"]
    assert len(numbers["own entries"]) == n
    own = np.array(numbers["own elements"])  # (ranks, blocks, 3)
    assert own.sum(axis=0).tolist() == [[count] * 3 for count in numbers["elements"]]
    assert numbers["unmade"] == [True, True]  # no rank has made the parameters of all elements
    if n == 2:
        assert (own[:, :, 0] <= 0.55 * np.array(numbers["elements"])).all()
        # what both have are the entries between nodes of the cut
        assert max(numbers["own entries"]) < 0.65 * numbers["entries"]
        assert max(numbers["own rows"]) < 0.65 * numbers["unknowns"]


def test_operations_are_those_of_scipy(found):
    _, numbers = found
    wrong = {name: value for name, value in numbers.items() if name.startswith("algebra") and not value < 1e-13}
    assert not wrong
    assert sum(name.startswith("algebra") for name in numbers) == 2 * 15


def test_a_rank_has_what_its_elements_touch(found):
    n, numbers = found
    layer = 3 * 5 * 4  # unknowns of a layer of nodes: the cut runs between two layers of cells
    for dofs, free, seen, stiffness, mass in numbers["touched"]:
        assert seen == dofs
        assert stiffness == mass == free
    assert sum(dofs for dofs, *_ in numbers["touched"]) == 3 * numbers["nodes"] + (n - 1) * layer
    assert numbers["ghosts"] == [(n - 1) * layer] * n
    assert numbers["solution"] < 1e-9


def test_no_vector_of_all_unknowns_stands_in_each_rank(found):
    n, numbers = found
    if n == 2:  # one rank has all
        assert [sorted(own) for own in numbers["private"]] == [["(260,) bool", "(3, 3) float64"]] * n


def test_one_rank_makes_the_mesh_of_all(found):
    n, numbers = found
    x, cells = jobs.grid("hexahedron", (3, 2, 1), jobs.SIZE)
    assert numbers["makers"] == 1
    assert numbers["meshes"] == [pytest.approx([x.sum(), cells.sum(), 1.0, 2.0 * jobs.SIZE[0]], rel=1e-14)] * n
    assert numbers["mesh errors"] == ["it is damaged"] * n
    assert not any(numbers["writeable"])


def test_what_reductions_do_not_have_is_refused_on_all_ranks(found):
    n, numbers = found
    assert len(numbers["refused stiffening"]) == n
    assert all("stiffening is not distributed" in told for told in numbers["refused stiffening"])


STATIC = """
[mesh.part]
file = "{mesh}"
[material.steel]
E = 2.1e11
nu = 0.3
density = 7850
[[solid]]
name = "bracket"
on = "part:bracket"
material = "steel"
[[support]]
on = "part:wall"
[[force]]
name = "pull"
on = "part:hole"
vector = [0, 0, -5]
[[step]]
type = "{type}"
"""


def write(folder: Path, type: str) -> str:
    path = folder / "model.toml"
    path.write_text(STATIC.format(mesh=ROOT / "examples/bracket/bracket.msh", type=type))
    return str(path)


def test_command_line_writes_once(tmp_path):
    model = write(tmp_path, "modes")
    done = ranks(2, "-m", "fem_mbs", "run", model, "-o", str(tmp_path / "out"), "--backend", "petsc")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("results in") == 1
    assert json.loads((tmp_path / "out/summary.json").read_text())["status"] == "done"


def test_factors_on_disk_give_the_same(tmp_path, monkeypatch):
    found = {}
    for name in ("memory", "disk"):
        if name == "disk":
            (tmp_path / "factors").mkdir()
            monkeypatch.setenv(installed.SCRATCH, str(tmp_path / "factors"))
        folder = str(tmp_path / name)
        done = ranks(2, "-m", "fem_mbs", "run", write(tmp_path, "modes"), "-o", folder, "--backend", "petsc")
        assert done.returncode == 0, done.stderr
        found[name] = json.loads((tmp_path / name / "summary.json").read_text())["steps"][0]["frequencies_hz"]
    np.testing.assert_allclose(found["disk"], found["memory"], rtol=FREQUENCY)
    assert not list((tmp_path / "factors").iterdir())  # they are removed at the end


@pytest.mark.parametrize(
    ("type", "extra", "code", "words"),
    [
        ('static"\nload_increments = 2 #', [], 2, ""),
        ("static", [], 2, "a step of type static is not distributed; run it without --backend"),
        ("modes", ["--restart=0"], 2, "have no restart points"),
        ("modes", ["--set", "material.steel.E=-1"], 2, "E = -1"),
    ],
)
def test_errors_end_all_ranks_with_one_message(tmp_path, type, extra, code, words):
    done = ranks(
        2, "-m", "fem_mbs", "run", write(tmp_path, type), "-o", str(tmp_path / "o"), "--backend", "petsc", *extra
    )
    assert done.returncode == code
    assert words in done.stderr
    assert done.stderr.count("fem-mbs: error") == 1
    assert "Traceback" not in done.stderr


def test_loose_part_is_one_error_of_all_ranks(tmp_path):
    path = Path(write(tmp_path, "linear_static"))
    path.write_text(path.read_text().replace('[[support]]\non = "part:wall"', ""))
    done = ranks(2, "-m", "fem_mbs", "run", str(path), "-o", str(tmp_path / "o"), "--backend", "petsc")
    assert done.returncode == 1
    assert done.stderr.count("the model is loose") == 1


def test_folder_of_another_model_is_refused_before_the_first_step(tmp_path):
    (tmp_path / "o").mkdir()
    (tmp_path / "o/mine.txt").write_text("mine")
    done = ranks(2, "-m", "fem_mbs", "run", write(tmp_path, "modes"), "-o", str(tmp_path / "o"), "--backend", "petsc")
    assert done.returncode == 2
    assert done.stderr.count("fem-mbs: error") == 1
    assert (tmp_path / "o/mine.txt").read_text() == "mine"


def test_command_line_reduces(tmp_path):
    target = tmp_path / "part.h5"
    mesh = str(ROOT / "examples/bracket/bracket.msh")
    done = ranks(
        2, "-m", "fem_mbs", "reduce", mesh, "-i", "wall", "--material", "2.1e11,0.3,7850", "--modes", "4", "-o",
        str(target), "--backend", "petsc",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("written") == 1
    from fem_mbs.parts.formats import read_part

    assert read_part(target).frequencies.size == 4


# --- without the libraries -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_bisection_gives_boxes_of_one_weight(parts):
    rng = np.random.default_rng(5)
    places, weights = rng.random((1000, 3)) * [4.0, 2.0, 1.0], rng.uniform(0.5, 1.5, 1000)
    owner = bisected(places, weights, parts)
    shares = np.bincount(owner, weights, minlength=parts) / weights.sum()
    np.testing.assert_allclose(shares, 1.0 / parts, atol=2.5e-3)
    if parts == 2:  # across the longest side
        assert places[owner == 0, 0].max() <= places[owner == 1, 0].min()


def test_more_parts_than_elements():
    owner = bisected(np.zeros((2, 3)), np.ones(2), 5)
    assert owner.shape == (2,)
    assert 0 <= owner.min() <= owner.max() < 5


def test_missing_libraries_are_named_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "slepc4py", None)
    installed.libraries.cache_clear()
    installed.ranks.cache_clear()
    with pytest.raises(InputError, match=r"apt install python3-petsc4py.*docs/distributed.md"):
        backend_named("petsc")
    installed.libraries.cache_clear()


def test_folder_for_factors_that_is_none_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv(installed.SCRATCH, raising=False)
    assert installed.scratch() is None
    monkeypatch.setenv(installed.SCRATCH, str(tmp_path))
    assert installed.scratch() == str(tmp_path)
    monkeypatch.setenv(installed.SCRATCH, str(tmp_path / "missing"))
    installed.libraries.cache_clear()
    with pytest.raises(InputError, match=r'MUMPS_OOC_TMPDIR = ".*missing" is no folder'):
        installed.libraries()


def test_unknown_backend():
    with pytest.raises(InputError, match="must be one of local, petsc"):
        backend_named("mumps")
