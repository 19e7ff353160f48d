"""Linear steps: modes, buckling, linear statics, transients and harmonic response."""
