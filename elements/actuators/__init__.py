"""Actuators: motors with controllers, hydraulic cylinders, users' forces, with state variables of their own."""
