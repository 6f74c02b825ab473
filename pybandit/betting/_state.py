"""Saved states of races by betting, checked completely before a race is created and replayed."""

from collections.abc import Mapping

import numpy as np

from pybandit._shared.checks import LARGEST, MOST_HELD, check_integer, shown
from pybandit._shared.schema import Schema, integer, number
from pybandit.betting.options import TOLD, Bets, Costs

# groups of options, and the names of their members in a state
GROUPS = {"bets": ("mixture", "n_bets", "hybrid"), "costs": ("costs", "cost_limit")}
PARTS = ("type", "options", "order", "lengths", "rewards", "costs")


def flat_names(names):
    """Return the names of options in a state, in which groups are flattened."""
    return tuple(part for name in names for part in GROUPS.get(name, (name,)))


def flat_options(options, limit):
    """Return options of a race with groups flattened; `limit` names the limit of its costs."""
    options = dict(options)
    if "bets" in options:
        bets = options.pop("bets")
        options |= {name: getattr(bets, name) for name in GROUPS["bets"]}
    if "costs" in options:
        costs = options["costs"]
        options |= {"costs": None if costs is None else costs.values,
                    "cost_limit": None if costs is None else getattr(costs, limit)}
    return options


def grouped(options, limit):
    """Return the options of a state as arguments of a race; the inverse of `flat_options`."""
    options = dict(options)
    if "mixture" in options:
        mixture, n_bets, hybrid = (options.pop(name) for name in GROUPS["bets"])
        options["bets"] = Bets(mixture, n_bets=n_bets, hybrid=hybrid)
    if "cost_limit" in options:
        most, values = options.pop("cost_limit"), options["costs"]
        if values is None and most is not None:
            raise ValueError(f"state must hold no cost_limit without costs; got {shown(most)}")
        options["costs"] = None if values is None else Costs(values, **{limit: most})
    return options


def check_form(state, cls, parts, options):
    """Refuse a state of another class, or with other parts or other names of options."""
    check_mapping("state", state, parts)
    if state["type"] != cls.__name__:
        raise ValueError(f"state must be that of a {cls.__name__}; got one of a "
                         f"{state['type']!r}")
    check_mapping("the options of state", state["options"], options)


def check_mapping(what, value, names):
    """Refuse a value that is not a mapping with exactly these keys."""
    if not isinstance(value, Mapping) or set(value) != set(names):
        got = (", ".join(sorted(map(str, value))) if isinstance(value, Mapping)
               else type(value).__name__)
        raise ValueError(f"{what} must be a dict of {', '.join(sorted(names))}; got {got}")


def items_have_rewards(s):
    """at least one reward per item"""
    return s.lengths.size <= sum(s.lengths.tolist()) <= s.n_rewards


def first_block_is_of_all_arms(s):
    """a reward of every arm for its first {lengths[0]} items"""
    return not s.lengths.size or s.lengths.item(0) * s.n_arms <= s.n_rewards


def order_is_whole(s):
    """an order with each of its {n_items} items once"""
    return s.order is None or np.array_equal(np.sort(s.order), np.arange(s.n_items))


RACE = Schema(
    [integer("lengths", 1, MOST_HELD, ("n_blocks",)), number("rewards", shape=("n_rewards",)),
     number("costs", shape=("n_rewards",), only_if="told_costs"),
     integer("order", 0, "n_items", ("n_items",), only_if="n_items")],
    invariants=[items_have_rewards, first_block_is_of_all_arms, order_is_whole])


def check_state(state, cls, names, parts):
    """Return the checked order, lengths, rewards and costs of a state of a race of this class."""
    check_form(state, cls, parts, names)
    n_items, told = (state["options"].get(name) for name in ("n_items", "costs"))
    # check sizes before anything of that size is allocated
    sizes = {
        "n_arms": check_integer("n_arms", state["options"]["n_arms"], 1, LARGEST),
        "n_items": None if n_items is None else check_integer("n_items", n_items, 1, LARGEST),
        "told_costs": isinstance(told, str) and told == TOLD}
    known = RACE.checked_part("the parts of a race", dict(state), sizes)
    return known["order"], known["lengths"].tolist(), known["rewards"], known["costs"]
