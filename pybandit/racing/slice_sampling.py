"""Slice sampling (Neal 2003) by the acceptance test of Chen & Ghahramani 2016."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pybandit._shared.checks import (
    check_integer,
    check_numeric,
    numbers_returned,
    read_only,
    shown,
)
from pybandit._shared.generators import as_generator
from pybandit._shared.types import ArrayLike, Floats, Ints, Rng
from pybandit.racing._looks import Looks
from pybandit.racing._results import Record
from pybandit.racing.acceptance import AcceptanceTest
from pybandit.racing.bounds import BettingBound, EBSBound, NormalBound
from pybandit.racing.factors import Factors

__all__ = ["SliceResult", "slice_sample"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SliceResult(Record):
    """Next state of a chain, and its cost.

    Attributes
    ----------
    x : float or ndarray of float64, shape (d,)
        The next state; a float or an array like the state passed in.
    n_tests : int
        Number of points tested, over all coordinates.
    n_evaluations : int
        Factors read, over all tests; each gives two log likelihoods.
    fraction : float
        Share of the ``n_tests * n_factors`` factors that were read.

    Notes
    -----
    **Threads.** Immutable: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> y = np.random.default_rng(0).normal(1.0, 1.0, 10_000)
    >>> def log_likelihood(indices, points):
    ...     return -0.5 * (y[indices, None] - points) ** 2
    >>> step = pb.racing.slice_sample(log_likelihood, 1.0, n_factors=y.size, width=0.05, rng=1)
    >>> round(step.x, 2), step.n_tests, step.n_evaluations, round(step.fraction, 2)
    (1.02, 4, 28000, 0.7)
    """

    x: float | np.ndarray
    n_tests: int
    n_evaluations: int
    fraction: float


def slice_sample(log_likelihood: Callable[[Ints, Floats], ArrayLike], x: ArrayLike, *,
                 n_factors: int, log_prior: Callable[[Floats], float] | None = None,
                 width: ArrayLike = 1.0, max_steps: int = 16, lower: ArrayLike = -math.inf,
                 upper: ArrayLike = math.inf,
                 bound: str | NormalBound | EBSBound | BettingBound = "student",
                 delta: float | None = None, looks: Looks | None = None,
                 rng: Rng = None) -> SliceResult:
    """Update x by slice sampling, reading few of the factors of its posterior.

    An update steps out from x by `width` and shrinks back to a point in the slice
    (Neal 2003, Fig. 3 and 5). To decide whether a point x' is in the slice, it runs the test
    of `accept` with ``d_n = log p(y_n|x') - log p(y_n|x)`` and threshold
    ``log u + log p(x) - log p(x')``. All tests of an update use the same u; each uses a new
    order of the factors.

    Parameters
    ----------
    log_likelihood : callable
        ``log_likelihood(indices, points)`` receives n int64 factor indices and the current
        and the proposed point, shape (2,), or (2, d) for an array x. It returns a
        float64 array (n, 2) of log p(y_n | point).
    x : float or array_like, shape (d,)
        The current state. The coordinates of an array are updated in turn.
    n_factors : int
        N, at least 1.
    log_prior : callable, optional
        ``log_prior(point)`` receives a float or an array (d,) and returns a float, or -inf if
        the prior is 0 there; it must be finite at x. Flat by default.
    width : float or array_like of shape (d,), default 1.0
        Approximate width of a slice; > 0.
    max_steps : int, default 16
        The interval is extended to at most `max_steps` times `width`; at least 1.
    lower, upper : float or array_like of shape (d,), optional
        Support of the prior: x' stays in [lower, upper].
    bound, delta, looks
        As in `AcceptanceTest`, for each test: its error is about delta if log ratios are near
        normal. Otherwise the error has no bound, however small delta is: use
        ``bound=BettingBound(value_range=(low, high))`` for a guarantee.
        Each call initialises an order of the factors, 4 N bytes, which takes 2 ms for a million
        factors; tests near the ends of a slice then take 100 ms.
        ``Looks(indices="rejection")`` needs one bit per factor, and is a third slower if
        tests read nearly all factors.
    rng : None, int, SeedSequence or Generator

    Returns
    -------
    SliceResult
        ``x``, ``n_tests``, ``n_evaluations``, ``fraction``.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or a log likelihood that was read is
        NaN or infinite.

    Notes
    -----
    Each test reads T of N factors in O(T). A point far outside a slice needs few factors; the
    last points, near its edge, may need all.

    References
    ----------
    R. M. Neal, Slice sampling, Annals of Statistics 31, 2003.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(1.0, 1.0, 10_000)
    >>> def log_likelihood(indices, points):
    ...     return -0.5 * (y[indices, None] - points) ** 2
    >>> x = 1.0
    >>> for _ in range(20):
    ...     x = pb.racing.slice_sample(log_likelihood, x, n_factors=y.size, width=0.05, rng=rng).x
    >>> bool(abs(x - y.mean()) < 0.05)
    True
    """
    if not callable(log_likelihood):
        raise TypeError(f"log_likelihood must be callable; got {shown(log_likelihood)}")
    if log_prior is not None and not callable(log_prior):
        raise TypeError(f"log_prior must be callable; got {shown(log_prior)}")
    max_steps = check_integer("max_steps", max_steps, 1)
    scalar, point, width, lower, upper = _check_point(x, width, lower, upper)
    n_factors = check_integer("n_factors", n_factors, 1)
    rng = as_generator(rng)
    target = _Slice(log_likelihood, log_prior, point, scalar, n_factors, rng, dict(
        bound=bound, delta=delta, looks=looks))
    for coordinate in range(point.size):
        _update(target, coordinate, width[coordinate], max_steps, lower[coordinate],
                upper[coordinate], rng)
    x = float(target.present[0]) if scalar else target.present
    fraction = target.n_evaluations / (target.n_tests * n_factors) if target.n_tests else 0.0
    return SliceResult(x=x, n_tests=target.n_tests, n_evaluations=target.n_evaluations,
                       fraction=fraction)


class _Slice:
    """Slice through the current point: tests whether points are in it, and counts the tests."""

    def __init__(self, log_likelihood, log_prior, present, scalar, n_factors, rng, options):
        self._log_likelihood, self._log_prior = log_likelihood, log_prior
        self._scalar = scalar
        self.present = present
        self._proposed = present
        self._log_height = 0.0
        self._prior = 0.0
        self.n_tests = self.n_evaluations = 0
        self._test = AcceptanceTest(Factors(self._ratios, n_factors, 1), rng=rng, **options)

    def begin(self, log_u):
        """Start a new slice whose height is u times the density at the current point."""
        prior = self._prior_of(self.present)
        if not math.isfinite(prior):
            raise ValueError(f"log_prior must be finite at x; got {prior} at {self.present}")
        self._log_height = log_u + prior

    def holds(self, coordinate, value):
        """Return True if the current point with this coordinate replaced is in the slice."""
        self._proposed = self.present.copy()
        self._proposed[coordinate] = value
        prior = self._prior_of(self._proposed)
        self.n_tests += 1
        if prior == -math.inf:
            return False
        result = self._test.test(self._log_height - prior)
        self.n_evaluations += result.n_evaluations
        return result.accepted

    def move(self):
        """Make the point tested last the current one."""
        self.present = self._proposed

    def _prior_of(self, point):
        if self._log_prior is None:
            return 0.0
        value = self._log_prior(float(point[0]) if self._scalar else read_only(point))
        try:
            value = float(value)
        except Exception:
            raise TypeError(f"log_prior must return a number; got {shown(value)}") from None
        if math.isnan(value) or value == math.inf:
            raise ValueError(f"log_prior must be below inf and not NaN; got {value} at {point}")
        return value

    def _ratios(self, indices, states):
        points = np.stack([self.present, self._proposed])
        values = self._log_likelihood(indices, points[:, 0] if self._scalar else points)
        values = numbers_returned("the return value of log_likelihood", values,
                                  (indices.size, 2), "log_likelihood must return shape (n, 2)")
        return values[:, 1:] - values[:, :1]


def _update(target, coordinate, width, max_steps, lower, upper, rng):
    """Update one coordinate: step out, then shrink until a point is in the slice."""
    target.begin(-rng.exponential())
    x = target.present[coordinate]
    left, right = _step_out(target, coordinate, x, width, max_steps, lower, upper, rng)
    while left < right:
        value = rng.uniform(left, right)
        if target.holds(coordinate, value):
            target.move()
            return
        if value < x:
            left = value
        else:
            right = value if value > x else x


def _step_out(target, coordinate, x, width, max_steps, lower, upper, rng):
    """Return an interval around x by stepping out, at most `max_steps` times `width` long."""
    left = x - width * rng.random()
    right = left + width
    steps_left = int(max_steps * rng.random())
    steps_right = max_steps - 1 - steps_left
    while steps_left > 0 and left > lower and target.holds(coordinate, left):
        left -= width
        steps_left -= 1
    while steps_right > 0 and right < upper and target.holds(coordinate, right):
        right += width
        steps_right -= 1
    return max(left, lower), min(right, upper)


def _check_point(x, width, lower, upper):
    """Return True if x is a number; and x, width and the limits as arrays (d,)."""
    point = check_numeric("x", x)
    scalar = point.ndim == 0
    point = np.atleast_1d(point)
    if point.ndim != 1 or not point.size:
        raise ValueError(f"x must be a number or have shape (d,); got {point.shape}")
    each = {}
    for name, value in (("width", width), ("lower", lower), ("upper", upper)):
        value = check_numeric(name, value)
        if value.ndim and value.shape != point.shape or scalar and value.ndim:
            raise ValueError(f"{name} must be a number or have the shape of x; "
                             f"got shape {value.shape}")
        each[name] = np.broadcast_to(value, point.shape)
    if not (np.isfinite(each["width"]) & (each["width"] > 0)).all():
        raise ValueError(f"width must be finite and above 0; got {shown(width)}")
    inside = np.isfinite(point) & (each["lower"] <= point) & (point <= each["upper"])
    if not inside.all():
        raise ValueError(f"x must be finite and in [lower, upper] = [{shown(lower)}, "
                         f"{shown(upper)}]; got {shown(x)}")
    return scalar, point, each["width"], each["lower"], each["upper"]
