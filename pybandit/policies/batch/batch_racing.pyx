# cython: auto_pickle=False
"""The k best arms in batches, with a guarantee: BatchRacing.

Jun, Jamieson, Nowak and Zhu, Top arm identification in multi-armed bandits with
batch arm pulls, AISTATS 2016, Algorithm 2.
"""

import numpy as np

from pybandit._shared.checks import check_delta, check_positive
from pybandit.policies.batch._states import BATCH_RACING

from libc.stdint cimport int64_t

from pybandit.policies.batch._batch cimport _AcceptingPolicy
from pybandit.policies._csrc cimport (
    pb_batch, pb_batch_racing, pb_batch_racing_advance, pb_batch_racing_begin,
    pb_batch_racing_drop_silent, pb_batch_racing_end, pb_batch_racing_next,
    pb_batch_racing_resume, pb_batch_racing_settle, pb_batch_racing_take_back,
    pb_batch_racing_waits, pb_top,
)

__all__ = ["BatchRacing"]


cdef class BatchRacing(_AcceptingPolicy):
    """Finds the k best arms with a guarantee, in as few batches as the means allow.

    Jun et al. 2016, Algorithm 2. All survivors are pulled in turn. Let
    ``D(t) = 2 noise_std sqrt(4 log(log2(2 t) / omega) / t)``, ``omega = sqrt(delta / (6 n))``, and
    let p be k minus the number of accepted arms. An arm is accepted once its mean - D exceeds the
    mean + D of all but p arms, and rejected once its mean + D is below the mean - D of p arms.

    Parameters
    ----------
    n_arms : int
        n, at least 1.
    k : int, default 1
        Number of arms to find, in [0, n].
    batch_size : int, default 1
        b, pulls per batch.
    delta : float, default 0.05
        The answer is wrong with probability at most delta, in (0, 1).
    noise_std : float, default 0.5
        Scale of sub-Gaussian rewards about their means: half the range of bounded rewards, the
        standard deviation of normal ones.
    max_repeats : int, optional
        r, maximum number of pulls of one arm per batch; by default b.

    Attributes
    ----------
    done, n_pulls, n_batches, pulls, means, variances
        As in `RoundRobin`.
    survivors : ndarray of int64
        Arms neither accepted nor rejected.
    accepted : ndarray of int64

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    BatchSAR : takes a number of batches instead of an error probability.
    LUCB, KLLUCB : one pull at a time.

    Notes
    -----
    There is no budget: with two equal means at the boundary the race never ends.
    O(log n) per pull, and O(n) for each batch that accepts or rejects arms.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rng, rates = np.random.default_rng(1), np.array([0.1, 0.2, 0.7, 0.9])
    >>> policy = pb.policies.BatchRacing(4, 2, delta=0.05, batch_size=100)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, rng.binomial(1, rates[arms]))
    >>> policy.recommend(), policy.n_batches
    (array([3, 2]), 11)
    """

    cdef readonly double delta, noise_std
    cdef pb_batch_racing race

    def __cinit__(self):
        self.ring = &self.race.ring

    def __init__(self, n_arms, k=1, *, batch_size=1, delta=0.05, noise_std=0.5,
                 max_repeats=None):
        super().__init__(n_arms, k, batch_size, max_repeats)
        self.delta, self.noise_std = check_delta(delta), check_positive("noise_std", noise_std)
        self.race.n, self.race.k = self.n_arms, self.k
        self.race.size, self.race.repeats = self.batch_size, self.max_repeats
        self.race.omega = (self.delta / (6 * self.n_arms)) ** 0.5
        self.race.scale = 2 * self.noise_std
        self.race.lower = <double *>self._allocate("lower", self.n_arms, np.float64)
        self.race.upper = <double *>self._allocate("upper", self.n_arms, np.float64)
        self.race.accepted = self._accepted()
        self.race.alive = <unsigned char *>self._scratch(self.n_arms)
        self.race.members = <int64_t *>self._scratch(self.n_arms * sizeof(int64_t))
        self._allocate_heap(&self.race.lowers)
        self._allocate_heap(&self.race.uppers)
        pb_batch_racing_begin(&self.race)
        self._adapts = True
        self._made(BatchRacing)

    cdef _allocate_heap(self, pb_top *top):
        top.order = <int64_t *>self._scratch(self.n_arms * sizeof(int64_t))
        top.place = <int64_t *>self._scratch(self.n_arms * sizeof(int64_t))

    @property
    def survivors(self):
        """Arms neither accepted nor rejected, silent ones included, increasing; int64."""
        with self.guard.reading():
            on_ring = super().survivors
            if self._is_done() or not self.silence.n_aside:
                return on_ring
            return np.union1d(on_ring, self.silent)

    @property
    def decided(self):
        """True once the k best of all arms are known with confidence.

        Stays False if the race ended because silent arms were given up.
        """
        with self.guard.reading():
            return bool(self._is_done()) and not self.silence.n_aside

    def _options(self):
        return dict(n_arms=self.n_arms, k=self.k, delta=self.delta, batch_size=self.batch_size,
                    max_repeats=self.max_repeats, noise_std=self.noise_std)

    cdef bint _is_done(self) noexcept nogil:
        return self.race.done

    cdef pb_batch _next(self) noexcept nogil:
        return pb_batch_racing_next(&self.race)

    cdef void _advance(self) noexcept nogil:
        pb_batch_racing_advance(&self.race, &self._pulls[0], &self._sums[0])
        self._find_end(self.answered)

    cdef void _find_end(self, bint others_answer) noexcept nogil:
        """Set `settled`; end the race once silent arms are given up."""
        self.settled = pb_batch_racing_waits(&self.race) and not self.silence.has_all()
        if self.settled and others_answer and self.silence.gave_up():
            pb_batch_racing_end(&self.race)

    cdef void _retried(self) noexcept nogil:
        self.race.n_batches += 1
        if self.race.n_fallen:
            pb_batch_racing_drop_silent(&self.race)
        self._go_on()

    cdef void _go_on(self) noexcept nogil:
        """End the race if possible; if it goes on and the ring is empty, plan a retry."""
        self._find_end(self.race.ring.n_arms == 0)
        if self.race.ring.n_arms == 0 and not self.race.done and not self.silence.n_asked:
            self._plan_retry()

    cdef int _make_silence(self) except -1:
        _AcceptingPolicy._make_silence(self)
        self.race.aside = &self.silence.aside[0]
        return 0

    cdef void _set_aside(self, int64_t arm) noexcept nogil:
        self.race.n_fallen += 1

    cdef void _take_back(self, int64_t arm) noexcept nogil:
        pb_batch_racing_take_back(&self.race, arm, &self._pulls[0], &self._sums[0])

    cdef int64_t _batch_pulls(self) noexcept nogil:
        return self.batch_size

    cdef int64_t _most_repeats(self) noexcept nogil:
        return self.max_repeats

    cdef object _schema(self):
        return BATCH_RACING

    cdef dict _sizes(self):
        silent = np.zeros(self.n_arms, dtype=bool)
        if self.silence.counts:
            silent[:] = self.silence.aside
        return _AcceptingPolicy._sizes(self) | {"least_ring": 0, "aside": silent}

    def _get_progress(self):
        pb_batch_racing_settle(&self.race)
        return {**super()._get_progress(), "n_open": self.race.n_open,
                "reject_below": self.race.reject_below,
                "accept_above": self.race.accept_above, "moved": self.race.moved,
                "race_done": bool(self.race.done), "race_batches": self.race.n_batches}

    def _set_progress(self, progress):
        self.race.done = progress["race_done"]
        super()._set_progress(progress)
        self.race.n_open, self.race.moved = progress["n_open"], progress["moved"]
        self.race.reject_below = progress["reject_below"]
        self.race.accept_above = progress["accept_above"]
        self.race.n_batches = progress["race_batches"]
        self.race.n_aside = self.silence.n_aside

    cdef int _resume(self) except -1:
        cdef bint moved = self.race.moved
        if self.n_batches == 0 and not self.silence.counts:
            pb_batch_racing_begin(&self.race)
        elif not self.race.done:
            pb_batch_racing_resume(&self.race)
            self.race.moved = moved
        if self.silence.n_aside:
            self._go_on()
        return 0
