"""The model file: equal to the builder bit for bit, every error in one line that names file, table and key."""

from __future__ import annotations

import re
from dataclasses import MISSING
from pathlib import Path

import numpy as np
import pytest

from fem_mbs.analysis.run import solve
from fem_mbs.analysis.solution import Solution
from fem_mbs.declarations.kinds import shown
from fem_mbs.declarations.steps import step_kinds
from fem_mbs.errors import InputError, MeshError, ModelError
from fem_mbs.meshes.generate import line as line_mesh
from fem_mbs.meshes.generate import write_msh
from fem_mbs.model.checks import QUANTITIES, measure
from fem_mbs.model.model import Model
from fem_mbs.modelfile.read import load_model, locate_error
from fem_mbs.modelfile.reference import reference
from fem_mbs.modelfile.schema import TABLES

# A bit of everything in the plane.
PLANE = """
title = "a bit of everything"
dimension = 2
gravity = [0.0, -9.81]

[material.steel]
E = 2.1e11
nu = 0.3
density = 7850

[section.round]
shape = "circle"
diameter = 0.01

[section.rope]
shape = "stiffness"
EA = 1e5
rhoA = 0.5

[function.turn]                     # made of one that comes later
kind = "scaled"
function = "wave"
factor = 0.5

[function]
wave = "0.2*sin(5*t)"

[mesh.rod]
line = {start = [0.2, 0.0], end = [1.2, 0.0], n = 4}

[mesh.cable]
file = "cable.msh"
scale = 0.5
rotate = -90
translate = [1.2, 0]

[[node]]
name = "hook"
position = [0.2, 0.5]

[[body]]
name = "crank"
position = [0.1, 0.0]
mass = 0.5
inertia = 1e-3

[[beam]]
name = "rod"
on = "rod"
material = "steel"
section = "round"
mass = "consistent"
damping = 1e-5

[[truss]]
on = "cable:all"
section = "rope"
tension_only = true

[[truss]]
name = "stay"
on = ["hook", "rod:start"]
material = "steel"
section = "round"
strain = "green"

[[point_mass]]
at = "cable:end"
mass = 2

[[spring]]
a = "ground"
point_a = [0.7, 1.0]
b = "rod:end"
stiffness = 100.0
damping = 0.5

[[torsion_spring]]
a = "ground"
b = "crank"
stiffness = 3.0

[[support]]
on = "hook"

[[joint]]
name = "axle"
type = "pin"
a = "crank"
point = [0, 0]

[[joint]]
type = "angle"
a = "ground"
b = "crank"
function = "turn"

[[joint]]
type = "pin"
a = "crank"
b = "rod:start"

[[joint]]
type = "pin"
a = "rod:end"
b = "cable:start"

[[force]]
on = "rod:end"
vector = [0.0, 5.0]
function = {kind = "ramp", duration = 0.05}

[[moment]]
on = "rod:end"
value = 0.1

[initial]
on = "cable"
velocity = ["0.1*y", 0.0]

[[sensor]]
name = "tip"
kind = "displacement"
on = "rod:end"

[[sensor]]
name = "hinge"
kind = "reaction"
on = "axle"

[[sensor]]
name = "N"
kind = "force"
on = "rod"
element = 2

[[step]]
type = "transient"
duration = 0.1
h = 0.005
frames = 4

[[check]]
name = "reach"
sensor = "tip.x"
quantity = "extreme"
reference = 0.0
tolerance = 1.0
"""


def plane_builder(folder: Path) -> Model:
    m = Model(2, "a bit of everything", gravity=(0.0, -9.81))
    m.material("steel", E=2.1e11, nu=0.3, density=7850)
    m.section("round", "circle", diameter=0.01)
    m.section("rope", "stiffness", EA=1e5, rhoA=0.5)
    m.function("wave", "0.2*sin(5*t)")
    m.function("turn", {"kind": "scaled", "function": "wave", "factor": 0.5})
    m.line("rod", (0.2, 0.0), (1.2, 0.0), 4)
    m.mesh("cable", folder / "cable.msh", scale=0.5, rotate=-90, translate=(1.2, 0.0))
    m.node("hook", (0.2, 0.5))
    m.body("crank", (0.1, 0.0), mass=0.5, inertia=1e-3)
    m.beams("rod", "rod", "round", "steel", mass="consistent", damping=1e-5)
    m.trusses("truss 1", "cable:all", "rope", tension_only=True)
    m.trusses("stay", ["hook", "rod:start"], "round", "steel", strain="green")
    m.point_mass("point_mass 1", "cable:end", 2)
    m.spring("spring 1", "ground", "rod:end", 100.0, damping=0.5, point_a=(0.7, 1.0))
    m.torsion_spring("torsion_spring 1", "ground", "crank", 3.0)
    m.fix("hook")
    m.joint("axle", "pin", "crank", point=(0.0, 0.0))
    m.joint("joint 2", "angle", "ground", "crank", function="turn")
    m.joint("joint 3", "pin", "crank", "rod:start")
    m.joint("joint 4", "pin", "rod:end", "cable:start")
    m.force("force 1", "rod:end", (0.0, 5.0), {"kind": "ramp", "duration": 0.05})
    m.moment("moment 1", "rod:end", 0.1)
    m.initial("cable", ("0.1*y", 0.0))
    m.sensor("tip", "displacement", on="rod:end")
    m.sensor("hinge", "reaction", on="axle")
    m.sensor("N", "force", on="rod", element=2)
    m.transient_step(0.1, 0.005, frames=4)
    m.check("reach", "tip.x", 0.0, 1.0, "extreme")
    return m


SPACE = """
gravity = [0.0, 0.0, -9.81]

[section.rope]
shape = "stiffness"
EA = 1000.0
rhoA = 0.1

[mesh.net]
line = {start = [1.0, 0.0, 0.0], end = [2.0, 0.0, 0.0], n = 3}

[[body]]
name = "top"
position = [0.5, 0.0, 0.0]
mass = 1.0
inertia = [0.01, 0.02, 0.025]
rotation = [0.0, 0.0, 0.3]

[[truss]]
name = "net"
on = "net"
section = "rope"
mass = "consistent"

[[joint]]
name = "hinge"
type = "spherical"
a = "top"
point = [0.0, 0.0, 0.0]

[[joint]]
name = "knot"
type = "spherical"
a = "top"
b = "net:start"

[[force]]
on = "net:end"
vector = [5.0, 0.0, 0.0]

[initial]
on = "top"
velocity = [0.0, 0.0, 0.0]
spin = [3.0, 0.0, 0.0]

[[initial_speed]]
on = "net:end"
component = "z"
value = 0.5

[[sensor]]
name = "end"
kind = "position"
on = "net:end"

[[step]]
name = "swing"
type = "transient"
rule = "newmark"
duration = 0.05
h = 0.005
"""


def space_builder(folder: Path) -> Model:
    m = Model(gravity=(0.0, 0.0, -9.81))
    m.section("rope", "stiffness", EA=1000.0, rhoA=0.1)
    m.line("net", (1.0, 0.0, 0.0), (2.0, 0.0, 0.0), 3)
    m.body("top", (0.5, 0.0, 0.0), 1.0, (0.01, 0.02, 0.025), rotation=(0.0, 0.0, 0.3))
    m.trusses("net", "net", "rope", mass="consistent")
    m.joint("hinge", "spherical", "top", point=(0.0, 0.0, 0.0))
    m.joint("knot", "spherical", "top", "net:start")
    m.force("force 1", "net:end", (5.0, 0.0, 0.0))
    m.initial("top", (0.0, 0.0, 0.0), spin=(3.0, 0.0, 0.0))
    m.initial_speed("net:end", "z", 0.5)
    m.sensor("end", "position", on="net:end")
    m.transient_step(0.05, 0.005, "swing", rule="newmark")
    return m


def write(folder: Path, text: str, name: str = "model.toml") -> Path:
    """A model file in a folder that also has the mesh "cable.msh" and the table "load.csv"."""
    write_msh(line_mesh((0.0, 0.0), (1.0, 0.0), 3), folder / "cable.msh")
    (folder / "load.csv").write_text("0,0\n1,2\n", encoding="utf-8")
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def same_bits(a: Solution, b: Solution) -> None:
    assert len(a.steps) == len(b.steps)
    for one, other in zip(a.steps, b.steps, strict=True):
        for kind in ("series", "frames"):
            left, right = getattr(one, kind), getattr(other, kind)
            assert list(left) == list(right)
            for name in left:
                assert np.array_equal(left[name], right[name], equal_nan=True), name


@pytest.mark.parametrize(("text", "builder"), [(PLANE, plane_builder), (SPACE, space_builder)], ids=["plane", "space"])
def test_equal_to_the_builder(tmp_path, text, builder):
    from_file, built = load_model(write(tmp_path, text)), builder(tmp_path)
    assert from_file.checks == built.checks
    a, b = solve(from_file), solve(built)
    assert a.steps[0].series["time"].size > 5
    same_bits(a, b)


def test_examples_load(checkout):
    # the deck of solid.toml is made first: see tests/cli/test_cli.py
    found = sorted(path for path in (checkout / "examples").glob("*/*.toml") if path.name != "solid.toml")
    assert len(found) > 3
    for path in found:
        model = load_model(path)
        assert model.steps
        assert model.sensors or any(step.kind in ("campbell", "modes") for step in model.steps)


def test_encodings_and_ends_of_lines(tmp_path):
    path = tmp_path / "m.toml"
    path.write_bytes(b"\xef\xbb\xbf" + SPACE.replace("\n", "\r\n").encode())
    assert load_model(path).n_nodes == 5


# ---- errors ---------------------------------------------------------------------------------------------------------

MINIMAL = """
dimension = 2
[section.s]
shape = "stiffness"
EA = 1.0
EIz = 1.0
rhoA = 1.0
[mesh.m]
line = {start = [0, 0], end = [1, 0], n = 2}
[[truss]]
name = "bar"
on = "m"
section = "s"
[[support]]
on = "m:start"
[[step]]
type = "transient"
duration = 0.1
h = 0.01
"""


def changed(*replacements: tuple[str, str]) -> str:
    text = MINIMAL
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def added(text: str) -> str:
    return MINIMAL + text


# What is wrong, and what the message must say after the name of the file.
WRONG = {
    # not TOML
    "syntax": ("dimension = \n", r": not valid TOML: invalid value \(at line 1, column \d+\)"),
    "key twice": ("title = 'a'\ntitle = 'b'", r": not valid TOML: cannot overwrite a value"),
    "table twice": (added("[mesh.m]\n"), r": not valid TOML: .*\(at line \d+"),
    "unclosed text": ("title = 'a", r": not valid TOML: .*at end of document|: not valid TOML: .*at line"),
    "nested": ("a = " + "[" * 5000, r": not valid TOML: lists or tables are nested too deeply"),
    "digits": ("dimension = " + "9" * 5000, r": a number in line 1 has too many digits"),
    # top level
    "unknown top key": ("titel = 'x'\n" + MINIMAL, r': unknown key "titel"; did you mean "title"\?'),
    "unknown table": (added("[[joints]]\na = 'm:end'"), r': unknown key "joints"; did you mean \[\[joint\]\]\?'),
    "unknown named table": (added("[materials.steel]\nE = 1"), r'"materials"; did you mean \[material\.NAME\]\?'),
    "nothing near": (added("[xyz]\n"), r': unknown key "xyz"; there are title, dimension, gravity, elimination'),
    "top key below": (
        added("gravity = [0, 0]"),
        r'\[\[step\]\] number 1: unknown key "gravity" here; .* top of the file',
    ),
    "dimension": (changed(("dimension = 2", "dimension = 4")), r": dimension = 4 must be a whole number, 2 to 3"),
    "dimension flag": (changed(("dimension = 2", "dimension = true")), r": dimension = true must be a whole number"),
    "title": ("title = 3\n" + MINIMAL, r": title = 3 must be a text"),
    "gravity length": ("gravity = [1.0]\n" + MINIMAL, r": gravity = \[1\.0\] must be 2 finite numbers"),
    "gravity nan": (
        "gravity = [0.0, nan]\n" + MINIMAL,
        r": gravity = \[0\.0, nan\] must be a list of .*; nan in it must",
    ),
    "gravity huge": (
        "gravity = [0.0, 1e200]\n" + MINIMAL,
        r": gravity = .* 1e\+200 in it must be a number, finite and",
    ),
    "gravity flag": ("gravity = [true, 0]\n" + MINIMAL, r": gravity = \[true, 0\] must .* true in it must be a number"),
    # how tables are written
    "list as table": (added("[joint]\ntype = 'pin'"), r": joint must be a list of tables: write \[\[joint\]\]"),
    "list of numbers": ("force = [1, 2]\n" + MINIMAL, r": force must be a list of tables: write \[\[force\]\]"),
    "named as list": (added("[[material]]\nE = 1"), r": material = \[.*\] must be a table: write \[material\.NAME\]"),
    "named without name": (
        "[material]\nE = 1.0\n" + MINIMAL.replace("dimension = 2", ""),
        r", \[material\]: E = 1\.0 must be a table: write \[material\.NAME\]",
    ),
    "empty name": (added('[material.""]\nE = 1'), r'\[material\.\]: the name "" must be a text of one line'),
    "name of two lines": (added('[material."a\\nb"]\nE = 1'), r"\[material\]: the name .* must be a text of one line"),
    "name twice": (
        added("[[truss]]\nname = 'bar'\non = 'm'\nsection = 's'"),
        r'\[\[truss\]\] "bar": the name is already',
    ),
    "name of two kinds": (
        added("[[force]]\nname = 'bar'\non = 'm:end'\nvector = [0, 0]"),
        r'\[\[force\]\] "bar": the name is already taken',
    ),
    "name not a text": (
        added("[[node]]\nname = 3\nposition = [0, 0]"),
        r"\[\[node\]\] number 1: name = 3 must be a name",
    ),
    "name blank": (
        added("[[node]]\nname = ' '\nposition = [0, 0]"),
        r'\[\[node\]\] number 1: name = " " must be a name',
    ),
    "name with colon": (added("[[node]]\nname = 'a:b'\nposition = [0, 0]"), r'"a:b": a name must not hold ":"'),
    "date": (added("[[node]]\nname = 'a'\nposition = 1979-05-27"), r'"a": position = 1979-05-27 must be a list of 2'),
    # materials, sections
    "E negative": (added("[material.x]\nE = -1.0\ndensity = 1"), r"\[material\.x\]: E = -1\.0 must be greater than 0"),
    "E missing": (added("[material.x]\ndensity = 1"), r'\[material\.x\]: "E" is missing'),
    "density missing": (added("[material.x]\nE = 1"), r'\[material\.x\]: "density" is missing'),
    "density misspelt": (added("[material.x]\nE = 1\ndensty = 1"), r'unknown key "densty"; did you mean "density"\?'),
    "E text": (added("[material.x]\nE = 'stiff'\ndensity = 1"), r'\[material\.x\]: E = "stiff" must be a number'),
    "E flag": (added("[material.x]\nE = true\ndensity = 1"), r"\[material\.x\]: E = true must be a number"),
    "E inf": (added("[material.x]\nE = inf\ndensity = 1"), r"\[material\.x\]: E = inf must be a number, finite"),
    "nu": (added("[material.x]\nE = 1.0\nnu = 0.7\ndensity = 1"), r"\[material\.x\]: nu = 0\.7 must lie between"),
    "shape": (
        changed(('"stiffness"', '"stifness"')),
        r'\[section\.s\]: shape = "stifness" must be one of .*did you mean "stiffness"',
    ),
    "dimension of shape": (
        changed(("EA = 1.0", "EA = 1.0\nwidth = 2.0")),
        r'\[section\.s\]: unknown key "width" for shape',
    ),
    "key of no shape": (
        changed(("EA = 1.0", "EA = 1.0\nwdth = 2.0")),
        r'\[section\.s\]: unknown key "wdth"; did you mean',
    ),
    "EA zero": (changed(("EA = 1.0", "EA = 0.0")), r"\[section\.s\]: EA = 0\.0 must be greater than 0"),
    # functions
    "function kind": (added("[function.f]\nkind = 'rmp'"), r"\[function\.f\]: .*rmp.*ramp"),
    "function flag": (added("[function]\nf = true"), r"\[function\.f\]: true must be a number, an expression"),
    "function syntax": (added("[function]\nf = 'sin(t'"), r"\[function\.f\]: expression"),
    "function of itself": (
        added("[function.f]\nkind = 'sum'\nfunctions = ['g']\n[function.g]\nkind = 'scaled'\nfunction = 'f'"),
        r"\[function\.f\]: it is made of itself \(f -> g -> f\)",
    ),
    "function nan": (
        added("[function.f]\nkind = 'table'\ntimes = [0, nan]\nvalues = [0, 1]"),
        r"\[function\.f\]: times\[1\]",
    ),
    "csv missing": (
        added("[function.f]\nkind = 'csv'\nfile = 'no.csv'"),
        r'\[function\.f\]: file ".*no\.csv" cannot be read',
    ),
    "inline function": (
        added("[[force]]\nname = 'f'\non = 'm:end'\nvector = [0, 1]\nfunction = 'cos('"),
        r'\[\[force\]\] "f": function: expression',
    ),
    "inline function type": (
        added("[[force]]\nname = 'f'\non = 'm:end'\nvector = [0, 1]\nfunction = [1]"),
        r'\[\[force\]\] "f": function = \[1\] must be a number, an expression',
    ),
    "eval": (
        added("[[force]]\nname = 'f'\non = 'm:end'\nvector = [0, 1]\nfunction = '__import__(\"os\")'"),
        r'\[\[force\]\] "f": function: expression',
    ),
    # meshes
    "mesh source": (
        added("[mesh.x]\nscale = 2.0"),
        r"\[mesh\.x\]: give either file, line, .* or inline; one of them",
    ),
    "mesh sources": (
        changed(("line = {", "file = 'cable.msh'\nline = {")),
        r"\[mesh\.m\]: give either file, line, .* or inline; not file and line",
    ),
    "mesh file missing": (
        changed(("line = {start = [0, 0], end = [1, 0], n = 2}", "file = 'no.msh'")),
        r"no\.msh: there is",
    ),
    "mesh file of nothing": (
        changed(("line = {start = [0, 0], end = [1, 0], n = 2}", "file = ''")),
        r'file = "" must be a',
    ),
    "mesh file nul": (changed(("line = {start = [0, 0], end = [1, 0], n = 2}", 'file = "a\\u0000"')), r"is not a path"),
    "mesh folder": (changed(("line = {start = [0, 0], end = [1, 0], n = 2}", "file = '.'")), r"\[mesh\.m\]: .*folder"),
    "mesh n": (changed((", n = 2", ", n = 0")), r"\[mesh\.m\]: line\.n = 0 must be a whole number, 1 to"),
    "mesh n float": (changed((", n = 2", ", n = 2.0")), r"\[mesh\.m\]: line\.n = 2\.0 must be a whole number"),
    "mesh n huge": (
        changed((", n = 2", ", n = 1000000000")),
        r"\[mesh\.m\]: line\.n = 1000000000 must be a whole number",
    ),
    "mesh line key": (changed((", n = 2", ", m = 2")), r'\[mesh\.m\]: unknown key "line\.m"'),
    "mesh line type": (
        changed(("{start = [0, 0], end = [1, 0], n = 2}", "3")),
        r"\[mesh\.m\]: line = 3 must be a table with",
    ),
    "mesh no length": (changed(("end = [1, 0]", "end = [0, 0]")), r"\[mesh\.m\]: line: start and end are both"),
    "mesh scale": (added("[mesh.x]\nfile = 'cable.msh'\nscale = -1.0"), r"\[mesh\.x\]: .*scale"),
    "mesh unused": (added("[mesh.x]\nfile = 'cable.msh'\nunused = 'keep'"), r'\[mesh\.x\]: unused = "keep" must be'),
    # places
    "set": (
        changed(('on = "m:start"', 'on = "m:strat"')),
        r'\[\[support\]\] number 1: .*no set "strat".*Did you mean "start"',
    ),
    "mesh name": (
        changed(('on = "m:start"', 'on = "n:start"')),
        r'\[\[support\]\] number 1: no body, node or mesh "n"',
    ),
    "set of a node": (
        added("[[node]]\nname = 'a'\nposition = [0, 0]\n[[support]]\non = 'a:b'"),
        r'number 2: "a" is a body or a node, it has no set "b"; write "a"',
    ),
    "group": (changed(('on = "m"', 'on = "mm"')), r'\[\[truss\]\] "bar": no mesh "mm"; did you mean "m"\?'),
    "section name": (changed(('section = "s"', 'section = "t"')), r'\[\[truss\]\] "bar": no section "t"'),
    "place number": (changed(('on = "m:start"', "on = 3")), r"\[\[support\]\] number 1: on = 3 must be the name of"),
    "empty place": (
        changed(('on = "m:start"', "on = []")),
        r"\[\[support\]\] number 1: on = \[\] must be a place or a list",
    ),
    "cells": (changed(('on = "m"', 'on = ["m:start"]')), r'"bar": on = \["m:start"\] must be "mesh:set"'),
    "same node": (changed(('on = "m"', 'on = ["m:end", "m:end"]')), r'"bar": .*has no length'),
    "components": (
        changed(('on = "m:start"', 'on = "m:start"\ncomponents = ["w"]')),
        r"components = .* must be a list of x, y",
    ),
    # parts and joints
    "beam option": (
        added("[[beam]]\nname = 'b'\non = 'm'\nsection = 's'\nmass = 'hermit'"),
        r'\[\[beam\]\] "b": mass = "hermit" must be one of "hermite"',
    ),
    "beam flag": (
        added("[[beam]]\nname = 'b'\non = 'm'\nsection = 's'\nshear = 1"),
        r'\[\[beam\]\] "b": shear = 1 must be true or false',
    ),
    "material needed": (
        added("[section.c]\nshape = 'circle'\ndiameter = 1.0\n[[truss]]\non = 'm'\nsection = 'c'"),
        r'\[\[truss\]\] number 2: Section "c": shape "circle" needs a material',
    ),
    "joint key": (
        added("[[joint]]\nname = 'hip'\ntype = 'slider'\na = 'm:end'\naxsi = [1, 0]"),
        r'\[\[joint\]\] "hip": unknown key "axsi"; did you mean "axis"\?',
    ),
    "joint type": (
        added("[[joint]]\nname = 'hip'\ntype = 'pinn'\na = 'm:end'"),
        r'"hip": type = "pinn" must be one of .*; did you mean "pin"',
    ),
    "joint axis": (
        added("[[joint]]\nname = 'hip'\ntype = 'slider'\na = 'm:end'\naxis = [0, 0]"),
        r'\[\[joint\]\] "hip": axis \(0\.0, 0\.0\) has no length',
    ),
    "joint axis missing": (
        added("[[joint]]\nname = 'hip'\ntype = 'slider'\na = 'm:end'"),
        r'"hip": .*add axis = \[\.\.\.\]',
    ),
    "joint function": (
        added("[[joint]]\nname = 'hip'\ntype = 'pin'\na = 'm:end'\nfunction = 't'"),
        r'"hip": a "pin" joint has no function; remove it',
    ),
    "joint itself": (
        added("[[joint]]\nname = 'hip'\ntype = 'pin'\na = 'm:end'\nb = 'm:end'"),
        r'"hip": both ends are "m:end"',
    ),
    "joint apart": (
        added("[[joint]]\nname = 'hip'\ntype = 'pin'\na = 'm:end'\nb = 'm:start'"),
        r'"hip": .* are 1 m apart',
    ),
    "inertia": (
        added("[[body]]\nname = 'b'\nposition = [0, 0]\nmass = 1\ninertia = [1, 2]"),
        r'"b": inertia = \[1, 2\] must',
    ),
    "mass negative": (
        added("[[body]]\nname = 'b'\nposition = [0, 0]\nmass = -1\ninertia = 1"),
        r'"b": mass = -1 must be a',
    ),
    "motion component": (
        added("[[motion]]\nname = 'd'\non = 'm:end'\ncomponent = 'w'\nfunction = 't'"),
        r"\[\[motion\]\] \"d\": component 'w' must be one of x, y, rotation",
    ),
    "spring": (
        added("[[spring]]\nname = 'k'\na = 'm:end'\nb = 'm:end'\nstiffness = 1"),
        r'"k": both ends are the same point',
    ),
    "velocity": (
        added("[initial]\nvelocity = [1.0]"),
        r"\[initial\]: velocity = \[1\.0\] must be 2 numbers or expressions",
    ),
    "velocity expression": (
        added("[initial]\nvelocity = ['1/x', 0]"),
        r'\[initial\]: velocity = "1/x" is not finite at node',
    ),
    "method": (added("[initial]\nmethod = 'best'"), r'\[initial\]: method = "best" must be one of "auto"'),
    "second initial": (
        added("[[initial]]\n[[initial]]\nspn = 1"),
        r'\[\[initial\]\] number 2: unknown key "spn"; .*"spin"',
    ),
    # sensors, steps, checks
    "sensor kind": (
        added("[[sensor]]\nname = 's'\nkind = 'postion'\non = 'm:end'"),
        r'"s": unknown kind "postion"; did you',
    ),
    "sensor key": (
        added("[[sensor]]\nname = 's'\nkind = 'position'\non = 'm:end'\na = 'm'"),
        r'"s": unknown key "a"; there are',
    ),
    "sensor missing": (added("[[sensor]]\nname = 's'\nkind = 'position'"), r'\[\[sensor\]\] "s": "on" is missing'),
    "sensor name": (added("[[sensor]]\nkind = 'position'"), r'\[\[sensor\]\] number 1: "name" is missing'),
    "sensor element": (
        added("[[sensor]]\nname = 's'\nkind = 'force'\non = 'bar'\nelement = 2"),
        r'"s": element = 2; "bar" has',
    ),
    "sensor set": (
        added("[[sensor]]\nname = 's'\nkind = 'position'\non = 'm'"),
        r'"s": "m" has 3 nodes where one is needed',
    ),
    "step type": (
        changed(('type = "transient"', 'type = "transent"')),
        r'number 1: type = "transent" must be .*did you mean',
    ),
    "step option": (
        changed(("h = 0.01", "h = 0.01\nfrmes = 3")),
        r'\[\[step\]\] number 1: unknown key "frmes"; .*"frames"',
    ),
    "step option type": (changed(("h = 0.01", "h = 0.01\nframes = 3.5")), r"frames = 3\.5 must be a whole number"),
    "step choice": (changed(("h = 0.01", "h = 0.01\nrule = 'newmrk'")), r'number 1: rule = "newmrk" must be one of'),
    "step option flag": (changed(("h = 0.01", "h = 0.01\nrtol = true")), r"rtol = true must be a number"),
    "step h": (
        changed(("h = 0.01", "h = 'b'")),
        r'\[\[step\]\] number 1: h = "b" must be a number: no parameter is called "b"',
    ),
    "step h missing": (changed(("h = 0.01", "")), r'\[\[step\]\] number 1: "h" is missing'),
    "step h negative": (
        changed(("h = 0.01", "h = -0.01")),
        r"\[\[step\]\] number 1: h = -0\.01 must be a finite number",
    ),
    "step h nan": (changed(("h = 0.01", "h = nan")), r"\[\[step\]\] number 1: h = nan must be a finite number"),
    "option of the other type": (
        changed(('type = "transient"', 'type = "static"\nramp = false')),
        r'\[\[step\]\] number 1: unknown key "h"',
    ),
    "check sensor": (
        added("[[check]]\nname = 'c'\nsensor = 'tip'\nat = 1.0\nreference = 1\ntolerance = 1"),
        r'\[\[check\]\] "c": no sensor "tip"',
    ),
    "check tolerance": (
        added("[[check]]\nname = 'c'\nsensor = 'x'\nreference = 1"),
        r'"c": give either tolerance or relative',
    ),
    "check quantity": (
        added(
            "[[sensor]]\nname = 'e'\nkind = 'energy'\n"
            "[[check]]\nname = 'c'\nsensor = 'e'\nquantity = 'maxmum'\nreference = 1\ntolerance = 1"
        ),
        r'"c": quantity = "maxmum" must be one of .*did you mean "maximum"\?',
    ),
    "check of nothing": (
        added(
            "[[sensor]]\nname = 'e'\nkind = 'energy'\n[[check]]\nname = 'c'\nsensor = 'e'\nreference = 1\ntolerance = 1"
        ),
        r'"c": ',
    ),
}
# Found when the model is compiled or started, not when the file is read.
WRONG_AS_A_WHOLE = {
    "load not finite": (
        added("[[force]]\nname = 'f'\non = 'm:end'\nvector = [0, 1]\nfunction = '1/t'"),
        r'\[\[force\]\] "f": the value of its function is not finite at t = 0 s',
    ),
    "drive not smooth": (
        added("[[motion]]\nname = 'd'\non = 'm:end'\ncomponent = 'x'\nfunction = 'sqrt(t)'"),
        r'\[\[motion\]\] "d": the first derivative of its function is not finite at t = 0 s',
    ),
    "rotation of a truss": (
        changed(('on = "m:start"', 'on = "m:start"\ncomponents = ["rotation"]')),
        r'node "m 1" has no rotation',
    ),
    "nothing": ("dimension = 2", r"model\.toml: it has no elements|model\.toml: Model: it has no elements"),
    "loose node": (added("[[node]]\nname = 'a'\nposition = [5, 5]"), r'no element, body or joint uses node "a"'),
    "open motion": (
        added("[[motion]]\nname = 'd'\non = 'm:end'\ncomponent = 'x'\nfunction = '1+t'"),
        r'model\.toml, \[\[motion\]\] "d": it asks for 1 at t = 0 s',
    ),
    "no steps": (MINIMAL[: MINIMAL.index("[[step]]")], r"it has no steps"),
    "uneven steps": (changed(("h = 0.01", "h = 0.03")), r'\[\[step\]\] "transient": duration = 0\.1 s is not a whole'),
    "singular inertia": (
        added("[[body]]\nname = 'b'\nposition = [0, 0]\nmass = 1\ninertia = 0"),
        r'node "b", rotation has neither mass nor stiffness',
    ),
    "contradiction": (
        added("[[motion]]\nname = 'd'\non = 'm:end'\ncomponent = 'y'\nfunction = 't'\n"
              "[[joint]]\nname = 'j'\ntype = 'pin'\na = 'm:end'"),
        r'"j" and the given speeds contradict|cannot move as driven',
    ),
    "check column": (
        added("[[sensor]]\nname = 'p'\nkind = 'position'\non = 'm:end'\n"
              "[[check]]\nname = 'c'\nsensor = 'p'\nat = 0.05\nreference = 1\ntolerance = 1"),
        r'\[\[check\]\] "c": sensor "p" is not one column; name one of p\.x, p\.y',
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files(tmp_path, name):
    text, expected = WRONG[name]
    path = write(tmp_path, text)
    with pytest.raises((ModelError, MeshError)) as caught:
        load_model(path)
    message = str(caught.value)
    assert message.startswith(str(path)), message
    assert re.search(expected, message.removeprefix(str(path))), message
    assert "\n" not in message
    assert len(message) < 700


@pytest.mark.parametrize("name", WRONG_AS_A_WHOLE)
def test_wrong_models(tmp_path, name):
    from fem_mbs.cli.check import explain

    text, expected = WRONG_AS_A_WHOLE[name]
    path = write(tmp_path, text)
    load_model(path)
    with pytest.raises(ModelError) as caught:
        explain(path)
        _run(path, tmp_path / "out")
    assert re.search(expected, str(caught.value)), str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("function", ["sqrt(0.05-t)", "asin(20*t)"])
def test_a_load_that_ends(tmp_path, function):
    text = added(f"[[force]]\nname = 'f'\non = 'm:end'\nvector = [0, 1]\nfunction = '{function}'")
    with pytest.raises(ModelError, match=r'Force "f": its function is (nan|inf) at t = 0\.0\d+ s'):
        solve(load_model(write(tmp_path, text)))


def _run(path: Path, folder: Path) -> None:
    from fem_mbs.analysis.run import run

    try:
        run(load_model(path), folder)
    except InputError as error:
        raise locate_error(path, error) from None


def test_missing_and_strange_files(tmp_path):
    with pytest.raises(ModelError, match="there is no such file"):
        load_model(tmp_path / "no.toml")
    with pytest.raises(ModelError, match="this is a folder"):
        load_model(tmp_path)
    path = tmp_path / "latin.toml"
    path.write_bytes("title = 'x'\n# Bögen\n".encode("latin-1"))
    with pytest.raises(ModelError, match="line 2 is not UTF-8"):
        load_model(path)
    path.write_bytes(MINIMAL.encode("utf-16"))
    with pytest.raises(ModelError, match="line 1 is not UTF-8"):
        load_model(path)
    with path.open("wb") as file:
        file.truncate(17 << 20)
    with pytest.raises(ModelError, match="larger than 16 MB"):
        load_model(path)


def test_defaults_are_those_of_the_builder():
    """The reference shows the defaults of the builder, where it shows values."""
    import inspect

    for table in TABLES:
        if table.name == "step":
            continue
        parameters = inspect.signature(getattr(Model, table.method)).parameters
        if table.name == "sensor":  # its kind says which keys it takes
            assert [*parameters][:3] == ["self", "name", "kind"]
            continue
        assert {*parameters} == {"self", *table.declaration.keys()}
        for name, key in table.declaration.keys().items():
            default = inspect.Parameter.empty if key.default is MISSING else key.default
            assert parameters[name].default == default, (table.name, name)


def test_every_call_of_the_builder_has_a_table():
    calls = {n for n in dir(Model) if not n.startswith("_") and callable(getattr(Model, n))}
    calls -= {"position", "node_name", "nodes_of", "node_of", "drivers", "compile", "show", "line", "polyline", "arc"}
    calls -= {"grid", "save"}
    calls -= {
        "add",
        "amend",
        "user_force",
        "equations",
        "node_displacement",
    }  # Python functions and arrays do not stand in files
    calls -= {f"{kind}_step" for kind in step_kinds()} | {"solid_material"}  # a material, too
    tables = {t.method for t in TABLES}
    assert calls == tables - {"step"}


def test_reference_is_up_to_date(checkout):
    text = (checkout / "docs" / "model-file.md").read_text(encoding="utf-8")
    assert text == reference(), "run python -m fem_mbs.modelfile.reference > docs/model-file.md"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        ("a\nb", '"a\\nb"'),
        ([1, "x"], '[1, "x"]'),
        ({"a": False}, "{a = false}"),
        (10**100, "a whole number of too many digits"),
    ],
)
def test_shown(value, text):
    assert shown(value) == text


def test_quantities():
    t = np.linspace(0.0, 10.0, 1001)
    values = np.sin(t) * np.exp(-0.1 * t) + 1e-9 * np.sin(700 * t)
    found = {q: measure(t, values, q, 2.0 if q == "at" else None) for q in QUANTITIES}
    peak = np.arctan(10.0)
    assert found["first maximum"][1] == pytest.approx(peak, abs=0.02)
    assert found["first minimum"][1] == pytest.approx(peak + np.pi, abs=0.02)
    assert found["maximum"] == found["first maximum"] == found["extreme"]
    assert found["minimum"] == found["first minimum"]
    assert found["final"] == (values[-1], 10.0)
    assert found["at"][0] == pytest.approx(np.sin(2.0) * np.exp(-0.2), abs=1e-4)
    assert measure(t, t, "first maximum") == (None, None)
    assert measure(t, np.zeros(1001), "first minimum") == (None, None)
    assert measure(t, values, "at", 11.0) == (None, None)
    assert measure(t[:2], np.array([np.nan, 3.0]), "maximum") == (3.0, t[1])
