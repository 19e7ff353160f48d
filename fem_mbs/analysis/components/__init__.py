"""Coupling of reduced parts, sensitivities and modifications."""
