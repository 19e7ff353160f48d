"""Run attacks and print their table: `python -m tests.attack NAME ... [--count N] [--workers N] [--first SEED]`."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from pathlib import Path

from .guard import Tally, run_attack
from .registry import ATTACKS, GROUPS

_SHOWN = 20  # largest number of failures of one kind that are listed


def table(tallies: list[Tally]) -> str:
    """Return the table of results in Markdown, a row for each kind."""
    rows = ["| kind | tried | seeds | cases | ended | failed | time |", "|---|---|---|---|---|---|---|"]
    for tally in tallies:
        ends = ", ".join(f"{n} {end}" for end, n in sorted(tally.ends.items(), key=lambda item: -item[1]))
        seeds = f"{tally.seeds.start} to {tally.seeds.stop - 1}"
        what = f"| {tally.attack.name} | {tally.attack.tried} | {seeds} | {tally.count} | {ends} "
        rows.append(f"{what}| {len(tally.failures)} | {tally.elapsed:.0f} s |")
    cases, failed = sum(t.count for t in tallies), sum(len(t.failures) for t in tallies)
    return "\n".join([*rows, f"| all | | | {cases} | | {failed} | |"])


def main() -> int:
    """Run the attacks that the arguments name; return 1 if a case failed, else 0."""
    known = ", ".join([*ATTACKS, *GROUPS])
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__, epilog=f"names: {known}")
    parser.add_argument("names", nargs="+", choices=[*ATTACKS, *GROUPS], metavar="NAME")
    parser.add_argument("--count", type=int, help="cases of each kind (default: those of tests/attack/registry.py)")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    given = parser.parse_args()
    names = dict.fromkeys(inner for name in given.names for inner in GROUPS.get(name, (name,)))
    tallies = []
    for name in names:
        attack, usual = ATTACKS[name]
        if attack.warm:
            with tempfile.TemporaryDirectory(prefix="fem-mbs-attack-") as folder, contextlib.suppress(Exception):
                attack.make(Path(folder))(given.first)
        tallies.append(run_attack(attack, usual if given.count is None else given.count, given.workers, given.first))
        print(f"{name}: {tallies[-1].count} cases, {len(tallies[-1].failures)} failed", file=sys.stderr, flush=True)
        for seed, text in tallies[-1].failures[:_SHOWN]:
            print(f"  {name} --first {seed} --count 1: {text}", file=sys.stderr, flush=True)
    print(table(tallies))
    return 1 if any(tally.failures for tally in tallies) else 0


if __name__ == "__main__":
    sys.exit(main())
