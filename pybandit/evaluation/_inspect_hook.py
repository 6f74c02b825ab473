"""Early-stopping hook for Inspect: stop tasks that a race by betting has eliminated."""

from contextvars import ContextVar
from functools import partial
from typing import Any

import numpy as np

from pybandit._shared.checks import check_flag, check_integer, check_scalar, shown
from pybandit._shared.optional import require
from pybandit.betting._paired import MOST_ARMS
from pybandit.betting.limits import check_limits
from pybandit.betting.race import BettingRace

__all__ = ["RaceStopping"]

# The arm of a sample: Inspect does not pass its task, but runs it in the context of `start_task`.
_ARM: ContextVar[int] = ContextVar("pybandit_arm")


class RaceStopping:
    """A `BettingRace` between K tasks of Inspect; pass it to all as their `early_stopping`.

    Parameters
    ----------
    n_arms : int
        K, at least 2: the number of tasks (models, prompts or agents) on one dataset. No task is
        stopped before all have started, so run all at once: ``eval(..., max_tasks=K)``.
    value_range : (float, float), default (0, 1)
        Smallest and largest possible score.
    scorer : str, optional
        Name of the scorer to race on; needed if the tasks have several.
    value : callable, optional
        Converts the value of that scorer to a number. By default, Inspect's
        ``value_to_float()`` converts text.
    finish : bool, default False
        If True, the best tasks continue through all samples.
    **options
        ``k``, ``delta``, ``epsilon``, ... of `BettingRace`.

    Attributes
    ----------
    race : BettingRace or None
        The race. Its items are positions in the dataset. None before the first task.
    names : list of str
        Names of the arms: task and model.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    best_of, BettingRace : races without Inspect.

    Notes
    -----
    Items are read in the order of the dataset, which must be shuffled with one seed for all
    tasks. The guarantee is that of `BettingRace`, about the samples of the run. Draw a new seed
    for each run: runs with the same seed have the same order, and repeat a wrong answer as long
    as the scores stay the same. The score of an item is its mean over the epochs. Bets are made in
    the order of the items. Inspect does not report samples that fail after all retries: from such
    an item on, the race decides nothing, unless ``score_on_error`` scores it.

    **Threads.** Use it only in the event loop in which Inspect runs the tasks.

    Examples
    --------
    Pass it to all tasks: ``eval(Task(dataset, scorer=match(), early_stopping=race), model=models,
    max_tasks=2)``. Afterwards it has the names of the tasks and the `BettingRace`. Before the first
    task:

    >>> import pybandit as pb
    >>> race = pb.evaluation.RaceStopping(2, delta=0.05)
    >>> race.names, race.race is None
    ([], True)
    """

    def __init__(self, n_arms: int, *, value_range: tuple[float, float] = (0, 1),
                 scorer: str | None = None, value: Any = None, finish: bool = False,
                 **options: Any) -> None:
        self._range = check_limits(value_range)
        if not isinstance(self._range, tuple):
            raise ValueError(f"value_range must be (low, high); got {shown(value_range)}")
        if not (value is None or callable(value)):
            raise TypeError(f"value must be callable or None; got {shown(value)}")
        if not (scorer is None or isinstance(scorer, str)):
            raise TypeError(f"scorer must be text or None; got {shown(scorer)}")
        self.scorer = scorer
        self.n_arms = check_integer("n_arms", n_arms, 2, MOST_ARMS)
        self.finish, self._value = check_flag("finish", finish), value
        self._make = partial(BettingRace.in_order, self.n_arms, value_range=self._range,
                             **{"block_size": 1, **options})
        self._make([0])  # raises now if the options are invalid
        self.race, self.names = None, []  # type: BettingRace | None, list[str]
        self._arms: dict[str, int] = {}
        self._scores: dict[tuple[int, int], dict[int, float]] = {}

    def __repr__(self) -> str:
        return f"<RaceStopping: {len(self.names)} of {self.n_arms} tasks started>"

    async def start_task(self, task: Any, samples: list[Any], epochs: int) -> str:
        if not (task.dataset.shuffled or task.config.sample_shuffle):
            raise ValueError("dataset must be shuffled, with a seed: items are read in its order")
        places = {sample.id: place for place, sample in enumerate(samples)}
        if self.race is None:
            self._places, self._epochs = places, epochs
            # the dataset's order is random
            self.race = self._make(np.arange(len(samples)))
        if (places, epochs) != (self._places, self._epochs):
            raise ValueError("tasks must have the same samples, in the same order, and the same "
                             "number of epochs")
        if task.task_id not in self._arms:
            if len(self.names) == self.n_arms:
                raise ValueError(f"n_arms must be the number of tasks; got {self.n_arms}, and more "
                                 "tasks were started")
            self._arms[task.task_id] = len(self.names)
            self.names.append(f"{task.task}, {task.model}")
        _ARM.set(self._arms[task.task_id])
        return "pybandit"

    async def schedule_sample(self, id: str | int, epoch: int) -> Any:
        race = self.race
        left = race.survivors if not race.done else race.recommend()[:self.finish * race.n_arms]
        if _ARM.get() in left:
            return None
        reason = f"{'decided' if race.done else 'behind'} after {race.n_pulls:,} scores"
        return require("inspect_ai.util", "inspect").EarlyStop(id=id, epoch=epoch, reason=reason)

    async def complete_sample(self, id: str | int, epoch: int, scores: dict[str, Any]) -> None:
        value = self._scored(scores)
        if self._value is None and isinstance(value, str):
            value = require("inspect_ai.scorer", "inspect").value_to_float()(value)
        value = value if self._value is None else self._value(value)
        cell = self._scores.setdefault((_ARM.get(), self._places[id]), {})
        cell[epoch] = check_scalar(f"the score of sample {shown(id)}", value, f"in {self._range}",
                                   lambda x: self._range[0] <= x <= self._range[1])
        while not self.race.done:  # while all surviving tasks have a score of the next item
            arms, items = self.race.ask()
            cells = [self._scores.get(tuple(cell), {}) for cell in np.c_[arms, items].tolist()]
            if min(map(len, cells)) < self._epochs:
                return
            self.race.tell(arms, items, [np.mean(list(cell.values())) for cell in cells])

    def _scored(self, scores: dict[str, Any]) -> Any:
        """Return the value of the scorer that is raced on, or None if the sample has no scores."""
        if not scores:
            return None
        name = self.scorer if self.scorer is not None else next(iter(scores))
        if name not in scores or (self.scorer is None and len(scores) > 1):
            raise ValueError(f"scorer must be one of {sorted(scores)}; got {shown(self.scorer)}")
        return scores[name].score.value

    async def complete_task(self) -> dict[str, Any]:
        race, best = self.race, [self.names[arm] for arm in self.race.recommend()]
        return {"best": best, "decided": race.decided, "scores_read": race.n_pulls,
                "items_read": int(race.pulls[_ARM.get()]), "of": race.n_items}
