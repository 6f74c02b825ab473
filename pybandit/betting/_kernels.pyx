"""Classes that own the memory of the betting kernels."""

import numpy as np

cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport isnan
from libc.stdint cimport int64_t, uintptr_t

from pybandit.betting._csrc cimport (
    PB_MIX_EBMIX, PB_MIX_PLUG_IN, PB_MIX_PRODUCT, PB_MOST_BETS, pb_bets_memory, pb_betting_add,
    pb_betting_add_predicted, pb_betting_begin, pb_betting_memory, pb_betting_missing,
    pb_betting_withdraw, pb_items, pb_pairs, pb_threshold_add, pb_threshold_begin,
    pb_top_k_add, pb_top_k_begin, pb_top_k_leaders, pb_top_k_withdraw,
)

cnp.import_array()

MIXTURES = {"product": PB_MIX_PRODUCT, "ebmix": PB_MIX_EBMIX, "plug-in": PB_MIX_PLUG_IN}
SMALLEST_BET = 0.004
LARGEST_BET = {"product": 2.0, "ebmix": 0.9}
# Number of survivors at which claims of being within epsilon start: 32 * 31 processes.
NEAR_ARMS = 32


cdef class Bets:
    """The geometric bets lambda_g, padded to whole vectors with bets of wealth 0.

    There is one plug-in bet, which the kernel computes.
    """

    def __cinit__(self, mixture, int n_bets=1):
        cdef int padded = 1 if mixture == "plug-in" else (n_bets + 3) // 4 * 4
        if not 0 < n_bets <= PB_MOST_BETS:
            raise ValueError(f"bets must be at least 1 and at most {PB_MOST_BETS}; got {n_bets}")
        largest = LARGEST_BET.get(mixture, 1.0)
        bets = (np.geomspace(SMALLEST_BET, largest, n_bets) if n_bets > 1
                else np.sqrt([SMALLEST_BET * largest]))
        self.mixture, self.n_bets = mixture, n_bets
        self.table = np.zeros((3, padded))
        table = np.asarray(self.table)
        table[0, :n_bets] = bets
        table[1, :n_bets] = 1.0 / n_bets
        if mixture == "ebmix":
            table[2] = -np.log1p(-table[0]) - table[0]
        self.bets.mixture = MIXTURES[mixture]
        self.bets.n_bets = padded
        self.bets.bets = &self.table[0, 0]
        self.bets.shares = &self.table[1, 0]
        self.bets.psi = &self.table[2, 0]


def aligned_doubles(int64_t n):
    """Return n zeros aligned to a cache line, so that no vector spans two lines."""
    memory = np.zeros(n + 8)
    start = -memory.ctypes.data // 8 % 8
    return memory[start:start + n]


cdef double *doubles_of(array):
    return <double *>cnp.PyArray_DATA(array)


cdef int64_t *integers_of(array):
    return <int64_t *>cnp.PyArray_DATA(array)


cdef unsigned char *bytes_of(array):
    return <unsigned char *>cnp.PyArray_DATA(array)


cdef pb_items make_items(int64_t n_items, limits):
    cdef pb_items items
    items.n_items = n_items
    items.left = NULL
    items.low, items.high, items.range = limits
    return items


cdef class Books:
    """Record of the rewards that a race received.

    Sums are of reward - base, so that means are accurate for rewards of any size. If `base` is
    NaN, the first reward becomes the base.
    """

    def __cinit__(self, int64_t n_arms, double base):
        self.blocks = []
        self._pulls = np.zeros(n_arms, dtype=np.int64)
        self._sums = np.zeros(n_arms)
        self._base = base

    cdef void _enter(self, const int64_t *arms, int64_t n_arms, const double *const *rows,
                     int64_t n_rows) noexcept:
        cdef int64_t row, i
        if isnan(self._base):
            self._base = rows[0][0]
        self.n_items += n_rows
        for i in range(n_arms):
            self._pulls[arms[i]] += n_rows
        for row in range(n_rows):
            for i in range(n_arms):
                self._sums[arms[i]] += rows[row][i] - self._base

    @property
    def base(self):
        return self._base

    @property
    def pulls(self):
        return np.array(self._pulls)

    @property
    def centred(self):
        """Mean reward of each arm minus the base; NaN if the arm has no rewards."""
        with np.errstate(invalid="ignore"):
            return np.array(self._sums) / self.pulls


cdef class Race:
    """Base class of races: arrays by name, and the recording of rewards."""

    def __cinit__(self, *arguments, **options):
        if type(self) is Race:
            raise TypeError("Race is abstract: create a LeaderRace, a TopKRace or a ThresholdRace")

    cdef int64_t *_integers(self, int64_t n_arms, const int64_t *n_alive, const int *decided):
        """Allocate three rows of n_arms integers: arms, columns, and one for the race."""
        self.arrays["integers"] = np.zeros((3, n_arms), dtype=np.int64)
        self.arrays["withdrawn"] = np.zeros(n_arms, dtype=np.uint8)
        self.n_alive, self.decided_flag = n_alive, decided
        self.columns = integers_of(self.arrays["integers"]) + n_arms
        return integers_of(self.arrays["integers"])

    cdef _claims(self, str name, pb_pairs *pairs, int64_t n_slots):
        """Allocate memory for claims between n_slots arms."""
        self.arrays[name + "_memory"] = aligned_doubles(
            n_slots * n_slots * pb_bets_memory(&pairs.bets))
        self.arrays[name + "_claims"] = np.zeros((n_slots, n_slots), dtype=np.uint8)
        pairs.n_slots = n_slots
        pairs.memory = doubles_of(self.arrays[name + "_memory"])
        pairs.claims = bytes_of(self.arrays[name + "_claims"])

    cdef void _add_rows(self, const double *const *rows, int64_t n_rows) noexcept nogil:
        pass

    cdef void _withdraw(self, int64_t n_kept, const int64_t *keys,
                        unsigned char *withdrawn) noexcept nogil:
        pass

    cdef void _weigh(self, const double *left) noexcept:
        pass

    def weigh(self, left):
        """Set the weight left before each item, in reading order; for races between arms."""
        cdef const double[::1] rest = np.ascontiguousarray(left, dtype=np.float64)
        self.arrays["left"] = np.asarray(rest)
        self._weigh(&rest[0])

    cdef _check_predictions(self, values):
        pass

    def tell(self, Books books not None, values not None, int64_t n_kept=0, keys=None):
        """Pass rewards of items, one column per survivor, to the kernel and to `books`.

        If n_kept > 0, arms with the smallest scores are then withdrawn until n_kept survive;
        among equal scores those with the largest keys go first.

        Everything that can fail comes first, and signals are handled before the change but not
        during it, so kernel and record change together or not at all.
        """
        cdef const int64_t[::1] ties = keys
        cdef const double[:, ::1] rewards = values
        arms = self.alive
        if rewards.shape[0] == 0 or rewards.shape[1] != len(arms):
            raise ValueError(f"rewards must have one column for each of {len(arms)} arms; got "
                             f"{rewards.shape[0]} rows of {rewards.shape[1]}")
        cdef uintptr_t[::1] rows = row_addresses(rewards)
        self._check_predictions(values)
        self._take(books, arms, values, <const double *const *>&rows[0], n_kept,
                   &ties[0] if n_kept > 0 else NULL)

    cdef _take(self, Books books, arms, values, const double *const *rows, int64_t n_kept,
               const int64_t *keys):
        """Pass rows of rewards of the survivors to the kernel, and record them."""
        cdef int64_t i, n_rows = cnp.PyArray_DIM(values, 0)
        PyErr_CheckSignals()
        books.blocks.append((arms, values))
        books._enter(integers_of(arms), self.n_alive[0], rows, n_rows)
        for i in range(self.n_alive[0]):
            self.columns[i] = i
        with nogil:
            self._add_rows(rows, n_rows)
        if n_kept > 0:
            self._withdraw(n_kept, keys, bytes_of(self.arrays["withdrawn"]))

    @property
    def withdrawn(self):
        """True for each arm that was withdrawn; no bet was won against it."""
        return self.arrays["withdrawn"] != 0

    @property
    def alive(self):
        """Surviving or undecided arms, in the order of the columns of the next rewards."""
        return self.arrays["integers"][0, :self.n_alive[0]].copy()

    @property
    def decided(self):
        return self.decided_flag[0] != 0


cdef class LeaderRace(Race):
    """A pb_betting of n_arms over n_items, or over an endless stream if n_items is 0.

    `delta` is the error probability of eliminations, and `near_delta`, if epsilon > 0, of claims
    of being within epsilon.
    """

    def __cinit__(self, int64_t n_arms, int64_t n_items, Bets bets not None, limits, double delta,
                  bint hybrid=False, double epsilon=0.0, double near_delta=0.0,
                  bint predicted=False):
        self.bets = bets
        self.race.predicted = predicted
        self.race.bets, self.race.items = bets.bets, make_items(n_items, limits)
        self.race.threshold = 1.0 / delta
        self.race.hybrid = hybrid
        self.race.n_arms = n_arms
        self.arrays = dict(
            memory=aligned_doubles(pb_betting_memory(&bets.bets, n_arms, hybrid)),
            doubles=np.zeros(4 * n_arms + bets.bets.n_bets),
            gone=np.zeros(n_arms, dtype=np.uint8),
        )
        self.race.memory = doubles_of(self.arrays["memory"])
        self.race.scores = doubles_of(self.arrays["doubles"])
        self.race.rewards = self.race.scores + n_arms
        self.race.arms = self._integers(n_arms, &self.race.n_alive, &self.race.decided)
        self.race.columns = self.race.arms + n_arms
        self.race.slots = self.race.columns + n_arms
        self.race.gone = bytes_of(self.arrays["gone"])
        if epsilon > 0:
            self.near.bets, self.near.items = self.race.bets, self.race.items
            self.near.slack = epsilon
            self.race.near_slots, self.race.near_error = min(n_arms, NEAR_ARMS), near_delta
            self._claims("near", &self.near, self.race.near_slots)
            self.race.near = &self.near

    def begin(self):
        """Start with all arms, at equal scores."""
        cdef int64_t i
        self.race.n_alive = self.race.n_arms
        for i in range(self.race.n_arms):
            self.race.arms[i] = i
            self.race.scores[i] = 0.0
        pb_betting_begin(&self.race)

    cdef void _weigh(self, const double *left) noexcept:
        self.race.items.left = self.near.items.left = left

    def predict(self, rewards not None, totals not None, highest not None, lowest not None):
        """Set predictions of the rewards of the next `tell`, one column per survivor.

        `totals`, `highest` and `lowest` are over all items that are left, per arm.
        """
        cdef const double[:, ::1] of_rows = rewards
        cdef const double[::1] of_all
        cdef uintptr_t[::1] rows = row_addresses(of_rows)
        for each in (totals, highest, lowest):
            of_all = each
            if of_all.shape[0] != of_rows.shape[1]:
                raise ValueError("predictions must have one column per arm")
        self.arrays["predictions"] = rewards, np.asarray(rows), totals, highest, lowest
        self.given.rows = <const double *const *>&rows[0]
        self.given.totals = doubles_of(totals)
        self.given.highest = doubles_of(highest)
        self.given.lowest = doubles_of(lowest)

    cdef _check_predictions(self, values):
        if self.race.predicted and self.arrays["predictions"][0].shape != values.shape:
            raise ValueError("predictions must have the shape of the rewards")

    cdef void _add_rows(self, const double *const *rows, int64_t n_rows) noexcept nogil:
        if self.race.predicted:
            pb_betting_add_predicted(&self.race, rows, n_rows, &self.given)
        else:
            pb_betting_add(&self.race, rows, n_rows)

    cdef void _withdraw(self, int64_t n_kept, const int64_t *keys,
                        unsigned char *withdrawn) noexcept nogil:
        pb_betting_withdraw(&self.race, n_kept, keys, withdrawn)

    @property
    def missing(self):
        """Log of the factor that bets against each survivor still have to win; NaN if unknown."""
        logs = np.empty(self.race.n_alive)
        pb_betting_missing(&self.race, doubles_of(logs))
        return logs

    @property
    def leaders(self):
        return np.array([self.race.arms[self.race.leader]])


cdef class TopKRace(Race):
    """A pb_top_k of n_arms over n_items, or over an endless stream if n_items is 0; k < n_arms."""

    def __cinit__(self, int64_t n_arms, int64_t n_items, int64_t k, Bets bets not None, limits,
                  double delta, double epsilon=0.0, double near_delta=0.0):
        cdef int64_t n_pairs = k * (n_arms - k)
        self.bets = bets
        self.race.n_arms, self.race.k = n_arms, k
        self.race.beats.bets, self.race.beats.items = bets.bets, make_items(n_items, limits)
        self.race.beats.threshold = n_pairs / delta
        self.arrays = dict(doubles=np.zeros((2, n_arms)),
                           inside=np.zeros(n_arms, dtype=np.uint8))
        self._claims("beats", &self.race.beats, n_arms)
        if epsilon > 0:
            self.race.near.bets, self.race.near.items = bets.bets, self.race.beats.items
            self.race.near.slack, self.race.near.threshold = epsilon, n_pairs / near_delta
            self._claims("near", &self.race.near, n_arms)
        self.race.arms = self._integers(n_arms, &self.race.n_open, &self.race.decided)
        self.race.columns = self.race.arms + n_arms
        self.race.verdicts = self.race.columns + n_arms
        self.race.sums = doubles_of(self.arrays["doubles"])
        self.race.rewards = self.race.sums + n_arms
        self.race.inside = bytes_of(self.arrays["inside"])

    def begin(self):
        """Start with all arms undecided."""
        pb_top_k_begin(&self.race)

    cdef void _weigh(self, const double *left) noexcept:
        self.race.beats.items.left = self.race.near.items.left = left

    cdef void _add_rows(self, const double *const *rows, int64_t n_rows) noexcept nogil:
        pb_top_k_add(&self.race, rows, n_rows)

    cdef void _withdraw(self, int64_t n_kept, const int64_t *keys,
                        unsigned char *withdrawn) noexcept nogil:
        pb_top_k_withdraw(&self.race, n_kept, keys, withdrawn)

    @property
    def leaders(self):
        flags = np.zeros(self.race.n_arms, dtype=np.uint8)
        pb_top_k_leaders(&self.race, bytes_of(flags))
        return np.flatnonzero(flags)


cdef class ThresholdRace(Race):
    """A pb_threshold of n_arms over n_items, or over an endless stream if n_items is 0."""

    def __cinit__(self, int64_t n_arms, int64_t n_items, double tau, Bets bets not None, limits,
                  double delta, double epsilon=0.0):
        self.bets = bets
        self.race.bets, self.race.items = bets.bets, make_items(n_items, limits)
        self.race.tau, self.race.slack = tau, epsilon
        self.race.n_arms, self.race.threshold = n_arms, n_arms / delta
        self.arrays = dict(memory=aligned_doubles(2 * n_arms * pb_bets_memory(&bets.bets)),
                           sums=np.zeros(n_arms))
        self.race.memory = doubles_of(self.arrays["memory"])
        self.race.arms = self._integers(n_arms, &self.race.n_open, &self.race.decided)
        self.race.columns = self.race.arms + n_arms
        self.race.verdicts = self.race.columns + n_arms
        self.race.sums = doubles_of(self.arrays["sums"])

    def begin(self):
        """Start with all arms undecided."""
        pb_threshold_begin(&self.race)

    cdef void _add_rows(self, const double *const *rows, int64_t n_rows) noexcept nogil:
        pb_threshold_add(&self.race, rows, n_rows)

    @property
    def excess(self):
        """Sum of reward - tau of each undecided arm."""
        return np.array(<double[:self.race.n_arms]>self.race.sums)[:self.race.n_open]

    @property
    def verdicts(self):
        """Verdict on each arm: 1 above, -1 below, 0 undecided."""
        return np.array(<int64_t[:self.race.n_arms]>self.race.verdicts)


cdef uintptr_t[::1] row_addresses(const double[:, ::1] rewards):
    """Return the address of each row; the rows must not be empty."""
    first = <uintptr_t>&rewards[0, 0]
    return first + np.arange(rewards.shape[0], dtype=np.uintp) * rewards.shape[1] * sizeof(double)
