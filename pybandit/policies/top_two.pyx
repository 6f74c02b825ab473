# cython: auto_pickle=False
"""The best arm by a leader and its challenger.

Jourdan, Degenne and Kaufmann, An epsilon-best-arm identification algorithm for
fixed-confidence and beyond, NeurIPS 2023.
"""

import numpy as np

from pybandit._shared.checks import (
    MOST_PULLS, check_budget, check_flag, check_in, check_integer, check_scalar,
    nonnegative,
)
from pybandit.policies._arm_states import TOP_TWO

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport (
    pb_batch, pb_batch_one, pb_scan_largest, pb_scan_least, pb_scan_position,
)
from pybandit.policies.base cimport NativePolicy

__all__ = ["EBTC"]


cdef class EBTC(NativePolicy):
    """The best mean against the arm hardest to tell from it, in equal shares.

    EB-TC_eps of Jourdan et al. 2023 with a fixed share of 1/2. After one pull each
    the leader B is the arm of largest mean and the challenger the arm k of least
    ``(m_B - m_k + epsilon) / sqrt(1 / N_B + 1 / N_k)``. The leader is pulled when,
    of the L_B pulls for which it led, this one included, at most L_B / 2 before this
    one were its own; else the challenger is. Anytime: it asks for as long as it is
    told, and `recommend` may be called at any moment.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    epsilon : float, default 0.1
        Slack of the challenger's index, in the units of the rewards; finite, at
        least 0. At 0 two arms that look alike can take all pulls for long.
    variances : array_like of float, shape (n_arms,), optional
        Of the arms' rewards, where known; above 0. The root is then of
        ``v_B / N_B + v_k / N_k``.
    variance_aware : bool, default False
        The same with the unbiased variances of the rewards seen, after two pulls each.
        Not with `variances`.
    budget : int, optional
        Pulls after which it is `done`; at least K, or 2 K with `variance_aware`.
        Without it `done` is never true: `simulate` then needs a `horizon`.

    Attributes
    ----------
    done : bool
    n_pulls, n_batches : int
    pulls, means, variances : ndarray
        See the protocol, `Policy`.

    Raises
    ------
    ValueError, TypeError
        Where an argument is outside its range; `InfeasibleBudget` where the budget
        does not reach the first pulls.

    Notes
    -----
    Ties go to the lowest index. Arms whose first pulls were lost are asked again
    before any other. O(K) a pull.

    **Threads.** One at a time; a second gets a RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.EBTC(4, budget=80)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, np.array([0.1, 0.9, 0.3, 0.2])[arms])
    >>> policy.recommend(), policy.pulls
    (array([1]), array([ 9, 40, 18, 13]))
    """

    cdef readonly double epsilon
    cdef readonly bint variance_aware
    cdef int64_t most          # the budget, or -1
    cdef int64_t needed        # rewards of an arm before its index is defined
    cdef bint begun            # whether all arms have as many
    cdef int64_t leader, chosen, pending
    # per arm, as a leader: pulls for which it was, and how many of them were its own
    cdef int64_t[::1] led, own
    cdef int64_t[::1] arms, counts
    # per arm: mean, squared deviation of it, known variance; and scratch
    cdef double[::1] centres, squares, known, indices
    cdef bint has_known

    def __init__(self, n_arms, *, epsilon=0.1, variances=None, variance_aware=False,
                 budget=None):
        super().__init__(n_arms, 1)
        self.epsilon = check_scalar("epsilon", epsilon, "finite and at least 0", nonnegative)
        self.variance_aware = check_flag("variance_aware", variance_aware)
        self.has_known = variances is not None
        self.known = np.ones(self.n_arms)
        if self.has_known:
            if self.variance_aware:
                raise ValueError("variance_aware must be False where variances are given; got "
                                 f"{variance_aware!r}")
            variances = check_in("variances", variances, "finite and above 0",
                                 lambda v: np.isfinite(v) & (v > 0))
            if variances.shape != (self.n_arms,):
                raise ValueError(f"variances must have shape ({self.n_arms},); got "
                                 f"{variances.shape}")
            self.known = np.array(variances)
        self.needed = 2 if self.variance_aware else 1
        self.most = -1
        if budget is not None:
            self.most = check_integer("budget", budget, 0, MOST_PULLS)
            check_budget(self.most, self.needed * self.n_arms, self.n_arms,
                         f"{self.needed} an arm before the first comparison")
        self._wants_rewards = self.variance_aware
        self.led, self.own = np.zeros((2, self.n_arms), dtype=np.int64)
        self.arms = np.arange(self.n_arms)
        self.counts = np.zeros(self.n_arms, dtype=np.int64)
        self.centres, self.squares, self.indices = np.zeros((3, self.n_arms))
        self._plan_first()
        self._made(EBTC)

    def _options(self):
        self.guard.check()
        return dict(n_arms=self.n_arms, epsilon=self.epsilon,
                    variances=np.array(self.known) if self.has_known else None,
                    variance_aware=self.variance_aware, budget=self.budget)

    @property
    def budget(self):
        """Pulls after which it is done, or None."""
        return None if self.most < 0 else self.most

    cdef bint _never_ends(self) noexcept:
        return self.most < 0

    cdef bint _is_done(self) noexcept nogil:
        return 0 <= self.most <= self.n_pulls

    cdef pb_batch _next(self) noexcept nogil:
        cdef pb_batch batch = pb_batch_one(&self.chosen)
        if not self.begun:
            batch.arms, batch.counts, batch.n_arms = &self.arms[0], &self.counts[0], self.n_arms
            batch.n_pulls = self.pending
        return batch

    cdef void _advance(self) noexcept nogil:
        cdef int64_t arm
        cdef bint began = self.begun
        if not began:
            self._plan_first()
        if not self.begun:
            return
        if began:
            self.led[self.leader] += 1
            self.own[self.leader] += self.chosen == self.leader
            self._follow()
        else:
            for arm in range(self.n_arms):
                self._measure(arm)
            self.leader = find_largest(&self.centres[0], self.n_arms)
        self.pending = 1
        self.chosen = self.leader
        # whole numbers: own > led / 2 with this pull among those led
        if 2 * self.own[self.leader] > self.led[self.leader] + 1:
            self.chosen = self._find_challenger()

    cdef void _plan_first(self) noexcept nogil:
        """The pulls that arms lack, within the budget; or `begun`."""
        cdef int64_t arm, left = self.most - self.n_pulls
        self.pending = 0
        for arm in range(self.n_arms):
            self.counts[arm] = max(self.needed - self._pulls[arm], 0)
            if self.most >= 0:
                self.counts[arm] = min(self.counts[arm], left - self.pending)
            self.pending += self.counts[arm]
        # a spent budget asks for nothing, and arms may lack pulls for ever
        self.begun = self.pending == 0 and not self._is_done()

    cdef void _measure(self, int64_t arm) noexcept nogil:
        cdef double n = self._pulls[arm]
        self.centres[arm] = self._sums[arm] / n
        if self.variance_aware:
            self.squares[arm] = self._deviations[arm] / ((n - 1.0) * n)
        else:
            self.squares[arm] = self.known[arm] / n

    cdef void _follow(self) noexcept nogil:
        """The arm pulled has another mean; who leads now, without a scan where it can be."""
        cdef int64_t arm = self.chosen
        cdef double before = self.centres[arm], now, best
        self._measure(arm)
        now, best = self.centres[arm], self.centres[self.leader]
        if arm != self.leader:
            if now > best or (now == best and arm < self.leader):
                self.leader = arm
        elif now < before:
            self.leader = find_largest(&self.centres[0], self.n_arms)

    cdef int64_t _find_challenger(self) noexcept nogil:
        """The arm of least index; by its square, which spares the root."""
        cdef const double *centres = &self.centres[0]
        cdef const double *squares = &self.squares[0]
        cdef double *indices = &self.indices[0]
        cdef double best = centres[self.leader], own = squares[self.leader]
        cdef double slack = self.epsilon, gap
        cdef int64_t arm, n = self.n_arms
        for arm in range(n):
            gap = best - centres[arm] + slack
            indices[arm] = gap * gap / (squares[arm] + own)
        if self.variance_aware and own == 0.0:
            for arm in range(n):
                # two arms without any deviation are told apart for sure, or are equal
                if squares[arm] == 0.0:
                    indices[arm] = INFINITY if best - centres[arm] + slack > 0.0 else 0.0
        # the leader is no challenger, except where it is alone
        indices[self.leader] = INFINITY
        arm = find_least(indices, n)
        return arm if arm != self.leader or n == 1 else 1

    def recommend(self):
        """The arm of largest mean, int64 of shape (1,); at any time."""
        with self.guard.reading():
            return self._best(np.arange(self.n_arms), 1)

    cdef object _schema(self):
        return TOP_TWO

    cdef dict _sizes(self):
        return NativePolicy._sizes(self) | {
            "needed": self.needed, "most": MOST_PULLS if self.most < 0 else self.most}

    def _get_progress(self):
        self.guard.check()
        return {"begun": bool(self.begun), "leader": self.leader, "chosen": self.chosen,
                "led": np.array(self.led), "own": np.array(self.own),
                "counts": np.array(self.counts), "centres": np.array(self.centres),
                "squares": np.array(self.squares)}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        self.begun, self.leader = progress["begun"], progress["leader"]
        self.chosen = progress["chosen"]
        for array, name in ((self.led, "led"), (self.own, "own"), (self.counts, "counts"),
                            (self.centres, "centres"), (self.squares, "squares")):
            np.asarray(array)[:] = progress[name]
        self.pending = 1 if self.begun else np.sum(self.counts)


cdef inline int64_t find_largest(const double *values, int64_t n) noexcept nogil:
    """Where the largest is, ties to the lowest index."""
    return pb_scan_position(values, n, pb_scan_largest(values, n), -1)


cdef inline int64_t find_least(const double *values, int64_t n) noexcept nogil:
    """Where the least is, ties to the lowest index; none is NaN."""
    return pb_scan_position(values, n, pb_scan_least(values, n), -1)
