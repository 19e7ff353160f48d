"""Shell elements."""
