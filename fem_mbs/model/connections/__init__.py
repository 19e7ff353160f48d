"""Joints, springs and equations of the model builder."""
