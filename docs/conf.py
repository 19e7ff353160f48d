"""Settings of the documentation site: `make docs` builds it, and executes the tutorials."""

from __future__ import annotations

import re
from importlib import metadata

project = "fem-mbs"
copyright = "fem-mbs developers"
release = metadata.version("fem-mbs")

# Formulas are drawn by matplotlib: the site needs no network.
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "matplotlib.sphinxext.mathmpl",
]
mathmpl_srcset = ["2x"]
myst_heading_anchors = 3

# A tutorial whose hand check fails ends the build.
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 600

autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_typehints = "description"
autodoc_member_order = "groupwise"
napoleon_google_docstring = True
napoleon_custom_sections = [("Kinds", "params_style")]

exclude_patterns = ["_build"]
# Pages of the repository that the site does not hold (examples, the licence) are linked as files.
suppress_warnings = ["myst.xref_missing", "myst.header"]

html_theme = "furo"
html_title = "fem-mbs"
html_static_path = ["_static"]
html_css_files = ["site.css"]


def _command_tables() -> str:
    """Return a section in Markdown for each command, with its arguments and options."""
    from typer.main import get_command

    from fem_mbs.cli.main import app

    lines = []
    for name, command in get_command(app).commands.items():
        lines += [f"## `fem-mbs {name}`", command.help or "", "", "| | |", "|---|---|"]
        for parameter in command.params:
            words = ", ".join(parameter.opts) if parameter.param_type_name == "option" else parameter.name.upper()
            lines.append(f"| `{words}` | {getattr(parameter, 'help', None) or ''} |")
        lines.append("")
    return "\n".join(lines)


def _write_commands(app, docname: str, source: list[str]) -> None:
    """Append the commands to the page `command-line`: they are read from the program."""
    if docname == "command-line":
        source[0] += _command_tables()


def _as_text(app, what, name, thing, options, lines: list[str]) -> None:
    """Escape what docstrings mean as text and reStructuredText does not: bars, and a plural s after a code word."""
    lines[:] = [re.sub(r"(`[^`]+`)s\b", r"\1\\ s", line).replace("|", "\\|") for line in lines]


def setup(app) -> None:
    """Let Sphinx fill the page of the command line, and read docstrings as they are meant."""
    app.connect("source-read", _write_commands)
    app.connect("autodoc-process-docstring", _as_text)
