"""*PARAMETER of a deck: values by expressions, put in where later lines have <name>.

Expressions know numbers, text in quotes, parameters before them, + - * / **, brackets, and the functions of
`_FUNCTIONS`; anything else is refused, so that a deck cannot run programs.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fem_mbs.meshes.abaqus.text import Card, Piece, Row, decoded
from fem_mbs.meshes.texts import short

__all__ = ["substituted"]

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh")},
    **{name: getattr(math, name) for name in ("tanh", "exp", "log", "log10", "sqrt", "degrees", "radians")},
    "abs": abs, "min": min, "max": max, "int": int, "float": float, "pow": math.pow, "round": round,
}  # fmt: skip
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
_NAME = re.compile(rb"<\s*([A-Za-z_]\w*)\s*>")
_LONGEST = 2000  # characters of an expression


def substituted(cards: list[Card]) -> list[Card]:
    """Return the keywords without *PARAMETER, and with the values of parameters for their names in < >.

    Raises:
        MeshError: expressions that cannot be evaluated, and names that no *PARAMETER before gives.
    """
    if not any(card.keyword == "PARAMETER" for card in cards):
        return cards
    values: dict[str, Any] = {}
    out = []
    for card in cards:
        if card.keyword == "PARAMETER":
            _read(card, values)
        else:
            pieces = [
                replace(piece, data=_filled(card, piece, values)) if b"<" in piece.data else piece
                for piece in card.pieces
            ]
            params = {
                key: value if value is None or "<" not in value else _text(card, value, values)
                for key, value in card.params.items()
            }
            out.append(replace(card, params=params, pieces=pieces))
    return out


def _read(card: Card, values: dict[str, Any]) -> None:
    if card.params:
        card.fail(f"the parameter {next(iter(card.params))} is not read; give lines NAME = EXPRESSION")
    for piece in card.pieces:
        for k, raw in enumerate(piece.data.split(b"\n")):
            line = decoded(raw).partition("#")[0].strip().rstrip(",")
            if not line:
                continue
            row = Row(card, piece.file, piece.line + k)
            name, sign, text = line.partition("=")
            name = name.strip()
            if not sign or not name.isidentifier():
                row.fail(f"{short(line)} is not of the form NAME = EXPRESSION")
            values[name.upper()] = _evaluated(row, text.strip(), values)


def _evaluated(row: Row, text: str, values: dict[str, Any]) -> Any:
    if len(text) > _LONGEST:
        row.fail(f"the expression has {len(text)} characters; {_LONGEST} are read")

    def value(node: ast.AST) -> Any:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)):
            return node.value
        if isinstance(node, ast.Name):
            if node.id.upper() not in values:
                row.fail(f"the parameter {short(node.id)} is not defined before this line")
            return values[node.id.upper()]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            return -value(node.operand) if isinstance(node.op, ast.USub) else value(node.operand)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return math.pow(value(node.left), value(node.right))
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            a, b = value(node.left), value(node.right)
            if isinstance(a, str) or isinstance(b, str):
                raise TypeError("text cannot be calculated with")
            if isinstance(node.op, ast.Div) and isinstance(a, int) and isinstance(b, int):
                if b and a % b == 0:
                    return a // b
                row.fail(f"{a}/{b} of whole numbers is rounded by some versions of Abaqus; write {a}./{b}.")
            return _OPERATORS[type(node.op)](a, b)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            function = _FUNCTIONS.get(node.func.id)
            if function is None:
                row.fail(f"the function {short(node.func.id)} is not known; known are {', '.join(sorted(_FUNCTIONS))}")
            return function(*map(value, node.args))
        row.fail(f"{short(text)} has more than numbers, parameters, + - * / ** and functions")

    try:
        found = value(ast.parse(text, mode="eval").body)
    except (SyntaxError, RecursionError, MemoryError):
        row.fail(f"{short(text)} is not an expression")
    except (ArithmeticError, ValueError, TypeError) as error:
        row.fail(f"{short(text)} cannot be evaluated ({error})")
    if isinstance(found, float) and not math.isfinite(found):
        row.fail(f"{short(text)} is not finite")
    return found


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.17g}" if isinstance(value, float) else str(value)


def _filled(card: Card, piece: Piece, values: dict[str, Any]) -> bytes:
    """Return the lines of a piece with values for names."""

    def fill(match: re.Match[bytes]) -> bytes:
        name = match[1].decode().upper()
        if name not in values:
            line = piece.line + piece.data.count(b"\n", 0, match.start())
            Row(card, piece.file, line).fail(f"the parameter {short(name)} is not defined before this line")
        return _shown(values[name]).encode()

    return _NAME.sub(fill, piece.data)


def _text(card: Card, text: str, values: dict[str, Any]) -> str:
    return _filled(card, Piece(card.file, card.line, text.encode()), values).decode()
