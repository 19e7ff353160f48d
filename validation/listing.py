"""The list of the benchmarks in Markdown, by capability: `python -m fem_mbs.validation.listing` prints it.

It is the page docs/validation-cases.md.
"""

from __future__ import annotations

from fem_mbs.validation.capabilities import CAPABILITIES
from fem_mbs.validation.registry import find

__all__ = ["markdown"]


def markdown() -> str:
    """Return the page."""
    files = find()
    parts = [
        "# Benchmarks\n\nWhat `fem-mbs validate` computes, by capability. How to read its table: [](validation.md).\n"
    ]
    for key, title in CAPABILITIES.items():
        parts.append(f"## {title}\n\n| benchmark | what it shows | file |\n|---|---|---|")
        for file in files:
            if file.capability == key:
                parts += [f"| {case} | {text} | `{file.name}` |" for case, text in file.cases.items()]
        parts.append("")
    return "\n".join(parts)


if __name__ == "__main__":
    print(markdown(), end="")
