"""Check the options of `best_of` against the scores, and make the race."""

from pybandit._shared.checks import check_integer, check_numeric, labels_of, refuse_masks, shown
from pybandit._shared.labels import are_same, differing, in_order, unlabelled
from pybandit.betting.budget import BudgetRace
from pybandit.betting.race import BettingRace


def make_race(source, k, shared, guaranteed, budget):
    """Return a `BudgetRace` if there is a budget, in scores or in money; else a `BettingRace`.

    `shared` has the options of both races, `guaranteed` those of `BettingRace` only.
    """
    k = check_integer("k", k, 1)
    if k >= source.n_arms:
        raise ValueError(f"k must be below the number of models, {source.n_arms}; got {k}")
    size = source.n_arms, source.n_items
    shared["rng"] = source.generator(shared["rng"])
    costs = shared["costs"]
    if budget is None and (costs is None or costs.budget is None):
        return BettingRace(*size, k, **shared, **guaranteed)
    for name, value in guaranteed.items():
        if not (value is None or name == "epsilon" and isinstance(value, (int, float))
                and value == 0):
            raise ValueError(f"{name} must be left out with a budget; got {shown(value)}")
    return BudgetRace(*size, k, budget=budget, **shared)


def labelled(name, values, source):
    """Return costs or weights; refuse labels that differ from those of the scores."""
    of_models = name == "costs" and getattr(values, "shape", None) == (source.n_arms,)
    if of_models and source.n_arms == source.n_items:
        return _costs_by_labels(values, source)
    if of_models:
        in_order(name, values, source.names, what="the columns of the scores")
    else:
        check_rows(name, values, source)
    held = labels_of(values, "columns")
    if name == "costs" and source.names is not None and held is not None and not are_same(
            held, list(source.names)):
        raise ValueError(f"{name} must have the columns of the scores, in the same order; got "
                         f"{differing(held, list(source.names))}")
    return unlabelled(values)


def check_rows(name, values, source):
    """Refuse values, one entry or row per item, whose index differs from that of the scores."""
    known = [one for one in (source.own_labels, source.labels) if one is not None]
    in_order(name, values, *(known or [range(source.n_items)]))


def _costs_by_labels(costs, source):
    """Return costs of shape (n,) for n models and n items: labels decide whose they are."""
    held = labels_of(costs)
    of_items, of_models = (
        held is not None and any(known is not None and are_same(held, list(known))
                                 for known in known_lists)
        for known_lists in ((source.labels, source.own_labels), (source.names,)))
    if of_items != of_models:
        numbers = check_numeric("costs", refuse_masks("costs", costs))
        return numbers[:, None] if of_items else numbers[None]
    rows = source.labels if source.own_labels is None else source.own_labels
    if not of_items and not any(one is None for one in (held, rows, source.names)):
        raise ValueError("costs must have the index of the scores (one cost per item) or their "
                         f"columns (one per model), in the same order; got {shown(held)}")
    return costs  # the race refuses the shape
