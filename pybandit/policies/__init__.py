"""Policies under one protocol: ask which arms to pull, tell what they gave."""

from pybandit.policies._base import Policy
from pybandit.policies.batch import BatchHalving, BatchRacing, BatchSAR, RoundRobin

__all__ = ["BatchHalving", "BatchRacing", "BatchSAR", "Policy", "RoundRobin"]
