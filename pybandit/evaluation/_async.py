"""best_of where an event loop runs already."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pybandit.evaluation._best_of import best_of, prepared
from pybandit.evaluation._calls import CONCURRENCY
from pybandit.evaluation._drive import drive
from pybandit.evaluation._run import handing_over, result_of
from pybandit.evaluation.result import BestOfResult

__all__ = ["best_of_async"]


async def best_of_async(score: Callable[[Any, int], Awaitable[Any] | Any],
                        models: int | Sequence[str], items: int | Sequence[str | int], *,
                        concurrency: int = 64, **options: Any) -> BestOfResult:
    """`best_of` with many calls at once, to be awaited: in notebooks, servers, other tasks.

    Parameters
    ----------
    score : callable
        ``async def score(model, item)``, or a plain function of the same, called in an
        executor.
    models, items : int or sequence
        Their numbers, or names and labels, as in `best_of`.
    concurrency : int, default 64
        Calls that are out at most.
    **options
        All others of `best_of`.

    Returns
    -------
    BestOfResult

    Raises
    ------
    ValueError, TypeError, InfeasibleBudgetError, MissingPackageError
        As `best_of`. Where the task is cancelled, its exception has the attribute `paid`.

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
    if not callable(score):
        raise TypeError("score must be a function of (model, item); a table is read by best_of; "
                        f"got {type(score).__name__}")
    inspect.signature(best_of).bind(score, models, items, **options)  # names what is unknown
    if concurrency is None:  # as best_of has it
        concurrency = CONCURRENCY
    race, source, calls, progress = prepared(score, models, items, concurrency=concurrency,
                                             **options)
    with handing_over(race, source):
        found = await drive(race, source, calls, progress)
    return result_of(race, source, None, *found)
