"""Copies of declarations: shifted, turned or mirrored, under other names."""
