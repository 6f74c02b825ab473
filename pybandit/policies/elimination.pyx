# cython: auto_pickle=False
"""The best arm by pulling all that may be it, one after the other out.

Even-Dar, Mannor and Mansour, Action elimination and stopping conditions for the multi-armed
bandit and reinforcement learning problems, JMLR 2006; the test between two arms is Garivier and
Kaufmann's, COLT 2016.
"""

import numpy as np

from pybandit._shared.checks import shown
from pybandit.policies._arm_states import ELIMINATION

from libc.math cimport isnan
from libc.stdint cimport int64_t

from pybandit.policies._sequential cimport SequentialPolicy

__all__ = ["SuccessiveElimination"]


cdef class SuccessiveElimination(SequentialPolicy):
    """Pulls every arm that is left once a round; out are those that the best is told from.

    Even-Dar et al. 2006. A round is one batch of all arms left. After it arm b is out where the
    stopping rule tells it from a, the arm of the largest mean among those left: with a `GLR`
    where ``Z(a, b) > threshold``.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    stopping : GLR or Betting
        Of `pybandit.stopping`; its law is that of the rewards. With its epsilon arms go out as
        without, and it ends once all that are left are told from the best with it.
    budget : int, optional
        Pulls after which it is `done` in any case, perhaps not sure; at least K. A round that
        it does not pay whole is not begun.

    Attributes
    ----------
    done : bool
    is_sure : bool
        Whether one arm is left, or epsilon ended it: the answer is right with the rule's
        confidence.
    alive : ndarray of int64
        The arms left.
    n_pulls, n_batches : int
    pulls, means, variances : ndarray
        See the protocol, `Policy`.

    Raises
    ------
    ValueError, TypeError
        Where an argument is outside its range; `InfeasibleBudget` where the budget does not
        reach the first pulls. `tell` raises where a reward is outside its law's range.

    Notes
    -----
    **Proof.** The best arm a* goes out, or is told from the answer, only where some worse arm a
    is told from a*, as if it were better: the event that the rule bounds by delta, whatever asks
    for the pulls.

    Many arms that are pulled at once suit it; one at a time `TopTwo` needs a part of the pulls.
    Ties go to the lowest index. O(arms left) a round.

    **Threads.** One at a time; a second gets a RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.SuccessiveElimination(4, pb.stopping.GLR(0.05, sigma=0.5))
    >>> rng, means = np.random.default_rng(2), np.array([0.1, 0.9, 0.4, 0.2])
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, means[arms] + 0.5 * rng.standard_normal(arms.size))
    >>> policy.recommend(), policy.alive
    (array([1]), array([1]))
    """

    cdef int64_t n_left                   # the first of `chosen`, in order

    def __init__(self, n_arms, stopping, *, budget=None):
        if stopping is None:
            raise TypeError("stopping must be a pybandit.stopping.GLR or a "
                            f"pybandit.stopping.Betting; got {shown(stopping)}")
        super().__init__(n_arms, 1, stopping, budget, 1, n_arms)
        np.asarray(self.chosen)[:] = self.arms
        self.n_left = self.n_arms
        self._made(SuccessiveElimination)

    @property
    def alive(self):
        """The arms left; int64, increasing, a copy."""
        with self.guard.reading():
            return np.array(self.chosen[:self.n_left])

    cdef bint _is_done(self) noexcept nogil:
        return (self.stopped or not isnan(self.refused)
                or 0 <= self.most < self.n_pulls + (self.n_left if self.begun else 1))

    cdef void _begin(self) noexcept nogil:
        self._find_best()

    cdef void _follow(self) noexcept nogil:
        cdef int64_t j
        for j in range(self.n_left):
            self._measure(self.chosen[j])
        self._find_best()

    cdef void _settle(self, const int64_t *arms, int64_t n) noexcept nogil:
        cdef int64_t j
        if self.begun:
            for j in range(n):
                self._measure(arms[j])
            self._find_best()

    cdef void _find_best(self) noexcept nogil:
        """Of the arms left."""
        cdef int64_t j
        self.best = self.chosen[0]
        for j in range(1, self.n_left):
            if self.centres[self.chosen[j]] > self.centres[self.best]:
                self.best = self.chosen[j]

    cdef void _decide(self) noexcept nogil:
        cdef int64_t j, arm, n = 0
        self.stopped = True
        for j in range(self.n_left):
            arm = self.chosen[j]
            if arm != self.best:
                if self._tells(self.best, arm, True):
                    continue
                self.stopped &= self._tells(self.best, arm, False)
            self.chosen[n] = arm
            n += 1
        self.n_left = n

    cdef void _choose(self) noexcept nogil:
        self.pending = self.n_left

    def recommend(self):
        """The arm of the largest mean among those left, int64 of shape (1,); at any time."""
        with self.guard.reading():
            return self._best(np.array(self.chosen[:self.n_left]), 1)

    cdef object _schema(self):
        return ELIMINATION

    cdef dict _sizes(self):
        return SequentialPolicy._sizes(self) | {"last_doubt": -1}

    def _get_progress(self):
        return super()._get_progress() | {"n_left": self.n_left}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        self.n_left = progress["n_left"]
        if self.begun:
            self.pending = self.n_left
