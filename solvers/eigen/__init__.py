"""Real and complex eigenproblems."""
