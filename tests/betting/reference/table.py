"""Cells of a table of rewards, as races read them."""

import numpy as np

TWIN_OF = ["table"]


def gather(values, items, arms, low, high, most):
    """Return the rewards (items, arms) as float64, up to the first item with an invalid one."""
    rewards = np.asarray(values)[np.ix_(items, arms)].astype(np.float64)
    with np.errstate(invalid="ignore"):
        good = ((rewards >= low) & (rewards <= high)).all(axis=1)
        good &= np.ptp(rewards, axis=1) <= most * (1 + 1e-12)
    return rewards if good.all() else rewards[:good.argmin()]
