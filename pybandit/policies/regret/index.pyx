# cython: auto_pickle=False
"""The arm of the largest upper confidence bound, without a horizon.

Auer, Cesa-Bianchi and Fischer, Finite-time analysis of the multiarmed bandit problem,
Machine Learning 2002; Audibert, Munos and Szepesvari, Exploration-exploitation tradeoff
using variance estimates in multi-armed bandits, Theoretical Computer Science 2009; Cappe,
Garivier, Maillard, Munos and Stoltz, Kullback-Leibler upper confidence bounds for optimal
sequential allocation, Annals of Statistics 2013. As Neufeld, Gyorgy, Schuurmans and
Szepesvari, Adaptive Monte Carlo via bandit allocation, ICML 2014, use them.
"""

import numpy as np

from pybandit._shared.checks import check_ends, check_in, check_positive, check_scalar
from pybandit.policies.regret._states import UPPER

from libc.math cimport INFINITY, isnan, log, sqrt
from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport (
    pb_kl_index, pb_kl_index_begin, pb_kl_index_choose, pb_kl_index_update, pb_kl_round,
)
from pybandit.policies.protocol._index cimport _IndexPolicy
from pybandit.policies.protocol.base cimport NativePolicy, is_reward

__all__ = ["KLUCB", "UCB1", "UCBV"]


cdef class _UpperBound(_IndexPolicy):
    """One pull each in one batch, then the largest index of round t = n_pulls + 1, for ever.

    Where arms have scales, s (index - 1) is compared instead of the index.
    """

    cdef double lowest, highest           # of rewards; highest infinite: any rewards
    cdef double refused                   # one that was not, where no Python looked; or NaN
    cdef bint is_scaled
    cdef double[::1] scales

    def __init__(self, n_arms, lowest, highest):
        super().__init__(n_arms, None, 1)
        self.lowest, self.highest, self.refused = lowest, highest, np.nan
        # one by one, so that each can be looked at
        self._wants_rewards = highest < INFINITY
        self.scales = np.ones(self.n_arms)

    def _check_rewards(self, arms, rewards, missing):
        rewards = super()._check_rewards(arms, rewards, missing)
        bad = (rewards < self.lowest) | (rewards > self.highest)
        if self.highest < INFINITY and bad.any():
            at = int(bad.argmax())
            raise ValueError(f"rewards must be in [{self.lowest:g}, {self.highest:g}]; got "
                             f"{rewards[at]} at index {at}, arm {arms[at]}")
        return rewards

    cdef bint _accepts(self, double reward) noexcept nogil:
        if self.highest < INFINITY:
            return self.lowest <= reward <= self.highest
        return is_reward(reward)

    cdef void _absorb(self, const int64_t *arms, const double *rewards, int64_t n) noexcept nogil:
        cdef int64_t j
        for j in range(n):
            if rewards[j] > self.highest or (rewards[j] < self.lowest and self.highest < INFINITY):
                self.refused = rewards[j]
        NativePolicy._absorb(self, arms, rewards, n)

    def _check_seen(self):
        if not isnan(self.refused):
            raise ValueError(f"rewards must be in [{self.lowest:g}, {self.highest:g}]; got "
                             f"{self.refused}")

    def _set_scales(self, scales):
        """From now on the index k is scales[k] (index - 1); float64 of shape (n_arms,)."""
        self.guard.check()
        scales = check_in("scales", scales, "finite and above 0",
                          lambda x: np.isfinite(x) & (x > 0))
        if scales.shape != (self.n_arms,):
            raise ValueError(f"scales must have shape ({self.n_arms},); got {scales.shape}")
        np.asarray(self.scales)[:] = scales
        self.is_scaled = True
        cdef int64_t arm
        for arm in range(self.n_arms):
            self._refresh(arm)
        if self.n_pulls:
            self._plan()

    cdef void _put(self, int64_t arm, double root, double slope) noexcept nogil:
        """The index is the mean + sqrt(a) root + a slope."""
        cdef double scale = self.scales[arm]
        if self.is_scaled:
            self.centres[arm] = scale * (self.centres[arm] - 1.0)
        self.roots[arm], self.slopes[arm] = scale * root, scale * slope

    cdef double _log_round(self) noexcept nogil:
        return log(<double>(self.n_pulls + 1))

    cdef object _schema(self):
        return UPPER

    cdef dict _sizes(self):
        return _IndexPolicy._sizes(self) | {"lowest": self.lowest, "highest": self.highest}

    def _get_progress(self):
        return {**super()._get_progress(), "is_scaled": bool(self.is_scaled),
                "scales": np.array(self.scales)}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        self.is_scaled = progress["is_scaled"]
        np.asarray(self.scales)[:] = progress["scales"]


cdef class UCB1(_UpperBound):
    """Pulls the arm of the largest mean and width, a width of the pulls alone.

    Auer et al. 2002: after one pull each, in round t the arm of largest
    ``mean_i + sqrt(exploration log(t) / T_i)``, where T_i are its rewards before the round.
    Ties go to the lowest index; the best mean is recommended. It never ends: `done` stays
    False, and `simulate` needs `max_pulls`.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    exploration : float, default 2
        Above 0. The theory takes 2, and rewards in [0, 1]; any finite reward is taken.

    Attributes
    ----------
    done : bool
    n_pulls, n_batches : int
    pulls, means, variances : ndarray
        See the protocol, `Policy`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    UCBV : takes variances into account.
    KLUCB : narrower bounds, of rewards in [0, 1].
    ThompsonSampling : draws instead of bounds.

    Notes
    -----
    O(K) a pull. The first K pulls are one batch. A lost pull counts in t. An arm whose
    first pull was lost is asked again before any other, as long as it was asked for no
    more than ``n_pulls // K`` times.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.policies.UCB1(3)
    >>> while policy.n_pulls < 200:
    ...     arms = policy.ask()
    ...     policy.tell(arms, np.array([0.1, 0.9, 0.5])[arms])
    >>> policy.recommend(), policy.pulls
    (array([1]), array([ 10, 165,  25]))
    """

    cdef readonly double exploration

    def __init__(self, n_arms, *, exploration=2.0):
        super().__init__(n_arms, -INFINITY, INFINITY)
        self.exploration = check_positive("exploration", exploration)
        self._made(UCB1)

    def _options(self):
        return dict(n_arms=self.n_arms, exploration=self.exploration)

    cdef void _widen(self, int64_t arm) noexcept nogil:
        self._put(arm, 1.0 / sqrt(<double>self._pulls[arm]), 0.0)

    cdef void _choose(self) noexcept nogil:
        self._choose_largest(self.exploration * self._log_round(), 0.0)


cdef class UCBV(_UpperBound):
    """Pulls the arm of the largest mean and width, a width that knows the variance.

    Audibert et al. 2009: after one pull each, in round t the arm of largest
    ``mean_i + sqrt(2 v_i zeta log(t) / T_i) + 3 c b zeta log(t) / T_i``, where v_i is the
    population variance (divisor T_i) of its T_i rewards before the round and b is
    `value_range`. Ties go to the lowest index; the best mean is recommended. It never
    ends: `done` stays False, and `simulate` needs `max_pulls`.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    value_range : (float, float), default (0, 1)
        All values a reward can take: (low, high). Other rewards are refused; b is their
        difference.
    c, zeta : float, default 1 and 1.2
        At least 0 and above 0. Smaller ones explore less: (1/3, 1) about halves the regret.

    Attributes
    ----------
    done, n_pulls, n_batches, pulls, means, variances
        See the protocol, `Policy`. `variances` are the unbiased ones.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    UCB1, KLUCB, ThompsonSampling : other rules that earn rewards while they look.

    Notes
    -----
    O(K) a pull. First and lost pulls as in `UCB1`.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> bandit = pb.environments.BernoulliBandit([0.1, 0.9, 0.5])
    >>> result = pb.simulate(lambda e: pb.policies.UCBV(3), bandit, 100, rng=1, max_pulls=1000)
    >>> int(result.arm_pulls.argmax())
    1
    """

    cdef readonly double c, zeta

    def __init__(self, n_arms, *, value_range=(0.0, 1.0), c=1.0, zeta=1.2):
        super().__init__(n_arms, *check_ends(value_range))
        self.c = check_scalar("c", c, "finite and at least 0",
                              lambda x: np.isfinite(x) & (x >= 0))
        self.zeta = check_positive("zeta", zeta)
        self._made(UCBV)

    def _options(self):
        return dict(n_arms=self.n_arms, value_range=self.value_range, c=self.c, zeta=self.zeta)

    @property
    def value_range(self):
        """All values a reward can take: (low, high)."""
        return self.lowest, self.highest

    cdef void _widen(self, int64_t arm) noexcept nogil:
        cdef double n = self._pulls[arm]
        # rounding can put the sum of squares below 0
        cdef double variance = max(self._deviations[arm], 0.0) / n
        self._put(arm, sqrt(2.0 * variance / n), 3.0 * self.c * (self.highest - self.lowest) / n)

    cdef void _choose(self) noexcept nogil:
        self._choose_largest(self.zeta * self._log_round(), 0.0)


cdef class KLUCB(_UpperBound):
    """Pulls the arm of the largest Kullback-Leibler bound of its mean.

    Cappe et al. 2013: after one pull each, in round t the arm of largest
    ``sup {q in [mean_i, 1] : T_i kl(mean_i, q) <= f(t)}``, with the divergence kl of two
    Bernoulli laws, T_i its rewards before the round, ``f(t) = log t + 3 log log t`` and
    f(1) = f(2) = f(3). Ties go to the lowest index; the best mean is recommended. It never
    ends: `done` stays False, and `simulate` needs `max_pulls`.

    Parameters
    ----------
    n_arms : int
        K, at least 1.

    Attributes
    ----------
    done, n_pulls, n_batches, pulls, means, variances
        See the protocol, `Policy`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or a reward outside [0, 1].

    See Also
    --------
    UCB1, UCBV, ThompsonSampling : other rules that earn rewards while they look.

    Notes
    -----
    O(K) a pull, with few solutions of the equation: ``-log(1 - q)`` of a bound q is concave
    in f, so its tangent where it was last solved stays above it, and only arms whose tangent
    reaches the best one solved are solved again. It is also what is compared: bounds that
    crowd at 1 are told apart. First and lost pulls as in `UCB1`.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.policies.KLUCB(3)
    >>> while policy.n_pulls < 200:
    ...     arms = policy.ask()
    ...     policy.tell(arms, np.array([0.1, 0.9, 0.5])[arms])
    >>> policy.recommend()
    array([1])
    """

    cdef pb_kl_index index
    cdef double[::1] own_means, own_pulls, bases

    def __init__(self, n_arms):
        super().__init__(n_arms, 0.0, 1.0)
        self.own_means, self.own_pulls, self.bases = np.zeros((3, self.n_arms))
        self.index.n = self.n_arms
        self.index.means, self.index.pulls = &self.own_means[0], &self.own_pulls[0]
        self.index.bases, self.index.roots = &self.bases[0], &self.roots[0]
        self.index.slopes, self.index.bounds = &self.slopes[0], &self.scratch[0]
        pb_kl_index_begin(&self.index)
        self._made(KLUCB)

    def _options(self):
        return dict(n_arms=self.n_arms)

    cdef void _widen(self, int64_t arm) noexcept nogil:
        # the engine may have met a reward outside, which it reports at the run's end
        cdef double mean = min(max(self.centres[arm], 0.0), 1.0)
        self.index.scales = &self.scales[0] if self.is_scaled else NULL
        pb_kl_index_update(&self.index, arm, mean, <double>self._pulls[arm], self._level())

    cdef void _set_aside(self, int64_t arm) noexcept nogil:
        _UpperBound._set_aside(self, arm)
        self.bases[arm] = -INFINITY

    cdef void _choose(self) noexcept nogil:
        self.chosen = pb_kl_index_choose(&self.index, self._level())

    cdef double _level(self) noexcept nogil:
        return pb_kl_round(<double>(self.n_pulls + 1))
