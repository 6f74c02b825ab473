"""Stopping rules that identify the best arm with a given confidence, and their lower bound.

Examples
--------
>>> import pybandit as pb
>>> policy = pb.policies.TopTwo(3, stopping=pb.stopping.GLR(delta=0.05, noise_std=0.5), rng=1)
>>> bandit = pb.environments.GaussianBandit([0.0, 0.3, 1.0], noise_std=0.5)
>>> result = pb.simulate(policy, bandit, 200, rng=1, max_pulls=10_000)
>>> result.error_probability, result.mean_pulls
(0.0, 34.425)
>>> round(pb.stopping.lower_bound([0.0, 0.3, 1.0], delta=0.05, noise_std=0.5), 1)
12.6
"""

from pybandit.policies.stopping.glr import GLR, lower_bound, optimal_proportions
from pybandit.policies.stopping.wagers import Betting

__all__ = ["GLR", "Betting", "lower_bound", "optimal_proportions"]
