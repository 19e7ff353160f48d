"""Compiled code that one can read: short functions, and columns of parameters by name."""

from __future__ import annotations

import ast

import pytest
from places import ROOT, syntax

LIMIT = 100  # lines of a function
# File and function -> why it is longer.
LONG = {
    ("elements/contact/ball.py", "bodies"): "its functions share sizes that the compiler must know",
    ("elements/contact/impact.py", "_kernels"): "its functions share sizes that the compiler must know",
    ("elements/contact/impact.py", "force"): "its three statuses share the geometry of the pair",
    ("elements/contact/impact.py", "report"): "its jobs share the geometry of the pair",
    ("elements/contact/pair.py", "_kernels"): "its functions share sizes that the compiler must know",
    ("elements/contact/tube_rubbing.py", "friction_of_tubes"): "its ends share the geometry of the pair",
    ("elements/beams/beam2d_exact.py", "beam_block"): "the tangent needs some 35 scalars of the force",
    (
        "solvers/differentiation/steps.py",
        "advance",
    ): "a state machine that leaves for Python and comes back in any phase",
    ("solvers/stepping/stepper.py", "advance"): "a state machine that leaves for Python and comes back in any phase",
}
ELEMENTS = sorted((ROOT / "elements").rglob("*.py"))
SOLVERS = sorted((ROOT / "solvers").rglob("*.py"))


def lengths(text: str) -> dict[str, int]:
    """Lines of every function of a source, the longest of equal names."""
    found: dict[str, int] = {}
    for node in syntax(text):
        if isinstance(node, ast.FunctionDef):
            found[node.name] = max(found.get(node.name, 0), (node.end_lineno or 0) - node.lineno + 1)
    return found


def test_functions_are_short():
    """Of elements and solvers; a longer one has its reason in LONG, as long as it is longer."""
    long = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in (*ELEMENTS, *SOLVERS)
        for name, lines in lengths(path.read_text(encoding="utf-8")).items()
        if lines > LIMIT
    }
    assert long == set(LONG)


def test_long_functions_are_found():
    body = "\n".join("    x += 1" for _ in range(LIMIT - 1))
    assert lengths(f"def f(x):\n{body}\n") == {"f": LIMIT}
    assert lengths(f"class A:\n  def f(x):\n    def g(): ...\n{body}\n")["f"] == LIMIT + 1


def _first_term(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.BinOp):
        node = node.left
    return node.operand if isinstance(node, ast.UnaryOp) else node


def _row_names(function: ast.FunctionDef) -> set[str]:
    """Names of rows of parameters in a function: those assigned from par[e]."""
    names = set()
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=False))
            for left, right in pairs:
                row = isinstance(right, ast.Subscript) and not isinstance(right.slice, (ast.Tuple, ast.Slice))
                if row and ast.unparse(right.value) == "par" and isinstance(left, ast.Name):
                    names.add(left.id)
    return names


def numbered_columns(text: str) -> list[str]:
    """Columns of parameters that a source gives by number.

    These are par[e, 3], par[:, 1 + i], par[e][2], p[0] after p = par[e], and a number after ``par`` in a call such as
    point(..., par, 3, P, B, J).  A name plus a number is a component of a vector, and allowed.
    """
    found = []
    for function in syntax(text):
        if not isinstance(function, ast.FunctionDef):
            continue
        rows = _row_names(function)
        for node in ast.walk(function):
            columns: list[ast.expr] = []
            if isinstance(node, ast.Subscript):
                owner, index = ast.unparse(node.value), node.slice
                if owner == "par" and isinstance(index, ast.Tuple):
                    columns = index.elts[1:]
                elif owner in rows or (owner.startswith("par[") and isinstance(node.value, ast.Subscript)):
                    columns = [index]
            elif isinstance(node, ast.Call):
                after = [b for a, b in zip(node.args, node.args[1:], strict=False) if ast.unparse(a) == "par"]
                columns = after
            columns = [c.lower if isinstance(c, ast.Slice) else c for c in columns if c is not None]
            found += [
                f"{node.lineno}: {ast.unparse(node)}"
                for c in columns
                if c is not None and isinstance(_first_term(c), ast.Constant)
            ]
    return sorted(set(found))


def test_columns_of_parameters_have_names():
    found = {path.relative_to(ROOT).as_posix(): numbered_columns(path.read_text(encoding="utf-8")) for path in ELEMENTS}
    assert {path: columns for path, columns in found.items() if columns} == {}


@pytest.mark.parametrize(
    ("line", "bad"),
    [
        ("x = par[e, 3]", True),
        ("x = par[e, 1 + i]", True),
        ("x = par[:, 2:]", True),
        ("x = par[e, 2 * n + i]", True),
        ("x = par[e][2]", True),
        ("p = par[e]\n    x = p[0]", True),
        ("p, f = par[e], fe[e]\n    x = p[-1]", True),
        ("point(Q, par, 3, P)", True),
        ("point(Q, par, 3 + dim, P)", True),
        ("x = par[e, SCALE]", False),
        ("x = par[e, PLACE + 1]", False),
        ("x = par[e, at + 2 * i]", False),
        ("x = par[:, FIRST:]", False),
        ("p, f = par[e], fe[e]\n    x = f[0] + p[MASS]", False),
        ("point(Q, par, POINTS + dim, P)", False),
        ("x = par[rows]", False),
    ],
)
def test_numbered_columns_are_found(line, bad):
    assert bool(numbered_columns(f"def f(par, e):\n    {line}\n")) == bad


# --- linked functions -------------------------------------------------------------------------------------------------
def forbidden(text: str) -> list[str]:
    """Return what functions that are linked into kernels do with Python objects: they raise, check, print or call
    `np.linalg`, whose errors are exceptions."""
    found = []
    for function in syntax(text):
        if not isinstance(function, ast.FunctionDef):
            continue
        if not {ast.unparse(d).rpartition(".")[2] for d in function.decorator_list} & {"inner", "inline"}:
            continue
        for node in ast.walk(function):
            call = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if isinstance(node, (ast.Raise, ast.Assert)) or call == "print" or call.startswith("np.linalg."):
                found.append(f"{function.name}: {ast.unparse(node)[:60]}")
    return found


def test_linked_functions_raise_nothing():
    """Linked code has no table of Python objects (`fem_mbs.compiling.linking`): an exception would end the process."""
    for folder in ("elements", "solvers"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            assert forbidden(path.read_text(encoding="utf-8")) == [], path
    text = (
        "@C.inner\ndef f(x):\n    assert x\n    print(x)\n    return np.linalg.inv(x)\n@inline\ndef g():\n    raise E\n"
    )
    assert len(forbidden(text)) == 4
