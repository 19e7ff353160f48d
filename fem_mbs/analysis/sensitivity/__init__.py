"""Derivatives of motions and equilibria with respect to parameters."""
