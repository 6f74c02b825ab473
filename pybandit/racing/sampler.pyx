"""Draw states by racing for argmax_i G_i + log f_0(i) + sum_n log f_n(i), G_i standard Gumbel."""

import math

import numpy as np

from pybandit._shared.checks import LARGEST, check_choice, check_integer
from pybandit._shared.generators import as_generator, unlocked
from pybandit._shared.guard import made_already, not_made
from pybandit.racing._looks import as_looks
from pybandit.racing._named_bounds import words_of
from pybandit.racing._results import as_dict, same, values_of, words
from pybandit.racing._track import check_log_prior, index_kind
from pybandit.racing.exact import check_size
from pybandit.racing.factors import KEPT, Factors, as_factors

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t, uint8_t, uintptr_t

from pybandit._shared._csrc cimport PB_OK, pb_bitgen, pb_status
from pybandit._shared.bits cimport bitgen_of
from pybandit._shared.guard cimport Guard
from pybandit.racing._csrc cimport pb_race
from pybandit.racing._track cimport Track, make_track

__all__ = ["DrawInfo", "RacingSampler"]

# Pairs read between two checks for Ctrl-C: a few milliseconds.
READS_BETWEEN_SIGNALS = 1 << 22


@cython.final
@cython.freelist(8)
cdef class DrawInfo:
    """Cost of the draws of `RacingSampler.draw`.

    Attributes
    ----------
    n_evaluations : int or ndarray of int64
        Distinct (factor, state) pairs each draw read, at most N * D.
    n_looks : int or ndarray of int64
        Looks each draw took.
    exact : bool or ndarray of bool
        True if a draw read all factors of its last states. A state eliminated earlier may
        have been better.
    fraction : float
        Mean share of the N * D pairs that a draw read.

    Notes
    -----
    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> factors = np.random.default_rng(0).normal([0.0, 0.0, 0.001], 0.01, (100_000, 3))
    >>> looks = pb.racing.Looks(max_fraction=0.05)
    >>> states, info = pb.RacingSampler(factors, looks=looks, rng=1).draw(4)
    >>> info.n_evaluations, info.exact, round(info.fraction, 3)
    (array([4800, 4000, 3400, 9600]), array([False, False, False, False]), 0.018)
    """

    cdef readonly object n_evaluations, n_looks, exact
    cdef readonly double fraction

    __match_args__ = ("n_evaluations", "n_looks", "exact", "fraction")

    def __init__(self, n_evaluations, n_looks, exact, fraction):
        self.n_evaluations = n_evaluations
        self.n_looks = n_looks
        self.exact = exact
        self.fraction = fraction

    def __reduce__(self):
        return DrawInfo, values_of(self)

    def __eq__(self, other):
        return same(self, other)

    def __repr__(self):
        return words(self, self.__match_args__)

    def to_dict(self):
        """Return all attributes, for JSON: numbers and lists."""
        return as_dict(self)


cdef class RacingSampler:
    """Sampler of ``p(i) proportional to f_0(i) prod_n f_n(i)`` by racing.

    Each draw adds standard Gumbel noise to the log prior and races for the
    largest total (Chen & Ghahramani 2016, Eq. 2 and Algorithm 1). If the race errs with
    probability at most delta for any noise, the distribution of the draws is within
    delta of p in total variation (Proposition 1). With the default bound it errs by about
    delta if differences are near normal. Otherwise the error has no bound, however small delta is:
    use `BettingBound` with a range for a guarantee.

    Every draw reads the factors again. With ``layout="gather"``, an array that is not copied may be
    updated in place between draws, as in a Gibbs sweep. For many draws from an unchanged
    matrix in memory, `exact_sample` needs only one pass over it in total.

    Parameters
    ----------
    factors : array_like of float, shape (N, D), Factors or Blocks
        log f_n(i). Arrays of the types that `race` reads in place are not copied. From `Blocks`,
        a table that was shuffled once, each draw reads whole blocks in a new random order.
        Averaged over shuffles, each draw has the same error as on rows in random order. For a
        given shuffle, draws read the same blocks again, so their errors are not independent.
    log_prior : array_like, shape (D,), optional
        log f_0, up to a constant; -inf makes a state impossible. Default 0.
    bound, delta, looks
        As in `race`.
    layout : {"gather", "shuffled"}
        ``"shuffled"`` keeps a shuffled copy of the matrix and reads runs of 64 rows in
        random order, which is several times faster. For a given shuffle, the subsets of
        successive draws are not independent, nor are their errors. Later changes of the
        matrix have no effect.
    rng : None, int, SeedSequence or Generator
        Default generator of `draw`.

    Attributes
    ----------
    n_factors, n_states : int
    log_prior : ndarray of float64, shape (D,)
        A copy; assign to change it.
    schedule : Schedule
        Looks of each race, and the width of its bound at each look.
    address : int
        Address of this object's ``pb_sampler``, for draws from Cython, numba and C.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    race : finds the largest sum, without noise.
    exact_sample : reads all factors.
    mcmc.RacingGibbs : samples many variables.

    Notes
    -----
    A draw costs O(D T) for the T factors it reads. In addition to the matrix, a sampler holds
    at most 8 * N bytes, and 4 * N more for the permutation.

    **Threads.** A sampler runs one call at a time. While it draws, calls from another thread, or
    from the function of its factors, raise RuntimeError. Use one sampler per thread; they may
    share the factors and a generator, which they lock in turn. ``n_factors``, ``n_states`` and
    ``schedule`` may be read at any time.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> y = np.random.default_rng(1).normal(0.3, 1.0, 100_000)
    >>> means = np.linspace(-1, 1, 11)
    >>> sampler = pb.RacingSampler(-0.5 * (y[:, None] - means) ** 2, rng=2)
    >>> states, info = sampler.draw(1000)
    >>> int(np.bincount(states).argmax()), round(info.fraction, 1)
    (6, 0.2)
    """

    cdef Track track  # None until __init__ is done
    cdef Guard guard
    cdef object rng
    cdef double[::1] _log_prior
    cdef tuple given  # arguments of its track

    def __cinit__(self):
        self.guard = Guard(type(self), "already drawing")

    def __init__(self, factors, log_prior=None, *, bound="student", delta=None, looks=None,
                 layout="gather", rng=None):
        factors = as_factors(factors, KEPT)
        rng = as_generator(rng)
        check_choice("layout", layout, ("gather", "shuffled"))
        order = None
        if layout == "shuffled":
            if isinstance(factors, Factors):
                raise ValueError("layout must be 'gather' for Factors computed on demand; "
                                 "got 'shuffled'")
            order = rng.permutation(factors.shape[0])
            factors = factors[order]
        looks = as_looks(looks)
        kind = "blocks" if order is not None else index_kind(factors, looks.indices, "permutation")
        given = (factors, bound, delta, looks, kind, order)
        self._take(given, log_prior, rng, None)

    cdef _take(self, tuple given, log_prior, rng, order):
        """Create the memory; `order` is the order of an unpickled sampler, or None."""
        cdef double[::1] prior
        cdef Track track
        factors, bound, delta, looks, kind, rows = given
        track = make_track(factors, bound, delta, looks, kind, rows)
        n_states = track.race.factors.n_states
        prior = (np.zeros(n_states) if log_prior is None
                 else check_log_prior("log_prior", log_prior, n_states))
        track.sampler.log_prior = &prior[0]
        track.sampler.totals = track.source.totals
        if order is not None:
            track.subsample.take_order(order)
        with self.guard:
            if self.track is not None:
                raise made_already(type(self))
            self.track, self._log_prior, self.rng, self.given = track, prior, rng, given

    def __reduce__(self):
        cdef Track track = self.initialised()
        self.guard.enter_to_read()
        try:
            state = self.given, np.array(self._log_prior), self.rng, track.subsample.order()
        finally:
            self.guard.leave()
        reduced = _restored, (type(self), *state)
        attributes = getattr(self, "__dict__", None)  # of a subclass in Python
        return (*reduced, dict(attributes)) if attributes else reduced

    def __repr__(self):
        if self.track is None:
            return "<RacingSampler: not made>"
        return (f"<RacingSampler: {self.n_factors:,} factors, {self.n_states:,} states, "
                f"{words_of(self.track.plan.bound)}>")

    # Returns the track; raises if __init__ has not run.
    cdef Track initialised(self):
        if self.track is None:
            raise not_made(type(self))
        return self.track

    @property
    def n_factors(self):
        """N, the number of factors."""
        return self.initialised().race.factors.n_factors

    @property
    def n_states(self):
        """D, the number of states."""
        return self.initialised().race.factors.n_states

    @property
    def schedule(self):
        """Looks of each race, and the width of its bound at each look."""
        return self.initialised().plan.schedule

    @property
    def log_prior(self):
        """log f_0 of each state, as a copy; assign to change it."""
        self.initialised()
        self.guard.enter_to_read()
        try:
            return np.array(self._log_prior)
        finally:
            self.guard.leave()

    @log_prior.setter
    def log_prior(self, values):
        cdef double[::1] checked = check_log_prior("log_prior", values, self.n_states)
        with self.guard:
            self._log_prior[:] = checked  # in place, because the kernel has a pointer to it

    @property
    def address(self):
        """Address of this object's ``pb_sampler`` (pybandit/racing/sampler.h).

        Valid while the object lives; see docs/embedding.md for examples. Draws through it take
        no lock: use one thread at a time, and not while `draw` runs. `raise_status` raises the
        exception of a failed draw.
        """
        return <uintptr_t>&self.initialised().sampler

    def raise_status(self, status):
        """Raise the exception of `draw` for the status of a draw through `address`.

        Parameters
        ----------
        status : int
            Status that the latest draw returned. Does nothing if it is 0 (PB_OK).

        Raises
        ------
        Exception
            As in `draw`, and the exception that the function of the factors raised. ValueError
            if the latest draw did not return this status; MemoryError if the race could not
            enlarge its memory.
        """
        cdef int64_t given = check_integer("status", status, -LARGEST)
        cdef Track track = self.initialised()
        self.guard.enter()
        try:
            if given != track.sampler.status:
                raise ValueError(f"status must be that of the latest draw; got {given}, but it "
                                 f"returned {<int>track.sampler.status}")
            if given != PB_OK:
                track.raise_failure(track.sampler.status)
        finally:
            self.guard.leave()

    def draw(self, size=None, *, rng=None):
        """Draw states.

        Parameters
        ----------
        size : int or tuple of int, optional
            Number of draws. By default, one state, returned as an int.
        rng : None, int, SeedSequence or Generator
            By default, the generator of the sampler.

        Returns
        -------
        states : int or ndarray of int64
            In [0, D).
        info : DrawInfo
            Cost of each draw.

        Raises
        ------
        ValueError
            If a reward that was read is NaN or infinite; the message names
            its factor and state. The sampler stays usable.
        RuntimeError
            If the sampler is already drawing, in another thread or called from the
            function of its factors.
        """
        cdef Track track = self.initialised()
        if rng is not None:
            rng = as_generator(rng)
        left_behind = self.guard.enter()
        try:
            if left_behind:
                track.renew()
                self.rng = unlocked(self.rng)
            if rng is None:
                rng = self.rng
            lock = rng.bit_generator.lock
            track.source.hold(lock)
            with lock:
                if size is None:
                    return self._draw_one(bitgen_of(rng))
                return self._draw_shape(bitgen_of(rng), size)
        finally:
            track.source.hold(None)
            self.guard.leave()

    cdef _draw_one(self, pb_bitgen *bitgen):
        cdef pb_race *race = self.track.race
        cdef int64_t state
        cdef pb_status status
        with nogil:
            status = self.track.draw(bitgen, &state)
        if status != PB_OK:
            self.track.raise_failure(status)
        pairs = <double>race.factors.n_factors * <double>race.factors.n_states
        cdef DrawInfo info = DrawInfo.__new__(DrawInfo)
        info.n_evaluations, info.n_looks = race.n_evaluations, race.n_looks
        info.exact, info.fraction = race.exact != 0, race.n_evaluations / pairs
        return state, info

    cdef _draw_shape(self, pb_bitgen *bitgen, size):
        shape = check_size(size)
        n = math.prod(shape)
        states = np.empty(n, dtype=np.int64)
        evaluations = np.empty(n, dtype=np.int64)
        looks = np.empty(n, dtype=np.int64)
        exact = np.empty(n, dtype=np.uint8)
        self._draw_many(bitgen, states, evaluations, looks, exact)
        fraction = float(evaluations.mean()) / (self.n_factors * self.n_states) if n else 0.0
        return states.reshape(shape), DrawInfo(evaluations.reshape(shape), looks.reshape(shape),
                                               exact.view(np.bool_).reshape(shape), fraction)

    cdef _draw_many(self, pb_bitgen *bitgen, int64_t[::1] states, int64_t[::1] evaluations,
                    int64_t[::1] looks, uint8_t[::1] exact):
        cdef Track track = self.track
        cdef int64_t i, unsignalled = 0, limit = READS_BETWEEN_SIGNALS
        cdef pb_status status = PB_OK
        with nogil:
            for i in range(states.shape[0]):
                status = track.draw(bitgen, &states[i])
                if status != PB_OK:
                    break
                evaluations[i] = track.race.n_evaluations
                looks[i] = track.race.n_looks
                exact[i] = track.race.exact != 0
                unsignalled += evaluations[i]
                if unsignalled > limit:
                    unsignalled = 0
                    with gil:
                        PyErr_CheckSignals()
        if status != PB_OK:
            track.raise_failure(status)


def _restored(cls, given, log_prior, rng, order):
    """Return an unpickled sampler, which continues with the same random numbers."""
    cdef RacingSampler sampler = cls.__new__(cls)
    sampler._take(given, log_prior, rng, order)
    return sampler
