# cython: auto_pickle=False
"""The best arm within a budget of pulls, by rejecting one arm at a time.

Audibert, Bubeck and Munos, Best arm identification in multi-armed bandits, COLT 2010;
Faella, Finzi and Sauro, Rapidly finding the best arm using variance, ECAI 2020; Wang,
Tzeng and Proutiere, Best arm identification with fixed budget: a large deviation
perspective, NeurIPS 2023.
"""

import numpy as np

from pybandit._shared.checks import (
    MOST_PULLS, check_budget, check_choice, check_integer,
)
from pybandit.policies.budget._rejects_schedule import rejects_schedule
from pybandit.policies.budget._states import CONTINUOUS, SUCCESSIVE, VBR_STATE

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport (
    pb_batch, pb_round_robin_keep, pb_round_robin_next, pb_round_robin_pulled,
)
from pybandit.policies.budget._heap cimport Heap
from pybandit.policies.protocol._ring cimport _RingPolicy
from pybandit.policies.budget._staged cimport _StagedPolicy

__all__ = ["VBR", "ContinuousRejects", "SuccessiveRejects"]


cdef class SuccessiveRejects(_StagedPolicy):
    """Rejects the worst arm after each of K - 1 phases.

    Audibert, Bubeck and Munos 2010: in phase k every survivor is pulled until it has
    ``n_k = ceil((n - K) / (logbar(K) (K + 1 - k)))`` pulls,
    ``logbar(K) = 1/2 + sum_{i=2}^K 1/i``. Among equal means the higher index is rejected.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    budget : int
        n, above K. Some of it stays unspent because of rounding.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if `budget` is at most K.

    See Also
    --------
    SequentialHalving : eliminates half of the arms at a time.
    VBR : pulls noisy arms more.
    ContinuousRejects : rejects an arm as soon as its gap allows.

    Notes
    -----
    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rng, rates = np.random.default_rng(1), np.array([0.2, 0.3, 0.5, 0.8])
    >>> policy = pb.policies.SuccessiveRejects(4, budget=200)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, rng.binomial(1, rates[arms]))
    >>> policy.recommend(), policy.pulls
    (array([3]), array([31, 42, 62, 62]))
    """

    cdef const int64_t[::1] schedule    # pulls per survivor at the end of each phase
    cdef int64_t pulls_an_arm

    def __init__(self, n_arms, *, budget):
        super().__init__(n_arms, budget)
        self.n_stages = self.n_arms - 1
        if self.n_stages:
            check_budget(self.budget, self.n_arms + 1, self.n_arms, "one pull more than arms")
        self.schedule = rejects_schedule(self.n_arms, self.budget)
        self._begin_stage()
        self._made(SuccessiveRejects)

    cdef object _schema(self):
        return SUCCESSIVE

    cdef dict _sizes(self):
        schedule = np.asarray(self.schedule)
        phases = np.diff(schedule, prepend=0) * np.arange(self.n_arms, 1, -1)
        return _StagedPolicy._sizes(self) | {
            "schedule": schedule, "spent": np.concatenate([[0], np.cumsum(phases)])}

    def _options(self):
        return dict(n_arms=self.n_arms, budget=self.budget)

    cdef int64_t _n_kept(self) noexcept nogil:
        return self.ring.n_arms - 1

    cdef void _begin_stage(self) noexcept nogil:
        cdef int64_t wanted
        while self.stage < self.n_stages:
            wanted = self.schedule[self.stage]
            self.left = self.ring.n_arms * (wanted - self.pulls_an_arm)
            self.pulls_an_arm = wanted
            if self.left > 0:
                return
            # a phase without pulls only rejects an arm
            self._keep_best(self._n_kept())
            self.stage += 1

    cdef pb_batch _next(self) noexcept nogil:
        return pb_round_robin_next(self.ring, self.left, self.left)

    cdef void _advance(self) noexcept nogil:
        self._end_stage()

    def _get_progress(self):
        return {**super()._get_progress(), "pulls_an_arm": self.pulls_an_arm}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        self.pulls_an_arm = progress["pulls_an_arm"]


cdef class VBR(SuccessiveRejects):
    """Successive rejects that pulls in proportion to variances that it learns.

    A reconstruction of variance-based rejects: the text of Faella, Finzi and Sauro, Rapidly
    finding the best arm using variance, ECAI 2020, was not available, and their algorithm may
    differ. Phases and rejections are those of `SuccessiveRejects`. The first phase pulls all arms
    in turn. Each later phase spends its ``(K + 1 - k) (n_k - n_{k-1})`` pulls one by one on the
    survivor of the largest ``v / T``, where v is the unbiased variance of its T rewards in all
    phases.

    Parameters
    ----------
    n_arms, budget
        As in `SuccessiveRejects`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if `budget` is at most K.

    See Also
    --------
    SuccessiveRejects : pulls all survivors equally.
    SHAdaVar : halving that learns variances.

    Notes
    -----
    Among equal ratios the lower index is pulled; an arm with fewer than two rewards comes before
    all ratios. O(log K) per pull, with a heap.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    Two arms with little noise and one with much, which gets more of the pulls:

    >>> import numpy as np, pybandit as pb
    >>> bandit = pb.environments.GaussianBandit([0.3, 1.0, 0.0], noise_std=[0.1, 1.0, 0.1])
    >>> policy, rng = pb.policies.VBR(3, budget=90), np.random.default_rng(1)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, bandit.pull(arms, rng))
    >>> policy.recommend(), policy.pulls
    (array([1]), array([22, 44, 22]))
    """

    cdef Heap heap

    def __init__(self, n_arms, *, budget):
        super().__init__(n_arms, budget=budget)
        self._wants_rewards = True
        self.heap = Heap(self.n_arms)
        self._made(VBR)

    cdef object _schema(self):
        return VBR_STATE

    cdef double _key(self, int64_t arm) noexcept nogil:
        """Return v / T; infinite if v is unknown."""
        cdef double n = self._pulls[arm]
        return self._deviations[arm] / ((n - 1.0) * n) if n > 1.0 else INFINITY

    cdef void _begin_stage(self) noexcept nogil:
        cdef int64_t i, arm
        SuccessiveRejects._begin_stage(self)
        # the base class's constructor begins the first phase before the heap exists
        if self.stage == 0 or self.stage >= self.n_stages:
            return
        self.heap.clear()
        for i in range(self.ring.n_arms):
            arm = self.ring.arms[i]
            self.heap.add(arm, self._key(arm))
        self.heap.build()

    cdef pb_batch _next(self) noexcept nogil:
        if self.stage == 0:
            return SuccessiveRejects._next(self)
        return self.heap.pull_root()

    cdef void _advance(self) noexcept nogil:
        if self.stage > 0 and self.left > 1:
            self.left -= 1
            self.heap.replace_root(self._key(self.heap.root()))
        else:
            self._end_stage()

    def _get_progress(self):
        return {**super()._get_progress(), **self.heap.get_progress()}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        self.heap.set_progress(progress)


cdef class ContinuousRejects(_RingPolicy):
    """Pulls all survivors equally and rejects the worst as soon as its gap allows.

    CR-C and CR-A of Wang, Tzeng and Proutiere 2023. Let l be the arm of the least mean among the j
    survivors C. It is rejected once it has more pulls than every rejected arm had, and the least
    of the other means (CR-C) or their average (CR-A) exceeds its own by more than G. Here
    ``G = 1 / sqrt(beta) - 1``, ``beta = logbar(j) N(C) / (T - N(rejected))``, N is the total number
    of pulls of a set of arms, and ``logbar(j) = 1/2 + sum_{i=2}^j 1/i``.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    budget : int
        T, at least K. Pulls that remain when one arm survives stay unspent.
    criterion : {"C", "A"}, default "C"
        The conservative or the aggressive rule.

    Attributes
    ----------
    done : bool
    n_pulls, n_batches : int
    pulls, means, variances, survivors : ndarray
        See `Policy`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if `budget` is below K.

    See Also
    --------
    SuccessiveRejects : rejects at fixed times.
    SequentialHalving : eliminates half of the arms at a time.

    Notes
    -----
    G assumes rewards in [0, 1], which is not checked. The next pull is of the survivor with the
    fewest pulls, ties by lower index; among equal least means the higher index is rejected. A
    lost pull counts as a pull. Nothing is rejected while a survivor has no reward. O(K) per pull.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.policies.ContinuousRejects(4, budget=80)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, np.array([0.1, 0.9, 0.3, 0.2])[arms])
    >>> policy.recommend(), policy.n_pulls
    (array([1]), 55)
    """

    cdef readonly int64_t budget
    cdef readonly str criterion
    cdef bint aggressive
    cdef int64_t pending
    cdef int64_t n_rejected_pulls, most_rejected
    cdef double[::1] harmonic, centres   # logbar(j), by j; mean, by arm
    cdef unsigned char[::1] kept

    def __init__(self, n_arms, *, budget, criterion="C"):
        super().__init__(n_arms, 1)
        self.budget = check_integer("budget", budget, 0, MOST_PULLS)
        if self.n_arms > 1:
            check_budget(self.budget, self.n_arms, self.n_arms, "one pull per arm")
        self.criterion = check_choice("criterion", criterion, ("C", "A"))
        self.aggressive = criterion == "A"
        self.centres = np.zeros(self.n_arms)
        self.kept = np.ones(self.n_arms, dtype=np.uint8)
        counts = np.arange(1, self.n_arms + 1)
        self.harmonic = np.concatenate([[0.0], np.cumsum(1.0 / counts) - 0.5])
        self.pending = self.n_arms
        self._made(ContinuousRejects)

    cdef object _schema(self):
        return CONTINUOUS

    cdef dict _sizes(self):
        return _RingPolicy._sizes(self) | {"budget": self.budget}

    def _options(self):
        return dict(n_arms=self.n_arms, budget=self.budget, criterion=self.criterion)

    cdef bint _is_done(self) noexcept nogil:
        return self.ring.n_arms == 1 or self.n_pulls >= self.budget

    cdef pb_batch _next(self) noexcept nogil:
        return pb_round_robin_next(self.ring, self.pending, 1)

    cdef void _advance(self) noexcept nogil:
        cdef int64_t j, position = self.ring.cursor
        for j in range(self.pending):
            self._measure(self.ring.arms[position + j])
        pb_round_robin_pulled(self.ring, self.pending)
        self.pending = 1
        while self.ring.n_arms > 1 and self._reject():
            pass

    cdef void _settle(self, const int64_t *arms, int64_t n) noexcept nogil:
        cdef int64_t j
        for j in range(n):
            self._measure(arms[j])

    cdef void _measure(self, int64_t arm) noexcept nogil:
        if self._pulls[arm]:
            self.centres[arm] = self._sums[arm] / self._pulls[arm]

    cdef bint _reject(self) noexcept nogil:
        """Reject the worst survivor if allowed; return True if it was rejected."""
        cdef int64_t n = self.ring.n_arms, i, arm, at = 0, pulls
        cdef double mean, worst = INFINITY, second = INFINITY, total = 0.0
        cdef const int64_t *arms = self.ring.arms
        cdef const int64_t *seen = &self._pulls[0]
        cdef const double *centres = &self.centres[0]
        cdef double threshold, beta
        # arms before the cursor have one pull more
        if self.ring.rounds + (self.ring.cursor > 0) <= self.most_rejected:
            return False
        for i in range(n):
            arm = arms[i]
            mean = centres[arm]
            total += mean
            if not seen[arm]:
                return False
            if mean <= worst:
                second, worst, at = worst, mean, i
            elif mean < second:
                second = mean
        pulls = self.ring.rounds + (at < self.ring.cursor)
        if pulls <= self.most_rejected:
            return False
        beta = (self.harmonic[n] * (self.n_pulls - self.n_rejected_pulls)
                / (self.budget - self.n_rejected_pulls))
        threshold = 1.0 / sqrt(beta) - 1.0
        if self.aggressive:
            second = (total - worst) / (n - 1)
        if not second - worst > threshold:
            return False
        self.most_rejected = pulls
        self.n_rejected_pulls += pulls
        self.kept[arms[at]] = 0
        pb_round_robin_keep(self.ring, &self.kept[0])
        return True

    cdef int64_t _answer(self, int64_t *arms) noexcept nogil:
        if self._best_of(self.ring.arms, self.ring.n_arms, 1, arms) == 1:
            return 1 if self._pulls[arms[0]] else -1
        return -1

    _answers = True

    def recommend(self):
        """Return the survivor of largest mean, int64 of shape (1,); may be called at any time."""
        with self.guard.reading():
            return self._seen_first(self._best(self.survivors, 1))

    def _get_progress(self):
        return {**super()._get_progress(), "pending": self.pending,
                "n_rejected_pulls": self.n_rejected_pulls, "most_rejected": self.most_rejected,
                "centres": np.array(self.centres)}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        self.pending = progress["pending"]
        self.n_rejected_pulls = progress["n_rejected_pulls"]
        self.most_rejected = progress["most_rejected"]
        np.asarray(self.centres)[:] = progress["centres"]
        np.asarray(self.kept)[:] = np.isin(np.arange(self.n_arms), self.survivors)
