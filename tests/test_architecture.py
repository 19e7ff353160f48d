"""Import rules, read from the sources: layers, heavy libraries, and what `import fem_mbs` may load."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {"fem_mbs": ROOT / "fem_mbs"} | {
    f"fem_mbs.{name}": ROOT / name for name in ("elements", "solvers", "meshes", "validation")
}
PEERS = ("fem_mbs.elements", "fem_mbs.solvers", "fem_mbs.meshes")

# Module or package -> layer; the longest name that fits counts, and plot_stage belongs to plot.  A module may import
# from its own layer and from below.
LAYERS = {
    "fem_mbs.errors": 1,
    "fem_mbs.contract": 1,
    "fem_mbs.cluster": 1,
    "fem_mbs.files": 1,
    "fem_mbs.elements": 2,
    "fem_mbs.solvers": 2,
    "fem_mbs.meshes": 2,
    "fem_mbs.model.model": 3,
    "fem_mbs.state": 3,
    "fem_mbs.system.compile": 3,
    "fem_mbs.compiled": 3,
    "fem_mbs.functions.kinds": 3,
    "fem_mbs.functions.expressions": 3,
    "fem_mbs.system.callbacks": 3,
    "fem_mbs.model.connections.spring_laws": 3,
    "fem_mbs.properties.sections": 3,
    "fem_mbs.properties.solids": 3,
    "fem_mbs.system.inertia_coordinates": 3,
    "fem_mbs.system.elimination": 3,
    "fem_mbs.system.matrices": 3,
    "fem_mbs.system.surfaces": 3,
    "fem_mbs.properties.beams": 3,
    "fem_mbs.model.sensors": 3,
    "fem_mbs.model.checks": 3,
    "fem_mbs.reduced": 3,
    "fem_mbs.analysis": 4,
    "fem_mbs.results.reader": 4,
    "fem_mbs.modelfile.read": 4,
    "fem_mbs.summary": 4,
    "fem_mbs.progress": 4,
    "fem_mbs.plot.figures": 4,
    "fem_mbs.deck": 4,
    "fem_mbs.sweeps.sweep": 4,
    "fem_mbs.cli.main": 5,
    "fem_mbs.__main__": 5,
    "fem_mbs": 6,
    "fem_mbs.validation": 7,
}

# Heavy library -> the files that may import it (regular expressions, paths from the root).
HEAVY = {
    "meshio": [r"meshes/.*"],
    "sksparse": [r"solvers/linear/libraries\.py"],
    "matplotlib": [r"fem_mbs/plot[^/]*\.py"],
    "PIL": [r"fem_mbs/plot[^/]*\.py"],
    "h5py": [r"fem_mbs/results[^/]*\.py", r"meshes/exodus\.py"],
    "distributed": [r"fem_mbs/cluster\.py"],
    "dask": [r"fem_mbs/cluster\.py"],
}

# What a command line that only prints its help must not wait for.
SLOW = ("numba", "scipy", "h5py", "matplotlib", "meshio", "pydantic", "sksparse", "distributed")


@dataclass(frozen=True)
class Import:
    """One imported module: its absolute name, or after `level` dots."""

    target: str
    line: int
    level: int


def module_name(path: Path) -> str:
    """fem_mbs.solvers.linear.solver for solvers/linear/solver.py."""
    package, folder = max(
        ((p, f) for p, f in PACKAGES.items() if path.is_relative_to(f)), key=lambda entry: len(str(entry[1]))
    )
    parts = path.relative_to(folder).with_suffix("").parts
    return ".".join([package, *(p for p in parts if p != "__init__")])


SOURCES = {module_name(path): path for folder in PACKAGES.values() for path in sorted(folder.rglob("*.py"))}


def imports_of(text: str) -> list[Import]:
    """All modules that a source imports, also inside functions and under `if TYPE_CHECKING`."""
    found: list[Import] = []

    def walk(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                found.extend(Import(a.name, child.lineno, 0) for a in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                for name in (a.name for a in child.names):
                    full = f"{base}.{name}"  # from fem_mbs.elements import truss: a module, or a name in the package
                    target = full if full in SOURCES or full in LAYERS else base
                    if full != "fem_mbs.__version__":
                        found.append(Import(target, child.lineno, child.level))
            walk(child)

    walk(ast.parse(text))
    return list(dict.fromkeys(found))


def layer(module: str) -> int | None:
    """Layer by the longest entry that is the module, its stem or a package around it; fem_mbs is for itself only."""
    name = module
    while name not in LAYERS:
        package, _, last = name.rpartition(".")
        name = f"{package}.{last.rpartition('_')[0]}" if "_" in last.strip("_") and package else package
        if name in ("", "fem_mbs"):
            return None
    return LAYERS[name]


def violations(module: str, path: Path, text: str) -> list[str]:
    """What is wrong with the imports of one source, as messages."""
    problems = []
    own = layer(module)
    if own is None:
        return [f"{module} has no layer: add it to LAYERS"]
    relative = path.relative_to(ROOT)
    for item in imports_of(text):
        at = f"{relative}:{item.line}: imports {'.' * item.level}{item.target}"
        top = item.target.split(".")[0]
        if item.level:
            problems.append(f"{at}: relative imports are not used")
            continue
        if top in ("elements", "solvers", "meshes", "validation"):
            problems.append(f"{at}: loads a second copy; import fem_mbs.{item.target}")
        if top in HEAVY and not any(re.fullmatch(pattern, relative.as_posix()) for pattern in HEAVY[top]):
            problems.append(f"{at}: only in {', '.join(HEAVY[top])}")
        if top != "fem_mbs":
            continue
        other = layer(item.target)
        if other is None:
            problems.append(f"{at}: which has no layer")
        elif module.startswith("fem_mbs.validation"):
            if other not in (LAYERS["fem_mbs"], LAYERS["fem_mbs.validation"]):
                problems.append(f"{at}: validation uses the public names of fem_mbs only")
        elif other > own and not (own == LAYERS["fem_mbs.cli.main"] and item.target.startswith("fem_mbs.validation")):
            problems.append(f"{at}: layer {other} from layer {own}")
        else:
            mine = next((p for p in PEERS if f"{module}.".startswith(f"{p}.")), None)
            theirs = next((p for p in PEERS if f"{item.target}.".startswith(f"{p}.")), None)
            if mine and theirs and mine != theirs:
                problems.append(f"{at}: elements, solvers and meshes do not know each other")
    return problems


@pytest.mark.parametrize("module", sorted(SOURCES))
def test_imports(module):
    path = SOURCES[module]
    assert not violations(module, path, path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("module", "text", "expected"),
    [
        ("fem_mbs.solvers.x", "from fem_mbs.elements import truss", "do not know each other"),
        ("fem_mbs.meshes.x", "def f():\n    import fem_mbs.solvers.linear.solver", "do not know each other"),
        ("fem_mbs.elements.x", "from fem_mbs.model.model import Model", "layer 3 from layer 2"),
        ("fem_mbs.errors", "import fem_mbs.cli.main", "layer 5 from layer 1"),
        ("fem_mbs.model.model", "from .errors import ModelError", "relative imports"),
        ("fem_mbs.model.model", "import elements.truss", "second copy"),
        ("fem_mbs.model.model", "from fem_mbs import errors, __version__", ""),
        ("fem_mbs.model.model", "from fem_mbs import Model", "layer 6 from layer 3"),
        ("fem_mbs.errors", "from fem_mbs import cli", "layer 5 from layer 1"),
        ("fem_mbs.model.model", "def f():\n    import meshio", "only in meshes"),
        ("fem_mbs.cli.main", "import matplotlib.pyplot", "only in fem_mbs/plot"),
        ("fem_mbs.elements.x", "import sksparse.cholmod", "only in solvers/linear/libraries"),
        ("fem_mbs.solvers.x", "def f():\n    from sksparse import cholmod", "only in solvers/linear/libraries"),
        ("fem_mbs.sweeps.sweep", "def f():\n    import distributed", "only in fem_mbs/cluster"),
        ("fem_mbs.nonsense", "", "has no layer"),
        ("fem_mbs.model.model", "import fem_mbs.nonsense", "no layer"),
        ("fem_mbs.validation.x", "from fem_mbs.solvers.linear.solver import make_solver", "public names"),
        ("fem_mbs.validation.x", "from fem_mbs import Model", ""),
        ("fem_mbs.cli.main", "def validate():\n    from fem_mbs.validation import runner", ""),
        ("fem_mbs.model.model", "import fem_mbs.validation.runner", "layer 7 from layer 3"),
    ],
)
def test_the_rules_find_what_breaks_them(module, text, expected):
    package, _, rest = module.rpartition(".")
    path = PACKAGES[package] / f"{rest}.py"
    found = violations(module, path, text)
    assert expected in "; ".join(found)
    assert bool(found) == bool(expected)


def test_every_folder_is_a_package():
    for folder in PACKAGES.values():
        for path in folder.rglob("*.py"):
            assert (path.parent / "__init__.py").is_file(), f"{path.parent.relative_to(ROOT)} has no __init__.py"


@pytest.mark.parametrize("module", ["fem_mbs", "fem_mbs.errors", "fem_mbs.cluster", "fem_mbs.cli.main"])
def test_light_imports(module):
    """The help of the command line appears at once: nothing slow is loaded before it is needed."""
    if module not in SOURCES:
        pytest.skip(f"{module} does not exist yet")
    code = f"import sys, {module}; print(*[m for m in {SLOW!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT.parent, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_import_from_the_checkout(tmp_path):
    """In a checkout that is not installed, fem_mbs finds the folders beside it."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import fem_mbs.solvers as s; print(s.__file__)"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()) == ROOT / "solvers" / "__init__.py"


# --- sparse factorisations ------------------------------------------------------------------------------------------
# The one module that factors sparse matrices, and the names of scipy.sparse.linalg that only it may use.  Iterations
# and operators (eigsh, gmres, LinearOperator) are free, but for eigs: unsymmetric pencils have the two-sided recurrence
# of solvers/eigen/lanczos.py, which gives left vectors and finds copies of multiple values.
FACTORS = r"solvers/linear/libraries\.py"
FACTORISATIONS = {"splu", "spilu", "factorized", "spsolve", "spsolve_triangular", "inv", "SuperLU", "eigs"}
# Classes and functions of solvers/linear that others reach by its `factor` only.
KINDS = {"PositiveFactors", "IndefiniteFactors", "Saddle", "SaddleFactors", "lu_factors", "symmetric_lu", "analyse"}


def factorisations(path: Path, text: str) -> list[str]:
    """Factorisations of scipy.sparse.linalg that one source uses, however it imports them, as messages."""
    relative = path.relative_to(ROOT).as_posix()
    if re.fullmatch(FACTORS, relative):
        return []
    problems, aliases = [], {"scipy.sparse.linalg"}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            aliases |= {a.asname for a in node.names if a.name == "scipy.sparse.linalg" and a.asname}
            aliases |= {f"{a.asname or a.name}.linalg" for a in node.names if a.name == "scipy.sparse"}
            aliases |= {f"{a.asname}.sparse.linalg" for a in node.names if a.name == "scipy" and a.asname}
        elif isinstance(node, ast.ImportFrom) and node.module in ("scipy", "scipy.sparse"):
            last = {"scipy": "sparse", "scipy.sparse": "linalg"}[node.module]
            tail = "" if last == "linalg" else ".linalg"
            aliases |= {f"{a.asname or a.name}{tail}" for a in node.names if a.name == last}
    for node in ast.walk(ast.parse(text)):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scipy.sparse.linalg"):
            names = [a.name for a in node.names if a.name in FACTORISATIONS or a.name == "*"]
        elif isinstance(node, ast.Attribute) and node.attr in FACTORISATIONS and ast.unparse(node.value) in aliases:
            names = [node.attr]
        elif isinstance(node, ast.Call) and not relative.startswith("solvers/linear/"):
            called = ast.unparse(node.func).rpartition(".")[2]
            names = [called] if called in KINDS else []
        problems += [f"{relative}:{node.lineno}: {name}: sparse factors only by {FACTORS}" for name in names]
    return problems


@pytest.mark.parametrize("module", sorted(m for m in SOURCES if not m.startswith("fem_mbs.validation")))
def test_one_module_factors_sparse_matrices(module):
    path = SOURCES[module]
    assert not factorisations(path, path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from scipy.sparse.linalg import splu", "splu"),
        ("def f():\n    from scipy.sparse.linalg import LinearOperator, spsolve as solve", "spsolve"),
        ("import scipy.sparse.linalg as sla\nlu = sla.factorized(A)", "factorized"),
        ("import scipy.sparse.linalg\nlu = scipy.sparse.linalg.spilu(A)", "spilu"),
        ("from scipy.sparse import linalg\nlu = linalg.splu(A)", "splu"),
        ("import scipy.sparse as sp\nlu = sp.linalg.splu(A)", "splu"),
        ("from scipy import sparse\nlu = sparse.linalg.splu(A)", "splu"),
        ("from scipy.sparse.linalg import *", "*"),
        ("from scipy.sparse.linalg import eigs", "eigs"),
        ("from fem_mbs.solvers.linear import factors\nf = factors.PositiveFactors(pencil)", "PositiveFactors"),
        ("f = Saddle(K, G)", "Saddle"),
        ("def f(held: PositiveFactors): return factor(K, kind='positive')", ""),
        ("from scipy.sparse.linalg import LinearOperator, eigsh, gmres", ""),
        ("import numpy as np\nB = np.linalg.inv(A)", ""),
    ],
)
def test_the_rule_finds_factorisations(text, found):
    problems = factorisations(ROOT / "solvers" / "eigen" / "modes.py", text)
    assert [p.split(": ")[1] for p in problems] == ([found] if found else [])
    assert not factorisations(ROOT / "solvers" / "linear" / "libraries.py", text)
