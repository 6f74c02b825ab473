"""Reference implementation of `pybandit/betting/_need.py`, number by number without arrays."""

import math

REACHED, BELIEF, SQUARE = 0.8, 4, 0.25


def chance(place, missing, limit, differences, more):
    """Return the chance that the item at `place` is needed for an arm.

    `differences` to its rival are those on items read, and `more` those on later items.
    """
    told, every = len(differences), [*differences, *(x for x in more if not math.isnan(x))]
    n = len(every)
    gap = max(0.0, sum(every) / (n + BELIEF))
    square = (sum(x * x for x in every) + BELIEF * SQUARE) / (n + BELIEF)
    growth = REACHED * gap**2 / (2 * square)
    if math.isnan(missing):
        missing = limit - growth * told
    items = max(place + 1, n) - told
    spread = 2 * growth * items * (1 + items / (n + BELIEF)) + 1e-9
    return 0.5 * math.erfc(-(missing - growth * items) / math.sqrt(2 * spread))


def order(chances, new, n, least=0.7):
    """Return the n pairs (place, arm) to evaluate first."""
    cells = [(-round(chances[i][j], 2), i, j) for i in range(len(chances))
             for j in range(len(chances[i])) if new[i][j] and chances[i][j] >= least]
    return [(i, j) for _, i, j in sorted(cells)[:n]]
