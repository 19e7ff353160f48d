"""Compiled code: short compilation by numba, arrays and records in kernels, machine code on disk and in advance."""
