# cython: auto_pickle=False
"""A stopping rule for bounded rewards: stop when bets against "another arm is better" have won.

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
    """Stops a policy when bets against "another arm is better" have won enough; rewards in [0, 1].

    It assumes only the range of the rewards: 0 or 1, shares, ratings divided by their maximum.
    For rewards that vary less than 0 and 1 do, it stops far sooner than `GLR` with
    ``law="bernoulli"``, which accepts them too. For rewards of 0 or 1 it also stopped sooner, at
    every delta that was tried.

    Let a be the arm of the largest mean, b another arm, and m a possible common mean. Bets that the
    rewards of a are above m have some wealth, and so have bets that the rewards of b are below m.
    The rule stops when the product exceeds ``(K - 1) / delta`` for every b and every m. The arm of
    the largest mean is then the best with probability 1 - delta, whatever rule chose the pulls.

    Parameters
    ----------
    delta : float, default 0.05
        Error probability, in (0, 1).
    epsilon : float, default 0
        In [0, 1): the answer may be worse than the best arm by epsilon. At 0 the rule correctly
        never stops if the two best arms are equal.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    GLR : for known distributions.

    Notes
    -----
    **Wealth.** A bet with stake s > 0 that rewards x are above m multiplies its wealth by
    ``(1 + s x) / (1 + s m)``, that is 1 plus ``s / (1 + s m)`` times x - m. Wealth is divided
    evenly over the stakes ``2^-12, ..., 2^7``: means that differ by less than 1e-4 may never be
    distinguished. Bets that rewards are below m are the same with 1 - x and 1 - m.

    **Proof.** Let b be the best arm, a an arm that is worse than b by more than epsilon, and m the
    mean of a. The mean of b is above ``m + epsilon``. A bet's factor has expectation at most 1 for
    a reward whose mean, given the past, is at most m. So the wealth of bets that the rewards of a
    are above m, that of bets that the rewards of b are below ``m + epsilon``, and their product
    are nonnegative supermartingales started at 1, whatever rule asks for the pulls. By Ville's
    inequality the product ever exceeds ``(K - 1) / delta`` with probability at most
    ``delta / (K - 1)``. Stopping with the answer a requires that it exceeds this at every common
    mean, and so at m; there are at most K - 1 such arms a.

    The minimum over m is found exactly, up to rounding: the logarithms of both wealths are convex
    in m. The rule stores sums of ``log(1 + s x)``, 40 numbers per arm. Usually O(1) per pull, some
    microseconds, because the arm that was in doubt before is checked first. Policies that need a
    law choose pulls as if rewards were 0 or 1.

    The object does not change during a run: policies and threads may share it.

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
        """Return the arguments that recreate the rule, and its law."""
        return dict(delta=self.delta, law=self.law, epsilon=self.epsilon)

    cdef double _level(self, n_pairs):
        return log(max(n_pairs, 1) / self.delta)

    def margins(self, rewards=None, *, pulls=None, means=None, variances=None):
        """Return the logarithm of the least wealth minus the level, against each other arm.

        Parameters
        ----------
        rewards : sequence of array_like of float
            All rewards of each arm, in [0, 1] and in their order; may be empty.
        pulls, means, variances : None
            Not accepted: they are parameters of `GLR.margins`, and this rule needs the order of
            the rewards.

        Returns
        -------
        ndarray of float64, shape (n_arms,)
            One value per arm: NaN for the arm of the largest mean, minus infinity for another
            arm without rewards. The rule stops if the values of all arms but the arm of the
            largest mean are above 0. O(number of rewards).
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
        """Return True if the rule stops here; the arguments are those of `margins`."""
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
    """Return a list of one float64 array per arm, for at least one arm."""
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
