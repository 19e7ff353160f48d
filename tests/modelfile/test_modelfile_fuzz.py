"""Model files with random mistakes: a model that can be started, or one clear error, whatever stands in them."""

from __future__ import annotations

import json
import math
import tomllib
from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_modelfile import MINIMAL, PLANE, SPACE, write

from fem_mbs.analysis.run import inspect
from fem_mbs.errors import MeshError, ModelError
from fem_mbs.modelfile.read import load_model

# A driven mechanism with every kind of function, so that mistakes in those are tried as well.
FUNCTIONS = """
dimension = 2
[function.a]
kind = "table"
times = [0, 0.1, 0.2]
values = [0, 1, 0]
extrapolate = "hold"
[function.b]
kind = "spline"
times = [0, 0.1, 0.2, 0.4]
values = [0, 1, 0, 2]
ends = "clamped"
[function.c]
kind = "sum"
functions = ["a", {kind = "harmonic", amplitude = 0.1, frequency = 3.0}, 0.0, "t^2 if t > 1 else 0*t"]
[function.d]
kind = "csv"
file = "load.csv"
interpolation = "linear"
[function.e]
kind = "smoothstep"
duration = 0.2
[[body]]
name = "disc"
position = [0, 0]
mass = 1.0
inertia = 0.5
[[body]]
name = "arm"
position = [1, 0]
mass = 1.0
inertia = 0.5
[[joint]]
name = "pin"
type = "pin"
a = "disc"
b = "arm"
point = [0.5, 0]
[[joint]]
name = "held"
type = "slider"
a = "arm"
axis = [1, 0]
[[motion]]
on = "disc"
component = "rotation"
function = "e"
[[force]]
on = "arm"
vector = [1, 0]
function = "c"
[[force]]
on = "disc"
point = [0.1, 0]
vector = [1, 0]
function = "b"
[[moment]]
on = "arm"
value = 1.0
function = {kind = "product", functions = ["a", "d"]}
[[sensor]]
name = "gap"
kind = "distance"
a = "arm"
b = "disc"
point_a = [1.5, 0]
[[step]]
type = "transient"
duration = 0.1
h = 0.01
"""
TEXTS = [MINIMAL, PLANE, SPACE, FUNCTIONS.replace("t^2", "t**2")]

NASTY = [
    True, False, 0, -1, 1, 2, 3, 10**18, 10**400, 0.0, -0.0, 1e-320, 1e-200, 1e-9, 1e99, 1e200, -1e308, math.nan,
    math.inf, -math.inf, "", " ", "x", "all", "ground", "m", "m:start", "rod", "crank", "crank:a", ":", "a:b:c", "\0",
    "\u202e", "t", "1/t",
    "e**(9**9)", "x" * 5000, "NaN", "../../etc/passwd", [], [0], [0, 0], [1e99, -1e99], [0, 0, 0], [math.nan, 0],
    [True, True],
    ["x", "y"], [[0, 0], [1, 1]], [[]], {}, {"kind": "step"}, {"start": [0, 0], "end": [1, 1], "n": 3}, {"name": "x"},
    [{}],
    [{"name": "x"}],
]  # fmt: skip


def dumps(value) -> str:
    """A value as TOML, tables inline."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{dumps(k)} = {dumps(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(dumps, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return repr(value)


def document(data: dict) -> str:
    return "\n".join(f"{dumps(k)} = {dumps(v)}" for k, v in data.items())


def places(value, path=()):
    """Paths of everything in a document."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("fuzz")
    write(path, MINIMAL)
    return path


def judge(folder: Path, text: str | bytes) -> None:
    """Read, compile and start the model; only errors that say where and what are let through."""
    path = folder / "fuzz.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    try:
        model = load_model(path)
    except (ModelError, MeshError) as error:
        message = str(error)
        assert message.startswith(str(path))
        assert "\n" not in message
        assert len(message) < 6000
        return
    try:
        inspect(model)
    except (ModelError, MeshError) as error:
        assert str(error).strip()


@settings(max_examples=400)
@given(data=st.data())
def test_values(folder, data):
    """One to three values are replaced, removed, renamed or doubled."""
    content = tomllib.loads(data.draw(st.sampled_from(TEXTS)))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([p for p in places(content) if p]))
        parent = content
        for key in path[:-1]:
            parent = parent[key]
        action = data.draw(st.sampled_from(["replace", "replace", "replace", "remove", "rename", "double"]))
        if action == "replace":
            parent[path[-1]] = deepcopy(data.draw(st.sampled_from(NASTY)))
        elif action == "remove":
            del parent[path[-1]]
        elif action == "rename" and isinstance(parent, dict):
            parent[data.draw(st.text(min_size=0, max_size=8))] = parent.pop(path[-1])
        elif action == "double" and isinstance(parent, list):
            parent.append(deepcopy(parent[path[-1]]))
    judge(folder, document(content))


@settings(max_examples=200)
@given(data=st.data())
def test_texts(folder, data):
    """Lines are lost, doubled, swapped; characters change."""
    lines = data.draw(st.sampled_from(TEXTS)).splitlines()
    for _ in range(data.draw(st.integers(1, 4))):
        i = data.draw(st.integers(0, len(lines) - 1))
        action = data.draw(st.sampled_from(["lose", "double", "swap", "insert", "cut", "change"]))
        if action == "lose" and len(lines) > 1:
            del lines[i]
        elif action == "double":
            lines.insert(i, lines[i])
        elif action == "swap":
            j = data.draw(st.integers(0, len(lines) - 1))
            lines[i], lines[j] = lines[j], lines[i]
        elif action == "insert":
            lines.insert(i, data.draw(st.text(max_size=20)))
        elif lines[i]:
            k = data.draw(st.integers(0, len(lines[i]) - 1))
            new = data.draw(st.characters()) if action == "change" else ""
            lines[i] = lines[i][:k] + new + lines[i][k + 1 :]
    judge(folder, "\n".join(lines))


@settings(max_examples=100)
@given(text=st.binary(max_size=200))
@example(text=b"\xef\xbb\xbf")
@example(text=b"\0")
@example(text=b"a = " + b"{a=" * 2000)
def test_bytes(folder, text):
    judge(folder, text)
