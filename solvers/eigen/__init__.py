"""Real and complex eigenproblems."""

__all__ = ["CHECKS", "SIGNS"]

# Words of options, which declarations of steps read without the numerics.
#: Ways to look for real modes that the iteration has missed.
CHECKS = ("none", "probe", "inertia")
#: Signs of load factors of buckling that are wanted.
SIGNS = ("both", "positive", "negative")
