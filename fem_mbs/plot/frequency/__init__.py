"""Figures of vibrations and stability: Campbell diagrams, roots, responses, modes by nodal diameters."""
