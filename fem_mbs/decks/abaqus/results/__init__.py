"""Prints of decks: what is asked for, forces of sections, stresses of beams and shells at CalculiX's points."""
