"""Find the best of K models on a set of items, in one call."""

import os
from collections.abc import Hashable, MutableMapping, Sequence
from typing import Any, Literal

import numpy as np

from pybandit._shared.cell_range import cell_range
from pybandit._shared.keywords import hinted
from pybandit._shared.types import ArrayLike, Rng
from pybandit.betting.options import Costs, as_costs
from pybandit.evaluation._calls import call_options, check_failed
from pybandit.evaluation._drive import drive_to_the_end
from pybandit.evaluation._options import labelled, make_race
from pybandit.evaluation._run import handing_over, result_of, run
from pybandit.evaluation._sources import TableSource, as_source, known_scores, options_of
from pybandit.evaluation._store import store_of
from pybandit.evaluation.options import Calls, Items, as_calls, as_items
from pybandit.evaluation.result import BestOfResult

__all__ = ["best_of"]

SUCH_AS = "(low, high), the limits of all values a score can take, such as (0, 1)"


@hinted(calls=Calls, items=Items, costs=Costs)
def best_of(scores: Any, models: int | Sequence[str] | None = None,
            items: int | Sequence[Hashable] | Items | None = None, *, k: int = 1,
            delta: float = 0.05, epsilon: float = 0.0, value_range: ArrayLike | None = None,
            budget: int | None = None, max_pulls: int | None = None,
            costs: ArrayLike | Literal["told"] | Costs | None = None, calls: Calls | None = None,
            store: str | os.PathLike[str] | MutableMapping[Any, Any] | None = None,
            rng: Rng = None, progress: bool | None = None) -> BestOfResult:
    """Find the model, or the k models, of highest mean score on a fixed set of items.

    Models, prompts or configurations are scored on the same items, drawn without
    replacement. Each is eliminated as soon as the wealth of bets against it, 1 at the start,
    reaches `1 / delta`. No more scores are read than the answer needs.

    Parameters
    ----------
    scores : callable or table
        One of:

        - A function ``score(model, items)`` that returns the scores of one model on some items:
          ``model`` is its number or name, ``items`` int64 of shape (n,), the result has shape
          (n,). It is called once per block of items and model still in the race.
        - A function ``async def score(model, item)`` that returns the score of one item; many
          calls run at once. Also a plain function of one item, with
          ``calls=Calls(concurrency=...)``.
        - A table of shape (n_items, n_models): an array, a data frame, an array of xarray or an
          Arrow table. The columns of a frame become `names`.
        - A table larger than memory: `Blocks`, a file written by ``pybandit shuffle``, a memmap.
          See `Blocks` for their random order.
        - Other arrays of Dask, Zarr or HDF5 and the names of other files (.csv, .jsonl, .xlsx,
          .parquet, .npy, .zarr), which are read into memory, up to 2**25 cells.
        - Log files of an evaluation tool: the name of a folder or a file, or a list of names.

        `read_scores` has options for tables and files. The page "What is read" has the formats
        and the rules.
    models : int, sequence of str, "rows" or "columns", optional
        The number of models, K >= 2, or their names; needed with a function. With names, a
        function is called with a name, ``score("gpt-5", items)``, and scores are kept by name,
        so the order of the names may change from call to call. With a number, it is called
        with numbers. A table whose columns have no names gets these names; other tables must
        already have them. With a table also "rows" if each row is a model: a table whose names
        indicate models in rows is refused without it.
    items : int, sequence, str or Items, optional
        The number of items, N >= 1, or their labels, text or integers; needed with a function. A
        function is always called with positions, 0 to N - 1; a store keeps scores by label. With
        a table also the name of the column that holds the labels. `Items` adds the size of the
        population, weights and prior scores.
    k : int, default 1
        Number of best models to find, in [1, K - 1].
    delta : float, default 0.05
        The answer is wrong with probability at most delta, in (0, 1).
    epsilon : float, default 0.0
        A model may be in the answer if its mean is at most this much below the k-th best mean.
        If it is above 0, races between nearly equal models end.
    value_range : (float, float) or float, optional
        ``(low, high)``: all values a score can take. The guarantee depends on it: it must be
        known before the scores are, not taken from them. A number: the largest difference of
        two models' scores on one item; there are then no confidence sequences. By default
        (0, 1) for a table in memory of bools, or whose cells all lie in [0, 1]. It must be given
        for functions, files and `Blocks`, and with a ``population_size`` other than N unless the
        scores are bools.
    budget : int, optional
        Maximum number of scores read, at least K, spent to be right as often as possible: models
        are eliminated by a schedule, and by bets; see `BudgetRace`. The result is `decided` if
        only bets eliminated models; otherwise it has an `error_estimate`. Not together with
        `max_pulls`, `epsilon` or the ``block_size`` of `Calls`.
    max_pulls : int, optional
        Maximum number of scores read, at least K, in a race with a guarantee, which eliminates
        models only by bets. If it is reached, the result is not `decided`, and has several
        `survivors`.
    costs : float, array_like, "told" or Costs, optional
        Cost of one score, finite and at least 0, in any currency: a number, or an array of shape
        (n_items, n_models), (n_models,) or (n_items,). A frame or a series must have the columns
        and the index of the scores; with shuffled `Blocks` its rows are those of the shuffled
        file.
        "told": ``score(model, items)`` returns a tuple (scores, costs). ``Costs(values,
        max_cost=...)`` limits the cost as `max_pulls` limits the scores; ``Costs(values,
        budget=...)`` limits the cost as `budget` limits the scores. Costs decide when the
        race stops and how many items are read at a time, but never which items.
    calls : Calls, optional
        Concurrency, retries, timeout and other options of calls of a function.
    store : path or mutable mapping, optional
        With a function: scores paid for before. They are not requested again, and count as
        scores read. With the same `rng` the race is the same, bit for bit, whichever scores the
        store has. A mapping has the keys ``(model, item)``, written as in `models` and `items`;
        with ``costs="told"`` the values are tuples (score, cost). Every new score is written to it
        after the call that returned it. A path names a file (SQLite), which is created if it
        does not exist; `models` must then be names. A score is on the disk before it is used: if
        best_of is called again after any failure, or with more models in any order, it pays only
        for missing scores. Several processes of one machine may use one file at the same time,
        and none pays for a score that another has paid for or is waiting for. A file holds one
        evaluation: it refuses other items, another `value_range` or version, and told costs if
        it was created without them.
    rng : None, int, SeedSequence or Generator
        Draws the order of the items.
    progress : bool, optional
        If True, show a bar of the scores read (tqdm). None: if tqdm is installed and stderr is
        a terminal.

    Returns
    -------
    BestOfResult

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; if a score that is read is NaN, masked, infinite or
        outside `value_range` (the message names item and model); if any cell of a table is not a
        number.
    FileNotFoundError
        If `scores` names a file that does not exist.
    InfeasibleBudgetError
        For `max_pulls` or `budget` below K, or a limit of costs below the cost of the most
        expensive item for all models.
    StoreMismatchError
        If the file of `store` belongs to another evaluation.
    MissingPackageError
        If tqdm is not installed and `progress` is True, or if calls of one item need the extra
        `async`.

    An exception that `scores` raises, or Ctrl-C, is raised again with an attribute ``store``: the
    scores of all calls that had returned. Pass it as `store` to the next call. If `store` was
    given, it is that object; later answers of threads are still written to it.

    Notes
    -----
    A `FailedCallsWarning` is issued if more than 5 % of all scores, or of one model's scores,
    belong to failed calls.

    The answer is about the mean over these items, and no others, unless `Items` has a
    ``population_size``. If the remaining models were read on all items, totals decide between
    them (`exact`); models eliminated before may still be better, with probability at most delta.

    For k = 1 the race takes O(1) time per score, about 10 ns. See `BettingRace` for details, for
    the proof, and for a race that can be saved and resumed; `run_race` plays such a race.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> scores = np.random.default_rng(1).random((1000, 5)) * [0.5, 0.6, 0.7, 0.8, 1.0]
    >>> result = pb.best_of(scores, rng=1)
    >>> result.best, result.n_pulls, result.fraction_read
    (4, 280, 0.056)

    If a judge fails, no paid score is lost:

    >>> def judge(model, items, calls=[]):
    ...     calls.append(model)
    ...     if len(calls) == 50:
    ...         raise TimeoutError
    ...     return scores[items, model]
    >>> try:
    ...     pb.best_of(judge, 5, 1000, value_range=(0, 1), rng=1)
    ... except TimeoutError as error:
    ...     paid = error.store
    >>> len(paid)
    196
    >>> pb.best_of(judge, 5, 1000, value_range=(0, 1), rng=1, store=paid).n_pulls
    280
    """
    race, source, options = prepared(
        scores, models, items, k=k, delta=delta, epsilon=epsilon, value_range=value_range,
        budget=budget, max_pulls=max_pulls, costs=costs, calls=as_calls(calls), store=store,
        rng=rng)
    return played(race, source, options, progress)


def played(race: Any, source: Any, options: Any, progress: bool | None) -> Any:
    """Return the result of a race; `options` are those of calls of one item, or None."""
    if options is None:
        return run(race, source, progress)
    with handing_over(race, source):
        found = drive_to_the_end(race, source, options, progress)
    return result_of(race, source, None, *found)


def prepared(scores, models, items, *, k, delta, epsilon, value_range, budget, max_pulls, costs,
             calls, store, rng):
    """Return the race, its source, and the options of calls of one item (None for blocks)."""
    items, costs = as_items(items), as_costs(costs)
    prices = None if costs is None else costs.values
    tells_costs = isinstance(prices, str)
    options = call_options(scores, calls, ("score", "cost") if tells_costs else ("score",))
    source = as_source(scores, models, items.items, tells_costs,
                       options_of(models, items.items, items.weights is not None))
    value_range = range_of(value_range, scores, source, items)
    if costs is not None and not tells_costs:
        costs = Costs(labelled("costs", prices, source), budget=costs.budget,
                      max_cost=costs.max_cost)
    race = make_race(
        source, k, dict(delta=delta, value_range=value_range, rng=rng, costs=costs,
                        population_size=items.population_size),
        dict(epsilon=epsilon, max_pulls=max_pulls, block_size=calls.block_size,
             weights=labelled("weights", items.weights, source),
             prior_scores=known_scores(items.prior_scores, source)), budget)
    finish(source, race, calls, options, store)
    return race, source, options


def finish(source, race, calls, options, store):
    """Check the score of failures against the race, and open the store."""
    if options is not None and options.failed is not None:
        check_failed(options.failed, race)
    source.paid = store_of(store, source, race, calls, options)


def range_of(value_range, scores, source, items):
    """Return `value_range`; if it is None, (0, 1) for a table in memory whose cells lie there.

    The guarantee is about the random order of the items, so inspecting the whole table does not
    weaken it.
    """
    if value_range is not None:
        return value_range
    kind = _kind_without_range(scores, source)
    if kind is not None:
        raise ValueError(f"value_range must be given for {kind}: {SUCH_AS}")
    values = source.values
    if values.dtype == bool:
        return 0.0, 1.0
    if items.population_size not in (None, source.n_items):
        raise ValueError("value_range must be given with a population_size, because other items "
                         f"may have other scores: {SUCH_AS}")
    limits = cell_range(values)
    if limits is None:
        row, column = np.argwhere(np.isnan(values))[0].tolist()
        raise ValueError(f"scores must be finite; got nan for {source.model(column)}, "
                         f"{source.item(row)}: leave items with a lost score out for all models")
    if limits[0] < 0 or limits[1] > 1:
        row, column = np.argwhere((values < 0) | (values > 1))[0].tolist()
        raise ValueError("value_range must be given for a table with cells outside [0, 1]: "
                         f"{SUCH_AS}; got {float(values[row, column])} for {source.model(column)}, "
                         f"{source.item(row)}")
    return 0.0, 1.0


def _kind_without_range(scores, source):
    """Return the kind of these scores in words; None if they are a table in memory."""
    if callable(scores):
        return "a function"
    if isinstance(scores, (str, os.PathLike)) or isinstance(scores, (list, tuple)) and all(
            isinstance(one, (str, os.PathLike)) for one in scores):
        return "a file"
    if not isinstance(source, TableSource) or source.table is None or source.is_read or (
            isinstance(scores, np.memmap)):
        return "scores that are not a table in memory"
    return None
