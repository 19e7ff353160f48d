"""Contact of balls and points with surfaces of bodies."""
