"""The stub of the calls that declarations make: their types and docstrings for editors and type checkers.

python -m fem_mbs.model.stubs > fem_mbs/model/made.pyi
"""

from __future__ import annotations

import inspect
import json
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fem_mbs.declarations.annotations import ALIASES, annotation, nested, table_of
from fem_mbs.declarations.declaration import Declaration, Key, plain
from fem_mbs.declarations.docstrings import argument_text, with_arguments
from fem_mbs.declarations.kinds import Kind
from fem_mbs.declarations.steps import step_kinds
from fem_mbs.model.made import CHOOSING, DECLARED, MadeCalls

__all__ = ["stub_text"]

_WIDTH = 120
_HEAD = '''\
"""Types and docstrings of the calls of a model: written by `python -m fem_mbs.model.stubs`, not by hand."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Required, TypeAlias, TypedDict, overload

from numpy import floating, integer
from numpy.typing import NDArray
'''
_TAIL = """
DECLARED: Mapping[str, type[Declaration]]
CHOOSING: Mapping[str, tuple[str, Callable[[], Mapping[str, type[Declaration]]]]]
"""


def stub_text() -> str:
    """Return the stub as `fem_mbs/model/made.pyi` has it."""
    steps = {f"{kind.name}_step": kind for kind in step_kinds().values()}
    chosen = {name: kinds() for name, (_, kinds) in CHOOSING.items()}
    all_ = [
        *DECLARED.values(),
        *(kind.Options for kind in steps.values()),
        *(d for k in chosen.values() for d in k.values()),
    ]
    tables = list(dict.fromkeys(inner for declaration in all_ for inner in nested(declaration)))
    lines = [
        "class MadeCalls:",
        f'    """{inspect.getdoc(MadeCalls)}"""'.replace("\n", "\n    ").replace("\n    \n", "\n\n"),
        "",
        "    steps: list[Step]",
        "",
        "    def add(self, declaration: Any, said: Declaration | None = None) -> None: ...",
    ]
    for name, declaration in DECLARED.items():
        if name != "parameter":  # the model's own, which returns the number
            lines += _method(name, declaration, inspect.signature(getattr(MadeCalls, name)), _doc(name))
    for name, kinds in chosen.items():
        word, _ = CHOOSING[name]
        for value, kind in kinds.items():
            doc = with_arguments(kind.__doc__, {k: v for k, v in kind.keys().items() if k != word})
            lines += ["    @overload", *_method(name, kind, _chosen(kind, word), doc, {word: f'Literal["{value}"]'})]
    for name, step in steps.items():
        lines += _method(name, step.Options, step.signature(), _doc(name), {"name": "str"})
    body = [*(line for table in tables for line in _table(table)), *lines]
    return "\n".join([_HEAD, *_imports(tables, all_), "", *_aliases(), _TAIL, *body]) + "\n"


def _doc(name: str) -> str:
    return inspect.getdoc(getattr(MadeCalls, name)) or ""


def _chosen(kind: type[Declaration], word: str) -> inspect.Signature:
    """Return the signature of a call that chooses a declaration by a word."""
    ordinary, only = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    keys = {name: said for name, said in kind.keys().items() if name not in ("name", word)}
    ordered = sorted(keys, key=lambda name: not keys[name].required)
    empty = inspect.Parameter.empty
    return inspect.Signature([
        *(inspect.Parameter(name, ordinary) for name in ("self", "name", word)),
        *(inspect.Parameter(n, only, default=empty if keys[n].required else keys[n].default) for n in ordered),
    ])  # fmt: skip


def _method(
    name: str, declaration: type[Declaration], signature: inspect.Signature, doc: str, fixed: Mapping[str, str] = {}
) -> Iterator[str]:
    """Yield the lines of a call."""
    yield f"    def {name}("
    keyword_only = False
    for key, parameter in signature.parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            yield "        *,"
        if key == "self":
            yield "        self,"
            continue
        type_ = fixed.get(key) or ("str" if key == "name" else annotation(declaration, key))
        default = "" if parameter.default is parameter.empty else f" = {_default(parameter.default)}"
        if default == " = None" and not type_.endswith("None"):
            type_ += " | None"
        yield f"        {key}: {type_}{default},"
    yield "    ) -> None:"
    yield from _docstring(doc, "        ")
    yield ""


def _default(value: Any) -> str:
    """Return a default as Python has it; a list as dots."""
    value = plain(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value) if isinstance(value, (bool, int, float, type(None))) else "..."


def _docstring(text: str, indent: str) -> Iterator[str]:
    """Yield a docstring, its paragraphs and arguments wrapped."""
    lines: list[str] = []
    for line in text.splitlines():
        own = line[: len(line) - len(line.lstrip())]
        further = own + "    " if own and not own.startswith("        ") else own
        lines += textwrap.wrap(
            line, _WIDTH - len(indent), subsequent_indent=further, break_long_words=False, break_on_hyphens=False
        ) or [""]  # fmt: skip
    quoted = [line.replace("\\", "\\\\").replace('"""', "'''") for line in lines]
    if len(quoted) == 1 and not quoted[0].endswith('"'):
        yield f'{indent}"""{quoted[0]}"""'
        return
    first, *rest = quoted
    yield f'{indent}"""{first}'
    yield from (f"{indent}{line}".rstrip() for line in rest)
    yield f'{indent}"""'


def _table(declaration: type[Declaration]) -> Iterator[str]:
    """Yield the lines of the type of tables that make a declaration."""
    yield f"class {table_of(declaration)}(TypedDict, total=False):"
    yield from _docstring(declaration.purpose(), "    ")
    for name, (field, said) in declaration.in_file().items():
        type_, needed = annotation(declaration, field), said.required and not said.shows
        yield f"    {name}: Required[{type_}]" if needed else f"    {name}: {type_}"
        yield from _docstring(argument_text(said), "    ")
    yield ""


def _aliases() -> Iterator[str]:
    yield from (f"{name}: TypeAlias = {text}" for name, text in ALIASES.items())


def _imports(tables: Sequence[type[Declaration]], all_: Iterable[type[Declaration]]) -> Iterator[str]:
    """Yield the imports of classes that the annotations name."""
    from fem_mbs.functions.laws import TimeFunction
    from fem_mbs.meshes.mesh import Mesh
    from fem_mbs.model.loads.submodels import GlobalMotion
    from fem_mbs.model.records import Step
    from fem_mbs.parts.part import ReducedPart

    keys: list[Key] = [said for declaration in all_ for said in declaration.keys().values()]
    given = [kind for said in keys if isinstance(said.kind, Kind) for kind in said.objects]
    classes = {Declaration, GlobalMotion, TimeFunction, Mesh, ReducedPart, Step, *tables, *given}
    found = sorted((kind.__module__, kind.__name__) for kind in classes if kind.__module__.startswith("fem_mbs"))
    yield from (f"from {module} import {name}" for module, name in found)


if __name__ == "__main__":
    sys.stdout.write(stub_text())
