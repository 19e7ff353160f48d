"""Springs, dampers, trusses, bushings and bearings."""
