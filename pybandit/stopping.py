"""When a policy may stop: rules that tell the best arm with a confidence, and their limit."""

from pybandit.policies.glr import GLR, lower_bound, optimal_proportions
from pybandit.policies.wagers import Betting

__all__ = ["GLR", "Betting", "lower_bound", "optimal_proportions"]
