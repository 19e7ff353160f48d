"""Compiled time steps and continuation of equilibrium paths."""
