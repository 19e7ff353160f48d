"""Constraints of decks: supports, equations, couplings, sections under pre-tension, sectors of wheels."""
