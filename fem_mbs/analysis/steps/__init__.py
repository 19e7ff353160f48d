"""Steps other than transients: their options, checks and reports."""
