"""Meshes: line cells with named sets (`mesh`), from files (`reader`) or made (`generate`); FE decks (`abaqus`)."""
