"""Boundary constants for races with several looks (csrc/racing/b_normal.c)."""

import functools

import numpy as np

from pybandit._shared.checks import (
    LARGEST, MOST_PULLS, check_choice, check_in, check_integer, check_scalar, nonnegative, plain,
    shown,
)

from pybandit._shared._csrc cimport PB_OK
from pybandit.racing._csrc cimport (
    PB_ONE_SIDED, PB_TWO_SIDED, PB_UNION, pb_b_normal_error, pb_b_normal_memory,
    pb_b_normal_solve, pb_convention,
)

__all__ = ["b_normal", "boundary", "crossing_probability", "normal_sample_complexity"]

# Smallest relative difference of the odds of two looks; closer ones would take seconds each.
CLOSEST_ODDS = 1e-5
_CONVENTIONS = {"one-sided": PB_ONE_SIDED, "two-sided": PB_TWO_SIDED, "union": PB_UNION}


def b_normal(delta, first_fraction, *, convention="one-sided"):
    """Return the boundary constant B of a race with doubling looks: E(B) = delta.

    A race that looks after the fractions pi, 2 pi, 4 pi, ... of the population
    errs with probability `delta` if it stops at the first standardised mean
    beyond B (Chen & Ghahramani 2016, Eq. 5 and 8). B is accurate to 1e-9.

    Parameters
    ----------
    delta : array_like
        Error probability of one comparison, in (0, 1/2).
    first_fraction : array_like
        pi, the fraction m1/N read at the first look, in (0, 1].
    convention : {"one-sided", "two-sided", "union"}
        ``"one-sided"``: E(B) = P(some z_t > B), as the guarantee of a race
        requires. ``"two-sided"``: E(B) = P(some \\|z_t\\| > B) / 2, the error of
        two arms without a gap; correct for two states, and printed in the paper's
        Table 1. ``"union"``: the sum of the errors of the looks (Eq. 27); looser.

    Returns
    -------
    float or ndarray
        B in standard errors; 0 if the first look reads everything.

    Raises
    ------
    ValueError
        If `delta` or `first_fraction` is outside its range.

    Notes
    -----
    Takes up to 1 ms per value; solved values are cached.

    Examples
    --------
    >>> import pybandit as pb
    >>> round(pb.bounds.b_normal(0.05, 0.0005), 6)
    2.50327
    """
    check_choice("convention", convention, _CONVENTIONS)
    delta = _check_delta(delta)
    first = check_in("first_fraction", first_fraction, "in (0, 1]", lambda x: (x > 0) & (x <= 1))
    solved = [
        _solve(float(d), doubling_fractions(float(f)), convention)
        for d, f in np.broadcast(delta, first)
    ]
    shape = np.broadcast_shapes(delta.shape, first.shape)
    return plain(np.array(solved, dtype=np.float64).reshape(shape))


def boundary(delta, fractions, *, convention="one-sided"):
    """Return the boundary constant B of a race with any schedule of looks; see `b_normal`.

    Parameters
    ----------
    delta : float
        Error probability of one comparison, in (0, 1/2).
    fractions : array_like, shape (n_looks,)
        Fractions of the population read at the looks that do not read everything:
        strictly increasing, in (0, 1). Their odds must differ by a relative 1e-5 at
        least. An empty array gives 0.
    convention : {"one-sided", "two-sided", "union"}

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `delta` or `fractions` is outside its range.

    See Also
    --------
    b_normal : the constant for doubling looks.
    crossing_probability : the inverse.

    Notes
    -----
    O(n_looks nodes^2), with about 30 nodes for doubling looks and more for closer looks
    or for delta below 1e-4. Solved values are cached. B is accurate to 1e-9 for delta
    down to 1e-200.

    Examples
    --------
    >>> import pybandit as pb
    >>> round(pb.bounds.boundary(0.05, [0.1, 0.4, 0.7]), 6)
    2.079521
    >>> round(pb.bounds.boundary(0.05, []), 6)      # no partial look: all is read at once
    0.0
    """
    check_choice("convention", convention, _CONVENTIONS)
    return _solve(_check_one_delta(delta), tuple(_check_fractions(fractions).tolist()),
                  convention)


def crossing_probability(boundary, fractions, *, convention="one-sided"):
    """Return E(B), the probability that `boundary` is crossed at one of the looks.

    Parameters
    ----------
    boundary : float
        B in standard errors, >= 0.
    fractions : array_like, shape (n_looks,)
        As in `pybandit.bounds.boundary`.
    convention : {"one-sided", "two-sided", "union"}
        As in `b_normal`.

    Returns
    -------
    float
        For ``"union"`` the sum over the looks, which may exceed 1.

    Raises
    ------
    ValueError
        If `boundary` or `fractions` is outside its range.

    See Also
    --------
    boundary : the inverse.

    Examples
    --------
    >>> import pybandit as pb
    >>> level = pb.bounds.boundary(0.05, [0.1, 0.4, 0.7])
    >>> round(pb.bounds.crossing_probability(level, [0.1, 0.4, 0.7]), 9)
    0.05
    >>> round(pb.bounds.crossing_probability(1.645, [0.1, 0.4, 0.7]), 3)   # peeking thrice at 5 %
    0.124
    """
    check_choice("convention", convention, _CONVENTIONS)
    cdef double level = check_scalar("boundary", boundary, "finite and at least 0", nonnegative)
    cdef const double[::1] looks = _check_fractions(fractions)
    cdef pb_convention code = _CONVENTIONS[convention]
    if looks.shape[0] == 0:
        return 0.0
    cdef double[::1] memory = np.empty(pb_b_normal_memory(&looks[0], looks.shape[0]))
    return pb_b_normal_error(level, &looks[0], looks.shape[0], code, &memory[0])


def normal_sample_complexity(gap, population_size, n_states, *, delta=0.05, first_look=50,
                             convention="one-sided"):
    """Return the number of rewards that a race with the normal bound reads.

    Proposition 7 of Chen & Ghahramani 2016, corrected:
    ``T* = D [N / ((N - 1) gap^2 / (4 B^2) + 1)]``. The bracket is rounded up to
    ``first_look * 2^k`` and is at least `first_look` and at most N; B is the constant for
    ``delta / (D - 1)``.

    Parameters
    ----------
    gap : array_like
        Distance of the best mean from the second best, in standard deviations
        of the rewards; >= 0.
    population_size : int
        Number of factors N, at least 1.
    n_states : int
        Number of states D, at least 2.
    delta : float, default 0.05
        Error probability of the race, in (0, 1/2).
    first_look : int, default 50
        Factors read at the first look (m1), at least 2.
    convention : {"one-sided", "two-sided", "union"}, default "one-sided"
        As in `b_normal`.

    Returns
    -------
    int or ndarray of int64
        Number of rewards, over all states.

    Raises
    ------
    ValueError
        If an argument is outside its range, or ``D N`` exceeds the range of int64.

    Examples
    --------
    >>> import pybandit as pb
    >>> pb.bounds.normal_sample_complexity(0.1, 100_000, 2)
    6400
    """
    gap = check_in("gap", gap, "finite and at least 0", nonnegative)
    population_size = check_integer("population_size", population_size, 1, MOST_PULLS)
    n_states = check_integer("n_states", n_states, 2, MOST_PULLS)
    first_look = check_integer("first_look", first_look, 2, MOST_PULLS)
    if n_states * population_size > LARGEST:
        raise ValueError(f"n_states * population_size must be at most {LARGEST}; got {n_states} * "
                         f"{population_size}")
    delta = _check_one_delta(delta)
    level = b_normal(delta / (n_states - 1), min(1.0, first_look / population_size),
                     convention=convention)
    if level == 0.0:
        needed = np.full(gap.shape, population_size)
    else:
        with np.errstate(over="ignore"):  # for gaps above 1e154, the first look suffices
            needed = population_size / ((population_size - 1) * gap**2 / (4 * level**2) + 1)
    rows = np.full(gap.shape, first_look, dtype=np.int64)
    while np.any(rows < needed):
        rows[rows < needed] *= 2
    total = n_states * np.minimum(rows, population_size)
    return int(total) if total.ndim == 0 else total


def doubling_fractions(first_fraction):
    """Return the values first_fraction * 2^k below 1."""
    fractions = []
    while first_fraction < 1.0:
        fractions.append(first_fraction)
        first_fraction *= 2.0
    return tuple(fractions)


def _check_one_delta(delta):
    """Return `delta` as a float; it must be a single number."""
    return check_scalar("delta", _check_delta(delta), "a number", np.isfinite)


def _check_delta(delta):
    """Return `delta` as float64; E(B) = delta has a solution B > 0 only below 1/2."""
    return check_in("delta", delta, "in (0, 0.5), where E(B) = delta has a solution",
                    lambda x: (x > 0) & (x < 0.5))


@functools.lru_cache(maxsize=4096)
def _solve(double delta, tuple fractions, convention):
    if not fractions:
        return 0.0
    cdef double[::1] looks = np.array(fractions)
    cdef double[::1] memory = np.empty(pb_b_normal_memory(&looks[0], looks.shape[0]))
    cdef double level = 0.0
    cdef pb_convention code = _CONVENTIONS[convention]
    if pb_b_normal_solve(delta, &looks[0], looks.shape[0], code, &memory[0], &level) != PB_OK or (
            level != level):
        raise ValueError(f"delta must be in (0, 0.5), where E(B) = delta has a solution; "
                         f"got {delta!r}")
    return level


def _check_fractions(fractions):
    looks = check_in("fractions", fractions, "in (0, 1)", lambda x: (x > 0) & (x < 1))
    if looks.ndim != 1 or np.any(np.diff(looks) <= 0):
        raise ValueError(f"fractions must be one-dimensional and strictly increasing; "
                         f"got {shown(fractions)}")
    odds = looks / (1 - looks)
    close = np.flatnonzero(np.diff(np.log(odds)) < CLOSEST_ODDS)
    if close.size:
        raise ValueError(f"fractions must be far enough apart: odds pi / (1 - pi) that differ by "
                         f"{CLOSEST_ODDS:g} at least; got {looks[close[0]]!r} and "
                         f"{looks[close[0] + 1]!r}")
    return np.ascontiguousarray(looks)
