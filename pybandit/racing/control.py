"""Control variates: what is close to the log factors and sums at no cost."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pybandit._shared.checks import check_in, check_numeric, frozen, shown

# The totals of an array may differ from its sums by this share of its absolute sums.
TOLERANCE = 1e-8


@dataclass(frozen=True, eq=False)
class ControlVariate:
    """Values h_n(i) close to the log factors l_n(i), whose sums over n are known.

    A race with it reads l - h and adds the sums to its log prior. The totals stay the same,
    but the gap of two states is as clear after Var(l - h) / Var(l) times as many factors
    (Chen & Ghahramani 2016, Sec. 3.4).

    Parameters
    ----------
    values : array_like of float, shape (N, D), or callable
        h_n(i), or a function of factor indices (n,) and states (k,) that returns
        them as float64 (n, k), as that of `Factors` does. An array is copied; where
        8 N D bytes more are too many, give a function.
    totals : array_like of float, shape (D,)
        sum_n h_n(i) over all N factors. Those of an array are checked against its
        sums, in one pass; those of a function are trusted: wrong ones bias every draw.

    Raises
    ------
    ValueError, TypeError
        If the shapes disagree, a total is not finite, or the totals are not the
        sums of the array.

    See Also
    --------
    taylor_control : from a Taylor expansion of the log factors in the data.

    Notes
    -----
    A bound that needs a range of rewards needs that of l - h.

    **Threads.** Nothing of its own changes: threads may share it, where what it calls of
    yours may be called by several at once.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> y = np.random.default_rng(1).normal(0.3, 1.0, 100_000)
    >>> means = np.linspace(0.2, 0.4, 21)
    >>> def factor(n, i):
    ...     return np.log(np.cosh(y[n, None] - means[i]))
    >>> control = pb.racing.ControlVariate(lambda n, i: -means[i] * np.tanh(y[n, None]),
    ...                                    -means * np.tanh(y).sum())
    >>> plain = pb.Factors(factor, y.size, 21)
    >>> controlled = pb.Factors(factor, y.size, 21, control=control)
    >>> _, info = pb.RacingSampler(plain, rng=1).draw(20)
    >>> _, less = pb.RacingSampler(controlled, rng=1).draw(20)
    >>> bool(less.fraction < 0.2 * info.fraction)
    True
    """

    values: np.ndarray | Callable
    totals: np.ndarray

    def __repr__(self):
        values = "a function" if callable(self.values) else f"an array of shape {self.values.shape}"
        return f"<ControlVariate: {values}, {len(self.totals):,} states>"

    def __post_init__(self):
        totals = check_in("totals", self.totals, "finite", np.isfinite)
        if totals.ndim != 1 or not totals.size:
            raise ValueError(f"totals must have shape (D,); got {totals.shape}")
        object.__setattr__(self, "totals", frozen(totals))
        if not callable(self.values):
            object.__setattr__(self, "values", self._check_values())

    def _check_values(self):
        try:
            values = check_numeric("values", self.values)
        except TypeError:
            raise TypeError(f"values must be a real array of shape (N, D) or a function, without "
                            f"masks; got {shown(self.values)}") from None
        if values.ndim != 2 or values.shape[1] != self.totals.size or not values.size:
            raise ValueError(f"values must have shape (N, D) with D = {self.totals.size}, the "
                             f"size of totals; got {values.shape}")
        values.flags.writeable = False  # the totals are of what it holds now
        sums = values.sum(axis=0)
        off = ~(np.abs(sums - self.totals) <= TOLERANCE * np.abs(values).sum(axis=0))
        if off.any():
            state = int(np.argmax(off))
            raise ValueError(f"totals must be the sums of values over all factors; got "
                             f"{float(self.totals[state])!r} at state {state}, where the sum is "
                             f"{float(sums[state])!r}")
        return values

    def check_sizes(self, n_factors: int, n_states: int) -> None:
        """Raise `ValueError` unless this is the control of N factors with D states."""
        if self.totals.size != n_states:
            raise ValueError(f"control must have one total a state, D = {n_states}; got "
                             f"{self.totals.size}")
        # of arrays, and of what is compiled and says of how many factors it is
        shape = getattr(self.values, "shape", (n_factors, n_states))
        if shape != (n_factors, n_states):
            raise ValueError(f"control must have values of shape (N, D) = "
                             f"{(n_factors, n_states)}; got {shape}")

