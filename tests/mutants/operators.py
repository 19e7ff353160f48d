"""The mutants of a module: small changes of its syntax tree, one each.

A place is a node of the tree in the body of a function; its variants are the changes that are tried there:

=================  ===============================================================================
operator           change
=================  ===============================================================================
arithmetic         ``+`` and ``-``, ``*`` and ``/`` exchanged; ``//``, ``%`` and ``**`` to ``*``
operands           ``A @ B`` to ``B @ A``
sign               ``-x`` to ``x``
comparison         the boundary (``<`` to ``<=``), the negation (``<`` to ``>=``)
logic              ``and`` and ``or`` exchanged; ``not x`` to ``x``; ``True`` and ``False`` exchanged
constant           a number plus 1, minus 1, times 2
indices            ``a[i, j]`` to ``a[j, i]`` for each pair of neighbours
branch             the branches of ``if`` and of ``a if c else b`` exchanged
statement          an augmented assignment, a call or an assignment to an entry dropped
=================  ===============================================================================

Not changed: texts of errors and other strings, annotations, default arguments, and sums of texts and lists.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Mutant", "Place", "mutant", "mutants", "mutate", "places"]

_ARITHMETIC: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
}  # fmt: skip
_BOUNDARY: dict[type, type] = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
_NEGATION: dict[type, type] = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_TEXTS = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp)


@dataclass(frozen=True)
class Place:
    """A node that can be changed.

    Attributes:
        file: path of the module in the repository; function: qualified name of the function; lines: of the node.
        statement: first line of the statement that contains the node.
        index: number of the node in the order of `ast.walk`; count: number of changes that are tried.
        key: text that tells it from all other places and stays the same when other lines change.
    """

    file: str
    function: str
    lines: range
    statement: int
    index: int
    count: int
    key: str


@dataclass(frozen=True)
class Mutant:
    """One change at a place: its number, its operator and its text, "old -> new"."""

    place: Place
    variant: int
    operator: str
    change: str

    @property
    def name(self) -> str:
        """The name in results, which stays the same when other lines of the module change."""
        return f"{self.place.key}: {self.change}"


def _made(node: ast.AST, **fields: object) -> ast.AST:
    """Return a copy of a node with other fields."""
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool)


def _text(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return _text(node.left) or _text(node.right)
    return isinstance(node, _TEXTS) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))


def _expressions(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the changes of an expression."""
    if isinstance(node, ast.BinOp) and not _text(node):
        if isinstance(node.op, ast.MatMult):
            yield "operands", _made(node, left=node.right, right=node.left)
        elif type(node.op) in _ARITHMETIC:
            yield "arithmetic", _made(node, op=_ARITHMETIC[type(node.op)]())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign", node.operand
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "logic", node.operand
    elif isinstance(node, ast.BoolOp):
        yield "logic", _made(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.Compare):
        for table in (_BOUNDARY, _NEGATION):
            for i, operator in enumerate(node.ops):
                if type(operator) in table:
                    yield "comparison", _made(node, ops=[*node.ops[:i], table[type(operator)](), *node.ops[i + 1 :]])
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "logic", _made(node, value=not node.value)
    elif _number(node):
        assert isinstance(node, ast.Constant)
        for value in dict.fromkeys((node.value + 1, node.value - 1, node.value * 2)):
            if value != node.value:
                yield "constant", _made(node, value=value)
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        for i in range(len(node.slice.elts) - 1):
            e = list(node.slice.elts)
            if ast.dump(e[i]) != ast.dump(e[i + 1]):
                e[i], e[i + 1] = e[i + 1], e[i]
                yield "indices", _made(node, slice=_made(node.slice, elts=e))
    elif isinstance(node, ast.IfExp):
        yield "branch", _made(node, body=node.orelse, orelse=node.body)


def _dropped(node: ast.stmt) -> ast.AST:
    """Return the statement where it never runs, so that the names in the function stay the same."""
    return ast.If(test=ast.Constant(value=False), body=[node], orelse=[])


def _calls(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def _sets_entries(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and all(isinstance(t, (ast.Subscript, ast.Attribute)) for t in node.targets)


def _statements(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the changes of a statement."""
    if isinstance(node, ast.If):
        yield "branch", _made(node, test=ast.UnaryOp(op=ast.Not(), operand=node.test))
    elif isinstance(node, ast.AugAssign):
        if type(node.op) in _ARITHMETIC:
            yield "arithmetic", _made(node, op=_ARITHMETIC[type(node.op)]())
        yield "statement", _dropped(node)
    elif _calls(node) or _sets_entries(node):
        yield "statement", _dropped(node)


def _changes(node: ast.AST) -> list[tuple[str, ast.AST]]:
    return list(_statements(node) if isinstance(node, ast.stmt) else _expressions(node))


def _shown(node: ast.AST) -> str:
    """Return a node as source on one line; of a compound statement only the condition."""
    return " ".join(ast.unparse(node.test if isinstance(node, ast.If) else node).split())


def places(file: str, source: str) -> list[Place]:
    """Return the places of a module, in the order of its lines."""
    found: list[Place] = []
    tree = ast.parse(source)
    index = {id(node): i for i, node in enumerate(ast.walk(tree))}
    texts = source.splitlines()
    same: Counter[str] = Counter()

    def key(node: ast.AST, scope: str) -> str:
        text = texts[node.lineno - 1]  # type: ignore[attr-defined]
        column = node.col_offset - len(text) + len(text.lstrip())  # type: ignore[attr-defined]
        made = f"{file} {scope} {text.strip()} {column} {type(node).__name__}"
        same[made] += 1
        return f"{made} {same[made]}"

    def visit(node: ast.AST, scope: str, inside: bool, statement: int) -> None:
        if isinstance(node, ast.stmt):
            statement = node.lineno
        if inside and not isinstance(node, ast.expr_context):
            count = len(_changes(node))
            if count:
                end = node.test.end_lineno if isinstance(node, ast.If) else node.end_lineno  # type: ignore[attr-defined]
                lines = range(node.lineno, end + 1)  # type: ignore[attr-defined]
                found.append(Place(file, scope, lines, statement, index[id(node)], count, key(node, scope)))
        if isinstance(node, (ast.Raise, ast.JoinedStr)):
            return  # texts of errors
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            name = getattr(node, "name", "<lambda>")
            body = node.body if isinstance(node.body, list) else [node.body]
            for child in body:
                visit(child, f"{scope}.{name}".lstrip("."), isinstance(node, _FUNCTIONS), statement)
            return
        annotations = (getattr(node, "annotation", None), getattr(node, "returns", None))
        for child in ast.iter_child_nodes(node):
            if child not in annotations:
                visit(child, scope, inside, statement)

    visit(tree, "", False, 1)
    return sorted(found, key=lambda place: (place.lines.start, place.index))


class _Exchange(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.old:
            return ast.copy_location(self.new, self.old)
        return self.generic_visit(node)


def _find(source: str, place: Place) -> tuple[ast.Module, ast.AST]:
    tree = ast.parse(source)
    return tree, next(node for i, node in enumerate(ast.walk(tree)) if i == place.index)


def mutant(source: str, place: Place, variant: int) -> Mutant:
    """Return the mutant of a place of a module by the number of its change."""
    _, old = _find(source, place)
    operator, new = _changes(old)[variant]
    return Mutant(place, variant, operator, f"{_shown(old)} -> {'dropped' if operator == 'statement' else _shown(new)}")


def mutants(file: str, source: str, lines: set[str]) -> list[Mutant]:
    """Return all mutants of those lines of a module that have one of the given texts."""
    texts = source.splitlines()
    chosen = [place for place in places(file, source) if texts[place.lines.start - 1].strip() in lines]
    return [mutant(source, place, variant) for place in chosen for variant in range(place.count)]


def mutate(source: str, mutant: Mutant) -> ast.Module:
    """Return the syntax tree of a module with one change."""
    tree, old = _find(source, mutant.place)
    _, new = _changes(old)[mutant.variant]
    return ast.fix_missing_locations(_Exchange(old, new).visit(tree))
