"""Tyres: wheels on a road with slip forces."""
