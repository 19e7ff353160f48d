"""Kinds of steps of rotors over their speeds, a module each."""
