"""States of races by betting: checked as a whole before a race is made of them and replayed."""

from collections.abc import Mapping

import numpy as np

from pybandit._shared.checks import LARGEST, check_integer, shown
from pybandit.betting.options import TOLD, Bets, Costs

# groups of options, and the names of their parts in a state
GROUPS = {"bets": ("mixture", "n_bets", "hybrid"), "costs": ("costs", "cost_limit")}
PARTS = ("type", "options", "order", "lengths", "rewards", "costs")


def flat_names(names):
    """Return the names of options in a state, where groups are flat."""
    return tuple(part for name in names for part in GROUPS.get(name, (name,)))


def flat_options(options, limit):
    """Return options of a race with the groups flat; `limit` names the limit of its costs."""
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
    """Return the options of a state as arguments of a race; undo `flat_options`."""
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


def check_state(state, cls, names, parts):
    """Refuse what is no state of a race of this class, of these parts and names of options."""
    check_mapping("state", state, parts)
    if state["type"] != cls.__name__:
        raise ValueError(f"state must be that of a {cls.__name__}; got one of a "
                         f"{state['type']!r}")
    options = state["options"]
    check_mapping("the options of state", options, names)
    lengths = flat(state, "lengths", "iu")
    rewards = flat(state, "rewards", "f")
    if (lengths < 1).any():
        raise ValueError(f"state must hold lengths of at least 1; got {lengths.min()}")
    if not lengths.size <= sum(lengths.tolist()) <= rewards.size:
        raise ValueError(f"state must hold a reward or more an item; got {rewards.size} for "
                         f"{sum(lengths.tolist())} items")
    # sizes before anything of that size is made; the first block is of all arms
    n_arms = check_integer("n_arms", options["n_arms"], 1, LARGEST)
    if lengths.size and int(lengths[0]) * n_arms > rewards.size:
        raise ValueError(f"state must hold a reward of each arm for its first {lengths[0]} items, "
                         f"{int(lengths[0]) * n_arms} in all; got {rewards.size}")
    costs = _check_told_costs(state, options, rewards.size)
    order = None
    if options["n_items"] is None:
        if state["order"] is not None:
            raise ValueError("state must hold no order of an endless stream; got one")
    else:
        n_items = check_integer("n_items", options["n_items"], 1, LARGEST)
        order = flat(state, "order", "iu")
        if order.size != n_items or not np.array_equal(np.sort(order), np.arange(n_items)):
            raise ValueError(f"state must hold an order of {n_items} items; got shape "
                             f"{order.shape}, or not each of them once")
    return order, lengths.tolist(), rewards, costs


def _check_told_costs(state, options, size):
    """Costs of a state where its race is told them: as many as rewards; else None."""
    told = options.get("costs")
    if not (isinstance(told, str) and told == TOLD):
        if state["costs"] is not None:
            raise ValueError("state must hold no costs unless its race is told them; got some")
        return None
    costs = flat(state, "costs", "f")
    if costs.size != size:
        raise ValueError(f"state must hold {size} costs, one a reward; got {costs.size}")
    return costs


def check_mapping(what, value, names):
    if not isinstance(value, Mapping) or set(value) != set(names):
        got = (", ".join(sorted(map(str, value))) if isinstance(value, Mapping)
               else type(value).__name__)
        raise ValueError(f"{what} must be a dict of {', '.join(sorted(names))}; got {got}")


def flat(state, name, kinds):
    """An array of one dimension and of these kinds."""
    return array_of(state, name, 1, kinds,
                    f"a flat array of {'numbers' if 'f' in kinds else 'integers'}")


def array_of(state, name, ndim, kinds, form):
    """Return a copy of an array with `ndim` dimensions and of these kinds; messages say `form`."""
    try:
        array = np.array(np.asarray(state[name]))
    except (TypeError, ValueError):  # a ragged list
        array = np.asarray(None)
    if array.ndim != ndim or array.dtype.kind not in kinds:
        raise ValueError(f"state must hold {name} as {form}; got "
                         f"{type(state[name]).__name__} of dtype {array.dtype}, shape "
                         f"{array.shape}")
    return array
