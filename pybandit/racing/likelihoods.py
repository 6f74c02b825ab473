"""Log factors of common models, compiled with this package and evaluated without Python."""

import numpy as np

from pybandit._shared.checks import (
    as_array,
    check_in,
    check_indices,
    check_integer,
    check_numeric,
    is_masked,
    shown,
)
from pybandit._shared.types import ArrayLike, Ints
from pybandit.racing._native import Pairwise, Quadratic, is_sorted_labels, members_of
from pybandit.racing.factors import Factors

# Maximum number of observations that members can index.
MOST_MEMBERS = 2**31 - 1


def pairwise(table: ArrayLike, labels: Ints, neighbours: ArrayLike | None = None, *,
             weights: ArrayLike | None = None) -> Factors:
    """Return factors of one discrete variable that are entries of a table.

    log f_n(i) = weights[n] * table[i, labels[neighbours[n]]], as in a Potts or Ising model
    given the other variables.

    Parameters
    ----------
    table : array_like of float, shape (D, L)
        Log factor of state i if the other variable is in state l.
    labels : ndarray of int64
        States of all variables, in [0, L). Not copied: every draw reads them again, so a
        Gibbs sweep can update them in place.
    neighbours : array_like of int, shape (N,), optional
        Indices into labels; all, in order, by default.
    weights : array_like of float, shape (N,), optional
        1 by default.

    Returns
    -------
    Factors
        N factors of D states, for `race`, `RacingSampler`, `exact_sample` (which counts labels
        in O(N + D L)) and `mcmc.RacingGibbs`.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its range. A label outside [0, L) raises ValueError only when it
        is read.

    See Also
    --------
    pybandit.mcmc.PairwiseTable : factors of all variables of a graph.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> labels = np.random.default_rng(1).integers(0, 3, 10_000)
    >>> factors = pb.factors.pairwise(2e-3 * np.eye(3), labels, np.arange(1, 10_000))
    >>> sampler = pb.RacingSampler(factors, rng=1)
    >>> labels[0], info = sampler.draw()
    """
    table = _finite("table", table, 2)
    labels = _viewed_labels(labels)
    members, n = _members("neighbours", neighbours, labels.size)
    if weights is not None:
        weights = _finite("weights", weights, 1)
        if weights.shape != (n,):
            raise ValueError(f"weights must have shape (N,) = ({n},); got {weights.shape}")
    native = Pairwise(np.ascontiguousarray(table.T), labels, members, weights)
    return Factors(native.bound, n, table.shape[0])


def categorical(y: Ints, log_probabilities: ArrayLike, *,
                members: ArrayLike | None = None) -> Factors:
    """Return factors log p(y_n | i) of observed categories.

    Parameters
    ----------
    y : ndarray of int64, shape (N_y,)
        Categories in [0, C). Not copied.
    log_probabilities : array_like of float, shape (D, C)
        Log probability of each category in each state; finite.
    members : array_like of int, shape (N,), optional
        Indices of the observations to use; all by default. See `members`.

    Returns
    -------
    Factors

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> y = np.random.default_rng(1).integers(0, 2, 10_000)
    >>> p = np.linspace(0.1, 0.9, 9)
    >>> factors = pb.factors.categorical(y, np.log(np.stack([1 - p, p], axis=1)))
    >>> pb.race(factors, rng=1).best
    4
    """
    table = _finite("log_probabilities", log_probabilities, 2)
    labels = _viewed_labels(y, "y")
    members, n = _members("members", members, labels.size)
    return Factors(Pairwise(np.ascontiguousarray(table.T), labels, members, None).bound, n,
                   table.shape[0])


def gaussian(y: ArrayLike, means: ArrayLike, std: ArrayLike = 1.0, *,
             members: ArrayLike | None = None) -> Factors:
    """Return factors log N(y_n; means[i], std[i]) for a grid of means or standard deviations.

    Parameters
    ----------
    y : array_like of float, shape (N_y,)
        Not copied if C-contiguous float64. A value that is not finite raises ValueError when it is
        read.
    means : float or array_like of float, shape (D,)
    std : float or array_like of float, shape (D,), default 1.0
        Above 0.
    members : array_like of int, shape (N,), optional
        Indices of the observations to use, such as the ones assigned to one component of a
        mixture; all by default. See `members`.

    Returns
    -------
    Factors
        Without the constant of the normal density. `exact_sample` only adds up y and y^2, in
        O(N + D).

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> y = np.random.default_rng(1).normal(0.3, 1.0, 100_000)
    >>> factors = pb.factors.gaussian(y, np.linspace(-1, 1, 21))
    >>> pb.RacingSampler(factors, rng=1).draw()[0], pb.racing.exact_sample(factors, rng=1)
    (13, 13)
    """
    y = _observations(y)
    means = check_in("means", means, "finite", np.isfinite)
    std = check_in("std", std, "finite and above 0", lambda x: (x > 0) & (x < np.inf))
    try:
        means, std = (np.atleast_1d(one) for one in np.broadcast_arrays(means, std))
    except ValueError:
        raise ValueError(f"means and std must be numbers or have the same shape (D,); got "
                         f"{means.shape} and {std.shape}") from None
    if means.ndim != 1 or not means.size:
        raise ValueError(f"means and std must have shape (D,), D >= 1; got {means.shape}")
    center = float(np.median(means))
    with np.errstate(all="ignore"):  # overflows are detected below
        precision, shift = 1.0 / std**2, means - center
        parts = (-0.5 * shift**2 * precision - np.log(std), shift * precision, -0.5 * precision)
    return _quadratic(*parts, center, y, members)


def poisson(y: ArrayLike, rates: ArrayLike, *, members: ArrayLike | None = None) -> Factors:
    """Return factors log Poisson(y_n; rates[i]) for a grid of rates.

    Parameters
    ----------
    y : array_like of float, shape (N_y,)
        Counts, whole numbers of at least 0. A C-contiguous float64 array is not copied and not
        checked for whole numbers, which would take longer than a race; values that are not
        finite raise when they are read. Other input, such as integers or a list, is copied and
        checked.
    rates : array_like of float, shape (D,)
        Above 0.
    members : array_like of int, shape (N,), optional
        As in `gaussian`.

    Returns
    -------
    Factors
        Without log y!, which is equal for all states.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> y = np.random.default_rng(1).poisson(3.0, 50_000)
    >>> pb.racing.exact_sample(pb.factors.poisson(y, [1.0, 2.0, 3.0, 4.0]), rng=1)
    2
    """
    y = _counts(y)
    rates = check_in("rates", rates, "finite and above 0", lambda x: (x > 0) & (x < np.inf))
    if rates.ndim != 1 or not rates.size:
        raise ValueError(f"rates must have shape (D,), D >= 1; got {rates.shape}")
    center, slopes = float(np.median(rates)), np.log(rates)
    return _quadratic(center * slopes - rates, slopes, np.zeros(rates.size), center, y, members)


def members(labels: ArrayLike, n_labels: int) -> list[Ints]:
    """Return the positions of each label, to pass as `members` to the other functions.

    Parameters
    ----------
    labels : array_like of int, shape (N,)
        In [0, n_labels).
    n_labels : int

    Returns
    -------
    list of ndarray of int32
        Positions of each label, increasing; empty if the label does not occur. They share one
        array of size N, which is read-only and cannot be made writeable. O(N + n_labels).

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> import pybandit as pb
    >>> [part.tolist() for part in pb.factors.members([0, 2, 2, 0, 2], 3)]
    [[0, 3], [], [1, 2, 4]]
    """
    n_labels = check_integer("n_labels", n_labels, 1, MOST_MEMBERS)
    labels = as_array("labels", labels)
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise TypeError(f"labels must be a 1-D array of integers without masks; got shape "
                        f"{labels.shape} of {labels.dtype}")
    if labels.size > MOST_MEMBERS:
        raise ValueError(f"labels must have at most {MOST_MEMBERS} entries; got {labels.size}")
    if labels.dtype == np.uint64:
        labels = check_indices("labels", labels, n_labels)
    order, ends = members_of(np.require(labels, np.int64, "CA"), n_labels)
    return [order[begin:end] for begin, end in zip(ends[:-1], ends[1:], strict=True)]


def _quadratic(constants, slopes, curvatures, center, y, members):
    members, n = _members("members", members, y.size)
    parts = [np.ascontiguousarray(part) for part in (constants, slopes, curvatures)]
    if not all(np.isfinite(part).all() for part in parts):
        raise ValueError("means, std and rates must have finite squares, and std must be large "
                         "enough for 1 / std**2 to be finite")
    return Factors(Quadratic(*parts, center, y, members).bound, n, parts[0].size)


def _observations(y):
    """Return `y` as float64. Its values are not checked, since a race reads few of them."""
    y = check_numeric("y", y, copy=False)
    if y.ndim != 1 or not y.size:
        raise ValueError(f"y must have shape (N,), N >= 1; got {y.shape}")
    return np.ascontiguousarray(y)


def _counts(y):
    """Return `_observations`; if they are a copy, which costs O(N) anyway, check for counts."""
    counts = _observations(y)
    if isinstance(y, np.ndarray) and np.may_share_memory(y, counts):
        return counts
    whole = isinstance(y, np.ndarray) and y.dtype.kind != "f"
    return check_in("y", counts, "counts, whole numbers of at least 0",
                    lambda n: n >= 0 if whole else (n >= 0) & (np.floor(n) == n), copy=False)


def _finite(name, values, ndim):
    values = check_in(name, values, "finite", np.isfinite)
    if values.ndim != ndim or not values.size:
        raise ValueError(f"{name} must have {ndim} dimension{'s' * (ndim > 1)} of length at least "
                         f"1; got shape {values.shape}")
    return values


def _viewed_labels(labels, name="labels"):
    """Return an array over the memory of `labels`, which is read again at every draw.

    The kernel checks each label when it reads it.
    """
    given = labels
    if isinstance(given, np.ndarray) and not is_masked(given):
        labels = as_array(name, given)  # a subclass may lie about its size
    if labels is given or labels.dtype != np.int64 or not (
            labels.dtype.isnative and labels.flags.c_contiguous and labels.flags.aligned):
        raise TypeError(f"{name} must be a C-contiguous array of int64 without masks, because it "
                        f"is read again at every call; got {shown(given)}")
    if labels.ndim != 1 or not labels.size:
        raise ValueError(f"{name} must have shape (n,), n >= 1; got {labels.shape}")
    return labels


def _members(name, given, n):
    """Return indices below n as int32, or None for all; and their number.

    No other code can change these indices, because the kernel reads the observations at them
    without a check.
    """
    if given is None:
        return None, n
    if n > MOST_MEMBERS:
        raise ValueError(f"{name} must be None for more than {MOST_MEMBERS} observations; got {n}")
    if is_masked(given):
        raise ValueError(f"{name} must not have masked entries")
    size = ", the size of labels or y"
    if is_sorted_labels(given):
        found = given.view()  # a result of `members`, which need not be copied
        if found.dtype != np.int32 or found.ndim != 1 or not found.flags.c_contiguous or (
                found.size and not (found.min() >= 0 and found.max() < n)):
            found = check_indices(name, found, n, np.int32, size)
    else:
        found = check_indices(name, given, n, np.int32, size)
    if not found.size:
        raise ValueError(f"{name} must have at least one entry; got none")
    return found, found.size
