"""Bases of component mode synthesis."""
