"""A challenger against a rival with known scores, and the shares of delta."""

import itertools

import numpy as np
import pytest

from pybandit.integrations._challenge import Challenge, share_of_delta


def is_stopped(known, new, order, delta):
    challenge = Challenge(len(known), (0, 1), delta)
    return any(challenge.tell([known[item]], [new[item]]) for item in order)


def test_shares_sum_to_delta():
    assert sum(share_of_delta(0.1, t, None) for t in range(10**5)) == pytest.approx(0.1, rel=1e-4)
    assert sum(share_of_delta(0.1, t, 7) for t in range(20)) == pytest.approx(0.1)
    assert share_of_delta(0.1, 7, 7) == 0


@pytest.mark.parametrize("known, new", [
    ([1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]), ([1, 1, 0, 0, 0], [0, 0, 1, 1, 1]),
    ([1, 0.6, 0.2, 0, 0], [0, 0, 0, 1, 1])])
@pytest.mark.parametrize("delta", [0.2, 0.6])
def test_no_worse_challenger_is_stopped_in_at_most_delta_of_all_orders(known, new, delta):
    assert np.mean(new) >= np.mean(known)
    stopped = [is_stopped(known, new, order, delta)
               for order in itertools.permutations(range(len(known)))]
    assert np.mean(stopped) <= delta


def test_worse_challenger_is_stopped_early_and_a_better_one_never():
    rng = np.random.default_rng(1)
    known = (rng.random(400) < 0.7).astype(float)
    worse, better = known * (rng.random(400) < 0.6), np.maximum(known, rng.random(400) < 0.3)
    challenge = Challenge(400, (0, 1), 0.05)
    order = rng.permutation(400)
    read = next(n for n, item in enumerate(order) if challenge.tell([known[item]], [worse[item]]))
    assert read < 60 and challenge.is_worse
    assert challenge.tell([1.0], [1.0])  # it stays
    assert not is_stopped(known, better, order, 0.05)
