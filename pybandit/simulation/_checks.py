"""Check the policies, environments, arms and rewards that user code returns."""

import numpy as np

from pybandit._shared.checks import check_in, check_numeric, owned, shown
from pybandit._shared.errors import InfeasibleBudgetError
from pybandit.policies.protocol.functions import FunctionPolicy
from pybandit.simulation._native import draws_natively, size_of_next
from pybandit.simulation.base import Environment


def check_pair(policy, environment):
    """Raise unless the policy fits the environment."""
    for name in ("ask", "tell", "recommend"):
        if not hasattr(policy, name):
            raise TypeError(f"policy must return a policy, which has {name}; got "
                            f"{shown(policy)}")
    n_arms = getattr(policy, "n_arms", environment.n_arms)
    if n_arms != environment.n_arms:
        raise ValueError(f"policy must have the {environment.n_arms} arms "
                         f"of the environment; got one with {n_arms}")


def pulls_of(policy):
    """Return the policy's n_pulls if it is an integer, else 0."""
    n_pulls = getattr(policy, "n_pulls", 0)
    return n_pulls if isinstance(n_pulls, (int, np.integer)) else 0


def check_fresh(policy):
    """Raise if the policy has received results."""
    if pulls_of(policy):
        raise ValueError(f"policy must return a fresh policy in every run; got one with "
                         f"{policy.n_pulls} pulls")


def check_environment(environment):
    """Raise unless this is an environment with constant means or with `means_at`."""
    for name in ("pull", "means"):
        if not hasattr(environment, name):
            raise TypeError(f"environment must have {name}; got {shown(environment)}")
    if varies(environment):
        if draws_natively(environment):
            raise ValueError("environment must have its own pull if it has means_at: "
                             f"rewards of {type(environment).__name__} do not vary")
    elif not getattr(environment, "stationary", True):
        raise ValueError("environment must be stationary or have means_at(t), which returns its "
                         "means before pull t of a run, for errors and regrets; got "
                         f"{environment!r}")


def varies(environment):
    """Return True if the means vary in a run and `means_at` returns them."""
    return callable(getattr(environment, "means_at", None))


def means_of(environment, t=None):
    """Return the means, or the means before pull t of a run."""
    name = f"{'means' if t is None else f'means_at({t})'} of {type(environment).__name__}"
    if t is None:
        # NaN means unknown; errors and regrets are then unknown too
        means = check_in(name, environment.means, "finite, or NaN if they are unknown",
                         lambda x: ~np.isinf(x))
    else:
        means = check_in(name, environment.means_at(t), "finite", np.isfinite)
    if means.shape != (environment.n_arms,):
        raise ValueError(f"{name} must have shape ({environment.n_arms},); got shape "
                         f"{means.shape}")
    return means


def has_plain_means(environment):
    """Return True if `means` is that of the base class, which does not change."""
    return getattr(type(environment), "means", None) is Environment.means


def check_constant(means, environment, i):
    """Raise if the means differ from those before run i."""
    if not np.array_equal(means, environment.means, equal_nan=True):
        raise ValueError("environment must have constant means in a run, or have means_at(t), "
                         "which returns them, for errors and regrets; got other means after run "
                         f"{i}")


def check_answer_kind(policy, kind):
    """Raise if the right answer is the k best arms, but the policy names any number of arms."""
    threshold = getattr(policy, "threshold", None)
    if kind == "best" and getattr(type(policy), "_answers_any_number", False):
        raise ValueError(f"answer must be Above({threshold!r}) or a set of arms for "
                         f"{type(policy).__name__}, which names any number of arms; got "
                         "\"best\"")


def check_max_pulls(policy, max_pulls):
    """Raise if a run would never end, or could not start."""
    if max_pulls is None:
        if getattr(policy, "is_endless", False):
            raise ValueError(f"max_pulls must be given because the policy never ends; got None for "
                             f"{policy!r}")
        return
    # FunctionPolicy asks for one pull at a time, and needs random bits that the run has not lent
    asks_one = isinstance(policy, FunctionPolicy)
    first = 0 if policy.done or asks_one else size_of_next(policy)
    if first > max_pulls:
        raise InfeasibleBudgetError(f"max_pulls must be at least {first}, the size of the first "
                                    f"batch; got {max_pulls}")


def check_asked(arms, policy, environment):
    """Return a copy of the arms that `ask` returned; raise unless they are valid."""
    array = owned("the return value of ask", arms)
    if array.dtype.kind not in "iu" or array.ndim != 1 or not array.size:
        raise ValueError(f"ask of {type(policy).__name__} must return a flat array of integers, "
                         f"not empty until the policy is done; got {repr(arms)[:60]}")
    bad = (array < 0) | (array >= environment.n_arms)
    if bad.any():
        raise ValueError(f"ask of {type(policy).__name__} must return arms in "
                         f"[0, {environment.n_arms}); got {array[bad][0]}")
    return array.astype(np.int64, copy=False)


def checked_rewards(rewards, arms, environment):
    """Return the rewards; raise unless there is one finite reward per pull."""
    name = f"rewards that pull of {type(environment).__name__} returns"
    rewards = check_numeric(name, rewards, masked_as_nan=True)
    if rewards.shape != np.shape(arms):
        raise ValueError(f"{name} must have shape {np.shape(arms)}, one value per pull; got shape "
                         f"{rewards.shape}")
    if not np.isfinite(rewards).all():
        raise ValueError(f"{name} must be finite; got {rewards[~np.isfinite(rewards)][0]}")
    return rewards
