"""Trees of rigid bodies in joint coordinates: what of a model they are made of, and their time steps."""
