"""Benchmarks; matrices are multiplied by one thread, as speeds are those of one core."""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported
