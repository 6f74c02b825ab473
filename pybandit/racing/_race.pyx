"""One race over a finite population: Chen & Ghahramani 2016, Algorithm 1."""

from pybandit._shared.generators import as_generator
from pybandit.racing._looks import as_looks
from pybandit.racing._results import as_dict, same, values_of, words
from pybandit.racing._track import check_log_prior, index_kind
from pybandit.racing.factors import KEPT, as_factors

cimport cython
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from pybandit._shared._csrc cimport PB_OK, pb_bitgen, pb_status
from pybandit._shared.bits cimport bitgen_of
from pybandit.racing._track cimport Track, make_track

__all__ = ["RaceResult", "race"]


@cython.final
@cython.freelist(8)
cdef class RaceResult:
    """Best state of a race, and the cost of finding it.

    Attributes
    ----------
    best : int
        Best state, in [0, D).
    n_looks : int
        Looks taken; 0 if there was nothing to decide.
    n_evaluations : int
        Distinct (factor, state) pairs read, at most N * D.
    exact : bool
        True if all factors of the last states were read, or none was needed. A state
        eliminated earlier may have been better.
    decided : bool
        True.

    Notes
    -----
    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> factors = np.random.default_rng(0).normal([0.0, 0.1, 0.3], 1.0, (100_000, 3))
    >>> result = pb.race(factors, rng=1)
    >>> result.best, result.n_looks, result.n_evaluations, result.exact
    (2, 3, 450, False)
    """

    cdef readonly int64_t best, n_looks, n_evaluations
    cdef readonly bint exact

    __match_args__ = ("best", "n_looks", "n_evaluations", "exact")

    def __init__(self, best, n_looks, n_evaluations, exact):
        self.best = best
        self.n_looks = n_looks
        self.n_evaluations = n_evaluations
        self.exact = exact

    def __reduce__(self):
        return RaceResult, values_of(self)

    def __eq__(self, other):
        return same(self, other)

    def __hash__(self):
        return hash(values_of(self))

    def __repr__(self):
        return words(self, self.__match_args__)

    def to_dict(self):
        """Return all attributes, for JSON."""
        return as_dict(self)

    @property
    def decided(self):
        """True: a race ends when one state is left."""
        return True

    def summary(self):
        """Return one sentence with the best state and the cost."""
        how = "from all factors of the last states" if self.exact else "by its bound"
        return (f"State {self.best} is the best, found {how}; evaluations: "
                f"{self.n_evaluations:,}, looks: {self.n_looks:,}.")

    def _repr_html_(self):
        return f"<p>{self.summary()}</p>"


def race(factors, log_prior=None, *, bound="student", delta=None, looks=None, rng=None):
    """Find ``argmax_i log_prior_i + sum_n log f_n(i)``, reading as few factors as needed.

    Reads factors without replacement, the same ones for every surviving state, until
    the bound leaves one state (Chen & Ghahramani 2016, Algorithm 1). No noise is added:
    with standard Gumbel noise plus log f_0 as `log_prior`, ``best`` is a draw from the
    distribution. For many draws, `RacingSampler` costs less.

    Parameters
    ----------
    factors : array_like of float, shape (N, D), Factors or Blocks
        log f_n(i) of factor n and state i. C-contiguous arrays of bool, uint8, int8, float32 and
        float64, in memory or memory-mapped, are not copied; each cell is converted to float64
        when it is read. A memmap of another type is read in place. `Blocks`, a shuffled table
        larger than memory, are read one whole block at a time, in random order; `Blocks` describes
        which randomness remains.
    log_prior : array_like, shape (D,), optional
        log f_0, up to a constant: added to the totals, not to each factor; -inf makes a state
        impossible. Default 0.
    bound : {"student", "normal"} or a bound object, default "student"
        Decides when a gap is significant; see `StudentBound`, `NormalBound`, `EBSBound` and
        `BettingBound`. The last two guarantee their error probability for any rewards of known
        range. `BettingBound` decides after every factor.
    delta : float, default 0.05
        Probability of a wrong answer, in (0, 1). Only with a bound given by name; a bound
        object has its own. The error is about delta if differences are near normal. Otherwise the
        error has no bound, however small delta is: use `BettingBound` for a guarantee.
    looks : Looks, optional
        When the race may decide, and in which order it reads. `Looks.indices` must be
        ``"auto"`` for `Blocks`.
    rng : None, int, SeedSequence or Generator

    Returns
    -------
    RaceResult
        ``best``, ``n_looks``, ``n_evaluations``, ``exact``.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or a reward that was read is NaN
        or infinite (rewards that were not read are not checked).

    See Also
    --------
    RacingSampler : draws states instead of finding the largest total.
    race_populations : arms with separate populations of factors.
    lil_ucb : another algorithm for the same problem.
    accept : compares a sum with a threshold.

    Notes
    -----
    Time O(D T) for T <= N factors read, however often the leader changes. On an array, rows at
    random take at most about a quarter of the time of a full pass. Then everything is read in
    order, and ``n_evaluations`` is up to N * D (see `Looks`). With `BettingBound` an undecided
    race takes 2 to 5 times as long as a pass, because it compares every value with the range as
    well. Ctrl-C takes effect between calls of a function. On a matrix it takes effect only after
    the race, which reads the matrix at most twice: half a second for 10 million rows of two
    states.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> scores = np.random.default_rng(0).normal([0.0, 0.1, 0.5], 1.0, (100_000, 3))
    >>> result = pb.race(scores, rng=0)
    >>> result.best, result.n_evaluations
    (2, 250)
    """
    rng = as_generator(rng)
    factors = as_factors(factors, KEPT)
    looks = as_looks(looks)
    cdef Track track = make_track(factors, bound, delta, looks,
                                  index_kind(factors, looks.indices, "rejection"), None)
    cdef pb_bitgen *bitgen = bitgen_of(rng)
    cdef pb_status status
    cdef double[::1] given
    if log_prior is not None:
        given = check_log_prior("log_prior", log_prior, track.race.factors.n_states)
        memcpy(track.offsets, &given[0], given.shape[0] * sizeof(double))
    track.source.add_totals(track.offsets)
    track.source.hold(rng.bit_generator.lock)
    with rng.bit_generator.lock, nogil:
        status = track.run(bitgen)
    if status != PB_OK:
        track.raise_failure(status)
    return RaceResult(track.race.winner, track.race.n_looks, track.race.n_evaluations,
                      bool(track.race.exact))
