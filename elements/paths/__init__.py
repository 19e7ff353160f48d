"""Constraints along lines and curves: points and bodies on beams, lines of nodes and splines, and profiles."""
