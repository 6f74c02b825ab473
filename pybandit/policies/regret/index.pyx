# cython: auto_pickle=False
"""The arm of the largest upper confidence bound, without a horizon.

Auer, Cesa-Bianchi and Fischer, Finite-time analysis of the multiarmed bandit problem,
Machine Learning 2002; Audibert, Munos and Szepesvari, Exploration-exploitation tradeoff
using variance estimates in multi-armed bandits, Theoretical Computer Science 2009; Cappe,
Garivier, Maillard, Munos and Stoltz, Kullback-Leibler upper confidence bounds for optimal
sequential allocation, Annals of Statistics 2013. Used as in Neufeld, Gyorgy, Schuurmans and
Szepesvari, Adaptive Monte Carlo via bandit allocation, ICML 2014.
"""

import numpy as np

from pybandit._shared.checks import check_ends, check_in, check_positive, check_scalar
from pybandit.policies.regret._states import UPPER

from libc.math cimport INFINITY, isnan, log, sqrt
from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport (
    pb_kl_index, pb_kl_index_begin, pb_kl_index_choose, pb_kl_index_update, pb_kl_round,
)
from pybandit.policies.protocol._index cimport _IndexPolicy, choose_by_root
from pybandit.policies.protocol.base cimport NativePolicy, is_reward

__all__ = ["KLUCB", "UCB1", "UCBV"]


cdef class _UpperBound(_IndexPolicy):
    """A policy that pulls each arm once, in one batch, then the arm of largest index each round.

    If arms have scales s, the values s (index - 1) are compared instead of indices.
    """

    cdef double lowest, highest           # range of rewards; highest infinite: any rewards
    cdef double refused                   # an invalid reward seen without Python, or NaN
    cdef bint is_scaled
    cdef double[::1] scales

    def __init__(self, n_arms, lowest, highest):
        super().__init__(n_arms, None, 1)
        self.lowest, self.highest, self.refused = lowest, highest, np.nan
        # take rewards one by one, so that each is checked
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
        """Set scales, float64 of shape (n_arms,): index k becomes scales[k] (index - 1)."""
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
        """Set the parts of the index, mean + sqrt(a) root + a slope, with the arm's scale."""
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
        if self.is_new:  # runs do not change scales
            self.is_new = False
            return
        super()._set_progress(progress)
        self.is_scaled = progress["is_scaled"]
        np.asarray(self.scales)[:] = progress["scales"]


cdef class UCB1(_UpperBound):
    """Pulls the arm of the largest mean plus a width that depends only on the pulls.

    Auer et al. 2002: after one pull of each arm, in round t the arm of the largest
    ``mean_i + sqrt(exploration log(t) / T_i)``, where T_i is its number of rewards before the
    round. Ties go to the lowest index; the best mean is recommended. It never ends: `done` stays
    False, and `simulate` needs `max_pulls`.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    exploration : float, default 2
        Above 0. The theory assumes 2 and rewards in [0, 1]; any finite reward is accepted.

    Attributes
    ----------
    done : bool
    n_pulls, n_batches : int
    pulls, means, variances : ndarray
        See `Policy`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    UCBV : uses variances.
    KLUCB : narrower bounds, for rewards in [0, 1].
    ThompsonSampling : random draws instead of bounds.

    Notes
    -----
    O(K) per pull. The first K pulls are one batch. A lost pull counts in t. An arm that lost its
    first pull is asked again before any other, as long as it was asked at most ``n_pulls // K``
    times.

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

    cdef void _advance(self) noexcept nogil:
        cdef int64_t arm = self.chosen
        if arm < 0 or self.n_lacking or self.is_scaled:
            _UpperBound._advance(self)
            return
        # the usual case without calls, a tenth of the time of a pull
        self.asked[arm] += 1
        self.centres[arm] = self._sums[arm] / self._pulls[arm]
        self.roots[arm] = 1.0 / sqrt(<double>self._pulls[arm])
        UCB1._choose(self)

    cdef void _widen(self, int64_t arm) noexcept nogil:
        _UpperBound._put(self, arm, 1.0 / sqrt(<double>self._pulls[arm]), 0.0)

    cdef void _choose(self) noexcept nogil:
        choose_by_root(self, self.exploration * _UpperBound._log_round(self))


cdef class UCBV(_UpperBound):
    """Pulls the arm of the largest mean plus a width that depends on the variance.

    Audibert et al. 2009. After one pull of each arm, round t pulls the arm of the largest
    ``mean_i + sqrt(2 v_i zeta log(t) / T_i) + 3 c b zeta log(t) / T_i``. Here v_i is the
    population variance (divisor T_i) of its T_i rewards before the round, and b the width of
    `value_range`. Ties go to the lowest index; the best mean is recommended. It never ends: `done`
    stays False, and `simulate` needs `max_pulls`.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    value_range : (float, float), default (0, 1)
        Range of the rewards: (low, high); b is high - low. Rewards outside it are rejected.
    c, zeta : float, default 1 and 1.2
        Factors of the width: c at least 0, zeta above 0. Smaller values explore less: (1/3, 1)
        about halves the regret.

    Attributes
    ----------
    done, n_pulls, n_batches, pulls, means, variances
        See `Policy`. `variances` are the unbiased ones.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    UCB1, KLUCB, ThompsonSampling : other rules that collect rewards while they explore.

    Notes
    -----
    O(K) per pull. First and lost pulls are handled as in `UCB1`.

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
        """Range of the rewards: (low, high)."""
        return self.lowest, self.highest

    cdef void _widen(self, int64_t arm) noexcept nogil:
        cdef double n = self._pulls[arm]
        # rounding can put the sum of squares below 0
        cdef double variance = max(self._deviations[arm], 0.0) / n
        _UpperBound._put(self, arm, sqrt(2.0 * variance / n),
                         3.0 * self.c * (self.highest - self.lowest) / n)

    cdef void _choose(self) noexcept nogil:
        self._choose_largest(self.zeta * _UpperBound._log_round(self), 0.0)


cdef class KLUCB(_UpperBound):
    """Pulls the arm of the largest Kullback-Leibler bound of its mean.

    Cappe et al. 2013. After one pull of each arm, round t pulls the arm of the largest
    ``sup {q in [mean_i, 1] : T_i kl(mean_i, q) <= f(t)}``. Here kl is the divergence of two
    Bernoulli distributions, T_i the number of rewards of the arm before the round,
    ``f(t) = log t + 3 log log t`` and f(1) = f(2) = f(3). Ties go to the lowest index; the best
    mean is recommended. It never ends: `done` stays False, and `simulate` needs `max_pulls`.

    Parameters
    ----------
    n_arms : int
        K, at least 1.

    Attributes
    ----------
    done, n_pulls, n_batches, pulls, means, variances
        See `Policy`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or a reward is outside [0, 1].

    See Also
    --------
    UCB1, UCBV, ThompsonSampling : other rules that collect rewards while they explore.

    Notes
    -----
    O(K) per pull, with few solutions of the equation. For a bound q, ``-log(1 - q)`` is concave in
    f, so it lies below its tangent at the f where it was last solved. Only arms whose tangent
    reaches the best value solved are solved again. Comparing these values also keeps
    bounds near 1 distinct. First and lost pulls are handled as in `UCB1`.

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
        # the engine may have received a reward outside [0, 1]; it reports it at the end of the run
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
