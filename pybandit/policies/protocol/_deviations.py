"""Checks of standard deviations of rewards."""

import numpy as np

from pybandit._shared.checks import check_in, check_positive, check_scalar

# the square of a standard deviation in [1 / WIDEST, WIDEST] is finite and above 0
WIDEST = 1e150


def check_deviation(name, value):
    """Return `value` as a float whose square is finite and above 0."""
    return check_scalar(name, check_positive(name, value), f"in [1/{WIDEST:g}, {WIDEST:g}]",
                        lambda x: (x >= 1 / WIDEST) & (x <= WIDEST))


def check_deviations(noise_std, n_arms):
    """Return `noise_std` as a float64 array of one value per arm, all in [1e-150, 1e150]."""
    noise_std = check_in("noise_std", noise_std, f"in [{1 / WIDEST:g}, {WIDEST:g}]",
                         lambda s: (s >= 1 / WIDEST) & (s <= WIDEST))
    if noise_std.shape != (n_arms,):
        raise ValueError(f"noise_std must have shape ({n_arms},), one value per arm; got shape "
                         f"{noise_std.shape}")
    return noise_std


def variances_of(noise_std):
    """Return the squares of standard deviations, without the rounding of a square root.

    If a standard deviation is the root of a number of at most 15 digits, such as sqrt(2), its
    variance is exactly that number. Arms with equal ratios of variance to pulls then tie exactly.
    """
    squares = np.square(noise_std)
    short = np.array([float(f"{square:.15g}") for square in squares.tolist()])
    return np.where(np.sqrt(short) == noise_std, short, squares)
