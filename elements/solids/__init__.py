"""Solid elements, their masses and loads."""
