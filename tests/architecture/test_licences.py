"""docs/licences.md names every package of pyproject.toml, and the licence that the installed package states."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata

import pytest
from places import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
#: What the licences of a family are called in the metadata of packages.
FAMILIES = {
    "BSD-2-Clause": ("BSD",),
    "BSD-3-Clause": ("BSD",),
    "MIT": ("MIT",),
    "MIT-CMU": ("MIT-CMU", "HPND"),
    "PSF (Matplotlib licence)": ("Python Software Foundation", "PSF"),
    "Apache-2.0": ("Apache",),
    "MPL-2.0": ("MPL", "Mozilla"),
}


def _names(requirements: list[str]) -> list[str]:
    names = [re.match(r"[A-Za-z0-9._-]+", requirement)[0] for requirement in requirements]
    return [name for name in names if name != PROJECT["name"]]


def _rows(title: str) -> list[list[str]]:
    text = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"^## {title}\n(.*?)^## ", text, re.M | re.S)
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


NEEDED = {row[0]: row[1] for row in _rows("What fem-mbs needs")}
EXTRAS = {(row[0], row[1]): row[2] for row in _rows("Extras")}


def test_every_package_has_its_row():
    assert list(NEEDED) == _names(PROJECT["dependencies"])
    extras = PROJECT["optional-dependencies"]
    assert list(EXTRAS) == [(name, extra) for extra, requirements in extras.items() for name in _names(requirements)]


@pytest.mark.parametrize(
    ("name", "licence"), [*NEEDED.items(), *((name, licence) for (name, _), licence in EXTRAS.items())]
)
def test_licence_is_the_one_that_the_package_states(name, licence):
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed here")
    classifiers = [text for text in about.get_all("Classifier") or [] if text.startswith("License ::")]
    said = " ".join([about.get("License-Expression") or "", (about.get("License") or "")[:200], *classifiers])
    assert any(word in said for word in FAMILIES[licence]), f"{name} states: {said[:200]}"
    assert "GPL" not in said, f"{name} states a GPL: docs/licences.md must say so"
