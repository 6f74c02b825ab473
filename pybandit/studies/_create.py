"""What a study is created from, checked."""

from collections import Counter
from collections.abc import Iterable

import numpy as np

from pybandit._shared.checks import check_in, refuse_class, shown
from pybandit.policies import Policy
from pybandit.studies._codec import decode, encode
from pybandit.studies._races import RacePolicy


def checked_names(policy, arms):
    """Names of a policy's arms, unique and not empty."""
    refuse_class("policy", policy, "a Policy or a race")
    if not isinstance(policy, (Policy, RacePolicy)):
        raise TypeError(f"policy must be a Policy or a race; got {shown(policy)}")
    if arms is None:
        return [str(arm) for arm in range(policy.n_arms)]
    if isinstance(arms, (str, bytes)) or not isinstance(arms, Iterable):
        raise TypeError(f"arms must be a sequence of {policy.n_arms} names; got {shown(arms)}")
    names = list(arms)
    for at, name in enumerate(names):
        if not isinstance(name, str) or not name:
            raise TypeError(f"arms must be names, text that is not empty; got {name!r} at index "
                            f"{at}")
    names = [str(name) for name in names]
    if len(names) != policy.n_arms:
        raise ValueError(f"arms must be {policy.n_arms} names, one per arm; got {len(names)}")
    if len(set(names)) < len(names):
        counts = Counter(names)
        twice = next(name for name in names if counts[name] > 1)
        raise ValueError(f"arms must be unique; got {twice!r} {counts[twice]} times")
    return names


def checked_shares(shares, n_arms):
    """Return weights above 0, one per arm, as a list of floats."""
    shares = check_in("shares", shares, "finite and above 0", lambda x: (x > 0) & np.isfinite(x))
    if shares.shape != (n_arms,):
        raise ValueError(f"shares must have the shape ({n_arms},), one value per arm; got "
                         f"{shares.shape}")
    return shares.tolist()


def checked_state(policy):
    """The policy's state, from which its class makes it again."""
    name = type(policy).__name__
    if getattr(policy, "costs", None) == "told":
        raise ValueError("policy must be one whose costs are known before: a study records no "
                         f"others; got {name} with costs='told'")
    for method in "get_state", "from_state":
        if not hasattr(policy, method):
            raise TypeError(f"policy must have get_state and from_state; {name} lacks {method}")
    content = encode(policy.get_state(), "state")
    if encode(type(policy).from_state(decode(content)).get_state()) != content:
        raise ValueError(f"policy must be the same after get_state and from_state; {name} is not")
    return decode(content)
