"""Where a race reads its log factors."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

import numpy as np

from pybandit._checks import MOST_PULLS, check_in, check_integer, check_numeric
from pybandit.control import ControlVariate


@dataclass(frozen=True)
class Factors:
    """Log factors computed on demand.

    Parameters
    ----------
    function : callable
        ``function(indices, states)`` gets int64 arrays of n factor indices (in
        no particular order) and k states (increasing) and returns a float64
        array (n, k) of log f_n(i). Each pair is asked for at most once a race.
        An exception it raises reaches the caller of the race unchanged.
    n_factors : int
        N, at least 1.
    n_states : int
        D, at least 1.
    control : ControlVariate, optional
        Something close to the factors whose sums are known: what is raced is the
        difference, so fewer factors are read. `exact_sample` does without.

    Raises
    ------
    TypeError, ValueError
        Where `function` is not callable, a size is not a positive integer, or the
        control variate has other sizes.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> y = np.random.default_rng(1).normal(0.3, 1.0, 100_000)
    >>> means = np.linspace(-1, 1, 5)
    >>> factors = pb.Factors(lambda n, i: -0.5 * (y[n, None] - means[i]) ** 2, y.size, 5)
    >>> pb.race(factors, rng=1).winner
    3
    """

    function: Callable
    n_factors: int
    n_states: int
    _: KW_ONLY
    control: ControlVariate | None = None

    def __post_init__(self):
        if not callable(self.function):
            raise TypeError(f"function must be callable; got {self.function!r}")
        for name in ("n_factors", "n_states"):
            object.__setattr__(self, name, check_integer(name, getattr(self, name), 1))
        if self.control is not None:
            if not isinstance(self.control, ControlVariate):
                raise TypeError(f"control must be a pybandit.ControlVariate; got {self.control!r}")
            self.control.check_sizes(self.n_factors, self.n_states)


@dataclass(frozen=True)
class Populations:
    """Arms that each have log factors of their own, computed on demand.

    Parameters
    ----------
    function : callable
        ``function(indices, states)`` gets int64 arrays of n factor indices, below
        the arm's size, and of one arm; it returns a float64 array (n, 1). Each
        factor is asked for at most once a race.
    sizes : array_like of int, shape (D,)
        N_i, at least 0.

    Raises
    ------
    TypeError, ValueError
        Where `function` is not callable or `sizes` are not counts.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> words = [np.full(500, -1.0), np.full(40, -2.0)]
    >>> clusters = pb.Populations(lambda n, i: words[i[0]][n, None], [500, 40])
    >>> pb.race_populations(clusters, rng=0).winner
    1
    """

    function: Callable
    sizes: np.ndarray

    def __post_init__(self):
        if not callable(self.function):
            raise TypeError(f"function must be callable; got {self.function!r}")
        sizes = check_in("sizes", self.sizes, "whole numbers of at least 0",
                         lambda n: (n >= 0) & (n == np.floor(n)) & (n <= MOST_PULLS))
        if sizes.ndim != 1 or not sizes.size:
            raise ValueError(f"sizes must have shape (D,), D >= 1; got {sizes.shape}")
        sizes = sizes.astype(np.int64)
        sizes.flags.writeable = False
        object.__setattr__(self, "sizes", sizes)


def as_factors(factors):
    """`Factors` unchanged, or anything else as a C-contiguous float64 (N, D) matrix."""
    if isinstance(factors, Factors):
        return factors
    matrix = np.asarray(factors)
    if matrix.dtype.kind not in "biuf":
        raise TypeError(f"factors must be a real array of shape (N, D) or pybandit.Factors; "
                        f"got dtype {matrix.dtype}")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"factors must have shape (N, D) with N >= 1 factors and D >= 1 "
                         f"states; got shape {matrix.shape}")
    return np.ascontiguousarray(matrix, dtype=np.float64)


def check_returned(values, shape, name="the function of Factors"):
    """What a user's function returned, as C-contiguous float64 of this shape."""
    if np.shape(values) != shape:
        raise ValueError(f"{name} must return shape (n, k) = {shape}; "
                         f"got shape {np.shape(values)}")
    return np.ascontiguousarray(check_numeric(f"the return value of {name}", values))
