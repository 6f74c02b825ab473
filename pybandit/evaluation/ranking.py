"""Rank K models by comparing two at a time."""

import math
import os
from collections.abc import Callable, Hashable, MutableMapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pybandit._shared.checks import check_delta, check_integer, shown
from pybandit._shared.generators import as_generator
from pybandit._shared.records import Record
from pybandit._shared.types import Floats, Ints, Rng
from pybandit.betting._scaled import log_wealth
from pybandit.evaluation._pairs import PairSource
from pybandit.evaluation._store import store_of
from pybandit.evaluation.options import Calls, Items, as_items

__all__ = ["Ranking", "rank_by_pairs"]

FIRST, GROWTH = 16, 8  # units in the first block; later a block is an eighth of the units read


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranking(Record):
    """Models in the order of their win rates, and which of these differences are certain.

    Attributes
    ----------
    order : ndarray of int64, shape (n_arms,)
        Models, the highest win rate first.
    names : tuple of str
        Names of the models, by number.
    means : ndarray of float64, shape (n_arms,)
        Win rates against all models, over what was read.
    is_better : ndarray of bool, shape (n_arms, n_arms)
        ``is_better[a, b]`` is True if a is shown to be better than b.
    decided : bool
        True if every pair is decided.
    exact : bool
        True if everything was read, so that means are exact.
    n_judgements, n_all : int
        Judgements requested, and those of a full round robin.
    delta : float

    See Also
    --------
    rank_by_pairs : returns it.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> import numpy as np
    >>> from pybandit.evaluation import rank_by_pairs
    >>> skill = np.random.default_rng(1).normal([0, 1, 2], 1.0, (300, 3))
    >>> ranking = rank_by_pairs(lambda a, b, items: skill[items, a] > skill[items, b], 3, 300,
    ...                         rng=1)
    >>> ranking
    <Ranking: 2 > 1 > 0; all pairs decided, error at most 5 %, 143 of 900 judgements>
    """

    order: Ints
    names: tuple[str, ...]
    means: Floats
    is_better: NDArray[np.bool_]
    decided: bool
    exact: bool
    n_judgements: int
    n_all: int
    delta: float

    @property
    def ranks(self) -> Ints:
        """Smallest and largest possible rank of each model; int64, shape (n_arms, 2), from 1."""
        n_arms = len(self.names)
        return np.stack([1 + self.is_better.sum(axis=0), n_arms - self.is_better.sum(axis=1)], 1)

    def to_frame(self) -> Any:
        """Return a pandas.DataFrame in the order of the ranking: win rate and possible ranks.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.
        """
        from pybandit._shared.optional import require

        pandas = require("pandas", "pandas")
        ranks = self.ranks[self.order]
        return pandas.DataFrame(
            {"win_rate": self.means[self.order], "rank_from": ranks[:, 0], "rank_to": ranks[:, 1]},
            index=pandas.Index([self.names[arm] for arm in self.order], name="model"))

    def __str__(self) -> str:
        signs = [" > " if self.is_better[a, b] else " ~ "
                 for a, b in zip(self.order, self.order[1:], strict=False)]
        named = "".join(self.names[arm] + sign
                        for arm, sign in zip(self.order, [*signs, ""], strict=True))
        open_pairs = len(self.names) * (len(self.names) - 1) // 2 - int(self.is_better.sum())
        state = ("everything was read" if self.exact else "all pairs decided" if self.decided
                 else f"{open_pairs:,} pairs undecided")
        promise = "" if self.exact else f", error at most {100 * self.delta:.3g} %"
        return (f"{named}; {state}{promise}, {self.n_judgements:,} of {self.n_all:,} judgements")

    def __repr__(self) -> str:
        return f"<Ranking: {self}>"


def rank_by_pairs(judge: Callable[[Any, Any, Ints], Any], models: int | Sequence[str],
                  items: int | Sequence[Hashable] | Items, *, delta: float = 0.05,
                  max_judgements: int | None = None,
                  store: str | os.PathLike[str] | MutableMapping[Any, Any] | None = None,
                  rng: Rng = None) -> Ranking:
    """Rank models by their win rates, from as few judgements of two models as possible.

    A model is read until it is separated from every other model. All claims "a is better than b"
    are right together with probability at least ``1 - delta``, and the call may be stopped at any
    time by `max_judgements`.

    Parameters
    ----------
    judge, models, items, store
        As in `best_of_pairs`; `Items` may have neither weights nor prior scores.
    delta : float, default 0.05
        Bound on the probability that any claim is wrong, in (0, 1).
    max_judgements : int, optional
        No further block is read once this many judgements were requested, at least 1.
    rng : None, int, SeedSequence or Generator
        Draws the order of the units.

    Returns
    -------
    Ranking

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or a judgement is not in [0, 1].
    StoreMismatchError
        If the file `store` belongs to another evaluation.

    See Also
    --------
    best_of_pairs : only the best model, or the k best: fewer judgements.

    Notes
    -----
    A unit is a pair of an item and an opponent, as in `best_of_pairs`; the win rate of a model is
    its mean over all N K units. Units are drawn without replacement, the same for all models that
    are read. For each ordered pair (a, b), the wealth of bets against "the win rate of a is at most
    that of b", on the differences of their scores, is a nonnegative supermartingale from 1 if that
    is true; by Ville's inequality it ever reaches ``K (K - 1) / delta`` with probability at most
    ``delta / (K (K - 1))``. The K (K - 1) ordered pairs share `delta`. If everything is read, the
    order is exact, and equal win rates stay undecided.

    Cost: O(K^2 n) per block of units, n the number of units read.

    Examples
    --------
    >>> import numpy as np
    >>> from pybandit.evaluation import rank_by_pairs
    >>> skill = np.random.default_rng(1).normal([0, 1, 2], 1.0, (300, 3))
    >>> ranking = rank_by_pairs(lambda a, b, items: skill[items, a] > skill[items, b], 3, 300,
    ...                         rng=1)
    >>> ranking.order, ranking.decided
    (array([2, 1, 0]), True)
    """
    delta, items = check_delta(delta), as_items(items)
    for name in ("weights", "prior_scores", "population_size"):
        if getattr(items, name) is not None:
            raise ValueError(f"{name} must be left out for a ranking; got "
                             f"{shown(getattr(items, name))}")
    most = (math.inf if max_judgements is None
            else check_integer("max_judgements", max_judgements, 1))
    source = PairSource(judge, models, items.items, None)
    source.paid = store_of(store, source, SimpleNamespace(value_range=(0.0, 1.0)), Calls(), None)
    return _ranked(source, delta, most, as_generator(rng))


def _ranked(source, delta, most, rng):
    n_arms, n_units = source.n_arms, source.n_items
    order, read, n_paid = rng.permutation(n_units), 0, 0
    scores = np.full((n_arms, n_units), np.nan)
    counts, is_better = np.zeros(n_arms, dtype=np.int64), np.zeros((n_arms, n_arms), dtype=bool)
    while read < n_units and n_paid < most:
        active = np.flatnonzero((~(is_better | is_better.T)).sum(axis=1) > 1)  # and itself
        if not active.size:
            break
        until = min(n_units, read + max(FIRST, read // GROWTH))
        values, costs = source.read(order[read:until], active, lambda _: None)
        scores[active, read:until] = values.T
        n_paid, read = n_paid + int(costs.sum()), until
        counts[active] = read
        _decide(scores[:, :read], active, is_better, delta, n_units)
    sums = np.nansum(scores, axis=1)
    means = sums / np.maximum(counts, 1)
    is_exact = read == n_units and bool((counts == n_units).all())
    if is_exact:
        is_better |= means[:, None] > means + 1e-12
    names = tuple(map(str, source.names or range(n_arms)))
    n_pairs = n_arms * (n_arms - 1) // 2
    return Ranking(order=_sorted(means, is_better), names=names, means=means, is_better=is_better,
                   decided=int(is_better.sum()) == n_pairs, exact=is_exact, n_judgements=n_paid,
                   n_all=source.n_real * n_pairs, delta=delta)


def _decide(scores, active, is_better, delta, n_units):
    """Add the claims that the scores read so far prove, in place."""
    n_arms = is_better.shape[0]
    # the sizes of the bets may depend on any level; that of the smallest delta underflows
    level = max(delta / (n_arms * (n_arms - 1)), np.finfo(float).tiny)
    threshold = math.log(n_arms * (n_arms - 1)) - math.log(delta)
    for at, a in enumerate(active.tolist()):
        for b in active[:at].tolist():
            if is_better[a, b] or is_better[b, a]:
                continue
            gains = np.ascontiguousarray((scores[a] - scores[b] + 1.0) / 2.0)
            logs = log_wealth(gains, 0.5, level, population_size=n_units, planned=None)
            tops = logs.max(axis=1)
            if tops.max() >= threshold:
                better, worse = (a, b) if tops[0] >= tops[1] else (b, a)
                is_better[better, worse] = True


def _sorted(means, is_better):
    """Return models by the number of models shown to be worse, then by their means."""
    return np.lexsort((-means, -(is_better.sum(axis=1) - is_better.sum(axis=0))))
