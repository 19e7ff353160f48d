"""Time integration with its rules, events and checks."""
