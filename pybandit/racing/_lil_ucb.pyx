"""lil'UCB over a finite population, to compare with the race."""

import numpy as np

from pybandit._shared.checks import check_choice, check_in
from pybandit._shared.checks import check_delta
from pybandit._shared.generators import as_generator
from pybandit.racing._race import RaceResult
from pybandit.racing._track import check_log_prior
from pybandit.racing.factors import BlockFactors, as_factors

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport PB_CALLBACK, PB_OK, PB_RANGE, pb_bitgen, pb_status
from pybandit._shared.bits cimport bitgen_of
from pybandit.racing._csrc cimport pb_lil_ucb, pb_lil_ucb_begin, pb_lil_ucb_continue
from pybandit.racing._source cimport Source
from pybandit.racing._track cimport Subsamples

cdef enum:
    PULLS_BETWEEN_SIGNALS = 262144  # these pulls take at most 0.1 s

# Jamieson et al. 2014: the constants of their experiments, and those of their theorem.
GUARANTEES = ("heuristic", "proven")


def lil_ucb(factors, log_prior=None, *, value_range, delta=0.05, guarantee="heuristic", rng=None):
    """Find the state with the largest ``log_prior_i + sum_n log f_n(i)`` by lil'UCB.

    Each state has its own random order of factors, read without replacement. Each pull
    reads the next factor of the state with the largest ``mean + bonus`` (Chen &
    Ghahramani 2016, Sec. 3.2). The bonus is 0 once all N factors are read. Before that, the bonus
    after T pulls is::

        (1 + beta) (1 + sqrt(e)) sqrt(2 (C/2)^2 (1 + e) log(log((1 + e) T + 2) / d) / T)

    The run ends when the pulls of a state reach 1 + lambda times those of all others
    together, or when all factors of the state with the largest bound are read. Use it as a
    baseline: `race` compares states on the same factors, and reads far fewer if their
    rewards are correlated.

    Parameters
    ----------
    factors : array_like of float, shape (N, D), or Factors
        log f_n(i), as in `race`. A function is called once per factor.
    log_prior : array_like, shape (D,), optional
        log f_0, added to the totals; -inf makes a state impossible. Default 0.
    value_range : float or array_like of shape (D,)
        Largest minus smallest reward of each state; C is the largest of these ranges.
    delta : float, default 0.05
        In (0, 1). The error is about delta or less, without a guarantee; see Notes.
    guarantee : {"heuristic", "proven"}, default "heuristic"
        ``"heuristic"``: e = 0, beta = 1/2, lambda = 1 + 10 / D, d = delta / 5, as in the
        papers' experiments. ``"proven"``: e = 0.01, beta = 1, lambda = 9, d = delta: the
        constants of the theorem, but not its error probability; see Notes.
    rng : None, int, SeedSequence or Generator

    Returns
    -------
    RaceResult
        ``n_looks`` and ``n_evaluations`` are both the number of factors read.
        ``exact`` is True if all factors of the best state were read.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or a reward that was read is NaN or
        infinite, or the rewards of a state exceed its range.

    Notes
    -----
    O(log D) per factor read, in addition to the factor itself. The orders are exactly
    uniform and take one bit of memory per factor and state. Above 2**30 pairs they are
    pseudorandom and take none. Ctrl-C stops a run.

    delta does not bound the error with either choice. Theorem 2 of Jamieson et al., for
    independent draws, bounds it by ``4 sqrt(c d) + 4 c d`` with
    ``c = (2 + e) / e (1 / log(1 + e))^(1 + e)``, about 21,000 for e = 0.01. The bound is
    vacuous for d above 2e-6. `race` with a `BettingBound` guarantees its delta.

    References
    ----------
    K. Jamieson, M. Malloy, R. Nowak and S. Bubeck, lil'UCB: an optimal exploration
    algorithm for multi-armed bandits, COLT 2014.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> coins = np.random.default_rng(0).random((100_000, 3)) < [0.1, 0.2, 0.9]
    >>> result = pb.racing.lil_ucb(coins, value_range=1, rng=0)
    >>> result.best, result.n_evaluations < 1000
    (2, True)
    """
    check_choice("guarantee", guarantee, GUARANTEES)
    delta = check_delta(delta)
    rng = as_generator(rng)
    factors = as_factors(factors)
    if isinstance(factors, BlockFactors):
        raise TypeError(f"factors must not be Blocks: lil_ucb reads row by row; got {factors!r}")
    cdef LilUCBRun run = LilUCBRun(factors, log_prior, value_range)
    run.set(delta, guarantee)
    cdef pb_bitgen *bitgen = bitgen_of(rng)
    cdef pb_status status
    run.source.hold(rng.bit_generator.lock)
    with rng.bit_generator.lock, nogil:
        status = pb_lil_ucb_begin(&run.race, bitgen)
    while status == PB_OK and not run.race.ended:
        PyErr_CheckSignals()
        with rng.bit_generator.lock, nogil:
            status = pb_lil_ucb_continue(&run.race, bitgen, PULLS_BETWEEN_SIGNALS)
    if status != PB_OK:
        run.raise_failure(status)
    return RaceResult(run.race.winner, run.race.n_pulls, run.race.n_pulls,
                      bool(run.race.exact))


cdef class LilUCBRun:
    """A pb_lil_ucb and its memory."""

    cdef pb_lil_ucb race
    cdef Source source
    cdef Subsamples subsamples
    cdef double[::1] offsets, ranges
    cdef double[:, ::1] doubles
    cdef int64_t[:, ::1] integers

    def __cinit__(self, factors, log_prior, value_range):
        self.source = Source(factors)
        self.race.factors = self.source.factors
        n, n_states = self.race.factors.n_factors, self.race.factors.n_states
        self.offsets = (np.zeros(n_states) if log_prior is None
                        else check_log_prior("log_prior", log_prior, n_states))
        self.source.add_totals(&self.offsets[0])
        self.ranges = _as_ranges(value_range, n_states)
        self.subsamples = Subsamples(np.full(n_states, n, dtype=np.int64))
        self.doubles = np.empty((4, n_states))
        self.integers = np.empty((2, n_states), dtype=np.int64)
        self.race.offsets, self.race.ranges = &self.offsets[0], &self.ranges[0]
        self.race.subsamples = self.subsamples.streams
        self.race.sums = &self.doubles[0, 0]
        self.race.low = &self.doubles[1, 0]
        self.race.high = &self.doubles[2, 0]
        self.race.heap.keys = &self.doubles[3, 0]
        self.race.pulls = &self.integers[0, 0]
        self.race.heap.arms = &self.integers[1, 0]

    def set(self, double delta, guarantee):
        """Set the constants; D is the number of possible states."""
        possible = np.isfinite(self.offsets)
        self.race.lil.radius = 0.5 * np.max(np.asarray(self.ranges)[possible])
        if guarantee == "proven":
            self.race.lil.delta, self.race.lil.epsilon, self.race.lil.beta = delta, 0.01, 1.0
            self.race.lil.lambda_ = 9.0
        else:
            self.race.lil.delta, self.race.lil.epsilon, self.race.lil.beta = delta / 5, 0.0, 0.5
            self.race.lil.lambda_ = 1.0 + 10.0 / np.count_nonzero(possible)

    cdef raise_failure(self, pb_status status):
        if status == PB_CALLBACK:
            self.source.raise_error()
        state = self.race.winner
        if status == PB_RANGE:
            spread = self.race.high[state] - self.race.low[state]
            raise ValueError(f"value_range must be at least the spread of each state's rewards; "
                             f"got {self.ranges[state]!r} for state {state}, whose rewards "
                             f"spread over {spread!r}")
        raise ValueError(f"factors must be finite; got {self.race.reward} at factor "
                         f"{self.race.factor}, state {state}")


def _as_ranges(value_range, n_states):
    """Return the range of each state's rewards as an array."""
    ranges = check_in("value_range", value_range, "finite and above 0",
                      lambda c: np.isfinite(c) & (c > 0))
    if ranges.shape not in ((), (n_states,)):
        raise ValueError(f"value_range must be a number or have one value per state, D = "
                         f"{n_states}; got shape {ranges.shape}")
    return np.full(n_states, ranges)
