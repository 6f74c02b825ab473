"""Checks of reports to a policy, and of the arms that `ask` of a Python subclass returns."""

import numpy as np

from pybandit._shared.checks import LARGEST_REWARD, check_numeric, owned, refuse_masks
from pybandit._shared.errors import ProtocolError


def asked_arms(asked, n_arms, name):
    """Return the result of a subclass's `ask` as int64, checked: it will index the statistics."""
    array = owned("the return value of ask", asked)
    if array.dtype.kind not in "iu" and array.size or array.ndim != 1:
        raise TypeError(f"ask of {name} must return a flat array of integers; got "
                        f"{type(asked).__name__} of shape {array.shape}, dtype {array.dtype}")
    bad = (array < 0) | (array >= n_arms)
    if bad.any():
        at = int(bad.argmax())
        raise ValueError(f"ask of {name} must return arms in [0, {n_arms}); got {array[at]} at "
                         f"index {at}")
    return array.astype(np.int64, copy=False)


def reported_arms(arms, asked):
    """Return the arms of a tell as a new int64 array; they must be those asked, in any order."""
    if not asked.size:
        raise ProtocolError(f"the policy is done and asks for nothing; got {np.size(arms)} arms")
    refuse_masks("arms", arms)
    reported = owned("arms", arms)
    if reported.dtype.kind not in "iu":
        raise TypeError(f"arms must be integers; got dtype {reported.dtype}")
    if reported.shape != asked.shape:
        raise ValueError(f"arms must have the shape of ask(), {asked.shape}; got {reported.shape}")
    reported = reported.astype(np.int64, copy=False)
    if not np.array_equal(reported, asked):
        arms, at = np.unique(np.concatenate([reported, asked]), return_inverse=True)
        n_reported = np.bincount(at[:reported.size], minlength=arms.size)
        n_asked = np.bincount(at[reported.size:], minlength=arms.size)
        if (n_reported != n_asked).any():
            first = int(np.argmax(n_reported > n_asked))
            raise ValueError(f"arms must be those of ask(), each the same number of times; got arm "
                             f"{arms[first]} {n_reported[first]} times instead of "
                             f"{n_asked[first]}")
    return reported


def late_arms(arms, n_arms, n_lost):
    """Return the arms of late rewards as a new int64 array."""
    refuse_masks("arms", arms)
    reported = owned("arms", arms)
    if reported.dtype.kind not in "iu" and reported.size:
        raise TypeError(f"arms must be integers; got dtype {reported.dtype}")
    if reported.ndim != 1:
        raise ValueError(f"arms must have shape (n,); got {reported.shape}")
    bad = (reported < 0) | (reported >= n_arms)
    if bad.any():
        at = int(bad.argmax())
        raise ValueError(f"arms must be in [0, {n_arms}); got {reported[at]} at index {at}")
    if reported.size > n_lost:
        raise ValueError(f"arms must have at most {n_lost} entries, one per lost pull; got "
                         f"{reported.size}")
    return reported.astype(np.int64, copy=False)


def reported_rewards(arms, rewards, missing):
    """Return the rewards of these arms as a new float64 array; NaN only if `missing` allows it."""
    rewards = check_numeric("rewards", rewards, masked_as_nan=True)
    if rewards.shape != np.shape(arms):
        raise ValueError(f"rewards must have the shape of arms, {np.shape(arms)}; got "
                         f"{rewards.shape}")
    good = np.abs(rewards) <= LARGEST_REWARD
    if missing == "drop":
        good |= np.isnan(rewards)
    if not good.all():
        at = int(np.argmin(good))
        what = f"at most {LARGEST_REWARD:g} in size" if np.isfinite(rewards[at]) else "finite"
        raise ValueError(f"rewards must be {what}{' or NaN' if missing == 'drop' else ''}; got "
                         f"{rewards[at]} at index {at}, arm {arms[at]}")
    return rewards
