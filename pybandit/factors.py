"""Log factors of the common kinds, compiled: what `race`, samplers and `mcmc.RacingGibbs` take.

`Factors` with a function of one's own are for anything else.
"""

from pybandit.racing.likelihoods import categorical, gaussian, members, pairwise, poisson

__all__ = ["categorical", "gaussian", "members", "pairwise", "poisson"]
