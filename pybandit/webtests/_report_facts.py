"""Content of the report of a web test: its batches, and the bets of its race."""

import os
from typing import NamedTuple

import numpy as np

from pybandit._shared.intervals import wilson_interval
from pybandit.report._facts import ArmStatistics, standing_of
from pybandit.report.page import title_of
from pybandit.webtests._recorded_counts import recorded, wide
from pybandit.webtests.results import WebTestStatus


class Race(NamedTuple):
    """Attributes of a `CountRace`, by their names there."""

    capital: np.ndarray
    threshold: float
    delta: float
    retired: np.ndarray
    value_range: tuple[float, float]


class Counted(NamedTuple):
    """Recorded counts.

    `trials`, `sums` and `squares` have shape (batches, n_arms) and are 0 before an arm was added.
    Squares that were not reported are NaN.
    `are_successes` is True if every reward is 0 or 1. `gone` marks arms that were dropped or
    retired. `n_waiting` is the number of recorded trials that the policy has not asked for yet.
    `race` is None if the policy is not a race on counts. `amendments` are `CountAmendment`.
    """

    keys: list
    trials: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    are_successes: bool
    gone: np.ndarray
    n_waiting: int
    race: Race | None
    amendments: list


class Facts(NamedTuple):
    """All data that a report on a web test shows.

    The fields from `chosen` to `followed` are those of `Standing`. `events` are the last events,
    and `version` is the version of pybandit that created the test, and `title` is the
    default title of the page.
    """

    path: str
    status: WebTestStatus
    names: np.ndarray
    chosen: np.ndarray
    n_unmeasured: int
    others: np.ndarray
    unmeasured: np.ndarray
    own_means: np.ndarray | None
    followed: np.ndarray
    arms: ArmStatistics
    counted: Counted
    events: list
    version: str
    title: str

    @property
    def noun(self):
        """The word for an arm."""
        return "variant"


# NaN and infinity, from no or one result or from results near the largest number, become dashes
@np.errstate(all="ignore")
def facts_of(test):
    """Return all data of a report, read at one moment."""
    return test._read(lambda _: _facts_at_once(test))


def _facts_at_once(test):
    status, policy, counted = test.status(), test._policy, _counted_of(test)
    arms = ArmStatistics(*_measured(counted))
    standing = standing_of(test.recommend(), arms, policy.pulls, policy.means, counted.gone)
    path = os.path.basename(test.path)
    return Facts(path, status, test._names, *standing, arms, counted,
                 list(test.log(max(0, status.n_events - 8))), next(test.log()).body["version"],
                 title_of(test.settings, f"Web test {path}"))


def _counted_of(test):
    policy, batches = test._policy, recorded(test.study)
    shape = len(batches), policy.n_arms
    trials, sums, squares = np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape)
    for row, one in enumerate(batches.values()):
        trials[row], sums[row], found = wide(one.body, policy.n_arms)
        squares[row] = np.nan if found is None else found
    are_whole = ((sums >= 0) & (sums <= trials) & (np.floor(sums) == sums)).all()
    return Counted(list(batches), trials, sums, squares,
                bool(are_whole) and _is_of_successes(policy), _gone(policy),
                sum(one.size for one in policy.counts.waiting), _race_of(policy),
                test.amendments())


def _is_of_successes(policy):
    """Return True if the policy accepts only rewards in [0, 1]."""
    if policy.race is not None:
        return tuple(policy.race.value_range) == (0.0, 1.0)
    # among other policies, only those with normal rewards accept rewards outside [0, 1]
    return getattr(policy, "law", None) != "gaussian" or not hasattr(policy.inner, "tell_counts")


def _gone(policy):
    survivors = getattr(policy, "survivors", None)
    if survivors is None:
        return np.zeros(policy.n_arms, dtype=bool)
    # accepted arms are not pulled any more, but they are part of the answer
    return ~np.isin(np.arange(policy.n_arms), np.append(survivors, policy.recommend()))


def _race_of(policy):
    race = policy.race
    if race is None:
        return None
    return Race(race.capital, race.threshold, race.delta, race.retired, race.value_range)


def _measured(counted):
    """Return trials and means of each arm, and the lengths of its interval below and above."""
    n, sums = counted.trials.sum(axis=0), counted.sums.sum(axis=0)
    means, ends = sums / n, np.full((2, n.size), np.nan)
    if counted.are_successes:
        for arm in np.flatnonzero(n).tolist():
            ends[:, arm] = wilson_interval(int(sums[arm]), int(n[arm]))
    return n, means, means - ends[0], ends[1] - means
