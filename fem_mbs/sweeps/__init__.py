"""Parameter sweeps of model files."""
