"""Reports of steps: the schema of summary.json is generated from them, and every kind of step writes what they say."""

from __future__ import annotations

import json
from dataclasses import dataclass

import jsonschema
import numpy as np
import pytest
from places import ROOT, SCHEMA

from fem_mbs import Model, Results, run, solve
from fem_mbs.analysis.steps.transient import TransientReport
from fem_mbs.declarations.steps import step_kinds
from fem_mbs.records import ABSENT, Absent, Record, Schema, entry
from fem_mbs.results.report import StepReport, Summary, report_classes, report_of
from fem_mbs.results.summary_schema import text


def test_the_committed_schema_is_the_generated_one():
    committed = (ROOT / "docs" / "summary.schema.json").read_text(encoding="utf-8")
    assert committed == text(), "run python -m fem_mbs.results.summary_schema > docs/summary.schema.json"
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


# --- all kinds of steps -----------------------------------------------------------------------------------------------
def beam() -> Model:
    """A cantilever in the plane with a load, a pendulum at its end, sensors and a check."""
    m = Model(2, "beam", gravity=(0, -9.81))
    m.section("s", "stiffness", EA=1e5, EI=20.0, rhoA=1.0)
    m.line("a", (0, 0), (1, 0), 2)
    m.beams("a", "a", "s", damping=1e-3)
    m.fix("a:start")
    m.force("push", "a:end", (0.0, -1.0))
    m.force("press", "a:end", (-1.0, 0.0))
    m.sensor("tip", "displacement", on="a:end")
    m.sensor("wall", "reaction", on="a:start")
    return m


def in_time() -> Model:
    m = beam()
    m.check("tip", "tip.y", reference=0.0, tolerance=1.0, quantity="final")
    m.static_step(2)
    m.transient_step(0.04, 0.01, name="plain", eigenvalues={"count": 2, "every": 2})
    m.transient_step(0.04, 0.01, name="adaptive", adaptive=1e-3)
    return m


def path() -> Model:
    m = beam()
    m.static_step(name="arc", control="arc", stability=True, points=4, until=0.5)
    return m


def events() -> Model:
    m = beam()
    m.event("down", "tip.y", -1e-4, "falling", action="off", target="push")
    m.transient_step(0.04, 0.01)
    return m


def about_a_state() -> Model:
    m = beam()
    m.linear_static_step(loads="push")
    m.linear_transient_step(0.02, 0.01, rule="newmark")
    m.modes_step(3)
    m.modes_step(3, name="some", within=(0.0, 50.0), check="inertia")
    m.buckling_step(1, loads="press")
    m.complex_modes_step(2)
    m.complex_modes_step(2, name="right-most", which="rightmost", reach=1e3)
    m.linearise_step()
    m.linearise_step("ports", inputs=["push"], sensors=["tip"])
    m.harmonic_step([1.0, 2.0], loads="push")
    m.harmonic_step([1.0, 2.0], "modal", loads="push", method="modal", modes=3)
    return m


def driven() -> Model:
    m = Model(2, gravity=(0, -9.81))
    m.body("link", mass=2.0, inertia=0.2, position=(0.5, 0))
    m.joint("j", "revolute", "ground", "link", point=(0, 0), function="0.8*(1 - cos(3*t))")
    m.inverse_step(0.1, 0.02)
    m.inverse_step(0.1, 0.02, name="slow", dynamic=False)
    return m


def along_a_path() -> Model:
    m = Model(2, gravity=(0, -9.81))
    m.body("link", mass=2.0, inertia=0.2, position=(0.5, 0))
    m.joint("j", "revolute", "ground", "link", point=(0, 0))
    m.sensor("turn", "rotation", on="link")
    m.inverse_path_step(0.2, 0.0025, outputs={"turn": "0.3*(5*t - sin(10*pi*t)/(2*pi))"}, efforts=["j"])
    return m


def inverted() -> Model:
    m = Model(2, gravity=(0.0, -9.81))
    m.body("b", (0.0, 0.5), mass=2.0, inertia=0.1)
    m.joint("j", "revolute", "ground", "b", point=(0.0, 0.0))
    m.joint_spring("s", "j", 5.0, 0.3)
    m.stability_map_step([{"element": "s", "number": "stiffness", "values": [5.0, 12.0]}], count=2, refine=3)
    return m


def rotor() -> Model:
    m = Model(3)
    m.node("hub", (0, 0, 0))
    m.disc("disc", "hub", 2.0, 0.02, 0.05, axis=(1, 0, 0))
    m.fix("hub", ["x"])
    for end, x in (("left", -0.15), ("right", 0.15)):
        m.node(end, (x, 0, 0))
        for axis in "yz":
            m.nodal_spring(f"{end} {axis}", end, axis, 2e4, 10.0)
    m.coupling("shaft", "hub", ["left", "right"])
    m.rotor("rotor", axis=(1, 0, 0))
    m.campbell_step("rotor", [0.0, 100.0, 200.0, 300.0], count=2)
    m.unbalance_step("rotor", [50.0, 100.0], [{"at": "hub", "amount": 1e-3}], at=["left"])
    return m


def wheel() -> Model:
    m = Model(2)
    m.material("steel", E=2e11, nu=0.3, density=7800.0)
    m.section("rim", "rectangle", width=0.05, height=0.02)
    m.arc("rim", (0.0, 0.0), 0.5, (0.0, 45.0), 2)
    m.beams("rim", "rim", "rim", "steel")
    m.cyclic_symmetry("wheel", "rim:end", "rim:start", 8)
    m.cyclic_modes_step(2, nodal_diameters=[0, 2])
    return m


def rolling() -> Model:
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    m.body("ball", (0.0, 0.0, 0.2), 3.0, (0.05, 0.05, 0.05))
    m.body("pilot", (0.0, 0.0, 0.2), 1.0, (0.05, 0.05, 0.05))
    m.joint("bearing", "spherical", "pilot", "ball", point=(0.0, 0.0, 0.2))
    m.joint("ground", "rolling_disc", "ball", point=(0.0, 0.0, 0.2), axis=(0.0, 1.0, 0.0), radius=0.2, crown=0.2)
    m.force("wind", "pilot", (-2.0, 0.0, 0.0))
    m.force("push", "pilot", (1.0, 0.0, 0.0), function=0.0)
    m.running("pilot", velocity=(1.5, 0.0, 0.0))
    m.steady_running_step()
    m.steady_running_step("push", "pushed")
    return m


MODELS = (in_time, path, events, about_a_state, driven, along_a_path, inverted, rotor, wheel, rolling)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """By model: the steps, what the run in memory says, and the folder of the other run."""
    found = {}
    for make in MODELS:
        folder = tmp_path_factory.mktemp(make.__name__) / "out"
        run(make(), folder)
        found[make] = make().steps, solve(make()).summary, folder
    return found


def test_the_models_have_steps_of_all_kinds(runs):
    assert {step.kind for steps, _, _ in runs.values() for step in steps} == set(step_kinds())
    found = {type(report_of(step)) for _, summary, _ in runs.values() for step in summary["steps"]}
    assert found == set(report_classes())


@pytest.mark.parametrize("make", MODELS)
def test_a_summary_is_what_the_schema_says(runs, make):
    """A summary has no entries that its reports do not know: reading and writing it again is the identity."""
    _, in_memory, folder = runs[make]
    on_disk = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    for summary in (on_disk, in_memory):
        jsonschema.validate(summary, SCHEMA)
        assert Summary.from_json(summary).to_json() == summary
    assert set(in_memory) == set(on_disk)
    for mine, theirs in zip(in_memory["steps"], on_disk["steps"], strict=True):
        assert set(mine) == set(theirs)


@pytest.mark.parametrize("report", report_classes(), ids=lambda report: report.__name__)
def test_the_schema_asks_for_every_entry(runs, report):
    """Without one of the entries that are not optional, or with another type, a step does not fit its schema."""
    step = next(s for _, summary, _ in runs.values() for s in summary["steps"] if type(report_of(s)) is report)
    fits = jsonschema.Draft202012Validator(
        {"$defs": SCHEMA["$defs"], **SCHEMA["properties"]["steps"]["items"]}
    ).is_valid
    assert fits(step)
    for key in SCHEMA["$defs"][report.__name__]["required"]:
        assert not fits({k: v for k, v in step.items() if k != key}), key
        assert not fits({**step, key: object()}), key


def test_results_have_typed_reports(runs):
    results = Results.open(runs[in_time][2])
    static, plain, adaptive = (step.report for step in results.steps)
    assert isinstance(plain, TransientReport) and plain.name == "plain" and plain.adaptive is None
    assert adaptive.adaptive.accepted >= 1 and plain.energy.final["kinetic"] >= 0.0
    assert static.negative_eigenvalues == 0 and static.critical_points is None
    assert plain.eigenvalues.stable and len(plain.eigenvalues.time) == 3
    assert results.report.checks[0].passed and results.report.model.nodes == 3
    assert results.report.steps == [static, plain, adaptive] and results.failures == []


# --- the mechanism ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class _Inner(Record):
    """An inner object."""

    value: float | None = entry("null: none", unit="m")


@dataclass(frozen=True, kw_only=True)
class _Outer(Record):
    """An object."""

    inner: list[_Inner] = entry()
    by_name: dict[str, _Inner] | None = entry(optional=True)
    passed: bool = entry(key="pass")
    count: int | Absent | None = entry("null: not counted", default=ABSENT, minimum=0)


def test_records_become_json_and_come_back():
    record = _Outer(inner=[_Inner(value=np.float64(1.5)), _Inner(value=np.nan)], passed=True)
    data = record.to_json()
    assert data == {"inner": [{"value": 1.5}, {"value": None}], "pass": True}
    assert _Outer.from_json(data).to_json() == data
    full = {**data, "by_name": {"a": {"value": 2.0}}, "count": None}
    again = _Outer.from_json(full)
    assert again.by_name["a"].value == 2.0 and again.count is None and again.to_json() == full
    assert _Outer.from_json(data).count is ABSENT and not ABSENT
    # what a newer version has added is passed over, what an older one did not write is None
    assert _Outer.from_json({"new": 1, "inner": []}).passed is None


def test_schema_of_a_record():
    schema = Schema()
    found = schema.object(_Outer)
    assert found["required"] == ["inner", "pass"]
    assert found["properties"]["count"] == {
        "type": ["integer", "null"],
        "minimum": 0,
        "description": "null: not counted",
    }
    assert found["properties"]["by_name"]["additionalProperties"] == {"$ref": "#/$defs/_Inner"}
    assert schema.definitions["_Inner"]["properties"]["value"]["description"] == "null: none [m]"


def test_a_step_of_an_unknown_kind_has_what_all_steps_have():
    report = report_of({"type": "of tomorrow", "name": "x", "failures": ["y"], "more": 1})
    assert type(report) is StepReport and report.name == "x" and report.failures == ["y"]
    summary = {"title": "", "version": "1", "status": "done", "steps": [{"type": "of tomorrow", "name": "x"}]}
    summary["model"] = {"nodes": 1, "unknowns": 1, "multipliers": 0, "elements": {}, "solver": "sparse"}
    assert Summary.from_json(summary).steps[0].name == "x"
