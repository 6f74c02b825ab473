"""Validate the arguments of an allocator and convert them for its rules."""

import numpy as np

from pybandit import policies
from pybandit._shared.checks import check_choice, check_in, shown
from pybandit.policies.protocol.base import NativePolicy

BANDITS = {"ucb1": policies.UCB1, "ucb-v": policies.UCBV, "kl-ucb": policies.KLUCB,
           "thompson": policies.ThompsonSampling}
RULES = ("uniform", "lcb-variance", "thompson-variance")


def checked_costs(costs, n):
    costs = check_in("costs", costs, "finite and at least 0", lambda c: np.isfinite(c) & (c >= 0))
    if costs.shape != (n,):
        raise ValueError(f"costs must have the shape of estimators, ({n},); got {costs.shape}")
    return costs


def bandit_policy(policy, n_arms):
    """Return the bandit policy of this name, or the policy itself if it is suitable."""
    if isinstance(policy, str):
        check_choice("policy", policy, (*RULES, *BANDITS))
        return BANDITS[policy](n_arms)
    if not isinstance(policy, NativePolicy) or not policy.is_endless:
        raise TypeError(f"policy must be one of {(*RULES, *BANDITS)} or a policy of this package "
                        f"without a budget; got {shown(policy)}")
    if policy.n_arms != n_arms or policy.n_pulls:
        raise ValueError(f"policy must be fresh and have n_arms = {n_arms} arms; got "
                         f"{policy!r}")
    if getattr(policy, "batch_size", 1) > 1:
        raise ValueError(f"policy must choose one estimator at a time; got batch_size="
                         f"{policy.batch_size}: use batch_size of the allocator instead")
    return policy


def ranges_of(value_range, n_arms):
    """Return the range of all values, shape (2,), or one per estimator, shape (n_arms, 2)."""
    ranges = check_in("value_range", value_range, "finite", np.isfinite)
    if ranges.ndim == 0:
        ranges = np.array([0.0, float(ranges)])
    expected = f"(low, high), a positive number or of shape ({n_arms}, 2)"
    if ranges.shape not in ((2,), (n_arms, 2)):
        raise ValueError(f"value_range must be {expected}; got shape {ranges.shape}")
    with np.errstate(over="ignore"):
        widths = ranges[..., 1] - ranges[..., 0]
    if not ((widths > 0) & (widths < np.inf)).all():
        raise ValueError(f"value_range must be {expected}, with low below high and a finite width; "
                         f"got {value_range!r}")
    low, high = np.max(ranges[..., 0]), np.min(ranges[..., 1])
    if low > high:
        raise ValueError(f"value_range must hold overlapping ranges, since all estimators have the "
                         f"same mean; got one range above {low} and one below {high}")
    return ranges
