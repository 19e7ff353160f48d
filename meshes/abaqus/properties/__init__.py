"""Property keywords of decks: materials, axes, sections, and what stands at single points."""
