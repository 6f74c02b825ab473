"""Which of K models is best on this set of items: one call from scores to answer."""

import os
from collections.abc import Iterable, MutableMapping, Sequence
from typing import Any, Literal

from pybandit._shared.checks import as_list, shown
from pybandit._shared.types import ArrayLike, Rng
from pybandit.evaluation._calls import call_options, check_failed
from pybandit.evaluation._drive import drive_to_the_end
from pybandit.evaluation._options import labelled, make_race
from pybandit.evaluation._paid import Paid
from pybandit.evaluation._run import handing_over, result_of, run
from pybandit.evaluation._scores import as_source, known_scores, options_of
from pybandit.evaluation.result import BestOfResult
from pybandit.tables._logs.read import choice_of

__all__ = ["best_of"]


def best_of(scores: Any, models: int | Sequence[str] | None = None,
            items: int | Sequence[str | int] | None = None, *, k: int = 1, delta: float = 0.05,
            value_range: ArrayLike, epsilon: float = 0.0,
            max_pulls: int | None = None, budget: int | None = None, rng: Rng = None,
            progress: bool | None = None, bets: int | None = None, hybrid: bool = False,
            mixture: str | None = None, block_size: int | None = None, costs: Any = None,
            max_cost: float | None = None, budget_cost: float | None = None,
            population_size: float | None = None,
            weights: ArrayLike | None = None,
            prior_scores: Any = None,
            paid: MutableMapping[Any, Any] | None = None, concurrency: int | None = None,
            executor: Any = None,
            retry: type[Exception] | tuple[type[Exception], ...] = (),
            timeout: float | None = None, calls_per_minute: float | None = None,
            failed: float | tuple[float, float] | Literal["skip"] | None = None,
            store: str | os.PathLike[str] | None = None,
            version: str | None = None,
            columns: Iterable[Any] | None = None,
            metric: str | Iterable[str] | None = None,
            filter: str | Iterable[str] | None = None) -> BestOfResult:
    """The model, or the k models, of highest mean score on a fixed set of items.

    Models, prompts or configurations are scored on the same items, drawn without
    replacement; each leaves the race as soon as bets against it have won
    `1 / delta`. Only as many scores are read as the answer takes.

    Parameters
    ----------
    scores : callable or table
        ``score(model, items)`` returns the scores of one model on some items:
        ``model`` its number or name, ``items`` int64 (n,), the result (n,). It is called once
        for each model still in the race and block of items. Or ``async def score(model,
        item)``, of one item and one number, called many times at once; also a plain
        function of these with `concurrency` or `executor`. Or an array, a data
        frame, an array of xarray or an Arrow table, of shape (n_items, n_arms); the
        frame's columns become `names`. Or a table larger than
        memory: `Blocks`, a file that ``pybandit shuffle`` has written, a memmap; see
        `Blocks` for what is random of it. Other arrays of Dask, Zarr or HDF5 and the names
        of other files (.csv, .jsonl, .xlsx, .parquet, .npy, .zarr) are read into memory, up to
        2**25 cells. Or log files of an evaluation tool: the name of a folder, of a file, or
        a list of names. The page "What is read" has the formats and the rules.
    models : int, sequence of str, "rows" or "columns", optional
        The number of models, K >= 2, or their names; needed with a function. Given names, a
        function is called with a name, ``score("gpt-5", items)``, and scores are kept by name:
        the order of the names may then change from call to call. Given a number, it is called
        with numbers. For a table whose columns have no names, they become the names; other
        tables must have the same. With a table also "rows" if each row is a model: a table
        whose names say so is refused without it.
    items : int, sequence of str or int, or str, optional
        The number of items, N >= 1, or their labels; needed with a function. A function is
        called with positions, 0 to N - 1, in any case; labels are what scores are kept by.
        With a table also the name of the column that holds the labels of the items.
    k : int, default 1
        Number of best models to find, in [1, K - 1].
    delta : float, default 0.05
        The answer is wrong with probability at most delta, in (0, 1).
    value_range : (float, float) or float
        ``(low, high)``: all values a score can take. The guarantee rests on it: it
        must be known before the scores are, not taken from them. A number: the
        largest difference of two models' scores on one item; confidence
        sequences then cannot be had.
    epsilon : float, default 0.0
        Any model may be the answer whose mean is at most this much below the
        k-th best, so that near ties end.
    max_pulls : int, optional
        Scores read at most; at least K. A cap of the race with a guarantee:
        it narrows only where it is sure. When they are spent the result is not
        `decided`, and `survivors` are left.
    budget : int, optional
        Scores read at most; at least K. They are spent to be right as
        often as possible, as `BudgetRace` does: models leave by a schedule, and
        by bets. The result is `decided` where only bets took models out;
        otherwise it has an `error_estimate`. Not together with `max_pulls`,
        `epsilon`, `hybrid` or `block_size`.
    rng : None, int, SeedSequence or Generator
        Draws the order of the items.
    progress : bool, optional
        A bar of the scores read (tqdm). None: where tqdm is installed and stderr is
        a terminal.
    bets, hybrid, mixture, block_size
        As in `BettingRace`.
    costs : array_like or "told", optional
        What a score costs, finite and at least 0, in whatever money: (n_items, n_arms),
        (n_arms,) or (n_items,); of a frame or a series columns and index are those
        of the scores; beside shuffled `Blocks` a row is one of the shuffled file.
        "told": ``score(model, items)`` returns a tuple, scores and costs.
        Costs decide when the race stops and how many items are read at a time, never which.
    max_cost : float, optional
        As `max_pulls`, in money.
    budget_cost : float, optional
        As `budget`, in money: where prices differ it buys as many scores as it can of the
        models that are left.
    population : {"items", "sample"} or int, default "items"
        What the answer is about. "items": the mean over these items, and no others.
        "sample": the expected score in the world that these items were drawn from,
        independently of each other and of the models. A number, at least N: the
        mean over that many items, of which these were drawn without replacement. Reading
        all of a sample decides nothing by itself.
    weights : array_like of float, shape (n_items,), optional
        What each item counts, above 0: the question is about weighted means, and heavy items
        are read first. `group_weights` makes them of groups. Not with a budget; there are
        then no bounds on single means. The index of a series is that of the scores.
    prior_scores : array_like or data frame, optional
        What is known of the items, a row an item: scores of other models or of earlier
        versions on the same items, or features. As in `BettingRace`; the rows of a
        frame must have the labels of those of `scores`, where both are frames. Beside
        shuffled `Blocks` they are rows of the shuffled file, in its order.
    paid : dict, optional
        With a function: known scores by ``(model, item)``, written as in `models` and `items`.
        With ``costs="told"`` they are tuples (score, cost). They are not asked for again, and
        count as read as if they were. Every new score is written to the mapping after the call
        that gave it; a mapping on the disk outlives the process. With the same `rng` the race
        is the same, bit for bit, whatever had been paid for before.
    concurrency : int, optional
        Of calls of one item: how many are out at most; 64 where it is not given. The answer
        is the same for any number, and that of the race in blocks.
    executor : Executor or callable, optional
        Where a plain function is called: anything with the ``submit`` of
        `concurrent.futures`, or a function that makes one, which is called again where a
        worker died and its pool with it. By default threads of our own, one a call. A
        function around an async one is awaited.
    retry : exception type or tuple of them, optional
        Failures of a call that may pass: it is tried five times in all, again after a time
        that is drawn from [0, 0.5] seconds, then [0, 1] and so on. If `retry` names any
        exception, a call that returns None or NaN is tried again too. A call whose worker died,
        or that somebody else cancelled, is tried ten times; then the race stops, whatever
        `failed` says. So it does at once where an executor that was given is broken.
    timeout : float, optional
        Seconds a call may take from its begin; then it has failed with TimeoutError. What
        runs in a thread or a process goes on there. Threads of our own keep neither other
        calls nor the process from going on. An executor gets no more calls than it has
        workers, and must say how many (``_max_workers``, as those of `concurrent.futures`);
        where none of them comes back for `timeout` seconds more, the race stops.
    calls_per_minute : float, optional
        Calls, tries among them, are begun at most so often, evenly; by an executor that
        does not say how many workers it has they are handed over so.
    failed : float or (float, float), optional
        The score of a call that failed for good, by `retry` or `timeout`, or that returned None
        or NaN (as score or as cost); with ``costs="told"`` score and cost. It counts as any
        other, and `BestOfResult.n_failed_by_arm` counts them; of more than 5 % of all scores, or of
        a model's, there is a RuntimeWarning. In a `store` it is known to calls of the same
        `failed`; others make the call again. Without it the race stops there. With log files,
        a number: the score of items that failed, by the log. "skip" leaves items that lack a
        score out, for all models. Without it such files are refused.
    store : str or path-like, optional
        A file for `paid` (SQLite), made where there is none. A score is on the disk before it
        counts; called again after whatever happened, or with more models, only what is
        missing is paid for. Several processes of one machine may use one at once: none pays
        for what another has paid for, or is at; nor for what a thread is still at after
        Ctrl-C, which is waited for. The file holds one evaluation. Give `models` as names, so
        that scores are kept by name: models may then be added, left out and reordered. If
        models are numbers, only their number can be checked: the file cannot notice that two
        have changed places. Items given by number must be as many and in the same order. The
        file refuses another `value_range` or `version`, and costs if it was made without.
    version : str, optional
        The version of the judge and of all that a score depends on, with a `store`. Scores of
        one version are not used for another.
    columns : iterable, optional
        With a table: names of the columns that are models, or their numbers if the table has no
        names; of a table of one line for each score, names of the columns of model, item and
        score. By default all, but for labels of items and aggregates such as ``mean``.
    metric : str or iterable of str, optional
        With log files: the metric or the scorer that is read, if there are several; names if
        tasks have different ones.
    filter : str or iterable of str, optional
        With log files: the filter (lm-evaluation-harness), prompt (promptfoo) or perturbation
        (HELM) that is read, if there are several.

    Returns
    -------
    BestOfResult

    Raises
    ------
    ValueError, TypeError
        Where an argument is outside its range; where a score that is read is NaN,
        masked, infinite or outside `value_range`: the message names item and model;
        where a table holds something else than numbers, read or not.
    InfeasibleBudgetError
        For `max_pulls` or `budget` below K, `max_cost` or `budget_cost` below
        what the dearest item costs of all models.
    MissingPackageError
        For ``progress=True`` without tqdm, and for calls of one item without the extra
        `async`.

    What `scores` raises, Ctrl-C too, is passed on, with an attribute `paid`: the scores of
    all calls that had come back, to be given to the next call as `paid`; of `paid` that was
    given, that mapping, to which late answers of threads are still written. What a call that
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
    >>> result.best, result.n_pulls, result.fraction_read
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
    >>> pb.best_of(judge, 5, 1000, value_range=(0, 1), rng=1, paid=paid).n_pulls
    280
    """
    race, source, calls, progress = prepared(
        scores, models, items, k=k, delta=delta, value_range=value_range,
        epsilon=epsilon, max_pulls=max_pulls, budget=budget, rng=rng,
        progress=progress, bets=bets, hybrid=hybrid, mixture=mixture, block_size=block_size,
        costs=costs, max_cost=max_cost, budget_cost=budget_cost, population_size=population_size,
        weights=weights, prior_scores=prior_scores, paid=paid, concurrency=concurrency,
        executor=executor, retry=retry, timeout=timeout, calls_per_minute=calls_per_minute,
        failed=failed, store=store, version=version, columns=columns, metric=metric,
        filter=filter)
    if calls is None:
        return run(race, source, progress)
    with handing_over(race, source):
        found = drive_to_the_end(race, source, calls, progress)
    return result_of(race, source, None, *found)


def prepared(scores, models=None, items=None, *, k=1, delta=0.05, value_range, epsilon=0.0,
             max_pulls=None, budget=None, rng=None, progress=None, bets=None, hybrid=False,
             mixture=None, block_size=None, costs=None, max_cost=None, budget_cost=None,
             population_size=None, weights=None, prior_scores=None, paid=None, concurrency=None,
             executor=None, retry=(), timeout=None, calls_per_minute=None, failed=None,
             store=None, version=None, columns=None, metric=None, filter=None):
    """The race, its source, options of calls or None, and progress, of what `best_of` takes."""
    told = isinstance(costs, str) and costs == "told"
    is_named = isinstance(scores, (str, os.PathLike, list, tuple))
    calls = call_options(scores, concurrency, executor, retry, timeout, calls_per_minute,
                         None if is_named else failed, ("score", "cost") if told else ("score",))
    logs = choice_of(metric, filter, failed if is_named else None)
    if columns is not None:
        columns = as_list("columns", columns, "names of columns")
    source = as_source(scores, models, items, told, paid,
                       options_of(models, items, columns, weights is not None, logs))
    race = make_race(
        source, k,
        dict(delta=delta, value_range=value_range, rng=rng, bets=bets, mixture=mixture,
             costs=labelled("costs", costs, source), population_size=population_size),
        dict(epsilon=epsilon, max_pulls=max_pulls, max_cost=max_cost,
             hybrid=hybrid, block_size=block_size, weights=labelled("weights", weights, source),
             prior_scores=known_scores(prior_scores, source)),
        dict(budget=budget, budget_cost=budget_cost))
    if calls is not None and calls.failed is not None:
        check_failed(calls.failed, race)
    if store is not None:
        source.paid = _stored(store, source, paid, told, calls and calls.failed,
                              _about(race, version))
    elif version is not None:
        raise ValueError(f"version must be left out without a store; got {shown(version)}")
    return race, source, calls, progress


def _about(race, version):
    """Settings that all scores of one file must share."""
    if version is not None and not isinstance(version, str):
        raise TypeError(f"version must be text; got {shown(version)}")
    return {"value_range": str(race.value_range), "version": version or ""}


def _stored(store, source, paid, told, failed, about):
    """What is paid for, in a file."""
    from pybandit.studies._cell_names import Names
    from pybandit.studies._cells import Cells  # SQLite, for who has a file

    if source.paid is None or paid is not None:
        raise ValueError("store must be left out beside a table of scores, for which nothing is "
                         f"paid, and beside paid; got {shown(store)}")
    if not isinstance(store, (str, os.PathLike)):
        raise TypeError(f"store must be the path of a file; got {shown(store)}")
    name = os.fsdecode(store)
    if name in ("", ":memory:") or "\0" in name:  # SQLite's names of what is nowhere, or cut
        raise ValueError("store must be the path of a file, which is on the disk; without one "
                         f"paid= keeps scores in memory; got {shown(store)}")
    names = Names(source.names, source.labels, source.n_arms)
    cells = Cells(store, source.n_items, told, failed, names=names, about=about)
    return Paid(cells, source.paid.parts, source.keys)
