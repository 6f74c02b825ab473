"""Evidence about the mean of paired differences: bets, and McNemar's test at a planned end.

Let x be the differences scaled to [0, 1], so that no difference is x = 1/2, and B+ and B- the
wealth of bets against "the mean is at most 1/2" and "at least 1/2", each from 1. Without the
final test, E+ = B+ and E- = B-. With it, the bets get the share w = .2:

    E+_t = w B+_t before the planned end,  E+_n = w B+_n + F+ at the end, and E- likewise.

For scores at both ends of the range only, let k = wins + losses and l = min(wins, losses). Under
"the mean is at most 0" each of the k is a win with probability at most 1/2, so with
T(c) = min(1, 2 P(Bin(k, 1/2) <= c)) the payment F of `final_payment` has mean at most 1 - w, and
w B+_t + E[F+ | past] is a nonnegative supermartingale from at most 1 that is never below E+_t. By
Ville's inequality E+ reaches 2/delta with probability at most delta/2 if a is not better.
"""

import math
from typing import NamedTuple

import numpy as np

from pybandit._shared.types import Floats
from pybandit.betting._scaled import log_wealth
from pybandit.betting.confidence import confidence_sequence
from pybandit.evaluation._fair_signs import lower_tails

SHARE = 0.2  # of the wealth on bets, if the final test has the rest
N_FLIPS = 999  # random sign changes of the test that is not guaranteed
EXACT_UP_TO = 20_000  # items up to which bounds are found by bisection
BISECTIONS = 25


class Evidence(NamedTuple):
    """Evidence after all items.

    Attributes
    ----------
    log_better, log_worse : ndarray of float64, shape (n,)
        Logarithms of E+ and E- after each item.
    lower, upper : float
        Bounds on the mean difference, in units of the range.
    """

    log_better: Floats
    log_worse: Floats
    lower: float
    upper: float

    @property
    def log_e(self) -> Floats:
        """Logarithm of the e-value (E+ + E-) / 2 after each item."""
        return np.logaddexp(self.log_better, self.log_worse) - math.log(2.0)


def evidence(differences, delta, planned, population_size, final, rng):
    """Return the `Evidence` of differences in [-1, 1], in the order read.

    `final` is "exact", "sign-flip" or "none"; `planned` is None if there is no plan.
    """
    x = (differences + 1.0) / 2.0
    share = 1.0 if final == "none" else SHARE
    log_better, log_worse = math.log(share) + log_wealth(
        x, 0.5, delta, population_size=population_size, planned=planned)
    if final != "none" and len(x) == planned:
        pays = _payments(differences, delta, final, rng)
        with np.errstate(divide="ignore"):
            log_better[-1], log_worse[-1] = np.logaddexp((log_better[-1], log_worse[-1]),
                                                         np.log(pays))
    lower, upper = bounds(x, share * delta, planned, population_size)
    enough = math.log(2.0 / delta)
    if final != "none" and log_better.max() >= enough:
        lower = max(lower, 0.0)
    if final != "none" and log_worse.max() >= enough:
        upper = min(upper, 0.0)
    return Evidence(log_better, log_worse, lower, upper)


def final_payment(n_wins, n_losses, delta, share):
    """Return F, with mean `share` over fair signs for any number of them.

    F is 1/delta where McNemar's exact test rejects at ``share * delta``; the rest of the mean is
    paid at the next number of losses.
    """
    k, least = n_wins + n_losses, min(n_wins, n_losses)
    tails = np.minimum(1.0, 2.0 * lower_tails(k))
    if k % 2 == 0:
        tails[-1] = 1.0
    n_rejected = int((tails <= share * delta).sum())
    size = tails[n_rejected - 1] if n_rejected else 0.0
    if least < n_rejected:
        return 1.0 / delta
    if least == n_rejected:
        return float((share - size / delta) / (tails[n_rejected] - size))
    return 0.0


def _payments(differences, delta, final, rng):
    """Return F+ and F-."""
    n_wins, n_losses = int((differences > 0).sum()), int((differences < 0).sum())
    if final == "exact":
        pay, sign = final_payment(n_wins, n_losses, delta, 1.0 - SHARE), n_wins - n_losses
    else:
        p, sign = _flipped(differences, rng), float(differences.sum())
        pay = 1.0 / delta if p <= (1.0 - SHARE) * delta else 0.0
    return (pay, pay) if sign == 0 else (2.0 * pay, 0.0) if sign > 0 else (0.0, 2.0 * pay)


def _flipped(differences, rng):
    """Return the p-value of the sum under random changes of the signs."""
    observed, n_larger = abs(differences.sum()), 1
    for _ in range(N_FLIPS):
        signs = rng.integers(0, 2, differences.size) * 2 - 1
        n_larger += abs(signs @ differences) >= observed * (1.0 - 1e-12)
    return n_larger / (N_FLIPS + 1)


def bounds(x, delta, planned, population_size):
    """Return bounds on the mean of x, in units of the differences: twice those of x, minus 1."""
    found = confidence_sequence(x, population_size=population_size, delta=delta, planned=planned)
    lower, upper = float(found.lower[-1]), float(found.upper[-1])
    if x.size <= EXACT_UP_TO and lower < upper:
        room = 0.05 * (upper - lower)
        lower = _refined(x, lower, room, delta, planned, population_size)
        upper = 1.0 - _refined(1.0 - x, 1.0 - upper, room, delta, planned, population_size)
    return 2.0 * lower - 1.0, 2.0 * upper - 1.0


def _refined(x, bound, room, delta, planned, population_size):
    """Return the largest excluded mean in [bound, bound + room]; `bound` is known to be."""
    low, high, enough = bound, min(bound + room, 1.0 - 1e-12), math.log(2.0 / delta)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2.0
        logs = log_wealth(x, middle, delta, population_size=population_size, planned=planned)
        if logs[0].max() >= enough:
            low = middle
        else:
            high = middle
    return low
