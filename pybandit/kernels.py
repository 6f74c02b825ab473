"""Kernels of Gaussian processes, for `BayesGap` and its rivals."""

from pybandit.policies.kernels import matern, rbf, squared_exponential

__all__ = ["matern", "rbf", "squared_exponential"]
