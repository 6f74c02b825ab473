"""A pruner for Optuna that stops a trial once its scores per item show that it is worse."""

import warnings
from typing import Any

import numpy as np

from pybandit._shared.checks import check_delta, check_integer, shown
from pybandit._shared.generators import seed_sequence_of
from pybandit._shared.optional import require
from pybandit._shared.types import Rng
from pybandit.betting.limits import check_limits
from pybandit.integrations._challenge import Challenge, share_of_delta

__all__ = ["RacingPruner"]


class RacingPruner:
    """Stop trials that are worse than the best one, judged item by item (or fold by fold).

    The objective function evaluates its items in an order drawn at random for each trial, reports
    each score with the item's number as the step, asks ``trial.should_prune()`` after each report,
    and returns the mean over all items. A trial is compared with the best complete trial at its
    first call of ``should_prune``, on the same items, by bets that may be looked at after every
    item. Pass it to `optuna.create_study` as ``pruner``.

    Parameters
    ----------
    n_items : int
        Number of items that a complete trial reports, at least 1.
    value_range : (float, float), default (0, 1)
        Smallest and largest possible score.
    delta : float, default 0.05
        Bound on the probability that the study prunes any trial whose mean over all items is at
        least as good as that of the trial it was compared with; in (0, 1).
    n_trials : int, optional
        Number of trials planned. Each of them gets ``delta / n_trials``, and trials after them are
        not pruned. By default trial t = 0, 1, ... gets ``delta / ((t + 1) (t + 2))``, which suits a
        study without a planned end.
    rng : None, int, SeedSequence or Generator
        Orders scores that arrive between two calls of ``should_prune``.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range. In ``should_prune``: if a score is outside
        `value_range`, or a step is not one of the items of the trial compared with.

    See Also
    --------
    pybandit.best_of : the best of candidates that are all known beforehand.

    Notes
    -----
    *Promise.* Given everything before trial t, its order of items is uniform and independent of
    all scores, so `BettingRace` calls it worse by mistake with probability at most its share of
    `delta`; the shares sum to at most `delta`, and the bound on the study is the sum of the
    bounds on its trials. Draw the order anew for each trial: with one order for all of them, the
    sampler knows what the first items gave when it proposes a trial, and nothing is promised.
    The order must not be the steps' own, even if a storage returns them sorted: scores reported
    since the last call are compared in an order drawn with `rng`.

    *What is compared with.* Only trials in the state COMPLETE with a score on all `n_items` items;
    ties go to the earliest. The first complete trial cannot be pruned, nor can trials that began
    before it ended. A trial stays with the trial that it was first compared with. Raise
    ``optuna.TrialPruned``: a trial that returns the mean of some items instead may become
    ``study.best_trial`` by luck.

    *Samplers.* Optuna gives a pruned trial the score of its largest step as its value, which is one
    item's score. `TPESampler` ranks pruned trials by it among themselves.

    *Cost.* About 50 microseconds per report, and memory for one race per running trial. Threads
    (``n_jobs``) share a pruner; each process that shares a storage has its own.

    Examples
    --------
    ::

        def objective(trial):
            x = trial.suggest_float("x", 0, 1)
            scores = []
            for item in np.random.default_rng().permutation(400).tolist():
                scores.append(evaluate(x, item))
                trial.report(scores[-1], item)
                if trial.should_prune():
                    raise optuna.TrialPruned
            return np.mean(scores)

        pruner = RacingPruner(400, n_trials=100)
        study = optuna.create_study(direction="maximize", pruner=pruner)
        study.optimize(objective, n_trials=100)
    """

    def __init__(self, n_items: int, *, value_range: tuple[float, float] = (0, 1),
                 delta: float = 0.05, n_trials: int | None = None, rng: Rng = None) -> None:
        self._n_items = check_integer("n_items", n_items, 1)
        self._range = check_limits(value_range)
        if not isinstance(self._range, tuple):
            raise ValueError(f"value_range must be (low, high); got {shown(value_range)}")
        self._delta = check_delta(delta)
        self._n_trials = n_trials if n_trials is None else check_integer("n_trials", n_trials, 1)
        self._seed = seed_sequence_of(rng)
        self._trials: dict[int, _Trial | None] = {}
        self._warned = False

    def prune(self, study: Any, trial: Any) -> bool:
        """Return True if the trial is shown to be worse; Optuna calls this in `should_prune`."""
        values = trial.intermediate_values
        if not values:
            return False
        if trial.number not in self._trials:
            self._forget_finished(study)
            self._trials[trial.number] = self._begin(study, trial)
        one = self._trials[trial.number]
        return one is not None and one.tell(values)

    def _begin(self, study: Any, trial: Any) -> "_Trial | None":
        """Return the comparison of a trial with the best complete one, or None."""
        delta = share_of_delta(self._delta, trial.number, self._n_trials)
        complete = study.get_trials(deepcopy=False, states=(_state().COMPLETE,))
        whole = [one for one in complete if len(one.intermediate_values) == self._n_items]
        if not delta or not whole:
            self._warn(complete, whole)
            return None
        sign = -1.0 if study.direction == _direction().MINIMIZE else 1.0
        best = max(whole, key=lambda one: (sign * sum(one.intermediate_values.values()),
                                           -one.number))
        low, high = sorted(sign * end for end in self._range)
        seed = np.random.SeedSequence(self._seed.entropy,
                                      spawn_key=(*self._seed.spawn_key, trial.number))
        return _Trial(trial.number, best, sign, Challenge(self._n_items, (low, high), delta),
                      self._range, np.random.default_rng(seed))

    def _warn(self, complete: list[Any], whole: list[Any]) -> None:
        """Warn once if complete trials exist and none of them can be compared with."""
        if complete and not whole and not self._warned:
            self._warned = True
            warnings.warn(
                f"no complete trial has reported n_items={self._n_items} scores (the last has "
                f"{len(complete[-1].intermediate_values)}), so no trial can be pruned",
                UserWarning, stacklevel=5)

    def _forget_finished(self, study: Any) -> None:
        """Free the comparisons of trials that have ended."""
        running = {one.number for one in study.get_trials(deepcopy=False,
                                                          states=(_state().RUNNING,))}
        for number in [*self._trials]:
            if number not in running:
                self._trials.pop(number, None)


class _Trial:
    """One trial, and the trial that it is compared with."""

    def __init__(self, number: int, rival: Any, sign: float, challenge: Challenge,
                 value_range: tuple[float, float], rng: np.random.Generator) -> None:
        self._number, self._rival, self._sign = number, rival, sign
        self._challenge, self._range, self._rng = challenge, value_range, rng
        self._told: set[int] = set()

    def tell(self, values: dict[int, float]) -> bool:
        """Compare the scores that are new; return True if the trial is shown to be worse."""
        steps = sorted(values.keys() - self._told)
        for step in steps:
            self._check(step, values[step])
        known = self._rival.intermediate_values
        for step in self._rng.permutation(steps).tolist():
            self._challenge.tell([self._sign * known[step]], [self._sign * values[step]])
        self._told.update(steps)
        return self._challenge.is_worse

    def _check(self, step: int, value: float) -> None:
        low, high = self._range
        known = self._rival.intermediate_values
        if step not in known:
            raise ValueError(f"step must be one of the {len(known)} items of trial "
                             f"{self._rival.number}, with which trial {self._number} is compared; "
                             f"got {step}")
        for number, score in ((self._number, value), (self._rival.number, known[step])):
            if not low <= score <= high:
                raise ValueError(f"score must be within value_range=({low:g}, {high:g}); got "
                                 f"{score:g} at step {step} of trial {number}")


def _state() -> Any:
    return require("optuna.trial", "optuna").TrialState


def _direction() -> Any:
    return require("optuna.study", "optuna").StudyDirection
