"""Responses of Nastran decks over frequency and time."""
