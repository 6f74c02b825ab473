"""Sharing a budget among unbiased estimators of one number.

Examples
--------
>>> import numpy as np, pybandit as pb
>>> caplet = pb.environments.CIRCaplet(0.07)
>>> allocator = pb.montecarlo.EstimatorAllocator(16, budget=2000, rng=1)
>>> rng = np.random.default_rng(1)
>>> while not allocator.done:
...     which = allocator.ask()
...     allocator.tell(which, caplet.pull(which, rng))
>>> round(allocator.estimate, 2), round(float(caplet.means[0]), 2)
(9.26, 9.26)
"""

from pybandit.montecarlo.allocation import EstimatorAllocator
from pybandit.montecarlo.combine import combine_estimators
from pybandit.montecarlo.estimate import Estimate

__all__ = ["Estimate", "EstimatorAllocator", "combine_estimators"]
