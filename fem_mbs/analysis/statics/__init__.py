"""Static steps: load increments and equilibrium paths."""
