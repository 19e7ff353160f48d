"""Meshes: line cells with named sets (`mesh`), read from files (`reader`), made and written (`generate`); FE decks (`abaqus`)."""
