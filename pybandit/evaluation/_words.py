"""State the result of `best_of` in words: the answer, the guarantee, failed calls."""

import math

import numpy as np

from pybandit._shared.drawing import percent
from pybandit._shared.errors import FailedCallsWarning
from pybandit._shared.warn import warn

MANY = 0.05  # fraction of failed calls, over all scores or those of a model, that causes a warning
FEW = 3      # number of failed calls of one model that never causes a warning


def summary(result):
    """Return the answer in one sentence: the models, the error, and the scores read."""
    names = [result.name(model) for model in result.best_arms.tolist()]
    who = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    best = "best" if len(names) == 1 else f"the {len(names)} best"
    of = f"of {result.n_arms:,} models {_where(result)}"
    after = _after(result)
    verb = "is" if len(names) == 1 else "are"
    if result._budgeted and not result.decided:
        return (f"{who} {verb} guessed to be {best} {of} (error about "
                f"{percent(result.error_estimate)}, an estimate), {after}.")
    if not result.decided:
        return (f"Undecided which {verb} {best} {of}, {after}: {who} "
                f"{'leads' if len(names) == 1 else 'lead'}, {result.survivors.size:,} are left.")
    error = ("all was read" if _all_is_read(result)
             else f"error at most {percent(result.delta)}")
    if result.tied.size:
        others = ", ".join(result.name(model) for model in result.tied[:3].tolist())
        others += f" and {result.tied.size - 3:,} more" if result.tied.size > 3 else ""
        verb += f" tied with {others} for"
        best = best.removeprefix("the ")
    if result.epsilon and not result.exact:
        best += f" to within {result.epsilon:g}"
    return f"{who} {verb} {best} {of} ({error}), {after}."


def _after(result):
    """Return the number of scores or comparisons, and their cost, in words."""
    if result.baseline is not None:
        return f"after {result.cost:,.0f} of {_n_pairs(result):,} comparisons"
    after = (f"after {result.n_pulls:,} of {result.n_arms * result.n_items:,} scores "
             f"({percent(result.fraction_read)})")
    if result.n_wasted:
        after += f", and {result.n_wasted:,} more that were not needed"
    return after if result.cost is None else f"{after} that cost {result.cost:,.6g}"


def _n_pairs(result):
    """Return the number of all possible comparisons."""
    others = result.n_arms - 1
    return result.n_items * others // 2 if result.baseline == "all" else result.n_items * others


def _where(result):
    """Return the items or the population that the answer is about, in words."""
    n_items = result.n_items // (result.n_arms if result.baseline == "all" else 1)
    where = f"these {n_items:,} {'' if result.weights is None else 'weighted '}items"
    if result.population_size != result.n_items:
        of = ("the population" if result.population_size == math.inf
              else f"the {result.population_size:,} items")
        where = f"{of} that {where} are a sample of"
    if result.baseline is None:
        return f"on {where}"
    return f"on {where} by win rate against {_opponents(result)}"


def _opponents(result):
    return "one another" if result.baseline == "all" else result.baseline


def _units(result):
    return "pairs of item and opponent" if result.baseline == "all" else "items"


def guarantee(result):
    """Return the guarantee in one sentence."""
    if not result.decided and result._budgeted:
        return _budget_guarantee(result)
    if not result.decided:
        best = "best is" if result.best_arms.size == 1 else f"{result.best_arms.size} best are"
        return (f"Not decided{_after_all(result)}: {result.survivors.size} of {result.n_arms} "
                f"models left. The {best} among them, except with probability at most "
                f"{result.delta:g}.")
    if result.exact:
        return _exact_guarantee(result)
    near = f" by more than {result.epsilon:g}" if result.epsilon else ""
    return f"Wrong{near} with probability at most {result.delta:g}."


def _after_all(result):
    """Return a note that all items were read, if they are a sample of a population."""
    if result.items.size < result.n_items or result.population_size == result.n_items:
        return ""
    return f" after all {result.n_items:,} items of the sample"


def _budget_guarantee(result):
    """Return the statement for a result in which the schedule eliminated models."""
    said = (f"Not certified{_after_all(result)}: the schedule of the budget eliminated "
            f"{result.dropped.size:,} of {result.n_arms:,} models. Wrong with probability of about "
            f"{percent(result.error_estimate)}, an estimate.")
    if result.best_arms.size == 1:
        said += (f" Bets eliminated {result.n_arms - result.survivors.size:,}, the best model "
                 f"with probability at most {result.delta:g}.")
    return said


def _exact_guarantee(result):
    """Return the guarantee of a result that totals decided."""
    if result.fraction_read == 1.0:
        said = (f"Everything was read: this is the answer for these {result.n_items:,} "
                f"{_units(result)}, and says nothing about others.")
    else:
        n_read = int((result.pulls == result.n_items).sum())
        said = (f"The {n_read:,} remaining models were read on all {result.n_items:,} "
                f"{_units(result)}, and their totals decided. Models eliminated before may be "
                f"better, with probability at most {result.delta:g}.")
    return said + _ties(result)


def _ties(result):
    """Return the names of the models that tie with the last of the k best; "" if none does."""
    if not result.tied.size:
        return ""
    others = result.name(result.tied[0])
    others += f" and {result.tied.size - 1} more" if result.tied.size > 1 else ""
    taken = "the first was taken" if not result._budgeted else "one was taken at random"
    return f" Of the same mean: {others}; {taken}."


def failures(result):
    """Return the number of failed calls and the model with the most; empty if none failed."""
    if not result.n_failed:
        return ""
    worst = int(result.n_failed_by_arm.argmax())
    return (f" {result.n_failed:,} scores are of calls that failed, "
            f"{result.n_failed_by_arm[worst]:,} of them of {result.name(worst)}.")


def warn_of_failures(result):
    """Warn if failed calls may have decided the answer."""
    most = np.maximum(FEW, MANY * result.pulls)
    if result.n_failed > MANY * result.n_pulls or (result.n_failed_by_arm > most).any():
        warn(f"best_of:{failures(result)} The answer is about scores in which these are `failed`; "
             "see `n_failed_by_arm` of the result", FailedCallsWarning)


def short(result):
    """Return the answer in a few words, for a representation."""
    arms = result.best_arms.tolist()
    names = ", ".join(repr(result.names[arm]) if result._named else str(arm) for arm in arms)
    who = f"model{'s' if len(arms) > 1 else ''} {names} of {result.n_arms:,}"
    if result.decided:
        error = ("all was read" if _all_is_read(result)
                 else f"error at most {percent(result.delta)}")
    elif result._budgeted:
        error = f"a guess, error about {percent(result.error_estimate)}"
    else:
        who = f"undecided, {result.survivors.size:,} of {result.n_arms:,} models left"
        error = f"error at most {percent(result.delta)}"
    return f"{who}, {error}, {count(result)}"


def count(result):
    """Return the numbers of scores or comparisons read and possible, in words."""
    if result.baseline is not None:
        return f"{result.cost:,.0f} of {_n_pairs(result):,} comparisons"
    return f"{result.n_pulls:,} of {result.n_arms * result.n_items:,} scores"


def _all_is_read(result):
    return result.fraction_read == 1.0 and result.population_size == result.n_items
