"""Kinds of steps, a module each: options, checks, run and report."""
