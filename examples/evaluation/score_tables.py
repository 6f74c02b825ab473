"""Tables of scores for the examples of this folder: from a file, or simulated zeros and ones."""

import argparse

import numpy as np


def coins(seed, n_items=500, n_models=60):
    """Return scores of 0 and 1 of items of unequal difficulty; the best models differ little."""
    rng = np.random.default_rng(seed)
    ability = np.sort(rng.normal(0.6, 0.08, n_models))[::-1]
    chance = np.clip(ability + rng.normal(0.0, 0.25, (n_items, 1)), 0.02, 0.98)
    return (rng.random((n_items, n_models)) < chance) * 1.0


def parser(description, orders, quick, tables=True):
    """Return a parser with the common options of the examples; `quick` is the help of --quick."""
    options = argparse.ArgumentParser(description=description)
    if tables:
        options.add_argument("--tables", metavar="NPZ", help="arrays (items, models) by name")
    options.add_argument("--orders", type=int, default=orders, help="random orders (%(default)s)")
    options.add_argument("--quick", action="store_true", help=quick)
    options.add_argument("--seed", type=int, default=1)
    return options


def tables_of(arguments, **small):
    """Return arrays by name; `small` has the size of the single simulated table of --quick."""
    if arguments.tables:
        with np.load(arguments.tables) as saved:
            return {name: saved[name].astype(float) for name in saved.files}
    if arguments.quick:
        return {"coins 0": coins(0, **small)}
    return {f"coins {seed}": coins(seed) for seed in range(3)}
