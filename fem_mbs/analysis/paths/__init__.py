"""Efforts for a given path: motions prescribed at some places, forces that produce them at others."""
