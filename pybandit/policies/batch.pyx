"""The k best arms when pulls come in batches of b, at most r of one arm.

Jun, Jamieson, Nowak and Zhu, Top arm identification in multi-armed bandits with
batch arm pulls, AISTATS 2016.
"""

import numpy as np

from pybandit._checks import (
    InfeasibleBudget, check_choice, check_in, check_integer,
)
from pybandit._race import as_generator

cimport numpy as cnp
from libc.stdint cimport int64_t

from pybandit._csrc cimport (
    pb_batch, pb_batch_racing, pb_batch_racing_advance, pb_batch_racing_begin,
    pb_batch_racing_next, pb_batch_sar, pb_batch_sar_advance, pb_batch_sar_begin,
    pb_batch_sar_least, pb_batch_sar_next, pb_ranked, pb_ranking_sort, pb_round_robin,
    pb_round_robin_begin, pb_round_robin_keep, pb_round_robin_next, pb_round_robin_pulled,
)
from pybandit.policies._base cimport NativePolicy

cnp.import_array()

__all__ = ["BatchHalving", "BatchRacing", "BatchSAR", "RoundRobin"]

MOST_PULLS = 1 << 53  # budgets are exact in float64


cdef class _BatchPolicy(NativePolicy):
    """Batches around a ring of the arms that are left."""

    cdef readonly int64_t batch_size, max_repeats
    cdef dict arrays   # the memory of the kernels
    cdef list scratch

    def __init__(self, n_arms, k, batch_size, max_repeats):
        super().__init__(n_arms, k)
        self.batch_size = check_integer("batch_size", batch_size, 1)
        self.max_repeats = self.batch_size
        if max_repeats is not None:
            self.max_repeats = min(self.batch_size,
                                   check_integer("max_repeats", max_repeats, 1))
        # a batch can hold no more
        self.batch_size = min(self.batch_size, <object>self.n_arms * self.max_repeats)
        self.arrays = {"ring": np.zeros(self.n_arms, dtype=np.int64)}
        self.scratch = []

    cdef void *_memory(self, str name):
        return cnp.PyArray_DATA(self.arrays[name])

    cdef void *_allocate(self, str name, shape, dtype):
        """Memory that belongs to the state."""
        self.arrays[name] = np.zeros(shape, dtype=dtype)
        return self._memory(name)

    cdef void *_scratch(self, int64_t size):
        """Memory whose content does not outlive a step."""
        memory = np.empty(size, dtype=np.uint8)
        self.scratch.append(memory)
        return cnp.PyArray_DATA(memory)

    cdef pb_round_robin *_ring(self) noexcept nogil:
        return NULL

    @property
    def survivors(self):
        """The arms that are still pulled, increasing; int64."""
        cdef pb_round_robin *ring = self._ring()
        return np.array(<int64_t[:ring.n_arms]>ring.arms) if ring.n_arms else np.empty(0, np.int64)

    def _get_progress(self):
        cdef pb_round_robin *ring = self._ring()
        return {**{name: array.copy() for name, array in self.arrays.items()},
                "ring_n_arms": ring.n_arms, "ring_cursor": ring.cursor,
                "ring_rounds": ring.rounds}

    def _set_progress(self, progress):
        cdef pb_round_robin *ring = self._ring()
        arms = np.asarray(progress["ring"])[:max(0, progress["ring_n_arms"])]
        if (arms.size != progress["ring_n_arms"]
                or not 0 <= progress["ring_cursor"] < max(1, arms.size)
                or (np.diff(arms, prepend=-1, append=self.n_arms) < 1).any()):
            raise ValueError(f"state must hold ring_n_arms increasing arms of {self.n_arms} in "
                             f"ring, ring_cursor among them; got {progress['ring_n_arms']}, "
                             f"{arms}, {progress['ring_cursor']}")
        for name, array in self.arrays.items():
            array[...] = progress[name]
        ring.n_arms, ring.cursor = progress["ring_n_arms"], progress["ring_cursor"]
        ring.rounds = progress["ring_rounds"]


cdef class RoundRobin(_BatchPolicy):
    """Pulls all arms in turn until the batches are spent: the baseline.

    Jun et al. 2016, Algorithm 1 without eliminations.

    Parameters
    ----------
    n_arms : int
        n, at least 1.
    k : int
        How many arms are looked for, in [0, n].
    batch_size : int
        b, pulls a batch, at least 1; n r where that is less.
    max_batches : int
        B, at least 1.
    max_repeats : int, optional
        r, pulls of one arm in a batch, at least 1; by default b.

    Attributes
    ----------
    done : bool
    n_pulls, n_batches : int
    pulls, means, variances, survivors : ndarray
        See the protocol, `Policy`.

    Raises
    ------
    ValueError, TypeError
        Where an argument is outside its range.

    Notes
    -----
    O(1) a batch and O(1) a pull.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.RoundRobin(4, 1, batch_size=6, max_batches=2)
    >>> policy.ask()
    array([0, 1, 2, 3, 0, 1])
    """

    cdef readonly int64_t max_batches
    cdef pb_round_robin ring

    def __init__(self, n_arms, k, batch_size, max_batches, max_repeats=None):
        super().__init__(n_arms, k, batch_size, max_repeats)
        self.max_batches = check_integer("max_batches", max_batches, 1)
        self.ring.arms = <int64_t *>self._memory("ring")
        pb_round_robin_begin(&self.ring, self.n_arms)

    def _options(self):
        return dict(n_arms=self.n_arms, k=self.k, batch_size=self.batch_size,
                    max_batches=self.max_batches, max_repeats=self.max_repeats)

    cdef pb_round_robin *_ring(self) noexcept nogil:
        return &self.ring

    cdef bint _is_done(self) noexcept nogil:
        return self.n_batches >= self.max_batches

    cdef pb_batch _next(self) noexcept nogil:
        return pb_round_robin_next(&self.ring, self.batch_size, self.max_repeats)

    cdef void _advance(self) noexcept nogil:
        pb_round_robin_pulled(&self.ring, self._next().n_pulls)

    def recommend(self):
        """The k arms of largest mean, best first; int64."""
        return self._best(np.arange(self.n_arms), self.k)


cdef class BatchHalving(_BatchPolicy):
    """Halves the arms after each of ``L = ceil(log2(n / k))`` stages.

    Jun et al. 2016, Algorithm 4: a stage pulls the survivors in turn for B // L
    batches, and one more where the remainder of B / L, dealt to stages at random,
    falls on it; then the ``max(ceil(|S| / 2), ceil(b / r), k)`` arms of largest mean
    stay, after the last stage exactly k. Good at small budgets; no guarantee.

    Parameters
    ----------
    n_arms, k, batch_size, max_batches, max_repeats
        As in `RoundRobin`; `max_batches` at least L.
    rng : None, int, SeedSequence or Generator
        Deals the remainder.

    Attributes
    ----------
    done, n_pulls, n_batches, pulls, means, variances, survivors
        As in `RoundRobin`.
    stage_batches : ndarray of int64, shape (L,)

    Raises
    ------
    ValueError, TypeError
        Where an argument is outside its range; `InfeasibleBudget` below L batches.

    Notes
    -----
    O(1) a pull and O(n) a stage.
    """

    cdef readonly int64_t max_batches
    cdef pb_round_robin ring
    cdef double *means
    cdef pb_ranked *ranked
    cdef unsigned char *kept
    cdef int64_t[::1] _stage_batches
    cdef int64_t stage, n_stages, stage_left
    cdef bint rng_given

    def __init__(self, n_arms, k, batch_size, max_batches, max_repeats=None, rng=None):
        super().__init__(n_arms, k, batch_size, max_repeats)
        self.max_batches = check_integer("max_batches", max_batches, 1)
        while 0 < self.k << self.n_stages < self.n_arms:
            self.n_stages += 1
        if self.max_batches < self.n_stages:
            raise InfeasibleBudget(f"max_batches must be at least {self.n_stages}, one for each "
                                   f"halving of {self.n_arms} arms to {self.k}; got "
                                   f"{self.max_batches}")
        self.ring.arms = <int64_t *>self._memory("ring")
        self.means = <double *>self._scratch(self.n_arms * sizeof(double))
        self.ranked = <pb_ranked *>self._scratch(2 * self.n_arms * sizeof(pb_ranked))
        self.kept = <unsigned char *>self._scratch(self.n_arms)
        pb_round_robin_begin(&self.ring, self.n_arms)
        self.rng_given = rng is not None
        self._deal(as_generator(rng))

    def _options(self):
        return dict(n_arms=self.n_arms, k=self.k, batch_size=self.batch_size,
                    max_batches=self.max_batches, max_repeats=self.max_repeats)

    def _deal(self, rng):
        batches = np.zeros(max(1, self.n_stages), dtype=np.int64)
        if self.n_stages:
            batches += self.max_batches // self.n_stages
            batches[rng.permutation(self.n_stages)[:self.max_batches % self.n_stages]] += 1
        self._stage_batches = batches
        self.stage_left = batches[0]

    def _seed(self, rng):
        if not self.rng_given and not self.n_batches:
            self._deal(rng)

    @property
    def stage_batches(self):
        """Batches of each stage; int64, a copy."""
        return np.array(self._stage_batches)[:self.n_stages]

    cdef pb_round_robin *_ring(self) noexcept nogil:
        return &self.ring

    cdef bint _is_done(self) noexcept nogil:
        return self.stage >= self.n_stages

    cdef pb_batch _next(self) noexcept nogil:
        return pb_round_robin_next(&self.ring, self.batch_size, self.max_repeats)

    cdef void _advance(self) noexcept nogil:
        pb_round_robin_pulled(&self.ring, self._next().n_pulls)
        self.stage_left -= 1
        if self.stage_left == 0:
            self._halve()
            self.stage += 1
            if self.stage < self.n_stages:
                self.stage_left = self._stage_batches[self.stage]

    cdef void _halve(self) noexcept nogil:
        """Keeps the better half of the survivors, no fewer than fill a batch."""
        cdef int64_t i, n = self.ring.n_arms, n_kept = self.k
        if self.stage < self.n_stages - 1:
            n_kept = max(n_kept, (n + 1) // 2,
                         (self.batch_size + self.max_repeats - 1) // self.max_repeats)
        fill_means(&self.ring, self._pulls, self._sums, self.means)
        pb_ranking_sort(self.ring.arms, n, self.means, self.ranked, self.ranked + n)
        for i in range(n):
            self.kept[self.ranked[i].arm] = i < n_kept
        pb_round_robin_keep(&self.ring, self.kept)

    def _get_progress(self):
        return {**super()._get_progress(), "stage_batches": np.array(self._stage_batches),
                "stage": self.stage, "stage_left": self.stage_left,
                "rng_given": self.rng_given}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        self._stage_batches = np.array(progress["stage_batches"])
        self.stage, self.stage_left = progress["stage"], progress["stage_left"]
        self.rng_given = progress["rng_given"]

    def recommend(self):
        """The k arms of largest mean among the survivors, best first; int64."""
        return self._best(self.survivors, self.k)


cdef void fill_means(const pb_round_robin *ring, const int64_t[::1] pulls,
                     const double[::1] sums, double *means) noexcept nogil:
    """Means of the arms on a ring; unseen ones have the mean of all pulls."""
    cdef int64_t i, arm, count = 0
    cdef double total = 0.0
    for i in range(pulls.shape[0]):
        count += pulls[i]
        total += sums[i]
    for i in range(ring.n_arms):
        arm = ring.arms[i]
        means[arm] = sums[arm] / pulls[arm] if pulls[arm] else total / max(count, 1)


cdef class BatchSAR(_BatchPolicy):
    """Accepts or rejects one arm a stage, the one furthest from the boundary.

    Jun et al. 2016, Algorithm 3. Stage s pulls the n - s + 1 survivors until each
    has m_s pulls, then removes the best, accepting it, or the worst, whichever is
    further from the boundary between the places left and the rest. Once
    ``n_tilde = max(ceil(b / r), 2)`` arms are left removing more saves nothing: they
    are pulled to the end. The chance of a wrong set falls exponentially in B
    (Theorem 2), for rewards in an interval of length 1.

    Where rewards are sparse (nearly all 0) and r is far below b, most arms go
    after one to four pulls: there `RoundRobin` finds more of the best.

    Parameters
    ----------
    n_arms, k, batch_size, max_batches, max_repeats
        As in `RoundRobin`.
    improved : bool, default True
        m'_s of Eq. 10, which spends all batches; False: m_s, which leaves some.
    tie : {"reject", "index"}
        Which arm a stage removes when both gaps are equal: the worst one, or the
        one of lower index.

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
        Where an argument is outside its range; `InfeasibleBudget` where B is below
        ``(sum_{i > n_tilde} ceil(b / i) + b + n_tilde min(r, ceil(b / 2)) + n) // b + 1``.

    Notes
    -----
    Survivors are ranked once after a batch, in O(n); a stage is O(1).

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rng = np.random.default_rng(1)
    >>> means = np.linspace(0, 1, 50)
    >>> policy = pb.BatchSAR(50, 3, batch_size=20, max_batches=100)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, rng.normal(means[arms], 0.1))
    >>> policy.recommend()
    array([49, 48, 47])
    """

    cdef readonly int64_t max_batches
    cdef readonly bint improved
    cdef readonly object tie
    cdef pb_batch_sar sar

    def __init__(self, n_arms, k, batch_size, max_batches, max_repeats=None, improved=True,
                 tie="reject"):
        super().__init__(n_arms, k, batch_size, max_repeats)
        self.max_batches = check_integer("max_batches", max_batches, 1)
        self.improved = bool(improved)
        self.tie = check_choice("tie", tie, ("reject", "index"))
        if <object>self.batch_size * self.max_batches > MOST_PULLS:
            raise ValueError(f"batch_size times max_batches must be at most {MOST_PULLS}; got "
                             f"{self.batch_size} times {self.max_batches}")
        least = pb_batch_sar_least(self.n_arms, self.batch_size, self.max_repeats)
        if self.max_batches < least and 0 < self.k < self.n_arms:
            raise InfeasibleBudget(
                f"max_batches must be at least {least} for {self.n_arms} arms in batches of "
                f"{self.batch_size} with at most {self.max_repeats} pulls of one; got "
                f"{self.max_batches}")
        self.sar.n, self.sar.k = self.n_arms, self.k
        self.sar.size, self.sar.repeats = self.batch_size, self.max_repeats
        self.sar.max_batches = self.max_batches
        self.sar.improved, self.sar.lower_index = self.improved, self.tie == "index"
        self.sar.ring.arms = <int64_t *>self._memory("ring")
        self.sar.alive = <unsigned char *>self._allocate("alive", self.n_arms, np.uint8)
        self.sar.accepted = <unsigned char *>self._allocate("accepted", self.n_arms, np.uint8)
        self.sar.harmonic = <double *>self._scratch((self.n_arms + 1) * sizeof(double))
        self.sar.ceilings = <int64_t *>self._scratch((self.n_arms + 1) * sizeof(int64_t))
        self.sar.means = <double *>self._scratch(self.n_arms * sizeof(double))
        self.sar.ranked = <pb_ranked *>self._scratch(2 * self.n_arms * sizeof(pb_ranked))
        pb_batch_sar_begin(&self.sar)

    def _options(self):
        return dict(n_arms=self.n_arms, k=self.k, batch_size=self.batch_size,
                    max_batches=self.max_batches, max_repeats=self.max_repeats,
                    improved=self.improved, tie=self.tie)

    cdef pb_round_robin *_ring(self) noexcept nogil:
        return &self.sar.ring

    cdef bint _is_done(self) noexcept nogil:
        return self.sar.done

    cdef pb_batch _next(self) noexcept nogil:
        return pb_batch_sar_next(&self.sar)

    cdef void _advance(self) noexcept nogil:
        pb_batch_sar_advance(&self.sar, &self._pulls[0], &self._sums[0])

    @property
    def accepted(self):
        """Arms accepted so far, increasing; int64."""
        return np.flatnonzero(self.arrays["accepted"])

    @property
    def survivors(self):
        """Arms neither accepted nor rejected, increasing; int64."""
        return np.empty(0, np.int64) if self.sar.done else super().survivors

    def _get_progress(self):
        return {**super()._get_progress(), "n_left": self.sar.n_left,
                "n_open": self.sar.n_open, "removed_pulls": self.sar.removed_pulls,
                "sar_batches": self.sar.n_batches, "sar_done": self.sar.done}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        self.sar.n_left, self.sar.n_open = progress["n_left"], progress["n_open"]
        self.sar.removed_pulls = progress["removed_pulls"]
        self.sar.n_batches, self.sar.done = progress["sar_batches"], progress["sar_done"]

    def recommend(self):
        """The k best arms, best first; before the end, those accepted and the best means."""
        chosen = np.concatenate([
            self.accepted, self._best(self.survivors, self.k - self.accepted.size)])
        return self._best(chosen, self.k)


cdef class BatchRacing(_BatchPolicy):
    """The k best arms with a guarantee, in as few batches as the means allow.

    Jun et al. 2016, Algorithm 2. All survivors are pulled in turn. With
    ``D(t) = 2 sigma sqrt(4 log(log2(2 t) / omega) / t)``, ``omega = sqrt(delta / (6 n))``,
    an arm is accepted once its mean - D exceeds the mean + D of all but as many arms
    as there are places, and rejected once its mean + D is below the mean - D of as
    many arms as there are places.

    Parameters
    ----------
    n_arms : int
        n, at least 1.
    k : int
        How many arms are looked for, in [0, n].
    delta : float, default 0.1
        The answer is wrong with probability at most delta, in (0, 1).
    batch_size : int, default 1
        b, pulls a batch.
    max_repeats : int, optional
        r, pulls of one arm in a batch; by default b.
    sigma : float, default 0.5
        Rewards are sigma-sub-Gaussian about their means: 1/2 of the range of
        bounded rewards, the standard deviation of normal ones.

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
        Where an argument is outside its range.

    Notes
    -----
    There is no budget: two equal means at the boundary never end it.
    O(1) a pull, O(n) a batch at which the boundary moves.
    """

    cdef readonly double delta, sigma
    cdef pb_batch_racing race

    def __init__(self, n_arms, k, delta=0.1, batch_size=1, max_repeats=None, sigma=0.5):
        super().__init__(n_arms, k, batch_size, max_repeats)
        self.delta = check_in("delta", delta, "in (0, 1)", lambda x: (x > 0) & (x < 1))
        self.sigma = check_in("sigma", sigma, "finite and above 0",
                              lambda x: np.isfinite(x) & (x > 0))
        self.race.n, self.race.k = self.n_arms, self.k
        self.race.size, self.race.repeats = self.batch_size, self.max_repeats
        self.race.omega = (self.delta / (6 * self.n_arms)) ** 0.5
        self.race.scale = 2 * self.sigma
        self.race.ring.arms = <int64_t *>self._memory("ring")
        self.race.lower = <double *>self._allocate("lower", self.n_arms, np.float64)
        self.race.upper = <double *>self._allocate("upper", self.n_arms, np.float64)
        self.race.accepted = <unsigned char *>self._allocate("accepted", self.n_arms, np.uint8)
        self.race.alive = <unsigned char *>self._scratch(self.n_arms)
        self.race.scratch = <double *>self._scratch(self.n_arms * sizeof(double))
        pb_batch_racing_begin(&self.race)

    def _options(self):
        return dict(n_arms=self.n_arms, k=self.k, delta=self.delta, batch_size=self.batch_size,
                    max_repeats=self.max_repeats, sigma=self.sigma)

    cdef pb_round_robin *_ring(self) noexcept nogil:
        return &self.race.ring

    cdef bint _is_done(self) noexcept nogil:
        return self.race.done

    cdef pb_batch _next(self) noexcept nogil:
        return pb_batch_racing_next(&self.race)

    cdef void _advance(self) noexcept nogil:
        pb_batch_racing_advance(&self.race, &self._pulls[0], &self._sums[0])

    @property
    def accepted(self):
        """Arms accepted so far, increasing; int64."""
        return np.flatnonzero(self.arrays["accepted"])

    @property
    def survivors(self):
        """Arms neither accepted nor rejected, increasing; int64."""
        return np.empty(0, np.int64) if self.race.done else super().survivors

    def _get_progress(self):
        return {**super()._get_progress(), "n_open": self.race.n_open,
                "reject_below": self.race.reject_below,
                "accept_above": self.race.accept_above, "moved": self.race.moved,
                "race_done": self.race.done, "race_batches": self.race.n_batches}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        self.race.n_open, self.race.moved = progress["n_open"], progress["moved"]
        self.race.reject_below = progress["reject_below"]
        self.race.accept_above = progress["accept_above"]
        self.race.done, self.race.n_batches = progress["race_done"], progress["race_batches"]

    def recommend(self):
        """The k best arms, best first; before the end, those accepted and the best means."""
        chosen = np.concatenate([
            self.accepted, self._best(self.survivors, self.k - self.accepted.size)])
        return self._best(chosen, self.k)
