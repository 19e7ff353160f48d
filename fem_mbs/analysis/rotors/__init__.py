"""Rotating frames, Campbell diagrams and unbalance response."""
