"""The memory of a race, and how its failures read in Python."""

import numpy as np

from pybandit._checks import check_numeric
from pybandit.factors import Factors
from pybandit.racing_bounds import make_schedule

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.string cimport memcpy

from pybandit._csrc cimport (
    PB_CALLBACK, PB_GROW, PB_OK, PB_RANGE,
    PB_SUBSAMPLE_BLOCKS, PB_SUBSAMPLE_KEYED, PB_SUBSAMPLE_PERMUTATION,
    pb_race_begin, pb_race_indices_memory, pb_race_run, pb_subsample_init,
    pb_subsample_memory, pb_subsample_next, pb_subsample_restart,
)

# Consecutive rows that the "blocks" order reads at a time.
BLOCK_ROWS = 64


cdef pb_status run_race(pb_race *race, pb_bitgen *bitgen) noexcept nogil:
    pb_race_begin(race, bitgen)
    return pb_race_run(race, bitgen)


cdef class Callback:
    """A Python function behind the C signature of pybandit/factors.h."""

    def __cinit__(self, function):
        self.function = function


cdef int _call_python(const int64_t *factors, int64_t n_factors, const int64_t *states,
                      int64_t n_states, double *out, void *user_data) noexcept with gil:
    cdef Callback callback = <Callback>user_data
    cdef int64_t[::1] index_view, state_view
    cdef const double[:, ::1] value_view
    try:
        # copies: the function may keep what it is given
        indices = np.empty(n_factors, dtype=np.int64)
        chosen = np.empty(n_states, dtype=np.int64)
        index_view, state_view = indices, chosen
        memcpy(&index_view[0], factors, n_factors * sizeof(int64_t))
        memcpy(&state_view[0], states, n_states * sizeof(int64_t))
        values = callback.function(indices, chosen)
        if np.shape(values) != (n_factors, n_states):
            raise ValueError(f"the function of Factors must return shape (n, k) = "
                             f"{(n_factors, n_states)}; got shape {np.shape(values)}")
        values = check_numeric("the return value of the function of Factors", values)
        value_view = np.ascontiguousarray(values)
        memcpy(out, &value_view[0, 0], n_factors * n_states * sizeof(double))
        return 0
    except BaseException as error:
        callback.error = error
        return 1


cdef pb_bitgen *bitgen_of(generator) except NULL:
    return <pb_bitgen *>PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")


def as_generator(rng):
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None or isinstance(rng, (int, np.integer, np.random.SeedSequence)):
        return np.random.default_rng(rng)
    raise TypeError(f"rng must be None, an int, a SeedSequence or a numpy.random.Generator; "
                    f"got {rng!r}")


cdef class Subsample:
    """Owns the memory of a pb_subsample."""

    def __cinit__(self, kind, int64_t size, int64_t run=1):
        code = {"permutation": PB_SUBSAMPLE_PERMUTATION, "blocks": PB_SUBSAMPLE_BLOCKS,
                "keyed": PB_SUBSAMPLE_KEYED}[kind]
        self.permutation = np.empty(max(1, pb_subsample_memory(code, size, run)), dtype=np.uint32)
        pb_subsample_init(&self.stream, code, size, run, &self.permutation[0])

    def restart(self, rng):
        with rng.bit_generator.lock:
            pb_subsample_restart(&self.stream, bitgen_of(rng))

    def next(self, int64_t n, rng):
        cdef int64_t[::1] out = np.empty(max(n, 1), dtype=np.int64)
        cdef pb_bitgen *bitgen = bitgen_of(rng)
        with rng.bit_generator.lock, nogil:
            pb_subsample_next(&self.stream, bitgen, n, &out[0])
        return np.asarray(out)[:n]


cdef class Track:
    """The memory of a pb_race on one problem, and how its failures read in Python."""

    def __cinit__(self, factors, bound, str variance, first_look, double max_fraction,
                  str kind, row_labels=None):
        self.row_labels = row_labels
        self._set_factors(factors)
        pairwise = variance == "pairwise"
        self.schedule = make_schedule(bound, self.race.factors.n_factors,
                                      self.race.factors.n_states, pairwise, first_look,
                                      max_fraction)
        self._set_schedule(bound, pairwise)
        self.subsample = Subsample(kind, self.race.factors.n_factors,
                                    BLOCK_ROWS if kind == "blocks" else 1)
        self.race.subsample = &self.subsample.stream
        self._allocate()

    cdef _set_factors(self, factors):
        if isinstance(factors, Factors):
            self.callback = Callback(factors.function)
            self.race.factors.n_factors = factors.n_factors
            self.race.factors.n_states = factors.n_states
            self.race.factors.function = _call_python
            self.race.factors.user_data = <void *>self.callback
            return
        self.matrix = factors
        self.race.factors.n_factors = factors.shape[0]
        self.race.factors.n_states = factors.shape[1]
        self.race.factors.matrix = &self.matrix[0, 0]

    cdef _set_schedule(self, bound, bint pairwise):
        self.rows, self.scale, self.slack = self.schedule
        self.race.schedule.n_looks = self.rows.shape[0]
        self.race.schedule.rows = &self.rows[0]
        self.race.schedule.scale = &self.scale[0]
        self.race.schedule.slack = &self.slack[0]
        self.race.pairwise = pairwise
        difference_range = getattr(bound, "difference_range", None)
        value_range = getattr(bound, "value_range", None)
        if pairwise and difference_range is not None:
            self.race.difference_range = difference_range
            value_range = difference_range
        elif difference_range is not None and value_range is None:
            raise ValueError("value_range must be given for variance='marginal'; "
                             "got difference_range only")
        if value_range is None:
            return
        n_states = self.race.factors.n_states
        if np.ndim(value_range) and len(value_range) != n_states:
            raise ValueError(f"value_range must be a number or hold one a state, D = {n_states}; "
                             f"got {len(value_range)} values")
        self.ranges = np.full(n_states, value_range, dtype=np.float64)
        self.race.ranges = &self.ranges[0]

    cdef _allocate(self):
        cdef int64_t n_states = self.race.factors.n_states
        self.offsets = np.zeros(n_states)
        self.states = np.empty(n_states, dtype=np.int64)
        self.kept = np.empty(n_states, dtype=np.int64)
        self.moments_memory = np.empty(5 * n_states)
        self.indices = np.empty(max(1, pb_race_indices_memory(&self.race.schedule,
                                                              &self.race.factors)),
                                dtype=np.int64)
        self.race.offsets = &self.offsets[0]
        self.race.states = &self.states[0]
        self.race.kept = &self.kept[0]
        self.race.moments_memory = &self.moments_memory[0]
        self.race.indices = &self.indices[0]
        self.race.capacity = 0

    cdef pb_status run(self, pb_bitgen *bitgen) noexcept nogil:
        cdef pb_status status = run_race(&self.race, bitgen)
        while status == PB_GROW:
            if not self._grow():
                return PB_CALLBACK
            status = pb_race_run(&self.race, bitgen)
        return status

    cdef bint _grow(self) noexcept with gil:
        """Doubles the memory for a callback's rewards; they are kept."""
        cdef int64_t held = self.race.capacity
        try:
            rewards = np.empty(max(2 * held, self.race.needed, 1024))
            if held:
                rewards[:held] = self.rewards
            self.rewards = rewards
            self.race.rewards = &self.rewards[0]
            self.race.capacity = self.rewards.shape[0]
            return True
        except BaseException as error:
            self.callback.error = error
            return False

    cdef raise_failure(self, pb_status status):
        if status == PB_CALLBACK:
            error, self.callback.error = self.callback.error, None
            raise error
        if status == PB_RANGE:
            raise ValueError(self._range_message())
        factors, states, rewards = self._last_read()
        bad = np.argwhere(~np.isfinite(rewards))
        if not bad.size:
            raise ValueError("factors must be small enough to square; rewards spread over more "
                             "than 1e154")
        row, column = bad[0]
        raise ValueError(f"factors must be finite; got {rewards[row, column]} at factor "
                         f"{factors[row]}, state {states[column]}")

    cdef _last_read(self):
        """The factors, states and rewards among which one was found not finite."""
        cdef int64_t n_alive = self.race.n_alive
        cdef int64_t n_rows = self.race.moments.count
        states = np.asarray(self.states)[:n_alive]
        if self.callback is not None:
            called = slice(self.race.called_at, self.race.called_at + self.race.called_rows)
            rewards = np.asarray(self.rewards)[:called.stop * n_alive].reshape(-1, n_alive)
            return np.asarray(self.indices)[called], states, rewards[called]
        whole = n_rows == self.race.factors.n_factors
        factors = np.arange(n_rows) if whole else np.asarray(self.indices)[:n_rows]
        rewards = np.asarray(self.matrix)[factors][:, states]
        return factors if self.row_labels is None else self.row_labels[factors], states, rewards

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
