# cython: auto_pickle=False
"""When to stop with bounded rewards: bets against "another arm is better" have paid.

Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting, JRSS-B 2024;
the wealth is spread as in Cover, Universal portfolios, Mathematical Finance 1991.
"""

import numpy as np

from pybandit._shared.checks import check_delta, check_in, check_scalar, shown

cimport cython
from libc.math cimport NAN, log
from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport (
    PB_GAINS, pb_wagers_add, pb_wagers_arm, pb_wagers_least,
)

__all__ = ["Betting"]


@cython.final
cdef class Betting:
    """Stop when bets against "another arm is better" have won enough; rewards in [0, 1].

    Nothing but their range is assumed of rewards: 0 or 1, shares, ratings divided by their
    largest. Where they vary less than 0 and 1 do, it stops far sooner than
    `GLR` with ``law="bernoulli"``, which takes them as well; of rewards that are 0 or 1, at
    any delta that was tried, sooner too.

    With a the arm of the largest mean it stops when, for every other arm b and every place m
    where their means might meet, the wealth of bets that a's rewards are above m, times that of
    bets that b's are below m, is above ``(K - 1) / delta``. The arm of the largest mean is then
    the best with probability 1 - delta, whatever rule chose the pulls.

    Parameters
    ----------
    delta : float, default 0.05
        Error probability, in (0, 1).
    epsilon : float, default 0
        In [0, 1): an answer may be worse than the best by as much. At 0 the rule goes on for
        ever where two arms are equal, and should.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    GLR : of laws that are known.

    Notes
    -----
    **Wealth.** A stake s > 0 that rewards x are above m multiplies what it has by
    ``(1 + s x) / (1 + s m)``, 1 plus ``s / (1 + s m)`` times x - m. Wealth is spread evenly over
    the stakes ``2^-12, ..., 2^7``: means that differ by less than 1e-4 may never be told apart.
    Bets that rewards are below m are the same with 1 - x and 1 - m.

    **Proof.** Let b be the best arm, a one that is worse than b by more than epsilon, and m the
    mean of a. The mean of b is above ``m + epsilon``. A bet's factor has expectation at most 1
    for a reward whose mean, given all that was seen before, is at most m: so the wealth of bets
    on a's rewards being above m, that on b's being below ``m + epsilon``, and their product, are
    nonnegative supermartingales from 1 on, whatever rule asks for the pulls. By Ville's
    inequality the product is ever above ``(K - 1) / delta`` with probability ``delta / (K - 1)``
    at most. To stop with the answer a it has to be above it at every m, and so at this one; there
    are at most K - 1 such a.

    The least over m is found exactly, up to rounding: the logarithms of both are convex in m.
    Sums of ``log(1 + s x)`` are kept, 40 numbers an arm. O(1) a pull mostly, some
    microseconds: the arm that was in doubt before is looked at first. Pulls are chosen as if
    rewards were 0 or 1, by policies that need a law.

    Nothing of it changes in a run: policies and threads may share it.

    References
    ----------
    I. Waudby-Smith and A. Ramdas, JRSS-B 86, 2024; T. M. Cover, Mathematical Finance 1, 1991.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rule = pb.stopping.Betting(delta=0.05)
    >>> ratings = np.random.default_rng(1).beta([60, 50], [40, 50], size=(50, 2)).T
    >>> rule.is_sure(ratings), rule.is_sure(ratings[:, :20])
    (True, False)
    """

    def __init__(self, *, delta=0.05, epsilon=0.0):
        delta = check_delta(delta)
        self.epsilon = check_scalar("epsilon", epsilon, "in [0, 1)", lambda x: (x >= 0) & (x < 1))
        self.delta = delta

    @property
    def law(self):
        """``"bounded"``: rewards are in [0, 1]."""
        return "bounded"

    def options(self):
        """The arguments that make it again, and its law."""
        return dict(delta=self.delta, law=self.law, epsilon=self.epsilon)

    cdef double _level(self, n_pairs):
        return log(max(n_pairs, 1) / self.delta)

    def margins(self, rewards=None, *, pulls=None, means=None, variances=None):
        """Compute how far the logarithm of the least wealth is above the needed level.

        Parameters
        ----------
        rewards : sequence of array_like of float
            All rewards seen of each arm, in [0, 1] and in the order seen; may be empty.
        pulls, means, variances : None
            Refused: they are parameters of `GLR.margins`, and this rule needs the order of the
            rewards.

        Returns
        -------
        ndarray of float64, shape (n_arms,)
            NaN at the arm of the largest mean itself; minus infinity where an arm was not seen.
            The rule stops where all are above 0. O(rewards).
        """
        cdef pb_wagers_arm leader, rival
        cdef int64_t arm, j
        cdef double[:, ::1] gains
        cdef const double[:] seen
        for name, value in dict(pulls=pulls, means=means, variances=variances).items():
            if value is not None:
                raise TypeError(f"{name} must be None for Betting, which needs all rewards in "
                                f"their order: pass rewards=; got {shown(value)}")
        rewards = checked_rewards(rewards)
        gains = np.zeros((len(rewards), PB_GAINS))
        for arm in range(len(rewards)):
            seen = rewards[arm]
            for j in range(seen.shape[0]):
                pb_wagers_add(&gains[arm, 0], seen[j])
        margins = np.full(len(rewards), -np.inf)
        means = np.array([part.mean() if part.size else -1.0 for part in rewards])
        best = int(np.argmax(means))
        leader.gains, leader.n, leader.mean = &gains[best, 0], rewards[best].size, means[best]
        for arm in range(len(rewards)):
            rival.gains, rival.n, rival.mean = &gains[arm, 0], rewards[arm].size, means[arm]
            if leader.n > 0.0 and rival.n > 0.0:
                margins[arm] = pb_wagers_least(&leader, &rival, self.epsilon, NAN)
                margins[arm] -= self._level(len(rewards) - 1)
        margins[best] = NAN
        return margins

    def is_sure(self, rewards=None, *, pulls=None, means=None, variances=None):
        """Return True if the rule stops here; arguments as in `margins`."""
        margins = self.margins(rewards, pulls=pulls, means=means, variances=variances)
        others = margins[~np.isnan(margins)]
        return bool((others > 0).all()) and any(np.size(part) for part in rewards)

    def __eq__(self, other):
        return isinstance(other, Betting) and self.options() == other.options()

    def __hash__(self):
        return hash(tuple(self.options().values()))

    def __reduce__(self):
        return again, (self.delta, self.epsilon)

    def __repr__(self):
        return f"Betting(delta={self.delta!r}, epsilon={self.epsilon!r})"


def again(delta, epsilon):
    return Betting(delta=delta, epsilon=epsilon)


def checked_rewards(rewards):
    """One array of float64 an arm, at least one arm."""
    try:
        rewards = list(rewards)
    except TypeError:
        raise TypeError("rewards must be a sequence with the rewards of each arm; got "
                        f"{shown(rewards)}") from None
    if not rewards:
        raise ValueError("rewards must have at least one arm; got none")
    checked = [check_in(f"rewards[{arm}]", part, "in [0, 1]", lambda x: (x >= 0) & (x <= 1))
               for arm, part in enumerate(rewards)]
    for arm, part in enumerate(checked):
        if part.ndim != 1:
            raise ValueError(f"rewards[{arm}] must have shape (n_rewards,); got {part.shape}")
    return checked
