"""The result of `best_of`: the answer, what was read, bounds and a picture."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pybandit._shared.types import Floats, Ints
from pybandit.betting.budget import BudgetRace
from pybandit.betting.confidence import ConfidenceBounds, confidence_sequence
from pybandit.betting.race import BettingRace
from pybandit.evaluation import _table, _words
from pybandit.evaluation._answer import Answer

__all__ = ["BestOfResult"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BestOfResult(Answer):
    """Result of `best_of`.

    Attributes
    ----------
    best : int
        The best model: the first of `best_arms`.
    best_name : str
        Its name.
    best_arms : ndarray of int64, shape (k,)
        The k best models, best mean first. If not `decided`, the present leaders.
    best_names : tuple of str
        Their names.
    names : tuple of str
        Names of all models; "0", "1" and so on if none were given.
    n_arms, n_items : int
        Number of models and of items.
    n_pulls : int
        Number of scores read.
    fraction_read : float
        Of all n_arms * n_items.
    decided : bool
        False if `max_pulls` or ``max_cost`` ended the race: the guarantee is then that the k
        best are among the `survivors`. With a budget True if only bets took models out.
    exact : bool
        True if all items were read of the models that were left, so that totals decided
        between these. Models dropped before may have been better, with probability
        at most `delta`.
    survivors : ndarray of int64
        Models that can still be among the k best; if decided, `best_arms`. With a
        `budget` also those `dropped`; for k > 1 nothing else is then guaranteed.
    pulls : ndarray of int64, shape (n_arms,)
        Items read of each model: the first ones of `items`.
    means : ndarray of float64, shape (n_arms,)
        Means of the scores read; rough for models that left early.
    items : ndarray of int64
        Items in the order they were read.
    delta, epsilon : float
        As given.
    value_range : (float, float) or float
        As given, or as known of the table.
    budget : int or None
        As given.
    cost : float or None
        Cost of the scores read; None without `costs`.
    cost_by_arm : ndarray of float64, shape (n_arms,), or None
        The same of each model.
    population_size : int or math.inf
        Number of items that the answer, `intervals` and `error_estimate` are about.
    weights : ndarray of float64, shape (n_items,), or None
        As given; `means` are then weighted means, and there are no bounds on them.
    baseline : str or None
        Of `best_of_pairs`: the model that all were compared with, or "all".
    dropped : ndarray of int64
        With a budget, models that the schedule took out: no bet was won against them.
    n_wasted : int
        Scores of calls at the same time that were not used: their model had left, or the call
        was running when the race ended. Not among `n_pulls`, and not in `cost`.
    n_failed_by_arm : ndarray of int64, shape (n_arms,)
        Calls of each model that failed for good and count as `failed`. Failures that a store
        had from before are not among them.
    n_failed : int
        Their sum.
    error_estimate : float or None
        With a budget, about how probable it is that the answer is wrong; see
        `BudgetRace.error_estimate`. An estimate, not a bound.

    See Also
    --------
    best_of, best_of_async, best_of_pairs : make it.

    Notes
    -----
    **Threads.** Nothing changes it: threads may share it.

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
    array([[0.29, 0.4 ],
           [0.34, 0.45],
           [0.4 , 0.52]])
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
        return self._race.error_estimate if isinstance(self._race, BudgetRace) else None

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
            least ``1 - delta`` the mean is between the two after every item. Each
            model's holds for itself; for all K at once its error is K delta.

        Raises
        ------
        ValueError
            If `value_range` is one number, or items have weights.

        Notes
        -----
        Computed once, when first asked for, in microseconds a score; see
        `pybandit.confidence_sequence`.
        """
        model = self._checked(model)
        if self.weights is not None:
            raise ValueError("weights must be left out for confidence sequences: they are about "
                             "means of items that count the same")
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

        Up to 100 models have their name to the right of the axes. Intervals of the models
        that are left are 95 % for ``delta=0.05``.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; a new pyplot figure by default.
        logx : bool
            Use a logarithmic axis of items, which starts before the first elimination.

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

        `intervals` is None if `value_range` is one number or items have weights, and
        `population_size` if it is infinite.
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
        """Models outside of `best_arms` of exactly the mean of its last; int64, increasing.

        Known of models that were read on all items, if the answer is `exact`; empty
        otherwise.
        """
        if not self.exact:
            return np.empty(0, dtype=np.int64)
        # not by means: of large scores they are rounded
        level = self._race._centred()
        equal = (self.pulls == self.n_items) & (level == level[self.best_arms[-1]])
        equal[self.best_arms] = False
        return np.flatnonzero(equal)

    def summary(self) -> str:
        """Return the answer in one sentence: the model, the error, and what was read."""
        return _words.summary(self)

    def guarantee(self) -> str:
        """Return what is guaranteed, in one sentence."""
        return _words.guarantee(self)

    def to_frame(self) -> Any:
        """Return all models in a pandas.DataFrame, the answer first.

        Returns
        -------
        pandas.DataFrame
            Indexed by name: ``status`` ("best" or, if not decided, "leads"; "tied";
            "left"; "dropped" by a budget's schedule; "excluded" by bets), ``mean`` of
            the scores read, ``items_read``, ``behind`` (mean difference to the first
            of `best_arms` on the items that both were read on) and, if `value_range` is
            (low, high), the `intervals` as ``lower`` and ``upper``.

        Raises
        ------
        MissingPackageError
            Without pandas.
        """
        return Answer.to_frame(self)

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
