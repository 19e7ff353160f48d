"""Run tests on a mutant in a new interpreter: `python -m tests.mutants.fresh FILE INDEX VARIANT TEST ...`."""

from __future__ import annotations

import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

from .plain import use_plain_kernels

use_plain_kernels()

import numpy as np  # noqa: E402
import pytest  # noqa: E402

from .operators import mutant, mutate, places  # noqa: E402


def main() -> int:
    """Import the package with the change; return the exit code of pytest."""
    root = Path(__file__).resolve().parents[2]
    file, index, variant, *tests = sys.argv[1:]
    source = (root / file).read_text(encoding="utf-8")
    place = next(place for place in places(file, source) if place.index == int(index))
    tree = mutate(source, mutant(source, place, int(variant)))
    usual = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        if Path(self.path).resolve() == root / file:
            return compile(tree, self.path, "exec", dont_inherit=True)
        return usual(self, fullname)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    np.seterr(all="ignore")
    options = ["-q", "-x", "-p", "no:cacheprovider", "-W", "ignore::RuntimeWarning", "--tb=line", "-p", "no:xdist"]
    return pytest.main([*options, *tests])


if __name__ == "__main__":
    sys.exit(main())
