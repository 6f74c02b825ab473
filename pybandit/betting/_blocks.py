"""What is told of a block, arranged as it was asked and checked; nothing is changed here."""

import numpy as np

from pybandit._shared.checks import check_numeric, refuse_masks


def as_told(arms, items, rewards):
    """Arms, items and rewards as arrays of one shape."""
    arms, items = _integers("arms", arms), _integers("items", items)
    rewards = check_numeric("rewards", refuse_masks("rewards", rewards))
    for name, values in (("items", items), ("rewards", rewards)):
        if values.shape != arms.shape:
            raise ValueError(f"{name} must have the shape of arms, {arms.shape}; got "
                             f"{values.shape}")
    return arms, items, rewards


def arrange(told, asked, width, was_told):
    """The rewards as a matrix (items of the block, alive arms): a copy, in the order asked.

    `was_told` says whether an arm and item were told before, for the message.
    """
    arms, items, rewards = told
    if not asked[0].size:
        raise ValueError(f"the race is done and asks for nothing; got {arms.size} rewards")
    if not (np.array_equal(arms, asked[0]) and np.array_equal(items, asked[1])):
        rewards = rewards[_places(arms, items, *asked, was_told)]
    return np.array(rewards, order="C").reshape(-1, width)


def _places(arms, items, asked_arms, asked_items, was_told):
    """Where each pair that was asked is among those told."""
    told = {}
    order = list(zip(asked_arms.tolist(), asked_items.tolist(), strict=True))
    asked = set(order)
    for place, pair in enumerate(zip(arms.tolist(), items.tolist(), strict=True)):
        arm, item = pair
        if pair in told:
            raise ValueError(f"items must be told once; got item {item} of arm {arm} twice")
        if pair not in asked:
            before = "had been told before" if was_told(*pair) else "was not asked for"
            raise ValueError(f"arms and items must be pairs of ask(); item {item} of arm "
                             f"{arm} {before}")
        told[pair] = place
    missing = next((pair for pair in order if pair not in told), None)
    if missing is not None:
        raise ValueError(f"arms and items must be all {len(order)} pairs of ask(); got "
                         f"{arms.size}, without item {missing[1]} of arm {missing[0]}")
    return [told[pair] for pair in order]


def check_rewards(values, arms, items, limits, value_range):
    """Refuse a reward out of range, naming item and arm; all three are matrices of one shape."""
    low, high, most = limits
    bad = ~((values >= low) & (values <= high) & np.isfinite(values))
    if bad.any():
        at = tuple(np.argwhere(bad)[0])
        expected = f"in value_range = {value_range}" if np.isfinite(values[at]) else "finite"
        raise ValueError(f"rewards must be {expected}; got {values[at]} for item "
                         f"{items[at]} of arm {arms[at]}")
    spread = np.ptp(values, axis=1)
    if spread.max() > most * (1 + 1e-12):
        row = int(spread.argmax())
        first, last = int(values[row].argmin()), int(values[row].argmax())
        raise ValueError(
            f"rewards of one item must differ by at most value_range = {most}; got "
            f"{values[row, first]} and {values[row, last]} for arms {arms[row, first]} and "
            f"{arms[row, last]} on item {items[row, 0]}")


def _integers(name, values):
    array = np.asarray(refuse_masks(name, values))
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise TypeError(f"{name} must be a flat array of integers; got "
                        f"{type(values).__name__} of dtype {array.dtype}, {array.ndim} "
                        f"dimensions")
    return array
