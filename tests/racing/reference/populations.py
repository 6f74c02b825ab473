"""Reference implementation of race_populations: Chen & Ghahramani 2016, App. C.3, corrected."""

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy import stats

from racing.reference import skewness
from racing.reference.race import ordered_parts

TWIN_OF = ("populations", "column")  # kernels of csrc


class Outcome(NamedTuple):
    best: int
    n_looks: int
    n_evaluations: int
    exact: bool


def schedule(size, first_look=3):
    """Return the rows read at each look; none for an empty population."""
    if size <= first_look:
        return [size] if size else []
    looks = [first_look, first_look + max(1, math.ceil((size - first_look) / 10))]
    while looks[-1] < size:
        looks.append(min(2 * looks[-1], size))
    return looks


def union_boundary(delta, sizes, first_look=3):
    """Return B by a union bound over D - 1 other arms and the largest number of partial looks."""
    n_looks = max(len(schedule(size, first_look)) for size in sizes)
    if len(sizes) == 1 or n_looks <= 1:
        return 0.0
    return stats.norm.isf(delta / (len(sizes) - 1) / (n_looks - 1))


def race(arms, log_prior, next_indices, boundary, first_look=3, to_the_end=False, student=False):
    """Run one race. ``next_indices(arm, n)`` returns the next n factors of an arm.

    At its last look, an array is read in one pass, which takes no indices. With `to_the_end`, as
    for a function, the last look takes indices too.
    """
    alive = [i for i in range(len(arms)) if log_prior[i] > -math.inf]
    if len(alive) == 1:
        return Outcome(alive[0], 0, 0, True)
    looks = [schedule(len(arm), first_look) for arm in arms]
    seen = [np.zeros(0) for _ in arms]
    for n_looks in itertools.count(1):
        totals, known = {}, {}
        for i in alive:
            size, rows = len(arms[i]), looks[i][: n_looks][-1] if looks[i] else 0
            if rows > len(seen[i]):
                if rows < size or to_the_end:
                    order = next_indices(i, rows - len(seen[i]))
                seen[i] = arms[i] if rows == size else np.append(seen[i], arms[i][order])
            totals[i] = total(seen[i], size, log_prior[i])
            known[i] = estimate(seen[i], size, student)
        leader = max(alive, key=totals.__getitem__)
        n_evaluations = sum(len(values) for values in seen)
        if all(len(seen[i]) == len(arms[i]) for i in alive):
            return Outcome(leader, n_looks, n_evaluations, True)
        alive = [
            i for i in alive
            if i == leader
            or totals[leader] - totals[i] <= width(known[leader], known[i], boundary, student)
        ]
        if len(alive) == 1:
            return Outcome(leader, n_looks, n_evaluations, False)


class Estimate(NamedTuple):
    """Numbers about an arm's estimated total; `together`: its covariance with the variance."""

    variance: float
    degrees: float
    third: float
    together: float
    varies: bool


def total(values, size, offset):
    """Return the estimated total from the values read."""
    return offset + (size * values.mean() if size else 0.0)


def estimate(values, size, student):
    """Return the `Estimate` of the total from the values read."""
    n = len(values)
    if n == size:
        return Estimate(0.0, 1, 0.0, 0.0, True)
    share = 1 - (n - 1) / (size - 1)
    third = size**3 * ((values - values.mean()) ** 3).mean() / n**2 * share
    uneven = 1 - 2 * (n - 1) / max(size - 2, 1)
    return Estimate(size**2 * values.var(ddof=int(student)) / n * share, n - 1,
                    third * uneven, third * share, skewness.varies(values))


def width(leader, rival, boundary, student):
    """Return how far behind the leader an arm must be for its elimination."""
    v = leader.variance + rival.variance
    if student and not (leader.varies and rival.varies):
        return math.inf
    if not student or v == 0:
        return boundary * math.sqrt(v)
    degrees = v**2 / (leader.variance**2 / leader.degrees + rival.variance**2 / rival.degrees)
    t = skewness.least_t(wallace(boundary, degrees), (leader.third - rival.third) / v**1.5,
                         (leader.together - rival.together) / v**1.5)
    return t * math.sqrt(v)


def wallace(boundary, degrees):
    """Return Student's quantile with the level of a normal one, by Wallace 1959."""
    z = boundary * (8 * degrees + 3) / (8 * degrees + 1)
    return math.sqrt(degrees * math.expm1(z**2 / degrees))


def enumerate_law(arms, log_prior, boundary):
    """Return the probability of every Outcome, over all orders of all arms."""
    orders = []
    for arm in arms:
        rows = schedule(len(arm))
        orders.append(list(ordered_parts(list(range(len(arm))), np.diff([0, *rows]).tolist())))
    total = math.prod(len(each) for each in orders)
    law = Counter()
    for order in itertools.product(*orders):
        parts = [iter(one) for one in order]
        outcome = race(arms, log_prior, lambda i, n, p=parts: next(p[i]), boundary)
        law[outcome] += Fraction(1, total)
    return law
