"""Rates told as counts: one rule for races, policies, studies and the command line."""

import warnings

import numpy as np

FEWEST = 10  # from this many trials on, graded rewards have a sum above 1


def rates_in(trials, sums):
    """Return the first arm whose sum looks like a rate, None if there is none.

    Sums of rewards in [0, 1] look like rates if all of at least ten trials are at most 1, and
    one of them is not whole.
    """
    many = trials >= FEWEST
    if not many.any() or (sums[many] > 1.0).any():
        return None
    broken = many & (sums != np.floor(sums))
    return int(broken.argmax()) if broken.any() else None


def rate_words(trials, sums, arm, name):
    """Return the warning about such a sum."""
    return (f"sums must be sums of rewards, not rates or means; got {sums[arm]:.6g} for "
            f"{int(trials[arm]):,} trials of arm {name}: tell the number of successes, about "
            f"{sums[arm] * trials[arm]:.6g}")


def warn_of_rates(trials, sums, stacklevel=4):
    """Warn if sums look like rates; called by the method that the user calls."""
    arm = rates_in(trials, sums)
    if arm is not None:
        warnings.warn(rate_words(trials, sums, arm, arm), UserWarning, stacklevel=stacklevel)
