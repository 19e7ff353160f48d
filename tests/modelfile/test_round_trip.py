"""Model -> model file -> model is the identity, over the validation models: equal declarations, bit-equal arrays."""

import inspect
import pickle
from copy import copy
from importlib import import_module

import pytest
from places import ROOT
from test_model_text import arrays

from fem_mbs import Mesh, Model, ModelError
from fem_mbs.modelfile.read import load_model
from fem_mbs.modelfile.writer import write_model
from fem_mbs.validation.case import Findings

NAMES = sorted(p.stem for p in (ROOT / "validation").glob("*_[12][0-9][0-9][0-9]_*.py"))
RUNS = (
    "solve",
    "linearise",
    "reduce_part",
    "complex_modes",
    "tangent_check",
    "newton_residuals",
    "assemble_components",
)
#: Models that hold what no file can: parts made in Python, steps of one name.
NOT_IN_FILES = {
    "badlani_kleinhenz_1979_slider_crank": "two steps of this name",
    "melzer_1993_reduced_bodies": "part is a ReducedPart",
}
#: Models with meshes of Python, which a file holds node by node: other declarations, the same arrays.
WITH_MESHES = {
    "barton_1951_plates",
    "bathe_wilson_1972_frames",
    "blevins_1979_formulas",
    "cook_1981_shells",
    "crandall_dahl_1959_mechanics_of_solids",
    "dugdale_1966_disc",
    "lawrence_1987_rotating_plate",
    "leissa_1973_plates",
    "reddy_1984_laminates",
    "roark_1965_formulas",
    "timoshenko_1959_plates_and_shells",
    "timoshenko_1970_curved_bar",
    "herting_1978_truss_synthesis",
    "hertz_1882_half_space",
    "hutton_smith_1993_telescope",
    "macneal_harder_1985_shells",
    "nafems_1990_axisymmetric_vibration",
    "nafems_1990_le1_le10",
    "nafems_1990_shells",
    "nafems_1995_laminates",
    "simo_tarnow_1994_free_shells",
    "sze_2004_cylinders",
    "sze_2004_shells",
    "timoshenko_1961_plates_and_cylinders",
    "vogel_skinner_1965_annular_plate",
}


class Caught(Exception):
    """Carries the first model that a validation file runs."""


def built(name, monkeypatch) -> Model:
    """The model of a validation file: of its `build` without arguments, else the first that its check runs."""
    module = import_module(f"fem_mbs.validation.{name}")
    parameters = inspect.signature(module.build).parameters.values()
    if all(p.default is not p.empty or p.kind is p.VAR_KEYWORD for p in parameters):
        return module.build()

    def catch(model, *args, **options):
        raise Caught(model)

    for run in RUNS:
        if hasattr(module, run):
            monkeypatch.setattr(module, run, catch)
    with pytest.raises(Caught) as caught:
        module.check(Findings())
    return caught.value.args[0]


@pytest.mark.parametrize("name", NAMES)
def test_validation_models(name, monkeypatch, tmp_path):
    model = built(name, monkeypatch)
    path = tmp_path / "model.toml"
    if name in NOT_IN_FILES:
        with pytest.raises(ModelError, match=NOT_IN_FILES[name]):
            write_model(model, path)
        return
    write_model(model, path)
    again = load_model(path)
    assert name in WITH_MESHES or again.specifications == model.specifications
    assert [(s.kind, s.name, s.options) for s in again.steps] == [(s.kind, s.name, s.options) for s in model.steps]
    whole = arrays(again.compile())
    assert whole == arrays(model.compile())
    refuse(again)
    assert arrays(again.compile()) == whole


def refuse(model: Model) -> None:
    """Make a call that the model refuses when a part of it has been built."""
    with pytest.raises(ModelError, match="no such place"):
        model.joint("refused", "revolute", a="ground", b="no such place", point=[0.0] * model.dimension)


def frame() -> Model:
    """A plane frame of Python calls in another order than that of the tables."""
    model = Model(2)
    model.node("tip", (2.0, 1.0))
    model.body("block", (3.0, 0.0), 1.0, 0.1)
    model.material("steel", E=2.1e11, density=7850.0)
    model.section("bar", "circle", diameter=0.02)
    model.line("beam", (0.0, 0.0), (2.0, 0.0), 3)
    model.beams("beam", on="beam", material="steel", section="bar")
    model.body("other", (4.0, 0.0), 1.0, 0.1)
    model.fix("beam:start")
    model.spring("spring", "tip", "beam:end", stiffness=10.0)
    model.point_mass("mass", at="tip", mass=1.0)
    model.joint("pin", "pin", a="beam:end", b="block", point=(2.0, 0.0))
    model.spring("second", "other", "block", stiffness=1.0)
    return model


def test_calls_in_another_order_keep_their_numbers(tmp_path):
    model = frame()
    write_model(model, tmp_path / "model.toml")
    again = load_model(tmp_path / "model.toml")
    assert [again.node_name(i) for i in range(again.n_nodes)] == [model.node_name(i) for i in range(model.n_nodes)]
    assert again.specifications == model.specifications
    assert arrays(again.compile()) == arrays(model.compile())
    text = (tmp_path / "model.toml").read_text(encoding="utf-8")
    order = next(line for line in text.splitlines() if line.startswith("order = "))
    for wrong, message in (
        (order.replace('"node.tip", ', ""), 'order lacks "node.tip"'),
        (order.replace('"node.tip"', '"node.top"'), 'order names "node.top", which no table is'),
        (order.replace('"node.tip"', '"node.tip", "node.tip"'), 'order names "node.tip" twice'),
    ):
        (tmp_path / "wrong.toml").write_text(text.replace(order, wrong), encoding="utf-8")
        with pytest.raises(ModelError, match=message):
            load_model(tmp_path / "wrong.toml")
    (tmp_path / "plain.toml").write_text(text.replace(order + "\n", ""), encoding="utf-8")
    assert load_model(tmp_path / "plain.toml").positions.tolist() != model.positions.tolist()


def test_terms_of_equations_may_be_tuples_with_numbers_of_nodes(tmp_path):
    model = frame()
    model.equation("level", [(0, "y", 1.0), ("beam:end", "y", -1.0)])
    write_model(model, tmp_path / "model.toml")
    again = load_model(tmp_path / "model.toml")
    assert again.specifications[-1].terms == [
        {"on": "tip", "component": "y", "coefficient": 1.0},
        {"on": "beam:end", "component": "y", "coefficient": -1.0},
    ]
    assert arrays(again.compile()) == arrays(model.compile())


def test_materials_of_solids_stay_such(tmp_path):
    model = Model(2)
    model.solid_material("rubber", E=1e6, nu=0.45, density=1e3)
    write_model(model, tmp_path / "model.toml")
    again = load_model(tmp_path / "model.toml")
    assert set(again.solid_materials) == {"rubber"}
    assert not again.materials
    assert again.specifications == model.specifications


def test_models_with_files(tmp_path):
    """A mesh file and a table in a CSV file stand in the new file with their places, wherever that is."""
    from fem_mbs.meshes.generate import line, write_msh

    write_msh(line((0.0, 0.0), (1.0, 0.0), 2), tmp_path / "bar.msh")
    (tmp_path / "load.csv").write_text("t,f\n0,0\n1,5\n2,3\n", encoding="utf-8")
    (tmp_path / "model.toml").write_text(
        "dimension = 2\n[material.m]\nE = 1e9\ndensity = 1e3\n[section.s]\nshape = 'circle'\ndiameter = 0.01\n"
        "[mesh.bar]\nfile = 'bar.msh'\n[function.f]\nkind = 'csv'\nfile = 'load.csv'\n"
        "[[beam]]\nname = 'b'\non = 'bar'\nmaterial = 'm'\nsection = 's'\n[[support]]\non = 'bar:start'\n"
        "[[force]]\non = 'bar:end'\nvector = [0.0, 1.0]\nfunction = 'f'\n",
        encoding="utf-8",
    )
    model = load_model(tmp_path / "model.toml")
    (tmp_path / "sub").mkdir()
    write_model(model, tmp_path / "sub" / "again.toml")
    again = load_model(tmp_path / "sub" / "again.toml")
    assert arrays(again.compile()) == arrays(model.compile())
    assert isinstance(again.meshes["bar"][0], Mesh)


def test_refused_calls_leave_nothing_in_the_model():
    """Their names are free again, their nodes, supports and copies are gone; nothing else moves."""
    model = frame()
    model.spring("spring2", "other", "block", stiffness=2.0)
    model.warnings = ["a sentence"]
    before, said, nodes = arrays(model.compile()), list(model.specifications), model.n_nodes
    with pytest.raises(ModelError, match="inertia"):
        model.body("late", (5.0, 0.0), 1.0, -0.1)
    with pytest.raises(ModelError, match="ghost"):
        model.fix(["beam:end", "ghost"])
    with pytest.raises(ModelError, match="is already taken"):  # after a copy of the beam
        model.copy(["beam", "spring"], suffix="2", translate=(0.0, 1.0))
    assert (model.specifications, model.n_nodes, model.warnings) == (said, nodes, ["a sentence"])
    assert arrays(model.compile()) == before
    model.body("late", (5.0, 0.0), 1.0, 0.1)
    assert model.n_nodes == nodes + 1


def test_a_copy_of_a_model_is_a_model_of_its_own():
    """Calls of either, refused ones too, leave the other alone; so does a pickled one."""
    model = frame()
    before = arrays(model.compile())
    other = copy(model)
    other.spring("more", "tip", "block", stiffness=3.0)
    refuse(other)
    assert arrays(model.compile()) == before
    whole = arrays(other.compile())
    assert whole != before
    refuse(model)
    model.body("late", (5.0, 0.0), 1.0, 0.1)
    assert arrays(other.compile()) == whole
    again = pickle.loads(pickle.dumps(other))
    refuse(again)
    assert arrays(again.compile()) == whole
