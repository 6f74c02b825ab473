"""Vectorised bounds of index policies and of a variance; public in `pybandit.bounds`."""

import numpy as np

from pybandit._shared.checks import check_in, plain

cimport cython
from libc.math cimport log, sqrt

from pybandit.policies._csrc cimport pb_kl_lower, pb_kl_round, pb_kl_upper

__all__ = ["kl_ucb", "kl_variance", "ucb1", "ucb_v"]


@cython.ufunc
cdef double _ucb1(double mean, double n, double t, double exploration) noexcept nogil:
    return mean + sqrt(exploration * log(t) / n)


@cython.ufunc
cdef double _ucb_v(double mean, double variance, double n, double t, double c, double zeta,
                   double value_range) noexcept nogil:
    cdef double level = zeta * log(t) / n
    return mean + sqrt(2.0 * variance * level) + 3.0 * c * value_range * level


@cython.ufunc
cdef double _kl_ucb(double mean, double n, double t) noexcept nogil:
    return pb_kl_upper(mean, pb_kl_round(t) / n)


@cython.ufunc
cdef (double, double) _kl_variance(double statistic, double level) noexcept nogil:
    return 0.5 * pb_kl_lower(2.0 * statistic, level), 0.5 * pb_kl_upper(2.0 * statistic, level)


def ucb1(mean, n, t, *, exploration=2.0):
    """Return the index of `UCB1`: ``mean + sqrt(exploration log(t) / n)``; Auer et al. 2002.

    Parameters
    ----------
    mean : array_like
        Mean reward of the arm; finite.
    n : array_like
        Number of its rewards, at least 1.
    t : array_like
        The round, at least 1.
    exploration : array_like, default 2.0
        Factor of log(t); above 0.

    Returns
    -------
    float or ndarray

    Raises
    ------
    ValueError
        If an argument is outside its range or NaN.

    Examples
    --------
    >>> import pybandit as pb
    >>> round(pb.bounds.ucb1(0.5, 1, 3), 12)
    1.982303807368
    """
    mean = check_in("mean", mean, "finite", np.isfinite)
    return plain(_ucb1(mean, *_rounds(n, t), _positive("exploration", exploration)))


def ucb_v(mean, variance, n, t, *, value_range=(0, 1), c=1.0, zeta=1.2):
    """Return the index of `UCBV`; Audibert et al. 2009.

    ``mean + sqrt(2 variance zeta log(t) / n) + 3 c (high - low) zeta log(t) / n``, where
    ``(low, high)`` is `value_range`.

    Parameters
    ----------
    mean : array_like
        Mean reward of the arm; finite.
    variance : array_like
        Population variance (divisor n) of its rewards; at least 0.
    n, t : array_like
        Number of its rewards and the round, at least 1.
    value_range : (array_like, array_like), default (0, 1)
        ``(low, high)`` of all rewards, low below high.
    c : array_like, default 1.0
        Factor of the term with the range; at least 0.
    zeta : array_like, default 1.2
        Factor of log(t); above 0.

    Returns
    -------
    float or ndarray

    Raises
    ------
    ValueError
        If an argument is outside its range or NaN.

    Examples
    --------
    >>> import pybandit as pb
    >>> round(pb.bounds.ucb_v(0.5, 0.25, 1, 3), 12)
    5.266895471576
    """
    mean = check_in("mean", mean, "finite", np.isfinite)
    variance = check_in("variance", variance, "finite and at least 0",
                        lambda x: np.isfinite(x) & (x >= 0))
    c = check_in("c", c, "finite and at least 0", lambda x: np.isfinite(x) & (x >= 0))
    return plain(_ucb_v(mean, variance, *_rounds(n, t), c, _positive("zeta", zeta),
                        _width(value_range)))


def kl_ucb(mean, n, t):
    """Return the index of `KLUCB`; Cappe et al. 2013.

    ``sup {q in [mean, 1] : n kl(mean, q) <= f(t)}``, where ``f(t) = log t + 3 log log t`` for
    t >= 3 and f(3) before, and kl is the divergence of two Bernoulli distributions.

    Parameters
    ----------
    mean : array_like
        Mean reward of the arm, in [0, 1].
    n, t : array_like
        Number of its rewards and the round, at least 1.

    Returns
    -------
    float or ndarray
        In [mean, 1], exact to a few units in the last place.

    Raises
    ------
    ValueError
        If an argument is outside its range or NaN.

    Examples
    --------
    >>> import pybandit as pb
    >>> round(pb.bounds.kl_ucb(0.9, 50, 1000), 12)
    0.996860422309
    """
    mean = check_in("mean", mean, "in [0, 1]", lambda x: (x >= 0) & (x <= 1))
    return plain(_kl_ucb(mean, *_rounds(n, t)))


def kl_variance(pair_statistic, n_pairs, delta):
    """Return Kullback-Leibler bounds of a variance, valid for all numbers of pairs at once.

    Neufeld et al. 2014, Appendix D, Corollary 1: the v with ``n kl(2 V, 2 v) <= delta``, where
    ``V = sum_s Z_s / (2 n)`` and ``Z_s = Q_s (Y_2s - Y_2s-1)^2`` in [0, 1] for n pairs of
    independent draws. Q_s is 1, or the cost of the pair over its maximum, independent of the
    draws. With probability at least ``1 - 2 e max(1, ceil(delta log n)) exp(-delta)`` the bounds
    contain E[Q] Var[Y] for every number of pairs up to n. The paper has no maximum: at n = 1 its
    formula would promise probability 1, although a small delta covers nothing there.

    Parameters
    ----------
    pair_statistic : array_like
        V, in [0, 1/2].
    n_pairs : array_like
        n, at least 1.
    delta : array_like
        Above 0: an exponent, not the error probability. Larger is safer and wider.

    Returns
    -------
    lower, upper : float or ndarray
        In [0, V] and in [V, 1/2].

    Raises
    ------
    ValueError
        If an argument is outside its range or NaN.

    Examples
    --------
    >>> import pybandit as pb
    >>> [round(bound, 6) for bound in pb.bounds.kl_variance(0.125, 200, 8.0)]
    [0.071289, 0.191713]
    """
    statistic = check_in("pair_statistic", pair_statistic, "in [0, 0.5]",
                         lambda x: (x >= 0) & (x <= 0.5))
    n = _at_least_one("n_pairs", n_pairs)
    lower, upper = _kl_variance(statistic, _positive("delta", delta) / n)
    return plain(lower), plain(upper)


def _width(value_range):
    """Return high - low of a range, which may broadcast with the other arguments."""
    ends = check_in("value_range", value_range, "finite", np.isfinite)
    if ends.shape[:1] != (2,) or not (ends[0] < ends[1]).all():
        raise ValueError("value_range must be (low, high) with low below high; got "
                         f"{value_range!r}")
    with np.errstate(over="ignore"):
        return check_in("value_range", ends[1] - ends[0], "of finite width", np.isfinite)


def _rounds(n, t):
    return _at_least_one("n", n), _at_least_one("t", t)


def _at_least_one(name, value):
    return check_in(name, value, "finite and at least 1", lambda x: np.isfinite(x) & (x >= 1))


def _positive(name, value):
    return check_in(name, value, "finite and above 0", lambda x: np.isfinite(x) & (x > 0))
