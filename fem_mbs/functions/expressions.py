"""Arithmetic expressions from model files, evaluated without Python's ``eval``.

The text is parsed with :func:`ast.parse` and translated into a small tree of known operations; whatever is not on the
list below is refused with a :class:`~fem_mbs.errors.ModelError` that names expression, position and what is allowed.

========== ==========================================================================================================
numbers    ``2``, ``0.5``, ``1e-3``; constants ``pi`` and ``e``
variables  those given to :func:`compile_expression`, usually ``t``
operators  ``+ - * / **``, comparisons ``< <= > >= == !=`` (1 or 0), ``and or not``, ``a if c else b``
functions  ``sin cos tan asin acos atan atan2 sinh cosh tanh exp log sqrt abs min max sign step round floor ceil``
========== ==========================================================================================================

``step(x)`` is Heaviside's function, 1 from x = 0 on. Angles are in radians, ``log`` is natural.

An expression gives its value and, by forward-mode Taylor jets (value, first, second derivative carried through every
operation), its exact derivatives with respect to the first variable. Where a derivative jumps it is the one to the
right; ``step``, ``sign``, ``round`` (halves upwards), ``floor`` and ``ceil`` have derivative zero.

Everything is computed in double precision, so no number can grow without bound: ``9**9**9`` costs nothing and is
refused for its exponent. Outside a function's domain the result is NaN or infinite, as IEEE 754 has it;
:meth:`Expression.check` turns that into an error.

Transcendental functions are taken from the C library element by element: numpy's vector units may round the elements
of a vector's tail differently, and a load must not depend on how many times are asked for at once.
"""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass

__all__ = ["FUNCTIONS", "MAX_DEPTH", "MAX_EXPONENT", "MAX_LENGTH", "Expression", "compile_expression", "libm"]

MAX_LENGTH = 2000  # characters
MAX_DEPTH = 64  # nested parentheses, calls and conditions; a long sum is not deep
MAX_EXPONENT = 1000.0  # absolute value of a constant exponent

CONSTANTS = {"pi": math.pi, "e": math.e}

# Name: smallest and largest number of arguments.
FUNCTIONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log"), (1, 1)),
    **dict.fromkeys(("sqrt", "abs", "sign", "step", "round", "floor", "ceil"), (1, 1)),
    "atan2": (2, 2),
    "min": (2, MAX_LENGTH),
    "max": (2, MAX_LENGTH),
}

_LIBM: dict[str, tuple[Callable[..., float], Any]] = {
    "sin": (math.sin, np.sin),
    "cos": (math.cos, np.cos),
    "tan": (math.tan, np.tan),
    "asin": (math.asin, np.arcsin),
    "acos": (math.acos, np.arccos),
    "atan": (math.atan, np.arctan),
    "atan2": (math.atan2, np.arctan2),
    "sinh": (math.sinh, np.sinh),
    "cosh": (math.cosh, np.cosh),
    "tanh": (math.tanh, np.tanh),
    "exp": (math.exp, np.exp),
    "log": (math.log, np.log),
    "pow": (math.pow, np.float_power),
}


def libm(name: str, x: Any, y: Any = None) -> Any:
    """Return a function of the C library for every element of x (and y, broadcast): float64 array of the common shape.

    The result for an element does not depend on its neighbours, bit for bit. Domain errors give NaN, poles and
    overflow give infinity.
    """
    scalar, vector = _LIBM[name]

    def careful(*args: float) -> float:
        try:
            return scalar(*args)
        except (ValueError, OverflowError):  # the math module raises where IEEE 754 has a value
            with np.errstate(all="ignore"):
                return float(vector(*args))

    arrays = [np.asarray(x, dtype=float)] if y is None else np.broadcast_arrays(np.asarray(x, float), y)
    shape = arrays[0].shape
    if not shape:
        return np.float64(careful(*(float(a) for a in arrays)))
    lists = [a.ravel().tolist() for a in arrays]
    try:
        flat = np.fromiter(map(scalar, *lists), float, arrays[0].size)
    except (ValueError, OverflowError):
        flat = np.fromiter(map(careful, *lists), float, arrays[0].size)
    return flat.reshape(shape)


# ----------------------------------------------------------------------------------------------------------------------
# The tree.


@dataclass(frozen=True)
class _Number:
    value: float


@dataclass(frozen=True)
class _Variable:
    index: int


@dataclass(frozen=True)
class _Chain:
    """``((first op1 a1) op2 a2) ...``: left-nested arithmetic kept flat, so that a long sum is not a deep tree."""

    first: Any
    rest: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class _Negative:
    argument: Any


@dataclass(frozen=True)
class _Call:
    name: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class _Compare:
    """``first op1 a1 op2 a2``: true where every comparison of neighbours is."""

    first: Any
    rest: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class _Logic:
    name: str  # "and", "or", "not"
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class _Choice:
    condition: Any
    then: Any
    otherwise: Any


_WHOLE: dict[str, Callable[[Any], Any]] = {
    "round": lambda u: np.floor(np.add(u, 0.5)),
    "floor": np.floor,
    "ceil": np.ceil,
}
_ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_REMEDIES = {ast.BitXor: "write ** for a power", ast.Mod: "there is no remainder", ast.FloorDiv: "write / to divide"}
_COMPARE = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}

# A jet is (f, f', f''), derivatives with respect to the first variable; f' and f'' are None where f is constant. With
# the first variable itself entered as a constant the same code evaluates the value alone, with the same bits.
_Jet = tuple[Any, Any, Any]


class Expression:
    """A checked expression; made by :func:`compile_expression`.

    Attributes
    ----------
    text: the expression as it was written
    variables: names of the variables; derivatives are with respect to the first
    kinks: sorted values of the first variable where the function or its first two derivatives may jump, as far as
        they follow from switches (step, sign, abs, min, max, comparisons) of expressions linear in that variable
    kinks_complete: False if there are switches of other expressions, whose places are not known
    """

    __slots__ = ("_tree", "kinks", "kinks_complete", "text", "variables")

    def __init__(self, text: str, variables: tuple[str, ...], tree: Any) -> None:
        self.text = text
        self.variables = variables
        self._tree = tree
        switches: list[float] = []
        self.kinks_complete = _collect_switches(tree, switches)
        self.kinks = np.unique(np.array(switches, dtype=float))

    def __repr__(self) -> str:
        return f"Expression({self.text!r}, variables={self.variables!r})"

    def _prepare(self, values: tuple[Any, ...]) -> list[np.ndarray]:
        if len(values) != len(self.variables):
            names = ", ".join(self.variables)
            raise ModelError(
                f"{len(values)} value(s) given for the variables {names}.", owner=Owner("Expression", self.text)
            )
        return list(np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in values)))

    def __call__(self, *values: Any) -> Any:
        """Return the value; one argument per variable, broadcast to a common shape, which is that of the result."""
        arrays = self._prepare(values)
        with np.errstate(all="ignore"):
            f = _evaluate(self._tree, [(a, None, None) for a in arrays])[0]
        return _fill(f, arrays[0].shape)

    def jet(self, *values: Any) -> tuple[Any, Any, Any]:
        """Return value, first and second derivative with respect to the first variable, each of the common shape."""
        arrays = self._prepare(values)
        shape = arrays[0].shape
        first = (arrays[0], np.ones(shape), np.zeros(shape))
        with np.errstate(all="ignore"):
            f, d1, d2 = _evaluate(self._tree, [first, *((a, None, None) for a in arrays[1:])])
        return _fill(f, shape), _fill(0.0 if d1 is None else d1, shape), _fill(0.0 if d2 is None else d2, shape)

    def check(self, *values: Any) -> None:
        """Raise ModelError at the first point where the value is NaN or infinite."""
        arrays = self._prepare(values)
        bad = np.flatnonzero(~np.isfinite(np.ravel(self(*values))))
        if bad.size:
            k = bad[0]
            where = ", ".join(f"{n} = {a.flat[k]:.6g}" for n, a in zip(self.variables, arrays, strict=True))
            value = np.ravel(self(*values))[k]
            raise ModelError(
                f"its value is {value} at {where}",
                owner=Owner("Expression", self.text),
                remedy="use it where it is defined, or write a condition (a if c else b) around the undefined part.",
            )


def _fill(values: Any, shape: tuple[int, ...]) -> Any:
    return np.array(np.broadcast_to(np.asarray(values, dtype=float), shape))[()]


# ----------------------------------------------------------------------------------------------------------------------
# From text to tree.


def compile_expression(text: str, variables: Sequence[str] = ("t",)) -> Expression:
    """Parse and check ``text``.

    Raises ModelError, with the position in the text, for anything that is not on the list in the module's docstring,
    and for expressions longer than MAX_LENGTH, nested deeper than MAX_DEPTH or with constant exponents beyond
    MAX_EXPONENT.
    """
    if not isinstance(text, str):
        raise ModelError(f'expected a text like "2*sin(pi*t)", got {text!r}.', owner=Owner("Expression"))
    names = tuple(variables)
    for name in names:
        if not (isinstance(name, str) and name.isascii() and name.isidentifier()) or name in FUNCTIONS:
            raise ModelError(f"{name!r} cannot be the name of a variable.", owner=Owner("Expression", _shorten(text)))
    if not names or len(set(names)) != len(names):
        raise ModelError(
            f"the variables {names!r} must be distinct, at least one.", owner=Owner("Expression", _shorten(text))
        )
    return Expression(text, names, _Parser(text, names).parse())


def _shorten(text: str, width: int = 60) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 3] + "..."


class _Parser:
    def __init__(self, text: str, variables: tuple[str, ...]) -> None:
        self.text = text
        self.variables = variables

    def error(self, what: str, position: int | None = None) -> ModelError:
        at = "" if position is None else f"position {position + 1}"
        return ModelError(what, owner=Owner("Expression", _shorten(self.text)).within(at))

    def parse(self) -> Any:
        if len(self.text) > MAX_LENGTH:
            raise self.error(f"{len(self.text)} characters are more than the {MAX_LENGTH} allowed; use a table.")
        # Same length, so positions stay right; line breaks would end the expression for Python's parser.
        source = "".join(" " if c.isspace() else c for c in self.text)
        if not source.strip():
            raise self.error('it is empty; write for example "2*sin(pi*t)".')
        for k, c in enumerate(source):
            if not c.isascii() or not c.isprintable() or c in "#\\`$?@;":
                hint = {"π": "; write pi", "·": "; write *", "×": "; write *", "−": "; write -", "²": "; write **2"}
                raise self.error(f"the character {c!r} is not allowed{hint.get(c, '')}.", k)
        start = len(source) - len(source.lstrip())
        try:
            with warnings.catch_warnings():  # Python's advice on odd literals is of no use here
                warnings.simplefilter("ignore")
                tree = ast.parse(source.strip(), mode="eval").body
        except SyntaxError as exc:
            position = start + max((exc.offset or 1) - 1, 0)
            raise self.error(f"{exc.msg}. {self.allowed()}", min(position, len(source) - 1)) from None
        except (ValueError, RecursionError, MemoryError) as exc:
            raise self.error(f"Python cannot parse it ({exc}); simplify it or use a table.") from None
        self.start = start
        return self.translate(tree, 1)

    def allowed(self) -> str:
        return (
            f"Allowed are numbers, {', '.join([*self.variables, *CONSTANTS])}, the operators + - * / **, comparisons, "
            f"and/or/not, a if c else b, and the functions {', '.join(FUNCTIONS)}."
        )

    def translate(self, node: ast.AST, depth: int) -> Any:
        position = self.start + getattr(node, "col_offset", 0)
        if depth > MAX_DEPTH:
            raise self.error(f"it is nested deeper than {MAX_DEPTH} levels; simplify it.", position)
        match node:
            case ast.Constant():
                return self.number(node.value, position)
            case ast.Name():
                return self.name(node.id, position)
            case ast.UnaryOp(op=ast.UAdd()):
                return self.translate(node.operand, depth + 1)
            case ast.UnaryOp(op=ast.USub()):
                return _Negative(self.translate(node.operand, depth + 1))
            case ast.UnaryOp(op=ast.Not()):
                return _Logic("not", (self.translate(node.operand, depth + 1),))
            case ast.BoolOp():
                name = "and" if isinstance(node.op, ast.And) else "or"
                return _Logic(name, tuple(self.translate(v, depth + 1) for v in node.values))
            case ast.BinOp():
                return self.chain(node, depth)
            case ast.Compare():
                rest = []
                for op, right in zip(node.ops, node.comparators, strict=True):
                    if type(op) not in _COMPARISONS:
                        raise self.error(f"this comparison is not allowed. {self.allowed()}", position)
                    rest.append((_COMPARISONS[type(op)], self.translate(right, depth + 1)))
                return _Compare(self.translate(node.left, depth + 1), tuple(rest))
            case ast.IfExp():
                return _Choice(*(self.translate(n, depth + 1) for n in (node.test, node.body, node.orelse)))
            case ast.Call():
                return self.call(node, depth, position)
        raise self.error(f"this is not arithmetic ({type(node).__name__}). {self.allowed()}", position)

    def number(self, value: Any, position: int) -> _Number:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(f"{value!r} is not a real number. {self.allowed()}", position)
        try:
            result = float(value)
        except OverflowError:
            result = math.inf
        if not math.isfinite(result):
            raise self.error("this number is too large for double precision (1.8e308).", position)
        return _Number(result)

    def name(self, name: str, position: int) -> Any:
        if name in self.variables:
            return _Variable(self.variables.index(name))
        if name in CONSTANTS:
            return _Number(CONSTANTS[name])
        if name in FUNCTIONS:
            raise self.error(f'the function "{name}" needs its argument in parentheses.', position)
        raise self.error(f'unknown name "{name}". {self.allowed()}', position)

    def chain(self, node: ast.BinOp, depth: int) -> _Chain:
        spine: list[tuple[str, Any]] = []
        left: ast.AST = node
        while isinstance(left, ast.BinOp):
            position = self.start + left.right.col_offset
            symbol = _ARITHMETIC.get(type(left.op))
            if symbol is None:
                remedy = _REMEDIES.get(type(left.op), self.allowed())
                raise self.error(f"the operator before this is not allowed; {remedy}.".replace("..", "."), position)
            right = self.translate(left.right, depth + 1)
            if symbol == "**" and _is_constant(right):
                with np.errstate(all="ignore"):
                    exponent = float(_evaluate(right, [])[0])
                if not abs(exponent) <= MAX_EXPONENT:
                    raise self.error(f"the exponent {exponent:g} is beyond the {MAX_EXPONENT:g} allowed.", position)
            spine.append((symbol, right))
            left = left.left
        return _Chain(self.translate(left, depth + 1), tuple(reversed(spine)))

    def call(self, node: ast.Call, depth: int, position: int) -> _Call:
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
            what = f'unknown function "{node.func.id}"' if isinstance(node.func, ast.Name) else "this cannot be called"
            if isinstance(node.func, ast.Name) and node.func.id in (*self.variables, *CONSTANTS):
                what = f'"{node.func.id}" is not a function; write * to multiply'
            raise self.error(f"{what}. {self.allowed()}", position)
        name = node.func.id
        low, high = FUNCTIONS[name]
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            raise self.error(f"{name} takes plain arguments only.", position)
        if not low <= len(node.args) <= high:
            need = f"{low} argument{'s' if low > 1 else ''}" if low == high else f"at least {low} arguments"
            raise self.error(f"{name} takes {need}, not {len(node.args)}.", position)
        return _Call(name, tuple(self.translate(a, depth + 1) for a in node.args))


def _children(node: Any) -> tuple[Any, ...]:
    match node:
        case _Chain() | _Compare():
            return (node.first, *(a for _, a in node.rest))
        case _Negative():
            return (node.argument,)
        case _Call() | _Logic():
            return node.arguments
        case _Choice():
            return (node.condition, node.then, node.otherwise)
    return ()


def _is_constant(node: Any) -> bool:
    return not isinstance(node, _Variable) and all(_is_constant(child) for child in _children(node))


# ----------------------------------------------------------------------------------------------------------------------
# Where switches are.


def _affine(node: Any) -> tuple[float, float] | None:
    """Return (a, b) if the node is a + b x of the first variable x, with constant a and b; else None."""
    if _is_constant(node):
        with np.errstate(all="ignore"):
            return float(_evaluate(node, [])[0]), 0.0
    match node:
        case _Variable(index=0):
            return 0.0, 1.0
        case _Negative():
            inner = _affine(node.argument)
            return None if inner is None else (-inner[0], -inner[1])
        case _Chain():
            result = _affine(node.first)
            for symbol, argument in node.rest:
                other = _affine(argument)
                if result is None or other is None:
                    return None
                (a, b), (c, d) = result, other
                if symbol == "+":
                    result = a + c, b + d
                elif symbol == "-":
                    result = a - c, b - d
                elif symbol == "*" and b * d == 0.0:
                    result = a * c, a * d + b * c
                elif symbol == "/" and d == 0.0 and c != 0.0:
                    result = a / c, b / c
                else:
                    return None
            return result
    return None


def _collect_switches(node: Any, found: list[float]) -> bool:
    """Append the zeros of all switching functions below ``node``; False if some of them are not known."""
    pairs: list[tuple[Any, Any]] = []
    zero = _Number(0.0)
    match node:
        case _Call(name="step" | "sign" | "abs"):
            pairs = [(node.arguments[0], zero)]
        case _Call(name="min" | "max"):
            args = node.arguments
            pairs = [(args[i], args[j]) for i in range(len(args)) for j in range(i)]
        case _Compare():
            sides = _children(node)
            pairs = list(zip(sides[:-1], sides[1:], strict=True))
        case _Choice() | _Logic():
            tests = (node.condition,) if isinstance(node, _Choice) else node.arguments
            pairs = [(test, zero) for test in tests if not isinstance(test, _Compare | _Logic)]
    jumps = isinstance(node, _Call) and node.name in _WHOLE  # at every whole number of what is inside
    complete = not (jumps and not _is_constant(node))
    for left, right in pairs:
        a, b = _affine(left), _affine(right)
        if a is None or b is None:
            complete = False
        elif a[1] != b[1]:
            root = (b[0] - a[0]) / (a[1] - b[1])
            if math.isfinite(root):
                found.append(root + 0.0)  # + 0.0 turns a negative zero into zero
    for child in _children(node):
        complete = _collect_switches(child, found) and complete
    return complete


# ----------------------------------------------------------------------------------------------------------------------
# Evaluation.


def _evaluate(node: Any, values: list[_Jet]) -> _Jet:
    match node:
        case _Number():
            return np.float64(node.value), None, None  # not a Python float, whose division by zero raises
        case _Variable():
            return values[node.index]
        case _Chain():
            result = _evaluate(node.first, values)
            for symbol, argument in node.rest:
                result = _OPERATIONS[symbol](result, _evaluate(argument, values))
            return result
        case _Negative():
            return _minus(_evaluate(node.argument, values))
        case _Call(name="min" | "max"):
            result = _evaluate(node.arguments[0], values)
            for argument in node.arguments[1:]:
                result = _extreme(result, _evaluate(argument, values), -1.0 if node.name == "min" else 1.0)
            return result
        case _Call(name="atan2"):
            return _atan2(*(_evaluate(a, values) for a in node.arguments))
        case _Call():
            return _call(node.name, _evaluate(node.arguments[0], values))
        case _Choice():
            now, after = _condition(node.condition, values)
            a, b = _evaluate(node.then, values), _evaluate(node.otherwise, values)
            if a[1] is None and b[1] is None:
                return np.where(now, a[0], b[0]), None, None
            a, b = _full(a), _full(b)
            return np.where(now, a[0], b[0]), np.where(after, a[1], b[1]), np.where(after, a[2], b[2])
    return np.asarray(_condition(node, values)[0], dtype=float), None, None


def _condition(node: Any, values: list[_Jet]) -> tuple[Any, Any]:
    """Return the truth at the point, and just to the right of it; the latter selects the branch whose derivatives
    count."""
    match node:
        case _Compare():
            now = after = np.True_
            left = _evaluate(node.first, values)
            for symbol, argument in node.rest:
                right = _evaluate(argument, values)
                test = _COMPARE[symbol]
                here = test(left[0], right[0])
                trend = _trend(left, right)
                now = now & here
                after = after & np.where(trend != 0.0, test(trend, 0.0), here)
                left = right
            return now, after
        case _Logic(name="not"):
            now, after = _condition(node.arguments[0], values)
            return ~np.asarray(now), ~np.asarray(after)
        case _Logic():
            join = np.logical_and if node.name == "and" else np.logical_or
            parts = [_condition(argument, values) for argument in node.arguments]
            return join.reduce(np.broadcast_arrays(*(p[0] for p in parts))), join.reduce(
                np.broadcast_arrays(*(p[1] for p in parts))
            )
    jet = _evaluate(node, values)
    now = np.not_equal(jet[0], 0.0)
    return now, now | (_trend(jet, (np.float64(0.0), None, None)) != 0.0)


def _trend(a: _Jet, b: _Jet) -> Any:
    """Return, where a = b, the sign of a - b just to the right; 0 elsewhere, or if the derivatives do not tell."""
    if a[1] is None and b[1] is None:
        return np.float64(0.0)
    a, b = _full(a), _full(b)
    slope = np.sign(a[1] - b[1])
    return np.where(a[0] == b[0], np.where(slope != 0.0, slope, np.sign(a[2] - b[2])), 0.0)


def _full(a: _Jet) -> _Jet:
    return (a[0], 0.0, 0.0) if a[1] is None else a


def _plus(a: _Jet, b: _Jet) -> _Jet:
    f = a[0] + b[0]
    if a[1] is None or b[1] is None:
        return (f, *(b if a[1] is None else a)[1:])
    return f, a[1] + b[1], a[2] + b[2]


def _minus(a: _Jet) -> _Jet:
    return (-a[0], None, None) if a[1] is None else (-a[0], -a[1], -a[2])


def _subtract(a: _Jet, b: _Jet) -> _Jet:
    f = a[0] - b[0]
    if b[1] is None:
        return f, a[1], a[2]
    return (f, -b[1], -b[2]) if a[1] is None else (f, a[1] - b[1], a[2] - b[2])


def _times(a: _Jet, b: _Jet) -> _Jet:
    f = a[0] * b[0]
    if b[1] is None:
        return (f, None, None) if a[1] is None else (f, a[1] * b[0], a[2] * b[0])
    if a[1] is None:
        return f, a[0] * b[1], a[0] * b[2]
    return f, a[1] * b[0] + a[0] * b[1], a[2] * b[0] + 2.0 * (a[1] * b[1]) + a[0] * b[2]


def _divide(a: _Jet, b: _Jet) -> _Jet:
    f = a[0] / b[0]
    if b[1] is None:
        return (f, None, None) if a[1] is None else (f, a[1] / b[0], a[2] / b[0])
    a = _full(a)
    d1 = (a[1] - f * b[1]) / b[0]
    return f, d1, (a[2] - 2.0 * (d1 * b[1]) - f * b[2]) / b[0]


def _power(a: _Jet, b: _Jet) -> _Jet:
    u, v = a[0], b[0]
    f = libm("pow", u, v)
    if a[1] is None and b[1] is None:
        return f, None, None
    a = _full(a)
    # Constant exponent: valid for every base. A vanishing factor wins over the infinity of 0**(negative).
    p1 = np.where(v == 0.0, 0.0, v * libm("pow", u, v - 1.0))
    p2 = np.where((v == 0.0) | (v == 1.0), 0.0, v * (v - 1.0) * libm("pow", u, v - 2.0))
    d1, d2 = p1 * a[1], p2 * (a[1] * a[1]) + p1 * a[2]
    if b[1] is not None:  # u**v = exp(v log u), for positive bases
        w = _times(b, _call("log", a))
        fixed = (b[1] == 0.0) & (b[2] == 0.0)
        d1 = np.where(fixed, d1, f * w[1])
        d2 = np.where(fixed, d2, f * (w[1] * w[1] + w[2]))
    return f, d1, d2


def _extreme(a: _Jet, b: _Jet, sign: float) -> _Jet:
    """Return the larger (sign 1) or smaller (sign -1) of two; NaN if one is NaN, as a chosen a or as the other b."""
    take = (sign * a[0] >= sign * b[0]) | np.isnan(a[0])
    f = np.where(take, a[0], b[0])
    if a[1] is None and b[1] is None:
        return f, None, None
    trend = _trend(a, b)
    a, b = _full(a), _full(b)
    take = np.where(trend != 0.0, sign * trend > 0.0, take)
    return f, np.where(take, a[1], b[1]), np.where(take, a[2], b[2])


def _atan2(y: _Jet, x: _Jet) -> _Jet:
    f = libm("atan2", y[0], x[0])
    if y[1] is None and x[1] is None:
        return f, None, None
    y, x = _full(y), _full(x)
    r2 = x[0] * x[0] + y[0] * y[0]
    d1 = (x[0] * y[1] - y[0] * x[1]) / r2
    return f, d1, (x[0] * y[2] - y[0] * x[2] - 2.0 * d1 * (x[0] * x[1] + y[0] * y[1])) / r2


def _call(name: str, a: _Jet) -> _Jet:
    """Return a function of one argument: f(u), f' u', f'' u'^2 + f' u''."""
    u = a[0]
    if name == "sign":
        return np.sign(u), None, None
    if name in _WHOLE:
        return _WHOLE[name](u), None, None
    if name == "step":
        return np.where(np.isnan(u), u, np.where(u >= 0.0, 1.0, 0.0)), None, None
    if name == "abs":
        if a[1] is None:
            return np.abs(u), None, None
        side = np.where(u == 0.0, _trend(a, (np.float64(0.0), None, None)), np.sign(u))
        return np.abs(u), side * a[1], side * a[2]
    f = np.sqrt(u) if name == "sqrt" else libm(name, u)
    if a[1] is None:
        return f, None, None
    g1, g2 = _derivatives(name, u, f)
    return f, g1 * a[1], g2 * (a[1] * a[1]) + g1 * a[2]


def _derivatives(name: str, u: Any, f: Any) -> tuple[Any, Any]:
    """Return first and second derivative at u of a smooth function whose value there is f."""
    match name:
        case "sin":
            return libm("cos", u), -f
        case "cos":
            return -libm("sin", u), -f
        case "tan":
            g = 1.0 + f * f
            return g, 2.0 * f * g
        case "asin" | "acos":
            g = (1.0 if name == "asin" else -1.0) / np.sqrt((1.0 - u) * (1.0 + u))
            return g, u * (g * g * g)
        case "atan":
            g = 1.0 / (1.0 + u * u)
            return g, -2.0 * u * (g * g)
        case "sinh":
            return libm("cosh", u), f
        case "cosh":
            return libm("sinh", u), f
        case "tanh":
            g = (1.0 - f) * (1.0 + f)
            return g, -2.0 * f * g
        case "exp":
            return f, f
        case "log":
            return 1.0 / u, -1.0 / (u * u)
        case "sqrt":
            return 0.5 / f, -0.25 / (u * f)
    raise AssertionError(f"no derivative for {name}")  # FUNCTIONS and this list are kept equal by a test


_OPERATIONS: dict[str, Callable[[_Jet, _Jet], _Jet]] = {
    "+": _plus,
    "-": _subtract,
    "*": _times,
    "/": _divide,
    "**": _power,
}
