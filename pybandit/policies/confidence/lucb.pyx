# cython: auto_pickle=False
"""The best arms by lower and upper confidence bounds.

Kalyanakrishnan, Tewari, Auer and Stone, PAC subset selection in stochastic multi-armed bandits,
ICML 2012; Kaufmann and Kalyanakrishnan, Information complexity in bandit subset selection, COLT
2013.
"""

import numpy as np

from pybandit._shared.checks import check_delta, check_positive, check_scalar, nonnegative
from pybandit.policies.confidence._states import BOUNDS

from libc.math cimport INFINITY, M_E, log, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from pybandit.policies._csrc cimport (
    pb_kl_bounds, pb_kl_bounds_choose, pb_kl_bounds_set, pb_ranked, pb_ranking_sort,
)
from pybandit.policies.stopping._sequential cimport SequentialPolicy

__all__ = ["KLLUCB", "LUCB"]


cdef class _BoundsPolicy(SequentialPolicy):
    """A policy that compares the k best means with the others by bounds of each mean.

    Among the k arms on top, h is the one with the least lower bound; among the others, l is the
    one with the largest upper bound. The policy stops once ``upper_l - lower_h < epsilon``.
    """

    def __init__(self, n_arms, delta, k, epsilon, max_pulls, n_chosen=2):
        super().__init__(n_arms, k, None, max_pulls, 1, n_chosen)
        self.delta = check_delta(delta)
        self.epsilon = check_scalar("epsilon", epsilon, "finite and at least 0", nonnegative)
        self.has_rule = True
        # if k is 0 or n_arms, the answer is known before any pull
        self.stopped = self.k in (0, self.n_arms)
        self.sorting = np.empty((2, 2 * self.n_arms))
        self.is_top = np.zeros(self.n_arms, dtype=np.uint8)

    def _options(self):
        options = super()._options() | dict(k=self.k, delta=self.delta, epsilon=self.epsilon)
        del options["stopping"]
        return options

    cdef double _rate(self) noexcept nogil:
        """Return the largest allowed N d(mean, bound)."""
        return 0.0

    cdef double _lower(self, int64_t arm, double rate) noexcept nogil:
        return 0.0

    cdef double _upper(self, int64_t arm, double rate) noexcept nogil:
        return 0.0

    cdef void _rank(self) noexcept nogil:
        """Mark the k arms of largest mean in `is_top`."""
        if self.k > 1:
            self._mark(self._sorted(&self.centres[0]))
            return
        memset(&self.is_top[0], 0, self.n_arms)
        self.is_top[self.best] = True

    cdef pb_ranked *_sorted(self, const double *values) noexcept nogil:
        """Return all arms sorted by value, the largest first."""
        cdef pb_ranked *ranked = <pb_ranked *>&self.sorting[0, 0]
        pb_ranking_sort(&self.arms[0], self.n_arms, values, ranked,
                        <pb_ranked *>&self.sorting[1, 0])
        return ranked

    cdef void _mark(self, const pb_ranked *ranked) noexcept nogil:
        """Mark the first k arms in `is_top`."""
        cdef int64_t j
        for j in range(self.n_arms):
            self.is_top[ranked[j].arm] = j < self.k

    cdef void _decide(self) noexcept nogil:
        self._rank()
        self.stopped = self._find_pair(self._rate()) < self.epsilon

    cdef double _find_pair(self, double rate) noexcept nogil:
        """Find h and l; return how far the upper bound of l exceeds the lower bound of h."""
        cdef double least = INFINITY, largest = -INFINITY, bound
        cdef int64_t arm
        for arm in range(self.n_arms):
            if self.silence.has(arm):
                continue
            if self.is_top[arm]:
                bound = self._lower(arm, rate)
                if bound < least:
                    least, self.high = bound, arm
            else:
                bound = self._upper(arm, rate)
                if bound > largest:
                    largest, self.low = bound, arm
        if largest == -INFINITY:  # none of the other arms answers
            self.low = self.high
        return largest - least

    cdef void _choose(self) noexcept nogil:
        self.chosen[0], self.chosen[1] = self.high, self.low

    cdef object _schema(self):
        return BOUNDS


cdef class LUCB(_BoundsPolicy):
    """Finds the k best arms with Hoeffding's bounds: LUCB1.

    Kalyanakrishnan et al. 2012. After one pull of each arm, every round pulls two arms: the arm of
    the least lower bound among the k largest means, and the arm of the largest upper bound among
    the others. It stops when the upper bound exceeds the lower one by less than epsilon. The
    bounds of arm a after t pulls of all arms are
    ``mean_a -+ noise_std sqrt(2 log(5 K t^4 / (4 delta)) / N_a)``.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    k : int, default 1
        Number of arms to find, in [0, n_arms].
    delta : float, default 0.05
        Error probability, in (0, 1).
    noise_std : float, default 1
        Scale of sub-Gaussian rewards: at least the standard deviation of Gaussian ones, half the
        length of an interval of bounded ones. Finite and above 0.
    epsilon : float, default 0
        Tolerance: a chosen arm may be worse than an omitted one by less than epsilon.
    max_pulls : int, optional
        Pulls after which the policy is `done`, even if it is not `decided`; at least K.

    Attributes
    ----------
    done : bool
    decided : bool
        True once the bounds have separated: the answer is right with probability 1 - delta.
    n_pulls, n_batches : int
    pulls, means, variances : ndarray
        See `Policy`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if `max_pulls` does not
        cover the first pulls.

    See Also
    --------
    KLLUCB : narrower bounds, for rewards in [0, 1].
    UGapEc : bounds on regrets instead of means.
    TopTwo, TrackAndStop : need fewer pulls if delta is small.

    Notes
    -----
    **Proof.** A wrong answer omits an arm b of the k best and contains an arm a that is worse by
    at least epsilon. Then ``upper_b - lower_a < epsilon``, so upper_b is below the mean of b or
    lower_a above that of a. For each arm only one of its two bounds matters. After t pulls an arm
    has one of t counts, and Hoeffding's bound for one count errs with probability
    ``4 delta / (5 K t^4)``: the sum over counts, t and K arms is ``.8 zeta(3) delta < delta``.

    If epsilon is 0 and the k-th and (k + 1)-th means are equal, the policy may never stop. Ties
    go to the lowest index. O(K) per round.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.policies.LUCB(4, delta=0.05, k=2, noise_std=0.5)
    >>> rng, means = np.random.default_rng(2), np.array([0.1, 0.9, 0.6, 0.2])
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, means[arms] + 0.5 * rng.standard_normal(arms.size))
    >>> policy.recommend()
    array([1, 2])
    """

    cdef readonly double noise_std

    def __init__(self, n_arms, k=1, *, delta=0.05, noise_std=1.0, epsilon=0.0, max_pulls=None):
        super().__init__(n_arms, delta, k, epsilon, max_pulls)
        self.noise_std = check_positive("noise_std", noise_std)
        self._made(LUCB)

    def _options(self):
        return super()._options() | dict(noise_std=self.noise_std)

    cdef double _rate(self) noexcept nogil:
        cdef double t = self.n_pulls
        return log(1.25 * self.n_arms / self.delta) + 4.0 * log(t)

    cdef double _width(self, int64_t arm, double rate) noexcept nogil:
        return self.noise_std * sqrt(2.0 * rate / self._pulls[arm])

    cdef double _lower(self, int64_t arm, double rate) noexcept nogil:
        return self.centres[arm] - self._width(arm, rate)

    cdef double _upper(self, int64_t arm, double rate) noexcept nogil:
        return self.centres[arm] + self._width(arm, rate)


cdef class KLLUCB(_BoundsPolicy):
    """Finds the k best arms with Chernoff's bounds, for rewards in [0, 1]: KL-LUCB.

    As `LUCB`, with the bounds ``N_a kl(mean_a, bound) = r``, ``r = x + log x`` and
    ``x = log((4 e + 2) K t^2 / delta)`` (Kaufmann and Kalyanakrishnan 2013, alpha = 2). They are
    narrower, especially for means near 0 or 1.

    Parameters
    ----------
    n_arms, k, delta, epsilon, max_pulls
        As in `LUCB`.

    Attributes
    ----------
    done, decided, n_pulls, n_batches, pulls, means, variances
        As in `LUCB`.

    Raises
    ------
    ValueError, TypeError
        As in `LUCB`. `tell` raises if a reward is outside [0, 1].

    See Also
    --------
    LUCB : for rewards of any range.

    Notes
    -----
    **Proof.** As for `LUCB`. A bound errs for any of the counts up to t with probability at most
    ``e ceil(r log t) exp(-r)`` (Garivier and Cappe 2011, theorem 10), and
    ``exp(-r) = delta / ((4 e + 2) K t^2 x)``. As ``r <= (1 + 1 / e) x``, the sum over t and K arms
    is at most ``delta ((e + 1) sum(log t / t^2) + e sum(1 / t^2)) / (4 e + 2) < delta``.

    If epsilon is 0 and the k-th and (k + 1)-th means are equal, the policy may never stop. Ties
    go to the lowest index. O(K) per round: bounds are computed only for arms that tangents of
    earlier bounds do not exclude.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.policies.KLLUCB(4, delta=0.05, k=2)
    >>> rng, means = np.random.default_rng(2), np.array([0.1, 0.9, 0.6, 0.2])
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, rng.random(arms.size) < means[arms])
    >>> policy.recommend()
    array([1, 2])
    """

    cdef pb_kl_bounds lowers, uppers
    cdef double[:, ::1] memory            # of both
    cdef unsigned char[:, ::1] skipped    # arms without lower bounds, and without upper bounds

    def __init__(self, n_arms, k=1, *, delta=0.05, epsilon=0.0, max_pulls=None):
        super().__init__(n_arms, delta, k, epsilon, max_pulls)
        self._take_range(0.0, 1.0)
        self.memory = np.zeros((10, self.n_arms))
        self.skipped = np.zeros((2, self.n_arms), dtype=np.uint8)
        self._lay_out(&self.lowers, 0)
        self._lay_out(&self.uppers, 5)
        self.lowers.is_lower = True
        self._made(KLLUCB)

    cdef double _rate(self) noexcept nogil:
        cdef double t = self.n_pulls
        cdef double x = log((4.0 * M_E + 2.0) * self.n_arms / self.delta) + 2.0 * log(t)
        return x + log(x)

    cdef void _lay_out(self, pb_kl_bounds *bounds, int first) noexcept:
        bounds.n, bounds.is_lower = self.n_arms, False
        bounds.means, bounds.pulls = &self.memory[first, 0], &self.memory[first + 1, 0]
        bounds.bases, bounds.slopes = &self.memory[first + 2, 0], &self.memory[first + 3, 0]
        bounds.tangents = &self.memory[first + 4, 0]

    cdef void _measure(self, int64_t arm) noexcept nogil:
        cdef double mean
        SequentialPolicy._measure(self, arm)
        # the engine may have received a reward outside [0, 1]; it reports it at the end of the run
        mean = min(max(self.centres[arm], 0.0), 1.0)
        pb_kl_bounds_set(&self.lowers, arm, mean, <double>self._pulls[arm])
        pb_kl_bounds_set(&self.uppers, arm, mean, <double>self._pulls[arm])

    cdef int _resume(self) except -1:
        cdef int64_t arm
        if self.begun:
            for arm in range(self.n_arms):
                self._look(arm)
        return 0

    cdef double _find_pair(self, double rate) noexcept nogil:
        cdef double least = INFINITY, largest = -INFINITY
        cdef const unsigned char *is_top = &self.is_top[0]
        cdef unsigned char *others = &self.skipped[0, 0]
        cdef unsigned char *tops = &self.skipped[1, 0]
        cdef int64_t arm, n = self.n_arms
        for arm in range(n):
            others[arm] = is_top[arm] ^ 1
        memcpy(tops, is_top, n)
        if self.silence.n_aside:
            for arm in range(self.n_arms):
                if self.silence.has(arm):
                    self.skipped[0, arm] = self.skipped[1, arm] = True
        arm = pb_kl_bounds_choose(&self.lowers, rate, &self.skipped[0, 0], &least)
        self.high = arm if arm >= 0 else self.high
        arm = pb_kl_bounds_choose(&self.uppers, rate, &self.skipped[1, 0], &largest)
        self.low = arm if arm >= 0 else self.high  # if none of the other arms answers
        return largest - least
