"""What acts where surfaces touch: contact and dry friction."""
