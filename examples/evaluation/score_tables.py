"""Tables of scores for the examples of this folder: your own, or coins."""

import argparse

import numpy as np


def coins(seed, n_items=500, n_models=60):
    """Items of unequal difficulty, models that differ little near the top."""
    rng = np.random.default_rng(seed)
    ability = np.sort(rng.normal(0.6, 0.08, n_models))[::-1]
    chance = np.clip(ability + rng.normal(0.0, 0.25, (n_items, 1)), 0.02, 0.98)
    return (rng.random((n_items, n_models)) < chance) * 1.0


def parser(description, orders, quick, tables=True):
    """What the examples share of their options; `quick` says what --quick does."""
    made = argparse.ArgumentParser(description=description)
    if tables:
        made.add_argument("--tables", metavar="NPZ", help="arrays (items, models) by name")
    made.add_argument("--orders", type=int, default=orders, help="of the items (%(default)s)")
    made.add_argument("--quick", action="store_true", help=quick)
    made.add_argument("--seed", type=int, default=1)
    return made


def tables_of(arguments, **small):
    """Arrays by name; `small` is the size of the one table of coins that --quick has."""
    if arguments.tables:
        with np.load(arguments.tables) as saved:
            return {name: saved[name].astype(float) for name in saved.files}
    if arguments.quick:
        return {"coins 0": coins(0, **small)}
    return {f"coins {seed}": coins(seed) for seed in range(3)}
