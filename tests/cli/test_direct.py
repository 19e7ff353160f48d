"""Values that commands get without typer's conversion, beside those that they get through typer."""

from __future__ import annotations

import inspect

import pytest
import typer

from fem_mbs.cli.commands import reduced, runs, studies, views
from fem_mbs.cli.commands.direct import direct_call

GROUPS = tuple(module.commands for module in (runs, studies, views, reduced))
COMMANDS = {info.name or info.callback.__name__: info for group in GROUPS for info in group.registered_commands}
CALLS = (
    "run m.toml", "run m.toml -q", "run -q m.toml -o out", "run m.toml --output out --overwrite --set a=3 --set b.c=-4",
    "run d.inp --units mm --strict --allow --threads 1", "run m.toml --backend petsc", "check m.toml --set a=1",
    "new part.msh", "plot out", "plot out -o f --format svg --quantity a* --quantity b", "animate out --trail tip",
    "animate out --quantity none --follow rod -o a.gif", "report out", "show out --png --no-open",
)  # fmt: skip
LEFT = (
    "run", "run --help", "run -h", "run m.toml more", "run m.toml --restart 2", "run m.toml -qo out",
    "run m.toml -q -q", "run m.toml -o", "run m.toml -o a -o b", "run m.toml --output=out", "run -- m.toml",
    "run m.toml --none", "run m.toml --no-quiet", "run m.toml -o -q", "animate out --fps 10", "compile m.toml",
    "compile", "--version", "--help", "--debug run m.toml", "nothing m.toml", "",
)  # fmt: skip


def through_typer(arguments: list[str]) -> dict:
    """Return the values with which typer calls the command."""
    info, found = COMMANDS[arguments[0]], {}
    app = typer.Typer(add_completion=False)

    def command(**values) -> None:
        found.update(values)

    command.__signature__ = inspect.signature(info.callback, eval_str=True)
    command.__annotations__ = {k: p.annotation for k, p in command.__signature__.parameters.items()}
    app.command(arguments[0])(command)
    app(arguments[1:], standalone_mode=False)
    return found


@pytest.mark.parametrize("line", CALLS)
def test_values_are_those_of_typer(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = line.split()
    call = direct_call(GROUPS, arguments)
    assert call is not None
    assert call.func is COMMANDS[arguments[0]].callback
    assert {name: (type(value), value) for name, value in call.keywords.items()} == {
        name: (type(value), value) for name, value in through_typer(arguments).items()
    }


@pytest.mark.parametrize("line", LEFT)
def test_all_else_is_left_to_typer(line):
    assert direct_call(GROUPS, line.split()) is None


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_without_arguments_gets_its_defaults(name):
    """Commands that need an argument are left to typer."""
    call = direct_call(GROUPS, [name])
    if call is None:
        return
    assert dict(call.keywords) == through_typer([name])


def test_a_path_that_cannot_be_read_is_left_to_typer(tmp_path, monkeypatch):
    model = tmp_path / "m.toml"
    model.write_text("")
    assert direct_call(GROUPS, ["run", str(model)]) is not None
    monkeypatch.setattr("os.access", lambda *_: False)
    assert direct_call(GROUPS, ["run", str(model)]) is None
