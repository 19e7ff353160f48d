"""Motions and stresses inside of reduced parts, got back from their interfaces and modes."""
