"""Create a study's file from checked arguments."""

import os
from collections import Counter
from collections.abc import Iterable

from pybandit._shared.checks import shown
from pybandit._shared.version import __version__
from pybandit.studies._codec import decode, encode
from pybandit.studies._journal import START, Progress
from pybandit.studies._recorder import default_who, event_of
from pybandit.studies._store import Store


def checked_names(policy, arms):
    """Return the names of a policy's arms: unique and not empty."""
    if arms is None:
        return [str(arm) for arm in range(policy.n_arms)]
    if isinstance(arms, (str, bytes)) or not isinstance(arms, Iterable):
        raise TypeError(f"arms must be a sequence of {policy.n_arms} names; got {shown(arms)}")
    names = list(arms)
    for at, name in enumerate(names):
        if not isinstance(name, str) or not name:
            raise TypeError(f"arms must be non-empty strings; got {name!r} at index {at}")
    names = [str(name) for name in names]
    if len(names) != policy.n_arms:
        raise ValueError(f"arms must be {policy.n_arms} names, one per arm; got {len(names)}")
    if len(set(names)) < len(names):
        counts = Counter(names)
        twice = next(name for name in names if counts[name] > 1)
        raise ValueError(f"arms must be unique; got {twice!r} {counts[twice]} times")
    return names


def created(path, kind, policy, arms, *, who, settings, overwrite, **more):
    """Create a study's file with `policy`, and return its `Store`.

    The entries of `more` are added to the first event.
    """
    names, state = checked_names(policy, arms), checked_state(policy)
    settings = decode(encode({} if settings is None else settings, "settings"))
    if not isinstance(settings, dict):
        raise TypeError(f"settings must be a dict; got {type(settings).__name__}")
    first = {"kind": kind.name, "policy": type(policy).__name__, "arms": names,
             "settings": settings, "state": state, "version": __version__} | more
    name = default_who() if who is None else str(who)
    progress = Progress(type(policy).from_state(state))

    def fill(store):
        event, body = event_of(0, "create", name, first, START)
        store.append(event, body, None, progress)

    return Store.create(os.fspath(path), overwrite, fill)


def checked_state(policy):
    """Return the policy's state after checking that `from_state` restores it."""
    name = type(policy).__name__
    if getattr(policy, "costs", None) == "told":
        raise ValueError("policy must have costs that are known in advance: a study records no "
                         f"costs; got {name} with costs='told'")
    for method in "get_state", "from_state":
        if not hasattr(policy, method):
            raise TypeError(f"policy must have get_state and from_state; {name} lacks {method}")
    content = encode(policy.get_state(), "state")
    if encode(type(policy).from_state(decode(content)).get_state()) != content:
        raise ValueError(f"policy must have the same state after from_state(get_state()); the "
                         f"state of {name} changes")
    return decode(content)
