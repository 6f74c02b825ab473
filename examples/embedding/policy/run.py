"""Compare the compiled LUCB with the same policy in plain Python: same choices, other speed."""

import math
import time

import numpy as np
from lucb import LUCB, Ratings

import pybandit as pb

RUNS, PLAIN_RUNS, DELTA = 1000, 20, 0.05


class PlainLUCB(pb.Policy):
    def __init__(self, n_arms, delta=DELTA):
        super().__init__(n_arms)
        self.delta, self.gap, self.asked = delta, math.inf, np.arange(n_arms)

    @property
    def done(self):
        return self.gap <= 0.0

    def ask(self):
        return self.asked

    def tell(self, arms, rewards, missing="raise"):
        super().tell(arms, rewards, missing)
        means, pulls = self.means, self.pulls
        if not pulls.all():
            return
        level = math.log(1.25 * self.n_arms / self.delta) + 4.0 * math.log(self.n_batches)
        widths = np.sqrt(level / (2.0 * pulls))
        leader, upper = int(np.argmax(means)), means + widths
        upper[leader] = -math.inf
        challenger = int(np.argmax(upper))
        self.gap = upper[challenger] - (means[leader] - widths[leader])
        self.asked = np.array([leader, challenger])

    def recommend(self):
        return np.array([np.nanargmax(self.means)])


def simulate(policy, n_runs):
    """Return the result, and the processor time per pull in ns."""
    start = time.process_time()
    result = pb.simulate(lambda e: policy(e.n_arms, DELTA), ratings, n_runs, rng=1, n_threads=1)
    return result, (time.process_time() - start) / result.pulls.sum() * 1e9


# ten products; better ones have more stars
weights = np.exp(np.array([*np.linspace(-0.5, 0.2, 9), 0.7])[:, None] * np.arange(5))
ratings = Ratings(weights / weights.sum(axis=1, keepdims=True))

native, fast = simulate(LUCB, RUNS)
plain, slow = simulate(PlainLUCB, PLAIN_RUNS)
assert np.array_equal(native.pulls[:PLAIN_RUNS], plain.pulls)
assert np.array_equal(native.regrets[:PLAIN_RUNS], plain.regrets)
assert native.errors.mean() <= DELTA
print(f"{RUNS} runs of {native.mean_pulls:,.0f} pulls, {native.errors.mean():.1%} wrong; the first "
      f"{PLAIN_RUNS} pull for pull as in plain Python")
print(f"nanoseconds per pull: compiled {fast:.0f}, plain Python {slow:,.0f}")
