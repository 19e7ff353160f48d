"""Sparse linear algebra, Newton-Raphson and integrators: arrays and small protocols, never elements or meshes."""
