# cython: auto_pickle=False
"""Sequential halving for arms of different noise: pulls in proportion to variances.

Lalitha, Kalantari, Ma, Deoras and Kveton, Fixed-budget best-arm identification with
heterogeneous reward variances, UAI 2023.
"""

import numpy as np

from pybandit._shared.checks import check_delta
from pybandit.policies.budget._states import SHADAVAR, SHVAR
from pybandit.policies.protocol._deviations import check_deviations, variances_of

from libc.math cimport INFINITY, ceil, floor, frexp, isnan, ldexp, log, sqrt
from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport pb_batch, pb_round_robin_next, pb_round_robin_pulled
from pybandit.policies.budget._heap cimport Heap
from pybandit.policies.budget.halving cimport _Halving
from pybandit.policies.protocol.base cimport NativePolicy

__all__ = ["SHAdaVar", "SHVar"]


cdef class SHVar(_Halving):
    """Sequential halving that pulls in proportion to known variances.

    Lalitha et al. 2023, Algorithm 3: in a stage the next pull is of the arm of the largest
    ``variance / pulls``. This does not depend on rewards, so a stage is one batch. Good if noisy
    arms are as likely to be the best as others; if the best arm has little noise,
    `SequentialHalving` errs less.

    Parameters
    ----------
    n_arms, budget, reuse, spend_all
        As in `SequentialHalving`; with `reuse`, ``pulls`` in the ratio counts all stages.
    noise_std : array_like of float, shape (n_arms,)
        Standard deviation of each arm's rewards, up to a common factor; in [1e-150, 1e150].

    Raises
    ------
    ValueError, TypeError
        As in `SequentialHalving`.

    See Also
    --------
    SHAdaVar : learns the variances.
    SequentialHalving : pulls all survivors equally.

    Notes
    -----
    The counts of a stage are Adams' apportionment of its pulls: O(K log K) per stage.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    The first stage, 120 pulls of 240, pulls each arm in proportion to its variance:

    >>> import numpy as np, pybandit as pb
    >>> policy = pb.policies.SHVar(4, budget=240, noise_std=[1.0, 1.0, 2.0, 2.0])
    >>> arms = policy.ask()
    >>> np.bincount(arms)
    array([12, 12, 48, 48])
    >>> rng, means = np.random.default_rng(1), np.array([0.0, 1.0, 0.0, 2.0])
    >>> deviations = np.array([1.0, 1.0, 2.0, 2.0])
    >>> policy.tell(arms, rng.normal(means[arms], deviations[arms]))
    >>> policy.survivors
    array([1, 3])
    """

    cdef object _noise_std
    cdef double[::1] known            # variances
    cdef int64_t[::1] counts
    cdef double[::1] shares           # variances of the survivors, by position on the ring
    cdef Heap heap                    # of positions on the ring

    def __init__(self, n_arms, *, budget, noise_std, reuse=False, spend_all=False):
        super().__init__(n_arms, budget, reuse, spend_all)
        self._noise_std = check_deviations(noise_std, self.n_arms)
        self.known = variances_of(self._noise_std)
        self.counts = np.zeros(self.n_arms, dtype=np.int64)
        self.shares, self.heap = np.zeros(self.n_arms), Heap(self.n_arms)
        if self.n_stages:
            self._begin_stage()
        self._made(SHVar)

    cdef object _schema(self):
        return SHVAR

    def _options(self):
        self.guard.check()
        return {**super()._options(), "noise_std": np.array(self._noise_std)}

    @property
    def noise_std(self):
        """Standard deviation of each arm's rewards, as given; a copy."""
        return np.array(self._noise_std)

    cdef void _begin_stage(self) noexcept nogil:
        _Halving._begin_stage(self)
        self._apportion()

    cdef int64_t _apportion_above(self, double divisor) noexcept nogil:
        """Return how many pulls the arms need until no ratio is above `divisor`.

        Sets `counts` to one pull less per arm, because the division may have rounded up.
        """
        cdef int64_t i, arm, had, above, total = 0
        for i in range(self.ring.n_arms):
            arm = self.ring.arms[i]
            had = self._pulls[arm] - self.stage_pulls[arm]
            above = max(<int64_t>ceil(self.shares[i] / divisor) - had, 0)
            self.counts[i] = max(above - 1, 0)
            total += above
        return total

    cdef void _apportion(self) noexcept nogil:
        """Set `counts` as if each pull of the stage went to the arm of the largest ratio."""
        cdef int64_t i, arm, placed = 0, n = self.ring.n_arms
        cdef int exponent
        cdef double largest = 0.0, total = 0.0, pulls
        pulls = self.left
        for i in range(n):
            largest = max(largest, self.known[self.ring.arms[i]])
        # scale by a power of two: sums do not overflow, and the order of ratios does not change
        frexp(largest, &exponent)
        for i in range(n):
            arm = self.ring.arms[i]
            self.shares[i] = ldexp(self.known[arm], -exponent)
            total += self.shares[i]
            pulls += self._pulls[arm] - self.stage_pulls[arm]
        # with this divisor few pulls remain to be placed, unless arms already exceed their share
        total /= max(pulls - n, 1.0)
        while self._apportion_above(total) > self.left:
            total *= 1.05
        for i in range(n):
            placed += self.counts[i]
        self.heap.clear()
        for i in range(n):
            self.heap.add(i, self._ratio(i))
        self.heap.build()
        for _ in range(self.left - placed):
            i = self.heap.root()
            self.counts[i] += 1
            self.heap.replace_root(self._ratio(i))

    cdef double _ratio(self, int64_t i) noexcept nogil:
        """Return variance over pulls of the arm at a position; infinite before its first pull."""
        cdef int64_t arm = self.ring.arms[i]
        cdef int64_t pulls = self._pulls[arm] - self.stage_pulls[arm] + self.counts[i]
        return self.shares[i] / pulls if pulls else INFINITY

    cdef pb_batch _next(self) noexcept nogil:
        cdef pb_batch batch
        batch.arms, batch.n_arms, batch.first = self.ring.arms, self.ring.n_arms, 0
        batch.n_pulls, batch.counts = self.left, &self.counts[0]
        return batch

    cdef void _advance(self) noexcept nogil:
        self._end_stage()

    def _get_progress(self):
        return {**super()._get_progress(), "counts": np.array(self.counts)}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        np.asarray(self.counts)[:] = progress["counts"]


cdef class SHAdaVar(_Halving):
    """Sequential halving that pulls in proportion to variances that it learns.

    Lalitha et al. 2023, Algorithm 4, corrected: the next pull is of the arm of the largest
    ``U / N``, with ``U = s^2 / (1 - 2 sqrt(log(1 / delta) / (N - 1)))``, where s^2 is the
    unbiased variance of its N rewards. U is infinite while ``N - 1 <= 4 log(1 / delta)``; among
    such arms the one with the fewest pulls is next, ties by lower index. In the paper, an arm one
    pull short has U < 0 and is never pulled again. If a stage is too short for any arm to get past
    this limit, the policy is sequential halving.

    Rewards of few values (clicks, stars) may all be equal at first. An arm with equal rewards has
    variance 0 and is not pulled again in the stage, or ever again with `reuse`. Use
    `SequentialHalving` or `SHVar` for such rewards.

    Parameters
    ----------
    n_arms, budget, reuse, spend_all
        As in `SequentialHalving`. With `reuse`, variances too are those of all stages.
    delta : float, default 0.05
        Error probability of the bounds on variances, in (0, 1).

    Raises
    ------
    ValueError, TypeError
        As in `SequentialHalving`.

    See Also
    --------
    SHVar : needs known variances.
    SequentialHalving : pulls all survivors equally.

    Notes
    -----
    O(log K) per pull, with a heap whose root is the arm to pull.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> bandit = pb.environments.GaussianBandit([0.0, 0.0, 0.5, 0.5], [0.2, 0.2, 0.2, 2.0])
    >>> policy, rng = pb.policies.SHAdaVar(4, budget=600), np.random.default_rng(1)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, bandit.pull(arms, rng))
    >>> policy.pulls
    array([ 17,  17,  32, 534])
    """

    cdef readonly double delta
    cdef double level         # log(1 / delta)
    cdef int64_t enough       # number of rewards from which on U is finite
    cdef bint by_heap
    cdef int64_t pending      # pulls of the next batch
    # statistics of the rewards of the stage, or of all rewards with `reuse`
    cdef int64_t[::1] seen
    cdef double[::1] centres, spreads
    cdef Heap heap

    def __init__(self, n_arms, *, budget, delta=0.05, reuse=False, spend_all=False):
        super().__init__(n_arms, budget, reuse, spend_all)
        self.delta = check_delta(delta)
        self.level = -log(self.delta)
        self.enough = <int64_t>floor(4.0 * self.level) + 2
        while self._margin(self.enough) <= 0.0:     # because of rounding
            self.enough += 1
        self._wants_rewards = True
        self.seen = np.zeros(self.n_arms, dtype=np.int64)
        self.centres, self.spreads = np.zeros(self.n_arms), np.zeros(self.n_arms)
        self.heap = Heap(self.n_arms)
        if self.n_stages:
            self._begin_stage()
        self._made(SHAdaVar)

    cdef object _schema(self):
        return SHADAVAR

    def _options(self):
        return {**super()._options(), "delta": self.delta}

    cdef void _begin_stage(self) noexcept nogil:
        cdef int64_t i, arm
        _Halving._begin_stage(self)
        self.by_heap = False
        if not self.reuse:
            for i in range(self.ring.n_arms):
                arm = self.ring.arms[i]
                self.seen[arm] = 0
                self.centres[arm] = self.spreads[arm] = 0.0
        self._plan()

    cdef void _plan(self) noexcept nogil:
        """Plan all pulls that do not depend on rewards or, if there are none, build the heap."""
        cdef int64_t i, arm, lacking = 0
        for i in range(self.ring.n_arms):
            lacking += max(self.enough - self.seen[self.ring.arms[i]], 0)
        self.pending = min(lacking, self.left)
        if lacking > 0:
            return
        self.by_heap, self.pending = True, 1
        self.heap.clear()
        for i in range(self.ring.n_arms):
            arm = self.ring.arms[i]
            self.heap.add(arm, self._key(arm))
        self.heap.build()

    cdef double _key(self, int64_t arm) noexcept nogil:
        """Return U / N, finite from `enough` pulls on."""
        cdef double n = self.seen[arm]
        return self.spreads[arm] / (n * self._margin(n))

    cdef double _margin(self, double n) noexcept nogil:
        """Return ``(n - 1) (1 - 2 sqrt(level / (n - 1)))``."""
        return n - 1.0 - 2.0 * sqrt(self.level * (n - 1.0))

    cdef void _absorb(self, const int64_t *arms, const double *rewards, int64_t n) noexcept nogil:
        cdef int64_t j, arm
        cdef double deviation
        NativePolicy._absorb(self, arms, rewards, n)
        for j in range(n):
            arm = arms[j]
            if isnan(rewards[j]):
                continue
            self.seen[arm] += 1
            deviation = rewards[j] - self.centres[arm]
            self.centres[arm] += deviation / self.seen[arm]
            self.spreads[arm] += deviation * (rewards[j] - self.centres[arm])

    cdef pb_batch _next(self) noexcept nogil:
        if not self.by_heap:
            return pb_round_robin_next(self.ring, self.pending, self.pending)
        return self.heap.pull_root()

    cdef void _advance(self) noexcept nogil:
        self.left -= self.pending
        if self.by_heap:
            self.heap.replace_root(self._key(self.heap.root()))
        else:
            pb_round_robin_pulled(self.ring, self.pending)
        if not self.left:
            self._end_stage()
        elif not self.by_heap:
            self._plan()

    def _get_progress(self):
        return {**super()._get_progress(), "by_heap": bool(self.by_heap), "pending": self.pending,
                "seen": np.array(self.seen), "centres": np.array(self.centres),
                "spreads": np.array(self.spreads), **self.heap.get_progress()}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        self.by_heap = progress["by_heap"]
        self.pending = progress["pending"]
        self.heap.set_progress(progress)
        for array, name in ((self.seen, "seen"), (self.centres, "centres"),
                            (self.spreads, "spreads")):
            np.asarray(array)[:] = progress[name]
