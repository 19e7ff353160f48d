"""One small case for every kind of step: a model file, and the options of the step."""

from __future__ import annotations

from typing import Any

SHAFT = """
gravity = [0, 0, -9.81]
[material.steel]
E = 2e11
nu = 0.3
density = 7800
[section.shaft]
shape = "circle"
diameter = 0.05
[mesh.arm.line]
start = [0, 0, 0]
end = [1.2, 0, 0]
n = 4
[[beam]]
name = "arm"
on = "arm"
section = "shaft"
material = "steel"
damping = 1e-5
[[disc]]
name = "wheel"
at = "arm:end"
mass = 20.0
polar = 0.3
diametral = 0.17
axis = [1, 0, 0]
[[nodal_spring]]
name = "left y"
on = "arm:start"
component = "y"
stiffness = 1e6
[[nodal_spring]]
name = "left z"
on = "arm:start"
component = "z"
stiffness = 1e6
[[bushing]]
name = "right"
a = "arm:end"
stiffness = [1e6, 1e6, 1e6, 0, 0, 0]
damping = [10, 10, 10, 0, 0, 0]
[[force]]
name = "push"
on = "arm:end"
vector = [-500, 100, 50]
function = "cos(30*t + 0.2)"
[[rotor]]
name = "rotor"
axis = [1, 0, 0]
[[sensor]]
name = "way"
kind = "displacement"
on = "arm:end"
[[sensor]]
name = "pull"
kind = "element"
on = "right"
quantity = "force y"
"""


HELD = """
[[support]]
on = "arm:start"
components = ["rotation x"]
[[sensor]]
name = "support"
kind = "reaction"
on = "arm:start"
"""


LINKS = """
dimension = 2
gravity = [0, -9.81]
[[body]]
name = "a"
position = [0.3, 0.1]
mass = 2.0
inertia = 0.05
[[joint]]
name = "first"
type = "revolute"
a = "ground"
b = "a"
point = [0, 0]
function = "0.8*(1 - cos(3*t))"
[[sensor]]
name = "place"
kind = "position"
on = "a"
"""


FREE_LINK = LINKS.replace('function = "0.8*(1 - cos(3*t))"\n', "")


#: An eighth of a free ring.
SECTOR = """
dimension = 2
[material.steel]
E = 2e11
nu = 0.3
density = 7800
[section.rim]
shape = "rectangle"
width = 0.05
height = 0.02
[mesh.rim.arc]
center = [0, 0]
radius = 0.5
angles = [0, 45]
n = 4
[[beam]]
name = "rim"
on = "rim"
section = "rim"
material = "steel"
[[force]]
name = "push"
on = "rim:start"
vector = [100, 0]
[[cyclic_symmetry]]
name = "wheel"
face = "rim:end"
other = "rim:start"
sectors = 8
"""


#: A ball that rolls against the wind, under a pilot who does not turn.
BALL = """
gravity = [0, 0, -9.81]
[[body]]
name = "ball"
position = [0, 0, 0.2]
mass = 3.0
inertia = [0.05, 0.05, 0.05]
[[body]]
name = "pilot"
position = [0.05, 0, 0.1]
mass = 1.0
inertia = [0.05, 0.05, 0.05]
[[joint]]
name = "bearing"
type = "spherical"
a = "pilot"
b = "ball"
point = [0, 0, 0.2]
[[joint]]
name = "ground"
type = "rolling_disc"
a = "ball"
point = [0, 0, 0.2]
axis = [0, 1, 0]
radius = 0.2
crown = 0.2
[[force]]
name = "wind"
on = "pilot"
vector = [-2.0, 0, 0]
[[force]]
name = "push"
on = "pilot"
vector = [1, 0, 0]
function = 0.0
[[running]]
on = "pilot"
velocity = [1.5, 0, 0]
[[sensor]]
name = "place"
kind = "position"
on = "ball"
"""


#: Options of each kind of step, positional ones of the builder's method first.
STEPS = {
    "transient": {"duration": 0.1, "h": 0.01},
    "inverse": {"duration": 0.2, "h": 0.02},
    "inverse_path": {
        "duration": 0.2, "h": 0.0025, "efforts": ["first"],
        "outputs": {"place.y": "0.05*(t/0.2 - sin(10*pi*t)/(2*pi))"},
    },
    "static": {"increments": 2},
    "steady_running": {"efforts": ["push"]},
    "linear_static": {},
    "linear_transient": {"duration": 0.1, "h": 0.01},
    "modes": {"count": 4},
    "cyclic_modes": {"count": 3, "nodal_diameters": [0, 2, 4]},
    "buckling": {"count": 2, "loads": ["push"]},
    "complex_modes": {"count": 4},
    "linearise": {},
    "stability_map": {"parameters": [{"load": "push", "values": [0.0, 1.0]}], "count": 2},
    "campbell": {"rotor": "rotor", "speeds": [0.0, 300.0], "count": 3},
    "unbalance": {
        "rotor": "rotor", "speeds": [10.0, 100.0], "unbalances": [{"at": "arm:end", "amount": 1e-3, "phase": 0.3}],
    },
    "harmonic": {"frequencies": [1.0, 30.0]},
}  # fmt: skip


def as_toml(value: Any) -> str:
    """Return a value as a model file has it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{k}" = {as_toml(v)}' for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(as_toml(v) for v in value) + "]"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def case(kind: str) -> str:
    """Return a model file with a step of a kind, called "last", and what the kind needs before it."""
    held = kind not in ("campbell", "unbalance")
    own = {"inverse": LINKS, "inverse_path": FREE_LINK, "cyclic_modes": SECTOR, "steady_running": BALL}
    text = own.get(kind) or SHAFT + (HELD if held else "")
    step = '[[step]]\ntype = "static"\n' if kind == "stability_map" else ""
    step += f'[[step]]\ntype = "{kind}"\nname = "last"\n'
    return text + step + "".join(f"{key} = {as_toml(value)}\n" for key, value in STEPS[kind].items())
