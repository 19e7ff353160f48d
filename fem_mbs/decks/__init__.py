"""Runs of Abaqus and CalculiX decks."""
