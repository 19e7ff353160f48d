"""Decks of Abaqus and CalculiX: keywords become a model and its steps."""
