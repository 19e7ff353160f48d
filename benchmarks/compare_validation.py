"""Compare the numbers of two validation runs, made by `fem-mbs validate --json FILE` before and after a change.

    python benchmarks/compare_validation.py before.json after.json [--tolerance 1e-12]

Prints the rows that differ by more than the tolerance relative to the larger value, and those that one file alone has;
exits with 1 if there are any.  Rows whose reference is zero measure errors, many of them round-off: they are compared
relative to the accepted error, with 1e-3 for the tolerance.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

_OF_ACCEPTED = 1e-3


def rows_of(path: Path) -> dict[tuple[str, str, int], dict]:
    """Rows of a file by case, quantity and the number of the row among those of the same name."""
    seen: Counter = Counter()
    rows = {}
    for row in json.loads(path.read_text(encoding="utf-8")):
        name = row["case"], row["quantity"]
        rows[*name, seen[name]] = row
        seen[name] += 1
    return rows


def difference(before: dict, after: dict, tolerance: float) -> float:
    """Difference of two values over what is allowed."""
    a, b = before["measured"], after["measured"]
    if a is None or b is None:
        return 0.0 if a is b else float("inf")
    if before["reference"] == 0.0:
        return abs(a - b) / (_OF_ACCEPTED * before["tolerance"] or 1e-300)
    return abs(a - b) / (tolerance * max(abs(a), abs(b)) or 1e-300)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--tolerance", type=float, default=1e-12)
    given = parser.parse_args()
    before, after = rows_of(given.before), rows_of(given.after)
    over = {key: difference(before[key], after[key], given.tolerance) for key in before if key in after}
    lines = []
    for key, value in sorted(over.items(), key=lambda item: -item[1]):
        if value > 1.0:
            a, b = before[key]["measured"], after[key]["measured"]
            lines.append(f"{key[0]:12} {key[1]}: {a!r} -> {b!r} ({value:.2g} times what is allowed)")
    lines += [f"{key[0]:12} {key[1]}: only before" for key in before.keys() - after.keys()]
    lines += [f"{key[0]:12} {key[1]}: only after" for key in after.keys() - before.keys()]
    print(*lines, sep="\n")
    print(f"{len(over)} rows in both, {len(lines)} differ")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
