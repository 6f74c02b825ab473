"""Range of the rewards that are bet on, and the error for a reward outside it."""

import math

import numpy as np

from pybandit._shared.checks import check_numeric, check_positive, refuse_masks, shown

MOST_BETS = 64
# within these widths, products and squares of differences and bets have full precision
NARROWEST, WIDEST = 1e-150, 1e150


def check_limits(value_range):
    """Return the checked range of rewards: ``(low, high)`` or a width R, as floats."""
    if value_range is None:
        raise ValueError("value_range must be (low, high) of the rewards, or the largest "
                         "difference of two rewards of one item; got None")
    limits = check_numeric("value_range", refuse_masks("value_range", value_range))
    if limits.ndim == 0:
        check_positive("value_range", limits)
        width = float(limits)
    elif limits.shape != (2,) or not np.isfinite(limits).all() or not limits[0] < limits[1]:
        raise ValueError(f"value_range must be two finite numbers low < high, or one number; got "
                         f"{shown(value_range)}")
    else:
        width = float(limits[1]) - float(limits[0])
    if not NARROWEST <= width <= WIDEST:
        raise ValueError(f"value_range must be {NARROWEST:g} to {WIDEST:g} wide; got "
                         f"{shown(value_range)}")
    return width if limits.ndim == 0 else tuple(limits.tolist())


def refuse_reward(rewards, arms, leader, limits, name, where, more=""):
    """Raise for the first invalid reward of an item.

    `arms` are the names of the arms, `leader` is the position of the arm that the others are
    compared with, `limits` the (low, high, R) of the bound, and `more` a remark on NaN.
    """
    low, high, most = limits
    for arm, reward in zip(arms, rewards, strict=True):
        if not math.isfinite(reward):
            raise ValueError(f"{name} must be finite; got {reward} at {where} {arm}{more}")
        if not low <= reward <= high:
            raise ValueError(f"{name} must lie in value_range = {(low, high)}; got {reward} at "
                             f"{where} {arm}")
    arm, reward = max(zip(arms, rewards, strict=True),
                      key=lambda pair: abs(pair[1] - rewards[leader]))
    raise ValueError(f"{name} of one item must differ by at most value_range = {most}; got "
                     f"{reward} at {where} {arm}, and {rewards[leader]} for {arms[leader]}")
