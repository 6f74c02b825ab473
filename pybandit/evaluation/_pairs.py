"""Find the best of K models by comparing two at a time."""

import functools
import os
from collections.abc import Callable, Hashable, MutableMapping, Sequence
from typing import Any

import numpy as np

from pybandit._shared.checks import check_integer, check_numeric, refuse_masks, shown
from pybandit._shared.errors import InfeasibleBudgetError
from pybandit._shared.keywords import hinted
from pybandit._shared.labels import aligned, in_order
from pybandit._shared.types import Ints, Rng
from pybandit.betting.options import Costs
from pybandit.evaluation._keys import Keys, items_of, models_of
from pybandit.evaluation._options import make_race
from pybandit.evaluation._run import run
from pybandit.evaluation._sources import ScoreSource
from pybandit.evaluation._store import Paid, store_of
from pybandit.evaluation.options import Calls, Items, as_calls, as_items, one_by_one
from pybandit.evaluation.result import BestOfResult

__all__ = ["best_of_pairs"]

# A dict is used up to n_items / FEW entries: an entry takes as much memory as some
# 13 of an array. An array in pieces saves little, because items come in random order.
FEW = 16


@hinted(calls=Calls)
def best_of_pairs(judge: Callable[[Any, Any, Ints], Any], models: int | Sequence[str],
                  items: int | Sequence[Hashable] | Items, *, baseline: int | str | None = None,
                  k: int = 1, delta: float = 0.05, epsilon: float = 0.0,
                  budget: int | None = None, max_pulls: int | None = None,
                  calls: Calls | None = None,
                  store: str | os.PathLike[str] | MutableMapping[Any, Any] | None = None,
                  rng: Rng = None, progress: bool | None = None) -> BestOfResult:
    """Find the model, or the k models, that win most often when two are compared at a time.

    With a `baseline`, models are compared by their mean win rate against that model. Without one,
    they are compared by their mean win rate against all K models, where a model scores 1/2 against
    itself. This gives the same order as the mean win rates against the K - 1 others.

    Parameters
    ----------
    judge : callable
        ``judge(model_a, model_b, items)`` returns one judgement per item, shape (n,): 1 if a
        wins, 0 if b wins, .5 for a tie, or any number in between. Models are names, or numbers
        if `models` is a number; ``items`` is int64 of shape (n,). The judgement of b against a
        is 1 minus that of a against b, and no pair is judged twice on an item. If the answer
        depends on the order of the two, let the function ask in both orders and average.
    models : int or sequence of str
        The number of models, K >= 2, or their names, as in `best_of`.
    items : int, sequence or Items
        The number of items, N >= 1, or their labels, as in `best_of`. `Items` must have no
        ``prior_scores``, and a ``population_size`` only with a baseline.
    baseline : int or str, optional
        A model, by its number in [0, K - 1] or by name; it scores 1/2 against itself, without
        a call.
    k, delta, epsilon, rng, progress
        As in `best_of`; `delta` and `epsilon` are about win rates.
    budget : int, optional
        Approximate maximum number of judgements, spent to be right as often as possible; see
        `best_of`.
    max_pulls : int, optional
        Approximate maximum number of judgements of the race with a guarantee.
    calls : Calls, optional
        Only `block_size` and, with a store in a file, `version`; the judge is called with
        blocks of items.
    store : path or mutable mapping, optional
        As in `best_of`; the judgement of a against b has the key ``(a, b, item)``, with a < b.

    Returns
    -------
    BestOfResult
        `means` are win rates; `cost` is the number of judgements requested, `cost_by_arm` that
        number per model. Without a baseline, `items` and `n_items` refer to pairs of item and
        opponent, numbered ``item * K + opponent``.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or a judgement is not in [0, 1]; the message names
        models and item.
    InfeasibleBudgetError
        If `max_pulls` or `budget` is below K.
    StoreMismatchError
        If the file `store` belongs to another evaluation.

    An exception that `judge` raises is raised again; its attribute ``store`` has the judgements
    made before.

    Notes
    -----
    Without a baseline, the population has N K members: pairs (i, b) of an item and an opponent.
    The score of model a on (i, b) is the judgement of a against b on item i, or 1/2 if b is a,
    so its mean is the win rate in question. Pairs are drawn without replacement, the same for
    all surviving models, and the proof is that of `BettingRace`. Eliminated models stay
    opponents: the win rate is always against all K models. A judgement of b against a is also
    used for a against b.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> strength = np.random.default_rng(1).normal([0, 0.2, 0.4, 1.5], 1.0, (500, 4))
    >>> result = pb.best_of_pairs(
    ...     lambda a, b, items: strength[items, a] > strength[items, b], 4, 500, rng=1)
    >>> result.best, result.decided
    (3, True)
    """
    items, calls = as_items(items), as_calls(calls)
    for name, value in one_by_one(calls).items():
        raise ValueError(f"{name} of Calls must be left out for pairs, which are judged in blocks "
                         f"of items; got {shown(value)}")
    if items.prior_scores is not None:
        raise ValueError("prior_scores must be left out for pairs; got "
                         f"{shown(items.prior_scores)}")
    source = PairSource(judge, models, items.items, baseline)
    weights, limits = items.weights, {"max_cost": max_pulls, "budget": budget}
    if baseline is None:
        if items.population_size is not None:
            raise ValueError("population_size must be left out without a baseline: pairs of one "
                             f"item are not independent draws; got {shown(items.population_size)}")
        if weights is not None:
            weights = np.repeat(_item_weights(weights, source.n_real), source.n_arms)
    for limit, name in (("max_cost", "max_pulls"), ("budget", "budget")):
        limits[limit] = _limit(name, limits[limit], source.n_arms)
    if None not in limits.values():
        raise ValueError(f"max_pulls must be left out with a budget; got {max_pulls}")
    race = make_race(
        source, k, dict(delta=delta, value_range=(0, 1), rng=rng, costs=Costs(**limits),
                        population_size=items.population_size),
        dict(epsilon=epsilon, block_size=calls.block_size, weights=weights), None)
    source.paid = store_of(store, source, race, calls, None)
    against = "all" if baseline is None else source.model_name(source.baseline)
    return run(race, source, progress, against)


def _limit(name, value, n_arms):
    """Return a limit on the number of judgements, at least one per model, or None."""
    if value is None:
        return None
    value = check_integer(name, value, 0)
    if value < n_arms:
        raise InfeasibleBudgetError(f"{name} must be at least {n_arms}, one judgement per model; "
                                    f"got {value}")
    return value


class PairSource(ScoreSource):
    """Win rates against a baseline, or against all models, as scores of models on units.

    A unit is an item, or without a baseline a pair of item and opponent.
    """

    def __init__(self, judge, models, items, baseline):
        if not callable(judge) or isinstance(judge, type):
            raise TypeError(f"judge must be a function of two models and items; got {shown(judge)}")
        self.function = judge
        self.names, self.n_arms = models_of(models)
        labels, self.n_real = items_of(items)
        self.keys = Keys(self.names, labels)
        self.baseline = baseline
        if isinstance(baseline, str) and self.names is not None:
            if baseline not in self.names:
                raise ValueError(f"baseline must be one of models; got {baseline!r}")
            self.baseline = self.names.index(baseline)
        elif baseline is not None:
            self.baseline = check_integer("baseline", baseline, 0, self.n_arms - 1)
        self.n_items = self.n_real * (self.n_arms if baseline is None else 1)
        if baseline is not None:
            self.labels = labels
        self.paid = Paid(None, ("judgement",), self.keys)
        self.known = {}  # `Judgements` by (a, b), a < b

    @property
    def n_real_items(self):
        """Number of items; `n_items` is the number of units."""
        return self.n_real

    def model_name(self, model):
        return f"model {model}" if self.names is None else str(self.names[model])

    def read(self, units, models, advance):
        """Return scores and numbers of new judgements, 0 or 1; shapes (len(units), len(models))."""
        items, opponents = units, np.full(units.size, self.baseline or 0)
        if self.baseline is None:
            items, opponents = np.divmod(units, self.n_arms)
        values, costs = np.full((units.size, models.size), 0.5), np.zeros((units.size, models.size))
        for column, model in enumerate(models.tolist()):
            for opponent in np.unique(opponents[opponents != model]).tolist():
                rows = np.flatnonzero(opponents == opponent)
                values[rows, column], costs[rows, column] = self._ask(model, opponent, items[rows])
            advance(units.size)
        return values, costs

    def _ask(self, model, opponent, items):
        """Return the judgements of a model against an opponent, and which of them are new."""
        # ordered by name, so that a store does not depend on the order of `models`
        pair = tuple(sorted((model, opponent), key=self.keys.model))
        if pair not in self.known:
            self.known[pair] = Judgements(self.n_real)
        found = self.known[pair].of(items)
        new = np.isnan(found)
        if new.any():
            given = np.empty((1, np.count_nonzero(new)))
            # stored for the pair as sorted, whichever model the judgements were requested for
            self.paid.fill(given, pair, items[new],
                           functools.partial(self._judged_of, pair, model == pair[0]))
            found[new] = given[0]
            self.known[pair].keep(items[new], given[0])
        return found if model == pair[0] else 1.0 - found, new

    def _judged_of(self, pair, straight, items):
        if straight:
            return self._judged(*pair, items)
        return 1.0 - self._judged(*pair[::-1], items)

    def _judged(self, model, opponent, items):
        model, opponent = self.keys.model(model), self.keys.model(opponent)
        name = f"judge({model!r}, {opponent!r}, items)"
        given = self.function(model, opponent, items.copy())
        given = aligned(name, given, items.tolist(), "its items")
        given = check_numeric(name, refuse_masks(name, given))
        if given.shape != items.shape:
            raise ValueError(f"{name} must return one judgement per item, shape {items.shape}; got "
                             f"shape {given.shape}")
        bad = ~((given >= 0) & (given <= 1))
        if bad.any():
            at = int(bad.argmax())
            raise ValueError(f"{name} must return judgements in [0, 1]; got {given[at]} for item "
                             f"{items[at]}")
        return given


class Judgements:
    """Judgements of one pair, by item: a dict while there are few, then an array."""

    def __init__(self, n_items):
        self.n_items, self.few, self.all = n_items, {}, None

    def of(self, items):
        """Return the judgement of each item; NaN if there is none."""
        if self.all is not None:
            return self.all[items]
        return np.array([self.few.get(item, np.nan) for item in items.tolist()])

    def keep(self, items, values):
        if self.all is None and FEW * (len(self.few) + items.size) > self.n_items:
            values_of = np.full(self.n_items, np.nan)
            for item, value in self.few.items():
                values_of[item] = value
            self.few, self.all = None, values_of
        if self.all is None:
            self.few.update(zip(items.tolist(), values.tolist(), strict=True))
        else:
            self.all[items] = values


def _item_weights(weights, n_items):
    in_order("weights", weights, range(n_items), what="the index of the items")
    weights = check_numeric("weights", refuse_masks("weights", weights))
    if weights.shape != (n_items,):
        raise ValueError(f"weights must have the shape ({n_items},), one per item; got "
                         f"{weights.shape}")
    return weights
