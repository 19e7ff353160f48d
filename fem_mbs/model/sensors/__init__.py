"""Sensors: named quantities over time, computed from values that the compiled step records."""
