# cython: auto_pickle=False
"""Policies that can take counts, since it does not matter for them why an arm was pulled."""

from pybandit._shared.checks import MOST_PULLS, check_counts
from pybandit._shared.count_rates import warn_of_rates

from libc.stdint cimport int64_t

from pybandit.policies.protocol.base cimport NativePolicy


cdef class CountedPolicy(NativePolicy):
    """A policy that takes any number of pulls of each arm at once."""

    def tell_counts(self, trials, sums):
        """Report counts of any number of pulls of each arm, instead of the requested ones.

        On an error nothing changes. The current request becomes void: `ask` starts from the new
        counts.

        Parameters
        ----------
        trials : array_like of int, shape (n_arms,)
            At least 0.
        sums : array_like of float, shape (n_arms,)
            Sums of the rewards. If rewards are in [0, 1], sums that are not integers count as
            with ``fractional=True``.

        Raises
        ------
        ValueError, TypeError
            If a shape differs, or a sum is impossible for that number of rewards.

        Warns
        -----
        UserWarning
            If rewards are in [0, 1] and the sums look like rates.

        Notes
        -----
        `variances` are those of rewards 0 and 1 or, if rewards have no range, of rewards that are
        all equal within a call: sums do not determine them.
        """
        self._tell_counts(trials, sums, True)

    def _tell_counts(self, trials, sums, warns=False):
        cdef const int64_t[::1] tried
        cdef const double[::1] came
        self.guard.enter()
        try:
            trials, sums = check_counts(trials, sums, self.n_arms, MOST_PULLS - self.n_pulls)
            self._check_sums(trials, sums)
            if warns and not self._accepts(2.0):
                warn_of_rates(trials, sums, 2)
            tried, came = trials, sums
            total = trials.sum()
            self._take(tried, came, total)
        finally:
            self.guard.leave()

    def _check_sums(self, trials, sums):
        if self._accepts(2.0):
            bad, of = (trials == 0) & (sums != 0), "rewards"
        else:
            bad, of = (sums < 0) | (sums > trials), "rewards in [0, 1]"
        if bad.any():
            arm = int(bad.argmax())
            raise ValueError(f"sums must be possible sums of {of}; got {sums[arm]} for "
                             f"{trials[arm]} trials of arm {arm}")

    def _check_rewards(self, arms, rewards, missing):
        rewards = super()._check_rewards(arms, rewards, missing)
        outside = (rewards < 0.0) | (rewards > 1.0)
        if not self._accepts(2.0) and outside.any():
            at = int(outside.argmax())
            raise ValueError(f"rewards must be in [0, 1]; got {rewards[at]} at index {at}, "
                             f"arm {arms[at]}")
        return rewards

    cdef void _take(self, const int64_t[::1] tried, const double[::1] came,
                    int64_t total) noexcept:
        cdef int64_t arm
        self.silence.clear()
        for arm in range(self.n_arms):
            if tried[arm]:
                self._count(arm, tried[arm], came[arm])
                if self.silence.counts and self.silence.answer(
                        arm, self.n_pulls + total, self._pulls[arm] >= self._least_rewards()):
                    self._take_back(arm)
        self._finish(total)

    cdef void _add_counts(self, int64_t arm, int64_t n, double total) noexcept nogil:
        pass

    cdef void _count(self, int64_t arm, int64_t n, double total) noexcept nogil:
        cdef int64_t before = self._pulls[arm]
        cdef double mean = total / n, between = 0.0
        if before:
            between = mean - self._sums[arm] / before
        self._deviations[arm] += between * between * before / (before + n) * n
        if not self._accepts(2.0):  # rewards in [0, 1]
            self._deviations[arm] += total * (1.0 - mean)
        self._pulls[arm] += n
        self._sums[arm] += total
        self._add_counts(arm, n, total)
