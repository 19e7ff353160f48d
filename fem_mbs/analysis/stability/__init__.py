"""Linearisation of moving states, complex modes and stability maps."""
