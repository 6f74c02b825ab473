"""How probable it is that an arm is needed at a later item, number by number.

`pybandit/betting/_need.py` in its plainest form: no arrays but those that come in.
"""

import math

REACHED, BELIEF, SQUARE = 0.8, 4, 0.25


def chance(place, missing, limit, differences, more):
    """Of one arm: `differences` from its rival on the items told, `more` of later ones."""
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
    """The n places and arms to be evaluated first."""
    cells = [(-round(chances[i][j], 2), i, j) for i in range(len(chances))
             for j in range(len(chances[i])) if new[i][j] and chances[i][j] >= least]
    return [(i, j) for _, i, j in sorted(cells)[:n]]
