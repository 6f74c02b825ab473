"""Turn flat options of `best_of` into the groups that it takes."""

import pybandit as pb

NOTHING = object()
GROUPS = {
    "items": (pb.Items, {"items": "items", "population_size": "population_size",
                         "weights": "weights", "prior_scores": "prior_scores"}),
    "calls": (pb.Calls, {name: name for name in (
        "block_size", "concurrency", "executor", "retry", "timeout", "per_minute", "failed",
        "version")}),
    "costs": (pb.Costs, {"costs": "values", "max_cost": "max_cost", "budget_cost": "budget"}),
}


def grouped(items=NOTHING, **flat):
    """Return the options, grouped into Items, Calls and Costs."""
    if items is not NOTHING:
        flat["items"] = items
    for group, (make, names) in GROUPS.items():
        given = {names[name]: flat.pop(name) for name in names if name in flat}
        if set(given) <= {group, "values"}:  # only the group itself: pass it unchanged
            flat.update((group, value) for value in given.values())
        else:
            flat[group] = make(**given)
    return flat
