"""Equilibria: paths of them by continuation, critical points and branches, and descents of the potential."""
