"""Replay a policy with corrected readings, as if they had been right from the start.

An amendment is an event; earlier events do not change. If its batch is over, the policy
starts again and receives all batches with their present readings. Past requests do not
change. If the policy asks for the same arms, it receives them as before.

If it would have asked for other arms, it receives the readings that exist for its request;
its other requests are reported as lost. In exchange it receives as late results as many
readings of arms that it did not ask for. If it asks for more pulls than a batch had, the pulls
of the following batches are added until there are enough; after the last batch, requests
without a reading are lost. Unless the policy ends earlier, it knows every reading, and its
number of pulls differs from that of the study by at most one batch of the policy.
"""

import numpy as np

from pybandit._shared.checks import LARGEST_REWARD
from pybandit.studies._codec import flat


def corrected(past, amendment):
    """Return the events before an amendment with all readings corrected.

    Parameters
    ----------
    past : iterable of (kind, body)
        Events after "create"; they are not modified.
    amendment : dict or None
        Body of the amendment that follows these events; None if there is none.

    Returns
    -------
    list of (kind, body)
        Events without amendments.
    """
    events, told_by = [], {}
    for kind, body in past:
        if kind == "amend":
            _correct(events, told_by, body)
            continue
        if kind == "ask":
            told_by[body["batch"]] = np.full(body["arms"].size, -1)
        elif kind == "tell":
            # a withdrawn reading may be reported again
            told_by[body["batch"]][body["positions"]] = len(events)
        events.append((kind, body))
    if amendment is not None:
        _correct(events, told_by, amendment)
    return events


def _correct(events, told_by, amendment):
    """Put an amendment's values into the events that reported these readings."""
    at, values = amendment["positions"], amendment["values"]
    by = told_by[amendment["batch"]][at]
    for number in np.unique(by):
        kind, body = events[number]
        order = np.argsort(body["positions"])
        places = order[np.searchsorted(body["positions"], at[by == number], sorter=order)]
        changed = body["values"].copy()
        changed[places] = values[by == number]
        events[number] = kind, body | {"values": changed}


def check_recorded(kind, body, n_arms):
    """Raise ValueError if an "ask" or "tell" event of an unverified log is invalid.

    An invalid result would otherwise wait among the late results until a later call fails.
    """
    if kind == "ask":
        arms = body["arms"]
        if not (flat([arms], [np.int64]) and ((arms >= 0) & (arms < n_arms)).all()):
            raise ValueError(f"batch {body['batch']} must ask for arms of the policy; it asks for "
                             "others")
    elif kind == "tell":
        columns = body["positions"], body["values"]
        if not flat(columns, [np.int64, np.float64]) or (np.abs(columns[1]) > LARGEST_REWARD).any():
            raise ValueError(f"batch {body['batch']} must have results of magnitude at most "
                             f"{LARGEST_REWARD:g}; it has invalid ones")


def tell_forced(policy, arms, values, is_last=True):
    """Report pulls to a policy that may ask for other arms.

    Parameters
    ----------
    policy : Policy
    arms : ndarray of int64, shape (n,)
        Arms that were pulled.
    values : ndarray of float64, shape (n,)
        Their rewards; NaN if lost.
    is_last : bool
        True if no more pulls follow: the policy then receives the remaining pulls even if it
        asks for more than there are.

    Returns
    -------
    arms, values : ndarray
        Remaining pulls: too few for the next request, or left over when the policy is done.

    Raises
    ------
    ValueError
        If the policy asks for other arms than `arms` and cannot receive pulls that it did not
        ask for.
    """
    asked = check_forced(policy, arms) if arms.size else arms
    if arms.size and np.array_equal(asked, arms):
        policy.tell(arms, values, missing="drop")
        return arms[:0], values[:0]
    while asked.size and arms.size and (is_last or asked.size <= arms.size):
        of_asked, of_told = _same(asked, arms)
        rewards = np.full(asked.size, np.nan)
        rewards[of_asked] = values[of_told]
        policy.tell(asked, rewards, missing="drop")
        others = np.delete(np.arange(arms.size), of_told)
        late, others = np.split(others, [asked.size - of_told.size])
        late = late[~np.isnan(values[late])]
        policy.add_late(arms[late], values[late])
        arms, values = arms[others], values[others]
        asked = _asked(policy)
    return arms, values


def _asked(policy):
    """Return the arms that a policy asks for; none if it is done."""
    asked = () if policy.done else policy.ask()
    return np.ascontiguousarray(asked, dtype=np.int64)


def check_forced(policy, arms):
    """Return the arms that a policy asks for.

    Raises ValueError if they differ from `arms` and the policy cannot receive pulls that it did
    not ask for.
    """
    asked = _asked(policy)
    if np.array_equal(asked, arms):
        return asked
    name = type(policy).__name__
    if not getattr(policy, "may_lose", True):
        raise ValueError(f"results must not change what {name} asks for: with these it would have "
                         "asked for other arms, and a race cannot receive evaluations that it did "
                         "not ask for; start another study")
    try:
        policy.add_late(arms[:0], np.empty(0))
    except NotImplementedError:
        raise ValueError(f"results must not change which arms {name} asks for, or {name} must "
                         "define add_late: with these it would have asked for other arms") from None
    return asked


def _same(asked, arms):
    """Match pulls of the same arm in both arrays; return their positions in each."""
    _, of_asked, of_told = np.intersect1d(_counted(asked), _counted(arms), assume_unique=True,
                                          return_indices=True)
    return of_asked, of_told


def _counted(arms):
    """Return one distinct integer per pull, from its arm and its count of earlier pulls."""
    order = np.argsort(arms, kind="stable")
    ordered = arms[order]
    is_new = np.append(True, ordered[1:] != ordered[:-1])[:arms.size]
    starts = np.flatnonzero(is_new)
    before = np.empty(arms.size, dtype=np.int64)
    before[order] = np.arange(arms.size) - np.repeat(starts, np.diff(np.append(starts, arms.size)))
    return before * np.int64(2**40) + arms
