"""Actuators: motors, hydraulic cylinders, users' forces, on coordinates of joints or between points."""
