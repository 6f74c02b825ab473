# cython: auto_pickle=False
"""The k best arms in batches, with one arm accepted or rejected per stage: BatchSAR.

Jun, Jamieson, Nowak and Zhu, Top arm identification in multi-armed bandits with
batch arm pulls, AISTATS 2016, Algorithm 3.
"""

from pybandit._shared.checks import MOST_PULLS, check_choice, check_flag
from pybandit._shared.errors import InfeasibleBudgetError
from pybandit.policies.batch._states import BATCH_SAR
from pybandit.policies.batch.batch import check_batches

from libc.stdint cimport int64_t

from pybandit.policies.batch._batch cimport _AcceptingPolicy
from pybandit.policies._csrc cimport (
    pb_batch, pb_batch_sar, pb_batch_sar_advance, pb_batch_sar_begin, pb_batch_sar_least,
    pb_batch_sar_next, pb_ranked,
)

__all__ = ["BatchSAR"]


cdef class BatchSAR(_AcceptingPolicy):
    """Accepts or rejects one arm per stage, the one furthest from the boundary.

    Jun et al. 2016, Algorithm 3. Stage s pulls the n - s + 1 survivors until each has m_s pulls,
    then removes the best arm (accepting it) or the worst, whichever is further from the boundary
    between the open places and the rest. Once ``n_tilde = max(ceil(b / r), 2)`` arms are left,
    removing more saves no batches: they are pulled to the end. The probability of a wrong set
    falls exponentially in B (Theorem 2), for rewards in an interval of length 1.

    If rewards are sparse (nearly all 0) and r is far below b, most arms are removed after one to
    four pulls; `RoundRobin` then finds more of the best.

    Parameters
    ----------
    n_arms, k, batch_size, max_batches, max_repeats
        As in `RoundRobin`.
    improved : bool, default True
        True: the pull counts m'_s of Eq. 10, which use all batches. False: m_s, which may leave
        batches unused.
    tie : {"reject", "index"}
        The arm that a stage removes if both gaps are equal: the worst one, or the one of lower
        index.

    Attributes
    ----------
    done, n_pulls, n_batches, pulls, means, variances
        As in `RoundRobin`.
    survivors : ndarray of int64
        Arms neither accepted nor rejected.
    accepted : ndarray of int64

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if B is below
        ``(sum_{i > n_tilde} ceil(b / i) + b + n_tilde min(r, ceil(b / 2)) + n) // b + 1``.

    See Also
    --------
    BatchScreening : for fewer batches than this policy needs.
    BatchRacing : takes an error probability instead of a number of batches.
    BatchHalving : halves the arms in each stage.
    RoundRobin : the baseline.

    Notes
    -----
    Survivors are ranked once per batch, in O(n); a stage costs O(1).

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rng = np.random.default_rng(1)
    >>> means = np.linspace(0, 1, 50)
    >>> policy = pb.policies.BatchSAR(50, 3, batch_size=20, max_batches=100)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, rng.normal(means[arms], 0.1))
    >>> policy.recommend()
    array([49, 48, 47])
    """

    cdef readonly int64_t max_batches
    cdef readonly bint improved
    cdef readonly object tie
    cdef pb_batch_sar sar

    def __cinit__(self):
        self.ring = &self.sar.ring

    def __init__(self, n_arms, k=1, *, batch_size, max_batches, max_repeats=None,
                 improved=True, tie="reject"):
        super().__init__(n_arms, k, batch_size, max_repeats)
        self.max_batches = check_batches(max_batches, self.batch_size, MOST_PULLS)
        self.improved = check_flag("improved", improved)
        self.tie = check_choice("tie", tie, ("reject", "index"))
        least = pb_batch_sar_least(self.n_arms, self.batch_size, self.max_repeats)
        if self.max_batches < least and 0 < self.k < self.n_arms:
            raise InfeasibleBudgetError(
                f"max_batches must be at least {least} for {self.n_arms} arms in batches of "
                f"{self.batch_size}, each with at most {self.max_repeats} pulls per arm; got "
                f"{self.max_batches}: use more batches, or BatchScreening, which needs fewer")
        self.sar.n, self.sar.k = self.n_arms, self.k
        self.sar.size, self.sar.repeats = self.batch_size, self.max_repeats
        self.sar.max_batches = self.max_batches
        self.sar.improved, self.sar.lower_index = self.improved, self.tie == "index"
        self.sar.alive = <unsigned char *>self._scratch(self.n_arms)
        self.sar.accepted = self._accepted()
        self.sar.harmonic = <double *>self._scratch((self.n_arms + 1) * sizeof(double))
        self.sar.ceilings = <int64_t *>self._scratch((self.n_arms + 1) * sizeof(int64_t))
        self.sar.means = <double *>self._scratch(self.n_arms * sizeof(double))
        self.sar.ranked = <pb_ranked *>self._scratch(2 * self.n_arms * sizeof(pb_ranked))
        pb_batch_sar_begin(&self.sar)
        self._made(BatchSAR)

    def _options(self):
        return dict(n_arms=self.n_arms, k=self.k, batch_size=self.batch_size,
                    max_batches=self.max_batches, max_repeats=self.max_repeats,
                    improved=self.improved, tie=self.tie)

    cdef bint _is_done(self) noexcept nogil:
        return self.sar.done or self.n_batches >= self.max_batches

    cdef pb_batch _next(self) noexcept nogil:
        return pb_batch_sar_next(&self.sar)

    cdef void _advance(self) noexcept nogil:
        pb_batch_sar_advance(&self.sar, &self._pulls[0], &self._sums[0])

    cdef object _schema(self):
        return BATCH_SAR

    cdef dict _sizes(self):
        return _AcceptingPolicy._sizes(self) | {"max_batches": self.max_batches}

    def _get_progress(self):
        return {**super()._get_progress(), "n_left": self.sar.n_left,
                "n_open": self.sar.n_open, "removed_pulls": self.sar.removed_pulls,
                "sar_batches": self.sar.n_batches, "sar_done": bool(self.sar.done)}

    def _set_progress(self, progress):
        cdef int64_t arm
        super()._set_progress(progress)
        self.sar.n_left, self.sar.n_open = progress["n_left"], progress["n_open"]
        self.sar.removed_pulls = progress["removed_pulls"]
        self.sar.n_batches, self.sar.done = progress["sar_batches"], progress["sar_done"]
        for arm in range(self.n_arms):
            self.sar.alive[arm] = False
        for arm in self.ring_arms[:self.ring.n_arms]:
            self.sar.alive[arm] = True
