"""Results of Nastran decks: tables as the listings have them, and their comparison."""
