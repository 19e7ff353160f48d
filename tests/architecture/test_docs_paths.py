"""Paths and names of modules in documents and docstrings exist; links between documents lead somewhere."""

from __future__ import annotations

import ast
import pkgutil
import re
from functools import cache
from pathlib import Path

import pytest
from places import ROOT, syntax

from fem_mbs import load_model

FOLDERS = ("fem_mbs", "elements", "solvers", "meshes", "validation", "benchmarks", "tests", "examples")
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md"), *ROOT.glob("tests/**/*.md")]
)
SOURCES = sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*.py"))

_QUOTED = re.compile(r"`([^`\s]+)`")
#: Names that stand for any name: NAME.py, author_year_case.py.
_PATTERN = re.compile(r"NAME|author_year|\*|<|\{")
_PATH = re.compile(r"[\w./-]+\.(?:py|md|toml|json|inp)|(?:" + "|".join(FOLDERS) + r")/[\w./-]*")
_DOTTED = re.compile(r"fem_mbs(?:\.\w+)+")


@cache
def files_by_name() -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in SOURCES:
        found.setdefault(path.name, []).append(path)
    return found


def exists(path: str, near: Path) -> bool:
    """Whether a path from the root exists, or a bare file name beside a folder that the text names."""
    if (ROOT / path).exists() or (near / path).exists():
        return True
    return "/" not in path and path in files_by_name()


@cache
def names_in(path: Path) -> frozenset[str]:
    """Names that a module defines or imports at its top, and the texts in it (public names that load lazily)."""
    names: set[str] = set()
    for node in syntax(path.read_text(encoding="utf-8"))[0].body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
            names |= {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return frozenset(names)


def resolves(dotted: str) -> bool:
    """Whether a dotted name is a package or module of ours, or a name at the top of one."""
    parts = dotted.split(".")[1:]
    for folder in (ROOT / "fem_mbs", ROOT):
        for k in range(len(parts), -1, -1):
            inside, rest = folder.joinpath(*parts[:k]), parts[k:]
            module = inside / "__init__.py" if inside.is_dir() else inside.with_suffix(".py")
            if module.is_file():
                if not rest or rest[0] in names_in(module):
                    return True
                break
    return False


def wrong(text: str, near: Path) -> list[str]:
    """Backticked paths and dotted names of the text that lead nowhere."""
    found = []
    for quoted in _QUOTED.findall(text):
        name = quoted.rstrip(".,;:)(")
        if _PATTERN.search(name):
            continue
        if _DOTTED.fullmatch(name):
            if not resolves(name):
                found.append(name)
        elif _PATH.fullmatch(name) and (name.endswith(".py") or name.startswith(tuple(f"{f}/" for f in FOLDERS))):
            if not exists(name, near):
                found.append(name)
    return found


def docstrings(path: Path) -> str:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = syntax(path.read_text(encoding="utf-8"))
    return "\n".join(ast.get_docstring(n) or "" for n in nodes if isinstance(n, kinds))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_documents_name_what_exists(path):
    assert wrong(path.read_text(encoding="utf-8"), path.parent) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_name_what_exists(folder):
    bad = {
        path.relative_to(ROOT).as_posix(): names
        for path in SOURCES
        if path.is_relative_to(ROOT / folder) and (names := wrong(docstrings(path), path.parent))
    }
    assert bad == {}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        file, _, heading = target.partition("#")
        if target.startswith(("http:", "https:")):
            continue
        linked = path.parent / file if file else path
        assert linked.exists(), f"{target} leads nowhere"
        if heading:
            titles = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]
            assert heading in anchors, f"{target}: no such heading"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`fem_mbs/nonsense.py`", ["fem_mbs/nonsense.py"]),
        ("`nonsense.py`", ["nonsense.py"]),
        ("`fem_mbs/nonsense/`", ["fem_mbs/nonsense/"]),
        ("`fem_mbs.model.nonsense`", ["fem_mbs.model.nonsense"]),
        ("`fem_mbs.model.model.Nonsense`", ["fem_mbs.model.model.Nonsense"]),
        ("`fem_mbs.elements.springs.nonsense.TYPES`", ["fem_mbs.elements.springs.nonsense.TYPES"]),
        ("`fem_mbs/model/`, `fem_mbs.model.model.Model`, `fem_mbs.solve`, `elements/registry.py`, `stepper.py`", []),
        ("`meshes/formats/NAME.py`, `model.toml`, `validation/author_year_case.py`", []),
    ],
)
def test_wrong_names_are_found(text, expected):
    assert wrong(text, ROOT) == expected


def test_the_page_that_follows_a_run_names_what_exists(tmp_path):
    """Every function and method of docs/transient-run.md is there, and the model of the page can be read."""
    text = (ROOT / "docs" / "transient-run.md").read_text(encoding="utf-8")
    named = [name for name in _QUOTED.findall(text) if _DOTTED.fullmatch(name)]
    assert len(named) > 30
    lost = []
    for name in dict.fromkeys(named):
        try:
            pkgutil.resolve_name(name)
        except (ImportError, AttributeError):
            lost.append(name)
    assert lost == []
    file = tmp_path / "model.toml"
    file.write_text(text.partition("```toml\n")[2].partition("```")[0], encoding="utf-8")
    assert load_model(file).steps[0].kind == "transient"
