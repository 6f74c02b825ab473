"""What every report says of arms: results, the answer, and who comes next."""

from typing import NamedTuple

import numpy as np

# Most of each that a page holds.
ARMS, POINTS = 1000, 300
NEXT = 10  # arms beside the answer
LEVEL = 0.95
FOLLOWED = 8


class Arms(NamedTuple):
    """Of each arm, by the results this study recorded; arrays of shape (n_arms,).

    `below` and `above` say how far the interval goes from the mean: Student's as far both ways,
    NaN below two results. For counts it is Wilson's, and NaN
    unless they are successes.
    """

    n: np.ndarray
    means: np.ndarray
    below: np.ndarray
    above: np.ndarray


class Standing(NamedTuple):
    """The answer by the results that were recorded, and the arms after it.

    `chosen` are the arms of the answer, best first, without the `n_unmeasured` that have no
    result: a policy names as many as are wanted; `others` are the next by their means;
    `unmeasured` are the arms of which neither the file nor the policy has a result; `own_means`
    are the policy's if it has others from the same results, else None; `followed` are the arms
    whose course is drawn.
    """

    chosen: np.ndarray
    n_unmeasured: int
    others: np.ndarray
    unmeasured: np.ndarray
    own_means: np.ndarray | None
    followed: np.ndarray


def standing_of(best, arms, own_n, own_means, gone=None):
    """Return the `Standing` of a `Recommendation`, `Arms`, and the policy's pulls and means."""
    found = best.best_arms
    chosen = np.asarray(found)[(arms.n[found] > 0) | (own_n[found] > 0)]
    others = by_means(arms, gone)
    others = others[(arms.n[others] > 0) & ~np.isin(others, chosen)][:NEXT]
    # the policy does not have the results of an open batch yet: its means of these arms say nothing
    same = (own_n < arms.n) | np.isclose(own_means, arms.means, equal_nan=True)
    return Standing(chosen, len(found) - chosen.size, others,
                    np.flatnonzero((arms.n == 0) & (own_n == 0)),
                    None if same.all() else own_means,
                    np.concatenate([chosen, others])[:FOLLOWED].astype(np.int64))


def by_means(arms, gone=None):
    """All arms, the best mean first; `gone` ones, which left, after the others."""
    keys = np.where(arms.n > 0, -arms.means, np.inf)
    return np.lexsort((keys, np.zeros(keys.size) if gone is None else gone))
