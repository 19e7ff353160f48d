"""What each step kind reports: one module per kind, without numerical imports."""
