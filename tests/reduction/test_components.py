"""Component mode synthesis of models against the whole: interfaces, links, joints, equations, couplings, plates."""

from __future__ import annotations

import numpy as np
import pytest
from flexible_parts import beam, reduced
from scipy.sparse import csr_matrix, diags

from fem_mbs import AnalysisError, Model, ModelError, assemble_components, load_model, solve
from fem_mbs.cli.check import explain
from fem_mbs.solvers.reduction.substructures import Reduced, Substructure, couple

ALL = 10_000  # more modes than a component has


def frame(**options) -> Model:
    """Two clamped legs and a crossbeam in the plane; no components."""
    model = Model(2)
    model.section("leg", "stiffness", EA=8.4e7, EI=2800.0, rhoA=3.1)
    model.section("beam", "stiffness", EA=2.8e7, EI=930.0, rhoA=1.1)
    model.polyline("f", [(0.0, 0.0), (0.0, 1.0), (1.5, 1.0), (1.5, 0.0)], [8, 12, 8])
    model.beams("left", "f:segment_1", "leg")
    model.beams("cross", "f:segment_2", "beam")
    model.beams("right", "f:segment_3", "leg")
    model.fix(["f:start", "f:end"])
    return model


def three(model: Model, **settings) -> Model:
    for name in ("left", "cross", "right"):
        model.component(name, name, **settings)
    return model


def space() -> Model:
    """A bent beam in space, clamped at one end, its arm a component of its own."""
    model = Model(3)
    model.material("steel", E=2.1e11, nu=0.3, density=7850.0)
    model.section("tube", "tube", outer_diameter=0.04, thickness=0.003)
    model.polyline("l", [(0, 0, 0), (0, 0, 1.2), (0.8, 0.3, 1.2)], [8, 7])
    model.beams("mast", "l:segment_1", "tube", "steel")
    model.beams("arm", "l:segment_2", "tube", "steel")
    model.fix("l:start")
    model.component("mast", "mast")
    model.component("arm", "arm")
    return model


def test_dofs_of_several_components_are_interfaces():
    a = assemble_components(three(frame()), cutoff=3000.0)
    f = a.full_modes(8)
    assert a.frequencies[:8] == pytest.approx(f, rel=2e-4)
    assert (a.frequencies[:8] >= f * (1.0 - 1e-9)).all()
    assert a.conditions == 6
    assert a.coupled.free == 0
    assert a.coupled.size == sum(a.kept.values())
    assert a.coupled.gap < 1e-13


def test_all_modes_give_the_whole_model():
    """Without residual flexibility the interface closes by conditions on the amplitudes."""
    a = assemble_components(three(frame()), modes=ALL)
    n = a.linear.stiffness.shape[0]
    assert a.coupled.size == n
    assert a.coupled.free == 6
    assert a.frequencies == pytest.approx(a.full_modes(n), rel=1e-6)


def test_shapes_are_those_of_the_whole_model():
    model = space()
    a = assemble_components(model, cutoff=3000.0)
    X = a.shapes(count=4)
    linear = a.linear
    assert X.shape == (linear.system.n_dof, 4)
    q = X[linear.elimination.free]
    assert q.T @ (linear.mass @ q) == pytest.approx(np.eye(4), abs=1e-6)
    assert np.diag(q.T @ (linear.stiffness @ q)) == pytest.approx(a.coupled.values[:4], rel=1e-9)


def test_free_model_has_rigid_body_modes():
    model = three(frame())
    model.building.fixed.clear()
    a = assemble_components(model, cutoff=2000.0)
    f = a.full_modes(7)
    assert (np.abs(a.frequencies[:3]) < 1e-3 * f[3]).all()
    assert a.frequencies[3:7] == pytest.approx(f[3:], rel=1e-3)


def test_settings_of_components():
    model = frame()
    model.component("left", "left", modes=2)
    model.component("cross", "cross")
    model.component("right", "right", cutoff=400.0)
    a = assemble_components(model, modes={"cross": 5})
    assert a.kept["left"] == 2
    assert a.kept["cross"] == 8
    right = a.coupled.parts[2].modes.frequencies
    assert (right <= 400.0).all()
    assert right.size >= 1


@pytest.mark.parametrize("stiffness", [1e3, 1e6, 1e12])
def test_springs_between_components_are_links(stiffness):
    """From soft to as good as rigid."""
    model = frame()
    model.line("stay", (0.0, 0.5), (1.5, 0.5), 10)
    model.beams("stay", "stay", "beam")
    three(model)
    model.component("stay", "stay")
    for end, leg in (("start", "f 5"), ("end", "f 25")):
        node = next(i for i in range(model.n_nodes) if model.node_name(i) == leg)
        for c in ("x", "y", "rotation"):
            model.nodal_spring(f"{end} {c}", f"stay:{end}", c, stiffness, against=node)
    a = assemble_components(model, cutoff=3000.0)
    assert a.ends.size == 12
    assert a.frequencies[:8] == pytest.approx(a.full_modes(8), rel=1e-3)


def test_springs_and_masses_within_a_component_belong_to_it():
    model = three(frame())
    model.nodal_spring("ground", "f:corner_2", "x", 2e5)
    model.point_mass("lump", "f:segment_2", 0.2)
    a = assemble_components(model, cutoff=3000.0)
    assert not a.links
    assert a.ends.size == 0
    f = a.full_modes(6)
    assert a.frequencies[:6] == pytest.approx(f, rel=1e-3)
    assert f[0] != pytest.approx(assemble_components(three(frame()), modes=3).full_modes(1)[0], rel=0.05)


def test_joints_between_components():
    """A pin that shares unknowns, one with multipliers, and a joint within a component."""
    for elimination in (True, False):
        model = Model(2, elimination=elimination)
        model.section("s", "stiffness", EA=8.4e6, EI=2800.0, rhoA=3.0)
        for i, (a, b) in enumerate((((0, 0), (0, 1)), ((0, 1), (1, 1)), ((1, 1), (2, 1)), ((2, 1), (2, 0)))):
            model.line(f"m{i}", a, b, 8)
            model.beams(f"b{i}", f"m{i}", "s")
        model.joint("pin", "pin", "m0:end", "m1:start")
        model.joint("weld", "weld", "m1:end", "m2:start")
        model.joint("hinge", "pin", "m2:end", "m3:start")
        model.fix(["m0:start", "m3:end"])
        model.component("left", "b0")
        model.component("beam", ["b1", "b2"])
        model.component("right", "b3")
        a = assemble_components(model, cutoff=3000.0)
        # the weld is a matter of the beam alone
        assert a.parts[1].T.shape[1] < a.parts[1].dofs.size
        assert a.conditions == 4
        assert a.frequencies[:8] == pytest.approx(a.full_modes(8), rel=1e-3)


def test_couplings_and_equations_between_components():
    """A reference that belongs to nothing else, of a rigid and a distributing coupling, and an equation."""
    model = Model(3)
    model.material("steel", E=2.1e11, nu=0.3, density=7850.0)
    model.section("tube", "tube", outer_diameter=0.04, thickness=0.003)
    for i, (y, z) in enumerate(((0.0, 0.0), (0.2, 0.15), (0.4, 0.0))):
        model.line(f"m{i}", (0, y, z), (1, y, z), 6)
        model.beams(f"b{i}", f"m{i}", "tube", "steel")
        model.fix(f"m{i}:start")
    model.line("far", (1.2, 0.2, 0), (2, 0.2, 0), 6)
    model.beams("far", "far", "tube", "steel")
    model.node("hub", (1.1, 0.2, 0.0))
    model.coupling("spread", "hub", ["m0:end", "m1:end", "m2:end"], "distributing")
    model.coupling("stiff", "hub", ["far:start"], "rigid")
    model.equation("same", [("m0:end", "z", 1.0), ("m2:end", "z", -1.0)])
    model.component("near", ["b0", "b1", "b2"])
    model.component("far", "far")
    a = assemble_components(model, cutoff=4000.0)
    assert a.frequencies[:8] == pytest.approx(a.full_modes(8), rel=1e-3)
    assert a.coupled.gap < 1e-10


def test_repeated_conditions_do_no_harm():
    """A pin between nodes that an equation ties too."""
    model = Model(2, elimination=False)
    model.section("s", "stiffness", EA=8.4e6, EI=2800.0, rhoA=3.0)
    for i, (a, b) in enumerate((((0, 0), (0, 1)), ((0, 1), (1, 1)))):
        model.line(f"m{i}", a, b, 8)
        model.beams(f"b{i}", f"m{i}", "s")
        model.component(f"c{i}", f"b{i}")
    model.joint("pin", "pin", "m0:end", "m1:start")
    model.equation("again", [("m1:start", "x", 1.0), ("m0:end", "x", -1.0)])
    model.fix(["m0:start", "m1:end"])
    a = assemble_components(model, cutoff=4000.0)
    assert a.conditions == 3
    assert a.coupled.free == 0
    assert a.frequencies[:5] == pytest.approx(a.full_modes(5), rel=1e-3)


def test_rigid_bodies_are_components():
    """A body alone has rigid-body modes only; welded to a beam it closes the interface with its amplitudes."""
    model = space()
    model.body("block", (0.8, 0.3, 1.2), 4.0, (0.02, 0.03, 0.04))
    model.joint("weld", "weld", "l:end", "block")
    model.component("block", "block")
    a = assemble_components(model, cutoff=3000.0)
    assert a.kept["block"] == 6
    assert a.frequencies[:6] == pytest.approx(a.full_modes(6), rel=1e-3)


def test_what_belongs_to_no_component():
    model = space()
    model.line("more", (0.8, 0.3, 1.2), (1.2, 0.3, 1.2), 4)
    model.beams("more", "more", "tube", "steel")
    model.joint("weld", "weld", "l:end", "more:start")
    with pytest.raises(ModelError, match='"more" is joined, belongs to no component; add "more"'):
        assemble_components(model, cutoff=1000.0)


def test_several_thousand_dofs_of_solids():
    """Plane parts that share an edge: unstructured sparse matrices, two blocks of components."""
    from fem_mbs import Mesh

    nx, ny = 60, 12
    x, y = np.meshgrid(np.linspace(0.0, 2.0, nx + 1), np.linspace(0.0, 0.3, ny + 1), indexing="ij")
    node = np.arange((nx + 1) * (ny + 1)).reshape(nx + 1, ny + 1)
    cells = np.stack((node[:-1, :-1], node[1:, :-1], node[1:, 1:], node[:-1, 1:]), axis=-1).reshape(-1, 4)
    half = len(cells) // 2
    sets = {"a": [(0, np.arange(half))], "b": [(0, np.arange(half, len(cells)))]}
    model = Model(2)
    model.material("steel", E=2.1e11, nu=0.3, density=7850.0)
    model.mesh("plate", Mesh(np.column_stack((x.ravel(), y.ravel())), [("quad", cells)], {"wall": node[0]}, sets))
    for name in "ab":
        model.planes(name, f"plate:{name}", "steel", thickness=0.01)
        model.component(name, name)
    model.fix("plate:wall", ["x", "y"])
    a = assemble_components(model, cutoff=2500.0)
    assert a.conditions == 2 * (ny + 1)
    f = a.full_modes(8)
    low = f < 1200.0
    assert low.sum() >= 4
    assert a.frequencies[: low.sum()] == pytest.approx(f[low], rel=1e-3)


# --- errors ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("a", ["lef"]), 'no group of elements "lef"; did you mean "left"'),
        (("a", []), "it has no groups"),
        (("a", ["left", "left"]), "named twice"),
        (("", ["left"]), "is not a name"),
        (("a", ["left"], -1), "modes = -1 must be a whole number"),
        (("a", ["left"], True), "modes = true must be a whole number"),
        (("a", ["left"], 3, 10.0), "exclude each other"),
        (("a", ["left"], None, 0.0), "greater than 0"),
        (("a", ["pin"]), 'no group of elements "pin"'),
    ],
)
def test_bad_components(call, message):
    model = frame()
    model.node("peg", (0.0, 1.0))
    model.joint("pin", "pin", "f:corner_2", "peg")
    with pytest.raises(ModelError, match=message):
        model.component(*call)


def test_a_group_belongs_to_one_component():
    model = three(frame())
    with pytest.raises(ModelError, match='"left" belongs to component "left"'):
        model.component("again", "left")
    with pytest.raises(ModelError, match='Component "left": the name is already taken'):
        model.component("left", "cross")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, 'Component "left": give a cut-off frequency or a number of modes'),
        ({"cutoff": 10.0, "modes": 1}, "give a cut-off"),
        ({"cutoff": -1.0}, "cutoff = -1.0 must be a positive frequency"),
        ({"modes": 1.5}, "modes = 1.5 must be a whole number"),
        ({"modes": {"lef": 2}}, 'no component "lef"; did you mean "left"'),
        ({"modes": {"left": 2}}, 'Component "cross": give a cut-off'),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ModelError, match=message):
        assemble_components(three(frame()), **settings)


def test_models_that_cannot_be_taken_apart():
    with pytest.raises(ModelError, match="the model has none"):
        assemble_components(frame(), modes=3)
    model = Model(2)
    model.section("s", "stiffness", EA=8.4e6, EI=2800.0, rhoA=0.0)
    model.line("m", (0, 0), (1, 0), 2)
    model.beams("b", "m", "s")
    model.component("beam", "b")
    with pytest.raises(AnalysisError, match=r'Component "beam": .*nothing that can move has a mass'):
        assemble_components(model, modes=3)
    model = three(frame())
    model.fix("f:segment_2")
    with pytest.raises(ModelError, match='Component "cross": supports hold all of it'):
        assemble_components(model, modes=3)


def test_couple_refuses_shapes_that_do_not_fit():
    part = Substructure("a", diags([1.0, 2.0]).tocsr(), diags([1.0, 1.0]).tocsr(), csr_matrix(np.eye(2)))
    reduced = Reduced(part, part.modes(count=1))
    with pytest.raises(ValueError, match="Links must have shape"):
        couple([reduced], 1, np.eye(2))
    with pytest.raises(AnalysisError, match="nothing is left that can move"):
        couple([Reduced(part, part.modes(count=2))], 2)


# --- modal steps -----------------------------------------------------------------------------------------------------
def test_modal_step_by_components():
    """The same frequencies, shapes and participation as of the whole model."""
    model = space()
    model.modes_step(count=5, name="whole")
    model.modes_step(count=5, name="parts", component_cutoff=4000.0)
    solution = solve(model)
    whole, parts = (solution.steps[i].summary for i in (0, 1))
    assert parts["frequencies_hz"] == pytest.approx(whole["frequencies_hz"], rel=1e-4)
    assert max(parts["residuals"]) < 0.02
    assert np.array(parts["participation"]["effective_mass"]) == pytest.approx(
        np.array(whole["participation"]["effective_mass"]), abs=2e-3 * max(whole["participation"]["total"])
    )
    assert parts["components"]["kept"].keys() == {"mast", "arm"}
    assert parts["components"]["unknowns"] == sum(parts["components"]["kept"].values())
    assert "components" not in whole
    a, b = (solution.steps[i].frames["displacement"].reshape(5, -1) for i in (0, 1))
    mac = np.einsum("ki,ki->k", a, b) ** 2 / (np.einsum("ki,ki->k", a, a) * np.einsum("ki,ki->k", b, b))
    assert mac.min() > 0.999


def test_modal_step_of_a_free_model():
    model = three(frame())
    model.building.fixed.clear()
    model.modes_step(count=6, component_cutoff=2000.0)
    summary = solve(model).steps[0].summary
    assert summary["rigid_body_modes"] == 3
    assert summary["frequencies_hz"][:3] == [0.0, 0.0, 0.0]
    assert summary["frequencies_hz"][3] > 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"component_cutoff": -1.0}, "component_cutoff = -1.0 must be a positive frequency"),
        ({"component_cutoff": "x"}, 'component_cutoff = "x" must be a positive frequency'),
        ({"component_cutoff": 9.0, "near": 3.0}, "component_cutoff and near exclude each other"),
        ({"component_cutoff": 9.0, "band": (1.0, 3.0)}, "component_cutoff and band exclude each other"),
    ],
)
def test_bad_modal_steps(options, message):
    model = three(frame())
    with pytest.raises(ModelError, match=message):
        model.modes_step(count=3, **options)
        solve(model)


def test_modal_steps_that_cannot_be():
    model = frame()
    model.modes_step(count=3, component_cutoff=500.0)
    with pytest.raises(ModelError, match="component_cutoff needs components"):
        solve(model)
    model = three(frame())
    model.force("push", "f:corner_2", (1.0, 0.0))
    model.static_step()
    model.modes_step(count=3, component_cutoff=500.0)
    with pytest.raises(AnalysisError, match="about the start, at rest and without loads"):
        solve(model)


def test_model_file(tmp_path):
    path = tmp_path / "frame.toml"
    path.write_text(
        """
dimension = 2
[section.s]
shape = "stiffness"
EA = 8.4e7
EI = 2800.0
rhoA = 3.1
[mesh.f]
polyline = {points = [[0, 0], [0, 1], [1.5, 1]], n = 8}
[[beam]]
name = "mast"
on = "f:segment_1"
section = "s"
[[beam]]
name = "arm"
on = "f:segment_2"
section = "s"
[[support]]
on = "f:start"
[[component]]
name = "mast"
groups = "mast"
modes = 4
[[component]]
name = "arm"
groups = ["arm"]
cutoff = 900
[[step]]
type = "modes"
count = 3
component_cutoff = 700
"""
    )
    assert {'component "mast": mast', 'component "arm": arm'} <= set(explain(path))
    model = load_model(path)
    assert model.components["mast"].modes == 4
    assert model.components["arm"].cutoff == 900.0
    a = assemble_components(model)
    assert a.frequencies[:3] == pytest.approx(a.full_modes(3), rel=1e-4)
    assert solve(model).steps[0].summary["frequencies_hz"] == pytest.approx(a.frequencies[:3], rel=1e-9)
    path.write_text(path.read_text().replace('groups = "mast"', 'groups = "mas"'))
    with pytest.raises(ModelError, match=r'\[\[component\]\] "mast": no group of elements "mas"; did you mean "mast"'):
        load_model(path)


# --- reduced parts and beams with held strains ---------------------------------------------------------------------
@pytest.mark.parametrize("own", [True, False])
def test_reduced_parts_are_components_or_belong_to_one(own):
    """A part that was reduced before hangs on a beam: coordinates of no node, and constraints of its own."""
    part = reduced(beam(n=6, length=0.8), {"a": "rod:start", "b": "rod:end"}, modes=8)
    model = Model(3)
    model.material("steel", E=2.1e11, nu=0.3, density=7850.0)
    model.section("tube", "tube", outer_diameter=0.04, thickness=0.003)
    model.polyline("l", [(0, 0, 0), (0, 0, 1.2), (0, 0.6, 1.2)], [6, 4])
    model.beams("mast", "l:segment_1", "tube", "steel")
    model.beams("yard", "l:segment_2", "tube", "steel")
    model.fix("l:start")
    model.reduced_part("arm", part, position=(0.0, 0.6, 1.2))
    model.joint("weld", "weld", "l:end", "arm:a")
    model.component("mast", "mast")
    model.component("yard", ["yard"] if own else ["yard", "arm"])
    if own:
        model.component("arm", "arm")
    a = assemble_components(model, cutoff=4000.0)
    f = a.full_modes(8)
    assert a.frequencies[:8] == pytest.approx(f, rel=1e-3)
    assert f[0] > 1.0


def test_beams_with_held_strains():
    """Their constraints are within their component; left out of all, they are missed."""
    model = frame()
    model.line("tail", (1.5, 1.0), (2.1, 1.0), 5)
    model.beams("tail", "tail", "beam", inextensible=True)
    model.joint("weld", "weld", "f:corner_3", "tail:start")
    three(model)
    with pytest.raises(ModelError, match='"tail" is joined, belongs to no component'):
        assemble_components(model, cutoff=2000.0)
    model.component("tail", "tail")
    a = assemble_components(model, cutoff=3000.0)
    assert a.frequencies[:6] == pytest.approx(a.full_modes(6), rel=1e-3)
