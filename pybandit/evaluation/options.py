"""Groups of options of `best_of`: the items, and the calls of a function."""

from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from pybandit._shared.checks import (
    LARGEST,
    MOST_HELD,
    as_array,
    check_in,
    check_integer,
    check_numeric,
    check_positive,
    labels_of,
    refuse_masks,
    shown,
)
from pybandit._shared.keywords import hinted
from pybandit._shared.optional import require
from pybandit._shared.types import ArrayLike
from pybandit.betting._sequence_checks import check_population
from pybandit.evaluation._keys import items_of

__all__ = ["Calls", "Items", "group_weights"]

CONCURRENCY = 64
# options of `Calls` that apply to calls of one item only
ONE_BY_ONE = ("concurrency", "executor", "retry", "timeout", "per_minute", "failed")


@hinted()
@dataclass(frozen=True, eq=False)
class Items:
    """Items on which models are scored, and the population that the question is about.

    Parameters
    ----------
    items : int, sequence or str, optional
        The number of items, N >= 1, or their labels, text or integers, each once. Needed with a
        function of scores. With a table also the name of the column that holds the labels.
    population_size : int or math.inf, optional
        Number of items that the answer is about, at least N. By default N: the mean over these
        items, and no others. A larger number: the mean over that many items, from which these
        were drawn without replacement. ``math.inf``: the expected score in the population from
        which these items were drawn, independently of each other and of the models. If it is
        larger than N, reading all items decides nothing by itself.
    weights : array_like of float, shape (n_items,), optional
        Weight of each item, above 0: the question is about weighted means, and heavy items are
        read first. `group_weights` computes them from groups. Not with a budget; the result then
        has no bounds on the means of single models. The index of a series must be that of the
        scores.
    prior_scores : array_like or data frame, optional
        Known facts about the items, one row per item: scores of other models or of earlier
        versions on the same items, or features; see `BettingRace`. If these and the scores are
        frames, their rows must have the same labels. With shuffled `Blocks`, a row belongs to a
        row of the shuffled file, in its order.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range. Shapes are checked by the function that takes this
        object.

    See Also
    --------
    best_of, best_of_async, best_of_pairs : take it as ``items``.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> import math
    >>> from pybandit.evaluation import Items, best_of
    >>> def score(model, items):
    ...     return [(item * (model + 2)) % 7 / 6 + 0.3 * model for item in items]
    >>> result = best_of(score, 3, Items(1000, population_size=math.inf), value_range=(0, 2), rng=1)
    >>> result.best, result.population_size
    (2, inf)
    """

    items: int | Sequence[Hashable] | None = None
    _: KW_ONLY
    population_size: float | None = None
    weights: ArrayLike | None = None
    prior_scores: Any = None

    def __post_init__(self) -> None:
        if self.items is not None and not isinstance(self.items, str):
            items_of(self.items)
        if self.population_size is not None:
            check_population(self.population_size, 1, LARGEST)
        refuse_masks("prior_scores", self.prior_scores)
        if self.weights is not None:
            check_in("weights", refuse_masks("weights", self.weights), "finite and above 0",
                     lambda x: np.isfinite(x) & (x > 0))


@hinted()
@dataclass(frozen=True, eq=False)
class Calls:
    """Options of the calls of a function of scores: concurrency, retries, time limits.

    Parameters
    ----------
    block_size : int, optional
        Number of items read at a time; by default 4, later 1/16 of the items read. Not with a
        budget.
    concurrency : int, optional
        Maximum number of calls of one item that run at the same time; 64 for an async function.
        A plain function is then called with one item at a time, in threads or in `executor`. The
        answer is the same for any number, and the same as in blocks.
    executor : Executor or callable, optional
        Runs the calls of a plain function: an object with the ``submit`` of
        `concurrent.futures`, or a function that makes one, which is called again if a worker dies
        and the pool breaks. By default each call has its own thread. If the function returns an
        awaitable, it is awaited.
    retry : exception type or tuple of them, optional
        Temporary failures. A call that raises one is made up to five times, after waits drawn from
        [0, 0.5] seconds, then [0, 1] and so on. If `retry` names any exception, a call that
        returns None or NaN is repeated too. A call whose worker died, or that other code
        cancelled, is made up to ten times; then the race stops, even with `failed`. If an executor
        object is broken, the race stops at once.
    timeout : float, optional
        Maximum duration of a call in seconds, above 0; a longer call fails with TimeoutError. Its
        thread or process goes on, but neither other calls nor the end of the process wait for
        it. An executor gets no more calls than it has workers, and must have their number in
        ``_max_workers``; if no worker returns within `timeout` seconds more, the race stops.
    per_minute : float, optional
        Maximum number of calls started per minute, above 0, retries included, evenly spaced.
    failed : float or (float, float), optional
        Score of a call that failed after all tries, by `retry` or `timeout`, or that returned
        None or NaN; with told costs, a tuple of score and cost. It counts as any other score,
        and `BestOfResult.n_failed_by_arm` has the number of such calls. If they are more than 5 %
        of all scores, or of one model's scores, a `FailedCallsWarning` is issued. A store returns
        them only to races with the same `failed`. Without `failed` the race stops at such a call.
    version : str, optional
        Version of the judge and of everything else that a score depends on. Only with a store in
        a file, which refuses another version.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range. Options that do not apply to a function or a table
        are refused by the function that takes this object.

    See Also
    --------
    best_of, best_of_async, best_of_pairs, run_race : take it as ``calls``.

    Notes
    -----
    **Threads.** It is immutable: threads may share it.

    Examples
    --------
    >>> from pybandit.evaluation import Calls, best_of
    >>> async def score(model, item):
    ...     return (item * 7919 % 101 + 30 * model) / 200
    >>> best_of(score, 3, 400, value_range=(0, 1), calls=Calls(concurrency=8), rng=1).best
    2
    """

    _: KW_ONLY
    block_size: int | None = None
    concurrency: int | None = None
    executor: Any = None
    retry: type[Exception] | tuple[type[Exception], ...] = ()
    timeout: float | None = None
    per_minute: float | None = None
    failed: float | tuple[float, float] | None = None
    version: str | None = None

    def __post_init__(self) -> None:
        for name, most in (("block_size", LARGEST), ("concurrency", MOST_HELD // 64)):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, check_integer(name, value, 1, most))
        for name in ("timeout", "per_minute"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, check_positive(name, value))
        if self.executor is not None and not (callable(self.executor)
                                              or hasattr(self.executor, "submit")):
            raise TypeError("executor must have submit, like those of concurrent.futures, or be a "
                            f"function that makes one; got {shown(self.executor)}")
        object.__setattr__(self, "retry", _exceptions(self.retry))
        for part in self.failed if isinstance(self.failed, tuple) else (self.failed,):
            if part is not None and check_numeric("failed", part).ndim:
                raise ValueError("failed must be one number, or a tuple (score, cost); got "
                                 f"{shown(self.failed)}")
        if self.version is not None and not isinstance(self.version, str):
            raise TypeError(f"version must be text; got {shown(self.version)}")


def group_weights(groups: ArrayLike) -> Any:
    """Return weights under which every group of items counts the same, whatever its size.

    Parameters
    ----------
    groups : array_like, shape (n_items,)
        The group of each item: labels, all text or all numbers.

    Returns
    -------
    ndarray of float64, shape (n_items,), or pandas.Series
        ``1 / (number of groups * items in the group)``; they add up to 1. For a pandas series, a
        series with the same index, which `best_of` compares with that of the scores.

    Raises
    ------
    ValueError, TypeError
        If labels are missing, masked, of several kinds or not in one dimension.

    Examples
    --------
    >>> import pybandit as pb
    >>> pb.evaluation.group_weights(["code", "code", "maths"])
    array([0.25, 0.25, 0.5 ])
    """
    labels = as_array("groups", groups)
    if labels.ndim != 1 or not labels.size:
        raise ValueError(f"groups must have one dimension and one label per item; got shape "
                         f"{labels.shape}")
    if labels.dtype.kind == "f" and np.isnan(labels).any() or labels.dtype.kind == "O" and any(
            label is None or label != label for label in labels.tolist()):
        raise ValueError(f"groups must have a label for every item; got {shown(groups)}")
    try:
        _, group, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    except TypeError as error:  # labels that cannot be sorted
        raise TypeError(f"groups must be labels of one kind; got {shown(groups)}: "
                        f"{error}") from None
    weights = 1.0 / (sizes.size * sizes[group.reshape(-1)])
    if labels_of(groups) is None or not hasattr(groups, "iloc"):
        return weights
    return require("pandas", "pandas").Series(weights, index=groups.index, name="weight")


def _exceptions(retry: Any) -> tuple[type[Exception], ...]:
    types = retry if isinstance(retry, tuple) else (retry,)
    for one in types:
        if not (isinstance(one, type) and issubclass(one, Exception)):
            raise TypeError("retry must be an exception type, or a tuple of them; got "
                            f"{shown(one)}")
    return types


def one_by_one(calls: Calls) -> dict[str, Any]:
    """Return the options for calls of one item that were given, by name."""
    given = {name: getattr(calls, name) for name in ONE_BY_ONE}
    return {name: value for name, value in given.items()
            if not (value is None or isinstance(value, tuple) and not value)}


def as_items(items: Any) -> Items:
    """Return `items` as a group, unchecked: valid items depend on the scores."""
    if isinstance(items, Items):
        return items
    group = Items()
    object.__setattr__(group, "items", items)
    return group


def as_calls(calls: Any) -> Calls:
    """Return `calls`, checked, or the default options."""
    if calls is None:
        return Calls()
    if not isinstance(calls, Calls):
        raise TypeError(f"calls must be a Calls, such as Calls(concurrency=64); got {shown(calls)}")
    return calls
