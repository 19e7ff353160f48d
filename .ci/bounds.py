"""Print the oldest versions that pyproject.toml admits, as a constraints file of pip.

python .ci/bounds.py [EXTRA ...]        requirements of the package and of these extras
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path


def oldest(project: dict, extras: list[str]) -> list[str]:
    """Return ``name==version`` for each requirement, with its lower bound.  Extras may include other extras."""
    found: list[str] = []
    waiting, seen = [*project["dependencies"]], set(extras)
    waiting += [r for extra in extras for r in project["optional-dependencies"][extra]]
    while waiting:
        requirement = waiting.pop(0)
        own = re.fullmatch(rf"{re.escape(project['name'])}\[(.*)\]", requirement)
        if own:
            new = [extra.strip() for extra in own[1].split(",") if extra.strip() not in seen]
            seen |= set(new)
            waiting += [r for extra in new for r in project["optional-dependencies"][extra]]
            continue
        bound = re.fullmatch(r"([A-Za-z0-9._-]+)>=([0-9.]+)", requirement)
        if bound is None:
            raise SystemExit(f"pyproject.toml: {requirement!r} has no lower bound, or more than one")
        found.append(f"{bound[1]}=={bound[2]}")
    return found


if __name__ == "__main__":
    settings = tomllib.loads(Path(__file__).parent.parent.joinpath("pyproject.toml").read_text("utf-8"))
    print("\n".join(oldest(settings["project"], sys.argv[1:])))
