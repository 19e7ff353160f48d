"""Reader of Abaqus and CalculiX decks."""
