"""Modification: sensitivities, changes and required frequencies, against models that are built with the change."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from fem_mbs import AnalysisError, Mesh, Model, ModelError, Modification, assemble_components
from fem_mbs.analysis.components.parameters import _scaled, changed_rows, default_parameters, read_parameter
from fem_mbs.cli.main import app

VALUES = {
    "density": 7850.0, "modulus": 2.1e11, "diameter": 0.03, "stiffness": 3e4, "mass": 0.4, "ground": 8e4,
    "height": 0.02,
}  # fmt: skip


def build(**changes) -> Model:
    """A mast and an arm in space, joined; a stay between them, a spring to the ground, a lump; values may change."""
    v = {**VALUES, **changes}
    model = Model(3)
    model.material("mast", E=2.1e11, nu=0.3, density=7850.0)
    model.material("arm", E=v["modulus"], nu=0.3, density=v["density"])
    model.section("round", "circle", diameter=v["diameter"])
    model.section("flat", "rectangle", height=v["height"], width=0.03)
    model.section("thin", "rectangle", height=0.5 * v["height"], width=0.03)
    model.polyline("l", [(0, 0, 0), (0, 0, 1.2), (0.9, 0.2, 1.2), (0.9, 0.2, 1.0)], [8, 8, 2])
    model.beams("mast", "l:segment_1", "round", "mast")
    model.beams("arm", "l:segment_2", ["flat", "thin"], "arm")
    model.beams("tip", "l:segment_3", "flat", "arm", releases={"start": ["rotation z"]})
    model.nodal_spring("tip stay", "l:end", "rotation x", 50.0)
    model.spring("stay", "l:corner_3", 4, v["stiffness"])
    model.nodal_spring("ground", "l:corner_2", "x", v["ground"])
    model.point_mass("lump", "l:end", v["mass"])
    model.fix("l:start")
    model.component("mast", ["mast"])
    model.component("arm", ["arm", "tip"])
    return model


PARAMETERS = {
    "density:arm": "density", "modulus:arm": "modulus", "diameter:mast": "diameter", "height:arm": "height",
    "stiffness:stay": "stiffness", "mass:lump": "mass", "stiffness:ground": "ground",
}  # fmt: skip


@pytest.fixture(scope="module")
def study() -> Modification:
    return Modification(assemble_components(build(), cutoff=6000.0), list(PARAMETERS))


def full(count: int = 6, **changes) -> np.ndarray:
    return assemble_components(build(**changes), modes=0).full_modes(count)


@pytest.mark.parametrize("name", PARAMETERS)
def test_sensitivities_are_those_of_the_whole_model(study, name):
    """Against central differences of models that are built anew."""
    key, h = PARAMETERS[name], 1e-4
    high, low = (full(5, **{key: VALUES[key] * (1.0 + s * h)}) ** 2 for s in (1, -1))
    slope = (high - low) / (2.0 * h) / full(5) ** 2
    found = study.sensitivities()[list(PARAMETERS).index(name), :5]
    assert found == pytest.approx(slope, rel=5e-3, abs=2e-5)
    size = study.sensitivities(normalised=False)[list(PARAMETERS).index(name), :5]
    assert size == pytest.approx(found * study.assembly.coupled.values[:5], rel=1e-12)


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("alpha", [-0.4, 0.7])
def test_changes_are_those_of_a_model_built_so(study, name, alpha):
    key = PARAMETERS[name]
    exact = full(4, **{key: VALUES[key] * (1.0 + alpha)})
    assert study.full({name: alpha}, 4) == pytest.approx(exact, rel=1e-9)
    assert study.synthesis({name: alpha}).frequencies[:4] == pytest.approx(exact, rel=2e-4)
    assert study.forward({name: alpha})[0][:4] == pytest.approx(exact, rel=0.02)


def test_changes_together(study):
    alphas = {"density:arm": 0.3, "height:arm": -0.2, "stiffness:stay": 1.0, "diameter:mast": 0.1}
    exact = full(4, **{PARAMETERS[n]: VALUES[PARAMETERS[n]] * (1.0 + a) for n, a in alphas.items()})
    assert study.full(alphas, 4) == pytest.approx(exact, rel=1e-9)
    anew = study.synthesis(alphas)
    assert anew.frequencies[:4] == pytest.approx(exact, rel=2e-4)
    assert set(anew.seconds) == {"matrices", "modes of mast", "modes of arm", "coupling"}


def test_what_does_not_change_is_kept(study):
    anew = study.synthesis({"density:arm": 0.3})
    assert anew.coupled.parts[0] is study.assembly.coupled.parts[0]
    assert anew.coupled.parts[1] is not study.assembly.coupled.parts[1]
    links = study.synthesis({"stiffness:stay": 0.3})
    assert all(a is b for a, b in zip(links.coupled.parts, study.assembly.coupled.parts, strict=True))


@pytest.mark.parametrize("name", ["density:arm", "modulus:arm", "height:arm", "stiffness:stay", "diameter:mast"])
def test_one_parameter_gives_a_frequency(study, name):
    """In the baseline's modes, then with new ones, which the whole model confirms."""
    k = list(PARAMETERS).index(name)
    i = int(np.nanargmax(np.abs(study.sensitivities()[k, :4])))
    f = study.frequencies[i] * (1.0 + 0.03 * np.sign(study.sensitivities()[k, i]))
    found = study.answer(name, i + 1, f)
    assert found.alpha > 0.0
    assert found.frequencies[found.mode - 1] == pytest.approx(f, rel=1e-9)
    value = VALUES[PARAMETERS[name]] * (1.0 + found.alpha)
    assert found.value is None if name == "height:arm" else found.value == pytest.approx(value)
    anew = study.answer(name, i + 1, f, anew=True)
    assert anew.frequencies[anew.mode - 1] == pytest.approx(f, rel=2e-9)
    exact = full(6, **{PARAMETERS[name]: VALUES[PARAMETERS[name]] * (1.0 + anew.alpha)})
    assert exact[anew.mode - 1] == pytest.approx(f, rel=3e-4)


def test_all_roots_of_one_parameter(study):
    """Each puts a mode at the frequency, and between two of them none is there."""
    f = 1.03 * study.frequencies[1]
    found = study.answers("density:arm", f, most=50.0)
    assert len(found) >= 2
    grid = np.linspace(-0.99, 50.0, 800)
    below = np.array([(study.forward({"density:arm": a})[0] < f).sum() for a in grid])
    assert np.abs(np.diff(below)).sum() == len(found)
    for answer in found:
        assert np.abs(answer.frequencies - f).min() < 1e-8 * f
        assert answer.mode == np.abs(answer.frequencies - f).argmin() + 1


def test_a_frequency_that_is_there_needs_no_change(study):
    assert abs(study.answer("modulus:arm", 2, study.frequencies[1]).alpha) < 1e-9
    assert np.abs(study.combination({2: study.frequencies[1]}).alphas).max() == 0.0


def test_a_frequency_out_of_reach(study):
    assert study.answer("mass:lump", 4, 40.0 * study.frequencies[3]) is None


def test_least_change_of_all(study):
    f = 0.95 * study.frequencies[0]
    found = study.combination({1: f})
    assert found.frequencies[0] == pytest.approx(f, rel=1e-10)
    # the gradient at the answer is parallel to it
    slopes = [study._changes.slope(k, found.alphas) for k in range(len(PARAMETERS))]
    _, vectors = study.forward(found.alphas)
    c, value = vectors[:, 0], (2.0 * np.pi * f) ** 2
    gradient = np.array([c @ (K - value * M) @ c for K, M in slopes])
    cosine = gradient @ found.alphas / (np.linalg.norm(gradient) * np.linalg.norm(found.alphas))
    assert abs(cosine) == pytest.approx(1.0, abs=1e-9)
    singles = [study.answer(k, 1, f) for k in range(len(PARAMETERS))]
    assert all(np.linalg.norm(found.alphas) < abs(s.alpha) for s in singles if s is not None)


def test_two_frequencies_at_a_time(study):
    study = Modification(study.assembly, ["density:arm", "modulus:arm", "stiffness:stay", "diameter:mast"])
    required = {1: 0.97 * study.frequencies[0], 3: 1.04 * study.frequencies[2]}
    found = study.combination(required, anew=True)
    assert found.frequencies[[m - 1 for m in found.modes]] == pytest.approx(list(required.values()), rel=2e-9)
    assert study.full(found.alphas, 5)[[m - 1 for m in found.modes]] == pytest.approx(list(required.values()), rel=3e-4)


def test_thickness_of_plane_parts_is_linear():
    def plate(t: float) -> Model:
        x, y = np.meshgrid(np.linspace(0.0, 1.0, 13), np.linspace(0.0, 0.3, 5), indexing="ij")
        node = np.arange(65).reshape(13, 5)
        cells = np.stack((node[:-1, :-1], node[1:, :-1], node[1:, 1:], node[:-1, 1:]), axis=-1).reshape(-1, 4)
        sets = {"a": [(0, np.arange(24))], "b": [(0, np.arange(24, 48))]}
        model = Model(2)
        model.material("steel", E=2.1e11, nu=0.3, density=7850.0)
        model.mesh("p", Mesh(np.column_stack((x.ravel(), y.ravel())), [("quad", cells)], {"wall": node[0]}, sets))
        for name, thickness in (("a", 0.01), ("b", t)):
            model.planes(name, f"p:{name}", "steel", thickness=thickness)
            model.component(name, name)
        model.fix("p:wall", ["x", "y"])
        return model

    study = Modification(assemble_components(plate(0.01), cutoff=2e4), ["thickness:b", "density:b", "modulus:b"])
    thickness, density, modulus = study.sensitivities()[:, :4]
    assert thickness == pytest.approx(density + modulus, abs=1e-9)
    exact = assemble_components(plate(0.016), modes=0).full_modes(3)
    assert study.full({"thickness:b": 0.6}, 3) == pytest.approx(exact, rel=1e-9)
    assert study.parameters[0].value == 0.01
    assert study.parameters[0].linear


def test_modes_that_no_parameter_moves():
    model = Model(2)
    model.section("s", "stiffness", EA=1e6, EI=100.0, rhoA=1.0)
    model.line("m", (0, 0), (1, 0), 6)
    model.beams("b", "m", "s")
    model.nodal_spring("across", "m:start", "y", 1e4)
    model.component("c", "b")
    study = Modification(assemble_components(model, modes=6), ["stiffness:across", "EA:b"])
    assert np.isnan(study.sensitivities()[:, 0]).all()
    with pytest.raises(ModelError, match="mode 1 is a rigid-body mode"):
        study.answer(0, 1, 10.0)
    bending = 1 + int(np.flatnonzero(~np.isnan(study.sensitivities()[0]))[0])
    with pytest.raises(AnalysisError, match="do not move the required modes"):
        Modification(study.assembly, ["EA:b"]).combination({bending: 1.01 * study.frequencies[bending - 1]})


# --- parameters ------------------------------------------------------------------------------------------------------
def test_values_and_units():
    model = build()
    found = {n: read_parameter(model, n) for n in (*PARAMETERS, "width:tip", "density:mast")}
    assert {n: p.value for n, p in found.items() if p.value is not None} == {
        "density:arm": 7850.0, "modulus:arm": 2.1e11, "diameter:mast": 0.03, "stiffness:stay": 3e4, "mass:lump": 0.4,
        "stiffness:ground": 8e4, "width:tip": 0.03, "density:mast": 7850.0,
    }  # fmt: skip
    assert found["height:arm"].groups == ("arm", "tip")
    assert [n for n, p in found.items() if not p.linear] == ["diameter:mast", "height:arm", "width:tip"]
    assert default_parameters(model) == [
        "density:mast", "modulus:mast", "density:arm", "modulus:arm", "stiffness:tip stay", "stiffness:stay",
        "stiffness:ground", "mass:lump",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("density", "it must be KIND:TARGET, as density:mast"),
        (":arm", "it must be KIND:TARGET"),
        ("density:ar", 'no component or group "ar"; did you mean "arm"'),
        ("mass:arm", '"arm" has no mass; it has density, height, modulus, width'),
        ("diameter:arm", '"arm" has no diameter'),
        ("density:stay", '"stay" has no density; it has stiffness'),
        ("stiffness:lump", '"lump" has no stiffness; it has mass'),
    ],
)
def test_bad_parameters(text, message):
    with pytest.raises(ModelError, match=message):
        read_parameter(build(), text)


def test_parameters_of_prestressed_members():
    model = Model(2)
    model.section("rope", "stiffness", EA=1e5, rhoA=0.2)
    model.line("m", (0, 0), (1, 0), 4)
    model.trusses("rope", "m", "rope", prestress=100.0)
    model.fix(["m:start", "m:end"], ["x", "y"])
    model.component("c", "rope")
    with pytest.raises(ModelError, match='"rope" is prestressed'):
        read_parameter(model, "modulus:rope")
    study = Modification(assemble_components(model, modes=4), ["EA:rope", "density:rope"])
    # the string's tension is what holds it across
    assert study.sensitivities()[0, 0] == pytest.approx(0.0, abs=1e-9)
    assert study.sensitivities()[1, 0] == pytest.approx(-1.0, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.forward({"density:mast": 0.1}), 'no parameter "density:mast"'),
        (lambda s: s.forward([0.1]), "must be 7 numbers greater than -1"),
        (lambda s: s.forward({"density:arm": -1.0}), "greater than -1"),
        (lambda s: s.full({"density:arm": np.nan}, 2), "greater than -1"),
        (lambda s: s.answer("density:arm", 0, 10.0), "mode = 0 must be a whole number from 1"),
        (lambda s: s.answer("density:arm", 10**6, 10.0), "must be a whole number from 1"),
        (lambda s: s.answer("density:arm", 1, -10.0), "frequency = -10.0 must be a positive number"),
        (lambda s: s.answer("density:arm", 1, "x"), 'frequency = "x" must be a positive number'),
        (lambda s: s.combination({}), "0 required frequencies need 1 to 7 parameters"),
    ],
)
def test_bad_calls(study, call, message):
    with pytest.raises(ModelError, match=message):
        call(study)


def test_models_in_other_processes():
    """A model goes there with what modifications need; an orientation that is a function does not hold it up."""
    model = build()
    model.line("more", (0, 0, 0), (1, 0, 0), 3)
    model.beams("more", "more", "round", "mast", orientation=lambda x: np.tile((0.0, 1.0, 0.0), (len(x), 1)))
    other = pickle.loads(pickle.dumps(model))
    assert read_parameter(other, "diameter:mast").value == 0.03
    assert read_parameter(other, "density:more").groups == ("more",)
    with pytest.raises(ModelError, match='"more" has no diameter; it has density, modulus'):
        read_parameter(other, "diameter:more")
    assert read_parameter(model, "diameter:more").value == 0.03


def test_a_parameter_is_named_once(study):
    with pytest.raises(ModelError, match='Parameter "density:arm": it is named twice'):
        Modification(study.assembly, ["density:arm", "density:arm"])


@pytest.mark.parametrize(
    ("shape", "dimensions", "key", "changed", "unit"),
    [
        ("tube", {"outer_diameter": 0.1, "thickness": 0.01}, "thickness", ["thickness"], "m"),
        ("box", {"height": 0.1, "width": 0.05, "thickness": 0.004}, "thickness",
         ["web_thickness", "flange_thickness"], "m"),
        ("general", {"A": 1e-3, "I": 1e-6, "J": 2e-6}, "I", ["Iy", "Iz"], "m^4"),
        ("stiffness", {"EA": 1e6, "EI": 10.0, "GJ": 5.0, "rhoA": 1.0, "rhoI": 1e-3}, "rhoI",
         ["rhoIx", "rhoIy", "rhoIz"], "kg m"),
    ],
)  # fmt: skip
def test_keys_of_sections(shape, dimensions, key, changed, unit):
    """A key means all of its kind; the elements are those of a section with them."""

    def bar(factor: float) -> Model:
        model = Model(3)
        model.material("steel", E=2.1e11, nu=0.3, density=7850.0)
        model.section("s", shape, **{k: v * (factor if k == key else 1.0) for k, v in dimensions.items()})
        model.line("m", (0, 0, 0), (1, 0, 0), 5)
        model.beams("b", "m", "s", "steel")
        model.fix("m:start")
        model.component("c", "b")
        return model

    model = bar(1.0)
    p = read_parameter(model, f"{key}:b")
    assert (p.linear, p.unit) == (False, unit)
    section, new = model.sections["s"], _scaled(model.sections["s"], key, 0.3)
    assert sorted(k for k in new.dimensions if new.dimensions[k] != section.dimensions[k]) == sorted(changed)
    study = Modification(assemble_components(model, modes=5), [p])
    assert study.full([0.3], 4) == pytest.approx(assemble_components(bar(1.3), modes=2).full_modes(4), rel=1e-9)


def test_sections_that_cannot_be(study):
    model = build()
    model.section("tube", "tube", outer_diameter=0.03, inner_diameter=0.028)
    model.specifications = [
        replace(said, section="tube") if getattr(said, "name", "") == "mast" and hasattr(said, "section") else said
        for said in model.specifications
    ]
    wide = read_parameter(model, "inner_diameter:mast")
    with pytest.raises(ModelError, match='Section "tube"'):
        changed_rows(model, study.assembly.linear.system, [(wide, 0.2)])


# --- the command -----------------------------------------------------------------------------------------------------
FRAME = """
dimension = 2
[material.steel]
E = 2.1e11
density = 7800
[section.bar]
shape = "rectangle"
height = 0.02
width = 0.02
[mesh.f]
polyline = {points = [[0, 0], [0, 1], [1.5, 1], [1.5, 0]], n = 8}
[[beam]]
name = "left"
on = "f:segment_1"
section = "bar"
material = "steel"
[[beam]]
name = "cross"
on = "f:segment_2"
section = "bar"
material = "steel"
[[beam]]
name = "right"
on = "f:segment_3"
section = "bar"
material = "steel"
[[support]]
on = ["f:start", "f:end"]
[[component]]
name = "legs"
groups = ["left", "right"]
[[component]]
name = "beam"
groups = "cross"
"""


@pytest.fixture
def frame_file(tmp_path):
    path = tmp_path / "frame.toml"
    path.write_text(FRAME)
    return path


def call(*arguments) -> str:
    from typer.testing import CliRunner

    result = CliRunner().invoke(app, ["modify", *map(str, arguments)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


@pytest.mark.everyday
def test_command(frame_file, tmp_path):
    out = tmp_path / "a" / "m.json"
    arguments = ("--mode", 2, "--to", 30, "--parameter", "density:beam", "--parameter", "height:cross", "--verify")
    text = call(frame_file, *arguments, "--json", out)
    assert "mode 2: 3" in text
    assert "All parameters together: the least change" in text
    found = json.loads(out.read_text())
    assert found["required"] == [{"mode": 2, "frequency_hz": 30.0}]
    assert [s["parameter"] for s in found["single"]] == ["density:beam", "height:cross"]  # the strongest first
    for single in found["single"]:
        assert single["full_hz"] == pytest.approx(30.0, rel=1e-3)
        assert single["frequencies_hz"][single["mode_then"] - 1] == pytest.approx(30.0, rel=1e-8)
    combination = found["combination"]
    assert combination["full_hz"][combination["modes"][0] - 1] == pytest.approx(30.0, rel=1e-3)
    assert np.array(found["sensitivities"]).shape == (2, len(found["frequencies_hz"]))
    assert found["cutoff_hz"] == 90.0


def test_command_names_the_units_of_its_numbers(frame_file, tmp_path):
    """The numbers of a model whose base is no SI stood beside SI units."""
    other = tmp_path / "other.toml"
    other.write_text('units = { base = "mm t s", frequency = "1/min" }\n' + frame_file.read_text(), encoding="utf-8")
    arguments = ("--mode", 2, "--to", 30, "--parameter", "density:beam", "--parameter", "height:cross", "--modes", 5)
    text = " ".join(call(other, *arguments).split())
    assert "-> 1800 1/min" in text
    assert "t/mm^3" in text
    assert " kg/m^3" not in text
    assert " Hz" not in text


def test_command_says_which_answers_are_rough(frame_file, monkeypatch, tmp_path):
    """Where new modes of components lead to no answer, that of the baseline's modes is given as such."""
    from fem_mbs.analysis.components import modification

    monkeypatch.setattr(modification, "_ROUNDS", 0)
    out = tmp_path / "m.json"
    text = call(frame_file, "--mode", 2, "--to", 30, "--parameter", "height:cross", "--json", out)
    assert "~ in the modes of the baseline" in text
    assert "all together: in the modes of the baseline" in text
    found = json.loads(out.read_text())
    assert found["single"][0]["baseline_modes"]
    assert found["combination"]["baseline_modes"]
    assert found["combination"]["alphas"][0] == pytest.approx(found["single"][0]["alpha"], rel=1e-6)


def test_command_says_which_answers_lack_modes(frame_file, tmp_path):
    """A component that gets so heavy that its modes kept end below the frequency gives a wrong answer, marked as such;
    with more modes it is right, and not marked."""
    for modes, marked in ((2, True), (8, False)):
        out = tmp_path / f"m{modes}.json"
        arguments = ("--mode", 2, "--to", 38, "--parameter", "density:beam", "--parameter", "density:legs")
        text = call(frame_file, *arguments, "--modes", modes, "--verify", "--json", out)
        assert ("! modes of the changed component" in text) == marked
        assert text.count("! +") == marked  # of the legs alone
        legs = next(s for s in json.loads(out.read_text())["single"] if s["parameter"] == "density:legs")
        assert (abs(legs["full_hz"] / 38.0 - 1.0) > 0.01) == marked
        assert legs["modes_lacking"] == marked


def test_command_for_several_modes(frame_file):
    text = call(frame_file, "--mode", 1, "--to", 11, "--mode", 2, "--to", 33, "--modes", 5)
    assert text.count("One parameter at a time") == 2
    assert "density:legs" in text
    assert "modulus:beam" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--mode", 2, "--to", 30, "--to", 31), "as often as each other"),
        (("--mode", 2, "--to", 30, "--mode", 2, "--to", 31), "can be given once"),
        (("--mode", 2, "--to", 30, "--cutoff", 9, "--modes", 3), "exclude each other"),
        (("--mode", 2, "--to", -1), "positive number"),
        (("--mode", 500, "--to", 30), "mode = 500"),
        (("--mode", 2, "--to", 30, "--parameter", "density:leg"), 'did you mean "legs"'),
        (("--mode", 2, "--to", 30, "--cutoff", -3), "must be a positive frequency"),
    ],
)
def test_bad_commands(frame_file, arguments, message):
    with pytest.raises(ModelError, match=message):
        call(frame_file, *arguments)


def test_command_without_an_answer(frame_file, tmp_path):
    """A frequency that no change gives ends so; what was found stands in the file all the same."""
    out = tmp_path / "m.json"
    with pytest.raises(AnalysisError, match="no change of these parameters brings mode 2 to 1e\\+09 Hz"):
        call(frame_file, "--mode", 2, "--to", 1e9, "--parameter", "density:beam", "--modes", 4, "--json", out)
    assert json.loads(out.read_text())["combination"] is None


def test_command_wants_components(frame_file):
    frame_file.write_text(FRAME.partition("[[component]]")[0])
    with pytest.raises(ModelError, match="the model has none"):
        call(frame_file, "--mode", 1, "--to", 30)
    with pytest.raises(ModelError, match="decks name no components"):
        call("part.inp", "--mode", 1, "--to", 30)
