"""A model is constant: compiling reads it, and what belongs to the arrays belongs to the compiled model."""

from __future__ import annotations

import types
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

from fem_mbs import solve
from fem_mbs.contract import ElementKernel
from fem_mbs.model.model import Model
from fem_mbs.modelfile.read import load_model
from fem_mbs.system.tangent import Matrices, control
from fem_mbs.validation import (
    anantharaman_1993_four_bar,
    badlani_kleinhenz_1979_slider_crank,
    betsch_leyendecker_2006_joints,
    bhuta_jones_1963_whirling_bar,
    bishop_johnson_1960_receptances,
    duffing_1918_oscillators,
    goldstein_1980_top,
    gonzalez_2006_four_bars,
    hoffmann_2002_mode_coupling,
    hutton_smith_1993_frame,
    jeffcott_1919_rotor,
    ledesma_bayo_1993_inverse,
    melzer_1993_reduced_bodies,
    simo_wong_1991_rigid_body,
    timbo_2020_two_disc_rotor,
    timoshenko_1961_columns,
    ziegler_1952_pendulum,
)

#: Model files of examples; one more needs a mesh that its script makes.
EXAMPLES = [p for p in sorted((ROOT / "examples").glob("*/*.toml")) if p.name != "solid.toml"]


def content(value, seen: dict | None = None):
    """Everything that an object holds, as plain values that can be compared; callables by their identity."""
    seen = {} if seen is None else seen
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, Path, type)):
        return repr(value)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes() if value.dtype != object else content(value.tolist(), seen)
    if isinstance(value, np.generic):
        return value.dtype.str, value.tobytes()
    # a kernel of elements finds the address of its machine code at its first call, which is none of the model's
    kernel = isinstance(value, ElementKernel) or type(value).__module__.startswith("numba")
    if kernel or isinstance(value, (types.FunctionType, types.MethodType, types.BuiltinFunctionType)):
        return id(value)
    if id(value) in seen:
        return "seen", seen[id(value)]
    seen[id(value)] = len(seen)
    if isinstance(value, dict):
        return [(content(k, seen), content(v, seen)) for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return [content(v, seen) for v in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    slots = [k for c in type(value).__mro__ for k in getattr(c, "__slots__", ())]
    own = {k: getattr(value, k) for k in slots if hasattr(value, k)} | getattr(value, "__dict__", {})
    return type(value).__qualname__, [(k, content(v, seen)) for k, v in sorted(own.items())]


def changed(before: dict, after: dict) -> list[str]:
    return [k for k in before.keys() | after.keys() if before.get(k) != after.get(k)]


def compiled_twice(model) -> None:
    """Compile a model twice, with and without stepping, and compare all arrays and the model itself."""
    parts = lambda: {k: content(v) for k, v in vars(model).items()}  # noqa: E731
    before = parts()
    found = [{k: content(v) for k, v in vars(model.compile()).items() if k != "model"} for _ in range(2)]
    model.compile(stepping=False)
    assert not changed(before, parts())
    assert not changed(*found)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_compiling_leaves_the_model_as_it_is(path):
    compiled_twice(load_model(path))


#: Models of benchmarks that have between them joints of all kinds, friction, drives, rotors, reduced parts, follower
#: forces, sensors of all kinds and steps of every kind.
BENCHMARKS = {
    "four-bar": anantharaman_1993_four_bar.build,
    "slider-crank": lambda: badlani_kleinhenz_1979_slider_crank.build([0.0, 1.0]),
    **{
        f"{kind} joint": lambda kind=kind: betsch_leyendecker_2006_joints.build(kind, 3, 10)
        for kind in ("revolute", "cylindrical", "prismatic", "planar", "universal", "spherical")
    },
    "coupled joints": lambda: betsch_leyendecker_2006_joints.coupled("gear", 3, 10),
    "sliding": lambda: betsch_leyendecker_2006_joints.sliding(3, 10),
    "whirling bar": bhuta_jones_1963_whirling_bar.build,
    "receptances": bishop_johnson_1960_receptances.build,
    "controlled joint": lambda: duffing_1918_oscillators.build_rotor(0.01, 1.0, "sin(t)"),
    "top": lambda: goldstein_1980_top.build(0.5, 1.0, 0.01, 1.0),
    "row of four-bars": gonzalez_2006_four_bars.build,
    "friction": hoffmann_2002_mode_coupling.build,
    "components": hutton_smith_1993_frame.build,
    "rotor": jeffcott_1919_rotor.build,
    "inverse": lambda: ledesma_bayo_1993_inverse.rigid(0.01),
    "reduced links": lambda: melzer_1993_reduced_bodies.four_bar(True),
    "free body": lambda: simo_wong_1991_rigid_body.build(0.1),
    "two discs": lambda: timbo_2020_two_disc_rotor.build(100.0),
    "shaft": lambda: timoshenko_1961_columns.shaft("exact"),
    "follower": ziegler_1952_pendulum.build,
}


@pytest.mark.parametrize("build", BENCHMARKS.values(), ids=list(BENCHMARKS))
def test_compiling_leaves_the_model_of_a_benchmark_as_it_is(build):
    compiled_twice(build())


@pytest.mark.parametrize(
    "build",
    [
        lambda: anantharaman_1993_four_bar.build(h=0.02, duration=0.1),
        lambda: ledesma_bayo_1993_inverse.rigid(0.05),
        lambda: load_model(next(p for p in EXAMPLES if p.parent.name == "portal_frame")),
        lambda: load_model(next(p for p in EXAMPLES if p.parent.name == "rotor")),
    ],
    ids=["transient", "inverse", "portal frame", "rotor"],
)
def test_running_leaves_the_model_as_it_is(build):
    model = build()
    before = {k: content(v) for k, v in vars(model).items()}
    solve(model)
    assert not changed(before, {k: content(v) for k, v in vars(model).items()})


def test_parameters_stand_once():
    """The blocks and the compiled step read the same numbers, whatever writes them."""
    system = load_model(EXAMPLES[-1]).compile().system
    assert sum(block.par.size for block in system.blocks) == system.system.par.size
    for i, block in enumerate(system.blocks):
        block.par[:] = -1e300 - i * 1e299
        assert np.count_nonzero(system.system.par == -1e300 - i * 1e299) == block.par.size
        assert np.shares_memory(block.par, system.system.par)
        assert block.par.flags.c_contiguous


def test_other_parameters_are_an_overlay():
    """Matrices with other parameters are those of a model that has them; the compiled model does not see them."""

    def column(stiffness: float) -> Model:
        model = Model(3, elimination=False)
        model.section("bar", "stiffness", EA=stiffness, GA=stiffness, GJ=1.0, EI=1.0, rhoA=1.0, rhoI=1.0)
        model.line("bar", (0.0, 0.0, 0.0), (1.0, 2.0, 0.5), 3)
        model.beams("bar", "bar", "bar")
        model.body("mass", (1.0, 2.0, 0.5), 2.0, (0.1, 0.1, 0.1))
        model.joint("weld", "weld", "mass", "bar:end", point=(1.0, 2.0, 0.5))
        model.fix("bar:start")
        return model

    compiled, other = (column(EA).compile() for EA in (1e3, 2e3))
    before = content(compiled.system)
    matrices = Matrices(compiled.system)
    changed = compiled.system.with_parameters({i: block.par for i, block in enumerate(other.system.blocks)})
    state = changed.initial_state()
    ctl, fun = control(stiffness=2.0), np.zeros((1, 3))
    (_, own), (_, overlaid), (_, known) = (
        m.tangent(ctl, fun, state) for m in (matrices, matrices.of(changed), Matrices(other.system))
    )
    assert abs(overlaid - known).max() == 0.0
    assert abs(overlaid - own).max() > 1e2
    changed.set_scales(ctl, fun, state)
    assert changed.system.par.tobytes() != other.system.system.par.tobytes()
    assert content(compiled.system) == before
    assert all(np.shares_memory(block.par, changed.system.par) for block in changed.blocks)


def test_labels_of_elements():
    model = Model(2, "springs")
    model.body("mass", (1.0, 0.0), mass=1.0, inertia=1.0)
    for name in ("a", "b", "c"):
        model.spring(name, "ground", "mass", stiffness=1.0, point_a=(0.0, 0.0))
    model.line("line", (0.0, 0.0), (1.0, 0.0), 3)
    model.section("string", "stiffness", EA=1.0, rhoA=1.0)
    model.trusses("string", "line", "string")
    found = [block.label(e) for block in model.compile().system.blocks for e in range(block.size)]
    assert [label for label in found if label in "abc"] == ["a", "b", "c"]
    assert found.count("string") == 3 + 4  # trusses, masses of their nodes


def test_positions_follow_what_is_added_and_moved():
    building = Model(2, "nodes").building
    building.add_nodes(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert building.positions.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    building.add_nodes(np.array([[5.0, 6.0]]))
    before = building.positions
    assert before.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    building.move_nodes(np.array([1, 2]), np.array([[0.0, 1.0], [2.0, 0.0]]))
    assert building.positions.tolist() == [[1.0, 2.0], [0.0, 1.0], [2.0, 0.0]]
    assert before[1].tolist() == [3.0, 4.0]
    with pytest.raises(ValueError, match="read-only"):
        building.positions[0] = 0.0
