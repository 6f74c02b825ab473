"""What a factory and an environment return: checked before it is used."""

import numpy as np

from pybandit._shared.checks import check_in, check_numeric, owned, shown
from pybandit._shared.errors import InfeasibleBudgetError
from pybandit.policies.protocol.functions import FunctionPolicy
from pybandit.simulation._native import draws_natively, size_of_next
from pybandit.simulation.base import Environment


def check_pair(policy, environment):
    """Refuse a policy that does not fit the environment."""
    for name in ("ask", "tell", "recommend"):
        if not hasattr(policy, name):
            raise TypeError(f"policy must return a policy, with {name}; got "
                            f"{shown(policy)}")
    n_arms = getattr(policy, "n_arms", environment.n_arms)
    if n_arms != environment.n_arms:
        raise ValueError(f"policy must return a policy of the {environment.n_arms} arms "
                         f"of the environment; got one of {n_arms}")


def pulls_of(policy):
    """What a policy says it was told: n_pulls, where that is an integer; else 0."""
    n_pulls = getattr(policy, "n_pulls", 0)
    return n_pulls if isinstance(n_pulls, (int, np.integer)) else 0


def check_fresh(policy):
    """Refuse a policy that was told something; nobody else may be using it."""
    if pulls_of(policy):
        raise ValueError(f"policy must return a fresh policy in every run; got one of "
                         f"{policy.n_pulls} pulls")


def check_environment(environment):
    """Refuse what is none, and means that vary where nobody says how."""
    for name in ("pull", "means"):
        if not hasattr(environment, name):
            raise TypeError(f"environment must have {name}; got {shown(environment)}")
    if varies(environment):
        if draws_natively(environment):
            raise ValueError("environment must have a pull of its own where it has means_at: "
                             f"rewards of {type(environment).__name__} do not vary")
    elif not getattr(environment, "stationary", True):
        raise ValueError("environment must be stationary, or say its means before pull t of a "
                         "run, means_at(t): errors and regrets are about them; got "
                         f"{environment!r}")


def varies(environment):
    """Whether its means vary in a run, and it says how."""
    return callable(getattr(environment, "means_at", None))


def means_of(environment, t=None):
    """The means, before pull t of a run where the environment says these."""
    name = f"{'means' if t is None else f'means_at({t})'} of {type(environment).__name__}"
    if t is None:
        # NaN: nobody knows them, and no error and regret either
        means = check_in(name, environment.means, "finite, or NaN where they are not known",
                         lambda x: ~np.isinf(x))
    else:
        means = check_in(name, environment.means_at(t), "finite", np.isfinite)
    if means.shape != (environment.n_arms,):
        raise ValueError(f"{name} must have shape ({environment.n_arms},); got shape "
                         f"{means.shape}")
    return means


def has_plain_means(environment):
    """Whether its means are those of the base class, which do not change."""
    return getattr(type(environment), "means", None) is Environment.means


def check_constant(means, environment, i):
    """Refuse means that were others before run i."""
    if not np.array_equal(means, environment.means, equal_nan=True):
        raise ValueError("environment must have means that stay as they are in a run, or say "
                         "them, means_at(t): errors and regrets are about them; got others "
                         f"after run {i}")


def check_judge(policy, kind):
    """Refuse to hold an answer of any size against the k best arms."""
    threshold = getattr(policy, "threshold", None)
    if kind == "best" and getattr(type(policy), "_answers_any_number", False):
        raise ValueError(f"answer must be Above({threshold!r}) or a set of arms for "
                         f"{type(policy).__name__}, which names any number of arms; got "
                         "\"best\"")


def check_max_pulls(policy, max_pulls):
    """Refuse runs that would have no end, or no beginning."""
    if max_pulls is None:
        if getattr(policy, "is_endless", False):
            raise ValueError(f"max_pulls must be given where the policy never ends; got None for "
                             f"{policy!r}")
        return
    # one at a time, and from bits that the run has not lent yet
    asks_one = isinstance(policy, FunctionPolicy)
    first = 0 if policy.done or asks_one else size_of_next(policy)
    if first > max_pulls:
        raise InfeasibleBudgetError(f"max_pulls must be at least {first}, the first batch; got "
                                    f"{max_pulls}")


def check_asked(arms, policy, environment):
    """Return a copy of the arms that `ask` returned, one or more, all of which exist."""
    array = owned("the return value of ask", arms)
    if array.dtype.kind not in "iu" or array.ndim != 1 or not array.size:
        raise ValueError(f"ask of {type(policy).__name__} must return a flat array of integers, "
                         f"one or more until it is done; got {repr(arms)[:60]}")
    bad = (array < 0) | (array >= environment.n_arms)
    if bad.any():
        raise ValueError(f"ask of {type(policy).__name__} must return arms in "
                         f"[0, {environment.n_arms}); got {array[bad][0]}")
    return array.astype(np.int64, copy=False)


def checked_rewards(rewards, arms, environment):
    """Finite rewards, one a pull."""
    name = f"rewards that pull of {type(environment).__name__} returns"
    rewards = check_numeric(name, rewards, masked_as_nan=True)
    if rewards.shape != np.shape(arms):
        raise ValueError(f"{name} must be one a pull, of shape {np.shape(arms)}; got shape "
                         f"{rewards.shape}")
    if not np.isfinite(rewards).all():
        raise ValueError(f"{name} must be finite; got {rewards[~np.isfinite(rewards)][0]}")
    return rewards
