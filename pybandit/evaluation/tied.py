"""The models that are not separated from the best, from all their scores."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pybandit._shared.checks import check_choice, check_delta, check_ends, check_in, refuse_masks
from pybandit._shared.drawing import (
    COLOURS,
    EXACT,
    axes_or_new,
    draw_points,
    height_for,
    percent,
    tidy,
)
from pybandit._shared.generators import as_generator
from pybandit._shared.records import Record
from pybandit._shared.types import Floats, Ints, Rng
from pybandit.betting._scaled import log_wealth
from pybandit.evaluation._fair_signs import upper_tail
from pybandit.evaluation._reading import read_scores
from pybandit.evaluation._verdict_bets import SHARE, bounds
from pybandit.evaluation._verdict_input import check_planned, is_at_ends, means_of_clusters
from pybandit.tables._table import Scores

__all__ = ["TiedSet", "tied_set"]

MOST_NAMED = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TiedSet(Record):
    """Result of `tied_set`.

    Attributes
    ----------
    tied : ndarray of int64
        Models that are not separated from the best, highest mean first.
    winner : int or None
        The best model, if all others are separated from it.
    best : int
        The model with the highest mean.
    names : tuple of str
        Names of all models; "0", "1" and so on if none were given.
    means : ndarray of float64, shape (n_arms,)
        Means of the scores.
    differences : ndarray of float64, shape (n_arms,)
        Mean of each model minus that of `best`.
    intervals : ndarray of float64, shape (n_arms, 2)
        Bounds on these differences, each with probability at least 1 - delta on its own.
    e_values : ndarray of float64, shape (n_arms,)
        Largest wealth of the bets against "this model is best".
    n, n_arms : int
        Number of items (of clusters, if there were any) and of models.
    delta, planned, final, value_range
        As given; `final` is the test that was used.

    See Also
    --------
    tied_set : returns this object.

    Notes
    -----
    **Threads.** Immutable, so threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> scores = np.random.default_rng(1).random((1000, 4)) < [0.7, 0.69, 0.6, 0.5]
    >>> pb.tied_set(scores).tied_names
    ('0', '1')
    """

    tied: Ints
    winner: int | None
    best: int
    names: tuple[str, ...]
    means: Floats
    differences: Floats
    intervals: Floats
    e_values: Floats
    n: int
    n_arms: int
    delta: float
    planned: int
    final: str
    value_range: tuple[float, float]

    @property
    def tied_names(self) -> tuple[str, ...]:
        """Names of the models in `tied`, highest mean first."""
        return tuple(self.names[arm] for arm in self.tied.tolist())

    @property
    def winner_name(self) -> str | None:
        """Name of the winner, or None."""
        return None if self.winner is None else self.names[self.winner]

    def plot(self, ax: Any = None) -> Any:
        """Draw the difference of each model from the best with its interval; tied ones in colour.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        MissingPackageError
            If matplotlib is not installed.
        """
        ax = axes_or_new(ax, (6.4, height_for(self.n_arms)))
        order = self._order()
        draw_points(ax, self.differences[order], self.intervals[order, 0],
                    self.intervals[order, 1], [self.names[arm] for arm in order],
                    [COLOURS[0] if arm in self.tied else EXACT for arm in order])
        ax.axvline(0.0, color=EXACT, lw=1.0)
        ax.set_xlabel(f"difference from {self.names[self.best]}, "
                      f"{percent(1 - self.delta)} interval per model", fontsize=9)
        tidy(ax, str(self))
        return ax

    def to_frame(self) -> Any:
        """Return all models in a pandas.DataFrame, highest mean first, indexed by name.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.
        """
        from pybandit._shared.optional import require

        pandas = require("pandas", "pandas")
        return pandas.DataFrame(
            {"mean": self.means, "difference": self.differences, "lower": self.intervals[:, 0],
             "upper": self.intervals[:, 1], "e_value": self.e_values,
             "tied": np.isin(np.arange(self.n_arms), self.tied)},
            index=pandas.Index(list(self.names), name="model")).iloc[self._order()]

    def _order(self):
        return np.argsort(-self.means, kind="stable").tolist()

    def __str__(self) -> str:
        if self.winner is not None:
            return f"{self.winner_name} is the best of {self.n_arms} models"
        listed = ", ".join(self.tied_names[:MOST_NAMED])
        more = self.tied.size - MOST_NAMED
        head = f"{self.tied.size} of {self.n_arms} models are not separated from the best"
        return f"{head}: {listed}" + (f" and {more} more" if more > 0 else "")

    def __repr__(self) -> str:
        return f"<TiedSet: {self}>"


def tied_set(scores: Any, *, delta: float = 0.05, value_range: tuple[float, float] = (0, 1),
             planned: int | None = None, clusters: ArrayLike | None = None,
             final: str = "auto", rng: Rng = 0) -> TiedSet:
    """Return the models that are not separated from the best, from scores on the same items.

    The best model is in the set at every look with probability at least ``1 - delta``. If several
    are best, each of them is, on its own.

    Parameters
    ----------
    scores : array_like of float, shape (n, n_arms), table, path or list of paths
        One row per item and one column per model; a data frame gives names. Paths as in
        `read_scores`.
    delta : float, default 0.05
        Maximum probability that the best model is left out, in (0, 1).
    value_range : (float, float), default (0, 1)
        Smallest and largest possible score.
    planned : int, optional
        Number of items (of clusters) at the end of the run, at least n; by default n.
    clusters : array_like, shape (n,), optional
        Label of the cluster of each row; clusters count as one item, with their mean.
    final : {"auto", "exact", "none"}
        "exact" adds McNemar's exact test at the planned end, for scores at the ends of
        `value_range`; "auto" uses it if the run has ended and all scores are.
    rng : None, int, SeedSequence, BitGenerator or Generator, default 0
        Source of the order of the items of a finished run; None keeps their order.

    Returns
    -------
    TiedSet

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, there are fewer than two models, or a score is NaN or
        outside `value_range`.

    See Also
    --------
    verdict : for two models.
    best_of : finds the best model and reads few scores.

    Notes
    -----
    Against "model b is best", the wealth is the mean over the other models a of the wealth of bets
    against "the mean of a - b is at most 0". If b is best, every term is a supermartingale
    from 1, so their mean is, and reaches 1 / delta with probability at most delta: no union over
    rivals or looks. A winner needs 2 / delta against all others: among m equally best models, all
    but one would have to be excluded.

    With the final test, the bets have a fifth of delta, and b is also left out if ``(K - 1) p <= .8
    delta`` for the smallest one-sided p-value of McNemar's exact test of a rival over b.

    Cost: O(n_arms^2 n).

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> scores = np.random.default_rng(1).random((1000, 4)) < [0.75, 0.65, 0.6, 0.5]
    >>> print(pb.tied_set(scores))
    0 is the best of 4 models
    """
    delta, value_range = check_delta(delta), check_ends(value_range)
    check_choice("final", final, ("auto", "exact", "none"))
    values, names = _table(scores, value_range)
    if clusters is not None:
        values = means_of_clusters(clusters, values)
    planned = check_planned(planned, len(values), None)
    if len(values) == planned and rng is not None:
        values = values[as_generator(rng).permutation(len(values))]
    at_ends = is_at_ends(values, value_range)
    if final == "auto":
        final = "exact" if len(values) == planned and at_ends else "none"
    if final == "exact" and not at_ends:
        raise ValueError("final must be 'none' for scores between the ends of value_range "
                         f"({value_range[0]:g}, {value_range[1]:g}); got 'exact'")
    return _settled(values, names, delta, value_range, planned, final)


def _settled(values, names, delta, value_range, planned, final):
    n, n_arms = values.shape
    means, width = values.mean(axis=0), value_range[1] - value_range[0]
    unit = (values - value_range[0]) / width
    wealth, p_values = _against(unit, delta, planned)
    share = 1.0 if final == "none" else SHARE
    tests = np.full(n_arms, np.inf)
    if final == "exact" and n == planned:
        tests = (n_arms - 1) * p_values

    def is_out(level):
        # logarithms first: the inverse of a tiny level is infinite
        return (wealth >= -math.log(share) - math.log(level)) | (tests <= (1.0 - SHARE) * level)

    left = np.flatnonzero(~is_out(delta))
    tied = left[np.argsort(-means[left], kind="stable")]
    kept = np.flatnonzero(~is_out(max(delta / 2.0, np.nextafter(0.0, 1.0))))
    best = int(np.argmax(means))
    gaps = (unit - unit[:, [best]] + 1.0) / 2.0
    intervals = np.array([bounds(np.ascontiguousarray(gap), delta, planned, math.inf)
                          for gap in gaps.T])
    intervals[best] = 0.0
    with np.errstate(over="ignore"):
        e_values = np.exp(wealth)
    return TiedSet(tied=tied, winner=int(kept[0]) if kept.size == 1 else None, best=best,
                   names=names, means=means, differences=means - means[best],
                   intervals=width * intervals, e_values=e_values, n=n, n_arms=n_arms, delta=delta,
                   planned=planned, final=final, value_range=value_range)


def _against(unit, delta, planned):
    """Return the log of the largest wealth against each model, and its smallest p-value."""
    n, n_arms = unit.shape
    shares = math.log(n_arms - 1)
    wealth, p_values = np.full((n_arms, n), -np.inf), np.ones(n_arms)
    for one in range(n_arms):
        for other in range(one):
            gain = unit[:, other] - unit[:, one]
            logs = log_wealth((gain + 1.0) / 2.0, 0.5, delta, planned=planned) - shares
            n_wins, n_losses = int((gain > 0).sum()), int((gain < 0).sum())
            for arm, log, wins in ((one, logs[0], n_wins), (other, logs[1], n_losses)):
                np.logaddexp(wealth[arm], log, out=wealth[arm])
                p = upper_tail(n_wins + n_losses, wins)
                p_values[arm] = min(p_values[arm], p)
    return np.maximum(wealth.max(axis=1), 0.0), p_values


def _table(scores, value_range):
    """Return the scores as an array in memory, and the names of the models."""
    scores = refuse_masks("scores", scores)
    try:
        table = scores if isinstance(scores, Scores) else read_scores(scores)
    except TypeError as error:
        raise TypeError(f"scores must be a table, a path or a list of paths: {error}") from error
    names = tuple(map(str, table.columns)) if isinstance(table, Scores) else None
    low, high = value_range
    values = table.values if isinstance(table, Scores) else table
    values = check_in("scores", values,
                      f"in value_range [{low:g}, {high:g}]", lambda x: (x >= low) & (x <= high))
    if values.ndim != 2 or values.shape[1] < 2 or not len(values):
        raise ValueError("scores must have at least one row, and a column for each of at least two "
                         f"models; got shape {values.shape}")
    return values, names or tuple(map(str, range(values.shape[1])))
