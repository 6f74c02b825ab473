"""Simulations of policies on arms with known means: environments, runs and comparisons.

Examples
--------
>>> import pybandit as pb
>>> bandit = pb.environments.GaussianBandit([0.0, 0.5, 1.0])
>>> pb.simulate(pb.policies.SequentialHalving(3, budget=120), bandit, 500, rng=1)
<SimulationResult: 500 runs, error 0.02 (0.0109 to 0.03642), 120 pulls in 2 batches>
"""

from pybandit.simulation import environments
from pybandit.simulation._answers import Above, Best
from pybandit.simulation._compare import compare
from pybandit.simulation._simulate import simulate
from pybandit.simulation.comparison import Comparison
from pybandit.simulation.result import SimulationResult

__all__ = ["Above", "Best", "Comparison", "SimulationResult", "compare", "environments", "simulate"]
