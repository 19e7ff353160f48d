"""Constraints of a Nastran deck: equations, supports, and what AUTOSPC holds."""
