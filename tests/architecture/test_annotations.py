"""Annotations of the public functions: types of all arguments and of the result, for readers and type checkers."""

from __future__ import annotations

import ast
from collections import Counter

from places import ROOT, syntax

#: Package -> public functions that lack annotations.  The numbers may fall, and never rise.
BUDGET = {
    "fem_mbs": 7,
    "fem_mbs.analysis": 5,
    "fem_mbs.cli": 1,
    "fem_mbs.decks": 2,
    "fem_mbs.model": 17,
}


def unannotated(text: str) -> list[str]:
    """Public functions and methods of public classes of a source that lack the type of an argument or of the result.

    Compiled functions do not count: numba types them by their arguments.
    """
    found = []

    def visit(body: list[ast.stmt], owner: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                visit(node.body, f"{owner}{node.name}.")
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            if any("kernel" in ast.unparse(d) or "inner" in ast.unparse(d) for d in node.decorator_list):
                continue
            if any("inline" in ast.unparse(d) or "njit" in ast.unparse(d) for d in node.decorator_list):
                continue
            a = node.args
            given = [*a.posonlyargs, *a.args, *a.kwonlyargs, *(v for v in (a.vararg, a.kwarg) if v is not None)]
            if owner and not any(ast.unparse(d) == "staticmethod" for d in node.decorator_list):
                given = given[1:] if (a.posonlyargs or a.args) else given
            if node.returns is None or any(argument.annotation is None for argument in given):
                found.append(f"{owner}{node.name}")

    visit(syntax(text)[0].body, "")
    return found


def test_public_functions_have_types():
    missing: dict[str, list[str]] = {}
    for folder in ("fem_mbs", "solvers", "meshes"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            place = path.relative_to(ROOT)
            package = ".".join(place.parts[:2]) if len(place.parts) > 2 else place.parts[0]
            missing.setdefault(package, []).extend(
                f"{place}: {n}" for n in unannotated(path.read_text(encoding="utf-8"))
            )
    over = {p: names for p, names in missing.items() if len(names) > BUDGET.get(p, 0)}
    assert not over, over


def test_missing_types_are_found():
    text = """
def f(x: int) -> int: ...
def g(x) -> int: ...
def h(x: int): ...
def _i(x): ...
@C.kernel
def j(x): ...
class A:
    def k(self, y: int) -> None: ...
    def l(self, *y) -> None: ...
    @staticmethod
    def m(z) -> None: ...
class _B:
    def n(self, y): ...
"""
    assert Counter(unannotated(text)) == Counter(["g", "h", "A.l", "A.m"])
