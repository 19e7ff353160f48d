"""Trees of rigid segments in joint coordinates and conjugate momenta."""
