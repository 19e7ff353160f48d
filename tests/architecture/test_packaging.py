"""The package as it is installed: nothing missing from the wheel, public names, versions."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from places import ROOT

import fem_mbs

FOLDERS = {"fem_mbs": "fem_mbs", **{f: f"fem_mbs/{f}" for f in ("elements", "solvers", "meshes", "validation")}}


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def sources(root: Path) -> dict[str, Path]:
    """Path in the wheel -> path in the checkout, of all Python files of the package."""
    return {
        f"{inside}/{path.relative_to(root / folder).as_posix()}": path
        for folder, inside in FOLDERS.items()
        for path in (root / folder).rglob("*.py")
    }


def test_every_folder_with_sources_is_listed(checkout, project):
    listed = set(project["tool"]["setuptools"]["packages"])
    needed = {str(Path(name).parent).replace("/", ".") for name in sources(checkout)}
    assert needed == listed
    mapping = project["tool"]["setuptools"]["package-dir"]
    assert mapping == {inside.replace("/", "."): folder for folder, inside in FOLDERS.items()}
    for folder in mapping.values():
        assert (checkout / folder / "__init__.py").is_file()


def test_no_package_data_without_an_entry(checkout, project):
    """Files other than sources in package folders are not installed unless pyproject.toml says so."""
    data = project["tool"]["setuptools"].get("package-data", {})
    patterns = {pattern for patterns in data.values() for pattern in patterns}
    for folder in FOLDERS:
        for path in (checkout / folder).rglob("*"):
            kind = path.suffix
            if path.is_file() and kind not in (".py", ".pyc", ".nbi", ".nbc") and not path.name.startswith("."):
                if any(part.startswith((".", "__pycache__")) for part in path.parts):
                    continue
                assert any(path.match(pattern) for pattern in patterns), f"{path} would be missing from the wheel"


@pytest.mark.long
def test_wheel_is_complete(checkout, tmp_path):
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q", "-w", str(tmp_path)]
    # Built from a copy: setuptools leaves build/ and egg-info folders where it works.
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (copy / name).write_bytes((checkout / name).read_bytes())
    for folder in FOLDERS:
        for path in (checkout / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                target = copy / path.relative_to(checkout)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())
    done = subprocess.run([*command, str(copy)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("fem_mbs-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        inside = {name: archive.read(name) for name in archive.namelist()}
    for name, path in sources(checkout).items():
        assert inside.get(name) == path.read_bytes(), f"{name} is missing from the wheel or not the same"
    foreign = [name for name in inside if not name.startswith(("fem_mbs/", "fem_mbs-"))]
    assert not foreign, "the wheel may bring the name fem_mbs only"
    (entry,) = [name for name in inside if name.endswith("entry_points.txt")]
    assert "fem-mbs = fem_mbs.cli.main:main" in inside[entry].decode()
    assert any(name.endswith("LICENSE") for name in inside)
    assert "fem_mbs/py.typed" in inside, "type checkers ignore a package without this file"


def test_version(project):
    # "0+unknown" is what a checkout says that is not installed; the tests run in an installed one.
    assert fem_mbs.__version__ == project["project"]["version"]


def test_public_names():
    assert sorted(fem_mbs.__all__) == sorted([*fem_mbs._PUBLIC, "__version__"])
    for name in fem_mbs.__all__:
        assert getattr(fem_mbs, name) is not None
        assert name in dir(fem_mbs)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        fem_mbs.nonsense  # noqa: B018


def test_type_checkers_see_the_public_names():
    """The imports for type checkers are those that `__getattr__` makes."""
    tree = ast.parse(Path(fem_mbs.__file__).read_text(encoding="utf-8"))
    (block,) = (n for n in tree.body if isinstance(n, ast.If) and any(isinstance(c, ast.ImportFrom) for c in n.body))
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    assert {a.name: n.module for n in block.body if isinstance(n, ast.ImportFrom) for a in n.names} == fem_mbs._PUBLIC


#: (module, kind of error) that mypy passes over by the project file.  The number may fall, and never rise.
UNTYPED = 122


def test_modules_that_the_type_checker_passes_over(project):
    entries = [entry for entry in project["tool"]["mypy"]["overrides"] if "disable_error_code" in entry]
    names = [name for entry in entries for name in entry["module"]]
    assert [name for name in names if find_spec(name) is None] == []
    assert sum(len(entry["module"]) * len(entry["disable_error_code"]) for entry in entries) <= UNTYPED


def test_dependencies_that_must_stay_optional(project):
    required = " ".join(project["project"]["dependencies"])
    assert "scikit-sparse" not in required  # it needs a compiler and headers
    assert "scikit-sparse" in " ".join(project["project"]["optional-dependencies"]["cholmod"])


def run_python(*arguments: str, where: Path, path: Path) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(path)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=where, env=environment, check=False)


def test_folders_beside_the_package_resolve_only_where_they_belong_to_it(checkout, tmp_path):
    """In a checkout exactly four folders beside fem_mbs/ are in the package: no tests, no docs, no second fem_mbs."""
    others = sorted(p.name for p in checkout.iterdir() if p.is_dir() and p.name.isidentifier())
    code = f"""
import fem_mbs
from importlib.util import find_spec
print(*[name for name in {others!r} if find_spec("fem_mbs." + name)])
"""
    done = run_python("-c", code, where=tmp_path, path=checkout)
    assert done.returncode == 0, done.stderr
    assert {"fem_mbs", "tests", "docs"} <= set(others)
    assert done.stdout.split() == sorted(set(FOLDERS) - {"fem_mbs"})


def test_the_package_runs_as_a_module(checkout, tmp_path):
    done = run_python("-m", "fem_mbs", "run", "missing.toml", where=tmp_path, path=checkout)
    assert done.returncode == 2
    assert "missing.toml" in done.stderr
    done = run_python("-m", "fem_mbs", "list", where=tmp_path, path=checkout)
    assert done.returncode == 0, done.stderr
    assert "craig_bampton" in done.stdout


@pytest.mark.long
def test_type_checkers_follow_the_mapping_of_a_checkout(checkout, tmp_path):
    """Through the folder of links mypy finds what `from fem_mbs.elements...` names, and new files as they appear."""
    pytest.importorskip("mypy")
    for name in ("fem_mbs", *(set(FOLDERS) - {"fem_mbs"}), ".ci"):
        ignored = shutil.ignore_patterns("__pycache__", *(set(FOLDERS) - {"fem_mbs"}))
        shutil.copytree(checkout / name, tmp_path / name, ignore=ignored)
    shutil.copy(checkout / "pyproject.toml", tmp_path)
    subprocess.run([tmp_path / ".ci" / "links.sh", tmp_path / ".venv" / "links"], check=True)
    (tmp_path / "elements" / "springs" / "new.py").write_text("NUMBER: int = 1\n")
    (tmp_path / "user.py").write_text("""
from fem_mbs.elements.registry import ElementType, missing
from fem_mbs.elements.springs.new import NUMBER
from fem_mbs.solvers.nowhere import nothing
reveal_type(ElementType.ends)
reveal_type(NUMBER)
""")
    # The errors of the package itself are the business of .ci/run.
    command = ("-m", "mypy", "--follow-imports=silent", "--disable-error-code=annotation-unchecked", "user.py")
    done = run_python(*command, where=tmp_path, path=tmp_path)
    assert len(re.findall(r'Revealed type is "(?:builtins\.)?int"', done.stdout)) == 2, done.stdout + done.stderr
    assert 'has no attribute "missing"' in done.stdout
    assert '"fem_mbs.solvers.nowhere"' in done.stdout
