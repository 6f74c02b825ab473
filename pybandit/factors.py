"""Log factors of the common kinds, compiled: what `race`, samplers and `mcmc.RacingGibbs` take.

`Factors` with a function of one's own are for anything else.

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
