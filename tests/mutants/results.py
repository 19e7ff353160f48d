"""The table of results, and the reasons of what survived."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from .operators import Mutant, mutants
from .runs import GROUPS, Runs, group_of

__all__ = ["KINDS", "Reason", "read_reasons", "stale", "table"]

REASONS = Path(__file__).with_name("survivors.toml")
#: Kinds of reasons: what the change does.
KINDS = {
    "equivalent": "no run can differ, but for round-off",
    "effort": "only the number of operations, iterations or tries differs",
    "tolerance": "a choice of the method differs (a threshold, a margin, a scale), results within what is promised",
    "open": "results may differ, and no test notices",
}


@dataclass(frozen=True)
class Reason:
    """Why a mutant survives: the function, the text of its line, the change, a kind of `KINDS` and a sentence."""

    file: str
    function: str
    line: str
    change: str
    kind: str
    reason: str

    def explains(self, mutant: Mutant, source: list[str]) -> bool:
        """Return whether this is the reason for a mutant of a module with these lines."""
        place = mutant.place
        named = self.file == place.file and self.function == place.function and self.change == mutant.change
        return named and self.line == source[place.lines.start - 1].strip()


def read_reasons(path: Path = REASONS) -> list[Reason]:
    """Read the list of reasons."""
    return [Reason(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["survivor"]]


def stale(reasons: list[Reason], root: Path) -> list[Reason]:
    """Return the reasons of changes that the source does not admit any more, and those of no known kind."""
    found = []
    known: dict[str, list[Mutant]] = {}
    for reason in reasons:
        path = root / reason.file
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if reason.file not in known:
            wanted = {r.line for r in reasons if r.file == reason.file}
            known[reason.file] = mutants(reason.file, text, wanted)
        if reason.kind not in KINDS or not any(reason.explains(m, text.splitlines()) for m in known[reason.file]):
            found.append(reason)
    return found


def table(runs: Runs) -> int:
    """Print the table and the survivors without a reason; return 1 if there are any, else 0.

    Mutants of lines that no recorded test runs count as survivors.
    """
    reasons, results = read_reasons(), runs.results()
    counts: dict[str, Counter[str]] = {group.name: Counter() for group in GROUPS}
    unexplained = []
    for mutant in runs.sample:
        result = results.get(mutant.name)
        count = counts[group_of(mutant.place.file).name]
        if result is None or result["ended"] == "not applied":
            count["not tried"] += 1
            continue
        count["tried"] += 1
        if result["ended"] not in ("survived", "not reached"):
            count["killed"] += 1
            continue
        source = (runs.root / mutant.place.file).read_text(encoding="utf-8").splitlines()
        reason = next((r for r in reasons if r.explains(mutant, source)), None)
        count["survived"] += 1
        count["not reached"] += result["ended"] == "not reached"
        count[reason.kind if reason else "unexplained"] += 1
        if reason is None:
            unexplained.append((mutant, result))
    counts["all"] = sum(counts.values(), Counter())
    columns = ("not tried", "tried", "killed", "survived", *KINDS, "not reached", "unexplained")
    print(f"| package | {' | '.join(columns)} | killed of those that differ |")
    print("|---" * (2 + len(columns)) + "|")
    for name, count in counts.items():
        differ = count["killed"] + count["survived"] - count["equivalent"]
        rate = f"{100 * count['killed'] / differ:.1f} %" if differ else ""
        print(f"| {name} | {' | '.join(str(count[word]) for word in columns)} | {rate} |")
    for mutant, result in unexplained:
        where = f"{mutant.place.file}:{mutant.place.lines.start} {mutant.place.function}"
        print(f"{result['ended']} ({result['tests']} tests): {where}: {mutant.change}")
    return 1 if unexplained else 0
