"""Loads of a model: forces, moments, line loads, turning and shaking frames, temperatures."""
