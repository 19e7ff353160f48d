"""Attacks on the package: damaged inputs for all readers, killed processes, faults of the environment, long runs.

    python -m tests.attack models decks --count 20000 --workers 2
    python -m tests.attack all

The command prints a table in Markdown with the numbers of cases, of accepted and of refused ones, and lists each failed
case with the seed that reproduces it.  `docs/reliability.md` has a table of results; `test_attack.py` runs a small
sample of each kind.
"""

import os

for _variable in (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "FEM_MBS_COMPILERS",
    "FEM_MBS_THREADS",
):
    os.environ.setdefault(_variable, "1")  # before numpy is imported: workers are forked
