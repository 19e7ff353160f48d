"""Loads on nodes and lines."""
