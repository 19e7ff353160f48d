"""Decks of Nastran: bulk data (`fem_mbs.meshes.nastran`) becomes a model with steps."""
