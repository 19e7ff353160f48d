"""Finds the validation files: every module of this package that is named author_year_case."""

from __future__ import annotations

import difflib
import pkgutil
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

import fem_mbs.validation as package
from fem_mbs import Model, ModelError
from fem_mbs.validation.case import Findings

__all__ = ["ValidationFile", "find", "select"]

_NAME = re.compile(r"[a-z][a-z_]*_\d{4}_[a-z0-9_]+")


@dataclass(frozen=True)
class ValidationFile:
    """A validation file.

    Attributes:
        name: of the module.
        title: first line of its docstring.
        text: the rest of it.
        cases: the benchmarks in it.
        check: runs them.
        build: returns the model that the report draws.
        capability: key of `fem_mbs.validation.capabilities.CAPABILITIES`.
        deviations: sentences on errors of the literature, and on results that differ from it.
    """

    name: str
    title: str
    text: str
    cases: dict[str, str]
    check: Callable[[Findings], None]
    build: Callable[[], Model]
    capability: str
    deviations: tuple[str, ...] = ()


def find() -> list[ValidationFile]:
    """Return all validation files, ordered by the first benchmark in them."""
    files = []
    for info in pkgutil.iter_modules(package.__path__):
        if not _NAME.fullmatch(info.name):
            continue
        module = import_module(f"{package.__name__}.{info.name}")
        title, _, text = module.__doc__.strip().partition("\n")
        files.append(
            ValidationFile(
                info.name,
                title.rstrip("."),
                text.strip(),
                dict(module.CASES),
                module.check,
                module.build,
                module.CAPABILITY,
                tuple(getattr(module, "DEVIATIONS", ())),
            )
        )
    return sorted(files, key=lambda f: _order(next(iter(f.cases))))


def _order(case: str) -> tuple:
    """Return C2 before C10, the short ids before B-..."""
    prefix, digits = re.fullmatch(r"(.*?)(\d*)", case).groups()
    return ("-" in case, prefix, int(digits or 0))


def select(names: Sequence[str] | None) -> list[tuple[ValidationFile, set[str]]]:
    """Return files to run and the ids of their benchmarks to report, for names of files or benchmarks (None: all).

    Raises:
        ModelError: no file and no benchmark has this name.
    """
    files = find()
    if not names:
        return [(f, set(f.cases)) for f in files]
    chosen: dict[str, set[str]] = {f.name: set() for f in files}
    known = {f.name.lower(): [(f, set(f.cases))] for f in files}
    for f in files:
        for case in f.cases:
            known.setdefault(case.lower(), []).append((f, {case}))
    for name in names:
        if str(name).lower() not in known:
            close = difflib.get_close_matches(str(name).lower(), list(known), n=1)
            hint = f'; did you mean "{close[0]}"?' if close else ""
            raise ModelError(
                f'Validation case "{name}": there is none of this name{hint}; there are '
                f"{', '.join(case for f in files for case in f.cases)} (and the files that hold them: "
                f"{', '.join(f.name for f in files)})"
            )
        for file, cases in known[str(name).lower()]:
            chosen[file.name] |= cases
    return [(f, chosen[f.name]) for f in files if chosen[f.name]]
