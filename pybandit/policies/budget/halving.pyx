# cython: auto_pickle=False
"""The best arm within a budget of pulls, by stages that keep the better half of the arms.

Karnin, Koren and Somekh, Almost optimal exploration in multi-armed bandits, ICML 2013.
"""

from pybandit._shared.checks import check_budget, check_flag
from pybandit.policies.budget._states import HALVING, SEQUENTIAL_HALVING

from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport pb_batch, pb_round_robin_next, pb_round_robin_pulled
from pybandit.policies.budget._staged cimport _StagedPolicy

__all__ = ["SequentialHalving"]


cdef class _Halving(_StagedPolicy):
    """The base of sequential halving: ``m = ceil(log2 K)`` stages of n // m pulls."""

    def __init__(self, n_arms, budget, reuse, spend_all):
        super().__init__(n_arms, budget)
        self.reuse = check_flag("reuse", reuse)
        self.spend_all = check_flag("spend_all", spend_all)
        self.n_stages = (self.n_arms - 1).bit_length()
        check_budget(self.budget, self.n_arms * self.n_stages, self.n_arms,
                     f"one pull per arm in each of {self.n_stages} stages")

    def _options(self):
        return dict(n_arms=self.n_arms, budget=self.budget, reuse=self.reuse,
                    spend_all=self.spend_all)

    cdef object _schema(self):
        return HALVING

    cdef dict _sizes(self):
        kept, spent = [self.n_arms], [0]
        for stage in range(self.n_stages):
            last = stage == self.n_stages - 1
            kept.append((kept[stage] + 1) // 2)
            spent.append(self.budget if last and self.spend_all
                         else spent[stage] + self.budget // self.n_stages)
        return _StagedPolicy._sizes(self) | {"kept": kept, "spent": spent}

    cdef void _begin_stage(self) noexcept nogil:
        cdef int64_t i, arm
        self.left = self.budget // self.n_stages
        if self.spend_all and self.stage == self.n_stages - 1:
            self.left += self.budget % self.n_stages
        if self.reuse:
            return
        self.ring.cursor = self.ring.rounds = 0
        for i in range(self.ring.n_arms):
            arm = self.ring.arms[i]
            self.stage_pulls[arm], self.stage_sums[arm] = self._pulls[arm], self._sums[arm]


cdef class SequentialHalving(_Halving):
    """Keeps the better half after each of ``m = ceil(log2 K)`` stages of n // m pulls.

    Karnin, Koren and Somekh 2013. Survivors are pulled in turn; the ``ceil(|A| / 2)`` of largest
    mean in the stage survive, ties by lower index.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    budget : int
        n, at least K m.
    reuse : bool, default False
        Use means over the pulls of all stages: better in practice, but not covered by the analysis.
    spend_all : bool, default False
        Give the last stage the remaining n mod m pulls.

    Attributes
    ----------
    done : bool
    n_pulls, n_batches : int
    pulls, means, variances, survivors : ndarray
        See `Policy`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if `budget` is below K m.

    See Also
    --------
    SHVar, SHAdaVar : for arms of different noise.
    SuccessiveRejects, ContinuousRejects : eliminate one arm at a time.
    Uniform : the baseline.

    Notes
    -----
    The mean in a stage is computed from the difference of the arm's sums at its end and start.
    It inherits their rounding: after a reward of 1e17 that difference is a multiple of 16. The same
    holds for `SHVar` and `SHAdaVar`.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.policies.SequentialHalving(4, budget=80)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, np.array([0.1, 0.9, 0.3, 0.2])[arms])
    >>> policy.recommend(), policy.pulls
    (array([1]), array([10, 30, 30, 10]))
    """

    def __init__(self, n_arms, *, budget, reuse=False, spend_all=False):
        super().__init__(n_arms, budget, reuse, spend_all)
        if self.n_stages:
            self._begin_stage()
        self._made(SequentialHalving)

    cdef object _schema(self):
        return SEQUENTIAL_HALVING

    cdef pb_batch _next(self) noexcept nogil:
        return pb_round_robin_next(self.ring, self.left, self.left)

    cdef void _advance(self) noexcept nogil:
        pb_round_robin_pulled(self.ring, self.left)
        self._end_stage()
