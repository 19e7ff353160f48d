"""Mutation testing: small changes of the source, one at a time, which tests should notice.

    python -m tests.mutants reach
    python -m tests.mutants try --count 500
    python -m tests.mutants table

`docs/reliability.md` has the table of results, `survivors.toml` the reasons of mutants that no test notices.
"""
