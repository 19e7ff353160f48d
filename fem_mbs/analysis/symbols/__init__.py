"""What is drawn of each kind of thing in a model, as part of a results header."""
