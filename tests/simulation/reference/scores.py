"""Errors of answers by definition, from all pairs of arms or by comparing sets."""

import numpy as np

TWIN_OF = ["score"]


def exceeds(high, low, epsilon):
    slack = 4 * np.finfo(float).eps * max(abs(high), abs(low)) if epsilon > 0 else 0.0
    return high - low > epsilon + slack


def best_error(means, chosen, k, epsilon):
    """Return True if these are not k different arms, or one left out is better than one chosen."""
    inside = set(chosen)
    if len(inside) != len(chosen) or len(chosen) != k:
        return True
    return any(exceeds(means[out], means[arm], epsilon)
               for arm in inside for out in set(range(len(means))) - inside)


def best_regret(means, chosen, k):
    return np.mean(np.sort(means)[::-1][:k]) - np.mean(means[list(chosen)]) if k else 0.0


def above(means, chosen, threshold, epsilon):
    """Return (error, distance of the furthest arm on the wrong side)."""
    wrong = [arm for arm in range(len(means))
             if (means[arm] < threshold if arm in chosen else means[arm] > threshold)]
    error = len(set(chosen)) < len(chosen) or any(
        exceeds(max(means[arm], threshold), min(means[arm], threshold), epsilon) for arm in wrong)
    return error, max((abs(means[arm] - threshold) for arm in wrong), default=0.0)


def set_of(right, chosen):
    """Return (error, number of arms wrongly included or left out)."""
    wrong = set(right) ^ set(chosen)
    return bool(wrong) or len(set(chosen)) < len(chosen), len(wrong)
