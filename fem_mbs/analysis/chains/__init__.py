"""Trees of rigid bodies in joint coordinates: their segments, made from the model, and their time steps."""
