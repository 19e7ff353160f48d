"""The commands in groups: one module for each panel of the help."""
