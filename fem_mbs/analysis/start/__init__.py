"""Consistent initial states: closing of mechanisms, constraints, velocities, accelerations."""
