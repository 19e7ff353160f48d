"""Reduction of parts by component modes."""
