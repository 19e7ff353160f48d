"""Joints along lines and curves: lines of beams and nodes, curves on bodies, profiles that touch."""
