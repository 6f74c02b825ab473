"""Arms of known means, to run policies on."""

from pybandit.simulation.environments import (
    BernoulliBandit,
    BinomialBandit,
    CostlyBandit,
    EmpiricalBandit,
    Environment,
    GaussianBandit,
    ScaledBernoulliBandit,
    TableBandit,
    TruncatedNormalBandit,
    UniformBandit,
)

__all__ = ["BernoulliBandit", "BinomialBandit", "CostlyBandit", "EmpiricalBandit", "Environment",
           "GaussianBandit", "ScaledBernoulliBandit", "TableBandit", "TruncatedNormalBandit",
           "UniformBandit"]
