"""The rules engine: NumPy and Numba only."""
