"""Decks on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from deck_text import Done


@pytest.fixture
def call(fem_mbs, monkeypatch):
    """The command line in this process, in a folder."""

    def run(*arguments: str | Path, cwd: Path | None = None) -> Done:
        if cwd is not None:
            monkeypatch.chdir(cwd)
        return Done(*fem_mbs(*arguments))

    return run
