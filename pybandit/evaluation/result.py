"""Result of `best_of`: the answer, the scores read, bounds and a plot."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pybandit._shared.types import Floats, Ints
from pybandit.betting.budget import BudgetRace
from pybandit.betting.confidence import ConfidenceBounds, confidence_sequence
from pybandit.betting.race import BettingRace
from pybandit.evaluation import _table, _words
from pybandit.evaluation._model_result import ModelResult

__all__ = ["BestOfResult"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BestOfResult(ModelResult):
    """Result of `best_of`.

    Attributes
    ----------
    best : int
        The best model: the first of `best_arms`.
    best_name : str
        Its name.
    best_arms : ndarray of int64, shape (k,)
        The k best models, best mean first. If not `decided`, the current leaders.
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
    decided : bool
        False if `max_pulls` or ``max_cost`` ended the race: the guarantee is then that the k
        best are among the `survivors`. With a budget, True if only bets eliminated models.
    exact : bool
        True if the remaining models were read on all items, so that totals decided. Models
        eliminated before may be better, with probability at most `delta`.
    survivors : ndarray of int64
        Models that can still be among the k best. If decided, they are `best_arms`. If not decided
        with a `budget`, they include the `dropped` models; for k > 1 the only guarantee is then
        that the k best are among them.
    pulls : ndarray of int64, shape (n_arms,)
        Number of items read of each model: the first ones of `items`.
    means : ndarray of float64, shape (n_arms,)
        Means of the scores read; rough for models that were eliminated early.
    items : ndarray of int64
        Items in the order they were read.
    delta, epsilon : float
        As given.
    value_range : (float, float) or float
        As given, or (0, 1) if it was found from the table.
    budget : int or None
        As given.
    cost : float or None
        Cost of the scores read; None without `costs`.
    cost_by_arm : ndarray of float64, shape (n_arms,), or None
        Cost of the scores read of each model.
    population_size : int or math.inf
        Size of the population that the answer, `intervals` and `error_estimate` are about.
    weights : ndarray of float64, shape (n_items,), or None
        As given; `means` are then weighted means, without bounds.
    baseline : str or None
        From `best_of_pairs`: the model that all were compared with, or "all". Otherwise None.
    dropped : ndarray of int64
        With a budget, models that the schedule eliminated: no bet was won against them.
    n_wasted : int
        Number of unused scores of simultaneous calls: their model had been eliminated, or the
        call was running when the race ended. `n_pulls` and `cost` do not include them.
    n_failed_by_arm : ndarray of int64, shape (n_arms,)
        Number of calls of each model that failed after all tries and count as `failed`. Failures
        that were in the store before are not included.
    n_failed : int
        Sum of `n_failed_by_arm`.
    error_estimate : float or None
        With a budget, an estimate of the probability that the answer is wrong, not a bound;
        see `BudgetRace.error_estimate`. Otherwise None.

    See Also
    --------
    best_of, best_of_async, best_of_pairs, run_race : return this object.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> scores = np.random.default_rng(0).random((5000, 3)) * [0.7, 0.8, 1.0]
    >>> result = pb.best_of(scores, rng=1)
    >>> result
    <BestOfResult: model 2 of 3, error at most 5 %, 476 of 15,000 scores>
    >>> result.best, result.n_pulls, round(result.fraction_read, 2), result.decided
    (2, 476, 0.03, True)
    >>> result.pulls, result.means.round(2)
    (array([100, 188, 188]), array([0.33, 0.39, 0.47]))
    >>> result.intervals.round(2)
    array([[0.31, 0.39],
           [0.34, 0.44],
           [0.4 , 0.51]])
    """

    best_arms: Ints
    names: tuple[str, ...]
    n_arms: int
    n_items: int
    n_pulls: int
    exact: bool
    decided: bool
    survivors: Ints
    pulls: Ints
    means: Floats
    items: Ints
    delta: float
    value_range: tuple[float, float] | float
    epsilon: float
    budget: int | None
    dropped: Ints
    cost: float | None
    cost_by_arm: Floats | None
    population_size: float
    weights: Floats | None
    baseline: str | None
    n_wasted: int
    n_failed_by_arm: Ints
    _named: bool
    _race: BettingRace | BudgetRace
    _sequences: dict[int, ConfidenceBounds] = field(default_factory=dict)

    @property
    def best(self) -> int:
        return int(self.best_arms[0])

    @property
    def best_name(self) -> str:
        return self.names[self.best]

    @property
    def error_estimate(self) -> float | None:
        return self._race.error_estimate if self._budgeted else None

    @property
    def _has_bounds(self):
        """True if single means have confidence sequences."""
        return isinstance(self.value_range, tuple) and self.weights is None

    @property
    def _budgeted(self):
        return isinstance(self._race, BudgetRace)

    def confidence_sequence(self, model: int) -> ConfidenceBounds:
        """Return running bounds on the mean of one model over the population.

        Parameters
        ----------
        model : int
            The model, in [0, n_arms - 1].

        Returns
        -------
        ConfidenceBounds
            ``lower``, ``upper``, float64 of shape (pulls[model],): with probability at
            least ``1 - delta`` the mean is between the two after every item. This holds for
            each model alone; for all K models at once the error is at most K delta.

        Raises
        ------
        ValueError
            If `value_range` is one number, or items have weights.

        Notes
        -----
        The bounds are computed at the first call, in microseconds per score, and kept; see
        `pybandit.confidence_sequence`.
        """
        model = self._checked(model)
        if self.weights is not None:
            raise ValueError("weights must be left out for confidence sequences, which bound "
                             "means of items of equal weight")
        if not isinstance(self.value_range, tuple):
            raise ValueError(f"value_range must be (low, high) for confidence sequences: bounds "
                             f"on one model's mean need the range of its own scores; got the "
                             f"range of differences {self.value_range}")
        if model not in self._sequences:
            self._sequences[model] = confidence_sequence(
                self.rewards(model), population_size=self.population_size, delta=self.delta,
                value_range=self.value_range)
        return self._sequences[model]

    @property
    def intervals(self) -> Floats:
        """Last bounds on the mean of every model; float64, shape (n_arms, 2)."""
        every = [self.confidence_sequence(arm) for arm in range(self.n_arms)]
        return np.array([(bounds.lower[-1], bounds.upper[-1]) for bounds in every])

    def plot(self, ax: Any = None, *, logx: bool = True) -> Any:
        """Plot running means over the items read; dots mark eliminated models.

        Up to 100 models have their name to the right of the axes. Survivors have intervals, of
        95 % for ``delta=0.05``.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; a new pyplot figure by default.
        logx : bool
            If True, use a logarithmic axis of items, which starts before the first elimination.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        MissingPackageError
            If Matplotlib is not installed.
        """
        from pybandit.evaluation._figure import elimination_axes

        return elimination_axes(self, ax, logx)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the scores, as lists and plain numbers for JSON.

        `intervals` is None if `value_range` is one number or items have weights;
        `population_size` is None if it is infinite.
        """
        return self._jsonable(
            "best", "best_name", "best_arms", "best_names", "names", "decided", "exact", "tied",
            "survivors", "n_arms", "n_items", "n_pulls", "fraction_read", "pulls", "means", "items",
            "delta", "epsilon", "budget", "cost", "cost_by_arm", "population_size", "weights",
            "baseline", "n_wasted", "n_failed_by_arm", "dropped", "error_estimate",
            "value_range") | {
            "summary": self.summary(), "guarantee": self.guarantee(),
            "intervals": self.intervals.tolist() if self._has_bounds else None}

    @property
    def tied(self) -> Ints:
        """Models outside `best_arms` with exactly the mean of its last model; int64, increasing.

        Only models that were read on all items, if the answer is `exact`; otherwise empty.
        """
        if not self.exact:
            return np.empty(0, dtype=np.int64)
        # not compared by means, which are rounded if scores are large
        level = self._race._centred()
        equal = (self.pulls == self.n_items) & (level == level[self.best_arms[-1]])
        equal[self.best_arms] = False
        return np.flatnonzero(equal)

    def summary(self) -> str:
        """Return the answer in one sentence: the model, the error, and the scores read."""
        return _words.summary(self)

    def guarantee(self) -> str:
        """Return the guarantee in one sentence."""
        return _words.guarantee(self)

    def to_frame(self) -> Any:
        """Return all models in a pandas.DataFrame, those of the answer first.

        Returns
        -------
        pandas.DataFrame
            One row per model, indexed by name, with these columns:

            - ``status``: "best" or, if not decided, "leads"; "tied"; "left"; "dropped" by a
              budget's schedule; "excluded" by bets
            - ``mean`` of the scores read, and ``items_read``
            - ``behind``: the mean difference to the first of `best_arms`, on the items read of
              both
            - ``cost``, if costs are known
            - ``lower`` and ``upper``: the `intervals`, if `value_range` is (low, high) and items
              have no weights

        Raises
        ------
        MissingPackageError
            If pandas is not installed.
        """
        return ModelResult.to_frame(self)

    def _columns(self, bounds=True):
        return _table.columns(self, bounds)

    def _order(self):
        return _table.ranked(self)

    def _repr_html_(self) -> str:
        return self._html(self.summary(), _words.failures(self))

    def __str__(self) -> str:
        return "\n".join([self.summary() + _words.failures(self), "", *self._table()])

    def __repr__(self) -> str:
        return f"<BestOfResult: {_words.short(self)}>"
