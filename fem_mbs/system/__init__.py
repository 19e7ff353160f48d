"""From a model to arrays: numbering, elimination, matrices."""
