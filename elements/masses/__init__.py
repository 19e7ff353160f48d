"""Mass elements."""
