"""Reduced flexible bodies, their loads and ties."""
