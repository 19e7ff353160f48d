"""Published benchmarks, one file each; `fem-mbs validate` runs them.

A file is named author_year_case.py and holds the problem, a sketch, the source, ``build()``, ``reference()`` and
``check()``; `fem_mbs.validation.case` says what these are.  Only the public names of fem_mbs are used.
"""
