"""What is told, checked; nothing is changed here."""

import numpy as np

from pybandit._shared.checks import check_numeric, owned, refuse_masks
from pybandit._shared.labels import told_in_order


def as_told(arms, items, rewards):
    """Return arms, items and rewards as arrays of one shape, copies."""
    told_in_order("rewards", rewards, arms, items)
    arms, items = _integers("arms", arms), _integers("items", items)
    rewards = check_numeric("rewards", refuse_masks("rewards", rewards))
    for name, values in (("items", items), ("rewards", rewards)):
        if values.shape != arms.shape:
            raise ValueError(f"{name} must have the shape of arms, {arms.shape}; got "
                             f"{values.shape}")
    return arms, items, rewards


def check_range(rewards, arms, items, limits, value_range):
    """Refuse a reward out of range, naming item and arm; all three are flat."""
    low, high, _ = limits
    bad = ~((rewards >= low) & (rewards <= high) & np.isfinite(rewards))
    if bad.any():
        at = int(bad.argmax())
        expected = f"in value_range = {value_range}" if np.isfinite(rewards[at]) else "finite"
        raise ValueError(f"rewards must be {expected}; got {rewards[at]} for item "
                         f"{items[at]} of arm {arms[at]}")


def check_spread(values, arms, items, most):
    """Refuse rewards (items, arms) of which those of one item differ by more than `most`."""
    spread = np.ptp(values, axis=1)
    if spread.max() > most * (1 + 1e-12):
        row = int(spread.argmax())
        first, last = int(values[row].argmin()), int(values[row].argmax())
        error = ValueError(
            f"rewards of one item must differ by at most value_range = {most}; got "
            f"{values[row, first]} and {values[row, last]} for arms {arms[first]} and "
            f"{arms[last]} on item {items[row]}")
        error.refused_item = int(items[row])  # for who keeps scores
        raise error


def _integers(name, values):
    array = owned(name, refuse_masks(name, values))
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise TypeError(f"{name} must be a flat array of integers; got "
                        f"{type(values).__name__} of dtype {array.dtype}, {array.ndim} "
                        f"dimensions")
    return array.astype(np.int64, copy=False)
