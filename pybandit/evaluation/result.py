"""What `best_of` found: the answer, what it took, bounds and a picture."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pybandit._shared.checks import check_integer
from pybandit._shared.types import Floats, Ints
from pybandit.betting.budget import BudgetRace
from pybandit.betting.confidence import ConfidenceBounds, confidence_sequence
from pybandit.betting.race import BettingRace
from pybandit.evaluation import _words

__all__ = ["BestOfResult"]


@dataclass(frozen=True, eq=False, repr=False)
class BestOfResult:
    """What `best_of` found.

    Attributes
    ----------
    best : int
        The best model: the first of `best_arms`.
    best_name
        Its name, None without names.
    best_arms : ndarray of int64, shape (k,)
        The k best, best mean first. Where not `decided`, the present leaders.
    names : tuple or None
        The columns of the data frame.
    n_arms, n_items : int
    n_pulls : int
        Scores read.
    fraction_read : float
        Of all n_arms * n_items.
    decided : bool
        False where `max_pulls` or `max_cost` ended the race: the guarantee is then
        that the k best are among the `survivors`. With a budget True where only bets
        took models out.
    exact : bool
        All items were read of the models that were left, so that totals decided
        between these. Models dropped before may have been better, with probability
        at most `delta`.
    survivors : ndarray of int64
        Models that can still be among the k best; where decided, `best_arms`. With a
        `budget` also those `dropped`; of k > 1 the guarantee is then no more.
    pulls : ndarray of int64, shape (n_arms,)
        Items read of each model: the first ones of `items`.
    means : ndarray of float64, shape (n_arms,)
        Of the scores read. Of models that left early they are rough.
    items : ndarray of int64
        In the order they were read.
    delta, epsilon : float
    value_range : (float, float) or float
        As given.
    budget : int or None
        As given.
    cost : float or None
        What the scores read have cost; None without `costs`.
    cost_by_arm : ndarray of float64, shape (n_arms,), or None
        The same of each model.
    population_size : int or math.inf
        Number of items that the answer, `intervals` and `error_estimate` are about.
    weights : ndarray of float64, shape (n_items,), or None
        As given; `means` are then of weighted means, and there are no bounds on them.
    baseline : str or None
        Of `best_of_pairs`: whom the models were compared with, "all" or the baseline.
    dropped : ndarray of int64
        With a budget, models that the schedule took out, which no bet was won against.
    n_wasted : int
        Scores of many calls at once that came to nothing: their model had left, or the call had
        begun and was out when the race ended. Not among `n_pulls`, and not in `cost`.
    n_failed_by_arm : ndarray of int64, shape (n_arms,)
        Calls of each model that failed for good and count as `failed`. What `paid` or
        `store` had from before is not known to be a failure, and not among them.
    n_failed : int
        All of them.
    error_estimate : float or None
        With a budget, about how probable it is that the answer is wrong; see
        `BudgetRace.error_estimate`. An estimate, no bound.

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
    >>> result = pb.best_of(scores, value_range=(0, 1), rng=1)
    >>> result.best, result.n_pulls, round(result.fraction_read, 2), result.decided
    (2, 476, 0.03, True)
    >>> result.pulls, result.means.round(2)
    (array([100, 188, 188]), array([0.33, 0.39, 0.47]))
    >>> result.intervals.round(2)
    array([[0.29, 0.4 ],
           [0.34, 0.45],
           [0.4 , 0.52]])
    """

    best_arms: np.ndarray
    names: tuple | None
    n_arms: int
    n_items: int
    n_pulls: int
    exact: bool
    decided: bool
    survivors: np.ndarray
    pulls: np.ndarray
    means: np.ndarray
    items: np.ndarray
    delta: float
    value_range: tuple | float
    epsilon: float
    budget: int | None
    dropped: np.ndarray
    cost: float | None
    cost_by_arm: np.ndarray | None
    population_size: float
    weights: np.ndarray | None
    baseline: str | None
    n_wasted: int
    n_failed_by_arm: np.ndarray
    _race: BettingRace | BudgetRace
    _sequences: dict = field(default_factory=dict)

    @property
    def best(self) -> int:
        return int(self.best_arms[0])

    @property
    def best_name(self) -> Any:
        return None if self.names is None else self.names[self.best]

    @property
    def fraction_read(self) -> float:
        return self.n_pulls / (self.n_arms * self.n_items)

    @property
    def n_failed(self) -> int:
        return int(self.n_failed_by_arm.sum())

    @property
    def error_estimate(self) -> float | None:
        return self._race.error_estimate if self._budgeted else None

    @property
    def _has_bounds(self):
        """Whether single means have confidence sequences."""
        return isinstance(self.value_range, tuple) and self.weights is None

    @property
    def _budgeted(self):
        return isinstance(self._race, BudgetRace)

    def name(self, model: int) -> str:
        """The name of a model as text; 'model 3' without names."""
        model = self._checked(model)
        return f"model {model}" if self.names is None else str(self.names[model])

    def rewards(self, model: int) -> Floats:
        """The scores of a model in the order read; float64, shape (pulls[model],)."""
        return self._race.rewards(self._checked(model))

    def confidence_sequence(self, model: int) -> ConfidenceBounds:
        """Running bounds on the mean of one model over the population.

        Returns
        -------
        ConfidenceBounds
            ``lower``, ``upper``, float64 of shape (pulls[model],): with probability at
            least ``1 - delta`` the mean is between the two after every item. Each
            model's holds for itself; for all K at once its error is K delta.

        Raises
        ------
        ValueError
            Where `value_range` is one number, or items have weights.

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
    def confidence_sequences(self) -> list[ConfidenceBounds]:
        """List of `confidence_sequence` of every model."""
        return [self.confidence_sequence(model) for model in range(self.n_arms)]

    @property
    def intervals(self) -> Floats:
        """Last bounds on the mean of every model; float64, shape (n_arms, 2)."""
        return np.array([(bounds.lower[-1], bounds.upper[-1])
                         for bounds in self.confidence_sequences])

    def plot(self, ax: Any = None) -> Any:
        """Running means over items read, and where models were dropped.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a figure of its own.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        MissingPackageError
            Without matplotlib.
        """
        from pybandit.evaluation._figure import elimination_figure

        return elimination_figure(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the scores, as lists and plain numbers for JSON.

        `intervals` is None where `value_range` is one number, or items have weights.
        """
        return {
            "best": self.best,
            "best_name": None if self.names is None else self.name(self.best),
            "best_arms": self.best_arms.tolist(),
            "names": None if self.names is None else [str(name) for name in self.names],
            "decided": self.decided,
            "exact": self.exact,
            "summary": self.summary(),
            "guarantee": self.guarantee(),
            "tied": self.tied.tolist(),
            "survivors": self.survivors.tolist(),
            "n_arms": self.n_arms,
            "n_items": self.n_items,
            "n_pulls": self.n_pulls,
            "fraction_read": self.fraction_read,
            "pulls": self.pulls.tolist(),
            "means": self.means.tolist(),
            "intervals": self.intervals.tolist() if self._has_bounds else None,
            "items": self.items.tolist(),
            "delta": self.delta,
            "epsilon": self.epsilon,
            "budget": self.budget,
            "cost": self.cost,
            "cost_by_arm": None if self.cost_by_arm is None else self.cost_by_arm.tolist(),
            "population_size": (None if self.population_size == math.inf
                                else self.population_size),
            "weights": None if self.weights is None else self.weights.tolist(),
            "baseline": self.baseline,
            "n_wasted": self.n_wasted,
            "n_failed_by_arm": self.n_failed_by_arm.tolist(),
            "dropped": self.dropped.tolist(),
            "error_estimate": self.error_estimate,
            "value_range": (list(self.value_range) if isinstance(self.value_range, tuple)
                            else self.value_range),
        }

    @property
    def tied(self) -> Ints:
        """Models outside of `best_arms` of exactly the mean of its last; int64, increasing.

        Known of models that were read on all items, where the answer is `exact`; empty
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
        """The answer in one sentence: who, among how many, how sure, after how much."""
        return _words.summary(self)

    def guarantee(self) -> str:
        """What holds, in a sentence."""
        return _words.guarantee(self)

    def to_frame(self) -> Any:
        """All models in a pandas.DataFrame, the answer first.

        Returns
        -------
        pandas.DataFrame
            Indexed by name: ``status`` ("best" or, where not decided, "leads"; "tied";
            "left"; "dropped" by a budget's schedule; "excluded" by bets), ``mean`` of
            the scores read, ``items_read``, ``behind`` (mean difference to the first
            of `best_arms` on the items that both were read on) and, where `value_range` is
            (low, high), the `intervals` as ``lower`` and ``upper``.

        Raises
        ------
        MissingPackageError
            Without pandas.
        """
        from pybandit.evaluation._table import to_frame

        return to_frame(self)

    def _repr_html_(self) -> str:
        from pybandit.evaluation._table import to_html

        return to_html(self)

    def __str__(self) -> str:
        return f"{self.summary()} {self.guarantee()}{_words.failures(self)}"

    def __repr__(self) -> str:
        return (f"BestOfResult(best_arms={self.best_arms.tolist()}, "
                f"population_size={self.population_size}, "
                f"decided={self.decided}, exact={self.exact}, n_pulls={self.n_pulls}, "
                f"fraction_read={self.fraction_read:.4g})")

    def _checked(self, model):
        model = check_integer("model", model, 0)
        if model >= self.n_arms:
            raise ValueError(f"model must be below n_arms = {self.n_arms}; got {model}")
        return model
