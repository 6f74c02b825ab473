"""Policies under one protocol: ask which arms to pull, tell what they gave."""

from pybandit.policies._base import Policy
from pybandit.policies.batch import BatchHalving, BatchRacing, BatchSAR, RoundRobin
from pybandit.policies.gap import UCBE, GapE, GapEV, UGapEb
from pybandit.policies.halving import (
    SequentialHalving,
    SHAdaVar,
    SHVar,
    SuccessiveRejects,
    Uniform,
)

__all__ = ["BatchHalving", "BatchRacing", "BatchSAR", "GapE", "GapEV", "Policy", "RoundRobin",
           "SHAdaVar", "SHVar", "SequentialHalving", "SuccessiveRejects", "UCBE", "UGapEb",
           "Uniform"]
