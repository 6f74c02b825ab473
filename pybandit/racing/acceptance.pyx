"""Metropolis-Hastings tests by racing: Chen & Ghahramani 2016, Sec. 4.

A proposal is accepted if N log ratios sum to more than a threshold. The test is a race of
two states without Gumbel noise: apart from the order of the factors, the uniform number in
the threshold is the only randomness of the decision.
"""

from pybandit._shared.checks import LARGEST, check_integer
from pybandit._shared.generators import as_generator, unlocked
from pybandit._shared.guard import made_already, not_made
from pybandit.racing._log_ratios import factors_of_ratios
from pybandit.racing._looks import looks_of_tests
from pybandit.racing._named_bounds import words_of
from pybandit.racing._results import as_dict, same, values_of, words

cimport cython
from libc.stdint cimport int64_t, uintptr_t

from pybandit._shared._csrc cimport PB_OK, pb_bitgen, pb_status
from pybandit._shared.bits cimport bitgen_of
from pybandit._shared.guard cimport Guard
from pybandit.racing._accept cimport Workspace, as_threshold

__all__ = ["AcceptResult", "AcceptanceTest", "accept"]


@cython.final
@cython.freelist(8)
cdef class AcceptResult:
    """Decision of a test, and its cost.

    Attributes
    ----------
    accepted : bool
        True if the test decided that the log ratios sum to more than the threshold.
    n_looks : int
        Looks taken; 0 if the test needed no log ratio.
    n_evaluations : int
        Log ratios read, at most N.
    exact : bool
        True if all log ratios were read, or none was needed.

    Notes
    -----
    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> log_ratios = np.random.default_rng(0).normal(0.1, 1.0, 100_000)
    >>> result = pb.racing.accept(log_ratios, np.log(0.5), rng=0)
    >>> result.accepted, result.n_evaluations, result.exact
    (True, 400, False)
    >>> pb.racing.accept([0.1, -0.3], 0.0)     # so few ratios are all read
    AcceptResult(accepted=False, n_looks=1, n_evaluations=2, exact=True)
    """

    cdef readonly bint accepted, exact
    cdef readonly int64_t n_looks, n_evaluations

    __match_args__ = ("accepted", "n_looks", "n_evaluations", "exact")

    def __init__(self, accepted, n_looks, n_evaluations, exact):
        self.accepted = accepted
        self.n_looks = n_looks
        self.n_evaluations = n_evaluations
        self.exact = exact

    def __reduce__(self):
        return AcceptResult, values_of(self)

    def __eq__(self, other):
        return same(self, other)

    def __hash__(self):
        return hash(values_of(self))

    def __repr__(self):
        return words(self, self.__match_args__)

    def to_dict(self):
        """Return all attributes, for JSON."""
        return as_dict(self)


def accept(log_ratios, log_threshold=0.0, *, n_factors=None, bound="student", delta=None,
           looks=None, rng=None):
    """Decide whether log ratios sum to more than a threshold, reading as few as needed.

    This is the Metropolis-Hastings test for a posterior with N data points. A proposal x' is
    accepted if ``sum_n d_n > log(u p(x) q(x'|x) / (p(x') q(x|x')))``, where
    ``d_n = log p(y_n|x') - log p(y_n|x)`` and u is uniform on (0, 1]
    (Chen & Ghahramani 2016, Sec. 4; the threshold is N psi in their notation).

    Parameters
    ----------
    log_ratios : array_like of float, shape (N,), callable or Factors
        d_n. A function, with `n_factors`: ``log_ratios(indices)`` receives n int64 indices and
        returns shape (n,). `Factors` must have one state: their function returns shape (n, 1).
    log_threshold : float, default 0.0
        The threshold; a tie is rejected. -inf accepts and inf rejects, without reading.
    n_factors : int, optional
        N, for a function of indices only.
    bound : {"student", "normal"} or bound object, default "student"
        Decides when the sum differs significantly from the threshold; see `StudentBound`,
        `NormalBound`, `EBSBound` and `BettingBound`. A bound given by name is two-sided here; a
        bound object keeps its convention. The ranges of `EBSBound` (a number) and `BettingBound`
        (``(low, high)``) are those of the log ratios.
    delta : float, default 0.05
        Error probability of the decision, in (0, 1/2). Only with a bound given by name. The
        error is about delta if the sum equals the threshold and ratios are near normal. Otherwise
        the error has no bound, however small delta is: use `BettingBound` for a guarantee.
    looks : Looks, optional
        When the test may decide, and in which order it reads. Its `variance` does not apply.
    rng : None, int, SeedSequence or Generator

    Returns
    -------
    AcceptResult
        ``accepted``, ``n_looks``, ``n_evaluations``, ``exact``.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or a log ratio that was read is NaN
        or infinite. Reject a proposal with likelihood 0 before the test.

    See Also
    --------
    AcceptanceTest : the same test for loops.

    Notes
    -----
    O(T) for T ratios read. Ctrl-C takes effect between calls of a function. On an array it takes
    effect only after the test, which reads the array at most twice: half a second for 10 million
    ratios.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> d = np.random.default_rng(0).normal(0.1, 1.0, 100_000)
    >>> pb.racing.accept(d, np.log(0.5), rng=0)
    AcceptResult(accepted=True, n_looks=4, n_evaluations=400, exact=False)
    """
    cdef Workspace work = Workspace(factors_of_ratios(log_ratios, n_factors), bound, delta,
                                    looks_of_tests(looks), "rejection")
    rng = as_generator(rng)
    work.test(as_threshold(log_threshold), bitgen_of(rng), rng.bit_generator.lock)
    return result_of(work)


cdef AcceptResult result_of(Workspace work):
    cdef AcceptResult result = AcceptResult.__new__(AcceptResult)
    result.accepted, result.exact = work.accept.accepted != 0, work.accept.exact != 0
    result.n_looks, result.n_evaluations = work.accept.n_looks, work.accept.n_evaluations
    return result


cdef class AcceptanceTest:
    """Test of `accept` for loops: checks its options once and keeps its workspace.

    Every test reads the log ratios again. A C-contiguous float64 array is not copied and
    may be changed in place between tests; a function may use the current state of a chain.

    Parameters
    ----------
    log_ratios, n_factors, bound, delta, looks
        As in `accept`. ``Looks.indices`` is ``"permutation"`` by default.
    rng : None, int, SeedSequence or Generator
        Default generator of `test`.

    Attributes
    ----------
    n_factors : int
        N, the number of log ratios.
    schedule : Schedule
        Looks of each test, and the width of its bound at each look.
    address : int
        Address of this object's ``pb_accept`` (pybandit/racing/accept.h), for tests from
        Cython, numba and C; valid while the object lives.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    A test costs O(T) for the T ratios it reads, independent of N. An object holds
    4 * N bytes in addition to the ratios (``indices="permutation"``).

    **Threads.** An object runs one test at a time. Calls from another thread, or from the
    function of its log ratios, raise RuntimeError meanwhile. Use one object per thread; they
    may share the log ratios and a generator, which they lock in turn.

    Examples
    --------
    A random walk on the mean of normal data, flat prior:

    >>> import numpy as np, pybandit as pb
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(1.0, 1.0, 100_000)
    >>> x, new = 1.0, 1.0
    >>> def ratios(indices, states):
    ...     return ((new - x) * (y[indices] - 0.5 * (x + new)))[:, None]
    >>> test = pb.racing.AcceptanceTest(pb.Factors(ratios, y.size, 1), rng=rng)
    >>> for _ in range(100):
    ...     new = x + 0.01 * rng.normal()
    ...     if test.test(-rng.exponential()).accepted:
    ...         x = new
    >>> bool(abs(x - y.mean()) < 0.02)
    True
    """

    cdef Workspace work  # None until __init__ is done
    cdef Guard guard
    cdef object rng, bits_lock
    cdef pb_bitgen *bitgen
    cdef tuple given  # arguments of its workspace

    def __cinit__(self):
        self.guard = Guard(type(self), "a test is under way")

    def __init__(self, log_ratios, *, n_factors=None, bound="student", delta=None, looks=None,
                 rng=None):
        given = (factors_of_ratios(log_ratios, n_factors), bound, delta, looks_of_tests(looks),
                 "permutation")
        self._make(given, as_generator(rng), None)

    cdef _make(self, tuple given, rng, order):
        """Create the workspace; `order` is the order of an unpickled test, or None."""
        cdef Workspace work = Workspace(*given)
        if order is not None:
            work.subsample.take_order(order)
        with self.guard:
            if self.work is not None:
                raise made_already(type(self))
            self._take(rng)
            self.work, self.given = work, given

    def __reduce__(self):
        cdef Workspace work = self.initialised()
        self.guard.enter_to_read()
        try:
            state = self.given, self.rng, work.subsample.order()
        finally:
            self.guard.leave()
        reduced = _restored, (type(self), *state)
        attributes = getattr(self, "__dict__", None)  # of a subclass in Python
        return (*reduced, dict(attributes)) if attributes else reduced

    cdef _take(self, rng):
        self.rng, self.bits_lock = rng, rng.bit_generator.lock
        self.bitgen = bitgen_of(rng)

    def __repr__(self):
        if self.work is None:
            return "<AcceptanceTest: not made>"
        return f"<AcceptanceTest: {self.n_factors:,} log ratios, {words_of(self.work.plan.bound)}>"

    # Returns the workspace; raises if __init__ has not run.
    cdef Workspace initialised(self):
        if self.work is None:
            raise not_made(type(self))
        return self.work

    @property
    def n_factors(self):
        """N, the number of log ratios."""
        return self.initialised().accept.factors.n_factors

    @property
    def schedule(self):
        """Looks of each test, and the width of its bound at each look."""
        return self.initialised().plan.schedule

    @property
    def address(self):
        """Address of this object's ``pb_accept`` (pybandit/racing/accept.h).

        Valid while the object lives. ``pybandit.accept_run`` in Cython, or ``accept_run`` of
        pybandit.embedding in numba, run a test through it without the GIL and write the
        outcome to the struct. They take no lock: use one thread at a time, and not while
        `test` runs. A failed test returns a status; see `raise_status`.
        """
        return <uintptr_t>&self.initialised().accept

    def raise_status(self, status):
        """Raise the exception of `test` for the status of a test through `address`.

        Parameters
        ----------
        status : int
            Status that the latest test returned. Does nothing if it is 0 (PB_OK).

        Raises
        ------
        ValueError
            If a log ratio that was read is NaN, infinite or out of its range; or if
            the latest test did not return this status.
        RuntimeError
            If a test is under way.
        Exception
            The exception that the function of the log ratios raised.
        """
        cdef int64_t given = check_integer("status", status, -LARGEST)
        cdef Workspace work = self.initialised()
        self.guard.enter()
        try:
            if given != work.accept.status:
                raise ValueError(f"status must be that of the latest test; got {given}, but it "
                                 f"returned {<int>work.accept.status}")
            if given != PB_OK:
                work.raise_failure(<pb_status>given)
        finally:
            self.guard.leave()

    def _hold(self, lock):
        """Set the lock that callers of `address` hold; functions run without it."""
        cdef Workspace work = self.initialised()
        work.source.hold(lock)

    def test(self, log_threshold=0.0, *, rng=None):
        """Decide whether the log ratios sum to more than a threshold.

        Parameters
        ----------
        log_threshold : float, default 0.0
            As in `accept`.
        rng : None, int, SeedSequence or Generator
            By default, the generator of the object.

        Returns
        -------
        AcceptResult

        Raises
        ------
        ValueError
            If a log ratio that was read is NaN or infinite; the message names it.
            The object stays usable.
        RuntimeError
            If a test is under way, in another thread or called from the function.
        """
        cdef Workspace work = self.initialised()
        cdef double threshold = as_threshold(log_threshold)
        if rng is not None:
            rng = as_generator(rng)
        left_behind = self.guard.enter()
        try:
            if left_behind:
                work.subsample.renew()
                self._take(unlocked(self.rng))
            if rng is None:
                work.test(threshold, self.bitgen, self.bits_lock)
            else:
                work.test(threshold, bitgen_of(rng), rng.bit_generator.lock)
            return result_of(work)
        finally:
            self.guard.leave()


def _restored(cls, given, rng, order):
    """Return an unpickled test, which continues with the same random numbers."""
    cdef AcceptanceTest test = cls.__new__(cls)
    test._make(given, rng, order)
    return test
