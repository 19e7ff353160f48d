"""Where tests find the checkout, its sources, their data, the schema of summaries and the decks beside the checkout."""

from __future__ import annotations

import ast
import gc
import json
import os
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
DATA = TESTS / "data"
DECKS = DATA / "decks"
SHARED_DECKS = Path(os.environ.get("FEM_MBS_DECKS", ROOT.parent / "shared" / "decks" / "calculix"))
SCHEMA = json.loads((ROOT / "docs" / "summary.schema.json").read_text(encoding="utf-8"))


@cache
def syntax(text: str) -> tuple[ast.AST, ...]:
    """All nodes of the syntax tree of a source, its module first.  Tests share them: nobody changes a node.

    Two million nodes stay to the end: Python looks for no garbage among them, which takes longer than to parse.
    """
    gc.disable()
    try:
        return tuple(ast.walk(ast.parse(text)))
    finally:
        gc.freeze()
        gc.enable()
