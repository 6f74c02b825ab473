"""Result of a race of models against a threshold."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pybandit._shared.drawing import percent
from pybandit._shared.types import Floats, Ints
from pybandit.betting.above import BettingThreshold
from pybandit.evaluation._model_result import ModelResult

__all__ = ["ThresholdResult"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ThresholdResult(ModelResult):
    """Result of `run_race` for a `BettingThreshold`: the models above a threshold.

    Attributes
    ----------
    best : int or None
        The model of the highest mean among those above the threshold; None if there is none.
    best_name : str or None
        Its name.
    best_arms : ndarray of int64
        Models above the threshold, best mean first.
    best_names : tuple of str
        Their names.
    names : tuple of str
        Names of all models; "0", "1" and so on if none were given.
    n_arms, n_items : int
        Number of models and of items.
    n_pulls : int
        Number of scores read.
    fraction_read : float
        Fraction of all n_arms * n_items scores that was read.
    threshold : float
        The number that means are compared with.
    above, below : ndarray of int64
        Models decided to be above and below the threshold, increasing.
    survivors : ndarray of int64
        Models not decided, increasing.
    decided : bool
        True if every model is decided.
    exact : bool
        True if the last models were decided by reading all items.
    pulls : ndarray of int64, shape (n_arms,)
        Number of items read of each model: the first ones of `items`.
    means : ndarray of float64, shape (n_arms,)
        Means of the scores read.
    items : ndarray of int64
        Items in the order they were read.
    delta, epsilon : float
        As in the race.
    value_range : (float, float)
        As in the race.
    population_size : int or math.inf
        Number of items that the answer is about.
    n_wasted : int
        Number of scores of simultaneous calls that were not used.
    n_failed_by_arm : ndarray of int64, shape (n_arms,)
        Number of calls of each model that failed after all tries and count as `failed`.
    n_failed : int
        Sum of `n_failed_by_arm`.

    See Also
    --------
    run_race : returns this object.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> wins = np.random.default_rng(1).random((5000, 3)) < [0.4, 0.55, 0.7]
    >>> race = pb.BettingThreshold(3, 5000, threshold=0.5, value_range=(0, 1), rng=1)
    >>> result = pb.evaluation.run_race(race, wins, models=["a", "b", "c"])
    >>> result.best_names, result.below, result.decided
    (('c', 'b'), array([0]), True)
    """

    best_arms: Ints
    names: tuple[str, ...]
    n_arms: int
    n_items: int
    n_pulls: int
    threshold: float
    above: Ints
    below: Ints
    survivors: Ints
    exact: bool
    decided: bool
    pulls: Ints
    means: Floats
    items: Ints
    delta: float
    value_range: tuple[float, float]
    epsilon: float
    population_size: float
    n_wasted: int
    n_failed_by_arm: Ints
    _named: bool
    _race: BettingThreshold

    @property
    def best(self) -> int | None:
        return int(self.best_arms[0]) if self.best_arms.size else None

    @property
    def best_name(self) -> str | None:
        return None if self.best is None else self.names[self.best]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the scores, as lists and plain numbers for JSON.

        `population_size` is None if it is infinite.
        """
        return self._jsonable(
            "best", "best_name", "best_arms", "best_names", "names", "decided", "exact",
            "threshold", "above", "below", "survivors", "n_arms", "n_items", "n_pulls",
            "fraction_read", "pulls", "means", "items", "delta", "epsilon", "population_size",
            "n_wasted", "n_failed_by_arm", "value_range") | {
            "summary": self.summary(), "guarantee": self.guarantee()}

    def summary(self) -> str:
        """Return the answer in one sentence: models above and below, the error, the scores read."""
        n_open = f", {self.survivors.size:,} not decided" if self.survivors.size else ""
        return (f"{self.above.size:,} of {self.n_arms:,} models are above {self.threshold:g} and "
                f"{self.below.size:,} below{n_open} (error at most {percent(self.delta)}), after "
                f"{self.n_pulls:,} of {self.n_arms * self.n_items:,} scores.")

    def guarantee(self) -> str:
        """Return the guarantee in one sentence."""
        near = f" by more than {self.epsilon:g}" if self.epsilon else ""
        return (f"The probability that any model is on the wrong side{near} is at most "
                f"{self.delta:g}.")

    def to_frame(self) -> Any:
        """Return all models in a pandas.DataFrame, those of the answer first.

        Returns
        -------
        pandas.DataFrame
            Indexed by name: ``status`` ("above", "below" or "open"), ``mean`` of the scores read
            and ``items_read``.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.
        """
        return ModelResult.to_frame(self)

    def plot(self, ax: Any = None) -> Any:
        """Plot the mean of every model with its confidence bounds, and the threshold.

        The bounds of a model hold for it alone, with error `delta`. Up to 100 models are drawn.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; a new pyplot figure by default.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        MissingPackageError
            If Matplotlib is not installed.
        """
        from pybandit.evaluation._figure import threshold_axes

        return threshold_axes(self, ax)

    def _columns(self, bounds=True):
        words = np.full(self.n_arms, "open", dtype=object)
        words[self.above], words[self.below] = "above", "below"
        return {"status": words, "mean": self.means, "items_read": self.pulls}

    def _order(self):
        rest = np.setdiff1d(np.arange(self.n_arms), self.best_arms)
        below = np.isin(rest, self.below)
        return [*self.best_arms.tolist(), *rest[np.lexsort((-self.means[rest], below))].tolist()]

    def _repr_html_(self) -> str:
        return self._html(self.summary())

    def __str__(self) -> str:
        return "\n".join([self.summary(), "", *self._table()])

    def __repr__(self) -> str:
        return (f"<ThresholdResult: {self.above.size:,} of {self.n_arms:,} models above "
                f"{self.threshold:g}, {self.below.size:,} below, error at most "
                f"{percent(self.delta)}, {self.n_pulls:,} of {self.n_arms * self.n_items:,} "
                "scores>")
