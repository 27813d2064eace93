"""Compilation of kernels with numba, and random numbers."""
