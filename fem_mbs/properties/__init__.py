"""Properties of beam sections and solid materials."""
