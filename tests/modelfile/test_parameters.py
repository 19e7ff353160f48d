"""Parameters of model files: expressions in place of numbers, values from the command line, and mistakes."""

import math

import pytest
from test_model_text import arrays

from fem_mbs import Model, ModelError
from fem_mbs.declarations.declaration import Declaration
from fem_mbs.declarations.kinds import Kind
from fem_mbs.declarations.steps import step_kinds
from fem_mbs.functions.parameters import Parameters
from fem_mbs.modelfile.read import load_model
from fem_mbs.modelfile.schema import TABLES
from fem_mbs.modelfile.writer import model_data, model_text, write_model

#: The same model twice: with expressions, and with the numbers that a pocket calculator gives.
FILE = """
dimension = 2
gravity = [0, {g}]
{parameters}
[material.m]
E = {E}
density = 7850
[section.s]
shape = "rectangle"
width = {h}
height = {h2}
[function.f]
kind = "sum"
functions = [{{kind = "harmonic", amplitude = {L}, omega = {omega}}}, {drive}]
[mesh.beam.line]
start = [0, 0]
end = [{L}, 0]
n = {n}
[[body]]
name = "block"
position = [3.0, {h}]
mass = {mass}
inertia = 0.5
[[beam]]
name = "b"
on = "beam"
material = "m"
section = "s"
[[support]]
on = "beam:start"
[[spring]]
name = "spring"
a = "beam:end"
b = "block"
stiffness = 50.0
table = [[0, 0], [{h}, {mass}], [1, 1000]]
[[line_load]]
on = "b"
vector = [0, {load}]
[[force]]
on = "beam:end"
vector = [0, 1.0]
function = "f"
[[initial]]
on = "block"
velocity = [{speed}, 0]
[[step]]
type = "modes"
count = {count}
[[step]]
type = "transient"
duration = {L}
h = 0.001
"""
TEXTS = {
    "parameters": "[parameters]\nh = 'L/20'\nk = 3\ng = 9.5\n[parameters.L]\nvalue = 2.0\nunit = 'm'\ntext = 'length'",
    "g": "'-g'", "E": "'210e9'", "h": "'h'", "h2": "'h/2'", "L": "'L'", "omega": "'2*pi*k'",
    "drive": "'L*sin(k*t) + step(t - h)'", "n": "'2/0.1'", "mass": "'max(k, L)**2 + sqrt(4)'", "load": "'-k*x'",
    "speed": "'L*y + k'", "count": "'2*k'",
}  # fmt: skip
NUMBERS = {
    "parameters": "", "g": "-9.5", "E": "210e9", "h": "0.1", "h2": "0.05", "L": "2.0", "omega": repr(6 * math.pi),
    "drive": "'2.0*sin(3*t) + step(t - 0.1)'", "n": "20", "mass": "11.0", "load": "'-3*x'", "speed": "'2.0*y + 3'",
    "count": "6",
}  # fmt: skip


def file(tmp_path, name="model.toml", **changes):
    path = tmp_path / name
    path.write_text(FILE.format(**{**TEXTS, **changes}), encoding="utf-8")
    return path


def same(one, other):
    assert arrays(one.compile()) == arrays(other.compile())
    assert one.gravity.tolist() == other.gravity.tolist()
    assert [(s.kind, s.options) for s in one.steps] == [(s.kind, s.options) for s in other.steps]
    assert [v.velocity.tolist() for v in one.initial_velocities] == [
        v.velocity.tolist() for v in other.initial_velocities
    ]


def test_expressions_give_the_model_of_their_numbers(tmp_path):
    model = load_model(file(tmp_path))
    same(model, load_model(file(tmp_path, "numbers.toml", **NUMBERS)))
    assert model.parameters == {"h": 0.1, "k": 3, "g": 9.5, "L": 2.0}
    assert not model.warnings


def test_a_written_file_keeps_its_expressions(tmp_path):
    model = load_model(file(tmp_path))
    write_model(model, tmp_path / "again.toml")
    again = load_model(tmp_path / "again.toml")
    same(model, again)
    assert again.specifications == model.specifications
    assert model_text(model_data(again)) == model_text(model_data(model))
    other = load_model(tmp_path / "again.toml", {"L": 4.0})
    assert other.positions[20].tolist() == [4.0, 0.0]
    same(other, load_model(file(tmp_path), ["L=4.0"]))


@pytest.mark.parametrize(
    "values",
    [["k=4"], {"k": 4}, ["parameters.k=4"], ["k=2*L"], {"parameters.k": "2*L"}, ["h=L/20", "k=4"]],
    ids=str,
)
def test_values_from_outside(values, tmp_path):
    model = load_model(file(tmp_path), values)
    assert model.parameters["k"] == 4
    assert model.steps[0].options["count"] == 8
    assert load_model(file(tmp_path), ["body.block.mass=5"]).building.blocks[0].par[0, 0] == 5.0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["q=1"], "has no 'q' .there are .*h, k, idle, g, L"),
        (["k=1", "parameters.k=2"], "parameters.k is set twice"),
        (["k"], "write PATH=VALUE"),
        (["k=L"], r'Parameter "k"|count'),
        (["L=h"], r"depends on itself \((h -> L -> h|L -> h -> L)\); give one of them a number"),
        (["idle=3"], "no expression uses the parameter idle"),
        (["L=true"], r'parameters.h.: Parameter "L": true must be a finite number'),
        (["L=1/0"], '"1/0" is inf; it must be finite'),
    ],
    ids=lambda v: str(v)[:30],
)
def test_values_that_cannot_be_set(values, message, tmp_path):
    parameters = TEXTS["parameters"].replace("k = 3", "k = 3\nidle = 'k'")
    path = file(tmp_path, parameters=parameters)
    if values == ["k=L"]:  # 4.0 is as good as 4
        assert load_model(path, values).steps[0].options["count"] == 4
        return
    assert load_model(path).warnings == ["parameters that nothing uses: idle"]
    with pytest.raises(ModelError, match=message):
        load_model(path, values)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mass": "'2*b'"}, r'body.* "block": mass = "2\*b" must be a number: no parameter is called "b"'),
        ({"mass": "'2*kk'"}, 'did you mean "k"'),
        ({"mass": "'k + t'"}, 'no parameter is called "t"'),
        (
            {"mass": "'k +'"},
            r"must be a number: this is no valid expression of parameters at position \d: invalid syntax",
        ),
        ({"mass": "'k(2)'"}, '"k" is not a function; write . to multiply'),
        ({"mass": "'k/(L - 2)'"}, r'"k/\(L - 2\)" must be a number: is inf with k = 3, L = 2; it must be finite'),
        ({"mass": "'__import__(\"os\")'"}, 'no parameter is called "__import__"'),
        ({"mass": "'k.real'"}, "not arithmetic"),
        ({"n": "'k/2'"}, "n = 1.5 must be a whole number"),
        ({"L": "['L']"}, "end"),
        ({"parameters": "[parameters]\nL = 'k'\nk = 'h'\nh = 'L'\ng = 1"}, r"depends on itself"),
        ({"parameters": "[parameters]\nsin = 1"}, r"parameters.sin.*that of a function of expressions"),
        ({"parameters": "[parameters]\nt = 1"}, "that of the time or a coordinate"),
        ({"parameters": "[parameters]\npi = 1"}, "that of a constant"),
        ({"parameters": "[parameters]\nf = 1"}, "that of a function of time of this model"),
        ({"parameters": "[parameters]\n'a b' = 1"}, "cannot stand in expressions"),
        ({"parameters": "[parameters]\na = [1]"}, "must be a number, an expression or a table"),
        ({"parameters": "[parameters]\na = {unit = 'm'}"}, '"value" is missing'),
        ({"parameters": "[parameters]\na = {value = 1, units = 'm'}"}, 'did you mean "unit"'),
        ({"parameters": "[parameters]\na = '2*b'"}, r'parameters.a.*"2\*b" must be a number'),
        ({"parameters": "parameters = 3"}, "must be a table"),
    ],
    ids=lambda v: str(v)[:40],
)
def test_mistakes_name_place_expression_and_remedy(changes, message, tmp_path):
    with pytest.raises(ModelError, match=message):
        load_model(file(tmp_path, **changes))


def test_calls_in_python(tmp_path):
    model = Model(2)
    length = model.parameter("L", 2.0, unit="m", text="of the arm")
    width = model.parameter("w", "L/10 + 0.05")
    assert (length, width) == (2.0, 0.25)
    model.node("tip", [length, width])
    assert model.parameters == {"L": 2.0, "w": 0.25}
    write_model(model, tmp_path / "m.toml")
    assert 'w = "L/10 + 0.05"' in (tmp_path / "m.toml").read_text(encoding="utf-8")
    assert load_model(tmp_path / "m.toml").specifications == model.specifications
    for name, value, message in (
        ("L", 1.0, "already"),
        ("x", 1.0, "coordinate"),
        ("q", "2*z", 'no parameter is called "z"'),
    ):
        with pytest.raises(ModelError, match=message):
            model.parameter(name, value)


def test_expressions_of_coordinates_keep_them():
    p = Parameters({"a": -2.0, "b": "a**2"}, ["ramp"])
    assert p.field("a*x + max(b, y)*1e3") == "(-2.0)*x + max((4.0), y)*1e3"
    assert p.field("sin(x)") == "sin(x)"
    assert p.field("a*b") == -8.0
    assert p.function("ramp") == "ramp"
    given = {"kind": "scaled", "factor": "a", "function": {"kind": "expression", "expression": "b"}, "delay": 1}
    assert p.function(given) == {
        "kind": "scaled", "factor": -2.0, "function": {"kind": "expression", "expression": "4.0"}, "delay": 1
    }  # fmt: skip
    assert p.used == {"a", "b"}


def kinds_of(declaration):
    for name, said in declaration.keys().items():
        if isinstance(said.kind, type) and issubclass(said.kind, Declaration):
            yield from kinds_of(said.kind)
        elif said.file is not None:
            yield f"{declaration.__qualname__}.{name}", said.kind


def test_every_kind_of_numbers_takes_expressions():
    """A kind that takes a number in some form, but whose expressions nobody works out, would refuse them."""
    forms = (2, 2.0, [2], [2.0, 3.0], [1, 2, 3], [[1.0, 2.0]], {"n": 3}, {"a": 1.0})
    declarations = [d for table in TABLES for d in table.declarations] + [k.Options for k in step_kinds().values()]
    for name, kind in (pair for declaration in declarations for pair in kinds_of(declaration)):
        assert isinstance(kind, Kind)

        def takes(value, kind=kind):
            try:
                kind.check(value)
            except (ValueError, TypeError, AttributeError, KeyError):
                return False
            return True

        if kind.texts is None and kind.label not in ("2 or 3", "true or false", "place or list of places"):
            assert not any(takes(form) for form in forms), (name, kind.label)
