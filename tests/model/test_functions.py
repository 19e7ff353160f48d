"""Functions of time: published laws, derivatives against differences, kinks, chunks, and messages for wrong input."""

from __future__ import annotations

import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline

from fem_mbs.errors import ModelError
from fem_mbs.functions.kinds import FUNCTION_KINDS, make_function
from fem_mbs.functions.laws import TimeFunction

TIMES = [0.0, 0.5, 1.25, 2.0, 3.0]
VALUES = [0.0, 2.0, -1.0, 0.5, 0.0]

# One or more of each kind: (spec, kinks).
EXAMPLES = [
    (2.5, []),
    (3, []),
    ("2*sin(3*t) + t", []),
    ("max(t - 1, 0)", [1]),
    ({"kind": "constant", "value": -1}, []),
    ({"kind": "constant_speed", "rate": 124.8, "offset": 0.5}, []),
    ({"kind": "step", "start": 0.5, "start_value": 1, "end_value": 3}, [0.5]),
    ({"kind": "ramp", "start": 0.25, "duration": 1.5, "end_value": 4.0}, [0.25, 1.75]),
    ({"kind": "smoothstep", "start": 0.3, "duration": 2, "start_value": -1, "end_value": 2}, []),
    ({"kind": "hat", "start": 0.5, "duration": 2, "peak": 1.0, "value": 5}, [0.5, 1.0, 2.5]),
    ({"kind": "harmonic", "amplitude": 2, "frequency": 0.7, "phase": 0.2, "offset": 1}, []),
    ({"kind": "harmonic", "omega": 3.0}, []),
    ({"kind": "spin_up", "rate": 6, "duration": 2.5}, []),
    ({"kind": "start_up", "acceleration": 10}, [0]),
    ({"kind": "start_up", "acceleration": -3, "duration": 2.5}, [0]),
    (
        {"kind": "random", "frequencies": [0.05, 0.2, 0.6], "densities": [0.2, 1.0, 0.1], "lines": 40, "delay": 0.3},
        [],
    ),
    ({"kind": "random", "road": "H", "speed": 0.1, "lines": 300, "spacing": "logarithmic", "seed": 7}, []),
    ({"kind": "table", "times": TIMES, "values": VALUES}, TIMES),
    ({"kind": "table", "times": TIMES, "values": VALUES, "extrapolate": "linear"}, TIMES[1:-1]),
    ({"kind": "table", "times": TIMES, "values": VALUES, "periodic": True}, TIMES),
    ({"kind": "spline", "times": TIMES, "values": VALUES}, [0, 3]),
    ({"kind": "spline", "times": TIMES, "values": VALUES, "extrapolate": "linear"}, []),
    ({"kind": "spline", "times": TIMES, "values": VALUES, "ends": "clamped"}, [0, 3]),
    (
        {
            "kind": "spline",
            "times": TIMES,
            "values": VALUES,
            "ends": "clamped",
            "start_slope": 3.0,
            "end_slope": -1,
            "extrapolate": "linear",
        },
        [0, 3],
    ),
    ({"kind": "spline", "times": TIMES, "values": VALUES, "ends": "not-a-knot"}, [0, 3]),
    ({"kind": "spline", "times": TIMES, "values": VALUES, "ends": "periodic"}, []),
    ({"kind": "spline", "times": TIMES[:2], "values": VALUES[:2]}, [0, 0.5]),
    ({"kind": "expression", "expression": "abs(sin(3*t))", "kinks": [0, math.pi / 3, 2 * math.pi / 3]}, None),
    ({"kind": "sum", "functions": [1, "t**2", {"kind": "step", "start": 1.5}]}, [1.5]),
    ({"kind": "product", "functions": ["sin(t)", {"kind": "ramp", "duration": 2}, "exp(-t)"]}, [0, 2]),
    ({"kind": "scaled", "function": {"kind": "hat", "duration": 2}, "factor": -3, "delay": 0.5}, [0.5, 1.5, 2.5]),
]
IDS = [str(e[0])[:70] for e in EXAMPLES]


def all_kinks(function: TimeFunction) -> np.ndarray:
    return function.kinks_between(-10.0, 20.0)


@pytest.mark.parametrize(("spec", "kinks"), EXAMPLES, ids=IDS)
def test_kinks(spec, kinks):
    function = make_function(spec, "f")
    if kinks is not None:
        np.testing.assert_allclose(function.kinks, kinks, rtol=1e-15)
    every = all_kinks(function)
    assert np.all(np.diff(every) > 0)
    for k in every:
        assert list(function.kinks_between(k - 1e-3, k)) == [k]  # start < t <= end
        assert k not in function.kinks_between(k, k + 1e-3)


def test_every_kind_has_an_example():
    kinds = {spec["kind"] for spec, _ in EXAMPLES if isinstance(spec, dict)}
    assert kinds | {"csv"} == set(FUNCTION_KINDS)


@pytest.mark.parametrize("spec", [e[0] for e in EXAMPLES], ids=IDS)
def test_derivatives_against_differences_between_kinks(spec):
    function = make_function(spec, "f")
    t = np.linspace(-1.0, 4.5, 111) + 0.00371
    kinks = all_kinks(function)
    # Stay away from kinks, and from the ends of laws whose third derivative jumps.
    special = np.concatenate([kinks, TIMES, [0.3, 2.3, 2.5, 1.0]])
    t = t[np.min(np.abs(t[:, None] - special), axis=1) > 2.5e-3]
    h = 1e-3
    f, d1, d2 = function.jet(t)
    left, right = function(t - h), function(t + h)
    far = function(t + 2 * h) - function(t - 2 * h)
    np.testing.assert_allclose(d1, (8 * (right - left) - far) / (12 * h), atol=2e-8, rtol=1e-9)
    np.testing.assert_allclose(d2, (right - 2 * f + left) / h**2, atol=3e-5, rtol=3e-5)
    np.testing.assert_array_equal(f, function(t))


@pytest.mark.parametrize("spec", [e[0] for e in EXAMPLES], ids=IDS)
def test_slopes_at_kinks_are_those_to_the_right(spec):
    function = make_function(spec, "f")
    exact = not (isinstance(spec, dict) and "kinks" in spec)  # given ones, such as pi/3, are rounded
    for k in all_kinks(function)[: 40 if exact else 0]:
        f, d1, d2 = function.jet(k)
        h = 1e-6
        after, slope_after, curvature_after = function.jet(k + h)
        assert f == pytest.approx(after, abs=3e-5)
        assert d1 == pytest.approx(slope_after, abs=1e-3), k
        assert d2 == pytest.approx(curvature_after, abs=1e-3), k


@pytest.mark.parametrize("spec", [e[0] for e in EXAMPLES], ids=IDS)
def test_what_is_not_a_kink_is_smooth(spec):
    """At points that are not in the list f, f' and f'' have equal limits from both sides."""
    function = make_function(spec, "f")
    candidates = np.setdiff1d([0.0, 0.3, 0.5, 1.0, 1.25, 1.5, 2.0, 2.3, 2.5, 3.0, 1.75], all_kinks(function))
    for t in candidates:
        before, after = np.array(function.jet(t - 1e-9)), np.array(function.jet(t + 1e-9))
        np.testing.assert_allclose(before, after, atol=1e-6, err_msg=f"t = {t}")


@pytest.mark.parametrize("spec", [e[0] for e in EXAMPLES], ids=IDS)
def test_values_do_not_depend_on_chunks(spec):
    function = make_function(spec, "f")
    t = np.concatenate([np.random.default_rng(3).uniform(-1, 5, 83), all_kinks(function)])
    whole = np.array(function.jet(t))
    single = np.array([np.ravel(function.jet(t[k : k + 1])) for k in range(t.size)]).T
    scalar = np.array([function.jet(float(x)) for x in t]).T
    strided = np.array(function.jet(np.repeat(t, 3)[::3]))
    for other in (single, scalar, strided):
        assert whole.tobytes() == other.tobytes()
    assert function(t).tobytes() == whole[0].tobytes()


@pytest.mark.parametrize("spec", [e[0] for e in EXAMPLES], ids=IDS)
def test_shapes_and_pickle(spec):
    function = make_function(spec, "f")
    assert make_function(function) is function
    grid = np.linspace(0, 2, 6).reshape(2, 3)
    assert function(grid).shape == (2, 3)
    assert all(part.shape == (2, 3) and part.dtype == float for part in function.jet(grid))
    assert isinstance(function(1.0), np.float64)
    assert function(np.zeros(0)).shape == (0,)
    copy = pickle.loads(pickle.dumps(function))
    assert copy(grid).tobytes() == function(grid).tobytes()
    np.testing.assert_array_equal(copy.kinks, function.kinks)
    assert math.isnan(function(math.nan)) or np.ptp(function(grid)) == 0


LAWS = [
    # spec, t, f, f', f''
    ({"kind": "start_up", "acceleration": 10}, 1.0, 5 + 20 / math.pi**2, 10.0, 0.0),
    ({"kind": "start_up", "acceleration": 10}, 0.0, 0.0, 0.0, 20.0),
    ({"kind": "start_up", "acceleration": 10}, 0.5, 1.25 + 10 / math.pi**2, 5 + 10 / math.pi, 10.0),
    ({"kind": "start_up", "acceleration": 10}, 3.0, 25 + 20 / math.pi**2, 10.0, 0.0),
    ({"kind": "start_up", "acceleration": 10}, -1.0, 0.0, 0.0, 0.0),
    ({"kind": "start_up", "acceleration": 5, "duration": 2}, 2.0, 10 + 40 / math.pi**2, 10.0, 0.0),
    ({"kind": "spin_up", "rate": 6, "duration": 15}, 15.0, 45.0, 6.0, 0.0),
    ({"kind": "spin_up", "rate": 6, "duration": 15}, 20.0, 75.0, 6.0, 0.0),
    ({"kind": "spin_up", "rate": 6, "duration": 15}, 7.5, 0.4 * (28.125 - 2 * (7.5 / math.pi) ** 2), 3.0, 0.8),
    ({"kind": "spin_up", "rate": 6, "duration": 15}, -2.0, 0.0, 0.0, 0.0),
    ({"kind": "smoothstep", "duration": 2, "end_value": 3}, 1.0, 1.5, 3.0, 0.0),
    ({"kind": "smoothstep", "duration": 2, "end_value": 3}, 0.5, 0.75 - 1.5 / math.pi, 1.5, 1.5 * math.pi),
    ({"kind": "smoothstep", "duration": 2, "end_value": 3}, 2.0, 3.0, 0.0, 0.0),
    ({"kind": "harmonic", "frequency": 1, "amplitude": 2, "offset": 5}, 0.25, 7.0, 0.0, -8 * math.pi**2),
    ({"kind": "hat", "duration": 2, "value": 6}, 0.5, 3.0, 6.0, 0.0),
    ({"kind": "hat", "duration": 2, "value": 6}, 1.0, 6.0, -6.0, 0.0),
    ({"kind": "hat", "duration": 2}, 5.0, 0.0, 0.0, 0.0),
    ({"kind": "ramp", "duration": 4, "start_value": 1, "end_value": 3}, 1.0, 1.5, 0.5, 0.0),
    ({"kind": "ramp", "duration": 4, "start_value": 1, "end_value": 3}, 9.0, 3.0, 0.0, 0.0),
    ({"kind": "step", "start": 1}, 1.0, 1.0, 0.0, 0.0),
    ({"kind": "step", "start": 1}, np.nextafter(1, 0), 0.0, 0.0, 0.0),
    ({"kind": "constant_speed", "rate": 3}, 2.0, 6.0, 3.0, 0.0),
    ({"kind": "table", "times": [0, 1], "values": [1, 3]}, -1.0, 1.0, 0.0, 0.0),
    ({"kind": "table", "times": [0, 1], "values": [1, 3], "extrapolate": "linear"}, -1.0, -1.0, 2.0, 0.0),
    ({"kind": "table", "times": [0, 1], "values": [1, 3], "extrapolate": "linear"}, 3.0, 7.0, 2.0, 0.0),
    ({"kind": "table", "times": [0, 1], "values": [1, 3], "extrapolate": "error"}, 1.0, 3.0, 2.0, 0.0),
    ({"kind": "scaled", "function": "t**2", "factor": 2, "delay": 1}, 3.0, 8.0, 8.0, 4.0),
    ({"kind": "product", "functions": ["t", "t", "t"]}, 2.0, 8.0, 12.0, 12.0),
]


@pytest.mark.parametrize(("spec", "t", "f", "d1", "d2"), LAWS)
def test_laws(spec, t, f, d1, d2):
    np.testing.assert_allclose(make_function(spec).jet(t), (f, d1, d2), rtol=1e-14, atol=1e-13)


def test_spin_up_keeps_its_digits_at_small_times():
    """psi -> (rate/T) (2 pi/T)^2 t^4/24 as t -> 0."""
    f = make_function({"kind": "spin_up", "rate": 6, "duration": 15})(1e-3)
    assert f == pytest.approx(6 / 15 * (2 * math.pi / 15) ** 2 * 1e-12 / 24, rel=1e-6)


@pytest.mark.parametrize("ends", ["natural", "clamped", "periodic", "not-a-knot"])
def test_spline_is_scipys(ends):
    function = make_function({"kind": "spline", "times": TIMES, "values": VALUES, "ends": ends})
    reference = CubicSpline(TIMES, VALUES, bc_type=ends)
    t = np.linspace(0, 2.999, 50)
    for order, part in enumerate(function.jet(t)):
        np.testing.assert_allclose(part, reference(t, order), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["table", "spline"])
def test_periodic(kind):
    function = make_function({"kind": kind, "times": TIMES, "values": VALUES, "periodic": True})
    t = np.linspace(0.01, 2.99, 40)
    for turns in (-7, 1, 1000):
        np.testing.assert_allclose(function.jet(t + 3 * turns), function.jet(t), atol=1e-10)
    assert function(3.0 * 12345) == 0.0
    if kind == "table":
        np.testing.assert_allclose(function.kinks_between(2.5, 6.1), [3, 3.5, 4.25, 5, 6])
        # All the kinks of many periods give the slope to the right, in spite of rounding.
        odd = make_function({"kind": "table", "times": [0.1, 0.2, 0.4], "values": [0, 1, 0], "periodic": True})
        slopes = odd.jet(odd.kinks_between(0.0, 100.0))[1]
        np.testing.assert_allclose(slopes.reshape(-1, 2), np.tile([10.0, -5.0], (slopes.size // 2, 1)), rtol=1e-9)


def test_kinks_of_a_delayed_function_are_hit_exactly():
    spec = {"kind": "scaled", "function": {"kind": "step", "start": 0.3}, "delay": 0.1}
    for delay in np.random.default_rng(0).uniform(0.0, 5.0, 200):
        function = make_function(spec | {"delay": delay})
        assert function(function.kinks[0]) == 1.0
        assert function(function.kinks[0] - 1e-9) == 0.0


@pytest.mark.parametrize("dt", [1e-6, 2.3e-16, 1e-250])
def test_a_jump_in_a_table_is_a_kink(dt):
    end = 1.0 + dt if dt > 1e-200 else dt
    times = [-1.0, end - dt, end, 5.0]
    function = make_function({"kind": "table", "times": times, "values": [1, 1, 2, 2]})
    np.testing.assert_array_equal(function.kinks, times[1:3])


def test_straight_table_has_no_kinks_from_rounding():
    t = np.arange(50) * 0.1
    spec = {"kind": "table", "times": list(t), "values": list(0.7 * t), "extrapolate": "linear"}
    assert make_function(spec).kinks.size == 0


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=8, unique=True),
    st.sampled_from(["table", "spline"]),
    st.sampled_from(["hold", "linear"]),
    st.data(),
)
@settings(max_examples=100, deadline=None)
def test_tables_pass_through_their_rows(times, kind, extrapolate, data):
    times = sorted(times)
    values = data.draw(st.lists(st.floats(-1e3, 1e3), min_size=len(times), max_size=len(times)))
    spec = {"kind": kind, "times": times, "values": values, "extrapolate": extrapolate}
    try:
        function = make_function(spec)
    except ModelError:  # neighbours so close that slopes overflow
        event("refused")
        refused = True
    else:
        refused = False
    if refused:
        assert np.min(np.diff(times)) < 1e-100
        return
    if kind == "table":
        np.testing.assert_array_equal(function(np.array(times)), values)
        inside = function(np.linspace(times[0], times[-1], 23))
        slack = 1e-9 * (1 + max(map(abs, values)))
        assert inside.min() >= min(values) - slack
        assert inside.max() <= max(values) + slack
    elif np.min(np.diff(times)) > 1e-2:
        np.testing.assert_allclose(function(np.array(times)), values, atol=1e-6 * (1 + max(map(abs, values))))


CSV_FILES = [
    ("0,0\n1,2\n3,4\n", {}),
    ("time;force\n0;0\n1;2\n3;4\n", {}),
    ("# measured\n\nforce\ttime\n0\t0\n2\t1\n4\t3\n", {"time_column": "time", "value_column": "force"}),
    ("  0   9 0\n  1 9 2 \n 3  9   4\n", {"value_column": 3}),
    ("\ufefft,f\n0,0\n1,2\n3,4", {}),
    ('"t","f"\n"0","0"\n1,2\n3,4\n', {"time_column": "t"}),
    ("0|0\r\n1|2\r\n3|4\r\n", {"delimiter": "|"}),
]


@pytest.mark.parametrize(("text", "keys"), CSV_FILES)
def test_csv(tmp_path, text, keys):
    (tmp_path / "data.csv").write_bytes(text.encode())
    function = make_function({"kind": "csv", "file": "data.csv", **keys}, "f", folder=tmp_path)
    np.testing.assert_allclose(function(np.array([0, 0.5, 1, 2, 3, 9])), [0, 1, 2, 3, 4, 4])
    spline = make_function({"kind": "csv", "file": "data.csv", "interpolation": "spline", **keys}, folder=tmp_path)
    np.testing.assert_allclose(spline(np.array([0.0, 1, 3])), [0, 2, 4], atol=1e-15)
    assert spline(0.5) != 1.0


CSV_ERRORS = [
    ("", {}, "no rows"),
    ("# only\n", {}, "no rows"),
    ("0,0\n", {}, "at least 2 rows, not 1"),
    ("t,f\n0,0\n1,nan\n", {}, "file \"data.csv\", line 3, column 2: 'nan' is not finite"),
    ("0,0\n1,x\n", {}, "line 2, column 2: 'x' is not a number"),
    ("0;0\n1;2,5\n", {}, "decimals with a point"),
    ("0,0\n1\n", {}, "line 2: no column 2, it has 1"),
    ("0,0\n\n2,1\n1,3\n", {}, 'line 3 is 2.0 and file "data.csv" line 4 is 1.0'),
    ("0,0\n1,1\n", {"time_column": "t"}, "no header"),
    ("t,force\n0,0\n1,1\n", {"value_column": "forse"}, 'did you mean "force"'),
    ("0,0\n1,1\n", {"value_column": 0}, "counted from 1"),
    ("0,0\n1,1\n", {"delimiter": "xx"}, "delimiter"),
    ("0,0\n1,1\n", {"interpolation": "splin"}, 'did you mean "spline"'),
    ("0,0\n1,1\n", {"ends": "natural"}, "belongs to a spline"),
    ("0,0\n1,1\n", {"file": "other.csv"}, 'file "other.csv" cannot be read'),
    (b"\xff\xfe0,0", {}, "not a text file"),
]


@pytest.mark.parametrize(("text", "keys", "message"), CSV_ERRORS)
def test_csv_errors(tmp_path, text, keys, message):
    (tmp_path / "data.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ModelError, match='Function "f"') as info:
        make_function({"kind": "csv", "file": "data.csv", **keys}, "f", folder=tmp_path)
    assert message in str(info.value)


def table(**keys):
    return {"kind": "table", "times": [0, 1, 2], "values": [0, 1, 0], **keys}


def spline(**keys):
    return table(**keys) | {"kind": "spline"}


itself: dict = {"kind": "scaled"}
itself["function"] = itself

ERRORS = [
    (None, "None is not a function of time"),
    (True, "True is not a function of time"),
    ([1, 2], "not a function of time"),
    (math.sin, "write an expression"),
    (math.nan, "value = nan is not finite"),
    (10**400, "not finite"),
    ("2*s", 'expression "2*s" at position 3: unknown name "s"'),
    ("drive", "Named functions: drve"),
    ({}, '"kind" is missing'),
    ({"kind": "rmp"}, "unknown kind 'rmp' (did you mean \"ramp\"?); kinds are constant,"),
    ({"kind": "spin-up"}, 'did you mean "spin_up"'),
    ({"kind": 3}, "unknown kind 3"),
    ({"kind": ["ramp"]}, "unknown kind"),
    ({"kind": "ramp", "duraton": 1}, 'unknown key "duraton" for kind "ramp" (did you mean "duration"?); its keys are'),
    ({"kind": "ramp"}, 'kind "ramp" needs "duration"'),
    ({"kind": "ramp", "duration": 0}, "duration = 0.0 must be greater than 0"),
    ({"kind": "ramp", "duration": "1"}, "duration = '1' is not a number"),
    ({"kind": "ramp", "duration": True}, "duration = True is not a number"),
    ({"kind": "ramp", "duration": math.inf}, "duration = inf is not finite"),
    ({"kind": "ramp", "duration": 1e-30, "start": 1}, "vanishes beside start"),
    ({"kind": "ramp", "duration": 5e-324, "end_value": 1e300}, "overflows"),
    ({"kind": "smoothstep", "duration": 1, "start_value": 1}, "both 1.0"),
    ({"kind": "hat", "duration": 1, "peak": 1}, "peak = 1.0 must lie between"),
    ({"kind": "harmonic"}, "one of them is missing"),
    ({"kind": "harmonic", "omega": 1, "frequency": 1}, "not both"),
    ({"kind": "spin_up", "rate": 1, "duration": -1}, "duration = -1.0 must be"),
    ({"kind": "expression"}, 'needs "expression"'),
    ({"kind": "expression", "expression": 3}, "must be a text"),
    ({"kind": "expression", "expression": "t", "kinks": [0, math.nan]}, "kinks[1] = nan"),
    (table(times=[0, math.nan, 2]), "times[1] = nan is not finite"),
    (table(values=[0, 1, math.inf]), "values[2] = inf is not finite"),
    (table(values=[0, "1", 2]), "values[1] = '1' is not a number"),
    (table(times=[0, 1, 1]), "times[1] is 1.0 and times[2] is 1.0"),
    (table(times=[2, 1, 0]), "(and 1 more)"),
    (table(times=[0, 1]), "2 times but 3 values"),
    (table(times=[], values=[]), "at least 2 rows, not 0"),
    (table(times="012"), "times = '012' must be a list"),
    (table(extrapolate="lin"), "must be one of hold, linear, error"),
    (table(periodic=1), "periodic = 1 must be true or false"),
    (table(periodic=True, extrapolate="hold"), "exclude each other"),
    (table(periodic=True, values=[0, 1, 2]), "must end with the value it starts with"),
    (table(ends="natural"), 'unknown key "ends"'),
    (table(times=[0, 1e-320, 1]), "overflows"),
    (spline(ends="natura"), 'did you mean "natural"'),
    (spline(start_slope=1), 'need ends = "clamped"'),
    (spline(ends="clamped", start_slope=math.nan), "start_slope = nan"),
    (spline(ends="periodic", extrapolate="hold"), "exclude each other"),
    (spline(ends="natural", periodic=True), "does not go with"),
    (spline(ends="periodic", times=[0, 1], values=[1, 1]), "at least 3 rows"),
    (spline(ends="periodic", values=[0, 1, 2]), "must end with the value it starts with"),
    (spline(times=[0, 1e-320, 1]), 'Function "f"'),
    ({"kind": "sum", "functions": []}, "at least one function"),
    ({"kind": "sum", "functions": "t"}, "at least one function"),
    ({"kind": "sum", "functions": [1, {"kind": "ramp"}]}, 'Function "f": functions[1]: kind "ramp" needs "duration"'),
    ({"kind": "product", "functions": ["t", "q"]}, 'Function "f": functions[1]: expression "q"'),
    ({"kind": "scaled"}, 'needs "function"'),
    ({"kind": "scaled", "function": "t", "factor": None}, "factor = None is not a number"),
    (itself, "nested deeper"),
    ({"kind": "csv"}, 'needs "file"'),
]


@pytest.mark.parametrize(("spec", "message"), ERRORS, ids=[f"{i}-{e[1][:30]}" for i, e in enumerate(ERRORS)])
def test_errors(spec, message):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ModelError, match=r'^Function "f"') as info:
            make_function(spec, "f", functions={"drve": make_function(1)})
    assert message in str(info.value)


def test_leaving_a_table():
    function = make_function(table(extrapolate="error"), "hip")
    assert function(2.0 * (1 + 1e-12)) == pytest.approx(0.0, abs=1e-9)  # rounding is not leaving
    for call in (function, function.jet):
        with pytest.raises(ModelError, match=r'Function "hip": t = 2\.5 is outside its table, which covers 0 to 2'):
            call(np.array([1.0, 2.5]))


def test_check():
    function = make_function("sqrt(t - 1)")
    function.check(np.array([1.0, 2.0]))
    with pytest.raises(ModelError, match=r'Function "f": its value is nan at t = 0.5'):
        function.check(np.array([1.0, 0.5]), "f")
    with pytest.raises(ModelError, match="first derivative is inf at t = 1"):
        function.check(1.0, derivatives=True)


def test_named_functions():
    drive = make_function({"kind": "ramp", "duration": 2})
    assert make_function("drive", functions={"drive": drive}) is drive
    double = make_function({"kind": "sum", "functions": ["drive", "drive"]}, functions={"drive": drive})
    assert double(1.0) == 1.0


toml_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_any_table_gives_a_function_or_a_model_error(data):
    kind = data.draw(st.sampled_from(sorted(FUNCTION_KINDS)))
    spec = {"kind": kind}
    for key in FUNCTION_KINDS[kind]:
        if data.draw(st.booleans()):
            usual = st.one_of(st.floats(-5, 5), st.lists(st.floats(-5, 5), max_size=4), st.just("t"), toml_values)
            spec[key] = data.draw(usual)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            function = make_function(spec, "f")
            assert function(np.array([0.0, 1.0])).shape == (2,)
        except ModelError as error:
            message = str(error)
        else:
            return
    assert message.startswith('Function "f')
