"""Which of K models is best on this set of items: one call from scores to answer."""

from collections.abc import MutableMapping
from typing import Any, Literal

from pybandit._shared.types import ArrayLike, Rng
from pybandit.evaluation._options import costs_of, make_race
from pybandit.evaluation._run import run
from pybandit.evaluation._scores import as_source, known_scores
from pybandit.evaluation.result import BestOfResult

__all__ = ["best_of"]


def best_of(scores: Any, n_models: int | None = None, n_items: int | None = None, *, k: int = 1,
            delta: float = 0.05, value_range: ArrayLike, tolerance: float = 0.0,
            max_evaluations: int | None = None, budget: int | None = None, rng: Rng = None,
            progress: bool | None = None, bets: int | None = None, hybrid: bool = False,
            mixture: str | None = None, block_size: int | None = None, costs: Any = None,
            max_cost: float | None = None, budget_cost: float | None = None,
            population: Literal["items", "sample"] | int = "items",
            weights: ArrayLike | None = None,
            prior_scores: Any = None,
            paid: MutableMapping[Any, Any] | None = None) -> BestOfResult:
    """The model, or the k models, of highest mean score on a fixed set of items.

    Models, prompts or configurations are scored on the same items, drawn without
    replacement; each leaves the race as soon as bets against it have won
    `1 / delta`. Only as many scores are read as the answer takes.

    Parameters
    ----------
    scores : callable or table
        ``score(model, items)`` returns the scores of one model on some items:
        ``model`` an int, ``items`` int64 (n,), the result (n,). It is called once
        for each model still in the race and block of items. Or an array, a data
        frame or an Arrow table, of shape (n_items, n_models), whose cells are read
        where they are needed; the frame's columns become `names`. Or a table larger than
        memory: `Blocks`, a file that ``pybandit shuffle`` has written, a memmap; see
        `Blocks` for what is random of it. Other arrays of Dask, Zarr or HDF5 and the names
        of other files (.csv, .parquet, .npy, .zarr) are read into memory, up to 2**25 cells.
    n_models, n_items : int, optional
        K >= 2 and N >= 1; needed with a function.
    k : int, default 1
        How many of the best, in [1, n_models - 1].
    delta : float, default 0.05
        The answer is wrong with probability at most delta, in (0, 1).
    value_range : (float, float) or float
        ``(low, high)``: all values a score can take. The guarantee rests on it: it
        must be known before the scores are, not taken from them. A number: the
        largest difference of two models' scores on one item; confidence
        sequences then cannot be had.
    tolerance : float, default 0.0
        Any model may be the answer whose mean is at most this much below the
        k-th best, so that near ties end.
    max_evaluations : int, optional
        Scores read at most; at least `n_models`. A cap of the race with a guarantee:
        it narrows only where it is sure. When they are spent the result is not
        `decided`, and `survivors` are left.
    budget : int, optional
        Scores read at most; at least `n_models`. They are spent to be right as
        often as possible, as `BudgetRace` does: models leave by a schedule, and
        by bets. The result is `decided` where only bets took models out;
        otherwise it has an `error_estimate`. Not together with `max_evaluations`,
        `tolerance`, `hybrid` or `block_size`.
    rng : None, int, SeedSequence or Generator
        Draws the order of the items.
    progress : bool, optional
        A bar of the scores read (tqdm). None: where tqdm is installed and stderr is
        a terminal.
    bets, hybrid, mixture, block_size
        As in `BettingRace`.
    costs : array_like or "told", optional
        What a score costs, finite and at least 0, in whatever money: (n_items, n_models),
        (n_models,) or (n_items,); of a data frame, columns and index are those of
        the scores. "told": ``score(model, items)`` returns a tuple, scores and costs.
        Costs decide when the race stops and how many items are read at a time, never which.
    max_cost : float, optional
        As `max_evaluations`, in money.
    budget_cost : float, optional
        As `budget`, in money: where prices differ it buys as many scores as it can of the
        models that are left.
    population : {"items", "sample"} or int, default "items"
        What the answer is about. "items": the mean over these items, and no others.
        "sample": the expected score in the world that these items were drawn from,
        independently of each other and of the models. A number, at least `n_items`: the
        mean over that many items, of which these were drawn without replacement. Reading
        all of a sample decides nothing by itself.
    weights : array_like of float, shape (n_items,), optional
        What each item counts, above 0: the question is about weighted means, and heavy items
        are read first. `group_weights` makes them of groups. Not with a budget; there are
        then no bounds on single means.
    prior_scores : array_like or data frame, optional
        What is known of the items, a row an item: scores of other models or of earlier
        versions on the same items, or features. As in `BettingRace`; the rows of a
        frame must have the labels of those of `scores`, where both are frames.
    paid : dict, optional
        With a function: scores that are known by ``(model, item)``, tuples (score, cost)
        with ``costs="told"``. They are not asked for again, and count as read as if they
        were. Every new score is written to it after the call that gave it; a mapping that
        is kept on the disk outlives the process. Of the same `rng` the race is the same,
        bit for bit, whatever of it had been paid for before.

    Returns
    -------
    BestOfResult

    Raises
    ------
    ValueError, TypeError
        Where an argument is outside its range; where a score that is read is NaN,
        masked, infinite or outside `value_range`: the message names item and model;
        where a table holds something else than numbers, read or not.
    InfeasibleBudget
        For `max_evaluations` or `budget` below `n_models`, `max_cost` or `budget_cost` below
        what the dearest item costs of all models.
    MissingPackage
        For ``progress=True`` without tqdm.

    What `scores` raises, Ctrl-C too, is passed on, with an attribute `paid`: the scores of
    all calls that had come back, to be given to the next call as `paid`. What a call that
    raises had got until then is its own.

    Notes
    -----
    The answer is about the mean over these items, and no others, unless `population`
    says that they are a sample. Where all of them were read of the models that were
    left, the totals decide between these (`exact`); models that were dropped before may
    still have been better, with probability at most delta.

    O(1) a score for k = 1, some 10 ns; see `BettingRace` for more, for the
    proof, and for a race that can be saved and resumed.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> scores = np.random.default_rng(1).random((1000, 5)) * [0.5, 0.6, 0.7, 0.8, 1.0]
    >>> result = pb.best_of(scores, value_range=(0, 1), rng=1)
    >>> result.best, result.n_evaluations, result.fraction_read
    (4, 280, 0.056)

    A judge that fails loses nothing that was paid for:

    >>> def judge(model, items, calls=[]):
    ...     calls.append(model)
    ...     if len(calls) == 50:
    ...         raise TimeoutError
    ...     return scores[items, model]
    >>> try:
    ...     pb.best_of(judge, 5, 1000, value_range=(0, 1), rng=1)
    ... except TimeoutError as error:
    ...     paid = error.paid
    >>> len(paid)
    196
    >>> pb.best_of(judge, 5, 1000, value_range=(0, 1), rng=1, paid=paid).n_evaluations
    280
    """
    source = as_source(scores, n_models, n_items,
                       isinstance(costs, str) and costs == "told", paid)
    race = make_race(
        source, k,
        dict(delta=delta, value_range=value_range, rng=rng, bets=bets, mixture=mixture,
             costs=costs_of(costs, source), population=population),
        dict(tolerance=tolerance, max_evaluations=max_evaluations, max_cost=max_cost,
             hybrid=hybrid, block_size=block_size, weights=weights,
             prior_scores=known_scores(prior_scores, source)),
        dict(budget=budget, budget_cost=budget_cost))
    return run(race, source, progress)
