"""bound="betting" in the race: the twin decision for decision, and what it promises."""

import collections

import numpy as np
import pytest

import pybandit as pb

from reference import betting as twin
from reference import subsample
from reference.bits import Bits
from reference.problems import as_function, random_rewards


def random_problem(seed):
    """Rewards of few or many factors and states, offsets, options of the bound."""
    rng = np.random.default_rng(seed)
    n_factors, n_states = int(rng.choice([10, 60, 300])), int(rng.integers(2, 9))
    rewards = random_rewards(rng, n_factors, n_states)
    offsets = rng.normal(size=n_states) * n_factors * rng.choice([0.0, 0.02, 0.2])
    offsets[rng.random(n_states) < 0.1] = -np.inf
    offsets[rng.integers(n_states)] = 0.0
    options = twin.Options(
        delta=float(rng.choice([0.3, 0.05, 0.001])),
        mixture=str(rng.choice(["product", "product", "ebmix"])),
        n_bets=int(rng.choice([1, 5, 16])),
    )
    if options.mixture == "product" and np.isfinite(offsets).sum() > 1 and rng.random() < 0.3:
        options = twin.Options(options.delta, hybrid=True, n_bets=options.n_bets)
    return rewards, offsets, options


def bound_of(options, value_range=(0.0, 1.0)):
    return pb.BettingBound(options.delta, value_range, bets=options.n_bets,
                           hybrid=options.hybrid, mixture=options.mixture)


@pytest.mark.parametrize("source", ["matrix", "function"])
def test_the_twin_decision_for_decision(source):
    """The same items give the same winner; a matrix stops at the same item too."""
    ends = collections.Counter()
    for seed in range(300):
        rewards, offsets, options = random_problem(seed)
        stream, bits = subsample.Rejection(len(rewards)), Bits(seed)
        stream.restart(bits)
        order = stream.next(bits, len(rewards))
        expected = twin.race(rewards, offsets, order, options)
        factors = rewards if source == "matrix" else as_function(rewards)
        ours = pb.race(factors, offsets, bound=bound_of(options), rng=np.random.default_rng(seed))
        assert ours.winner == expected.winner, (seed, options)
        if source == "matrix" and not ours.exact:
            assert ours.n_evaluations == expected.n_evaluations, (seed, options)
        ends[ours.exact, options.mixture, options.hybrid] += 1
    assert len(ends) == 6
