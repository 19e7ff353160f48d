"""Parts of a model: beams, trusses, solids, bodies, masses, reduced parts, rotors."""
