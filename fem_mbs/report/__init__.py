"""The report of a run: one HTML file with the model, its steps, tables and figures."""
