"""Compiled log factors of common kinds, for `race`, samplers and `mcmc.RacingGibbs`.

For all other factors, pass a user-defined function to `Factors`.

Examples
--------
>>> import numpy as np, pybandit as pb
>>> y = np.random.default_rng(1).normal(0.3, 1.0, 100_000)
>>> factors = pb.factors.gaussian(y, np.linspace(-1, 1, 5))
>>> pb.race(factors, rng=1).best
3
"""

from pybandit.racing.likelihoods import categorical, gaussian, members, pairwise, poisson

__all__ = ["categorical", "gaussian", "members", "pairwise", "poisson"]
