# cython: auto_pickle=False
"""Counts, means and variances of the arms, and which of them are silent."""

import numpy as np

from pybandit._shared.checks import MOST_HELD, check_integer, listed, shown

from libc.math cimport isnan
from libc.stdint cimport int64_t

from pybandit._shared.guard cimport Guard
from pybandit.policies.protocol._silence cimport Silence

cdef enum:
    MANY = 1000


cdef class ArmStatistics:
    """Statistics of a policy's arms; the guard is shut until `__init__` ends."""

    def __cinit__(self):
        self.guard = Guard(type(self))
        self.guard.shut()

    def __init__(self, n_arms, k):
        self.guard.begin()
        self.n_arms = check_integer("n_arms", n_arms, 1, MOST_HELD)
        k = check_integer("k", k, 0, np.inf)  # the upper limit has its own message below
        if k > self.n_arms:
            raise ValueError(f"k must be at most n_arms = {self.n_arms}; got {shown(k)}")
        self.k = k
        self._pulls = np.zeros(self.n_arms, dtype=np.int64)
        self._sums = np.zeros(self.n_arms)
        self._deviations = np.zeros(self.n_arms)
        self.silence = Silence(self.n_arms)

    # Compiled code reads the fields of these names directly while it holds the guard.
    @property
    def n_pulls(self):
        """Number of pulls reported so far, lost pulls included."""
        return read(self, &self.n_pulls)

    @property
    def n_batches(self):
        """Number of batches reported so far."""
        return read(self, &self.n_batches)

    @property
    def pulls(self):
        """Number of rewards of each arm; int64, shape (n_arms,), a copy."""
        with self.guard.reading():
            return np.array(self._pulls)

    @property
    def means(self):
        """Mean reward of each arm; float64, shape (n_arms,), NaN for arms without rewards."""
        with self.guard.reading(), np.errstate(invalid="ignore"):
            return np.asarray(self._sums) / np.asarray(self._pulls)

    @property
    def variances(self):
        """Sample variance of each arm's rewards; float64, shape (n_arms,).

        NaN for arms with fewer than two rewards.
        """
        with self.guard.reading(), np.errstate(invalid="ignore", divide="ignore"):
            pulls = np.asarray(self._pulls)
            return np.where(pulls > 1, np.asarray(self._deviations) / (pulls - 1), np.nan)

    @property
    def silent(self):
        """Arms that lost `silent_after` pulls in a row and have not answered since.

        int64, increasing, a copy.

        Examples
        --------
        >>> import numpy as np, pybandit as pb
        >>> policy = pb.policies.UCB1(3)
        >>> policy.silent_after = 2
        >>> for _ in range(3):
        ...     arms = policy.ask()
        ...     policy.tell(arms, np.where(arms == 1, np.nan, 0.5), missing="drop")
        >>> policy.silent
        array([1])
        """
        with self.guard.reading():
            if not self.silence.n_aside:
                return np.empty(0, dtype=np.int64)
            return np.flatnonzero(self.silence.aside)

    @property
    def silent_after(self):
        """Lost pulls in a row after which an arm is silent, or None for never.

        Part of the saved state. A new value applies from the next lost pull: an arm that is
        already silent stays silent until it answers.
        """
        with self.guard.reading():
            return self.silence.limit or None

    @silent_after.setter
    def silent_after(self, value):
        if value is not None:
            value = check_integer("silent_after", value, 1, MOST_HELD)
        with self.guard:
            self.silence.limit = value or 0

    def __repr__(self):
        if self.guard.reason() is not None:
            return f"<{type(self).__name__}: {self.guard.reason()}>"
        with self.guard.reading():
            silent = listed(self.silent)
            return (f"<{type(self).__name__}: {self.n_arms} arms, {self.n_pulls} pulls in "
                    f"{self.n_batches} batches{', done' if self.done else ''}"
                    f"{f', silent: {silent}' if silent else ''}>")

    cdef void _absorb(self, const int64_t *arms, const double *rewards, int64_t n) noexcept nogil:
        """Add rewards to the arms' statistics; NaN is a lost pull."""
        cdef int64_t j, arm, count
        cdef double reward, before
        for j in range(n):
            arm, reward = arms[j], rewards[j]
            if isnan(reward):
                continue
            count = self._pulls[arm]
            before = self._sums[arm] / count if count else reward
            self._sums[arm] += reward
            self._pulls[arm] = count + 1
            self._deviations[arm] += (reward - before) * (reward - self._sums[arm] / (count + 1))

    cdef int _make_silence(self) except -1:
        return self.silence.make()

    cdef void _hear(self, const int64_t *arms, const double *rewards, int64_t n) noexcept nogil:
        """Count losses of a batch of n pulls, set arms aside, and take back those that answer."""
        cdef int64_t j, arm, after = self.n_pulls + n
        self.answered = False
        for j in range(n):
            arm = arms[j]
            if isnan(rewards[j]):
                if self.silence.lose(arm, after, self._batch_pulls()):
                    self._set_aside(arm)
                continue
            self.answered = True
            if self.silence.answer(arm, after, self._pulls[arm] >= self._least_rewards()):
                self._take_back(arm)

    cdef int64_t _least_rewards(self) noexcept nogil:
        return 1

    cdef int64_t _batch_pulls(self) noexcept nogil:
        return 1

    cdef void _set_aside(self, int64_t arm) noexcept nogil:
        pass

    cdef void _take_back(self, int64_t arm) noexcept nogil:
        pass

    cdef tuple _statistics(self):
        """Return the argument of `_take_statistics`."""
        return (self.n_pulls, self.n_batches, np.array(self._pulls), np.array(self._sums),
                np.array(self._deviations), self.silence.get_state())

    cdef int _take_statistics(self, state) except -1:
        """Restore the statistics of a pickled policy."""
        n_pulls, n_batches, pulls, sums, deviations, silence = state
        self.n_pulls, self.n_batches = n_pulls, n_batches
        np.asarray(self._pulls)[:] = pulls
        np.asarray(self._sums)[:], np.asarray(self._deviations)[:] = sums, deviations
        if silence["n_counted"]:
            self._make_silence()
        return self.silence.set_state(silence)

    def _best(self, arms, n):
        """Return the n best of these arms, best mean first, then unseen arms, then silent ones."""
        self.guard.check()
        pulls, sums = np.asarray(self._pulls)[arms], np.asarray(self._sums)[arms]
        means = np.where(pulls > 0, sums / np.maximum(pulls, 1), -np.inf)
        if self.silence.n_aside:
            silent = np.asarray(self.silence.aside)[arms]
            return arms[np.lexsort((arms, -means, silent))[:n]]
        if 0 < 2 * n <= means.size:  # sort only these
            near = np.flatnonzero(means >= np.partition(means, -n)[-n])
            arms, means = arms[near], means[near]
        return ranked(arms, means)[:n]

    def _seen_first(self, arms):
        """Return these arms, best first, with unseen ones replaced by other arms that were seen."""
        self.guard.check()
        seen = arms[np.asarray(self._pulls)[arms] > 0]
        if seen.size < arms.size:
            others = np.setdiff1d(np.arange(self.n_arms), seen)
            unseen = np.setdiff1d(arms, seen)
            others = others[np.asarray(self._pulls)[others] > 0]
            arms = np.concatenate([seen, self._best(others, unseen.size), unseen])[:arms.size]
        return self._best(arms, arms.size)


def ranked(arms, means):
    """Return the arms, the largest mean first, ties to the lowest arm."""
    if means.size > MANY:  # a sort that is not stable takes a third of the time
        order = np.argsort(-means)
        falling = means[order]
        if (falling[1:] < falling[:falling.size - 1]).all():  # no ties
            return arms[order]
    return arms[np.lexsort((arms, -means))]


cdef object last_compiled(cls):
    """Return the first class in the MRO of `cls` that is not written in Python."""
    for one in cls.__mro__:
        if "__pyx_vtable__" in one.__dict__:
            return one


cdef inline read(ArmStatistics arms, const int64_t *field):
    """Return a number that a call in another thread may change."""
    cdef int64_t value
    arms.guard.enter_to_read()
    value = field[0]
    arms.guard.leave()
    return value
