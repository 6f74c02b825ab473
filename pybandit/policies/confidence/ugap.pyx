# cython: auto_pickle=False
"""The best arms by bounds on each arm's regret.

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
    """Finds the k best arms with bounds on each arm's regret: UGapE with a confidence level.

    Gabillon et al. 2012. B_a is the k-th largest upper bound of the other arms minus the lower
    bound of a; it bounds how much worse a is than the k-th best of the others. The answer is the
    k arms of the least B. Two arms are compared: the arm of the least lower bound in the answer,
    and the arm of the largest upper bound outside it. The one with fewer pulls is pulled. The
    policy stops when the B of all k arms are below epsilon.

    Parameters
    ----------
    n_arms, k, delta, noise_std, epsilon, max_pulls
        As in `LUCB`.

    Attributes
    ----------
    done, decided, n_pulls, n_batches, pulls, means, variances
        As in `LUCB`.

    Raises
    ------
    ValueError, TypeError
        As in `LUCB`.

    See Also
    --------
    LUCB : bounds on means instead of regrets.
    UGapEb : takes a budget instead of an error probability.

    Notes
    -----
    **Proof.** Bounds are ``mean_a -+ noise_std sqrt(2 log(4 K t^3 / delta) / N_a)``. If none
    fails, an arm of the answer is worse than the k-th best by at most its B, so by less than
    epsilon. After t pulls an arm has one of t counts, and for one count a bound on either side
    fails with probability at most ``delta / (4 K t^3)``: the sum over counts, sides, K arms and t
    is ``delta zeta(2) / 2 < delta``.

    If epsilon is 0 and the k-th and (k + 1)-th means are equal, the policy may never stop. Ties
    go to the lowest index; between two arms with equal pulls, the one in the answer is pulled.
    O(K) per pull.

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
    cdef double[:, ::1] bounds            # rows: lower bounds, upper bounds and -B

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
        """Compute -B. The k-th largest upper bound of the others has rank k or k + 1 overall."""
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
        """Return the k arms of the smallest B at the last pull, best mean first, int64 (k,)."""
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
