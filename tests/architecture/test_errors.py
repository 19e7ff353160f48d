"""Errors are read by their fields: no source decides by the text of an error or of its owner, and none hides an owner
in a text."""

from __future__ import annotations

import ast

import pytest
from places import ROOT, syntax

FOLDERS = ("fem_mbs", "elements", "solvers", "meshes")
INPUT_ERRORS = {"InputError", "MeshError", "ModelError", "ResultsError", "UnsupportedError"}
READERS = {
    "startswith", "endswith", "partition", "rpartition", "removeprefix", "removesuffix", "replace", "split", "rsplit",
    "find", "rfind", "index", "count",
}  # fmt: skip
TEXTS = {"text", "remedy", "owner", "place", "args", "where", "in_file"}


def decisions(source: str) -> list[str]:
    """Expressions of a source that take the text of an error, or of an owner, apart or compare parts of it."""
    nodes = syntax(source)
    caught = {node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name}
    caught |= {
        node.arg
        for node in nodes
        if isinstance(node, ast.arg) and node.annotation is not None and "Error" in ast.unparse(node.annotation)
    }

    def is_error(node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id in caught

    def is_text(node: ast.AST) -> bool:
        """Whether an expression is the text of an error or of an owner."""
        if isinstance(node, ast.Name):
            return node.id in texts or node.id.endswith("owner")
        if isinstance(node, ast.Attribute):
            return node.attr == "owner" or (node.attr in TEXTS and is_error(node.value))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("str", "repr"):
            return bool(node.args) and (is_error(node.args[0]) or is_text(node.args[0]))
        if isinstance(node, ast.Call):  # what a function of one text, such as one that makes one line of it, returns
            return any(is_text(a) and not isinstance(a, ast.Name) for a in node.args) and len(node.args) == 1
        return isinstance(node, ast.Subscript) and is_text(node.value)

    texts: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and is_text(node.value):
            texts |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    found = []
    for node in nodes:
        if isinstance(node, ast.Compare) and any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops):
            wrong = any(is_text(side) for side in node.comparators)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            one_line = node.func.attr == "split" and not node.args  # " ".join(text.split())
            wrong = node.func.attr in READERS and is_text(node.func.value) and not one_line
            of_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
            wrong |= of_re and any(is_text(a) for a in node.args)
        else:
            wrong = False
        if wrong:
            found.append(ast.unparse(node))
    return found


def hidden_owners(source: str) -> list[str]:
    """Errors of input whose text begins with an owner, which belongs into the field."""
    found = []
    for node in syntax(source):
        if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.JoinedStr):
            continue
        first, *rest = node.args[0].values
        if not isinstance(first, ast.FormattedValue):
            continue
        named = ast.unparse(first.value).endswith("owner")
        colon = rest and isinstance(rest[0], ast.Constant) and str(rest[0].value).startswith(": ")
        if ast.unparse(node.func) in INPUT_ERRORS and named and colon:
            found.append(ast.unparse(node)[:80])
    return found


def everywhere(look) -> list[str]:
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    sources = {path: path.read_text(encoding="utf-8") for path in paths}
    return [
        f"{path.relative_to(ROOT)}: {found}"
        for path, source in sources.items()
        if "Error" in source or "owner" in source
        for found in look(source)
    ]


def test_no_code_decides_by_the_text_of_an_error():
    assert everywhere(decisions) == []


def test_owners_are_fields():
    assert everywhere(hidden_owners) == []


@pytest.mark.parametrize(
    "source",
    [
        'try:\n    f()\nexcept E as error:\n    if "loose" in str(error):\n        g()',
        'def f(error: ModelError):\n    text = one_line(str(error))\n    return re.match("Joint", text)',
        'try:\n    f()\nexcept E as exc:\n    g(re.sub("a", "", str(exc)))',
        'def f(owner):\n    return owner.startswith("Sensor")',
        "def f(driven):\n    return [owner.partition('x')[2] for owner in driven]",
        'try:\n    f()\nexcept E as error:\n    raise M(str(error).replace("Check", "Event"))',
        'try:\n    f()\nexcept E as error:\n    return error.text.startswith("a")',
    ],
)
def test_decisions_are_found(source):
    assert decisions(source)


def test_texts_may_be_shown():
    assert not decisions("try:\n    f()\nexcept E as error:\n    print(' '.join(str(error).split()))")
    assert not decisions("try:\n    f()\nexcept E as error:\n    raise M(f'x: {error}') from None")
    assert hidden_owners('raise ModelError(f"{owner}: bad")')
    assert not hidden_owners('raise ModelError(f"{count}: bad", owner=owner)')
