# cython: auto_pickle=False
"""The k best arms when pulls come in batches of b, at most r of them on one arm.

Jun, Jamieson, Nowak and Zhu, Top arm identification in multi-armed bandits with
batch arm pulls, AISTATS 2016.
"""

import numpy as np

from pybandit._shared.checks import LARGEST, check_integer
from pybandit._shared.errors import InfeasibleBudgetError
from pybandit._shared.generators import as_generator
from pybandit.policies.batch._states import BATCH_HALVING, ROUND_ROBIN

from libc.stdint cimport int64_t

from pybandit.policies.batch._batch cimport _BatchPolicy
from pybandit.policies._csrc cimport (
    pb_batch, pb_ranked, pb_ranking_sort, pb_round_robin, pb_round_robin_keep,
    pb_round_robin_next, pb_round_robin_pulled,
)

__all__ = ["BatchHalving", "RoundRobin"]


cdef class RoundRobin(_BatchPolicy):
    """Pulls all arms in turn until the batches are spent: a baseline.

    Jun et al. 2016, Algorithm 1 without eliminations.

    Parameters
    ----------
    n_arms : int
        n, at least 1.
    k : int, default 1
        Number of arms to find, in [0, n].
    batch_size : int
        b, pulls per batch, at least 1; values above n r are reduced to n r.
    max_batches : int
        B, at least 1.
    max_repeats : int, optional
        r, maximum number of pulls of one arm per batch, at least 1; by default b.

    Attributes
    ----------
    done : bool
    n_pulls, n_batches : int
    pulls, means, variances, survivors : ndarray
        See `Policy`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    BatchScreening, BatchSAR, BatchHalving : find more of the best with the same pulls.
    Uniform : the same without batches.

    Notes
    -----
    O(1) per batch and per pull.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.policies.RoundRobin(4, 1, batch_size=6, max_batches=2)
    >>> policy.ask()
    array([0, 1, 2, 3, 0, 1])
    """

    cdef readonly int64_t max_batches

    def __init__(self, n_arms, k=1, *, batch_size, max_batches, max_repeats=None):
        super().__init__(n_arms, k, batch_size, max_repeats)
        self.max_batches = check_batches(max_batches, self.batch_size, LARGEST)
        self._made(RoundRobin)

    cdef object _schema(self):
        return ROUND_ROBIN

    cdef dict _sizes(self):
        return _BatchPolicy._sizes(self) | {"max_batches": self.max_batches}

    def _options(self):
        return dict(n_arms=self.n_arms, k=self.k, batch_size=self.batch_size,
                    max_batches=self.max_batches, max_repeats=self.max_repeats)

    cdef bint _is_done(self) noexcept nogil:
        return self.n_batches >= self.max_batches

    cdef pb_batch _next(self) noexcept nogil:
        return pb_round_robin_next(self.ring, self.batch_size, self.max_repeats)

    cdef void _advance(self) noexcept nogil:
        pb_round_robin_pulled(self.ring, self._next().n_pulls)

    cdef int64_t _answer(self, int64_t *arms) noexcept nogil:
        return self._best_of(self.ring.arms, self.ring.n_arms, self.k, arms)

    _answers = True

    def recommend(self):
        """Return the k arms of largest mean, best first, arms without rewards last; int64."""
        with self.guard.reading():
            return self._best(np.arange(self.n_arms), self.k)


cdef class BatchHalving(_BatchPolicy):
    """Halves the arms after each of ``L = ceil(log2(n / k))`` stages.

    Jun et al. 2016, Algorithm 4. A stage pulls the survivors in turn for B // L batches; B mod L
    stages, chosen at random, get one batch more. After a stage the
    ``max(ceil(|S| / 2), ceil(b / r), k)`` arms of largest mean survive, after the last stage
    exactly k. Good at small budgets, but without a guarantee.

    Parameters
    ----------
    n_arms, k, batch_size, max_batches, max_repeats
        As in `RoundRobin`; `max_batches` at least L.
    rng : None, int, SeedSequence or Generator
        Source of the random choice of the stages that get one batch more.

    Attributes
    ----------
    done, n_pulls, n_batches, pulls, means, variances, survivors
        As in `RoundRobin`.
    stage_batches : ndarray of int64, shape (L,)

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if `max_batches` is below L.

    See Also
    --------
    BatchScreening : for few batches and many arms.
    BatchSAR : accepts or rejects one arm per stage.
    RoundRobin : the baseline.

    Notes
    -----
    O(1) per pull and O(n) per stage.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rng, means = np.random.default_rng(1), np.linspace(0, 1, 40)
    >>> policy = pb.policies.BatchHalving(40, 5, batch_size=40, max_batches=6, rng=1)
    >>> policy.stage_batches
    array([2, 2, 2])
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, rng.normal(means[arms], 0.1))
    >>> np.sort(policy.recommend())
    array([35, 36, 37, 38, 39])
    """

    cdef readonly int64_t max_batches
    cdef double *means
    cdef pb_ranked *ranked
    cdef unsigned char *kept
    cdef int64_t[::1] _stage_batches
    cdef int64_t stage, n_stages, stage_left
    cdef bint rng_given

    def __init__(self, n_arms, k=1, *, batch_size, max_batches, max_repeats=None, rng=None):
        super().__init__(n_arms, k, batch_size, max_repeats)
        self.max_batches = check_batches(max_batches, self.batch_size, LARGEST)
        while 0 < self.k << self.n_stages < self.n_arms:
            self.n_stages += 1
        if self.max_batches < self.n_stages:
            raise InfeasibleBudgetError(
                f"max_batches must be at least {self.n_stages}, one for each halving of "
                f"{self.n_arms} arms to {self.k}; got {self.max_batches}")
        self.means = <double *>self._scratch(self.n_arms * sizeof(double))
        self.ranked = <pb_ranked *>self._scratch(2 * self.n_arms * sizeof(pb_ranked))
        self.kept = <unsigned char *>self._scratch(self.n_arms)
        self.rng_given = rng is not None
        self._deal(as_generator(rng))
        self._made(BatchHalving)

    def _options(self):
        return dict(n_arms=self.n_arms, k=self.k, batch_size=self.batch_size,
                    max_batches=self.max_batches, max_repeats=self.max_repeats)

    cdef _deal(self, rng):
        batches = np.zeros(max(1, self.n_stages), dtype=np.int64)
        if self.n_stages:
            batches += self.max_batches // self.n_stages
            batches[rng.permutation(self.n_stages)[:self.max_batches % self.n_stages]] += 1
        self._stage_batches = batches
        self.stage_left = batches[0]

    def seed(self, rng):
        """Choose the longer stages again, unless `rng` was given or pulls were made."""
        with self.guard:
            if not self.rng_given and not self.n_batches:
                self._deal(rng)

    @property
    def stage_batches(self):
        """Number of batches of each stage; int64, a copy."""
        with self.guard.reading():
            return np.array(self._stage_batches)[:self.n_stages]

    cdef bint _is_done(self) noexcept nogil:
        return self.stage >= self.n_stages

    cdef pb_batch _next(self) noexcept nogil:
        return pb_round_robin_next(self.ring, self.batch_size, self.max_repeats)

    cdef void _advance(self) noexcept nogil:
        pb_round_robin_pulled(self.ring, self._next().n_pulls)
        self.stage_left -= 1
        if self.stage_left == 0:
            self._halve()
            self.stage += 1
            if self.stage < self.n_stages:
                self.stage_left = self._stage_batches[self.stage]

    cdef void _halve(self) noexcept nogil:
        """Keep the better half of the survivors, but at least enough to fill a batch."""
        cdef int64_t i, n = self.ring.n_arms, n_kept = self._n_kept(self.stage, n)
        fill_means(self.ring, self._pulls, self._sums, self.means)
        pb_ranking_sort(self.ring.arms, n, self.means, self.ranked, self.ranked + n)
        for i in range(n):
            self.kept[self.ranked[i].arm] = i < n_kept
        pb_round_robin_keep(self.ring, self.kept)

    cdef int64_t _n_kept(self, int64_t stage, int64_t n) noexcept nogil:
        """Return how many of n arms survive this stage."""
        if stage == self.n_stages - 1:
            return self.k
        return max(self.k, (n + 1) // 2,
                   (self.batch_size + self.max_repeats - 1) // self.max_repeats)

    cdef object _schema(self):
        return BATCH_HALVING

    cdef dict _sizes(self):
        cdef int64_t stage
        kept = [self.n_arms]
        for stage in range(self.n_stages):
            kept.append(min(kept[stage], self._n_kept(stage, kept[stage])))
        return _BatchPolicy._sizes(self) | {
            "max_batches": self.max_batches, "n_stages": self.n_stages,
            "n_deals": max(1, self.n_stages), "kept": kept}

    def _get_progress(self):
        return {**super()._get_progress(), "stage_batches": np.array(self._stage_batches),
                "stage": self.stage, "stage_left": self.stage_left,
                "rng_given": self.rng_given}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        self._stage_batches = np.array(progress["stage_batches"])
        self.stage, self.stage_left = progress["stage"], progress["stage_left"]
        self.rng_given = progress["rng_given"]

    cdef int64_t _answer(self, int64_t *arms) noexcept nogil:
        cdef int64_t j, n = self._best_of(self.ring.arms, self.ring.n_arms, self.k, arms)
        for j in range(n):
            if not self._pulls[arms[j]]:
                return -1
        return n

    _answers = True

    def recommend(self):
        """Return the k survivors of largest mean, best first; int64.

        Arms without a reward are included only if fewer than k arms have one, and come last.
        """
        with self.guard.reading():
            return self._seen_first(self._best(self.survivors, self.k))


def check_batches(max_batches, batch_size, most):
    """Return `max_batches` as an int; raise if it is below 1 or allows more than `most` pulls."""
    max_batches = check_integer("max_batches", max_batches, 1)
    check_integer(f"batch_size times max_batches, {batch_size} times {max_batches},",
                  batch_size * max_batches, 1, most)
    return max_batches


cdef void fill_means(const pb_round_robin *ring, const int64_t[::1] pulls,
                     const double[::1] sums, double *means) noexcept nogil:
    """Compute the means of the arms on a ring; arms without rewards get the mean of all rewards."""
    cdef int64_t i, arm, count = 0
    cdef double total = 0.0
    for i in range(pulls.shape[0]):
        count += pulls[i]
        total += sums[i]
    for i in range(ring.n_arms):
        arm = ring.arms[i]
        means[arm] = sums[arm] / pulls[arm] if pulls[arm] else total / max(count, 1)
