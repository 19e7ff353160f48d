"""Reduced parts: their data, recovery and file formats."""
