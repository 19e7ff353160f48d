"""Models and results as one page that turns, zooms and plays: `fem-mbs show`, `Model.show`, `Results.show`."""
