"""Attack the package: damaged inputs of all readers, kills, faults of the environment, long runs.

    python -m tests.attack models decks --count 20000 --workers 2
    python -m tests.attack all

prints a table in Markdown: how many cases, how many were accepted and refused, and every case that failed, with the
seed that makes it again.  `docs/reliability.md` holds the table of a run; `test_attack.py` runs a small sample of each
kind.
"""

import os

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "FEM_MBS_COMPILERS"):
    os.environ.setdefault(_variable, "1")  # before numpy is imported: workers are forked
