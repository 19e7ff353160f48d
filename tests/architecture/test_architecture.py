"""Import rules, read from the sources: layers, cycles, heavy libraries, and what `import fem_mbs` may load."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from places import ROOT, syntax

PACKAGES = {"fem_mbs": ROOT / "fem_mbs"} | {
    f"fem_mbs.{name}": ROOT / name for name in ("elements", "solvers", "meshes", "validation")
}
PEERS = ("fem_mbs.elements", "fem_mbs.solvers", "fem_mbs.meshes")

# One line per package (or module that stands alone), from the bottom to the top: a module may import from its own line
# and from lines above this one in the list.  The longest name that fits counts.
ORDER = (
    "fem_mbs.late",
    "fem_mbs.errors",
    "fem_mbs.declarations",
    "fem_mbs.progress",
    "fem_mbs.threads",
    "fem_mbs.compiling",
    "fem_mbs.rotations",
    "fem_mbs.contract",
    "fem_mbs.cluster",
    "fem_mbs.files",
    "fem_mbs.hdf5",
    "fem_mbs.records",
    "fem_mbs.units",
    "fem_mbs.display",
    "fem_mbs.dataframes",
    "fem_mbs.input_files",
    "fem_mbs.elements",
    "fem_mbs.elements.masses",
    "fem_mbs.elements.joints",
    "fem_mbs.elements.paths",
    "fem_mbs.elements.springs",
    "fem_mbs.elements.actuators",
    "fem_mbs.elements.beams",
    "fem_mbs.elements.solids",
    "fem_mbs.elements.shells",
    "fem_mbs.elements.loads",
    "fem_mbs.elements.flexible",
    "fem_mbs.elements.tyres",
    "fem_mbs.solvers",
    "fem_mbs.solvers.linear.libraries",
    "fem_mbs.solvers.distributed",
    "fem_mbs.solvers.linear",
    "fem_mbs.solvers.distributed.response",
    "fem_mbs.solvers.eigen",
    "fem_mbs.solvers.reduction",
    "fem_mbs.solvers.equilibria",
    "fem_mbs.solvers.stepping",
    "fem_mbs.solvers.differentiation",
    "fem_mbs.solvers.chains",
    "fem_mbs.solvers.stepping.signatures",
    "fem_mbs.meshes",
    "fem_mbs.meshes.abaqus",
    "fem_mbs.meshes.nastran",
    "fem_mbs.meshes.formats",
    "fem_mbs.compiling.in_advance",
    "fem_mbs.functions",
    "fem_mbs.properties",
    "fem_mbs.system",
    "fem_mbs.parts",
    "fem_mbs.model",
    "fem_mbs.results",
    "fem_mbs.analysis.loading",
    "fem_mbs.analysis.end_state",
    "fem_mbs.analysis.fields",
    "fem_mbs.analysis.start",
    "fem_mbs.analysis.switching",
    "fem_mbs.analysis.transient",
    "fem_mbs.analysis.blows",
    "fem_mbs.analysis.recovery.recovered",
    "fem_mbs.analysis.recovery.part_results",
    "fem_mbs.analysis.symbols",
    "fem_mbs.analysis.header",
    "fem_mbs.analysis.chains",
    "fem_mbs.analysis.solution",
    "fem_mbs.analysis.linear",
    "fem_mbs.analysis.stability",
    "fem_mbs.analysis.rotors",
    "fem_mbs.analysis.components",
    "fem_mbs.analysis.rows",
    "fem_mbs.analysis.kernels",
    "fem_mbs.analysis.distributed.backends",
    "fem_mbs.analysis.context",
    "fem_mbs.analysis.steps.common",
    "fem_mbs.analysis.switched",
    "fem_mbs.analysis.small_motions",
    "fem_mbs.analysis.eigenvalue_paths",
    "fem_mbs.analysis.march",
    "fem_mbs.analysis.paths",
    "fem_mbs.analysis.statics",
    "fem_mbs.analysis.run",
    "fem_mbs.analysis.distributed",
    "fem_mbs.analysis.stability_points",
    "fem_mbs.analysis.steps",
    "fem_mbs.analysis.stability.linearise",
    "fem_mbs.analysis.reduction",
    "fem_mbs.analysis",
    "fem_mbs.decks.formats",
    "fem_mbs.decks.notes",
    "fem_mbs.decks.running",
    "fem_mbs.decks.comparison",
    "fem_mbs.decks.abaqus",
    "fem_mbs.decks.nastran",
    "fem_mbs.decks",
    "fem_mbs.modelfile",
    "fem_mbs.sweeps",
    "fem_mbs.plot",
    "fem_mbs.show",
    "fem_mbs.report",
    "fem_mbs.cli.doubts",
    "fem_mbs.cli",
    "fem_mbs.__main__",
    "fem_mbs",
    "fem_mbs.validation",
)
LAYERS = {name: number for number, name in enumerate(ORDER)}

# Heavy library -> the files that may import it (regular expressions, paths from the root).
HEAVY = {
    "meshio": [r"meshes/.*"],
    "sksparse": [r"solvers/linear/libraries\.py"],
    "matplotlib": [r"fem_mbs/plot/.*"],
    "PIL": [r"fem_mbs/plot/.*"],
    "h5py": [
        r"fem_mbs/results/.*",
        r"fem_mbs/(files|hdf5)\.py",
        r"fem_mbs/parts/hdf5\.py",
        r"meshes/formats/(exodus|meshio_formats)\.py",  # MED is HDF5
    ],
    "distributed": [r"fem_mbs/cluster\.py"],
    "dask": [r"fem_mbs/cluster\.py"],
    "petsc4py": [r"solvers/distributed/ranks\.py"],
    "slepc4py": [r"solvers/distributed/ranks\.py"],
    "mpi4py": [r"solvers/distributed/ranks\.py"],
    "pyvista": [r"fem_mbs/show/window\.py"],
}
MODULES_PER_FOLDER = 15
FOREIGN_PRIVATE_NAMES = 8

# What a command line that only prints its help must not wait for.
SLOW = ("numba", "scipy", "h5py", "matplotlib", "meshio", "sksparse", "distributed")


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


@cache
def imports_of(text: str) -> list[Import]:
    """All modules that a source imports, also inside functions or late (`fem_mbs.late`), but for those that only
    annotations need."""
    found: list[Import] = []

    def walk(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
                for other in child.orelse:
                    walk(other)
                continue
            called = child.func if isinstance(child, ast.Call) else None
            if isinstance(called, ast.Name) and called.id in ("late", "late_module"):
                place = child.args[0]
                if isinstance(place, ast.Constant):
                    found.append(Import(place.value.partition(":")[0], child.lineno, 0))
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

    walk(syntax(text)[0])
    return list(dict.fromkeys(found))


def layer(module: str) -> int | None:
    """Place in ORDER of the longest entry that is the module or a package around it; fem_mbs is for itself only."""
    name = module
    while name not in LAYERS:
        name = name.rpartition(".")[0]
        if name in ("", "fem_mbs"):
            return None
    return LAYERS[name]


def violations(module: str, path: Path, text: str) -> list[str]:
    """What is wrong with the imports of one source, as messages."""
    problems = []
    own = layer(module)
    if own is None:
        return [f"{module} has no layer: add it to ORDER"]
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
        elif other > own and not (own == LAYERS["fem_mbs.cli"] and item.target.startswith("fem_mbs.validation")):
            problems.append(f"{at}: {ORDER[other]} is above {ORDER[own]}")
        else:
            mine = next((p for p in PEERS if f"{module}.".startswith(f"{p}.")), None)
            theirs = next((p for p in PEERS if f"{item.target}.".startswith(f"{p}.")), None)
            if mine and theirs and mine != theirs:
                problems.append(f"{at}: elements, solvers and meshes do not know each other")
    return problems


@pytest.mark.everyday  # no other test fails where a layer is passed over
def test_imports():
    assert [v for m, path in SOURCES.items() for v in violations(m, path, path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    ("module", "text", "expected"),
    [
        ("fem_mbs.solvers.x", "from fem_mbs.elements.springs import truss", "do not know each other"),
        ("fem_mbs.meshes.x", "def f():\n    import fem_mbs.solvers.linear.solver", "do not know each other"),
        ("fem_mbs.elements.x", "from fem_mbs.model.model import Model", "fem_mbs.model is above fem_mbs.elements"),
        ("fem_mbs.errors", "import fem_mbs.cli.main", "fem_mbs.cli is above fem_mbs.errors"),
        ("fem_mbs.model.model", "from .errors import ModelError", "relative imports"),
        ("fem_mbs.model.model", "import elements.truss", "second copy"),
        ("fem_mbs.model.model", "from fem_mbs import errors, __version__", ""),
        ("fem_mbs.elements.x", 'run = late("fem_mbs.analysis.run:run")', "fem_mbs.analysis.run is above"),
        (
            "fem_mbs.elements.x",
            'if TYPE_CHECKING:\n    import numpy\nelse:\n    run = late_module("fem_mbs.analysis.run")',
            "fem_mbs.analysis.run is above",
        ),
        ("fem_mbs.model.model", "from fem_mbs import Model", "fem_mbs is above fem_mbs.model"),
        ("fem_mbs.errors", "from fem_mbs import cli", "fem_mbs.cli is above fem_mbs.errors"),
        ("fem_mbs.model.model", "def f():\n    import meshio", "only in meshes"),
        ("fem_mbs.cli.main", "import matplotlib.pyplot", "only in fem_mbs/plot"),
        ("fem_mbs.elements.x", "import sksparse.cholmod", "only in solvers/linear/libraries"),
        ("fem_mbs.solvers.x", "def f():\n    from sksparse import cholmod", "only in solvers/linear/libraries"),
        ("fem_mbs.analysis.linear.x", "from fem_mbs.analysis.stability import linearisation", "stability is above"),
        ("fem_mbs.results.x", "if TYPE_CHECKING:\n    from fem_mbs.analysis.run import run", ""),
        ("fem_mbs.sweeps.sweep", "def f():\n    import distributed", "only in fem_mbs/cluster"),
        ("fem_mbs.nonsense", "", "has no layer"),
        ("fem_mbs.model.model", "import fem_mbs.nonsense", "no layer"),
        ("fem_mbs.validation.x", "from fem_mbs.solvers.linear.solver import make_solver", "public names"),
        ("fem_mbs.validation.x", "from fem_mbs import Model", ""),
        ("fem_mbs.cli.main", "def validate():\n    from fem_mbs.validation import runner", ""),
        ("fem_mbs.model.model", "import fem_mbs.validation.runner", "fem_mbs.validation is above"),
    ],
)
def test_the_rules_find_what_breaks_them(module, text, expected):
    package = max((p for p in PACKAGES if module.startswith(f"{p}.")), key=len)
    path = PACKAGES[package].joinpath(*module[len(package) + 1 :].split(".")).with_suffix(".py")
    found = violations(module, path, text)
    assert expected in "; ".join(found)
    assert bool(found) == bool(expected)


def cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other, directly or through others (Tarjan 1972)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(name: str) -> None:
        number[name] = low[name] = len(number)
        stack.append(name)
        for other in sorted(edges.get(name, ())):
            if other not in number:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], number[other])
        if low[name] == number[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in sorted(edges):
        if name not in number:
            visit(name)
    return found


def test_no_module_imports_itself_through_others():
    """Also by imports inside functions: a cycle that is hidden there is one."""
    edges = {
        module: {i.target for i in imports_of(path.read_text(encoding="utf-8")) if i.target in SOURCES}
        for module, path in SOURCES.items()
    }
    assert cycles(edges) == []


def test_cycles_are_found():
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": set(), "f": {"f"}}
    assert cycles(edges) == [["a", "b", "c"]]


def test_every_line_of_the_order_is_a_package_or_a_module():
    packages = {name.rpartition(".")[0] for name in SOURCES} | set(SOURCES)
    assert [name for name in ORDER if name not in packages and name != "fem_mbs.__main__"] == []


def test_folders_can_be_looked_over():
    for folder in PACKAGES["fem_mbs"].rglob("*"):
        if folder.is_dir():
            modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
            assert len(modules) <= MODULES_PER_FOLDER, folder.relative_to(ROOT)


def foreign_private_names(text: str) -> list[str]:
    """Private names of other objects and modules that a source uses, unless it defines a name like that itself."""
    nodes = syntax(text)
    own = {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    own |= {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
    }
    own |= {node.target.id for node in nodes if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}
    found = [
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and node.attr not in own
    ]
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fem_mbs"):
            found += [a.name for a in node.names if a.name.startswith("_") and not a.name.startswith("__")]
    return found


def test_private_names_stay_where_they_are():
    """A number that may only fall; names of named tuples (`_replace`) are public in Python."""
    uses = [
        f"{module}: {name}"
        for module, path in SOURCES.items()
        for name in foreign_private_names(path.read_text(encoding="utf-8"))
        if name not in ("_replace", "_asdict", "_fields", "_make")
    ]
    assert len(uses) <= FOREIGN_PRIVATE_NAMES, uses
    assert foreign_private_names("from fem_mbs.errors import _x\ndef f(a):\n    return a._y + a._f()") == [
        "_y",
        "_f",
        "_x",
    ]
    assert foreign_private_names("class A:\n    def _f(self):\n        return self._y\nA()._f()") == []


# Files that may look into the JSON of summaries: they make reports of it, or copy it.
SUMMARY_READERS = (
    r"fem_mbs/results/(reader|modes/shapes|store|writer)\.py|fem_mbs/analysis/(solution|recovery/part_results)\.py"
)


def summary_reads(text: str) -> list[str]:
    """Reads of the JSON of a summary: `step.summary`, and keys of what is called summary; no calls of summary()."""
    nodes = syntax(text)
    called = {node.func for node in nodes if isinstance(node, ast.Call)}

    def is_summary(node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == "summary"

    found = []
    for node in nodes:
        if isinstance(node, ast.Attribute):
            read = node.attr == "summary" and isinstance(node.ctx, ast.Load) and node not in called
        elif isinstance(node, ast.Subscript):
            read = is_summary(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            read = node.func.attr == "get" and is_summary(node.func.value)
        else:
            read = False
        if read:
            found.append(ast.unparse(node))
    return found


def test_summaries_are_read_as_reports():
    """Whoever reads results asks the typed report (`Step.report`, `Results.report`), not keys of its JSON."""
    for module, path in SOURCES.items():
        relative = path.relative_to(ROOT).as_posix()
        if relative.startswith("fem_mbs/") and not re.fullmatch(SUMMARY_READERS, relative):
            assert summary_reads(path.read_text(encoding="utf-8")) == [], module
    assert summary_reads("a = step.summary['x']\nself.summary = {}") == ["step.summary"]
    assert summary_reads("a.summary()") == []
    assert summary_reads("b = summary['x'] + summary.get('y')") == ["summary['x']", "summary.get('y')"]


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


def test_figures_load_no_compiler():
    """Figures and animations of results, whatever their steps, need neither compiled code nor the model."""
    code = "import sys, fem_mbs.plot.figures as f, fem_mbs.declarations.steps as s; s.step_kinds(); "
    code += "print(*[m for m in ('numba', 'scipy', 'fem_mbs.model.model') if m in sys.modules])"
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
    for node in syntax(text):
        if isinstance(node, ast.Import):
            aliases |= {a.asname for a in node.names if a.name == "scipy.sparse.linalg" and a.asname}
            aliases |= {f"{a.asname or a.name}.linalg" for a in node.names if a.name == "scipy.sparse"}
            aliases |= {f"{a.asname}.sparse.linalg" for a in node.names if a.name == "scipy" and a.asname}
        elif isinstance(node, ast.ImportFrom) and node.module in ("scipy", "scipy.sparse"):
            last = {"scipy": "sparse", "scipy.sparse": "linalg"}[node.module]
            tail = "" if last == "linalg" else ".linalg"
            aliases |= {f"{a.asname or a.name}{tail}" for a in node.names if a.name == last}
    for node in syntax(text):
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


def test_one_module_factors_sparse_matrices():
    paths = [path for module, path in SOURCES.items() if not module.startswith("fem_mbs.validation")]
    assert [f for path in paths for f in factorisations(path, path.read_text(encoding="utf-8"))] == []


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
