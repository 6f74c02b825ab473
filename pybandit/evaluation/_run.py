"""Play a race of models on a source of scores to its end."""

import contextlib

import numpy as np

from pybandit._shared.progress import make_bar
from pybandit.betting._table import read_ahead
from pybandit.betting.above import BettingThreshold
from pybandit.betting.budget import BudgetRace
from pybandit.evaluation._model_result import names_of
from pybandit.evaluation._threshold import ThresholdResult
from pybandit.evaluation._words import warn_of_failures
from pybandit.evaluation.result import BestOfResult
from pybandit.tables._npy import give_back, rows_mapped


def run(race, source, progress, baseline=None):
    """Play a race on the scores of a source and return its result; `baseline` is for pairs."""
    if source.paid is None:
        _read(race, source, progress)
    else:
        with handing_over(race, source):
            _read(race, source, progress)
    return result_of(race, source, baseline)


@contextlib.contextmanager
def handing_over(race, source):
    """Attach the paid scores to an exception raised inside, also to Ctrl-C."""
    source.paid.limits = _limits_of(race)
    try:
        yield
    except BaseException as error:
        source.paid.drop_refused(error)
        source.paid.give(error)
        raise
    finally:
        source.paid.close()


def _read(race, source, progress):
    """Report scores to the race until it is done."""
    with make_bar(progress, _limit_of(race), "scores", "best_of") as bar:
        while not race.done:
            if source.table is not None:
                read_ahead(race, source.table, bar.update,
                           (rows_mapped(source.table), give_back))
            if not race.done:
                _read_block(race, source, bar.update)
            bar.set_postfix_str(f"{race.survivors.size} left", refresh=False)


def _limit_of(race):
    """Return the maximum number of scores that a race reads."""
    total = race.n_arms * race.n_items
    most = race.budget if isinstance(race, BudgetRace) else race.max_pulls
    return total if most is None else min(total, most)


def _limits_of(race):
    """Return the smallest and the largest score allowed."""
    return race.value_range if isinstance(race.value_range, tuple) else (-np.inf, np.inf)


def _read_block(race, source, advance):
    """Report the scores of one block to the race."""
    models, (arms, pairs) = race.survivors, race.ask()
    items = pairs[::models.size].copy()
    values, costs = source.read(items, models, advance)
    source.check(values, items, models, _limits_of(race))
    race.tell(arms, pairs, values.ravel(), None if costs is None else costs.ravel())


def result_of(race, source, baseline=None, n_running=0, failures=None):
    """Return the result of a race that ended while `n_running` calls were running.

    `failures` has the number of failed calls of each model.
    """
    failures = np.zeros(race.n_arms, dtype=np.int64) if failures is None else failures
    shared = names_of(source) | dict(
        n_arms=race.n_arms, n_items=race.n_items, n_pulls=race.n_pulls, exact=race.exact,
        decided=race.decided, pulls=race.pulls, means=race.means, items=race.items,
        delta=race.delta, value_range=race.value_range, epsilon=race.epsilon,
        population_size=race.population_size, n_failed_by_arm=failures, _race=race,
        n_wasted=int(race.n_wasted_by_arm.sum()) + n_running)
    if isinstance(race, BettingThreshold):
        return ThresholdResult(best_arms=race.recommend(), above=race.above, below=race.below,
                               survivors=race.survivors, threshold=race.threshold, **shared)
    result = _best_of_result(race, baseline, shared)
    warn_of_failures(result)
    return result


def _best_of_result(race, baseline, shared):
    top = race.recommend()
    budgeted = isinstance(race, BudgetRace)
    dropped = race.dropped if budgeted else race.survivors[:0]
    # for k > 1, accepted models are not in `race.survivors`, but in `best_arms`
    survivors = (top.copy() if race.decided
                 else np.union1d(np.union1d(race.survivors, dropped), top))
    return BestOfResult(
        best_arms=top, survivors=survivors, dropped=dropped, cost=race.cost,
        cost_by_arm=race.cost_by_arm, weights=race.weights, baseline=baseline,
        budget=race.budget if budgeted else None, **shared)
