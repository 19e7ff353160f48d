"""Show objects in notebooks: a class that derives from `Shown` gets `_repr_html_`.

The pages are made by `fem_mbs.plot.notebook`, which stands above all classes that it shows.  It is imported by its
name, and only when a notebook asks for a page.
"""

from __future__ import annotations

import logging
from html import escape
from importlib import import_module

__all__ = ["PAGES", "Shown"]

#: The module whose function ``page`` makes the HTML of an object.
PAGES = "fem_mbs.plot.notebook"

log = logging.getLogger("fem_mbs")


class Shown:
    """Base of classes whose objects show themselves in notebooks."""

    def _repr_html_(self) -> str:
        """Return the object as HTML; where that fails, as text: a display must not end a user's session."""
        try:
            return import_module(PAGES).page(self)
        except Exception:
            log.debug("no page of %r", type(self).__name__, exc_info=True)
            return f"<pre>{escape(repr(self))}</pre>"
