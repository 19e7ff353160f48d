"""Forces between surfaces that touch: contact and dry friction."""
