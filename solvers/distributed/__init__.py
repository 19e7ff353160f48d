"""Sparse linear algebra on several processes: PETSc, SLEPc and MUMPS through MPI."""
