"""Expressions: values against Python's math, derivatives against complex steps and differences, and what is refused."""

from __future__ import annotations

import contextlib
import math
import pickle
import time
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fem_mbs.errors import ModelError
from fem_mbs.functions.expressions import FUNCTIONS, MAX_DEPTH, MAX_LENGTH, _derivatives, compile_expression, libm

T = np.linspace(0.05, 0.95, 37)

VALUES = [
    ("2", lambda t: 2.0),
    ("  t ", lambda t: t),
    ("1 + 2*3 - 4/8", lambda t: 6.5),
    ("2 - 3 - 4", lambda t: -5.0),
    ("8/4/2", lambda t: 1.0),
    ("2**3**2", lambda t: 512.0),
    ("-t**2", lambda t: -(t**2)),
    ("(-t)**2", lambda t: t**2),
    ("+t - -t", lambda t: 2 * t),
    ("0x10 + 1_000", lambda t: 1016.0),
    ("pi*e", lambda t: math.pi * math.e),
    ("sin(t)*cos(t) + tan(t)", lambda t: math.sin(t) * math.cos(t) + math.tan(t)),
    ("asin(t) + acos(t/2) + atan(3*t)", lambda t: math.asin(t) + math.acos(t / 2) + math.atan(3 * t)),
    ("atan2(t - 0.5, -t)", lambda t: math.atan2(t - 0.5, -t)),
    ("sinh(t)*cosh(t)*tanh(t)", lambda t: math.sinh(t) * math.cosh(t) * math.tanh(t)),
    ("exp(-t)*log(1 + t)*sqrt(t)", lambda t: math.exp(-t) * math.log(1 + t) * math.sqrt(t)),
    ("t**1.5 + t**-2 + 2**t + t**t", lambda t: t**1.5 + t**-2 + 2**t + t**t),
    ("abs(t - 0.5) + sign(t - 0.5)", lambda t: abs(t - 0.5) + (t > 0.5) - (t < 0.5)),
    ("min(t, 0.3, 1 - t) + max(t, 0.7)", lambda t: min(t, 0.3, 1 - t) + max(t, 0.7)),
    ("step(t - 0.5)", lambda t: float(t >= 0.5)),
    ("t if t < 0.5 else 1 - t", lambda t: t if t < 0.5 else 1 - t),
    ("1 if t < 0.2 else 2 if t < 0.4 else 3", lambda t: 1 if t < 0.2 else 2 if t < 0.4 else 3),
    ("(t > 0.2)*t", lambda t: (t > 0.2) * t),
    ("0.2 < t <= 0.6", lambda t: float(0.2 < t <= 0.6)),
    ("t > 0.2 and not t > 0.6 or t == 0.95", lambda t: float((t > 0.2 and not t > 0.6) or t == 0.95)),
    ("7 if t else 8", lambda t: 7.0),
    ("t != 0.5", lambda t: float(t != 0.5)),
    ("1\n + t", lambda t: 1 + t),
]


@pytest.mark.parametrize(("text", "reference"), VALUES, ids=[v[0] for v in VALUES])
def test_value(text, reference):
    expression = compile_expression(text)
    expected = np.array([reference(float(t)) for t in T])
    np.testing.assert_allclose(expression(T), expected, rtol=4e-16 * 8, atol=1e-15)
    assert expression(T).shape == T.shape
    assert expression(T).dtype == float
    np.testing.assert_array_equal(expression.jet(T)[0], expression(T))


SMOOTH = [
    "t**3 - 2*t + 1",
    "(t + 1)/(t**2 + 2)",
    "3/(t + 1) - (t + 1)/3",
    "2 - t*5*t",
    "sin(3*t)*exp(-t)",
    "cos(t**2)",
    "tan(t/2)",
    "asin(t/2)*acos(t/3)",
    "atan(t*t)",
    "atan2(t, 2 - t**2)",
    "atan2(1, t)",
    "sinh(t)/cosh(2*t) + tanh(t*t)",
    "log(1 + t*t)",
    "sqrt(1 + t**3)",
    "t**2.5",
    "(1 + t)**-3",
    "2**(t*t)",
    "(1 + t)**(t*t)",
    "(t*t)**1",
    "(t*t)**0",
    "abs(t - 2)*abs(sin(t))",
    "min(t**2, t + 1)*max(t, -t)",
    "t**2 if t > -1 else 5",
    "-(t*t)*(t > 0)",
    "step(t)*t**4",
]


@pytest.mark.parametrize("text", SMOOTH)
def test_jet_against_differences(text):
    """Eighth-order differences with steps of 0.01 have an error of about 1e-8 here."""
    expression = compile_expression(text)
    f, d1, d2 = expression.jet(T)
    h = 1e-2
    values = {k: expression(T + k * h) for k in (-4, -3, -2, -1, 0, 1, 2, 3, 4)}
    # Coefficients of Fornberg (1988), doi:10.1090/S0025-5718-1988-0935077-0.
    first = sum(
        c * (values[k] - values[-k]) for k, c in zip((1, 2, 3, 4), (4 / 5, -1 / 5, 4 / 105, -1 / 280), strict=True)
    )
    second = -205 / 72 * values[0] + sum(
        c * (values[k] + values[-k]) for k, c in zip((1, 2, 3, 4), (8 / 5, -1 / 5, 8 / 315, -1 / 560), strict=True)
    )
    inner = T > 0.2 if "2.5" in text else slice(None)  # t**2.5 is not smooth at 0
    np.testing.assert_array_equal(f, values[0])
    np.testing.assert_allclose(d1[inner], (first / h)[inner], rtol=2e-7, atol=2e-8)
    np.testing.assert_allclose(d2[inner], (second / h**2)[inner], rtol=2e-6, atol=2e-7)


def test_every_function_has_derivatives():
    special = {"abs", "sign", "step", "min", "max", "atan2", "round", "floor", "ceil"}
    u = np.array([0.3])
    for name in set(FUNCTIONS) - special:
        f = np.sqrt(u) if name == "sqrt" else libm(name, u)
        assert all(np.isfinite(d).all() for d in _derivatives(name, u, f))


@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(-3, 3))
@settings(max_examples=60, deadline=None)
def test_jet_of_a_polynomial_is_exact(a, b, t):
    f, d1, d2 = compile_expression("a*t**3 + b*t*t - t", ("t", "a", "b")).jet(t, a, b)
    scale = 1e-14 * (1 + abs(a) + abs(b)) * 100
    assert f == pytest.approx(a * t**3 + b * t * t - t, abs=scale)
    assert d1 == pytest.approx(3 * a * t**2 + 2 * b * t - 1, abs=scale)
    assert d2 == pytest.approx(6 * a * t + 2 * b, abs=scale)


KINKS = [
    # text, kinks, complete, (f, f', f'') to the right of the first kink
    ("abs(t - 2)", [2], True, (0, 1, 0)),
    ("abs(2 - t)", [2], True, (0, 1, 0)),
    ("step(t - 1)*(t - 1)", [1], True, (0, 1, 0)),
    ("max(0, 3*t - 6)", [2], True, (0, 3, 0)),
    ("min(t, 1)", [1], True, (1, 0, 0)),
    ("min(1, t)", [1], True, (1, 0, 0)),
    ("max(1, t)", [1], True, (1, 1, 0)),
    ("0 if t <= 1 else t - 1", [1], True, (0, 1, 0)),
    ("0 if t < 1 else t - 1", [1], True, (0, 1, 0)),
    ("t - 1 if 1 < t else 0", [1], True, (0, 1, 0)),
    ("t if not t >= 1 else t**2", [1], True, (1, 2, 2)),
    ("t if 0 < t <= 1 else t**2", [0, 1], True, (0, 1, 0)),
    ("t if t <= 1 and t >= 0 else t**2", [0, 1], True, (0, 1, 0)),
    ("1 if t/2 + 1 == 2*(t - 0.25) - t else 0", [3], True, (1, 0, 0)),
    ("sign(-t)", [0], True, (0, 0, 0)),
    ("5 if t else 6", [0], True, (6, 0, 0)),
    ("abs(t) + abs(sin(t))", [0], False, (0, 2, 0)),
    ("t**2", [], True, None),
    ("abs(3)", [], True, None),
    ("t*floor(2.5)", [], True, None),
    ("floor(t)", [], False, None),
]


@pytest.mark.parametrize(("text", "kinks", "complete", "right"), KINKS, ids=[k[0] for k in KINKS])
def test_kinks(text, kinks, complete, right):
    expression = compile_expression(text)
    np.testing.assert_array_equal(expression.kinks, kinks)
    assert expression.kinks_complete is complete
    if right is not None:
        assert expression.jet(float(kinks[0])) == right


def test_whole_numbers():
    t = np.array([-1.5, -0.2, 0.5, 2.0, 2.6])
    np.testing.assert_array_equal(compile_expression("round(t)")(t), [-1, 0, 1, 2, 3])
    np.testing.assert_array_equal(compile_expression("floor(t)")(t), [-2, -1, 0, 2, 2])
    np.testing.assert_array_equal(compile_expression("ceil(t)")(t), [-1, 0, 1, 2, 3])
    assert compile_expression("3*t + ceil(t)").jet(0.5) == (2.5, 3.0, 0.0)


def test_shapes_and_variables():
    expression = compile_expression("a*t + b", ("t", "a", "b"))
    assert isinstance(expression(1.0, 2.0, 3.0), np.float64)
    assert expression(1.0, 2.0, 3.0) == 5.0
    assert expression(np.zeros((2, 1)), np.ones(3), 4).shape == (2, 3)
    f, d1, d2 = expression.jet(np.zeros((2, 1)), np.arange(3.0), 4)
    np.testing.assert_array_equal(d1, [[0, 1, 2]] * 2)
    assert f.shape == d2.shape == (2, 3)
    assert compile_expression("3")(np.zeros(0)).shape == (0,)
    result = compile_expression("t")(T)
    result[0] = 7.0  # the result is the caller's own
    assert T[0] != 7.0
    with pytest.raises(ModelError, match="1 value"):
        expression(1.0)


def test_pickle_keeps_the_expression():
    expression = compile_expression("sin(t)*max(t, 1) if t > 0 else 2")
    copy = pickle.loads(pickle.dumps(expression))
    np.testing.assert_array_equal(copy(T), expression(T))
    assert copy.text == expression.text


UNDEFINED = [
    ("1/t", 0.0, math.inf),
    ("log(t)", 0.0, -math.inf),
    ("log(t)", -1.0, math.nan),
    ("sqrt(t)", -1.0, math.nan),
    ("asin(t)", 2.0, math.nan),
    ("exp(1000*t)", 1.0, math.inf),
    ("sinh(1000*t)", -1.0, -math.inf),
    ("t**0.5", -1.0, math.nan),
    ("t**-1", 0.0, math.inf),
    ("(10*t)**1000", 1.0, math.inf),
    ("sin(t/0)", 1.0, math.nan),
    ("min(t, sqrt(-1))", 1.0, math.nan),
    ("max(sqrt(-1), t)", 1.0, math.nan),
    ("abs(sqrt(-t)) + step(sqrt(-t))", 1.0, math.nan),
    ("9**9**1", None, None),
]


@pytest.mark.parametrize(("text", "t", "value"), UNDEFINED, ids=[f"{u[0]} at {u[1]}" for u in UNDEFINED])
def test_undefined_is_ieee_and_check_says_where(text, t, value):
    expression = compile_expression(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if t is None:
            expression.check(1.0)
            return
        for at in (t, np.array([0.5, t, 0.25])):
            np.testing.assert_array_equal(np.ravel(expression(at))[-2 if np.ndim(at) else 0], value)
            np.testing.assert_array_equal(expression.jet(at)[0], expression(at))
        with pytest.raises(ModelError, match=rf"at t = {t:g}"):
            expression.check(np.array([t, t]))


REFUSED = [
    ("", "empty"),
    (" \n", "empty"),
    (3, "expected a text"),
    ("2*foo(t)", 'position 3: unknown function "foo"'),
    ("2*s", 'position 3: unknown name "s".*Allowed are numbers, t'),
    ("   2*s", "position 6"),
    ("sin", "needs its argument"),
    ("t(3)", "write \\* to multiply"),
    ("2(t)", "cannot be called"),
    ("sin(t, t)", "sin takes 1 argument, not 2"),
    ("atan2(t)", "atan2 takes 2 arguments, not 1"),
    ("min(t)", "at least 2"),
    ("sin(x=t)", "plain arguments"),
    ("sin(*t)", "plain arguments"),
    ("t^2", "position 3.*\\*\\* for a power"),
    ("t % 2", "remainder"),
    ("t // 2", "write / to divide"),
    ("t @ 2", "'@' is not allowed"),
    ("t & 2", "not allowed"),
    ("~t", "not arithmetic"),
    ("t +", "position"),
    ("(t", "position 1"),
    ("2 t", "position"),
    ("t = 2", "position"),
    ("t; t", "';' is not allowed"),
    ("t # all", "'#' is not allowed"),
    ("1j*t", "not a real number"),
    ("True", "not a real number"),
    ("None", "not a real number"),
    ("'a'", "not a real number"),
    ("1e999", "too large"),
    ("1" * 400, "too large"),
    ("9**9**9", "exponent 3.8742e\\+08"),
    ("t**(2000/1.5)", "exponent 1333"),
    ("t**sqrt(-1)", "exponent nan"),
    ("t[0]", "not arithmetic"),
    ("[t]", "not arithmetic"),
    ("t.real", "not arithmetic"),
    ("__import__('os')", "unknown function"),
    ("().__class__", "not arithmetic"),
    ("lambda: 1", "not arithmetic"),
    ("(t := 3)", "not arithmetic"),
    ("[x for x in (1, 2)]", "not arithmetic"),
    ("f'{t}'", "not arithmetic"),
    ("t is 1", "comparison"),
    ("t in (1, 2)", "comparison"),
    ("2·t", "position 2.*write \\*"),
    ("π", "write pi"),
    ("a\x00b", "not allowed"),
    ("\\t", "not allowed"),
    ("-" * 500 + "t", f"deeper than {MAX_DEPTH}"),
    ("(" * 150 + "t" + ")" * 150, None),
    ("(" * 300 + "t" + ")" * 300, "parenthes"),
    ("abs(" * 100 + "t" + ")" * 100, f"deeper than {MAX_DEPTH}"),
    ("t**" * 100 + "t", f"deeper than {MAX_DEPTH}"),
    ("t" + " " * MAX_LENGTH, f"more than the {MAX_LENGTH}"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[str(r[0])[:30] for r in REFUSED])
def test_refused(text, message):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if message is None:
            assert compile_expression(text)(2.0) == 2.0
            return
        with pytest.raises(ModelError, match=message) as info:
            compile_expression(text)
    assert str(info.value).startswith("Expression")
    assert len(str(info.value)) < 500


@pytest.mark.parametrize("variables", [(), ("t", "t"), ("sin",), ("2",), ("a b",), (3,)])
def test_bad_variables(variables):
    with pytest.raises(ModelError, match="Expression"):
        compile_expression("1", variables)


def test_long_sum_is_not_deep():
    text = "+".join(["t"] * (MAX_LENGTH // 2))
    assert compile_expression(text)(1.0) == MAX_LENGTH // 2


def test_nothing_hangs():
    start = time.process_time()
    for text in ("((9**999)**999)**999", "**".join(["9"] * 30), "min(" + ",".join(["t"] * 900) + ")"):
        with contextlib.suppress(ModelError):
            compile_expression(text)(1.0)
    assert time.process_time() - start < 5.0


WORDS = ["t", "1", "2.5", "pi", "(", ")", "+", "-", "*", "/", "**", "sin", "min", ",", "if", "else", "<", "and", "not"]


@given(st.one_of(st.text(max_size=30), st.lists(st.sampled_from(WORDS), max_size=15).map(" ".join)))
@settings(max_examples=400, deadline=None)
def test_any_text_gives_a_number_or_a_model_error(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            expression = compile_expression(text)
        except ModelError as error:
            message = str(error)
        else:
            assert all(part.shape == T.shape for part in expression.jet(T))
            return
    assert message.startswith("Expression")


@pytest.mark.parametrize("text", [*SMOOTH, *(v[0] for v in VALUES)])
def test_value_does_not_depend_on_chunks(text):
    """Bit for bit, for views with strides, offsets and tails alike."""
    expression = compile_expression(text)
    t = np.random.default_rng(1).uniform(0.01, 0.99, 101)
    whole = np.array(expression.jet(t))
    single = np.array([np.ravel(expression.jet(t[k : k + 1])) for k in range(t.size)]).T
    scalar = np.array([expression.jet(x) for x in t]).T
    strided = np.array(expression.jet(np.repeat(t, 3)[::3]))
    tail = np.concatenate([expression.jet(t[:1]), expression.jet(t[1:8]), expression.jet(t[8:])], axis=1)
    for other in (single, scalar, strided, tail):
        assert whole.tobytes() == other.tobytes()
