"""Functions of time and place, and the expressions they are made of."""
