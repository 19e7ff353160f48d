"""Joints, equations of constraint and friction in joints."""
