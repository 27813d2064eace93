"""The compiled kernels' shell, and random draws."""
