"""Kernels of Gaussian processes, for `BayesGap` and similar policies.

Examples
--------
>>> import numpy as np, pybandit as pb
>>> x = np.linspace(0, 10, 50)[:, None]
>>> pb.policies.BayesGap(50, budget=30, kernel=pb.kernels.matern(2.0, nu=1.5)(x), noise_std=0.1)
<BayesGap: 50 arms, 0 pulls in 0 batches>
"""

from pybandit.policies.correlated.kernels import matern, rbf

__all__ = ["matern", "rbf"]
