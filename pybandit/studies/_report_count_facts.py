"""What a report tells of a study that is told counts: its batches, and the bets of its race."""

from typing import NamedTuple

import numpy as np

from pybandit._shared.intervals import wilson_interval
from pybandit.studies._count_log import recorded, wide
from pybandit.studies._counts import is_counted
from pybandit.studies._races import CountPolicy


class Race(NamedTuple):
    """What a `CountRace` says of its arms: see there."""

    capital: np.ndarray
    threshold: float
    delta: float
    retired: np.ndarray


class Told(NamedTuple):
    """What was told in counts.

    `trials` and `sums` have shape (batches, n_arms), 0 where an arm was not there yet;
    `are_successes` where every reward was 0 or 1; `gone` are arms that were dropped or
    retired; `n_waiting` trials were told and not asked for yet; `race` is None of other policies.
    `amendments` are `CountAmendment`.
    """

    keys: list
    trials: np.ndarray
    sums: np.ndarray
    are_successes: bool
    gone: np.ndarray
    n_waiting: int
    race: Race | None
    amendments: list


def told_of(study, ledger):
    """What a study was told; None where it asks for batches."""
    if not is_counted(ledger):
        return None
    policy, batches = ledger.policy, recorded(study)
    shape = len(batches), policy.n_arms
    trials, sums = np.zeros(shape, dtype=np.int64), np.zeros(shape)
    for row, one in enumerate(batches.values()):
        trials[row], sums[row], _ = wide(one.body, policy.n_arms)
    are_whole = ((sums >= 0) & (sums <= trials) & (np.floor(sums) == sums)).all()
    return Told(list(batches), trials, sums,
                bool(are_whole) and _is_of_successes(policy), _gone(policy),
                sum(one.size for one in ledger.counts.waiting), _race_of(policy),
                study.count_amendments() if study._store.n_amendments() else [])


def _is_of_successes(policy):
    """Whether rewards between 0 and 1 are all that the policy takes."""
    if isinstance(policy, CountPolicy):
        return tuple(policy.race.value_range) == (0.0, 1.0)
    # of others only a normal law takes more
    return getattr(policy, "law", None) != "gaussian" or not hasattr(policy, "tell_counts")


def _gone(policy):
    survivors = getattr(policy, "survivors", None)
    if survivors is None:
        return np.zeros(policy.n_arms, dtype=bool)
    # what is accepted is no longer played, and is the answer
    return ~np.isin(np.arange(policy.n_arms), np.append(survivors, policy.recommend()))


def _race_of(policy):
    if not isinstance(policy, CountPolicy):
        return None
    race = policy.race
    return Race(race.capital, race.threshold, race.delta, race.retired)


def measured(told):
    """Trials and means of each arm, and how far its interval goes below and above: four arrays."""
    n, sums = told.trials.sum(axis=0), told.sums.sum(axis=0)
    means, ends = sums / n, np.full((2, n.size), np.nan)
    if told.are_successes:
        for arm in np.flatnonzero(n).tolist():
            ends[:, arm] = wilson_interval(int(sums[arm]), int(n[arm]))
    return n, means, means - ends[0], ends[1] - means
