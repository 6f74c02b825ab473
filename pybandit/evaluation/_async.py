"""Run best_of in a running event loop."""

import os
from collections.abc import Awaitable, Callable, Hashable, MutableMapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pybandit._shared.checks import shown
from pybandit._shared.types import ArrayLike, Rng
from pybandit.betting.options import Costs
from pybandit.evaluation._best_of import prepared
from pybandit.evaluation._drive import drive
from pybandit.evaluation._run import handing_over, result_of
from pybandit.evaluation.options import CONCURRENCY, Calls, Items, as_calls
from pybandit.evaluation.result import BestOfResult

__all__ = ["best_of_async"]


async def best_of_async(
        scores: Callable[[Any, int], Awaitable[Any] | Any], models: int | Sequence[str],
        items: int | Sequence[Hashable] | Items, *, k: int = 1, delta: float = 0.05,
        epsilon: float = 0.0, value_range: ArrayLike | None = None, budget: int | None = None,
        max_pulls: int | None = None,
        costs: ArrayLike | Literal["told"] | Costs | None = None, calls: Calls | None = None,
        store: str | os.PathLike[str] | MutableMapping[Any, Any] | None = None,
        rng: Rng = None, progress: bool | None = None) -> BestOfResult:
    """Run `best_of` in a running event loop, many calls at once: in notebooks and servers.

    Parameters
    ----------
    scores : callable
        ``async def score(model, item)``, or a plain function with the same arguments, which is
        called in threads or in an executor.
    models : int or sequence of str
        The number of models, or their names, as in `best_of`.
    items : int, sequence or Items
        The number of items, or their labels, as in `best_of`.
    k, delta, epsilon, value_range, budget, max_pulls, costs, calls, store, rng, progress
        As in `best_of`; ``value_range`` must be given, and the concurrency of the calls is 64 by
        default.

    Returns
    -------
    BestOfResult

    Raises
    ------
    ValueError, TypeError, InfeasibleBudgetError, StoreMismatchError, MissingPackageError
        As in `best_of`. If the task is cancelled, its exception has the attribute ``store``.

    Examples
    --------
    >>> import asyncio, pybandit as pb
    >>> async def score(model, item):
    ...     await asyncio.sleep(0)
    ...     return (item * 7919 % 101 + 30 * model) / 200
    >>> async def choose():
    ...     return await pb.best_of_async(score, 3, 400, value_range=(0, 1), rng=1)
    >>> asyncio.run(choose()).best
    2
    """
    if not callable(scores):
        raise TypeError("scores must be a function of (model, item): use best_of for a table; "
                        f"got {shown(scores)}")
    calls = as_calls(calls)
    if calls.concurrency is None:  # here it is the default for plain functions too
        calls = replace(calls, concurrency=CONCURRENCY)
    race, source, options = prepared(
        scores, models, items, k=k, delta=delta, epsilon=epsilon, value_range=value_range,
        budget=budget, max_pulls=max_pulls, costs=costs, calls=calls, store=store, rng=rng)
    with handing_over(race, source):
        found = await drive(race, source, options, progress)
    return result_of(race, source, None, *found)
