"""Analyses: initial states, statics and transients of a compiled model."""
