"""Race of arms with separate populations of factors."""

import numpy as np

from pybandit._shared.checks import check_integer, check_numeric, shown
from pybandit._shared.generators import as_generator
from pybandit.racing import b_normal
from pybandit.racing._named_bounds import as_bound
from pybandit.racing._race import RaceResult
from pybandit.racing._track import check_log_prior
from pybandit.racing.bounds import NormalBound, StudentBound
from pybandit.racing.factors import Factors, Populations

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport PB_CALLBACK, PB_OK, pb_bitgen, pb_status
from pybandit._shared.bits cimport bitgen_of
from pybandit.racing._csrc cimport (
    pb_column, pb_populations, pb_populations_next, pb_populations_run,
)
from pybandit.racing._source cimport Source
from pybandit.racing._track cimport Subsamples

# Rewards of an arm requested at a time.
BLOCK = 16384


def race_populations(populations, log_prior=None, *, bound="student", delta=None,
                     first_look=3, rng=None):
    """Find the arm with the largest ``log_prior_i + sum of its own factors``.

    While `race` compares states on the same N factors, arm i has N_i separate factors here.
    An example is the conditional of an author mention's cluster, a product over the members
    of that cluster. The race is on totals (Chen & Ghahramani 2016, App. C.3, corrected). An
    arm is eliminated if it is behind the leader x by more than::

        B sqrt(v_x + v_i),   v = N^2 s^2 / T (1 - (T - 1) / (N - 1))

    where s^2 is the variance of the arm's T rewards read so far. At its first look the race has
    read `first_look` factors per arm, at the second a tenth of the others in addition, and at each
    later look twice as many.

    Parameters
    ----------
    populations : sequence of array_like of float, or Populations
        One array of factors per arm, of any length; the total of an empty one is 0.
    log_prior : array_like, shape (D,), optional
        Added to the totals; -inf makes an arm impossible. Default 0.
    bound : {"student", "normal"}, StudentBound or NormalBound, default "student"
        ``"normal"``, the bound of the paper, uses variances with divisor T. ``"student"`` uses
        divisor T - 1, replaces B by the Student quantile of the same level with Welch's
        degrees of freedom, and corrects it for the skewness of both arms. It eliminates no
        arm while fewer than five factors of the arm or of the leader differ from the first.
        See `StudentBound`; with ``skewness=False`` it is the normal bound here.
    delta : float, default 0.05
        In (0, 1). Only with a bound given by name; a bound object has its own. The error
        probability of the race is about delta if sums are near normal. Otherwise the error has no
        bound, however small delta is. delta is split over the other D - 1 arms and the looks: ``B
        = Phi^{-1}(1 - delta / (D - 1) / (t - 1))``, where t is the largest number of looks of any
        arm. The `boundary` of a bound object is B itself.
    first_look : int, default 3
        Factors of each arm read before the first look, at least 2.
    rng : None, int, SeedSequence or Generator

    Returns
    -------
    RaceResult
        ``exact`` is True if all factors of every arm left at the last look were read. An
        arm eliminated earlier may have been better.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or a factor that was read is NaN or
        infinite.

    Notes
    -----
    O(1) per factor read. Orders take one bit of memory per factor. The first look at three
    rewards eliminates no arm with ``"student"``; with ``"normal"`` it eliminates most arms, on
    rough estimates. Ctrl-C takes effect between calls of a function. On arrays it takes effect
    only after the race, which reads each array once: 1 s for 20 million factors.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rng = np.random.default_rng(0)
    >>> arms = [rng.normal(mean, 1.0, n) for mean, n in [(-1, 900), (0.5, 800), (-2, 50)]]
    >>> pb.racing.race_populations(arms, rng=0).best
    1
    """
    rng = as_generator(rng)
    cdef PopulationsRun run = PopulationsRun(populations, log_prior,
                                             check_integer("first_look", first_look, 2))
    bound = as_bound(bound, delta)
    if not isinstance(bound, NormalBound):
        raise ValueError(f"bound must be 'student' or 'normal' for populations; got {bound!r}")
    run.race.student = isinstance(bound, StudentBound) and bound.skewness
    run.race.boundary = _boundary(bound, run.race.n_arms, run.n_looks())
    cdef pb_bitgen *bitgen = bitgen_of(rng)
    cdef pb_status status
    if run.source is not None:
        run.source.hold(rng.bit_generator.lock)
    with rng.bit_generator.lock, nogil:
        status = pb_populations_run(&run.race, bitgen)
    if status != PB_OK:
        run.raise_failure(status)
    return RaceResult(run.race.winner, run.race.n_looks, run.race.n_evaluations,
                      bool(run.race.exact))


cdef class PopulationsRun:
    """A pb_populations and its memory."""

    cdef pb_populations race
    cdef Source source
    cdef Subsamples subsamples
    cdef list arrays                 # arrays of the arms, kept alive; None for a function
    cdef const int64_t[::1] sizes
    cdef double[::1] offsets, rewards
    cdef int64_t[::1] alive, indices
    cdef const double **values
    cdef pb_column *columns

    def __cinit__(self, populations, log_prior, int64_t first_look):
        cdef int64_t n_arms
        if isinstance(populations, Populations):
            self.sizes = populations.sizes  # frozen
            self.source = Source(Factors(populations.function, max(1, *populations.sizes),
                                         populations.sizes.size))
            self.race.function = self.source.factors.function
            self.race.user_data = self.source.factors.user_data
        else:
            self.arrays = _as_arrays(populations)
            self.sizes = np.array([array.size for array in self.arrays], dtype=np.int64)
        n_arms = self.race.n_arms = self.sizes.shape[0]
        self.race.sizes = &self.sizes[0]
        self.offsets = (np.zeros(n_arms) if log_prior is None
                        else check_log_prior("log_prior", log_prior, n_arms))
        self.race.offsets = &self.offsets[0]
        self.race.first_look = first_look
        self._lay_out()

    cdef _lay_out(self):
        cdef int64_t i
        cdef const double[::1] array
        self.subsamples = Subsamples(self.sizes)
        self.race.subsamples = self.subsamples.streams
        self.race.block = max(1, min(BLOCK, np.max(self.sizes)))
        self.indices = np.empty(self.race.block, dtype=np.int64)
        self.rewards = np.empty(self.race.block)
        self.alive = np.empty(self.race.n_arms, dtype=np.int64)
        self.race.indices, self.race.rewards = &self.indices[0], &self.rewards[0]
        self.race.alive = &self.alive[0]
        self.columns = <pb_column *>PyMem_RawMalloc(self.race.n_arms * sizeof(pb_column))
        self.values = <const double **>PyMem_RawMalloc(self.race.n_arms * sizeof(double *))
        if not self.columns or not self.values:
            raise MemoryError(f"cannot allocate {self.race.n_arms} arms")
        self.race.columns = self.columns
        if self.arrays is None:
            return
        for i in range(self.race.n_arms):
            array = self.arrays[i]
            self.values[i] = &array[0] if array.shape[0] else NULL
        self.race.values = self.values

    def __dealloc__(self):
        PyMem_RawFree(self.columns)
        PyMem_RawFree(self.values)

    cdef n_looks(self):
        """Return the largest number of looks of any arm."""
        cdef int64_t size, n_read, looks, most = 0
        for size in self.sizes:
            looks, n_read = 0, 0
            while n_read < size:
                n_read = pb_populations_next(size, self.race.first_look, n_read)
                looks += 1
            most = max(most, looks)
        return most

    cdef raise_failure(self, pb_status status):
        if status == PB_CALLBACK:
            self.source.raise_error()
        if self.race.bad_factor < 0:
            raise ValueError(f"populations must be small enough to square; the factors of arm "
                             f"{self.race.winner} spread over more than 1e154")
        raise ValueError(f"populations must be finite; got {self.race.bad_reward} at factor "
                         f"{self.race.bad_factor} of arm {self.race.winner}")


def _boundary(bound, int64_t n_arms, int64_t n_looks):
    """Return B of the bound object, or by a union bound over other arms and partial looks."""
    if bound.boundary is not None:
        return bound.boundary
    if n_arms == 1 or n_looks <= 1:
        return 0.0
    partial = np.arange(1, n_looks) / n_looks  # only their number matters
    return b_normal.boundary(bound.delta / (n_arms - 1), partial, convention="union")


def _as_arrays(populations):
    """Return one contiguous float64 array per arm."""
    if not np.iterable(populations):
        raise TypeError(f"populations must be a sequence of arrays, one per arm, or "
                        f"pybandit.racing.Populations; got {shown(populations)}")
    arrays = [np.ascontiguousarray(check_numeric(f"populations[{i}]", array, copy=False))
              for i, array in enumerate(populations)]
    if not arrays:
        raise ValueError("populations must have at least one arm; got none")
    for i, array in enumerate(arrays):
        if array.ndim != 1:
            raise ValueError(f"populations[{i}] must have shape (N_i,); got {array.shape}")
    return arrays
