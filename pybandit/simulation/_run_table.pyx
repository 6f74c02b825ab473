# cython: auto_pickle=False
"""Results of a simulation, one row per run, and scores of answers."""

import numpy as np

from pybandit._shared.checks import owned, shown

cimport cython
from libc.math cimport NAN, isfinite
from libc.stdint cimport INT64_MAX, int64_t

from pybandit.simulation._csrc cimport (
    pb_score_above, pb_score_best, pb_score_gap, pb_score_lost, pb_score_set,
)

cdef enum:
    BEST, ABOVE, SET

KINDS = {"best": BEST, "above": ABOVE, "set": SET}


cdef class Truth:
    """The means of an environment, and the definition of a right answer.

    If the answer is a set, `right` are its arms.
    """

    def __init__(self, environment, means, kind, threshold, epsilon, right=None):
        means = np.array(means, dtype=np.float64)
        self.environment, self.means, self.n_arms = environment, means, means.size
        self.gaps = means.max() - means
        self.is_known = not np.isnan(means).any()
        self.sorted = -np.sort(-means)
        self.kind, self.threshold, self.epsilon = KINDS[kind], threshold, epsilon
        self.right = np.zeros(means.size, dtype=np.uint8)
        if right is not None:
            np.asarray(self.right)[right] = 1

    cdef double _best(self, int64_t k) noexcept nogil:
        """Return the mean of the k largest means, k at least 1."""
        cdef double total = 0.0
        cdef int64_t j
        for j in range(k):
            total += self.sorted[j]
        if isfinite(total):
            return total / k
        total = 0.0
        for j in range(k):  # avoid overflow
            total += self.sorted[j] / k
        return total


cdef score scored(Truth truth, const int64_t *chosen, int64_t n_chosen, int64_t k,
                  const int64_t *pulls, unsigned char *marks) noexcept nogil:
    """Score a set of arms; `k` is the required number if the right answer is the best arms."""
    cdef score found
    found.leader = chosen[0] if n_chosen else -1
    found.lost = pb_score_lost(&truth.gaps[0], pulls, truth.n_arms)
    if truth.kind != SET and not truth.is_known:
        # an answer of the wrong size is wrong for any means; otherwise the result is unknown
        found.error = truth.kind == BEST and n_chosen != k
        found.regret = 0.0 if truth.kind == BEST and not k else NAN
    elif truth.kind == ABOVE:
        found.error = pb_score_above(&truth.means[0], truth.n_arms, chosen, n_chosen,
                                     truth.threshold, truth.epsilon, marks, &found.regret)
    elif truth.kind == SET:
        found.error = pb_score_set(&truth.right[0], truth.n_arms, chosen, n_chosen, marks,
                                   &found.regret)
    else:
        found.error = pb_score_best(&truth.means[0], truth.n_arms, chosen, n_chosen, k,
                                    truth.epsilon, marks)
        found.regret = 0.0
        if k:
            found.regret = pb_score_gap(&truth.means[0], chosen, n_chosen, truth._best(k))
    return found


cdef class RunTable:
    """Arrays with one row per run; each thread writes its own rows."""

    def __init__(self, n_runs, n_arms, checkpoints, per_run):
        self.n_runs, self.n_arms = n_runs, n_arms
        self.checkpoints = np.array(checkpoints, dtype=np.int64)
        self.marks = self.checkpoints
        self.errors, self.stopped = np.zeros((2, n_runs), dtype=np.uint8)
        self.regrets, self.lost = np.zeros((2, n_runs))
        self.pulls, self.batches = np.zeros((2, n_runs), dtype=np.int64)
        self.totals = np.zeros(n_arms, dtype=np.int64)
        self.arm_pulls = np.zeros((n_runs if per_run else 0, n_arms), dtype=np.int64)
        shape = n_runs, self.checkpoints.size
        self.mark_errors = np.zeros(shape, dtype=np.uint8)
        self.mark_regrets, self.mark_lost = np.zeros((2, *shape))
        self.mark_leaders = np.zeros(shape, dtype=np.int64)

    cdef void _mark(self, int64_t i, int64_t j, score found) noexcept nogil:
        self.mark_errors[i, j], self.mark_leaders[i, j] = found.error, found.leader
        self.mark_regrets[i, j], self.mark_lost[i, j] = found.regret, found.lost

    cdef int _enter(self, int64_t i, score found, const int64_t *pulls, int64_t n_batches,
                    bint stopped) except -1:
        """Record the end of run i. Only one thread at a time changes the totals of arms."""
        cdef int64_t arm, total = 0
        self.errors[i], self.regrets[i], self.lost[i] = found.error, found.regret, found.lost
        with cython.critical_section(self):  # without a GIL
            for arm in range(self.n_arms):
                if pulls[arm] > INT64_MAX - self.totals[arm]:
                    raise too_many(arm)
                total += pulls[arm]
                self.totals[arm] += pulls[arm]
        if self.arm_pulls.shape[0]:
            for arm in range(self.n_arms):
                self.arm_pulls[i, arm] = pulls[arm]
        self.pulls[i], self.batches[i], self.stopped[i] = total, n_batches, stopped
        return 0

    def check_arms(self, i, n_arms):
        """Raise if an environment has another number of arms."""
        if n_arms != self.n_arms:
            raise ValueError(f"environment must have the same number of arms in every run, "
                             f"{self.n_arms}; got {n_arms} in run {i}")

    def enter(self, i, column, Truth truth, policy, pulls, lost, n_batches, stopped):
        """Score a Python policy's recommendation at checkpoint `column`; at the end if it is None.

        `lost`: the pseudo-regret if means vary; NaN if it follows from `truth`.
        """
        cdef const int64_t[::1] counts = pulls
        cdef unsigned char[::1] marks = np.empty(self.n_arms, dtype=np.uint8)
        cdef const int64_t[::1] arms = answer_of(policy, self.n_arms)
        cdef int64_t none = -1
        self.check_arms(i, counts.shape[0])
        self.check_arms(i, truth.n_arms)
        cdef score found = scored(
            truth, &arms[0] if arms.shape[0] else &none, arms.shape[0],
            k_of(policy, self.n_arms) if truth.kind == BEST else 0, &counts[0], &marks[0])
        if lost == lost:
            found.lost = lost
        if column is None:
            self._enter(i, found, &counts[0], n_batches, stopped)
        else:
            self._mark(i, column, found)

    def columns(self):
        """Return all arrays by the names of `SimulationResult`, and the totals of arms."""
        arrays = {
            "errors": np.asarray(self.errors).view(bool), "regrets": np.asarray(self.regrets),
            "cumulative_regrets": np.asarray(self.lost), "pulls": np.asarray(self.pulls),
            "batches": np.asarray(self.batches), "stopped": np.asarray(self.stopped).view(bool)}
        if self.arm_pulls.shape[0]:
            arrays["arm_pulls_by_run"] = np.asarray(self.arm_pulls)
        if self.checkpoints.size:
            arrays |= {"checkpoint_errors": np.asarray(self.mark_errors).view(bool),
                       "checkpoint_regrets": np.asarray(self.mark_regrets),
                       "checkpoint_cumulative_regrets": np.asarray(self.mark_lost),
                       "checkpoint_leaders": np.asarray(self.mark_leaders)}
        return arrays, np.asarray(self.totals)


def too_many(arm):
    """Return the error for an arm whose number of pulls exceeds int64."""
    return OverflowError(f"pulls of arm {arm} in all runs together must be at most {INT64_MAX}; "
                         "got more: use fewer or shorter runs")


def added(totals):
    """Return the sum of arrays of pulls per arm, each at least 0."""
    total = np.zeros_like(totals[0])
    for one in totals:
        beyond = one > INT64_MAX - total
        if beyond.any():
            raise too_many(int(beyond.argmax()))
        total += one
    return total


def k_of(policy, n_arms):
    """Return the number of arms that a policy looks for."""
    k = getattr(policy, "k", None)
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 0 <= k <= n_arms:
        raise ValueError(f"k of {type(policy).__name__} must be an integer in [0, {n_arms}]; got "
                         f"{shown(k, 60)}")
    return k


def answer_of(policy, n_arms):
    """Return the arms that a policy recommends; raise unless they are valid."""
    chosen = policy.recommend()
    array = owned("the return value of recommend", chosen)
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise ValueError(f"recommend of {type(policy).__name__} must return a flat array of "
                         f"integers; got {shown(chosen, 60)}")
    if array.size > n_arms:
        raise ValueError(f"recommend of {type(policy).__name__} must return at most {n_arms} "
                         f"arms; got {array.size}")
    bad = (array < 0) | (array >= n_arms)
    if bad.any():
        raise ValueError(f"recommend of {type(policy).__name__} must return arms in "
                         f"[0, {n_arms}); got {array[bad][0]}")
    return array.astype(np.int64, copy=False)
