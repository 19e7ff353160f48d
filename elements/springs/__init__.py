"""Springs, dampers, trusses, bushings, bearings and motors."""
