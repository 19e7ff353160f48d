"""Find lines that tests run, try mutants, print the table.

python -m tests.mutants reach [TESTS ...]              # once: which lines each test runs (hours)
python -m tests.mutants seek --count 500 --seed 1      # or those of a few tests that are near to each mutant
python -m tests.mutants try --count 500 --seed 1       # goes on where it was stopped
python -m tests.mutants try TESTS ... --of TEXT        # mutants whose names contain a text, against these tests
python -m tests.mutants table                          # results so far, in Markdown, and what survived
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "FEM_MBS_COMPILERS"):
    os.environ.setdefault(_variable, "1")  # before numpy is imported: processes are forked

if "--compiled" not in sys.argv:
    from .plain import use_plain_kernels

    use_plain_kernels()

from .results import table  # noqa: E402
from .runs import DEFAULT_TESTS, GROUPS, Runs  # noqa: E402


def main() -> int:
    """Do what the arguments say; return 1 if a mutant survives without a reason, else 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("what", choices=["reach", "seek", "try", "table"])
    parser.add_argument("tests", nargs="*", help=f"tests to look at (default: {' '.join(DEFAULT_TESTS)})")
    parser.add_argument("--folder", type=Path, default=Path("out/mutants"), help="for the files (default: %(default)s)")
    parser.add_argument("--count", type=int, default=sum(group.share for group in GROUPS), help="mutants in all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--budget", type=float, default=8.0, help="seconds of tests for a mutant that survives")
    parser.add_argument("--most", type=float, default=4.0, help="reach, seek: seconds of the longest test that counts")
    parser.add_argument("--enough", type=int, default=2, help="seek: tests that run the lines of a mutant")
    parser.add_argument("--looks", type=int, default=24, help="seek: tests that are looked at for a mutant at most")
    parser.add_argument("-k", default="", metavar="NAMES", help="with TESTS: as for pytest")
    parser.add_argument("-m", metavar="MARKS", help='as for pytest (default of reach: "not long")')
    parser.add_argument("--compiled", action="store_true", help="with compiled kernels, for modules without kernels")
    parser.add_argument("--of", default="", metavar="TEXT", help="try TESTS: those whose names contain it")
    parser.add_argument("--survivors", action="store_true", help="try: those again that have survived")
    given = parser.parse_args()
    runs = Runs(Path(__file__).resolve().parents[2], given.folder, given.count, given.seed, given.compiled)
    marks = given.m if given.m is not None else "not long" if given.what == "reach" else ""
    tests = ["-k", given.k, "-m", marks, *(given.tests or DEFAULT_TESTS)]
    if given.what == "reach":
        return runs.find_reach(tests, given.most)
    if given.what == "seek":
        return runs.seek_reach(tests, given.most, given.enough, given.looks)
    if given.what == "try" and given.tests:
        return runs.try_against(tests, given.of)
    if given.what == "try":
        return runs.try_all(given.budget, given.survivors)
    return table(runs)


if __name__ == "__main__":
    sys.exit(main())
