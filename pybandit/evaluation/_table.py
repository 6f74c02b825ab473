"""The result of `best_of`, model by model: as a data frame, and as HTML for a notebook."""

import html

import numpy as np

from pybandit._shared.html import table
from pybandit._shared.optional import require

ROWS = 20  # of a table in a notebook


def status(result):
    """For every model what became of it, as a word."""
    words = np.full(result.n_arms, "excluded", dtype=object)
    words[result.survivors] = "left"
    words[result.dropped] = "dropped"
    words[result.best_arms] = "best" if result.decided else "leads"
    words[result.tied] = "tied"
    return words


def behind(result):
    """Mean difference to the first of the top, on the items that both were read on."""
    best = result.rewards(result.best)
    both = (np.minimum(result.pulls, best.size)).tolist()
    return np.array([np.mean(best[:n] - result.rewards(model)[:n])
                     for model, n in enumerate(both)])


def ranked(result):
    """Models, the answer first, then what is tied with it or left, then the others."""
    groups = {"best": 0, "leads": 0, "tied": 1, "left": 2, "dropped": 3, "excluded": 4}
    words = status(result)
    place = {model: i for i, model in enumerate(result.best_arms.tolist())}
    return sorted(range(result.n_arms), key=lambda model: (
        groups[words[model]], place.get(model, 0), -result.pulls[model], -result.means[model]))


def to_frame(result):
    """A pandas.DataFrame of all models, the answer first."""
    pandas = require("pandas", "pandas")
    order = ranked(result)
    names = range(result.n_arms) if result.names is None else result.names
    columns = {"status": status(result), "mean": result.means, "items_read": result.pulls,
               "behind": behind(result)}
    if result.cost_by_arm is not None:
        columns["cost"] = result.cost_by_arm
    if result._has_bounds:
        columns |= dict(zip(("lower", "upper"), result.intervals.T, strict=True))
    frame = pandas.DataFrame(columns, index=pandas.Index(list(names), name="model"))
    return frame.iloc[order]


def to_html(result):
    """Sentences and a table of the first models."""
    words, gaps, order = status(result), behind(result), ranked(result)
    rows = [(result.name(model), words[model], f"{result.means[model]:.4g}",
             f"{result.pulls[model]:,}", f"{gaps[model]:.3g}") for model in order[:ROWS]]
    more = (f"<p>and {result.n_arms - ROWS:,} more: <code>to_frame()</code> has all</p>"
            if result.n_arms > ROWS else "")
    return (f"<p>{html.escape(result.summary())}<br>{html.escape(result.guarantee())}</p>"
            + table(("model", "", "mean", "items read", "behind the first"), rows) + more)
