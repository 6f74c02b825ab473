"""A screen on few plates: hits found by policies and by a schedule made by hand.

    python examples/policies/few_plates.py [--runs N] [--quick] [--seed S]

Means of the arms are standard normal, the 20 best are wanted, and plates have 384 wells.
Readings vary little (standard deviation 0.35), as much as the arms do (1), or with a skewed
distribution (log-normal with standard deviation 0.7: mostly below the mean, sometimes ten times
as far above it). The schedule by hand measures every arm once, and the best arms so far in the
remaining wells of these plates. It then measures the best 400, 100 and 60 arms, each group on a
third of the remaining plates; if only two plates are left, the best 400 and 60, and if only one
is left, the best 100. The table shows mean hits with the
half-width of the 95 % interval over runs, and a dash if a policy needs more plates.
"""

import argparse

import numpy as np

import pybandit as pb

K, WELLS = 20, 384
SETTINGS = ((2000, (6, 8, 12, 20, 40)), (12_979, (36, 40, 80)))


class Skewed(pb.environments.Environment):
    """Log-normal readings about the arms' means."""

    def __init__(self, means, deviation):
        super().__init__(means, deviation)
        self.scale = deviation / np.sqrt(np.e**2 - np.e)

    def pull(self, arms, rng=None):
        noise = rng.lognormal(size=len(arms)) - np.exp(0.5)
        return self.means[arms] + self.scale * noise


NOISES = {
    "low": lambda means: pb.environments.GaussianBandit(means, 0.35),
    "high": lambda means: pb.environments.GaussianBandit(means, 1.0),
    "log-normal": lambda means: Skewed(means, 0.7),
}


class ByHand(pb.Policy):
    """Measures every arm once, then fewer and fewer of the best."""

    def __init__(self, n_arms, k, batch_size, max_batches):
        super().__init__(n_arms, k)
        self.batch_size, self.max_batches = batch_size, max_batches
        first = -(-n_arms // batch_size)
        left = max(0, max_batches - first)
        steps = {0: (), 1: (5,), 2: (20, 3)}.get(left, (20, 5, 3))
        self.sizes = [0] * first + [
            step * k for step, share in zip(steps, np.array_split(np.arange(left), len(steps) or 1),
                                            strict=False) for _ in share]
        self.left, self.start = np.arange(n_arms), 0
        self.asked = np.arange(batch_size)

    @property
    def done(self):
        return self.n_batches >= self.max_batches

    def ask(self):
        return self.asked.copy()

    def tell(self, arms, rewards, missing="raise"):
        super().tell(arms, rewards, missing)
        if self.done:
            return
        size = self.sizes[self.n_batches]
        if size == 0:
            unseen = np.flatnonzero(self.pulls == 0)[:self.batch_size]
            best = self.ranked(np.flatnonzero(self.pulls))[:self.batch_size - unseen.size]
            self.asked = np.concatenate([unseen, best])
            return
        if size != self.sizes[self.n_batches - 1]:
            self.left, self.start = self.ranked(self.left)[:size], 0
        wells = np.arange(self.start, self.start + self.batch_size)
        self.asked = np.take(self.left, wells, mode="wrap")
        self.start += self.batch_size

    def ranked(self, arms):
        return arms[np.argsort(-self.means[arms], kind="stable")]

    def recommend(self):
        return self.ranked(self.left)[:self.k]


POLICIES = {"by hand": ByHand, "BatchScreening": pb.policies.BatchScreening,
            "BatchSAR": pb.policies.BatchSAR, "BatchHalving": pb.policies.BatchHalving,
            "RoundRobin": pb.policies.RoundRobin}


def hits(policy, environment):
    """Return how many of the k best arms were found."""
    return float(np.isin(policy.recommend(), environment.best(policy.k)).sum())


def measure(make, n, noise, n_batches, n_runs, seed, k=K, wells=WELLS):
    """Return the hits of each run, or None if the policy needs more plates."""
    try:
        make(n, k, batch_size=wells, max_batches=n_batches)
    except pb.errors.InfeasibleBudgetError:
        return None
    result = pb.simulate(
        lambda environment: make(environment.n_arms, k, batch_size=wells, max_batches=n_batches),
        lambda rng: NOISES[noise](rng.normal(size=n)), n_runs, rng=seed, metrics=[hits],
        progress=False)
    return result.metrics["hits"]


def cell(found):
    """Format the mean and its interval."""
    if found is None:
        return "-"
    return f"{found.mean():.1f} ± {1.96 * found.std(ddof=1) / found.size**0.5:.1f}"


def main(argv=None):
    parser = argparse.ArgumentParser(description="A screen on few plates.")
    parser.add_argument("--runs", type=int, default=30, help="runs per cell (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="3 runs of 300 arms")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args(argv)
    settings, sizes, n_runs = SETTINGS, {}, arguments.runs
    if arguments.quick:
        settings, sizes, n_runs = ((300, (7, 12)),), {"k": 5, "wells": 48}, 3
    print("| arms | noise | plates | " + " | ".join(POLICIES) + " |")
    print("| ---: | --- | ---: | " + " | ".join(["---:"] * len(POLICIES)) + " |")
    for n, plates in settings:
        for noise in NOISES:
            for n_batches in plates:
                row = [cell(measure(make, n, noise, n_batches, n_runs, arguments.seed, **sizes))
                       for make in POLICIES.values()]
                print(f"| {n:,} | {noise} | {n_batches} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
