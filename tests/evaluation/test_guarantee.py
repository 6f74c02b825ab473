"""The guarantee holds with failures, timeouts and answers out of order.

The same test rejects a race that postpones slow items if the time of a call depends on its score.
"""

import heapq

import numpy as np
import pytest
from scipy.stats import binom

import pybandit as pb

N, K, DELTA, WORKERS = 80, 3, 0.2, 16


def evaluation(seed):
    """Return scores, with failed calls, and the duration of each call.

    A tenth of the calls fail and a hundredth never answer; both count as 0. Model 0 is the best
    by a small margin, and the items on which it leads are slow.
    """
    rng = np.random.default_rng(seed)
    scores = (rng.random((N, K)) < 0.6) * 1.0
    scores[(rng.random((N, K)) < 0.1) | (rng.random((N, K)) < 0.01)] = 0.0
    while scores[:, 0].sum() <= scores[:, 1:].sum(axis=0).max():
        scores[rng.integers(N), 0] = 1.0
    ahead = scores[:, [0]] > scores[:, 1:].min(axis=1, keepdims=True)
    seconds = rng.lognormal(size=(N, K)) * np.where(ahead, 30.0, 1.0)
    return scores, seconds


def race_of(seed):
    return pb.BettingRace(K, N, value_range=(0, 1), delta=DELTA, rng=seed, block_size=1)


def out_of_order(seed):
    """Run a race with concurrent calls; return True if its answer is wrong."""
    scores, seconds = evaluation(seed)
    race, events, started, clock = race_of(seed), [], set(), 0.0
    while not race.done:
        for cell in zip(*(part.tolist() for part in race.ask(2 * WORKERS)), strict=True):
            if cell not in started and len(events) < WORKERS:
                started.add(cell)
                heapq.heappush(events, (clock + seconds[cell[::-1]], cell))
        clock, (arm, item) = heapq.heappop(events)
        race.tell([arm], [item], [scores[item, arm]])
    return race.recommend()[0] != 0


def without_slow_items(seed):
    """Run an invalid race that reads items with early answers first."""
    scores, seconds = evaluation(seed)
    state = race_of(seed).get_state()
    waiting, taken = state["order"].tolist(), []
    while waiting:
        taken.append(min(waiting[:WORKERS], key=lambda item: seconds[item].max()))
        waiting.remove(taken[-1])
    race = pb.BettingRace.from_state({**state, "order": np.array(taken)})
    while not race.done:
        arms, items = race.ask()
        race.tell(arms, items, scores[items, arms])
    return race.recommend()[0] != 0


def holds(run, n_races):
    """Return True if the errors are consistent with a probability of at most DELTA."""
    errors = sum(bool(run(seed)) for seed in range(n_races))
    print(f"{run.__name__}: {errors} errors in {n_races} races")
    return binom.sf(errors - 1, n_races, DELTA) > 1e-3


@pytest.mark.parametrize("n_races", [40, pytest.param(2000, marks=pytest.mark.slow)])
def test_error_rate_is_at_most_delta(n_races):
    assert holds(out_of_order, n_races)


@pytest.mark.parametrize("n_races", [100, pytest.param(2000, marks=pytest.mark.slow)])
def test_postponing_slow_items_breaks_guarantee(n_races):
    assert not holds(without_slow_items, n_races)
