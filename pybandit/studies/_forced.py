"""Readings that are corrected, and the policy as it would be had they been right at once.

An amendment is an event; the events before it stay as they are. Where its batch is over, the
policy begins anew and is told all batches again, each with the readings as they are known now.
What was asked stays asked. A policy that asks for the same arms is told as it was. One that
would have asked for others is told what there is: of the arms that it asks for those that
were read, the rest as lost; and in their place, as late results, what was read of others.
Where it asks for more than a batch had, the pulls of the next ones are added, until they are
enough; at the end the rest of what it asks for is lost. So it has spent what was spent, up to
one of its batches, and knows what was read; unless it would have ended before.
"""

import numpy as np

from pybandit._shared.checks import LARGEST_REWARD
from pybandit.studies._codec import flat


def corrected(past, amendment):
    """The events before an amendment as if the readings had been right at once.

    Parameters
    ----------
    past : iterable of (kind, body)
        From the first event after "create" on; they are not changed.
    amendment : dict or None
        The body of the amendment, to which these lead; None for none.

    Returns
    -------
    list of (kind, body)
        Without amendments.
    """
    events, told_by = [], {}
    for kind, body in past:
        if kind == "amend":
            _correct(events, told_by, body)
            continue
        if kind == "ask":
            told_by[body["batch"]] = np.full(body["arms"].size, -1)
        elif kind == "tell":
            # a reading that was withdrawn may be told again
            told_by[body["batch"]][body["positions"]] = len(events)
        events.append((kind, body))
    if amendment is not None:
        _correct(events, told_by, amendment)
    return events


def _correct(events, told_by, amendment):
    """Put an amendment's values into the events that told these readings."""
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
    """Raises where an ask or a tell, of a log that nobody verified, is none of a study.

    What is wrong would otherwise wait among the late results, and a later call fail for it.
    """
    if kind == "ask":
        arms = body["arms"]
        if not (flat([arms], [np.int64]) and ((arms >= 0) & (arms < n_arms)).all()):
            raise ValueError(f"batch {body['batch']} must be of the policy's arms; got others")
    elif kind == "tell":
        columns = body["positions"], body["values"]
        if not flat(columns, [np.int64, np.float64]) or (np.abs(columns[1]) > LARGEST_REWARD).any():
            raise ValueError(f"batch {body['batch']} must have results of at most "
                             f"{LARGEST_REWARD:g} in size; got others")


def tell_forced(policy, arms, values, is_last=True):
    """Tell a policy pulls that may be others than it asks for.

    Parameters
    ----------
    policy : Policy
    arms : ndarray of int64, shape (n,)
        What was pulled.
    values : ndarray of float64, shape (n,)
        NaN for what was lost.
    is_last : bool
        Whether no more pulls follow: what is left is then told though it asks for more.

    Returns
    -------
    arms, values : ndarray
        Pulls that are left: it asks for more of them, or, after the last, for nothing.

    Raises
    ------
    ValueError
        Where the policy asks for other arms and cannot be told so.
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
    """What a policy asks for, nothing where it is done."""
    asked = () if policy.done else policy.ask()
    return np.ascontiguousarray(asked, dtype=np.int64)


def check_forced(policy, arms):
    """What a policy asks for; raises where these are other arms, and it cannot be told so."""
    asked = _asked(policy)
    if np.array_equal(asked, arms):
        return asked
    name = type(policy).__name__
    if not getattr(policy, "may_lose", True):
        raise ValueError(f"results must be such that the race asks for the same evaluations: with "
                         f"these {name} would have asked for others, and it cannot be told "
                         "what it did not ask for; begin another study")
    try:
        policy.add_late(arms[:0], np.empty(0))
    except NotImplementedError:
        raise ValueError(f"results must be such that {name} asks for the same arms, or it must "
                         "define add_late: with these it would have asked for others") from None
    return asked


def _same(asked, arms):
    """Places in both of the pulls that are in both, an arm as often as it is in both."""
    _, of_asked, of_told = np.intersect1d(_counted(asked), _counted(arms), assume_unique=True,
                                          return_indices=True)
    return of_asked, of_told


def _counted(arms):
    """Numbers of which two are equal where arm and how many of it came before are."""
    order = np.argsort(arms, kind="stable")
    ordered = arms[order]
    is_new = np.append(True, ordered[1:] != ordered[:-1])[:arms.size]
    starts = np.flatnonzero(is_new)
    before = np.empty(arms.size, dtype=np.int64)
    before[order] = np.arange(arms.size) - np.repeat(starts, np.diff(np.append(starts, arms.size)))
    return before * np.int64(2**40) + arms
