"""Show objects in notebooks: a class that derives from `Shown` gets `_repr_html_`.

What draws the pages stands above all classes that are shown.  The package `fem_mbs` registers it here (`show_by`).
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

__all__ = ["Shown", "show_by"]

_makers: list[Callable[[object], str]] = []


def show_by(maker: Callable[[object], str]) -> None:
    """Let ``maker`` return the HTML of objects; it takes the place of the one before."""
    _makers[:] = [maker]


class Shown:
    """Base of classes whose objects show themselves in notebooks."""

    def _repr_html_(self) -> str:
        """Return the object as HTML; where that fails, as text: a display must not end a user's session."""
        try:
            return _makers[0](self)
        except Exception:
            import logging

            logging.getLogger("fem_mbs").debug("no page of %r", type(self).__name__, exc_info=True)
            return f"<pre>{escape(repr(self))}</pre>"
