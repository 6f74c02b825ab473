"""Memory of a race, and its failures as Python exceptions."""

import functools

import numpy as np

from pybandit._shared.checks import check_choice, check_integer, check_numeric
from pybandit.betting.limits import refuse_reward
from pybandit.racing._named_bounds import as_bound
from pybandit.racing._read_cost import fraction_of
from pybandit.racing.bounds import BettingBound
from pybandit.racing.factors import BlockFactors, Factors
from pybandit.racing.schedule import check_schedule, make_schedule, parts_of

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc
from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

from pybandit._shared._csrc cimport PB_CALLBACK, PB_FLOAT64, PB_GROW, PB_RANGE
from pybandit._shared.bits cimport bitgen_of
from pybandit._shared.guard cimport Guard
from pybandit.betting._kernels cimport Bets, LeaderRace
from pybandit.racing._csrc cimport (
    PB_RACE_TILE_ROWS, PB_SUBSAMPLE_BLOCKS, PB_SUBSAMPLE_GROUPS, PB_SUBSAMPLE_KEYED,
    PB_SUBSAMPLE_PERMUTATION, PB_SUBSAMPLE_REJECTION, pb_race_begin, pb_race_run,
    pb_sampler_draw, pb_subsample_init, pb_subsample_kind, pb_subsample_memory,
    pb_subsample_next, pb_subsample_restart,
)
from pybandit.racing._source cimport Source

# Consecutive rows that the "blocks" order reads at a time.
BLOCK_ROWS = 64
# Maximum number of factors for an order that is kept as a permutation (256 MiB).
LARGEST_UNIFORM = 1 << 26
# Maximum number of factors of the keyed order.
LARGEST_KEYED = 1 << 62
# Maximum number of factors over all arms for orders that keep a bit per factor.
LARGEST_BITS = 1 << 30


KINDS = {"permutation": PB_SUBSAMPLE_PERMUTATION, "rejection": PB_SUBSAMPLE_REJECTION,
         "blocks": PB_SUBSAMPLE_BLOCKS, "groups": PB_SUBSAMPLE_GROUPS,
         "keyed": PB_SUBSAMPLE_KEYED}


cdef class Subsample:
    """A pb_subsample and its memory."""

    def __cinit__(self, kind, int64_t size, int64_t run=1):
        cdef pb_subsample_kind code = KINDS[check_choice("kind", kind, KINDS)]
        check_integer("size", size, 1, LARGEST_KEYED if kind == "keyed" else (1 << 32) - 1)
        check_integer("run", run, 1)
        cdef int64_t entries = pb_subsample_memory(code, size, run)
        self.guard = Guard(type(self))
        # large memory is zeroed lazily: only pages that are touched are allocated
        self.memory = <uint32_t *>PyMem_RawCalloc(max(1, entries), sizeof(uint32_t))
        if not self.memory:
            raise MemoryError(f"cannot allocate the {kind} order of {size} factors")
        pb_subsample_init(&self.stream, code, size, run, self.memory)

    def __dealloc__(self):
        PyMem_RawFree(self.memory)

    cdef void renew(self) noexcept:
        cdef pb_subsample *stream = &self.stream
        memset(self.memory, 0, sizeof(uint32_t) * pb_subsample_memory(stream.kind, stream.size,
                                                                      stream.run))
        pb_subsample_init(stream, stream.kind, stream.size, stream.run, self.memory)

    cdef object order(self):
        # REJECTION clears its bits before the next draw, and KEYED has no memory
        if self.stream.kind in (PB_SUBSAMPLE_REJECTION, PB_SUBSAMPLE_KEYED):
            return None
        cdef int64_t n = pb_subsample_memory(self.stream.kind, self.stream.size, self.stream.run)
        return np.array(<uint32_t[:n]>self.memory)

    cdef int take_order(self, order) except -1:
        cdef const uint32_t[::1] given
        own = self.order()
        if own is None and order is None:
            return 0
        if (own is None or order is None or order.shape != own.shape
                or not np.array_equal(np.sort(order), np.arange(own.size))):
            raise ValueError("order must be a permutation of the indices, as `order` returned it")
        given = np.require(order, np.uint32, "CA")
        memcpy(self.memory, &given[0], given.shape[0] * sizeof(uint32_t))
        return 0

    def restart(self, rng):
        self.guard.enter()
        try:
            with rng.bit_generator.lock:
                pb_subsample_restart(&self.stream, bitgen_of(rng))
        finally:
            self.guard.leave()

    def next(self, int64_t n, rng):
        cdef int64_t[::1] out = np.empty(max(n, 1), dtype=np.int64)
        cdef pb_bitgen *bitgen = bitgen_of(rng)
        self.guard.enter()
        try:
            if not 0 <= n <= self.stream.size - self.stream.position:
                raise ValueError(f"n must be in [0, {self.stream.size - self.stream.position}], "
                                 f"the number of indices left in the order; got {n}")
            with rng.bit_generator.lock, nogil:
                pb_subsample_next(&self.stream, bitgen, n, &out[0])
        finally:
            self.guard.leave()
        return np.asarray(out)[:n]


cdef class Subsamples:
    """Index streams without replacement, one per population, each for a single order."""

    def __cinit__(self, const int64_t[::1] sizes):
        cdef int64_t i, n = sizes.shape[0], entries = 0
        cdef int64_t total = np.sum(sizes)
        # one bit per index, zeroed lazily, if that is at most 128 MiB
        cdef pb_subsample_kind kind = (PB_SUBSAMPLE_REJECTION if total <= LARGEST_BITS
                                       else PB_SUBSAMPLE_KEYED)
        for i in range(n):
            entries += pb_subsample_memory(kind, sizes[i], 1)
        self.memory = <uint32_t *>PyMem_RawCalloc(max(1, entries), sizeof(uint32_t))
        self.streams = <pb_subsample *>PyMem_RawMalloc(max(1, n) * sizeof(pb_subsample))
        if not self.memory or not self.streams:
            raise MemoryError(f"cannot allocate orders of {total} factors")
        entries = 0
        for i in range(n):
            if sizes[i]:
                pb_subsample_init(&self.streams[i], kind, sizes[i], 1, self.memory + entries)
                entries += pb_subsample_memory(kind, sizes[i], 1)

    def __dealloc__(self):
        PyMem_RawFree(self.memory)
        PyMem_RawFree(self.streams)


cdef class RacePlan:
    """Checked options of a race in the kernel's form; shared between races and read-only."""

    def __cinit__(self, bound, looks, int64_t n_factors, int64_t n_states, cell_bytes,
                  in_runs):
        share = fraction_of(looks, bound, n_factors, n_states, cell_bytes, in_runs)
        self.pairwise = looks.variance == "pairwise"
        self.bound = bound
        self.schedule = make_schedule(bound, n_factors, n_states, self.pairwise, looks.first,
                                      share)
        self._take_schedule(n_factors)
        self.ranges = None  # an unassigned memoryview would raise when read
        if isinstance(bound, BettingBound):
            if not self.pairwise:
                raise ValueError(f"looks must have variance='pairwise' for BettingBound, which "
                                 f"bets on differences; got {looks.variance!r}")
            self.limits = bound.limits  # raises if the range is "control"
            return
        self._set_ranges(getattr(bound, "value_range", None),
                         getattr(bound, "difference_range", None), n_states)

    cdef _take_schedule(self, int64_t n_factors):
        check_schedule(self.schedule, n_factors)
        # copies, so that no other code can change them
        self.rows, self.scale, self.slack, self.unit = (
            None if part is None else np.array(part) for part in parts_of(self.schedule))

    cdef _set_ranges(self, value_range, difference_range, int64_t n_states):
        if self.pairwise and difference_range is not None:
            self.difference_range = difference_range
            value_range = difference_range
        elif difference_range is not None and value_range is None:
            raise ValueError("value_range must be given for Looks(variance='marginal'); "
                             "got difference_range only")
        if value_range is None:
            return
        if np.ndim(value_range) and len(value_range) != n_states:
            raise ValueError(f"value_range must be a number or have one value per state, D = "
                             f"{n_states}; got {len(value_range)} values")
        self.ranges = np.full(n_states, value_range, dtype=np.float64)

    cdef void fill(self, pb_schedule *schedule) noexcept:
        schedule.n_looks = self.rows.shape[0]
        schedule.rows = &self.rows[0]
        schedule.scale = &self.scale[0]
        schedule.slack = &self.slack[0]
        schedule.unit = &self.unit[0] if self.unit is not None else NULL


def check_log_prior(name, values, int64_t n_states):
    """Return a copy of `values` as D float64, none of them NaN or +inf, not all -inf."""
    values = check_numeric(name, values)
    if values.shape != (n_states,):
        raise ValueError(f"{name} must have shape (D,) = ({n_states},); got {values.shape}")
    cdef double[::1] view = values
    cdef int64_t i, n_possible = 0
    for i in range(n_states):
        n_possible += view[i] > -INFINITY
        if not view[i] < INFINITY:
            raise ValueError(f"{name} must be below +inf and not NaN; got {view[i]!r} at index {i}")
    if not n_possible:
        raise ValueError(f"{name} must be above -inf for at least one state; got -inf for all")
    return values


def index_kind(factors, indices, default):
    """Return the kind of index stream for the option `indices`; `default` if it is "auto"."""
    if isinstance(factors, BlockFactors):
        if indices != "auto":
            raise ValueError(f"looks must have indices='auto' for Blocks, which are read one "
                             f"whole block at a time; got {indices!r}")
        return "groups"
    n_factors = factors.n_factors if isinstance(factors, Factors) else factors.shape[0]
    if indices == "auto":
        return default if n_factors <= LARGEST_UNIFORM else "keyed"
    if indices != "keyed" and n_factors >= 1 << 32:
        raise ValueError(f"looks must have indices='keyed' for 2**32 factors or more; got "
                         f"{indices!r} with N = {n_factors}")
    return indices


def hashable(name, value):
    """Return arrays and lists as numbers or tuples, so that plans can be cached by options."""
    if isinstance(value, (np.ndarray, list)):
        value = check_numeric(name, value).tolist()
    return tuple(value) if isinstance(value, list) else value


def cached(make):
    """Return `make` with a cache of its last results, by argument values and types.

    Calls with an unhashable argument are not cached.
    """
    keep = functools.lru_cache(maxsize=1024, typed=True)(make)

    def cached_make(*options):
        try:
            return keep(*options)
        except TypeError:
            try:
                hash(options)
            except TypeError:
                return make(*options)
            raise

    return cached_make


@cached
def make_plan(bound, delta, looks, n_factors, n_states, cell_bytes=None, in_runs=False):
    """Return the `RacePlan` of these options; cached, so equal options are checked once.

    `cell_bytes` is the size of a cell of an array, None for a function.
    """
    return RacePlan(as_bound(bound, delta), looks, n_factors, n_states, cell_bytes, in_runs)


cdef bint enlarge(void **memory, int64_t *capacity, int64_t needed, size_t item) noexcept nogil:
    """Enlarge memory to at least `needed` items and at least double; keep its contents."""
    if needed <= capacity[0]:
        return True
    cdef int64_t n = max(2 * capacity[0], needed, 1024)
    cdef void *larger = PyMem_RawRealloc(memory[0], n * item)
    if not larger:
        return False
    memory[0], capacity[0] = larger, n
    return True


# Provides the memory that a race needs after PB_GROW. Returns 0, or 1 if there is not enough.
cdef int grow(pb_race *race) noexcept nogil:
    return not (enlarge(<void **>&race.indices, &race.indices_capacity,
                        race.needed_indices, sizeof(int64_t))
                and enlarge(<void **>&race.rewards, &race.rewards_capacity,
                            race.needed_rewards, sizeof(double)))


cdef class Track:
    """A pb_race and its memory for one problem; raises its failures as exceptions."""

    def __cinit__(self, factors, RacePlan plan, str kind, row_labels=None):
        cdef int64_t n_states
        self.plan = plan
        self.row_labels = row_labels
        self.race = &self.sampler.race
        self.sampler.grow = grow
        self.source = Source(factors)
        self.race.factors = self.source.factors
        plan.fill(&self.race.schedule)
        self.race.pairwise = plan.pairwise
        self.race.difference_range = plan.difference_range
        self.race.ranges = &plan.ranges[0] if plan.ranges is not None else NULL
        self.subsample = Subsample(kind, self.race.factors.n_factors,
                                   BLOCK_ROWS if kind == "blocks" else
                                   factors.run if kind == "groups" else 1)
        self.race.subsample = &self.subsample.stream
        n_states = self.race.factors.n_states
        self.offsets = <double *>PyMem_RawCalloc(8 * n_states, sizeof(double))
        self.race.states = <int64_t *>PyMem_RawMalloc(2 * n_states * sizeof(int64_t))
        if not self.offsets or not self.race.states:
            raise MemoryError(f"cannot allocate a race of {n_states} states")
        self.race.offsets = self.sampler.offsets = self.offsets
        self.race.moments_memory = self.offsets + n_states
        self.race.kept = self.race.states + n_states
        if self.race.factors.matrix and self.race.factors.type != PB_FLOAT64:
            self.tile = np.empty((PB_RACE_TILE_ROWS, n_states))
            self.race.tile = &self.tile[0, 0]
        if isinstance(plan.bound, BettingBound):
            self.betting = LeaderRace(
                n_states, self.race.factors.n_factors,
                Bets(plan.bound.bets.mixture, plan.bound.n_bets), plan.limits, plan.bound.delta,
                plan.bound.bets.hybrid and n_states > 1)
            self.race.betting = &self.betting.race

    def __dealloc__(self):
        cdef pb_race *race = &self.sampler.race  # self.race is NULL if __cinit__ failed early
        PyMem_RawFree(self.offsets)
        PyMem_RawFree(race.states)
        PyMem_RawFree(race.indices)
        PyMem_RawFree(race.rewards)

    cdef pb_status run(self, pb_bitgen *bitgen) noexcept nogil:
        pb_race_begin(self.race, bitgen)
        cdef pb_status status = pb_race_run(self.race, bitgen)
        while status == PB_GROW and not grow(self.race):
            status = pb_race_run(self.race, bitgen)
        return status

    cdef pb_status draw(self, pb_bitgen *bitgen, int64_t *state) noexcept nogil:
        return pb_sampler_draw(&self.sampler, bitgen, state)

    cdef void renew(self) noexcept:
        # not freed: a realloc in the other thread may have freed it already
        self.race.indices, self.race.rewards = NULL, NULL
        self.race.indices_capacity = self.race.rewards_capacity = 0
        self.subsample.renew()

    cdef raise_failure(self, pb_status status):
        if status == PB_CALLBACK:
            self.source.raise_error()
        if status == PB_GROW:
            raise MemoryError(f"cannot allocate {self.race.needed_indices} rows of "
                              f"{self.race.n_alive} states")
        if status == PB_RANGE and self.betting is not None:
            self._raise_refused()
        if status == PB_RANGE:
            raise ValueError(self._range_message())
        factors, states, rewards = self._last_read()
        bad = np.argwhere(~np.isfinite(rewards))
        if not bad.size:
            raise ValueError("factors must be small enough to square; rewards spread over more "
                             "than 1e154")
        row, column = bad[0]
        raise ValueError(f"factors must be finite; got {rewards[row, column]} at factor "
                         f"{factors[row]}, state {states[column]}"
                         f"{self.source.explain(rewards[row, column])}")

    cdef _last_read(self):
        """Return the factors, states and rewards of the rows that include the invalid reward."""
        cdef int64_t n_alive = self.race.n_alive
        cdef int64_t n_rows = self.race.moments.count
        states = np.array(<int64_t[:n_alive]>self.race.states)
        if not self.race.factors.matrix:
            called = slice(self.race.called_at, self.race.called_at + self.race.called_rows)
            factors = np.array(<int64_t[:called.stop]>self.race.indices)[called]
            rewards = np.array(<double[:called.stop, :n_alive]>self.race.rewards)
            return factors, states, rewards[called]
        if n_rows == self.race.factors.n_factors:
            factors = np.arange(n_rows)
        else:
            factors = np.array(<int64_t[:n_rows]>self.race.indices)
        rewards = self.source.table[factors][:, states].astype(np.float64)
        return factors if self.row_labels is None else self.row_labels[factors], states, rewards

    cdef _raise_refused(self):
        """Raise the error that names the reward outside the range of the betting race."""
        cdef int64_t i, n_alive = self.betting.race.n_alive
        if not self.race.factors.matrix:
            factor = self.race.indices[(self.race.refused - self.race.rewards)
                                       // self.race.n_alive]
        else:
            factor = self.race.refused_factor
        if self.row_labels is not None:
            factor = self.row_labels[factor]
        rewards = [self.race.refused[self.betting.race.columns[i]] for i in range(n_alive)]
        states = [self.race.states[i] for i in range(n_alive)]
        refuse_reward(rewards, states, self.betting.race.leader, self.plan.bound.limits,
                      "factors", f"factor {factor}, state", self.source.explain(sum(rewards)))

    cdef _range_message(self):
        cdef int64_t i, worst = 0
        cdef double excess, most = 0.0, spread
        for i in range(self.race.n_alive):
            spread = self.race.high[i] - self.race.low[i]
            excess = spread - self.race.ranges[self.race.states[i]]
            if excess > most:
                worst, most = i, excess
        state = self.race.states[worst]
        spread = self.race.high[worst] - self.race.low[worst]
        if self.race.difference_range > 0:
            return (f"difference_range must be at least the spread of the differences of two "
                    f"states' rewards; got {self.race.difference_range!r}, but those of state "
                    f"{state} from the leader spread over {spread!r}")
        return (f"value_range must be at least the spread of each state's rewards; got "
                f"{self.race.ranges[state]!r} for state {state}, whose rewards spread over "
                f"{spread!r}")


cdef Track make_track(factors, bound, delta, looks, kind, row_labels):
    """Check the options of a race and create its memory."""
    computed = isinstance(factors, Factors)
    plan = make_plan(bound, hashable("delta", delta), looks,
                     factors.n_factors if computed else factors.shape[0],
                     factors.n_states if computed else factors.shape[1],
                     None if computed else factors.itemsize, kind == "blocks")
    return Track(factors, plan, kind, row_labels)
