"""Play a given race by betting on a function or a table of scores."""

import os
from collections.abc import Hashable, MutableMapping, Sequence
from typing import Any

from pybandit._shared.checks import shown
from pybandit._shared.keywords import hinted
from pybandit.betting._paired import PairedRace
from pybandit.betting.above import BettingThreshold
from pybandit.betting.budget import BudgetRace
from pybandit.betting.race import BettingRace
from pybandit.evaluation._best_of import finish, played
from pybandit.evaluation._calls import call_options
from pybandit.evaluation._sources import as_source, options_of
from pybandit.evaluation._threshold import ThresholdResult
from pybandit.evaluation.options import Calls, Items, as_calls
from pybandit.evaluation.result import BestOfResult

__all__ = ["run_race"]


@hinted(calls=Calls, items=Items)
def run_race(race: BettingRace | BudgetRace | BettingThreshold, scores: Any,
             models: int | Sequence[str] | None = None,
             items: int | Sequence[Hashable] | None = None, *, calls: Calls | None = None,
             store: str | os.PathLike[str] | MutableMapping[Any, Any] | None = None,
             progress: bool | None = None) -> BestOfResult | ThresholdResult:
    """Play a race to its end on a function or a table of scores.

    `best_of` creates the race itself; use `run_race` for thresholds and for options that `best_of`
    does not have, such as the kind of bets.

    Parameters
    ----------
    race : BettingRace, BudgetRace or BettingThreshold
        The race, which is modified. Its options define the question. It may have been played in
        part before.
    scores : callable or table
        As in `best_of`, for models ``0`` to ``race.n_arms - 1`` and items ``0`` to
        ``race.n_items - 1``.
    models : int or sequence of str, optional
        Names of the models, or their number; by default ``race.n_arms``.
    items : int or sequence, optional
        Labels of the items, text or integers, or their number; by default ``race.n_items``.
    calls : Calls, optional
        As in `best_of`, without `block_size`, which is an option of the race.
    store, progress
        As in `best_of`.

    Returns
    -------
    BestOfResult or ThresholdResult
        A `ThresholdResult` for a `BettingThreshold`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, if the race has no number of items, or if its
        numbers of models and items differ from those of the scores.
    StoreMismatchError
        If the file `store` belongs to another evaluation.

    An exception that `scores` raises is raised again with an attribute ``store``, as in `best_of`.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> scores = np.random.default_rng(1).random((1000, 5)) * [0.5, 0.6, 0.7, 0.8, 1.0]
    >>> race = pb.BettingRace(5, 1000, value_range=(0, 1), bets=pb.betting.Bets("product"), rng=1)
    >>> pb.evaluation.run_race(race, scores).best
    4
    """
    if not isinstance(race, PairedRace):
        raise TypeError("race must be a BettingRace, a BudgetRace or a BettingThreshold; got "
                        f"{shown(race)}")
    if race.n_items is None:
        raise ValueError("race must have n_items, a number of items, not an endless stream; got "
                         f"{race!r}")
    calls, tells_costs = as_calls(calls), race._is_told_costs()
    if calls.block_size is not None:
        raise ValueError("block_size of Calls must be left out: it is an option of the race; got "
                         f"{calls.block_size}")
    if isinstance(items, Items):
        raise TypeError("items must be a number or labels: population_size, weights and "
                        "prior_scores are options of the race; got an Items")
    options = call_options(scores, calls, ("score", "cost") if tells_costs else ("score",))
    if callable(scores):
        models = race.n_arms if models is None else models
        items = race.n_items if items is None else items
    source = as_source(scores, models, items, tells_costs, options_of(models, items, False))
    for name, size, expected in (("n_arms", race.n_arms, source.n_arms),
                               ("n_items", race.n_items, source.n_items)):
        if size != expected:
            raise ValueError(f"race must have {name} = {expected}, like the scores; got {size}")
    finish(source, race, calls, options, store)
    result: BestOfResult | ThresholdResult = played(race, source, options, progress)
    return result
