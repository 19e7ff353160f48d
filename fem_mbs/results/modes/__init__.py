"""Modes in results: eigenvalues along a run, shapes, and how two sets of shapes agree."""
