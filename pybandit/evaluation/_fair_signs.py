"""Probabilities of fair signs, as McNemar's exact test needs them.

SciPy's are as exact, but importing scipy.special takes longer than a verdict on two files.
"""

import numpy as np

EXACT_UP_TO = 2000  # signs; the integers grow with their number


def lower_tails(k):
    """Return P(Bin(k, 1/2) <= c) for c = 0, ..., k // 2, each rounded once up to 2,000 signs."""
    if k > EXACT_UP_TO:
        from scipy.special import bdtr

        return bdtr(np.arange(k // 2 + 1), k, 0.5)
    ways, total, whole, tails = 1, 0, 1 << k, []
    for c in range(k // 2 + 1):
        total += ways
        tails.append(total / whole)
        ways = ways * (k - c) // (c + 1)
    return np.array(tails)


def upper_tail(k, wins):
    """Return P(Bin(k, 1/2) >= wins)."""
    if wins == 0:
        return 1.0
    tails = lower_tails(k)
    return float(tails[k - wins]) if k - wins < tails.size else float(1.0 - tails[wins - 1])
