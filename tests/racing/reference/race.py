"""Reference implementation of Algorithm 1 of Chen & Ghahramani 2016.

`race` follows a given order of the factors. `enumerate_law` runs it over every order of a
tiny population and returns the exact distribution of its outcome.
"""

import functools
import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from racing.reference import b_normal, bounds, skewness

# kernels of csrc; NumPy converts cells and adds up columns
TWIN_OF = ("race", "sampler", "schedule", "moments", "control", "totals", "cells")


@dataclass(frozen=True)
class Options:
    """Options of pybandit.race and of its bounds."""

    bound: str = "student"
    delta: float = 0.05
    convention: str = "one-sided"
    boundary: float | None = None
    variance: str = "pairwise"
    first_look: int = 50
    max_fraction: float = 1.0
    value_range: float | tuple | None = None
    difference_range: float | None = None
    skewness: bool = True


class Outcome(NamedTuple):
    best: int
    n_looks: int
    n_evaluations: int
    exact: bool


def schedule(n_factors, first_look, max_fraction=1.0):
    """Return the rows read at each look: doubling up to max_fraction of N, then N."""
    looks = bounds.doubling(n_factors, first_look)[:-1]
    return [rows for rows in looks if rows <= max_fraction * n_factors] + [n_factors]


@functools.cache
def solved_boundary(delta, fractions, convention):
    return b_normal.boundary(delta, fractions, convention, points_per_sd=20)


def half_width(options, looks, n_states, rewards, leader, rival):
    """Return G of Algorithm 1 from the rewards read so far, shape (T, D)."""
    if options.variance == "pairwise":
        samples = [rewards[:, leader] - rewards[:, rival]]
        share = options.delta / (n_states - 1)
        ranges = [pairwise_range(options, leader, rival)]
    else:
        samples = [rewards[:, leader], rewards[:, rival]]
        share = options.delta / n_states
        ranges = [value_range(options, leader), value_range(options, rival)]
    signs = [1, -1]  # the leader's mean may be too high, the rival's too low
    return sum(
        one_width(options, looks, share, sign * sample, spread)
        for sign, sample, spread in zip(signs, samples, ranges, strict=False)
    )


def value_range(options, state):
    ranges = options.value_range
    return ranges[state] if isinstance(ranges, tuple) else ranges


def pairwise_range(options, leader, rival):
    if options.difference_range is not None:
        return options.difference_range
    if options.value_range is None:
        return None
    return value_range(options, leader) + value_range(options, rival)


def one_width(options, looks, share, sample, spread):
    n, population = len(sample), looks[-1]
    if options.bound == "ebs":
        per_look = share / (len(looks) - 1)
        return bounds.empirical_bernstein_serfling(n, population, sample.std(), spread, per_look)
    fractions = tuple(rows / population for rows in looks[:-1])
    level = options.boundary
    if level is None:
        level = solved_boundary(share, fractions, options.convention)
    if options.bound == "normal":
        return bounds.normal(n, population, sample.std(), level)
    if options.skewness:
        return skewness.width(sample, population, bounds.student_quantile(n - 1, level))
    return bounds.student(n, population, sample.std(ddof=1), level)


def race(rewards, log_prior, next_indices, options, to_the_end=False):
    """Run one race. ``next_indices(n)`` returns the next n factors of the order.

    At the last look, a matrix is read in one pass, which takes no indices. With `to_the_end`, as
    for a function, the last look takes indices too.
    """
    n_factors, n_states = rewards.shape
    alive = [i for i in range(n_states) if log_prior[i] > -np.inf]
    if len(alive) == 1:
        return Outcome(alive[0], 0, 0, True)
    looks = schedule(n_factors, options.first_look, options.max_fraction)
    order, n_evaluations = [], 0
    for n_looks, rows in enumerate(looks, start=1):
        n_evaluations += (rows - len(order)) * len(alive)
        if rows == n_factors:
            if to_the_end:
                next_indices(rows - len(order))
            means = rewards.mean(axis=0) + log_prior / n_factors
            return Outcome(max(alive, key=means.__getitem__), n_looks, n_evaluations, True)
        order += list(next_indices(rows - len(order)))
        seen = rewards[order]
        means = seen.mean(axis=0) + log_prior / n_factors
        leader = max(alive, key=means.__getitem__)
        alive = [
            i
            for i in alive
            if i == leader
            or means[leader] - means[i]
            <= half_width(options, looks, n_states, seen, leader, i)
        ]
        if len(alive) == 1:
            return Outcome(leader, n_looks, n_evaluations, False)
    raise AssertionError("the last look reads everything")


def ordered_parts(items, sizes):
    """Yield every division of `items` into successive unordered parts of these sizes."""
    if not sizes:
        yield []
        return
    for part in itertools.combinations(items, sizes[0]):
        rest = [item for item in items if item not in part]
        for tail in ordered_parts(rest, sizes[1:]):
            yield [list(part), *tail]


def enumerate_law(rewards, log_prior, options):
    """Return the probability of every Outcome, over all orders of the factors."""
    n_factors = len(rewards)
    looks = schedule(n_factors, options.first_look, options.max_fraction)
    sizes = np.diff([0, *looks[:-1]]).tolist()
    law = {}
    orders = list(ordered_parts(list(range(n_factors)), sizes))
    for parts in orders:
        remaining = iter(parts)
        outcome = race(rewards, log_prior, lambda n, it=remaining: next(it), options)
        law[outcome] = law.get(outcome, 0) + Fraction(1, len(orders))
    return law


def gumbel_max(log_weights, gumbels):
    """Return the exact draw that a race approximates: argmax of log weight plus Gumbel noise."""
    return int(np.argmax(np.asarray(log_weights) + gumbels))
