"""Derivatives of time steps with respect to parameters, compiled."""
