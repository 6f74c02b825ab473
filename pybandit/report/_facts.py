"""Statistics of arms in every report: results, the answer, and the next arms."""

from typing import NamedTuple

import numpy as np

# Maximum numbers of arms and of points on a page.
ARMS, POINTS = 1000, 300
NEXT = 10  # arms shown after the answer
LEVEL = 0.95
FOLLOWED = 8


class ArmStatistics(NamedTuple):
    """Statistics of each arm from the results recorded in this study; arrays of shape (n_arms,).

    `below` and `above` are the distances from the mean to the ends of its interval. For batches
    it is Student's symmetric interval, NaN below two results. For counts it is the Wilson
    interval, NaN unless the counts are successes.
    """

    n: np.ndarray
    means: np.ndarray
    below: np.ndarray
    above: np.ndarray


class Standing(NamedTuple):
    """The answer and the arms after it.

    Attributes
    ----------
    chosen : ndarray of int64
        Arms of the answer that have a result, best first.
    n_unmeasured : int
        Arms of the answer without a result: a policy always returns k arms.
    others : ndarray of int64
        The next arms by mean.
    unmeasured : ndarray of int64
        Arms that have no result, neither in the file nor in the policy.
    own_means : ndarray of float64, or None
        Means of the policy if they differ from those of the recorded results.
    followed : ndarray of int64
        Arms that are drawn over time.
    """

    chosen: np.ndarray
    n_unmeasured: int
    others: np.ndarray
    unmeasured: np.ndarray
    own_means: np.ndarray | None
    followed: np.ndarray


def standing_of(best, arms, own_n, own_means, gone=None):
    """Return the `Standing` of a `Recommendation`, given the policy's pulls and means."""
    found = best.best_arms
    chosen = np.asarray(found)[(arms.n[found] > 0) | (own_n[found] > 0)]
    others = by_means(arms, gone)
    others = others[(arms.n[others] > 0) & ~np.isin(others, chosen)][:NEXT]
    # arms with results in an open batch are not compared: the policy lacks these results
    same = (own_n < arms.n) | np.isclose(own_means, arms.means, equal_nan=True)
    return Standing(chosen, len(found) - chosen.size, others,
                    np.flatnonzero((arms.n == 0) & (own_n == 0)),
                    None if same.all() else own_means,
                    np.concatenate([chosen, others])[:FOLLOWED].astype(np.int64))


def by_means(arms, gone=None):
    """Return all arms by mean, best first; arms that are `gone` come last."""
    keys = np.where(arms.n > 0, -arms.means, np.inf)
    return np.lexsort((keys, np.zeros(keys.size) if gone is None else gone))
