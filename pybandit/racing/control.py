"""Control variates: values close to the log factors, with known sums."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pybandit._shared.checks import check_in, check_numeric, frozen, shown

# Largest difference between totals and sums, as a share of the sum of absolute values.
TOLERANCE = 1e-8


@dataclass(frozen=True, eq=False)
class ControlVariate:
    """Values h_n(i) close to the log factors l_n(i), whose sums over n are known.

    A race with a control variate reads l - h and adds the sums of h to its log prior. The totals
    are unchanged, but a gap becomes significant after Var(l - h) / Var(l) times as many factors
    (Chen & Ghahramani 2016, Sec. 3.4).

    Parameters
    ----------
    values : array_like of float, shape (N, D), or callable
        h_n(i), or a function of factor indices (n,) and states (k,) that returns them as
        float64 (n, k), like the function of `Factors`. An array is copied; pass a function
        to save its 8 N D bytes.
    totals : array_like of float, shape (D,)
        sum_n h_n(i) over all N factors. For an array, the totals are compared with its sums, in
        one pass. For a function, they are not checked; wrong totals bias every draw.

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
    A bound that needs a range of rewards needs the range of l - h.

    **Threads.** Immutable: threads may share it if several threads may call your function at
    once.

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
        values.flags.writeable = False  # the totals are the sums of its present content
        sums = values.sum(axis=0)
        off = ~(np.abs(sums - self.totals) <= TOLERANCE * np.abs(values).sum(axis=0))
        if off.any():
            state = int(np.argmax(off))
            raise ValueError(f"totals must be the sums of values over all factors; got "
                             f"{float(self.totals[state])!r} at state {state}, but the sum is "
                             f"{float(sums[state])!r}")
        return values

    def check_sizes(self, n_factors: int, n_states: int) -> None:
        """Raise `ValueError` unless the sizes are those of N factors with D states."""
        if self.totals.size != n_states:
            raise ValueError(f"control must have one total per state, D = {n_states}; got "
                             f"{self.totals.size}")
        # arrays and compiled controls have a shape; a function need not have one
        shape = getattr(self.values, "shape", (n_factors, n_states))
        if shape != (n_factors, n_states):
            raise ValueError(f"control must have values of shape (N, D) = "
                             f"{(n_factors, n_states)}; got {shape}")

