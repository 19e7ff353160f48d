"""Decks on the command line, and short decks of Nastran."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from deck_text import Done
from nastran_decks import CASE

from fem_mbs.decks.nastran.run import solve_deck
from fem_mbs.decks.notes import Accept
from fem_mbs.meshes.nastran.reader import read_bulk


@pytest.fixture
def call(fem_mbs, monkeypatch):
    """The command line in this process, in a folder."""

    def run(*arguments: str | Path, cwd: Path | None = None) -> Done:
        if cwd is not None:
            monkeypatch.chdir(cwd)
        return Done(*fem_mbs(*arguments))

    return run


# --- of Nastran ---
@pytest.fixture
def deck(tmp_path):
    """Reads a deck of Nastran."""

    def read(bulk: str, case: str = CASE, sol: int = 101):
        path = tmp_path / "deck.bdf"
        path.write_text(f"SOL {sol}\nCEND\n{case}BEGIN BULK\n{bulk}ENDDATA\n")
        return read_bulk(path)

    return read


@pytest.fixture
def tables(deck):
    """Solves a deck of Nastran: a list, per step, of tables quantity -> {number: row}; of beams {number: rows}."""

    def solve(bulk: str, case: str = CASE, sol: int = 101, accept: Accept = Accept.NORMAL):
        _, solution = solve_deck(deck(bulk, case, sol), accept=accept)
        out = []
        for step in solution.report.steps:
            found: dict[str, dict] = {}
            for t in step.prints or ():
                name = t.quantity + (f" {t.mode}" if t.mode else "")
                rows = found.setdefault(name, {})
                for id_, row in zip(t.ids, t.values, strict=True):
                    rows[id_] = np.array(row) if t.points is None else [*rows.get(id_, []), np.array(row)]
            out.append(found)
        return out

    return solve
