"""Messages name the units of the model's base, in which their numbers are."""

from __future__ import annotations

import pytest
from rich.console import Console

from fem_mbs import Model, ModelError, solve
from fem_mbs.cli.check import explain
from fem_mbs.cli.modify import modify_file
from fem_mbs.errors import FemMbsError
from fem_mbs.units import messages_in, unit_of

BASES = {"m kg s": ("m", "s", "Hz"), "mm t s": ("mm", "s", "Hz"), "mm g ms": ("mm", "ms", "kHz")}


def model(base: str) -> Model:
    made = Model(dimension=3)
    made.units(base=base)
    made.node("b", (1.0, 0.0, 0.0))
    return made


@pytest.mark.parametrize("base", BASES)
def test_errors_of_the_builder(base):
    made = model(base)
    for name, x in (("p", 0.0), ("q", 2.0)):
        made.body(name, (x, 0.0, 0.0), mass=1.0, inertia=[1.0, 1.0, 1.0])
    with pytest.raises(ModelError, match=rf"the slide per turn \[{BASES[base][0]}\]"):
        made.joint("s", "screw", "p", "q", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))


@pytest.mark.parametrize("base", BASES)
def test_errors_of_a_run(base):
    made = model(base)
    made.point_mass("m", "b", 1.0)
    for c in "xyz":
        made.nodal_spring(c, "b", c, 1.0)
    made.transient_step(1.0, 0.3)
    with pytest.raises(ModelError, match=rf"duration = 1 {BASES[base][1]} is not a whole number of steps h = 0.3 "):
        solve(made)
    assert unit_of("s") == "s"  # a run leaves nothing behind


MODEL = """
[units]
base = "{base}"
[[node]]
name = "b"
position = [1.0, 0.0, 0.0]
[[point_mass]]
name = "m"
at = "b"
mass = 1.0
[[nodal_spring]]
name = "x"
on = "b"
component = "x"
stiffness = 1.0
[[nodal_spring]]
name = "y"
on = "b"
component = "y"
stiffness = 1.0
[[nodal_spring]]
name = "z"
on = "b"
component = "z"
stiffness = 1.0
[[step]]
type = "transient"
duration = 1.0
h = 0.5
[[step]]
type = "modes"
count = 1
near = 2.0
"""


@pytest.mark.parametrize("base", BASES)
def test_sentences_of_check(base, tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(MODEL.format(base=base))
    _, second, hertz = BASES[base]
    text = "\n".join(explain(path))
    assert f"2 steps of 0.5 {second}" in text and f"to t = 1 {second}" in text and f"nearest to 2 {hertz}" in text


def test_units_are_those_of_the_innermost_model():
    made = model("mm t s")
    with messages_in(made.shown_units):
        assert unit_of("Pa") == "MPa" and unit_of("rad/s") == "rad/s" and unit_of("") == ""
        with messages_in(None):
            assert unit_of("Pa") == "Pa"
        assert unit_of("m") == "mm"
    assert unit_of("m") == "m"


@pytest.mark.parametrize("base", BASES)
def test_errors_of_modify(base, checkout, tmp_path):
    text = (checkout / "examples" / "portal_frame" / "model.toml").read_text(encoding="utf-8")
    path = tmp_path / "frame.toml"
    path.write_text(f'{text}\n[units]\nbase = "{base}"\n', encoding="utf-8")
    hertz = BASES[base][2]
    for target, message in ((-1.0, rf"a positive number \[{hertz}\]"), (1e9, f"brings mode 2 to 1e\\+09 {hertz};")):
        with pytest.raises(FemMbsError, match=message):
            modify_file(path, Console(quiet=True), [2], [target], [], None, 4, False, None)
