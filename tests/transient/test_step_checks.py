"""What a later step needs is asked for before the first one, by `run` and by `check` alike."""

from __future__ import annotations

import pytest

from fem_mbs.analysis.run import inspect, run
from fem_mbs.analysis.start.mobility import mobility
from fem_mbs.analysis.transient.failures import failure
from fem_mbs.analysis.transient.settings import Settings
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.errors import ModelError
from fem_mbs.model.model import Model
from fem_mbs.modelfile.read import load_model
from fem_mbs.solvers.stepping import layout

BASE = """
[material.s]
E = 2e11
density = 7800
[section.c]
shape = "circle"
diameter = 0.01
[mesh.a]
line = { start = [0, 0, 0], end = [1, 0, 0], n = 4 }
[[beam]]
name = "a"
on = "a"
section = "c"
material = "s"
[[support]]
on = "a:start"
[[force]]
name = "f"
on = "a:end"
vector = [0, 1, 0]
[[force]]
name = "g"
on = "a:end"
vector = [0, 0, 1]
[[force]]
name = "later"
on = "a:end"
vector = [0, 0, 1]
function = { kind = "table", times = [0, 1, 2], values = [0, 0, 1] }
[[sensor]]
name = "t"
kind = "displacement"
on = "a:end"
[[sensor]]
name = "e"
kind = "energy"
quantity = "total"
[[step]]
type = "linear_static"
name = "first"
"""
STEPS = {
    "linear static": ('type = "linear_static"\nloads = ["x"]', 'Step "linear_static": loads: there is no .* "x"'),
    "linear transient": (
        'type = "linear_transient"\nduration = 1\nh = 0.1\nloads = ["x"]',
        'Step "linear_transient": loads: there is no .* "x"',
    ),
    "buckling": ('type = "buckling"\nloads = ["x"]', 'Step "buckling": loads: there is no load "x"'),
    "buckling by nothing": ('type = "buckling"\nloads = ["later"]', "no load acts at its time"),
    "harmonic": ('type = "harmonic"\nfrequencies = [1]\nloads = ["x"]', 'Step "harmonic": loads: there is no .* "x"'),
    "amplitudes": ('type = "harmonic"\nfrequencies = [1]\namplitudes = { x = 1 }', 'amplitudes: there is no .* "x"'),
    "phases": ('type = "harmonic"\nfrequencies = [1]\nphases = { x = 1 }', 'phases: there is no .* "x"'),
    "harmonic by nothing": ('type = "harmonic"\nfrequencies = [1]\nloads = ["later"]', "nothing shakes the model"),
    "inputs": ('type = "linearise"\ninputs = ["x"]\nsensors = ["t"]', 'Step "linearise": inputs: there is no .* "x"'),
    "outputs": ('type = "linearise"\ninputs = ["f"]\nsensors = ["x"]', 'sensors: there is no sensor "x"'),
    "energy": ('type = "linearise"\ninputs = ["f"]\nsensors = ["e"]', "energy is not linear"),
    "map": (
        'type = "stability_map"\nparameters = [{ load = "x", values = [0, 1] }]',
        'Step "stability_map": load: there is no load "x"',
    ),
    "vary": ('type = "static"\nvary = ["x"]', 'Step "static": vary: there is no .* "x"'),
    "levels": (
        'type = "static"\nname = "one"\nvary = ["f"]\n[[step]]\ntype = "static"\nname = "two"\nvary = ["f", "g"]',
        'Step "two": vary: the loads stand at different factors',
    ),
    "place": (
        'type = "static"\ncontrol = "displacement"\non = "x"\ncomponent = "y"\ndisplacement = 0.1',
        'Step "static": no body, node or mesh "x"',
    ),
    "held": (
        'type = "static"\ncontrol = "displacement"\non = "a:start"\ncomponent = "y"\ndisplacement = 0.1',
        '"a:start" is held or driven along y',
    ),
    "inverse": ('type = "inverse"\nduration = 1\nh = 0.1', 'Step "inverse": nothing is driven'),
    "inverse after statics": (
        'type = "static"\n[[step]]\ntype = "inverse"\nduration = 1\nh = 0.1',
        'Step "inverse": nothing is driven',
    ),
    "check of a vector": (
        'type = "modes"\n[[check]]\nname = "c"\nsensor = "t"\nquantity = "final"\nreference = 0\ntolerance = 1',
        'Check "c": sensor "t" is not one column',
    ),
    "check after the end": (
        'type = "transient"\nduration = 1\nh = 0.1\n[[check]]\nname = "c"\nsensor = "t.x"\nat = 1.5\nreference = 0\n'
        "tolerance = 1",
        'Check "c": at = 1.5 s is no time of the steps, which go from 0 to 1 s',
    ),
}


@pytest.mark.parametrize("case", STEPS)
def test_before_the_first_step(tmp_path, case):
    text, message = STEPS[case]
    path = tmp_path / "m.toml"
    path.write_text(f"{BASE}[[step]]\n{text}\n")
    model = load_model(path)
    for look in (lambda: inspect(model), lambda: run(model, tmp_path / "out")):
        with pytest.raises(ModelError, match=message):
            look()
    assert not (tmp_path / "out").exists()


def test_what_acts_later_is_left_to_its_step(tmp_path):
    """A load that is zero at the start and acts when the step begins; a path that ends at a factor nobody knows."""
    path = tmp_path / "m.toml"
    path.write_text(
        f"{BASE}[[step]]\ntype = 'static'\nname = 'path'\ncontrol = 'arc'\nvary = ['f']\nuntil = 0.5\n"
        "[[step]]\ntype = 'static'\nname = 'on'\nvary = ['f', 'g']\n"
        "[[step]]\ntype = 'linear_static'\nname = 'wait'\nduration = 2\n"
        "[[step]]\ntype = 'buckling'\nloads = ['later']\n"
        "[[step]]\ntype = 'harmonic'\nloads = ['later']\nfrequencies = [1]\n"
    )
    inspect(load_model(path))


FREE = BASE[: BASE.index("[[support]]")] + "[[step]]\ntype = 'modes'\ncount = 3\n"


@pytest.mark.parametrize("more", ["", "gravity = [0, 0, -9.81]\n", "follower"])
def test_weight_and_loads_do_not_hold_a_free_beam(tmp_path, more):
    """Six rigid motions, also where weight or a follower force has a tangent that turns with the nodes."""
    path = tmp_path / "m.toml"
    load = "[[force]]\nname = 'f'\non = 'a:end'\nvector = [1, 2, 3]\nfollower = true\n"
    mass = "[[point_mass]]\nname = 'm'\nat = 'a:end'\nmass = 2\noffset = [0.1, 0.2, 0.3]\n"
    path.write_text((more if more != "follower" else "") + FREE + mass + (load if more == "follower" else ""))
    begun = inspect(load_model(path))
    assert mobility(begun.compiled, begun.state).strain_free == 6


@pytest.mark.parametrize("kind", ["static", "linear_static"])
def test_a_free_model_does_not_bear_its_weight(tmp_path, kind):
    path = tmp_path / "m.toml"
    path.write_text("gravity = [0, 0, -9.81]\n" + FREE.replace("'modes'\ncount = 3", f"'{kind}'"))
    with pytest.raises(ModelError, match="nothing holds the model along z"):
        inspect(load_model(path))
    path.write_text(path.read_text() + "[[support]]\non = 'a:start'\n")
    inspect(load_model(path))


def test_failed_steps_name_the_unknown_that_is_worst_or_none():
    m = Model(2)
    m.body("first", (0, 0), mass=1.0, inertia=1.0)
    m.body("last", (1, 0), mass=1.0, inertia=1.0)
    compiled = m.compile()
    state = compiled.system.initial_state()
    stepping = Stepping(
        compiled.system, compiled.functions, state, m.gravity, rule="midpoint", t0=0.0, h=0.1, settings=Settings()
    )
    for worst, name in ((-1, "an unknown place"), (0, '"first"'), (3, '"last"')):
        stepping.counter[layout.WORST] = worst
        for problem in (layout.SINGULAR, layout.TURNED, layout.NOT_CONVERGED):
            text = str(failure(stepping, problem))
            assert name in text
            assert all(other not in text for other in ('"first"', '"last"') if other != name)
