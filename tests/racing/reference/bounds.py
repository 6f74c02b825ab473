"""Reference implementation of the concentration bounds, as printed in the paper."""

import functools

import numpy as np
from scipy import stats

TWIN_OF = ("bounds",)  # kernels of csrc


def normal(n, population, std, boundary):
    """Return std / sqrt(n) * sqrt(1 - (n-1)/(N-1)) * B."""
    if n >= population:
        return 0.0
    return std / np.sqrt(n) * np.sqrt(1 - (n - 1) / (population - 1)) * boundary


def student(n, population, unbiased_std, boundary):
    """Return the normal bound with the Student quantile of the same level as B."""
    if n >= population:
        return 0.0
    return normal(n, population, unbiased_std, student_quantile(n - 1, boundary))


@functools.cache
def student_quantile(degrees, boundary):
    return stats.t.isf(stats.norm.sf(boundary), degrees)


def empirical_bernstein_serfling(n, population, std, value_range, delta):
    """Return sd sqrt(2 rho L / n) + kappa C L / n, L = log(5/delta)."""
    if n >= population:
        return 0.0
    log_term = np.log(5 / delta)
    if n <= population / 2:
        rho = 1 - (n - 1) / population
    else:
        rho = (1 - n / population) * (1 + 1 / n)
    kappa = 7 / 3 + 3 / np.sqrt(2)
    return std * np.sqrt(2 * rho * log_term / n) + kappa * value_range * log_term / n


def doubling(n_factors, first_look):
    """Return the rows read at each look: m1, 2 m1, 4 m1, ... and N."""
    looks = [min(first_look, n_factors)]
    while looks[-1] < n_factors:
        looks.append(min(2 * looks[-1], n_factors))
    return looks


def normal_sample_complexity(gap, population, n_states, boundary, first_look):
    """Return the number of rewards of Prop. 7 for all states; `gap` is in standard deviations."""
    needed = population / ((population - 1) * gap**2 / (4 * boundary**2) + 1)
    return n_states * next(t for t in doubling(population, first_look) if t >= needed)
