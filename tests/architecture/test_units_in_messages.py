"""Messages name units by `fem_mbs.units.unit_of`: a word such as "m" behind a number is wrong for models in mm."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("analysis", "cli", "functions", "model", "system")
_UNIT = re.compile(r" (s|Hz|m|kg|N|Pa|J|W|N m|kg m\^2|m/s|m/s\^2|rad/s|1/s)(?![\w/^])")
#: File -> why units stand in its messages: times of the computer, and models in SI alone.
EXPECTED = {
    "cli/compile.py": "seconds of the computer",
    "cli/doubts/plausibility.py": "guesses at the units of models that tell none",
    "cli/modify.py": "seconds of the computer",
    "cli/progress.py": "seconds of the computer",
    "cli/reduce.py": "seconds of the computer",
    "cli/sensitivities.py": "seconds of the computer",
    "cli/sweep.py": "seconds of the computer",
    "analysis/sensitivity/quantities.py": "a unit that is declared",
    "model/sensors/locks.py": "units that are declared",
}


def hard_wired(text: str) -> list[int]:
    """Return the lines of formatted texts with a unit right behind a value."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.JoinedStr)
        for value, word in zip(node.values, node.values[1:], strict=False)
        if isinstance(value, ast.FormattedValue) and isinstance(word, ast.Constant) and _UNIT.match(str(word.value))
    ]


def test_messages_name_the_units_of_the_model():
    found = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / "fem_mbs" / folder).rglob("*.py")):
            lines = hard_wired(path.read_text(encoding="utf-8"))
            if lines:
                found[path.relative_to(ROOT / "fem_mbs").as_posix()] = lines
    wrong = {path: lines for path, lines in found.items() if path not in EXPECTED}
    assert not wrong, f"name these units by unit_of: {wrong}"
    assert found.keys() == EXPECTED.keys()


@pytest.mark.parametrize(
    ("text", "count"), [('f"{gap:g} m apart"', 1), ('f"{gap:g} {unit_of(1)} apart"', 0), ('f"{n} modes"', 0),
                        ('f"t = {t:.6g} s"', 1), ('f"{w} rad/s and {v:g} m/s"', 2), ('f"{n} sets"', 0)],
)  # fmt: skip
def test_what_is_found(text, count):
    assert len(hard_wired(text)) == count
