"""Attack the package: damaged inputs of all readers, kills, faults of the environment, long runs.

    python -m tests.attack models decks --count 20000 --workers 2
    python -m tests.attack all

prints a table in Markdown: how many cases, how many were accepted and refused, and every case that failed, with the
seed that makes it again.  `docs/reliability.md` holds the table of a run; `test_attack.py` runs a small sample of each
kind.
"""
