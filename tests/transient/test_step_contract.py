"""What every kind of step in the registry keeps: one case each, and a kind in a file of its own."""

from __future__ import annotations

import ast
import inspect
import io
import json
import os
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from places import ROOT, SCHEMA, syntax
from rich.console import Console
from step_cases import STEPS, case

from fem_mbs import Model, ModelError, load_model, run
from fem_mbs.cli.check import explain
from fem_mbs.cli.report import print_report
from fem_mbs.declarations.steps import function_of, recorded_kind, step_kind, step_kinds
from fem_mbs.plot.figures import plot_all
from fem_mbs.results.reader import Results
from fem_mbs.sweeps.names import declared_names, fits
from fem_mbs.sweeps.quantities import collect

KINDS = list(step_kinds())
KEYS = [(kind.name, name) for kind in step_kinds().values() for name in kind.Options.keys()]  # noqa: SIM118


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Results of the case of a kind, made once, and its model file."""
    known: dict[str, tuple[Path, Results]] = {}

    def result(kind: str) -> tuple[Path, Results]:
        if kind not in known:
            folder = tmp_path_factory.mktemp(kind)
            file = folder / "model.toml"
            file.write_text(case(kind), encoding="utf-8")
            known[kind] = file, run(load_model(file), folder / "results")
        return known[kind]

    return result


def test_every_kind_has_a_case():
    assert set(STEPS) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_module_and_call(kind):
    """A kind is the KIND of a module of its name; the builder has a call with its options in the signature."""
    found = step_kind(kind)
    assert re.fullmatch(rf"fem_mbs\.analysis\.steps\.(rotors\.)?{kind}", type(found).__module__)
    assert found.name == kind
    call = getattr(Model, f"{kind}_step")
    parameters = inspect.signature(call).parameters
    assert set(parameters) == {"self", "name", *found.Options.keys()}
    assert [n for n, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD] == ["self", *found.positional]
    for name, key in found.Options.keys().items():
        assert key.text
        assert f"    {name}: " in call.__doc__
    for entry in (*found.tables, *found.figures, *([found.sentences] if found.sentences else [])):
        assert callable(function_of(entry))


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_keys_are_refused(kind, tmp_path):
    file = tmp_path / "model.toml"
    file.write_text(case(kind) + "framez = 3\n", encoding="utf-8")
    with pytest.raises(
        ModelError, match=r'\[\[step\]\] "last": unknown key "framez"; (did you mean|there are)'
    ) as told:
        load_model(file)
    assert str(file) in str(told.value)
    model = load_model(_written(kind, tmp_path))
    before = len(model.steps)
    with pytest.raises(ModelError, match=r'Step "odd": unknown key "framez"; (did you mean|there are)') as told:
        getattr(model, f"{kind}_step")(name="odd", **{**model.steps[-1].options, "framez": 3})
    assert (told.value.owner, told.value.key, len(model.steps)) == ('Step "odd"', "framez", before)
    with pytest.raises(ModelError, match="framez"):
        step_kind(kind).plan(0, "odd", {**model.steps[-1].options, "framez": 3})


@pytest.mark.parametrize("kind", KINDS)
def test_calls_refuse_what_is_missing_given_twice_or_without_its_keyword(kind, tmp_path):
    """A call in Python ends in a ModelError that names step and key, and adds no step."""
    model = load_model(_written(kind, tmp_path))
    call, found, before = getattr(model, f"{kind}_step"), step_kind(kind), len(model.steps)
    options = model.steps[-1].options
    for name in (name for name, key in found.Options.keys().items() if key.required):
        with pytest.raises(ModelError, match=f'Step "odd": "{name}" is missing; add {name} = ') as told:
            call(name="odd", **{k: v for k, v in options.items() if k != name})
        assert told.value.key == name
    first = found.positional[0]
    with pytest.raises(ModelError, match=f"Step .*: {first} is given twice; remove one"):
        call(options.get(first, "odd"), **{**options, first: options.get(first, "odd")})
    with pytest.raises(ModelError, match=r"Step .*: 7.5 comes without its keyword; say which argument it is"):
        call(*[options.get(name, "odd") for name in found.positional], 7.5)
    assert len(model.steps) == before


@pytest.mark.parametrize(("kind", "name"), KEYS)
def test_wrong_types_are_refused(kind, name, tmp_path):
    """No key takes a date: the error names place, key, value and what is wanted."""
    given = "".join(line + "\n" for line in case(kind).splitlines())
    head, _, last = given.rpartition("[[step]]")
    lines = [line for line in last.splitlines() if line.split(" = ")[0] != name]
    file = tmp_path / "model.toml"
    file.write_text(head + "[[step]]" + "\n".join([*lines, f"{name} = 2026-01-01\n"]), encoding="utf-8")
    with pytest.raises(ModelError, match=rf'\[\[step\]\] "last": {name} = 2026-01-01 must be .+'):
        load_model(file)
    model = load_model(_written(kind, tmp_path))
    before = len(model.steps)
    with pytest.raises(ModelError, match=rf'Step "odd": {name} = .*2026.* must be .+') as told:
        getattr(model, f"{kind}_step")(name="odd", **{**model.steps[-1].options, name: date(2026, 1, 1)})
    assert (told.value.key, told.value.value, len(model.steps)) == (name, date(2026, 1, 1), before)


@pytest.mark.everyday
@pytest.mark.parametrize("kind", KINDS)
def test_summary_and_report(kind, made):
    """The summary follows the schema and the class of its kind, and comes back from JSON as it is."""
    _, results = made(kind)
    Draft202012Validator(SCHEMA).validate(results.summary)
    summary = results.summary["steps"][-1]
    report = step_kind(kind).Report.from_json(summary)
    assert json.loads(json.dumps(report.to_json())) == summary


@pytest.mark.parametrize("kind", KINDS)
def test_words_tables_quantities_figures(kind, made):
    """`check` says it in a line; the report has its tables, a sweep its numbers, and figures are drawn."""
    file, results = made(kind)
    found, step = step_kind(kind), results.steps[-1]
    options = found.plan(0, "last", load_model(file).steps[-1].options).options
    assert any(line.startswith(f'step "last": {found.sentence(options)}') for line in explain(file))
    console = Console(file=io.StringIO(), width=200)
    print_report(console, results)
    assert "last" in console.file.getvalue()
    own = [table for entry in recorded_kind(step.type).tables for table in function_of(entry)(step)]
    if found.linear and found.tables:
        assert own
    names = [name for name, _, _ in collect(results)]
    assert any(name.startswith("last.") for name in names) or kind == "linearise"  # which writes matrices alone
    declared = declared_names(load_model(file).compile(stepping=False))
    assert not [name for name in names if not any(fits(name, known) for known in declared)]
    for name, _value, _unit in found.quantities(step.report):
        assert f"last.{name}" in names
    figures = [name for entry in recorded_kind(step.type).figures for _, name in function_of(entry)(step)]
    drawn = {path.name.partition("-")[0] for path in plot_all(results)}
    # of a path a displacement must have been watched
    assert {name.partition("-")[0] for name in figures} <= drawn | {"path"}


@pytest.mark.parametrize("kind", KINDS)
def test_interrupts_leave_a_folder_that_says_so(kind, tmp_path):
    """Ctrl-C while rows are recorded: it goes on to the caller, and the folder is not taken for a finished one."""

    def watch(context, recorder):
        class Stops:
            def __getattr__(self, name):
                return getattr(recorder, name)

            def append(self, *rows):
                recorder.append(*rows)
                raise KeyboardInterrupt

        return Stops()

    with pytest.raises(KeyboardInterrupt):
        run(load_model(_written(kind, tmp_path)), tmp_path / "results", watch=watch)
    assert Results.open(tmp_path / "results").status == "failed: KeyboardInterrupt"


def _written(kind: str, folder: Path) -> Path:
    file = folder / f"{kind}.toml"
    file.write_text(case(kind), encoding="utf-8")
    return file


# --- names stay in their modules --------------------------------------------------------------------------------------
# Words that are names of other things, too: file -> the words.
HOMONYMS = {
    "fem_mbs/__init__.py": {"complex_modes", "linearise"},  # functions
    "fem_mbs/analysis/stability/linearise.py": {"linearise"},
    "solvers/eigen/complex_modes.py": {"complex_modes"},
    "fem_mbs/analysis/components/synthesis.py": {"modes"},  # number of modes of a component or a reduced part
    "fem_mbs/analysis/header.py": {"modes"},
    "fem_mbs/analysis/reduction/reduce.py": {"modes"},
    "fem_mbs/analysis/steps/harmonic.py": {"modes"},
    "fem_mbs/cli/modify.py": {"modes"},
    "fem_mbs/model/components.py": {"modes"},
    "fem_mbs/model/parts/reduced.py": {"modes"},
    "fem_mbs/modelfile/starter.py": {"transient", "linear_static", "modes"},  # the steps of the examples
    "fem_mbs/decks/nastran/steps.py": {"modes", "buckling"},  # solutions of Nastran
    "fem_mbs/decks/nastran/responses/frequencies.py": {"modes"},  # the name of the step that finds them
    "fem_mbs/report/page.py": {"campbell", "unbalance"},  # names of figures
    "fem_mbs/parts/formats.py": {"modes"},
    "fem_mbs/parts/sid.py": {"modes"},
    "fem_mbs/analysis/march.py": {"static"},  # the rule of quasi-static steps
    "fem_mbs/analysis/statics/equilibria.py": {"static"},
    "fem_mbs/analysis/statics/running.py": {"steady_running"},  # a function
    "fem_mbs/analysis/steps/inverse.py": {"static"},
    "fem_mbs/analysis/transient/rules.py": {"static"},
    "fem_mbs/analysis/transient/stepping.py": {"static"},
    "fem_mbs/analysis/steps/linear_static.py": {"static"},  # types in summaries, kept for those who read them
    "fem_mbs/analysis/steps/linear_transient.py": {"transient"},
    "fem_mbs/model/connections/surfaces/friction.py": {"static"},  # its coefficient
    "fem_mbs/model/connections/surfaces/contact.py": {"static"},  # likewise
    "fem_mbs/model/connections/surfaces/deforming.py": {"static"},  # likewise
    "fem_mbs/model/connections/surfaces/impact.py": {"static"},  # likewise
    "fem_mbs/decks/abaqus/substructures.py": {"modes"},  # a key of reductions
    "fem_mbs/modelfile/parts.py": {"modes"},  # likewise
    "meshes/formats/frd.py": {"static"},  # a kind of results of CalculiX
    "fem_mbs/functions/kinds.py": {"harmonic"},  # a function of time
    "fem_mbs/modelfile/reference.py": {"harmonic"},
    "fem_mbs/plot/figures.py": {"campbell", "unbalance"},  # names of pictures
    "fem_mbs/analysis/rotors/unbalance.py": {"unbalance"},  # a mass off its axis, in a message
    "fem_mbs/plot/scene.py": {"static"},  # the start, drawn as a state at rest
    "fem_mbs/decks/abaqus/compare.py": {"buckling"},  # a table of CalculiX
    "fem_mbs/decks/abaqus/steps/harmonic.py": {"modes"},  # a key of steady vibrations
    "meshes/abaqus/steps.py": {"modes"},  # frequencies between those of modes
    "meshes/abaqus/calculix_dat.py": {"buckling"},
}
REGISTRY = "fem_mbs/declarations/steps.py"
STEP_FOLDERS = ("fem_mbs/analysis/steps", "fem_mbs/analysis/steps/rotors")


def names_in(text: str) -> set[str]:
    kinds = set(KINDS)
    return {n.value for n in syntax(text) if isinstance(n, ast.Constant) and n.value in kinds}


@pytest.mark.everyday  # any module can name a kind
def test_names_of_steps_stand_in_their_modules_and_the_registry_only():
    found = {}
    for folder in ("fem_mbs", "elements", "solvers", "meshes"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            folder_of_steps = place.removesuffix(f"/{path.name}") in STEP_FOLDERS
            own = {path.stem} if folder_of_steps else set()
            names = names_in(path.read_text(encoding="utf-8")) - own - HOMONYMS.get(place, set())
            if names and place != REGISTRY:
                found[place] = names
    assert found == {}
    assert names_in('if step.kind == "modes": pass') == {"modes"}


@pytest.mark.everyday
def test_no_decision_by_the_name_of_a_kind():
    """No decision by the name of a kind: its properties are asked."""
    for path in sorted((ROOT / "fem_mbs").rglob("*.py")):
        for node in syntax(path.read_text(encoding="utf-8")):
            if isinstance(node, ast.Compare) and ast.unparse(node.left).endswith(("kind.name", "step.type")):
                others = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
                assert not set(map(str, others)) & set(KINDS), f"{path}:{node.lineno}"


# --- a kind in one file -----------------------------------------------------------------------------------------------
_TOY = """
import io, sys
import toy_step
from rich.console import Console
from fem_mbs import Model, load_model, run, solve
from fem_mbs.cli.check import explain
from fem_mbs.cli.report import print_report
from fem_mbs.modelfile.reference import reference
from fem_mbs.results.report import report_of
from fem_mbs.sweeps.quantities import collect

file, folder = sys.argv[1:]
print("\\n".join(line for line in explain(file) if line.startswith("step")))
print("reference", 'Options of `type = "weigh"`' in reference(), "the direction of the motion" in reference())
results = run(load_model(file), folder)
console = Console(file=io.StringIO(), width=150)
print_report(console, results)
print("report", "last: mass" in console.file.getvalue())
print("mass", round(report_of(results.summary["steps"][-1]).mass, 9))
print("quantities", {name: round(value, 6) for name, value, _ in collect(results) if name.startswith("last.")})
m = load_model(file)
m.weigh_step("y")
print("python", [step.summary["mass"] for step in solve(m).steps][-1] == results.steps[-1].summary["mass"])
try:
    m.weigh_step(along="w")
    solve(m)
except Exception as error:
    print(type(error).__name__, error)
"""


def test_a_kind_in_one_file(tmp_path):
    """It is registered by its file alone: builder, model file, `check`, reference, report and sweep know it."""
    file = tmp_path / "model.toml"
    body = '[[body]]\nname = "a"\nposition = [0, 0]\nmass = 2.5\ninertia = 0.1\n'
    file.write_text(f'dimension = 2\n{body}[[step]]\ntype = "weigh"\nname = "last"\n', encoding="utf-8")
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", _TOY, str(file), str(tmp_path / "results")],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        'step "last": mass along x',
        "reference True True",
        "report True",
        "mass 2.5",
        "quantities {'last.mass': 2.5, 'last.weight': 24.525}",
        "python True",
        'ModelError Step "weigh": along = "w" must be one of "x", "y", "z"',
    ]
