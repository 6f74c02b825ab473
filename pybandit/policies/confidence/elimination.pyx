# cython: auto_pickle=False
"""The best arms by pulling all undecided arms and deciding them one by one.

Even-Dar, Mannor and Mansour, Action elimination and stopping conditions for the multi-armed
bandit and reinforcement learning problems, JMLR 2006; Bubeck, Wang and Viswanathan, Multiple
identifications in multi-armed bandits, ICML 2013; the test between two arms is that of
Garivier and Kaufmann, COLT 2016, or uses bets.
"""

import numpy as np

from pybandit._shared.checks import shown
from pybandit.policies.confidence._states import ELIMINATION

from libc.math cimport isnan
from libc.stdint cimport int64_t

from pybandit.policies.stopping._sequential cimport SequentialPolicy

__all__ = ["SuccessiveElimination"]


cdef class SuccessiveElimination(SequentialPolicy):
    """Pulls every undecided arm once per round and decides the arms that the rule can separate.

    Even-Dar et al. 2006; with several arms to find also with acceptance, as Bubeck et al. 2013. A
    round is one batch of all undecided arms. After it, the undecided arms of the largest means,
    one per open place, are on top. An arm on top is accepted if the stopping rule declares it
    better than all undecided arms below (with a `GLR`, if ``Z(a, b) > threshold``); an arm below is
    eliminated if all arms on top are declared better than it.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    k : int, default 1
        Number of arms to find, in [0, n_arms].
    stopping : GLR or Betting
        Rule of `pybandit.stopping`, whose law is that of the rewards. Its epsilon does not affect
        the decisions on single arms; with it, the policy also ends once all arms on top are
        declared better than all arms below, with tolerance epsilon.
    max_pulls : int, optional
        Pulls after which the policy is `done`, even if it is not `decided`; at least K. A round is
        not started if `max_pulls` does not cover it.

    Attributes
    ----------
    done : bool
    decided : bool
        True once all arms are decided, or epsilon ended the run: the answer is right with the
        confidence of the rule.
    alive : ndarray of int64
        Arms that are not eliminated.
    n_pulls, n_batches : int
    pulls, means, variances : ndarray
        See `Policy`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if `max_pulls` does not cover
        the first pulls. `tell` raises if a reward is outside the range of the law.

    See Also
    --------
    LUCB, TopTwo : need fewer pulls, one or two at a time.
    BatchRacing : the same idea in batches.

    Notes
    -----
    **Proof.** Let S be k best arms. There are ``k (K - k)`` pairs of an arm a of S and
    an arm b outside. In each, b is declared better than a with probability at most
    ``delta / (k (K - k))``: the rule bounds this event, whatever chooses the pulls
    (`pybandit.stopping.GLR`, `Betting`). If none of these events occurs, every decision is right.
    Until a first wrong decision, there are as many open places as undecided arms of S. If that
    decision accepted b, an arm of S would be below, and b declared better than it. If it eliminated
    a, some b would be on top and declared better than a. The same holds with epsilon, for answers
    that contain an arm worse than a missing one by more than epsilon.

    While an undecided arm is silent (see `Policy`), arms are eliminated but none is accepted: the
    silent arm may be better. The policy ends once all arms that answer are eliminated except the
    best ones, and silent arms are given up.

    Suited to pulling many arms at once; if pulls come one at a time and one arm is wanted, `TopTwo`
    needs a fraction of the pulls. Ties go to the lowest index. At most O(k (K - k)) per round:
    comparisons of an arm stop at the first doubtful one.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    References
    ----------
    E. Even-Dar, S. Mannor and Y. Mansour, JMLR 7, 2006; S. Bubeck, T. Wang and N. Viswanathan,
    ICML 2013.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rule = pb.stopping.GLR(delta=0.05, noise_std=0.5)
    >>> policy = pb.policies.SuccessiveElimination(4, k=2, stopping=rule)
    >>> rng, means = np.random.default_rng(2), np.array([0.1, 0.9, 0.6, 0.2])
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, means[arms] + 0.5 * rng.standard_normal(arms.size))
    >>> policy.recommend(), policy.alive
    (array([1, 2]), array([1, 2]))
    """

    cdef int64_t n_left                   # undecided arms that answer: the first of `chosen`
    cdef int64_t n_waiting                # undecided silent arms
    cdef int64_t n_accepted
    cdef signed char[::1] fates           # per arm: accepted 1, eliminated -1, undecided 0
    cdef unsigned char[::1] on_top        # scratch

    def __init__(self, n_arms, k=1, *, stopping, max_pulls=None):
        if stopping is None:
            raise TypeError("stopping must be a pybandit.stopping.GLR or a "
                            f"pybandit.stopping.Betting; got {shown(stopping)}")
        super().__init__(n_arms, k, stopping, max_pulls, 1, n_arms)
        np.asarray(self.chosen)[:] = self.arms
        self.n_left = self.n_arms
        self.fates = np.zeros(self.n_arms, dtype=np.int8)
        self.on_top = np.zeros(self.n_arms, dtype=np.uint8)
        self._made(SuccessiveElimination)

    @property
    def alive(self):
        """Arms that are not eliminated; int64, increasing, a copy."""
        with self.guard.reading():
            return np.flatnonzero(np.asarray(self.fates) >= 0)

    def _options(self):
        return super()._options() | dict(k=self.k)

    cdef bint _is_done(self) noexcept nogil:
        return (self.stopped or not isnan(self.refused) or self._varies_not()
                or 0 <= self.most < self.n_pulls + (max(self.n_left, 1) if self.begun else 1))

    cdef void _begin(self) noexcept nogil:
        self._list_left()
        self._find_top()

    cdef void _follow(self) noexcept nogil:
        cdef int64_t j
        self._list_left()
        for j in range(self.n_left):
            self._measure(self.chosen[j])
        self._find_top()

    cdef void _rejoin(self) noexcept nogil:
        self._follow()

    cdef void _list_left(self) noexcept nogil:
        """List the undecided arms that answer, and count the other undecided ones."""
        cdef int64_t arm
        self.n_left = self.n_waiting = 0
        for arm in range(self.n_arms):
            if self.fates[arm]:
                continue
            if self.silence.has(arm):
                self.n_waiting += 1
            else:
                self.chosen[self.n_left] = arm
                self.n_left += 1

    cdef void _settle(self, const int64_t *arms, int64_t n) noexcept nogil:
        cdef int64_t j
        if self.begun:
            for j in range(n):
                self._look(arms[j])
            self._find_top()

    cdef void _find_top(self) noexcept nogil:
        """Put the undecided arms of the largest means on top, one per open place."""
        cdef int64_t i, j, arm, n_places = min(self.k - self.n_accepted, self.n_left)
        for arm in range(self.n_arms):
            self.on_top[arm] = False
        for i in range(n_places):
            arm = -1
            for j in range(self.n_left):
                if not self.on_top[self.chosen[j]] and (
                        arm < 0 or self.centres[self.chosen[j]] > self.centres[arm]):
                    arm = self.chosen[j]
            self.on_top[arm] = True
            if i == 0:
                self.best = arm

    cdef void _decide(self) noexcept nogil:
        cdef int64_t j, arm
        self.stopped = (self.glr.epsilon > 0.0 or self.slack > 0.0) and self._is_told_loosely()
        for j in range(self.n_left):
            arm = self.chosen[j]
            # While an undecided arm is silent no arm is accepted, since the silent arm may be
            # better; arms below may still be eliminated.
            if self._is_decided(arm) and not (self.on_top[arm] and self.n_waiting):
                self.fates[arm] = 1 if self.on_top[arm] else -1
                self.n_accepted += self.on_top[arm]
        self._list_left()
        self.stopped |= self.n_left <= (self.k - self.n_accepted if self.n_waiting else 0)
        if not self.stopped:  # the leader may have been decided
            self._find_top()

    cdef bint _is_decided(self, int64_t arm) noexcept nogil:
        """Return True if an arm is separated from all arms on the other side."""
        cdef int64_t j, other
        for j in range(self.n_left):
            other = self.chosen[j]
            if self.on_top[arm] and not self.on_top[other]:
                if not self._tells(arm, other, True):
                    return False
            elif self.on_top[other] and not self.on_top[arm]:
                if not self._tells(other, arm, True):
                    return False
        return True

    cdef bint _is_told_loosely(self) noexcept nogil:
        """Return True if all arms on top are declared better than all below, up to epsilon."""
        cdef int64_t i, j
        for i in range(self.n_left):
            if self.on_top[self.chosen[i]]:
                for j in range(self.n_left):
                    if not self.on_top[self.chosen[j]] and not self._tells(
                            self.chosen[i], self.chosen[j], False):
                        return False
        return True

    cdef void _choose(self) noexcept nogil:
        self.pending = self.n_left
        if not self.n_left:  # all arms that answer are decided
            self.chosen[0], self.pending = self._another(-1), 1

    def recommend(self):
        """Return the accepted and the best undecided arms, best first; int64 of shape (k,)."""
        with self.guard.reading():
            left = self._best(np.flatnonzero(np.asarray(self.fates) == 0),
                              self.k - self.n_accepted)
            accepted = np.flatnonzero(np.asarray(self.fates) > 0)
            return self._best(np.sort(np.concatenate([accepted, left])), self.k)

    cdef object _schema(self):
        return ELIMINATION

    cdef dict _sizes(self):
        return SequentialPolicy._sizes(self) | {"last_doubt": -1}

    def _get_progress(self):
        return super()._get_progress() | {"fates": np.array(self.fates, dtype=np.int64)}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        fates = progress["fates"]
        np.asarray(self.fates)[:] = fates
        is_left = fates == 0
        self.n_left = (is_left & ~self._silent_flags()).sum()
        self.n_waiting, self.n_accepted = is_left.sum() - self.n_left, (fates > 0).sum()
        if self.begun:
            self.pending = max(self.n_left, 1)
