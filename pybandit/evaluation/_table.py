"""Columns of the result of `best_of`, with one row per model."""

import numpy as np


def status(result):
    """Return the status of every model, one word."""
    words = np.full(result.n_arms, "excluded", dtype=object)
    words[result.survivors] = "left"
    words[result.dropped] = "dropped"
    words[result.best_arms] = "best" if result.decided else "leads"
    words[result.tied] = "tied"
    return words


def behind(result):
    """Return the mean difference to the first model, on the items read of both."""
    best = result.rewards(result.best)
    both = (np.minimum(result.pulls, best.size)).tolist()
    return np.array([np.mean(best[:n] - result.rewards(model)[:n])
                     for model, n in enumerate(both)])


def ranked(result):
    """Return the models, the answer first, then those tied with it or left, then the others."""
    groups = {"best": 0, "leads": 0, "tied": 1, "left": 2, "dropped": 3, "excluded": 4}
    words = status(result)
    place = {model: i for i, model in enumerate(result.best_arms.tolist())}
    return sorted(range(result.n_arms), key=lambda model: (
        groups[words[model]], place.get(model, 0), -result.pulls[model], -result.means[model]))


def columns(result, bounds):
    """Return the columns of `to_frame` by name; those of bounds are slow to compute."""
    found = {"status": status(result), "mean": result.means, "items_read": result.pulls,
             "behind": behind(result)}
    if result.cost_by_arm is not None:
        found["cost"] = result.cost_by_arm
    if bounds and result._has_bounds:
        found |= dict(zip(("lower", "upper"), result.intervals.T, strict=True))
    return found
