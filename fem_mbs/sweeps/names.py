"""Names of the quantities that a model will have, known before it runs.

The kinds of steps declare their names (`StepKind.quantity_names` and the entries of their reports), sensors theirs
(`fem_mbs.results.series.STATISTICS`).  In a declared name ``#`` stands for a number from 1 and ``*`` for any text.
"""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, get_args

from fem_mbs.declarations.steps import StepKind, step_kind
from fem_mbs.errors import ModelError, Owner
from fem_mbs.records import Record, entries
from fem_mbs.results.series import STATISTICS, columns_of

if TYPE_CHECKING:
    from fem_mbs.model.model import CompiledModel

__all__ = ["TABLES", "check_names", "declared_names", "fits", "step_names"]

TABLES = ("energy", "adaptive")  # nested tables of single numbers
_NUMBERS = ("1", "2", "10")  # samples for "#" where a pattern is asked for


def step_names(names: Iterable[str]) -> Iterator[str]:
    """Return distinct names of steps: "transient", "transient 2"."""
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name} {seen[name]}"


def declared_names(compiled: CompiledModel) -> list[str]:
    """Return the names of all quantities that a run of a compiled model can have."""
    model = compiled.model
    found: list[str] = []
    headers = [sensor.header for sensor in compiled.sensors]
    columns = [name for h in headers for _, name, _ in columns_of(h, len(h["columns"]))]
    every = [c for h in headers for c in h["columns"]]
    happenings = [*(event.name for event in model.events), *(switch.name for switch in compiled.switches)]
    for name, step in zip(step_names(s.name for s in model.steps), model.steps, strict=True):
        kind = step_kind(step.kind)
        own = [*_of_report(kind), *_of_kind(kind, every, happenings)]
        if kind.states:
            own += [f"{column}.{word}" for column in columns for word in STATISTICS]
        found += [f"{name}.{key}" for key in own]
    found += [f"check.{check.name}{end}" for check in model.checks for end in ("", ".pass")]
    found += [f"parameter.{name}" for name in model.parameters]
    return [*dict.fromkeys(found), "model.unknowns"]


def _of_report(kind: StepKind) -> Iterator[str]:
    """Yield names of the single numbers and named lists of the report of a kind."""
    for item in entries(kind.Report):
        if item.member:
            yield f"{item.member}_#"
        elif not item.given and _is_number(item.hint):
            yield item.key
        elif item.key in TABLES:
            for part in (item.hint, *get_args(item.hint)):
                if isinstance(part, type) and issubclass(part, Record):
                    yield from (f"{item.key}.{inner.key}" for inner in entries(part) if _is_number(inner.hint))
            if item.key == "energy":
                yield "energy.final.*"


def _is_number(hint: Any) -> bool:
    return any(part in (bool, int, float) for part in (hint, *get_args(hint))) or hint is Any


def _of_kind(kind: StepKind, columns: Sequence[str], events: Sequence[str]) -> Iterator[str]:
    if not kind.quantity_names and type(kind).quantities is not StepKind.quantities:
        yield "*"  # a kind that does not say
    places = {"{column}": columns, "{event}": events}
    for name in kind.quantity_names:
        for word, values in places.items():
            if word in name:
                yield from (name.replace(word, value) for value in values)
                break
        else:
            yield name


def fits(asked: str, declared: str) -> bool:
    """Return whether a name or pattern (``*``, ``?``, ``[...]`` as in names of files) can mean a declared name."""
    exact = re.escape(declared).replace(re.escape("#"), r"[1-9]\d*").replace(re.escape("*"), ".*")
    if re.fullmatch(exact, asked):
        return True
    return any(fnmatch.fnmatchcase(declared.replace("#", n).replace("*", "x"), asked) for n in _NUMBERS)


def check_names(asked: Sequence[str], declared: Sequence[str], owner: Owner) -> None:
    """Refuse names and patterns that no run can have.

    Raises:
        ModelError: naming those that are near.
    """
    for name in asked:
        if any(fits(name, known) for known in declared):
            continue
        readable = [known.replace("#", "1") for known in declared]
        near = difflib.get_close_matches(name, readable, n=5, cutoff=0.5)
        tail = name.rpartition(".")[2]
        near += [known for known in readable if known.rpartition(".")[2] == tail and known not in near][: 5 - len(near)]
        listed = ", ".join(near or readable[:20])
        raise ModelError(
            f'no quantity fits "{name}"', owner=owner, key="quantity", value=name,
            remedy=f"{'near ones are' if near else 'there are'} {listed}",
        )  # fmt: skip
