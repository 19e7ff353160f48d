"""Pages of the documentation site that no build is needed to check; `make docs` executes the tutorials."""

from __future__ import annotations

import re

import pytest
from places import TESTS

TUTORIALS = sorted(p.stem for p in (TESTS.parent / "docs" / "tutorials").glob("*.md") if p.stem != "index")


def entries(text: str) -> list[str]:
    """Return the pages of all tables of contents of a page."""
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", text, flags=re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line and not line.startswith(":")]


def test_every_page_is_in_a_table_of_contents(checkout):
    docs = checkout / "docs"
    listed = entries((docs / "index.md").read_text(encoding="utf-8"))
    listed += [f"tutorials/{page}" for page in entries((docs / "tutorials/index.md").read_text(encoding="utf-8"))]
    pages = {path.relative_to(docs).with_suffix("").as_posix() for path in docs.rglob("*.md")}
    assert sorted(listed) == sorted(pages - {"index"})


@pytest.mark.parametrize("name", TUTORIALS)
def test_tutorials_check_by_hand(checkout, name):
    """Each one is a notebook whose code compiles, shows the model in space and ends in a check."""
    text = (checkout / "docs" / "tutorials" / f"{name}.md").read_text(encoding="utf-8")
    assert text.startswith("---\nfile_format: mystnb\n")
    cells = re.findall(r"```\{code-cell\} python\n(.*?)```", text, flags=re.DOTALL)
    for number, cell in enumerate(cells):
        compile(cell, f"{name}, cell {number}", "exec")
        assert max(map(len, cell.splitlines())) <= 110
    assert any("show()" in cell for cell in cells)
    assert "assert" in cells[-1]
