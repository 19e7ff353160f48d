"""Modes about a state: sectors of wheels, masters, unknowns inside of elements, rigid motions, highest frequency."""
