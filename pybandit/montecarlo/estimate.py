"""The result of `combine_estimators`."""

from dataclasses import dataclass, fields
from html import escape
from typing import Any

import numpy as np

from pybandit._shared.html import table
from pybandit._shared.optional import require
from pybandit._shared.records import Record, plain
from pybandit._shared.types import Floats, Ints
from pybandit.montecarlo.allocation import EstimatorAllocator

__all__ = ["Estimate"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Estimate(Record):
    """One number, estimated with several estimators, as `combine_estimators` returns it.

    Attributes
    ----------
    estimate : float
        The combined estimate; NaN without any value.
    standard_error : float
        Estimated standard deviation of `estimate`; NaN if variances are not known.
    pulls : ndarray of int64, shape (n_arms,)
        Values of each estimator.
    means, sample_variances : ndarray of float64, shape (n_arms,)
        Mean and sample variance of each estimator's values; NaN if there are too few.
    mean_costs : ndarray of float64, shape (n_arms,)
        Mean cost of a run of each estimator.
    n_pulls, n_batches : int
        Runs and batches, lost runs included.
    total_cost : float
        Cost of all runs.
    names : tuple of str
        Names of the estimators: those of their functions if all differ, otherwise indices.
    allocator : EstimatorAllocator
        The allocator that chose the runs.

    Notes
    -----
    **Threads.** Immutable, except for its allocator: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> result = pb.combine_estimators([lambda rng: rng.random(),
    ...                                 lambda rng: rng.normal(0.5, 0.1)], 1000, rng=1)
    >>> result
    <Estimate: 0.50137 +- 0.0032, 1,000 runs of 2 estimators>
    >>> result.pulls
    array([ 11, 989])
    """

    estimate: float
    standard_error: float
    pulls: Ints
    means: Floats
    sample_variances: Floats
    mean_costs: Floats
    n_pulls: int
    n_batches: int
    total_cost: float
    names: tuple[str, ...]
    allocator: EstimatorAllocator

    def interval(self, *, delta: float = 0.05, method: str | None = None,
                 anytime: bool | None = None) -> tuple[float, float]:
        """Return an interval for the estimators' mean: `EstimatorAllocator.interval`.

        Parameters
        ----------
        delta : float, default 0.05
            Probability of missing the mean, in (0, 1).
        method : {"betting", "asymptotic", "normal"}, optional
            Method of the interval; by default ``"betting"`` with a `value_range`,
            ``"asymptotic"`` with predictable weights, ``"normal"`` otherwise.
        anytime : bool, optional
            True if the interval must hold at all times simultaneously.

        Returns
        -------
        low, high : float

        Raises
        ------
        ValueError
            As for `EstimatorAllocator.interval`.
        """
        return self.allocator.interval(delta=delta, method=method, anytime=anytime)

    def summary(self) -> str:
        """Return one sentence: the estimate, its standard error, and the estimator run most."""
        most = int(np.argmax(self.pulls))
        return (f"The estimate is {self.estimate:.6g} with a standard error of "
                f"{self.standard_error:.2g}, from {self.n_pulls:,} runs of {self.pulls.size:,} "
                f"estimators, {self.pulls[most]:,} of them of estimator {self.names[most]}.")

    def to_dict(self) -> dict[str, Any]:
        """Return all fields but the allocator, for JSON: numbers, lists, and None for NaN."""
        return {one.name: plain(getattr(self, one.name)) for one in fields(self)
                if one.name != "allocator"}

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per estimator.

        Returns
        -------
        pandas.DataFrame
            Columns pulls, mean, variance, mean_cost; index ``estimator``, the names.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.
        """
        pandas = require("pandas", "pandas")
        return pandas.DataFrame(
            {"pulls": self.pulls, "mean": self.means, "variance": self.sample_variances,
             "mean_cost": self.mean_costs},
            index=pandas.Index(self.names, name="estimator"))

    def plot(self, ax: Any = None, *, of: str = "means") -> Any:
        """Plot each estimator's mean with its interval, or its share of the cost.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; a new pyplot figure by default.
        of : {"means", "costs"}, default "means"

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        MissingPackageError
            If Matplotlib is not installed.
        ValueError
            If `of` is not one of these.
        """
        return self.allocator.plot(ax, of=of, names=self.names)

    def __repr__(self):
        return (f"<Estimate: {self.estimate:.6g} +- {self.standard_error:.2g}, {self.n_pulls:,} "
                f"runs of {self.pulls.size:,} estimators>")

    def __str__(self):
        return self.summary()

    def _repr_html_(self) -> str:
        columns = (self.pulls, self.means, self.sample_variances, self.mean_costs)
        rows = [[name, *(f"{value:,.6g}" for value in row)]
                for name, row in zip(self.names[:ROWS], zip(*columns, strict=True), strict=False)]
        more = self.pulls.size - ROWS
        return (f"<p>{escape(self.summary())}</p>"
                + table(["estimator", "pulls", "mean", "variance", "mean cost"], rows)
                + (f"<p>and {more:,} more: <code>to_frame()</code> has all</p>" if more > 0
                   else ""))


# Estimators shown in a notebook.
ROWS = 10


def estimate_of(allocator, functions):
    """Return a record of the allocator's current results."""
    names = tuple(getattr(function, "__name__", "") for function in functions)
    if len({*names}) < len(names) or "" in names or "<lambda>" in names:
        names = tuple(map(str, range(allocator.n_arms)))
    arrays = {name: np.array(getattr(allocator, name))
              for name in ("pulls", "means", "mean_costs")}
    arrays["sample_variances"] = np.array(allocator.variances)
    for array in arrays.values():
        array.flags.writeable = False
    return Estimate(estimate=allocator.estimate, standard_error=allocator.standard_error,
                    n_pulls=allocator.n_pulls, n_batches=allocator.n_batches,
                    total_cost=float(allocator.total_cost), names=names, allocator=allocator,
                    **arrays)
