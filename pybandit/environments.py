"""Simulated arms with known means, to run policies on.

Examples
--------
>>> import pybandit as pb
>>> bandit = pb.environments.BernoulliBandit([0.04, 0.05, 0.07])
>>> pb.simulate(pb.policies.SequentialHalving(3, budget=3000), bandit, 200, rng=1).error_probability
0.05
"""

from pybandit.montecarlo.estimators import CIRCaplet, LogisticEvidence
from pybandit.simulation.costly import CostlyBandit
from pybandit.simulation.environments import (
    BernoulliBandit,
    BinomialBandit,
    Environment,
    GaussianBandit,
    ScaledBernoulliBandit,
    TruncatedNormalBandit,
    UniformBandit,
)
from pybandit.simulation.observed import EmpiricalBandit, TableBandit

__all__ = ["BernoulliBandit", "BinomialBandit", "CIRCaplet", "CostlyBandit", "EmpiricalBandit",
           "Environment", "GaussianBandit", "LogisticEvidence", "ScaledBernoulliBandit",
           "TableBandit", "TruncatedNormalBandit", "UniformBandit"]
