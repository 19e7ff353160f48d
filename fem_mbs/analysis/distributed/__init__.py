"""Linear steps and reduction of one model by several processes: partition, assembly, matrices, runs."""
