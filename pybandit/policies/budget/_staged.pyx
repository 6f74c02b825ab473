# cython: auto_pickle=False
"""The base class of policies that pull in stages, and the baseline Uniform."""

import numpy as np

from pybandit._shared.checks import MOST_PULLS, check_budget, check_integer
from pybandit.policies.budget._states import STAGED, UNIFORM

cimport numpy as cnp
from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport (
    pb_batch, pb_ranked, pb_ranking_sort, pb_round_robin_keep, pb_round_robin_next,
)
from pybandit.policies.protocol._ring cimport _RingPolicy

cnp.import_array()

__all__ = ["Uniform"]


cdef class _StagedPolicy(_RingPolicy):
    """A policy that pulls its survivors in stages and keeps those of largest mean after each.

    A subclass defines what a stage pulls (`_next`) and how many arms it keeps (`_n_kept`).
    `stage_pulls` and `stage_sums` are the arms' totals at the start of the stage, or 0 if means
    are over all pulls.
    """

    def __init__(self, n_arms, budget):
        super().__init__(n_arms, 1)
        self.budget = check_integer("budget", budget, 0, MOST_PULLS)
        self.stage_pulls = np.zeros(self.n_arms, dtype=np.int64)
        self.stage_sums = np.zeros(self.n_arms)
        self.scratch_means = np.zeros(self.n_arms)
        self.kept = np.zeros(self.n_arms, dtype=np.uint8)
        self.ranked = np.zeros(4 * self.n_arms, dtype=np.int64)

    cdef void _begin_stage(self) noexcept nogil:
        pass

    cdef int64_t _n_kept(self) noexcept nogil:
        return (self.ring.n_arms + 1) // 2

    cdef bint _is_done(self) noexcept nogil:
        return self.stage >= self.n_stages

    cdef void _keep_best(self, int64_t n_kept) noexcept nogil:
        """Keep the n_kept arms of largest mean in the stage, ties by lower index."""
        cdef pb_ranked *ranked = <pb_ranked *>cnp.PyArray_DATA(self.ranked)
        cdef int64_t i, arm, pulls
        for i in range(self.ring.n_arms):
            arm = self.ring.arms[i]
            pulls = self._pulls[arm] - self.stage_pulls[arm]
            # arms that lost all their pulls are eliminated first
            self.scratch_means[arm] = -INFINITY
            if pulls:
                self.scratch_means[arm] = (self._sums[arm] - self.stage_sums[arm]) / pulls
        if n_kept == self.ring.n_arms - 1:
            self._reject_worst()
        else:
            pb_ranking_sort(self.ring.arms, self.ring.n_arms, &self.scratch_means[0], ranked,
                            ranked + self.n_arms)
            for i in range(self.ring.n_arms):
                self.kept[ranked[i].arm] = i < n_kept
        pb_round_robin_keep(self.ring, &self.kept[0])

    cdef void _reject_worst(self) noexcept nogil:
        """Eliminate the arm of least mean, the last of equal ones, as sorting would."""
        cdef int64_t i, arm, worst = self.ring.arms[0]
        for i in range(self.ring.n_arms):
            arm = self.ring.arms[i]
            self.kept[arm] = 1
            if self.scratch_means[arm] <= self.scratch_means[worst]:
                worst = arm
        self.kept[worst] = 0

    cdef void _end_stage(self) noexcept nogil:
        self._keep_best(self._n_kept())
        self.stage += 1
        if self.stage < self.n_stages:
            self._begin_stage()

    cdef object _schema(self):
        return STAGED

    cdef dict _sizes(self):
        return _RingPolicy._sizes(self) | {"budget": self.budget, "n_stages": self.n_stages}

    def _get_progress(self):
        return {**super()._get_progress(), "stage": self.stage, "left": self.left,
                "stage_pulls": np.array(self.stage_pulls),
                "stage_sums": np.array(self.stage_sums)}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        np.asarray(self.stage_pulls)[:] = progress["stage_pulls"]
        np.asarray(self.stage_sums)[:] = progress["stage_sums"]
        self.stage, self.left = progress["stage"], progress["left"]

    cdef int64_t _answer(self, int64_t *arms) noexcept nogil:
        if self._best_of(self.ring.arms, self.ring.n_arms, 1, arms) == 1:
            return 1 if self._pulls[arms[0]] else -1
        return -1

    _answers = True

    def recommend(self):
        """Return the best arm or, before the end, the best survivor; int64 of shape (1,)."""
        with self.guard.reading():
            return self._seen_first(self._best(self.survivors, 1))


cdef class Uniform(_StagedPolicy):
    """Pulls all arms in turn until the budget is spent; recommends the best mean.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    budget : int
        n, at least K.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if `budget` is below K.

    See Also
    --------
    RoundRobin : the same in batches.
    SequentialHalving : errs less if gaps differ.

    Notes
    -----
    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import pybandit as pb
    >>> policy = pb.policies.Uniform(3, budget=7)
    >>> policy.ask()
    array([0, 1, 2, 0, 1, 2, 0])
    >>> policy.tell(policy.ask(), [0.1, 0.7, 0.3, 0.2, 0.8, 0.4, 0.0])
    >>> policy.recommend(), policy.means
    (array([1]), array([0.1 , 0.75, 0.35]))
    """

    def __init__(self, n_arms, *, budget):
        super().__init__(n_arms, budget)
        check_budget(self.budget, self.n_arms, self.n_arms, "one pull per arm")
        self.n_stages, self.left = 1, self.budget
        self._made(Uniform)

    def _options(self):
        return dict(n_arms=self.n_arms, budget=self.budget)

    cdef object _schema(self):
        return UNIFORM

    cdef pb_batch _next(self) noexcept nogil:
        return pb_round_robin_next(self.ring, self.left, self.left)

    cdef void _advance(self) noexcept nogil:
        self.stage = 1
