# cython: auto_pickle=False
"""Policies that pull the arm of the largest index, with a budget or without end."""

import numpy as np

from pybandit._shared.checks import check_budget
from pybandit.policies.protocol._states import INDEX

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport INT64_MAX, int64_t

from pybandit.policies._csrc cimport pb_batch, pb_batch_one, pb_scan_index
from pybandit.policies.protocol.base cimport NativePolicy


cdef class _IndexPolicy(NativePolicy):
    """A policy that pulls each arm `least` times in one batch, then arms chosen by `_choose`.

    The index of an arm is its centre (its mean or a function of it) plus the width
    ``sqrt(a) roots + a slopes``; roots and slopes change only with the arm's own rewards. With a
    budget, a single arm is pulled in one batch, since there is nothing to choose.

    An arm that lost its first pulls is asked again, up to its share: ``budget // K`` pulls, or
    without a budget ``n_pulls // K`` plus one. The centre of an arm that is silent or lacks its
    first pulls is minus infinity.
    """

    def __init__(self, n_arms, budget, least):
        super().__init__(n_arms, 1)
        self.limit, self.least = INT64_MAX, least
        if budget is not None:
            self.limit = budget
            check_budget(self.limit, least * self.n_arms, self.n_arms,
                         "one pull per arm" if least == 1 else f"{least} pulls per arm")
        self.all_arms = np.arange(self.n_arms)
        self.asked = np.zeros(self.n_arms, dtype=np.int64)
        self.centres = np.full(self.n_arms, -INFINITY)
        self.roots, self.slopes = np.zeros(self.n_arms), np.zeros(self.n_arms)
        self.scratch = np.zeros(self.n_arms)
        self.chosen, self.n_lacking = -1, self.n_arms
        self._adapts = True

    @property
    def budget(self):
        """Number of pulls after which the policy is done; None if it never ends."""
        return None if self._never_ends() else self.limit

    cdef bint _never_ends(self) noexcept:
        return self.limit == INT64_MAX

    cdef void _choose(self) noexcept nogil:
        pass

    cdef void _widen(self, int64_t arm) noexcept nogil:
        self.roots[arm] = 1.0 / sqrt(<double>self._pulls[arm])

    cdef bint _is_done(self) noexcept nogil:
        return self.n_pulls >= self.limit

    cdef pb_batch _next(self) noexcept nogil:
        cdef pb_batch batch = pb_batch_one(&self.chosen)
        if self.chosen < 0:
            batch.arms, batch.n_arms = &self.all_arms[0], self.n_arms
            batch.n_pulls = self.least * self.n_arms
            if self.n_arms == 1 and self.limit != INT64_MAX:
                batch.n_pulls = self.limit
        return batch

    cdef int64_t _single(self) noexcept nogil:
        return -1 if self.silence.n_asked or self.n_pulls >= self.limit else self.chosen

    cdef void _advance(self) noexcept nogil:
        cdef int64_t arm
        if self.chosen >= 0:
            self.asked[self.chosen] += 1
            _IndexPolicy._refresh(self, self.chosen)
        else:
            for arm in range(self.n_arms):
                self.asked[arm] = self.least
                _IndexPolicy._refresh(self, arm)
        if self.n_pulls < self.limit:
            _IndexPolicy._plan(self)

    cdef void _settle(self, const int64_t *arms, int64_t n) noexcept nogil:
        cdef int64_t j, asked = self.chosen
        for j in range(n):
            _IndexPolicy._refresh(self, arms[j])
        # plan now what `_restore` will plan, but keep the current request
        if self.n_pulls < self.limit:
            _IndexPolicy._plan(self)
        self.chosen = asked

    cdef void _refresh(self, int64_t arm) noexcept nogil:
        if self._pulls[arm] < self.least or self.silence.has(arm):
            return
        if self.centres[arm] == -INFINITY:
            self.n_lacking -= 1
        self.centres[arm] = self._sums[arm] / self._pulls[arm]
        self._widen(arm)

    cdef void _set_aside(self, int64_t arm) noexcept nogil:
        if self.centres[arm] != -INFINITY:
            self.centres[arm] = -INFINITY
            self.n_lacking += 1

    cdef void _take_back(self, int64_t arm) noexcept nogil:
        _IndexPolicy._refresh(self, arm)

    cdef void _retried(self) noexcept nogil:
        if self.answered and self.n_pulls < self.limit:
            _IndexPolicy._plan(self)

    cdef int64_t _least_rewards(self) noexcept nogil:
        return self.least

    cdef int64_t _pulls_left(self) noexcept nogil:
        return self.limit - self.n_pulls

    cdef bint _may_ask(self, int64_t arm) noexcept nogil:
        """Return True if an arm without its first rewards has pulls left in its share."""
        if self.limit == INT64_MAX:
            return self.asked[arm] <= self.n_pulls // self.n_arms
        return self.asked[arm] < self.limit // self.n_arms

    cdef void _plan(self) noexcept nogil:
        cdef int64_t arm, known = 0
        if self.n_lacking:
            for arm in range(self.n_arms - 1, -1, -1):
                if self._pulls[arm] >= self.least and not self.silence.has(arm):
                    known = arm
            for arm in range(self.n_arms):
                if (self._pulls[arm] < self.least and _IndexPolicy._may_ask(self, arm)
                        and not self.silence.has(arm)):
                    self.chosen = arm
                    return
            if self.n_lacking >= self.n_arms - 1:
                self.chosen = known
                return
        self._choose()

    cdef void _choose_largest(self, double a, double top) noexcept nogil:
        self.chosen = pb_scan_index(&self.centres[0], &self.roots[0], &self.slopes[0],
                                    bounded(a), top, self.n_arms, &self.scratch[0])

    cdef bint _forget(self) except -1:
        cdef int64_t arm
        for arm in range(self.n_arms):
            self.asked[arm], self.centres[arm] = 0, -INFINITY
        self.n_lacking, self.chosen, self.is_new = self.n_arms, -1, True
        return True

    cdef object _schema(self):
        return INDEX

    cdef dict _sizes(self):
        return NativePolicy._sizes(self) | {"limit": self.limit}

    def _get_progress(self):
        self.guard.check()
        return {"asked": np.array(self.asked), "chosen": self.chosen}

    def _set_progress(self, progress):
        if self.is_new:
            self.is_new = False
            return
        super()._set_progress(progress)
        np.asarray(self.asked)[:] = progress["asked"]
        self.chosen = progress["chosen"]

    cdef int _resume(self) except -1:
        cdef int64_t arm, asked = self.chosen
        self.chosen = -1
        for arm in range(self.n_arms):
            _IndexPolicy._refresh(self, arm)
        if 0 < self.n_pulls < self.limit:
            _IndexPolicy._plan(self)
        # late rewards do not change the current choice
        if asked >= 0:
            self.chosen = asked
        return 0

    cdef int64_t _answer(self, int64_t *arms) noexcept nogil:
        return self._best_of(&self.all_arms[0], self.n_arms, 1, arms)

    _answers = True

    def recommend(self):
        """Return the arm of the best mean, int64 of shape (1,)."""
        with self.guard.reading():
            return self._best(np.asarray(self.all_arms), 1)
