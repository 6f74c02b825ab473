"""Plain NumPy and SciPy twins of the kernels, written from the formulas for reading, not speed."""
