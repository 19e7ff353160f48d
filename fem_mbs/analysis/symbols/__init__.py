"""Symbols by which each kind of thing in a model is drawn, as part of a results header."""
