"""Entries of a Nastran deck for single components: scalar masses, and the components of a reduction."""
