"""Steps of a deck as steps of the model: one module per kind of procedure; `make` has the table of all."""
