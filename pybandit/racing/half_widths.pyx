"""Half-widths of means of finite populations, vectorised.

Every function broadcasts its arguments as in NumPy. It returns a float64 array, or a float
if all arguments are scalars.
"""

import numpy as np

from pybandit._shared.checks import check_in, nonnegative, plain

cimport cython

from pybandit._shared._csrc cimport (
    pb_bounds_bernstein_serfling, pb_bounds_bernstein_serfling_terms, pb_bounds_normal,
)

__all__ = ["empirical_bernstein_serfling", "normal", "student"]


@cython.ufunc
cdef double _normal(double n, double population, double std, double boundary) noexcept nogil:
    return pb_bounds_normal(n, population, std, boundary)


@cython.ufunc
cdef double _bernstein_serfling(double n, double population, double std, double value_range,
                                double delta) noexcept nogil:
    return pb_bounds_bernstein_serfling(n, population, std, value_range, delta)


@cython.ufunc
cdef (double, double) _bernstein_serfling_terms(double n, double population,
                                                double delta) noexcept nogil:
    cdef double scale, slack
    pb_bounds_bernstein_serfling_terms(n, population, delta, &scale, &slack)
    return scale, slack


def normal(n, population_size, std, boundary):
    """Return the half-width of the normal bound with finite-population correction.

    ``std / sqrt(n) * sqrt(1 - (n - 1) / (population_size - 1)) * boundary``:
    Chen & Ghahramani 2016, Eq. 9. It is approximate: it treats the mean of `n`
    values as normal and `std` as known.

    Parameters
    ----------
    n : array_like
        Values read, without replacement; 1 <= n <= population_size.
    population_size : array_like
        Population size N, at least 1.
    std : array_like
        Standard deviation of the values, in their units; >= 0.
    boundary : array_like
        Boundary constant B in standard errors; see `b_normal`.

    Returns
    -------
    float or ndarray
        Half-width in the units of `std`; 0 if n = population_size.

    Raises
    ------
    ValueError
        If an argument is outside its range or NaN.

    Examples
    --------
    >>> import pybandit as pb
    >>> round(pb.bounds.normal(50, 100_000, 1.0, 3.0), 6)
    0.42416
    """
    n, population_size = _check_sizes(n, population_size)
    std = check_in("std", std, "finite and at least 0", nonnegative)
    boundary = check_in("boundary", boundary, "finite", np.isfinite)
    return plain(_normal(n, population_size, std, boundary))


def student(n, population_size, std, boundary):
    """Return the half-width of the Student bound: `normal` with an estimated `std`.

    The boundary B becomes the Student quantile ``t_{n-1}^{-1}(Phi(B))``. With an
    estimated standard deviation, the error of `normal` exceeds its delta (with 50
    values and delta = 0.001 by 27 to 64%). The error of the Student bound does not, if
    the differences are normal.

    Parameters
    ----------
    n : array_like
        Values read, without replacement; 2 <= n <= population_size.
    population_size : array_like
        Population size N, at least 2.
    std : array_like
        Unbiased standard deviation (divisor n - 1) of the values read; >= 0.
    boundary : array_like
        Boundary constant B in standard errors; see `b_normal`.

    Returns
    -------
    float or ndarray
        Half-width in the units of `std`; 0 if n = population_size.

    Raises
    ------
    ValueError
        If an argument is outside its range or NaN.

    See Also
    --------
    normal : for a known standard deviation.
    empirical_bernstein_serfling : for any values in a range.

    Examples
    --------
    >>> import pybandit as pb
    >>> round(pb.bounds.student(50, 100_000, 1.0, 3.0), 6)
    0.446854
    >>> pb.bounds.student([5, 50, 500], 100_000, 1.0, 3.0).round(3)
    array([2.961, 0.447, 0.135])
    """
    n, population_size = _check_sizes(n, population_size)
    check_in("n", n, "at least 2 to estimate a standard deviation", lambda x: x >= 2)
    std = check_in("std", std, "finite and at least 0", nonnegative)
    boundary = check_in("boundary", boundary, "finite", np.isfinite)
    with np.errstate(invalid="ignore"):
        width = _normal(n, population_size, std, student_quantile(n - 1, boundary))
    return plain(np.where(np.isnan(width), 0.0, width))  # NaN is 0 * inf


def student_quantile(degrees, boundary):
    """Return the Student quantile with the tail probability of the normal quantile `boundary`."""
    from scipy import special

    boundary = np.asarray(boundary, dtype=np.float64)
    # use the lower tail: 1 - p loses all digits at p = 1e-16
    quantile = -special.stdtrit(degrees, special.ndtr(-boundary))
    # for a tail of 0, or nearly 0, SciPy returns an infinity of the wrong sign
    return np.where(np.isfinite(quantile), quantile, np.copysign(np.inf, boundary))


def empirical_bernstein_serfling(n, population_size, std, value_range, delta):
    """Return the half-width of the empirical Bernstein-Serfling bound; holds for any values.

    ``std * sqrt(2 rho L / n) + kappa * value_range * L / n`` with
    ``L = log(5 / delta)``, ``kappa = 7/3 + 3/sqrt(2)`` and ``rho = 1 - (n-1)/N``
    for n <= N/2, ``(1 - n/N)(1 + 1/n)`` for larger n: Chen & Ghahramani 2016, Eq. 6,
    after Bardenet & Maillard 2015.

    Parameters
    ----------
    n : array_like
        Values read, without replacement; 1 <= n <= population_size.
    population_size : array_like
        Population size N, at least 1.
    std : array_like
        Standard deviation of the values read, with divisor n; >= 0.
    value_range : array_like
        Largest minus smallest value of the population; >= 0.
    delta : array_like
        Error probability of this one interval, in (0, 1).

    Returns
    -------
    float or ndarray
        Half-width in the units of `std`; 0 if n = population_size.

    Raises
    ------
    ValueError
        If an argument is outside its range or NaN.

    Examples
    --------
    >>> import pybandit as pb
    >>> round(pb.bounds.empirical_bernstein_serfling(100, 1000, 1.0, 4.0, 0.05), 12)
    1.108648993258
    """
    n, population_size = _check_sizes(n, population_size)
    std = check_in("std", std, "finite and at least 0", nonnegative)
    value_range = check_in("value_range", value_range, "finite and at least 0", nonnegative)
    delta = check_in("delta", delta, "in (0, 1)", lambda x: (x > 0) & (x < 1))
    return plain(_bernstein_serfling(n, population_size, std, value_range, delta))


def bernstein_serfling_terms(n, population_size, delta):
    """Return (scale, slack): the half-width is ``std * scale + value_range * slack``."""
    return _bernstein_serfling_terms(
        np.asarray(n, dtype=np.float64), float(population_size), float(delta)
    )


def _check_sizes(n, population_size):
    population_size = check_in("population_size", population_size, "finite and at least 1",
                               lambda x: np.isfinite(x) & (x >= 1))
    n = check_in("n", n, "at least 1", lambda x: x >= 1)
    over = n > population_size
    if np.any(over):
        raise ValueError(f"n must be at most population_size; got n={n!r}, population_size="
                         f"{population_size!r}")
    return n, population_size
