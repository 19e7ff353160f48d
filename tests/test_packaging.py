"""The package as it is installed: nothing missing from the wheel, public names, versions."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import fem_mbs

FOLDERS = {"fem_mbs": "fem_mbs", **{f: f"fem_mbs/{f}" for f in ("elements", "solvers", "meshes", "validation")}}


@pytest.fixture(scope="module")
def project() -> dict:
    root = Path(__file__).resolve().parent.parent
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


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
    assert set(mapping) == listed
    for package, folder in mapping.items():
        assert (checkout / folder / "__init__.py").is_file(), package


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


def test_dependencies_that_must_stay_optional(project):
    required = " ".join(project["project"]["dependencies"])
    assert "scikit-sparse" not in required  # it needs a compiler and headers
    assert "scikit-sparse" in " ".join(project["project"]["optional-dependencies"]["cholmod"])
