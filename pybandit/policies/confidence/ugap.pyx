# cython: auto_pickle=False
"""The best arms by bounds of each arm's regret.

Gabillon, Ghavamzadeh and Lazaric, Best arm identification: a unified approach to fixed budget
and fixed confidence, NIPS 2012.
"""

import numpy as np

from pybandit._shared.checks import check_positive
from pybandit.policies.confidence._states import UGAP_SURE

from libc.math cimport INFINITY, log, sqrt
from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport pb_ranked
from pybandit.policies.confidence.lucb cimport _BoundsPolicy

__all__ = ["UGapEc"]


cdef class UGapEc(_BoundsPolicy):
    """The k best arms by bounds of each arm's regret: UGapE with a confidence.

    Gabillon et al. 2012: B_a is the k-th largest upper bound of the other arms less a's lower
    bound, at most which a is worse than the k-th best of these. The answer are the k arms of the
    least B; of its arm of the least lower bound and the other arm of the largest upper one, that
    with fewer pulls is pulled, until the B of all k are below epsilon.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    k : int, default 1
        Number of arms to find, in [0, n_arms].
    delta : float, default 0.05
        Error probability, in (0, 1).
    noise_std : float, default 1
        Rewards are sub-Gaussian with it: Gaussian with at most that standard deviation, or in
        an interval of length ``2 noise_std``. Finite and above 0.
    epsilon : float, default 0
        An answer may hold arms that are worse by less than it than one left out.
    max_pulls : int, optional
        Pulls after which it is `done` in any case, perhaps not `decided`; at least K.

    Attributes
    ----------
    done : bool
    decided : bool
        True once the bounds have parted: the answer is right with probability 1 - delta.
    n_pulls, n_batches : int
    pulls, means, variances : ndarray
        See the protocol, `Policy`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if `max_pulls` does not
        reach the first pulls.

    See Also
    --------
    LUCB : bounds instead of gaps.
    UGapEb : a budget that is given, not a confidence.

    Notes
    -----
    **Proof.** Bounds are ``mean_a -+ noise_std sqrt(2 log(4 K t^3 / delta) / N_a)``. Where none
    fails, an arm of the answer is worse than the k-th best by at most its B, so by less than
    epsilon. After t pulls an arm has one of t counts, and a bound on either side of one fails with
    probability at most ``delta / (4 K t^3)``: the sum over counts, sides, K arms and t is
    ``delta zeta(2) / 2 < delta``.

    Where two means are equal around the k-th and epsilon is 0 it goes on for ever. Ties go
    to the lowest index; of two with as many pulls the one of the answer is pulled. O(K) a pull.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.policies.UGapEc(4, delta=0.05, k=2, noise_std=0.5)
    >>> rng, means = np.random.default_rng(2), np.array([0.1, 0.9, 0.6, 0.2])
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, means[arms] + 0.5 * rng.standard_normal(arms.size))
    >>> policy.recommend()
    array([1, 2])
    """

    cdef readonly double noise_std
    cdef double[:, ::1] bounds            # lower, upper and -B of each arm

    def __init__(self, n_arms, k=1, *, delta=0.05, noise_std=1.0, epsilon=0.0, max_pulls=None):
        super().__init__(n_arms, delta, k, epsilon, max_pulls, 1)
        self.noise_std = check_positive("noise_std", noise_std)
        self.bounds = np.zeros((3, self.n_arms))
        np.asarray(self.is_top)[:self.k] = 1
        self._made(UGapEc)

    def _options(self):
        return super()._options() | dict(noise_std=self.noise_std)

    cdef double _rate(self) noexcept nogil:
        cdef double t = self.n_pulls
        return log(4.0 * self.n_arms / self.delta) + 3.0 * log(t)

    cdef double _lower(self, int64_t arm, double rate) noexcept nogil:
        return self.bounds[0, arm]

    cdef double _upper(self, int64_t arm, double rate) noexcept nogil:
        return self.bounds[1, arm]

    cdef void _decide(self) noexcept nogil:
        cdef double rate = self._rate(), width, least = INFINITY
        cdef int64_t arm
        for arm in range(self.n_arms):
            if self.silence.has(arm):
                self.bounds[0, arm] = self.bounds[1, arm] = -INFINITY
                continue
            width = self.noise_std * sqrt(2.0 * rate / self._pulls[arm])
            self.bounds[0, arm] = self.centres[arm] - width
            self.bounds[1, arm] = self.centres[arm] + width
        self._find_regrets()
        self._mark(self._sorted(&self.bounds[2, 0]))
        for arm in range(self.n_arms):
            if self.is_top[arm] and not self.silence.has(arm):
                least = min(least, self.bounds[2, arm])
        self.stopped = -least < self.epsilon
        self._find_pair(rate)

    cdef void _find_regrets(self) noexcept nogil:
        """-B: the k-th largest of the other upper bounds is the k-th, or the one after it."""
        cdef pb_ranked *ranked = self._sorted(&self.bounds[1, 0])
        cdef double last = self.bounds[1, ranked[self.k - 1].arm]
        cdef double first = self.bounds[1, ranked[self.k].arm]
        cdef int64_t j, arm
        for j in range(self.n_arms):
            arm = ranked[j].arm
            self.bounds[2, arm] = -INFINITY
            if not self.silence.has(arm):
                self.bounds[2, arm] = self.bounds[0, arm] - (first if j < self.k else last)

    cdef void _choose(self) noexcept nogil:
        self.chosen[0] = self.low if self._pulls[self.low] < self._pulls[self.high] else self.high

    def recommend(self):
        """The arms of the least B at the last pull, best mean first; int64 of shape (k,)."""
        with self.guard.reading():
            arms = np.arange(self.n_arms) if not self.begun else np.flatnonzero(self.is_top)
            return self._best(arms, self.k)

    cdef object _schema(self):
        return UGAP_SURE

    def _get_progress(self):
        return super()._get_progress() | {"is_top": np.array(self.is_top, dtype=bool)}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        np.asarray(self.is_top)[:] = progress["is_top"]
