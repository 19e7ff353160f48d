"""Reservations that every figure of results carries: departures of a deck, steps whose results do not hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from fem_mbs.results.reader import Results

__all__ = ["current_mark", "mark_text", "marked", "marks_of"]

_current: ContextVar[str] = ContextVar("fem_mbs_mark", default="")


def marks_of(results: Results) -> list[str]:
    """Return sentences on what makes results other than they seem; none of results without reservations."""
    report = results.report
    departures = results.header.get("departures") or (report.departures if report is not None else None) or []
    found = [f"not the deck's results: {sentence}" for sentence in departures]
    found += [f"not valid: {sentence}" for sentence in results.failures]
    if results.status not in ("done", "running"):
        found.append(f"the run is {results.status}")
    return found


def mark_text(results: Results, width: int = 130) -> str:
    """Return the marks of results as one line; "" where there are none."""
    found = marks_of(results)
    if not found:
        return ""
    text = found[0] if len(found) == 1 else f"{found[0]} (and {len(found) - 1} more, see summary.json)"
    text = text[:1].upper() + text[1:]
    return text if len(text) <= width else text[: width - 4] + " ..."


def current_mark() -> str:
    """Return the line that figures carry which are made now."""
    return _current.get()


@contextmanager
def marked(results: Results | None) -> Iterator[None]:
    """Let figures that are made inside carry the marks of results; without results the marks stay."""
    token = None if results is None else _current.set(mark_text(results))
    try:
        yield
    finally:
        if token is not None:
            _current.reset(token)
