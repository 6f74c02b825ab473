"""Detect rates that are reported as counts, for races, policies, studies and the command line."""

import warnings

import numpy as np

FEWEST = 10  # trials from which on graded rewards normally have a sum above 1


def rates_in(trials, sums):
    """Return the first arm whose sum looks like a rate, or None.

    Sums of rewards in [0, 1] look like rates if those of all arms with at least ten trials are at
    most 1, and one of these sums is not an integer.
    """
    many = trials >= FEWEST
    if not many.any() or (sums[many] > 1.0).any():
        return None
    broken = many & (sums != np.floor(sums))
    return int(broken.argmax()) if broken.any() else None


def rate_words(trials, sums, arm, name):
    """Return the text of the warning about the sum of an arm."""
    return (f"sums must be sums of rewards, not rates or means; got {sums[arm]:.6g} for "
            f"{int(trials[arm]):,} trials of arm {name}: pass the number of successes, about "
            f"{sums[arm] * trials[arm]:.6g}")


def warn_of_rates(trials, sums, stacklevel=4):
    """Warn if sums look like rates. `stacklevel` fits a call from the user's public method."""
    arm = rates_in(trials, sums)
    if arm is not None:
        warnings.warn(rate_words(trials, sums, arm, arm), UserWarning, stacklevel=stacklevel)
