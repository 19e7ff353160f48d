"""What a sweep changes: lists of values, paths into the tables of a file, the file that a variant gets."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fem_mbs.errors import ModelError
from fem_mbs.input_files import digest_of, files_of, moved
from fem_mbs.modelfile.writer import model_text
from fem_mbs.sweeps.parameters import changed, make_parameters, make_variants, values_of

FILE = Path("model.toml")
TEXT = """
title = "a mechanism"
dimension = 2
gravity = [0.0, -9.81]
[material.steel]
E = 2.1e11
density = 7850
[section.rod]
shape = "circle"
diameter = 0.01
[section."thin rod"]
shape = "circle"
diameter = 0.005
[function]
level = 2.0
[function.wave]
kind = "sine"
amplitude = 1.0
frequency = 2.0
[mesh.m]
line = { start = [0, 0], end = [1, 0], n = 2 }
[mesh.other]
file = "parts/other.msh"
[[beam]]
name = "arm"
on = "m"
section = "rod"
material = "steel"
[[joint]]
name = "crank"
type = "pin"
a = "m:start"
function = "10*t"
[[joint]]
name = "crank pin"
type = "pin"
a = "m:end"
function = { kind = "csv", file = "load.csv" }
[[support]]
on = "m:start"
[[support]]
on = "m:end"
components = ["x"]
[[force]]
name = "push"
on = "m:end"
vector = [1.0, 2.0]
[[step]]
type = "modes"
[[step]]
type = "transient"
duration = 1.0
h = 0.1
[[step]]
type = "transient"
duration = 2.0
h = 0.1
[[step]]
type = "static"
name = "load"
"""
DATA = tomllib.loads(TEXT)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", [1]),
        ("1.0,2", [1.0, 2]),
        (" 0.01 , 1e-3,-.5", [0.01, 1e-3, -0.5]),
        ("10:50:20", [10, 30, 50]),
        ("0:1:0.1", [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]),
        ("0:1:0.33333333", [0.0, 0.33333333, 0.66666666, 1.0]),  # STOP to round-off
        ("0:1:0.3", [0.0, 0.3, 0.6, 0.9]),
        ("3:1:-1", [3, 2, 1]),
        ("5:5:1", [5]),
        ("1,10:30:10,1e3", [1, 10, 20, 30, 1000.0]),
        ("true,false", [True, False]),
        ("rod.msh,fine rod.msh", ["rod.msh", "fine rod.msh"]),
        ("m:start,m:end", ["m:start", "m:end"]),
        ("124.8*t,sin(2*t)", ["124.8*t", "sin(2*t)"]),
        ('"a, b","10"', ["a, b", "10"]),
        ("[0, -9.81],[0, 0]", [[0, -9.81], [0, 0]]),
        ('{kind = "ramp", duration = 1}', [{"kind": "ramp", "duration": 1}]),
    ],
)
def test_values(text, expected):
    found = values_of(text)
    assert found == expected
    assert [type(v) for v in found] == [type(v) for v in expected]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a value is missing"),
        ("1,,2", "a value is missing"),
        ("1,", "a value is missing"),
        ("1:2", "1:2 has no step"),
        ("1:0:1", "has no values; its step must lead from 1 to 0"),
        ("0:1:0", "has no values"),
        ("0:1:1e-9", "more than 100000 values"),
        ("0:1:1e-999999999", "more than 100000 values"),
        ("[1, 2", "is not a value of TOML"),
        ('"open', "is not a value of TOML"),
    ],
)
def test_wrong_values(text, message):
    with pytest.raises(ModelError, match=message):
        values_of(text, "a.b.c")


@given(
    start=st.integers(-(10**6), 10**6),
    count=st.integers(0, 60),
    step=st.integers(-1000, 1000),
    digits=st.integers(0, 9),
)
def test_ranges_are_the_numbers_that_one_would_write(start, count, step, digits):
    if step == 0:
        return
    words = [f"{n}e-{digits}" for n in (start, start + count * step, step)]
    found = values_of(":".join(words))
    assert found == [float(f"{start + k * step}e-{digits}") for k in range(count + 1)]


@pytest.mark.parametrize(
    ("path", "value", "keys"),
    [
        ("section.rod.diameter", 0.02, ("section", "rod", "diameter")),
        ("section.thin rod.diameter", 0.02, ("section", "thin rod", "diameter")),
        ('section."thin rod".diameter', 0.02, ("section", "thin rod", "diameter")),
        ("joint.crank.function", "20*t", ("joint", 0, "function")),
        ("joint.crank pin.type", "weld", ("joint", 1, "type")),
        ("joint.2.type", "weld", ("joint", 1, "type")),
        ("joint.crank.displacement", "t", ("joint", 0, "displacement")),  # a key that the file leaves to its default
        ("support.2.components", [["y"]], ("support", 1, "components")),
        ("gravity", [[0.0, 0.0]], ("gravity",)),
        ("gravity.2", -1.6, ("gravity", 1)),
        ("force.push.vector.1", 5.0, ("force", 0, "vector", 0)),
        ("mesh.m.line.n", 4, ("mesh", "m", "line", "n")),
        ("mesh.m.line.end.1", 4.0, ("mesh", "m", "line", "end", 0)),
        ("function.level", 4.0, ("function", "level")),
        ("function.wave.amplitude", 4.0, ("function", "wave", "amplitude")),
        ("joint.crank pin.function.file", "b.csv", ("joint", 1, "function", "file")),
        ("step.modes.count", 4, ("step", 0, "count")),
        ("step.2.h", 0.2, ("step", 1, "h")),
        ("step.load.until", 2.0, ("step", 3, "until")),
        ("title", "b", ("title",)),
        ("fields", "strain", ("fields",)),
    ],
)
def test_paths(path, value, keys):
    values = value if isinstance(value, list) else [value]
    (parameter,) = make_parameters(FILE, DATA, {path: values})
    assert parameter.keys == keys
    (variant,) = make_variants([parameter])
    there = changed(DATA, [parameter], variant.values)
    node = there
    for key in keys:
        node = node[key]
    assert node == values[0]
    # nothing else has changed, and nothing in the tables of the file itself
    assert tomllib.loads(TEXT) == DATA
    rest, before = there, DATA
    for key in keys[:-1]:
        rest, before = rest[key], before[key]
    if isinstance(rest, dict):
        assert {k: v for k, v in rest.items() if k != keys[-1]} == {k: v for k, v in before.items() if k != keys[-1]}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("joint.crunk.speed", 1.0, r'there is no joint "crunk"; did you mean "crank"\? \(there are crank, crank pin\)'),
        ("joint.3.type", "pin", r'there is no joint "3" \(there are crank, crank pin\)'),
        ("joints.crank.speed", 1.0, r'has no .joints.; did you mean "joint"\? \(there are title, dimension'),
        ("section.bar.diameter", 1.0, r'section has no "bar"; did you mean .* \(there are rod, thin rod\)|\(there are'),
        ("section.rod.diametr", 1.0, r'diametr = 1.0: .*unknown key "diametr"; did you mean "diameter"\?'),
        ("joint.crank.fast", 1.0, r'joint.crank.fast = 1.0: .* unknown key "fast"; there are name, type'),
        ("function.wave.size", 1.0, r'function.wave has no "size" \(there are kind, amplitude, frequency\)'),
        ("function.waves", 1.0, 'function has no "waves"; did you mean "wave"'),
        ("mesh.m.line.k", 1, r'line.k = 1: .*unknown key "line.k"'),
        ("mesh.m.lines.n", 1, 'mesh.m has no "lines"; did you mean "line"'),
        ("gravity.3", 1.0, r"gravity = \[0.0, -9.81\] has no \"3\" \(there are 1, 2\)"),
        ("gravity.0", 1.0, "has no .0."),
        ("title.x", 1.0, 'title = "a mechanism" is a single value, without parts'),
        ("step.transient.h", 0.1, r'2 tables are called step "transient"; write step.2 or step.3'),
        ("joint.crank", 1.0, "names a whole table; write joint.crank.KEY with one of name, type, a, function"),
        ("joint", 1.0, "names a whole table; write joint.KEY with one of crank, crank pin"),
        ("section.rod", 1.0, "names a whole table"),
        ("speed", 1.0, "has no .speed."),
        ("joint..speed", 1.0, "a part of the path is empty"),
        ("section.rod.diameter", "thick", r'diameter = "thick": model.toml, \[section.rod\]: .* must be a number'),
        ("section.rod.diameter", True, "diameter = true: .* must be a number"),
        ("section.rod.diameter", float("nan"), "must be a number, finite"),
        ("section.rod.diameter", object(), "must be a number"),
        ("mesh.m.line.n", 2.5, "n = 2.5: .* must be a whole number"),
        ("step.2.h", "short", r'h = "short": .*\[\[step\]\] number 2: h = "short" must be a number: no parameter'),
        ("dimension", 4, "dimension = 4"),
    ],
)
def test_wrong_paths(path, value, message):
    with pytest.raises(ModelError, match=message) as error:
        make_parameters(FILE, DATA, {path: [value]})
    assert str(error.value).startswith(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ([], "nothing is swept; give PATH=VALUES"),
        (["gravity"], '"gravity" does not say what to set; write PATH=VALUES'),
        (["=1"], "does not say what to set"),
        (["section.rod.diameter="], "a value is missing"),
        ({"section.rod.diameter": []}, "it has no values"),
        (["section.rod.diameter=1,2,1"], "the value 1 is given twice"),
        (["section.rod.diameter=1", "section.rod.diameter=2"], "is given twice; give one list"),
        (["gravity=[0,0]", "gravity.1=2"], "gravity.1 and gravity change the same thing"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ModelError, match=message):
        make_parameters(FILE, DATA, settings)


def test_all_with_all_and_pairs():
    parameters = make_parameters(FILE, DATA, ["section.rod.diameter=0.1,0.2", "mesh.m.line.n=2:6:2"])
    assert [v.values for v in make_variants(parameters)] == [
        (0.1, 2), (0.1, 4), (0.1, 6), (0.2, 2), (0.2, 4), (0.2, 6),
    ]  # fmt: skip
    with pytest.raises(ModelError, match=r"equally many of each: section.rod.diameter has 2, mesh.m.line.n has 3"):
        make_variants(parameters, zipped=True)
    parameters = make_parameters(FILE, DATA, ["section.rod.diameter=0.1,0.2,0.3", "mesh.m.line.n=2:6:2"])
    assert [v.values for v in make_variants(parameters, zipped=True)] == [(0.1, 2), (0.2, 4), (0.3, 6)]
    many = make_parameters(FILE, DATA, ["section.rod.diameter=0.001:0.5:0.001", "section.thin rod.diameter=1:500:1"])
    with pytest.raises(ModelError, match="250000 variants are more than the 100000"):
        make_variants(many)


def test_values_from_python():
    """Arrays, tuples and single values; numbers of numpy become plain ones."""
    given_ = {"section.rod.diameter": np.array([0.1, 0.2]), "gravity": [(0, np.float64(-1.0))], "mesh.m.line.n": 3}
    one, two, three = make_parameters(FILE, DATA, given_)
    assert one.values == (0.1, 0.2)
    assert type(one.values[0]) is float
    assert two.values == ([0, -1.0],)
    assert three.values == (3,)
    (table,) = make_parameters(
        FILE, DATA, {"joint.crank.function": {"kind": "constant_speed", "rate": np.float64(2.0)}}
    )
    assert table.values == ({"kind": "constant_speed", "rate": 2.0},)


def test_names_of_folders():
    """Readable where that is safe, and different for different values in any case."""
    parameters = make_parameters(FILE, DATA, ["section.rod.diameter=0.1,2", "section.thin rod.diameter=1e-3"])
    assert [p.label for p in parameters] == ["rod.diameter", "thin rod.diameter"]
    names = [v.name for v in make_variants(parameters)]
    assert names[0].startswith("rod.diameter=0.1,thin_rod.diameter=0.001~")
    parameters = make_parameters(FILE, DATA, ["force.push.vector.2=1,2"])
    assert [v.name for v in make_variants(parameters)] == ["vector.2=1", "vector.2=2"]
    odd = ["../../x", "..", "a/b", "a_b", "A_B", "a b", "x" * 300, "x" * 301, "CON", "é"]
    parameters = make_parameters(FILE, DATA, {"title": odd})
    names = [v.name for v in make_variants(parameters)]
    assert len({name.lower() for name in names}) == len(odd)
    assert all(len(name) < 120 and "/" not in name and not name.startswith(".") for name in names)


def test_digests(tmp_path):
    """They change with values, meshes and tables of functions, not with the order of keys."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "other.msh").write_text("one", encoding="utf-8")
    assert sorted(files_of(DATA)) == ["load.csv", "parts/other.msh"]
    first = digest_of(DATA, tmp_path, {})
    assert digest_of(dict(reversed(DATA.items())), tmp_path, {}) == first
    other = tomllib.loads(TEXT)
    other["section"]["rod"]["diameter"] = 0.011
    assert digest_of(other, tmp_path, {}) != first
    (tmp_path / "parts" / "other.msh").write_text("two", encoding="utf-8")
    second = digest_of(DATA, tmp_path, {})
    assert second != first
    (tmp_path / "load.csv").write_text("0,0", encoding="utf-8")
    assert digest_of(DATA, tmp_path, {}) not in (first, second)


def test_digests_of_what_files_include(tmp_path):
    """Parts of model files, of decks that include others, and of folders."""
    (tmp_path / "sub" / "folder").mkdir(parents=True)
    files = {
        "sub/part.toml": '[mesh.m]\nfile = "arm.msh"\n',
        "sub/arm.msh": "a",
        "deck.inp": "*HEADING\n*Include, INPUT=sub/nodes.inp\n*INCLUDE,input= deck.inp\n",
        "sub/nodes.inp": "*NODE",
        "sub/folder/K.mtx": "1",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    data = {"part": {"a": {"file": "sub/part.toml"}, "b": {"file": "deck.inp"}, "c": {"file": "sub/folder"}}}
    seen = {digest_of(data, tmp_path, {})}
    for name, text in files.items():
        (tmp_path / name).write_text(text + "\n", encoding="utf-8")
        seen.add(digest_of(data, tmp_path, {}))
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "sub" / "folder" / "M.mtx").write_text("1", encoding="utf-8")
    seen.add(digest_of(data, tmp_path, {}))
    assert len(seen) == len(files) + 2
    (tmp_path / "sub" / "part.toml").write_text("not TOML", encoding="utf-8")
    assert digest_of(data, tmp_path, {}) not in seen


def test_files_are_found_from_another_folder():
    there = moved(DATA, "../..")
    assert there["mesh"]["other"]["file"] == "../../parts/other.msh"
    assert there["joint"][1]["function"]["file"] == "../../load.csv"
    assert tomllib.loads(TEXT) == DATA
    assert moved({"mesh": {"m": {"file": "/meshes/m.msh"}}}, "..") == {"mesh": {"m": {"file": "/meshes/m.msh"}}}
    bent = {"imperfection": [{"results": "bent/out", "mode": 2}], "parameters": {"file": "2*results", "results": "3"}}
    assert moved(bent, "..") == {**bent, "imperfection": [{"results": "../bent/out", "mode": 2}]}
    assert [*files_of(bent)] == ["bent/out"]


def test_the_sweep_of_the_readme(checkout):
    """Its paths are in the example, and its values may stand there."""
    text = (checkout / "README.md").read_text(encoding="utf-8")
    command = text[text.index("fem-mbs sweep model.toml --set motion") :].partition("```")[0].replace("\\\n", "")
    words = command.split()
    settings = [after for word, after in zip(words[:-1], words[1:]) if word == "--set"]
    path = checkout / "examples" / "slider_crank" / "model.toml"
    parameters = make_parameters(path, tomllib.loads(path.read_text(encoding="utf-8")), settings)
    assert [len(p.values) for p in parameters] == [19, 3]
    assert command.strip() in (path.parent / "README.md").read_text(encoding="utf-8").replace("\\\n", "")


# --- the writer ------------------------------------------------------------------------------------------------------
def test_examples_survive_writing(checkout):
    paths = sorted((checkout / "examples").glob("*/*.toml"))
    assert len(paths) > 5
    for path in paths:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        assert tomllib.loads(model_text(data)) == data, path
    assert tomllib.loads(model_text(DATA)) == DATA


KEYS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8)
SCALARS = st.one_of(
    st.booleans(), st.integers(-(10**18), 10**18), st.floats(allow_nan=False), KEYS, st.dates(), st.times(),
    st.datetimes(),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)


@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_any_tables_survive_writing(data):
    assert tomllib.loads(model_text(data)) == data
