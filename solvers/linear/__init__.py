"""Sparse factorisations and saddle-point solvers."""
